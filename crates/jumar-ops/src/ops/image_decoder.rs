//! Decodes image files of the usual formats to pixels.

use std::io::Cursor;

use hayro_jpeg2000::{DecodeSettings, DecoderContext};
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use jumar_types::dtype::DataType;

use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType,
    Types, UNKNOWN,
};

const NAME: &str = "jumar.ImageDecoder";

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: NAME,
    onnx: &[OnnxForm::new(
        "ImageDecoder",
        20,
        LATEST,
        |builder, node| {
            let attrs = Attrs::new().with("pixel_format", node.str_or("pixel_format", "RGB")?);
            Ok(vec![builder.node(NAME, node.inputs(), attrs)?])
        },
    )],
    inputs: &[InputDef::required("x", Types::of(&[DataType::UInt8]))],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::str("pixel_format", "RGB")],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        if input.rank().is_some_and(|rank| rank != 1) {
            return Err(OpError::invalid(format!(
                "{input} is not a sequence of bytes"
            )));
        }
        let channels = Pixels::of(cx.attrs().str("pixel_format")?)?.channels() as i64;
        let [height, width] = match cx.constant(0) {
            Some(tensor) => size(tensor.bytes())?.map(|side| side as i64),
            None => [UNKNOWN; 2],
        };
        Ok(vec![TensorType::new(
            DataType::UInt8,
            [height, width, channels],
        )])
    },
    prepare: |cx| {
        let pixels = Pixels::of(cx.attrs().str("pixel_format")?)?;
        let &[height, width, _] = cx.output_shape(0)? else {
            return Err(OpError::internal("no image"));
        };
        Ok(Box::new(Decode {
            pixels,
            size: [height, width],
        }))
    },
}];

/// The most bytes that an image may have, and what decoding it may take at once beside it. A damaged header asks for any size.
const LARGEST: usize = 1 << 30;

/// What comes out for each pixel.
#[derive(Clone, Copy, PartialEq)]
enum Pixels {
    Rgb,
    Bgr,
    Gray,
}

impl Pixels {
    fn of(name: &str) -> Result<Pixels, OpError> {
        match name {
            "RGB" => Ok(Pixels::Rgb),
            "BGR" => Ok(Pixels::Bgr),
            "Grayscale" => Ok(Pixels::Gray),
            other => Err(OpError::invalid(format!(
                "pixel_format is {other:?}; it must be RGB, BGR or Grayscale"
            ))),
        }
    }

    fn channels(self) -> usize {
        match self {
            Pixels::Rgb | Pixels::Bgr => 3,
            Pixels::Gray => 1,
        }
    }
}

fn damaged(error: impl std::fmt::Display) -> OpError {
    OpError::data(format!("the image cannot be decoded: {error}"))
}

/// Recognises JPEG 2000, as a file or as a codestream, which the other library does not support.
fn is_jpeg_2000(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\x00\x00\x00\x0cjP  ") || bytes.starts_with(b"\xff\x4f\xff\x51")
}

fn jpeg_2000(bytes: &[u8]) -> Result<hayro_jpeg2000::Image<'_>, OpError> {
    let settings = DecodeSettings {
        strict: true,
        ..DecodeSettings::default()
    };
    hayro_jpeg2000::Image::new(bytes, &settings).map_err(damaged)
}

fn reader(bytes: &[u8]) -> Result<ImageReader<Cursor<&[u8]>>, OpError> {
    let format = image::guess_format(bytes).ok().filter(|format| {
        matches!(
            format,
            ImageFormat::Bmp
                | ImageFormat::Jpeg
                | ImageFormat::Png
                | ImageFormat::Pnm
                | ImageFormat::Tiff
                | ImageFormat::WebP
        )
    });
    let Some(format) = format else {
        return Err(OpError::data(format!(
            "the {} bytes are no image of BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP",
            bytes.len()
        )));
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(2 * LARGEST as u64);
    reader.limits(limits);
    Ok(reader)
}

/// Reads height and width, and nothing else.
fn size(bytes: &[u8]) -> Result<[usize; 2], OpError> {
    let (width, height) = if is_jpeg_2000(bytes) {
        let image = jpeg_2000(bytes)?;
        (image.width(), image.height())
    } else {
        reader(bytes)?.into_dimensions().map_err(damaged)?
    };
    // Sixteen bytes a pixel are the most that any of the formats is decoded to.
    let most = (height as usize)
        .saturating_mul(width as usize)
        .saturating_mul(16);
    if most > LARGEST {
        return Err(OpError::data(format!(
            "the image is {width} x {height} pixels; at most {} pixels are allowed",
            LARGEST / 16
        )));
    }
    Ok([height as usize, width as usize])
}

/// Returns an image's pixels, three bytes each, or one where it has no colours.
fn decode(bytes: &[u8]) -> Result<(Vec<u8>, usize), OpError> {
    if !is_jpeg_2000(bytes) {
        let image = reader(bytes)?.decode().map_err(damaged)?;
        return Ok(match image {
            DynamicImage::ImageLuma8(_)
            | DynamicImage::ImageLumaA8(_)
            | DynamicImage::ImageLuma16(_)
            | DynamicImage::ImageLumaA16(_) => (image.into_luma8().into_raw(), 1),
            other => (other.into_rgb8().into_raw(), 3),
        });
    }
    let image = jpeg_2000(bytes)?;
    let channels = usize::from(image.color_space().num_channels());
    let stride = channels + usize::from(image.has_alpha());
    let kept = match channels {
        1 => 1,
        3 => 3,
        other => {
            return Err(OpError::data(format!(
                "the image has {other} channels; one and three are supported"
            )));
        }
    };
    let mut context = DecoderContext::default();
    let decoded = image.decode(&mut context).map_err(damaged)?;
    let mut pixels = decoded.data_u8();
    if stride != kept {
        pixels = pixels
            .chunks_exact(stride)
            .flat_map(|pixel| pixel[..kept].iter().copied())
            .collect();
    }
    Ok((pixels, kept))
}

/// Brightness by ITU-R 601, in 65,536ths and rounded, as images are made grey everywhere.
fn gray(red: u8, green: u8, blue: u8) -> u8 {
    let sum = 19_595 * u32::from(red) + 38_470 * u32::from(green) + 7_471 * u32::from(blue);
    ((sum + 0x8000) >> 16) as u8
}

struct Decode {
    pixels: Pixels,
    size: [usize; 2],
}

impl Kernel for Decode {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<u8>(0)?.flat(), call.output::<u8>(0)?.flat());
        // The library wants the bytes in one immutable slice.
        let bytes: Vec<u8> = (0..input.len()).map(|at| input.get(at)).collect();
        let found = size(&bytes)?;
        if found != self.size {
            return Err(OpError::data("the image was changed while it was decoded"));
        }
        let (data, channels) = decode(&bytes)?;
        if data.len() != found[0] * found[1] * channels {
            return Err(damaged("its pixels do not fill it"));
        }
        for (index, pixel) in data.chunks_exact(channels).enumerate() {
            let (red, green, blue) = match *pixel {
                [red, green, blue] => (red, green, blue),
                [one, ..] => (one, one, one),
                [] => continue,
            };
            match self.pixels {
                Pixels::Gray => out.set(index, gray(red, green, blue)),
                Pixels::Rgb | Pixels::Bgr => {
                    let (first, last) = match self.pixels {
                        Pixels::Bgr => (blue, red),
                        _ => (red, blue),
                    };
                    out.set(3 * index, first);
                    out.set(3 * index + 1, green);
                    out.set(3 * index + 2, last);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;
    use crate::table::*;

    fn bytes(data: &[u8]) -> Tensor {
        Tensor::new(DataType::UInt8, &[data.len()], data.to_vec()).unwrap()
    }

    fn as_(pixels: &str) -> Attrs {
        none().with("pixel_format", pixels)
    }

    /// Two pixels, written by hand after the formats' descriptions.
    fn pnm() -> Vec<u8> {
        [b"P6 2 1 255\n".as_slice(), &[255, 0, 10, 1, 2, 3]].concat()
    }

    #[test]
    fn pixels_come_in_the_order_that_is_asked_for() {
        let image = |dims: &[usize], data: &[u8]| {
            Tensor::new(DataType::UInt8, dims, data.to_vec()).unwrap()
        };
        for (format, dims, wanted) in [
            ("RGB", [1, 2, 3], vec![255, 0, 10, 1, 2, 3]),
            ("BGR", [1, 2, 3], vec![10, 0, 255, 3, 2, 1]),
            // 0.299 x 255 + 0.114 x 10 = 77.4, and 0.299 + 1.174 + 0.342 = 1.8.
            ("Grayscale", [1, 2, 1], vec![77, 2]),
        ] {
            check(NAME, &[bytes(&pnm())], as_(format), &image(&dims, &wanted));
        }
        let grey = [b"P5 2 1 255\n".as_slice(), &[9, 200]].concat();
        check(
            NAME,
            &[bytes(&grey)],
            as_("RGB"),
            &image(&[1, 2, 3], &[9, 9, 9, 200, 200, 200]),
        );
    }

    #[test]
    fn what_is_no_image_is_refused() {
        refuse(NAME, &[bytes(b"")], none(), "no image");
        refuse(NAME, &[bytes(b"GIF89a and more")], none(), "no image");
        refuse(NAME, &[bytes(&pnm()[..14])], none(), "cannot be decoded");
        refuse(
            NAME,
            &[bytes(b"\xff\x4f\xff\x51\x00")],
            none(),
            "cannot be decoded",
        );
        refuse(NAME, &[bytes(&pnm())], as_("CMYK"), "must be RGB");
    }

    #[test]
    fn damaged_images_end_in_an_answer() {
        let image = DynamicImage::ImageRgb8(image::RgbImage::from_fn(6, 5, |x, y| {
            image::Rgb([(40 * x) as u8, (50 * y) as u8, (x * y) as u8])
        }));
        for format in [
            ImageFormat::Bmp,
            ImageFormat::Jpeg,
            ImageFormat::Png,
            ImageFormat::Pnm,
            ImageFormat::Tiff,
            ImageFormat::WebP,
        ] {
            let mut encoded = Cursor::new(Vec::new());
            image.write_to(&mut encoded, format).unwrap();
            let encoded = encoded.into_inner();
            assert_eq!(size(&encoded).unwrap(), [5, 6], "{format:?}");
            assert_eq!(decode(&encoded).unwrap().0.len(), 6 * 5 * 3, "{format:?}");
            // As the kernel does it: pixels are asked for only where the header is believed.
            let answer = |bytes: &[u8]| size(bytes).and_then(|_| decode(bytes)).is_ok();
            for length in 0..encoded.len() {
                answer(&encoded[..length]);
            }
            assert!(!answer(&encoded[..encoded.len() / 2]), "{format:?}");
            for at in 0..encoded.len() {
                for flip in [0x01, 0x80, 0xff] {
                    let mut damaged = encoded.clone();
                    damaged[at] ^= flip;
                    answer(&damaged);
                }
            }
        }
    }

    #[test]
    fn a_header_alone_takes_no_memory() {
        refuse(
            NAME,
            &[bytes(b"P6 1000000 1000000 255\n")],
            none(),
            "pixels are allowed",
        );
        refuse(
            NAME,
            &[bytes(b"P6 8192 8192 255\nabc")],
            none(),
            "cannot be decoded",
        );
    }
}
