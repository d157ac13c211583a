//! Sums of the results of experts, by token.

use jumar_types::dtype::DataType;

use super::super::index;
use super::kernels::Positions;
use super::permute::int64;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::FLOATS;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

// The operands of the function.
const ROWS: usize = 0;
const SCALES: usize = 1;
const BIAS: usize = 2;
const POSITIONS: usize = 3;
const FIRST: usize = 4;
const SECOND: usize = 5;

/// `out = first + second + sum of scale * (row + bias)` over the results of one token.
struct Combine {
    width: usize,
    each: usize,
}

impl RowFunction for Combine {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, results) = (rows.output(0), rows.input(ROWS));
        match rows.optional(FIRST) {
            Some(first) => out.copy_from(first),
            None => out.fill(0.0),
        }
        if let Some(second) = rows.optional(SECOND) {
            out.update(second, |value, second| value + second);
        }
        for slot in 0..self.each {
            if rows
                .optional(POSITIONS)
                .is_some_and(|positions| positions.get(slot) < 0.0)
            {
                continue;
            }
            let scale = rows.optional(SCALES).map_or(1.0, |scales| scales.get(slot));
            let result = results.slice(slot * self.width, self.width);
            out.update(result, |value, result| value + scale * result);
            if let Some(bias) = rows.optional(BIAS) {
                let bias = bias.slice(slot * self.width, self.width);
                out.update(bias, |value, bias| value + scale * bias);
            }
        }
    }
}

/// What is summed: rows of `results` at `positions`, which has one row of dense int64 for each token.
struct Parts {
    results: View,
    /// One row for each token.
    positions: View,
    lenient: bool,
    scales: Option<View>,
    /// A table, and the rows of it for each token.
    bias: Option<(View, View)>,
    others: [Option<View>; 2],
}

/// Checks indices of rows.
fn positions(cx: &mut Cx<'_>, index: View, size: usize, lenient: bool) -> Result<View, Refusal> {
    let dims = index.dims().to_vec();
    let index = int64(cx, index)?;
    let checked = cx.temporary(DataType::Int64, &dims)?;
    if checked.is_empty() {
        return Ok(checked);
    }
    let kernel = Positions {
        operator: cx.name(),
        size,
        lenient,
    };
    cx.kernel(Box::new(kernel), &[Some(index)], &[checked], false)?;
    Ok(checked)
}

fn combine(cx: &mut Cx<'_>, parts: Parts, out: View) -> Result<(), Refusal> {
    cx.check_types(&out, FLOATS)?;
    cx.check_dtype(&out, parts.results.dtype())?;
    let (&[tokens, each], &[size, width]) = (parts.positions.dims(), parts.results.dims()) else {
        return Err(cx.defect("positions and results are matrices"));
    };
    cx.check_dims(&out, &[tokens, width])?;
    if out.is_empty() {
        return Ok(());
    }
    let positions = positions(cx, parts.positions, size, parts.lenient)?;
    let gather = |cx: &mut Cx<'_>, table: View, positions: View| -> Result<View, Refusal> {
        let rows = cx.temporary(table.dtype(), &[tokens, each * width])?;
        let positions = cx.reshaped(positions, &[tokens * each])?;
        let flat = cx.reshaped(rows, &[tokens * each, width])?;
        index::rows_at(cx, table, positions, flat)?;
        Ok(rows)
    };
    let rows = gather(cx, parts.results, positions)?;
    let bias = match parts.bias {
        Some((table, experts)) => {
            let size = table.dims()[0];
            let experts = self::positions(cx, experts, size, false)?;
            Some(gather(cx, table, experts)?)
        }
        None => None,
    };
    let [first, second] = parts.others;
    let marks = parts.lenient.then_some(positions);
    let inputs = [Some(rows), parts.scales, bias, marks, first, second];
    cx.rows(Combine { width, each }, &inputs, &[Some(out)])
}

/// Refuses a tensor that is not a matrix of results.
fn results(cx: &mut Cx<'_>, param: &str) -> Result<View, Refusal> {
    let x = cx.tensor(param)?;
    cx.check_types(&x, FLOATS)?;
    match x.dims() {
        &[_, _] => Ok(x),
        &[experts, capacity, width] => cx.reshaped(x, &[experts * capacity, width]),
        dims => Err(cx.invalid(format_args!(
            "{param} has the shape {dims:?}; expected two or three dimensions"
        ))),
    }
}

/// Returns indices as one row for each token: of a list that goes by the column, or by the row.
fn by_token(cx: &mut Cx<'_>, index: View, tokens: usize, by_column: bool) -> Result<View, Refusal> {
    cx.check_types(&index, &[DataType::Int32, DataType::Int64])?;
    let count = index.elements();
    if tokens == 0 || !count.is_multiple_of(tokens) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have equally many elements for each of {tokens} tokens",
            cx.param_of(&index),
            index.dims()
        )));
    }
    let each = count / tokens;
    Ok(match by_column {
        true => cx.reshaped(index, &[each, tokens])?.transpose(0, 1),
        false => cx.reshaped(index, &[tokens, each])?,
    })
}

pub(super) fn finalize(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let names = Names {
        first: "x1",
        scales: "scales",
        bias: "bias",
        experts: "expandedExpertIdx",
    };
    plan(cx, &names, (true, false))
}

pub(super) fn finalize_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mode = match cx.int("dropPadMode")? {
        0 => (true, false),
        1 => (true, true),
        2 => (false, false),
        3 => (false, true),
        other => {
            return Err(cx.invalid(format_args!(
                "dropPadMode is {other}; it must be between 0 and 3"
            )));
        }
    };
    let names = Names {
        first: "x1Optional",
        scales: "scalesOptional",
        bias: "biasOptional",
        experts: "expertIdxOptional",
    };
    plan(cx, &names, mode)
}

/// The parameters whose names differ.
struct Names {
    first: &'static str,
    scales: &'static str,
    bias: &'static str,
    experts: &'static str,
}

/// Plans the sum. The mode says whether indices go by the column, and whether rows may have been dropped.
fn plan(cx: &mut Cx<'_>, names: &Names, (by_column, lenient): (bool, bool)) -> Result<(), Refusal> {
    let (results, out) = (results(cx, "expandedX")?, cx.out("out")?);
    let (&[tokens, width], true) = (out.dims(), out.rank() == 2) else {
        return Err(cx.invalid(format_args!(
            "out has the shape {:?}; expected two dimensions",
            out.dims()
        )));
    };
    if tokens == 0 {
        return Ok(());
    }
    let index = cx.tensor("expandedRowIdx")?;
    let positions = by_token(cx, index, tokens, by_column)?;
    let each = positions.dims()[1];
    let mut others = [None; 2];
    for (slot, param) in others.iter_mut().zip([names.first, "x2Optional"]) {
        if let Some(other) = cx.optional(param)? {
            cx.check_dtype(&other, results.dtype())?;
            cx.check_dims(&other, &[tokens, width])?;
            *slot = Some(other);
        }
    }
    if others[0].is_none() && others[1].is_some() {
        return Err(cx.invalid(format_args!("x2Optional is given without {}", names.first)));
    }
    let scales = cx.optional(names.scales)?;
    if let Some(scales) = &scales {
        cx.check_types(scales, FLOATS)?;
        cx.check_dims(scales, &[tokens, each])?;
    }
    let bias = match cx.optional(names.bias)? {
        Some(bias) => {
            cx.check_dtype(&bias, results.dtype())?;
            let Some(experts) = cx.optional(names.experts)? else {
                return Err(cx.invalid(format_args!(
                    "{} is given without {}",
                    names.bias, names.experts
                )));
            };
            cx.check_types(&experts, &[DataType::Int32, DataType::Int64])?;
            cx.check_dims(&experts, &[tokens, each])?;
            match bias.dims() {
                &[_, own] if own == width => Some((bias, experts)),
                dims => {
                    return Err(cx.invalid(format_args!(
                        "{} has the shape {dims:?}; expected rows of {width}",
                        names.bias
                    )));
                }
            }
        }
        None => None,
    };
    let parts = Parts {
        results,
        positions,
        lenient,
        scales,
        bias,
        others,
    };
    combine(cx, parts, out)
}

/// Refuses the mode that the documents reserve. `restoreShapeOptional` has a meaning in it alone: PyTorch's adapter passes a shape in any mode.
fn check_modes(cx: &Cx<'_>) -> Result<(), Refusal> {
    if cx.flag("paddedMode")? {
        return Err(cx.unsupported("paddedMode is not supported; the device refuses it, too"));
    }
    Ok(())
}

pub(super) fn unpermute(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    check_modes(cx)?;
    let (results, out) = (results(cx, "permutedTokens")?, cx.out("out")?);
    let scales = cx.optional("probsOptional")?;
    let index = cx.tensor("sortedIndices")?;
    let tokens = match &scales {
        Some(scales) => {
            cx.check_types(scales, FLOATS)?;
            let tokens = scales.dims().first().copied().unwrap_or(0);
            let each = index.elements() / tokens.max(1);
            cx.check_dims(scales, &[tokens, each])?;
            tokens
        }
        None => index.elements(),
    };
    if tokens == 0 {
        return Ok(());
    }
    let parts = Parts {
        results,
        positions: by_token(cx, index, tokens, false)?,
        // Rows that were dropped add nothing.
        lenient: true,
        scales,
        bias: None,
        others: [None; 2],
    };
    combine(cx, parts, out)
}

/// The sum of the rows that came from each token.
fn sum_by_token(cx: &mut Cx<'_>, gradient: &str, index: &str, each: &str) -> Result<(), Refusal> {
    let (results, out, index) = (results(cx, gradient)?, cx.out("out")?, cx.tensor(index)?);
    let each = cx.int(each)?;
    let tokens = match usize::try_from(each) {
        Ok(each) if each > 0 && index.elements().is_multiple_of(each) => index.elements() / each,
        _ => {
            return Err(cx.invalid(format_args!(
                "{} rows cannot be shared out to {each} for each token",
                index.elements()
            )));
        }
    };
    if tokens == 0 {
        return Ok(());
    }
    let parts = Parts {
        results,
        positions: by_token(cx, index, tokens, false)?,
        lenient: true,
        scales: None,
        bias: None,
        others: [None; 2],
    };
    combine(cx, parts, out)
}

pub(super) fn permute_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    check_modes(cx)?;
    sum_by_token(cx, "permutedOutputGrad", "sortedIndices", "numTopk")
}

pub(super) fn init_v2_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    sum_by_token(cx, "gradExpandedX", "expandedRowIdx", "topK")
}

/// The gradients of a weighted sum of one token: of its rows, and of their weights.
struct Split {
    width: usize,
    each: usize,
}

impl RowFunction for Split {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (gradient, out) = (rows.input(0), rows.output(0));
        for slot in 0..self.each {
            let scale = rows.optional(1).map_or(1.0, |scales| scales.get(slot));
            out.slice(slot * self.width, self.width)
                .map1(gradient, |value| value * scale);
            if let (Some(results), Some(to)) = (rows.optional(2), rows.wanted(1)) {
                let result = results.slice(slot * self.width, self.width);
                let product = gradient.fold2_wide(
                    result,
                    0.0,
                    |sum, gradient, result| sum + gradient * result,
                    |one, two| one + two,
                );
                to.set(slot, product);
            }
        }
    }
}

pub(super) fn unpermute_grad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    check_modes(cx)?;
    let gradient = cx.tensor("unpermutedTokensGrad")?;
    cx.check_types(&gradient, FLOATS)?;
    let (&[tokens, width], true) = (gradient.dims(), gradient.rank() == 2) else {
        return Err(cx.invalid(format_args!(
            "unpermutedTokensGrad has the shape {:?}; expected two dimensions",
            gradient.dims()
        )));
    };
    let out = cx.out("permutedTokensGradOut")?;
    cx.check_dtype(&out, gradient.dtype())?;
    if tokens == 0 {
        return Ok(());
    }
    let index = cx.tensor("sortedIndices")?;
    let index = by_token(cx, index, tokens, false)?;
    let each = index.dims()[1];
    let rows = match out.dims() {
        &[rows, own] if own == width => rows,
        dims => {
            return Err(cx.invalid(format_args!(
                "permutedTokensGradOut has the shape {dims:?}; expected rows of {width}"
            )));
        }
    };
    let positions = positions(cx, index, rows, true)?;
    let positions = cx.reshaped(positions, &[tokens * each])?;
    let (mut results, mut to_scales) = (None, None);
    let scales = cx.optional("probsOptional")?;
    if let Some(scales) = &scales {
        cx.check_types(scales, FLOATS)?;
        cx.check_dims(scales, &[tokens, each])?;
        let table = cx.tensor("permutedTokens")?;
        cx.check_types(&table, FLOATS)?;
        cx.check_dims(&table, &[rows, width])?;
        let gathered = cx.temporary(table.dtype(), &[tokens * each, width])?;
        index::rows_at(cx, table, positions, gathered)?;
        results = Some(cx.reshaped(gathered, &[tokens, each * width])?);
        let to = cx.out("probsGradOut")?;
        cx.check_types(&to, FLOATS)?;
        cx.check_dims(&to, &[tokens, each])?;
        to_scales = Some(to);
    }
    let spread = cx.temporary(gradient.dtype(), &[tokens, each * width])?;
    let inputs = [Some(gradient), scales, results];
    cx.rows(Split { width, each }, &inputs, &[Some(spread), to_scales])?;
    let spread = cx.reshaped(spread, &[tokens * each, width])?;
    index::rows_to(cx, spread, positions, out)
}
