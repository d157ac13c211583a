//! Losses, norms and statistics.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::{Formula, of};
use super::op::Op;
use super::slice::numbers;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ConfusionSoftmaxGrad", |cx, op| {
        of(cx, op, ["grad", "x"], |f, [g, x]| {
            let sum = f.sum(f.mul(g, x)?, &[-1], true)?;
            Ok(vec![f.sub(g, sum)?])
        })
    }),
    ("CosineEmbeddingLoss", |cx, op| {
        let (margin, reduction) = (op.float("margin")?, op.text("reduction")?);
        of(cx, op, ["x1", "x2", "target"], |f, [a, b, target]| {
            const EPSILON: f64 = 1e-12;
            let axis = &[i64::from(f.rank(a)?.max(f.rank(b)?) > 1)];
            let product = f.sum(f.mul(a, b)?, axis, false)?;
            let first = f.plus(f.sum(f.square(a)?, axis, false)?, EPSILON)?;
            let second = f.plus(f.sum(f.square(b)?, axis, false)?, EPSILON)?;
            let cosine = f.div(product, f.of("Sqrt", f.mul(first, second)?)?)?;
            let near = f.from(1.0, cosine)?;
            let zero = f.number(0.0, cosine)?;
            let far = f.max(f.plus(cosine, -f64::from(margin))?, zero)?;
            let same = f.equal(target, f.number(1.0, target)?)?;
            let other = f.equal(target, f.number(-1.0, target)?)?;
            let loss = f.add(f.only(same, near)?, f.only(other, far)?)?;
            Ok(vec![reduced(f, loss, reduction)?])
        })
    }),
    ("CosineSimilarity", |cx, op| {
        let (dim, least) = (op.int("dim")?, f64::from(op.float("eps")?));
        of(cx, op, ["input_x1", "input_x2"], |f, [a, b]| {
            let product = f.sum(f.mul(a, b)?, &[dim], false)?;
            let size = |x: ValueId| {
                let size = f.of("Sqrt", f.sum(f.square(x)?, &[dim], false)?)?;
                f.max(size, f.number(least, size)?)
            };
            Ok(vec![f.div(product, f.mul(size(a)?, size(b)?)?)?])
        })
    }),
    ("EuclideanNorm", |cx, op| {
        let axes = numbers(cx, op.input("axes")?, "axes")?;
        let keep = op.yes("keep_dims")?;
        let x = op.input("x")?;
        let f = Formula::new(cx);
        Ok(vec![f.reduce("jumar.ReduceL2", x, &axes, keep)?])
    }),
    ("KLDivV2", |cx, op| {
        let log = op.yes("log_target")?;
        divergence(cx, op, log)
    }),
    ("L2Loss", |cx, op| {
        of(cx, op, ["x"], |f, [x]| {
            Ok(vec![f.times(f.sum(f.square(x)?, &[], false)?, 0.5)?])
        })
    }),
    ("L2NormalizeGrad", |cx, op| {
        let (dim, least) = (op.ints("dim")?, f64::from(op.float("eps")?));
        of(cx, op, ["x", "y", "dy"], |f, [x, y, dy]| {
            let size = f.of("Sqrt", f.sum(f.square(x)?, dim, true)?)?;
            let size = f.max(size, f.number(least, size)?)?;
            let along = f.sum(f.mul(y, dy)?, dim, true)?;
            Ok(vec![f.div(f.sub(dy, f.mul(y, along)?)?, size)?])
        })
    }),
    ("LpNormUpdate", |cx, op| {
        let p = op.int("p")? as f64;
        root(cx, op, p)
    }),
    ("LpNormUpdateV2", |cx, op| {
        let p = f64::from(op.float("p")?);
        root(cx, op, p)
    }),
    ("PoissonNllLoss", |cx, op| {
        let (log, full) = (op.yes("log_input")?, op.yes("full")?);
        let (eps, reduction) = (f64::from(op.float("eps")?), op.text("reduction")?);
        of(cx, op, ["input_x", "target"], |f, [x, t]| {
            let mut loss = if log {
                f.sub(f.of("Exp", x)?, f.mul(t, x)?)?
            } else {
                f.sub(x, f.mul(t, f.of("Log", f.plus(x, eps)?)?)?)?
            };
            if full {
                // Stirling's formula, for targets above 1.
                let circle = f.of("Log", f.times(t, std::f64::consts::TAU)?)?;
                let more = f.sub(f.mul(t, f.of("Log", t)?)?, t)?;
                let more = f.add(more, f.times(circle, 0.5)?)?;
                loss = f.add(loss, f.only(f.above(t, 1.0)?, more)?)?;
            }
            Ok(vec![reduced(f, loss, reduction)?])
        })
    }),
    ("ReduceMeanWithCast", |cx, op| {
        let (mut x, axes) = (op.input("x")?, op.input("axes")?);
        let dtype = op.int("dtype")?;
        if dtype != i64::from(UNDEFINED) {
            x = cx.cast(x, op.dtype("dtype")?)?;
        }
        let attrs = Attrs::new()
            .with("keep_dims", op.yes("keep_dims")?)
            .with("noop_with_empty_axes", op.yes("noop_with_empty_axes")?);
        Ok(vec![cx.one("ReduceMean", &[x, axes], attrs)?])
    }),
    ("ReduceStdV2Update", |cx, op| {
        let (dim, keep) = (op.ints("dim")?, op.yes("keepdim")?);
        let (root, unbiased) = (op.yes("if_std")?, op.yes("unbiased")?);
        let less = if unbiased { op.int("correction")? } else { 0 };
        of(cx, op, ["x", "mean"], |f, [x, mean]| {
            let squares = f.sum(f.square(f.sub(x, mean)?)?, dim, keep)?;
            let variance = f.times(squares, 1.0 / (count(f, x, dim)? - less as f64))?;
            Ok(vec![if root {
                f.of("Sqrt", variance)?
            } else {
                variance
            }])
        })
    }),
    ("ReduceVar", |cx, op| {
        let (dim, keep, less) = (op.ints("dim")?, op.yes("keepdim")?, op.int("correction")?);
        of(cx, op, ["x"], |f, [x]| {
            let mean = f.reduce("ReduceMean", x, dim, true)?;
            let squares = f.sum(f.square(f.sub(x, mean)?)?, dim, keep)?;
            let variance = f.times(squares, 1.0 / (count(f, x, dim)? - less as f64))?;
            Ok(vec![variance, f.reduce("ReduceMean", x, dim, keep)?])
        })
    }),
    ("SigmoidCrossEntropyWithLogits", |cx, op| {
        of(cx, op, ["predict", "target"], |f, [x, t]| {
            Ok(vec![f.sub(f.of("Softplus", x)?, f.mul(x, t)?)?])
        })
    }),
    ("Slogdet", |cx, op| {
        let x = op.input("x")?;
        let dtype = cx.ty(x).dtype;
        let f = Formula::new(cx);
        // In float64, where the product of many pivots still has an exponent.
        let value = f.of("MatrixDeterminant", f.cast(x, DataType::Float64)?)?;
        let size = f.of("Log", f.of("Abs", value)?)?;
        Ok(vec![
            f.cast(f.of("Sign", value)?, dtype)?,
            f.cast(size, dtype)?,
        ])
    }),
    ("SmoothL1Loss", |cx, op| {
        let sigma = f64::from(op.float("sigma")?);
        of(cx, op, ["predict", "label"], |f, [x, y]| {
            let way = f.of("Abs", f.sub(x, y)?)?;
            let inner = f.times(f.square(way)?, 0.5 / sigma)?;
            let outer = f.plus(way, -0.5 * sigma)?;
            Ok(vec![f.choose(f.below(way, sigma)?, inner, outer)?])
        })
    }),
    ("SparseSoftmaxCrossEntropyWithLogits", |cx, op| {
        let (x, labels) = (op.input("features")?, op.input("labels")?);
        let classes = *cx
            .dims(x)?
            .last()
            .ok_or_else(|| invalid("features has no dimensions"))?;
        let f = Formula::new(cx);
        let depth = f.ints(&[classes]);
        let (one, zero) = (f.number(1.0, x)?, f.number(0.0, x)?);
        let hot = f.node(
            "OneHot",
            &[labels, depth, one, zero],
            Attrs::new().with("axis", -1i64),
        )?;
        let log = f.of("LogSoftmaxV2", x)?;
        let loss = f.of(
            "Neg",
            f.sum(f.only(f.above(hot, 0.0)?, log)?, &[-1], false)?,
        )?;
        let gradient = f.sub(f.of("Exp", log)?, hot)?;
        Ok(vec![loss, gradient])
    }),
    ("SquareSumAll", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| {
            Ok(vec![
                f.sum(f.square(a)?, &[], false)?,
                f.sum(f.square(b)?, &[], false)?,
            ])
        })
    }),
    ("SyncBNTrainingUpdate", |cx, op| {
        let share = f64::from(op.float("momentum")?);
        of(cx, op, ["mean", "running_mean"], |f, [mean, running]| {
            Ok(vec![f.add(
                f.times(running, 1.0 - share)?,
                f.times(mean, share)?,
            )?])
        })
    }),
    ("SyncBatchNormBackwardElemt", |cx, op| {
        let names = [
            "grad_output",
            "save_input",
            "mean",
            "invstd",
            "weight",
            "mean_dy",
            "mean_dy_xmu",
        ];
        of(
            cx,
            op,
            names,
            |f, [g, x, mean, invstd, weight, mean_dy, mean_dy_xmu]| {
                let slope = f.mul(f.square(invstd)?, mean_dy_xmu)?;
                let along = f.mul(f.sub(x, mean)?, slope)?;
                let rest = f.sub(f.sub(g, mean_dy)?, along)?;
                Ok(vec![f.mul(rest, f.mul(invstd, weight)?)?])
            },
        )
    }),
    ("SyncBatchNormBackwardReduce", |cx, op| {
        let names = ["sum_dy", "sum_dy_dx_pad", "mean", "invert_std"];
        of(cx, op, names, |f, [sum, products, mean, invstd]| {
            let centred = f.sub(products, f.mul(sum, mean)?)?;
            Ok(vec![centred, f.mul(centred, invstd)?])
        })
    }),
    ("SyncBatchNormGatherStats", |cx, op| {
        let (share, eps) = (
            f64::from(op.float("momentum")?),
            f64::from(op.float("eps")?),
        );
        let names = [
            "total_sum",
            "total_square_sum",
            "sample_count",
            "mean",
            "variance",
        ];
        of(
            cx,
            op,
            names,
            |f, [sum, squares, counts, mean, variance]| {
                let count = f.sum(counts, &[], false)?;
                let average = f.div(f.sum(sum, &[0], false)?, count)?;
                let spread = f.div(f.sum(squares, &[0], false)?, count)?;
                let spread = f.sub(spread, f.square(average)?)?;
                let invstd = f.of("Reciprocal", f.of("Sqrt", f.plus(spread, eps)?)?)?;
                let unbiased = f.mul(spread, f.div(count, f.plus(count, -1.0)?)?)?;
                let moved = |old: ValueId, new: ValueId| {
                    f.add(f.times(old, 1.0 - share)?, f.times(new, share)?)
                };
                Ok(vec![
                    average,
                    invstd,
                    moved(mean, average)?,
                    moved(variance, unbiased)?,
                ])
            },
        )
    }),
    ("Trace", |cx, op| {
        let x = op.input("x")?;
        if cx.rank(x)? != 2 {
            return Err(invalid("its input x has to have two dimensions"));
        }
        let f = Formula::new(cx);
        let eye = f.node(
            "jumar.EyeLike",
            &[x],
            Attrs::new().with("dtype", f.dtype(x)),
        )?;
        Ok(vec![f.sum(f.only(f.above(eye, 0.0)?, x)?, &[], false)?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// The number of the type that is not stated.
const UNDEFINED: i32 = 28;

/// The divergence of a distribution from another one, whose logarithms are given. `log`: those of the target are given, too.
pub(super) fn divergence(cx: &mut Cx, op: &Op<'_>, log: bool) -> Answer {
    let reduction = op.text("reduction")?;
    of(cx, op, ["x", "target"], |f, [x, target]| {
        let loss = if log {
            f.mul(f.of("Exp", target)?, f.sub(target, x)?)?
        } else {
            let all = f.mul(target, f.sub(f.of("Log", target)?, x)?)?;
            f.only(f.above(target, 0.0)?, all)?
        };
        if reduction == "batchmean" {
            let batch = f.dims(x)?.first().copied().unwrap_or(1);
            return Ok(vec![f.times(f.sum(loss, &[], false)?, 1.0 / batch as f64)?]);
        }
        Ok(vec![reduced(f, loss, reduction)?])
    })
}

/// Reduces a loss as the attribute says.
pub(super) fn reduced(f: &Formula<'_>, loss: ValueId, reduction: &str) -> Result<ValueId, OpError> {
    match reduction {
        "none" => Ok(loss),
        "sum" => f.sum(loss, &[], false),
        "mean" => f.reduce("ReduceMean", loss, &[], false),
        other => Err(unsupported(format!(
            "its attribute reduction is {other:?}; none, sum and mean are supported"
        ))),
    }
}

/// Returns how many elements a reduction over axes joins.
fn count(f: &Formula<'_>, x: ValueId, axes: &[i64]) -> Result<f64, OpError> {
    let dims = f.dims(x)?;
    if axes.is_empty() {
        return Ok(dims.iter().product::<i64>() as f64);
    }
    let mut product = 1.0;
    for &axis in axes {
        let at = if axis < 0 {
            axis + dims.len() as i64
        } else {
            axis
        };
        let dim = usize::try_from(at).ok().and_then(|at| dims.get(at));
        product *= *dim.ok_or_else(|| {
            invalid(format!(
                "its attribute dim has {axis}, and its input has {} dimensions",
                dims.len()
            ))
        })? as f64;
    }
    Ok(product)
}

/// The root of a sum of powers, which is at least `epsilon`.
fn root(cx: &mut Cx, op: &Op<'_>, p: f64) -> Answer {
    let epsilon = f64::from(op.float("epsilon")?);
    of(cx, op, ["x"], |f, [x]| {
        let root = if p.is_infinite() || p == 1.0 {
            x
        } else {
            f.pow(x, f.number(1.0 / p, x)?)?
        };
        Ok(vec![f.max(root, f.number(epsilon, root)?)?])
    })
}
