//! Ranks on several machines: they gather at a socket of the process that made the root information, and move data through
//! the plug-in for Gloo.
//!
//! Ranks of one machine that gather there find that out, and use its memory as before.

pub(crate) mod gathering;
mod host;
mod link;
mod mesh;
mod pool;
mod work;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Backend;
use jumar_types::{Error, ErrorKind, Result};

pub use host::{Interfaces, choose_host};
pub(crate) use mesh::NetworkGroup;

use crate::os::gloo::{Ends, Plugin, Transit};
use crate::words::Label;
use gathering::Gathered;
use link::Secret;

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

/// The most ranks of a communicator of several machines.
const MOST_RANKS: u32 = 64;
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
    mut gathered: Gathered,
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
    let ends = Ends::create(plugin, host, (size, rank), share)
        .map_err(|why| incomplete(format!("rank {rank} cannot use address {host}: {why}")))?;
    let others = || (0..size).filter(|other| *other != rank);
    let mut addresses = vec![Vec::new(); size as usize];
    for other in others() {
        addresses[other as usize] = ends.address(other).map_err(incomplete)?;
    }
    let peers = gathered.exchange(addresses)?;
    let cannot = |other: u32, why: &str| {
        incomplete(format!("rank {rank} cannot connect to rank {other}: {why}"))
    };
    for other in others() {
        ends.connect(other, &peers[other as usize])
            .map_err(|why| cannot(other, &why))?;
    }
    // A program that connects to an open port is a stranger until it has proved that it knows the key.
    let secret = Secret::new(key);
    let session = gathered.session();
    let broken = |other| move |why| cannot(other, &format!("{why:?}"));
    let mut proofs = Vec::new();
    for other in others() {
        let own = secret.proof_of_pair(session, rank, other).to_vec();
        let most = own.len();
        let sent = Transit::send(&ends, other, PROOF, own).map_err(broken(other))?;
        let received = Transit::receive(&ends, other, PROOF, most).map_err(broken(other))?;
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
    NetworkGroup::everyone(ends, rank, label, gathered.names(), backend)
}
