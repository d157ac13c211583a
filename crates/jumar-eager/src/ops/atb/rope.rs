//! Rotation of queries and keys by their positions.

use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::refused::Refused;
use crate::build::Cx;
use crate::ops::fused::{Pairing, rotate};
use crate::ops::operands::FLOATS;
use crate::{Arg, Refusal, Signature};

static SIGNATURE: Signature = signature!("RopeOperation":
    query In, key In, cos In, sin In, seqLen In, queryOut Out, keyOut Out, rotaryCoeff Int);

pub(super) const LENGTHS: &[DataType] = &[DataType::Int32, DataType::UInt32];

pub(super) fn form(fields: &Fields<'_>) -> Result<Form, Refused> {
    fields.only("cosFormat", 0)?;
    let coefficient = fields.positive("rotaryCoeff")?;
    Ok(Form {
        signature: &SIGNATURE,
        inputs: vec![
            Slot::new("query", HALVES, 2..=2),
            Slot::new("key", HALVES, 2..=2).like("query"),
            Slot::new("cos", FLOATS, 2..=2),
            Slot::new("sin", FLOATS, 2..=2).like("cos"),
            Slot::new("seqLen", LENGTHS, 1..=1),
        ],
        outputs: vec![Slot::out("queryOut"), Slot::out("keyOut")],
        values: vec![("rotaryCoeff", Arg::Int(coefficient))],
        infer,
        plan,
    })
}

fn infer(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let (cos, coefficient) = (inputs.dims("cos"), inputs.int("rotaryCoeff"));
    let (tokens, width) = (cos[0], cos[1]);
    if inputs.dims("sin") != cos {
        return Err(inputs.refuse(format!(
            "sin has the shape {:?} and cos {cos:?}; both have a row for each token",
            inputs.dims("sin")
        )));
    }
    for name in ["query", "key"] {
        let dims = inputs.dims(name);
        if dims[0] != tokens || dims[1] % width != 0 {
            return Err(inputs.refuse(format!(
                "{name} has the shape {dims:?}; expected {tokens} tokens and heads of {width} entries, as cos has"
            )));
        }
    }
    let parts = match coefficient {
        4 => 4,
        _ => 2,
    };
    if ![2, 4, width].contains(&coefficient) || width % parts != 0 {
        return Err(inputs.refuse(format!(
            "rotaryCoeff is {coefficient} and cos has rows of {width}; supported are 2 (halves), 4 (quarters) and {width} (neighbours), of rows that they divide"
        )));
    }
    Ok(vec![inputs.same("query"), inputs.same("key")])
}

fn plan(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (cos, sin) = (cx.tensor("cos")?, cx.tensor("sin")?);
    let &[tokens, width] = cos.dims() else {
        return Err(cx.defect("cos has two dimensions"));
    };
    let pairing = match cx.int("rotaryCoeff")? {
        2 => Pairing::Half,
        4 => Pairing::Quarter,
        _ => Pairing::Interleaved,
    };
    // All heads of a token are rotated alike.
    let tables = (cos.unsqueeze(1), sin.unsqueeze(1));
    for (from, to) in [("query", "queryOut"), ("key", "keyOut")] {
        let (x, out) = (cx.tensor(from)?, cx.out(to)?);
        let dims = [tokens, x.dims()[1] / width, width];
        let x = cx.reshaped(x, &dims)?;
        let out = cx.reshaped(out, &dims)?;
        rotate(cx, pairing, x, tables, out)?;
    }
    Ok(())
}
