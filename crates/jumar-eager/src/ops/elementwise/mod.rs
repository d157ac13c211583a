//! Elementwise operators: fills, copies, functions of one and of several elements, and lists of tensors.

mod activation;
mod arithmetic;
mod comparison;
mod gate;
mod lists;
mod move_;
mod unary;

use jumar_types::dtype::DataType;

use super::PlanFn;
use crate::build::{Cx, Operand};
use crate::element::{self, F};
use crate::view::View;
use crate::{Refusal, Scalar, promote};

pub(crate) use activation::ACTIVATION;
pub(crate) use arithmetic::ARITHMETIC;
pub(crate) use comparison::COMPARISON;
pub(crate) use gate::{GATE, gelu_gate};
pub(crate) use lists::LISTS;
pub(crate) use move_::MOVE;
pub(crate) use unary::UNARY;

/// The type that a function computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The promoted type of the operands.
    Keep,
    /// The promoted type; float32 for integers and booleans.
    Real,
}

impl Rule {
    pub fn of(self, dtype: DataType) -> DataType {
        match self {
            Rule::Keep => dtype,
            Rule::Real => promote::real(dtype),
        }
    }
}

/// Refuses a type that a function does not exist for.
pub(crate) fn check_exists(cx: &Cx<'_>, function: F, compute: DataType) -> Result<(), Refusal> {
    match element::exists(function, compute) {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "tensors of the type {compute} are not supported"
        ))),
    }
}

/// Plans a function of the first parameter, written to the operator's first output.
pub(crate) fn unary(cx: &mut Cx<'_>, function: F, rule: Rule) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    let compute = rule.of(x.dtype());
    check_exists(cx, function, compute)?;
    cx.check_converts(compute, &out)?;
    cx.check_dims(&out, x.dims())?;
    cx.map(function, compute, &[Operand::Tensor(x)], out)
}

/// The first two parameters of an operator, each a tensor or a host scalar, and the type that they are promoted to.
pub(crate) struct Pair {
    pub operands: [Operand; 2],
    pub dtype: DataType,
    pub out: View,
}

/// Returns the first two parameters, promoted.
pub(crate) fn pair(cx: &Cx<'_>) -> Result<Pair, Refusal> {
    let (one, two, out) = (cx.operand_at(0)?, cx.operand_at(1)?, cx.output()?);
    let dtype = match (one, two) {
        (Operand::Tensor(one), Operand::Tensor(two)) => cx.promote(one.dtype(), two.dtype())?,
        (Operand::Tensor(tensor), Operand::Scalar(scalar))
        | (Operand::Scalar(scalar), Operand::Tensor(tensor)) => {
            cx.promote_scalar(tensor.dtype(), scalar.dtype())?
        }
        (Operand::Scalar(_), Operand::Scalar(_)) => {
            return Err(cx.defect("both operands are scalars"));
        }
    };
    Ok(Pair {
        operands: [one, two],
        dtype,
        out,
    })
}

/// Refuses an output that has not the shape that the tensors among the operands are broadcast to.
pub(crate) fn check_shape(cx: &Cx<'_>, operands: &[Operand], out: &View) -> Result<(), Refusal> {
    let tensors = operands.iter().filter_map(|operand| match operand {
        Operand::Tensor(view) => Some(view),
        Operand::Scalar(_) => None,
    });
    if tensors.clone().all(|view| view.dims() == out.dims()) {
        return Ok(());
    }
    let (dims, rank) = cx.broadcast(tensors)?;
    cx.check_dims(out, &dims[..rank])
}

/// Plans a function of the first two parameters.
pub(crate) fn binary(cx: &mut Cx<'_>, function: F, rule: Rule) -> Result<(), Refusal> {
    let pair = pair(cx)?;
    let compute = rule.of(pair.dtype);
    check_exists(cx, function, compute)?;
    cx.check_converts(compute, &pair.out)?;
    check_shape(cx, &pair.operands, &pair.out)?;
    cx.map(function, compute, &pair.operands, pair.out)
}

/// Returns the operands that parameters name: tensors, scalars and numbers.
pub(crate) fn operands<const N: usize>(
    cx: &Cx<'_>,
    names: &[&str; N],
) -> Result<[Operand; N], Refusal> {
    let mut operands = [Operand::Scalar(Scalar::of_bool(false)); N];
    for (operand, name) in operands.iter_mut().zip(names) {
        *operand = cx.operand(name)?;
    }
    Ok(operands)
}

/// Returns the type that the tensors among operands are promoted to.
pub(crate) fn promoted(cx: &Cx<'_>, operands: &[Operand]) -> Result<DataType, Refusal> {
    let mut dtype = None;
    for operand in operands {
        if let Operand::Tensor(view) = operand {
            dtype = Some(match dtype {
                None => view.dtype(),
                Some(dtype) => cx.promote(dtype, view.dtype())?,
            });
        }
    }
    dtype.ok_or_else(|| cx.defect("no operand is a tensor"))
}

/// Plans a function of the named parameters. Tensors are promoted among themselves; scalars and numbers are converted to the
/// type of the tensors.
pub(crate) fn named<const N: usize>(
    cx: &mut Cx<'_>,
    function: F,
    rule: Rule,
    names: &[&str; N],
) -> Result<(), Refusal> {
    let (operands, out) = (operands(cx, names)?, cx.output()?);
    let compute = rule.of(promoted(cx, &operands)?);
    check_exists(cx, function, compute)?;
    cx.check_converts(compute, &out)?;
    check_shape(cx, &operands, &out)?;
    cx.map(function, compute, &operands, out)
}

/// One row of a table.
pub(crate) type Row = (&'static str, PlanFn);
