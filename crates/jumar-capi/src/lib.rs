//! jumar-capi
