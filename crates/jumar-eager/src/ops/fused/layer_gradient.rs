//! The gradients of layer normalization with an addition before it.

use jumar_types::dtype::DataType;

use super::super::reduction::reduce;
use super::layer::{JoinedTensors, normalized, values};
use crate::build::Cx;
use crate::ops::operands::{FLOATS, MergedOutput, entries};
use crate::rows::{RowFunction, Rows, sum};
use crate::view::View;
use crate::{Refusal, Scalar};

// The operands of the function.
const DY: usize = 0;
const X: usize = 1;
const OTHER: usize = 2;
const GAMMA: usize = 3;
const MEAN: usize = 4;
const RSTD: usize = 5;
const MORE: usize = 6;
const TO_SUM: usize = 0;
const TERMS: usize = 1;
const TO_X: usize = 2;

/// The gradient of `(s - mean) * rstd * gamma` with `s = alpha * x + other`, plus a gradient of `s` itself.
struct LayerGradient {
    width: usize,
    alpha: f32,
}

impl RowFunction for LayerGradient {
    fn scratch(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (dy, gamma, alpha) = (rows.input(DY), rows.input(GAMMA), self.alpha);
        let (mean, rstd) = (rows.input(MEAN).get(0), rows.input(RSTD).get(0));
        let scaled = rows.scratch();
        scaled.map2(dy, gamma, |dy, gamma| dy * gamma);
        let unit = rows.output(TERMS);
        unit.map2(rows.input(X), rows.input(OTHER), |x, other| {
            (alpha * x + other - mean) * rstd
        });
        let scaled = scaled.as_row();
        let count = self.width as f32;
        let shift = sum(scaled) / count;
        let product = scaled.fold2_wide(
            unit.as_row(),
            0.0,
            |sum, scaled, unit| sum + scaled * unit,
            |one, two| one + two,
        );
        let slope = product / count;
        let to_sum = rows.output(TO_SUM);
        to_sum.map2(scaled, unit.as_row(), |scaled, unit| {
            rstd * (scaled - shift - unit * slope)
        });
        unit.update(dy, |unit, dy| unit * dy);
        if let Some(more) = rows.optional(MORE) {
            to_sum.update(more, |to, more| to + more);
        }
        if let Some(to_x) = rows.wanted(TO_X) {
            to_x.map1(to_sum.as_row(), |to| alpha * to);
        }
    }
}

/// Sums the rows of terms into an output with the shape of the parameters.
fn sum_rows(cx: &mut Cx<'_>, terms: View, param: &str, gamma: &View) -> Result<(), Refusal> {
    let out = cx.out(param)?;
    cx.check_types(&out, FLOATS)?;
    cx.check_dims(&out, gamma.dims())?;
    let (width, count) = (gamma.elements(), terms.elements() / gamma.elements());
    if count == 0 {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let terms = cx.reshaped(terms, &[count, width])?;
    let merged = MergedOutput::new(cx, out, &[width])?;
    reduce(cx, "ReduceSum", terms, &[0], false, merged.rows)?;
    merged.finish(cx)
}

/// The names of the parameters that differ.
struct Names {
    x: &'static str,
    other: &'static str,
    to_sum: &'static str,
    to_x: Option<&'static str>,
}

fn gradient(cx: &mut Cx<'_>, names: &Names, alpha: f32, more: Option<View>) -> Result<(), Refusal> {
    let (dy, x, other) = (
        cx.tensor("dy")?,
        cx.tensor(names.x)?,
        cx.tensor(names.other)?,
    );
    let gamma = cx.tensor("gamma")?;
    let count = normalized(cx, &x, &gamma)?;
    let joined = JoinedTensors::new(cx, x, count)?;
    let (x, other) = (joined.values(cx, x)?, joined.values(cx, other)?);
    let dy = joined.values(cx, dy)?;
    let more = match more {
        Some(more) => Some(joined.values(cx, more)?),
        None => None,
    };
    let mut figure = |param: &str| {
        let view = cx.tensor(param)?;
        cx.check_dtype(&view, DataType::Float32)?;
        crate::ops::operands::check_elements(cx, &view, &joined.numbers)?;
        cx.reshaped(view, &joined.numbers)
    };
    let (mean, rstd) = (figure("mean")?, figure("rstd")?);
    let to_sum = values(cx, names.to_sum, &joined)?;
    let to_x = match names.to_x {
        Some(param) => Some(values(cx, param, &joined)?),
        None => None,
    };
    let row = entries(cx, gamma, joined.width)?;
    let terms = cx.temporary(DataType::Float32, &joined.dims)?;
    let inputs = [
        Some(dy),
        Some(x),
        Some(other),
        Some(row),
        Some(mean),
        Some(rstd),
        more,
    ];
    let outputs = [
        Some(to_sum.rows),
        Some(terms),
        to_x.as_ref().map(|merged| merged.rows),
    ];
    let function = LayerGradient {
        width: joined.width,
        alpha,
    };
    cx.rows(function, &inputs, &outputs)?;
    to_sum.finish(cx)?;
    if let Some(to_x) = to_x {
        to_x.finish(cx)?;
    }
    sum_rows(cx, terms, "dgammaOut", &gamma)?;
    let dy = cx.cast(dy, DataType::Float32)?;
    sum_rows(cx, dy, "dbetaOut", &gamma)
}

pub(super) fn add_layer_norm_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let more = cx.optional("dsumOptional")?.filter(|more| !more.is_empty());
    let names = Names {
        x: "x1",
        other: "x2",
        to_sum: "dxOut",
        to_x: None,
    };
    gradient(cx, &names, 1.0, more)
}

pub(super) fn deep_norm_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let names = Names {
        x: "x",
        other: "gx",
        to_sum: "dgxOut",
        to_x: Some("dxOut"),
    };
    let alpha = cx.float("alpha")? as f32;
    gradient(cx, &names, alpha, None)
}
