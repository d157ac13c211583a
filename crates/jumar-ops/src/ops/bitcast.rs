//! The bytes of elements as elements of another type.

use jumar_types::dtype::DataType;

use crate::onnx::{LATEST, encoded};
use crate::operator::OUTPUT_Y;
use crate::view::{Layout, View, ViewMut};
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, Call, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, StorageType, TensorType, Types, ValueRef,
};

/// Types of whole bytes that models take and return, and that no other operator knows.
const EIGHT_BITS: Types = Types::of(&[
    DataType::Float8E4M3Fn,
    DataType::Float8E5M2,
    DataType::Float8E8M0,
]);

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Bitcast",
    onnx: &[OnnxForm::new("BitCast", 26, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::ALL.and(EIGHT_BITS))],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::required("type", AttrKind::Type)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let x = cx.input(0)?;
        let dtype = cx.attrs().dtype("type")?;
        let (Some(from), Some(to)) = (x.dtype.size(), dtype.size()) else {
            return Err(OpError::unsupported(format!(
                "elements of {x} cannot be read as {dtype}"
            )));
        };
        if x.rank().is_none() {
            return Ok(vec![TensorType::of_unknown_rank(dtype)]);
        }
        let mut shape = x.shape.clone();
        if from > to {
            shape.push((from / to) as i64);
        } else if from < to {
            // Elements of the last axis are one element together.
            let fits = |&size: &i64| size < 0 || size == (to / from) as i64;
            if !shape.pop().as_ref().is_some_and(fits) {
                return Err(OpError::invalid(format!(
                    "{x} cannot be read as {dtype}: its last axis must have {} elements",
                    to / from
                )));
            }
        }
        Ok(vec![TensorType::new(dtype, shape)])
    },
    prepare: |cx| {
        let count: usize = cx.shape(0)?.iter().product();
        let bytes = count * cx.dtype(0)?.size().unwrap_or(0);
        Ok(Box::new(Bytes(bytes)))
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let number = node
        .int("to")?
        .ok_or_else(|| OpError::invalid("the attribute to is missing"))?;
    let x = node.input(0)?;
    let (storage, from) = (StorageType::of_onnx(number), builder.storage(x));
    let dtype = match storage {
        Some(storage) => storage.dtype(),
        None => node
            .dtype("to")?
            .ok_or_else(|| OpError::invalid("the attribute to is missing"))?,
    };
    let width = |storage: Option<StorageType>, dtype: DataType| match storage {
        Some(storage) => storage.bits(),
        None => dtype.bits(),
    };
    let (own, wanted) = (width(from, builder.ty(x).dtype), width(storage, dtype));
    if own != wanted {
        return Err(OpError::invalid(format!(
            "elements of {own} bits cannot be read as elements of {wanted} bits"
        )));
    }
    if let Some(storage) = storage.filter(|storage| storage.bits() < 8) {
        // The code without its sign, and the sign that the other type has.
        let code = match wanted {
            2 => StorageType::UInt2,
            _ => StorageType::UInt4,
        };
        if storage.is_integer() {
            return Ok(vec![encoded(builder, x, storage, true, "up")?]);
        }
        let value = match wanted {
            6 => x,
            _ => encoded(builder, x, code, true, "up")?,
        };
        builder.set_storage(value, storage);
        return Ok(vec![value]);
    }
    let attrs = Attrs::new().with("type", dtype);
    let value = builder.node("Bitcast", &[Some(x)], attrs)?;
    if let Some(storage) = storage {
        builder.set_storage(value, storage);
    }
    Ok(vec![value])
}

struct Bytes(usize);

impl Kernel for Bytes {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let layout = Layout::dense(&[self.0])
            .ok_or_else(|| OpError::internal("the bytes have no layout"))?;
        let from = View::<u8>::new(call.input_memory(0)?, &layout)?;
        ViewMut::<u8>::new(call.output_memory(0)?, &layout)?
            .flat()
            .copy_from(from.flat());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use jumar_types::dtype::DataType;

    use crate::table::*;

    #[test]
    fn bytes_are_kept_and_the_last_axis_follows_the_sizes() {
        let words = i64s(&[2], &[0x0000_0002_0000_0001, -1]);
        let halves = run("Bitcast", &[words], none().with("type", DataType::Int32)).unwrap();
        assert_eq!(halves[0].ints(), Some(vec![1, 2, -1, -1]));
        assert_eq!(halves[0].ty().shape, [2, 2]);
        let back = run("Bitcast", &halves, none().with("type", DataType::Int64)).unwrap();
        assert_eq!(back[0].ints(), Some(vec![0x0000_0002_0000_0001, -1]));
        let odd = i64s(&[3], &[1, 2, 3]);
        let odd = run("Bitcast", &[odd], none().with("type", DataType::UInt64)).unwrap();
        assert_eq!(odd[0].ty().shape, [3]);
        let three = f32s(&[3], &[1.0, 2.0, 3.0]);
        refuse(
            "Bitcast",
            &[three],
            none().with("type", DataType::Float64),
            "2 elements",
        );
    }
}
