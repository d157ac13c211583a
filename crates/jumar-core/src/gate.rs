//! The only interception point for diagnostics: every operation on a device passes here as plain data.
//!
//! Core admits an operation on the caller's thread, before it is queued; its executor reports its phases. Probes
//! watch and may refuse. Most are there from the runtime's first moment on; one that comes later (a profile that a program
//! switches on) sees the operations that are admitted from then on. With none, the gate is one load and one branch.

use std::sync::Arc;

use jumar_hal::sync::{AtomicBool, AtomicU64, Ordering, RwLock, now_ns};
use jumar_types::{Error, Result};

use crate::{Caller, ValueTest};
use jumar_hal::Span;

/// An operation, with what it reads, writes and orders.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Op<'a> {
    /// Memory was handed out.
    Allocate {
        /// The memory.
        span: Span,
        /// The device, or `None` for pinned host memory.
        device: Option<u32>,
    },
    /// Memory is given back.
    Free {
        /// The memory.
        span: Span,
        /// The device, or `None` for pinned host memory.
        device: Option<u32>,
    },
    /// A copy; without a stream it is done at once on the calling thread.
    Copy {
        /// What is written.
        to: Span,
        /// What is read.
        from: Span,
        /// "host to device" and so on, by where the two ends really live.
        direction: &'static str,
    },
    /// A copy of rows of a matrix; without a stream it is done at once on the calling thread.
    CopyRows {
        /// What is written.
        to: Rows,
        /// What is read.
        from: Rows,
        /// As for `Copy`.
        direction: &'static str,
    },
    /// Several copies that belong together, in no order among themselves; without a stream they are done at once.
    CopyBatch {
        /// Each copy: what is written, what is read.
        pieces: &'a [(Span, Span)],
        /// As for `Copy`.
        direction: &'static str,
    },
    /// A fill with one byte value or word; without a stream it is done at once on the calling thread.
    Fill {
        /// What is written.
        to: Span,
    },
    /// The point in a stream that an event stands for. A `Wait` with the same number comes after it.
    Record {
        /// The event's number for messages.
        event: u64,
        /// The number of this record, unique in the runtime.
        record: u64,
    },
    /// A stream waits for a record.
    Wait {
        /// The event's number for messages.
        event: u64,
        /// The number of the record waited for; 0 when it is whichever comes next.
        record: u64,
        /// Which records end the wait.
        ends: WaitEnd,
    },
    /// An execution of a captured model records an event, or waits for its newest record, among its steps. Only the order is
    /// shown: nothing is reported of it.
    Edge {
        /// The event's number for messages.
        event: u64,
        /// A record and not a wait.
        records: bool,
    },
    /// An event is put back to "not recorded".
    ResetEvent {
        /// The event's number for messages.
        event: u64,
    },
    /// A value is written to a word of memory, for which streams may wait.
    WriteValue {
        /// The word.
        to: Span,
        /// The value.
        value: u64,
    },
    /// A stream waits until a word of memory has some value.
    WaitValue {
        /// The word.
        at: Span,
        /// What it is compared with.
        value: u64,
        /// How it is compared.
        test: ValueTest,
    },
    /// A program runs on the device.
    Launch {
        /// The model's or kernel's name.
        name: &'a str,
        /// What is read.
        reads: &'a [Span],
        /// What is written.
        writes: &'a [Span],
    },
    /// A function of the program under test runs on the host, in stream order.
    Callback {
        /// Whether the stream is blocked until it returns.
        blocks: bool,
    },
    /// The host waits for a stream.
    WaitForStream,
    /// The host waits for an event.
    WaitForEvent {
        /// The event's number for messages.
        event: u64,
        /// The record waited for.
        record: u64,
    },
    /// The host waits for every stream of a context.
    WaitForContext {
        /// The numbers of the context's streams.
        streams: &'a [u32],
    },
}

/// Which records end the wait of a stream: the order that the wait promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// The record that was the newest one when the wait was queued.
    Newest,
    /// Any record since the last reset: the event is a level, which later records leave set.
    Level,
    /// Any record that no earlier wait has taken: the wait clears what it waited for.
    Taken,
    /// Several records, whose changes together make the number that is waited for.
    Counted,
    /// A record that has not been queued, or something that is not a record.
    Unknown,
}

impl Op<'_> {
    /// Lists the memory that is written.
    pub fn each_written(&self, mut each: impl FnMut(Span)) {
        match self {
            Op::Copy { to, .. } | Op::Fill { to } | Op::WriteValue { to, .. } => each(*to),
            Op::CopyRows { to, .. } => to.iter().for_each(each),
            Op::CopyBatch { pieces, .. } => pieces.iter().for_each(|(to, _)| each(*to)),
            Op::Launch { writes, .. } => writes.iter().for_each(|to| each(*to)),
            Op::Allocate { .. }
            | Op::Free { .. }
            | Op::Record { .. }
            | Op::Wait { .. }
            | Op::Edge { .. }
            | Op::ResetEvent { .. }
            | Op::WaitValue { .. }
            | Op::Callback { .. }
            | Op::WaitForStream
            | Op::WaitForEvent { .. }
            | Op::WaitForContext { .. } => {}
        }
    }
}

/// Rows of a matrix: as many ranges of one length, at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// From the first byte of the first row to the last byte of the last one; the gaps between rows lie inside.
    pub span: Span,
    /// From the begin of one row to that of the next one, in bytes.
    pub pitch: usize,
    /// The length of a row in bytes.
    pub width: usize,
    /// How many rows there are.
    pub height: usize,
}

impl Rows {
    /// Takes apart the range that rows lie in. `None`: it is not exactly as long as the rows say.
    pub fn of(span: Span, pitch: usize, width: usize, height: usize) -> Option<Rows> {
        let bytes = height
            .checked_sub(1)?
            .checked_mul(pitch)?
            .checked_add(width)?;
        (width > 0 && width <= pitch && bytes == span.bytes()).then_some(Rows {
            span,
            pitch,
            width,
            height,
        })
    }

    /// Lists the ranges of the rows.
    pub fn iter(&self) -> impl Iterator<Item = Span> + use<> {
        let Rows {
            span, pitch, width, ..
        } = *self;
        (0..self.height).filter_map(move |row| span.part(row * pitch, width))
    }

    /// Returns the bytes of all rows, without the gaps.
    pub fn bytes(&self) -> usize {
        self.width * self.height
    }
}

/// An operation as probes see it.
#[derive(Clone, Debug)]
pub struct Admission<'a> {
    /// The operation's number; reports carry it.
    pub ticket: u64,
    /// The public function that it came in through.
    pub call: &'static str,
    /// The device.
    pub device: u32,
    /// The stream's number, or `None` for work done on the calling thread.
    pub stream: Option<u32>,
    /// It is a step of something that was admitted as a whole, and is shown as it begins: its order is that of the whole.
    pub inner: bool,
    /// When it was admitted.
    pub at_ns: u64,
    /// What it is.
    pub op: Op<'a>,
}

/// The phase of an operation that a probe is notified of.
#[derive(Clone, Debug)]
pub enum Phase {
    /// The operation started.
    Started,
    /// The operation finished without an error.
    Finished,
    /// The operation failed.
    Failed(Error),
}

/// An observer of operations, which may refuse them. Probes get plain values and never the runtime, so they
/// cannot re-enter it.
pub trait Probe: Send + Sync {
    /// Sees an operation on the caller's thread before it is queued.
    ///
    /// # Errors
    /// An error refuses the operation: the caller gets it as if the runtime had failed (fault injection).
    fn before(&self, _admission: &Admission<'_>) -> Result<()> {
        Ok(())
    }

    /// Sees what became of an operation, on whichever thread ran it.
    fn reported(&self, _ticket: u64, _phase: &Phase, _at_ns: u64) {}

    /// Returns whether a task that it has just let through is to fail when its turn comes, and what with.
    fn breaks(&self, _admission: &Admission<'_>) -> Option<Error> {
        None
    }

    /// Hears of bytes that the task which is admitted next may write or read in part: nothing is known of their contents
    /// afterwards.
    fn may_be_written(&self, _span: Span) {}

    /// Returns whether the probe uses times. If no probe does, no clock is read, and times are 0.
    fn needs_times(&self) -> bool {
        true
    }
}

/// The gate of one runtime.
pub struct Gate {
    /// Whether there is any probe: the only check of an operation without probes.
    observed: AtomicBool,
    /// Probes from the runtime's start: called without a lock.
    first: Box<[Arc<dyn Probe>]>,
    /// Whether one of them looks at times.
    timed: bool,
    has_later: AtomicBool,
    later: RwLock<Arc<[Arc<dyn Probe>]>>,
    tickets: CacheLinePadded<AtomicU64>,
}

/// In a line of the caches of its own: what changes with each operation does not slow down those who read what stands beside it.
#[derive(Default)]
#[repr(align(128))]
struct CacheLinePadded<T>(T);

impl Default for Gate {
    fn default() -> Self {
        Gate::new(Vec::new())
    }
}

impl Gate {
    /// Makes a gate with the probes that watch from the beginning.
    pub fn new(probes: Vec<Arc<dyn Probe>>) -> Self {
        Gate {
            observed: AtomicBool::new(!probes.is_empty()),
            timed: probes.iter().any(|probe| probe.needs_times()),
            first: probes.into(),
            has_later: AtomicBool::new(false),
            later: RwLock::new(Arc::from([])),
            tickets: CacheLinePadded::default(),
        }
    }

    /// Adds a probe for operations that are admitted from now on. It does not see operations that were admitted while there
    /// was no probe, and may see the end of one whose start it did not see.
    pub fn attach(&self, probe: Arc<dyn Probe>) {
        let mut later = self.later.write();
        *later = later.iter().cloned().chain([probe]).collect();
        self.has_later.store(true, Ordering::Relaxed);
        self.observed.store(true, Ordering::Relaxed);
    }

    /// Removes a probe of [`Gate::attach`]. A thread that is inside the gate may still report its operation to the probe.
    pub fn detach(&self, probe: &Arc<dyn Probe>) {
        let mut later = self.later.write();
        let others = later.iter().filter(|other| !Arc::ptr_eq(other, probe));
        *later = others.cloned().collect();
        self.has_later.store(!later.is_empty(), Ordering::Relaxed);
        let anybody = !later.is_empty() || !self.first.is_empty();
        self.observed.store(anybody, Ordering::Relaxed);
    }

    /// Returns whether anybody watches.
    #[inline]
    pub fn is_observed(&self) -> bool {
        !cfg!(feature = "bench-without-gate") && self.observed.load(Ordering::Relaxed)
    }

    /// Admits an operation and returns its ticket; 0 without probes. The operation is described
    /// only if there are probes.
    ///
    /// # Errors
    /// Whatever a probe refuses it with.
    #[inline]
    pub fn admit<'a>(
        &self,
        caller: &Caller<'_>,
        device: u32,
        stream: Option<u32>,
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        if !self.is_observed() {
            return Ok(0);
        }
        self.admit_observed(caller, device, stream, false, op())
            .map(|(ticket, _)| ticket)
    }

    /// As [`Gate::admit`] for a task, with what it is to fail with instead of being run.
    ///
    /// # Errors
    /// As [`Gate::admit`].
    #[inline]
    pub fn admit_task<'a>(
        &self,
        caller: &Caller<'_>,
        device: u32,
        stream: u32,
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<(u64, Option<Error>)> {
        if !self.is_observed() {
            return Ok((0, None));
        }
        self.admit_observed(caller, device, Some(stream), false, op())
    }

    /// Reports a step of an admitted operation. Returns its ticket; 0 without probes.
    ///
    /// # Errors
    /// As [`Gate::admit`].
    pub fn admit_step(
        &self,
        caller: &Caller<'_>,
        device: u32,
        stream: u32,
        op: Op<'_>,
    ) -> Result<u64> {
        if !self.is_observed() {
            return Ok(0);
        }
        self.admit_observed(caller, device, Some(stream), true, op)
            .map(|(ticket, _)| ticket)
    }

    #[cold]
    fn admit_observed(
        &self,
        caller: &Caller<'_>,
        device: u32,
        stream: Option<u32>,
        inner: bool,
        op: Op<'_>,
    ) -> Result<(u64, Option<Error>)> {
        let ticket = self.tickets.0.fetch_add(1, Ordering::Relaxed) + 1;
        let later = self.later();
        let admission = Admission {
            ticket,
            call: caller.call.name,
            device,
            stream,
            inner,
            at_ns: self.time(&later),
            op,
        };
        let probes = || {
            let later = later.iter().flat_map(|later| later.iter());
            self.first.iter().chain(later)
        };
        for (index, probe) in probes().enumerate() {
            let Err(refused) = probe.before(&admission) else {
                continue;
            };
            // Those that let it through would look out for its end forever.
            let phase = Phase::Failed(refused.clone());
            for earlier in probes().take(index) {
                earlier.reported(ticket, &phase, admission.at_ns);
            }
            return Err(refused);
        }
        let breaks = |probe: &Arc<dyn Probe>| probe.breaks(&admission);
        Ok((ticket, self.first.iter().find_map(breaks)))
    }

    /// Passes on bytes that the task which is admitted next may write or read in part.
    pub fn may_be_written(&self, span: Span) {
        if !self.is_observed() {
            return;
        }
        let later = self.later();
        let later = later.iter().flat_map(|later| later.iter());
        for probe in self.first.iter().chain(later) {
            probe.may_be_written(span);
        }
    }

    /// Passes on what became of an operation.
    #[inline]
    pub fn report(&self, ticket: u64, phase: Phase) {
        if ticket != 0 {
            self.report_observed(ticket, &phase);
        }
    }

    #[cold]
    fn report_observed(&self, ticket: u64, phase: &Phase) {
        let later = self.later();
        let now = self.time(&later);
        for probe in &self.first {
            probe.reported(ticket, phase, now);
        }
        for probe in later.iter().flat_map(|later| later.iter()) {
            probe.reported(ticket, phase, now);
        }
    }

    fn time(&self, later: &Option<Arc<[Arc<dyn Probe>]>>) -> u64 {
        match self.timed || later.is_some() {
            true => now_ns(),
            false => 0,
        }
    }

    /// A snapshot of the probes that were added later: no lock is held while a probe is called.
    fn later(&self) -> Option<Arc<[Arc<dyn Probe>]>> {
        self.has_later
            .load(Ordering::Relaxed)
            .then(|| self.later.read().clone())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::{Call, Lookups};

    #[derive(Default)]
    struct Counts {
        before: AtomicUsize,
        after: AtomicUsize,
    }

    impl Probe for Counts {
        fn before(&self, _admission: &Admission<'_>) -> Result<()> {
            self.before.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        fn reported(&self, _ticket: u64, _phase: &Phase, _at_ns: u64) {
            self.after.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Refusing;

    impl Probe for Refusing {
        fn before(&self, _admission: &Admission<'_>) -> Result<()> {
            Err(Error::new(jumar_types::ErrorKind::RuntimeInternal, "no"))
        }
    }

    #[test]
    fn a_probe_sees_the_end_of_what_a_later_one_refused() {
        let (first, last) = (Arc::new(Counts::default()), Arc::new(Counts::default()));
        let gate = Gate::new(vec![first.clone(), Arc::new(Refusing), last.clone()]);
        static CALL: Call = Call {
            name: "test",
            number: 0,
        };
        let lookups = Lookups::default();
        let caller = Caller::new(&CALL, &lookups);
        let refused = gate.admit(&caller, 0, None, || Op::WaitForContext { streams: &[] });
        assert!(refused.is_err());
        let seen = [&first, &last].map(|probe| {
            let [before, after] = [&probe.before, &probe.after];
            (
                before.load(Ordering::Relaxed),
                after.load(Ordering::Relaxed),
            )
        });
        assert_eq!(seen, [(1, 1), (0, 0)]);
    }

    #[test]
    fn a_probe_that_comes_later_sees_what_is_admitted_while_it_watches() {
        let gate = Gate::default();
        let lookups = Lookups::default();
        static CALL: Call = Call {
            name: "test",
            number: 0,
        };
        let caller = Caller::new(&CALL, &lookups);
        let pass = || {
            let ticket = gate.admit(&caller, 0, None, || Op::WaitForContext { streams: &[] });
            let ticket = ticket.expect("the probe refuses nothing");
            gate.report(ticket, Phase::Finished);
            ticket
        };
        assert_eq!(pass(), 0);
        let counts = Arc::new(Counts::default());
        let probe: Arc<dyn Probe> = counts.clone();
        gate.attach(probe.clone());
        assert!(gate.is_observed());
        assert_ne!(pass(), 0);
        gate.detach(&probe);
        assert!(!gate.is_observed());
        assert_eq!(pass(), 0);
        let seen = (
            counts.before.load(Ordering::Relaxed),
            counts.after.load(Ordering::Relaxed),
        );
        assert_eq!(seen, (1, 1));
    }
}
