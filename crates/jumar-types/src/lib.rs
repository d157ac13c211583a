//! jumar-types
