//! Elements in another order: shuffled channels, chunks that are joined; and the gradients of paddings.

use super::Table;
use super::data::kernels::Rule as Entry;
use super::reduction::accumulator;
use super::window::{Axis, Rule, apply};
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnChannelShuffle", shuffle_channels),
    ("aclnnChunkCat", join_chunks),
    ("aclnnCircularPad2dBackward", |cx| {
        pad_backward(cx, 2, Entry::Circular)
    }),
    ("aclnnCircularPad3dBackward", |cx| {
        pad_backward(cx, 3, Entry::Circular)
    }),
    ("aclnnReflectionPad1dBackward", |cx| {
        pad_backward(cx, 1, Entry::Reflect)
    }),
    ("aclnnReflectionPad2dBackward", |cx| {
        pad_backward(cx, 2, Entry::Reflect)
    }),
    ("aclnnReflectionPad3dBackward", |cx| {
        pad_backward(cx, 3, Entry::Reflect)
    }),
    ("aclnnReplicationPad1dBackward", |cx| {
        pad_backward(cx, 1, Entry::Nearest)
    }),
    ("aclnnReplicationPad2dBackward", |cx| {
        pad_backward(cx, 2, Entry::Nearest)
    }),
    ("aclnnReplicationPad3dBackward", |cx| {
        pad_backward(cx, 3, Entry::Nearest)
    }),
];

/// Adds the gradients of all entries that a padding took from one entry.
fn pad_backward(cx: &mut Cx<'_>, space: usize, entry: fn(i64) -> Entry) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (out, pads) = (cx.out("gradInput")?, cx.ints("padding")?.to_vec());
    cx.check_dims(&out, x.dims())?;
    if pads.len() != 2 * space || !(space + 1..=space + 2).contains(&x.rank()) {
        return Err(cx.invalid(format_args!(
            "self has {} dimensions and padding {} numbers; there must be {} or {} dimensions and {} numbers",
            x.rank(),
            pads.len(),
            space + 1,
            space + 2,
            2 * space
        )));
    }
    let mut dims = x.dims().to_vec();
    let first = x.rank() - space;
    let mut axes = Vec::with_capacity(space);
    for (axis, pair) in (first..x.rank()).rev().zip(pads.chunks_exact(2)) {
        let (from, limit) = (x.dims()[axis] as i64, i64::from(i32::MAX));
        let most = match entry(0) {
            Entry::Reflect(_) => (from - 1).max(0),
            Entry::Circular(_) => from,
            _ => limit,
        };
        let size = from.saturating_add(pair[0]).saturating_add(pair[1]);
        if size < 0 || pair.iter().any(|&pad| pad > most || pad < -limit) {
            return Err(cx.invalid(format_args!(
                "padding has {pair:?} for the dimension {axis} of {from} entries; at most {most} are possible, and the result must \
                 not be smaller than 0"
            )));
        }
        dims[axis] = size as usize;
        axes.push(Axis {
            rule: Rule::Moved(entry(pair[0])),
            from: from as usize,
            to: size as usize,
        });
    }
    axes.reverse();
    cx.check_dims(&gradient, &dims)?;
    let parts = (gradient.parts(), out.parts());
    if let (Some(gradients), Some(outputs)) = parts {
        for (gradient, out) in gradients.into_iter().zip(outputs) {
            apply(cx, accumulator(out.dtype()), &axes, true, gradient, out)?;
        }
        return Ok(());
    }
    apply(cx, accumulator(out.dtype()), &axes, true, gradient, out)
}

/// Exchanges the groups of channels with the channels of a group.
fn shuffle_channels(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, groups) = (cx.tensor("self")?, cx.out("out")?, cx.int("groups")?);
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let &[batch, channels, ref rest @ ..] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; at least 3 dimensions are required",
            x.dims()
        )));
    };
    let count = usize::try_from(groups).ok();
    let Some(count) = count.filter(|&count| count > 0 && channels.is_multiple_of(count)) else {
        return Err(cx.invalid(format_args!(
            "groups is {groups}; it must be positive, and divide the {channels} channels"
        )));
    };
    let rest: usize = rest.iter().product();
    let x = cx.reshaped(x, &[batch, count, channels / count, rest])?;
    let target = match out.reshape(&[batch, channels / count, count, rest]) {
        Some(target) => target,
        None => cx.temporary(x.dtype(), &[batch, channels / count, count, rest])?,
    };
    cx.copy(x.transpose(1, 2), target)?;
    if target.base != out.base {
        let shuffled = cx.reshaped(target, out.dims().to_vec().as_slice())?;
        cx.copy(shuffled, out)?;
    }
    Ok(())
}

/// Splits each tensor into as many chunks, the last of them padded with zeros, and joins the chunks of one number.
fn join_chunks(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (tensors, out) = (cx.tensors("tensors")?, cx.out("out")?);
    let Some(first) = tensors.first().copied() else {
        return Err(cx.invalid("tensors is empty; it must have at least one tensor"));
    };
    let axis = cx.axis("dim", cx.int("dim")?, first.rank())?;
    let chunks = cx.int("numChunks")?;
    let Some(chunks) = usize::try_from(chunks).ok().filter(|&chunks| chunks > 0) else {
        return Err(cx.invalid(format_args!("numChunks is {chunks}; it must be positive")));
    };
    let outer = first.dims()[..axis].to_vec();
    let mut parts: Vec<(View, usize, usize)> = Vec::with_capacity(tensors.len());
    let mut total = 0usize;
    for tensor in tensors {
        let (Some(&len), Some(front)) = (tensor.dims().get(axis), tensor.dims().get(..axis)) else {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; more than {axis} dimensions are required",
                cx.param_of(&tensor),
                tensor.dims()
            )));
        };
        if front != outer {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; its first dimensions must be {outer:?}",
                cx.param_of(&tensor),
                tensor.dims()
            )));
        }
        let rest: usize = tensor.dims()[axis + 1..].iter().product();
        let each = len.div_ceil(chunks);
        total = total.saturating_add(each.saturating_mul(rest));
        parts.push((tensor, each, rest));
    }
    let mut dims = outer.clone();
    dims.extend([chunks, total]);
    cx.check_dims(&out, &dims)?;
    cx.fill(Scalar::of_i64(0), out)?;
    let mut start = 0;
    for (tensor, each, rest) in parts {
        let len = tensor.dims()[axis];
        for chunk in 0..chunks {
            let from = chunk * each;
            let count = each.min(len.saturating_sub(from));
            if count == 0 || rest == 0 {
                continue;
            }
            let part = tensor.slice(axis, from, count, 1);
            let mut flat = outer.clone();
            flat.push(count * rest);
            let part = cx.reshaped(part, &flat)?;
            let target = out.select(axis, chunk);
            cx.copy(part, target.slice(axis, start, count * rest, 1))?;
        }
        start += each * rest;
    }
    Ok(())
}
