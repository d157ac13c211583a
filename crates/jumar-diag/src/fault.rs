//! Tasks that are made to fail when their turn comes, as work on a device fails long after the call that queued it.

use jumar_core::sync::{AtomicU64, Mutex, Ordering};
use jumar_core::{Admission, Op, Probe};
use jumar_types::{Error, ErrorKind};

use crate::record_file::RecordFile;

/// Lets one task fail, or writes down which could.
pub struct TaskFaults {
    call: String,
    turn: u64,
    seen: AtomicU64,
    log: Mutex<Option<RecordFile>>,
}

impl TaskFaults {
    /// Lets the task fail that is the `turn`th (from 1; 0: none) of those that the function `call` queues. The names of functions
    /// that queue tasks go to `log`, one a line behind `task:`.
    pub fn new(call: String, turn: u64, log: Option<RecordFile>) -> TaskFaults {
        TaskFaults {
            call,
            turn,
            seen: AtomicU64::new(0),
            log: Mutex::new(log),
        }
    }
}

impl Probe for TaskFaults {
    fn breaks(&self, admission: &Admission<'_>) -> Option<Error> {
        let works = matches!(
            admission.op,
            Op::Copy { .. }
                | Op::CopyRows { .. }
                | Op::CopyBatch { .. }
                | Op::Fill { .. }
                | Op::Launch { .. }
        );
        if !works || admission.stream.is_none() || admission.inner {
            return None;
        }
        if let Some(file) = &mut *self.log.lock() {
            file.append(&format!("task:{}", admission.call));
        }
        if admission.call != self.call {
            return None;
        }
        let turn = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        (turn == self.turn).then(|| {
            Error::new(
                ErrorKind::KernelFailed,
                format!(
                    "task {} was made to fail by `jumar faults`",
                    admission.ticket
                ),
            )
        })
    }

    fn needs_times(&self) -> bool {
        false
    }
}
