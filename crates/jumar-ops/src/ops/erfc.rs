//! Functions whose straightforward formula loses digits by cancellation.

use crate::kernels::compute_types::Float;
use crate::kernels::elementwise::{RealFunction, infer_same, real_map};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, InputDef, Operator, Types};

macro_rules! functions {
    ($($name:literal, $type:ident, $method:ident;)*) => {
        pub(super) static OPERATORS: &[&Operator] = &[$(&Operator {
            name: $name,
            onnx: &[],
            inputs: &[InputDef::required("x", Types::FLOAT)],
            outputs: OUTPUT_Y,
            attrs: &[],
            aliasing: Aliasing::Elementwise,
            reads_only_shapes: false,
            infer: infer_same,
            prepare: |cx| real_map(cx, $type),
        }),*];

        $(
            #[derive(Clone, Copy)]
            struct $type;

            impl RealFunction for $type {
                #[inline(always)]
                fn apply<A: Float>(&self, x: A) -> A {
                    x.$method()
                }
            }
        )*
    };
}

functions! {
    "Erfc", ErrorRest, erfc;
    "Expm1", ExpRest, exp_m1;
    "Log1p", LogNear, ln_1p;
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[4], &[-1.0, 0.5, 3.0, 5.0]);
        check(
            "Erfc",
            &[x],
            none(),
            &f32s(
                &[4],
                &[1.842_700_8, 0.479_500_1, 2.209_049_7e-5, 1.537_459_8e-12],
            ),
        );
        let x = || f32s(&[3], &[1e-7, -0.5, 2.0]);
        check(
            "Expm1",
            &[x()],
            none(),
            &f32s(&[3], &[1e-7, -0.393_469_34, 6.389_056]),
        );
        check(
            "Log1p",
            &[x()],
            none(),
            &f32s(&[3], &[1e-7, -std::f32::consts::LN_2, 1.098_612_3]),
        );
    }
}
