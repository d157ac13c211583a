//! jumar-py
