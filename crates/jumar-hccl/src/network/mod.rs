//! Ranks on several machines: they gather at a socket of the process that made the root information, and move data through
//! the plug-in for Gloo.
//!
//! Ranks of one machine that gather there find that out, and use its memory as before.
//!
//! Every two ranks have two connections. One carries the data of operations; the other one carries notices, and shows whether the rank
//! is there. Data cannot hold up notices: an operation that ends in the middle of a message leaves its connection blocked, and Gloo
//! does not end the transfer that is in progress when a connection breaks.

mod departure;
pub(crate) mod gathering;
mod host;
mod link;
mod mesh;
mod outbox;
mod pool;
mod work;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Backend;
use jumar_types::{Error, ErrorKind, Result};

pub use host::{Interfaces, choose_host};
pub(crate) use mesh::NetworkGroup;

use crate::os::gloo::{ADDRESS_BYTES, Ends, Plugin, Transit};
use crate::words::Label;
use gathering::GatheredRank;
use link::{Fields, Secret, put_bytes};

/// How a process takes part in communicators of several machines.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// This machine's address; `None` for that of the connection to the root.
    pub host: Option<IpAddr>,
    /// The ports of listeners; empty for any.
    pub ports: Vec<u16>,
    /// The addresses that may connect; `None` for all.
    pub allowed: Option<Vec<IpAddr>>,
}

/// Where the ranks of a rank table of several servers find rank 0.
#[derive(Clone, Debug)]
pub struct RootAddress {
    /// The address of its server.
    pub address: IpAddr,
    /// What all ranks know and others do not.
    pub key: u128,
}

/// The ports at which rank 0 of a rank table may listen, unless others are chosen.
const TABLE_PORTS: std::ops::Range<u16> = 60_000..60_032;
/// How long a process at one of these ports may take to show that it is rank 0.
const ASKING_TIME: Duration = Duration::from_millis(500);

impl Network {
    /// Returns what rank 0 of a rank table listens with.
    pub(crate) fn at(&self, root_address: &RootAddress) -> Network {
        Network {
            host: self.host.or(Some(root_address.address)),
            ports: self.table_ports(),
            allowed: self.allowed.clone(),
        }
    }

    fn table_ports(&self) -> Vec<u16> {
        match self.ports.is_empty() {
            true => TABLE_PORTS.collect(),
            false => self.ports.clone(),
        }
    }

    /// Asks rank 0 of a rank table for the root information, at each of its ports.
    pub(crate) fn ask(&self, root_address: &RootAddress) -> Option<Vec<u8>> {
        for port in self.table_ports() {
            match gathering::ask(
                (root_address.address, port).into(),
                root_address.key,
                ASKING_TIME,
            ) {
                Ok(info) => return Some(info),
                // The machine does not answer: it does not at its other ports either.
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => return None,
                Err(_) => {}
            }
        }
        None
    }
}

/// The most ranks of a communicator of several machines.
const MOST_RANKS: u32 = 64;
/// The most bytes of the addresses at which a rank finds another one: two of them, each behind its length.
const MOST_ADDRESS_BYTES: usize = 2 * (ADDRESS_BYTES + size_of::<u32>());
/// The tag of proofs.
const PROOF: u64 = 1;
/// Gloo multiplies the time for a connection by this.
const PATIENCE: u32 = 5;

/// Returns why ranks of several machines are not possible, `None` if they are.
pub fn why_not() -> Option<String> {
    Plugin::get().err()
}

/// Describes a plug-in that cannot be used.
pub(crate) fn no_plugin(why: &str) -> Error {
    Error::new(
        ErrorKind::CommUnsupported,
        format!("the ranks are on several machines or in several containers, and the plug-in for them cannot be used: {why}"),
    )
    .fix("Install libgloo-dev, build the plug-in with `make -C plugins/gloo`, and put libjumar_gloo.so where the loader finds it, on every machine.")
}

/// Connects a rank with all others, which have gathered.
///
/// # Errors
/// `CommUnsupported`: there is no plug-in, or there are too many ranks; `CommIncomplete`: a rank cannot be reached.
pub(crate) fn connect(
    mut gathered: GatheredRank,
    network: &Network,
    (key, label): (u128, Label),
    rank: u32,
    limit: Duration,
    backend: Arc<dyn Backend>,
) -> Result<NetworkGroup> {
    let size = label.size;
    if size > MOST_RANKS {
        return Err(Error::new(
            ErrorKind::CommUnsupported,
            format!(
                "a communicator of {size} ranks on several machines; this library creates them with up to {MOST_RANKS}"
            ),
        ));
    }
    let plugin = Plugin::get().map_err(|why| no_plugin(&why))?;
    let incomplete = |sentence: String| Error::new(ErrorKind::CommIncomplete, sentence);
    let host = network.host.unwrap_or(gathered.local);
    let share = (limit / PATIENCE).max(Duration::from_millis(1));
    let create = || {
        Ends::create(plugin, host, (size, rank), share)
            .map_err(|why| incomplete(format!("rank {rank} cannot use address {host}: {why}")))
    };
    let (data, notices) = (create()?, create()?);
    let others = || (0..size).filter(|other| *other != rank);
    let mut addresses = vec![Vec::new(); size as usize];
    for other in others() {
        for ends in [&data, &notices] {
            let address = ends.address(other).map_err(incomplete)?;
            put_bytes(&mut addresses[other as usize], &address);
        }
    }
    let peers = gathered.exchange(addresses)?;
    let cannot = |other: u32, why: &str| {
        incomplete(format!("rank {rank} cannot connect to rank {other}: {why}"))
    };
    for other in others() {
        let mut addresses = Fields(&peers[other as usize]);
        for ends in [&data, &notices] {
            let address = addresses.bytes();
            let address = address.map_err(|why| cannot(other, &why.to_string()))?;
            ends.connect(other, address)
                .map_err(|why| cannot(other, &why))?;
        }
    }
    // A program that connects to an open port is a stranger until it has proved that it knows the key.
    let secret = Secret::new(key);
    let session = gathered.session();
    let broken = |other| move |why| cannot(other, &format!("{why:?}"));
    let mut proofs = Vec::new();
    for (other, ends) in others().flat_map(|other| [(other, &data), (other, &notices)]) {
        let own = secret.proof_of_pair(session, rank, other).to_vec();
        let most = own.len();
        let sent = Transit::send(ends, other, PROOF, own).map_err(broken(other))?;
        let received = Transit::receive(ends, other, PROOF, most).map_err(broken(other))?;
        proofs.push((other, sent, received));
    }
    for (other, sent, received) in &proofs {
        // Gloo ends all connections when a time runs out, and there is no use for the others without this one.
        received.wait(Some(limit)).map_err(broken(*other))?;
        sent.wait(Some(limit)).map_err(broken(*other))?;
        let mut found = [0; link::PROOF_BYTES];
        backend.read_now(received.span(), &mut found);
        if found != secret.proof_of_pair(session, *other, rank) {
            return Err(cannot(*other, "a stranger answered instead"));
        }
    }
    NetworkGroup::everyone([data, notices], rank, label, gathered.names(), backend)
}
