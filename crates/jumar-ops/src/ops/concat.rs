//! Concatenation along an axis.

use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Call, InputDef, InputPlacement, Kernel, OnnxForm, OpError,
    Operator, Slot, TensorType, Types, UNKNOWN, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ConcatD",
    onnx: &[OnnxForm::new("Concat", 4, LATEST, |builder, node| {
        let axis = node
            .int("axis")?
            .ok_or_else(|| OpError::invalid("the attribute axis is missing"))?;
        let attrs = Attrs::new()
            .with("concat_dim", axis)
            .with("N", node.inputs().len() as i64);
        Ok(vec![builder.node("ConcatD", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::variadic("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("concat_dim", AttrKind::Int),
        AttrDef::int("N", 1),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let dtype = cx.same_types(0..cx.len())?;
        let mut shape: Option<Vec<i64>> = None;
        for index in 0..cx.len() {
            let input = cx.input(index)?;
            let Some(rank) = input.rank() else {
                return Ok(vec![TensorType::of_unknown_rank(dtype)]);
            };
            let axis = infer::axis(cx.attrs().int("concat_dim")?, rank)?;
            let Some(joined) = &mut shape else {
                shape = Some(input.shape.clone());
                continue;
            };
            let clash = || {
                OpError::invalid(format!(
                    "{input} cannot be joined to a tensor of another shape along {axis}"
                ))
            };
            if joined.len() != rank {
                return Err(clash());
            }
            for (at, (own, &dim)) in joined.iter_mut().zip(&input.shape).enumerate() {
                *own = match (*own, dim) {
                    (a, b) if at == axis => {
                        if a < 0 || b < 0 {
                            UNKNOWN
                        } else {
                            a.checked_add(b).ok_or_else(clash)?
                        }
                    }
                    (a, b) if a == b || b < 0 => a,
                    (a, b) if a < 0 => b,
                    _ => return Err(clash()),
                };
            }
        }
        Ok(vec![TensorType {
            dtype,
            shape: shape.unwrap_or_default(),
        }])
    },
    prepare: |cx| {
        let out = cx.output_shape(0)?;
        let axis = infer::axis(cx.attrs().int("concat_dim")?, out.len())?;
        let inner: usize = out[axis + 1..].iter().product();
        let parts = (0..cx.inputs())
            .map(|index| Ok(cx.shape(index)?[axis] * inner))
            .collect::<Result<_, OpError>>()?;
        let (outer, row) = (out[..axis].iter().product(), out[axis] * inner);
        let first = out.first().copied().filter(|_| axis > 0);
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Concat::<T> { outer, first, inner, row, parts, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

/// Elements that are worth a thread's trouble.
const GRAIN: usize = 1 << 14;

struct Concat<T> {
    outer: usize,
    /// Entries of the first dimension, where it is not the one that is joined.
    first: Option<usize>,
    /// Elements a step of the dimension that is joined.
    inner: usize,
    /// Elements of the output a step of the outer dimensions.
    row: usize,
    /// The same of each input.
    parts: Vec<usize>,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Concat<T> {
    fn accepts_batch_stride(&self, _slot: Slot) -> bool {
        true
    }

    fn as_slice_of_output(&self, input: usize) -> Option<InputPlacement> {
        self.parts.get(input)?;
        Some(InputPlacement {
            start: self.parts[..input].iter().sum(),
            runs: self.outer,
        })
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (out, out_stride) = call.output::<T>(0)?.spread();
        let mut before = 0;
        for (index, &part) in self.parts.iter().enumerate() {
            let (input, stride) = call.input::<T>(index)?.spread();
            // Entries of the first dimension may lie apart: runs a entry, elements a run, and where the first one goes.
            let (runs, run, base) = match self.first {
                Some(first) => (self.outer / first.max(1), part, before),
                None if stride == self.inner && out_stride == self.inner => (1, part, before),
                None => (1, self.inner, before / self.inner.max(1) * out_stride),
            };
            call.workers()
                .ranges(self.outer * part, GRAIN, |start, len| {
                    let (mut at, end) = (start, start + len);
                    while at < end {
                        let (entry, line, within) = (at / run / runs, at / run % runs, at % run);
                        let count = (run - within).min(end - at);
                        let from = input.slice(entry * stride + line * run + within, count);
                        let to =
                            out.slice(base + entry * out_stride + line * self.row + within, count);
                        // What makes a part may have put it there.
                        if from.address() != to.as_row().address() {
                            to.copy_from(from);
                        }
                        at += count;
                    }
                });
            before += part;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let (a, b) = (
            f32s(&[2, 1], &[1.0, 2.0]),
            f32s(&[2, 2], &[3.0, 4.0, 5.0, 6.0]),
        );
        let attrs = none().with("concat_dim", -1).with("N", 2);
        check(
            "ConcatD",
            &[a.clone(), b.clone()],
            attrs.clone(),
            &f32s(&[2, 3], &[1.0, 3.0, 4.0, 2.0, 5.0, 6.0]),
        );
        check("ConcatD", &[f32s(&[2, 0], &[]), b.clone()], attrs, &b);
        refuse(
            "ConcatD",
            &[a, b],
            none().with("concat_dim", 0),
            "another shape",
        );
        refuse("ConcatD", &[], none().with("concat_dim", 0), "missing");
    }
}
