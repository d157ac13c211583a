//! Records of activities for a profiler inside of the process (MSPTI): kernels, calls, allocations and copies, each with the number of
//! the call that caused it.
//!
//! A probe at the gate sees the operations, and the boundary of the interface the calls. What has ended waits in a queue until the
//! program asks for it: its functions run on its own thread, outside of all locks.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::CString;
use std::sync::Arc;

use jumar::engine::sync::{AtomicU32, AtomicU64, Mutex, Ordering, SystemTime, UNIX_EPOCH};
use jumar::engine::{Admission, Op, Phase, Probe, now_ns};
use jumar_types::{Error, ErrorKind, Result, Span};

use crate::error::null;
use crate::generated::enums;
use crate::process::Process;
use crate::thread::Thread;
use crate::{Cx, refuse};

/// The most records that wait for the program; further ones are dropped.
const MOST_WAITING: usize = 1 << 20;
/// The most operations whose end is awaited: a stream that is destroyed drops its tasks without a report.
const MOST_OPEN: usize = 1 << 20;
/// The stream of an operation that has none.
const NO_STREAM: u32 = u32::MAX;
/// The kind of the processor that runs kernels.
const PROCESSOR: &str = "Jumar CPU";
/// The functions of single operators begin with this.
const SINGLE_OPERATOR: &str = "aclnn";

/// Copies records to buffers of the program, and returns how many the program took.
pub type Deliver = Arc<dyn Fn(&[Record]) -> usize + Send + Sync>;

/// The kinds of records that there are.
const KINDS: [u32; 6] = [
    enums::MSPTI_ACTIVITY_KIND_KERNEL,
    enums::MSPTI_ACTIVITY_KIND_API,
    enums::MSPTI_ACTIVITY_KIND_ACL_API,
    enums::MSPTI_ACTIVITY_KIND_MEMORY,
    enums::MSPTI_ACTIVITY_KIND_MEMCPY,
    enums::MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
];

/// What the process keeps of records.
#[derive(Default)]
pub struct State {
    /// The token of the client; 0 is none.
    client: AtomicU64,
    clients: AtomicU64,
    /// A bit for each kind that is collected.
    kinds: AtomicU32,
    correlations: AtomicU64,
    /// What is added to times; it is measured when the collection begins.
    difference: AtomicU64,
    probe: Mutex<Option<Arc<dyn Probe>>>,
    queue: Mutex<Queue>,
    /// Copies records to the program's buffers.
    deliver: Mutex<Option<Deliver>>,
    /// Names that records point to; they live as long as the process.
    names: Mutex<HashMap<Box<str>, CString>>,
}

#[derive(Default)]
struct Queue {
    /// Operations that have not ended, by their tickets.
    open: HashMap<u64, Activity>,
    ended: Vec<Record>,
    dropped: u64,
}

/// What a thread keeps of the call that it is in.
#[derive(Default)]
pub(crate) struct OfThread {
    /// The call's number; 0 is none.
    correlation: Cell<u64>,
    /// The call was related to the numbers of the program.
    is_related: Cell<bool>,
    /// The numbers that the program has pushed, with their kinds.
    external: RefCell<Vec<(u32, u64)>>,
}

/// The bytes of a record, which it has in a buffer.
pub struct Record {
    bytes: [u8; Record::MOST],
    length: usize,
}

impl Record {
    const MOST: usize = 64;

    /// Returns the bytes. Addresses among them are those of names that live as long as the process.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// Returns how long the records of a kind are, or `None` if there are none.
    pub fn length(kind: u32) -> Option<usize> {
        Some(match kind {
            enums::MSPTI_ACTIVITY_KIND_KERNEL | enums::MSPTI_ACTIVITY_KIND_MEMCPY => 56,
            enums::MSPTI_ACTIVITY_KIND_API | enums::MSPTI_ACTIVITY_KIND_ACL_API => 48,
            enums::MSPTI_ACTIVITY_KIND_MEMORY => 64,
            enums::MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION => 24,
            _ => return None,
        })
    }

    /// Creates a record of a kind; its members follow each other without gaps.
    fn new(kind: u32, members: &[Member]) -> Record {
        let mut record = Record {
            bytes: [0; Record::MOST],
            length: Record::length(kind).unwrap_or_default(),
        };
        let mut at = 0;
        let mut put = |value: &[u8]| {
            record.bytes[at..at + value.len()].copy_from_slice(value);
            at += value.len();
        };
        put(&kind.to_ne_bytes());
        for member in members {
            match *member {
                Member::U8(value) => put(&[value]),
                Member::U32(value) => put(&value.to_ne_bytes()),
                Member::U64(value) => put(&value.to_ne_bytes()),
            }
        }
        record
    }
}

/// A member of a record behind its kind.
#[derive(Clone, Copy)]
enum Member {
    U8(u8),
    U32(u32),
    U64(u64),
}

use Member::{U8, U32, U64};

/// An operation that passed the gate.
struct Activity {
    device: u32,
    stream: Option<u32>,
    correlation: u64,
    start_ns: u64,
    what: What,
}

enum What {
    /// The address of the name.
    Kernel(u64),
    Copy {
        kind: u32,
        bytes: u64,
    },
}

impl Activity {
    fn record(&self, state: &State, end_ns: u64) -> Record {
        let stream = self.stream.unwrap_or(NO_STREAM);
        let (start, end) = (state.since_1970(self.start_ns), state.since_1970(end_ns));
        match self.what {
            What::Kernel(name) => Record::new(
                enums::MSPTI_ACTIVITY_KIND_KERNEL,
                &[
                    U64(start),
                    U64(end),
                    U32(self.device),
                    U32(stream),
                    U64(self.correlation),
                    U64(state.name(PROCESSOR)),
                    U64(name),
                ],
            ),
            What::Copy { kind, bytes } => Record::new(
                enums::MSPTI_ACTIVITY_KIND_MEMCPY,
                &[
                    U32(kind),
                    U64(bytes),
                    U64(start),
                    U64(end),
                    U32(self.device),
                    U32(stream),
                    U64(self.correlation),
                    U8(u8::from(self.stream.is_some())),
                ],
            ),
        }
    }
}

/// Returns what is added to a time of the gate so that it counts from 1970. Of several attempts the one counts in which both clocks
/// were read closest to each other.
fn difference_of_clocks() -> u64 {
    let read = |_| {
        let before = now_ns();
        let today = SystemTime::now().duration_since(UNIX_EPOCH);
        let today = today.unwrap_or_default().as_nanos() as u64;
        let took = now_ns() - before;
        (took, today.wrapping_sub(before + took / 2))
    };
    let closest = (0..5).map(read).min_by_key(|(took, _)| *took);
    closest.map_or(0, |(_, difference)| difference)
}

/// Returns the kind of a copy by the words of the gate.
fn copy_kind(direction: &str) -> u32 {
    match direction {
        "host to host" => enums::MSPTI_ACTIVITY_MEMCPY_KIND_HTOH,
        "host to device" => enums::MSPTI_ACTIVITY_MEMCPY_KIND_HTOD,
        "device to host" => enums::MSPTI_ACTIVITY_MEMCPY_KIND_DTOH,
        "device to device" => enums::MSPTI_ACTIVITY_MEMCPY_KIND_DTOD,
        _ => enums::MSPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN,
    }
}

impl State {
    fn collects(&self, kind: u32) -> bool {
        self.kinds.load(Ordering::Relaxed) & (1 << kind) != 0
    }

    /// Converts a time of the gate to nanoseconds since 1970.
    fn since_1970(&self, at_ns: u64) -> u64 {
        at_ns.wrapping_add(self.difference.load(Ordering::Relaxed))
    }

    /// Returns the address of a name.
    fn name(&self, name: &str) -> u64 {
        let mut names = self.names.lock();
        let known = match names.get(name) {
            Some(known) => known,
            None => {
                let text = CString::new(name.replace('\0', " ")).unwrap_or_default();
                names.entry(name.into()).or_insert(text)
            }
        };
        known.as_ptr().expose_provenance() as u64
    }

    fn end(&self, record: Record) {
        self.queue.lock().end(record);
    }

    /// Numbers the call that a thread begins. Returns the number of the call that it is in.
    pub(crate) fn begin_call(&self, thread: &Thread) -> u64 {
        let of_thread = &thread.activities;
        of_thread.is_related.set(false);
        let own = self.correlations.fetch_add(1, Ordering::Relaxed) + 1;
        of_thread.correlation.replace(own)
    }

    /// Adds the record of a call that has ended.
    pub(crate) fn end_call(&self, name: &str, thread: &Thread, start_ns: u64, before: u64) {
        let own = thread.activities.correlation.replace(before);
        let kind = match name.starts_with(SINGLE_OPERATOR) {
            true => enums::MSPTI_ACTIVITY_KIND_API,
            false => enums::MSPTI_ACTIVITY_KIND_ACL_API,
        };
        if !self.collects(kind) {
            return;
        }
        self.relate(&thread.activities, own);
        self.end(Record::new(
            kind,
            &[
                U64(self.since_1970(start_ns)),
                U64(self.since_1970(now_ns())),
                U32(std::process::id()),
                U32(thread.system_number()),
                U64(own),
                U64(self.name(name)),
            ],
        ));
    }

    /// Relates a call to the newest number of each kind that the program has pushed; the records precede what they are for.
    fn relate(&self, of_thread: &OfThread, correlation: u64) {
        let collects = self.collects(enums::MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
        if !collects || of_thread.is_related.replace(true) {
            return;
        }
        let external = of_thread.external.borrow();
        let mut seen = 0_u32;
        for &(kind, number) in external.iter().rev() {
            if seen & (1 << kind) != 0 {
                continue;
            }
            seen |= 1 << kind;
            self.end(Record::new(
                enums::MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                &[U32(kind), U64(number), U64(correlation)],
            ));
        }
    }

    fn add_memory(&self, admission: &Admission<'_>, span: Span, device: Option<u32>, ends: bool) {
        let kind = match device {
            Some(_) => enums::MSPTI_ACTIVITY_MEMORY_DEVICE,
            None => enums::MSPTI_ACTIVITY_MEMORY_UNKNOWN,
        };
        let at = self.since_1970(admission.at_ns);
        let correlation = crate::thread::with(|thread| thread.activities.correlation.get());
        self.end(Record::new(
            enums::MSPTI_ACTIVITY_KIND_MEMORY,
            &[
                U32(u32::from(ends)),
                U32(kind),
                U64(correlation),
                U64(at),
                U64(at),
                U64(span.address() as u64),
                U64(span.bytes() as u64),
                U32(std::process::id()),
                U32(device.unwrap_or(admission.device)),
                U32(NO_STREAM),
            ],
        ));
    }
}

impl Queue {
    fn end(&mut self, record: Record) {
        match self.ended.len() < MOST_WAITING {
            true => self.ended.push(record),
            false => self.dropped += 1,
        }
    }
}

/// The probe of the process.
struct Activities;

fn state() -> &'static State {
    &crate::process::get().activities
}

impl Probe for Activities {
    fn before(&self, admission: &Admission<'_>) -> Result<()> {
        let state = state();
        let copy = |direction: &str, bytes: usize| What::Copy {
            kind: copy_kind(direction),
            bytes: bytes as u64,
        };
        let what = match admission.op {
            Op::Launch { name, .. } if state.collects(enums::MSPTI_ACTIVITY_KIND_KERNEL) => {
                What::Kernel(state.name(name))
            }
            Op::Allocate { span, device } | Op::Free { span, device } => {
                if state.collects(enums::MSPTI_ACTIVITY_KIND_MEMORY) {
                    let ends = matches!(admission.op, Op::Free { .. });
                    state.add_memory(admission, span, device, ends);
                }
                return Ok(());
            }
            _ if !state.collects(enums::MSPTI_ACTIVITY_KIND_MEMCPY) => return Ok(()),
            Op::Copy { to, direction, .. } => copy(direction, to.bytes()),
            Op::CopyRows { to, direction, .. } => copy(direction, to.bytes()),
            Op::CopyBatch { pieces, direction } => {
                copy(direction, pieces.iter().map(|(to, _)| to.bytes()).sum())
            }
            _ => return Ok(()),
        };
        let correlation = crate::thread::with(|thread| {
            let correlation = thread.activities.correlation.get();
            state.relate(&thread.activities, correlation);
            correlation
        });
        let mut queue = state.queue.lock();
        if queue.open.len() >= MOST_OPEN {
            queue.dropped += queue.open.len() as u64;
            queue.open.clear();
        }
        queue.open.insert(
            admission.ticket,
            Activity {
                device: admission.device,
                stream: admission.stream,
                correlation,
                start_ns: admission.at_ns,
                what,
            },
        );
        Ok(())
    }

    fn reported(&self, ticket: u64, phase: &Phase, at_ns: u64) {
        let state = state();
        let mut queue = state.queue.lock();
        if let Phase::Started = phase {
            if let Some(activity) = queue.open.get_mut(&ticket) {
                activity.start_ns = at_ns;
            }
            return;
        }
        let Some(activity) = queue.open.remove(&ticket) else {
            return;
        };
        drop(queue);
        // What failed was not executed as a whole.
        if matches!(phase, Phase::Finished) {
            state.end(activity.record(state, at_ns));
        }
    }
}

/// Returns the token of the new client, or `None` if there is one already.
///
/// # Errors
/// None.
pub fn subscribe(cx: &Cx<'_>) -> Result<Option<u64>> {
    let state = &cx.process.activities;
    let token = state.clients.fetch_add(1, Ordering::Relaxed) + 1;
    let order = Ordering::AcqRel;
    let taken = state
        .client
        .compare_exchange(0, token, order, Ordering::Acquire);
    Ok(taken.is_ok().then_some(token))
}

/// Delivers what waits, and ends the collection of everything.
///
/// # Errors
/// `InvalidArgument`: the token is not that of the client.
pub fn unsubscribe(cx: &Cx<'_>, token: u64) -> Result<()> {
    let state = &cx.process.activities;
    let order = Ordering::AcqRel;
    let is_client = token != 0
        && state
            .client
            .compare_exchange(token, 0, order, Ordering::Acquire)
            .is_ok();
    if !is_client {
        return refuse(
            ErrorKind::InvalidArgument,
            "subscriber is not the handle that msptiSubscribe returned last",
        );
    }
    state.kinds.store(0, Ordering::Relaxed);
    update(cx.process)?;
    flush(cx)
}

/// Sets how records are delivered; `None` are functions of the program of which one is null.
///
/// # Errors
/// `NullPointer`.
pub fn register(cx: &Cx<'_>, deliver: Option<Deliver>) -> Result<()> {
    let deliver = deliver.ok_or_else(|| null("funcBufferRequested or funcBufferCompleted"))?;
    *cx.process.activities.deliver.lock() = Some(deliver);
    Ok(())
}

/// Delivers the records that wait, in the order in which they ended.
///
/// # Errors
/// None.
pub fn flush(cx: &Cx<'_>) -> Result<()> {
    let state = &cx.process.activities;
    // Without buffers they wait on.
    let Some(deliver) = state.deliver.lock().clone() else {
        return Ok(());
    };
    let mut queue = state.queue.lock();
    let mut dropped = std::mem::take(&mut queue.dropped);
    let records = std::mem::take(&mut queue.ended);
    drop(queue);
    if !records.is_empty() {
        dropped += records.len().saturating_sub(deliver(&records)) as u64;
    }
    if dropped > 0 {
        crate::log::problem(&format!(
            "{dropped} records of activities were dropped: the program did not take them"
        ));
    }
    Ok(())
}

/// Attaches the probe where something is collected, and detaches it where nothing is.
fn update(process: &'static Process) -> Result<()> {
    let state = &process.activities;
    let mut probe = state.probe.lock();
    let collects = state.kinds.load(Ordering::Relaxed) != 0;
    process.prof.record_calls(collects);
    if collects == probe.is_some() {
        return Ok(());
    }
    let gate = process.runtime()?.gate();
    match probe.take() {
        Some(attached) => gate.detach(&attached),
        None => {
            let difference = difference_of_clocks();
            state.difference.store(difference, Ordering::Relaxed);
            let made: Arc<dyn Probe> = Arc::new(Activities);
            gate.attach(made.clone());
            *probe = Some(made);
        }
    }
    Ok(())
}

fn check_kind(kind: u32) -> Result<()> {
    if KINDS.contains(&kind) {
        return Ok(());
    }
    let sentence = match enums::name_of("msptiActivityKind", i64::from(kind)) {
        Some(name) if kind != enums::MSPTI_ACTIVITY_KIND_INVALID => {
            format!("records of {name} are not supported")
        }
        _ => crate::not_a_value("msptiActivityKind", kind),
    };
    Err(Error::new(ErrorKind::InvalidArgument, sentence)
        .fix("Use the kinds KERNEL, API, ACL_API, MEMORY, MEMCPY and EXTERNAL_CORRELATION."))
}

pub fn msptiActivityEnable(cx: &Cx<'_>, kind: u32) -> Result<u32> {
    check_kind(kind)?;
    let state = &cx.process.activities;
    state.kinds.fetch_or(1 << kind, Ordering::Relaxed);
    update(cx.process).inspect_err(|_| {
        state.kinds.fetch_and(!(1 << kind), Ordering::Relaxed);
    })?;
    Ok(enums::MSPTI_SUCCESS)
}

pub fn msptiActivityDisable(cx: &Cx<'_>, kind: u32) -> Result<u32> {
    check_kind(kind)?;
    let state = &cx.process.activities;
    state.kinds.fetch_and(!(1 << kind), Ordering::Relaxed);
    update(cx.process)?;
    Ok(enums::MSPTI_SUCCESS)
}

pub fn msptiActivityIsEnabled(cx: &Cx<'_>, kind: u32) -> Result<u8> {
    let collects = KINDS.contains(&kind) && cx.process.activities.collects(kind);
    Ok(u8::from(collects))
}

fn check_external(kind: u32) -> Result<()> {
    let range = enums::MSPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN
        ..=enums::MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
    match range.contains(&kind) {
        true => Ok(()),
        false => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("msptiExternalCorrelationKind", kind),
        ),
    }
}

/// The most numbers that a thread has pushed and not popped.
const MOST_EXTERNAL: usize = 1 << 20;

pub fn msptiActivityPushExternalCorrelationId(cx: &Cx<'_>, kind: u32, number: u64) -> Result<u32> {
    check_external(kind)?;
    let mut external = cx.thread.activities.external.borrow_mut();
    if external.len() >= MOST_EXTERNAL {
        return Ok(enums::MSPTI_ERROR_MAX_LIMIT_REACHED);
    }
    external.push((kind, number));
    Ok(enums::MSPTI_SUCCESS)
}

/// Returns the number that the thread pushed last for a kind, or `None`.
///
/// # Errors
/// `InvalidArgument`: no such kind exists.
pub fn pop_external(cx: &Cx<'_>, kind: u32) -> Result<Option<u64>> {
    check_external(kind)?;
    let mut external = cx.thread.activities.external.borrow_mut();
    let newest = external.iter().rposition(|(other, _)| *other == kind);
    Ok(newest.map(|at| external.remove(at).1))
}

/// Returns the error of a null pointer.
pub fn null_pointer(name: &str) -> Error {
    null(name)
}

/// Returns the error of a buffer that does not hold records.
pub fn no_record(offset: usize) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("the buffer has no record at offset {offset}"),
    )
    .fix("Pass a buffer and a record as the function for filled buffers got them.")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offsets are those of the packed structures of the public header.
    #[test]
    fn members_lie_without_gaps() {
        let record = Record::new(
            enums::MSPTI_ACTIVITY_KIND_KERNEL,
            &[U64(1), U64(2), U32(3), U32(4), U64(5), U64(6), U64(7)],
        );
        let bytes = record.bytes();
        assert_eq!(bytes.len(), 56);
        let long = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(
            [long(4), long(12), long(28), long(36), long(44)],
            [1, 2, 5, 6, 7]
        );
        for kind in KINDS {
            let length = Record::length(kind).unwrap();
            assert!(length.is_multiple_of(8) && length <= Record::MOST);
        }
    }
}
