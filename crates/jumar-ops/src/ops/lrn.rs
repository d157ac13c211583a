//! Local response normalisation over neighbouring channels.

use crate::kernels::elementwise::infer_same;
use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "LRN",
    onnx: &[OnnxForm::new("LRN", 1, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("depth_radius", 5),
        AttrDef::float("bias", 1.0),
        AttrDef::float("alpha", 1.0),
        AttrDef::float("beta", 0.5),
        AttrDef::str("norm_region", "ACROSS_CHANNELS"),
        // Ours: ONNX also has even numbers of channels. 0: twice the radius, and the channel itself.
        AttrDef::int("size", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.attrs().str("norm_region")? != "ACROSS_CHANNELS" {
            return Err(OpError::unsupported(
                "norm_region has to be ACROSS_CHANNELS",
            ));
        }
        if cx.attrs().int("size")? < 0 || cx.attrs().int("depth_radius")? < 0 {
            return Err(OpError::invalid(
                "the number of channels has to be 1 or more",
            ));
        }
        if cx.input(0)?.rank().is_some_and(|rank| rank < 2) {
            return Err(OpError::invalid(format!(
                "the input {} has no axis of channels",
                cx.input(0)?
            )));
        }
        infer_same(cx)
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let size = match cx.attrs().int("size")? {
            0 => cx
                .attrs()
                .int("depth_radius")?
                .saturating_mul(2)
                .saturating_add(1),
            size => size,
        } as usize;
        let algorithm = Neighbours {
            shape: [shape[0], shape[1], shape[2..].iter().product()],
            before: (size - 1) / 2,
            after: size / 2,
            alpha: cx.attrs().float("alpha")?.into(),
            beta: cx.attrs().float("beta")?.into(),
            bias: cx.attrs().float("bias")?.into(),
        };
        generic_kernel(cx, algorithm, &[0], &[0])
    },
}];

struct Neighbours {
    shape: [usize; 3],
    before: usize,
    after: usize,
    alpha: f64,
    beta: f64,
    bias: f64,
}

impl Algorithm for Neighbours {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, y) = (io.input(0)?, io.output(0)?);
        let [batch, channels, inner] = self.shape;
        let (alpha, beta, bias) = (W::of(self.alpha), W::of(self.beta), W::of(self.bias));
        for at in 0..batch * channels {
            let (image, channel) = (at / channels * channels, at % channels);
            let sums = y.slice(at * inner, inner);
            sums.fill(W::zero());
            let last = channel.saturating_add(self.after).min(channels - 1);
            for other in channel.saturating_sub(self.before)..=last {
                sums.update(x.slice((image + other) * inner, inner), |sum, x| {
                    sum + x * x
                });
            }
            sums.update(x.slice(at * inner, inner), |sum, x| {
                x / (bias + alpha * sum).powf(beta)
            });
        }
        Ok(())
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let size = node
        .int("size")?
        .ok_or_else(|| OpError::invalid("the attribute size is missing"))?;
    if size < 1 {
        return Err(OpError::invalid(format!(
            "size is {size}; it must be 1 or more"
        )));
    }
    let attrs = Attrs::new()
        .with("size", size)
        // ONNX divides by the number of channels; the Graph Engine does not.
        .with(
            "alpha",
            (f64::from(node.float_or("alpha", 1e-4)?) / size as f64) as f32,
        )
        .with("beta", node.float_or("beta", 0.75)?)
        .with("bias", node.float_or("bias", 1.0)?);
    Ok(vec![builder.node("LRN", node.inputs(), attrs)?])
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("lrn");
    }
}
