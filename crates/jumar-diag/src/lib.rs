//! The probes: whoever watches operations at the gate of jumar-core and makes something of what they saw.
//!
//! A probe gets plain values and never the runtime. Here are the timeline, [`trace::Trace`], and the checks, [`check::Check`].
#![forbid(unsafe_code)]

pub mod check;
pub mod trace;
