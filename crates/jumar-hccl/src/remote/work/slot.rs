//! The slots of operations: how a rank opens one, and how it finds those of others.

use jumar_types::Result;

use super::{
    Call, DataUse, INPUT, Position, READ_BYTES, READ_PIECE, RESULT, Reader, Source, Work, rounds,
};
use crate::protocol::{open_slot, read_slot};
use crate::remote::layout::{
    CALL, EXPECTED, HEAD_DISPLACED, IDENTITY, MOST_RANKS, NOTHING, NUMBER, POSITIONS, PUBLISHED,
    SIGNATURE, SIZES, SLOTS, STATE, slot,
};
use crate::remote::mesh::{Access, Mesh};

/// What identifies an operation among all ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) tag: u64,
    /// A digest of the tag, the channel and epoch, and the route of a transfer.
    pub(super) identity: u64,
    pub(super) number: u64,
}

/// Stands for a rank of which it is not known what has ended.
const UNKNOWN: u64 = u16::MAX as u64;
/// How many bits of a word hold the number of an operation.
const NUMBER_BITS: u32 = 48;

/// The slot of a rank.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) slot: usize,
    pub(super) generation: u64,
    /// All operations of this identity with a lower number have ended for the rank.
    pub(super) ended_below: u64,
}

impl Found {
    /// Stands for the slot of a rank that has not come.
    pub(super) const NONE: Found = Found {
        slot: 0,
        generation: 0,
        ended_below: 0,
    };
}

/// Returns a digest of a few words. They come from ranks of the same job, which gain nothing from a collision.
pub(super) fn mixed<const N: usize>(words: [u64; N]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |digest: u64, word: u64| (digest ^ word).wrapping_mul(FACTOR).rotate_left(29);
    words.into_iter().fold(N as u64, mix)
}

impl Call {
    /// Takes a slot of this rank.
    pub(super) fn take_slot(&self, mesh: &Mesh) -> Option<Found> {
        let usual = usual_slot(&self.key);
        let (slot, generation) = mesh.take_slot(usual)?;
        if slot != usual {
            mesh.segment().add(HEAD_DISPLACED, 1);
        }
        mesh.note_processor();
        let ended_below = match &self.message {
            None => mesh.ended_below(self.key.identity),
            Some(_) => 0,
        };
        Some(Found {
            slot,
            generation,
            ended_below,
        })
    }

    /// Opens a slot in which so many rounds are published, after `fill` has written what is not in all slots.
    pub(super) fn open(&self, mesh: &Mesh, own: Found, published: usize, fill: impl FnOnce()) {
        let (segment, base) = (mesh.segment(), slot(own.slot));
        let behind = (self.key.number - own.ended_below).min(UNKNOWN);
        open_slot(segment, base + STATE, own.generation, || {
            segment.store(base + NUMBER, self.key.number | behind << NUMBER_BITS);
            segment.store(base + IDENTITY, self.key.identity);
            segment.store(base + CALL, self.digest);
            segment.store(base + PUBLISHED + INPUT, published as u64);
            segment.store(base + PUBLISHED + RESULT, 0);
            for (at, word) in self.signature.iter().enumerate() {
                segment.store(base + SIGNATURE + at, *word);
            }
            fill();
        });
    }

    /// Returns what others are still to read, once this rank's part has ended.
    pub(super) fn left_behind(&self, own: Found) -> LeftBehind {
        LeftBehind {
            tag: self.key.tag,
            identity: self.key.identity,
            number: self.key.number,
            slot: own.slot,
            generation: own.generation,
            readers: Vec::new(),
            readers_of_results: Vec::new(),
            ranks: 0,
        }
    }
}

impl Work {
    /// Takes a slot, and provides the first round with it: others find both at once.
    pub(super) fn open(&mut self, mesh: &Mesh) -> Option<Found> {
        let own = self.call.take_slot(mesh)?;
        let segment = mesh.segment();
        let base = slot(own.slot);
        self.offer_memory(mesh);
        self.write_edges(mesh, own);
        if self.rounds > 0 {
            self.write_round(mesh, own, 0);
            self.published = 1;
        }
        self.call.open(mesh, own, self.published, || {
            for reader in &self.readers {
                let ranks = (reader.mesh, mesh.rank());
                if self.access(mesh, reader.span.bytes(), ranks).is_some() {
                    segment.store(
                        base + POSITIONS + reader.mesh,
                        reader.position.map_or(0, Position::word),
                    );
                }
            }
            if self.has_equal_parts {
                return;
            }
            for reader in &self.readers {
                segment.store(base + SIZES + reader.mesh, reader.span.bytes() as u64);
            }
            for rank in &*self.call.members {
                segment.store(base + EXPECTED + *rank as usize, NOTHING);
            }
            for source in &self.sources {
                segment.store(base + EXPECTED + source.mesh, source.bytes as u64);
            }
        });
        Some(own)
    }

    /// Returns how a rank reads data from the memory of its owner, unless the owner refuses. Both come to the same answer.
    fn access(&self, mesh: &Mesh, data: usize, (reader, owner): (usize, usize)) -> Option<Access> {
        if !matches!(self.using, DataUse::Copy) || data < READ_BYTES {
            return None;
        }
        // What several ranks read is in the caches after one of them has copied it: with two copies they are as fast as the system.
        let access = mesh.access(reader, owner);
        access.filter(|access| *access == Access::Lent || self.is_exclusive)
    }

    /// Decides which ranks read the memory of this one.
    fn offer_memory(&mut self, mesh: &Mesh) {
        for at in 0..self.readers.len() {
            let Reader {
                mesh: rank, span, ..
            } = self.readers[at];
            let access = self.access(mesh, span.bytes(), (rank, mesh.rank()));
            let position = access.and_then(|access| match access {
                Access::Lent => mesh.lend(span).map(Position::Lent),
                // Memory of the program may be such that only the program can read it.
                Access::Process => mesh
                    .backend()
                    .device_of(span.address())
                    .map(|_| Position::Process(span.address() as u64)),
            });
            if let Some(position) = position {
                self.readers[at].position = Some(position);
                self.readers[at].rounds = rounds(span.bytes(), READ_PIECE);
            }
        }
        let staged = self
            .readers
            .iter()
            .filter(|reader| reader.position.is_none());
        self.rounds = staged.map(|reader| reader.rounds).max().unwrap_or(0);
    }

    /// Notes the slot of a source, and where its data is.
    fn note_found(&mut self, mesh: &Mesh, at: usize, found: Found) {
        let source = &self.sources[at];
        let access = self.access(mesh, source.bytes, (mesh.rank(), source.mesh));
        let position = access.and_then(|access| {
            let word = slot(found.slot) + POSITIONS + mesh.rank();
            Position::from_word(mesh.peer_word(source.mesh, word), access)
        });
        let source = &mut self.sources[at];
        source.found = Some(found);
        if position.is_some() {
            source.position = position;
            source.rounds = rounds(source.bytes, READ_PIECE);
        }
    }

    /// Looks for the slots of the others, and compares what they called.
    pub(super) fn find(&mut self, mesh: &Mesh) -> Result<()> {
        let found = self.sources.iter().filter(|source| source.found.is_some());
        if found.count() + 1 == self.call.members.len() {
            return Ok(());
        }
        for member in self.call.other_members() {
            let rank = self.call.members[member] as usize;
            let at = self
                .sources
                .iter()
                .position(|source| source.member == member);
            if at.is_some_and(|at| self.sources[at].found.is_some()) {
                continue;
            }
            let Some(found) = self.call.find(mesh, member)? else {
                continue;
            };
            let Some(at) = at else { continue };
            if self.has_equal_parts {
                self.note_found(mesh, at, found);
                continue;
            }
            // Both ends find a difference: this rank could have ended the operation before the other one compares. The slot of a rank
            // that this one reads from stays until it has.
            let expected = mesh.peer_word(rank, slot(found.slot) + EXPECTED + mesh.rank());
            let reader = self.readers.iter().find(|reader| reader.member == member);
            if let Some(reader) = reader
                && expected != NOTHING
                && expected != reader.span.bytes() as u64
            {
                return Err(self.call.label().unequal_parts(
                    self.call.arrival.operation().name(),
                    self.call.me as u32,
                    reader.span.bytes() as u64,
                    member as u32,
                    expected,
                ));
            }
            let sent = mesh.peer_word(rank, slot(found.slot) + SIZES + mesh.rank());
            if sent != self.sources[at].bytes as u64 {
                return Err(self.call.label().unequal_parts(
                    self.call.arrival.operation().name(),
                    member as u32,
                    sent,
                    self.call.me as u32,
                    self.sources[at].bytes as u64,
                ));
            }
            self.note_found(mesh, at, found);
        }
        Ok(())
    }

    /// Returns below which number all collectives of this identity have ended for all ranks.
    pub(super) fn ended_everywhere_below(&self) -> u64 {
        if self.call.message.is_some() || self.sources.len() + 1 < self.call.members.len() {
            return 0;
        }
        let found = self.sources.iter().map(|source| source.found);
        let below = found.map(|found| found.map_or(0, |found| found.ended_below));
        below.min().unwrap_or(0)
    }

    /// Hands over what other ranks are still to read from this one.
    pub(super) fn left_behind(&mut self, own: Found) -> LeftBehind {
        LeftBehind {
            readers: std::mem::take(&mut self.readers),
            readers_of_results: match self.using {
                DataUse::ReduceParts(..) => std::mem::take(&mut self.sources),
                DataUse::Copy | DataUse::Reduce(..) => Vec::new(),
            },
            ..self.call.left_behind(own)
        }
    }
}

/// The slot of an operation that has ended for its rank. It is free once all others have read it.
pub(in crate::remote) struct LeftBehind {
    pub(in crate::remote) tag: u64,
    pub(in crate::remote) identity: u64,
    pub(in crate::remote) number: u64,
    pub(in crate::remote) slot: usize,
    pub(in crate::remote) generation: u64,
    readers: Vec<Reader>,
    readers_of_results: Vec<Source>,
    /// A bit for each rank that reads one round, beside those.
    pub(super) ranks: u64,
}

impl LeftBehind {
    /// Reports whether all that is to read the slot has read it.
    pub(in crate::remote) fn is_read(&self, mesh: &Mesh) -> bool {
        let has_read = |rank, stream, rounds| {
            mesh.acknowledged(rank, self.slot, self.generation, stream) >= rounds
                || mesh.is_lost(rank)
        };
        let mut readers = self.readers.iter();
        let mut of_results = self.readers_of_results.iter();
        let mut ranks = (0..MOST_RANKS).filter(|rank| self.ranks >> rank & 1 != 0);
        readers.all(|reader| has_read(reader.mesh, INPUT, reader.rounds))
            && ranks.all(|rank| has_read(rank, INPUT, 1))
            && of_results.all(|source| has_read(source.mesh, RESULT, source.rounds))
    }
}

/// Returns the slot in which an operation is if that slot is free: others look there first. Two take turns, so that staging memory
/// stays in the caches: when a rank has ended an operation, all others have read the one before.
fn usual_slot(key: &Key) -> usize {
    key.number as usize % 2
}

/// Looks for the operation among the slots of a rank. Returns the digest of its signature, too.
pub(super) fn find_slot(mesh: &Mesh, rank: usize, key: &Key) -> Option<(Found, u64)> {
    const NUMBERS: u64 = (1 << NUMBER_BITS) - 1;
    let segment = mesh.peer_segment(rank)?;
    let load = |index| segment.load(index);
    let usual = usual_slot(key);
    let read = |index| {
        let base = slot(index);
        let (generation, (behind, call)) = read_slot(load, base + STATE, || {
            let number = load(base + NUMBER);
            let same = number & NUMBERS == key.number && load(base + IDENTITY) == key.identity;
            same.then(|| (number >> NUMBER_BITS, load(base + CALL)))
        })?;
        let ended_below = match behind {
            UNKNOWN => 0,
            behind => key.number.saturating_sub(behind),
        };
        let found = Found {
            slot: index,
            generation,
            ended_below,
        };
        Some((found, call))
    };
    match load(HEAD_DISPLACED) {
        0 => read(usual),
        _ => (0..SLOTS).find_map(|at| read((usual + at) % SLOTS)),
    }
}
