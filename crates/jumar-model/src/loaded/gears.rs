//! Models that were built for several sizes: the gear of an execution, and what it uses of its buffers.

use jumar_core::{Span, Stream};
use jumar_graph::{Plan, Region};
use jumar_types::{Error, ErrorKind, Result};

use super::{Execute, Spans};
use crate::package::{Description, TensorInfo, refused};

/// Finds the plan of the gear that the last input names.
pub(super) fn chosen<'a>(
    description: &Description,
    plans: &'a [Plan],
    inputs: &[Span],
) -> Result<&'a Plan> {
    let count = description
        .gears
        .first()
        .map_or(0, |gear| gear.values.len());
    let values = inputs
        .last()
        .map(|span| jumar_graph::read_bytes(Region::of(*span)))
        .transpose()
        .map_err(|error| refused(&error, None))?
        .and_then(|bytes| gear_values(&bytes, count));
    let found = values
        .as_ref()
        .and_then(|values| plans.get(description.gear(values)?));
    found.ok_or_else(|| {
        let known: Vec<_> = description.gears.iter().map(|gear| &gear.values).collect();
        let sentence = format!(
            "model \"{}\" was built for the sizes {known:?}, and its input \"{}\" says {values:?}",
            description.name,
            jumar_graph::GEAR_INPUT
        );
        Error::new(ErrorKind::DynamicBatch, sentence).fix(
            "Call aclmdlSetDynamicBatchSize, aclmdlSetDynamicHWSize or aclmdlSetInputDynamicDims for this dataset first.",
        )
    })
}

/// Reads the numbers that choose a gear: of eight bytes each if the buffer is that long, otherwise of four.
pub fn gear_values(bytes: &[u8], count: usize) -> Option<Vec<i64>> {
    if bytes.len() >= count * size_of::<i64>() {
        let words = bytes.as_chunks().0.iter().take(count);
        return Some(words.map(|word| i64::from_le_bytes(*word)).collect());
    }
    let words = bytes.as_chunks().0;
    (words.len() >= count).then(|| {
        words
            .iter()
            .take(count)
            .map(|word| i64::from(i32::from_le_bytes(*word)))
            .collect()
    })
}

/// Returns what an execution reads of its inputs and writes of its outputs, for the probes. Buffers have the size of the largest gear, and
/// the gear that is chosen uses a part of them.
pub(super) fn used(
    description: &Description,
    stream: &Stream,
    execute: &Execute<'_>,
) -> (Spans, Spans) {
    let (inputs, outputs) = (execute.inputs, execute.outputs);
    let all = || (Spans::from_slice(inputs), Spans::from_slice(outputs));
    // A captured execution may have another gear each time.
    let Some(first) = description.gears.first() else {
        return all();
    };
    if !stream.is_observed() || stream.is_recorded() {
        return all();
    }
    let gear = inputs
        .last()
        .and_then(|span| jumar_graph::read_bytes(Region::of(*span)).ok())
        .and_then(|bytes| gear_values(&bytes, first.values.len()))
        .and_then(|values| description.gear(&values));
    let Some(gear) = gear else {
        return all();
    };
    let dims_of = |index: usize, gear: usize, is_input: bool| {
        let gear = &description.gears[gear];
        match is_input {
            true => gear.inputs.get(index),
            false => gear.outputs.get(index),
        }
    };
    let part = |spans: &[Span], tensors: &[TensorInfo], is_input: bool| -> Spans {
        let of = |(index, span): (usize, &Span)| {
            let elements = |gear| count(dims_of(index, gear, is_input)?.as_slice());
            let largest = (0..description.gears.len()).filter_map(elements).max()?;
            let bytes = tensors.get(index)?.bytes.checked_mul(elements(gear)?)?;
            span.part(0, bytes.checked_div(largest)?.min(span.bytes()))
        };
        let indexed = spans.iter().enumerate();
        indexed.map(|one| of(one).unwrap_or(*one.1)).collect()
    };
    (
        part(inputs, &description.inputs, true),
        part(outputs, &description.outputs, false),
    )
}

/// Returns the number of elements of a tensor.
fn count(dims: &[i64]) -> Option<usize> {
    dims.iter().try_fold(1_usize, |count, dim| {
        count.checked_mul(usize::try_from(*dim).ok()?)
    })
}
