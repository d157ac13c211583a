//! Root mean square normalization.

use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::refused::Refused;
use crate::ops::fused;
use crate::ops::operands::FLOATS;
use crate::{Arg, Signature};

static SIGNATURE: Signature = signature!("RmsNormOperation":
    x In, residual In, bias In, gamma In, beta In, scale In, offset In,
    output Out, sum Out, rstd Out, quantised Out, rowScale Out, epsilon Float, gemma Bool);

const INT8: &[DataType] = &[DataType::Int8];

/// `quantType`: results of int8.
const QUANTISED: i64 = 2;

pub(super) fn form(fields: &Fields<'_>) -> Result<Form, Refused> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Layer {
        Norm,
        Pre,
        Post,
    }
    let layer = fields.choice(
        "layerType",
        &[(1, Layer::Norm), (2, Layer::Pre), (3, Layer::Post)],
    )?;
    let part = match layer {
        Layer::Norm => "normParam",
        Layer::Pre => "preNormParam",
        Layer::Post => "postNormParam",
    };
    let own = |field: &str| format!("{part}.{field}");
    let quantised = match fields.int(&own("quantType"))? {
        0 => false,
        QUANTISED => true,
        other => {
            return Err(Refused::param(format!(
                "{part}.quantType is {other}; supported are 0 (none) and 2 (int8)"
            )));
        }
    };
    let epsilon = fields.float(&own("epsilon"))?;
    let mut inputs = vec![Slot::new("x", FLOATS, 1..=8)];
    let mut outputs = Vec::new();
    let (mut gemma, mut dynamic, mut rstd) = (false, false, false);
    if layer == Layer::Norm {
        rstd = fields.flag("normParam.rstd")?;
        gemma = fields.choice("normParam.modelType", &[(0, false), (1, true)])?;
        let fast = fields.choice("normParam.precisionMode", &[(0, false), (1, true)])?;
        if [rstd, gemma, fast].iter().filter(|one| **one).count() > 1 {
            return Err(Refused::param(
                "normParam sets more than one of rstd, precisionMode and modelType; they exclude each other",
            ));
        }
        if quantised && (rstd || gemma || fast) {
            return Err(Refused::param(
                "normParam sets rstd, precisionMode or modelType together with quantType 2 (int8), which does not exist",
            ));
        }
        dynamic = fields.choice("normParam.dynamicQuantType", &[(0, false), (1, true)])?;
        if dynamic && !quantised {
            return Err(Refused::param(
                "normParam.dynamicQuantType is 1 and quantType 0; scales of rows belong to results of int8 (quantType 2)",
            ));
        }
        if fast {
            inputs[0] = Slot::new("x", &[DataType::Float16], 1..=8);
        }
    } else {
        let bias = fields.flag(&own("hasBias"))?;
        if quantised {
            return Err(Refused::param(format!(
                "{part}.quantType is 2 (int8), which is not supported for layerType {}",
                fields.int("layerType")?
            )));
        }
        inputs.push(Slot::new("residual", FLOATS, 1..=8).like("x"));
        if bias {
            inputs.push(Slot::new("bias", FLOATS, 1..=2).like("x"));
        }
    }
    if quantised {
        inputs[0] = Slot::new("x", HALVES, 1..=8);
    }
    inputs.push(Slot::new("gamma", FLOATS, 1..=2).like("x"));
    match (quantised, dynamic) {
        (true, true) => {
            inputs.push(Slot::new("beta", FLOATS, 1..=2).like("x"));
            outputs.push(Slot::out("quantised"));
            outputs.push(Slot::out("rowScale"));
        }
        (true, false) => {
            inputs.push(Slot::new("beta", FLOATS, 1..=2).like("x"));
            inputs.push(Slot::new("scale", FLOATS, 1..=1).like("x"));
            inputs.push(Slot::new("offset", INT8, 1..=1));
            outputs.push(Slot::out("quantised"));
        }
        (false, _) => outputs.push(Slot::out("output")),
    }
    if layer == Layer::Pre {
        outputs.push(Slot::out("sum"));
    }
    if rstd {
        outputs.push(Slot::out("rstd"));
    }
    Ok(Form {
        signature: &SIGNATURE,
        values: vec![
            ("epsilon", Arg::Float(epsilon)),
            ("gemma", Arg::Bool(gemma)),
            ("quantises", Arg::Bool(quantised)),
            ("dynamic", Arg::Bool(dynamic)),
            ("hasSum", Arg::Bool(layer == Layer::Pre)),
            ("hasRstd", Arg::Bool(rstd)),
        ],
        inputs,
        outputs,
        infer,
        plan: fused::norm_of_form,
    })
}

fn infer(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let dims = inputs.dims("x");
    let (width, leading) = (dims[dims.len() - 1], &dims[..dims.len() - 1]);
    for name in ["gamma", "beta", "bias"] {
        let own = inputs.dims(name);
        if inputs.has(name) && own != [width] && own != [1, width] {
            return Err(inputs.refuse(format!(
                "{name} has the shape {own:?}; it must be [{width}], the last dimension of x"
            )));
        }
    }
    for name in ["scale", "offset"] {
        let own = inputs.dims(name);
        if inputs.has(name) && own != [1] {
            return Err(inputs.refuse(format!("{name} has the shape {own:?}; it must be [1]")));
        }
    }
    if inputs.has("residual") && inputs.dims("residual") != dims {
        return Err(inputs.refuse(format!(
            "residual has the shape {:?}; it must be that of x, {dims:?}",
            inputs.dims("residual")
        )));
    }
    let rows = if leading.is_empty() {
        &[1][..]
    } else {
        leading
    };
    let mut outputs = Vec::new();
    match inputs.int("quantises") != 0 {
        true => outputs.push(Described::new(DataType::Int8, dims)),
        false => outputs.push(inputs.same("x")),
    }
    if inputs.int("dynamic") != 0 {
        outputs.push(Described::new(DataType::Float32, rows));
    }
    if inputs.int("hasSum") != 0 {
        outputs.push(inputs.same("x"));
    }
    if inputs.int("hasRstd") != 0 {
        let mut dims = leading.to_vec();
        dims.push(1);
        outputs.push(Described::new(DataType::Float32, &dims));
    }
    Ok(outputs)
}
