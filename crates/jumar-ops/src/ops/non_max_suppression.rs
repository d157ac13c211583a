//! Non-maximum suppression: selects boxes so that no two of a class overlap much.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, attrs_alike};
use crate::view::{Block, RowMut};
use crate::{
    Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, OutputDef, Tensor,
    TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "NonMaxSuppressionV6",
    onnx: &[OnnxForm::new(
        "NonMaxSuppression",
        10,
        LATEST,
        |builder, node| {
            let attrs =
                attrs_alike(node, "NonMaxSuppressionV6")?.with("index_dtype", DataType::Int64);
            Ok(vec![builder.node(
                "NonMaxSuppressionV6",
                node.inputs(),
                attrs,
            )?])
        },
    )],
    inputs: &[
        InputDef::required("boxes", Types::of(&[DataType::Float32, DataType::Float16])),
        InputDef::required("scores", Types::of(&[DataType::Float32, DataType::Float16])),
        InputDef::optional("max_output_size", Types::INDEX),
        InputDef::optional("iou_threshold", Types::of(&[DataType::Float32])),
        InputDef::optional("score_threshold", Types::of(&[DataType::Float32])),
    ],
    outputs: &[OutputDef {
        name: "selected_indices",
    }],
    attrs: &[
        AttrDef::int("center_point_box", 0),
        // Ours: ONNX's result is int64, the Graph Engine's int32.
        AttrDef::dtype("index_dtype", DataType::Int32),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer,
    prepare: |cx| {
        let shapes = Shapes::of(cx.infer())?
            .ok_or_else(|| OpError::unknown("the shapes have to be known"))?;
        generic_kernel(
            cx,
            Chosen {
                shapes,
                rows: cx.output_shape(0)?[0],
            },
            &[0, 1, 3, 4],
            &[],
        )
    },
}];

#[derive(Clone, Copy)]
struct Shapes {
    batch: usize,
    boxes: usize,
    classes: usize,
    centres: bool,
}

impl Shapes {
    fn of(cx: &InferCx<'_>) -> Result<Option<Shapes>, OpError> {
        let (boxes, scores) = (cx.input(0)?, cx.input(1)?);
        let centres = match cx.attrs().int("center_point_box")? {
            0 => false,
            1 => true,
            other => {
                return Err(OpError::invalid(format!(
                    "center_point_box is {other}; it must be 0 or 1"
                )));
            }
        };
        if boxes.rank().is_none() || scores.rank().is_none() {
            return Ok(None);
        }
        let differ = |a: i64, b: i64| a >= 0 && b >= 0 && a != b;
        match (&boxes.shape[..], &scores.shape[..]) {
            (&[batch, count, four], &[own_batch, classes, own_count])
                if !differ(batch, own_batch) && !differ(count, own_count) && !differ(four, 4) =>
            {
                let known = |one: i64, two: i64| usize::try_from(one.max(two)).ok();
                Ok((|| {
                    Some(Shapes {
                        batch: known(batch, own_batch)?,
                        boxes: known(count, own_count)?,
                        classes: known(classes, classes)?,
                        centres,
                    })
                })())
            }
            _ => Err(OpError::invalid(format!(
                "boxes of {boxes} and scores of {scores} do not fit each other"
            ))),
        }
    }
}

/// What bounds the choice: boxes a class, overlap, and score.
#[derive(Clone, Copy)]
struct Limits {
    most: usize,
    overlap: f32,
    score: Option<f32>,
}

impl Limits {
    fn new(most: Option<i64>, overlap: Option<f64>, score: Option<f64>) -> Result<Limits, OpError> {
        let overlap = overlap.unwrap_or(0.0) as f32;
        if !(0.0..=1.0).contains(&overlap) {
            return Err(OpError::data(format!(
                "iou_threshold is {overlap}; it must be between 0 and 1"
            )));
        }
        let most = usize::try_from(most.unwrap_or(0)).unwrap_or(0);
        Ok(Limits {
            most,
            overlap,
            score: score.map(|score| score as f32),
        })
    }
}

/// The corners of a box: top, left, bottom, right.
fn corners(numbers: [f32; 4], centres: bool) -> [f32; 4] {
    let [a, b, c, d] = numbers;
    if centres {
        // Centre x, centre y, width, height.
        [b - d / 2.0, a - c / 2.0, b + d / 2.0, a + c / 2.0]
    } else {
        // Any two opposite corners.
        [a.min(c), b.min(d), a.max(c), b.max(d)]
    }
}

fn overlap(one: [f32; 4], two: [f32; 4]) -> f32 {
    let side =
        |low: usize, high: usize| (one[high].min(two[high]) - one[low].max(two[low])).max(0.0);
    let area = |of: [f32; 4]| (of[2] - of[0]) * (of[3] - of[1]);
    let (shared, both) = (side(0, 2) * side(1, 3), area(one) + area(two));
    if area(one) <= 0.0 || area(two) <= 0.0 || both <= shared {
        0.0
    } else {
        shared / (both - shared)
    }
}

/// Chooses among the boxes of every image and class: always the best score that is left, which puts out all boxes that
/// overlap with it. `left` has a byte a box.
fn choose(
    shapes: Shapes,
    limits: Limits,
    coordinate: impl Fn(usize) -> f32,
    score: impl Fn(usize) -> f32,
    left: RowMut<'_, u8>,
    mut chosen: impl FnMut([usize; 3]) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let Shapes {
        batch,
        boxes,
        classes,
        centres,
    } = shapes;
    for image in 0..batch {
        let corners = |index: usize| {
            let at = (image * boxes + index) * 4;
            corners(std::array::from_fn(|part| coordinate(at + part)), centres)
        };
        for class in 0..classes {
            let score = |index: usize| score((image * classes + class) * boxes + index);
            for index in 0..boxes {
                left.set(
                    index,
                    u8::from(limits.score.is_none_or(|limit| score(index) > limit)),
                );
            }
            for _ in 0..limits.most {
                let better = |best: Option<usize>, index: usize| match best {
                    Some(best) if score(best) >= score(index) => Some(best),
                    _ => Some(index),
                };
                let Some(best) = (0..boxes)
                    .filter(|&index| left.get(index) == 1)
                    .fold(None, better)
                else {
                    break;
                };
                chosen([image, class, best])?;
                let own = corners(best);
                left.set(best, 0);
                for index in (0..boxes).filter(|&index| left.get(index) == 1) {
                    if overlap(own, corners(index)) > limits.overlap {
                        left.set(index, 0);
                    }
                }
            }
        }
    }
    Ok(())
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let dtype = cx.attrs().dtype("index_dtype")?;
    if !Types::INDEX.contains(dtype) {
        return Err(OpError::invalid(format!(
            "index_dtype is {dtype}; it must be int32 or int64"
        )));
    }
    let unknown = vec![TensorType::new(dtype, [UNKNOWN, 3])];
    let Some(shapes) = Shapes::of(cx)? else {
        return Ok(unknown);
    };
    // Without a number of boxes none is chosen.
    if !cx.has(2) {
        return Ok(vec![TensorType::new(dtype, [0, 3])]);
    }
    if (0..cx.len()).any(|index| cx.has(index) && cx.constant(index).is_none()) {
        return Ok(unknown);
    }
    let floats = |index: usize| cx.constant(index).and_then(Tensor::floats);
    let first = |index: usize| floats(index).and_then(|list| list.first().copied());
    let most = cx.ints(2)?.and_then(|list| list.first().copied());
    let limits = Limits::new(most, first(3), first(4))?;
    let (Some(boxes), Some(scores)) = (floats(0), floats(1)) else {
        return Ok(unknown);
    };
    let mut block = Block::zeroed(shapes.boxes);
    let region = block.region();
    let left = region
        .scratch::<u8>(shapes.boxes)
        .ok_or_else(|| OpError::internal("a block too small"))?;
    let mut count = 0i64;
    choose(
        shapes,
        limits,
        |at| boxes[at] as f32,
        |at| scores[at] as f32,
        left,
        |_| {
            count += 1;
            Ok(())
        },
    )?;
    Ok(vec![TensorType::new(dtype, [count, 3])])
}

struct Chosen {
    shapes: Shapes,
    rows: usize,
}

impl Algorithm for Chosen {
    fn scratch(&self) -> usize {
        self.shapes.boxes.div_ceil(4)
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (boxes, scores) = (io.input(0)?, io.input(1)?);
        let first = |index: usize| {
            Ok::<_, OpError>(
                io.optional(index)?
                    .filter(|row| !row.is_empty())
                    .map(|row| row.get(0).f64()),
            )
        };
        let most = if io.has(2) { Some(io.ints(2)?) } else { None };
        let most = most.filter(|most| most.len() > 0).map(|most| most.get(0));
        let limits = Limits::new(most, first(3)?, first(4)?)?;
        let left = io.bytes(self.shapes.boxes)?;
        let mut row = 0;
        let rows = self.rows;
        let mut write = |set: &dyn Fn(usize, usize), chosen: [usize; 3]| {
            if row >= rows {
                return Err(OpError::data(
                    "more boxes are chosen than were when the shapes were worked out",
                ));
            }
            chosen
                .iter()
                .enumerate()
                .for_each(|(at, &value)| set(row * 3 + at, value));
            row += 1;
            Ok(())
        };
        let (coordinate, score) = (
            |at: usize| boxes.get(at).f64() as f32,
            |at: usize| scores.get(at).f64() as f32,
        );
        if let Ok(out) = io.call.output::<i64>(0) {
            let out = out.flat();
            choose(self.shapes, limits, coordinate, score, left, |one| {
                write(&|at, value| out.set(at, value as i64), one)
            })
        } else {
            let out = io.call.output::<i32>(0)?.flat();
            choose(self.shapes, limits, coordinate, score, left, |one| {
                write(&|at, value| out.set(at, value as i32), one)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("non_max_suppression");
    }

    #[test]
    fn boxes_without_scores_are_refused() {
        refuse(
            "NonMaxSuppressionV6",
            &[noise(&[1, 3, 4], 1), noise(&[1, 2, 4], 2)],
            none(),
            "do not fit",
        );
    }
}
