//! One operation of one rank over the network: what it sends to whom, what it receives, and how sums are formed.
//!
//! Every two ranks of an operation send each other a head: what they called, and how many bytes follow. Short data follows
//! in the same message. Longer data follows in another one, for which the receiver provides memory once it has compared
//! the head. Sums are formed in rank order, as between threads.
//!
//! What is combined comes in pieces: while one is combined, the next ones and the results of earlier ones are on their way. Their
//! memory is used again at once, so that it stays in the caches.

use std::collections::VecDeque;
use std::sync::Arc;

use jumar_hal::{Span, Transfer};
use jumar_types::Error;

use super::mesh::{Core, Entry};
use crate::arrival::{Arrival, Numbers};
use crate::operation::{Collective, Message, Operation, SIGNATURE_WORDS, digest};
use crate::os::gloo::{Broken, Transit};
use crate::reduce::reduce;
use crate::words::Label;
use crate::{DataType, Kind, Reduction};

/// Up to how many bytes follow in the message of the head.
const SHORT: usize = 32 << 10;
/// The length of a piece of data that is combined.
const PIECE: usize = 256 << 10;
/// For how many pieces of each other rank there is memory at a time.
const DEPTH: usize = 4;
/// Up to how many bytes every rank forms the whole result of an AllReduce itself, which saves a round trip.
const DIRECT_BYTES: usize = 4 << 10;
/// The words of a head: the key, the signature, the number of bytes that follow, and the number that the sender expects.
const HEAD_WORDS: usize = 4 + SIGNATURE_WORDS + 2;
const HEAD_BYTES: usize = HEAD_WORDS * 8;
/// The kind of a transfer between two ranks, beside those of [`Kind`].
const MESSAGE: u64 = 200;
/// What keeps tags of operations apart from others.
const TAGS: u64 = 0x4f50_4552_4154_494f;

/// The messages of an operation between two ranks.
#[derive(Clone, Copy)]
enum Phase {
    Head = 1,
    Data = 2,
    Result = 3,
}

/// What each other rank has sent of a piece, with the piece's length.
struct Inputs<'a> {
    /// In no order.
    arrived: Vec<(&'a Other, Arc<Transit>)>,
    /// Where the data begins in a message.
    offset: usize,
}

/// Why an operation ended before its time.
pub(super) enum Stop {
    /// It failed here.
    Error(Error),
    /// The connection with a rank failed, or the operation was ended.
    Broken { member: u32, rank: u32 },
}

/// Another rank.
struct Other {
    member: usize,
    rank: u32,
    /// What it gets.
    sent: Option<Span>,
    /// How many bytes it is to send.
    expected: usize,
    /// The destination of its data; `None` for a reduction, which combines it.
    target: Option<Span>,
}

/// How a result is formed.
#[derive(Clone, Copy)]
struct ResultCombination {
    of: DataType,
    by: Reduction,
    /// Each rank forms a part of the result, and all receive it from there.
    parts: bool,
}

/// The operation of one rank.
pub(super) struct Work {
    label: Label,
    arrival: Arc<Arrival>,
    message: Option<Message>,
    me: usize,
    count: usize,
    key: [u64; 4],
    signature: [u64; SIGNATURE_WORDS],
    others: Vec<Other>,
    combined: Option<ResultCombination>,
    /// This rank's own contribution to a reduction, and its result.
    own: Option<Span>,
    output: Option<Span>,
}

fn length(span: Option<Span>) -> usize {
    span.map_or(0, Span::bytes)
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
        let output = own.receive.get(me);
        let combined = match signature.reduction {
            Some(by) if signature.kind.reduces() => Some(ResultCombination {
                of: signature.data_type,
                by,
                parts: signature.kind == Kind::AllReduce && length(output) > DIRECT_BYTES,
            }),
            _ => None,
        };
        let mut work = Work {
            label,
            arrival: arrival.clone(),
            message: None,
            me,
            count: members.len(),
            key: [tag, arrival.channel.word(epoch), arrival.number(), 0],
            signature: signature.to_words(),
            others: Vec::new(),
            combined,
            own: own.send.get(me),
            output,
        };
        // Each rank begins with the next one, so that not all send to the same rank first.
        let others = (1..members.len()).map(|step| (me + step) % members.len());
        let others = others.map(|member| {
            let input = own.send.get(member);
            let (sent, expected, target) = match combined {
                Some(ResultCombination { parts: true, .. }) => {
                    let sent = input.and_then(|span| work.part(member, span));
                    let expected = output.and_then(|span| work.part(me, span));
                    (sent, length(expected), None)
                }
                Some(_) => (input, length(output), None),
                None => {
                    let target = own.receive.get(member);
                    (input, length(target), target)
                }
            };
            Other {
                member,
                rank: members[member],
                sent,
                expected,
                target,
            }
        });
        work.others = others.collect();
        work
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
        let (from, to) = match message.sends {
            true => (me, peer),
            false => (peer, me),
        };
        let number = match &arrival.numbers {
            Numbers::Messages(numbers) => numbers[index],
            Numbers::Collective(number) => *number,
        };
        let received = (!message.sends).then_some(message.span);
        let other = Other {
            member: peer,
            rank: members[peer],
            sent: message.sends.then_some(message.span),
            expected: length(received),
            target: received,
        };
        let route = (from as u64) << 32 | to as u64 | 1 << 63;
        Work {
            label,
            arrival: arrival.clone(),
            message: Some(message),
            me,
            count: members.len(),
            key: [tag, arrival.channel.word(epoch), number, route],
            signature: [
                MESSAGE | (message.data_type as u64) << 8,
                0,
                message.count,
                0,
            ],
            others: vec![other],
            combined: None,
            own: None,
            output: None,
        }
    }

    /// Lists the members that take part, without this one, with their ranks in the mesh.
    pub(super) fn involved(&self) -> Vec<(u32, u32)> {
        let others = self.others.iter();
        others
            .map(|other| (other.member as u32, other.rank))
            .collect()
    }

    /// Returns whether the transfer of one of several sends; `None` for a collective.
    pub(super) fn sends(&self) -> Option<bool> {
        self.message.as_ref().map(|message| message.sends)
    }

    /// Returns the number that messages use.
    pub(super) fn number(&self) -> u64 {
        self.key[2]
    }

    fn tag(&self, phase: Phase, piece: usize) -> u64 {
        let [tag, channel, number, route] = self.key;
        let piece = piece as u64;
        digest([TAGS, tag, channel, number, route, phase as u64, piece])
    }

    /// Returns the part of the result that a member forms.
    fn part(&self, member: usize, result: Span) -> Option<Span> {
        let of = self.combined.map_or(1, |combined| combined.of.bytes());
        let elements = result.bytes() / of;
        let start = |member: usize| elements * member / self.count * of;
        result.part(start(member), start(member + 1) - start(member))
    }

    /// Does the operation. Nothing uses its memory once this has returned.
    pub(super) fn run(&self, core: &Core, entry: &Entry) -> Result<(), Stop> {
        let mut sent = Vec::new();
        let mut heads = Vec::new();
        for other in &self.others {
            let (ends, tag) = (&core.ends, self.tag(Phase::Head, 0));
            let transit = Transit::receive(ends, other.rank, tag, HEAD_BYTES + SHORT);
            heads.push(entry.keep(other.rank, self.stop(other, transit)?));
        }
        let results = self.expect_results(core, entry)?;
        for other in &self.others {
            self.send(core, entry, other, &mut sent)?;
        }
        if self.combined.is_none() && self.message.is_none() {
            self.copy_own(core)?;
        }
        // What is combined: data in the messages of heads, or the first pieces of longer data.
        let mut short = Vec::new();
        let mut pieces = Vec::new();
        let mut data = Vec::new();
        for (other, head) in self.others.iter().zip(heads) {
            self.stop(other, entry.wait(&head))?;
            let head_is = (other.member as u32, other.rank);
            entry.awaited.lock().retain(|awaited| *awaited != head_is);
            self.compare(core, other, &head)?;
            let is_short = other.expected <= SHORT;
            match (is_short, other.target) {
                (true, Some(target)) => {
                    if let Some(from) = head.span().part(HEAD_BYTES, other.expected) {
                        copy(core, target, from);
                    }
                }
                (true, None) => short.push((other, head)),
                (false, Some(target)) => {
                    let (ends, tag) = (&core.ends, self.tag(Phase::Data, 0));
                    let transit = Transit::receive_span(ends, other.rank, tag, target);
                    data.push((other, entry.keep(other.rank, self.stop(other, transit)?)));
                }
                (false, None) => {
                    let mut first = VecDeque::new();
                    for piece in 0..DEPTH {
                        first.extend(self.expect_piece(core, entry, other, piece)?);
                    }
                    pieces.push((other, first));
                }
            }
        }
        for (other, transit) in &data {
            self.stop(other, entry.wait(transit))?;
        }
        if let (Some(combined), Some(output)) = (self.combined, self.output) {
            let part = |span| match combined.parts {
                true => self.part(self.me, span),
                false => Some(span),
            };
            let (own, output) = (self.own.and_then(part), part(output));
            let length = length(output);
            let count = if length <= SHORT {
                1
            } else {
                length.div_ceil(PIECE)
            };
            for piece in 0..count {
                let mut inputs = Inputs {
                    arrived: Vec::with_capacity(self.others.len()),
                    offset: 0,
                };
                if length <= SHORT {
                    inputs.arrived.append(&mut short);
                    inputs.offset = HEAD_BYTES;
                }
                for (other, arriving) in &mut pieces {
                    if let Some(transit) = arriving.pop_front() {
                        self.stop(other, entry.wait(&transit))?;
                        inputs.arrived.push((*other, transit));
                    }
                }
                let of = |span: Option<Span>| match length <= SHORT {
                    true => span,
                    false => span.and_then(|span| part_at(span, piece)),
                };
                let output = of(output);
                self.combine(core, combined, (of(own), output), &inputs);
                // Their memory is that of the next ones.
                drop(inputs);
                for (other, arriving) in &mut pieces {
                    arriving.extend(self.expect_piece(core, entry, other, piece + DEPTH)?);
                }
                if combined.parts {
                    self.send_results(core, entry, (output, piece), &mut sent)?;
                }
            }
        }
        for (other, transit) in &results {
            self.stop(other, entry.wait(transit))?;
        }
        for (other, transit) in &sent {
            self.stop(other, entry.wait(transit))?;
        }
        Ok(())
    }

    fn stop<T>(&self, other: &Other, outcome: Result<T, Broken>) -> Result<T, Stop> {
        outcome.map_err(|_| Stop::Broken {
            member: other.member as u32,
            rank: other.rank,
        })
    }

    /// Provides memory for the parts of the result that others form. They send them once they have compared this rank's call.
    fn expect_results(
        &self,
        core: &Core,
        entry: &Entry,
    ) -> Result<Vec<(&Other, Arc<Transit>)>, Stop> {
        let (Some(ResultCombination { parts: true, .. }), Some(output)) =
            (self.combined, self.output)
        else {
            return Ok(Vec::new());
        };
        let mut results = Vec::new();
        for other in &self.others {
            let part = self.part(other.member, output);
            for (piece, part) in part.into_iter().flat_map(split).enumerate() {
                let tag = self.tag(Phase::Result, piece);
                let transit = Transit::receive_span(&core.ends, other.rank, tag, part);
                results.push((other, entry.keep(other.rank, self.stop(other, transit)?)));
            }
        }
        Ok(results)
    }

    /// Provides memory for a piece that another rank sends, if there is such a piece.
    fn expect_piece(
        &self,
        core: &Core,
        entry: &Entry,
        other: &Other,
        piece: usize,
    ) -> Result<Option<Arc<Transit>>, Stop> {
        let Some(rest) = other.expected.checked_sub(piece * PIECE) else {
            return Ok(None);
        };
        let tag = self.tag(Phase::Data, piece);
        match rest.min(PIECE) {
            0 => Ok(None),
            bytes => {
                let transit = Transit::receive(&core.ends, other.rank, tag, bytes);
                Ok(Some(entry.keep(other.rank, self.stop(other, transit)?)))
            }
        }
    }

    fn send_results<'a>(
        &'a self,
        core: &Core,
        entry: &Entry,
        (part, piece): (Option<Span>, usize),
        sent: &mut Vec<(&'a Other, Arc<Transit>)>,
    ) -> Result<(), Stop> {
        let Some(part) = part.filter(|part| !part.is_empty()) else {
            return Ok(());
        };
        let tag = self.tag(Phase::Result, piece);
        for other in &self.others {
            let transit = Transit::send_span(&core.ends, other.rank, tag, part);
            sent.push((other, entry.keep(other.rank, self.stop(other, transit)?)));
        }
        Ok(())
    }

    /// Sends the head to another rank, and the data that it gets.
    fn send<'a>(
        &'a self,
        core: &Core,
        entry: &Entry,
        other: &'a Other,
        sent: &mut Vec<(&'a Other, Arc<Transit>)>,
    ) -> Result<(), Stop> {
        let bytes = length(other.sent);
        let mut head = Vec::with_capacity(HEAD_BYTES + bytes.min(SHORT));
        let words = self.key.iter().chain(&self.signature);
        head.extend(words.flat_map(|word| word.to_le_bytes()));
        head.extend((bytes as u64).to_le_bytes());
        head.extend((other.expected as u64).to_le_bytes());
        if let Some(span) = other.sent
            && bytes <= SHORT
        {
            head.resize(HEAD_BYTES + bytes, 0);
            core.backend.read_now(span, &mut head[HEAD_BYTES..]);
        }
        let tag = self.tag(Phase::Head, 0);
        let transit = Transit::send(&core.ends, other.rank, tag, head);
        sent.push((other, entry.keep(other.rank, self.stop(other, transit)?)));
        if let Some(span) = other.sent
            && bytes > SHORT
        {
            let pieces = match self.combined {
                Some(_) => split(span).collect(),
                None => vec![span],
            };
            for (piece, part) in pieces.into_iter().enumerate() {
                let tag = self.tag(Phase::Data, piece);
                let transit = Transit::send_span(&core.ends, other.rank, tag, part);
                sent.push((other, entry.keep(other.rank, self.stop(other, transit)?)));
            }
        }
        Ok(())
    }

    /// Compares what another rank called.
    fn compare(&self, core: &Core, other: &Other, head: &Transit) -> Result<(), Stop> {
        let mut bytes = [0; HEAD_BYTES];
        if let Some(span) = head.span().part(0, HEAD_BYTES) {
            core.backend.read_now(span, &mut bytes);
        }
        let mut words = bytes.chunks_exact(8).map(|word| {
            let word = word.try_into().unwrap_or([0; 8]);
            u64::from_le_bytes(word)
        });
        let mut next = || words.next().unwrap_or(0);
        let key: [u64; 4] = std::array::from_fn(|_| next());
        let signature: [u64; SIGNATURE_WORDS] = std::array::from_fn(|_| next());
        let (bytes, wanted) = (next(), next());
        if key != self.key || signature != self.signature {
            let own = (
                self.me as u32,
                self.message.as_ref(),
                self.arrival.operation(),
            );
            let member = other.member as u32;
            let error = self
                .label
                .disagreement(self.number(), own, member, signature);
            return Err(Stop::Error(error));
        }
        let (me, theirs) = (self.me as u32, other.member as u32);
        let (expected, sent) = (other.expected as u64, length(other.sent) as u64);
        let what = self.arrival.operation().name();
        if bytes != expected {
            let error = self.label.unequal_parts(what, theirs, bytes, me, expected);
            return Err(Stop::Error(error));
        }
        // Both ends find it: the sender could have ended the operation before it learns of the failure.
        if wanted != sent {
            let error = self.label.unequal_parts(what, me, sent, theirs, wanted);
            return Err(Stop::Error(error));
        }
        Ok(())
    }

    fn copy_own(&self, core: &Core) -> Result<(), Stop> {
        let Operation::Collective(own) = self.arrival.operation() else {
            return Ok(());
        };
        let (sent, kept) = (own.send.get(self.me), own.receive.get(self.me));
        if length(sent) != length(kept) {
            let me = self.me as u32;
            let (sent, kept) = (length(sent) as u64, length(kept) as u64);
            let what = self.arrival.operation().name();
            return Err(Stop::Error(
                self.label.unequal_parts(what, me, sent, me, kept),
            ));
        }
        if let (Some(sent), Some(kept)) = (sent, kept) {
            copy(core, kept, sent);
        }
        Ok(())
    }

    /// Combines the contributions of all ranks, in rank order.
    fn combine(
        &self,
        core: &Core,
        combined: ResultCombination,
        (own, output): (Option<Span>, Option<Span>),
        inputs: &Inputs<'_>,
    ) {
        let Some(output) = output.filter(|output| !output.is_empty()) else {
            return;
        };
        let mut spans = vec![own; self.count];
        for (other, transit) in &inputs.arrived {
            spans[other.member] = transit.span().part(inputs.offset, output.bytes());
        }
        let spans: Option<Vec<Span>> = spans.into_iter().collect();
        if let Some(spans) = spans {
            let (of, by) = (combined.of, combined.by);
            reduce(&*core.backend, &spans, &[output], of, by);
        }
    }
}

/// Returns a piece of data that is combined.
fn part_at(span: Span, piece: usize) -> Option<Span> {
    let at = piece * PIECE;
    span.part(at, PIECE.min(span.bytes().checked_sub(at)?))
}

/// Lists the pieces of data that is combined.
fn split(span: Span) -> impl Iterator<Item = Span> {
    (0..span.bytes().div_ceil(PIECE)).filter_map(move |piece| part_at(span, piece))
}

fn copy(core: &Core, to: Span, from: Span) {
    if to.address() == from.address() || to.is_empty() {
        return;
    }
    if let Some(transfer) = Transfer::new(to, from) {
        core.backend.copy_now(transfer);
    }
}
