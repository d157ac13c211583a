//! What the shims use of jumar-acl, in one place.

#[path = "../../jumar-acl/src/generated/calls.rs"]
pub mod calls;
#[path = "../../jumar-acl/src/generated/types.rs"]
pub mod types;

pub use jumar_hal::{Call, Span};
pub use jumar_types::{Error, ErrorKind, Result};

/// A handle as it came from C.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw(pub u64);

/// The context of a call.
pub struct Cx;

/// Runs a call.
pub fn enter<T>(
    _call: &'static Call,
    f: impl FnOnce(&Cx) -> Result<T>,
) -> std::result::Result<T, i32> {
    f(&Cx).map_err(|error| {
        if error.kind() == ErrorKind::NotImplemented {
            200_001
        } else {
            500_000
        }
    })
}

/// Keeps the text of a panic.
pub fn internal_panic(_call: &'static Call, _text: &str) -> i32 {
    500_000
}

/// The log of programs.
pub mod log {
    use std::ffi::CStr;

    /// Tells whether a level is logged.
    pub fn wanted(_level: u32) -> bool {
        false
    }

    /// Takes a text.
    pub fn app_log(
        _: &super::Cx,
        _: u32,
        _: &CStr,
        _: &CStr,
        _: u32,
        _: &[u8],
    ) -> super::Result<()> {
        Ok(())
    }
}
