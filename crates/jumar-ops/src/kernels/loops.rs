//! Loops over several tensors of one shape and different strides.

use std::convert::Infallible;

use crate::Workers;
use crate::view::MAX_RANK;

/// Nested loops over `N` operands, with neighbouring dimensions joined where all operands allow it.
///
/// The innermost dimension is a row, which kernels run in one go; the others are counted without any division.
#[derive(Clone, Debug)]
pub(crate) struct Loops<const N: usize> {
    outer: usize,
    dims: [usize; MAX_RANK],
    strides: [[isize; N]; MAX_RANK],
    row: usize,
    steps: [isize; N],
    empty: bool,
}

impl<const N: usize> Loops<N> {
    /// Makes loops over a shape; each operand has a stride a dimension, 0 where it is repeated.
    pub fn new(dims: &[usize], strides: [&[isize]; N]) -> Loops<N> {
        let mut joined: Vec<(usize, [isize; N])> = Vec::with_capacity(dims.len());
        for (axis, &dim) in dims.iter().enumerate() {
            let own = strides.map(|operand| operand[axis]);
            if dim == 1 {
                continue;
            }
            match joined.last_mut() {
                Some((size, outer))
                    if (0..N).all(|i| outer[i] == own[i].wrapping_mul(dim as isize)) =>
                {
                    *size *= dim;
                    *outer = own;
                }
                _ => joined.push((dim, own)),
            }
        }
        let (row, steps) = joined.pop().unwrap_or((1, [1; N]));
        let mut loops = Loops {
            outer: joined.len(),
            dims: [1; MAX_RANK],
            strides: [[0; N]; MAX_RANK],
            row,
            steps,
            empty: dims.contains(&0),
        };
        for (axis, (dim, own)) in joined.into_iter().enumerate() {
            loops.dims[axis] = dim;
            loops.strides[axis] = own;
        }
        loops
    }

    /// Returns the length of a row.
    pub fn row(&self) -> usize {
        self.row
    }

    /// Returns each operand's step inside a row.
    pub fn steps(&self) -> [isize; N] {
        self.steps
    }

    /// Cuts the outermost loop, or the row where there is none, into parts of at least `grain` elements, and calls `part` with the
    /// loops of each and where its operands begin. Threads share the parts.
    pub fn share(
        &self,
        start: [usize; N],
        workers: Workers<'_>,
        grain: usize,
        part: impl Fn(&Loops<N>, [usize; N]) + Sync,
    ) {
        self.share_parts(start, workers, grain, &part);
    }

    fn share_parts(
        &self,
        start: [usize; N],
        workers: Workers<'_>,
        grain: usize,
        part: &(dyn Fn(&Loops<N>, [usize; N]) + Sync),
    ) {
        if self.empty {
            return;
        }
        let (outermost, strides, each) = match self.outer {
            0 => (self.row, self.steps, 1),
            outer => {
                let inner = self.dims[1..outer].iter().product::<usize>();
                (self.dims[0], self.strides[0], inner * self.row)
            }
        };
        workers.ranges(outermost, grain.div_ceil(each.max(1)), |first, count| {
            let (mut loops, mut start) = (self.clone(), start);
            match self.outer {
                0 => loops.row = count,
                _ => loops.dims[0] = count,
            }
            for (start, &stride) in start.iter_mut().zip(&strides) {
                *start = start.wrapping_add_signed(stride.wrapping_mul(first as isize));
            }
            part(&loops, start);
        });
    }

    /// Returns whether all elements lie in one row, which is not empty.
    pub fn is_one_row(&self) -> bool {
        self.outer == 0 && !self.empty
    }

    /// Calls `body` with each operand's offset for each row.
    // The loop is a part of code for a level of instructions, or its body would be compiled without them.
    #[inline(always)]
    pub fn each(&self, start: [usize; N], mut body: impl FnMut([usize; N])) {
        let Ok(()) = self.try_each::<Infallible>(
            start,
            #[inline(always)]
            |offsets| {
                body(offsets);
                Ok(())
            },
        );
    }

    /// Calls `body` as [`each`](Loops::each), until it fails.
    #[inline(always)]
    pub fn try_each<E>(
        &self,
        start: [usize; N],
        mut body: impl FnMut([usize; N]) -> Result<(), E>,
    ) -> Result<(), E> {
        // Rows may be as short as a vector: the loop around them is a part of each body.
        let (rows, strides) = self.rows();
        self.try_each_run(
            start,
            #[inline(always)]
            |mut row| {
                for _ in 0..rows {
                    body(row)?;
                    for (offset, stride) in row.iter_mut().zip(strides) {
                        *offset = offset.wrapping_add_signed(stride);
                    }
                }
                Ok(())
            },
        )
    }

    /// Returns how many rows follow each other in a run, the innermost loop over rows, and each operand's step from one to the next.
    pub fn rows(&self) -> (usize, [isize; N]) {
        match self.outer.checked_sub(1) {
            Some(axis) => (self.dims[axis], self.strides[axis]),
            None => (1, [0; N]),
        }
    }

    /// Calls `body` with each operand's offset for each run of rows, until it fails.
    #[inline(always)]
    pub fn try_each_run<E>(
        &self,
        start: [usize; N],
        mut body: impl FnMut([usize; N]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.empty {
            return Ok(());
        }
        let mut counter = [0usize; MAX_RANK];
        let mut offsets = start;
        loop {
            body(offsets)?;
            if !self.advance(&mut counter, &mut offsets) {
                return Ok(());
            }
        }
    }

    /// Goes to the next rows. Returns whether there are any. It is a part of no loop, or it would be compiled for each body.
    #[inline(never)]
    fn advance(&self, counter: &mut [usize; MAX_RANK], offsets: &mut [usize; N]) -> bool {
        for axis in (0..self.outer.saturating_sub(1)).rev() {
            counter[axis] += 1;
            let strides = &self.strides[axis];
            if counter[axis] < self.dims[axis] {
                for (offset, &stride) in offsets.iter_mut().zip(strides) {
                    *offset = offset.wrapping_add_signed(stride);
                }
                return true;
            }
            counter[axis] = 0;
            let back = self.dims[axis] - 1;
            for (offset, &stride) in offsets.iter_mut().zip(strides) {
                *offset = offset.wrapping_sub((stride as usize).wrapping_mul(back));
            }
        }
        false
    }
}

/// Returns the dense strides of a shape, in elements.
pub(crate) fn dense_strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis].max(1) as isize);
    }
    strides
}

/// Returns the strides of a dense operand that is repeated up to a larger shape.
pub(crate) fn broadcast_strides(shape: &[usize], to: &[usize]) -> Vec<isize> {
    let own = dense_strides(shape);
    let missing = to.len() - shape.len();
    (0..to.len())
        .map(|axis| match axis.checked_sub(missing) {
            Some(axis) if shape[axis] != 1 => own[axis],
            _ => 0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::tests::Backwards;

    fn walk<const N: usize>(loops: &Loops<N>) -> Vec<[usize; N]> {
        let mut seen = Vec::new();
        loops.each([0; N], |offsets| {
            for index in 0..loops.row() {
                seen.push(std::array::from_fn(|i| {
                    offsets[i].wrapping_add_signed(loops.steps()[i] * index as isize)
                }));
            }
        });
        seen
    }

    #[test]
    fn dense_operands_become_one_row() {
        let strides = dense_strides(&[2, 3, 4]);
        let loops = Loops::new(&[2, 3, 4], [&strides, &strides]);
        assert_eq!((loops.outer, loops.row()), (0, 24));
    }

    #[test]
    fn every_element_is_visited_once_in_order() {
        let (shape, other) = ([2, 3, 4], [3, 1]);
        let (one, two) = (dense_strides(&shape), broadcast_strides(&other, &shape));
        let seen = walk(&Loops::new(&shape, [&one, &two]));
        let wanted: Vec<_> = (0..2)
            .flat_map(|a| (0..3).flat_map(move |b| (0..4).map(move |c| [a * 12 + b * 4 + c, b])))
            .collect();
        assert_eq!(seen, wanted);
        assert!(walk(&Loops::new(&[2, 0, 4], [&[0, 4, 1]])).is_empty());
        assert_eq!(walk(&Loops::new(&[], [&[]])), [[0]]);
    }

    #[test]
    fn parts_visit_every_element_once() {
        let (shape, other) = ([3, 4, 5], [4, 1]);
        let (dense, repeated) = (dense_strides(&shape), broadcast_strides(&other, &shape));
        let turned = [20, -5, 1];
        let cases = [
            // One row, whose elements are cut.
            Loops::new(&shape, [&dense, &dense]),
            Loops::new(&[7], [&[2], &[0]]),
            Loops::new(&shape, [&dense, &repeated]),
            Loops::new(&shape, [&dense, &turned]),
            Loops::new(&[], [&[], &[]]),
            Loops::new(&[3, 0], [&[0, 1], &[0, 1]]),
        ];
        for loops in &cases {
            for (threads, grain) in [(1, 1), (2, 1), (3, 1), (3, 8), (2, 1000)] {
                let seen = std::sync::Mutex::new(Vec::new());
                loops.share(
                    [0, 15],
                    Workers::of(&Backwards(threads)),
                    grain,
                    |part, start| {
                        part.each(start, |offsets| {
                            for index in 0..part.row() as isize {
                                let at = |i: usize| {
                                    offsets[i].wrapping_add_signed(part.steps()[i] * index)
                                };
                                seen.lock().unwrap().push([at(0), at(1).wrapping_sub(15)]);
                            }
                        });
                    },
                );
                let (mut seen, mut wanted) = (seen.into_inner().unwrap(), walk(loops));
                seen.sort();
                wanted.sort();
                assert_eq!(seen, wanted, "{threads} threads");
            }
        }
    }
}
