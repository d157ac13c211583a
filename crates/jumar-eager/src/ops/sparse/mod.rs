//! Native sparse attention: attention to compressed keys with the choice of blocks, and attention to the chosen blocks.

mod infer;
mod kernels;
mod train;

use super::Table;
use crate::Refusal;
use crate::build::Cx;

pub(crate) use infer::{PageRows, Part};
use kernels::Importance;

pub(crate) static TABLE: &Table = &[
    ("aclnnNsaCompressAttention", train::compressed),
    ("aclnnNsaCompressAttentionInfer", infer::compressed),
    ("aclnnNsaSelectedAttention", train::selected),
    ("aclnnNsaSelectedAttentionGrad", train::selected_backward),
    ("aclnnNsaSelectedAttentionInfer", infer::selected),
];

fn positive(cx: &Cx<'_>, param: &str) -> Result<usize, Refusal> {
    let value = cx.int(param)?;
    match u32::try_from(value) {
        Ok(value @ 1..) => Ok(value as usize),
        _ => Err(cx.invalid(format_args!("{param} is {value}; it must be positive"))),
    }
}

/// How keys are compressed, and joined in blocks.
#[derive(Clone, Copy, Debug)]
struct Windows {
    /// Keys that are compressed to one, and the distance to the next of them.
    size: usize,
    stride: usize,
    /// Keys of a block.
    block: usize,
}

/// Reads the sizes of windows and blocks.
fn windows(cx: &Cx<'_>, stride: &str) -> Result<Windows, Refusal> {
    let mut sizes = [0; 3];
    for (size, name) in sizes
        .iter_mut()
        .zip(["compressBlockSize", stride, "selectBlockSize"])
    {
        let value = cx.int(name)?;
        match usize::try_from(value) {
            Ok(own @ 1..=65536) => *size = own,
            _ => {
                return Err(cx.invalid(format_args!(
                    "{name} is {value}; it must be between 1 and 65536"
                )));
            }
        }
    }
    let [size, own, block] = sizes;
    let fits =
        own <= size && size <= block && block.is_multiple_of(own) && size.is_multiple_of(own);
    match fits {
        true => Ok(Windows {
            size,
            stride: own,
            block,
        }),
        false => Err(cx.invalid(format_args!(
            "compressBlockSize is {size}, {stride} {own} and selectBlockSize {block}; the first must not be below the second nor above the third, and the second must divide both"
        ))),
    }
}

impl Windows {
    fn importance(&self, blocks: usize) -> Importance {
        Importance {
            per_block: self.block / self.stride,
            per_window: self.size / self.stride,
            blocks,
        }
    }
}
