//! Numbers at random. How often was drawn is a variable of the session: a graph that runs again draws other numbers, and
//! another session begins as this one did.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::formula::{Formula, scalar};
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("DropOutGenMask", |cx, op| {
        // A bit for each element, the lowest of a byte first, as DropOutDoMask reads them.
        let kept = kept(cx, op)?;
        let f = Formula::new(cx);
        let groups = f.reshape(f.cast(kept, DataType::Float32)?, &[-1, 8])?;
        let worths = f.floats(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0]);
        let bytes = f.sum(f.mul(groups, worths)?, &[1], false)?;
        Ok(vec![f.cast(bytes, DataType::UInt8)?])
    }),
    ("DropOutGenMaskV3", |cx, op| {
        let kept = kept(cx, op)?;
        Ok(vec![cx.cast(kept, DataType::UInt8)?])
    }),
    ("Multinomial", multinomial),
    ("RandomStandardNormal", |cx, op| {
        let shape = op.input("shape")?;
        Ok(vec![random(cx, op, shape, op.dtype("dtype")?, true)?])
    }),
    ("RandomUniform", |cx, op| {
        let shape = op.input("shape")?;
        Ok(vec![random(cx, op, shape, op.dtype("dtype")?, false)?])
    }),
    ("RandomUniformInt", |cx, op| {
        let (shape, low, high) = (op.input("shape")?, op.input("min")?, op.input("max")?);
        let dtype = cx.ty(low).dtype;
        // float64 resolves [0, 1) finely enough for every supported range.
        let y = random(cx, op, shape, DataType::Float64, false)?;
        Ok(vec![between(cx, y, [low, high], dtype)?])
    }),
    ("RandomUniformIntV2", |cx, op| {
        let bounds = [op.input("min")?, op.input("max")?];
        let dtype = cx.ty(bounds[0]).dtype;
        let mut all = with_offset(cx, op, DataType::Float64, Kind::Even)?;
        all[0] = between(cx, all[0], bounds, dtype)?;
        Ok(all)
    }),
    ("RandomStandardNormalV2", |cx, op| {
        with_offset(cx, op, op.dtype("dtype")?, Kind::Normal)
    }),
    ("RandomUniformV2", |cx, op| {
        with_offset(cx, op, op.dtype("dtype")?, Kind::Even)
    }),
    ("StatelessBernoulliV2", |cx, op| {
        let x = op.input("x")?;
        let dtype = match op.int("dtype")? {
            28 => cx.ty(x).dtype,
            _ => op.dtype("dtype")?,
        };
        let dims = cx.dims(x)?;
        let source = Source::of_inputs_or_counted(cx, op)?;
        let shape = cx.ints(&dims);
        let y = drawn(cx, &source, shape, DataType::Float64, Kind::Even)?;
        let f = Formula::new(cx);
        let y = f.less(y, f.cast(x, DataType::Float64)?)?;
        Ok(vec![f.cast(y, dtype)?])
    }),
    ("StatelessRandom", |cx, op| {
        let (Some(low), Some(high)) = (op.maybe("from"), op.maybe("to")) else {
            return Err(unsupported(
                "its inputs from and to are missing; numbers without bounds are not supported",
            ));
        };
        let (shape, dtype) = (op.input("shape")?, op.dtype("dtype")?);
        let source = Source::of_inputs(cx, op)?;
        let y = drawn(cx, &source, shape, DataType::Float64, Kind::Even)?;
        Ok(vec![between(cx, y, [low, high], dtype)?])
    }),
    ("StatelessRandomChoiceWithMask", chosen_positions),
    ("StatelessRandomUniformV2", |cx, op| {
        let (shape, dtype) = (op.input("shape")?, op.dtype("dtype")?);
        let source = Source::of_key(cx, op)?;
        Ok(vec![drawn(cx, &source, shape, dtype, Kind::Even)?])
    }),
    ("StatelessTruncatedNormalV2", |cx, op| {
        let (shape, dtype) = (op.input("shape")?, op.dtype("dtype")?);
        let source = Source::of_key(cx, op)?;
        Ok(vec![drawn(cx, &source, shape, dtype, Kind::Truncated)?])
    }),
    ("StatelessUniform", |cx, op| {
        let (shape, dtype) = (op.input("shape")?, op.dtype("dtype")?);
        let bounds = [op.input("from")?, op.input("to")?];
        let source = Source::of_inputs(cx, op)?;
        let y = drawn(cx, &source, shape, DataType::Float64, Kind::Even)?;
        let f = Formula::new(cx);
        let [low, high] = bounds.map(|bound| f.cast(bound, DataType::Float64));
        let (low, high) = (low?, high?);
        let y = f.cast(f.add(low, f.mul(y, f.sub(high, low)?)?)?, dtype)?;
        // A number that is rounded to the upper bound is the lower one.
        let (low, high) = (f.cast(low, dtype)?, f.cast(high, dtype)?);
        Ok(vec![f.choose(f.less(y, high)?, y, low)?])
    }),
    ("TruncatedNormalV2", |cx, op| {
        with_offset(cx, op, op.dtype("dtype")?, Kind::Truncated)
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// What numbers are a function of, besides their index.
struct Source {
    /// The number of earlier draws, or what stands for it.
    draw: ValueId,
    seeds: [i64; 2],
    /// The first seed, where it is an input.
    seed: Option<ValueId>,
}

impl Source {
    /// Returns the source of a node that has two seeds as attributes, and how often was drawn as state.
    fn counted(cx: &mut Cx, op: &Op<'_>) -> Result<Source, OpError> {
        let mut seeds = [op.int("seed")?, op.int("seed2")?];
        if seeds == [0, 0] {
            // No seed is set: by the node's name, so that nodes differ and programs repeat.
            seeds = [cx.named_seed(&op.node.name), 1];
        }
        Ok(Source {
            draw: cx.draw(&op.node.name)?,
            seeds,
            seed: None,
        })
    }

    /// Returns the source of a node whose numbers depend on two inputs alone.
    fn of_inputs(cx: &mut Cx, op: &Op<'_>) -> Result<Source, OpError> {
        let number = |cx: &mut Cx, name: &str| {
            let value = op.input(name)?;
            if cx.dims(value)?.iter().product::<i64>() != 1 {
                return Err(invalid(format!(
                    "its input {name} has the shape {:?}; one number is required",
                    cx.dims(value)?
                )));
            }
            let value = cx.reshape(value, &[])?;
            cx.cast(value, DataType::Int64)
        };
        Ok(Source {
            draw: number(cx, "offset")?,
            seeds: [0, 0],
            seed: Some(number(cx, "seed")?),
        })
    }

    /// As [`Source::of_inputs`]; a seed of -1 with an offset of 0 asks for numbers that no one has chosen.
    fn of_inputs_or_counted(cx: &mut Cx, op: &Op<'_>) -> Result<Source, OpError> {
        let mut source = Source::of_inputs(cx, op)?;
        let draw = cx.draw(&op.node.name)?;
        let draw = cx.reshape(draw, &[])?;
        if let Some(seed) = source.seed {
            let f = Formula::new(cx);
            let free = f.equal(seed, f.number(-1.0, seed)?)?;
            let start = f.equal(source.draw, f.number(0.0, source.draw)?)?;
            let free = f.node("LogicalAnd", &[free, start], Attrs::new())?;
            source.draw = f.choose(free, draw, source.draw)?;
        }
        Ok(source)
    }

    /// Returns the source of a node that has a key and a counter.
    fn of_key(cx: &mut Cx, op: &Op<'_>) -> Result<Source, OpError> {
        let alg = constant_int(cx, op.input("alg")?, "alg")?;
        if alg != 1 {
            return Err(unsupported(format!(
                "its input alg is {alg}; only 1 (Philox) is supported"
            )));
        }
        let (key, counter) = (op.input("key")?, op.input("counter")?);
        if cx.dims(key)? != [1] || cx.dims(counter)? != [2] {
            return Err(invalid(format!(
                "its inputs key and counter have the shapes {:?} and {:?}; 1 number and 2 are required",
                cx.dims(key)?,
                cx.dims(counter)?
            )));
        }
        let key = cx.cast(key, DataType::Int64)?;
        let f = Formula::new(cx);
        let word = |at: i64| {
            f.node(
                "GatherV2",
                &[counter, scalar(&f, at)?, scalar(&f, 0)?],
                Attrs::new(),
            )
        };
        let (low, high) = (word(0)?, word(1)?);
        let high = f.node("LeftShift", &[high, f.number(32.0, high)?], Attrs::new())?;
        let both = f.node("BitwiseXor", &[low, high], Attrs::new())?;
        Ok(Source {
            draw: f.cast(both, DataType::Int64)?,
            seeds: [0, 1],
            seed: Some(f.reshape(key, &[])?),
        })
    }
}

/// The distributions.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// From 0 to below 1.
    Even,
    Normal,
    /// The normal distribution, without what lies further from its middle than two deviations.
    Truncated,
}

/// Numbers of a distribution.
fn random(
    cx: &mut Cx,
    op: &Op<'_>,
    shape: ValueId,
    dtype: DataType,
    normal: bool,
) -> Result<ValueId, OpError> {
    let source = Source::counted(cx, op)?;
    let kind = if normal { Kind::Normal } else { Kind::Even };
    drawn(cx, &source, shape, dtype, kind)
}

fn drawn(
    cx: &mut Cx,
    source: &Source,
    shape: ValueId,
    dtype: DataType,
    kind: Kind,
) -> Result<ValueId, OpError> {
    let within = match dtype {
        DataType::Float32 | DataType::Float64 => dtype,
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        other => {
            return Err(unsupported(format!(
                "random numbers of {other} are not supported; float16, bfloat16, float32 and float64 are"
            )));
        }
    };
    let [seed, other] = source.seeds;
    let attrs = Attrs::new()
        .with("dtype", within)
        .with("normal", kind == Kind::Normal)
        .with("seed", seed)
        .with("seed2", other);
    let inputs = [Some(shape), Some(source.draw), source.seed];
    let mut y = cx.add_node("jumar.Random", &inputs, attrs, 1)?[0];
    if kind == Kind::Truncated {
        // The share of the distribution below -2, and between -2 and 2.
        let (least, part) = (0.022_750_131_948_179_21, 0.954_499_736_103_641_6);
        let f = Formula::new(cx);
        y = f.of("Ndtri", f.plus(f.times(y, part)?, least)?)?;
        y = f.min(f.max(y, f.number(-2.0, y)?)?, f.number(2.0, y)?)?;
    }
    if within != dtype {
        if kind == Kind::Even {
            // Truncated to the digits of the type, so that none is rounded up to 1.
            let scale = if dtype == DataType::Float16 {
                1024.0f32
            } else {
                128.0
            };
            y = cx.one("Muls", &[y], Attrs::new().with("value", scale))?;
            y = cx.one("Floor", &[y], Attrs::new())?;
            y = cx.one("Muls", &[y], Attrs::new().with("value", 1.0 / scale))?;
        }
        y = cx.cast(y, dtype)?;
    }
    Ok(y)
}

/// Returns whether dropout keeps each element of a shape, in one dimension, with more behind up to a multiple of 128. `prob` is the
/// probability that an element is kept.
fn kept(cx: &mut Cx, op: &Op<'_>) -> Result<ValueId, OpError> {
    /// The number of elements in a mask is a multiple of this.
    const BLOCK: f64 = 128.0;
    let (shape, prob) = (op.input("shape")?, op.input("prob")?);
    let f = Formula::new(cx);
    let shape = f.reshape(f.cast(shape, DataType::Float64)?, &[-1])?;
    let count = f.reduce("ReduceProd", shape, &[0], true)?;
    let blocks = f.of("Ceil", f.times(count, 1.0 / BLOCK)?)?;
    let count = f.cast(f.times(blocks, BLOCK)?, DataType::Int64)?;
    let even = random(cx, op, count, DataType::Float32, false)?;
    let f = Formula::new(cx);
    let prob = f.reshape(f.cast(prob, DataType::Float32)?, &[1])?;
    f.less(even, prob)
}

/// Numbers whose state is an input that the node counts on.
fn with_offset(cx: &mut Cx, op: &Op<'_>, dtype: DataType, kind: Kind) -> Answer {
    let offset = op.input("offset")?;
    let dims = cx.dims(offset)?;
    if dims.iter().product::<i64>() != 1 {
        return Err(invalid(format!(
            "its input offset has the shape {dims:?}; one number is required"
        )));
    }
    let mut source = Source::counted(cx, op)?;
    let f = Formula::new(cx);
    let least = f.max(offset, f.number(0.0, offset)?)?;
    if op.int("seed")? != 0 || op.int("seed2")? != 0 {
        source.draw = f.reshape(least, &[])?;
    }
    let shape = op.input("shape")?;
    let y = drawn(cx, &source, shape, dtype, kind)?;
    let count = cx.one("Size", &[y], Attrs::new())?;
    let count = cx.cast(count, DataType::Int64)?;
    let next = Formula::new(cx).add(least, count)?;
    let next = cx.reshape(next, &dims)?;
    let next = write_or_pass(cx, op, "offset", next)?[0];
    Ok(vec![y, next])
}

/// Brings numbers from 0 to below 1 between two bounds, as integers of the second type.
fn between(
    cx: &mut Cx,
    y: ValueId,
    bounds: [ValueId; 2],
    dtype: DataType,
) -> Result<ValueId, OpError> {
    let f = Formula::new(cx);
    let [low, high] = bounds.map(|bound| f.cast(bound, DataType::Float64));
    let (low, high) = (low?, high?);
    let y = f.of(
        "Floor",
        f.mul(f.cast(y, DataType::Float64)?, f.sub(high, low)?)?,
    )?;
    f.cast(f.add(y, low)?, dtype)
}

/// Returns the names of the inputs that an operator updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "RandomStandardNormalV2"
        | "RandomUniformIntV2"
        | "RandomUniformV2"
        | "TruncatedNormalV2" => &["offset"],
        _ => &[],
    }
}

/// Positions of elements that are true, at random; fewer are filled with zeros.
fn chosen_positions(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let x = op.input("x")?;
    let dims = cx.dims(x)?;
    let count = constant_int(cx, op.input("count")?, "count")?;
    let &[len] = &dims[..] else {
        return Err(invalid(format!(
            "its input x has the shape {dims:?}; 1 dimension is required"
        )));
    };
    if count < 0 || len == 0 {
        return Err(invalid(format!(
            "{count} positions of {len} elements cannot be chosen"
        )));
    }
    let source = Source::of_inputs_or_counted(cx, op)?;
    let all = len.max(count);
    let shape = cx.ints(&[len]);
    let keys = drawn(cx, &source, shape, DataType::Float64, Kind::Even)?;
    let f = Formula::new(cx);
    let mut keys = f.choose(x, keys, f.number(-1.0, keys)?)?;
    if all > len {
        let shape = f.ints(&[all - len]);
        let rest = f.node("Fill", &[shape, f.number(-1.0, keys)?], Attrs::new())?;
        let attrs = Attrs::new().with("concat_dim", 0i64).with("N", 2i64);
        keys = f.node("ConcatD", &[keys, rest], attrs)?;
    }
    let attrs = Attrs::new()
        .with("sorted", true)
        .with("dim", -1i64)
        .with("largest", true);
    let wanted = cx.ints(&[count]);
    let best = cx.add_node("TopK", &[Some(keys), Some(wanted)], attrs, 2)?;
    let f = Formula::new(cx);
    let valid = f.above(best[0], -0.5)?;
    let positions = f.only(valid, best[1])?;
    let y = f.reshape(f.cast(positions, DataType::Int32)?, &[count, 1])?;
    Ok(vec![y, valid])
}

/// Classes by the exponentials of their logits: the largest of the logits, each with noise of Gumbel's distribution.
fn multinomial(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let logits = op.input("logits")?;
    let count = constant_int(cx, op.input("num_samples")?, "num_samples")?;
    let dims = cx.dims(logits)?;
    let &[rows, classes] = &dims[..] else {
        return Err(invalid(format!(
            "its input logits has {} dimensions; it must have 2",
            dims.len()
        )));
    };
    if count < 0 || classes == 0 {
        return Err(invalid(format!(
            "{count} samples of {classes} classes cannot be drawn"
        )));
    }
    let dtype = op.dtype("dtype")?;
    let shape = cx.ints(&[rows, count, classes]);
    let noise = random(cx, op, shape, DataType::Float64, false)?;
    let one = cx.number(1.0, noise)?;
    // Never the logarithm of zero.
    let noise = cx.one("Sub", &[one, noise], Attrs::new())?;
    let noise = cx.one("Log", &[noise], Attrs::new())?;
    let noise = cx.one("Neg", &[noise], Attrs::new())?;
    let least = cx.number(f64::MIN_POSITIVE, noise)?;
    let noise = cx.one("Maximum", &[noise, least], Attrs::new())?;
    let noise = cx.one("Log", &[noise], Attrs::new())?;
    let logits = cx.cast(logits, DataType::Float64)?;
    let logits = cx.reshape(logits, &[rows, 1, classes])?;
    let all = cx.one("Sub", &[logits, noise], Attrs::new())?;
    let axis = cx.add_constant(Tensor::from_ints(&[-1]).reshaped(&[])?);
    let attrs = Attrs::new().with("dtype", DataType::Int64);
    let y = cx.one("ArgMaxV2", &[all, axis], attrs)?;
    Ok(vec![cx.cast(y, dtype)?])
}
