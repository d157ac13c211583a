//! Power.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::{LATEST, cast, wider};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Pow",
    onnx: &[OnnxForm::new("Pow", 7, LATEST, lower)],
    inputs: &[
        InputDef::required("x1", Types::NUMBER),
        InputDef::required("x2", Types::NUMBER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_pair,
    prepare: |cx| pair(cx, Function),
}];

/// ONNX allows an exponent of another type; the result has the base's.
fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let (base, exponent) = (node.input(0)?, node.input(1)?);
    let (to, from) = (builder.ty(base).dtype, builder.ty(exponent).dtype);
    if to == from {
        return Ok(vec![builder.node(
            "Pow",
            &[Some(base), Some(exponent)],
            Attrs::new(),
        )?]);
    }
    // Computed where both fit: in integers if both are whole, and else in a real type that loses nothing of a float.
    let common = match (to.is_float(), from.is_float()) {
        (true, true) => wider(to, from),
        (true, false) => wider(to, DataType::Float32),
        (false, true) => DataType::Float64,
        (false, false) => DataType::Int64,
    };
    let (base, exponent) = (
        cast(builder, base, common)?,
        cast(builder, exponent, common)?,
    );
    let power = builder.node("Pow", &[Some(base), Some(exponent)], Attrs::new())?;
    Ok(vec![cast(builder, power, to)?])
}

#[derive(Clone, Copy)]
struct Function;

impl PairFunction for Function {
    const LIGHT: bool = false;

    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        a.pow(b)
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[3], &[1.0, 2.0, 3.0]);
        check(
            "Pow",
            &[x, f32s(&[], &[2.0])],
            none(),
            &f32s(&[3], &[1.0, 4.0, 9.0]),
        );
        check(
            "Pow",
            &[
                i64s(&[5], &[2, -1, 3, 5, -1]),
                i64s(&[5], &[10, 3, 0, -2, -3]),
            ],
            none(),
            &i64s(&[5], &[1024, -1, 1, 0, -1]),
        );
    }
}
