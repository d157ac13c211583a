//! The ranks of several machines, as one of them sees them: what runs, and the notices that ranks send each other.
//!
//! Ranks send each other notices: that the communicator failed and why, that a rank destroyed its communicator, and at
//! the end goodbye. A connection that is closed loses what is still on its way, so a rank closes its connections after
//! the goodbyes of all others.
//!
//! A rank receives the goodbyes from the start, so that the end of the connection for notices shows that a rank has ended. It looks for
//! that while operations run, and has those that wait for the rank find out whether their transfers are complete.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicU64, Condvar, Instant, Mutex, Ordering, thread};
use jumar_hal::{Backend, Poller};
use jumar_types::{Error, ErrorKind, Result};

use super::departure::{Begun, Departure, Departures};
use super::link::{Fields, put_bytes};
use super::pool::Pool;
use super::work::{Stop, Work};
use crate::arrival::Arrival;
use crate::operation::{EVERYONE, Operation};
use crate::os;
use crate::os::gloo::{Broken, Ends, Transit};
use crate::posted::PostedEnds;
use crate::words::{Label, error_of, number_of, system};

const NOTICE: u64 = 2;
const GOODBYE: u64 = 3;
const NOTICE_BYTES: usize = 1024;
const GOODBYE_BYTES: usize = 8;

// Kinds of notices.
const FAILED: u32 = 1;
const LEFT: u32 = 2;

/// How long a rank whose connection broke looks for the reason that another rank sends.
const REASON_TIME: Duration = Duration::from_millis(300);
/// How long a failed communicator waits for the goodbyes of the others.
const GOODBYE_TIME: Duration = Duration::from_secs(5);
/// How often a rank looks whether an operation that it gave up has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// How often a rank looks whether the others are there, while operations run.
const PRESENCE_INTERVAL: Duration = Duration::from_millis(100);
/// How long transfers of a rank that has ended may still be on their way.
const ARRIVAL_TIME: Duration = Duration::from_millis(400);
/// How long a transfer of a rank that has ended may need to show that it is complete.
const COMPLETION_TIME: Duration = Duration::from_millis(1);

/// An operation that runs.
pub(super) struct Entry {
    pub(super) arrival: Arc<Arrival>,
    label: Label,
    tag: u64,
    number: u64,
    /// What this rank does in a transfer; `None` for a collective.
    sends: Option<bool>,
    /// The members whose first message has not come, with their ranks in the mesh.
    pub(super) awaited: Mutex<Vec<(u32, u32)>>,
    /// All others that take part.
    all: Vec<u32>,
    transits: Mutex<Transits>,
    /// Those of the rank that have come to their end.
    ended_transits: Arc<AtomicU64>,
}

/// What an operation waits for.
#[derive(Default)]
struct Transits {
    /// With the other rank.
    list: Vec<(u32, Weak<Transit>)>,
    /// Why the operation is to end, if it is.
    because: Option<Error>,
    /// The ranks that have ended: their transfers are complete, or never will be.
    ended: Vec<u32>,
}

impl Entry {
    /// Has a transfer with a rank end when the operation or the rank is ended.
    pub(super) fn keep(&self, rank: u32, transit: Transit) -> Arc<Transit> {
        let transit = Arc::new(transit);
        let mut transits = self.transits.lock();
        if transits.because.is_some() || transits.ended.contains(&rank) {
            transit.abort();
        }
        transits.list.push((rank, Arc::downgrade(&transit)));
        transit
    }

    /// Waits for a transfer.
    ///
    /// # Errors
    /// The connection failed, or the operation was ended.
    pub(super) fn wait(&self, transit: &Transit) -> std::result::Result<(), Broken> {
        match transit.wait(None) {
            Err(Broken::Aborted) if self.transits.lock().because.is_none() => {
                // Its rank has ended. An abort hides whether the transfer is complete. One that is not ends the connections.
                transit.wait(Some(COMPLETION_TIME)).map(drop)
            }
            outcome => {
                self.ended_transits.fetch_add(1, Ordering::Relaxed);
                outcome.map(drop)
            }
        }
    }

    fn end(&self, because: &Error) {
        let mut transits = self.transits.lock();
        transits.because.get_or_insert(because.clone());
        for transit in transits.list.iter().filter_map(|(_, one)| one.upgrade()) {
            transit.abort();
        }
    }

    /// Has the transfers with a rank that has ended show whether they are complete.
    fn doubt(&self, rank: u32) {
        let mut transits = self.transits.lock();
        if transits.ended.contains(&rank) {
            return;
        }
        transits.ended.push(rank);
        let list = transits.list.iter();
        let with = list.filter(|(other, _)| *other == rank);
        with.filter_map(|(_, one)| one.upgrade())
            .for_each(|transit| transit.abort());
    }

    fn lost(&self, member: u32, why: &str) -> Error {
        let operation = self.arrival.operation();
        self.label.lost(operation, self.number, member, why)
    }
}

#[derive(Default)]
struct State {
    failure: Option<Error>,
    departures: Departures,
    running: Vec<Arc<Entry>>,
    /// Notices that are on their way to other ranks.
    outbox: VecDeque<Transit>,
    /// A thread waits for them to arrive.
    delivers: bool,
    /// The wait for the next notice.
    notice: Option<Arc<Transit>>,
    /// A thread looks whether the other ranks are there.
    observed: bool,
}

/// What threads share.
pub(super) struct Core {
    /// The connections for data.
    pub(super) ends: Arc<Ends>,
    notices: Arc<Ends>,
    pub(super) backend: Arc<dyn Backend>,
    rank: u32,
    names: Vec<String>,
    state: Mutex<State>,
    /// Transfers of this rank to itself.
    own: Mutex<PostedEnds>,
    failed: Condvar,
    closing: AtomicBool,
    pool: Arc<Pool>,
    /// How many transfers of operations have ended.
    ended_transits: Arc<AtomicU64>,
}

/// All ranks of a communicator of several machines.
struct Mesh(Arc<Core>);

impl Drop for Mesh {
    fn drop(&mut self) {
        self.0.closing.store(true, Ordering::Release);
        let notice = self.0.state.lock().notice.take();
        if let Some(notice) = notice {
            notice.abort();
        }
        self.0.failed.notify_all();
    }
}

impl Core {
    fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let (rank, size) = (self.rank, self.names.len() as u32);
        (0..size).filter(move |other| *other != rank)
    }

    /// Sends a notice to a rank.
    fn notify(self: &Arc<Self>, other: u32, content: Vec<u8>) {
        // A connection that is broken needs no notice.
        let Ok(transit) = Transit::send(&self.notices, other, NOTICE, content) else {
            return;
        };
        {
            let mut state = self.state.lock();
            state.outbox.push_back(transit);
            if std::mem::replace(&mut state.delivers, true) {
                return;
            }
        }
        let core = self.clone();
        if self.pool.run(Box::new(move || core.deliver())).is_err() {
            // The next notice tries again. The memory is kept until then.
            self.state.lock().delivers = false;
        }
    }

    /// Releases notices once they have arrived, or cannot any more.
    fn deliver(&self) {
        loop {
            let next = {
                let mut state = self.state.lock();
                let next = state.outbox.pop_front();
                state.delivers = next.is_some();
                next
            };
            match next {
                Some(transit) => drop(transit.wait(None)),
                None => return,
            }
        }
    }

    /// Fails the communicator if it has not failed before, and returns why it failed.
    pub(super) fn fail(self: &Arc<Self>, error: &Error) -> Error {
        let (cause, is_first, running) = {
            let mut state = self.state.lock();
            let is_first = state.failure.is_none();
            let cause = state.failure.get_or_insert(error.clone()).clone();
            (cause, is_first, state.running.clone())
        };
        self.failed.notify_all();
        if is_first {
            let mut content = FAILED.to_le_bytes().to_vec();
            content.extend(number_of(&cause).to_le_bytes());
            let mut text = cause.sentence();
            while text.len() > NOTICE_BYTES - content.len() - 4 {
                text = &text[..text.floor_char_boundary(text.len() - 1)];
            }
            put_bytes(&mut content, text.as_bytes());
            for other in self.others() {
                self.notify(other, content.clone());
            }
        }
        self.end_all(&running, &cause);
        cause
    }

    /// Ends what runs, and the executions with transfers of this rank to itself.
    fn end_all(&self, running: &[Arc<Entry>], cause: &Error) {
        running.iter().for_each(|entry| entry.end(cause));
        let own = self.own.lock().take_all();
        for arrival in own {
            // The last transfer of a batch ends the batch: until then there are threads that use its memory.
            let mut running = running.iter();
            if !running.any(|entry| Arc::ptr_eq(&entry.arrival, &arrival)) {
                arrival.complete(Err(cause.clone()));
            }
        }
    }

    /// Finds out why an operation cannot continue with a rank.
    fn explain(self: &Arc<Self>, entry: &Entry, member: u32, rank: u32) -> Error {
        if let Some(ended) = entry.transits.lock().because.clone() {
            return ended;
        }
        let mut state = self.state.lock();
        let until = Instant::now() + REASON_TIME;
        while state.failure.is_none() {
            let rest = until.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                break;
            }
            (state, _) = self.failed.wait_for(state, rest);
        }
        let known = state.failure.clone();
        drop(state);
        known.unwrap_or_else(|| {
            let name = self.names.get(rank as usize).map_or("?", String::as_str);
            self.fail(&entry.lost(
                member,
                &format!("({name}) has ended or closed its connection"),
            ))
        })
    }

    fn read_notice(self: &Arc<Self>, from: i32, content: &[u8]) -> std::io::Result<()> {
        let mut fields = Fields(content);
        let from = u32::try_from(from).map_err(|_| super::link::damaged())?;
        match fields.u32()? {
            FAILED => {
                let kind = fields.u64()?;
                let text = String::from_utf8_lossy(fields.bytes()?).into_owned();
                let cause = error_of(kind, &text);
                let running = {
                    let mut state = self.state.lock();
                    state.failure.get_or_insert(cause.clone());
                    state.running.clone()
                };
                self.failed.notify_all();
                self.end_all(&running, &cause);
            }
            LEFT => {
                let tag = fields.u64()?;
                let departure = Departure::read(&mut fields)?;
                let running = {
                    let mut state = self.state.lock();
                    state.departures.add(tag, from, departure);
                    state.running.clone()
                };
                let missed = running.iter().find_map(|entry| {
                    let member = self.missed(entry, from)?;
                    Some(entry.lost(member, "destroyed its communicator"))
                });
                if let Some(error) = missed {
                    self.fail(&error);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the member that an operation waits for in vain, if it is a rank that has left.
    fn missed(&self, entry: &Entry, rank: u32) -> Option<u32> {
        let departure = self.state.lock().departures.get(entry.tag, rank)?;
        if departure.has_begun(entry.arrival.channel, entry.sends, entry.number) {
            return None;
        }
        let awaited = entry.awaited.lock();
        let found = awaited.iter().find(|(_, other)| *other == rank);
        found.map(|(member, _)| *member)
    }

    /// Reads notices until the mesh is dropped.
    fn attend(self: &Arc<Self>) {
        while let Ok(transit) = Transit::receive_any(&self.notices, NOTICE, NOTICE_BYTES) {
            let transit = Arc::new(transit);
            self.state.lock().notice = Some(transit.clone());
            if self.closing.load(Ordering::Acquire) {
                break;
            }
            let Ok(from) = transit.wait(None) else { break };
            let mut content = vec![0; NOTICE_BYTES];
            self.backend.read_now(transit.span(), &mut content);
            // A notice that makes no sense comes from a rank that has gone wrong: it harms itself.
            let _ = self.read_notice(from, &content);
        }
    }

    /// Looks whether the other ranks are there while operations run, until the mesh is dropped, and closes the connections.
    fn observe(&self, goodbyes: &[(u32, Transit)]) {
        let mut ended = HashMap::new();
        let mut state = self.state.lock();
        while !self.closing.load(Ordering::Acquire) {
            state.observed = !state.running.is_empty() && state.failure.is_none();
            if !state.observed {
                state = self.failed.wait(state);
                continue;
            }
            (state, _) = self.failed.wait_for(state, PRESENCE_INTERVAL);
            let running = state.running.clone();
            drop(state);
            self.find_ended(goodbyes, &mut ended, &running);
            state = self.state.lock();
        }
        let limit = state.failure.is_some().then_some(GOODBYE_TIME);
        drop(state);
        let farewell = self.others().filter_map(|other| {
            Transit::send(&self.notices, other, GOODBYE, vec![0; GOODBYE_BYTES]).ok()
        });
        let farewell: Vec<Transit> = farewell.collect();
        let goodbyes = goodbyes.iter().map(|(_, transit)| transit);
        for transit in farewell.iter().chain(goodbyes) {
            // A rank that has ended says no goodbye.
            let _ = transit.wait(limit);
        }
        self.ends.close();
        self.notices.close();
        self.state.lock().outbox.clear();
    }

    /// Finds the ranks that have ended, and has what waits for them find out whether it is complete.
    fn find_ended(
        &self,
        goodbyes: &[(u32, Transit)],
        ended: &mut HashMap<u32, Instant>,
        running: &[Arc<Entry>],
    ) {
        let now = Instant::now();
        for (rank, goodbye) in goodbyes {
            if ended.contains_key(rank) {
                continue;
            }
            // An aborted wait returns at once: it fails if the connection has.
            goodbye.abort();
            if matches!(goodbye.wait(None), Err(Broken::Failed(_))) {
                ended.insert(*rank, now);
            }
        }
        for (rank, since) in &*ended {
            if now.saturating_duration_since(*since) >= ARRIVAL_TIME {
                running.iter().for_each(|entry| entry.doubt(*rank));
            }
        }
    }

    fn run(self: &Arc<Self>, entry: &Arc<Entry>, work: Work) {
        let outcome = match work.run(self, entry) {
            Ok(()) => Ok(()),
            Err(Stop::Error(error)) => Err(self.fail(&error)),
            Err(Stop::Broken { member, rank }) => Err(self.explain(entry, member, rank)),
        };
        self.finish(entry, outcome);
    }

    /// Ends an operation, or one transfer of a batch. A batch that fails has ended once none of its transfers uses memory of the program.
    fn finish(&self, entry: &Arc<Entry>, outcome: Result<()>) {
        let (is_spent, failure) = {
            let mut state = self.state.lock();
            state.running.retain(|other| !Arc::ptr_eq(other, entry));
            let mut others = state.running.iter();
            let is_last = !others.any(|other| Arc::ptr_eq(&other.arrival, &entry.arrival));
            let failure = state.failure.clone();
            let is_spent = failure.is_some() && state.running.is_empty();
            (is_spent, failure.filter(|_| is_last))
        };
        if is_spent {
            // What ended in the middle of a message keeps Gloo's thread busy until the connection is closed.
            self.ends.close();
        }
        if outcome.is_ok() {
            entry.arrival.finish_one();
        }
        // Has no effect on what is complete.
        if let Some(cause) = failure {
            entry.arrival.complete(Err(outcome.err().unwrap_or(cause)));
        }
    }
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let run = move || {
        os::block_signals();
        work();
    };
    let builder = thread::Builder::new().name("jumar-hccl-net".to_owned());
    match builder.spawn(run) {
        Ok(_) => Ok(()),
        Err(error) => Err(system("the thread for notices was refused", error)),
    }
}

/// The ranks of one communicator among those of a mesh.
pub(crate) struct NetworkGroup {
    mesh: Arc<Mesh>,
    tag: u64,
    label: Label,
    members: Arc<[u32]>,
    me: usize,
    begun: Begun,
}

/// What a thread polls that waits for an operation: the threads that run it. As long as it does, no processor rests that they need: to
/// wake one takes longer than most of what they do.
struct Transfers(Arc<AtomicU64>);

impl Poller for Transfers {
    fn poll_while(&self, goes_on: &mut dyn FnMut(bool) -> bool) {
        let ended = || self.0.load(Ordering::Relaxed);
        let mut seen = ended();
        while goes_on(std::mem::replace(&mut seen, ended()) != seen) {
            thread::yield_now();
        }
    }
}

impl NetworkGroup {
    pub(super) fn everyone(
        [ends, notices]: [Arc<Ends>; 2],
        rank: u32,
        label: Label,
        names: Vec<String>,
        backend: Arc<dyn Backend>,
    ) -> Result<NetworkGroup> {
        let core = Arc::new(Core {
            ends,
            notices,
            backend,
            rank,
            names,
            state: Mutex::default(),
            own: Mutex::default(),
            failed: Condvar::new(),
            closing: AtomicBool::new(false),
            pool: Arc::default(),
            ended_transits: Arc::default(),
        });
        let broken = |why: Broken| {
            let sentence = format!("the connections of rank {rank} failed: {why:?}");
            Error::new(ErrorKind::CommIncomplete, sentence)
        };
        let goodbyes = core.others().map(|other| {
            let transit = Transit::receive(&core.notices, other, GOODBYE, GOODBYE_BYTES)?;
            Ok((other, transit))
        });
        let goodbyes = goodbyes
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(broken)?;
        // Dropped if a thread is refused, which ends the other one.
        let mesh = Arc::new(Mesh(core.clone()));
        let observing = core.clone();
        spawn(move || observing.observe(&goodbyes))?;
        spawn(move || core.attend())?;
        Ok(NetworkGroup {
            mesh,
            tag: EVERYONE,
            members: (0..label.size).collect(),
            me: rank as usize,
            label,
            begun: Default::default(),
        })
    }

    fn core(&self) -> &Arc<Core> {
        &self.mesh.0
    }

    /// Returns what a thread polls that waits for an operation.
    pub(crate) fn poller(&self) -> Arc<dyn Poller> {
        Arc::new(Transfers(self.core().ended_transits.clone()))
    }

    /// Returns the group of some of the members, which includes this rank.
    pub(crate) fn child(&self, tag: u64, label: Label, ranks: &[u32]) -> Arc<NetworkGroup> {
        let members: Arc<[u32]> = ranks
            .iter()
            .filter_map(|rank| self.members.get(*rank as usize).copied())
            .collect();
        let own = self.core().rank;
        Arc::new(NetworkGroup {
            mesh: self.mesh.clone(),
            tag,
            label,
            me: members.iter().position(|rank| *rank == own).unwrap_or(0),
            members,
            begun: Default::default(),
        })
    }

    pub(crate) fn failure(&self) -> Option<Error> {
        self.core().state.lock().failure.clone()
    }

    /// Takes in an operation that this rank has reached.
    pub(crate) fn arrive(&self, arrival: &Arc<Arrival>, epoch: u32) {
        if let Some(failure) = self.failure() {
            // It was queued before the failure, and ends as those that were waiting.
            arrival.complete(Err(failure));
            return;
        }
        let membership = (&self.members, self.me);
        let key = (self.tag, epoch);
        let label = || self.label.clone();
        let works: Vec<Work> = match arrival.operation() {
            Operation::Collective(own) => {
                vec![Work::collective(label(), arrival, own, membership, key)]
            }
            Operation::Messages(messages) => {
                let messages = messages.iter().enumerate();
                let others = messages.filter(|(_, one)| one.peer as usize != self.me);
                others
                    .map(|(at, one)| Work::message(label(), arrival, at, *one, membership, key))
                    .collect()
            }
        };
        let core = self.core();
        self.begun.add(arrival);
        // All transfers of a batch are known before the first one can fail.
        let entries = self.enter(arrival, &works);
        let engine = (&*core.backend, &self.label);
        if let Err(error) = PostedEnds::meet_own(&core.own, arrival, self.me as u32, key, engine) {
            core.fail(&error);
        }
        let (running, failed) = {
            let state = core.state.lock();
            (state.running.clone(), state.failure.clone())
        };
        // It failed since the operation began: what ended the others did not know this one.
        if let Some(cause) = failed {
            core.end_all(&running, &cause);
        }
        for (entry, work) in entries.into_iter().zip(works) {
            self.start(entry, work);
        }
    }

    /// Lists what an arrival runs among all that runs.
    fn enter(&self, arrival: &Arc<Arrival>, works: &[Work]) -> Vec<Arc<Entry>> {
        let core = self.core();
        let entries = works.iter().map(|work| {
            let involved = work.involved();
            Arc::new(Entry {
                arrival: arrival.clone(),
                label: self.label.clone(),
                tag: self.tag,
                number: work.number(),
                sends: work.sends(),
                all: involved.iter().map(|(member, _)| *member).collect(),
                awaited: Mutex::new(involved),
                transits: Mutex::default(),
                ended_transits: core.ended_transits.clone(),
            })
        });
        let entries: Vec<Arc<Entry>> = entries.collect();
        let mut state = core.state.lock();
        state.running.extend(entries.iter().cloned());
        if !state.observed {
            core.failed.notify_all();
        }
        entries
    }

    fn start(&self, entry: Arc<Entry>, work: Work) {
        let core = self.core();
        let missed = work
            .involved()
            .iter()
            .find_map(|(_, rank)| core.missed(&entry, *rank));
        if let Some(member) = missed {
            core.fail(&entry.lost(member, "destroyed its communicator"));
        }
        let (own, running) = (core.clone(), entry.clone());
        let job = Box::new(move || own.run(&running, work));
        if let Err(error) = core.pool.run(job) {
            let error = system("a thread for collective operations was refused", error);
            let cause = core.fail(&error);
            core.finish(&entry, Err(cause));
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
        let cause = self.core().fail(&error);
        // The memory belongs to the program again once no thread uses it.
        let core = self.core();
        let mut state = core.state.lock();
        while state
            .running
            .iter()
            .any(|entry| Arc::ptr_eq(&entry.arrival, arrival))
        {
            (state, _) = core.failed.wait_for(state, POLL_INTERVAL);
        }
        drop(state);
        arrival.complete(Err(cause));
    }

    /// Announces that this rank's communicator was destroyed, and ends what runs.
    pub(crate) fn leave(&self) {
        let core = self.core();
        let own: Vec<Arc<Entry>> = {
            let state = core.state.lock();
            let own = state.running.iter().filter(|entry| entry.tag == self.tag);
            own.cloned().collect()
        };
        let me = self.me as u32;
        let own = own
            .first()
            .map(|entry| (entry.arrival.clone(), entry.number));
        let own = own.or_else(|| {
            let own = core.own.lock();
            own.first_of(self.tag)
                .map(|first| (first.clone(), first.number()))
        });
        if let Some((arrival, number)) = own {
            let why = "destroyed its communicator";
            core.fail(&self.label.lost(arrival.operation(), number, me, why));
        }
        let others = (0..).zip(self.members.iter());
        let others = others.filter(|(member, _)| *member != me);
        for (member, rank) in others {
            let mut content = LEFT.to_le_bytes().to_vec();
            content.extend(self.tag.to_le_bytes());
            self.begun.as_seen_by(member).put(&mut content);
            core.notify(*rank, content);
        }
        let others = self.members.len() - 1;
        core.state.lock().departures.leave(self.tag, others);
    }

    pub(crate) fn fail(&self, error: &Error) {
        self.core().fail(error);
    }

    /// Fails the operations that have waited too long.
    pub(crate) fn expire(&self, now: Instant, limit: Duration) {
        let core = self.core();
        let late = {
            let state = core.state.lock();
            let late = state
                .running
                .iter()
                .find(|entry| entry.tag == self.tag && entry.arrival.has_waited(now) >= limit);
            late.cloned()
        };
        let Some(entry) = late else {
            let own = core.own.lock();
            let late = own.late(self.tag, &self.label, (now, limit));
            drop(own);
            if let Some(error) = late {
                core.fail(&error);
            }
            return;
        };
        let awaited = entry.awaited.lock().clone();
        let mut missing: Vec<u32> = awaited.iter().map(|(member, _)| *member).collect();
        if missing.is_empty() {
            missing.clone_from(&entry.all);
        }
        let operation = entry.arrival.operation();
        let seconds = limit.as_secs_f64();
        core.fail(
            &self
                .label
                .timeout(operation, entry.number, &missing, seconds),
        );
    }
}
