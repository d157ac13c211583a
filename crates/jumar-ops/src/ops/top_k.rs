//! The largest elements along an axis, or the smallest, and their indices.

use std::cmp::Ordering;

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::onnx::LATEST;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, OutputDef, Tensor, TensorType, Types, UNKNOWN, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "TopK",
    onnx: &[OnnxForm::new("TopK", 1, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::NUMBER),
        InputDef::constant("k", Types::INDEX),
    ],
    outputs: &[OutputDef { name: "values" }, OutputDef { name: "indices" }],
    attrs: &[
        AttrDef::bool("sorted", true),
        AttrDef::bool("largest", true),
        AttrDef::int("dim", -1),
        // Ours: ONNX wants int64.
        AttrDef::dtype("indices_dtype", DataType::Int32),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let dtype = cx.attrs().dtype("indices_dtype")?;
        if !Types::INDEX.contains(dtype) {
            return Err(OpError::invalid(format!("indices of type {dtype}")));
        }
        let Some(rank) = input.rank() else {
            return Ok(vec![
                TensorType::of_unknown_rank(input.dtype),
                TensorType::of_unknown_rank(dtype),
            ]);
        };
        let axis = infer::axis(cx.attrs().int("dim")?, rank)?;
        let mut shape = input.shape.clone();
        let size = shape[axis];
        shape[axis] = match count(cx)? {
            Some(k) if size >= 0 && k > size => {
                return Err(OpError::invalid(format!(
                    "{k} elements of an axis of {size}"
                )));
            }
            Some(k) => k,
            None => UNKNOWN,
        };
        Ok(vec![
            TensorType {
                dtype: input.dtype,
                shape: shape.clone(),
            },
            TensorType { dtype, shape },
        ])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let axis = infer::axis(cx.attrs().int("dim")?, shape.len())?;
        let sizes = Sizes {
            outer: shape[..axis].iter().product(),
            len: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            k: cx.output_shape(0)?[axis],
            largest: cx.attrs().bool("largest")?,
            wide: cx.attrs().dtype("indices_dtype")? == DataType::Int64,
        };
        for_carried!(cx.dtype(0)?, T => {
            Ok(Box::new(TopK::<T> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn count(cx: &InferCx<'_>) -> Result<Option<i64>, OpError> {
    match cx.ints(1)?.as_deref() {
        None => Ok(None),
        Some(&[k]) if k >= 0 => Ok(Some(k)),
        Some(other) => Err(OpError::invalid(format!(
            "k is {other:?}, and has to be one number that is not negative"
        ))),
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let k = if node.opset < 10 {
        let k = node
            .int("k")?
            .ok_or_else(|| OpError::invalid("the attribute k is missing"))?;
        builder.add_constant(Tensor::from_ints(&[k]))
    } else {
        node.input(1)?
    };
    let attrs = Attrs::new()
        .with("dim", node.int_or("axis", -1)?)
        .with("largest", node.bool_or("largest", true)?)
        .with("sorted", node.bool_or("sorted", true)?)
        .with("indices_dtype", DataType::Int64);
    builder.add_node("TopK", &[Some(node.input(0)?), Some(k)], attrs, 2)
}

struct Sizes {
    outer: usize,
    len: usize,
    inner: usize,
    k: usize,
    largest: bool,
    wide: bool,
}

struct TopK<T> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T)>,
}

/// Orders by value, largest first, then by index. What is not a number is larger than any.
fn order<W: Wide>(one: &(W, usize), two: &(W, usize), largest: bool) -> Ordering {
    let values = one.0.order(two.0);
    let values = if largest { values.reverse() } else { values };
    values.then(one.1.cmp(&two.1))
}

/// Brings the first `k` to the front, in order. Built for the three types of comparison alone.
fn select<W: Wide>(row: &mut [(W, usize)], k: usize, largest: bool) {
    if k < row.len() {
        row.select_nth_unstable_by(k - 1, |one, two| order(one, two, largest));
    }
    row[..k].sort_unstable_by(|one, two| order(one, two, largest));
}

impl<T: ConvertibleElement> Kernel for TopK<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes {
            outer,
            len,
            inner,
            k,
            largest,
            wide,
        } = self.sizes;
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        if k == 0 {
            return Ok(());
        }
        // One row at a time is sorted in memory of its own: selection in place would need slices of device memory.
        let mut row: Vec<(T::Wide, usize)> = Vec::with_capacity(len);
        for step in 0..outer {
            for column in 0..inner {
                row.clear();
                let source = input.stepped(step * len * inner + column, len, inner);
                row.extend((0..len).map(|index| (source.get(index).widen(), index)));
                select(&mut row, k, largest);
                for (index, &(value, position)) in row[..k].iter().enumerate() {
                    let to = (step * k + index) * inner + column;
                    out.set(to, T::from_wide(value));
                    if call.outputs() < 2 {
                        continue;
                    }
                    if wide {
                        call.output::<i64>(1)?.flat().set(to, position as i64);
                    } else {
                        call.output::<i32>(1)?.flat().set(to, position as i32);
                    }
                }
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
    fn agrees_with_its_definition() {
        let x = || f32s(&[2, 4], &[0.0, 3.0, 3.0, 1.0, 7.0, 4.0, 5.0, 6.0]);
        let k = |k: i64| i64s(&[1], &[k]);
        let attrs = || none().with("indices_dtype", DataType::Int64);
        let found = run("TopK", &[x(), k(3)], attrs()).unwrap();
        assert_eq!(
            found,
            [
                f32s(&[2, 3], &[3.0, 3.0, 1.0, 7.0, 6.0, 5.0]),
                i64s(&[2, 3], &[1, 2, 3, 0, 3, 2])
            ]
        );
        let found = run(
            "TopK",
            &[x(), k(1)],
            attrs().with("largest", false).with("dim", 0),
        )
        .unwrap();
        assert_eq!(
            found,
            [f32s(&[1, 4], &[0.0, 3.0, 3.0, 1.0]), i64s(&[1, 4], &[0; 4])]
        );
        assert_eq!(
            run("TopK", &[x(), k(0)], attrs()).unwrap()[0],
            f32s(&[2, 0], &[])
        );
        refuse("TopK", &[x(), k(5)], attrs(), "axis of 4");
        refuse("TopK", &[x(), k(-1)], attrs(), "k is");
        let odd = run("TopK", &[f32s(&[3], &[1.0, f32::NAN, 2.0]), k(1)], attrs()).unwrap();
        assert!(odd[0].floats().unwrap()[0].is_nan());
    }
}
