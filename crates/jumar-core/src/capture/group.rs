//! Groups of captured tasks that can be replaced between executions, and while one waits.
//!
//! A task of a group sits in a slot, and an execution runs what is in the slot when it gets there. An update collects
//! tasks on an ordinary stream and swaps them in as a task of that stream, so that the program orders updates with the
//! executions by external events.

use std::sync::{Arc, Weak};

use jumar_hal::sync::Mutex;
use jumar_hal::{Cost, Program, Task};
use jumar_types::{Error, ErrorKind, Result};

use super::{Action, Graph, Inner, OwnedOp, Phase, Recorder, TaskKind};
use crate::{Caller, Context, Op, Stream};

/// A slot for a task that can be replaced.
pub(super) struct Slot {
    program: Mutex<Arc<dyn Program>>,
    /// Whether it belongs to a group.
    pub(super) grouped: bool,
}

impl Slot {
    /// Makes a slot that belongs to no group.
    pub(super) fn alone(program: Arc<dyn Program>) -> Arc<Slot> {
        Arc::new(Slot {
            program: Mutex::new(program),
            grouped: false,
        })
    }

    /// Returns what is in the slot now.
    pub(super) fn program(&self) -> Arc<dyn Program> {
        self.program.lock().clone()
    }

    /// Puts another program into the slot.
    pub(super) fn replace(&self, program: Arc<dyn Program>) {
        let old = std::mem::replace(&mut *self.program.lock(), program);
        drop(old);
    }
}

/// A group of tasks of a graph.
pub struct TaskGroup {
    id: u64,
    graph: Weak<Graph>,
    slots: Vec<Arc<Slot>>,
}

/// The replacement of a group's tasks that a stream collects.
pub(crate) struct Update {
    group: Arc<TaskGroup>,
    programs: Mutex<Vec<Arc<dyn Program>>>,
}

/// The task that swaps replacements in.
struct Swap {
    group: Arc<TaskGroup>,
    programs: Vec<Arc<dyn Program>>,
}

impl Program for Swap {
    fn run(&self) -> Result<()> {
        for (slot, program) in self.group.slots.iter().zip(&self.programs) {
            slot.replace(program.clone());
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "update of a task group"
    }
}

impl Inner {
    /// Puts a task of an open group into a slot; any other stays what it is.
    pub(super) fn grouped(&mut self, captured_stream: u32, kind: TaskKind, task: Task) -> Action {
        match (&mut self.open_group, task) {
            (Some((open, slots)), Task::Run(program))
                if *open == captured_stream && kind == TaskKind::Kernel =>
            {
                let slot = Arc::new(Slot {
                    program: Mutex::new(program),
                    grouped: true,
                });
                slots.push(slot.clone());
                Action::Slot(slot)
            }
            (_, task) => Action::Task(task),
        }
    }
}

fn state(sentence: String) -> Error {
    Error::new(ErrorKind::TaskGroupState, sentence)
}

impl TaskGroup {
    /// Returns the group's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns whether a slot is one of the group's.
    pub(super) fn holds(&self, slot: &Arc<Slot>) -> bool {
        self.slots.iter().any(|own| Arc::ptr_eq(own, slot))
    }

    /// Begins a group: the tasks that are captured on the stream until its end belong to it.
    ///
    /// # Errors
    /// `StreamNotCaptured`; `TaskGroupState`: a group is open.
    pub fn begin(stream: &Stream) -> Result<()> {
        let (graph, captured_stream) = captured(stream)?;
        let mut inner = graph.inner.lock();
        if let Some((open, _)) = &inner.open_group {
            return Err(state(format!(
                "a task group is open on stream {} already",
                inner.captured_streams[*open as usize].number
            )));
        }
        inner.open_group = Some((captured_stream, Vec::new()));
        Ok(())
    }

    /// Ends the group of the stream.
    ///
    /// # Errors
    /// `StreamNotCaptured`; `TaskGroupState`: none is open on the stream.
    pub fn end(stream: &Stream) -> Result<Arc<TaskGroup>> {
        let (graph, captured_stream) = captured(stream)?;
        let slots = {
            let mut inner = graph.inner.lock();
            match inner.open_group.take() {
                Some((open, slots)) if open == captured_stream => slots,
                other => {
                    inner.open_group = other;
                    return Err(state(format!(
                        "no task group is open on stream {}",
                        stream.number()
                    )));
                }
            }
        };
        let group = graph.shared.task_groups.insert(|id| {
            Arc::new(TaskGroup {
                id,
                graph: Arc::downgrade(&graph),
                slots,
            })
        })?;
        let mut inner = graph.inner.lock();
        if inner.phase == Phase::Gone {
            drop(inner);
            drop(
                graph
                    .shared
                    .task_groups
                    .remove(group.id, "the end of its model"),
            );
            return Err(graph.destroyed());
        }
        inner.task_groups.push(group.id);
        drop(inner);
        Ok(group)
    }

    /// Begins to collect replacements for the group's tasks on a stream.
    ///
    /// # Errors
    /// `StreamCaptured`: the stream is being captured; `TaskGroupState`: it collects for a group already; `GraphUpdate`: the
    /// group's model is still being captured.
    pub fn update(self: &Arc<Self>, stream: &Stream) -> Result<()> {
        match stream.recorder() {
            Some(Recorder::Update(_)) => {
                return Err(state(format!(
                    "stream {} replaces the tasks of a group already",
                    stream.number()
                )));
            }
            Some(other) => return Err(other.in_the_way(stream)),
            None => {}
        }
        let ready = self
            .graph
            .upgrade()
            .is_some_and(|graph| graph.inner.lock().phase == Phase::Ready);
        if !ready {
            return Err(Error::new(
                ErrorKind::GraphUpdate,
                "the model of the task group is still being captured",
            ));
        }
        let update = Recorder::Update(Arc::new(Update {
            group: self.clone(),
            programs: Mutex::default(),
        }));
        stream
            .attach(update)
            .map_err(|other| other.in_the_way(stream))
    }

    /// Ends the collection on a stream and queues the replacement there.
    ///
    /// # Errors
    /// `TaskGroupState`: the stream collects nothing; `RuntimeInternal`: fewer tasks came than the group has.
    pub fn end_update(stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        let Some(Recorder::Update(update)) = stream.recorder() else {
            return Err(state(format!(
                "stream {} replaces the tasks of no group",
                stream.number()
            )));
        };
        stream.detach();
        let programs = std::mem::take(&mut *update.programs.lock());
        let wanted = update.group.slots.len();
        if programs.len() < wanted {
            return Err(Error::new(
                ErrorKind::RuntimeInternal,
                format!(
                    "{} tasks were submitted to replace the {wanted} of the group, which stay as they are",
                    programs.len()
                ),
            )
            .fix("Submit as many operators as the group was captured with."));
        }
        let swap = Arc::new(Swap {
            group: update.group.clone(),
            programs,
        });
        stream
            .submit(caller, Task::Run(swap), || Op::Launch {
                name: "update of a task group",
                reads: &[],
                writes: &[],
            })
            .map(drop)
    }
}

fn captured(stream: &Stream) -> Result<(Arc<Graph>, u32)> {
    match stream.recorder() {
        Some(Recorder::CapturedStream {
            graph,
            captured_stream,
        }) if graph.is_capturing() => Ok((graph, captured_stream)),
        _ => Err(stream.not_captured()),
    }
}

impl Update {
    /// Collects a task.
    pub(super) fn take(&self, task: Task, owned_op: &OwnedOp) -> Result<u64> {
        let wanted = self.group.slots.len();
        match task {
            Task::Run(program) if owned_op.kind() == TaskKind::Kernel => {
                let mut programs = self.programs.lock();
                if programs.len() >= wanted {
                    return Err(Error::new(
                        ErrorKind::RuntimeInternal,
                        format!("the task group has {wanted} tasks, and more were submitted to replace them"),
                    )
                    .fix("Submit as many operators as the group was captured with."));
                }
                programs.push(program);
                Ok(programs.len() as u64)
            }
            _ => Err(Error::new(
                ErrorKind::TaskTypeUnsupported,
                format!("a {} cannot replace a task of a group", owned_op.name()),
            )
            .fix("Submit operators and kernels alone between begin and end of an update.")),
        }
    }
}

impl Context {
    /// Finds a task group.
    ///
    /// # Errors
    /// `InvalidHandle`.
    pub fn task_group(&self, handle: u64) -> Result<Arc<TaskGroup>> {
        self.shared().task_groups.get(handle)
    }
}
