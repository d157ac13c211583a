//! Typed tensors in a region.

use std::marker::PhantomData;

use jumar_types::dtype::DataType;

use super::row::part_inside;
use super::{Element, Region, Row, RowMut};
use crate::OpError;

/// The most dimensions a tensor in memory can have, as in ACL.
pub const MAX_RANK: usize = 8;

/// Where the elements of a tensor lie, counted from its first.
///
/// # Units
///
/// Dimensions and strides in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    rank: u8,
    dims: [usize; MAX_RANK],
    strides: [isize; MAX_RANK],
    elements: usize,
    /// Elements from the first to one past the last that can be reached.
    reach: usize,
}

impl Layout {
    /// Lays a shape out densely, last dimension fastest. `None`: more than [`MAX_RANK`] dimensions, or too large.
    pub fn dense(shape: &[usize]) -> Option<Layout> {
        let mut strides = [0isize; MAX_RANK];
        if shape.len() > MAX_RANK {
            return None;
        }
        let mut step: usize = 1;
        for (stride, &dim) in strides[..shape.len()].iter_mut().zip(shape).rev() {
            *stride = isize::try_from(step).ok()?;
            step = step.checked_mul(dim.max(1))?;
        }
        Layout::strided(shape, &strides[..shape.len()])
    }

    /// Lays a shape out with given strides, none of them negative. `None`: too many dimensions, lengths that differ,
    /// or too large.
    pub fn strided(shape: &[usize], strides: &[isize]) -> Option<Layout> {
        if shape.len() > MAX_RANK || shape.len() != strides.len() {
            return None;
        }
        let mut layout = Layout {
            rank: shape.len() as u8,
            dims: [1; MAX_RANK],
            strides: [0; MAX_RANK],
            elements: 1,
            reach: 1,
        };
        for (axis, (&dim, &stride)) in shape.iter().zip(strides).enumerate() {
            layout.dims[axis] = dim;
            layout.strides[axis] = stride;
            layout.elements = layout.elements.checked_mul(dim)?;
            let stride = usize::try_from(stride).ok()?;
            layout.reach = layout
                .reach
                .checked_add(dim.saturating_sub(1).checked_mul(stride)?)?;
        }
        if layout.elements == 0 {
            layout.reach = 0;
        }
        // Half the address space bounds every later sum of offsets.
        (layout.reach <= isize::MAX as usize / 32).then_some(layout)
    }

    /// Returns the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.dims[..usize::from(self.rank)]
    }

    /// Returns the strides, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides[..usize::from(self.rank)]
    }

    /// Returns the number of elements.
    pub const fn elements(&self) -> usize {
        self.elements
    }

    /// Returns the number of elements from the first to one past the last that can be reached.
    pub const fn reach(&self) -> usize {
        self.reach
    }

    /// Returns the elements from one entry of the first dimension to the next, where each entry lies densely by itself. `None`:
    /// some entry does not.
    pub fn batch_stride(&self) -> Option<usize> {
        let mut step = 1isize;
        for (&dim, &stride) in self.shape().iter().zip(self.strides()).skip(1).rev() {
            if dim > 1 && stride != step && self.elements != 0 {
                return None;
            }
            step *= dim.max(1) as isize;
        }
        match self.strides().first() {
            Some(&stride) if self.dims[0] > 1 && self.elements != 0 => usize::try_from(stride).ok(),
            _ => usize::try_from(step).ok(),
        }
    }

    /// Returns whether the elements lie densely, last dimension fastest.
    pub fn is_dense(&self) -> bool {
        let mut step = 1isize;
        for (&dim, &stride) in self.shape().iter().zip(self.strides()).rev() {
            if dim != 1 && stride != step {
                return self.elements == 0;
            }
            step *= dim.max(1) as isize;
        }
        true
    }
}

/// A tensor that can be read.
#[derive(Clone, Copy)]
pub struct View<'a, T> {
    first: *const T,
    layout: &'a Layout,
    memory: PhantomData<&'a [u8]>,
}

/// A tensor that can be written. Copies of it may exist, and others may write the same memory.
#[derive(Clone, Copy)]
pub struct ViewMut<'a, T> {
    first: *mut T,
    layout: &'a Layout,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: an address of plain elements whose bits are copied in and out; a concurrent writer of the same memory, be it
// another part of the kernel or the program under test, changes values only. The memory outlives `'a` for every thread.
unsafe impl<T: Element> Send for View<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for View<'_, T> {}

// SAFETY: an address of plain elements whose bits are copied in and out; a concurrent writer of the same memory, be it
// another part of the kernel or the program under test, changes values only. The memory outlives `'a` for every thread.
unsafe impl<T: Element> Send for ViewMut<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Element> Sync for ViewMut<'_, T> {}

impl<'a, T: Element> View<'a, T> {
    /// Lays a tensor over a region, or says why it does not fit.
    pub fn new(region: Region<'a>, layout: &'a Layout) -> Result<View<'a, T>, OpError> {
        check::<T>(&region, layout)?;
        Ok(View {
            first: region.base().cast::<T>(),
            layout,
            memory: PhantomData,
        })
    }

    /// Returns shape and strides.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Returns the dimensions.
    pub fn shape(&self) -> &'a [usize] {
        self.layout.shape()
    }

    /// Returns the strides, in elements.
    pub fn strides(&self) -> &'a [isize] {
        self.layout.strides()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.layout.elements()
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sees a densely laid out tensor as one row of all its elements. Panics where it is not dense: a kernel that
    /// needs this checks it when it is prepared.
    pub fn flat(&self) -> Row<'a, T> {
        assert!(self.layout.is_dense(), "a dense tensor");
        // SAFETY: `new` proved that `reach` elements are readable; a dense layout reaches `elements`.
        unsafe { Row::new(self.first, self.layout.elements(), 1) }
    }

    /// Sees all from the first element to the last as one row, with what lies between the entries of the first dimension,
    /// and returns how many elements there are from one entry to the next. Panics where an entry is not dense: a kernel says
    /// which of its operands may lie so ([`Kernel::accepts_batch_stride`](crate::Kernel::accepts_batch_stride)).
    pub fn spread(&self) -> (Row<'a, T>, usize) {
        let batch_stride = self.layout.batch_stride();
        let batch_stride =
            batch_stride.unwrap_or_else(|| panic!("{:?} has no dense entries", self.layout));
        (self.span(), batch_stride)
    }

    /// Sees all from the first element to the last as one row, with what lies between the elements of the tensor.
    pub fn span(&self) -> Row<'a, T> {
        self.row(0, self.layout.reach(), 1)
    }

    /// Cuts `len` elements out, from offset `start` on, every `step`th. Panics outside the tensor.
    #[inline]
    pub fn row(&self, start: usize, len: usize, step: isize) -> Row<'a, T> {
        let inside = part_inside(start, len, step, self.layout.reach());
        if !inside {
            outside(start, len, step, self.layout.reach());
        }
        // SAFETY: each offset lies below `reach` by the check, and `new` proved `reach` elements readable.
        unsafe { Row::new(self.first.wrapping_add(start), len, step) }
    }
}

impl<'a, T: Element> ViewMut<'a, T> {
    /// Lays a tensor over a region, or says why it does not fit.
    pub fn new(region: Region<'a>, layout: &'a Layout) -> Result<ViewMut<'a, T>, OpError> {
        if !region.is_writable() {
            return Err(OpError::internal("an output is in read-only memory"));
        }
        check::<T>(&region, layout)?;
        Ok(ViewMut {
            first: region.base().cast::<T>(),
            layout,
            memory: PhantomData,
        })
    }

    /// Sees the tensor as one that is only read.
    pub fn as_view(&self) -> View<'a, T> {
        View {
            first: self.first,
            layout: self.layout,
            memory: PhantomData,
        }
    }

    /// Returns shape and strides.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// Returns the dimensions.
    pub fn shape(&self) -> &'a [usize] {
        self.layout.shape()
    }

    /// Returns the strides, in elements.
    pub fn strides(&self) -> &'a [isize] {
        self.layout.strides()
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.layout.elements()
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sees a densely laid out tensor as one row of all its elements. Panics where it is not dense.
    pub fn flat(&self) -> RowMut<'a, T> {
        assert!(self.layout.is_dense(), "a dense tensor");
        // SAFETY: `new` proved that `reach` elements are readable and writable; a dense layout reaches `elements`.
        unsafe { RowMut::new(self.first, self.layout.elements(), 1) }
    }

    /// Sees all from the first element to the last as one row, as the view that is read does. Panics where an entry of
    /// the first dimension is not dense.
    pub fn spread(&self) -> (RowMut<'a, T>, usize) {
        let batch_stride = self.layout.batch_stride();
        let batch_stride =
            batch_stride.unwrap_or_else(|| panic!("{:?} has no dense entries", self.layout));
        (self.row(0, self.layout.reach(), 1), batch_stride)
    }

    /// Cuts `len` elements out, from offset `start` on, every `step`th. Panics outside the tensor.
    #[inline]
    pub fn row(&self, start: usize, len: usize, step: isize) -> RowMut<'a, T> {
        let inside = part_inside(start, len, step, self.layout.reach());
        if !inside {
            outside(start, len, step, self.layout.reach());
        }
        // SAFETY: each offset lies below `reach` by the check, and `new` proved `reach` elements writable.
        unsafe { RowMut::new(self.first.wrapping_add(start), len, step) }
    }
}

impl<'a> Region<'a> {
    /// Sees the first `len` elements of the region as a row. `None`: it is too short, or may not be written.
    pub fn scratch<T: Element>(&self, len: usize) -> Option<RowMut<'a, T>> {
        let fits = len
            .checked_mul(size_of::<T>())
            .is_some_and(|bytes| bytes <= self.bytes());
        // SAFETY: the region is mapped for `'a`, writable, and holds `len` elements.
        (fits && self.is_writable())
            .then(|| unsafe { RowMut::new(self.base().cast::<T>(), len, 1) })
    }
}

/// Out of line, so that the loops stay small.
#[cold]
#[inline(never)]
fn outside(start: usize, len: usize, step: isize, reach: usize) -> ! {
    panic!("{len} elements from {start} on by {step}, of a tensor that reaches {reach}");
}

fn check<T: Element>(region: &Region<'_>, layout: &Layout) -> Result<(), OpError> {
    let needed = layout.reach().checked_mul(size_of::<T>());
    match needed {
        Some(bytes) if bytes <= region.bytes() => Ok(()),
        _ => Err(OpError::buffer(format!(
            "a tensor of shape {:?} and type {} does not fit a buffer of {} bytes",
            layout.shape(),
            T::DTYPE.map_or("raw", DataType::name),
            region.bytes()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Block;
    use super::*;

    #[test]
    fn a_view_that_does_not_fit_is_refused() {
        let mut block = Block::zeroed(4 * 6);
        let fits = Layout::dense(&[2, 3]).unwrap();
        let larger = Layout::dense(&[2, 4]).unwrap();
        assert!(View::<f32>::new(block.region(), &fits).is_ok());
        assert!(View::<f32>::new(block.region(), &larger).is_err());
        assert!(View::<f64>::new(block.region(), &fits).is_err());
        assert!(ViewMut::<f32>::new(Region::shared(&[0; 24]), &fits).is_err());
    }

    #[test]
    fn rows_outside_the_tensor_panic_instead_of_reading() {
        let mut block = Block::zeroed(4 * 6);
        let layout = Layout::dense(&[2, 3]).unwrap();
        let view = View::<f32>::new(block.region(), &layout).unwrap();
        for (start, len, step) in [
            (0, 7, 1),
            (5, 2, 1),
            (0, 4, 2),
            (1, 3, -1),
            (6, 1, 1),
            (0, usize::MAX, 2),
        ] {
            let row = std::panic::catch_unwind(|| view.row(start, len, step).len());
            assert!(row.is_err(), "{start} {len} {step}");
        }
        assert_eq!(view.row(5, 6, -1).len(), 6);
        assert_eq!(view.row(99, 0, 1).len(), 0);
    }

    #[test]
    fn a_row_mapped_onto_itself_sees_its_old_values() {
        let mut block = Block::zeroed(4 * 100);
        let layout = Layout::dense(&[100]).unwrap();
        let view = ViewMut::<i32>::new(block.region(), &layout).unwrap().flat();
        for index in 0..100 {
            view.set(index, index as i32);
        }
        view.map1(view.as_row(), |x| x * 2);
        view.update(view.as_row(), |own, other| own + other);
        assert!((0..100).all(|index| view.get(index) == 4 * index as i32));
    }

    #[test]
    fn entries_of_the_first_dimension_may_be_strided() {
        let batch_stride = |shape: &[usize], strides: &[isize]| {
            Layout::strided(shape, strides).and_then(|layout| layout.batch_stride())
        };
        assert_eq!(batch_stride(&[2, 3, 4], &[12, 4, 1]), Some(12));
        assert_eq!(batch_stride(&[2, 3, 4], &[40, 4, 1]), Some(40));
        assert_eq!(batch_stride(&[2, 3, 4], &[0, 4, 1]), Some(0));
        assert_eq!(batch_stride(&[2, 3, 4], &[40, 5, 1]), None);
        assert_eq!(batch_stride(&[2, 3, 1], &[40, 1, 7]), Some(40));
        assert_eq!(batch_stride(&[1, 3, 4], &[40, 4, 1]), Some(12));
        assert_eq!(batch_stride(&[2, 0, 4], &[40, 9, 9]), Some(4));
        assert_eq!(batch_stride(&[5], &[2]), Some(2));
        assert_eq!(batch_stride(&[], &[]), Some(1));
        let mut block = Block::zeroed(4 * 52);
        let layout = Layout::strided(&[2, 3, 4], &[40, 4, 1]).unwrap();
        let view = ViewMut::<f32>::new(block.region(), &layout).unwrap();
        let (row, batch_stride) = view.spread();
        assert_eq!((row.len(), batch_stride), (52, 40));
        assert!(std::panic::catch_unwind(|| view.flat().len()).is_err());
    }

    #[test]
    fn shapes_too_large_or_too_deep_have_no_layout() {
        assert!(Layout::dense(&[1; 9]).is_none());
        assert!(Layout::dense(&[usize::MAX, 2]).is_none());
        assert!(Layout::dense(&[1 << 40, 1 << 40]).is_none());
        let empty = Layout::dense(&[4, 0, 3]).unwrap();
        assert_eq!((empty.elements(), empty.reach()), (0, 0));
        assert!(empty.is_dense());
    }
}
