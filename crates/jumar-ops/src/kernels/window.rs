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
    ///
    /// # Errors
    /// Unsupported for a name other than NCHW and NHWC.
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

    /// Returns the shape with batch, channels, height and width in the order of the format.
    pub fn shape(self, batch: i64, channels: i64, [height, width]: [i64; 2]) -> Vec<i64> {
        match self {
            Format::Nchw => vec![batch, channels, height, width],
            Format::Nhwc => vec![batch, height, width, channels],
        }
    }

    /// Refuses NHWC, which the kernels do not support yet.
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
    /// Padding before the image, in pixels: top and left.
    pub before: [usize; 2],
    /// Padding after the image, in pixels: bottom and right.
    pub after: [usize; 2],
    /// Whether the output size is rounded up instead of down.
    pub ceil: bool,
    pub auto: AutoPad,
}

/// How padding is chosen: the attribute `auto_pad` of ONNX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AutoPad {
    /// Explicit padding: `before` and `after`.
    NotSet,
    /// The output is the input divided by the stride, rounded up. If the padding is odd, the extra pixel is after the image.
    SameUpper,
    /// Like `SameUpper`, with the extra pixel before the image.
    SameLower,
    /// No padding.
    Valid,
}

/// The bound of kernel sizes, strides, dilations and padding. No image is this large, and sums of a few cannot overflow `i64`.
const LARGEST: i64 = 1 << 31;

fn positive(name: &str, value: i64) -> Result<usize, OpError> {
    if (1..LARGEST).contains(&value) {
        Ok(value as usize)
    } else {
        Err(OpError::invalid(format!(
            "{name} contains {value}; it must be 1 or more, and less than 2^31"
        )))
    }
}

fn padding(value: i64) -> Result<usize, OpError> {
    if (0..LARGEST).contains(&value) {
        Ok(value as usize)
    } else {
        Err(OpError::invalid(format!(
            "pads contains {value}; it must be 0 or more, and less than 2^31"
        )))
    }
}

impl Window {
    /// Reads strides, dilations, pads and automatic padding from a node's attributes.
    ///
    /// # Errors
    /// Invalid or unsupported attributes.
    pub fn of(
        attrs: AttrReader<'_>,
        format: Format,
        kernel: [i64; 2],
        ceil: bool,
    ) -> Result<Window, OpError> {
        let [h, w] = format.spatial();
        let spatial_pair = |name: &str| -> Result<[usize; 2], OpError> {
            let list = attrs.ints(name)?;
            if list.len() != 4 {
                return Err(OpError::invalid(format!(
                    "{name} has {} entries; it must have 4",
                    list.len()
                )));
            }
            if list
                .iter()
                .enumerate()
                .any(|(axis, &value)| axis != h && axis != w && value != 1)
            {
                return Err(OpError::unsupported(format!(
                    "{name} {list:?} moves the window over batch or channels; only height and width are supported"
                )));
            }
            Ok([positive(name, list[h])?, positive(name, list[w])?])
        };
        let pads = attrs.ints("pads")?;
        let &[top, bottom, left, right] = pads else {
            return Err(OpError::invalid(format!(
                "pads has {} entries; it must have 4",
                pads.len()
            )));
        };
        Ok(Window {
            kernel: [
                positive("the kernel", kernel[0])?,
                positive("the kernel", kernel[1])?,
            ],
            stride: spatial_pair("strides")?,
            dilation: spatial_pair("dilations")?,
            before: [padding(top)?, padding(left)?],
            after: [padding(bottom)?, padding(right)?],
            ceil,
            auto: match attrs.str("auto_pad")? {
                "NOTSET" | "" => AutoPad::NotSet,
                "SAME_UPPER" => AutoPad::SameUpper,
                "SAME_LOWER" => AutoPad::SameLower,
                "VALID" => AutoPad::Valid,
                other => {
                    return Err(OpError::invalid(format!(
                        "auto_pad is {other}; it must be NOTSET, SAME_UPPER, SAME_LOWER or VALID"
                    )));
                }
            },
        })
    }

    /// Returns the number of pixels that the dilated kernel covers along an axis.
    fn cover(&self, axis: usize) -> i64 {
        (self.kernel[axis] as i64 - 1) * self.dilation[axis] as i64 + 1
    }

    /// Returns the output size along a spatial axis (0: height, 1: width), and the padding before and after the image.
    /// A negative `input` is a dynamic size; then so is the output.
    ///
    /// # Errors
    /// The image is too large, or smaller than the window.
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
                let half = total / 2;
                let (before, after) = if self.auto == AutoPad::SameUpper {
                    (half, total - half)
                } else {
                    (total - half, half)
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
        let last_start = input + before as i64 + after as i64 - cover;
        if last_start < 0 {
            return Err(OpError::invalid(format!(
                "a window of {cover} pixels does not fit into an image of {input} pixels with padding {before} and {after}"
            )));
        }
        if !self.ceil {
            return Ok(last_start / stride + 1);
        }
        let output = (last_start + stride - 1) / stride + 1;
        // The last window has to start inside the image or the padding before it.
        Ok(if (output - 1) * stride >= input + before as i64 {
            output - 1
        } else {
            output
        })
    }

    /// Returns the output's shape for an image of a static or dynamic size. `channels` replaces the image's channels.
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

    /// Returns the window for an image of this height and width, with automatic padding resolved.
    ///
    /// # Errors
    /// As [`Window::output`].
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

/// A window over an image of a static size, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FixedWindow {
    pub window: Window,
    pub image: [usize; 2],
    pub output: [usize; 2],
}

/// The range of output positions along an axis for which one kernel position (tap) lies inside the image, not in the padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The first output position.
    pub start: usize,
    /// The number of positions.
    pub len: usize,
    /// The image position that the tap reads for the first of them.
    pub source: usize,
}

impl FixedWindow {
    /// Returns which of the output positions `from..to` along an axis read the image, not the padding, at kernel position `tap`.
    pub fn reach(&self, axis: usize, tap: usize, from: usize, to: usize) -> Reach {
        let (stride, before) = (self.window.stride[axis], self.window.before[axis]);
        let shift = tap * self.window.dilation[axis];
        // Output position o reads image position o * stride + shift - before, which must be in 0..image.
        let start = before.saturating_sub(shift).div_ceil(stride).max(from);
        let end = (self.image[axis] + before)
            .saturating_sub(shift)
            .div_ceil(stride)
            .min(to);
        match end.checked_sub(start) {
            // With more padding than image, `start` may lie behind the last output position.
            None | Some(0) => Reach {
                start: from,
                len: 0,
                source: 0,
            },
            Some(len) => Reach {
                start,
                len,
                source: start * stride + shift - before,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reach_agrees_with_counting_positions() {
        for (kernel, stride, dilation, before, after, image) in [
            (3, 1, 1, 1, 9, 5),
            (3, 2, 1, 0, 8, 7),
            (2, 3, 2, 1, 9, 6),
            (5, 2, 3, 4, 12, 4),
            (1, 1, 1, 0, 8, 1),
            // More padding than image.
            (9, 1, 1, 4, 4, 3),
            (5, 1, 1, 4, 0, 1),
        ] {
            let window = Window {
                kernel: [kernel; 2],
                stride: [stride; 2],
                dilation: [dilation; 2],
                before: [before; 2],
                after: [after; 2],
                ceil: false,
                auto: AutoPad::NotSet,
            };
            let fixed = window.fix([image; 2]).unwrap();
            for tap in 0..kernel {
                let from = 1.min(fixed.output[0] - 1);
                let seen: Vec<_> = (from..fixed.output[0])
                    .filter(|&o| {
                        let at = (o * stride + tap * dilation) as i64 - before as i64;
                        (0..image as i64).contains(&at)
                    })
                    .collect();
                let reach = fixed.reach(0, tap, from, fixed.output[0]);
                assert_eq!(reach.len, seen.len(), "{fixed:?} {tap}");
                let end = reach.start + reach.len;
                assert!(end <= fixed.output[0], "{fixed:?} {tap}: {reach:?}");
                assert!(reach.source < image, "{fixed:?} {tap}: {reach:?}");
                if let Some(&first) = seen.first() {
                    assert_eq!(reach.start, first);
                    assert_eq!(reach.source, first * stride + tap * dilation - before);
                }
            }
        }
    }
}
