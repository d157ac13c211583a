//! Products of groups of rows of int8 with matrices of their own, summed in 32 bits: they are exact.

use std::sync::OnceLock;

use jumar_ops::math::wide;
use jumar_ops::packing::PackedBytes;
use jumar_ops::simd::lowp::{PANEL, int8_product};
use jumar_ops::view::{Row, RowMut, View};
use jumar_ops::{Call, Kernel, OpError};

use super::grouped::{PARTS, bounds};
use crate::ops::groups::Sizes;

/// Rows that are worked on at once.
const ROWS: usize = 64;

/// Turns a byte with a sign into one without: it becomes larger by 128.
const FLIP: u8 = 0x80;

/// Rounds a number of bytes up, so that what follows them begins with a line of a cache.
fn lines(bytes: usize) -> usize {
    bytes.next_multiple_of(64)
}

/// Products of groups of rows. Inputs: `x` as dense int8; the list of groups as dense int64; a bias of dense int32, one row of columns
/// for each group, if there is one; and the matrices of int8. Output: dense int32, of which the rows of groups are written.
pub(super) struct GroupedInt8 {
    pub groups: usize,
    pub sizes: Sizes,
    pub rows: usize,
    pub depth: usize,
    pub columns: usize,
    /// From one group, row and column to the next, of each input with matrices.
    pub strides: Vec<(usize, usize, usize)>,
    /// Whether each group's matrix is an input of its own.
    pub listed: bool,
    pub biased: bool,
    /// What is added to each entry of `x`.
    pub shift: i32,
}

/// The operands of one call.
struct Views<'a> {
    list: Row<'a, i64>,
    bias: Option<Row<'a, i32>>,
    weights: Vec<View<'a, u8>>,
    out: RowMut<'a, i32>,
    /// `x` with bytes without a sign, and rows of whole groups.
    left: RowMut<'a, u8>,
}

impl GroupedInt8 {
    /// The length of a packed row.
    fn packed(&self) -> usize {
        self.depth.next_multiple_of(4)
    }

    fn panels(&self) -> usize {
        self.columns.div_ceil(PANEL)
    }

    fn left_bytes(&self) -> usize {
        lines(self.rows * self.packed())
    }

    /// The bytes of a packed panel, and with the sums of its columns.
    fn part_bytes(&self) -> (usize, usize) {
        let panel = lines(self.packed() * PANEL);
        (panel, panel + lines(PANEL * size_of::<i32>()))
    }

    fn pack_rows(&self, x: Row<'_, u8>, to: RowMut<'_, u8>, (start, len): (usize, usize)) {
        let (depth, packed) = (self.depth, self.packed());
        for row in start..start + len {
            let to = to.slice(row * packed, packed);
            let from = x.slice(row * depth, depth);
            to.slice(0, depth).map1(from, |byte| byte ^ FLIP);
            to.slice(depth, packed - depth).fill(0);
        }
    }

    fn task(
        &self,
        views: &Views<'_>,
        task: usize,
        (panel_bytes, sums): (RowMut<'_, u8>, RowMut<'_, i32>),
    ) -> Result<(), OpError> {
        let (group, panel) = (task / self.panels(), task % self.panels());
        let (first, end) = bounds(self.sizes, views.list, group, self.rows)?;
        if first == end {
            return Ok(());
        }
        let column = panel * PANEL;
        let count = PANEL.min(self.columns - column);
        let (own, index) = match self.listed {
            true => (0, group),
            false => (group * self.strides[0].0, 0),
        };
        let (_, down, right) = self.strides[index];
        wide(PackedBytes {
            from: views.weights[index].span(),
            stride: down,
            step: right,
            first: own + column * right,
            columns: count,
            k: self.depth,
            flip: 0,
            to: panel_bytes,
            sums,
        });
        let packed = self.packed();
        // Left numbers are larger by 128 than those of `x`.
        let excess = 128 - self.shift;
        for row in (first..end).step_by(ROWS) {
            let rows = ROWS.min(end - row);
            let left = views.left.as_row().slice(row * packed, rows * packed);
            let start = row * self.columns + column;
            let to = views.out.slice(start, (rows - 1) * self.columns + count);
            int8_product(
                (rows, count, packed),
                (left, panel_bytes.as_row()),
                (to, self.columns),
            );
            for row in 0..rows {
                let to = to.slice(row * self.columns, count);
                to.update(sums.as_row().slice(0, count), |sum, column| {
                    sum.wrapping_sub(column.wrapping_mul(excess))
                });
                if let Some(bias) = views.bias {
                    let bias = bias.slice(group * self.columns + column, count);
                    to.update(bias, i32::wrapping_add);
                }
            }
        }
        Ok(())
    }
}

impl Kernel for GroupedInt8 {
    fn scratch_bytes(&self) -> usize {
        self.left_bytes() + PARTS * self.part_bytes().1
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let first = 2 + usize::from(self.biased);
        let views = Views {
            list: call.input::<i64>(1)?.flat(),
            bias: match self.biased {
                true => Some(call.input::<i32>(2)?.flat()),
                false => None,
            },
            weights: (0..self.strides.len())
                .map(|index| call.input::<u8>(first + index))
                .collect::<Result<_, _>>()?,
            out: call.output::<i32>(0)?.flat(),
            left: call.scratch::<u8>(0, self.left_bytes())?,
        };
        let x = call.input::<u8>(0)?.flat();
        call.workers().ranges(self.rows, ROWS, |start, len| {
            self.pack_rows(x, views.left, (start, len));
        });
        let (panel, part) = self.part_bytes();
        let mut parts = Vec::with_capacity(PARTS);
        for index in 0..PARTS {
            let start = self.left_bytes() + index * part;
            parts.push((
                call.scratch::<u8>(start, panel)?,
                call.scratch::<i32>(start + panel, PANEL)?,
            ));
        }
        let tasks = self.groups * self.panels();
        let failure = OnceLock::new();
        call.workers().each(PARTS, |index| {
            for task in (index..tasks).step_by(PARTS) {
                if let Err(error) = self.task(&views, task, parts[index]) {
                    let _ = failure.set(error);
                    return;
                }
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}
