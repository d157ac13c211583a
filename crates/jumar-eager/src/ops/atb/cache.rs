//! Rows that are written to, and read from, caches of keys and values in blocks.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::refused::Refused;
use crate::build::Cx;
use crate::ops::dense::bad_data;
use crate::ops::index;
use crate::view::View;
use crate::{Arg, Refusal, Signature};

static WRITE: Signature = signature!("ReshapeAndCacheOperation":
    key In, value In, keyCache InOut, valueCache InOut, slotMapping In, inBlocks Bool);

static READ: Signature = signature!("PagedCacheLoadOperation":
    keyCache In, valueCache In, blockTables In, contextLens In, seqStarts In, key Out, value Out,
    inBlocks Bool, cumulative Bool);

/// The types of keys and values.
const ENTRIES: &[DataType] = &[DataType::Float16, DataType::BFloat16, DataType::Int8];
const INT32: &[DataType] = &[DataType::Int32];

/// Returns how many elements of a type lie side by side in a cache whose format is FRACTAL_NZ.
fn block_width(dtype: DataType) -> i64 {
    match dtype {
        DataType::Int8 => 32,
        _ => 16,
    }
}

pub(super) fn reshape_and_cache(fields: &Fields<'_>) -> Result<Form, Refused> {
    fields.only("compressType", 0)?;
    let (values, in_blocks) = fields.choice(
        "kvCacheCfg",
        &[(0, (true, false)), (1, (false, false)), (2, (true, true))],
    )?;
    let cache = |name| {
        let slot = Slot::new(name, ENTRIES, 4..=4);
        if in_blocks { slot.blocked() } else { slot }
    };
    let mut inputs = vec![Slot::new("key", ENTRIES, 2..=3)];
    let mut outputs = vec![Slot::out("keyCache")];
    if values {
        // In blocks, keys and values may differ in type.
        let value = Slot::new("value", ENTRIES, 2..=3);
        inputs.push(if in_blocks { value } else { value.like("key") });
    }
    inputs.push(cache("keyCache").like("key"));
    if values {
        inputs.push(cache("valueCache").like("value"));
        outputs.push(Slot::out("valueCache"));
    }
    inputs.push(Slot::new("slotMapping", INT32, 1..=1));
    if in_blocks {
        outputs = outputs.into_iter().map(Slot::blocked).collect();
    }
    Ok(Form {
        signature: &WRITE,
        inputs,
        outputs,
        values: vec![("inBlocks", Arg::Bool(in_blocks))],
        infer: infer_write,
        plan: plan_write,
    })
}

/// Returns the width of the rows of a cache.
fn cache_width(inputs: &Inputs<'_>, name: &str) -> Result<i64, Refused> {
    let &[_, second, third, last] = inputs.dims(name) else {
        return Err(inputs.refuse(format!("{name} has four dimensions")));
    };
    if inputs.int("inBlocks") == 0 {
        return Ok(third.saturating_mul(last));
    }
    let wanted = block_width(inputs.dtype(name));
    match last == wanted {
        true => Ok(second.saturating_mul(last)),
        false => Err(inputs.refuse(format!(
            "{name} has the shape {:?}; the last dimension of a cache in the format FRACTAL_NZ is {wanted}",
            inputs.dims(name)
        ))),
    }
}

/// Returns the number of blocks and of rows in each block of a cache.
fn cache_rows(inputs: &Inputs<'_>, name: &str) -> (i64, i64) {
    let dims = inputs.dims(name);
    match inputs.int("inBlocks") != 0 {
        true => (dims[0], dims[2]),
        false => (dims[0], dims[1]),
    }
}

fn infer_write(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let tokens = inputs.dims("slotMapping")[0];
    let mut outputs = Vec::new();
    for (rows, cache) in [("key", "keyCache"), ("value", "valueCache")] {
        if !inputs.has(cache) {
            continue;
        }
        let (dims, width) = (inputs.dims(rows), cache_width(inputs, cache)?);
        let own: i64 = dims[1..].iter().product();
        if dims[0] != tokens || own != width {
            return Err(inputs.refuse(format!(
                "{rows} has the shape {dims:?} and {cache} {:?}; expected {tokens} tokens, as slotMapping has, of {width} entries",
                inputs.dims(cache)
            )));
        }
        if cache_rows(inputs, cache) != cache_rows(inputs, "keyCache") {
            return Err(inputs.refuse(format!(
                "{cache} has the shape {:?} and keyCache {:?}; both have the same blocks",
                inputs.dims(cache),
                inputs.dims("keyCache")
            )));
        }
        outputs.push(inputs.same(cache));
    }
    Ok(outputs)
}

/// How the rows of a cache lie: in one piece, or in pieces that are `rows` pieces apart.
#[derive(Clone, Copy)]
struct Pieces {
    blocks: usize,
    /// Rows of a block.
    rows: usize,
    /// Pieces of a row.
    count: usize,
}

impl Pieces {
    /// Returns the pieces of a cache, and the cache as a table of them.
    fn of(cx: &mut Cx<'_>, cache: View, in_blocks: bool) -> Result<(Pieces, View), Refusal> {
        let &[blocks, second, third, last] = cache.dims() else {
            return Err(cx.defect("a cache has four dimensions"));
        };
        let (pieces, width) = match in_blocks {
            true => (
                Pieces {
                    blocks,
                    rows: third,
                    count: second,
                },
                last,
            ),
            false => (
                Pieces {
                    blocks,
                    rows: second,
                    count: 1,
                },
                third * last,
            ),
        };
        let table = cx.reshaped(cache, &[blocks * pieces.rows * pieces.count, width])?;
        Ok((pieces, table))
    }

    /// Returns where a piece of a row lies in the table.
    fn position(self, row: usize, piece: usize) -> i64 {
        let (block, inside) = (row / self.rows, row % self.rows);
        ((block * self.count + piece) * self.rows + inside) as i64
    }
}

/// Computes where the pieces of rows lie from the slots of the rows; -1 for a row that is skipped.
struct Slots(Pieces);

impl Kernel for Slots {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (slots, out) = (call.input::<i32>(0)?.flat(), call.output::<i64>(0)?.flat());
        let pieces = self.0;
        let all = pieces.blocks * pieces.rows;
        for token in 0..slots.len() {
            let slot = slots.get(token);
            let row = usize::try_from(slot).ok();
            if row.is_some_and(|row| row >= all) {
                return Err(bad_data(format!(
                    "ReshapeAndCacheOperation: slotMapping[{token}] is {slot}; the cache has {all} slots, and a negative one skips the token"
                )));
            }
            for piece in 0..pieces.count {
                let position = row.map_or(-1, |row| pieces.position(row, piece));
                out.set(token * pieces.count + piece, position);
            }
        }
        Ok(())
    }
}

fn plan_write(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let slots = cx.tensor("slotMapping")?;
    let (slots, in_blocks) = (cx.dense(slots)?, cx.flag("inBlocks")?);
    for (rows, cache) in [("key", "keyCache"), ("value", "valueCache")] {
        let Some(table) = cx.optional(cache)? else {
            continue;
        };
        let rows = cx.tensor(rows)?;
        let (pieces, table) = Pieces::of(cx, table, in_blocks)?;
        let count = slots.elements() * pieces.count;
        let positions = cx.temporary(DataType::Int64, &[count])?;
        cx.kernel(Box::new(Slots(pieces)), &[Some(slots)], &[positions], false)?;
        let rows = cx.reshaped(rows, &[count, table.dims()[1]])?;
        index::rows_in(cx, rows, positions, table)?;
    }
    Ok(())
}

pub(super) fn paged_cache_load(fields: &Fields<'_>) -> Result<Form, Refused> {
    let in_blocks = fields.choice("kvCacheCfg", &[(0, true), (1, false)])?;
    let (cumulative, starts) = (
        fields.flag("isSeqLensCumsumType")?,
        fields.flag("hasSeqStarts")?,
    );
    if in_blocks && (cumulative || starts) {
        return Err(Refused::param(
            "kvCacheCfg is 0 (FRACTAL_NZ), which is not supported with isSeqLensCumsumType or hasSeqStarts",
        ));
    }
    let cache = |name| {
        let slot = Slot::new(name, ENTRIES, 4..=4);
        if in_blocks { slot.blocked() } else { slot }
    };
    let starts_slot = Slot::new("seqStarts", INT32, 1..=1);
    Ok(Form {
        signature: &READ,
        inputs: vec![
            cache("keyCache"),
            cache("valueCache"),
            Slot::new("blockTables", INT32, 2..=2),
            Slot::new("contextLens", INT32, 1..=1),
            // The rows that are read are outputs: their shapes count the tokens.
            Slot::new("keyRows", ENTRIES, 2..=3).like("keyCache"),
            Slot::new("valueRows", ENTRIES, 2..=3).like("valueCache"),
            if starts {
                starts_slot
            } else {
                starts_slot.optional()
            },
        ],
        outputs: vec![Slot::out("key"), Slot::out("value")],
        values: vec![
            ("inBlocks", Arg::Bool(in_blocks)),
            ("cumulative", Arg::Bool(cumulative)),
        ],
        infer: infer_read,
        plan: plan_read,
    })
}

fn infer_read(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let sequences = inputs.dims("blockTables")[0];
    let lengths = inputs.dims("contextLens")[0];
    let wanted = sequences + i64::from(inputs.int("cumulative") != 0);
    if lengths != wanted {
        return Err(inputs.refuse(format!(
            "contextLens has {lengths} entries; expected {wanted} for {sequences} sequences"
        )));
    }
    if inputs.has("seqStarts") && inputs.dims("seqStarts")[0] != sequences {
        return Err(inputs.refuse(format!(
            "seqStarts has the shape {:?}; expected an entry for each of {sequences} sequences",
            inputs.dims("seqStarts")
        )));
    }
    let tokens = inputs.dims("keyRows")[0];
    for (rows, cache) in [("keyRows", "keyCache"), ("valueRows", "valueCache")] {
        let (dims, width) = (inputs.dims(rows), cache_width(inputs, cache)?);
        let own: i64 = dims[1..].iter().product();
        if own != width || dims[0] != tokens {
            return Err(inputs.refuse(format!(
                "{rows} has the shape {dims:?}; expected {tokens} tokens of {width} entries, as {cache} has"
            )));
        }
        if cache_rows(inputs, cache) != cache_rows(inputs, "keyCache") {
            return Err(inputs.refuse(format!(
                "{cache} has the shape {:?} and keyCache {:?}; both have the same blocks",
                inputs.dims(cache),
                inputs.dims("keyCache")
            )));
        }
    }
    Ok(vec![inputs.same("keyRows"), inputs.same("valueRows")])
}

/// Computes where the pieces of the rows of all sequences lie. Inputs: the table of blocks, the lengths, the starts.
struct Loads {
    pieces: Pieces,
    cumulative: bool,
    tokens: usize,
}

impl Kernel for Loads {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let table = call.input::<i32>(0)?;
        let (sequences, entries) = (table.shape()[0], table.shape()[1]);
        let (table, lengths) = (table.flat(), call.input::<i32>(1)?.flat());
        let starts = match call.has_input(2) {
            true => Some(call.input::<i32>(2)?.flat()),
            false => None,
        };
        let out = call.output::<i64>(0)?.flat();
        let (pieces, mut token) = (self.pieces, 0);
        let refuse = |text: String| bad_data(format!("PagedCacheLoadOperation: {text}"));
        for sequence in 0..sequences {
            let length = match self.cumulative {
                true => lengths
                    .get(sequence + 1)
                    .wrapping_sub(lengths.get(sequence)),
                false => lengths.get(sequence),
            };
            let start = starts.map_or(0, |starts| starts.get(sequence));
            let (Ok(length), Ok(start)) = (usize::try_from(length), usize::try_from(start)) else {
                return Err(refuse(format!(
                    "sequence {sequence} has the length {length} and the start {start}; neither is negative"
                )));
            };
            if token + length > self.tokens {
                return Err(refuse(format!(
                    "contextLens counts {} tokens up to sequence {sequence}; key and value have {}",
                    token + length,
                    self.tokens
                )));
            }
            for own in 0..length {
                let (entry, inside) = ((start + own) / pieces.rows, (start + own) % pieces.rows);
                let block = match entry < entries {
                    true => table.get(sequence * entries + entry),
                    false => -1,
                };
                let inner = usize::try_from(block)
                    .ok()
                    .filter(|block| *block < pieces.blocks);
                let Some(block) = inner else {
                    return Err(refuse(format!(
                        "blockTables has {block} for position {} of sequence {sequence}; it must be between 0 and {}",
                        start + own,
                        pieces.blocks as i64 - 1
                    )));
                };
                for piece in 0..pieces.count {
                    let position = pieces.position(block * pieces.rows + inside, piece);
                    out.set(token * pieces.count + piece, position);
                }
                token += 1;
            }
        }
        // Rows behind the last token are zeros.
        for rest in token * pieces.count..self.tokens * pieces.count {
            out.set(rest, -1);
        }
        Ok(())
    }
}

fn plan_read(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (table, lengths) = (cx.tensor("blockTables")?, cx.tensor("contextLens")?);
    let (table, lengths) = (cx.dense(table)?, cx.dense(lengths)?);
    let starts = match cx.optional("seqStarts")? {
        Some(starts) => Some(cx.dense(starts)?),
        None => None,
    };
    let (in_blocks, cumulative) = (cx.flag("inBlocks")?, cx.flag("cumulative")?);
    for (cache, rows) in [("keyCache", "key"), ("valueCache", "value")] {
        let (cache, out) = (cx.tensor(cache)?, cx.out(rows)?);
        let (pieces, rows) = Pieces::of(cx, cache, in_blocks)?;
        let tokens = out.dims()[0];
        let positions = cx.temporary(DataType::Int64, &[tokens * pieces.count])?;
        let kernel = Loads {
            pieces,
            cumulative,
            tokens,
        };
        let inputs = [Some(table), Some(lengths), starts];
        cx.kernel(Box::new(kernel), &inputs, &[positions], false)?;
        let out = cx.reshaped(out, &[tokens * pieces.count, rows.dims()[1]])?;
        index::rows_at(cx, rows, positions, out)?;
    }
    Ok(())
}
