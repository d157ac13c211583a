//! The ranks of several processes, as one of them sees them: its own segment, those of the others, and what runs.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicU32, AtomicU64, Instant, Mutex, Ordering, fence};
use jumar_hal::{Backend, Poller, Span, SpinLock};
use jumar_types::Error;
use smallvec::SmallVec;

use super::layout::{
    HEAD_FAILURE, HEAD_LACKED_SLOT, HEAD_LEFT, HEAD_MAPPED, HEAD_PROCESSOR, HEAD_READABLE,
    HEAD_TEXT_BYTES, LEFT, LEFT_COUNT, MOST_RANKS, SLOTS, STATE, TEXT, TEXT_BYTES, ack, slot,
};
use super::wake::WakePage;
use super::work::{LeftBehind, Running};
use crate::arrival::Arrival;
use crate::os::{self, Mapping, Process, processor};
use crate::polling::{Pauses, Placement};
use crate::posted::PostedEnds;
use crate::protocol;
use crate::sequence::Sequence;
use crate::words::{error_of, number_of};

/// Another rank.
pub(super) struct Peer {
    pub(super) segment: Mapping,
    /// What it lends of its device's memory, if this rank could map that.
    pub(super) lent: Option<Mapping>,
    /// The page of its process; this process's own for a rank of this process.
    pub(super) wake: Arc<WakePage>,
    /// Its process, if it is another one.
    pub(super) process: Option<Process>,
    pub(super) lost: AtomicBool,
}

impl Peer {
    /// Returns the number of its process.
    pub(super) fn process_number(&self) -> u32 {
        let other = self.process.as_ref();
        other.map_or_else(std::process::id, Process::number)
    }

    /// Reports whether its process runs.
    fn is_alive(&self) -> bool {
        self.process.as_ref().is_none_or(Process::is_alive)
    }
}

/// How a rank reads the memory of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// It has mapped what the other one lends.
    Lent,
    /// The system copies for it.
    Process,
}

/// All ranks of a communicator of several processes.
pub(crate) struct Mesh {
    rank: usize,
    device: u32,
    pub(super) segment: Mapping,
    /// By rank; none for this rank.
    peers: Vec<Option<Peer>>,
    pub(super) wake: Arc<WakePage>,
    pub(super) backend: Arc<dyn Backend>,
    pub(super) slots: SpinLock<Slots>,
    pub(super) running: SpinLock<Vec<Arc<Entry>>>,
    /// Transfers of this rank to itself.
    pub(super) own: Mutex<PostedEnds>,
    /// The threads that poll for its operations.
    pollers: AtomicU32,
    placement: Placement,
    pub(super) failure: Mutex<Option<Error>>,
    /// Whether there is a failure, for those who look without the lock.
    pub(super) has_failed: AtomicBool,
    /// How often the ranks were resumed: failures of earlier times are over.
    pub(super) epoch: AtomicU32,
}

pub(super) struct Slots {
    used: [bool; SLOTS],
    generations: [u64; SLOTS],
    left_behind: Vec<LeftBehind>,
    pub(super) ended: Vec<EndedCollectives>,
}

/// The collectives of one identity that have ended for this rank.
pub(super) struct EndedCollectives {
    /// The communicator's.
    pub(super) tag: u64,
    identity: u64,
    numbers: Sequence,
}

impl Slots {
    /// Takes the first free slot of a range, which may go around the end.
    fn take(&mut self, wanted: Range<usize>) -> Option<(usize, u64)> {
        let free = wanted.map(|at| at % SLOTS).find(|at| !self.used[*at])?;
        self.used[free] = true;
        self.generations[free] += 1;
        Some((free, self.generations[free]))
    }

    fn note_end(&mut self, left: &LeftBehind) {
        let mut all = self.ended.iter();
        let known = all.position(|ended| ended.identity == left.identity);
        let at = known.unwrap_or_else(|| {
            self.ended.push(EndedCollectives {
                tag: left.tag,
                identity: left.identity,
                numbers: Sequence::default(),
            });
            self.ended.len() - 1
        });
        self.ended[at].numbers.add(left.number);
    }
}

/// An operation that runs.
pub(super) struct Entry {
    pub(super) work: Mutex<Option<Running>>,
    pub(super) arrival: Arc<Arrival>,
    pub(super) tag: u64,
    pub(super) is_large: bool,
    /// A bit for each rank that it waits for. Only a hint: it decides how this rank waits.
    pub(super) awaited: AtomicU64,
}

impl Mesh {
    pub(super) fn new(
        (rank, device): (usize, u32),
        segment: Mapping,
        peers: Vec<Option<Peer>>,
        wake: Arc<WakePage>,
        backend: Arc<dyn Backend>,
    ) -> Mesh {
        Mesh {
            rank,
            device,
            segment,
            peers,
            wake,
            backend,
            slots: SpinLock::new(Slots {
                used: [false; SLOTS],
                generations: [0; SLOTS],
                left_behind: Vec::new(),
                ended: Vec::new(),
            }),
            running: SpinLock::default(),
            own: Mutex::default(),
            pollers: AtomicU32::new(0),
            placement: Placement::default(),
            failure: Mutex::default(),
            has_failed: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    pub(super) fn segment(&self) -> &Mapping {
        &self.segment
    }

    fn peer(&self, rank: usize) -> Option<&Peer> {
        self.peers.get(rank).and_then(Option::as_ref)
    }

    /// Reads a word of another rank's segment.
    pub(super) fn peer_word(&self, rank: usize, index: usize) -> u64 {
        self.peer(rank).map_or(0, |peer| peer.segment.load(index))
    }

    /// Returns the segment of another rank.
    pub(super) fn peer_segment(&self, rank: usize) -> Option<&Mapping> {
        self.peer(rank).map(|peer| &peer.segment)
    }

    /// Returns a part of another rank's segment.
    pub(super) fn peer_span(&self, rank: usize, offset: usize, bytes: usize) -> Option<Span> {
        self.peer(rank)?.segment.span(offset, bytes)
    }

    /// Returns how a rank reads the memory of another one, if it may. Both come to the same answer.
    pub(super) fn access(&self, reader: usize, owner: usize) -> Option<Access> {
        let may = |word| {
            let owners = match reader == self.rank {
                true => self.segment.load(word),
                false => self.peer_word(reader, word),
            };
            owners >> owner & 1 != 0
        };
        match (may(HEAD_MAPPED), may(HEAD_READABLE)) {
            (true, _) => Some(Access::Lent),
            (false, true) => Some(Access::Process),
            (false, false) => None,
        }
    }

    /// Lends a part of this rank's memory. Returns where it begins in what the rank lends.
    pub(super) fn lend(&self, part: Span) -> Option<usize> {
        self.backend.lend(self.device, part)
    }

    /// Returns a part of what another rank lends.
    pub(super) fn lent_span(&self, rank: usize, offset: usize, bytes: usize) -> Option<Span> {
        self.peer(rank)?.lent.as_ref()?.span(offset, bytes)
    }

    /// Copies memory of another rank's process. Returns whether that process ran still.
    ///
    /// # Errors
    /// The system refused it, or the process has no memory there.
    pub(super) fn read_memory(&self, rank: usize, from: u64, to: Span) -> io::Result<bool> {
        let Some(peer) = self.peer(rank) else {
            return Ok(false);
        };
        let mut read = Ok(());
        self.backend.write_with(to, &mut |to| {
            read = os::read_memory(peer.process_number(), from as usize, to);
        });
        // Looked at afterwards: another process may have the number of one that has ended.
        match peer.is_alive() {
            true => read.map(|()| true),
            false => Ok(false),
        }
    }

    /// Returns how many rounds of a stream a rank has read from one of this rank's slots.
    pub(super) fn acknowledged(
        &self,
        reader: usize,
        slot: usize,
        generation: u64,
        stream: usize,
    ) -> usize {
        let word = self.peer_word(reader, ack(self.rank, slot, stream));
        match word >> 32 == generation & u64::from(u32::MAX) {
            true => (word as u32) as usize,
            false => 0,
        }
    }

    /// Announces that this rank has read so many rounds of a stream of another rank's slot.
    pub(super) fn acknowledge(
        &self,
        writer: usize,
        slot: usize,
        generation: u64,
        stream: usize,
        count: usize,
    ) {
        let word = generation << 32 | count as u64;
        self.segment.store(ack(writer, slot, stream), word);
    }

    /// Publishes on which processor this rank runs.
    pub(super) fn note_processor(&self) -> u64 {
        let own = processor() + 1;
        if self.segment.load(HEAD_PROCESSOR) != own {
            self.segment.store(HEAD_PROCESSOR, own);
        }
        own
    }

    /// Notes that the calling thread has yielded. It may run on another processor afterwards.
    fn note_yield(&self) {
        let ranks = 0..self.peers.len();
        let processors = ranks.map(|rank| match rank == self.rank {
            true => self.segment.load(HEAD_PROCESSOR),
            false => self.peer_word(rank, HEAD_PROCESSOR),
        });
        if self.placement.has_yielded(self.rank, processors) {
            self.note_processor();
        }
    }

    /// Reports whether an operation waits for a rank that was on a processor last.
    fn awaits_rank_on(&self, processor: u64) -> bool {
        let running = self.running.lock();
        let awaited = running
            .iter()
            .map(|entry| entry.awaited.load(Ordering::Relaxed));
        let awaited = awaited.fold(0, |all, ranks| all | ranks);
        drop(running);
        let mut ranks = (0..self.peers.len()).filter(|rank| awaited >> rank & 1 != 0);
        ranks.any(|rank| self.peer_word(rank, HEAD_PROCESSOR) == processor)
    }

    /// Takes a free slot of this rank, `wanted` if that is free, and returns it with its generation.
    pub(super) fn take_slot(&self, wanted: usize) -> Option<(usize, u64)> {
        self.try_slot(wanted).or_else(|| {
            // From now on, who reads a slot announces it. Both sides write first and read then: one of the two sees the other.
            self.segment.store(HEAD_LACKED_SLOT, 1);
            fence(Ordering::SeqCst);
            self.try_slot(wanted)
        })
    }

    fn try_slot(&self, wanted: usize) -> Option<(usize, u64)> {
        if let Some(taken) = self.slots.lock().take(wanted..wanted + 1) {
            return Some(taken);
        }
        self.free_slots(|one| one.is_read(self));
        self.slots.lock().take(wanted..wanted + SLOTS)
    }

    /// Returns below which number all operations of a kind have ended for this rank.
    pub(super) fn ended_below(&self, identity: u64) -> u64 {
        let slots = self.slots.lock();
        let known = slots.ended.iter().find(|ended| ended.identity == identity);
        known.map_or(0, |ended| ended.numbers.below())
    }

    /// Announces what this rank has read to those ranks whose operations may wait for a free slot.
    pub(super) fn announce_to_slotless(&self, ranks: impl Iterator<Item = usize> + Clone) {
        fence(Ordering::SeqCst);
        self.announce(ranks.filter(|rank| self.peer_word(*rank, HEAD_LACKED_SLOT) != 0));
    }

    /// Frees a slot.
    pub(super) fn close_slot(&self, index: usize, generation: u64) {
        protocol::close_slot(&self.segment, slot(index) + STATE, generation);
        self.slots.lock().used[index] = false;
    }

    /// Frees the slots of operations that have ended, where `may` returns true.
    pub(super) fn free_slots(&self, may: impl Fn(&LeftBehind) -> bool) {
        self.free(&mut self.slots.lock(), may);
    }

    fn free(&self, slots: &mut Slots, may: impl Fn(&LeftBehind) -> bool) {
        let Slots {
            used, left_behind, ..
        } = slots;
        left_behind.retain(|one| {
            let is_free = may(one);
            if is_free {
                protocol::close_slot(&self.segment, slot(one.slot) + STATE, one.generation);
                used[one.slot] = false;
            }
            !is_free
        });
    }

    /// Ends an operation: its slot is free as soon as a slot is needed and all others have read this one. All operations of its kind below
    /// `read_below` have ended for all ranks.
    pub(super) fn end_operation(&self, left: LeftBehind, read_below: u64) {
        let identity = left.identity;
        let mut slots = self.slots.lock();
        slots.note_end(&left);
        slots.left_behind.push(left);
        self.free(&mut slots, |one| {
            one.identity == identity && one.number < read_below
        });
    }

    /// Reports whether the process of a rank has ended.
    pub(super) fn is_lost(&self, rank: usize) -> bool {
        self.peer(rank)
            .is_some_and(|peer| peer.lost.load(Ordering::Acquire))
    }

    fn announce(&self, ranks: impl Iterator<Item = usize> + Clone) {
        let peers = ranks.filter_map(|rank| self.peer(rank));
        WakePage::announce_to_all(peers.map(|peer| &*peer.wake));
    }

    pub(super) fn announce_to_all(&self) {
        self.announce(0..self.peers.len());
    }

    /// Steps an operation. Reports whether anything was done.
    pub(super) fn drive(&self, entry: &Arc<Entry>) -> bool {
        let step = {
            let mut work = entry.work.lock();
            let Some(running) = work.as_mut() else {
                return false;
            };
            let step = running.step(self);
            if let Ok(step) = &step {
                if step.concerns_others {
                    self.announce(running.call().involved());
                } else if step.read_out != 0 {
                    self.announce((0..MOST_RANKS).filter(|rank| step.read_out >> rank & 1 != 0));
                }
                match step.done {
                    true => *work = None,
                    false => entry.awaited.store(running.needs(self), Ordering::Relaxed),
                }
            }
            step
        };
        match step {
            Ok(step) => {
                if step.done {
                    self.running
                        .lock()
                        .retain(|other| !Arc::ptr_eq(other, entry));
                    entry.arrival.finish_one();
                }
                step.progressed || step.done
            }
            Err(error) => {
                self.fail(error);
                true
            }
        }
    }

    /// Fails the communicator: what runs here ends, and the other ranks learn why.
    pub(super) fn fail(&self, error: Error) {
        {
            let mut failure = self.failure.lock();
            if failure.is_some() {
                drop(failure);
                return self.end_all(&error);
            }
            *failure = Some(error.clone());
            self.has_failed.store(true, Ordering::Release);
            let mut text = error.sentence().as_bytes();
            text = &text[..text.len().min(TEXT_BYTES)];
            for (at, bytes) in text.chunks(8).enumerate() {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                self.segment.store(TEXT + at, u64::from_le_bytes(word));
            }
            self.segment.store(HEAD_TEXT_BYTES, text.len() as u64);
            let epoch = u64::from(self.epoch.load(Ordering::Acquire)) + 1;
            self.segment
                .store(HEAD_FAILURE, number_of(&error) | epoch << 8);
        }
        self.announce_to_all();
        self.end_all(&error);
    }

    pub(super) fn end_all(&self, error: &Error) {
        let all = std::mem::take(&mut *self.running.lock());
        let own = self.own.lock().take_all();
        self.end(all, own, error);
    }

    /// Ends operations, and executions with transfers of this rank to itself.
    pub(super) fn end(&self, entries: Vec<Arc<Entry>>, own: Vec<Arc<Arrival>>, error: &Error) {
        let mut arrivals = own;
        for entry in entries {
            let work = entry.work.lock().take();
            if let Some(mut work) = work {
                work.abandon(self);
                arrivals.push(work.call().arrival().clone());
            }
        }
        // The memory belongs to the program again once no transfer of a batch uses it.
        for arrival in arrivals {
            arrival.complete(Err(error.clone()));
        }
    }

    /// Finds a failure that another rank announced.
    fn failure_of_others(&self) -> Option<Error> {
        let epoch = u64::from(self.epoch.load(Ordering::Acquire)) + 1;
        self.peers.iter().flatten().find_map(|peer| {
            let word = peer.segment.load(HEAD_FAILURE);
            if word == 0 || word >> 8 < epoch {
                return None;
            }
            let bytes = (peer.segment.load(HEAD_TEXT_BYTES) as usize).min(TEXT_BYTES);
            let words = (0..bytes.div_ceil(8)).map(|at| peer.segment.load(TEXT + at));
            let mut text: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            text.truncate(bytes);
            Some(error_of(word & 0xff, &String::from_utf8_lossy(&text)))
        })
    }

    fn has_left(&self, rank: usize, tag: u64) -> bool {
        self.peer_word(rank, HEAD_LEFT) != 0
            && (0..LEFT_COUNT).any(|at| self.peer_word(rank, LEFT + at) == tag)
    }

    /// Steps all that runs. Reports whether anything was done.
    pub(super) fn advance(&self) -> bool {
        let running: SmallVec<[Arc<Entry>; 4]> = self.running.lock().iter().cloned().collect();
        if running.is_empty() {
            return false;
        }
        let gone = self.peers.iter().enumerate().any(|(rank, peer)| {
            let lost = peer
                .as_ref()
                .is_some_and(|peer| peer.lost.load(Ordering::Acquire));
            lost || self.peer_word(rank, HEAD_LEFT) != 0
        });
        let mut progressed = false;
        for entry in running {
            let missed = gone.then(|| self.missed(&entry)).flatten();
            progressed |= self.drive(&entry);
            if let Some((member, why)) = missed {
                // What the rank provided before it went has been used by now.
                let error = entry
                    .work
                    .lock()
                    .as_ref()
                    .filter(|work| work.awaited(self).iter().any(|(one, _)| *one == member))
                    .map(|work| work.call().lost(member, &why));
                if let Some(error) = error {
                    match self.failure_of_others() {
                        // A rank that failed says why before it goes.
                        Some(cause) => self.end_with(&cause),
                        None => self.fail(error),
                    }
                    return true;
                }
            }
        }
        // Looked at last: a rank that failed may have provided all that was needed before.
        if let Some(cause) = self.failure_of_others() {
            self.end_with(&cause);
            return true;
        }
        progressed
    }

    /// Reports whether an operation is large or has waited for so long.
    pub(super) fn waits_longer(&self, limit: Duration) -> bool {
        let now = Instant::now();
        let waits = |entry: &Arc<Entry>| entry.is_large || entry.arrival.has_waited(now) >= limit;
        self.running.lock().iter().any(waits)
    }

    /// Reports whether a thread polls for the operations.
    pub(super) fn is_polled(&self) -> bool {
        self.pollers.load(Ordering::Relaxed) != 0
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.running.lock().is_empty()
    }

    /// Ends what runs with a failure that another rank announced.
    fn end_with(&self, cause: &Error) {
        {
            let mut failure = self.failure.lock();
            failure.get_or_insert(cause.clone());
            self.has_failed.store(true, Ordering::Release);
        }
        self.end_all(cause);
    }

    fn missed(&self, entry: &Entry) -> Option<(usize, String)> {
        let work = entry.work.lock();
        let work = work.as_ref()?;
        work.awaited(self).into_iter().find_map(|(member, rank)| {
            if self.has_left(rank, work.call().tag()) {
                return Some((member, "destroyed its communicator".to_owned()));
            }
            let peer = self.peer(rank)?;
            let process = peer.process.as_ref()?;
            peer.lost
                .load(Ordering::Acquire)
                .then(|| (member, format!("(process {}) has ended", process.number())))
        })
    }

    /// Looks whether the processes of the other ranks run.
    pub(super) fn check_processes(&self) {
        if !self.is_busy() {
            return;
        }
        for peer in self.peers.iter().flatten() {
            if let Some(process) = &peer.process
                && !peer.lost.load(Ordering::Relaxed)
                && !process.is_alive()
            {
                peer.lost.store(true, Ordering::Release);
            }
        }
    }
}

impl Poller for Mesh {
    fn poll_while(&self, goes_on: &mut dyn FnMut(bool) -> bool) {
        self.pollers.fetch_add(1, Ordering::Relaxed);
        let mut pauses = Pauses::default();
        // All was looked at when the operation came.
        let mut effect = false;
        while goes_on(effect) {
            if effect {
                pauses.reset();
            } else {
                let is_needed_here = self.awaits_rank_on(self.note_processor());
                pauses.pause(is_needed_here);
                if is_needed_here {
                    self.note_yield();
                }
            }
            effect = self.advance();
        }
        self.pollers.fetch_sub(1, Ordering::Relaxed);
        // The process's own thread looks again at what was left to this one.
        self.wake.announce();
    }
}
