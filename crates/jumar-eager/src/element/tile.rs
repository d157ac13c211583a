//! Tiles, for operands that lie the other way round than the result: along the rows of the result, each of their elements is in another
//! cache line.

use std::ops::Range;

use jumar_ops::Workers;
use jumar_ops::view::{Element, Part, PastCaches, Row, RowMut, View, ViewMut, turn};

use super::nest::{Nest, OPERANDS, Offsets};

/// Elements of the rows of the result that a tile has.
pub(super) const ROW: usize = 128;

/// Bytes that are read side by side from an operand that is turned.
const BYTES: usize = 256;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

/// Rows of a tile that are asked for ahead.
pub(super) const AHEAD: usize = 8;

/// From how many bytes on a result goes past the caches. Its lines are whole, so that none has to be read first.
const PAST_BYTES: usize = 4 << 20;

/// Fewer elements of a row, and fewer rows, are not worth a tile.
const LEAST: (usize, usize) = (32, 8);

/// Loops over tiles.
pub(super) struct Tiles {
    /// The loops around the rows of the result that form a band of tiles.
    outer: Nest,
    lines: usize,
    strides: [isize; OPERANDS],
    row: usize,
    steps: [isize; OPERANDS],
    /// The rows of a tile.
    side: usize,
    turned: [bool; OPERANDS],
    elements: usize,
}

/// One tile: rows of the result, and a part of each.
pub(super) struct Tile<'a> {
    tiles: &'a Tiles,
    offsets: &'a Offsets,
    pub lines: Range<usize>,
    pub begin: usize,
    pub len: usize,
}

impl Tiles {
    /// Finds the tiles of a loop whose first operands are inputs with elements of these sizes. `None`: no input is transposed, or the
    /// rows are short or few.
    pub fn find(nest: &Nest, sizes: &[usize]) -> Option<Tiles> {
        let (row, steps) = (nest.row(), *nest.steps());
        if row < LEAST.0 {
            return None;
        }
        let turned = |strides: &[isize; OPERANDS]| {
            let is_turned = |input: usize| {
                let (stride, step) = (strides[input].unsigned_abs(), steps[input].unsigned_abs());
                input < sizes.len() && stride != 0 && stride < step
            };
            std::array::from_fn::<bool, OPERANDS, _>(is_turned)
        };
        let mut best = None;
        for axis in (0..nest.outer()).rev() {
            let (lines, strides) = nest.dimension(axis);
            let turned = turned(&strides);
            let distance = (0..sizes.len()).filter(|&input| turned[input]);
            let distance = distance.map(|input| strides[input].unsigned_abs()).min();
            if let Some(distance) = distance
                && lines >= LEAST.1
                && best.is_none_or(|(least, _)| distance < least)
            {
                best = Some((distance, axis));
            }
        }
        let (_, axis) = best?;
        let (lines, strides) = nest.dimension(axis);
        let turned = turned(&strides);
        let widest = (0..sizes.len()).filter(|&input| turned[input]);
        let widest = widest.map(|input| sizes[input]).max().unwrap_or(1);
        Some(Tiles {
            outer: nest.without(axis),
            lines,
            strides,
            row,
            steps,
            side: BYTES / widest.clamp(1, 16),
            turned,
            elements: nest.elements(),
        })
    }

    /// Reports whether an input is turned.
    pub fn is_turned(&self, input: usize) -> bool {
        self.turned[input]
    }

    /// Returns the elements of a tile.
    pub fn elements(&self) -> usize {
        self.side * ROW
    }

    /// Prepares stores past the caches, if the result is long. `size` is that of its elements.
    pub fn past(&self, size: usize) -> Option<PastCaches> {
        (self.elements * size >= PAST_BYTES).then(PastCaches::default)
    }

    /// Calls `body` with each tile. Threads share bands of rows, and each part has a state of its own.
    pub fn each<S>(
        &self,
        workers: Workers<'_>,
        state: impl Fn() -> S + Sync,
        body: impl Fn(&mut S, &Tile<'_>) + Sync,
    ) {
        let bands = self.lines.div_ceil(self.side);
        let grain = GRAIN.div_ceil(self.side * self.row);
        workers.ranges(self.outer.rows() * bands, grain, |first, count| {
            let mut state = state();
            for band in first..first + count {
                let start = band % bands * self.side;
                let lines = start..self.lines.min(start + self.side);
                self.outer.each(band / bands, 1, |offsets| {
                    for begin in (0..self.row).step_by(ROW) {
                        let tile = Tile {
                            tiles: self,
                            offsets,
                            lines: lines.clone(),
                            begin,
                            len: ROW.min(self.row - begin),
                        };
                        body(&mut state, &tile);
                    }
                });
            }
        });
    }
}

impl Tile<'_> {
    /// Returns the offset of the first element of one of the rows.
    pub fn start(&self, operand: usize, line: usize) -> usize {
        let Tiles { strides, steps, .. } = self.tiles;
        let way = strides[operand] * line as isize + steps[operand] * self.begin as isize;
        self.offsets[operand].wrapping_add_signed(way)
    }

    /// Writes the elements of an input to a tile whose rows lie [`ROW`] elements apart.
    pub fn turn<T: Element>(&self, input: usize, from: &View<'_, T>, to: RowMut<'_, T>) {
        let part = Part {
            start: self.start(input, self.lines.start),
            step: self.tiles.strides[input],
            stride: self.tiles.steps[input],
            len: self.lines.len(),
            rows: self.len,
            known: self.tiles.row - self.begin,
        };
        turn(from.span(), part, to, ROW);
    }

    /// Asks for a row of an input that is not turned. The processor does not foresee which one is read next.
    pub fn ask_for<T: Element>(&self, input: usize, from: &View<'_, T>, number: usize) {
        let line = self.lines.start + number;
        if line < self.lines.end && self.tiles.steps[input] == 1 {
            from.row(self.start(input, line), self.len, 1).ask_for();
        }
    }

    /// Writes a tile to the output, the operand after the inputs. A tile is computed as a whole before: a store to each of its rows takes
    /// so long that what is computed between two of them waits.
    pub fn store<T: Element>(
        &self,
        operand: usize,
        from: Row<'_, T>,
        to: &ViewMut<'_, T>,
        past: Option<&PastCaches>,
    ) {
        for (number, line) in self.lines.clone().enumerate() {
            let from = from.slice(number * ROW, self.len);
            let to = to.row(
                self.start(operand, line),
                self.len,
                self.tiles.steps[operand],
            );
            match past {
                Some(past) => to.copy_past_caches(from, past),
                None => to.copy_from(from),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use jumar_ops::Share;
    use jumar_ops::view::{Block, Region};
    use jumar_types::dtype::DataType;

    use crate::{Arg, Dims, TensorArg, TensorDesc, Workers, plan};

    struct Backwards;

    impl Share for Backwards {
        fn threads(&self) -> usize {
            2
        }

        fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..parts).rev().for_each(work);
        }
    }

    /// A view of float32: its shape, strides and offset, and the elements of its storage.
    struct TileView {
        dims: Vec<i64>,
        strides: Vec<i64>,
        offset: i64,
        len: i64,
    }

    impl TileView {
        fn dense(dims: &[i64]) -> TileView {
            TileView {
                dims: dims.to_vec(),
                strides: Dims::contiguous(dims).to_vec(),
                offset: 0,
                len: dims.iter().product(),
            }
        }

        /// Views memory whose axes lie in another order, of which every `step`th element is used.
        fn permuted(dims: &[i64], order: &[usize], step: i64, offset: i64) -> TileView {
            let mut strides = vec![0; dims.len()];
            let mut distance = step;
            for &axis in order.iter().rev() {
                strides[axis] = distance;
                distance *= dims[axis];
            }
            TileView {
                dims: dims.to_vec(),
                strides,
                offset,
                len: offset + distance,
            }
        }

        fn arg(&self, buffer: usize, dtype: DataType) -> Arg {
            let mut desc = TensorDesc::contiguous(dtype, &self.dims);
            desc.strides = Dims::new(&self.strides);
            desc.offset = self.offset;
            desc.storage = Dims::new(&[self.len]);
            Arg::Tensor(TensorArg { desc, buffer })
        }

        /// Returns where each element lies, in the order of the shape.
        fn positions(&self) -> Vec<usize> {
            let count: i64 = self.dims.iter().product();
            let position = |mut index: i64| {
                let mut position = self.offset;
                for (dim, stride) in self.dims.iter().zip(&self.strides).rev() {
                    position += index % dim * stride;
                    index /= dim;
                }
                position as usize
            };
            (0..count).map(position).collect()
        }
    }

    /// Multiplies two views, or a view and itself in position, and compares with a loop.
    fn check(dtype: DataType, views: [TileView; 3], in_place: bool, workers: Workers<'_>) {
        // Products are integers that every type holds.
        let value = |buffer: usize, at: usize| ((at * 7 + at / 61 + buffer) % 11) as f32 - 3.0;
        let bytes = |number: f32| match dtype {
            DataType::BFloat16 => ((number.to_bits() >> 16) as u16).to_le_bytes().to_vec(),
            DataType::Int32 => (number as i32).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        };
        let mut blocks: Vec<Block> = Vec::new();
        for (buffer, view) in views.iter().enumerate() {
            let all = (0..view.len as usize).flat_map(|at| bytes(value(buffer, at)));
            blocks.push(Block::of(&all.collect::<Vec<u8>>()));
        }
        let mut args: Vec<Arg> = Vec::new();
        for (buffer, view) in views.iter().enumerate() {
            args.push(view.arg(buffer, dtype));
        }
        let name = match in_place {
            true => "aclnnInplaceMul",
            false => "aclnnMul",
        };
        args.truncate(if in_place { 2 } else { 3 });
        let mut all = crate::signatures::ALL.iter();
        let signature = all.find(|signature| signature.name == name);
        let plan = plan(signature.unwrap(), &args).unwrap();
        let mut workspace = Block::zeroed(plan.workspace_bytes());
        let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
        plan.run(&regions[..args.len()], workspace.region(), workers)
            .unwrap();
        let to = if in_place { 0 } else { 2 };
        let mut wanted: Vec<f32> = (0..views[to].len as usize)
            .map(|at| value(to, at))
            .collect();
        let positions = views.each_ref().map(TileView::positions);
        for index in 0..positions[0].len() {
            let product = value(0, positions[0][index]) * value(1, positions[1][index]);
            wanted[positions[to][index]] = product;
        }
        let wanted: Vec<u8> = wanted.into_iter().flat_map(bytes).collect();
        assert!(
            blocks[to].bytes() == wanted,
            "{dtype}, {:?} {:?} {:?}",
            views[0].dims,
            views[0].strides,
            views[1].strides
        );
    }

    #[test]
    fn turned_operands_of_any_order_step_and_offset_meet_the_same_elements() {
        for (dtype, workers) in [
            (DataType::Float32, Workers::ALONE),
            (DataType::Float32, Workers::of(&Backwards)),
            (DataType::BFloat16, Workers::of(&Backwards)),
            (DataType::Int32, Workers::ALONE),
        ] {
            for (dims, order) in [
                (vec![67, 133], vec![1, 0]),
                (vec![300, 270], vec![1, 0]),
                (vec![40, 9, 70], vec![2, 1, 0]),
                (vec![3, 50, 8, 40], vec![0, 3, 2, 1]),
                (vec![9, 33], vec![1, 0]),
            ] {
                let dense = || TileView::dense(&dims);
                let turned = |step, offset| TileView::permuted(&dims, &order, step, offset);
                check(dtype, [turned(1, 0), dense(), dense()], false, workers);
                check(dtype, [dense(), turned(1, 5), dense()], false, workers);
                check(dtype, [turned(2, 1), turned(1, 3), dense()], false, workers);
                check(dtype, [dense(), dense(), turned(1, 0)], false, workers);
                check(dtype, [dense(), dense(), turned(3, 2)], false, workers);
                check(dtype, [dense(), turned(1, 0), dense()], true, workers);
                check(dtype, [turned(1, 2), dense(), dense()], true, workers);
            }
        }
    }

    #[test]
    fn repeated_operands_beside_turned_ones_are_values() {
        let dims = [150, 140];
        let repeated = |strides: [i64; 2]| TileView {
            dims: dims.to_vec(),
            strides: strides.to_vec(),
            offset: 0,
            len: 150,
        };
        for dtype in [DataType::Float32, DataType::Int32] {
            for strides in [[1, 0], [0, 1]] {
                let turned = TileView::permuted(&dims, &[1, 0], 1, 0);
                let views = [turned, repeated(strides), TileView::dense(&dims)];
                check(dtype, views, false, Workers::ALONE);
            }
        }
    }

    #[test]
    fn long_results_go_past_the_caches_and_are_complete() {
        for (dims, workers) in [
            ([1100, 1024], Workers::ALONE),
            ([1031, 1030], Workers::of(&Backwards)),
        ] {
            let dense = || TileView::dense(&dims);
            let turned = TileView::permuted(&dims, &[1, 0], 1, 0);
            let views = [turned, dense(), dense()];
            check(DataType::Float32, views, false, workers);
        }
    }
}
