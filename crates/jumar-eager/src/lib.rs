//! Eager operators: one aclnn call becomes a [`Plan`], a list of kernel steps over strided views.
//!
//! [`plan`] checks the arguments of a call and returns the steps. It reads host arguments only (shapes, scalars,
//! integer arrays) and never touches tensor memory. [`Plan::run`] executes the steps on memory regions, once or many
//! times. The crate knows nothing of streams, handles or devices, and contains no unsafe code.
//!
//! # How to add an operator
//!
//! An operator is one row in the table of its family, `ops/<family>`: its name, and a function that plans it. The tables
//! are listed in `ops/mod.rs`. The function gets a builder, [`build::Cx`], and
//!
//! 1. reads arguments by the names of their parameters: `cx.tensor("self")?`, `cx.optional("biasOptional")?`,
//!    `cx.out("out")?`, `cx.output()?` (the first tensor that is written), `cx.scalar("alpha")?`, `cx.ints("dim")?`,
//!    `cx.int`, `cx.float`, `cx.flag`, `cx.text`, `cx.dtype`, `cx.tensors`. Null pointers were refused before, except of
//!    parameters that may be null (`optional` in `api/aclnn/operators.json`), and so were element types that are not in the list of
//!    the parameter (`api/aclnn/types.json`). Each accessor refuses a null pointer with 161001 where the operator needs a value;
//! 2. checks in the documented order: types (`check_types`, `check_dtype`), promotion (`promote`, `promote_scalar`,
//!    `check_converts`), shapes (`broadcast`, `check_dims`, `axis`, `axes`), attributes. `cx.invalid(...)` creates a refusal with
//!    161002; its sentence names the argument, what was wanted and what was given, and not the operator. `cx.unsupported(...)` answers 561003;
//! 3. makes views, which move no data: [`view::View`] has `permute`, `transpose`, `slice`, `select`, `squeeze`, `unsqueeze`,
//!    `expand`, `reshape`;
//! 4. adds steps:
//!    - `cx.map(F::..., compute, &operands, out)` computes a function of elements (`element/functions`) over any strides,
//!      with broadcasting, in the type `compute`, and converts to the type of `out`; `cx.test` does so for a boolean result;
//!    - `cx.copy(from, to)` copies, broadcasts and converts; `cx.fill(scalar, out)` fills;
//!    - `cx.cast(view, dtype)?`, `cx.dense(view)?`, `cx.reshaped(view, &dims)?` return a view, through a temporary only where
//!      one is needed; `cx.temporary(dtype, &dims)?` is an intermediate result;
//!    - `cx.op("ReduceSum", &[x.into(), Input::ints(&axes)], &attrs, &[out])?` runs an operator of jumar-ops. Operands are
//!      copied to dense temporaries only where its kernel needs that. A result of another type than `out` is converted;
//!    - `cx.rows(Function, &inputs, &outputs)?` computes a function of the rows of a last dimension (norms, softmax, quantisation
//!      by rows); it is written once, for float32;
//!    - `cx.kernel(Box::new(Own { .. }), &inputs, &outputs, in_place)?` runs a kernel of the family's own
//!      ([`jumar_ops::Kernel`]), which reads views of any strides: `call.input::<f32>(0)?.row(start, len, step)`;
//!    - `cx.report_dims(&out, dims)?` reports a shape that depends on data.
//!
//! Steps run in order. A step whose output shares memory with one of its inputs is written through a temporary unless it may
//! run in place; arguments of the program that overlap are handled when the plan runs. Steps without elements are dropped, so
//! that empty tensors need no code of their own; operators that give empty inputs a meaning (a sum is 0) say so.
//!
//! # How to test it
//!
//! `cases/<family>.py` computes cases with PyTorch and writes `cases/<family>.txt`; `cases.rs` lists the files and runs each
//! case densely, with strides and offsets, and with threads. Expected values never come from this crate. `hostile.rs` calls every
//! operator with random arguments.
#![forbid(unsafe_code)]

mod argument;
#[allow(dead_code, reason = "families use parts of the builder")]
mod build;
mod element;
mod exchange;
mod generated;
mod ops;
mod plan;
mod promote;
mod refusal;
mod rows;
mod signature;
mod single;
#[allow(dead_code, reason = "families use parts of the builder")]
mod view;

#[cfg(test)]
mod accepted;
#[cfg(test)]
mod cases;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod trial;
#[cfg(test)]
mod type_lists;

pub use generated::signatures;
pub use jumar_ops::view::{Block, Region};
pub use jumar_ops::{OpError, Share, Workers};

pub use argument::{Arg, Dims, Group, Scalar, TensorArg, TensorDesc};
pub use exchange::{Exchange, Memory, Transfer};
pub use ops::{atb, computed, is_computed};
pub use plan::{Access, AccessedView, Plan, RunReport};
pub use refusal::{Refusal, Status};
pub use signature::{Io, Param, ParamKind, Signature, Types};

/// Checks the arguments of one call and returns the steps that compute it.
///
/// `args` holds one argument for each parameter of the signature, in order.
///
/// # Errors
///
/// A [`Refusal`] with the status that the first phase of the call returns. The checks run in the documented order: null
/// pointers, data types, promotion, ranks and shapes, attributes.
pub fn plan(signature: &'static Signature, args: &[Arg]) -> Result<Plan, Refusal> {
    plan_typed(signature, args, true)
}

/// As [`plan`], without the lists of element types that single operators document: for a caller that has checked the types by
/// the definition of an operator of its own.
///
/// # Errors
///
/// Those of [`plan`].
pub fn plan_of_any_type(signature: &'static Signature, args: &[Arg]) -> Result<Plan, Refusal> {
    plan_typed(signature, args, false)
}

/// Plans one call, and checks the element types of its tensors against the lists of the signature if `typed` is set.
fn plan_typed(signature: &'static Signature, args: &[Arg], typed: bool) -> Result<Plan, Refusal> {
    let Some(compute) = ops::find(signature.name) else {
        let text = "it is not supported: no kernel computes it";
        return Err(Refusal::new(Status::NoKernel, text));
    };
    let plan = |args: &[Arg]| {
        let mut cx = build::Cx::new(signature, args, typed)?;
        compute(&mut cx)?;
        cx.finish()
    };
    plan(args).or_else(|refusal| match refusal.status() {
        Status::Invalid => single::of_other_ranks(signature, args, plan).ok_or(refusal),
        _ => Err(refusal),
    })
}
