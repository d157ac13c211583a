//! Queries and keys of latent attention (MLA) from tokens: products with the weights, norms, rotations, and the cache of keys.
//!
//! Not documented: the rotation. As in the model that latent attention comes from, the even entries are the first half and the odd
//! ones the second, `out = x * cos + rotate_half(x) * sin` behind that. Between the products, values are rounded to the type of the
//! tokens.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::Table;
use super::matrix::multiply;
use super::products::matrices;
use super::routing::int64;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Arg, Refusal};

pub(crate) static TABLE: &Table = &[
    ("aclnnMlaPrologV2WeightNz", second),
    ("aclnnMlaPrologV3WeightNz", third),
];

const BRAIN: DataType = DataType::BFloat16;

/// Columns of a block of a cache in blocks.
pub(super) const COLUMNS: usize = 16;

/// `out = gamma * x / sqrt(mean(x^2) + epsilon)`
pub(super) struct Norm {
    pub(super) epsilon: f32,
}

impl RowFunction for Norm {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out) = (rows.input(0), rows.output(0));
        let squares = x.fold_wide(0.0, |sum, x| sum + x * x, |one, two| one + two);
        let factor = 1.0 / (squares / x.len() as f32 + self.epsilon).sqrt();
        out.map2(x, rows.input(1), |x, gamma| x * factor * gamma);
    }
}

/// The rotation of a row: its even and odd entries are the two halves.
pub(super) struct Rotate;

impl RowFunction for Rotate {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, cos, sin, out) = (rows.input(0), rows.input(1), rows.input(2), rows.output(0));
        let half = out.len() / 2;
        for at in 0..half {
            let (one, two) = (x.get(2 * at), x.get(2 * at + 1));
            out.set(at, one * cos.get(at) - two * sin.get(at));
            out.set(
                half + at,
                two * cos.get(half + at) + one * sin.get(half + at),
            );
        }
    }
}

/// Writes rows to a cache of blocks of tokens. Inputs, dense: the rows as 16-bit words, and their positions, int64; -1 stands for none.
/// The output is the cache, of which the other rows stay as they are.
pub(super) struct Store {
    pub(super) operator: &'static str,
    /// The parameter with the positions.
    pub(super) positions: &'static str,
    /// Tokens of a block.
    pub(super) block: usize,
    pub(super) width: usize,
    /// Blocks of 16 columns lie behind each other, instead of rows.
    pub(super) by_columns: bool,
    /// Where each sequence has a part of the cache: the tokens of a sequence, and the rows of its part, in which positions count.
    pub(super) parts: Option<(usize, usize)>,
}

impl Kernel for Store {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (rows, positions) = (call.input::<u16>(0)?.flat(), call.input::<i64>(1)?.flat());
        let cache = call.output::<u16>(0)?.flat();
        let size = self
            .parts
            .map_or(cache.len() / self.width, |(_, rows)| rows);
        for row in 0..positions.len() {
            let position = positions.get(row);
            if position == -1 {
                continue;
            }
            let Some(position) = usize::try_from(position).ok().filter(|own| *own < size) else {
                let text = format!(
                    "{}: {}[{row}] is {position}; it must be between 0 and {}",
                    self.operator,
                    self.positions,
                    size as i64 - 1
                );
                return Err(OpError::new(OpErrorKind::Data, text));
            };
            let position = match self.parts {
                Some((tokens, rows)) => row / tokens * rows + position,
                None => position,
            };
            let (block, slot) = (position / self.block, position % self.block);
            for column in 0..self.width {
                let at = match self.by_columns {
                    true => {
                        (block * self.width / COLUMNS + column / COLUMNS) * self.block * COLUMNS
                            + slot * COLUMNS
                            + column % COLUMNS
                    }
                    false => position * self.width + column,
                };
                cache.set(at, rows.get(row * self.width + column));
            }
        }
        Ok(())
    }
}

/// Refuses tensors of the modes that quantise.
fn check_plain(cx: &Cx<'_>) -> Result<(), Refusal> {
    for param in [
        "tokenX",
        "weightDq",
        "weightUqQr",
        "weightDkvKr",
        "kvCacheRef",
    ] {
        let dtype = cx.tensor(param)?.dtype();
        if dtype != BRAIN && (dtype == DataType::Int8 || dtype.is_float() && dtype.bits() <= 8) {
            return Err(cx.unsupported(format_args!(
                "{param} of {dtype}: quantised modes are not supported"
            )));
        }
    }
    for param in [
        "dequantScaleXOptional",
        "dequantScaleWDqOptional",
        "dequantScaleWUqQrOptional",
        "dequantScaleWDkvKrOptional",
        "quantScaleCkvOptional",
        "quantScaleCkrOptional",
        "smoothScalesCqOptional",
    ] {
        if cx.optional(param)?.is_some_and(|view| !view.is_empty()) {
            return Err(cx.invalid(format_args!(
                "{param} is for quantised modes; pass a null pointer with weights of bfloat16"
            )));
        }
    }
    Ok(())
}

/// Returns a weight under its own shape. It is stored row by row, or in blocks.
fn weight(cx: &mut Cx<'_>, param: &str) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    cx.check_dtype(&view, BRAIN)?;
    let stored = match cx.arg(param)? {
        Arg::Tensor(tensor) => tensor.desc.storage.len(),
        _ => 0,
    };
    match view.dims() {
        &[rows, columns] if stored == 4 => matrices(cx, param, 2, [rows, columns]),
        &[_, _] => Ok(view),
        dims => Err(cx.invalid(format_args!(
            "{param} has the shape {dims:?}; expected two dimensions"
        ))),
    }
}

/// Multiplies matrices of bfloat16; the result is float32.
fn product(cx: &mut Cx<'_>, one: View, two: View) -> Result<View, Refusal> {
    let (rows, columns) = (one.dims()[0], two.dims()[1]);
    if one.dims()[1] != two.dims()[0] {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have {} rows",
            cx.param_of(&two),
            two.dims(),
            one.dims()[1]
        )));
    }
    let out = cx.temporary(DataType::Float32, &[rows, columns])?;
    multiply(cx, one, two, out)?;
    Ok(out)
}

/// Returns the norm of rows in bfloat16.
fn norm(cx: &mut Cx<'_>, x: View, gamma: &str, epsilon: &str) -> Result<View, Refusal> {
    let gamma = cx.tensor(gamma)?;
    cx.check_dtype(&gamma, BRAIN)?;
    cx.check_dims(&gamma, &[x.dims()[1]])?;
    let function = Norm {
        epsilon: cx.float(epsilon)? as f32,
    };
    let out = cx.temporary(BRAIN, x.dims())?;
    let gamma = gamma.unsqueeze(0).expand(x.dims());
    cx.rows(function, &[Some(x), gamma], &[Some(out)])?;
    Ok(out)
}

/// Writes rows to a cache in place.
fn store(
    cx: &mut Cx<'_>,
    rows: View,
    positions: View,
    param: &str,
    by_columns: bool,
) -> Result<(), Refusal> {
    let cache = cx.tensor(param)?;
    cx.check_dtype(&cache, BRAIN)?;
    let width = rows.dims()[1];
    let &[_, block, 1, own] = cache.dims() else {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; expected [blocks, tokens of a block, 1, {width}]",
            cache.dims()
        )));
    };
    if own != width || !cache.is_dense() || by_columns && !width.is_multiple_of(COLUMNS) {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?} and the strides {:?}; it must be dense, with {width} columns{}",
            cache.dims(),
            cache.strides(),
            if by_columns { ", a multiple of 16" } else { "" }
        )));
    }
    if cache.is_empty() || rows.is_empty() {
        return Ok(());
    }
    let kernel = Store {
        operator: cx.name(),
        positions: "cacheIndex",
        block,
        width,
        by_columns,
        parts: None,
    };
    let rows = cx.dense(rows)?.reinterpret(DataType::UInt16);
    let cache = cache.reinterpret(DataType::UInt16);
    cx.kernel(
        Box::new(kernel),
        &[Some(rows), Some(positions)],
        &[cache],
        false,
    )
}

/// Rotates rows; sines and cosines have a row for each token.
fn rotate(cx: &mut Cx<'_>, x: View, out: View) -> Result<(), Refusal> {
    let (tokens, width) = (x.dims()[0], x.dims()[x.rank() - 1]);
    let mut tables = [None; 2];
    for (slot, param) in tables.iter_mut().zip(["ropeCos", "ropeSin"]) {
        let table = cx.tensor(param)?;
        cx.check_dtype(&table, BRAIN)?;
        if table.dims().last() != Some(&width) || table.elements() != tokens * width {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {:?}; it must have a row of {width} for each of {tokens} tokens",
                table.dims()
            )));
        }
        let table = cx.reshaped(table, &[tokens, width])?;
        let table = if x.rank() == 3 {
            table.unsqueeze(1)
        } else {
            table
        };
        *slot = table.expand(x.dims());
    }
    let [cos, sin] = tables;
    cx.rows(Rotate, &[Some(x), cos, sin], &[Some(out)])
}

/// What the third form has beside the second.
struct Further {
    normalised: Option<View>,
}

fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let positions = cx.tensor("cacheIndex")?;
    plan(cx, positions, &Further { normalised: None })
}

fn third(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    for param in [
        "weightQuantMode",
        "kvCacheQuantMode",
        "queryQuantMode",
        "ckvkrRepoMode",
        "quantScaleRepoMode",
    ] {
        let mode = cx.int(param)?;
        if mode != 0 {
            return Err(cx.unsupported(format_args!(
                "{param} is {mode}: quantised modes are not supported"
            )));
        }
    }
    for param in ["qcQrScale", "kcScale"] {
        let scale = cx.float(param)?;
        if scale != 1.0 {
            return Err(cx.unsupported(format_args!("{param} is {scale}: only 1 is supported")));
        }
    }
    let Some(positions) = cx.optional("cacheIndexOptional")? else {
        return Err(
            cx.unsupported("cacheIndexOptional is null: caches without an index are not supported")
        );
    };
    let normalised = match cx.flag("queryNormFlag")? {
        true => Some(cx.tensor("queryNormOutOptional")?),
        false => None,
    };
    plan(cx, positions, &Further { normalised })
}

fn plan(cx: &mut Cx<'_>, positions: View, further: &Further) -> Result<(), Refusal> {
    check_plain(cx)?;
    let x = cx.tensor("tokenX")?;
    cx.check_dtype(&x, BRAIN)?;
    if !matches!(x.rank(), 2 | 3) {
        return Err(cx.invalid(format_args!(
            "tokenX has the shape {:?}; expected 2 or 3 dimensions",
            x.dims()
        )));
    }
    let by_columns = match cx.text("cacheModeOptional")? {
        "" | "PA_BSND" => false,
        "PA_NZ" => true,
        "BSND" | "TND" | "PA_BLK_BSND" | "PA_BLK_NZ" => {
            return Err(cx.unsupported(format_args!(
                "cacheModeOptional {:?} is not supported; PA_BSND and PA_NZ are",
                cx.text("cacheModeOptional")?
            )));
        }
        mode => {
            return Err(cx.invalid(format_args!(
                "cacheModeOptional is {mode:?}; it must be \"PA_BSND\" or \"PA_NZ\""
            )));
        }
    };
    let outer = x.dims()[..x.rank() - 1].to_vec();
    let tokens: usize = outer.iter().product();
    let x = cx.reshaped(x, &[tokens, x.dims()[x.rank() - 1]])?;
    let up = cx.tensor("weightUk")?;
    cx.check_dtype(&up, BRAIN)?;
    let &[heads, width, latent] = up.dims() else {
        return Err(cx.invalid(format_args!(
            "weightUk has the shape {:?}; expected 3 dimensions",
            up.dims()
        )));
    };
    let (query, rotated) = (cx.out("queryOut")?, cx.out("queryRopeOut")?);
    for out in [&query, &rotated] {
        cx.check_dtype(out, BRAIN)?;
    }
    let with = |last: [usize; 2]| [outer.as_slice(), &last].concat();
    cx.check_dims(&query, &with([heads, latent]))?;
    let rope = rotated.dims().last().copied().unwrap_or(0);
    cx.check_dims(&rotated, &with([heads, rope]))?;
    if heads == 0 || width == 0 || latent == 0 || rope == 0 || !rope.is_multiple_of(2) {
        return Err(cx.invalid(format_args!(
            "weightUk has the shape {:?} and queryRopeOut {:?}; dimensions must not be 0, and the rotated entries even",
            up.dims(),
            rotated.dims()
        )));
    }
    cx.check_dtype(&positions, DataType::Int64)?;
    if positions.elements() != tokens {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have an element for each of {tokens} tokens",
            cx.param_of(&positions),
            positions.dims()
        )));
    }
    let (down, across, keys) = (
        weight(cx, "weightDq")?,
        weight(cx, "weightUqQr")?,
        weight(cx, "weightDkvKr")?,
    );
    if across.dims()[1] != heads * (width + rope) || keys.dims()[1] != latent + rope {
        return Err(cx.invalid(format_args!(
            "weightUqQr has {} columns and weightDkvKr {}; {heads} heads of {width} + {rope} entries and {latent} + {rope} are needed",
            across.dims()[1],
            keys.dims()[1]
        )));
    }
    if tokens == 0 {
        return Ok(());
    }
    let latents = product(cx, x, down)?;
    let latents = norm(cx, latents, "rmsnormGammaCq", "rmsnormEpsilonCq")?;
    if let Some(wanted) = further.normalised {
        cx.check_dtype(&wanted, BRAIN)?;
        cx.check_dims(&wanted, &[outer.as_slice(), &latents.dims()[1..]].concat())?;
        let own = cx.reshaped(latents, wanted.dims())?;
        cx.copy(own, wanted)?;
    }
    let queries = product(cx, latents, across)?;
    let queries = cx.reshaped(queries, &[tokens, heads, width + rope])?;
    let plain = cx.cast(queries.slice(2, 0, width, 1), BRAIN)?;
    let by_head = cx.temporary(BRAIN, &[heads, tokens, latent])?;
    multiply(cx, plain.permute(&[1, 0, 2]), up, by_head)?;
    let own = cx.reshaped(by_head.permute(&[1, 0, 2]), query.dims())?;
    cx.copy(own, query)?;
    let turned = cx.temporary(BRAIN, &[tokens, heads, rope])?;
    rotate(cx, queries.slice(2, width, rope, 1), turned)?;
    let turned = cx.reshaped(turned, rotated.dims())?;
    cx.copy(turned, rotated)?;

    let positions = int64(cx, positions)?;
    let pairs = product(cx, x, keys)?;
    let compressed = pairs.slice(1, 0, latent, 1);
    let compressed = norm(cx, compressed, "rmsnormGammaCkv", "rmsnormEpsilonCkv")?;
    store(cx, compressed, positions, "kvCacheRef", by_columns)?;
    let turned = cx.temporary(BRAIN, &[tokens, rope])?;
    rotate(cx, pairs.slice(1, latent, rope, 1), turned)?;
    store(cx, turned, positions, "krCacheRef", by_columns)
}
