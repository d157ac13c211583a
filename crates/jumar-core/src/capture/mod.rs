//! Captured and built models: tasks that are recorded instead of queued, and executed as a whole, again and again.
//!
//! A [`Graph`] comes to be in one of three ways: streams are *captured* (submits are recorded until the capture ends, and
//! events carry the capture from stream to stream), streams are *bound* to a model that is built by hand, or it is a
//! *branch* of a condition, which a later capture fills.
//!
//! States: recording, then ready, then gone. While it is recording, each of its streams has a recorder, and whatever is
//! submitted there becomes a node of the stream's sequence ([`record`]). The order in which nodes were recorded
//! is a valid order of execution, as a stream can only wait for what was recorded before; so a graph without waits for the
//! outside is one array that one queue entry runs through ([`run`]). If a single sequence waits (external events,
//! notifies, values, host callbacks), the array is cut there, and the wait is a queue entry of its own, which blocks no
//! worker. Concurrent waits of several sequences, labels, switches and conditions are run by drivers on queues of the graph's
//! own ([`drivers`]).
//!
//! Locks: an event's lock comes before a graph's, a graph's `runs` before its `inner`, and a stream's recorder is the last.
//! Code outside of this folder is never called under the lock of `inner` or of the recorder.

mod control;
mod drivers;
mod group;
mod inspect;
mod owned_op;
mod parameters;
mod record;
mod run;

use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar_hal::sync::{AtomicU32, Instant, Mutex, Ordering};
use jumar_hal::{Call, Queue, Signal, Task};
use jumar_types::{Error, ErrorKind, Result};

use crate::context::Failure;
use crate::device::ModelStream;
use crate::runtime::SharedRuntime;
use crate::{Caller, Context, Event, Stream};

pub use control::{Comparison, Condition, ConditionKind, Label, LabelLists, Width};
pub use group::TaskGroup;
pub(crate) use group::Update;
pub use inspect::{EventTask, GraphTask, TaskDescription};
pub(crate) use owned_op::OwnedOp;
pub(crate) use parameters::RecordedTask;
pub use parameters::TaskParameters;
pub(crate) use record::{EventAction, Mark, Taken};

use control::Control;
use group::Slot;

/// How much a capture forbids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureMode {
    /// Calls that could break the capture are forbidden to every thread.
    #[default]
    Global,
    /// To the thread that captures.
    ThreadLocal,
    /// To none, and any thread may end the capture.
    Relaxed,
}

/// The state of a stream's capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStatus {
    /// The stream is not being captured.
    None,
    /// The stream is being captured.
    Active,
    /// The stream is being captured, and a failed call made the capture invalid.
    Invalidated,
}

/// What a task of a graph is, as programs ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    /// None of the others.
    Other,
    /// A kernel, or another program that runs on the device.
    Kernel,
    /// A record of an event.
    Record,
    /// A wait for an event.
    Wait,
    /// A reset of an event.
    Reset,
    /// A value is written to memory.
    ValueWrite,
    /// The stream is blocked until a value in memory matches.
    ValueWait,
}

/// Where a graph comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Streams were captured.
    Captured,
    /// Streams were bound to it.
    Built,
    /// It is a branch of a condition of another graph.
    Branch,
}

/// How long a destroy waits for executions that are still running.
const DESTROY_GRACE: Duration = Duration::from_secs(10);

/// A captured or built model.
pub struct Graph {
    id: u64,
    number: u32,
    origin: Origin,
    context_id: u64,
    device: u32,
    shared: Arc<SharedRuntime>,
    failure: Arc<Failure>,
    captures: Arc<Captures>,
    inner: Mutex<Inner>,
    runs: Mutex<Runs>,
    farewells: Mutex<Vec<Farewell>>,
}

/// A function of the program that is called when a graph was destroyed, with the number that names it.
struct Farewell {
    key: usize,
    function: crate::HostFunction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// A branch that no capture has filled yet, or a model that is being built.
    Open,
    /// Streams are being captured into it.
    Capturing,
    /// It can be executed.
    Ready,
    /// It was destroyed.
    Gone,
}

struct Inner {
    phase: Phase,
    name: String,
    mode: CaptureMode,
    /// Counts the captures into the graph: a branch can be captured again after its capture was dropped.
    capture: u32,
    /// Who began the capture, as [`Caller::thread`] numbers threads.
    thread: u64,
    /// Why the capture is invalid.
    invalid: Option<Error>,
    captured_streams: Vec<CapturedStream>,
    nodes: Vec<Node>,
    /// The group that is open: its sequence and its tasks so far.
    open_group: Option<(u32, Vec<Arc<Slot>>)>,
    /// A model that is built: whether its end was marked.
    ended: bool,
    conditions: Vec<Arc<Condition>>,
    branches: Vec<Arc<Graph>>,
    task_groups: Vec<u64>,
    task_handles: Vec<u64>,
    /// Tasks that the next update leaves out.
    to_disable: Vec<u32>,
    /// Memory of pools that was given back while the graph was recorded.
    adopted: Vec<(Arc<crate::Pool>, usize)>,
    /// Changes of tasks that the next update makes.
    to_change: Vec<parameters::Change>,
    /// Streams made up for programs that list a captured graph's streams.
    stand_ins: Vec<Arc<Stream>>,
    /// What an execution does; made from the nodes when first needed.
    plan: Option<Arc<run::Plan>>,
    /// The memory's count of removals when the ranges were last found live.
    checked: u64,
}

/// One stream's part of a graph.
struct CapturedStream {
    stream: u64,
    number: u32,
    /// Held while the stream is being recorded.
    attached: Option<Arc<Stream>>,
    /// Its nodes, in order.
    nodes: Vec<u32>,
    /// Whether it starts with the graph; otherwise something has to activate it.
    head: bool,
    /// The stream of the device that it takes in a captured graph. A bound stream is one itself.
    _stream: Option<ModelStream>,
}

/// One recorded task.
struct Node {
    captured_stream: u32,
    kind: TaskKind,
    action: Action,
    /// What it is; `None` for a part of the task before it.
    owned_op: Option<OwnedOp>,
    call: &'static Call,
    event: Option<EventTask>,
    disabled: bool,
    /// The handle that programs know it by, once they asked.
    handle: u64,
    belongings: parameters::Belongings,
}

enum Action {
    /// A task as it was submitted.
    Task(Task),
    /// A task of a group, which can be replaced.
    Slot(Arc<Slot>),
    /// A record inside the graph: a position that other sequences wait for.
    Mark,
    /// A wait for a mark.
    Join(u32),
    /// Sets the newest record of an event, for the outside.
    ExternalSet(Arc<Event>),
    /// Waits for the record of an event that is newest when an execution is queued.
    ExternalWait(Arc<Event>),
    /// A node where the order of execution may change.
    Control(Control),
}

#[derive(Default)]
struct Runs {
    /// The execution that was queued last.
    last: Option<LastRun>,
    /// Queues of the graph's own, one per sequence, for graphs that need them.
    queues: Vec<(Arc<dyn Queue>, Arc<drivers::CapturedStreamObserver>)>,
}

struct LastRun {
    stream: u64,
    queue: Arc<dyn Queue>,
    done: Arc<Signal>,
    running: Weak<drivers::Running>,
}

/// The captures that are under way in a context.
#[derive(Default)]
pub(crate) struct Captures {
    active: AtomicU32,
    list: Mutex<Vec<Arc<Graph>>>,
}

/// What happens to what is submitted to a stream that is being recorded.
#[derive(Clone)]
pub(crate) enum Recorder {
    /// It becomes a node.
    CapturedStream {
        graph: Arc<Graph>,
        captured_stream: u32,
    },
    /// It replaces the tasks of a group.
    Update(Arc<Update>),
    /// It is refused: the stream only stands for a part of a captured graph.
    StandIn {
        graph: Weak<Graph>,
        captured_stream: u32,
    },
}

impl Captures {
    /// Returns whether any capture is under way.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.active.load(Ordering::Acquire) != 0
    }

    fn enter(&self, graph: &Arc<Graph>) {
        self.list.lock().push(graph.clone());
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    fn leave(&self, graph: &Graph) {
        let mut list = self.list.lock();
        let before = list.len();
        list.retain(|other| !std::ptr::eq(&**other, graph));
        if list.len() != before {
            self.active.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Returns the capture, if any, that forbids unsafe calls to the calling thread.
    pub(crate) fn blocking(&self, caller: &Caller<'_>) -> Option<u32> {
        if !self.any() || caller.capture_mode() == CaptureMode::Relaxed {
            return None;
        }
        let graphs = self.list.lock().clone();
        graphs.iter().find_map(|graph| {
            let inner = graph.inner.lock();
            let own = inner.thread == caller.thread(&graph.shared);
            let forbids = match (caller.capture_mode(), inner.mode) {
                (CaptureMode::Relaxed, _) | (_, CaptureMode::Relaxed) => false,
                (CaptureMode::Global, CaptureMode::Global) => true,
                (CaptureMode::Global, CaptureMode::ThreadLocal) => own,
                (CaptureMode::ThreadLocal, CaptureMode::Global | CaptureMode::ThreadLocal) => own,
            };
            forbids.then(|| {
                inner
                    .captured_streams
                    .first()
                    .map_or(0, |captured_stream| captured_stream.number)
            })
        })
    }

    /// Drops every capture that is under way: their context goes away.
    pub(crate) fn discard_all(&self, by: &'static str) {
        let graphs = self.list.lock().clone();
        for graph in graphs {
            graph.discard(by);
        }
    }
}

impl Graph {
    fn create(
        context: &Context,
        origin: Origin,
        phase: Phase,
        mode: CaptureMode,
        thread: u64,
    ) -> Result<Arc<Graph>> {
        let shared = context.shared();
        let number = shared.graph_numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let graph = shared.graphs.insert(|id| {
            Arc::new(Graph {
                id,
                number,
                origin,
                context_id: context.id(),
                device: context.device().number(),
                shared: shared.clone(),
                failure: context.failure.clone(),
                captures: context.captures.clone(),
                inner: Mutex::new(Inner {
                    phase,
                    name: String::new(),
                    mode,
                    capture: 0,
                    thread,
                    invalid: None,
                    captured_streams: Vec::new(),
                    nodes: Vec::new(),
                    open_group: None,
                    ended: false,
                    conditions: Vec::new(),
                    branches: Vec::new(),
                    task_groups: Vec::new(),
                    task_handles: Vec::new(),
                    to_disable: Vec::new(),
                    adopted: Vec::new(),
                    to_change: Vec::new(),
                    stand_ins: Vec::new(),
                    plan: None,
                    checked: 0,
                }),
                runs: Mutex::default(),
                farewells: Mutex::default(),
            })
        })?;
        // A teardown that began meanwhile may have missed the graph when it dropped those of the context.
        if let Err(error) = context.alive() {
            drop(shared.graphs.remove(graph.id, "the end of its context"));
            return Err(error);
        }
        Ok(graph)
    }

    /// Returns the graph's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the graph's number, unique in the runtime.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the handle of the graph's context.
    pub fn context_id(&self) -> u64 {
        self.context_id
    }

    /// Returns the origin of the graph.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns whether streams are being captured into it.
    pub fn is_capturing(&self) -> bool {
        self.inner.lock().phase == Phase::Capturing
    }

    /// Sets the graph's name.
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.inner.lock().name);
    }

    /// Returns the graph's name; empty until it got one.
    pub fn name(&self) -> String {
        self.inner.lock().name.clone()
    }

    fn still_capturing(&self) -> Error {
        Error::new(
            ErrorKind::CaptureOpen,
            format!("model {} is still being captured", self.number),
        )
    }

    fn not_built(&self, what: &str) -> Error {
        Error::new(
            ErrorKind::InvalidValue,
            format!(
                "model {} was captured, and {what} is for models that are built from bound streams",
                self.number
            ),
        )
    }

    /// Returns whether an execution is queued or running.
    pub fn is_running(&self) -> bool {
        self.runs
            .lock()
            .last
            .as_ref()
            .is_some_and(|last| !last.done.is_set())
    }

    /// Names a function to be called when the graph was destroyed.
    ///
    /// # Errors
    /// `InvalidValue`: the function is named already.
    pub fn on_destroy(&self, key: usize, function: crate::HostFunction) -> Result<()> {
        let mut farewells = self.farewells.lock();
        if farewells.iter().any(|farewell| farewell.key == key) {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the function at {key:#x} is registered for model {} already",
                    self.number
                ),
            ));
        }
        farewells.push(Farewell { key, function });
        Ok(())
    }

    /// Takes a function of [`Graph::on_destroy`] away.
    ///
    /// # Errors
    /// `InvalidValue`: the function is not named.
    pub fn forget_on_destroy(&self, key: usize) -> Result<()> {
        let mut farewells = self.farewells.lock();
        let Some(index) = farewells.iter().position(|farewell| farewell.key == key) else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the function at {key:#x} is not registered for model {}",
                    self.number
                ),
            ));
        };
        farewells.remove(index);
        Ok(())
    }

    /// Destroys the graph, after its executions; waits for them ten seconds at most.
    ///
    /// # Errors
    /// `CaptureOpen`: it is still being captured; `GraphRunning`: an execution did not end in time; `InvalidHandle`: it was
    /// destroyed already; `InvalidValue`: it is a branch, which goes with its graph.
    pub fn destroy(self: &Arc<Self>, caller: &Caller<'_>) -> Result<()> {
        if self.inner.lock().phase == Phase::Capturing {
            return Err(self.still_capturing());
        }
        if self.origin == Origin::Branch {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "model {} is a branch of a condition; it is destroyed together with the model that contains the condition",
                    self.number
                ),
            ));
        }
        let last = self
            .runs
            .lock()
            .last
            .as_ref()
            .map(|last| (last.queue.clone(), last.done.clone()));
        if let Some((queue, done)) = last
            && !done.is_set()
            && !queue.wait_signal(&done, Some(Instant::now() + DESTROY_GRACE))
        {
            return Err(Error::new(
                ErrorKind::GraphRunning,
                format!(
                    "model {} is still being executed after {} s",
                    self.number,
                    DESTROY_GRACE.as_secs()
                ),
            ));
        }
        self.shared.graphs.remove(self.id, caller.call.name)?;
        self.dismantle(caller.call.name);
        let farewells = std::mem::take(&mut *self.farewells.lock());
        for farewell in farewells {
            (farewell.function)();
        }
        Ok(())
    }

    /// Drops the graph whatever it is up to: its context goes away, or its capture failed.
    pub(crate) fn discard(self: &Arc<Self>, by: &'static str) {
        if self.origin == Origin::Branch {
            // A branch keeps its handle as long as the graph that it belongs to; it is empty again.
            self.release_streams();
            let mut inner = self.inner.lock();
            (inner.phase, inner.invalid, inner.open_group) = (Phase::Open, None, None);
            let gone = (
                std::mem::take(&mut inner.nodes),
                std::mem::take(&mut inner.captured_streams),
            );
            drop(inner);
            self.captures.leave(self);
            drop(gone);
            return;
        }
        drop(self.shared.graphs.remove(self.id, by));
        self.dismantle(by);
    }

    /// Lets go of everything that the graph holds.
    fn dismantle(self: &Arc<Self>, by: &'static str) {
        self.captures.leave(self);
        self.release_streams();
        let gone = {
            let mut inner = self.inner.lock();
            inner.phase = Phase::Gone;
            inner.plan = None;
            inner.to_disable.clear();
            (
                std::mem::take(&mut inner.nodes),
                std::mem::take(&mut inner.captured_streams),
                std::mem::take(&mut inner.branches),
                std::mem::take(&mut inner.conditions),
                std::mem::take(&mut inner.task_groups),
                std::mem::take(&mut inner.task_handles),
                std::mem::take(&mut inner.stand_ins),
                inner.open_group.take(),
                std::mem::take(&mut inner.to_change),
                std::mem::take(&mut inner.adopted),
            )
        };
        let (
            _nodes,
            _captured_streams,
            branches,
            conditions,
            groups,
            tasks,
            stand_ins,
            _open,
            _changes,
            adopted,
        ) = gone;
        for (pool, address) in adopted {
            self.shared.give_back_adopted(&pool, address);
        }
        for branch in branches {
            drop(self.shared.graphs.remove(branch.id, by));
            branch.dismantle(by);
        }
        for condition in conditions {
            condition.discard(&self.shared, by);
        }
        for group in groups {
            drop(self.shared.task_groups.remove(group, by));
        }
        for task in tasks {
            drop(self.shared.graph_tasks.remove(task, by));
        }
        for stand_in in stand_ins {
            drop(self.shared.streams.remove(stand_in.id(), by));
        }
        let runs = std::mem::take(&mut *self.runs.lock());
        for (queue, _) in &runs.queues {
            queue.discard();
        }
    }

    /// Ends the recording of every stream.
    fn release_streams(&self) {
        let streams: Vec<_> = {
            let mut inner = self.inner.lock();
            inner
                .captured_streams
                .iter_mut()
                .filter_map(|captured_stream| captured_stream.attached.take())
                .collect()
        };
        for stream in streams {
            stream.detach();
        }
    }
}
