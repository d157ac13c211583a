//! The probes: observers of the operations at the gate of jumar-core.
//!
//! A probe gets plain values and never the runtime. Here are the timeline, [`trace::Trace`], and the checks, [`check::Check`], and
//! tasks that fail on purpose, [`fault::TaskFaults`], and the record of the order in which tasks run, [`task_order::TaskOrder`].
#![forbid(unsafe_code)]

pub mod check;
pub mod fault;
pub mod output_file;
pub mod record_file;
pub mod task_order;
pub mod trace;
