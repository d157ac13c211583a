//! Indexing by several tensors at once, by the rules of NumPy.

use jumar_ops::view::MAX_RANK;
use jumar_types::dtype::DataType;

use super::kernels::{Blocks, Locate, NONE, Order, Trues, Update};
use super::mask::{as_booleans, run_trues};
use super::{put, take};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::Table;
use crate::refusal::RESHAPE;
use crate::view::View;

pub(crate) static ADVANCED: &Table = &[("aclnnIndex", index), ("aclnnIndexPutImpl", index_put)];

/// What one entry of the list says about dimensions of the tensor.
#[derive(Clone, Copy, Debug)]
enum Entry {
    /// Indices into one dimension.
    Integers(View),
    /// A mask over as many dimensions as it has.
    Mask(View),
}

/// The indexed dimensions of a tensor.
struct Selection {
    entries: Vec<Entry>,
    /// The dimensions that are indexed, in order.
    axes: Vec<usize>,
    /// The shape that the indices are broadcast to, without masks.
    dims: Vec<usize>,
    /// The dimension of the result that the dimensions of the indices begin at.
    start: usize,
}

impl Selection {
    fn masks(&self) -> usize {
        let mask = |entry: &&Entry| matches!(entry, Entry::Mask(..));
        self.entries.iter().filter(mask).count()
    }

    /// Returns the order of dimensions in which the indexed ones are neighbours.
    fn order(&self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).filter(|axis| !self.axes.contains(axis)).collect();
        order.splice(self.start..self.start, self.axes.iter().copied());
        order
    }

    /// Returns a permuted tensor as blocks around the indexed dimensions.
    fn blocks(&self, dims: &[usize]) -> Blocks {
        let end = self.start + self.axes.len();
        Blocks {
            outer: dims[..self.start].iter().product(),
            size: dims[self.start..end].iter().product(),
            row: dims[end..].iter().product(),
        }
    }

    /// Returns the shape of the result, where the indices have the shape `named`.
    fn result(&self, dims: &[usize], named: &[usize]) -> Vec<usize> {
        let end = self.start + self.axes.len();
        [&dims[..self.start], named, &dims[end..]].concat()
    }
}

/// Reads the list. A null entry and an empty one of one dimension leave their dimension as it is.
fn selection(cx: &Cx<'_>, x: &View) -> Result<Selection, Refusal> {
    let mut entries = Vec::new();
    let (mut axes, mut axis) = (Vec::new(), 0);
    let mut dims = Vec::new();
    for (number, entry) in cx.optional_tensors("indices")?.into_iter().enumerate() {
        let Some(view) = entry.filter(|view| view.dims() != [0]) else {
            axis += 1;
            continue;
        };
        cx.check_types(
            &view,
            &[
                DataType::Int64,
                DataType::Int32,
                DataType::Bool,
                DataType::UInt8,
            ],
        )?;
        let masks = matches!(view.dtype(), DataType::Bool | DataType::UInt8);
        let count = if masks { view.rank() } else { 1 };
        if axis + count > x.rank() || (masks && count == 0) {
            return Err(cx.invalid(format_args!(
                "indices[{number}] with the shape {:?} indexes {count} dimensions from the dimension {axis} on of {:?}",
                view.dims(),
                x.dims()
            )));
        }
        if masks {
            if view.dims() != &x.dims()[axis..axis + count] {
                return Err(cx.invalid(format_args!(
                    "indices[{number}] is a mask of the shape {:?}; the dimensions that it indexes have {:?}",
                    view.dims(),
                    &x.dims()[axis..axis + count]
                )));
            }
            entries.push(Entry::Mask(view));
        } else {
            let Some((both, rank)) = crate::view::broadcast(&dims, view.dims()) else {
                return Err(cx.invalid(format_args!(
                    "indices[{number}] has the shape {:?}, which cannot be broadcast with {dims:?} of those before it",
                    view.dims()
                )));
            };
            dims = both[..rank].to_vec();
            entries.push(Entry::Integers(view));
        }
        axes.extend(axis..axis + count);
        axis += count;
    }
    if axis > x.rank() {
        return Err(cx.invalid(format_args!(
            "indices has entries for {axis} dimensions; the tensor has {}",
            x.rank()
        )));
    }
    let together = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let start = if together {
        axes.first().copied().unwrap_or(0)
    } else {
        0
    };
    Ok(Selection {
        entries,
        axes,
        dims,
        start,
    })
}

/// How many true elements masks have.
#[derive(Clone, Copy, Debug)]
enum Length {
    /// The other tensors have this many.
    Known(usize),
    /// Not known; there is space for this many.
    AtMost(usize),
}

/// Turns the indices into positions: dense, of the shape that the indices are broadcast to.
fn positions(
    cx: &mut Cx<'_>,
    x: &View,
    selection: &Selection,
    length: Option<Length>,
) -> Result<View, Refusal> {
    let mut named = selection.dims.clone();
    if let Some(Length::Known(len) | Length::AtMost(len)) = length {
        match named.last_mut() {
            Some(last) => *last = len,
            None => named.push(len),
        }
    }
    let mut inputs = Vec::new();
    let mut expand = |cx: &mut Cx<'_>, view: View| {
        let Some(view) = view.expand(&named) else {
            return Err(cx.invalid(format_args!(
                "indices of the shape {:?} cannot be broadcast to {named:?}",
                view.dims()
            )));
        };
        let view = cx.cast(view, DataType::Int64)?;
        inputs.push(Some(cx.dense(view)?));
        Ok(())
    };
    for entry in &selection.entries {
        match (*entry, length) {
            (Entry::Integers(view), _) => expand(cx, view)?,
            (Entry::Mask(view), Some(length)) => {
                let mask = as_booleans(cx, view)?;
                let (capacity, exact) = match length {
                    Length::Known(len) => (len, true),
                    Length::AtMost(len) => (len, false),
                };
                let coordinates = cx.temporary(DataType::Int64, &[view.rank(), capacity])?;
                let trues = Trues {
                    operator: cx.name(),
                    dims: view.dims().to_vec(),
                    order: Order::Spaced,
                    capacity,
                    exact,
                    rest: NONE,
                    report: Vec::new(),
                };
                run_trues(cx, mask, trues, coordinates)?;
                for axis in 0..view.rank() {
                    expand(cx, coordinates.select(0, axis))?;
                }
            }
            (Entry::Mask(..), None) => return Err(cx.defect("a mask has no length")),
        }
    }
    let positions = cx.temporary(DataType::Int64, &named)?;
    let kernel = Locate {
        operator: cx.name(),
        dims: selection.axes.iter().map(|&axis| x.dims()[axis]).collect(),
        padded: matches!(length, Some(Length::AtMost(_))),
    };
    cx.kernel(Box::new(kernel), &inputs, &[positions], false)?;
    Ok(positions)
}

/// Returns how many true elements masks have: as many as the other indices, or as the result has at their dimension.
fn length(selection: &Selection, result: Option<usize>) -> Option<Length> {
    if selection.masks() == 0 {
        return None;
    }
    match (selection.dims.last(), result) {
        (Some(&own), _) if own != 1 => Some(Length::Known(own)),
        (_, Some(len)) => Some(Length::Known(len)),
        (_, None) => {
            let elements = selection.entries.iter().filter_map(|entry| match entry {
                Entry::Mask(view) => Some(view.elements()),
                Entry::Integers(..) => None,
            });
            Some(Length::AtMost(elements.min().unwrap_or(0)))
        }
    }
}

/// Returns the number of dimensions of the indices in the result.
fn named_rank(selection: &Selection) -> usize {
    selection.dims.len().max(usize::from(selection.masks() > 0))
}

/// Refuses an output that has not the shape of what masks select. Their number of true elements, `n`, is not known yet.
fn check_selected(cx: &Cx<'_>, out: &View, wanted: &[usize], at: usize) -> Result<(), Refusal> {
    if out.dims() == wanted {
        return Ok(());
    }
    let wanted = wanted.iter().enumerate().map(|(own, dim)| match own == at {
        true => "n".to_owned(),
        false => dim.to_string(),
    });
    let wanted: Vec<String> = wanted.collect();
    Err(cx
        .invalid(format_args!(
            "out has the shape {:?}; it must be [{}], where n is the number of true elements of the masks in indices, or more",
            out.dims(),
            wanted.join(", ")
        ))
        .with_fix(RESHAPE))
}

fn index(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    cx.check_dtype(&out, x.dtype())?;
    // Callers pass an empty tensor for a dimension that is not indexed. An output without elements says that one selects nothing.
    let given = cx.optional_tensors("indices")?;
    let empty = given.iter().flatten().any(|view| view.dims() == [0]);
    if empty && out.is_empty() {
        return Ok(());
    }
    let selection = selection(cx, &x)?;
    if selection.axes.is_empty() {
        cx.check_dims(&out, x.dims())?;
        return cx.copy(x, out);
    }
    let rank = named_rank(&selection);
    let at = (selection.start + rank).saturating_sub(1);
    let length = length(&selection, out.dims().get(at).copied());
    let from = x.permute(&selection.order(x.rank()));
    let mut named = selection.dims.clone();
    if let Some(Length::Known(len)) = length {
        named.pop();
        named.push(len);
    }
    let wanted = selection.result(from.dims(), &named);
    if selection.masks() > 0 && selection.dims.last().is_none_or(|&own| own == 1) {
        check_selected(cx, &out, &wanted, at)?;
    }
    cx.check_dims(&out, &wanted)?;
    let positions = positions(cx, &x, &selection, length)?;
    take(cx, from, positions, selection.blocks(from.dims()), out)
}

fn index_put(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, values) = (cx.output()?, cx.tensor("values")?);
    // Where no entry has an element, one of them selects nothing, as the indices of a mask without true elements do.
    let given = cx.optional_tensors("indices")?;
    let empty = |entry: &Option<View>| entry.as_ref().is_none_or(|view| view.dims() == [0]);
    if given.iter().any(Option::is_some) && given.iter().all(empty) {
        return cx.check_dtype(&values, x.dtype());
    }
    let update = match cx.flag("accumulate")? {
        true => Update::Add,
        false => Update::Set,
    };
    cx.check_dtype(&values, x.dtype())?;
    let selection = selection(cx, &x)?;
    let to = x.permute(&selection.order(x.rank()));
    let rank = named_rank(&selection);
    // The dimension of the values that the last dimension of the indices is aligned with.
    let after = x.rank() - selection.start - selection.axes.len();
    let own = values
        .rank()
        .checked_sub(after + 1)
        .map(|at| values.dims()[at]);
    let length = length(&selection, own.filter(|&own| own != 1));
    if matches!(length, Some(Length::AtMost(_))) && selection.masks() > 1 {
        return Err(cx.unsupported("one value for several masks is not supported"));
    }
    let mut named = selection.dims.clone();
    if let Some(Length::Known(len) | Length::AtMost(len)) = length {
        named.pop();
        named.push(len);
    }
    let dims = match selection.axes.is_empty() {
        true => x.dims().to_vec(),
        false => selection.result(to.dims(), &named),
    };
    let Some(values) = (dims.len() <= MAX_RANK)
        .then(|| values.expand(&dims))
        .flatten()
    else {
        return Err(cx.invalid(format_args!(
            "values has the shape {:?}, which cannot be broadcast to {dims:?} of the indexed elements",
            values.dims()
        )));
    };
    if selection.axes.is_empty() {
        let all = Blocks {
            outer: 1,
            size: 1,
            row: x.elements(),
        };
        let first = cx.constant(&jumar_ops::Tensor::from_ints(&[0]))?;
        return put(cx, x, (values, first), (all, update), x);
    }
    debug_assert_eq!(rank, named.len());
    let positions = positions(cx, &x, &selection, length)?;
    put(
        cx,
        to,
        (values, positions),
        (selection.blocks(to.dims()), update),
        to,
    )
}
