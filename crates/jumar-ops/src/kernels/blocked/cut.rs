//! How the work of a convolution is cut into parts for threads.

use crate::simd::blocked::{Part, Share};

/// Parts per thread: a delayed thread leaves the rest to others.
pub(in crate::kernels) const PARTS_EACH: usize = 4;

/// Splits an output image of `rows` by `columns` into `wanted` parts or fewer.
pub(in crate::kernels) fn split(
    rows: usize,
    columns: usize,
    wanted: usize,
) -> (usize, usize, usize) {
    /// What the largest tile covers.
    const STEP: usize = 14;
    if rows > 1 {
        let each = rows.div_ceil(wanted.clamp(1, rows));
        return (rows.div_ceil(each), each, columns);
    }
    let steps = columns.div_ceil(STEP).max(1);
    let each = steps.div_ceil(wanted.clamp(1, steps)) * STEP;
    (columns.div_ceil(each.max(1)).max(1), 1, each)
}

/// Returns the part of that number; see [`split`].
pub(in crate::kernels) fn part_of(
    output: [usize; 2],
    (rows, columns): (usize, usize),
    image: usize,
    index: usize,
) -> Part {
    let along = |each: usize, size: usize, index: usize| {
        ((index * each).min(size), ((index + 1) * each).min(size))
    };
    if output[0] > 1 {
        Part {
            image,
            rows: along(rows, output[0], index),
            columns: (0, output[1]),
        }
    } else {
        Part {
            image,
            rows: (0, output[0]),
            columns: along(columns, output[1], index),
        }
    }
}

/// Returns parts that cover `len` rows from row `start` on, where the rows of all output images are counted one after the other. A part
/// is what lies in one image.
pub(super) fn neighbouring_rows(
    [rows, columns]: [usize; 2],
    start: usize,
    len: usize,
) -> impl Iterator<Item = Part> {
    let mut rest = (start, len);
    std::iter::from_fn(move || {
        let (start, len) = rest;
        let (image, top) = (start.checked_div(rows)?, start.checked_rem(rows)?);
        let count = len.min(rows - top);
        rest = (start + count, len - count);
        (count > 0).then_some(Part {
            image,
            rows: (top, top + count),
            columns: (0, columns),
        })
    })
}

/// How the work of a convolution is cut into parts: pieces of the image, images that take the same weights one after the other, and
/// pairs of output blocks.
///
/// Where an image takes more memory than the weights, a thread gets rows of it in all units, and the same rows of the next image, most
/// of which it wrote itself; where the weights take more, it gets some of them and all rows.
pub(super) struct Cut {
    output: [usize; 2],
    pieces: usize,
    rows: usize,
    columns: usize,
    images: usize,
    /// Images of a part.
    each: usize,
    pairs: usize,
    /// Pairs of a part.
    some: usize,
    by_rows: bool,
}

impl Cut {
    pub(super) fn of(
        threads: usize,
        (images, each): (usize, usize),
        pairs: usize,
        output: [usize; 2],
        by_rows: bool,
    ) -> Cut {
        let wanted = threads * PARTS_EACH;
        let by_rows = by_rows && images < threads;
        let each = if threads == 1 { images } else { each }.max(1);
        let turns = images.div_ceil(each).max(1);
        let (pieces, groups) = match (threads, by_rows) {
            (1, _) => (1, 1),
            (_, true) => {
                let groups = pairs.clamp(1, PARTS_EACH.div_ceil(turns));
                (wanted.div_ceil(groups * turns), groups)
            }
            (_, false) => {
                let groups = pairs.clamp(1, wanted.div_ceil(turns));
                (wanted.div_ceil(groups * turns), groups)
            }
        };
        let (pieces, rows, columns) = split(output[0], output[1], pieces);
        Cut {
            output,
            pieces,
            rows,
            columns,
            images,
            each,
            pairs,
            some: pairs.div_ceil(groups).max(1),
            by_rows,
        }
    }

    fn groups(&self) -> usize {
        self.pairs.div_ceil(self.some)
    }

    fn units(&self) -> usize {
        self.images.div_ceil(self.each) * self.groups()
    }

    pub(super) fn parts(&self) -> usize {
        self.pieces * self.units()
    }

    /// Returns what a part computes.
    pub(super) fn share(&self, index: usize) -> Share {
        let (piece, unit) = match self.by_rows {
            true => (index / self.units(), index % self.units()),
            false => (index % self.pieces, index / self.pieces),
        };
        let (turn, group) = (unit / self.groups(), unit % self.groups());
        let part = part_of(self.output, (self.rows, self.columns), 0, piece);
        let along = |each: usize, size: usize, index: usize| {
            ((index * each).min(size), ((index + 1) * each).min(size))
        };
        Share {
            images: along(self.each, self.images, turn),
            pairs: along(self.some, self.pairs, group),
            rows: part.rows,
            columns: part.columns,
        }
    }
}
