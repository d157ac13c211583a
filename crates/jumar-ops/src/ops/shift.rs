//! Bitwise shift. The attribute of ONNX's `BitShift` sets the direction.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::{bits, infer_pair};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, Attrs, InputDef, OnnxForm, OpError, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "LeftShift",
        onnx: &[OnnxForm::new("BitShift", 11, LATEST, |builder, node| {
            let operator = match node.str_or("direction", "")? {
                "LEFT" => "LeftShift",
                "RIGHT" => "RightShift",
                other => {
                    return Err(OpError::invalid(format!(
                        "the direction {other:?} is neither LEFT nor RIGHT"
                    )));
                }
            };
            Ok(vec![builder.node(operator, node.inputs(), Attrs::new())?])
        })],
        inputs: &[
            InputDef::required("x", Types::INTEGER),
            InputDef::required("y", Types::INTEGER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        // A distance below 0 or beyond the type leaves nothing.
        prepare: |cx| {
            let function = match cx.dtype(0)? {
                DataType::Int8 => left::<8>,
                DataType::Int16 => left::<16>,
                DataType::Int32 => left::<32>,
                _ => left::<64>,
            };
            bits(cx, function)
        },
    },
    &Operator {
        name: "RightShift",
        onnx: &[],
        inputs: &[
            InputDef::required("x", Types::INTEGER),
            InputDef::required("y", Types::INTEGER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| {
            let function = match cx.dtype(0)? {
                DataType::Int8 => right::<8>,
                DataType::Int16 => right::<16>,
                DataType::Int32 => right::<32>,
                DataType::Int64 => right::<64>,
                _ => |a, b| if b < 64 { a >> b } else { 0 },
            };
            bits(cx, function)
        },
    },
];

/// Shifts the bits of an integer of a width to the left.
fn left<const BITS: u32>(a: u64, b: u64) -> u64 {
    if extended::<BITS>(b) >= 0 && b < u64::from(BITS) {
        a << b
    } else {
        0
    }
}

/// Shifts the bits of a signed integer of a width to the right, with copies of its sign. Any other distance leaves the sign alone.
fn right<const BITS: u32>(a: u64, b: u64) -> u64 {
    let distance = if extended::<BITS>(b) >= 0 {
        b.min(63)
    } else {
        63
    };
    (extended::<BITS>(a) >> distance).cast_unsigned()
}

/// The lowest bits as a signed number.
fn extended<const BITS: u32>(bits: u64) -> i64 {
    (bits << (64 - BITS)).cast_signed() >> (64 - BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let bytes = |values: &[i64]| cast(&i64s(&[values.len()], values), DataType::UInt8);
        let (x, y) = (bytes(&[1, 3, 255, 7]), bytes(&[1, 7, 9, 0]));
        check(
            "LeftShift",
            &[x.clone(), y.clone()],
            none(),
            &bytes(&[2, 128, 0, 7]),
        );
        check("RightShift", &[x, y], none(), &bytes(&[0, 0, 0, 7]));
        refuse(
            "LeftShift",
            &[f32s(&[1], &[1.0]), f32s(&[1], &[1.0])],
            none(),
            "it can be",
        );
    }

    #[test]
    fn signed_integers_shift_copies_of_their_sign() {
        let (values, distances) = ([-128, 127, -1, 5, -5, 1], [1, 1, 9, -1, -1, 8]);
        let left = [0, -2, 0, 0, 0, 0];
        let right = [-64, 63, -1, 0, -1, 0];
        for dtype in [DataType::Int8, DataType::Int16, DataType::Int64] {
            let typed = |values: &[i64]| cast(&i64s(&[values.len()], values), dtype);
            let inputs = [typed(&values), typed(&distances)];
            check(
                "RightShift",
                &inputs,
                none(),
                &typed(&match dtype {
                    DataType::Int8 => right,
                    _ => [-64, 63, -1, 0, -1, 0],
                }),
            );
            if dtype == DataType::Int8 {
                check("LeftShift", &inputs, none(), &typed(&left));
            } else {
                let wide = [-256, 254, -512, 0, 0, 256];
                check("LeftShift", &inputs, none(), &typed(&wide));
            }
        }
    }
}
