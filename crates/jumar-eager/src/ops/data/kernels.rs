//! Kernels that move elements by a rule for each dimension, and that write sequences.

use std::marker::PhantomData;

use jumar_ops::view::{Element, MAX_RANK, Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use crate::view::View;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 14;

/// Creates a kernel for the width of a data type. `None`: elements of the type do not fill integer bytes.
macro_rules! by_width {
    ($dtype:expr, $T:ident => $make:expr) => {
        match $dtype.size() {
            Some(1) => {
                type $T = u8;
                Some(Box::new($make) as Box<dyn jumar_ops::Kernel>)
            }
            Some(2) => {
                type $T = u16;
                Some(Box::new($make) as Box<dyn jumar_ops::Kernel>)
            }
            Some(4) => {
                type $T = u32;
                Some(Box::new($make) as Box<dyn jumar_ops::Kernel>)
            }
            Some(8) => {
                type $T = u64;
                Some(Box::new($make) as Box<dyn jumar_ops::Kernel>)
            }
            Some(16) => {
                type $T = u128;
                Some(Box::new($make) as Box<dyn jumar_ops::Kernel>)
            }
            _ => None,
        }
    };
}

pub(crate) use by_width;

/// Which entry of the input an entry of the output is, along one dimension. `size` below is the input's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The entry at the same index.
    Same,
    /// The entries in the opposite order.
    Flip,
    /// The input repeats: entry `(index + shift) % size`.
    Wrap(usize),
    /// Each entry occurs this many times in a row.
    Each(usize),
    /// Entries before and after the input are mirrored at its first and last entry; the input starts at this index.
    Reflect(i64),
    /// Entries before and after the input equal its first and last entry; the input starts at this index.
    Nearest(i64),
    /// The input repeats before and after itself; it starts at this index.
    Circular(i64),
}

impl Rule {
    /// Returns the entry of the input for an entry of the output.
    pub fn entry(self, index: usize, size: usize) -> usize {
        match self {
            Rule::Same => index,
            Rule::Flip => size - 1 - index,
            Rule::Wrap(shift) => (index + shift) % size,
            Rule::Each(count) => index / count,
            Rule::Reflect(start) => {
                let (last, from) = (size as i64 - 1, (index as i64 - start).abs());
                (last - (last - from).abs()) as usize
            }
            Rule::Nearest(start) => (index as i64 - start).clamp(0, size as i64 - 1) as usize,
            Rule::Circular(start) => (index as i64 - start).rem_euclid(size as i64) as usize,
        }
    }
}

/// Sets each element of the output to an element of the input, by a rule for each dimension.
struct Remap<T> {
    rules: Vec<Rule>,
    types: PhantomData<fn(T)>,
}

/// Creates the kernel that copies elements of input 0 to output 0, which have as many dimensions as there are rules.
pub(crate) fn remap(dtype: DataType, rules: Vec<Rule>) -> Option<Box<dyn Kernel>> {
    by_width!(dtype, T => Remap::<T> { rules, types: PhantomData })
}

/// Calls `body` for the rows `first..first + count` of a shape, with the index of each in all dimensions but the last.
pub(crate) fn rows(dims: &[usize], first: usize, count: usize, mut body: impl FnMut(&[usize])) {
    let outer = dims.len() - 1;
    let mut index = [0; MAX_RANK];
    let mut rest = first;
    for axis in (0..outer).rev() {
        index[axis] = rest % dims[axis];
        rest /= dims[axis];
    }
    for _ in 0..count {
        body(&index[..outer]);
        for axis in (0..outer).rev() {
            index[axis] += 1;
            if index[axis] < dims[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Returns the offset of a row.
fn offset(index: impl Iterator<Item = usize>, strides: &[isize]) -> usize {
    index
        .zip(strides)
        .map(|(index, &stride)| index * stride as usize)
        .sum()
}

impl<T: Element> Remap<T> {
    fn row(&self, from: Row<'_, T>, to: RowMut<'_, T>) {
        let size = from.len();
        match self.rules[self.rules.len() - 1] {
            Rule::Same => to.copy_from(from),
            Rule::Wrap(shift) => {
                let (mut at, mut entry) = (0, shift % size);
                while at < to.len() {
                    let len = (size - entry).min(to.len() - at);
                    to.slice(at, len).copy_from(from.slice(entry, len));
                    (at, entry) = (at + len, 0);
                }
            }
            rule => {
                for index in 0..to.len() {
                    to.set(index, from.get(rule.entry(index, size)));
                }
            }
        }
    }
}

impl<T: Element> Kernel for Remap<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<T>(0)?, call.output::<T>(0)?);
        let (from, to) = (input.shape(), output.shape());
        let last = to.len() - 1;
        if output.is_empty() {
            return Ok(());
        }
        let count = output.len() / to[last];
        let grain = GRAIN.div_ceil(to[last]);
        call.workers().ranges(count, grain, |first, count| {
            rows(to, first, count, |index| {
                let entries = index
                    .iter()
                    .enumerate()
                    .map(|(axis, &index)| self.rules[axis].entry(index, from[axis]));
                let source = offset(entries, input.strides());
                let target = offset(index.iter().copied(), output.strides());
                self.row(
                    input.row(source, from[last], input.strides()[last]),
                    output.row(target, to[last], output.strides()[last]),
                );
            });
        });
        Ok(())
    }
}

/// Copies the elements on one side of a diagonal of matrices, and writes zeros on the other.
struct Triangle<T> {
    diagonal: i64,
    lower: bool,
    types: PhantomData<fn(T)>,
}

/// Creates the kernel of the lower or upper triangle of input 0.
pub(super) fn triangle(dtype: DataType, diagonal: i64, lower: bool) -> Option<Box<dyn Kernel>> {
    by_width!(dtype, T => Triangle::<T> { diagonal, lower, types: PhantomData })
}

impl<T: Element> Kernel for Triangle<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<T>(0)?, call.output::<T>(0)?);
        let dims = output.shape();
        let last = dims.len() - 1;
        if output.is_empty() {
            return Ok(());
        }
        let width = dims[last];
        let grain = GRAIN.div_ceil(width);
        let count = output.len() / width;
        call.workers().ranges(count, grain, |first, count| {
            rows(dims, first, count, |index| {
                let source = offset(index.iter().copied(), input.strides());
                let target = offset(index.iter().copied(), output.strides());
                let from = input.row(source, width, input.strides()[last]);
                let to = output.row(target, width, output.strides()[last]);
                let row = index[last - 1] as i64;
                let edge = row
                    .saturating_add(self.diagonal)
                    .saturating_add(i64::from(self.lower));
                let edge = edge.clamp(0, width as i64) as usize;
                let (keep, clear) = match self.lower {
                    true => ((0, edge), (edge, width - edge)),
                    false => ((edge, width - edge), (0, edge)),
                };
                to.slice(keep.0, keep.1)
                    .copy_from(from.slice(keep.0, keep.1));
                to.slice(clear.0, clear.1).fill(T::default());
            });
        });
        Ok(())
    }
}

/// Writes `start + index * step`.
pub(super) struct IntSequence {
    pub start: i64,
    pub step: i64,
}

impl Kernel for IntSequence {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let output = call.output::<i64>(0)?.flat();
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let way = self.step.wrapping_mul(index as i64);
                output.set(index, self.start.wrapping_add(way));
            }
        });
        Ok(())
    }
}

/// Writes numbers at equal distances: `start + index * step`, counted from `end` in the second half if there is an end.
pub(crate) struct RealSequence {
    pub start: f64,
    pub step: f64,
    pub end: Option<f64>,
}

impl Kernel for RealSequence {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let output = call.output::<f64>(0)?.flat();
        let len = output.len();
        call.workers().ranges(len, GRAIN, |first, count| {
            for index in first..first + count {
                let value = match self.end {
                    Some(end) if index >= len.div_ceil(2) => {
                        end - self.step * (len - 1 - index) as f64
                    }
                    _ => self.start + self.step * index as f64,
                };
                output.set(index, value);
            }
        });
        Ok(())
    }
}

/// Returns the rules of a view whose dimensions all stay as they are.
pub(super) fn same(view: &View) -> Vec<Rule> {
    vec![Rule::Same; view.rank()]
}
