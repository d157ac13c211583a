//! Gradients of functions on each element.

use jumar_ops::OpError;

use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AcosGrad", |cx, op| {
        of(cx, op, ["dy", "y"], |f, [dy, y]| {
            let root = f.of("Sqrt", f.from(1.0, f.square(y)?)?)?;
            f.of("Neg", f.div(dy, root)?)
        })
    }),
    // Of the output, whose hyperbolic sine is the denominator.
    ("AcoshGrad", |cx, op| {
        of(cx, op, ["dy", "y"], |f, [dy, y]| {
            f.div(dy, f.of("Sinh", y)?)
        })
    }),
    ("AsinGrad", |cx, op| {
        of(cx, op, ["dy", "y"], |f, [dy, y]| {
            f.div(dy, f.of("Sqrt", f.from(1.0, f.square(y)?)?)?)
        })
    }),
    ("AsinhGrad", |cx, op| {
        of(cx, op, ["dy", "y"], |f, [dy, y]| {
            f.div(dy, f.of("Cosh", y)?)
        })
    }),
    ("AtanGrad", |cx, op| {
        of(cx, op, ["dy", "y"], |f, [dy, y]| {
            f.div(dy, f.plus(f.square(y)?, 1.0)?)
        })
    }),
    ("EluGrad", |cx, op| {
        of(cx, op, ["grads", "activations"], |f, [g, y]| {
            let low = f.mul(g, f.plus(y, 1.0)?)?;
            f.choose(f.below(y, 0.0)?, low, g)
        })
    }),
    ("FusedBiasLeakyReluGrad", |cx, op| {
        let (slope, scale) = (op.float("negative_slope")?, op.float("scale")?);
        of(cx, op, ["y_grad", "features"], |f, [g, y]| {
            let high = f.times(g, f64::from(scale))?;
            let low = f.times(high, f64::from(slope))?;
            f.choose(f.above(y, 0.0)?, high, low)
        })
    }),
    // Of the output y = 1 / x.
    ("InvGrad", |cx, op| {
        of(cx, op, ["x", "grad"], |f, [y, g]| {
            f.of("Neg", f.mul(g, f.square(y)?)?)
        })
    }),
    ("Relu6Grad", |cx, op| {
        of(cx, op, ["gradients", "features"], |f, [g, x]| {
            f.only(f.above(x, 0.0)?, f.only(f.below(x, 6.0)?, g)?)
        })
    }),
    ("ReluGrad", |cx, op| {
        of(cx, op, ["gradients", "features"], |f, [g, x]| {
            f.only(f.above(x, 0.0)?, g)
        })
    }),
    ("SeluGrad", |cx, op| {
        of(cx, op, ["gradients", "outputs"], |f, [g, y]| {
            const SCALE: f64 = 1.050_700_987_355_480_5;
            const ALPHA: f64 = 1.673_263_242_354_377_2;
            let low = f.mul(g, f.plus(y, SCALE * ALPHA)?)?;
            f.choose(f.below(y, 0.0)?, low, f.times(g, SCALE)?)
        })
    }),
    ("SigmoidCrossEntropyWithLogitsGrad", |cx, op| {
        of(cx, op, ["predict", "target", "dout"], |f, [x, t, g]| {
            f.mul(f.sub(f.of("Sigmoid", x)?, t)?, g)
        })
    }),
    ("SigmoidGrad", |cx, op| {
        op.only_default("complex_conj")?;
        of(cx, op, ["y", "dy"], |f, [y, dy]| {
            f.mul(dy, f.mul(y, f.from(1.0, y)?)?)
        })
    }),
    ("SmoothL1LossGrad", |cx, op| {
        let sigma = f64::from(op.float("sigma")?);
        of(cx, op, ["predict", "label", "dout"], |f, [x, y, g]| {
            let way = f.sub(x, y)?;
            let small = f.below(f.of("Abs", way)?, sigma)?;
            let inner = f.times(way, 1.0 / sigma)?;
            f.mul(g, f.choose(small, inner, f.of("Sign", way)?)?)
        })
    }),
    ("SoftMarginLossGrad", |cx, op| {
        let mean = op.text("reduction")? == "mean";
        of(cx, op, ["predict", "label", "dout"], |f, [x, y, g]| {
            // -y * exp(-x * y) / (1 + exp(-x * y)), where the quotient is the sigmoid of -x * y.
            let inner = f.of("Neg", f.mul(x, y)?)?;
            let slope = f.of("Neg", f.mul(y, f.of("Sigmoid", inner)?)?)?;
            let all = f.mul(slope, g)?;
            if !mean {
                return Ok(all);
            }
            let count: i64 = f.dims(x)?.iter().product();
            f.times(all, 1.0 / count as f64)
        })
    }),
    ("SoftplusGrad", |cx, op| {
        of(cx, op, ["gradients", "features"], |f, [g, x]| {
            f.mul(g, f.of("Sigmoid", x)?)
        })
    }),
    ("SoftplusV2Grad", |cx, op| {
        let (beta, limit) = (op.float("beta")?, op.float("threshold")?);
        let names = ["input_gradients", "input_features"];
        of(cx, op, names, |f, [g, x]| {
            let inner = f.times(x, f64::from(beta))?;
            let low = f.mul(g, f.of("Sigmoid", inner)?)?;
            f.choose(f.above(inner, f64::from(limit))?, g, low)
        })
    }),
    ("SoftsignGrad", |cx, op| {
        of(cx, op, ["gradients", "features"], |f, [g, x]| {
            f.div(g, f.square(f.plus(f.of("Abs", x)?, 1.0)?)?)
        })
    }),
    ("SqrtGrad", |cx, op| {
        of(cx, op, ["y", "dy"], |f, [y, dy]| {
            f.div(f.times(dy, 0.5)?, y)
        })
    }),
    ("TanhGrad", |cx, op| {
        op.only_default("complex_conj")?;
        of(cx, op, ["y", "dy"], |f, [y, dy]| {
            f.mul(dy, f.from(1.0, f.square(y)?)?)
        })
    }),
];

/// Lowers to a formula of inputs, which are brought to one type.
fn of<const N: usize>(
    cx: &mut Cx,
    op: &Op<'_>,
    names: [&str; N],
    formula: impl FnOnce(&Formula<'_>, [ValueId; N]) -> Result<ValueId, OpError>,
) -> Result<Vec<ValueId>, OpError> {
    super::formula::of(cx, op, names, |f, values| Ok(vec![formula(f, values)?]))
}
