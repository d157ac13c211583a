//! What happened to the bytes of an allocation: ranges with the same history.

use std::collections::BTreeMap;

use super::{Allocation, SourceLocation};

/// More cells than this in one allocation are put together: their history is forgotten.
const MOST_CELLS: usize = 1 << 12;

/// One access to a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) actor: u32,
    /// The number of the actor's stream or thread, which others may have had before or have by now.
    pub(super) number: u32,
    pub(super) at: u64,
    pub(super) ticket: u64,
    pub(super) location: SourceLocation,
    /// The program on the device that did it, as a hash of its name; 0 for copies and fills.
    pub(super) program: u32,
    pub(super) verb: Verb,
    /// A thread did it itself, in a call that waits.
    pub(super) by_thread: bool,
}

/// What was done, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Copies,
    Fills,
    Uses,
    Frees,
    Allocates,
}

impl Verb {
    pub(super) fn text(self) -> &'static str {
        match self {
            Verb::Copies => "copies",
            Verb::Fills => "fills",
            Verb::Uses => "uses",
            Verb::Frees => "frees",
            Verb::Allocates => "allocates",
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) end: usize,
    pub(super) written: bool,
    pub(super) write: Option<Access>,
    pub(super) reads: Vec<Access>,
}

pub(super) struct Region {
    pub(super) allocation: Allocation,
    pub(super) pool: bool,
    /// Uninitialised bytes are known: no other process and no host code writes here.
    pub(super) tracked: bool,
    pub(super) cells: BTreeMap<usize, Cell>,
}

impl Region {
    /// Makes cell borders at the two ends of a range, and cells for what has none.
    pub(super) fn cut(&mut self, start: usize, end: usize) {
        if self.cells.len() > MOST_CELLS {
            self.cells.clear();
            self.tracked = false;
        }
        for border in [start, end] {
            let Some((&from, cell)) = self.cells.range_mut(..border).next_back() else {
                continue;
            };
            if from < border && border < cell.end {
                let mut rest = cell.clone();
                rest.end = cell.end;
                cell.end = border;
                self.cells.insert(border, rest);
            }
        }
        let mut at = start;
        let mut gaps = Vec::new();
        for (&from, cell) in self.cells.range(start..end) {
            if at < from {
                gaps.push((at, from));
            }
            at = cell.end;
        }
        if at < end {
            gaps.push((at, end));
        }
        for (from, to) in gaps {
            self.cells.insert(
                from,
                Cell {
                    end: to,
                    ..Cell::default()
                },
            );
        }
    }

    /// Returns all cells of a range, which were all written just now, one history.
    pub(super) fn unite(&mut self, start: usize, end: usize) {
        let mut range = self.cells.range(start..end);
        if range.next().is_none() || range.next().is_none() {
            return;
        }
        let mut cells = self.cells.extract_if(start..end, |_, _| true);
        let first = cells.next();
        cells.for_each(drop);
        if let Some((_, cell)) = first {
            self.cells.insert(start, Cell { end, ..cell });
        }
    }
}
