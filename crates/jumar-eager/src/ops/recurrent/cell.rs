//! Cells of long short-term memory and their gradient.
//!
//! The gates of a cell lie side by side in the order input, forget, candidate, output, as PyTorch has them.

use jumar_ops::{Call, OpError};

use super::{or_zeros, sum_of};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense::{Body, Real, run};
use crate::ops::normalization::check_count;
use crate::ops::reduction::{accumulator, reduce};
use crate::view::View;

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The activations of one unit.
struct Unit {
    input: f64,
    forget: f64,
    candidate: f64,
    output: f64,
}

impl Unit {
    /// Reads the sums of the four gates of a unit, and applies their functions.
    fn activated(sum: impl Fn(usize) -> f64) -> Unit {
        Unit {
            input: logistic(sum(0)),
            forget: logistic(sum(1)),
            candidate: sum(2).tanh(),
            output: logistic(sum(3)),
        }
    }

    /// Returns the gradients of the sums of the gates, and that of the earlier state.
    fn backward(
        &self,
        by_hidden: f64,
        by_state: f64,
        before: f64,
        squashed: f64,
    ) -> ([f64; 4], f64) {
        let by_output = by_hidden * squashed;
        let by_state = by_hidden * self.output * (1.0 - squashed * squashed) + by_state;
        let slope = |gate: f64| gate * (1.0 - gate);
        let gates = [
            by_state * self.candidate * slope(self.input),
            by_state * before * slope(self.forget),
            by_state * self.input * (1.0 - self.candidate * self.candidate),
            by_output * slope(self.output),
        ];
        (gates, by_state * self.forget)
    }
}

/// One step of cells whose sums of the gates are known. Inputs: sums `[batch, 4 * units]`, state. Outputs: hidden, state, gates.
struct Cell {
    units: usize,
}

impl Body for Cell {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (sums, before) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let output = |index: usize| call.output::<T>(index).map(|output| output.flat());
        let (hidden, state, gates) = (output(0)?, output(1)?, output(2)?);
        let units = self.units;
        for at in 0..before.len() {
            let (row, unit) = (at / units, at % units);
            let own = |gate: usize| row * 4 * units + gate * units + unit;
            let gate = Unit::activated(|gate| sums.get(own(gate)).number());
            let next = gate.forget * before.get(at).number() + gate.input * gate.candidate;
            state.set(at, T::of(next));
            hidden.set(at, T::of(gate.output * next.tanh()));
            let all = [gate.input, gate.forget, gate.candidate, gate.output];
            for (index, value) in all.into_iter().enumerate() {
                gates.set(own(index), T::of(value));
            }
        }
        Ok(())
    }
}

/// The gradient of [`Cell`]. Inputs: gradients of hidden and state, the state before and after, gates. Outputs: gradients of the
/// sums and of the state before.
struct CellBackward {
    units: usize,
}

impl Body for CellBackward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = |index: usize| call.input::<T>(index).map(|input| input.flat());
        let (by_hidden, by_state, before) = (input(0)?, input(1)?, input(2)?);
        let (after, gates) = (input(3)?, input(4)?);
        let (to_gates, to_state) = (call.output::<T>(0)?.flat(), call.output::<T>(1)?.flat());
        let units = self.units;
        for at in 0..before.len() {
            let (row, unit) = (at / units, at % units);
            let own = |gate: usize| row * 4 * units + gate * units + unit;
            let gate = |index: usize| gates.get(own(index)).number();
            let unit = Unit {
                input: gate(0),
                forget: gate(1),
                candidate: gate(2),
                output: gate(3),
            };
            let (to, earlier) = unit.backward(
                by_hidden.get(at).number(),
                by_state.get(at).number(),
                before.get(at).number(),
                after.get(at).number().tanh(),
            );
            for (index, value) in to.into_iter().enumerate() {
                to_gates.set(own(index), T::of(value));
            }
            to_state.set(at, T::of(earlier));
        }
        Ok(())
    }
}

/// Returns the batch and the units of the state of cells.
fn state_dims(cx: &Cx<'_>, state: &View) -> Result<[usize; 2], Refusal> {
    match state.dims() {
        &[batch, units] => Ok([batch, units]),
        dims => Err(cx.invalid(format_args!(
            "cx has the shape {dims:?}; 2 dimensions are required"
        ))),
    }
}

pub(super) fn forward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (by_input, by_hidden) = (cx.tensor("inputGates")?, cx.tensor("hiddenGates")?);
    let before = cx.tensor("cx")?;
    let [batch, units] = state_dims(cx, &before)?;
    let dims = [batch, 4 * units];
    let mut terms = vec![by_input, by_hidden];
    for term in &terms {
        cx.check_dims(term, &dims)?;
    }
    for name in ["inputBiasOptional", "hiddenBiasOptional"] {
        if let Some(bias) = cx.optional(name)? {
            cx.check_dims(&bias, &[4 * units])?;
            terms.push(bias);
        }
    }
    let (hidden, state, gates) = (cx.out("hyOut")?, cx.out("cyOut")?, cx.out("storageOut")?);
    cx.check_dims(&hidden, before.dims())?;
    cx.check_dims(&state, before.dims())?;
    check_count(cx, &gates, &dims)?;
    let compute = accumulator(before.dtype());
    let sums = sum_of(cx, compute, &terms, &dims)?;
    run(
        cx,
        compute,
        Cell { units },
        &[(sums, compute), (before, compute)],
        &[(hidden, compute), (state, compute), (gates, compute)],
    )
}

pub(super) fn backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (before, after, gates) = (cx.tensor("cx")?, cx.tensor("cy")?, cx.tensor("storage")?);
    let [batch, units] = state_dims(cx, &before)?;
    let compute = accumulator(before.dtype());
    let dims = [batch, units];
    cx.check_dims(&after, &dims)?;
    check_count(cx, &gates, &[batch, 4 * units])?;
    let (by_hidden, by_state) = (
        cx.optional("gradHyOptional")?,
        cx.optional("gradCOptional")?,
    );
    let by_hidden = or_zeros(cx, by_hidden, compute, &dims)?;
    let by_state = or_zeros(cx, by_state, compute, &dims)?;
    let (to_gates, to_state) = (cx.out("gradGatesOut")?, cx.out("gradCxOut")?);
    cx.check_dims(&to_gates, &[batch, 4 * units])?;
    cx.check_dims(&to_state, &dims)?;
    let sums = cx.temporary(compute, to_gates.dims())?;
    run(
        cx,
        compute,
        CellBackward { units },
        &[
            (by_hidden, compute),
            (by_state, compute),
            (before, compute),
            (after, compute),
            (gates, compute),
        ],
        &[(sums, compute), (to_state, compute)],
    )?;
    cx.copy(sums, to_gates)?;
    if cx.flag("hasBias")? {
        let to_bias = cx.out("gradBiasOut")?;
        cx.check_dims(&to_bias, &[4 * units])?;
        return reduce(cx, "ReduceSum", sums, &[0], false, to_bias);
    }
    Ok(())
}
