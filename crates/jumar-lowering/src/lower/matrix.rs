//! Products of matrices.

use jumar_ops::{Attrs, Builder as _, OpError};

use jumar_types::dtype::DataType;

use super::op::{Op, same};
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("BatchMatMul", |cx, op| {
        product(cx, op, "BatchMatMulV2", ["adj_x1", "adj_x2"])
    }),
    ("BatchMatMulV2", |cx, op| {
        product(cx, op, "BatchMatMulV2", ["adj_x1", "adj_x2"])
    }),
    ("Einsum", einsum),
    ("FullyConnection", fully),
    ("GEMM", gemm),
    ("MatMul", |cx, op| {
        product(cx, op, "MatMul", ["transpose_x1", "transpose_x2"])
    }),
    ("MatMulV2", |cx, op| {
        product(cx, op, "MatMulV2", ["transpose_x1", "transpose_x2"])
    }),
    ("MatrixDeterminant", same),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn product(cx: &mut Cx, op: &Op<'_>, name: &'static str, turned: [&str; 2]) -> Answer {
    if op.maybe("offset_w").is_some() {
        return Err(unsupported("its input offset_w is not supported"));
    }
    let mut all = vec![op.input("x1")?, op.input("x2")?];
    all.extend(op.maybe("bias"));
    in_32_bits(cx, &mut all)?;
    let attrs = Attrs::new()
        .with(turned[0], op.yes(turned[0])?)
        .with(turned[1], op.yes(turned[1])?);
    Ok(vec![cx.one(name, &all, attrs)?])
}

/// Brings factors to one type. Products of 8 bits are summed up, and given, in 32.
fn in_32_bits(cx: &mut Cx, all: &mut [ValueId]) -> Result<(), OpError> {
    cx.promote(all)?;
    if cx.ty(all[0]).dtype == DataType::Int8 {
        for value in all {
            *value = cx.cast(*value, DataType::Int32)?;
        }
    }
    Ok(())
}

fn einsum(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut all = op.list("x")?;
    cx.promote(&mut all)?;
    let attrs = Attrs::new()
        .with("equation", op.text("equation")?)
        .with("N", all.len() as i64);
    Ok(vec![cx.one("Einsum", &all, attrs)?])
}

/// `alpha * a * b + beta * c`, in the type of `c`. Products of 16 bits are summed and scaled in float32 and rounded once. A `beta` of 0
/// ignores what `c` holds, which may not be numbers.
fn gemm(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mut factors = [op.input("a")?, op.input("b")?];
    let mut rest = [op.input("c")?, op.input("alpha")?, op.input("beta")?];
    let result = cx.ty(rest[0]).dtype;
    let wide = |dtype: DataType| match dtype {
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        DataType::Int8 | DataType::UInt8 => DataType::Int32,
        other => other,
    };
    cx.promote(&mut factors)?;
    let given = cx.ty(factors[0]).dtype;
    let multiplied = wide(cx.ty(factors[0]).dtype);
    for factor in &mut factors {
        *factor = cx.cast(*factor, multiplied)?;
    }
    let attrs = Attrs::new()
        .with("transpose_x1", op.yes("transpose_a")?)
        .with("transpose_x2", op.yes("transpose_b")?);
    let product = cx.one("MatMulV2", &factors, attrs)?;
    // In 16 bits each step rounds, as MatMul, Muls and Add do. Elsewhere the sum is made in the wider of the two types, where one is a
    // float and the other is not in that one.
    let scaled = match (multiplied.is_float(), wide(result)) {
        (true, _) if given == result => result,
        (true, other) if !other.is_float() => multiplied,
        (_, other) => other,
    };
    let product = cx.cast(product, scaled)?;
    for value in &mut rest {
        *value = cx.cast(*value, scaled)?;
    }
    let [c, alpha, beta] = rest;
    let product = cx.one("Mul", &[product, alpha], Attrs::new())?;
    let kept = cx.one("Mul", &[c, beta], Attrs::new())?;
    let zero = cx.number(0.0, beta)?;
    let ignored = cx.one("Equal", &[beta, zero], Attrs::new())?;
    let kept = cx.one("SelectV2", &[ignored, zero, kept], Attrs::new())?;
    let sum = cx.one("Add", &[product, kept], Attrs::new())?;
    Ok(vec![cx.cast(sum, result)?])
}

/// The axes from `axis` on are taken together and multiplied with `w`, which is turned unless `transpose` says otherwise.
fn fully(cx: &mut Cx, op: &Op<'_>) -> Answer {
    if op.maybe("offset_w").is_some() {
        return Err(unsupported("its input offset_w is not supported"));
    }
    let mut all = vec![op.input("x")?, op.input("w")?];
    all.extend(op.maybe("b"));
    in_32_bits(cx, &mut all)?;
    let axis = op.int("axis")?;
    let dims = cx.dims(all[0])?;
    let kept = usize::try_from(axis)
        .ok()
        .and_then(|axis| dims.get(..axis))
        .filter(|kept| !kept.is_empty())
        .ok_or_else(|| {
            invalid(format!(
                "its attribute axis is {axis}, and its input has {} dimensions",
                dims.len()
            ))
        })?;
    let shape = [kept, &[dims[kept.len()..].iter().product()]].concat();
    all[0] = cx.reshape(all[0], &shape)?;
    if cx.rank(all[1])? > 2 {
        all[1] = cx.one("Flatten", &[all[1]], Attrs::new().with("axis", 1i64))?;
    }
    let attrs = Attrs::new().with("adj_x2", !op.yes("transpose")?);
    let inputs: Vec<_> = all.into_iter().map(Some).collect();
    cx.add_node("BatchMatMulV2", &inputs, attrs, 1)
}
