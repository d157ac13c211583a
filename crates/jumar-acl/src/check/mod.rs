//! The checks' view of the interface: which calls make and end which objects, and what their codes say.
//!
//! The engine (findings, objects, the order of accesses) is jumar-diag's; here is what needs names of the interface. [`lives`] is the
//! table of objects; [`refusals`] explains codes; this file has the rules that look at single calls.

mod lives;
mod refusals;

use jumar::check::{Allocation, Check, Finding};
use jumar::engine::Home;
use jumar::engine::sync::{AtomicBool, AtomicU64, Mutex, Ordering};

use crate::watch::{MOST, signature};
use crate::{Call, Cx, process};

use lives::Life;

/// A call that is over.
pub(crate) struct Seen {
    pub(crate) call: &'static Call,
    pub(crate) words: [u64; MOST],
    pub(crate) code: i32,
    pub(crate) returned: u64,
    pub(crate) written: [u64; MOST],
}

/// What the process did that later calls are judged by.
struct Past {
    initialized: AtomicBool,
    finalized: AtomicBool,
    /// Told once: runtime calls before aclInit.
    bare: AtomicBool,
    /// The process that called first.
    process: AtomicU64,
    /// Set and reset counts of each device.
    devices: Mutex<Vec<(i64, i64)>>,
}

static PAST: Past = Past {
    initialized: AtomicBool::new(false),
    finalized: AtomicBool::new(false),
    bare: AtomicBool::new(false),
    process: AtomicU64::new(0),
    devices: Mutex::new(Vec::new()),
};

fn is(call: &Call, names: &[&str]) -> bool {
    names.contains(&call.name)
}

/// Calls that end something or give it back.
fn gives_back(name: &str) -> bool {
    ["Destroy", "aclrtFree", "Unload", "UnLoad"]
        .iter()
        .any(|word| name.contains(word))
        && !name.contains("Register")
}

/// Looks at a call before it is carried out.
pub(crate) fn before(cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    let call = cx.call;
    let own = u64::from(std::process::id());
    let first = PAST
        .process
        .compare_exchange(0, own, Ordering::Relaxed, Ordering::Relaxed)
        .unwrap_or_else(|first| first);
    if process::is_forked() && first != 0 && first != own {
        check.find(
            Finding::now(
                "JMR-FORK-001",
                format!("process {own} is a fork of process {first}, which had used a device"),
            )
            .missing("an exec after the fork, or a fork before the first call"),
        );
    }
    if call.name.starts_with("aclrt")
        && !PAST.initialized.load(Ordering::Relaxed)
        && !PAST.finalized.load(Ordering::Relaxed)
        && !is(call, &["aclrtGetVersion", "aclrtGetSocName"])
        && !PAST.bare.swap(true, Ordering::Relaxed)
    {
        check.find(Finding::now(
            "JMR-INIT-009",
            format!("{} is called and aclInit was not", call.name),
        ));
    }
    handles(cx, check, words);
    memory(cx, check, words);
    match call.name {
        "aclrtSetDevice" => replaces_context(cx, check, words),
        "aclrtDestroyStream" | "aclrtDestroyStreamForce" => pending_stream(cx, check, words[0]),
        "aclmdlExecute" | "aclmdlExecuteAsync" => host_buffers(cx, check, words),
        "aclrtSynchronizeEvent" | "aclrtSynchronizeEventWithTimeout" | "aclrtStreamWaitEvent" => {
            unrecorded(check, call, words);
        }
        _ => {}
    }
}

/// Looks for handles of objects that are gone.
fn handles(cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    let call = cx.call;
    for (index, parameter) in signature(call).parameters.iter().enumerate().take(MOST) {
        if parameter.handle.is_empty() || parameter.out_bytes > 0 || words[index] == 0 {
            continue;
        }
        let Some(life) = Life::of(parameter.handle) else {
            continue;
        };
        gone(check, call, life, words[index]);
    }
    if let Some(index) = lives::model_argument(call.name) {
        gone(check, call, &lives::MODEL, words[index]);
    }
}

fn gone(check: &Check, call: &Call, life: &Life, key: u64) {
    let Some(object) = check.object(life.kind, key) else {
        return;
    };
    let Some((by, place)) = object.ended else {
        return;
    };
    let after_finalize = PAST.finalized.load(Ordering::Relaxed) && gives_back(call.name);
    let twice = life.ends.iter().any(|(name, _)| *name == call.name);
    let rule = match (by, twice) {
        _ if after_finalize => "JMR-ORDER-001",
        ("aclrtResetDevice" | "aclrtResetDeviceForce", _) => "JMR-DEV-009",
        (_, true) => life.twice,
        (_, false) => life.stale,
    };
    check.find(
        Finding::now(
            rule,
            format!("{} gets {}, which is gone", call.name, object.name()),
        )
        .and(
            "earlier",
            place,
            format!("{} is ended by {by}", object.name()),
        )
        .and("made", object.made, object.name()),
    );
}

/// Looks at addresses: frees, copies, and buffers for models.
fn memory(cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    match cx.call.name {
        "aclrtFree" | "aclrtFreeWithDevSync" => free(cx, check, words[0] as usize, true),
        "aclrtFreeHost" | "aclrtFreeHostWithDevSync" => free(cx, check, words[0] as usize, false),
        "aclrtMemcpy" | "aclrtMemcpyAsync" => {
            let [to, room, from, count, kind] =
                [words[0], words[1], words[2], words[3], words[4]].map(|word| word as usize);
            if count == 0 || to == 0 || from == 0 {
                return;
            }
            ends_of_copy(cx, check, to, from, kind);
            if cx.call.name == "aclrtMemcpyAsync" {
                pageable(cx, check, to, from);
            }
            reach(cx, check, "target", to, count);
            reach(cx, check, "source", from, count);
            if room > count
                && let Some(allocation) = check.allocation(to)
                && room > left(&allocation, to)
            {
                check.find(
                    Finding::now(
                        "JMR-COPY-003",
                        format!(
                            "destMax is {room}, and {} has {} bytes from there",
                            allocation.name(),
                            left(&allocation, to)
                        ),
                    )
                    .and("made", allocation.made, allocation.name()),
                );
            }
            if count > room {
                check.find(Finding::now(
                    "JMR-COPY-002",
                    format!("{count} bytes are copied into room for {room} (destMax)"),
                ));
            }
            if to < from + count && from < to + count && to != from {
                check.find(Finding::now(
                    "JMR-COPY-009",
                    format!(
                        "target and source share {} bytes",
                        count - to.abs_diff(from)
                    ),
                ));
            }
        }
        "aclrtMemset" | "aclrtMemsetAsync" => {
            reach(cx, check, "target", words[0] as usize, words[3] as usize);
        }
        "aclCreateDataBuffer" => {
            let (address, bytes) = (words[0] as usize, words[1] as usize);
            buffer(check, address, bytes);
        }
        "aclUpdateDataBuffer" => buffer(check, words[1] as usize, words[2] as usize),
        _ => {}
    }
}

/// How much of an allocation lies behind an address.
fn left(allocation: &Allocation, address: usize) -> usize {
    (allocation.start + allocation.asked).saturating_sub(address)
}

fn home(cx: &Cx<'_>, address: usize) -> Option<Home> {
    let block = cx.runtime().ok()?.space().find(address)?;
    Some(block.home)
}

fn free(cx: &Cx<'_>, check: &Check, address: usize, device: bool) {
    if address == 0 {
        return check.find(Finding::now("JMR-MEM-003", "the address is null"));
    }
    let known = check.allocation(address);
    if let Some(allocation) = &known {
        if allocation.start != address {
            return check.find(
                Finding::now(
                    "JMR-MEM-006",
                    format!(
                        "the address lies {} bytes into {}",
                        address - allocation.start,
                        allocation.name()
                    ),
                )
                .and("made", allocation.made, allocation.name()),
            );
        }
        if allocation.device.is_some() != device {
            let want = if device { "aclrtFreeHost" } else { "aclrtFree" };
            return check.find(
                Finding::now(
                    "JMR-MEM-005",
                    format!("{} was made by {}", allocation.name(), allocation.made_by),
                )
                .and("made", allocation.made, allocation.name())
                .fix(format!("Give it back with {want}.")),
            );
        }
        return;
    }
    if home(cx, address).is_some() {
        return;
    }
    match check.freed(address) {
        Some((allocation, place)) if allocation.start == address => check.find(
            Finding::now(
                "JMR-MEM-004",
                format!("{} is freed again", allocation.name()),
            )
            .and("earlier", place, format!("{} is freed", allocation.name()))
            .and("made", allocation.made, allocation.name()),
        ),
        _ => check.find(Finding::now(
            "JMR-MEM-006",
            format!("{address:#x} is no allocation of this runtime"),
        )),
    }
}

/// Compares the kind of a copy with where its ends live.
fn ends_of_copy(cx: &Cx<'_>, check: &Check, to: usize, from: usize, kind: usize) {
    const HOST_TO_HOST: usize = 0;
    const HOST_TO_DEVICE: usize = 1;
    const DEVICE_TO_HOST: usize = 2;
    const DEVICE_TO_DEVICE: usize = 3;
    let wanted = match kind {
        HOST_TO_HOST => (false, false),
        HOST_TO_DEVICE => (true, false),
        DEVICE_TO_HOST => (false, true),
        DEVICE_TO_DEVICE => (true, true),
        _ => return,
    };
    for (name, address, wanted) in [("dst", to, wanted.0), ("src", from, wanted.1)] {
        // Managed and registered memory is both.
        let found = match home(cx, address) {
            Some(home) => {
                let open = check.allocation(address).is_none();
                if open || matches!(home, Home::Registered) {
                    continue;
                }
                home.is_device()
            }
            None => {
                if let Some((allocation, place)) = check.freed(address)
                    && allocation.device.is_some()
                {
                    check.find(
                        Finding::now(
                            "JMR-MEM-007",
                            format!("{name} is {}, which was freed", allocation.name()),
                        )
                        .and("earlier", place, format!("{} is freed", allocation.name()))
                        .and("made", allocation.made, allocation.name()),
                    );
                    return;
                }
                false
            }
        };
        if found != wanted {
            let lives = |device| {
                if device {
                    "device memory"
                } else {
                    "host memory"
                }
            };
            let mut finding = Finding::now(
                "JMR-COPY-001",
                format!(
                    "{name} is {}; the kind says {}",
                    lives(found),
                    lives(wanted)
                ),
            );
            if let Some(allocation) = check.allocation(address) {
                finding = finding.and("made", allocation.made, allocation.name());
            }
            check.find(finding);
        }
    }
}

/// Ordinary host memory makes an asynchronous copy wait.
fn pageable(cx: &Cx<'_>, check: &Check, to: usize, from: usize) {
    for (name, address) in [("target", to), ("source", from)] {
        let freed = || check.freed(address).is_some();
        if home(cx, address).is_none() && !freed() {
            check.find(Finding::now(
                "JMR-PERF-001",
                format!(
                    "the {name} is ordinary host memory: the call waits for the stream and copies by itself"
                ),
            ));
        }
    }
}

/// Finds ranges that leave their allocation.
fn reach(_cx: &Cx<'_>, check: &Check, what: &str, address: usize, bytes: usize) {
    let Some(allocation) = check.allocation(address) else {
        return;
    };
    if bytes > left(&allocation, address) {
        check.find(
            Finding::now(
                "JMR-MEM-010",
                format!(
                    "the {what} of {bytes} bytes begins at +{} of {}, which has {} bytes",
                    address - allocation.start,
                    allocation.name(),
                    allocation.asked
                ),
            )
            .and("made", allocation.made, allocation.name()),
        );
    }
}

fn buffer(check: &Check, address: usize, bytes: usize) {
    let Some(allocation) = check.allocation(address) else {
        return;
    };
    let room = left(&allocation, address);
    if bytes > room {
        check.find(
            Finding::now(
                "JMR-MEM-015",
                format!(
                    "the buffer is {bytes} bytes, and {} has {room} from there",
                    allocation.name()
                ),
            )
            .and("made", allocation.made, allocation.name()),
        );
    }
}

/// Finds data buffers of a model's execution that were destroyed, or lie on the host.
fn host_buffers(_cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    for (what, dataset) in [("input", words[1]), ("output", words[2])] {
        let held: Vec<u64> = lives::held_by(dataset);
        for buffer in held {
            let Some(object) = check.object("data buffer", buffer) else {
                continue;
            };
            if let Some((by, place)) = object.ended {
                check.find(
                    Finding::now(
                        "JMR-DATASET-004",
                        format!("the {what} data set holds {}, which is gone", object.name()),
                    )
                    .and(
                        "earlier",
                        place,
                        format!("{} is ended by {by}", object.name()),
                    )
                    .and("made", object.made, object.name()),
                );
            }
        }
    }
}

/// aclrtSetDevice makes the device's primary context current, whatever was current before.
fn replaces_context(cx: &Cx<'_>, check: &Check, words: &[u64; MOST]) {
    let current = cx.thread.current_handle();
    if current == 0 {
        return;
    }
    if let Some(object) = check.object("context", current)
        && object.ended.is_none()
    {
        check.find(
            Finding::now(
                "JMR-CTX-003",
                format!(
                    "the primary context of device {} replaces {} on this thread",
                    words[0] as i32,
                    object.name()
                ),
            )
            .and("made", object.made, object.name()),
        );
    }
}

fn pending_stream(cx: &Cx<'_>, check: &Check, handle: u64) {
    let Ok(runtime) = cx.runtime() else {
        return;
    };
    let Ok(stream) = runtime.streams().get(handle) else {
        return;
    };
    if check.is_pending(stream.number())
        && let Some(object) = check.object("stream", handle)
    {
        check.find(
            Finding::now(
                "JMR-STREAM-005",
                format!("{} has work that nobody waited for", object.name()),
            )
            .and("made", object.made, object.name()),
        );
    }
}

/// Waits for events that were never recorded, since their last reset.
fn unrecorded(check: &Check, call: &Call, words: &[u64; MOST]) {
    const RECORDED: u64 = 1;
    let event = match call.name {
        "aclrtStreamWaitEvent" => words[1],
        _ => words[0],
    };
    let Some(object) = check.object("event", event) else {
        return;
    };
    if object.ended.is_some() || object.note & RECORDED != 0 || object.made_by.contains("Ipc") {
        return;
    }
    let rule = match call.name {
        "aclrtStreamWaitEvent" => "JMR-EVENT-001",
        _ => "JMR-EVENT-020",
    };
    check.find(
        Finding::now(rule, format!("{} was never recorded", object.name())).and(
            "made",
            object.made,
            object.name(),
        ),
    );
}

/// Looks at a call that was carried out.
pub(crate) fn after(check: &Check, seen: &Seen) {
    let name = seen.call.name;
    if seen.code != 0 {
        refusals::explain(check, seen);
        if name != "aclInit" || seen.code != crate::generated::codes::ACL_ERROR_REPEAT_INITIALIZE {
            return;
        }
    }
    lives::after(check, seen);
    match name {
        "aclInit" => {
            PAST.initialized.store(true, Ordering::Relaxed);
            PAST.finalized.store(false, Ordering::Relaxed);
        }
        "aclFinalize" => {
            if !PAST.initialized.load(Ordering::Relaxed) {
                check.find(Finding::now("JMR-INIT-012", "aclInit was never called"));
            }
            PAST.finalized.store(true, Ordering::Relaxed);
            check.host_knows_all();
            lives::swept(check, name);
        }
        "aclFinalizeReference" if seen.written[0] == 0 => {
            PAST.finalized.store(true, Ordering::Relaxed);
            check.host_knows_all();
            lives::swept(check, name);
        }
        "aclrtMalloc" | "aclrtMallocAlign32" | "aclrtMallocCached" | "aclrtMallocHost" => {
            check.asked(seen.written[0] as usize, seen.words[1] as usize);
        }
        "aclrtSetDevice" => set_device(seen.words[0] as usize, |counts| counts.0 += 1),
        "aclrtResetDevice" | "aclrtResetDeviceForce" => {
            set_device(seen.words[0] as usize, |counts| counts.1 += 1);
            check.host_knows_all();
            if PAST.finalized.load(Ordering::Relaxed) {
                check.find(Finding::now(
                    "JMR-ORDER-003",
                    "the device is reset after aclFinalize",
                ));
            }
            lives::swept(check, name);
        }
        "aclrtDestroyContext" => {
            check.host_knows_all();
            lives::swept(check, name);
        }
        "aclrtStreamQuery" | "aclrtSynchronizeStream" if seen.written[1] == 0 => {
            if let Some(number) = lives::stream_number(seen.words[0]) {
                check.host_knows_stream(number);
            }
        }
        "aclrtQueryEventStatus" if seen.written[1] == 1 => known_event(check, seen.words[0]),
        "aclrtQueryEvent" if seen.written[1] == 0 => known_event(check, seen.words[0]),
        "aclrtRecordEvent" | "aclrtRecordEventWithFlag" => {
            check.note("event", seen.words[0], 1);
        }
        "aclrtResetEvent" => check.note("event", seen.words[0], 0),
        "aclrtDestroyEvent" => {
            if let Some(number) = lives::known_number(check, "event", seen.words[0]) {
                check.event_ended(number);
            }
        }
        "aclrtDestroyStream" | "aclrtDestroyStreamForce" => {
            if let Some(number) = lives::known_number(check, "stream", seen.words[0]) {
                check.stream_ended(number as u32);
            }
        }
        _ => {}
    }
}

fn known_event(check: &Check, handle: u64) {
    if let Some(number) = lives::known_number(check, "event", handle) {
        check.host_knows_event(number);
    }
}

fn set_device(device: usize, change: impl FnOnce(&mut (i64, i64))) {
    let mut devices = PAST.devices.lock();
    if device < 64 {
        if devices.len() <= device {
            devices.resize(device + 1, (0, 0));
        }
        change(&mut devices[device]);
    }
}

/// Looks at what is left when the process ends.
pub(crate) fn at_exit(check: &Check) {
    jumar::check::in_call(jumar::check::Place::UNKNOWN);
    lives::leaks(check);
    if PAST.initialized.load(Ordering::Relaxed) && !PAST.finalized.load(Ordering::Relaxed) {
        check.find(Finding::now(
            "JMR-INIT-015",
            "the process ends after aclInit without aclFinalize",
        ));
    }
}
