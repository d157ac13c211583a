//! Source locations of calls: return addresses at the time of the call, names and lines when a finding is reported.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use jumar_core::sync::{Mutex, MutexGuard};

/// A location in the program, kept as a number; [`SourceLocation::UNKNOWN`] if it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation(u32);

impl SourceLocation {
    /// No location.
    pub const UNKNOWN: SourceLocation = SourceLocation(0);
}

/// A location in a script, which return addresses do not show.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    /// The file.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
    /// The function.
    pub function: Arc<str>,
}

/// How many frames of the program are kept.
pub const DEPTH: usize = 4;
/// The most locations that are distinguished; beyond that only the innermost frame counts.
const LOCATION_LIMIT: usize = 1 << 16;

/// The result of a stack walk: enough to recognise the same location without another walk.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// The location.
    pub location: SourceLocation,
    /// The return addresses of the innermost frames of the program, and where on the stack each is expected to lie; 0 for frames
    /// that are not there.
    pub frames: [(usize, usize); DEPTH],
}

/// What was on the stack: the innermost frames that are not this library's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Stack {
    frames: [usize; DEPTH],
    script: Option<Script>,
    /// Where the script is that called a library which made the call.
    outer: Option<Script>,
}

impl Stack {
    /// Creates a stack from frames of another walk, the innermost first.
    pub(super) fn of(walked: &[usize], script: Option<Script>) -> Stack {
        let mut stack = Stack {
            frames: [0; DEPTH],
            script,
            outer: None,
        };
        if stack.script.is_none() {
            // Functions of a language's library may stand before the program's own, more of them than are kept.
            let is_of_program = |frame: &&usize| {
                let mut frames = [0; DEPTH];
                frames[0] = **frame;
                let stack = Stack {
                    frames,
                    ..Stack::default()
                };
                let file = resolve(&stack).file;
                file.is_some_and(|file| !is_header_of_others(&file))
            };
            let first = walked.iter().position(|frame| is_of_program(&frame));
            let walked = &walked[first.unwrap_or(0)..];
            for (to, from) in stack.frames.iter_mut().zip(walked) {
                *to = *from;
            }
        }
        stack
    }

    pub(super) fn frames(&self) -> [usize; DEPTH] {
        self.frames
    }
}

/// What the checks keep for a thread.
#[derive(Default)]
pub(super) struct Local {
    /// The location of the thread's current call.
    pub(super) location: Cell<SourceLocation>,
    script: RefCell<Option<Script>>,
    outer: RefCell<Option<Script>>,
    in_script: Cell<bool>,
    pub(super) seat: RefCell<Option<super::Seat>>,
    /// Whether a finding was made since the last call began.
    pub(super) has_reported: Cell<bool>,
    /// The location of the call that the thread made last.
    pub(super) last: Cell<SourceLocation>,
}

thread_local! {
    pub(super) static LOCAL: Local = const {
        Local {
            location: Cell::new(SourceLocation::UNKNOWN),
            script: RefCell::new(None),
            outer: RefCell::new(None),
            in_script: Cell::new(false),
            seat: RefCell::new(None),
            has_reported: Cell::new(false),
            last: Cell::new(SourceLocation::UNKNOWN),
        }
    };
}

thread_local! {
    /// The location of the call, once [`LOCAL`] is gone: a program's own objects make calls when they are destroyed behind it.
    static LATE: Cell<SourceLocation> = const { Cell::new(SourceLocation::UNKNOWN) };
}

impl Local {
    /// Returns whether the thread is in a script, so that return addresses say nothing.
    pub(super) fn is_in_script(&self) -> bool {
        self.in_script.get()
    }
}

/// Returns the location of the calling thread's current call.
pub fn here() -> SourceLocation {
    LOCAL
        .try_with(|local| local.location.get())
        .unwrap_or_else(|_| LATE.get())
}

/// Returns whether the current call of the thread has made a finding, reported or known before.
pub fn has_reported() -> bool {
    LOCAL
        .try_with(|local| local.has_reported.get())
        .unwrap_or(false)
}

pub(super) fn set_reported(is_reported: bool) {
    let _ = LOCAL.try_with(|local| local.has_reported.set(is_reported));
}

pub(super) fn enter(location: SourceLocation) {
    if LOCAL
        .try_with(|local| local.location.set(location))
        .is_err()
    {
        LATE.set(location);
    }
}

/// Sets the location of the calling thread. Returns the previous one: a call inside a call restores it.
pub fn in_call(location: SourceLocation) -> SourceLocation {
    LOCAL
        .try_with(|local| local.location.replace(location))
        .unwrap_or_else(|_| LATE.replace(location))
}

/// Sets the calling thread's location in its script; `None` when it leaves.
pub fn set_script(script: Option<Script>) {
    let _ = LOCAL.try_with(|local| {
        local.in_script.set(script.is_some());
        *local.script.borrow_mut() = script;
    });
}

/// Reports whether the calling thread has said where in its script it is.
pub fn is_in_script() -> bool {
    LOCAL.try_with(Local::is_in_script).unwrap_or(false)
}

/// Sets the location in the script that the calling thread runs, while a library that the script called makes a call; `None`
/// when that call has begun.
pub fn set_outer_script(script: Option<Script>) {
    let _ = LOCAL.try_with(|local| *local.outer.borrow_mut() = script);
}

/// Held while a stack is walked, debug information is read, or a finding is reported: the libraries behind that have locks of their
/// own, and a child must not be forked while another thread has one of them.
static OUTSIDE: Mutex<()> = Mutex::new(());

thread_local! {
    /// What the thread that forks holds meanwhile.
    static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
    /// Whether the thread is behind the lock: a walk may ask for names, and a crash may come in the middle of one.
    static IS_OUTSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Does something that takes locks which are not ours.
pub(super) fn outside<R>(act: impl FnOnce() -> R) -> R {
    if IS_OUTSIDE.get() {
        return act();
    }
    let guard = OUTSIDE.lock();
    IS_OUTSIDE.set(true);
    let done = act();
    IS_OUTSIDE.set(false);
    drop(guard);
    done
}

/// Called before a fork, on the thread that forks.
pub fn fork_prepared() {
    if !IS_OUTSIDE.get() {
        let guard = OUTSIDE.lock();
        // A thread that is being torn down keeps nothing: the lock is given back at once.
        let _ = HELD.try_with(|held| *held.borrow_mut() = Some(guard));
    }
}

/// Called after a fork, in the parent and in the child.
pub fn fork_ended() {
    let _ = HELD.try_with(|held| drop(held.borrow_mut().take()));
}

/// Walks the calling thread's stack. Returns the frames and the stack addresses of their return addresses.
pub(super) fn walk() -> (Stack, [usize; DEPTH]) {
    let mut slots = [0; DEPTH];
    let script = LOCAL
        .try_with(|local| local.script.borrow().clone())
        .unwrap_or_default();
    let outer = LOCAL
        .try_with(|local| local.outer.borrow().clone())
        .unwrap_or_default();
    let mut stack = Stack {
        frames: [0; DEPTH],
        script,
        outer,
    };
    // Frames of the interpreter say nothing.
    if stack.script.is_some() {
        return (stack, slots);
    }
    let own = own_range();
    let mut count = 0;
    let see = |frame: &backtrace::Frame| {
        let address = frame.ip().addr();
        if address == 0 || (own.0..own.1).contains(&address) {
            return true;
        }
        stack.frames[count] = address;
        // The call pushed the return address right below where the stack pointer of the caller was.
        slots[count] = frame.sp().addr().saturating_sub(size_of::<usize>());
        count += 1;
        count < DEPTH
    };
    outside(|| backtrace::trace(see));
    (stack, slots)
}

/// Returns the calling thread's stack: a line for each function outside of this library, the innermost first. `fault` is the address of
/// the instruction that a signal interrupted, where the caller is its handler.
pub fn stack_text(fault: Option<usize>) -> String {
    const MOST: usize = 24;
    let script = LOCAL
        .try_with(|local| local.script.borrow().clone())
        .unwrap_or_default();
    let mut text = String::new();
    if let Some(script) = script {
        text = format!("{}:{}  {}\n", script.file, script.line, script.function);
    }
    let own = own_range();
    let mut lines = Vec::new();
    let see = |frame: &backtrace::Frame| {
        let address = frame.ip().addr();
        if Some(address) == fault {
            // What the system put between the fault and its handler.
            lines.clear();
        }
        if address != 0 && !(own.0..own.1).contains(&address) {
            // Where a signal came, the address is the instruction's own; elsewhere the one behind the call, whose line is looked up one
            // byte before it.
            let mut frames = [0; DEPTH];
            frames[0] = address + usize::from(Some(address) == fault);
            let described = resolve(&Stack {
                frames,
                ..Stack::default()
            });
            lines.push(described.short());
        }
        lines.len() < MOST
    };
    outside(|| backtrace::trace(see));
    // Functions of the system, where one of them failed or ended the process.
    let program = lines.iter().position(|line| line.contains(':'));
    for line in &lines[program.unwrap_or(0)..] {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns the addresses of the object that this code lies in.
pub(super) fn own_range() -> (usize, usize) {
    static RANGE: OnceLock<(usize, usize)> = OnceLock::new();
    *RANGE.get_or_init(|| {
        let inside = own_range as fn() -> (usize, usize) as usize;
        let maps = Mapping::all();
        let Some(own) = maps.iter().find(|map| map.contains(inside)) else {
            return (0, 0);
        };
        // A program that has the library inside itself is not left out as a whole.
        let program = std::env::current_exe().unwrap_or_default();
        if program.as_os_str() == own.path.as_str() {
            return (0, 0);
        }
        let same = || maps.iter().filter(|map| map.path == own.path);
        (
            same().map(|map| map.start).min().unwrap_or(0),
            same().map(|map| map.end).max().unwrap_or(0),
        )
    })
}

struct Mapping {
    start: usize,
    end: usize,
    path: String,
}

impl Mapping {
    fn all() -> Vec<Mapping> {
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let read = |line: &str| {
            let (range, rest) = line.split_once(' ')?;
            let (start, end) = range.split_once('-')?;
            let path = rest.split_whitespace().nth(4)?;
            Some(Mapping {
                start: usize::from_str_radix(start, 16).ok()?,
                end: usize::from_str_radix(end, 16).ok()?,
                path: path.to_owned(),
            })
        };
        text.lines().filter_map(read).collect()
    }

    fn contains(&self, address: usize) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// A location with names.
#[derive(Clone, Debug, Default)]
pub(super) struct NamedLocation {
    pub(super) file: Option<String>,
    pub(super) line: u32,
    pub(super) function: String,
}

impl NamedLocation {
    /// `file:line function`, with the file's name alone.
    pub(super) fn short(&self) -> String {
        let Some(file) = &self.file else {
            return self.function.clone();
        };
        let name = file.rsplit('/').next().unwrap_or(file);
        match self.function.as_str() {
            "" => format!("{name}:{}", self.line),
            function => format!("{name}:{}  {function}", self.line),
        }
    }
}

/// Libraries that keep a runtime and its objects for a whole process, which a program that uses them cannot change.
const FRAMEWORKS: [&str; 2] = [PYTORCH, "libonnxruntime_providers_cann.so"];
const PYTORCH: &str = "libtorch_npu.so";

/// Every location that was seen.
#[derive(Default)]
pub(super) struct SourceLocations {
    known: HashMap<(Stack, &'static str), SourceLocation>,
    stacks: Vec<(Stack, &'static str)>,
    described: HashMap<SourceLocation, NamedLocation>,
    /// The framework in whose library a return address lies.
    frameworks: HashMap<usize, Option<&'static str>>,
}

impl SourceLocations {
    pub(super) fn intern(&mut self, call: &'static str, stack: Stack) -> SourceLocation {
        let mut key = (stack, call);
        if let Some(location) = self.known.get(&key) {
            return *location;
        }
        if self.stacks.len() >= LOCATION_LIMIT {
            key.0.frames[1..].fill(0);
            match self.known.get(&key) {
                Some(location) => return *location,
                None if self.stacks.len() >= 2 * LOCATION_LIMIT => return SourceLocation::UNKNOWN,
                None => {}
            }
        }
        self.stacks.push(key.clone());
        let location = SourceLocation(self.stacks.len() as u32);
        self.known.insert(key, location);
        location
    }

    pub(super) fn len(&self) -> usize {
        self.stacks.len()
    }

    fn stack(&self, location: SourceLocation) -> Option<&(Stack, &'static str)> {
        self.stacks.get((location.0 as usize).checked_sub(1)?)
    }

    /// Returns the address that the call returns to, where it is code of the program and not of an interpreter.
    pub(super) fn return_address(&self, location: SourceLocation) -> Option<usize> {
        let (stack, _) = self.stack(location)?;
        (stack.frames[0] != 0).then_some(stack.frames[0])
    }

    /// Returns the function of a library through which the program entered it, and the address that the function returns to. `None`: the
    /// library did not make the call, or the stack was not kept that far.
    pub(super) fn entry(&self, location: SourceLocation, library: &str) -> Option<(String, usize)> {
        let (stack, _) = self.stack(location)?;
        let maps = Mapping::all();
        let is_inside = |address: usize| {
            let map = maps.iter().find(|map| map.contains(address));
            map.is_some_and(|map| map.path.rsplit('/').next() == Some(library))
        };
        let frames = &stack.frames;
        let outside = frames
            .iter()
            .position(|frame| *frame != 0 && !is_inside(*frame))?;
        let inside = *frames.get(outside.checked_sub(1)?)?;
        // Of functions that were inlined into each other, the last one is what the program called.
        let mut function = None;
        let read = |symbol: &backtrace::Symbol| {
            function = symbol.name().map(|name| name.to_string());
        };
        symbols_at(inside, read);
        let function = function?;
        Some((demangled(&function).unwrap_or(function), frames[outside]))
    }

    /// The public function that was called there.
    pub(super) fn call(&self, location: SourceLocation) -> Option<&'static str> {
        self.stack(location).map(|(_, call)| *call)
    }

    /// Returns whether a framework's library made the call itself.
    pub(super) fn is_of_framework(&mut self, location: SourceLocation) -> bool {
        let Some(address) = self.stack(location).map(|(stack, _)| stack.frames[0]) else {
            return false;
        };
        self.framework(address).is_some()
    }

    /// Returns whether PyTorch's adapter made a call.
    pub(super) fn is_of_pytorch(&mut self, location: SourceLocation) -> bool {
        let frames = self.stack(location).map(|(stack, _)| stack.frames);
        let frames = frames.unwrap_or_default();
        let mut frames = frames.into_iter().filter(|frame| *frame != 0);
        frames.any(|frame| self.framework(frame) == Some(PYTORCH))
    }

    /// Returns the framework in whose library a return address lies.
    fn framework(&mut self, address: usize) -> Option<&'static str> {
        *self.frameworks.entry(address).or_insert_with(|| {
            let maps = Mapping::all();
            let map = maps.iter().find(|map| map.contains(address));
            let name = map.and_then(|map| map.path.rsplit('/').next())?;
            FRAMEWORKS.into_iter().find(|known| *known == name)
        })
    }

    /// A number by which two calls from one line of the program are the same; 0 if unknown.
    pub(super) fn key(&self, location: SourceLocation) -> usize {
        match self.stack(location) {
            None => 0,
            Some((stack, _)) => match (&stack.script, &stack.outer) {
                (Some(script), _) | (None, Some(script)) => {
                    super::report::hash(&(&script.file, script.line)) as usize
                }
                (None, None) => stack.frames[0],
            },
        }
    }

    /// Returns the source location of a call that continues what a script began at `planned`; `None` if no script began it, or `here` is in
    /// a script, too.
    pub(super) fn of_script(
        &mut self,
        call: &'static str,
        planned: SourceLocation,
        here: SourceLocation,
    ) -> Option<SourceLocation> {
        let is_of_script = |stack: &Stack| stack.script.is_some() || stack.outer.is_some();
        if self
            .stack(here)
            .is_some_and(|(stack, _)| is_of_script(stack))
        {
            return None;
        }
        let (stack, _) = self.stack(planned)?;
        let stack = is_of_script(stack).then(|| stack.clone())?;
        Some(self.intern(call, stack))
    }

    pub(super) fn describe(&mut self, location: SourceLocation) -> NamedLocation {
        if let Some(known) = self.described.get(&location) {
            return known.clone();
        }
        let described = match self.stack(location) {
            None => NamedLocation::default(),
            Some((stack, _)) => resolve(stack),
        };
        self.described.insert(location, described.clone());
        described
    }
}

/// Returns whether a file is a header of ours or of a language's library, whose functions are parts of the program and not its
/// locations.
fn is_header_of_others(file: &str) -> bool {
    [
        "/include/c++/",
        "/include/ge/",
        "/include/graph/",
        "/include/acl/",
        "/include/exe_graph/",
        "/include/ascendc/",
    ]
    .iter()
    .any(|folder| file.contains(folder))
        // The C library's own files, where its debug information is installed.
        || file.contains("/sysdeps/")
}

/// Returns whether an object file belongs to the system and not to the program: its functions are not locations of the program, even if
/// their debug information is installed.
fn is_of_the_system(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [
        "libc.so",
        "libc-",
        "ld-linux",
        "libpthread",
        "libstdc++",
        "libgcc_s",
    ]
    .iter()
    .any(|known| name.starts_with(known))
}

/// Writes a function's name as its source has it, without parameters.
fn demangled(name: &str) -> Option<String> {
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    let symbol = cpp_demangle::Symbol::new(name).ok()?;
    symbol.demangle_with_options(&options).ok()
}

fn resolve(stack: &Stack) -> NamedLocation {
    if let Some(script) = &stack.script {
        return NamedLocation {
            file: Some(script.file.to_string()),
            line: script.line,
            function: script.function.to_string(),
        };
    }
    if let Some(script) = &stack.outer {
        return of_library(stack).unwrap_or_else(|| NamedLocation {
            file: Some(script.file.to_string()),
            line: script.line,
            function: script.function.to_string(),
        });
    }
    of_frames(&stack.frames)
}

/// Finds the line of a library of the program that a script called. Installed packages and the interpreter are no parts of the
/// program, and reading what they know of themselves takes long.
fn of_library(stack: &Stack) -> Option<NamedLocation> {
    let maps = Mapping::all();
    let is_of_program = |address: &usize| {
        let map = maps.iter().find(|map| map.contains(*address));
        map.is_some_and(|map| {
            let parts = [
                "/site-packages/",
                "/dist-packages/",
                "/libpython",
                "/python",
            ];
            !parts.iter().any(|part| map.path.contains(part)) && !is_of_the_system(&map.path)
        })
    };
    let mut frames = [0; DEPTH];
    let own = stack.frames.iter().filter(|address| is_of_program(address));
    for (to, from) in frames.iter_mut().zip(own) {
        *to = *from;
    }
    let described = of_frames(&frames);
    described.file.is_some().then_some(described)
}

/// Reads the symbols of an address behind a call.
fn symbols_at(address: usize, read: impl FnMut(&backtrace::Symbol)) {
    outside(|| backtrace::resolve(std::ptr::without_provenance_mut(address), read));
}

fn of_frames(frames: &[usize; DEPTH]) -> NamedLocation {
    let mut first: Option<NamedLocation> = None;
    let maps = Mapping::all();
    for address in frames.iter().filter(|address| **address != 0) {
        let map = maps.iter().find(|map| map.contains(*address));
        if first.is_some() && map.is_some_and(|map| is_of_the_system(&map.path)) {
            continue;
        }
        // Innermost first: what was inlined, then the function that has it.
        let mut found: Vec<NamedLocation> = Vec::new();
        // The frame's own address is the one behind the call; the library looks one byte before it.
        let read = |symbol: &backtrace::Symbol| {
            let function = symbol.name().map(|name| {
                let plain = name.to_string();
                demangled(&plain).unwrap_or(plain)
            });
            found.push(NamedLocation {
                file: symbol.filename().map(|file| file.display().to_string()),
                line: symbol.lineno().unwrap_or(0),
                function: function.unwrap_or_default(),
            });
        };
        symbols_at(*address, read);
        if found
            .iter()
            .all(|one| one.function.is_empty() && one.file.is_none())
            && let Some(map) = map
        {
            let name = map.path.rsplit('/').next().unwrap_or(&map.path);
            found = vec![NamedLocation {
                function: format!("{name}+{:#x}", address - map.start),
                ..NamedLocation::default()
            }];
        }
        for described in found {
            let is_own = described.file.as_deref().is_some_and(is_header_of_others);
            if described.file.is_some() && !is_own {
                return described;
            }
            let better = match &first {
                None => true,
                Some(first) => first.file.is_none() && described.file.is_some(),
            };
            if better {
                first = Some(described);
            }
        }
    }
    first.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_functions_are_those_of_the_source() {
        let plain = |name| demangled(name).unwrap_or_else(|| String::from(name));
        assert_eq!(plain("_ZN3app5Queue4pushEPvm"), "app::Queue::push");
        assert_eq!(
            plain("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back"
        );
        assert_eq!(plain("main"), "main");
    }

    #[test]
    fn objects_of_the_system_are_known_by_their_names() {
        for path in [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib/libc-2.31.so",
            "/usr/lib/libstdc++.so.6.0.30",
        ] {
            assert!(is_of_the_system(path), "{path}");
        }
        for path in ["/opt/me/app", "/opt/lib/libcustom.so", "/opt/me/libc/app"] {
            assert!(!is_of_the_system(path), "{path}");
        }
    }
}
