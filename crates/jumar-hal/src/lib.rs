//! jumar-hal
