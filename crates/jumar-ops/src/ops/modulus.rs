//! The remainder. `Mod` has the sign of the dividend, as the remainder of C has; `FloorMod` that of the divisor.

use crate::kernels::elementwise::{PairFunction, infer_pair, pair};
use crate::kernels::number::Number;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types, ValueRef,
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
        prepare: |cx| pair(cx, Function { floor: false }),
    },
    &Operator {
        name: "FloorMod",
        onnx: &[],
        inputs: &[
            InputDef::required("x1", Types::NUMBER),
            InputDef::required("x2", Types::NUMBER),
        ],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: infer_pair,
        prepare: |cx| pair(cx, Function { floor: true }),
    },
];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let truncates = node.bool_or("fmod", false)?;
    if !truncates && builder.ty(node.input(0)?).dtype.is_float() {
        return Err(OpError::invalid(
            "fmod = 0 is for integers; floats need fmod = 1",
        ));
    }
    let operator = if truncates { "Mod" } else { "FloorMod" };
    Ok(vec![builder.node(operator, node.inputs(), Attrs::new())?])
}

#[derive(Clone, Copy)]
struct Function {
    floor: bool,
}

impl PairFunction for Function {
    const LIGHT: bool = false;

    #[inline(always)]
    fn apply<T: Number>(&self, a: T, b: T) -> T {
        let rest = a.rem(b);
        let zero = T::default();
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
}
