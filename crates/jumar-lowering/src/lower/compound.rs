//! Layers with several steps in one operator: norms with quantisation behind them, losses with their gradients, points, experts.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::super::{FORMAT_NCDHW, FORMAT_NCHW, Value};
use super::filter::spatial;
use super::formula::{Formula, scalar};
use super::loss::reduced;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AddLayerNormQuant", add_layer_norm_quant),
    ("AddRmsNormDynamicQuantV2", |cx, op| {
        op.only_default("dst_type")?;
        let (x1, x2) = (op.input("x1")?, op.input("x2")?);
        let mask = match op.node.attrs.get("output_mask") {
            None => None,
            Some(Value::Bools(list)) if list.is_empty() => None,
            Some(Value::Bools(list)) if list.len() == 2 => Some([list[0], list[1]]),
            Some(_) => return Err(invalid("its attribute output_mask has to be two booleans")),
        };
        let [y1, y2, x, scale1, scale2] = rms_quant(cx, op, x1, x2, mask)?;
        let (exact, y) = rms(cx, op, x)?;
        Ok(vec![y1, y2, exact, y, x, scale1, scale2])
    }),
    ("AscendAntiQuant", |cx, op| {
        let (scale, offset) = (
            f64::from(op.float("scale")?),
            f64::from(op.float("offset")?),
        );
        let (dtype, squared) = (op.dtype("dtype")?, op.yes("sqrt_mode")?);
        let x = op.input("x")?;
        let f = Formula::new(cx);
        let x = f.plus(f.cast(x, DataType::Float32)?, offset)?;
        let y = f.times(x, if squared { scale * scale } else { scale })?;
        Ok(vec![f.cast(y, dtype)?])
    }),
    ("CrossEntropySumExpAndIndexLogit", cross_entropy_part),
    ("DuaQuantizeAddLayerNorm", |cx, op| {
        let (y, x, _) = add_layer_norm(cx, op)?;
        let first = static_quant(cx, op, y, "scales1", "zero_points1")?;
        let second = static_quant(cx, op, y, "scales2", "zero_points2")?;
        Ok(vec![first, second, x])
    }),
    ("DynamicQuantUpdateScatter", quant_update),
    ("GroupNormSiluQuant", |cx, op| {
        let [y, mean, rstd] = group_norm(cx, op)?;
        if !op.yes("activate_silu")? {
            return Err(unsupported(
                "its attribute activate_silu is false, which is not supported",
            ));
        }
        let scale = op.input("quantScale")?;
        let f = Formula::new(cx);
        let mut along = vec![1; f.rank(y)?];
        if f.dims(scale)? != [1] {
            along[1] = -1;
        }
        let scale = f.reshape(f.cast(scale, DataType::Float32)?, &along)?;
        let y = f.div(f.of("Swish", y)?, scale)?;
        Ok(vec![rounded(&f, y, DataType::Int8)?, mean, rstd])
    }),
    ("GroupNormV2", |cx, op| {
        let dtype = cx.ty(op.input("x")?).dtype;
        let [y, mean, rstd] = group_norm(cx, op)?;
        Ok(vec![cx.cast(y, dtype)?, mean, rstd])
    }),
    ("InplaceAddLayerNorm", |cx, op| {
        let dtype = cx.ty(op.input("x1")?).dtype;
        let (y, x, [mean, rstd]) = add_layer_norm(cx, op)?;
        let y = cx.cast(y, dtype)?;
        let y = write_or_pass(cx, op, "x1", y)?[0];
        let x = write_or_pass(cx, op, "x2", x)?[0];
        Ok(vec![y, mean, rstd, x])
    }),
    ("InstanceNormGrad", instance_norm_gradient),
    ("MoeReRouting", re_routing),
    ("MultiAddRmsNormDynamicQuant", |cx, op| {
        let mut list = op.list("x1")?.into_iter();
        let Some(mut x1) = list.next() else {
            return Err(invalid("its input x1 has to have at least one tensor"));
        };
        for more in list {
            x1 = cx.one("Add", &[x1, more], Attrs::new())?;
        }
        let [y1, y2, x, scale1, scale2] = rms_quant(cx, op, x1, op.input("x2")?, None)?;
        let (_, y) = rms(cx, op, x)?;
        Ok(vec![y1, y2, x, y, scale1, scale2])
    }),
    ("QuantConv2D", quant_convolution),
    ("QuantizeAddLayerNorm", |cx, op| {
        let (y, x, _) = add_layer_norm(cx, op)?;
        Ok(vec![static_quant(cx, op, y, "scales", "zero_points")?, x])
    }),
    ("ReluGradV2", |cx, op| {
        let (g, mask) = (op.input("gradients")?, op.input("mask")?);
        let f = Formula::new(cx);
        let none = f.equal(mask, f.number(0.0, mask)?)?;
        Ok(vec![f.choose(none, f.number(0.0, g)?, g)?])
    }),
    ("SoftmaxFocalLoss", |cx, op| {
        let reduction = op.text("reduction")?.to_ascii_lowercase();
        let dtype = cx.ty(op.input("pred")?).dtype;
        let (alpha, gamma) = (f64::from(op.float("alpha")?), f64::from(op.float("gamma")?));
        let Focal {
            f,
            p,
            target,
            weight,
        } = Focal::new(cx, op)?;
        let entropy = f.mul(f.mul(f.of("Log", p)?, target)?, weight)?;
        let entropy = f.of("Neg", f.sum(entropy, &[-1], true)?)?;
        let share = f.pow(f.from(1.0, p)?, f.number(gamma, p)?)?;
        let share = f.sum(f.times(f.mul(share, target)?, alpha)?, &[-1], true)?;
        let loss = f.mul(entropy, share)?;
        // Each element of a row has the loss of the row.
        let y = f.add(loss, f.times(target, 0.0)?)?;
        Ok(vec![f.cast(reduced(&f, y, &reduction)?, dtype)?])
    }),
    ("SoftmaxFocalLossGrad", focal_gradient),
    ("SwigluGroup", |cx, op| {
        let limit = f64::from(op.float("clamp_limit")?);
        let (x, weight) = (op.input("x")?, op.maybe("weight"));
        let dtype = cx.ty(x).dtype;
        let x = cx.cast(x, DataType::Float32)?;
        let axis = cx.ints(&[-1]);
        let axis = cx.reshape(axis, &[])?;
        let attrs = Attrs::new().with("num_split", 2i64);
        let halves = cx.add_node("SplitV", &[Some(x), None, Some(axis)], attrs, 2)?;
        let f = Formula::new(cx);
        let (mut gate, mut value) = (halves[0], halves[1]);
        if limit > 0.0 {
            let most = f.number(limit, gate)?;
            gate = f.min(gate, most)?;
            value = f.max(f.min(value, most)?, f.number(-limit, value)?)?;
        }
        let mut y = f.mul(f.of("Swish", gate)?, value)?;
        if let Some(weight) = weight {
            let mut rows = f.dims(y)?;
            if let Some(last) = rows.last_mut() {
                *last = 1;
            }
            y = f.mul(y, f.reshape(f.cast(weight, DataType::Float32)?, &rows)?)?;
        }
        // Rows behind the last group have no defined value.
        Ok(vec![f.cast(y, dtype)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn two_dimensions() -> OpError {
    invalid("its input has to have two dimensions at least")
}

/// Returns the names of the inputs that an operator updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "DynamicQuantUpdateScatter" => &["var", "var_scale"],
        "InplaceAddLayerNorm" => &["x1", "x2"],
        _ => &[],
    }
}

/// Rounds to integers, ties to even, and to the nearest number that the type has.
fn rounded(f: &Formula<'_>, x: ValueId, dtype: DataType) -> Result<ValueId, OpError> {
    let (least, most) = match dtype {
        DataType::Int8 => (-128.0, 127.0),
        DataType::UInt8 => (0.0, 255.0),
        // The largest float32 that is an int32.
        DataType::Int32 => (-2_147_483_648.0, 2_147_483_520.0),
        other => {
            return Err(unsupported(format!(
                "its attribute dtype is {other}; int8, uint8 and int32 are supported"
            )));
        }
    };
    let x = f.of("Round", x)?;
    let x = f.min(f.max(x, f.number(least, x)?)?, f.number(most, x)?)?;
    f.cast(x, dtype)
}

/// Adds `x1`, `x2` and `bias`, and normalises the rows. Returns the result and the sum, in float32 and the type of `x1`, and mean
/// and inverse deviation.
fn add_layer_norm(cx: &mut Cx, op: &Op<'_>) -> Result<(ValueId, ValueId, [ValueId; 2]), OpError> {
    let epsilon = f64::from(op.float("epsilon")?);
    let dtype = cx.ty(op.input("x1")?).dtype;
    let names = ["x1", "x2", "gamma", "beta"];
    let mut values = Vec::with_capacity(4);
    for name in names {
        values.push(cx.cast(op.input(name)?, DataType::Float32)?);
    }
    let bias = op.maybe("bias");
    let f = Formula::new(cx);
    let mut x = f.add(values[0], values[1])?;
    if let Some(bias) = bias {
        x = f.add(x, f.cast(bias, DataType::Float32)?)?;
    }
    let mean = f.reduce("ReduceMean", x, &[-1], true)?;
    let centred = f.sub(x, mean)?;
    let variance = f.reduce("ReduceMean", f.square(centred)?, &[-1], true)?;
    let root = f.of("Sqrt", f.plus(variance, epsilon)?)?;
    let rstd = f.of("Reciprocal", root)?;
    let y = f.add(f.mul(f.mul(centred, rstd)?, values[2])?, values[3])?;
    Ok((y, f.cast(x, dtype)?, [mean, rstd]))
}

/// Divides by scales, adds zero points, and rounds to the type of the attribute `dtype`.
fn static_quant(
    cx: &mut Cx,
    op: &Op<'_>,
    y: ValueId,
    scale: &str,
    zero: &str,
) -> Result<ValueId, OpError> {
    let rank = cx.rank(y)? as i64;
    let axis = op.int("axis")?;
    if axis != -1 && axis != rank - 1 {
        return Err(unsupported(format!(
            "its attribute axis is {axis}; only the last one is supported"
        )));
    }
    let dtype = op.dtype("dtype")?;
    let (scale, zero) = (op.input(scale)?, op.maybe(zero));
    let f = Formula::new(cx);
    let mut y = f.div(y, f.cast(scale, DataType::Float32)?)?;
    if let Some(zero) = zero {
        y = f.add(y, f.cast(zero, DataType::Float32)?)?;
    }
    rounded(&f, y, dtype)
}

fn add_layer_norm_quant(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (y, x, _) = add_layer_norm(cx, op)?;
    let mut scales = [op.maybe("scales1"), op.maybe("scales2")];
    for scale in scales.iter_mut().flatten() {
        *scale = cx.cast(*scale, DataType::Float32)?;
    }
    let (mut results, mut factors) = (Vec::new(), Vec::new());
    match op.text("quant_mode")? {
        "dynamic" => {
            for (index, scale) in scales.into_iter().enumerate() {
                if index == 0 || scale.is_some() {
                    let all = cx.add_node("DynamicQuant", &[Some(y), scale], Attrs::new(), 2)?;
                    results.push(all[0]);
                    factors.push(all[1]);
                }
            }
        }
        "static" => {
            let divides = op.yes("div_mode")?;
            let zeros = [op.maybe("zero_points1"), op.maybe("zero_points2")];
            let f = Formula::new(cx);
            for (index, (scale, zero)) in scales.into_iter().zip(zeros).enumerate() {
                let Some(scale) = scale else {
                    match index {
                        0 => {
                            return Err(invalid(
                                "its input scales1 is missing; quant_mode static takes it",
                            ));
                        }
                        _ => continue,
                    }
                };
                let mut value = if divides {
                    f.div(y, scale)?
                } else {
                    f.mul(y, scale)?
                };
                if let Some(zero) = zero {
                    value = f.add(value, f.cast(zero, DataType::Float32)?)?;
                }
                results.push(rounded(&f, value, DataType::Int8)?);
            }
            // The scales of results that are quantised by given ones have no meaning.
            factors.push(f.reduce("ReduceMax", y, &[-1], false)?);
        }
        other => {
            return Err(invalid(format!(
                "its attribute quant_mode is {other:?}; it must be static or dynamic"
            )));
        }
    }
    // The second result has no meaning without scales of its own.
    let second = |list: &[ValueId]| list.get(1).copied().unwrap_or(list[0]);
    Ok(vec![
        results[0],
        second(&results),
        x,
        factors[0],
        second(&factors),
    ])
}

/// Adds, normalises by the root mean square, and quantises each row by its largest entry. An output that is not computed is empty.
fn rms_quant(
    cx: &mut Cx,
    op: &Op<'_>,
    x1: ValueId,
    x2: ValueId,
    mask: Option<[bool; 2]>,
) -> Result<[ValueId; 5], OpError> {
    let scales = [op.maybe("smooth_scale1"), op.maybe("smooth_scale2")];
    let [first, second] = mask.unwrap_or([true, scales[0].is_some() && scales[1].is_some()]);
    let attrs = Attrs::new()
        .with("epsilon", op.float("epsilon")?)
        .with("first", first)
        .with("second", second);
    let gamma = op.input("gamma")?;
    let inputs = [
        Some(x1),
        Some(x2),
        Some(gamma),
        scales[0],
        scales[1],
        op.maybe("beta"),
    ];
    let all = cx.add_node("jumar.AddRmsNormDynamicQuant", &inputs, attrs, 5)?;
    <[ValueId; 5]>::try_from(all).map_err(|_| invalid("it has other than 5 results"))
}

/// Returns the normalised rows in float32, and in the type of `x`.
fn rms(cx: &mut Cx, op: &Op<'_>, x: ValueId) -> Result<(ValueId, ValueId), OpError> {
    let dtype = cx.ty(x).dtype;
    let wide = cx.cast(x, DataType::Float32)?;
    let gamma = cx.cast(op.input("gamma")?, DataType::Float32)?;
    let attrs = Attrs::new().with("epsilon", op.float("epsilon")?);
    let mut y = cx.add_node("RmsNorm", &[Some(wide), Some(gamma)], attrs, 1)?[0];
    if let Some(beta) = op.maybe("beta") {
        let beta = cx.cast(beta, DataType::Float32)?;
        y = cx.one("Add", &[y, beta], Attrs::new())?;
    }
    Ok((y, cx.cast(y, dtype)?))
}

/// Normalises groups of channels, which are the second axis. Returns the result in float32, and mean and inverse deviation of each
/// group in the type of `x`.
fn group_norm(cx: &mut Cx, op: &Op<'_>) -> Result<[ValueId; 3], OpError> {
    let (x, groups) = (op.input("x")?, op.int("num_groups")?);
    let epsilon = f64::from(op.float("eps")?);
    let along = [op.maybe("gamma"), op.maybe("beta")];
    let dtype = cx.ty(x).dtype;
    let f = Formula::new(cx);
    let dims = f.dims(x)?;
    let (&images, &channels) = (dims.first().zip(dims.get(1))).ok_or_else(two_dimensions)?;
    if groups < 1 || channels % groups != 0 {
        return Err(invalid(format!(
            "its attribute num_groups is {groups}; it must divide the {channels} channels"
        )));
    }
    let rows = f.reshape(f.cast(x, DataType::Float32)?, &[images, groups, -1])?;
    let mean = f.reduce("ReduceMean", rows, &[2], true)?;
    let centred = f.sub(rows, mean)?;
    let variance = f.reduce("ReduceMean", f.square(centred)?, &[2], true)?;
    let rstd = f.of("Reciprocal", f.of("Sqrt", f.plus(variance, epsilon)?)?)?;
    let mut y = f.reshape(f.mul(centred, rstd)?, &dims)?;
    let mut shape = vec![1; dims.len()];
    shape[1] = channels;
    for (index, value) in along.into_iter().enumerate() {
        let Some(value) = value else { continue };
        let value = f.reshape(f.cast(value, DataType::Float32)?, &shape)?;
        y = if index == 0 {
            f.mul(y, value)?
        } else {
            f.add(y, value)?
        };
    }
    let small = |value: ValueId| f.cast(f.reshape(value, &[images, groups])?, dtype);
    Ok([y, small(mean)?, small(rstd)?])
}

/// The gradients of InstanceNorm by its input, and by its factors and offsets.
fn instance_norm_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    const EPSILON: f64 = 1e-6;
    let names = ["dy", "x", "variance", "mean", "gamma"];
    let mut values = [op.input("x")?; 5];
    let dtype = cx.ty(values[0]).dtype;
    for (value, name) in values.iter_mut().zip(names) {
        *value = cx.cast(op.input(name)?, DataType::Float32)?;
    }
    let format = op.desc("x").map(|desc| desc.format);
    let first = matches!(format, Some(FORMAT_NCHW | FORMAT_NCDHW));
    let shape = cx.dims(op.input("gamma")?)?;
    let f = Formula::new(cx);
    let dims = f.dims(values[1])?;
    let rank = dims.len() as i64;
    if rank < 3 {
        return Err(invalid("its input x has to have 3 dimensions at least"));
    }
    let channel = if first { 1 } else { rank - 1 };
    let space: Vec<i64> = (1..rank).filter(|&axis| axis != channel).collect();
    let count: i64 = space.iter().map(|&axis| dims[axis as usize]).product();
    let mut one = vec![1; dims.len()];
    one[0] = dims[0];
    one[channel as usize] = dims[channel as usize];
    let [dy, x, variance, mean, gamma] = values;
    let (variance, mean) = (f.reshape(variance, &one)?, f.reshape(mean, &one)?);
    one[0] = 1;
    let gamma = f.reshape(gamma, &one)?;
    let rstd = f.of("Reciprocal", f.of("Sqrt", f.plus(variance, EPSILON)?)?)?;
    let centred = f.sub(x, mean)?;
    let inner = f.mul(dy, gamma)?;
    let cube = f.mul(f.square(rstd)?, rstd)?;
    let by_variance = f.mul(f.mul(inner, centred)?, cube)?;
    let by_variance = f.times(f.sum(by_variance, &space, true)?, -0.5)?;
    let by_mean = f.of("Neg", f.sum(f.mul(inner, rstd)?, &space, true)?)?;
    let factor = 1.0 / count as f64;
    let to_x = f.add(
        f.mul(inner, rstd)?,
        f.mul(f.times(by_variance, 2.0 * factor)?, centred)?,
    )?;
    let to_x = f.add(to_x, f.times(by_mean, factor)?)?;
    let mut all = space;
    all.insert(0, 0);
    let to_gamma = f.sum(f.mul(dy, f.mul(centred, rstd)?)?, &all, false)?;
    let to_beta = f.sum(dy, &all, false)?;
    let like = |value: ValueId| f.cast(f.reshape(value, &shape)?, dtype);
    Ok(vec![f.cast(to_x, dtype)?, like(to_gamma)?, like(to_beta)?])
}

/// The part of a cross entropy that one rank computes, whose classes are those of a range.
fn cross_entropy_part(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (start, end) = (op.int("vocab_start_index")?, op.int("vocab_end_index")?);
    let (logits, target) = (op.input("vocab_parallel_logits")?, op.input("target")?);
    let greatest = op.input("global_logits_max")?;
    let f = Formula::new(cx);
    let dims = f.dims(logits)?;
    let Some((&width, rows)) = dims.split_last() else {
        return Err(two_dimensions());
    };
    if end.checked_sub(start) != Some(width) {
        return Err(invalid(format!(
            "its attributes vocab_start_index and vocab_end_index are {start} and {end}; their range must have the {width} classes of vocab_parallel_logits"
        )));
    }
    let ones: Vec<i64> = rows.iter().copied().chain([1]).collect();
    let greatest = f.reshape(f.cast(greatest, DataType::Float32)?, &ones)?;
    let moved = f.sub(f.cast(logits, DataType::Float32)?, greatest)?;
    let powers = f.of("Exp", moved)?;
    let sum = f.sum(powers, &[-1], false)?;
    let below = f.below(target, start as f64)?;
    let above = f.above(target, (end - 1) as f64)?;
    let outside = f.node("LogicalOr", &[below, above], Attrs::new())?;
    let zero = f.number(0.0, target)?;
    let offset = f.choose(outside, zero, f.plus(target, -(start as f64))?)?;
    let attrs = Attrs::new().with("dim", rows.len() as i64);
    let index = f.reshape(offset, &ones)?;
    let own = f.node("GatherElements", &[moved, index], attrs)?;
    let own = f.reshape(own, rows)?;
    let own = f.choose(outside, f.number(0.0, own)?, own)?;
    let mask = f.cast(outside, DataType::Int32)?;
    Ok(vec![
        own,
        sum,
        powers,
        f.cast(offset, DataType::Int32)?,
        mask,
    ])
}

/// What both directions of the focal loss read, in float32.
struct Focal<'a> {
    f: Formula<'a>,
    p: ValueId,
    target: ValueId,
    weight: ValueId,
}

impl<'a> Focal<'a> {
    fn new(cx: &'a mut Cx, op: &Op<'_>) -> Result<Focal<'a>, OpError> {
        let p = cx.cast(op.input("pred")?, DataType::Float32)?;
        let target = cx.cast(op.input("target")?, DataType::Float32)?;
        let weight = match op.maybe("weight") {
            Some(weight) => cx.cast(weight, DataType::Float32)?,
            None => cx.number(1.0, p)?,
        };
        let f = Formula::new(cx);
        Ok(Focal {
            f,
            p,
            target,
            weight,
        })
    }
}

fn focal_gradient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (alpha, gamma) = (f64::from(op.float("alpha")?), f64::from(op.float("gamma")?));
    let pred = op.input("pred")?;
    let dtype = cx.ty(pred).dtype;
    let reduction = op.text("reduction")?.to_lowercase();
    let factor = match reduction.as_str() {
        "mean" => 1.0 / cx.dims(pred)?.iter().product::<i64>() as f64,
        "none" | "sum" => 1.0,
        other => {
            return Err(invalid(format!(
                "its attribute reduction is {other}; it must be none, mean or sum"
            )));
        }
    };
    let upstream = cx.cast(op.input("dout")?, DataType::Float32)?;
    let Focal {
        f,
        p,
        target,
        weight,
    } = Focal::new(cx, op)?;
    let rest = f.from(1.0, p)?;
    let power = |exponent: f64| -> Result<ValueId, OpError> {
        let power = f.pow(rest, f.number(exponent, p)?)?;
        f.times(f.mul(power, target)?, alpha)
    };
    let (full, less) = (power(gamma)?, power(gamma - 1.0)?);
    let share = f.sum(full, &[-1], true)?;
    let lower = f.sum(less, &[-1], true)?;
    let weighted = f.mul(target, weight)?;
    let entropy = f.mul(f.of("Log", p)?, weighted)?;
    let entropy = f.of("Neg", f.sum(entropy, &[-1], true)?)?;
    let total = f.sum(weighted, &[-1], true)?;
    let by_entropy = f.sub(f.mul(p, total)?, weighted)?;
    let by_share = f.add(f.sub(share, lower)?, less)?;
    let by_share = f.times(f.mul(p, by_share)?, -gamma)?;
    let sum = f.add(f.mul(by_entropy, share)?, f.mul(by_share, entropy)?)?;
    let gradient = f.times(f.mul(sum, upstream)?, factor)?;
    Ok(vec![f.cast(gradient, dtype)?])
}

/// Sorts tokens, which come rank by rank and for each rank expert by expert, by experts.
fn re_routing(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (tokens, counts) = (op.input("tokens")?, op.input("expert_token_num_per_rank")?);
    let scales = op.maybe("per_token_scales");
    let (by_ends, inverse) = (op.int("expert_token_num_type")?, op.int("idx_type")?);
    if !(0..=1).contains(&by_ends) || !(0..=1).contains(&inverse) {
        return Err(invalid(format!(
            "its attributes expert_token_num_type and idx_type are {by_ends} and {inverse}; both must be 0 or 1"
        )));
    }
    let &[ranks, experts] = &cx.dims(counts)?[..] else {
        return Err(invalid(
            "its input expert_token_num_per_rank has to have 2 dimensions: ranks and experts",
        ));
    };
    let Some(&rows) = cx.dims(tokens)?.first() else {
        return Err(invalid(
            "its input tokens has to have at least one dimension",
        ));
    };
    let wide = cx.cast(counts, DataType::Int64)?;
    let by_expert = cx.transpose(wide, &[1, 0])?;
    let f = Formula::new(cx);
    let blocks = ranks * experts;
    let ends = |counts: ValueId, exclusive: bool| -> Result<ValueId, OpError> {
        let flat = f.reshape(counts, &[blocks])?;
        let attrs = Attrs::new().with("exclusive", exclusive);
        f.node("Cumsum", &[flat, scalar(&f, 0)?], attrs)
    };
    // The block of each row of the result: as many blocks end before it.
    let positions: Vec<i64> = (0..rows).collect();
    let positions = f.ints(&positions);
    let column = f.reshape(positions, &[rows, 1])?;
    let before = f.less(column, f.reshape(ends(by_expert, false)?, &[1, blocks])?)?;
    let before = f.cast(f.of("LogicalNot", before)?, DataType::Int64)?;
    let block = f.sum(before, &[1], false)?;
    let block = f.min(block, f.number((blocks - 1).max(0) as f64, block)?)?;
    let gather = |list: ValueId, index: ValueId| -> Result<ValueId, OpError> {
        f.node("GatherV2", &[list, index, scalar(&f, 0)?], Attrs::new())
    };
    let inside = f.sub(positions, gather(ends(by_expert, true)?, block)?)?;
    // The number of the block among the tokens as they come.
    let order: Vec<i64> = (0..blocks)
        .map(|block| block % ranks * experts + block / ranks)
        .collect();
    let source = gather(f.ints(&order), block)?;
    let source = f.add(gather(ends(wide, true)?, source)?, inside)?;
    let permuted = gather(tokens, source)?;
    let scales = match scales {
        Some(scales) => gather(scales, source)?,
        None => f.cast(f.ints(&[]), DataType::Float32)?,
    };
    let mut number = f.sum(wide, &[0], false)?;
    if by_ends == 0 {
        number = f.node("Cumsum", &[number, scalar(&f, 0)?], Attrs::new())?;
    }
    let dtype = f.dtype(counts);
    let number = f.cast(number, dtype)?;
    let index = match inverse {
        0 => source,
        _ => {
            let index = f.reshape(source, &[rows, 1])?;
            f.node(
                "TensorScatterUpdate",
                &[positions, index, positions],
                Attrs::new(),
            )?
        }
    };
    Ok(vec![
        permuted,
        scales,
        f.cast(index, DataType::Int32)?,
        number,
    ])
}

/// Quantises rows, and writes them and their scales to a range of the last axis but one, which begins at an index.
fn quant_update(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let reduce = op.text("reduce")?;
    if reduce != "update" {
        return Err(unsupported(format!(
            "its attribute reduce is {reduce}; only update is supported"
        )));
    }
    let (var, scales) = (op.input("var")?, op.input("var_scale")?);
    let (indices, updates) = (op.input("indices")?, op.input("updates")?);
    let dims = cx.dims(var)?;
    let axis = op.int("axis")?;
    let rank = dims.len() as i64;
    if rank < 3 || (axis != -2 && axis != rank - 2) {
        return Err(unsupported(format!(
            "its attribute axis is {axis} for {rank} dimensions; only the last but one of at least 3 is supported"
        )));
    }
    let (len, width) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    let inner: i64 = dims[1..dims.len() - 2].iter().product();
    let new = cx.dims(updates)?;
    let &[count, .., steps, own] = &new[..] else {
        return Err(two_dimensions());
    };
    if own != width || new.len() != dims.len() || new[1..new.len() - 2] != dims[1..dims.len() - 2] {
        return Err(invalid(format!(
            "its input updates has the shape {new:?}; it must be that of var, {dims:?}, but for the first axis and the last but one"
        )));
    }
    let smooth = match op.maybe("smooth_scales") {
        Some(smooth) => Some(cx.cast(smooth, cx.ty(updates).dtype)?),
        None => None,
    };
    let quantised = cx.add_node("DynamicQuant", &[Some(updates), smooth], Attrs::new(), 2)?;
    let shape = cx.dims(indices)?;
    let f = Formula::new(cx);
    let column = |list: Vec<i64>, dims: &[i64]| f.reshape(f.ints(&list), dims);
    let at = f.cast(indices, DataType::Int64)?;
    // The first row of each update, in units of rows of `var`.
    let first = match shape[..] {
        [entries] if entries == count => {
            let batches = (0..count).map(|entry| entry * inner * len).collect();
            f.add(
                f.reshape(at, &[count, 1, 1])?,
                column(batches, &[count, 1, 1])?,
            )?
        }
        [entries, 2] if entries == count => {
            let weights = column(vec![inner * len, 1], &[1, 2])?;
            f.reshape(f.sum(f.mul(at, weights)?, &[1], false)?, &[count, 1, 1])?
        }
        _ => {
            return Err(invalid(format!(
                "its input indices has the shape {shape:?}; [{count}] or [{count}, 2] is required"
            )));
        }
    };
    let blocks = column(
        (0..inner).map(|block| block * len).collect(),
        &[1, inner, 1],
    )?;
    let inside = column((0..steps).collect(), &[1, 1, steps])?;
    let rows = f.reshape(f.add(f.add(first, blocks)?, inside)?, &[-1])?;
    let total = dims[0] * inner * len;
    let values = f.reshape(quantised[0], &[count * inner * steps, width])?;
    let factors = f.reshape(quantised[1], &[count * inner * steps, 1])?;
    let old = (
        f.reshape(var, &[total, width])?,
        f.reshape(scales, &[total, 1])?,
    );
    let shape = cx.dims(scales)?;
    let var = super::index::scattered(cx, old.0, rows, values, "none")?;
    let scales = super::index::scattered(cx, old.1, rows, factors, "none")?;
    let (var, scales) = (cx.reshape(var, &dims)?, cx.reshape(scales, &shape)?);
    let var = write_or_pass(cx, op, "var", var)?[0];
    let scales = write_or_pass(cx, op, "var_scale", scales)?[0];
    Ok(vec![var, scales])
}

/// A convolution of int8 whose sums are multiplied by scales.
fn quant_convolution(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let format = op.image_format(2)?;
    if format != "NCHW" {
        return Err(unsupported(format!(
            "its images have the format {format}; only NCHW is supported"
        )));
    }
    let two = |name: &str| spatial(op.ints(name)?, 2, false, name);
    let padding = match op.ints("pads")? {
        &[top, bottom, left, right] if top == bottom && left == right => vec![top, left],
        other => {
            return Err(unsupported(format!(
                "its attribute pads is {other:?}; only 4 entries in equal pairs are supported"
            )));
        }
    };
    let attrs = Attrs::new()
        .with("dtype", op.int("dtype")?)
        .with("strides", two("strides")?)
        .with("pads", padding)
        .with("dilations", two("dilations")?)
        .with("groups", op.int("groups")?)
        .with("offset_x", op.int("offset_x")?)
        .with("round_mode", op.text("round_mode")?);
    let (x, filter, scale) = (op.input("x")?, op.input("filter")?, op.input("scale")?);
    let inputs = [Some(x), Some(filter), Some(scale), op.maybe("bias")];
    cx.add_node("jumar.QuantConv2D", &inputs, attrs, 1)
}
