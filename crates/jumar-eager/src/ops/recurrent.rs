//! Long short-term memory: cells, layers of them, and their gradients.
//!
//! The gates of a cell lie side by side in the order input, forget, candidate, output, as PyTorch has them.

use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::{Body, Real, run};
use super::matrix::multiply;
use super::normalization::{check_count, computed};
use super::reduction::{accumulator, reduce};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnLSTM", layers),
    ("aclnnLstmBackward", layers_backward),
    ("aclnnThnnFusedLstmCell", cell),
    ("aclnnThnnFusedLstmCellBackward", cell_backward),
];

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

/// Adds up terms in the type of the computation.
fn sum_of(
    cx: &mut Cx<'_>,
    compute: DataType,
    terms: &[View],
    dims: &[usize],
) -> Result<View, Refusal> {
    let mut sum = terms[0];
    for term in &terms[1..] {
        let both = [Operand::Tensor(sum), Operand::Tensor(*term)];
        sum = computed(cx, F::Add, compute, &both, dims)?;
    }
    Ok(sum)
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

fn cell(cx: &mut Cx<'_>) -> Result<(), Refusal> {
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

/// Returns a tensor, or zeros where there is none.
fn or_zeros(
    cx: &mut Cx<'_>,
    view: Option<View>,
    compute: DataType,
    dims: &[usize],
) -> Result<View, Refusal> {
    match view.filter(|view| !view.is_empty() || dims.contains(&0)) {
        Some(view) => {
            check_count(cx, &view, dims)?;
            cx.reshaped(view, dims)
        }
        None => {
            let zeros = cx.temporary(compute, dims)?;
            cx.fill(Scalar::of_i64(0), zeros)?;
            Ok(zeros)
        }
    }
}

fn cell_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
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

/// What the layers of a call have in common.
struct Layers {
    times: usize,
    batch: usize,
    units: usize,
    directions: usize,
    count: usize,
    has_bias: bool,
    compute: DataType,
}

impl Layers {
    /// Returns the number of parameters of a layer in one direction.
    fn each(&self) -> usize {
        if self.has_bias { 4 } else { 2 }
    }
}

/// Reads the sizes. The input comes with times first.
fn sizes(
    cx: &Cx<'_>,
    batch_sizes: &str,
    x: &View,
    hidden: &View,
    params: &[View],
) -> Result<Layers, Refusal> {
    if cx
        .optional(batch_sizes)?
        .is_some_and(|sizes| !sizes.is_empty())
    {
        return Err(cx.unsupported(format_args!(
            "{batch_sizes} is given; packed sequences are not supported"
        )));
    }
    if cx.flag("train")? && cx.float("dropout")? != 0.0 {
        return Err(cx.unsupported(format_args!(
            "dropout is {}; dropout between layers is not supported while training",
            cx.float("dropout")?
        )));
    }
    let directions = 1 + usize::from(cx.flag("bidirectional")?);
    let (has_bias, number) = (cx.flag("hasBias")?, cx.int("numLayers")?);
    let count = usize::try_from(number)
        .ok()
        .filter(|count| (1..=1024).contains(count));
    let (&[times, batch, _], &[all, own, units], Some(count)) = (x.dims(), hidden.dims(), count)
    else {
        return Err(cx.invalid(format_args!(
            "input has the shape {:?}, hx[0] {:?} and numLayers is {number}; 3 dimensions of both and 1 to 1024 layers are required",
            x.dims(),
            hidden.dims()
        )));
    };
    let layers = Layers {
        times,
        batch,
        units,
        directions,
        count,
        has_bias,
        compute: accumulator(x.dtype()),
    };
    if own != batch || all != count * directions || params.len() != all * layers.each() {
        return Err(cx.invalid(format_args!(
            "hx[0] has the shape {:?} and params has {} tensors; [{}, {batch}, {units}] and {} are required",
            hidden.dims(),
            params.len(),
            count * directions,
            count * directions * layers.each()
        )));
    }
    Ok(layers)
}

/// Runs the times of one layer in one direction. Inputs: the sums of the gates by the input, the weights of the hidden values,
/// hidden values and state before. Outputs, for each time: input, candidate, forget and output gates, hidden values, state, and
/// its hyperbolic tangent.
struct Times {
    times: usize,
    batch: usize,
    units: usize,
    reversed: bool,
}

impl Times {
    fn time(&self, step: usize) -> usize {
        if self.reversed {
            self.times - 1 - step
        } else {
            step
        }
    }

    fn len(&self) -> usize {
        self.batch * self.units
    }
}

/// Returns the product of a row of weights and of values.
fn dot<T: Real>(weights: Row<'_, T>, values: Row<'_, T>) -> f64 {
    (0..weights.len()).fold(0.0, |sum, at| {
        sum + weights.get(at).number() * values.get(at).number()
    })
}

impl Body for Times {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let input = |index: usize| call.input::<T>(index).map(|input| input.flat());
        let (sums, weights, hidden, state) = (input(0)?, input(1)?, input(2)?, input(3)?);
        let mut outputs: Vec<RowMut<'_, T>> = Vec::with_capacity(7);
        for index in 0..7 {
            outputs.push(call.output::<T>(index)?.flat());
        }
        let (units, len) = (self.units, self.len());
        for step in 0..self.times {
            let now = self.time(step) * len;
            let (before_hidden, before_state) = match step {
                0 => (hidden, state),
                _ => {
                    let before = self.time(step - 1) * len;
                    (
                        outputs[4].as_row().slice(before, len),
                        outputs[5].as_row().slice(before, len),
                    )
                }
            };
            call.workers()
                .ranges(len, 64usize.div_ceil(units.max(1)), |first, count| {
                    for at in first..first + count {
                        let (row, unit) = (at / units, at % units);
                        let values = before_hidden.slice(row * units, units);
                        let gate = Unit::activated(|gate| {
                            let own = gate * units + unit;
                            let sum = sums.get(now * 4 + row * 4 * units + own).number();
                            sum + dot(weights.slice(own * units, units), values)
                        });
                        let next = gate.forget * before_state.get(at).number()
                            + gate.input * gate.candidate;
                        let squashed = next.tanh();
                        let all = [
                            gate.input,
                            gate.candidate,
                            gate.forget,
                            gate.output,
                            gate.output * squashed,
                            next,
                            squashed,
                        ];
                        for (output, value) in outputs.iter().zip(all) {
                            output.set(now + at, T::of(value));
                        }
                    }
                });
        }
        Ok(())
    }
}

/// The gradient of [`Times`]. Inputs: gradients of the hidden values of all times, of the last hidden values and of the last
/// state; gates as there; the states, their hyperbolic tangents, the state before, and the weights. Outputs: gradients of the
/// sums of the gates, of hidden values and of state before.
struct TimesBackward(Times);

impl Body for TimesBackward {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let mut inputs: Vec<Row<'_, T>> = Vec::with_capacity(11);
        for index in 0..11 {
            inputs.push(call.input::<T>(index)?.flat());
        }
        let [
            by_hidden,
            by_last,
            by_state,
            i,
            j,
            f,
            o,
            state,
            squashed,
            before,
            weights,
        ] = inputs[..]
        else {
            let text = "the gradient of a layer has eleven inputs";
            return Err(OpError::new(OpErrorKind::Internal, text));
        };
        let output = |index: usize| call.output::<T>(index).map(|output| output.flat());
        let (to_sums, to_hidden, to_state) = (output(0)?, output(1)?, output(2)?);
        let times = &self.0;
        let (units, len) = (times.units, times.len());
        let mut hidden: Vec<f64> = (0..len).map(|at| by_last.get(at).number()).collect();
        let mut carried: Vec<f64> = (0..len).map(|at| by_state.get(at).number()).collect();
        for step in (0..times.times).rev() {
            let now = times.time(step) * len;
            for at in 0..len {
                let (row, unit) = (at / units, at % units);
                let own = Unit {
                    input: i.get(now + at).number(),
                    forget: f.get(now + at).number(),
                    candidate: j.get(now + at).number(),
                    output: o.get(now + at).number(),
                };
                let earlier = match step {
                    0 => before.get(at).number(),
                    _ => state.get(times.time(step - 1) * len + at).number(),
                };
                let (gates, rest) = own.backward(
                    hidden[at] + by_hidden.get(now + at).number(),
                    carried[at],
                    earlier,
                    squashed.get(now + at).number(),
                );
                carried[at] = rest;
                for (gate, value) in gates.into_iter().enumerate() {
                    to_sums.set(
                        now * 4 + row * 4 * units + gate * units + unit,
                        T::of(value),
                    );
                }
            }
            hidden.fill(0.0);
            for row in 0..times.batch {
                for gate in 0..4 * units {
                    let own = to_sums.get(now * 4 + row * 4 * units + gate).number();
                    for unit in 0..units {
                        hidden[row * units + unit] +=
                            own * weights.get(gate * units + unit).number();
                    }
                }
            }
        }
        for at in 0..len {
            to_hidden.set(at, T::of(hidden[at]));
            to_state.set(at, T::of(carried[at]));
        }
        Ok(())
    }
}

/// The outputs that a backward pass reads again, in the order of [`Times`].
const KEPT: [&str; 7] = ["iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut"];

/// Returns the two tensors of the hidden values and of the state.
fn initial(cx: &Cx<'_>) -> Result<[View; 2], Refusal> {
    match cx.tensors("hx")?[..] {
        [hidden, state] => {
            cx.check_dims(&state, hidden.dims())?;
            Ok([hidden, state])
        }
        ref other => Err(cx.invalid(format_args!(
            "hx has {} tensors; the hidden values and the state are required",
            other.len()
        ))),
    }
}

/// Views a sequence with times first.
fn times_first(cx: &Cx<'_>, x: View) -> Result<View, Refusal> {
    match cx.flag("batchFirst")? && x.rank() == 3 {
        true => Ok(x.transpose(0, 1)),
        false => Ok(x),
    }
}

/// Views the values of one direction in the last dimension.
fn of_direction(x: View, direction: usize, units: usize) -> View {
    x.slice(x.rank() - 1, direction * units, units, 1)
}

fn layers(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("input")?;
    let (x, [hidden, state]) = (times_first(cx, x)?, initial(cx)?);
    let params = cx.tensors("params")?;
    let layers = sizes(cx, "batchSizes", &x, &hidden, &params)?;
    let Layers {
        times,
        batch,
        units,
        directions,
        compute,
        ..
    } = layers;
    let output = cx.out("output")?;
    let output = times_first(cx, output)?;
    cx.check_dims(&output, &[times, batch, directions * units])?;
    let (last_hidden, last_state) = (cx.out("hy")?, cx.out("cy")?);
    cx.check_dims(&last_hidden, hidden.dims())?;
    cx.check_dims(&last_state, hidden.dims())?;
    let mut kept = Vec::with_capacity(KEPT.len());
    for name in KEPT {
        kept.push(cx.optional_tensors(name)?);
    }
    let mut current = cx.cast(x, compute)?;
    for layer in 0..layers.count {
        let joined = cx.temporary(compute, &[times, batch, directions * units])?;
        for direction in 0..directions {
            let number = layer * directions + direction;
            let own = &params[number * layers.each()..][..layers.each()];
            let [input_weights, hidden_weights] = [own[0], own[1]];
            let width = current.dims()[2];
            cx.check_dims(&input_weights, &[4 * units, width])?;
            cx.check_dims(&hidden_weights, &[4 * units, units])?;
            let flat = cx.reshaped(current, &[times * batch, width])?;
            let weights = cx.cast(input_weights, compute)?;
            let products = cx.temporary(compute, &[times * batch, 4 * units])?;
            multiply(cx, flat, weights.transpose(0, 1), products)?;
            let mut terms = vec![products];
            for bias in &own[2..] {
                cx.check_dims(bias, &[4 * units])?;
                terms.push(*bias);
            }
            let sums = sum_of(cx, compute, &terms, &[times * batch, 4 * units])?;
            let mut results = Vec::with_capacity(KEPT.len());
            for _ in KEPT {
                results.push((cx.temporary(compute, &[times, batch, units])?, compute));
            }
            let body = Times {
                times,
                batch,
                units,
                reversed: direction == 1,
            };
            let inputs = [
                (sums, compute),
                (hidden_weights, compute),
                (hidden.select(0, number), compute),
                (state.select(0, number), compute),
            ];
            run(cx, compute, body, &inputs, &results)?;
            for (list, (result, _)) in kept.iter().zip(&results) {
                if let Some(to) = list
                    .get(number)
                    .copied()
                    .flatten()
                    .filter(|to| !to.is_empty())
                {
                    check_count(cx, &to, result.dims())?;
                    let result = cx.reshaped(*result, to.dims().to_vec().as_slice())?;
                    cx.copy(result, to)?;
                }
            }
            let (all_hidden, all_states) = (results[4].0, results[5].0);
            cx.copy(all_hidden, of_direction(joined, direction, units))?;
            for (all, first, last) in [
                (all_hidden, hidden, last_hidden),
                (all_states, state, last_state),
            ] {
                let value = match (times, direction) {
                    (0, _) => first.select(0, number),
                    (_, 0) => all.select(0, times - 1),
                    _ => all.select(0, 0),
                };
                cx.copy(value, last.select(0, number))?;
            }
        }
        current = joined;
    }
    cx.copy(current, output)
}

fn layers_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("input")?;
    let (x, [hidden, state]) = (times_first(cx, x)?, initial(cx)?);
    let params = cx.tensors("params")?;
    let layers = sizes(cx, "batchSizesOptional", &x, &hidden, &params)?;
    let Layers {
        times,
        batch,
        units,
        directions,
        compute,
        ..
    } = layers;
    // Without a mask all gradients are wanted.
    let wanted = cx.optional_bools("outputMask")?.unwrap_or(&[]).to_vec();
    let wants = |index: usize| wanted.get(index).copied().unwrap_or(true);
    let shape = [times, batch, directions * units];
    let mut gradient = match cx.optional("dy")? {
        Some(view) if !view.is_empty() => {
            let view = times_first(cx, view)?;
            cx.check_dims(&view, &shape)?;
            view
        }
        _ => or_zeros(cx, None, compute, &shape)?,
    };
    let (by_hidden, by_state) = (cx.optional("dh")?, cx.optional("dc")?);
    let by_hidden = or_zeros(cx, by_hidden, compute, hidden.dims())?;
    let by_state = or_zeros(cx, by_state, compute, hidden.dims())?;
    let mut kept = Vec::with_capacity(7);
    for name in ["i", "g", "f", "o", "h", "c", "tanhc"] {
        let list = cx.tensors(name)?;
        if list.len() != layers.count * directions {
            return Err(cx.invalid(format_args!(
                "{name} has {} tensors; one for each of {} layers and directions is required",
                list.len(),
                layers.count * directions
            )));
        }
        let mut own = Vec::with_capacity(list.len());
        for view in list {
            check_count(cx, &view, &[times, batch, units])?;
            own.push(cx.reshaped(view, &[times, batch, units])?);
        }
        kept.push(own);
    }
    let to_params = cx.optional_tensors("dparamsOut")?;
    let (to_x, to_hidden, to_state) =
        (cx.out("dxOut")?, cx.out("dhPrevOut")?, cx.out("dcPrevOut")?);
    for layer in (0..layers.count).rev() {
        let below = match layer {
            0 => cx.cast(x, compute)?,
            _ => {
                let joined = cx.temporary(compute, &shape)?;
                for direction in 0..directions {
                    let own = kept[4][(layer - 1) * directions + direction];
                    cx.copy(own, of_direction(joined, direction, units))?;
                }
                joined
            }
        };
        let width = below.dims()[2];
        let flat = cx.reshaped(below, &[times * batch, width])?;
        let mut terms = Vec::with_capacity(directions);
        for direction in 0..directions {
            let number = layer * directions + direction;
            let first = number * layers.each();
            let (input_weights, hidden_weights) = (params[first], params[first + 1]);
            cx.check_dims(&input_weights, &[4 * units, width])?;
            cx.check_dims(&hidden_weights, &[4 * units, units])?;
            let sums = cx.temporary(compute, &[times, batch, 4 * units])?;
            let earlier = [
                cx.temporary(compute, &[batch, units])?,
                cx.temporary(compute, &[batch, units])?,
            ];
            let body = TimesBackward(Times {
                times,
                batch,
                units,
                reversed: direction == 1,
            });
            let own = |list: usize| (kept[list][number], compute);
            let inputs = [
                (of_direction(gradient, direction, units), compute),
                (by_hidden.select(0, number), compute),
                (by_state.select(0, number), compute),
                own(0),
                own(1),
                own(2),
                own(3),
                own(5),
                own(6),
                (state.select(0, number), compute),
                (hidden_weights, compute),
            ];
            let outputs = [
                (sums, compute),
                (earlier[0], compute),
                (earlier[1], compute),
            ];
            run(cx, compute, body, &inputs, &outputs)?;
            for (index, (to, value)) in [(to_hidden, earlier[0]), (to_state, earlier[1])]
                .into_iter()
                .enumerate()
            {
                if wants(index + 1) && !to.is_empty() {
                    cx.check_dims(&to, hidden.dims())?;
                    cx.copy(value, to.select(0, number))?;
                }
            }
            let sums = cx.reshaped(sums, &[times * batch, 4 * units])?;
            // The hidden values that each time started from.
            let starts = cx.temporary(compute, &[times, batch, units])?;
            if times > 0 {
                let all = kept[4][number];
                let (own, from, to) = match direction {
                    0 => (0, 0, 1),
                    _ => (times - 1, 1, 0),
                };
                cx.copy(hidden.select(0, number), starts.select(0, own))?;
                cx.copy(
                    all.slice(0, from, times - 1, 1),
                    starts.slice(0, to, times - 1, 1),
                )?;
            }
            let starts = cx.reshaped(starts, &[times * batch, units])?;
            for (index, rows) in [flat, starts].into_iter().enumerate() {
                if let Some(to) = to_params
                    .get(first + index)
                    .copied()
                    .flatten()
                    .filter(|to| !to.is_empty())
                {
                    multiply(cx, sums.transpose(0, 1), rows, to)?;
                }
            }
            for index in 2..layers.each() {
                if let Some(to) = to_params
                    .get(first + index)
                    .copied()
                    .flatten()
                    .filter(|to| !to.is_empty())
                {
                    reduce(cx, "ReduceSum", sums, &[0], false, to)?;
                }
            }
            let weights = cx.cast(input_weights, compute)?;
            let part = cx.temporary(compute, &[times * batch, width])?;
            multiply(cx, sums, weights, part)?;
            terms.push(part);
        }
        let total = sum_of(cx, compute, &terms, &[times * batch, width])?;
        gradient = cx.reshaped(total, &[times, batch, width])?;
    }
    if wants(0) && !to_x.is_empty() {
        let to_x = times_first(cx, to_x)?;
        cx.check_dims(&to_x, x.dims())?;
        cx.copy(gradient, to_x)?;
    }
    Ok(())
}
