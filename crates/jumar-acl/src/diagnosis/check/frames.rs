//! Packets and frames between the call that sends them and what returns them: their descriptions and their memory belong to the channel.
//!
//! The first interface returns a frame by its callback, the second one when the program fetches it.

use jumar::check::{Check, Finding, SourceLocation};
use jumar::engine::sync::{AtomicU64, AtomicUsize, Mutex, Ordering};

use crate::Call;

/// A packet or frame that has not been returned.
#[derive(Clone)]
struct Pending {
    number: u64,
    /// The handles of the descriptions of the first interface.
    input: u64,
    output: u64,
    memory: Memory,
    sent: SourceLocation,
    /// What has not happened yet.
    until: &'static str,
}

/// Memory that a channel uses, and what findings call it.
type Memory = Vec<(usize, &'static str)>;

static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());
/// The length of `PENDING`, for calls while there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A packet or frame that was sent. It ends when it is returned, or when its channel drops it.
pub(crate) struct SentFrame {
    number: u64,
    sent: SourceLocation,
}

fn check() -> Option<&'static Check> {
    crate::observers::watcher()?.check.as_deref()
}

/// Records that a call has waited until the callbacks of a channel returned.
pub(crate) fn callbacks_returned() {
    if let Some(check) = check() {
        check.host_knows_returned();
    }
}

/// Records that a packet was sent, if the program is checked. `output`: the handle and the memory of its output.
pub(crate) fn sent(input: u64, output: Option<(u64, usize)>) -> Option<SentFrame> {
    let (output, address) = output.unwrap_or_default();
    let memory = match address {
        0 => Vec::new(),
        _ => vec![(address, "the output's memory")],
    };
    record(Pending {
        number: 0,
        input,
        output,
        memory,
        sent: SourceLocation::UNKNOWN,
        until: "the callback of the frame has not begun",
    })
}

/// Records that a packet or frame of the second interface was sent, if the program is checked.
pub(crate) fn sent_to_fetch(memory: Memory, until: &'static str) -> Option<SentFrame> {
    record(Pending {
        number: 0,
        input: 0,
        output: 0,
        memory,
        sent: SourceLocation::UNKNOWN,
        until,
    })
}

fn record(mut frame: Pending) -> Option<SentFrame> {
    check()?;
    frame.number = NEXT.fetch_add(1, Ordering::Relaxed);
    frame.sent = jumar::check::here();
    let of_caller = SentFrame {
        number: frame.number,
        sent: frame.sent,
    };
    let mut pending = PENDING.lock();
    pending.push(frame);
    COUNT.store(pending.len(), Ordering::Release);
    Some(of_caller)
}

impl SentFrame {
    /// Reports that the output is smaller than the decoded frame, at the call that sent the packet.
    pub(crate) fn output_is_too_small(&self, text: &str) {
        if let Some(check) = check() {
            let outer = jumar::check::in_call(self.sent);
            check.find(Finding::now("JMR-DVPP-001", text));
            jumar::check::in_call(outer);
        }
    }
}

impl Drop for SentFrame {
    fn drop(&mut self) {
        let mut pending = PENDING.lock();
        pending.retain(|frame| frame.number != self.number);
        COUNT.store(pending.len(), Ordering::Release);
    }
}

/// Finds a call that changes or releases what a pending packet or frame needs.
pub(super) fn before(check: &Check, call: &Call, word: u64) {
    if COUNT.load(Ordering::Acquire) == 0 || word == 0 {
        return;
    }
    let name = call.name;
    let is_free = matches!(
        name,
        "acldvppFree" | "aclrtFree" | "aclrtFreeWithDevSync" | "hi_mpi_dvpp_free"
    );
    let is_destroyed = matches!(name, "acldvppDestroyStreamDesc" | "acldvppDestroyPicDesc");
    let is_changed =
        name.starts_with("acldvppSetStreamDesc") || name.starts_with("acldvppSetPicDesc");
    if !is_free && !is_destroyed && !is_changed {
        return;
    }
    let frames = PENDING.lock().clone();
    let found = frames.iter().find_map(|frame| {
        let what = match is_free {
            true => freed(check, frame, word)?,
            false if frame.input == word => "the description of the packet",
            false if frame.output == word => "the description of the output",
            false => return None,
        };
        Some((frame, what))
    });
    let Some((frame, what)) = found else {
        return;
    };
    let does = match (is_free, is_destroyed) {
        (true, _) => "frees",
        (false, true) => "destroys",
        (false, false) => "changes",
    };
    let text = format!("{does} {what}, and {}", frame.until);
    check.find(Finding::now("JMR-DVPP-004", text).and(
        "earlier",
        frame.sent,
        "the packet or frame is sent",
    ));
}

/// Returns what a call frees of the memory of a frame.
fn freed(check: &Check, frame: &Pending, word: u64) -> Option<&'static str> {
    let mut memory = frame.memory.iter();
    let found = memory.find(|(address, _)| {
        let start = check.allocation(*address).map(|found| found.start);
        start.unwrap_or(*address) as u64 == word
    });
    found.map(|(_, what)| *what)
}
