//! The choice of a token by its logit: of the largest logits, of those that are likely together or that are likely enough, or a sample.

use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::filter::sort_first;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnTopKTopPSample", first),
    ("aclnnTopKTopPSampleV2", second),
];

/// Parts that the rows are split into, each with scratch memory of its own.
const PARTS: usize = 8;

/// The most logits that are kept by their number.
const MOST: usize = 1024;

/// The operands of one call, of which all but the first three inputs may be absent.
#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    /// The inputs with the numbers that samples are divided by, and the least parts of the largest probability.
    divisors: Option<usize>,
    least: Option<usize>,
    /// The outputs with the chosen tokens, the logits that are kept, and the kept probabilities in order with their tokens.
    chosen: Option<usize>,
    kept: Option<usize>,
    sorted: Option<usize>,
}

/// Chooses a token for each row. Inputs, dense: the logits, k as int64, and p.
///
/// A row keeps its k largest logits if k is between 1 and `most`; of these the likeliest until their probabilities reach p, if p is
/// below 1; and of these the ones that are at least as likely as a part of the likeliest. Of equal logits the first is the largest.
struct Choose {
    rows: usize,
    width: usize,
    most: usize,
    /// Whether the logits become probabilities by a softmax. Otherwise they are probabilities.
    logits: bool,
    epsilon: f64,
    slots: Slots,
}

/// The tokens of a row that are kept: the first of an order, or all as they come.
struct Kept<'a> {
    x: Row<'a, f32>,
    order: Option<RowMut<'a, i32>>,
    count: usize,
    /// What the power of a logit is multiplied by, and subtracted from it before. `None`: logits are probabilities.
    softmax: Option<(f64, f64)>,
}

impl Kept<'_> {
    fn token(&self, index: usize) -> usize {
        self.order
            .map_or(index, |order| order.get(index).max(0) as usize)
    }

    fn probability(&self, index: usize) -> f64 {
        let value = f64::from(self.x.get(self.token(index)));
        match self.softmax {
            Some((factor, most)) => (value - most).exp() * factor,
            None => value,
        }
    }
}

impl Choose {
    fn parts(&self) -> usize {
        PARTS.min(self.rows)
    }

    /// Finds the tokens that a row keeps.
    fn keep<'a>(
        &self,
        x: Row<'a, f32>,
        order: RowMut<'a, i32>,
        (k, p, least): (i64, f64, f64),
    ) -> Kept<'a> {
        let by_number = usize::try_from(k)
            .ok()
            .filter(|k| (1..=self.most.min(self.width)).contains(k));
        let by_sum = p.partial_cmp(&1.0) != Some(std::cmp::Ordering::Less);
        let is_sorted = by_number.is_some() || !by_sum || least > 0.0;
        let mut kept = Kept {
            x,
            order: is_sorted.then_some(order),
            count: by_number.unwrap_or(self.width),
            softmax: None,
        };
        if is_sorted {
            for at in 0..self.width {
                order.set(at, at as i32);
            }
            // NaN comes before all numbers.
            sort_first(order, kept.count, |one, two| {
                let (first, second) = (x.get(one as usize), x.get(two as usize));
                let more = first > second || first.is_nan() && !second.is_nan();
                let same = first == second || first.is_nan() && second.is_nan();
                more || same && one < two
            });
        }
        if self.logits {
            let value = |index: usize| f64::from(x.get(kept.token(index)));
            let most = (0..kept.count).map(value).fold(f64::NEG_INFINITY, f64::max);
            let powers = (0..kept.count).map(|index| (value(index) - most).exp());
            kept.softmax = Some((1.0 / powers.sum::<f64>(), most));
        }
        if !by_sum {
            // At least one stays. `topKGuess` is how many the device tries first, which does not change the result.
            let (mut count, mut sum) = (1, kept.probability(0));
            while count < kept.count && sum < p {
                sum += kept.probability(count);
                count += 1;
            }
            kept.count = count;
        }
        if least >= 1.0 {
            kept.count = 1;
        } else if least > 0.0 {
            let threshold = kept.probability(0) * least;
            let first = (1..kept.count).find(|&index| kept.probability(index) < threshold);
            kept.count = first.unwrap_or(kept.count);
        }
        kept
    }
}

impl Kernel for Choose {
    fn scratch_bytes(&self) -> usize {
        self.parts() * self.width * size_of::<i32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let optional = |slot: Option<usize>| match slot {
            Some(slot) => call.input::<f32>(slot).map(|input| Some(input.flat())),
            None => Ok(None),
        };
        let (x, k, p) = (
            call.input::<f32>(0)?.flat(),
            call.input::<i64>(1)?.flat(),
            call.input::<f32>(2)?.flat(),
        );
        let (divisors, least) = (optional(self.slots.divisors)?, optional(self.slots.least)?);
        let chosen = match self.slots.chosen {
            Some(slot) => Some(call.output::<i64>(slot)?.flat()),
            None => None,
        };
        let kept_out = match self.slots.kept {
            Some(slot) => Some(call.output::<f32>(slot)?.flat()),
            None => None,
        };
        let sorted = match self.slots.sorted {
            Some(slot) => Some((
                call.output::<f32>(slot)?.flat(),
                call.output::<i64>(slot + 1)?.flat(),
            )),
            None => None,
        };
        let (width, parts) = (self.width, self.parts());
        let scratch = call.scratch::<i32>(0, parts * width)?;
        call.workers().each(parts, |part| {
            let order = scratch.slice(part * width, width);
            for row in self.rows * part / parts..self.rows * (part + 1) / parts {
                let start = row * width;
                let numbers = (
                    k.get(row),
                    f64::from(p.get(row)),
                    least.map_or(0.0, |least| f64::from(least.get(row))),
                );
                let kept = self.keep(x.slice(start, width), order, numbers);
                if let Some(out) = chosen {
                    let score = |index: usize| match divisors {
                        Some(by) => {
                            let by = f64::from(by.get(start + index)) + self.epsilon;
                            kept.probability(index) / by
                        }
                        None => kept.probability(index),
                    };
                    let (mut best, mut most) = (0, score(0));
                    for index in 1..kept.count {
                        let own = score(index);
                        if own > most {
                            (best, most) = (index, own);
                        }
                    }
                    out.set(row, kept.token(best) as i64);
                }
                if let Some(out) = kept_out {
                    let out = out.slice(start, width);
                    out.fill(if self.logits { f32::NEG_INFINITY } else { 0.0 });
                    for index in 0..kept.count {
                        let token = kept.token(index);
                        out.set(token, kept.x.get(token));
                    }
                }
                if let Some((values, tokens)) = sorted {
                    // Not documented: what follows the kept ones, but for the zeros.
                    let (values, tokens) = (values.slice(start, width), tokens.slice(start, width));
                    values.fill(0.0);
                    tokens.fill(0);
                    for index in 0..kept.count {
                        values.set(index, kept.probability(index) as f32);
                        tokens.set(index, kept.token(index) as i64);
                    }
                }
            }
        });
        Ok(())
    }
}

fn first(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (logits, q) = (cx.tensor("logits")?, cx.optional("q")?);
    cx.check_types(&logits, &[DataType::Float16, DataType::BFloat16])?;
    let guess = cx.int("topKGuess")?;
    if guess < 1 {
        return Err(cx.invalid(format_args!("topKGuess is {guess}; it must be positive")));
    }
    plan(cx, (logits, q, None), (MOST, true), false)
}

fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (logits, q, least) = (
        cx.tensor("logits")?,
        cx.optional("q")?,
        cx.optional("minPs")?,
    );
    cx.check_types(&logits, FLOATS)?;
    let most = match usize::try_from(cx.int("ksMax")?) {
        Ok(most @ 1..=MOST) => most.next_multiple_of(8),
        _ => {
            return Err(cx.invalid(format_args!(
                "ksMax is {}; it must be between 1 and {MOST}",
                cx.int("ksMax")?
            )));
        }
    };
    let sorted = cx.flag("isNeedSampleResult")?;
    // A caller that asks for the probabilities draws the sample itself.
    let q = q.filter(|_| !sorted);
    plan(
        cx,
        (logits, q, least),
        (most, cx.flag("inputIsLogits")?),
        sorted,
    )
}

fn plan(
    cx: &mut Cx<'_>,
    (logits, q, least): (View, Option<View>, Option<View>),
    (most, is_logits): (usize, bool),
    sorted: bool,
) -> Result<(), Refusal> {
    let &[rows, width] = logits.dims() else {
        return Err(cx.invalid(format_args!(
            "logits has the shape {:?}; rows and entries are required",
            logits.dims()
        )));
    };
    if logits.is_empty() || width > 1 << 20 {
        return Err(cx.invalid(format_args!(
            "logits has the shape {:?}; there must be a row, and 1 to {} entries",
            logits.dims(),
            1 << 20
        )));
    }
    let (k, p) = (cx.tensor("topK")?, cx.tensor("topP")?);
    cx.check_dtype(&k, DataType::Int32)?;
    for view in [Some(p), least].iter().flatten() {
        cx.check_dtype(view, logits.dtype())?;
    }
    for view in [Some(k), Some(p), least].iter().flatten() {
        // The documents also name rows of one entry.
        if view.dims() != [rows] && view.dims() != [rows, 1] {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must be [{rows}]",
                cx.param_of(view),
                view.dims()
            )));
        }
    }
    let mut slots = Slots::default();
    let mut inputs = vec![
        (logits, DataType::Float32),
        (k, DataType::Int64),
        (p, DataType::Float32),
    ];
    if let Some(q) = q {
        cx.check_dtype(&q, DataType::Float32)?;
        cx.check_dims(&q, logits.dims())?;
        slots.divisors = Some(inputs.len());
        inputs.push((q, DataType::Float32));
    }
    if let Some(least) = least {
        slots.least = Some(inputs.len());
        inputs.push((least, DataType::Float32));
    }
    let mut outputs = Vec::new();
    let mut add = |cx: &Cx<'_>, param: &str, dtype: DataType, dims: &[usize]| {
        let out = cx.out(param)?;
        cx.check_dtype(&out, dtype)?;
        cx.check_dims(&out, dims)?;
        outputs.push((out, dtype));
        Ok::<_, Refusal>(Some(outputs.len() - 1))
    };
    if sorted {
        slots.sorted = add(cx, "logitsSortMasked", DataType::Float32, logits.dims())?;
        add(cx, "logitsIdx", DataType::Int64, logits.dims())?;
    } else {
        slots.chosen = add(cx, "logitsSelectIdx", DataType::Int64, &[rows])?;
    }
    if cx.flag("isNeedLogits")? {
        slots.kept = add(cx, "logitsTopKPSelect", DataType::Float32, logits.dims())?;
    }
    let kernel = Choose {
        rows,
        width,
        most,
        logits: is_logits,
        epsilon: cx.float("eps")?,
        slots,
    };
    super::dense::run_kernel(cx, Box::new(kernel), &inputs, &outputs)
}
