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

/// A refusal: a status, and a sentence that names the operator, the argument, what was wanted and what was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: Status,
    text: Box<str>,
}

impl Refusal {
    /// Creates a refusal.
    #[cold]
    pub fn new(status: Status, text: impl Into<Box<str>>) -> Refusal {
        Refusal {
            status,
            text: text.into(),
        }
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
