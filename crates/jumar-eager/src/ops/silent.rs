//! Checks of gradients for silent faults: a value far from the earlier ones.
//!
//! Not documented: the numbers of the result (here 0: nothing found, 1: a fault, 2: a warning); how a jump is measured (here by the
//! distance from the last value, relative to the range of all, once `cMinSteps` checks have passed); how the average follows the
//! value (here `beta1 * average + (1 - beta1) * value`); and what ends a training (here a gradient of zeros, which the second form
//! documents). The limit of the second form, `avg / (1 - beta1)^step` in its document, is read as the usual correction
//! `avg / (1 - beta1^step)`.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

pub(crate) static TABLE: &Table = &[("aclnnSilentCheck", first), ("aclnnSilentCheckV2", second)];

/// How a value is compared with the earlier ones.
enum Compare {
    /// With two limits, and by its jump from the last value: the state is the last, the smallest and the largest value.
    Jump {
        steps: i64,
        limits: [f64; 2],
        jumps: [f64; 2],
    },
    /// With multiples of the average of the values, which is the state.
    Average { limits: [f64; 2], decay: f64 },
}

/// Inputs, dense: the value and the state, float64, and the number of checks, int64. Outputs: the new state and number, the result,
/// and whether the gradient is kept.
struct Check {
    compare: Compare,
    detect: i64,
}

impl Kernel for Check {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let value = call.input::<f64>(0)?.flat().get(0);
        let state = call.input::<f64>(1)?.flat();
        let step = call.input::<i64>(2)?.flat().get(0);
        if step < 0 {
            let text = format!("stepRef is {step}; it must not be negative");
            return Err(OpError::new(OpErrorKind::Data, text));
        }
        let exceeds = |which: usize| match &self.compare {
            Compare::Jump {
                steps,
                limits,
                jumps,
            } => {
                let range = state.get(2) - state.get(1);
                let jump = (value - state.get(0)).abs();
                value > limits[which] || step >= *steps && jump > jumps[which] * range
            }
            Compare::Average { limits, decay } => {
                let average = match step {
                    0 => state.get(0),
                    step => state.get(0) / (1.0 - decay.powf(step as f64)),
                };
                value > average * limits[which]
            }
        };
        let level = match () {
            () if !value.is_finite() || exceeds(0) => 1,
            () if exceeds(1) => 2,
            () => 0,
        };
        let updates = match level {
            1 => self.detect == 1,
            0 => self.detect != 3,
            _ => true,
        };
        let (to, count) = (call.output::<f64>(0)?.flat(), call.output::<i64>(1)?.flat());
        to.copy_from(state);
        count.set(0, step + i64::from(updates));
        if updates {
            match &self.compare {
                Compare::Jump { .. } => {
                    to.set(0, value);
                    to.set(1, state.get(1).min(value));
                    to.set(2, state.get(2).max(value));
                }
                Compare::Average { decay, .. } => {
                    to.set(0, decay * state.get(0) + (1.0 - decay) * value);
                }
            }
        }
        call.output::<i32>(2)?.flat().set(0, level);
        let keeps = level != 1 || self.detect == 1;
        call.output::<f32>(3)?
            .flat()
            .set(0, f32::from(u8::from(keeps)));
        Ok(())
    }
}

/// Clears a row, or leaves it.
struct Keep;

impl RowFunction for Keep {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        match rows.input(1).get(0) == 0.0 {
            true => rows.output(0).fill(0.0),
            false => rows.output(0).copy_from(rows.input(0)),
        }
    }
}

fn one(cx: &Cx<'_>, view: &View, count: usize) -> Result<(), Refusal> {
    match view.elements() == count {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have {count} elements",
            cx.param_of(view),
            view.dims()
        ))),
    }
}

fn plan(cx: &mut Cx<'_>, state: &str, size: usize, compare: Compare) -> Result<(), Refusal> {
    let (value, gradient) = (cx.tensor("val")?, cx.tensor("inputGradRef")?);
    let (state, step, result) = (cx.tensor(state)?, cx.tensor("stepRef")?, cx.out("result")?);
    for view in [&value, &gradient, &state] {
        cx.check_types(view, FLOATS)?;
    }
    cx.check_dtype(&step, DataType::Int64)?;
    cx.check_dtype(&result, DataType::Int32)?;
    for (view, count) in [(&value, 1), (&state, size), (&step, 1), (&result, 1)] {
        one(cx, view, count)?;
    }
    let check = Check {
        compare,
        detect: cx.int("npuAsdDetect")?,
    };
    let flat = |cx: &mut Cx<'_>, view: View, dtype| -> Result<View, Refusal> {
        let view = cx.cast(view, dtype)?;
        let view = cx.reshaped(view, &[view.elements()])?;
        cx.dense(view)
    };
    let inputs = [
        Some(flat(cx, value, DataType::Float64)?),
        Some(flat(cx, state, DataType::Float64)?),
        Some(flat(cx, step, DataType::Int64)?),
    ];
    let next = cx.temporary(DataType::Float64, &[size])?;
    let count = cx.temporary(DataType::Int64, &[1])?;
    let found = cx.temporary(DataType::Int32, &[1])?;
    let keeps = cx.temporary(DataType::Float32, &[1])?;
    let outputs = [next, count, found, keeps];
    cx.kernel(Box::new(check), &inputs, &outputs, false)?;
    for (from, to) in [(next, state), (count, step), (found, result)] {
        let from = cx.reshaped(from, to.dims())?;
        cx.copy(from, to)?;
    }
    if gradient.is_empty() {
        return Ok(());
    }
    let gradient = match gradient.rank() {
        0 => gradient.unsqueeze(0),
        _ => gradient,
    };
    let mut dims = gradient.dims().to_vec();
    if let Some(last) = dims.last_mut() {
        *last = 1;
    }
    let keeps = keeps.expand(&dims);
    cx.rows(Keep, &[Some(gradient), keeps], &[Some(gradient)])
}

fn first(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let compare = Compare::Jump {
        steps: cx.int("cMinSteps")?,
        limits: [cx.float("cThreshL1")?, cx.float("cThreshL2")?],
        jumps: [cx.float("cCoeffL1")?, cx.float("cCoeffL2")?],
    };
    plan(cx, "sfdaRef", 3, compare)
}

fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let max = cx.tensor("max")?;
    cx.check_types(&max, FLOATS)?;
    one(cx, &max, 1)?;
    let (limits, decay) = (
        [cx.float("cThreshL1")?, cx.float("cThreshL2")?],
        cx.float("beta1")?,
    );
    if !(decay > 0.0 && decay < 1.0) {
        return Err(cx.invalid(format_args!(
            "beta1 is {decay}; it must lie between 0 and 1"
        )));
    }
    if limits[0] <= limits[1] {
        return Err(cx.invalid(format_args!(
            "cThreshL1 is {} and cThreshL2 {}; the first must be larger",
            limits[0], limits[1]
        )));
    }
    plan(cx, "avgRef", 1, Compare::Average { limits, decay })
}
