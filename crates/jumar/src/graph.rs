//! Captured graphs: work that is recorded once and launched as a whole.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use jumar_core::CaptureMode;
use jumar_types::{Error, ErrorKind, Result};

use crate::buffer::{Memory, OnDevice};
use crate::call::{self, by};
use crate::context::{self, Context};
use crate::kernel::{Kernel, KernelArg, LaunchConfig};
use crate::model::{Model, Operand};
use crate::runtime::wait_elsewhere;
use crate::stream::Stream;

/// Work that was recorded by [`Context::capture`]. A clone refers to the same one.
///
/// ```
/// use jumar::{DeviceBuffer, Runtime};
///
/// let runtime = Runtime::new()?;
/// let context = runtime.device(0)?.context()?;
/// let stream = context.stream()?;
/// let source = DeviceBuffer::from_slice(&context, &[1u32, 2, 3])?;
/// let target = DeviceBuffer::<u32>::new(&context, 3)?;
///
/// let graph = context.capture(|capture| capture.copy(&source, &target))?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&target)?, [1, 2, 3]);
/// stream.write(&source, &[4, 5, 6])?;
/// graph.launch(&stream)?;
/// assert_eq!(stream.read(&target)?, [4, 5, 6]);
/// # Ok::<(), jumar::Error>(())
/// ```
///
/// # Ownership
/// It keeps the memory, the models and the kernels that it works with. Dropping the last name waits for queued launches.
///
/// # Threads
/// Any thread may launch it, on any stream of its context. Launches of one graph run one after the other.
#[derive(Clone)]
pub struct Graph {
    inner: Arc<SharedGraph>,
}

/// What the names of a graph share.
struct SharedGraph {
    context: Arc<context::SharedContext>,
    core: Arc<jumar_core::Graph>,
    uses: Uses,
}

/// What recorded tasks work with.
#[derive(Default)]
struct Uses {
    memory: Vec<Arc<Memory>>,
    models: Vec<Model>,
    kernels: Vec<Kernel>,
}

/// Where tasks are recorded: the argument of [`Context::capture`].
pub struct Capture {
    /// A stream that only the capture knows, so that nothing else is recorded.
    stream: Stream,
    uses: RefCell<Uses>,
}

impl Context {
    /// Records the tasks that a function submits. Nothing runs until [`Graph::launch`].
    ///
    /// # Errors
    /// What the function returns; `NoStreamResource`: the device has no stream left.
    pub fn capture(&self, record: impl FnOnce(&Capture) -> Result<()>) -> Result<Graph> {
        let capture = Capture {
            stream: self.stream()?,
            uses: RefCell::default(),
        };
        let core = &capture.stream.inner.core;
        let recording = by(&call::CAPTURE, |caller| {
            let mode = CaptureMode::Relaxed;
            let graph = jumar_core::Graph::begin(&self.inner.core, core, mode, caller)?;
            Ok(Recording {
                stream: core.clone(),
                graph: Some(graph),
            })
        })?;
        record(&capture)?;
        let core = recording.end()?;
        Ok(Graph {
            inner: Arc::new(SharedGraph {
                context: self.inner.clone(),
                core,
                uses: capture.uses.into_inner(),
            }),
        })
    }
}

/// A capture under way. Dropped before its end (an error, a panic), it leaves no graph behind.
struct Recording {
    stream: Arc<jumar_core::Stream>,
    graph: Option<Arc<jumar_core::Graph>>,
}

impl Recording {
    fn end(mut self) -> Result<Arc<jumar_core::Graph>> {
        self.graph = None;
        by(&call::CAPTURE, |caller| {
            jumar_core::Graph::end(&self.stream, caller)
        })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.graph.take().is_some() {
            // A capture that a failed call made invalid ends without a graph, and then there is nothing to destroy.
            drop(by(&call::CAPTURE, |caller| {
                jumar_core::Graph::end(&self.stream, caller)?.destroy(caller)
            }));
        }
    }
}

impl Capture {
    /// Records a copy between device buffers, as [`Stream::copy`].
    ///
    /// # Errors
    /// As [`Stream::copy`].
    pub fn copy<F: OnDevice, D: OnDevice<Element = F::Element>>(
        &self,
        from: &F,
        to: &D,
    ) -> Result<()> {
        self.stream.copy(from, to)?;
        self.keep([from.as_part().memory, to.as_part().memory]);
        Ok(())
    }

    /// Records a fill of a device buffer, as [`Stream::fill`].
    ///
    /// # Errors
    /// As [`Stream::fill`].
    pub fn fill<D: OnDevice>(&self, to: &D, byte: u8) -> Result<()> {
        self.stream.fill(to, byte)?;
        self.keep([to.as_part().memory]);
        Ok(())
    }

    /// Records an execution of a model, as [`Model::run_into`].
    ///
    /// # Errors
    /// As [`Model::run_into`].
    pub fn run(
        &self,
        model: &Model,
        inputs: &[Operand<'_>],
        outputs: &[Operand<'_>],
    ) -> Result<()> {
        model.run_into(&self.stream, inputs, outputs)?;
        self.keep(inputs.iter().chain(outputs).map(Operand::memory));
        self.uses.borrow_mut().models.push(model.clone());
        Ok(())
    }

    /// Records a launch of a kernel, as [`Stream::launch`]. The values among the arguments are those of now.
    ///
    /// # Safety
    /// As [`Stream::launch`], for each launch of the graph.
    ///
    /// # Errors
    /// As [`Stream::launch`].
    #[expect(
        unsafe_code,
        reason = "the caller guarantees what the kernel does with its arguments"
    )]
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        config: impl Into<LaunchConfig>,
        args: &[KernelArg<'_>],
    ) -> Result<()> {
        kernel.submit(&self.stream, config.into(), args)?;
        self.keep(args.iter().filter_map(KernelArg::memory));
        self.uses.borrow_mut().kernels.push(kernel.clone());
        Ok(())
    }

    fn keep<'a>(&self, memory: impl IntoIterator<Item = &'a Arc<Memory>>) {
        let kept = &mut self.uses.borrow_mut().memory;
        for memory in memory {
            if !kept.iter().any(|other| Arc::ptr_eq(other, memory)) {
                kept.push(memory.clone());
            }
        }
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Capture").field(&self.stream).finish()
    }
}

impl Graph {
    /// Returns the graph's number, which messages and timelines name it by.
    pub fn number(&self) -> u32 {
        self.inner.core.number()
    }

    /// Queues the recorded tasks on a stream. They run in their order, behind everything that was submitted to the stream before.
    ///
    /// # Errors
    /// `StreamContext`: the stream is of another context.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        let inner = &self.inner;
        by(&call::LAUNCH_GRAPH, |caller| {
            if !Arc::ptr_eq(&stream.inner.context, &inner.context) {
                let sentence = format!(
                    "graph {} was captured in another context than that of stream {}",
                    self.number(),
                    stream.number()
                );
                return Err(Error::new(ErrorKind::StreamContext, sentence)
                    .fix("Launch it on a stream of its context."));
            }
            let memory: Vec<&Arc<Memory>> = inner.uses.memory.iter().collect();
            stream
                .submit(&[], &memory, caller, |core| {
                    inner.core.execute(core, caller)
                })
                .map(drop)
        })
    }
}

impl Drop for SharedGraph {
    fn drop(&mut self) {
        let (context, core) = (self.context.clone(), self.core.clone());
        // Models wait for their own executions only, so they go after the graph.
        let uses = std::mem::take(&mut self.uses);
        wait_elsewhere(move || {
            // A context that is gone took the graph along.
            drop(by(&call::DROP_GRAPH, |caller| core.destroy(caller)));
            drop(uses);
            drop(context);
        });
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("number", &self.number())
            .finish()
    }
}
