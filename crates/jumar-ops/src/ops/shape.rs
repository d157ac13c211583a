//! The dimensions of a tensor, as a tensor.

use jumar_types::dtype::DataType;

use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator,
    TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Shape",
    onnx: &[OnnxForm::new("Shape", 1, LATEST, |builder, node| {
        let mut attrs = Attrs::new().with("dtype", i64::from(DataType::Int64.acl()));
        for name in ["start", "end"] {
            if let Some(value) = node.int(name)? {
                attrs.set(name, value);
            }
        }
        Ok(vec![builder.node("Shape", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("dtype", DataType::Int32.acl() as i64),
        // Ours: ONNX can ask for a part.
        AttrDef::int("start", 0),
        AttrDef::int("end", i64::MAX),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: true,
    infer: |cx| {
        let dtype = match i32::try_from(cx.attrs().int("dtype")?)
            .ok()
            .and_then(DataType::from_acl)
        {
            Some(dtype @ (DataType::Int32 | DataType::Int64)) => dtype,
            _ => {
                return Err(OpError::invalid(
                    "the dtype of a shape has to be int32 or int64",
                ));
            }
        };
        let count = match cx.input(0)?.rank() {
            Some(rank) => {
                let (start, end) = part(cx, rank)?;
                (end - start) as i64
            }
            None => UNKNOWN,
        };
        Ok(vec![TensorType::new(dtype, [count])])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let (start, end) = part(cx.infer(), shape.len())?;
        let dims = shape[start..end].iter().map(|&dim| dim as i64).collect();
        Ok(Box::new(Dims {
            dims,
            wide: cx.output_dtype(0)? == DataType::Int64,
        }))
    },
}];

fn part(cx: &InferCx<'_>, rank: usize) -> Result<(usize, usize), OpError> {
    let clamped = |value: i64| {
        let value = if value < 0 {
            value.saturating_add(rank as i64)
        } else {
            value
        };
        value.clamp(0, rank as i64) as usize
    };
    let (start, end) = (
        clamped(cx.attrs().int("start")?),
        clamped(cx.attrs().int("end")?),
    );
    Ok((start, end.max(start)))
}

struct Dims {
    dims: Vec<i64>,
    wide: bool,
}

impl Kernel for Dims {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        for (index, &dim) in self.dims.iter().enumerate() {
            if self.wide {
                call.output::<i64>(0)?.flat().set(index, dim);
            } else {
                call.output::<i32>(0)?.flat().set(index, dim as i32);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_onnx() {
        let x = noise(&[2, 3, 4], 1);
        let attrs = || none().with("dtype", i64::from(DataType::Int64.acl()));
        check("Shape", &[x.clone()], attrs(), &i64s(&[3], &[2, 3, 4]));
        check(
            "Shape",
            &[x.clone()],
            attrs().with("start", -2),
            &i64s(&[2], &[3, 4]),
        );
        check(
            "Shape",
            &[x.clone()],
            attrs().with("start", 1).with("end", 2),
            &i64s(&[1], &[3]),
        );
        check("Shape", &[x], attrs().with("start", 3), &i64s(&[0], &[]));
        check("Shape", &[f32s(&[], &[1.0])], attrs(), &i64s(&[0], &[]));
    }
}
