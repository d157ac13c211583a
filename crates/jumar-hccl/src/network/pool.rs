//! Threads that run operations which wait for the network. A wait is the one way to learn of the end of a transfer of Gloo.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{Condvar, Mutex, thread};

use crate::os;

type Job = Box<dyn FnOnce() + Send>;

/// How long a thread without work stays.
const REST: Duration = Duration::from_secs(10);

/// Threads that are started as needed: a job never waits for another one to end.
#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
}

impl Pool {
    /// Runs a job on a thread that has nothing else to do.
    ///
    /// # Errors
    /// The system refused a thread.
    pub(super) fn run(self: &Arc<Self>, job: Job) -> std::io::Result<()> {
        let mut state = self.state.lock();
        if state.idle > state.jobs.len() {
            state.jobs.push_back(job);
            drop(state);
            self.work.notify_one();
            return Ok(());
        }
        drop(state);
        let pool = self.clone();
        thread::Builder::new()
            .name("jumar-hccl-net".to_owned())
            .spawn(move || {
                os::block_signals();
                job();
                pool.serve();
            })?;
        Ok(())
    }

    fn serve(&self) {
        loop {
            let mut state = self.state.lock();
            state.idle += 1;
            let mut late = false;
            while state.jobs.is_empty() && !late {
                (state, late) = self.work.wait_for(state, REST);
            }
            state.idle -= 1;
            let Some(job) = state.jobs.pop_front() else {
                return;
            };
            drop(state);
            job();
        }
    }
}
