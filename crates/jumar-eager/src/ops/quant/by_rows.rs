//! Quantisation by the extremes of each row.

use jumar_ops::view::Row;
use jumar_types::dtype::DataType;

use super::encoding::{EncodedOutput, Encoding, usual_rounding};
use super::packed::check_number;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::groups::{self, Sizes};
use crate::ops::operands::{FLOATS, MergedOutput};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// `y = round(x * smooth / scale + offset)` with scale and offset from the row.
struct Dynamic {
    width: usize,
    symmetric: bool,
    encoding: Encoding,
    /// The least and the largest value that a row is mapped to.
    limits: (f32, f32),
}

/// Returns the group that a row belongs to, of groups by their ends. Rows behind the last belong to it.
#[inline(always)]
pub(super) fn group_of(ends: Row<'_, i64>, number: usize) -> usize {
    groups::group_of(ends, Sizes::Ends, number).unwrap_or(ends.len().saturating_sub(1))
}

impl RowFunction for Dynamic {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, limits) = (rows.input(0), rows.output(0), self.limits);
        match rows.optional(1) {
            Some(smooth) => {
                let group = rows
                    .integers(0)
                    .map_or(0, |ends| group_of(ends, rows.number));
                let smooth = smooth.slice(group * self.width, self.width);
                out.map2(x, smooth, |value, smooth| value * smooth);
            }
            None => out.copy_from(x),
        }
        let encoding = self.encoding;
        if self.symmetric {
            let scale = encoding.by_largest(out, limits.1);
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
        out.map1(values, |value| encoding.apply(value / scale + offset));
        if let Some(to) = rows.wanted(1) {
            to.set(0, scale);
        }
        if let Some(to) = rows.wanted(2) {
            to.set(0, offset);
        }
    }
}

/// What a row of one scale is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The last dimension.
    Row,
    /// The dimension before the last.
    Column,
    /// All elements.
    All,
}

/// The attributes of one quantisation.
struct Choice {
    symmetric: bool,
    extent: Extent,
    /// The largest value that elements of hifloat8 become; 0 for that of the type.
    largest: f32,
}

/// Quantises `x` to `yOut` and `scaleOut`, and `offsetOut` where there is one.
fn plan(
    cx: &mut Cx<'_>,
    groups: Option<View>,
    choice: &Choice,
    offset: Option<View>,
) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("yOut")?);
    cx.check_types(&x, FLOATS)?;
    let rank = x.rank();
    if rank < 2 {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; expected at least two dimensions",
            x.dims()
        )));
    }
    let coded = EncodedOutput::new(cx, out, x.dims(), usual_rounding(out.dtype()))?;
    let limits = match choice.largest {
        0.0 => coded.limits(),
        largest => (-largest, largest),
    };
    let (x, target) = match choice.extent {
        Extent::Column => (
            x.transpose(rank - 2, rank - 1),
            coded.rows().transpose(rank - 2, rank - 1),
        ),
        _ => (x, coded.rows()),
    };
    let width = x.dims()[rank - 1];
    // A tensor with one scale is one row.
    let (x, rows, numbers) = match choice.extent {
        Extent::All => {
            let all = x.elements();
            let merged = MergedOutput::new(cx, target, &[1, all])?;
            (cx.reshaped(x, &[1, all])?, merged, vec![1, 1])
        }
        _ => {
            let dims = x.dims().to_vec();
            let numbers = [&dims[..rank - 1], &[1]].concat();
            (x, MergedOutput::new(cx, target, &dims)?, numbers)
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
        let to = MergedOutput::new(cx, number, &numbers)?;
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
            if choice.extent == Extent::All {
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
            Some(cx.reshaped(groups, &[count])?)
        }
        _ => None,
    };
    let function = Dynamic {
        width,
        symmetric: choice.symmetric,
        encoding: coded.encoding,
        limits,
    };
    cx.rows_with(function, &[groups], &[Some(x), smooth], &outputs)?;
    for merged in merged {
        merged.finish(cx)?;
    }
    coded.finish(cx)
}

/// Quantises rows of values, which are multiplied by smoothing scales first, so that their largest magnitudes become `largest`.
/// The output may have other dimensions of as many elements than the values.
pub(crate) fn symmetric(
    cx: &mut Cx<'_>,
    values: View,
    smooth: Option<View>,
    (coded, largest): (EncodedOutput, f32),
    scale: View,
) -> Result<(), Refusal> {
    let function = Dynamic {
        width: values.dims().last().copied().unwrap_or(1),
        symmetric: true,
        encoding: coded.encoding,
        limits: (-largest, largest),
    };
    let mut numbers = values.dims().to_vec();
    numbers.pop();
    numbers.push(1);
    let scale = MergedOutput::new(cx, scale, &numbers)?;
    let rows = MergedOutput::new(cx, coded.rows(), values.dims())?;
    cx.rows(
        function,
        &[Some(values), smooth],
        &[Some(rows.rows), Some(scale.rows)],
    )?;
    scale.finish(cx)?;
    rows.finish(cx)?;
    coded.finish(cx)
}

pub(super) fn dynamic_quant(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let choice = Choice {
        symmetric: true,
        extent: Extent::Row,
        largest: 0.0,
    };
    plan(cx, None, &choice, None)
}

pub(super) fn dynamic_quant_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("yOut")?;
    check_number(cx, "dstType", &out)?;
    let groups = cx.optional("groupIndexOptional")?;
    let offset = cx.optional("offsetOut")?;
    let choice = Choice {
        symmetric: offset.is_none(),
        extent: Extent::Row,
        largest: 0.0,
    };
    plan(cx, groups, &choice, offset)
}

fn by_mode(cx: &mut Cx<'_>, largest: f32) -> Result<(), Refusal> {
    let out = cx.out("yOut")?;
    check_number(cx, "dstType", &out)?;
    let groups = cx.optional("groupIndexOptional")?;
    let symmetric = cx.flag("isSymmetrical")?;
    let offset = match symmetric {
        true => None,
        false => cx.optional("offsetOut")?,
    };
    let extent = match cx.text("quantMode")? {
        "pertoken" => Extent::Row,
        "pertensor" => Extent::All,
        "perchannel" => Extent::Column,
        other => {
            return Err(cx.invalid(format_args!(
                "quantMode is {other:?}; it must be pertoken, pertensor or perchannel"
            )));
        }
    };
    if extent != Extent::Row && groups.is_some() {
        return Err(cx.invalid("groupIndexOptional must be null unless quantMode is pertoken"));
    }
    let choice = Choice {
        symmetric,
        extent,
        largest,
    };
    plan(cx, groups, &choice, offset)
}

pub(super) fn dynamic_quant_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    by_mode(cx, 0.0)
}

pub(super) fn dynamic_quant_v4(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let largest = cx.float("dstTypeMax")?;
    let hifloat = cx.out("yOut")?.dtype() == DataType::HiFloat8;
    if largest != 0.0 && !(hifloat && (0.0..=32768.0).contains(&largest)) {
        return Err(cx.invalid(format_args!(
            "dstTypeMax is {largest}; it must be 0, or with results of hifloat8 at most 32768"
        )));
    }
    by_mode(cx, largest as f32)
}
