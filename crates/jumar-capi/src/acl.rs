//! The parts of jumar-acl that the shims use.

pub use jumar_acl::generated::{calls, types};
pub use jumar_acl::{
    Call, Cx, Error, ErrorKind, Raw, Result, Span, enter, internal_panic, log, observers,
};
