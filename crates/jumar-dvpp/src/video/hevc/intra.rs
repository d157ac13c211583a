//! Prediction of a block from the samples around it (clause 8.4.4.2).

/// The prediction that interpolates between the edges.
pub(super) const PLANAR: u8 = 0;
/// The mean of the edges.
pub(super) const DC: u8 = 1;
/// The columns of the row above.
pub(super) const VERTICAL: u8 = 26;
/// The rows of the column on the left.
pub(super) const HORIZONTAL: u8 = 10;
/// The modes from 2 on are angles, from the lower left to the upper right.
pub(super) const MODES: u8 = 35;

/// The steps of an angle for a row or column, in parts of 32.
const ANGLES: [i32; 33] = [
    32, 26, 21, 17, 13, 9, 5, 2, 0, -2, -5, -9, -13, -17, -21, -26, -32, -26, -21, -17, -13, -9,
    -5, -2, 0, 2, 5, 9, 13, 17, 21, 26, 32,
];
/// 8192 divided by the negative angles, of the modes from 11 on.
const INVERSE_ANGLES: [i32; 15] = [
    -4096, -1638, -910, -630, -482, -390, -315, -256, -315, -390, -482, -630, -910, -1638, -4096,
];

/// The samples around a block, from the lower left one over the corner to the upper right one: four sides and one.
pub(super) struct Edge {
    side: usize,
    samples: [u8; 129],
}

impl Edge {
    /// Collects the samples of a plane around a block. `is_known` states for a position, relative to the block, whether it was coded
    /// before; positions outside of the plane are not.
    pub(super) fn new(
        side: usize,
        sample: impl Fn(isize, isize) -> u8,
        is_known: impl Fn(isize, isize) -> bool,
    ) -> Edge {
        let mut samples = [128; 129];
        let reach = 2 * side as isize;
        let mut last = None;
        for index in 0..=4 * side {
            let at = index as isize;
            let (x, y) = match at.cmp(&reach) {
                std::cmp::Ordering::Less => (-1, reach - 1 - at),
                std::cmp::Ordering::Equal => (-1, -1),
                std::cmp::Ordering::Greater => (at - reach - 1, -1),
            };
            if is_known(x, y) {
                let value = sample(x, y);
                // What precedes the first known sample is equal to it.
                if last.is_none() {
                    samples[..index].fill(value);
                }
                last = Some(value);
                samples[index] = value;
            } else if let Some(value) = last {
                samples[index] = value;
            }
        }
        Edge { side, samples }
    }

    /// Returns the edge for a mode: filtered, where the mode uses a filtered edge in luma.
    fn for_mode(&self, mode: u8, is_luma: bool) -> [u8; 129] {
        let distance = mode.abs_diff(VERTICAL).min(mode.abs_diff(HORIZONTAL));
        let most = match self.side {
            8 => 7,
            16 => 1,
            _ => 0,
        };
        let mut result = self.samples;
        if is_luma && mode != DC && self.side > 4 && distance > most {
            let last = 4 * self.side;
            let windows = self.samples[..=last].windows(3);
            for (to, window) in result[1..last].iter_mut().zip(windows) {
                let [a, b, c] = [0, 1, 2].map(|index| u16::from(window[index]));
                *to = ((a + 2 * b + c + 2) / 4) as u8;
            }
        }
        result
    }

    /// Predicts a block, row by row without gaps.
    pub(super) fn predict(&self, mode: u8, is_luma: bool, to: &mut [u8]) {
        let side = self.side;
        let edge = self.for_mode(mode, is_luma);
        let corner = 2 * side;
        let left = |y: usize| i32::from(edge[corner - 1 - y]);
        let top = |x: usize| i32::from(edge[corner + 1 + x]);
        // Small blocks of luma are smoothed at the edges that the mode continues.
        let is_smoothed = is_luma && side < 32;
        let rows = to.chunks_exact_mut(side).take(side).enumerate();
        match mode {
            PLANAR => {
                let shift = side.trailing_zeros() + 1;
                let count = side as i32;
                for (y, row) in rows {
                    for (x, to) in row.iter_mut().enumerate() {
                        let (column, line) = (x as i32, y as i32);
                        let sum = (count - 1 - column) * left(y)
                            + (column + 1) * top(side)
                            + (count - 1 - line) * top(x)
                            + (line + 1) * left(side);
                        *to = ((sum + count) >> shift) as u8;
                    }
                }
            }
            DC => {
                let sum: i32 = (0..side).map(|index| left(index) + top(index)).sum();
                let mean = (sum + side as i32) >> (side.trailing_zeros() + 1);
                for (y, row) in rows {
                    row.fill(mean as u8);
                    if !is_smoothed {
                        continue;
                    }
                    if y == 0 {
                        for (x, to) in row.iter_mut().enumerate() {
                            *to = ((top(x) + 3 * mean + 2) >> 2) as u8;
                        }
                        row[0] = ((left(0) + 2 * mean + top(0) + 2) >> 2) as u8;
                    } else {
                        row[0] = ((left(y) + 3 * mean + 2) >> 2) as u8;
                    }
                }
            }
            _ => {
                let is_vertical = mode >= 18;
                let angle = ANGLES[usize::from(mode) - 2];
                let main = |index: usize| match is_vertical {
                    true => edge[corner + index],
                    false => edge[corner - index],
                };
                let other = |index: usize| match is_vertical {
                    true => edge[corner - index],
                    false => edge[corner + index],
                };
                // The line that is continued, with what lies before its corner in front.
                let mut line = [0_u8; 97];
                let before = side;
                for index in 0..=2 * side {
                    line[before + index] = main(index);
                }
                if angle < 0 {
                    let inverse = INVERSE_ANGLES[usize::from(mode) - 11];
                    let first = (side as i32 * angle) >> 5;
                    for index in first + 1..0 {
                        let at = (index * inverse + 128) >> 8;
                        line[(before as i32 + index) as usize] = other(at as usize);
                    }
                }
                let predict = |along: usize, to: &mut dyn FnMut(usize, u8)| {
                    let step = (along as i32 + 1) * angle;
                    let (start, part) = (step >> 5, step & 31);
                    let from = (before as i32 + start + 1) as usize;
                    for index in 0..side {
                        let first = i32::from(line[from + index]);
                        let value = match part {
                            0 => first,
                            _ => {
                                let second = i32::from(line[from + index + 1]);
                                ((32 - part) * first + part * second + 16) >> 5
                            }
                        };
                        to(index, value as u8);
                    }
                };
                if is_vertical {
                    for (y, row) in rows {
                        predict(y, &mut |x, value| row[x] = value);
                    }
                } else {
                    for x in 0..side {
                        predict(x, &mut |y, value| to[y * side + x] = value);
                    }
                }
                if angle == 0 && is_smoothed {
                    let base = i32::from(edge[corner]);
                    for index in 0..side {
                        let step = (i32::from(other(index + 1)) - base) >> 1;
                        let value = (i32::from(main(1)) + step).clamp(0, 255) as u8;
                        to[if is_vertical { index * side } else { index }] = value;
                    }
                }
            }
        }
    }
}
