//! Ranks of one process: each of them reads and writes the memory of the others.
//!
//! A rank that reaches an operation leaves its [`Arrival`]. The last one to come does the work of all, idle workers help
//! with large operations, and then every rank's signal is set: by a thread of the rank if one polls. Nothing is copied to a
//! buffer in between.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicU64, AtomicUsize, Instant, Mutex, Ordering};
use jumar_hal::{Backend, Poller, Span, Transfer};
use jumar_types::{Error, ErrorKind, Result};
use smallvec::{SmallVec, smallvec};

use crate::arrival::{Arrival, Channel};
use crate::communicator::Waiting;
use crate::mailbox::{Left, Mailbox};
use crate::operation::{Collective, EVERYONE, LONG_BYTES, Message, Operation, Signature};
use crate::os::processor;
use crate::polling::{Pauses, Placement};
use crate::posted::{Pair, PostedEnds};
use crate::reduce::reduce;
use crate::words::Label;
use crate::{DataType, Kind, Reduction};

/// From how many bytes on ranks that poll help: they are awake, while to wake a worker takes longer than so little work.
const OFFERED_BYTES: usize = 32 << 10;
/// How many bytes such a rank takes at a time; a multiple of every element.
const OFFERED_PART: usize = 16 << 10;
/// From how many bytes on idle workers help.
const SHARED_BYTES: usize = 512 << 10;
/// How many bytes one helper takes at a time; a multiple of every element.
const PART: usize = 256 << 10;

/// The ranks of a communicator whose ranks are all in this process.
pub(crate) struct LocalGroup {
    label: Label,
    backend: Arc<dyn Backend>,
    inner: Mutex<Inner>,
    /// Whether there is a failure, for those who look without the lock.
    has_failed: Arc<AtomicBool>,
    /// What ranks that poll can help with.
    offer: Mutex<Option<Arc<Offer>>>,
    has_offer: AtomicBool,
    /// How far each rank is, for ranks that poll.
    progress: Box<[Progress]>,
    /// By rank: operations that have ended, for threads that poll.
    mailboxes: Box<[Mailbox<ExecutionEnd>]>,
    children: Mutex<HashMap<u64, (Arc<LocalGroup>, u32)>>,
}

/// An execution that has ended, and how.
type ExecutionEnd = (Arc<Arrival>, Result<()>);

/// The arrivals of all ranks at a meeting, in rank order.
type All = SmallVec<[Arc<Arrival>; 8]>;

/// The ranks that have come to a collective.
struct Meeting {
    key: (Channel, u64, u32),
    /// What the first rank called.
    signature: Signature,
    /// By rank.
    arrivals: SmallVec<[Option<Arc<Arrival>>; 8]>,
}

/// The processor of a rank that has not come yet.
const NOWHERE: u64 = u64::MAX;

/// How far a rank is. Only hints: they decide how another rank waits.
#[repr(align(64))]
struct Progress {
    /// How many collectives it has reached.
    reached: AtomicU64,
    /// Where it was then.
    processor: AtomicU64,
    /// It has reached transfers last, which may wait for any rank.
    is_at_messages: AtomicBool,
    placement: Placement,
}

impl Default for Progress {
    fn default() -> Self {
        Progress {
            reached: AtomicU64::new(0),
            processor: AtomicU64::new(NOWHERE),
            is_at_messages: AtomicBool::new(false),
            placement: Placement::default(),
        }
    }
}

/// What a rank polls while it waits for the others: they run by themselves.
pub(crate) struct OtherThreads {
    group: Arc<LocalGroup>,
    rank: usize,
}

impl Poller for OtherThreads {
    fn poll_while(&self, goes_on: &mut dyn FnMut(bool) -> bool) {
        let mailbox = &self.group.mailboxes[self.rank];
        let end = |ended: Left<ExecutionEnd>| {
            for (arrival, outcome) in ended {
                arrival.complete(outcome);
            }
        };
        let mut pauses = Pauses::default();
        mailbox.begin();
        while goes_on(false) {
            if mailbox.has_mail() {
                // Most often that was all: what comes is taken again only if it was not.
                end(mailbox.end());
                if !goes_on(true) {
                    return;
                }
                mailbox.begin();
            } else if self.group.help() {
                pauses.reset();
            } else {
                let is_needed_here = self.group.awaits_rank_on(self.rank, processor());
                pauses.pause(is_needed_here);
                if is_needed_here {
                    self.group.note_yield(self.rank);
                }
            }
        }
        end(mailbox.end());
    }
}

#[derive(Default)]
struct Inner {
    /// One for each collective that some ranks have reached and others not: a few, at most one for each stream.
    meetings: Vec<Meeting>,
    posted: PostedEnds,
    failure: Option<Error>,
    has_failed: Arc<AtomicBool>,
    /// Why each rank that is gone is gone.
    gone: HashMap<u32, &'static str>,
}

/// The ranges of several ranks.
type Spans = SmallVec<[Span; 8]>;

/// Inputs and outputs that are combined.
type Reductions = Vec<(Spans, Spans)>;

/// What an operation does once all ranks have come.
enum Job {
    /// Pairs of a target and a source, and whether all together are too long for the caches.
    Copies(Vec<(Span, Span)>, bool),
    Reductions(Reductions, DataType, Reduction),
}

/// A part of a job: which of its entries, from which byte on, how many bytes.
type Part = (usize, usize, usize);

impl Job {
    /// Returns how long the outputs of each entry are.
    fn lengths(&self) -> impl Iterator<Item = usize> {
        let (copies, reductions) = match self {
            Job::Copies(copies, _) => (copies.as_slice(), [].as_slice()),
            Job::Reductions(reductions, ..) => ([].as_slice(), reductions.as_slice()),
        };
        let copies = copies.iter().map(|(to, _)| to.bytes());
        let reductions = reductions.iter();
        copies.chain(reductions.map(|(_, outputs)| outputs.first().map_or(0, |one| one.bytes())))
    }

    /// Returns how many bytes are copied, or are in results.
    fn bytes(&self) -> usize {
        self.lengths().sum()
    }

    /// Cuts the job into parts of at most so many bytes.
    fn parts(&self, bytes: usize) -> SmallVec<[Part; 4]> {
        let entries = self.lengths().enumerate();
        let parts = entries.flat_map(|(entry, length)| {
            let starts = (0..length).step_by(bytes);
            starts.map(move |at| (entry, at, bytes.min(length - at)))
        });
        parts.collect()
    }

    fn run(&self, backend: &dyn Backend, (entry, at, bytes): Part) {
        match self {
            Job::Copies(copies, are_long) => {
                let (to, from) = copies[entry];
                if let Some((to, from)) = to.part(at, bytes).zip(from.part(at, bytes)) {
                    match Transfer::new(to, from) {
                        Some(transfer) if *are_long && !transfer.overlaps() => {
                            backend.copy_past_caches_now(transfer);
                        }
                        _ => copy(backend, to, from),
                    }
                }
            }
            Job::Reductions(reductions, of, by) => {
                let (inputs, outputs) = &reductions[entry];
                let cut = |spans: &[Span]| -> Spans {
                    let parts = spans.iter().filter_map(|span| span.part(at, bytes));
                    parts.collect()
                };
                reduce(backend, &cut(inputs), &cut(outputs), *of, *by);
            }
        }
    }
}

/// A job that several threads carry out.
struct Offer {
    job: Job,
    parts: SmallVec<[OfferedPart; 4]>,
    /// How many are not done.
    left: AtomicUsize,
}

struct OfferedPart {
    part: Part,
    /// Whose caches hold what this part wrote the last time: memory that moves between processors takes longer than the work.
    home: u64,
    is_taken: AtomicBool,
}

impl Offer {
    /// Does the free parts whose home fits. Returns whether there were any.
    fn work(&self, backend: &dyn Backend, is_one: impl Fn(u64) -> bool) -> bool {
        let mut has_worked = false;
        for one in self.parts.iter().filter(|one| is_one(one.home)) {
            if !one.is_taken.swap(true, Ordering::AcqRel) {
                self.job.run(backend, one.part);
                self.left.fetch_sub(1, Ordering::AcqRel);
                has_worked = true;
            }
        }
        has_worked
    }
}

/// What a thread does after it has given up the lock.
enum Continuation {
    Nothing,
    Fail(Vec<Arc<Arrival>>, Error),
    Run(All),
    /// Copies messages, and fails what waits then, if there is something to fail.
    Copy(Vec<Pair>, Option<(Vec<Arc<Arrival>>, Error)>),
}

impl LocalGroup {
    pub(crate) fn new(label: Label, backend: Arc<dyn Backend>) -> Arc<LocalGroup> {
        let ranks = 0..label.size;
        let inner = Inner::default();
        Arc::new(LocalGroup {
            has_failed: inner.has_failed.clone(),
            inner: Mutex::new(inner),
            progress: ranks.clone().map(|_| Progress::default()).collect(),
            mailboxes: ranks.map(|_| Mailbox::default()).collect(),
            label,
            backend,
            offer: Mutex::default(),
            has_offer: AtomicBool::new(false),
            children: Mutex::default(),
        })
    }

    /// Returns the group of some of the ranks: the first caller creates it, and the last one takes it away from the list.
    pub(crate) fn child(&self, tag: u64, label: Label) -> Arc<LocalGroup> {
        let mut children = self.children.lock();
        let size = label.size;
        let entry = children
            .entry(tag)
            .or_insert_with(|| (LocalGroup::new(label, self.backend.clone()), 0));
        entry.1 += 1;
        let (group, takers) = (entry.0.clone(), entry.1);
        if takers == size {
            children.remove(&tag);
        }
        group
    }

    pub(crate) fn failure(&self) -> Option<Error> {
        match self.has_failed.load(Ordering::Acquire) {
            true => self.inner.lock().failure.clone(),
            false => None,
        }
    }

    /// Forgets a failure, for ranks that resume after a suspension.
    pub(crate) fn recover(&self) {
        let mut inner = self.inner.lock();
        inner.failure = None;
        inner.has_failed.store(false, Ordering::Release);
        drop(inner);
        for rank in &self.progress {
            rank.reached.store(0, Ordering::Relaxed);
        }
    }

    /// Returns what a thread polls that waits for an operation of a rank.
    pub(crate) fn poller(self: &Arc<Self>, rank: u32) -> Arc<dyn Poller> {
        Arc::new(OtherThreads {
            group: self.clone(),
            rank: rank as usize,
        })
    }

    /// Notes that a rank has reached an operation.
    fn note_progress(&self, arrival: &Arrival) {
        let own = &self.progress[arrival.rank as usize];
        let is_collective = matches!(arrival.operation(), Operation::Collective(_));
        own.is_at_messages.store(!is_collective, Ordering::Relaxed);
        own.reached
            .fetch_add(u64::from(is_collective), Ordering::Relaxed);
        own.processor.store(processor(), Ordering::Relaxed);
    }

    /// Reports whether a rank that is behind `rank` was on a processor last.
    fn awaits_rank_on(&self, rank: usize, here: u64) -> bool {
        let own = &self.progress[rank];
        let reached = own.reached.load(Ordering::Relaxed);
        let waits_for_any = own.is_at_messages.load(Ordering::Relaxed);
        self.progress.iter().any(|other| {
            (waits_for_any || other.reached.load(Ordering::Relaxed) < reached)
                && other.processor.load(Ordering::Relaxed) == here
                && !std::ptr::eq(other, own)
        })
    }

    /// Notes that the calling thread has yielded for a rank. It may run on another processor afterwards.
    fn note_yield(&self, rank: usize) {
        let own = &self.progress[rank];
        let each = self.progress.iter();
        let processors = each.map(|rank| rank.processor.load(Ordering::Relaxed));
        if own.placement.has_yielded(rank, processors) {
            own.processor.store(processor(), Ordering::Relaxed);
        }
    }

    /// Takes in a rank that has reached an operation.
    pub(crate) fn arrive(&self, arrival: &Arc<Arrival>, epoch: u32) {
        self.note_progress(arrival);
        let then = {
            let mut inner = self.inner.lock();
            match &inner.failure {
                // It was queued before the failure, and ends as those that were waiting.
                Some(failure) => Continuation::Fail(vec![arrival.clone()], failure.clone()),
                None => match arrival.operation() {
                    Operation::Collective(own) => self.meet(&mut inner, arrival, own, epoch),
                    Operation::Messages(messages) => {
                        self.post(&mut inner, arrival, messages, epoch)
                    }
                },
            }
        };
        match then {
            Continuation::Nothing => {}
            Continuation::Fail(all, error) => fail(all, &error),
            Continuation::Run(all) => {
                let outcome = self.run(&all);
                if let Err(error) = &outcome {
                    // Operations that wait for another rank end too: no other operation of the group is carried out.
                    self.fail(error);
                }
                for one in all {
                    self.end(one, arrival.rank, outcome.clone());
                }
            }
            Continuation::Copy(pairs, failed) => {
                for pair in pairs {
                    pair.carry_out(&*self.backend);
                }
                if let Some((all, error)) = failed {
                    fail(all, &error);
                }
            }
        }
    }

    /// Ends an execution, or leaves that to a thread of its rank.
    fn end(&self, arrival: Arc<Arrival>, by: u32, outcome: Result<()>) {
        let kept = match arrival.rank == by {
            true => Some((arrival, outcome)),
            false => self.mailboxes[arrival.rank as usize].leave((arrival, outcome)),
        };
        if let Some((arrival, outcome)) = kept {
            arrival.complete(outcome);
        }
    }

    fn meet(
        &self,
        inner: &mut Inner,
        arrival: &Arc<Arrival>,
        own: &Collective,
        epoch: u32,
    ) -> Continuation {
        let key = (arrival.channel, arrival.number(), epoch);
        let known = inner.meetings.iter().position(|one| one.key == key);
        let at = known.unwrap_or_else(|| {
            let arrivals = SmallVec::from_elem(None, self.label.size as usize);
            inner.meetings.push(Meeting {
                key,
                signature: own.signature,
                arrivals,
            });
            inner.meetings.len() - 1
        });
        let meeting = &mut inner.meetings[at];
        let its = meeting.signature;
        let arrivals = &mut meeting.arrivals;
        let other = arrivals.iter().flatten().next().map(|other| other.rank);
        arrivals[arrival.rank as usize] = Some(arrival.clone());
        if let Some(other) = other.filter(|_| its != own.signature) {
            let error = self.label.mismatch(
                arrival.number(),
                (other, &its),
                (arrival.rank, &own.signature),
            );
            return Continuation::Fail(inner.fail(&error), error);
        }
        if arrivals.iter().all(Option::is_some) {
            let all = inner.meetings.swap_remove(at).arrivals;
            return Continuation::Run(all.into_iter().flatten().collect());
        }
        let missing = (0..self.label.size).filter(|rank| arrivals[*rank as usize].is_none());
        let lost = missing
            .filter_map(|rank| inner.gone.get(&rank).map(|why| (rank, *why)))
            .next();
        self.unless_lost(inner, arrival, lost)
    }

    fn post(
        &self,
        inner: &mut Inner,
        arrival: &Arc<Arrival>,
        messages: &[Message],
        epoch: u32,
    ) -> Continuation {
        let mut pairs = Vec::new();
        let mut lost = None;
        for (index, message) in messages.iter().enumerate() {
            let group = (EVERYONE, epoch);
            match inner.posted.meet(arrival, index, group, &self.label) {
                Ok(Some(pair)) => pairs.push(pair),
                Ok(None) => {
                    let gone = inner.gone.get(&message.peer);
                    lost = lost.or(gone.map(|why| (message.peer, *why)));
                }
                // The pairs that were found have nothing to do with it: they would end with nothing else.
                Err(error) => return Continuation::Copy(pairs, Some((inner.fail(&error), error))),
            }
        }
        match self.unless_lost(inner, arrival, lost) {
            Continuation::Fail(all, error) => Continuation::Copy(pairs, Some((all, error))),
            _ => Continuation::Copy(pairs, None),
        }
    }

    fn unless_lost(
        &self,
        inner: &mut Inner,
        arrival: &Arc<Arrival>,
        lost: Option<(u32, &'static str)>,
    ) -> Continuation {
        let Some((rank, why)) = lost else {
            return Continuation::Nothing;
        };
        let error = self
            .label
            .lost(arrival.operation(), arrival.number(), rank, why);
        Continuation::Fail(inner.fail(&error), error)
    }

    /// Does the work of an operation that all ranks have reached.
    fn run(&self, all: &[Arc<Arrival>]) -> Result<()> {
        let operations: SmallVec<[&Collective; 8]> = all
            .iter()
            .filter_map(|arrival| match arrival.operation() {
                Operation::Collective(collective) => Some(collective),
                Operation::Messages(_) => None,
            })
            .collect();
        let signature = operations[0].signature;
        if signature.kind.reduces() {
            self.run_reduction(&operations)
        } else {
            self.run_exchange(all, &operations)
        }
    }

    fn run_exchange(&self, all: &[Arc<Arrival>], operations: &[&Collective]) -> Result<()> {
        let mut copies = Vec::new();
        for (from, source) in operations.iter().enumerate() {
            for (to, target) in operations.iter().enumerate() {
                let (sent, expected) = (source.send.get(to), target.receive.get(from));
                let (sent_bytes, expected_bytes) = (bytes(sent), bytes(expected));
                if sent_bytes != expected_bytes {
                    return Err(self.label.unequal_parts(
                        all[0].operation().name(),
                        from as u32,
                        sent_bytes as u64,
                        to as u32,
                        expected_bytes as u64,
                    ));
                }
                if let (Some(sent), Some(expected)) = (sent, expected)
                    && sent.address() != expected.address()
                {
                    copies.push((expected, sent));
                }
            }
        }
        let bytes: usize = copies.iter().map(|(to, _)| to.bytes()).sum();
        let are_long = bytes >= LONG_BYTES * operations.len();
        self.carry_out(Job::Copies(copies, are_long));
        Ok(())
    }

    fn run_reduction(&self, operations: &[&Collective]) -> Result<()> {
        let signature = operations[0].signature;
        let (of, Some(by)) = (signature.data_type, signature.reduction) else {
            return Err(Error::new(
                ErrorKind::Internal,
                "a reduction without an operator",
            ));
        };
        let inputs = |rank| -> Spans {
            let inputs = operations.iter().filter_map(|source| source.send.get(rank));
            inputs.collect()
        };
        let outputs = operations.iter().enumerate();
        let outputs = outputs.filter_map(|(rank, target)| Some((rank, target.receive.get(rank)?)));
        // Outputs with the same inputs are written together.
        let jobs: Reductions = match signature.kind {
            Kind::AllReduce => {
                let outputs: Spans = outputs.map(|(_, output)| output).collect();
                let inputs = inputs(0);
                if bytes(outputs.first().copied()) < OFFERED_BYTES {
                    reduce(&*self.backend, &inputs, &outputs, of, by);
                    return Ok(());
                }
                vec![(inputs, outputs)]
            }
            _ => outputs
                .map(|(rank, output)| (inputs(rank), smallvec![output]))
                .collect(),
        };
        self.carry_out(Job::Reductions(jobs, of, by));
        Ok(())
    }

    /// Does what is to be done, with the help of idle workers or of ranks that poll if it is much.
    fn carry_out(&self, job: Job) {
        match job.bytes() {
            SHARED_BYTES.. => {
                let parts = job.parts(PART);
                let work = |at: usize| job.run(&*self.backend, parts[at]);
                self.backend.share(parts.len(), &work);
            }
            OFFERED_BYTES.. => self.offer(job),
            _ => {
                let parts = job.parts(PART);
                parts.iter().for_each(|part| job.run(&*self.backend, *part));
            }
        }
    }

    /// Carries out a job, together with ranks that poll on other processors.
    fn offer(&self, job: Job) {
        let parts = job.parts(OFFERED_PART);
        let (count, ranks) = (parts.len(), self.progress.len());
        let home = |at: usize| {
            self.progress[at * ranks / count]
                .processor
                .load(Ordering::Relaxed)
        };
        let parts = parts.iter().enumerate().map(|(at, part)| OfferedPart {
            part: *part,
            home: home(at),
            is_taken: AtomicBool::new(false),
        });
        let offer = Arc::new(Offer {
            job,
            parts: parts.collect(),
            left: AtomicUsize::new(count),
        });
        *self.offer.lock() = Some(offer.clone());
        self.has_offer.store(true, Ordering::Release);
        let here = processor();
        offer.work(&*self.backend, |home| home == here);
        offer.work(&*self.backend, |_| true);
        self.has_offer.store(false, Ordering::Relaxed);
        let mut pauses = Pauses::default();
        while offer.left.load(Ordering::Acquire) > 0 {
            pauses.pause(false);
        }
        // Another operation may have made an offer since.
        let mut current = self.offer.lock();
        if current.as_ref().is_some_and(|now| Arc::ptr_eq(now, &offer)) {
            *current = None;
        }
    }

    /// Helps a rank that carries out an operation, if one does. Returns whether it did something.
    fn help(&self) -> bool {
        if !self.has_offer.load(Ordering::Acquire) {
            return false;
        }
        let (offer, here) = (self.offer.lock().clone(), processor());
        offer.is_some_and(|offer| offer.work(&*self.backend, |home| home == here))
    }

    /// Takes back an arrival whose stream gave it up: the others cannot end the operation any more.
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
        let mut all = self.inner.lock().fail(&error);
        all.push(arrival.clone());
        fail(all, &error);
    }

    /// Ends an arrival that waits for other ranks, without failing the group.
    pub(crate) fn withdraw(&self, arrival: &Arc<Arrival>, error: &Error) {
        if self.inner.lock().remove(arrival) {
            arrival.complete(Err(error.clone()));
        }
    }

    /// Notes that a rank's communicator was destroyed, and fails what waits for it.
    pub(crate) fn leave(&self, rank: u32) {
        const WHY: &str = "destroyed its communicator";
        let failed = {
            let mut inner = self.inner.lock();
            inner.gone.insert(rank, WHY);
            let waiting = inner.pending().find(|arrival| {
                arrival.rank == rank
                    || match arrival.operation() {
                        Operation::Collective(_) => true,
                        Operation::Messages(messages) => {
                            messages.iter().any(|message| message.peer == rank)
                        }
                    }
            });
            waiting.cloned().map(|arrival| {
                let error = self
                    .label
                    .lost(arrival.operation(), arrival.number(), rank, WHY);
                (inner.fail(&error), error)
            })
        };
        if let Some((all, error)) = failed {
            fail(all, &error);
        }
    }

    /// Lists what waits, by rank.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        let inner = self.inner.lock();
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut seen: Vec<&Arc<Arrival>> = Vec::new();
        for arrival in inner.pending() {
            // A batch of transfers is listed once for each of them.
            if seen.iter().any(|known| Arc::ptr_eq(known, arrival)) {
                continue;
            }
            seen.push(arrival);
            waiting.push(Waiting {
                rank: arrival.rank,
                operation: arrival.operation().clone(),
                numbers: arrival.numbers.clone(),
                missing: inner.missing(arrival, self.label.size),
            });
        }
        waiting.sort_by_key(|one| (one.rank, one.operation.name()));
        waiting
    }

    /// Fails everything that waits, and everything that comes.
    pub(crate) fn fail(&self, error: &Error) {
        let all = self.inner.lock().fail(error);
        fail(all, error);
    }

    /// Fails everything that waits, when a rank of this process has been suspended.
    pub(crate) fn cancel(&self, error: &Error) {
        let all = self.inner.lock().take_all();
        fail(all, error);
    }

    /// Fails the operations that have waited too long.
    pub(crate) fn expire(&self, now: Instant, limit: Duration) {
        let failed = {
            let mut inner = self.inner.lock();
            let late = inner
                .pending()
                .find(|arrival| arrival.has_waited(now) >= limit)
                .cloned();
            late.map(|arrival| {
                let missing = inner.missing(&arrival, self.label.size);
                let error = self.label.timeout(
                    arrival.operation(),
                    arrival.number(),
                    &missing,
                    limit.as_secs_f64(),
                );
                (inner.fail(&error), error)
            })
        };
        if let Some((all, error)) = failed {
            fail(all, &error);
        }
    }
}

impl Inner {
    fn pending(&self) -> impl Iterator<Item = &Arc<Arrival>> {
        let meetings = self.meetings.iter();
        let meeting = meetings.flat_map(|one| one.arrivals.iter().flatten());
        meeting.chain(self.posted.arrivals())
    }

    /// Removes an arrival from what waits. Returns whether it waited.
    fn remove(&mut self, arrival: &Arc<Arrival>) -> bool {
        let mut waited = false;
        self.meetings.retain_mut(|meeting| {
            for rank in &mut meeting.arrivals {
                if rank.take_if(|own| Arc::ptr_eq(own, arrival)).is_some() {
                    waited = true;
                }
            }
            meeting.arrivals.iter().any(Option::is_some)
        });
        waited |= self.posted.remove(arrival);
        waited
    }

    fn take_all(&mut self) -> Vec<Arc<Arrival>> {
        let all = self.pending().cloned().collect();
        self.meetings.clear();
        self.posted.take_all();
        all
    }

    /// Keeps why the group failed, and returns all that waits.
    fn fail(&mut self, error: &Error) -> Vec<Arc<Arrival>> {
        self.failure.get_or_insert(error.clone());
        self.has_failed.store(true, Ordering::Release);
        self.take_all()
    }

    /// Lists the ranks that an arrival waits for.
    fn missing(&self, arrival: &Arc<Arrival>, size: u32) -> Vec<u32> {
        match arrival.operation() {
            Operation::Collective(_) => {
                let meeting = self.meetings.iter().find(|meeting| {
                    let own = meeting.arrivals[arrival.rank as usize].as_ref();
                    own.is_some_and(|own| Arc::ptr_eq(own, arrival))
                });
                let Some(meeting) = meeting else {
                    return Vec::new();
                };
                (0..size)
                    .filter(|rank| meeting.arrivals[*rank as usize].is_none())
                    .collect()
            }
            Operation::Messages(_) => self.posted.peers(arrival),
        }
    }
}

fn fail(all: Vec<Arc<Arrival>>, error: &Error) {
    for arrival in all {
        arrival.complete(Err(error.clone()));
    }
}

fn bytes(span: Option<Span>) -> usize {
    span.map_or(0, Span::bytes)
}

fn copy(backend: &dyn Backend, to: Span, from: Span) {
    if let Some(transfer) = Transfer::new(to, from)
        && !to.is_empty()
    {
        backend.copy_now(transfer);
    }
}
