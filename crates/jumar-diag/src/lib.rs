//! jumar-diag
