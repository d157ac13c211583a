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

/// How the frames of a sequence lie in what is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The columns and rows that are coded.
    pub(super) coded: (usize, usize),
    /// The first column and row that belong to the frame.
    pub(super) corner: (usize, usize),
    /// The columns and rows of the frame.
    pub(super) size: (usize, usize),
}

/// The shapes that a stream has stated.
#[derive(Default)]
pub(super) struct Shapes(Vec<Shape>);

impl Shapes {
    /// A stream has at most so many sequences at a time.
    const MOST: usize = 32;

    /// Notes the shape of a sequence.
    pub(super) fn note(&mut self, shape: Shape) {
        self.0.retain(|known| known.coded != shape.coded);
        if self.0.len() == Shapes::MOST {
            self.0.remove(0);
        }
        self.0.push(shape);
    }

    /// Returns the latest shape with a coded size.
    pub(super) fn find(&self, coded: (usize, usize)) -> Option<Shape> {
        self.0.iter().find(|known| known.coded == coded).copied()
    }
}

/// What one frame is coded in, or parameters alone.
#[derive(Default)]
pub(super) struct Part {
    /// The units, each with its start code.
    pub(super) bytes: Vec<u8>,
    /// Slices are among them.
    pub(super) has_slices: bool,
    has_start: bool,
}

/// The units of a packet that a library may see, one part for each frame.
#[derive(Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// Adds a unit. `starts_frame`: it is the first slice of a frame.
    pub(super) fn add(&mut self, unit: &[u8], is_slice: bool, starts_frame: bool) {
        if self
            .0
            .last()
            .is_none_or(|last| last.has_start && starts_frame)
        {
            self.0.push(Part::default());
        }
        if let Some(last) = self.0.last_mut() {
            last.bytes.extend_from_slice(unit);
            last.has_slices |= is_slice;
            last.has_start |= starts_frame;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Part> {
        self.0.iter()
    }
}

/// What is read of a stream in front of the library that decodes it: it refuses what exceeds the limits or cannot be decoded.
pub(super) trait Headers: Send {
    /// Reads a packet. Returns what it is, and the units that may be decoded.
    fn read(&mut self, packet: &[u8]) -> (Step, Parts);

    /// Returns the shape of frames by their coded size.
    fn shape(&self, coded: (usize, usize)) -> Option<Shape>;

    /// Returns what [`Engine::reordered`] does.
    fn reordered(&self) -> usize;

    /// Returns what [`Engine::completes_later`] does.
    fn completes_later(&self) -> bool;
}

/// Cuts a packet into units, each with its start code.
pub(super) fn units(packet: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut starts = packet
        .windows(3)
        .enumerate()
        .filter(|(_, window)| *window == [0, 0, 1])
        .map(|(at, _)| at);
    let mut start = starts.next();
    std::iter::from_fn(move || {
        let from = start?;
        start = starts.next();
        Some(&packet[from..start.unwrap_or(packet.len())])
    })
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
    use super::{Parts, Shape, Shapes, reduce, units};

    #[test]
    fn a_packet_is_cut_at_its_start_codes() {
        let cut = |packet| units(packet).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(
            cut(&[0, 0, 0, 1, 9, 0, 0, 1, 7, 8, 0, 0, 1]),
            [vec![0, 0, 1, 9], vec![0, 0, 1, 7, 8], vec![0, 0, 1]]
        );
        assert!(cut(&[1, 2, 3, 0, 0]).is_empty());
        assert!(cut(&[0, 1]).is_empty());
    }

    #[test]
    fn each_further_frame_of_a_packet_is_a_part() {
        let mut parts = Parts::default();
        for (unit, is_slice, starts_frame) in [
            ([1], false, false),
            ([2], true, true),
            ([3], true, false),
            ([4], false, false),
            ([5], true, true),
            ([6], true, false),
        ] {
            parts.add(&unit, is_slice, starts_frame);
        }
        let found: Vec<_> = parts.iter().map(|part| &part.bytes[..]).collect();
        assert_eq!(found, [&[1, 2, 3, 4][..], &[5, 6]]);
    }

    #[test]
    fn a_stream_has_the_latest_shapes() {
        let mut shapes = Shapes::default();
        let shape = |coded: usize, left: usize| Shape {
            coded: (coded, 16),
            corner: (left, 0),
            size: (coded - left, 16),
        };
        for coded in 100..140 {
            shapes.note(shape(coded, 1));
        }
        shapes.note(shape(120, 2));
        assert_eq!(shapes.find((100, 16)), None, "32 are kept");
        assert_eq!(shapes.find((139, 16)), Some(shape(139, 1)));
        assert_eq!(shapes.find((120, 16)), Some(shape(120, 2)));
    }

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
