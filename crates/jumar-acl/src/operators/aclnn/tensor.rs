//! Tensors: strided views of memory.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_eager::{Dims, TensorDesc};
use jumar_types::dtype::DataType;
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// More dimensions than any operator takes; no tensor has more.
const MOST_DIMS: u64 = 64;

/// A tensor.
pub struct Tensor {
    id: u64,
    content: Mutex<Content>,
}

/// What a tensor is at a moment.
#[derive(Clone)]
pub(super) struct Content {
    pub(super) desc: TensorDesc,
    /// The data pointer.
    pub(super) address: usize,
}

impl Tensor {
    /// Returns a copy of what the tensor is now.
    pub(super) fn content(&self) -> Content {
        self.content.lock().clone()
    }

    /// Sets the data pointer.
    pub(super) fn set_address(&self, address: usize) {
        self.content.lock().address = address;
    }

    /// Sets the shape of the view to one that a run found out. A view that was dense stays dense.
    pub(super) fn set_shape(&self, dims: Dims) {
        let mut content = self.content.lock();
        let desc = &mut content.desc;
        if desc.strides == Dims::contiguous(&desc.dims) {
            desc.strides = Dims::contiguous(&dims);
        }
        desc.dims = dims;
    }
}

/// A shape as a call passes it.
type Given<'a> = (Option<&'a [i64]>, u64);

fn dims(what: &str, (values, count): Given<'_>) -> Result<Dims> {
    if count > MOST_DIMS {
        let sentence = format!("{what}Num is {count}; at most {MOST_DIMS} dimensions are possible");
        return refuse(ErrorKind::InvalidArgument, sentence);
    }
    let values = match values {
        Some(values) => values,
        None if count == 0 => &[],
        None => return Err(null(what)),
    };
    if let Some(at) = values.iter().position(|dim| *dim < 0) {
        let sentence = format!(
            "{what}[{at}] is {}; a dimension is not negative",
            values[at]
        );
        return refuse(ErrorKind::InvalidArgument, sentence);
    }
    Ok(Dims::new(values))
}

fn describe(
    view: Given<'_>,
    data_type: i32,
    strides: Option<&[i64]>,
    offset: i64,
    format: i32,
    storage: Given<'_>,
    address: usize,
) -> Result<Content> {
    let dtype = known_type(data_type)?;
    let view = dims("viewDims", view)?;
    let storage = dims("storageDims", storage)?;
    if offset < 0 {
        let sentence = format!("offset is {offset}; it counts elements from the data pointer on");
        return refuse(ErrorKind::InvalidArgument, sentence);
    }
    if enums::name_of("aclFormat", i64::from(format)).is_none() {
        let sentence = crate::not_a_value("aclFormat", format);
        return refuse(ErrorKind::InvalidArgument, sentence);
    }
    let strides = match strides {
        Some(strides) => Dims::new(strides),
        None => Dims::contiguous(&view),
    };
    let desc = TensorDesc {
        dtype,
        format,
        dims: view,
        strides,
        offset,
        storage,
    };
    Ok(Content { desc, address })
}

/// Finds a data type of tensors and scalars.
pub(super) fn known_type(number: i32) -> Result<DataType> {
    DataType::from_acl(number)
        .filter(|dtype| dtype.bits() > 0)
        .ok_or_else(|| {
            let what = match enums::name_of("aclDataType", i64::from(number)) {
                Some(name) => format!("{name} is not a type of elements"),
                None => crate::not_a_value("aclDataType", number),
            };
            Error::new(ErrorKind::InvalidArgument, what)
        })
}

#[expect(clippy::too_many_arguments, reason = "the C interface sets them")]
pub fn aclCreateTensor(
    cx: &Cx<'_>,
    view: Option<&[i64]>,
    view_count: u64,
    data_type: i32,
    strides: Option<&[i64]>,
    offset: i64,
    format: i32,
    storage: Option<&[i64]>,
    storage_count: u64,
    address: usize,
) -> Result<Raw> {
    let (view, storage) = ((view, view_count), (storage, storage_count));
    let content = describe(view, data_type, strides, offset, format, storage, address)?;
    let content = Mutex::new(content);
    let tensors = &cx.process.operators.tensors;
    let tensor = tensors.insert(|id| Arc::new(Tensor { id, content }))?;
    Ok(Raw(tensor.id))
}

#[expect(clippy::too_many_arguments, reason = "the C interface sets them")]
pub fn aclInitTensor(
    cx: &Cx<'_>,
    tensor: Raw,
    view: Option<&[i64]>,
    view_count: u64,
    data_type: i32,
    strides: Option<&[i64]>,
    offset: i64,
    format: i32,
    storage: Option<&[i64]>,
    storage_count: u64,
    address: usize,
) -> Result<()> {
    let tensor = find(cx, tensor)?;
    let (view, storage) = ((view, view_count), (storage, storage_count));
    let content = describe(view, data_type, strides, offset, format, storage, address)?;
    *tensor.content.lock() = content;
    Ok(())
}

/// Finds a tensor.
pub(super) fn find(cx: &Cx<'_>, tensor: Raw) -> Result<Arc<Tensor>> {
    cx.process.operators.tensors.get(tensor.0)
}

pub fn aclDestroyTensor(cx: &Cx<'_>, tensor: Raw) -> Result<()> {
    if tensor.is_null() {
        return Ok(());
    }
    let tensors = &cx.process.operators.tensors;
    tensors.remove(tensor.0, cx.call.name).map(drop)
}

/// Copies numbers into memory that the caller frees with C++'s `delete[]`. Rust's system allocator is C's `malloc`, as is
/// the default `operator new[]`; there is an address even for no numbers.
pub(super) fn host_array(values: &[i64]) -> (usize, u64) {
    let mut array = values.to_vec();
    array.resize(values.len().max(1), 0);
    let array = Box::leak(array.into_boxed_slice());
    (array.as_mut_ptr().expose_provenance(), values.len() as u64)
}

pub fn aclGetViewShape(cx: &Cx<'_>, tensor: Raw) -> Result<(usize, u64)> {
    Ok(host_array(&find(cx, tensor)?.content().desc.dims))
}

pub fn aclGetStorageShape(cx: &Cx<'_>, tensor: Raw) -> Result<(usize, u64)> {
    Ok(host_array(&find(cx, tensor)?.content().desc.storage))
}

pub fn aclGetViewStrides(cx: &Cx<'_>, tensor: Raw) -> Result<(usize, u64)> {
    Ok(host_array(&find(cx, tensor)?.content().desc.strides))
}

pub fn aclGetViewOffset(cx: &Cx<'_>, tensor: Raw) -> Result<i64> {
    Ok(find(cx, tensor)?.content().desc.offset)
}

pub fn aclGetFormat(cx: &Cx<'_>, tensor: Raw) -> Result<i32> {
    Ok(find(cx, tensor)?.content().desc.format)
}

pub fn aclGetDataType(cx: &Cx<'_>, tensor: Raw) -> Result<i32> {
    Ok(find(cx, tensor)?.content().desc.dtype.acl())
}

pub fn aclSetRawTensorAddr(cx: &Cx<'_>, tensor: Raw, address: usize) -> Result<()> {
    find(cx, tensor)?.set_address(address);
    Ok(())
}

pub fn aclGetRawTensorAddr(cx: &Cx<'_>, tensor: Raw) -> Result<usize> {
    Ok(find(cx, tensor)?.content().address)
}
