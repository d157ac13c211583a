//! Sorting, and what follows from an order: the largest elements, and distinct elements.

use jumar_ops::view::{BF16, F16, Row};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::kernels::Blocks;
use super::take;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::Table;
use crate::view::View;

pub(crate) static SORT: &Table = &[
    ("aclnnArgsort", argsort),
    ("aclnnKthvalue", kth_value),
    ("aclnnSort", sort),
    ("aclnnTopk", top_k),
    ("aclnnUnique", |cx| unique(cx, false)),
    ("aclnnUnique2", |cx| unique(cx, true)),
];

/// Elements as unsigned integers in the same order. NaN is the largest number, and both zeros are equal.
pub(crate) struct Keys {
    dtype: DataType,
}

/// The key of NaN.
const NAN: u64 = u64::MAX;

fn key_of_real(value: f64) -> u64 {
    if value.is_nan() {
        return NAN;
    }
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

fn key_of_integer(value: i64) -> u64 {
    value as u64 ^ 1 << 63
}

impl Keys {
    fn new(dtype: DataType) -> Option<Keys> {
        let ordered = dtype == DataType::Bool
            || (dtype.is_integer() || dtype.is_float())
                && dtype.size().is_some_and(|size| size <= 8);
        let known = !dtype.is_float()
            || matches!(
                dtype,
                DataType::Float16 | DataType::BFloat16 | DataType::Float32 | DataType::Float64
            );
        (ordered && known).then_some(Keys { dtype })
    }

    /// Returns input 0 of a call as elements that threads may share.
    pub fn cells<'a>(&self, call: &Call<'a>) -> Result<Cells<'a>, OpError> {
        self.cells_of(call, 0)
    }

    /// Returns an input of a call as elements that threads may share.
    pub fn cells_of<'a>(&self, call: &Call<'a>, input: usize) -> Result<Cells<'a>, OpError> {
        Ok(match self.dtype {
            DataType::Float64 => Cells::F64(call.input(input)?.flat()),
            DataType::Float32 => Cells::F32(call.input(input)?.flat()),
            DataType::Float16 => Cells::F16(call.input(input)?.flat()),
            DataType::BFloat16 => Cells::BF16(call.input(input)?.flat()),
            DataType::Int8 => Cells::I8(call.input(input)?.flat()),
            DataType::Int16 => Cells::I16(call.input(input)?.flat()),
            DataType::Int32 => Cells::I32(call.input(input)?.flat()),
            DataType::Int64 => Cells::I64(call.input(input)?.flat()),
            DataType::UInt16 => Cells::U16(call.input(input)?.flat()),
            DataType::UInt32 => Cells::U32(call.input(input)?.flat()),
            DataType::UInt64 => Cells::U64(call.input(input)?.flat()),
            _ => Cells::U8(call.input(input)?.flat()),
        })
    }

    pub fn is_nan(&self, key: u64) -> bool {
        key == NAN && self.dtype.is_float()
    }
}

/// Dense elements of a type that has an order.
pub(crate) enum Cells<'a> {
    F64(Row<'a, f64>),
    F32(Row<'a, f32>),
    F16(Row<'a, F16>),
    BF16(Row<'a, BF16>),
    I8(Row<'a, i8>),
    I16(Row<'a, i16>),
    I32(Row<'a, i32>),
    I64(Row<'a, i64>),
    U8(Row<'a, u8>),
    U16(Row<'a, u16>),
    U32(Row<'a, u32>),
    U64(Row<'a, u64>),
}

impl Cells<'_> {
    /// Writes the keys of the elements `start..start + to.len()`.
    pub fn load(&self, start: usize, to: &mut [u64]) {
        let len = to.len();
        match self {
            Cells::F64(row) => row.slice(start, len).load(to, key_of_real),
            Cells::F32(row) => row
                .slice(start, len)
                .load(to, |x| key_of_real(f64::from(x))),
            Cells::F16(row) => row.slice(start, len).load(to, |x| key_of_real(x.to_f64())),
            Cells::BF16(row) => row.slice(start, len).load(to, |x| key_of_real(x.to_f64())),
            Cells::I8(row) => row
                .slice(start, len)
                .load(to, |x| key_of_integer(i64::from(x))),
            Cells::I16(row) => row
                .slice(start, len)
                .load(to, |x| key_of_integer(i64::from(x))),
            Cells::I32(row) => row
                .slice(start, len)
                .load(to, |x| key_of_integer(i64::from(x))),
            Cells::I64(row) => row.slice(start, len).load(to, key_of_integer),
            Cells::U8(row) => row.slice(start, len).load(to, u64::from),
            Cells::U16(row) => row.slice(start, len).load(to, u64::from),
            Cells::U32(row) => row.slice(start, len).load(to, u64::from),
            Cells::U64(row) => row.slice(start, len).load(to, |x| x),
        }
    }
}

/// Writes the indices of the first entries of each row in sorted order, and their positions in the tensor.
struct Ranks {
    keys: Keys,
    len: usize,
    /// The entries of the order that are written.
    first: usize,
    count: usize,
    descending: bool,
}

impl Kernel for Ranks {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (indices, positions) = (call.output::<i64>(0)?.flat(), call.output::<i64>(1)?.flat());
        let (len, count) = (self.len, self.count);
        if indices.is_empty() {
            return Ok(());
        }
        let grain = (1usize << 12).div_ceil(len);
        let cells = self.keys.cells(call)?;
        call.workers()
            .ranges(indices.len() / count, grain, |start, rows| {
                let mut keys = vec![0; len];
                let mut order: Vec<(u64, usize)> = Vec::with_capacity(len);
                for row in start..start + rows {
                    cells.load(row * len, &mut keys);
                    order.clear();
                    let key = |key: u64| if self.descending { !key } else { key };
                    order.extend(keys.iter().enumerate().map(|(at, &own)| (key(own), at)));
                    // The index breaks ties, so that the order is stable.
                    let end = self.first + count;
                    if end < len {
                        order.select_nth_unstable(end - 1);
                    }
                    order[..end].sort_unstable();
                    for (slot, &(_, at)) in order[self.first..end].iter().enumerate() {
                        indices.set(row * count + slot, at as i64);
                        positions.set(row * count + slot, (row * len + at) as i64);
                    }
                }
            });
        Ok(())
    }
}

/// Which entries of an order are wanted.
struct Wanted {
    axis: usize,
    first: usize,
    count: usize,
    descending: bool,
}

pub(crate) fn keys(cx: &Cx<'_>, x: &View) -> Result<Keys, Refusal> {
    Keys::new(x.dtype()).ok_or_else(|| {
        cx.refuse_type(
            &cx.param_of(x),
            x.dtype(),
            "a floating-point number, an integer or a boolean",
        )
    })
}

/// Writes entries of the order along a dimension to `values` and to `indices`, which have the shape of the tensor but for it.
fn ordered(
    cx: &mut Cx<'_>,
    mut x: View,
    wanted: Wanted,
    (mut values, mut indices): (Option<View>, View),
) -> Result<(), Refusal> {
    if x.rank() == 0 {
        x = x.unsqueeze(0);
        values = values.map(|values| values.unsqueeze(0));
        indices = indices.unsqueeze(0);
    }
    if indices.is_empty() {
        return Ok(());
    }
    let last = x.rank() - 1;
    let Wanted {
        axis,
        first,
        count,
        descending,
    } = wanted;
    let keys = keys(cx, &x)?;
    let x = cx.dense(x.transpose(axis, last))?;
    let mut dims = x.dims().to_vec();
    dims[last] = count;
    let ranks = cx.temporary(DataType::Int64, &dims)?;
    let positions = cx.temporary(DataType::Int64, &dims)?;
    let len = x.dims()[last];
    let kernel = Ranks {
        keys,
        len,
        first,
        count,
        descending,
    };
    cx.kernel(Box::new(kernel), &[Some(x)], &[ranks, positions], false)?;
    cx.copy(ranks, indices.transpose(axis, last))?;
    if let Some(values) = values {
        let all = Blocks {
            outer: 1,
            size: x.elements(),
            row: 1,
        };
        take(cx, x, positions, all, values.transpose(axis, last))?;
    }
    Ok(())
}

fn sort(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, values, indices) = (
        cx.tensor("self")?,
        cx.out("valuesOut")?,
        cx.out("indicesOut")?,
    );
    cx.check_dtype(&values, x.dtype())?;
    cx.check_dtype(&indices, DataType::Int64)?;
    keys(cx, &x)?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    cx.check_dims(&values, x.dims())?;
    cx.check_dims(&indices, x.dims())?;
    let count = x.dims().get(axis).copied().unwrap_or(1);
    let wanted = Wanted {
        axis,
        first: 0,
        count,
        descending: cx.flag("descending")?,
    };
    ordered(cx, x, wanted, (Some(values), indices))
}

fn argsort(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    cx.check_dtype(&out, DataType::Int64)?;
    keys(cx, &x)?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    cx.check_dims(&out, x.dims())?;
    let count = x.dims().get(axis).copied().unwrap_or(1);
    let wanted = Wanted {
        axis,
        first: 0,
        count,
        descending: cx.flag("descending")?,
    };
    ordered(cx, x, wanted, (None, out))
}

fn top_k(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, values, indices) = (
        cx.tensor("self")?,
        cx.out("valuesOut")?,
        cx.out("indicesOut")?,
    );
    cx.check_dtype(&values, x.dtype())?;
    cx.check_dtype(&indices, DataType::Int64)?;
    keys(cx, &x)?;
    let (axis, k) = (cx.axis("dim", cx.int("dim")?, x.rank())?, cx.int("k")?);
    let len = x.dims().get(axis).copied().unwrap_or(1);
    let Some(count) = usize::try_from(k).ok().filter(|&count| count <= len) else {
        return Err(cx.invalid(format_args!("k is {k}; it must be between 0 and {len}")));
    };
    let mut dims = x.dims().to_vec();
    if let Some(dim) = dims.get_mut(axis) {
        *dim = count;
    }
    cx.check_dims(&values, &dims)?;
    cx.check_dims(&indices, &dims)?;
    let wanted = Wanted {
        axis,
        first: 0,
        count,
        descending: cx.flag("largest")?,
    };
    match count {
        0 => Ok(()),
        _ => ordered(cx, x, wanted, (Some(values), indices)),
    }
}

fn kth_value(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, values, indices) = (
        cx.tensor("self")?,
        cx.out("valuesOut")?,
        cx.out("indicesOut")?,
    );
    cx.check_dtype(&values, x.dtype())?;
    cx.check_dtype(&indices, DataType::Int64)?;
    keys(cx, &x)?;
    let (axis, k) = (cx.axis("dim", cx.int("dim")?, x.rank())?, cx.int("k")?);
    let len = x.dims().get(axis).copied().unwrap_or(1);
    let Some(first) = usize::try_from(k).ok().filter(|k| (1..=len).contains(k)) else {
        return Err(cx.invalid(format_args!("k is {k}; it must be between 1 and {len}")));
    };
    let mut dims = x.dims().to_vec();
    let keep = cx.flag("keepdim")?;
    if axis < dims.len() {
        if keep {
            dims[axis] = 1;
        } else {
            dims.remove(axis);
        }
    }
    cx.check_dims(&values, &dims)?;
    cx.check_dims(&indices, &dims)?;
    let kept = |view: View| match keep || x.rank() == 0 {
        true => view,
        false => view.unsqueeze(axis),
    };
    let wanted = Wanted {
        axis,
        first: first - 1,
        count: 1,
        descending: false,
    };
    ordered(cx, x, wanted, (Some(kept(values)), kept(indices)))
}

/// Finds the distinct elements in ascending order. Outputs: the position of each, the number of its class for each element,
/// how often each occurs, and how many there are. Each NaN is distinct.
struct Distinct {
    keys: Keys,
    len: usize,
}

impl Kernel for Distinct {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let output = |index: usize| call.output::<i64>(index).map(|output| output.flat());
        let (positions, classes, counts) = (output(0)?, output(1)?, output(2)?);
        let mut keys = vec![0; self.len];
        self.keys.cells(call)?.load(0, &mut keys);
        let mut order: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
        order.sort_unstable();
        positions.fill(-1);
        counts.fill(0);
        let mut found = 0;
        for (slot, &(key, at)) in order.iter().enumerate() {
            let same = slot > 0 && order[slot - 1].0 == key && !self.keys.is_nan(key);
            if !same {
                positions.set(found, at as i64);
                found += 1;
            }
            classes.set(at, found as i64 - 1);
            counts.set(found - 1, counts.get(found - 1) + 1);
        }
        output(3)?.set(0, found as i64);
        Ok(())
    }
}

/// The result is sorted whether or not it has to be.
fn unique(cx: &mut Cx<'_>, counted: bool) -> Result<(), Refusal> {
    let (x, values, inverse) = (
        cx.tensor("self")?,
        cx.out("valueOut")?,
        cx.out("inverseOut")?,
    );
    cx.check_dtype(&values, x.dtype())?;
    cx.check_dtype(&inverse, DataType::Int64)?;
    let keys = keys(cx, &x)?;
    let len = x.elements();
    cx.check_dims(&values, &[len])?;
    let counts = match counted && cx.flag("returnCounts")? {
        true => Some(cx.out("countsOut")?),
        false => None,
    };
    if let Some(counts) = &counts {
        cx.check_dtype(counts, DataType::Int64)?;
        cx.check_dims(counts, &[len])?;
    }
    let inverted = cx.flag("returnInverse")?;
    if inverted {
        cx.check_dims(&inverse, x.dims())?;
    }
    let dense = cx.dense(x)?;
    let temporary = |cx: &mut Cx<'_>, len: usize| cx.temporary(DataType::Int64, &[len]);
    let positions = temporary(cx, len)?;
    let classes = cx.temporary(DataType::Int64, x.dims())?;
    let (frequencies, number) = (temporary(cx, len)?, temporary(cx, 1)?);
    let outputs = [positions, classes, frequencies, number];
    cx.kernel(
        Box::new(Distinct { keys, len }),
        &[Some(dense)],
        &outputs,
        false,
    )?;
    let all = Blocks {
        outer: 1,
        size: len,
        row: 1,
    };
    take(cx, dense, positions, all, values)?;
    cx.report_dims(&values, number)?;
    if inverted {
        cx.copy(classes, inverse)?;
    }
    if let Some(counts) = counts {
        cx.copy(frequencies, counts)?;
        cx.report_dims(&counts, number)?;
    }
    Ok(())
}
