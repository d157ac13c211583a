//! What the decoder needs of a codec library.

use std::fmt;

use super::frame::Frame;
use crate::error::refuse;
use crate::{ImageError, Result};

/// Why a packet has no frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The packet contains no start code.
    NotCut,
    /// The packet is coded in another way than the decoder was created for.
    OtherCodec,
    /// The frame is smaller or larger than the limits.
    Resolution,
    /// The frame is damaged, needs one that is missing, or uses what the library does not support.
    Damaged,
    /// The packet contains the second field of a frame, or no frame at all.
    NoFrame,
}

/// Why a packet has no frame, as a sentence too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// The cause.
    pub sentence: String,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, sentence: impl Into<String>) -> Failure {
        Failure {
            kind,
            sentence: sentence.into(),
        }
    }

    pub(super) fn damaged(sentence: impl fmt::Display) -> Failure {
        Failure::new(FailureKind::Damaged, sentence.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What a stream may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The smallest width and height.
    pub smallest: usize,
    /// The largest width and height.
    pub largest: usize,
}

impl Limits {
    /// Checks the size of a frame.
    pub(super) fn check(&self, width: u64, height: u64) -> std::result::Result<(), Failure> {
        let range = self.smallest as u64..=self.largest as u64;
        if range.contains(&width) && range.contains(&height) {
            return Ok(());
        }
        Err(Failure::new(
            FailureKind::Resolution,
            format!(
                "the frames of the stream have {width}x{height} pixels; {0}x{0} to {1}x{1} are supported",
                self.smallest, self.largest
            ),
        ))
    }
}

/// What decoding a packet led to.
#[derive(Default)]
pub(super) struct Step {
    /// The frame of an earlier packet, which this one completed.
    pub(super) earlier: Option<Frame>,
    /// The frame of this packet.
    pub(super) own: Option<Frame>,
    /// The packet contains slices of a frame.
    pub(super) has_slices: bool,
    /// All earlier frames are displayed before this one.
    pub(super) starts_period: bool,
    /// The frame of this packet failed.
    pub(super) failure: Option<Failure>,
}

/// A codec library with what was read of the stream's parameters.
pub(super) trait Engine: Send {
    /// Decodes a packet.
    fn decode(&mut self, packet: &[u8]) -> Step;

    /// Ends the stream: returns the frame that is not complete yet.
    fn end(&mut self) -> Option<Frame>;

    /// Returns the most frames that precede a frame in the order of coding and follow it in that of display.
    fn reordered(&self) -> usize;

    /// Returns whether a packet's frame can be complete only when a later packet has come.
    fn completes_later(&self) -> bool;
}

/// Checks that a plane has as many samples as its size says.
pub(super) fn check_plane(samples: usize, width: usize, height: usize) -> Result<()> {
    if samples != width * height {
        refuse!("the codec returned {samples} samples for a plane of {width}x{height}");
    }
    Ok(())
}

/// Reduces samples of more than eight bits to eight, rounded.
pub(super) fn reduce(sample: u16, depth: u8) -> u8 {
    let shift = u32::from(depth) - 8;
    let half = (1_u32 << shift) >> 1;
    ((u32::from(sample) + half) >> shift).min(255) as u8
}

/// Returns the error of a depth that frames cannot have.
pub(super) fn check_depth(depth: u8) -> Result<()> {
    match (8..=16).contains(&depth) {
        true => Ok(()),
        false => Err(ImageError::new(format!(
            "the codec returned samples of {depth} bits"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::reduce;

    #[test]
    fn samples_are_rounded_and_stay_in_range() {
        assert_eq!(reduce(1023, 10), 255);
        assert_eq!(reduce(1022, 10), 255);
        assert_eq!(reduce(1, 10), 0);
        assert_eq!(reduce(2, 10), 1);
        assert_eq!(reduce(513, 10), 128);
        assert_eq!(reduce(77, 8), 77);
    }
}
