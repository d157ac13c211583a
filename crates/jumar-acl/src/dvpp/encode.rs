//! Encoding of JPEG images.

use jumar_dvpp::jpeg;
use jumar_dvpp::{Image, Sink, Source, limits};
use jumar_types::Result;

use super::task::{self, Accesses, Done, Memory, operand};
use super::{argument, channel, find, refused};
use crate::generated::enums;
use crate::{Cx, Raw, Span};

/// Returns the shape to encode: a width stride of 0 is the width.
pub(super) fn complete(image: Image) -> Image {
    let row = image.format.row_bytes(image.width);
    Image {
        width_stride: match image.width_stride {
            0 => row,
            stride => stride,
        },
        height_stride: match image.height_stride {
            0 => image.height,
            stride => stride,
        },
        ..image
    }
}

pub fn acldvppJpegPredictEncSize(cx: &Cx<'_>, input: Raw, config: Raw) -> Result<u32> {
    let (_, fields) = task::desc(cx, input, "inputDesc")?;
    find(&cx.process.dvpp.jpegs, config, "config")?;
    let image = task::shape(&fields, "inputDesc")?;
    limits::check_jpeg_input(&complete(image), LARGEST).map_err(|error| refused(&error))?;
    let bound = jpeg::bound(&image).map_err(|error| refused(&error))?;
    u32::try_from(bound).map_err(|_| argument("the image is too large to encode"))
}

/// The largest width and height of any card.
pub(super) const LARGEST: (usize, usize) = (16384, 16384);

/// `size` is the variable that has the capacity of `data`, and gets the length of the result.
pub fn acldvppJpegEncodeAsync(
    cx: &Cx<'_>,
    channel: Raw,
    input: Raw,
    data: usize,
    size: Span,
    config: Raw,
    stream: Raw,
) -> Result<()> {
    let channel = channel::of_call(cx, channel)?;
    cx.with_stream(stream, |stream| {
        let settings = channel.admit(enums::DVPP_CHNMODE_JPEGE, stream)?;
        let level = *find(&cx.process.dvpp.jpegs, config, "config")?.level.lock();
        let largest = (settings.largest.0 as usize, settings.largest.1 as usize);
        let input = operand(cx, stream, input, "inputDesc", |image| {
            let image = complete(image);
            jpeg::bound(&image)?;
            limits::check_jpeg_input(&image, largest).map(|()| image)
        })?;
        if size.is_empty() {
            return Err(crate::error::null("size"));
        }
        let mut capacity = [0; 4];
        let size = Memory(size);
        size.read(0, &mut capacity);
        let capacity = u32::from_ne_bytes(capacity) as usize;
        let to = task::memory(stream, data, capacity, "data")?;
        let accesses = Accesses {
            reads: vec![input.memory.0],
            writes: vec![to.0],
        };
        let scratch = channel.scratch.clone();
        let work = move || -> Done {
            let done = task::with_scratch(&scratch, |scratch| {
                jpeg::encode_to(&input.image, level, &input.memory, &to, scratch)
            });
            let done = done.map(|bytes| size.write(0, &(bytes as u32).to_ne_bytes()));
            input.report(&done);
            done
        };
        task::launch(cx, &channel, stream, &accesses, Box::new(work))
    })
}
