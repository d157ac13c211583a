//! The FFI boundary around every call: no panic unwinds into C, and a second copy of the library never runs.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;

use crate::acl::observers::ReturnKind;
use crate::acl::{self, Call, Cx, Error, ErrorKind, Result, calls};

use super::{call_trace, instance, reserve};

/// Runs a call that answers a code.
#[inline]
pub fn status(call: &'static Call, mut body: impl FnMut(&Cx<'_>) -> Result<()>) -> i32 {
    let observed = call_trace::begin(call);
    let code = match enter(call, &mut body) {
        Ok(()) => 0,
        Err(code) => code,
    };
    if observed {
        call_trace::end(call, code, ReturnKind::Code);
    }
    code
}

/// Runs a call that returns an `HcclResult`.
#[inline]
pub fn hccl_status(call: &'static Call, body: impl FnMut(&Cx<'_>) -> Result<()>) -> u32 {
    match u32::try_from(status(call, body)) {
        Ok(code) if code <= HCCL_LARGEST => code,
        // A panic and a second copy of the library have codes of their own.
        _ => HCCL_INTERNAL,
    }
}

/// `HCCL_E_RESERVED`, which closes the enumeration.
const HCCL_LARGEST: u32 = 1042;
/// `HCCL_E_INTERNAL`.
const HCCL_INTERNAL: u32 = 4;

/// Answers a call that is not implemented yet with `HCCL_E_NOT_SUPPORT`.
pub fn hccl_stub(call: &'static Call) -> u32 {
    hccl_status(call, |_| Err(not_supported(call)))
}

/// Runs a call whose answer is a code, though not its own.
#[inline]
pub fn code(call: &'static Call, mut body: impl FnMut(&Cx<'_>) -> Result<i32>) -> i32 {
    let observed = call_trace::begin(call);
    let code = enter(call, &mut body).unwrap_or_else(|code| code);
    if observed {
        call_trace::end(call, code, ReturnKind::Value(0));
    }
    code
}

/// Runs a call that answers a value; `neutral` is the answer on an error, whose text is kept.
#[inline]
pub fn value<T: Copy + 'static>(
    call: &'static Call,
    neutral: T,
    mut body: impl FnMut(&Cx<'_>) -> Result<T>,
) -> T {
    let observed = call_trace::begin(call);
    let answer = enter(call, &mut body);
    if observed {
        let returned = answer.as_ref().map_or(0, call_trace::any_word);
        let code = answer.as_ref().err().copied().unwrap_or(0);
        call_trace::end(call, code, ReturnKind::Value(returned));
    }
    answer.unwrap_or(neutral)
}

/// Runs a call of a frontend above the C interface. The call trace has its name, and none of its arguments.
///
/// # Errors
/// As [`enter`].
pub fn frontend<T>(
    call: &'static Call,
    mut body: impl FnMut(&Cx<'_>) -> Result<T>,
) -> std::result::Result<T, i32> {
    let observed = call_trace::begin(call);
    let answer = enter(call, &mut body);
    if observed {
        let code = answer.as_ref().err().copied().unwrap_or(0);
        call_trace::end(call, code, ReturnKind::Value(0));
    }
    answer
}

/// Answers a call that is not implemented yet with a code.
pub fn stub(call: &'static Call) -> i32 {
    status(call, |_| Err(not_supported(call)))
}

/// Answers a call that is not implemented yet and has no code to answer.
pub fn stub_value<T: Copy + 'static>(call: &'static Call, neutral: T) -> T {
    value(call, neutral, |_| Err(not_supported(call)))
}

#[cold]
fn not_supported(call: &Call) -> Error {
    Error::new(
        ErrorKind::NotImplemented,
        format!("{} is not supported yet by Jumar", call.name),
    )
}

/// Runs the body of a call inside the FFI boundary.
///
/// The body is lent: what it refers to was just written, and to copy it in pieces of another size would stall the processor.
///
/// # Errors
/// The code of the error that the body answered, of a panic, or of a second copy of the library.
#[inline]
pub fn enter<T>(
    call: &'static Call,
    body: &mut impl FnMut(&Cx<'_>) -> Result<T>,
) -> std::result::Result<T, i32> {
    if reserve::is_exhausted(call.name) {
        return Err(out_of_memory(call));
    }
    // Whatever goes through `catch_unwind` by value is written to memory and read back at once, in pieces of another size,
    // which costs more than all the rest of the boundary; so one address goes through.
    let mut inside = (call, body);
    let inside = &mut inside;
    let run = || {
        let (call, body) = inside;
        if instance::is_first() || std::ptr::eq(*call, &raw const calls::aclGetRecentErrMsg) {
            acl::enter(call, body)
        } else {
            Err(beside_the_first(call))
        }
    };
    // What a panic left half done lies behind locks that are poisoned or in objects that only the panicking call
    // could reach; the next call answers an error for the former.
    match panic::catch_unwind(AssertUnwindSafe(run)) {
        Ok(answer) => answer,
        Err(payload) => Err(panicked(call, payload.as_ref())),
    }
}

/// Refuses a call of a process that has no memory left.
#[cold]
fn out_of_memory(call: &'static Call) -> i32 {
    if !reserve::explains() {
        return jumar_acl::generated::codes::code_for(call, ErrorKind::OutOfMemory);
    }
    let refused = acl::enter::<()>(call, |_| {
        let sentence = "the process can allocate no more memory: a limit of its addresses or its memory is reached";
        Err(Error::new(ErrorKind::OutOfMemory, sentence)
            .fix("Free memory, or raise the limit (ulimit -v). Calls that release something are accepted meanwhile."))
    });
    refused.err().unwrap_or_default()
}

/// Refuses a call of a second copy of the library. `aclGetRecentErrMsg`, which reads why, is not refused.
#[cold]
fn beside_the_first(call: &'static Call) -> i32 {
    let refused = acl::enter::<()>(call, |_| {
        Err(Error::new(ErrorKind::SecondRuntime, instance::sentence()))
    });
    refused.err().unwrap_or_default()
}

thread_local! {
    /// Where the last panic of this thread happened; the payload alone does not say.
    static LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Records the source location of every panic of this library, and lets the earlier hook print it. The hook is that of the copy of
/// the standard library inside this library: a Rust program that loads it keeps its own.
pub(super) fn note_panics() {
    static SET: OnceLock<()> = OnceLock::new();
    SET.get_or_init(|| {
        let earlier = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if let Some(location) = info.location() {
                // A thread that is being torn down has no such variable any more; then the location stays unknown.
                let _ = LOCATION.try_with(|slot| {
                    if let Ok(mut slot) = slot.try_borrow_mut() {
                        *slot = location.to_string();
                    }
                });
            }
            earlier(info);
        }));
    });
}

/// Lets jumar-acl finish what it writes (a timeline) when the process ends in good order.
pub(super) fn call_at_exit() {
    extern "C" fn finish() {
        // The process is ending; a defect here cannot be reported.
        let _ = panic::catch_unwind(jumar_acl::at_exit);
    }
    // SAFETY: the function stays: the library is never unloaded.
    unsafe { libc::atexit(finish) };
}

/// Ends the checks. A program's own objects may make calls when they are destroyed, which comes behind every handler of
/// `atexit` that was set after they were made; what stands in this section comes behind all of them.
#[used]
#[unsafe(link_section = ".fini_array")]
static LAST: extern "C" fn() = {
    extern "C" fn last() {
        if super::instance::serves() {
            // The process is ending; a defect here cannot be reported.
            let _ = panic::catch_unwind(jumar_acl::at_last);
        }
    }
    last
};

/// Lets jumar-acl know when a child was forked.
pub(super) fn hear_of_forks() {
    extern "C" fn child() {
        jumar_acl::forked();
        jumar_ge::fork_ended();
        jumar_acl::fork_ended();
    }
    extern "C" fn parent() {
        jumar_ge::fork_ended();
        jumar_acl::fork_ended();
    }
    extern "C" fn prepare() {
        jumar_ge::fork_prepared();
        jumar_acl::fork_prepared();
    }
    // SAFETY: the functions stay: the library is never unloaded. They take and give back two locks, that of graphs under
    // construction and that of what the checks read, on the thread that forks, so that the child does not inherit one from a thread
    // that is not there.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}

#[cold]
fn panicked(call: &'static Call, payload: &(dyn Any + Send)) -> i32 {
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is not a string");
    let location = LOCATION
        .try_with(|slot| slot.try_borrow().map(|s| s.clone()).unwrap_or_default())
        .unwrap_or_default();
    let text = format!("{} hit a defect of Jumar at {location}: {what}", call.name);
    // Keeping the text may fail for the same reason; the code has to come back all the same.
    panic::catch_unwind(|| acl::internal_panic(call, &text)).unwrap_or(500_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_the_internal_code() {
        let code = status(&calls::aclInit, |_| panic!("on purpose"));
        assert_eq!(code, 500_000);
        assert_eq!(value(&calls::aclInit, 7, |_| panic!("on purpose")), 7);
    }

    #[test]
    fn a_stub_says_its_name() {
        assert_eq!(stub(&calls::aclfvInit), 200_001);
        assert_eq!(stub_value(&calls::aclfvInit, 5), 5);
        assert!(
            not_supported(&calls::aclfvInit)
                .to_string()
                .starts_with("aclfvInit ")
        );
    }
}
