//! All communicators of a process.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar_hal::Backend;
use jumar_hal::sync::{Instant, Mutex, thread};
use jumar_types::{Error, ErrorKind, Result};

use crate::communicator::{Communicator, Options, Transport};
use crate::exchange;
use crate::local::LocalGroup;
use crate::network::{self, Network, RootAddress};
use crate::os;
use crate::remote::{Meetings, RootInfo, TransportChoice};
use crate::words::Label;

/// What a process has one of.
pub struct Domain {
    backend: Arc<dyn Backend>,
    meetings: Meetings,
    observed: Arc<ObservedCommunicators>,
}

/// The communicators whose operations may wait too long, and whether a thread looks after them.
#[derive(Default)]
struct ObservedCommunicators {
    list: Mutex<(Vec<Weak<Communicator>>, bool)>,
}

/// The longest and the shortest pause between polls of waiting operations.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

impl Domain {
    /// Creates the state of a process, on whose devices' memory the backend works.
    pub fn new(backend: Arc<dyn Backend>) -> Domain {
        Domain::with(backend, Network::default(), TransportChoice::Fastest)
    }

    /// As [`Domain::new`], with what a program chooses for communicators of several machines.
    pub fn with_network(backend: Arc<dyn Backend>, network: Network) -> Domain {
        Domain::with(backend, network, TransportChoice::Fastest)
    }

    /// As [`Domain::new`], but ranks that meet by root information use shared memory within a process too: for tests and
    /// measurements of that transport.
    pub fn with_shared_memory_only(backend: Arc<dyn Backend>) -> Domain {
        Domain::with(backend, Network::default(), TransportChoice::SharedMemory)
    }

    /// As [`Domain::with_shared_memory_only`], for the network.
    pub fn with_network_only(backend: Arc<dyn Backend>) -> Domain {
        let network = Network {
            host: Some(std::net::Ipv4Addr::LOCALHOST.into()),
            ..Network::default()
        };
        Domain::with(backend, network, TransportChoice::Network)
    }

    fn with(backend: Arc<dyn Backend>, network: Network, ways: TransportChoice) -> Domain {
        Domain {
            meetings: Meetings::new(backend.clone(), network, ways),
            backend,
            observed: Arc::default(),
        }
    }

    /// Creates the communicators of a process whose ranks work on these devices, in rank order.
    ///
    /// # Errors
    /// `RuntimeInternal`: the system refused a thread.
    pub fn create_all(&self, devices: &[u32], options: &Options) -> Result<Vec<Arc<Communicator>>> {
        let mut options = options.clone();
        if options.name.is_empty() {
            let key = os::random()
                .map_err(|error| Error::new(ErrorKind::RuntimeInternal, error.to_string()))?;
            options.name = format!("comm_{:016x}", key as u64);
        }
        let label = Label {
            name: options.name.as_str().into(),
            size: devices.len() as u32,
        };
        let group = LocalGroup::new(label.clone(), self.backend.clone());
        devices
            .iter()
            .enumerate()
            .map(|(rank, device)| {
                let transport = Transport::Local(group.clone());
                let rank_and_device = (rank as u32, *device);
                let made = Communicator::new(
                    label.clone(),
                    options.clone(),
                    rank_and_device,
                    transport,
                    false,
                );
                self.observe(&made)?;
                Ok(made)
            })
            .collect()
    }

    /// Makes the information by which ranks find each other. It expires after `limit`.
    ///
    /// # Errors
    /// `RuntimeInternal`: the system refused memory.
    pub fn root_info(&self, limit: Duration) -> Result<RootInfo> {
        self.meetings.root_info(limit)
    }

    /// Meets the other ranks and creates this rank's communicator.
    ///
    /// # Errors
    /// `CommRootGone`, `CommIncomplete`, `CommDisagreement`, `CommUnsupported`, `RuntimeInternal`.
    pub fn join(
        &self,
        info: &RootInfo,
        (size, rank): (u32, u32),
        device: u32,
        mut options: Options,
        limit: Duration,
    ) -> Result<Arc<Communicator>> {
        let (transport, label) = self
            .meetings
            .join(info, (size, rank), device, &options, limit)?;
        options.name = label.name.to_string();
        let made = Communicator::new(label, options, (rank, device), transport, false);
        self.observe(&made)?;
        Ok(made)
    }

    /// As [`Domain::join`], for ranks that know a common name instead of root information: rank 0 makes that and hands it
    /// out, on its machine, and to ranks of other machines if it has an address.
    ///
    /// # Errors
    /// As [`Domain::join`]; `CommIncomplete`: rank 0 does not come, or the name is taken.
    pub fn join_by_name(
        &self,
        (name, root_address): (&str, Option<&RootAddress>),
        (size, rank): (u32, u32),
        device: u32,
        options: Options,
        limit: Duration,
    ) -> Result<Arc<Communicator>> {
        let size_and_rank = (size, rank);
        let why_not = network::why_not();
        let reachable = root_address.filter(|_| why_not.is_none());
        if rank > 0 {
            let network = self.meetings.network();
            let found = exchange::ask(
                name,
                || RootInfo::read(&network.ask(reachable?)?).ok(),
                limit,
            );
            let info = match (found, root_address, why_not) {
                (Err(error), Some(_), Some(why)) => Err(error.fix(format!(
                    "If rank 0 is on another server, the plug-in for several machines is needed, which cannot be used: {why}"
                ))),
                (found, ..) => found,
            }?;
            return self.join(&info, size_and_rank, device, options, limit);
        }
        let info = match reachable {
            Some(root_address) => self.meetings.root_info_at(root_address, limit)?,
            None => self.root_info(limit)?,
        };
        exchange::answer_while(name, &info, || {
            self.join(&info, size_and_rank, device, options, limit)
        })
    }

    /// Creates a communicator of some ranks of another one, as [`Communicator::split`].
    ///
    /// # Errors
    /// As there.
    pub fn split(
        &self,
        parent: &Communicator,
        (ranks, index): (&[u32], u32),
        identity: u64,
        options: Options,
    ) -> Result<Arc<Communicator>> {
        let made = parent.split(ranks, index, identity, options)?;
        self.observe(&made)?;
        Ok(made)
    }

    /// Has the operations of a communicator fail that wait too long.
    fn observe(&self, communicator: &Arc<Communicator>) -> Result<()> {
        if communicator.limit().is_none() {
            return Ok(());
        }
        let mut list = self.observed.list.lock();
        list.0.push(Arc::downgrade(communicator));
        if list.1 {
            return Ok(());
        }
        let observed = self.observed.clone();
        thread::Builder::new()
            .name("jumar-hccl-limit".to_owned())
            .spawn(move || {
                os::block_signals();
                observed.run();
            })
            .map_err(|error| {
                Error::new(
                    ErrorKind::RuntimeInternal,
                    format!("the thread for time limits was refused: {error}"),
                )
            })?;
        list.1 = true;
        Ok(())
    }
}

impl ObservedCommunicators {
    /// Looks after operations that wait, until there is no communicator left.
    fn run(&self) {
        loop {
            let all: Vec<Arc<Communicator>> = {
                let mut list = self.list.lock();
                list.0.retain(|one| one.strong_count() > 0);
                if list.0.is_empty() {
                    list.1 = false;
                    return;
                }
                list.0.iter().filter_map(Weak::upgrade).collect()
            };
            let now = Instant::now();
            all.iter().for_each(|one| one.expire(now));
            let shortest = all.iter().filter_map(|one| one.limit()).min();
            drop(all);
            let (least, most) = PAUSES;
            thread::sleep(shortest.map_or(most, |limit| (limit / 8).clamp(least, most)));
        }
    }
}
