//! Transfers whose two ends are in one process: the end that comes first is kept until the other one comes, in whichever batch that is.
//!
//! All transfers between threads are such ones, and over every transport those of a rank to itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{Instant, Mutex};
use jumar_hal::{Backend, Transfer};
use jumar_types::{Error, Result};

use crate::arrival::{Arrival, Channel, Numbers};
use crate::operation::{Message, Operation};
use crate::words::Label;

/// What distinguishes the transfers of a pair of ranks.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Route {
    /// The communicator's tag.
    tag: u64,
    epoch: u32,
    from: u32,
    to: u32,
    channel: Channel,
    number: u64,
}

/// One end of a transfer: an execution, and the position of the transfer in it.
type End = (Arc<Arrival>, usize);

/// Both ends of a transfer.
pub(crate) struct Pair {
    sender: End,
    receiver: End,
}

impl Pair {
    /// Copies the data.
    fn copy(&self, backend: &dyn Backend) {
        if let (Some(sent), Some(received)) = (message(&self.sender), message(&self.receiver))
            && let Some(transfer) = Transfer::new(received.span, sent.span)
            && !sent.span.is_empty()
        {
            backend.copy_now(transfer);
        }
    }

    /// Ends the transfer on both sides.
    fn end(self) {
        for (arrival, _) in [self.sender, self.receiver] {
            arrival.finish_one();
        }
    }

    /// Copies the data and ends the transfer.
    pub(crate) fn carry_out(self, backend: &dyn Backend) {
        self.copy(backend);
        self.end();
    }
}

fn message((arrival, index): &End) -> Option<&Message> {
    match arrival.operation() {
        Operation::Messages(messages) => messages.get(*index),
        Operation::Collective(_) => None,
    }
}

/// The ends that wait for their other ends.
#[derive(Default)]
pub(crate) struct PostedEnds {
    /// By route, and whether the end sends.
    ends: HashMap<(Route, bool), End>,
}

impl PostedEnds {
    /// Takes in one end of a transfer. Returns both if the other one has come before; otherwise this one waits for it.
    ///
    /// # Errors
    /// `CommMismatch`: the ends do not fit. Both wait on, and end with the failure of their communicator.
    pub(crate) fn meet(
        &mut self,
        arrival: &Arc<Arrival>,
        index: usize,
        (tag, epoch): (u64, u32),
        label: &Label,
    ) -> Result<Option<Pair>> {
        let own = (arrival.clone(), index);
        let (Some(message), Numbers::Messages(numbers)) = (message(&own), &arrival.numbers) else {
            return Ok(None);
        };
        let Message { sends, peer, .. } = *message;
        let (from, to) = match sends {
            true => (arrival.rank, peer),
            false => (peer, arrival.rank),
        };
        let route = Route {
            tag,
            epoch,
            from,
            to,
            channel: arrival.channel,
            number: numbers.get(index).copied().unwrap_or(0),
        };
        let Some(other) = self.ends.remove(&(route, !sends)) else {
            self.ends.insert((route, sends), own);
            return Ok(None);
        };
        let (sender, receiver) = match sends {
            true => (own, other),
            false => (other, own),
        };
        if let Some(error) = disagreement(&sender, &receiver, label) {
            self.ends.insert((route, true), sender);
            self.ends.insert((route, false), receiver);
            return Err(error);
        }
        Ok(Some(Pair { sender, receiver }))
    }

    /// Takes in the transfers of a rank to itself, and carries out those whose two ends have come. Data is copied under the lock: a
    /// thread that ends what is left waits for that.
    ///
    /// # Errors
    /// As [`PostedEnds::meet`].
    pub(crate) fn meet_own(
        posted: &Mutex<PostedEnds>,
        arrival: &Arc<Arrival>,
        me: u32,
        group: (u64, u32),
        (backend, label): (&dyn Backend, &Label),
    ) -> Result<()> {
        let Operation::Messages(messages) = arrival.operation() else {
            return Ok(());
        };
        let own = messages.iter().enumerate();
        let mut own = own.filter(|(_, message)| message.peer == me).peekable();
        if own.peek().is_none() {
            return Ok(());
        }
        let mut copied = Vec::new();
        let mut outcome = Ok(());
        {
            let mut posted = posted.lock();
            for (index, _) in own {
                match posted.meet(arrival, index, group, label) {
                    Ok(pair) => copied.extend(pair.inspect(|pair| pair.copy(backend))),
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
        }
        // What waits for it may continue at once, on this thread too.
        copied.into_iter().for_each(Pair::end);
        outcome
    }

    /// Lists the executions that wait, once for each of their ends.
    pub(crate) fn arrivals(&self) -> impl Iterator<Item = &Arc<Arrival>> {
        self.ends.values().map(|(arrival, _)| arrival)
    }

    /// Describes an execution of a communicator that has waited too long, if there is one.
    pub(crate) fn late(
        &self,
        tag: u64,
        label: &Label,
        (now, limit): (Instant, Duration),
    ) -> Option<Error> {
        let mut own = self.ends.iter().filter(|((route, _), _)| route.tag == tag);
        let (_, (arrival, _)) = own.find(|(_, (arrival, _))| arrival.has_waited(now) >= limit)?;
        let peers = self.peers(arrival);
        let (operation, number) = (arrival.operation(), arrival.number());
        Some(label.timeout(operation, number, &peers, limit.as_secs_f64()))
    }

    /// Returns an execution of a communicator that waits, if there is one.
    pub(crate) fn first_of(&self, tag: u64) -> Option<&Arc<Arrival>> {
        let mut own = self.ends.iter().filter(|((route, _), _)| route.tag == tag);
        own.next().map(|(_, (arrival, _))| arrival)
    }

    /// Lists the ranks that an execution waits for, in ascending order.
    pub(crate) fn peers(&self, arrival: &Arc<Arrival>) -> Vec<u32> {
        let own = self.ends.values();
        let own = own.filter(|(other, _)| Arc::ptr_eq(other, arrival));
        let mut peers: Vec<u32> = own
            .filter_map(|end| message(end))
            .map(|message| message.peer)
            .collect();
        peers.sort_unstable();
        peers.dedup();
        peers
    }

    /// Takes away the ends of an execution. Reports whether there were any.
    pub(crate) fn remove(&mut self, arrival: &Arc<Arrival>) -> bool {
        let before = self.ends.len();
        self.ends
            .retain(|_, (other, _)| !Arc::ptr_eq(other, arrival));
        self.ends.len() != before
    }

    /// Takes away the ends of one communicator, and returns their executions.
    pub(crate) fn take_of(&mut self, tag: u64) -> Vec<Arc<Arrival>> {
        let taken = self.ends.extract_if(|(route, _), _| route.tag == tag);
        taken.map(|(_, (arrival, _))| arrival).collect()
    }

    /// Takes away all ends, and returns their executions.
    pub(crate) fn take_all(&mut self) -> Vec<Arc<Arrival>> {
        self.ends.drain().map(|(_, (arrival, _))| arrival).collect()
    }
}

/// Describes two ends that do not fit.
fn disagreement(sender: &End, receiver: &End, label: &Label) -> Option<Error> {
    let (sent, received) = (message(sender)?, message(receiver)?);
    let fits = (sent.count, sent.data_type) == (received.count, received.data_type);
    (!fits).then(|| {
        label.mismatch(
            sender.0.number(),
            (sender.0.rank, sent),
            (receiver.0.rank, received),
        )
    })
}
