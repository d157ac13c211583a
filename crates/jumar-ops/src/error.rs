//! Why an operator refuses.

use std::fmt;

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OpErrorKind {
    /// The operator, or this form of it, is not there yet.
    NotSupported,
    /// Attributes, types or shapes that contradict the operator's definition.
    Invalid,
    /// A shape or value has to be known before the operator can be planned.
    Unknown,
    /// Data that the operator cannot compute on (an index outside its tensor).
    Data,
    /// A buffer that is too small for its tensor.
    Buffer,
    /// Sizes beyond what memory can hold.
    TooLarge,
    /// A mistake in Jumar itself.
    Internal,
}

/// A refusal: a kind, and a sentence with the values that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpError {
    kind: OpErrorKind,
    text: Box<str>,
}

impl OpError {
    /// Makes a refusal.
    pub fn new(kind: OpErrorKind, text: impl Into<Box<str>>) -> OpError {
        OpError {
            kind,
            text: text.into(),
        }
    }

    pub(crate) fn unsupported(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::NotSupported, text)
    }

    pub(crate) fn invalid(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::Invalid, text)
    }

    pub(crate) fn unknown(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::Unknown, text)
    }

    pub(crate) fn data(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::Data, text)
    }

    pub(crate) fn buffer(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::Buffer, text)
    }

    pub(crate) fn too_large(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::TooLarge, text)
    }

    pub(crate) fn internal(text: impl Into<Box<str>>) -> OpError {
        OpError::new(OpErrorKind::Internal, text)
    }

    /// Returns the kind.
    pub const fn kind(&self) -> OpErrorKind {
        self.kind
    }

    /// Returns the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Puts where it happened in front of the sentence.
    #[must_use]
    pub fn at(self, location: impl fmt::Display) -> OpError {
        OpError {
            kind: self.kind,
            text: format!("{location}: {}", self.text).into(),
        }
    }
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for OpError {}
