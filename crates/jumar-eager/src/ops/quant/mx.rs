//! Blocks of elements of 4 or 8 bits with a common scale that is a power of two (MX).

use jumar_ops::minifloat::{Minifloat, Rounding, inverse_scale, scale_above, scale_below};
use jumar_ops::view::{BF16, F16, Row, RowMut};
use jumar_types::dtype::DataType;

use super::encoding::{BLOCK_TYPES, EncodedOutput, Encoding, decoded, quotient, rounding_to};
use super::packed::check_number;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::groups::{self, Sizes};
use crate::ops::operands::{FLOATS, MergedOutput};
use crate::rows::{RowFunction, Rows, largest_magnitude};
use crate::view::View;

/// Elements of a block where the size is not an argument.
pub(crate) const BLOCK: usize = 32;

/// How the scale of a block follows from its largest magnitude.
#[derive(Clone, Copy)]
pub(crate) enum ScaleRule {
    /// The power of two below it, over that of the type's largest value (the OCP definition). Values of the block that are too
    /// large then saturate.
    Below { exponent: i32 },
    /// The smallest power of two with which the largest magnitude, at least `least`, becomes at most `limit`.
    Above {
        limit: f32,
        least: f32,
        nearest: bool,
    },
}

impl ScaleRule {
    /// Returns the scale of a block, as a code of float8_e8m0.
    #[inline(always)]
    fn of_row(self, row: Row<'_, f32>) -> u8 {
        match is_finite(row) {
            true => self.of(largest_magnitude(row)),
            false => NO_SCALE,
        }
    }

    /// Returns the scale of a block with finite elements, as a code of float8_e8m0.
    #[inline(always)]
    pub fn of(self, largest: f32) -> u8 {
        match self {
            ScaleRule::Below { exponent } => scale_below(largest, exponent),
            ScaleRule::Above {
                limit,
                least,
                nearest,
            } => scale_above(largest.max(least) / limit, nearest),
        }
    }
}

/// The scale of a block with infinities or not-a-number, whose elements are 0 then.
pub(crate) const NO_SCALE: u8 = 255;

/// Reports whether all numbers of a row are finite.
#[inline(always)]
pub(crate) fn is_finite(row: Row<'_, f32>) -> bool {
    let sum = row.fold_wide(
        0.0,
        |sum: f32, value| sum + value * 0.0,
        |one, two| one + two,
    );
    !sum.is_nan()
}

/// The attributes of an operator that choose the scales.
#[derive(Clone, Copy)]
pub(crate) struct Choice<'a> {
    pub algorithm: (&'a str, i64),
    /// The largest value of the type that scales are formed with; 0 for that of the type itself.
    pub largest: (&'a str, f64),
    /// The least value that the largest magnitude of a block counts as.
    pub least: (&'a str, f64),
    /// Whether float4_e1m2 has the algorithm 2 as well.
    pub both: bool,
}

impl Choice<'_> {
    /// A choice by the algorithm alone.
    pub fn plain(param: &str, algorithm: i64) -> Choice<'_> {
        Choice {
            algorithm: (param, algorithm),
            largest: ("dstTypeMax", 0.0),
            least: ("maxLowBound", 0.0),
            both: false,
        }
    }
}

/// Returns the rule that attributes choose for a type.
pub(crate) fn rule(
    cx: &Cx<'_>,
    dtype: DataType,
    choice: &Choice<'_>,
) -> Result<ScaleRule, Refusal> {
    let Some(format) = Minifloat::of(dtype).filter(|_| BLOCK_TYPES.contains(&dtype)) else {
        return Err(cx.defect("the type of the elements was checked"));
    };
    let ((param, algorithm), (max_param, max), (least_param, least)) =
        (choice.algorithm, choice.largest, choice.least);
    let allowed: &[i64] = match dtype {
        DataType::Float4E1M2 if choice.both => &[0, 2],
        DataType::Float4E1M2 => &[0],
        DataType::Float4E2M1 => &[0, 2],
        _ => &[0, 1],
    };
    if !allowed.contains(&algorithm) {
        return Err(cx.invalid(format_args!(
            "{param} is {algorithm}; with results of {dtype} it must be one of {allowed:?}"
        )));
    }
    let range = match dtype {
        DataType::Float4E2M1 => 6.0..=12.0,
        _ => 1.75..=3.5,
    };
    if max != 0.0 && (algorithm != 2 || !range.contains(&max)) {
        return Err(cx.invalid(format_args!(
            "{max_param} is {max}; it must be 0, or with {param} 2 a number from {} to {}",
            range.start(),
            range.end()
        )));
    }
    if least != 0.0 && (algorithm != 1 || least.is_nan() || least < 0.0) {
        return Err(cx.invalid(format_args!(
            "{least_param} is {least}; it must be 0, or with {param} 1 a positive number"
        )));
    }
    Ok(match algorithm {
        0 => ScaleRule::Below {
            exponent: format.largest_exponent(),
        },
        _ => ScaleRule::Above {
            limit: match max {
                0.0 => format.largest(),
                max => max as f32,
            },
            least: least as f32,
            nearest: algorithm == 1,
        },
    })
}

/// Quantises rows in blocks. The second output has a code for each block, and for blocks that do not exist 0.
struct Blocks {
    block: usize,
    rule: ScaleRule,
    encoding: Encoding,
}

impl Blocks {
    /// Quantises elements that begin with a block. `scales` takes the codes of their blocks.
    #[inline(always)]
    fn quantise(&self, x: Row<'_, f32>, out: RowMut<'_, f32>, scales: RowMut<'_, f32>) {
        let (mut start, mut index) = (0, 0);
        while start < x.len() {
            let len = self.block.min(x.len() - start);
            let (part, to) = (x.slice(start, len), out.slice(start, len));
            let code = self.rule.of_row(part);
            scales.set(index, f32::from(code));
            match code {
                NO_SCALE => to.fill(0.0),
                code => {
                    let (factor, encoding) = (inverse_scale(code), self.encoding);
                    to.map1(part, |value| encoding.apply(value * factor));
                }
            }
            (start, index) = (start + len, index + 1);
        }
    }
}

impl RowFunction for Blocks {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, scales) = (rows.input(0), rows.output(0), rows.output(1));
        // Scales without a block, and elements that no group holds.
        scales.fill(0.0);
        let Some(ends) = rows.integers(0) else {
            return self.quantise(x, out, scales);
        };
        out.fill(0.0);
        let mut start = 0;
        for group in 0..ends.len() {
            let end = usize::try_from(ends.get(group)).unwrap_or(0);
            let end = end.clamp(start, x.len());
            let (first, len) = (2 * (start / (2 * self.block) + group), end - start);
            let own = scales.slice(first, len.div_ceil(self.block));
            self.quantise(x.slice(start, len), out.slice(start, len), own);
            start = end;
        }
    }
}

/// How the blocks of one quantisation lie.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub axis: usize,
    pub block: usize,
    /// The ends of groups of entries of the dimension, as int64. A group begins with a block of its own.
    pub ends: Option<View>,
}

/// Quantises a tensor in blocks along a dimension.
///
/// The scales of two blocks lie side by side: `scale` has the dimensions of `x` with half as many pairs of blocks along `axis`,
/// and a last dimension of 2. With groups, the pairs of a group begin behind as many pairs as the entries before it fill
/// completely, and one for each group before it.
pub(crate) fn quantise(
    cx: &mut Cx<'_>,
    x: View,
    shape: Shape,
    (rule, rounding): (ScaleRule, Rounding),
    (out, scale): (View, View),
) -> Result<(), Refusal> {
    let (rank, Shape { axis, block, ends }) = (x.rank(), shape);
    let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    cx.check_dtype(&scale, DataType::Float8E8M0)?;
    let pairs = match ends {
        Some(ends) => x.dims()[axis] / (2 * block) + ends.elements(),
        None => x.dims()[axis].div_ceil(2 * block),
    };
    let mut dims = x.dims().to_vec();
    dims[axis] = pairs;
    dims.push(2);
    cx.check_dims(&scale, &dims)?;
    if x.is_empty() {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..rank).filter(|&own| own != axis).collect();
    order.push(axis);
    let rows = coded.rows().permute(&order);
    let x = x.permute(&order);
    order.push(rank);
    let scale = scale.reinterpret(DataType::UInt8).permute(&order);
    let mut flat = x.dims().to_vec();
    flat[rank - 1] = 2 * pairs;
    let scales = MergedOutput::new(cx, scale, &flat)?;
    let function = Blocks {
        block,
        rule,
        encoding: coded.encoding,
    };
    let outputs = [Some(rows), Some(scales.rows)];
    cx.rows_with(function, &[ends], &[Some(x)], &outputs)?;
    scales.finish(cx)?;
    coded.finish(cx)
}

/// Refuses a tensor that cannot be quantised in blocks, or a result of another type than its number says.
pub(crate) fn check_operands(
    cx: &Cx<'_>,
    x: &View,
    param: &str,
    outs: &[&View],
) -> Result<(), Refusal> {
    cx.check_types(x, FLOATS)?;
    if x.rank() == 0 || x.rank() > 7 {
        return Err(cx.invalid(format_args!(
            "{} has {} dimensions; expected 1 to 7",
            cx.param_of(x),
            x.rank()
        )));
    }
    for out in outs {
        cx.check_types(out, BLOCK_TYPES)?;
        check_number(cx, param, out)?;
    }
    Ok(())
}

/// Reads the size of blocks.
fn block_size(cx: &Cx<'_>, algorithm: i64) -> Result<usize, Refusal> {
    let size = cx.int("blocksize")?;
    let fits = size > 0 && size <= 1024 && size % 32 == 0 && (algorithm != 2 || size == 32);
    match fits {
        true => Ok(size as usize),
        false => Err(cx.invalid(format_args!(
            "blocksize is {size}; it must be a multiple of 32 up to 1024, and 32 if scaleAlg is 2"
        ))),
    }
}

fn one_axis(cx: &mut Cx<'_>, max: f64, least: f64) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("mxscaleOut")?);
    check_operands(cx, &x, "dstType", &[&out])?;
    let axis = cx.axis("axis", cx.int("axis")?, x.rank())?;
    let algorithm = cx.int("scaleAlg")?;
    let block = block_size(cx, algorithm)?;
    let choice = Choice {
        largest: ("dstTypeMax", max),
        least: ("maxLowBound", least),
        ..Choice::plain("scaleAlg", algorithm)
    };
    let rule = rule(cx, out.dtype(), &choice)?;
    let rounding = rounding_to(cx, "roundModeOptional", out.dtype())?;
    let shape = Shape {
        axis,
        block,
        ends: None,
    };
    quantise(cx, x, shape, (rule, rounding), (out, scale))
}

pub(super) fn first(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    one_axis(cx, 0.0, 0.0)
}

pub(super) fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let max = cx.float("dstTypeMax")?;
    one_axis(cx, max, 0.0)
}

pub(super) fn third(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (max, least) = (cx.float("dstTypeMax")?, cx.float("maxLowBound")?);
    one_axis(cx, max, least)
}

/// Quantises a tensor along its last dimension and, with groups, along the one before it.
pub(crate) fn both_axes(
    cx: &mut Cx<'_>,
    x: View,
    ends: Option<View>,
    rule: (ScaleRule, Rounding),
) -> Result<(), Refusal> {
    let rank = x.rank();
    for (axis, ends, out, scale) in [
        (rank - 1, None, "y1Out", "mxscale1Out"),
        (rank - 2, ends, "y2Out", "mxscale2Out"),
    ] {
        let (out, scale) = (cx.out(out)?, cx.out(scale)?);
        let shape = Shape {
            axis,
            block: BLOCK,
            ends,
        };
        quantise(cx, x, shape, rule, (out, scale))?;
    }
    Ok(())
}

fn two_axes(cx: &mut Cx<'_>, max: f64) -> Result<(), Refusal> {
    let x = cx.tensor("x")?;
    let (one, two) = (cx.out("y1Out")?, cx.out("y2Out")?);
    check_operands(cx, &x, "dstType", &[&one, &two])?;
    if x.rank() < 2 {
        return Err(cx.invalid("x has one dimension; expected 2 to 7"));
    }
    let choice = Choice {
        largest: ("dstTypeMax", max),
        ..Choice::plain("scaleAlg", cx.int("scaleAlg")?)
    };
    let rule = rule(cx, one.dtype(), &choice)?;
    let rounding = rounding_to(cx, "roundModeOptional", one.dtype())?;
    both_axes(cx, x, None, (rule, rounding))
}

pub(super) fn dual(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    two_axes(cx, 0.0)
}

pub(super) fn dual_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let max = cx.float("dstTypeMax")?;
    two_axes(cx, max)
}

fn by_groups(cx: &mut Cx<'_>, algorithm: i64, max: f64) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("y")?, cx.out("mxscale")?);
    check_operands(cx, &x, "dstType", &[&out])?;
    if x.rank() != 2 {
        return Err(cx.invalid(format_args!("x has {} dimensions; expected 2", x.rank())));
    }
    if cx.int("blocksize")? != BLOCK as i64 {
        return Err(cx.invalid(format_args!(
            "blocksize is {}; it must be {BLOCK}",
            cx.int("blocksize")?
        )));
    }
    let choice = Choice {
        largest: ("dstTypeMax", max),
        both: true,
        ..Choice::plain("scaleAlg", algorithm)
    };
    let rule = rule(cx, out.dtype(), &choice)?;
    let rounding = rounding_to(cx, "roundMode", out.dtype())?;
    let ends = groups::ends(cx, "groupIndex", &[DataType::Int32], Sizes::Ends)?;
    let shape = Shape {
        axis: 0,
        block: BLOCK,
        ends,
    };
    quantise(cx, x, shape, (rule, rounding), (out, scale))
}

pub(super) fn grouped(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    by_groups(cx, 0, 0.0)
}

pub(super) fn grouped_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (algorithm, max) = (cx.int("scaleAlg")?, cx.float("dstTypeMax")?);
    by_groups(cx, algorithm, max)
}

/// Multiplies rows by the scales of their blocks.
struct Restore {
    block: usize,
}

impl RowFunction for Restore {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, scales, out) = (rows.input(0), rows.input(1), rows.output(0));
        let mut start = 0;
        while start < x.len() {
            let len = self.block.min(x.len() - start);
            let scale = scales.get(start / self.block);
            out.slice(start, len)
                .map1(x.slice(start, len), |value| value * scale);
            start += len;
        }
    }
}

/// Returns the values of a tensor in blocks along a dimension, with its scales as [`quantise`] arranges them, in `out`.
pub(crate) fn restore(
    cx: &mut Cx<'_>,
    x: View,
    scale: View,
    (axis, block): (usize, usize),
    out: View,
) -> Result<(), Refusal> {
    cx.check_dtype(&scale, DataType::Float8E8M0)?;
    let (rank, pairs) = (x.rank(), x.dims()[axis].div_ceil(2 * block));
    let mut dims = x.dims().to_vec();
    dims[axis] = pairs;
    dims.push(2);
    cx.check_dims(&scale, &dims)?;
    cx.check_dims(&out, x.dims())?;
    if out.is_empty() {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..rank).filter(|&own| own != axis).collect();
    order.push(axis);
    // Matrices that were stored in blocks may have been decoded before.
    let values = match x.dtype() {
        DataType::Float32 => x,
        _ => decoded(cx, x)?,
    };
    let (x, out) = (values.permute(&order), out.permute(&order));
    order.push(rank);
    let scale = decoded(cx, scale)?.permute(&order);
    let mut flat = x.dims().to_vec();
    flat[rank - 1] = 2 * pairs;
    let scale = cx.reshaped(scale, &flat)?;
    cx.rows(Restore { block }, &[Some(x), Some(scale)], &[Some(out)])
}

/// Multiplies blocks of the last dimension by a factor each, which `scale` has as rows.
pub(crate) fn scale_rows(
    cx: &mut Cx<'_>,
    x: View,
    scale: View,
    block: usize,
) -> Result<View, Refusal> {
    let out = cx.temporary(DataType::Float32, x.dims())?;
    cx.rows(Restore { block }, &[Some(x), Some(scale)], &[Some(out)])?;
    Ok(out)
}

pub(super) fn inverse(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, scale, out) = (cx.tensor("x")?, cx.tensor("mxscale")?, cx.out("y")?);
    cx.check_types(&x, BLOCK_TYPES)?;
    cx.check_types(&out, FLOATS)?;
    check_number(cx, "dstType", &out)?;
    if x.rank() == 0 || x.rank() > 7 {
        return Err(cx.invalid(format_args!(
            "x has {} dimensions; expected 1 to 7",
            x.rank()
        )));
    }
    let axis = cx.axis("axis", cx.int("axis")?, x.rank())?;
    restore(cx, x, scale, (axis, BLOCK), out)
}

/// The largest value of float4_e2m1.
const LARGEST: f32 = 6.0;

/// Quantises by two levels: a float32 scale for each long block, and a power of two for each block inside.
struct TwoLevels {
    outer: usize,
    inner: Blocks,
    half: bool,
}

impl RowFunction for TwoLevels {
    fn scratch(&self) -> usize {
        self.outer
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, scales, outer) = (
            rows.input(0),
            rows.output(0),
            rows.output(1),
            rows.output(2),
        );
        scales.fill(0.0);
        for block in 0..outer.len() {
            let start = block * self.outer;
            let values = rows.scratch().slice(0, self.outer.min(x.len() - start));
            let part = x.slice(start, values.len());
            match rows.optional(1) {
                Some(smooth) => {
                    let smooth = smooth.slice(start, values.len());
                    values.map2(part, smooth, |value, smooth| value * smooth);
                }
                None => values.copy_from(part),
            }
            let scale = largest_magnitude(values.as_row()) / LARGEST;
            outer.set(block, scale);
            // The first level has a result of the type of `x`.
            match self.half {
                true => values.map1(values.as_row(), |value| {
                    F16::from_f32(quotient(value, scale)).to_f32()
                }),
                false => values.map1(values.as_row(), |value| {
                    BF16::from_f32(quotient(value, scale)).to_f32()
                }),
            }
            let (first, count) = (start / BLOCK, values.len().div_ceil(BLOCK));
            let target = out.slice(start, values.len());
            self.inner
                .quantise(values.as_row(), target, scales.slice(first, count));
        }
    }
}

pub(super) fn two_levels(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    const OUTER: usize = 512;
    let (x, out) = (cx.tensor("x")?, cx.out("yOut")?);
    let (outer, scale) = (cx.out("level0ScaleOut")?, cx.out("level1ScaleOut")?);
    cx.check_types(&x, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_dtype(&out, DataType::Float4E2M1)?;
    cx.check_dtype(&outer, DataType::Float32)?;
    cx.check_dtype(&scale, DataType::Float8E8M0)?;
    for (param, wanted) in [("level0BlockSize", OUTER), ("level1BlockSize", BLOCK)] {
        let size = cx.int(param)?;
        if size != wanted as i64 {
            return Err(cx.invalid(format_args!("{param} is {size}; it must be {wanted}")));
        }
    }
    let rounding = rounding_to(cx, "roundModeOptional", out.dtype())?;
    let Some((&width, lead)) = x
        .dims()
        .split_last()
        .filter(|_| x.rank() < 8 && !x.is_empty())
    else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; expected 1 to 7 dimensions and at least one element",
            x.dims()
        )));
    };
    let pairs = width.div_ceil(2 * BLOCK);
    let outer_dims = [lead, &[width.div_ceil(OUTER)]].concat();
    let (scale_dims, flat) = ([lead, &[pairs, 2]].concat(), [lead, &[2 * pairs]].concat());
    let smooth = match cx.optional("smoothScaleOptional")? {
        Some(smooth) => {
            cx.check_dtype(&smooth, x.dtype())?;
            cx.check_dims(&smooth, &[width])?;
            Some(smooth)
        }
        None => None,
    };
    let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    cx.check_dims(&outer, &outer_dims)?;
    cx.check_dims(&scale, &scale_dims)?;
    let scales = MergedOutput::new(cx, scale.reinterpret(DataType::UInt8), &flat)?;
    let rule = rule(cx, out.dtype(), &Choice::plain("scaleAlg", 0))?;
    let function = TwoLevels {
        outer: OUTER,
        inner: Blocks {
            block: BLOCK,
            rule,
            encoding: coded.encoding,
        },
        half: x.dtype() == DataType::Float16,
    };
    let outputs = [Some(coded.rows()), Some(scales.rows), Some(outer)];
    cx.rows(function, &[Some(x), smooth], &outputs)?;
    scales.finish(cx)?;
    coded.finish(cx)
}
