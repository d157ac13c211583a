//! A communicator: one rank among others, the numbers of its operations, and the transport that carries them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicU32, AtomicU64, Instant, Mutex, Ordering};
use jumar_hal::{Poller, SpinLock};
use jumar_types::{Error, ErrorKind, Result};

use crate::arrival::{Arrival, Channel, Numbers, QueuedOperation};
use crate::local::LocalGroup;
use crate::network::NetworkGroup;
use crate::operation::{Operation, digest};
use crate::remote::RemoteGroup;
use crate::words::Label;

/// What carries operations between the ranks.
#[derive(Clone)]
pub(crate) enum Transport {
    /// All ranks are in this process.
    Local(Arc<LocalGroup>),
    /// Ranks are in several processes of this machine.
    Remote(Arc<RemoteGroup>),
    /// Ranks are on several machines.
    Network(Arc<NetworkGroup>),
}

/// What is chosen when a communicator is created.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name; empty to have one made.
    pub name: String,
    /// The program's own label, for messages and timelines.
    pub label: String,
    /// How long an operation waits for other ranks; `None` forever.
    pub limit: Option<Duration>,
    /// What has to be equal on all ranks.
    pub digest: u64,
}

/// An operation of a rank that waits for other ranks.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// The rank that waits.
    pub rank: u32,
    /// What it waits in.
    pub operation: Operation,
    /// What matches it to the other ranks.
    pub numbers: Numbers,
    /// The ranks that have not come, in ascending order.
    pub missing: Vec<u32>,
}

/// One rank of a communicator.
pub struct Communicator {
    label: Label,
    own_label: String,
    rank: u32,
    device: u32,
    limit: Option<Duration>,
    transport: Transport,
    counters: SpinLock<Counters>,
    /// How often each sub-communicator was created.
    children: Mutex<HashMap<u64, u64>>,
    is_child: bool,
    state: AtomicU32,
    /// How often the communicator was resumed; operations of different epochs never match.
    epoch: AtomicU32,
    operations: AtomicU64,
    /// What a thread polls that waits for an operation.
    poller: Arc<dyn Poller>,
}

#[derive(Default)]
struct Counters {
    /// By channel.
    collectives: [u64; 2],
    messages: HashMap<(Channel, u32, bool), u64>,
}

impl Counters {
    /// Takes numbers back if no later ones were taken. Reports whether it did.
    fn give_back(&mut self, operation: &Operation, numbers: &Numbers) -> bool {
        fn undo(next: Option<&mut u64>, taken: u64) -> bool {
            match next {
                Some(next) if *next == taken + 1 => {
                    *next = taken;
                    true
                }
                _ => false,
            }
        }
        match (operation, numbers) {
            (Operation::Collective(_), Numbers::Collective(taken)) => {
                undo(Some(&mut self.collectives[Channel::Calls as usize]), *taken)
            }
            (Operation::Messages(messages), Numbers::Messages(taken)) => {
                // The last transfer of a pair goes first.
                messages.iter().zip(taken).rev().all(|(message, taken)| {
                    let key = (Channel::Calls, message.peer, message.sends);
                    undo(self.messages.get_mut(&key), *taken)
                })
            }
            (Operation::Collective(_) | Operation::Messages(_), _) => false,
        }
    }
}

/// Up to how many bytes a thread that waits for an operation polls, where others do the work. Threads that poll during large ones take time
/// from those that copy.
const POLLED_BYTES: usize = 1 << 20;

const READY: u32 = 0;
const SUSPENDED: u32 = 1;
const CLOSED: u32 = 2;

impl Communicator {
    pub(crate) fn new(
        label: Label,
        options: Options,
        (rank, device): (u32, u32),
        transport: Transport,
        is_child: bool,
    ) -> Arc<Communicator> {
        let poller = match &transport {
            Transport::Local(group) => group.poller(rank),
            Transport::Remote(group) => group.poller(),
            Transport::Network(group) => group.poller(),
        };
        Arc::new(Communicator {
            label,
            own_label: options.label,
            rank,
            device,
            limit: options.limit,
            transport,
            counters: SpinLock::default(),
            children: Mutex::default(),
            is_child,
            state: AtomicU32::new(READY),
            epoch: AtomicU32::new(0),
            operations: AtomicU64::new(0),
            poller,
        })
    }

    /// Reports whether a thread that waits for an operation of so many bytes polls.
    pub(crate) fn polls(&self, bytes: usize) -> bool {
        match self.transport {
            // Each rank copies for itself: the thread that waits does it.
            Transport::Remote(_) => true,
            Transport::Local(_) | Transport::Network(_) => bytes <= POLLED_BYTES,
        }
    }

    /// Returns what a thread polls that waits for an operation.
    pub(crate) fn poller(&self) -> &Arc<dyn Poller> {
        &self.poller
    }

    pub(crate) fn label(&self) -> &Label {
        &self.label
    }

    /// Returns the name that all ranks share.
    pub fn name(&self) -> &str {
        &self.label.name
    }

    /// Returns the program's own label.
    pub fn own_label(&self) -> &str {
        &self.own_label
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> u32 {
        self.label.size
    }

    /// Returns the caller's rank.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns the device that the rank works on.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Reports whether it was made from another communicator.
    pub fn is_child(&self) -> bool {
        self.is_child
    }

    /// Reports whether all ranks are in this process.
    pub fn is_local(&self) -> bool {
        matches!(self.transport, Transport::Local(_))
    }

    /// Returns how often the communicator was resumed. Operations of different epochs never match.
    pub fn epoch(&self) -> u32 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Lists the operations of all ranks of this process that wait for other ranks. Empty for ranks of several processes.
    pub fn waiting(&self) -> Vec<Waiting> {
        match &self.transport {
            Transport::Local(group) => group.waiting(),
            Transport::Remote(_) | Transport::Network(_) => Vec::new(),
        }
    }

    /// Returns how many operations were queued.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Returns why it failed, if it did. Does not block.
    pub fn failure(&self) -> Option<Error> {
        match &self.transport {
            Transport::Local(group) => group.failure(),
            Transport::Remote(group) => group.failure(),
            Transport::Network(group) => group.failure(),
        }
    }

    /// Takes the numbers of an operation and returns what a stream runs for it. A captured operation takes them each time it
    /// runs.
    ///
    /// # Errors
    /// `CommSuspended`; `CommUnavailable`: it failed earlier; `InvalidHandle`: it was destroyed.
    pub fn prepare(
        self: &Arc<Self>,
        operation: Operation,
        captured: bool,
    ) -> Result<Arc<QueuedOperation>> {
        match self.state.load(Ordering::Acquire) {
            READY => {}
            SUSPENDED => {
                return Err(Error::new(
                    ErrorKind::CommSuspended,
                    format!("communicator \"{}\" is suspended", self.name()),
                ));
            }
            _ => return Err(self.destroyed()),
        }
        if let Some(failure) = self.failure() {
            return Err(self.label.unavailable(&failure));
        }
        self.operations.fetch_add(1, Ordering::Relaxed);
        let taken = (!captured).then(|| self.take_numbers(Channel::Calls, &operation));
        Ok(QueuedOperation::new(self.clone(), operation, taken))
    }

    /// Returns the numbers of an operation that no stream took. If another thread has taken later ones meanwhile, the
    /// communicator fails, since the other ranks would wait forever.
    pub fn revoke(&self, operation: &Operation, numbers: &Numbers, because: &Error) {
        let given_back = self.counters.lock().give_back(operation, numbers);
        if !given_back {
            self.fail(&Error::new(
                ErrorKind::CommPeerLost,
                format!(
                    "{operation} of communicator \"{}\" was not queued on rank {}: {because}",
                    self.name(),
                    self.rank
                ),
            ));
        }
    }

    /// Fails all operations of all ranks, now and from now on.
    pub(crate) fn fail(&self, error: &Error) {
        match &self.transport {
            Transport::Local(group) => group.fail(error),
            Transport::Remote(group) => group.fail(error),
            Transport::Network(group) => group.fail(error),
        }
    }

    fn destroyed(&self) -> Error {
        Error::new(
            ErrorKind::InvalidHandle,
            format!("communicator \"{}\" was destroyed", self.name()),
        )
    }

    pub(crate) fn take_numbers(&self, channel: Channel, operation: &Operation) -> Numbers {
        fn take(next: &mut u64) -> u64 {
            let taken = *next;
            *next += 1;
            taken
        }
        let mut counters = self.counters.lock();
        match operation {
            Operation::Collective(_) => {
                Numbers::Collective(take(&mut counters.collectives[channel as usize]))
            }
            Operation::Messages(messages) => Numbers::Messages(
                messages
                    .iter()
                    .map(|message| {
                        let key = (channel, message.peer, message.sends);
                        take(counters.messages.entry(key).or_default())
                    })
                    .collect(),
            ),
        }
    }

    /// Announces that a stream has reached an operation.
    pub(crate) fn arrive(&self, arrival: &Arc<Arrival>) {
        let epoch = self.epoch.load(Ordering::Acquire);
        if let Some(refused) = self.refusal(arrival, epoch) {
            arrival.complete(Err(refused));
            return;
        }
        self.join_others(arrival, epoch);
    }

    /// Hands an arrival that was accepted in an epoch to the transport.
    pub(crate) fn join_others(&self, arrival: &Arc<Arrival>, epoch: u32) {
        match &self.transport {
            Transport::Local(group) => group.arrive(arrival, epoch),
            Transport::Remote(group) => group.arrive(arrival, epoch),
            Transport::Network(group) => group.arrive(arrival, epoch),
        }
        // A suspension since it was accepted has ended what it found, which may not include this one.
        if let Some(refused) = self.refusal(arrival, epoch) {
            match &self.transport {
                Transport::Local(group) => group.withdraw(arrival, &refused),
                Transport::Remote(group) => group.withdraw(arrival, &refused),
                // It fails as a whole, and its operations check that after they are listed.
                Transport::Network(_) => {}
            }
        }
    }

    /// Returns why an operation of an epoch cannot continue.
    fn refusal(&self, arrival: &Arrival, epoch: u32) -> Option<Error> {
        match self.state.load(Ordering::Acquire) {
            READY if self.epoch.load(Ordering::Acquire) == epoch => None,
            READY | SUSPENDED => Some(Error::new(
                ErrorKind::CommPeerLost,
                format!(
                    "{} met a suspension of its communicator \"{}\"",
                    arrival.operation(),
                    self.name()
                ),
            )),
            _ => {
                let kind = match arrival.channel {
                    Channel::Calls => ErrorKind::CommPeerLost,
                    Channel::Graphs => ErrorKind::ModelExecute,
                };
                let error = Error::new(
                    kind,
                    format!(
                        "{} runs after its communicator \"{}\" was destroyed",
                        arrival.operation(),
                        self.name()
                    ),
                );
                Some(error.fix("Destroy communicators after the streams and the captured models that use them."))
            }
        }
    }

    /// Takes back an arrival whose stream gave it up.
    pub(crate) fn abandon(&self, arrival: &Arc<Arrival>) {
        if self.state.load(Ordering::Acquire) != READY {
            return;
        }
        match &self.transport {
            Transport::Local(group) => group.abandon(arrival),
            Transport::Remote(group) => group.abandon(arrival),
            Transport::Network(group) => group.abandon(arrival),
        }
    }

    fn cancel(&self, because: &Error) {
        match &self.transport {
            Transport::Local(group) => group.cancel(because),
            Transport::Remote(group) => group.cancel(because),
            // Messages that are on their way cannot be taken back.
            Transport::Network(group) => group.fail(because),
        }
    }

    /// Fails operations that have waited longer than the communicator's limit.
    pub(crate) fn expire(&self, now: Instant) {
        let Some(limit) = self.limit else { return };
        match &self.transport {
            Transport::Local(group) => group.expire(now, limit),
            Transport::Remote(group) => group.expire(now, limit),
            Transport::Network(group) => group.expire(now, limit),
        }
    }

    /// Returns how long operations wait.
    pub fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// Ends the communicator: operations that are queued fail, and the other ranks learn of it. Returns false if it was
    /// ended before.
    pub fn close(&self) -> bool {
        if self.state.swap(CLOSED, Ordering::AcqRel) == CLOSED {
            return false;
        }
        match &self.transport {
            Transport::Local(group) => group.leave(self.rank),
            Transport::Remote(group) => group.leave(),
            Transport::Network(group) => group.leave(),
        }
        true
    }

    /// Suspends the communicator: what waits fails, and new operations are refused until [`Communicator::resume`].
    pub fn suspend(&self) {
        let now =
            self.state
                .compare_exchange(READY, SUSPENDED, Ordering::AcqRel, Ordering::Acquire);
        if now.is_ok() {
            self.cancel(&Error::new(
                ErrorKind::CommPeerLost,
                format!("communicator \"{}\" was suspended", self.name()),
            ));
        }
    }

    /// Reports whether the communicator is suspended.
    pub fn is_suspended(&self) -> bool {
        self.state.load(Ordering::Acquire) == SUSPENDED
    }

    /// Makes a suspended communicator usable: numbers start anew. Does nothing to one that is not suspended.
    pub fn resume(&self) {
        if !self.is_suspended() {
            return;
        }
        *self.counters.lock() = Counters::default();
        match &self.transport {
            Transport::Local(group) => group.recover(),
            Transport::Remote(group) => group.recover(),
            // Its connections are spent after a failure: it stays failed.
            Transport::Network(_) => {}
        }
        self.epoch.fetch_add(1, Ordering::AcqRel);
        self.state.store(READY, Ordering::Release);
    }

    /// Creates a communicator of some of the ranks, in ascending order; waits for no other rank. `identity` is the number
    /// that all members pass.
    ///
    /// # Errors
    /// `CommArgument`: the ranks are not ascending ranks of this communicator, or do not hold the caller at `index`.
    pub fn split(
        &self,
        ranks: &[u32],
        index: u32,
        identity: u64,
        mut options: Options,
    ) -> Result<Arc<Communicator>> {
        let ascending = ranks.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = ranks.last().is_some_and(|last| *last < self.size());
        if !ascending || !inside {
            return Err(Error::new(
                ErrorKind::CommArgument,
                format!(
                    "{ranks:?} are not ascending ranks of communicator \"{}\", which has {}",
                    self.name(),
                    self.size()
                ),
            ));
        }
        if ranks.get(index as usize) != Some(&self.rank) {
            return Err(Error::new(
                ErrorKind::CommArgument,
                format!(
                    "index {index} of the ranks {ranks:?} is not the caller, rank {} of communicator \"{}\"",
                    self.rank,
                    self.name()
                ),
            ));
        }
        let tag = digest(
            [identity]
                .into_iter()
                .chain(ranks.iter().map(|r| u64::from(*r))),
        );
        let times = {
            let mut children = self.children.lock();
            let times = children.entry(tag).or_default();
            *times += 1;
            *times
        };
        let tag = digest([tag, times]);
        if options.name.is_empty() {
            options.name = format!("{}_sub_{identity}", self.name());
        }
        let label = Label {
            name: options.name.as_str().into(),
            size: ranks.len() as u32,
        };
        let transport = match &self.transport {
            Transport::Local(group) => Transport::Local(group.child(tag, label.clone())),
            Transport::Remote(group) => Transport::Remote(group.child(tag, label.clone(), ranks)),
            Transport::Network(group) => Transport::Network(group.child(tag, label.clone(), ranks)),
        };
        Ok(Communicator::new(
            label,
            options,
            (index, self.device),
            transport,
            true,
        ))
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        self.close();
    }
}
