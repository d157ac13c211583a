//! Image processing channels: a stream of its own for each, and the results that the program has not fetched.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jumar::engine::sync::{Condvar, Instant, Mutex, MutexGuard};
use jumar::engine::{Context, Stream, StreamOptions};
use jumar_dvpp::ImageError;
use jumar_dvpp::limits::Family;
use jumar_dvpp::vpc::Matrix;
use jumar_types::{Error, ErrorKind, Result};

use super::super::plan::Rules;
use super::super::task::{self, Accesses, Done};
use super::super::{argument, failed};
use super::ends::Ends;
use super::table::check_number;
use crate::Cx;
use crate::error::null;
use crate::generated::types;

/// The maximum number of tasks of a channel that have not ended.
const LONGEST_QUEUE: usize = 256;
/// Interval between attempts to run the tasks of a channel that a thread waits for.
const DRAIN_INTERVAL: Duration = Duration::from_millis(20);

/// An open channel.
pub struct Channel {
    context: Arc<Context>,
    pub(super) stream: Arc<Stream>,
    family: Family,
    matrix: Mutex<Matrix>,
    results: Arc<Results>,
    ends: Ends,
}

/// How the tasks of a channel ended.
#[derive(Default)]
struct Results {
    tasks: Mutex<Tasks>,
    changed: Condvar,
}

#[derive(Default)]
struct Tasks {
    /// The number of the last task.
    last: u32,
    /// The tasks that have not ended.
    running: usize,
    /// The tasks whose results were not fetched; `None` has not ended.
    open: BTreeMap<u32, Option<Done>>,
}

/// A task that has not ended. One that is discarded with its stream has failed.
struct Ending {
    results: Arc<Results>,
    task: u32,
    has_ended: Mutex<bool>,
}

impl Ending {
    fn end(&self, done: Done) {
        let mut has_ended = self.has_ended.lock();
        if !std::mem::replace(&mut *has_ended, true) {
            let mut tasks = self.results.tasks.lock();
            tasks.running -= 1;
            if let Some(slot) = tasks.open.get_mut(&self.task) {
                *slot = Some(done);
            }
            self.results.changed.notify_all();
        }
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.end(Err(ImageError::new(
            "the task was discarded before it ran: its context ended or failed",
        )));
    }
}

/// Reads a time limit in milliseconds: -1 is forever.
pub(super) fn deadline(milliseconds: i32) -> Result<Option<Instant>> {
    match milliseconds {
        -1 => Ok(None),
        0.. => Ok(Some(
            Instant::now() + Duration::from_millis(u64::from(milliseconds.unsigned_abs())),
        )),
        _ => Err(argument(format!(
            "milli_sec is {milliseconds}; it must be -1 (no limit), 0 (no waiting) or more"
        ))),
    }
}

/// Waits until `ready` returns something. Returns `None` after the time limit.
pub(super) fn wait_until<S, T>(
    stream: &Stream,
    (state, changed): (&Mutex<S>, &Condvar),
    until: Option<Instant>,
    mut ready: impl FnMut(&mut S) -> Option<T>,
) -> Option<T> {
    loop {
        if let Some(found) = ready(&mut state.lock()) {
            return Some(found);
        }
        let left = match until {
            Some(until) => until.saturating_duration_since(Instant::now()),
            None => {
                // A thread that waits helps: it runs the tasks that no worker has taken. It continues as soon as one of them has what it
                // waits for, while the channel works on the others.
                stream.advance_briefly();
                DRAIN_INTERVAL
            }
        };
        if left.is_zero() {
            return None;
        }
        let mut locked = state.lock();
        // The task may have ended since it was looked for.
        if let Some(found) = ready(&mut locked) {
            return Some(found);
        }
        drop(changed.wait_for(locked, left.min(DRAIN_INTERVAL)));
    }
}

/// Waits for space as [`wait_until`], and then reserves it. Returns what `reserve` returned, and the guard of `order`: what the caller
/// queues while it holds the guard follows the order of the reservations.
///
/// `order` is not locked while the call waits, so that a thread without a time limit delays no other thread.
pub(super) fn reserve_in_order<'a, S, T>(
    stream: &Stream,
    shared: (&Mutex<S>, &Condvar),
    order: &'a Mutex<()>,
    until: Option<Instant>,
    has_answer: impl Fn(&S) -> bool,
    mut reserve: impl FnMut(&mut S) -> Option<T>,
) -> Option<(MutexGuard<'a, ()>, T)> {
    loop {
        wait_until(stream, shared, until, |state| {
            has_answer(state).then_some(())
        })?;
        let guard = order.lock();
        // Another thread may have taken the space meanwhile.
        if let Some(found) = reserve(&mut shared.0.lock()) {
            return Some((guard, found));
        }
    }
}

impl Channel {
    pub(super) fn set_matrix(&self, matrix: Matrix) {
        *self.matrix.lock() = matrix;
    }

    /// Returns the rules that a call works by.
    pub(super) fn rules(&self) -> Rules {
        Rules {
            family: self.family,
            matrix: *self.matrix.lock(),
        }
    }

    /// As [`wait_until`], for the tasks of the channel.
    fn wait_until<T>(
        &self,
        until: Option<Instant>,
        ready: impl FnMut(&mut Tasks) -> Option<T>,
    ) -> Option<T> {
        let shared = (&self.results.tasks, &self.results.changed);
        wait_until(&self.stream, shared, until, ready)
    }

    /// Queues a task, and waits `milliseconds` for space in the queue. Returns the number of the task.
    ///
    /// # Errors
    /// `QueueFull`; what the gate or a stopped context answers.
    pub(super) fn queue(
        &self,
        cx: &Cx<'_>,
        milliseconds: i32,
        accesses: &Accesses,
        work: impl Fn() -> Done + Send + Sync + 'static,
    ) -> Result<u32> {
        let until = deadline(milliseconds)?;
        let number = self.wait_until(until, |tasks| {
            if tasks.running >= LONGEST_QUEUE {
                return None;
            }
            tasks.running += 1;
            tasks.last = tasks.last.wrapping_add(1);
            tasks.open.insert(tasks.last, None);
            Some(tasks.last)
        });
        let Some(number) = number else {
            return Err(Error::new(
                ErrorKind::QueueFull,
                format!("{LONGEST_QUEUE} tasks of the channel have not ended"),
            )
            .fix(
                "Fetch results with hi_mpi_vpc_get_process_result, or pass a longer time limit.",
            ));
        };
        let ending = Ending {
            results: self.results.clone(),
            task: number,
            has_ended: Mutex::new(false),
        };
        // The failure of a task is the result that the program fetches; the context continues.
        let work = move || {
            ending.end(work());
            Ok(())
        };
        let queue = (&self.context, &*self.stream);
        let launch = || task::launch_with(cx, None, &self.stream, accesses, Box::new(work));
        let queued = self.ends.queue(cx, queue, number, launch);
        if queued.is_err() {
            self.results.tasks.lock().open.remove(&number);
        }
        queued.map(|()| number)
    }
}

/// Finds a channel.
///
/// # Errors
/// As [`Table::find`](super::table::Table::find).
pub(super) fn find(cx: &Cx<'_>, number: i32) -> Result<Arc<Channel>> {
    cx.process.dvpp.himpi.channels.find(number)
}

/// Opens a channel on the current device.
fn open(cx: &Cx<'_>) -> Result<Channel> {
    let context = cx.context()?;
    let family = Family::of_chip(&context.device().profile().soc_name);
    let stream = context.create_stream(StreamOptions::default())?;
    Ok(Channel {
        context,
        stream,
        family,
        matrix: Mutex::new(Matrix::default()),
        results: Arc::default(),
        ends: Ends::default(),
    })
}

/// The attributes are reserved, or limits of the cards that Jumar does not have.
pub fn hi_mpi_vpc_create_chn(
    cx: &Cx<'_>,
    number: i32,
    attributes: Option<&types::hi_vpc_chn_attr>,
) -> Result<()> {
    check_number(number)?;
    attributes.ok_or_else(|| null("attr"))?;
    let channels = &cx.process.dvpp.himpi.channels;
    channels.create(number, || open(cx))
}

pub fn hi_mpi_vpc_sys_create_chn(
    cx: &Cx<'_>,
    attributes: Option<&types::hi_vpc_chn_attr>,
) -> Result<i32> {
    attributes.ok_or_else(|| null("attr"))?;
    let channels = &cx.process.dvpp.himpi.channels;
    channels.create_next(|| open(cx))
}

pub fn hi_mpi_vpc_destroy_chn(cx: &Cx<'_>, number: i32) -> Result<()> {
    let channel = cx.process.dvpp.himpi.channels.remove(number)?;
    channel.ends.show_all(cx);
    match channel
        .context
        .destroy_stream(&channel.stream, true, &cx.caller())
    {
        // The context was destroyed, and its streams with it.
        Err(error) if error.kind() == ErrorKind::InvalidHandle => Ok(()),
        destroyed => destroyed,
    }
}

pub fn hi_mpi_vpc_get_process_result(
    cx: &Cx<'_>,
    number: i32,
    task: u32,
    milliseconds: i32,
) -> Result<()> {
    let channel = find(cx, number)?;
    let until = deadline(milliseconds)?;
    // The outer option: whether the task is known.
    let fetched = channel.wait_until(until, |tasks| match tasks.open.get(&task) {
        None => Some(None),
        Some(None) => None,
        Some(Some(_)) => Some(tasks.open.remove(&task).flatten()),
    });
    match fetched {
        Some(Some(done)) => {
            channel.ends.show(cx, task)?;
            done.map_err(|error| failed(format!("task {task} of channel {number} failed: {error}")))
        }
        Some(None) => Err(argument(format!(
            "task_id is {task}; channel {number} has no such task, or its result was fetched before"
        ))),
        None => Err(Error::new(
            ErrorKind::WaitTimeout,
            format!("task {task} of channel {number} has not ended after {milliseconds} ms"),
        )
        .fix("Call again later, or with a longer time limit; -1 waits without limit.")),
    }
}
