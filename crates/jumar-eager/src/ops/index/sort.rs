//! Sorting, and what follows from an order: the largest elements, and distinct elements.

use jumar_ops::math::{LowPrecision, convert};
use jumar_ops::view::{BF16, F16, Row, RowMut};
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

/// Has no branch, so that a loop over it becomes vector instructions.
#[inline(always)]
fn key_of_real(value: f64) -> u64 {
    let bits = if value == 0.0 { 0 } else { value.to_bits() };
    let negative = (bits.cast_signed() >> 63).cast_unsigned();
    let key = bits ^ (negative | 1 << 63);
    if value.is_nan() { NAN } else { key }
}

#[inline(always)]
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

    /// Returns how a key and an index below `len` fit into one word, in the order of the keys and, of equal ones, the indices.
    fn packing(&self, len: usize) -> Option<Packing> {
        let (packing, bits) = match self.dtype {
            DataType::Float32 | DataType::Float16 | DataType::BFloat16 => (Packing::Real, REST),
            DataType::Int8 | DataType::Int16 | DataType::Int32 => (Packing::Signed, 32),
            DataType::Float64 | DataType::Int64 | DataType::UInt64 => return None,
            _ => (Packing::Unsigned, 32),
        };
        (len <= 1 << bits).then_some(packing)
    }

    pub fn is_nan(&self, key: u64) -> bool {
        key == NAN && self.dtype.is_float()
    }
}

/// The digits of a float64 that no float32 has: they are the same in all keys of one sign.
const REST: u32 = 52 - 23;

/// How a key and an index fit into one word.
#[derive(Clone, Copy)]
enum Packing {
    Real,
    Signed,
    Unsigned,
}

impl Packing {
    #[inline(always)]
    fn word(self, key: u64, at: usize) -> u64 {
        let high = match self {
            Packing::Real => key >> REST << REST,
            Packing::Signed => u64::from(key as u32 ^ 1 << 31) << 32,
            Packing::Unsigned => key << 32,
        };
        high | at as u64
    }

    #[inline(always)]
    fn index(self, word: u64) -> usize {
        let bits = match self {
            Packing::Real => REST,
            Packing::Signed | Packing::Unsigned => 32,
        };
        (word & ((1 << bits) - 1)) as usize
    }
}

/// Up to how many first entries of an order are kept sorted while all are read.
const FEW: usize = 32;

/// Brings the first `count` of all entries, which differ, to the start, in their order.
fn sort_first<T: Ord + Copy>(all: &mut [T], count: usize) {
    if count < all.len() && count <= FEW {
        let (first, rest) = all.split_at_mut(count);
        first.sort_unstable();
        if let Some(mut last) = first.last().copied() {
            for &one in &*rest {
                if one < last {
                    let at = first.partition_point(|other| *other < one);
                    first[at..].rotate_right(1);
                    first[at] = one;
                    last = first[count - 1];
                }
            }
        }
        return;
    }
    if count < all.len() {
        all.select_nth_unstable(count - 1);
    }
    all[..count].sort_unstable();
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
        let (len, to) = (to.len(), RowMut::of(to));
        let real = |x: f32| key_of_real(f64::from(x));
        match self {
            Cells::F64(row) => convert(row.slice(start, len), to, key_of_real),
            Cells::F32(row) => convert(row.slice(start, len), to, real),
            Cells::F16(row) => convert(row.slice(start, len), to, |x| real(x.widen())),
            Cells::BF16(row) => convert(row.slice(start, len), to, |x| real(x.widen())),
            Cells::I8(row) => convert(row.slice(start, len), to, |x| key_of_integer(x.into())),
            Cells::I16(row) => convert(row.slice(start, len), to, |x| key_of_integer(x.into())),
            Cells::I32(row) => convert(row.slice(start, len), to, |x| key_of_integer(x.into())),
            Cells::I64(row) => convert(row.slice(start, len), to, key_of_integer),
            Cells::U8(row) => convert(row.slice(start, len), to, u64::from),
            Cells::U16(row) => convert(row.slice(start, len), to, u64::from),
            Cells::U32(row) => convert(row.slice(start, len), to, u64::from),
            Cells::U64(row) => convert(row.slice(start, len), to, |x| x),
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
        let packing = self.keys.packing(len);
        // The index breaks ties, so that the order is stable.
        let end = self.first + count;
        call.workers()
            .ranges(indices.len() / count, grain, |start, rows| {
                let mut keys = vec![0; len];
                let mut words: Vec<u64> = Vec::with_capacity(len);
                let mut pairs: Vec<(u64, usize)> = Vec::new();
                for row in start..start + rows {
                    cells.load(row * len, &mut keys);
                    let flip = if self.descending { u64::MAX } else { 0 };
                    let own = keys.iter().enumerate();
                    let write = |slot: usize, at: usize| {
                        indices.set(row * count + slot, at as i64);
                        positions.set(row * count + slot, (row * len + at) as i64);
                    };
                    if let Some(packing) = packing {
                        words.clear();
                        words.extend(own.map(|(at, &key)| packing.word(key ^ flip, at)));
                        sort_first(&mut words, end);
                        let found = words[self.first..end].iter().enumerate();
                        found.for_each(|(slot, &word)| write(slot, packing.index(word)));
                    } else {
                        pairs.clear();
                        pairs.extend(own.map(|(at, &key)| (key ^ flip, at)));
                        sort_first(&mut pairs, end);
                        let found = pairs[self.first..end].iter().enumerate();
                        found.for_each(|(slot, &(_, at))| write(slot, at));
                    }
                }
            });
        Ok(())
    }
}

/// Which entries of an order are wanted.
struct WantedEntries {
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
    wanted: WantedEntries,
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
    let WantedEntries {
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
    let wanted = WantedEntries {
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
    let wanted = WantedEntries {
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
    let wanted = WantedEntries {
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
    let wanted = WantedEntries {
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

#[cfg(test)]
mod tests {
    use jumar_ops::math::LowPrecision;

    use super::*;

    /// Values of a type that differ little, are equal, or are not numbers.
    fn samples(dtype: DataType) -> Vec<u64> {
        let reals = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1.0 + f64::from(f32::EPSILON),
            f64::from(f32::MIN_POSITIVE) / 2.0,
            -1.0 - f64::from(f32::EPSILON),
        ];
        match dtype {
            DataType::Float32 => reals.map(|x| key_of_real(f64::from(x as f32))).to_vec(),
            DataType::Float16 => reals
                .map(|x| key_of_real(f64::from(F16::rounded(x as f32).widen())))
                .to_vec(),
            DataType::Int32 => [0, 1, -1, i32::MAX, i32::MIN, 7, 7]
                .map(|x| key_of_integer(i64::from(x)))
                .to_vec(),
            _ => [0, 1, u32::MAX, 1 << 31, 7, 7].map(u64::from).to_vec(),
        }
    }

    #[test]
    fn packed_words_have_the_order_of_keys_and_indices() {
        for dtype in [
            DataType::Float32,
            DataType::Float16,
            DataType::Int32,
            DataType::UInt32,
        ] {
            let keys = Keys::new(dtype).unwrap();
            let packing = keys.packing(1 << 29).unwrap();
            for flip in [0, u64::MAX] {
                let all: Vec<(u64, usize)> = samples(dtype)
                    .into_iter()
                    .flat_map(|key| [0, 3, (1 << 29) - 1].map(|at| (key ^ flip, at)))
                    .collect();
                for &one in &all {
                    let word = packing.word(one.0, one.1);
                    assert_eq!(packing.index(word), one.1);
                    for &two in &all {
                        assert_eq!(
                            one.cmp(&two),
                            word.cmp(&packing.word(two.0, two.1)),
                            "{dtype}"
                        );
                    }
                }
            }
        }
        let float = Keys::new(DataType::Float32).unwrap();
        assert!(float.packing((1 << 29) + 1).is_none());
        assert!(Keys::new(DataType::Int64).unwrap().packing(4).is_none());
    }

    #[test]
    fn the_first_entries_are_those_of_a_sort() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for len in [1, 2, 31, 32, 33, 40, 300] {
            let all: Vec<(u32, usize)> = (0..len).map(|at| (next() % 40, at)).collect();
            let mut sorted = all.clone();
            sorted.sort();
            for count in [0, 1, 2, 31, 32, 33, len] {
                if count <= len {
                    let mut found = all.clone();
                    sort_first(&mut found, count);
                    assert_eq!(found[..count], sorted[..count]);
                }
            }
        }
    }
}
