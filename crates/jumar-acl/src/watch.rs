//! Whoever watches calls: what comes in through the surface, with its arguments, its code and what it wrote.
//!
//! States: *unknown* (no call yet), then *off* or *on* for ever, as the environment said at the first call. Off is one
//! load of a number that nobody writes any more.

use std::cell::RefCell;
use std::ffi::CStr;
use std::sync::{Arc, OnceLock};

use jumar::check::{Check, Script, in_call};
pub use jumar::check::{DEPTH, Place, Walk};
use jumar::engine::sync::{AtomicU32, Ordering};
use jumar_types::Result;

use crate::generated::signatures;
use crate::{Call, Cx, check, faults};

/// How many arguments of a call are looked at.
pub const MOST: usize = 12;

/// What is known of a parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The handle's type, where it is one or receives one; empty otherwise.
    pub handle: &'static str,
    /// How many bytes are written through it.
    pub out_bytes: usize,
}

/// What is known of a call.
#[derive(Debug)]
pub struct Signature {
    /// The handle's type, where it returns one; empty otherwise.
    pub returns: &'static str,
    /// The parameters in their order.
    pub parameters: &'static [Parameter],
}

/// Finds what is known of a call.
pub fn signature(call: &Call) -> &'static Signature {
    &signatures::ALL[usize::from(call.number)]
}

const UNKNOWN: u32 = 0;
const OFF: u32 = 1;
const ON: u32 = 2;

static MODE: AtomicU32 = AtomicU32::new(UNKNOWN);
static WATCHER: OnceLock<Option<Watcher>> = OnceLock::new();
/// Of a forked child: a lock of the parent's may be held by a thread that is not here.
static CHILD: OnceLock<Option<Watcher>> = OnceLock::new();

/// Everybody who watches calls.
pub(crate) struct Watcher {
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
    before: Place,
    injected: bool,
    /// Whether the arguments were shown.
    seen: bool,
}

/// Calls inside each other: a callback may make calls while a call waits for it. Beyond this many they are not watched.
const DEEPEST: usize = 8;

/// The calls under way. Without a destructor, since a program's own objects make calls when the variables of its first thread are
/// gone.
struct Frames {
    depth: usize,
    frames: [Option<Frame>; DEEPEST],
}

impl Frames {
    fn push(&mut self, frame: Frame) {
        if let Some(place) = self.frames.get_mut(self.depth) {
            *place = Some(frame);
        }
        self.depth += 1;
    }

    fn pop(&mut self) -> Option<Frame> {
        self.depth = self.depth.checked_sub(1)?;
        self.frames.get_mut(self.depth)?.take()
    }

    fn last(&self) -> Option<&Frame> {
        self.frames.get(self.depth.checked_sub(1)?)?.as_ref()
    }

    fn last_mut(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.checked_sub(1)?)?.as_mut()
    }
}

thread_local! {
    static FRAMES: RefCell<Frames> = const {
        RefCell::new(Frames {
            depth: 0,
            frames: [None; DEEPEST],
        })
    };
}

/// Tells whether nobody watches.
#[inline]
pub fn is_off() -> bool {
    MODE.load(Ordering::Relaxed) == OFF
}

/// Gives whoever watches; asked first by whichever call is the process's first.
pub(crate) fn watcher() -> Option<&'static Watcher> {
    if crate::process::is_forked() {
        let child = || {
            let check = jumar::check::anew();
            check.is_some().then_some(Watcher {
                check,
                faults: None,
            })
        };
        return CHILD.get_or_init(child).as_ref();
    }
    let watcher = WATCHER.get_or_init(|| {
        let check = jumar::check::from_environment();
        let faults = faults::Plan::from_environment();
        let anybody = check.is_some() || faults.is_some() || jumar::schedule::wants_calls();
        let mode = if anybody { ON } else { OFF };
        MODE.store(mode, Ordering::Relaxed);
        anybody.then_some(Watcher { check, faults })
    });
    watcher.as_ref()
}

/// A call that began to be watched.
#[derive(Default)]
pub struct Begun {
    /// Whether anybody watches; then [`end`] has to follow.
    pub watched: bool,
    /// What a walk of the stack saw, where there was one.
    pub walk: Option<Walk>,
}

/// Begins to watch a call. `known` is its place in the program, where an earlier walk of the same stack said so.
#[cold]
pub fn begin(call: &'static Call, known: Option<Place>) -> Begun {
    let Some(watcher) = watcher() else {
        return Begun::default();
    };
    jumar::schedule::called(call.name);
    let before = jumar::check::here();
    let walk = match &watcher.check {
        Some(check) => check.begin_call(call.name, known),
        None => None,
    };
    let frame = Frame {
        call,
        words: [0; MOST],
        before,
        injected: false,
        seen: false,
    };
    let _ = FRAMES.try_with(|frames| frames.borrow_mut().push(frame));
    Begun {
        watched: true,
        walk,
    }
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
        if let Some(frame) = frames.borrow_mut().last_mut() {
            frame.words = kept;
            frame.seen = true;
        }
    });
    if let Some(plan) = &watcher.faults
        && let Some(error) = plan.strike(cx.call)
    {
        let _ = FRAMES.try_with(|frames| {
            if let Some(frame) = frames.borrow_mut().last_mut() {
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

/// Lists the addresses that the call under way writes through: the parameter's place, the address, the bytes.
pub fn outputs(call: &'static Call, mut each: impl FnMut(usize, u64, usize)) {
    let words = FRAMES.try_with(|frames| frames.borrow().last().map(|frame| frame.words));
    let Ok(Some(words)) = words else {
        return;
    };
    let parameters = signature(call).parameters;
    for (index, parameter) in parameters.iter().enumerate().take(MOST) {
        if parameter.out_bytes > 0 {
            each(index, words[index], parameter.out_bytes);
        }
    }
}

/// Ends the call that began last on this thread.
#[cold]
pub fn end(call: &'static Call, code: i32, returned: u64, written: &[u64; MOST]) {
    let frame = FRAMES.try_with(|frames| frames.borrow_mut().pop());
    let (Some(watcher), Ok(Some(frame))) = (watcher(), frame) else {
        return;
    };
    debug_assert!(std::ptr::eq(frame.call, call), "calls end in their order");
    if let Some(check) = &watcher.check
        && frame.seen
        && !frame.injected
    {
        let seen = check::Seen {
            call,
            words: frame.words,
            code,
            returned,
            written: *written,
        };
        check::after(check, &seen);
    }
    if let Some(check) = &watcher.check {
        check.end_call();
    }
    in_call(frame.before);
}

/// Says where in its script the calling thread is.
pub fn set_script(file: Option<&CStr>, line: u32, function: Option<&CStr>) {
    let text = |text: Option<&CStr>| text.map_or_else(String::new, |t| t.to_string_lossy().into());
    jumar::check::set_script(file.map(|file| Script {
        file: file.to_string_lossy().into(),
        line,
        function: text(function).into(),
    }));
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
