//! Reports: callbacks for packets and frames, on the thread that the program named.
//!
//! A channel has a stream of its own, which is subscribed to the thread. Each task of the channel is followed by a callback of the
//! stream, which calls the program for everything that is ready by then. Callbacks of a channel therefore run one at a time, inside
//! `aclrtProcessReport`, in the order in which results became ready.

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jumar::engine::sync::{Condvar, Instant, Mutex};
use jumar::engine::{Context, Cost, Program, Role, Stream, StreamOptions};
use jumar_types::{Error, ErrorKind, Result};

use super::argument;
use crate::Cx;
use crate::check::frames;

/// Calls the program's function at an address with input, output and user data.
pub type FrameCall = fn(function: usize, input: u64, output: u64, data: usize);

/// What is ready: called on the program's thread.
pub(super) type Report = Box<dyn FnOnce() + Send>;

/// The sends that may wait for their callbacks; a further one blocks.
const MOST_WAITING: usize = 16;

/// How long a wait lasts before it polls the stream.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long the end of a stream waits in silence for the program's thread.
const SILENCE: Duration = Duration::from_secs(60);

thread_local! {
    /// The number of the calling thread while it is inside a callback of a channel, else 0. It cannot wait for other callbacks
    /// that it has to run itself, of whatever channel.
    static INSIDE: Cell<u64> = const { Cell::new(0) };
}

/// The reports of a channel.
pub(super) struct Reports {
    context: Arc<Context>,
    pub(super) stream: Arc<Stream>,
    thread: u64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: VecDeque<Report>,
    /// Tasks that have not run.
    queued: usize,
    /// Sends whose callback has not returned.
    open: usize,
    /// Whether a thread is closing the channel, which accepts no further packets or frames then.
    is_closing: bool,
}

impl Reports {
    /// Creates a stream and subscribes the thread to it.
    ///
    /// # Errors
    /// `NoContext`; `ThreadSubscribe`: the thread reports for another device.
    pub(super) fn new(cx: &Cx<'_>, thread: u64) -> Result<Reports> {
        let context = cx.context()?;
        let stream = context.create_stream(StreamOptions::default())?;
        // A thread may have got the number of one that has ended.
        cx.process.ended_reporters.lock().remove(&thread);
        let subscribed = cx
            .runtime()?
            .reports()
            .subscribe(Role::Callbacks, thread, &stream);
        if let Err(error) = subscribed {
            context.destroy_stream(&stream, false, &cx.caller())?;
            return Err(error);
        }
        Ok(Reports {
            context,
            stream,
            thread,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Returns the number of the device.
    pub(super) fn device(&self) -> u32 {
        self.stream.device()
    }

    /// Returns the context of the channel.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Refuses a call that would wait for callbacks of the thread that makes it.
    ///
    /// # Errors
    /// `InvalidArgument`.
    pub(super) fn refuse_inside(&self, what: &str) -> Result<()> {
        if self.is_inside() {
            return Err(argument(format!(
                "{what} waits for callbacks of the channel, which run on the calling thread, and the call was made inside a callback"
            ))
            .fix("Make the call on another thread, or after the callback has returned."));
        }
        Ok(())
    }

    fn is_inside(&self) -> bool {
        INSIDE.get() == self.thread
    }

    /// Begins to close the channel: later sends are refused, and a send that waits for space returns.
    ///
    /// # Errors
    /// `InvalidArgument`: another thread is closing it.
    pub(super) fn begin_to_close(&self) -> Result<()> {
        let is_closing = std::mem::replace(&mut self.state.lock().is_closing, true);
        self.changed.notify_all();
        match is_closing {
            true => Err(closing()),
            false => Ok(()),
        }
    }

    /// Queues a task of the channel with the callback that reports what it makes ready. `sends` is the number of callbacks that the
    /// task leads to, now or later.
    ///
    /// # Errors
    /// `InvalidArgument`: the channel is being closed; what the gate or a stopped context answers.
    pub(super) fn queue(
        self: &Arc<Reports>,
        cx: &Cx<'_>,
        name: &'static str,
        sends: usize,
        work: impl Fn(&Reports) + Send + Sync + 'static,
    ) -> Result<()> {
        let reports_something = {
            let mut state = self.state.lock();
            if state.is_closing && sends > 0 {
                return Err(closing());
            }
            state.queued += 1;
            state.open += sends;
            state.open > 0
        };
        let task = Arc::new(VideoTask {
            name,
            reports: self.clone(),
            work,
        });
        let queued = self.stream.launch(task, &[], &[], &cx.caller());
        if let Err(error) = queued {
            let mut state = self.state.lock();
            state.queued -= 1;
            state.open -= sends;
            return Err(error);
        }
        // A callback without anything to report would wait for a thread that may never come.
        if !reports_something {
            return Ok(());
        }
        let reports = self.clone();
        cx.runtime()?.reports().launch(
            &self.stream,
            Box::new(move || reports.run()),
            false,
            &cx.caller(),
        )
    }

    /// Waits while too much is waiting for its callback. Frames that wait for the order of display do not count.
    ///
    /// # Errors
    /// `ThreadSubscribe`: the thread of the callbacks has ended.
    pub(super) fn wait_for_space(&self, cx: &Cx<'_>) -> Result<()> {
        // The thread of the callbacks cannot wait for itself.
        if self.is_inside() {
            return Ok(());
        }
        self.wait(cx, |state| {
            state.is_closing || state.queued + state.ready.len() < MOST_WAITING
        })
    }

    /// Waits until every callback has returned.
    ///
    /// # Errors
    /// `ThreadSubscribe`: the thread of the callbacks has ended before it has run all of them; the others are lost.
    pub(super) fn wait_for_all(&self, cx: &Cx<'_>) -> Result<()> {
        self.wait(cx, |state| {
            state.queued == 0 && state.open == 0 && state.ready.is_empty()
        })?;
        frames::callbacks_returned();
        Ok(())
    }

    /// Returns the error for callbacks that no thread will run, if the program's thread has ended.
    fn lost(&self, cx: &Cx<'_>) -> Option<Error> {
        let has_ended = cx.process.ended_reporters.lock().contains(&self.thread);
        let open = self.state.lock().open;
        (has_ended && open > 0).then(|| {
            Error::new(
                ErrorKind::ThreadSubscribe,
                format!(
                    "thread {:#x}, which runs the callbacks of the channel, has ended; {open} of them were not called",
                    self.thread
                ),
            )
            .fix("Let the thread call aclrtProcessReport until the channel is destroyed, and end it afterwards.")
        })
    }

    fn wait(&self, cx: &Cx<'_>, is_reached: impl Fn(&State) -> bool) -> Result<()> {
        let began = Instant::now();
        let mut is_silent = true;
        loop {
            let state = self.state.lock();
            if is_reached(&state) {
                return Ok(());
            }
            let has_tasks = state.queued > 0;
            drop(state);
            if self.is_gone(cx) {
                return Ok(());
            }
            if let Some(error) = self.lost(cx) {
                return Err(error);
            }
            if has_tasks {
                // A thread that waits helps: it runs the tasks that no worker has taken. It continues as soon as there is space, while
                // the channel works on what it has.
                self.stream.advance_briefly();
            }
            if is_silent && began.elapsed() > SILENCE {
                is_silent = false;
                crate::log::reported(&format!(
                    "{} has waited for 60 s for callbacks that thread {:#x} has to run in aclrtProcessReport",
                    cx.call.name, self.thread
                ));
            }
            let state = self.state.lock();
            if !is_reached(&state) {
                drop(self.changed.wait_for(state, POLL_INTERVAL));
            }
        }
    }

    /// Makes a result ready.
    pub(super) fn add(&self, report: Report) {
        self.state.lock().ready.push_back(report);
    }

    /// Calls the program for everything that is ready.
    fn run(&self) {
        loop {
            let Some(report) = self.state.lock().ready.pop_front() else {
                return;
            };
            let outer = INSIDE.replace(self.thread);
            report();
            INSIDE.set(outer);
            self.state.lock().open -= 1;
            self.changed.notify_all();
        }
    }

    /// Returns whether the stream has ended with its device or context. Nothing of it runs any more.
    pub(super) fn is_gone(&self, cx: &Cx<'_>) -> bool {
        cx.runtime()
            .and_then(|runtime| runtime.streams().get(self.stream.id()).map(drop))
            .is_err()
    }

    /// Ends the subscription and the stream.
    ///
    /// # Errors
    /// What the end of a stream answers.
    pub(super) fn end(&self, cx: &Cx<'_>) -> Result<()> {
        if self.is_gone(cx) {
            return Ok(());
        }
        let reports = cx.runtime()?.reports();
        reports.unsubscribe(Role::Callbacks, self.thread, &self.stream, &cx.caller())?;
        self.context
            .destroy_stream(&self.stream, true, &cx.caller())
    }
}

fn closing() -> Error {
    argument("the channel of the description is being destroyed by another thread")
        .fix("Let the threads that send to a channel end before it is destroyed.")
}

/// A task of a channel.
struct VideoTask<W> {
    name: &'static str,
    reports: Arc<Reports>,
    work: W,
}

impl<W: Fn(&Reports) + Send + Sync + 'static> Program for VideoTask<W> {
    fn run(&self) -> Result<()> {
        (self.work)(&self.reports);
        self.reports.state.lock().queued -= 1;
        self.reports.changed.notify_all();
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Large
    }

    fn name(&self) -> &str {
        self.name
    }
}
