//! Video: decoding and encoding of H.264 and H.265. Streams are Annex B, and a packet is what one frame is coded in.
//!
//! The codecs are libraries, but for the encoder of H.265. FFmpeg can decode instead of the built-in decoders where a program's user wants that. This module pairs frames with the packets that they come from, puts them in the order of display,
//! enforces limits on what an untrusted stream may ask for, and turns a library's panic into the failure of one frame.

mod allowance;
mod bits;
mod decoder;
mod encoder;
mod engine;
mod ffmpeg;
mod frame;
mod h264;
mod h265;
mod hevc;
mod openh264;

pub use decoder::{Decoder, Order, Outcome};
pub use encoder::{CopiedFrame, Encoder, EncoderSettings, Packet, Profile};
pub use engine::{Failure, FailureKind, Limits};
pub use ffmpeg::Ffmpeg;
pub use frame::Frame;

/// A way in which a stream is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// H.264 (AVC): baseline, main and high profile, interlaced too.
    H264,
    /// H.265 (HEVC): main and main 10 profile.
    H265,
}

impl Codec {
    /// Returns the name of the standard.
    pub const fn name(self) -> &'static str {
        match self {
            Codec::H264 => "H.264",
            Codec::H265 => "H.265",
        }
    }
}
