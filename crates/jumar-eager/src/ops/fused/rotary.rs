//! Rotation of embeddings by their positions, and its gradient.

use jumar_ops::view::{Row, RowMut};
use jumar_types::dtype::DataType;

use super::super::index;
use super::super::reduction::reduce;
use crate::Refusal;
use crate::build::Cx;
use crate::ops::operands::{FLOATS, check_same};
use crate::rows::{RowFunction, Rows};
use crate::view::View;

/// Which entries of a row are rotated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Entry `i` and entry `i + n / 2`.
    Half,
    /// Neighbours.
    Interleaved,
    /// As `Half`, in each half of the row.
    Quarter,
    /// Neighbours, whose results go to `i` and `i + n / 2`.
    Gathered,
}

/// Entries `first`, `first + step`, ... of a row, paired with entries `second`, `second + step`, ...
#[derive(Clone, Copy)]
struct Pairs {
    first: usize,
    second: usize,
    step: usize,
    len: usize,
}

impl Pairs {
    #[inline(always)]
    fn of<'a>(self, row: Row<'a, f32>) -> (Row<'a, f32>, Row<'a, f32>) {
        (
            row.stepped(self.first, self.len, self.step),
            row.stepped(self.second, self.len, self.step),
        )
    }

    #[inline(always)]
    fn of_mut<'a>(self, row: RowMut<'a, f32>) -> (RowMut<'a, f32>, RowMut<'a, f32>) {
        (
            row.stepped(self.first, self.len, self.step),
            row.stepped(self.second, self.len, self.step),
        )
    }
}

impl Pairing {
    fn of_mode(cx: &Cx<'_>, mode: i64) -> Result<Pairing, Refusal> {
        match mode {
            0 => Ok(Pairing::Half),
            1 => Ok(Pairing::Interleaved),
            2 => Ok(Pairing::Quarter),
            3 => Ok(Pairing::Gathered),
            other => Err(cx.invalid(format_args!(
                "mode is {other}; it must be 0 (half), 1 (interleave), 2 (quarter) or 3 (interleave-half)"
            ))),
        }
    }

    /// Refuses rows that cannot be paired.
    fn check(self, cx: &Cx<'_>, x: &View) -> Result<(), Refusal> {
        let width = x.dims().last().copied().unwrap_or(0);
        let parts = if self == Pairing::Quarter { 4 } else { 2 };
        match width.is_multiple_of(parts) && x.rank() > 0 {
            true => Ok(()),
            false => Err(cx.invalid(format_args!(
                "{} has the shape {:?}; its last dimension must be a multiple of {parts}",
                cx.param_of(x),
                x.dims()
            ))),
        }
    }

    /// The pairs of a row of `width` entries: those that are read, and those that are written. Most pairings have one group.
    #[inline(always)]
    fn groups(self, width: usize) -> [Option<(Pairs, Pairs)>; 2] {
        let half = width / 2;
        let pairs = |start: usize, len: usize| Pairs {
            first: start,
            second: start + len,
            step: 1,
            len,
        };
        let neighbours = Pairs {
            first: 0,
            second: usize::from(half > 0),
            step: 2,
            len: half,
        };
        match self {
            Pairing::Half => [Some((pairs(0, half), pairs(0, half))), None],
            Pairing::Interleaved => [Some((neighbours, neighbours)), None],
            Pairing::Gathered => [Some((neighbours, pairs(0, half))), None],
            Pairing::Quarter => {
                let group = |start: usize| Some((pairs(start, half / 2), pairs(start, half / 2)));
                [group(0), group(half)]
            }
        }
    }
}

/// `y = x * cos + rotated(x) * sin`
struct Rotation {
    pairing: Pairing,
}

impl RowFunction for Rotation {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, cos, sin, out) = (rows.input(0), rows.input(1), rows.input(2), rows.output(0));
        for (from, to) in self.pairing.groups(x.len()).into_iter().flatten() {
            let (one, two) = from.of(x);
            let ((cos_one, cos_two), (sin_one, sin_two)) = (to.of(cos), to.of(sin));
            let (out_one, out_two) = to.of_mut(out);
            for index in 0..from.len {
                let (one, two) = (one.get(index), two.get(index));
                out_one.set(index, one * cos_one.get(index) - two * sin_one.get(index));
                out_two.set(index, two * cos_two.get(index) + one * sin_two.get(index));
            }
        }
    }
}

/// Plans the rotation of one tensor.
pub(crate) fn rotate(
    cx: &mut Cx<'_>,
    pairing: Pairing,
    x: View,
    (cos, sin): (View, View),
    out: View,
) -> Result<(), Refusal> {
    cx.check_types(&x, FLOATS)?;
    check_same(cx, &out, &x)?;
    pairing.check(cx, &x)?;
    for view in [&cos, &sin] {
        cx.check_types(view, FLOATS)?;
        if view.rank() != x.rank() || view.dims().last() != x.dims().last() {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must have as many dimensions as {} with the shape {:?}, and the same last one",
                cx.param_of(view),
                view.dims(),
                cx.param_of(&x),
                x.dims()
            )));
        }
    }
    cx.check_dims(&sin, cos.dims())?;
    cx.rows(
        Rotation { pairing },
        &[Some(x), Some(cos), Some(sin)],
        &[Some(out)],
    )
}

pub(super) fn embedding(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, cos, sin) = (cx.tensor("x")?, cx.tensor("cos")?, cx.tensor("sin")?);
    let out = cx.out("out")?;
    let pairing = Pairing::of_mode(cx, cx.int("mode")?)?;
    rotate(cx, pairing, x, (cos, sin), out)
}

pub(super) fn interleaved(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, cos, sin) = (cx.tensor("x")?, cx.tensor("cos")?, cx.tensor("sin")?);
    let out = cx.out("out")?;
    if x.rank() != 4 {
        return Err(cx.invalid(format_args!("x has {} dimensions; expected 4", x.rank())));
    }
    rotate(cx, Pairing::Gathered, x, (cos, sin), out)
}

pub(super) fn apply(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.int("layout")? {
        1 => apply_both(cx, Pairing::Half),
        other => Err(cx.invalid(format_args!("layout is {other}; it must be 1 (BSND)"))),
    }
}

pub(super) fn apply_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let layout = cx.int("layout")?;
    if !(1..=3).contains(&layout) {
        return Err(cx.invalid(format_args!(
            "layout is {layout}; it must be 1 (BSND), 2 (SBND) or 3 (BNSD)"
        )));
    }
    let pairing = match cx.text("rotaryMode")? {
        "half" => Pairing::Half,
        "interleave" => Pairing::Interleaved,
        "quarter" => Pairing::Quarter,
        other => {
            return Err(cx.invalid(format_args!(
                "rotaryMode is {other:?}; it must be half, interleave or quarter"
            )));
        }
    };
    apply_both(cx, pairing)
}

fn apply_both(cx: &mut Cx<'_>, pairing: Pairing) -> Result<(), Refusal> {
    let (query, key) = (cx.tensor("queryRef")?, cx.tensor("keyRef")?);
    let (cos, sin) = (cx.tensor("cos")?, cx.tensor("sin")?);
    for view in [&query, &key] {
        if view.rank() != 4 || view.is_empty() {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; expected four dimensions with entries",
                cx.param_of(view),
                view.dims()
            )));
        }
    }
    rotate(cx, pairing, query, (cos, sin), query)?;
    rotate(cx, pairing, key, (cos, sin), key)
}

/// The gradients of a rotation: of `x`, and the terms of those of `cos` and `sin`.
struct Gradient {
    pairing: Pairing,
}

impl RowFunction for Gradient {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (dy, cos, sin) = (rows.input(0), rows.input(1), rows.input(2));
        for (from, to) in self.pairing.groups(dy.len()).into_iter().flatten() {
            let (dy_one, dy_two) = to.of(dy);
            let ((cos_one, cos_two), (sin_one, sin_two)) = (to.of(cos), to.of(sin));
            let (dx_one, dx_two) = from.of_mut(rows.output(0));
            for index in 0..from.len {
                let (one, two) = (dy_one.get(index), dy_two.get(index));
                dx_one.set(index, cos_one.get(index) * one + sin_two.get(index) * two);
                dx_two.set(index, cos_two.get(index) * two - sin_one.get(index) * one);
            }
            let (Some(x), Some(to_cos), Some(to_sin)) =
                (rows.optional(3), rows.wanted(1), rows.wanted(2))
            else {
                continue;
            };
            let (x_one, x_two) = from.of(x);
            let ((dcos_one, dcos_two), (dsin_one, dsin_two)) =
                (to.of_mut(to_cos), to.of_mut(to_sin));
            for index in 0..from.len {
                let (one, two) = (dy_one.get(index), dy_two.get(index));
                dcos_one.set(index, one * x_one.get(index));
                dcos_two.set(index, two * x_two.get(index));
                dsin_one.set(index, -one * x_two.get(index));
                dsin_two.set(index, two * x_one.get(index));
            }
        }
    }
}

pub(super) fn embedding_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (dy, cos, sin) = (cx.tensor("dy")?, cx.tensor("cos")?, cx.tensor("sin")?);
    let (x, out) = (cx.optional("xOptional")?, cx.out("dxOut")?);
    let pairing = Pairing::of_mode(cx, cx.int("mode")?)?;
    cx.check_types(&dy, FLOATS)?;
    check_same(cx, &out, &dy)?;
    pairing.check(cx, &dy)?;
    cx.check_dims(&sin, cos.dims())?;
    let fits = cos.rank() == dy.rank() && cos.dims().last() == dy.dims().last();
    if !fits || cos.expand(dy.dims()).is_none() {
        return Err(cx.invalid(format_args!(
            "cos has the shape {:?}, which cannot be broadcast to {:?} of dy",
            cos.dims(),
            dy.dims()
        )));
    }
    let mut inputs = [Some(dy), Some(cos), Some(sin), None];
    let mut outputs = [Some(out), None, None];
    let Some(x) = x.filter(|x| !x.is_empty()) else {
        return cx.rows(Gradient { pairing }, &inputs, &outputs);
    };
    check_same(cx, &x, &dy)?;
    let targets = [cx.out("dcosOut")?, cx.out("dsinOut")?];
    for (slot, target) in targets.iter().enumerate() {
        cx.check_types(target, FLOATS)?;
        cx.check_dims(target, cos.dims())?;
        outputs[slot + 1] = Some(cx.temporary(DataType::Float32, dy.dims())?);
    }
    inputs[3] = Some(x);
    cx.rows(Gradient { pairing }, &inputs, &outputs)?;
    let repeated: Vec<usize> = (0..dy.rank())
        .filter(|&axis| cos.dims()[axis] != dy.dims()[axis])
        .collect();
    for (target, terms) in targets.into_iter().zip(&outputs[1..]) {
        let Some(terms) = *terms else { continue };
        match repeated.as_slice() {
            [] => cx.copy(terms, target)?,
            axes => reduce(cx, "ReduceSum", terms, axes, true, target)?,
        }
    }
    Ok(())
}

/// Rotates the first entries of each row, and copies the others. `cos` and `sin` have one entry for each pair.
struct Partial {
    rotated: usize,
    pairing: Pairing,
}

impl RowFunction for Partial {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, cos, sin, out) = (rows.input(0), rows.input(1), rows.input(2), rows.output(0));
        for (pairs, _) in self.pairing.groups(self.rotated).into_iter().flatten() {
            let ((one, two), (out_one, out_two)) = (pairs.of(x), pairs.of_mut(out));
            for index in 0..pairs.len {
                let (one, two) = (one.get(index), two.get(index));
                let (cos, sin) = (cos.get(index), sin.get(index));
                out_one.set(index, one * cos - two * sin);
                out_two.set(index, two * cos + one * sin);
            }
        }
        let rest = x.len() - self.rotated;
        out.slice(self.rotated, rest)
            .copy_from(x.slice(self.rotated, rest));
    }
}

pub(super) fn by_cache(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (positions, cache) = (cx.tensor("positions")?, cx.tensor("cosSinCache")?);
    cx.check_types(&positions, &[DataType::Int64, DataType::Int32])?;
    cx.check_types(&cache, FLOATS)?;
    let (&[entries, rotated], true) = (cache.dims(), cache.rank() == 2) else {
        return Err(cx.invalid(format_args!(
            "cosSinCache has the shape {:?}; expected two dimensions",
            cache.dims()
        )));
    };
    let head = cx.int("headSize")?;
    let Some(head) = usize::try_from(head)
        .ok()
        .filter(|&head| head > 0 && rotated <= head && rotated % 2 == 0)
    else {
        return Err(cx.invalid(format_args!(
            "headSize is {head}, and cosSinCache has {rotated} columns; expected an even number of at most headSize"
        )));
    };
    let sections = cx.optional_ints("mropeSection")?.unwrap_or(&[]).to_vec();
    let half = rotated / 2;
    let tokens = positions.dims().last().copied().unwrap_or(0);
    let wanted: Vec<usize> = match sections.len() {
        0 => vec![tokens],
        count => vec![count, tokens],
    };
    cx.check_dims(&positions, &wanted)?;
    let located = index::located(cx, positions, entries)?;
    let mut shape = wanted.clone();
    shape.push(rotated);
    let gathered = cx.temporary(cache.dtype(), &shape)?;
    index::rows_at(cx, cache, located, gathered)?;
    let both = match sections.is_empty() {
        true => gathered,
        false => {
            let sizes: Option<Vec<usize>> = sections
                .iter()
                .map(|&size| usize::try_from(size).ok())
                .collect();
            let sum = sizes.as_ref().and_then(|sizes| {
                sizes
                    .iter()
                    .try_fold(0usize, |sum, &size| sum.checked_add(size))
            });
            let (Some(sizes), true) = (sizes, sum == Some(half)) else {
                return Err(cx.invalid(format_args!(
                    "mropeSection is {sections:?}; its entries must add up to {half}, half the columns of cosSinCache"
                )));
            };
            let all = cx.temporary(cache.dtype(), &[tokens, rotated])?;
            let mut start = 0;
            for (section, &size) in sizes.iter().enumerate() {
                for side in [0, half] {
                    let from = gathered.select(0, section).slice(1, side + start, size, 1);
                    cx.copy(from, all.slice(1, side + start, size, 1))?;
                }
                start += size;
            }
            all
        }
    };
    let pairing = match cx.flag("isNeoxStyle")? {
        true => Pairing::Half,
        false => Pairing::Interleaved,
    };
    let (cos, sin) = (
        both.slice(1, 0, half, 1).unsqueeze(1),
        both.slice(1, half, half, 1).unsqueeze(1),
    );
    for (x, out) in [("queryIn", "queryOut"), ("keyIn", "keyOut")] {
        let (x, out) = (cx.tensor(x)?, cx.out(out)?);
        cx.check_types(&x, FLOATS)?;
        check_same(cx, &out, &x)?;
        let heads = match x.dims() {
            &[rows, width] if rows == tokens && width % head == 0 => width / head,
            dims => {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {dims:?}; expected {tokens} rows of a multiple of headSize {head}",
                    cx.param_of(&x)
                )));
            }
        };
        let dims = [tokens, heads, head];
        let x = cx.reshaped(x, &dims)?;
        let merged = crate::ops::operands::MergedOutput::new(cx, out, &dims)?;
        let function = Partial { rotated, pairing };
        let inputs = [Some(x), Some(cos), Some(sin)];
        cx.rows(function, &inputs, &[Some(merged.rows)])?;
        merged.finish(cx)?;
    }
    Ok(())
}
