//! Orders of execution for tests of a program: late (a task runs only once a thread waits for it) and seeded (a number
//! chooses what runs next).
//!
//! A third one, ordered, follows a list of turns that an earlier run took or that `jumar explore` made of two such lists.
//!
//! In all of them, tasks run one at a time, and only while a thread of the program waits for a stream or asks for the third time whether
//! something is done, or when the program has called nothing for 20 ms: then whatever makes progress on a device does so here.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};

use jumar_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering, now_ns};
use jumar_cpu::Schedule;
use jumar_types::{Error, ErrorKind, Result};

use crate::config::{path, variable};

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
    Ordered,
}

/// The most bytes that the list of turns may have.
const LONGEST_ORDER: u64 = 64 << 20;

fn mode() -> Option<Mode> {
    static MODE: OnceLock<Option<Mode>> = OnceLock::new();
    *MODE.get_or_init(|| {
        let seed = variable("JUMAR_SEED").and_then(|text| text.parse().ok());
        match (variable("JUMAR_LATE").as_deref(), seed) {
            _ if path("JUMAR_ORDER").is_some() => Some(Mode::Ordered),
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
///
/// # Errors
/// `InvalidFile`: the list of turns cannot be read.
pub(crate) fn from_environment() -> Result<Option<Arc<BlockedStream>>> {
    let choice = match mode() {
        None => return Ok(None),
        Some(Mode::Late) => Choice::Latest,
        // A seed of zero would stay zero.
        Some(Mode::Seeded(seed)) => Choice::Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        Some(Mode::Ordered) => Choice::Ordered(Turns::read()?),
    };
    Ok(Some(Arc::new(BlockedStream {
        choice: Mutex::new(choice),
        asked: Mutex::new(StallActivity::default()),
    })))
}

/// What runs next, of what can run.
enum Choice {
    /// What is waited for, otherwise the youngest stream.
    Latest,
    /// A random stream; the state of the generator.
    Random(u64),
    /// The stream whose turn comes first.
    Ordered(Turns),
}

/// How often in a row a stream is chosen without the begin of a task: what it waits for may be the work of another one.
const LONGEST_STAY: u32 = 4;

/// For each stream, the positions in a list of tasks that have not begun.
#[derive(Default)]
struct Turns {
    ahead: HashMap<u32, VecDeque<usize>>,
    /// The stream that was chosen last, and how often since a task began.
    stay: (u32, u32),
}

impl Turns {
    fn read() -> Result<Turns> {
        let file = path("JUMAR_ORDER").unwrap_or_default();
        let refused = |why: String| {
            let sentence = format!("JUMAR_ORDER is \"{}\": {why}", file.display());
            Error::new(ErrorKind::InvalidFile, sentence)
        };
        let text = crate::input_file::read_text(&file, LONGEST_ORDER);
        let text = text.map_err(|error| refused(error.to_string()))?;
        Turns::of(&text).ok_or_else(|| refused("a line is not the number of a stream".to_owned()))
    }

    fn of(text: &str) -> Option<Turns> {
        let mut turns = Turns::default();
        for (position, line) in text.lines().enumerate() {
            let stream = line.parse().ok()?;
            turns.ahead.entry(stream).or_default().push_back(position);
        }
        Some(turns)
    }

    /// Chooses the stream whose task comes first, of those that can run. Streams that the list does not name any more come last.
    fn choose(&mut self, runnable: &[u32]) -> usize {
        let (last, times) = self.stay;
        let position = |stream: u32| {
            let ahead = self.ahead.get(&stream).and_then(|ahead| ahead.front());
            (
                stream == last && times >= LONGEST_STAY,
                ahead.copied().unwrap_or(usize::MAX),
            )
        };
        let first = runnable
            .iter()
            .enumerate()
            .min_by_key(|(index, stream)| (position(**stream), *index))
            .map_or(0, |(index, _)| index);
        let chosen = runnable.get(first).copied().unwrap_or(last);
        self.stay = match chosen == last {
            true => (chosen, times + 1),
            false => (chosen, 1),
        };
        first
    }

    /// Hears that a task of a stream begins.
    fn started(&mut self, stream: u32) {
        self.stay.1 = 0;
        if let Some(ahead) = self.ahead.get_mut(&stream) {
            ahead.pop_front();
        }
    }
}

pub(crate) struct BlockedStream {
    choice: Mutex<Choice>,
    asked: Mutex<StallActivity>,
}

/// What happened since something could run and did not. On a loaded machine time passes while the program is not even running,
/// so what its threads do counts as well.
#[derive(Default)]
struct StallActivity {
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
        match &mut *self.choice.lock() {
            // What is waited for goes first; streams with no order between them advance in reverse of their age.
            Choice::Latest => runnable
                .iter()
                .position(|number| waited.contains(number))
                .unwrap_or(runnable.len() - 1),
            Choice::Random(state) => {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                (*state % runnable.len() as u64) as usize
            }
            Choice::Ordered(turns) => turns.choose(runnable),
        }
    }

    /// Hears that a task of a stream begins.
    pub(crate) fn started(&self, stream: u32) {
        if let Choice::Ordered(turns) = &mut *self.choice.lock() {
            turns.started(stream);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_whose_task_comes_first_runs_if_it_can() {
        let mut turns = Turns::of("2\n1\n2\n3\n").expect("numbers");
        assert_eq!(turns.choose(&[1, 3]), 0);
        turns.started(1);
        assert_eq!(turns.choose(&[1, 2, 3]), 1);
        // Nothing began: it stays the first one, and not for ever.
        for _ in 1..LONGEST_STAY {
            assert_eq!(turns.choose(&[1, 2, 3]), 1);
        }
        assert_eq!(turns.choose(&[1, 2, 3]), 2);
        turns.started(2);
        assert_eq!(turns.choose(&[1, 2, 3]), 1);
        turns.started(2);
        assert_eq!(turns.choose(&[1, 3]), 1);
        turns.started(3);
        assert_eq!(turns.choose(&[1, 3]), 0);
        assert!(Turns::of("2\nx").is_none());
    }
}
