//! Windows that slide over any number of dimensions: the forms of convolution and pooling that have no kernel of their
//! own, in any type.

pub(crate) mod conv;
pub(crate) mod deform;
pub(crate) mod pool;
pub(crate) mod transposed;

use super::window::{AutoPad, Window};
use crate::attr::AttrReader;
use crate::{AttrDef, OpError};

/// The most dimensions that a window can have: a tensor has two more.
pub(crate) const MOST: usize = crate::view::MAX_RANK - 2;

/// The attributes that [`Windows::of`] reads, in the order in which ONNX writes their entries. A list that is empty
/// stands for ones, and for zeros where it is the padding.
pub(crate) const fn window_defs() -> [AttrDef; 4] {
    [
        AttrDef::ints("strides", &[]),
        AttrDef::ints("pads", &[]),
        AttrDef::ints("dilations", &[]),
        AttrDef::str("auto_pad", "NOTSET"),
    ]
}

/// A window's numbers, an entry a dimension, before the image is known.
pub(crate) struct Windows(pub Vec<Window>);

/// Reads a list with an entry a dimension; an empty one stands for `default`.
pub(crate) fn entries(
    attrs: AttrReader<'_>,
    name: &str,
    rank: usize,
    default: i64,
) -> Result<Vec<i64>, OpError> {
    match attrs.ints(name)? {
        [] => Ok(vec![default; rank]),
        list if list.len() == rank => Ok(list.to_vec()),
        list => Err(OpError::invalid(format!(
            "{name} is {list:?}; it must have {rank} entries"
        ))),
    }
}

impl Windows {
    /// Reads strides, dilations, pads and automatic padding.
    pub fn of(attrs: AttrReader<'_>, kernel: &[i64], ceil: bool) -> Result<Windows, OpError> {
        let rank = kernel.len();
        if rank == 0 || rank > MOST {
            return Err(OpError::unsupported(format!(
                "windows over {rank} dimensions are not supported; 1 to {MOST} are"
            )));
        }
        let (strides, dilations) = (
            entries(attrs, "strides", rank, 1)?,
            entries(attrs, "dilations", rank, 1)?,
        );
        let pads = entries(attrs, "pads", 2 * rank, 0)?;
        let auto = match attrs.str("auto_pad")? {
            "NOTSET" | "" => AutoPad::NotSet,
            "SAME_UPPER" => AutoPad::SameUpper,
            "SAME_LOWER" => AutoPad::SameLower,
            "VALID" => AutoPad::Valid,
            other => return Err(OpError::invalid(format!("auto_pad {other} is not known"))),
        };
        let number = |name: &str, value: i64, least: i64| match (least..1 << 31).contains(&value) {
            true => Ok(value as usize),
            false => Err(OpError::invalid(format!(
                "{name} holds {value}; it must be {least} or more"
            ))),
        };
        (0..rank)
            .map(|axis| {
                Ok(Window {
                    kernel: [number("the kernel", kernel[axis], 1)?, 1],
                    stride: [number("strides", strides[axis], 1)?, 1],
                    dilation: [number("dilations", dilations[axis], 1)?, 1],
                    before: [number("pads", pads[axis], 0)?, 0],
                    after: [number("pads", pads[rank + axis], 0)?, 0],
                    ceil,
                    auto,
                })
            })
            .collect::<Result<_, _>>()
            .map(Windows)
    }

    /// Returns the output's size for an image of a known or unknown size.
    pub fn output(&self, image: &[i64]) -> Result<Vec<i64>, OpError> {
        if image.len() != self.0.len() {
            return Err(OpError::invalid(format!(
                "a window over {} dimensions and an image of {}",
                self.0.len(),
                image.len()
            )));
        }
        self.0
            .iter()
            .zip(image)
            .map(|(window, &size)| Ok(window.output(0, size)?.0))
            .collect()
    }

    /// Fixes the window for an image.
    pub fn fix(&self, image: &[usize]) -> Result<Space, OpError> {
        let mut space = Space { axes: Vec::new() };
        for (window, &size) in self.0.iter().zip(image) {
            let (output, before, after) = window.output(0, size as i64)?;
            space.axes.push(Axis {
                kernel: window.kernel[0],
                stride: window.stride[0],
                dilation: window.dilation[0],
                before,
                after,
                image: size,
                output: usize::try_from(output)
                    .map_err(|_| OpError::internal("an unknown output"))?,
            });
        }
        Ok(space)
    }
}

/// A window along one dimension of an image of known size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    pub before: usize,
    pub after: usize,
    pub image: usize,
    pub output: usize,
}

impl Axis {
    /// Returns the image position that an output position sees through a tap, if it lies in the image.
    pub fn source(&self, at: usize, tap: usize) -> Option<usize> {
        (at * self.stride + tap * self.dilation)
            .checked_sub(self.before)
            .filter(|&source| source < self.image)
    }

    /// Finds which of the output positions `from..to` see the image through a tap: the first, and one past the last.
    pub fn reach(&self, tap: usize, from: usize, to: usize) -> (usize, usize) {
        let shift = tap * self.dilation;
        let start = self
            .before
            .saturating_sub(shift)
            .div_ceil(self.stride)
            .max(from);
        let end = (self.image + self.before)
            .saturating_sub(shift)
            .div_ceil(self.stride)
            .min(to);
        (start, end.max(start))
    }
}

/// A window over an image of known size.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    pub axes: Vec<Axis>,
}

impl Space {
    /// Returns the number of the image's elements.
    pub fn plane(&self) -> usize {
        self.axes.iter().map(|axis| axis.image).product()
    }

    /// Returns the number of the output's elements.
    pub fn pixels(&self) -> usize {
        self.axes.iter().map(|axis| axis.output).product()
    }

    /// Returns the number of the window's elements.
    pub fn taps(&self) -> usize {
        self.axes.iter().map(|axis| axis.kernel).product()
    }

    /// Takes a number apart into a position, one digit a dimension.
    pub fn digits(&self, mut number: usize, size: impl Fn(&Axis) -> usize) -> [usize; MOST] {
        let mut digits = [0; MOST];
        for (at, axis) in self.axes.iter().enumerate().rev() {
            let size = size(axis).max(1);
            digits[at] = number % size;
            number /= size;
        }
        digits
    }
}
