//! The orientation of an image, as a camera notes it.

use crate::planar::{PlanarImage, Samples};

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
    let turned = planar.planes.iter().map(|plane| {
        let (width, height) = match transposes {
            true => (plane.height, plane.width),
            false => (plane.width, plane.height),
        };
        let mut data = Vec::with_capacity(width * height);
        for row in 0..height {
            let row = if mirrors_rows { height - 1 - row } else { row };
            for column in 0..width {
                let column = if mirrors_columns {
                    width - 1 - column
                } else {
                    column
                };
                data.push(match transposes {
                    true => plane.data[column * plane.width + row],
                    false => plane.data[row * plane.width + column],
                });
            }
        }
        Samples {
            width,
            height,
            data,
        }
    });
    let planes = turned.collect();
    let PlanarImage {
        color,
        width,
        height,
        halves,
        ..
    } = planar;
    let (width, height, halves) = match transposes {
        true => (height, width, (halves.1, halves.0)),
        false => (width, height, halves),
    };
    PlanarImage {
        color,
        width,
        height,
        halves,
        planes,
    }
}
