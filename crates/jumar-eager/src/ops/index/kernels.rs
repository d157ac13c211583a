//! Kernels that compute positions from indices, and that read and write elements at positions.
//!
//! A position is the index of an element, or of a row of them, in a dense tensor, as int64. It was checked to lie inside. A
//! negative position stands for none: nothing is written there, and zeros are read.

use std::marker::PhantomData;
use std::sync::OnceLock;

use jumar_ops::view::{BF16, Bool8, Element, F16};
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use crate::ops::data::kernels::{by_width, rows};

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 13;

/// Stands for no index where there are fewer than there is space for.
pub(super) const NONE: i64 = i64::MIN;

pub(super) fn data(text: String) -> OpError {
    OpError::new(OpErrorKind::Data, text)
}

/// Returns an index that may count from the end as one that counts from the start. `None`: it lies outside.
fn inside(index: i64, size: usize) -> Option<usize> {
    let own = usize::try_from(index.checked_add(if index < 0 { size as i64 } else { 0 })?).ok()?;
    (own < size).then_some(own)
}

/// An element whose index lies outside, if there is one: that which a thread found first.
struct IndexOutOfRange(OnceLock<usize>);

impl IndexOutOfRange {
    fn new() -> IndexOutOfRange {
        IndexOutOfRange(OnceLock::new())
    }

    fn note(&self, element: usize) {
        // Another thread's element serves as well.
        let _ = self.0.set(element);
    }

    fn found(&self) -> Option<usize> {
        self.0.get().copied()
    }
}

fn refuse(operator: &str, index: i64, size: usize) -> OpError {
    data(format!(
        "{operator}: the index {index} lies outside a dimension of {size} entries; it must be between -{size} and {}",
        size as i64 - 1
    ))
}

/// Joins one index a dimension to positions in row-major order.
pub(super) struct Locate {
    pub operator: &'static str,
    /// The size of each dimension.
    pub dims: Vec<usize>,
    /// Whether [`NONE`] stands for no index.
    pub padded: bool,
}

impl Locate {
    fn is_none(&self, index: i64) -> bool {
        self.padded && index == NONE
    }
}

impl Kernel for Locate {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let output = call.output::<i64>(0)?.flat();
        let mut indices = Vec::with_capacity(self.dims.len());
        for input in 0..self.dims.len() {
            indices.push(call.input::<i64>(input)?.flat());
        }
        let outside = IndexOutOfRange::new();
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for element in first..first + count {
                let mut position = Some(0);
                for (index, &size) in indices.iter().zip(&self.dims) {
                    let index = index.get(element);
                    position = match inside(index, size) {
                        Some(own) => position.map(|position| position * size + own),
                        None => {
                            if !self.is_none(index) {
                                outside.note(element);
                            }
                            None
                        }
                    };
                }
                output.set(element, position.map_or(-1, |position| position as i64));
            }
        });
        let Some(element) = outside.found() else {
            return Ok(());
        };
        for (index, &size) in indices.iter().zip(&self.dims) {
            let index = index.get(element);
            if !self.is_none(index) && inside(index, size).is_none() {
                return Err(refuse(self.operator, index, size));
            }
        }
        Ok(())
    }
}

/// Computes positions in a tensor from its index along one dimension; the index along the others is the element's own.
pub(super) struct Along {
    pub operator: &'static str,
    /// The shape of the tensor that positions point into.
    pub dims: Vec<usize>,
    pub axis: usize,
    /// Whether an index outside stands for none, and negative indices do not count from the end.
    pub lenient: bool,
}

impl Kernel for Along {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<i64>(0)?, call.output::<i64>(0)?);
        let shape = output.shape();
        if output.is_empty() {
            return Ok(());
        }
        let last = shape.len() - 1;
        let mut strides = vec![1usize; self.dims.len()];
        for axis in (0..last).rev() {
            strides[axis] = strides[axis + 1] * self.dims[axis + 1];
        }
        let (width, size, outside) = (shape[last], self.dims[self.axis], IndexOutOfRange::new());
        let (from, to) = (input.flat(), output.flat());
        let (count, grain) = (output.len() / width, GRAIN.div_ceil(width));
        call.workers().ranges(count, grain, |first, count| {
            let mut row = first;
            rows(shape, first, count, |outer| {
                let mut base = 0;
                for (axis, &index) in outer.iter().enumerate() {
                    base += if axis == self.axis {
                        0
                    } else {
                        index * strides[axis]
                    };
                }
                for column in 0..width {
                    let element = row * width + column;
                    let own = if self.axis == last { 0 } else { column };
                    let index = from.get(element);
                    let named = match self.lenient && index < 0 {
                        true => None,
                        false => inside(index, size),
                    };
                    let position = match named {
                        Some(index) => (base + own + index * strides[self.axis]) as i64,
                        None => {
                            outside.note(element);
                            -1
                        }
                    };
                    to.set(element, position);
                }
                row += 1;
            });
        });
        match outside.found() {
            Some(element) if !self.lenient => Err(refuse(self.operator, from.get(element), size)),
            _ => Ok(()),
        }
    }
}

/// How the coordinates of true elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The coordinates of an element side by side.
    ByElement,
    /// The coordinates of a dimension side by side, as many as there are true elements.
    ByDimension,
    /// The coordinates of a dimension side by side, with space for as many as the output has.
    Spaced,
}

/// Writes the coordinates of the true elements of input 0 to output 0, and to output 1 a shape that depends on their number.
pub(super) struct Trues {
    pub operator: &'static str,
    /// The dimensions that coordinates count in.
    pub dims: Vec<usize>,
    pub order: Order,
    /// How many true elements there is space for.
    pub capacity: usize,
    /// Whether there must be as many as there is space for.
    pub exact: bool,
    /// What fills the rest.
    pub rest: i64,
    /// The shape that is reported; `None` is the number of true elements.
    pub report: Vec<Option<i64>>,
}

impl Kernel for Trues {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (mask, output) = (
            call.input::<Bool8>(0)?.flat(),
            call.output::<i64>(0)?.flat(),
        );
        let count = mask.fold(0usize, |count, element| count + usize::from(element.get()));
        if count > self.capacity || (self.exact && count != self.capacity) {
            return Err(data(format!(
                "{}: the mask is true for {count} elements; the other tensors have {} of them",
                self.operator, self.capacity
            )));
        }
        let rank = self.dims.len();
        output.fill(self.rest);
        let mut next = 0;
        for element in 0..mask.len() {
            if !mask.get(element).get() {
                continue;
            }
            let mut left = element;
            for axis in (0..rank).rev() {
                let slot = match self.order {
                    Order::ByElement => next * rank + axis,
                    Order::ByDimension => axis * count + next,
                    Order::Spaced => axis * self.capacity + next,
                };
                output.set(slot, (left % self.dims[axis]) as i64);
                left /= self.dims[axis];
            }
            next += 1;
        }
        if !self.report.is_empty() {
            let report = call.output::<i64>(1)?.flat();
            for (slot, dim) in self.report.iter().enumerate() {
                report.set(slot, dim.unwrap_or(count as i64));
            }
        }
        Ok(())
    }
}

/// Tensors seen as `[outer, size, row]`, of whose middle dimension positions name entries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub outer: usize,
    pub size: usize,
    pub row: usize,
}

/// Reads the rows at positions: `out[o, i] = in[o, position[i]]`.
struct Take<T> {
    blocks: Blocks,
    types: PhantomData<fn(T)>,
}

/// Creates the kernel that reads rows. Its inputs are the tensor and the positions; all operands are dense.
pub(super) fn take(dtype: DataType, blocks: Blocks) -> Option<Box<dyn Kernel>> {
    by_width!(dtype, T => Take::<T> { blocks, types: PhantomData })
}

impl<T: Element> Kernel for Take<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let positions = call.input::<i64>(1)?.flat();
        let (Blocks { outer, size, row }, len) = (self.blocks, positions.len());
        let grain = GRAIN.div_ceil(row.max(1));
        call.workers().ranges(outer * len, grain, |first, count| {
            for entry in first..first + count {
                let target = to.slice(entry * row, row);
                match usize::try_from(positions.get(entry % len)) {
                    Ok(position) => {
                        target.copy_from(from.slice((entry / len * size + position) * row, row));
                    }
                    Err(_) => target.fill(T::default()),
                }
            }
        });
        Ok(())
    }
}

/// What is done with an element and the value for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Set,
    Add,
    Multiply,
}

/// A type that values are added and multiplied in.
trait Number: Element {
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($($type:ty: $a:ident $b:ident, $add:expr, $multiply:expr;)*) => {$(
        impl Number for $type {
            fn add(self, other: $type) -> $type { let ($a, $b) = (self, other); $add }
            fn multiply(self, other: $type) -> $type { let ($a, $b) = (self, other); $multiply }
        }
    )*};
}

numbers! {
    f32: a b, a + b, a * b;
    f64: a b, a + b, a * b;
    F16: a b, a + b, a * b;
    BF16: a b, a + b, a * b;
    i8: a b, a.wrapping_add(b), a.wrapping_mul(b);
    i16: a b, a.wrapping_add(b), a.wrapping_mul(b);
    i32: a b, a.wrapping_add(b), a.wrapping_mul(b);
    i64: a b, a.wrapping_add(b), a.wrapping_mul(b);
    u8: a b, a.wrapping_add(b), a.wrapping_mul(b);
    u16: a b, a.wrapping_add(b), a.wrapping_mul(b);
    u32: a b, a.wrapping_add(b), a.wrapping_mul(b);
    u64: a b, a.wrapping_add(b), a.wrapping_mul(b);
    Bool8: a b, (a.get() | b.get()).into(), (a.get() & b.get()).into();
}

/// Writes the rows at positions, one after the other: `out[o, position[i]] = in[o, i]`.
struct Put<T> {
    blocks: Blocks,
    update: fn(T, T) -> T,
}

/// Creates the kernel that writes rows, of which output 0 has the earlier values. Its inputs are the values and the positions;
/// all operands are dense. `None`: elements of the type cannot be updated so.
pub(super) fn put(dtype: DataType, update: Update, blocks: Blocks) -> Option<Box<dyn Kernel>> {
    if update == Update::Set {
        return by_width!(dtype, T => Put::<T> { blocks, update: |_, value| value });
    }
    match dtype {
        DataType::Float32 => Some(combined::<f32>(update, blocks)),
        DataType::Float64 => Some(combined::<f64>(update, blocks)),
        DataType::Float16 => Some(combined::<F16>(update, blocks)),
        DataType::BFloat16 => Some(combined::<BF16>(update, blocks)),
        DataType::Int8 => Some(combined::<i8>(update, blocks)),
        DataType::Int16 => Some(combined::<i16>(update, blocks)),
        DataType::Int32 => Some(combined::<i32>(update, blocks)),
        DataType::Int64 => Some(combined::<i64>(update, blocks)),
        DataType::UInt8 => Some(combined::<u8>(update, blocks)),
        DataType::UInt16 => Some(combined::<u16>(update, blocks)),
        DataType::UInt32 => Some(combined::<u32>(update, blocks)),
        DataType::UInt64 => Some(combined::<u64>(update, blocks)),
        DataType::Bool => Some(combined::<Bool8>(update, blocks)),
        _ => None,
    }
}

fn combined<T: Number>(update: Update, blocks: Blocks) -> Box<dyn Kernel> {
    let update = match update {
        Update::Set => |_, value| value,
        Update::Add => T::add,
        Update::Multiply => T::multiply,
    };
    Box::new(Put::<T> { blocks, update })
}

impl<T: Element> Kernel for Put<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let positions = call.input::<i64>(1)?.flat();
        let (Blocks { outer, size, row }, len) = (self.blocks, positions.len());
        // Two values may go to one position, so that the blocks are shared among threads and not the positions.
        let grain = GRAIN.div_ceil((len * row).max(1));
        call.workers().ranges(outer, grain, |first, count| {
            for block in first..first + count {
                for entry in 0..len {
                    let Ok(position) = usize::try_from(positions.get(entry)) else {
                        continue;
                    };
                    let target = to.slice((block * size + position) * row, row);
                    target.update(from.slice((block * len + entry) * row, row), self.update);
                }
            }
        });
        Ok(())
    }
}
