//! Quantisation of rectangular blocks of matrices, by a factor or by a power of two for each.

use jumar_ops::minifloat::inverse_scale;
use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::encoding::{BYTES, EncodedOutput, Encoding, quotient, rounding_to};
use super::mx::{self, BLOCK, Choice, NO_SCALE, ScaleRule};
use super::packed::check_number;
use crate::Refusal;
use crate::build::Cx;
use crate::element::any::AnyView;
use crate::ops::operands::FLOATS;
use crate::rows::largest_magnitude;
use crate::view::View;

/// Parts of the work, each with scratch memory of its own. The number is fixed when the plan is made.
const PARTS: usize = 16;

/// How a block is scaled.
#[derive(Clone, Copy)]
enum Method {
    /// By its largest magnitude over the largest value, at most `limit`.
    Factor { largest: f32, limit: f32 },
    /// By a power of two, which is written for each row and for each column of the block.
    Power(ScaleRule),
}

/// Quantises blocks of `x`, which has a batch, rows and columns. Input 1, if the rows are in groups: their ends, as dense int64.
/// Outputs: bytes, and scales; all dense.
struct Blocks {
    x: DataType,
    dims: [usize; 3],
    strides: [usize; 3],
    block: [usize; 2],
    grouped: bool,
    scale_rows: usize,
    method: Method,
    encoding: Encoding,
}

/// Rows of one block, and the row of its scales.
#[derive(Clone, Copy)]
struct Stripe {
    batch: usize,
    first: usize,
    end: usize,
    scale: usize,
}

/// Where scales go.
enum Scales<'a> {
    Factors(RowMut<'a, f32>),
    Powers(RowMut<'a, u8>, RowMut<'a, u8>),
}

/// The operands of one call.
struct Views<'a> {
    x: AnyView<'a>,
    out: RowMut<'a, u8>,
    scales: Scales<'a>,
}

impl Blocks {
    /// Lists the rows of all blocks.
    fn stripes(&self, ends: Option<Row<'_, i64>>) -> Result<Vec<Stripe>, OpError> {
        let [batches, rows, _] = self.dims;
        let ends = match ends {
            Some(ends) => (0..ends.len()).map(|group| ends.get(group)).collect(),
            None => vec![rows as i64],
        };
        let mut stripes = Vec::new();
        for batch in 0..batches {
            let mut start = 0;
            for (group, &end) in ends.iter().enumerate() {
                let end = usize::try_from(end)
                    .ok()
                    .filter(|&end| end >= start && end <= rows)
                    .ok_or_else(|| {
                        OpError::new(
                            OpErrorKind::Data,
                            format!("groupList has the end {end} behind {start}; ends must not decrease, and be at most {rows}"),
                        )
                    })?;
                let base = if self.grouped {
                    start / self.block[0] + group
                } else {
                    0
                };
                for (index, first) in (start..end).step_by(self.block[0]).enumerate() {
                    stripes.push(Stripe {
                        batch,
                        first,
                        end: end.min(first + self.block[0]),
                        scale: base + index,
                    });
                }
                start = end;
            }
        }
        Ok(stripes)
    }

    fn stripe(&self, views: &Views<'_>, stripe: Stripe, scratch: RowMut<'_, f32>) {
        let [_, rows, columns] = self.dims;
        let [batch, down, right] = self.strides;
        for (index, column) in (0..columns).step_by(self.block[1]).enumerate() {
            let values = scratch.slice(0, self.block[1].min(columns - column));
            let load = |row: usize| {
                let start = stripe.batch * batch + row * down + column * right;
                views.x.load(start, right as isize, values);
            };
            let (mut largest, mut finite) = (0.0f32, true);
            for row in stripe.first..stripe.end {
                load(row);
                largest = largest.max(largest_magnitude(values.as_row()));
                finite &= mx::is_finite(values.as_row());
            }
            let target = |row: usize| {
                let start = (stripe.batch * rows + row) * columns + column;
                views.out.slice(start, values.len())
            };
            let encoding = self.encoding;
            match (self.method, &views.scales) {
                (Method::Factor { largest: of, limit }, Scales::Factors(scales)) => {
                    let scale = (largest / of).min(limit);
                    let width = columns.div_ceil(self.block[1]);
                    let line = stripe.batch * self.scale_rows + stripe.scale;
                    scales.set(line * width + index, scale);
                    for row in stripe.first..stripe.end {
                        load(row);
                        target(row).map1(values.as_row(), |value| {
                            encoding.byte(quotient(value, scale))
                        });
                    }
                }
                (Method::Power(rule), Scales::Powers(by_row, by_column)) => {
                    let (code, factor) = match finite {
                        true => (rule.of(largest), inverse_scale(rule.of(largest))),
                        false => (NO_SCALE, 0.0),
                    };
                    let width = 2 * columns.div_ceil(2 * BLOCK);
                    for row in stripe.first..stripe.end {
                        by_row.set((stripe.batch * rows + row) * width + index, code);
                        if !finite {
                            target(row).fill(0);
                            continue;
                        }
                        load(row);
                        target(row).map1(values.as_row(), |value| encoding.byte(value * factor));
                    }
                    let pairs = rows.div_ceil(2 * BLOCK);
                    let line = stripe.batch * pairs + stripe.scale / 2;
                    for own in 0..values.len() {
                        let at = (line * columns + column + own) * 2 + stripe.scale % 2;
                        by_column.set(at, code);
                    }
                }
                _ => unreachable!("the views are those of the method"),
            }
        }
    }
}

impl Kernel for Blocks {
    fn scratch_bytes(&self) -> usize {
        PARTS * self.block[1] * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let ends = match self.grouped {
            true => Some(call.input::<i64>(1)?.flat()),
            false => None,
        };
        let out = call.output::<u8>(0)?.flat();
        let scales = match self.method {
            Method::Factor { .. } => {
                let scales = call.output::<f32>(1)?.flat();
                scales.fill(0.0);
                Scales::Factors(scales)
            }
            Method::Power(_) => {
                let (one, two) = (call.output::<u8>(1)?.flat(), call.output::<u8>(2)?.flat());
                one.fill(0);
                two.fill(0);
                Scales::Powers(one, two)
            }
        };
        if self.grouped {
            // Rows that no group holds.
            out.fill(0);
        }
        let x = AnyView::new(call, 0, self.x)?;
        let views = Views { x, out, scales };
        let stripes = self.stripes(ends)?;
        let len = self.block[1];
        let scratch = call.scratch::<f32>(0, PARTS * len)?;
        call.workers().each(PARTS, |part| {
            let own = scratch.slice(part * len, len);
            for &stripe in stripes.iter().skip(part).step_by(PARTS) {
                self.stripe(&views, stripe, own);
            }
        });
        Ok(())
    }
}

/// Runs the kernel on operands that were checked.
fn run(
    cx: &mut Cx<'_>,
    x: View,
    ends: Option<View>,
    (coded, method, block): (EncodedOutput, Method, [usize; 2]),
    scales: &[View],
) -> Result<(), Refusal> {
    let dims = match *x.dims() {
        [rows, columns] => [1, rows, columns],
        [batches, rows, columns] => [batches, rows, columns],
        _ => return Err(cx.defect("x was checked to have 2 or 3 dimensions")),
    };
    let rank = x.rank();
    let strides: [usize; 3] = std::array::from_fn(|axis| match (axis + rank).checked_sub(3) {
        Some(own) => x.strides()[own] as usize,
        None => 0,
    });
    let groups = ends.map_or(0, |ends| ends.elements());
    let kernel = Blocks {
        x: x.dtype(),
        dims,
        strides,
        block,
        grouped: ends.is_some(),
        scale_rows: match ends {
            Some(_) => dims[1] / block[0] + groups,
            None => dims[1].div_ceil(block[0]),
        },
        method,
        encoding: coded.encoding,
    };
    let mut targets = vec![coded.rows().reinterpret(DataType::UInt8)];
    targets.extend(scales);
    let mut written = Vec::with_capacity(targets.len());
    for target in &targets {
        written.push(match target.is_dense() {
            true => *target,
            false => cx.temporary(target.dtype(), target.dims())?,
        });
    }
    cx.kernel(Box::new(kernel), &[Some(x), ends], &written, false)?;
    for (from, to) in written.into_iter().zip(targets) {
        cx.copy(from, to)?;
    }
    coded.finish(cx)
}

fn check_matrix(cx: &Cx<'_>, x: &View) -> Result<(), Refusal> {
    match x.rank() == 2 || x.rank() == 3 {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "x has {} dimensions; expected 2 or 3",
            x.rank()
        ))),
    }
}

/// The largest values that hifloat8 may be scaled to, where the operator lists them.
const LARGEST: [f64; 5] = [0.0, 15.0, 56.0, 224.0, 32768.0];

fn factors(cx: &mut Cx<'_>, max: f64, grouped: bool) -> Result<(), Refusal> {
    let (x, out, scale) = (cx.tensor("x")?, cx.out("yOut")?, cx.out("scaleOut")?);
    cx.check_types(&x, FLOATS)?;
    let types = match grouped {
        true => BYTES.to_vec(),
        false => [BYTES, &[DataType::Int8]].concat(),
    };
    cx.check_types(&out, &types)?;
    cx.check_dtype(&scale, DataType::Float32)?;
    check_number(cx, "dstType", &out)?;
    check_matrix(cx, &x)?;
    let (row, column) = (cx.int("rowBlockSize")?, cx.int("colBlockSize")?);
    if ![1, 128, 256, 512].contains(&row) {
        return Err(cx.invalid(format_args!(
            "rowBlockSize is {row}; it must be 1, 128, 256 or 512"
        )));
    }
    if ![1, 64, 128, 192, 256].contains(&column) {
        return Err(cx.invalid(format_args!(
            "colBlockSize is {column}; it must be 1, 64, 128, 192 or 256"
        )));
    }
    let block = [row as usize, column as usize];
    let least = cx.float("minScale")?;
    if least.is_nan() || least < 0.0 {
        return Err(cx.invalid(format_args!("minScale is {least}; it must not be negative")));
    }
    let hifloat = out.dtype() == DataType::HiFloat8;
    let fits = match (hifloat, grouped) {
        (false, _) => max == 0.0,
        (true, false) => LARGEST.contains(&max),
        (true, true) => (0.0..=32768.0).contains(&max),
    };
    if !fits {
        return Err(cx.invalid(format_args!(
            "dstTypeMax is {max}; it must be 0, or with results of hifloat8 one of 15, 56, 224 and 32768"
        )));
    }
    let rounding = rounding_to(cx, "roundModeOptional", out.dtype())?;
    let ends = match grouped {
        true => {
            let kind = cx.int("groupListType")?;
            if kind != 0 {
                return Err(cx.invalid(format_args!("groupListType is {kind}; it must be 0")));
            }
            let ends = cx.tensor("groupList")?;
            cx.check_types(&ends, &[DataType::Int32, DataType::Int64])?;
            if ends.rank() != 1 || ends.is_empty() {
                return Err(cx.invalid(format_args!(
                    "groupList has the shape {:?}; expected one dimension with at least one group",
                    ends.dims()
                )));
            }
            let ends = cx.cast(ends, DataType::Int64)?;
            Some(cx.dense(ends)?)
        }
        false => None,
    };
    let rank = x.rank();
    let mut dims = x.dims().to_vec();
    dims[rank - 2] = match ends {
        Some(ends) => dims[rank - 2] / block[0] + ends.elements(),
        None => dims[rank - 2].div_ceil(block[0]),
    };
    dims[rank - 1] = dims[rank - 1].div_ceil(block[1]);
    let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    cx.check_dims(&scale, &dims)?;
    if x.is_empty() {
        return match grouped {
            true => Ok(()),
            false => cx.check_elements(&[&x]),
        };
    }
    let largest = match max {
        0.0 => coded.limits().1,
        max => max as f32,
    };
    let limit = (1.0 / least) as f32;
    run(
        cx,
        x,
        ends,
        (coded, Method::Factor { largest, limit }, block),
        &[scale],
    )
}

pub(super) fn first(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    factors(cx, 0.0, false)
}

pub(super) fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let max = cx.float("dstTypeMax")?;
    factors(cx, max, false)
}

pub(super) fn grouped(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    factors(cx, 0.0, true)
}

pub(super) fn grouped_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let max = cx.float("dstTypeMax")?;
    factors(cx, max, true)
}

pub(super) fn powers(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("yOut")?);
    mx::check_operands(cx, &x, "dstType", &[&out])?;
    check_matrix(cx, &x)?;
    let (algorithm, max) = (cx.int("scaleAlg")?, cx.float("dstTypeMax")?);
    if algorithm == 1 || ![0.0, 6.0, 7.0].contains(&max) {
        return Err(cx.invalid(format_args!(
            "scaleAlg is {algorithm} and dstTypeMax {max}; they must be 0 or 2, and 0, 6 or 7"
        )));
    }
    let choice = Choice {
        largest: ("dstTypeMax", max),
        ..Choice::plain("scaleAlg", algorithm)
    };
    let rule = mx::rule(cx, out.dtype(), &choice)?;
    let rounding = rounding_to(cx, "roundModeOptional", out.dtype())?;
    let coded = EncodedOutput::new(cx, out, x.dims(), rounding)?;
    let rank = x.rank();
    let mut scales = Vec::new();
    for (param, axis) in [("scale1Out", rank - 1), ("scale2Out", rank - 2)] {
        let scale = cx.out(param)?;
        cx.check_dtype(&scale, DataType::Float8E8M0)?;
        let mut dims = x.dims().to_vec();
        dims[axis] = dims[axis].div_ceil(2 * BLOCK);
        dims.push(2);
        cx.check_dims(&scale, &dims)?;
        scales.push(scale.reinterpret(DataType::UInt8));
    }
    cx.check_elements(&[&x])?;
    run(
        cx,
        x,
        None,
        (coded, Method::Power(rule), [BLOCK, BLOCK]),
        &scales,
    )
}
