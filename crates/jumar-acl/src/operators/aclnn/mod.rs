//! Single operators in two phases.
//!
//! The first phase checks the arguments and plans the call ([`jumar_eager::plan`]); the plan and the data pointers become
//! an [`Executor`]. The second phase queues the plan as one task on a stream. The executor has copies of everything that
//! the task needs, so a program may destroy tensors and scalars as soon as the second phase has returned.
//!
//! Objects and executors belong to the process: any thread may use what another one created.

mod calls;
mod executor;
mod helpers;
mod lists;
mod phases;
mod plans;
mod ranges;
mod status;
mod task;
mod tensor;

use std::sync::Arc;

use jumar::engine::{Span, Stream, Table};
use jumar_eager::{Exchange, Group, Memory};
use jumar_types::{IdKind, Result};

pub use calls::{CALLS, Phase, call, phase_of};
pub use executor::*;
pub use helpers::*;
pub use lists::*;
pub(super) use phases::queue;
pub use phases::{RawArg, first_phase, is_text, parameters, second_phase};
pub(crate) use plans::Plans;
pub use status::{answer, not_implemented};
pub(crate) use tensor::FreeList;
pub(super) use tensor::dense_content;
pub use tensor::*;

use crate::Cx;

/// The objects of a process that operators take.
pub struct Objects {
    tensors: Table<Tensor>,
    scalars: Table<Scalar>,
    ints: Table<IntArray>,
    floats: Table<FloatArray>,
    bools: Table<BoolArray>,
    tensor_lists: Table<TensorList>,
    scalar_lists: Table<ScalarList>,
    executors: Table<Executor>,
    communication: Communication,
}

/// A collective that is ready: queues it on a stream.
pub(crate) type ReadyCollective = Box<dyn FnOnce(&Cx<'_>, &Arc<Stream>) -> Result<()>>;

/// Finds the memory that a plan names.
pub(crate) type Locate<'a> = &'a dyn Fn(Memory) -> Span;

/// What operators that are joined with collectives need of communicators. The process connects the two, which do not know each other.
pub(crate) struct Communication {
    /// Finds the rank of the current device in the communicator of a name.
    pub(crate) named: fn(&Cx<'_>, &str) -> Option<Group>,
    /// Prepares a collective of a device.
    pub(crate) join: fn(&Cx<'_>, u32, &Exchange, Locate<'_>) -> Result<ReadyCollective>,
}

impl Objects {
    /// Creates the objects of a process.
    pub(crate) fn new(communication: Communication) -> Self {
        Objects {
            communication,
            tensors: Table::without_epoch(IdKind::Tensor),
            scalars: Table::without_epoch(IdKind::Scalar),
            ints: Table::without_epoch(IdKind::IntArray),
            floats: Table::without_epoch(IdKind::FloatArray),
            bools: Table::without_epoch(IdKind::BoolArray),
            tensor_lists: Table::without_epoch(IdKind::TensorList),
            scalar_lists: Table::without_epoch(IdKind::ScalarList),
            executors: Table::without_epoch(IdKind::Executor),
        }
    }
}

/// Initialises single operators. Nothing has to be set up; the configuration has to be readable.
pub fn aclnnInit(_cx: &Cx<'_>, config: Option<&std::ffi::CStr>) -> Result<()> {
    use jumar_types::{Error, ErrorKind};
    let Some(path) = config.filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = path.to_string_lossy();
    let text = std::fs::read_to_string(&*path).map_err(|error| {
        let sentence = format!("the configuration \"{path}\" cannot be read: {error}");
        Error::new(ErrorKind::InvalidFile, sentence)
    })?;
    if text.trim().is_empty() {
        return Ok(());
    }
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(_) => Ok(()),
        Err(error) => crate::refuse(
            ErrorKind::ParseFile,
            format!("the configuration \"{path}\" is not JSON: {error}"),
        ),
    }
}

/// Ends what [`aclnnInit`] began. Objects and executors stay valid.
pub fn aclnnFinalize(_cx: &Cx<'_>) -> Result<()> {
    Ok(())
}
