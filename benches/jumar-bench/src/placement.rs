//! Where threads run: the three regimes that differ by up to fifty times.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, bail, ensure};

/// Whether the measuring thread was bound to the first core, and what it starts therefore, too.
static SEPARATE: AtomicBool = AtomicBool::new(false);

/// Sends a thread that the measuring thread started to the other cores, where the placement wants it there. Two threads that
/// spin for each other on one core would take a time slice a step.
pub fn away() {
    if SEPARATE.load(Ordering::Relaxed) {
        bind(&others()).expect("cores that were bound before");
    }
}

/// Counts the cores that a measurement may use. With separate cores the measuring thread itself uses only one of them.
pub fn cores() -> usize {
    let mine = std::thread::available_parallelism().map_or(1, usize::from);
    match SEPARATE.load(Ordering::Relaxed) {
        true => others().len() + 1,
        false => mine,
    }
}

/// Returns the core that the calling thread runs on.
pub fn here() -> usize {
    // SAFETY: the call has no conditions.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// Sends the calling thread to the cores that are not this one.
pub fn leave(core: usize) {
    let all = [0].into_iter().chain(others());
    let left: Vec<usize> = all.filter(|&other| other != core).collect();
    bind(&left).expect("another core");
}

/// All cores but the first. All of the machine's: the calling thread may be bound to the first already.
fn others() -> Vec<usize> {
    // SAFETY: the call has no conditions.
    let cores = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).unwrap_or(1);
    (1..cores).collect()
}

/// Where the threads of a measurement run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Where the system likes.
    Anywhere,
    /// The measuring thread on one core, workers on the others.
    Separate,
    /// All on one core.
    OneCore,
}

impl Placement {
    /// Parses the name of the command line.
    pub fn named(name: &str) -> Result<Placement> {
        Ok(match name {
            "anywhere" => Placement::Anywhere,
            "separate" => Placement::Separate,
            "one-core" => Placement::OneCore,
            _ => bail!("{name} is not a placement: anywhere, separate, one-core"),
        })
    }

    /// Names a line of the table.
    pub fn names(self, what: &str) -> String {
        match self {
            Placement::Anywhere => what.to_owned(),
            Placement::Separate => format!("{what} [separate]"),
            Placement::OneCore => format!("{what} [one core]"),
        }
    }

    /// Puts the process where it belongs, before it starts threads.
    pub fn begin(self) -> Result<()> {
        match self {
            Placement::Anywhere | Placement::Separate => Ok(()),
            Placement::OneCore => bind(&[0]),
        }
    }

    /// Calls `start`, whose workers stay on the other cores, and binds this thread to the first core.
    pub fn start_workers(self, start: impl FnOnce()) -> Result<()> {
        if self != Placement::Separate {
            return Ok(());
        }
        let others = others();
        ensure!(!others.is_empty(), "there is one core only");
        bind(&others)?;
        start();
        SEPARATE.store(true, Ordering::Relaxed);
        bind(&[0])
    }
}

/// Binds the calling thread, and those that it starts, to cores.
fn bind(cores: &[usize]) -> Result<()> {
    // SAFETY: the structure is plain bits, all zero is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &core in cores {
        // SAFETY: the set is ours; a core out of range changes nothing.
        unsafe { libc::CPU_SET(core, &mut set) };
    }
    // SAFETY: the set is ours and as long as we say; 0 is the calling thread.
    let result = unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) };
    ensure!(result == 0, "the system refuses to bind a thread");
    Ok(())
}
