//! Operators that frameworks ask for by an earlier name than that of the single operator.

use jumar_ops::AttrDef;

use super::shapes::unsupported;
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
];
