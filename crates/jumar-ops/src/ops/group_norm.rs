//! Normalisation of groups of channels, separately for each image.

use crate::kernels::generic::generic_kernel;
use crate::kernels::norm::{self, Normalise};
use crate::onnx::LATEST;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    OutputDef, PrepareCx, TensorType, Types, ValueRef,
};

const INPUTS: &[InputDef] = &[
    InputDef::required("x", Types::FLOAT),
    InputDef::required("gamma", Types::FLOAT),
    InputDef::required("beta", Types::FLOAT),
];
/// The Graph Engine's operators give mean and variance, too; no program has asked for them yet.
const OUTPUTS: &[OutputDef] = &[OutputDef { name: "y" }];

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "GroupNorm",
        onnx: &[OnnxForm::new("GroupNormalization", 18, LATEST, lower_group)],
        inputs: INPUTS,
        outputs: OUTPUTS,
        attrs: &[
            AttrDef::required("num_groups", crate::AttrKind::Int),
            AttrDef::str("data_format", "NHWC"),
            AttrDef::float("eps", 1e-4),
            AttrDef::bool("is_training", true),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let groups = cx.attrs().int("num_groups")?;
            infer(cx, Some(groups))
        },
        prepare: |cx| {
            prepare(
                cx,
                Some(cx.attrs().int("num_groups")?),
                cx.attrs().float("eps")?,
            )
        },
    },
    &Operator {
        name: "InstanceNorm",
        onnx: &[OnnxForm::new(
            "InstanceNormalization",
            6,
            LATEST,
            |builder, node| {
                let attrs = Attrs::new()
                    .with("epsilon", node.float_or("epsilon", 1e-5)?)
                    .with("data_format", "NCHW");
                Ok(vec![builder.node("InstanceNorm", node.inputs(), attrs)?])
            },
        )],
        inputs: INPUTS,
        outputs: OUTPUTS,
        attrs: &[
            AttrDef::str("data_format", "NDHWC"),
            AttrDef::float("epsilon", 1e-6),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| infer(cx, None),
        prepare: |cx| prepare(cx, None, cx.attrs().float("epsilon")?),
    },
];

fn infer(cx: &InferCx<'_>, groups: Option<i64>) -> Result<Vec<TensorType>, OpError> {
    let x = cx.input(0)?;
    if !matches!(
        cx.attrs().str("data_format")?,
        "NCHW" | "NCDHW" | "NCL" | "ND"
    ) {
        return Err(OpError::unsupported(
            "the data_format is not supported; NCHW is",
        ));
    }
    let Some(rank) = x.rank() else {
        return Ok(vec![x.clone()]);
    };
    if rank < 2 {
        return Err(OpError::invalid(format!(
            "the input {x} has no axis of channels"
        )));
    }
    let channels = x.shape[1];
    let groups = groups.unwrap_or(channels);
    if groups == 0 && channels != 0
        || groups < -1
        || (channels > 0 && groups > 0 && channels % groups != 0)
    {
        return Err(OpError::invalid(format!(
            "{channels} channels cannot be split into {groups} groups"
        )));
    }
    for index in 1..3 {
        let one = cx.input(index)?;
        if !matches!(one.shape[..], [size] if size < 0 || channels < 0 || size == channels || size == groups)
        {
            return Err(OpError::invalid(format!(
                "input {index} is {one}; it needs {channels} elements"
            )));
        }
    }
    Ok(vec![x.clone()])
}

fn prepare(
    cx: &PrepareCx<'_>,
    groups: Option<i64>,
    epsilon: f32,
) -> Result<Box<dyn crate::Kernel>, OpError> {
    let shape = cx.shape(0)?;
    let (batch, channels, inner) = (shape[0], shape[1], shape[2..].iter().product::<usize>());
    let groups = groups.map_or(channels, |groups| groups.max(0) as usize);
    let len = channels.checked_div(groups).unwrap_or(0) * inner;
    // A scale a group is what operator sets 18 to 20 of ONNX have.
    let middle = if cx.shape(1)?[0] == channels {
        [batch, channels, inner]
    } else {
        [batch, groups, len]
    };
    let algorithm = Normalise {
        rows: batch * groups,
        len,
        epsilon: epsilon.into(),
        centre: true,
        affine: norm::affine_middle(middle),
        mean: None,
        deviation: None,
    };
    generic_kernel(cx, algorithm, &[0, 1, 2], &[0])
}

fn lower_group(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    node.ignore("stash_type");
    let groups = node
        .int("num_groups")?
        .ok_or_else(|| OpError::invalid("the attribute num_groups is missing"))?;
    let attrs = Attrs::new()
        .with("num_groups", groups)
        .with("eps", node.float_or("epsilon", 1e-5)?)
        .with("data_format", "NCHW");
    Ok(vec![builder.node("GroupNorm", node.inputs(), attrs)?])
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("group_norm");
    }
}
