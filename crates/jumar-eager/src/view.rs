//! Tensors of a plan: arguments, intermediate results and constants, seen under any shape and strides.

use jumar_ops::view::{Layout, MAX_RANK};
use jumar_types::dtype::DataType;

/// The memory that a view lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A tensor argument.
    Buffer(usize),
    /// An intermediate result.
    Temporary(usize),
    /// Values that were known when the plan was made. They are never written.
    Constant,
}

/// A tensor of a plan. Copies of it are cheap, and no operation on it moves any data.
///
/// # Units
///
/// Elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) base: Base,
    dtype: DataType,
    offset: usize,
    layout: Layout,
}

impl View {
    pub(crate) fn new(base: Base, dtype: DataType, offset: usize, layout: Layout) -> View {
        View {
            base,
            dtype,
            offset,
            layout,
        }
    }

    /// Returns the element type.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the distance of the first element from the start of the memory.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns shape and strides.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the dimensions.
    pub fn dims(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Returns the strides.
    pub fn strides(&self) -> &[isize] {
        self.layout.strides()
    }

    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims().len()
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// Reports whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.elements() == 0
    }

    /// Reports whether the elements lie side by side in row-major order.
    pub fn is_dense(&self) -> bool {
        self.layout.is_dense()
    }

    /// Views the same bytes as another type of the same width.
    pub fn reinterpret(&self, dtype: DataType) -> View {
        debug_assert_eq!(self.dtype.bits(), dtype.bits());
        View { dtype, ..*self }
    }

    /// Views the real and the imaginary parts of complex elements. `None`: the elements are not complex.
    pub fn parts(&self) -> Option<[View; 2]> {
        let dtype = match self.dtype {
            DataType::Complex32 => DataType::Float16,
            DataType::Complex64 => DataType::Float32,
            DataType::Complex128 => DataType::Float64,
            _ => return None,
        };
        let strides: Vec<isize> = self.strides().iter().map(|stride| stride * 2).collect();
        let layout = Layout::strided(self.dims(), &strides)?;
        let part = |index: usize| View {
            dtype,
            offset: self.offset * 2 + index,
            layout,
            ..*self
        };
        Some([part(0), part(1)])
    }

    /// Views the elements in another arrangement. A layout of dimensions and strides of this view always exists.
    fn arrange(&self, offset: usize, dims: &[usize], strides: &[isize]) -> View {
        let layout = Layout::strided(dims, strides).expect("a part of a view has a layout");
        View {
            offset,
            layout,
            ..*self
        }
    }

    /// Views the dimensions in the order that `order` lists, each once.
    pub fn permute(&self, order: &[usize]) -> View {
        let (mut dims, mut strides) = ([0; MAX_RANK], [0; MAX_RANK]);
        for (to, &from) in order.iter().enumerate() {
            (dims[to], strides[to]) = (self.dims()[from], self.strides()[from]);
        }
        self.arrange(self.offset, &dims[..order.len()], &strides[..order.len()])
    }

    /// Swaps two dimensions.
    pub fn transpose(&self, one: usize, two: usize) -> View {
        let mut order: [usize; MAX_RANK] = std::array::from_fn(|axis| axis);
        order.swap(one, two);
        self.permute(&order[..self.rank()])
    }

    /// Views `len` entries of a dimension, from `start` on, every `step`th. All of them lie inside.
    pub fn slice(&self, axis: usize, start: usize, len: usize, step: usize) -> View {
        let (mut dims, mut strides) = ([0; MAX_RANK], [0; MAX_RANK]);
        let rank = self.rank();
        dims[..rank].copy_from_slice(self.dims());
        strides[..rank].copy_from_slice(self.strides());
        let offset = match len {
            0 => self.offset,
            _ => {
                assert!(
                    start + (len - 1) * step < dims[axis],
                    "a slice inside the dimension"
                );
                self.offset
                    .wrapping_add_signed(start as isize * strides[axis])
            }
        };
        dims[axis] = len;
        strides[axis] *= step as isize;
        self.arrange(offset, &dims[..rank], &strides[..rank])
    }

    /// Views one entry of a dimension, without the dimension.
    pub fn select(&self, axis: usize, index: usize) -> View {
        self.slice(axis, index, 1, 1).squeeze(axis)
    }

    /// Views the elements `[.., i, i + offset]` of the last two dimensions, in place of these dimensions.
    pub fn diagonal(&self, offset: i64) -> View {
        let last = self.rank() - 1;
        let away = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let (up, left) = if offset < 0 { (away, 0) } else { (0, away) };
        let rows = self.dims()[last - 1].saturating_sub(up);
        let columns = self.dims()[last].saturating_sub(left);
        let len = rows.min(columns);
        let start = if len == 0 { (0, 0) } else { (up, left) };
        let part = self
            .slice(last - 1, start.0, len, 1)
            .slice(last, start.1, len, 1);
        let (mut dims, mut strides) = (part.dims().to_vec(), part.strides().to_vec());
        dims.pop();
        strides[last - 1] += strides[last];
        strides.pop();
        self.arrange(part.offset, &dims, &strides)
    }

    /// Removes a dimension of size 1.
    pub fn squeeze(&self, axis: usize) -> View {
        assert_eq!(self.dims()[axis], 1, "a dimension of size 1");
        let mut order = [0; MAX_RANK];
        let mut rank = 0;
        for own in (0..self.rank()).filter(|&own| own != axis) {
            order[rank] = own;
            rank += 1;
        }
        self.permute(&order[..rank])
    }

    /// Inserts a dimension of size 1. The view has fewer than 8 dimensions.
    pub fn unsqueeze(&self, axis: usize) -> View {
        let (mut dims, mut strides) = (self.dims().to_vec(), self.strides().to_vec());
        dims.insert(axis, 1);
        strides.insert(axis, 0);
        self.arrange(self.offset, &dims, &strides)
    }

    /// Repeats the view up to a shape, by the rules of broadcasting. `None`: the shapes do not fit.
    pub fn expand(&self, to: &[usize]) -> Option<View> {
        if self.dims() == to {
            return Some(*self);
        }
        if to.len() > MAX_RANK {
            return None;
        }
        let missing = to.len().checked_sub(self.rank())?;
        let mut strides = [0; MAX_RANK];
        for (axis, &dim) in self.dims().iter().enumerate() {
            if dim == to[missing + axis] {
                strides[missing + axis] = self.strides()[axis];
            } else if dim != 1 {
                return None;
            }
        }
        let layout = Layout::strided(to, &strides[..to.len()])?;
        Some(View { layout, ..*self })
    }

    /// Views the elements under another shape of as many elements, if strides can express it.
    pub fn reshape(&self, to: &[usize]) -> Option<View> {
        if to
            .iter()
            .try_fold(1usize, |all, &dim| all.checked_mul(dim))?
            != self.elements()
        {
            return None;
        }
        if self.is_dense() {
            let layout = Layout::dense(to)?;
            return Some(View { layout, ..*self });
        }
        // Dimensions of size 1 have no stride of their own.
        let mut groups: Vec<(usize, isize)> = Vec::with_capacity(MAX_RANK);
        for (&dim, &stride) in self.dims().iter().zip(self.strides()) {
            match groups.last_mut() {
                _ if dim == 1 => {}
                Some((size, inner)) if *inner == stride * dim as isize => {
                    *size *= dim;
                    *inner = stride;
                }
                _ => groups.push((dim, stride)),
            }
        }
        let mut strides = vec![0isize; to.len()];
        let mut groups = groups.into_iter().rev();
        let (mut left, mut stride) = groups.next()?;
        for axis in (0..to.len()).rev() {
            if to[axis] == 1 {
                continue;
            }
            if left == 1 {
                (left, stride) = groups.next()?;
            }
            if left % to[axis] != 0 {
                return None;
            }
            strides[axis] = stride;
            stride *= to[axis] as isize;
            left /= to[axis];
        }
        let layout = Layout::strided(to, &strides)?;
        Some(View { layout, ..*self })
    }
}

/// Returns the shape that two shapes are broadcast to. `None`: they do not fit.
pub(crate) fn broadcast(one: &[usize], two: &[usize]) -> Option<([usize; MAX_RANK], usize)> {
    let rank = one.len().max(two.len());
    let mut dims = [1; MAX_RANK];
    for (axis, size) in dims.iter_mut().enumerate().take(rank) {
        let dim = |own: &[usize]| {
            (axis + own.len())
                .checked_sub(rank)
                .map_or(1, |axis| own[axis])
        };
        *size = match (dim(one), dim(two)) {
            (1, other) => other,
            (own, 1) => own,
            (own, other) if own == other => own,
            _ => return None,
        };
    }
    Some((dims, rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(dims: &[usize]) -> View {
        View::new(
            Base::Buffer(0),
            DataType::Float32,
            0,
            Layout::dense(dims).unwrap(),
        )
    }

    /// The element of the memory that each element of the view is, in row-major order.
    fn elements(view: &View) -> Vec<usize> {
        let mut seen = vec![view.offset()];
        for (&dim, &stride) in view.dims().iter().zip(view.strides()) {
            seen = seen
                .iter()
                .flat_map(|&at| (0..dim).map(move |index| at + index * stride as usize))
                .collect();
        }
        seen
    }

    #[test]
    fn views_name_the_elements_that_numpy_names() {
        let cube = dense(&[2, 3, 4]);
        assert_eq!(elements(&cube.transpose(0, 2))[..4], [0, 12, 4, 16]);
        assert_eq!(elements(&cube.slice(2, 1, 2, 2))[..4], [1, 3, 5, 7]);
        assert_eq!(elements(&cube.select(1, 2)), [8, 9, 10, 11, 20, 21, 22, 23]);
        assert_eq!(cube.unsqueeze(1).dims(), [2, 1, 3, 4]);
        let row = dense(&[3, 1]).expand(&[2, 3, 2]).unwrap();
        assert_eq!(elements(&row), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
        assert_eq!(dense(&[3]).expand(&[2]), None);
    }

    #[test]
    fn a_reshape_keeps_the_order_of_elements_or_is_refused() {
        let cube = dense(&[2, 3, 4]);
        let columns = cube.slice(2, 0, 2, 2);
        for (view, shape, possible) in [
            (cube, vec![6, 4], true),
            (cube.transpose(0, 1), vec![3, 8], false),
            (cube.transpose(0, 1), vec![3, 2, 2, 2], true),
            (columns, vec![12], true),
            (columns, vec![2, 1, 6], true),
            (cube.slice(2, 0, 3, 1), vec![6, 3], true),
            (cube.slice(2, 0, 3, 1), vec![18], false),
            (cube, vec![5], false),
        ] {
            let reshaped = view.reshape(&shape);
            assert_eq!(reshaped.is_some(), possible, "{view:?} {shape:?}");
            if let Some(reshaped) = reshaped {
                assert_eq!(elements(&reshaped), elements(&view));
            }
        }
    }

    #[test]
    fn shapes_are_broadcast_from_the_last_dimension_on() {
        let both = |one: &[usize], two: &[usize]| {
            broadcast(one, two).map(|(dims, rank)| dims[..rank].to_vec())
        };
        assert_eq!(both(&[2, 1, 4], &[3, 1]), Some(vec![2, 3, 4]));
        assert_eq!(both(&[], &[5]), Some(vec![5]));
        assert_eq!(both(&[0], &[1]), Some(vec![0]));
        assert_eq!(both(&[2], &[3]), None);
    }
}
