//! Operators on complex numbers. Operators that only move elements take them as they are. What computes is replaced by a single
//! operator, or computes with the parts, so that lowerings need not know of complex numbers.

use jumar_ops::{Attr, Attrs, Builder as _, OpError, Types};
use jumar_types::dtype::DataType;

use super::array::constant_int;
use super::slice::numbers;
use super::{Cx, Lowering, data_type, unsupported};
use jumar_graph::ValueId;
use jumar_graph::conversion::find_complex_operator;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Angle", |cx, op| {
        let x = op.input("input")?;
        let angle = cx.one("jumar.complex.Angle", &[x], Attrs::new())?;
        Ok(vec![cx.cast(angle, op.dtype("Tout")?)?])
    }),
    ("Complex", |cx, op| {
        let mut both = [op.input("real")?, op.input("imag")?];
        cx.promote(&mut both)?;
        Ok(vec![joined(cx, both, op.dtype("Tout")?)?])
    }),
    ("ComplexAbs", |cx, op| {
        let size = cx.one("Abs", &[op.input("x")?], Attrs::new())?;
        Ok(vec![cx.cast(size, op.dtype("Tout")?)?])
    }),
    ("Conj", |cx, op| {
        Ok(vec![conjugate(cx, op.input("input")?)?])
    }),
    ("Imag", |cx, op| {
        let x = op.input("input")?;
        let imaginary = match is_complex(cx.ty(x).dtype) {
            true => parts(cx, x)?[1],
            false => {
                let zero = cx.number(0.0, x)?;
                cx.one("Mul", &[x, zero], Attrs::new())?
            }
        };
        Ok(vec![cx.cast(imaginary, op.dtype("Tout")?)?])
    }),
    ("LogMatrixDeterminant", |cx, op| {
        let x = op.input("x")?;
        let dtype = cx.ty(x).dtype;
        let operator = match is_complex(dtype) {
            true => "jumar.complex.Slogdet",
            false => "jumar.Slogdet",
        };
        let found = cx.add_node(operator, &[Some(x)], Attrs::new(), 2)?;
        let log = cx.cast(found[1], dtype)?;
        Ok(vec![found[0], log])
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Returns whether the elements are complex numbers.
pub(super) fn is_complex(dtype: DataType) -> bool {
    Types::COMPLEX.contains(dtype)
}

/// Adds the nodes that compute an operator with complex numbers; `None` where the operator takes its inputs as they are.
///
/// # Errors
///
/// NotSupported: the operator is not defined for complex numbers, or not supported with these inputs.
pub(super) fn node(
    cx: &mut Cx,
    operator: &'static str,
    inputs: &[Option<ValueId>],
    attrs: &Attrs,
) -> Result<Option<Vec<ValueId>>, OpError> {
    let given = || inputs.iter().flatten();
    let is_input = given().any(|&value| is_complex(cx.ty(value).dtype));
    let is_target = operator == "Cast"
        && matches!(attrs.get("dst_type"), Some(&Attr::Int(number)) if data_type(number).is_ok_and(is_complex));
    if operator.starts_with("jumar.complex.") || !(is_input || is_target) {
        return Ok(None);
    }
    let adds = matches!(attrs.get("reduction"), Some(Attr::Str(how)) if how == "add");
    let replaces = matches!(attrs.get("reduction"), Some(Attr::Str(how)) if how == "none");
    match operator {
        "Cumsum" | "ReduceMean" | "ReduceSum" | "Round" => {
            by_parts(cx, operator, inputs, attrs).map(Some)
        }
        "ScatterElements" | "TensorScatterUpdate" if adds => {
            by_parts(cx, operator, inputs, attrs).map(Some)
        }
        "ScatterElements" | "TensorScatterUpdate" if !replaces => Err(unsupported(format!(
            "its elements are {}; only sums of complex numbers are supported",
            name_of(cx, inputs)
        ))),
        "Cumprod" => running_product(cx, inputs, attrs).map(Some),
        "BatchMatMul" | "BatchMatMulV2" | "MatMul" | "MatMulV2" => {
            matrix_product(cx, operator, inputs, attrs).map(Some)
        }
        "MatrixDeterminant" => determinant(cx, inputs).map(Some),
        "ReduceLogSum" => {
            let sums = by_parts(cx, "ReduceSum", inputs, attrs)?;
            Ok(Some(vec![cx.one("Log", &sums, Attrs::new())?]))
        }
        "ReduceProd" => product(cx, inputs, attrs).map(Some),
        _ => match find_complex_operator(operator) {
            Some(single) => {
                let outputs = single.outputs.len();
                cx.add_node(single.name, inputs, attrs.clone(), outputs)
                    .map(Some)
            }
            None => Ok(None),
        },
    }
}

/// The name of the first complex type among the inputs.
fn name_of(cx: &Cx, inputs: &[Option<ValueId>]) -> &'static str {
    let mut types = inputs.iter().flatten().map(|&value| cx.ty(value).dtype);
    types
        .find(|dtype| is_complex(*dtype))
        .map_or("", DataType::name)
}

/// Returns real and imaginary parts: a complex number is two floats, side by side.
fn parts(cx: &mut Cx, x: ValueId) -> Result<[ValueId; 2], OpError> {
    let part = match cx.ty(x).dtype {
        DataType::Complex32 => DataType::Float16,
        DataType::Complex128 => DataType::Float64,
        _ => DataType::Float32,
    };
    let pairs = cx.one("Bitcast", &[x], Attrs::new().with("type", part))?;
    let mut take = |from: i64, to: i64| {
        let [from, to, axis] = [from, to, -1].map(|value| cx.ints(&[value]));
        let part = cx.one("StridedSliceV2", &[pairs, from, to, axis], Attrs::new())?;
        cx.one("Squeeze", &[part], Attrs::new().with("axis", vec![-1]))
    };
    Ok([take(0, 1)?, take(1, 2)?])
}

/// Returns the complex conjugates; those of floats and integers are themselves.
pub(super) fn conjugate(cx: &mut Cx, x: ValueId) -> Result<ValueId, OpError> {
    let dtype = cx.ty(x).dtype;
    if !is_complex(dtype) {
        return Ok(x);
    }
    let [real, imaginary] = parts(cx, x)?;
    let imaginary = cx.one("Neg", &[imaginary], Attrs::new())?;
    joined(cx, [real, imaginary], dtype)
}

/// Makes complex numbers of two parts, in a complex type.
fn joined(cx: &mut Cx, parts: [ValueId; 2], dtype: DataType) -> Result<ValueId, OpError> {
    let joined = match cx.ty(parts[0]).dtype {
        DataType::Float16 => DataType::Complex32,
        DataType::Float64 => DataType::Complex128,
        _ => DataType::Complex64,
    };
    let parts = parts.map(|part| cx.one("Unsqueeze", &[part], Attrs::new().with("axes", vec![-1])));
    let [real, imaginary] = parts;
    let attrs = Attrs::new().with("concat_dim", -1i64).with("N", 2i64);
    let pairs = cx.one("ConcatD", &[real?, imaginary?], attrs)?;
    let value = cx.one("Bitcast", &[pairs], Attrs::new().with("type", joined))?;
    cx.cast(value, dtype)
}

/// Computes real and imaginary parts each for themselves. Those of complex32 are summed in float32.
fn by_parts(
    cx: &mut Cx,
    operator: &'static str,
    inputs: &[Option<ValueId>],
    attrs: &Attrs,
) -> Answer {
    let mut both = [inputs.to_vec(), inputs.to_vec()];
    let mut dtype = DataType::Complex64;
    for (index, input) in inputs.iter().enumerate() {
        let Some(value) = *input else { continue };
        let own = cx.ty(value).dtype;
        if !is_complex(own) {
            continue;
        }
        dtype = own;
        for (list, part) in both.iter_mut().zip(parts(cx, value)?) {
            list[index] = Some(match own {
                DataType::Complex32 => cx.cast(part, DataType::Float32)?,
                _ => part,
            });
        }
    }
    let mut results = Vec::new();
    for list in both {
        results.extend(cx.add_node(operator, &list, attrs.clone(), 1)?);
    }
    let [real, imaginary] = results[..] else {
        return Err(OpError::new(
            jumar_ops::OpErrorKind::Internal,
            "an operator without an output",
        ));
    };
    Ok(vec![joined(cx, [real, imaginary], dtype)?])
}

fn flag(attrs: &Attrs, name: &str) -> Option<bool> {
    match attrs.get(name) {
        Some(&Attr::Bool(value)) => Some(value),
        _ => None,
    }
}

/// Returns the input at a position.
fn input(inputs: &[Option<ValueId>], index: usize) -> Result<ValueId, OpError> {
    let value = inputs.get(index).copied().flatten();
    value.ok_or_else(|| super::invalid(format!("its input {index} is missing")))
}

/// Counts an axis from the front.
fn axis_of(axis: i64, rank: usize) -> Result<usize, OpError> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(at)
        .ok()
        .filter(|at| *at < rank)
        .ok_or_else(|| {
            super::invalid(format!(
                "its axis is {axis}, and its input has {rank} dimensions"
            ))
        })
}

/// The product over axes, one after the other.
fn product(cx: &mut Cx, inputs: &[Option<ValueId>], attrs: &Attrs) -> Answer {
    let mut y = input(inputs, 0)?;
    let rank = cx.rank(y)?;
    let mut axes = match inputs.get(1).copied().flatten() {
        Some(axes) => numbers(cx, axes, "axes")?,
        None => Vec::new(),
    };
    if axes.is_empty() && !flag(attrs, "noop_with_empty_axes").unwrap_or(true) {
        axes = (0..rank as i64).collect();
    }
    if inputs.get(1).copied().flatten().is_none() {
        axes = (0..rank as i64).collect();
    }
    let mut positions = Vec::new();
    for axis in axes {
        positions.push(axis_of(axis, rank)? as i64);
    }
    positions.sort_unstable();
    positions.dedup();
    for &axis in &positions {
        let attrs = Attrs::new().with("axis", axis);
        y = cx.one("jumar.complex.ProductOfAxis", &[y], attrs)?;
    }
    if !flag(attrs, "keep_dims").unwrap_or(false) && !positions.is_empty() {
        y = cx.one("Squeeze", &[y], Attrs::new().with("axis", positions))?;
    }
    Ok(vec![y])
}

/// Products along an axis. From the end, the elements are turned around before and after; without the own element, a 1 is put in front.
fn running_product(cx: &mut Cx, inputs: &[Option<ValueId>], attrs: &Attrs) -> Answer {
    let mut y = input(inputs, 0)?;
    let rank = cx.rank(y)?;
    let at = axis_of(constant_int(cx, input(inputs, 1)?, "axis")?, rank)?;
    let reverse = flag(attrs, "reverse").unwrap_or(false);
    if reverse {
        y = turned(cx, y, at)?;
    }
    if flag(attrs, "exclusive").unwrap_or(false) {
        let mut before = vec![0; 2 * rank];
        before[2 * at] = 1;
        before[2 * at + 1] = -1;
        let (paddings, one) = (cx.ints(&before), cx.number(1.0, y)?);
        y = cx.one("PadV3", &[y, paddings, one], Attrs::new())?;
    }
    let attrs = Attrs::new().with("axis", at as i64);
    y = cx.one("jumar.complex.Cumprod", &[y], attrs)?;
    if reverse {
        y = turned(cx, y, at)?;
    }
    Ok(vec![y])
}

/// The elements of an axis from the last to the first.
fn turned(cx: &mut Cx, x: ValueId, axis: usize) -> Result<ValueId, OpError> {
    super::slice::reversed(cx, x, &[axis as i64])
}

/// Returns the product of matrices, of their parts.
fn matrix_product(
    cx: &mut Cx,
    operator: &'static str,
    inputs: &[Option<ValueId>],
    attrs: &Attrs,
) -> Answer {
    let (a, b) = (input(inputs, 0)?, input(inputs, 1)?);
    let dtype = cx.ty(a).dtype;
    if inputs.len() > 2 || cx.ty(b).dtype != dtype {
        return Err(unsupported(format!(
            "a product of matrices of {dtype} has a third input, or one of another type"
        )));
    }
    let ([a_real, a_imaginary], [b_real, b_imaginary]) = (parts(cx, a)?, parts(cx, b)?);
    let mut product = |a: ValueId, b: ValueId| cx.one(operator, &[a, b], attrs.clone());
    let real = [product(a_real, b_real)?, product(a_imaginary, b_imaginary)?];
    let imaginary = [product(a_real, b_imaginary)?, product(a_imaginary, b_real)?];
    let real = cx.one("Sub", &real, Attrs::new())?;
    let imaginary = cx.one("Add", &imaginary, Attrs::new())?;
    Ok(vec![joined(cx, [real, imaginary], dtype)?])
}

/// The determinants of matrices.
fn determinant(cx: &mut Cx, inputs: &[Option<ValueId>]) -> Answer {
    let x = input(inputs, 0)?;
    let dtype = cx.ty(x).dtype;
    let found = cx.add_node("jumar.complex.Slogdet", &[Some(x)], Attrs::new(), 2)?;
    let [sign, log] = found[..] else {
        return Err(unsupported("a determinant without its logarithm"));
    };
    let size = cx.one("Exp", &[log], Attrs::new())?;
    let size = cx.cast(size, dtype)?;
    Ok(vec![cx.one("Mul", &[sign, size], Attrs::new())?])
}
