//! jumar-graph
