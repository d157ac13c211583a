//! One execution of an operation by one rank: the tasks that a stream runs for it, and how they learn of its end.
//!
//! A stream gets three tasks: one that announces the rank to the others, a wait for a signal, and one that returns how
//! the operation ended. The wait holds no worker. The transport sets the signal when the rank's part is done.

use std::sync::Arc;

use jumar_hal::sync::{AtomicUsize, Instant, Mutex};
use jumar_hal::{Cost, Program, Signal, Span, Task};
use jumar_types::{Error, ErrorKind, Result};

use crate::communicator::Communicator;
use crate::operation::Operation;

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
    /// When the stream reached it.
    pub since: Instant,
    /// How many transfers are left.
    pub(crate) left: AtomicUsize,
    queued: Arc<Queued>,
    outcome: Mutex<Option<Result<()>>>,
}

impl Arrival {
    /// Ends the execution. Only the first call has an effect.
    pub fn complete(self: &Arc<Self>, outcome: Result<()>) {
        {
            let mut own = self.outcome.lock();
            if own.is_some() {
                return;
            }
            *own = Some(outcome);
        }
        let current = self.queued.current.lock();
        // A stream that gave the execution up waits for another one by now.
        if current.as_ref().is_some_and(|now| Arc::ptr_eq(now, self)) {
            drop(current);
            self.queued.signal.set();
        }
    }

    /// Returns what is done.
    pub fn operation(&self) -> &Operation {
        &self.queued.operation
    }

    /// Reports whether the execution has ended.
    pub fn is_complete(&self) -> bool {
        self.outcome.lock().is_some()
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
pub struct Queued {
    communicator: Arc<Communicator>,
    operation: Operation,
    cost: Cost,
    /// The numbers that the call took, for the first execution; a captured operation takes new ones each time.
    taken: Mutex<Option<Numbers>>,
    signal: Arc<Signal>,
    current: Mutex<Option<Arc<Arrival>>>,
}

impl Queued {
    /// Creates the tasks of an operation whose numbers were taken, or of one that takes them as it runs.
    pub fn new(
        communicator: Arc<Communicator>,
        operation: Operation,
        taken: Option<Numbers>,
    ) -> Arc<Queued> {
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
        Arc::new(Queued {
            communicator,
            operation,
            cost,
            taken: Mutex::new(taken),
            signal: Arc::new(signal),
            current: Mutex::new(None),
        })
    }

    /// Returns the operation.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Returns the numbers that the call took; `None` for a captured operation, which takes them each time it runs, and once
    /// the operation has begun.
    pub fn numbers(&self) -> Option<Numbers> {
        self.taken.lock().clone()
    }

    /// Returns the program that announces the rank, the signal to wait for and clear, and the program that returns how the
    /// operation ended.
    pub fn tasks(self: &Arc<Self>) -> (Arc<dyn Program>, Arc<Signal>, Arc<dyn Program>) {
        (
            Arc::new(Begin(self.clone())),
            self.signal.clone(),
            Arc::new(End(self.clone())),
        )
    }

    /// Returns the numbers that the call took, after no stream took the tasks.
    pub fn revoke(&self, because: &Error) {
        if let Some(numbers) = self.taken.lock().take() {
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
    fn next_arrival(self: &Arc<Self>) -> (Arc<Arrival>, Option<Arc<Arrival>>) {
        let (channel, numbers) = match self.taken.lock().take() {
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
        let arrival = Arc::new(Arrival {
            rank: self.communicator.rank(),
            channel,
            numbers,
            since: Instant::now(),
            left: AtomicUsize::new(left),
            queued: self.clone(),
            outcome: Mutex::new(None),
        });
        let earlier = {
            let mut current = self.current.lock();
            self.signal.clear();
            current.replace(arrival.clone())
        };
        (arrival, earlier)
    }

    fn begin(self: &Arc<Self>) {
        let (arrival, earlier) = self.next_arrival();
        if let Some(earlier) = earlier {
            self.communicator.abandon(&earlier);
        }
        self.communicator.arrive(&arrival);
    }

    fn end(&self) -> Result<()> {
        let Some(arrival) = self.current.lock().take() else {
            return Ok(());
        };
        let outcome = arrival.outcome.lock().take();
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
        let arrival = self.current.lock().take();
        if let Some(arrival) = arrival
            && !arrival.is_complete()
        {
            self.communicator.abandon(&arrival);
        }
    }
}

/// Announces the rank to the others; the last one to come may do the work of all.
struct Begin(Arc<Queued>);

impl Program for Begin {
    fn run(&self) -> Result<()> {
        self.0.begin();
        Ok(())
    }

    fn cost(&self) -> Cost {
        self.0.cost
    }

    fn is_short(&self) -> bool {
        self.cost() == Cost::Bounded
    }

    fn name(&self) -> &str {
        self.0.operation.name()
    }
}

/// Returns how the operation ended. A stream that drops it without running it abandons the operation.
struct End(Arc<Queued>);

impl Program for End {
    fn run(&self) -> Result<()> {
        self.0.end()
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
    use std::time::Duration;

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
