//! The one way by which callbacks enter Python, which closes when the interpreter shuts down.
//!
//! States: *open* (callbacks enter and are counted), then *closing* (none enters; those inside finish), forever. Only the
//! interpreter's exit handler moves from the first to the second, so a thread of the runtime never asks for an interpreter
//! that is going away: that would end or hang the thread, with whatever it holds.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::Python;

struct State {
    closing: bool,
    inside: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    closing: false,
    inside: 0,
});
static EMPTY: Condvar = Condvar::new();

/// How long the exit handler waits for callbacks that are under way. One that takes longer is left behind: an exit that
/// never ends would be worse.
const PATIENCE: Duration = Duration::from_secs(5);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `body` with the interpreter, or returns `None` when the gate has closed.
///
/// # Threads
///
/// Any thread, attached or not. Waits for the interpreter.
pub fn enter<R>(body: impl FnOnce(Python<'_>) -> R) -> Option<R> {
    {
        let mut state = state();
        if state.closing {
            return None;
        }
        state.inside += 1;
    }
    let _inside = Inside;
    Python::try_attach(body)
}

/// Whether callbacks are still let in.
pub fn is_open() -> bool {
    !state().closing
}

/// Closes the gate and waits for those inside, with the interpreter free for them.
pub fn close(py: Python<'_>) {
    py.detach(|| {
        let mut state = state();
        state.closing = true;
        drop(EMPTY.wait_timeout_while(state, PATIENCE, |state| state.inside > 0));
    });
}

struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        let mut state = state();
        state.inside -= 1;
        if state.inside == 0 {
            EMPTY.notify_all();
        }
    }
}
