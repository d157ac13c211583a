//! Observers of calls: each call of the interface, with its arguments, its code and its outputs.
//!
//! States: *unknown* (no call yet), then *off* or *on* forever, as the environment said at the first call. Off is one
//! load of a number that does not change any more.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

use jumar::check::Check;
pub use jumar::check::{DEPTH, Script, SourceLocation, Walk};
use jumar::engine::sync::{AtomicU32, Ordering};
use jumar_types::{Error, Result};

use crate::aclnn::{self, Phase};
use crate::generated::signatures;
pub use crate::signature::{Parameter, Signature};
use crate::{Call, Cx, check, faults};

/// How many arguments of a call are looked at.
pub const MOST: usize = 12;

/// Finds what is known of a call.
pub fn signature(call: &Call) -> &'static Signature {
    match aclnn::phase_of(call) {
        None => signatures::ALL
            .get(usize::from(call.number))
            .unwrap_or(&UNNUMBERED),
        Some((_, Phase::First)) => &FIRST_PHASE,
        Some((_, Phase::Second)) => &SECOND_PHASE,
    }
}

/// A function that has no number: nothing but its name is known of it.
static UNNUMBERED: Signature = Signature {
    returns: "",
    parameters: &[],
};

/// A first phase of an operator. The arguments of the operator follow.
static FIRST_PHASE: Signature = Signature {
    returns: "",
    parameters: &[
        Parameter {
            name: "workspaceSize",
            handle: "",
            out_bytes: 8,
        },
        Parameter {
            name: "executor",
            handle: "aclOpExecutor",
            out_bytes: 8,
        },
    ],
};

/// A second phase of an operator.
static SECOND_PHASE: Signature = Signature {
    returns: "",
    parameters: &[
        Parameter {
            name: "workspace",
            handle: "",
            out_bytes: 0,
        },
        Parameter {
            name: "workspaceSize",
            handle: "",
            out_bytes: 0,
        },
        Parameter {
            name: "executor",
            handle: "aclOpExecutor",
            out_bytes: 0,
        },
        Parameter {
            name: "stream",
            handle: "aclrtStream",
            out_bytes: 0,
        },
    ],
};

const UNKNOWN: u32 = 0;
const OFF: u32 = 1;
const ON: u32 = 2;

static MODE: AtomicU32 = AtomicU32::new(UNKNOWN);
static WATCHER: OnceLock<Option<CallObservers>> = OnceLock::new();
/// Of a forked child: a lock of the parent's may be held by a thread that is not here.
static CHILD: OnceLock<Option<CallObservers>> = OnceLock::new();

/// Everybody who watches calls.
pub(crate) struct CallObservers {
    /// The checks.
    pub(crate) check: Option<Arc<Check>>,
    /// Who makes calls fail.
    pub(crate) faults: Option<faults::Plan>,
}

/// A call under way.
#[derive(Clone, Copy)]
struct Frame {
    call: &'static Call,
    words: [u64; MOST],
    before: SourceLocation,
    injected: bool,
    /// Whether the arguments were shown.
    seen: bool,
}

/// Calls inside each other: a callback may make calls while a call waits for it. Beyond this many they are not watched.
const DEEPEST: usize = 8;

/// The calls that a thread is in; the entries of calls that returned are used again. Without a destructor, since a program's own
/// objects make calls when the variables of its first thread are gone.
struct Frames {
    frames: [Option<Frame>; DEEPEST],
    depth: usize,
}

thread_local! {
    static FRAMES: RefCell<Frames> = const {
        RefCell::new(Frames {
            frames: [None; DEEPEST],
            depth: 0,
        })
    };
}

thread_local! {
    /// What the last error of the calling thread says, and which call answered it.
    static SENTENCE: RefCell<Option<(u16, Box<str>)>> = const { RefCell::new(None) };
}

/// Hears of the error that a call is about to answer.
#[cold]
pub(crate) fn refused(call: &Call, error: &Error) {
    if !is_off() {
        let sentence = error.sentence().into();
        let _ = SENTENCE.try_with(|last| *last.borrow_mut() = Some((call.number, sentence)));
    }
}

impl Frames {
    fn begin(&mut self, call: &'static Call, before: SourceLocation) {
        match self.frames.get_mut(self.depth) {
            Some(Some(frame)) => {
                frame.call = call;
                frame.before = before;
                frame.injected = false;
                frame.seen = false;
            }
            Some(location) => {
                *location = Some(Frame {
                    call,
                    words: [0; MOST],
                    before,
                    injected: false,
                    seen: false,
                });
            }
            None => {}
        }
        self.depth += 1;
    }

    fn current(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.checked_sub(1)?)?.as_mut()
    }
}

/// Returns whether there is no observer.
#[inline]
pub fn is_off() -> bool {
    cfg!(feature = "bench-without-gate") || MODE.load(Ordering::Relaxed) == OFF
}

/// Returns the observers. The first call of a process creates them.
pub(crate) fn watcher() -> Option<&'static CallObservers> {
    if crate::process::is_forked() {
        let child = || {
            // The parent's error was the answer to its first call; a child that cannot be checked reports it.
            let check = jumar::check::anew().unwrap_or_else(|error| {
                eprintln!("jumar: {error}");
                None
            });
            check.is_some().then_some(CallObservers {
                check,
                faults: None,
            })
        };
        return CHILD.get_or_init(child).as_ref();
    }
    let watcher = WATCHER.get_or_init(|| {
        let check = jumar::check::of_process();
        let faults = faults::Plan::from_environment();
        let anybody = check.is_some() || faults.is_some() || jumar::schedule::wants_calls();
        let mode = if anybody { ON } else { OFF };
        MODE.store(mode, Ordering::Relaxed);
        anybody.then_some(CallObservers { check, faults })
    });
    watcher.as_ref()
}

/// A call that began to be watched.
#[derive(Default)]
pub struct Begun {
    /// Whether anybody watches; then [`end`] has to follow.
    pub observed: bool,
    /// What a walk of the stack saw, where there was one.
    pub walk: Option<Walk>,
}

/// Starts the observation of a call. `known` is its source location if an earlier walk of the same stack found it.
#[cold]
pub fn begin(call: &'static Call, known: Option<SourceLocation>) -> Begun {
    let Some(watcher) = watcher() else {
        return Begun::default();
    };
    jumar::schedule::called(call.name);
    let (before, walk) = match &watcher.check {
        Some(check) => check.begin_call(call.name, known),
        None => (SourceLocation::UNKNOWN, None),
    };
    let _ = FRAMES.try_with(|frames| frames.borrow_mut().begin(call, before));
    Begun {
        observed: true,
        walk,
    }
}

/// Reports whether a call of the calling thread is checked and may come from a script whose location is not set yet.
pub fn needs_script() -> bool {
    watcher().is_some_and(|watcher| watcher.check.is_some()) && !jumar::check::is_in_script()
}

/// As [`begin`], for a call that a script makes through another library.
#[cold]
pub fn begin_in_script(call: &'static Call, script: Script) -> Begun {
    jumar::check::set_outer_script(Some(script));
    let begun = begin(call, None);
    jumar::check::set_outer_script(None);
    begun
}

/// Sees the arguments of the call that began last on this thread.
///
/// # Errors
/// What the call is to fail with.
#[cold]
pub fn arguments(cx: &Cx<'_>, words: &[u64]) -> Result<()> {
    let Some(watcher) = watcher() else {
        return Ok(());
    };
    let mut kept = [0; MOST];
    for (to, from) in kept.iter_mut().zip(words) {
        *to = *from;
    }
    let _ = FRAMES.try_with(|frames| {
        if let Some(frame) = frames.borrow_mut().current() {
            frame.words = kept;
            frame.seen = true;
        }
    });
    if let Some(plan) = &watcher.faults
        && let Some(error) = plan.strike(cx.call)
    {
        let _ = FRAMES.try_with(|frames| {
            if let Some(frame) = frames.borrow_mut().current() {
                frame.injected = true;
            }
        });
        return Err(error);
    }
    if let Some(check) = &watcher.check {
        check::before(cx, check, &kept);
    }
    Ok(())
}

/// What a function of the C interface returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnKind {
    /// The code of the call.
    Code,
    /// Something else: a number, an address; 0 if it is neither.
    Value(u64),
}

/// Ends the call that began last on this thread. `read` reads so many bytes that the call wrote to an address.
#[cold]
pub fn end(call: &'static Call, code: i32, returned: ReturnKind, read: fn(u64, usize) -> u64) {
    let ended = FRAMES.try_with(|frames| {
        let mut frames = frames.borrow_mut();
        frames.depth = frames.depth.checked_sub(1)?;
        let frame = frames.frames.get(frames.depth)?.as_ref()?;
        debug_assert!(std::ptr::eq(frame.call, call), "calls end in their order");
        let keeps_args = frame.seen && !frame.injected && (code != 0 || check::checks_call(call));
        Some((frame.before, keeps_args.then_some(frame.words)))
    });
    let (Some(watcher), Ok(Some((before, words)))) = (watcher(), ended) else {
        return;
    };
    let Some(check) = &watcher.check else {
        return;
    };
    if let Some(words) = words {
        let mut written = [0; MOST];
        if code == 0 {
            let parameters = signature(call).parameters.iter().enumerate().take(MOST);
            for (index, parameter) in parameters.filter(|(_, one)| one.out_bytes > 0) {
                if words[index] != 0 {
                    written[index] = read(words[index], parameter.out_bytes);
                }
            }
        }
        let sentence = match code {
            0 => None,
            _ => SENTENCE
                .try_with(|last| last.borrow_mut().take())
                .ok()
                .flatten()
                .filter(|(of, _)| *of == call.number)
                .map(|(_, sentence)| sentence),
        };
        let seen = check::CompletedCall {
            call,
            words,
            code,
            returned: match returned {
                ReturnKind::Code => 0,
                ReturnKind::Value(value) => value,
            },
            written,
            sentence,
            returns_code: returned == ReturnKind::Code,
        };
        check::after(check, &seen);
    }
    check.end_call(before);
}

/// Sets the calling thread's location in its script.
pub fn set_script(file: Option<&CStr>, line: u32, function: Option<&CStr>) {
    let text = |text: Option<&CStr>| text.map_or_else(String::new, |t| t.to_string_lossy().into());
    jumar::check::set_script(file.map(|file| Script {
        file: file.to_string_lossy().into(),
        line,
        function: text(function).into(),
    }));
}

/// Sets the signal on which the interpreter writes the receiving thread's stack, and the file for it.
pub fn set_script_signal(signal: u32, file: u32) {
    jumar::check::set_script_signal(signal, file);
}

/// Returns whether the newest call of the calling thread's script failed, and nothing explains it yet: [`script_reads_result`] has to say
/// whether the script uses the result.
pub fn script_call_failed() -> bool {
    check::failed_in_script()
}

/// Takes note whether the script uses the result of the call for which [`script_call_failed`] is true.
pub fn script_reads_result(is_read: bool) {
    check::answered(is_read);
}

/// Takes note that a call of the Graph Engine, which is under way, fails.
pub fn graph_engine_failed(status: u32, sentence: &str) {
    if let Some(CallObservers {
        check: Some(check), ..
    }) = watcher()
    {
        check::failed_in_graph_engine(check, status, sentence);
    }
}

/// Takes note that the program asks for the errors of the calling thread.
pub fn errors_asked() {
    check::asked();
}

/// Returns whether accesses of the program to pinned memory are checked.
pub fn is_protecting() -> bool {
    jumar::check::is_protecting()
}

/// Returns whether the program is checked.
pub fn is_checked() -> bool {
    watcher().is_some_and(|watcher| watcher.check.is_some())
}

/// Writes the stack of the calling thread, which a signal ends, and findings that wait for the end of the process. `fault` is the
/// address of the instruction, `script` is where the thread is in a script.
pub fn crashed(signal: i32, fault: Option<usize>, script: Option<Script>) {
    if let Some(Some(CallObservers {
        check: Some(check), ..
    })) = WATCHER.get()
    {
        check::crashed(check, signal, fault, script);
    }
}

/// Called when the process ends.
pub(crate) fn at_exit() {
    if let Some(Some(watcher)) = WATCHER.get() {
        if let Some(check) = &watcher.check {
            check::at_exit(check);
            check.finish();
        }
        if let Some(plan) = &watcher.faults {
            plan.finish();
        }
    }
}
