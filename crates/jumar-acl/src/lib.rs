//! The ACL dialect: each function of the C interface as a safe function over numbers.
//!
//! A file or folder for each group of the API data, in a folder with related ones; beside these folders are the modules that every
//! call needs: the process, the thread, errors and their texts. A C name is spelt out once, as the name of its function, so that searching for
//! it finds the whole of its behaviour. Rules of the runtime itself live in jumar-core; what stands here are ACL's quirks:
//! which null means what, old aliases, and which object a call is about. The one process-wide runtime lives in [`process`].
#![forbid(unsafe_code)]
#![allow(
    non_snake_case,
    reason = "functions carry the names of the C interface"
)]
#![allow(
    clippy::missing_errors_doc,
    reason = "the reference page of each function lists its codes"
)]
#![allow(
    missing_docs,
    reason = "the functions are documented on the generated reference pages"
)]

mod c_layout;
mod configuration;
mod diagnosis;
pub mod dvpp;
pub mod error;
mod files;
pub mod frontend;
pub mod generated;
pub mod hooks;
pub mod init;
pub mod message;
mod models;
mod operators;
pub mod process;
mod runtime;
pub mod signature;
mod storage;
pub mod thread;
mod transfer;

// A group of the interface is exported by its own name, regardless of its folder.
pub use diagnosis::*;
pub use dvpp::himpi;
pub use models::*;
pub use operators::*;
pub use runtime::*;
pub use storage::*;
pub use transfer::*;

use std::sync::Arc;

pub use jumar::engine::{Call, Span};
pub use jumar_types::{Error, ErrorKind, Result};

use jumar::engine::{Caller, Context, Event, Notify, Runtime, Stream};

use generated::enums;
use process::Process;
use thread::Thread;

/// A handle as a program passes it: a number that is looked up, never followed. 0 is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Raw(pub u64);

impl Raw {
    /// Returns whether the handle is null.
    pub fn is_null(self) -> bool {
        self.0 == 0
    }
}

/// What a function of the dialect works with: the process's runtime, the calling thread, and the function's name.
pub struct Cx<'a> {
    pub(crate) process: &'static Process,
    pub(crate) thread: &'a Thread,
    pub(crate) call: &'static Call,
}

/// Runs one function of the interface and turns its error into a code, keeping the text for `aclGetRecentErrMsg`.
///
/// # Errors
/// The code that a C program sees.
#[inline]
pub fn enter<T>(
    call: &'static Call,
    body: impl FnOnce(&Cx<'_>) -> Result<T>,
) -> std::result::Result<T, i32> {
    let process = process::get();
    if thread::has_ended() || process.prof.times_calls() {
        let (mut body, mut answer) = (Some(body), None);
        let ran = enter_rarely(call, &mut |cx| {
            if let Some(body) = body.take() {
                answer = Some(body(cx)?);
            }
            Ok(())
        });
        return match answer {
            Some(answer) => Ok(answer),
            None => Err(ran.err().unwrap_or_default()),
        };
    }
    thread::with_living(|thread| {
        let cx = Cx {
            process,
            thread,
            call,
        };
        body(&cx).map_err(|error| message::keep(&cx, error))
    })
}

/// As [`enter`], on a thread that is ending, or for a profile that wants to know how long calls take. Every function of the
/// interface contains [`enter`]; what is rare is compiled once for all of them.
#[cold]
#[inline(never)]
fn enter_rarely(
    call: &'static Call,
    body: &mut dyn FnMut(&Cx<'_>) -> Result<()>,
) -> std::result::Result<(), i32> {
    thread::with(|thread| {
        let cx = Cx {
            process: process::get(),
            thread,
            call,
        };
        let is_timed = cx.process.prof.times_calls();
        let start_ns = if is_timed { jumar::engine::now_ns() } else { 0 };
        let outer = is_timed.then(|| cx.process.activities.begin_call(cx.thread));
        let answer = body(&cx).map_err(|error| message::keep(&cx, error));
        if let Some(outer) = outer {
            let thread = cx.thread.system_number();
            cx.process.prof.add_call(call.name, thread, start_ns);
            let activities = &cx.process.activities;
            activities.end_call(call.name, cx.thread, start_ns, outer);
        }
        answer
    })
}

/// Keeps the text of a defect of Jumar itself, found in `call`. Returns its code.
pub fn internal_panic(call: &'static Call, text: &str) -> i32 {
    let error = Error::new(ErrorKind::Internal, format!("Jumar itself failed: {text}"));
    enter::<()>(call, |_| Err(error))
        .err()
        .unwrap_or(generated::codes::ACL_ERROR_INTERNAL_ERROR)
}

impl<'a> Cx<'a> {
    /// The runtime.
    ///
    /// # Errors
    /// Why it could not be built.
    #[inline]
    pub(crate) fn runtime(&self) -> Result<&'static Runtime> {
        self.process.runtime()
    }

    /// Who asks, as core wants to know it.
    #[inline]
    pub(crate) fn caller(&self) -> Caller<'a> {
        Caller::new(self.call, &self.thread.lookups)
    }

    /// The calling thread's current context.
    ///
    /// # Errors
    /// `NoContext`: none was set, or it is gone.
    #[inline]
    pub(crate) fn context(&self) -> Result<Arc<Context>> {
        self.thread.with_context(self, Arc::clone)
    }

    /// Finds a stream of any context. The caller needs some context nevertheless.
    ///
    /// # Errors
    /// `NoContext`, `InvalidHandle`.
    pub(crate) fn any_stream(&self, stream: Raw) -> Result<Arc<Stream>> {
        let context = self.context()?;
        if stream.is_null() {
            context.default_stream()
        } else {
            self.thread.stream(self, stream, Arc::clone)
        }
    }

    /// Lends a stream of any context. The caller needs some context nevertheless.
    ///
    /// # Errors
    /// `NoContext`, `InvalidHandle`.
    #[inline]
    pub(crate) fn with_any_stream<T>(
        &self,
        stream: Raw,
        work: impl FnOnce(&Arc<Stream>) -> Result<T>,
    ) -> Result<T> {
        if stream.is_null() {
            return work(&self.context()?.default_stream()?);
        }
        self.thread.with_context(self, |_| ())?;
        self.thread.stream(self, stream, work)?
    }

    /// Finds a stream that must belong to the current context; null is the default stream. The stream is lent, so that
    /// the submit path touches no shared reference count.
    ///
    /// # Errors
    /// `NoContext`, `InvalidHandle`, `StreamContext`.
    #[inline]
    pub(crate) fn with_stream<T>(
        &self,
        stream: Raw,
        work: impl FnOnce(&Arc<Stream>) -> Result<T>,
    ) -> Result<T> {
        self.process.snapshot.pass();
        if stream.is_null() {
            let stream = self.context()?.default_stream()?;
            return self.blocking(&stream, work(&stream));
        }
        self.thread.stream(self, stream, |found| {
            // A stream that is alive has a context that is alive, so that comparing handles is enough.
            if found.context_id() != self.thread.current_handle() {
                let context = self.context()?;
                if found.context_id() != context.id() {
                    return Err(foreign_stream(found, &context));
                }
            }
            self.blocking(found, work(found))
        })?
    }

    /// Waits for the stream after a submit, where the program was started to run that way.
    #[inline]
    fn blocking<T>(&self, stream: &Stream, result: Result<T>) -> Result<T> {
        if self.process.launch_blocking && result.is_ok() {
            stream.drain_briefly();
        }
        result
    }

    pub(crate) fn event(&self, event: Raw) -> Result<Arc<Event>> {
        self.runtime()?.events().get(event.0)
    }

    pub(crate) fn notify(&self, notify: Raw) -> Result<Arc<Notify>> {
        self.runtime()?.notifies().get(notify.0)
    }
}

#[cold]
fn foreign_stream(stream: &Stream, context: &Context) -> Error {
    Error::new(
        ErrorKind::StreamContext,
        format!(
            "stream {} belongs to another context (of device {}) than this thread's current one (of device {})",
            stream.number(),
            stream.device(),
            context.device().number()
        ),
    )
}

/// Reads a time limit in milliseconds: -1 is forever.
///
/// # Errors
/// `kind`: 0 or less than -1.
pub(crate) fn limit_ms(timeout: i32, kind: ErrorKind) -> Result<Option<std::time::Duration>> {
    match timeout {
        -1 => Ok(None),
        1.. => Ok(Some(std::time::Duration::from_millis(u64::from(
            timeout.unsigned_abs(),
        )))),
        _ => Err(Error::new(
            kind,
            format!("the timeout is {timeout} ms; it must be -1 (no limit) or more than 0"),
        )),
    }
}

/// Refuses a call.
pub(crate) fn refuse<T>(kind: ErrorKind, sentence: impl Into<String>) -> Result<T> {
    Err(Error::new(kind, sentence))
}

/// Returns the sentence for a number that an enumeration does not have, or that the call does not support. It lists the values of a
/// short enumeration.
#[cold]
pub(crate) fn not_a_value(enumeration: &str, number: impl Into<i64>) -> String {
    /// The largest value that is looked for, and the largest number of values that are listed.
    const LAST: i64 = 255;
    const LISTED: usize = 12;
    let number = number.into();
    if let Some(name) = enums::name_of(enumeration, number) {
        return format!("{name} ({number}) of {enumeration} is not supported here");
    }
    let values: Vec<String> = (-1..=LAST)
        .filter_map(|value| Some(format!("{} ({value})", enums::name_of(enumeration, value)?)))
        .collect();
    match values.len() {
        1..=LISTED => format!(
            "{number} is not a value of {enumeration}, which has {}",
            values.join(", ")
        ),
        _ => format!("{number} is not a value of {enumeration}"),
    }
}

/// Called once when the process ends: writes what diagnostics kept.
pub fn at_exit() {
    if !process::is_forked() {
        if let Some(process) = process::existing() {
            process.prof.finish();
            let missed = std::mem::take(&mut *process.missed.lock());
            if let Some(line) = message::missed_line(&missed).filter(|_| jumar::config::summary()) {
                eprintln!("{line}");
            }
        }
        jumar::trace_flush();
    }
}

/// Returns the file for the stack of a crash, where one is wanted.
pub fn crash_report() -> Option<std::path::PathBuf> {
    jumar::config::crash_report()
}

/// Returns the calling thread's stack: a line for each function, the innermost first. `fault` is the address of the instruction that a
/// signal interrupted.
pub fn stack_text(fault: Option<usize>) -> String {
    jumar::check::stack_text(fault)
}

/// Called behind everything that the program does when it ends: the checks say what is left.
pub fn at_last() {
    if !process::is_forked() {
        observers::at_exit();
    }
}

pub use process::forked;

/// Called before a fork, on the thread that forks.
pub fn fork_prepared() {
    if !observers::is_off() {
        check::fork_prepared();
        jumar::check::fork_prepared();
    }
}

/// Called after a fork, in the parent and in the child.
pub fn fork_ended() {
    jumar::check::fork_ended();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_an_enumeration_lacks_is_named_with_the_values_of_a_short_enumeration() {
        assert_eq!(
            not_a_value("aclrtMemType", 4u32),
            "4 is not a value of aclrtMemType, which has HBM_TYPE (0), DDR_TYPE (1), P2P_HBM_TYPE (2), P2P_DDR_TYPE (3)"
        );
        assert_eq!(
            not_a_value("acldvppPixelFormat", -5),
            "-5 is not a value of acldvppPixelFormat"
        );
    }

    #[test]
    fn a_value_that_only_the_call_refuses_has_its_name() {
        assert_eq!(
            not_a_value("aclrtMemType", 1u32),
            "DDR_TYPE (1) of aclrtMemType is not supported here"
        );
    }
}
