//! What computes with complex numbers: operators of graphs by the name `jumar.complex.` and that of the operator of floats, which infers
//! their shapes.

use jumar_ops::{AttrDef, AttrKind, InputDef, OpError, Operator, TensorType, Types};
use jumar_types::dtype::DataType;

use super::shapes::{Shapes, unsupported};
use super::{Argument, SingleOperator, definition, input, output};

use Argument::{Attr, Input, One, Output, TypeOf};

/// What the names begin with.
const PREFIX: &str = "jumar.complex.";

const fn complex(name: &'static str) -> InputDef {
    InputDef::required(name, Types::COMPLEX)
}

macro_rules! unary {
    ($($name:literal $function:literal $parameter:literal $result:literal)*) => {
        &[$(&SingleOperator {
            operator: definition(concat!("jumar.complex.", $name), &[complex("x")], &[output("y")], &[]),
            function: $function,
            arguments: &[($parameter, Input("x")), ($result, Output("y"))],
            infer: |cx| Ok(vec![cx.of("x")?.clone()]),
        }),*]
    };
}

/// Functions of one element.
static UNARY: &[&SingleOperator] = unary! {
    "Acos" "aclnnAcos" "input" "out"
    "Acosh" "aclnnAcosh" "self" "out"
    "Asin" "aclnnAsin" "self" "out"
    "Asinh" "aclnnAsinh" "input" "out"
    "Atan" "aclnnAtan" "input" "out"
    "Atanh" "aclnnAtanh" "input" "out"
    "Cos" "aclnnCos" "input" "out"
    "Cosh" "aclnnCosh" "self" "out"
    "Exp" "aclnnExp" "self" "out"
    "Expm1" "aclnnExpm1" "self" "out"
    "Log" "aclnnLog" "self" "out"
    "Log1p" "aclnnLog1p" "self" "out"
    "Neg" "aclnnNeg" "self" "out"
    "Reciprocal" "aclnnReciprocal" "self" "out"
    "Sigmoid" "aclnnSigmoid" "self" "out"
    "Sign" "aclnnSign" "self" "result"
    "Sin" "aclnnSin" "self" "out"
    "Sinh" "aclnnSinh" "self" "out"
    "Sqrt" "aclnnSqrt" "self" "out"
    "Tan" "aclnnTan" "self" "out"
    "Tanh" "aclnnTanh" "self" "out"
};

macro_rules! binary {
    ($($name:literal $function:literal $parameter:literal $($alpha:literal)?;)*) => {
        &[$(&SingleOperator {
            operator: definition(
                concat!("jumar.complex.", $name),
                &[complex("x1"), complex("x2")],
                &[output("y")],
                &[],
            ),
            function: $function,
            arguments: &[
                ("self", Input("x1")),
                ($parameter, Input("x2")),
                $(($alpha, One),)?
                ("out", Output("y")),
            ],
            infer: |cx| cx.as_real($name),
        }),*]
    };
}

/// Functions of two elements at the same index, with broadcasting.
static BINARY: &[&SingleOperator] = binary! {
    "Add" "aclnnAdd" "other" "alpha";
    "Div" "aclnnDiv" "other";
    "Mul" "aclnnMul" "other";
    "Pow" "aclnnPowTensorTensor" "exponent";
    "RealDiv" "aclnnDiv" "other";
    "Sub" "aclnnSub" "other" "alpha";
};

/// Comparisons.
static COMPARISONS: &[&SingleOperator] = binary! {
    "Equal" "aclnnEqTensor" "other";
    "NotEqual" "aclnnNeTensor" "other";
};

static OTHER: &[&SingleOperator] = &[
    &SingleOperator {
        operator: definition("jumar.complex.Abs", &[complex("x")], &[output("y")], &[]),
        function: "aclnnAbs",
        arguments: &[("self", Input("x")), ("out", Output("y"))],
        infer: part,
    },
    &SingleOperator {
        operator: definition("jumar.complex.Angle", &[complex("x")], &[output("y")], &[]),
        function: "aclnnAngleV2",
        arguments: &[("out", Output("y"))],
        infer: part,
    },
    &SingleOperator {
        operator: definition(
            "jumar.complex.Cast",
            &[input("x")],
            &[output("y")],
            &[AttrDef::required("dst_type", AttrKind::Int)],
        ),
        function: "aclnnCast",
        arguments: &[
            ("self", Input("x")),
            ("dtype", TypeOf("y")),
            ("out", Output("y")),
        ],
        infer: |cx| {
            let dtype = cx.dtype("dst_type")?;
            if !Types::ALL.contains(dtype) {
                return Err(unsupported(format!(
                    "a conversion to {dtype} is not supported"
                )));
            }
            Ok(vec![cx.with("x", dtype)?])
        },
    },
    &SingleOperator {
        operator: definition(
            "jumar.complex.Cumprod",
            &[complex("x")],
            &[output("y")],
            &[AttrDef::required("axis", AttrKind::Int)],
        ),
        function: "aclnnCumprod",
        arguments: &[
            ("input", Input("x")),
            ("dim", Attr("axis")),
            ("dtype", TypeOf("y")),
            ("out", Output("y")),
        ],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    &SingleOperator {
        operator: definition(
            "jumar.complex.Muls",
            &[complex("x")],
            &[output("y")],
            &[AttrDef::required("value", AttrKind::Float)],
        ),
        function: "aclnnMuls",
        arguments: &[
            ("self", Input("x")),
            ("other", Attr("value")),
            ("out", Output("y")),
        ],
        infer: |cx| Ok(vec![cx.of("x")?.clone()]),
    },
    // The product over one axis, which stays with size 1.
    &SingleOperator {
        operator: definition(
            "jumar.complex.ProductOfAxis",
            &[complex("x")],
            &[output("y")],
            &[AttrDef::required("axis", AttrKind::Int)],
        ),
        function: "aclnnProdDim",
        arguments: &[
            ("self", Input("x")),
            ("dim", Attr("axis")),
            ("keepDim", Argument::Bool(true)),
            ("dtype", TypeOf("y")),
            ("out", Output("y")),
        ],
        infer: |cx| {
            let mut ty = cx.of("x")?.clone();
            let axis = usize::try_from(cx.int("axis")?).ok();
            if let Some(dim) = axis.and_then(|axis| ty.shape.get_mut(axis)) {
                *dim = 1;
            }
            Ok(vec![ty])
        },
    },
    // The sign of the determinants, and the logarithms of their absolute values.
    &SingleOperator {
        operator: definition(
            "jumar.complex.Slogdet",
            &[complex("x")],
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
            Ok(vec![
                cx.rows("x", 2, dtype)?,
                cx.rows("x", 2, part_of(dtype))?,
            ])
        },
    },
];

/// Lists the operators.
pub(super) fn all() -> impl Iterator<Item = &'static SingleOperator> {
    let lists = [UNARY, BINARY, COMPARISONS, OTHER];
    lists.into_iter().flatten().copied()
}

/// Finds what computes an operator of floats with complex numbers.
pub fn find(operator: &str) -> Option<&'static Operator> {
    super::find(&format!("{PREFIX}{operator}")).map(|single| &single.operator)
}

/// Returns the type of the parts of a complex type.
fn part_of(dtype: DataType) -> DataType {
    match dtype {
        DataType::Complex32 => DataType::Float16,
        DataType::Complex128 => DataType::Float64,
        _ => DataType::Float32,
    }
}

fn part(cx: &Shapes<'_, '_>) -> Result<Vec<TensorType>, OpError> {
    Ok(vec![cx.with("x", part_of(cx.of("x")?.dtype))?])
}
