//! Texts of errors and warnings, by thread; and what a fork must not tear apart.

use std::cell::RefCell;

use crate::sync::{AtomicUsize, MutexGuard, Ordering};
use crate::{GeError, registry, session};

thread_local! {
    static ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static WARNINGS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static HELD: RefCell<Option<ForkLocks>> = const { RefCell::new(None) };
}

/// The locks that a fork holds, so that the child does not find them held by a thread that it does not have.
type ForkLocks = (
    MutexGuard<'static, registry::GraphRegistry>,
    MutexGuard<'static, session::Engine>,
);

/// A program that never asks keeps this many.
const MOST: usize = 32;

fn push(list: &RefCell<Vec<String>>, text: String) {
    let mut list = list.borrow_mut();
    if list.len() == MOST {
        list.remove(0);
    }
    list.push(text);
}

/// A program that fails in a loop gets this many lines on standard error; the log has all.
const MOST_SHOWN: usize = 20;

/// How many errors there were.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Returns the line that standard error gets for an error, if it gets one: few programs print the texts of errors.
fn shown(before: usize, text: &str) -> Option<String> {
    match before {
        0..MOST_SHOWN => Some(format!("jumar: Graph Engine: {text}")),
        MOST_SHOWN => Some("jumar: Graph Engine: further errors are in the log only".to_owned()),
        _ => None,
    }
}

/// Keeps the text of an error for the thread, and writes it to the log; under `jumar run` and `jumar check` to standard error as well.
pub fn error(fail: &GeError) {
    let text = format!("{}: {}", fail.code, fail.text);
    jumar_acl::frontend::log_graph_engine_error(&text);
    if jumar::config::summary()
        && let Some(line) = shown(COUNT.fetch_add(1, Ordering::Relaxed), &text)
    {
        eprintln!("{line}");
    }
    ERRORS.with(|list| push(list, text));
}

/// Keeps the text of a refusal that was found before the call came here, and returns its status.
pub fn refuse(text: impl Into<String>) -> u32 {
    let fail = GeError::new(text);
    error(&fail);
    fail.status
}

/// Keeps the text of a warning.
pub fn warn(text: impl Into<String>) {
    WARNINGS.with(|list| push(list, format!("W19999: {}", text.into())));
}

/// Takes the texts of errors.
pub fn take_errors() -> String {
    ERRORS.with(|list| list.take().join("\n"))
}

/// Returns the sentence of the latest error.
pub fn last_error() -> String {
    ERRORS.with(|list| {
        let list = list.borrow();
        let text = list.last().map_or("", String::as_str);
        text.split_once(": ")
            .map_or(text, |(_, sentence)| sentence)
            .to_owned()
    })
}

/// Takes the texts of warnings.
pub fn take_warnings() -> String {
    WARNINGS.with(|list| list.take().join("\n"))
}

/// Called before a fork, on the thread that forks: no other thread is in the middle of a graph, or of finding a session, then.
/// What sessions hold themselves stays held; a child is refused the sessions of its parent.
pub fn fork_prepared() {
    let guard = (registry::lock(), session::engine());
    // A thread that is being torn down keeps nothing: the lock is given back at once.
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some(guard));
}

/// Called after a fork, in the parent and in the child.
pub fn fork_ended() {
    let _ = HELD.try_with(|held| drop(held.borrow_mut().take()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_gets_the_first_errors_and_then_one_last_line() {
        let lines: Vec<String> = (0..100).filter_map(|at| shown(at, "E1: text")).collect();
        assert_eq!(lines.len(), MOST_SHOWN + 1);
        assert_eq!(lines[0], "jumar: Graph Engine: E1: text");
        assert!(lines[MOST_SHOWN].ends_with("in the log only"));
    }
}
