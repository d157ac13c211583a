//! The timelines of this process: made with their runtimes, and written to their end before the process ends.

use std::path::Path;
use std::sync::{Arc, Weak};

use jumar_core::Probe;
use jumar_core::sync::Mutex;
use jumar_diag::trace::Trace;
use jumar_types::Result;

/// Every timeline that was started here. A program that ends without tearing its runtime down drops nothing, so there has to be
/// a list to write at exit.
static TIMELINES: Mutex<Vec<Weak<Trace>>> = Mutex::new(Vec::new());

/// Starts a timeline and gives the probe that writes it, to be set at a gate. Dropping it writes what is left.
///
/// # Errors
/// `InvalidFile`: the file cannot be written.
pub fn trace_start(path: &Path) -> Result<Arc<dyn Probe>> {
    let trace = Arc::new(Trace::create(path, &program_name())?);
    let mut timelines = TIMELINES.lock();
    timelines.retain(|other| other.strong_count() > 0);
    timelines.push(Arc::downgrade(&trace));
    Ok(trace)
}

/// Writes every timeline of this process as far as it is known. The files are complete afterwards, and go on when more happens.
///
/// It may be called often, from any thread; a surface calls it at the end of its runtime and of the process. A file that could
/// not be written is told on standard error, since the callers have nobody to tell.
pub fn trace_flush() {
    let timelines: Vec<_> = TIMELINES.lock().iter().filter_map(Weak::upgrade).collect();
    for timeline in timelines {
        if let Err(error) = timeline.flush() {
            eprintln!("jumar: {error}");
        }
    }
}

fn program_name() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or(&program);
    name.to_string_lossy().into_owned()
}
