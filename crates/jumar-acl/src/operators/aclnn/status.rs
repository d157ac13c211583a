//! From kinds of errors to the codes of single operators.

use jumar_eager::Refusal;
use jumar_types::{Error, ErrorKind, Result};

use crate::Cx;
use crate::generated::codes::{
    ACLNN_ERR_INNER, ACLNN_ERR_INNER_FIND_KERNEL_ERROR, ACLNN_ERR_INNER_NULLPTR,
    ACLNN_ERR_PARAM_INVALID, ACLNN_ERR_PARAM_NULLPTR, ACLNN_ERR_RUNTIME_ERROR,
};

/// An error with the code that a phase returns for it.
#[derive(Debug)]
pub struct PhaseError {
    code: i32,
    error: Error,
}

impl PhaseError {
    /// A required pointer is null.
    pub(super) fn null(sentence: String) -> PhaseError {
        PhaseError {
            code: ACLNN_ERR_PARAM_NULLPTR,
            error: Error::new(ErrorKind::NullPointer, sentence),
        }
    }

    /// An argument that the call does not accept.
    pub(super) fn invalid(sentence: String) -> PhaseError {
        PhaseError {
            code: ACLNN_ERR_PARAM_INVALID,
            error: Error::new(ErrorKind::InvalidArgument, sentence),
        }
    }

    /// An executor that cannot be used.
    pub(super) fn executor(error: Error) -> PhaseError {
        PhaseError {
            code: ACLNN_ERR_INNER_NULLPTR,
            error,
        }
    }

    /// A call of the runtime failed.
    pub(super) fn runtime(error: Error) -> PhaseError {
        PhaseError {
            code: ACLNN_ERR_RUNTIME_ERROR,
            error,
        }
    }

    /// The operator is not computed.
    pub(super) fn not_implemented(name: &str) -> PhaseError {
        PhaseError {
            code: ACLNN_ERR_INNER_FIND_KERNEL_ERROR,
            error: Error::new(
                ErrorKind::NotImplemented,
                format!("{name} is not implemented"),
            ),
        }
    }

    /// Returns the error without its code.
    pub(super) fn into_error(self) -> Error {
        self.error
    }

    /// Adds what the caller can do about it.
    pub(super) fn fix(mut self, advice: &str) -> PhaseError {
        self.error = self.error.fix(advice);
        self
    }
}

/// What the checks of the objects refuse: null, or an object that cannot be used.
impl From<Error> for PhaseError {
    fn from(error: Error) -> PhaseError {
        let code = if error.kind() == ErrorKind::NullPointer {
            ACLNN_ERR_PARAM_NULLPTR
        } else if [ErrorKind::InvalidArgument, ErrorKind::InvalidHandle].contains(&error.kind()) {
            ACLNN_ERR_PARAM_INVALID
        } else if error.kind() == ErrorKind::Internal {
            ACLNN_ERR_INNER
        } else {
            ACLNN_ERR_RUNTIME_ERROR
        };
        PhaseError { code, error }
    }
}

/// What the plan refuses.
impl From<Refusal> for PhaseError {
    fn from(refusal: Refusal) -> PhaseError {
        let code = refusal.status().code();
        let kind = match code {
            ACLNN_ERR_PARAM_NULLPTR | ACLNN_ERR_INNER_NULLPTR => ErrorKind::NullPointer,
            ACLNN_ERR_INNER_FIND_KERNEL_ERROR => ErrorKind::NotImplemented,
            ACLNN_ERR_INNER => ErrorKind::Internal,
            _ => ErrorKind::InvalidArgument,
        };
        let error = Error::new(kind, refusal.text());
        let error = if kind == ErrorKind::InvalidArgument {
            error.fix(refusal.fix())
        } else {
            error
        };
        PhaseError { code, error }
    }
}

/// Runs a call of an operator, and sets the code that its error has there.
///
/// # Errors
/// What `work` returns.
pub fn answer<T>(
    cx: &Cx<'_>,
    work: impl FnOnce() -> std::result::Result<T, PhaseError>,
) -> Result<T> {
    work().map_err(|refused| {
        cx.thread.foreign_code.set(refused.code);
        refused.error
    })
}

/// Refuses a function beside the operators that is not implemented.
///
/// # Errors
/// Always: 561003, with the function's name.
pub fn not_implemented<T>(cx: &Cx<'_>) -> std::result::Result<T, PhaseError> {
    Err(PhaseError::not_implemented(cx.call.name))
}
