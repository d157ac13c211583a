//! Normalisation of each channel by the batch's own mean and variance, which also move the running ones.

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, InputDef, OpError, Operator, OutputDef, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    // The Graph Engine's BatchNorm returns statistics of other kinds while it trains.
    name: "jumar.BatchNormTraining",
    onnx: &[],
    inputs: &[
        InputDef::required("x", Types::FLOAT),
        InputDef::required("scale", Types::FLOAT),
        InputDef::required("offset", Types::FLOAT),
        InputDef::required("mean", Types::FLOAT),
        InputDef::required("variance", Types::FLOAT),
    ],
    outputs: &[
        OUTPUT_Y[0],
        OutputDef {
            name: "running_mean",
        },
        OutputDef {
            name: "running_variance",
        },
    ],
    attrs: &[
        AttrDef::float("epsilon", 1e-5),
        AttrDef::float("momentum", 0.9),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let x = cx.input(0)?;
        cx.same_types([1, 2])?;
        cx.same_types([3, 4])?;
        if x.rank().is_some_and(|rank| rank < 2) {
            return Err(OpError::invalid(format!(
                "the input {x} has no axis of channels"
            )));
        }
        let channels = x.shape.get(1).copied().unwrap_or(-1);
        for index in 1..5 {
            let one = cx.input(index)?;
            if one.rank().is_some()
                && !matches!(one.shape[..], [size] if size < 0 || channels < 0 || size == channels)
            {
                return Err(OpError::invalid(format!(
                    "input {index} is {one}; it needs {channels} elements"
                )));
            }
        }
        Ok(vec![x.clone(), cx.input(3)?.clone(), cx.input(4)?.clone()])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let training = Training {
            shape: [shape[0], shape[1], shape[2..].iter().product()],
            epsilon: cx.attrs().float("epsilon")?.into(),
            momentum: cx.attrs().float("momentum")?.into(),
        };
        generic_kernel(cx, training, &[0, 1, 2, 3, 4], &[0, 1, 2])
    },
}];

struct Training {
    shape: [usize; 3],
    epsilon: f64,
    momentum: f64,
}

impl Algorithm for Training {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, scale, offset, y) = (io.input(0)?, io.input(1)?, io.input(2)?, io.output(0)?);
        let [batch, channels, inner] = self.shape;
        let count = W::of((batch * inner) as f64);
        let (old, new) = (W::of(self.momentum), W::of(1.0 - self.momentum));
        for channel in 0..channels {
            let row = |image: usize| x.slice((image * channels + channel) * inner, inner);
            let join = |a: W, b: W| a + b;
            let mut mean = W::zero();
            for image in 0..batch {
                mean += row(image).fold_wide(W::zero(), |sum, x| sum + x, join);
            }
            mean = mean / count;
            let mut variance = W::zero();
            for image in 0..batch {
                variance +=
                    row(image).fold_wide(W::zero(), |sum, x| sum + (x - mean) * (x - mean), join);
            }
            variance = variance / count;
            let factor = scale.get(channel) / (variance + W::of(self.epsilon)).sqrt();
            let shift = offset.get(channel);
            for image in 0..batch {
                let to = y.slice((image * channels + channel) * inner, inner);
                to.map1(row(image), |x| (x - mean) * factor + shift);
            }
            for (index, now) in [(1, mean), (2, variance)] {
                if let Some(running) = io.wanted(index)? {
                    running.set(channel, io.input(index + 2)?.get(channel) * old + now * new);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_reference() {
        cases("batch_norm_training");
    }
}
