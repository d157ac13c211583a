//! A record of the tasks that streams ran, and of what each one was: `jumar explore` compares the records of two runs.
//!
//! Lines of the file, in the order of events:
//!
//! - `task {...}`: an operation was queued (its number, its stream, the call, the line of the program, what it does);
//! - `start 12`: the operation with this number began.

use std::collections::HashMap;
use std::sync::Arc;

use jumar_core::sync::Mutex;
use jumar_core::{Admission, Op, Phase, Probe, Span};
use serde_json::json;

use crate::check::{Check, here};
use crate::record_file::RecordFile;

/// Hears that a task of the stream with this number begins.
pub type StartHook = Box<dyn Fn(u32) + Send + Sync>;

/// Records tasks and their order.
pub struct TaskOrder {
    check: Arc<Check>,
    file: Option<Mutex<RecordFile>>,
    started: Option<StartHook>,
    /// The streams of tasks that have not begun.
    queued: Mutex<HashMap<u64, u32>>,
}

impl TaskOrder {
    /// Makes the record, in a file if there is one. `check` finds the lines of the program.
    pub fn new(
        check: Arc<Check>,
        file: Option<RecordFile>,
        started: Option<StartHook>,
    ) -> TaskOrder {
        TaskOrder {
            check,
            file: file.map(Mutex::new),
            started,
            queued: Mutex::default(),
        }
    }

    fn described(&self, op: &Op<'_>) -> Option<String> {
        let memory = |span: &Span| match self.check.allocation(span.address()) {
            Some(allocation) => format!(
                "{} +{}..{}",
                allocation.name(),
                span.address() - allocation.start,
                span.end() - allocation.start
            ),
            None => format!("{} bytes of the host", span.bytes()),
        };
        Some(match op {
            Op::Copy { to, from, .. } => format!("copies {} to {}", memory(from), memory(to)),
            Op::CopyRows { to, from, .. } => {
                format!(
                    "copies rows of {} to {}",
                    memory(&from.span),
                    memory(&to.span)
                )
            }
            Op::CopyBatch { pieces, .. } => format!("copies {} ranges", pieces.len()),
            Op::Fill { to } => format!("fills {}", memory(to)),
            Op::Launch { name, .. } => format!("runs {name}"),
            Op::Callback { .. } => "calls a function of the program".to_owned(),
            Op::Record { event, .. } => format!("records event#{event}"),
            Op::Wait { event, .. } => format!("waits for event#{event}"),
            Op::WriteValue { to, value } => format!("writes the value {value} to {}", memory(to)),
            Op::WaitValue { at, value, .. } => {
                format!("waits for the value {value} in {}", memory(at))
            }
            _ => return None,
        })
    }
}

impl Probe for TaskOrder {
    fn before(&self, admission: &Admission<'_>) -> jumar_types::Result<()> {
        let stream = admission.stream.filter(|_| !admission.inner);
        if let (Some(stream), Some(does)) = (stream, self.described(&admission.op)) {
            self.queued.lock().insert(admission.ticket, stream);
            if let Some(file) = &self.file {
                let at = self.check.describe(here());
                let line = json!({
                    "task": admission.ticket, "stream": stream, "call": admission.call, "at": at, "does": does,
                });
                file.lock().append(&format!("task {line}"));
            }
        }
        Ok(())
    }

    fn reported(&self, ticket: u64, _phase: &Phase, _at_ns: u64) {
        // The first phase of a task: it begins, or it is dropped, which takes its turn as well.
        let Some(stream) = self.queued.lock().remove(&ticket) else {
            return;
        };
        if let Some(file) = &self.file {
            file.lock().append(&format!("start {ticket}"));
        }
        if let Some(started) = &self.started {
            started(stream);
        }
    }

    fn needs_times(&self) -> bool {
        false
    }
}
