//! Running products and extremes, and medians.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::dense::{Number, Numbers, counted, run_kernel, wide};
use super::index::{Blocks, Keys, blocks, everything, keys, take};
use super::reduction::{reduced_dims, without_dims};
use crate::build::Cx;
use crate::element::compute::Cell;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnCummax", |cx| running_extreme(cx, true)),
    ("aclnnCummin", |cx| running_extreme(cx, false)),
    ("aclnnCumprod", running_product),
    ("aclnnMedian", |cx| median(cx, "valuesOut", false)),
    ("aclnnMedianDim", |cx| median_of_axis(cx, false)),
    ("aclnnNanMedian", |cx| median(cx, "out", true)),
    ("aclnnNanMedianDim", |cx| median_of_axis(cx, true)),
];

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 12;

/// The product of each element with all before it along a dimension.
struct RunningProduct {
    blocks: Blocks,
}

impl Numbers for RunningProduct {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (
            call.input::<C::Raw>(0)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
        );
        let Blocks { outer, size, row } = self.blocks;
        call.workers()
            .ranges(outer * row, GRAIN.div_ceil(size), |first, count| {
                for line in first..first + count {
                    let start = line / row * size * row + line % row;
                    let mut product = L::of_f64(1.0);
                    for entry in 0..size {
                        let at = start + entry * row;
                        product = product.times(C::upcast(x.get(at)));
                        out.set(at, C::downcast(product));
                    }
                }
            });
        Ok(())
    }
}

fn running_product(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("input")?, cx.out("out")?);
    let axis = cx.axis("dim", cx.scalar("dim")?.int(), x.rank())?;
    let dtype = cx.dtype("dtype")?;
    cx.check_converts(dtype, &out)?;
    cx.check_dims(&out, x.dims())?;
    let compute = wide(dtype);
    let x = cx.cast(x, dtype)?;
    let body = RunningProduct {
        blocks: blocks(x.dims(), axis),
    };
    run_kernel(
        cx,
        counted(compute, body),
        &[(x, compute)],
        &[(out, compute)],
    )
}

/// The product of each row.
struct Product {
    len: usize,
}

impl Numbers for Product {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (
            call.input::<C::Raw>(0)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
        );
        for row in 0..out.len() {
            let product = x
                .slice(row * self.len, self.len)
                .fold(L::of_f64(1.0), |product, element| {
                    product.times(C::upcast(element))
                });
            out.set(row, C::downcast(product));
        }
        Ok(())
    }
}

/// Writes the product over axes. `out` has the shape of the others.
pub(super) fn product(cx: &mut Cx<'_>, x: View, axes: &[usize], out: View) -> Result<(), Refusal> {
    let rest = (0..x.rank()).filter(|own| !axes.contains(own));
    let order: Vec<usize> = rest.chain(axes.iter().copied()).collect();
    let len = axes.iter().map(|&axis| x.dims()[axis]).product();
    let rows = cx.reshaped(x.permute(&order), &[out.elements(), len])?;
    let compute = wide(x.dtype());
    let body = Product { len };
    run_kernel(
        cx,
        counted(compute, body),
        &[(rows, compute)],
        &[(out, compute)],
    )
}

/// Writes for each element the index of the greatest or least one up to it along the last dimension, and its position.
struct RunningExtreme {
    keys: Keys,
    len: usize,
    greatest: bool,
}

impl Kernel for RunningExtreme {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (indices, positions) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        let (cells, len) = (self.keys.cells(call)?, self.len);
        let rows = indices.len() / len;
        call.workers()
            .ranges(rows, GRAIN.div_ceil(len), |first, count| {
                let mut keys = vec![0; len];
                for row in first..first + count {
                    cells.load(row * len, &mut keys);
                    let (mut best, mut found) = (0, 0);
                    for (index, &key) in keys.iter().enumerate() {
                        // NaN wins over all numbers, and of equal elements the last.
                        let rank = match self.greatest || self.keys.is_nan(key) {
                            true => key,
                            false => !key,
                        };
                        if index == 0 || rank >= best {
                            (best, found) = (rank, index);
                        }
                        indices.set(row * len + index, found as i64);
                        positions.set(row * len + index, (row * len + found) as i64);
                    }
                }
            });
        Ok(())
    }
}

fn running_extreme(cx: &mut Cx<'_>, greatest: bool) -> Result<(), Refusal> {
    let (mut x, mut values) = (cx.tensor("self")?, cx.out("valuesOut")?);
    let mut indices = cx.out("indicesOut")?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    cx.check_types(&indices, &super::index::INDEX)?;
    cx.check_dims(&values, x.dims())?;
    cx.check_dims(&indices, x.dims())?;
    cx.check_converts(x.dtype(), &values)?;
    let keys = keys(cx, &x)?;
    if x.is_empty() {
        return Ok(());
    }
    if x.rank() == 0 {
        (x, values, indices) = (x.unsqueeze(0), values.unsqueeze(0), indices.unsqueeze(0));
    }
    let last = x.rank() - 1;
    let x = cx.dense(x.transpose(axis, last))?;
    let kernel = RunningExtreme {
        keys,
        len: x.dims()[last],
        greatest,
    };
    let int64 = DataType::Int64;
    let positions = cx.temporary(int64, x.dims())?;
    run_kernel(
        cx,
        Box::new(kernel),
        &[(x, x.dtype())],
        &[(indices.transpose(axis, last), int64), (positions, int64)],
    )?;
    take(
        cx,
        x,
        positions,
        everything(&x),
        values.transpose(axis, last),
    )
}

/// Writes the index of the lower median of each row, and its position.
struct Median {
    keys: Keys,
    len: usize,
    /// Whether NaN is left out. Otherwise the first NaN is the median.
    skips_nan: bool,
}

impl Kernel for Median {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (indices, positions) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        let (cells, len) = (self.keys.cells(call)?, self.len);
        call.workers()
            .ranges(indices.len(), GRAIN.div_ceil(len), |first, count| {
                let mut keys = vec![0; len];
                let mut order: Vec<(u64, usize)> = Vec::with_capacity(len);
                for row in first..first + count {
                    cells.load(row * len, &mut keys);
                    let nan = |key: &u64| self.keys.is_nan(*key);
                    let found = match keys.iter().position(nan) {
                        Some(first) if !self.skips_nan => first,
                        _ => {
                            let numbers = len - keys.iter().filter(|&key| nan(key)).count();
                            order.clear();
                            order.extend(keys.iter().copied().zip(0..));
                            let middle = numbers.saturating_sub(1) / 2;
                            order.select_nth_unstable(middle).1.1
                        }
                    };
                    indices.set(row, found as i64);
                    positions.set(row, (row * len + found) as i64);
                }
            });
        Ok(())
    }
}

/// Writes the medians of the rows of a dense matrix.
fn medians(
    cx: &mut Cx<'_>,
    x: View,
    skips_nan: bool,
    (values, indices): (View, Option<View>),
) -> Result<(), Refusal> {
    let keys = keys(cx, &x)?;
    cx.check_converts(x.dtype(), &values)?;
    let &[rows, len] = x.dims() else {
        return Err(cx.defect("medians are those of the rows of a matrix"));
    };
    if values.is_empty() {
        return Ok(());
    }
    if len == 0 {
        return match x.dtype().is_float() {
            true => cx.fill(Scalar::of_f64(f64::NAN), values),
            false => Err(cx.invalid(format_args!(
                "{} has rows without elements; the median of no integers is not defined",
                cx.param_of(&x)
            ))),
        };
    }
    let kernel = Median {
        keys,
        len,
        skips_nan,
    };
    let int64 = DataType::Int64;
    let (found, positions) = (cx.temporary(int64, &[rows])?, cx.temporary(int64, &[rows])?);
    run_kernel(
        cx,
        Box::new(kernel),
        &[(x, x.dtype())],
        &[(found, int64), (positions, int64)],
    )?;
    if let Some(indices) = indices {
        let found = cx.reshaped(found, indices.dims().to_vec().as_slice())?;
        cx.copy(found, indices)?;
    }
    let positions = cx.reshaped(positions, values.dims().to_vec().as_slice())?;
    take(cx, x, positions, everything(&x), values)
}

fn median(cx: &mut Cx<'_>, out: &str, skips_nan: bool) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, without_dims(cx.out(out)?));
    cx.check_dims(&out, &[])?;
    keys(cx, &x)?;
    let row = cx.reshaped(x, &[1, x.elements()])?;
    let row = cx.dense(row)?;
    medians(cx, row, skips_nan, (out, None))
}

fn median_of_axis(cx: &mut Cx<'_>, skips_nan: bool) -> Result<(), Refusal> {
    let (x, values) = (cx.tensor("self")?, cx.out("valuesOut")?);
    let indices = cx.out("indicesOut")?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    cx.check_types(&indices, &super::index::INDEX)?;
    let axes: &[usize] = if x.rank() == 0 { &[] } else { &[axis] };
    let dims = reduced_dims(x.dims(), axes, cx.flag("keepDim")?);
    cx.check_dims(&values, &dims)?;
    cx.check_dims(&indices, &dims)?;
    keys(cx, &x)?;
    let len = x.dims().get(axis).copied().unwrap_or(1);
    let order: Vec<usize> = (0..x.rank())
        .filter(|own| *own != axis)
        .chain((0..x.rank()).filter(|own| *own == axis))
        .collect();
    let rows = cx.reshaped(x.permute(&order), &[values.elements(), len])?;
    let rows = cx.dense(rows)?;
    medians(cx, rows, skips_nan, (values, Some(indices)))
}
