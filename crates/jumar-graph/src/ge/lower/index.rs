//! Choosing elements by index, and putting them back.

use jumar_ops::{Attr, Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::op::{Op, same};
use super::{Cx, Lowering, unsupported};
use crate::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Gather", |cx, op| {
        let (x, indices) = (op.input("x")?, op.input("indices")?);
        let axis = cx.ints(&[0]);
        let axis = cx.reshape(axis, &[])?;
        Ok(vec![cx.one(
            "GatherV2",
            &[x, indices, axis],
            Attrs::new(),
        )?])
    }),
    ("GatherElements", same),
    ("GatherNd", same),
    ("GatherV2", gather),
    ("NonMaxSuppressionV6", same),
    ("NonZero", same),
    ("OneHot", one_hot),
    ("ScatterElements", same),
    ("Select", select),
    ("SelectV2", select),
    ("TensorScatterUpdate", same),
    ("TopK", same),
    ("TopKV2", |cx, op| top_k(cx, op)),
    ("Tril", |cx, op| triangle(cx, op, 0)),
    ("Triu", |cx, op| triangle(cx, op, 1)),
    ("UniqueWithCountsAndSorting", unique),
    ("Where", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.one("NonZero", &[x], Attrs::new())?])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn gather(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let axis = op.input("axis")?;
    let axis = cx.reshape(axis, &[])?;
    let attrs = Attrs::new().with("batch_dims", op.int("batch_dims")?);
    Ok(vec![cx.one(
        "GatherV2",
        &[op.input("x")?, op.input("indices")?, axis],
        attrs,
    )?])
}

fn one_hot(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut values = [op.input("on_value")?, op.input("off_value")?];
    cx.promote(&mut values)?;
    let x = op.input("x")?;
    let x = if cx.ty(x).dtype == DataType::UInt8 {
        cx.cast(x, DataType::Int32)?
    } else {
        x
    };
    let attrs = Attrs::new().with("axis", op.int("axis")?);
    Ok(vec![cx.one(
        "OneHot",
        &[x, op.input("depth")?, values[0], values[1]],
        attrs,
    )?])
}

fn select(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let condition = op.input("condition")?;
    let condition = cx.cast(condition, DataType::Bool)?;
    let named = |one: &str, other: &str| op.input(one).or_else(|_| op.input(other));
    let mut both = [named("then", "x1")?, named("else", "x2")?];
    cx.promote(&mut both)?;
    Ok(vec![cx.one(
        "SelectV2",
        &[condition, both[0], both[1]],
        Attrs::new(),
    )?])
}

fn top_k(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let attrs = Attrs::new()
        .with("sorted", op.yes("sorted")?)
        .with("dim", op.int("dim")?)
        .with("largest", op.yes("largest")?);
    cx.add_node(
        "TopK",
        &[Some(op.input("x")?), Some(op.input("k")?)],
        attrs,
        2,
    )
}

fn triangle(cx: &mut Cx, op: &Op<'_>, upper: i64) -> Answer {
    let x = op.input("x")?;
    let k = cx.ints(&[op.int("diagonal")?]);
    let k = cx.reshape(k, &[])?;
    Ok(vec![cx.one(
        "Trilu",
        &[x, k],
        Attrs::new().with("upper", upper),
    )?])
}

fn unique(cx: &mut Cx, op: &Op<'_>) -> Answer {
    if !op.yes("sorted")? {
        return Err(unsupported("sorted = false is not supported"));
    }
    let x = op.input("x")?;
    let attrs = Attrs::new().with("sorted", Attr::Bool(true));
    let all = cx.add_node("jumar.Unique", &[Some(x)], attrs, 4)?;
    Ok(vec![all[0], all[2], all[3]])
}
