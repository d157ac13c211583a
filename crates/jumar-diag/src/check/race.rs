//! Accesses to memory that the order of the program leaves open.
//!
//! A task begins with what its stream knew and with what the thread that queued it knew; a record keeps the stream's clock, a
//! wait takes it; a wait of the host takes the clock of its target ([`super::order`]). Two accesses to the same
//! byte, one of them a write, that neither clock orders are a race, however the run went.
//!
//! A stream that waits for something whose record was not seen yet (a notify, a word of memory) is left out until the host has
//! waited for it: that loses races and invents none.
//!
//! Memory is known by allocation; each has cells, which are ranges with the same history: the last write, and the last reads
//! that do not come before each other. All of it is bounded: by the objects that are alive, by a number of cells for each
//! allocation, and by a number of bytes for copies that are watched.

use std::collections::{BTreeMap, VecDeque};

use jumar_core::{Admission, Op, Phase, Span, WaitEnd};

use super::callbacks::Callbacks;
use super::cells::{Access, Cell, Region, Verb};
use super::conflict::{AccessCheck, Needs, line, race, verb, who};
use super::deadlock::DeadlockState;
use super::order::{Actor, Clock, Numbers, Order, join, knows};
use super::signals::{Known, Signal};
use super::watchpoints::GuardedRange;
use super::{Allocation, Finding, Interest, Memory, SourceLocation, report};

/// How many freed allocations are remembered.
const MOST_FREED: usize = 1 << 10;
/// Sources of copies up to this length are compared byte by byte; of longer ones the two ends are.
const COMPARED: usize = 64 << 10;
/// The maximum number of source bytes that are kept. Copies beyond it are not compared.
const MOST_SAMPLED: usize = 64 << 20;
/// The number of newest tasks whose source location is kept for failures.
const QUEUED: usize = 1 << 16;

enum Pending {
    Stream(usize, usize, Clock),
    /// A wait of the host: its thread, and what it comes after.
    Host(usize, Known),
    /// A wait of the host for streams.
    Context(usize, Vec<u32>, Known),
    /// Of a stream, which waits until it returns or not, behind what the clock says.
    Callback(u32, bool, Clock),
}

/// Bytes that a queued copy is going to read, as they were when it was queued.
struct SampledBytes {
    span: Span,
    bytes: Vec<u8>,
    location: SourceLocation,
    stream: u32,
    thread: usize,
}

/// What the engine receives besides an operation.
pub(super) struct OpContext<'a> {
    /// The calling thread's index among the actors.
    pub(super) thread: usize,
    /// Where the call was made.
    pub(super) location: SourceLocation,
    /// Reads and fills memory, for operations that need it.
    pub(super) memory: Option<&'a dyn Memory>,
    /// Whether targets of copies to the host are overwritten.
    pub(super) poison: bool,
    /// Takes note of the operations whose phases matter.
    pub(super) interest: &'a Interest,
    /// Whether accesses are looked at.
    pub(super) accesses: bool,
}

#[derive(Default)]
pub(super) struct Races {
    pub(super) order: Order,
    pub(super) events: Numbers<u64, Signal>,
    words: Numbers<usize, Signal>,
    /// What the answer of a query, under way on a thread, would mean, and the stream that it is about.
    pub(super) queries: Numbers<usize, (Known, Option<u32>)>,
    pending: Numbers<u64, Pending>,
    sampled: Numbers<u64, SampledBytes>,
    sampled_bytes: usize,
    regions: BTreeMap<usize, Region>,
    freed: VecDeque<(Allocation, SourceLocation)>,
    counts: [u64; 2],
    pub(super) callbacks: Callbacks,
    /// Pinned memory that the program must not touch now.
    pub(super) guarded: Vec<GuardedRange>,
    /// Where tasks were queued, by the last digits of their numbers.
    queued: Vec<(u64, SourceLocation)>,
    pub(super) failed: Option<super::FailedTask>,
    /// By key: the last use of what is to be used by one task after the other.
    pub(super) exclusive: Numbers<u64, Access>,
    /// Ranks of this process met in an operation: that puts tasks of different devices into an order that is not recorded.
    ranks_meet: bool,
    pub(super) deadlock: DeadlockState,
}

/// Keeps the first of the findings about the ranges of one view: the others have the same source locations.
fn one_for_each_cause(found: &mut Vec<Finding>) {
    let Some((last, earlier)) = found.split_last() else {
        return;
    };
    let locations = |finding: &Finding| -> Vec<SourceLocation> {
        let lines = finding.lines.iter();
        lines.map(|line| line.location).collect()
    };
    let is_known = |one: &Finding| one.rule == last.rule && locations(one) == locations(last);
    if earlier.iter().any(is_known) {
        found.pop();
    }
}

/// Returns what went wrong in the end: each layer says that its task failed, and whose error that was.
fn cause(mut sentence: &str) -> &str {
    while sentence.starts_with("a task of stream ")
        && let Some((_, inner)) = sentence.split_once(", failed: ")
    {
        sentence = inner;
    }
    sentence
}

/// How calls begin that launch a kernel of the program. Of what its pointers point to, it may read and write any part.
const KERNEL_LAUNCHES: [&str; 4] = [
    "aclrtLaunch",
    "rtKernelLaunch",
    "rtLaunch",
    "rtVectorCoreKernelLaunch",
];

/// How the names of calls begin that queue a single operator, or an operation of several ranks.
const OPERATORS: &[&str] = &["aclnn", "aclop", "aclblas", "Hccl"];

/// Calls whose memory others may write without passing the gate.
const OPEN_MAKERS: &[&str] = &["Managed", "Import", "Reserve", "Ipc"];

/// Calls that wait for the work before they give its memory back.
const WAITING_FREES: &[&str] = &[
    "aclrtResetDevice",
    "aclrtDestroyContext",
    "aclFinalize",
    "aclrtFreeWithDevSync",
    "aclrtFreeHostWithDevSync",
];

impl Races {
    /// The stream is gone, with all its work done or thrown away.
    pub(super) fn stream_ended(&mut self, thread: usize, stream: u32, interest: &Interest) {
        self.host_knows_stream(thread, stream);
        self.order.stream_ended(stream);
        // What was thrown away is never reported.
        let (mut callbacks, mut bytes) = (0, 0);
        self.pending.retain(|ticket, pending| {
            let gone = matches!(pending, Pending::Callback(of, ..) if *of == stream);
            if gone {
                interest.lost(*ticket);
                callbacks += 1;
            }
            !gone
        });
        self.sampled.retain(|ticket, sampled| {
            let gone = sampled.stream == stream;
            if gone {
                interest.lost(*ticket);
                bytes += sampled.bytes.len();
            }
            !gone
        });
        self.callbacks.remove(callbacks);
        self.sampled_bytes -= bytes;
        let deadlock = &mut self.deadlock;
        deadlock.callbacks.remove(&stream);
        deadlock.waits.retain(|ticket, wait| {
            let gone = wait.stream == stream;
            if gone {
                interest.lost(*ticket);
            }
            !gone
        });
        deadlock.records.retain(|ticket, (of, ..)| {
            let gone = *of == stream;
            if gone {
                interest.lost(*ticket);
            }
            !gone
        });
    }

    pub(super) fn admitted(
        &mut self,
        admission: &Admission<'_>,
        context: &OpContext<'_>,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        let thread = context.thread;
        let stream = admission
            .stream
            .map(|stream| self.order.stream(stream, admission.device));
        let actor = stream.unwrap_or(thread);
        self.note_waits(admission, context);
        // A wait of the host is not a step of the stream.
        if let Op::WaitForStream = admission.op {
            let clock = self.order.actors[actor].clock.clone();
            context.interest.found(admission.ticket);
            self.pending
                .insert(admission.ticket, Pending::Stream(thread, actor, clock));
            return found;
        }
        // A step of something that was queued as a whole has its order in there.
        if admission.inner {
            admission.op.each_written(|span| self.mark_written(span));
            return found;
        }
        if let Op::Edge { event, records } = admission.op {
            match records {
                true => self.record(actor, event, context.location),
                false => self.wait(actor, event, WaitEnd::Newest),
            }
            return found;
        }
        let at = match stream {
            None => self.order.step(thread),
            Some(stream) => {
                self.note_queued(admission.ticket, context.location);
                self.order.queued(stream, thread)
            }
        };
        let access = Access {
            actor: actor as u32,
            number: self.order.actors[actor].number,
            at,
            ticket: admission.ticket,
            location: context.location,
            verb: verb(&admission.op),
            program: 0,
            by_thread: stream.is_none(),
        };
        let checks_accesses = context.accesses;
        match &admission.op {
            Op::Allocate { span, device } => self.allocate(admission, *span, *device, &access),
            Op::Free { span, .. } => self.free(*span, &access, admission.call, context, &mut found),
            Op::Copy {
                to,
                from,
                direction,
            } if checks_accesses => {
                let unwritten = self.touch(*from, false, Needs::Copied, &access, &mut found);
                if context.memory.is_some() {
                    self.sample_source(admission, *to, *from, direction, context);
                }
                self.touch(*to, true, Needs::Nothing, &access, &mut found);
                self.copy_unwritten(*to, *from, &unwritten);
            }
            Op::CopyRows { to, from, .. } if checks_accesses => {
                from.iter()
                    .for_each(|row| drop(self.touch(row, false, Needs::Part, &access, &mut found)));
                to.iter().for_each(|row| {
                    drop(self.touch(row, true, Needs::Nothing, &access, &mut found))
                });
            }
            Op::CopyBatch { pieces, .. } if checks_accesses => {
                for (_, from) in *pieces {
                    self.touch(*from, false, Needs::Part, &access, &mut found);
                }
                for (to, _) in *pieces {
                    self.touch(*to, true, Needs::Nothing, &access, &mut found);
                }
            }
            Op::Fill { to } if checks_accesses => {
                self.touch(*to, true, Needs::Nothing, &access, &mut found);
            }
            Op::Launch {
                name,
                reads,
                writes,
            } if checks_accesses => {
                let kernel = KERNEL_LAUNCHES
                    .iter()
                    .any(|prefix| admission.call.starts_with(prefix));
                self.ranks_meet |= admission.call.starts_with("Hccl");
                // An operator is a task like a copy; models and kernels have findings of their own.
                let is_operator = OPERATORS
                    .iter()
                    .any(|prefix| admission.call.starts_with(prefix));
                let program = match is_operator {
                    true => 0,
                    false => (report::hash(name) as u32).max(1),
                };
                let access = Access { program, ..access };
                let needs = match kernel {
                    true => Needs::Nothing,
                    false => Needs::All,
                };
                for span in *reads {
                    self.touch(*span, false, needs, &access, &mut found);
                    one_for_each_cause(&mut found);
                }
                let may_write = admission.call.starts_with("aclmdlRI");
                for span in *writes {
                    // A kernel that says nothing of a pointer may only read there; a captured model may take another branch.
                    if may_write || kernel && reads.contains(span) {
                        self.mark_written(*span);
                    } else {
                        self.touch(*span, true, Needs::Nothing, &access, &mut found);
                        one_for_each_cause(&mut found);
                    }
                }
            }
            Op::Record { event, .. } => self.record(actor, *event, context.location),
            Op::Wait { event, ends, .. } => {
                self.wait(actor, *event, *ends);
                if *ends == WaitEnd::Level {
                    found.extend(self.stale_level(&access, *event));
                }
            }
            Op::ResetEvent { event } => {
                if let Some(signal) = self.events.get_mut(event) {
                    signal.clear(&self.order.actors[actor], (actor, at));
                }
            }
            Op::WriteValue { to, value } => {
                let signal = self.words.entry(to.address()).or_default();
                let writer = &self.order.actors[actor];
                signal.clear(writer, (actor, at));
                signal.record(writer, (actor, at), context.location, *value);
                self.mark_written(*to);
            }
            Op::WaitValue { at, value, test } => {
                let clock = &self.order.actors[actor].clock;
                let signal = self.words.get(&at.address());
                let known = signal.and_then(|word| word.end_of_wait_for((*test, *value), clock));
                self.learn(actor, known);
            }
            Op::Callback { blocks } => {
                self.callbacks.queue();
                let clock = self.order.actors[actor].clock.clone();
                context.interest.found(admission.ticket);
                let number = admission.stream.unwrap_or(u32::MAX);
                self.pending
                    .insert(admission.ticket, Pending::Callback(number, *blocks, clock));
            }
            Op::WaitForEvent { event, .. } => {
                context.interest.found(admission.ticket);
                // Another record, by another thread, is not waited for.
                if let Some(known) = self.events.get(event).and_then(Signal::newest) {
                    context.interest.found(admission.ticket);
                    self.pending
                        .insert(admission.ticket, Pending::Host(thread, known));
                }
            }
            Op::WaitForContext { streams } => {
                context.interest.found(admission.ticket);
                let mut known = Known::default();
                for stream in *streams {
                    if let Some(stream) = self.order.known_stream(*stream) {
                        let Actor { clock, blind, .. } = &self.order.actors[stream];
                        join(&mut known.clock, clock);
                        known.blind |= *blind;
                    }
                }
                let streams = streams.to_vec();
                self.pending
                    .insert(admission.ticket, Pending::Context(thread, streams, known));
            }
            // An operation that this does not know may do anything: nothing is concluded from it.
            _ => {}
        }
        found
    }

    fn note_queued(&mut self, ticket: u64, location: SourceLocation) {
        if self.queued.is_empty() {
            self.queued.resize(QUEUED, (0, SourceLocation::UNKNOWN));
        }
        self.queued[ticket as usize % QUEUED] = (ticket, location);
    }

    /// Lists how much of each kind is kept.
    pub(super) fn sizes(&self) -> Vec<(&'static str, usize)> {
        let cells = self
            .regions
            .values()
            .flat_map(|region| region.cells.values());
        vec![
            ("actors", self.order.actors.len()),
            ("events", self.events.len()),
            ("words", self.words.len()),
            (
                "signals",
                self.events
                    .values()
                    .chain(self.words.values())
                    .map(Signal::len)
                    .sum(),
            ),
            ("pending", self.pending.len()),
            ("sampled", self.sampled.len()),
            ("guarded", self.guarded.len()),
            ("regions", self.regions.len()),
            ("cells", cells.clone().count()),
            ("reads", cells.map(|cell| cell.reads.len()).sum()),
            ("freed", self.freed.len()),
            ("exclusive", self.exclusive.len()),
            ("queued", self.queued.len()),
            ("waits", self.deadlock.waits.len()),
            ("records", self.deadlock.records.len()),
            ("hosts", self.deadlock.hosts.len()),
            ("callbacks", self.deadlock.callbacks.len()),
        ]
    }

    /// Returns the target of a successful wait of the host: a stream, or all of them.
    pub(super) fn waited(&self, ticket: u64) -> Option<Option<u32>> {
        match self.pending.get(&ticket)? {
            Pending::Stream(_, actor, _) => Some(Some(self.order.actors[*actor].number)),
            Pending::Context(..) => Some(None),
            Pending::Host(..) | Pending::Callback(..) => None,
        }
    }

    /// Drops what was kept of the bytes that a copy reads.
    pub(super) fn drop_sample(&mut self, ticket: u64, interest: &Interest) {
        if let Some(sampled) = self.sampled.remove(&ticket) {
            interest.lost(ticket);
            self.sampled_bytes -= sampled.bytes.len();
        }
    }

    /// Returns whether memory has to be read when an operation begins.
    pub(super) fn watches_bytes(&self, ticket: u64) -> bool {
        self.sampled.contains_key(&ticket)
    }

    pub(super) fn reported(
        &mut self,
        ticket: u64,
        phase: &Phase,
        memory: Option<&dyn Memory>,
        interest: &Interest,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        self.note_phase(ticket, phase, interest);
        if let Phase::Failed(error) = phase {
            let location = match self.queued.get(ticket as usize % QUEUED) {
                Some((of, location)) if *of == ticket => *location,
                _ => SourceLocation::UNKNOWN,
            };
            self.failed = Some(super::FailedTask {
                ticket,
                location,
                sentence: cause(error.sentence()).to_owned(),
            });
        }
        if let Some(sampled) = self.sampled.remove(&ticket) {
            interest.lost(ticket);
            self.sampled_bytes -= sampled.bytes.len();
            if let (Phase::Started, Some(memory)) = (phase, memory) {
                let mut now = vec![0; sampled.bytes.len()];
                sample(memory, sampled.span, &mut now);
                if now != sampled.bytes {
                    found.extend(self.overwritten(&sampled, &now));
                }
            }
        }
        let is_over = match (self.pending.get(&ticket), phase) {
            (None, _) => return found,
            (Some(Pending::Callback(..)), _) => true,
            (Some(_), Phase::Started) => false,
            (Some(_), Phase::Finished | Phase::Failed(_)) => true,
        };
        if !is_over {
            return found;
        }
        interest.lost(ticket);
        let pending = self.pending.remove(&ticket);
        match (pending, phase) {
            // The function begins now, behind everything before it; a thread that it notifies knows as much.
            (Some(Pending::Callback(stream, blocks, clock)), _) => {
                self.callbacks.begin(ticket, stream, blocks);
                self.order.publish_clock(&clock);
            }
            (Some(Pending::Stream(thread, actor, clock)), Phase::Finished) => {
                self.callbacks
                    .wait_for(self.order.actors[actor].number, ticket);
                if self.order.actors[actor].blind {
                    self.host_knows_all(thread);
                } else {
                    self.order.learns(thread, &clock);
                }
            }
            (Some(Pending::Host(thread, known)), Phase::Finished) => {
                self.host_knows(thread, known);
            }
            (Some(Pending::Context(thread, streams, known)), Phase::Finished) => {
                for stream in streams {
                    self.callbacks.wait_for(stream, ticket);
                }
                self.host_knows(thread, known);
            }
            _ => {}
        }
        found
    }

    pub(super) fn host_knows_stream(&mut self, thread: usize, stream: u32) {
        self.callbacks.wait_for(stream, u64::MAX);
        if let Some(stream) = self.order.known_stream(stream) {
            if self.order.actors[stream].blind {
                return self.host_knows_all(thread);
            }
            self.order.thread_knows(thread, stream);
        }
    }

    pub(super) fn event_ended(&mut self, event: u64) {
        self.events.remove(&event);
    }

    pub(super) fn host_knows_all(&mut self, thread: usize) {
        for stream in self.order.all_streams() {
            self.order.thread_knows(thread, stream);
        }
    }

    pub(super) fn is_pending(&self, thread: usize, stream: u32) -> bool {
        let stream = self.order.known_stream(stream);
        stream.is_some_and(|stream| self.order.is_pending(stream, thread))
    }

    pub(super) fn region(&self, address: usize) -> Option<&Region> {
        let (_, region) = self.regions.range(..=address).next_back()?;
        let allocation = &region.allocation;
        (address < allocation.start + allocation.bytes).then_some(region)
    }

    pub(super) fn allocation(&self, address: usize) -> Option<Allocation> {
        let mut allocation = self.region(address)?.allocation.clone();
        // Mappings that follow each other without a gap are used as one.
        let is_mapping =
            |of: &Allocation| matches!(of.made_by, "aclrtMapMem" | "aclrtMemMapNoAccess");
        while is_mapping(&allocation)
            && let Some(next) = self.regions.get(&(allocation.start + allocation.bytes))
            && is_mapping(&next.allocation)
            && next.allocation.device == allocation.device
        {
            allocation.bytes += next.allocation.bytes;
            allocation.asked = allocation.bytes;
        }
        Some(allocation)
    }

    pub(super) fn freed(&self, address: usize) -> Option<(Allocation, SourceLocation)> {
        let inside = |(freed, _): &&(Allocation, SourceLocation)| {
            (freed.start..freed.start + freed.bytes).contains(&address)
        };
        self.freed.iter().rev().find(inside).cloned()
    }

    pub(super) fn allocations(&self) -> Vec<Allocation> {
        self.regions
            .values()
            .map(|region| region.allocation.clone())
            .collect()
    }

    pub(super) fn asked(&mut self, start: usize, bytes: usize) {
        if let Some(region) = self.regions.get_mut(&start)
            && bytes <= region.allocation.bytes
        {
            region.allocation.asked = bytes;
        }
    }

    pub(super) fn forget(&mut self, start: usize) {
        self.regions.remove(&start);
    }

    fn allocate(
        &mut self,
        admission: &Admission<'_>,
        span: Span,
        device: Option<u32>,
        access: &Access,
    ) {
        let count = &mut self.counts[usize::from(device.is_some())];
        *count += 1;
        let allocation = Allocation {
            start: span.address(),
            bytes: span.bytes(),
            asked: span.bytes(),
            device,
            number: *count,
            made_by: admission.call,
            made: access.location,
        };
        let pool = admission.stream.is_some();
        let mut region = Region {
            allocation,
            pool,
            tracked: device.is_some()
                && !pool
                && admission.call.contains("Malloc")
                && !OPEN_MAKERS.iter().any(|name| admission.call.contains(name)),
            cells: BTreeMap::new(),
        };
        if pool {
            // The memory is there from this point of the stream on.
            region.cells.insert(
                span.address(),
                Cell {
                    end: span.end(),
                    written: true,
                    write: Some(Access {
                        verb: Verb::Allocates,
                        ..*access
                    }),
                    reads: Vec::new(),
                },
            );
        }
        self.regions.insert(span.address(), region);
    }

    fn free(
        &mut self,
        span: Span,
        access: &Access,
        call: &str,
        context: &OpContext<'_>,
        found: &mut Vec<Finding>,
    ) {
        let Some(region) = self.regions.remove(&span.address()) else {
            return;
        };
        if !self.words.is_empty() {
            self.words.retain(|at, _| !span.contains(*at));
        }
        let clock = &self.order.actors[access.actor as usize].clock;
        let waits = WAITING_FREES.iter().any(|name| call.starts_with(name));
        let open = region
            .cells
            .values()
            .flat_map(|cell| cell.reads.iter().chain(&cell.write))
            .find(|earlier| !waits && !knows(clock, earlier));
        if let Some(earlier) = open.filter(|_| context.accesses) {
            let rule = match (region.pool, region.allocation.device) {
                _ if access.by_thread && earlier.by_thread => "JMR-THREAD-004",
                (true, _) => "JMR-SYNC-009",
                (_, Some(_)) => "JMR-SYNC-007",
                (_, None) => "JMR-SYNC-008",
            };
            let by = match access.by_thread {
                false => format!("stream#{} frees", access.number),
                true => "the host frees".to_owned(),
            };
            let name = region.allocation.name();
            let (who, verb) = (who(earlier), earlier.verb.text());
            let missing = match earlier.by_thread {
                true => format!(
                    "a lock, or a join, between threads {} and {}",
                    earlier.number, access.number
                ),
                false => format!("a synchronise of stream#{} between the two", earlier.number),
            };
            found.push(
                line(rule, access, format!("{by} {name}"))
                    .and("earlier", earlier.location, format!("{who} {verb} {name}"))
                    .and("made", region.allocation.made, region.allocation.name())
                    .missing(missing),
            );
        }
        self.freed.push_back((region.allocation, access.location));
        if self.freed.len() > MOST_FREED {
            self.freed.pop_front();
        }
    }

    pub(super) fn mark_written(&mut self, span: Span) {
        self.mark(span, true);
    }

    /// Notes whether bytes were written, without an access.
    fn mark(&mut self, span: Span, written: bool) {
        let Some(start) = self.region(span.address()).map(|r| r.allocation.start) else {
            return;
        };
        let Some(region) = self.regions.get_mut(&start) else {
            return;
        };
        let end = span
            .end()
            .min(region.allocation.start + region.allocation.bytes);
        region.cut(span.address(), end);
        for (_, cell) in region.cells.range_mut(span.address()..end) {
            cell.written = written;
        }
    }

    /// Lets the target of a copy hold what its source held, where no task has written that.
    fn copy_unwritten(&mut self, to: Span, from: Span, unwritten: &[(usize, usize)]) {
        for (begin, end) in unwritten {
            let target = to.part(begin - from.address(), end - begin);
            if let Some(target) = target {
                self.mark(target, false);
            }
        }
    }

    /// Notes an access, and finds what it is in no order with. Returns the ranges that a copy reads and no task has written.
    fn touch(
        &mut self,
        span: Span,
        writes: bool,
        needs: Needs,
        access: &Access,
        found: &mut Vec<Finding>,
    ) -> Vec<(usize, usize)> {
        if span.bytes() == 0 {
            return Vec::new();
        }
        let actor = &self.order.actors[access.actor as usize];
        if actor.blind {
            if writes {
                self.mark_written(span);
            }
            return Vec::new();
        }
        let Some((_, region)) = self.regions.range_mut(..=span.address()).next_back() else {
            return Vec::new();
        };
        let begin = span.address();
        let border = region.allocation.start + region.allocation.bytes;
        if begin >= border {
            return Vec::new();
        }
        let end = span.end().min(border);
        let mut check = AccessCheck {
            clock: &actor.clock,
            others: (self.ranks_meet && !actor.is_thread).then_some(&self.order.actors),
            writes,
            needs_bytes: needs != Needs::Nothing,
            access,
            last: None,
            unwritten: Vec::new(),
        };
        // Most accesses are to a range that was accessed before.
        match region.cells.get_mut(&begin).filter(|cell| cell.end == end) {
            Some(cell) => check.at(begin, cell),
            None => {
                region.cut(begin, end);
                for (&from, cell) in region.cells.range_mut(begin..end) {
                    check.at(from, cell);
                }
                if writes {
                    region.unite(begin, end);
                }
            }
        }
        let AccessCheck {
            last, unwritten, ..
        } = check;
        if let Some((earlier, wrote, from, to)) = last {
            found.push(race(region, access, writes, &earlier, wrote, from, to));
        }
        if let (Some(finding), true) = (
            needs.judge(region, &unwritten, access, end - begin),
            region.tracked,
        ) {
            found.push(finding);
        }
        match needs {
            Needs::Copied if region.tracked => unwritten,
            _ => Vec::new(),
        }
    }

    /// Keeps what a copy from pinned memory is going to read, and overwrites the target of a copy to pinned memory.
    fn sample_source(
        &mut self,
        admission: &Admission<'_>,
        to: Span,
        from: Span,
        direction: &str,
        context: &OpContext<'_>,
    ) {
        let (Some(stream), Some(memory)) = (admission.stream, context.memory) else {
            return;
        };
        if self.callbacks.may_run() {
            return;
        }
        let pinned = |span: Span| {
            self.region(span.address())
                .is_some_and(|region| region.allocation.device.is_none())
        };
        let (from_pinned, to_pinned) = (pinned(from), pinned(to));
        let kept = from.bytes().min(2 * COMPARED);
        if direction == "host to device"
            && from_pinned
            && !self.is_used(context.thread, from, true)
            && self.sampled_bytes + kept <= MOST_SAMPLED
        {
            let mut bytes = vec![0; kept];
            sample(memory, from, &mut bytes);
            context.interest.found(admission.ticket);
            self.sampled_bytes += kept;
            self.sampled.insert(
                admission.ticket,
                SampledBytes {
                    span: from,
                    bytes,
                    location: context.location,
                    stream,
                    thread: context.thread,
                },
            );
        }
        if context.poison
            && direction == "device to host"
            && to_pinned
            && !self.is_used(context.thread, to, false)
        {
            memory.fill(to, POISON);
        }
    }

    /// Returns whether work that the host has not waited for writes (or also reads) a range.
    fn is_used(&self, thread: usize, span: Span, writes_only: bool) -> bool {
        let Some(region) = self.region(span.address()) else {
            return false;
        };
        let before = region.cells.range(..=span.address()).next_back();
        before
            .into_iter()
            .chain(region.cells.range(span.address()..span.end()))
            .filter(|(from, cell)| **from < span.end() && cell.end > span.address())
            .any(|(_, cell)| {
                let reads = cell.reads.iter().filter(|_| !writes_only);
                cell.write
                    .iter()
                    .chain(reads)
                    .any(|access| !access.by_thread && !self.order.host_knows(thread, access))
            })
    }

    fn overwritten(&self, sampled: &SampledBytes, now: &[u8]) -> Option<Finding> {
        let at = now.iter().zip(&sampled.bytes).position(|(a, b)| a != b)?;
        let region = self.region(sampled.span.address())?;
        // A task that writes here was queued meanwhile: that is its own finding, or in order.
        if self.is_used(sampled.thread, sampled.span, true) {
            return None;
        }
        let allocation = region.allocation.clone();
        let start = sampled.span.address() - allocation.start;
        Some(Finding {
            rule: "JMR-SYNC-003",
            lines: vec![
                super::Line {
                    label: "copy",
                    location: sampled.location,
                    text: format!(
                        "the copy on stream#{} reads {} +{start}..{}",
                        sampled.stream,
                        allocation.name(),
                        start + sampled.span.bytes()
                    ),
                },
                super::Line {
                    label: "made",
                    location: allocation.made,
                    text: allocation.name(),
                },
            ],
            missing: Some(format!(
                "the host changed byte {} after the copy was queued and before it ran: wait for stream#{} first, or use \
                 a second buffer",
                start + at.min(sampled.span.bytes()),
                sampled.stream
            )),
            fix: None,
        })
    }
}

/// What the targets of copies to the host are filled with until the copy has run.
const POISON: u8 = 0xdb;

/// Reads a span, or its two ends where it is long.
fn sample(memory: &dyn Memory, span: Span, into: &mut [u8]) {
    if into.len() == span.bytes() {
        return memory.read(span, into);
    }
    let half = into.len() / 2;
    let (first, last) = into.split_at_mut(half);
    let bytes = last.len();
    if let (Some(head), Some(tail)) = (span.part(0, half), span.part(span.bytes() - bytes, bytes)) {
        memory.read(head, first);
        memory.read(tail, last);
    }
}
