//! Conversions between floating-point types, and selections, in one pass over rows that lie side by side.

use jumar_ops::math::{LowPrecision, Work, round, wide, widen};
use jumar_ops::view::{BF16, Bool8, Element, F16, Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::nest::{Nest, Offsets};

/// Elements from which on a row of several is worth a call of its own.
const LONG: usize = 64;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 15;

/// Elements that are selected at once.
const GROUP: usize = 32;

/// Reports whether all operands lie side by side in rows that are long enough.
fn is_dense(nest: &Nest, operands: usize) -> bool {
    let is_worth = nest.row() >= LONG || nest.rows() == 1;
    is_worth && nest.steps()[..operands].iter().all(|&step| step == 1)
}

/// Calls `body` with offsets and lengths of all rows, or of parts of one.
fn each_row(call: &Call<'_>, nest: &Nest, body: impl Fn(&Offsets, usize) + Sync) {
    let (rows, row) = (nest.rows(), nest.row());
    if rows == 1 {
        call.workers().ranges(row, GRAIN, |start, len| {
            nest.each(0, 1, |offsets| {
                body(&offsets.map(|offset| offset + start), len)
            });
        });
    } else {
        let grain = GRAIN.div_ceil(row.max(1));
        call.workers().ranges(rows, grain, |first, count| {
            nest.each(first, count, |offsets| body(offsets, row));
        });
    }
}

struct Convert {
    nest: Nest,
    run: fn(&Convert, &Call<'_>) -> Result<(), OpError>,
}

/// Creates the kernel that converts input 0. `None`: one of the types is not float32 and the other of 16 bits, or rows are short.
pub(super) fn convert(nest: Nest, from: DataType, to: DataType) -> Option<Box<dyn Kernel>> {
    type D = DataType;
    if !is_dense(&nest, 2) {
        return None;
    }
    let run = match (from, to) {
        (D::Float16, D::Float32) => Convert::widen::<F16>,
        (D::BFloat16, D::Float32) => Convert::widen::<BF16>,
        (D::Float32, D::Float16) => Convert::round::<F16>,
        (D::Float32, D::BFloat16) => Convert::round::<BF16>,
        _ => return None,
    };
    Some(Box::new(Convert { nest, run }))
}

impl Convert {
    fn widen<T: LowPrecision>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<T>(0)?, call.output::<f32>(0)?);
        each_row(call, &self.nest, |offsets, len| {
            widen(from.row(offsets[0], len, 1), to.row(offsets[1], len, 1));
        });
        Ok(())
    }

    fn round<T: LowPrecision>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<f32>(0)?, call.output::<T>(0)?);
        each_row(call, &self.nest, |offsets, len| {
            round(from.row(offsets[0], len, 1), to.row(offsets[1], len, 1));
        });
        Ok(())
    }
}

impl Kernel for Convert {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        (self.run)(self, call)
    }
}

struct Select {
    nest: Nest,
    run: fn(&Select, &Call<'_>) -> Result<(), OpError>,
}

/// Creates the kernel that takes elements of input 1 where input 0, of booleans, is true, and of input 2 elsewhere. `None`: rows are
/// short, or elements are longer than 64 bits.
pub(super) fn select(nest: Nest, dtype: DataType) -> Option<Box<dyn Kernel>> {
    if !is_dense(&nest, 4) {
        return None;
    }
    let run = match dtype.size()? {
        1 if dtype != DataType::Bool => Select::of::<u8>,
        2 => Select::of::<u16>,
        4 => Select::of::<u32>,
        8 => Select::of::<u64>,
        _ => return None,
    };
    Some(Box::new(Select { nest, run }))
}

impl Select {
    fn of<T: Element>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let mask = call.input::<Bool8>(0)?;
        let (yes, no, to) = (
            call.input::<T>(1)?,
            call.input::<T>(2)?,
            call.output::<T>(0)?,
        );
        each_row(call, &self.nest, |offsets, len| {
            wide(Rows {
                mask: mask.row(offsets[0], len, 1),
                yes: yes.row(offsets[1], len, 1),
                no: no.row(offsets[2], len, 1),
                to: to.row(offsets[3], len, 1),
            });
        });
        Ok(())
    }
}

impl Kernel for Select {
    fn is_elementwise(&self) -> bool {
        true
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        (self.run)(self, call)
    }
}

struct Rows<'a, T> {
    mask: Row<'a, Bool8>,
    yes: Row<'a, T>,
    no: Row<'a, T>,
    to: RowMut<'a, T>,
}

impl<T: Element> Work for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Rows { mask, yes, no, to } = self;
        let grouped = to.len() / GROUP * GROUP;
        for base in (0..grouped).step_by(GROUP) {
            let marks: [Bool8; GROUP] = mask.group(base);
            let (yes, no): ([T; GROUP], [T; GROUP]) = (yes.group(base), no.group(base));
            let mut taken = no;
            for index in 0..GROUP {
                taken[index] = if marks[index].get() {
                    yes[index]
                } else {
                    no[index]
                };
            }
            to.set_group(base, taken);
        }
        for index in grouped..to.len() {
            let from = if mask.get(index).get() { yes } else { no };
            to.set(index, from.get(index));
        }
    }
}
