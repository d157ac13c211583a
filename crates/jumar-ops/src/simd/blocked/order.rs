//! The order in which a thread computes its share of a convolution, so that what it reads again is still near.
//!
//! Weights, an image and the sums of an output rarely fit the second cache together. Where weights are small and the image
//! is large, the image is gone through in stretches of rows, all outputs of one after the other; where weights are
//! large and images small, some images take one pass of the weights one after the other. No sum depends on the order.

use super::{Dense, LANES, Level, Operands, PAIR, Part, convolve_at, size};

/// What of an image is read again and again while its turn lasts. Half of a second cache, as processors have them.
const NEAR: usize = 512 << 10;
/// The part of a large image that is processed for all outputs, so that the weights stay in the cache beside it.
const PART_BYTES: usize = 256 << 10;

/// What a thread computes by one call: images, pairs of output blocks counted through all groups, and pixels.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// From which image of the batch, and up to which.
    pub images: (usize, usize),
    /// From which pair, and up to which.
    pub pairs: (usize, usize),
    /// From which row, and up to which.
    pub rows: (usize, usize),
    /// From which column, and up to which.
    pub columns: (usize, usize),
}

/// Bytes that a share of a convolution touches.
struct Bytes {
    weights: usize,
    /// Of one image, and of its output.
    image: usize,
    output: usize,
}

impl Bytes {
    fn of(dense: &Dense, pairs: usize) -> Bytes {
        let line = LANES * size_of::<f32>();
        let groups = pairs.div_ceil(dense.pairs().max(1)).max(1);
        Bytes {
            weights: size([pairs, PAIR, dense.inputs, dense.block(), size_of::<f32>()]),
            image: size([groups, dense.inputs, dense.window.pixels(), line]),
            output: size([pairs, PAIR, dense.window.outputs(), line]),
        }
    }

    /// Estimates what `images` cost that take the weights `each` at a time.
    fn moved(&self, images: usize, each: usize) -> usize {
        let (image, output) = (each * self.image, each * self.output);
        // Sums that go out of the cache between passes come back.
        let turns = if output > NEAR {
            2 * image.div_ceil(NEAR).max(1) - 1
        } else {
            1
        };
        images.div_ceil(each) * (self.weights + image + turns * output)
    }
}

/// Returns how many of some images take the weights of so many pairs one after the other.
pub fn together(dense: &Dense, images: usize, pairs: usize) -> usize {
    let bytes = Bytes::of(dense, pairs);
    if bytes.weights <= PART_BYTES {
        return 1;
    }
    (0..)
        .map(|power| 1 << power)
        .take_while(|&each| each < 2 * images.max(1))
        .map(|each| each.min(images.max(1)))
        .min_by_key(|&each| (bytes.moved(images, each), each))
        .unwrap_or(1)
}

/// Computes a share of the output.
///
/// # Shapes
///
/// `filter`: a pair of output blocks after the other; in each a block of input channels, tap down, tap across, channel,
/// output block of the pair, output channel. Panics where an operand is too short.
pub fn convolve(dense: &Dense, operands: &Operands<'_>, share: Share) {
    convolve_share(Level::best(), dense, operands, share);
}

pub(super) fn convolve_share(level: Level, dense: &Dense, operands: &Operands<'_>, share: Share) {
    let window = &dense.window;
    let pairs = share.pairs.1.saturating_sub(share.pairs.0);
    let images = share.images.1.saturating_sub(share.images.0);
    let bytes = Bytes::of(dense, pairs);
    let each = together(dense, images, pairs);
    // Passes whose part of the images is near, or all where that is the larger part of it anyway.
    let passes = dense.passes();
    let near = match (each * bytes.image).div_ceil(NEAR) {
        0 | 1 => passes,
        turns => passes.div_ceil(turns).max(1),
    };
    let near = if bytes.weights <= NEAR { passes } else { near };
    let stretches = if bytes.weights <= NEAR && pairs > 1 {
        bytes.image.div_ceil(PART_BYTES).max(1)
    } else {
        1
    };
    let tall = window.output[0] > 1;
    let length = if tall {
        window.output[0]
    } else {
        window.output[1]
    };
    // Whole tiles where a row is cut.
    let unit = if tall { 1 } else { super::WIDE };
    let step = length.div_ceil(stretches).next_multiple_of(unit).max(1);
    let (from, to) = if tall { share.rows } else { share.columns };
    for first in (share.images.0..share.images.1).step_by(each.max(1)) {
        for start in (from..to).step_by(step) {
            let piece = (start, (start + step).min(to));
            for pass in (0..passes).step_by(near) {
                for pair in share.pairs.0..share.pairs.1 {
                    let at = (pair / dense.pairs(), pair % dense.pairs());
                    for image in first..(first + each).min(share.images.1) {
                        let part = Part {
                            image,
                            rows: if tall { piece } else { share.rows },
                            columns: if tall { share.columns } else { piece },
                        };
                        let now = (pass, (pass + near).min(passes));
                        convolve_at(level, dense, operands, at, part, now);
                    }
                }
            }
        }
    }
}
