//! jumar-cpu
