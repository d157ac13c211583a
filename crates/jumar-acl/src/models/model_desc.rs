//! Model descriptions: names, sizes, shapes, types and formats of a model's inputs and outputs.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar::offline::{Description, GearKind, TensorInfo};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::types;
use crate::init::put_text;
use crate::{Cx, Raw, model, refuse};

/// A model description: empty until it is filled, then a snapshot that outlives the model.
pub struct ModelDesc {
    id: u64,
    content: Mutex<Option<Arc<Content>>>,
}

/// What a filled description says, with its names as C texts that live as long as it does.
struct Content {
    model: u32,
    description: Arc<Description>,
    inputs: Vec<CString>,
    outputs: Vec<CString>,
    /// The operators, and the names that each had in the original model, in brackets behind their lengths.
    operators: HashMap<String, CString>,
}

/// The model descriptions by handle.
pub type ModelDescs = Table<ModelDesc>;

pub(crate) fn table() -> ModelDescs {
    Table::new(IdKind::ModelDesc, Arc::default())
}

/// What is asked of: an input or an output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Input,
    Output,
}

impl Side {
    fn noun(self) -> &'static str {
        match self {
            Side::Input => "input",
            Side::Output => "output",
        }
    }
}

impl Content {
    fn new(model: u32, description: Arc<Description>) -> Arc<Content> {
        let texts = |tensors: &[TensorInfo]| {
            tensors
                .iter()
                .map(|tensor| CString::new(tensor.name.replace('\0', "")).unwrap_or_default())
                .collect()
        };
        let (inputs, outputs) = (texts(&description.inputs), texts(&description.outputs));
        let operators = description
            .operators
            .iter()
            .map(|name| {
                let text = format!("[{}]{name}", name.len());
                let text = CString::new(text.replace('\0', "")).unwrap_or_default();
                (name.clone(), text)
            })
            .collect();
        Arc::new(Content {
            model,
            description,
            inputs,
            outputs,
            operators,
        })
    }

    fn tensors(&self, side: Side) -> &[TensorInfo] {
        match side {
            Side::Input => &self.description.inputs,
            Side::Output => &self.description.outputs,
        }
    }

    fn tensor(&self, side: Side, index: usize) -> Result<&TensorInfo> {
        let tensors = self.tensors(side);
        tensors.get(index).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "{} {index} does not exist: the model has {} {}s",
                    side.noun(),
                    tensors.len(),
                    side.noun()
                ),
            )
        })
    }
}

pub fn aclmdlCreateDesc(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.model_descs.insert(|id| {
        Arc::new(ModelDesc {
            id,
            content: Mutex::new(None),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclmdlDestroyDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    cx.process
        .model_descs
        .remove(desc.0, cx.call.name)
        .map(drop)
}

fn fill(cx: &Cx<'_>, desc: Raw, content: impl FnOnce() -> Result<Arc<Content>>) -> Result<()> {
    if desc.is_null() {
        return Err(null("modelDesc"));
    }
    let found = cx.process.model_descs.get(desc.0)?;
    model::initialized(cx)?;
    *found.content.lock() = Some(content()?);
    Ok(())
}

pub fn aclmdlGetDesc(cx: &Cx<'_>, desc: Raw, id: u32) -> Result<()> {
    fill(cx, desc, || {
        Ok(Content::new(
            id,
            model::find(cx, id)?.model.description().clone(),
        ))
    })
}

pub fn aclmdlGetDescFromFile(cx: &Cx<'_>, desc: Raw, path: Option<&CStr>) -> Result<()> {
    fill(cx, desc, || {
        Ok(Content::new(0, model::open(path)?.description().clone()))
    })
}

pub fn aclmdlGetDescFromMem(
    cx: &Cx<'_>,
    desc: Raw,
    bytes: Option<&[u8]>,
    _size: usize,
) -> Result<()> {
    fill(cx, desc, || {
        Ok(Content::new(0, model::parse(bytes)?.description().clone()))
    })
}

fn content(cx: &Cx<'_>, desc: Raw) -> Result<Arc<Content>> {
    if desc.is_null() {
        return Err(null("modelDesc"));
    }
    let content = cx.process.model_descs.get(desc.0)?.content.lock().clone();
    content.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "model description {:#x} is empty: aclmdlGetDesc did not fill it yet",
                desc.0
            ),
        )
    })
}

fn count(cx: &Cx<'_>, desc: Raw, side: Side) -> Result<usize> {
    content(cx, desc).map(|content| content.tensors(side).len())
}

pub fn aclmdlGetNumInputs(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    count(cx, desc, Side::Input)
}

pub fn aclmdlGetNumOutputs(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    count(cx, desc, Side::Output)
}

fn of<T>(
    cx: &Cx<'_>,
    desc: Raw,
    side: Side,
    index: usize,
    read: impl FnOnce(&TensorInfo) -> T,
) -> Result<T> {
    content(cx, desc)?.tensor(side, index).map(read)
}

pub fn aclmdlGetInputSizeByIndex(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<usize> {
    of(cx, desc, Side::Input, index, |tensor| tensor.bytes)
}

pub fn aclmdlGetOutputSizeByIndex(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<usize> {
    of(cx, desc, Side::Output, index, |tensor| tensor.bytes)
}

pub fn aclmdlGetInputFormat(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<i32> {
    of(cx, desc, Side::Input, index, |tensor| tensor.format)
}

pub fn aclmdlGetOutputFormat(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<i32> {
    of(cx, desc, Side::Output, index, |tensor| tensor.format)
}

pub fn aclmdlGetInputDataType(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<i32> {
    of(cx, desc, Side::Input, index, |tensor| tensor.data_type)
}

pub fn aclmdlGetOutputDataType(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<i32> {
    of(cx, desc, Side::Output, index, |tensor| tensor.data_type)
}

/// The text lives as long as the description keeps this content.
fn name(cx: &Cx<'_>, desc: Raw, side: Side, index: usize) -> Result<usize> {
    let content = content(cx, desc)?;
    content.tensor(side, index)?;
    let names = match side {
        Side::Input => &content.inputs,
        Side::Output => &content.outputs,
    };
    Ok(names
        .get(index)
        .map_or(0, |name| name.as_ptr().expose_provenance()))
}

pub fn aclmdlGetInputNameByIndex(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<usize> {
    name(cx, desc, Side::Input, index)
}

pub fn aclmdlGetOutputNameByIndex(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<usize> {
    name(cx, desc, Side::Output, index)
}

/// The most dimensions that the interface can carry.
const MOST_DIMS: usize = 128;
/// The longest name that fits its field, without the closing zero.
const LONGEST_NAME: usize = 127;

fn dims(cx: &Cx<'_>, desc: Raw, side: Side, index: usize) -> Result<types::aclmdlIODims> {
    let content = content(cx, desc)?;
    let tensor = content.tensor(side, index)?;
    let mut dims = types::aclmdlIODims::ZERO;
    if tensor.dims.len() > MOST_DIMS {
        return refuse(
            ErrorKind::StorageOverLimit,
            format!(
                "{} {index} has {} dimensions; the interface carries {MOST_DIMS}",
                side.noun(),
                tensor.dims.len()
            ),
        );
    }
    dims.dimCount = tensor.dims.len();
    dims.dims[..tensor.dims.len()].copy_from_slice(&tensor.dims);
    dims.name = put_text(&short_name(&content, side, index, &tensor.name));
    Ok(dims)
}

/// Replaces a name that is too long for its field by a made-up one.
fn short_name(content: &Content, side: Side, index: usize, name: &str) -> String {
    if name.len() <= LONGEST_NAME {
        return name.to_owned();
    }
    format!("acl_modelId_{}_{}_{index}", content.model, side.noun())
}

pub fn aclmdlGetInputDims(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<types::aclmdlIODims> {
    dims(cx, desc, Side::Input, index)
}

pub fn aclmdlGetInputDimsV2(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<types::aclmdlIODims> {
    dims(cx, desc, Side::Input, index)
}

pub fn aclmdlGetOutputDims(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<types::aclmdlIODims> {
    dims(cx, desc, Side::Output, index)
}

/// The dimensions under the size that was chosen last.
pub fn aclmdlGetCurOutputDims(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<types::aclmdlIODims> {
    let content = content(cx, desc)?;
    let mut found = dims(cx, desc, Side::Output, index)?;
    let description = &content.description;
    let open_input = |input: &TensorInfo| input.dims.iter().any(|&dim| dim < 0);
    if description.open && description.inputs.iter().any(open_input) {
        return Err(Error::new(
            ErrorKind::FeatureUnsupported,
            "the model has inputs of dynamic shapes, so its outputs have no dimensions before an execution",
        )
        .fix("Call aclmdlGetDatasetTensorDesc with the output dataset after an execution."));
    }
    if description.gears.is_empty() {
        return Ok(found);
    }
    let chosen = *model::find(cx, content.model)?.gear.lock();
    if let Some(gear) = chosen.and_then(|gear| description.gears.get(gear))
        && let Some(real) = gear.outputs.get(index)
    {
        found.dimCount = real.len();
        found.dims[..real.len()].copy_from_slice(real);
    }
    Ok(found)
}

/// Shapes that are fixed, or to be chosen, have no ranges.
pub fn aclmdlGetInputDimsRange(
    cx: &Cx<'_>,
    desc: Raw,
    index: usize,
) -> Result<types::aclmdlIODimsRange> {
    of(cx, desc, Side::Input, index, |tensor| {
        let mut ranges = types::aclmdlIODimsRange::ZERO;
        for (to, &(least, most)) in ranges.range.iter_mut().zip(&tensor.range) {
            *to = [least, most];
            ranges.rangeCount += 1;
        }
        ranges
    })
}

fn index_of(cx: &Cx<'_>, desc: Raw, side: Side, wanted: Option<&CStr>) -> Result<usize> {
    let content = content(cx, desc)?;
    let wanted = wanted.ok_or_else(|| null("name"))?.to_string_lossy();
    content
        .tensors(side)
        .iter()
        .position(|tensor| tensor.name == wanted)
        .ok_or_else(|| {
            let known: Vec<_> = content
                .tensors(side)
                .iter()
                .map(|tensor| tensor.name.as_str())
                .collect();
            Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "the model has no {} \"{wanted}\"; it has {}",
                    side.noun(),
                    known.join(", ")
                ),
            )
        })
}

pub fn aclmdlGetInputIndexByName(cx: &Cx<'_>, desc: Raw, name: Option<&CStr>) -> Result<usize> {
    index_of(cx, desc, Side::Input, name)
}

pub fn aclmdlGetOutputIndexByName(cx: &Cx<'_>, desc: Raw, name: Option<&CStr>) -> Result<usize> {
    index_of(cx, desc, Side::Output, name)
}

/// Returns the numbers of the gears, where they choose what is asked.
fn gears(cx: &Cx<'_>, desc: Raw, kind: GearKind) -> Result<Vec<Vec<i64>>> {
    let content = content(cx, desc)?;
    let description = &content.description;
    if description.gear_kind != kind {
        return Ok(Vec::new());
    }
    let values = description.gears.iter().map(|gear| gear.values.clone());
    Ok(values.collect())
}

/// A model that was not built for several batch sizes has none to choose from.
pub fn aclmdlGetDynamicBatch(cx: &Cx<'_>, desc: Raw) -> Result<types::aclmdlBatch> {
    let mut batch = types::aclmdlBatch::ZERO;
    for (to, gear) in batch
        .batch
        .iter_mut()
        .zip(gears(cx, desc, GearKind::Batch)?)
    {
        *to = gear[0].cast_unsigned();
        batch.batchCount += 1;
    }
    Ok(batch)
}

/// A model that was not built for several image sizes has none to choose from. The index is not looked at.
pub fn aclmdlGetDynamicHW(cx: &Cx<'_>, desc: Raw, _index: usize) -> Result<types::aclmdlHW> {
    let mut sizes = types::aclmdlHW::ZERO;
    for (to, gear) in sizes.hw.iter_mut().zip(gears(cx, desc, GearKind::Image)?) {
        *to = [gear[0].cast_unsigned(), gear[1].cast_unsigned()];
        sizes.hwCount += 1;
    }
    Ok(sizes)
}

fn check_model_index(index: usize) -> Result<()> {
    if index == usize::MAX {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("the index is {index}; only -1, for the whole model, is taken"),
    )
}

/// Counts the sets of dimensions that the model was built for.
pub fn aclmdlGetInputDynamicGearCount(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<usize> {
    let content = content(cx, desc)?;
    check_model_index(index)?;
    drop(content);
    gears(cx, desc, GearKind::Dims).map(|gears| gears.len())
}

/// Each set holds the dimensions of all inputs, one input after the other.
pub fn aclmdlGetInputDynamicDims(
    cx: &Cx<'_>,
    desc: Raw,
    index: usize,
    capacity: usize,
) -> Result<Vec<types::aclmdlIODims>> {
    let content = content(cx, desc)?;
    check_model_index(index)?;
    let description = &content.description;
    if description.gear_kind != GearKind::Dims {
        return Ok(Vec::new());
    }
    if capacity < description.gears.len() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "the array has space for {capacity} sets of dimensions, but the model has {}",
                description.gears.len()
            ),
        );
    }
    let mut sets = Vec::with_capacity(description.gears.len());
    for gear in &description.gears {
        let flat: Vec<i64> = gear.inputs.iter().flatten().copied().collect();
        let mut set = types::aclmdlIODims::ZERO;
        let Some(target) = set.dims.get_mut(..flat.len()) else {
            return refuse(
                ErrorKind::StorageOverLimit,
                format!(
                    "the inputs have {} dimensions together; the interface carries {MOST_DIMS}",
                    flat.len()
                ),
            );
        };
        target.copy_from_slice(&flat);
        set.dimCount = flat.len();
        sets.push(set);
    }
    Ok(sets)
}

pub fn aclmdlGetTensorRealName(cx: &Cx<'_>, desc: Raw, wanted: Option<&CStr>) -> Result<usize> {
    let content = content(cx, desc)?;
    let wanted = wanted.ok_or_else(|| null("name"))?.to_string_lossy();
    for (side, names) in [
        (Side::Input, &content.inputs),
        (Side::Output, &content.outputs),
    ] {
        for (index, (tensor, text)) in content.tensors(side).iter().zip(names).enumerate() {
            if tensor.name == wanted || short_name(&content, side, index, &tensor.name) == wanted {
                return Ok(text.as_ptr().expose_provenance());
            }
        }
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("the model has no tensor \"{wanted}\""),
    )
}

/// The attribute of an operator that names the operators of the original model which it was made of.
const ORIGINAL_NAMES: &str = "_datadump_original_op_names";

/// Reads an attribute of an operator; only the names of the operators that it was made of are kept.
pub fn aclmdlGetOpAttr(
    cx: &Cx<'_>,
    desc: Raw,
    operator: Option<&CStr>,
    attr: Option<&CStr>,
) -> Result<usize> {
    let content = content(cx, desc)?;
    let operator = operator.ok_or_else(|| null("opName"))?.to_string_lossy();
    let attr = attr.ok_or_else(|| null("attr"))?.to_string_lossy();
    if attr != ORIGINAL_NAMES {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "the attribute \"{attr}\" is not stored; the only stored attribute is {ORIGINAL_NAMES}"
            ),
        );
    }
    content
        .operators
        .get(&*operator)
        .map(|text| text.as_ptr().expose_provenance())
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("the model has no operator \"{operator}\""),
            )
        })
}
