//! Quantisation by the extremes of each row.

use jumar_ops::view::Row;
use jumar_types::dtype::DataType;

use super::packed::{Quantised, check_number};
use super::rounding::{by_largest, limited};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::{FLOATS, Merged};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// `y = round(x * smooth / scale + offset)` with scale and offset from the row.
struct Dynamic {
    width: usize,
    /// Whether the scales of the row's group are among several.
    grouped: bool,
    symmetric: bool,
    limits: (f32, f32),
}

/// Returns the group that a row belongs to, of groups by their ends. Rows behind the last belong to it.
#[inline(always)]
pub(super) fn group_of(ends: Row<'_, f32>, number: usize) -> usize {
    let mut group = 0;
    while group + 1 < ends.len() && number as f64 >= f64::from(ends.get(group)) {
        group += 1;
    }
    group
}

impl RowFunction for Dynamic {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, limits) = (rows.input(0), rows.output(0), self.limits);
        match rows.optional(1) {
            Some(smooth) => {
                let group = match (self.grouped, rows.optional(2)) {
                    (true, Some(ends)) => group_of(ends, rows.number),
                    _ => 0,
                };
                let smooth = smooth.slice(group * self.width, self.width);
                out.map2(x, smooth, |value, smooth| value * smooth);
            }
            None => out.copy_from(x),
        }
        if self.symmetric {
            let scale = by_largest(out, limits);
            if let Some(to) = rows.wanted(1) {
                to.set(0, scale);
            }
            if let Some(to) = rows.wanted(2) {
                to.set(0, 0.0);
            }
            return;
        }
        let values = out.as_row();
        let most = values.fold_wide(f32::NEG_INFINITY, f32::max, f32::max);
        let least = values.fold_wide(f32::INFINITY, f32::min, f32::min);
        let scale = (most - least) / (limits.1 - limits.0);
        let offset = limits.1 - most / scale;
        out.map1(values, |value| {
            limited((value / scale + offset).round_ties_even(), limits)
        });
        if let Some(to) = rows.wanted(1) {
            to.set(0, scale);
        }
        if let Some(to) = rows.wanted(2) {
            to.set(0, offset);
        }
    }
}

/// Quantises `x` to `yOut` and `scaleOut`, and `offsetOut` where there is one.
fn plan(
    cx: &mut Cx<'_>,
    groups: Option<View>,
    symmetric: bool,
    offset: Option<View>,
    one_scale: bool,
) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("yOut")?);
    cx.check_types(&x, FLOATS)?;
    let Some((&width, leading)) = x.dims().split_last().filter(|_| x.rank() > 1) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; expected at least two dimensions",
            x.dims()
        )));
    };
    let leading = leading.to_vec();
    let quantised = Quantised::new(cx, out, x.dims())?;
    // A tensor with one scale is one row.
    let (x, rows, numbers, values) = match one_scale {
        true => {
            let all = x.elements();
            let merged = Merged::new(cx, quantised.rows, &[1, all])?;
            (cx.reshaped(x, &[1, all])?, merged, vec![1, 1], all)
        }
        false => {
            let dims = x.dims().to_vec();
            let merged = Merged::new(cx, quantised.rows, &dims)?;
            (x, merged, [leading.as_slice(), &[1]].concat(), width)
        }
    };
    let mut outputs = vec![Some(rows.rows)];
    let mut merged = vec![rows];
    for number in [cx.optional("scaleOut")?, offset] {
        let Some(number) = number else {
            outputs.push(None);
            continue;
        };
        cx.check_dtype(&number, DataType::Float32)?;
        let to = Merged::new(cx, number, &numbers)?;
        outputs.push(Some(to.rows));
        merged.push(to);
    }
    let smooth = match cx.optional("smoothScalesOptional")? {
        Some(smooth) => {
            cx.check_types(&smooth, FLOATS)?;
            let experts = groups.map_or(1, |groups| groups.elements());
            let wanted = match groups {
                Some(_) => vec![experts, width],
                None => vec![width],
            };
            if smooth.dims() != wanted {
                return Err(cx.invalid(format_args!(
                    "smoothScalesOptional has the shape {:?}; it must be {wanted:?}",
                    smooth.dims()
                )));
            }
            if one_scale {
                return Err(
                    cx.unsupported("smoothing scales of a tensor with one scale are not supported")
                );
            }
            let smooth = cx.cast(smooth, DataType::Float32)?;
            Some(cx.reshaped(smooth, &[experts * width])?)
        }
        None => None,
    };
    let groups = match groups {
        Some(groups) if smooth.is_some() => {
            cx.check_types(&groups, &[DataType::Int32, DataType::Int64])?;
            let count = groups.elements();
            let groups = cx.cast(groups, DataType::Float32)?;
            Some(cx.reshaped(groups, &[count])?)
        }
        _ => None,
    };
    let function = Dynamic {
        width: values,
        grouped: groups.is_some(),
        symmetric,
        limits: quantised.limits,
    };
    cx.rows(function, &[Some(x), smooth, groups], &outputs)?;
    for merged in merged {
        merged.finish(cx)?;
    }
    quantised.finish(cx)
}

pub(super) fn dynamic_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(cx, None, true, None, false)
}

pub(super) fn dynamic_quant_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("yOut")?;
    check_number(cx, "dstType", &out)?;
    let groups = cx.optional("groupIndexOptional")?;
    let offset = cx.optional("offsetOut")?;
    plan(cx, groups, offset.is_none(), offset, false)
}

pub(super) fn dynamic_quant_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("yOut")?;
    check_number(cx, "dstType", &out)?;
    let groups = cx.optional("groupIndexOptional")?;
    let symmetric = cx.flag("isSymmetrical")?;
    let offset = match symmetric {
        true => None,
        false => cx.optional("offsetOut")?,
    };
    let one_scale = match cx.text("quantMode")? {
        "pertoken" => false,
        "pertensor" => true,
        other => {
            return Err(cx.unsupported(format_args!(
                "quantMode is {other:?}; pertoken and pertensor are computed"
            )));
        }
    };
    plan(cx, groups, symmetric, offset, one_scale)
}
