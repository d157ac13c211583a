//! jumar
