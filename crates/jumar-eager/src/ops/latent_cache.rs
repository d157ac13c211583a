//! Keys of latent attention (MLA) from one product: a norm of the compressed part, a rotation of the rest, and both written to caches.

use jumar_types::dtype::DataType;

use super::Table;
use super::latent::{COLUMNS, Norm, Rotate, Store};
use super::routing::int64;
use crate::Refusal;
use crate::build::Cx;
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnKvRmsNormRopeCache", first),
    ("aclnnKvRmsNormRopeCacheV2", second),
];

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// How rows lie in the caches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Each sequence has a part of its own, in which positions count.
    Sequences,
    /// Blocks of tokens.
    Blocks,
    /// Blocks of tokens, in which blocks of columns lie behind each other.
    Columns,
}

fn mode(cx: &Cx<'_>) -> Result<Mode, Refusal> {
    match cx.text("cacheModeOptional")? {
        "" | "Norm" => Ok(Mode::Sequences),
        "PA" | "PA_BNSD" => Ok(Mode::Blocks),
        "PA_NZ" => Ok(Mode::Columns),
        mode @ ("PA_BLK_BNSD" | "PA_BLK_NZ") => Err(cx.unsupported(format_args!(
            "cacheModeOptional {mode:?} is not supported; Norm, PA, PA_BNSD and PA_NZ are"
        ))),
        mode => Err(cx.invalid(format_args!(
            "cacheModeOptional is {mode:?}; it must be Norm, PA, PA_BNSD, PA_NZ, PA_BLK_BNSD or PA_BLK_NZ"
        ))),
    }
}

fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx.optional("vOptional")?.is_some() {
        return Err(cx.unsupported("vOptional is given: values of their own are not supported"));
    }
    first(cx)
}

fn first(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    for param in [
        "kRopeScaleOptional",
        "ckvScaleOptional",
        "kRopeOffsetOptional",
        "cKvOffsetOptional",
    ] {
        if cx.optional(param)?.is_some() {
            return Err(cx.unsupported(format_args!(
                "{param} is given: caches of int8 are not supported"
            )));
        }
    }
    let (kv, gamma) = (cx.tensor("kv")?, cx.tensor("gamma")?);
    let dtype = kv.dtype();
    cx.check_types(&kv, HALVES)?;
    cx.check_dtype(&gamma, dtype)?;
    let &[batch, 1, len, width] = kv.dims() else {
        return Err(cx.invalid(format_args!(
            "kv has the shape {:?}; expected [batch, 1, tokens, entries]",
            kv.dims()
        )));
    };
    let compressed = gamma.elements();
    cx.check_dims(&gamma, &[compressed])?;
    let rest = width.saturating_sub(compressed);
    if compressed == 0 || rest == 0 || !rest.is_multiple_of(2) {
        return Err(cx.invalid(format_args!(
            "gamma has {compressed} of {width} entries; both parts need entries, and the rotated part an even number"
        )));
    }
    let tokens = batch * len;
    let mut tables = [None; 2];
    for (slot, param) in tables.iter_mut().zip(["cos", "sin"]) {
        let table = cx.tensor(param)?;
        cx.check_dtype(&table, dtype)?;
        cx.check_dims(&table, &[batch, 1, len, rest])?;
        *slot = Some(cx.reshaped(table, &[tokens, rest])?);
    }
    let index = cx.tensor("index")?;
    cx.check_dtype(&index, DataType::Int64)?;
    if index.elements() != tokens {
        return Err(cx.invalid(format_args!(
            "index has the shape {:?}; it must have an element for each of {tokens} tokens",
            index.dims()
        )));
    }
    let mode = mode(cx)?;
    let outs = match cx.flag("isOutputKv")? {
        true => {
            let outs = [cx.out("kRopeOut")?, cx.out("cKvOut")?];
            for (out, width) in outs.iter().zip([rest, compressed]) {
                cx.check_dtype(out, dtype)?;
                cx.check_dims(out, &[batch, 1, len, width])?;
            }
            Some(outs)
        }
        false => None,
    };
    if tokens == 0 {
        return Ok(());
    }
    let rows = cx.reshaped(kv, &[tokens, width])?;
    let epsilon = cx.float("epsilon")? as f32;
    let norm = cx.temporary(dtype, &[tokens, compressed])?;
    let gamma = gamma.unsqueeze(0).expand(norm.dims());
    let part = rows.slice(1, 0, compressed, 1);
    cx.rows(Norm { epsilon }, &[Some(part), gamma], &[Some(norm)])?;
    let rotated = cx.temporary(dtype, &[tokens, rest])?;
    let part = rows.slice(1, compressed, rest, 1);
    cx.rows(
        Rotate,
        &[Some(part), tables[0], tables[1]],
        &[Some(rotated)],
    )?;
    let index = int64(cx, index)?;
    let index = cx.reshaped(index, &[tokens])?;
    for (own, param) in [(rotated, "kCacheRef"), (norm, "ckvCacheRef")] {
        store(cx, own, index, param, mode, (batch, len))?;
    }
    if let Some(outs) = outs {
        for (own, out) in [rotated, norm].into_iter().zip(outs) {
            let own = cx.reshaped(own, out.dims())?;
            cx.copy(own, out)?;
        }
    }
    Ok(())
}

/// Writes rows to a cache in place.
fn store(
    cx: &mut Cx<'_>,
    rows: View,
    index: View,
    param: &str,
    mode: Mode,
    (batch, len): (usize, usize),
) -> Result<(), Refusal> {
    let cache = cx.tensor(param)?;
    cx.check_dtype(&cache, rows.dtype())?;
    let width = rows.dims()[1];
    // The middle dimensions are a head and the tokens of a sequence, or the tokens of a block and a head.
    let (parts, block) = match (mode, cache.dims()) {
        (Mode::Sequences, &[sequences, 1, capacity, own]) if own == width && sequences >= batch => {
            (Some((len, capacity)), capacity.max(1))
        }
        (Mode::Blocks | Mode::Columns, &[_, block, 1, own]) if own == width => (None, block),
        (_, dims) => {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {dims:?}; expected [{batch} or more, 1, tokens, {width}] in the mode Norm, and [blocks, tokens of a block, 1, {width}] in the others"
            )));
        }
    };
    if !cache.is_dense() || mode == Mode::Columns && !width.is_multiple_of(COLUMNS) {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?} and the strides {:?}; it must be dense, in the mode PA_NZ with a multiple of 16 columns",
            cache.dims(),
            cache.strides()
        )));
    }
    let kernel = Store {
        operator: cx.name(),
        positions: "index",
        block,
        width,
        by_columns: mode == Mode::Columns,
        parts,
    };
    let rows = cx.dense(rows)?.reinterpret(DataType::UInt16);
    let cache = cache.reinterpret(DataType::UInt16);
    cx.kernel(
        Box::new(kernel),
        &[Some(rows), Some(index)],
        &[cache],
        false,
    )
}
