//! The header of a JPEG image: what the frame is, before anything is decoded.

use super::exif;
use crate::Result;
use crate::error::refuse;

/// How chroma is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// A chroma sample for each pixel.
    Yuv444,
    /// A chroma sample for two pixels side by side.
    Yuv422,
    /// A chroma sample for two by two pixels.
    Yuv420,
    /// Luma alone.
    Gray,
    /// A chroma sample for two pixels in a column.
    Yuv440,
    /// A chroma sample for four pixels side by side.
    Yuv411,
    /// Any other ratio.
    Unknown,
}

impl Sampling {
    /// Returns whether chroma has half of the width, and of the height.
    pub(super) fn halves(self) -> (bool, bool) {
        match self {
            Sampling::Yuv420 => (true, true),
            Sampling::Yuv422 => (true, false),
            Sampling::Yuv440 => (false, true),
            _ => (false, false),
        }
    }
}

/// How the samples are coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// Baseline or extended sequential, Huffman.
    Sequential,
    /// Progressive, Huffman.
    Progressive,
    /// Lossless, hierarchical or arithmetic.
    Other,
}

/// What the header of a JPEG image states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The columns as coded.
    pub width: usize,
    /// The rows as coded.
    pub height: usize,
    /// The number of components.
    pub components: usize,
    /// How chroma is sampled.
    pub sampling: Sampling,
    /// The sampling factors of the first three components, across and down; 0 where there is no such component.
    pub factors: [(u8, u8); 3],
    /// How the samples are coded.
    pub process: Process,
    /// The bits of a sample.
    pub precision: u8,
    /// The components are red, green and blue.
    pub is_rgb: bool,
    /// The EXIF orientation, 1 to 8; 1 where there is none.
    pub orientation: u8,
}

/// Reads the header. What follows it may be missing.
///
/// # Errors
/// The bytes are not a JPEG image, or end before the frame header.
pub fn read_header(data: &[u8]) -> Result<Header> {
    if !data.starts_with(&[0xFF, 0xD8]) {
        refuse!(
            "the data does not begin with the marker of a JPEG image (FF D8){}",
            if data.starts_with(b"\x89PNG") {
                ": it is a PNG image"
            } else {
                ""
            }
        );
    }
    let mut at = 2;
    let mut orientation = 1;
    let mut adobe_transform = None;
    let mut has_jfif = false;
    loop {
        let Some((marker, after)) = next_marker(data, at) else {
            refuse!(
                "the JPEG data of {} bytes ends before the frame header",
                data.len()
            );
        };
        at = after;
        match marker {
            // Markers without a segment.
            0x01 | 0xD0..=0xD8 => continue,
            0xD9 | 0xDA => refuse!("the JPEG data has no frame header"),
            _ => {}
        }
        let Some(segment) = segment(data, at) else {
            refuse!(
                "the JPEG data of {} bytes ends inside segment {marker:#04X} of its header",
                data.len()
            );
        };
        match marker {
            0xE0 => has_jfif |= segment.starts_with(b"JFIF\0"),
            0xE1 => orientation = exif::orientation(segment).unwrap_or(orientation),
            0xEE if segment.starts_with(b"Adobe") => adobe_transform = segment.get(11).copied(),
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) => {
                let mut header = frame(marker, segment)?;
                header.orientation = orientation;
                if header.components == 3 {
                    let names = [6, 9, 12].map(|at| segment[at]);
                    header.is_rgb = match adobe_transform {
                        _ if has_jfif => false,
                        Some(transform) => transform == 0,
                        None => names == *b"RGB",
                    };
                }
                return Ok(header);
            }
            _ => {}
        }
        at += 2 + segment.len();
    }
}

/// Finds the next marker, and the offset behind it.
fn next_marker(data: &[u8], mut at: usize) -> Option<(u8, usize)> {
    // Bytes before a marker are skipped, as decoders do; fill bytes of FF are a part of the marker.
    while *data.get(at)? != 0xFF {
        at += 1;
    }
    while *data.get(at)? == 0xFF {
        at += 1;
    }
    match data[at] {
        0 => next_marker_after_stuffing(data, at + 1),
        marker => Some((marker, at + 1)),
    }
}

/// As [`next_marker`] behind a stuffed byte; a function of its own, so that damaged data cannot recurse without bound.
fn next_marker_after_stuffing(data: &[u8], mut at: usize) -> Option<(u8, usize)> {
    loop {
        at += data.get(at..)?.iter().position(|byte| *byte == 0xFF)?;
        let skipped = data[at..].iter().position(|byte| *byte != 0xFF)?;
        at += skipped + 1;
        match data[at - 1] {
            0 => {}
            marker => return Some((marker, at)),
        }
    }
}

/// Returns the content of the segment whose length stands at `at`.
fn segment(data: &[u8], at: usize) -> Option<&[u8]> {
    let length = usize::from(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?]));
    data.get(at + 2..(at + length.max(2)))
}

/// Reads a frame header.
fn frame(marker: u8, segment: &[u8]) -> Result<Header> {
    let [precision, h1, h0, w1, w0, components, factors @ ..] = segment else {
        refuse!("the JPEG frame header is too short");
    };
    let count = usize::from(*components);
    if factors.len() < count * 3 || count == 0 {
        refuse!(
            "the JPEG frame header has {} bytes for {count} components",
            factors.len()
        );
    }
    let width = usize::from(u16::from_be_bytes([*w1, *w0]));
    let height = usize::from(u16::from_be_bytes([*h1, *h0]));
    if width == 0 || height == 0 {
        refuse!("the JPEG header states a size of {width}x{height}");
    }
    let factors: Vec<(u8, u8)> = factors
        .chunks_exact(3)
        .take(count)
        .map(|component| (component[1] >> 4, component[1] & 15))
        .collect();
    Ok(Header {
        width,
        height,
        components: count,
        sampling: sampling(&factors),
        factors: [0, 1, 2].map(|index| factors.get(index).copied().unwrap_or_default()),
        process: match marker {
            0xC0 | 0xC1 => Process::Sequential,
            0xC2 => Process::Progressive,
            _ => Process::Other,
        },
        precision: *precision,
        is_rgb: false,
        orientation: 1,
    })
}

fn sampling(factors: &[(u8, u8)]) -> Sampling {
    match factors {
        [_] => Sampling::Gray,
        [(h, v), u, w] if u == w && u.0 > 0 && u.1 > 0 && h % u.0 == 0 && v % u.1 == 0 => {
            match (h / u.0, v / u.1) {
                (1, 1) => Sampling::Yuv444,
                (2, 1) => Sampling::Yuv422,
                (2, 2) => Sampling::Yuv420,
                (1, 2) => Sampling::Yuv440,
                (4, 1) => Sampling::Yuv411,
                _ => Sampling::Unknown,
            }
        }
        _ => Sampling::Unknown,
    }
}
