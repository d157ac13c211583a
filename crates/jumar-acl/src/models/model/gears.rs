//! Sizes that a model was built for: the one that the next execution has.

use jumar::offline::{Description, Gear, GearKind, TensorInfo};
use jumar_types::{Error, ErrorKind, Result};

use super::{find, initialized, span};
use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw, data_buffer, dataset, refuse};

/// What a choice of a size is about.
struct Choice<'a> {
    kind: GearKind,
    what: &'a str,
    /// Whether the numbers are none, which is refused before the model is looked at.
    nothing: bool,
}

/// Chooses one of the sizes that a model was built for: its numbers are written into the buffer, before the call returns.
fn choose(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    choice: &Choice<'_>,
    values: impl FnOnce(&Description) -> Result<Vec<i64>>,
) -> Result<()> {
    let entries = dataset::entries(cx, dataset, "dataset")?;
    let what = choice.what;
    if choice.nothing {
        return refuse(ErrorKind::InvalidArgument, format!("the {what} is 0"));
    }
    let entry = entries.get(index).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "buffer {index} does not exist: the dataset has {} buffers",
                entries.len()
            ),
        )
    })?;
    let (address, size) = data_buffer::content(cx, entry.buffer)?;
    if address == 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("buffer {index} of the dataset has no memory"),
        );
    }
    initialized(cx)?;
    let loaded = find(cx, id)?;
    let description = loaded.model.description().clone();
    let wrong = |sentence: String| Err(Error::new(ErrorKind::DynamicBatch, sentence));
    if description.gears.is_empty() {
        return wrong(format!(
            "model {id} (\"{}\") was not built for several sizes, so there is no {what} to choose",
            description.name
        ));
    }
    if description.gear_kind != choice.kind {
        return wrong(format!(
            "model {id} (\"{}\") was built for several sizes of another kind, so there is no {what} to choose",
            description.name
        ));
    }
    let values = values(&description)?;
    let Some(gear) = description.gear(&values) else {
        let known: Vec<_> = description.gears.iter().map(|gear| &gear.values).collect();
        return wrong(format!(
            "the {what} is {values:?}, and model {id} (\"{}\") was built for {known:?}",
            description.name
        ));
    };
    if size < values.len() * size_of::<i32>() {
        return refuse(
            ErrorKind::DynamicInputLength,
            format!(
                "buffer {index} has {size} bytes, and the {what} needs {}",
                values.len() * size_of::<i64>()
            ),
        );
    }
    let bytes: Vec<u8> = if size >= values.len() * size_of::<i64>() {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    } else {
        let to_int32 = |value: &i64| i32::try_from(*value).unwrap_or(i32::MAX).to_le_bytes();
        values.iter().flat_map(to_int32).collect()
    };
    let tensor = TensorInfo {
        name: what.to_owned(),
        data_type: 9,
        format: 2,
        dims: Vec::new(),
        range: Vec::new(),
        bytes: bytes.len(),
        aipp: None,
        dynamic_aipp: None,
    };
    let to = span(
        cx,
        (address, size),
        (&tensor, bytes.len()),
        ("input", index),
    )?;
    cx.context()?.write(to, &bytes, &cx.caller())?;
    *loaded.gear.lock() = Some(gear);
    Ok(())
}

/// Turns a number of the interface into one that can be compared; none is beyond it that a model could have.
fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub fn aclmdlSetDynamicBatchSize(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    batch: u64,
) -> Result<()> {
    let choice = Choice {
        kind: GearKind::Batch,
        what: "batch size",
        nothing: batch == 0,
    };
    choose(cx, id, dataset, index, &choice, |_| Ok(vec![number(batch)]))
}

pub fn aclmdlSetDynamicHWSize(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    height: u64,
    width: u64,
) -> Result<()> {
    let choice = Choice {
        kind: GearKind::Image,
        what: "image size",
        nothing: height == 0 || width == 0,
    };
    choose(cx, id, dataset, index, &choice, |_| {
        Ok(vec![number(height), number(width)])
    })
}

pub fn aclmdlSetInputDynamicDims(
    cx: &Cx<'_>,
    id: u32,
    dataset: Raw,
    index: usize,
    dims: Option<&types::aclmdlIODims>,
) -> Result<()> {
    let dims = dims.ok_or_else(|| null("dims"))?;
    let choice = Choice {
        kind: GearKind::Dims,
        what: "set of dimensions",
        nothing: dims.dimCount == 0,
    };
    choose(cx, id, dataset, index, &choice, |description| {
        let wrong = |sentence: String| Err(Error::new(ErrorKind::DynamicInputLength, sentence));
        let own = description.inputs.len().saturating_sub(1);
        let declared: Vec<i64> = description.inputs[..own]
            .iter()
            .flat_map(|input| input.dims.iter().copied())
            .collect();
        let Some(given) = dims
            .dims
            .get(..dims.dimCount)
            .filter(|given| given.len() == declared.len())
        else {
            return wrong(format!(
                "{} dimensions are given, and the inputs of model {id} have {} together: {declared:?}",
                dims.dimCount,
                declared.len()
            ));
        };
        let mut chosen = Vec::new();
        for (position, (&is, &want)) in given.iter().zip(&declared).enumerate() {
            if want >= 0 && is != want {
                return wrong(format!(
                    "dimension {position} is {is}, and the model has {want} there: {declared:?}"
                ));
            }
            if want < 0 {
                chosen.push((position, is));
            }
        }
        // The gear's own numbers may be in another order than the inputs.
        let flat = |gear: &Gear| gear.inputs.iter().flatten().copied().collect::<Vec<i64>>();
        let found = description.gears.iter().find(|gear| flat(gear) == given);
        Ok(found.map_or_else(
            || chosen.into_iter().map(|(_, dim)| dim).collect(),
            |gear| gear.values.clone(),
        ))
    })
}
