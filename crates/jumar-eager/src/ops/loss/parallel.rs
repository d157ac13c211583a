//! Cross entropy of a vocabulary whose parts are on several ranks.

use jumar_ops::math::{Fast, Float};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::matrix::multiply;
use crate::ops::operands::FLOATS;
use crate::rows::{RowFunction, Rows, sum};
use crate::view::View;

/// `out = exp(x - most) / sum`
struct Shares;

impl RowFunction for Shares {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (most, sum) = (rows.input(1).get(0), rows.input(2).get(0));
        rows.output(0).map1(rows.input(0), |value| {
            Fast::<FUSED>(value - most).exp().0 / sum
        });
    }
}

/// Refuses a smoothing of labels, which the operators do not have yet.
pub(super) fn check_smoothing(cx: &Cx<'_>) -> Result<(), Refusal> {
    let smoothing = cx.float("labelSmoothing")?;
    match smoothing == 0.0 {
        true => Ok(()),
        false => Err(cx.invalid(format_args!("labelSmoothing is {smoothing}; it must be 0"))),
    }
}

/// `loss = log(sum) - predicted`, and the softmax of the logits if it is wanted.
pub(super) fn with_max_sum(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (most, sum, predicted, loss) = (
        cx.tensor("logitsMax")?,
        cx.tensor("sumExpLogits")?,
        cx.tensor("predictedLogits")?,
        cx.out("lossOut")?,
    );
    check_smoothing(cx)?;
    for param in ["inputOptional", "weightOptional"] {
        if cx.optional(param)?.is_some() {
            return Err(cx.unsupported(format_args!(
                "{param} is not supported: pass a null pointer"
            )));
        }
    }
    let &[rows] = most.dims() else {
        return Err(cx.invalid(format_args!(
            "logitsMax has the shape {:?}; expected one dimension",
            most.dims()
        )));
    };
    for view in [&most, &sum, &predicted, &loss] {
        cx.check_dtype(view, DataType::Float32)?;
        cx.check_dims(view, &[rows])?;
    }
    let compute = DataType::Float32;
    let logarithm = cx.temporary(compute, &[rows])?;
    cx.map(F::Log, compute, &[Operand::Tensor(sum)], logarithm)?;
    let operands = [Operand::Tensor(logarithm), Operand::Tensor(predicted)];
    cx.map(F::Sub, compute, &operands, loss)?;
    let (logits, out) = (
        cx.optional("vocabParallelLogitsOptional")?,
        cx.optional("softMaxOutOptional")?,
    );
    let (logits, out) = match (logits, out) {
        (Some(logits), Some(out)) => (logits, out),
        (None, None) => return Ok(()),
        _ => {
            return Err(cx.invalid(
                "vocabParallelLogitsOptional and softMaxOutOptional are given together or not at all",
            ));
        }
    };
    cx.check_types(&logits, FLOATS)?;
    cx.check_dtype(&out, DataType::Float32)?;
    let &[own, columns] = logits.dims() else {
        return Err(cx.invalid(format_args!(
            "vocabParallelLogitsOptional has the shape {:?}; expected two dimensions",
            logits.dims()
        )));
    };
    if own != rows {
        return Err(cx.invalid(format_args!(
            "vocabParallelLogitsOptional has {own} rows; logitsMax has {rows}"
        )));
    }
    cx.check_dims(&out, &[rows, columns])?;
    let inputs = [
        Some(logits),
        Some(most.unsqueeze(1)),
        Some(sum.unsqueeze(1)),
    ];
    cx.rows(Shares, &inputs, &[Some(out)])
}

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// Packs booleans into bits, the first one highest; bits behind the last are 1. Input: float32.
struct Pack;

impl Kernel for Pack {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (flags, out) = (call.input::<f32>(0)?.flat(), call.output::<u8>(0)?.flat());
        for at in 0..out.len() {
            let bit = |bit: usize| {
                let index = at * 8 + bit;
                u8::from(index >= flags.len() || flags.get(index) != 0.0) << (7 - bit)
            };
            out.set(at, (0..8).map(bit).sum());
        }
        Ok(())
    }
}

/// As [`Pack`], the other way.
struct Unpack;

impl Kernel for Unpack {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (bits, flags) = (call.input::<u8>(0)?.flat(), call.output::<f32>(0)?.flat());
        for at in 0..flags.len() {
            let bit = bits.get(at / 8) >> (7 - at % 8) & 1;
            flags.set(at, f32::from(bit));
        }
        Ok(())
    }
}

/// The largest logit of a row, the sum of the powers, and what the row has for its target.
struct Statistics {
    width: usize,
    first: f32,
    last: f32,
}

impl RowFunction for Statistics {
    fn scratch(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (logits, target) = (rows.input(0), rows.input(1).get(0));
        let most = logits.fold_wide(f32::NEG_INFINITY, f32::max, f32::max);
        let powers = rows.scratch();
        powers.map1(logits, |value| Fast::<FUSED>(value - most).exp().0);
        let sum = sum(powers.as_row());
        rows.output(0).set(0, most);
        rows.output(1).set(0, sum);
        let own = target - self.first;
        let is_other = target < self.first || target > self.last || own as usize >= self.width;
        rows.output(2).set(
            0,
            if is_other {
                0.0
            } else {
                logits.get(own as usize) - most
            },
        );
        rows.output(3).set(0, f32::from(u8::from(is_other)));
        rows.output(4).set(0, if is_other { 0.0 } else { own });
    }
}

/// Checks the operands of the logits: rows, and a matrix with as many columns.
fn linear(cx: &Cx<'_>) -> Result<(View, View, [usize; 3]), Refusal> {
    let (input, weight) = (cx.tensor("input")?, cx.tensor("weight")?);
    cx.check_types(&input, HALVES)?;
    cx.check_dtype(&weight, input.dtype())?;
    match (input.dims(), weight.dims()) {
        (&[rows, depth], &[columns, own]) if depth == own && columns > 0 && columns < 1 << 24 => {
            Ok((input, weight, [rows, depth, columns]))
        }
        (one, two) => Err(cx.invalid(format_args!(
            "input has the shape {one:?} and weight {two:?}; expected matrices with equally many columns, and weight with 1 to 2^24 - 1 rows"
        ))),
    }
}

/// Logits of a part of a vocabulary, and what a loss needs of them.
pub(super) fn online_max_sum(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, weight, [rows, _, columns]) = linear(cx)?;
    let target = cx.tensor("target")?;
    cx.check_types(&target, &[DataType::Int32, DataType::Int64])?;
    cx.check_dims(&target, &[rows])?;
    let (first, last) = (cx.int("vocabStartIndex")?, cx.int("vocabEndIndex")?);
    if first < 0 || last < first || last >= 1 << 24 {
        return Err(cx.invalid(format_args!(
            "vocabStartIndex is {first} and vocabEndIndex {last}; the first must not be negative, nor above the second, which must be below 2^24"
        )));
    }
    let mut outputs = [target; 3];
    let names = [
        "logitsMaxLocalOut",
        "sumExpLogitsLocalOut",
        "predictedLogitsLocalOut",
    ];
    for (slot, param) in outputs.iter_mut().zip(names) {
        let out = cx.out(param)?;
        cx.check_dtype(&out, DataType::Float32)?;
        cx.check_dims(&out, &[rows])?;
        *slot = out.unsqueeze(1);
    }
    let (bits, masked) = (cx.out("targetMaskOut")?, cx.out("maskedTargetOut")?);
    cx.check_dtype(&bits, DataType::UInt8)?;
    cx.check_dims(&bits, &[rows.div_ceil(8)])?;
    cx.check_dtype(&masked, target.dtype())?;
    cx.check_dims(&masked, &[rows])?;
    let logits = cx.temporary(DataType::Float32, &[rows, columns])?;
    let wanted = cx.optional("vocabParallelLogitsOutOptional")?;
    if let Some(wanted) = &wanted {
        cx.check_dtype(wanted, input.dtype())?;
        cx.check_dims(wanted, &[rows, columns])?;
    }
    if rows == 0 {
        return Ok(());
    }
    multiply(cx, input, weight.transpose(0, 1), logits)?;
    let flags = cx.temporary(DataType::Float32, &[rows, 1])?;
    let [most, sum, predicted] = outputs;
    let function = Statistics {
        width: columns,
        first: first as f32,
        last: last as f32,
    };
    let all = [most, sum, predicted, flags, masked.unsqueeze(1)].map(Some);
    cx.rows(function, &[Some(logits), Some(target.unsqueeze(1))], &all)?;
    let to = cx.temporary(DataType::UInt8, bits.dims())?;
    cx.kernel(Box::new(Pack), &[Some(flags)], &[to], false)?;
    cx.copy(to, bits)?;
    match wanted {
        Some(wanted) => cx.copy(logits, wanted),
        None => Ok(()),
    }
}

/// `out = (share - 1 at the target) * gradient`; the share is given, or computed from the logits.
struct ToLogits {
    computes: bool,
}

impl RowFunction for ToLogits {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, factor) = (rows.output(0), rows.input(1).get(0));
        match self.computes {
            true => {
                let (most, sum) = (rows.input(4).get(0), rows.input(5).get(0));
                out.map1(rows.input(0), |value| {
                    factor * (Fast::<FUSED>(value - most).exp().0 / sum)
                });
            }
            false => out.map1(rows.input(0), |value| factor * value),
        }
        let (target, is_other) = (rows.input(2).get(0) as usize, rows.input(3).get(0) != 0.0);
        if !is_other && target < out.len() {
            out.set(target, out.get(target) - factor);
        }
    }
}

/// The gradients of the rows and of the matrix behind a loss.
pub(super) fn linear_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, weight, [rows, _, columns]) = linear(cx)?;
    check_smoothing(cx)?;
    let (gradient, bits, target) = (
        cx.tensor("grad")?,
        cx.tensor("targetMask")?,
        cx.tensor("maskedTarget")?,
    );
    cx.check_dtype(&gradient, DataType::Float32)?;
    cx.check_dims(&gradient, &[rows])?;
    cx.check_dtype(&bits, DataType::UInt8)?;
    cx.check_dims(&bits, &[rows.div_ceil(8)])?;
    cx.check_types(&target, &[DataType::Int32, DataType::Int64])?;
    cx.check_dims(&target, &[rows])?;
    let (to_input, to_weight) = (cx.out("inputGradOut")?, cx.out("weightGradOut")?);
    for (out, like) in [(&to_input, &input), (&to_weight, &weight)] {
        cx.check_dtype(out, input.dtype())?;
        cx.check_dims(out, like.dims())?;
    }
    if rows == 0 {
        return cx.fill(crate::Scalar::of_i64(0), to_weight);
    }
    let mut statistics = [None; 2];
    let shares = cx.optional("softmaxOptional")?;
    let source = match shares {
        Some(shares) => {
            cx.check_dtype(&shares, DataType::Float32)?;
            cx.check_dims(&shares, &[rows, columns])?;
            shares
        }
        None => {
            let names = ["logitsMaxOptional", "sumExpLogitsOptional"];
            for (slot, param) in statistics.iter_mut().zip(names) {
                let view = cx.tensor(param)?;
                cx.check_dtype(&view, DataType::Float32)?;
                cx.check_dims(&view, &[rows])?;
                *slot = Some(view.unsqueeze(1));
            }
            let logits = cx.temporary(DataType::Float32, &[rows, columns])?;
            multiply(cx, input, weight.transpose(0, 1), logits)?;
            logits
        }
    };
    let flags = cx.temporary(DataType::Float32, &[rows])?;
    let bits = cx.dense(bits)?;
    cx.kernel(Box::new(Unpack), &[Some(bits)], &[flags], false)?;
    let to_logits = cx.temporary(DataType::Float32, &[rows, columns])?;
    let function = ToLogits {
        computes: shares.is_none(),
    };
    let [most, sum] = statistics;
    let inputs = [
        Some(source),
        Some(gradient.unsqueeze(1)),
        Some(target.unsqueeze(1)),
        Some(flags.unsqueeze(1)),
        most,
        sum,
    ];
    cx.rows(function, &inputs, &[Some(to_logits)])?;
    let input = cx.cast(input, DataType::Float32)?;
    let weight = cx.cast(weight, DataType::Float32)?;
    for (one, two, out) in [
        (to_logits, weight, to_input),
        (to_logits.transpose(0, 1), input, to_weight),
    ] {
        let product = cx.temporary(DataType::Float32, out.dims())?;
        multiply(cx, one, two, product)?;
        cx.copy(product, out)?;
    }
    Ok(())
}
