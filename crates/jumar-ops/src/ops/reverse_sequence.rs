//! Reverses the first part of each sequence of a batch.

use crate::kernels::data_movement::Indices;
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, Types,
    infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ReverseSequence",
    onnx: &[OnnxForm::new(
        "ReverseSequence",
        10,
        LATEST,
        |builder, node| {
            let attrs = Attrs::new()
                .with("seq_dim", node.int_or("time_axis", 0)?)
                .with("batch_dim", node.int_or("batch_axis", 1)?);
            Ok(vec![builder.node(
                "ReverseSequence",
                node.inputs(),
                attrs,
            )?])
        },
    )],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::required("seq_lengths", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("seq_dim", AttrKind::Int),
        AttrDef::int("batch_dim", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        if let Some(rank) = input.rank() {
            let batch = infer::axis(cx.attrs().int("batch_dim")?, rank)?;
            if batch == infer::axis(cx.attrs().int("seq_dim")?, rank)? {
                return Err(OpError::invalid(format!(
                    "batch_dim and seq_dim are both axis {batch}; they must differ"
                )));
            }
            let (wanted, given) = (input.shape[batch], cx.input(1)?.elements());
            if given.is_some_and(|given| wanted >= 0 && given as i64 != wanted) {
                return Err(OpError::invalid(format!(
                    "the lengths are {}, and the batch has {wanted}",
                    cx.input(1)?
                )));
            }
        }
        Ok(vec![input.clone()])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?.to_vec();
        let time = infer::axis(cx.attrs().int("seq_dim")?, shape.len())?;
        let batch = infer::axis(cx.attrs().int("batch_dim")?, shape.len())?;
        let size = |axis: usize| (shape[axis], shape[axis + 1..].iter().product::<usize>());
        let inner = shape[time.max(batch) + 1..].iter().product();
        let (time, batch, lengths) = (size(time), size(batch), cx.dtype(1)?);
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Reverse::<T> { time, batch, inner, lengths, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

struct Reverse<T> {
    /// The size of each axis, and the distance of two elements along it.
    time: (usize, usize),
    batch: (usize, usize),
    /// Elements that stay together.
    inner: usize,
    lengths: jumar_types::dtype::DataType,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Reverse<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let lengths = Indices::of(call, 1, self.lengths)?;
        if out.is_empty() {
            return Ok(());
        }
        for start in (0..out.len()).step_by(self.inner) {
            let batch = start / self.batch.1 % self.batch.0;
            let time = start / self.time.1 % self.time.0;
            let length = lengths.get(batch);
            let Some(length) = usize::try_from(length)
                .ok()
                .filter(|&length| length <= self.time.0)
            else {
                return Err(OpError::data(format!(
                    "length {batch} is {length}, and a sequence has {} elements",
                    self.time.0
                )));
            };
            let source = if time < length {
                length - 1 - time
            } else {
                time
            };
            let from = start - time * self.time.1 + source * self.time.1;
            out.slice(start, self.inner)
                .copy_from(input.slice(from, self.inner));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let x = || f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let rows = none().with("seq_dim", 1).with("batch_dim", 0);
        check(
            "ReverseSequence",
            &[x(), i64s(&[2], &[2, 3])],
            rows.clone(),
            &f32s(&[2, 3], &[2.0, 1.0, 3.0, 6.0, 5.0, 4.0]),
        );
        let columns = none().with("seq_dim", 0).with("batch_dim", 1);
        check(
            "ReverseSequence",
            &[x(), i64s(&[3], &[2, 1, 0])],
            columns,
            &f32s(&[2, 3], &[4.0, 2.0, 3.0, 1.0, 5.0, 6.0]),
        );
        refuse(
            "ReverseSequence",
            &[x(), i64s(&[2], &[2, 4])],
            rows.clone(),
            "is 4",
        );
        refuse(
            "ReverseSequence",
            &[x(), i64s(&[3], &[2, 4, 1])],
            rows,
            "batch has 2",
        );
    }
}
