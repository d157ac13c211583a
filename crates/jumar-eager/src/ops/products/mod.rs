//! Products of matrices that are quantised, grouped, or stored in blocks.

mod blocks;
mod ffn;
mod grouped;
mod grouped_int8;
mod preprocess;
mod quantised;
mod routed;
mod scaled;
mod weights;

#[cfg(test)]
mod tests;

use super::Table;
use crate::build::Cx;
use crate::view::View;
use crate::{Arg, Refusal};

pub(crate) use blocks::{matrices, unpacked_matrices};
pub(crate) use quantised::{dequantised, product as int8_product};
use routed::Names;
pub(crate) use routed::add as add_groups;
pub(crate) use weights::product as restored_product;

/// The parameters of the forms that take matrices as they are.
const FINALIZE: Names = Names {
    x: "x1",
    weight: "x2",
    scale: "scaleOptional",
    bias: "biasOptional",
    groups: "groupListOptional",
    shared: "sharedInputOptional",
    logit: "logitOptional",
    index: "rowIndexOptional",
    transposes: ["transposeX1", "transposeX2"],
    out: "out",
    blocked: false,
    reserved: RESERVED,
};

const RESERVED: &[&str] = &[
    "offsetOptional",
    "antiquantScaleOptional",
    "antiquantOffsetOptional",
];

/// Those of the forms whose matrices are stored in blocks.
const FINALIZE_BLOCKED: Names = Names {
    x: "x",
    weight: "w",
    transposes: ["transposeX", "transposeW"],
    out: "y",
    blocked: true,
    reserved: &[],
    ..FINALIZE
};

const FINALIZE_FIRST: Names = Names {
    blocked: false,
    ..FINALIZE_BLOCKED
};

const FINALIZE_BLOCKED_V2: Names = Names {
    scale: "scale",
    bias: "bias",
    groups: "groupList",
    shared: "sharedInput",
    logit: "logit",
    index: "rowIndex",
    blocked: true,
    ..FINALIZE
};

/// Returns a matrix of int8 or int4 as int8. It is stored row by row, or in blocks: then its own size is `wanted`.
pub(crate) fn matrix(cx: &mut Cx<'_>, param: &str, wanted: [usize; 2]) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    let stored = match cx.arg(param)? {
        Arg::Tensor(tensor) => tensor.desc.storage.len(),
        _ => 0,
    };
    let view = match view.rank() == 4 || view.rank() == 2 && stored == 4 {
        true => blocks::matrices(cx, param, 2, wanted)?,
        false => view,
    };
    quantised::as_int8(cx, view)
}

pub(crate) static TABLE: &Table = &[
    ("aclnnAddmmWeightNz", blocks::add_product),
    ("aclnnBatchMatMulWeightNz", |cx| blocks::product(cx, 3)),
    ("aclnnDualLevelQuantMatmulWeightNz", scaled::two_levels),
    ("aclnnFFN", |cx| ffn::plan(cx, ffn::FIRST)),
    ("aclnnFFNV2", |cx| ffn::plan(cx, ffn::SECOND)),
    ("aclnnFFNV3", |cx| ffn::plan(cx, ffn::THIRD)),
    ("aclnnFusedQuantMatmul", |cx| scaled::fused(cx, false)),
    ("aclnnFusedQuantMatmulWeightNz", |cx| {
        scaled::fused(cx, true)
    }),
    ("aclnnGemm", blocks::gemm),
    ("aclnnGroupedMatmul", grouped::first),
    ("aclnnGroupedMatmulAdd", routed::add),
    ("aclnnGroupedMatmulFinalizeRouting", |cx| {
        routed::finalize(cx, &FINALIZE_FIRST)
    }),
    ("aclnnGroupedMatmulFinalizeRoutingV2", |cx| {
        routed::finalize(cx, &FINALIZE)
    }),
    ("aclnnGroupedMatmulFinalizeRoutingV3", |cx| {
        routed::finalize(cx, &FINALIZE)
    }),
    ("aclnnGroupedMatmulFinalizeRoutingWeightNz", |cx| {
        routed::finalize(cx, &FINALIZE_BLOCKED)
    }),
    ("aclnnGroupedMatmulFinalizeRoutingWeightNzV2", |cx| {
        routed::finalize(cx, &FINALIZE_BLOCKED_V2)
    }),
    ("aclnnGroupedMatmulSwigluQuant", |cx| {
        routed::swiglu_quant(cx, false)
    }),
    ("aclnnGroupedMatmulSwigluQuantWeightNZ", |cx| {
        routed::swiglu_quant(cx, true)
    }),
    ("aclnnGroupedMatmulV2", grouped::second),
    ("aclnnGroupedMatmulV3", grouped::third),
    ("aclnnGroupedMatmulV4", grouped::fourth),
    ("aclnnGroupedMatmulV5", grouped::fourth),
    ("aclnnGroupedMatmulWeightNz", grouped::blocked),
    ("aclnnMatmulWeightNz", |cx| blocks::product(cx, 2)),
    ("aclnnQuantBatchMatmulInplaceAdd", scaled::add),
    ("aclnnQuantGroupedMatmulDequant", |cx| {
        scaled::dequantised(cx, true)
    }),
    ("aclnnQuantMatmulDequant", |cx| {
        scaled::dequantised(cx, false)
    }),
    ("aclnnQuantMatmulReduceSumWeightNz", scaled::reduced),
    ("aclnnQuantMatmulV3", quantised::third),
    ("aclnnQuantMatmulV4", quantised::fourth),
    ("aclnnQuantMatmulV5", quantised::fifth),
    ("aclnnQuantMatmulWeightNz", quantised::blocked),
    ("aclnnTransposeBatchMatMul", |cx| {
        blocks::transposed(cx, false)
    }),
    ("aclnnTransposeBatchMatMulWeightNz", |cx| {
        blocks::transposed(cx, true)
    }),
    ("aclnnTransposeQuantBatchMatMul", |cx| {
        scaled::transposed(cx, false)
    }),
    ("aclnnTransposeQuantBatchMatMulWeightNz", |cx| {
        scaled::transposed(cx, true)
    }),
    ("aclnnWeightQuantBatchMatmulNz", weights::blocked),
    ("aclnnWeightQuantBatchMatmulV2", weights::plain),
    ("aclnnWeightQuantBatchMatmulV3", weights::plain),
    ("aclnnWeightQuantPreprocess", preprocess::weights),
];
