//! The place of the largest element along an axis.

use jumar_types::dtype::DataType;

use crate::kernels::number::{Number, for_dtype, for_number};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InputDef, Kernel, OnnxForm, OnnxNode, OpError, Operator, Tensor,
    TensorType, Types, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ArgMaxV2",
    onnx: &[OnnxForm::new("ArgMax", 1, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::NUMBER), InputDef::constant("dimension", Types::INDEX)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::dtype("dtype", DataType::Int64),
        // Ours: ONNX can ask for the last of equal elements.
        AttrDef::bool("select_last_index", false),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let dtype = cx.attrs().dtype("dtype")?;
        let (Some(rank), Some(axis)) = (input.rank(), cx.ints(1)?) else {
            return Ok(vec![TensorType::of_unknown_rank(dtype)]);
        };
        let &[axis] = &axis[..] else { return Err(OpError::invalid("the dimension has to be one number")) };
        let axis = infer::axis(axis, rank)?;
        if input.shape[axis] == 0 {
            return Err(OpError::invalid(format!("{input} has no element along axis {axis}")));
        }
        let mut shape = input.shape.clone();
        shape.remove(axis);
        Ok(vec![TensorType { dtype, shape }])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let axis = infer::axis(cx.ints(1)?.first().copied().unwrap_or(0), shape.len())?;
        let sizes = Sizes {
            outer: shape[..axis].iter().product(),
            len: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            last: cx.attrs().bool("select_last_index")?,
        };
        for_number!(cx.dtype(0)?, T => for_dtype!(cx.output_dtype(0)?, [Int32 => i32, Int64 => i64], I => {
            Ok(Box::new(ArgMax::<T, I> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        }))
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let axis = node.int_or("axis", 0)?;
    let dimension = builder.add_constant(Tensor::from_ints(&[axis]).reshaped(&[])?);
    let attrs = Attrs::new().with("select_last_index", node.bool_or("select_last_index", false)?);
    let out = builder.node("ArgMaxV2", &[Some(node.input(0)?), Some(dimension)], attrs)?;
    if node.bool_or("keepdims", true)? {
        return Ok(vec![builder.node("Unsqueeze", &[Some(out)], Attrs::new().with("axes", vec![axis]))?]);
    }
    Ok(vec![out])
}

#[derive(Clone, Copy)]
struct Sizes {
    outer: usize,
    len: usize,
    inner: usize,
    last: bool,
}

struct ArgMax<T, I> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T, I)>,
}

/// An integer that can hold a place.
trait Index: Element {
    fn of(place: usize) -> Self;
}

impl Index for i32 {
    fn of(place: usize) -> i32 {
        place as i32
    }
}

impl Index for i64 {
    fn of(place: usize) -> i64 {
        place as i64
    }
}

impl<T: Number, I: Index> Kernel for ArgMax<T, I> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes { outer, len, inner, last } = self.sizes;
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<I>(0)?.flat());
        for step in 0..outer {
            for column in 0..inner {
                let row = input.stepped(step * len * inner + column, len, inner);
                let (mut place, mut most) = (0, row.get(0));
                for index in 1..len {
                    let x = row.get(index);
                    if x > most || (last && x == most) {
                        (place, most) = (index, x);
                    }
                }
                out.set(step * inner + column, I::of(place));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 3.0, 3.0, 6.0, 5.0, 4.0]);
        check("ArgMaxV2", &[x.clone(), i64s(&[], &[1])], none(), &i64s(&[2], &[1, 0]));
        check("ArgMaxV2", &[x.clone(), i64s(&[], &[0])], none(), &i64s(&[3], &[1, 1, 1]));
        let last = none().with("select_last_index", true);
        check("ArgMaxV2", &[x, i64s(&[], &[1])], last, &i64s(&[2], &[2, 0]));
        refuse("ArgMaxV2", &[f32s(&[2, 0], &[]), i64s(&[], &[1])], none(), "no element");
    }
}
