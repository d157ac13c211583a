//! Subscriptions: a record of each operator of a model goes to a pipe of the program, which takes the records apart with the
//! functions here.
//!
//! A thread for each subscription writes, so that no operator waits for the program to read. It has the pipe open for both
//! ways: then a program that closes its reading end is not ended by a signal, and what it did not read is dropped.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{CStr, CString};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind as Io, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jumar::engine::Table;
use jumar::engine::sync::{AtomicU64, Condvar, Instant, Mutex, Ordering, thread};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use super::Way;
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// A configuration of a subscription; it never changes.
pub struct SubscribeConfig {
    id: u64,
    /// The pipe's descriptor.
    descriptor: i32,
}

/// What the process keeps of subscriptions.
pub(super) struct Subscriptions {
    configs: Table<SubscribeConfig>,
    running: Mutex<HashMap<u32, Arc<Subscription>>>,
    /// The pipes of models that were unloaded before the program ended their subscriptions.
    unloaded: Mutex<HashMap<u32, Pipe>>,
    /// Models of other runtimes, by number and device, that were reported to the profiler.
    reported: Mutex<HashSet<(u32, u32)>>,
    /// What was read once and is not given again.
    given: Mutex<Given>,
    /// What programs hold the address of; never shortened.
    returned: Mutex<Vec<CString>>,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Subscriptions {
            configs: Table::new(IdKind::SubscribeConfig, Arc::default()),
            running: Mutex::default(),
            unloaded: Mutex::default(),
            reported: Mutex::default(),
            given: Mutex::default(),
            returned: Mutex::default(),
        }
    }
}

impl Subscriptions {
    pub(super) fn any(&self) -> bool {
        !self.running.lock().is_empty()
    }

    pub(super) fn of(&self, model: u32) -> Option<Arc<Subscription>> {
        self.running.lock().get(&model).cloned()
    }

    /// Adds or removes a model that another runtime executes on a device.
    pub(super) fn report_model(&self, model: u32, device: u32, exists: bool) {
        let mut reported = self.reported.lock();
        match exists {
            true => reported.insert((model, device)),
            false => reported.remove(&(model, device)),
        };
    }

    /// Checks that a model is loaded, or was reported.
    ///
    /// # Errors
    /// `ModelId`.
    fn check_model(&self, cx: &Cx<'_>, model: u32) -> Result<()> {
        let loaded = cx.process.models.find(model).map(drop);
        let is_reported = || {
            let reported = self.reported.lock();
            reported.iter().any(|(number, _)| *number == model)
        };
        loaded.or_else(|error| if is_reported() { Ok(()) } else { Err(error) })
    }
}

/// The newest names and types that were read.
#[derive(Default)]
struct Given {
    known: HashSet<(u64, usize)>,
    order: VecDeque<(u64, usize)>,
}

impl Given {
    /// Returns whether something is given for the first time.
    fn is_first(&mut self, serial: u64, field: usize) -> bool {
        const MOST: usize = 1 << 16;
        if !self.known.insert((serial, field)) {
            return false;
        }
        self.order.push_back((serial, field));
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

/// What a record says.
pub(super) struct Record<'a> {
    pub(super) model: u32,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) name: &'a str,
    pub(super) operator: &'a str,
}

/// Marks a record as one of ours.
const SIGNATURE: u64 = u64::from_le_bytes(*b"JMRPROF1");
/// Where the parts of a record lie.
const SERIAL: usize = 8;
const MODEL: usize = 16;
const THREAD: usize = 20;
const START: usize = 24;
const END: usize = 32;
const TYPE: usize = 40;
const NAME: usize = TYPE + enums::ACL_PROF_MAX_OP_TYPE_LEN as usize;
/// The size of a record; numbers in it are in the order of the machine's bytes.
const BYTES: usize = (NAME + enums::ACL_PROF_MAX_OP_NAME_LEN as usize).next_multiple_of(64);

fn encode(record: &Record<'_>) -> [u8; BYTES] {
    static SERIALS: AtomicU64 = AtomicU64::new(1);
    let mut bytes = [0; BYTES];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(0, &SIGNATURE.to_ne_bytes());
    put(
        SERIAL,
        &SERIALS.fetch_add(1, Ordering::Relaxed).to_ne_bytes(),
    );
    put(MODEL, &record.model.to_ne_bytes());
    put(THREAD, &system_thread().to_ne_bytes());
    put(START, &record.start_ns.to_ne_bytes());
    put(END, &record.end_ns.to_ne_bytes());
    let cut = |text: &str, capacity: i32| text.len().min(capacity as usize - 1);
    put(
        TYPE,
        &record.operator.as_bytes()[..cut(record.operator, enums::ACL_PROF_MAX_OP_TYPE_LEN)],
    );
    put(
        NAME,
        &record.name.as_bytes()[..cut(record.name, enums::ACL_PROF_MAX_OP_NAME_LEN)],
    );
    bytes
}

/// The number of the thread that runs an operator, which may be one of the library's own.
fn system_thread() -> u32 {
    crate::thread::with(|thread| thread.system_number())
}

/// The writing end of a program's pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pipe {
    descriptor: i32,
    /// What distinguishes the pipe from a file that has the same descriptor later.
    identity: (u64, u64),
}

impl Pipe {
    /// The standard streams are not closed: the next file that the process opens would have their number.
    const STANDARD: std::ops::RangeInclusive<i32> = 0..=2;

    /// Returns the descriptor if the program has not closed it itself, and no other subscription writes to the pipe.
    fn to_close(self, running: &HashMap<u32, Arc<Subscription>>) -> Option<i32> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor));
        let found = std::fs::metadata(path).map(|found| identity(&found)).ok()?;
        let is_shared = running.values().any(|other| other.pipe == self);
        let closes = found == self.identity && !is_shared;
        (closes && !Pipe::STANDARD.contains(&self.descriptor)).then_some(self.descriptor)
    }
}

fn identity(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// A model with a subscription to its operators.
pub(super) struct Subscription {
    pipe: Pipe,
    state: Mutex<Queue>,
    changed: Condvar,
    writer: Mutex<Option<thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<[u8; BYTES]>,
    is_over: bool,
}

/// The maximum number of records that the program has not read yet.
const MOST_WAITING: usize = 1 << 16;
/// How long a subscription that was ended waits for a program that does not read.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long the writer lets a full pipe be.
const PAUSE: Duration = Duration::from_millis(1);

impl Subscription {
    fn begin(descriptor: i32) -> Result<Arc<Subscription>> {
        let (file, identity) = open(descriptor)?;
        let made = Arc::new(Subscription {
            pipe: Pipe {
                descriptor,
                identity,
            },
            state: Mutex::default(),
            changed: Condvar::new(),
            writer: Mutex::default(),
        });
        let its = made.clone();
        let writer = thread::Builder::new()
            .name("jumar-subscr".to_owned())
            .spawn(move || its.write(file))
            .map_err(|error| {
                let sentence = format!("no thread for the subscription: {error}");
                Error::new(ErrorKind::Failure, sentence)
            })?;
        *made.writer.lock() = Some(writer);
        Ok(made)
    }

    /// Sends a record. One that finds too many before it is dropped.
    pub(super) fn report(&self, record: &Record<'_>) {
        let bytes = encode(record);
        let mut state = self.state.lock();
        if state.waiting.len() < MOST_WAITING {
            state.waiting.push_back(bytes);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Ends the subscription once everything was read, or the reader is gone.
    fn end(&self) {
        self.state.lock().is_over = true;
        self.changed.notify_all();
        if let Some(writer) = self.writer.lock().take() {
            // A writer that panicked has nothing left to say.
            drop(writer.join());
        }
    }

    fn write(&self, mut pipe: File) {
        loop {
            let mut state = self.state.lock();
            while state.waiting.is_empty() && !state.is_over {
                state = self.changed.wait(state);
            }
            let Some(record) = state.waiting.pop_front() else {
                return;
            };
            drop(state);
            if !self.send(&mut pipe, &record) {
                let dropped = self.state.lock().waiting.drain(..).count() + 1;
                crate::log::problem(&format!(
                    "{dropped} records of a subscription were dropped: the program does not read them"
                ));
                if self.state.lock().is_over {
                    return;
                }
            }
        }
    }

    /// Writes one record as a whole. Returns whether it could: the program may have stopped to read.
    fn send(&self, pipe: &mut File, record: &[u8]) -> bool {
        let mut rest = record;
        let mut since: Option<Instant> = None;
        while !rest.is_empty() {
            match pipe.write(rest) {
                Ok(count) => {
                    rest = &rest[count..];
                    since = None;
                }
                Err(error) if error.kind() == Io::Interrupted => {}
                Err(error) if error.kind() == Io::WouldBlock => {
                    let state = self.state.lock();
                    let waits = state.is_over && {
                        let began = *since.get_or_insert_with(Instant::now);
                        began.elapsed() >= PATIENCE
                    };
                    if waits {
                        return false;
                    }
                    drop(self.changed.wait_for(state, PAUSE));
                }
                Err(_) => return false,
            }
        }
        true
    }
}

pub fn aclprofCreateSubscribeConfig(
    cx: &Cx<'_>,
    _times: i8,
    _metrics: u32,
    descriptor: Option<&[u8]>,
) -> Result<Raw> {
    let bytes = descriptor.ok_or_else(|| null("fd"))?;
    let descriptor = bytes
        .first_chunk()
        .map_or(-1, |word| i32::from_ne_bytes(*word));
    let configs = &cx.process.prof.subscriptions.configs;
    let made = configs.insert(|id| Arc::new(SubscribeConfig { id, descriptor }))?;
    Ok(Raw(made.id))
}

pub fn aclprofDestroySubscribeConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    let configs = &cx.process.prof.subscriptions.configs;
    configs.remove(config.0, cx.call.name).map(drop)
}

/// Does not wait where the pipe is full: a flag of the system's `open`.
const NO_WAIT: i32 = 0o4000;

fn open(descriptor: i32) -> Result<(File, (u64, u64))> {
    let path = PathBuf::from(format!("/proc/self/fd/{descriptor}"));
    let opened = OpenOptions::new()
        .read(true)
        .append(true)
        .custom_flags(NO_WAIT)
        .open(path);
    let described = opened.and_then(|file| {
        let found = file.metadata()?;
        Ok((file, identity(&found)))
    });
    described.map_err(|error| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "the descriptor {descriptor} of the subscription cannot be written to: {error}"
            ),
        )
        .fix("Pass the address of the descriptor of a pipe's writing end.")
    })
}

pub fn aclprofModelSubscribe(cx: &Cx<'_>, model: u32, config: Raw) -> Result<()> {
    let state = &cx.process.prof;
    state.subscriptions.check_model(cx, model)?;
    if config.is_null() {
        return Err(null("profSubscribeConfig"));
    }
    let descriptor = state.subscriptions.configs.get(config.0)?.descriptor;
    let way = state.way.lock();
    match &*way {
        Way::Outside => return state.refuse_outside(&way),
        Way::Program(_) => {
            return refuse(
                ErrorKind::ProfilerConflict,
                "aclprofInit was called; a profile and subscriptions exclude each other",
            );
        }
        Way::Off => {}
    }
    let mut running = state.subscriptions.running.lock();
    if running.contains_key(&model) {
        return refuse(
            ErrorKind::RepeatInitialize,
            format!("model {model} is subscribed to already"),
        )
        .map_err(|error| error.fix("Call aclprofModelUnSubscribe for it first."));
    }
    running.insert(model, Subscription::begin(descriptor)?);
    drop(running);
    drop(way);
    state.update_flags();
    Ok(())
}

/// Returns the descriptor of the pipe's writing end, which the caller closes: the program's reader then finds the end of the data.
pub fn aclprofModelUnSubscribe(cx: &Cx<'_>, model: u32) -> Result<Option<i32>> {
    let state = &cx.process.prof;
    let subscriptions = &state.subscriptions;
    let ended = subscriptions.running.lock().remove(&model);
    let pipe = match ended {
        Some(ended) => {
            state.update_flags();
            ended.end();
            ended.pipe
        }
        None => match subscriptions.unloaded.lock().remove(&model) {
            Some(pipe) => pipe,
            None => {
                subscriptions.check_model(cx, model)?;
                return refuse(
                    ErrorKind::InvalidArgument,
                    format!("model {model} is not subscribed to"),
                );
            }
        },
    };
    Ok(pipe.to_close(&subscriptions.running.lock()))
}

pub fn aclprofGetOpDescSize(_cx: &Cx<'_>) -> Result<usize> {
    Ok(BYTES)
}

fn records(data: Option<&[u8]>) -> Result<&[u8]> {
    let data = data.ok_or_else(|| null("opInfo"))?;
    if data.is_empty() || data.len() % BYTES != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "opInfoLen is {}; it must be a multiple of {BYTES}, the size of a record",
                data.len()
            ),
        );
    }
    Ok(data)
}

/// Finds one record among the data.
fn record(data: Option<&[u8]>, index: u32) -> Result<&[u8]> {
    let data = records(data)?;
    let all = data.chunks_exact(BYTES);
    let count = all.len();
    let Some(found) = all.clone().nth(index as usize) else {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("index is {index}; it must be less than {count}, the number of records"),
        );
    };
    if number(found, 0) != SIGNATURE {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the data at index {index} are not a record of an operator"),
        );
    }
    Ok(found)
}

/// Reads 8 bytes of a record.
fn number(record: &[u8], at: usize) -> u64 {
    record[at..]
        .first_chunk()
        .map_or(0, |word| u64::from_ne_bytes(*word))
}

/// Reads 4 bytes of a record.
fn word(record: &[u8], at: usize) -> u32 {
    record[at..]
        .first_chunk()
        .map_or(0, |word| u32::from_ne_bytes(*word))
}

/// Reads a text of a record; its last byte is zero.
fn text(record: &[u8], at: usize) -> &CStr {
    CStr::from_bytes_until_nul(&record[at..]).unwrap_or_default()
}

pub fn aclprofGetOpNum(_cx: &Cx<'_>, data: Option<&[u8]>, _length: usize) -> Result<u32> {
    Ok((records(data)?.len() / BYTES) as u32)
}

pub fn aclprofGetOpTypeLen(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<usize> {
    Ok(text(record(data, index)?, TYPE).count_bytes() + 1)
}

pub fn aclprofGetOpNameLen(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<usize> {
    Ok(text(record(data, index)?, NAME).count_bytes() + 1)
}

/// Returns a text of a record, which can be had once.
fn once(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    index: u32,
    at: usize,
    capacity: usize,
) -> Result<CString> {
    let record = record(data, index)?;
    let found = text(record, at);
    let bad = |sentence: String| refuse(ErrorKind::InvalidArgument, sentence);
    if capacity <= found.count_bytes() {
        return bad(format!(
            "the buffer has {capacity} bytes, and the text needs {}",
            found.count_bytes() + 1
        ));
    }
    let mut given = cx.process.prof.subscriptions.given.lock();
    if !given.is_first(number(record, SERIAL), at) {
        return bad(format!(
            "this text of record {index} was read already; it can be read once"
        ));
    }
    Ok(found.to_owned())
}

pub fn aclprofGetOpType(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
    capacity: usize,
) -> Result<CString> {
    once(cx, data, index, TYPE, capacity)
}

pub fn aclprofGetOpName(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
    capacity: usize,
) -> Result<CString> {
    once(cx, data, index, NAME, capacity)
}

pub fn aclprofGetOpStart(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<u64> {
    Ok(number(record(data, index)?, START))
}

pub fn aclprofGetOpEnd(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<u64> {
    Ok(number(record(data, index)?, END))
}

pub fn aclprofGetOpDuration(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<u64> {
    let record = record(data, index)?;
    Ok(number(record, END).saturating_sub(number(record, START)))
}

pub fn aclprofGetModelId(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<usize> {
    Ok(word(record(data, index)?, MODEL) as usize)
}

pub fn aclprofGetOpFlag(
    _cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
) -> Result<u32> {
    record(data, index)?;
    Ok(enums::ACL_SUBSCRIBE_OP)
}

pub fn aclprofGetOpAttriValue(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    _length: usize,
    index: u32,
    attribute: u32,
) -> Result<usize> {
    let record = record(data, index)?;
    if attribute != enums::ACL_SUBSCRIBE_ATTRI_THREADID {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("attri is {attribute}; records have only ACL_SUBSCRIBE_ATTRI_THREADID"),
        );
    }
    let text = CString::new(word(record, THREAD).to_string()).unwrap_or_default();
    let mut returned = cx.process.prof.subscriptions.returned.lock();
    if let Some(known) = returned.iter().find(|known| **known == text) {
        return Ok(known.as_ptr().expose_provenance());
    }
    let address = text.as_ptr().expose_provenance();
    returned.push(text);
    Ok(address)
}

/// Ends the subscription of a model that is unloaded. The pipe stays open until the program unsubscribes.
pub(crate) fn unloaded(cx: &Cx<'_>, model: u32) {
    let state = &cx.process.prof;
    let ended = state.subscriptions.running.lock().remove(&model);
    if let Some(ended) = ended {
        state.update_flags();
        ended.end();
        state
            .subscriptions
            .unloaded
            .lock()
            .insert(model, ended.pipe);
    }
}
