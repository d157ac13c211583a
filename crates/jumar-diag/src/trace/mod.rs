//! The timeline: what ran when, as a file for Perfetto (<https://ui.perfetto.dev>) and `chrome://tracing`.
//!
//! A track for each stream shows its tasks from start to end. A track for each host thread shows its calls: one that works or
//! waits on the thread (a copy at once, a synchronise) from start to end, one that only queues as a mark, because the gate
//! does not see when such a call returns. Flow events go from a call to its task, and from an event's record to its
//! waits. The operators of a model's execution lie inside its slice. A counter shows the memory allocated on each device.
//!
//! Two locks, never held together. `state` collects events in compact form; every operation takes it for a moment.
//! `output` writes them; a thread that finds many events, or flushes, takes it. Between two writes the file is complete:
//! what has not ended is written behind the events that have, and overwritten by the next write.

mod collect;
mod json;
mod output;

use std::path::{Path, PathBuf};

use jumar_core::sync::{Mutex, raw_monotonic_ns};
use jumar_core::{Admission, Phase, Probe, now_ns};
use jumar_types::{Error, Result};

use collect::State;
use output::Output;

/// A probe that writes a timeline.
///
/// # Ownership
/// Dropping it writes what is left.
///
/// # Threads
/// Any. In a forked child it does nothing: the file belongs to the process that made it.
pub struct Trace {
    state: Mutex<State>,
    output: Mutex<Output>,
    path: PathBuf,
    process: u32,
}

/// Variables in which launchers of distributed programs pass the rank of a process.
const RANK_VARIABLES: &[&str] = &["RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK_ID"];

/// Returns the rank that a launcher gave this process.
fn rank() -> Option<u32> {
    let mut values = RANK_VARIABLES.iter().filter_map(std::env::var_os);
    values.find_map(|value| value.to_str()?.parse().ok())
}

/// How many events are collected before a thread that reports one writes them.
const WRITE_AT: usize = 1 << 13;
/// How many events are collected before a thread that submits writes them: it may hold locks, so it should not have to.
const WRITE_AT_LAST: usize = 1 << 16;

impl Trace {
    /// Makes the file, with no events in it, and starts the timeline. `program` is what the file says was traced.
    ///
    /// A file that another live process (or runtime) writes is left alone: the timeline goes to `name.2.json` beside it, then
    /// `name.3.json` and so on. [`Trace::path`] returns its path.
    ///
    /// # Errors
    /// `InvalidFile`: the file cannot be made or written, or is not an ordinary file.
    pub fn create(path: &Path, program: &str) -> Result<Trace> {
        let process = std::process::id();
        let origin = json::Origin {
            program,
            process,
            rank: rank(),
            start_ns: raw_monotonic_ns().saturating_sub(now_ns()),
        };
        let (output, path) = Output::create(path, &json::header(&origin))?;
        Ok(Trace {
            state: Mutex::default(),
            output: Mutex::new(output),
            path,
            process,
        })
    }

    /// Takes in an operator of a model that ran on a stream: its kind, the node's name, and when it began and ended.
    ///
    /// # Units
    /// Nanoseconds of the clock of [`now_ns`].
    pub fn operator(
        &self,
        (device, stream): (u32, u32),
        operator: &str,
        node: &str,
        times_ns: (u64, u64),
    ) {
        let mut state = self.state.lock();
        state.operator((device, stream), (operator, node), times_ns);
        let many = state.is_longer_than(WRITE_AT_LAST);
        drop(state);
        if many {
            self.write_some();
        }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes everything seen so far. The file is complete afterwards; the timeline continues.
    ///
    /// # Errors
    /// `InvalidFile`: the file could not be written, now or earlier. What was seen after that is lost.
    pub fn flush(&self) -> Result<()> {
        if self.is_elsewhere() {
            return Ok(());
        }
        // The order of writes is the order in which events were taken.
        let mut output = self.output.lock();
        let taken = self.state.lock().take(now_ns());
        let mut text = String::new();
        taken
            .ended
            .iter()
            .for_each(|event| json::write(event, &mut text));
        let mut rest = String::new();
        taken
            .unfinished
            .iter()
            .for_each(|event| json::write(event, &mut rest));
        output.append(&self.path, &text, &rest)
    }

    /// Returns whether this is a forked child, which shares the open file with its parent.
    fn is_elsewhere(&self) -> bool {
        std::process::id() != self.process
    }

    fn write_some(&self) {
        // The error is kept and returned by the next flush: no caller here could handle it.
        let _reported_later: std::result::Result<(), Error> = self.flush();
    }
}

impl Probe for Trace {
    fn before(&self, admission: &Admission<'_>) -> Result<()> {
        if matches!(admission.op, jumar_core::Op::Edge { .. }) {
            return Ok(());
        }
        let mut state = self.state.lock();
        state.admitted(admission);
        let many = state.is_longer_than(WRITE_AT_LAST);
        drop(state);
        if many {
            self.write_some();
        }
        Ok(())
    }

    fn reported(&self, ticket: u64, phase: &Phase, at_ns: u64) {
        let mut state = self.state.lock();
        let at_rest = state.reported(ticket, phase, at_ns);
        let many = state.is_longer_than(WRITE_AT);
        drop(state);
        if many || at_rest {
            self.write_some();
        }
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.write_some();
    }
}
