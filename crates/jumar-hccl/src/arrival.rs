//! One execution of an operation by one rank: the tasks that a stream runs for it, and how they learn of its end.
//!
//! A stream gets one task: it announces the rank to the others, waits for a signal, and returns how the operation ended. The wait holds no
//! worker. The transport sets the signal when the rank's part is done. A captured model has a task for each of the three.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicUsize, Instant, Ordering};
use jumar_hal::{Cost, Joint, Program, Signal, Span, SpinLock, Task};
use jumar_types::{Error, ErrorKind, Result};

use crate::communicator::Communicator;
use crate::operation::Operation;
use crate::words::Label;

/// Up to how many bytes of all ranks together the work of an operation takes less time than to wake a worker for it.
const SHORT_BYTES: usize = 256 << 10;

/// Where an operation's number comes from. The two never match each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// The call that queued it.
    Calls,
    /// The execution of a captured model.
    Graphs,
}

impl Channel {
    /// Returns the number by which other processes know the channel in an epoch.
    pub(crate) fn word(self, epoch: u32) -> u64 {
        let channel = match self {
            Channel::Calls => 0,
            Channel::Graphs => 1,
        };
        channel | u64::from(epoch) << 8
    }
}

/// What matches an operation to those of the other ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// The position of a collective among those of its communicator.
    Collective(u64),
    /// The position of each transfer among those of its pair of ranks and direction.
    Messages(Box<[u64]>),
}

/// One execution of an operation by one rank.
pub struct Arrival {
    /// The rank in its communicator.
    pub rank: u32,
    /// Where the numbers come from.
    pub channel: Channel,
    /// What matches it to the other ranks.
    pub numbers: Numbers,
    /// Since when it waits, as those found who look after operations that wait too long: most are over before.
    since: OnceLock<Instant>,
    /// How many transfers are left.
    left: AtomicUsize,
    queued: Arc<QueuedOperation>,
    is_complete: AtomicBool,
}

impl Arrival {
    /// Ends the execution. Only the first call has an effect.
    pub fn complete(self: &Arc<Self>, outcome: Result<()>) {
        if self.is_complete.swap(true, Ordering::AcqRel) {
            return;
        }
        let is_current = {
            let mut state = self.queued.state.lock();
            // A stream that gave the execution up waits for another one by now.
            let current = state.current.as_ref();
            let is_current = current.is_some_and(|current| Arc::ptr_eq(current, self));
            if is_current {
                state.outcome = Some(outcome);
            }
            is_current
        };
        if is_current {
            self.queued.signal.set();
        }
    }

    /// Ends one of its transfers, or its collective; the last one ends the execution.
    pub(crate) fn finish_one(self: &Arc<Self>) {
        // The last one needs not say so to the others.
        let is_last = self.left.load(Ordering::Acquire) == 1;
        if is_last || self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.complete(Ok(()));
        }
    }

    /// Returns what is done.
    pub fn operation(&self) -> &Operation {
        &self.queued.operation
    }

    /// Returns how long it has waited, as far as that is known: since the first call of this function.
    pub(crate) fn has_waited(&self, now: Instant) -> Duration {
        now.saturating_duration_since(*self.since.get_or_init(|| now))
    }

    /// Returns how messages name the communicator.
    pub(crate) fn label(&self) -> &Label {
        self.queued.communicator.label()
    }

    /// Reports whether the execution has ended.
    pub fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// Returns the number that messages use.
    pub fn number(&self) -> u64 {
        match &self.numbers {
            Numbers::Collective(number) => *number,
            Numbers::Messages(numbers) => numbers.first().copied().unwrap_or(0),
        }
    }
}

/// An operation in a stream or in a captured model. It may run many times.
///
/// As a program it announces the rank to the others; the last one to come may do the work of all.
pub struct QueuedOperation {
    /// Itself.
    me: Weak<QueuedOperation>,
    communicator: Arc<Communicator>,
    operation: Operation,
    cost: Cost,
    signal: Arc<Signal>,
    state: SpinLock<State>,
}

/// How far an operation is.
struct State {
    /// The numbers that the call took, for the first execution; a captured operation takes new ones each time.
    taken: Option<Numbers>,
    current: Option<Arc<Arrival>>,
    /// How the current execution ended, once it has.
    outcome: Option<Result<()>>,
}

impl State {
    /// Takes the current execution, and how it ended if it has.
    fn take(&mut self) -> Option<(Arc<Arrival>, Option<Result<()>>)> {
        let outcome = self.outcome.take();
        Some((self.current.take()?, outcome))
    }
}

impl QueuedOperation {
    /// Creates what a stream runs for an operation whose numbers were taken, or of one that takes them as it runs.
    pub fn new(
        communicator: Arc<Communicator>,
        operation: Operation,
        taken: Option<Numbers>,
    ) -> Arc<QueuedOperation> {
        let signal = match communicator.polls(operation.bytes()) {
            true => Signal::polled(communicator.poller().clone()),
            false => Signal::untimed(),
        };
        let ranks = communicator.size() as usize;
        let cost = match operation.bytes().saturating_mul(ranks) {
            0..=SHORT_BYTES => Cost::Bounded,
            Task::LARGE_BYTES.. => Cost::Large,
            _ => Cost::Unbounded,
        };
        Arc::new_cyclic(|me| QueuedOperation {
            me: me.clone(),
            communicator,
            operation,
            cost,
            signal: Arc::new(signal),
            state: SpinLock::new(State {
                taken,
                current: None,
                outcome: None,
            }),
        })
    }

    /// Returns the operation.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Returns the numbers that the call took; `None` for a captured operation, which takes them each time it runs, and once
    /// the operation has begun.
    pub fn numbers(&self) -> Option<Numbers> {
        self.state.lock().taken.clone()
    }

    /// Returns the numbers that the call took, after no stream took the tasks.
    pub fn revoke(&self, because: &Error) {
        let taken = self.state.lock().taken.take();
        if let Some(numbers) = taken {
            self.communicator.revoke(&self.operation, &numbers, because);
        }
    }

    /// Fails the communicator, after the operation was made to fail before it began.
    pub fn fail(&self, because: &Error) {
        self.communicator.fail(&Error::new(
            ErrorKind::CommPeerLost,
            format!(
                "{} of communicator \"{}\" did not begin on rank {}: {because}",
                self.operation,
                self.communicator.name(),
                self.communicator.rank()
            ),
        ));
    }

    /// Begins an execution: the tasks that follow wait for it. Returns it, and the one before, which no task waits for any more.
    fn next_arrival(&self) -> (Arc<Arrival>, Option<Arc<Arrival>>) {
        let taken = self.state.lock().taken.take();
        let (channel, numbers) = match taken {
            Some(numbers) => (Channel::Calls, numbers),
            None => (
                Channel::Graphs,
                self.communicator
                    .take_numbers(Channel::Graphs, &self.operation),
            ),
        };
        let left = match &self.operation {
            Operation::Collective(_) => 1,
            Operation::Messages(messages) => messages.len(),
        };
        let me = self.me.upgrade();
        let arrival = Arc::new(Arrival {
            rank: self.communicator.rank(),
            channel,
            numbers,
            since: OnceLock::new(),
            left: AtomicUsize::new(left),
            queued: me.expect("the caller has a reference"),
            is_complete: AtomicBool::new(false),
        });
        let earlier = {
            let mut state = self.state.lock();
            self.signal.clear();
            let earlier = state.take();
            state.current = Some(arrival.clone());
            earlier
        };
        (arrival, earlier.map(|(earlier, _)| earlier))
    }

    fn outcome(&self) -> Result<()> {
        let taken = self.state.lock().take();
        let Some((arrival, outcome)) = taken else {
            return Ok(());
        };
        outcome.unwrap_or_else(|| {
            // The stream was made to pass its wait: the others are still to learn that this rank is out.
            self.communicator.abandon(&arrival);
            Err(Error::new(
                ErrorKind::CommPeerLost,
                format!(
                    "{} of communicator \"{}\" was given up before it ended: its stream was aborted",
                    self.operation,
                    self.communicator.name()
                ),
            ))
        })
    }

    fn abandon_current(&self) {
        let taken = self.state.lock().take();
        if let Some((arrival, _)) = taken
            && !arrival.is_complete()
        {
            self.communicator.abandon(&arrival);
        }
    }
}

impl Program for QueuedOperation {
    fn run(&self) -> Result<()> {
        let (arrival, earlier) = self.next_arrival();
        if let Some(earlier) = earlier {
            self.communicator.abandon(&earlier);
        }
        self.communicator.arrive(&arrival);
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.cost
    }

    fn is_short(&self) -> bool {
        self.cost() == Cost::Bounded
    }

    fn name(&self) -> &str {
        self.operation.name()
    }
}

impl Joint for QueuedOperation {
    fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    fn end(&self) -> Result<()> {
        self.outcome()
    }

    fn abandon(&self) {
        self.abandon_current();
    }

    fn parts(self: Arc<Self>) -> (Arc<dyn Program>, Arc<dyn Program>) {
        (self.clone(), Arc::new(End(self)))
    }
}

/// Returns how the operation ended. A model that drops it without running it abandons the operation.
struct End(Arc<QueuedOperation>);

impl Program for End {
    fn run(&self) -> Result<()> {
        self.0.outcome()
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn is_short(&self) -> bool {
        true
    }

    fn writes(&self) -> Option<Span> {
        Some(Span::EMPTY)
    }

    fn name(&self) -> &str {
        self.0.operation.name()
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.0.abandon_current();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
    use jumar_hal::Backend;

    use super::*;
    use crate::communicator::Options;
    use crate::operation::{Collective, Message, Pieces, Signature};
    use crate::{DataType, Domain, Kind};

    fn backend() -> Arc<dyn Backend> {
        let config = CpuConfig {
            devices: vec![CpuDeviceConfig {
                memory_bytes: 1 << 20,
            }],
            pinned_bytes: 1 << 20,
            workers: 1,
            cpus: 1,
            schedule: None,
            guarded: false,
        };
        Arc::new(CpuBackend::new(config).expect("a backend"))
    }

    fn ranks(domain: &Domain) -> Vec<Arc<Communicator>> {
        let limit = Duration::from_secs(30);
        let info = domain.root_info(limit).expect("root information");
        let join = |rank| domain.join(&info, (2, rank), 0, Options::default(), limit);
        thread::scope(|scope| {
            let joining = [0, 1].map(|rank| scope.spawn(move || join(rank)));
            joining
                .map(|rank| rank.join().expect("no panic").expect("a communicator"))
                .into()
        })
    }

    fn operations() -> [Operation; 2] {
        let barrier = Collective {
            signature: Signature {
                kind: Kind::Barrier,
                data_type: DataType::Int8,
                reduction: None,
                root: None,
                count: 0,
                digest: 0,
            },
            send: Pieces::Same(Span::EMPTY),
            receive: Pieces::Same(Span::EMPTY),
        };
        let message = Message {
            sends: true,
            peer: 1,
            span: Span::EMPTY,
            count: 0,
            data_type: DataType::Int8,
        };
        [
            Operation::Collective(barrier),
            Operation::Messages([message].into()),
        ]
    }

    #[test]
    fn an_operation_that_was_accepted_before_a_suspension_ends_with_it() {
        let backend = backend();
        let domains = [
            Domain::new(backend.clone()),
            Domain::with_shared_memory_only(backend),
        ];
        for domain in domains {
            let ranks = ranks(&domain);
            for (operation, resumes) in operations()
                .into_iter()
                .flat_map(|operation| [(operation.clone(), false), (operation, true)])
            {
                let queued = ranks[0].prepare(operation, false).expect("accepted");
                let (arrival, _) = queued.next_arrival();
                let epoch = ranks[0].epoch();
                // What another thread does after this one has found the communicator ready.
                ranks[0].suspend();
                if resumes {
                    ranks[0].resume();
                }
                ranks[0].join_others(&arrival, epoch);
                assert!(arrival.is_complete(), "no rank ends it any more");
                assert!(queued.end().is_err());
                assert!(ranks[0].waiting().is_empty());
                ranks[0].resume();
            }
        }
    }
}
