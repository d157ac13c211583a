//! Gated activations whose results, or whose gradients, are quantised in blocks, by rows or by groups of rows.

use jumar_ops::math::{Fast, Float};
use jumar_ops::minifloat::{Rounding, decode_scale, scale_above};
use jumar_ops::view::Row;
use jumar_types::dtype::DataType;

use super::encoding::{EncodedOutput, Encoding, rounding_to};
use super::maximum::{Largest, MaximumScaling, RowLargest};
use super::mx::{self, BLOCK, Choice, ScaleRule, Shape};
use super::packed::check_number;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::gates::{Gate, at_most, within};
use crate::ops::groups::{self, Sizes};
use crate::ops::operands::{FLOATS, MergedOutput, check_elements};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// Whether a row lies behind the rows that all groups hold, which have a list of their ends.
#[inline(always)]
fn is_behind(ends: Option<Row<'_, i64>>, number: usize) -> bool {
    match ends {
        Some(ends) => number as i64 >= ends.get(ends.len() - 1),
        None => false,
    }
}

/// A gated activation, and its product with a weight of each row. Rows behind the last group are 0.
struct Activate {
    gate: Gate,
}

impl RowFunction for Activate {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let out = rows.output(0);
        if is_behind(rows.integers(0), rows.number) {
            out.fill(0.0);
            if let Some(origin) = rows.wanted(1) {
                origin.fill(0.0);
            }
            return;
        }
        let gate = self.gate;
        out.map2(rows.input(0), rows.input(1), |opening, value| {
            gate.apply::<FUSED>(opening, value)
        });
        if let Some(origin) = rows.wanted(1) {
            origin.copy_from(out.as_row());
        }
        if let Some(weight) = rows.optional(2) {
            let weight = weight.get(0);
            out.map1(out.as_row(), |value| value * weight);
        }
    }
}

/// Returns the ends of groups that are given by their sizes, or by their ends.
fn ends_of(cx: &mut Cx<'_>, param: &str, by_sizes: bool) -> Result<Option<View>, Refusal> {
    let sizes = match by_sizes {
        true => Sizes::Counts,
        false => Sizes::Ends,
    };
    groups::ends(cx, param, &[DataType::Int64], sizes)
}

/// Returns the halves of a dimension: those of its order, or every second entry.
fn halves(
    cx: &Cx<'_>,
    x: &View,
    axis: usize,
    alternating: bool,
    swapped: bool,
) -> Result<(View, View), Refusal> {
    let size = x.dims()[axis];
    if !size.is_multiple_of(2) || x.is_empty() {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have elements, and the size of dimension {axis} must be even",
            cx.param_of(x),
            x.dims()
        )));
    }
    let half = size / 2;
    let (one, two) = match alternating {
        true => (x.slice(axis, 0, half, 2), x.slice(axis, 1, half, 2)),
        false => (x.slice(axis, 0, half, 1), x.slice(axis, half, half, 1)),
    };
    Ok(match swapped {
        true => (two, one),
        false => (one, two),
    })
}

/// Reads a limit that must be positive.
fn positive(cx: &Cx<'_>, param: &str) -> Result<f32, Refusal> {
    let limit = cx.float(param)?;
    match limit > 0.0 && limit < f64::INFINITY {
        true => Ok(limit as f32),
        false => Err(cx.invalid(format_args!(
            "{param} is {limit}; it must be positive and finite"
        ))),
    }
}

pub(super) fn mx_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("mxscaleOut")?);
    mx::check_operands(cx, &x, "dstType", &[&out])?;
    let rank = x.rank();
    if rank < 2 {
        return Err(cx.invalid("x has one dimension; expected 2 to 7"));
    }
    let last_two = |cx: &Cx<'_>, param: &str| {
        let axis = cx.axis(param, cx.int(param)?, rank)?;
        match axis + 2 >= rank {
            true => Ok(axis),
            false => Err(cx.invalid(format_args!(
                "{param} is {axis}; it must be one of the last two of {rank} dimensions"
            ))),
        }
    };
    let (split, axis) = (last_two(cx, "activateDim")?, last_two(cx, "axis")?);
    let mode = cx.int("swigluMode")?;
    let gate = match mode {
        0 => Gate::Plain,
        1 | 2 => Gate::Limited {
            limit: positive(cx, "clampLimit")?,
            alpha: cx.float("gluAlpha")? as f32,
            bias: cx.float("gluBias")? as f32,
        },
        3 => Gate::LimitedBehind {
            limit: positive(cx, "clampLimit")?,
        },
        other => {
            return Err(cx.invalid(format_args!("swigluMode is {other}; it must be 0 to 3")));
        }
    };
    if mode >= 2 && (axis + 1 != rank || split + 1 != rank) {
        return Err(cx.invalid(format_args!(
            "swigluMode is {mode}; axis and activateDim must be the last dimension then"
        )));
    }
    let by_sizes = match cx.int("groupMode")? {
        0 => true,
        1 => false,
        other => {
            return Err(cx.invalid(format_args!("groupMode is {other}; it must be 0 or 1")));
        }
    };
    let algorithm = cx.int("scaleAlg")?;
    if algorithm == 2 {
        return Err(cx.invalid("scaleAlg is 2; it must be 0 or 1"));
    }
    let rule = mx::rule(cx, out.dtype(), &Choice::plain("scaleAlg", algorithm))?;
    let rounding = rounding_to(cx, "roundModeOptional", out.dtype())?;
    let ends = ends_of(cx, "groupIndexOptional", by_sizes)?;
    if ends.is_some() && rank != 2 && axis.min(split) + 1 != rank {
        return Err(cx.invalid(format_args!(
            "x has {rank} dimensions; with groups, and a dimension before the last, it must have 2"
        )));
    }
    if ends.is_some() && split + 1 != rank {
        return Err(cx.unsupported(
            "groups of rows that activateDim halves are not supported: where their halves lie is not documented",
        ));
    }
    let swapped = mode != 1 && !cx.flag("activateLeft")?;
    let (gate_half, value) = halves(cx, &x, split, mode == 1, swapped)?;
    let activated = cx.temporary(DataType::Float32, gate_half.dims())?;
    let inputs = [Some(gate_half), Some(value), None, ends];
    cx.rows(Activate { gate }, &inputs, &[Some(activated)])?;
    let shape = Shape {
        axis,
        block: BLOCK,
        ends: ends.filter(|_| axis + 1 != rank),
    };
    mx::quantise(cx, activated, shape, (rule, rounding), (out, scale))
}

/// Checks the arguments that the two operators with two axes share. Returns `x` and the rule.
fn check_dual(cx: &Cx<'_>, number: &str) -> Result<(View, (ScaleRule, Rounding)), Refusal> {
    let (x, one, two) = (cx.tensor("x")?, cx.out("y1Out")?, cx.out("y2Out")?);
    mx::check_operands(cx, &x, number, &[&one, &two])?;
    cx.check_dtype(&one, DataType::Float8E4M3Fn)?;
    cx.check_dtype(&two, DataType::Float8E4M3Fn)?;
    if x.rank() != 2 {
        return Err(cx.invalid(format_args!("x has {} dimensions; expected 2", x.rank())));
    }
    let (algorithm, max) = (cx.int("scaleAlg")?, cx.float("maxDtypeValue")?);
    if algorithm != 1 || max != 0.0 {
        return Err(cx.invalid(format_args!(
            "scaleAlg is {algorithm} and maxDtypeValue {max}; they must be 1 and 0"
        )));
    }
    let rule = mx::rule(cx, one.dtype(), &Choice::plain("scaleAlg", algorithm))?;
    let rounding = rounding_to(cx, "roundModeOptional", one.dtype())?;
    Ok((x, (rule, rounding)))
}

pub(super) fn mx_quant_dual(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, rule) = check_dual(cx, "dstType")?;
    let ends = ends_of(cx, "groupIndexOptional", false)?;
    let (gate_half, value) = halves(cx, &x, 1, false, !cx.flag("activateLeft")?)?;
    let activated = cx.temporary(DataType::Float32, gate_half.dims())?;
    let function = Activate { gate: Gate::Plain };
    cx.rows(
        function,
        &[Some(gate_half), Some(value)],
        &[Some(activated)],
    )?;
    mx::both_axes(cx, activated, ends, rule)
}

/// The gradients of a gated activation: of the gate, of the value and of the weight of the row.
struct Gradient {
    /// The limit of the inputs of the activation.
    limit: Option<f32>,
}

impl RowFunction for Gradient {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (upstream, gate, value) = (rows.input(0), rows.input(1), rows.input(2));
        let (gate_out, value_out) = (rows.output(0), rows.output(1));
        if is_behind(rows.integers(0), rows.number) {
            gate_out.fill(0.0);
            value_out.fill(0.0);
            if let Some(to) = rows.wanted(2) {
                to.set(0, 0.0);
            }
            return;
        }
        let weight = rows.optional(3).map_or(1.0, |weight| weight.get(0));
        let limit = self.limit.unwrap_or(f32::INFINITY);
        let sigmoid = |gate: f32| 1.0 / (1.0 + Fast::<FUSED>(-gate).exp().0);
        gate_out.map2(gate, value, |gate, value| {
            let (own, value) = (at_most(gate, limit), within(value, limit));
            let open = sigmoid(own);
            let slope = open * (1.0 + own * (1.0 - open));
            match gate >= limit {
                true => 0.0,
                false => value * slope,
            }
        });
        value_out.map2(gate, value, |gate, value| {
            let own = at_most(gate, limit);
            match value <= -limit || limit <= value {
                true => 0.0,
                false => own * sigmoid(own),
            }
        });
        for out in [gate_out, value_out] {
            out.update(upstream, |slope, gradient| slope * (gradient * weight));
        }
        if let (Some(to), Some(origin)) = (rows.wanted(2), rows.optional(4)) {
            let sum = upstream.fold2_wide(
                origin,
                0.0,
                |sum, gradient, origin| sum + gradient * origin,
                |one, two| one + two,
            );
            to.set(0, sum);
        }
    }
}

pub(super) fn backward_dual(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, rule) = check_dual(cx, "dstDtype")?;
    let upstream = cx.tensor("yGrad")?;
    cx.check_dtype(&upstream, x.dtype())?;
    let ends = ends_of(cx, "groupIndexOptional", false)?;
    let swapped = !cx.flag("activateLeft")?;
    let (gate, value) = halves(cx, &x, 1, false, swapped)?;
    cx.check_dims(&upstream, gate.dims())?;
    // Each gradient lies where its input lies.
    let gradients = cx.temporary(DataType::Float32, x.dims())?;
    let (gate_out, value_out) = halves(cx, &gradients, 1, false, swapped)?;
    cx.rows(
        Gradient { limit: None },
        &[Some(upstream), Some(gate), Some(value)],
        &[Some(gate_out), Some(value_out)],
    )?;
    mx::both_axes(cx, gradients, ends, rule)
}

/// Returns the weights of rows, one for each of the dimensions before the last.
fn row_weights(cx: &mut Cx<'_>, param: &str, dims: &[usize]) -> Result<Option<View>, Refusal> {
    let Some(weight) = cx.optional(param)? else {
        return Ok(None);
    };
    cx.check_dtype(&weight, DataType::Float32)?;
    check_elements(cx, &weight, dims)?;
    cx.reshaped(weight, dims).map(Some)
}

/// Blocks of a row with a float32 scale each. Elements that are not finite do not count, and keep their values.
struct BlockScaling {
    size: usize,
    largest: f32,
    rounds: bool,
    encoding: Encoding,
}

/// The least magnitude that counts as the largest of a block.
const LEAST: f32 = 1e-4;

impl RowFunction for BlockScaling {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, scales, encoding) =
            (rows.input(0), rows.output(0), rows.output(1), self.encoding);
        for block in 0..scales.len() {
            let start = block * self.size;
            let len = self.size.min(x.len() - start);
            let part = x.slice(start, len);
            let finite = |value: f32| if value.is_finite() { value.abs() } else { 0.0 };
            let most = part.fold_wide(LEAST, |most: f32, value| most.max(finite(value)), f32::max);
            let (scale, factor) = match self.rounds {
                true => {
                    let scale = decode_scale(scale_above(most / self.largest, false));
                    (scale, 1.0 / scale)
                }
                false => (most / self.largest, self.largest / most),
            };
            scales.set(block, scale);
            out.slice(start, len).map1(part, |value| {
                let scaled = value * factor;
                encoding.apply(if scaled.is_finite() { scaled } else { value })
            });
        }
    }
}

pub(super) fn group_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("yScaleOut")?);
    let origin = cx.out("yOriginOut")?;
    cx.check_types(&x, FLOATS)?;
    let rank = x.rank();
    let width = match x.dims() {
        [_, .., width] if *width >= 256 && width.is_multiple_of(256) && !x.is_empty() => *width,
        dims => {
            return Err(cx.invalid(format_args!(
                "x has the shape {dims:?}; it must have at least two dimensions and one element, and the last must be a multiple of 256"
            )));
        }
    };
    let (mode, block) = (cx.int("quantMode")?, cx.int("blockSize")?);
    let wanted: (&[DataType], i64) = match mode {
        0 => (&[DataType::Float8E5M2, DataType::Float8E4M3Fn], 128),
        1 => (super::encoding::BLOCK_TYPES, 32),
        2 | 3 => (&[DataType::HiFloat8], block),
        other => {
            return Err(cx.invalid(format_args!("quantMode is {other}; it must be 0 to 3")));
        }
    };
    cx.check_types(&out, wanted.0)?;
    if mode < 2 {
        check_number(cx, "dstType", &out)?;
    }
    if block != 0 && block != wanted.1 {
        return Err(cx.invalid(format_args!(
            "blockSize is {block}; with quantMode {mode} it must be 0 or {}",
            wanted.1
        )));
    }
    let rounds = cx.flag("roundScale")?;
    if mode == 1 && !rounds {
        return Err(cx.invalid("roundScale is false; with quantMode 1 it must be true"));
    }
    let wants_origin = cx.flag("outputOrigin")?;
    if mode < 2 && wants_origin {
        return Err(cx.invalid(format_args!(
            "outputOrigin is true; with quantMode {mode} it must be false"
        )));
    }
    let gate = match cx.float("clampLimit")? {
        -1.0 => Gate::Plain,
        _ => Gate::Limited {
            limit: positive(cx, "clampLimit")?,
            alpha: 1.0,
            bias: 0.0,
        },
    };
    let mut dims = x.dims().to_vec();
    dims[rank - 1] = 1;
    let weight = row_weights(cx, "weightOptional", &dims)?;
    dims[rank - 1] = width / 2;
    let origin = match wants_origin {
        true => {
            cx.check_dtype(&origin, x.dtype())?;
            cx.check_dims(&origin, &dims)?;
            Some(origin)
        }
        false => None,
    };
    let ends = ends_of(cx, "groupIndexOptional", true)?;
    let count = ends.map_or(1, |ends| ends.elements());
    let (gate_half, value) = halves(cx, &x, rank - 1, false, false)?;
    let activated = cx.temporary(DataType::Float32, &dims)?;
    let inputs = [Some(gate_half), Some(value), weight];
    let outputs = [Some(activated), origin];
    cx.rows_with(Activate { gate }, &[ends], &inputs, &outputs)?;
    if mode == 1 {
        let largest = EncodedOutput::new(cx, out, &dims, Rounding::Even)?
            .limits()
            .1;
        let rule = ScaleRule::Above {
            limit: largest,
            least: LEAST,
            nearest: false,
        };
        let shape = Shape {
            axis: rank - 1,
            block: BLOCK,
            ends: None,
        };
        return mx::quantise(cx, activated, shape, (rule, Rounding::Even), (out, scale));
    }
    if mode == 0 {
        let coded = EncodedOutput::new(cx, out, &dims, Rounding::Even)?;
        cx.check_dtype(&scale, DataType::Float32)?;
        dims[rank - 1] = dims[rank - 1].div_ceil(128);
        cx.check_dims(&scale, &dims)?;
        let function = BlockScaling {
            size: 128,
            largest: coded.limits().1,
            rounds,
            encoding: coded.encoding,
        };
        cx.rows(
            function,
            &[Some(activated)],
            &[Some(coded.rows()), Some(scale)],
        )?;
        return coded.finish(cx);
    }
    let coded = EncodedOutput::new(cx, out, &dims, Rounding::Away)?;
    let factors = match mode {
        // The scale is given, and its output has no meaning.
        2 => {
            let given = cx.tensor("scaleOptional")?;
            cx.check_dtype(&given, DataType::Float32)?;
            cx.check_dims(&given, &[count])?;
            cx.dense(given)?
        }
        _ => {
            let largest = positive(cx, "dstTypeMax")?;
            cx.check_dtype(&scale, DataType::Float32)?;
            cx.check_dims(&scale, &[count])?;
            let rows = activated.elements() / (width / 2);
            let found = cx.temporary(DataType::Float32, &[rows, 1])?;
            let flat = cx.reshaped(activated, &[rows, width / 2])?;
            cx.rows(RowLargest, &[Some(flat)], &[Some(found)])?;
            let found = cx.reshaped(found, &[rows])?;
            // Not documented: the least scale. A group of zeros has the scale 0 here.
            let function = Largest {
                rows: 1,
                divisor: largest,
            };
            let factors = cx.temporary(DataType::Float32, &[count])?;
            cx.rows_with(function, &[ends], &[Some(found)], &[Some(factors)])?;
            cx.copy(factors, scale)?;
            factors
        }
    };
    let function = MaximumScaling {
        rows: 1,
        divides: mode == 3,
        encoding: coded.encoding,
    };
    let inputs = [Some(activated), Some(factors)];
    cx.rows_with(function, &[ends], &inputs, &[Some(coded.rows())])?;
    coded.finish(cx)
}

pub(super) fn group_quant_gradient(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (upstream, x, out) = (cx.tensor("gradY")?, cx.tensor("x")?, cx.out("gradXOut")?);
    cx.check_types(&x, FLOATS)?;
    for view in [&upstream, &out] {
        cx.check_dtype(view, x.dtype())?;
    }
    let rank = x.rank();
    if rank != 2 && rank != 3 {
        return Err(cx.invalid(format_args!("x has {rank} dimensions; expected 2 or 3")));
    }
    let (gate, value) = halves(cx, &x, rank - 1, false, false)?;
    cx.check_dims(&upstream, gate.dims())?;
    cx.check_dims(&out, x.dims())?;
    let limit = match cx.float("clampLimit")? {
        0.0 => None,
        _ => Some(positive(cx, "clampLimit")?),
    };
    let mut dims = x.dims().to_vec();
    dims[rank - 1] = 1;
    let weight = row_weights(cx, "weightOptional", &dims)?;
    let origin = cx.optional("yOriginOptional")?;
    if let Some(origin) = &origin {
        cx.check_dtype(origin, x.dtype())?;
        cx.check_dims(origin, gate.dims())?;
    }
    let weight_out = match cx.optional("gradWeightOutOptional")? {
        Some(to) if weight.is_some() => {
            if origin.is_none() {
                return Err(cx.invalid(
                    "yOriginOptional is null; gradWeightOutOptional is computed from it",
                ));
            }
            cx.check_dtype(&to, DataType::Float32)?;
            Some(MergedOutput::new(cx, to, &dims)?)
        }
        _ => None,
    };
    let ends = ends_of(cx, "groupIndexOptional", true)?;
    let (gate_out, value_out) = halves(cx, &out, rank - 1, false, false)?;
    let inputs = [Some(upstream), Some(gate), Some(value), weight, origin];
    let outputs = [
        Some(gate_out),
        Some(value_out),
        weight_out.map(|merged| merged.rows),
    ];
    cx.rows_with(Gradient { limit }, &[ends], &inputs, &outputs)?;
    match weight_out {
        Some(merged) => merged.finish(cx),
        None => Ok(()),
    }
}
