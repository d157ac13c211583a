//! The timelines of this process: made with their runtimes, and written to their end before the process ends.

use std::path::Path;
use std::sync::{Arc, Weak};

use jumar_core::Probe;
use jumar_core::now_ns;
use jumar_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use jumar_diag::trace::Trace;
use jumar_model::Observer;
use jumar_model::graph::{NodeObserver, Operand, Operands};
use jumar_types::Result;

/// Every timeline that was started here. A program that ends without tearing its runtime down drops nothing, so there has to be
/// a list to write at exit.
static TIMELINES: Mutex<Vec<Weak<Trace>>> = Mutex::new(Vec::new());

/// Whether there has been a timeline: all that an execution looks at otherwise.
static ANY: AtomicBool = AtomicBool::new(false);

/// Begins to show the operators of a model's execution on the timelines of this process; none where there is no timeline.
pub fn trace_operators(device: u32, stream: u32) -> Option<Box<dyn NodeObserver>> {
    if !ANY.load(Ordering::Relaxed) {
        return None;
    }
    let timelines = timelines();
    if timelines.is_empty() {
        return None;
    }
    Some(Box::new(Execution {
        timelines,
        queue: (device, stream),
        begin_ns: AtomicU64::new(now_ns()),
    }))
}

/// Watches the executions of a model for the timelines of this process, and for nothing else.
pub struct OnTimelines {
    /// The model's device.
    pub device: u32,
}

impl Observer for OnTimelines {
    fn begin(&self, stream: u32) -> Option<Box<dyn NodeObserver>> {
        trace_operators(self.device, stream)
    }
}

/// One execution. Its operators run one after the other.
struct Execution {
    timelines: Vec<Arc<Trace>>,
    queue: (u32, u32),
    begin_ns: AtomicU64,
}

impl NodeObserver for Execution {
    fn starts(&self, _inputs: &[Option<Operand>], _memory: &Operands<'_>) {
        self.begin_ns.store(now_ns(), Ordering::Relaxed);
    }

    fn ran(
        &self,
        name: &str,
        operator: &str,
        _inputs: &[Option<Operand>],
        _outputs: &[Operand],
        _memory: &Operands<'_>,
    ) {
        let times = (self.begin_ns.load(Ordering::Relaxed), now_ns());
        for timeline in &self.timelines {
            timeline.operator(self.queue, operator, name, times);
        }
    }
}

/// Starts a timeline and returns the probe that writes it, to be set at a gate. Dropping it writes what is left.
///
/// # Errors
/// `InvalidFile`: the file cannot be written.
pub(crate) fn trace_start(path: &Path) -> Result<Arc<dyn Probe>> {
    let trace = Arc::new(Trace::create(path, &program_name())?);
    let mut timelines = TIMELINES.lock();
    timelines.retain(|other| other.strong_count() > 0);
    timelines.push(Arc::downgrade(&trace));
    ANY.store(true, Ordering::Relaxed);
    Ok(trace)
}

/// Writes every timeline of this process as far as it is known. The files are complete afterwards, and continue when more happens.
///
/// It may be called often, from any thread; a frontend calls it at the end of its runtime and of the process. A file that could
/// not be written is reported on standard error, since the callers cannot report it.
pub fn trace_flush() {
    for timeline in timelines() {
        if let Err(error) = timeline.flush() {
            eprintln!("jumar: {error}");
        }
    }
}

fn timelines() -> Vec<Arc<Trace>> {
    TIMELINES.lock().iter().filter_map(Weak::upgrade).collect()
}

fn program_name() -> String {
    let program = std::env::args_os().next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or(&program);
    name.to_string_lossy().into_owned()
}
