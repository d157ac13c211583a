//! Lists of tensors that are rounded to integers in one of several ways.

use jumar_types::dtype::DataType;

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

pub(crate) static TABLE: &Table = &[
    ("aclnnForeachRoundOffNumber", by_tensor),
    ("aclnnForeachRoundOffNumberV2", by_scalar),
];

/// Rounds a value in the way of a number: 1 to the nearest, halves to even; 2 down; 3 up; 4 to the nearest, halves away from zero; 5 to
/// zero; 6 to the odd one of its neighbours; 7 leaves what is behind the point. Others are as 1.
#[inline(always)]
fn rounded(value: f32, mode: i64) -> f32 {
    match mode {
        2 => value.floor(),
        3 => value.ceil(),
        4 => value.round(),
        5 => value.trunc(),
        6 => {
            let down = value.floor();
            // Beyond 2^24 every value is an integer.
            match down == value || down % 2.0 != 0.0 {
                true => down,
                false => value.ceil(),
            }
        }
        7 => value - value.trunc(),
        _ => value.round_ties_even(),
    }
}

/// Rounds a row. The mode is known, or the second operand.
struct Round(Option<i64>);

impl RowFunction for Round {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let mode = match (self.0, rows.optional(1)) {
            (Some(mode), _) => mode,
            (None, Some(mode)) => mode.get(0) as i64,
            (None, None) => 0,
        };
        rows.output(0)
            .map1(rows.input(0), |value| rounded(value, mode));
    }
}

fn plan(cx: &mut Cx<'_>, mode: Result<i64, View>) -> Result<(), Refusal> {
    let (list, outs) = (cx.tensors("x")?, cx.tensors("out")?);
    if list.len() != outs.len() {
        return Err(cx.invalid(format_args!(
            "x has {} tensors and out {}; both must have equally many",
            list.len(),
            outs.len()
        )));
    }
    for (x, out) in list.iter().zip(&outs) {
        cx.check_types(x, FLOATS)?;
        cx.check_dtype(x, list[0].dtype())?;
        cx.check_dtype(out, x.dtype())?;
        cx.check_dims(out, x.dims())?;
    }
    for (x, out) in list.into_iter().zip(outs) {
        if x.is_empty() {
            continue;
        }
        let (x, out) = match x.rank() {
            0 => (x.unsqueeze(0), out.unsqueeze(0)),
            _ => (x, out),
        };
        let second = match mode {
            Ok(_) => None,
            Err(view) => {
                let mut dims = x.dims().to_vec();
                dims[x.rank() - 1] = 1;
                view.expand(&dims)
            }
        };
        cx.rows(Round(mode.ok()), &[Some(x), second], &[Some(out)])?;
    }
    Ok(())
}

fn by_scalar(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mode = cx.scalar("roundMode")?;
    match mode.dtype().is_integer() {
        true => plan(cx, Ok(mode.int())),
        false => Err(cx.refuse_type("roundMode", mode.dtype(), "int8 or int64")),
    }
}

fn by_tensor(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let mode = cx.tensor("roundMode")?;
    cx.check_types(&mode, &[DataType::Int8, DataType::Int32, DataType::Int64])?;
    if mode.elements() != 1 {
        return Err(cx.invalid(format_args!(
            "roundMode has the shape {:?}; it must have one element",
            mode.dims()
        )));
    }
    let mode = cx.cast(mode, DataType::Float32)?;
    let mode = cx.reshaped(mode, &[1])?;
    plan(cx, Err(mode))
}
