//! Quantisation by given factors that also returns the largest magnitude, of a tensor or of each of its groups.

use jumar_types::dtype::DataType;

use super::encoding::{BYTES, EncodedOutput, Encoding, quotient, rounding_to};
use super::packed::check_number;
use crate::build::Cx;
use crate::ops::groups::{self, Sizes, group_of};
use crate::ops::operands::FLOATS;
use crate::rows::{RowFunction, Rows, largest_magnitude};
use crate::view::View;
use crate::{Refusal, Scalar};

/// `y = round(x * scale)` or `round(x / scale)`, with the scale of the group that a row belongs to, and the largest magnitude of
/// each row, if it is wanted.
pub(super) struct MaximumScaling {
    /// Rows of each entry of the dimension that groups divide.
    pub rows: usize,
    pub divides: bool,
    pub encoding: Encoding,
}

impl RowFunction for MaximumScaling {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, encoding) = (rows.input(0), rows.output(0), self.encoding);
        if let Some(to) = rows.wanted(1) {
            to.set(0, largest_magnitude(x));
        }
        let group = match rows.integers(0) {
            Some(ends) => group_of(ends, Sizes::Ends, rows.number / self.rows),
            None => Some(0),
        };
        match group {
            Some(group) => {
                let scale = rows.input(1).get(group);
                match self.divides {
                    true => out.map1(x, |value| encoding.apply(quotient(value, scale))),
                    false => out.map1(x, |value| encoding.apply(value * scale)),
                }
            }
            None => out.fill(0.0),
        }
    }
}

/// The largest magnitude of each row.
pub(super) struct RowLargest;

impl RowFunction for RowLargest {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        rows.output(0).set(0, largest_magnitude(rows.input(0)));
    }
}

/// The largest number of each group of rows, over a divisor.
pub(super) struct Largest {
    pub rows: usize,
    pub divisor: f32,
}

impl RowFunction for Largest {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (found, out) = (rows.input(0), rows.output(0));
        let Some(ends) = rows.integers(0) else {
            return out.set(0, largest_magnitude(found) / self.divisor);
        };
        let mut start = 0;
        for group in 0..out.len() {
            let end = usize::try_from(ends.get(group)).unwrap_or(0);
            let end = end.saturating_mul(self.rows);
            let end = end.clamp(start, found.len());
            let most = largest_magnitude(found.slice(start, end - start));
            out.set(group, most / self.divisor);
            start = end;
        }
    }
}

fn plan(cx: &mut Cx<'_>, least_rank: usize, ends: Option<View>) -> Result<(), Refusal> {
    let (x, scale) = (cx.tensor("x")?, cx.tensor("scale")?);
    let (out, amax) = (cx.out("y")?, cx.out("amax")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_dtype(&scale, DataType::Float32)?;
    cx.check_types(&out, BYTES)?;
    cx.check_dtype(&amax, x.dtype())?;
    check_number(cx, "dstType", &out)?;
    let rank = x.rank();
    if rank < least_rank {
        return Err(cx.invalid(format_args!(
            "x has {rank} dimensions; expected {least_rank} to 8"
        )));
    }
    let groups = ends.map_or(1, |ends| ends.elements());
    cx.check_dims(&scale, &[groups])?;
    cx.check_dims(&amax, &[groups])?;
    if cx.text("roundMode")?.is_empty() {
        return Err(cx.invalid("roundMode is empty; it must name a mode"));
    }
    let rounding = rounding_to(cx, "roundMode", out.dtype())?;
    let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    if x.is_empty() {
        return cx.fill(Scalar::of_i64(0), amax);
    }
    let mut dims = x.dims().to_vec();
    dims[rank - 1] = 1;
    let count: usize = dims.iter().product();
    let each = match rank {
        1 => 1,
        _ => count / dims[0],
    };
    let found = cx.temporary(DataType::Float32, &dims)?;
    let function = MaximumScaling {
        rows: each,
        divides: false,
        encoding: coded.encoding,
    };
    let scale = cx.dense(scale)?;
    cx.rows_with(
        function,
        &[ends],
        &[Some(x), Some(scale)],
        &[Some(coded.rows()), Some(found)],
    )?;
    coded.finish(cx)?;
    let found = cx.reshaped(found, &[count])?;
    let function = Largest {
        rows: each,
        divisor: 1.0,
    };
    cx.rows_with(function, &[ends], &[Some(found)], &[Some(amax)])
}

pub(super) fn all(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, 1, None)
}

pub(super) fn grouped(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let ends = groups::ends(cx, "groupList", &[DataType::Int64], Sizes::Ends)?;
    plan(cx, 2, ends)
}
