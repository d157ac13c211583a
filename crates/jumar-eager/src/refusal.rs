//! Why the first phase of a call refuses its arguments.

use std::fmt;

/// The status codes that the first phase returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// A required tensor, scalar or array is null.
    NullPointer,
    /// A data type, format, shape or attribute that the operator does not accept.
    Invalid,
    /// A call of the runtime failed.
    Runtime,
    /// A defect of Jumar itself.
    Inner,
    /// The shape of an output cannot be computed.
    InferShape,
    /// A limit that is found only after the arguments were checked.
    Tiling,
    /// The operator exists but is not implemented.
    NoKernel,
    /// A null pointer that is found late: an executor, or a member of a list.
    InnerNull,
}

impl Status {
    /// Returns the number of the status in `aclnnStatus`.
    pub const fn code(self) -> i32 {
        match self {
            Status::NullPointer => 161_001,
            Status::Invalid => 161_002,
            Status::Runtime => 361_001,
            Status::Inner => 561_000,
            Status::InferShape => 561_001,
            Status::Tiling => 561_002,
            Status::NoKernel => 561_003,
            Status::InnerNull => 561_103,
        }
    }
}

/// What a caller can do about an argument of a wrong type.
pub(crate) const CONVERT: &str = "Convert the tensor to one of these types, with aclnnCast for example. docs/reference/aclnn-operators.md lists the types of each operator.";
/// What a caller can do about a wrong shape.
pub(crate) const RESHAPE: &str = "Create the tensor with the shape that the message states.";
/// What a caller can do about any other argument.
const CHANGE: &str = "Change the argument that the message names. docs/reference/aclnn-operators.md lists the arguments of each operator.";

/// A refusal: a status, and a sentence that names the argument, what was wanted and what was given. The caller puts
/// the name of the function or of the node in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: Status,
    text: Box<str>,
    fix: &'static str,
}

impl Refusal {
    /// Creates a refusal.
    #[cold]
    pub fn new(status: Status, text: impl Into<Box<str>>) -> Refusal {
        Refusal {
            status,
            text: text.into(),
            fix: CHANGE,
        }
    }

    /// Sets what the caller can do about it.
    #[cold]
    pub(crate) fn with_fix(mut self, fix: &'static str) -> Refusal {
        self.fix = fix;
        self
    }

    /// Returns what the caller can do about an argument that was refused: a refusal of the status `Invalid`.
    pub const fn fix(&self) -> &'static str {
        self.fix
    }

    /// Returns the status.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// Returns the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}
