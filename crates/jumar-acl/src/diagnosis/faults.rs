//! Calls that are made to fail, to see what the program does then.
//!
//! `JUMAR_FAULT` names the call: `aclrtMalloc` and `#3` for its third time, or `*` and `#7` for the seventh call that can fail. With
//! `task:` before it the call goes well and the task that it queues fails; the facade does that.
//! `JUMAR_FAULT_LOG` names a file to which every call that could have failed is written, with its source location.

use jumar::engine::sync::{AtomicU64, Mutex, Ordering};
use jumar::record_file::RecordFile;
use jumar_types::{Error, ErrorKind, Result};

use crate::Call;
use crate::generated::calls;

/// Which call fails.
pub(crate) struct Plan {
    name: String,
    turn: u64,
    seen: AtomicU64,
    log: Mutex<Option<RecordFile>>,
    struck: AtomicU64,
}

/// Refuses a value of `JUMAR_FAULT` that names no function of the interface: it would be a run without a fault.
///
/// # Errors
/// `InvalidArgument`: no function has that name.
pub(crate) fn validate() -> Result<()> {
    let Some(settings) = jumar::config::FaultSettings::read() else {
        return Ok(());
    };
    let name = settings
        .call
        .strip_prefix("task:")
        .unwrap_or(&settings.call);
    let first_phase = name.strip_suffix("GetWorkspaceSize").unwrap_or(name);
    let is_known = matches!(name, "" | "*")
        || calls::ALL.iter().any(|call| call.name == name)
        || jumar_eager::signatures::ALL
            .iter()
            .any(|operator| operator.name == first_phase);
    if is_known {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidArgument,
        format!("JUMAR_FAULT names \"{name}\", which is not a function of the interface"),
    )
    .fix(
        "Name a function as its header does, such as aclrtMalloc#3, or `*` for any that can fail.",
    ))
}

impl Plan {
    pub(crate) fn from_environment() -> Option<Plan> {
        let settings = jumar::config::FaultSettings::read()?;
        // A log that cannot be opened is an error of the first call that uses a device.
        let log = settings
            .log
            .and_then(|path| jumar::config::FaultSettings::open_log(&path).ok());
        Some(Plan {
            name: settings.call,
            turn: settings.turn,
            seen: AtomicU64::new(0),
            log: Mutex::new(log),
            struck: AtomicU64::new(0),
        })
    }

    /// Returns whether this call is the one, and what it fails with.
    pub(crate) fn strike(&self, call: &'static Call) -> Option<Error> {
        let kind = match crate::aclnn::phase_of(call) {
            Some(_) => ErrorKind::OutOfMemory,
            None => kind_of(call.name)?,
        };
        if let Some(file) = &mut *self.log.lock() {
            file.append(call.name);
        }
        if self.name != "*" && self.name != call.name {
            return None;
        }
        let turn = self.seen.fetch_add(1, Ordering::Relaxed) + 1;
        if turn != self.turn {
            return None;
        }
        self.struck.store(1, Ordering::Relaxed);
        Some(Error::new(
            kind,
            format!("{} was made to fail by `jumar faults`", call.name),
        ))
    }

    /// Reports whether the call that had to fail was made.
    pub(crate) fn finish(&self) {
        if self.turn != 0
            && !self.name.starts_with("task:")
            && self.struck.load(Ordering::Relaxed) == 0
            && let Some(file) = &mut *self.log.lock()
        {
            file.append("!not reached");
        }
    }
}

/// What a call fails with when nothing is wrong with its arguments; `None` for calls that give something back, after whose failure a
/// program can do nothing, and for those that ask for an error.
fn kind_of(name: &str) -> Option<ErrorKind> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&[
        "Destroy",
        "Free",
        "Unload",
        "UnLoad",
        "Reset",
        "Finalize",
        "GetRecentErrMsg",
        "LastError",
    ]) {
        return None;
    }
    if has(&["Malloc", "Alloc"]) {
        return Some(ErrorKind::OutOfMemory);
    }
    if has(&["aclInit", "SetDevice"]) {
        return Some(ErrorKind::DeviceSetup);
    }
    if has(&["CreateStream"]) {
        return Some(ErrorKind::NoStreamResource);
    }
    if has(&["CreateEvent"]) {
        return Some(ErrorKind::NoEventResource);
    }
    Some(ErrorKind::Failure)
}
