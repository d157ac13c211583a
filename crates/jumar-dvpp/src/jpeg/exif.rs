//! The orientation of an image, as a camera notes it.

use crate::planar::PlanarImage;
use crate::vpc::Symmetry;

/// The tag of the orientation.
const ORIENTATION: u16 = 0x0112;

/// Reads the orientation from an APP1 segment. Returns `None` where there is none, or it cannot be read.
pub(super) fn orientation(segment: &[u8]) -> Option<u8> {
    let tiff = segment.strip_prefix(b"Exif\0\0")?;
    let is_little = match tiff.get(..4)? {
        b"II*\0" => true,
        b"MM\0*" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes: [u8; 2] = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(match is_little {
            true => u16::from_le_bytes(bytes),
            false => u16::from_be_bytes(bytes),
        })
    };
    let bytes: [u8; 4] = tiff.get(4..8)?.try_into().ok()?;
    let directory = match is_little {
        true => u32::from_le_bytes(bytes),
        false => u32::from_be_bytes(bytes),
    } as usize;
    let entries = usize::from(short(directory)?);
    (0..entries)
        .map(|index| directory + 2 + index * 12)
        .find(|at| short(*at) == Some(ORIENTATION))
        .and_then(|at| short(at + 8))
        .and_then(|value| u8::try_from(value).ok())
        .filter(|value| (1..=8).contains(value))
}

/// Returns the image as it is to be seen.
pub(super) fn turn(planar: PlanarImage, orientation: u8) -> PlanarImage {
    let (transposes, mirrors_columns, mirrors_rows) = match orientation {
        2 => (false, true, false),
        3 => (false, true, true),
        4 => (false, false, true),
        5 => (true, false, false),
        6 => (true, true, false),
        7 => (true, true, true),
        8 => (true, false, true),
        _ => return planar,
    };
    let as_seen = Symmetry {
        transposes,
        mirrors_columns,
        mirrors_rows,
    };
    crate::vpc::transformed(&planar, as_seen)
}
