//! Routing of tokens to experts: choice of experts, order by expert, and the sums of the results.

mod combine;
mod gating;
mod kernels;
mod map;
mod permute;
mod update;

#[cfg(test)]
mod tests;

use super::Table;

pub(crate) use gating::{Gates, next_largest, sigmoid_top_k, sum_of_largest};
pub(crate) use kernels::{Positions, RunningSum};
pub(crate) use permute::int64;

pub(crate) static TABLE: &Table = &[
    ("aclnnMoeComputeExpertTokens", permute::expert_tokens),
    ("aclnnMoeFinalizeRouting", combine::finalize),
    ("aclnnMoeFinalizeRoutingV2", combine::finalize_v2),
    ("aclnnMoeGatingTopK", gating::top_k),
    ("aclnnMoeGatingTopKSoftmax", gating::softmax),
    ("aclnnMoeGatingTopKSoftmaxV2", gating::softmax_v2),
    ("aclnnMoeInitRouting", permute::init),
    // The name under which vLLM's plug-in calls the third form.
    ("aclnnMoeInitRoutingCustom", permute::init_v3),
    ("aclnnMoeInitRoutingQuantV2", permute::init_quant_v2),
    ("aclnnMoeInitRoutingV2", permute::init_v2),
    ("aclnnMoeInitRoutingV2Grad", combine::init_v2_grad),
    ("aclnnMoeInitRoutingV3", permute::init_v3),
    ("aclnnMoeTokenPermute", permute::permute),
    ("aclnnMoeTokenPermuteGrad", combine::permute_grad),
    (
        "aclnnMoeTokenPermuteWithRoutingMap",
        permute::permute_with_map,
    ),
    (
        "aclnnMoeTokenPermuteWithRoutingMapGrad",
        map::permute_backward,
    ),
    ("aclnnMoeTokenUnpermute", combine::unpermute),
    ("aclnnMoeTokenUnpermuteGrad", combine::unpermute_grad),
    ("aclnnMoeTokenUnpermuteWithRoutingMap", map::unpermute),
    ("aclnnMoeUpdateExpert", update::experts),
];
