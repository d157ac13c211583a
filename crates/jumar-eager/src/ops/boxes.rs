//! Overlaps of rectangles.

use jumar_types::dtype::DataType;

use super::Table;
use super::operands::FLOATS;
use crate::Refusal;
use crate::build::Cx;
use crate::rows::{RowFunction, Rows};
use crate::view::View;

pub(crate) static TABLE: &Table = &[("aclnnCIoU", complete), ("aclnnIou", overlap)];

/// The overlap of one rectangle with several, through the area of both or of the other one.
struct Overlap {
    through_other: bool,
    /// What lengths are larger than the difference of their ends: 1 where these are pixels, of which the last belongs to the rectangle.
    longer: f32,
    /// Whether rectangles without an area have an overlap of 0, and not of NaN.
    guarded: bool,
}

impl Overlap {
    /// The documents state the formula without `eps`, which keeps quotients defined. The default of the Graph Engine's type is 1, which
    /// programs pass for coordinates of pixels.
    fn new(cx: &Cx<'_>) -> Result<Overlap, Refusal> {
        let through_other = through_other(cx)?;
        let epsilon = cx.float("eps")?;
        if epsilon.is_nan() || epsilon < 0.0 {
            return Err(cx.invalid(format_args!("eps is {epsilon}; it must not be negative")));
        }
        Ok(Overlap {
            through_other,
            longer: match epsilon >= 1.0 {
                true => epsilon as f32,
                false => 0.0,
            },
            guarded: epsilon > 0.0,
        })
    }
}

impl RowFunction for Overlap {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (own, others, out) = (rows.input(0), rows.input(1), rows.output(0));
        let side = |from: f32, to: f32| to - from + self.longer;
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
            let overlap = match self.guarded && all == 0.0 {
                true => 0.0,
                false => shared / all,
            };
            out.set(index, overlap);
        }
    }
}

/// Reads whether overlaps are divided by the area of the other rectangle alone.
fn through_other(cx: &Cx<'_>) -> Result<bool, Refusal> {
    match cx.text("mode")? {
        "iou" => Ok(false),
        "iof" => Ok(true),
        mode => Err(cx.invalid(format_args!(
            "mode is {mode:?}; it must be \"iou\" or \"iof\""
        ))),
    }
}

/// The overlap of rectangles with those at the same position, less what centres and aspects differ in. The inputs are rows of the four
/// numbers of the rectangles, and of the others. The second output is the difference of the aspects as angles.
struct Complete {
    through_other: bool,
    /// Whether a rectangle is given by its centre and its size, and not by its corners.
    centred: bool,
}

/// A rectangle by its corners.
#[derive(Clone, Copy)]
struct Corners {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
}

impl Corners {
    #[inline(always)]
    fn read(rows: &Rows<'_>, first: usize, at: usize, centred: bool) -> Corners {
        let (one, two) = (rows.input(first).get(at), rows.input(first + 1).get(at));
        let (three, four) = (rows.input(first + 2).get(at), rows.input(first + 3).get(at));
        match centred {
            true => Corners {
                left: one - three / 2.0,
                top: two - four / 2.0,
                right: one + three / 2.0,
                bottom: two + four / 2.0,
            },
            false => Corners {
                left: one,
                top: two,
                right: three,
                bottom: four,
            },
        }
    }

    #[inline(always)]
    fn size(self) -> (f32, f32) {
        (self.right - self.left, self.bottom - self.top)
    }
}

impl RowFunction for Complete {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, angles) = (rows.output(0), rows.output(1));
        let square = |value: f32| value * value;
        for at in 0..out.len() {
            let one = Corners::read(rows, 0, at, self.centred);
            let two = Corners::read(rows, 4, at, self.centred);
            let ((width, height), (other_width, other_height)) = (one.size(), two.size());
            let shared = (one.right.min(two.right) - one.left.max(two.left)).max(0.0)
                * (one.bottom.min(two.bottom) - one.top.max(two.top)).max(0.0);
            let other = other_width * other_height;
            let all = match self.through_other {
                true => other,
                false => width * height + other - shared,
            };
            let overlap = shared / all;
            let between = square(one.left + one.right - two.left - two.right) / 4.0
                + square(one.top + one.bottom - two.top - two.bottom) / 4.0;
            let around = square(one.right.max(two.right) - one.left.min(two.left))
                + square(one.bottom.max(two.bottom) - one.top.min(two.top));
            let angle = (other_width / other_height).atan() - (width / height).atan();
            let aspect = square(2.0 * std::f32::consts::FRAC_1_PI * angle);
            // Rectangles that are equal but for their sizes have no difference, and the formula has no value for them.
            let share = match aspect == 0.0 {
                true => 0.0,
                false => aspect / (1.0 - overlap + aspect),
            };
            out.set(at, overlap - between / around - share * aspect);
            angles.set(at, angle);
        }
    }
}

fn complete(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (boxes, others) = (cx.tensor("bBoxes")?, cx.tensor("gtBoxes")?);
    let (out, angles) = (cx.out("overlap")?, cx.out("atanSub")?);
    cx.check_types(&boxes, &[DataType::Float32, DataType::Float16])?;
    for view in [&others, &out, &angles] {
        cx.check_dtype(view, boxes.dtype())?;
    }
    let (&[4, count], &[4, other]) = (boxes.dims(), others.dims()) else {
        return Err(cx.invalid(format_args!(
            "bBoxes has the shape {:?} and gtBoxes {:?}; expected 4 rows of numbers each",
            boxes.dims(),
            others.dims()
        )));
    };
    if count != other || count == 0 || !count.is_multiple_of(1024) {
        return Err(cx.invalid(format_args!(
            "bBoxes has {count} columns and gtBoxes {other}; both must have equally many, a multiple of 1024"
        )));
    }
    if cx.flag("isCross")? {
        return Err(cx.invalid("isCross is true; it must be false"));
    }
    for view in [&out, &angles] {
        cx.check_dims(view, &[1, count])?;
    }
    let function = Complete {
        through_other: through_other(cx)?,
        centred: cx.flag("trans")?,
    };
    let rows: Vec<Option<View>> = [boxes, others]
        .iter()
        .flat_map(|view| (0..4).map(|row| Some(view.slice(0, row, 1, 1))))
        .collect();
    cx.rows(function, &rows, &[Some(out), Some(angles)])
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
    let function = Overlap::new(cx)?;
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
