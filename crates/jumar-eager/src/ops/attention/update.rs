//! Joining the results of attention over parts of the keys, by the statistics of each part.

use jumar_ops::math::{Fast, Float};
use jumar_types::dtype::DataType;

use super::kernel::reference;
use super::layout::{Layout, Target};
use super::train::statistic;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::operands::FLOATS;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// Joins two results by their largest scores and the sums of their powers. A result without columns has the sum 0.
struct Join;

impl RowFunction for Join {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let number = |index: usize| rows.input(index).get(0);
        let (one, two) = (number(2), number(4));
        let largest = one.max(two);
        let power = |own: f32| Fast::<FUSED>(own - reference(largest)).exp().0;
        let shares = (number(3) * power(one), number(5) * power(two));
        let sum = shares.0 + shares.1;
        let (first, second) = match sum == 0.0 {
            true => (0.0, 0.0),
            false => (shares.0 / sum, shares.1 / sum),
        };
        rows.output(0)
            .map2(rows.input(0), rows.input(1), |one, two| {
                one * first + two * second
            });
        rows.output(1).fill(largest);
        rows.output(2).fill(sum);
    }
}

pub(super) fn ring(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    join(cx, "")
}

pub(super) fn ring_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let name = match cx.arg("inputSoftmaxLayoutOptional")? {
        crate::Arg::Null => String::new(),
        _ => cx.text("inputSoftmaxLayoutOptional")?.to_string(),
    };
    join(cx, &name)
}

/// Joins two results. `softmax` is the order of the statistics of joined sequences, and empty for that of the results.
fn join(cx: &mut Cx<'_>, softmax: &str) -> Result<(), Refusal> {
    let (one, two) = (cx.tensor("prevAttnOut")?, cx.tensor("curAttnOut")?);
    let (out, largest) = (cx.out("attnOutOut")?, cx.tensor("prevSoftmaxMax")?);
    cx.check_types(&one, FLOATS)?;
    for view in [&two, &out] {
        cx.check_dtype(view, one.dtype())?;
        cx.check_dims(view, one.dims())?;
    }
    let name = match cx.arg("inputLayoutOptional")? {
        crate::Arg::Null => "SBH",
        _ => cx.text("inputLayoutOptional")?,
    };
    let (layout, heads) = match (name, largest.dims()) {
        ("" | "SBH", &[_, heads, _, _]) => (Layout::Sbh, heads),
        ("TND", &[_, heads, _]) => (Layout::Tnd, heads),
        ("" | "SBH" | "TND", dims) => {
            return Err(cx.invalid(format_args!(
                "prevSoftmaxMax has the shape {dims:?}; expected batch, heads, length and copies for SBH, and tokens, heads and copies for TND"
            )));
        }
        (other, _) => {
            return Err(cx.invalid(format_args!(
                "inputLayoutOptional is {other:?}; it must be SBH or TND"
            )));
        }
    };
    if layout == Layout::Tnd {
        let ends = cx.optional("actualSeqQlenOptional")?;
        let ends = ends.ok_or_else(|| cx.null("actualSeqQlenOptional"))?;
        cx.check_dtype(&ends, DataType::Int64)?;
        match softmax {
            "" | "TND" => {}
            "SBH" => {
                return Err(cx.unsupported(
                    "inputSoftmaxLayoutOptional SBH is not supported: its shape for TND is not documented",
                ));
            }
            other => {
                return Err(cx.invalid(format_args!(
                    "inputSoftmaxLayoutOptional is {other:?}; it must be empty, SBH or TND"
                )));
            }
        }
    }
    let (one, two) = (layout.view(cx, one, heads)?, layout.view(cx, two, heads)?);
    let &[batch, _, rows, width] = one.dims() else {
        return Err(cx.defect("heads have four dimensions"));
    };
    let mut statistics = [largest; 6];
    let names = [
        "prevSoftmaxMax",
        "prevSoftmaxSum",
        "curSoftmaxMax",
        "curSoftmaxSum",
        "softmaxMaxOut",
        "softmaxSumOut",
    ];
    for (slot, param) in statistics.iter_mut().zip(names) {
        let found = statistic(cx, layout, param, [batch, heads, rows])?;
        *slot = match found {
            Some(found) => found,
            None if one.is_empty() => return Ok(()),
            None => return Err(cx.null(param)),
        };
    }
    if one.is_empty() {
        return Ok(());
    }
    let target = Target::new(cx, layout, out, [batch, heads, rows, width])?;
    let [first, first_sum, second, second_sum, to_largest, to_sum] = statistics;
    let inputs = [one, two, first, first_sum, second, second_sum].map(Some);
    let outputs = [target.view, to_largest, to_sum].map(Some);
    cx.rows(Join, &inputs, &outputs)?;
    target.finish(cx)
}

/// Joins the results of any number of parts by the logarithms of their sums:
/// `lse = ln(sum(exp(lse[i])))`, `out = sum(localOut[i] * exp(lse[i] - lse))`.
pub(super) fn parts(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (logs, results, out) = (cx.tensors("lse")?, cx.tensors("localOut")?, cx.out("out")?);
    let kind = cx.int("updateType")?;
    let to_log = match kind {
        0 => None,
        1 => Some(cx.optional("lseOut")?.ok_or_else(|| cx.null("lseOut"))?),
        other => {
            return Err(cx.invalid(format_args!("updateType is {other}; it must be 0 or 1")));
        }
    };
    let &[rows, width] = out.dims() else {
        return Err(cx.invalid(format_args!(
            "out has the shape {:?}; expected rows and entries",
            out.dims()
        )));
    };
    if logs.is_empty() || logs.len() != results.len() {
        return Err(cx.invalid(format_args!(
            "lse has {} tensors and localOut {}; both must have equally many, and at least one",
            logs.len(),
            results.len()
        )));
    }
    cx.check_types(&out, FLOATS)?;
    for result in &results {
        cx.check_dtype(result, out.dtype())?;
        cx.check_dims(result, &[rows, width])?;
    }
    for log in logs.iter().chain(&to_log) {
        cx.check_dtype(log, DataType::Float32)?;
        cx.check_dims(log, &[rows])?;
    }
    if rows == 0 {
        return Ok(());
    }
    let mut largest = logs[0];
    for &log in &logs[1..] {
        largest = combined(cx, F::Max, largest, log)?;
    }
    let mut sum: Option<View> = None;
    for &log in &logs {
        let power = power(cx, log, largest)?;
        sum = Some(match sum {
            Some(sum) => combined(cx, F::Add, sum, power)?,
            None => power,
        });
    }
    let sum = sum.ok_or_else(|| cx.defect("there is a part"))?;
    let log = cx.temporary(DataType::Float32, &[rows])?;
    cx.map(F::Log, DataType::Float32, &[Operand::Tensor(sum)], log)?;
    let log = combined(cx, F::Add, largest, log)?;
    if let Some(to) = to_log {
        cx.copy(log, to)?;
    }
    let mut total: Option<View> = None;
    for (&own, result) in logs.iter().zip(results) {
        let share = power(cx, own, log)?.unsqueeze(1);
        let part = cx.temporary(DataType::Float32, &[rows, width])?;
        let operands = [result, share].map(Operand::Tensor);
        cx.map(F::Mul, DataType::Float32, &operands, part)?;
        total = Some(match total {
            Some(total) => combined(cx, F::Add, total, part)?,
            None => part,
        });
    }
    match total {
        Some(total) => cx.copy(total, out),
        None => Err(cx.defect("there is a part")),
    }
}

/// Returns a function of two views of one shape, in float32.
fn combined(cx: &mut Cx<'_>, function: F, one: View, two: View) -> Result<View, Refusal> {
    let to = cx.temporary(DataType::Float32, one.dims())?;
    let operands = [one, two].map(Operand::Tensor);
    cx.map(function, DataType::Float32, &operands, to)?;
    Ok(to)
}

/// Returns `exp(one - two)`.
fn power(cx: &mut Cx<'_>, one: View, two: View) -> Result<View, Refusal> {
    let distance = combined(cx, F::Sub, one, two)?;
    let to = cx.temporary(DataType::Float32, one.dims())?;
    cx.map(F::Exp, DataType::Float32, &[Operand::Tensor(distance)], to)?;
    Ok(to)
}
