//! What programs ask of a graph: its streams, its tasks, what a task is; and changes of single tasks.

use std::sync::{Arc, Weak};

use jumar_hal::Span;
use jumar_types::{Error, ErrorKind, Result};

use super::control::Control;
use super::{Action, Graph, Inner, Node, Origin, Phase, Recorder, TaskKind};
use crate::{Context, Stream};

/// An event's part in a recorded task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTask {
    /// The event's handle.
    pub event: u64,
    /// The event's number for messages.
    pub number: u64,
    /// The flags that the event was made with.
    pub event_flags: u32,
    /// The flag of the record or wait.
    pub flag: u32,
}

/// A recorded task as programs hold it.
pub struct GraphTask {
    id: u64,
    graph: Weak<Graph>,
    pub(super) node: u32,
}

/// A recorded task for people.
#[derive(Clone, Debug)]
pub struct TaskDescription {
    /// The task's number in the graph, in the order of recording.
    pub number: u32,
    /// The number of its stream.
    pub stream: u32,
    /// Its index in the stream, from 0.
    pub position: u32,
    /// What it is to programs.
    pub kind: TaskKind,
    /// What it does.
    pub name: String,
    /// The call that it was recorded from.
    pub call: &'static str,
    /// The memory it reads.
    pub reads: Vec<Span>,
    /// The memory it writes.
    pub writes: Vec<Span>,
    /// The number of its event.
    pub event: Option<u64>,
    /// The task on another stream that it comes after.
    pub after: Option<u32>,
    /// Whether it belongs to a group.
    pub grouped: bool,
    /// Whether it is left out.
    pub disabled: bool,
    /// What the program noted beside it.
    pub remark: Option<String>,
}

impl Inner {
    fn describe(&self, number: u32, position: u32) -> TaskDescription {
        let node = &self.nodes[number as usize];
        let named = |name: &str| name.to_owned();
        let event = node.event.map_or(0, |event| event.number);
        let name = match (&node.action, &node.owned_op) {
            (_, Some(owned_op)) => named(owned_op.name()),
            (Action::Mark | Action::ExternalSet(_), _) => format!("record of event {event}"),
            (Action::Join(_) | Action::ExternalWait(_), _) => format!("wait for event {event}"),
            (Action::Task(task), None) => match node.kind {
                TaskKind::Record => format!("record of event {event}"),
                TaskKind::Wait => format!("wait for event {event}"),
                TaskKind::Reset => format!("reset of event {event}"),
                TaskKind::Other | TaskKind::Kernel | TaskKind::ValueWrite | TaskKind::ValueWait => {
                    format!("{task:?}")
                }
            },
            (Action::Slot(slot), None) => named(slot.program().name()),
            (Action::Control(control), None) => named(match control {
                Control::Label(_) => "label",
                Control::Jump { .. } => "jump to a label",
                Control::Activate(_) => "activation of a stream",
                Control::Compare { .. } => "switch to a stream",
                Control::Choose { .. } => "condition",
                Control::End => "end of the model",
            }),
        };
        TaskDescription {
            number,
            stream: self.captured_streams[node.captured_stream as usize].number,
            position,
            kind: node.kind,
            name,
            call: node.call.name,
            reads: node
                .owned_op
                .as_ref()
                .map_or_else(Vec::new, |owned_op| owned_op.reads().to_vec()),
            writes: node
                .owned_op
                .as_ref()
                .map_or_else(Vec::new, |owned_op| owned_op.writes().to_vec()),
            event: node.event.map(|event| event.number),
            after: match node.action {
                Action::Join(mark) => Some(mark),
                _ => None,
            },
            grouped: matches!(&node.action, Action::Slot(slot) if slot.grouped),
            disabled: node.disabled,
            remark: node.belongings.remark().map(str::to_owned),
        }
    }

    /// Lists the nodes of a sequence that are tasks of their own; a graph that was destroyed has none.
    fn tasks(&self, captured_stream: u32) -> impl Iterator<Item = u32> {
        self.captured_streams
            .get(captured_stream as usize)
            .into_iter()
            .flat_map(|captured_stream| &captured_stream.nodes)
            .copied()
            .filter(|&node| !self.nodes[node as usize].is_part())
    }

    /// Leaves a task out of executions, with its parts: the wait of a host function would never end without the function.
    fn leave_out(&mut self, number: u32) {
        let Some(node) = self.nodes.get_mut(number as usize) else {
            return;
        };
        node.disabled = true;
        let Some(captured_stream) = self.captured_streams.get(node.captured_stream as usize) else {
            return;
        };
        let behind = captured_stream
            .nodes
            .iter()
            .skip_while(|&&node| node != number);
        for &part in behind.skip(1) {
            let part = &mut self.nodes[part as usize];
            if !part.is_part() {
                break;
            }
            part.disabled = true;
        }
    }
}

impl Node {
    /// Returns whether it only belongs to the task before it in its sequence.
    fn is_part(&self) -> bool {
        matches!(
            (&self.action, &self.owned_op, &self.event),
            (Action::Task(_), None, None)
        )
    }
}

impl Graph {
    /// Describes the tasks, stream by stream.
    pub fn describe(&self) -> Vec<TaskDescription> {
        let inner = self.inner.lock();
        (0..inner.captured_streams.len() as u32)
            .flat_map(|captured_stream| {
                inner
                    .tasks(captured_stream)
                    .enumerate()
                    .map(|(position, node)| inner.describe(node, position as u32))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Lists the graph's streams: the bound ones, or for a captured graph streams that stand for its parts, and take no
    /// tasks.
    ///
    /// # Errors
    /// `NoStreamResource`, `OutOfMemory`.
    pub fn streams(self: &Arc<Self>, context: &Arc<Context>) -> Result<Vec<u64>> {
        let (built, stand_ins, wanted) = {
            let inner = self.inner.lock();
            let built: Vec<u64> = inner
                .captured_streams
                .iter()
                .filter(|captured_stream| captured_stream.attached.is_some())
                .map(|captured_stream| captured_stream.stream)
                .collect();
            (built, inner.stand_ins.clone(), inner.captured_streams.len())
        };
        if self.origin == Origin::Built || self.is_capturing() {
            return Ok(built);
        }
        let discard = |streams: Vec<Arc<Stream>>| {
            for stream in streams {
                drop(
                    self.shared
                        .streams
                        .remove(stream.id(), "the end of its model"),
                );
            }
        };
        let known = stand_ins.len();
        let mut made = Vec::new();
        while known + made.len() < wanted {
            let stream = match Stream::stand_in(context) {
                Ok(stream) => stream,
                Err(error) => {
                    discard(made);
                    return Err(error);
                }
            };
            let recorder = Recorder::StandIn {
                graph: Arc::downgrade(self),
                captured_stream: (known + made.len()) as u32,
            };
            // No other thread knows the stream yet.
            drop(stream.attach(recorder));
            made.push(stream);
        }
        let listed = {
            let mut inner = self.inner.lock();
            // Another thread may have destroyed the graph, or have listed the same streams first.
            if inner.phase == Phase::Gone {
                Err(self.destroyed())
            } else {
                if inner.stand_ins.len() == known {
                    inner.stand_ins.append(&mut made);
                }
                Ok(inner.stand_ins.iter().map(|stream| stream.id()).collect())
            }
        };
        discard(made);
        listed
    }

    /// Keeps memory of a pool that was given back in the order of a recorded stream, until the graph goes away. Returns false
    /// when the recording has ended in the meantime.
    ///
    /// # Errors
    /// `StreamModel`: the graph is complete.
    pub(crate) fn adopt(
        &self,
        captured_stream: u32,
        pool: &Arc<crate::Pool>,
        address: usize,
    ) -> Result<bool> {
        let mut inner = self.inner.lock();
        let records = self.records(&inner, captured_stream)?;
        if records {
            inner.adopted.push((pool.clone(), address));
        }
        Ok(records)
    }

    /// Makes changes of single tasks take effect.
    ///
    /// # Errors
    /// `GraphUpdate`: the graph is not ready, or an execution is queued or running.
    pub fn update(&self) -> Result<()> {
        let refuse = |why: &str| {
            Err(Error::new(
                ErrorKind::GraphUpdate,
                format!("model {} {why}", self.number),
            ))
        };
        let running = self.is_running();
        let mut inner = self.inner.lock();
        if inner.phase != Phase::Ready {
            return refuse("is not ready");
        }
        if running {
            return refuse("is being executed");
        }
        for node in std::mem::take(&mut inner.to_disable) {
            inner.leave_out(node);
        }
        inner.make_changes();
        inner.plan = None;
        // What changed has memory of its own.
        inner.checked = 0;
        Ok(())
    }

    /// Stops the execution that is running.
    ///
    /// # Errors
    /// `FeatureUnsupported`: the graph was captured.
    pub fn abort(&self) -> Result<()> {
        if self.origin != Origin::Built {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "model {} was captured; only models that are built from bound streams are aborted",
                    self.number
                ),
            )
            .fix("Abort the stream that executes it."));
        }
        let running = self
            .runs
            .lock()
            .last
            .as_ref()
            .and_then(|last| last.running.upgrade());
        if let Some(running) = running {
            running.abort();
        }
        Ok(())
    }
}

impl Stream {
    /// Lists the recorded tasks of a stream of a model.
    ///
    /// # Errors
    /// `StreamModel`: the stream belongs to no model.
    pub fn recorded_tasks(&self) -> Result<Vec<u64>> {
        let (graph, captured_stream) = self.captured_stream_of_model()?;
        let nodes: Vec<(u32, u64)> = {
            let inner = graph.inner.lock();
            inner
                .tasks(captured_stream)
                .map(|node| (node, inner.nodes[node as usize].handle))
                .collect()
        };
        nodes
            .into_iter()
            .map(|(node, handle)| match handle {
                0 => graph.task_handle(node),
                known => Ok(known),
            })
            .collect()
    }
}

impl Stream {
    /// Returns the model that the stream is, or stands for, a part of, and which part.
    pub(super) fn captured_stream_of_model(&self) -> Result<(Arc<Graph>, u32)> {
        let found = match self.recorder() {
            Some(Recorder::CapturedStream {
                graph,
                captured_stream,
            }) => Some((graph, captured_stream)),
            Some(Recorder::StandIn {
                graph,
                captured_stream,
            }) => graph.upgrade().map(|graph| (graph, captured_stream)),
            Some(Recorder::Update(_)) | None => None,
        };
        found.ok_or_else(|| {
            Error::new(
                ErrorKind::StreamModel,
                format!("stream {} belongs to no model", self.number()),
            )
            .fix("Pass a stream that aclmdlRIGetStreams listed.")
        })
    }
}

impl Graph {
    /// Returns the handle of a task; makes it at the first call.
    fn task_handle(self: &Arc<Self>, node: u32) -> Result<u64> {
        let task = self.shared.graph_tasks.insert(|id| {
            Arc::new(GraphTask {
                id,
                graph: Arc::downgrade(self),
                node,
            })
        })?;
        let kept = {
            let mut inner = self.inner.lock();
            match inner.nodes.get_mut(node as usize) {
                // Another thread has destroyed the graph.
                None => Err(self.destroyed()),
                // Another thread has asked first.
                Some(node) if node.handle != 0 => Ok(node.handle),
                Some(node) => {
                    node.handle = task.id;
                    inner.task_handles.push(task.id);
                    Ok(task.id)
                }
            }
        };
        if !matches!(kept, Ok(handle) if handle == task.id) {
            drop(self.shared.graph_tasks.remove(task.id, "another thread"));
        }
        kept
    }
}

impl GraphTask {
    pub(super) fn graph(&self) -> Result<Arc<Graph>> {
        self.graph.upgrade().ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidHandle,
                "the model of the task was destroyed",
            )
        })
    }

    /// Returns the task's graph and what it is.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn describe(&self) -> Result<TaskDescription> {
        let graph = self.graph()?;
        let inner = graph.inner.lock();
        let Some(node) = inner.nodes.get(self.node as usize) else {
            return Err(Error::new(
                ErrorKind::InvalidHandle,
                "the model of the task was destroyed",
            ));
        };
        let position = inner
            .tasks(node.captured_stream)
            .position(|other| other == self.node)
            .unwrap_or(0);
        Ok(inner.describe(self.node, position as u32))
    }

    /// Returns the event of a record, a wait or a reset.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn event(&self) -> Result<Option<EventTask>> {
        let graph = self.graph()?;
        let inner = graph.inner.lock();
        Ok(inner
            .nodes
            .get(self.node as usize)
            .and_then(|node| node.event))
    }

    /// Leaves the task out of executions, from the next update of the graph on.
    ///
    /// # Errors
    /// `InvalidHandle`: the graph was destroyed.
    pub fn disable(&self) -> Result<()> {
        let graph = self.graph()?;
        self.inner_of(&graph)?.to_disable.push(self.node);
        Ok(())
    }
}
