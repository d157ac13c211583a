//! Execution of a graph that is one array: the common case.
//!
//! The plan is made once. It holds the graph's tasks without what exists for order alone, cut where the queue has to
//! wait. An execution is one queue entry for each piece and one for each wait; the last piece to go away, run or
//! dropped, sets the signal that the next execution on another stream waits for, as one graph never runs twice at once.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::Ordering;
use jumar_hal::{Cost, MemOp, Program, Signal, Task, WaitThen};
use jumar_types::{Error, ErrorKind, Result};

use super::control::Control;
use super::group::Slot;
use super::{Action, Graph, Inner, LastRun, Node, Phase, Recorder, TaskKind, drivers};
use crate::gate::{Op, Phase as Progress, WaitEnd};
use crate::memory::Lookups;
use crate::runtime::SharedRuntime;
use crate::{Caller, Event, Stream};

/// What an execution does.
pub(super) enum Plan {
    /// One array, run by the stream's own queue.
    Straight(Arc<Straight>),
    /// Sequences with drivers.
    CapturedStreams(Arc<drivers::CapturedStreamPlan>),
}

/// The tasks of a graph in one order.
pub(super) struct Straight {
    steps: Box<[Step]>,
    /// The copies and fills among the steps once more, side by side: nothing but what the backend needs passes through the
    /// caches, and a stretch of them is one call of it.
    moves: Box<[MemOp]>,
    replay_steps: Box<[ReplayStep]>,
    /// The node of each step, for probes and errors.
    nodes: Box<[Source]>,
    pieces: Box<[Piece]>,
    outside: BoundaryEvents,
    /// Records and waits that order the steps with the outside, each with the number of steps before it.
    edges: Box<[(usize, Edge)]>,
}

/// A record of an event, or a wait for one, that orders a graph with what is outside of it.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    event: u64,
    pub(super) records: bool,
}

impl Edge {
    /// Shows the edge to the probes.
    ///
    /// # Errors
    /// What a probe refuses it with.
    pub(super) fn admit(
        self,
        shared: &SharedRuntime,
        device: u32,
        stream: &Stream,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let Edge { event, records } = self;
        let op = || Op::Edge { event, records };
        shared
            .gate
            .admit(caller, device, Some(stream.number()), op)
            .map(drop)
    }
}

/// Events that order executions with the outside, resolved when one is queued.
#[derive(Default)]
pub(super) struct BoundaryEvents {
    pub(super) set: Vec<Arc<Event>>,
    pub(super) waited: Vec<Arc<Event>>,
}

/// The signals of one execution, beside [`BoundaryEvents`].
pub(super) struct ResolvedSignals {
    pub(super) set: Box<[Arc<Signal>]>,
    pub(super) waited: Box<[Option<Arc<Signal>>]>,
}

/// One thing to do, without a look at anything else.
pub(super) enum Step {
    Run(Arc<dyn Program>),
    MemOp(MemOp),
    Set(Arc<Signal>),
    Clear(Arc<Signal>),
    /// Sets the signal with this number of [`ResolvedSignals::set`].
    SetOutside(u32),
    Slot(Arc<Slot>),
}

/// What is done without a look in between: the copies and fills that follow each other, or one other step.
enum ReplayStep {
    /// These of [`Straight::moves`].
    Moves(Range<usize>),
    /// This of [`Straight::steps`].
    Step(usize),
}

enum Piece {
    Block {
        steps: Range<usize>,
        replay_steps: Range<usize>,
        cost: Cost,
    },
    Wait {
        on: WaitOn,
        then: WaitThen,
        limit: Option<Duration>,
    },
}

/// What a wait of a graph is for.
#[derive(Clone)]
pub(super) enum WaitOn {
    Signal(Arc<Signal>),
    /// The signal with this number of [`ResolvedSignals::waited`].
    BoundaryEvents(u32),
    /// A value in memory.
    Value(Arc<dyn jumar_hal::Condition>),
}

impl WaitOn {
    /// Makes the queue's wait; none for an event that was never recorded.
    pub(super) fn task(
        &self,
        resolved: &ResolvedSignals,
        then: WaitThen,
        limit: Option<Duration>,
    ) -> Option<Task> {
        let signal = match self {
            WaitOn::Signal(signal) => signal.clone(),
            WaitOn::BoundaryEvents(index) => resolved.waited[*index as usize].clone()?,
            WaitOn::Value(condition) => {
                return Some(Task::Until {
                    condition: condition.clone(),
                    limit,
                });
            }
        };
        Some(Task::Wait {
            signal,
            then,
            limit,
        })
    }
}

/// Where a step comes from.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) node: u32,
    pub(super) stream: u32,
    pub(super) call: &'static jumar_hal::Call,
    pub(super) owned_op: Option<Arc<super::OwnedOp>>,
}

/// What a node turns into.
pub(super) enum PreparedNode {
    Nothing,
    Step(Step),
    Wait {
        on: WaitOn,
        then: WaitThen,
        limit: Option<Duration>,
    },
}

impl BoundaryEvents {
    /// Resolves every event for one execution, as records and waits that are queued now.
    pub(super) fn resolve(&self, stream: &Stream) -> ResolvedSignals {
        ResolvedSignals {
            waited: self
                .waited
                .iter()
                .map(|event| event.newest_record())
                .collect(),
            set: self
                .set
                .iter()
                .map(|event| event.move_record(stream))
                .collect(),
        }
    }

    fn set(&mut self, event: &Arc<Event>) -> u32 {
        self.set.push(event.clone());
        self.set.len() as u32 - 1
    }

    fn waited(&mut self, event: &Arc<Event>) -> u32 {
        self.waited.push(event.clone());
        self.waited.len() as u32 - 1
    }
}

impl Node {
    /// Turns the node into what an execution does for it; marks, joins and control nodes are handled by the caller.
    pub(super) fn make(&self, outside: &mut BoundaryEvents) -> PreparedNode {
        if self.disabled {
            return PreparedNode::Nothing;
        }
        match &self.action {
            Action::Mark | Action::Join(_) | Action::Control(_) => PreparedNode::Nothing,
            Action::Slot(slot) => PreparedNode::Step(Step::Slot(slot.clone())),
            Action::ExternalSet(event) => PreparedNode::Step(Step::SetOutside(outside.set(event))),
            Action::ExternalWait(event) => PreparedNode::Wait {
                on: WaitOn::BoundaryEvents(outside.waited(event)),
                then: WaitThen::Keep,
                limit: None,
            },
            Action::Task(task) => match task {
                Task::Copy(copy) => PreparedNode::Step(Step::MemOp(MemOp::Copy(*copy))),
                Task::Fill { to, value } => PreparedNode::Step(Step::MemOp(MemOp::Fill {
                    to: *to,
                    value: *value,
                })),
                Task::Set(signal) => PreparedNode::Step(Step::Set(signal.clone())),
                Task::Clear(signal) => PreparedNode::Step(Step::Clear(signal.clone())),
                Task::Run(program) => PreparedNode::Step(Step::Run(program.clone())),
                Task::Join(joint) => unreachable!("{} was recorded in parts", joint.name()),
                Task::Until { condition, limit } => PreparedNode::Wait {
                    on: WaitOn::Value(condition.clone()),
                    then: WaitThen::Keep,
                    limit: *limit,
                },
                Task::Wait {
                    signal,
                    then,
                    limit,
                } => PreparedNode::Wait {
                    on: WaitOn::Signal(signal.clone()),
                    then: *then,
                    limit: *limit,
                },
            },
        }
    }

    /// Returns how the node orders the graph with the outside, if it does.
    pub(super) fn edge(&self) -> Option<Edge> {
        let records = match (&self.action, self.kind) {
            _ if self.disabled => return None,
            (Action::ExternalSet(_), _) | (Action::Task(_), TaskKind::Record) => true,
            (Action::ExternalWait(_), _) | (Action::Task(_), TaskKind::Wait) => false,
            _ => return None,
        };
        let event = self.event?.number;
        Some(Edge { event, records })
    }

    /// Returns an error where the node's program cannot run any more.
    fn check(&self) -> Result<()> {
        match &self.action {
            Action::Task(Task::Run(program)) => program.check(),
            Action::Slot(slot) => slot.program().check(),
            _ => Ok(()),
        }
    }

    fn waits(&self) -> bool {
        !self.disabled
            && matches!(
                self.action,
                Action::ExternalWait(_) | Action::Task(Task::Wait { .. } | Task::Until { .. })
            )
    }

    pub(super) fn source(&self, node: u32, inner: &Inner) -> Source {
        Source {
            node,
            stream: inner.captured_streams[self.captured_stream as usize].number,
            call: self.call,
            owned_op: self.owned_op.clone().map(Arc::new),
        }
    }
}

impl Step {
    fn cost(&self) -> Cost {
        let by_bytes = |bytes| match bytes {
            0..=Task::BOUNDED_BYTES => Cost::Bounded,
            Task::LARGE_BYTES.. => Cost::Large,
            _ => Cost::Unbounded,
        };
        match self {
            Step::Run(program) => program.cost(),
            Step::MemOp(MemOp::Copy(copy)) => by_bytes(copy.bytes()),
            Step::MemOp(MemOp::Fill { to, .. }) => by_bytes(to.bytes()),
            Step::Set(_) | Step::Clear(_) | Step::SetOutside(_) => Cost::Bounded,
            Step::Slot(_) => Cost::Unbounded,
        }
    }

    /// Does the step.
    #[inline]
    pub(super) fn run(&self, shared: &SharedRuntime, resolved: &ResolvedSignals) -> Result<()> {
        match self {
            Step::Run(program) => return program.run(),
            Step::MemOp(step) => shared.backend.move_now(std::slice::from_ref(step)),
            Step::Set(signal) => signal.set(),
            Step::Clear(signal) => signal.clear(),
            Step::SetOutside(index) => resolved.set[*index as usize].set(),
            Step::Slot(slot) => return slot.program().run(),
        }
        Ok(())
    }
}

/// Up to this many bounded steps a piece is bounded itself.
const FEW_STEPS: usize = 16;

fn cost_of(steps: &[Step]) -> Cost {
    let most = steps.iter().map(Step::cost).max().unwrap_or(Cost::Bounded);
    match most {
        Cost::Bounded if steps.len() > FEW_STEPS => Cost::Unbounded,
        other => other,
    }
}

impl Plan {
    /// Makes the plan of a graph.
    pub(super) fn new(inner: &Inner) -> Plan {
        let controls = inner
            .nodes
            .iter()
            .any(|node| !node.disabled && matches!(&node.action, Action::Control(control) if !matches!(control, Control::End)));
        let used = inner
            .captured_streams
            .iter()
            .filter(|captured_stream| !captured_stream.nodes.is_empty());
        let dormant = inner
            .captured_streams
            .iter()
            .any(|captured_stream| !captured_stream.head && !captured_stream.nodes.is_empty());
        let waits = inner.nodes.iter().any(Node::waits);
        if controls || dormant || (waits && used.count() > 1) {
            Plan::CapturedStreams(Arc::new(drivers::CapturedStreamPlan::new(inner)))
        } else {
            Plan::Straight(Arc::new(Straight::new(inner)))
        }
    }
}

impl Straight {
    fn new(inner: &Inner) -> Straight {
        let (mut steps, mut nodes) = (Vec::with_capacity(inner.nodes.len()), Vec::new());
        let (mut pieces, mut outside) = (Vec::new(), BoundaryEvents::default());
        let (mut moves, mut replay_steps) = (Vec::new(), Vec::new());
        let (mut first, mut first_replay_step) = (0, 0);
        let mut edges = Vec::new();
        for (number, node) in inner.nodes.iter().enumerate() {
            edges.extend(node.edge().map(|edge| (steps.len(), edge)));
            match node.make(&mut outside) {
                PreparedNode::Nothing => {}
                PreparedNode::Step(step) => {
                    match (&step, replay_steps[first_replay_step..].last_mut()) {
                        (Step::MemOp(next), Some(ReplayStep::Moves(range))) => {
                            moves.push(*next);
                            range.end = moves.len();
                        }
                        (Step::MemOp(next), _) => {
                            moves.push(*next);
                            replay_steps.push(ReplayStep::Moves(moves.len() - 1..moves.len()));
                        }
                        _ => replay_steps.push(ReplayStep::Step(steps.len())),
                    }
                    steps.push(step);
                    nodes.push(node.source(number as u32, inner));
                }
                PreparedNode::Wait { on, then, limit } => {
                    if first < steps.len() {
                        pieces.push(Piece::Block {
                            cost: cost_of(&steps[first..]),
                            steps: first..steps.len(),
                            replay_steps: first_replay_step..replay_steps.len(),
                        });
                    }
                    pieces.push(Piece::Wait { on, then, limit });
                    (first, first_replay_step) = (steps.len(), replay_steps.len());
                }
            }
        }
        // The last piece is always a block: its end is the end of the execution.
        pieces.push(Piece::Block {
            cost: cost_of(&steps[first..]),
            steps: first..steps.len(),
            replay_steps: first_replay_step..replay_steps.len(),
        });
        Straight {
            steps: steps.into(),
            moves: moves.into(),
            replay_steps: replay_steps.into(),
            nodes: nodes.into(),
            pieces: pieces.into(),
            outside,
            edges: edges.into(),
        }
    }
}

/// One execution of a [`Straight`]; its end sets the signal.
struct Execution {
    graph: u32,
    plan: Arc<Straight>,
    shared: Arc<SharedRuntime>,
    failure: Arc<crate::context::Failure>,
    resolved: ResolvedSignals,
    /// The tickets of the steps, while there are probes.
    tickets: Box<[u64]>,
    done: Arc<Signal>,
}

impl Drop for Execution {
    fn drop(&mut self) {
        // A step that is dropped without having run releases its waiters, as a dropped queue entry does.
        for signal in &self.resolved.set {
            if !signal.is_set() {
                signal.set();
            }
        }
        self.done.set();
    }
}

/// A part of an execution that needs no wait.
struct Block {
    execution: Arc<Execution>,
    steps: Range<usize>,
    replay_steps: Range<usize>,
    cost: Cost,
}

impl Program for Block {
    fn run(&self) -> Result<()> {
        let execution = &*self.execution;
        let (plan, shared) = (&*execution.plan, &*execution.shared);
        let mut result = Ok(());
        if !execution.tickets.is_empty() {
            return execution.run_observed(self.steps.clone());
        }
        for replay_step in &plan.replay_steps[self.replay_steps.clone()] {
            let index = match replay_step {
                ReplayStep::Moves(moves) => {
                    shared.backend.move_now(&plan.moves[moves.clone()]);
                    continue;
                }
                ReplayStep::Step(index) => *index,
            };
            if let Err(error) = plan.steps[index].run(shared, &execution.resolved) {
                result = Err(execution.failed(index, error));
                if execution.failure.stops.load(Ordering::Acquire) {
                    break;
                }
            }
        }
        result
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn name(&self) -> &str {
        "captured model"
    }
}

impl Execution {
    #[cold]
    fn failed(&self, step: usize, error: Error) -> Error {
        self.plan.nodes[step].failed(self.graph, error)
    }

    /// Runs steps and reports each.
    #[cold]
    fn run_observed(&self, steps: Range<usize>) -> Result<()> {
        let mut result = Ok(());
        for index in steps {
            let (gate, ticket) = (&self.shared.gate, self.tickets[index]);
            gate.report(ticket, Progress::Started);
            match self.plan.steps[index].run(&self.shared, &self.resolved) {
                Ok(()) => gate.report(ticket, Progress::Finished),
                Err(error) => {
                    let error = self.failed(index, error);
                    gate.report(ticket, Progress::Failed(error.clone()));
                    result = Err(error);
                    if self.failure.stops.load(Ordering::Acquire) {
                        break;
                    }
                }
            }
        }
        result
    }
}

impl Source {
    /// Ties an error to the captured call that it came from.
    pub(super) fn failed(&self, graph: u32, error: Error) -> Error {
        Error::new(
            error.kind(),
            format!(
                "task {} of model {graph}, captured from {} on stream {}, failed: {error}",
                self.node, self.call.name, self.stream
            ),
        )
        .operation(self.call.name)
    }
}

impl Graph {
    /// Queues an execution on a stream. Executions of one graph run one after the other, whichever streams they are on.
    ///
    /// # Errors
    /// `CaptureOpen`: it is still being captured; `GraphNotReady`: it is not built yet, or a branch is empty; `StreamCaptured`:
    /// the stream is being captured; `InvalidValue`: the stream is bound to a model, or memory that the graph works on is
    /// gone; what the gate or a stopped context answers.
    pub fn execute(self: &Arc<Self>, stream: &Arc<Stream>, caller: &Caller<'_>) -> Result<()> {
        match stream.recorder() {
            Some(Recorder::CapturedStream { graph, .. })
                if graph.origin == super::Origin::Built =>
            {
                return Err(Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "stream {} is bound to model {}; such a stream cannot execute models",
                        stream.number(),
                        graph.number
                    ),
                ));
            }
            Some(other) => return Err(other.in_the_way(stream)),
            None => {}
        }
        let plan = self.ready(caller)?;
        let mut runs = self.runs.lock();
        if let Some(last) = &runs.last
            && last.stream != stream.id()
            && !last.done.is_set()
        {
            stream.queue_part(caller, Task::until_set(last.done.clone()));
            // The order is there, and no event has it.
            let unknown = || Op::Wait {
                event: u64::MAX,
                record: 0,
                ends: WaitEnd::Unknown,
            };
            let gate = &self.shared.gate;
            let ticket = gate.admit(caller, self.device, Some(stream.number()), unknown)?;
            gate.report(ticket, Progress::Started);
            gate.report(ticket, Progress::Finished);
        }
        let done = Arc::new(Signal::untimed());
        let running = match &*plan {
            Plan::Straight(straight) => {
                self.queue_straight(straight, stream, done.clone(), caller)?;
                std::sync::Weak::new()
            }
            Plan::CapturedStreams(captured_streams) => self.queue_captured_streams(
                &mut runs.queues,
                captured_streams,
                stream,
                done.clone(),
                caller,
            )?,
        };
        runs.last = Some(LastRun {
            stream: stream.id(),
            queue: stream.queue().clone(),
            done,
            running,
        });
        Ok(())
    }

    /// Returns the plan of a graph that can be executed, after a look at its memory.
    fn ready(&self, caller: &Caller<'_>) -> Result<Arc<Plan>> {
        let mut inner = self.inner.lock();
        match inner.phase {
            Phase::Ready => {}
            Phase::Capturing => return Err(self.still_capturing()),
            Phase::Open => {
                return Err(Error::new(
                    ErrorKind::GraphNotReady,
                    format!("model {} is not finished", self.number),
                ));
            }
            Phase::Gone => return Err(self.destroyed()),
        }
        for branch in &inner.branches {
            branch.check_branch()?;
        }
        if self.origin == super::Origin::Built && !inner.ended {
            return Err(Error::new(
                ErrorKind::GraphNotReady,
                format!("the end of model {} was not marked", self.number),
            ));
        }
        let removals = self.shared.space.removals();
        if inner.checked != removals {
            self.check_memory(&inner, caller.lookups)?;
            inner.checked = removals;
        }
        if let Some(plan) = &inner.plan {
            return Ok(plan.clone());
        }
        let plan = Arc::new(Plan::new(&inner));
        inner.plan = Some(plan.clone());
        Ok(plan)
    }

    /// Refuses a branch, with those in it, that is still being captured.
    pub(super) fn check_branch(&self) -> Result<()> {
        let inner = self.inner.lock();
        if inner.phase == Phase::Capturing {
            return Err(Error::new(
                ErrorKind::BranchOpen,
                format!(
                    "model {}, a branch of a condition, is still being captured",
                    self.number
                ),
            ));
        }
        for branch in &inner.branches {
            branch.check_branch()?;
        }
        Ok(())
    }

    /// Finds tasks of the graph whose program or memory was released.
    fn check_memory(&self, inner: &Inner, lookups: &Lookups) -> Result<()> {
        for (number, node) in inner.nodes.iter().enumerate() {
            let (Some(owned_op), false) = (&node.owned_op, node.disabled) else {
                continue;
            };
            // Before its memory: addresses that were released may belong to other allocations by now.
            node.check().map_err(|cause| {
                Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "task {number} of model {} ({}, captured from {}) cannot run any more",
                        self.number,
                        owned_op.name(),
                        node.call.name
                    ),
                )
                .caused_by(cause)
            })?;
            let spans = owned_op.reads().iter().chain(owned_op.writes());
            for &span in spans.filter(|span| !span.is_empty()) {
                let live = self.shared.space.resolve(span, lookups, "range");
                live.map_err(|cause| {
                    Error::new(
                        ErrorKind::InvalidValue,
                        format!(
                            "memory that task {number} of model {} works on ({}, captured from {}) is no longer there: {cause}",
                            self.number,
                            owned_op.name(),
                            node.call.name
                        ),
                    )
                    .fix("Keep the memory of captured tasks allocated as long as the model is executed.")
                })?;
            }
        }
        Ok(())
    }

    fn queue_straight(
        &self,
        plan: &Arc<Straight>,
        stream: &Stream,
        done: Arc<Signal>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let tickets = self.admit_steps(plan, stream, caller)?;
        let execution = Arc::new(Execution {
            graph: self.number,
            plan: plan.clone(),
            shared: self.shared.clone(),
            failure: self.failure.clone(),
            resolved: plan.outside.resolve(stream),
            tickets,
            done,
        });
        let mut first = true;
        for piece in &plan.pieces {
            let task = match piece {
                Piece::Block {
                    steps,
                    replay_steps,
                    cost,
                } => Task::Run(Arc::new(Block {
                    execution: execution.clone(),
                    steps: steps.clone(),
                    replay_steps: replay_steps.clone(),
                    cost: *cost,
                })),
                Piece::Wait { on, then, limit } => {
                    match on.task(&execution.resolved, *then, *limit) {
                        Some(wait) => wait,
                        // Never recorded: passes.
                        None => continue,
                    }
                }
            };
            // Never recorded, though another thread may begin a capture of the stream now: an execution is queued as a whole.
            if std::mem::take(&mut first) {
                let op = || Op::Launch {
                    name: "captured model",
                    reads: &[],
                    writes: &[],
                };
                stream
                    .queue_with(caller, task, [], op)
                    .inspect_err(|error| self.never_run(&execution.tickets, error))?;
            } else {
                stream.queue_part(caller, task);
            }
        }
        Ok(())
    }

    /// Reports the steps of an execution to probes.
    fn admit_steps(
        &self,
        plan: &Straight,
        stream: &Stream,
        caller: &Caller<'_>,
    ) -> Result<Box<[u64]>> {
        if !self.shared.gate.is_observed() {
            return Ok(Box::default());
        }
        let mut tickets = Vec::with_capacity(plan.nodes.len());
        let mut edges = plan.edges.iter().peekable();
        for (number, source) in plan.nodes.iter().enumerate() {
            while let Some((_, edge)) = edges.next_if(|(before, _)| *before <= number) {
                let shown = edge.admit(&self.shared, self.device, stream, caller);
                shown.inspect_err(|error| self.never_run(&tickets, error))?;
            }
            let Some(owned_op) = &source.owned_op else {
                tickets.push(0);
                continue;
            };
            let from = Caller {
                call: source.call,
                ..*caller
            };
            let gate = &self.shared.gate;
            let admitted = gate.admit(&from, self.device, Some(stream.number()), || owned_op.op());
            tickets.push(admitted.inspect_err(|error| self.never_run(&tickets, error))?);
        }
        for (_, edge) in edges {
            let shown = edge.admit(&self.shared, self.device, stream, caller);
            shown.inspect_err(|error| self.never_run(&tickets, error))?;
        }
        Ok(tickets.into())
    }

    /// Reports the steps of an execution that is refused.
    fn never_run(&self, tickets: &[u64], because: &Error) {
        for &ticket in tickets {
            let phase = Progress::Failed(because.clone());
            self.shared.gate.report(ticket, phase);
        }
    }
}
