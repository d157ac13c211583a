//! Tensors: strided views of memory.

use std::cell::RefCell;
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
    content: Mutex<Content>,
}

/// Tensors that a thread destroyed, whose memory the next ones use: programs create and destroy some for each call of an operator.
#[derive(Default)]
pub(crate) struct FreeList(RefCell<Vec<Arc<Tensor>>>);

impl FreeList {
    /// The most tensors that a thread keeps.
    const MOST: usize = 64;

    /// Keeps a tensor that was destroyed.
    fn put(&self, tensor: Arc<Tensor>) {
        let mut tensors = self.0.borrow_mut();
        if tensors.len() < FreeList::MOST {
            tensors.push(tensor);
        }
    }

    /// Returns a tensor as stated, in the memory of one that nothing refers to. `None` if there is none.
    fn take(&self, stated: &DeclaredTensor<'_>) -> Option<Arc<Tensor>> {
        let mut tensor = self.0.borrow_mut().pop()?;
        // A call that was planned before may still have it.
        stated.write(Arc::get_mut(&mut tensor)?.content.get_mut());
        Some(tensor)
    }
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
    #[inline]
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

#[inline(always)]
fn dims<'a>(what: &str, given: Given<'a>) -> Result<&'a [i64]> {
    let is_missing = given.0.is_none() && given.1 > 0;
    let values = given.0.unwrap_or_default();
    if is_missing || given.1 > MOST_DIMS || values.iter().any(|dim| *dim < 0) {
        return Err(no_dims(what, given));
    }
    Ok(values)
}

/// Returns why a call is refused whose values are not a shape.
#[cold]
fn no_dims(what: &str, (values, count): Given<'_>) -> Error {
    if count > MOST_DIMS {
        let sentence = format!("{what}Num is {count}; at most {MOST_DIMS} dimensions are possible");
        return Error::new(ErrorKind::InvalidArgument, sentence);
    }
    let mut values = values.unwrap_or_default().iter().enumerate();
    match values.find(|(_, dim)| **dim < 0) {
        Some((at, dim)) => {
            let sentence = format!("{what}[{at}] is {dim}; a dimension is not negative");
            Error::new(ErrorKind::InvalidArgument, sentence)
        }
        None => null(what),
    }
}

/// What a call states of a tensor.
struct DeclaredTensor<'a> {
    dtype: DataType,
    view: &'a [i64],
    strides: Option<&'a [i64]>,
    offset: i64,
    format: i32,
    storage: &'a [i64],
    address: usize,
}

impl<'a> DeclaredTensor<'a> {
    #[inline(always)]
    fn check(
        view: Given<'a>,
        data_type: i32,
        strides: Option<&'a [i64]>,
        offset: i64,
        format: i32,
        storage: Given<'a>,
        address: usize,
    ) -> Result<DeclaredTensor<'a>> {
        let dtype = known_type(data_type)?;
        let view = dims("viewDims", view)?;
        let storage = dims("storageDims", storage)?;
        if offset < 0 {
            return Err(negative_offset(offset));
        }
        // Most tensors have this one.
        if format != enums::ACL_FORMAT_ND {
            known_format(format)?;
        }
        Ok(DeclaredTensor {
            dtype,
            view,
            strides,
            offset,
            format,
            storage,
            address,
        })
    }

    /// Writes it over what a tensor was before.
    fn write(&self, content: &mut Content) {
        let desc = &mut content.desc;
        desc.dtype = self.dtype;
        desc.format = self.format;
        desc.offset = self.offset;
        desc.dims.set(self.view);
        match self.strides {
            Some(strides) => desc.strides.set(strides),
            None => desc.strides = Dims::contiguous(self.view),
        }
        desc.storage.set(self.storage);
        content.address = self.address;
    }
}

#[cold]
fn negative_offset(offset: i64) -> Error {
    let sentence = format!("offset is {offset}; it counts elements from the data pointer on");
    Error::new(ErrorKind::InvalidArgument, sentence)
}

fn known_format(format: i32) -> Result<()> {
    match enums::name_of("aclFormat", i64::from(format)) {
        Some(_) => Ok(()),
        None => {
            let sentence = crate::not_a_value("aclFormat", format);
            refuse(ErrorKind::InvalidArgument, sentence)
        }
    }
}

/// Finds a data type of tensors and scalars.
pub(super) fn known_type(number: i32) -> Result<DataType> {
    DataType::from_acl(number)
        .filter(|dtype| dtype.bits() > 0)
        .ok_or_else(|| no_type(number))
}

#[cold]
fn no_type(number: i32) -> Error {
    let what = match enums::name_of("aclDataType", i64::from(number)) {
        Some(name) => format!("{name} is not a type of elements"),
        None => crate::not_a_value("aclDataType", number),
    };
    Error::new(ErrorKind::InvalidArgument, what)
}

#[expect(clippy::too_many_arguments, reason = "the C interface sets them")]
#[inline]
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
    let stated = DeclaredTensor::check(view, data_type, strides, offset, format, storage, address)?;
    let tensor = cx.thread.free_tensors.take(&stated).unwrap_or_else(|| {
        let desc = TensorDesc::contiguous(stated.dtype, &[]);
        let mut content = Content { desc, address };
        stated.write(&mut content);
        let content = Mutex::new(content);
        Arc::new(Tensor { content })
    });
    cx.process.operators.tensors.keep(tensor).map(Raw)
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
    let stated = DeclaredTensor::check(view, data_type, strides, offset, format, storage, address)?;
    stated.write(&mut tensor.content.lock());
    Ok(())
}

/// Finds a tensor.
pub(super) fn find(cx: &Cx<'_>, tensor: Raw) -> Result<Arc<Tensor>> {
    cx.process.operators.tensors.get(tensor.0)
}

/// Returns type, format, dimensions and the address of the first element of a tensor whose elements lie side by side.
///
/// # Errors
/// The tensor does not exist, or its strides leave gaps.
pub(in crate::operators) fn dense_content(cx: &Cx<'_>, tensor: Raw) -> Result<(TensorDesc, usize)> {
    let Content { desc, address } = find(cx, tensor)?.content();
    let dense = Dims::contiguous(&desc.dims);
    let mut axes = desc.dims.iter().zip(desc.strides.iter().zip(dense.iter()));
    if !axes.all(|(dim, (own, dense))| *dim <= 1 || own == dense) {
        let sentence = format!(
            "the tensor has the shape {:?} and the strides {:?}; its elements must lie side by side",
            desc.dims, desc.strides
        );
        return refuse(ErrorKind::InvalidArgument, sentence);
    }
    let offset = usize::try_from(desc.offset).unwrap_or(0);
    let start = offset.saturating_mul(desc.dtype.bits()) / 8;
    let address = if address == 0 {
        0
    } else {
        address.saturating_add(start)
    };
    Ok((desc, address))
}

#[inline]
pub fn aclDestroyTensor(cx: &Cx<'_>, tensor: Raw) -> Result<()> {
    if tensor.is_null() {
        return Ok(());
    }
    let tensors = &cx.process.operators.tensors;
    let tensor = tensors.remove(tensor.0, cx.call.name)?;
    cx.thread.free_tensors.put(tensor);
    Ok(())
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
