//! Recording: how a capture begins, what is kept of each submit, how other streams are pulled in, and how it ends.

use std::sync::Arc;

use jumar_hal::Task;
use jumar_types::{Error, ErrorKind, Result};

use super::{
    Action, CaptureMode, CaptureStatus, CapturedStream, EventTask, Graph, Node, Origin, OwnedOp,
    Phase, Recorder, TaskKind,
};
use crate::device::ModelStream;
use crate::{Caller, Context, Event, Stream};

/// A task on its way into a graph.
pub(super) struct Recording {
    pub(super) kind: TaskKind,
    pub(super) action: Action,
    pub(super) owned_op: Option<OwnedOp>,
    pub(super) event: Option<EventTask>,
}

impl Graph {
    /// Begins a capture: what is submitted to the stream from now on is recorded.
    ///
    /// # Errors
    /// `FeatureUnsupported`: a default stream; `StreamCaptured`: it is being captured; `StreamModel`: it is bound to a model;
    /// `StreamContext`: it belongs to another context.
    pub fn begin(
        context: &Arc<Context>,
        stream: &Arc<Stream>,
        mode: CaptureMode,
        caller: &Caller<'_>,
    ) -> Result<Arc<Graph>> {
        stream.free_to_record()?;
        let thread = caller.thread(context.shared());
        let graph = Graph::create(context, Origin::Captured, Phase::Capturing, mode, thread)?;
        graph.captures.enter(&graph);
        graph.first_stream(stream).inspect_err(|_| {
            graph.captures.leave(&graph);
            drop(graph.shared.graphs.remove(graph.id, caller.call.name));
        })?;
        Ok(graph)
    }

    /// Begins a capture that fills this graph, which is an empty branch of a condition.
    ///
    /// # Errors
    /// As [`Graph::begin`]; `InvalidValue`: it is not a branch, or is filled already; `CaptureOpen`: a capture fills it now.
    pub fn begin_into(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        mode: CaptureMode,
        caller: &Caller<'_>,
    ) -> Result<()> {
        stream.free_to_record()?;
        {
            let mut inner = self.inner.lock();
            match (self.origin, inner.phase) {
                (Origin::Branch, Phase::Open) => {}
                (Origin::Branch, Phase::Capturing) => return Err(self.still_capturing()),
                (Origin::Branch, Phase::Ready | Phase::Gone)
                | (Origin::Captured | Origin::Built, _) => {
                    return Err(Error::new(
                        ErrorKind::InvalidValue,
                        format!(
                            "model {} is not an empty branch of a condition; only such a branch can be captured into",
                            self.number
                        ),
                    )
                    .fix("Pass a model that aclmdlRIAddCondTask gave, once."));
                }
            }
            inner.phase = Phase::Capturing;
            inner.capture += 1;
            inner.mode = mode;
            inner.thread = caller.thread(&self.shared);
        }
        self.captures.enter(self);
        self.first_stream(stream).inspect_err(|_| {
            self.captures.leave(self);
            let mut inner = self.inner.lock();
            if inner.phase == Phase::Capturing {
                inner.phase = Phase::Open;
            }
        })
    }

    fn first_stream(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        let taken = self.take_stream(stream)?;
        let mut inner = self.inner.lock();
        // The context, or the model that a branch belongs to, may have been destroyed since the phase was set.
        if inner.phase != Phase::Capturing {
            return Err(self.destroyed());
        }
        stream
            .attach(Recorder::CapturedStream {
                graph: self.clone(),
                captured_stream: 0,
            })
            .map_err(|other| other.in_the_way(stream))?;
        inner
            .captured_streams
            .push(CapturedStream::new(stream, true, Some(taken)));
        Ok(())
    }

    /// Takes a stream of the device for one that is captured.
    fn take_stream(&self, stream: &Stream) -> Result<ModelStream> {
        match self.shared.devices.get(self.device as usize) {
            Some(device) => ModelStream::take(device, stream),
            None => Err(self.destroyed()),
        }
    }

    /// Returns the status of a stream's capture, and its graph.
    pub fn capture_of(stream: &Stream) -> (CaptureStatus, Option<Arc<Graph>>) {
        match stream.recorder() {
            Some(Recorder::CapturedStream { graph, .. }) => {
                let status = {
                    let inner = graph.inner.lock();
                    match (inner.phase, &inner.invalid) {
                        (Phase::Capturing, None) => CaptureStatus::Active,
                        (Phase::Capturing, Some(_)) => CaptureStatus::Invalidated,
                        (Phase::Open | Phase::Ready | Phase::Gone, _) => CaptureStatus::None,
                    }
                };
                let graph = (status != CaptureStatus::None).then_some(graph);
                (status, graph)
            }
            Some(Recorder::Update(_) | Recorder::StandIn { .. }) | None => {
                (CaptureStatus::None, None)
            }
        }
    }

    /// Ends the capture that was begun on the stream. Whatever is wrong with the capture itself also drops it.
    ///
    /// # Errors
    /// `StreamNotCaptured`, `CaptureOtherStream`, `CaptureOtherThread`, `CaptureInvalidated`, `TaskGroupState`,
    /// `CaptureUnjoined`.
    pub fn end(stream: &Arc<Stream>, caller: &Caller<'_>) -> Result<Arc<Graph>> {
        let (status, graph) = Graph::capture_of(stream);
        let Some(graph) = graph.filter(|_| status != CaptureStatus::None) else {
            return Err(stream.not_captured());
        };
        let wrong = {
            let mut inner = graph.inner.lock();
            // Another thread may have ended or dropped the capture since the look above.
            if inner.phase != Phase::Capturing {
                return Err(stream.not_captured());
            }
            let origin = inner
                .captured_streams
                .first()
                .map_or(0, |captured_stream| captured_stream.stream);
            if origin != stream.id() {
                let first = inner
                    .captured_streams
                    .first()
                    .map_or(0, |captured_stream| captured_stream.number);
                return Err(Error::new(
                    ErrorKind::CaptureOtherStream,
                    format!(
                        "stream {} joined a capture that was begun on stream {first}",
                        stream.number()
                    ),
                ));
            }
            let wrong = inner.wrong_at_end(caller.thread(&graph.shared));
            if wrong.is_none() {
                inner.phase = Phase::Ready;
            }
            wrong
        };
        match wrong {
            Some(error) => {
                graph.discard(caller.call.name);
                Err(error)
            }
            None => {
                graph.captures.leave(&graph);
                graph.release_streams();
                Ok(graph)
            }
        }
    }

    /// Pulls a stream into the capture: it waits for an event's mark there. Returns false when the capture has ended in the
    /// meantime.
    pub(crate) fn join(
        self: &Arc<Self>,
        stream: &Arc<Stream>,
        mark: &Mark,
        event: EventTask,
        caller: &Caller<'_>,
    ) -> Result<bool> {
        if stream.is_default() {
            let error = Error::new(
                ErrorKind::CaptureImplicit,
                format!(
                    "stream {} is a default stream, and its wait for an event of a capture would pull it into the capture",
                    stream.number()
                ),
            );
            self.invalidate(&error);
            return Err(error);
        }
        let taken = self
            .take_stream(stream)
            .inspect_err(|error| self.invalidate(error))?;
        let mut inner = self.inner.lock();
        if inner.phase != Phase::Capturing || inner.capture != mark.capture {
            return Ok(false);
        }
        let captured_stream = inner.captured_streams.len() as u32;
        stream
            .attach(Recorder::CapturedStream {
                graph: self.clone(),
                captured_stream,
            })
            .map_err(|other| other.in_the_way(stream))?;
        inner
            .captured_streams
            .push(CapturedStream::new(stream, true, Some(taken)));
        inner.add(
            captured_stream,
            Recording {
                kind: TaskKind::Wait,
                action: Action::Join(mark.node),
                owned_op: None,
                event: Some(event),
            },
            caller,
        );
        Ok(true)
    }

    /// Makes the capture invalid; the first reason is kept.
    pub(crate) fn invalidate(&self, because: &Error) {
        self.inner
            .lock()
            .invalid
            .get_or_insert_with(|| because.clone());
    }
}

impl CapturedStream {
    pub(super) fn new(
        stream: &Arc<Stream>,
        head: bool,
        taken: Option<ModelStream>,
    ) -> CapturedStream {
        CapturedStream {
            _stream: taken,
            stream: stream.id(),
            number: stream.number(),
            attached: Some(stream.clone()),
            nodes: Vec::new(),
            head,
        }
    }
}

impl super::Inner {
    /// Adds a node to a sequence and returns its index there, from 1.
    pub(super) fn add(
        &mut self,
        captured_stream: u32,
        recording: Recording,
        caller: &Caller<'_>,
    ) -> u64 {
        let node = self.nodes.len() as u32;
        let Recording {
            kind,
            action,
            owned_op,
            event,
        } = recording;
        self.nodes.push(Node {
            captured_stream,
            kind,
            action,
            owned_op,
            call: caller.call,
            event,
            disabled: false,
            handle: 0,
            belongings: super::parameters::Belongings::default(),
        });
        let nodes = &mut self.captured_streams[captured_stream as usize].nodes;
        nodes.push(node);
        nodes.len() as u64
    }

    /// Finds what keeps a capture from becoming a graph.
    fn wrong_at_end(&self, thread: u64) -> Option<Error> {
        if self.mode != CaptureMode::Relaxed && self.thread != thread {
            return Some(Error::new(
                ErrorKind::CaptureOtherThread,
                "the capture was begun by another thread, and not in relaxed mode; it is dropped",
            ));
        }
        if let Some(cause) = &self.invalid {
            return Some(
                Error::new(
                    ErrorKind::CaptureInvalidated,
                    "an earlier call made the capture invalid; it is dropped",
                )
                .caused_by(cause.clone()),
            );
        }
        if let Some((captured_stream, _)) = &self.open_group {
            return Some(Error::new(
                ErrorKind::TaskGroupState,
                format!(
                    "a task group is still open on stream {}; the capture is dropped",
                    self.captured_streams[*captured_stream as usize].number
                ),
            ));
        }
        let unjoined = self.unjoined()?;
        Some(Error::new(
            ErrorKind::CaptureUnjoined,
            format!(
                "stream {unjoined} joined the capture, but the stream on which the capture was begun does not wait for all its tasks; the capture is dropped"
            ),
        ))
    }

    /// Finds a stream with a task that the first stream's end does not come after.
    fn unjoined(&self) -> Option<u32> {
        let mut reached = vec![false; self.nodes.len()];
        // The index of each node in its sequence, to find the one before it.
        let mut before = vec![None; self.nodes.len()];
        for captured_stream in &self.captured_streams {
            for pair in captured_stream.nodes.windows(2) {
                before[pair[1] as usize] = Some(pair[0]);
            }
        }
        let mut open: Vec<u32> = self
            .captured_streams
            .first()?
            .nodes
            .last()
            .copied()
            .into_iter()
            .collect();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut reached[node as usize], true) {
                continue;
            }
            open.extend(before[node as usize]);
            if let Action::Join(mark) = self.nodes[node as usize].action {
                open.push(mark);
            }
        }
        self.captured_streams[1..]
            .iter()
            .find(|captured_stream| {
                // A record without a wait is not a task.
                captured_stream
                    .nodes
                    .iter()
                    .rfind(|&&node| !matches!(self.nodes[node as usize].action, Action::Mark))
                    .is_some_and(|&last| !reached[last as usize])
            })
            .map(|captured_stream| captured_stream.number)
    }
}

impl Recorder {
    /// Records a task and the tasks that belong to it, and returns the index of the first. Returns the tasks if the capture
    /// has ended in the meantime; the caller then queues them.
    pub(crate) fn take<const PARTS: usize>(
        &self,
        task: Task,
        parts: [Task; PARTS],
        owned_op: OwnedOp,
        caller: &Caller<'_>,
    ) -> Result<std::result::Result<u64, (Task, [Task; PARTS])>> {
        let (graph, captured_stream) = match self {
            Recorder::CapturedStream {
                graph,
                captured_stream,
            } => (graph, *captured_stream),
            // The task that is replaced has its parts already.
            Recorder::Update(update) => return update.take(task, &owned_op).map(Ok),
            Recorder::StandIn { .. } => return Err(stands_in()),
        };
        let mut inner = graph.inner.lock();
        if !graph.records(&inner, captured_stream)? {
            return Ok(Err((task, parts)));
        }
        let kind = owned_op.kind();
        let action = inner.grouped(captured_stream, kind, task);
        let position = inner.add(
            captured_stream,
            Recording {
                kind,
                action,
                owned_op: Some(owned_op),
                event: None,
            },
            caller,
        );
        for part in parts {
            inner.add(
                captured_stream,
                Recording {
                    kind: TaskKind::Other,
                    action: Action::Task(part),
                    owned_op: None,
                    event: None,
                },
                caller,
            );
        }
        Ok(Ok(position))
    }

    /// Records a task of an event, and returns where it stands; none when the capture has ended in the meantime.
    pub(super) fn take_event(
        &self,
        kind: TaskKind,
        action: Action,
        event: EventTask,
        caller: &Caller<'_>,
    ) -> Result<Option<Mark>> {
        let (graph, captured_stream) = match self {
            Recorder::CapturedStream {
                graph,
                captured_stream,
            } => (graph, captured_stream),
            Recorder::StandIn { .. } => return Err(stands_in()),
            Recorder::Update(_) => {
                return Err(Error::new(
                    ErrorKind::TaskTypeUnsupported,
                    "the stream replaces tasks of a group; they must be operators or kernels, and an event is neither",
                ));
            }
        };
        let mut inner = graph.inner.lock();
        if !graph.records(&inner, *captured_stream)? {
            return Ok(None);
        }
        let node = inner.nodes.len() as u32;
        inner.add(
            *captured_stream,
            Recording {
                kind,
                action,
                owned_op: None,
                event: Some(event),
            },
            caller,
        );
        Ok(Some(Mark {
            graph: Arc::downgrade(graph),
            capture: inner.capture,
            node,
        }))
    }

    /// Returns the reason why a stream with this recorder cannot have another one.
    pub(crate) fn in_the_way(&self, stream: &Stream) -> Error {
        match self {
            Recorder::CapturedStream { graph, .. } if graph.origin == Origin::Built => Error::new(
                ErrorKind::StreamModel,
                format!(
                    "stream {} is bound to model {}",
                    stream.number(),
                    graph.number
                ),
            ),
            Recorder::CapturedStream { graph, .. } => Error::new(
                ErrorKind::StreamCaptured,
                format!(
                    "stream {} is being captured, into model {}",
                    stream.number(),
                    graph.number
                ),
            ),
            Recorder::Update(_) => Error::new(
                ErrorKind::StreamCaptured,
                format!("stream {} replaces tasks of a group", stream.number()),
            ),
            Recorder::StandIn { .. } => stands_in(),
        }
    }
}

impl Graph {
    pub(super) fn destroyed(&self) -> Error {
        Error::new(
            ErrorKind::InvalidHandle,
            format!("model {} was destroyed", self.number),
        )
    }

    /// Returns whether what is submitted to the stream of a sequence becomes a node; a finished built model refuses it.
    pub(super) fn records(&self, inner: &super::Inner, captured_stream: u32) -> Result<bool> {
        // The caller found the sequence without the lock, so that the stream may have left the graph since.
        let attached = inner
            .captured_streams
            .get(captured_stream as usize)
            .is_some_and(|captured_stream| captured_stream.attached.is_some());
        match (self.origin, inner.phase) {
            (Origin::Captured | Origin::Branch, Phase::Capturing)
            | (Origin::Built, Phase::Open)
                if !attached =>
            {
                Ok(false)
            }
            (Origin::Captured | Origin::Branch, Phase::Capturing)
            | (Origin::Built, Phase::Open) => Ok(true),
            (Origin::Built, Phase::Ready) => Err(Error::new(
                ErrorKind::StreamModel,
                format!(
                    "the stream is bound to model {}, whose building has ended",
                    self.number
                ),
            )),
            (_, Phase::Open | Phase::Capturing | Phase::Ready | Phase::Gone) => Ok(false),
        }
    }
}

fn stands_in() -> Error {
    Error::new(
        ErrorKind::StreamModel,
        "the stream only stands for a part of a captured model",
    )
    .fix("Submit to a stream made with aclrtCreateStream.")
}

/// What an event's record inside a capture refers to.
#[derive(Clone)]
pub(crate) struct Mark {
    graph: std::sync::Weak<Graph>,
    /// Which capture of the graph: a branch whose capture was dropped can be captured again.
    capture: u32,
    node: u32,
}

impl Mark {
    /// Returns the graph while it is being captured.
    pub(crate) fn open(&self) -> Option<Arc<Graph>> {
        let graph = self.graph.upgrade()?;
        let open = {
            let inner = graph.inner.lock();
            inner.phase == Phase::Capturing && inner.capture == self.capture
        };
        open.then_some(graph)
    }
}

/// What became of an event's record or wait on a stream that is being recorded.
pub(crate) enum Taken {
    /// It is a node.
    Recorded,
    /// It is a node that other streams can come after.
    Marked(Mark),
    /// The recording has ended in the meantime.
    NotRecording,
}

/// What a recorded record or wait does when it is executed.
pub(crate) enum EventAction {
    /// Orders streams of the graph.
    Inside,
    /// Works on a signal as an ordinary task does.
    Plain(Task),
    /// Orders the graph with the outside.
    External(Arc<Event>),
}

impl Recorder {
    /// Returns the graph that is being captured.
    pub(crate) fn capture(&self) -> Option<&Arc<Graph>> {
        match self {
            Recorder::CapturedStream { graph, .. } if graph.origin != Origin::Built => Some(graph),
            Recorder::CapturedStream { .. } | Recorder::Update(_) | Recorder::StandIn { .. } => {
                None
            }
        }
    }

    /// Records a record of an event.
    pub(crate) fn record_event(
        &self,
        what: EventAction,
        event: EventTask,
        caller: &Caller<'_>,
    ) -> Result<Taken> {
        let inside = matches!(what, EventAction::Inside);
        let action = match what {
            EventAction::Inside => Action::Mark,
            EventAction::Plain(task) => Action::Task(task),
            EventAction::External(event) => {
                self.once_outside(&event)?;
                Action::ExternalSet(event)
            }
        };
        Ok(
            match (
                self.take_event(TaskKind::Record, action, event, caller)?,
                inside,
            ) {
                (Some(mark), true) => Taken::Marked(mark),
                (Some(_), false) => Taken::Recorded,
                (None, _) => Taken::NotRecording,
            },
        )
    }

    /// Records a wait for an event's mark, a signal, or the outside.
    pub(crate) fn wait_for_event(
        &self,
        what: EventAction,
        mark: Option<&Mark>,
        event: EventTask,
        caller: &Caller<'_>,
    ) -> Result<Taken> {
        let action = match (what, mark) {
            (EventAction::Inside, Some(mark)) => Action::Join(mark.node),
            (EventAction::Inside, None) => return Ok(Taken::Recorded),
            (EventAction::Plain(task), _) => Action::Task(task),
            (EventAction::External(event), _) => {
                self.once_outside(&event)?;
                Action::ExternalWait(event)
            }
        };
        Ok(
            match self.take_event(TaskKind::Wait, action, event, caller)? {
                Some(_) => Taken::Recorded,
                None => Taken::NotRecording,
            },
        )
    }

    /// Records a reset of an event.
    pub(crate) fn reset_event(
        &self,
        task: Task,
        event: EventTask,
        caller: &Caller<'_>,
    ) -> Result<Taken> {
        Ok(
            match self.take_event(TaskKind::Reset, Action::Task(task), event, caller)? {
                Some(_) => Taken::Recorded,
                None => Taken::NotRecording,
            },
        )
    }

    /// Lets an event be recorded for, or waited for from, the outside once in a graph.
    fn once_outside(&self, event: &Arc<Event>) -> Result<()> {
        let Some(graph) = self.capture() else {
            return Ok(());
        };
        if graph.origin == Origin::Branch {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "model {} is a branch of a condition, in which events have no meaning for the outside",
                    graph.number
                ),
            ));
        }
        let inner = graph.inner.lock();
        let used = inner.nodes.iter().any(|node| {
            matches!(&node.action, Action::ExternalSet(other) | Action::ExternalWait(other) if Arc::ptr_eq(other, event))
        });
        if used {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "event {} orders model {} with the outside already; it can do so once in a model",
                    event.number(),
                    graph.number
                ),
            )
            .fix("Use an event for each external record and each external wait."));
        }
        Ok(())
    }
}
