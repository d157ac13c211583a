//! Borders around images.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_dvpp::vpc::{Border, BorderKind, make_border};
use jumar_types::Result;

use super::task::{self, Accesses, Done, check_disjoint};
use super::vpc::call;
use super::{argument, fields, find, refused, remove};
use crate::generated::enums;
use crate::{Cx, Raw};

/// A configuration of a border.
pub struct BorderConfig {
    id: u64,
    pub(super) fields: Mutex<BorderFields>,
}

/// What a program states about a border.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BorderFields {
    top: u32,
    bottom: u32,
    left: u32,
    right: u32,
    kind: u32,
    values: [f64; 4],
}

pub fn acldvppCreateBorderConfig(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.borders.insert(|id| {
        Arc::new(BorderConfig {
            id,
            fields: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyBorderConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    remove(cx, &cx.process.dvpp.borders, config, "borderConfig").map(drop)
}

fields! {
    borders, "borderConfig";
    acldvppSetBorderConfigTop acldvppGetBorderConfigTop top: u32;
    acldvppSetBorderConfigBottom acldvppGetBorderConfigBottom bottom: u32;
    acldvppSetBorderConfigLeft acldvppGetBorderConfigLeft left: u32;
    acldvppSetBorderConfigRight acldvppGetBorderConfigRight right: u32;
}

pub fn acldvppSetBorderConfigBorderType(cx: &Cx<'_>, config: Raw, kind: u32) -> Result<()> {
    let found = find(&cx.process.dvpp.borders, config, "borderConfig")?;
    BorderKind::from_number(kind).map_err(|error| refused(&error))?;
    found.fields.lock().kind = kind;
    Ok(())
}

pub fn acldvppGetBorderConfigBorderType(cx: &Cx<'_>, config: Raw) -> Result<u32> {
    let kind = find(&cx.process.dvpp.borders, config, "borderConfig")?
        .fields
        .lock()
        .kind;
    Ok(kind)
}

pub fn acldvppSetBorderConfigValue(cx: &Cx<'_>, config: Raw, index: u32, value: f64) -> Result<()> {
    let found = find(&cx.process.dvpp.borders, config, "borderConfig")?;
    match found.fields.lock().values.get_mut(index as usize) {
        Some(known) => *known = value,
        None => return Err(beyond(index)),
    }
    Ok(())
}

pub fn acldvppGetBorderConfigValue(cx: &Cx<'_>, config: Raw, index: u32) -> Result<f64> {
    let values = find(&cx.process.dvpp.borders, config, "borderConfig")?
        .fields
        .lock()
        .values;
    values
        .get(index as usize)
        .copied()
        .ok_or_else(|| beyond(index))
}

fn beyond(index: u32) -> jumar_types::Error {
    argument(format!("index is {index}; a border has values 0 to 3"))
}

/// Reads a configuration.
fn read(cx: &Cx<'_>, config: Raw) -> Result<Border> {
    let fields = *find(&cx.process.dvpp.borders, config, "borderConfig")?
        .fields
        .lock();
    Ok(Border {
        left: fields.left as usize,
        right: fields.right as usize,
        top: fields.top as usize,
        bottom: fields.bottom as usize,
        kind: BorderKind::from_number(fields.kind).map_err(|error| refused(&error))?,
        values: fields
            .values
            .map(|value| value.round().clamp(0.0, 255.0) as u8),
    })
}

/// Reads a configuration for the batch form.
///
/// # Errors
/// As [`read`]; the border is mirrored.
pub(super) fn of_batch(cx: &Cx<'_>, config: Raw) -> Result<Border> {
    let border = read(cx, config)?;
    if matches!(border.kind, BorderKind::Reflect | BorderKind::Reflect101) {
        return Err(argument(format!(
            "the border type is {}; the batch form supports BORDER_CONSTANT and BORDER_REPLICATE",
            enums::name_of("acldvppBorderType", border.kind as i64).unwrap_or_default()
        )));
    }
    Ok(border)
}

pub fn acldvppVpcMakeBorderAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    output: Raw,
    config: Raw,
    stream: Raw,
) -> Result<()> {
    call(cx, channel, stream, |call| {
        let input = call.input(input, "inputDesc")?;
        let output = call.output(output, "outputDesc")?;
        let border = read(cx, config)?;
        check_disjoint(&input, &output)?;
        make_border(&input.image, &output.image, &border, None).map_err(|error| refused(&error))?;
        let accesses = Accesses {
            reads: vec![input.memory.0],
            writes: vec![output.memory.0],
        };
        let work = move || -> Done {
            let memory = &output.memory;
            let done = make_border(
                &input.image,
                &output.image,
                &border,
                Some((&input.memory, memory, memory)),
            );
            output.report(&done);
            done
        };
        task::launch(cx, &call.channel, call.stream, &accesses, Box::new(work))
    })
}
