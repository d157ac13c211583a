//! Overlaps of rectangles.

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};

pub(crate) static TABLE: &Table = &[("aclnnIou", overlap)];

/// The overlap of one rectangle with several, through the area of both or of the other one. Lengths are `epsilon` larger.
struct Overlap {
    through_other: bool,
    epsilon: f32,
}

impl RowFunction for Overlap {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (own, others, out) = (rows.input(0), rows.input(1), rows.output(0));
        let side = |from: f32, to: f32| to - from + self.epsilon;
        let [left, top, right, bottom] = [0, 1, 2, 3].map(|at| own.get(at));
        let area = side(left, right) * side(top, bottom);
        for index in 0..out.len() {
            let other = [0, 1, 2, 3].map(|at| others.get(index * 4 + at));
            let width = side(left.max(other[0]), right.min(other[2])).max(0.0);
            let height = side(top.max(other[1]), bottom.min(other[3])).max(0.0);
            let (shared, second) = (
                width * height,
                side(other[0], other[2]) * side(other[1], other[3]),
            );
            let all = match self.through_other {
                true => second,
                false => area + second - shared,
            };
            out.set(index, shared / all);
        }
    }
}

fn overlap(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (boxes, others, out) = (
        cx.tensor("bBoxes")?,
        cx.tensor("gtBoxes")?,
        cx.out("overlap")?,
    );
    cx.check_types(&boxes, FLOATS)?;
    let (&[count, 4], &[other, 4]) = (boxes.dims(), others.dims()) else {
        return Err(cx.invalid(format_args!(
            "bBoxes has the shape {:?} and gtBoxes {:?}; expected rows of 4 numbers each",
            boxes.dims(),
            others.dims()
        )));
    };
    for view in [&others, &out] {
        cx.check_dtype(view, boxes.dtype())?;
    }
    let through_other = match cx.text("mode")? {
        "iou" => false,
        "iof" => true,
        mode => {
            return Err(cx.invalid(format_args!(
                "mode is {mode:?}; it must be \"iou\" or \"iof\""
            )));
        }
    };
    let epsilon = cx.float("eps")?;
    if epsilon.is_nan() || epsilon < 0.0 {
        return Err(cx.invalid(format_args!("eps is {epsilon}; it must not be negative")));
    }
    let function = Overlap {
        through_other,
        epsilon: epsilon as f32,
    };
    if cx.flag("aligned")? {
        if count != other {
            return Err(cx.invalid(format_args!(
                "bBoxes has {count} rows and gtBoxes {other}; aligned rectangles are equally many"
            )));
        }
        cx.check_dims(&out, &[count, 1])?;
        return cx.rows(function, &[Some(boxes), Some(others)], &[Some(out)]);
    }
    cx.check_dims(&out, &[count, other])?;
    if out.is_empty() {
        return Ok(());
    }
    let others = cx.reshaped(others, &[1, other * 4])?;
    let others = others.expand(&[count, other * 4]);
    cx.rows(function, &[Some(boxes), others], &[Some(out)])
}
