//! What a thread of the program carries from call to call: its current context, what it looked up last, its errors.
//!
//! The context and the remembered objects are valid while the runtime's epoch stands still; each destroy, reset and
//! finalise moves it on, and the next call looks things up again. So nothing here keeps an object usable after it was
//! destroyed, and the submit path touches no shared reference count.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::{Mutex, thread_token};
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
    remembered: RefCell<ThreadCache>,
    pub(crate) lookups: Lookups,
    pub(crate) last_error: Cell<i32>,
    /// The thread's hidden list of kernel arguments; 0 is none.
    pub(crate) argument_list: Cell<u64>,
    /// The stream whose core limits the thread works under; 0 is none.
    pub(crate) resource_stream: Cell<u64>,
    /// The system's thread id; 0 until it is queried.
    number: Cell<u32>,
    /// The code that a function of the program answered, which the call passes on; 0 is none.
    pub(crate) foreign_code: Cell<i32>,
    /// Whether the call that failed was a poll, which waits for nothing.
    pub(crate) is_poll: Cell<bool>,
    pub(crate) messages: RefCell<Messages>,
    /// The thread's last error as data.
    pub(crate) failure: RefCell<Option<crate::message::Failure>>,
    /// The plans of single operators that the thread has called last.
    pub(crate) plans: crate::operators::aclnn::Plans,
    /// The tensors of single operators that the thread has destroyed last.
    pub(crate) free_tensors: crate::operators::aclnn::FreeList,
    /// The calls of a group of collective communication that the thread has begun.
    pub(crate) group: crate::hccl::Group,
    /// The call that the thread is in, for records of activities.
    pub(crate) activities: crate::mspti::OfThread,
    /// The ranges of a profile that the thread has begun.
    pub(crate) nested: crate::prof::OpenRanges,
    /// The number by which the thread has asked for callbacks (aclrtProcessReport); 0 if it never has.
    pub(crate) reporter: Cell<u64>,
}

#[derive(Default)]
struct ThreadCache {
    epoch: u64,
    context: Option<Arc<Context>>,
    streams: HandleCache<Stream>,
    events: HandleCache<Event>,
}

/// The last few objects of one kind, with their handles. The two lie apart: written together and read one by one, or the
/// other way round, they cost a stalled load each.
struct HandleCache<O> {
    handles: [u64; REMEMBERED],
    objects: [Option<Arc<O>>; REMEMBERED],
    next: usize,
}

impl<O> Default for HandleCache<O> {
    fn default() -> Self {
        HandleCache {
            handles: [0; REMEMBERED],
            objects: Default::default(),
            next: 0,
        }
    }
}

impl<O> HandleCache<O> {
    /// Removes the object with this handle; otherwise returns the index for it.
    #[inline]
    fn take(&mut self, handle: u64) -> (usize, Option<Arc<O>>) {
        for (slot, known) in self.handles.iter().enumerate() {
            // Null is never cached: it marks free entries.
            if *known == handle {
                return (slot, self.objects[slot].take());
            }
        }
        let slot = self.next;
        self.next = (slot + 1) % REMEMBERED;
        (slot, None)
    }

    #[inline]
    fn put(&mut self, slot: usize, handle: u64, object: Arc<O>) {
        self.handles[slot] = handle;
        self.objects[slot] = Some(object);
    }
}

impl ThreadCache {
    #[inline]
    fn refresh(&mut self, epoch: u64) {
        if self.epoch != epoch {
            *self = ThreadCache {
                epoch,
                ..ThreadCache::default()
            };
        }
    }
}

/// What a thread leaves behind when its state is destroyed, for calls that come later still: from destructors of other
/// thread-local objects, and on the main thread from static destructors and functions of `atexit`.
#[derive(Clone, Copy, Default)]
struct Left {
    current: u64,
    last_error: i32,
    resource_stream: u64,
    number: u32,
    /// Whether such a call has come, so that [`Late`] has the thread's state.
    late: bool,
}

thread_local! {
    static THREAD: Own = Own::default();
    /// Needs no destructor, and so outlives what does.
    static LEFT: Cell<Left> = const {
        Cell::new(Left {
            current: 0,
            last_error: 0,
            resource_stream: 0,
            number: 0,
            late: false,
        })
    };
}

/// The state of a thread that is not ending.
#[derive(Default)]
struct Own(Thread);

/// The states of ending threads that have made late calls, by [`thread_token`]. A thread that gets the token of one that has
/// ended replaces its state.
pub(crate) type Late = Mutex<BTreeMap<usize, Box<Thread>>>;

/// Returns whether the state of the calling thread is destroyed, because the thread is ending.
#[inline]
pub(crate) fn has_ended() -> bool {
    THREAD.try_with(|_| ()).is_err()
}

/// Runs with the state of the calling thread, which has not ended.
#[inline]
pub(crate) fn with_living<T>(body: impl FnOnce(&Thread) -> T) -> T {
    THREAD.with(|own| body(&own.0))
}

/// Runs with the calling thread's state. A thread that is ending, whose state is destroyed already, continues with what that
/// left behind.
pub(crate) fn with<T>(body: impl FnOnce(&Thread) -> T) -> T {
    match has_ended() {
        false => with_living(body),
        true => with_late(body),
    }
}

#[cold]
fn with_late<T>(body: impl FnOnce(&Thread) -> T) -> T {
    let left = LEFT.get();
    let process = crate::process::get();
    let token = thread_token();
    // Taken out while it is used: a callback of the call may call in turn, and continues with what was left.
    let known = process.late.lock().remove(&token);
    let state = known.filter(|_| left.late).unwrap_or_else(|| {
        Box::new(Thread {
            current: Cell::new(left.current),
            last_error: Cell::new(left.last_error),
            resource_stream: Cell::new(left.resource_stream),
            number: Cell::new(left.number),
            ..Thread::default()
        })
    });
    LEFT.set(Left { late: true, ..left });
    let result = body(&state);
    let replaced = process.late.lock().insert(token, state);
    drop(replaced);
    result
}

impl Drop for Own {
    fn drop(&mut self) {
        let Own(thread) = self;
        LEFT.set(Left {
            current: thread.current.get(),
            last_error: thread.last_error.get(),
            resource_stream: thread.resource_stream.get(),
            number: thread.number.get(),
            late: false,
        });
        let reporter = thread.reporter.get();
        if reporter != 0 {
            let mut ended = crate::process::get().ended_reporters.lock();
            ended.insert(reporter);
        }
        let list = thread.argument_list.get();
        crate::kernel::forget_list(crate::process::get(), list, "the end of its thread");
    }
}

impl Thread {
    /// Returns the thread's number as the system counts threads; 0 if the system does not report it.
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

    /// Makes the context of a handle current and returns the handle of the one before; 0 is none.
    pub(crate) fn replace_current(&self, handle: u64) -> u64 {
        self.remembered.borrow_mut().context = None;
        self.current.replace(handle)
    }

    /// Returns the handle of the current context, alive or not; 0 is none.
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
                format!("this thread's current context {current:#x} is being destroyed"),
            )),
            Err(error) => Err(Error::new(
                ErrorKind::NoContext,
                format!("this thread's current context {current:#x} was destroyed"),
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
        cache: impl Fn(&mut ThreadCache) -> &mut HandleCache<O>,
        find: impl FnOnce() -> Result<Arc<O>>,
        work: impl FnOnce(&Arc<O>) -> T,
    ) -> Result<T> {
        let epoch = cx.runtime()?.epoch().now();
        let mut remembered = self.remembered.borrow_mut();
        remembered.refresh(epoch);
        let (slot, hit) = cache(&mut remembered).take(handle.0);
        drop(remembered);
        let found = match hit {
            Some(found) => found,
            None => find()?,
        };
        let result = work(&found);
        let mut remembered = self.remembered.borrow_mut();
        if remembered.epoch == epoch {
            cache(&mut remembered).put(slot, handle.0, found);
        }
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes calls when it is destroyed, as a thread-local object of the program does.
    struct Caller(std::sync::mpsc::Sender<Vec<u64>>);

    impl Drop for Caller {
        fn drop(&mut self) {
            let seen = [0, 7, 0].map(|set| {
                with(|thread| {
                    if set != 0 {
                        thread.current.set(set);
                    }
                    thread.current_handle()
                })
            });
            with(|thread| thread.messages.borrow_mut().push("late".to_owned()));
            let texts = with(|thread| thread.messages.borrow_mut().take().len() as u64);
            // The test listens until the thread has ended.
            let _ = self.0.send(seen.into_iter().chain([texts]).collect());
        }
    }

    thread_local! {
        static CALLER: RefCell<Option<Caller>> = const { RefCell::new(None) };
    }

    #[test]
    fn calls_of_an_ending_thread_go_on_with_its_context_and_keep_what_they_set() {
        // One after the other, so that the second thread may get the token of the first.
        for current in [3, 5] {
            let (sender, seen) = std::sync::mpsc::channel();
            let thread = std::thread::spawn(move || {
                // Destroyed in the reverse order, hence after the thread's state.
                CALLER.with(|caller| *caller.borrow_mut() = Some(Caller(sender)));
                with(|thread| thread.current.set(current));
                assert!(THREAD.try_with(|_| ()).is_ok());
            });
            thread.join().expect("the thread ends in good order");
            assert_eq!(seen.recv().ok(), Some(vec![current, 7, 7, 1]));
        }
    }
}
