//! Gated activations and quantisation of each row as one operator, from floating-point numbers or dequantised integers.

use jumar_types::dtype::DataType;

use super::packed::{QuantisedOutput, check_number};
use super::rounding::{by_largest, limited};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::gates::{self, Gate, Halves};
use crate::ops::groups::{Sizes, group_of};
use crate::ops::operands::{self, FLOATS, MergedOutput};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

// The indices of the inputs of a row, in the order of `inputs` in `plan`.
const X: usize = 0;
const WEIGHTS: usize = 1;
const ACTIVATION: usize = 2;
const SMOOTH: usize = 3;
const OFFSETS: usize = 4;

/// Computes `y = round(gated(x * weight scale * activation scale) * smooth / scale)`.
struct GatedQuant {
    /// The number of elements of an input row: gate and value together.
    width: usize,
    gate: Gate,
    halves: Halves,
    /// The number of smoothing scales of a group: 0, 1, or one for each element of an output row.
    smooth: usize,
    /// How the list of groups is written.
    sizes: Sizes,
    /// Whether the smoothing scales are the scales, so that none is computed.
    fixed: bool,
    /// The smallest and the largest quantised value.
    limits: (f32, f32),
}

impl RowFunction for GatedQuant {
    fn scratch(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, scale_out) = (rows.output(0), rows.output(1));
        let group = match rows.integers(0) {
            Some(list) => group_of(list, self.sizes, rows.number),
            None => Some(0),
        };
        let Some(group) = group else {
            // The result of a row without a group is undefined; zeros make it the same in every run.
            out.fill(0.0);
            scale_out.set(0, 0.0);
            return;
        };
        let values = rows.scratch();
        let activation_scale = rows.optional(ACTIVATION).map_or(1.0, |scale| scale.get(0));
        match rows.optional(WEIGHTS) {
            Some(weights) => {
                let weights = weights.slice(group * self.width, self.width);
                values.map2(rows.input(X), weights, |x, weight| {
                    x * weight * activation_scale
                });
            }
            None => values.map1(rows.input(X), |x| x * activation_scale),
        }
        let (gate, value) = self.halves.of(values.as_row());
        let function = self.gate;
        out.map2(gate, value, |gate, value| {
            function.apply::<FUSED>(gate, value)
        });
        if let Some(smooth) = rows.optional(SMOOTH) {
            match self.smooth {
                1 => {
                    let smooth = smooth.get(group);
                    out.map1(out.as_row(), |value| value * smooth);
                }
                len => {
                    let smooth = smooth.slice(group * len, len);
                    out.update(smooth, |value, smooth| value * smooth);
                }
            }
        }
        if !self.fixed {
            return scale_out.set(0, by_largest(out, self.limits));
        }
        if let Some(offsets) = rows.optional(OFFSETS) {
            match self.smooth {
                1 => {
                    let offset = offsets.get(group);
                    out.map1(out.as_row(), |value| value + offset);
                }
                len => out.update(offsets.slice(group * len, len), |value, offset| {
                    value + offset
                }),
            }
        }
        let limits = self.limits;
        out.map1(out.as_row(), |value| {
            limited(value.round_ties_even(), limits)
        });
        scale_out.set(0, 0.0);
    }
}

pub(super) fn dequant_swiglu_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let swapped = !cx.flag("activateLeft")?;
    let halves = Halves {
        alternating: false,
        swapped,
    };
    plan(cx, Gate::Plain, halves)
}

pub(super) fn dequant_swiglu_quant_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("yOut")?);
    check_number(cx, "dstType", &out)?;
    match cx.text("roundModeOptional")? {
        "" | "rint" => {}
        other => {
            return Err(cx.invalid(format_args!(
                "roundModeOptional is {other:?}; int8 results are rounded by rint"
            )));
        }
    }
    let axis = cx.axis("activateDim", cx.int("activateDim")?, x.rank())?;
    if axis + 1 != x.rank() {
        return Err(
            cx.unsupported("activateDim must be the last dimension; others are not supported")
        );
    }
    let (limit, alpha, bias) = (
        cx.float("clampLimit")? as f32,
        cx.float("gluAlpha")? as f32,
        cx.float("gluBias")? as f32,
    );
    let limited = Gate::Limited { limit, alpha, bias };
    let (gate, alternating) = match cx.int("swigluMode")? {
        0 => (Gate::Plain, false),
        1 => (limited, true),
        2 => (limited, false),
        3 => (Gate::LimitedBehind { limit }, false),
        other => {
            return Err(cx.invalid(format_args!(
                "swigluMode is {other}; it must be 0, 1, 2 or 3"
            )));
        }
    };
    let swapped = !cx.flag("activateLeft")?;
    if swapped && alternating {
        return Err(cx.invalid("activateLeft is false; it must be true if swigluMode is 1"));
    }
    let halves = Halves {
        alternating,
        swapped,
    };
    plan(cx, gate, halves)
}

fn plan(cx: &mut Cx<'_>, gate: Gate, halves: Halves) -> Result<(), Refusal> {
    let (x, out, scale_out) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("scaleOut")?);
    let integers = x.dtype() == DataType::Int32;
    if !integers {
        cx.check_types(&x, FLOATS)?;
    }
    match cx.text("quantModeOptional")? {
        "dynamic" => {}
        "" | "static" => {
            return Err(cx.unsupported(
                "static quantisation is not supported: its formula is not documented",
            ));
        }
        other => {
            return Err(cx.invalid(format_args!(
                "quantModeOptional is {other:?}; it must be dynamic or static"
            )));
        }
    }
    if cx.optional("biasOptional")?.is_some() {
        return Err(
            cx.unsupported("biasOptional is not supported: where it is added is not documented")
        );
    }
    if cx.optional("quantOffsetOptional")?.is_some() {
        return Err(cx.invalid("quantOffsetOptional must be null if quantModeOptional is dynamic"));
    }
    let width = match x.dims() {
        [_, .., width] if width.is_multiple_of(2) && *width > 0 => *width,
        dims => {
            return Err(cx.invalid(format_args!(
                "x has the shape {dims:?}; it must have at least two dimensions, and the last must be even"
            )));
        }
    };
    let counts = gates::counts(cx, "groupIndexOptional")?;
    let groups = counts.map_or(1, |counts| counts.elements());
    let half = width / 2;
    let weights = match cx.optional("weightScaleOptional")? {
        Some(weights) if integers => Some(flat(cx, weights, &[groups * width])?),
        None if integers => return Err(cx.null("weightScaleOptional")),
        Some(_) => {
            return Err(cx.invalid(format_args!(
                "weightScaleOptional must be null if x has the type {}",
                x.dtype()
            )));
        }
        None => None,
    };
    let mut scale_dims = x.dims().to_vec();
    scale_dims[x.rank() - 1] = 1;
    let activation = match cx.optional("activationScaleOptional")? {
        Some(scale) if integers => {
            cx.check_dtype(&scale, DataType::Float32)?;
            operands::check_elements(cx, &scale, &scale_dims)?;
            Some(cx.reshaped(scale, &scale_dims)?)
        }
        Some(_) => {
            return Err(cx.invalid(format_args!(
                "activationScaleOptional must be null if x has the type {}",
                x.dtype()
            )));
        }
        None => None,
    };
    let smooth = match cx.optional("quantScaleOptional")? {
        Some(smooth) => Some(flat(cx, smooth, &[groups * half, groups])?),
        None => None,
    };
    let mut dims = x.dims().to_vec();
    dims[x.rank() - 1] = half;
    let quantised = QuantisedOutput::new(cx, out, &dims)?;
    cx.check_dtype(&scale_out, DataType::Float32)?;
    let scale_out = MergedOutput::new(cx, scale_out, &scale_dims)?;
    let function = GatedQuant {
        width,
        gate,
        halves,
        smooth: smooth.map_or(0, |smooth| smooth.elements() / groups.max(1)),
        sizes: Sizes::Counts,
        fixed: false,
        limits: quantised.limits,
    };
    let inputs = [Some(x), weights, activation, smooth];
    cx.rows_with(
        function,
        &[counts],
        &inputs,
        &[Some(quantised.rows), Some(scale_out.rows)],
    )?;
    scale_out.finish(cx)?;
    quantised.finish(cx)
}

pub(super) fn swiglu_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    swiglu(cx, Sizes::Ends)
}

pub(super) fn swiglu_quant_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("yOut")?;
    check_number(cx, "dstType", &out)?;
    let sizes = match cx.int("groupListType")? {
        0 => Sizes::Ends,
        1 => Sizes::Counts,
        other => {
            return Err(cx.invalid(format_args!("groupListType is {other}; it must be 0 or 1")));
        }
    };
    swiglu(cx, sizes)
}

/// A gated activation and quantisation: by the largest magnitude of each row, or by given scales and offsets.
///
/// The document calls the factor that multiplies a scale. The result of dynamic quantisation is its inverse, as programs pass
/// it on to products as the scale of each row.
fn swiglu(cx: &mut Cx<'_>, sizes: Sizes) -> Result<(), Refusal> {
    let (x, out, scale_out) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("scaleOut")?);
    cx.check_types(&x, FLOATS)?;
    let fixed = match cx.text("quantModeOptional")? {
        "dynamic" => false,
        "static" => true,
        "dynamic_msd" => {
            return Err(cx.unsupported("quantModeOptional dynamic_msd is not supported"));
        }
        other => {
            return Err(cx.invalid(format_args!(
                "quantModeOptional is {other:?}; it must be dynamic or static"
            )));
        }
    };
    let &[_, .., width] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; it must have at least 2 dimensions",
            x.dims()
        )));
    };
    if !width.is_multiple_of(2) || width == 0 {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; its last dimension must be even",
            x.dims()
        )));
    }
    let half = width / 2;
    let list = gates::counts(cx, "groupIndexOptional")?;
    let groups = list.map_or(1, |list| list.elements());
    let smooth = match cx.optional("smoothScalesOptional")? {
        Some(smooth) => Some(flat(cx, smooth, &[groups * half, groups])?),
        None => None,
    };
    let each = smooth.map_or(0, |smooth| smooth.elements() / groups.max(1));
    let offsets = match cx.optional("offsetsOptional")? {
        Some(offsets) if fixed => Some(flat(cx, offsets, &[groups * each.max(1)])?),
        _ => None,
    };
    let mut scale_dims = x.dims().to_vec();
    scale_dims[x.rank() - 1] = 1;
    let mut dims = x.dims().to_vec();
    dims[x.rank() - 1] = half;
    let quantised = QuantisedOutput::new(cx, out, &dims)?;
    cx.check_dtype(&scale_out, DataType::Float32)?;
    let scale_out = MergedOutput::new(cx, scale_out, &scale_dims)?;
    let function = GatedQuant {
        width,
        gate: Gate::Plain,
        halves: Halves {
            alternating: false,
            swapped: !cx.flag("activateLeft")?,
        },
        smooth: match offsets {
            Some(_) => each.max(1),
            None => each,
        },
        sizes,
        fixed,
        limits: quantised.limits,
    };
    cx.rows_with(
        function,
        &[list],
        &[Some(x), None, None, smooth, offsets],
        &[Some(quantised.rows), Some(scale_out.rows)],
    )?;
    scale_out.finish(cx)?;
    quantised.finish(cx)
}

/// Returns a float32 tensor as one dimension.
///
/// # Errors
/// Invalid if the tensor has another type, or another number of elements than one of `counts`.
fn flat(cx: &mut Cx<'_>, view: View, counts: &[usize]) -> Result<View, Refusal> {
    cx.check_dtype(&view, DataType::Float32)?;
    if !counts.contains(&view.elements()) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have {} elements",
            cx.param_of(&view),
            view.dims(),
            counts
                .iter()
                .map(usize::to_string)
                .collect::<Vec<_>>()
                .join(" or ")
        )));
    }
    cx.reshaped(view, &[view.elements()])
}
