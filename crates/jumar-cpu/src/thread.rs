//! The state of a thread while it runs our work.
//!
//! Results must not depend on which thread ran a program: a worker, or a thread of the program under test that waits.
//! So rounding and denormal mode are the default while a program runs, and the thread finds its own again, together
//! with its `errno`. Workers block every signal that is meant for the process: it belongs to the process's own threads. What a thread brings on
//! itself (a bad access, a bad instruction) it receives itself, so that the process's handlers run here, too.

use std::mem::MaybeUninit;
use std::ptr;

/// Runs `f` with the default floating-point state and restores the thread's own, and `errno`, afterwards.
#[inline]
pub(crate) fn neutral<R>(f: impl FnOnce() -> R) -> R {
    let _restore = Restore {
        float: float::enter(),
        errno: errno(),
    };
    f()
}

/// Forgets which floating-point exceptions the calling thread met.
pub(crate) fn lower_float_flags() {
    float::lower_flags();
}

/// Returns whether a result was too large, or something was divided by zero, since the flags were lowered.
pub(crate) fn float_overflowed() -> bool {
    float::overflowed()
}

struct Restore {
    float: float::SavedFlags,
    errno: i32,
}

impl Drop for Restore {
    fn drop(&mut self) {
        float::leave(self.float);
        set_errno(self.errno);
    }
}

fn errno() -> i32 {
    // SAFETY: the address is the calling thread's own and always readable.
    unsafe { *libc::__errno_location() }
}

fn set_errno(value: i32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value };
}

/// What a thread brings on itself.
const OWN: [libc::c_int; 5] = [
    libc::SIGBUS,
    libc::SIGSEGV,
    libc::SIGILL,
    libc::SIGFPE,
    libc::SIGTRAP,
];

/// Blocks every signal of the process while `spawn` starts a thread, which inherits the mask.
pub(crate) fn without_signals(spawn: &mut dyn FnMut()) {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is ours to write.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    for signal in OWN {
        // SAFETY: the set was filled by the call above.
        unsafe { libc::sigdelset(all.as_mut_ptr(), signal) };
    }
    // SAFETY: `all` was filled by sigfillset, `before` is ours to write.
    let masked =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr()) } == 0;
    spawn();
    if masked {
        // SAFETY: `before` was written by the call above.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    }
}

/// Returns the processor that the calling thread runs on.
pub(crate) fn processor() -> Option<u32> {
    // SAFETY: the call has no preconditions and no effect.
    u32::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// The number that stands for the calling thread where the system wants one.
const ME: libc::pid_t = 0;

/// Reads which processors a thread may run on.
fn allowed(thread: libc::pid_t) -> Option<libc::cpu_set_t> {
    // SAFETY: a set of processors is valid when it is all zeros.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set has the length that is given.
    let result = unsafe { libc::sched_getaffinity(thread, size_of_val(&set), &mut set) };
    (result == 0).then_some(set)
}

/// Sets the processors that a thread may run on. Returns whether the system does so.
fn allow(thread: libc::pid_t, set: &libc::cpu_set_t) -> bool {
    // SAFETY: the set has the length that is given.
    unsafe { libc::sched_setaffinity(thread, size_of_val(set), set) == 0 }
}

/// Returns where a thread may run, and the same without the processor that the calling thread runs on, if something is left.
fn without_here(thread: libc::pid_t) -> Option<(libc::cpu_set_t, libc::cpu_set_t)> {
    let here = processor().filter(|&here| (here as i32) < libc::CPU_SETSIZE)?;
    let allowed = allowed(thread)?;
    let mut others = allowed;
    // SAFETY: both calls only touch the set, which has an entry for this processor.
    let left = unsafe {
        libc::CPU_CLR(here as usize, &mut others);
        libc::CPU_COUNT(&others)
    };
    (left > 0).then_some((allowed, others))
}

/// Moves the calling thread to another processor that it may run on, if there is one. Where it may run stays as it was.
pub(crate) fn leave_processor() {
    if let Some((allowed, others)) = without_here(ME)
        // The first call moves the thread, the second lets it go anywhere again.
        && allow(ME, &others)
    {
        allow(ME, &allowed);
    }
}

/// Calls `wake`, which wakes a thread, and has that thread run on another processor than this one if it may. Where it may run stays as
/// it was: what the program said a moment before counts, and `errno` is the program's.
pub(crate) fn wake_elsewhere(thread: u32, wake: &mut dyn FnMut()) {
    let before = errno();
    let thread = thread as libc::pid_t;
    match without_here(thread) {
        Some((allowed, others)) if allow(thread, &others) => {
            // A thread that is woken is put on a processor at once, and stays there when it may go anywhere again.
            wake();
            allow(thread, &allowed);
        }
        _ => wake(),
    }
    set_errno(before);
}

/// Returns the number by which the system knows the calling thread. A signal handler may ask.
pub(crate) fn number() -> Option<u32> {
    // Not by `gettid`, which glibc has since 2.30: releases run with 2.28.
    // SAFETY: the call has no arguments, no preconditions and no effect.
    u32::try_from(unsafe { libc::syscall(libc::SYS_gettid) }).ok()
}

/// Counts the processors that the calling thread may run on.
pub(crate) fn processors() -> Option<usize> {
    // SAFETY: the call only reads the set.
    let count = unsafe { libc::CPU_COUNT(&allowed(ME)?) };
    usize::try_from(count).ok().filter(|&count| count > 0)
}

/// Returns how many processors' time the process's control group has, if that is limited. `errno` stays as it was.
pub(crate) fn processor_time() -> Option<usize> {
    let before = errno();
    let quota = quota::read();
    set_errno(before);
    quota
}

/// Minimises the timer slack of the calling thread.
pub(crate) fn sharpen_timers() {
    // The usual slack of 50 us would lengthen each timed park by half.
    // SAFETY: the call changes a number of the calling thread; a refusal costs precision only.
    let _ = unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong) };
}

#[cfg(target_arch = "x86_64")]
mod float {
    use std::arch::asm;

    /// Round to nearest, every exception masked, denormals kept, no flag raised.
    const DEFAULT: u32 = 0x1f80;
    /// The bits that change results: rounding, flush-to-zero, denormals-are-zero, masks.
    const MODES: u32 = 0xffc0;

    #[derive(Clone, Copy)]
    pub(super) struct SavedFlags(u32);

    #[inline]
    fn read() -> u32 {
        let mut value = 0u32;
        // SAFETY: the instruction writes four bytes to the address given.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
        value
    }

    #[inline]
    fn write(value: u32) {
        // SAFETY: the instruction reads four bytes; the value was read from the register or is the documented default, and
        // is restored before any code that was compiled for another state runs again.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, preserves_flags, readonly))
        };
    }

    #[inline]
    pub(super) fn enter() -> SavedFlags {
        let saved = read();
        if saved & MODES != DEFAULT & MODES {
            write(DEFAULT);
        }
        SavedFlags(saved)
    }

    /// What was met since: bit 2 division by zero, bit 3 overflow.
    const OVERFLOWS: u32 = 0b1100;

    pub(super) fn lower_flags() {
        write(read() & !0x3f);
    }

    pub(super) fn overflowed() -> bool {
        read() & OVERFLOWS != 0
    }

    #[inline]
    pub(super) fn leave(saved: SavedFlags) {
        // Flags that the program raised go too.
        if read() != saved.0 {
            write(saved.0);
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod float {
    use std::arch::asm;

    #[derive(Clone, Copy)]
    pub(super) struct SavedFlags(u64);

    pub(super) fn lower_flags() {
        // SAFETY: the register holds flags alone.
        unsafe { asm!("msr fpsr, xzr", options(nomem, nostack, preserves_flags)) };
    }

    pub(super) fn overflowed() -> bool {
        let met: u64;
        // SAFETY: reading the register has no effect.
        unsafe { asm!("mrs {}, fpsr", out(reg) met, options(nomem, nostack, preserves_flags)) };
        // Bit 1 division by zero, bit 2 overflow.
        met & 0b110 != 0
    }

    #[inline]
    pub(super) fn enter() -> SavedFlags {
        let saved: u64;
        // SAFETY: reading the control register has no effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) saved, options(nomem, nostack, preserves_flags)) };
        if saved != 0 {
            leave(SavedFlags(0));
        }
        SavedFlags(saved)
    }

    #[inline]
    pub(super) fn leave(saved: SavedFlags) {
        let now: u64;
        // SAFETY: reading the control register has no effect.
        unsafe { asm!("mrs {}, fpcr", out(reg) now, options(nomem, nostack, preserves_flags)) };
        if now != saved.0 {
            // SAFETY: the value was read from the register, or is the default.
            unsafe {
                asm!("msr fpcr, {}", in(reg) saved.0, options(nomem, nostack, preserves_flags))
            };
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod float {
    #[derive(Clone, Copy)]
    pub(super) struct SavedFlags;

    pub(super) fn lower_flags() {}

    pub(super) fn overflowed() -> bool {
        false
    }

    pub(super) fn enter() -> SavedFlags {
        SavedFlags
    }

    pub(super) fn leave(_: SavedFlags) {}
}

/// The share of the processors that a control group has.
mod quota {
    use std::fs;
    use std::path::{Path, PathBuf};

    /// Where control groups are seen, by convention.
    const MOUNT: &str = "/sys/fs/cgroup";

    pub(super) fn read() -> Option<usize> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        least(&groups, Path::new(MOUNT))
    }

    /// Finds the least share of the groups that a process is in, and of those around them. Of the second version if the process
    /// is in such a group that has a share, else of the first.
    pub(super) fn least(groups: &str, mount: &Path) -> Option<usize> {
        let mut fields = groups.lines().map(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            (fields.next().unwrap_or(""), fields.next().unwrap_or("/"))
        });
        let (mut second, mut first) = (None, None);
        for (controllers, group) in &mut fields {
            match controllers {
                "" => second = Some((mount.to_owned(), group)),
                _ if controllers.split(',').any(|name| name == "cpu") => {
                    // Mounted by its controllers' names, as one or under a link.
                    let tops = [mount.join("cpu"), mount.join(controllers)];
                    first = tops
                        .into_iter()
                        .find(|top| top.is_dir())
                        .map(|top| (top, group));
                }
                _ => {}
            }
        }
        let share = |top: Option<(PathBuf, &str)>, read: fn(&Path) -> Option<usize>| {
            let (top, group) = top?;
            let own = top.join(group.trim_start_matches('/'));
            // In a container the group's path may be one of the system outside.
            let own = if own.is_dir() { own } else { top.clone() };
            let around = own
                .ancestors()
                .take_while(|folder| folder.starts_with(&top));
            around.filter_map(read).min()
        };
        share(second, of_second).or_else(|| share(first, of_first))
    }

    /// `max 100000`: no limit; `150000 100000`: one and a half processors.
    fn of_second(folder: &Path) -> Option<usize> {
        let text = fs::read_to_string(folder.join("cpu.max")).ok()?;
        let (time, period) = text.trim().split_once(' ')?;
        processors(time, period)
    }

    fn of_first(folder: &Path) -> Option<usize> {
        let read = |name| fs::read_to_string(folder.join(name)).ok();
        let time = read("cpu.cfs_quota_us").filter(|time| !time.starts_with('-'))?;
        processors(&time, &read("cpu.cfs_period_us")?)
    }

    /// Part of a processor's time is not worth a thread more, and is one at least.
    fn processors(time: &str, period: &str) -> Option<usize> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        Some((number(time)? / number(period)?.max(1)).max(1))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_least_share_of_the_groups_around_counts() {
            let mount = tempfile::tempdir().expect("a folder");
            let mount = mount.path();
            let inner = mount.join("a/b");
            fs::create_dir_all(&inner).expect("groups");
            fs::write(mount.join("a/cpu.max"), "250000 100000\n").expect("a share");
            fs::write(inner.join("cpu.max"), "max 100000\n").expect("no limit");
            assert_eq!(least("0::/a/b\n", mount), Some(2));
            fs::write(inner.join("cpu.max"), "50000 100000\n").expect("half a processor");
            assert_eq!(least("0::/a/b\n", mount), Some(1));
            assert_eq!(least("0::/\n", mount), None);
        }

        #[test]
        fn groups_of_the_first_version_count_where_the_second_has_no_share() {
            let mount = tempfile::tempdir().expect("a folder");
            let mount = mount.path();
            let group = mount.join("cpu,cpuacct/job");
            fs::create_dir_all(&group).expect("groups");
            let say = |time: &str| {
                fs::write(group.join("cpu.cfs_quota_us"), time).expect("a share");
                fs::write(group.join("cpu.cfs_period_us"), "100000\n").expect("a period");
            };
            let groups = "4:memory:/job\n3:cpu,cpuacct:/job\n0::/\n";
            say("-1\n");
            assert_eq!(least(groups, mount), None);
            say("400000\n");
            assert_eq!(least(groups, mount), Some(4));
            // The path of a system outside: what is seen at the top counts.
            assert_eq!(least("3:cpu,cpuacct:/elsewhere\n", mount), None);
        }

        #[test]
        fn it_agrees_with_the_standard_library() {
            let allowed = super::super::processors().expect("processors");
            let known = std::thread::available_parallelism().expect("a count").get();
            assert_eq!(allowed.min(read().unwrap_or(usize::MAX)), known);
        }
    }
}

#[cfg(test)]
mod placement {
    use super::*;

    /// Waits for a number in a cell that another thread writes.
    #[test]
    fn a_thread_that_is_woken_elsewhere_may_run_everywhere_again() {
        let (send, wait) = std::sync::mpsc::channel::<()>();
        let (sender, receiver) = std::sync::mpsc::channel();
        let parked = std::thread::spawn(move || {
            sender
                .send(number().expect("a number"))
                .expect("a listener");
            wait.recv().expect("a call");
            // SAFETY: both sets are the thread's own.
            allowed(ME).map(|set| unsafe { libc::CPU_COUNT(&set) })
        });
        let thread = receiver.recv().expect("its number");
        set_errno(7);
        let mut calls = 0;
        wake_elsewhere(thread, &mut || {
            calls += 1;
            set_errno(11);
        });
        // SAFETY: the set was read just now.
        let after = allowed(thread as libc::pid_t).map(|set| unsafe { libc::CPU_COUNT(&set) });
        assert_eq!((calls, errno()), (1, 7));
        send.send(()).expect("a parked thread");
        let seen = parked.join().expect("no panic");
        assert_eq!(after, seen);
        assert_eq!(after.map(|count| count as usize), processors());
    }

    #[test]
    fn a_thread_that_is_gone_is_no_obstacle() {
        let mut calls = 0;
        wake_elsewhere(u32::MAX / 2, &mut || calls += 1);
        assert_eq!(calls, 1);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn modes() -> u32 {
        let mut value = 0u32;
        // SAFETY: the instruction writes four bytes to the address given.
        unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack)) };
        value
    }

    fn set_modes(value: u32) {
        // SAFETY: the test restores the default before it ends.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly))
        };
    }

    #[test]
    fn a_program_runs_in_the_default_state_and_the_thread_gets_its_own_back() {
        // Round towards zero, flush denormals.
        set_modes(0xff80);
        set_errno(7);
        let inside = neutral(|| {
            set_errno(11);
            modes()
        });
        let after = modes();
        set_modes(0x1f80);
        assert_eq!((inside, after, errno()), (0x1f80, 0xff80, 7));
    }
}
