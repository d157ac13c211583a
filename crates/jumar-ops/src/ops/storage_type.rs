//! Numbers as elements of types that are stored alone, and back; see [`crate::storage_type`].

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::infer_same;
use crate::minifloat::Rounding;
use crate::operator::OUTPUT_Y;
use crate::storage_type::{Conversion, StorageType};
use crate::{
    Aliasing, AttrDef, AttrKind, Call, InferCx, InputDef, Kernel, OpError, Operator, TensorType,
    Types,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.Encode",
        onnx: &[],
        // Integers become integers, and float32 what is a floating-point type.
        inputs: &[InputDef::required(
            "x",
            Types::of(&[DataType::Float32, DataType::Int32]),
        )],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::required("format", AttrKind::Int),
            AttrDef::bool("saturate", true),
            AttrDef::str("round_mode", "up"),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let (storage, x) = (format(cx)?, cx.input(0)?);
            if storage.is_integer() != (x.dtype == DataType::Int32) {
                return Err(OpError::invalid(format!(
                    "{x} cannot become {}",
                    storage.name()
                )));
            }
            conversion(cx)?;
            let mut y = infer_same(cx)?;
            y[0].dtype = storage.dtype();
            Ok(y)
        },
        prepare: |cx| {
            Ok(Box::new(Encoding {
                storage: format(cx.infer())?,
                conversion: conversion(cx.infer())?,
            }))
        },
    },
    &Operator {
        name: "jumar.Decode",
        onnx: &[],
        inputs: &[InputDef::required("x", Types::of(&[DataType::UInt8]))],
        outputs: OUTPUT_Y,
        attrs: &[AttrDef::required("format", AttrKind::Int)],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            if format(cx)?.is_integer() {
                return Err(OpError::invalid(
                    "integers of few bits are numbers as they are",
                ));
            }
            Ok(vec![TensorType {
                dtype: DataType::Float32,
                shape: cx.input(0)?.shape.clone(),
            }])
        },
        prepare: |cx| {
            let storage = format(cx.infer())?;
            let numbers = std::array::from_fn(|code| storage.decode(code as u8));
            Ok(Box::new(Decoding { numbers }))
        },
    },
];

fn format(cx: &InferCx<'_>) -> Result<StorageType, OpError> {
    let number = cx.attrs().int("format")?;
    StorageType::of_onnx(number)
        .ok_or_else(|| OpError::invalid(format!("format {number} is not a storage type of ONNX")))
}

fn conversion(cx: &InferCx<'_>) -> Result<Conversion, OpError> {
    let rounding = match cx.attrs().str("round_mode")? {
        "up" => Rounding::Ceil,
        "down" => Rounding::Floor,
        "nearest" => Rounding::Even,
        other => {
            return Err(OpError::invalid(format!(
                "round_mode is {other:?}; it can be up, down and nearest"
            )));
        }
    };
    Ok(Conversion {
        saturate: cx.attrs().bool("saturate")?,
        rounding,
    })
}

struct Encoding {
    storage: StorageType,
    conversion: Conversion,
}

impl Kernel for Encoding {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let storage = self.storage;
        if storage.dtype() == DataType::Int8 {
            call.output::<i8>(0)?
                .flat()
                .map1_each(call.input::<i32>(0)?.flat(), |x| {
                    storage.wrap(x).cast_signed()
                });
        } else if storage.is_integer() {
            call.output::<u8>(0)?
                .flat()
                .map1_each(call.input::<i32>(0)?.flat(), |x| storage.wrap(x));
        } else {
            call.output::<u8>(0)?
                .flat()
                .map1_each(call.input::<f32>(0)?.flat(), |x| {
                    storage.encode(x, self.conversion)
                });
        }
        Ok(())
    }
}

struct Decoding {
    /// The number of each code.
    numbers: [f32; 256],
}

impl Kernel for Decoding {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        call.output::<f32>(0)?
            .flat()
            .map1_each(call.input::<u8>(0)?.flat(), |code: u8| {
                self.numbers[usize::from(code)]
            });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn integers_keep_their_lowest_bits_and_floats_are_rounded() {
        let x = cast(&i64s(&[4], &[7, 8, -9, 3]), DataType::Int32);
        let format = |storage: StorageType| none().with("format", storage.onnx());
        let four = run("jumar.Encode", &[x.clone()], format(StorageType::Int4)).unwrap();
        assert_eq!(four[0].ints(), Some(vec![7, -8, 7, 3]));
        let two = run("jumar.Encode", &[x.clone()], format(StorageType::UInt2)).unwrap();
        assert_eq!(two[0].ints(), Some(vec![3, 0, 3, 3]));
        let x = f32s(&[4], &[0.3, 5.1, -100.0, 2.5]);
        let codes = run("jumar.Encode", &[x], format(StorageType::Float4E2M1)).unwrap();
        let back = f32s(&[4], &[0.5, 6.0, -6.0, 2.0]);
        check(
            "jumar.Decode",
            &codes,
            format(StorageType::Float4E2M1),
            &back,
        );
        refuse(
            "jumar.Encode",
            &[i64s(&[1], &[1])],
            format(StorageType::Int4),
            "it can be",
        );
    }
}
