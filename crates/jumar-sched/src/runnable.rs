//! What the run queue contains: something whose tasks a free thread runs. Streams implement it, so that the pool does not depend on them.

use std::sync::Arc;

/// A stream of tasks, as the run queue and its workers see it.
pub(crate) trait Runnable: Send + Sync {
    /// Returns the number under which a schedule knows it.
    fn number(&self) -> u32;

    /// Returns how many were made before it.
    fn age(&self) -> u64;

    /// Returns the index of its list in the run queue.
    fn priority(&self) -> usize;

    /// Returns whether it contains tasks that a thread may run now.
    fn is_queued(&self) -> bool;

    /// Returns how many tasks it has completed.
    fn completed(&self) -> u64;

    /// Notifies it that it may continue. Returns whether the caller has to put it into the run queue.
    fn call(&self) -> bool;

    /// Runs tasks of a stream that was taken from the run queue, until one of the reasons of [`DriveOutcome`]. With `bounded` it stops
    /// before any task that may take long. Returns `None` if another thread runs it.
    fn run(
        self: Arc<Self>,
        bounded: bool,
        budget: u32,
        stop: &dyn Fn() -> bool,
    ) -> Option<DriveOutcome>;

    /// Notes that it was taken from the run queue without being run. Returns whether the caller has to put it back.
    fn unlist(&self) -> bool;

    /// Drops every task that is left, for a shutdown.
    fn clear_out(self: Arc<Self>);
}

/// Why a thread stopped driving a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriveOutcome {
    /// It holds no task.
    Drained,
    /// It waits for a signal.
    Blocked,
    /// It was stopped, or its budget was used up; the stream is queued.
    Stopped,
    /// The next task is not bounded; the stream is queued.
    Refused,
}

/// Returns whether two references lead to the same stream.
pub(crate) fn is_same(one: &dyn Runnable, other: &dyn Runnable) -> bool {
    std::ptr::addr_eq(one, other)
}
