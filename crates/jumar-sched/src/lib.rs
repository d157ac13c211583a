//! jumar-sched
