//! Barriers.

use jumar_types::dtype::DataType;

use super::group_of_size;
use crate::build::Cx;
use crate::{Refusal, Transfer};

const TYPES: &[DataType] = &[
    DataType::BFloat16,
    DataType::Float16,
    DataType::Float32,
    DataType::Bool,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::UInt64,
];

/// Waits for all ranks. The tensor orders the call among others in a graph; nothing reads or writes it.
pub(super) fn barrier(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("xRef")?;
    cx.check_types(&x, TYPES)?;
    let group = group_of_size(cx, "group", "worldSize")?;
    cx.exchange(&group, Transfer::Barrier, (None, None), &[])
}

/// As [`barrier`], with a time limit and a list of ranks that have left.
pub(super) fn barrier_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    for param in ["timeOut", "elasticInfo"] {
        if cx.optional(param)?.is_some() {
            return Err(cx.unsupported(format_args!(
                "{param} is not supported: pass a null pointer; HCCL_EXEC_TIMEOUT limits how long a barrier waits"
            )));
        }
    }
    barrier(cx)
}
