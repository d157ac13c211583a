//! The order that the program established, and accesses to memory that it leaves open.
//!
//! Each stream is an actor with a vector clock, and the host is one more. A task begins with what its stream knew and with what
//! the host knew when it was queued; a record keeps the stream's clock, a wait takes it; whoever waits on the host takes
//! the clock of what was waited for. Two accesses to the same byte, one of them a write, that neither clock orders
//! are a race, however the run went.
//!
//! All threads of the program are one host actor: what they tell each other (locks, joins) is not seen, so calls of theirs count as
//! ordered as they came. A stream that waits for something whose record was not seen yet (a notify, a word of memory) is
//! left out until the host has waited for it. Both lose races and invent none.
//!
//! Memory is known by allocation; each has cells, which are ranges with the same history: the last write, and the last read
//! by each actor.

use std::collections::{BTreeMap, HashMap, VecDeque};

use jumar_core::{Admission, Op, Phase, Span};

use super::cells::{Access, Cell, Region};
use super::{Allocation, Finding, Memory, Place, verb};

const HOST: usize = 0;
/// How many freed allocations are remembered.
const MOST_FREED: usize = 1 << 10;
/// Sources of copies up to this length are compared byte by byte; of longer ones the two ends are.
const COMPARED: usize = 64 << 10;

type Clock = Vec<u32>;

fn join(into: &mut Clock, from: &Clock) {
    if into.len() < from.len() {
        into.resize(from.len(), 0);
    }
    for (a, b) in into.iter_mut().zip(from) {
        *a = (*a).max(*b);
    }
}

fn knows(clock: &Clock, access: &Access) -> bool {
    clock.get(access.actor).copied().unwrap_or(0) >= access.at
}

#[derive(Default)]
struct Actor {
    clock: Clock,
    stream: u32,
    device: u32,
    /// What it waits for is unknown.
    blind: bool,
}

#[derive(Default)]
struct Recorded {
    record: u64,
    newest: Clock,
    all: Clock,
}

enum Pending {
    Stream(usize, Clock),
    Event(u64),
    Device(u32),
    Callback(Clock),
}

/// Bytes that a queued copy is going to read, as they were when it was queued.
struct Watched {
    span: Span,
    bytes: Vec<u8>,
    place: Place,
    stream: u32,
}

pub(super) struct Races {
    actors: Vec<Actor>,
    /// Places of streams that are gone.
    idle: Vec<usize>,
    streams: HashMap<u32, usize>,
    events: HashMap<u64, Recorded>,
    words: HashMap<usize, Clock>,
    pending: HashMap<u64, Pending>,
    watched: HashMap<u64, Watched>,
    regions: BTreeMap<usize, Region>,
    freed: VecDeque<(Allocation, Place)>,
    counts: [u64; 2],
    /// Callbacks that were queued and have not begun: they may write host memory in stream order.
    callbacks: u64,
    /// Where the tasks that have not ended were queued.
    queued: HashMap<u64, Place>,
    pub(super) failed: Option<super::Failed>,
}

impl Default for Races {
    fn default() -> Races {
        Races {
            actors: vec![Actor {
                clock: vec![1],
                ..Actor::default()
            }],
            idle: Vec::new(),
            streams: HashMap::new(),
            events: HashMap::new(),
            words: HashMap::new(),
            pending: HashMap::new(),
            watched: HashMap::new(),
            regions: BTreeMap::new(),
            freed: VecDeque::new(),
            counts: [0; 2],
            callbacks: 0,
            queued: HashMap::new(),
            failed: None,
        }
    }
}

/// Calls whose memory others may write without passing the gate.
const OPEN_MAKERS: &[&str] = &["Managed", "MapMem", "Import", "Reserve", "Ipc"];

/// Calls that wait for the work before they give its memory back.
const WAITING_FREES: &[&str] = &[
    "aclrtResetDevice",
    "aclrtDestroyContext",
    "aclFinalize",
    "aclrtFreeWithDevSync",
    "aclrtFreeHostWithDevSync",
];

impl Races {
    fn actor(&mut self, stream: u32, device: u32) -> usize {
        if let Some(actor) = self.streams.get(&stream) {
            return *actor;
        }
        let actor = match self.idle.pop() {
            Some(actor) => actor,
            None => {
                self.actors.push(Actor::default());
                self.actors.len() - 1
            }
        };
        let of = &mut self.actors[actor];
        of.stream = stream;
        of.device = device;
        self.streams.insert(stream, actor);
        actor
    }

    /// Lets the next stream have the place of one that is gone. Its steps go on counting, so that what the old one did stays
    /// known to whoever knew it; and the host knows all of it.
    pub(super) fn stream_ended(&mut self, stream: u32) {
        self.host_knows_stream(stream);
        if let Some(actor) = self.streams.remove(&stream) {
            self.idle.push(actor);
        }
    }

    /// Lets an actor take its next step, and gives the step's number.
    fn step(&mut self, actor: usize) -> u32 {
        let clock = &mut self.actors[actor].clock;
        if clock.len() <= actor {
            clock.resize(actor + 1, 0);
        }
        clock[actor] += 1;
        clock[actor]
    }

    fn host_takes(&mut self, clock: &Clock) {
        join(&mut self.actors[HOST].clock, clock);
    }

    pub(super) fn admitted(
        &mut self,
        admission: &Admission<'_>,
        place: Place,
        memory: Option<&dyn Memory>,
        poison: bool,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        let actor = match admission.stream {
            None => HOST,
            Some(stream) => self.actor(stream, admission.device),
        };
        // A wait of the host is no step of the stream.
        if let Op::WaitForStream = admission.op {
            let clock = self.actors[actor].clock.clone();
            self.pending
                .insert(admission.ticket, Pending::Stream(actor, clock));
            return found;
        }
        let at = self.step(actor);
        if actor != HOST {
            self.queued.insert(admission.ticket, place);
            let host = std::mem::take(&mut self.actors[HOST].clock);
            join(&mut self.actors[actor].clock, &host);
            self.actors[HOST].clock = host;
            // What the host does from now on comes after this.
            self.step(HOST);
        }
        let access = Access {
            actor,
            at,
            ticket: admission.ticket,
            place,
            verb: verb(&admission.op),
            program: 0,
        };
        match &admission.op {
            Op::Allocate { span, device } => self.allocate(admission, *span, *device, &access),
            Op::Free { span, .. } => {
                self.free(*span, &access, admission.stream, admission.call, &mut found)
            }
            Op::Copy {
                to,
                from,
                direction,
            } => {
                self.touch(*from, false, true, &access, &mut found);
                self.watch(admission, *to, *from, direction, place, memory, poison);
                self.touch(*to, true, false, &access, &mut found);
            }
            Op::CopyRows { to, from, .. } => {
                from.iter()
                    .for_each(|row| self.touch(row, false, true, &access, &mut found));
                to.iter()
                    .for_each(|row| self.touch(row, true, false, &access, &mut found));
            }
            Op::CopyBatch { pieces, .. } => {
                for (_, from) in *pieces {
                    self.touch(*from, false, true, &access, &mut found);
                }
                for (to, _) in *pieces {
                    self.touch(*to, true, false, &access, &mut found);
                }
            }
            Op::Fill { to } => self.touch(*to, true, false, &access, &mut found),
            Op::Launch {
                name,
                reads,
                writes,
            } => {
                let kernel = admission.call.starts_with("aclrtLaunch");
                let access = Access {
                    program: super::report::hash(name).max(1),
                    ..access
                };
                for span in *reads {
                    self.touch(*span, false, !kernel, &access, &mut found);
                }
                for span in *writes {
                    // A kernel that says nothing of a pointer may only read there.
                    if kernel && reads.contains(span) {
                        self.mark_written(*span);
                    } else {
                        self.touch(*span, true, false, &access, &mut found);
                    }
                }
            }
            Op::Record { event, record } => {
                let clock = self.actors[actor].clock.clone();
                let recorded = self.events.entry(*event).or_default();
                recorded.record = *record;
                join(&mut recorded.all, &clock);
                recorded.newest = clock;
            }
            Op::Wait { event, record } => match self.events.get(event) {
                Some(recorded) => {
                    let clock = match record {
                        0 => recorded.all.clone(),
                        _ => recorded.newest.clone(),
                    };
                    join(&mut self.actors[actor].clock, &clock);
                }
                None => self.actors[actor].blind = true,
            },
            Op::WriteValue { to, .. } => {
                let clock = self.actors[actor].clock.clone();
                join(self.words.entry(to.address()).or_default(), &clock);
                self.mark_written(*to);
            }
            Op::WaitValue { at, .. } => match self.words.get(&at.address()) {
                Some(clock) => {
                    let clock = clock.clone();
                    join(&mut self.actors[actor].clock, &clock);
                }
                None => self.actors[actor].blind = true,
            },
            Op::Callback { .. } => {
                self.callbacks += 1;
                let clock = self.actors[actor].clock.clone();
                self.pending
                    .insert(admission.ticket, Pending::Callback(clock));
            }
            Op::WaitForEvent { event, .. } => {
                self.pending
                    .insert(admission.ticket, Pending::Event(*event));
            }
            Op::WaitForContext => {
                self.pending
                    .insert(admission.ticket, Pending::Device(admission.device));
            }
            Op::ResetEvent { .. } | Op::WaitForStream => {}
            // An operation that this does not know may do anything: nothing is concluded from it.
            _ => {}
        }
        found
    }

    pub(super) fn watches_bytes(&self, ticket: u64) -> bool {
        self.watched.contains_key(&ticket)
    }

    pub(super) fn reported(
        &mut self,
        ticket: u64,
        phase: &Phase,
        memory: Option<&dyn Memory>,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        if !matches!(phase, Phase::Started)
            && let Some(place) = self.queued.remove(&ticket)
            && let Phase::Failed(error) = phase
        {
            self.failed = Some(super::Failed {
                ticket,
                place,
                sentence: error.sentence().to_owned(),
            });
        }
        if let Some(watched) = self.watched.remove(&ticket)
            && let (Phase::Started, Some(memory)) = (phase, memory)
        {
            let mut now = vec![0; watched.bytes.len()];
            sample(memory, watched.span, &mut now);
            if now != watched.bytes {
                found.extend(self.overwritten(&watched, &now));
            }
        }
        if let Some(Pending::Callback(_)) = self.pending.get(&ticket) {
            // The function begins now, behind everything before it; whoever it tells knows as much.
            if let Some(Pending::Callback(clock)) = self.pending.remove(&ticket) {
                self.callbacks = self.callbacks.saturating_sub(1);
                self.host_takes(&clock);
            }
            return found;
        }
        match phase {
            Phase::Started => {}
            Phase::Failed(_) => {
                self.pending.remove(&ticket);
            }
            Phase::Finished => match self.pending.remove(&ticket) {
                Some(Pending::Stream(actor, clock)) => {
                    self.host_takes(&clock);
                    self.actors[actor].blind = false;
                }
                Some(Pending::Event(event)) => self.host_knows_event(event),
                Some(Pending::Device(device)) => {
                    for index in 1..self.actors.len() {
                        if self.actors[index].device == device {
                            let clock = self.actors[index].clock.clone();
                            self.actors[index].blind = false;
                            self.host_takes(&clock);
                        }
                    }
                }
                Some(Pending::Callback(_)) | None => {}
            },
        }
        found
    }

    pub(super) fn host_knows_stream(&mut self, stream: u32) {
        if let Some(&actor) = self.streams.get(&stream) {
            let clock = self.actors[actor].clock.clone();
            self.actors[actor].blind = false;
            self.host_takes(&clock);
        }
    }

    pub(super) fn event_ended(&mut self, event: u64) {
        self.events.remove(&event);
    }

    pub(super) fn host_knows_event(&mut self, event: u64) {
        if let Some(recorded) = self.events.get(&event) {
            let clock = recorded.newest.clone();
            self.host_takes(&clock);
        }
    }

    pub(super) fn host_knows_all(&mut self) {
        for index in 1..self.actors.len() {
            let clock = self.actors[index].clock.clone();
            self.actors[index].blind = false;
            self.host_takes(&clock);
        }
    }

    pub(super) fn is_pending(&self, stream: u32) -> bool {
        self.streams.get(&stream).is_some_and(|&actor| {
            let done = self.actors[HOST].clock.get(actor).copied().unwrap_or(0);
            let last = self.actors[actor].clock.get(actor).copied().unwrap_or(0);
            done < last
        })
    }

    fn region(&self, address: usize) -> Option<&Region> {
        let (_, region) = self.regions.range(..=address).next_back()?;
        let allocation = &region.allocation;
        (address < allocation.start + allocation.bytes).then_some(region)
    }

    pub(super) fn allocation(&self, address: usize) -> Option<Allocation> {
        self.region(address).map(|region| region.allocation.clone())
    }

    pub(super) fn freed(&self, address: usize) -> Option<(Allocation, Place)> {
        let inside = |(freed, _): &&(Allocation, Place)| {
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
            made: access.place,
        };
        let pool = admission.stream.is_some();
        let mut region = Region {
            allocation,
            pool,
            tracked: device.is_some()
                && !pool
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
                        verb: "allocates",
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
        stream: Option<u32>,
        call: &str,
        found: &mut Vec<Finding>,
    ) {
        let Some(region) = self.regions.remove(&span.address()) else {
            return;
        };
        let clock = &self.actors[access.actor].clock;
        let waits = WAITING_FREES.iter().any(|name| call.starts_with(name));
        let open = region
            .cells
            .values()
            .flat_map(|cell| cell.reads.iter().chain(&cell.write))
            .find(|earlier| !waits && !knows(clock, earlier));
        if let Some(earlier) = open {
            let rule = match (region.pool, region.allocation.device) {
                (true, _) => "JMR-SYNC-009",
                (_, Some(_)) => "JMR-SYNC-007",
                (_, None) => "JMR-SYNC-008",
            };
            let by = match stream {
                Some(stream) => format!("stream#{stream} frees"),
                None => "the host frees".to_owned(),
            };
            found.push(
                Finding {
                    lines: vec![super::Line {
                        label: "now",
                        place: access.place,
                        text: format!("{by} {}", region.allocation.name()),
                    }],
                    ..Finding::now(rule, "")
                }
                .and(
                    "earlier",
                    earlier.place,
                    format!(
                        "task {} on stream#{} {} {}",
                        earlier.ticket,
                        self.actors[earlier.actor].stream,
                        earlier.verb,
                        region.allocation.name()
                    ),
                )
                .and("made", region.allocation.made, region.allocation.name())
                .missing(format!(
                    "a synchronise of stream#{} between the two",
                    self.actors[earlier.actor].stream
                )),
            );
        }
        self.freed.push_back((region.allocation, access.place));
        if self.freed.len() > MOST_FREED {
            self.freed.pop_front();
        }
    }

    fn mark_written(&mut self, span: Span) {
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
            cell.written = true;
        }
    }

    /// Notes an access, and finds what it is in no order with.
    fn touch(
        &mut self,
        span: Span,
        writes: bool,
        needs_bytes: bool,
        access: &Access,
        found: &mut Vec<Finding>,
    ) {
        if span.bytes() == 0 {
            return;
        }
        if self.actors[access.actor].blind {
            if writes {
                self.mark_written(span);
            }
            return;
        }
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
        let clock = &self.actors[access.actor].clock;
        let mut first: Option<(Access, bool, usize, usize)> = None;
        let mut unwritten: Option<(usize, usize)> = None;
        for (&from, cell) in region.cells.range_mut(span.address()..end) {
            if needs_bytes && !cell.written {
                let entry = unwritten.get_or_insert((from, cell.end));
                entry.1 = cell.end;
            }
            let open = |earlier: &&Access| !knows(clock, earlier);
            let write = cell.write.as_ref().filter(open).map(|a| (*a, true));
            let other = match writes {
                true => write.or(cell.reads.iter().find(open).map(|a| (*a, false))),
                false => write,
            };
            if first.is_none()
                && let Some((earlier, wrote)) = other
            {
                first = Some((earlier, wrote, from, cell.end));
            }
            if writes {
                cell.written = true;
                cell.write = Some(*access);
                cell.reads.clear();
            } else {
                match cell.reads.iter_mut().find(|a| a.actor == access.actor) {
                    Some(read) => *read = *access,
                    None => cell.reads.push(*access),
                }
            }
        }
        if writes {
            // One history from now on.
            let mut cells = region
                .cells
                .extract_if(span.address()..end, |_, _| true)
                .map(|(_, cell)| cell);
            let merged = cells.next().map(|cell| Cell { end, ..cell });
            drop(cells);
            if let Some(cell) = merged {
                region.cells.insert(span.address(), cell);
            }
        }
        let allocation = region.allocation.clone();
        let (pool, tracked) = (region.pool, region.tracked);
        if let Some((earlier, wrote, from, to)) = first {
            found.push(self.race(&allocation, pool, access, writes, &earlier, wrote, from, to));
        }
        if let (Some((from, to)), true) = (unwritten, tracked) {
            let offset = from - allocation.start;
            found.push(
                self.line(
                    "JMR-MEM-009",
                    access,
                    format!(
                        "task {} reads bytes {offset} to {} of {}, which nobody wrote",
                        access.ticket,
                        to - allocation.start - 1,
                        allocation.name()
                    ),
                )
                .and(
                    "made",
                    allocation.made,
                    format!("{} of {} bytes", allocation.name(), allocation.asked),
                ),
            );
        }
    }

    fn line(&self, rule: &'static str, access: &Access, text: String) -> Finding {
        Finding {
            rule,
            lines: vec![super::Line {
                label: "now",
                place: access.place,
                text,
            }],
            missing: None,
            fix: None,
        }
    }

    fn who(&self, access: &Access) -> String {
        match access.actor {
            HOST => "the host".to_owned(),
            actor => format!(
                "task {} on stream#{}",
                access.ticket, self.actors[actor].stream
            ),
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "two accesses and where they meet"
    )]
    fn race(
        &self,
        allocation: &Allocation,
        pool: bool,
        now: &Access,
        writes: bool,
        earlier: &Access,
        wrote: bool,
        from: usize,
        to: usize,
    ) -> Finding {
        let rule = match (now.actor, earlier.actor, writes, wrote) {
            _ if pool => "JMR-SYNC-009",
            (HOST, _, false, _) if earlier.program != 0 => "JMR-SYNC-023",
            (HOST, _, false, _) => "JMR-SYNC-005",
            (HOST, _, true, _) if earlier.program != 0 => "JMR-SYNC-024",
            (HOST, _, true, _) => "JMR-SYNC-006",
            (_, _, true, true) if now.program != 0 && now.program == earlier.program => {
                "JMR-MODEL-010"
            }
            (_, _, true, true) => "JMR-SYNC-001",
            _ => "JMR-SYNC-002",
        };
        let does = |writes: bool| if writes { "writes" } else { "reads" };
        let range = format!(
            "{} +{}..{}",
            allocation.name(),
            from - allocation.start,
            to - allocation.start
        );
        let stream = self.actors[earlier.actor].stream;
        let missing = match now.actor {
            HOST => format!(
                "a synchronise of stream#{stream} before this call, or the call's asynchronous form on stream#{stream}"
            ),
            actor => format!(
                "record an event on stream#{stream} after task {}, and let stream#{} wait for it before task {}",
                earlier.ticket, self.actors[actor].stream, now.ticket
            ),
        };
        self.line(
            rule,
            now,
            format!("{} {} {range}", self.who(now), does(writes)),
        )
        .and(
            "earlier",
            earlier.place,
            format!("{} {} {range}", self.who(earlier), does(wrote)),
        )
        .and("made", allocation.made, allocation.name())
        .missing(missing)
    }

    /// Keeps what a copy from pinned memory is going to read, and overwrites the target of a copy to pinned memory.
    #[expect(clippy::too_many_arguments, reason = "one copy, as the gate shows it")]
    fn watch(
        &mut self,
        admission: &Admission<'_>,
        to: Span,
        from: Span,
        direction: &str,
        place: Place,
        memory: Option<&dyn Memory>,
        poison: bool,
    ) {
        let (Some(stream), Some(memory)) = (admission.stream, memory) else {
            return;
        };
        if self.callbacks > 0 {
            return;
        }
        let pinned = |span: Span| {
            self.region(span.address())
                .is_some_and(|region| region.allocation.device.is_none())
        };
        let (from_pinned, to_pinned) = (pinned(from), pinned(to));
        if direction == "host to device" && from_pinned && !self.is_used(from, true) {
            let mut bytes = vec![0; from.bytes().min(2 * COMPARED)];
            sample(memory, from, &mut bytes);
            self.watched.insert(
                admission.ticket,
                Watched {
                    span: from,
                    bytes,
                    place,
                    stream,
                },
            );
        }
        if poison && direction == "device to host" && to_pinned && !self.is_used(to, false) {
            memory.fill(to, POISON);
        }
    }

    /// Tells whether work that the host has not waited for writes (or also reads) a range.
    fn is_used(&self, span: Span, writes_only: bool) -> bool {
        let Some(region) = self.region(span.address()) else {
            return false;
        };
        let host = &self.actors[HOST].clock;
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
                    .any(|access| access.actor != HOST && !knows(host, access))
            })
    }

    fn overwritten(&self, watched: &Watched, now: &[u8]) -> Option<Finding> {
        let at = now.iter().zip(&watched.bytes).position(|(a, b)| a != b)?;
        let region = self.region(watched.span.address())?;
        // A task that writes here was queued meanwhile: that is its own finding, or in order.
        if self.is_used(watched.span, true) {
            return None;
        }
        let allocation = region.allocation.clone();
        let start = watched.span.address() - allocation.start;
        Some(Finding {
            rule: "JMR-SYNC-003",
            lines: vec![
                super::Line {
                    label: "copy",
                    place: watched.place,
                    text: format!(
                        "the copy on stream#{} reads {} +{start}..{}",
                        watched.stream,
                        allocation.name(),
                        start + watched.span.bytes()
                    ),
                },
                super::Line {
                    label: "made",
                    place: allocation.made,
                    text: allocation.name(),
                },
            ],
            missing: Some(format!(
                "the host changed byte {} after the copy was queued and before it ran: wait for stream#{} first, or use \
                 a second buffer",
                start + at.min(watched.span.bytes()),
                watched.stream
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
