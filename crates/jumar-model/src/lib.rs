//! jumar-model
