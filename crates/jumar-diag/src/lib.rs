//! The probes: whoever watches operations at the gate of jumar-core and makes something of what they saw.
//!
//! A probe gets plain values and never the runtime. Here is the timeline, [`trace::Trace`].
#![forbid(unsafe_code)]

pub mod trace;
