//! Programs that stand still forever: every thread waits for work that nothing can carry on.
//!
//! Each look compares what is pending with the look before. A program is stuck when, look after look, nothing was queued, begun or
//! ended, every thread of the program waits here without a limit, and no thread of the process wants to run. Whatever could still
//! release it from outside (a limit, another process, a function of the program on a thread of ours) rules that out.

use jumar_core::{Admission, Op, Phase};

use super::order::Numbers;
use super::race::{OpContext, Races};
use super::{Finding, Interest, Line, SourceLocation};

/// What a task on a stream waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    /// An event or a notify.
    Record(u64),
    /// A word of memory.
    Value(usize),
    /// The thread that runs the stream's callbacks.
    Callback,
}

/// A task that holds its stream, now or when its turn comes.
pub(super) struct Wait {
    pub(super) stream: u32,
    pub(super) what: For,
    pub(super) location: SourceLocation,
    pub(super) started: bool,
    /// It ends by itself.
    pub(super) limited: bool,
}

/// A thread that waits.
pub(super) struct HostWait {
    pub(super) stream: Option<u32>,
    pub(super) location: SourceLocation,
    pub(super) limited: bool,
}

#[derive(Default)]
pub(super) struct DeadlockState {
    pub(super) waits: Numbers<u64, Wait>,
    /// Records that have not run: the stream, the event or notify, the source location.
    pub(super) records: Numbers<u64, (u32, u64, SourceLocation)>,
    pub(super) hosts: Numbers<u64, HostWait>,
    /// By stream: the callback that was handed over last.
    pub(super) callbacks: Numbers<u32, SourceLocation>,
    /// Something outside may release the program.
    pub(super) open: bool,
    /// Changes with each operation that is seen.
    pub(super) changes: u64,
    /// The value of `changes` at the last poll, and for how many polls in a row it did not change.
    seen: (u64, u32),
}

/// The number of consecutive polls without a change after which the program counts as deadlocked.
const POLLS: u32 = 4;

impl DeadlockState {
    /// Returns how many threads wait forever; `None` where one has a limit, or something may come from outside.
    pub(super) fn waiting(&mut self) -> Option<usize> {
        let limited = self.hosts.values().any(|host| host.limited)
            || self.waits.values().any(|wait| wait.started && wait.limited);
        if self.open || limited || self.hosts.is_empty() || self.seen.0 != self.changes {
            self.seen = (self.changes, 0);
            return None;
        }
        Some(self.hosts.len())
    }

    /// Counts a look at which every thread slept, or one at which some did not. Returns whether that is enough.
    pub(super) fn looked(&mut self, asleep: bool) -> bool {
        self.seen.1 = if asleep { self.seen.1 + 1 } else { 0 };
        self.seen.1 == POLLS
    }

    /// Returns where the thread is that has waited longest.
    pub(super) fn waiting_host(&self) -> SourceLocation {
        let first = self.hosts.iter().min_by_key(|(ticket, _)| **ticket);
        first.map_or(SourceLocation::UNKNOWN, |(_, host)| host.location)
    }

    /// Describes the cycle of waits.
    pub(super) fn explain(&self) -> Option<Finding> {
        let held = |stream: u32| {
            let mut waits: Vec<_> = self
                .waits
                .iter()
                .filter(|(_, w)| w.stream == stream)
                .collect();
            // The first one that has not ended holds the stream, or will: or else a callback, whose turn is over when it is handed over.
            waits.sort_by_key(|(ticket, _)| **ticket);
            let first = waits
                .first()
                .map(|(_, wait)| (wait.what, wait.location, wait.started));
            let callback = self.callbacks.get(&stream);
            match (first, callback) {
                (Some((what, location, true)), _) | (Some((what, location, false)), None) => {
                    Some((stream, what, location))
                }
                (_, Some(location)) => Some((stream, For::Callback, *location)),
                (None, None) => None,
            }
        };
        let mut hosts: Vec<_> = self.hosts.iter().collect();
        hosts.sort_by_key(|(ticket, _)| **ticket);
        let started = || {
            let mut started: Vec<_> = self.waits.iter().filter(|(_, wait)| wait.started).collect();
            started.sort_by_key(|(ticket, _)| **ticket);
            started.first().map(|(_, wait)| wait.stream)
        };
        for (_, host) in hosts {
            let Some(first) = host.stream.or_else(started) else {
                continue;
            };
            let Some(mut wait) = held(first) else {
                continue;
            };
            let mut lines = vec![Line {
                label: "now",
                location: host.location,
                text: format!("the host waits for stream#{first}, which never continues"),
            }];
            let mut passed = Vec::new();
            let (rule, missing) = loop {
                let (waiting, what, location) = wait;
                passed.push(waiting);
                let text = match what {
                    For::Record(number) => format!("for a record of number {number}"),
                    For::Value(address) => format!("for the word at {address:#x}"),
                    For::Callback => "for a thread that runs its callback".to_owned(),
                };
                lines.push(Line {
                    label: "held",
                    location,
                    text: format!("stream#{waiting} waits {text}"),
                });
                let number = match what {
                    For::Record(number) => number,
                    For::Value(_) => {
                        break (
                            "JMR-SYNC-019",
                            "a write of the value that is waited for".to_owned(),
                        );
                    }
                    For::Callback => {
                        break (
                            "JMR-CB-008",
                            "a loop of aclrtProcessReport on the subscribed thread".to_owned(),
                        );
                    }
                };
                let Some((stream, _, location)) =
                    self.records.values().find(|(_, of, _)| *of == number)
                else {
                    let text = "a record of the event: no thread has queued it, and every thread is waiting";
                    break ("JMR-SYNC-019", text.to_owned());
                };
                lines.push(Line {
                    label: "behind",
                    location: *location,
                    text: format!("the record is queued on stream#{stream}, behind a wait"),
                });
                if passed.contains(stream) {
                    let circle: Vec<_> = passed.iter().map(|s| format!("stream#{s}")).collect();
                    break (
                        "JMR-SYNC-018",
                        format!(
                            "an order in which {} do not wait for each other",
                            circle.join(" and ")
                        ),
                    );
                }
                match held(*stream) {
                    Some(next) => wait = next,
                    None => return None,
                }
            };
            return Some(Finding {
                rule,
                lines,
                missing: Some(missing),
                fix: None,
            });
        }
        None
    }
}

impl Races {
    /// Notes who waits for what, for [`super::deadlock`].
    pub(super) fn note_waits(&mut self, admission: &Admission<'_>, context: &OpContext<'_>) {
        let (ticket, location) = (admission.ticket, context.location);
        let limited = admission.call.contains("Timeout");
        let deadlock = &mut self.deadlock;
        deadlock.changes += 1;
        let what = match &admission.op {
            Op::WaitForStream | Op::WaitForEvent { .. } | Op::WaitForContext { .. } => {
                let host = HostWait {
                    stream: admission.stream,
                    location,
                    limited,
                };
                deadlock.hosts.insert(ticket, host);
                return;
            }
            Op::Wait { event, .. } => For::Record(*event),
            Op::WaitValue { at, .. } => For::Value(at.address()),
            Op::Callback { blocks } => {
                // Whether such a function, on a thread of the runtime, waits or sleeps, is not observable.
                deadlock.open |= admission.call == "aclrtLaunchHostFunc";
                if !blocks {
                    return;
                }
                For::Callback
            }
            Op::Record { event, .. } => {
                if let Some(stream) = admission.stream {
                    context.interest.found(ticket);
                    deadlock.records.insert(ticket, (stream, *event, location));
                }
                return;
            }
            _ => return,
        };
        let Some(stream) = admission.stream else {
            return;
        };
        context.interest.found(ticket);
        deadlock.waits.insert(
            ticket,
            Wait {
                stream,
                what,
                location,
                started: false,
                limited,
            },
        );
    }

    /// Notes what became of those.
    pub(super) fn note_phase(&mut self, ticket: u64, phase: &Phase, interest: &Interest) {
        let deadlock = &mut self.deadlock;
        deadlock.changes += 1;
        let over = !matches!(phase, Phase::Started);
        if let Some(wait) = deadlock.waits.get_mut(&ticket) {
            wait.started = true;
            if wait.what == For::Callback {
                // It is handed over now, and holds the stream until it was called.
                deadlock.callbacks.insert(wait.stream, wait.location);
            }
            if over {
                deadlock.waits.remove(&ticket);
                interest.lost(ticket);
            }
        } else if over && deadlock.records.remove(&ticket).is_some() {
            interest.lost(ticket);
        } else if over {
            deadlock.hosts.remove(&ticket);
        }
    }
}
