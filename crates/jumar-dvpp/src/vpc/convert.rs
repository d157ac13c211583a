//! Conversion between colour spaces and between resolutions of chroma.
//!
//! The rows are converted by [`Colours`], as those of AIPP are: here with fractions of 16 bits, and rounded to the nearest value.

use jumar_pixels::{Colours, rows::repeat};

use crate::error::refuse;
use crate::format::{Color, Format, halved};
use crate::planar::{PlanarImage, Samples};
use crate::{ImageError, Result};

/// The matrix between YUV and RGB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// BT.601, samples from 0 to 255.
    #[default]
    Bt601Full,
    /// BT.601, luma from 16 to 235.
    Bt601Limited,
    /// BT.709, samples from 0 to 255.
    Bt709Full,
    /// BT.709, luma from 16 to 235.
    Bt709Limited,
    /// BT.2020, samples from 0 to 255.
    Bt2020Full,
    /// BT.2020, luma from 16 to 235.
    Bt2020Limited,
}

const BITS: u32 = 16;
/// What is added to a sum so that it is rounded to the nearest value.
const HALF: i64 = 1 << (BITS - 1);

/// Converts a coefficient to fixed point.
fn fixed(value: f64) -> i32 {
    (value * f64::from(1 << BITS)).round() as i32
}

impl Matrix {
    /// Finds the matrix for a value of `acldvppCscMatrix`.
    ///
    /// # Errors
    /// No such value exists.
    pub fn from_number(number: u32) -> Result<Matrix> {
        Ok(match number {
            0 => Matrix::Bt601Full,
            1 => Matrix::Bt601Limited,
            2 => Matrix::Bt709Full,
            3 => Matrix::Bt709Limited,
            4 => Matrix::Bt2020Full,
            5 => Matrix::Bt2020Limited,
            _ => refuse!("the colour matrix is {number}; 0 to 5 exist"),
        })
    }

    /// Returns the parts of red and blue in luma, and the spans of luma and chroma.
    fn definition(self) -> ([f64; 2], [f64; 2]) {
        let parts = match self {
            Matrix::Bt601Full | Matrix::Bt601Limited => [0.299, 0.114],
            Matrix::Bt709Full | Matrix::Bt709Limited => [0.2126, 0.0722],
            Matrix::Bt2020Full | Matrix::Bt2020Limited => [0.2627, 0.0593],
        };
        let spans = match self.is_limited() {
            true => [219.0 / 255.0, 224.0 / 255.0],
            false => [1.0, 1.0],
        };
        (parts, spans)
    }

    fn is_limited(self) -> bool {
        matches!(
            self,
            Matrix::Bt601Limited | Matrix::Bt709Limited | Matrix::Bt2020Limited
        )
    }

    fn to_rgb(self) -> Colours {
        let ([red, blue], [luma_span, chroma_span]) = self.definition();
        let green = 1.0 - red - blue;
        // Red from V, green from U, green from V, blue from U.
        let chroma = match self {
            // The interface's documentation rounds these coefficients to three digits.
            Matrix::Bt601Full => [1.402, -0.344, -0.714, 1.772],
            _ => [
                2.0 * (1.0 - red) / chroma_span,
                -2.0 * blue * (1.0 - blue) / green / chroma_span,
                -2.0 * red * (1.0 - red) / green / chroma_span,
                2.0 * (1.0 - blue) / chroma_span,
            ],
        };
        let [red_v, green_u, green_v, blue_u] = chroma.map(fixed);
        let luma = fixed(1.0 / luma_span);
        let factors = [
            [luma, 0, red_v],
            [luma, green_u, green_v],
            [luma, blue_u, 0],
        ];
        let offset = if self.is_limited() { 16 } else { 0 };
        Colours::new(factors, [offset, 128, 128], [HALF; 3], BITS)
    }

    fn to_yuv(self) -> Colours {
        let middle = 128 << BITS;
        if self == Matrix::Bt601Full {
            // The interface's documentation rounds these coefficients to three digits, and rounds results down.
            let factors = [
                [0.299, 0.587, 0.114],
                [-0.168, -0.331, 0.5],
                [0.5, -0.419, -0.081],
            ];
            return Colours::new(
                factors.map(|row| row.map(fixed)),
                [0; 3],
                [0, middle, middle],
                BITS,
            );
        }
        let ([red, blue], [luma_span, chroma_span]) = self.definition();
        let green = 1.0 - red - blue;
        let of_u = chroma_span / (2.0 * (1.0 - blue));
        let of_v = chroma_span / (2.0 * (1.0 - red));
        let factors = [
            [red, green, blue].map(|part| part * luma_span),
            [-red, -green, 1.0 - blue].map(|part| part * of_u),
            [1.0 - red, -green, -blue].map(|part| part * of_v),
        ];
        let offset = if self.is_limited() { 16 << BITS } else { 0 };
        Colours::new(
            factors.map(|row| row.map(fixed)),
            [0; 3],
            [offset + HALF, middle + HALF, middle + HALF],
            BITS,
        )
    }
}

/// Returns whether an image of one format can be converted to another.
///
/// # Errors
/// An image of luma alone has no colours.
pub fn check(from: Format, to: Format) -> Result<()> {
    let grays = [from, to].map(|format| format.color() == Color::Gray);
    if grays[0] != grays[1] {
        refuse!(
            "{} cannot be converted to {}: PIXEL_FORMAT_YUV_400 is converted to itself only",
            from.name(),
            to.name()
        );
    }
    Ok(())
}

/// Converts an image to the components and the chroma resolution of a format.
///
/// # Errors
/// As [`check`].
pub(crate) fn convert(planar: PlanarImage, to: Format, matrix: Matrix) -> Result<PlanarImage> {
    let (color, halves) = (to.color(), to.halves());
    if planar.color == color && (color != Color::Yuv || planar.halves == halves) {
        return Ok(planar);
    }
    match (planar.color, color) {
        (Color::Yuv, Color::Yuv) => Ok(with_chroma(planar, halves)),
        (Color::Yuv, Color::Rgb | Color::Rgba) => Ok(with_alpha(to_rgb(&planar, matrix), color)),
        (Color::Rgb | Color::Rgba, Color::Rgb | Color::Rgba) => Ok(with_alpha(planar, color)),
        (Color::Rgb | Color::Rgba, Color::Yuv) => Ok(with_chroma(to_yuv(&planar, matrix), halves)),
        (Color::Gray, _) | (_, Color::Gray) => Err(ImageError::new(
            "an image of luma alone cannot be converted",
        )),
    }
}

/// Adds an opaque alpha plane, or drops one.
fn with_alpha(mut planar: PlanarImage, color: Color) -> PlanarImage {
    planar.planes.truncate(color.components());
    if planar.planes.len() < color.components() {
        let alpha = Samples::filled(planar.width, planar.height, 255);
        planar.planes.push(alpha);
    }
    planar.color = color;
    planar
}

fn to_rgb(planar: &PlanarImage, matrix: Matrix) -> PlanarImage {
    let colours = matrix.to_rgb();
    let chroma_row = |component: usize, row: usize, repeated: &mut Vec<u8>| {
        let samples = planar.planes[component].row(row >> usize::from(planar.halves.1));
        match planar.halves.0 {
            true => repeat(samples, false, repeated),
            false => repeated.copy_from_slice(&samples[..planar.width]),
        }
    };
    let mut chroma = [vec![0; planar.width], vec![0; planar.width]];
    with_rows(planar, Color::Rgb, |row, to| {
        let [u, v] = &mut chroma;
        chroma_row(1, row, u);
        chroma_row(2, row, v);
        colours.convert([planar.planes[0].row(row), u, v], to);
    })
}

/// Returns the image with a Y, a U and a V sample for each pixel.
fn to_yuv(planar: &PlanarImage, matrix: Matrix) -> PlanarImage {
    let colours = matrix.to_yuv();
    with_rows(planar, Color::Yuv, |row, to| {
        let from = [0, 1, 2].map(|component| planar.planes[component].row(row));
        colours.convert(from, to);
    })
}

/// Returns the image with three planes of its size, whose rows are written one by one.
fn with_rows(
    planar: &PlanarImage,
    color: Color,
    mut write: impl FnMut(usize, [&mut [u8]; 3]),
) -> PlanarImage {
    let mut planes = [0; 3].map(|value| Samples::filled(planar.width, planar.height, value));
    for row in 0..planar.height {
        let [first, second, third] = &mut planes;
        write(
            row,
            [first.row_mut(row), second.row_mut(row), third.row_mut(row)],
        );
    }
    PlanarImage {
        color,
        halves: (false, false),
        planes: planes.into(),
        ..*planar
    }
}

/// Returns the image with chroma planes of another resolution: mean values where it shrinks, repeated samples where it grows.
pub(crate) fn with_chroma(mut planar: PlanarImage, halves: (bool, bool)) -> PlanarImage {
    if planar.halves == halves {
        return planar;
    }
    let (width, height) = (
        halved(planar.width, halves.0),
        halved(planar.height, halves.1),
    );
    let from = planar.halves;
    // How many source samples meet in a target sample along each axis.
    let spans = (
        1 + usize::from(halves.0 && !from.0),
        1 + usize::from(halves.1 && !from.1),
    );
    let grows = (from.0 && !halves.0, from.1 && !halves.1);
    for plane in &mut planar.planes[1..] {
        let mut data = Vec::with_capacity(width * height);
        for row in 0..height {
            let source_row = |step: usize| {
                let at = if grows.1 {
                    row / 2
                } else {
                    row * spans.1 + step
                };
                at.min(plane.height - 1)
            };
            let rows = [source_row(0), source_row(spans.1 - 1)].map(|row| plane.row(row));
            for column in 0..width {
                let source_column = |step: usize| {
                    let at = if grows.0 {
                        column / 2
                    } else {
                        column * spans.0 + step
                    };
                    at.min(plane.width - 1)
                };
                let columns = [source_column(0), source_column(spans.0 - 1)];
                // Along an axis that does not shrink, both are the same sample: the mean stays what it is.
                let sum: u32 = rows
                    .iter()
                    .flat_map(|row| columns.map(|column| u32::from(row[column])))
                    .sum();
                data.push(((sum + 2) >> 2) as u8);
            }
        }
        *plane = Samples {
            width,
            height,
            data,
        };
    }
    planar.halves = halves;
    planar
}
