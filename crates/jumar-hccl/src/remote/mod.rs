//! Ranks in several processes of one machine.

mod group;
pub(crate) mod layout;
mod meeting;
mod mesh;
mod progress;
mod wake;
mod work;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Backend;
use jumar_hal::sync::{Instant, Mutex, thread};
use jumar_types::{ErrorKind, Result};

use crate::communicator::{Options, Transport};
use crate::local::LocalGroup;
use crate::network::gathering::{self, Gathering, Guest};
use crate::network::{self, Network, RootAddress, no_plugin};
use crate::os;
use crate::words::{Label, system};
pub(crate) use group::RemoteGroup;
pub use meeting::RootInfo;
use meeting::{Joiner, Meeting};
use progress::Progress;
use wake::WakePage;

/// A meeting of this process.
struct OwnMeeting {
    key: u128,
    until: Instant,
    /// Open for ranks of this machine.
    _meeting: Meeting,
    /// Open for ranks of other machines.
    _gathering: Option<Gathering>,
}

/// What carries operations between ranks that could use several transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransportChoice {
    /// The fastest: memory of the process, then of the machine.
    Fastest,
    /// Shared memory, within a process too.
    SharedMemory,
    /// The network, within a process too.
    Network,
}

/// What a process needs to meet other processes.
pub(crate) struct Meetings {
    backend: Arc<dyn Backend>,
    /// The meetings that this process has made, until a rank of it has met the others there, or until they expire.
    made: Mutex<Vec<OwnMeeting>>,
    /// Groups of ranks that are all in this process, by key, with the number of ranks that have taken them.
    groups: Mutex<HashMap<u128, (Arc<LocalGroup>, u32)>>,
    progress: Mutex<Option<Arc<Progress>>>,
    network: Network,
    ways: TransportChoice,
}

impl Meetings {
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        network: Network,
        ways: TransportChoice,
    ) -> Meetings {
        Meetings {
            backend,
            network,
            ways,
            made: Mutex::default(),
            groups: Mutex::default(),
            progress: Mutex::default(),
        }
    }

    /// Makes root information, which is valid for `limit`.
    pub(crate) fn root_info(&self, limit: Duration) -> Result<RootInfo> {
        let key = os::random().map_err(|error| system("a random number was refused", error))?;
        // Without the plug-in no rank of another machine can take part, and no port is opened.
        let gathering = match network::why_not() {
            Some(_) => None,
            None => Some(Gathering::open(key, &self.network, limit)?),
        };
        self.publish(key, gathering, limit)
    }

    /// As [`Meetings::root_info`], for ranks that ask for it at an address. One that this machine does not have is left out: then
    /// all ranks are here, or do not come.
    pub(crate) fn root_info_at(
        &self,
        root_address: &RootAddress,
        limit: Duration,
    ) -> Result<RootInfo> {
        match Gathering::open(root_address.key, &self.network.at(root_address), limit) {
            Ok(gathering) => self.publish(root_address.key, Some(gathering), limit),
            Err(error) if error.kind() == ErrorKind::CommPortTaken => Err(error),
            Err(_) => self.root_info(limit),
        }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    fn publish(
        &self,
        key: u128,
        gathering: Option<(Gathering, SocketAddr)>,
        limit: Duration,
    ) -> Result<RootInfo> {
        let (meeting, mut info) = Meeting::create(key)?;
        let gathering = gathering.map(|(gathering, address)| {
            info.address = Some(address);
            gathering.offer(info.text());
            gathering
        });
        let mut made = self.made.lock();
        let now = Instant::now();
        made.retain(|one| one.until > now);
        made.push(OwnMeeting {
            key: info.key,
            until: now + limit,
            _meeting: meeting,
            _gathering: gathering,
        });
        Ok(info)
    }

    /// Meets the other ranks, and returns what carries operations between them, with the name that they share.
    pub(crate) fn join(
        &self,
        info: &RootInfo,
        (size, rank): (u32, u32),
        device: u32,
        options: &Options,
        limit: Duration,
    ) -> Result<(Transport, Label)> {
        let until = Instant::now() + limit;
        if let Some(address) = info.address {
            let guest = Guest {
                size,
                rank,
                name: &options.name,
                digest: options.digest,
                machine: os::machine(),
                until,
                limit,
            };
            let gathered = gathering::gather(address, info.key, &guest)?;
            if !gathered.one_machine || self.ways == TransportChoice::Network {
                let label = Label {
                    name: shared_name(&options.name, info.key).into(),
                    size,
                };
                let known = (info.key, label.clone());
                let backend = self.backend.clone();
                let group = network::connect(gathered, &self.network, known, rank, limit, backend)?;
                self.made.lock().retain(|one| one.key != info.key);
                return Ok((Transport::Network(Arc::new(group)), label));
            }
        } else if info.machine != os::machine() {
            return Err(no_plugin(
                "the process that made the root information does not have it",
            ));
        }
        let meeting = Meeting::open(info)?;
        let progress = self.progress()?;
        let joiner = Joiner {
            size,
            rank,
            device,
            name: &options.name,
            digest: options.digest,
            until,
            limit,
        };
        let met = meeting.join(&joiner, progress.wake.descriptor())?;
        let label = Label {
            name: met.name.into(),
            size,
        };
        let transport = match met.local && self.ways != TransportChoice::SharedMemory {
            true => Transport::Local(self.local_group(info.key, &label)),
            false => {
                let mesh = meeting.connect(&joiner, &progress.wake, self.backend.clone())?;
                let mesh = Arc::new(mesh);
                progress.meshes.lock().push(Arc::downgrade(&mesh));
                Transport::Remote(Arc::new(RemoteGroup::everyone(mesh, label.clone())))
            }
        };
        // All ranks have the file by now.
        self.made.lock().retain(|one| one.key != info.key);
        Ok((transport, label))
    }

    fn local_group(&self, key: u128, label: &Label) -> Arc<LocalGroup> {
        let mut groups = self.groups.lock();
        let entry = groups
            .entry(key)
            .or_insert_with(|| (LocalGroup::new(label.clone(), self.backend.clone()), 0));
        entry.1 += 1;
        let (group, takers) = (entry.0.clone(), entry.1);
        if takers == label.size {
            groups.remove(&key);
        }
        group
    }

    /// Returns the thread that steps operations, started when it is first needed.
    fn progress(&self) -> Result<Arc<Progress>> {
        let mut progress = self.progress.lock();
        if let Some(running) = &*progress {
            return Ok(running.clone());
        }
        let wake = WakePage::create()
            .map_err(|error| system("the page that other processes wake was refused", error))?;
        let made = Arc::new(Progress {
            wake: Arc::new(wake),
            meshes: Mutex::default(),
        });
        let own = made.clone();
        thread::Builder::new()
            .name("jumar-hccl".to_owned())
            .spawn(move || {
                os::block_signals();
                own.run();
            })
            .map_err(|error| system("the thread for collective operations was refused", error))?;
        *progress = Some(made.clone());
        Ok(made)
    }
}

/// Returns the name of a communicator: the one that its ranks chose, or one that is made from the key.
fn shared_name(chosen: &str, key: u128) -> String {
    match chosen {
        "" => format!("comm_{:016x}", key as u64),
        name => name.to_owned(),
    }
}
