//! Image processing: crop, resize, convert, paste, borders, statistics.

mod border;
mod convert;
mod job;
mod overwrite;
mod resize;
mod statistics;

pub use border::{Border, BorderKind, make_border};
pub use convert::{Matrix, check as check_conversion};
pub use job::Job;
pub use resize::Filter;
pub use statistics::{HISTOGRAM_BINS, Histogram, SampleTables, apply_tables, count, pyramid_down};

pub(crate) use overwrite::overwrite;

#[cfg(feature = "jpeg")]
pub(crate) use convert::with_chroma;
