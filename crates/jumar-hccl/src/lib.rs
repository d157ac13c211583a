//! Collective communication: ranks, the numbers of their operations, and the transports that carry the data.
//!
//! A [`Communicator`] is one rank of several. An [`Operation`] that a rank reaches is matched by its number to those of
//! the other ranks. Ranks of one process read each other's memory; ranks of several processes of one machine use memory
//! files without names; ranks of several machines send messages through a plug-in. Sums are formed in rank order everywhere, so that a result has the same bits however the
//! ranks are spread. A stream that waits for other ranks waits for a signal and holds no thread.
//!
//! Nothing here knows streams, gates or the C interface: [`QueuedOperation`] is what a stream has to run.
#![deny(unsafe_code)]

// Under the model checker there are these alone: they have no system below them.
#[cfg(any(not(loom), test))]
mod mailbox;
#[cfg(any(not(loom), test))]
mod protocol;

#[cfg(not(loom))]
mod arrival;
#[cfg(not(loom))]
mod communicator;
#[cfg(not(loom))]
mod domain;
#[cfg(not(loom))]
mod exchange;
#[cfg(not(loom))]
mod local;
#[cfg(not(loom))]
mod network;
#[cfg(not(loom))]
mod operation;
#[cfg(not(loom))]
#[expect(
    unsafe_code,
    reason = "shared mappings, and calls of the system that the standard library does not have"
)]
mod os;
#[cfg(not(loom))]
mod polling;
#[cfg(not(loom))]
mod posted;
#[cfg(not(loom))]
mod reduce;
#[cfg(not(loom))]
mod remote;
#[cfg(not(loom))]
mod sequence;
mod types;
#[cfg(not(loom))]
mod words;

#[cfg(not(loom))]
pub use arrival::{Arrival, Channel, Numbers, QueuedOperation};
#[cfg(not(loom))]
pub use communicator::{Communicator, Options, Waiting};
#[cfg(not(loom))]
pub use domain::Domain;
#[cfg(not(loom))]
pub use network::{Interfaces, Network, RootAddress, choose_host, why_not};
#[cfg(not(loom))]
pub use operation::{Collective, Message, Operation, Pieces, Signature, digest};
#[cfg(not(loom))]
pub use reduce::reduce;
#[cfg(not(loom))]
pub use remote::RootInfo;
pub use types::{DataType, Kind, Reduction};
#[cfg(not(loom))]
pub use words::ranks;
