//! Layers of networks: convolution, pooling, attention, embedding, the likelihood loss; and their gradients.

mod attention;
mod convolution;
mod forms;
mod lookup;
mod pooling;
mod quantised;
mod volume;

pub(crate) use attention::{
    attention as composed_attention, attention_backward as composed_attention_backward,
};
use jumar_ops::Kernel;
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::Real;
use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnAdaptiveAvgPool2d", pooling::adaptive_average),
    (
        "aclnnAdaptiveAvgPool2dBackward",
        pooling::adaptive_average_backward,
    ),
    ("aclnnConvDepthwise2d", forms::depthwise),
    ("aclnnConvTbc", forms::temporal),
    ("aclnnConvTbcBackward", forms::temporal_backward),
    ("aclnnConvolution", convolution::convolution),
    (
        "aclnnConvolutionBackward",
        convolution::convolution_backward,
    ),
    ("aclnnEmbedding", lookup::embedding),
    ("aclnnEmbeddingDenseBackward", lookup::embedding_backward),
    ("aclnnEmbeddingRenorm", lookup::embedding_renorm),
    ("aclnnMaxPool2dWithMask", pooling::max_pool),
    ("aclnnMaxPool2dWithMaskBackward", pooling::max_pool_backward),
    ("aclnnNLLLoss", lookup::likelihood),
    ("aclnnNLLLoss2d", lookup::likelihood),
    ("aclnnNLLLoss2dBackward", lookup::likelihood_backward),
    ("aclnnNLLLossBackward", lookup::likelihood_backward),
    ("aclnnQuantConvolution", quantised::convolution),
];

/// Returns a parameter with one or two entries as two.
fn pair(cx: &Cx<'_>, param: &str) -> Result<[i64; 2], Refusal> {
    match cx.ints(param)? {
        [both] => Ok([*both; 2]),
        [height, width] => Ok([*height, *width]),
        other => Err(cx.invalid(format_args!(
            "{param} has {} entries; expected 1 or 2",
            other.len()
        ))),
    }
}

/// Runs a kernel on dense operands of one type, and converts its result.
fn run_dense(
    cx: &mut Cx<'_>,
    kernel: Box<dyn Kernel>,
    compute: DataType,
    inputs: &[View],
    out: View,
) -> Result<(), Refusal> {
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        let input = cx.cast(*input, compute)?;
        operands.push(Some(cx.dense(input)?));
    }
    let result = cx.temporary(compute, out.dims())?;
    cx.kernel(kernel, &operands, &[result], false)?;
    cx.copy(result, out)
}
