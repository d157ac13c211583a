//! Types that are an existing operator under another name, or one with a further attribute.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::{Formula, of};
use super::op::Op;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AxpyV3", |cx, op| {
        let factor = f64::from(op.float("a")?);
        of(cx, op, ["x", "y"], |f, [x, y]| {
            Ok(vec![f.add(f.times(x, factor)?, y)?])
        })
    }),
    ("BitwiseNot", |cx, op| {
        let x = op.input("x")?;
        let how = match cx.ty(x).dtype {
            DataType::Bool => "LogicalNot",
            _ => "Invert",
        };
        Ok(vec![cx.one(how, &[x], Attrs::new())?])
    }),
    ("CeilV2", |cx, op| unary(cx, op, "Ceil")),
    ("DivV3", quotient),
    ("DotV2", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [a, b]| {
            let dims = [f.dims(a)?, f.dims(b)?];
            if dims[0].len() != 1 || dims[0] != dims[1] {
                return Err(invalid(format!(
                    "its inputs x1 and x2 have the shapes {:?} and {:?}; vectors of the same length are required",
                    dims[0], dims[1]
                )));
            }
            let dtype = f.dtype(a);
            let [a, b] = [a, b].map(|one| f.cast(one, DataType::Float32));
            Ok(vec![f.cast(f.sum(f.mul(a?, b?)?, &[], false)?, dtype)?])
        })
    }),
    ("Ger", |cx, op| {
        of(cx, op, ["x1", "x2"], |f, [x, y]| {
            let (rows, columns) = (f.dims(x)?, f.dims(y)?);
            let (&[rows], &[columns]) = (&rows[..], &columns[..]) else {
                return Err(invalid(format!(
                    "its inputs have the shapes {rows:?} and {columns:?}; two vectors are required"
                )));
            };
            let x = f.reshape(x, &[rows, 1])?;
            Ok(vec![f.mul(x, f.reshape(y, &[1, columns])?)?])
        })
    }),
    ("GerV2", outer_product),
    ("HardSwishV2", |cx, op| unary(cx, op, "HardSwish")),
    ("MulV2", |cx, op| binary(cx, op, "Mul")),
    ("Real", |cx, op| {
        let x = op.input("input")?;
        let dtype = op.dtype("Tout")?;
        Ok(vec![cx.cast(x, dtype)?])
    }),
    ("SoftPlusV2", |cx, op| unary(cx, op, "Softplus")),
    ("SquareV2", |cx, op| {
        let x = op.input("x")?;
        Ok(vec![cx.one("Mul", &[x, x], Attrs::new())?])
    }),
    ("SubV2", |cx, op| binary(cx, op, "Sub")),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn unary(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    Ok(vec![cx.one(name, &[op.input("x")?], Attrs::new())?])
}

fn binary(cx: &mut Cx, op: &Op<'_>, name: &'static str) -> Answer {
    of(cx, op, ["x1", "x2"], |f, both| {
        Ok(vec![f.node(name, &both, Attrs::new())?])
    })
}

/// Divides, and rounds by `mode`: not at all, towards zero, or down. Quotients of integers without rounding are brought to their
/// type, which cuts the fraction.
fn quotient(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mode = op.int("mode")?;
    match mode {
        0 | 1 => {}
        2 => return super::elementwise::floor_div(cx, op),
        _ => {
            return Err(invalid(format!(
                "its attribute mode is {mode}; it must be 0 (none), 1 (towards zero) or 2 (down)"
            )));
        }
    }
    of(cx, op, ["x1", "x2"], |f, [a, b]| {
        Ok(vec![match (f.dtype(a).is_integer(), mode) {
            (true, _) => f.node("Div", &[a, b], Attrs::new())?,
            (false, 0) => f.div(a, b)?,
            (false, _) => super::fused::truncated_quotient(f, a, b)?,
        }])
    })
}

/// Adds the products of all pairs of two vectors to a matrix.
fn outer_product(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (x, y, a) = (op.input("x")?, op.input("y")?, op.input("A")?);
    let dtype = cx.ty(a).dtype;
    let alpha = f64::from(op.float("alpha")?);
    let f = Formula::new(cx);
    let (rows, columns, dims) = (f.dims(x)?, f.dims(y)?, f.dims(a)?);
    if rows.len() != 1 || columns.len() != 1 || dims != [rows[0], columns[0]] {
        return Err(invalid(format!(
            "its inputs x, y and A have the shapes {rows:?}, {columns:?} and {dims:?}; two vectors, and a matrix with a row for each element of x and a column for each of y, are required"
        )));
    }
    let within = match dtype.is_integer() {
        true => DataType::Float64,
        false => DataType::Float32,
    };
    let x = f.reshape(f.cast(x, within)?, &[rows[0], 1])?;
    let y = f.reshape(f.cast(y, within)?, &[1, columns[0]])?;
    let product = f.times(f.mul(x, y)?, alpha)?;
    Ok(vec![f.cast(f.add(product, f.cast(a, within)?)?, dtype)?])
}
