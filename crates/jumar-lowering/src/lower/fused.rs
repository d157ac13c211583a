//! Several steps of arithmetic as one operator, and quantisation for training.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::formula::{Formula, of};
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ActULQClampMaxGrad", |cx, op| {
        clamp_gradient(cx, op, "clamp_max_mask")
    }),
    ("ActULQClampMinGrad", |cx, op| {
        clamp_gradient(cx, op, "clamp_min_mask")
    }),
    ("ActsULQ", acts_ulq),
    ("ActsULQInputGrad", |cx, op| {
        let grad = op.input("y_grad")?;
        let masks = [op.input("clamp_min_mask")?, op.input("clamp_max_mask")?];
        let f = Formula::new(cx);
        let [low, high] = masks.map(|mask| f.cast(mask, f.dtype(grad)));
        Ok(vec![f.mul(f.mul(grad, low?)?, high?)?])
    }),
    ("AddExample", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| Ok(vec![f.add(a, b)?]))
    }),
    ("AddExampleAicpu", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| Ok(vec![f.add(a, b)?]))
    }),
    ("AddMatMatElements", |cx, op| {
        of(
            cx,
            op,
            ["c", "a", "b", "beta", "alpha"],
            |f, [c, a, b, beta, alpha]| {
                let product = f.mul(f.mul(a, b)?, alpha)?;
                Ok(vec![f.add(f.mul(c, beta)?, product)?])
            },
        )
    }),
    ("AngleV2", |cx, op| {
        of(cx, op, ["x"], |f, [x]| {
            let half = f.number(std::f64::consts::PI, x)?;
            // Not a number stays one.
            let none = f.mul(x, f.number(0.0, x)?)?;
            Ok(vec![f.choose(f.below(x, 0.0)?, half, none)?])
        })
    }),
    ("AxpyV2", |cx, op| {
        of(cx, op, ["x1", "x2", "alpha"], |f, [a, b, alpha]| {
            Ok(vec![f.add(a, f.mul(alpha, b)?)?])
        })
    }),
    ("CeluV2", |cx, op| {
        let alpha = op.float("alpha")?;
        let attrs = Attrs::new().with("alpha1", alpha).with("alpha2", alpha);
        Ok(vec![cx.one("Celu", &[op.input("x")?], attrs)?])
    }),
    ("ClipByNormNoDivSum", |cx, op| {
        let names = ["x", "greater_zeros", "select_ones", "maximum_ones"];
        of(cx, op, names, |f, [x, zeros, ones, least]| {
            let above = f.greater(x, zeros)?;
            let root = f.of("Sqrt", f.choose(above, x, ones)?)?;
            Ok(vec![f.max(f.choose(above, root, x)?, least)?])
        })
    }),
    ("ClipByValueV2", |cx, op| {
        of(
            cx,
            op,
            ["x", "clip_value_min", "clip_value_max"],
            |f, [x, low, high]| Ok(vec![f.min(f.max(x, low)?, high)?]),
        )
    }),
    ("DropOutDoMask", |cx, op| {
        let (x, mask, keep) = (op.input("x")?, op.input("mask")?, op.input("keep_prob")?);
        let (dims, bytes) = (cx.dims(x)?, cx.dims(mask)?);
        let count: i64 = dims.iter().product();
        if bytes.len() != 1 || bytes[0] < (count + 7) / 8 {
            return Err(invalid(format!(
                "its input mask has the shape {bytes:?}; 1 dimension with a bit for each of {count} elements is required"
            )));
        }
        let all = bits(cx, mask)?;
        let all = cx.reshape(all, &[-1])?;
        let all = super::index::rows(cx, all, 0, count)?;
        let f = Formula::new(cx);
        let mask = f.cast(f.reshape(all, &dims)?, f.dtype(x))?;
        Ok(vec![f.div(f.mul(x, mask)?, f.cast(keep, f.dtype(x))?)?])
    }),
    ("DropOutDoMaskV3", |cx, op| {
        let (x, mut mask, keep) = (op.input("x")?, op.input("mask")?, op.input("keep_prob")?);
        let (dims, own) = (cx.dims(x)?, cx.dims(mask)?);
        let count: i64 = dims.iter().product();
        // A mask that DropOutGenMaskV3 made has one dimension, and more elements than x.
        if own != dims && own.len() == 1 && own[0] >= count {
            mask = super::index::rows(cx, mask, 0, count)?;
            mask = cx.reshape(mask, &dims)?;
        }
        let f = Formula::new(cx);
        let keep = f.cast(keep, f.dtype(x))?;
        Ok(vec![f.div(f.mul(x, f.cast(mask, f.dtype(x))?)?, keep)?])
    }),
    ("DropOutDoMaskV3D", |cx, op| {
        let (x, mask, keep) = (op.input("x")?, op.input("mask")?, op.float("keep_prob")?);
        let f = Formula::new(cx);
        let kept = f.mul(x, f.cast(mask, f.dtype(x))?)?;
        Ok(vec![f.div(kept, f.number(f64::from(keep), kept)?)?])
    }),
    ("FakeQuantWithMinMaxArgs", |cx, op| {
        let x = op.input("x")?;
        let (low, high) = (number(cx, op, "min")?, number(cx, op, "max")?);
        let f = Formula::new(cx);
        Ok(vec![Grid::new(&f, op, low, high)?.quantised(&f, x)?])
    }),
    ("FakeQuantWithMinMaxArgsGradient", |cx, op| {
        let (g, x) = (op.input("gradients")?, op.input("x")?);
        let (low, high) = (number(cx, op, "min")?, number(cx, op, "max")?);
        let f = Formula::new(cx);
        Ok(vec![
            Grid::new(&f, op, low, high)?.gradients(&f, g, x, None)?[0],
        ])
    }),
    ("FakeQuantWithMinMaxVars", fake_quant),
    ("FakeQuantWithMinMaxVarsGradient", |cx, op| {
        fake_quant_gradient(cx, op, false)
    }),
    ("FakeQuantWithMinMaxVarsPerChannel", fake_quant),
    ("FakeQuantWithMinMaxVarsPerChannelGradient", |cx, op| {
        fake_quant_gradient(cx, op, true)
    }),
    ("FusedBiasLeakyRelu", |cx, op| {
        let (slope, scale) = (op.float("negative_slope")?, op.float("scale")?);
        of(cx, op, ["x", "bias"], |f, [x, bias]| {
            let high = f.times(f.add(x, bias)?, f64::from(scale))?;
            let low = f.times(high, f64::from(slope))?;
            Ok(vec![f.choose(f.above(high, 0.0)?, high, low)?])
        })
    }),
    ("FusedMulAdd", |cx, op| {
        of(cx, op, ["x1", "x2", "x3"], |f, [a, b, c]| {
            Ok(vec![f.add(f.mul(a, b)?, c)?])
        })
    }),
    ("FusedMulAddAdd", |cx, op| {
        of(cx, op, ["x1", "x2", "x3", "x4"], |f, [a, b, c, d]| {
            Ok(vec![f.add(f.add(f.mul(a, b)?, c)?, d)?])
        })
    }),
    ("FusedMulAddN", |cx, op| {
        of(cx, op, ["x1", "x2", "x3"], |f, [a, b, factor]| {
            Ok(vec![f.add(f.mul(a, factor)?, b)?])
        })
    }),
    ("FusedMulAddNL2loss", |cx, op| {
        of(cx, op, ["x1", "x2", "x3"], |f, [a, b, factor]| {
            let loss = f.times(f.sum(f.square(a)?, &[], false)?, 0.5)?;
            Ok(vec![f.add(f.mul(a, factor)?, b)?, loss])
        })
    }),
    ("GemmV2", |cx, op| {
        let attrs = Attrs::new()
            .with("transpose_x1", op.yes("transpose_a")?)
            .with("transpose_x2", op.yes("transpose_b")?);
        of(
            cx,
            op,
            ["a", "b", "alpha", "beta", "c"],
            |f, [a, b, alpha, beta, c]| {
                let product = f.node("MatMul", &[a, b], attrs)?;
                Ok(vec![f.add(f.mul(product, alpha)?, f.mul(c, beta)?)?])
            },
        )
    }),
    ("Inv", |cx, op| {
        of(cx, op, ["x"], |f, [x]| Ok(vec![f.of("Reciprocal", x)?]))
    }),
    ("LarsV2Update", |cx, op| {
        let (share, epsilon) = (
            f64::from(op.float("hyperpara")?),
            f64::from(op.float("epsilon")?),
        );
        let clips = op.yes("use_clip")?;
        let names = [
            "w",
            "g",
            "w_square_sum",
            "g_square_sum",
            "weight_decay",
            "learning_rate",
        ];
        of(
            cx,
            op,
            names,
            |f, [w, g, w_squares, g_squares, decay, rate]| {
                let (w_norm, g_norm) = (f.of("Sqrt", w_squares)?, f.of("Sqrt", g_squares)?);
                let down = f.plus(f.add(f.mul(decay, w_norm)?, g_norm)?, epsilon)?;
                let mut factor = f.div(f.times(w_norm, share)?, down)?;
                if clips {
                    factor = f.div(factor, rate)?;
                    factor = f.min(factor, f.number(1.0, factor)?)?;
                    factor = f.max(factor, f.number(0.0, factor)?)?;
                }
                Ok(vec![f.mul(f.add(f.mul(w, decay)?, g)?, factor)?])
            },
        )
    }),
    ("MulAddn", |cx, op| {
        let (first, second) = (op.list("x1")?, op.list("x2")?);
        if first.len() != second.len() || first.is_empty() {
            return Err(invalid(format!(
                "it has {} inputs x1 and {} inputs x2; there have to be as many, and at least one",
                first.len(),
                second.len()
            )));
        }
        let f = Formula::new(cx);
        let mut sum = None;
        for (a, b) in first.into_iter().zip(second) {
            let [a, b] = f.promoted([a, b])?;
            let product = f.mul(a, b)?;
            sum = Some(match sum {
                Some(sum) => f.add(sum, product)?,
                None => product,
            });
        }
        Ok(sum.into_iter().collect())
    }),
    ("MulNoNan", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| {
            let nothing = f.equal(b, f.number(0.0, b)?)?;
            let product = f.mul(a, b)?;
            Ok(vec![f.choose(nothing, f.number(0.0, product)?, product)?])
        })
    }),
    ("NPUAllocFloatStatus", |cx, _| {
        Ok(vec![cx.add_constant(Tensor::from_floats(&[0.0; 8]))])
    }),
    // Overflows are infinities here, and no operation sets the status that these read.
    ("NPUClearFloatStatus", |cx, _| {
        Ok(vec![cx.add_constant(Tensor::from_floats(&[0.0; 8]))])
    }),
    ("NPUGetFloatStatus", |cx, _| {
        Ok(vec![cx.add_constant(Tensor::from_floats(&[0.0; 8]))])
    }),
    ("NonFiniteCheck", |cx, op| {
        let list = op.list("tensor_list")?;
        let f = Formula::new(cx);
        let mut worst: Option<ValueId> = None;
        for x in list {
            // What is finite becomes 0, and everything else not a number.
            let rest = f.sub(x, x)?;
            let bad = f.of("LogicalNot", f.equal(rest, rest)?)?;
            let bad = f.reduce("ReduceMax", f.cast(bad, DataType::Float32)?, &[], false)?;
            let bad = f.reshape(bad, &[1])?;
            worst = Some(match worst {
                Some(worst) => f.max(worst, bad)?,
                None => bad,
            });
        }
        worst
            .map(|worst| vec![worst])
            .ok_or_else(|| invalid("it has no inputs"))
    }),
    ("Pows", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| Ok(vec![f.pow(a, b)?]))
    }),
    ("Relu6D", |cx, op| {
        let scale = f64::from(op.float("scale")?);
        of(cx, op, ["x"], |f, [x]| {
            Ok(vec![f.times(f.of("Relu6", x)?, scale)?])
        })
    }),
    ("SignBitsUnpack", |cx, op| {
        let (x, size, dtype) = (op.input("x")?, op.int("size")?, op.dtype("dtype")?);
        let count = match cx.dims(x)?[..] {
            [bytes] if size > 0 && bytes * 8 % size == 0 => bytes * 8,
            ref other => {
                return Err(invalid(format!(
                    "its input has the shape {other:?}, and its attribute size is {size}; 1 dimension is required, whose bits can be parted into that many rows"
                )));
            }
        };
        // 1 is positive.
        let one = bits(cx, x)?;
        let f = Formula::new(cx);
        let y = f.plus(f.times(f.cast(one, dtype)?, 2.0)?, -1.0)?;
        Ok(vec![f.reshape(y, &[size, count / size])?])
    }),
    ("Sinc", |cx, op| {
        of(cx, op, ["x"], |f, [x]| {
            let angle = f.times(x, std::f64::consts::PI)?;
            let middle = f.equal(x, f.number(0.0, x)?)?;
            let ratio = f.div(f.of("Sin", angle)?, angle)?;
            Ok(vec![f.choose(middle, f.number(1.0, x)?, ratio)?])
        })
    }),
    ("TensorRedirect", |cx, op| {
        Ok(vec![cx.one("Identity", &[op.input("x")?], Attrs::new())?])
    }),
    ("TruncateDiv", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| {
            if f.dtype(a).is_integer() {
                return Ok(vec![f.node("Div", &[a, b], Attrs::new())?]);
            }
            Ok(vec![truncated_quotient(f, a, b)?])
        })
    }),
    ("TruncateMod", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| {
            Ok(vec![f.node("Mod", &[a, b], Attrs::new())?])
        })
    }),
    ("Xlog1py", |cx, op| {
        of(cx, op, ["x", "y"], |f, [x, y]| {
            let nothing = f.equal(x, f.number(0.0, x)?)?;
            let product = f.mul(x, f.of("Log1p", y)?)?;
            Ok(vec![f.choose(nothing, f.number(0.0, product)?, product)?])
        })
    }),
];

/// Returns the bits of bytes as numbers; the lowest bit of each byte comes first.
fn bits(cx: &mut Cx, bytes: ValueId) -> Result<ValueId, OpError> {
    let bytes = cx.reshape(bytes, &[-1, 1])?;
    let shifts = cx.ints(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let shifts = cx.cast(shifts, DataType::UInt8)?;
    let f = Formula::new(cx);
    let moved = f.node("RightShift", &[bytes, shifts], Attrs::new())?;
    f.node("BitwiseAnd", &[moved, f.number(1.0, moved)?], Attrs::new())
}

/// The gradient of a bound: of each element what quantisation lost, and 1 more where the mask is set.
fn clamp_gradient(cx: &mut Cx, op: &Op<'_>, mask: &str) -> Answer {
    let (grad, mask) = (op.input("y_grad")?, op.input(mask)?);
    let (loss, dtype) = (op.input("x_clamped_loss")?, cx.ty(grad).dtype);
    let f = Formula::new(cx);
    let [grad, mask, loss] = [grad, mask, loss].map(|value| f.cast(value, DataType::Float32));
    let share = f.add(loss?, f.of("Abs", mask?)?)?;
    let sum = f.sum(f.mul(grad?, share)?, &[], false)?;
    Ok(vec![f.cast(sum, dtype)?])
}

/// Returns the quotient without its fraction.
pub(super) fn truncated_quotient(
    f: &Formula<'_>,
    a: ValueId,
    b: ValueId,
) -> Result<ValueId, OpError> {
    let quotient = f.div(a, b)?;
    let size = f.of("Floor", f.of("Abs", quotient)?)?;
    f.mul(f.of("Sign", quotient)?, size)
}

type Answer = Result<Vec<ValueId>, OpError>;

/// An attribute as a constant of float32.
fn number(cx: &mut Cx, op: &Op<'_>, name: &str) -> Result<ValueId, OpError> {
    let value = op.float(name)?;
    let all = cx.add_constant(Tensor::from_floats(&[value]));
    cx.reshape(all, &[])
}

/// The numbers that a quantised tensor can hold: from `low` to `high`, where 0 is one of them.
struct Grid {
    low: ValueId,
    high: ValueId,
    step: ValueId,
}

impl Grid {
    fn new(f: &Formula<'_>, op: &Op<'_>, low: ValueId, high: ValueId) -> Result<Grid, OpError> {
        let bits = op.int("num_bits")?;
        if !(2..=16).contains(&bits) {
            return Err(invalid(format!(
                "its attribute num_bits is {bits}; it must be from 2 to 16"
            )));
        }
        let least = if op.yes("narrow_range")? { 1.0 } else { 0.0 };
        let most = f64::from((1i32 << bits) - 1);
        // A quotient, not a product with the reciprocal: the level of 0 may lie half way between two.
        let step = f.sub(high, low)?;
        let step = f.div(step, f.number(most - least, step)?)?;
        // The level of 0 becomes a whole one, and the bounds move with it.
        let zero = f.from(least, f.div(low, step)?)?;
        let zero = f.of("Floor", f.plus(zero, 0.5)?)?;
        let zero = f.max(zero, f.number(least, zero)?)?;
        let zero = f.min(zero, f.number(most, zero)?)?;
        Ok(Grid {
            low: f.mul(f.from(least, zero)?, step)?,
            high: f.mul(f.from(most, zero)?, step)?,
            step,
        })
    }

    fn quantised(&self, f: &Formula<'_>, x: ValueId) -> Result<ValueId, OpError> {
        let x = f.min(f.max(x, self.low)?, self.high)?;
        let level = f.div(f.sub(x, self.low)?, self.step)?;
        let level = f.of("Floor", f.plus(level, 0.5)?)?;
        f.add(f.mul(level, self.step)?, self.low)
    }

    /// Returns the gradients of the input and of both bounds, which are summed over the axes, if any are stated.
    fn gradients(&self, f: &Formula<'_>, g: ValueId, x: ValueId, axes: Option<&[i64]>) -> Answer {
        let below = f.less(x, self.low)?;
        let above = f.greater(x, self.high)?;
        let outside = f.node("LogicalOr", &[below, above], Attrs::new())?;
        let inside = f.only(f.of("LogicalNot", outside)?, g)?;
        let Some(axes) = axes else {
            return Ok(vec![inside]);
        };
        let sum = |which: ValueId| {
            let all = f.only(which, g)?;
            if axes.is_empty() && f.rank(all)? == 1 {
                // Each channel has one element.
                return Ok(all);
            }
            f.sum(all, axes, false)
        };
        Ok(vec![inside, sum(below)?, sum(above)?])
    }
}

fn fake_quant(cx: &mut Cx, op: &Op<'_>) -> Answer {
    of(cx, op, ["x", "min", "max"], |f, [x, low, high]| {
        Ok(vec![Grid::new(f, op, low, high)?.quantised(f, x)?])
    })
}

fn fake_quant_gradient(cx: &mut Cx, op: &Op<'_>, by_channel: bool) -> Answer {
    of(
        cx,
        op,
        ["gradients", "x", "min", "max"],
        |f, [g, x, low, high]| {
            let rank = f.rank(x)? as i64;
            let axes: Vec<i64> = (0..if by_channel { rank - 1 } else { rank }).collect();
            Grid::new(f, op, low, high)?.gradients(f, g, x, Some(&axes))
        },
    )
}

/// Quantises to 256 levels between learnt bounds for training: the values, masks of what lies inside of each bound, and what the
/// gradients of the bounds are made of.
fn acts_ulq(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (fixed, bits) = (op.yes("fixed_min")?, op.int("num_bits")?);
    if bits != 8 {
        return Err(invalid(format!(
            "its attribute num_bits is {bits}; it must be 8"
        )));
    }
    let values = [
        op.input("x")?,
        op.input("clamp_min")?,
        op.input("clamp_max")?,
    ];
    let dtype = cx.ty(values[0]).dtype;
    let f = Formula::new(cx);
    let [x, low, high] = values.map(|value| f.cast(value, DataType::Float32));
    let (x, low, high) = (x?, low?, high?);
    let zero = f.number(0.0, low)?;
    let low = if fixed {
        f.mul(low, zero)?
    } else {
        f.min(low, zero)?
    };
    let high = f.max(high, f.number(255.0 * f64::from(f32::EPSILON), high)?)?;
    let step = f.times(f.sub(high, low)?, 1.0 / 255.0)?;
    let raw_low = f.div(low, step)?;
    let level = f.of("Round", raw_low)?;
    let (low, high) = (f.mul(level, step)?, f.mul(f.plus(level, 255.0)?, step)?);
    let mask = |outside: ValueId| f.of("LogicalNot", outside);
    let masks = [mask(f.less(x, low)?)?, mask(f.greater(x, high)?)?];
    let raw = f.div(f.min(f.max(x, low)?, high)?, step)?;
    let rounded = f.of("Round", raw)?;
    let inner = f.times(f.sub(rounded, raw)?, 1.0 / 255.0)?;
    let outer = f.times(f.sub(level, raw_low)?, 1.0 / 255.0)?;
    let inside = f.node("LogicalAnd", &masks, Attrs::new())?;
    let loss = f.choose(inside, inner, outer)?;
    let y = f.mul(rounded, step)?;
    [y, masks[0], masks[1], loss]
        .into_iter()
        .map(|value| f.cast(value, dtype))
        .collect()
}
