//! Operators over lists of tensors, and the operators of mixed precision that come with them.

use jumar_types::dtype::DataType;

use super::{Row, Rule, check_exists, check_shape};
use crate::build::{Cx, Operand, writes};
use crate::element::{self, F};
use crate::view::View;
use crate::{Arg, ParamKind, Refusal, Scalar};

/// A function of the named parameters for each member of the lists.
macro_rules! each {
    ($function:ident, $($name:literal),*) => {
        |cx| each(cx, F::$function, Rule::Keep, &[$($name),*])
    };
}

/// A function of `x`.
macro_rules! one {
    ($function:ident) => {
        each!($function, "x")
    };
}

pub(crate) static LISTS: &[Row] = &[
    ("aclnnAllFinite", all_finite),
    ("aclnnAmpUpdateScale", amp_update_scale),
    ("aclnnForeachACosInplace", one!(Acos)),
    ("aclnnForeachAbs", one!(Abs)),
    ("aclnnForeachAcos", one!(Acos)),
    ("aclnnForeachAddList", each!(AddScaled, "x1", "x2", "alpha")),
    (
        "aclnnForeachAddListInplace",
        each!(AddScaled, "x1", "x2", "alpha"),
    ),
    (
        "aclnnForeachAddListV2",
        each!(AddScaled, "x1", "x2", "alpha"),
    ),
    ("aclnnForeachAddScalar", each!(Add, "x", "scalar")),
    ("aclnnForeachAddScalarList", each!(Add, "x", "scalars")),
    ("aclnnForeachAddScalarV2", each!(Add, "x", "scalar")),
    (
        "aclnnForeachAddcdivList",
        each!(Addcdiv, "x1", "x2", "x3", "scalars"),
    ),
    (
        "aclnnForeachAddcdivScalar",
        each!(Addcdiv, "x1", "x2", "x3", "scalar"),
    ),
    (
        "aclnnForeachAddcdivScalarList",
        each!(Addcdiv, "x1", "x2", "x3", "scalars"),
    ),
    (
        "aclnnForeachAddcdivScalarV2",
        each!(Addcdiv, "x1", "x2", "x3", "scalar"),
    ),
    (
        "aclnnForeachAddcmulList",
        each!(Addcmul, "x1", "x2", "x3", "scalars"),
    ),
    (
        "aclnnForeachAddcmulScalar",
        each!(Addcmul, "x1", "x2", "x3", "scalar"),
    ),
    (
        "aclnnForeachAddcmulScalarList",
        each!(Addcmul, "x1", "x2", "x3", "scalars"),
    ),
    (
        "aclnnForeachAddcmulScalarV2",
        each!(Addcmul, "x1", "x2", "x3", "scalar"),
    ),
    ("aclnnForeachAsin", one!(Asin)),
    ("aclnnForeachAtan", one!(Atan)),
    ("aclnnForeachCopy", copy),
    ("aclnnForeachCos", one!(Cos)),
    ("aclnnForeachCosh", one!(Cosh)),
    ("aclnnForeachDivList", each!(Div, "x1", "x2")),
    ("aclnnForeachDivListInplace", each!(Div, "x1", "x2")),
    ("aclnnForeachDivScalar", each!(Div, "x", "scalar")),
    ("aclnnForeachDivScalarList", each!(Div, "x", "scalars")),
    ("aclnnForeachDivScalarV2", each!(Div, "x", "scalar")),
    ("aclnnForeachErf", one!(Erf)),
    ("aclnnForeachErfc", one!(Erfc)),
    ("aclnnForeachExp", one!(Exp)),
    ("aclnnForeachExpm1", one!(Expm1)),
    ("aclnnForeachLerpList", each!(Lerp, "x1", "x2", "weight")),
    ("aclnnForeachLerpScalar", each!(Lerp, "x1", "x2", "weight")),
    ("aclnnForeachLog", one!(Log)),
    ("aclnnForeachLog10", one!(Log10)),
    ("aclnnForeachLog1p", one!(Log1p)),
    ("aclnnForeachLog2", one!(Log2)),
    ("aclnnForeachLogInplace", one!(Log)),
    ("aclnnForeachMaximumList", each!(Max, "x1", "x2")),
    ("aclnnForeachMaximumScalar", each!(Max, "x", "scalar")),
    ("aclnnForeachMaximumScalarList", each!(Max, "x", "scalars")),
    ("aclnnForeachMaximumScalarV2", each!(Max, "x", "scalar")),
    ("aclnnForeachMinimumList", each!(Min, "x1", "x2")),
    ("aclnnForeachMinimumScalar", each!(Min, "x", "scalar")),
    ("aclnnForeachMinimumScalarList", each!(Min, "x", "scalars")),
    ("aclnnForeachMinimumScalarV2", each!(Min, "x", "scalar")),
    ("aclnnForeachMulList", each!(Mul, "x1", "x2")),
    ("aclnnForeachMulListInplace", each!(Mul, "x1", "x2")),
    ("aclnnForeachMulScalar", each!(Mul, "x", "scalar")),
    ("aclnnForeachMulScalarInplace", each!(Mul, "x", "scalar")),
    ("aclnnForeachMulScalarList", each!(Mul, "x", "scalars")),
    ("aclnnForeachMulScalarV2", each!(Mul, "x", "scalar")),
    ("aclnnForeachNeg", one!(Neg)),
    ("aclnnForeachNonFiniteCheckAndUnscale", unscale),
    ("aclnnForeachPowList", each!(Pow, "x1", "x2")),
    ("aclnnForeachPowScalar", each!(Pow, "x", "scalar")),
    ("aclnnForeachPowScalarAndTensor", each!(Pow, "scalar", "x")),
    ("aclnnForeachPowScalarList", each!(Pow, "x", "scalars")),
    ("aclnnForeachPowScalarV2", each!(Pow, "x", "scalar")),
    ("aclnnForeachReciprocal", one!(Reciprocal)),
    ("aclnnForeachSigmoid", one!(Sigmoid)),
    ("aclnnForeachSign", one!(Sign)),
    ("aclnnForeachSin", one!(Sin)),
    ("aclnnForeachSinh", one!(Sinh)),
    ("aclnnForeachSqrt", one!(Sqrt)),
    ("aclnnForeachSubList", each!(SubScaled, "x1", "x2", "alpha")),
    (
        "aclnnForeachSubListInplace",
        each!(SubScaled, "x1", "x2", "alpha"),
    ),
    (
        "aclnnForeachSubListV2",
        each!(SubScaled, "x1", "x2", "alpha"),
    ),
    ("aclnnForeachSubScalar", each!(Sub, "x", "scalar")),
    ("aclnnForeachSubScalarInplace", each!(Sub, "x", "scalar")),
    ("aclnnForeachSubScalarList", each!(Sub, "x", "scalars")),
    ("aclnnForeachSubScalarV2", each!(Sub, "x", "scalar")),
    ("aclnnForeachTan", one!(Tan)),
    ("aclnnForeachTanh", one!(Tanh)),
    ("aclnnForeachZeroInplace", zero),
];

/// Returns the members of the first list that the operator writes.
fn outputs(cx: &Cx<'_>) -> Result<Vec<View>, Refusal> {
    let mut params = cx.params().iter();
    match params.position(|param| param.kind == ParamKind::Tensors && writes(param.io)) {
        Some(at) => cx.tensors_at(at),
        None => Err(cx.defect("there is no list of outputs")),
    }
}

/// A parameter of an operator over lists.
enum Values {
    /// A list of tensors: one for each output.
    Members(Vec<View>),
    /// A host scalar, or a tensor of one element, for all outputs.
    Shared(Operand),
    /// Host scalars, or a tensor with one element for each output.
    Each(Vec<Operand>),
}

fn values(cx: &mut Cx<'_>, name: &str, count: usize) -> Result<Values, Refusal> {
    let wrong = |cx: &Cx<'_>, given: usize| {
        cx.invalid(format_args!(
            "{name} has {given} members, and the list of outputs has {count}"
        ))
    };
    let values = match cx.arg(name)? {
        Arg::Tensors(_) => Values::Members(cx.tensors(name)?),
        Arg::Scalars(scalars) => {
            Values::Each(scalars.iter().copied().map(Operand::Scalar).collect())
        }
        Arg::Tensor(_) => {
            let view = cx.tensor(name)?;
            if view.elements() == 1 {
                Values::Shared(Operand::Tensor(cx.reshaped(view, &[])?))
            } else if view.rank() == 1 && view.elements() == count {
                let element = |index| Operand::Tensor(view.select(0, index));
                Values::Each((0..view.elements()).map(element).collect())
            } else {
                return Err(wrong(cx, view.elements()));
            }
        }
        _ => Values::Shared(cx.operand(name)?),
    };
    match &values {
        Values::Members(views) if views.len() != count => Err(wrong(cx, views.len())),
        Values::Each(operands) if operands.len() != count => Err(wrong(cx, operands.len())),
        _ => Ok(values),
    }
}

/// Plans a function for each member of the lists. Members are promoted among themselves; scalars are converted to their type.
fn each<const N: usize>(
    cx: &mut Cx<'_>,
    function: F,
    rule: Rule,
    names: &[&str; N],
) -> Result<(), Refusal> {
    let outputs = outputs(cx)?;
    let mut params = Vec::with_capacity(N);
    for name in names {
        params.push(values(cx, name, outputs.len())?);
    }
    for (index, &out) in outputs.iter().enumerate() {
        let mut operands = [Operand::Scalar(Scalar::ONE); N];
        let mut dtype = None;
        for (operand, param) in operands.iter_mut().zip(&params) {
            *operand = match param {
                Values::Members(views) => {
                    let view = views[index];
                    dtype = Some(match dtype {
                        None => view.dtype(),
                        Some(dtype) => cx.promote(dtype, view.dtype())?,
                    });
                    Operand::Tensor(view)
                }
                Values::Shared(operand) => *operand,
                Values::Each(operands) => operands[index],
            };
        }
        let Some(dtype) = dtype else {
            return Err(cx.defect("no parameter is a list of tensors"));
        };
        let compute = rule.of(dtype);
        check_exists(cx, function, compute)?;
        cx.check_converts(compute, &out)?;
        check_shape(cx, &operands, &out)?;
        cx.map(function, compute, &operands, out)?;
    }
    Ok(())
}

fn copy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (sources, outputs) = (cx.tensors("x")?, outputs(cx)?);
    if sources.len() != outputs.len() {
        return Err(cx.invalid(format_args!(
            "x has {} members, and out has {}",
            sources.len(),
            outputs.len()
        )));
    }
    for (source, out) in sources.into_iter().zip(outputs) {
        cx.check_dims(&out, source.dims())?;
        cx.copy(source, out)?;
    }
    Ok(())
}

fn zero(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    for out in outputs(cx)? {
        cx.fill(Scalar::of_i64(0), out)?;
    }
    Ok(())
}

/// foundInf becomes 1 where any gradient has an infinity or not-a-number; all of them are multiplied by invScale.
fn unscale(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let gradients = cx.tensors("scaledGrads")?;
    let (found, scale) = (cx.tensor("foundInf")?, cx.tensor("invScale")?);
    for view in [&found, &scale] {
        cx.check_dtype(view, DataType::Float32)?;
        if view.elements() != 1 {
            let dims = view.dims();
            return Err(cx.invalid(format_args!(
                "{} has the shape {dims:?}; it must have one element",
                cx.param_of(view)
            )));
        }
    }
    let (found, scale) = (cx.reshaped(found, &[])?, cx.reshaped(scale, &[])?);
    for gradient in gradients {
        if !gradient.dtype().is_float() {
            return Err(cx.refuse_type(
                &cx.param_of(&gradient),
                gradient.dtype(),
                "a floating-point type",
            ));
        }
        if gradient.is_empty() {
            continue;
        }
        let kernel = element::non_finite(gradient.dtype(), gradient.layout());
        cx.kernel(kernel, &[Some(gradient)], &[found], false)?;
        let operands = [gradient, scale].map(Operand::Tensor);
        cx.map(F::Mul, gradient.dtype(), &operands, gradient)?;
    }
    Ok(())
}

/// Writes true where the tensor has an infinity or not-a-number, and leaves the output as it is otherwise: clients pass one output with
/// each of several tensors.
fn all_finite(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, out) = (cx.tensor("gradient")?, cx.tensor("out")?);
    if out.elements() != 1 {
        let dims = out.dims();
        return Err(cx.invalid(format_args!(
            "out has the shape {dims:?}; it must have one element"
        )));
    }
    if gradient.is_empty() {
        return Ok(());
    }
    let out = cx.reshaped(out, &[])?;
    let found = cx.temporary(DataType::Float32, &[])?;
    cx.fill(Scalar::of_bool(false), found)?;
    let kernel = element::non_finite(gradient.dtype(), gradient.layout());
    cx.kernel(kernel, &[Some(gradient)], &[found], false)?;
    let operands = [out, found].map(Operand::Tensor);
    cx.test(F::LogicalOr, DataType::Float32, &operands, out)
}

/// The scale of gradients shrinks when an overflow was found, and grows after `growthInterval` steps without one.
fn amp_update_scale(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let scale = cx.tensor("currentScale")?;
    let (tracker, found) = (cx.tensor("growthTracker")?, cx.tensor("foundInf")?);
    let outputs = [cx.out("updatedScale")?, cx.out("updatedGrowthTracker")?];
    for (view, dtype) in [
        (&scale, DataType::Float32),
        (&tracker, DataType::Int32),
        (&found, DataType::Float32),
        (&outputs[0], DataType::Float32),
        (&outputs[1], DataType::Int32),
    ] {
        cx.check_dtype(view, dtype)?;
        if view.elements() != 1 {
            let dims = view.dims();
            return Err(cx.invalid(format_args!(
                "{} has the shape {dims:?}; it must have one element",
                cx.param_of(view)
            )));
        }
    }
    let kernel = element::update_scale(
        cx.float("growthFactor")?,
        cx.float("backoffFactor")?,
        cx.int("growthInterval")?,
    );
    let inputs = [Some(scale), Some(tracker), Some(found)];
    cx.kernel(kernel, &inputs, &outputs, true)
}
