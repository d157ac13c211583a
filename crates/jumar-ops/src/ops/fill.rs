//! A tensor with the same value in every element.

use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, Attrs, Builder, Call, InputDef, Kernel, OnnxForm, OnnxNode, OpError, Operator,
    Tensor, TensorType, Types, UNKNOWN, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Fill",
    onnx: &[OnnxForm::new("ConstantOfShape", 9, LATEST, lower)],
    inputs: &[
        InputDef::constant("dims", Types::INDEX),
        InputDef::required("value", Types::ALL),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let value = cx.input(1)?;
        if value.elements().is_some_and(|count| count != 1) {
            return Err(OpError::invalid(format!(
                "the value is {value}, not one number"
            )));
        }
        Ok(vec![match (cx.ints(0)?, cx.input(0)?.elements()) {
            (Some(dims), _) if dims.iter().any(|&dim| dim < 0) => {
                return Err(OpError::invalid(format!(
                    "the shape {dims:?} has a negative dimension"
                )));
            }
            (Some(dims), _) => TensorType::new(value.dtype, dims),
            (None, Some(rank)) => TensorType::new(value.dtype, vec![UNKNOWN; rank]),
            (None, None) => TensorType::of_unknown_rank(value.dtype),
        }])
    },
    prepare: |cx| for_width!(cx.dtype(1)?, T => Ok(Box::new(Fill::<T>(std::marker::PhantomData)) as Box<dyn Kernel>)),
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let value = match node.tensor("value")? {
        Some(value) => value.clone(),
        None => Tensor::from_floats(&[0.0]),
    };
    let value = builder.add_constant(value);
    Ok(vec![builder.node(
        "Fill",
        &[Some(node.input(0)?), Some(value)],
        Attrs::new(),
    )?])
}

struct Fill<T>(std::marker::PhantomData<fn(T)>);

impl<T: Element> Kernel for Fill<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        call.output::<T>(0)?
            .flat()
            .fill(call.input::<T>(1)?.flat().get(0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        check(
            "Fill",
            &[i64s(&[2], &[2, 2]), f32s(&[1], &[3.0])],
            none(),
            &f32s(&[2, 2], &[3.0; 4]),
        );
        check(
            "Fill",
            &[i64s(&[0], &[]), i64s(&[], &[7])],
            none(),
            &i64s(&[], &[7]),
        );
        check(
            "Fill",
            &[i64s(&[2], &[0, 3]), i64s(&[], &[7])],
            none(),
            &i64s(&[0, 3], &[]),
        );
        refuse(
            "Fill",
            &[i64s(&[1], &[-1]), f32s(&[1], &[3.0])],
            none(),
            "negative",
        );
        refuse(
            "Fill",
            &[i64s(&[1], &[1]), f32s(&[2], &[3.0; 2])],
            none(),
            "not one number",
        );
    }
}
