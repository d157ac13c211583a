//! Operators that are joined with collectives of a communicator: products, exchanges of the tokens of experts, and barriers.
//!
//! Each is a plan with [exchanges](crate::Exchange) between its steps. Sums over ranks are formed in float32 in the order of the
//! ranks and rounded once, so that a result has the same bits on every rank and in every run. The documents leave this open.

mod barrier;
mod experts;
mod grouped;
mod products;

use jumar_types::dtype::DataType;

use super::Table;
use crate::build::Cx;
use crate::{Group, Refusal};

pub(crate) static TABLE: &Table = &[
    ("aclnnAllGatherMatmul", products::all_gather),
    ("aclnnAlltoAllvGroupedMatMul", grouped::receive_and_multiply),
    ("aclnnDistributeBarrier", barrier::barrier),
    ("aclnnDistributeBarrierV2", barrier::barrier_v2),
    ("aclnnGroupedMatMulAlltoAllv", grouped::multiply_and_send),
    ("aclnnMatmulAllReduce", products::all_reduce),
    ("aclnnMatmulAllReduceV2", products::all_reduce),
    ("aclnnMatmulReduceScatter", products::reduce_scatter),
    ("aclnnMoeDistributeCombine", experts::combine),
    (
        "aclnnMoeDistributeCombineAddRmsNorm",
        experts::combine_and_norm,
    ),
    (
        "aclnnMoeDistributeCombineAddRmsNormV2",
        experts::combine_and_norm,
    ),
    ("aclnnMoeDistributeCombineV2", experts::combine),
    ("aclnnMoeDistributeCombineV3", experts::combine),
    ("aclnnMoeDistributeDispatch", experts::dispatch),
    ("aclnnMoeDistributeDispatchV2", experts::dispatch),
    ("aclnnMoeDistributeDispatchV3", experts::dispatch),
    ("aclnnQuantMatmulAllReduce", products::quantised),
    ("aclnnQuantMatmulAllReduceV2", products::quantised),
    ("aclnnQuantMatmulAllReduceV3", products::quantised),
    ("aclnnQuantMatmulAllReduceV4", products::quantised_v4),
    (
        "aclnnWeightQuantMatmulAllReduce",
        products::quantised_weight,
    ),
];

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// Returns the communicator, whose size has to be what the argument of another parameter says.
fn group_of_size(cx: &Cx<'_>, name: &str, param: &str) -> Result<Group, Refusal> {
    let (group, size) = (cx.group(name)?.clone(), cx.int(param)?);
    match i64::from(group.size) == size {
        true => Ok(group),
        false => Err(cx.invalid(format_args!(
            "{param} is {size}; communicator \"{}\" has {} ranks",
            group.name, group.size
        ))),
    }
}
