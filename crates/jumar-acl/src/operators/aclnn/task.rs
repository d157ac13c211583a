//! The task that a second phase queues.

use std::ops::Range;
use std::sync::Arc;

use jumar::engine::sync::{Mutex, thread};
use jumar::engine::{Cost, Program, Span, Team};
use jumar_eager::{Block, Dims, OpError, Plan, Region, Share, Workers};
use jumar_types::{Error, ErrorKind, Result};

/// A queued run of a plan. It owns all that it needs.
pub(super) struct Run {
    pub(super) name: &'static str,
    pub(super) plan: Arc<Plan>,
    /// The steps that run: all, or those between two collectives.
    pub(super) steps: Range<usize>,
    /// The memory of each tensor argument; no bytes for one that the plan does not touch.
    pub(super) buffers: Box<[Span]>,
    pub(super) workspace: Workspace,
    pub(super) threads: Threads,
    /// The plan takes a few microseconds at most.
    pub(super) short: bool,
    /// The shapes that the run found out, with the index of each tensor.
    pub(super) shapes: Mutex<Vec<(usize, Dims)>>,
}

/// Memory for intermediate results.
#[derive(Clone, Copy)]
pub(super) enum Workspace {
    /// Memory of the program, which keeps it until the run has ended, and for as long as a captured model has the task.
    Given(Span),
    /// So many bytes that a run takes and returns.
    Own(usize),
}

impl Workspace {
    /// Returns the memory of the program.
    pub(super) fn span(self) -> Span {
        match self {
            Workspace::Given(span) => span,
            Workspace::Own(_) => Span::EMPTY,
        }
    }
}

/// The device's workers, as kernels see them.
pub(super) struct Threads(pub(super) Team);

impl Share for Threads {
    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        self.0.share(parts, work);
    }
}

/// Up to this many tensors a run allocates nothing for them.
const FEW: usize = 8;

/// Zeros of at least so many bytes leave memory untouched that has no pages yet.
const SPARSE: usize = 32 << 20;
/// How much of them one thread writes at a time.
const SPARSE_PART: usize = 16 << 20;

impl Run {
    /// Fills a large tensor with zeros, if the plan does that and nothing else. Returns whether it did.
    fn cleared(&self) -> bool {
        let tensor = self.plan.zeros().and_then(|(buffer, offset, bytes)| {
            let all = self.buffers.get(buffer)?;
            (bytes >= SPARSE).then(|| all.part(offset, bytes)).flatten()
        });
        let Some(all) = tensor else { return false };
        let parts = all.bytes().div_ceil(SPARSE_PART);
        self.threads.share(parts, &|part| {
            let start = part * SPARSE_PART;
            let bytes = SPARSE_PART.min(all.bytes() - start);
            if let Some(own) = all.part(start, bytes) {
                self.threads.0.clear(own);
            }
        });
        true
    }

    fn run_on(&self, buffers: &[Region<'_>]) -> std::result::Result<(), OpError> {
        let mut own = match self.workspace {
            Workspace::Given(_) => Block::zeroed(0),
            Workspace::Own(bytes) => Block::zeroed(bytes),
        };
        let workspace = match self.workspace {
            Workspace::Given(span) => Region::of(span),
            Workspace::Own(_) => own.region(),
        };
        let workers = Workers::of(&self.threads);
        let steps = self.steps.clone();
        let ran = self.plan.run_part(steps, buffers, workspace, workers)?;
        if self.plan.writes_shapes() {
            *self.shapes.lock() = ran.shapes;
        }
        Ok(())
    }
}

impl Program for Run {
    fn run(&self) -> Result<()> {
        let pause = self.plan.pause();
        if !pause.is_zero() {
            thread::sleep(pause);
        }
        if self.cleared() {
            return Ok(());
        }
        let spans = self.buffers.iter().copied();
        let done = if spans.len() <= FEW {
            let mut few = [Region::EMPTY; FEW];
            let count = spans.len();
            let slots = few.iter_mut().zip(spans);
            slots.for_each(|(slot, span)| *slot = Region::of(span));
            self.run_on(&few[..count])
        } else {
            self.run_on(&spans.map(Region::of).collect::<Vec<_>>())
        };
        done.map_err(|error| {
            let sentence = format!("{} failed: {error}", self.name);
            Error::new(ErrorKind::KernelFailed, sentence)
        })
    }

    fn cost(&self) -> Cost {
        if self.is_short() {
            Cost::Bounded
        } else {
            Cost::Unbounded
        }
    }

    fn is_short(&self) -> bool {
        self.short
    }

    fn name(&self) -> &str {
        self.name
    }
}
