//! JPEG images, by libjpeg-turbo.

mod decode;
mod encode;
mod exif;
mod header;
mod library;

pub use decode::{Decoder, Margins, Rounding, output_format, target_formats};
pub use encode::{bound, encode, encode_to};
pub use header::{Header, Process, Sampling, read_header};
