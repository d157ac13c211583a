//! Products of matrices.

use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::refused::Refused;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::{matrix, products};
use crate::view::View;
use crate::{Arg, Refusal, Signature};

static SIGNATURE: Signature = signature!("LinearOperation":
    x In, weight In, bias In, accum In, deqScale In, perTokenScale In, output Out,
    transposeA Bool, transposeB Bool, byMiddle Bool, weightNZ Bool);

pub(super) const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];
const FLOAT: &[DataType] = &[DataType::Float32];
const INT8: &[DataType] = &[DataType::Int8];
const INT32: &[DataType] = &[DataType::Int32];
const SCALES: &[DataType] = &[DataType::UInt64, DataType::Int64, DataType::Float32];

/// `matmulType`: a product for each entry of the middle dimension.
const EIN_SUM: i64 = 1;
/// `quantMode`: scales of rows beside those of columns.
const PER_TOKEN: i64 = 2;

pub(super) fn form(fields: &Fields<'_>) -> Result<Form, Refused> {
    let (bias, accumulates) = (fields.flag("hasBias")?, fields.flag("enAccum")?);
    let out = fields.int("outDataType")?;
    let by_middle = fields.choice("matmulType", &[(0, false), (EIN_SUM, true)])?;
    let mode = fields.choice("quantMode", &[(0, 0), (1, 1), (2, PER_TOKEN)])?;
    let together = |one: &str, two: &str| {
        Err(Refused::param(format!(
            "{one} and {two} are both set; the operation computes one of them"
        )))
    };
    if bias && accumulates {
        return together("hasBias", "enAccum");
    }
    let quantised = match out {
        -1 => false,
        0 if accumulates => false,
        _ if accumulates => return together("outDataType", "enAccum"),
        1 | 27 => true,
        other => {
            return Err(Refused::param(format!(
                "outDataType is {other}; it must be -1 (that of the inputs), 1 (float16) or 27 (bfloat16)"
            )));
        }
    };
    if mode != 0 && !quantised {
        return Err(Refused::param(format!(
            "quantMode is {mode}, and outDataType is -1: scales belong to products of int8, for which outDataType is 1 or 27"
        )));
    }
    if by_middle && (bias || accumulates || quantised) {
        return Err(Refused::param(
            "matmulType is 1 (EIN_SUM), which is not supported with hasBias, enAccum or outDataType",
        ));
    }
    let types = if quantised { INT8 } else { HALVES };
    let mut inputs = vec![
        Slot::new("x", types, if by_middle { 3..=3 } else { 2..=3 }),
        Slot::new("weight", types, if by_middle { 3..=3 } else { 2..=4 })
            .like("x")
            .blocked(),
    ];
    if bias {
        const BIASES: &[DataType] = &[DataType::Float16, DataType::BFloat16, DataType::Float32];
        inputs.push(Slot::new(
            "bias",
            if quantised { INT32 } else { BIASES },
            1..=2,
        ));
    }
    if accumulates {
        inputs.push(Slot::new("accum", FLOAT, 2..=3));
    }
    if quantised {
        inputs.push(Slot::new("deqScale", SCALES, 1..=2));
    }
    if mode == PER_TOKEN {
        inputs.push(Slot::new("perTokenScale", FLOAT, 1..=1));
    }
    Ok(Form {
        signature: &SIGNATURE,
        inputs,
        outputs: vec![Slot::out("output")],
        values: vec![
            ("transposeA", Arg::Bool(fields.flag("transposeA")?)),
            ("transposeB", Arg::Bool(fields.flag("transposeB")?)),
            ("byMiddle", Arg::Bool(by_middle)),
            // Not an attribute of the plan: the type of its output says it.
            ("outDataType", Arg::Int(out)),
        ],
        infer,
        plan,
    })
}

/// The last two dimensions of a matrix that may be in blocks, and the dimension before them.
fn matrix_dims(
    inputs: &Inputs<'_>,
    name: &str,
    swapped: bool,
) -> Result<(Option<i64>, [i64; 2]), Refused> {
    let (dims, blocked) = (inputs.dims(name), inputs.is_blocked(name));
    let (batch, [rows, columns]) = match (blocked, dims) {
        (false, &[rows, columns]) => (None, [rows, columns]),
        (false, &[batch, rows, columns]) => (Some(batch), [rows, columns]),
        (true, &[batch, outer, rows, inner]) => (
            Some(batch).filter(|batch| *batch > 1),
            [rows, outer.saturating_mul(inner)],
        ),
        _ => {
            let wanted = match blocked {
                true => "batch, blocks of columns, rows and columns of a block (FRACTAL_NZ)",
                false => "rows and columns, with a batch before them or not",
            };
            return Err(inputs.refuse(format!("{name} has the shape {dims:?}; expected {wanted}")));
        }
    };
    Ok((
        batch,
        if swapped {
            [columns, rows]
        } else {
            [rows, columns]
        },
    ))
}

fn infer(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let (x, weight) = (inputs.dims("x"), inputs.dims("weight"));
    let mismatch = |what: &str| {
        inputs.refuse(format!(
            "x has the shape {x:?} and weight {weight:?}, transposeA is {} and transposeB {}: {what}",
            inputs.int("transposeA") != 0,
            inputs.int("transposeB") != 0
        ))
    };
    let dtype = match inputs.int("outDataType") {
        _ if inputs.has("accum") => DataType::Float32,
        1 => DataType::Float16,
        27 => DataType::BFloat16,
        _ => inputs.dtype("x"),
    };
    let (batch, [columns_batch, columns_depth, columns]) = {
        let (batch, [depth, columns]) =
            matrix_dims(inputs, "weight", inputs.int("transposeB") != 0)?;
        (batch, [batch.unwrap_or(1), depth, columns])
    };
    if inputs.int("byMiddle") != 0 {
        let &[rows, own, depth] = x else {
            return Err(mismatch("x has three dimensions"));
        };
        if inputs.int("transposeA") != 0 {
            return Err(mismatch("x cannot be transposed with matmulType 1"));
        }
        return match batch == Some(own) && depth == columns_depth {
            true => Ok(vec![Described::new(dtype, &[rows, own, columns])]),
            false => Err(mismatch("the product does not exist")),
        };
    }
    let (own_batch, [rows, depth]) = matrix_dims(inputs, "x", inputs.int("transposeA") != 0)?;
    let batches = columns_batch == 1 || own_batch == Some(columns_batch);
    if depth != columns_depth || !batches {
        return Err(mismatch("the product does not exist"));
    }
    let mut dims: Vec<i64> = own_batch.into_iter().collect();
    dims.extend([rows, columns]);
    let per_column = |name: &str| {
        let given = inputs.dims(name);
        let fits = match *given {
            [own] => own == columns,
            [1, own] => own == columns,
            [own_rows, own] => name == "bias" && own == columns && own_batch == Some(own_rows),
            _ => false,
        };
        match fits || !inputs.has(name) {
            true => Ok(()),
            false => Err(inputs.refuse(format!(
                "{name} has the shape {given:?}; it must have one element for each of the {columns} columns"
            ))),
        }
    };
    per_column("bias")?;
    per_column("deqScale")?;
    let scales = inputs.dims("perTokenScale");
    if inputs.has("perTokenScale") && scales != [rows] {
        return Err(inputs.refuse(format!(
            "perTokenScale has the shape {scales:?}; it must have one element for each of the {rows} rows"
        )));
    }
    if inputs.has("accum") && inputs.dims("accum") != dims {
        return Err(inputs.refuse(format!(
            "accum has the shape {:?}; the product has {dims:?}",
            inputs.dims("accum")
        )));
    }
    Ok(vec![Described::new(dtype, &dims)])
}

/// Views a matrix in blocks, as rows and columns.
pub(super) fn unblocked(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    let &[batch, outer, rows, inner] = view.dims() else {
        return Err(cx.defect("blocks have four dimensions"));
    };
    let ordered = view.permute(&[0, 2, 1, 3]);
    match batch {
        1 => cx.reshaped(ordered.squeeze(0), &[rows, outer * inner]),
        _ => cx.reshaped(ordered, &[batch, rows, outer * inner]),
    }
}

fn plan(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, mut weight, out) = (cx.tensor("x")?, cx.tensor("weight")?, cx.out("output")?);
    if cx.flag("weightNZ")? {
        weight = unblocked(cx, weight)?;
    }
    let turned = |view: View, flag: bool| match (flag, view.rank()) {
        (true, rank) if rank >= 2 => view.transpose(rank - 2, rank - 1),
        _ => view,
    };
    let x = turned(x, cx.flag("transposeA")?);
    let mut weight = turned(weight, cx.flag("transposeB")?);
    if cx.flag("byMiddle")? {
        return matrix::multiply(cx, x.transpose(0, 1), weight, out.transpose(0, 1));
    }
    if weight.rank() == 3 && weight.dims()[0] == 1 {
        // One matrix for all of the batch.
        weight = weight.squeeze(0);
    }
    let batched = x.rank() == 3;
    // A row of bias belongs to all rows, or to those of one entry of the batch.
    let along = |view: View| match view.dims() {
        [1, _] => view.squeeze(0),
        [_, _] if batched => view.unsqueeze(1),
        _ => view,
    };
    let bias = cx.optional("bias")?.map(along);
    if x.dtype() == DataType::Int8 {
        let scale = cx.tensor("deqScale")?;
        let row_scale = cx.optional("perTokenScale")?;
        return products::dequantised(cx, (x, weight), (along(scale), row_scale), bias, out);
    }
    let more = match cx.optional("accum")? {
        Some(accum) => Some(accum),
        None => bias,
    };
    let Some(more) = more else {
        return matrix::multiply(cx, x, weight, out);
    };
    let product = cx.temporary(DataType::Float32, out.dims())?;
    matrix::multiply(cx, x, weight, product)?;
    let operands = [Operand::Tensor(more), Operand::Tensor(product)];
    cx.map(F::Add, DataType::Float32, &operands, out)
}
