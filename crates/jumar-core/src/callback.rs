//! Host callbacks: functions of the program under test that run on the host, in stream order.
//!
//! Two ways. A *reporter* is a thread of the program that asks for callbacks, or for host functions
//! (`process`); streams are subscribed to it, to one for each. A *host thread* belongs to one stream and is made by the runtime at the
//! first host function of a stream without subscriptions, which takes none later. Either has a callback queue. The stream's task only appends the callback to that queue; if the
//! callback blocks the stream, the next task waits for the signal that is set when the callback returned, so no worker is
//! blocked. A queue that is closed, or that the stream has left, refuses: the callback is not run, its signal is set, and the task fails.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar_hal::sync::Instant;

use jumar_hal::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, thread, thread_token};
use jumar_hal::{Cost, Program, Queue, Signal, Tag, Task};
use jumar_types::{Error, ErrorKind, Result};

use crate::gate::Op;
use crate::{Caller, Stream};

/// A function of the program under test. A captured callback is called at each execution of the model.
pub type HostFunction = Box<dyn Fn() + Send + Sync>;

/// What a thread of the program reports for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Callbacks, which are launched for a subscribed thread alone.
    Callbacks,
    /// Host functions, which otherwise run on a thread of the runtime's.
    HostFunctions,
}

/// The reporting threads of a runtime, by what they report for and the number that the program names them by.
#[derive(Default)]
pub struct CallbackDispatcher {
    threads: Mutex<BTreeMap<(Role, u64), Arc<CallbackThread>>>,
}

struct CallbackThread {
    device: u32,
    streams: Mutex<usize>,
    callbacks: Arc<CallbackQueue>,
    /// The queue of a stream of the thread, through which it helps while it waits.
    queue: Arc<dyn Queue>,
}

/// Where a stream's callbacks go, and where its host functions do: each to a thread of its own, or both to one.
#[derive(Default)]
pub(crate) struct Subscriptions {
    callbacks: Subscription,
    host_functions: Subscription,
}

impl Subscriptions {
    fn of(&mut self, role: Role) -> &mut Subscription {
        match role {
            Role::Callbacks => &mut self.callbacks,
            Role::HostFunctions => &mut self.host_functions,
        }
    }
}

/// Where a stream's callbacks of a role go.
#[derive(Default)]
enum Subscription {
    #[default]
    None,
    Thread {
        thread: u64,
        callbacks: Arc<CallbackQueue>,
        spare: ReturnedFreeList,
    },
    /// To a thread that the runtime made for the stream's host functions.
    HostThread(Arc<CallbackQueue>),
}

/// The signals of a stream's earlier callbacks, oldest first: one that is set and has no other reference is reused.
#[derive(Default)]
pub(crate) struct ReturnedFreeList(VecDeque<Arc<CallbackReturn>>);

impl ReturnedFreeList {
    /// Returns a clear signal, and keeps it.
    fn take(&mut self, stream: &Stream) -> Arc<CallbackReturn> {
        const MOST: usize = 4;
        let free = |returned: &Arc<CallbackReturn>| {
            returned.signal.is_set()
                && Arc::strong_count(returned) == 1
                && Arc::strong_count(&returned.signal) == 1
        };
        let oldest = match self.0.front().is_some_and(free) || self.0.len() == MOST {
            true => self.0.pop_front(),
            false => None,
        };
        let returned = match oldest.filter(free) {
            Some(returned) => {
                returned.signal.renew();
                returned
            }
            // That of a captured callback, which is never free, is not kept forever.
            None => Arc::new(CallbackReturn::new(stream)),
        };
        self.0.push_back(returned.clone());
        returned
    }
}

/// What a stream that waits for a callback goes by.
pub(crate) struct CallbackReturn {
    /// Set when the callback has returned.
    signal: Arc<Signal>,
    runs: Arc<Runs>,
}

impl CallbackReturn {
    fn new(stream: &Stream) -> CallbackReturn {
        CallbackReturn {
            signal: Arc::new(Signal::untimed()),
            runs: stream.runs.clone(),
        }
    }
}

pub(crate) struct CallbackQueue {
    state: Mutex<CallbackQueueState>,
    condvar: Condvar,
    /// Set while a callback is pending or the queue is closed, for a thread that helps while it waits.
    any: Arc<Signal>,
}

impl Default for CallbackQueue {
    fn default() -> Self {
        CallbackQueue {
            state: Mutex::default(),
            condvar: Condvar::new(),
            any: Arc::new(Signal::untimed()),
        }
    }
}

#[derive(Default)]
struct CallbackQueueState {
    pending: VecDeque<PendingCallback>,
    /// The streams whose callbacks are queued here. Callbacks of other streams are refused, as no thread may ever fetch them.
    streams: BTreeSet<u64>,
    closed: bool,
    /// The number of threads that wait for the condition variable: notifying it is a system call even without a waiter.
    listening: usize,
}

/// Which thread runs the callback that a stream waits for. That thread must not wait for the stream.
#[derive(Default)]
pub(crate) struct Runs {
    /// The thread's token; 0 for none.
    thread: AtomicUsize,
}

impl Runs {
    /// Returns whether the calling thread is inside a callback that the stream waits for.
    #[inline]
    pub(crate) fn here(&self) -> bool {
        let thread = self.thread.load(Ordering::Acquire);
        thread != 0 && thread == thread_token()
    }

    fn set(&self, thread: usize) {
        self.thread.store(thread, Ordering::Release);
    }
}

/// The content of a callback queue.
enum Taken {
    PendingCallback(PendingCallback),
    Nothing,
    /// And nothing comes any more.
    Closed,
}

/// A callback that is due. Dropping it lets the stream continue, whether it ran or not.
struct PendingCallback(Arc<CallbackTask>);

impl PendingCallback {
    fn run(self) {
        if let Some(returned) = &self.0.returned {
            returned.runs.set(thread_token());
        }
        (self.0.function)();
    }
}

impl Drop for PendingCallback {
    fn drop(&mut self) {
        if let Some(returned) = &self.0.returned {
            returned.runs.set(0);
            returned.signal.set();
        }
    }
}

impl CallbackQueue {
    fn put(&self, pending: PendingCallback) -> Result<()> {
        let mut state = self.state.lock();
        if state.closed || !state.streams.contains(&pending.0.stream) {
            drop(state);
            return Err(not_run());
        }
        state.pending.push_back(pending);
        let waiters = self.any.set_quietly();
        let listening = state.listening > 0;
        drop(state);
        for waiter in waiters {
            waiter.signalled();
        }
        if listening {
            self.condvar.notify_one();
        }
        Ok(())
    }

    /// Waits as `wait` does, and meanwhile runs what is bounded of the queue and of others: most often the very task that
    /// hands the callback over.
    fn wait_and_help(
        &self,
        queue: &Arc<dyn Queue>,
        limit: Option<Duration>,
    ) -> Option<PendingCallback> {
        const FAR: Duration = Duration::from_secs(3600);
        let mut end = None;
        // Before the clock is read: reading it takes as long as a typical callback.
        queue.advance(&self.any);
        loop {
            match self.take() {
                Taken::PendingCallback(pending) => return Some(pending),
                Taken::Closed => return None,
                Taken::Nothing => {}
            }
            let now = Instant::now();
            let far = now + FAR;
            // A limit beyond the clock's end is none.
            let until = *end.get_or_insert_with(|| limit.and_then(|limit| now.checked_add(limit)));
            if until.is_some_and(|until| now >= until) {
                return None;
            }
            // With a limit nothing is begun that may take long.
            queue.wait_signal(&self.any, Some(until.map_or(far, |until| until.min(far))));
        }
    }

    /// Waits for a pending callback; `None` when the time limit expired, or the queue is closed and empty.
    fn wait(&self, limit: Option<Duration>) -> Option<PendingCallback> {
        let until = limit.map(|limit| Instant::now() + limit);
        let mut state = self.state.lock();
        loop {
            if let Some(pending) = state.pending.pop_front() {
                return Some(pending);
            }
            if state.closed {
                return None;
            }
            state.listening += 1;
            state = match until {
                None => self.condvar.wait(state),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        state.listening -= 1;
                        return None;
                    }
                    self.condvar.wait_for(state, left).0
                }
            };
            state.listening -= 1;
        }
    }

    fn take(&self) -> Taken {
        // What is put in is announced before it may be counted on.
        if !self.any.is_set() {
            return Taken::Nothing;
        }
        let mut state = self.state.lock();
        let pending = state.pending.pop_front();
        if state.pending.is_empty() && !state.closed {
            self.any.clear();
        }
        match pending {
            Some(pending) => Taken::PendingCallback(pending),
            None if state.closed => Taken::Closed,
            None => Taken::Nothing,
        }
    }

    /// Takes callbacks of a stream from now on.
    fn admit(&self, stream: u64) {
        self.state.lock().streams.insert(stream);
    }

    /// Refuses callbacks of a stream from now on.
    fn dismiss(&self, stream: u64) {
        self.state.lock().streams.remove(&stream);
    }

    /// Removes the pending callbacks of a stream: all, or the blocking one. The stream is blocked until they are dropped.
    fn take_of(&self, stream: u64, holding: bool) -> Vec<PendingCallback> {
        let mut state = self.state.lock();
        let pending = std::mem::take(&mut state.pending);
        let (gone, kept) = pending.into_iter().partition(|PendingCallback(pending)| {
            pending.stream == stream && (pending.returned.is_some() || !holding)
        });
        state.pending = Vec::into(kept);
        gone
    }

    fn close(&self) {
        self.state.lock().closed = true;
        self.any.set();
        self.condvar.notify_all();
    }

    fn is_closed(&self) -> bool {
        self.state.lock().closed
    }
}

#[cold]
fn not_run() -> Error {
    Error::new(
        ErrorKind::CallbackFailed,
        "the callback was not run: the stream was unsubscribed from its thread before",
    )
    .fix("Synchronise the stream before its subscription ends.")
}

/// What a stream fails by whose callback was due, and not begun, when its subscription ended.
struct NotRun;

impl Program for NotRun {
    fn run(&self) -> Result<()> {
        Err(not_run())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "host callback"
    }
}

/// The task that hands a callback over. In a captured model it runs many times, one after the other: each time, what the
/// stream waits for next is cleared first.
struct CallbackTask {
    me: Weak<CallbackTask>,
    /// A weak reference: pending callbacks keep the queue alive.
    callbacks: Weak<CallbackQueue>,
    function: HostFunction,
    /// Of a stream that waits for the callback.
    returned: Option<Arc<CallbackReturn>>,
    stream: u64,
    ran: AtomicBool,
}

impl CallbackTask {
    fn new(
        callbacks: &Arc<CallbackQueue>,
        function: HostFunction,
        returned: Option<Arc<CallbackReturn>>,
        stream: &Stream,
    ) -> Arc<CallbackTask> {
        Arc::new_cyclic(|me| CallbackTask {
            me: me.clone(),
            callbacks: Arc::downgrade(callbacks),
            function,
            returned,
            stream: stream.id(),
            ran: AtomicBool::new(false),
        })
    }
}

impl Drop for CallbackTask {
    fn drop(&mut self) {
        // Dropped without having run: this is what unblocks the stream.
        if !self.ran.load(Ordering::Acquire)
            && let Some(returned) = &self.returned
        {
            returned.signal.set();
        }
    }
}

impl Program for CallbackTask {
    fn run(&self) -> Result<()> {
        // Runs are sequential for all threads, so that a read followed by a write is enough.
        if self.ran.load(Ordering::Acquire) {
            if let Some(returned) = &self.returned {
                returned.signal.clear();
            }
        } else {
            self.ran.store(true, Ordering::Release);
        }
        // The running thread owns it.
        let pending = PendingCallback(self.me.upgrade().expect("a program that runs is alive"));
        match self.callbacks.upgrade() {
            Some(callbacks) => callbacks.put(pending),
            None => Err(not_run()),
        }
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "host callback"
    }
}

impl CallbackDispatcher {
    /// Lets a thread report the callbacks of a stream.
    ///
    /// # Errors
    /// `StreamSubscribe`: the stream has a thread, or runs host functions; `ThreadSubscribe`: the thread reports for a stream
    /// of another device; `RuntimeInternal`: too many threads report.
    pub fn subscribe(&self, role: Role, thread: u64, stream: &Stream) -> Result<()> {
        let key = (role, thread);
        const MAX_THREADS: usize = 1024;
        let mut threads = self.threads.lock();
        let mut subscriptions = stream.subscriptions.lock();
        if matches!(subscriptions.host_functions, Subscription::HostThread(_)) {
            return Err(Error::new(
                ErrorKind::StreamSubscribe,
                format!(
                    "stream {} runs host functions on a thread of its own",
                    stream.number()
                ),
            )
            .fix("Subscribe the stream before its first host function, or use one of the two kinds of callbacks on it."));
        }
        let subscription = subscriptions.of(role);
        if let Subscription::Thread { thread: other, .. } = subscription {
            return Err(Error::new(
                ErrorKind::StreamSubscribe,
                format!(
                    "stream {} is subscribed to thread {other:#x} already",
                    stream.number()
                ),
            ));
        }
        if threads.len() >= MAX_THREADS && !threads.contains_key(&key) {
            return Err(Error::new(
                ErrorKind::RuntimeInternal,
                format!("{MAX_THREADS} threads report callbacks, which is the limit"),
            ));
        }
        // A thread whose last stream was unsubscribed starts afresh.
        if threads
            .get(&key)
            .is_some_and(|reporter| reporter.callbacks.is_closed())
        {
            threads.remove(&key);
        }
        let reporter = threads
            .entry(key)
            .or_insert_with(|| {
                Arc::new(CallbackThread {
                    device: stream.device(),
                    streams: Mutex::new(0),
                    callbacks: Arc::default(),
                    queue: stream.queue().clone(),
                })
            })
            .clone();
        if reporter.device != stream.device() {
            return Err(Error::new(
                ErrorKind::ThreadSubscribe,
                format!(
                    "thread {thread:#x} reports for streams of device {}, and stream {} is of device {}",
                    reporter.device,
                    stream.number(),
                    stream.device()
                ),
            ));
        }
        *reporter.streams.lock() += 1;
        reporter.callbacks.admit(stream.id());
        *subscription = Subscription::Thread {
            thread,
            callbacks: reporter.callbacks.clone(),
            spare: ReturnedFreeList::default(),
        };
        Ok(())
    }

    /// Ends a subscription. The thread can still fetch pending callbacks, except one that blocks the stream: the
    /// thread may never come, and the stream would wait forever. It is not run, and the stream fails as for a callback that
    /// becomes pending later.
    ///
    /// # Errors
    /// `StreamSubscribe`: the stream is not subscribed; `ThreadSubscribe`: to another thread.
    pub fn unsubscribe(
        &self,
        role: Role,
        thread: u64,
        stream: &Stream,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let callbacks = self.end_subscription(role, thread, stream)?;
        let held_by = callbacks.take_of(stream.id(), true);
        if !held_by.is_empty() {
            let tag = Tag {
                ticket: 0,
                call: caller.call,
            };
            stream.queue().submit(Task::Run(Arc::new(NotRun)), tag);
        }
        Ok(())
    }

    fn end_subscription(
        &self,
        role: Role,
        thread: u64,
        stream: &Stream,
    ) -> Result<Arc<CallbackQueue>> {
        let mut threads = self.threads.lock();
        let mut subscriptions = stream.subscriptions.lock();
        let subscription = subscriptions.of(role);
        let callbacks = match &*subscription {
            Subscription::Thread {
                thread: subscribed,
                callbacks,
                ..
            } if *subscribed == thread => callbacks.clone(),
            Subscription::Thread {
                thread: subscribed, ..
            } => {
                return Err(Error::new(
                    ErrorKind::ThreadSubscribe,
                    format!(
                        "stream {} is subscribed to thread {subscribed:#x}, not to {thread:#x}",
                        stream.number()
                    ),
                ));
            }
            Subscription::None | Subscription::HostThread(_) => {
                return Err(Error::new(
                    ErrorKind::StreamSubscribe,
                    format!("stream {} is not subscribed to any thread", stream.number()),
                ));
            }
        };
        callbacks.dismiss(stream.id());
        *subscription = Subscription::None;
        Self::leave(&mut threads, (role, thread));
        Ok(callbacks)
    }

    fn leave(threads: &mut BTreeMap<(Role, u64), Arc<CallbackThread>>, key: (Role, u64)) {
        let Some(reporter) = threads.get(&key) else {
            return;
        };
        let mut streams = reporter.streams.lock();
        *streams -= 1;
        if *streams == 0 {
            reporter.callbacks.close();
        }
    }

    /// Drops the callbacks of a stream that have not begun.
    pub(crate) fn drop_pending(&self, stream: &Stream) {
        let queues = {
            let subscriptions = stream.subscriptions.lock();
            [&subscriptions.callbacks, &subscriptions.host_functions].map(|subscription| {
                match subscription {
                    Subscription::None => None,
                    Subscription::Thread { callbacks, .. }
                    | Subscription::HostThread(callbacks) => Some(callbacks.clone()),
                }
            })
        };
        for callbacks in queues.into_iter().flatten() {
            // The program may have taken back what the functions need.
            drop(callbacks.take_of(stream.id(), false));
        }
    }

    /// Ends whatever a stream that goes away was subscribed to.
    pub(crate) fn forget(&self, stream: &Stream) {
        let mut threads = self.threads.lock();
        let mut subscriptions = std::mem::take(&mut *stream.subscriptions.lock());
        for role in [Role::Callbacks, Role::HostFunctions] {
            match std::mem::take(subscriptions.of(role)) {
                Subscription::None => {}
                Subscription::Thread {
                    thread, callbacks, ..
                } => {
                    callbacks.dismiss(stream.id());
                    Self::leave(&mut threads, (role, thread));
                }
                Subscription::HostThread(callbacks) => callbacks.close(),
            }
        }
    }

    /// Runs the pending callbacks of the calling thread. Waits for the first one, forever if there is no limit.
    ///
    /// # Errors
    /// `ThreadSubscribe`: the thread is not subscribed; `ReportTimeout`: no callback became pending in time.
    pub fn process(&self, role: Role, thread: u64, limit: Option<Duration>) -> Result<()> {
        let not_subscribed = || {
            Error::new(
                ErrorKind::ThreadSubscribe,
                format!("no stream is subscribed to this thread ({thread:#x})"),
            )
        };
        let reporter = self.threads.lock().get(&(role, thread)).cloned();
        let reporter = reporter.ok_or_else(not_subscribed)?;
        let callbacks = &reporter.callbacks;
        match callbacks.wait_and_help(&reporter.queue, limit) {
            Some(first) => first.run(),
            None if callbacks.is_closed() => {
                let mut threads = self.threads.lock();
                if threads
                    .get(&(role, thread))
                    .is_some_and(|other| Arc::ptr_eq(&other.callbacks, callbacks))
                {
                    threads.remove(&(role, thread));
                }
                return Err(not_subscribed());
            }
            None => {
                return Err(Error::new(
                    ErrorKind::ReportTimeout,
                    "no callback arrived within the time limit".to_owned(),
                ));
            }
        }
        while let Taken::PendingCallback(pending) = callbacks.take() {
            pending.run();
        }
        Ok(())
    }

    /// Queues a callback for the thread that the stream is subscribed to. `blocks` holds the stream until it returned.
    ///
    /// # Errors
    /// `NoSubscriber`: the stream is subscribed to no thread.
    pub fn launch(
        &self,
        stream: &Stream,
        function: HostFunction,
        blocks: bool,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let _accepted = stream.submitter()?;
        let program = match &mut stream.subscriptions.lock().callbacks {
            Subscription::Thread {
                callbacks, spare, ..
            } => {
                let returned = blocks.then(|| spare.take(stream));
                CallbackTask::new(callbacks, function, returned, stream)
            }
            Subscription::None | Subscription::HostThread(_) => {
                return Err(Error::new(
                    ErrorKind::NoSubscriber,
                    format!(
                        "stream {} is not subscribed to a thread that could run the callback",
                        stream.number()
                    ),
                ));
            }
        };
        submit_callback(stream, program, caller)
    }

    /// Queues a function for the thread that runs the stream's host functions: a subscribed one, else one of its own. It holds the stream until it returned.
    ///
    /// # Errors
    /// `StreamSubscribe`: the stream is subscribed to a thread of the program; `RuntimeInternal`: no thread could be made.
    pub fn launch_host_function(
        &self,
        stream: &Stream,
        function: HostFunction,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let _accepted = stream.submitter()?;
        let callbacks = {
            let mut subscriptions = stream.subscriptions.lock();
            let Subscriptions {
                callbacks: reported,
                host_functions,
            } = &mut *subscriptions;
            match (&*host_functions, reported) {
                (
                    Subscription::HostThread(callbacks) | Subscription::Thread { callbacks, .. },
                    _,
                ) => callbacks.clone(),
                (Subscription::None, Subscription::Thread { thread, .. }) => {
                    return Err(Error::new(
                        ErrorKind::StreamSubscribe,
                        format!(
                            "the callbacks of stream {} go to thread {thread:#x}, and no thread is subscribed to its host functions",
                            stream.number()
                        ),
                    )
                    .fix("Launch a callback for the subscribed thread instead, subscribe a thread to the host functions, or end the subscription."));
                }
                (Subscription::None, Subscription::None | Subscription::HostThread(_)) => {
                    let callbacks: Arc<CallbackQueue> = Arc::default();
                    callbacks.admit(stream.id());
                    let at_work = callbacks.clone();
                    thread::Builder::new()
                        .name("jumar-callback".into())
                        .spawn(move || {
                            while let Some(pending) = at_work.wait(None) {
                                pending.run();
                            }
                        })
                        .map_err(|error| {
                            Error::new(
                                ErrorKind::RuntimeInternal,
                                format!("no thread could be made for host functions: {error}"),
                            )
                        })?;
                    *host_functions = Subscription::HostThread(callbacks.clone());
                    callbacks
                }
            }
        };
        let returned = Some(Arc::new(CallbackReturn::new(stream)));
        let program = CallbackTask::new(&callbacks, function, returned, stream);
        submit_callback(stream, program, caller)
    }
}

fn submit_callback(stream: &Stream, program: Arc<CallbackTask>, caller: &Caller<'_>) -> Result<()> {
    let wait = program
        .returned
        .as_ref()
        .map(|returned| Task::until_set(returned.signal.clone()));
    let blocks = wait.is_some();
    stream
        .submit_run(caller, program, wait, || Op::Callback { blocks })
        .map(drop)
}
