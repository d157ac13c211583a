//! The choice of experts, and of groups of them.

use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::fields::Fields;
use super::form::{Described, Form, Inputs, Slot, signature};
use super::linear::HALVES;
use super::refused::Refused;
use crate::build::Cx;
use crate::ops::dense::bad_data;
use crate::ops::operands::FLOATS;
use crate::ops::routing::{Gates, next_largest, sigmoid_top_k, sum_of_largest};
use crate::rows::{RowFunction, Rows};
use crate::{Arg, Refusal, Signature};

static GROUP_TOPK: Signature = signature!("GroupTopkOperation":
    x In, idx In, output Out, groupNum Int, k Int, n Int);

static FUSED: Signature = signature!("FusedAddTopkDivOperation":
    x In, addNum In, mappingNum In, mappingTable In, y Out, indices Out,
    groupNum Int, groupTopk Int, n Int, k Int, isNorm Bool, scale Float);

const INT32: &[DataType] = &[DataType::Int32];
/// The most experts of a row.
const MOST_EXPERTS: i64 = 1024;

pub(super) fn group_topk(fields: &Fields<'_>) -> Result<Form, Refused> {
    let (groups, k) = (fields.positive("groupNum")?, fields.positive("k")?);
    // By the largest value of a group, or by the sum of its n largest.
    let summed = fields.choice("groupMultiFlag", &[(0, false), (1, true)])?;
    let n = match summed {
        true => fields.positive("n")?,
        false => 1,
    };
    if k > groups {
        return Err(Refused::param(format!(
            "k is {k}; it must be between 1 and groupNum, {groups}"
        )));
    }
    Ok(Form {
        signature: &GROUP_TOPK,
        inputs: vec![
            Slot::new("x", HALVES, 2..=2),
            // Its values count the columns, which the rows do by themselves.
            Slot::new("idx", INT32, 1..=1),
        ],
        outputs: vec![Slot::out("output")],
        values: vec![
            ("groupNum", Arg::Int(groups)),
            ("k", Arg::Int(k)),
            ("n", Arg::Int(n)),
        ],
        infer: |inputs| {
            let experts = inputs.dims("x")[1];
            let (groups, n) = (inputs.int("groupNum"), inputs.int("n"));
            if experts > MOST_EXPERTS || experts % groups != 0 || n > experts / groups {
                return Err(inputs.refuse(format!(
                    "x has {experts} experts, groupNum is {groups} and n {n}; expected at most {MOST_EXPERTS} experts, in equal groups of at least n"
                )));
            }
            Ok(vec![inputs.same("x")])
        },
        plan: plan_groups,
    })
}

/// Sets the groups of a row to 0 that are not among the best.
struct BestGroups {
    groups: usize,
    kept: usize,
    summed: usize,
}

impl RowFunction for BestGroups {
    fn scratch(&self) -> usize {
        self.groups
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (x, out, marks) = (rows.input(0), rows.output(0), rows.scratch());
        let size = x.len() / self.groups;
        for group in 0..self.groups {
            marks.set(
                group,
                sum_of_largest(x.slice(group * size, size), self.summed),
            );
        }
        let mut last = None;
        for _ in 0..self.kept {
            last = Some(next_largest(marks.as_row(), last));
        }
        let Some((least, at)) = last else { return };
        for group in 0..self.groups {
            let score = marks.get(group);
            let score = if score.is_nan() { f32::INFINITY } else { score };
            let to = out.slice(group * size, size);
            match score > least || (score == least && group <= at) {
                true => to.copy_from(x.slice(group * size, size)),
                false => to.fill(0.0),
            }
        }
    }
}

fn count(cx: &Cx<'_>, name: &str) -> Result<usize, Refusal> {
    let value = cx.int(name)?;
    usize::try_from(value).map_err(|_| cx.invalid(format_args!("{name} is {value}")))
}

fn plan_groups(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("output")?);
    let function = BestGroups {
        groups: count(cx, "groupNum")?,
        kept: count(cx, "k")?,
        summed: count(cx, "n")?,
    };
    cx.rows(function, &[Some(x)], &[Some(out)])
}

pub(super) fn fused_add_topk_div(fields: &Fields<'_>) -> Result<Form, Refused> {
    /// `activationType`: the only one that exists here.
    const SIGMOID: i64 = 8;
    fields.only("activationType", SIGMOID)?;
    let mapped = fields.flag("enableExpertMapping")?;
    let (groups, kept) = (fields.positive("groupNum")?, fields.positive("groupTopk")?);
    if kept > groups {
        return Err(Refused::param(format!(
            "groupTopk is {kept}; it must be between 1 and groupNum, {groups}"
        )));
    }
    let table = |name, rank| {
        let slot = Slot::new(name, INT32, rank..=rank);
        if mapped { slot } else { slot.optional() }
    };
    Ok(Form {
        signature: &FUSED,
        inputs: vec![
            Slot::new("x", FLOATS, 2..=2),
            Slot::new("addNum", FLOATS, 1..=1).like("x"),
            table("mappingNum", 1),
            table("mappingTable", 2),
        ],
        outputs: vec![Slot::out("y"), Slot::out("indices")],
        values: vec![
            ("groupNum", Arg::Int(groups)),
            ("groupTopk", Arg::Int(kept)),
            ("n", Arg::Int(fields.positive("n")?)),
            ("k", Arg::Int(fields.positive("k")?)),
            ("isNorm", Arg::Bool(fields.flag("isNorm")?)),
            ("scale", Arg::Float(fields.float("scale")?)),
            ("mapped", Arg::Bool(mapped)),
        ],
        infer: infer_fused,
        plan: plan_fused,
    })
}

fn infer_fused(inputs: &Inputs<'_>) -> Result<Vec<Described>, Refused> {
    let dims = inputs.dims("x");
    let (rows, experts) = (dims[0], dims[1]);
    let int = |name: &str| inputs.int(name);
    let (groups, kept, n, k) = (int("groupNum"), int("groupTopk"), int("n"), int("k"));
    let size = experts / groups;
    if experts % groups != 0 || n > size || k > size.saturating_mul(kept) {
        return Err(inputs.refuse(format!(
            "x has {experts} experts; they cannot be chosen from by groupNum {groups}, groupTopk {kept}, n {n} and k {k}: groups are equal, have at least n experts, and those that are kept have at least k"
        )));
    }
    let fits = |name: &str, wanted: &[i64]| match inputs.dims(name) {
        own if !inputs.has(name) || own == wanted => Ok(()),
        own => Err(inputs.refuse(format!(
            "{name} has the shape {own:?}; it must be {wanted:?}"
        ))),
    };
    fits("addNum", &[experts])?;
    if int("mapped") != 0 {
        fits("mappingNum", &[experts])?;
        let table = inputs.dims("mappingTable");
        if table[0] != experts {
            return Err(inputs.refuse(format!(
                "mappingTable has the shape {table:?}; it must have a row for each of {experts} experts"
            )));
        }
    }
    Ok(vec![
        Described::new(DataType::Float32, &[rows, k]),
        Described::new(DataType::Int32, &[rows, k]),
    ])
}

/// Replaces experts by one of their copies. Which one depends on the row alone, so that a call gives the same result again.
struct Copies {
    chosen: usize,
}

impl Kernel for Copies {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let experts = call.input::<i32>(0)?.flat();
        let (counts, table) = (call.input::<i32>(1)?.flat(), call.input::<i32>(2)?);
        let (most, table) = (table.shape()[1], table.flat());
        let out = call.output::<i32>(0)?.flat();
        for index in 0..experts.len() {
            let expert = experts.get(index) as usize;
            let copies = counts.get(expert);
            let inside = usize::try_from(copies).ok();
            let Some(copies) = inside.filter(|count| (1..=most).contains(count)) else {
                return Err(bad_data(format!(
                    "FusedAddTopkDivOperation: mappingNum[{expert}] is {copies}; it must be between 1 and {most}, the columns of mappingTable"
                )));
            };
            let row = index / self.chosen;
            out.set(index, table.get(expert * most + row % copies));
        }
        Ok(())
    }
}

fn plan_fused(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, y, indices) = (cx.tensor("x")?, cx.out("y")?, cx.out("indices")?);
    let k = count(cx, "k")?;
    let copies = match (cx.optional("mappingNum")?, cx.optional("mappingTable")?) {
        (Some(counts), Some(table)) => Some((cx.dense(counts)?, cx.dense(table)?)),
        _ => None,
    };
    let target = match copies {
        Some(_) => cx.temporary(DataType::Int32, indices.dims())?,
        None => indices,
    };
    let bias = cx.tensor("addNum")?;
    let gates = Gates {
        k,
        groups: count(cx, "groupNum")?,
        kept: count(cx, "groupTopk")?,
        summed: count(cx, "n")?,
        renormalised: cx.flag("isNorm")?,
        factor: cx.float("scale")? as f32,
    };
    sigmoid_top_k(cx, (x, bias), gates, (y, target))?;
    match copies {
        Some((counts, table)) => {
            let inputs = [Some(target), Some(counts), Some(table)];
            cx.kernel(Box::new(Copies { chosen: k }), &inputs, &[indices], false)
        }
        None => Ok(()),
    }
}
