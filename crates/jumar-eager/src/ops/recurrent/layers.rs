//! Layers of LSTM and GRU over sequences, and their gradients.
//!
//! The gates of a unit have the order of PyTorch: input, forget, candidate, output; and reset, update, candidate.

use jumar_ops::{Attrs, Tensor};
use jumar_types::dtype::DataType;

use super::{or_zeros, sum_of};
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::ops::matrix::multiply;
use crate::ops::normalization::check_count;
use crate::ops::reduction::{accumulator, reduce};
use crate::view::View;
use crate::{Arg, Refusal};

/// What the layers of one kind have of their own. The first state is that of the hidden values.
pub(super) struct Family {
    gates: usize,
    /// The operators that compute what depends on the state, and its gradient.
    steps: &'static str,
    gradient: &'static str,
    bidirectional: &'static str,
    /// The outputs that a backward pass reads again, in the order of the operator's outputs, and their names there.
    kept: &'static [&'static str],
    read: &'static [&'static str],
    /// The last states, their gradients, and those of the first states.
    last: &'static [&'static str],
    by_last: &'static [&'static str],
    to_first: &'static [&'static str],
    /// Whether the biases of the state are added to the sums of the input. A GRU multiplies one by the reset gate first.
    one_bias: bool,
    /// The argument that says which gradients are wanted.
    mask: Option<&'static str>,
    /// Whether sequences of different lengths keep a row for each time and sequence: the rows behind the end of one mean nothing.
    /// Otherwise they have the rows of all times one behind the other, without those.
    padded: bool,
}

/// The position of the hidden values among what is kept.
const HIDDEN: usize = 4;

pub(super) static LSTM: Family = Family {
    gates: 4,
    steps: "jumar.LstmSteps",
    gradient: "jumar.LstmStepsGrad",
    bidirectional: "bidirectional",
    kept: &["iOut", "jOut", "fOut", "oOut", "hOut", "cOut", "tanhCOut"],
    read: &["i", "g", "f", "o", "h", "c", "tanhc"],
    last: &["hy", "cy"],
    by_last: &["dh", "dc"],
    to_first: &["dhPrevOut", "dcPrevOut"],
    one_bias: true,
    mask: Some("outputMask"),
    padded: true,
};

pub(super) static GRU: Family = Family {
    gates: 3,
    steps: "jumar.GruSteps",
    gradient: "jumar.GruStepsGrad",
    bidirectional: "bidirection",
    kept: &["rOut", "zOut", "nOut", "hnOut", "hOut"],
    read: &["r", "z", "n", "hn", "h"],
    last: &["hy"],
    by_last: &["dh"],
    to_first: &["dhPrevOut"],
    one_bias: false,
    mask: None,
    padded: false,
};

/// What the layers of a call have in common.
struct Layers {
    /// Times and batch, unless the sequence is packed without padding.
    times: Option<[usize; 2]>,
    /// The number of rows of each time of a sequence that is packed without padding.
    sizes: Option<View>,
    /// 1 for each value of a time that belongs to a sequence, and 0 for padding; none without padding.
    mask: Option<View>,
    batch_first: bool,
    /// The rows of all times.
    rows: usize,
    batch: usize,
    units: usize,
    directions: usize,
    count: usize,
    has_bias: bool,
    compute: DataType,
}

impl Layers {
    /// Reads the sizes.
    fn read(
        cx: &mut Cx<'_>,
        family: &Family,
        sizes: &str,
        [x, hidden]: [&View; 2],
        params: usize,
    ) -> Result<Layers, Refusal> {
        let sizes = cx.optional(sizes)?.filter(|sizes| !sizes.is_empty());
        let directions = 1 + usize::from(cx.flag(family.bidirectional)?);
        let (has_bias, number) = (cx.flag("hasBias")?, cx.int("numLayers")?);
        let batch_first = cx.flag("batchFirst")?;
        let count = usize::try_from(number)
            .ok()
            .filter(|count| (1..=1024).contains(count));
        let times = match (x.dims(), &sizes) {
            (&[rows, _], Some(sizes)) if family.padded => {
                let times = sizes.elements();
                rows.is_multiple_of(times)
                    .then(|| (rows, Some([times, rows / times])))
            }
            (&[rows, _], Some(_)) => Some((rows, None)),
            (&[batch, times, _], None) if batch_first => {
                Some((times * batch, Some([times, batch])))
            }
            (&[times, batch, _], None) => Some((times * batch, Some([times, batch]))),
            _ => None,
        };
        let (Some((rows, times)), &[all, batch, units], Some(count)) =
            (times, hidden.dims(), count)
        else {
            return Err(cx.invalid(format_args!(
                "input has the shape {:?}, hx {:?} and numLayers is {number}; 3 dimensions of both (2 of a packed input) and 1 to 1024 layers are required",
                x.dims(),
                hidden.dims()
            )));
        };
        let own = times.map_or(batch, |[_, batch]| batch);
        let each = if has_bias { 4 } else { 2 };
        let number = count * directions;
        if own != batch || all != number || params != number * each {
            return Err(cx.invalid(format_args!(
                "hx has the shape {:?} and params has {params} tensors; [{number}, {own}, {units}] and {} are required",
                hidden.dims(),
                number * each
            )));
        }
        let sizes = match sizes {
            Some(sizes) if sizes.rank() == 1 => Some(cx.cast(sizes, DataType::Int64)?),
            Some(sizes) => {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {:?}; 1 dimension is required",
                    cx.param_of(&sizes),
                    sizes.dims()
                )));
            }
            None => None,
        };
        let compute = accumulator(x.dtype());
        let (mask, sizes) = match (sizes, times) {
            (Some(sizes), Some(times)) => (Some(mask_of(cx, &sizes, times, units, compute)?), None),
            (sizes, _) => (None, sizes),
        };
        Ok(Layers {
            times,
            sizes,
            // The rows of padded sequences lie as times first.
            batch_first: batch_first && mask.is_none(),
            mask,
            rows,
            batch,
            units,
            directions,
            count,
            has_bias,
            compute,
        })
    }

    /// Returns the number of parameters of a layer in one direction.
    fn each(&self) -> usize {
        if self.has_bias { 4 } else { 2 }
    }

    /// Returns the shape of a sequence with times first.
    fn dims(&self, columns: usize) -> Vec<usize> {
        match self.times {
            Some([times, batch]) => vec![times, batch, columns],
            None => vec![self.rows, columns],
        }
    }

    /// Views a sequence with times first.
    fn times_first(&self, cx: &Cx<'_>, x: View, columns: usize) -> Result<View, Refusal> {
        // Padded sequences are given with one dimension for the rows, and results with two.
        if self.mask.is_some() && x.rank() == 2 {
            cx.check_dims(&x, &[self.rows, columns])?;
            return Ok(x);
        }
        let turned = self.batch_first && self.times.is_some() && x.rank() == 3;
        let x = if turned { x.transpose(0, 1) } else { x };
        cx.check_dims(&x, &self.dims(columns))?;
        Ok(x)
    }

    /// Returns a sequence as a matrix with a row for each time and sequence.
    fn matrix(&self, cx: &mut Cx<'_>, x: View, columns: usize) -> Result<View, Refusal> {
        let x = self.times_first(cx, x, columns)?;
        cx.reshaped(x, &[self.rows, columns])
    }

    /// Writes such a matrix to a sequence.
    fn write(&self, cx: &mut Cx<'_>, from: View, to: View) -> Result<(), Refusal> {
        let columns = from.dims()[1];
        let to = self.times_first(cx, to, columns)?;
        let from = cx.reshaped(from, to.dims().to_vec().as_slice())?;
        cx.copy(from, to)
    }

    /// Views the values of one direction in a matrix.
    fn of_direction(&self, x: View, direction: usize) -> View {
        x.slice(1, direction * self.units, self.units, 1)
    }

    fn attrs(&self, direction: usize) -> Attrs {
        Attrs::new().with("reversed", direction as i64)
    }

    fn sizes(&self) -> Input {
        self.sizes.into()
    }
}

/// Makes a row for each time and sequence: ones, or zeros behind the end of the sequence. `sizes` has the number of sequences that
/// have each time; the longest come first.
fn mask_of(
    cx: &mut Cx<'_>,
    sizes: &View,
    [times, batch]: [usize; 2],
    units: usize,
    compute: DataType,
) -> Result<View, Refusal> {
    cx.check_planned("the sequences of input", batch)?;
    let numbers: Vec<i64> = (0..batch as i64).collect();
    let numbers = cx.constant(&Tensor::from_ints(&numbers))?;
    let is_inside = cx.temporary(DataType::Bool, &[times, batch])?;
    let operands = [
        Operand::Tensor(sizes.unsqueeze(1)),
        Operand::Tensor(numbers.unsqueeze(0)),
    ];
    cx.test(F::Gt, DataType::Int64, &operands, is_inside)?;
    let mask = cx.temporary(compute, &[times, batch, units])?;
    let ones = cx.cast(is_inside, compute)?;
    cx.copy(ones.unsqueeze(2), mask)?;
    cx.reshaped(mask, &[times * batch, units])
}

/// Refuses dropout between layers.
pub(super) fn check_dropout(cx: &Cx<'_>) -> Result<(), Refusal> {
    let dropout = cx.float("dropout")?;
    if cx.flag("train")? && dropout != 0.0 && cx.int("numLayers")? > 1 {
        return Err(cx.unsupported(format_args!(
            "dropout is {dropout}; dropout between layers is not supported while training"
        )));
    }
    Ok(())
}

/// Returns the first states, those of the hidden values first.
fn initial(cx: &Cx<'_>, family: &Family) -> Result<Vec<View>, Refusal> {
    if family.last.len() == 1 {
        return Ok(vec![cx.tensor("hx")?]);
    }
    let states = cx.tensors("hx")?;
    if states.len() != family.last.len() {
        return Err(cx.invalid(format_args!(
            "hx has {} tensors; the hidden values and the state are required",
            states.len()
        )));
    }
    for state in &states {
        cx.check_dims(state, states[0].dims())?;
    }
    Ok(states)
}

/// Returns the first states. Without `hx` they are zeros of the shapes of the last states.
fn initial_or_zeros(cx: &mut Cx<'_>, family: &Family) -> Result<Vec<View>, Refusal> {
    let is_absent = match cx.arg("hx")? {
        Arg::Null => true,
        Arg::Tensors(members) => members.is_empty(),
        _ => false,
    };
    if !is_absent {
        return initial(cx, family);
    }
    let mut zeros = Vec::with_capacity(family.last.len());
    for name in family.last {
        let like = cx.out(name)?;
        zeros.push(or_zeros(cx, None, like.dtype(), like.dims())?);
    }
    Ok(zeros)
}

/// Returns a member of a list of outputs, if it is wanted.
fn wanted(list: &[Option<View>], index: usize) -> Option<View> {
    list.get(index)
        .copied()
        .flatten()
        .filter(|to| !to.is_empty())
}

pub(super) fn forward(cx: &mut Cx<'_>, family: &Family) -> Result<(), Refusal> {
    check_dropout(cx)?;
    let (x, states, params) = (
        cx.tensor("input")?,
        initial_or_zeros(cx, family)?,
        cx.tensors("params")?,
    );
    let layers = Layers::read(cx, family, "batchSizes", [&x, &states[0]], params.len())?;
    let Layers {
        rows,
        batch,
        units,
        directions,
        compute,
        ..
    } = layers;
    let gates = family.gates * units;
    let training = cx.flag("train")?;
    let output = cx.out("output")?;
    layers.times_first(cx, output, directions * units)?;
    let mut last = Vec::with_capacity(family.last.len());
    for name in family.last {
        let to = cx.out(name)?;
        cx.check_dims(&to, states[0].dims())?;
        last.push(to);
    }
    let mut kept = Vec::with_capacity(family.kept.len());
    for name in family.kept {
        kept.push(cx.optional_tensors(name)?);
    }
    let width = x.dims()[x.rank() - 1];
    let x = layers.matrix(cx, x, width)?;
    let mut current = cx.cast(x, compute)?;
    for layer in 0..layers.count {
        let joined = cx.temporary(compute, &[rows, directions * units])?;
        for direction in 0..directions {
            let number = layer * directions + direction;
            let own = &params[number * layers.each()..][..layers.each()];
            let (input_weights, hidden_weights) = (own[0], own[1]);
            let width = current.dims()[1];
            cx.check_dims(&input_weights, &[gates, width])?;
            cx.check_dims(&hidden_weights, &[gates, units])?;
            for bias in &own[2..] {
                cx.check_dims(bias, &[gates])?;
            }
            let weights = cx.cast(input_weights, compute)?;
            let products = cx.temporary(compute, &[rows, gates])?;
            multiply(cx, current, weights.transpose(0, 1), products)?;
            let mut terms = vec![products];
            terms.extend(match (family.one_bias, layers.has_bias) {
                (_, false) => &[],
                (true, _) => &own[2..],
                (false, _) => &own[2..3],
            });
            let sums = sum_of(cx, compute, &terms, &[rows, gates])?;
            let mut inputs: Vec<Input> =
                vec![sums.into(), cx.cast(hidden_weights, compute)?.into()];
            for state in &states {
                inputs.push(cx.cast(state.select(0, number), compute)?.into());
            }
            inputs.push(match (family.one_bias, own.get(3)) {
                (false, Some(bias)) => {
                    let bias = cx.cast(*bias, compute)?;
                    cx.reshaped(bias, &[1, gates])?.into()
                }
                _ => layers.mask.into(),
            });
            inputs.push(layers.sizes());
            let mut results = Vec::with_capacity(kept.len() + last.len());
            for _ in &kept {
                results.push(cx.temporary(compute, &[rows, units])?);
            }
            for _ in &last {
                results.push(cx.temporary(compute, &[batch, units])?);
            }
            if layers.mask.is_some() {
                // The hidden values, with zeros behind the end of a sequence.
                results.push(cx.temporary(compute, &[rows, units])?);
            }
            cx.op(family.steps, &inputs, &layers.attrs(direction), &results)?;
            for (list, result) in kept.iter().zip(&results) {
                // Out of training, clients pass placeholders: tensors without dimensions.
                if let Some(to) = wanted(list, number).filter(|to| training || to.rank() > 0) {
                    check_count(cx, &to, result.dims())?;
                    let result = cx.reshaped(*result, to.dims().to_vec().as_slice())?;
                    cx.copy(result, to)?;
                }
            }
            let joined = layers.of_direction(joined, direction);
            let hidden = results.get(kept.len() + last.len());
            cx.copy(*hidden.unwrap_or(&results[HIDDEN]), joined)?;
            for (value, to) in results[kept.len()..].iter().zip(&last) {
                cx.copy(*value, to.select(0, number))?;
            }
        }
        current = joined;
    }
    layers.write(cx, current, output)
}

pub(super) fn backward(cx: &mut Cx<'_>, family: &Family, sizes: &str) -> Result<(), Refusal> {
    let (x, states, params) = (
        cx.tensor("input")?,
        initial(cx, family)?,
        cx.tensors("params")?,
    );
    let layers = Layers::read(cx, family, sizes, [&x, &states[0]], params.len())?;
    let Layers {
        rows,
        batch,
        units,
        directions,
        compute,
        ..
    } = layers;
    let gates = family.gates * units;
    // Without a mask all gradients are wanted.
    let wanted_gradients = match family.mask {
        Some(mask) => cx.optional_bools(mask)?.unwrap_or(&[]).to_vec(),
        None => Vec::new(),
    };
    let wants = |index: usize| wanted_gradients.get(index).copied().unwrap_or(true);
    let mut gradient = match cx.optional("dy")? {
        Some(view) if !view.is_empty() => layers.matrix(cx, view, directions * units)?,
        _ => or_zeros(cx, None, compute, &[rows, directions * units])?,
    };
    let mut by_last = Vec::with_capacity(family.by_last.len());
    for name in family.by_last {
        let by = cx.optional(name)?;
        by_last.push(or_zeros(cx, by, compute, states[0].dims())?);
    }
    let mut kept = Vec::with_capacity(family.read.len());
    for name in family.read {
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
            check_count(cx, &view, &[rows, units])?;
            own.push(cx.reshaped(view, &[rows, units])?);
        }
        kept.push(own);
    }
    let to_params = cx.optional_tensors("dparamsOut")?;
    let to_x = cx.out("dxOut")?;
    let mut to_first = Vec::with_capacity(family.to_first.len());
    for name in family.to_first {
        to_first.push(cx.out(name)?);
    }
    let width = x.dims()[x.rank() - 1];
    let x = layers.matrix(cx, x, width)?;
    for layer in (0..layers.count).rev() {
        let below = match layer {
            0 => cx.cast(x, compute)?,
            _ => {
                let joined = cx.temporary(compute, &[rows, directions * units])?;
                for direction in 0..directions {
                    let own = kept[HIDDEN][(layer - 1) * directions + direction];
                    cx.copy(own, layers.of_direction(joined, direction))?;
                }
                joined
            }
        };
        let width = below.dims()[1];
        let mut terms = Vec::with_capacity(directions);
        for direction in 0..directions {
            let number = layer * directions + direction;
            let first = number * layers.each();
            let (input_weights, hidden_weights) = (params[first], params[first + 1]);
            cx.check_dims(&input_weights, &[gates, width])?;
            cx.check_dims(&hidden_weights, &[gates, units])?;
            let by_values = layers.of_direction(gradient, direction);
            let mut inputs: Vec<Input> = vec![cx.cast(by_values, compute)?.into()];
            for by in &by_last {
                inputs.push(cx.cast(by.select(0, number), compute)?.into());
            }
            for list in &kept {
                inputs.push(cx.cast(list[number], compute)?.into());
            }
            for state in &states {
                inputs.push(cx.cast(state.select(0, number), compute)?.into());
            }
            let weights = cx.cast(hidden_weights.transpose(0, 1), compute)?;
            inputs.push(weights.into());
            if family.one_bias {
                inputs.push(layers.mask.into());
            }
            inputs.push(layers.sizes());
            let own_sums = usize::from(!family.one_bias);
            let mut results = Vec::with_capacity(5);
            for _ in 0..=own_sums {
                results.push(cx.temporary(compute, &[rows, gates])?);
            }
            for _ in &by_last {
                results.push(cx.temporary(compute, &[batch, units])?);
            }
            // The hidden values that each time started from.
            let starts = cx.temporary(compute, &[rows, units])?;
            results.push(starts);
            cx.op(family.gradient, &inputs, &layers.attrs(direction), &results)?;
            let earlier = &results[own_sums + 1..];
            for (index, (&to, value)) in to_first.iter().zip(earlier).enumerate() {
                if wants(index + 1) && !to.is_empty() {
                    cx.check_dims(&to, states[0].dims())?;
                    cx.copy(*value, to.select(0, number))?;
                }
            }
            let sums = [results[0], results[own_sums]];
            for (index, values) in [below, starts].into_iter().enumerate() {
                if let Some(to) = wanted(&to_params, first + index) {
                    multiply(cx, sums[index].transpose(0, 1), values, to)?;
                }
            }
            for index in 2..layers.each() {
                if let Some(to) = wanted(&to_params, first + index) {
                    reduce(cx, "ReduceSum", sums[index - 2], &[0], false, to)?;
                }
            }
            let weights = cx.cast(input_weights, compute)?;
            let part = cx.temporary(compute, &[rows, width])?;
            multiply(cx, sums[0], weights, part)?;
            terms.push(part);
        }
        gradient = sum_of(cx, compute, &terms, &[rows, width])?;
    }
    if wants(0) && !to_x.is_empty() {
        layers.write(cx, gradient, to_x)?;
    }
    Ok(())
}
