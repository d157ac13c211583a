//! Operators that frameworks ask for by an earlier name than that of the single operator.

use jumar_ops::{AttrDef, TensorType, UNKNOWN};

use super::shapes::{Shapes, invalid, unsupported};
use super::{Argument, SingleOperator, definition, input, optional, output};

use Argument::{Input, Output};

pub(super) static ALL: &[&SingleOperator] = &[
    &SingleOperator {
        operator: definition(
            "ApplyAdamW",
            &[
                input("var"),
                input("m"),
                input("v"),
                input("beta1_power"),
                input("beta2_power"),
                input("lr"),
                input("weight_decay"),
                input("beta1"),
                input("beta2"),
                input("epsilon"),
                input("grad"),
                optional("max_grad_norm"),
            ],
            &[output("var"), output("m"), output("v")],
            &[
                AttrDef::bool("amsgrad", false),
                AttrDef::bool("maximize", false),
            ],
        ),
        function: "aclnnApplyAdamW",
        arguments: &[("eps", Input("epsilon"))],
        infer: |cx| {
            Ok(vec![
                cx.of("var")?.clone(),
                cx.of("m")?.clone(),
                cx.of("v")?.clone(),
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "MatrixInverse",
            &[input("x")],
            &[output("y")],
            &[AttrDef::bool("adjoint", false)],
        ),
        function: "aclnnInverse",
        arguments: &[("self", Input("x")), ("out", Output("y"))],
        infer: |cx| {
            if cx.flag("adjoint")? {
                return Err(unsupported(
                    "its attribute adjoint is true, which is not supported",
                ));
            }
            Ok(vec![cx.of("x")?.clone()])
        },
    },
    &SingleOperator {
        operator: definition(
            "Svd",
            &[input("x")],
            &[output("sigma"), output("u"), output("v")],
            &[
                AttrDef::bool("compute_uv", true),
                AttrDef::bool("full_matrices", false),
            ],
        ),
        function: "aclnnSvd",
        arguments: &[("input", Input("x"))],
        infer: |cx| {
            let x = cx.of("x")?;
            if x.rank().is_none() {
                return Ok(vec![TensorType::of_unknown_rank(x.dtype); 3]);
            }
            let Some((&[rows, columns], batch)) = x.shape.split_last_chunk().map(|(a, b)| (b, a))
            else {
                return Err(invalid(format!(
                    "its input x is {x}; it must have at least 2 dimensions"
                )));
            };
            let least = match rows.min(columns) {
                ..0 => UNKNOWN,
                least => least,
            };
            let of = |own: &[i64]| TensorType::new(x.dtype, [batch, own].concat());
            let sigma = of(&[least]);
            Ok(match (cx.flag("compute_uv")?, cx.flag("full_matrices")?) {
                (false, _) => vec![sigma, Shapes::nothing(x.dtype), Shapes::nothing(x.dtype)],
                (true, false) => vec![sigma, of(&[rows, least]), of(&[columns, least])],
                (true, true) => vec![sigma, of(&[rows, rows]), of(&[columns, columns])],
            })
        },
    },
];
