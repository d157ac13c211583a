//! Parts of tensors that are written where a tensor says that they start.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::kernels::{Blocks, Update, data};
use super::{indices, put};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::Table;
use crate::view::View;

pub(crate) static STARTS: &Table = &[
    ("aclnnInplaceScatterUpdate", update),
    ("aclnnScatterList", list),
];

/// What the second of two numbers for a part means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    /// There is one number, where the part starts.
    None,
    /// The first number is the entry of dimension 0, the second where the part starts.
    Entry,
    /// The second number is how much of the part is written.
    Length,
}

/// Computes the positions of rows: the entries of one dimension of parts of a tensor. Inputs: the numbers for the parts, dense int64, and
/// the mask of the parts as int64 if there is one. Output: dense int64; -1 where nothing is written.
struct Starts {
    operator: &'static str,
    param: &'static str,
    pair: Pair,
    /// The parts: the first one, and their number.
    first: usize,
    parts: usize,
    /// Entries of dimension 0; dimensions between it and the one of the parts; entries of that one, and of a part of it.
    entries: usize,
    middle: usize,
    size: usize,
    len: usize,
    masked: bool,
}

impl Starts {
    fn outside(&self, part: usize, start: i64) -> OpError {
        data(format!(
            "{}: {} starts part {part} at {start}; {} entries must lie inside {}",
            self.operator, self.param, self.len, self.size
        ))
    }
}

impl Kernel for Starts {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (numbers, out) = (call.input::<i64>(0)?.flat(), call.output::<i64>(0)?.flat());
        let mask = match self.masked {
            true => Some(call.input::<i64>(1)?.flat()),
            false => None,
        };
        let mut next = 0;
        for index in 0..self.parts {
            let part = self.first + index;
            let written = mask.is_none_or(|mask| mask.get(part) != 0);
            let (entry, start, len) = match self.pair {
                Pair::None => (index as i64, numbers.get(part), self.len as i64),
                Pair::Entry => (
                    numbers.get(2 * part),
                    numbers.get(2 * part + 1),
                    self.len as i64,
                ),
                Pair::Length => (
                    index as i64,
                    numbers.get(2 * part),
                    numbers.get(2 * part + 1),
                ),
            };
            let len = usize::try_from(len).ok().filter(|len| *len <= self.len);
            let inside = usize::try_from(start).ok().filter(|start| {
                len.is_some_and(|len| *start <= self.size && len <= self.size - start)
            });
            let own = usize::try_from(entry)
                .ok()
                .filter(|own| *own < self.entries);
            let (start, len, own) = match (inside, len, own) {
                (Some(start), Some(len), Some(own)) => (start, len, own),
                _ if !written => (0, 0, 0),
                (_, _, None) => {
                    return Err(data(format!(
                        "{}: {} has the entry {entry} for part {part}; it must be between 0 and {}",
                        self.operator,
                        self.param,
                        self.entries as i64 - 1
                    )));
                }
                _ => return Err(self.outside(part, start)),
            };
            for middle in 0..self.middle {
                for at in 0..self.len {
                    let position = (own * self.middle + middle) * self.size + start + at;
                    out.set(
                        next,
                        if written && at < len {
                            position as i64
                        } else {
                            -1
                        },
                    );
                    next += 1;
                }
            }
        }
        Ok(())
    }
}

/// Writes parts of `tensor` along a dimension. `parts` has them, with a first dimension of their own or that of the tensor.
fn write(
    cx: &mut Cx<'_>,
    tensor: View,
    parts: View,
    axis: usize,
    (kernel, inputs): (Starts, &[Option<View>]),
) -> Result<(), Refusal> {
    let blocks = Blocks {
        outer: 1,
        size: tensor.dims()[..=axis].iter().product(),
        row: tensor.dims()[axis + 1..].iter().product(),
    };
    let rows = kernel.parts * kernel.middle * kernel.len;
    let positions = cx.temporary(DataType::Int64, &[rows])?;
    cx.kernel(Box::new(kernel), inputs, &[positions], false)?;
    put(
        cx,
        tensor,
        (parts, positions),
        (blocks, Update::Set),
        tensor,
    )
}

/// Refuses tensors whose dimensions differ from those of another but for some.
fn check_others(
    cx: &Cx<'_>,
    updates: &View,
    dims: &[usize],
    like: &View,
    free: &[usize],
) -> Result<(), Refusal> {
    let fits = dims.len() == like.rank()
        && (dims.iter().zip(like.dims()).enumerate())
            .all(|(axis, (own, other))| own == other || free.contains(&axis) && own < other);
    match fits {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}, which does not fit {:?} of {}: only the dimension of axis may be smaller{}",
            cx.param_of(updates),
            updates.dims(),
            like.dims(),
            cx.param_of(like),
            if free.len() > 1 { ", and the first" } else { "" }
        ))),
    }
}

/// Bytes of any meaning.
fn as_bytes(view: View) -> View {
    match view.dtype() {
        DataType::Float8E4M3Fn | DataType::Float8E5M2 | DataType::HiFloat8 => {
            view.reinterpret(DataType::UInt8)
        }
        _ => view,
    }
}

fn update(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (tensor, index, updates) = (
        cx.tensor("data")?,
        cx.tensor("indices")?,
        cx.tensor("updates")?,
    );
    let types = [
        DataType::Int8,
        DataType::UInt8,
        DataType::Float16,
        DataType::Float32,
        DataType::Int32,
        DataType::BFloat16,
        DataType::Float8E4M3Fn,
        DataType::Float8E5M2,
        DataType::HiFloat8,
    ];
    cx.check_types(&tensor, &types)?;
    cx.check_dtype(&updates, tensor.dtype())?;
    let rank = tensor.rank();
    if rank < 2 || tensor.is_empty() || updates.is_empty() || index.is_empty() {
        return Err(cx.invalid(format_args!(
            "data has the shape {:?}, indices {:?} and updates {:?}; data must have two dimensions, and all must have elements",
            tensor.dims(),
            index.dims(),
            updates.dims()
        )));
    }
    let axis = cx.axis("axis", cx.int("axis")?, rank)?;
    if axis == 0 {
        return Err(cx.invalid("axis is the first dimension; it must be another one"));
    }
    check_others(cx, &updates, updates.dims(), &tensor, &[0, axis])?;
    let (pair, parts) = match index.dims() {
        &[] => (Pair::None, 1),
        &[parts] => (Pair::None, parts),
        // The document names the second dimension only. Two numbers can say the entry and the start.
        &[parts, 2] => (Pair::Entry, parts),
        dims => {
            return Err(cx.invalid(format_args!(
                "indices has the shape {dims:?}; it must have at most two dimensions, of which the second has the size 2"
            )));
        }
    };
    if updates.dims()[0] != parts {
        return Err(cx.invalid(format_args!(
            "updates has {} parts in its first dimension; indices has {parts}",
            updates.dims()[0]
        )));
    }
    let kernel = Starts {
        operator: cx.name(),
        param: "indices",
        pair,
        first: 0,
        parts,
        entries: tensor.dims()[0],
        middle: tensor.dims()[1..axis].iter().product(),
        size: tensor.dims()[axis],
        len: updates.dims()[axis],
        masked: false,
    };
    let index = indices(cx, index)?;
    let (tensor, updates) = (as_bytes(tensor), as_bytes(updates));
    write(cx, tensor, updates, axis, (kernel, &[Some(index)]))
}

fn list(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (tensors, index, updates) = (
        cx.tensors("varRef")?,
        cx.tensor("indice")?,
        cx.tensor("updates")?,
    );
    let types = [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::Float16,
        DataType::BFloat16,
        DataType::Float32,
    ];
    for tensor in &tensors {
        cx.check_types(tensor, &types)?;
        cx.check_dtype(&updates, tensor.dtype())?;
    }
    let reduce = cx.text("reduceOptional")?;
    if !matches!(reduce, "" | "update") {
        return Err(cx.invalid(format_args!(
            "reduceOptional is {reduce:?}; it must be \"update\""
        )));
    }
    let count = tensors.len();
    let (Some(first), &[parts, ref dims @ ..]) = (tensors.first().copied(), updates.dims()) else {
        return Err(cx.invalid("varRef must have a tensor, and updates a dimension for them"));
    };
    let dims = dims.to_vec();
    if parts != count || dims.is_empty() {
        return Err(cx.invalid(format_args!(
            "updates has the shape {:?}; it must have a part for each of the {count} tensors of varRef",
            updates.dims()
        )));
    }
    let axis = cx.axis("axis", cx.int("axis")?, dims.len() + 1)?;
    let Some(axis) = axis.checked_sub(1) else {
        return Err(cx.invalid("axis is the first dimension of updates; it must be another one"));
    };
    for tensor in &tensors {
        cx.check_dims(tensor, first.dims())?;
        check_others(cx, &updates, &dims, tensor, &[axis])?;
    }
    let pair = match index.dims() {
        &[own] if own == count => Pair::None,
        // The document names the second dimension only. Its example has parts of the full size, to which only a length can belong.
        &[own, 2] if own == count => Pair::Length,
        other => {
            return Err(cx.invalid(format_args!(
                "indice has the shape {other:?}; it must be [{count}] or [{count}, 2]"
            )));
        }
    };
    let mut inputs = vec![Some(indices(cx, index)?)];
    if let Some(mask) = cx.optional("maskOptional")? {
        cx.check_dtype(&mask, DataType::UInt8)?;
        cx.check_dims(&mask, &[count])?;
        let mask = cx.cast(mask, DataType::Int64)?;
        inputs.push(Some(cx.dense(mask)?));
    }
    if first.is_empty() {
        return Ok(());
    }
    for (part, tensor) in tensors.into_iter().enumerate() {
        let kernel = Starts {
            operator: cx.name(),
            param: "indice",
            pair,
            first: part,
            parts: 1,
            entries: 1,
            middle: dims[..axis].iter().product(),
            size: tensor.dims()[axis],
            len: dims[axis],
            masked: inputs.len() > 1,
        };
        write(cx, tensor, updates.select(0, part), axis, (kernel, &inputs))?;
    }
    Ok(())
}
