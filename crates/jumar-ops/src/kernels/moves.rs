//! Kernels that only move elements.

use super::loops::{Loops, dense_strides};
use super::number::for_width;
use crate::view::Element;
use crate::{Call, Kernel, OpError, PrepareCx};

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

/// A walk over input 0 with strides, written densely.
struct Pick<T> {
    loops: Loops<2>,
    start: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Pick<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?, call.output::<T>(0)?);
        let (len, [to_step, from_step]) = (self.loops.row(), self.loops.steps());
        self.loops.each([0, self.start], |[to, from]| {
            out.row(to, len, to_step)
                .copy_from(input.row(from, len, from_step));
            Ok(())
        })
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
        Ok(Box::new(Pick::<T> { loops, start, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}
