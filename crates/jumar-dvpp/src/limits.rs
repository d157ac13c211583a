//! What the families of cards accept: sizes, alignments, regions, scales.

use crate::Result;
use crate::error::refuse;
use crate::format::{Color, Format};
use crate::image::{Image, Rect};
use crate::vpc::Filter;

/// A family of cards with the same rules for images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Ascend 310 and 910A.
    First,
    /// Ascend 310P.
    Inference,
    /// Ascend 310B, 910B and 910C.
    Second,
}

impl Family {
    /// Finds the family of a chip by its name.
    pub fn of_chip(name: &str) -> Family {
        if name.starts_with("Ascend310P") {
            Family::Inference
        } else if name.starts_with("Ascend310B")
            || name.starts_with("Ascend910B")
            || name.starts_with("Ascend910_9")
        {
            Family::Second
        } else {
            Family::First
        }
    }

    /// Returns the alignment of a width stride for image processing.
    pub fn stride_alignment(self, format: Format) -> usize {
        match self {
            Family::First | Family::Inference => 16 * format.pixel_bytes(),
            Family::Second => 1,
        }
    }

    /// Returns the alignment of the width stride of a decoded JPEG image.
    pub fn jpeg_alignment(self) -> usize {
        match self {
            Family::First => 128,
            Family::Inference | Family::Second => 64,
        }
    }

    /// Returns whether the chips of the family set alpha to 0 when they resize.
    pub fn clears_alpha(self) -> bool {
        self == Family::Second
    }
}

/// The smallest image and region.
const SMALLEST: (usize, usize) = (10, 6);
/// The strides that exist.
const LARGEST_STRIDE: usize = 16384;

/// Refuses a length outside of a range.
fn check_range(what: &str, value: usize, least: usize, most: usize) -> Result<()> {
    if !(least..=most).contains(&value) {
        refuse!("the {what} is {value}; it must be {least} to {most}");
    }
    Ok(())
}

/// Checks the strides of an image for image processing.
fn check_strides(image: &Image, family: Family) -> Result<()> {
    let least = match family {
        Family::Second => 10,
        Family::First | Family::Inference => 32,
    };
    check_range(
        "width stride",
        image.width_stride,
        least,
        LARGEST_STRIDE * 4,
    )?;
    check_range("height stride", image.height_stride, 6, LARGEST_STRIDE)?;
    let alignment = family.stride_alignment(image.format);
    if !image.width_stride.is_multiple_of(alignment) {
        refuse!(
            "the width stride is {}; it must be a multiple of {alignment} for {}",
            image.width_stride,
            image.format.name()
        );
    }
    Ok(())
}

/// Rounds odd sizes down where chroma has half of them.
pub fn round_down(image: Image) -> Image {
    let (x, y) = image.format.halves();
    Image {
        width: if x { image.width & !1 } else { image.width },
        height: if y { image.height & !1 } else { image.height },
        ..image
    }
}

/// Checks an image that is read.
///
/// # Errors
/// The field, its value, and the values that exist.
pub fn check_input(image: &Image, family: Family) -> Result<()> {
    // Formats without RGB have larger limits on the newer chips; on all of them for 4:2:0.
    let is_large = match family {
        Family::First => matches!(image.format, Format::Nv12 | Format::Nv21),
        Family::Inference => image.format.number() <= 10,
        Family::Second => true,
    };
    let most = if is_large { 8192 } else { 4096 };
    check_range("width", image.width, SMALLEST.0, most)?;
    check_range("height", image.height, SMALLEST.1, most)?;
    check_strides(image, family)
}

/// Checks an image that is written.
///
/// # Errors
/// As [`check_input`].
pub fn check_output(image: &Image, family: Family) -> Result<()> {
    let highest = if family == Family::Second { 8192 } else { 4096 };
    check_range("width", image.width, SMALLEST.0, 4096)?;
    check_range("height", image.height, SMALLEST.1, highest)?;
    check_strides(image, family)
}

/// Checks a region of an image.
///
/// # Errors
/// As [`check_input`].
pub fn check_region(rect: Rect, family: Family, is_paste: bool) -> Result<()> {
    let (wide, high) = match (family, is_paste) {
        (Family::Second, true) => (4096, 8192),
        _ => (4096, 4096),
    };
    check_range("width of the region", rect.width, SMALLEST.0, wide)?;
    check_range("height of the region", rect.height, SMALLEST.1, high)?;
    if family == Family::First {
        for (name, edge, parity) in [
            ("left", rect.left, 0),
            ("right", rect.left + rect.width - 1, 1),
            ("top", rect.top, 0),
            ("bottom", rect.top + rect.height - 1, 1),
        ] {
            if edge % 2 != parity {
                refuse!(
                    "the {name} edge of the region is {edge}; it must be {} on this chip",
                    if parity == 0 { "even" } else { "odd" }
                );
            }
        }
    }
    if is_paste && family != Family::Second && !rect.left.is_multiple_of(16) {
        refuse!(
            "the left edge of the paste region is {}; it must be a multiple of 16 on this chip",
            rect.left
        );
    }
    Ok(())
}

/// Checks how much a region grows or shrinks.
///
/// # Errors
/// The axis, both lengths, and the scales that exist.
pub fn check_scale(from: (usize, usize), to: (usize, usize), family: Family) -> Result<()> {
    let most = if family == Family::First { 16 } else { 512 };
    for (name, from, to) in [("width", from.0, to.0), ("height", from.1, to.1)] {
        if to * 32 < from || to > from * most {
            refuse!("the {name} changes from {from} to {to}; the scale must be 1/32 to {most}");
        }
    }
    Ok(())
}

/// Checks the interpolation.
///
/// # Errors
/// It does not exist on the chip.
pub fn check_filter(number: u32, family: Family) -> Result<Filter> {
    if number == 5 && family == Family::First {
        refuse!("the interpolation is 5; this chip has 0 to 4");
    }
    match (Filter::from_number(number)?, family) {
        (Filter::CornerBilinear, Family::Inference | Family::Second) => Ok(Filter::Bilinear),
        (Filter::CornerNearest, Family::Inference | Family::Second) => Ok(Filter::Nearest),
        (filter, _) => Ok(filter),
    }
}

/// Checks an image that is encoded as JPEG; `most` are the largest width and height of the channel.
///
/// # Errors
/// As [`check_input`].
pub fn check_jpeg_input(image: &Image, most: (usize, usize)) -> Result<()> {
    check_range("width", image.width, 32, most.0)?;
    check_range("height", image.height, 32, most.1)?;
    let (x, y) = image.format.halves();
    if x && !image.width.is_multiple_of(2) || y && !image.height.is_multiple_of(2) {
        refuse!(
            "the size is {}x{}; {} needs an even width{}",
            image.width,
            image.height,
            image.format.name(),
            if y { " and height" } else { "" }
        );
    }
    if image.format.color() == Color::Yuv && !image.width_stride.is_multiple_of(16) {
        refuse!(
            "the width stride is {}; it must be a multiple of 16",
            image.width_stride
        );
    }
    Ok(())
}
