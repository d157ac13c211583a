//! Execution of a graph whose streams cannot be merged into one array: concurrent waits, jumps, activation, conditions.
//!
//! The nodes of each stream are a sequence. Each sequence has a queue of the graph and a driver that runs its nodes in order. If a sequence
//! has to wait, the driver queues the wait and itself behind it and releases the worker. The stream of the execution
//! holds three entries: the start, a wait for the signal that the last sequence sets at its end, and an end that
//! reports the error of a task, if there was one.
//!
//! States of a sequence: idle, or live from its start (with the graph, by activation, or by a jump) until its end. `live`
//! counts them; the thread that decrements it to 0 sets the signal. A driver that is dropped without having run ends its sequence.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicU32, Mutex, Ordering};
use jumar_hal::{
    Call, Cost, Program, Queue, QueueConfig, QueueObserver, Signal, Span, Tag, Task, Verdict,
    WaitThen,
};
use jumar_types::{Error, ErrorKind, Result};

use super::control::{Comparison, Condition, ConditionKind, Control, Label, Width};
use super::run::{BoundaryEvents, Edge, PreparedNode, ResolvedSignals, Source, Step, WaitOn};
use super::{Action, Graph, Inner};
use crate::context::Failure;
use crate::gate::{Op, Phase as Progress};
use crate::memory::Lookups;
use crate::runtime::SharedRuntime;
use crate::{Caller, Stream};

/// The sequences of a graph.
pub(super) struct CapturedStreamPlan {
    captured_streams: Box<[Arc<Code>]>,
    heads: Box<[bool]>,
    /// The sequence of each stream.
    streams: HashMap<u64, u32>,
    /// The sequence and position after each label.
    labels: HashMap<u64, (u32, usize)>,
    marks: usize,
    outside: BoundaryEvents,
    conditions: Box<[Arc<Condition>]>,
}

/// The nodes of a sequence, or of a branch.
struct Code {
    instructions: Box<[Instruction]>,
    sources: Box<[Source]>,
}

enum Instruction {
    Step(Step),
    Wait {
        on: WaitOn,
        then: WaitThen,
        limit: Option<Duration>,
    },
    Mark(u32),
    Join(u32),
    Jump {
        index: Span,
        most: u32,
        labels: Arc<[Arc<Label>]>,
    },
    Activate(u64),
    Compare {
        left: Span,
        right: Span,
        how: Comparison,
        width: Width,
        target: u64,
    },
    Choose {
        condition: Arc<Condition>,
        kind: ConditionKind,
        branches: Box<[Arc<Graph>]>,
    },
}

/// One execution.
pub(super) struct Running {
    graph: u32,
    shared: Arc<SharedRuntime>,
    failure: Arc<Failure>,
    plan: Arc<CapturedStreamPlan>,
    resolved: ResolvedSignals,
    marks: Box<[Arc<Signal>]>,
    captured_streams: Box<[Mutex<CapturedStreamState>]>,
    queues: Box<[Arc<dyn Queue>]>,
    live: AtomicU32,
    done: Arc<Signal>,
    error: Mutex<Option<Error>>,
    aborted: AtomicBool,
}

#[derive(Default)]
struct CapturedStreamState {
    live: bool,
    frames: Vec<Frame>,
}

/// The position of a sequence, in itself or in a branch.
struct Frame {
    code: Arc<Code>,
    next: usize,
    /// The condition and branch of a loop.
    again: Option<(Arc<Condition>, Arc<Graph>)>,
}

/// The receiver of failures of a sequence's queue: expired waits.
#[derive(Default)]
pub(super) struct CapturedStreamObserver {
    running: Mutex<Weak<Running>>,
}

impl QueueObserver for CapturedStreamObserver {
    fn started(&self, _tag: Tag) {}

    fn finished(&self, _tag: Tag) {}

    fn failed(&self, _tag: Tag, error: Error) -> Verdict {
        let running = self.running.lock().upgrade();
        if let Some(running) = running {
            running.keep(error);
        }
        Verdict::Continue
    }
}

impl CapturedStreamPlan {
    pub(super) fn new(inner: &Inner) -> CapturedStreamPlan {
        let mut outside = BoundaryEvents::default();
        let mut marks = HashMap::new();
        for (number, node) in inner.nodes.iter().enumerate() {
            if matches!(node.action, Action::Mark) {
                let mark = marks.len() as u32;
                marks.insert(number as u32, mark);
            }
        }
        let (mut labels, mut streams) = (HashMap::new(), HashMap::new());
        let mut captured_streams = Vec::new();
        for (number, captured_stream) in inner.captured_streams.iter().enumerate() {
            streams.insert(captured_stream.stream, number as u32);
            let code = Code::new(
                inner,
                &captured_stream.nodes,
                &mut outside,
                Some(&marks),
                |label, position| {
                    labels.insert(label.id(), (number as u32, position));
                },
            );
            captured_streams.push(Arc::new(code));
        }
        CapturedStreamPlan {
            captured_streams: captured_streams.into(),
            heads: inner
                .captured_streams
                .iter()
                .map(|captured_stream| captured_stream.head)
                .collect(),
            streams,
            labels,
            marks: marks.len(),
            outside,
            conditions: inner.conditions.clone().into(),
        }
    }
}

impl Code {
    /// Makes the code of some nodes in order. Without `marks` the order alone stands for marks and joins.
    fn new(
        inner: &Inner,
        nodes: &[u32],
        outside: &mut BoundaryEvents,
        marks: Option<&HashMap<u32, u32>>,
        mut label: impl FnMut(&Arc<Label>, usize),
    ) -> Code {
        let (mut instructions, mut sources) = (Vec::new(), Vec::new());
        for &number in nodes {
            let node = &inner.nodes[number as usize];
            let instruction = match (&node.action, marks) {
                (Action::Mark, Some(marks)) => Some(Instruction::Mark(marks[&number])),
                // A wait that is left out no longer orders anything.
                (Action::Join(_), _) if node.disabled => None,
                (Action::Join(mark), Some(marks)) => Some(Instruction::Join(marks[mark])),
                (Action::Mark | Action::Join(_), None) => None,
                (Action::Control(_), _) if node.disabled => None,
                (Action::Control(control), _) => match control {
                    Control::Label(named) => {
                        label(named, instructions.len());
                        None
                    }
                    Control::End => None,
                    Control::Jump {
                        index,
                        most,
                        labels,
                    } => Some(Instruction::Jump {
                        index: *index,
                        most: *most,
                        labels: labels.clone(),
                    }),
                    Control::Activate(target) => Some(Instruction::Activate(*target)),
                    Control::Compare {
                        left,
                        right,
                        how,
                        width,
                        target,
                    } => Some(Instruction::Compare {
                        left: *left,
                        right: *right,
                        how: *how,
                        width: *width,
                        target: *target,
                    }),
                    Control::Choose {
                        condition,
                        kind,
                        branches,
                    } => Some(Instruction::Choose {
                        condition: condition.clone(),
                        kind: *kind,
                        branches: branches.clone(),
                    }),
                },
                (
                    Action::Task(_)
                    | Action::Slot(_)
                    | Action::ExternalSet(_)
                    | Action::ExternalWait(_),
                    _,
                ) => match node.make(outside) {
                    PreparedNode::Nothing => None,
                    PreparedNode::Step(step) => Some(Instruction::Step(step)),
                    PreparedNode::Wait { on, then, limit } => {
                        Some(Instruction::Wait { on, then, limit })
                    }
                },
            };
            if let Some(instruction) = instruction {
                instructions.push(instruction);
                sources.push(node.source(number, inner));
            }
        }
        Code {
            instructions: instructions.into(),
            sources: sources.into(),
        }
    }
}

impl Running {
    fn keep(&self, error: Error) {
        *self.error.lock() = Some(error);
    }

    fn stops(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
            || (self.failure.stops.load(Ordering::Acquire) && self.error.lock().is_some())
    }

    /// Starts a sequence at a position. Returns false if it is live already.
    fn start(self: &Arc<Self>, captured_stream: u32, index: usize) -> bool {
        {
            let mut state = self.captured_streams[captured_stream as usize].lock();
            if std::mem::replace(&mut state.live, true) {
                return false;
            }
            state.frames.push(Frame {
                code: self.plan.captured_streams[captured_stream as usize].clone(),
                next: index,
                again: None,
            });
        }
        self.live.fetch_add(1, Ordering::AcqRel);
        self.drive(captured_stream);
        true
    }

    /// Queues a sequence's driver.
    fn drive(self: &Arc<Self>, captured_stream: u32) {
        let driver = Arc::new(Driver {
            running: self.clone(),
            captured_stream,
            ran: AtomicBool::new(false),
        });
        self.queues[captured_stream as usize].submit(Task::Run(driver), tag());
    }

    fn over(&self, captured_stream: u32) {
        {
            let mut state = self.captured_streams[captured_stream as usize].lock();
            state.live = false;
            state.frames.clear();
        }
        self.leave();
    }

    fn leave(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.set();
        }
    }

    /// Stops the execution: sequences end at their position, and waits are cancelled.
    pub(super) fn abort(&self) {
        self.keep(Error::new(
            ErrorKind::ModelExecute,
            format!("the execution of model {} was aborted", self.graph),
        ));
        self.aborted.store(true, Ordering::Release);
        for queue in &self.queues {
            queue.discard();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for signal in &self.resolved.set {
            if !signal.is_set() {
                signal.set();
            }
        }
        self.done.set();
    }
}

/// The call that a graph's own queue entries stand for.
static DRIVER: Call = Call {
    name: "captured model",
    number: u16::MAX,
};

fn tag() -> Tag {
    Tag {
        ticket: 0,
        call: &DRIVER,
    }
}

/// Starts the sequences.
struct Start {
    running: Arc<Running>,
    observers: Box<[Arc<CapturedStreamObserver>]>,
}

impl Program for Start {
    fn run(&self) -> Result<()> {
        let running = &self.running;
        for observer in &self.observers {
            *observer.running.lock() = Arc::downgrade(running);
        }
        for condition in &running.plan.conditions {
            condition.reset(&running.shared);
        }
        // The start counts as a sequence, so that the execution does not end between two sequences.
        running.live.fetch_add(1, Ordering::AcqRel);
        for (captured_stream, head) in running.plan.heads.iter().enumerate() {
            if *head
                && !running.plan.captured_streams[captured_stream]
                    .instructions
                    .is_empty()
            {
                running.start(captured_stream as u32, 0);
            }
        }
        running.leave();
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "start of a model"
    }
}

/// Reports how the execution went.
struct End {
    running: Arc<Running>,
}

impl Program for End {
    fn run(&self) -> Result<()> {
        match self.running.error.lock().take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "end of a model"
    }
}

/// Runs a sequence from its position.
struct Driver {
    running: Arc<Running>,
    captured_stream: u32,
    ran: AtomicBool,
}

impl Drop for Driver {
    fn drop(&mut self) {
        if !self.ran.load(Ordering::Acquire) {
            self.running.over(self.captured_stream);
        }
    }
}

/// The result of a node for its sequence.
enum Next {
    On,
    /// The sequence waits for a signal first.
    Wait(Task),
    /// The sequence ends.
    End,
}

impl Program for Driver {
    fn run(&self) -> Result<()> {
        self.ran.store(true, Ordering::Release);
        let running = &self.running;
        let mut frames = std::mem::take(
            &mut running.captured_streams[self.captured_stream as usize]
                .lock()
                .frames,
        );
        loop {
            if running.stops() {
                break;
            }
            let Some(frame) = frames.last_mut() else {
                break;
            };
            if frame.next >= frame.code.instructions.len() {
                match &frame.again {
                    Some((condition, _)) if condition.value(&running.shared) != 0 => frame.next = 0,
                    _ => drop(frames.pop()),
                }
                continue;
            }
            let (code, index) = (frame.code.clone(), frame.next);
            frame.next += 1;
            match self.execute(&code, index, &mut frames) {
                Ok(Next::On) => {}
                Ok(Next::End) => break,
                Ok(Next::Wait(wait)) => {
                    running.captured_streams[self.captured_stream as usize]
                        .lock()
                        .frames = frames;
                    running.queues[self.captured_stream as usize].submit(wait, tag());
                    running.drive(self.captured_stream);
                    return Ok(());
                }
                Err(error) => running.keep(code.sources[index].failed(running.graph, error)),
            }
        }
        running.over(self.captured_stream);
        Ok(())
    }

    fn name(&self) -> &str {
        "stream of a model"
    }
}

/// Takes a wait that is over already.
fn passes(wait: &Task) -> bool {
    match wait {
        Task::Wait { signal, then, .. } => match then {
            WaitThen::Keep => signal.is_set(),
            WaitThen::Clear => signal.take(),
        },
        // A wait may change what it waited for, as one for a count that it clears.
        Task::Until { condition, .. } => condition.holds() && condition.pass(),
        Task::Copy(_)
        | Task::Fill { .. }
        | Task::Set(_)
        | Task::Clear(_)
        | Task::Run(_)
        | Task::Join(_) => true,
    }
}

impl Driver {
    fn execute(&self, code: &Code, index: usize, frames: &mut Vec<Frame>) -> Result<Next> {
        let running = &self.running;
        let shared = &running.shared;
        match &code.instructions[index] {
            Instruction::Step(step) => self.step(step, &code.sources[index]).map(|()| Next::On),
            Instruction::Wait { on, then, limit } => {
                Ok(match on.task(&running.resolved, *then, *limit) {
                    Some(task) if !passes(&task) => Next::Wait(task),
                    Some(_) | None => Next::On,
                })
            }
            Instruction::Mark(mark) => {
                running.marks[*mark as usize].set();
                Ok(Next::On)
            }
            Instruction::Join(mark) => {
                let signal = running.marks[*mark as usize].clone();
                Ok(match signal.is_set() {
                    true => Next::On,
                    false => Next::Wait(Task::until_set(signal)),
                })
            }
            Instruction::Jump {
                index,
                most,
                labels,
            } => {
                let index = Width::Four.read(shared, *index) as u32;
                let chosen = index.min(most.saturating_sub(1)) as usize;
                let target = labels
                    .get(chosen)
                    .and_then(|label| running.plan.labels.get(&label.id()).copied());
                let Some((captured_stream, index)) = target else {
                    return Err(Error::new(
                        ErrorKind::ModelExecute,
                        format!(
                            "label {chosen} of the list of {} is not set in the model",
                            labels.len()
                        ),
                    ));
                };
                if captured_stream == self.captured_stream {
                    frames.truncate(1);
                    frames[0].next = index;
                    return Ok(Next::On);
                }
                self.activate(captured_stream, index)?;
                Ok(Next::End)
            }
            Instruction::Activate(target) => {
                self.activate(self.captured_stream_of(*target)?, 0)?;
                Ok(Next::On)
            }
            Instruction::Compare {
                left,
                right,
                how,
                width,
                target,
            } => {
                if !how.holds(width.read(shared, *left), width.read(shared, *right)) {
                    return Ok(Next::On);
                }
                self.activate(self.captured_stream_of(*target)?, 0)?;
                Ok(Next::End)
            }
            Instruction::Choose {
                condition,
                kind,
                branches,
            } => {
                let value = condition.value(shared);
                let chosen = match kind {
                    ConditionKind::If => usize::from(value == 0),
                    ConditionKind::While if value == 0 => return Ok(Next::On),
                    ConditionKind::While => 0,
                    ConditionKind::Switch => usize::try_from(value).unwrap_or(usize::MAX),
                };
                if let Some(branch) = branches.get(chosen) {
                    let again = (*kind == ConditionKind::While)
                        .then(|| (condition.clone(), branch.clone()));
                    frames.push(Frame {
                        code: branch.code(shared)?,
                        next: 0,
                        again,
                    });
                }
                Ok(Next::On)
            }
        }
    }

    fn captured_stream_of(&self, stream: u64) -> Result<u32> {
        self.running
            .plan
            .streams
            .get(&stream)
            .copied()
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::ModelExecute,
                    "the stream to be started is bound to another model",
                )
            })
    }

    fn activate(&self, captured_stream: u32, index: usize) -> Result<()> {
        if self.running.start(captured_stream, index) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::ModelExecute,
            format!(
                "stream {captured_stream} of the model was to be started while it was still running"
            ),
        ))
    }

    fn step(&self, step: &Step, source: &Source) -> Result<()> {
        let running = &self.running;
        let gate = &running.shared.gate;
        let ticket = match (&source.owned_op, gate.is_observed()) {
            (Some(owned_op), true) => {
                let lookups = Lookups::default();
                let caller = Caller::new(source.call, &lookups);
                gate.admit_step(&caller, 0, source.stream, owned_op.op())?
            }
            _ => 0,
        };
        gate.report(ticket, Progress::Started);
        let result = step.run(&running.shared, &running.resolved);
        match &result {
            Ok(()) => gate.report(ticket, Progress::Finished),
            Err(error) => gate.report(ticket, Progress::Failed(error.clone())),
        }
        result
    }
}

impl Graph {
    /// Returns a branch's code, and sets its conditions to their defaults; an empty branch does nothing.
    fn code(&self, shared: &SharedRuntime) -> Result<Arc<Code>> {
        self.check_branch()?;
        let inner = self.inner.lock();
        for condition in &inner.conditions {
            condition.reset(shared);
        }
        let nodes: Vec<u32> = (0..inner.nodes.len() as u32).collect();
        Ok(Arc::new(Code::new(
            &inner,
            &nodes,
            &mut BoundaryEvents::default(),
            None,
            |_, _| {},
        )))
    }

    /// Adds what its tasks, and those of its branches, may write.
    fn add_writes(&self, writes: &mut Vec<Span>) {
        let inner = self.inner.lock();
        let owned_op = inner.nodes.iter().filter_map(|node| node.owned_op.as_ref());
        for one in owned_op {
            writes.extend(one.writes());
        }
        let branches = inner.branches.clone();
        drop(inner);
        for branch in branches {
            branch.add_writes(writes);
        }
    }

    /// Lists how the graph's tasks, and those of its branches, are ordered with the outside.
    fn add_edges(&self, edges: &mut Vec<Edge>) {
        let inner = self.inner.lock();
        edges.extend(inner.nodes.iter().filter_map(|node| node.edge()));
        let branches = inner.branches.clone();
        drop(inner);
        for branch in branches {
            branch.add_edges(edges);
        }
    }

    pub(super) fn queue_captured_streams(
        &self,
        queues: &mut Vec<(Arc<dyn Queue>, Arc<CapturedStreamObserver>)>,
        plan: &Arc<CapturedStreamPlan>,
        stream: &Stream,
        done: Arc<Signal>,
        caller: &Caller<'_>,
    ) -> Result<Weak<Running>> {
        let device = &self.shared.devices[self.device as usize];
        while queues.len() < plan.captured_streams.len() {
            let observer = Arc::new(CapturedStreamObserver::default());
            let config = QueueConfig {
                priority: stream.options().priority.min(7),
                number: stream.number(),
            };
            let queue = device
                .hardware(&self.shared)?
                .queue(config, observer.clone())?;
            queues.push((queue, observer));
        }
        let running = Arc::new(Running {
            graph: self.number,
            shared: self.shared.clone(),
            failure: self.failure.clone(),
            plan: plan.clone(),
            resolved: plan.outside.resolve(stream),
            marks: (0..plan.marks)
                .map(|_| Arc::new(Signal::untimed()))
                .collect(),
            captured_streams: plan
                .captured_streams
                .iter()
                .map(|_| Mutex::default())
                .collect(),
            queues: queues.iter().map(|(queue, _)| queue.clone()).collect(),
            live: AtomicU32::new(0),
            done: done.clone(),
            error: Mutex::new(None),
            aborted: AtomicBool::new(false),
        });
        let start = Arc::new(Start {
            running: running.clone(),
            observers: queues
                .iter()
                .map(|(_, observer)| observer.clone())
                .collect(),
        });
        // The executed steps are not known in advance; probes receive all that they may write now.
        let (mut writes, mut edges) = (Vec::new(), Vec::new());
        if self.shared.gate.is_observed() {
            self.add_writes(&mut writes);
            self.add_edges(&mut edges);
        }
        // The execution as a whole comes after all waits and before all records: that loses findings and invents none.
        let show = |records: bool| {
            edges
                .iter()
                .filter(|edge| edge.records == records)
                .try_for_each(|edge| edge.admit(&self.shared, self.device, stream, caller))
        };
        show(false)?;
        let weak = Arc::downgrade(&running);
        let end = Task::Run(Arc::new(End { running }));
        let parts = [Task::until_set(done), end];
        stream.queue_with(caller, Task::Run(start), parts, || Op::Launch {
            name: "captured model",
            reads: &[],
            writes: &writes,
        })?;
        show(true)?;
        Ok(weak)
    }
}
