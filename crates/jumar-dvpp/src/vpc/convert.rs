//! Conversion between colour spaces and between resolutions of chroma.
//!
//! AIPP converts with the integer factors of its configuration and rounds otherwise (`ops/aipp.rs` in jumar-ops).

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

/// Converts a coefficient to fixed point.
fn fixed(value: f64) -> i32 {
    (value * f64::from(1 << BITS)).round() as i32
}

/// The coefficients of a matrix in fixed point.
struct Coefficients {
    luma_offset: i32,
    /// What a step of luma adds to each of red, green and blue.
    luma: i32,
    /// Red from V, green from U, green from V, blue from U.
    chroma: [i32; 4],
    /// Y, U and V from red, green and blue.
    inverse: [[i32; 3]; 3],
    /// What is added to Y, U and V before they are rounded down.
    inverse_offsets: [i32; 3],
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

    fn coefficients(self) -> Coefficients {
        let (red, blue) = match self {
            Matrix::Bt601Full | Matrix::Bt601Limited => (0.299, 0.114),
            Matrix::Bt709Full | Matrix::Bt709Limited => (0.2126, 0.0722),
            Matrix::Bt2020Full | Matrix::Bt2020Limited => (0.2627, 0.0593),
        };
        let is_limited = matches!(
            self,
            Matrix::Bt601Limited | Matrix::Bt709Limited | Matrix::Bt2020Limited
        );
        let (luma_span, chroma_span) = if is_limited {
            (219.0 / 255.0, 224.0 / 255.0)
        } else {
            (1.0, 1.0)
        };
        let green = 1.0 - red - blue;
        let half = 1 << (BITS - 1);
        let middle = (128 << BITS) + half;
        if self == Matrix::Bt601Full {
            // The interface's documentation rounds these coefficients to three digits, and rounds results down.
            return Coefficients {
                luma_offset: 0,
                luma: fixed(1.0),
                chroma: [fixed(1.402), fixed(-0.344), fixed(-0.714), fixed(1.772)],
                inverse: [
                    [fixed(0.299), fixed(0.587), fixed(0.114)],
                    [fixed(-0.168), fixed(-0.331), fixed(0.5)],
                    [fixed(0.5), fixed(-0.419), fixed(-0.081)],
                ],
                inverse_offsets: [0, middle - half, middle - half],
            };
        }
        let of_u = |span: f64| span / (2.0 * (1.0 - blue));
        let of_v = |span: f64| span / (2.0 * (1.0 - red));
        let row = |values: [f64; 3]| values.map(fixed);
        Coefficients {
            luma_offset: if is_limited { 16 } else { 0 },
            luma: fixed(1.0 / luma_span),
            chroma: [
                fixed(2.0 * (1.0 - red) / chroma_span),
                fixed(-2.0 * blue * (1.0 - blue) / green / chroma_span),
                fixed(-2.0 * red * (1.0 - red) / green / chroma_span),
                fixed(2.0 * (1.0 - blue) / chroma_span),
            ],
            inverse: [
                row([red, green, blue].map(|part| part * luma_span)),
                row([-red, -green, 1.0 - blue].map(|part| part * of_u(chroma_span))),
                row([1.0 - red, -green, -blue].map(|part| part * of_v(chroma_span))),
            ],
            inverse_offsets: [
                (if is_limited { 16 << BITS } else { 0 }) + half,
                middle,
                middle,
            ],
        }
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

fn clamp(value: i32) -> u8 {
    (value >> BITS).clamp(0, 255) as u8
}

fn to_rgb(planar: &PlanarImage, matrix: Matrix) -> PlanarImage {
    let by = matrix.coefficients();
    let mut planes: Vec<Samples> = (0..3)
        .map(|_| Samples::filled(planar.width, planar.height, 0))
        .collect();
    let (x_shift, y_shift) = (usize::from(planar.halves.0), usize::from(planar.halves.1));
    for row in 0..planar.height {
        let luma = planar.planes[0].row(row);
        let u = planar.planes[1].row(row >> y_shift);
        let v = planar.planes[2].row(row >> y_shift);
        let [red, green, blue] = &mut planes[..] else {
            unreachable!("three planes were created");
        };
        let (red, green, blue) = (red.row_mut(row), green.row_mut(row), blue.row_mut(row));
        for column in 0..planar.width {
            let base = (i32::from(luma[column]) - by.luma_offset) * by.luma + (1 << (BITS - 1));
            let u = i32::from(u[column >> x_shift]) - 128;
            let v = i32::from(v[column >> x_shift]) - 128;
            red[column] = clamp(base + by.chroma[0] * v);
            green[column] = clamp(base + by.chroma[1] * u + by.chroma[2] * v);
            blue[column] = clamp(base + by.chroma[3] * u);
        }
    }
    PlanarImage {
        color: Color::Rgb,
        halves: (false, false),
        planes,
        ..*planar
    }
}

/// Returns the image with a Y, a U and a V sample for each pixel.
fn to_yuv(planar: &PlanarImage, matrix: Matrix) -> PlanarImage {
    let by = matrix.coefficients();
    let planes = (0..3)
        .map(|component| {
            let [red, green, blue] = by.inverse[component];
            let offset = by.inverse_offsets[component];
            let data = planar.planes[0]
                .data
                .iter()
                .zip(&planar.planes[1].data)
                .zip(&planar.planes[2].data)
                .map(|((r, g), b)| {
                    let sum = i32::from(*r) * red + i32::from(*g) * green + i32::from(*b) * blue;
                    clamp(sum + offset)
                })
                .collect();
            Samples {
                width: planar.width,
                height: planar.height,
                data,
            }
        })
        .collect();
    PlanarImage {
        color: Color::Yuv,
        halves: (false, false),
        planes,
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
