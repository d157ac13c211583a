//! Convolutions whose outputs read some channels of an image only: groups that are no whole blocks, in any order of channels.

use super::order::Share;
use super::{
    LANES, Level, Operands, PAIR, Sliding, WIDE, across, address, assert_inside, assert_row, size,
};
use super::{Part, tile::Tile};

/// What of an image is gone through for all outputs.
const PART_BYTES: usize = 256 << 10;

/// The sizes of a convolution whose outputs pick channels.
#[derive(Clone, Copy)]
pub struct GatheredConvolution<'a> {
    /// The window.
    pub window: Sliding,
    /// Blocks of input channels.
    pub inputs: usize,
    /// Blocks of output channels.
    pub outputs: usize,
    /// A line for each unit; see [`convolve_gathered`].
    pub units: &'a [i32],
}

/// One or two blocks of output that read the same channels.
struct Unit<'a> {
    first: usize,
    count: usize,
    /// The first of its lines of weights.
    start: usize,
    masks: &'a [i32],
}

impl GatheredConvolution<'_> {
    /// Numbers in the line of a unit.
    fn line(&self) -> usize {
        self.inputs.checked_add(3).expect("a line for each unit")
    }

    /// Counts the units.
    pub fn units(&self) -> usize {
        self.units.len() / self.line()
    }

    fn unit(&self, index: usize) -> Unit<'_> {
        let line = &self.units[index * self.line()..][..self.line()];
        let number = |at: usize| usize::try_from(line[at]).unwrap_or(usize::MAX);
        Unit {
            first: number(0),
            count: number(1),
            start: number(2),
            masks: &line[3..],
        }
    }

    /// Returns whether all units lie inside the output and `lines` of weights, and pick channels that there are.
    pub fn fits(&self, lines: usize) -> bool {
        let inside = |unit: Unit<'_>| {
            let valid = |mask: &i32| (0..1 << LANES).contains(mask);
            let gathered: usize = unit
                .masks
                .iter()
                .map(|mask| mask.count_ones() as usize)
                .sum();
            (1..=PAIR).contains(&unit.count)
                && unit.first < self.outputs
                && unit.count <= self.outputs - unit.first
                && unit.masks.iter().all(valid)
                && unit.start <= lines
                && size([gathered, self.window.taps(), unit.count]) <= lines - unit.start
        };
        self.units.len().is_multiple_of(self.line())
            && (0..self.units()).all(|index| inside(self.unit(index)))
    }
}

/// Computes a share of the output; its pairs are units.
///
/// # Shapes
///
/// `gathered.units`: for each unit the first output block, how many there are, the first line of weights, and a mask for each
/// block of the image: which of its channels are read. `filter`: lines of sixteen; for each unit, in it for each block of
/// the image, tap down, tap across, picked channel, output block of the unit. Panics where an operand is too short.
pub fn convolve_gathered(
    gathered: &GatheredConvolution<'_>,
    operands: &Operands<'_>,
    share: Share,
) {
    convolve_gathered_at(Level::best(), gathered, operands, share);
}

pub(super) fn convolve_gathered_at(
    level: Level,
    gathered: &GatheredConvolution<'_>,
    operands: &Operands<'_>,
    share: Share,
) {
    let window = &gathered.window;
    let plane = size([window.pixels(), LANES]);
    assert_row("the filter", operands.filter, 0);
    assert!(
        gathered.fits(operands.filter.len() / LANES),
        "units that fit their weights"
    );
    let tall = window.output[0] > 1;
    let length = window.output[usize::from(!tall)];
    let bytes = size([gathered.inputs, plane, size_of::<f32>()]);
    let unit = if tall { 1 } else { WIDE };
    let step = length
        .div_ceil(bytes.div_ceil(PART_BYTES).max(1))
        .next_multiple_of(unit)
        .max(1);
    let (from, to) = if tall { share.rows } else { share.columns };
    for image in share.images.0..share.images.1 {
        for start in (from..to).step_by(step) {
            let piece = (start, (start + step).min(to));
            let part = Part {
                image,
                rows: if tall { piece } else { share.rows },
                columns: if tall { share.columns } else { piece },
            };
            for index in share.pairs.0..share.pairs.1 {
                unit_at(level, gathered, operands, &gathered.unit(index), part);
            }
        }
    }
}

fn unit_at(
    level: Level,
    gathered: &GatheredConvolution<'_>,
    operands: &Operands<'_>,
    unit: &Unit<'_>,
    part: Part,
) {
    let window = &gathered.window;
    let (plane, out_plane) = (
        size([window.pixels(), LANES]),
        size([window.outputs(), LANES]),
    );
    assert_inside(&part, window);
    let begins = operands.check(
        part.image,
        (
            size([gathered.inputs, plane]),
            0,
            size([gathered.outputs, LANES]),
            size([gathered.outputs, out_plane]),
        ),
    );
    for y in part.rows.0..part.rows.1 {
        let (line, tap, taps) = window.rows(y);
        let at = unit.first * out_plane + y * window.output[1] * LANES;
        let tile = Tile {
            x: operands
                .x
                .address()
                .wrapping_add(begins.x + line * window.image[1] * LANES),
            blocks: gathered.inputs,
            plane,
            rows: taps,
            row: window.dilation[0] * window.image[1] * LANES,
            taps: window.kernel[1],
            tap: window.dilation[1],
            column: 0,
            stride: window.stride[1],
            width: window.image[1],
            lane: LANES,
            depth: 0,
            last: 0,
            filter: operands.filter.address().wrapping_add(unit.start * LANES),
            // Where the weights of a row of taps lie depends on how many channels of a block are picked.
            filter_row: tap,
            filter_block: window.kernel[0],
            picks: unit.masks.as_ptr(),
            out: operands.out.address().wrapping_add(begins.out + at),
            out_plane,
            accumulate: false,
            bias: address(operands.bias, unit.first * LANES),
            residual: address(operands.residual, begins.residual + at),
            clamp: operands.clamp,
            rounding: operands.rounding,
            divide: [1.0; WIDE],
        };
        across(level, &tile, unit.count, window, part.columns);
    }
}
