//! Native sparse attention: attention to compressed keys with the choice of blocks, and attention to the chosen blocks.

mod infer;
mod kernels;
mod train;

use super::Table;

pub(crate) static TABLE: &Table = &[
    ("aclnnNsaCompressAttention", train::compressed),
    ("aclnnNsaSelectedAttention", train::selected),
    ("aclnnNsaSelectedAttentionGrad", train::selected_backward),
    ("aclnnNsaSelectedAttentionInfer", infer::selected),
];
