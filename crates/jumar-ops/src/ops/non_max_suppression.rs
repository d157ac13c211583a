//! Non-maximum suppression: selects boxes so that no two of a class overlap much.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, attrs_alike};
use crate::view::{Block, RowMut};
use crate::{
    Aliasing, AttrDef, InferCx, InputDef, OnnxForm, OpError, Operator, OutputDef, Tensor,
    TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &COMBINED,
    &Operator {
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
    },
];

/// As TensorFlow has it: the chosen boxes of all classes by their scores, in a table of a fixed length.
static COMBINED: Operator = Operator {
    name: "jumar.CombinedNonMaxSuppression",
    onnx: &[],
    inputs: &[
        InputDef::required("boxes", Types::of(&[DataType::Float32, DataType::Float16])),
        InputDef::required("scores", Types::of(&[DataType::Float32, DataType::Float16])),
        InputDef::constant("max_output_size_per_class", Types::INDEX),
        InputDef::constant("max_total_size", Types::INDEX),
        InputDef::required("iou_threshold", Types::of(&[DataType::Float32])),
        InputDef::required("score_threshold", Types::of(&[DataType::Float32])),
    ],
    outputs: &[
        OutputDef {
            name: "nmsed_boxes",
        },
        OutputDef {
            name: "nmsed_scores",
        },
        OutputDef {
            name: "nmsed_classes",
        },
        OutputDef {
            name: "valid_detections",
        },
    ],
    attrs: &[
        AttrDef::bool("pad_per_class", false),
        AttrDef::bool("clip_boxes", true),
        // Ours: whether a box whose second corner is before its first one is empty. Otherwise the corners may be any two.
        AttrDef::bool("ordered", false),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let (boxes, scores) = (cx.input(0)?, cx.input(1)?);
        cx.same_types([0, 1])?;
        let size = |index: usize, name: &str| match cx.ints(index)?.as_deref() {
            None => Ok(None),
            Some(&[count]) if (0..1 << 31).contains(&count) => Ok(Some(count)),
            Some(other) => Err(OpError::invalid(format!(
                "{name} is {other:?}; one number that is not negative is required"
            ))),
        };
        let (each, most) = (
            size(2, "max_output_size_per_class")?,
            size(3, "max_total_size")?,
        );
        let fits = |a: i64, b: i64| a < 0 || b < 0 || a == b;
        let (batch, classes) = match (&boxes.shape[..], &scores.shape[..]) {
            _ if boxes.rank().is_none() || scores.rank().is_none() => (UNKNOWN, UNKNOWN),
            (&[batch, count, own, four], &[images, boxes, classes])
                if fits(batch, images)
                    && fits(count, boxes)
                    && fits(four, 4)
                    && (own == 1 || fits(own, classes)) =>
            {
                (batch.max(images), classes)
            }
            _ => {
                return Err(OpError::invalid(format!(
                    "boxes of {boxes} and scores of {scores} do not fit each other; [batch, boxes, 1 or classes, 4] and [batch, boxes, classes] are required"
                )));
            }
        };
        let rows = match (most, each) {
            (Some(most), Some(each)) if cx.attrs().bool("pad_per_class")? => match classes {
                ..0 => UNKNOWN,
                classes => most.min(each.saturating_mul(classes)),
            },
            (Some(most), _) => most,
            (None, _) => UNKNOWN,
        };
        let table = |dims: &[i64]| TensorType::new(boxes.dtype, dims);
        Ok(vec![
            table(&[batch, rows, 4]),
            table(&[batch, rows]),
            table(&[batch, rows]),
            TensorType::new(DataType::Int32, [batch]),
        ])
    },
    prepare: |cx| {
        let (boxes, scores) = (cx.shape(0)?, cx.shape(1)?);
        let combined = CombinedSuppression {
            shapes: Shapes {
                batch: scores[0],
                boxes: scores[1],
                classes: scores[2],
                corners: match cx.attrs().bool("ordered")? {
                    true => Corners::Ordered,
                    false => Corners::Any,
                },
            },
            own: boxes[2],
            each: cx.infer().ints(2)?.and_then(|list| list.first().copied()),
            rows: cx.output_shape(1)?[1],
            clip: cx.attrs().bool("clip_boxes")?,
        };
        generic_kernel(cx, combined, &[0, 1, 4, 5], &[0, 1, 2])
    },
};

struct CombinedSuppression {
    shapes: Shapes,
    /// Boxes at one position: one for all classes, or one for each.
    own: usize,
    /// The most boxes of a class.
    each: Option<i64>,
    rows: usize,
    clip: bool,
}

impl Algorithm for CombinedSuppression {
    fn scratch(&self) -> usize {
        self.shapes.boxes.div_ceil(4)
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (boxes, scores) = (io.input(0)?, io.input(1)?);
        let first = |index: usize| {
            let row = io.input(index)?;
            Ok::<_, OpError>((!row.is_empty()).then(|| row.get(0).f64()))
        };
        let limits = Limits::new(self.each, first(4)?, first(5)?)?;
        let Shapes {
            batch,
            boxes: count,
            classes,
            ..
        } = self.shapes;
        let (table, best, kinds) = (io.output(0)?, io.output(1)?, io.output(2)?);
        let valid = io.call.output::<i32>(3)?.flat();
        for row in [table, best, kinds] {
            row.fill(W::zero());
        }
        (0..batch).for_each(|image| valid.set(image, 0));
        let corner = |image: usize, class: usize, index: usize, part: usize| {
            let class = if self.own == 1 { 0 } else { class };
            boxes.get(((image * count + index) * self.own + class) * 4 + part)
        };
        let score = |image: usize, class: usize, index: usize| {
            scores.get((image * count + index) * classes + class)
        };
        choose(
            self.shapes,
            limits,
            |class, at| corner(at / (4 * count), class, at / 4 % count, at % 4).f64() as f32,
            |at| score(at / (count * classes), at / count % classes, at % count).f64() as f32,
            io.bytes(count)?,
            |[image, class, index]| {
                let own = score(image, class, index);
                let (start, held) = (image * self.rows, valid.get(image) as usize);
                let at = (0..held)
                    .find(|&at| best.get(start + at) < own)
                    .unwrap_or(held);
                if at == self.rows {
                    return Ok(());
                }
                let held = (held + 1).min(self.rows);
                valid.set(image, held as i32);
                for to in (at + 1..held).rev() {
                    best.set(start + to, best.get(start + to - 1));
                    kinds.set(start + to, kinds.get(start + to - 1));
                    for part in 0..4 {
                        table.set(
                            (start + to) * 4 + part,
                            table.get((start + to - 1) * 4 + part),
                        );
                    }
                }
                best.set(start + at, own);
                kinds.set(start + at, W::of(class as f64));
                for part in 0..4 {
                    let mut value = corner(image, class, index, part);
                    if self.clip {
                        value = value.most(W::zero()).least(W::one());
                    }
                    table.set((start + at) * 4 + part, value);
                }
                Ok(())
            },
        )
    }
}

#[derive(Clone, Copy)]
struct Shapes {
    batch: usize,
    boxes: usize,
    classes: usize,
    corners: Corners,
}

/// What the four numbers of a box are.
#[derive(Clone, Copy)]
enum Corners {
    /// Two opposite corners.
    Any,
    /// The corner with the small coordinates and the one with the large ones.
    Ordered,
    /// Centre x, centre y, width, height.
    Centre,
}

impl Shapes {
    fn of(cx: &InferCx<'_>) -> Result<Option<Shapes>, OpError> {
        let (boxes, scores) = (cx.input(0)?, cx.input(1)?);
        let corners = match cx.attrs().int("center_point_box")? {
            0 => Corners::Any,
            1 => Corners::Centre,
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
                        corners,
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
fn corners(numbers: [f32; 4], are: Corners) -> [f32; 4] {
    let [a, b, c, d] = numbers;
    match are {
        Corners::Any => [a.min(c), b.min(d), a.max(c), b.max(d)],
        Corners::Ordered => numbers,
        Corners::Centre => [b - d / 2.0, a - c / 2.0, b + d / 2.0, a + c / 2.0],
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
/// overlap with it. `left` has a byte a box. Coordinates are those of a class.
fn choose(
    shapes: Shapes,
    limits: Limits,
    coordinate: impl Fn(usize, usize) -> f32,
    score: impl Fn(usize) -> f32,
    left: RowMut<'_, u8>,
    mut chosen: impl FnMut([usize; 3]) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let Shapes {
        batch,
        boxes,
        classes,
        corners: are,
    } = shapes;
    for image in 0..batch {
        for class in 0..classes {
            let corners = |index: usize| {
                let at = (image * boxes + index) * 4;
                corners(
                    std::array::from_fn(|part| coordinate(class, at + part)),
                    are,
                )
            };
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
        |_, at| boxes[at] as f32,
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
            |_: usize, at: usize| boxes.get(at).f64() as f32,
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
