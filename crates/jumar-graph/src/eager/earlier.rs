//! Operators that frameworks ask for by an earlier name than that of the single operator.

use jumar_ops::{AttrDef, AttrKind, InputDef, TensorType, Types, UNKNOWN};
use jumar_types::dtype::DataType;

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
            "CTCLossV2",
            &[
                input("log_probs"),
                input("targets"),
                InputDef::constant("input_lengths", Types::INDEX),
                InputDef::constant("target_lengths", Types::INDEX),
            ],
            &[output("neg_log_likelihood"), output("log_alpha")],
            &[
                AttrDef::int("blank", 0),
                AttrDef::str("reduction", "mean"),
                AttrDef::bool("zero_infinity", false),
            ],
        ),
        function: "aclnnCtcLoss",
        arguments: &[],
        infer: |cx| {
            let x = cx.of("log_probs")?;
            let dims = cx.dims::<3>("log_probs")?;
            let [steps, batch, _] = dims.unwrap_or([UNKNOWN; 3]);
            // Frameworks allocate for the longest target that there may be, and a multiple of 8 states: more than are used.
            let lengths = cx.values("target_lengths");
            let longest = lengths.and_then(|list| list.into_iter().max());
            let longest = match cx.of("targets")?.shape[..] {
                [_, most] if most >= 0 => Some(most),
                _ => longest,
            };
            let states = longest.map_or(UNKNOWN, |longest| {
                (2 * longest.max(0) as u64 + 1).next_multiple_of(8) as i64
            });
            Ok(vec![
                TensorType::new(x.dtype, vec![batch]),
                TensorType::new(x.dtype, vec![batch, steps, states]),
            ])
        },
    },
    &SingleOperator {
        operator: definition(
            "CTCLossV2Grad",
            &[
                input("grad_out"),
                input("log_probs"),
                input("targets"),
                InputDef::constant("input_lengths", Types::INDEX),
                InputDef::constant("target_lengths", Types::INDEX),
                input("neg_log_likelihood"),
                input("log_alpha"),
            ],
            &[output("grad")],
            &[
                AttrDef::int("blank", 0),
                AttrDef::str("reduction", "mean"),
                AttrDef::bool("zero_infinity", false),
            ],
        ),
        function: "aclnnCtcLossBackward",
        arguments: &[("gradOut", Input("grad_out")), ("out", Output("grad"))],
        infer: |cx| Ok(vec![cx.of("log_probs")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "Cummin",
            &[input("x")],
            &[output("y"), output("indices")],
            &[AttrDef::required("axis", AttrKind::Int)],
        ),
        function: "aclnnCummin",
        arguments: &[
            ("self", Input("x")),
            ("dim", Argument::Attr("axis")),
            ("valuesOut", Output("y")),
        ],
        infer: |cx| Ok(vec![cx.of("x")?.clone(), cx.with("x", DataType::Int32)?]),
    },
    &SingleOperator {
        operator: definition(
            "FillDiagonal",
            &[input("x")],
            &[output("y")],
            &[
                AttrDef::required("fill_value", AttrKind::Float),
                AttrDef::bool("wrap", false),
            ],
        ),
        function: "aclnnInplaceFillDiagonal",
        arguments: &[("selfRef", Argument::Update("x", "y"))],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
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
    // `mode` is 0 for as many columns as the matrix has rows or columns, whichever are fewer, and 1 for all rows.
    &SingleOperator {
        operator: definition(
            "jumar.Qr",
            &[input("x")],
            &[output("q"), output("r")],
            &[AttrDef::int("mode", 0)],
        ),
        function: "aclnnLinalgQr",
        arguments: &[("self", Input("x"))],
        infer: |cx| {
            let x = cx.of("x")?;
            if x.rank().is_none() {
                return Ok(vec![TensorType::of_unknown_rank(x.dtype); 2]);
            }
            let Some((batch, &[rows, columns])) = x.shape.split_last_chunk() else {
                return Err(invalid(format!(
                    "its input x is {x}; it must have at least 2 dimensions"
                )));
            };
            let inner = match (cx.int("mode")?, rows.min(columns)) {
                (1, _) => rows,
                (_, ..0) => UNKNOWN,
                (_, least) => least,
            };
            let of = |own: &[i64]| TensorType::new(x.dtype, [batch, own].concat());
            Ok(vec![of(&[rows, inner]), of(&[inner, columns])])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.Slogdet",
            &[input("x")],
            &[output("sign"), output("log")],
            &[],
        ),
        function: "aclnnSlogdet",
        arguments: &[
            ("self", Input("x")),
            ("signOut", Output("sign")),
            ("logOut", Output("log")),
        ],
        infer: |cx| {
            let dtype = cx.of("x")?.dtype;
            Ok(vec![cx.rows("x", 2, dtype)?, cx.rows("x", 2, dtype)?])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.TriangularSolve",
            &[input("b"), input("a")],
            &[output("x"), output("m")],
            &[
                AttrDef::bool("upper", true),
                AttrDef::bool("transpose", false),
            ],
        ),
        function: "aclnnTriangularSolve",
        arguments: &[
            ("self", Input("b")),
            ("A", Input("a")),
            ("unitriangular", Argument::Bool(false)),
            ("xOut", Output("x")),
            ("mOut", Output("m")),
        ],
        infer: |cx| Ok(vec![cx.of("b")?.clone(), cx.of("a")?.clone()]),
    },
];
