//! jumar-core
