//! The functions that a case hands to the library, and what they leave behind.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::raw;

/// How long a case waits for what has to come.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How many calls are noted before the first is written over.
const NOTES: usize = 256;

/// What happened so far.
struct State {
    calls: usize,
    notes: [u64; NOTES],
    last_thread: u64,
    held: bool,
    go: bool,
}

static STATE: Mutex<State> = Mutex::new(State {
    calls: 0,
    notes: [0; NOTES],
    last_thread: 0,
    held: false,
    go: false,
});
static CHANGED: Condvar = Condvar::new();

/// Returns the word that stands for one of the table's functions; it is never called through.
pub fn word(name: &str) -> Option<u64> {
    let names = jumar_testkit::language::CALLBACKS;
    let at = names.iter().position(|known| *known == name)?;
    Some(at as u64 + 1)
}

/// Returns the closure for the function that a word stands for, with the pointer it wants back; null is none.
pub fn closure(word: u64, user: u64) -> Option<Box<dyn Fn() + Send + Sync>> {
    let at = usize::try_from(word).ok()?.checked_sub(1)?;
    Some(match *jumar_testkit::language::CALLBACKS.get(at)? {
        "cb_note" | "cb_frame" => Box::new(move || note(&mut state(), user)),
        "cb_hold" => Box::new(hold),
        _ => Box::new(|| note(&mut state(), 0)),
    })
}

/// Returns the name of the function that a word stands for.
pub fn name(word: u64) -> Option<&'static str> {
    let at = usize::try_from(word).ok()?.checked_sub(1)?;
    jumar_testkit::language::CALLBACKS.get(at).copied()
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn note(state: &mut State, value: u64) {
    let at = state.calls % NOTES;
    state.notes[at] = value;
    state.calls += 1;
    state.last_thread = raw::this_thread();
    CHANGED.notify_all();
}

/// Counts a call that nothing else is known of.
pub fn counted() {
    note(&mut state(), 0);
}

/// Notes a call and a value of it.
pub fn record_value(value: u64) {
    note(&mut state(), value);
}

fn hold() {
    state().held = true;
    CHANGED.notify_all();
    wait(|state| state.go);
    note(&mut state(), 0);
}

/// Waits for something. Returns whether it came in time.
fn wait(reached: impl Fn(&State) -> bool) -> bool {
    let end = Instant::now() + PATIENCE;
    let mut state = state();
    while !reached(&state) {
        let Some(left) = end.checked_duration_since(Instant::now()) else {
            return false;
        };
        state = CHANGED
            .wait_timeout(state, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
    true
}

/// How often they were called.
pub fn counter() -> i64 {
    state().calls as i64
}

/// What a call was given.
pub fn recorded(at: i64) -> i64 {
    state().notes[at.unsigned_abs() as usize % NOTES].cast_signed()
}

/// The thread of the last call.
pub fn thread() -> i64 {
    state().last_thread.cast_signed()
}

/// Lets `cb_hold` go.
pub fn release_held() {
    state().go = true;
    CHANGED.notify_all();
}

/// Waits until `cb_hold` has begun.
pub fn await_held() -> bool {
    wait(|state| state.held)
}

/// Waits until that many calls were made.
pub fn await_count(count: i64) -> bool {
    wait(|state| state.calls as i64 >= count)
}
