//! The geometry of windows that slide over images: convolution and pooling.

use crate::attr::AttrReader;
use crate::{OpError, TensorType, UNKNOWN};

/// The order of an image's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Nchw,
    Nhwc,
}

impl Format {
    /// Reads the attribute `data_format`.
    pub fn of(attrs: AttrReader<'_>) -> Result<Format, OpError> {
        match attrs.str("data_format")? {
            "NCHW" => Ok(Format::Nchw),
            "NHWC" => Ok(Format::Nhwc),
            other => Err(OpError::unsupported(format!(
                "the data_format {other} is not supported; NCHW and NHWC are"
            ))),
        }
    }

    /// Returns the axis of the channels.
    pub const fn channel(self) -> usize {
        match self {
            Format::Nchw => 1,
            Format::Nhwc => 3,
        }
    }

    /// Returns the axes of height and width.
    pub const fn spatial(self) -> [usize; 2] {
        match self {
            Format::Nchw => [2, 3],
            Format::Nhwc => [1, 2],
        }
    }

    /// Puts batch, channels, height and width in order.
    pub fn shape(self, batch: i64, channels: i64, [height, width]: [i64; 2]) -> Vec<i64> {
        match self {
            Format::Nchw => vec![batch, channels, height, width],
            Format::Nhwc => vec![batch, height, width, channels],
        }
    }

    /// Refuses what kernels do not compute yet.
    pub fn only_nchw(self) -> Result<(), OpError> {
        match self {
            Format::Nchw => Ok(()),
            Format::Nhwc => Err(OpError::unsupported(
                "the data_format NHWC is not supported yet; NCHW is",
            )),
        }
    }
}

/// A window that slides over height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    /// Top, left: rows and columns of padding before the image.
    pub before: [usize; 2],
    /// Bottom, right.
    pub after: [usize; 2],
    pub ceil: bool,
    pub auto: AutoPad,
}

/// How padding is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoPad {
    /// As given.
    NotSet,
    /// The output is the input divided by the stride, rounded up; what is odd goes after.
    SameUpper,
    /// The same; what is odd goes before.
    SameLower,
    /// None.
    Valid,
}

/// Numbers beyond this are refused: no image is this large, and sums of a few stay far from overflow.
const LARGEST: i64 = 1 << 31;

fn positive(name: &str, value: i64) -> Result<usize, OpError> {
    if (1..LARGEST).contains(&value) {
        Ok(value as usize)
    } else {
        Err(OpError::invalid(format!(
            "{name} holds {value}; it has to be 1 or more"
        )))
    }
}

fn padding(value: i64) -> Result<usize, OpError> {
    if (0..LARGEST).contains(&value) {
        Ok(value as usize)
    } else {
        Err(OpError::invalid(format!(
            "pads holds {value}; it has to be 0 or more"
        )))
    }
}

impl Window {
    /// Reads strides, dilations, pads and automatic padding from a node's attributes.
    pub fn of(
        attrs: AttrReader<'_>,
        format: Format,
        kernel: [i64; 2],
        ceil: bool,
    ) -> Result<Window, OpError> {
        let [h, w] = format.spatial();
        let four = |name: &str| -> Result<[usize; 2], OpError> {
            let list = attrs.ints(name)?;
            if list.len() != 4 {
                return Err(OpError::invalid(format!(
                    "{name} has {} entries; it has to have 4",
                    list.len()
                )));
            }
            if list
                .iter()
                .enumerate()
                .any(|(axis, &value)| axis != h && axis != w && value != 1)
            {
                return Err(OpError::unsupported(format!(
                    "{name} {list:?} moves over batch or channels"
                )));
            }
            Ok([positive(name, list[h])?, positive(name, list[w])?])
        };
        let pads = attrs.ints("pads")?;
        let &[top, bottom, left, right] = pads else {
            return Err(OpError::invalid(format!(
                "pads has {} entries; it has to have 4",
                pads.len()
            )));
        };
        Ok(Window {
            kernel: [
                positive("the kernel", kernel[0])?,
                positive("the kernel", kernel[1])?,
            ],
            stride: four("strides")?,
            dilation: four("dilations")?,
            before: [padding(top)?, padding(left)?],
            after: [padding(bottom)?, padding(right)?],
            ceil,
            auto: match attrs.str("auto_pad")? {
                "NOTSET" | "" => AutoPad::NotSet,
                "SAME_UPPER" => AutoPad::SameUpper,
                "SAME_LOWER" => AutoPad::SameLower,
                "VALID" => AutoPad::Valid,
                other => return Err(OpError::invalid(format!("auto_pad {other} is not known"))),
            },
        })
    }

    /// Returns the length that the kernel covers along an axis.
    fn cover(&self, axis: usize) -> i64 {
        (self.kernel[axis] as i64 - 1) * self.dilation[axis] as i64 + 1
    }

    /// Returns height or width of the output, and the padding before and after along that axis.
    pub fn output(&self, axis: usize, input: i64) -> Result<(i64, usize, usize), OpError> {
        let (cover, stride) = (self.cover(axis), self.stride[axis] as i64);
        let (before, after) = (self.before[axis], self.after[axis]);
        if input < 0 {
            return Ok((UNKNOWN, before, after));
        }
        if input > 1 << 46 {
            return Err(OpError::too_large(format!(
                "an image of {input} pixels along one axis"
            )));
        }
        match self.auto {
            AutoPad::SameUpper | AutoPad::SameLower => {
                let output = (input + stride - 1) / stride;
                let total = ((output - 1) * stride + cover - input).max(0) as usize;
                let small = total / 2;
                let (before, after) = if self.auto == AutoPad::SameUpper {
                    (small, total - small)
                } else {
                    (total - small, small)
                };
                Ok((output, before, after))
            }
            AutoPad::Valid => self
                .count(input, 0, 0, cover, stride)
                .map(|output| (output, 0, 0)),
            AutoPad::NotSet => self
                .count(input, before, after, cover, stride)
                .map(|output| (output, before, after)),
        }
    }

    fn count(
        &self,
        input: i64,
        before: usize,
        after: usize,
        cover: i64,
        stride: i64,
    ) -> Result<i64, OpError> {
        let capacity = input + before as i64 + after as i64 - cover;
        if capacity < 0 {
            return Err(OpError::invalid(format!(
                "a window of {cover} does not fit an image of {input} with padding {before} and {after}"
            )));
        }
        if !self.ceil {
            return Ok(capacity / stride + 1);
        }
        let output = (capacity + stride - 1) / stride + 1;
        // The last window has to start inside the image or the padding before it.
        Ok(if (output - 1) * stride >= input + before as i64 {
            output - 1
        } else {
            output
        })
    }

    /// Returns the output's type for an image of a known or unknown size.
    pub fn infer(
        &self,
        format: Format,
        image: &TensorType,
        channels: Option<i64>,
    ) -> Result<Vec<i64>, OpError> {
        let [h, w] = format.spatial();
        let shape = &image.shape;
        let channels = channels.unwrap_or(shape[format.channel()]);
        let (height, ..) = self.output(0, shape[h])?;
        let (width, ..) = self.output(1, shape[w])?;
        Ok(format.shape(shape[0], channels, [height, width]))
    }

    /// Fixes the window for an image, with automatic padding resolved.
    pub fn fix(&self, image: [usize; 2]) -> Result<FixedWindow, OpError> {
        let mut fixed = FixedWindow {
            window: *self,
            image,
            output: [0; 2],
        };
        for (axis, &pixels) in image.iter().enumerate() {
            let size =
                i64::try_from(pixels).map_err(|_| OpError::too_large("an image beyond 2^63"))?;
            let (output, before, after) = self.output(axis, size)?;
            fixed.output[axis] =
                usize::try_from(output).map_err(|_| OpError::internal("an unknown output"))?;
            fixed.window.before[axis] = before;
            fixed.window.after[axis] = after;
        }
        Ok(fixed)
    }
}

/// A window over an image of a known size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedWindow {
    pub window: Window,
    pub image: [usize; 2],
    pub output: [usize; 2],
}

/// The part of an output row whose elements see the image through one column (or row) of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The first output position.
    pub start: usize,
    /// The number of positions.
    pub len: usize,
    /// The image position that the first one sees.
    pub source: usize,
}

impl FixedWindow {
    /// Finds which of the output positions `from..to` along an axis see the image through kernel position `tap`.
    pub fn reach(&self, axis: usize, tap: usize, from: usize, to: usize) -> Reach {
        let (stride, before) = (self.window.stride[axis], self.window.before[axis]);
        let shift = tap * self.window.dilation[axis];
        // Position o sees image position o * stride + shift - before, which has to lie in 0..image.
        let start = before.saturating_sub(shift).div_ceil(stride).max(from);
        let end = (self.image[axis] + before)
            .saturating_sub(shift)
            .div_ceil(stride)
            .min(to);
        let len = end.saturating_sub(start);
        Reach {
            start,
            len,
            source: if len > 0 {
                start * stride + shift - before
            } else {
                0
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_agrees_with_counting_positions() {
        for (kernel, stride, dilation, before, image) in [
            (3, 1, 1, 1, 5),
            (3, 2, 1, 0, 7),
            (2, 3, 2, 1, 6),
            (5, 2, 3, 4, 4),
            (1, 1, 1, 0, 1),
        ] {
            let window = Window {
                kernel: [kernel; 2],
                stride: [stride; 2],
                dilation: [dilation; 2],
                before: [before; 2],
                after: [before + 8; 2],
                ceil: false,
                auto: AutoPad::NotSet,
            };
            let fixed = window.fix([image; 2]).unwrap();
            for tap in 0..kernel {
                let seen: Vec<_> = (1..fixed.output[0])
                    .filter(|&o| {
                        let at = (o * stride + tap * dilation) as i64 - before as i64;
                        (0..image as i64).contains(&at)
                    })
                    .collect();
                let reach = fixed.reach(0, tap, 1, fixed.output[0]);
                assert_eq!(reach.len, seen.len(), "{fixed:?} {tap}");
                if let Some(&first) = seen.first() {
                    assert_eq!(reach.start, first);
                    assert_eq!(reach.source, first * stride + tap * dilation - before);
                }
            }
        }
    }
}
