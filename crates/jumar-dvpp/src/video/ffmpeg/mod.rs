//! Decoding by FFmpeg's libavcodec.
//!
//! It decodes samples only. What a packet is, what is refused, and the order of frames are those of the built-in decoders.

mod library;

pub use library::Ffmpeg;

use super::Codec;
use super::engine::{Engine, Failure, Headers, Limits, Shape, Step, reduce};
use super::frame::Frame;
use super::h264::H264Headers;
use super::h265::H265Headers;
use crate::Result;
use crate::error::refuse;

/// Creates an engine that decodes with the library.
///
/// # Errors
/// As [`library::Decoder::new`].
pub(super) fn engine(library: &Ffmpeg, codec: Codec, limits: Limits) -> Result<Box<dyn Engine>> {
    // Coded sizes are multiples of up to 64 pixels.
    let side = limits.largest as i64 + 63;
    let decoder = library::Decoder::new(library, codec, side * side)?;
    Ok(match codec {
        Codec::H264 => Box::new(Samples {
            decoder,
            headers: H264Headers::new(limits),
            pending: None,
        }),
        Codec::H265 => Box::new(Samples {
            decoder,
            headers: H265Headers::new(limits),
            pending: None,
        }),
    })
}

/// An engine whose samples the library decodes.
struct Samples<H> {
    decoder: library::Decoder,
    headers: H,
    /// The frame whose second field a later packet may contain.
    pending: Option<Begun>,
}

/// A frame in the memory of the library.
struct Begun {
    decoded: library::LibraryFrame,
    shape: Shape,
    position: i32,
}

impl<H: Headers> Engine for Samples<H> {
    fn decode(&mut self, packet: &[u8]) -> Step {
        let (mut step, parts) = self.headers.read(packet);
        let mut own = None;
        for part in parts.iter() {
            match self.decoder.decode(&part.bytes) {
                // Further frames of a packet have no output, and are dropped.
                Ok(found) if own.is_none() => own = found,
                Ok(_) => {}
                Err(error) if part.has_slices => {
                    step.failure.get_or_insert(Failure::damaged(error));
                }
                // It reports that parameters alone are no frame.
                Err(_) => {}
            }
        }
        let has_fields = self.headers.completes_later();
        if own.is_some() || !has_fields {
            step.earlier = self.pending.take().and_then(|begun| begun.frame().ok());
        }
        let Some((decoded, position)) = own.filter(|_| step.failure.is_none()) else {
            return step;
        };
        let Some(shape) = self.headers.shape(decoded.size) else {
            let (width, height) = decoded.size;
            step.failure = Some(Failure::damaged(format!(
                "the frame has {width}x{height} pixels, which the parameters of no sequence state"
            )));
            return step;
        };
        let begun = Begun {
            decoded,
            shape,
            position,
        };
        if has_fields {
            self.pending = Some(begun);
            return step;
        }
        match begun.frame() {
            Ok(frame) => step.own = Some(frame),
            Err(error) => step.failure = Some(Failure::damaged(error)),
        }
        step
    }

    fn end(&mut self) -> Option<Frame> {
        self.pending.take()?.frame().ok()
    }

    fn reordered(&self) -> usize {
        self.headers.reordered()
    }

    fn completes_later(&self) -> bool {
        self.headers.completes_later()
    }
}

impl Begun {
    /// Copies the frame, with eight bits a sample.
    fn frame(&self) -> Result<Frame> {
        let Shape { corner, size, .. } = self.shape;
        let layering = self.decoded.layering;
        let halves = layering.chroma.unwrap_or((true, true));
        let halve = |length: usize, is_half: bool| length.div_ceil(1 + usize::from(is_half));
        let chroma = (halve(size.0, halves.0), halve(size.1, halves.1));
        let chroma_corner = (
            corner.0 >> usize::from(halves.0),
            corner.1 >> usize::from(halves.1),
        );
        let mut planes = [const { Vec::new() }; 3];
        for (index, plane) in planes.iter_mut().enumerate() {
            let (size, corner) = match index {
                0 => (size, corner),
                _ => (chroma, chroma_corner),
            };
            if index > 0 && layering.chroma.is_none() {
                *plane = vec![128; size.0 * size.1];
                continue;
            }
            plane.reserve_exact(size.0 * size.1);
            let bytes = 1 + usize::from(layering.depth > 8);
            for row in corner.1..corner.1 + size.1 {
                let Some(row) = self.decoded.row(index, row, (corner.0 + size.0) * bytes) else {
                    refuse!("the frame is smaller than its sequence states");
                };
                let row = &row[corner.0 * bytes..];
                if layering.depth == 8 {
                    plane.extend_from_slice(row);
                } else {
                    let samples = row.as_chunks::<2>().0.iter();
                    plane.extend(
                        samples.map(|bytes| reduce(u16::from_le_bytes(*bytes), layering.depth)),
                    );
                }
            }
        }
        Frame::new(size, halves, planes, self.position)
    }
}
