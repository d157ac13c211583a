//! What single tasks of a graph are given: read, changed one by one, and noted beside them.
//!
//! A change is made when the graph is updated; until then executions run the old task, and queries return what the
//! update will change it to. A task of a group is changed in its slot.

use std::any::Any;
use std::sync::{Arc, Weak};

use jumar_hal::{Backend, Program, Span, Task};
use jumar_types::{Error, ErrorKind, Result};

use super::group::Slot;
use super::{
    Action, CapturedStream, EventTask, Graph, GraphTask, Inner, Node, OwnedOp, Phase, Recorder,
    TaskKind,
};
use crate::gate::Op;
use crate::kernel::{Function, KernelLaunch};
use crate::value::{ValueCondition, Write};
use crate::{
    ArgumentBuffer, Arguments, Binary, Caller, LaunchParameters, Lookups, Runtime, Shape, Stream,
    ValueTest,
};

/// What a task of a graph is given.
#[derive(Clone)]
pub enum TaskParameters {
    /// Nothing that programs can ask for: a copy, a callback, an operator of a model.
    Other,
    /// A kernel's launch.
    Launch(Box<LaunchParameters>),
    /// The event of a record, a wait or a reset.
    Event(EventTask),
    /// The word that is written, and its value.
    Write(Span, u64),
    /// The address, the test, and the value that the memory is compared with.
    Wait(Span, ValueTest, u64),
}

/// A change of a task that the next update makes.
pub(super) struct Change {
    node: u32,
    task: Task,
    owned_op: OwnedOp,
}

/// A value of the frontend that a task keeps as long as its graph exists.
#[derive(Clone, Default)]
pub(super) struct Belongings {
    information: Option<Arc<ArgumentBuffer>>,
    remark: Option<Arc<str>>,
    scratch: Option<Arc<ArgumentBuffer>>,
}

/// A task that was recorded, by its index in its stream.
#[derive(Clone)]
pub(crate) struct RecordedTask {
    graph: Weak<Graph>,
    captured_stream: u32,
    position: u64,
}

impl RecordedTask {
    /// Returns the index of the task in its stream, from 1.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }
}

impl Recorder {
    /// Names a task by its new index.
    pub(crate) fn recorded(&self, position: u64) -> Option<RecordedTask> {
        match self {
            Recorder::CapturedStream {
                graph,
                captured_stream,
            } => Some(RecordedTask {
                graph: Arc::downgrade(graph),
                captured_stream: *captured_stream,
                position,
            }),
            Recorder::Update(_) | Recorder::StandIn { .. } => None,
        }
    }
}

impl Node {
    /// Returns the parameters of a task.
    fn parameters(task: &Task) -> TaskParameters {
        match task {
            Task::Run(program) => {
                let program: &dyn Any = &**program;
                if let Some(launch) = program.downcast_ref::<KernelLaunch>() {
                    return TaskParameters::Launch(Box::new(launch.parameters()));
                }
                match program.downcast_ref::<Write>() {
                    Some(write) => {
                        let (word, value) = write.what();
                        TaskParameters::Write(word, value)
                    }
                    None => TaskParameters::Other,
                }
            }
            Task::Until { condition, .. } => {
                let condition: &dyn Any = &**condition;
                match condition.downcast_ref::<ValueCondition>() {
                    Some(wanted) => {
                        let (word, test, value) = wanted.what();
                        TaskParameters::Wait(word, test, value)
                    }
                    None => TaskParameters::Other,
                }
            }
            Task::Copy(_)
            | Task::Fill { .. }
            | Task::Set(_)
            | Task::Clear(_)
            | Task::Wait { .. }
            | Task::Join(_) => TaskParameters::Other,
        }
    }
}

impl Inner {
    /// Makes the changes that were asked for.
    pub(super) fn make_changes(&mut self) {
        for Change {
            node,
            task,
            owned_op,
        } in std::mem::take(&mut self.to_change)
        {
            let node = &mut self.nodes[node as usize];
            node.owned_op = Some(owned_op);
            match (&node.action, task) {
                (Action::Slot(slot), Task::Run(program)) => slot.replace(program),
                (_, task) => node.action = Action::Task(task),
            }
        }
    }

    /// Returns what a task will run after the next update.
    fn newest(&self, number: u32) -> TaskParameters {
        let node = &self.nodes[number as usize];
        if let Some(event) = node.event {
            return TaskParameters::Event(event);
        }
        let changed = self.to_change.iter().rfind(|change| change.node == number);
        if let Some(change) = changed {
            return Node::parameters(&change.task);
        }
        match &node.action {
            Action::Task(task) => Node::parameters(task),
            Action::Slot(slot) => Node::parameters(&Task::Run(slot.program())),
            Action::Mark
            | Action::Join(_)
            | Action::ExternalSet(_)
            | Action::ExternalWait(_)
            | Action::Control(_) => TaskParameters::Other,
        }
    }

    /// Returns the launch that a task holds now.
    fn launch(&self, number: u32) -> Option<Arc<dyn Program>> {
        match &self.nodes[number as usize].action {
            Action::Task(Task::Run(program)) => Some(program.clone()),
            Action::Slot(slot) => Some(slot.program()),
            _ => None,
        }
    }
}

impl GraphTask {
    /// Returns what the task is given, and the handle of its group; 0 without one.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn parameters(&self) -> Result<(TaskKind, TaskParameters, u64)> {
        let graph = self.graph()?;
        let inner = self.inner_of(&graph)?;
        let node = &inner.nodes[self.node as usize];
        let (kind, parameters) = (node.kind, inner.newest(self.node));
        let slot = match &node.action {
            Action::Slot(slot) => Some(slot.clone()),
            _ => None,
        };
        let groups = inner.task_groups.clone();
        drop(inner);
        let of_group = |&group: &u64| {
            let slot = slot.as_ref()?;
            let found = graph.shared.task_groups.get(group).ok()?;
            found.holds(slot).then_some(group)
        };
        let group = groups.iter().find_map(of_group).unwrap_or(0);
        Ok((kind, parameters, group))
    }

    /// Lets the next update of the graph replace the task, which is a kernel's launch, by another launch.
    ///
    /// # Errors
    /// `TaskTypeUnsupported`: the task does not launch a kernel; `GraphUpdate`: the graph is not ready; the errors of a launch.
    pub fn set_launch(
        &self,
        function: &Arc<Function>,
        arguments: Arguments<'_>,
        shape: Shape<'_>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let graph = self.graph()?;
        let held = {
            let inner = self.inner_of(&graph)?;
            inner.launch(self.node)
        };
        let launch = held.as_deref().and_then(|program| {
            let program: &dyn Any = program;
            program.downcast_ref::<KernelLaunch>()
        });
        let Some(launch) = launch else {
            return Err(self.not_changed("an operator of Jumar's own", "kernels that were loaded"));
        };
        let program = launch.replaced(function, graph.device, arguments, shape, caller)?;
        let (reads, writes) = program.touches();
        let owned_op = OwnedOp::new(&Op::Launch {
            name: function.name(),
            reads: &reads,
            writes: &writes,
        });
        self.change(&graph, Task::Run(program), owned_op)
    }

    /// Lets the next update of the graph replace what the task, which is the write of a value, writes.
    ///
    /// # Errors
    /// `InvalidValue`: it is not an aligned word of device memory; `GraphUpdate`: the graph is not ready.
    pub fn set_write(&self, word: Span, value: u64, caller: &Caller<'_>) -> Result<()> {
        let graph = self.graph()?;
        let write = Write::new(&graph.shared, word, value, caller)?;
        let owned_op = OwnedOp::new(&Op::WriteValue { to: word, value });
        self.change(&graph, Task::Run(Arc::new(write)), owned_op)
    }

    /// Lets the next update of the graph replace what the task, which is the wait for a value, waits for.
    ///
    /// # Errors
    /// As [`GraphTask::set_write`].
    pub fn set_wait(
        &self,
        word: Span,
        test: ValueTest,
        value: u64,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let graph = self.graph()?;
        let condition = Arc::new(ValueCondition::new(
            &graph.shared,
            word,
            test,
            value,
            caller,
        )?);
        let owned_op = OwnedOp::new(&Op::WaitValue {
            at: word,
            value,
            test,
        });
        let limit = None;
        self.change(&graph, Task::Until { condition, limit }, owned_op)
    }

    fn not_changed(&self, what: &str, instead: &str) -> Error {
        Error::new(
            ErrorKind::TaskTypeUnsupported,
            format!("the task is {what}, whose parameters are not changed"),
        )
        .fix(format!("Change {instead}, writes and waits of values."))
    }

    pub(super) fn inner_of<'a>(
        &self,
        graph: &'a Graph,
    ) -> Result<jumar_hal::sync::MutexGuard<'a, Inner>> {
        let inner = graph.inner.lock();
        if (self.node as usize) < inner.nodes.len() {
            return Ok(inner);
        }
        Err(Error::new(
            ErrorKind::InvalidHandle,
            "the model of the task was destroyed",
        ))
    }

    fn change(&self, graph: &Graph, task: Task, owned_op: OwnedOp) -> Result<()> {
        let mut inner = self.inner_of(graph)?;
        if inner.phase != Phase::Ready {
            return Err(Error::new(
                ErrorKind::GraphUpdate,
                format!("model {} is not ready", graph.number),
            ));
        }
        let node = self.node;
        inner.to_change.retain(|change| change.node != node);
        inner.to_change.push(Change {
            node,
            task,
            owned_op,
        });
        Ok(())
    }

    /// Keeps information of the frontend on the task.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn inform(&self, kept: ArgumentBuffer) -> Result<()> {
        let graph = self.graph()?;
        let old = {
            let mut inner = self.inner_of(&graph)?;
            let belongings = &mut inner.nodes[self.node as usize].belongings;
            belongings.information.replace(Arc::new(kept))
        };
        drop(old);
        Ok(())
    }

    /// Returns the frontend's information on the task: its address and its size in bytes.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn information(&self) -> Result<Option<Span>> {
        let graph = self.graph()?;
        let inner = self.inner_of(&graph)?;
        let belongings = &inner.nodes[self.node as usize].belongings;
        Ok(belongings.information.as_ref().map(|kept| kept.span()))
    }

    /// Keeps memory of the frontend until the graph is destroyed or other memory replaces it.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn keep(&self, memory: ArgumentBuffer) -> Result<()> {
        let graph = self.graph()?;
        let old = {
            let mut inner = self.inner_of(&graph)?;
            let belongings = &mut inner.nodes[self.node as usize].belongings;
            belongings.scratch.replace(Arc::new(memory))
        };
        drop(old);
        Ok(())
    }
}

impl Runtime {
    fn last_recorded<T>(
        &self,
        lookups: &Lookups,
        work: impl FnOnce(&CapturedStream, &mut Node) -> Result<T>,
    ) -> Result<T> {
        let none = || {
            Error::new(
                ErrorKind::RuntimeInternal,
                "the last task of this thread was not recorded into a model that is still open",
            )
        };
        let last = lookups.last_recorded().ok_or_else(none)?;
        let graph = last.graph.upgrade().ok_or_else(none)?;
        let mut inner = graph.inner.lock();
        if !graph.records(&inner, last.captured_stream).unwrap_or(false) {
            return Err(none());
        }
        let inner = &mut *inner;
        let captured_stream = inner
            .captured_streams
            .get(last.captured_stream as usize)
            .ok_or_else(none)?;
        let node = usize::try_from(last.position).ok().and_then(|position| {
            let position = position.checked_sub(1)?;
            captured_stream.nodes.get(position).copied()
        });
        let node = node.ok_or_else(none)?;
        work(captured_stream, &mut inner.nodes[node as usize])
    }

    /// Returns the handle of the stream on which the thread's last recorded task stands.
    ///
    /// # Errors
    /// `RuntimeInternal`: the last task was not recorded, or its model is complete.
    pub fn stream_of_last_recorded(&self, lookups: &Lookups) -> Result<u64> {
        self.last_recorded(lookups, |captured_stream, _| Ok(captured_stream.stream))
    }

    /// Keeps information of the frontend with the thread's last recorded task.
    ///
    /// # Errors
    /// As [`Runtime::stream_of_last_recorded`].
    pub fn inform_last_recorded(&self, lookups: &Lookups, kept: ArgumentBuffer) -> Result<()> {
        self.last_recorded(lookups, |_, node| {
            node.belongings.information = Some(Arc::new(kept));
            Ok(())
        })
    }

    /// Keeps a remark for people with the thread's last recorded task.
    ///
    /// # Errors
    /// As [`Runtime::stream_of_last_recorded`].
    pub fn remark_last_recorded(&self, lookups: &Lookups, text: &str) -> Result<()> {
        self.last_recorded(lookups, |_, node| {
            node.belongings.remark = Some(text.into());
            Ok(())
        })
    }
}

impl Belongings {
    /// Returns the remark for people.
    pub(super) fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }
}

/// The task that lets a recorded launch run another kernel, or more or fewer blocks of it, from now on.
struct Patch {
    slot: Arc<Slot>,
    binary: Arc<Binary>,
    device: u32,
    entry: Span,
    blocks: Span,
    backend: Arc<dyn Backend>,
}

impl Program for Patch {
    fn run(&self) -> Result<()> {
        let mut entry = [0; 8];
        self.backend.read_now(self.entry, &mut entry);
        let mut blocks = [0; 4];
        self.backend.read_now(self.blocks, &mut blocks);
        let (entry, blocks) = (u64::from_ne_bytes(entry), u32::from_ne_bytes(blocks));
        if blocks == 0 {
            return Err(Error::new(
                ErrorKind::KernelFailed,
                "the update of a kernel found 0 as its number of blocks",
            ));
        }
        let failed = |error: Error| {
            let sentence = "the update of a kernel found no kernel that can replace it";
            Error::new(ErrorKind::KernelFailed, sentence).caused_by(error)
        };
        let name = self.binary.name_at(entry, self.device).map_err(failed)?;
        let function = self.binary.function(&name, self.device).map_err(failed)?;
        let held = self.slot.program();
        let held: &dyn Any = &*held;
        // Only launches are put into such a slot.
        let Some(launch) = held.downcast_ref::<KernelLaunch>() else {
            return Ok(());
        };
        let new = launch.with_function(&function, self.device, blocks);
        self.slot.replace(new.map_err(failed)?);
        Ok(())
    }

    fn name(&self) -> &str {
        "update of a kernel"
    }
}

impl Stream {
    /// Queues the change of a launch that was recorded at an index, from 1, of a stream of a model: the kernel's entry, eight
    /// bytes, and the number of blocks, four bytes, are read when the change runs.
    ///
    /// # Errors
    /// `StreamModel`: the other stream belongs to no model; `InvalidValue`: nothing was recorded there, or the binary cannot
    /// be loaded; `TaskTypeUnsupported`: the recorded task does not launch a kernel; `GraphUpdate`: the model is not ready.
    pub fn patch_launch(
        &self,
        of: &Stream,
        index: u64,
        binary: &Arc<Binary>,
        (entry, blocks): (Span, Span),
        caller: &Caller<'_>,
    ) -> Result<()> {
        let (graph, captured_stream) = of.captured_stream_of_model()?;
        binary.load(graph.device)?;
        let slot = graph.slot_of_launch(captured_stream, index)?;
        let patch = Arc::new(Patch {
            slot,
            binary: binary.clone(),
            device: graph.device,
            entry,
            blocks,
            backend: graph.shared.backend.clone(),
        });
        self.launch(patch, &[entry, blocks], &[], caller).map(drop)
    }
}

impl Graph {
    /// Returns the slot of a launch; it gets one now where it has none, and later executions look there.
    fn slot_of_launch(&self, captured_stream: u32, index: u64) -> Result<Arc<Slot>> {
        let mut inner = self.inner.lock();
        if inner.phase != Phase::Ready {
            return Err(Error::new(
                ErrorKind::GraphUpdate,
                format!("model {} is not ready", self.number),
            ));
        }
        let node = usize::try_from(index).ok().and_then(|index| {
            let index = index.checked_sub(1)?;
            inner
                .captured_streams
                .get(captured_stream as usize)?
                .nodes
                .get(index)
                .copied()
        });
        let Some(node) = node else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "model {} recorded no task of number {index} on that stream",
                    self.number
                ),
            )
            .fix("Pass what aclrtGetThreadLastTaskId answered behind the launch."));
        };
        let program = match &inner.nodes[node as usize].action {
            Action::Slot(slot) => slot.program(),
            Action::Task(Task::Run(program)) => program.clone(),
            _ => return Err(no_launch(index)),
        };
        let held: &dyn Any = &*program;
        if !held.is::<KernelLaunch>() {
            return Err(no_launch(index));
        }
        if let Action::Slot(slot) = &inner.nodes[node as usize].action {
            return Ok(slot.clone());
        }
        let slot = Slot::alone(program);
        inner.nodes[node as usize].action = Action::Slot(slot.clone());
        inner.plan = None;
        Ok(slot)
    }
}

fn no_launch(index: u64) -> Error {
    Error::new(
        ErrorKind::TaskTypeUnsupported,
        format!("task {index} of the stream does not launch a kernel of a loaded binary"),
    )
}
