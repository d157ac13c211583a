//! Eager operators: one aclnn call becomes a [`Plan`], a list of kernel steps over strided views.
//!
//! [`plan`] checks the arguments of a call and returns the steps. It reads host arguments only (shapes, scalars,
//! integer arrays) and never touches tensor memory. [`Plan::run`] executes the steps on memory regions, once or many
//! times. The crate knows nothing of streams, handles or devices, and contains no unsafe code.
#![forbid(unsafe_code)]

mod argument;
mod generated;
mod ops;
mod plan;
mod refusal;
mod signature;

pub use generated::signatures;
pub use jumar_ops::view::Region;
pub use jumar_ops::{OpError, Share, Workers};

pub use argument::{Arg, Dims, Scalar, TensorArg, TensorDesc};
pub use ops::{computed, is_computed};
pub use plan::{Access, Plan, Ran};
pub use refusal::{Refusal, Status};
pub use signature::{Io, Param, ParamKind, Signature};

/// Checks the arguments of one call and returns the steps that compute it.
///
/// `args` holds one argument for each parameter of the signature, in order.
///
/// # Errors
///
/// A [`Refusal`] with the status that the first phase of the call returns. The checks run in the documented order: null
/// pointers, data types, promotion, ranks and shapes, attributes.
pub fn plan(signature: &'static Signature, args: &[Arg]) -> Result<Plan, Refusal> {
    let Some(compute) = ops::find(signature.name) else {
        let text = format!("{} is not supported: no kernel computes it", signature.name);
        return Err(Refusal::new(Status::NoKernel, text));
    };
    compute(signature, args)
}
