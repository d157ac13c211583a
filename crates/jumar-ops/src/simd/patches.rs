//! Packers: they write the panels of B that [`gemm`](super::gemm) reads.

use super::{Level, PANEL, extent, size};
use crate::view::{Part, Row, RowMut, turn};

/// Longer planes, and strides, are not reached by indices of 32 bits that count sixteen strides.
#[cfg(target_arch = "x86_64")]
const REACH: usize = i32::MAX as usize / 16;

/// Rows of a panel that are packed from columns at once.
const DEPTH: usize = 64;

/// A run of columns of one panel whose elements lie at a constant step in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The first column, inside the panel.
    pub lane: usize,
    /// The number of columns.
    pub len: usize,
    /// Where the first column's element lies, counted from the start of a channel.
    pub source: usize,
}

/// Writes rows `first, first + step, ...` of a panel, one a channel: the segments' elements, and 0 between them.
///
/// # Shapes
///
/// `panel`: rows of 32. `image`: channels of `plane` elements. Row `first + c * step` takes channel `c`; the elements
/// of a segment lie `stride` apart.
pub fn pack_patches(
    panel: RowMut<'_, f32>,
    (first, step): (usize, usize),
    image: Row<'_, f32>,
    (channels, plane): (usize, usize),
    segments: &[Segment],
    stride: usize,
) {
    if channels == 0 {
        return;
    }
    // The last row written is one of rows that begin `step` apart, behind `first` others.
    let rows = extent(channels, step, 1)
        .checked_add(first)
        .expect("rows that fit memory");
    let end = size([rows, PANEL]);
    assert!(
        image.is_dense() && end <= panel.len(),
        "a panel of {end} elements in {}",
        panel.len()
    );
    assert!(
        size([channels, plane]) <= image.len(),
        "{channels} channels of {plane} in {}",
        image.len()
    );
    for segment in segments {
        let inside = segment.len > 0
            && segment.len <= PANEL
            && segment.lane <= PANEL - segment.len
            && segment.source < plane
            && extent(segment.len, stride, 1) <= plane - segment.source;
        assert!(inside, "{segment:?} by {stride} in a channel of {plane}");
    }
    let (to, from) = (panel.address(), image.address());
    match Level::best() {
        // SAFETY: the level says that the processor has AVX-512 F; bounds were checked above. The gather's indices have 32 bits, and
        // count up to 15 strides.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 if plane < REACH && stride < REACH => unsafe {
            if stride == 1 {
                x86::patches_avx512::<true>(
                    to,
                    (first, step),
                    from,
                    (channels, plane),
                    segments,
                    stride,
                );
            } else {
                x86::patches_avx512::<false>(
                    to,
                    (first, step),
                    from,
                    (channels, plane),
                    segments,
                    stride,
                );
            }
        },
        // SAFETY: bounds were checked above.
        _ => unsafe {
            patches_portable(to, (first, step), from, (channels, plane), segments, stride)
        },
    }
}

/// # Safety
///
/// Bounds are as [`pack_patches`] checks them.
unsafe fn patches_portable(
    to: *mut f32,
    (first, step): (usize, usize),
    from: *const f32,
    (channels, plane): (usize, usize),
    segments: &[Segment],
    stride: usize,
) {
    for channel in 0..channels {
        let mut row = [0f32; PANEL];
        for segment in segments {
            for index in 0..segment.len {
                let at = channel * plane + segment.source + index * stride;
                // SAFETY: the segment lies inside its channel.
                row[segment.lane + index] = unsafe { from.add(at).read_unaligned() };
            }
        }
        // SAFETY: row `first + channel * step` lies inside the panel.
        unsafe {
            to.add((first + channel * step) * PANEL)
                .cast::<[f32; PANEL]>()
                .write_unaligned(row)
        };
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{PANEL, Segment};

    /// The most pieces that segments are cut into: one a column.
    const PIECES: usize = PANEL;

    /// # Safety
    ///
    /// Bounds are as [`pack_patches`](super::pack_patches) checks them.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn patches_avx512<const DENSE: bool>(
        to: *mut f32,
        (first, step): (usize, usize),
        from: *const f32,
        (channels, plane): (usize, usize),
        segments: &[Segment],
        stride: usize,
    ) {
        // Segments are cut where a vector ends; a masked load that starts before the source touches no lane there.
        let mut pieces = [[(0 as __mmask16, 0isize); PIECES]; 2];
        let mut counts = [0; 2];
        for segment in segments {
            for vector in 0..2 {
                let low = segment.lane.max(vector * 16);
                let high = (segment.lane + segment.len).min(vector * 16 + 16);
                if low < high && counts[vector] < PIECES {
                    let mask = (((1u32 << (high - low)) - 1) << (low - vector * 16)) as __mmask16;
                    let start = segment.source as isize
                        - (segment.lane as isize - vector as isize * 16) * stride as isize;
                    pieces[vector][counts[vector]] = (mask, start);
                    counts[vector] += 1;
                }
            }
        }
        let lanes = _mm512_mullo_epi32(
            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
            _mm512_set1_epi32(stride as i32),
        );
        for channel in 0..channels {
            let source = from.wrapping_add(channel * plane);
            let row = to.wrapping_add((first + channel * step) * PANEL);
            for vector in 0..2 {
                let mut value = _mm512_setzero_ps();
                for &(mask, start) in &pieces[vector][..counts[vector]] {
                    let address = source.wrapping_offset(start);
                    // SAFETY: only lanes of the mask are read, and those lie inside the segment's channel.
                    value = unsafe {
                        if DENSE {
                            _mm512_mask_loadu_ps(value, mask, address)
                        } else {
                            _mm512_mask_i32gather_ps::<4>(value, mask, lanes, address)
                        }
                    };
                }
                // SAFETY: the row lies inside the panel.
                unsafe { _mm512_storeu_ps(row.add(vector * 16), value) };
            }
        }
    }
}

/// Packs columns `start..start + len` of a matrix that lies row by row, as one panel. Columns beyond are 0.
///
/// # Shapes
///
/// `matrix`: `k` rows, `stride` apart. `panel`: `k` rows of 32. `len`: 32 at most.
pub fn pack_rows(
    panel: RowMut<'_, f32>,
    matrix: Row<'_, f32>,
    (k, stride): (usize, usize),
    (start, len): (usize, usize),
) {
    for p in 0..k {
        let row = panel.slice(p * PANEL, PANEL);
        let at = extent(p + 1, stride, start);
        row.slice(0, len).copy_from(matrix.slice(at, len));
        if len < PANEL {
            row.slice(len, PANEL - len).fill(0.0);
        }
    }
}

/// Packs rows `start..start + len` of a matrix as the columns of one panel. Columns beyond are 0.
///
/// # Shapes
///
/// `matrix`: rows of at least `k`, `stride` apart. `panel`: `k` rows of 32. `len`: 32 at most.
pub fn pack_columns(
    panel: RowMut<'_, f32>,
    matrix: Row<'_, f32>,
    (k, stride): (usize, usize),
    (start, len): (usize, usize),
) {
    if len < PANEL {
        panel.slice(0, size([k, PANEL])).fill(0.0);
    }
    // Blocks of rows of the panel that are written to stay in the first-level cache.
    for from in (0..k).step_by(DEPTH) {
        let depth = DEPTH.min(k - from);
        let part = Part {
            start: extent(start + 1, stride, from),
            step: 1,
            stride: stride as isize,
            len: depth,
            rows: len,
            known: len,
        };
        turn(
            matrix,
            part,
            panel.slice(from * PANEL, depth * PANEL),
            PANEL,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Block, Layout, Region, View, ViewMut};

    #[test]
    fn patches_are_the_segments_and_zero_between() {
        let (channels, plane) = (3, 50);
        let image: Vec<u8> = (0..channels * plane)
            .flat_map(|i| (i as f32 + 1.0).to_le_bytes())
            .collect();
        let image_layout = Layout::dense(&[channels * plane]).unwrap();
        let panel_layout = Layout::dense(&[channels * 2 * PANEL]).unwrap();
        for stride in [1, 2, 3] {
            let segments = [
                Segment {
                    lane: 0,
                    len: 3,
                    source: 0,
                },
                Segment {
                    lane: 5,
                    len: 14,
                    source: 7,
                },
                Segment {
                    lane: 30,
                    len: 2,
                    source: 50 - 1 - stride,
                },
            ];
            let mut panel = Block::zeroed(channels * 2 * PANEL * 4);
            let image = View::<f32>::new(Region::shared(&image), &image_layout)
                .unwrap()
                .flat();
            let panel = ViewMut::<f32>::new(panel.region(), &panel_layout)
                .unwrap()
                .flat();
            panel.fill(-1.0);
            pack_patches(panel, (1, 2), image, (channels, plane), &segments, stride);
            for channel in 0..channels {
                for lane in 0..PANEL {
                    let wanted = segments
                        .iter()
                        .find(|s| (s.lane..s.lane + s.len).contains(&lane))
                        .map_or(0.0, |s| {
                            (channel * plane + s.source + (lane - s.lane) * stride) as f32 + 1.0
                        });
                    assert_eq!(
                        panel.get((1 + channel * 2) * PANEL + lane),
                        wanted,
                        "{stride} {channel} {lane}"
                    );
                    assert_eq!(
                        panel.get(channel * 2 * PANEL + lane),
                        -1.0,
                        "rows between stay"
                    );
                }
            }
        }
    }

    #[test]
    fn rows_and_columns_of_a_matrix_make_the_same_panel() {
        let n = 71;
        for k in [1, 21, DEPTH + 1, 3 * DEPTH] {
            let plain: Vec<f32> = (0..k * n).map(|i| i as f32).collect();
            let turned: Vec<f32> = (0..n * k).map(|i| plain[(i % k) * n + i / k]).collect();
            for lanes in [(0, 32), (8, 32), (32, 31), (64, 7)] {
                let (mut one, mut two) = (vec![-1.0; k * PANEL], vec![-1.0; k * PANEL]);
                pack_rows(RowMut::of(&mut one), Row::of(&plain), (k, n), lanes);
                pack_columns(RowMut::of(&mut two), Row::of(&turned), (k, k), lanes);
                assert_eq!(one, two, "{k} rows, lanes {lanes:?}");
            }
        }
    }
}
