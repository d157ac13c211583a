//! Writes new elements into a cache along an axis, from a position that each sequence of the batch has of its own.

use crate::kernels::generic::Ints;
use crate::kernels::number::for_width;
use crate::onnx::{LATEST, alike};
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator, Types, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.TensorScatter",
    onnx: &[OnnxForm::new(
        "TensorScatter",
        24,
        LATEST,
        |builder, node| alike(builder, node, "jumar.TensorScatter"),
    )],
    inputs: &[
        InputDef::required("past_cache", Types::ALL),
        InputDef::required("update", Types::ALL),
        InputDef::optional("write_indices", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::str("mode", "linear"), AttrDef::int("axis", -2)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        cx.same_types([0, 1])?;
        is_circular(cx)?;
        let (cache, update) = (cx.input(0)?, cx.input(1)?);
        let (Some(rank), Some(_)) = (cache.rank(), update.rank()) else {
            return Ok(vec![cache.clone()]);
        };
        let axis = axis(cx, rank)?;
        let fits = update.shape.len() == rank
            && cache
                .shape
                .iter()
                .zip(&update.shape)
                .enumerate()
                .all(|(at, (&own, &new))| {
                    own < 0 || new < 0 || own == new || at == axis && new < own
                });
        if !fits {
            return Err(OpError::invalid(format!(
                "the update {update} does not fit the cache {cache} along axis {axis}"
            )));
        }
        if cx.has(2) {
            let indices = cx.input(2)?;
            let wrong = match indices.shape[..] {
                [count] => count >= 0 && cache.shape[0] >= 0 && count != cache.shape[0],
                _ => indices.rank().is_some(),
            };
            if wrong {
                return Err(OpError::invalid(format!(
                    "write_indices is {indices}; it has to have one number for each of {} sequences",
                    cache.shape[0]
                )));
            }
        }
        Ok(vec![cache.clone()])
    },
    prepare: |cx| {
        let (cache, update) = (cx.shape(0)?, cx.shape(1)?);
        let axis = axis(cx.infer(), cache.len())?;
        let sizes = Sizes {
            batch: cache[0],
            groups: cache[1..axis].iter().product(),
            len: cache[axis],
            new: update[axis],
            inner: cache[axis + 1..].iter().product(),
            circular: is_circular(cx.infer())?,
        };
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Scatter::<T> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn is_circular(cx: &InferCx<'_>) -> Result<bool, OpError> {
    match cx.attrs().str("mode")? {
        "linear" => Ok(false),
        "circular" => Ok(true),
        other => Err(OpError::invalid(format!(
            "the mode is {other:?}; it can be linear and circular"
        ))),
    }
}

fn axis(cx: &InferCx<'_>, rank: usize) -> Result<usize, OpError> {
    match infer::axis(cx.attrs().int("axis")?, rank)? {
        0 => Err(OpError::invalid(
            "the axis is that of the batch; it has to be a later one",
        )),
        axis => Ok(axis),
    }
}

struct Sizes {
    batch: usize,
    /// Dimensions between the batch and the axis, together.
    groups: usize,
    len: usize,
    new: usize,
    inner: usize,
    circular: bool,
}

struct Scatter<T> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Scatter<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes {
            batch,
            groups,
            len,
            new,
            inner,
            circular,
        } = self.sizes;
        let (update, out) = (call.input::<T>(1)?.flat(), call.output::<T>(0)?.flat());
        let starts = match call.has_input(2) {
            true => Some(Ints::of(call, 2)?),
            false => None,
        };
        out.copy_from(call.input::<T>(0)?.flat());
        for sequence in 0..batch {
            let start = starts.map_or(0, |starts| starts.get(sequence));
            let fits = circular || start >= 0 && start.saturating_add(new as i64) <= len as i64;
            if !fits {
                return Err(OpError::data(format!(
                    "{new} elements from {start} on do not lie in a cache of {len}"
                )));
            }
            if len == 0 {
                continue;
            }
            let start = start.rem_euclid(len as i64) as usize;
            for group in sequence * groups..(sequence + 1) * groups {
                for row in 0..new {
                    let to = (group * len + (start + row) % len) * inner;
                    out.slice(to, inner)
                        .copy_from(update.slice((group * new + row) * inner, inner));
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
    fn each_sequence_is_written_from_its_own_position() {
        let cache = i64s(&[2, 1, 3, 1], &[1, 2, 3, 4, 5, 6]);
        let update = i64s(&[2, 1, 2, 1], &[10, 20, 30, 40]);
        let inputs = [cache.clone(), update.clone(), i64s(&[2], &[1, 0])];
        check(
            "jumar.TensorScatter",
            &inputs,
            none(),
            &i64s(&[2, 1, 3, 1], &[1, 10, 20, 30, 40, 6]),
        );
        let inputs = [cache, update, i64s(&[2], &[2, 0])];
        refuse("jumar.TensorScatter", &inputs, none(), "from 2 on");
        check(
            "jumar.TensorScatter",
            &inputs,
            none().with("mode", "circular"),
            &i64s(&[2, 1, 3, 1], &[20, 2, 10, 30, 40, 6]),
        );
    }
}
