//! Movement of elements, and creation of tensors.

pub(crate) mod kernels;

use jumar_types::dtype::DataType;

use super::Table;
use crate::build::Cx;
use crate::view::View;
use crate::{Refusal, Scalar};
use kernels::{IntSequence, RealSequence, Rule, remap, same, triangle};

pub(crate) static TABLE: &Table = &[
    ("aclnnArange", |cx| arange(cx, false)),
    ("aclnnCat", cat),
    ("aclnnCircularPad2d", |cx| pad(cx, 2, Rule::Circular)),
    ("aclnnCircularPad3d", |cx| pad(cx, 3, Rule::Circular)),
    ("aclnnConstantPadNd", constant_pad),
    ("aclnnDiag", diag),
    ("aclnnDiagFlat", diag_flat),
    ("aclnnExpand", expand),
    ("aclnnEye", eye),
    ("aclnnFlip", flip),
    ("aclnnInplaceTril", |cx| triangular(cx, true)),
    ("aclnnInplaceTriu", |cx| triangular(cx, false)),
    ("aclnnLinspace", linspace),
    ("aclnnPermute", permute),
    ("aclnnRange", |cx| arange(cx, true)),
    ("aclnnReflectionPad1d", |cx| pad(cx, 1, Rule::Reflect)),
    ("aclnnReflectionPad2d", |cx| pad(cx, 2, Rule::Reflect)),
    ("aclnnReflectionPad3d", |cx| pad(cx, 3, Rule::Reflect)),
    ("aclnnRepeat", repeat),
    ("aclnnRepeatInterleaveInt", |cx| {
        repeat_interleave(cx, false)
    }),
    ("aclnnRepeatInterleaveIntWithDim", |cx| {
        repeat_interleave(cx, true)
    }),
    ("aclnnReplicationPad1d", |cx| pad(cx, 1, Rule::Nearest)),
    ("aclnnReplicationPad2d", |cx| pad(cx, 2, Rule::Nearest)),
    ("aclnnReplicationPad3d", |cx| pad(cx, 3, Rule::Nearest)),
    ("aclnnRoll", roll),
    ("aclnnSlice", slice),
    ("aclnnSliceV2", slice_v2),
    ("aclnnSplitTensor", split),
    ("aclnnSplitWithSize", split_with_size),
    ("aclnnStack", stack),
    ("aclnnTril", |cx| triangular(cx, true)),
    ("aclnnTriu", |cx| triangular(cx, false)),
];

/// Runs a kernel that moves elements of `x` to `out`.
fn moved(
    cx: &mut Cx<'_>,
    kernel: Option<Box<dyn jumar_ops::Kernel>>,
    x: View,
    out: View,
    in_place: bool,
) -> Result<(), Refusal> {
    let Some(kernel) = kernel else {
        let dtype = x.dtype();
        return Err(cx.unsupported(format_args!(
            "tensors of the type {dtype} are not supported"
        )));
    };
    if out.is_empty() {
        return Ok(());
    }
    cx.kernel(kernel, &[Some(x)], &[out], in_place)
}

/// Sets the elements of `out` to elements of `x` by a rule for each dimension.
fn remapped(cx: &mut Cx<'_>, rules: Vec<Rule>, x: View, out: View) -> Result<(), Refusal> {
    if rules.is_empty() {
        return cx.copy(x, out);
    }
    if !out.is_empty() && x.is_empty() {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}, which has no element to move",
            cx.param_of(&x),
            x.dims()
        )));
    }
    moved(cx, remap(x.dtype(), rules), x, out, false)
}

/// Returns a number that must not be negative.
fn size(cx: &Cx<'_>, param: &str, value: i64) -> Result<usize, Refusal> {
    usize::try_from(value).map_err(|_| {
        cx.invalid(format_args!(
            "{param} has the number {value}; it must be at least 0"
        ))
    })
}

/// Returns the product of two sizes.
fn times(cx: &Cx<'_>, param: &str, one: usize, two: usize) -> Result<usize, Refusal> {
    one.checked_mul(two).ok_or_else(|| {
        cx.invalid(format_args!(
            "{param} leads to a dimension of {one} times {two} entries"
        ))
    })
}

fn cat(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (tensors, out) = (cx.tensors("tensors")?, cx.out("out")?);
    let Some(first) = tensors.first() else {
        return Err(cx.invalid("tensors is empty; it must have at least one tensor"));
    };
    let mut dtype = first.dtype();
    for tensor in &tensors[1..] {
        dtype = cx.promote(dtype, tensor.dtype())?;
    }
    cx.check_converts(dtype, &out)?;
    // PyTorch ignores empty tensors of one dimension, whatever the shape of the others.
    let mut shaped = tensors.iter().filter(|tensor| tensor.dims() != [0]);
    let Some(model) = shaped.next().copied() else {
        return cx.check_dims(&out, &[0]);
    };
    let axis = cx.axis("dim", cx.int("dim")?, model.rank())?;
    let mut dims = model.dims().to_vec();
    let Some(total) = dims.get_mut(axis) else {
        return Err(cx.invalid("tensors has a member without dimensions, which cannot be joined"));
    };
    for tensor in shaped {
        let fits = tensor.rank() == model.rank()
            && (0..model.rank()).all(|own| own == axis || tensor.dims()[own] == model.dims()[own]);
        if !fits {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; it must be {:?} but for the dimension {axis}",
                cx.param_of(tensor),
                tensor.dims(),
                model.dims()
            )));
        }
        *total += tensor.dims()[axis];
    }
    cx.check_dims(&out, &dims)?;
    let mut start = 0;
    for tensor in tensors.iter().filter(|tensor| tensor.dims() != [0]) {
        let len = tensor.dims()[axis];
        cx.copy(*tensor, out.slice(axis, start, len, 1))?;
        start += len;
    }
    Ok(())
}

fn stack(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (tensors, out) = (cx.tensors("tensors")?, cx.out("out")?);
    let Some(first) = tensors.first().copied() else {
        return Err(cx.invalid("tensors is empty; it must have at least one tensor"));
    };
    let axis = cx.axis("dim", cx.int("dim")?, first.rank() + 1)?;
    let mut dtype = first.dtype();
    for tensor in &tensors {
        dtype = cx.promote(dtype, tensor.dtype())?;
        cx.check_dims(tensor, first.dims())?;
    }
    cx.check_converts(dtype, &out)?;
    let mut dims = first.dims().to_vec();
    dims.insert(axis, tensors.len());
    cx.check_dims(&out, &dims)?;
    for (index, tensor) in tensors.into_iter().enumerate() {
        cx.copy(tensor, out.select(axis, index))?;
    }
    Ok(())
}

fn flip(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axes = cx.axes("dims", cx.ints("dims")?, x.rank())?;
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let mut rules = same(&x);
    for axis in axes {
        if let Some(rule) = rules.get_mut(axis) {
            *rule = Rule::Flip;
        }
    }
    remapped(cx, rules, x, out)
}

/// Without dimensions the elements are rolled in row-major order.
fn roll(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (mut x, out) = (cx.tensor("x")?, cx.out("out")?);
    let (shifts, dims) = (cx.ints("shifts")?.to_vec(), cx.ints("dims")?.to_vec());
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    let flat = dims.is_empty() && shifts.len() == 1;
    if !flat && (shifts.len() != dims.len() || shifts.is_empty()) {
        return Err(cx.invalid(format_args!(
            "shifts has {} numbers and dims {}; there must be as many of both, or one shift and no dims",
            shifts.len(),
            dims.len()
        )));
    }
    let mut to = out;
    let mut axes = vec![0];
    if flat {
        if out.is_empty() {
            return Ok(());
        }
        x = cx.reshaped(x, &[x.elements()])?;
        to = match out.reshape(&[out.elements()]) {
            Some(flat) => flat,
            None => cx.temporary(out.dtype(), &[out.elements()])?,
        };
    } else {
        axes.clear();
        for &dim in &dims {
            axes.push(cx.axis("dims", dim, x.rank())?);
        }
    }
    let mut rules = same(&x);
    for (&axis, &shift) in axes.iter().zip(&shifts) {
        let Some(rule) = rules.get_mut(axis) else {
            continue;
        };
        let size = x.dims()[axis].max(1) as i64;
        // A dimension may be rolled several times; the shifts add up.
        let earlier = if let Rule::Wrap(earlier) = *rule {
            earlier as i64
        } else {
            0
        };
        *rule = Rule::Wrap(((earlier - shift % size).rem_euclid(size)) as usize);
    }
    remapped(cx, rules, x, to)?;
    if to.base != out.base {
        let from = cx.reshaped(to, out.dims())?;
        cx.copy(from, out)?;
    }
    Ok(())
}

fn triangular(cx: &mut Cx<'_>, lower: bool) -> Result<(), Refusal> {
    let (x, out, diagonal) = (cx.tensor_at(0)?, cx.output()?, cx.int("diagonal")?);
    cx.check_dtype(&out, x.dtype())?;
    if x.rank() < 2 {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have at least 2 dimensions",
            cx.param_of(&x),
            x.dims()
        )));
    }
    cx.check_dims(&out, x.dims())?;
    moved(cx, triangle(x.dtype(), diagonal, lower), x, out, true)
}

fn permute(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, dims) = (cx.tensor("self")?, cx.out("out")?, cx.ints("dims")?);
    if dims.len() != x.rank() {
        return Err(cx.invalid(format_args!(
            "dims has {} numbers; it must have {}, one for each dimension of self",
            dims.len(),
            x.rank()
        )));
    }
    let axes = cx.axes("dims", dims, x.rank())?;
    cx.check_dtype(&out, x.dtype())?;
    let x = x.permute(&axes);
    cx.check_dims(&out, x.dims())?;
    cx.copy(x, out)
}

fn expand(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, wanted) = (cx.tensor("self")?, cx.out("out")?, cx.ints("size")?);
    cx.check_dtype(&out, x.dtype())?;
    let mut dims = Vec::with_capacity(wanted.len());
    for (axis, &dim) in wanted.iter().enumerate() {
        let own = (axis + x.rank()).checked_sub(wanted.len());
        dims.push(match (dim, own) {
            (-1, Some(own)) => x.dims()[own],
            _ => size(cx, "size", dim)?,
        });
    }
    if x.expand(&dims).is_none() {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}, which cannot be expanded to {dims:?} of size",
            x.dims()
        )));
    }
    cx.check_dims(&out, &dims)?;
    cx.copy(x, out)
}

fn repeat(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (mut x, out, repeats) = (cx.tensor("self")?, cx.out("out")?, cx.ints("repeats")?);
    cx.check_dtype(&out, x.dtype())?;
    if repeats.len() < x.rank() || repeats.len() > jumar_ops::view::MAX_RANK {
        return Err(cx.invalid(format_args!(
            "repeats has {} numbers; it must have between {} and {}",
            repeats.len(),
            x.rank(),
            jumar_ops::view::MAX_RANK
        )));
    }
    while x.rank() < repeats.len() {
        x = x.unsqueeze(0);
    }
    let mut dims = Vec::with_capacity(repeats.len());
    for (&own, &count) in x.dims().iter().zip(repeats) {
        dims.push(times(cx, "repeats", own, size(cx, "repeats", count)?)?);
    }
    cx.check_dims(&out, &dims)?;
    remapped(cx, vec![Rule::Wrap(0); dims.len()], x, out)
}

fn repeat_interleave(cx: &mut Cx<'_>, dimension: bool) -> Result<(), Refusal> {
    let (mut x, out) = (cx.tensor("self")?, cx.out("out")?);
    let count = size(cx, "repeats", cx.int("repeats")?)?;
    cx.check_dtype(&out, x.dtype())?;
    let mut axis = 0;
    if dimension {
        axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    }
    if !dimension || x.rank() == 0 {
        x = cx.reshaped(x, &[x.elements()])?;
    }
    let mut dims = x.dims().to_vec();
    dims[axis] = times(cx, "repeats", dims[axis], count)?;
    let wanted = cx.int("outputSize")?;
    if wanted != dims[axis] as i64 {
        return Err(cx.invalid(format_args!(
            "outputSize is {wanted}; {count} repeats of {} entries are {}",
            x.dims()[axis],
            dims[axis]
        )));
    }
    cx.check_dims(&out, &dims)?;
    let mut rules = same(&x);
    rules[axis] = Rule::Each(count.max(1));
    remapped(cx, rules, x, out)
}

/// Returns an end of a slice as an index: negative ones count from the end, and both are limited to the dimension.
fn limit(index: i64, len: usize) -> usize {
    let len = len as i64;
    let index = if index < 0 {
        index.saturating_add(len)
    } else {
        index
    };
    index.clamp(0, len) as usize
}

fn sliced(
    cx: &Cx<'_>,
    x: View,
    axis: usize,
    (start, end, step): (i64, i64, i64),
) -> Result<View, Refusal> {
    if step < 1 {
        return Err(cx.invalid(format_args!("the step {step} must be at least 1")));
    }
    let (start, end) = (limit(start, x.dims()[axis]), limit(end, x.dims()[axis]));
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    let len = end.saturating_sub(start).div_ceil(step);
    // The step between fewer than two entries does not matter; a large one would only overflow.
    Ok(x.slice(axis, start, len, if len < 2 { 1 } else { step }))
}

fn slice(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    cx.check_dtype(&out, x.dtype())?;
    cx.check_not_scalar(&x)?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let bounds = (cx.int("start")?, cx.int("end")?, cx.int("step")?);
    let part = sliced(cx, x, axis, bounds)?;
    cx.check_dims(&out, part.dims())?;
    cx.copy(part, out)
}

fn slice_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    cx.check_dtype(&out, x.dtype())?;
    cx.check_not_scalar(&x)?;
    let (starts, ends, steps) = (cx.ints("starts")?, cx.ints("ends")?, cx.ints("steps")?);
    let axes = cx.axes("axes", cx.ints("axes")?, x.rank())?;
    if [starts.len(), ends.len(), steps.len()] != [axes.len(); 3] {
        return Err(cx.invalid(format_args!(
            "starts, ends, axes and steps have {}, {}, {} and {} numbers; they must have as many",
            starts.len(),
            ends.len(),
            axes.len(),
            steps.len()
        )));
    }
    let mut part = x;
    for (index, axis) in axes.into_iter().enumerate() {
        part = sliced(cx, part, axis, (starts[index], ends[index], steps[index]))?;
    }
    cx.check_dims(&out, part.dims())?;
    cx.copy(part, out)
}

/// Copies consecutive parts of a dimension to the members of a list.
fn parts(cx: &mut Cx<'_>, x: View, axis: usize, sizes: &[usize]) -> Result<(), Refusal> {
    let outs = cx.tensors("out")?;
    if outs.len() != sizes.len() {
        return Err(cx.invalid(format_args!(
            "out has {} tensors; it must have {}",
            outs.len(),
            sizes.len()
        )));
    }
    let mut start = 0;
    let mut copies = Vec::with_capacity(outs.len());
    for (out, &len) in outs.into_iter().zip(sizes) {
        let part = x.slice(axis, start, len, 1);
        cx.check_dtype(&out, x.dtype())?;
        cx.check_dims(&out, part.dims())?;
        copies.push((part, out));
        start += len;
    }
    for (part, out) in copies {
        cx.copy(part, out)?;
    }
    Ok(())
}

fn split_axis(cx: &Cx<'_>, x: &View) -> Result<usize, Refusal> {
    cx.check_not_scalar(x)?;
    cx.axis("dim", cx.int("dim")?, x.rank())
}

fn split(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("self")?;
    let axis = split_axis(cx, &x)?;
    let (each, len) = (cx.int("splitSections")?, x.dims()[axis]);
    if each < 0 || (each == 0 && len != 0) {
        return Err(cx.invalid(format_args!(
            "splitSections is {each}; it must be at least 1 for a dimension of {len} entries"
        )));
    }
    let each = usize::try_from(each).unwrap_or(usize::MAX).max(1);
    let count = len.div_ceil(each).max(1);
    cx.check_planned("the parts of self", count)?;
    let sizes: Vec<usize> = (0..count).map(|part| each.min(len - part * each)).collect();
    parts(cx, x, axis, &sizes)
}

fn split_with_size(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let x = cx.tensor("self")?;
    let axis = split_axis(cx, &x)?;
    let mut sizes = Vec::new();
    let mut total = 0usize;
    for &each in cx.ints("splitSize")? {
        sizes.push(size(cx, "splitSize", each)?);
        total = total.saturating_add(each as usize);
    }
    if total != x.dims()[axis] {
        return Err(cx.invalid(format_args!(
            "splitSize {sizes:?} adds up to {total}; the dimension {axis} of self has {} entries",
            x.dims()[axis]
        )));
    }
    parts(cx, x, axis, &sizes)
}

/// The numbers of entries before and after each dimension.
type Sides = Vec<(i64, i64)>;

/// Returns the numbers of entries before and after each dimension, and the dimensions with them, from the last dimension backwards in the argument.
fn paddings(
    cx: &Cx<'_>,
    param: &str,
    pads: &[i64],
    x: &View,
) -> Result<(Sides, Vec<usize>), Refusal> {
    if !pads.len().is_multiple_of(2) || pads.len() / 2 > x.rank() {
        return Err(cx.invalid(format_args!(
            "{param} has {} numbers; it must have an even number up to {}",
            pads.len(),
            2 * x.rank()
        )));
    }
    let mut sides = vec![(0, 0); x.rank()];
    let mut dims = x.dims().to_vec();
    for (pair, axis) in pads.chunks_exact(2).zip((0..x.rank()).rev()) {
        sides[axis] = (pair[0], pair[1]);
        let total = (dims[axis] as i64)
            .checked_add(pair[0])
            .and_then(|sum| sum.checked_add(pair[1]))
            .and_then(|sum| usize::try_from(sum).ok());
        dims[axis] = total.ok_or_else(|| {
            cx.invalid(format_args!(
                "{param} has {pair:?} for the dimension {axis} of {} entries; the result would have no valid size",
                dims[axis]
            ))
        })?;
    }
    Ok((sides, dims))
}

fn constant_pad(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, value) = (cx.tensor("self")?, cx.out("out")?, cx.scalar("value")?);
    cx.check_dtype(&out, x.dtype())?;
    let (sides, dims) = paddings(cx, "pad", cx.ints("pad")?, &x)?;
    cx.check_dims(&out, &dims)?;
    let (mut from, mut to) = (x, out);
    for (axis, (before, after)) in sides.into_iter().enumerate() {
        let crop = usize::try_from(-before.min(0)).unwrap_or(0);
        let start = usize::try_from(before.max(0)).unwrap_or(0);
        let len = x.dims()[axis] as i64 + before.min(0) + after.min(0);
        let len = usize::try_from(len).unwrap_or(0);
        from = from.slice(axis, crop, len, 1);
        to = to.slice(axis, start, len, 1);
    }
    cx.fill(value, out)?;
    cx.copy(from, to)
}

/// Pads the last dimensions with entries of the input.
fn pad(cx: &mut Cx<'_>, count: usize, rule: fn(i64) -> Rule) -> Result<(), Refusal> {
    let (x, out, pads) = (cx.tensor("self")?, cx.out("out")?, cx.ints("padding")?);
    cx.check_dtype(&out, x.dtype())?;
    if pads.len() != 2 * count || !(count + 1..=count + 2).contains(&x.rank()) {
        return Err(cx.invalid(format_args!(
            "self has {} dimensions and padding {} numbers; there must be {} or {} dimensions and {} numbers",
            x.rank(),
            pads.len(),
            count + 1,
            count + 2,
            2 * count
        )));
    }
    let (sides, dims) = paddings(cx, "padding", pads, &x)?;
    let mut rules = same(&x);
    for (axis, &(before, after)) in sides.iter().enumerate() {
        let len = x.dims()[axis] as i64;
        let (most, what) = match rule(0) {
            Rule::Reflect(_) => ((len - 1).max(0), "a reflection"),
            Rule::Circular(_) => (len, "a repetition"),
            _ => (i64::MAX, ""),
        };
        if before.max(after) > most {
            return Err(cx.invalid(format_args!(
                "padding has {:?} for the dimension {axis}; {what} of {len} entries has at most {most}",
                [before, after],
            )));
        }
        if axis + count >= x.rank() {
            rules[axis] = rule(before);
        }
    }
    cx.check_dims(&out, &dims)?;
    remapped(cx, rules, x, out)
}

/// Writes a one-dimensional sequence to an output of any shape of as many elements.
fn sequence(
    cx: &mut Cx<'_>,
    kernel: Box<dyn jumar_ops::Kernel>,
    dtype: DataType,
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    let values = cx.temporary(dtype, out.dims())?;
    cx.kernel(kernel, &[], &[values], false)?;
    cx.copy(values, out)
}

fn arange(cx: &mut Cx<'_>, inclusive: bool) -> Result<(), Refusal> {
    let scalars = [cx.scalar("start")?, cx.scalar("end")?, cx.scalar("step")?];
    let out = cx.out("out")?;
    let [start, end, step] = scalars.map(|scalar| scalar.real());
    let finite = start.is_finite() && end.is_finite() && step.is_finite();
    if !finite || step == 0.0 || (end - start) / step < 0.0 {
        return Err(cx.invalid(format_args!(
            "start {start}, end {end} and step {step} do not describe a sequence: the step must lead from the start to the end"
        )));
    }
    let integers = scalars
        .iter()
        .all(|scalar| scalar.dtype().is_integer() || scalar.dtype() == DataType::Bool);
    let len = if integers {
        let [start, end, step] = scalars.map(|scalar| i128::from(scalar.int()));
        let distance = (end - start).abs();
        match inclusive {
            true => (distance / step.abs() + 1) as f64,
            false => ((distance + step.abs() - 1) / step.abs()) as f64,
        }
    } else {
        match inclusive {
            true => ((end - start) / step).floor() + 1.0,
            false => ((end - start) / step).ceil(),
        }
    };
    // Callers that truncate the limits of a sequence of integers before they count have another number of elements.
    let truncated = match (out.dtype().is_integer(), step.trunc()) {
        (true, step) if step != 0.0 => ((end.trunc() - start.trunc()) / step).ceil(),
        _ => len,
    };
    let count = out.elements() as f64;
    if count != len && (inclusive || count != truncated) {
        return Err(cx.invalid(format_args!(
            "out has {} elements; start {start}, end {end} and step {step} lead to {len}",
            out.elements()
        )));
    }
    if out.dtype().is_integer() {
        let (start, step) = (scalars[0].int(), scalars[2].int());
        let kernel = Box::new(IntSequence { start, step });
        return sequence(cx, kernel, DataType::Int64, out);
    }
    let kernel = Box::new(RealSequence {
        start,
        step,
        end: None,
    });
    sequence(cx, kernel, DataType::Float64, out)
}

fn linspace(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (start, end) = (cx.scalar("start")?.real(), cx.scalar("end")?.real());
    let (out, steps) = (cx.out("out")?, cx.int("steps")?);
    if steps < 0 || out.elements() as i64 != steps {
        return Err(cx.invalid(format_args!(
            "steps is {steps} and out has {} elements; both must be one number of at least 0",
            out.elements()
        )));
    }
    let step = match steps {
        0 | 1 => 0.0,
        steps => (end - start) / (steps - 1) as f64,
    };
    let end = (steps > 1).then_some(end);
    sequence(
        cx,
        Box::new(RealSequence { start, step, end }),
        DataType::Float64,
        out,
    )
}

fn eye(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("out")?;
    let (rows, columns) = (size(cx, "n", cx.int("n")?)?, size(cx, "m", cx.int("m")?)?);
    cx.check_dims(&out, &[rows, columns])?;
    cx.fill(Scalar::of_i64(0), out)?;
    cx.fill(Scalar::ONE, out.diagonal(0))
}

fn diag_flat(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, diagonal) = (cx.tensor("self")?, cx.out("out")?, cx.int("diagonal")?);
    cx.check_dtype(&out, x.dtype())?;
    let away = usize::try_from(diagonal.unsigned_abs()).unwrap_or(usize::MAX);
    let side = x.elements().saturating_add(away);
    cx.check_dims(&out, &[side, side])?;
    cx.fill(Scalar::of_i64(0), out)?;
    let x = cx.reshaped(x, &[x.elements()])?;
    cx.copy(x, out.diagonal(diagonal))
}

/// A matrix with a diagonal, of a vector; the diagonal, of a matrix.
fn diag(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, diagonal) = (cx.tensor("self")?, cx.out("out")?, cx.int("diagonal")?);
    match x.rank() {
        1 => diag_flat(cx),
        2 => {
            cx.check_dtype(&out, x.dtype())?;
            let entries = x.diagonal(diagonal);
            cx.check_dims(&out, entries.dims())?;
            cx.copy(entries, out)
        }
        rank => Err(cx.invalid(format_args!(
            "self has {rank} dimensions; it must have 1 or 2"
        ))),
    }
}
