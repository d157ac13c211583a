//! Selects the slices along an axis for which a condition is true.

use jumar_types::dtype::DataType;

use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::{Bool8, Element};
use crate::{
    Aliasing, AttrDef, Attrs, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator,
    TensorType, Types, UNKNOWN, infer,
};

/// Stands for no axis: the tensor is taken as one row.
const FLAT: i64 = i64::MIN;

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.Compress",
    onnx: &[OnnxForm::new("Compress", 9, LATEST, |builder, node| {
        let attrs = Attrs::new().with("axis", node.int_or("axis", FLAT)?);
        Ok(vec![builder.node(
            "jumar.Compress",
            node.inputs(),
            attrs,
        )?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::required("condition", Types::of(&[DataType::Bool])),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("axis", FLAT)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        // How many there are is seen in the values alone.
        let condition = cx.constant(1).and_then(|tensor| tensor.ints());
        let kept = condition.as_ref().map_or(UNKNOWN, |list| {
            list.iter().filter(|&&keep| keep != 0).count() as i64
        });
        let fits = |size: i64| match &condition {
            Some(list) if size >= 0 && list.len() as i64 > size => Err(OpError::invalid(format!(
                "the condition has {} elements, and there are {size}",
                list.len()
            ))),
            _ => Ok(()),
        };
        let Some(axis) = axis(cx)? else {
            fits(input.elements().map_or(UNKNOWN, |count| count as i64))?;
            return Ok(vec![TensorType::new(input.dtype, [kept])]);
        };
        let Some(rank) = input.rank() else {
            return Ok(vec![TensorType::of_unknown_rank(input.dtype)]);
        };
        let axis = infer::axis(axis, rank)?;
        let mut shape = input.shape.clone();
        fits(shape[axis])?;
        shape[axis] = kept;
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let (outer, len, inner) = match axis(cx.infer())? {
            None => (1, shape.iter().product(), 1),
            Some(axis) => {
                let axis = infer::axis(axis, shape.len())?;
                (
                    shape[..axis].iter().product(),
                    shape[axis],
                    shape[axis + 1..].iter().product(),
                )
            }
        };
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Compress::<T> { outer, len, inner, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn axis(cx: &InferCx<'_>) -> Result<Option<i64>, OpError> {
    let axis = cx.attrs().int("axis")?;
    Ok((axis != FLAT).then_some(axis))
}

struct Compress<T> {
    outer: usize,
    len: usize,
    inner: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Compress<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let condition = call.input::<Bool8>(1)?.flat();
        let inner = self.inner;
        let mut at = 0;
        for outer in 0..self.outer {
            for index in 0..condition.len().min(self.len) {
                if !condition.get(index).get() {
                    continue;
                }
                if at + inner > out.len() {
                    return Err(OpError::data(
                        "the condition was changed while it was counted",
                    ));
                }
                out.slice(at, inner)
                    .copy_from(input.slice((outer * self.len + index) * inner, inner));
                at += inner;
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
        let x = || f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let rows = bools(&[3], &[false, true, true]);
        check(
            "jumar.Compress",
            &[x(), rows],
            none().with("axis", 0),
            &f32s(&[2, 2], &[3.0, 4.0, 5.0, 6.0]),
        );
        let columns = bools(&[2], &[false, true]);
        check(
            "jumar.Compress",
            &[x(), columns],
            none().with("axis", -1),
            &f32s(&[3, 1], &[2.0, 4.0, 6.0]),
        );
        let all = bools(&[5], &[false, true, false, false, true]);
        check(
            "jumar.Compress",
            &[x(), all],
            none(),
            &f32s(&[2], &[2.0, 5.0]),
        );
        refuse(
            "jumar.Compress",
            &[x(), bools(&[4], &[true; 4])],
            none().with("axis", 0),
            "4 elements",
        );
    }
}
