//! Running graphs: from host memory while the caller waits ([`host`]), on a stream in place ([`stream`]), and from host memory
//! by a queue ([`queue`]).

mod custom;
mod host;
mod mode;
mod outputs;
mod queue;
mod stream;
mod supplied;

pub use mode::RunMode;
pub use outputs::{copy_output, read_variables};
pub use queue::{Queue, run_async};
pub use supplied::supply;

use jumar::engine::Span;

use crate::graph::TensorType;
use crate::plan::{Entry, Family, Plan, type_of};
use crate::{FAILED, GeError, GeResult, message, session};

/// A tensor that a program passes to a run.
#[derive(Clone, Debug)]
pub struct HostTensor {
    /// The dimensions.
    pub dims: Vec<i64>,
    /// The number of the element type.
    pub dtype: i32,
    /// The number of the format.
    pub format: i32,
    /// The memory; the program guarantees it.
    pub span: Span,
    /// The contents, where they are read on the host.
    pub bytes: Vec<u8>,
}

/// Called with the status and the reply when a run that was queued has ended.
pub type Done = Box<dyn FnOnce(u32, &[u8]) + Send>;

/// Runs a graph; `mode` is the number of a [`RunMode`].
///
/// # Errors
///
/// The status; the text is kept for the thread.
pub fn run(
    mode: u32,
    session: u64,
    graph: u32,
    stream: u64,
    inputs: &[HostTensor],
    outputs: &[HostTensor],
) -> Result<Vec<u8>, u32> {
    let outcome = RunMode::of(mode).and_then(|mode| {
        let session = session::find(session)?;
        let family = match mode {
            RunMode::Host => Family::Build,
            RunMode::HostAny => Family::Fresh,
            RunMode::Stream | RunMode::StreamLoaded => {
                let loaded = mode == RunMode::StreamLoaded;
                return stream::run(&session, graph, stream, inputs, outputs, loaded)
                    .map_err(|fail| fail.status(FAILED));
            }
        };
        let entry = session.graph(graph)?;
        let Some(_turn) = session.running.try_lock() else {
            return Err(GeError::new(format!(
                "the graph {graph} cannot run: another graph of its session is running"
            )));
        };
        host::run(&session, &entry, inputs, family)
    });
    outcome.map_err(|fail| {
        message::error(&fail);
        fail.status
    })
}

/// Returns the types of tensors that a program passes; `None` where a tensor states no shape.
fn types(inputs: &[HostTensor]) -> GeResult<Vec<Option<TensorType>>> {
    inputs
        .iter()
        .map(|tensor| {
            let ty = type_of(&tensor.dims, tensor.dtype)?;
            // A tensor without dimensions that holds more than one element states no shape.
            let stated = !tensor.dims.is_empty() || ty.bytes() == Some(tensor.span.bytes());
            Ok(stated.then_some(ty))
        })
        .collect()
}

fn check_count(entry: &Entry, plan: &Plan, given: usize) -> GeResult<()> {
    if given == plan.inputs {
        return Ok(());
    }
    Err(GeError::new(format!(
        "graph {} has {} inputs, and {given} are given",
        entry.number, plan.inputs
    ))
    .code("E13025"))
}

fn too_short(index: usize, what: &str, has: usize, needs: usize) -> GeError {
    GeError::new(format!(
        "{what} {index} has {has} bytes, and the graph needs {needs}"
    ))
    .code("E13025")
}
