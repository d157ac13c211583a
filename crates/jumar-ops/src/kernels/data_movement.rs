//! Kernels that only move elements.

use jumar_types::dtype::DataType;

use super::loops::{Loops, dense_strides};
use super::number::for_width;
use super::reduce::Join;
use crate::view::{Element, Row};
use crate::{Call, Kernel, OpError, OutputView, PrepareCx};

struct Copy<T> {
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Copy<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        call.output::<T>(0)?
            .flat()
            .copy_from(call.input::<T>(0)?.flat());
        Ok(())
    }
}

/// Makes a kernel that copies input 0 as it is, whatever the shape of the output.
pub(crate) fn copy(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    for_width!(cx.dtype(0)?, T => Ok(Box::new(Copy::<T> { types: std::marker::PhantomData }) as Box<dyn Kernel>))
}

/// Elements that are worth a thread's trouble.
const GRAIN: usize = 1 << 13;

/// A walk over input 0 with strides, written densely.
struct Pick<T> {
    loops: Loops<2>,
    start: usize,
    /// The strides of the output's own dimensions; none where it is seen under another shape.
    strides: Option<Vec<isize>>,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Pick<T> {
    fn as_view_of_input(&self, _output: usize) -> Option<OutputView> {
        let strides = self.strides.clone()?;
        Some(OutputView {
            start: self.start,
            strides,
        })
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?, call.output::<T>(0)?);
        let [to_step, from_step] = self.loops.steps();
        let start = [0, self.start];
        self.loops
            .share(start, call.workers(), GRAIN, |loops, start| {
                let len = loops.row();
                loops.each(start, |[to, from]| {
                    out.row(to, len, to_step)
                        .copy_from(input.row(from, len, from_step));
                });
            });
        Ok(())
    }
}

/// Makes a kernel that writes the output densely from a walk over the input: offset and a stride a dimension.
pub(crate) fn pick(
    cx: &PrepareCx<'_>,
    start: usize,
    strides: &[isize],
) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.output_shape(0)?;
    let loops = Loops::new(shape, [&dense_strides(shape), strides]);
    for_width!(cx.dtype(0)?, T => {
        Ok(Box::new(Pick::<T> {
            loops,
            start,
            strides: Some(strides.to_vec()),
            types: std::marker::PhantomData,
        }) as Box<dyn Kernel>)
    })
}

/// Integers of either index type.
pub(crate) enum Indices<'a> {
    /// int32.
    Int32(Row<'a, i32>),
    /// int64.
    Int64(Row<'a, i64>),
}

impl<'a> Indices<'a> {
    /// Sees an input as integers.
    pub fn of(call: &Call<'a>, input: usize, dtype: DataType) -> Result<Indices<'a>, OpError> {
        Ok(match dtype {
            DataType::Int32 => Indices::Int32(call.input::<i32>(input)?.flat()),
            _ => Indices::Int64(call.input::<i64>(input)?.flat()),
        })
    }

    /// Returns one of them.
    pub fn get(&self, position: usize) -> i64 {
        match self {
            Indices::Int32(row) => i64::from(row.get(position)),
            Indices::Int64(row) => row.get(position),
        }
    }
}

/// Returns the position for an index, where negative ones count from the end. `position` is for the message.
pub(crate) fn checked_index(index: i64, size: usize, position: usize) -> Result<usize, OpError> {
    let at = if index < 0 {
        index.saturating_add(size as i64)
    } else {
        index
    };
    match usize::try_from(at) {
        Ok(at) if at < size => Ok(at),
        _ => Err(outside(index, size, position)),
    }
}

#[cold]
fn outside(index: i64, size: usize, position: usize) -> OpError {
    OpError::data(format!(
        "element {position} of the indices is {index}, and the axis has {size} elements"
    ))
}

/// Indices of several axes at once: each tuple names a slice of a tensor.
pub(crate) struct Tuples {
    /// Elements of a slice.
    pub slice: usize,
    count: usize,
    /// Size and stride of each axis that a tuple has a number for.
    axes: Vec<(usize, usize)>,
    /// Tuples of one batch, and the elements of a batch.
    batch: (usize, usize),
    negative: bool,
    dtype: DataType,
}

/// Lays tuples out: the last dimension of the indices is a tuple, after `batch` dimensions that both have.
pub(crate) fn tuples(
    shape: &[usize],
    indices: &[usize],
    batch: usize,
    negative: bool,
    dtype: DataType,
) -> Tuples {
    let (width, outer) = indices
        .split_last()
        .map_or((0, indices), |(&width, outer)| (width, outer));
    let end = (batch + width).min(shape.len());
    let axis = |axis: usize| (shape[axis], shape[axis + 1..].iter().product());
    Tuples {
        slice: shape[end..].iter().product(),
        count: outer.iter().product(),
        axes: (batch..end).map(axis).collect(),
        batch: (
            outer[batch..].iter().product(),
            shape[batch..].iter().product(),
        ),
        negative,
        dtype,
    }
}

impl Tuples {
    /// Calls `body` with the number of each tuple and the first element of its slice.
    pub fn each(
        &self,
        call: &Call<'_>,
        input: usize,
        mut body: impl FnMut(usize, usize),
    ) -> Result<(), OpError> {
        let indices = Indices::of(call, input, self.dtype)?;
        let width = self.axes.len();
        for tuple in 0..self.count {
            let mut first = tuple / self.batch.0 * self.batch.1;
            for (axis, &(size, stride)) in self.axes.iter().enumerate() {
                let position = tuple * width + axis;
                let index = indices.get(position);
                if index < 0 && !self.negative {
                    return Err(outside(index, size, position));
                }
                first += checked_index(index, size, position)? * stride;
            }
            body(tuple, first);
        }
        Ok(())
    }
}

/// How a scattered element is combined with the one that is there; `None`: it replaces it.
pub(crate) fn combination(name: &str) -> Result<Option<Join>, OpError> {
    Ok(match name {
        "none" => None,
        "add" => Some(Join::Sum),
        "mul" => Some(Join::Product),
        "max" => Some(Join::Most),
        "min" => Some(Join::Least),
        other => {
            return Err(OpError::unsupported(format!(
                "the reduction {other:?} is not supported; none, add, mul, max and min are"
            )));
        }
    })
}

/// Makes a kernel that writes the output densely from a walk over the input, where the output is seen under another
/// shape of as many elements.
pub(crate) fn pick_as(
    cx: &PrepareCx<'_>,
    shape: &[usize],
    strides: &[isize],
) -> Result<Box<dyn Kernel>, OpError> {
    let loops = Loops::new(shape, [&dense_strides(shape), strides]);
    for_width!(cx.dtype(0)?, T => {
        Ok(Box::new(Pick::<T> {
            loops,
            start: 0,
            strides: None,
            types: std::marker::PhantomData,
        }) as Box<dyn Kernel>)
    })
}
