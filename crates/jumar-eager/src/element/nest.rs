//! Loops over several operands of one shape and different strides.

use jumar_ops::view::{Layout, MAX_RANK};

/// Operands that one loop can have: inputs first, the output last.
pub(crate) const OPERANDS: usize = 8;

/// The offset of each operand.
pub(crate) type Offsets = [usize; OPERANDS];

/// Nested loops over operands of one shape.
///
/// Dimensions are sorted by the strides of the last operand, and neighbours are joined where all operands allow it. The
/// innermost dimension is a row, which kernels process in one go.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    operands: usize,
    outer: usize,
    dims: [usize; MAX_RANK],
    strides: [[isize; OPERANDS]; MAX_RANK],
    row: usize,
    steps: [isize; OPERANDS],
    elements: usize,
}

impl Nest {
    /// Creates loops over the shape of the last layout. The others have this shape, too, with strides of 0 where they are
    /// repeated.
    pub fn new(layouts: &[&Layout]) -> Nest {
        let operands = layouts.len();
        let mut nest = Nest {
            operands,
            outer: 0,
            dims: [1; MAX_RANK],
            strides: [[0; OPERANDS]; MAX_RANK],
            row: 1,
            steps: [1; OPERANDS],
            elements: layouts.last().map_or(1, |layout| layout.elements()),
        };
        let Some(last) = layouts.last() else {
            return nest;
        };
        let (mut order, mut rank) = ([0; MAX_RANK], 0);
        for (axis, &dim) in last.shape().iter().enumerate() {
            if dim == 1 {
                continue;
            }
            // An insertion keeps the sort stable: of equal strides the later dimension stays inside.
            let key = |axis: usize| {
                let rest: isize = layouts[..operands - 1]
                    .iter()
                    .map(|layout| layout.strides()[axis])
                    .max()
                    .unwrap_or(0);
                (last.strides()[axis], rest)
            };
            let mut at = rank;
            while at > 0 && key(order[at - 1]) < key(axis) {
                order[at] = order[at - 1];
                at -= 1;
            }
            order[at] = axis;
            rank += 1;
        }
        for &axis in &order[..rank] {
            let dim = last.shape()[axis];
            let mut own = [0; OPERANDS];
            for (stride, layout) in own.iter_mut().zip(layouts) {
                *stride = layout.strides()[axis];
            }
            let joins = nest.outer > 0
                && (0..operands).all(|operand| {
                    nest.strides[nest.outer - 1][operand] == own[operand].wrapping_mul(dim as isize)
                });
            if joins {
                nest.dims[nest.outer - 1] *= dim;
                nest.strides[nest.outer - 1] = own;
            } else {
                nest.dims[nest.outer] = dim;
                nest.strides[nest.outer] = own;
                nest.outer += 1;
            }
        }
        if nest.outer > 0 {
            nest.outer -= 1;
            nest.row = nest.dims[nest.outer];
            nest.steps = nest.strides[nest.outer];
        }
        nest
    }

    /// Returns the number of elements of each operand.
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the length of a row.
    pub fn row(&self) -> usize {
        self.row
    }

    /// Returns the step of each operand inside a row.
    pub fn steps(&self) -> &[isize; OPERANDS] {
        &self.steps
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match self.row {
            0 => 0,
            row => self.elements / row,
        }
    }

    /// Returns the number of dimensions around a row.
    pub fn outer(&self) -> usize {
        self.outer
    }

    /// Returns the size and the strides of a dimension around a row.
    pub fn dimension(&self, axis: usize) -> (usize, [isize; OPERANDS]) {
        (self.dims[axis], self.strides[axis])
    }

    /// Returns the loops without a dimension around a row.
    pub fn without(&self, axis: usize) -> Nest {
        let mut nest = self.clone();
        nest.dims[axis..].rotate_left(1);
        nest.strides[axis..].rotate_left(1);
        nest.outer -= 1;
        nest.elements = match self.dims[axis] {
            0 => 0,
            dim => self.elements / dim,
        };
        nest
    }

    /// Calls `body` with the offsets of `count` rows from the row `first` on.
    #[inline]
    pub fn each(&self, first: usize, count: usize, mut body: impl FnMut(&Offsets)) {
        if self.elements == 0 || count == 0 {
            return;
        }
        let (mut counter, mut offsets) = self.start(first);
        for left in (0..count).rev() {
            body(&offsets);
            if left > 0 {
                self.advance(&mut counter, &mut offsets);
            }
        }
    }

    // What counts is a part of no loop, or it would be compiled for each function of elements.

    /// Returns the indices of a row, and the offsets of the operands there.
    #[inline(never)]
    fn start(&self, row: usize) -> ([usize; MAX_RANK], Offsets) {
        let mut counter = [0usize; MAX_RANK];
        let mut offsets = [0usize; OPERANDS];
        let mut rest = row;
        for axis in (0..self.outer).rev() {
            counter[axis] = rest % self.dims[axis];
            rest /= self.dims[axis];
            for (offset, &stride) in offsets.iter_mut().zip(&self.strides[axis]) {
                *offset = offset.wrapping_add_signed(stride.wrapping_mul(counter[axis] as isize));
            }
        }
        (counter, offsets)
    }

    /// Goes to the next row.
    #[inline(never)]
    fn advance(&self, counter: &mut [usize; MAX_RANK], offsets: &mut Offsets) {
        for axis in (0..self.outer).rev() {
            counter[axis] += 1;
            let strides = &self.strides[axis];
            if counter[axis] < self.dims[axis] {
                for operand in 0..self.operands {
                    offsets[operand] = offsets[operand].wrapping_add_signed(strides[operand]);
                }
                return;
            }
            counter[axis] = 0;
            let back = self.dims[axis] as isize - 1;
            for operand in 0..self.operands {
                let distance = strides[operand].wrapping_mul(back);
                offsets[operand] = offsets[operand].wrapping_add_signed(-distance);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(dims: &[usize], strides: &[isize]) -> Layout {
        Layout::strided(dims, strides).unwrap()
    }

    fn walk(nest: &Nest, first: usize, count: usize) -> Vec<(usize, usize)> {
        let mut seen = Vec::new();
        nest.each(first, count, |offsets| {
            for index in 0..nest.row() as isize {
                let at = |operand: usize| {
                    offsets[operand].wrapping_add_signed(nest.steps()[operand] * index)
                };
                seen.push((at(0), at(1)));
            }
        });
        seen
    }

    #[test]
    fn equal_strides_become_one_row_in_any_order_of_dimensions() {
        for (dims, strides) in [
            ([2, 3, 4], [12, 4, 1]),
            ([4, 3, 2], [1, 4, 12]),
            ([3, 4, 2], [4, 1, 12]),
        ] {
            let one = layout(&dims, &strides);
            assert_eq!(
                (
                    Nest::new(&[&one, &one]).row(),
                    Nest::new(&[&one, &one]).rows()
                ),
                (24, 1)
            );
        }
    }

    #[test]
    fn every_pair_of_elements_is_visited_once() {
        let (from, to) = (
            layout(&[2, 3, 4], &[0, 1, 3]),
            layout(&[2, 3, 4], &[12, 4, 1]),
        );
        let nest = Nest::new(&[&from, &to]);
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for a in 0..2 {
            for b in 0..3 {
                wanted.extend((0..4).map(|c| (b + 3 * c, a * 12 + b * 4 + c)));
            }
        }
        for split in 0..=nest.rows() {
            let mut seen = walk(&nest, 0, split);
            seen.extend(walk(&nest, split, nest.rows() - split));
            seen.sort_by_key(|pair| pair.1);
            assert_eq!(seen, wanted, "split after {split} rows");
        }
    }

    #[test]
    fn scalars_have_one_row_and_empty_shapes_none() {
        let scalar = layout(&[], &[]);
        assert_eq!(walk(&Nest::new(&[&scalar, &scalar]), 0, 1), [(0, 0)]);
        let empty = layout(&[2, 0], &[0, 1]);
        let nest = Nest::new(&[&empty, &empty]);
        assert_eq!((nest.rows(), walk(&nest, 0, 1).len()), (0, 0));
    }
}
