//! Operators that make fewer elements of many, and those along an axis.

use jumar_ops::{Attrs, OpError};

use super::op::{Op, renamed, same};
use super::{Cx, Lowering};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AccumulateNV2", same),
    ("ArgMaxD", |cx, op| arg(cx, op, "ArgMaxV2")),
    ("ArgMaxV2", same),
    ("ArgMin", same),
    ("ArgMinD", |cx, op| arg(cx, op, "ArgMin")),
    ("Cumprod", same),
    ("Cumsum", same),
    ("HardMax", same),
    ("LogSoftmaxV2", same),
    ("LpNorm", lp_norm),
    ("LpNormV2", lp_norm),
    ("ReduceAll", |cx, op| logical(cx, op, "ReduceMin")),
    ("ReduceAny", |cx, op| logical(cx, op, "ReduceMax")),
    ("ReduceLogSum", same),
    ("ReduceLogSumExp", same),
    ("ReduceMax", same),
    ("ReduceMaxD", |cx, op| with_list(cx, op, "ReduceMax")),
    ("ReduceMean", same),
    ("ReduceMeanD", |cx, op| with_list(cx, op, "ReduceMean")),
    ("ReduceMin", same),
    ("ReduceMinD", |cx, op| with_list(cx, op, "ReduceMin")),
    ("ReduceProd", same),
    ("ReduceProdD", |cx, op| with_list(cx, op, "ReduceProd")),
    ("ReduceSum", same),
    ("ReduceSumD", |cx, op| with_list(cx, op, "ReduceSum")),
    ("SoftmaxV2", softmax),
    ("SquareSumV1", |cx, op| {
        let attrs = Attrs::new().with("keep_dims", op.yes("keep_dims")?);
        reduced(cx, op, "jumar.ReduceSumSquare", op.ints("axis")?, attrs)
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// A reduction over axes that are known here; none are all.
fn reduced(cx: &mut Cx, op: &Op<'_>, name: &'static str, axes: &[i64], attrs: Attrs) -> Answer {
    let x = op.input("x")?;
    let attrs = attrs.with("noop_with_empty_axes", false);
    if axes.is_empty() {
        return Ok(vec![cx.one(name, &[x], attrs)?]);
    }
    let axes = cx.ints(axes);
    Ok(vec![cx.one(name, &[x, axes], attrs)?])
}

fn with_list(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let attrs = Attrs::new().with("keep_dims", op.yes("keep_dims")?);
    reduced(cx, op, name, op.ints("axes")?, attrs)
}

fn logical(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    renamed(cx, op, name)
}

fn arg(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    let x = op.input("x")?;
    let axis = cx.ints(&[op.int("dimension")?]);
    let axis = cx.reshape(axis, &[])?;
    let attrs = Attrs::new().with("dtype", op.dtype("dtype")?);
    Ok(vec![cx.one(name, &[x, axis], attrs)?])
}

fn softmax(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut x = op.input("x")?;
    if op.yes("half_to_float")? {
        x = cx.cast(x, jumar_types::dtype::DataType::Float32)?;
    }
    let attrs = Attrs::new().with("axes", op.ints("axes")?.to_vec());
    Ok(vec![cx.one("SoftmaxV2", &[x], attrs)?])
}

fn lp_norm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let keep = Attrs::new().with("keep_dims", op.yes("keepdim")?);
    let axes = op.ints("axes")?.to_vec();
    let p = match op.float("p") {
        Ok(p) => p,
        // The older operator has an integer there.
        Err(_) => op.int("p")? as f32,
    };
    if p == 1.0 {
        return reduced(cx, op, "jumar.ReduceL1", &axes, keep);
    }
    if p == 2.0 {
        return reduced(cx, op, "jumar.ReduceL2", &axes, keep);
    }
    let x = op.input("x")?;
    let size = cx.one("Abs", &[x], Attrs::new())?;
    let name = match p {
        f32::INFINITY => "ReduceMax",
        f32::NEG_INFINITY => "ReduceMin",
        _ => "ReduceSum",
    };
    let finite = p.is_finite();
    let terms = if finite {
        let p = cx.number(f64::from(p), x)?;
        cx.one("Pow", &[size, p], Attrs::new())?
    } else {
        size
    };
    let keep = keep.with("noop_with_empty_axes", false);
    let sum = if axes.is_empty() {
        cx.one(name, &[terms], keep)?
    } else {
        let axes = cx.ints(&axes);
        cx.one(name, &[terms, axes], keep)?
    };
    if !finite {
        return Ok(vec![sum]);
    }
    let root = cx.number(1.0 / f64::from(p), x)?;
    Ok(vec![cx.one("Pow", &[sum, root], Attrs::new())?])
}
