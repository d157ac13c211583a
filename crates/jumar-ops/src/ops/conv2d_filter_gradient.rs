//! The gradient of a two-dimensional convolution by its filter: ours; the Graph Engine's operators are lowered to it.

use crate::kernels::filter_gradient::FilterGradient;
use crate::kernels::window::{Format, Window};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, AttrKind, InputDef, OpError, Operator, TensorType, Types, UNKNOWN};
use jumar_types::dtype::DataType;

const FLOAT32: Types = Types::of(&[DataType::Float32]);

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.Conv2DFilterGradient",
    onnx: &[],
    inputs: &[
        InputDef::required("x", FLOAT32),
        InputDef::required("gradient", FLOAT32),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("kernel", AttrKind::Ints),
        AttrDef::required("strides", AttrKind::Ints),
        AttrDef::required("pads", AttrKind::Ints),
        AttrDef::ints("dilations", &[1, 1, 1, 1]),
        AttrDef::int("groups", 1),
        AttrDef::str("data_format", "NCHW"),
        AttrDef::str("auto_pad", "NOTSET"),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (x, gradient) = (cx.input(0)?, cx.input(1)?);
        let dtype = cx.same_types([0, 1])?;
        let (Some(rank), Some(other)) = (x.rank(), gradient.rank()) else {
            return Ok(vec![TensorType::of_unknown_rank(dtype)]);
        };
        if rank != 4 || other != 4 {
            return Err(OpError::invalid(format!(
                "the image {x} and the gradient {gradient} have to have 4 dimensions"
            )));
        }
        let kernel = kernel(cx.attrs())?;
        let format = Format::of(cx.attrs())?;
        format.only_nchw()?;
        let groups = cx.attrs().int("groups")?;
        let divides = |channels: i64| channels < 0 || (groups >= 1 && channels % groups == 0);
        if groups < 1 || !divides(x.shape[1]) || !divides(gradient.shape[1]) {
            return Err(OpError::invalid(format!(
                "the channels of the image {x} and the gradient {gradient} cannot be split into {groups} groups"
            )));
        }
        let window = Window::of(cx.attrs(), format, kernel, false)?;
        let wanted = window.infer(format, x, Some(gradient.shape[1]))?;
        let agree = |(&one, &two): (&i64, &i64)| one < 0 || two < 0 || one == two;
        if !wanted.iter().zip(&gradient.shape).all(agree) {
            return Err(OpError::invalid(format!(
                "the convolution of the image {x} has the shape {wanted:?}, and its gradient is {gradient}"
            )));
        }
        let depth = match x.shape[1] {
            channels if channels < 0 => UNKNOWN,
            channels => channels / groups,
        };
        let shape = vec![gradient.shape[1], depth, kernel[0], kernel[1]];
        Ok(vec![TensorType::new(dtype, shape)])
    },
    prepare: |cx| {
        let &[images, channels, height, width] = cx.shape(0)? else {
            return Err(OpError::internal("an image of other than 4 dimensions"));
        };
        let groups = cx.attrs().int("groups")?.max(1) as usize;
        let window = Window::of(cx.attrs(), Format::Nchw, kernel(cx.attrs())?, false)?;
        Ok(Box::new(FilterGradient {
            images,
            groups,
            depth: channels / groups,
            outputs: cx.shape(1)?[1] / groups,
            window: window.fix([height, width])?,
        }))
    },
}];

fn kernel(attrs: crate::attr::AttrReader<'_>) -> Result<[i64; 2], OpError> {
    match attrs.ints("kernel")? {
        &[height, width] if height > 0 && width > 0 => Ok([height, width]),
        other => Err(OpError::invalid(format!(
            "kernel is {other:?}; it must have 2 positive entries"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::table::*;

    struct Case {
        /// Batch, channels, height, width.
        x: [usize; 4],
        outputs: usize,
        kernel: [usize; 2],
        strides: [usize; 2],
        /// Top, bottom, left, right.
        pads: [usize; 4],
        dilations: [usize; 2],
        groups: usize,
    }

    const CASES: &[Case] = &[
        // Channels that fill blocks, and several steps of pixels.
        Case {
            x: [2, 32, 17, 19],
            outputs: 20,
            kernel: [3, 3],
            strides: [1, 1],
            pads: [1, 1, 1, 1],
            dilations: [1, 1],
            groups: 1,
        },
        Case {
            x: [3, 27, 9, 8],
            outputs: 5,
            kernel: [3, 2],
            strides: [2, 3],
            pads: [0, 2, 1, 0],
            dilations: [1, 2],
            groups: 1,
        },
        // An odd number of halves of panels.
        Case {
            x: [1, 16, 6, 5],
            outputs: 3,
            kernel: [1, 1],
            strides: [2, 2],
            pads: [0, 0, 0, 0],
            dilations: [1, 1],
            groups: 1,
        },
        // Few channels: a column for each channel and tap.
        Case {
            x: [2, 3, 23, 22],
            outputs: 16,
            kernel: [7, 7],
            strides: [2, 2],
            pads: [3, 3, 3, 3],
            dilations: [1, 1],
            groups: 1,
        },
        Case {
            x: [2, 6, 7, 9],
            outputs: 12,
            kernel: [3, 3],
            strides: [1, 2],
            pads: [2, 0, 0, 2],
            dilations: [2, 1],
            groups: 6,
        },
        Case {
            x: [2, 48, 7, 7],
            outputs: 6,
            kernel: [3, 3],
            strides: [1, 1],
            pads: [1, 1, 1, 1],
            dilations: [1, 1],
            groups: 3,
        },
        // Taps that see nothing but padding.
        Case {
            x: [1, 16, 2, 2],
            outputs: 2,
            kernel: [3, 3],
            strides: [1, 1],
            pads: [3, 3, 3, 3],
            dilations: [1, 1],
            groups: 1,
        },
        // No images: zeros.
        Case {
            x: [0, 16, 4, 4],
            outputs: 2,
            kernel: [3, 3],
            strides: [1, 1],
            pads: [1, 1, 1, 1],
            dilations: [1, 1],
            groups: 1,
        },
    ];

    impl Case {
        fn output(&self, axis: usize) -> usize {
            let padded = self.x[2 + axis] + self.pads[2 * axis] + self.pads[2 * axis + 1];
            (padded - self.dilations[axis] * (self.kernel[axis] - 1) - 1) / self.strides[axis] + 1
        }

        fn attrs(&self) -> crate::Attrs {
            let four = |pair: [usize; 2]| vec![1, 1, pair[0] as i64, pair[1] as i64];
            none()
                .with("kernel", self.kernel.map(|size| size as i64).to_vec())
                .with("strides", four(self.strides))
                .with("dilations", four(self.dilations))
                .with("pads", self.pads.map(|pad| pad as i64).to_vec())
                .with("groups", self.groups as i64)
        }

        /// The sum of products in float64 for each weight.
        fn by_definition(&self, x: &Tensor, gradient: &Tensor) -> Tensor {
            let (xs, gs) = (x.floats().unwrap(), gradient.floats().unwrap());
            let [batch, channels, height, width] = self.x;
            let (depth, own) = (channels / self.groups, self.outputs / self.groups);
            let size = [self.output(0), self.output(1)];
            let mut all = Vec::new();
            for output in 0..self.outputs {
                for c in 0..depth {
                    let channel = output / own * depth + c;
                    for tap in 0..self.kernel[0] * self.kernel[1] {
                        let (i, j) = (tap / self.kernel[1], tap % self.kernel[1]);
                        let mut sum = 0.0;
                        for n in 0..batch {
                            for pixel in 0..size[0] * size[1] {
                                let (y, z) = (pixel / size[1], pixel % size[1]);
                                let row = (y * self.strides[0] + i * self.dilations[0])
                                    .checked_sub(self.pads[0]);
                                let column = (z * self.strides[1] + j * self.dilations[1])
                                    .checked_sub(self.pads[2]);
                                let (Some(row), Some(column)) = (row, column) else {
                                    continue;
                                };
                                if row < height && column < width {
                                    let at = ((n * channels + channel) * height + row) * width;
                                    let from = (n * self.outputs + output) * size[0] * size[1];
                                    sum += xs[at + column] * gs[from + pixel];
                                }
                            }
                        }
                        all.push(sum as f32);
                    }
                }
            }
            f32s(&[self.outputs, depth, self.kernel[0], self.kernel[1]], &all)
        }
    }

    #[test]
    fn agrees_with_its_definition() {
        for (index, case) in CASES.iter().enumerate() {
            let x = noise(&case.x, 3 + index as u32);
            let shape = [case.x[0], case.outputs, case.output(0), case.output(1)];
            let gradient = noise(&shape, 70 + index as u32);
            let wanted = case.by_definition(&x, &gradient);
            check(
                "jumar.Conv2DFilterGradient",
                &[x, gradient],
                case.attrs(),
                &wanted,
            );
        }
    }

    #[test]
    fn shapes_that_contradict_each_other_are_refused() {
        let name = "jumar.Conv2DFilterGradient";
        let case = &CASES[0];
        let x = noise(&case.x, 1);
        refuse(
            name,
            &[x.clone(), noise(&[2, 20, 17, 18], 2)],
            case.attrs(),
            "has the shape",
        );
        refuse(
            name,
            &[x.clone(), noise(&[2, 20, 17], 2)],
            case.attrs(),
            "4 dimensions",
        );
        let attrs = case.attrs().with("groups", 3);
        refuse(
            name,
            &[x.clone(), noise(&[2, 20, 17, 19], 2)],
            attrs,
            "groups",
        );
        let attrs = case.attrs().with("kernel", vec![3]);
        refuse(name, &[x, noise(&[2, 20, 17, 19], 2)], attrs, "kernel");
    }
}
