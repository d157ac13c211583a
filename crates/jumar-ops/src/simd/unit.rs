//! The processor's matrix unit (AMX): whether there is one, and whether this process may use it.
//!
//! Linux grants the unit only to processes that request it, because its state enlarges signal frames.
//! The setup of devices requests it once, and nothing else does: without a grant the unit is not used.
//!
//! Sources: Intel's manual for software developers, volume 1, chapters 13 and 18 (detection); "Using XSTATE features in
//! user space applications" in the kernel's documentation (permission).

use std::sync::OnceLock;

/// What the matrix unit may be used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Products of bfloat16, summed in float32.
    pub bfloat16: bool,
    /// Products of bytes, summed in 32 bits.
    pub bytes: bool,
}

/// What came of asking for the matrix unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is none, or the system does not know it.
    Absent,
    /// Not requested, or disabled.
    Unasked,
    /// The system refused, with this error number. Kernels that do without it are used.
    Refused(i32),
    /// It may be used.
    Granted(Unit),
}

impl Answer {
    /// Sets what the matrix unit may be used for.
    pub fn unit(self) -> Unit {
        match self {
            Answer::Granted(unit) => unit,
            Answer::Absent | Answer::Unasked | Answer::Refused(_) => Unit::default(),
        }
    }
}

/// The answer, for the process: the system grants the permission to a process as a whole, and never revokes it.
static ANSWER: OnceLock<Answer> = OnceLock::new();

/// Asks the system for the matrix unit, once in a process; later calls give the first answer.
///
/// Refusal is a normal answer: a signal stack that is too small for the larger frames (ENOSPC), a filter of system calls
/// (EPERM), an old kernel (ENOSYS or EINVAL).
pub fn ask() -> Answer {
    *ANSWER.get_or_init(|| answer(found(), request))
}

/// Returns the answer.
pub fn answered() -> Answer {
    ANSWER.get().copied().unwrap_or(Answer::Unasked)
}

/// Returns what the matrix unit may be used for.
#[inline]
pub(super) fn allowed() -> Unit {
    answered().unit()
}

/// Asks for a unit that is there. `request` returns the system's error number, negative, or zero.
fn answer(found: Unit, request: impl FnOnce() -> isize) -> Answer {
    if found == Unit::default() {
        return Answer::Absent;
    }
    match request() {
        0 => Answer::Granted(found),
        error => Answer::Refused(-error as i32),
    }
}

/// Finds what the processor has and the system lets through.
pub(super) fn found() -> Unit {
    #[cfg(target_arch = "x86_64")]
    {
        x86::found()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        Unit::default()
    }
}

fn request() -> isize {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    {
        x86::request()
    }
    // Other systems have no request.
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    {
        const NO_SUCH_CALL: isize = -38;
        NO_SUCH_CALL
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{__cpuid, __cpuid_count, __get_cpuid_max, _xgetbv};

    use super::Unit;

    /// What is read of the processor.
    #[derive(Clone, Copy, Default)]
    pub(super) struct Leaves {
        /// Leaf 1, ecx.
        pub features: u32,
        /// Leaf 7, edx.
        pub extended: u32,
        /// Leaf 1dh, subleaf 1: eax, ebx, ecx.
        pub palette: [u32; 3],
        /// Which states the system saves.
        pub saved: u64,
    }

    pub(super) fn found() -> Unit {
        let (last, _) = __get_cpuid_max(0);
        let mut leaves = Leaves::default();
        if last >= 0x1d {
            leaves.features = __cpuid(1).ecx;
            leaves.extended = __cpuid_count(7, 0).edx;
            let palette = __cpuid_count(0x1d, 1);
            leaves.palette = [palette.eax, palette.ebx, palette.ecx];
        }
        if leaves.features >> 27 & 1 == 1 {
            // SAFETY: the bit that was looked at says that the system has switched the instruction on.
            leaves.saved = unsafe { saved() };
        }
        judge(leaves)
    }

    /// # Safety
    ///
    /// The system has switched on `xgetbv`.
    #[target_feature(enable = "xsave")]
    unsafe fn saved() -> u64 {
        // SAFETY: the caller's word; register 0 is always there.
        unsafe { _xgetbv(0) }
    }

    /// Judges what was read: a palette of eight registers of sixteen rows of 64 bytes, saved by the system.
    pub(super) fn judge(leaves: Leaves) -> Unit {
        let [total, row, rows] = leaves.palette;
        let big = total & 0xffff >= 8192
            && total >> 16 >= 1024
            && row & 0xffff >= 64
            && row >> 16 >= 8
            && rows & 0xffff >= 16;
        let saved = leaves.saved >> 17 & 3 == 3;
        let has = |bit: u32| leaves.extended >> bit & 1 == 1;
        let usable = leaves.features >> 27 & 1 == 1 && saved && big && has(24);
        Unit {
            bfloat16: usable && has(22),
            bytes: usable && has(25),
        }
    }

    /// Asks Linux: `arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)`. Written out, so that errno stays the program's.
    #[cfg(target_os = "linux")]
    pub(super) fn request() -> isize {
        const ARCH_PRCTL: isize = 158;
        const ARCH_REQ_XCOMP_PERM: usize = 0x1023;
        const XFEATURE_XTILEDATA: usize = 18;
        let answer;
        // SAFETY: the call takes two numbers and touches no memory of the process.
        unsafe {
            std::arch::asm!("syscall", inlateout("rax") ARCH_PRCTL => answer, in("rdi") ARCH_REQ_XCOMP_PERM,
                in("rsi") XFEATURE_XTILEDATA, out("rcx") _, out("r11") _, options(nostack));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Unit = Unit {
        bfloat16: true,
        bytes: true,
    };

    #[test]
    fn refusal_is_an_answer_and_what_is_not_there_is_not_asked_for() {
        assert_eq!(answer(BOTH, || 0), Answer::Granted(BOTH));
        // ENOSPC, EPERM, ENOSYS, EINVAL.
        for error in [28, 1, 38, 22] {
            let refused = answer(BOTH, || -error);
            assert_eq!(refused, Answer::Refused(error as i32));
            assert_eq!(refused.unit(), Unit::default());
        }
        let asked = answer(Unit::default(), || {
            unreachable!("an empty request is not made")
        });
        assert_eq!(asked, Answer::Absent);
        assert_eq!(ask(), ask());
        assert_eq!(ask() == Answer::Absent, found() == Unit::default());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_unit_is_found_where_all_of_it_is_there_and_saved() {
        // As a processor with all of it reports: XSAVE in use; BF16, TILE, INT8; the palette; states 0 to 2 and 17 to 18.
        let full = x86::Leaves {
            features: 1 << 27,
            extended: 1 << 22 | 1 << 24 | 1 << 25,
            palette: [1024 << 16 | 8192, 8 << 16 | 64, 16],
            saved: 0x6_00e7,
        };
        assert_eq!(x86::judge(full), BOTH);
        for (what, change) in [
            ("no XSAVE", (|l| l.features = 0) as fn(&mut x86::Leaves)),
            ("no registers", |l| l.extended &= !(1 << 24)),
            ("configuration alone is saved", |l| l.saved = 0x2_00e7),
            ("registers alone are saved", |l| l.saved = 0x4_00e7),
            ("short rows", |l| l.palette[1] = 8 << 16 | 32),
            ("four registers", |l| l.palette[1] = 4 << 16 | 64),
            ("eight rows", |l| l.palette[2] = 8),
            ("no palette", |l| l.palette = [0; 3]),
        ] {
            let mut leaves = full;
            change(&mut leaves);
            assert_eq!(x86::judge(leaves), Unit::default(), "{what}");
        }
        let mut bytes = full;
        bytes.extended &= !(1 << 22);
        assert_eq!(
            (x86::judge(bytes).bfloat16, x86::judge(bytes).bytes),
            (false, true)
        );
    }
}
