//! Orders of execution that a program can be tried with: late (nothing runs before somebody waits for it) and seeded (a number
//! chooses what runs next).
//!
//! In both, tasks run one at a time, and only while a thread of the program waits for a stream or asks for the third time whether
//! something is done, or when the program has called nothing for [`IDLE`]: then whatever makes progress on a device does so here.

use std::sync::{Arc, OnceLock};

use jumar_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering, now_ns};
use jumar_cpu::Schedule;

use crate::config::variable;

/// How long the program may call nothing before work goes on by itself.
const IDLE_NS: u64 = 20_000_000;
/// How long nothing may run, whatever the program does.
const STARVED_NS: u64 = 200_000_000;
/// How often the program asks before an answer moves.
const POLLS: u64 = 3;

static LAST_CALL_NS: AtomicU64 = AtomicU64::new(0);
static CALLS: AtomicU64 = AtomicU64::new(0);
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
    CALLS.fetch_add(1, Ordering::Relaxed);
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
        waited: Mutex::new(None),
        ran_ns: AtomicU64::new(0),
    }))
}

/// A wait of the host: the queue, and how many calls there had been.
#[derive(Clone, Copy)]
struct Waited {
    number: u32,
    calls: u64,
    since_ns: u64,
}

struct Held {
    /// The state of the seeded choice; `None` for the latest choice.
    random: Mutex<Option<u64>>,
    waited: Mutex<Option<Waited>>,
    ran_ns: AtomicU64,
}

impl Held {
    fn choose(&self, runnable: &[u32]) -> usize {
        match &mut *self.random.lock() {
            // Streams with no order between them advance in reverse of their age.
            None => runnable.len() - 1,
            Some(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                (*state % runnable.len() as u64) as usize
            }
        }
    }
}

impl Schedule for Held {
    fn next(&self, runnable: &[u32]) -> Option<usize> {
        if runnable.is_empty() {
            return None;
        }
        let now = now_ns();
        let ran = |index| {
            self.ran_ns.store(now, Ordering::Relaxed);
            Some(index)
        };
        if FREE.load(Ordering::Relaxed) {
            return ran(0);
        }
        let waited = *self.waited.lock();
        if let Some(waited) = waited {
            let seeded = self.random.lock().is_some();
            let own = runnable.iter().position(|number| *number == waited.number);
            let still = CALLS.load(Ordering::Relaxed) == waited.calls;
            if still {
                match own {
                    Some(own) if !seeded => return ran(own),
                    Some(_) => return ran(self.choose(runnable)),
                    // The queue waits for another one, or is done and the program has not called yet.
                    None if now.saturating_sub(waited.since_ns.max(self.ran_ns.load(Ordering::Relaxed)))
                        > 2_000_000 =>
                    {
                        return ran(self.choose(runnable));
                    }
                    None => return None,
                }
            }
        }
        if POLLED.load(Ordering::Relaxed) >= POLLS {
            return ran(self.choose(runnable));
        }
        let last = LAST_CALL_NS.load(Ordering::Relaxed);
        let ran_before = self.ran_ns.load(Ordering::Relaxed).max(last.min(now));
        if now.saturating_sub(last) > IDLE_NS
            || now.saturating_sub(self.ran_ns.load(Ordering::Relaxed)) > STARVED_NS
                && now.saturating_sub(ran_before) > STARVED_NS
        {
            return ran(self.choose(runnable));
        }
        None
    }

    fn waiting(&self, number: u32) {
        *self.waited.lock() = Some(Waited {
            number,
            calls: CALLS.load(Ordering::Relaxed),
            since_ns: now_ns(),
        });
    }
}
