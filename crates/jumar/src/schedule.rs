//! Orders of execution that a program can be tried with: late (nothing runs before somebody waits for it) and seeded (a number
//! chooses what runs next).
//!
//! In both, tasks run one at a time, and only while a thread of the program waits for a stream or asks for the third time whether
//! something is done, or when the program has called nothing for 20 ms: then whatever makes progress on a device does so here.

use std::sync::{Arc, OnceLock};

use jumar_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering, now_ns};
use jumar_cpu::Schedule;

use crate::config::variable;

/// How long the program may call nothing before work goes on by itself.
const IDLE_NS: u64 = 20_000_000;
/// How often the schedule is asked (each millisecond) while that time has passed.
const IDLE_ASKED: u32 = 10;
/// How long nothing may run, whatever the program does.
const STARVED_NS: u64 = 200_000_000;
/// How often the program asks before an answer moves.
const POLLS: u64 = 3;

static LAST_CALL_NS: AtomicU64 = AtomicU64::new(0);
static POLLED: AtomicU64 = AtomicU64::new(0);
static FREE: AtomicBool = AtomicBool::new(false);

#[derive(Clone, Copy)]
enum Mode {
    Late,
    Seeded(u64),
}

fn mode() -> Option<Mode> {
    static MODE: OnceLock<Option<Mode>> = OnceLock::new();
    *MODE.get_or_init(|| {
        let seed = variable("JUMAR_SEED").and_then(|text| text.parse().ok());
        match (variable("JUMAR_LATE").as_deref(), seed) {
            (_, Some(seed)) => Some(Mode::Seeded(seed)),
            (Some("1"), None) => Some(Mode::Late),
            (_, None) => None,
        }
    })
}

/// Tells whether work is held back until somebody waits for it.
pub fn is_late() -> bool {
    matches!(mode(), Some(Mode::Late))
}

/// Tells whether [`called`] has to hear of calls.
pub fn wants_calls() -> bool {
    mode().is_some()
}

/// Hears of a call of the program.
pub fn called(name: &str) {
    if mode().is_none() {
        return;
    }
    LAST_CALL_NS.store(now_ns(), Ordering::Relaxed);
    if name.contains("Query") {
        POLLED.fetch_add(1, Ordering::Relaxed);
    } else {
        POLLED.store(0, Ordering::Relaxed);
    }
}

/// Lets everything run as it comes, because the process ends.
pub fn release() {
    FREE.store(true, Ordering::Relaxed);
}

/// Makes the schedule that the environment asks for.
pub(crate) fn from_environment() -> Option<Arc<dyn Schedule>> {
    let state = match mode()? {
        Mode::Late => None,
        // A seed of zero would stay zero.
        Mode::Seeded(seed) => Some(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
    };
    Some(Arc::new(Held {
        random: Mutex::new(state),
        asked: Mutex::new((0, 0)),
        ran_ns: AtomicU64::new(now_ns()),
    }))
}

struct Held {
    /// The state of the seeded choice; `None` for the latest choice.
    random: Mutex<Option<u64>>,
    /// How often it was asked in vain since the program called last, and when that was: on a loaded machine time alone passes
    /// while the program is not even running.
    asked: Mutex<(u64, u32)>,
    ran_ns: AtomicU64,
}

impl Held {
    fn choose(&self, runnable: &[u32], waited: &[u32]) -> usize {
        match &mut *self.random.lock() {
            // What is waited for goes first; streams with no order between them advance in reverse of their age.
            None => runnable
                .iter()
                .position(|number| waited.contains(number))
                .unwrap_or(runnable.len() - 1),
            Some(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                (*state % runnable.len() as u64) as usize
            }
        }
    }

    /// Tells whether anything may run now.
    fn is_due(&self, waited: &[u32], now: u64) -> bool {
        let since = |earlier: &AtomicU64| now.saturating_sub(earlier.load(Ordering::Relaxed));
        let idle = since(&LAST_CALL_NS) > IDLE_NS && {
            let last = LAST_CALL_NS.load(Ordering::Relaxed);
            let mut asked = self.asked.lock();
            if asked.0 != last {
                *asked = (last, 0);
            }
            asked.1 += 1;
            asked.1 > IDLE_ASKED
        };
        !waited.is_empty()
            || idle
            || FREE.load(Ordering::Relaxed)
            || POLLED.load(Ordering::Relaxed) >= POLLS
            || since(&self.ran_ns) > STARVED_NS
    }
}

impl Schedule for Held {
    fn next(&self, runnable: &[u32], waited: &[u32]) -> Option<usize> {
        let now = now_ns();
        if runnable.is_empty() || !self.is_due(waited, now) {
            return None;
        }
        self.ran_ns.store(now, Ordering::Relaxed);
        Some(self.choose(runnable, waited))
    }
}
