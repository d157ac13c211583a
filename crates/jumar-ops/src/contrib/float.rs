//! Products, activations and norms that the optimiser joins.

use super::{Values, add_if, form, one, plain, refuse_outputs, scaled, transposed};
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, Tensor, ValueRef};

pub(super) static FORMS: &[OnnxForm] = &[
    form("FusedMatMul", fused_mat_mul),
    form("TransposeMatMul", fused_mat_mul),
    form("FusedGemm", |builder, node| {
        let attrs = node.rest(ACTIVATION);
        let product = one(builder, "Gemm", node.inputs(), &attrs)?;
        let params = [
            node.float("activation_alpha")?,
            node.float("activation_beta")?,
        ];
        Ok(vec![activation(builder, node, product, &params)?])
    }),
    form("FusedConv", |builder, node| {
        let attrs = node.rest(ACTIVATION);
        let inputs = &node.inputs()[..node.inputs().len().min(3)];
        let conv = one(builder, "Conv", inputs, &attrs)?;
        let sum = add_if(builder, conv, node.optional(3))?;
        Ok(vec![activated(builder, node, sum)?])
    }),
    form("FusedMatMulActivation", |builder, node| {
        let product = fused_mat_mul(builder, node)?[0];
        node.ignore("activation_axis");
        let params = [
            node.float("activation_alpha")?,
            node.float("activation_beta")?,
        ];
        Ok(vec![activation(builder, node, product, &params)?])
    }),
    form("Gelu", |builder, node| {
        Ok(vec![plain(builder, "Gelu", &[node.input(0)?])?])
    }),
    form("BiasGelu", |builder, node| {
        let sum = plain(builder, "Add", &[node.input(0)?, node.input(1)?])?;
        Ok(vec![plain(builder, "Gelu", &[sum])?])
    }),
    form("FastGelu", |builder, node| {
        let sum = add_if(builder, node.input(0)?, node.optional(1))?;
        let attrs = Attrs::new().with("approximate", "tanh");
        Ok(vec![one(builder, "Gelu", &[Some(sum)], &attrs)?])
    }),
    form("QuickGelu", |builder, node| {
        let attrs = Attrs::new().with("scale", node.float_or("alpha", 1.702)?);
        Ok(vec![builder.node(
            "Swish",
            &[Some(node.input(0)?)],
            attrs,
        )?])
    }),
    form("SkipLayerNormalization", |builder, node| {
        let bias = node.optional(4);
        let sum = skipped(builder, node, bias)?;
        let inputs = [Some(sum), Some(node.input(2)?), node.optional(3)];
        let attrs = normal(node, 1e-12)?;
        let count = if node.uses_output(1) || node.uses_output(2) {
            3
        } else {
            1
        };
        let mut values = super::standard(builder, "LayerNormalization", &inputs, &attrs, count)?;
        // Outputs that are absent have no reader.
        values.resize(3, sum);
        values.push(sum);
        Ok(values)
    }),
    form("SkipSimplifiedLayerNormalization", |builder, node| {
        let bias = node.optional(3);
        let sum = skipped(builder, node, bias)?;
        for index in [1, 2] {
            if node.uses_output(index) {
                return Err(OpError::unsupported(format!(
                    "its output {index} is not supported"
                )));
            }
        }
        let inputs = [Some(sum), Some(node.input(2)?)];
        let attrs = normal(node, 1e-12)?;
        let normal = one(builder, "RMSNormalization", &inputs, &attrs)?;
        Ok(vec![normal, sum, sum, sum])
    }),
    form("SimplifiedLayerNormalization", |builder, node| {
        refuse_outputs(node, 1)?;
        let attrs = node.rest(&[]);
        Ok(vec![one(
            builder,
            "RMSNormalization",
            node.inputs(),
            &attrs,
        )?])
    }),
];

pub(super) const ACTIVATION: &[&str] = &[
    "activation",
    "activation_params",
    "activation_alpha",
    "activation_beta",
    "activation_gamma",
];

fn normal(node: &OnnxNode<'_>, epsilon: f32) -> Result<Attrs, OpError> {
    Ok(Attrs::new()
        .with("axis", -1)
        .with("epsilon", node.float_or("epsilon", epsilon)?))
}

/// Input, skip and bias together.
fn skipped(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    bias: Option<ValueRef>,
) -> Result<ValueRef, OpError> {
    let sum = plain(builder, "Add", &[node.input(0)?, node.input(1)?])?;
    add_if(builder, sum, bias)
}

fn fused_mat_mul(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Values {
    for name in ["transBatchA", "transBatchB"] {
        if node.bool_or(name, false)? {
            return Err(OpError::unsupported(format!("{name} is not supported")));
        }
    }
    let mut operands = Vec::new();
    for (index, name) in ["transA", "transB"].into_iter().enumerate() {
        let value = node.input(index)?;
        let rank = builder.ty(value).rank();
        operands.push(match (node.bool_or(name, false)?, rank) {
            (false, _) | (true, Some(0 | 1)) => value,
            (true, None) => {
                return Err(OpError::unsupported(format!(
                    "{name} of a tensor of unknown rank is not supported"
                )));
            }
            (true, Some(rank)) => {
                let mut perm: Vec<i64> = (0..rank as i64).collect();
                perm.swap(rank - 1, rank - 2);
                transposed(builder, value, perm)?
            }
        });
    }
    let product = plain(builder, "MatMul", &operands)?;
    Ok(vec![scaled(
        builder,
        product,
        node.float_or("alpha", 1.0)?,
    )?])
}

/// Applies the activation of a convolution, whose parameters are a list.
pub(super) fn activated(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    x: ValueRef,
) -> Result<ValueRef, OpError> {
    let params: Vec<Option<f32>> = node
        .floats("activation_params")?
        .unwrap_or_default()
        .iter()
        .copied()
        .map(Some)
        .collect();
    activation(builder, node, x, &params)
}

/// Applies the activation that a joined operator names.
fn activation(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    x: ValueRef,
    params: &[Option<f32>],
) -> Result<ValueRef, OpError> {
    for name in ACTIVATION {
        node.ignore(name);
    }
    let param = |index: usize| params.get(index).copied().flatten();
    let mut attrs = Attrs::new();
    let mut named = |names: &[&str]| {
        for (index, name) in names.iter().enumerate() {
            if let Some(value) = param(index) {
                attrs.set(name, value);
            }
        }
    };
    let name = node.str_or("activation", "")?;
    match name {
        "" => return Ok(x),
        "Relu" | "Tanh" | "Sigmoid" | "Softplus" | "Softsign" => {}
        "LeakyRelu" | "Elu" | "ThresholdedRelu" => named(&["alpha"]),
        "HardSigmoid" => named(&["alpha", "beta"]),
        "Clip" => {
            let dtype = builder.ty(x).dtype;
            let mut bound = |index: usize, default: f32| {
                let value = param(index).unwrap_or(default);
                Tensor::scalar(dtype, value.into()).map(|tensor| builder.add_constant(tensor))
            };
            let (low, high) = (bound(0, f32::MIN)?, bound(1, f32::MAX)?);
            return plain(builder, "Clip", &[x, low, high]);
        }
        other => {
            return Err(OpError::unsupported(format!(
                "the activation {other} is not supported"
            )));
        }
    }
    one(builder, name, &[Some(x)], &attrs)
}
