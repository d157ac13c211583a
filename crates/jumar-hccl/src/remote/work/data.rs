//! The data of operations: rounds are published, read, combined and acknowledged.

use std::io;
use std::sync::Arc;

use jumar_hal::{Backend, LentMemory, Span, Transfer};
use jumar_types::Result;
use smallvec::SmallVec;

use super::slot::Found;
use super::{INPUT, Position, READ_PIECE, RESULT, Source, Work, part, rounds};
use crate::operation::Operation;
use crate::os::processors;
use crate::protocol::is_still_open;
use crate::reduce::reduce;
use crate::remote::layout::{DEPTH, PUBLISHED, STATE, short, slot, staging};
use crate::remote::mesh::Mesh;
use crate::{DataType, Reduction};

/// How much of a long copy one thread does at a time.
const SHARED_PART: usize = 256 << 10;

impl Work {
    pub(super) fn copy_own(&self, backend: &Arc<dyn Backend>) -> Result<()> {
        let Operation::Collective(own) = self.call.arrival.operation() else {
            return Ok(());
        };
        let (sent, kept) = (own.send.get(self.call.me), own.receive.get(self.call.me));
        let bytes = |span: Option<Span>| span.map_or(0, Span::bytes);
        if bytes(sent) != bytes(kept) {
            let me = self.call.me as u32;
            let (sent, kept) = (bytes(sent) as u64, bytes(kept) as u64);
            let what = self.call.arrival.operation().name();
            return Err(self.call.label().unequal_parts(what, me, sent, me, kept));
        }
        if let (Some(sent), Some(kept)) = (sent, kept) {
            self.copy_to_target(backend, kept, sent);
        }
        Ok(())
    }

    fn copy_to_target(&self, backend: &Arc<dyn Backend>, to: Span, from: Span) {
        match Transfer::new(to, from) {
            Some(transfer) if self.is_long && !transfer.overlaps() && !self.has_helpers() => {
                backend.copy_past_caches_now(transfer);
            }
            Some(transfer) if self.is_long && !transfer.overlaps() => {
                let bytes = transfer.bytes();
                backend.share(bytes.div_ceil(SHARED_PART), &|at| {
                    let start = at * SHARED_PART;
                    let part = transfer.part(start, SHARED_PART.min(bytes - start));
                    backend.copy_past_caches_now(part.expect("parts lie inside"));
                });
            }
            _ => copy(backend, to, from),
        }
    }

    /// Returns whether there are processors for the other threads of this rank's device. With fewer, they would keep the other ranks from
    /// copying: an AlltoAll of 16 MiB between four processes on two processors took a quarter longer.
    fn has_helpers(&self) -> bool {
        processors() >= 2 * self.call.members.len()
    }

    pub(super) fn publish(&mut self, mesh: &Mesh, own: Found) -> bool {
        let before = self.published;
        while self.published < self.rounds {
            let round = self.published;
            let mut staged = self
                .readers
                .iter()
                .filter(|reader| reader.position.is_none());
            let free = staged.all(|reader| {
                let required = (round + 1).saturating_sub(DEPTH).min(reader.rounds);
                required == 0
                    || mesh.acknowledged(reader.mesh, own.slot, own.generation, INPUT) >= required
            });
            if !free {
                break;
            }
            self.write_round(mesh, own, round);
            self.published += 1;
            let word = slot(own.slot) + PUBLISHED + INPUT;
            mesh.segment().store(word, self.published as u64);
        }
        self.published > before
    }

    /// Writes a round of this rank's data to where its readers look.
    pub(super) fn write_round(&self, mesh: &Mesh, own: Found, round: usize) {
        let start = self.input_of(own, round);
        // Readers that see the same bytes need them once: those of the first one that looks here.
        let written = match self.separate {
            true => self.readers.len(),
            false => 1,
        };
        let staged = self.readers.iter();
        let staged = staged.filter(|reader| reader.position.is_none());
        for reader in staged.take(written) {
            let from = part(reader.span, self.chunk, round);
            let offset = match self.separate {
                true => reader.member * self.chunk,
                false => 0,
            };
            if let Some(to) = mesh.segment().span(start + offset, from.bytes()) {
                copy(mesh.backend(), to, from);
            }
        }
    }

    /// Returns where a round of a rank's data is.
    fn input_of(&self, rank: Found, round: usize) -> usize {
        match self.is_short {
            true => short(rank.slot),
            false => staging(rank.slot, INPUT, round),
        }
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
        let start = match stream {
            INPUT => self.input_of(found, round),
            _ => staging(found.slot, stream, round),
        };
        mesh.peer_span(source.mesh, start + offset, bytes)
    }

    /// Where this rank's part begins in a piece of another rank.
    fn offset(&self) -> usize {
        match self.separate {
            true => self.call.me * self.chunk,
            false => 0,
        }
    }

    fn acknowledge(mesh: &Mesh, source: &Source, stream: usize, count: usize) {
        if let Some(found) = source.found {
            mesh.acknowledge(source.mesh, found.slot, found.generation, stream, count);
        }
    }

    /// Copies what is there. Reports whether something was copied from staging memory, and whether from the memory of others.
    pub(super) fn copy(&mut self, mesh: &Mesh) -> Result<(bool, bool)> {
        let (mut from_staging, mut directly) = (false, false);
        for at in 0..self.sources.len() {
            if let Some(position) = self.sources[at].position {
                directly |= self.read_piece(mesh, at, position)?;
                continue;
            }
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
                from_staging = true;
            }
        }
        Ok((from_staging, directly))
    }

    /// Copies the next piece of a source from the memory of its rank. Only one: what waits for this rank may be more important.
    fn read_piece(&mut self, mesh: &Mesh, at: usize, position: Position) -> Result<bool> {
        let source = &self.sources[at];
        let round = source.consumed;
        let (Some(target), Some(found)) = (source.target, source.found) else {
            return Ok(false);
        };
        if round >= source.rounds {
            return Ok(false);
        }
        let to = part(target, READ_PIECE, round);
        let read = match position {
            Position::Lent(offset) => self.copy_lent(mesh, source, offset, round),
            Position::Process(address) => {
                let from = address.wrapping_add((to.address() - target.address()) as u64);
                mesh.read_memory(source.mesh, from, to)
            }
        };
        // A rank that abandons the operation closes its slot before its program may use the memory for something else.
        let load = |index| mesh.peer_word(source.mesh, index);
        if !is_still_open(load, slot(found.slot) + STATE, found.generation) {
            return Ok(false);
        }
        match read {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => {
                let why = format!("has memory that cannot be read: {error}");
                return Err(self.call.lost(source.member, &why));
            }
        }
        Self::acknowledge(mesh, source, INPUT, round + 1);
        if round + 1 == source.rounds {
            self.read_out |= 1 << source.mesh;
        }
        self.sources[at].consumed += 1;
        Ok(true)
    }

    /// Copies a piece of what a rank lends. Returns true.
    ///
    /// # Errors
    /// It lends no such memory.
    fn copy_lent(
        &self,
        mesh: &Mesh,
        source: &Source,
        offset: usize,
        round: usize,
    ) -> io::Result<bool> {
        let copy = |at: usize, bytes: usize, from: Option<Span>| {
            let to = source.target.and_then(|target| target.part(at, bytes));
            let (Some(to), Some(from)) = (to, from) else {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            };
            self.copy_to_target(mesh.backend(), to, from);
            Ok(())
        };
        let edges = |at, bytes| {
            let start = staging(source.found?.slot, RESULT, 0) + self.offset();
            mesh.peer_span(source.mesh, start + at, bytes)
        };
        let (head, tail) = edges_of(offset, source.bytes);
        let inner = head..source.bytes - tail;
        let start = (READ_PIECE * round).max(inner.start);
        let end = (READ_PIECE * (round + 1)).min(inner.end);
        if start < end {
            let from = offset.checked_add(start);
            let from = from.and_then(|from| mesh.lent_span(source.mesh, from, end - start));
            copy(start, end - start, from)?;
        }
        if round + 1 == source.rounds {
            copy(0, head, edges(0, head))?;
            copy(inner.end, tail, edges(head, tail))?;
        }
        Ok(true)
    }

    /// Writes to staging memory what this rank provides in pages that it does not lend, because they hold other data too.
    pub(super) fn write_edges(&self, mesh: &Mesh, own: Found) {
        // No results are there, since nothing is reduced.
        let start = staging(own.slot, RESULT, 0);
        for reader in &self.readers {
            let Some(Position::Lent(offset)) = reader.position else {
                continue;
            };
            let at = match self.separate {
                true => reader.member * self.chunk,
                false => 0,
            };
            let bytes = reader.span.bytes();
            let (head, tail) = edges_of(offset, bytes);
            let edges = [(at, 0, head), (at + head, bytes - tail, tail)];
            for (to, from, bytes) in edges {
                let to = mesh.segment().span(start + to, bytes);
                if let (Some(to), Some(from)) = (to, reader.span.part(from, bytes)) {
                    copy(mesh.backend(), to, from);
                }
            }
        }
    }

    /// Returns the contributions of all ranks to a part of a round, in rank order, if all are there.
    fn contributions(
        &self,
        mesh: &Mesh,
        round: usize,
        (offset, at, bytes): (usize, usize, usize),
    ) -> Option<SmallVec<[Span; 8]>> {
        let own = part(self.own?, self.chunk, round).part(at, bytes)?;
        let mut inputs = SmallVec::with_capacity(self.sources.len() + 1);
        for source in &self.sources {
            if source.member > self.call.me && inputs.len() == self.call.me {
                inputs.push(own);
            }
            inputs.push(self.staged(mesh, source, INPUT, round, (offset + at, bytes))?);
        }
        if inputs.len() == self.call.me {
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

    pub(super) fn combine(&mut self, mesh: &Mesh, of: DataType, by: Reduction) -> bool {
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
        let start = |member: usize| elements * member / self.call.members.len() * of.bytes();
        (start(member), start(member + 1) - start(member))
    }

    /// Forms this rank's part of the result. Reports whether it published some.
    pub(super) fn combine_parts(
        &mut self,
        mesh: &Mesh,
        own: Found,
        of: DataType,
        by: Reduction,
    ) -> bool {
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
            let (at, bytes) = self.share(self.call.me, piece.bytes(), of);
            let inputs = match free {
                true => self.contributions(mesh, round, (0, at, bytes)),
                false => None,
            };
            let Some(inputs) = inputs else { break };
            let start = staging(own.slot, RESULT, round);
            let results = [mesh.segment().span(start, bytes), piece.part(at, bytes)];
            let results: SmallVec<[Span; 2]> = results.into_iter().flatten().collect();
            reduce(&**mesh.backend(), &inputs, &results, of, by);
            self.acknowledge_round(mesh, round);
            self.combined += 1;
            let word = slot(own.slot) + PUBLISHED + RESULT;
            mesh.segment().store(word, self.combined as u64);
            progressed = true;
        }
        progressed
    }

    /// Reads the parts of the result that others have formed. Reports whether there were any.
    pub(super) fn copy_results(&mut self, mesh: &Mesh, of: DataType) -> bool {
        let Some(output) = self.output else {
            return false;
        };
        let total = rounds(output.bytes(), self.chunk);
        let mut progressed = false;
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
}

/// Returns how many bytes at the start and at the end of a part of lent memory are in pages that it has only in part.
fn edges_of(offset: usize, bytes: usize) -> (usize, usize) {
    let page = LentMemory::PAGE;
    let head = offset.wrapping_neg() % page;
    (head, offset.wrapping_add(bytes) % page)
}

pub(super) fn copy(backend: &Arc<dyn Backend>, to: Span, from: Span) {
    if to.address() == from.address() || to.is_empty() {
        return;
    }
    if let Some(transfer) = Transfer::new(to, from) {
        backend.copy_now(transfer);
    }
}
