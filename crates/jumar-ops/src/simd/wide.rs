//! Safe loops, compiled once for each level of instructions.
//!
//! The compiler turns a plain loop into vector instructions, but only into those that it may take for granted: four
//! numbers at a time on x86-64. A [`Work`] is compiled for each level instead, and the level is chosen when it runs.

use super::Level;

/// Work that is the same loop at each level.
///
/// Whatever the loop calls has to be `#[inline(always)]`, so that it is compiled for the level, too. That includes functions that take
/// closures: `array::map` of the standard library is not, and its closure runs without the level's instructions. A test of the install
/// tree (`tests/conventions`) looks for such calls.
pub trait Work {
    /// What comes out.
    type Output;

    /// Does the work. `FUSED` states that a product and a sum are one instruction with one rounding. Implementations
    /// are `#[inline(always)]`.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Does a work with the best instructions of this processor.
///
/// Debug builds have the portable version alone, unless they are asked for every level (`build.rs`). Tests of a level call [`wide_at`].
#[inline]
pub fn wide<W: Work>(work: W) -> W::Output {
    #[cfg(not(every_level))]
    return work.run::<false>();
    #[cfg(every_level)]
    wide_at(Level::best(), work)
}

pub(super) fn wide_at<W: Work>(level: Level, work: W) -> W::Output {
    match level {
        // SAFETY: the level says that the processor has AVX-512, and what every processor with it has.
        #[cfg(all(target_arch = "x86_64", every_level))]
        Level::Avx512 => unsafe { avx512(work) },
        // SAFETY: the level says that the processor has AVX2, FMA and F16C, which every processor with AVX-512 has.
        #[cfg(all(target_arch = "x86_64", not(every_level)))]
        Level::Avx512 => unsafe { avx2(work) },
        // SAFETY: the level says that the processor has AVX2, FMA and F16C.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(work) },
        Level::Portable => work.run::<false>(),
    }
}

/// Debug builds have no such versions, which are a third of what has to be compiled.
#[cfg(all(target_arch = "x86_64", every_level))]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")]
fn avx512<W: Work>(work: W) -> W::Output {
    work.run::<true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn avx2<W: Work>(work: W) -> W::Output {
    work.run::<true>()
}
