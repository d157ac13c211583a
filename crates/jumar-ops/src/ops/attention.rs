//! Scaled dot-product attention, with shared key and value heads, a cache, masks and a soft cap; and the rotation of
//! embeddings by their position. The attributes are ONNX's.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Product, Working, generic_kernel};
use crate::onnx::{LATEST, alike, attrs_alike, cast};
use crate::operator::OUTPUT_Y;
use crate::simd::wide::{Work, wide};
use crate::view::{Row, RowMut};
use crate::{
    Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, OutputDef, PrepareCx,
    TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "jumar.Attention",
        onnx: &[OnnxForm::new("Attention", 23, LATEST, |builder, node| {
            let attrs = attrs_alike(node, "jumar.Attention")?;
            let mut inputs = node.inputs().to_vec();
            // Integers are added to the scores as any others; booleans choose.
            if let Some(mask) = node.optional(3)
                && !builder.ty(mask).dtype.is_float()
                && builder.ty(mask).dtype != DataType::Bool
            {
                inputs[3] = Some(cast(builder, mask, DataType::Float32)?);
            }
            builder.add_node("jumar.Attention", &inputs, attrs, node.outputs.max(1))
        })],
        inputs: &[
            InputDef::required("query", Types::FLOAT),
            InputDef::required("key", Types::FLOAT),
            InputDef::required("value", Types::FLOAT),
            InputDef::optional("mask", Types::REAL),
            InputDef::optional("past_key", Types::FLOAT),
            InputDef::optional("past_value", Types::FLOAT),
            InputDef::optional("nonpad_kv_seqlen", Types::INDEX),
            // Ours: a score of each head that takes weight from the keys.
            InputDef::optional("sinks", Types::FLOAT),
        ],
        outputs: &[
            OUTPUT_Y[0],
            OutputDef {
                name: "present_key",
            },
            OutputDef {
                name: "present_value",
            },
            OutputDef {
                name: "qk_matmul_output",
            },
        ],
        attrs: &[
            AttrDef::bool("is_causal", false),
            AttrDef::int("q_num_heads", 0),
            AttrDef::int("kv_num_heads", 0),
            // 0: one over the root of the head's size.
            AttrDef::float("scale", 0.0),
            AttrDef::float("softcap", 0.0),
            AttrDef::int("qk_matmul_output_mode", 0),
            // Softmax is computed in float32 at least, whatever this says.
            AttrDef::int("softmax_precision", 1),
            // How many keys before and after a query's own position it sees; below 0: all.
            AttrDef::int("left_window_size", -1),
            AttrDef::int("right_window_size", -1),
            // Ours: a row of which nothing may be seen becomes what softmax makes of it, and not 0.
            AttrDef::bool("masked_rows_are_nan", false),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx),
        prepare: |cx| generic_kernel(cx, prepare(cx)?, &[0, 1, 2, 3, 4, 5, 7], &[0, 1, 2, 3]),
    },
    &Operator {
        name: "jumar.RotaryEmbedding",
        onnx: &[OnnxForm::new(
            "RotaryEmbedding",
            23,
            LATEST,
            |builder, node| alike(builder, node, "jumar.RotaryEmbedding"),
        )],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("cos_cache", Types::FLOAT),
            InputDef::required("sin_cache", Types::FLOAT),
            InputDef::optional("position_ids", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            AttrDef::bool("interleaved", false),
            AttrDef::int("num_heads", 0),
            AttrDef::int("rotary_embedding_dim", 0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            cx.same_types(0..3)?;
            if cx
                .input(0)?
                .rank()
                .is_some_and(|rank| rank != 3 && rank != 4)
            {
                return Err(OpError::invalid(format!(
                    "the input {} has to have 3 or 4 dimensions",
                    cx.input(0)?
                )));
            }
            Ok(vec![cx.input(0)?.clone()])
        },
        prepare: |cx| generic_kernel(cx, Rotation::new(cx)?, &[0, 1, 2], &[0]),
    },
];

/// Batch, heads, sequence and size of a head, from either form.
fn heads(ty: &TensorType, heads: i64) -> Result<[i64; 4], OpError> {
    match ty.shape[..] {
        [batch, heads, sequence, size] => Ok([batch, heads, sequence, size]),
        [batch, sequence, hidden] => {
            if heads < 1 {
                return Err(OpError::invalid(format!(
                    "{ty} has 3 dimensions, so that the number of heads has to be given"
                )));
            }
            if hidden >= 0 && hidden % heads != 0 {
                return Err(OpError::invalid(format!(
                    "{ty} cannot be split into {heads} heads"
                )));
            }
            Ok([
                batch,
                heads,
                sequence,
                if hidden < 0 { UNKNOWN } else { hidden / heads },
            ])
        }
        _ => Err(OpError::invalid(format!(
            "{ty} has to have 3 or 4 dimensions"
        ))),
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let (query, key, value) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    cx.same_types([0, 1, 4])?;
    cx.same_types([2, 5])?;
    let (dtype, value_dtype) = (query.dtype, value.dtype);
    if !(0..=3).contains(&cx.attrs().int("qk_matmul_output_mode")?) {
        return Err(OpError::invalid(
            "qk_matmul_output_mode has to be 0, 1, 2 or 3",
        ));
    }
    if cx.has(4) != cx.has(5) {
        return Err(OpError::invalid(
            "past_key and past_value have to be given together",
        ));
    }
    if query.rank().is_none() || key.rank().is_none() || value.rank().is_none() {
        let of = TensorType::of_unknown_rank;
        return Ok(vec![of(dtype), of(dtype), of(value_dtype), of(dtype)]);
    }
    if query.rank() != key.rank() || query.rank() != value.rank() {
        return Err(OpError::invalid(format!(
            "{query}, {key} and {value} have to have as many dimensions"
        )));
    }
    let (q_heads, kv_heads) = (
        cx.attrs().int("q_num_heads")?,
        cx.attrs().int("kv_num_heads")?,
    );
    let (q, k, v) = (
        heads(query, q_heads)?,
        heads(key, kv_heads)?,
        heads(value, kv_heads)?,
    );
    let differ = |a: i64, b: i64| a >= 0 && b >= 0 && a != b;
    if differ(q[0], k[0])
        || differ(k[0], v[0])
        || differ(q[3], k[3])
        || differ(k[1], v[1])
        || differ(k[2], v[2])
    {
        return Err(OpError::invalid(format!(
            "{query}, {key} and {value} do not fit each other"
        )));
    }
    if q[1] > 0 && k[1] >= 0 && (k[1] == 0 || q[1] % k[1] != 0) {
        return Err(OpError::invalid(format!(
            "{} heads of queries cannot share {} of keys",
            q[1], k[1]
        )));
    }
    let mut past = 0;
    if cx.has(4) {
        let (key, value) = (cx.input(4)?, cx.input(5)?);
        past = key.shape.get(2).copied().unwrap_or(UNKNOWN);
        for (ty, size) in [(key, k[3]), (value, v[3])] {
            let wanted = [k[0], k[1], past, size];
            if ty.rank().is_some()
                && (ty.shape.len() != 4 || ty.shape.iter().zip(wanted).any(|(&a, b)| differ(a, b)))
            {
                return Err(OpError::invalid(format!(
                    "the cache {ty} has to have the shape {wanted:?}"
                )));
            }
        }
    }
    if cx.has(6) {
        let lengths = cx.input(6)?;
        if cx.has(4) {
            return Err(OpError::invalid(
                "nonpad_kv_seqlen and past_key cannot be given together",
            ));
        }
        if lengths.rank().is_some() && (lengths.shape.len() != 1 || differ(lengths.shape[0], q[0]))
        {
            return Err(OpError::invalid(format!(
                "nonpad_kv_seqlen is {lengths}; it has to have one number for each of {} sequences",
                q[0]
            )));
        }
    }
    if cx.has(7) {
        let sinks = cx.input(7)?;
        if sinks.rank().is_some() && (sinks.shape.len() != 1 || differ(sinks.shape[0], q[1])) {
            return Err(OpError::invalid(format!(
                "the sinks are {sinks}; they have to be one number for each of {} heads",
                q[1]
            )));
        }
    }
    let total = if past < 0 || k[2] < 0 {
        UNKNOWN
    } else {
        past.saturating_add(k[2])
    };
    let scores = [q[0], q[1], q[2], total];
    if cx.has(3) {
        let mask = cx.input(3)?;
        let long = mask.shape.len() > 4;
        // Keys behind the last one of a mask are not seen.
        let wide = mask
            .shape
            .iter()
            .rev()
            .zip(scores.iter().rev())
            .enumerate()
            .any(|(at, (&own, &dim))| own != 1 && differ(own, dim) && (at > 0 || own > dim));
        if mask.rank().is_some() && (long || wide) {
            return Err(OpError::invalid(format!(
                "the mask is {mask}; it has to fit {scores:?}"
            )));
        }
        if mask.dtype != DataType::Bool && !mask.dtype.is_float() {
            return Err(OpError::unsupported(format!(
                "a mask of {} is not supported",
                mask.dtype
            )));
        }
    }
    let y = if query.shape.len() == 4 {
        vec![q[0], q[1], q[2], v[3]]
    } else {
        vec![
            q[0],
            q[2],
            if v[3] < 0 {
                UNKNOWN
            } else {
                q[1].saturating_mul(v[3])
            },
        ]
    };
    Ok(vec![
        TensorType::new(dtype, y),
        TensorType::new(dtype, [k[0], k[1], total, k[3]]),
        TensorType::new(value_dtype, [v[0], v[1], total, v[3]]),
        TensorType::new(dtype, scores),
    ])
}

struct Attention {
    batch: usize,
    heads: usize,
    kv_heads: usize,
    queries: usize,
    keys: usize,
    past: usize,
    size: usize,
    value_size: usize,
    /// Whether a head's rows lie side by side, or those of all heads of a position.
    by_head: bool,
    scale: f64,
    softcap: f64,
    causal: bool,
    mode: i64,
    masked_rows_are_nan: bool,
    /// How many keys before and after a query's own position it sees.
    window: [Option<usize>; 2],
    /// Strides of the mask over batch, head, query and key, and whether it is one of booleans.
    mask: Option<([usize; 4], bool)>,
    /// The number of keys that the mask has.
    masked: usize,
}

fn prepare(cx: &PrepareCx<'_>) -> Result<Attention, OpError> {
    let of = |index: usize, heads_attr: &str| {
        let ty = TensorType::new(
            DataType::Float32,
            cx.shape(index)?
                .iter()
                .map(|&dim| dim as i64)
                .collect::<Vec<_>>(),
        );
        Ok::<_, OpError>(heads(&ty, cx.attrs().int(heads_attr)?)?.map(|dim| dim as usize))
    };
    let (q, k, v) = (
        of(0, "q_num_heads")?,
        of(1, "kv_num_heads")?,
        of(2, "kv_num_heads")?,
    );
    let past = if cx.has(4) { cx.shape(4)?[2] } else { 0 };
    let mut masked = past + k[2];
    let mask = if cx.has(3) {
        let own = cx.shape(3)?;
        masked = match own.last() {
            Some(&keys) if keys > 1 => keys,
            _ => masked,
        };
        let strides = crate::kernels::loops::broadcast_strides(own, &[q[0], q[1], q[2], masked]);
        let strides = [
            strides[0] as usize,
            strides[1] as usize,
            strides[2] as usize,
            strides[3] as usize,
        ];
        Some((strides, cx.dtype(3)? == DataType::Bool))
    } else {
        None
    };
    let scale = match cx.attrs().float("scale")? {
        0.0 if cx.attrs().is_set("scale") => 0.0,
        0.0 => 1.0 / (q[3] as f64).sqrt(),
        scale => scale.into(),
    };
    Ok(Attention {
        batch: q[0],
        heads: q[1],
        kv_heads: k[1],
        queries: q[2],
        keys: k[2],
        past,
        size: q[3],
        value_size: v[3],
        by_head: cx.shape(0)?.len() == 4,
        scale,
        softcap: cx.attrs().float("softcap")?.into(),
        causal: cx.attrs().bool("is_causal")?,
        mode: cx.attrs().int("qk_matmul_output_mode")?,
        masked_rows_are_nan: cx.attrs().bool("masked_rows_are_nan")?,
        window: ["left_window_size", "right_window_size"].map(|name| {
            cx.attrs()
                .int(name)
                .ok()
                .and_then(|size| usize::try_from(size).ok())
        }),
        mask,
        masked,
    })
}

/// The most heads that are worked on at once.
const SLOTS: usize = 8;
/// Attention of fewer multiplications than this is not split among threads.
const SPLIT: usize = 1 << 20;

/// A head's matrix: where it starts and how far apart its rows lie.
#[derive(Clone, Copy)]
struct MatrixOffset {
    start: usize,
    step: usize,
}

impl Attention {
    fn total(&self) -> usize {
        self.past + self.keys
    }

    /// Which keys a query sees. `valid`: how many keys of its sequence count, where that is known only now.
    fn seen(&self, query: usize, valid: Option<usize>) -> std::ops::Range<usize> {
        let position = match valid {
            // It may lie before the first key.
            Some(valid) => valid as isize - self.queries as isize + query as isize,
            None => (self.past + query) as isize,
        };
        let until = |after: usize| (position + 1 + after as isize).max(0) as usize;
        let mut end = self
            .total()
            .min(self.masked)
            .min(valid.unwrap_or(usize::MAX));
        if self.causal {
            end = end.min(until(0));
        }
        let [left, right] = self.window;
        if let Some(right) = right {
            end = end.min(until(right.min(end)));
        }
        let start = left.map_or(0, |left| {
            let left = isize::try_from(left).unwrap_or(isize::MAX);
            position.saturating_sub(left).max(0) as usize
        });
        start.min(end)..end
    }

    /// The number of queries whose scores are in memory at once.
    fn rows(&self) -> usize {
        ((1 << 17) / self.total().max(1))
            .clamp(4, 512)
            .min(self.queries.max(1))
    }

    /// How many heads may be worked on at once, each with scratch memory of its own.
    fn slots(&self) -> usize {
        (self.batch * self.kv_heads).clamp(1, SLOTS)
    }

    fn offset_of(
        &self,
        batch: usize,
        head: usize,
        heads: usize,
        rows: usize,
        size: usize,
    ) -> MatrixOffset {
        if self.by_head {
            MatrixOffset {
                start: (batch * heads + head) * rows * size,
                step: size,
            }
        } else {
            MatrixOffset {
                start: (batch * rows * heads + head) * size,
                step: heads * size,
            }
        }
    }

    fn products(
        &self,
        rows: usize,
        key_step: usize,
        value_step: usize,
        out_step: usize,
    ) -> [Product; 2] {
        let total = self.total();
        let scores = Product {
            ldb: key_step,
            ..Product::dense(rows, total, self.size).turned()
        };
        let values = Product {
            ldb: value_step,
            ldc: out_step,
            ..Product::dense(rows, self.value_size, total)
        };
        [scores, values]
    }

    /// Elements of scratch: scores, joined keys, joined values, panels.
    fn parts(&self) -> [usize; 4] {
        let joined = if self.past > 0 { self.total() } else { 0 };
        let [scores, values] =
            self.products(self.rows(), self.size, self.value_size, self.value_size);
        [
            self.rows() * self.total(),
            joined * self.size,
            joined * self.value_size,
            scores.panels().max(values.panels()),
        ]
    }

    /// Puts the cache of one head and what is new after it one behind the other.
    fn join<W: Working>(
        &self,
        past: Option<Row<'_, W>>,
        at: usize,
        new: Row<'_, W>,
        offset: MatrixOffset,
        size: usize,
        to: RowMut<'_, W>,
    ) {
        if let Some(past) = past {
            to.slice(0, self.past * size)
                .copy_from(past.slice(at * self.past * size, self.past * size));
        }
        for row in 0..self.keys {
            to.slice((self.past + row) * size, size)
                .copy_from(new.slice(offset.start + row * offset.step, size));
        }
    }
}

impl Algorithm for Attention {
    fn scratch(&self) -> usize {
        self.parts().iter().sum::<usize>() * self.slots()
    }

    fn run<'a, W: Working>(&self, io: &Io<'a, W>) -> Result<(), OpError> {
        let (query, key, value) = (io.input(0)?, io.input(1)?, io.input(2)?);
        let (mask, past_key, past_value) = (io.optional(3)?, io.optional(4)?, io.optional(5)?);
        let lengths = if io.has(6) { Some(io.ints(6)?) } else { None };
        let sinks = io.optional(7)?;
        let out = io.output(0)?;
        let (present_key, present_value, shown) = (io.wanted(1)?, io.wanted(2)?, io.wanted(3)?);
        let (total, size, value_size) = (self.total(), self.size, self.value_size);
        let scratch = io.scratch()?;
        let each = self.parts().iter().sum::<usize>();
        let group = self.heads.checked_div(self.kv_heads).unwrap_or(1).max(1);
        let (units, slots) = (self.batch * self.kv_heads, self.slots());
        let unit = |index: usize, [scores, keys, values, panels]: [RowMut<'_, W>; 4]| {
            let (batch, kv_head) = (index / self.kv_heads, index % self.kv_heads);
            let valid = lengths.map(|lengths| lengths.get(batch).clamp(0, total as i64) as usize);
            let key_offset = self.offset_of(batch, kv_head, self.kv_heads, self.keys, size);
            let value_offset = self.offset_of(batch, kv_head, self.kv_heads, self.keys, value_size);
            if let Some(present) = present_key {
                self.join(
                    past_key,
                    index,
                    key,
                    key_offset,
                    size,
                    present.slice(index * total * size, total * size),
                );
            }
            if let Some(present) = present_value {
                let to = present.slice(index * total * value_size, total * value_size);
                self.join(past_value, index, value, value_offset, value_size, to);
            }
            let behind = |row: Row<'a, W>, start: usize| {
                let start = start.min(row.len());
                row.slice(start, row.len() - start)
            };
            let (mut own_keys, mut key_step) = (behind(key, key_offset.start), key_offset.step);
            let (mut own_values, mut value_step) =
                (behind(value, value_offset.start), value_offset.step);
            if self.past > 0 {
                self.join(past_key, index, key, key_offset, size, keys);
                self.join(past_value, index, value, value_offset, value_size, values);
                (own_keys, key_step) = (keys.as_row(), size);
                (own_values, value_step) = (values.as_row(), value_size);
            }
            for head in kv_head * group..(kv_head + 1) * group {
                let query_offset = self.offset_of(batch, head, self.heads, self.queries, size);
                let out_offset = self.offset_of(batch, head, self.heads, self.queries, value_size);
                for first in (0..self.queries).step_by(self.rows()) {
                    let rows = self.rows().min(self.queries - first);
                    let [by_key, by_value] =
                        self.products(rows, key_step, value_step, out_offset.step);
                    let from = (query_offset.start + first * query_offset.step).min(query.len());
                    let by_key = Product {
                        lda: query_offset.step,
                        ..by_key
                    };
                    by_key.run(
                        query.slice(from, query.len() - from),
                        own_keys,
                        scores,
                        panels,
                    );
                    for row in 0..rows {
                        let at = first + row;
                        let shown = shown.map(|shown| {
                            let to = ((batch * self.heads + head) * self.queries + at) * total;
                            (self.mode, shown.slice(to, total))
                        });
                        let mask = mask.zip(self.mask).map(|(mask, (strides, boolean))| {
                            let from = batch * strides[0] + head * strides[1] + at * strides[2];
                            (
                                mask.stepped(from, self.masked.min(total), strides[3]),
                                boolean,
                            )
                        });
                        wide(Line {
                            line: scores.slice(row * total, total),
                            scale: W::of(self.scale),
                            cap: (self.softcap > 0.0).then(|| W::of(self.softcap)),
                            mask,
                            seen: self.seen(at, valid),
                            sink: sinks.map(|sinks| sinks.get(head)),
                            keep_nan: self.masked_rows_are_nan,
                            shown,
                        });
                    }
                    let to = (out_offset.start + first * out_offset.step).min(out.len());
                    by_value.run(
                        scores.as_row(),
                        own_values,
                        out.slice(to, out.len() - to),
                        panels,
                    );
                }
            }
        };
        let work = |slot: usize| {
            let mut at = slot * each;
            let parts = self.parts().map(|len| {
                at += len;
                scratch.slice(at - len, len)
            });
            (slot..units)
                .step_by(slots)
                .for_each(|index| unit(index, parts));
        };
        let workers = io.call.workers();
        let products = units * group * self.queries * total * (size + value_size);
        if workers.threads() < 2 || products < SPLIT {
            (0..slots).for_each(work);
        } else {
            workers.each(slots, work);
        }
        Ok(())
    }
}

/// From one query's products with the keys to its weights.
struct Line<'a, W> {
    line: RowMut<'a, W>,
    scale: W,
    cap: Option<W>,
    /// What is added, or says what may be seen.
    mask: Option<(Row<'a, W>, bool)>,
    /// Which keys may be seen.
    seen: std::ops::Range<usize>,
    /// A further score, of no key.
    sink: Option<W>,
    keep_nan: bool,
    /// Which of the steps is an output, and which one.
    shown: Option<(i64, RowMut<'a, W>)>,
}

impl<W: Working> Work for Line<'_, W> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Line { line, scale, .. } = self;
        let show = |mode: i64| {
            if let Some((_, shown)) = self.shown.filter(|&(own, _)| own == mode) {
                shown.copy_from(line.as_row());
            }
        };
        let minus = W::LOWEST;
        line.map1(line.as_row(), |x| x * scale);
        show(0);
        if let Some(cap) = self.cap {
            line.map1_each(line.as_row(), |x| (x / cap).tanh() * cap);
        }
        show(1);
        match self.mask {
            Some((mask, false)) => line.slice(0, mask.len()).update(mask, |x, own| x + own),
            Some((mask, true)) => line
                .slice(0, mask.len())
                .update(mask, |x, own| if own == W::zero() { minus } else { x }),
            None => {}
        }
        line.slice(0, self.seen.start).fill(minus);
        line.slice(self.seen.end, line.len() - self.seen.end)
            .fill(minus);
        show(2);
        let most = line
            .as_row()
            .fold_wide(minus, |most, x| most.most(x), |a, b| a.most(b));
        let most = self.sink.map_or(most, |sink| most.most(sink));
        if most == minus && !self.keep_nan {
            // Nothing may be seen: the result is 0, not the mean of everything.
            line.fill(W::zero());
        } else {
            line.map1(
                line.as_row(),
                #[inline(always)]
                |x| (x - most).exp_at::<FUSED>(),
            );
            let add = |a: W, b: W| a + b;
            let sum = line.as_row().fold_wide(W::zero(), add, add);
            let sum = self
                .sink
                .map_or(sum, |sink| sum + (sink - most).exp_at::<FUSED>());
            line.map1(line.as_row(), |x| x / sum);
        }
        show(3);
    }
}

struct Rotation {
    batch: usize,
    heads: usize,
    sequence: usize,
    size: usize,
    turned: usize,
    by_head: bool,
    interleaved: bool,
    /// Positions in the tables, where position numbers choose them.
    positions: usize,
}

impl Rotation {
    fn new(cx: &PrepareCx<'_>) -> Result<Rotation, OpError> {
        let (x, cos, sin) = (cx.shape(0)?, cx.shape(1)?, cx.shape(2)?);
        let by_head = x.len() == 4;
        let (batch, heads, sequence, size) = if by_head {
            (x[0], x[1], x[2], x[3])
        } else {
            let heads = cx.attrs().int("num_heads")?;
            if heads < 1 || x[2] % heads as usize != 0 {
                return Err(OpError::invalid(format!(
                    "{x:?} cannot be split into num_heads = {heads}"
                )));
            }
            (x[0], heads as usize, x[1], x[2] / heads as usize)
        };
        let turned = match cx.attrs().int("rotary_embedding_dim")? {
            0 => size,
            turned if turned > 0 && turned as usize <= size && turned % 2 == 0 => turned as usize,
            turned => {
                return Err(OpError::invalid(format!(
                    "rotary_embedding_dim is {turned}, and a head has {size} numbers"
                )));
            }
        };
        let wanted = if cx.has(3) { 2 } else { 3 };
        let fits =
            cos == sin && cos.len() == wanted && cos[wanted - 1] == turned / 2 && turned % 2 == 0;
        let fits = fits && (wanted == 2 || (cos[0] == batch && cos[1] == sequence));
        if !fits || (cx.has(3) && cx.shape(3)? != [batch, sequence]) {
            return Err(OpError::invalid(format!(
                "tables of {cos:?} and {sin:?} do not fit {batch} sequences of {sequence} and {} pairs",
                turned / 2
            )));
        }
        let positions = cos[0];
        Ok(Rotation {
            batch,
            heads,
            sequence,
            size,
            turned,
            by_head,
            interleaved: cx.attrs().bool("interleaved")?,
            positions,
        })
    }
}

impl Algorithm for Rotation {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, cos, sin, out) = (io.input(0)?, io.input(1)?, io.input(2)?, io.output(0)?);
        let positions = if io.has(3) { Some(io.ints(3)?) } else { None };
        let half = self.turned / 2;
        for batch in 0..self.batch {
            for at in 0..self.sequence {
                let row = match positions {
                    None => batch * self.sequence + at,
                    Some(positions) => {
                        let position = positions.get(batch * self.sequence + at);
                        usize::try_from(position)
                            .ok()
                            .filter(|&position| position < self.positions)
                            .ok_or_else(|| {
                                OpError::data(format!(
                                    "the position {position} is outside tables of {}",
                                    self.positions
                                ))
                            })?
                    }
                };
                let (cos, sin) = (cos.slice(row * half, half), sin.slice(row * half, half));
                for head in 0..self.heads {
                    let index = if self.by_head {
                        (batch * self.heads + head) * self.sequence + at
                    } else {
                        (batch * self.sequence + at) * self.heads + head
                    };
                    let (x, out) = (
                        x.slice(index * self.size, self.size),
                        out.slice(index * self.size, self.size),
                    );
                    out.copy_from(x);
                    for pair in 0..half {
                        let (one, two) = if self.interleaved {
                            (2 * pair, 2 * pair + 1)
                        } else {
                            (pair, half + pair)
                        };
                        let (c, s) = (cos.get(pair), sin.get(pair));
                        out.set(one, c * x.get(one) - s * x.get(two));
                        out.set(two, s * x.get(one) + c * x.get(two));
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("attention");
    }

    #[test]
    fn a_position_outside_the_tables_is_refused() {
        let inputs = [
            noise(&[1, 1, 1, 4], 1),
            noise(&[3, 2], 2),
            noise(&[3, 2], 3),
            i64s(&[1, 1], &[3]),
        ];
        refuse("jumar.RotaryEmbedding", &inputs, none(), "position 3");
    }
}
