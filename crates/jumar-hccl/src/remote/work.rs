//! One operation of one rank, step by step: what it publishes, what it reads from others, when it has ended.
//!
//! A step never waits. It does what is possible now and returns whether anything was done. Data passes through the
//! staging memory of the rank that provides it, in rounds: a piece is published, every reader acknowledges it, and the
//! buffer is used again two rounds later. Sums are formed in rank order, as between threads.

use std::sync::Arc;

use jumar_hal::{Backend, Span, Transfer};
use jumar_types::{Error, Result};

use super::layout::{
    DEPTH, EXPECTED, HEAD_DISPLACED, KEY, KEY_WORDS, NOTHING, PIECE, PUBLISHED, SIGNATURE, SIZES,
    SLOTS, STATE, ack, slot, staging,
};
use super::mesh::Mesh;
use crate::arrival::{Arrival, Channel, Numbers};
use crate::operation::{Collective, Message, Operation, SIGNATURE_WORDS};
use crate::protocol::{open_slot, read_slot};
use crate::reduce::reduce;
use crate::words::Label;
use crate::{DataType, Kind, Reduction};

/// Up to how many bytes every rank forms the whole result of an AllReduce itself, which saves a round trip.
const DIRECT_BYTES: usize = 32 << 10;
/// From how many bytes on what a rank receives goes past the caches. Several ranks receive as much.
const LONG_BYTES: usize = 4 << 20;
/// The stream of contributions.
const INPUT: usize = 0;
/// The stream of results.
const RESULT: usize = 1;
/// The kind of a transfer between two ranks, beside those of [`Kind`].
const MESSAGE: u64 = 200;

/// What identifies an operation among all ranks.
type Key = [u64; KEY_WORDS];

/// A rank that reads what this one provides.
struct Reader {
    /// Its position among the members.
    member: usize,
    mesh: usize,
    span: Span,
    rounds: usize,
}

/// A rank whose data this one reads.
struct Source {
    member: usize,
    mesh: usize,
    /// The destination of its data; `None` for a reduction, which combines it.
    target: Option<Span>,
    bytes: usize,
    rounds: usize,
    consumed: usize,
    /// How many rounds of results were read.
    results: usize,
    found: Option<Found>,
}

/// The slot of another rank.
#[derive(Clone, Copy)]
struct Found {
    slot: usize,
    generation: u64,
}

/// How the data that was read is used.
enum Use {
    /// It is copied to its target.
    Copy,
    /// Every rank that receives a result forms it by itself.
    Reduce(DataType, Reduction),
    /// Each rank forms a part of the result, and all read it from there.
    ReduceParts(DataType, Reduction),
}

/// The operation of one rank.
pub(super) struct Work {
    label: Label,
    arrival: Arc<Arrival>,
    /// The transfer, if it is one of several.
    message: Option<Message>,
    /// The members of the communicator as ranks of the mesh.
    members: Arc<[u32]>,
    me: usize,
    key: Key,
    signature: [u64; SIGNATURE_WORDS],
    slot: Option<Found>,
    chunk: usize,
    /// Each reader has a part of a piece for itself.
    separate: bool,
    /// What is copied to targets is too long for the caches.
    is_long: bool,
    readers: Vec<Reader>,
    rounds: usize,
    published: usize,
    sources: Vec<Source>,
    using: Use,
    /// This rank's own contribution to a reduction, and its result.
    own: Option<Span>,
    output: Option<Span>,
    /// How many rounds were combined.
    combined: usize,
    own_copied: bool,
}

/// What a step came to.
pub(super) struct Step {
    pub(super) progressed: bool,
    pub(super) done: bool,
}

fn is_separate(kind: Kind) -> bool {
    match kind {
        Kind::ReduceScatter
        | Kind::ReduceScatterV
        | Kind::Scatter
        | Kind::AllToAll
        | Kind::AllToAllV
        | Kind::AllToAllVC => true,
        Kind::AllReduce
        | Kind::Reduce
        | Kind::Broadcast
        | Kind::AllGather
        | Kind::AllGatherV
        | Kind::Barrier => false,
    }
}

fn rounds(bytes: usize, chunk: usize) -> usize {
    // Without data there is one round all the same: it says that the rank has come.
    bytes.div_ceil(chunk).max(1)
}

/// The part of a round in a range.
fn part(span: Span, chunk: usize, round: usize) -> Span {
    let at = (chunk * round).min(span.bytes());
    let next = chunk.min(span.bytes() - at);
    span.part(at, next).unwrap_or(Span::EMPTY)
}

fn channel_word(channel: Channel, epoch: u32) -> u64 {
    let channel = match channel {
        Channel::Calls => 0,
        Channel::Graphs => 1,
    };
    channel | u64::from(epoch) << 8
}

impl Work {
    /// Creates the work of a collective.
    pub(super) fn collective(
        label: Label,
        arrival: &Arc<Arrival>,
        own: &Collective,
        (members, me): (&Arc<[u32]>, usize),
        (tag, epoch): (u64, u32),
    ) -> Work {
        let signature = own.signature;
        let count = members.len();
        let separate = is_separate(signature.kind);
        let chunk = match separate {
            true => (PIECE / count) & !63,
            false => PIECE,
        };
        let others = || (0..count).filter(|member| *member != me);
        let readers: Vec<Reader> = others()
            .filter_map(|member| {
                own.send.get(member).map(|span| Reader {
                    member,
                    mesh: members[member] as usize,
                    span,
                    rounds: rounds(span.bytes(), chunk),
                })
            })
            .collect();
        let output = own.receive.get(me);
        let source = |member: usize, target: Option<Span>, bytes: usize| Source {
            member,
            mesh: members[member] as usize,
            target,
            bytes,
            rounds: rounds(bytes, chunk),
            consumed: 0,
            results: 0,
            found: None,
        };
        let (sources, using) = match signature.reduction {
            Some(by) if signature.kind.reduces() => {
                let of = signature.data_type;
                let bytes = output.map_or(0, Span::bytes);
                let sources = match output {
                    Some(_) => others().map(|member| source(member, None, bytes)).collect(),
                    None => Vec::new(),
                };
                let parts = signature.kind == Kind::AllReduce && bytes > DIRECT_BYTES;
                let using = match parts {
                    true => Use::ReduceParts(of, by),
                    false => Use::Reduce(of, by),
                };
                (sources, using)
            }
            _ => {
                let sources = others().filter_map(|member| {
                    let target = own.receive.get(member)?;
                    Some(source(member, Some(target), target.bytes()))
                });
                (sources.collect(), Use::Copy)
            }
        };
        let longest = readers.iter().map(|reader| reader.rounds).max();
        let received: usize = sources.iter().map(|source: &Source| source.bytes).sum();
        Work {
            label,
            arrival: arrival.clone(),
            message: None,
            members: members.clone(),
            me,
            key: [
                tag,
                channel_word(arrival.channel, epoch),
                arrival.number(),
                0,
            ],
            signature: signature.to_words(),
            slot: None,
            chunk,
            separate,
            is_long: received >= LONG_BYTES,
            rounds: longest.unwrap_or(0),
            readers,
            published: 0,
            sources,
            using,
            own: own.send.get(me),
            output,
            combined: 0,
            own_copied: signature.kind.reduces(),
        }
    }

    /// Creates the work of one transfer to or from another rank.
    pub(super) fn message(
        label: Label,
        arrival: &Arc<Arrival>,
        index: usize,
        message: Message,
        (members, me): (&Arc<[u32]>, usize),
        (tag, epoch): (u64, u32),
    ) -> Work {
        let peer = message.peer as usize;
        let mesh = members[peer] as usize;
        let (from, to) = match message.sends {
            true => (me, peer),
            false => (peer, me),
        };
        let number = match &arrival.numbers {
            Numbers::Messages(numbers) => numbers[index],
            Numbers::Collective(number) => *number,
        };
        let bytes = message.span.bytes();
        let rounds = rounds(bytes, PIECE);
        let reader = Reader {
            member: peer,
            mesh,
            span: message.span,
            rounds,
        };
        let source = Source {
            member: peer,
            mesh,
            target: Some(message.span),
            bytes,
            rounds,
            consumed: 0,
            results: 0,
            found: None,
        };
        // Both ends have a slot, and each compares the other's.
        let (readers, sources) = match message.sends {
            true => (vec![reader], Vec::new()),
            false => (Vec::new(), vec![source]),
        };
        let route = (from as u64) << 32 | to as u64 | 1 << 63;
        Work {
            label,
            arrival: arrival.clone(),
            message: Some(message),
            members: members.clone(),
            me,
            key: [tag, channel_word(arrival.channel, epoch), number, route],
            signature: [
                MESSAGE | (message.data_type as u64) << 8,
                0,
                message.count,
                0,
            ],
            slot: None,
            chunk: PIECE,
            separate: false,
            is_long: bytes >= LONG_BYTES,
            rounds: if message.sends { rounds } else { 0 },
            readers,
            published: 0,
            sources,
            using: Use::Copy,
            own: None,
            output: None,
            combined: 0,
            own_copied: true,
        }
    }

    pub(super) fn arrival(&self) -> &Arc<Arrival> {
        &self.arrival
    }

    /// Returns the communicator's tag.
    pub(super) fn tag(&self) -> u64 {
        self.key[0]
    }

    /// Lists the ranks of the mesh that take part, without this one.
    pub(super) fn involved(&self) -> Vec<usize> {
        match &self.message {
            Some(message) => vec![self.members[message.peer as usize] as usize],
            None => {
                let others = self.members.iter().enumerate();
                let others = others.filter(|(member, _)| *member != self.me);
                others.map(|(_, rank)| *rank as usize).collect()
            }
        }
    }

    /// Describes a failure for a member that is gone.
    pub(super) fn lost(&self, member: usize, why: &str) -> Error {
        self.label
            .lost(&*self.arrival.operation, self.key[2], member as u32, why)
    }

    /// Describes that members did not come in time.
    pub(super) fn timeout(&self, mesh: &Mesh, seconds: f64) -> Error {
        let awaited: Vec<(usize, usize)> = self.awaited(mesh).collect();
        // Those that have come wait themselves, for the ones that have not.
        let absent = |(_, rank): &&(usize, usize)| find_slot(mesh, *rank, &self.key).is_none();
        let mut missing: Vec<u32> = awaited
            .iter()
            .filter(absent)
            .map(|(member, _)| *member as u32)
            .collect();
        if missing.is_empty() {
            missing = awaited.iter().map(|(member, _)| *member as u32).collect();
        }
        self.label
            .timeout(&*self.arrival.operation, self.key[2], &missing, seconds)
    }

    /// Reports whether all that a source provides is in its staging memory, where it stays even if the rank goes.
    fn has_provided(&self, mesh: &Mesh, source: &Source) -> bool {
        let Some(found) = source.found else {
            return false;
        };
        let streams = match self.using {
            Use::ReduceParts(..) => [INPUT, RESULT].as_slice(),
            Use::Copy | Use::Reduce(..) => &[INPUT],
        };
        streams.iter().all(|stream| {
            let word = slot(found.slot) + PUBLISHED + stream;
            mesh.peer_word(source.mesh, word) >= source.rounds as u64
        })
    }

    /// Lists the members that the operation waits for, with their ranks in the mesh.
    pub(super) fn awaited<'a>(
        &'a self,
        mesh: &'a Mesh,
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let parts = matches!(self.using, Use::ReduceParts(..));
        let sources = self.sources.iter().filter(move |source| {
            let unread =
                source.consumed < source.rounds || (parts && source.results < source.rounds);
            unread && !self.has_provided(mesh, source)
        });
        let sources = sources.map(|source| (source.member, source.mesh));
        let readers = self.readers.iter().filter(|reader| {
            let read = self.slot.map_or(0, |own| {
                mesh.acknowledged(reader.mesh, own.slot, own.generation, INPUT)
            });
            read < reader.rounds
        });
        let readers = readers.map(|reader| (reader.member, reader.mesh));
        let mut all: Vec<(usize, usize)> = sources.chain(readers).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter()
    }

    /// Does what is possible now.
    pub(super) fn step(&mut self, mesh: &Mesh) -> Result<Step> {
        let mut progressed = false;
        let Some(own) = self.slot.or_else(|| self.open(mesh)) else {
            return Ok(Step {
                progressed,
                done: false,
            });
        };
        if self.slot.is_none() {
            self.slot = Some(own);
            progressed = true;
        }
        self.find(mesh)?;
        if !self.own_copied {
            self.copy_own(mesh.backend())?;
            self.own_copied = true;
        }
        progressed |= self.publish(mesh, own);
        progressed |= match self.using {
            Use::Copy => self.copy(mesh),
            Use::Reduce(of, by) => self.combine(mesh, of, by),
            Use::ReduceParts(of, by) => self.combine_parts(mesh, own, of, by),
        };
        let done = self.is_done(mesh, own);
        if done {
            self.slot = None;
            mesh.close_slot_once_read(self.left_behind(own));
        }
        Ok(Step { progressed, done })
    }

    /// Ends the work before its time.
    pub(super) fn abandon(&mut self, mesh: &Mesh) {
        if let Some(own) = self.slot.take() {
            mesh.close_slot(own.slot, own.generation);
        }
    }

    fn open(&self, mesh: &Mesh) -> Option<Found> {
        let (index, generation) = mesh.take_slot(usual_slot(&self.key))?;
        let segment = mesh.segment();
        let base = slot(index);
        if index != usual_slot(&self.key) {
            segment.add(HEAD_DISPLACED, 1);
        }
        open_slot(segment, base + STATE, generation, || {
            for (at, word) in self.key.iter().enumerate() {
                segment.store(base + KEY + at, *word);
            }
            for (at, word) in self.signature.iter().enumerate() {
                segment.store(base + SIGNATURE + at, *word);
            }
            for stream in [INPUT, RESULT] {
                segment.store(base + PUBLISHED + stream, 0);
            }
            for reader in &self.readers {
                segment.store(base + SIZES + reader.mesh, reader.span.bytes() as u64);
            }
            for rank in &*self.members {
                segment.store(base + EXPECTED + *rank as usize, NOTHING);
            }
            for source in &self.sources {
                segment.store(base + EXPECTED + source.mesh, source.bytes as u64);
            }
        });
        Some(Found {
            slot: index,
            generation,
        })
    }

    /// Looks for the slots of the others, and compares what they called.
    fn find(&mut self, mesh: &Mesh) -> Result<()> {
        let involved: Vec<usize> = match &self.message {
            Some(message) => vec![message.peer as usize],
            None => (0..self.members.len())
                .filter(|at| *at != self.me)
                .collect(),
        };
        for member in involved {
            let rank = self.members[member] as usize;
            let at = self
                .sources
                .iter()
                .position(|source| source.member == member);
            if at.is_some_and(|at| self.sources[at].found.is_some()) {
                continue;
            }
            let Some((found, signature)) = find_slot(mesh, rank, &self.key) else {
                continue;
            };
            if signature != self.signature {
                let own = (
                    self.me as u32,
                    self.message.as_ref(),
                    &*self.arrival.operation,
                );
                return Err(self
                    .label
                    .disagreement(self.key[2], own, member as u32, signature));
            }
            let Some(at) = at else { continue };
            // Both ends find a difference: this rank could have ended the operation before the other one compares. The slot of a rank
            // that this one reads from stays until it has.
            let expected = mesh.peer_word(rank, slot(found.slot) + EXPECTED + mesh.rank());
            let reader = self.readers.iter().find(|reader| reader.member == member);
            if let Some(reader) = reader
                && expected != NOTHING
                && expected != reader.span.bytes() as u64
            {
                return Err(self.label.unequal_parts(
                    self.arrival.operation.name(),
                    self.me as u32,
                    reader.span.bytes() as u64,
                    member as u32,
                    expected,
                ));
            }
            let sent = mesh.peer_word(rank, slot(found.slot) + SIZES + mesh.rank());
            if sent != self.sources[at].bytes as u64 {
                return Err(self.label.unequal_parts(
                    self.arrival.operation.name(),
                    member as u32,
                    sent,
                    self.me as u32,
                    self.sources[at].bytes as u64,
                ));
            }
            self.sources[at].found = Some(found);
        }
        Ok(())
    }

    fn copy_own(&self, backend: &Arc<dyn Backend>) -> Result<()> {
        let Operation::Collective(own) = &*self.arrival.operation else {
            return Ok(());
        };
        let (sent, kept) = (own.send.get(self.me), own.receive.get(self.me));
        let bytes = |span: Option<Span>| span.map_or(0, Span::bytes);
        if bytes(sent) != bytes(kept) {
            let me = self.me as u32;
            let (sent, kept) = (bytes(sent) as u64, bytes(kept) as u64);
            let what = self.arrival.operation.name();
            return Err(self.label.unequal_parts(what, me, sent, me, kept));
        }
        if let (Some(sent), Some(kept)) = (sent, kept) {
            self.copy_to_target(backend, kept, sent);
        }
        Ok(())
    }

    fn copy_to_target(&self, backend: &Arc<dyn Backend>, to: Span, from: Span) {
        match Transfer::new(to, from) {
            Some(transfer) if self.is_long && !transfer.overlaps() => {
                backend.copy_past_caches_now(transfer);
            }
            _ => copy(backend, to, from),
        }
    }

    fn publish(&mut self, mesh: &Mesh, own: Found) -> bool {
        let before = self.published;
        while self.published < self.rounds {
            let round = self.published;
            let free = self.readers.iter().all(|reader| {
                let required = (round + 1).saturating_sub(DEPTH).min(reader.rounds);
                required == 0
                    || mesh.acknowledged(reader.mesh, own.slot, own.generation, INPUT) >= required
            });
            if !free {
                break;
            }
            let start = staging(own.slot, INPUT, round);
            let written = match self.separate {
                true => self.readers.len(),
                false => self.readers.len().min(1),
            };
            for reader in &self.readers[..written] {
                let from = part(reader.span, self.chunk, round);
                let offset = match self.separate {
                    true => reader.member * self.chunk,
                    false => 0,
                };
                if let Some(to) = mesh.segment().span(start + offset, from.bytes()) {
                    copy(mesh.backend(), to, from);
                }
            }
            self.published += 1;
            let word = slot(own.slot) + PUBLISHED + INPUT;
            mesh.segment().store(word, self.published as u64);
        }
        self.published > before
    }

    /// Returns a part of what a source has published, if it has published the round.
    fn staged(
        &self,
        mesh: &Mesh,
        source: &Source,
        stream: usize,
        round: usize,
        (offset, bytes): (usize, usize),
    ) -> Option<Span> {
        let found = source.found?;
        let word = slot(found.slot) + PUBLISHED + stream;
        if mesh.peer_word(source.mesh, word) <= round as u64 {
            return None;
        }
        let start = staging(found.slot, stream, round);
        mesh.peer_span(source.mesh, start + offset, bytes)
    }

    /// Where this rank's part begins in a piece of another rank.
    fn offset(&self) -> usize {
        match self.separate {
            true => self.me * self.chunk,
            false => 0,
        }
    }

    fn acknowledge(mesh: &Mesh, source: &Source, stream: usize, count: usize) {
        if let Some(found) = source.found {
            mesh.acknowledge(source.mesh, found.slot, found.generation, stream, count);
        }
    }

    fn copy(&mut self, mesh: &Mesh) -> bool {
        let mut progressed = false;
        for at in 0..self.sources.len() {
            loop {
                let source = &self.sources[at];
                let round = source.consumed;
                let Some(target) = source.target.filter(|_| round < source.rounds) else {
                    break;
                };
                let to = part(target, self.chunk, round);
                let extent = (self.offset(), to.bytes());
                let Some(from) = self.staged(mesh, source, INPUT, round, extent) else {
                    break;
                };
                self.copy_to_target(mesh.backend(), to, from);
                Self::acknowledge(mesh, source, INPUT, round + 1);
                self.sources[at].consumed += 1;
                progressed = true;
            }
        }
        progressed
    }

    /// Returns the contributions of all ranks to a part of a round, in rank order, if all are there.
    fn contributions(
        &self,
        mesh: &Mesh,
        round: usize,
        (offset, at, bytes): (usize, usize, usize),
    ) -> Option<Vec<Span>> {
        let own = part(self.own?, self.chunk, round).part(at, bytes)?;
        let mut inputs = Vec::with_capacity(self.sources.len() + 1);
        for source in &self.sources {
            if source.member > self.me && inputs.len() == self.me {
                inputs.push(own);
            }
            inputs.push(self.staged(mesh, source, INPUT, round, (offset + at, bytes))?);
        }
        if inputs.len() == self.me {
            inputs.push(own);
        }
        Some(inputs)
    }

    fn acknowledge_round(&mut self, mesh: &Mesh, round: usize) {
        for source in &mut self.sources {
            Self::acknowledge(mesh, source, INPUT, round + 1);
            source.consumed = round + 1;
        }
    }

    fn combine(&mut self, mesh: &Mesh, of: DataType, by: Reduction) -> bool {
        let Some(output) = self.output else {
            return false;
        };
        let before = self.combined;
        while self.combined < rounds(output.bytes(), self.chunk) {
            let round = self.combined;
            let to = part(output, self.chunk, round);
            let extent = (self.offset(), 0, to.bytes());
            let Some(inputs) = self.contributions(mesh, round, extent) else {
                break;
            };
            reduce(&**mesh.backend(), &inputs, &[to], of, by);
            self.acknowledge_round(mesh, round);
            self.combined += 1;
        }
        self.combined > before
    }

    /// Returns where the part of the result that a member forms begins in a round, and its length.
    fn share(&self, member: usize, bytes: usize, of: DataType) -> (usize, usize) {
        let elements = bytes / of.bytes();
        let start = |member: usize| elements * member / self.members.len() * of.bytes();
        (start(member), start(member + 1) - start(member))
    }

    fn combine_parts(&mut self, mesh: &Mesh, own: Found, of: DataType, by: Reduction) -> bool {
        let Some(output) = self.output else {
            return false;
        };
        let total = rounds(output.bytes(), self.chunk);
        let mut progressed = false;
        while self.combined < total {
            let round = self.combined;
            let free = round < DEPTH
                || self.sources.iter().all(|source| {
                    let read = mesh.acknowledged(source.mesh, own.slot, own.generation, RESULT);
                    read + DEPTH > round
                });
            let piece = part(output, self.chunk, round);
            let (at, bytes) = self.share(self.me, piece.bytes(), of);
            let inputs = match free {
                true => self.contributions(mesh, round, (0, at, bytes)),
                false => None,
            };
            let Some(inputs) = inputs else { break };
            let start = staging(own.slot, RESULT, round);
            let results = [mesh.segment().span(start, bytes), piece.part(at, bytes)];
            let results: Vec<Span> = results.into_iter().flatten().collect();
            reduce(&**mesh.backend(), &inputs, &results, of, by);
            self.acknowledge_round(mesh, round);
            self.combined += 1;
            let word = slot(own.slot) + PUBLISHED + RESULT;
            mesh.segment().store(word, self.combined as u64);
            progressed = true;
        }
        for index in 0..self.sources.len() {
            loop {
                let source = &self.sources[index];
                let round = source.results;
                if round >= total {
                    break;
                }
                let piece = part(output, self.chunk, round);
                let (at, bytes) = self.share(source.member, piece.bytes(), of);
                let Some(from) = self.staged(mesh, source, RESULT, round, (0, bytes)) else {
                    break;
                };
                if let Some(to) = piece.part(at, bytes) {
                    copy(mesh.backend(), to, from);
                }
                Self::acknowledge(mesh, source, RESULT, round + 1);
                self.sources[index].results += 1;
                progressed = true;
            }
        }
        progressed
    }

    /// Reports whether this rank has what it is to have, and all that it provides is in staging memory.
    ///
    /// Ranks that this one reads nothing from must have read what it provides: it has to know that they have come.
    fn is_done(&self, mesh: &Mesh, own: Found) -> bool {
        let parts = matches!(self.using, Use::ReduceParts(..));
        let read = self.sources.iter().all(|source| {
            source.consumed >= source.rounds && (!parts || source.results >= source.rounds)
        });
        let is_source = |member| self.sources.iter().any(|source| source.member == member);
        read && self.published >= self.rounds
            && self.readers.iter().all(|reader| {
                is_source(reader.member)
                    || mesh.acknowledged(reader.mesh, own.slot, own.generation, INPUT)
                        >= reader.rounds
            })
    }

    /// Lists what other ranks are still to read from this one.
    fn left_behind(&self, own: Found) -> LeftBehind {
        let inputs = self.readers.iter().map(|reader| Unread {
            reader: reader.mesh,
            stream: INPUT,
            rounds: reader.rounds,
        });
        let results = match self.using {
            Use::ReduceParts(..) => self.sources.as_slice(),
            Use::Copy | Use::Reduce(..) => &[],
        };
        let results = results.iter().map(|source| Unread {
            reader: source.mesh,
            stream: RESULT,
            rounds: source.rounds,
        });
        LeftBehind {
            slot: own.slot,
            generation: own.generation,
            unread: inputs.chain(results).collect(),
        }
    }
}

/// The slot of an operation that has ended for its rank. It is free once all others have read it.
pub(super) struct LeftBehind {
    pub(super) slot: usize,
    pub(super) generation: u64,
    unread: Vec<Unread>,
}

/// What a rank is still to read.
struct Unread {
    reader: usize,
    stream: usize,
    rounds: usize,
}

impl LeftBehind {
    /// Reports whether all that is to read the slot has read it.
    pub(super) fn is_read(&self, mesh: &Mesh) -> bool {
        self.unread.iter().all(|unread| {
            let Unread {
                reader,
                stream,
                rounds,
            } = *unread;
            mesh.acknowledged(reader, self.slot, self.generation, stream) >= rounds
                || mesh.is_lost(reader)
        })
    }
}

/// Returns the slot in which an operation is if that slot is free: others look there first. Two take turns, so that staging memory
/// stays in the caches: when a rank has ended an operation, all others have read the one before.
fn usual_slot(key: &Key) -> usize {
    key[2] as usize % 2
}

/// Looks for the operation among the slots of a rank.
fn find_slot(mesh: &Mesh, rank: usize, key: &Key) -> Option<(Found, [u64; SIGNATURE_WORDS])> {
    let load = |index| mesh.peer_word(rank, index);
    let usual = usual_slot(key);
    let others = match load(HEAD_DISPLACED) {
        0 => 1,
        _ => SLOTS,
    };
    (0..others)
        .map(|at| (usual + at) % SLOTS)
        .find_map(|index| {
            let base = slot(index);
            let (generation, signature) = read_slot(load, base + STATE, || {
                let same = (0..KEY_WORDS).all(|at| load(base + KEY + at) == key[at]);
                same.then(|| std::array::from_fn(|at| load(base + SIGNATURE + at)))
            })?;
            let found = Found {
                slot: index,
                generation,
            };
            Some((found, signature))
        })
}

fn copy(backend: &Arc<dyn Backend>, to: Span, from: Span) {
    if to.address() == from.address() || to.is_empty() {
        return;
    }
    if let Some(transfer) = Transfer::new(to, from) {
        backend.copy_now(transfer);
    }
}

const _: () = assert!(ack(super::layout::MOST_RANKS - 1, SLOTS - 1, 1) * 8 < staging(0, 0, 0));
