//! Vector kernels: the float32 matrix product and what feeds it.
//!
//! Every function here is safe to call: it checks its rows once and then runs unchecked. Which instructions are used
//! is decided at run time; the portable version is the reference in the tests.

pub mod blocked;
mod gemm;
pub(crate) mod math;
pub mod narrow;
mod patches;
pub mod unit;
pub(crate) mod wide;

pub use gemm::{Epilogue, PANEL, Start, gemm, gemm_strided};
pub use patches::{Segment, pack_columns, pack_patches, pack_rows};

/// The instructions that kernels may use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// AVX-512 F, VL, BW and DQ, and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// What the compiler makes of plain loops.
    Portable,
}

impl Level {
    /// Finds the best level of this processor.
    pub(crate) fn best() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            if avx512 && is_x86_feature_detected!("fma") {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Portable
    }
}

/// The levels that this processor has, for tests.
#[cfg(test)]
pub(crate) fn levels() -> Vec<Level> {
    let mut levels = vec![Level::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            levels.push(Level::Avx2);
        }
        if Level::best() == Level::Avx512 {
            levels.push(Level::Avx512);
        }
    }
    levels
}
