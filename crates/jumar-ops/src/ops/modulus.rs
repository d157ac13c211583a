//! The remainder. `Mod` has the sign of the dividend, as the remainder of C has; `FloorMod` that of the divisor.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "Mod",
        onnx: &[OnnxForm::new("Mod", 10, LATEST, lower)],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| {
            pair(
                cx,
                Function {
                    floor: false,
                    signed_zero: false,
                },
            )
        },
    },
    &Operator {
        name: "FloorMod",
        onnx: &[],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        // Ours: ONNX has a remainder of 0 take the sign of the divisor; elsewhere it keeps that of the dividend.
        attrs: &[AttrDef::bool("signed_zero", false)],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| {
            let signed_zero = cx.attrs().bool("signed_zero")?;
            pair(
                cx,
                Function {
                    floor: true,
                    signed_zero,
                },
            )
        },
    },
];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let truncates = node.bool_or("fmod", false)?;
    let is_float = builder.ty(node.input(0)?).dtype.is_float();
    if !truncates && is_float && node.opset < 28 {
        return Err(OpError::invalid(
            "fmod = 0 is for integers before operator set 28; floats need fmod = 1",
        ));
    }
    let (operator, attrs) = match (truncates, is_float) {
        (true, _) => ("Mod", Attrs::new()),
        (false, false) => ("FloorMod", Attrs::new()),
        (false, true) => ("FloorMod", Attrs::new().with("signed_zero", true)),
    };
    Ok(vec![builder.node(operator, node.inputs(), attrs)?])
}

#[derive(Clone, Copy)]
struct Function {
    floor: bool,
    signed_zero: bool,
}

impl PairFunction for Function {
    const LIGHT: bool = false;

    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        let rest = a.rem(b);
        let zero = T::default();
        if self.signed_zero && rest == zero {
            return if b < zero { zero.neg() } else { zero };
        }
        if self.floor && rest != zero && (rest < zero) != (b < zero) {
            rest.add(b)
        } else {
            rest
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let (x, y) = (
            i64s(&[6], &[-4, 7, 5, 4, -7, 8]),
            i64s(&[6], &[2, -3, 8, -2, 3, 5]),
        );
        check(
            "FloorMod",
            &[x.clone(), y.clone()],
            none(),
            &i64s(&[6], &[0, -2, 5, 0, 2, 3]),
        );
        check("Mod", &[x, y], none(), &i64s(&[6], &[0, 1, 5, 0, -1, 3]));
        check(
            "Mod",
            &[i64s(&[2], &[i64::MIN, 3]), i64s(&[2], &[-1, 0])],
            none(),
            &i64s(&[2], &[0, 0]),
        );
        check(
            "Mod",
            &[f32s(&[2], &[-4.25, 7.5]), f32s(&[2], &[2.0, -3.0])],
            none(),
            &f32s(&[2], &[-0.25, 1.5]),
        );
        check(
            "FloorMod",
            &[f32s(&[2], &[-4.25, 7.5]), f32s(&[2], &[2.0, -3.0])],
            none(),
            &f32s(&[2], &[1.75, -1.5]),
        );
    }
    #[test]
    fn floors_of_floats_follow_the_special_cases_of_onnx() {
        let attrs = || none().with("signed_zero", true);
        let inf = f32::INFINITY;
        let (x, y) = (
            f32s(&[6], &[4.0, -4.0, 3.0, -3.0, inf, 1.0]),
            f32s(&[6], &[-2.0, 2.0, -inf, -inf, 2.0, 0.0]),
        );
        let found = run("FloorMod", &[x, y], attrs()).unwrap()[0]
            .floats()
            .unwrap();
        assert!(found[0] == 0.0 && found[0].is_sign_negative());
        assert!(found[1] == 0.0 && found[1].is_sign_positive());
        assert_eq!(found[2], f64::NEG_INFINITY);
        assert_eq!(found[3], -3.0);
        assert!(found[4].is_nan() && found[5].is_nan());
    }
}
