//! Pooling over any number of dimensions, and the largest element's index.

use super::Space;
use crate::OpError;
use crate::kernels::generic::{Algorithm, Io, Working};

/// What is made of the elements in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The largest; output 1 receives its index, counted column by column where `column_major`.
    Max { column_major: bool },
    /// The mean, of the image's elements or with the padding's zeros.
    Mean { padded: bool },
    /// The root of the sum of powers.
    Power(f64),
}

pub(crate) struct Pooling {
    /// Images times channels.
    pub planes: usize,
    pub space: Space,
    pub kind: Kind,
}

impl Pooling {
    /// Returns the number of a window's elements that lie in the image or its padding.
    fn padded(&self, at: &[usize]) -> usize {
        let count = |(axis, &at): (&super::Axis, &usize)| {
            let end = axis.image + axis.before + axis.after;
            (0..axis.kernel)
                .filter(|tap| at * axis.stride + tap * axis.dilation < end)
                .count()
        };
        self.space.axes.iter().zip(at).map(count).product()
    }
}

impl Algorithm for Pooling {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (image, out) = (io.input(0)?, io.output(0)?);
        let indices = match self.kind {
            Kind::Max { .. } if io.wants(1) => Some(io.call.output::<i64>(1)?.flat()),
            _ => None,
        };
        let (plane, pixels, taps) = (self.space.plane(), self.space.pixels(), self.space.taps());
        for pixel in 0..pixels {
            let at = self.space.digits(pixel, |axis| axis.output);
            for index in 0..self.planes {
                let channel = image.slice(index * plane, plane);
                let mut value = if matches!(self.kind, Kind::Max { .. }) {
                    W::LOWEST
                } else {
                    W::zero()
                };
                let (mut count, mut source_index) = (0usize, 0usize);
                for tap in 0..taps {
                    let tap = self.space.digits(tap, |axis| axis.kernel);
                    let mut source = Some(0);
                    for (number, axis) in self.space.axes.iter().enumerate() {
                        source = source.and_then(|line| {
                            Some(line * axis.image + axis.source(at[number], tap[number])?)
                        });
                    }
                    let Some(source) = source else { continue };
                    let x = channel.get(source);
                    match self.kind {
                        Kind::Max { .. } => {
                            if count == 0
                                || x > value
                                || (x.partial_cmp(&x).is_none()
                                    && value.partial_cmp(&value).is_some())
                            {
                                (value, source_index) = (x, source);
                            }
                        }
                        Kind::Mean { .. } => value += x,
                        Kind::Power(power) => {
                            value += if power == 2.0 {
                                x * x
                            } else {
                                x.abs().powf(W::of(power))
                            };
                        }
                    }
                    count += 1;
                }
                let value = match self.kind {
                    Kind::Max { .. } => value,
                    Kind::Mean { padded } => {
                        let count = if padded { self.padded(&at) } else { count };
                        if count == 0 {
                            value
                        } else {
                            value / W::of(count as f64)
                        }
                    }
                    Kind::Power(2.0) => value.sqrt(),
                    Kind::Power(power) => value.powf(W::of(1.0 / power)),
                };
                out.set(index * pixels + pixel, value);
                if let (Some(indices), Kind::Max { column_major }) = (indices, self.kind) {
                    if column_major {
                        let digits = self.space.digits(source_index, |axis| axis.image);
                        source_index = self
                            .space
                            .axes
                            .iter()
                            .zip(digits)
                            .rev()
                            .fold(0, |sum, (axis, at)| sum * axis.image + at);
                    }
                    indices.set(
                        index * pixels + pixel,
                        (index * plane + source_index) as i64,
                    );
                }
            }
        }
        Ok(())
    }
}
