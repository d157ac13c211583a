//! One communicator among those of a mesh: what comes to it, and what ends what it waits for.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::Poller;
use jumar_hal::sync::{AtomicU64, Instant, Mutex, Ordering};
use jumar_types::Error;
use smallvec::{SmallVec, smallvec};

use super::layout::{HEAD_FAILURE, HEAD_LEFT, LEFT, LEFT_COUNT};
use super::mesh::{Entry, Mesh};
use super::work::Running;
use crate::arrival::Arrival;
use crate::operation::{EVERYONE, Operation};
use crate::posted::PostedEnds;
use crate::words::Label;

/// Up to how many bytes an operation that comes does not interrupt a brief sleep of the process's own thread.
const SMALL_BYTES: usize = 64 << 10;

/// The ranks of one communicator among those of a mesh.
pub(crate) struct RemoteGroup {
    mesh: Arc<Mesh>,
    tag: u64,
    label: Label,
    members: Arc<[u32]>,
    me: usize,
}

impl RemoteGroup {
    pub(super) fn everyone(mesh: Arc<Mesh>, label: Label) -> RemoteGroup {
        RemoteGroup {
            tag: EVERYONE,
            members: (0..label.size).collect(),
            me: mesh.rank(),
            mesh,
            label,
        }
    }

    /// Returns the group of some of the members, which includes this rank.
    pub(crate) fn child(&self, tag: u64, label: Label, ranks: &[u32]) -> Arc<RemoteGroup> {
        let members: Arc<[u32]> = ranks
            .iter()
            .filter_map(|rank| self.members.get(*rank as usize).copied())
            .collect();
        let own = self.mesh.rank() as u32;
        let me = members.iter().position(|rank| *rank == own);
        Arc::new(RemoteGroup {
            mesh: self.mesh.clone(),
            tag,
            label,
            members,
            me: me.unwrap_or(0),
        })
    }

    /// Returns what a thread polls that waits for an operation.
    pub(crate) fn poller(&self) -> Arc<dyn Poller> {
        self.mesh.clone()
    }

    pub(crate) fn failure(&self) -> Option<Error> {
        match self.mesh.has_failed.load(Ordering::Acquire) {
            true => self.mesh.failure.lock().clone(),
            false => None,
        }
    }

    pub(crate) fn recover(&self) {
        let mesh = &self.mesh;
        // What the others have not read, they never will: their operations of that time have failed.
        mesh.free_slots(|_| true);
        // Numbers start anew.
        mesh.slots.lock().ended.clear();
        mesh.epoch.fetch_add(1, Ordering::AcqRel);
        mesh.segment.store(HEAD_FAILURE, 0);
        let mut failure = mesh.failure.lock();
        *failure = None;
        mesh.has_failed.store(false, Ordering::Release);
    }

    /// Takes in an operation that this rank has reached.
    pub(crate) fn arrive(&self, arrival: &Arc<Arrival>, epoch: u32) {
        if let Some(failure) = self.failure() {
            // It was queued before the failure, and ends as those that were waiting.
            arrival.complete(Err(failure));
            return;
        }
        let membership = (&self.members, self.me);
        let is_large = arrival.operation().bytes() > SMALL_BYTES;
        let entry = |work: &dyn Fn() -> Running| {
            Arc::new(Entry {
                work: Mutex::new(Some(work())),
                arrival: arrival.clone(),
                tag: self.tag,
                is_large,
                awaited: AtomicU64::new(0),
            })
        };
        let entries: SmallVec<[Arc<Entry>; 1]> = match arrival.operation() {
            Operation::Collective(own) => {
                let key = (self.tag, epoch);
                smallvec![entry(&|| Running::collective(
                    arrival, own, membership, key
                ))]
            }
            Operation::Messages(messages) => {
                let others = messages
                    .iter()
                    .enumerate()
                    .filter(|(_, message)| message.peer as usize != self.me);
                let entries = others.map(|(at, message)| {
                    let key = (self.tag, epoch);
                    entry(&|| Running::message(arrival, at, *message, membership, key))
                });
                entries.collect()
            }
        };
        self.mesh.running.lock().extend(entries.iter().cloned());
        let (mine, engine) = (self.me as u32, (&*self.mesh.backend, &self.label));
        if let Err(error) =
            PostedEnds::meet_own(&self.mesh.own, arrival, mine, (self.tag, epoch), engine)
        {
            self.mesh.fail(error);
        }
        // A failure since the look above has ended what it found, and found none of these.
        if let Some(failure) = self.failure() {
            self.mesh.end_all(&failure);
        }
        for entry in &entries {
            // A large one continues as far as it can: to wake the process's own thread takes longer than to look once more.
            while self.mesh.drive(entry) && is_large {}
        }
        // The process's own thread continues it, and watches the other processes meanwhile.
        if !arrival.is_complete() {
            self.mesh.wake.note_arrival();
            if is_large {
                self.mesh.wake.interrupt();
            }
        }
    }

    /// Takes back an operation whose stream gave it up: the others cannot end it any more.
    pub(crate) fn abandon(&self, arrival: &Arc<Arrival>) {
        if arrival.is_complete() {
            return;
        }
        let error = self.label.lost(
            arrival.operation(),
            arrival.number(),
            arrival.rank,
            "gave it up: its stream was aborted or destroyed",
        );
        self.mesh.fail(error.clone());
        arrival.complete(Err(error));
    }

    /// Takes away the operations that run and fit.
    fn take(&self, fits: impl Fn(&Entry) -> bool) -> Vec<Arc<Entry>> {
        let mut running = self.mesh.running.lock();
        running.extract_if(.., |entry| fits(entry)).collect()
    }

    /// Ends an operation of this rank, without failing the group.
    pub(crate) fn withdraw(&self, arrival: &Arc<Arrival>, error: &Error) {
        let entries = self.take(|entry| Arc::ptr_eq(&entry.arrival, arrival));
        let waits = self.mesh.own.lock().remove(arrival);
        let own = waits.then(|| arrival.clone()).into_iter().collect();
        self.mesh.end(entries, own, error);
    }

    /// Announces that this rank's communicator was destroyed, and ends what runs.
    pub(crate) fn leave(&self) {
        let mesh = &self.mesh;
        let left = mesh.segment.load(HEAD_LEFT);
        mesh.segment
            .store(LEFT + left as usize % LEFT_COUNT, self.tag);
        mesh.segment.add(HEAD_LEFT, 1);
        mesh.announce_to_all();
        mesh.slots
            .lock()
            .ended
            .retain(|ended| ended.tag != self.tag);
        let entries = self.take(|entry| entry.tag == self.tag);
        let own = mesh.own.lock().take_of(self.tag);
        // Another thread may be about to take away some that have ended.
        let waiting = entries.iter().filter(|entry| entry.work.lock().is_some());
        let waiting = waiting.map(|entry| &entry.arrival).chain(&own).next();
        let error = waiting.map(|arrival| {
            let (operation, number) = (arrival.operation(), arrival.number());
            let me = self.me as u32;
            self.label
                .lost(operation, number, me, "destroyed its communicator")
        });
        if let Some(error) = error {
            mesh.end(entries, own, &error);
        }
    }

    pub(crate) fn fail(&self, error: &Error) {
        self.mesh.fail(error.clone());
    }

    pub(crate) fn cancel(&self, error: &Error) {
        self.mesh.end_all(error);
    }

    /// Fails the operations that have waited too long.
    pub(crate) fn expire(&self, now: Instant, limit: Duration) {
        let late = self
            .mesh
            .running
            .lock()
            .iter()
            .find(|entry| entry.tag == self.tag && entry.arrival.has_waited(now) >= limit)
            .cloned();
        let error = match late {
            Some(entry) => entry.work.lock().as_ref().map(|work| {
                let awaited = work.awaited(&self.mesh);
                let call = work.call();
                call.timeout(&self.mesh, &awaited, limit.as_secs_f64())
            }),
            None => self
                .mesh
                .own
                .lock()
                .late(self.tag, &self.label, (now, limit)),
        };
        if let Some(error) = error {
            self.mesh.fail(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig};
    use jumar_hal::{Joint, Span};

    use super::super::{Meetings, TransportChoice};
    use super::*;
    use crate::communicator::{Communicator, Options, Transport};
    use crate::network::Network;
    use crate::{DataType, Message};

    fn groups(meetings: &Meetings) -> Vec<(Arc<RemoteGroup>, Arc<Communicator>)> {
        let limit = Duration::from_secs(30);
        let info = meetings.root_info(limit).expect("root information");
        let join = |rank| {
            let joined = meetings.join(&info, (2, rank), 0, &Options::default(), limit);
            let (transport, label) = joined.expect("both come");
            let Transport::Remote(group) = transport.clone() else {
                unreachable!("shared memory was asked for")
            };
            let options = Options::default();
            let made = Communicator::new(label, options, (rank, 0), transport, false);
            (group, made)
        };
        thread::scope(|scope| {
            let joining = [0, 1].map(|rank| scope.spawn(move || join(rank)));
            joining.map(|rank| rank.join().expect("no panic")).into()
        })
    }

    /// One operation has ended and is about to be taken away when its rank leaves. The one behind it waits for good.
    #[test]
    fn a_rank_that_leaves_ends_what_waits_behind_an_operation_that_has_just_ended() {
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
        let backend = Arc::new(CpuBackend::new(config).expect("a backend"));
        let meetings = Meetings::new(backend, Network::default(), TransportChoice::SharedMemory);
        let groups = groups(&meetings);
        let (group, rank) = &groups[0];
        let receive = Message {
            sends: false,
            peer: 1,
            span: Span::EMPTY,
            count: 0,
            data_type: DataType::Int8,
        };
        let queued = rank
            .prepare(Operation::Messages([receive].into()), false)
            .expect("accepted");
        let (begin, _end) = queued.clone().parts();
        begin.run().expect("it is announced");
        {
            let mut running = group.mesh.running.lock();
            let ended = Entry {
                work: Mutex::new(None),
                arrival: running[0].arrival.clone(),
                tag: group.tag,
                is_large: false,
                awaited: AtomicU64::new(0),
            };
            running.insert(0, Arc::new(ended));
        }
        assert!(rank.close());
        assert!(queued.signal().is_set(), "nothing else would end it");
        let error = Joint::end(&*queued).expect_err("its rank has gone");
        assert!(error.sentence().contains("rank 0 destroyed"), "{error}");
    }
}
