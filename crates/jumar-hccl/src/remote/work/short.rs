//! A reduction of a few bytes, whose result every rank forms by itself: what each rank contributes is in its slot.
//!
//! It does what [`Work`](super::Work) does for such an operation. A rank that waits does nothing else meanwhile, so that each step of it
//! counts.

use jumar_hal::Span;
use jumar_types::Result;
use smallvec::{SmallVec, smallvec};

use super::slot::Found;
use super::{Call, INPUT, Step, bits, has_equal_parts};
use crate::operation::{Collective, Pieces};
use crate::reduce::reduce;
use crate::remote::layout::{SHORT_BYTES, short};
use crate::remote::mesh::Mesh;
use crate::{DataType, Kind, Reduction};

/// The contribution and the result of a rank, and how they are combined.
pub(super) struct Spans {
    own: Span,
    output: Span,
    of: DataType,
    by: Reduction,
}

/// Such an operation of one rank.
pub(in crate::remote) struct Short {
    pub(super) call: Call,
    spans: Spans,
    pub(super) slot: Option<Found>,
    /// A bit for each member that has not come.
    missing: u64,
    /// The slots of those that have, by member.
    found: SmallVec<[Found; 4]>,
}

impl Short {
    /// Returns what such an operation works with; `None` for any other one.
    pub(super) fn spans(own: &Collective) -> Option<Spans> {
        let signature = &own.signature;
        let (Pieces::Same(from), Pieces::Same(to)) = (&own.send, &own.receive) else {
            return None;
        };
        let is_short = signature.kind == Kind::AllReduce
            && has_equal_parts(signature)
            && from.bytes() == to.bytes()
            && (1..=SHORT_BYTES).contains(&from.bytes());
        Some(Spans {
            own: *from,
            output: *to,
            of: signature.data_type,
            by: signature.reduction.filter(|_| is_short)?,
        })
    }

    pub(super) fn new(call: Call, spans: Spans) -> Short {
        Short {
            spans,
            slot: None,
            missing: bits(call.other_members()),
            found: smallvec![Found::NONE; call.members.len()],
            call,
        }
    }

    /// Lists the members that have not come, with their ranks in the mesh.
    pub(super) fn missing(&self) -> impl Iterator<Item = (usize, usize)> {
        let members = self.call.members.iter().enumerate();
        let missing = members.filter(|(member, _)| self.missing >> member & 1 != 0);
        missing.map(|(member, rank)| (member, *rank as usize))
    }

    /// Does what is possible now.
    pub(super) fn step(&mut self, mesh: &Mesh) -> Result<Step> {
        let provided = self.slot.is_none();
        let Some(own) = self.slot.or_else(|| self.open(mesh)) else {
            return Ok(Step::NOTHING);
        };
        self.slot = Some(own);
        let mut looked = self.missing;
        while looked != 0 {
            let member = looked.trailing_zeros() as usize;
            looked &= looked - 1;
            if let Some(found) = self.call.find(mesh, member)? {
                self.found[member] = found;
                self.missing &= !(1 << member);
            }
        }
        let done = self.missing == 0;
        if done {
            self.found[self.call.me] = own;
            self.slot = None;
            self.combine(mesh);
            let mut left = self.call.left_behind(own);
            left.ranks = bits(self.call.involved());
            let below = self.found.iter().map(|found| found.ended_below).min();
            mesh.end_operation(left, below.unwrap_or(0));
            if !provided {
                mesh.announce_to_slotless(self.call.involved());
            }
        }
        Ok(Step {
            progressed: provided || done,
            concerns_others: provided,
            read_out: 0,
            done,
        })
    }

    /// Takes a slot, with the contribution in it.
    fn open(&self, mesh: &Mesh) -> Option<Found> {
        let own = self.call.take_slot(mesh)?;
        let bytes = self.spans.own.bytes();
        self.call.open(mesh, own, 1, || {
            if let Some(to) = mesh.segment().span(short(own.slot), bytes) {
                super::data::copy(mesh.backend(), to, self.spans.own);
            }
        });
        Some(own)
    }

    /// Combines what all ranks contribute, in their order, and lets them know that it was read.
    fn combine(&self, mesh: &Mesh) {
        let Spans { output, of, by, .. } = self.spans;
        let mut inputs: SmallVec<[Span; 8]> = SmallVec::with_capacity(self.found.len());
        for (member, found) in self.found.iter().enumerate() {
            let segment = match member == self.call.me {
                true => Some(mesh.segment()),
                false => mesh.peer_segment(self.call.members[member] as usize),
            };
            let input = segment.and_then(|all| all.span(short(found.slot), output.bytes()));
            if let Some(input) = input {
                inputs.push(input);
            }
        }
        debug_assert_eq!(inputs.len(), self.found.len(), "each slot has space");
        reduce(&**mesh.backend(), &inputs, &[output], of, by);
        for (member, found) in self.found.iter().enumerate() {
            if member != self.call.me {
                let rank = self.call.members[member] as usize;
                mesh.acknowledge(rank, found.slot, found.generation, INPUT, 1);
            }
        }
    }
}
