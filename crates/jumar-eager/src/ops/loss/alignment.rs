//! The likelihood of a sequence of labels under all its alignments with a longer sequence (CTC), and the gradient.
//!
//! A. Graves et al., "Connectionist Temporal Classification" (2006). States are the labels with blanks before, between and
//! behind them; `alpha[t][s]` is the logarithm of the probability of all beginnings that are in state s at time t.

use jumar_ops::view::Row;
use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::super::dense::{Body, Real, bad_data, run};
use super::super::index::INDEX;
use super::super::reduction::accumulator;
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};

const NEVER: f64 = f64::NEG_INFINITY;

fn log_add(one: f64, two: f64) -> f64 {
    let greatest = one.max(two);
    if greatest == NEVER {
        return NEVER;
    }
    greatest + ((one - greatest).exp() + (two - greatest).exp()).ln()
}

/// The sizes of a call.
#[derive(Clone, Debug)]
struct Sequences {
    times: usize,
    batch: usize,
    classes: usize,
    blank: usize,
    /// The lengths of each item in time and in labels, and where its labels start.
    inputs: Vec<usize>,
    labels: Vec<usize>,
    starts: Vec<usize>,
    /// The entries of alpha for each item and time.
    states: usize,
    /// The times of alpha for each item.
    rows: usize,
}

/// One item of the batch.
struct Item<'a, T: Real> {
    sizes: &'a Sequences,
    index: usize,
    x: Row<'a, T>,
    labels: Vec<usize>,
}

impl Sequences {
    fn item<'a, T: Real>(
        &'a self,
        index: usize,
        x: Row<'a, T>,
        targets: &Row<'_, i64>,
    ) -> Result<Item<'a, T>, OpError> {
        let mut labels = Vec::with_capacity(self.labels[index]);
        for entry in 0..self.labels[index] {
            let label = targets.get(self.starts[index] + entry);
            match usize::try_from(label)
                .ok()
                .filter(|&own| own < self.classes)
            {
                Some(label) => labels.push(label),
                None => {
                    return Err(bad_data(format!(
                        "the label {label} names none of {} classes",
                        self.classes
                    )));
                }
            }
        }
        Ok(Item {
            sizes: self,
            index,
            x,
            labels,
        })
    }
}

impl<T: Real> Item<'_, T> {
    fn times(&self) -> usize {
        self.sizes.inputs[self.index]
    }

    fn states(&self) -> usize {
        2 * self.labels.len() + 1
    }

    /// Returns the class of a state.
    fn class(&self, state: usize) -> usize {
        match state % 2 {
            0 => self.sizes.blank,
            _ => self.labels[state / 2],
        }
    }

    /// Returns the logarithm of the probability of a state's class at a time.
    fn score(&self, time: usize, state: usize) -> f64 {
        let row = time * self.sizes.batch + self.index;
        let at = row * self.sizes.classes + self.class(state);
        self.x.get(at).number()
    }

    /// Reports whether a state may follow the one two before it: both are labels, and not the same.
    fn skips(&self, state: usize) -> bool {
        state >= 2 && state % 2 == 1 && self.class(state) != self.class(state - 2)
    }

    /// Writes alpha for all times, and returns the loss.
    fn forward(&self, mut write: impl FnMut(usize, usize, f64)) -> f64 {
        let states = self.states();
        let (mut before, mut now) = (vec![NEVER; states], vec![NEVER; states]);
        for time in 0..self.times() {
            for state in 0..states {
                now[state] = match time {
                    0 if state < 2 => self.score(0, state),
                    0 => NEVER,
                    _ => {
                        let mut sum = before[state];
                        if state > 0 {
                            sum = log_add(sum, before[state - 1]);
                        }
                        if self.skips(state) {
                            sum = log_add(sum, before[state - 2]);
                        }
                        sum + self.score(time, state)
                    }
                };
                write(time, state, now[state]);
            }
            std::mem::swap(&mut before, &mut now);
        }
        if self.times() == 0 {
            return if self.labels.is_empty() {
                0.0
            } else {
                f64::INFINITY
            };
        }
        let last = before[states - 1];
        -match states {
            1 => last,
            _ => log_add(last, before[states - 2]),
        }
    }
}

struct Loss(Sequences);

impl Body for Loss {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, targets) = (call.input::<T>(0)?.flat(), call.input::<i64>(1)?.flat());
        let (losses, alpha) = (call.output::<T>(0)?.flat(), call.output::<T>(1)?.flat());
        let sizes = &self.0;
        alpha.fill(T::of(NEVER));
        for index in 0..sizes.batch {
            let item = sizes.item(index, x, &targets)?;
            let loss = item.forward(|time, state, value| {
                let at = (index * sizes.rows + time) * sizes.states + state;
                alpha.set(at, T::of(value));
            });
            losses.set(index, T::of(loss));
        }
        Ok(())
    }
}

struct LossBackward {
    sizes: Sequences,
    zero_infinity: bool,
}

impl Body for LossBackward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (gradient, x) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let (targets, losses) = (call.input::<i64>(2)?.flat(), call.input::<T>(3)?.flat());
        let (alpha, out) = (call.input::<T>(4)?.flat(), call.output::<T>(0)?.flat());
        let sizes = &self.sizes;
        out.fill(T::of(0.0));
        for index in 0..sizes.batch {
            let loss = losses.get(index).number();
            if self.zero_infinity && loss == f64::INFINITY {
                continue;
            }
            let item = sizes.item(index, x, &targets)?;
            let (states, times) = (item.states(), item.times());
            let own = gradient.get(index).number();
            let (mut after, mut now) = (vec![NEVER; states], vec![NEVER; states]);
            let mut joint = vec![NEVER; sizes.classes];
            for time in (0..times).rev() {
                joint.fill(NEVER);
                for state in (0..states).rev() {
                    let mut sum = match time + 1 == times {
                        true if state + 2 >= states => 0.0,
                        true => NEVER,
                        false => after[state],
                    };
                    if time + 1 < times {
                        if state + 1 < states {
                            sum = log_add(sum, after[state + 1]);
                        }
                        if state + 2 < states && item.skips(state + 2) {
                            sum = log_add(sum, after[state + 2]);
                        }
                    }
                    now[state] = sum + item.score(time, state);
                    let at = (index * sizes.rows + time) * sizes.states + state;
                    let both = alpha.get(at).number() + now[state];
                    let class = item.class(state);
                    joint[class] = log_add(joint[class], both);
                }
                for (class, &both) in joint.iter().enumerate() {
                    let at = (time * sizes.batch + index) * sizes.classes + class;
                    let score = x.get(at).number();
                    let value = (score.exp() - (both + loss - score).exp()) * own;
                    out.set(at, T::of(value));
                }
                std::mem::swap(&mut after, &mut now);
            }
        }
        Ok(())
    }
}

/// Reads the lengths of sequences, none of them larger than `most`.
fn lengths(cx: &Cx<'_>, param: &str, batch: usize, most: usize) -> Result<Vec<usize>, Refusal> {
    let found = cx.ints(param)?;
    let lengths: Vec<usize> = found
        .iter()
        .filter_map(|&length| usize::try_from(length).ok())
        .filter(|&length| length <= most)
        .collect();
    if found.len() != batch || lengths.len() != batch {
        return Err(cx.invalid(format_args!(
            "{param} is {found:?}; {batch} lengths of at most {most} are required"
        )));
    }
    Ok(lengths)
}

/// Reads the sizes of a call. `alpha` has the shape `[batch, times, states]`.
fn sequences(
    cx: &Cx<'_>,
    x: &View,
    targets: &View,
    lengths_of_labels: &str,
    alpha: &View,
) -> Result<Sequences, Refusal> {
    let (&[times, batch, classes], &[own_batch, rows, states]) = (x.dims(), alpha.dims()) else {
        return Err(cx.invalid(format_args!(
            "logProbs has the shape {:?} and {} {:?}; both must have 3 dimensions",
            x.dims(),
            cx.param_of(alpha),
            alpha.dims()
        )));
    };
    cx.check_types(targets, &INDEX)?;
    let inputs = lengths(cx, "inputLengths", batch, times)?;
    let labels = lengths(cx, lengths_of_labels, batch, targets.elements())?;
    let starts: Vec<usize> = match targets.dims() {
        &[_] => labels
            .iter()
            .scan(0usize, |next, &length| {
                let start = *next;
                *next = next.saturating_add(length);
                Some(start)
            })
            .collect(),
        &[rows, width] if rows == batch && labels.iter().all(|&length| length <= width) => {
            (0..batch).map(|item| item * width).collect()
        }
        dims => {
            return Err(cx.invalid(format_args!(
                "targets has the shape {dims:?}; one dimension with all labels, or {batch} rows of labels are required"
            )));
        }
    };
    let end = starts.last().zip(labels.last());
    if end.is_some_and(|(start, length)| start + length > targets.elements()) {
        return Err(cx.invalid(format_args!(
            "targets has {} labels; {lengths_of_labels} {labels:?} need more",
            targets.elements()
        )));
    }
    let longest = labels.iter().max().copied().unwrap_or(0);
    let latest = inputs.iter().max().copied().unwrap_or(0);
    if own_batch != batch || rows < latest || states < 2 * longest + 1 {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; at least [{batch}, {latest}, {}] is required",
            cx.param_of(alpha),
            alpha.dims(),
            2 * longest + 1
        )));
    }
    let blank = cx.int("blank")?;
    let Some(blank) = usize::try_from(blank).ok().filter(|&own| own < classes) else {
        return Err(cx.invalid(format_args!(
            "blank is {blank}; it must be the number of one of {classes} classes"
        )));
    };
    Ok(Sequences {
        times,
        batch,
        classes,
        blank,
        inputs,
        labels,
        starts,
        states,
        rows,
    })
}

pub(super) fn loss(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, targets) = (cx.tensor("logProbs")?, cx.tensor("targets")?);
    let (out, alpha) = (cx.out("negLogLikelihoodOut")?, cx.out("logAlphaOut")?);
    let sizes = sequences(cx, &x, &targets, "targetlengths", &alpha)?;
    cx.check_dims(&out, &[sizes.batch])?;
    let compute = accumulator(x.dtype());
    run(
        cx,
        compute,
        Loss(sizes),
        &[(x, compute), (targets, DataType::Int64)],
        &[(out, compute), (alpha, compute)],
    )
}

pub(super) fn loss_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOut")?, cx.tensor("logProbs")?);
    let (targets, losses) = (cx.tensor("targets")?, cx.tensor("negLogLikelihood")?);
    let (alpha, out) = (cx.tensor("logAlpha")?, cx.out("out")?);
    let sizes = sequences(cx, &x, &targets, "targetLengths", &alpha)?;
    cx.check_dims(&gradient, &[sizes.batch])?;
    cx.check_dims(&losses, &[sizes.batch])?;
    cx.check_dims(&out, &[sizes.times, sizes.batch, sizes.classes])?;
    if sizes.batch == 0 {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let compute = accumulator(x.dtype());
    let body = LossBackward {
        sizes,
        zero_infinity: cx.flag("zeroInfinity")?,
    };
    run(
        cx,
        compute,
        body,
        &[
            (gradient, compute),
            (x, compute),
            (targets, DataType::Int64),
            (losses, compute),
            (alpha, compute),
        ],
        &[(out, compute)],
    )
}
