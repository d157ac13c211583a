//! Tensor descriptions: data type, shape and format of a tensor, for single operators and for dynamic models.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::type_util::size_of_type;
use crate::{Cx, Raw, refuse};

mod layout;

/// A tensor description.
pub struct TensorDesc {
    id: u64,
    /// The descriptions that follow it, where it is the first of several.
    following: Vec<u64>,
    pub(crate) content: Mutex<Content>,
}

/// What a tensor description says.
#[derive(Clone, Default)]
pub struct Content {
    pub(crate) data_type: i32,
    pub(crate) format: i32,
    pub(crate) dims: Vec<i64>,
    pub(crate) storage_format: i32,
    pub(crate) storage_dims: Vec<i64>,
    ranges: Vec<[i64; 2]>,
    value_ranges: Vec<[i64; 2]>,
    pub(crate) name: CString,
    pub(crate) dynamic_input: CString,
    pub(crate) constant: Option<Vec<u8>>,
    pub(crate) placement: u32,
    /// Where the tensor lies, where that is known.
    address: usize,
}

/// The tensor descriptions by handle.
pub type TensorDescs = Table<TensorDesc>;

pub(crate) fn table() -> TensorDescs {
    Table::new(IdKind::TensorDesc, Arc::default())
}

/// The value of an unknown format or type.
const UNDEFINED: i32 = -1;
/// The number of dimensions that is returned for a tensor of unknown rank.
const UNKNOWN_RANK: usize = usize::MAX - 1;

pub(crate) fn create(cx: &Cx<'_>, content: Content) -> Result<Raw> {
    create_before(cx, content, Vec::new())
}

fn create_before(cx: &Cx<'_>, content: Content, following: Vec<u64>) -> Result<Raw> {
    let made = cx.process.tensor_descs.insert(|id| {
        Arc::new(TensorDesc {
            id,
            following,
            content: Mutex::new(content),
        })
    })?;
    Ok(Raw(made.id))
}

/// Creates several descriptions that are destroyed together with the first. Returns the first; null for none.
pub(crate) fn create_several(cx: &Cx<'_>, contents: Vec<Content>) -> Result<Raw> {
    let mut contents = contents.into_iter();
    let Some(first) = contents.next() else {
        return Ok(Raw(0));
    };
    let following = contents
        .map(|content| create(cx, content).map(|made| made.0))
        .collect::<Result<Vec<u64>>>()?;
    create_before(cx, first, following)
}

/// Makes a copy of a description.
pub(crate) fn copy(cx: &Cx<'_>, desc: Raw) -> Result<Raw> {
    let content = cx.process.tensor_descs.get(desc.0)?.content.lock().clone();
    create(cx, content)
}

/// Describes a tensor at an address.
pub(crate) fn describe_at(address: usize, data_type: i32, format: i32, dims: Vec<i64>) -> Content {
    Content {
        address,
        ..describe(data_type, format, dims)
    }
}

pub(crate) fn describe(data_type: i32, format: i32, dims: Vec<i64>) -> Content {
    Content {
        data_type,
        format,
        storage_dims: dims.clone(),
        dims,
        storage_format: UNDEFINED,
        ..Content::default()
    }
}

/// Lets a description that exists describe another tensor. Returns whether it exists.
pub(crate) fn describe_anew(
    cx: &Cx<'_>,
    desc: Raw,
    data_type: i32,
    format: i32,
    dims: &[i64],
) -> bool {
    if desc.is_null() {
        return false;
    }
    let Ok(found) = cx.process.tensor_descs.get(desc.0) else {
        return false;
    };
    let mut content = found.content.lock();
    if !content.is_plain(data_type, format, dims) {
        *content = describe(data_type, format, dims.to_vec());
    }
    true
}

pub fn aclCreateTensorDesc(
    cx: &Cx<'_>,
    data_type: i32,
    count: i32,
    dims: Option<&[i64]>,
    format: i32,
) -> Result<Raw> {
    if count < 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("numDims is {count}; it must be at least 0"),
        );
    }
    if count > 0 && dims.is_none() {
        return Err(null("dims"));
    }
    create(
        cx,
        describe(data_type, format, dims.unwrap_or_default().to_vec()),
    )
}

fn change(cx: &Cx<'_>, desc: Raw, work: impl FnOnce(&mut Content) -> Result<()>) -> Result<()> {
    if desc.is_null() {
        return Err(null("desc"));
    }
    work(&mut cx.process.tensor_descs.get(desc.0)?.content.lock())
}

fn read<T>(cx: &Cx<'_>, desc: Raw, work: impl FnOnce(&Content) -> Result<T>) -> Result<T> {
    if desc.is_null() {
        return Err(null("desc"));
    }
    work(&cx.process.tensor_descs.get(desc.0)?.content.lock())
}

/// Makes the description of the same tensor in another format: its dimensions are those of that format, and its format field
/// stays the source's.
pub fn aclTransTensorDescFormat(cx: &Cx<'_>, desc: Raw, format: i32) -> Result<Raw> {
    let changed = read(cx, desc, |content| {
        let bytes = size_of_type(content.data_type);
        let dims = layout::dims(&content.dims, content.format, format, bytes)?;
        Ok(Content {
            storage_dims: dims.clone(),
            dims,
            ranges: Vec::new(),
            ..content.clone()
        })
    })?;
    create(cx, changed)
}

pub fn aclDestroyTensorDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    if desc.is_null() {
        return Ok(());
    }
    let gone = cx.process.tensor_descs.remove(desc.0, cx.call.name)?;
    for &one in &gone.following {
        // One that a program destroyed by itself is gone already.
        drop(cx.process.tensor_descs.remove(one, cx.call.name));
    }
    Ok(())
}

pub fn aclGetTensorDescType(cx: &Cx<'_>, desc: Raw) -> Result<i32> {
    read(cx, desc, |content| Ok(content.data_type))
}

pub fn aclGetTensorDescFormat(cx: &Cx<'_>, desc: Raw) -> Result<i32> {
    read(cx, desc, |content| Ok(content.format))
}

impl Content {
    /// Returns whether it says what [`describe`] says, and nothing else.
    fn is_plain(&self, data_type: i32, format: i32, dims: &[i64]) -> bool {
        let Content {
            ranges,
            value_ranges,
            name,
            dynamic_input,
            constant,
            ..
        } = self;
        (self.data_type, self.format, self.storage_format) == (data_type, format, UNDEFINED)
            && (self.placement, self.address) == (0, 0)
            && (&self.dims[..], &self.storage_dims[..]) == (dims, dims)
            && ranges.is_empty()
            && value_ranges.is_empty()
            && name.is_empty()
            && dynamic_input.is_empty()
            && constant.is_none()
    }

    /// Sets the dimensions, in memory too, and the range of each.
    pub(crate) fn set_shape(&mut self, dims: Vec<i64>, ranges: Vec<[i64; 2]>) {
        self.storage_dims.clone_from(&dims);
        self.dims = dims;
        self.ranges = ranges;
    }

    /// Counts the elements; 0 when a dimension is unknown or the product does not fit.
    fn elements(&self) -> usize {
        self.dims
            .iter()
            .try_fold(1usize, |product, &dim| {
                product.checked_mul(usize::try_from(dim).ok()?)
            })
            .unwrap_or(0)
    }
}

pub fn aclGetTensorDescElementCount(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    read(cx, desc, |content| Ok(content.elements()))
}

pub fn aclGetTensorDescSize(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    read(cx, desc, |content| {
        Ok(content
            .elements()
            .checked_mul(size_of_type(content.data_type))
            .unwrap_or(0))
    })
}

pub fn aclGetTensorDescNumDims(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    read(cx, desc, |content| match content.dims.first() {
        Some(-2) => Ok(UNKNOWN_RANK),
        _ => Ok(content.dims.len()),
    })
}

fn dim(content: &Content, index: usize) -> Result<i64> {
    content.dims.get(index).copied().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "dimension {index} does not exist: the tensor has {} dimensions",
                content.dims.len()
            ),
        )
    })
}

pub fn aclGetTensorDescDim(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<i64> {
    read(cx, desc, |content| dim(content, index))
}

pub fn aclGetTensorDescDimV2(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<i64> {
    read(cx, desc, |content| dim(content, index))
}

pub fn aclGetTensorDescDimRange(
    cx: &Cx<'_>,
    desc: Raw,
    index: usize,
    capacity: usize,
) -> Result<Vec<i64>> {
    read(cx, desc, |content| match content.ranges.get(index) {
        Some(range) if capacity >= 2 => Ok(range.to_vec()),
        Some(_) => refuse(
            ErrorKind::InvalidArgument,
            format!("a range has 2 numbers, but the array has space for {capacity}"),
        ),
        None => refuse(
            ErrorKind::InvalidArgument,
            format!(
                "dimension {index} has no range; {} were set",
                content.ranges.len()
            ),
        ),
    })
}

pub fn aclSetTensorShapeRange(
    cx: &Cx<'_>,
    desc: Raw,
    _count: usize,
    ranges: Option<&[[i64; 2]]>,
) -> Result<()> {
    change(cx, desc, |content| {
        content.ranges = ranges.unwrap_or_default().to_vec();
        Ok(())
    })
}

pub fn aclSetTensorValueRange(
    cx: &Cx<'_>,
    desc: Raw,
    _count: usize,
    ranges: Option<&[[i64; 2]]>,
) -> Result<()> {
    change(cx, desc, |content| {
        content.value_ranges = ranges.unwrap_or_default().to_vec();
        Ok(())
    })
}

pub fn aclSetTensorDescName(cx: &Cx<'_>, desc: Raw, name: Option<&CStr>) -> Result<()> {
    if desc.is_null() {
        return Ok(());
    }
    change(cx, desc, |content| {
        content.name = name.unwrap_or_default().to_owned();
        Ok(())
    })
}

/// The text lives as long as the description keeps this name.
pub fn aclGetTensorDescName(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    if desc.is_null() {
        return Ok(c"".as_ptr().expose_provenance());
    }
    read(cx, desc, |content| {
        Ok(content.name.as_ptr().expose_provenance())
    })
}

/// The format setters take null without complaint.
fn set_format(cx: &Cx<'_>, desc: Raw, work: impl FnOnce(&mut Content)) -> Result<()> {
    if desc.is_null() {
        return Ok(());
    }
    change(cx, desc, |content| {
        work(content);
        Ok(())
    })
}

pub fn aclSetTensorStorageFormat(cx: &Cx<'_>, desc: Raw, format: i32) -> Result<()> {
    set_format(cx, desc, |content| content.storage_format = format)
}

pub fn aclSetTensorFormat(cx: &Cx<'_>, desc: Raw, format: i32) -> Result<()> {
    set_format(cx, desc, |content| content.storage_format = format)
}

pub fn aclSetTensorOriginFormat(cx: &Cx<'_>, desc: Raw, format: i32) -> Result<()> {
    set_format(cx, desc, |content| content.format = format)
}

fn given(dims: Option<&[i64]>, count: i32) -> Result<Vec<i64>> {
    match dims {
        // A negative count clears the shape.
        Some(dims) => Ok(if count < 0 { Vec::new() } else { dims.to_vec() }),
        None => Err(null("dims")),
    }
}

pub fn aclSetTensorStorageShape(
    cx: &Cx<'_>,
    desc: Raw,
    count: i32,
    dims: Option<&[i64]>,
) -> Result<()> {
    change(cx, desc, |content| {
        content.storage_dims = given(dims, count)?;
        Ok(())
    })
}

pub fn aclSetTensorShape(cx: &Cx<'_>, desc: Raw, count: i32, dims: Option<&[i64]>) -> Result<()> {
    aclSetTensorStorageShape(cx, desc, count, dims)
}

pub fn aclSetTensorOriginShape(
    cx: &Cx<'_>,
    desc: Raw,
    count: i32,
    dims: Option<&[i64]>,
) -> Result<()> {
    change(cx, desc, |content| {
        content.dims = given(dims, count)?;
        Ok(())
    })
}

pub fn aclGetTensorDescByIndex(cx: &Cx<'_>, desc: Raw, index: usize) -> Result<Raw> {
    if desc.is_null() {
        return Err(null("desc"));
    }
    let found = cx.process.tensor_descs.get(desc.0)?;
    if index == 0 {
        return Ok(desc);
    }
    match found.following.get(index - 1) {
        Some(&one) => Ok(Raw(one)),
        None => refuse(
            ErrorKind::InvalidArgument,
            format!(
                "description {index} does not exist: the number of descriptions is {}",
                found.following.len() + 1
            ),
        ),
    }
}

/// A description has an address where it is of an operator that failed.
pub fn aclGetTensorDescAddress(cx: &Cx<'_>, desc: Raw) -> Result<usize> {
    read(cx, desc, |content| Ok(content.address))
}

pub fn aclSetTensorDynamicInput(cx: &Cx<'_>, desc: Raw, name: Option<&CStr>) -> Result<()> {
    let name = name.ok_or_else(|| null("dynamicInputName"))?;
    change(cx, desc, |content| {
        content.dynamic_input = name.to_owned();
        Ok(())
    })
}

/// The bytes are copied; `bytes` is host memory that the program guarantees.
pub fn aclSetTensorConst(
    cx: &Cx<'_>,
    desc: Raw,
    bytes: Option<&[u8]>,
    _length: usize,
) -> Result<()> {
    let bytes = bytes
        .filter(|bytes| !bytes.is_empty())
        .ok_or_else(|| null("dataBuffer, or its length,"))?;
    change(cx, desc, |content| {
        content.constant = Some(bytes.to_vec());
        Ok(())
    })
}

pub fn aclSetTensorPlaceMent(cx: &Cx<'_>, desc: Raw, placement: u32) -> Result<()> {
    change(cx, desc, |content| {
        content.placement = placement;
        Ok(())
    })
}
