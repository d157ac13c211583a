//! Where the order of execution changes: labels and jumps, activation of streams, conditions with branches; and the
//! hand-built models that most of these belong to.

use std::collections::HashMap;
use std::sync::Arc;

use jumar_hal::Span;
use jumar_hal::sync::{AtomicU32, Mutex, Ordering};
use jumar_types::{Error, ErrorKind, Result};

use super::record::Recording;
use super::{Action, CaptureMode, CapturedStream, Graph, Origin, Phase, Recorder, TaskKind};
use crate::memory::Block;
use crate::runtime::SharedRuntime;
use crate::{Caller, Context, Stream};

/// A node where the order of execution may change.
pub(super) enum Control {
    /// The position that a label names.
    Label(Arc<Label>),
    /// A jump to the label whose number lies in memory.
    Jump {
        index: Span,
        most: u32,
        labels: Arc<[Arc<Label>]>,
    },
    /// Starts the sequence of a stream.
    Activate(u64),
    /// Starts the sequence of a stream and ends this one, if two numbers in memory compare so.
    Compare {
        left: Span,
        right: Span,
        how: Comparison,
        width: Width,
        target: u64,
    },
    /// Runs branches as a number in memory says.
    Choose {
        condition: Arc<Condition>,
        kind: ConditionKind,
        branches: Box<[Arc<Graph>]>,
    },
    /// The end of a built model.
    End,
}

/// How two numbers are compared; both are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Left equals right.
    Equal,
    /// Left differs from right.
    NotEqual,
    /// Left is greater.
    Greater,
    /// Left is greater, or equals right.
    GreaterOrEqual,
    /// Left is less.
    Less,
    /// Left is less, or equals right.
    LessOrEqual,
}

/// How wide numbers in memory are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 32 bits.
    Four,
    /// 64 bits.
    Eight,
}

impl Width {
    /// Returns the width.
    ///
    /// # Units
    /// Bytes.
    pub fn bytes(self) -> usize {
        match self {
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// Reads a signed number.
    pub(super) fn read(self, shared: &SharedRuntime, from: Span) -> i64 {
        let mut bytes = [0; 8];
        shared
            .backend
            .read_now(from, &mut bytes[..self.bytes().min(from.bytes())]);
        match self {
            Width::Four => i64::from(i64::from_le_bytes(bytes) as i32),
            Width::Eight => i64::from_le_bytes(bytes),
        }
    }
}

impl Comparison {
    pub(super) fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
        }
    }
}

/// What a condition chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// The first branch if the number is not 0, otherwise the second, if there is one.
    If,
    /// The branch again and again while the number is not 0.
    While,
    /// The branch of that number, if there is one.
    Switch,
}

/// A number in device memory that chooses among branches.
pub struct Condition {
    id: u64,
    graph: u64,
    number: u32,
    block: Block,
    /// What the number is set to before each execution.
    default: Option<u32>,
}

impl Condition {
    /// Makes a condition of a graph. With `reset`, the number is set to `default` before each execution.
    ///
    /// # Errors
    /// `OutOfMemory`; `InvalidHandle`: the graph was destroyed.
    pub fn create(
        context: &Context,
        graph: &Arc<Graph>,
        default: u32,
        reset: bool,
        caller: &Caller<'_>,
    ) -> Result<Arc<Condition>> {
        let shared = context.shared();
        let block = context.allocate(size_of::<u64>(), size_of::<u64>(), caller)?;
        shared
            .backend
            .write_now(block.span, &u64::from(default).to_le_bytes());
        let condition = shared
            .conditions
            .insert(|id| {
                Arc::new(Condition {
                    id,
                    graph: graph.id,
                    number: graph.number,
                    block,
                    default: reset.then_some(default),
                })
            })
            .inspect_err(|_| drop(context.free(block.span.address(), caller)))?;
        let mut inner = graph.inner.lock();
        if inner.phase == Phase::Gone {
            drop(inner);
            condition.discard(shared, caller.call.name);
            return Err(graph.destroyed());
        }
        inner.conditions.push(condition.clone());
        Ok(condition)
    }

    /// Returns the condition's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the memory of the number.
    pub fn memory(&self) -> Span {
        self.block.span
    }

    pub(super) fn reset(&self, shared: &SharedRuntime) {
        if let Some(default) = self.default {
            shared
                .backend
                .write_now(self.block.span, &u64::from(default).to_le_bytes());
        }
    }

    pub(super) fn value(&self, shared: &SharedRuntime) -> u64 {
        let mut bytes = [0; 8];
        shared.backend.read_now(self.block.span, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    pub(super) fn discard(&self, shared: &SharedRuntime, by: &'static str) {
        drop(shared.conditions.remove(self.id, by));
        // A device that was reset has dropped all memory.
        drop(shared.release_block(self.block.span.address()));
    }

    /// Records the choice on a stream that is being captured. Returns its empty branches.
    ///
    /// # Errors
    /// `StreamNotCaptured`; `InvalidValue`: the condition belongs to another model; `OutOfMemory`.
    pub fn choose(
        self: &Arc<Self>,
        context: &Context,
        stream: &Stream,
        kind: ConditionKind,
        branches: u32,
        caller: &Caller<'_>,
    ) -> Result<Vec<Arc<Graph>>> {
        let Some((graph, captured_stream)) =
            stream.recording().filter(|(graph, _)| graph.is_capturing())
        else {
            return Err(stream.not_captured());
        };
        if graph.id != self.graph {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "the condition belongs to model {}, and stream {} is captured into model {}",
                    self.number,
                    stream.number(),
                    graph.number
                ),
            ));
        }
        let mut made: Vec<Arc<Graph>> = Vec::new();
        for _ in 0..branches {
            let branch =
                Graph::create(context, Origin::Branch, Phase::Open, CaptureMode::Global, 0);
            made.push(branch.inspect_err(|_| {
                for branch in &made {
                    discard_unused(branch, caller);
                }
            })?);
        }
        let recorded = {
            let mut inner = graph.inner.lock();
            let choose = Control::Choose {
                condition: self.clone(),
                kind,
                branches: made.clone().into(),
            };
            let recorded = graph.control(&mut inner, captured_stream, choose, caller);
            if recorded.is_ok() {
                inner.branches.extend(made.iter().cloned());
            }
            recorded
        };
        if recorded.is_err() {
            // Another thread has ended the capture meanwhile.
            for branch in &made {
                discard_unused(branch, caller);
            }
            return Err(stream.not_captured());
        }
        Ok(made)
    }
}

/// Makes the handle of a branch stale that became a part of no model.
fn discard_unused(branch: &Graph, caller: &Caller<'_>) {
    drop(branch.shared.graphs.remove(branch.id, caller.call.name));
}

/// A label: a name for a position in a stream of a model.
pub struct Label {
    id: u64,
    context_id: u64,
    /// 0: fresh; 1: in a list; 2: set.
    state: AtomicU32,
}

const FRESH: u32 = 0;
const LISTED: u32 = 1;
const SET: u32 = 2;
/// How many labels can be alive, and how many fit a list.
pub(super) const MOST_LABELS: usize = 65535;
/// What the device keeps for each label of a list.
const SLOT_BYTES: usize = 16;

fn refused(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::RuntimeInternal, sentence)
}

impl Label {
    /// Makes a label.
    ///
    /// # Errors
    /// `RuntimeInternal`: 65535 labels are alive.
    pub fn create(context: &Context) -> Result<Arc<Label>> {
        let shared = context.shared();
        if shared.labels.len() >= MOST_LABELS {
            return Err(refused(format!(
                "{MOST_LABELS} labels exist, which is the maximum"
            )));
        }
        shared.labels.insert(|id| {
            Arc::new(Label {
                id,
                context_id: context.id(),
                state: AtomicU32::new(FRESH),
            })
        })
    }

    /// Returns the label's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the handle of the label's context.
    pub fn context_id(&self) -> u64 {
        self.context_id
    }

    /// Destroys the label. A model that it is set in keeps the position.
    ///
    /// # Errors
    /// `InvalidHandle`: destroyed already.
    pub fn destroy(&self, context: &Context, caller: &Caller<'_>) -> Result<()> {
        context
            .shared()
            .labels
            .remove(self.id, caller.call.name)
            .map(drop)
    }

    /// Names the current position of the stream.
    ///
    /// # Errors
    /// `StreamModel`: the stream belongs to no model; `FeatureUnsupported`: to a branch of a condition; `RuntimeInternal`: the
    /// label is in no list, or was set already.
    pub fn set(self: &Arc<Self>, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        let (graph, captured_stream) = stream.of_model()?;
        graph.no_branch("labels")?;
        let mut inner = graph.inner.lock();
        match self
            .state
            .compare_exchange(LISTED, SET, Ordering::AcqRel, Ordering::Acquire)
        {
            Ok(_) => {}
            Err(FRESH) => {
                return Err(
                    refused("the label is not in a list, so no task could jump to it")
                        .fix("Put it into a list with aclrtCreateLabelList first."),
                );
            }
            Err(_) => {
                return Err(refused("the label was already set at a position")
                    .fix("Create a label for each position."));
            }
        }
        graph.control(
            &mut inner,
            captured_stream,
            Control::Label(self.clone()),
            caller,
        )
    }
}

/// The lists of labels that are alive, by the address of their device memory.
#[derive(Default)]
pub struct LabelLists {
    lists: Mutex<HashMap<usize, List>>,
}

struct List {
    /// The number of the allocation: after a reset of the device its address may be another's.
    allocation: u64,
    labels: Arc<[Arc<Label>]>,
}

impl LabelLists {
    /// Makes a list: device memory with an entry for each label.
    ///
    /// # Errors
    /// `RuntimeInternal`: a label is in a list already, or twice in this one; `OutOfMemory`.
    pub fn create(
        &self,
        context: &Context,
        labels: Vec<Arc<Label>>,
        caller: &Caller<'_>,
    ) -> Result<usize> {
        for (position, label) in labels.iter().enumerate() {
            // A list that fails half-way leaves the earlier labels as they are, as on the device.
            if label
                .state
                .compare_exchange(FRESH, LISTED, Ordering::AcqRel, Ordering::Acquire)
                .is_err()
            {
                return Err(
                    refused(format!("label {position} of the list is in a list already"))
                        .fix("A label stays in its list; create new labels for another list."),
                );
            }
        }
        let bytes = labels.len() * SLOT_BYTES;
        let block = context.allocate(bytes, bytes, caller)?;
        context.shared().backend.fill_now(block.span, 0xFF);
        let list = List {
            allocation: block.number,
            labels: labels.into(),
        };
        self.lists.lock().insert(block.span.address(), list);
        Ok(block.span.address())
    }

    /// Destroys a list. Its labels stay listed.
    ///
    /// # Errors
    /// `InvalidValue`: no list is there.
    pub fn destroy(&self, context: &Context, address: usize, caller: &Caller<'_>) -> Result<()> {
        let list = self.lists.lock().remove(&address);
        let there = context.shared().space.find(address);
        match list.zip(there) {
            Some((list, there)) if there.number == list.allocation => context.free(address, caller),
            _ => Err(no_list(address)),
        }
    }

    fn get(&self, address: usize) -> Result<Arc<[Arc<Label>]>> {
        self.lists
            .lock()
            .get(&address)
            .map(|list| list.labels.clone())
            .ok_or_else(|| no_list(address))
    }
}

fn no_list(address: usize) -> Error {
    Error::new(
        ErrorKind::InvalidValue,
        format!("there is no list of labels at {address:#x}"),
    )
    .fix("Pass what aclrtCreateLabelList gave, while it is alive.")
}

impl Graph {
    fn no_branch(&self, what: &str) -> Result<()> {
        if self.origin == Origin::Branch {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "model {} is a branch of a condition, which has no {what}",
                    self.number
                ),
            ));
        }
        Ok(())
    }

    /// Adds a control node to a sequence.
    fn control(
        &self,
        inner: &mut super::Inner,
        captured_stream: u32,
        control: Control,
        caller: &Caller<'_>,
    ) -> Result<()> {
        if !self.records(inner, captured_stream)? {
            return Err(Error::new(
                ErrorKind::StreamModel,
                format!("model {} accepts no more tasks", self.number),
            ));
        }
        inner.add(
            captured_stream,
            Recording {
                kind: TaskKind::Other,
                action: Action::Control(control),
                owned_op: None,
                event: None,
            },
            caller,
        );
        Ok(())
    }

    /// Begins a model that is built from streams.
    ///
    /// # Errors
    /// `OutOfMemory`: too many models.
    pub fn build(context: &Context) -> Result<Arc<Graph>> {
        Graph::create(context, Origin::Built, Phase::Open, CaptureMode::Relaxed, 0)
    }

    fn built(&self, what: &str) -> Result<()> {
        match self.origin {
            Origin::Built => Ok(()),
            Origin::Captured | Origin::Branch => Err(self.not_built(what)),
        }
    }

    /// Binds a stream: what is submitted there becomes a part of the model. With `head`, it starts with the model.
    ///
    /// # Errors
    /// `InvalidValue`: the model was captured; `StreamModel`: the stream is bound, or the model is finished;
    /// `StreamCaptured`: the stream is being captured; `FeatureUnsupported`: it stops on failure.
    pub fn bind(self: &Arc<Self>, stream: &Arc<Stream>, head: bool) -> Result<()> {
        self.built("binding streams")?;
        if let Some(other) = stream.recorder() {
            return Err(other.in_the_way(stream));
        }
        if stream.stops_on_failure() {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "stream {} stops on failure; such a stream cannot be bound to a model",
                    stream.number()
                ),
            ));
        }
        let mut inner = self.inner.lock();
        if inner.phase != Phase::Open {
            return Err(Error::new(
                ErrorKind::StreamModel,
                format!("model {} is finished", self.number),
            ));
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
            .push(CapturedStream::new(stream, head, None));
        Ok(())
    }

    /// Frees a stream of the model. What it recorded stays a part of the model.
    ///
    /// # Errors
    /// `StreamModel`: it is not bound to this model; `StreamCaptured`: it is being captured.
    pub fn unbind(&self, stream: &Arc<Stream>) -> Result<()> {
        match stream.recorder() {
            Some(Recorder::CapturedStream {
                graph,
                captured_stream,
            }) if std::ptr::eq(&*graph, self) => {
                self.built("unbinding streams")?;
                // A model that another thread destroys has let go of its streams already.
                if let Some(captured_stream) = self
                    .inner
                    .lock()
                    .captured_streams
                    .get_mut(captured_stream as usize)
                {
                    captured_stream.attached = None;
                }
                stream.detach();
                Ok(())
            }
            Some(other @ Recorder::CapturedStream { .. })
                if other.capture().is_some_and(|graph| graph.is_capturing()) =>
            {
                Err(other.in_the_way(stream))
            }
            Some(_) | None => Err(Error::new(
                ErrorKind::StreamModel,
                format!(
                    "stream {} is not bound to model {}",
                    stream.number(),
                    self.number
                ),
            )),
        }
    }

    /// Marks the end of the model on one of its streams.
    ///
    /// # Errors
    /// `InvalidValue`: the model was captured; `RuntimeInternal`: the stream is not bound to it; `StreamCaptured`.
    pub fn mark_end(&self, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        self.built("marking the end")?;
        match stream.recorder() {
            Some(Recorder::CapturedStream {
                graph,
                captured_stream,
            }) if std::ptr::eq(&*graph, self) => {
                let mut inner = self.inner.lock();
                self.control(&mut inner, captured_stream, Control::End, caller)?;
                inner.ended = true;
                Ok(())
            }
            Some(other @ Recorder::CapturedStream { .. })
                if other.capture().is_some_and(|graph| graph.is_capturing()) =>
            {
                Err(other.in_the_way(stream))
            }
            Some(_) | None => Err(refused(format!(
                "stream {} is not bound to model {}",
                stream.number(),
                self.number
            ))),
        }
    }

    /// Ends the building; the model can be executed from now on.
    ///
    /// # Errors
    /// `InvalidValue`: the model was captured; `GraphNotReady`: its end was not marked.
    pub fn finish(&self) -> Result<()> {
        self.built("the end of building")?;
        let mut inner = self.inner.lock();
        // A model without a marked end can be finished; only its execution is refused.
        if inner.phase == Phase::Open {
            inner.phase = Phase::Ready;
        }
        Ok(())
    }

    /// Drops what was recorded on a bound stream, and takes new tasks there until the building is ended again.
    ///
    /// # Errors
    /// `RuntimeInternal`: the stream is bound to no model, or the model is not finished; `GraphUpdate`: it is running.
    pub fn clean(stream: &Stream) -> Result<()> {
        let Some((graph, captured_stream)) = stream
            .recording()
            .filter(|(graph, _)| graph.origin == Origin::Built)
        else {
            return Err(refused(format!(
                "stream {} is not bound to a model",
                stream.number()
            )));
        };
        if graph.is_running() {
            return Err(Error::new(
                ErrorKind::GraphUpdate,
                format!("model {} is being executed", graph.number),
            ));
        }
        let dropped: Vec<_> = {
            let mut inner = graph.inner.lock();
            if inner.phase != Phase::Ready {
                return Err(refused(format!("model {} is not finished", graph.number)));
            }
            inner.phase = Phase::Open;
            inner.plan = None;
            let nodes = std::mem::take(&mut inner.captured_streams[captured_stream as usize].nodes);
            nodes
                .into_iter()
                .map(|node| {
                    let node = &mut inner.nodes[node as usize];
                    node.disabled = true;
                    node.owned_op = None;
                    std::mem::replace(&mut node.action, Action::Mark)
                })
                .collect()
        };
        drop(dropped);
        Ok(())
    }
}

impl Stream {
    /// Returns the model and sequence that the stream records for.
    pub(super) fn recording(&self) -> Option<(Arc<Graph>, u32)> {
        match self.recorder() {
            Some(Recorder::CapturedStream {
                graph,
                captured_stream,
            }) => Some((graph, captured_stream)),
            Some(Recorder::Update(_) | Recorder::StandIn { .. }) | None => None,
        }
    }

    fn of_model(&self) -> Result<(Arc<Graph>, u32)> {
        self.recording().ok_or_else(|| {
            Error::new(
                ErrorKind::StreamModel,
                format!("stream {} is not bound to a model", self.number()),
            )
            .fix("Bind the stream to a model with aclmdlRIBindStream first.")
        })
    }

    fn of_built_model(&self) -> Result<(Arc<Graph>, u32)> {
        let (graph, captured_stream) = self.of_model()?;
        match graph.origin {
            Origin::Built => Ok((graph, captured_stream)),
            Origin::Captured | Origin::Branch => Err(Error::new(
                ErrorKind::StreamModel,
                format!(
                    "stream {} is captured, and not bound to a model that is built",
                    self.number()
                ),
            )),
        }
    }

    /// Records a jump to the label whose number lies in memory.
    ///
    /// # Errors
    /// `StreamModel`: the stream belongs to no model; `FeatureUnsupported`: to a branch of a condition; `InvalidValue`: there
    /// is no such list, or the number's memory is not live.
    pub fn jump(
        &self,
        index: Span,
        most: u32,
        lists: &LabelLists,
        list: usize,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let (graph, captured_stream) = self.of_model()?;
        graph.no_branch("labels")?;
        let labels = lists.get(list)?;
        graph.shared.space.resolve(index, caller.lookups, "index")?;
        let mut inner = graph.inner.lock();
        graph.control(
            &mut inner,
            captured_stream,
            Control::Jump {
                index,
                most,
                labels,
            },
            caller,
        )
    }

    /// Records that another bound stream starts.
    ///
    /// # Errors
    /// `StreamModel`: one of the two is bound to no model.
    pub fn activate(&self, target: &Stream, caller: &Caller<'_>) -> Result<()> {
        target.of_built_model()?;
        let (graph, captured_stream) = self.of_built_model()?;
        let mut inner = graph.inner.lock();
        graph.control(
            &mut inner,
            captured_stream,
            Control::Activate(target.id()),
            caller,
        )
    }

    /// Records that another bound stream starts, and this one ends, if two signed numbers in memory compare so.
    ///
    /// # Errors
    /// `StreamModel`: one of the two is bound to no model; `InvalidValue`: a number's memory is not live.
    pub fn compare(
        &self,
        (left, how, right): (Span, Comparison, Span),
        width: Width,
        target: &Stream,
        caller: &Caller<'_>,
    ) -> Result<()> {
        target.of_built_model()?;
        let (graph, captured_stream) = self.of_built_model()?;
        let space = &graph.shared.space;
        space.resolve(left, caller.lookups, "left value")?;
        space.resolve(right, caller.lookups, "right value")?;
        let mut inner = graph.inner.lock();
        graph.control(
            &mut inner,
            captured_stream,
            Control::Compare {
                left,
                right,
                how,
                width,
                target: target.id(),
            },
            caller,
        )
    }
}
