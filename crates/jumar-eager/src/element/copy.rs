//! Copies between views of one element width.

use std::marker::PhantomData;

use jumar_ops::view::{Element, Layout};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::nest::Nest;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

struct Copy<T> {
    nest: Nest,
    types: PhantomData<fn(T)>,
}

/// Creates the kernel that copies input 0 to output 0; the layouts have one shape. `None`: elements of the type do not fill
/// integer bytes.
pub(crate) fn copy(dtype: DataType, from: &Layout, to: &Layout) -> Option<Box<dyn Kernel>> {
    let nest = Nest::new(&[from, to]);
    match dtype.size()? {
        1 => Some(of::<u8>(nest)),
        2 => Some(of::<u16>(nest)),
        4 => Some(of::<u32>(nest)),
        8 => Some(of::<u64>(nest)),
        _ => Some(of::<u128>(nest)),
    }
}

fn of<T: Element>(nest: Nest) -> Box<dyn Kernel> {
    Box::new(Copy::<T> {
        nest,
        types: PhantomData,
    })
}

impl<T: Element> Kernel for Copy<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, output) = (call.input::<T>(0)?, call.output::<T>(0)?);
        let (rows, row, steps) = (self.nest.rows(), self.nest.row(), self.nest.steps());
        if rows == 1 {
            let (from, to) = (input.row(0, row, steps[0]), output.row(0, row, steps[1]));
            call.workers().ranges(row, GRAIN, |start, len| {
                to.slice(start, len).copy_from(from.slice(start, len));
            });
            return Ok(());
        }
        let grain = GRAIN.div_ceil(row.max(1));
        call.workers().ranges(rows, grain, |first, count| {
            self.nest.each(first, count, |offsets| {
                output
                    .row(offsets[1], row, steps[1])
                    .copy_from(input.row(offsets[0], row, steps[0]));
            });
        });
        Ok(())
    }
}
