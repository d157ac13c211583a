//! The interface of an external schedule, which decides what runs next.

/// Decides which queue runs its next task.
///
/// With a schedule, tasks run one at a time on a single worker; threads that wait do not run any.
pub trait Schedule: Send + Sync {
    /// Picks one of the queues that could run, given by their numbers in a fixed order (by number, then by age), and
    /// returns its index. `waited` are the queues that threads wait for now, or for a signal that the queue is expected to
    /// set; a wait that is satisfied is not among them. `None`: none yet. It is asked again when another queue could run, when
    /// a thread begins to wait, and after a millisecond at the latest. An index out of range counts as `None`.
    fn next(&self, runnable: &[u32], waited: &[u32]) -> Option<usize>;

    /// Hears that a thread begins to wait for a queue, or for a signal that the queue is expected to set.
    fn waiting(&self, number: u32) {
        let _ = number;
    }
}
