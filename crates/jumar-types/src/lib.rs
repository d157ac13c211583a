//! Plain vocabulary that every other crate shares: error kinds, ids, data types.
//!
//! Nothing here allocates, locks or talks to the system, apart from the text that an [`Error`] carries.
#![deny(unsafe_code)]

pub mod dtype;
pub mod error;
pub mod id;
pub mod philox;
pub mod span;

pub use error::{Error, ErrorKind, FailedOperator, FailedTensor, Result, TaskSite};
pub use id::{Id, IdKind, IdProblem};
pub use span::{Span, Transfer};
