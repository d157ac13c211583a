//! The number of elements.

use jumar_types::dtype::DataType;

use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType,
    Types,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Size",
    onnx: &[OnnxForm::new("Size", 1, LATEST, |builder, node| {
        let attrs = Attrs::new().with("dtype", i64::from(DataType::Int64.acl()));
        Ok(vec![builder.node("Size", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("dtype", DataType::Int32.acl() as i64)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: true,
    infer: |cx| match i32::try_from(cx.attrs().int("dtype")?)
        .ok()
        .and_then(DataType::from_acl)
    {
        Some(dtype @ (DataType::Int32 | DataType::Int64)) => Ok(vec![TensorType::new(dtype, [])]),
        _ => Err(OpError::invalid(
            "the dtype of a size has to be int32 or int64",
        )),
    },
    prepare: |cx| {
        let count = cx.shape(0)?.iter().product();
        Ok(Box::new(Count {
            count,
            wide: cx.output_dtype(0)? == DataType::Int64,
        }))
    },
}];

struct Count {
    count: usize,
    wide: bool,
}

impl Kernel for Count {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        if self.wide {
            call.output::<i64>(0)?.flat().set(0, self.count as i64);
        } else {
            call.output::<i32>(0)?.flat().set(0, self.count as i32);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let wide = || none().with("dtype", i64::from(DataType::Int64.acl()));
        check("Size", &[noise(&[2, 3, 4], 1)], wide(), &i64s(&[], &[24]));
        check("Size", &[f32s(&[], &[1.0])], wide(), &i64s(&[], &[1]));
        check("Size", &[f32s(&[3, 0], &[])], wide(), &i64s(&[], &[0]));
    }
}
