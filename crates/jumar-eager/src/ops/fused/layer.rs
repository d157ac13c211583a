//! Layer and group normalization with an addition before them or an activation behind them, and the gradient of RMS
//! normalization.

use jumar_ops::math::{Fast, Float};
use jumar_types::dtype::DataType;

use super::super::quant::{Factor, quantised, usual_rounding};
use super::super::reduction::reduce;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::{FLOATS, MergedOutput, check_same, entries, leading};
use crate::rows::{RowFunction, Rows, sum};
use crate::view::View;

// The operands of the function.
const X: usize = 0;
const OTHER: usize = 1;
const BIAS: usize = 2;
const GAMMA: usize = 3;
const BETA: usize = 4;
const Y: usize = 0;
const MEAN: usize = 1;
const RSTD: usize = 2;
const SUM: usize = 3;

/// What is done with a normalized value.
#[derive(Clone, Copy)]
enum Activation {
    Nothing,
    /// `y * sigmoid(scale * y)`
    Swish {
        scale: f32,
    },
}

/// `s = alpha * x + other + bias`, `y = (s - mean) * rstd * gamma + beta`
struct Layer {
    width: usize,
    alpha: f32,
    epsilon: f32,
    activation: Activation,
}

impl RowFunction for Layer {
    fn scratch(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let x = rows.wanted(SUM).unwrap_or(rows.scratch());
        let alpha = self.alpha;
        match rows.optional(OTHER) {
            Some(other) => x.map2(rows.input(X), other, |one, two| alpha * one + two),
            None => x.copy_from(rows.input(X)),
        }
        if let Some(bias) = rows.optional(BIAS) {
            x.update(bias, |value, bias| value + bias);
        }
        let x = x.as_row();
        let count = self.width as f32;
        let mean = sum(x) / count;
        let squares = x.fold_wide(
            0.0,
            |sum, value| sum + (value - mean) * (value - mean),
            |one, two| one + two,
        );
        let rstd = 1.0 / (squares / count + self.epsilon).sqrt();
        if let Some(out) = rows.wanted(MEAN) {
            out.set(0, mean);
        }
        if let Some(out) = rows.wanted(RSTD) {
            out.set(0, rstd);
        }
        let y = rows.output(Y);
        match rows.optional(GAMMA) {
            Some(gamma) => y.map2(x, gamma, |value, gamma| (value - mean) * rstd * gamma),
            None => y.map1(x, |value| (value - mean) * rstd),
        }
        if let Some(beta) = rows.optional(BETA) {
            y.update(beta, |value, beta| value + beta);
        }
        if let Activation::Swish { scale } = self.activation {
            y.map1(y.as_row(), |value| {
                value / (1.0 + Fast::<FUSED>(-scale * value).exp().0)
            });
        }
    }
}

/// Returns the number of dimensions that `parameters` are for: the last of `x`.
pub(super) fn normalized(cx: &Cx<'_>, x: &View, parameters: &View) -> Result<usize, Refusal> {
    cx.check_types(x, FLOATS)?;
    cx.check_types(parameters, FLOATS)?;
    match !parameters.dims().is_empty() && x.dims().ends_with(parameters.dims()) {
        true => Ok(parameters.rank()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must be the last dimensions of {:?}",
            cx.param_of(parameters),
            parameters.dims(),
            x.dims()
        ))),
    }
}

/// Tensors of one call, with the dimensions that are normalized joined to one.
pub(super) struct JoinedTensors {
    pub x: View,
    /// The shape of a tensor of values.
    pub dims: Vec<usize>,
    /// The shape of a tensor with one number for each row.
    pub numbers: Vec<usize>,
    pub width: usize,
}

impl JoinedTensors {
    pub fn new(cx: &Cx<'_>, x: View, count: usize) -> Result<JoinedTensors, Refusal> {
        let dims = leading(&x, count).to_vec();
        let width = x.dims()[x.rank() - count..].iter().product();
        if width == 0 {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; the dimensions that are normalized must not be empty",
                cx.param_of(&x),
                x.dims()
            )));
        }
        let with = |last: usize| [dims.as_slice(), &[last]].concat();
        Ok(JoinedTensors {
            x,
            dims: with(width),
            numbers: with(1),
            width,
        })
    }

    pub fn values(&self, cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
        check_same(cx, &view, &self.x)?;
        cx.reshaped(view, &self.dims)
    }
}

fn write(
    cx: &mut Cx<'_>,
    function: Layer,
    inputs: &[Option<View>],
    outputs: [Option<MergedOutput>; 4],
) -> Result<(), Refusal> {
    let rows = outputs.map(|output| output.map(|merged| merged.rows));
    cx.rows(function, inputs, &rows)?;
    for output in outputs.into_iter().flatten() {
        output.finish(cx)?;
    }
    Ok(())
}

/// Returns an output of one number for each row, unless it is absent or empty.
fn numbers(cx: &mut Cx<'_>, param: &str, dims: &[usize]) -> Result<Option<MergedOutput>, Refusal> {
    match cx.optional(param)?.filter(|out| !out.is_empty()) {
        Some(out) => {
            cx.check_types(&out, FLOATS)?;
            Ok(Some(MergedOutput::new(cx, out, dims)?))
        }
        None => Ok(None),
    }
}

pub(super) fn values(
    cx: &mut Cx<'_>,
    param: &str,
    joined: &JoinedTensors,
) -> Result<MergedOutput, Refusal> {
    let out = cx.out(param)?;
    check_same(cx, &out, &joined.x)?;
    MergedOutput::new(cx, out, &joined.dims)
}

pub(super) fn add_layer_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, other) = (cx.tensor("x1")?, cx.tensor("x2")?);
    let (gamma, beta) = (cx.tensor("gamma")?, cx.tensor("beta")?);
    let count = normalized(cx, &x, &gamma)?;
    cx.check_dims(&beta, gamma.dims())?;
    let joined = JoinedTensors::new(cx, x, count)?;
    let (x, other) = (joined.values(cx, x)?, joined.values(cx, other)?);
    let bias = match cx.optional("biasOptional")? {
        Some(bias) if bias.dims() == joined.x.dims() => Some(joined.values(cx, bias)?),
        Some(bias) => {
            cx.check_dims(&bias, gamma.dims())?;
            Some(entries(cx, bias, joined.width)?)
        }
        None => None,
    };
    let (gamma, beta) = (
        entries(cx, gamma, joined.width)?,
        entries(cx, beta, joined.width)?,
    );
    let sum = match cx.flag("additionalOutput")? {
        true => Some(values(cx, "xOut", &joined)?),
        false => None,
    };
    let outputs = [
        Some(values(cx, "yOut", &joined)?),
        numbers(cx, "meanOut", &joined.numbers)?,
        numbers(cx, "rstdOut", &joined.numbers)?,
        sum,
    ];
    let function = Layer {
        width: joined.width,
        alpha: 1.0,
        epsilon: cx.float("epsilon")? as f32,
        activation: Activation::Nothing,
    };
    let inputs = [Some(x), Some(other), bias, Some(gamma), Some(beta)];
    write(cx, function, &inputs, outputs)
}

pub(super) fn deep_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, other) = (cx.tensor("x")?, cx.tensor("gx")?);
    let (gamma, beta) = (cx.tensor("gamma")?, cx.tensor("beta")?);
    let count = normalized(cx, &x, &gamma)?;
    cx.check_dims(&beta, gamma.dims())?;
    let joined = JoinedTensors::new(cx, x, count)?;
    let (x, other) = (joined.values(cx, x)?, joined.values(cx, other)?);
    let (gamma, beta) = (
        entries(cx, gamma, joined.width)?,
        entries(cx, beta, joined.width)?,
    );
    let outputs = [
        Some(values(cx, "yOut", &joined)?),
        numbers(cx, "meanOut", &joined.numbers)?,
        numbers(cx, "rstdOut", &joined.numbers)?,
        None,
    ];
    let function = Layer {
        width: joined.width,
        alpha: cx.float("alpha")? as f32,
        epsilon: cx.float("epsilon")? as f32,
        activation: Activation::Nothing,
    };
    let inputs = [Some(x), Some(other), None, Some(gamma), Some(beta)];
    write(cx, function, &inputs, outputs)
}

pub(super) fn fast_layer_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("input")?;
    cx.check_types(&x, FLOATS)?;
    let shape = cx.ints("normalizedShape")?.to_vec();
    let own: Vec<i64> = x.dims().iter().map(|&dim| dim as i64).collect();
    if shape.is_empty() || !own.ends_with(&shape) {
        return Err(cx.invalid(format_args!(
            "normalizedShape is {shape:?}; it must be the last dimensions of {own:?}"
        )));
    }
    let joined = JoinedTensors::new(cx, x, shape.len())?;
    let x = joined.values(cx, x)?;
    let mut parameters = [None; 2];
    for (slot, param) in parameters
        .iter_mut()
        .zip(["weightOptional", "biasOptional"])
    {
        if let Some(view) = cx.optional(param)? {
            cx.check_dims(&view, &joined.x.dims()[joined.x.rank() - shape.len()..])?;
            *slot = Some(entries(cx, view, joined.width)?);
        }
    }
    let outputs = [
        Some(values(cx, "out", &joined)?),
        numbers(cx, "meanOutOptional", &joined.numbers)?,
        numbers(cx, "rstdOutOptional", &joined.numbers)?,
        None,
    ];
    let function = Layer {
        width: joined.width,
        alpha: 1.0,
        epsilon: cx.float("eps")? as f32,
        activation: Activation::Nothing,
    };
    let inputs = [Some(x), None, None, parameters[0], parameters[1]];
    write(cx, function, &inputs, outputs)
}

/// Group normalization of a tensor of batch, channels and positions: a row is a group.
fn group_norm(
    cx: &mut Cx<'_>,
    x: &str,
    groups: &str,
    out: &str,
    activation: Activation,
) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor(x)?, cx.out(out)?);
    cx.check_types(&x, FLOATS)?;
    check_same(cx, &out, &x)?;
    let groups = cx.int(groups)?;
    let (&[batch, channels, ..], Ok(groups)) = (x.dims(), usize::try_from(groups)) else {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}, and the number of groups is {groups}; expected at least two dimensions and one group",
            cx.param_of(&x),
            x.dims()
        )));
    };
    if groups == 0 || channels % groups != 0 || x.is_empty() {
        return Err(cx.invalid(format_args!(
            "{channels} channels of the shape {:?} are not {groups} groups of equal size",
            x.dims()
        )));
    }
    let positions: usize = x.dims()[2..].iter().product();
    let (each, width) = (channels / groups, channels / groups * positions);
    let dims = [batch, groups, width];
    let x = cx.reshaped(x, &dims)?;
    let mut parameters = [None; 2];
    for (slot, param) in parameters.iter_mut().zip(["gamma", "beta"]) {
        let Some(view) = cx.optional(param)? else {
            continue;
        };
        cx.check_types(&view, FLOATS)?;
        if view.elements() != channels {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {:?}; it must have {channels} elements",
                view.dims()
            )));
        }
        // One number for each channel of a group, repeated for its positions.
        let view = cx.cast(view, DataType::Float32)?;
        let view = cx.reshaped(view, &[groups, each, 1])?;
        let repeated = view
            .expand(&[groups, each, positions])
            .ok_or_else(|| cx.defect("a dimension of size 1 is repeated"))?;
        *slot = Some(cx.reshaped(repeated, &[groups, width])?);
    }
    let outputs = [
        Some(MergedOutput::new(cx, out, &dims)?),
        numbers(cx, "meanOut", &[batch, groups, 1])?,
        numbers(cx, "rstdOut", &[batch, groups, 1])?,
        None,
    ];
    let function = Layer {
        width,
        alpha: 1.0,
        epsilon: cx.float("eps")? as f32,
        activation,
    };
    let inputs = [Some(x), None, None, parameters[0], parameters[1]];
    write(cx, function, &inputs, outputs)
}

pub(super) fn group_norm_silu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    group_norm(cx, "self", "group", "out", Activation::Swish { scale: 1.0 })
}

pub(super) fn group_norm_silu_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let activation = match cx.flag("activateSilu")? {
        true => Activation::Swish { scale: 1.0 },
        false => Activation::Nothing,
    };
    group_norm(cx, "self", "group", "out", activation)
}

pub(super) fn group_norm_swish(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.text("dataFormatOptional")? {
        "" | "NCHW" => {}
        other => {
            return Err(cx.unsupported(format_args!(
                "dataFormatOptional is {other:?}; only NCHW is computed"
            )));
        }
    }
    let activation = match cx.flag("activateSwish")? {
        true => Activation::Swish {
            scale: cx.float("swishScale")? as f32,
        },
        false => Activation::Nothing,
    };
    group_norm(cx, "x", "numGroups", "yOut", activation)
}

/// `dx = rstd * (dy * gamma - x * rstd^2 * mean(dy * gamma * x))`, and the terms of `dgamma`: `dy * x * rstd`
struct RmsGradient {
    width: usize,
}

impl RowFunction for RmsGradient {
    fn scratch(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (dy, x, gamma) = (rows.input(0), rows.input(1), rows.input(2));
        let rstd = rows.input(3).get(0);
        let scaled = rows.scratch();
        scaled.map2(dy, gamma, |dy, gamma| dy * gamma);
        let product = scaled.as_row().fold2_wide(
            x,
            0.0,
            |sum, scaled, x| sum + scaled * x,
            |one, two| one + two,
        );
        let mean = product / self.width as f32 * rstd * rstd;
        rows.output(0)
            .map2(scaled.as_row(), x, |scaled, x| rstd * (scaled - x * mean));
        rows.output(1).map2(dy, x, |dy, x| dy * x * rstd);
    }
}

pub(super) fn rms_norm_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("dxOut")?;
    rms_gradient(cx, out)
}

/// The gradient of `x` is quantised by a scale and an offset.
pub(super) fn rms_norm_grad_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (dy, out, scale) = (cx.tensor("dy")?, cx.out("dxOut")?, cx.tensor("scalesX")?);
    let offset = cx.optional("offsetXOptional")?;
    cx.check_types(&dy, FLOATS)?;
    cx.check_types(&out, &[DataType::Int8, DataType::HiFloat8])?;
    cx.check_types(&scale, FLOATS)?;
    cx.check_dims(&scale, &[1])?;
    if let Some(offset) = &offset {
        cx.check_dtype(offset, DataType::Int32)?;
        cx.check_dims(offset, &[1])?;
    }
    let mode = cx.text("quantMode")?;
    if mode != "static" {
        return Err(cx.invalid(format_args!("quantMode is {mode:?}; it must be static")));
    }
    if dy.rank() < 2 {
        return Err(cx.invalid(format_args!(
            "dy has {} dimensions; expected 2 to 8",
            dy.rank()
        )));
    }
    cx.check_dims(&out, dy.dims())?;
    let factor = match cx.flag("divMode")? {
        true => Factor::Over,
        false => Factor::Times,
    };
    let gradient = cx.temporary(DataType::Float32, dy.dims())?;
    rms_gradient(cx, gradient)?;
    let (axis, rounding) = (dy.rank() - 1, usual_rounding(out.dtype()));
    quantised(cx, gradient, (scale, offset), axis, (factor, rounding), out)
}

/// Computes the gradients of `x`, in `out`, and of `gamma`.
fn rms_gradient(cx: &mut Cx<'_>, out: View) -> Result<(), Refusal> {
    let (dy, x, gamma) = (cx.tensor("dy")?, cx.tensor("x")?, cx.tensor("gamma")?);
    let rstd = cx.tensor("rstd")?;
    let count = normalized(cx, &x, &gamma)?;
    cx.check_dtype(&rstd, DataType::Float32)?;
    let joined = JoinedTensors::new(cx, x, count)?;
    let (dy, x) = (joined.values(cx, dy)?, joined.values(cx, x)?);
    check_same(cx, &out, &joined.x)?;
    let out = MergedOutput::new(cx, out, &joined.dims)?;
    let to_gamma = cx.out("dgammaOut")?;
    cx.check_types(&to_gamma, FLOATS)?;
    cx.check_dims(&to_gamma, gamma.dims())?;
    let gamma = entries(cx, gamma, joined.width)?;
    if rstd.elements() != joined.numbers.iter().product::<usize>() {
        return Err(cx.invalid(format_args!(
            "rstd has the shape {:?}; it must have one element for each row of {:?}",
            rstd.dims(),
            joined.x.dims()
        )));
    }
    let rstd = cx.reshaped(rstd, &joined.numbers)?;
    let rows: usize = joined.numbers.iter().product();
    let terms = cx.temporary(DataType::Float32, &joined.dims)?;
    let inputs = [Some(dy), Some(x), Some(gamma), Some(rstd)];
    let function = RmsGradient {
        width: joined.width,
    };
    cx.rows(function, &inputs, &[Some(out.rows), Some(terms)])?;
    out.finish(cx)?;
    let terms = cx.reshaped(terms, &[rows, joined.width])?;
    let merged = MergedOutput::new(cx, to_gamma, &[joined.width])?;
    match rows {
        0 => cx.fill(crate::Scalar::of_i64(0), to_gamma),
        _ => {
            reduce(cx, "ReduceSum", terms, &[0], false, merged.rows)?;
            merged.finish(cx)
        }
    }
}
