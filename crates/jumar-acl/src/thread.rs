//! What a thread of the program carries from call to call: its current context, what it looked up last, its errors.
//!
//! The context and the remembered objects are valid while the runtime's epoch stands still; each destroy, reset and
//! finalise moves it on, and the next call looks things up again. So nothing here keeps an object usable after it was
//! destroyed, and the submit path touches no shared reference count.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use jumar::engine::{Context, Event, Lookups, Stream};
use jumar_types::{Error, ErrorKind, Result};

use crate::message::Messages;
use crate::{Cx, Raw};

const REMEMBERED: usize = 4;

/// The state of one thread.
#[derive(Default)]
pub struct Thread {
    /// The handle of the current context; 0 is none.
    current: Cell<u64>,
    remembered: RefCell<Remembered>,
    pub(crate) lookups: Lookups,
    pub(crate) last_error: Cell<i32>,
    /// The thread's hidden list of kernel arguments; 0 is none.
    pub(crate) argument_list: Cell<u64>,
    /// The stream whose core limits the thread works under; 0 is none.
    pub(crate) resource_stream: Cell<u64>,
    /// As the system numbers threads; 0 while nobody asked.
    number: Cell<u32>,
    /// The code that a function of the program answered, which the call passes on; 0 is none.
    pub(crate) foreign_code: Cell<i32>,
    pub(crate) messages: RefCell<Messages>,
    /// The ranges of a profile that the thread has begun.
    pub(crate) nested: crate::prof::Nested,
}

#[derive(Default)]
struct Remembered {
    epoch: u64,
    context: Option<Arc<Context>>,
    streams: Shelf<Stream>,
    events: Shelf<Event>,
}

/// The last few objects of one kind, with their handles. The two lie apart: written together and read one by one, or the
/// other way round, they cost a stalled load each.
struct Shelf<O> {
    handles: [u64; REMEMBERED],
    objects: [Option<Arc<O>>; REMEMBERED],
    next: usize,
}

impl<O> Default for Shelf<O> {
    fn default() -> Self {
        Shelf {
            handles: [0; REMEMBERED],
            objects: Default::default(),
            next: 0,
        }
    }
}

impl<O> Shelf<O> {
    /// Takes the object with this handle out; otherwise gives the place where it is to be put.
    #[inline]
    fn take(&mut self, handle: u64) -> (usize, Option<Arc<O>>) {
        for (place, known) in self.handles.iter().enumerate() {
            // Null is on no shelf: its places are empty.
            if *known == handle {
                return (place, self.objects[place].take());
            }
        }
        let place = self.next;
        self.next = (place + 1) % REMEMBERED;
        (place, None)
    }

    #[inline]
    fn put(&mut self, place: usize, handle: u64, object: Arc<O>) {
        self.handles[place] = handle;
        self.objects[place] = Some(object);
    }
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
#[inline]
pub(crate) fn with<T>(body: impl FnOnce(&Thread) -> T) -> T {
    // Asked first, so that the body is not moved about.
    match THREAD.try_with(|_| ()) {
        Ok(()) => THREAD.with(body),
        Err(_) => body(&Thread::default()),
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let list = self.argument_list.get();
        crate::kernel::forget_list(crate::process::get(), list, "the end of its thread");
    }
}

impl Thread {
    /// Gives the thread's number as the system counts threads; 0 where the system does not tell.
    pub(crate) fn system_number(&self) -> u32 {
        if self.number.get() == 0 {
            let link = std::fs::read_link("/proc/thread-self").unwrap_or_default();
            let number = link
                .file_name()
                .and_then(|name| name.to_str()?.parse().ok());
            self.number.set(number.unwrap_or(0));
        }
        self.number.get()
    }

    /// Makes a context current; `None` leaves the thread without one.
    pub(crate) fn set_current(&self, context: Option<&Arc<Context>>) {
        self.current.set(context.map_or(0, |context| context.id()));
        self.remembered.borrow_mut().context = None;
    }

    /// Gives the handle of the current context, alive or not; 0 is none.
    #[inline]
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
        self.lend(
            cx,
            stream,
            |remembered| &mut remembered.streams,
            || runtime.streams().get(stream.0),
            work,
        )
    }

    /// Lends an event.
    #[inline]
    pub(crate) fn event<T>(
        &self,
        cx: &Cx<'_>,
        event: Raw,
        work: impl FnOnce(&Arc<Event>) -> T,
    ) -> Result<T> {
        let runtime = cx.runtime()?;
        self.lend(
            cx,
            event,
            |remembered| &mut remembered.events,
            || runtime.events().get(event.0),
            work,
        )
    }

    /// Lends an object that this thread may remember. It is moved out while it is lent, so that a callback that calls back
    /// into the interface finds the cell free.
    #[inline]
    fn lend<O, T>(
        &self,
        cx: &Cx<'_>,
        handle: Raw,
        shelf: impl Fn(&mut Remembered) -> &mut Shelf<O>,
        find: impl FnOnce() -> Result<Arc<O>>,
        work: impl FnOnce(&Arc<O>) -> T,
    ) -> Result<T> {
        let epoch = cx.runtime()?.epoch().now();
        let mut remembered = self.remembered.borrow_mut();
        remembered.refresh(epoch);
        let (place, hit) = shelf(&mut remembered).take(handle.0);
        drop(remembered);
        let found = match hit {
            Some(found) => found,
            None => find()?,
        };
        let result = work(&found);
        let mut remembered = self.remembered.borrow_mut();
        if remembered.epoch == epoch {
            shelf(&mut remembered).put(place, handle.0, found);
        }
        Ok(result)
    }
}
