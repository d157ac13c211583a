//! Image and video work of DVPP: codecs, and processing of images with strides. It knows no streams, no handles and no device.
//!
//! - [`Format`], [`Image`], [`Rect`]: how an image lies in memory.
//! - [`Source`], [`Sink`]: memory, as rows that are copied in and out.
//! - [`vpc`]: crop, resize, convert, paste, borders, statistics.
//! - `jpeg` (feature `jpeg`: libjpeg-turbo), [`png`]: still images.
//! - [`video`]: H.264 and H.265.
//! - [`limits`]: sizes and alignments that the families of cards accept.

mod error;
mod format;
mod image;
#[cfg(feature = "jpeg")]
pub mod jpeg;
pub mod limits;
mod memory;
mod planar;
pub mod png;
mod scratch;
pub mod video;
pub mod vpc;

pub use error::{ImageError, Result};
pub use format::{Color, Format, Layout, Plane};
pub use image::{Image, Rect};
pub use memory::{Sink, Source};
pub use planar::{PlanarImage, Samples};
pub use scratch::Scratch;

/// Runs a codec of another project. A panic there becomes an error of its task.
pub(crate) fn guarded<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(ImageError::new(format!(
            "{name} failed on this data with a defect of its own"
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codec_that_panics_fails_its_task_with_its_name() {
        let failed = guarded("the JPEG decoder", || -> Result<()> {
            let empty: &[u8] = &[];
            assert!(!empty.is_empty(), "a defect of the library");
            Ok(())
        });
        let error = failed.expect_err("the panic").to_string();
        assert!(error.contains("the JPEG decoder failed"), "{error}");
    }
}
