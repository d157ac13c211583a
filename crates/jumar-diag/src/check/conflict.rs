//! Compares an access with earlier ones, and creates the finding if two of them are not ordered.

use jumar_core::Op;

use super::Finding;
use super::cells::{Access, Cell, Region, Verb};
use super::order::{Actor, Clock, knows};

/// One access on its way through cells.
pub(super) struct AccessCheck<'a> {
    pub(super) clock: &'a Clock,
    /// All actors, where tasks of different devices are not compared.
    pub(super) others: Option<&'a Vec<Actor>>,
    pub(super) writes: bool,
    pub(super) needs_bytes: bool,
    pub(super) access: &'a Access,
    /// The last access that is in no order with this one: whether it wrote, and where the two meet.
    pub(super) last: Option<(Access, bool, usize, usize)>,
    /// Ranges that are read and were never written, in ascending order.
    pub(super) unwritten: Vec<(usize, usize)>,
}

/// What an access wants of the bytes that it reads.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// It does not read, or nothing is known of what it reads.
    Nothing,
    /// It computes with all of them.
    All,
    /// It copies them; the program may look at some of them alone.
    Copied,
    /// It copies them as one part of several.
    Part,
}

impl Needs {
    /// Returns what is wrong with reading these ranges, which no task has written, among `bytes` bytes.
    pub(super) fn judge(
        self,
        region: &Region,
        unwritten: &[(usize, usize)],
        access: &Access,
        bytes: usize,
    ) -> Option<Finding> {
        let ((from, _), (_, to)) = (unwritten.first()?, unwritten.last()?);
        let missing: usize = unwritten.iter().map(|(from, to)| to - from).sum();
        let rule = match self {
            Needs::Nothing => return None,
            Needs::All => "JMR-MEM-009",
            Needs::Copied if missing == bytes => "JMR-MEM-009",
            Needs::Copied | Needs::Part => "JMR-MEM-016",
        };
        let allocation = &region.allocation;
        let text = format!(
            "task {} reads bytes {} to {} of {}, which no task, copy or fill has written",
            access.ticket,
            from - allocation.start,
            to - allocation.start - 1,
            allocation.name()
        );
        let made = format!("{} of {} bytes", allocation.name(), allocation.asked);
        Some(line(rule, access, text).and("made", allocation.made, made))
    }
}

impl AccessCheck<'_> {
    #[inline]
    pub(super) fn at(&mut self, from: usize, cell: &mut Cell) {
        if self.needs_bytes && !cell.written {
            match self.unwritten.last_mut() {
                Some((_, end)) if *end == from => *end = cell.end,
                _ => self.unwritten.push((from, cell.end)),
            }
        }
        let clock = self.clock;
        let (others, own) = (self.others, self.access.actor);
        let is_elsewhere = |earlier: &Access| {
            others.is_some_and(|actors| {
                let earlier = &actors[earlier.actor as usize];
                !earlier.is_thread && earlier.device != actors[own as usize].device
            })
        };
        // Of several the last: an edge behind it orders those before it too.
        let mut consider = |earlier: &Access, wrote: bool| {
            let later = |(last, ..): &(Access, bool, usize, usize)| last.ticket < earlier.ticket;
            if !knows(clock, earlier)
                && !is_elsewhere(earlier)
                && self.last.as_ref().is_none_or(later)
            {
                self.last = Some((*earlier, wrote, from, cell.end));
            }
        };
        if let Some(write) = &cell.write {
            consider(write, true);
        }
        if self.writes {
            for read in &cell.reads {
                consider(read, false);
            }
        }
        if self.writes {
            cell.written = true;
            cell.write = Some(*self.access);
            cell.reads.clear();
        } else {
            // Whatever is in no order with an earlier read that comes before this one is in none with this one either.
            cell.reads.retain(|read| !knows(clock, read));
            cell.reads.push(*self.access);
        }
    }
}

/// Returns a description of an operation.
pub(super) fn verb(op: &Op<'_>) -> Verb {
    match op {
        Op::Fill { .. } => Verb::Fills,
        Op::Launch { .. } => Verb::Uses,
        Op::Free { .. } => Verb::Frees,
        _ => Verb::Copies,
    }
}

pub(super) fn line(rule: &'static str, access: &Access, text: String) -> Finding {
    Finding {
        rule,
        lines: vec![super::Line {
            label: "now",
            location: access.location,
            text,
        }],
        missing: None,
        fix: None,
    }
}

pub(super) fn who(access: &Access) -> String {
    match access.by_thread {
        true => "the host".to_owned(),
        false => format!("task {} on stream#{}", access.ticket, access.number),
    }
}

pub(super) fn race(
    region: &Region,
    now: &Access,
    writes: bool,
    earlier: &Access,
    wrote: bool,
    from: usize,
    to: usize,
) -> Finding {
    let allocation = &region.allocation;
    let rule = match (now.by_thread, earlier.by_thread, writes, wrote) {
        (_, true, ..) => "JMR-THREAD-004",
        _ if region.pool => "JMR-SYNC-009",
        (true, _, false, _) if earlier.program != 0 => "JMR-SYNC-023",
        (true, _, false, _) => "JMR-SYNC-005",
        (true, _, true, _) if earlier.program != 0 => "JMR-SYNC-024",
        (true, _, true, _) => "JMR-SYNC-006",
        (_, _, true, true) if now.program != 0 && now.program == earlier.program => "JMR-MODEL-010",
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
    let missing = match (now.by_thread, earlier.by_thread) {
        (true, true) => format!(
            "an order between threads {} and {}, whose calls overlap in time: a lock or a join",
            earlier.number, now.number
        ),
        (false, true) => format!(
            "an order between thread {}, whose call overlaps in time, and the thread that queues this task",
            earlier.number
        ),
        (true, false) => {
            let stream = earlier.number;
            format!(
                "a synchronise of stream#{stream} before this call, or the call's asynchronous form on stream#{stream}"
            )
        }
        (false, false) => format!(
            "record an event on stream#{} after task {}, and let stream#{} wait for it before task {}",
            earlier.number, earlier.ticket, now.number, now.ticket
        ),
    };
    line(rule, now, format!("{} {} {range}", who(now), does(writes)))
        .and(
            "earlier",
            earlier.location,
            format!("{} {} {range}", who(earlier), does(wrote)),
        )
        .and("made", allocation.made, allocation.name())
        .missing(missing)
}
