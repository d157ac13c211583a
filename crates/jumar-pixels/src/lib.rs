//! Rows of pixels: what the preprocessing of models (AIPP) and the processing of images (DVPP) do alike.
//!
//! - [`Colours`]: the conversion of three components, with the factors and the rounding that the user states.
//! - [`rows`]: components of interleaved rows, and chroma of half the resolution.

#![forbid(unsafe_code)]

mod colours;
pub mod rows;

pub use colours::Colours;
