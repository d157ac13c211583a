//! The rules of collective communication: whether the ranks of one process agree, which of them never come, in what order and by how many
//! threads a communicator is used, and whether it is destroyed.
//!
//! Calls are compared with those of the other ranks of the same process. The engine compares ranks of several processes: what it found
//! is reported where a wait answers that the operation failed.

use std::collections::BTreeMap;
use std::time::Duration;

use jumar::check::{Check, Finding, Line, SourceLocation, here};
use jumar::engine::sync::{AtomicU64, Mutex, Ordering};
use jumar_hccl::{
    Communicator, Message, Numbers, Operation, QueuedOperation, Signature, Waiting, ranks,
};
use jumar_types::ErrorKind;

use crate::generated::codes;
use crate::observers;
use crate::process;

use super::{CompletedCall, portability};

/// The kind of the objects.
pub(super) const KIND: &str = "communicator";

/// How many operations of a communicator are remembered.
const MOST_OPERATIONS: usize = 1 << 12;

/// An operation with a shorter limit ends by itself before it counts as blocked forever.
const LONG: Duration = Duration::from_secs(60);

/// A call of one rank.
#[derive(Clone, Debug)]
struct IssuedCall {
    rank: u32,
    location: SourceLocation,
    operation: What,
}

/// What has to fit between ranks.
#[derive(Clone, Debug)]
enum What {
    Collective(Signature),
    Transfer(Message),
}

impl What {
    fn text(&self) -> String {
        match self {
            What::Collective(signature) => signature.to_string(),
            What::Transfer(message) => message.to_string(),
        }
    }

    fn fits(&self, other: &What) -> bool {
        match (self, other) {
            (What::Collective(own), What::Collective(other)) => own == other,
            (What::Transfer(own), What::Transfer(other)) => {
                (own.count, own.data_type) == (other.count, other.data_type)
            }
            _ => false,
        }
    }
}

/// What matches the calls of ranks to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The position of a collective.
    Collective(u64),
    /// Sender, receiver and the position of the transfer between them.
    Transfer(u32, u32, u64),
}

/// What is known of the operations of one communicator.
#[derive(Debug, Default)]
struct History {
    /// By epoch and position.
    issued: BTreeMap<(u32, Key), Vec<IssuedCall>>,
    /// A disagreement was reported: what follows is its consequence.
    is_reported: bool,
    /// Where each rank first queued an operation: at once, and as a part of a captured model.
    first: BTreeMap<(u32, bool), SourceLocation>,
}

impl History {
    /// Lists the calls of this process that a sentence of the engine names.
    fn named_in(&self, sentence: &str) -> Vec<&IssuedCall> {
        let is_named = |key: &Key, issued: &IssuedCall| {
            let has_number = match key {
                Key::Collective(number) => [" of ", ": "]
                    .iter()
                    .any(|end| sentence.contains(&format!("operation {number}{end}"))),
                Key::Transfer(..) => true,
            };
            has_number && sentence.contains(&issued.operation.text())
        };
        self.issued
            .iter()
            .flat_map(|((_, key), issued)| issued.iter().map(move |one| (key, one)))
            .filter(|(key, one)| is_named(key, one))
            .map(|(_, one)| one)
            .collect()
    }
}

/// By name, which all ranks share.
static HISTORIES: Mutex<BTreeMap<String, History>> = Mutex::new(BTreeMap::new());

fn check() -> Option<&'static Check> {
    if observers::is_off() {
        return None;
    }
    observers::watcher().and_then(|watcher| watcher.check.as_deref())
}

/// Lists what an operation consists of, with the keys that match its parts to those of other ranks.
fn parts(rank: u32, operation: &Operation, numbers: &Numbers) -> Vec<(Key, What)> {
    match (operation, numbers) {
        (Operation::Collective(collective), Numbers::Collective(number)) => {
            vec![(
                Key::Collective(*number),
                What::Collective(collective.signature),
            )]
        }
        (Operation::Messages(messages), Numbers::Messages(numbers)) => {
            let pairs = messages.iter().zip(numbers);
            let part = |(message, number): (&Message, &u64)| {
                let (from, to) = match message.sends {
                    true => (rank, message.peer),
                    false => (message.peer, rank),
                };
                (Key::Transfer(from, to, *number), What::Transfer(*message))
            };
            pairs.map(part).collect()
        }
        _ => Vec::new(),
    }
}

/// The calls that are queueing operations, with their devices.
static QUEUEING: Mutex<Vec<(u64, u32, SourceLocation)>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A call that is queueing an operation.
pub(crate) struct BeingQueued(u64);

impl Drop for BeingQueued {
    fn drop(&mut self) {
        QUEUEING.lock().retain(|(number, ..)| *number != self.0);
    }
}

/// Notes that a call queues an operation on a device until the value is dropped. No other thread may do so at the same time: the order of
/// the two operations would differ between ranks.
pub(crate) fn begins_to_queue(device: u32) -> Option<BeingQueued> {
    let check = check()?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let other = {
        let mut queueing = QUEUEING.lock();
        let other = queueing.iter().find(|(_, other, _)| *other == device);
        let other = other.map(|(.., location)| *location);
        queueing.push((number, device, here()));
        other
    };
    if let Some(other) = other {
        check.find(
            Finding::now(
                "JMR-COMM-008",
                format!("queues an operation on device {device}"),
            )
            .and(
                "other",
                other,
                "another thread is inside this call, for the same device".to_owned(),
            ),
        );
    }
    Some(BeingQueued(number))
}

/// Compares an operation with the calls of other ranks of this process that belong to it.
pub(crate) fn is_about_to_be_queued(engine: &Communicator, queued: &QueuedOperation) {
    let Some(check) = check() else {
        return;
    };
    let (operation, numbers) = (queued.operation(), queued.numbers());
    if !engine.is_local() {
        // Another process may end any wait.
        check.may_be_released();
    }
    if let Operation::Collective(collective) = operation
        && let Some(finding) = portability::lacking_collective(&collective.signature)
    {
        check.find(finding);
    }
    let found = {
        let mut histories = HISTORIES.lock();
        let history = histories.entry(engine.name().to_owned()).or_default();
        note(history, engine, operation, numbers.as_ref())
    };
    found.into_iter().for_each(|finding| check.find(finding));
}

fn note(
    history: &mut History,
    engine: &Communicator,
    operation: &Operation,
    numbers: Option<&Numbers>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let (rank, name) = (engine.rank(), engine.name());
    let captured = numbers.is_none();
    history.first.entry((rank, captured)).or_insert_with(here);
    if let Some(other) = history.first.get(&(rank, !captured)) {
        let (now, earlier) = match captured {
            true => ("is captured", "is queued at once"),
            false => ("is queued at once", "is captured"),
        };
        found.push(
            Finding::now(
                "JMR-COMM-007",
                format!("{operation} of rank {rank} of communicator \"{name}\" {now}"),
            )
            .and("earlier", *other, format!("an operation of it {earlier}")),
        );
    }
    let Some(numbers) = numbers else {
        return found;
    };
    for (key, what) in parts(rank, operation, numbers) {
        let issued = history.issued.entry((engine.epoch(), key)).or_default();
        let other = issued.iter().find(|other| !other.operation.fits(&what));
        if let Some(other) = other.filter(|_| !history.is_reported) {
            history.is_reported = true;
            found.push(
                Finding::now(
                    "JMR-COMM-001",
                    format!(
                        "rank {rank} of communicator \"{name}\" calls {}",
                        what.text()
                    ),
                )
                .and(
                    "other",
                    other.location,
                    format!("rank {} called {}", other.rank, other.operation.text()),
                ),
            );
        }
        issued.push(IssuedCall {
            rank,
            location: here(),
            operation: what,
        });
    }
    while history.issued.len() > MOST_OPERATIONS {
        history.issued.pop_first();
    }
    found
}

/// Notes that an operation was queued on a stream: a communicator's operations run one after the other.
pub(crate) fn was_queued(id: u64, engine: &Communicator, stream: u32) {
    let Some(check) = check() else {
        return;
    };
    let text = format!(
        "communicator \"{}\" (rank {})",
        engine.name(),
        engine.rank()
    );
    check.uses_exclusively(id, stream, "JMR-COMM-003", &text);
}

/// Notes a communicator that a call made.
pub(crate) fn was_created(id: u64, by: &'static str) {
    if let Some(check) = check() {
        check.set_explainer(explain);
        check.made(KIND, id, None, by, 0);
    }
}

/// Notes that the group that was to create a communicator failed.
pub(crate) fn was_not_created(id: u64, by: &'static str) {
    if let Some(check) = check() {
        check.ended(KIND, id, by);
    }
}

/// Notes that a rank destroyed its communicator. The last one of the process takes the history with it.
pub(crate) fn was_destroyed(id: u64, name: &str, is_last: bool) {
    if let Some(check) = check() {
        check.ends_exclusive_use(id);
        if is_last {
            HISTORIES.lock().remove(name);
        }
    }
}

/// Where a group of calls was begun, and by which calls a thread ended inside of it.
pub(crate) fn group_was_dropped(begun: SourceLocation, left: usize) {
    if let Some(check) = check() {
        check.find(Finding {
            rule: "JMR-COMM-006",
            lines: vec![Line {
                label: "begun",
                location: begun,
                text: format!("the group that begins here is dropped, with {left} calls in it"),
            }],
            missing: Some("HcclGroupEnd on the same thread, before the thread ends".to_owned()),
            fix: None,
        });
    }
}

/// Explains a program that is blocked forever: the ranks of this process that wait for others, which never come.
fn explain(host: SourceLocation) -> Option<Finding> {
    let mut named = Vec::new();
    for engine in process::get().communication.engines() {
        let ends = engine.limit().is_some_and(|limit| limit < LONG);
        if ends || named.iter().any(|name| name == engine.name()) {
            continue;
        }
        named.push(engine.name().to_owned());
        let waiting = engine.waiting();
        if !waiting.is_empty() {
            return Some(blocked(host, &engine, &waiting));
        }
    }
    None
}

fn blocked(host: SourceLocation, engine: &Communicator, waiting: &[Waiting]) -> Finding {
    let mut lines = vec![Line {
        label: "now",
        location: host,
        text: "the host waits for a stream that never continues".to_owned(),
    }];
    let histories = HISTORIES.lock();
    let history = histories.get(engine.name());
    let mut missing = Vec::new();
    for one in waiting {
        let first = parts(one.rank, &one.operation, &one.numbers)
            .into_iter()
            .next();
        let location = first.and_then(|(key, _)| {
            let issued = history?.issued.get(&(engine.epoch(), key))?;
            let own = issued.iter().find(|issued| issued.rank == one.rank)?;
            Some(own.location)
        });
        lines.push(Line {
            label: "held",
            location: location.unwrap_or(SourceLocation::UNKNOWN),
            text: format!(
                "rank {} of communicator \"{}\" waits in {} for {}",
                one.rank,
                engine.name(),
                one.operation,
                ranks(&one.missing)
            ),
        });
        missing.extend(&one.missing);
    }
    missing.sort_unstable();
    missing.dedup();
    let circle = missing
        .iter()
        .all(|rank| waiting.iter().any(|one| one.rank == *rank));
    let text = match circle {
        true => "an order in which the ranks do not wait for each other: a group or HcclBatchSendRecv, or the same order of calls on every rank".to_owned(),
        false => format!("the same call by {}", ranks(&missing)),
    };
    Finding {
        rule: "JMR-COMM-002",
        lines,
        missing: Some(text),
        fix: None,
    }
}

/// Returns whether a communicator of this process failed.
pub(super) fn have_failed() -> bool {
    let engines = process::get().communication.engines();
    engines.iter().any(|engine| engine.failure().is_some())
}

/// Reports what the failure of a communicator says about the program, where a wait answers the code of such a failure. Returns whether
/// it did, or had done so before.
pub(super) fn explain_failure(check: &Check, seen: &CompletedCall) -> bool {
    if seen.code != codes::ACL_ERROR_RT_FFTS_PLUS_TIMEOUT {
        return false;
    }
    let failed = process::get()
        .communication
        .engines()
        .into_iter()
        .find_map(|engine| Some((engine.failure()?, engine)));
    let Some((error, engine)) = failed else {
        return false;
    };
    let rule = if error.kind() == ErrorKind::CommMismatch {
        "JMR-COMM-001"
    } else if matches!(
        error.kind(),
        ErrorKind::CommTimeout | ErrorKind::CommPeerLost
    ) {
        "JMR-COMM-002"
    } else {
        return false;
    };
    let mut finding = Finding::now(rule, format!("answers {}: {error}", seen.code));
    {
        let mut histories = HISTORIES.lock();
        let history = histories.entry(engine.name().to_owned()).or_default();
        if std::mem::replace(&mut history.is_reported, true) {
            return true;
        }
        for issued in history.named_in(error.sentence()) {
            let text = format!("rank {} called {}", issued.rank, issued.operation.text());
            finding = finding.and("earlier", issued.location, text);
        }
    }
    check.find(finding);
    true
}
