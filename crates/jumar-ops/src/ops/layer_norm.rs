//! Normalisation over the last dimensions.

use jumar_types::dtype::DataType;

use crate::kernels::generic::generic_kernel;
use crate::kernels::norm::{self, Normalise};
use crate::onnx::{LATEST, cast, wider};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, OutputDef,
    Types, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "LayerNormV3",
        onnx: &[OnnxForm::new(
            "LayerNormalization",
            17,
            LATEST,
            |builder, node| lower(builder, node, "LayerNormV3"),
        )],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("gamma", Types::FLOAT),
            InputDef::optional("beta", Types::FLOAT),
        ],
        outputs: &[
            OutputDef { name: "y" },
            OutputDef { name: "mean" },
            OutputDef { name: "rstd" },
        ],
        attrs: &[
            AttrDef::int("begin_norm_axis", 0),
            AttrDef::int("begin_params_axis", 0),
            AttrDef::float("epsilon", 1e-5),
            // Ours: what float32 does not hold of the number that is added to a variance in double precision.
            AttrDef::float("epsilon_rest", 0.0),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| norm::infer_from(cx, cx.attrs().int("begin_norm_axis")?, 2),
        prepare: |cx| prepare(cx, cx.attrs().float("epsilon_rest")?, true),
    },
    &Operator {
        name: "RmsNorm",
        onnx: &[OnnxForm::new(
            "RMSNormalization",
            23,
            LATEST,
            |builder, node| lower(builder, node, "RmsNorm"),
        )],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::required("gamma", Types::FLOAT),
        ],
        outputs: &[OUTPUT_Y[0], OutputDef { name: "rstd" }],
        attrs: &[
            AttrDef::float("epsilon", 1e-6),
            // Ours: the Graph Engine takes as many dimensions as gamma has.
            AttrDef::int("begin_norm_axis", -1),
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| norm::infer_from(cx, cx.attrs().int("begin_norm_axis")?, 1),
        prepare: |cx| prepare(cx, 0.0, false),
    },
];

fn prepare(
    cx: &crate::PrepareCx<'_>,
    rest: f32,
    centre: bool,
) -> Result<Box<dyn crate::Kernel>, OpError> {
    let shape = cx.shape(0)?;
    let axis = infer::axis(cx.attrs().int("begin_norm_axis")?, shape.len())?;
    let algorithm = Normalise {
        rows: shape[..axis].iter().product(),
        len: shape[axis..].iter().product(),
        epsilon: f64::from(cx.attrs().float("epsilon")?) + f64::from(rest),
        centre,
        affine: norm::affine(cx)?,
        mean: centre.then_some(1),
        deviation: Some(if centre { 2 } else { 1 }),
    };
    generic_kernel(cx, algorithm, &[0, 1, 2], &[0, 1, 2])
}

fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    // Both say in which type to compute; float32 at least is what happens here in any case. Mean and deviation are of it.
    let stash = node.dtype("stash_type")?.unwrap_or(DataType::Float32);
    if !stash.is_float() {
        return Err(OpError::invalid(format!(
            "the stash_type {stash} is not a float type"
        )));
    }
    let attrs = Attrs::new()
        .with("begin_norm_axis", node.int_or("axis", -1)?)
        .with("epsilon", node.float_or("epsilon", 1e-5)?);
    let (x, scale) = (node.input(0)?, node.input(1)?);
    let (from, to) = (builder.ty(x).dtype, builder.ty(scale).dtype);
    if operator == "RmsNorm" && from != to {
        // The result is of the scale's type, and rounded once.
        let common = wider(from, to);
        let (x, scale) = (cast(builder, x, common)?, cast(builder, scale, common)?);
        let y = builder.node(operator, &[Some(x), Some(scale)], attrs)?;
        return Ok(vec![cast(builder, y, to)?]);
    }
    let mut outputs = builder.add_node(operator, node.inputs(), attrs, node.outputs.max(1))?;
    for (_, output) in outputs
        .iter_mut()
        .enumerate()
        .skip(1)
        .filter(|(index, _)| node.uses_output(*index))
    {
        *output = cast(builder, *output, stash)?;
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("layer_norm");
    }
}
