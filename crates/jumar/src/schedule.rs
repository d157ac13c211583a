//! Orders of execution for tests of a program: late (a task runs only once a thread waits for it) and seeded (a number
//! chooses what runs next).
//!
//! In both, tasks run one at a time, and only while a thread of the program waits for a stream or asks for the third time whether
//! something is done, or when the program has called nothing for 20 ms: then whatever makes progress on a device does so here.

use std::sync::{Arc, OnceLock};

use jumar_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering, now_ns};
use jumar_cpu::Schedule;

use crate::config::variable;

/// How long the program may call nothing before work continues by itself.
const IDLE_NS: u64 = 20_000_000;
/// How often the schedule is asked (each millisecond) while that time has passed.
const IDLE_ASKED: u32 = 10;
/// The number of consecutive checks that must find the program asleep.
const IDLE_ASLEEP: u32 = 5;
/// A thread that wants to run is not waiting; but one that has run for so long since the last call waits in a loop.
const SPUN_NS: u64 = 10_000_000;
/// The shortest interval between checks of the program's threads while it makes calls.
const POLL_INTERVAL_NS: u64 = 5_000_000;
/// How long the program may run, whatever it calls, while something could continue.
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

/// Returns whether work is delayed until a thread waits for it.
pub fn is_late() -> bool {
    matches!(mode(), Some(Mode::Late))
}

/// Returns whether [`called`] has to hear of calls.
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
    Some(Arc::new(BlockedStream {
        random: Mutex::new(state),
        asked: Mutex::new(Asked::default()),
    }))
}

struct BlockedStream {
    /// The state of the seeded choice; `None` for the latest choice.
    random: Mutex<Option<u64>>,
    asked: Mutex<Asked>,
}

/// What happened since something could run and did not. On a loaded machine time passes while the program is not even running,
/// so what its threads do counts as well.
#[derive(Default)]
struct Asked {
    /// When the program called last.
    last_call: u64,
    /// How often the schedule was asked since then.
    times: u32,
    /// How long the threads of the program had run by then, or soon after.
    ran_ns: u64,
    /// How long they had run when something could continue first; `None` while nothing can.
    since_ns: Option<u64>,
    /// How long they had run at the last check, and for how many consecutive checks that did not change while no thread was runnable.
    seen_ns: u64,
    asleep: u32,
    /// The time of the last check.
    looked_ns: u64,
}

/// What the threads of the program are doing: how long they ran together, and whether one of them wants to run.
fn threads() -> (u64, bool) {
    let (mut ran_ns, mut wants) = (0, false);
    for entry in std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
    {
        let read =
            |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        // "12 (a name) R 1 ..."
        let stat = read("stat");
        let (Some(name), Some(end)) = (stat.find('('), stat.rfind(')')) else {
            continue;
        };
        if stat[name + 1..end].starts_with(WORKERS) {
            continue;
        }
        wants |= stat[end..].starts_with(") R");
        let first = read("schedstat");
        ran_ns += first
            .split(' ')
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
    }
    (ran_ns, wants)
}

/// How the names of the runtime's own threads begin.
const WORKERS: &str = "jumar-";

impl BlockedStream {
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

    /// Returns whether anything may run now.
    fn may_run(&self, waited: &[u32], now: u64) -> bool {
        !waited.is_empty()
            || FREE.load(Ordering::Relaxed)
            || POLLED.load(Ordering::Relaxed) >= POLLS
            || self.stands_still(now)
    }

    /// Returns whether the program waits for something that the schedule cannot observe.
    fn stands_still(&self, now: u64) -> bool {
        let last = LAST_CALL_NS.load(Ordering::Relaxed);
        let mut asked = self.asked.lock();
        if asked.last_call != last || asked.since_ns.is_none() {
            asked.last_call = last;
            asked.times = 0;
            asked.asleep = 0;
            // A program that makes calls continuously is not checked continuously.
            if asked.since_ns.is_some() && now.saturating_sub(asked.looked_ns) < POLL_INTERVAL_NS {
                return false;
            }
            let (ran_ns, _) = threads();
            asked.looked_ns = now;
            asked.ran_ns = ran_ns;
            let since = *asked.since_ns.get_or_insert(ran_ns);
            return ran_ns.saturating_sub(since) > STARVED_NS;
        }
        asked.times += 1;
        if asked.times == 1 {
            asked.ran_ns = threads().0;
        }
        if now.saturating_sub(last) <= IDLE_NS || asked.times <= IDLE_ASKED {
            return false;
        }
        let (ran_ns, wants) = threads();
        // One look may meet a program that sleeps for a moment (a lock, a page that is fetched): it has to sleep through several.
        let slept = !wants && ran_ns == asked.seen_ns;
        asked.asleep = if slept { asked.asleep + 1 } else { 0 };
        asked.seen_ns = ran_ns;
        asked.asleep >= IDLE_ASLEEP || ran_ns.saturating_sub(asked.ran_ns) > SPUN_NS
    }
}

impl Schedule for BlockedStream {
    fn next(&self, runnable: &[u32], waited: &[u32]) -> Option<usize> {
        let now = now_ns();
        if runnable.is_empty() || !self.may_run(waited, now) {
            return None;
        }
        self.asked.lock().since_ns = None;
        Some(self.choose(runnable, waited))
    }
}
