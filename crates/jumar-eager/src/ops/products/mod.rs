//! Products of matrices that are quantised, grouped, or stored in blocks.

mod blocks;
mod grouped;
mod quantised;
mod weights;

use super::Table;

pub(crate) static TABLE: &Table = &[
    ("aclnnAddmmWeightNz", blocks::add_product),
    ("aclnnBatchMatMulWeightNz", |cx| blocks::product(cx, 3)),
    ("aclnnGemm", blocks::gemm),
    ("aclnnGroupedMatmul", grouped::first),
    ("aclnnGroupedMatmulV2", grouped::second),
    ("aclnnGroupedMatmulV3", grouped::third),
    ("aclnnGroupedMatmulV4", grouped::fourth),
    ("aclnnGroupedMatmulV5", grouped::fourth),
    ("aclnnMatmulWeightNz", |cx| blocks::product(cx, 2)),
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
    ("aclnnWeightQuantBatchMatmulNz", weights::blocked),
    ("aclnnWeightQuantBatchMatmulV2", weights::plain),
    ("aclnnWeightQuantBatchMatmulV3", weights::plain),
];
