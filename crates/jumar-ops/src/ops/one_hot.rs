//! One value at the given indices, and another elsewhere.

use jumar_types::dtype::DataType;

use crate::kernels::data_movement::Indices;
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, Tensor, TensorType, Types, UNKNOWN, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "OneHot",
    onnx: &[OnnxForm::new("OneHot", 9, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::INDEX),
        InputDef::constant("depth", Types::INDEX),
        InputDef::required("on_value", Types::ALL),
        InputDef::required("off_value", Types::ALL),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("axis", -1)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (input, dtype) = (cx.input(0)?, cx.same_types([2, 3])?);
        for index in 2..4 {
            if cx.input(index)?.elements().is_some_and(|count| count != 1) {
                return Err(OpError::invalid(format!(
                    "the value {} is not one number",
                    cx.input(index)?
                )));
            }
        }
        let Some(rank) = input.rank() else {
            return Ok(vec![TensorType::of_unknown_rank(dtype)]);
        };
        let axis = infer::axis(cx.attrs().int("axis")?, rank + 1)?;
        let mut shape = input.shape.clone();
        shape.insert(axis, depth(cx)?.unwrap_or(UNKNOWN));
        Ok(vec![TensorType { dtype, shape }])
    },
    prepare: |cx| {
        let shape = cx.output_shape(0)?;
        let axis = infer::axis(cx.attrs().int("axis")?, shape.len())?;
        let sizes = Sizes {
            outer: shape[..axis].iter().product(),
            depth: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            index: cx.dtype(0)?,
        };
        for_width!(cx.dtype(2)?, T => {
            Ok(Box::new(OneHot::<T> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn depth(cx: &InferCx<'_>) -> Result<Option<i64>, OpError> {
    match cx.ints(1)?.as_deref() {
        None => Ok(None),
        Some(&[depth]) if depth >= 0 => Ok(Some(depth)),
        Some(other) => Err(OpError::invalid(format!("the depth is {other:?}"))),
    }
}

/// ONNX passes both values in one tensor, the one for off first, and takes numbers of any type.
fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let mut integer = |index: usize| -> Result<ValueRef, OpError> {
        let value = node.input(index)?;
        if Types::INDEX.contains(builder.ty(value).dtype) {
            return Ok(value);
        }
        let attrs = Attrs::new().with("dst_type", i64::from(DataType::Int64.acl()));
        builder.node("Cast", &[Some(value)], attrs)
    };
    let (indices, depth) = (integer(0)?, integer(1)?);
    let values = node.input(2)?;
    let axis = builder.add_constant(Tensor::from_ints(&[0]).reshaped(&[])?);
    let mut value = |at: i64| -> Result<Option<ValueRef>, OpError> {
        let at = builder.add_constant(Tensor::from_ints(&[at]));
        builder
            .node(
                "GatherV2",
                &[Some(values), Some(at), Some(axis)],
                Attrs::new(),
            )
            .map(Some)
    };
    let (off, on) = (value(0)?, value(1)?);
    let attrs = Attrs::new().with("axis", node.int_or("axis", -1)?);
    Ok(vec![builder.node(
        "OneHot",
        &[Some(indices), Some(depth), on, off],
        attrs,
    )?])
}

struct Sizes {
    outer: usize,
    depth: usize,
    inner: usize,
    index: DataType,
}

struct OneHot<T> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for OneHot<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes {
            outer,
            depth,
            inner,
            index,
        } = self.sizes;
        let (on, off) = (
            call.input::<T>(2)?.flat().get(0),
            call.input::<T>(3)?.flat().get(0),
        );
        let (indices, out) = (Indices::of(call, 0, index)?, call.output::<T>(0)?.flat());
        out.fill(off);
        for step in 0..outer {
            for column in 0..inner {
                let index = indices.get(step * inner + column);
                let index = if index < 0 {
                    index.saturating_add(depth as i64)
                } else {
                    index
                };
                // An index out of range selects no element.
                if (0..depth as i64).contains(&index) {
                    out.set((step * depth + index as usize) * inner + column, on);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let (on, off) = (|| f32s(&[], &[5.0]), || f32s(&[], &[1.0]));
        let x = || i64s(&[3], &[0, -1, 9]);
        let depth = || i64s(&[], &[3]);
        let wanted = f32s(&[3, 3], &[5.0, 1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0]);
        check("OneHot", &[x(), depth(), on(), off()], none(), &wanted);
        let wanted = f32s(&[3, 3], &[5.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 1.0]);
        check(
            "OneHot",
            &[x(), depth(), on(), off()],
            none().with("axis", 0),
            &wanted,
        );
        refuse(
            "OneHot",
            &[x(), i64s(&[], &[-3]), on(), off()],
            none(),
            "depth",
        );
    }
}
