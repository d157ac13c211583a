//! Entries of a dimension that are repeated as often as a tensor says, and the gradient.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::kernels::Update;
use super::{INDEX, blocks, put, take};
use crate::build::Cx;
use crate::ops::Table;
use crate::ops::dense::{bad_data, run_kernel};
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static REPEAT: &Table = &[
    ("aclnnRepeatInterleave", |cx| repeat(cx, false)),
    ("aclnnRepeatInterleaveGrad", repeat_backward),
    ("aclnnRepeatInterleaveTensor", indices),
    ("aclnnRepeatInterleaveWithDim", |cx| repeat(cx, true)),
];

/// Writes the index of the entry that each repetition comes from.
struct Sources {
    operator: &'static str,
    /// How many entries there are. One number of repeats counts for all of them.
    entries: usize,
}

impl Kernel for Sources {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (repeats, out) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        let mut next = 0usize;
        for entry in 0..self.entries {
            let own = repeats.get(if repeats.len() == 1 { 0 } else { entry });
            let count = usize::try_from(own).map_err(|_| {
                bad_data(format!(
                    "{}: repeats holds {own}; it must not be negative",
                    self.operator
                ))
            })?;
            let end = next.saturating_add(count);
            if end > out.len() {
                break;
            }
            out.slice(next, count).fill(entry as i64);
            next = end;
        }
        let total = (0..self.entries).fold(0i64, |sum, entry| {
            sum.saturating_add(repeats.get(if repeats.len() == 1 { 0 } else { entry }))
        });
        match total == out.len() as i64 {
            true => Ok(()),
            false => Err(bad_data(format!(
                "{}: the numbers of repeats add up to {total}; the result has {} entries",
                self.operator,
                out.len()
            ))),
        }
    }
}

/// Returns the source of each of `len` repetitions of the entries of a dimension.
fn sources(cx: &mut Cx<'_>, repeats: View, entries: usize, len: usize) -> Result<View, Refusal> {
    cx.check_types(&repeats, &INDEX)?;
    if repeats.rank() > 1 || (repeats.elements() != 1 && repeats.elements() != entries) {
        return Err(cx.invalid(format_args!(
            "repeats has the shape {:?}; 1 or {entries} numbers are required",
            repeats.dims()
        )));
    }
    let out = cx.temporary(DataType::Int64, &[len])?;
    let kernel = Sources {
        operator: cx.name(),
        entries,
    };
    let int64 = DataType::Int64;
    run_kernel(cx, Box::new(kernel), &[(repeats, int64)], &[(out, int64)])?;
    Ok(out)
}

fn repeat(cx: &mut Cx<'_>, dimension: bool) -> Result<(), Refusal> {
    let (mut x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (repeats, size) = (cx.tensor("repeats")?, cx.int("outputSize")?);
    cx.check_dtype(&out, x.dtype())?;
    let mut axis = 0;
    if dimension {
        axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    }
    if !dimension || x.rank() == 0 {
        x = cx.reshaped(x, &[x.elements()])?;
    }
    let mut dims = x.dims().to_vec();
    dims[axis] = usize::try_from(size).map_err(|_| {
        cx.invalid(format_args!(
            "outputSize is {size}; it must not be negative"
        ))
    })?;
    cx.check_dims(&out, &dims)?;
    let positions = sources(cx, repeats, x.dims()[axis], dims[axis])?;
    take(cx, x, positions, blocks(x.dims(), axis), out)
}

fn repeat_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, repeats) = (cx.tensor("yGrad")?, cx.tensor("repeats")?);
    let out = cx.out("out")?;
    let axis = cx.axis("axis", cx.int("axis")?, out.rank())?;
    let len = gradient.dims().get(axis).copied().unwrap_or(1);
    let mut dims = out.dims().to_vec();
    if let Some(dim) = dims.get_mut(axis) {
        *dim = len;
    }
    cx.check_dims(&gradient, &dims)?;
    let entries = out.dims().get(axis).copied().unwrap_or(1);
    let positions = sources(cx, repeats, entries, len)?;
    let zero = cx.temporary(out.dtype(), &[])?;
    cx.fill(Scalar::of_i64(0), zero)?;
    if gradient.is_empty() {
        return cx.copy(zero, out);
    }
    let blocks = blocks(out.dims(), axis);
    put(cx, zero, (gradient, positions), (blocks, Update::Add), out)
}

fn indices(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (repeats, out) = (cx.tensor("repeats")?, cx.out("out")?);
    let size = cx.int("outputSize")?;
    cx.check_dims(&out, &[usize::try_from(size).unwrap_or(0)])?;
    let entries = repeats.elements();
    let found = sources(cx, repeats, entries, out.elements())?;
    cx.copy(found, out)
}
