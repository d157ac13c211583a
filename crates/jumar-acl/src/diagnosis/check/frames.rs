//! Frames of video between the call that sends them and their callback: their descriptions and outputs belong to the channel.

use jumar::check::{Check, Finding, SourceLocation};
use jumar::engine::sync::{AtomicU64, AtomicUsize, Mutex, Ordering};

use crate::Call;

/// A frame whose callback has not begun.
#[derive(Clone, Copy)]
struct Pending {
    number: u64,
    input: u64,
    output: u64,
    memory: usize,
    sent: SourceLocation,
}

static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());
/// The length of `PENDING`, for calls while there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A frame that was sent. It ends when its callback begins, or when its channel drops it.
pub(crate) struct SentFrame {
    number: u64,
    sent: SourceLocation,
}

fn check() -> Option<&'static Check> {
    crate::observers::watcher()?.check.as_deref()
}

/// Records that a packet was sent, if the program is checked. `output`: the handle and the memory of its output.
pub(crate) fn sent(input: u64, output: Option<(u64, usize)>) -> Option<SentFrame> {
    check()?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let sent = jumar::check::here();
    let (output, memory) = output.unwrap_or_default();
    let mut pending = PENDING.lock();
    pending.push(Pending {
        number,
        input,
        output,
        memory,
        sent,
    });
    COUNT.store(pending.len(), Ordering::Release);
    Some(SentFrame { number, sent })
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

/// Finds a call that changes or releases what a pending frame needs.
pub(super) fn before(check: &Check, call: &Call, word: u64) {
    if COUNT.load(Ordering::Acquire) == 0 || word == 0 {
        return;
    }
    let name = call.name;
    let is_free = matches!(name, "acldvppFree" | "aclrtFree" | "aclrtFreeWithDevSync");
    let is_destroyed = matches!(name, "acldvppDestroyStreamDesc" | "acldvppDestroyPicDesc");
    let is_changed =
        name.starts_with("acldvppSetStreamDesc") || name.starts_with("acldvppSetPicDesc");
    if !is_free && !is_destroyed && !is_changed {
        return;
    }
    let frames = PENDING.lock().clone();
    let holds = |frame: &&Pending| match is_free {
        true => {
            let start = check.allocation(frame.memory).map(|memory| memory.start);
            frame.memory != 0 && start.unwrap_or(frame.memory) as u64 == word
        }
        false => frame.input == word || frame.output == word,
    };
    let Some(frame) = frames.iter().find(holds) else {
        return;
    };
    let what = match (is_free, frame.input == word) {
        (true, _) => "the output's memory",
        (false, true) => "the description of the packet",
        (false, false) => "the description of the output",
    };
    let does = match (is_free, is_destroyed) {
        (true, _) => "frees",
        (false, true) => "destroys",
        (false, false) => "changes",
    };
    let text = format!("{does} {what}, and the callback of the frame has not begun");
    check.find(Finding::now("JMR-DVPP-004", text).and("earlier", frame.sent, "the packet is sent"));
}
