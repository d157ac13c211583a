//! What streams wait for: events, notifies and words of memory. The kind of a wait says which records may end it, and the stream
//! comes after what all of those have in common.
//!
//! | a wait for | ends at |
//! |---|---|
//! | an event that moves to its newest record | that record |
//! | a level | any record that no reset, which lies between the two, has cleared |
//! | a notify | any record that no earlier wait has taken |
//! | a number that records change | all records, which make it together |
//! | a word of memory | any write of a value that passes, and that no later write has replaced |

use jumar_core::{ValueTest, WaitEnd};

use super::cells::Access;
use super::conflict::line;
use super::order::{Actor, Clock, join};
use super::race::Races;
use super::{Finding, Query, SourceLocation};

/// The maximum number of records that are kept of one object. With fewer records a wait counts as ordered behind more.
const MOST_RECORDS: usize = 16;
/// The maximum number of clearing steps that are kept of one record.
const MOST_CLEARS: usize = 4;

/// A step of an actor.
type Step = (usize, u64);

fn knows(clock: &Clock, (actor, at): Step) -> bool {
    clock.get(actor).copied().unwrap_or(0) >= at
}

/// A record of an event or a notify, or a write of a word.
struct Record {
    step: Step,
    clock: Clock,
    /// The stream waited for something unknown: a wait for this may imply any order.
    blind: bool,
    /// What a word has from then on.
    value: u64,
    location: SourceLocation,
    /// Steps after which it ends no wait any more.
    cleared: Vec<Step>,
}

impl Record {
    fn is_over(&self, clock: &Clock) -> bool {
        self.cleared.iter().any(|step| knows(clock, *step))
    }
}

/// What a wait comes after.
#[derive(Default)]
pub(super) struct Known {
    pub(super) clock: Clock,
    pub(super) blind: bool,
}

impl Known {
    fn of(record: &Record) -> Known {
        Known {
            clock: record.clock.clone(),
            blind: record.blind,
        }
    }

    /// Keeps what this has in common with another record.
    fn meet(&mut self, record: &Record) {
        self.clock.truncate(record.clock.len());
        for (a, b) in self.clock.iter_mut().zip(&record.clock) {
            *a = (*a).min(*b);
        }
        self.blind |= record.blind;
    }
}

/// A wait for a level that an earlier record than the newest one may end.
pub(super) struct StaleLevel {
    pub(super) first: SourceLocation,
    pub(super) newest: SourceLocation,
}

/// The records of one object.
#[derive(Default)]
pub(super) struct Signal {
    records: Vec<Record>,
    all: Clock,
    any_blind: bool,
}

impl Signal {
    /// Adds a record of an actor, whose last step it is.
    pub(super) fn record(&mut self, of: &Actor, step: Step, location: SourceLocation, value: u64) {
        if self.records.len() == MOST_RECORDS {
            let cleared = self.records.iter().position(|old| !old.cleared.is_empty());
            // The oldest one decides for how long a level has been set.
            self.records.remove(cleared.unwrap_or(1));
        }
        join(&mut self.all, &of.clock);
        self.any_blind |= of.blind;
        self.records.push(Record {
            step,
            clock: of.clock.clone(),
            blind: of.blind,
            value,
            location,
            cleared: Vec::new(),
        });
    }

    /// Notes a step that clears what came before it.
    pub(super) fn clear(&mut self, by: &Actor, step: Step) {
        for record in &mut self.records {
            // What an actor comes after is not known while it is blind.
            if record.step != step && (by.blind || knows(&by.clock, record.step)) {
                if record.cleared.len() == MOST_CLEARS {
                    record.cleared.remove(0);
                }
                record.cleared.push(step);
            }
        }
    }

    /// Returns what the newest record comes after.
    pub(super) fn newest(&self) -> Option<Known> {
        self.records.last().map(Known::of)
    }

    /// Returns what a wait comes after whose stream knows `clock`. None: it ends at something that was not seen.
    pub(super) fn end_of_wait(&self, ends: WaitEnd, clock: &Clock) -> Option<Known> {
        match ends {
            WaitEnd::Newest => self.newest(),
            WaitEnd::Counted => self.newest().map(|_| Known {
                clock: self.all.clone(),
                blind: self.any_blind,
            }),
            WaitEnd::Unknown => None,
            WaitEnd::Level | WaitEnd::Taken => self.common(clock, |_| true),
        }
    }

    /// Returns what a wait for a value comes after.
    pub(super) fn end_of_wait_for(
        &self,
        (test, wanted): (ValueTest, u64),
        clock: &Clock,
    ) -> Option<Known> {
        self.common(clock, |record| test.passes(record.value, wanted))
    }

    fn common(&self, clock: &Clock, passes: impl Fn(&Record) -> bool) -> Option<Known> {
        let mut ends = self
            .records
            .iter()
            .filter(|record| !record.is_over(clock) && passes(record));
        let mut known = Known::of(ends.next()?);
        ends.for_each(|record| known.meet(record));
        Some(known)
    }

    /// Returns the records between which a wait for a level, whose stream knows `clock` behind it, cannot distinguish: the wait does not
    /// come after the newest one.
    pub(super) fn stale_level(&self, clock: &Clock) -> Option<StaleLevel> {
        let newest = self.records.last()?;
        if knows(clock, newest.step) || newest.blind {
            return None;
        }
        let first = self.records.iter().find(|record| !record.is_over(clock))?;
        (first.step != newest.step).then_some(StaleLevel {
            first: first.location,
            newest: newest.location,
        })
    }

    /// Returns how many records are kept.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}

impl Races {
    /// Notes that a stream records an event.
    pub(super) fn record(&mut self, actor: usize, event: u64, location: SourceLocation) {
        let signal = self.events.entry(event).or_default();
        let of = &self.order.actors[actor];
        let step = (actor, of.clock.get(actor).copied().unwrap_or(0));
        signal.record(of, step, location, 0);
    }

    /// Notes that a stream waits for an event or a notify.
    pub(super) fn wait(&mut self, actor: usize, event: u64, ends: WaitEnd) {
        let clock = &self.order.actors[actor].clock;
        let signal = self.events.get(&event);
        let known = signal.and_then(|signal| signal.end_of_wait(ends, clock));
        self.learn(actor, known);
        if ends == WaitEnd::Taken
            && let Some(signal) = self.events.get_mut(&event)
        {
            let by = &self.order.actors[actor];
            signal.clear(by, (actor, by.clock.get(actor).copied().unwrap_or(0)));
        }
    }

    /// Orders an actor behind what is known, or behind something unknown.
    pub(super) fn learn(&mut self, actor: usize, known: Option<Known>) {
        match known {
            Some(Known { clock, blind }) => {
                self.order.learns(actor, &clock);
                self.order.actors[actor].blind |= blind;
            }
            None => self.order.actors[actor].blind = true,
        }
    }

    /// Finds a wait for a level that was set before its newest record.
    pub(super) fn stale_level(&self, access: &Access, event: u64) -> Option<Finding> {
        let actor = &self.order.actors[access.actor as usize];
        if actor.blind {
            return None;
        }
        let stale = self.events.get(&event)?.stale_level(&actor.clock)?;
        let text = format!(
            "stream#{} waits for event#{event}, which an earlier record has set and no reset has cleared",
            access.number
        );
        Some(
            line("JMR-EVENT-023", access, text)
                .and(
                    "again",
                    stale.newest,
                    format!("event#{event} is recorded again, which the wait does not wait for"),
                )
                .and(
                    "earlier",
                    stale.first,
                    format!("event#{event} is recorded, and stays set"),
                ),
        )
    }

    /// Orders a thread behind what is known, or behind everything where that may be anything.
    pub(super) fn host_knows(&mut self, thread: usize, known: Known) {
        match known.blind {
            true => self.host_knows_all(thread),
            false => self.order.learns(thread, &known.clock),
        }
    }

    /// Notes that a thread begins to ask whether something is done. The answer does not include what other threads queue meanwhile.
    pub(super) fn query_begins(&mut self, thread: usize, of: Query) {
        let (known, stream) = match of {
            Query::Stream(stream) => {
                let known = self.order.known_stream(stream).map(|stream| {
                    let Actor { clock, blind, .. } = &self.order.actors[stream];
                    Known {
                        clock: clock.clone(),
                        blind: *blind,
                    }
                });
                (known, Some(stream))
            }
            Query::Event(event) => (self.events.get(&event).and_then(Signal::newest), None),
        };
        match known {
            Some(known) => self.queries.insert(thread, (known, stream)),
            None => self.queries.remove(&thread),
        };
    }

    /// Takes the answer of the query.
    pub(super) fn query_ended(&mut self, thread: usize, is_done: bool) {
        let Some((known, stream)) = self.queries.remove(&thread).filter(|_| is_done) else {
            return;
        };
        if let Some(stream) = stream {
            self.callbacks.wait_for(stream, u64::MAX);
        }
        self.host_knows(thread, known);
    }
}
