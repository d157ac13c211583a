//! The product with a packed constant matrix, a bias, a summand and a function after it: made by fusion.

use crate::kernels::linear;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, AttrKind, InputDef, Operator, Types};
use jumar_types::dtype::DataType;

const FLOAT32: Types = Types::of(&[DataType::Float32]);
const PACKED: Types = Types::of(&[DataType::Float32, DataType::BFloat16]);

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.Linear",
    onnx: &[],
    inputs: &[
        InputDef::required("x", FLOAT32),
        // Panels of 32 columns; `pack_matrix` makes them, and `bf16_matrix` rounds them.
        InputDef::required("matrix", PACKED),
        InputDef::optional("bias", FLOAT32),
        InputDef::optional("summand", FLOAT32),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("columns", AttrKind::Int),
        AttrDef::str("activation", "none"),
        // The 16-bit type whose values the result is rounded to, as ACL numbers types; float32: none.
        AttrDef::int("rounding", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: linear::infer,
    prepare: linear::prepare,
}];

#[cfg(test)]
mod tests {
    use crate::pack_matrix;
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        for (m, n, k) in [
            (1, 10, 20),
            (1, 300, 1600),
            (2, 200, 9),
            (3, 97, 40),
            (5, 33, 7),
            (300, 40, 800),
            (20, 31, 1),
        ] {
            let (a, b) = (noise(&[m, k], 1), noise(&[k, n], 2));
            let (bias, summand) = (noise(&[n], 3), noise(&[m, n], 4));
            let [av, bv, cv, dv] = [&a, &b, &bias, &summand].map(|t| t.floats().unwrap());
            let turned: Vec<f32> = (0..n * k)
                .map(|at| bv[at % k * n + at / k] as f32)
                .collect();
            let packed = pack_matrix(&b, false).unwrap();
            assert_eq!(
                packed.bytes(),
                pack_matrix(&f32s(&[n, k], &turned), true).unwrap().bytes()
            );
            for (name, f) in [
                ("none", (|x| x) as fn(f64) -> f64),
                ("relu", |x| x.max(0.0)),
                ("gelu", |x| {
                    0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2))
                }),
                ("gelu_tanh", |x| {
                    0.5 * x * (1.0 + (0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x)).tanh())
                }),
                ("swish", |x| x / (1.0 + (-x).exp())),
                ("tanh", f64::tanh),
                ("sigmoid", |x| 1.0 / (1.0 + (-x).exp())),
            ] {
                let wanted: Vec<f32> = (0..m * n)
                    .map(|at| {
                        let sum: f64 = (0..k)
                            .map(|p| av[at / n * k + p] * bv[p * n + at % n])
                            .sum();
                        f(sum + cv[at % n] + dv[at]) as f32
                    })
                    .collect();
                let attrs = none().with("columns", n as i64).with("activation", name);
                let inputs = [a.clone(), packed.clone(), bias.clone(), summand.clone()];
                check_within(
                    "jumar.Linear",
                    &inputs,
                    attrs,
                    &f32s(&[m, n], &wanted),
                    2e-5,
                );
            }
        }
    }

    #[test]
    fn in_bfloat16_it_is_the_product_of_rounded_numbers() {
        let rounded = |x: f64| f64::from(half::bf16::from_f32(x as f32));
        for (m, n, k) in [(1, 300, 1600), (3, 97, 41), (300, 40, 800), (20, 31, 1)] {
            let (a, b) = (noise(&[m, k], 1), noise(&[k, n], 2));
            let (bias, summand) = (noise(&[n], 3), noise(&[m, n], 4));
            let [av, bv, cv, dv] = [&a, &b, &bias, &summand].map(|t| t.floats().unwrap());
            let packed = crate::packing::bf16_matrix(&pack_matrix(&b, false).unwrap()).unwrap();
            let wanted: Vec<f32> = (0..m * n)
                .map(|at| {
                    let product =
                        |p: usize| rounded(av[at / n * k + p]) * rounded(bv[p * n + at % n]);
                    ((0..k).map(product).sum::<f64>() + cv[at % n] + dv[at]).max(0.0) as f32
                })
                .collect();
            let attrs = none().with("columns", n as i64).with("activation", "relu");
            check_within(
                "jumar.Linear",
                &[a, packed, bias, summand],
                attrs,
                &f32s(&[m, n], &wanted),
                2e-6,
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let packed = pack_matrix(&noise(&[4, 40], 1), false).unwrap();
        let x = noise(&[2, 4], 2);
        refuse(
            "jumar.Linear",
            &[x.clone(), packed.clone()],
            none().with("columns", 70),
            "packed",
        );
        refuse(
            "jumar.Linear",
            &[noise(&[2, 5], 2), packed.clone()],
            none().with("columns", 40),
            "4 rows",
        );
        let attrs = none().with("columns", 40).with("activation", "sin");
        refuse("jumar.Linear", &[x, packed], attrs, "sin");
    }
}
