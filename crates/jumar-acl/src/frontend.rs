//! What other frontends of the same process use of the one runtime: the Graph Engine runs graphs on the streams that
//! programs made here.

use std::sync::Arc;

use jumar::engine::{Runtime, Stream};
use jumar_types::Result;

pub use jumar_hccl::Reduction;

pub use crate::hccl::{Joint, Rank};
use crate::{Cx, Raw, process, thread};

/// The runtime of the process, built at the first call that needs it.
///
/// # Errors
/// Why it could not be built.
pub fn runtime() -> Result<&'static Runtime> {
    process::get().runtime()
}

/// Refuses what a child of a process that had used a device cannot do.
///
/// # Errors
/// `DeviceSetup`.
pub fn refuse_if_forked() -> Result<()> {
    process::get().refuse_if_forked()
}

/// Finds a stream by its handle; null is the default stream of the thread's current context.
///
/// # Errors
/// `NoContext`: null, and the thread has no context. `InvalidHandle`.
pub fn stream(handle: u64) -> Result<Arc<Stream>> {
    thread::with(|thread| {
        let cx = Cx {
            process: process::get(),
            thread,
            call: &crate::generated::calls::aclrtSynchronizeStream,
        };
        if handle == 0 {
            cx.context()?.default_stream()
        } else {
            cx.thread.stream(&cx, Raw(handle), Arc::clone)
        }
    })
}

/// Calls a function of the program with the stream's context as the thread's current one.
pub fn in_context_of<T>(stream: &Stream, work: impl FnOnce() -> T) -> T {
    let before = thread::with(|thread| thread.replace_current(stream.context_id()));
    let result = work();
    thread::with(|thread| thread.replace_current(before));
    result
}

/// Writes an error of the Graph Engine to the log, under the module name GE.
pub fn log_graph_engine_error(text: &str) {
    crate::log::graph_engine_error(text);
}
