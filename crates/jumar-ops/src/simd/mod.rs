//! Vector kernels: the float32 matrix product and what feeds it.
//!
//! Every function here is safe to call: it checks its rows once and then runs unchecked. Which instructions are used
//! is decided at run time; the portable version is the reference in the tests.

pub mod blocked;
pub(crate) mod convert;
mod gemm;
pub mod lowp;
pub(crate) mod math;
mod patches;
pub mod unit;
pub(crate) mod wide;

use std::sync::OnceLock;

pub use gemm::{Epilogue, PANEL, Start, gemm, gemm_strided};
pub use patches::{Segment, pack_columns, pack_patches, pack_rows};

/// Multiplies sizes.
///
/// What is compared with the length of an operand has to be exact: a product that wrapped would pass, and everything behind the check runs
/// unchecked.
///
/// # Panics
/// The product is more than memory holds.
pub(crate) fn size<const N: usize>(factors: [usize; N]) -> usize {
    let product = factors
        .into_iter()
        .try_fold(1_usize, |product, factor| product.checked_mul(factor));
    product.unwrap_or_else(|| too_large(&factors))
}

/// Returns how many elements `rows` rows of `columns` reach over that begin `stride` apart; 0 for no rows.
///
/// # Panics
/// There are more than memory holds.
pub(crate) fn extent(rows: usize, stride: usize, columns: usize) -> usize {
    let Some(before) = rows.checked_sub(1) else {
        return 0;
    };
    let reach = before
        .checked_mul(stride)
        .and_then(|begin| begin.checked_add(columns));
    reach.unwrap_or_else(|| too_large(&[rows, stride, columns]))
}

#[cold]
#[inline(never)]
fn too_large(sizes: &[usize]) -> ! {
    panic!("sizes {sizes:?} are more than memory holds");
}

/// Sets of vector instructions, from the fewest to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instructions {
    /// What every processor of the architecture has.
    Portable,
    /// AVX2 with FMA and F16C.
    Avx2,
    /// AVX-512 F, VL, BW and DQ, and what builds on them: its products of bfloat16 and of bytes.
    Avx512,
}

impl Instructions {
    /// Returns the most that this processor has.
    pub fn of_processor() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        {
            let fma = is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            if avx512 && fma {
                return Instructions::Avx512;
            }
            if is_x86_feature_detected!("avx2") && fma {
                return Instructions::Avx2;
            }
        }
        Instructions::Portable
    }

    /// Returns what kernels of this process use: the most that the processor has and the limit permits.
    pub fn in_use() -> Instructions {
        let best = Instructions::of_processor();
        LIMIT.get().map_or(best, |most| best.min(*most))
    }
}

/// The most that kernels of this process may use. One process computes with one level, so that its results do not depend on when
/// a runtime was made.
static LIMIT: OnceLock<Instructions> = OnceLock::new();

/// Limits the instructions of kernels, once in a process; later calls change nothing.
pub fn limit(most: Instructions) {
    let _ = LIMIT.set(most);
}

/// Returns whether kernels may use instructions, if the processor has them.
#[inline]
pub(crate) fn permits(instructions: Instructions) -> bool {
    LIMIT.get().is_none_or(|most| instructions <= *most)
}

/// The instructions that kernels may use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// AVX-512 F, VL, BW and DQ, FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 with FMA and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler makes of plain loops.
    Portable,
}

impl Level {
    /// Finds the best level of this processor within the limit.
    pub(crate) fn best() -> Level {
        match Instructions::in_use() {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => Level::Avx512,
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => Level::Avx2,
            _ => Level::Portable,
        }
    }

    /// Returns whether the functions of this level cut what is left of a row into tiles themselves.
    pub(crate) fn cuts_tiles(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => false,
            Level::Portable => false,
        }
    }
}

/// The levels that this processor has, for tests.
#[cfg(test)]
pub(crate) fn levels() -> Vec<Level> {
    let mut levels = vec![Level::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        let fma = is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        if is_x86_feature_detected!("avx2") && fma {
            levels.push(Level::Avx2);
        }
        if Level::best() == Level::Avx512 {
            levels.push(Level::Avx512);
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::blocked::{BatchStrides, Dense, Part, Share, Sliding, WindowOp};
    use super::*;
    use crate::view::{BF16, Block, Element, Layout, Row, RowMut, View, ViewMut};

    /// A view borrows its layout for as long as its memory.
    fn dense(len: usize) -> &'static Layout {
        Box::leak(Box::new(Layout::dense(&[len]).expect("a layout")))
    }

    fn row<T: Element>(block: &Block, len: usize) -> Row<'_, T> {
        let view = View::<T>::new(block.shared(), dense(len));
        view.expect("inside").flat()
    }

    fn row_mut<T: Element>(block: &mut Block, len: usize) -> RowMut<'_, T> {
        let view = ViewMut::<T>::new(block.region(), dense(len));
        view.expect("inside").flat()
    }

    /// Calls a function with sizes whose products wrap to what the operands have, and returns how it refused them.
    fn refusal(call: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("sizes that no memory has");
        let text = panic.downcast_ref::<String>().cloned();
        text.unwrap_or_default()
    }

    const WRAPS: usize = 1 << 62;

    #[test]
    fn products_of_sizes_that_wrap_are_refused() {
        let (read, mut written) = (Block::zeroed(4096), Block::zeroed(4096));
        let operands = lowp::Operands {
            x: row::<BF16>(&read, 4),
            filter: row(&read, 4 * PANEL),
            bias: None,
            residual: None,
            clamp: None,
            out: lowp::Out::Wide(row_mut(&mut written, 1)),
        };
        let said = refusal(|| lowp::product((WRAPS + 1, 1, 4), &operands, 4));
        assert!(said.contains("more than memory holds"), "{said}");
        let (x, filter) = (row::<u8>(&read, 4), row::<u8>(&read, 4 * PANEL));
        let out = row_mut::<i32>(&mut written, 1);
        let said = refusal(|| lowp::int8_product((WRAPS + 1, 1, 4), (x, filter), (out, 4)));
        assert!(said.contains("more than memory holds"), "{said}");
    }

    #[test]
    fn panels_of_sizes_that_wrap_are_refused() {
        let (read, mut written) = (Block::zeroed(4096), Block::zeroed(4096));
        let image = row::<f32>(&read, 2);
        let panel = row_mut::<f32>(&mut written, PANEL);
        let segment = Segment {
            lane: 0,
            len: 1,
            source: 0,
        };
        let said = refusal(|| pack_patches(panel, (0, 1 << 63), image, (2, 1), &[segment], 1));
        assert!(said.contains("more than memory holds"), "{said}");
        let past = Segment {
            lane: usize::MAX,
            len: 1,
            ..segment
        };
        let said = refusal(|| pack_patches(panel, (0, 1), image, (1, 2), &[past], 1));
        assert!(said.contains("in a channel of 2"), "{said}");
    }

    /// Sixteen strides of more than 2^27 pixels do not fit the 32-bit indices of a gather; a segment of one element has any stride.
    #[test]
    fn one_element_is_packed_whatever_its_stride() {
        let read = Block::of(&7_f32.to_le_bytes());
        for stride in [1, 1 << 28, (1 << 32) + 5, usize::MAX] {
            let mut written = Block::zeroed(4 * PANEL);
            let panel = row_mut::<f32>(&mut written, PANEL);
            let segment = Segment {
                lane: 3,
                len: 1,
                source: 0,
            };
            pack_patches(panel, (0, 1), row(&read, 1), (1, 1), &[segment], stride);
            let found: Vec<f32> = (0..5).map(|lane| panel.get(lane)).collect();
            assert_eq!(found, [0.0, 0.0, 0.0, 7.0, 0.0], "{stride}");
        }
    }

    #[test]
    fn convolutions_of_sizes_that_wrap_are_refused() {
        let (read, mut written) = (Block::zeroed(4096), Block::zeroed(4096));
        let window = Sliding {
            image: [1, 1],
            output: [1, 1],
            kernel: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            before: [0, 0],
        };
        let operands = blocked::Operands {
            x: row::<f32>(&read, 0),
            filter: row(&read, 0),
            bias: None,
            residual: None,
            clamp: None,
            rounding: None,
            out: row_mut(&mut written, 0),
            batch_strides: BatchStrides::default(),
        };
        let dense = Dense {
            window,
            groups: 1 << 60,
            inputs: 1,
            last: 16,
            outputs: 1,
        };
        let share = Share {
            images: (0, 1),
            pairs: (0, 1),
            rows: (0, 1),
            columns: (0, 1),
        };
        let part = Part {
            image: 0,
            rows: (0, 1),
            columns: (0, 1),
        };
        let said = refusal(|| blocked::convolve(&dense, &operands, share));
        assert!(said.contains("more than memory holds"), "{said}");
        let run = |window: Sliding, blocks| {
            refusal(|| blocked::apply_window(&window, WindowOp::Max, (0, blocks), &operands, part))
        };
        let said = run(window, 1 << 60);
        assert!(said.contains("more than memory holds"), "{said}");
        let strange = Sliding {
            stride: [usize::MAX, 1],
            ..window
        };
        let said = run(strange, 1);
        assert!(said.contains("reaches too far"), "{said}");
        let bytes_operands = lowp::Operands {
            x: row::<BF16>(&read, 0),
            filter: row(&read, 0),
            bias: None,
            residual: None,
            clamp: None,
            out: lowp::Out::Wide(operands.out),
        };
        let said = refusal(|| lowp::convolve(&dense, &bytes_operands, (0, 0), part));
        assert!(said.contains("more than memory holds"), "{said}");
    }

    #[test]
    fn blocks_of_more_pixels_than_memory_holds_are_refused() {
        let (read, mut written) = (Block::zeroed(64), Block::zeroed(64));
        let (empty, out) = (row::<f32>(&read, 0), row_mut::<f32>(&mut written, 0));
        refusal(|| blocked::interleave(empty, out, 1 << 60));
        refusal(|| blocked::separate(empty, out, 1 << 60));
    }
}
