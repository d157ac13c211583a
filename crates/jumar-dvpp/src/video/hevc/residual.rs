//! The levels of a block in the stream (clause 7.3.8.11).

use super::cabac::{Coder, context};
use super::transform::Block;

/// The order in which the levels of a block are coded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan {
    /// Along the diagonals, from the lower left to the upper right.
    Diagonal,
    /// Row by row.
    Rows,
    /// Column by column.
    Columns,
}

impl Scan {
    /// Returns the order for a block that is predicted with a mode.
    pub(super) fn of_mode(mode: u8, log2: u32, is_luma: bool) -> Scan {
        if log2 != 2 && (log2 != 3 || !is_luma) {
            return Scan::Diagonal;
        }
        match mode {
            6..=14 => Scan::Columns,
            22..=30 => Scan::Rows,
            _ => Scan::Diagonal,
        }
    }

    /// Returns column and row of each position in a square.
    fn positions(self, side: usize) -> Vec<(usize, usize)> {
        match self {
            Scan::Rows => (0..side * side).map(|at| (at % side, at / side)).collect(),
            Scan::Columns => (0..side * side).map(|at| (at / side, at % side)).collect(),
            Scan::Diagonal => {
                let diagonals = (0..2 * side - 1).flat_map(|sum| {
                    let columns = sum.saturating_sub(side - 1)..=sum.min(side - 1);
                    columns.map(move |x| (x, sum - x))
                });
                diagonals.collect()
            }
        }
    }
}

/// The first position of each group of positions of the last level.
const GROUPS: [usize; 10] = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24];
/// The context of a level in a block of 4x4, by row and column.
const SMALL_CONTEXTS: [usize; 16] = [0, 1, 4, 5, 2, 3, 4, 5, 6, 6, 8, 8, 7, 7, 8, 8];

/// Codes a block with at least one level that is not 0.
pub(super) fn code(coder: &mut Coder, levels: &Block, log2: u32, is_luma: bool, scan: Scan) {
    let side = 1_usize << log2;
    let level = |x: usize, y: usize| i32::from(levels[y * side + x]);
    let inner = scan.positions(4);
    let blocks = scan.positions(side / 4);
    let position = |block: usize, index: usize| {
        let ((bx, by), (x, y)) = (blocks[block], inner[index]);
        (4 * bx + x, 4 * by + y)
    };
    let is_coded = |block: usize, index: usize| {
        let (x, y) = position(block, index);
        level(x, y) != 0
    };
    let mut all = (0..blocks.len())
        .rev()
        .flat_map(|block| (0..16).rev().map(move |index| (block, index)));
    let Some((last_block, last_index)) = all.find(|(block, index)| is_coded(*block, *index)) else {
        return;
    };
    let (x, y) = position(last_block, last_index);
    code_last(
        coder,
        if scan == Scan::Columns {
            (y, x)
        } else {
            (x, y)
        },
        log2,
        is_luma,
    );

    let chroma = |offset: usize| if is_luma { 0 } else { offset };
    let mut coded_blocks = [[false; 9]; 9];
    // Whether a level of the block before was above 1.
    let mut had_greater = false;
    for block in (0..=last_block).rev() {
        let (bx, by) = blocks[block];
        let (right, below) = (coded_blocks[by][bx + 1], coded_blocks[by + 1][bx]);
        let is_last = block == last_block;
        let has_levels = (0..16).any(|index| is_coded(block, index));
        // The last block, and the one at the corner, are coded without a flag.
        let mut is_inferred = false;
        if !is_last && block > 0 {
            let context = context::CODED_SUB_BLOCK + usize::from(right || below) + chroma(2);
            coder.bin(context, has_levels);
            if !has_levels {
                continue;
            }
            is_inferred = true;
        }
        coded_blocks[by][bx] = true;
        let first = if is_last { last_index } else { 16 };
        for index in (0..first).rev() {
            let is_significant = is_coded(block, index);
            // A flagged block without a level so far has one at its corner.
            if index > 0 || !is_inferred {
                let (x, y) = inner[index];
                let context =
                    significant_context((x, y), (bx, by), (right, below), log2, is_luma, scan);
                coder.bin(context::SIGNIFICANT + context, is_significant);
            }
            is_inferred &= !is_significant;
        }
        let values: Vec<i32> = (0..16)
            .rev()
            .map(|index| position(block, index))
            .map(|(x, y)| level(x, y))
            .filter(|level| *level != 0)
            .collect();
        if values.is_empty() {
            continue;
        }
        let set = usize::from(is_luma && block > 0) * 2 + usize::from(had_greater);
        had_greater = code_values(coder, &values, set, is_luma);
    }
}

/// Codes the position of the last level that is not 0.
fn code_last(coder: &mut Coder, (x, y): (usize, usize), log2: u32, is_luma: bool) {
    let log2 = log2 as usize;
    let (offset, shift) = match is_luma {
        true => (3 * (log2 - 2) + (log2 - 1) / 4, (log2 + 1) / 4),
        false => (15, log2 - 2),
    };
    let group = |at: usize| GROUPS.iter().rposition(|first| *first <= at).unwrap_or(0);
    for (at, base) in [(x, context::LAST_X), (y, context::LAST_Y)] {
        for index in 0..group(at) {
            coder.bin(base + offset + (index >> shift), true);
        }
        if group(at) < 2 * log2 - 1 {
            coder.bin(base + offset + (group(at) >> shift), false);
        }
    }
    for at in [x, y] {
        if group(at) > 3 {
            let count = (group(at) - 2) / 2;
            coder.bypass((at - GROUPS[group(at)]) as u32, count as u32);
        }
    }
}

/// Returns the context that codes whether a level is not 0.
fn significant_context(
    (x, y): (usize, usize),
    (bx, by): (usize, usize),
    (right, below): (bool, bool),
    log2: u32,
    is_luma: bool,
    scan: Scan,
) -> usize {
    let context = if log2 == 2 {
        SMALL_CONTEXTS[4 * y + x]
    } else if (x, y, bx, by) == (0, 0, 0, 0) {
        0
    } else {
        let near = |at: usize| match at {
            0 => 2,
            1 => 1,
            _ => 0,
        };
        let context = match (right, below) {
            (false, false) => match x + y {
                0 => 2,
                1 | 2 => 1,
                _ => 0,
            },
            (true, false) => near(y),
            (false, true) => near(x),
            (true, true) => 2,
        };
        match (is_luma, log2) {
            (true, 3) => {
                context
                    + 3 * usize::from((bx, by) != (0, 0))
                    + if scan == Scan::Diagonal { 9 } else { 15 }
            }
            (true, _) => context + 3 * usize::from((bx, by) != (0, 0)) + 21,
            (false, 3) => context + 9,
            (false, _) => context + 12,
        }
    };
    context + if is_luma { 0 } else { 27 }
}

/// Codes the values of a block of 4x4. Returns whether one of the first eight is above 1.
fn code_values(coder: &mut Coder, values: &[i32], set: usize, is_luma: bool) -> bool {
    const FLAGS: usize = 8;
    let chroma = |offset: usize| if is_luma { 0 } else { offset };
    let mut run = 1;
    let mut first_greater = None;
    for (index, value) in values.iter().enumerate().take(FLAGS) {
        let is_greater = value.abs() > 1;
        coder.bin(context::GREATER_1 + 4 * set + run + chroma(16), is_greater);
        if is_greater {
            run = 0;
            first_greater = first_greater.or(Some(index));
        } else if run > 0 {
            run = (run + 1).min(3);
        }
    }
    if let Some(index) = first_greater {
        coder.bin(
            context::GREATER_2 + set + chroma(4),
            values[index].abs() > 2,
        );
    }
    for value in values {
        coder.bypass(u32::from(*value < 0), 1);
    }
    let mut rice = 0;
    for (index, value) in values.iter().enumerate() {
        let base = match index {
            _ if index >= FLAGS => 1,
            _ if first_greater == Some(index) => 3,
            _ => 2,
        };
        if value.abs() >= base {
            code_remainder(coder, (value.abs() - base) as u32, rice);
            if value.abs() > 3 << rice {
                rice = (rice + 1).min(4);
            }
        }
    }
    first_greater.is_some()
}

/// Codes what a value exceeds its flags by: a Golomb-Rice code, continued by an exponential one.
fn code_remainder(coder: &mut Coder, value: u32, rice: u32) {
    if value < 4 << rice {
        let prefix = value >> rice;
        coder.bypass((1 << (prefix + 1)) - 2, prefix + 1);
        coder.bypass(value & ((1 << rice) - 1), rice);
        return;
    }
    let mut rest = value - (4 << rice);
    let mut length = rice + 1;
    let mut prefix = 5;
    while rest >= 1 << length {
        rest -= 1 << length;
        length += 1;
        prefix += 1;
    }
    coder.bypass((1 << prefix) - 2, prefix);
    coder.bypass(rest, length);
}
