//! Convolutions of all shapes, and their definition.

use crate::simd::blocked::Sliding;

/// A convolution of images. Pairs are rows and columns; `before` and `after` count the zeros beside the image.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub images: usize,
    pub channels: usize,
    pub outputs: usize,
    pub groups: usize,
    pub image: [usize; 2],
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub before: [usize; 2],
    pub after: [usize; 2],
}

impl Case {
    pub fn window(&self) -> Sliding {
        let output = [0, 1].map(|axis| {
            let cover = (self.kernel[axis] - 1) * self.dilation[axis] + 1;
            (self.image[axis] + self.before[axis] + self.after[axis] - cover) / self.stride[axis]
                + 1
        });
        Sliding {
            image: self.image,
            output,
            kernel: self.kernel,
            stride: self.stride,
            dilation: self.dilation,
            before: self.before,
        }
    }

    /// Calls `see` with each output, each channel of its group, each tap and what is seen through it, if anything.
    pub fn each(&self, mut see: impl FnMut([usize; 4], [usize; 3], Option<usize>)) {
        let window = self.window();
        let depth = self.channels / self.groups;
        for image in 0..self.images {
            for output in 0..self.outputs {
                let group = output / (self.outputs / self.groups);
                for y in 0..window.output[0] {
                    for x in 0..window.output[1] {
                        for channel in 0..depth {
                            for tap_y in 0..self.kernel[0] {
                                for tap_x in 0..self.kernel[1] {
                                    let row = y * self.stride[0] + tap_y * self.dilation[0];
                                    let column = x * self.stride[1] + tap_x * self.dilation[1];
                                    let inside = row >= self.before[0]
                                        && row < self.before[0] + self.image[0]
                                        && column >= self.before[1]
                                        && column < self.before[1] + self.image[1];
                                    let plane = image * self.channels + group * depth + channel;
                                    let seen = inside.then(|| {
                                        (plane * self.image[0] + row - self.before[0])
                                            * self.image[1]
                                            + column
                                            - self.before[1]
                                    });
                                    see([image, output, y, x], [channel, tap_y, tap_x], seen);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    pub fn position(&self, [image, output, y, x]: [usize; 4]) -> usize {
        let [height, width] = self.window().output;
        ((image * self.outputs + output) * height + y) * width + x
    }

    pub fn pixels(&self) -> usize {
        self.window().outputs()
    }

    /// Returns the outputs without bias, in planes, summed in float64.
    pub fn sums(&self, x: &[f32], weights: &[f32]) -> Vec<f64> {
        let depth = self.channels / self.groups;
        let mut sums = vec![0f64; self.images * self.outputs * self.pixels()];
        self.each(|position, [channel, tap_y, tap_x], seen| {
            let weight =
                ((position[1] * depth + channel) * self.kernel[0] + tap_y) * self.kernel[1] + tap_x;
            if let Some(seen) = seen {
                sums[self.position(position)] += f64::from(x[seen]) * f64::from(weights[weight]);
            }
        });
        sums
    }
}

pub const PLAIN: Case = Case {
    images: 1,
    channels: 16,
    outputs: 16,
    groups: 1,
    image: [7, 9],
    kernel: [3, 3],
    stride: [1, 1],
    dilation: [1, 1],
    before: [1, 1],
    after: [1, 1],
};
