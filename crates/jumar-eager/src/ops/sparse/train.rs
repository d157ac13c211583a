//! The operators for training: joined sequences (TND).

use jumar_types::dtype::DataType;

use super::kernels::{Attend, Backward, Choose, Chosen, Importance, MaskRule, Sequence, Shape};
use super::{positive, windows};
use crate::Refusal;
use crate::build::Cx;
use crate::ops::dense;
use crate::view::View;

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// Returns the parts of joined sequences by their ends.
fn parts(cx: &Cx<'_>, param: &str, len: Option<usize>) -> Result<Vec<(usize, usize)>, Refusal> {
    let ends = cx.ints(param)?;
    let mut start = 0;
    let mut parts = Vec::with_capacity(ends.len());
    for &end in ends {
        match usize::try_from(end) {
            Ok(end) if end >= start && len.is_none_or(|len| end <= len) => {
                parts.push((start, end));
                start = end;
            }
            _ => {
                return Err(cx.invalid(format_args!(
                    "{param} is {ends:?}; the ends of sequences must not fall, nor lie behind the last of {len:?} tokens"
                )));
            }
        }
    }
    if len.is_some_and(|len| start != len) || parts.is_empty() {
        return Err(cx.invalid(format_args!(
            "{param} is {ends:?}; the last end must be the number of tokens, {len:?}"
        )));
    }
    Ok(parts)
}

/// The operands of attention.
struct Operands {
    query: View,
    key: View,
    value: View,
    shape: Shape,
}

fn operands(cx: &Cx<'_>, lens: [&str; 2]) -> Result<Operands, Refusal> {
    let (query, key, value) = (cx.tensor("query")?, cx.tensor("key")?, cx.tensor("value")?);
    cx.check_types(&query, HALVES)?;
    for view in [&key, &value] {
        cx.check_dtype(view, query.dtype())?;
    }
    if cx.text("inputLayout")? != "TND" {
        return Err(cx.invalid(format_args!(
            "inputLayout is {:?}; it must be \"TND\"",
            cx.text("inputLayout")?
        )));
    }
    let (&[tokens, heads, width], &[key_tokens, key_heads, key_width], &[own, other, value_width]) =
        (query.dims(), key.dims(), value.dims())
    else {
        return Err(cx.invalid(format_args!(
            "query, key and value have the shapes {:?}, {:?} and {:?}; expected 3 dimensions each",
            query.dims(),
            key.dims(),
            value.dims()
        )));
    };
    let fits = width == key_width
        && (own, other) == (key_tokens, key_heads)
        && value_width <= width
        && key_heads > 0
        && heads.is_multiple_of(key_heads);
    if !fits {
        return Err(cx.invalid(format_args!(
            "query, key and value have the shapes {:?}, {:?} and {:?}, which do not belong together",
            query.dims(),
            key.dims(),
            value.dims()
        )));
    }
    if cx.int("headNum")? != heads as i64 {
        return Err(cx.invalid(format_args!(
            "headNum is {}; query has {heads} heads",
            cx.int("headNum")?
        )));
    }
    let queries = parts(cx, lens[0], Some(tokens))?;
    let keys = parts(cx, lens[1], Some(key_tokens))?;
    if queries.len() != keys.len() {
        return Err(cx.invalid(format_args!(
            "{} has {} sequences and {} has {}; both must be equal",
            lens[0],
            queries.len(),
            lens[1],
            keys.len()
        )));
    }
    let sequences = queries.into_iter().zip(keys);
    let sequences = sequences.map(|(query, key)| Sequence { query, key });
    Ok(Operands {
        query,
        key,
        value,
        shape: Shape {
            sequences: sequences.collect(),
            heads,
            key_heads,
            width,
            value_width,
            scale: cx.float("scaleValue")?,
            masked: MaskRule::None,
        },
    })
}

/// Checks a mask of queries and keys, or of queries and blocks. It is at least as large as the longest sequence.
fn mask(
    cx: &Cx<'_>,
    param: &str,
    wanted: (usize, usize),
) -> Result<Option<(View, usize)>, Refusal> {
    let Some(mask) = cx.optional(param)?.filter(|mask| !mask.is_empty()) else {
        return Ok(None);
    };
    cx.check_types(&mask, &[DataType::Bool, DataType::UInt8])?;
    match mask.dims() {
        &[rows, columns] if rows >= wanted.0 && columns >= wanted.1 => {
            Ok(Some((mask.reinterpret(DataType::UInt8), columns)))
        }
        dims => Err(cx.invalid(format_args!(
            "{param} has the shape {dims:?}; it must be at least [{}, {}]",
            wanted.0, wanted.1
        ))),
    }
}

fn longest(parts: impl Iterator<Item = (usize, usize)>) -> usize {
    parts.map(|(start, end)| end - start).max().unwrap_or(0)
}

/// Finds out what takes keys away. Mode `causal` is that of keys behind the query; other modes are of the mask as it is.
fn masking(
    cx: &Cx<'_>,
    of: &mut Operands,
    modes: &[i64],
    causal: i64,
) -> Result<Option<View>, Refusal> {
    let mode = cx.int("sparseMode")?;
    if !modes.contains(&mode) {
        return Err(cx.invalid(format_args!(
            "sparseMode is {mode}; it must be one of {modes:?}"
        )));
    }
    let sequences = of.shape.sequences.iter();
    let wanted = (
        longest(sequences.clone().map(|one| one.query)),
        longest(sequences.map(|one| one.key)),
    );
    if mode == causal {
        let given = cx.optional("attenMaskOptional")?.is_some();
        // Without a mask the mode has no effect.
        of.shape.masked = if given {
            MaskRule::Later
        } else {
            MaskRule::None
        };
        return Ok(None);
    }
    Ok(match mask(cx, "attenMaskOptional", wanted)? {
        Some((mask, columns)) => {
            of.shape.masked = MaskRule::Given(columns);
            Some(mask)
        }
        None => None,
    })
}

/// Checks where the largest scores and the sums go: eight times each, as other attention stores them.
fn statistics(cx: &Cx<'_>, params: [&str; 2], of: &Operands) -> Result<[View; 2], Refusal> {
    let mut views = [of.query; 2];
    for (slot, param) in views.iter_mut().zip(params) {
        let view = cx.tensor(param)?;
        cx.check_dtype(&view, DataType::Float32)?;
        cx.check_dims(&view, &[of.query.dims()[0], of.shape.heads, 8])?;
        *slot = view;
    }
    Ok(views)
}

/// Returns the blocks that each query attends to.
fn chosen(cx: &Cx<'_>, of: &Operands) -> Result<(View, Chosen), Refusal> {
    let indices = cx.tensor("topkIndices")?;
    cx.check_types(&indices, &[DataType::Int32])?;
    let given = [cx.int("selectedBlockSize")?, cx.int("selectedBlockCount")?];
    let [Ok(size @ 1..=65536), Ok(count @ 1..)] = given.map(usize::try_from) else {
        return Err(cx.invalid(format_args!(
            "selectedBlockSize and selectedBlockCount are {given:?}; both must be positive"
        )));
    };
    cx.check_dims(&indices, &[of.query.dims()[0], of.shape.key_heads, count])?;
    Ok((indices, Chosen { size, count }))
}

/// Plans the forward pass, and returns where the importance of blocks was written.
fn attend(
    cx: &mut Cx<'_>,
    of: &Operands,
    (chosen, mask): (Option<(View, Chosen)>, Option<View>),
    importance: Option<Importance>,
    (params, out): ([&str; 2], View),
) -> Result<Option<View>, Refusal> {
    let [most, sum] = statistics(cx, params, of)?;
    cx.check_dtype(&out, of.query.dtype())?;
    let tokens = of.query.dims()[0];
    cx.check_dims(&out, &[tokens, of.shape.heads, of.shape.value_width])?;
    let compute = DataType::Float32;
    let mut inputs = vec![(of.query, compute), (of.key, compute), (of.value, compute)];
    inputs.extend(chosen.map(|(indices, _)| (indices, DataType::Int64)));
    inputs.extend(mask.map(|mask| (mask, DataType::UInt8)));
    let rows = [tokens, of.shape.heads];
    let (own_most, own_sum) = (cx.temporary(compute, &rows)?, cx.temporary(compute, &rows)?);
    let mut outputs = vec![(own_most, compute), (own_sum, compute), (out, compute)];
    let marks = match importance {
        Some(importance) => {
            let dims = [tokens, of.shape.key_heads, importance.blocks];
            Some(cx.temporary(compute, &dims)?)
        }
        None => None,
    };
    outputs.extend(marks.map(|marks| (marks, compute)));
    let body = Attend {
        shape: of.shape.clone(),
        chosen: chosen.map(|(_, chosen)| chosen),
        importance,
    };
    dense::run(cx, compute, body, &inputs, &outputs)?;
    cx.copy(own_most.unsqueeze(2), most)?;
    cx.copy(own_sum.unsqueeze(2), sum)?;
    Ok(marks)
}

pub(super) fn selected(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut of = operands(cx, ["actualSeqQLenOptional", "actualSeqKvLenOptional"])?;
    let mask = masking(cx, &mut of, &[0, 2], 2)?;
    let (indices, chosen) = chosen(cx, &of)?;
    let out = cx.out("attentionOut")?;
    let names = ["softmaxMaxOut", "softmaxSumOut"];
    attend(cx, &of, (Some((indices, chosen)), mask), None, (names, out)).map(drop)
}

pub(super) fn selected_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut of = operands(cx, ["actualSeqQLenOptional", "actualSeqKvLenOptional"])?;
    let mask = masking(cx, &mut of, &[0, 2], 2)?;
    let (indices, chosen) = chosen(cx, &of)?;
    let [most, sum] = statistics(cx, ["softmaxMax", "softmaxSum"], &of)?;
    let compute = DataType::Float32;
    let dims = [of.query.dims()[0], of.shape.heads, of.shape.value_width];
    let mut inputs = vec![(of.query, compute), (of.key, compute), (of.value, compute)];
    for param in ["attentionOut", "attentionOutGrad"] {
        let view = cx.tensor(param)?;
        cx.check_dtype(&view, of.query.dtype())?;
        cx.check_dims(&view, &dims)?;
        inputs.push((view, compute));
    }
    inputs.extend([(most.select(2, 0), compute), (sum.select(2, 0), compute)]);
    inputs.push((indices, DataType::Int64));
    inputs.extend(mask.map(|mask| (mask, DataType::UInt8)));
    let mut outputs = Vec::new();
    for (param, like) in [("dqOut", of.query), ("dkOut", of.key), ("dvOut", of.value)] {
        let out = cx.out(param)?;
        cx.check_dtype(&out, of.query.dtype())?;
        cx.check_dims(&out, like.dims())?;
        outputs.push((out, compute));
    }
    let body = Backward {
        shape: of.shape,
        chosen,
    };
    dense::run(cx, compute, body, &inputs, &outputs)
}

/// Attention to compressed keys, and the blocks of keys that matter most to each query. `topkMaskOptional` takes blocks away, as the other
/// mask takes keys away; its document refers to a paper.
pub(super) fn compressed(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mut of = operands(cx, ["actualSeqQLenOptional", "actualCmpSeqKvLenOptional"])?;
    let mask = masking(cx, &mut of, &[0, 1], -1)?;
    let windows = windows(cx, "compressStride")?;
    let count = positive(cx, "selectBlockCount")?;
    let lens = parts(cx, "actualSelSeqKvLenOptional", None)?;
    let lens: Vec<usize> = lens.into_iter().map(|(start, end)| end - start).collect();
    let per_block = windows.block / windows.stride;
    for (sequence, &len) in of.shape.sequences.iter().zip(&lens) {
        let wanted = (sequence.key.1 - sequence.key.0).div_ceil(per_block);
        if len != wanted {
            return Err(cx.invalid(format_args!(
                "actualSelSeqKvLenOptional has a sequence of {len} blocks; its compressed keys make {wanted}"
            )));
        }
    }
    if lens.len() != of.shape.sequences.len() {
        return Err(cx.invalid(format_args!(
            "actualSelSeqKvLenOptional has {} sequences; it must have {}",
            lens.len(),
            of.shape.sequences.len()
        )));
    }
    let blocks = lens.iter().copied().max().unwrap_or(0);
    let longest = longest(of.shape.sequences.iter().map(|one| one.query));
    let block_mask = self::mask(cx, "topkMaskOptional", (longest, blocks))?;
    let (out, indices) = (cx.out("attentionOutOut")?, cx.out("topkIndicesOut")?);
    cx.check_dtype(&indices, DataType::Int32)?;
    let dims = [of.query.dims()[0], of.shape.key_heads, count];
    cx.check_dims(&indices, &dims)?;
    let importance = windows.importance(blocks);
    let names = ["softmaxMaxOut", "softmaxSumOut"];
    let marks = attend(cx, &of, (None, mask), Some(importance), (names, out))?;
    let Some(marks) = marks else {
        return Err(cx.defect("the importance of blocks was asked for"));
    };
    let mut inputs = vec![(marks, DataType::Float32)];
    inputs.extend(block_mask.map(|(mask, _)| (mask, DataType::UInt8)));
    let body = Choose {
        shape: of.shape,
        blocks,
        lens,
        count,
        masked: block_mask.map(|(_, columns)| columns),
    };
    dense::run(
        cx,
        DataType::Float32,
        body,
        &inputs,
        &[(indices, DataType::Int64)],
    )
}
