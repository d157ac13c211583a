//! The queue of a session: runs from host memory that a thread of the session performs one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::plan::Family;
use crate::run::{Done, HostTensor, RunMode, host};
use crate::session::{self, Session};
use crate::sync::{Condvar, Mutex, thread};
use crate::{FAILED, GeError, GeResult, SUCCESS, UNSUPPORTED, message};

/// A run that waits for its turn.
struct Job {
    graph: u32,
    family: Family,
    inputs: Vec<HostTensor>,
    done: Done,
}

/// The runs that wait, and the thread that performs them.
///
/// All of its state is changed under one lock, so that the thread misses no wake-up, and no run is appended after it left.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    has_worker: bool,
    is_closed: bool,
}

/// Why a run was not appended, and what is to be reported to its caller.
struct RunRefusal {
    fail: GeError,
    jobs: VecDeque<Job>,
}

impl Queue {
    /// Refuses further runs. Those that wait end with FAILED, on the thread of the queue. Returns their number.
    pub fn close(&self) -> usize {
        let mut state = self.state.lock();
        state.is_closed = true;
        self.changed.notify_all();
        state.jobs.len()
    }

    /// Appends a run. Returns whether a thread has to be started.
    fn push(&self, job: Job) -> Result<bool, RunRefusal> {
        let mut state = self.state.lock();
        if state.is_closed {
            return Err(RunRefusal {
                fail: GeError::new("the session is being destroyed, and takes no further run"),
                jobs: VecDeque::from([job]),
            });
        }
        state.jobs.push_back(job);
        self.changed.notify_one();
        Ok(!std::mem::replace(&mut state.has_worker, true))
    }

    /// Takes back all runs, as there is no thread to perform them.
    fn cancel_all(&self) -> VecDeque<Job> {
        let mut state = self.state.lock();
        state.has_worker = false;
        std::mem::take(&mut state.jobs)
    }

    /// Waits for the next run; once the queue is closed, returns what was left.
    fn next(&self) -> Result<Job, VecDeque<Job>> {
        let mut state = self.state.lock();
        loop {
            if state.is_closed {
                return Err(std::mem::take(&mut state.jobs));
            }
            match state.jobs.pop_front() {
                Some(job) => return Ok(job),
                None => state = self.changed.wait(state),
            }
        }
    }
}

/// Queues a run; `mode` is the number of a [`RunMode`] from host memory. `done` is called at its end.
///
/// # Errors
///
/// The status; `done` was called with it as well.
pub fn run_async(
    mode: u32,
    session: u64,
    graph: u32,
    inputs: Vec<HostTensor>,
    done: Done,
) -> Result<(), u32> {
    let outcome = match find(mode, session, graph) {
        Err(fail) => {
            done(fail.status, &[]);
            Err(fail)
        }
        Ok((session, family)) => {
            let job = Job {
                graph,
                family,
                inputs,
                done,
            };
            append(&session, job, spawn)
        }
    };
    outcome.map_err(|fail| {
        message::error(&fail);
        fail.status
    })
}

fn find(mode: u32, session: u64, graph: u32) -> GeResult<(Arc<Session>, Family)> {
    let family = match RunMode::of(mode)? {
        RunMode::Host => Family::Build,
        RunMode::HostAny => Family::Fresh,
        RunMode::Stream | RunMode::StreamLoaded => {
            return Err(GeError::new(
                "a run on a stream cannot be queued: the stream is its queue",
            ));
        }
    };
    let session = session::find(session)?;
    let entry = session.graph(graph)?;
    if entry.state.lock().family == Family::Compile && family == Family::Build {
        return Err(GeError::new(format!(
            "graph {graph} was compiled by CompileGraph: RunGraphAsync does not mix with that"
        ))
        .status(UNSUPPORTED));
    }
    Ok((session, family))
}

/// Appends a run, and starts the thread of the session with the first one.
fn append(
    session: &Arc<Session>,
    job: Job,
    start: impl FnOnce(Arc<Session>) -> std::io::Result<()>,
) -> GeResult<()> {
    let refused = match session.queue.push(job) {
        Ok(false) => return Ok(()),
        Ok(true) => match start(session.clone()) {
            Ok(()) => return Ok(()),
            Err(error) => RunRefusal {
                fail: GeError::new(format!(
                    "the thread that performs queued runs cannot be started: {error}"
                )),
                // Also those that other threads appended meanwhile, counting on this thread.
                jobs: session.queue.cancel_all(),
            },
        },
        Err(refused) => refused,
    };
    for job in refused.jobs {
        (job.done)(refused.fail.status, &[]);
    }
    Err(refused.fail)
}

fn spawn(session: Arc<Session>) -> std::io::Result<()> {
    // The thread ends when the session is closed; nothing joins it, as the last callback may be what closes the session.
    thread::Builder::new()
        .name("jumar-ge".into())
        .spawn(move || work(&session))
        .map(drop)
}

/// Performs the runs of a session until it is closed.
fn work(session: &Arc<Session>) {
    loop {
        let job = match session.queue.next() {
            Ok(job) => job,
            Err(left) => {
                for job in left {
                    (job.done)(FAILED, &[]);
                }
                return;
            }
        };
        let outcome = {
            let _turn = session.running.lock();
            session
                .graph(job.graph)
                .and_then(|entry| host::run(session, &entry, &job.inputs, job.family))
        };
        match outcome {
            Ok(bytes) => (job.done)(SUCCESS, &bytes),
            Err(fail) => {
                message::error(&fail);
                (job.done)(fail.status, &[]);
            }
        }
    }
}

#[cfg(test)]
mod tests;
