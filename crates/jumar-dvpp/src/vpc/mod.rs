//! Image processing (VPC, the vendor's "vision preprocessing core"): crop, resize, colour conversion, paste, borders, rotation, pyramids, histograms and look-up tables.

mod border;
mod convert;
mod job;
mod overwrite;
mod pyramid;
mod resize;
mod rotate;
mod shuffle;
mod statistics;

pub use border::{Border, BorderKind, make_border};
pub use convert::{Matrix, check as check_conversion};
pub use job::Job;
pub use pyramid::{Smoothing, pyramid_down};
pub use resize::Filter;
pub use rotate::{Rotation, rotate};
pub use statistics::{HISTOGRAM_BINS, Histogram, SampleTables, apply_tables, count};

pub(crate) use overwrite::overwrite;

#[cfg(feature = "jpeg")]
pub(crate) use convert::with_chroma;
#[cfg(feature = "jpeg")]
pub(crate) use rotate::{Symmetry, transformed};
