//! What a thread of the program carries from call to call: its current context, what it looked up last, its errors.
//!
//! The context and the remembered objects are valid while the runtime's epoch stands still; each destroy, reset and
//! finalise moves it on, and the next call looks things up again. So nothing here keeps an object usable after it was
//! destroyed, and the submit path touches no shared reference count.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use jumar::engine::{Context, Lookups, Stream};
use jumar_types::{Error, ErrorKind, Result};

use crate::message::Messages;
use crate::{Cx, Raw};

const REMEMBERED_STREAMS: usize = 4;

/// The state of one thread.
#[derive(Default)]
pub struct Thread {
    /// The handle of the current context; 0 is none.
    current: Cell<u64>,
    remembered: RefCell<Remembered>,
    pub(crate) lookups: Lookups,
    pub(crate) last_error: Cell<i32>,
    pub(crate) messages: RefCell<Messages>,
}

#[derive(Default)]
struct Remembered {
    epoch: u64,
    context: Option<Arc<Context>>,
    streams: [Option<Arc<Stream>>; REMEMBERED_STREAMS],
    next: usize,
}

impl Remembered {
    #[inline]
    fn refresh(&mut self, epoch: u64) {
        if self.epoch != epoch {
            *self = Remembered {
                epoch,
                ..Remembered::default()
            };
        }
    }
}

thread_local! {
    static THREAD: Thread = Thread::default();
}

/// Runs with the calling thread's state. A thread that is ending, whose state is gone already, gets a fresh one for the
/// call: late calls from destructors still answer.
pub(crate) fn with<T>(body: impl FnOnce(&Thread) -> T) -> T {
    let mut body = Some(body);
    let mut run = |thread: &Thread| body.take().map(|body| body(thread));
    let done = THREAD.try_with(|thread| run(thread)).ok().flatten();
    done.or_else(|| run(&Thread::default()))
        .expect("the body runs once, on one of the two states")
}

impl Thread {
    /// Makes a context current; `None` leaves the thread without one.
    pub(crate) fn set_current(&self, context: Option<&Arc<Context>>) {
        self.current.set(context.map_or(0, |context| context.id()));
        self.remembered.borrow_mut().context = None;
    }

    /// Gives the handle of the current context, alive or not; 0 is none.
    pub(crate) fn current_handle(&self) -> u64 {
        self.current.get()
    }

    /// Lends the current context.
    #[inline]
    pub(crate) fn with_context<T>(
        &self,
        cx: &Cx<'_>,
        work: impl FnOnce(&Arc<Context>) -> T,
    ) -> Result<T> {
        let runtime = cx.runtime()?;
        let epoch = runtime.epoch().now();
        let mut remembered = self.remembered.borrow_mut();
        remembered.refresh(epoch);
        if let Some(context) = &remembered.context
            && !context.is_dead()
        {
            return Ok(work(context));
        }
        drop(remembered);
        let context = self.find_context(cx)?;
        let mut remembered = self.remembered.borrow_mut();
        if remembered.epoch == epoch {
            remembered.context = Some(context.clone());
        }
        drop(remembered);
        Ok(work(&context))
    }

    fn find_context(&self, cx: &Cx<'_>) -> Result<Arc<Context>> {
        let current = self.current.get();
        if current == 0 {
            if let Some(device) = cx.process.default_device() {
                let context = cx.runtime()?.retain_device(i64::from(device))?;
                self.set_current(Some(&context));
                return Ok(context);
            }
            return Err(Error::new(
                ErrorKind::NoContext,
                "this thread has no current context",
            ));
        }
        match cx.runtime()?.contexts().get(current) {
            Ok(context) if !context.is_dead() => Ok(context),
            Ok(_) => Err(Error::new(
                ErrorKind::NoContext,
                "this thread's current context is being destroyed",
            )),
            Err(error) => Err(Error::new(
                ErrorKind::NoContext,
                "this thread's current context is gone",
            )
            .caused_by(error)),
        }
    }

    /// Lends a stream.
    #[inline]
    pub(crate) fn stream<T>(
        &self,
        cx: &Cx<'_>,
        stream: Raw,
        work: impl FnOnce(&Arc<Stream>) -> T,
    ) -> Result<T> {
        let runtime = cx.runtime()?;
        let epoch = runtime.epoch().now();
        let mut remembered = self.remembered.borrow_mut();
        remembered.refresh(epoch);
        // The stream is moved out while it is lent: a callback that calls back into the interface finds the cell free.
        let place = remembered
            .streams
            .iter()
            .position(|found| found.as_ref().is_some_and(|found| found.id() == stream.0));
        let (place, found) =
            match place.and_then(|place| Some((place, remembered.streams[place].take()?))) {
                Some(hit) => {
                    drop(remembered);
                    hit
                }
                None => {
                    let place = remembered.next;
                    remembered.next = (place + 1) % REMEMBERED_STREAMS;
                    drop(remembered);
                    (place, runtime.streams().get(stream.0)?)
                }
            };
        let result = work(&found);
        let mut remembered = self.remembered.borrow_mut();
        if remembered.epoch == epoch {
            remembered.streams[place] = Some(found);
        }
        Ok(result)
    }
}
