//! jumar-acl
