//! jumar-ops
