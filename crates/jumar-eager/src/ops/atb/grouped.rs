//! Products of groups of the depth, added in place.

use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::refused::Refused;
use crate::ops::products;
use crate::{Arg, Signature};

static SIGNATURE: Signature = signature!("GroupedMatmulInplaceAddOperation":
    x In, weight In, groupList In, yRef InOut, transposeX Bool, transposeWeight Bool, groupType Int);

/// Groups of the depth, as single operators number them.
const BY_DEPTH: i64 = 2;

pub(super) fn form(fields: &Fields<'_>) -> Result<Form, Refused> {
    Ok(Form {
        signature: &SIGNATURE,
        inputs: vec![
            Slot::new("x", HALVES, 2..=2),
            Slot::new("weight", HALVES, 2..=2).like("x"),
            Slot::new("groupList", &[DataType::Int64], 1..=1),
            Slot::new("yRef", &[DataType::Float32], 2..=3),
        ],
        outputs: vec![Slot::out("yRef").any_shape()],
        values: vec![
            ("transposeX", Arg::Bool(fields.flag("transposeA")?)),
            ("transposeWeight", Arg::Bool(fields.flag("transposeB")?)),
            ("groupType", Arg::Int(BY_DEPTH)),
        ],
        infer,
        plan: products::add_groups,
    })
}

fn infer(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let (x, weight, out) = (inputs.dims("x"), inputs.dims("weight"), inputs.dims("yRef"));
    let turned = |dims: &[i64], flag: &str| match inputs.int(flag) != 0 {
        true => [dims[1], dims[0]],
        false => [dims[0], dims[1]],
    };
    let ([rows, depth], [own, columns]) =
        (turned(x, "transposeX"), turned(weight, "transposeWeight"));
    let groups = inputs.dims("groupList")[0];
    let all = groups.saturating_mul(rows);
    let wide = groups.saturating_mul(columns);
    let fits =
        out == [groups, rows, columns] || out == [all, columns] || (rows == 1 && out == [1, wide]);
    if depth != own || !fits {
        return Err(inputs.refuse(format!(
            "x has the shape {x:?}, weight {weight:?}, groupList {groups} groups and the sums {out:?}; expected [{all}, {columns}] for a depth that both matrices have"
        )));
    }
    Ok(vec![inputs.same("yRef")])
}
