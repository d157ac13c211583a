//! The blocks of a frame: how it is divided and predicted, and how this is coded.

use super::cabac::{Coder, context};
use super::intra::{DC, Edge, HORIZONTAL, MODES, PLANAR, VERTICAL};
use super::residual::{self, Scan};
use super::transform::{self, Block, LARGEST};
use crate::planar::Samples;

/// The binary logarithms of the smallest and the largest side of a coding block.
const SMALLEST: u32 = 3;
const LARGEST_LOG2: u32 = 5;

/// The quantizer of chroma for that of luma, from 30 on.
const CHROMA_QUANTIZERS: [i32; 14] = [29, 30, 31, 32, 33, 33, 34, 34, 35, 35, 36, 36, 37, 37];

/// Codes a frame. The planes have a coded size that is a multiple of 8. Returns the slice, and what a decoder makes of it.
pub(super) fn code(
    source: &[Samples; 3],
    header: Vec<u8>,
    quantizer: i32,
) -> (Vec<u8>, [Samples; 3]) {
    let (columns, rows) = (source[0].width / 8, source[0].height / 8);
    let mut frame = Frame {
        source,
        decoded: source.clone(),
        coder: Coder::new(header, quantizer),
        quantizer,
        chroma_quantizer: match quantizer {
            30..=43 => CHROMA_QUANTIZERS[quantizer as usize - 30],
            44.. => quantizer - 6,
            _ => quantizer,
        },
        // A bit costs so much of the difference, which is a sum of absolute values.
        bit_cost: (0.57 * 2_f32.powf((quantizer as f32 - 12.0) / 3.0)).sqrt(),
        columns,
        blocks: vec![CodedSamples::default(); columns * rows],
    };
    let step = 1 << LARGEST_LOG2;
    let (width, height) = (source[0].width, source[0].height);
    for y in (0..height).step_by(step) {
        for x in (0..width).step_by(step) {
            let mut plan = Vec::new();
            frame.plan(x, y, LARGEST_LOG2, &mut plan);
            frame.code_tree(x, y, LARGEST_LOG2, &mut plan.into_iter());
            frame
                .coder
                .end_of_slice(x + step >= width && y + step >= height);
        }
    }
    (frame.coder.finish(), frame.decoded)
}

/// What is known of 8x8 samples that were coded.
#[derive(Clone, Copy, Default)]
struct CodedSamples {
    is_coded: bool,
    mode: u8,
    /// How often the largest block was divided.
    depth: u32,
}

struct Frame<'a> {
    source: &'a [Samples; 3],
    /// What a decoder has: only samples of blocks that were coded are read.
    decoded: [Samples; 3],
    coder: Coder,
    quantizer: i32,
    chroma_quantizer: i32,
    bit_cost: f32,
    /// Columns of 8x8 samples.
    columns: usize,
    blocks: Vec<CodedSamples>,
}

/// A decision about a block, in the order of coding.
#[derive(Clone, Copy)]
enum Choice {
    Divided,
    Mode(u8),
}

impl Frame<'_> {
    fn is_inside(&self, x: usize, y: usize, log2: u32) -> bool {
        let luma = &self.source[0];
        x + (1 << log2) <= luma.width && y + (1 << log2) <= luma.height
    }

    /// Decides how a block is divided and predicted, by the samples of the source alone. Appends the choices in the order of coding,
    /// and returns their cost.
    fn plan(&self, x: usize, y: usize, log2: u32, plan: &mut Vec<Choice>) -> f32 {
        let luma = &self.source[0];
        if x >= luma.width || y >= luma.height {
            return 0.0;
        }
        let own = self
            .is_inside(x, y, log2)
            .then(|| self.best_mode(x, y, log2));
        if let (Some((mode, cost)), SMALLEST) = (own, log2) {
            plan.push(Choice::Mode(mode));
            return cost;
        }
        let start = plan.len();
        plan.push(Choice::Divided);
        let parts: f32 = quarters(x, y, log2)
            .map(|(x, y)| self.plan(x, y, log2 - 1, plan))
            .sum();
        match own {
            Some((mode, cost)) if cost <= parts => {
                plan.truncate(start);
                plan.push(Choice::Mode(mode));
                cost
            }
            _ => parts,
        }
    }

    /// Returns the mode that predicts a block best from the source, with its cost.
    fn best_mode(&self, x: usize, y: usize, log2: u32) -> (u8, f32) {
        let side = 1_usize << log2;
        let luma = &self.source[0];
        let is_known = |dx: isize, dy: isize| {
            let (x, y) = (x as isize + dx, y as isize + dy);
            // What lies below on the left is rarely coded before.
            x >= 0
                && y >= 0
                && x < luma.width as isize
                && y < luma.height as isize
                && dy < side as isize
        };
        let edge = Edge::new(side, |dx, dy| sample(luma, x, y, dx, dy), is_known);
        let mut predicted = [0_u8; LARGEST * LARGEST];
        let mut cost = |mode: u8| {
            edge.predict(mode, true, &mut predicted);
            // About two bits for a mode that neighbours suggest, and six for another one.
            let bits = if mode < 2 { 2.0 } else { 4.5 };
            let rows = (0..side).map(|row| &luma.row(y + row)[x..x + side]);
            difference(rows, &predicted, side) as f32 + bits * self.bit_cost
        };
        const FIRST: [u8; 11] = [PLANAR, DC, VERTICAL, HORIZONTAL, 2, 6, 14, 18, 22, 30, 34];
        let mut best = FIRST
            .map(|mode| (mode, cost(mode)))
            .into_iter()
            .fold((DC, f32::INFINITY), better);
        if best.0 > 1 {
            for step in [2, 1] {
                let near = [best.0.wrapping_sub(step), best.0 + step];
                for mode in near.into_iter().filter(|mode| (2..MODES).contains(mode)) {
                    best = better(best, (mode, cost(mode)));
                }
            }
        }
        best
    }

    /// Codes a block of the tree (clauses 7.3.8.4 and 7.3.8.5).
    fn code_tree(
        &mut self,
        x: usize,
        y: usize,
        log2: u32,
        plan: &mut impl Iterator<Item = Choice>,
    ) {
        let luma = &self.source[0];
        if x >= luma.width || y >= luma.height {
            return;
        }
        let Some(choice) = plan.next() else { return };
        let depth = LARGEST_LOG2 - log2;
        if log2 > SMALLEST && self.is_inside(x, y, log2) {
            let deeper = |near: Option<CodedSamples>| {
                usize::from(near.is_some_and(|near| near.depth > depth))
            };
            let context = deeper(self.near(x, y, -1, 0)) + deeper(self.near(x, y, 0, -1));
            let is_divided = matches!(choice, Choice::Divided);
            self.coder.bin(context::SPLIT_CU + context, is_divided);
        }
        match choice {
            Choice::Divided => {
                for (x, y) in quarters(x, y, log2) {
                    self.code_tree(x, y, log2 - 1, plan);
                }
            }
            Choice::Mode(mode) => self.code_block(x, y, log2, mode),
        }
    }

    fn near(&self, x: usize, y: usize, dx: isize, dy: isize) -> Option<CodedSamples> {
        let (x, y) = (x.checked_add_signed(dx)?, y.checked_add_signed(dy)?);
        let (column, row) = (x / 8, y / 8);
        if column >= self.columns {
            return None;
        }
        let block = self.blocks.get(row * self.columns + column)?;
        block.is_coded.then_some(*block)
    }

    /// Codes a block that is not divided.
    fn code_block(&mut self, x: usize, y: usize, log2: u32, mode: u8) {
        if log2 == SMALLEST {
            // It is predicted in one piece.
            self.coder.bin(context::PART_MODE, true);
        }
        self.code_mode(x, y, mode);
        // Chroma is predicted as luma.
        self.coder.bin(context::CHROMA_MODE, false);
        let [luma, first, second] = [0, 1, 2].map(|plane| {
            let (x, y, log2) = match plane {
                0 => (x, y, log2),
                _ => (x / 2, y / 2, log2 - 1),
            };
            self.transform(plane, x, y, log2, mode)
        });
        self.coder.bin(context::CODED_CHROMA, first.is_some());
        self.coder.bin(context::CODED_CHROMA, second.is_some());
        self.coder.bin(context::CODED_LUMA + 1, luma.is_some());
        for (levels, is_luma) in [(luma, true), (first, false), (second, false)] {
            if let Some(levels) = levels {
                let log2 = if is_luma { log2 } else { log2 - 1 };
                let scan = Scan::of_mode(mode, log2, is_luma);
                residual::code(&mut self.coder, &levels, log2, is_luma, scan);
            }
        }
        let count = 1 << (log2 - SMALLEST);
        for row in y / 8..y / 8 + count {
            let start = row * self.columns + x / 8;
            self.blocks[start..start + count].fill(CodedSamples {
                is_coded: true,
                mode,
                depth: LARGEST_LOG2 - log2,
            });
        }
    }

    /// Codes the mode of luma: as one of three candidates, or as its number among the others (clause 8.4.2).
    fn code_mode(&mut self, x: usize, y: usize, mode: u8) {
        let left = self.near(x, y, -1, 0).map_or(DC, |near| near.mode);
        // Only blocks of the same row of largest blocks are remembered.
        let is_same_row = !y.is_multiple_of(1 << LARGEST_LOG2);
        let above = self.near(x, y, 0, -1).filter(|_| is_same_row);
        let above = above.map_or(DC, |near| near.mode);
        let mut candidates = match (left, above) {
            (a, b) if a == b && a < 2 => [PLANAR, DC, VERTICAL],
            (a, b) if a == b => [a, 2 + (a + 29) % 32, 2 + (a - 2 + 1) % 32],
            (a, b) => {
                let third = [PLANAR, DC, VERTICAL]
                    .into_iter()
                    .find(|mode| *mode != a && *mode != b);
                [a, b, third.unwrap_or(VERTICAL)]
            }
        };
        let found = candidates.iter().position(|candidate| *candidate == mode);
        self.coder.bin(context::PREVIOUS_MODE, found.is_some());
        match found {
            Some(0) => self.coder.bypass(0, 1),
            Some(index) => self.coder.bypass(0b10 | (index as u32 - 1), 2),
            None => {
                candidates.sort_unstable();
                let below = candidates
                    .iter()
                    .filter(|candidate| **candidate < mode)
                    .count();
                self.coder.bypass(u32::from(mode) - below as u32, 5);
            }
        }
    }

    /// Predicts, transforms and decodes a block of a plane. Returns its levels, unless all are 0.
    fn transform(
        &mut self,
        plane: usize,
        x: usize,
        y: usize,
        log2: u32,
        mode: u8,
    ) -> Option<Block> {
        let side = 1_usize << log2;
        let is_luma = plane == 0;
        let scale = if is_luma { 1 } else { 2 };
        let decoded = &self.decoded[plane];
        let is_known = |dx: isize, dy: isize| {
            self.near(
                x * scale,
                y * scale,
                dx * scale as isize,
                dy * scale as isize,
            )
            .is_some()
        };
        let edge = Edge::new(side, |dx, dy| sample(decoded, x, y, dx, dy), is_known);
        let mut predicted = [0_u8; LARGEST * LARGEST];
        edge.predict(mode, is_luma, &mut predicted);
        let mut residual = [0; LARGEST * LARGEST];
        for (row, to) in residual.chunks_exact_mut(side).take(side).enumerate() {
            let from = &self.source[plane].row(y + row)[x..x + side];
            for ((to, from), predicted) in to.iter_mut().zip(from).zip(&predicted[row * side..]) {
                *to = i16::from(*from) - i16::from(*predicted);
            }
        }
        let quantizer = if is_luma {
            self.quantizer
        } else {
            self.chroma_quantizer
        };
        let mut levels = [0; LARGEST * LARGEST];
        let is_coded = transform::forward(&residual, log2, quantizer, &mut levels);
        if is_coded {
            transform::inverse(&levels, log2, quantizer, &mut residual);
        } else {
            residual.fill(0);
        }
        for (row, from) in residual.chunks_exact(side).take(side).enumerate() {
            let to = &mut self.decoded[plane].row_mut(y + row)[x..x + side];
            for ((to, from), predicted) in to.iter_mut().zip(from).zip(&predicted[row * side..]) {
                *to = (i16::from(*predicted) + from).clamp(0, 255) as u8;
            }
        }
        is_coded.then_some(levels)
    }
}

/// Returns the corners of the four parts of a block, in the order of coding.
fn quarters(x: usize, y: usize, log2: u32) -> impl Iterator<Item = (usize, usize)> {
    let half = 1 << (log2 - 1);
    [(0, 0), (half, 0), (0, half), (half, half)]
        .into_iter()
        .map(move |(right, down)| (x + right, y + down))
}

fn sample(plane: &Samples, x: usize, y: usize, dx: isize, dy: isize) -> u8 {
    plane.row(y.wrapping_add_signed(dy))[x.wrapping_add_signed(dx)]
}

fn better(best: (u8, f32), other: (u8, f32)) -> (u8, f32) {
    if other.1 < best.1 { other } else { best }
}

/// Returns the sum of the absolute values of the Hadamard transforms of what remains of 8x8 samples each, divided by 8.
fn difference<'a>(source: impl Iterator<Item = &'a [u8]>, predicted: &[u8], side: usize) -> u32 {
    let mut remains = [0_i16; LARGEST * LARGEST];
    let rows = remains
        .chunks_exact_mut(side)
        .zip(predicted.chunks_exact(side));
    for ((to, predicted), from) in rows.zip(source) {
        for ((to, predicted), from) in to.iter_mut().zip(predicted).zip(from) {
            *to = i16::from(*from) - i16::from(*predicted);
        }
    }
    let mut sum = 0;
    for y in (0..side).step_by(8) {
        for x in (0..side).step_by(8) {
            let mut block: [[i16; 8]; 8] = std::array::from_fn(|row| {
                let start = (y + row) * side + x;
                std::array::from_fn(|column| remains[start + column])
            });
            hadamard(&mut block);
            let mut turned: [[i16; 8]; 8] =
                std::array::from_fn(|row| std::array::from_fn(|column| block[column][row]));
            hadamard(&mut turned);
            sum += turned
                .iter()
                .flatten()
                .map(|value| u32::from(value.unsigned_abs()))
                .sum::<u32>();
        }
    }
    sum / 8
}

/// Transforms the columns of a block.
fn hadamard(block: &mut [[i16; 8]; 8]) {
    for step in [4, 2, 1] {
        for first in (0..8).filter(|row| row & step == 0) {
            let (a, b) = (block[first], block[first + step]);
            block[first] = std::array::from_fn(|column| a[column] + b[column]);
            block[first + step] = std::array::from_fn(|column| a[column] - b[column]);
        }
    }
}
