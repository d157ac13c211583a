//! Why a model is refused.

use std::fmt;

use jumar_ops::{OpError, OpErrorKind, Operand};

/// The result of everything here.
pub type Result<T> = std::result::Result<T, GraphError>;

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GraphErrorKind {
    /// The bytes are no model of the expected kind.
    NotAModel,
    /// The file ends too early.
    Truncated,
    /// The file contradicts itself.
    Corrupt,
    /// The file was written by a newer Jumar.
    TooNew,
    /// The file was written by the vendor's toolchain.
    VendorFile,
    /// An operator, or a form of it, that is not there yet.
    NotSupported,
    /// A model that contradicts ONNX or the definition of an operator.
    InvalidModel,
    /// An option that is unknown, malformed or does not fit the model.
    InvalidOption,
    /// A dimension has to be fixed by an option.
    NeedsShape,
    /// A file cannot be opened.
    NotFound,
    /// A file cannot be read or written.
    Io,
    /// Sizes beyond what memory can hold.
    TooLarge,
    /// Data that an operator cannot compute on, found while the model ran.
    Data,
    /// A buffer that is smaller than its tensor.
    Buffer,
    /// The memory for a result is not there.
    NoMemory,
    /// The owner of an execution stopped it.
    Stopped,
    /// A mistake in Jumar itself.
    Internal,
}

/// A refusal: a kind, and a sentence that names the object, the values and the fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphError(Box<Body>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Body {
    kind: GraphErrorKind,
    text: String,
    step: Option<FailedStep>,
}

/// The step of a plan at which an execution failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedStep {
    /// The node's name.
    pub name: String,
    /// The inputs that it read while it ran.
    pub inputs: Vec<Operand>,
    /// The outputs.
    pub outputs: Vec<Operand>,
}

impl GraphError {
    /// Makes a refusal.
    pub fn new(kind: GraphErrorKind, text: impl Into<String>) -> GraphError {
        GraphError(Box::new(Body {
            kind,
            text: text.into(),
            step: None,
        }))
    }

    pub(crate) fn corrupt(text: impl Into<String>) -> GraphError {
        GraphError::new(GraphErrorKind::Corrupt, text)
    }

    /// Makes a refusal of a graph or model.
    pub fn invalid(text: impl Into<String>) -> GraphError {
        GraphError::new(GraphErrorKind::InvalidModel, text)
    }

    /// Makes the answer for what does not exist here.
    pub fn unsupported(text: impl Into<String>) -> GraphError {
        GraphError::new(GraphErrorKind::NotSupported, text)
    }

    pub(crate) fn option(text: impl Into<String>) -> GraphError {
        GraphError::new(GraphErrorKind::InvalidOption, text)
    }

    /// Makes the report of a defect of this library.
    pub fn internal(text: impl Into<String>) -> GraphError {
        GraphError::new(GraphErrorKind::Internal, text)
    }

    /// Returns the kind.
    pub fn kind(&self) -> GraphErrorKind {
        self.0.kind
    }

    /// Returns the sentence.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Puts where it happened in front of the sentence.
    #[must_use]
    pub fn at(mut self, location: impl fmt::Display) -> GraphError {
        self.0.text = format!("{location}: {}", self.text());
        self
    }

    /// Adds the failed step of a plan.
    #[must_use]
    pub(crate) fn of_step(mut self, step: FailedStep) -> GraphError {
        self.0.step = Some(step);
        self
    }

    /// Returns the step of a plan that failed, if it was one.
    pub fn step(&self) -> Option<&FailedStep> {
        self.0.step.as_ref()
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl std::error::Error for GraphError {}

impl From<OpError> for GraphError {
    fn from(error: OpError) -> GraphError {
        let kind = match error.kind() {
            OpErrorKind::NotSupported => GraphErrorKind::NotSupported,
            OpErrorKind::Invalid => GraphErrorKind::InvalidModel,
            OpErrorKind::Unknown => GraphErrorKind::NeedsShape,
            OpErrorKind::Data => GraphErrorKind::Data,
            OpErrorKind::Buffer => GraphErrorKind::Buffer,
            OpErrorKind::TooLarge => GraphErrorKind::TooLarge,
            OpErrorKind::Internal => GraphErrorKind::Internal,
        };
        GraphError::new(kind, error.text())
    }
}
