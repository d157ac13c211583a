//! Gated activations with limits and groups.

use jumar_ops::math::{Fast, Float};
use jumar_ops::view::Row;
use jumar_types::dtype::DataType;

use super::elementwise::gelu_gate;
use super::groups;
use super::operands::{FLOATS, MergedOutput};
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// The GELU of the first half of the last dimension times the second.
pub(super) fn gelu_mul(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let tanh = match cx.text(APPROXIMATE)? {
        "" | "none" => false,
        "tanh" => true,
        other => {
            return Err(cx.invalid(format_args!(
                "{APPROXIMATE} is {other:?}; it must be none or tanh"
            )));
        }
    };
    let (x, out) = (cx.tensor("input")?, cx.out("out")?);
    cx.check_types(&x, FLOATS)?;
    let Some(width) = x.dims().last().filter(|width| width.is_multiple_of(2)) else {
        return Err(cx.invalid(format_args!(
            "input has the shape {:?}; its last dimension must be even",
            x.dims()
        )));
    };
    let (axis, half) = (x.rank() - 1, width / 2);
    let (gate, value) = (x.slice(axis, 0, half, 1), x.slice(axis, half, half, 1));
    cx.check_dims(&out, gate.dims())?;
    gelu_gate(cx, tanh, value, gate, out)
}

const APPROXIMATE: &str = "approximateOptional";

/// How the two halves of a gated unit lie in a row.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    /// Whether they alternate.
    pub alternating: bool,
    /// Whether the second is the gate.
    pub swapped: bool,
}

impl Halves {
    /// Returns the gate and the value.
    #[inline(always)]
    pub fn of<'a>(self, row: Row<'a, f32>) -> (Row<'a, f32>, Row<'a, f32>) {
        let len = row.len() / 2;
        let (one, two) = match self.alternating {
            true => (
                row.stepped(0, len, 2),
                row.stepped(usize::from(len > 0), len, 2),
            ),
            false => (row.slice(0, len), row.slice(len, len)),
        };
        match self.swapped {
            true => (two, one),
            false => (one, two),
        }
    }
}

/// How a gate opens.
#[derive(Clone, Copy)]
pub(crate) enum Gate {
    /// `silu(gate) * value`
    Plain,
    /// Both are limited first: `gate * sigmoid(alpha * gate) * (value + bias)`.
    Limited { limit: f32, alpha: f32, bias: f32 },
    /// `silu(gate)` and the value are limited.
    LimitedBehind { limit: f32 },
}

/// Limits a number from above; not-a-number stays, as in every other limit.
#[inline(always)]
pub(crate) fn at_most(x: f32, limit: f32) -> f32 {
    if x > limit { limit } else { x }
}

/// Limits a number on both sides; not-a-number stays.
#[inline(always)]
pub(crate) fn within(x: f32, limit: f32) -> f32 {
    at_most(if x < -limit { -limit } else { x }, limit)
}

impl Gate {
    #[inline(always)]
    pub fn apply<const FUSED: bool>(self, gate: f32, value: f32) -> f32 {
        let silu = |gate: f32, alpha: f32| gate / (1.0 + Fast::<FUSED>(-alpha * gate).exp().0);
        match self {
            Gate::Plain => silu(gate, 1.0) * value,
            Gate::Limited { limit, alpha, bias } => {
                let (gate, value) = (at_most(gate, limit), within(value, limit));
                silu(gate, alpha) * (value + bias)
            }
            Gate::LimitedBehind { limit } => {
                let opened = at_most(silu(gate, 1.0), limit);
                opened * within(value, limit)
            }
        }
    }
}

/// A gated unit of the rows that the groups hold, or of all.
struct ClippedGate {
    gate: Gate,
    halves: Halves,
}

impl RowFunction for ClippedGate {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        if let Some(groups) = rows.integers(0) {
            let held = groups.fold(0i64, |sum, count| sum.saturating_add(count));
            if rows.number as i64 >= held {
                // What no group holds has no meaning; zeros make the result the same from run to run.
                rows.output(0).fill(0.0);
                return;
            }
        }
        let (gate, value) = self.halves.of(rows.input(0));
        let opening = self.gate;
        rows.output(0).map2(gate, value, |gate, value| {
            opening.apply::<FUSED>(gate, value)
        });
    }
}

pub(super) fn clipped(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("out")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&out, FLOATS)?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let Some(&size) = x.dims().get(axis) else {
        return Err(cx.invalid("x has no dimensions; it must have at least one"));
    };
    let mut dims = x.dims().to_vec();
    if !size.is_multiple_of(2) {
        return Err(cx.invalid(format_args!(
            "x has the shape {dims:?}; the size of dimension {axis} must be even"
        )));
    }
    dims[axis] /= 2;
    cx.check_dims(&out, &dims)?;
    let rows: usize = x.dims()[..axis].iter().product();
    let width: usize = x.dims()[axis..].iter().product();
    let limit = cx.float("limit")? as f32;
    let function = ClippedGate {
        gate: Gate::Limited {
            limit,
            alpha: cx.float("alpha")? as f32,
            bias: cx.float("bias")? as f32,
        },
        halves: Halves {
            alternating: cx.flag("interleaved")?,
            swapped: false,
        },
    };
    let groups = counts(cx, "groupIndexOptional")?;
    let x = cx.reshaped(x, &[rows, width])?;
    let merged = MergedOutput::new(cx, out, &[rows, width / 2])?;
    cx.rows_with(function, &[groups], &[Some(x)], &[Some(merged.rows)])?;
    merged.finish(cx)
}

/// Reads the sizes of groups as int64.
pub(crate) fn counts(cx: &mut Cx<'_>, param: &str) -> Result<Option<View>, Refusal> {
    groups::list(cx, param, &[DataType::Int64, DataType::Int32])
}
