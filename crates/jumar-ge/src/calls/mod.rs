//! The calls that the C++ library makes, by their numbers: each takes a message and returns a reply.
//!
//! `api/ge/calls.toml` lists them; the table here and the numbers in `cpp/calls.h` are generated from it.

mod build;
mod custom;
mod fusion;
mod ge;
mod graph;
mod op;
mod session;
mod table;

pub use table::VERSION;
#[cfg(test)]
pub(crate) use table::number;

use crate::graph::TensorType;
use crate::plan::type_of;
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult, message};

/// A call.
struct Call {
    run: fn(&mut Reader<'_>, &mut Writer) -> GeResult<()>,
    /// Whether every version answers it.
    frozen: bool,
    /// Whether a failure is a warning, and no error.
    warns: bool,
}

/// Refuses a caller of another version.
///
/// # Errors
///
/// FAILED, with both versions.
fn check(version: u32) -> GeResult<()> {
    if version == VERSION {
        return Ok(());
    }
    let caller = if version >> 16 == VERSION >> 16 {
        format!("version {}", version & 0xffff)
    } else {
        "a version before 1".to_owned()
    };
    Err(GeError::new(format!(
        "the program makes Graph Engine calls of {caller}, and this library (Jumar {}) has version {}: load libjumar_ge.so and libascendcl.so from one installation, and compile the program again if the headers of an older Jumar were compiled into it",
        env!("CARGO_PKG_VERSION"),
        VERSION & 0xffff
    )))
}

/// Refuses a caller of another version.
///
/// # Errors
///
/// The status; the text is kept for the thread.
pub fn check_version(version: u32) -> Result<(), u32> {
    check(version).map_err(|fail| {
        message::error(&fail);
        fail.status
    })
}

/// Performs the call of a number with a message and returns the reply; `version` is the caller's.
///
/// # Errors
///
/// The status; the text is kept for the thread.
pub fn call(version: u32, number: u32, message: &[u8]) -> Result<Vec<u8>, u32> {
    let found = usize::try_from(number)
        .ok()
        .and_then(|number| table::CALLS.get(number.checked_sub(1)?));
    let mut to = Writer::default();
    let outcome = match found {
        Some(call) if call.frozen => (call.run)(&mut Reader::new(message), &mut to),
        _ => check(version).and_then(|()| {
            let call = found.ok_or_else(|| {
                GeError::new(format!(
                    "call {number} of the Graph Engine is not supported by this library (Jumar {}): the libjumar_ge.so of this process is newer",
                    env!("CARGO_PKG_VERSION")
                ))
            })?;
            (call.run)(&mut Reader::new(message), &mut to)
        }),
    };
    match outcome {
        Ok(()) => Ok(to.bytes),
        Err(fail) => {
            if found.is_some_and(|call| call.warns) {
                message::warn(fail.text);
            } else {
                message::error(&fail);
            }
            Err(fail.status)
        }
    }
}

/// Reads the types of the inputs that a graph is to be built for.
fn given(from: &mut Reader<'_>) -> GeResult<Vec<Option<TensorType>>> {
    from.list(40, |from| {
        let desc = from.desc()?.desc;
        Ok(Some(type_of(&desc.dims, desc.dtype)?))
    })
}

#[cfg(test)]
mod tests;
