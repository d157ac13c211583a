//! Activations and their gradients.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::{Row, Rule, check_exists, check_shape, named, promoted, unary};
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::{Refusal, Scalar};

/// A function of the first parameter.
macro_rules! of {
    ($function:ident) => {
        |cx| unary(cx, F::$function, Rule::Keep)
    };
    ($function:ident, $($name:literal),*) => {
        |cx| named(cx, F::$function, Rule::Keep, &[$($name),*])
    };
}

pub(crate) static ACTIVATION: &[Row] = &[
    ("aclnnCelu", celu),
    ("aclnnElu", elu),
    ("aclnnEluBackward", elu_backward),
    ("aclnnEluV2", elu),
    ("aclnnFastGelu", of!(FastGelu)),
    (
        "aclnnFastGeluBackward",
        of!(FastGeluBackward, "gradOutput", "self"),
    ),
    // The exact form, as in PyTorch and as the gradient; GeluV2 has the form with tanh.
    ("aclnnGelu", of!(Gelu)),
    ("aclnnGeluBackward", of!(GeluBackward, "gradOutput", "self")),
    ("aclnnGeluBackwardV2", gelu_backward_v2),
    ("aclnnGeluV2", gelu_v2),
    ("aclnnHardShrink", of!(Hardshrink, "self", "lambd")),
    ("aclnnHardshrink", of!(Hardshrink, "self", "lambd")),
    (
        "aclnnHardshrinkBackward",
        of!(ShrinkBackward, "gradOutput", "self", "lambd"),
    ),
    ("aclnnHardsigmoid", of!(Hardsigmoid)),
    (
        "aclnnHardsigmoidBackward",
        of!(HardsigmoidBackward, "gradOutput", "self"),
    ),
    ("aclnnHardsigmoidV2", of!(Hardsigmoid)),
    ("aclnnHardswish", of!(Hardswish)),
    (
        "aclnnHardswishBackward",
        of!(HardswishBackward, "gradOutput", "self"),
    ),
    (
        "aclnnHardswishBackwardV2",
        of!(HardswishBackward, "gradOutput", "self"),
    ),
    (
        "aclnnHardtanhBackward",
        of!(HardtanhBackward, "gradOutput", "self", "min", "max"),
    ),
    ("aclnnInplaceCelu", celu),
    ("aclnnInplaceElu", elu),
    ("aclnnInplaceHardsigmoid", of!(Hardsigmoid)),
    ("aclnnInplaceHardsigmoidV2", of!(Hardsigmoid)),
    ("aclnnInplaceHardswish", of!(Hardswish)),
    ("aclnnInplaceLeakyRelu", leaky_relu),
    ("aclnnInplaceMish", of!(Mish)),
    ("aclnnInplaceRelu", of!(Relu)),
    ("aclnnInplaceSelu", selu),
    ("aclnnInplaceThreshold", threshold),
    ("aclnnLeakyRelu", leaky_relu),
    ("aclnnLeakyReluBackward", leaky_relu_backward),
    ("aclnnLogSigmoid", of!(LogSigmoid)),
    (
        "aclnnLogSigmoidBackward",
        of!(LogSigmoidBackward, "gradOutput", "self"),
    ),
    ("aclnnLogSigmoidForward", log_sigmoid_forward),
    ("aclnnLogit", logit),
    ("aclnnLogitGrad", of!(LogitBackward, "x", "dy", "eps")),
    ("aclnnMish", of!(Mish)),
    ("aclnnMishBackward", of!(MishBackward, "gradOutput", "self")),
    ("aclnnPrelu", prelu),
    ("aclnnPreluBackward", prelu_backward),
    ("aclnnRelu", of!(Relu)),
    ("aclnnSelu", selu),
    (
        "aclnnSeluBackward",
        of!(SeluBackward, "gradOutput", "result"),
    ),
    ("aclnnShrink", of!(Shrink, "self", "lambd", "bias")),
    (
        "aclnnSigmoidBackward",
        of!(SigmoidBackward, "gradOutput", "output"),
    ),
    ("aclnnSilu", of!(Silu)),
    ("aclnnSiluBackward", of!(SiluBackward, "gradOutput", "self")),
    ("aclnnSoftplus", of!(Softplus, "self", "beta", "threshold")),
    (
        "aclnnSoftplusBackward",
        of!(SoftplusBackward, "gradOutput", "self", "beta", "threshold"),
    ),
    ("aclnnSoftshrink", of!(Softshrink, "self", "lambd")),
    (
        "aclnnSoftshrinkBackward",
        of!(ShrinkBackward, "gradOutput", "self", "lambda"),
    ),
    ("aclnnSquaredRelu", of!(SquaredRelu)),
    ("aclnnSwish", swish),
    ("aclnnSwishBackward", swish_backward),
    (
        "aclnnTanhBackward",
        of!(TanhBackward, "gradOutput", "output"),
    ),
    ("aclnnThreshold", threshold),
    (
        "aclnnThresholdBackward",
        of!(ThresholdBackward, "gradOutput", "self", "threshold"),
    ),
];

const ONE: Operand = Operand::Scalar(Scalar::ONE);

/// Plans a function of operands that are not all parameters.
fn given(cx: &mut Cx<'_>, function: F, operands: &[Operand]) -> Result<(), Refusal> {
    let out = cx.output()?;
    let dtype = promoted(cx, operands)?;
    check_exists(cx, function, dtype)?;
    cx.check_converts(dtype, &out)?;
    check_shape(cx, operands, &out)?;
    cx.map(function, dtype, operands, out)
}

fn own(cx: &Cx<'_>) -> &'static str {
    cx.params()[0].name
}

fn elu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let own = own(cx);
    named(
        cx,
        F::Elu,
        Rule::Keep,
        &[own, "alpha", "scale", "inputScale"],
    )
}

fn celu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, alpha) = (cx.tensor_at(0)?, cx.scalar("alpha")?);
    if alpha.real() == 0.0 {
        return Err(cx.invalid("alpha is 0; it must not be, because elements are divided by it"));
    }
    let inverse = Scalar::of_f64(alpha.real().recip());
    let operands = [
        Operand::Tensor(x),
        Operand::Scalar(alpha),
        ONE,
        Operand::Scalar(inverse),
    ];
    given(cx, F::Elu, &operands)
}

fn selu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let number = |value| Operand::Scalar(Scalar::of_f64(value));
    let x = Operand::Tensor(cx.tensor_at(0)?);
    let operands = [
        x,
        number(1.673_263_242_354_377_2),
        number(1.050_700_987_355_480_5),
        ONE,
    ];
    given(cx, F::Elu, &operands)
}

fn elu_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let function = match cx.flag("isResult")? {
        true => F::EluBackwardOfResult,
        false => F::EluBackward,
    };
    let alpha = cx.scalar("alpha")?.real();
    if function == F::EluBackwardOfResult && alpha < 0.0 {
        return Err(cx.invalid(format_args!(
            "alpha is {alpha}; with isResult true it must be at least 0"
        )));
    }
    let names = ["gradOutput", "selfOrResult", "alpha", "scale", "inputScale"];
    named(cx, function, Rule::Keep, &names)
}

fn leaky_relu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let own = own(cx);
    named(cx, F::LeakyRelu, Rule::Keep, &[own, "negativeSlope"])
}

fn leaky_relu_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx.flag("selfIsResult")? && cx.scalar("negativeSlope")?.real() < 0.0 {
        return Err(cx.invalid(
            "negativeSlope is negative; the gradient of a result needs a slope of at least 0",
        ));
    }
    let names = ["gradOutput", "self", "negativeSlope"];
    named(cx, F::LeakyReluBackward, Rule::Keep, &names)
}

fn threshold(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let own = own(cx);
    named(cx, F::Threshold, Rule::Keep, &[own, "threshold", "value"])
}

/// approximate 0 is the exact form, 1 the form with tanh.
fn gelu_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.int("approximate")? {
        0 => unary(cx, F::Gelu, Rule::Keep),
        1 => unary(cx, F::GeluTanh, Rule::Keep),
        other => Err(cx.invalid(format_args!("approximate is {other}; it must be 0 or 1"))),
    }
}

fn gelu_backward_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let function = match cx.text("approximate")? {
        "none" | "" => F::GeluBackward,
        "tanh" => F::GeluTanhBackward,
        other => {
            return Err(cx.invalid(format_args!(
                "approximate is {other:?}; it must be none or tanh"
            )));
        }
    };
    named(cx, function, Rule::Keep, &["gradOutput", "self"])
}

/// The second output is a buffer for the gradient, which does not need it. Where it has a shape it is zeroed.
fn log_sigmoid_forward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let buffer = cx.out("buffer")?;
    unary(cx, F::LogSigmoid, Rule::Keep)?;
    cx.fill(Scalar::of_i64(0), buffer)
}

/// A negative eps means that nothing is clamped.
fn logit(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    match cx.float("eps")? < 0.0 {
        true => unary(cx, F::Logit, Rule::Real),
        false => named(cx, F::LogitClamped, Rule::Real, &["input", "eps"]),
    }
}

/// One weight, or one for each entry of dimension 1.
fn prelu(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, weight) = (cx.tensor("self")?, cx.tensor("weight")?);
    let weight = channels(cx, &x, weight)?;
    given(cx, F::Prelu, &[Operand::Tensor(x), Operand::Tensor(weight)])
}

/// The gradient of the weight is a sum over all that shares an element of it; it is summed in float32.
fn prelu_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x, weight) = (
        cx.tensor("gradOutput")?,
        cx.tensor("self")?,
        cx.tensor("weight")?,
    );
    let (to_x, to_weight) = (cx.out("gradInput")?, cx.out("gradWeight")?);
    let dtype = cx.promote(cx.promote(gradient.dtype(), x.dtype())?, weight.dtype())?;
    check_exists(cx, F::PreluBackward, dtype)?;
    cx.check_converts(dtype, &to_x)?;
    cx.check_converts(dtype, &to_weight)?;
    cx.check_dims(&gradient, x.dims())?;
    cx.check_dims(&to_x, x.dims())?;
    cx.check_dims(&to_weight, weight.dims())?;
    let spread = channels(cx, &x, weight)?;
    let wide = match dtype {
        DataType::Float64 => DataType::Float64,
        _ => DataType::Float32,
    };
    let terms = cx.temporary(wide, x.dims())?;
    let operands = [gradient, x].map(Operand::Tensor);
    cx.map(F::PreluWeight, wide, &operands, terms)?;
    let shared = weight.elements() == 1;
    let axes: Vec<i64> = (0..x.rank())
        .filter(|&axis| shared || axis != 1)
        .map(|axis| axis as i64)
        .collect();
    let dims = [weight.elements()];
    let sums = cx.temporary(wide, if shared { &[] } else { &dims })?;
    match axes.is_empty() {
        true => cx.copy(terms, sums)?,
        false => cx.op(
            "ReduceSum",
            &[terms.into(), Input::ints(&axes)],
            &Attrs::new(),
            &[sums],
        )?,
    }
    let sums = cx.reshaped(sums, weight.dims())?;
    cx.copy(sums, to_weight)?;
    let operands = [gradient, x, spread].map(Operand::Tensor);
    cx.map(F::PreluBackward, dtype, &operands, to_x)
}

/// Views the weight of a PReLU so that it is broadcast along dimension 1.
fn channels(
    cx: &mut Cx<'_>,
    x: &crate::view::View,
    weight: crate::view::View,
) -> Result<crate::view::View, Refusal> {
    let count = weight.elements();
    if count == 1 {
        return cx.reshaped(weight, &[]);
    }
    if x.rank() < 2 || x.dims()[1] != count {
        return Err(cx.invalid(format_args!(
            "weight has {count} elements, and self has the shape {:?}; weight must have one element, or one for each entry of dimension 1",
            x.dims()
        )));
    }
    let mut dims = vec![1; x.rank() - 1];
    dims[0] = count;
    cx.reshaped(weight, &dims)
}

/// beta is 1 where it is null.
fn beta(cx: &Cx<'_>) -> Result<Operand, Refusal> {
    Ok(cx.optional_operand("betaOptional")?.unwrap_or(ONE))
}

fn swish(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = [cx.operand("self")?, beta(cx)?];
    given(cx, F::Swish, &operands)
}

fn swish_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let operands = [cx.operand("gradOutput")?, cx.operand("self")?, beta(cx)?];
    given(cx, F::SwishBackward, &operands)
}
