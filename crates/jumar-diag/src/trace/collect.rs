//! What a timeline remembers: operations that have not ended, and events that wait to be written.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jumar_core::sync::thread::{self, ThreadId};
use jumar_core::{Admission, Op, Phase, Span};

/// One row of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Track {
    /// A thread of the program, by its number.
    Host(u32),
    /// A stream of a device.
    Stream { device: u32, stream: u32 },
}

/// A moment on a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition {
    pub(super) track: Track,
    pub(super) at_ns: u64,
}

/// Something to be written.
pub(super) enum Event {
    HostThread {
        thread: u32,
        name: Box<str>,
    },
    Device(u32),
    Stream {
        device: u32,
        stream: u32,
    },
    Slice(Slice),
    Operator(Operator),
    NotStarted(Pending),
    Flow(Flow),
    Memory {
        device: Option<u32>,
        at_ns: u64,
        bytes: u64,
    },
}

/// An operation with beginning and end.
pub(super) struct Slice {
    pub(super) track: Track,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) call: &'static str,
    pub(super) ticket: u64,
    pub(super) what: What,
    pub(super) extent: Extent,
    pub(super) error: Option<Box<str>>,
}

/// An operator of a model, inside the slice of the model's execution.
pub(super) struct Operator {
    pub(super) track: Track,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    /// The kind of operator, and the node's name.
    pub(super) operator: Arc<str>,
    pub(super) node: Arc<str>,
    /// The execution's number; 0 if unknown.
    pub(super) of: u64,
}

/// What a slice's length means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The operation's own time.
    Complete,
    /// None: a call that only queued.
    Mark,
    /// The operation's time so far.
    GoesOn,
}

/// A task that is still queued.
pub(super) struct Pending {
    pub(super) location: RowPosition,
    pub(super) call: &'static str,
    pub(super) ticket: u64,
    pub(super) what: What,
}

/// A flow event.
pub(super) struct Flow {
    pub(super) id: u64,
    pub(super) kind: &'static str,
    pub(super) from: RowPosition,
    pub(super) to: RowPosition,
}

/// An operation, without references to what it touches.
#[derive(Clone)]
pub(super) enum What {
    Copy {
        bytes: u64,
        to: usize,
        from: usize,
        direction: &'static str,
    },
    Fill {
        bytes: u64,
        to: usize,
    },
    Record {
        event: u64,
        record: u64,
    },
    Wait {
        event: u64,
        record: u64,
    },
    ResetEvent {
        event: u64,
    },
    Launch {
        name: Arc<str>,
        reads: u64,
        writes: u64,
    },
    Callback {
        blocks: bool,
    },
    WaitForStream {
        stream: u32,
    },
    WaitForEvent {
        event: u64,
        record: u64,
    },
    WaitForContext,
    Allocate {
        bytes: u64,
    },
    Free {
        bytes: u64,
    },
    /// A kind of operation that core has and this version of the timeline does not know.
    Other,
}

/// An operation that was admitted and has not ended.
struct Open {
    track: Track,
    thread: u32,
    admitted_ns: u64,
    start_ns: Option<u64>,
    call: &'static str,
    what: What,
}

/// The events that [`State::take`] returns.
pub(super) struct Taken {
    /// Events that have ended and no longer change.
    pub(super) ended: Vec<Event>,
    /// Events that have not ended, as they are at this moment.
    pub(super) unfinished: Vec<Event>,
}

#[derive(Default)]
pub(super) struct State {
    /// Threads of the program, numbered from 1 as they come.
    threads: HashMap<ThreadId, u32>,
    /// For each thread the mark of its newest call, whose length the next call may still cut.
    marks: Vec<Option<Slice>>,
    streams: HashSet<(u32, u32)>,
    devices: HashSet<u32>,
    open: HashMap<u64, Open>,
    /// The program that runs on each row.
    running: HashMap<Track, u64>,
    ended: Vec<Event>,
    /// Up to where a row is taken: slices of one row never overlap, whatever the clock's grain.
    taken_ns: HashMap<Track, u64>,
    records: HashMap<u64, RowPosition>,
    record_order: VecDeque<u64>,
    newest_record: HashMap<u64, RowPosition>,
    flows: u64,
    /// The newest task that ended on each row.
    newest_over: HashMap<Track, u64>,
    allocated: HashMap<Option<u32>, u64>,
    names: HashSet<Arc<str>>,
}

/// The length of a mark.
const MARK_NS: u64 = 200;
/// The number of records that are kept: a flow from an older one is not drawn.
const MOST_RECORDS: usize = 1 << 16;
/// How many operations later a task that never started is given up: its stream dropped it. A stream holds no more tasks than that.
const GIVEN_UP_AFTER: u64 = 1 << 20;

impl State {
    pub(super) fn is_longer_than(&self, count: usize) -> bool {
        self.ended.len() >= count
    }

    pub(super) fn admitted(&mut self, admission: &Admission<'_>) {
        let thread = self.thread();
        let host = Track::Host(thread);
        if let Op::Allocate { device, .. } | Op::Free { device, .. } = &admission.op {
            self.count_memory(*device, &admission.op, admission.at_ns);
        } else {
            self.meet_device(admission.device);
        }
        let what = self.describe(admission);
        let at_ns = self.end_mark(thread, admission.at_ns);
        let stream = admission
            .stream
            .filter(|_| !matches!(admission.op, Op::WaitForStream));
        let mark = |what| Slice {
            track: host,
            start_ns: at_ns,
            end_ns: at_ns + MARK_NS,
            call: admission.call,
            ticket: admission.ticket,
            what,
            extent: Extent::Mark,
            error: None,
        };
        let track = match (stream, &admission.op) {
            (None, Op::Allocate { .. } | Op::Free { .. }) => {
                return self.set_mark(thread, mark(what));
            }
            (None, _) => host,
            (Some(stream), _) => {
                self.meet_stream(admission.device, stream);
                self.set_mark(thread, mark(what.clone()));
                Track::Stream {
                    device: admission.device,
                    stream,
                }
            }
        };
        let open = Open {
            track,
            thread,
            admitted_ns: at_ns,
            start_ns: None,
            call: admission.call,
            what,
        };
        self.open.insert(admission.ticket, open);
    }

    /// Records the result of an operation. Returns whether the host has just waited for everything: then there is time to write.
    pub(super) fn reported(&mut self, ticket: u64, phase: &Phase, at_ns: u64) -> bool {
        let waited_for_all = || {
            let open = self.open.get(&ticket);
            open.is_some_and(|open| matches!(open.what, What::WaitForContext))
        };
        match phase {
            Phase::Started => {
                self.started(ticket, at_ns);
                false
            }
            Phase::Finished => {
                let waited = waited_for_all();
                self.over(ticket, at_ns, None);
                waited
            }
            Phase::Failed(error) => {
                self.over(ticket, at_ns, Some(error.to_string().into()));
                false
            }
        }
    }

    fn started(&mut self, ticket: u64, at_ns: u64) {
        let Some(open) = self.open.get_mut(&ticket) else {
            return;
        };
        let start_ns = match open.track {
            // What a thread does at once began with the call.
            Track::Host(_) => open.admitted_ns,
            Track::Stream { .. } => at_ns.max(self.taken_ns.get(&open.track).copied().unwrap_or(0)),
        };
        open.start_ns = Some(start_ns);
        if matches!(
            (&open.what, open.track),
            (What::Launch { .. }, Track::Stream { .. })
        ) {
            self.running.insert(open.track, ticket);
        }
        if let What::Record { event, record } = open.what {
            let location = RowPosition {
                track: open.track,
                at_ns: start_ns,
            };
            self.newest_record.insert(event, location);
            self.records.insert(record, location);
            self.record_order.push_back(record);
            if self.record_order.len() > MOST_RECORDS
                && let Some(oldest) = self.record_order.pop_front()
            {
                self.records.remove(&oldest);
            }
        }
    }

    fn over(&mut self, ticket: u64, at_ns: u64, error: Option<Box<str>>) {
        let Some(open) = self.open.remove(&ticket) else {
            return;
        };
        let taken = self.taken_ns.get(&open.track).copied().unwrap_or(0);
        let start_ns = open.start_ns.unwrap_or(at_ns.max(taken));
        let at_ns = match open.track {
            Track::Host(thread) => self.end_mark(thread, at_ns),
            Track::Stream { .. } => at_ns,
        };
        let end_ns = at_ns.max(start_ns + 1).max(taken);
        self.taken_ns.insert(open.track, end_ns);
        self.newest_over.insert(open.track, ticket);
        if self.running.get(&open.track) == Some(&ticket) {
            self.running.remove(&open.track);
        }
        if matches!(open.track, Track::Stream { .. }) {
            let call = RowPosition {
                track: Track::Host(open.thread),
                at_ns: open.admitted_ns,
            };
            self.flow(
                "queue",
                call,
                RowPosition {
                    track: open.track,
                    at_ns: start_ns,
                },
            );
        }
        let waited_for = match open.what {
            // An expired wait has no record.
            _ if error.is_some() => None,
            What::Wait { event, record } | What::WaitForEvent { event, record } => match record {
                // Whichever record came: the newest one that has been reached.
                0 => self.newest_record.get(&event).copied(),
                _ => self.records.get(&record).copied(),
            },
            _ => None,
        };
        if let Some(record) = waited_for {
            self.flow(
                "event",
                record,
                RowPosition {
                    track: open.track,
                    at_ns: end_ns - 1,
                },
            );
        }
        self.ended.push(Event::Slice(Slice {
            track: open.track,
            start_ns,
            end_ns,
            call: open.call,
            ticket,
            what: open.what,
            extent: Extent::Complete,
            error,
        }));
    }

    /// Takes in an operator of a model that ran on a stream.
    pub(super) fn operator(
        &mut self,
        (device, stream): (u32, u32),
        (operator, node): (&str, &str),
        (start_ns, end_ns): (u64, u64),
    ) {
        self.meet_device(device);
        self.meet_stream(device, stream);
        let track = Track::Stream { device, stream };
        let of = self.running.get(&track).copied().unwrap_or(0);
        // Never before the execution around it, whose begin may have been moved behind the task before it.
        let begin = self.open.get(&of).and_then(|open| open.start_ns);
        let start_ns = start_ns.max(begin.unwrap_or(0));
        let (operator, node) = (self.intern(operator), self.intern(node));
        self.ended.push(Event::Operator(Operator {
            track,
            start_ns,
            end_ns: end_ns.max(start_ns),
            operator,
            node,
            of,
        }));
    }

    /// Takes out what has ended, and an image of what has not.
    pub(super) fn take(&mut self, now_ns: u64) -> Taken {
        for thread in 1..=self.marks.len() as u32 {
            self.end_mark(thread, now_ns);
        }
        let newest_over = &self.newest_over;
        self.open.retain(|&ticket, open| {
            let newest = newest_over.get(&open.track).copied().unwrap_or(0);
            open.start_ns.is_some() || newest < ticket.saturating_add(GIVEN_UP_AFTER)
        });
        let mut open: Vec<_> = self.open.iter().collect();
        open.sort_by_key(|(ticket, _)| **ticket);
        let unfinished = open.into_iter().map(|(&ticket, open)| match open.start_ns {
            Some(start_ns) => Event::Slice(Slice {
                track: open.track,
                start_ns,
                end_ns: now_ns.max(start_ns + 1),
                call: open.call,
                ticket,
                what: open.what.clone(),
                extent: Extent::GoesOn,
                error: None,
            }),
            None => Event::NotStarted(Pending {
                location: RowPosition {
                    track: open.track,
                    at_ns: now_ns.max(open.admitted_ns),
                },
                call: open.call,
                ticket,
                what: open.what.clone(),
            }),
        });
        let unfinished = unfinished.collect();
        Taken {
            ended: std::mem::take(&mut self.ended),
            unfinished,
        }
    }

    fn describe(&mut self, admission: &Admission<'_>) -> What {
        let total = |spans: &[Span]| spans.iter().map(|span| span.bytes() as u64).sum();
        match &admission.op {
            Op::Allocate { span, .. } => What::Allocate {
                bytes: span.bytes() as u64,
            },
            Op::Free { span, .. } => What::Free {
                bytes: span.bytes() as u64,
            },
            Op::Copy {
                to,
                from,
                direction,
            } => What::Copy {
                // Bytes of the library itself, as a model's weights, have a span at one end only.
                bytes: from.bytes().max(to.bytes()) as u64,
                to: to.address(),
                from: from.address(),
                direction,
            },
            Op::CopyRows {
                to,
                from,
                direction,
            } => What::Copy {
                bytes: from.bytes() as u64,
                to: to.span.address(),
                from: from.span.address(),
                direction,
            },
            Op::CopyBatch { pieces, direction } => What::Copy {
                bytes: pieces.iter().map(|(to, _)| to.bytes() as u64).sum(),
                to: pieces.first().map_or(0, |(to, _)| to.address()),
                from: pieces.first().map_or(0, |(_, from)| from.address()),
                direction,
            },
            Op::Fill { to } => What::Fill {
                bytes: to.bytes() as u64,
                to: to.address(),
            },
            Op::Record { event, record } => What::Record {
                event: *event,
                record: *record,
            },
            Op::Wait { event, record, .. } => What::Wait {
                event: *event,
                record: *record,
            },
            Op::ResetEvent { event } => What::ResetEvent { event: *event },
            Op::Launch {
                name,
                reads,
                writes,
            } => What::Launch {
                name: self.intern(name),
                reads: total(reads),
                writes: total(writes),
            },
            Op::Callback { blocks } => What::Callback { blocks: *blocks },
            Op::WaitForStream => What::WaitForStream {
                stream: admission.stream.unwrap_or(0),
            },
            Op::WaitForEvent { event, record } => What::WaitForEvent {
                event: *event,
                record: *record,
            },
            Op::WaitForContext { .. } => What::WaitForContext,
            _ => What::Other,
        }
    }

    fn intern(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.names.insert(name.clone());
        name
    }

    fn flow(&mut self, kind: &'static str, from: RowPosition, to: RowPosition) {
        self.flows += 1;
        self.ended.push(Event::Flow(Flow {
            id: self.flows,
            kind,
            from,
            to,
        }));
    }

    fn count_memory(&mut self, device: Option<u32>, op: &Op<'_>, at_ns: u64) {
        if let Some(device) = device {
            self.meet_device(device);
        }
        let total = self.allocated.entry(device).or_default();
        match op {
            Op::Allocate { span, .. } => *total += span.bytes() as u64,
            Op::Free { span, .. } => *total = total.saturating_sub(span.bytes() as u64),
            _ => return,
        }
        self.ended.push(Event::Memory {
            device,
            at_ns,
            bytes: *total,
        });
    }

    fn meet_device(&mut self, device: u32) {
        if self.devices.insert(device) {
            self.ended.push(Event::Device(device));
        }
    }

    fn meet_stream(&mut self, device: u32, stream: u32) {
        if self.streams.insert((device, stream)) {
            self.ended.push(Event::Stream { device, stream });
        }
    }

    /// Returns the number of the calling thread.
    fn thread(&mut self) -> u32 {
        let current = thread::current();
        if let Some(known) = self.threads.get(&current.id()) {
            return *known;
        }
        self.marks.push(None);
        let thread = self.marks.len() as u32;
        self.threads.insert(current.id(), thread);
        let name = current
            .name()
            .map_or_else(system_name, str::to_owned)
            .into();
        self.ended.push(Event::HostThread { thread, name });
        thread
    }

    fn set_mark(&mut self, thread: u32, mark: Slice) {
        self.marks[thread as usize - 1] = Some(mark);
    }

    /// Ends the mark of a thread's last call. Returns the time from which its row is free, `at_ns` at least.
    fn end_mark(&mut self, thread: u32, at_ns: u64) -> u64 {
        let taken = self.taken_ns.entry(Track::Host(thread)).or_default();
        if let Some(mut mark) = self.marks[thread as usize - 1].take() {
            mark.end_ns = mark.end_ns.min(at_ns).max(mark.start_ns + 1);
            *taken = mark.end_ns.max(*taken);
            self.ended.push(Event::Slice(mark));
        }
        at_ns.max(*taken)
    }
}

/// Reads the name of the calling thread where Rust does not know it: threads that a C or Python program made.
fn system_name() -> String {
    let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap_or_default();
    name.trim_end().to_owned()
}
