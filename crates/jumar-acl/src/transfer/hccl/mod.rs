//! Collective communication: communicators and their operations, as the C interface has them.
//!
//! What ranks do to each other is in jumar-hccl. Here arguments are checked, handles are looked up, and operations are
//! queued on streams.

mod communicator;
mod group;
mod joined;
mod memory;
mod network;
mod operation;
mod options;
mod settings;
mod table;

pub use communicator::*;
pub use group::*;
pub use joined::{Joint, Rank};
pub(crate) use joined::{group_named, join};
pub use memory::*;
pub use operation::*;
pub use options::*;
pub use settings::{CONFIG_HEAD, config_bytes};

use std::sync::{Arc, OnceLock};

use jumar::engine::Table;
use jumar::engine::sync::{AtomicUsize, Mutex, Ordering};
use jumar::offline::DeviceMemory;
use jumar_hccl::{Communicator, Domain};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::{Cx, Raw};
use settings::{Chosen, Settings};

/// What a process has of collective communication.
pub struct Collectives {
    /// What `HcclSetConfig` set.
    deterministic: Mutex<Option<u32>>,
    settings: OnceLock<Result<Settings>>,
    domain: OnceLock<Domain>,
    comms: Table<Comm>,
    memory: Table<RegisteredMemory>,
}

impl Default for Collectives {
    fn default() -> Self {
        Collectives {
            deterministic: Mutex::default(),
            settings: OnceLock::new(),
            domain: OnceLock::new(),
            comms: Table::new(IdKind::Communicator, Arc::default()),
            memory: Table::new(IdKind::CommMemory, Arc::default()),
        }
    }
}

impl Collectives {
    /// Lists the communicators whose ranks have met.
    pub(crate) fn engines(&self) -> Vec<Arc<Communicator>> {
        let comms = self.comms.all();
        comms
            .iter()
            .filter_map(|comm| comm.engine.get().cloned())
            .collect()
    }
}

/// A communicator of the program.
pub(crate) struct Comm {
    id: u64,
    /// Set once the ranks have met; in a group that is at its end.
    engine: OnceLock<Arc<Communicator>>,
    device: u32,
    deterministic: Mutex<u32>,
    /// In MB.
    buffer: u32,
    expansion: u32,
    algorithm: String,
    /// The digest of the rank table and the rank, if it was made from one.
    table: Option<(u64, u32)>,
    /// How many threads are inside calls with it.
    users: AtomicUsize,
    own_buffer: Mutex<Option<OwnBuffer>>,
}

/// The memory that `HcclGetHcclBuffer` gave. A reset of the device takes it away.
struct OwnBuffer {
    memory: DeviceMemory,
    /// The life of the device that it was allocated in.
    epoch: u64,
}

/// A thread that is inside a call with a communicator.
pub(crate) struct InUse(Arc<Comm>);

impl Drop for InUse {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl std::ops::Deref for InUse {
    type Target = Comm;

    fn deref(&self) -> &Comm {
        &self.0
    }
}

impl Comm {
    /// Returns the communicator of the engine.
    ///
    /// # Errors
    /// `CommUnavailable`: the group that creates it has not ended.
    fn engine(&self) -> Result<&Arc<Communicator>> {
        self.engine.get().ok_or_else(|| {
            Error::new(
                ErrorKind::CommUnavailable,
                "the communicator is created by a group that has not ended",
            )
            .fix("Call HcclGroupEnd before the first use of the communicator.")
        })
    }
}

impl Cx<'_> {
    /// Returns what the environment says.
    fn comm_settings(&self) -> Result<&'static Settings> {
        self.process.refuse_if_forked()?;
        let settings = self
            .process
            .communication
            .settings
            .get_or_init(Settings::read);
        settings.as_ref().map_err(Clone::clone)
    }

    /// Finds a communicator.
    fn comm(&self, handle: Raw) -> Result<InUse> {
        self.comm_settings()?;
        if handle.is_null() {
            return Err(crate::error::null("comm"));
        }
        let comm = self.process.communication.comms.get(handle.0)?;
        comm.users.fetch_add(1, Ordering::AcqRel);
        Ok(InUse(comm))
    }

    fn domain(&self) -> Result<&'static Domain> {
        let runtime = self.runtime()?;
        let network = &self.comm_settings()?.network;
        let communication = &self.process.communication;
        Ok(communication
            .domain
            .get_or_init(|| Domain::with_network(runtime.backend().clone(), network.clone())))
    }

    fn default_deterministic(&self) -> Result<u32> {
        let set = *self.process.communication.deterministic.lock();
        Ok(set.unwrap_or(self.comm_settings()?.deterministic))
    }

    /// Returns what a configuration says, or what applies without one.
    fn chosen(&self, config: Option<&[u8]>) -> Result<Chosen> {
        let (settings, deterministic) = (self.comm_settings()?, self.default_deterministic()?);
        match config {
            None => Ok(Chosen::by_default(settings, deterministic)),
            Some(bytes) => Chosen::read(bytes, settings, deterministic),
        }
    }

    /// Returns the device of the calling thread's context.
    fn comm_device(&self) -> Result<u32> {
        Ok(self.context()?.device().number())
    }
}

/// An error about an argument.
fn wrong<T>(sentence: impl Into<String>) -> Result<T> {
    Err(Error::new(ErrorKind::CommArgument, sentence))
}
