//! Shapes that are written into the program's descriptions.

use std::sync::Arc;

use jumar::offline::graph::TensorType;
use jumar::offline::lowering::{self as ge, Desc, FORMAT_ND};
use jumar_types::Result;

use super::execute::Memory;
use super::registry;
use super::request::Request;
use crate::operators::memory;
use crate::{Cx, Raw};

/// Values of more bytes decide no shape.
const VALUE_BYTES: usize = 64 << 10;

/// Writes the shape that an execution found.
pub(super) fn write_shape(cx: &Cx<'_>, desc: Raw, dims: &[i64]) -> Result<()> {
    // A description that was destroyed meanwhile has no reader.
    if let Ok(found) = cx.process.tensor_descs.get(desc.0) {
        found.content.lock().set_shape(dims.to_vec(), Vec::new());
    }
    Ok(())
}

/// Infers the outputs of an operator, and writes their types and shapes into the descriptions. Values of inputs are read where they
/// are given.
///
/// # Errors
/// `OperatorInvalid`: the tensors or attributes do not match the operator. `InvalidArgument`: memory that is not readable.
pub(super) fn infer(cx: &Cx<'_>, request: Request, inputs: &[Memory], descs: &[Raw]) -> Result<()> {
    let Request {
        mut operator,
        inputs: tensors,
        ..
    } = request;
    for (index, tensor) in tensors.iter().enumerate() {
        let input = &mut operator.inputs[index];
        let (address, size) = inputs[index];
        let Some(bytes) = tensor.bytes().filter(|bytes| *bytes > 0) else {
            continue;
        };
        if input.value.is_some() || address == 0 || size < bytes || bytes > VALUE_BYTES {
            continue;
        }
        let kind = &operator.kind;
        let value = memory::copy_host((address, bytes), || format!("{kind}: input {index}"))?;
        input.value = Some(Arc::new(value));
    }
    // What the outputs are described as until now says nothing.
    for output in &mut operator.outputs {
        *output = Some(Desc {
            dims: vec![-2],
            format: FORMAT_ND,
            ..Desc::default()
        });
    }
    let types = ge::infer_single(&operator).map_err(|error| registry::invalid(&error))?;
    for (desc, ty) in descs.iter().zip(&types) {
        let found = cx.process.tensor_descs.get(desc.0)?;
        let mut content = found.content.lock();
        content.data_type = ty.dtype.acl();
        let (dims, ranges) = shape(ty);
        content.set_shape(dims, ranges);
    }
    Ok(())
}

/// Returns dimensions and their ranges: -1 and a range without an end for one that is open, -2 for an unknown number of them.
fn shape(ty: &TensorType) -> (Vec<i64>, Vec<[i64; 2]>) {
    if ty.rank().is_none() {
        return (vec![-2], Vec::new());
    }
    let ranges = match ty.dims() {
        Some(_) => Vec::new(),
        None => ty
            .shape
            .iter()
            .map(|&dim| if dim < 0 { [0, -1] } else { [dim, dim] })
            .collect(),
    };
    (ty.shape.clone(), ranges)
}
