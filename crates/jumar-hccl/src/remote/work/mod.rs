//! One operation of one rank, step by step: what it publishes, what it reads from others, when it has ended.
//!
//! A step never waits. It does what is possible now and returns whether anything was done. Data passes through the
//! staging memory of the rank that provides it, in rounds: a piece is published, every reader acknowledges it, and the
//! buffer is used again two rounds later. Sums are formed in rank order, as between threads.

mod data;
mod short;
mod slot;

use std::sync::Arc;

use jumar_hal::Span;
use jumar_types::{Error, Result};

use self::short::Short;
pub(super) use self::slot::LeftBehind;
use self::slot::{Found, Key, find_slot, mixed};
use super::layout::{
    DEPTH, PIECE, PUBLISHED, SHORT_BYTES, SIGNATURE, SLOTS, ack, slot as slot_start, staging,
};
use super::mesh::{Access, Mesh};
use crate::arrival::{Arrival, Numbers};
use crate::operation::{Collective, LONG_BYTES, Message, SIGNATURE_WORDS, Signature};
use crate::words::Label;
use crate::{DataType, Kind, Reduction};

/// Up to how many bytes every rank forms the whole result of an AllReduce itself, which saves a round trip.
const DIRECT_BYTES: usize = 32 << 10;
/// How many bytes a rank provides at a time to all readers together. Where each has a part of its own, it is as much as the space allows: the
/// ranks wait for each other in every round.
const COMMON_PIECE: usize = 512 << 10;
/// From how many bytes on a rank reads the memory of another one, if it may. That saves a copy; and the other rank waits for it.
const READ_BYTES: usize = 512 << 10;
/// How many of them it reads at a time.
const READ_PIECE: usize = 4 << 20;
/// The stream of contributions.
const INPUT: usize = 0;
/// The stream of results.
const RESULT: usize = 1;
/// The kind of a transfer between two ranks, beside those of [`Kind`].
const MESSAGE: u64 = 200;

/// A rank that reads what this one provides.
struct Reader {
    /// Its position among the members.
    member: usize,
    mesh: usize,
    span: Span,
    rounds: usize,
    /// Where it reads the memory of this one; `None` if all is copied to staging memory for it.
    position: Option<Position>,
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
    /// Where this rank reads its data, if that is not in staging memory.
    position: Option<Position>,
}

/// Where data is that is not in staging memory.
#[derive(Clone, Copy)]
enum Position {
    /// At an offset in what its rank lends.
    Lent(usize),
    /// At an address in its rank's process.
    Process(u64),
}

impl Position {
    /// Returns the position as its rank states it to the others; never 0.
    fn word(self) -> u64 {
        match self {
            Position::Lent(offset) => offset as u64 + 1,
            Position::Process(address) => address,
        }
    }

    /// Returns the position that another rank stated.
    fn from_word(word: u64, access: Access) -> Option<Position> {
        match (access, word) {
            (_, 0) => None,
            (Access::Lent, word) => Some(Position::Lent(usize::try_from(word - 1).ok()?)),
            (Access::Process, address) => Some(Position::Process(address)),
        }
    }
}

/// How the data that was read is used.
enum DataUse {
    /// It is copied to its target.
    Copy,
    /// Every rank that receives a result forms it by itself.
    Reduce(DataType, Reduction),
    /// Each rank forms a part of the result, and all read it from there.
    ReduceParts(DataType, Reduction),
}

/// What one rank has called.
pub(super) struct Call {
    arrival: Arc<Arrival>,
    /// The transfer, if it is one of several.
    message: Option<Message>,
    /// The members of the communicator as ranks of the mesh.
    members: Arc<[u32]>,
    me: usize,
    key: Key,
    signature: [u64; SIGNATURE_WORDS],
    /// A digest of the signature.
    digest: u64,
}

/// The operation of one rank.
pub(super) struct Work {
    call: Call,
    slot: Option<Found>,
    chunk: usize,
    /// Each reader has a part of a piece for itself.
    separate: bool,
    /// No two ranks read the same data.
    is_exclusive: bool,
    /// What is copied to targets is too long for the caches.
    is_long: bool,
    readers: Vec<Reader>,
    rounds: usize,
    published: usize,
    sources: Vec<Source>,
    using: DataUse,
    /// This rank's own contribution to a reduction, and its result.
    own: Option<Span>,
    output: Option<Span>,
    /// How many rounds were combined.
    combined: usize,
    own_copied: bool,
    /// Others wait until this rank has read what they have put into staging memory, not only for its own data.
    is_read_awaited: bool,
    /// A bit for each rank of the mesh whose memory the last step read to the end.
    read_out: u64,
    /// How much each rank provides follows from the signature.
    has_equal_parts: bool,
    /// Contributions are in the slot itself.
    is_short: bool,
}

/// An operation that runs.
#[expect(
    clippy::large_enum_variant,
    reason = "a short one costs as much as an allocation"
)]
pub(super) enum Running {
    /// The sum of a few bytes, or another reduction of them.
    Short(Short),
    /// Any other one.
    Any(Box<Work>),
}

impl Running {
    /// Creates the work of a collective.
    pub(super) fn collective(
        arrival: &Arc<Arrival>,
        own: &Collective,
        membership: (&Arc<[u32]>, usize),
        key: (u64, u32),
    ) -> Running {
        let call = Call::collective(arrival, &own.signature, membership, key);
        match Short::spans(own) {
            Some(spans) => Running::Short(Short::new(call, spans)),
            None => Running::Any(Box::new(Work::collective(call, own))),
        }
    }

    /// Creates the work of one transfer to or from another rank.
    pub(super) fn message(
        arrival: &Arc<Arrival>,
        index: usize,
        message: Message,
        membership: (&Arc<[u32]>, usize),
        key: (u64, u32),
    ) -> Running {
        let work = Work::message(arrival, index, message, membership, key);
        Running::Any(Box::new(work))
    }

    /// Returns what was called.
    pub(super) fn call(&self) -> &Call {
        match self {
            Running::Short(short) => &short.call,
            Running::Any(work) => &work.call,
        }
    }

    /// Does what is possible now.
    pub(super) fn step(&mut self, mesh: &Mesh) -> Result<Step> {
        match self {
            Running::Short(short) => short.step(mesh),
            Running::Any(work) => work.step(mesh),
        }
    }

    /// Lists the members that are still to provide something or to read something, with their ranks in the mesh.
    pub(super) fn awaited(&self, mesh: &Mesh) -> Vec<(usize, usize)> {
        match self {
            Running::Short(short) => short.missing().collect(),
            Running::Any(work) => work.awaited(mesh),
        }
    }

    /// Returns a bit for each rank of the mesh without which the operation cannot end.
    pub(super) fn needs(&self, mesh: &Mesh) -> u64 {
        match self {
            Running::Short(short) => bits(short.missing().map(|(_, rank)| rank)),
            Running::Any(work) => work.needs(mesh),
        }
    }

    /// Ends the work before its time.
    pub(super) fn abandon(&mut self, mesh: &Mesh) {
        let slot = match self {
            Running::Short(short) => &mut short.slot,
            Running::Any(work) => &mut work.slot,
        };
        if let Some(own) = slot.take() {
            mesh.close_slot(own.slot, own.generation);
        }
    }
}

/// What a step came to.
pub(super) struct Step {
    pub(super) progressed: bool,
    /// It did something that operations of all others may wait for.
    pub(super) concerns_others: bool,
    /// A bit for each rank of the mesh whose memory was read to the end: it waits for that.
    pub(super) read_out: u64,
    pub(super) done: bool,
}

impl Step {
    const NOTHING: Step = Step {
        progressed: false,
        concerns_others: false,
        read_out: 0,
        done: false,
    };
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

/// Reports whether the parts of all ranks follow from the signature.
fn has_equal_parts(signature: &Signature) -> bool {
    match signature.kind {
        Kind::ReduceScatterV | Kind::AllGatherV | Kind::AllToAllV | Kind::AllToAllVC => false,
        // Operators that are joined with a collective mark it with a digest of their shapes.
        Kind::AllReduce
        | Kind::Reduce
        | Kind::ReduceScatter
        | Kind::Broadcast
        | Kind::Scatter
        | Kind::AllGather
        | Kind::AllToAll
        | Kind::Barrier => signature.digest == 0,
    }
}

/// Returns a word with a bit for each rank of a mesh.
fn bits(ranks: impl Iterator<Item = usize>) -> u64 {
    ranks.fold(0, |bits, rank| bits | 1 << rank)
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

impl Call {
    fn collective(
        arrival: &Arc<Arrival>,
        signature: &Signature,
        (members, me): (&Arc<[u32]>, usize),
        (tag, epoch): (u64, u32),
    ) -> Call {
        let signature = signature.to_words();
        Call {
            arrival: arrival.clone(),
            message: None,
            members: members.clone(),
            me,
            key: Key {
                tag,
                identity: mixed([tag, arrival.channel.word(epoch), 0]),
                number: arrival.number(),
            },
            signature,
            digest: mixed(signature),
        }
    }

    fn label(&self) -> &Label {
        self.arrival.label()
    }

    pub(super) fn arrival(&self) -> &Arc<Arrival> {
        &self.arrival
    }

    /// Returns the communicator's tag.
    pub(super) fn tag(&self) -> u64 {
        self.key.tag
    }

    /// Lists the ranks of the mesh that take part, without this one.
    pub(super) fn involved(&self) -> impl Iterator<Item = usize> + Clone {
        self.other_members()
            .map(|member| self.members[member] as usize)
    }

    /// Lists the members that take part, without this one.
    fn other_members(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let all = match &self.message {
            Some(message) => message.peer as usize..message.peer as usize + 1,
            None => 0..self.members.len(),
        };
        let me = self.me;
        all.filter(move |member| *member != me)
    }

    /// Describes a failure for a member that is gone.
    pub(super) fn lost(&self, member: usize, why: &str) -> Error {
        self.label().lost(
            self.arrival.operation(),
            self.key.number,
            member as u32,
            why,
        )
    }

    /// Describes that members, of those that are awaited, did not come in time.
    pub(super) fn timeout(&self, mesh: &Mesh, awaited: &[(usize, usize)], seconds: f64) -> Error {
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
        self.label()
            .timeout(self.arrival.operation(), self.key.number, &missing, seconds)
    }

    /// Looks for the slot of a member, and compares what that one called.
    ///
    /// # Errors
    /// `CommMismatch`
    fn find(&self, mesh: &Mesh, member: usize) -> Result<Option<Found>> {
        let rank = self.members[member] as usize;
        let Some((found, digest)) = find_slot(mesh, rank, &self.key) else {
            return Ok(None);
        };
        if digest == self.digest {
            return Ok(Some(found));
        }
        let base = slot_start(found.slot) + SIGNATURE;
        let signature = std::array::from_fn(|at| mesh.peer_word(rank, base + at));
        let own = (
            self.me as u32,
            self.message.as_ref(),
            self.arrival.operation(),
        );
        Err(self
            .label()
            .disagreement(self.key.number, own, member as u32, signature))
    }
}

impl Work {
    /// Creates the work of a collective.
    fn collective(call: Call, own: &Collective) -> Work {
        let signature = own.signature;
        let (members, me) = (&call.members, call.me);
        let count = members.len();
        let separate = is_separate(signature.kind);
        let chunk = match separate {
            true => (PIECE / count) & !63,
            false => COMMON_PIECE,
        };
        let others = || (0..count).filter(|member| *member != me);
        let readers: Vec<Reader> = others()
            .filter_map(|member| {
                own.send.get(member).map(|span| Reader {
                    member,
                    mesh: members[member] as usize,
                    span,
                    rounds: rounds(span.bytes(), chunk),
                    position: None,
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
            position: None,
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
                    true => DataUse::ReduceParts(of, by),
                    false => DataUse::Reduce(of, by),
                };
                (sources, using)
            }
            _ => {
                let sources = others().filter_map(|member| {
                    let target = own.receive.get(member)?;
                    Some(source(member, Some(target), target.bytes()))
                });
                (sources.collect(), DataUse::Copy)
            }
        };
        let longest = readers.iter().map(|reader| reader.rounds).max();
        // A writer waits for its readers where its staging memory is used again, and if it reads nothing from them.
        let is_read_awaited = sources.iter().any(|source: &Source| {
            let reads = readers.iter().any(|reader| reader.member == source.member);
            source.rounds > DEPTH || !reads
        });
        let received: usize = sources.iter().map(|source: &Source| source.bytes).sum();
        let has_equal_parts = has_equal_parts(&signature);
        let provided = readers.iter().map(|reader| reader.span.bytes());
        let read = sources.iter().map(|source: &Source| source.bytes);
        let is_short =
            has_equal_parts && !separate && provided.chain(read).all(|bytes| bytes <= SHORT_BYTES);
        Work {
            own: own.send.get(me),
            call,
            slot: None,
            chunk,
            separate,
            is_exclusive: separate,
            is_long: received >= LONG_BYTES,
            rounds: longest.unwrap_or(0),
            readers,
            published: 0,
            sources,
            using,
            output,
            combined: 0,
            own_copied: signature.kind.reduces(),
            is_read_awaited,
            read_out: 0,
            has_equal_parts,
            is_short,
        }
    }

    /// Creates the work of one transfer to or from another rank.
    fn message(
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
        let rounds = rounds(bytes, COMMON_PIECE);
        let reader = Reader {
            member: peer,
            mesh,
            span: message.span,
            rounds,
            position: None,
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
            position: None,
        };
        // Both ends have a slot, and each compares the other's.
        let (readers, sources) = match message.sends {
            true => (vec![reader], Vec::new()),
            false => (Vec::new(), vec![source]),
        };
        let route = (from as u64) << 32 | to as u64 | 1 << 63;
        let signature = [
            MESSAGE | (message.data_type as u64) << 8,
            0,
            message.count,
            0,
        ];
        let key = Key {
            tag,
            identity: mixed([tag, arrival.channel.word(epoch), route]),
            number,
        };
        Work {
            call: Call {
                arrival: arrival.clone(),
                message: Some(message),
                members: members.clone(),
                me,
                key,
                signature,
                digest: mixed(signature),
            },
            slot: None,
            chunk: COMMON_PIECE,
            separate: false,
            is_exclusive: true,
            is_long: bytes >= LONG_BYTES,
            rounds: if message.sends { rounds } else { 0 },
            readers,
            published: 0,
            sources,
            using: DataUse::Copy,
            own: None,
            output: None,
            combined: 0,
            own_copied: true,
            is_read_awaited: true,
            read_out: 0,
            has_equal_parts: true,
            is_short: bytes <= SHORT_BYTES,
        }
    }

    /// Reports whether all that a source provides is in its staging memory, where it stays even if the rank goes.
    fn has_provided(&self, mesh: &Mesh, source: &Source) -> bool {
        let Some(found) = source.found.filter(|_| source.position.is_none()) else {
            return false;
        };
        let streams = match self.using {
            DataUse::ReduceParts(..) => [INPUT, RESULT].as_slice(),
            DataUse::Copy | DataUse::Reduce(..) => &[INPUT],
        };
        streams.iter().all(|stream| {
            let word = slot_start(found.slot) + PUBLISHED + stream;
            mesh.peer_word(source.mesh, word) >= source.rounds as u64
        })
    }

    /// Lists the members that are still to provide something or to read something, with their ranks in the mesh.
    fn awaited(&self, mesh: &Mesh) -> Vec<(usize, usize)> {
        let sources = self.missing_sources(mesh);
        let sources = sources.map(|source| (source.member, source.mesh));
        let readers = self.missing_readers(mesh);
        let readers = readers.map(|reader| (reader.member, reader.mesh));
        let mut all: Vec<(usize, usize)> = sources.chain(readers).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns a bit for each rank of the mesh without which the operation cannot end.
    fn needs(&self, mesh: &Mesh) -> u64 {
        let sources = self.missing_sources(mesh).map(|source| source.mesh);
        let readers = self.missing_readers(mesh);
        let readers = readers.filter(|reader| !self.is_source(reader.member));
        bits(sources) | bits(readers.map(|reader| reader.mesh))
    }

    /// Lists the members whose data is not there.
    fn missing_sources<'a>(&'a self, mesh: &'a Mesh) -> impl Iterator<Item = &'a Source> {
        let parts = matches!(self.using, DataUse::ReduceParts(..));
        self.sources.iter().filter(move |source| {
            let unread =
                source.consumed < source.rounds || (parts && source.results < source.rounds);
            unread && !self.has_provided(mesh, source)
        })
    }

    /// Lists the members that have not read what this rank provides.
    fn missing_readers<'a>(&'a self, mesh: &'a Mesh) -> impl Iterator<Item = &'a Reader> {
        self.readers.iter().filter(|reader| {
            let read = self.slot.map_or(0, |own| {
                mesh.acknowledged(reader.mesh, own.slot, own.generation, INPUT)
            });
            read < reader.rounds
        })
    }

    fn is_source(&self, member: usize) -> bool {
        self.sources.iter().any(|source| source.member == member)
    }

    /// Does what is possible now.
    fn step(&mut self, mesh: &Mesh) -> Result<Step> {
        let mut provided = false;
        let Some(own) = self.slot.or_else(|| self.open(mesh)) else {
            return Ok(Step::NOTHING);
        };
        if self.slot.is_none() {
            self.slot = Some(own);
            provided = true;
            if self.readers.iter().any(|reader| reader.position.is_some()) {
                // The others read it while this rank copies.
                return Ok(Step {
                    progressed: true,
                    concerns_others: true,
                    read_out: 0,
                    done: false,
                });
            }
        }
        self.find(mesh)?;
        if !self.own_copied {
            self.copy_own(mesh.backend())?;
            self.own_copied = true;
        }
        provided |= self.publish(mesh, own);
        let mut read_directly = false;
        let read = match self.using {
            DataUse::Copy => {
                let (from_staging, directly) = self.copy(mesh)?;
                read_directly = directly;
                from_staging
            }
            DataUse::Reduce(of, by) => self.combine(mesh, of, by),
            DataUse::ReduceParts(of, by) => {
                provided |= self.combine_parts(mesh, own, of, by);
                self.copy_results(mesh, of)
            }
        };
        let done = self.is_done(mesh, own);
        if done {
            self.slot = None;
            let read_below = self.ended_everywhere_below();
            mesh.end_operation(self.left_behind(own), read_below);
        }
        let concerns_others = provided || (read && self.is_read_awaited);
        if read && !concerns_others {
            mesh.announce_to_slotless(self.call.involved());
        }
        Ok(Step {
            progressed: provided || read || read_directly,
            concerns_others,
            read_out: std::mem::take(&mut self.read_out),
            done,
        })
    }

    /// Reports whether this rank has what it is to have, and all that it provides is in staging memory.
    ///
    /// Ranks that this one reads nothing from must have read what it provides: it has to know that they have come.
    fn is_done(&self, mesh: &Mesh, own: Found) -> bool {
        let parts = matches!(self.using, DataUse::ReduceParts(..));
        let read = self.sources.iter().all(|source| {
            source.consumed >= source.rounds && (!parts || source.results >= source.rounds)
        });
        read && self.published >= self.rounds
            && self.readers.iter().all(|reader| {
                (self.is_source(reader.member) && reader.position.is_none())
                    || mesh.acknowledged(reader.mesh, own.slot, own.generation, INPUT)
                        >= reader.rounds
            })
    }
}

const _: () = assert!(ack(super::layout::MOST_RANKS - 1, SLOTS - 1, 1) * 8 < staging(0, 0, 0));
