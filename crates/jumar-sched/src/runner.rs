//! What the executor needs from the device whose work it runs.

use jumar_hal::{Program, Span, Transfer};
use jumar_types::Result;

use crate::team::Team;

/// How the work of a device is done. Methods are called on workers and on threads that wait.
pub trait Runner: Send + Sync {
    /// Copies; overlapping ranges behave as memmove. A long copy may be shared with workers that are free.
    fn copy(&self, copy: Transfer, team: &Team<'_>);

    /// Fills.
    fn fill(&self, to: Span, value: u8);

    /// Runs a program in the state that programs may count on (rounding mode, denormals), and restores the thread's own.
    ///
    /// # Errors
    /// The program's.
    fn run(&self, program: &dyn Program) -> Result<()> {
        program.run()
    }

    /// Calls `spawn`, which starts a thread, in the state that the new thread is to inherit (signal mask).
    fn spawning(&self, spawn: &mut dyn FnMut()) {
        spawn();
    }

    /// Returns the processor that the calling thread runs on, if that is cheap to know.
    fn processor(&self) -> Option<u32> {
        None
    }

    /// Returns how many processors the calling thread may run on, if that is cheap to know; `None` to have the system asked for all
    /// that limits the process, which takes long.
    fn processors(&self) -> Option<usize> {
        None
    }

    /// Returns how many processors' time the process has, if that is limited. Asked once, when it is needed; it may take long.
    fn processor_time(&self) -> Option<usize> {
        None
    }

    /// Returns the number by which the system knows the calling thread.
    fn thread(&self) -> Option<u32> {
        None
    }

    /// Calls `wake`, which wakes a worker by that number, and has the worker run on another processor than the calling thread's if it
    /// may. Where it may run later stays as it was.
    fn wake_elsewhere(&self, thread: u32, wake: &mut dyn FnMut()) {
        let _ = thread;
        wake();
    }

    /// Moves the calling worker to another processor that it may run on, if there is one.
    fn leave_processor(&self) {}

    /// Is called first on each new worker.
    fn worker_started(&self, number: usize) {
        let _ = number;
    }
}
