//! Batch normalisation for inference: each channel by a given mean and variance.

use jumar_types::dtype::DataType;

use crate::kernels::number::{Analysis, Number, Real, for_real};
use crate::kernels::window::Format;
use crate::onnx::{LATEST, cast, wider};
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InputDef, Kernel, OnnxForm, OnnxNode, OpError,
    Operator, OutputDef, Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "BatchNorm",
    onnx: &[OnnxForm::new("BatchNormalization", 7, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::FLOAT),
        InputDef::required("scale", Types::FLOAT),
        InputDef::required("offset", Types::FLOAT),
        InputDef::required("mean", Types::FLOAT),
        InputDef::required("variance", Types::FLOAT),
    ],
    outputs: &[
        OutputDef { name: "y" },
        OutputDef { name: "batch_mean" },
        OutputDef {
            name: "batch_variance",
        },
        OutputDef {
            name: "reserve_space_1",
        },
        OutputDef {
            name: "reserve_space_2",
        },
        OutputDef {
            name: "reserve_space_3",
        },
    ],
    attrs: &[
        AttrDef::float("epsilon", 1e-4),
        AttrDef::str("data_format", "NHWC"),
        AttrDef::bool("is_training", true),
        AttrDef::float("exponential_avg_factor", 1.0),
    ],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.attrs().bool("is_training")? {
            return Err(OpError::unsupported(
                "is_training = true is not supported: only inference is",
            ));
        }
        let input = cx.input(0)?;
        cx.same_types(1..5)?;
        if let Some(rank) = input.rank() {
            if rank < 2 {
                return Err(OpError::invalid(format!(
                    "the input {input} has no axis of channels"
                )));
            }
            let axis = if Format::of(cx.attrs())? == Format::Nchw {
                1
            } else {
                rank - 1
            };
            let channels = input.shape[axis];
            for index in 1..5 {
                let one = cx.input(index)?;
                if !matches!(one.shape[..], [size] if size < 0 || channels < 0 || size == channels)
                {
                    return Err(OpError::invalid(format!(
                        "input {index} is {one}; it needs {channels} elements"
                    )));
                }
            }
        }
        Ok(vec![input.clone()])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let nchw = Format::of(cx.attrs())? == Format::Nchw;
        let (outer, channels, inner) = if nchw {
            (shape[0], shape[1], shape[2..].iter().product())
        } else {
            let last = shape.len() - 1;
            (shape[..last].iter().product(), shape[last], 1)
        };
        let epsilon = cx.attrs().float("epsilon")?;
        for_real!(cx.dtype(0)?, T => for_real!(cx.dtype(1)?, S => {
            let types = std::marker::PhantomData;
            Ok(Box::new(Normalise::<T, S> { outer, channels, inner, epsilon, types }) as Box<dyn Kernel>)
        }))
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    if node.int_or("training_mode", 0)? != 0 {
        let attrs = Attrs::new()
            .with("epsilon", node.float_or("epsilon", 1e-5)?)
            .with("momentum", node.float_or("momentum", 0.9)?);
        return builder.add_node(
            "jumar.BatchNormTraining",
            node.inputs(),
            attrs,
            node.outputs.max(1),
        );
    }
    // The four may be of two types.
    let inputs: Vec<ValueRef> = (0..5)
        .map(|index| node.input(index))
        .collect::<Result<_, _>>()?;
    let common = inputs[1..]
        .iter()
        .map(|&input| builder.ty(input).dtype)
        .reduce(wider);
    let mut given = vec![Some(inputs[0])];
    for &input in &inputs[1..] {
        given.push(Some(cast(
            builder,
            input,
            common.unwrap_or(DataType::Float32),
        )?));
    }
    node.only_output("of training (running mean and variance)")?;
    node.ignore("momentum");
    if node.int_or("spatial", 1)? != 1 {
        return Err(OpError::unsupported("spatial = 0 is not supported"));
    }
    let attrs = Attrs::new()
        .with("epsilon", node.float_or("epsilon", 1e-5)?)
        .with("data_format", "NCHW")
        .with("is_training", false);
    Ok(vec![builder.node("BatchNorm", &given, attrs)?])
}

struct Normalise<T, S> {
    outer: usize,
    channels: usize,
    inner: usize,
    epsilon: f32,
    types: std::marker::PhantomData<fn(T, S)>,
}

/// Converts between the wide types of two element types: both are float32 or float64.
fn widen<S: Real, W: Analysis>(x: S) -> W
where
    S::Wide: Into<f64>,
{
    W::constant(x.wide().into())
}

impl<T: Real, S: Real<Wide: Into<f64>> + Element> Kernel for Normalise<T, S> {
    fn scratch_bytes(&self) -> usize {
        2 * self.channels * size_of::<T::Wide>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let (scale, offset) = (call.input::<S>(1)?.flat(), call.input::<S>(2)?.flat());
        let (mean, variance) = (call.input::<S>(3)?.flat(), call.input::<S>(4)?.flat());
        let Normalise {
            channels, inner, ..
        } = *self;
        let scratch = call.scratch::<T::Wide>(0, 2 * channels)?;
        let (factor, shift) = (
            scratch.slice(0, channels),
            scratch.slice(channels, channels),
        );
        let epsilon = T::Wide::constant(self.epsilon.into());
        for channel in 0..channels {
            let deviation = Analysis::sqrt(widen::<S, T::Wide>(variance.get(channel)).add(epsilon));
            let f = widen::<S, T::Wide>(scale.get(channel)).div(deviation);
            factor.set(channel, f);
            shift.set(
                channel,
                widen::<S, T::Wide>(offset.get(channel))
                    .sub(widen::<S, T::Wide>(mean.get(channel)).mul(f)),
            );
        }
        for outer in 0..self.outer {
            if inner == 1 {
                let at = outer * channels;
                for channel in 0..channels {
                    let x = input.get(at + channel).wide();
                    out.set(
                        at + channel,
                        T::from_wide(x.mul(factor.get(channel)).add(shift.get(channel))),
                    );
                }
                continue;
            }
            for channel in 0..channels {
                let at = (outer * channels + channel) * inner;
                let (f, s) = (factor.get(channel), shift.get(channel));
                out.slice(at, inner).map1(input.slice(at, inner), |x| {
                    T::from_wide(x.wide().mul(f).add(s))
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let attrs = || {
            none()
                .with("epsilon", 0.0f32)
                .with("is_training", false)
                .with("data_format", "NCHW")
        };
        let per_channel = |values: [f32; 2]| f32s(&[2], &values);
        let rest = [
            per_channel([2.0, 1.0]),
            per_channel([0.5, 0.0]),
            per_channel([1.0, 2.0]),
            per_channel([4.0, 0.25]),
        ];
        let inputs = |x| [vec![x], rest.to_vec()].concat();
        let x = f32s(&[1, 2, 1, 2], &[1.0, 3.0, 2.0, 4.0]);
        check(
            "BatchNorm",
            &inputs(x),
            attrs(),
            &f32s(&[1, 2, 1, 2], &[0.5, 2.5, 0.0, 4.0]),
        );
        let x = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        check(
            "BatchNorm",
            &inputs(x.clone()),
            attrs(),
            &f32s(&[2, 2], &[0.5, 0.0, 2.5, 4.0]),
        );
        refuse("BatchNorm", &inputs(x), none(), "is_training");
    }
}
