//! Who does what in which order: the actors, and what each knows of the others.
//!
//! An actor is a stream or a thread of the program, with a vector clock: for each actor the last of its steps that is known to
//! come before whatever this actor does next.
//!
//! Synchronisation between threads outside the interface (locks, joins, flags) is not observed. So whatever a call did counts as
//! known to every call that begins after it returned, on any thread (`common`); two calls that overlap in time are in no order,
//! whatever the program meant. This invents nothing, and misses races of threads that happened to come one after the other.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use jumar_core::sync::{AtomicU64, Ordering};

use super::cells::Access;

/// A step of each actor.
pub(super) type Clock = Vec<u64>;

/// Hashes numbers that no attacker chooses.
#[derive(Clone, Copy, Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// A map by numbers.
pub(super) type Numbers<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

pub(super) fn join(into: &mut Clock, from: &Clock) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

#[inline]
pub(super) fn knows(clock: &Clock, access: &Access) -> bool {
    clock.get(access.actor as usize).copied().unwrap_or(0) >= access.at
}

#[derive(Default)]
pub(super) struct Actor {
    pub(super) clock: Clock,
    pub(super) is_thread: bool,
    /// The stream's number, or the thread's.
    pub(super) number: u32,
    pub(super) device: u32,
    /// What it waits for is unknown.
    pub(super) blind: bool,
    /// Changes whenever it learns of others.
    version: u64,
    /// The thread whose knowledge it took in last, and the version of that.
    took: (usize, u64),
}

/// All actors.
pub(super) struct Order {
    pub(super) actors: Vec<Actor>,
    /// Indices of actors that are gone.
    idle: Vec<usize>,
    streams: Numbers<u32, usize>,
    /// The stream of the last query, and its index.
    last: (u32, usize),
    threads: u32,
    live_threads: u32,
    common: Clock,
    /// Changes whenever the common clock does; threads read it without a lock.
    pub(super) common_version: Arc<AtomicU64>,
}

impl Default for Order {
    fn default() -> Order {
        Order {
            // The index of threads that are being destroyed.
            actors: vec![Actor {
                is_thread: true,
                ..Actor::default()
            }],
            idle: Vec::new(),
            streams: Numbers::default(),
            last: (u32::MAX, 0),
            threads: 0,
            live_threads: 0,
            common: Clock::new(),
            common_version: Arc::new(AtomicU64::new(1)),
        }
    }
}

impl Order {
    fn location(&mut self) -> usize {
        self.idle.pop().unwrap_or_else(|| {
            self.actors.push(Actor::default());
            self.actors.len() - 1
        })
    }

    /// Assigns an index to a thread of the program. It knows the effects of all calls that returned.
    pub(super) fn thread_begins(&mut self) -> usize {
        if self.live_threads == 1 {
            // The only thread so far has not published its steps.
            for actor in self.actors.iter().filter(|actor| actor.is_thread) {
                join(&mut self.common, &actor.clock);
            }
            self.common_version.fetch_add(1, Ordering::Release);
        }
        self.threads += 1;
        self.live_threads += 1;
        let (number, location) = (self.threads, self.location());
        let common = self.common.clone();
        let actor = &mut self.actors[location];
        actor.is_thread = true;
        actor.number = number;
        actor.blind = false;
        join(&mut actor.clock, &common);
        actor.version += 1;
        self.step(location);
        location
    }

    /// Lets the next actor reuse the index of a thread that is gone. Its steps continue counting.
    pub(super) fn thread_ended(&mut self, location: usize) {
        self.publish(location);
        self.live_threads = self.live_threads.saturating_sub(1);
        self.idle.push(location);
    }

    /// Returns whether effects of calls have to be published for more than one thread.
    pub(super) fn has_many(&self) -> bool {
        self.live_threads > 1
    }

    /// Lets every call that begins from now on know what a thread knows.
    pub(super) fn publish(&mut self, thread: usize) -> u64 {
        join(&mut self.common, &self.actors[thread].clock);
        self.common_version.fetch_add(1, Ordering::Release) + 1
    }

    /// Lets every call that begins from now on know of a clock.
    pub(super) fn publish_clock(&mut self, clock: &Clock) {
        join(&mut self.common, clock);
        self.common_version.fetch_add(1, Ordering::Release);
    }

    /// Lets a thread know what calls that returned have done.
    pub(super) fn hear(&mut self, thread: usize) -> u64 {
        let actor = &mut self.actors[thread];
        join(&mut actor.clock, &self.common);
        actor.version += 1;
        self.common_version.load(Ordering::Acquire)
    }

    pub(super) fn stream(&mut self, number: u32, device: u32) -> usize {
        if self.last.0 == number {
            return self.last.1;
        }
        if let Some(actor) = self.streams.get(&number) {
            self.last = (number, *actor);
            return *actor;
        }
        let location = self.location();
        let actor = &mut self.actors[location];
        actor.is_thread = false;
        actor.number = number;
        actor.device = device;
        actor.blind = false;
        actor.took = (usize::MAX, 0);
        self.streams.insert(number, location);
        location
    }

    pub(super) fn known_stream(&self, number: u32) -> Option<usize> {
        self.streams.get(&number).copied()
    }

    /// Lets the next actor reuse the index of a stream that is gone. Its steps continue counting, so that what the old one did stays
    /// known to the actors that knew it.
    pub(super) fn stream_ended(&mut self, number: u32) {
        self.last = (u32::MAX, 0);
        if let Some(actor) = self.streams.remove(&number) {
            self.idle.push(actor);
        }
    }

    /// Lists the streams there are.
    pub(super) fn all_streams(&self) -> Vec<usize> {
        self.streams.values().copied().collect()
    }

    /// Lets an actor take its next step. Returns the step's number.
    pub(super) fn step(&mut self, actor: usize) -> u64 {
        let clock = &mut self.actors[actor].clock;
        if clock.len() <= actor {
            clock.resize(actor + 1, 0);
        }
        clock[actor] += 1;
        clock[actor]
    }

    /// A stream's task is queued by a thread: it comes after everything that the thread knows, and what the thread does from
    /// now on comes after the queueing.
    pub(super) fn queued(&mut self, stream: usize, thread: usize) -> u64 {
        let at = self.step(stream);
        let version = self.actors[thread].version;
        if self.actors[stream].took == (thread, version) {
            // Only the thread's own step can have changed.
            let own = self.actors[thread].clock[thread];
            let clock = &mut self.actors[stream].clock;
            if clock.len() <= thread {
                clock.resize(thread + 1, 0);
            }
            clock[thread] = own;
        } else {
            let host = std::mem::take(&mut self.actors[thread].clock);
            join(&mut self.actors[stream].clock, &host);
            self.actors[thread].clock = host;
            self.actors[stream].took = (thread, version);
        }
        self.step(thread);
        at
    }

    /// Lets an actor know a clock.
    pub(super) fn learns(&mut self, actor: usize, clock: &Clock) {
        let actor = &mut self.actors[actor];
        join(&mut actor.clock, clock);
        actor.version += 1;
    }

    /// Lets a thread know all that a stream did.
    pub(super) fn thread_knows(&mut self, thread: usize, stream: usize) {
        let clock = self.actors[stream].clock.clone();
        self.actors[stream].blind = false;
        self.learns(thread, &clock);
    }

    /// Returns whether a thread, or every thread, knows of an access.
    pub(super) fn host_knows(&self, thread: usize, access: &Access) -> bool {
        knows(&self.actors[thread].clock, access) || knows(&self.common, access)
    }

    /// Returns whether a stream did something that a thread does not know of.
    pub(super) fn is_pending(&self, stream: usize, thread: usize) -> bool {
        let of = |clock: &Clock| clock.get(stream).copied().unwrap_or(0);
        let known = of(&self.actors[thread].clock).max(of(&self.common));
        known < of(&self.actors[stream].clock)
    }
}
