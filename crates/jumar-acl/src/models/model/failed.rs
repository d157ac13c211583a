//! Descriptions of failed operators.

use std::ffi::CString;

use jumar_types::{Error, ErrorKind, FailedTensor, Result};

use super::initialized;
use crate::tensor_desc::{create_several, describe_at};
use crate::{Cx, Raw, refuse};

/// ACL_FORMAT_ND: operators compute on plain layouts.
const FORMAT_ND: i32 = 2;

/// Describes the operator of a failed task, by the ids that the exception callback receives. Its name and the
/// descriptions of its inputs and outputs, each destroyed by the first of them.
///
/// # Errors
/// `ModelExecutorNotInitialized`; `InvalidArgument`: no operator is known to have failed there, or the buffer for the name is too small.
pub fn aclmdlCreateAndGetOpDesc(
    cx: &Cx<'_>,
    device: u32,
    stream: u32,
    task: u32,
    name_capacity: usize,
) -> Result<(CString, Raw, usize, Raw, usize)> {
    initialized(cx)?;
    let Some(operator) = cx.process.exceptions.operator(device, stream, task) else {
        return Err(Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "no operator of a model is known to have failed in task {task} of stream {stream} on device {device}"
            ),
        )
        .fix("Pass the ids that the exception callback receives, for models of static shapes that were loaded with ACL_MDL_WITHOUT_GRAPH_INT32 0."));
    };
    // A name with a zero byte in it has no end that C would see.
    let name = CString::new(operator.name.replace('\0', "?")).unwrap_or_default();
    if name.as_bytes_with_nul().len() > name_capacity {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "opNameLen is {name_capacity}; the name {:?} needs {} bytes with its terminating zero",
                operator.name,
                name.as_bytes_with_nul().len()
            ),
        );
    }
    let describe = |tensors: &[FailedTensor]| {
        let contents = tensors
            .iter()
            .map(|tensor| {
                describe_at(
                    tensor.address,
                    tensor.data_type,
                    FORMAT_ND,
                    tensor.dims.clone(),
                )
            })
            .collect();
        create_several(cx, contents)
    };
    let inputs = describe(&operator.inputs)?;
    let outputs = describe(&operator.outputs)?;
    Ok((
        name,
        inputs,
        operator.inputs.len(),
        outputs,
        operator.outputs.len(),
    ))
}
