//! The Graph Engine: operators that programs link to graphs, sessions that build and run these, and offline models.
//!
//! The C++ classes of `include/ge` and `include/graph` are thin: `cpp/` defines them; each object holds a number, and each
//! method is one [`call`] with a message. What the numbers stand for lives in `registry` (operators and graphs) and `session`. The runtime is the
//! process's one runtime, which jumar-acl owns: streams and device memory come from there. Building a graph needs
//! neither it nor any thread.
#![forbid(unsafe_code)]

mod calls;
mod collective;
mod custom;
mod file;
mod fusion;
mod infer;
mod message;
mod offline;
mod plan;
mod registry;
mod run;
mod session;
mod split;
mod variables;
mod wire;

#[cfg(test)]
mod tests;

pub use calls::{VERSION, call, check_version};
pub use custom::{CustomHandler, set_custom_handler};
pub use message::{fork_ended, fork_prepared, last_error, refuse};
pub use run::{Done, HostTensor, run, run_async};

pub(crate) use jumar::engine::sync;
pub(crate) use jumar::offline::{graph, lowering};

/// Everything is well.
pub const SUCCESS: u32 = 0;
/// What nearly every misuse answers.
pub const FAILED: u32 = u32::MAX;
/// There is no graph of that number.
pub const GRAPH_NOT_EXIST: u32 = 1_343_242_242;
/// The two families of calls (compile and load, build and run) do not mix on one graph.
pub const UNSUPPORTED: u32 = 1_343_225_956;
/// The graph was not compiled.
pub const GRAPH_NOT_BUILT: u32 = 1_343_242_295;
/// A parameter is not what it has to be.
pub const PARAM_INVALID: u32 = 1_343_225_857;

/// Why a call is refused: a status, and a sentence behind the number of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct GeError {
    /// The status.
    pub status: u32,
    /// The number that opens the message.
    pub code: &'static str,
    /// The sentence.
    pub text: String,
}

impl GeError {
    /// Refuses with the general status.
    pub fn new(text: impl Into<String>) -> GeError {
        GeError {
            status: FAILED,
            code: "E19999",
            text: text.into(),
        }
    }

    /// Sets the id of the message.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> GeError {
        self.code = code;
        self
    }

    /// Sets the status of the refusal.
    #[must_use]
    pub fn status(mut self, status: u32) -> GeError {
        self.status = status;
        self
    }
}

impl From<graph::GraphError> for GeError {
    fn from(error: graph::GraphError) -> GeError {
        GeError::new(error.text())
    }
}

impl From<jumar_types::Error> for GeError {
    fn from(error: jumar_types::Error) -> GeError {
        GeError::new(error.to_string())
    }
}

/// What a call of the Graph Engine answers.
pub type GeResult<T> = Result<T, GeError>;
