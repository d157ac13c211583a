//! Vector kernels: the float32 matrix product and what feeds it.
//!
//! Every function here is safe to call: it checks its rows once and then runs unchecked. Which instructions are used
//! is decided at run time; the portable version is the reference in the tests.

pub mod blocked;
mod gemm;
mod patches;

pub use gemm::{Epilogue, PANEL, Start, gemm};
pub use patches::{Segment, pack_columns, pack_patches, pack_rows};

/// The instructions that kernels may use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// AVX-512 F.
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
            if is_x86_feature_detected!("avx512f") {
                return Level::Avx512;
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level::Avx2;
            }
        }
        Level::Portable
    }
}
