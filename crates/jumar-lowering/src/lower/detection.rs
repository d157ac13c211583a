//! Detectors: what they do with the boxes and the scores of a network, and the regions that they begin with.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::{Formula, scalar};
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("DecodeBbox", decoded),
    ("Proposal", proposals),
    ("SSDDetectionOutput", ssd),
];

type Answer<T> = Result<T, OpError>;

/// What bounds the choice among boxes.
pub(super) struct Limits {
    /// A box has a chance in a class if its score is above.
    pub score: f64,
    /// A box puts out all others of its class that overlap with it by more.
    pub overlap: f64,
    /// The most boxes of a class that have a chance.
    pub before: i64,
    /// The most boxes of an image that stay.
    pub after: i64,
}

/// The boxes that stay, by their classes and, in a class, by falling scores. Behind them are zeros.
pub(super) struct Found {
    /// The corners: `[batch, rows, 4]` of float32.
    pub boxes: ValueId,
    /// `[batch, rows]` of float32.
    pub scores: ValueId,
    /// `[batch, rows]` of float32.
    pub classes: ValueId,
    /// The number of boxes of an image: `[batch]` of int32.
    pub count: ValueId,
}

impl Found {
    /// Returns which of so many positions hold a box: `[batch, rows]`.
    pub fn held(&self, f: &Formula<'_>, rows: i64) -> Answer<ValueId> {
        let numbers: Vec<i64> = (0..rows).collect();
        let numbers = f.reshape(f.ints(&numbers), &[1, rows])?;
        f.less(numbers, f.cast(column(f, self.count)?, DataType::Int64)?)
    }

    /// Returns the numbers as operators write them: in the first of 8 columns.
    pub fn numbers(&self, f: &Formula<'_>) -> Answer<ValueId> {
        let count = column(f, self.count)?;
        let batch = f.dims(count)?[0];
        f.joined(&[count, zeros(f, &[batch, 7], count)?], 1)
    }
}

fn column(f: &Formula<'_>, value: ValueId) -> Answer<ValueId> {
    f.reshape(value, &[-1, 1])
}

/// Returns zeros of the type that `like` has.
pub(super) fn zeros(f: &Formula<'_>, dims: &[i64], like: ValueId) -> Answer<ValueId> {
    f.node("Fill", &[f.ints(dims), f.number(0.0, like)?], Attrs::new())
}

/// Gathers rows of each group: of `[groups, rows, width]` those that the index `[groups, n]` of int64 names.
fn gathered(f: &Formula<'_>, table: ValueId, index: ValueId) -> Answer<ValueId> {
    let dims = f.dims(table)?;
    let starts: Vec<i64> = (0..dims[0]).map(|group| group * dims[1]).collect();
    let starts = f.reshape(f.ints(&starts), &[dims[0], 1])?;
    let flat = f.reshape(table, &[dims[0] * dims[1], dims[2]])?;
    let inputs = [flat, f.add(index, starts)?, scalar(f, 0)?];
    f.node("GatherV2", &inputs, Attrs::new())
}

/// Returns the largest elements, or the smallest, along the last axis, and where they are in int64; of equal ones the first.
fn sorted(f: &Formula<'_>, x: ValueId, count: i64, largest: bool) -> Answer<[ValueId; 2]> {
    let attrs = Attrs::new()
        .with("largest", largest)
        .with("indices_dtype", DataType::Int64);
    let found = f.nodes("TopK", &[Some(x), Some(f.ints(&[count]))], attrs, 2)?;
    Ok([found[0], found[1]])
}

/// Chooses boxes by non-maximum suppression in each class. `boxes` are the corners `[batch, 1 or classes, boxes, 4]`, `scores` are
/// `[batch, classes, boxes]`, both float32.
pub(super) fn chosen(
    f: &Formula<'_>,
    boxes: ValueId,
    scores: ValueId,
    limits: &Limits,
) -> Answer<Found> {
    let &[batch, classes, count] = &f.dims(scores)?[..] else {
        return Err(invalid("scores have 3 dimensions"));
    };
    let own = f.dims(boxes)?[1];
    let (best, rows) = (limits.before.min(count), limits.after);
    let [scores, index] = sorted(f, scores, best, true)?;
    let boxes = f.reshape(boxes, &[batch * own, count, 4])?;
    let boxes = gathered(
        f,
        boxes,
        f.reshape(index, &[batch * own, classes / own * best])?,
    )?;
    let boxes = f.reshape(boxes, &[batch, classes, best, 4])?;
    let number = |value: f64| f.reshape(f.floats(&[value as f32]), &[]);
    let inputs = [
        Some(f.transpose(boxes, &[0, 2, 1, 3])?),
        Some(f.transpose(scores, &[0, 2, 1])?),
        Some(f.ints(&[best])),
        Some(f.ints(&[rows])),
        Some(number(limits.overlap)?),
        Some(number(limits.score)?),
    ];
    let attrs = Attrs::new()
        .with("pad_per_class", false)
        .with("clip_boxes", false)
        .with("ordered", true);
    let found = f.nodes("jumar.CombinedNonMaxSuppression", &inputs, attrs, 4)?;
    let mut found = Found {
        boxes: found[0],
        scores: found[1],
        classes: found[2],
        count: found[3],
    };
    if classes > 1 {
        // Where no box is, the class is past the last one.
        let past = f.number(classes as f64, found.classes)?;
        let keys = f.choose(found.held(f, rows)?, found.classes, past)?;
        let [_, order] = sorted(f, keys, rows, false)?;
        found.boxes = gathered(f, found.boxes, order)?;
        for one in [&mut found.scores, &mut found.classes] {
            let table = f.reshape(*one, &[batch, rows, 1])?;
            *one = f.reshape(gathered(f, table, order)?, &[batch, rows])?;
        }
    }
    Ok(found)
}

/// Refuses a number of an attribute that is not within bounds, both of which are allowed.
pub(super) fn within(op: &Op<'_>, name: &str, least: i64, most: i64) -> Answer<i64> {
    let value = op.int(name)?;
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    let range = match least == most {
        true => format!("{least}"),
        false => format!("from {least} to {most}"),
    };
    Err(invalid(format!(
        "its attribute {name} is {value}; it must be {range}"
    )))
}

/// As [`within`], from 0 to 1.
pub(super) fn share(op: &Op<'_>, name: &str) -> Answer<f64> {
    let value = op.float(name)?;
    if (0.0..=1.0).contains(&value) {
        return Ok(f64::from(value));
    }
    Err(invalid(format!(
        "its attribute {name} is {value}; it must be from 0 to 1"
    )))
}

/// Boxes from their distances to anchors, both by top, left, bottom and right.
fn decoded(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let (deltas, anchors) = (op.input("box_predictions")?, op.input("anchors")?);
    let (dims, own) = (cx.dims(deltas)?, cx.dims(anchors)?);
    if dims.last() != Some(&4) || own != dims {
        return Err(invalid(format!(
            "its inputs box_predictions and anchors have the shapes {dims:?} and {own:?}; one shape with 4 in the last axis is required"
        )));
    }
    let clip = op.float("decode_clip")?;
    if clip.is_nan() || clip < 0.0 {
        return Err(invalid(format!(
            "its attribute decode_clip is {clip}; it must not be negative"
        )));
    }
    let dtype = cx.ty(deltas).dtype;
    let f = Formula::new(cx);
    let last = dims.len() as i64 - 1;
    let [deltas, anchors] = [
        f.cast(deltas, DataType::Float32)?,
        f.cast(anchors, DataType::Float32)?,
    ];
    let part = |of: ValueId, at: i64| f.part(of, last, at, at + 1);
    let mut ends = [Vec::new(), Vec::new()];
    for axis in 0..2 {
        let low = part(anchors, axis)?;
        let size = f.sub(part(anchors, axis + 2)?, low)?;
        let mut ratio = part(deltas, axis + 2)?;
        if clip > 0.0 {
            ratio = f.min(ratio, f.number(f64::from(clip), ratio)?)?;
        }
        let half = f.times(f.mul(f.of("Exp", ratio)?, size)?, 0.5)?;
        let centre = f.add(low, f.times(size, 0.5)?)?;
        let centre = f.add(centre, f.mul(part(deltas, axis)?, size)?)?;
        ends[0].push(f.sub(centre, half)?);
        ends[1].push(f.add(centre, half)?);
    }
    Ok(vec![f.cast(f.joined(&ends.concat(), last)?, dtype)?])
}

/// Returns the anchors of Faster R-CNN around the first pixel: left, top, right, bottom of each. They hold their last pixel, and their
/// sizes are integers before they are scaled.
fn anchors(base: f32, ratios: &[f32], scales: &[f32]) -> Vec<[f64; 4]> {
    let base = f64::from(base);
    let middle = (base - 1.0) / 2.0;
    let mut all = Vec::new();
    for &ratio in ratios {
        let width = (base * base / f64::from(ratio)).sqrt().round_ties_even();
        let height = (width * f64::from(ratio)).round_ties_even();
        for &scale in scales {
            let half = |size: f64| (size * f64::from(scale) - 1.0) / 2.0;
            let (across, down) = (half(width), half(height));
            all.push([
                middle - across,
                middle - down,
                middle + across,
                middle + down,
            ]);
        }
    }
    all
}

/// Returns the sizes and the centres of the anchors around all pixels, by axis: `[1, pixels, anchors]` of float32.
fn spread(
    f: &Formula<'_>,
    own: &[[f64; 4]],
    [tall, wide]: [i64; 2],
    stride: f32,
) -> Answer<[[ValueId; 2]; 2]> {
    let dims = [1, tall * wide, own.len() as i64];
    let along = |axis: usize| {
        let (mut sizes, mut centres) = (Vec::new(), Vec::new());
        for pixel in 0..tall * wide {
            let shift = [pixel % wide, pixel / wide][axis] as f64 * f64::from(stride);
            for one in own {
                let size = one[axis + 2] - one[axis] + 1.0;
                sizes.push(size as f32);
                centres.push((one[axis] + shift + 0.5 * size) as f32);
            }
        }
        let value = |numbers: &[f32]| f.reshape(f.floats(numbers), &dims);
        Ok::<_, OpError>([value(&sizes)?, value(&centres)?])
    };
    Ok([along(0)?, along(1)?])
}

/// The regions that Faster R-CNN proposes: the boxes with the best scores of those that are large enough, without those that overlap
/// with a better one.
fn proposals(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    let (probabilities, deltas) = (op.input("cls_prob")?, op.input("bbox_delta")?);
    let info = op.input("im_info")?;
    let positive = |name: &str| match op.float(name)? {
        value if value > 0.0 => Ok(value),
        value => Err(invalid(format!(
            "its attribute {name} is {value}; it must be positive"
        ))),
    };
    let (stride, base) = (positive("feat_stride")?, positive("base_size")?);
    let (least, overlap) = (positive("min_size")?, share(op, "iou_threshold")?);
    let (ratios, scales) = (op.floats("ratio")?, op.floats("scale")?);
    if ratios.is_empty() || scales.is_empty() || !ratios.iter().chain(scales).all(|&x| x > 0.0) {
        return Err(invalid(format!(
            "its attributes ratio and scale are {ratios:?} and {scales:?}; positive numbers are required"
        )));
    }
    let before = within(op, "pre_nms_topn", 1, 1 << 30)?;
    let after = within(op, "post_nms_topn", 1, 1 << 16)?;
    let own = anchors(base, ratios, scales);
    let (count, dims) = (own.len() as i64, cx.dims(probabilities)?);
    let fits = dims.len() == 4 && dims[1] == 2 * count;
    if !fits || cx.dims(deltas)? != [dims[0], 4 * count, dims[2], dims[3]] {
        return Err(invalid(format!(
            "its inputs cls_prob and bbox_delta have the shapes {dims:?} and {:?}; with {count} anchors [batch, {}, h, w] and [batch, {}, h, w] are required",
            cx.dims(deltas)?,
            2 * count,
            4 * count
        )));
    }
    let (batch, tall, wide) = (dims[0], dims[2], dims[3]);
    let sizes = cx.dims(info)?;
    let numbers = sizes.last().copied().unwrap_or(0);
    if numbers < 2 || sizes.iter().product::<i64>() != batch * numbers {
        return Err(invalid(format!(
            "its input im_info has the shape {sizes:?}; the height and the width of {batch} images, [{batch}, 2] or more, are required"
        )));
    }
    let dtype = cx.ty(deltas).dtype;
    let f = Formula::new(cx);
    let total = tall * wide * count;
    // The probabilities of objects are behind those of the background. A box is found by pixel, then by anchor.
    let scores = f.part(
        f.cast(probabilities, DataType::Float32)?,
        1,
        count,
        2 * count,
    )?;
    let scores = f.reshape(f.transpose(scores, &[0, 2, 3, 1])?, &[batch, 1, total])?;
    let deltas = f.reshape(
        f.cast(deltas, DataType::Float32)?,
        &[batch, count, 4, tall * wide],
    )?;
    let deltas = f.transpose(deltas, &[0, 3, 1, 2])?;
    let delta = |at: i64| {
        let part = f.part(deltas, 3, at, at + 1)?;
        f.reshape(part, &[batch, tall * wide, count])
    };
    let info = f.reshape(f.cast(info, DataType::Float32)?, &[batch, numbers])?;
    let mut ends = [Vec::new(), Vec::new()];
    let mut large = Vec::new();
    for (axis, [size, centre]) in spread(&f, &own, [tall, wide], stride)?
        .into_iter()
        .enumerate()
    {
        let at = axis as i64;
        let centre = f.add(f.mul(delta(at)?, size)?, centre)?;
        let half = f.times(f.mul(f.of("Exp", delta(at + 2)?)?, size)?, 0.5)?;
        // The width of the image is behind its height.
        let image = f.reshape(f.part(info, 1, 1 - at, 2 - at)?, &[batch, 1, 1])?;
        let last = f.plus(image, -1.0)?;
        let clipped = |value: ValueId| f.min(f.max(value, f.number(0.0, value)?)?, last);
        let [low, high] = [
            clipped(f.sub(centre, half)?)?,
            clipped(f.add(centre, half)?)?,
        ];
        let length = f.plus(f.sub(high, low)?, 1.0)?;
        large.push(f.less(length, f.number(f64::from(least), length)?)?);
        // One past the last pixel, as overlaps are counted in pixels.
        ends[0].push(low);
        ends[1].push(f.plus(high, 1.0)?);
    }
    let mut boxes = Vec::with_capacity(4);
    for end in ends.concat() {
        boxes.push(f.reshape(end, &[batch, 1, total, 1])?);
    }
    let none = f.number(f64::NEG_INFINITY, scores)?;
    let mut kept = scores;
    for small in large {
        kept = f.choose(f.reshape(small, &[batch, 1, total])?, none, kept)?;
    }
    let limits = Limits {
        score: f64::from(f32::MIN),
        overlap,
        before,
        after,
    };
    let found = chosen(&f, f.joined(&boxes, 3)?, kept, &limits)?;
    let ids: Vec<i64> = (0..batch).collect();
    let ids = f.cast(f.reshape(f.ints(&ids), &[batch, 1, 1])?, DataType::Float32)?;
    let held = f.reshape(found.held(&f, after)?, &[batch, 1, after])?;
    let corners = f.transpose(found.boxes, &[0, 2, 1])?;
    let last = f.plus(f.part(corners, 1, 2, 4)?, -1.0)?;
    let parts = [
        f.only(held, ids)?,
        f.part(corners, 1, 0, 2)?,
        f.only(held, last)?,
    ];
    let mut rois = f.joined(&parts, 1)?;
    let columns = (after + 15) / 16 * 16;
    if columns > after {
        rois = f.joined(&[rois, zeros(&f, &[batch, 5, columns - after], rois)?], 2)?;
    }
    Ok(vec![f.cast(rois, dtype)?, found.numbers(&f)?])
}

/// The shapes of SSD's inputs.
struct Sizes {
    batch: i64,
    /// Prior boxes.
    count: i64,
    classes: i64,
    /// Predictions at a prior box: one for all classes, or one for each.
    own: i64,
}

impl Sizes {
    fn of(cx: &Cx, op: &Op<'_>) -> Answer<Sizes> {
        let classes = within(op, "num_classes", 1, 1024)?;
        let own = if op.yes("share_location")? {
            1
        } else {
            classes
        };
        let least = if op.yes("variance_encoded_in_target")? {
            1
        } else {
            2
        };
        let deltas = cx.dims(op.input("bbox_delta")?)?;
        let (scores, anchors) = (cx.dims(op.input("score")?)?, cx.dims(op.input("anchors")?)?);
        let rows = |dims: &[i64]| (dims.first().copied(), dims.iter().skip(1).product::<i64>());
        let (Some(batch), numbers) = rows(&scores) else {
            return Err(invalid(
                "its input score has no dimensions; [batch, boxes * num_classes] is required",
            ));
        };
        let count = numbers / classes;
        let fits = scores.len() >= 2
            && numbers == count * classes
            && rows(&deltas) == (Some(batch), count * own * 4)
            && anchors.len() == 3
            && [1, batch].contains(&anchors[0])
            && (least..=2).contains(&anchors[1])
            && anchors[2] == count * 4;
        if !fits {
            return Err(invalid(format!(
                "its inputs bbox_delta, score and anchors have the shapes {deltas:?}, {scores:?} and {anchors:?}; with {classes} classes [batch, boxes * {}], [batch, boxes * {classes}] and [batch or 1, 2, boxes * 4] are required",
                own * 4
            )));
        }
        Ok(Sizes {
            batch,
            count,
            classes,
            own,
        })
    }
}

/// Returns the corners of SSD's boxes, `[batch, 1 or classes, boxes, 4]`, from their distances to the prior boxes.
fn corners(f: &Formula<'_>, op: &Op<'_>, sizes: &Sizes) -> Answer<ValueId> {
    let &Sizes {
        batch, count, own, ..
    } = sizes;
    let read = |name: &str| f.cast(op.input(name)?, DataType::Float32);
    let mut deltas = f.reshape(read("bbox_delta")?, &[batch, count, own, 4])?;
    let anchors = read("anchors")?;
    let priors = |row: i64| {
        let part = f.part(anchors, 1, row, row + 1)?;
        f.reshape(part, &[-1, count, 1, 4])
    };
    let prior = priors(0)?;
    if !op.yes("variance_encoded_in_target")? {
        deltas = f.mul(deltas, priors(1)?)?;
    }
    let half = |of: ValueId, second: bool| {
        let from = if second { 2 } else { 0 };
        f.part(of, 3, from, from + 2)
    };
    let size = f.sub(half(prior, true)?, half(prior, false)?)?;
    let boxes = match within(op, "code_type", 1, 3)? {
        1 => f.add(prior, deltas)?,
        2 => {
            let centre = f.times(f.add(half(prior, false)?, half(prior, true)?)?, 0.5)?;
            let centre = f.add(f.mul(half(deltas, false)?, size)?, centre)?;
            let reach = f.times(f.mul(f.of("Exp", half(deltas, true)?)?, size)?, 0.5)?;
            f.joined(&[f.sub(centre, reach)?, f.add(centre, reach)?], 3)?
        }
        _ => f.add(prior, f.mul(deltas, f.joined(&[size, size], 3)?)?)?,
    };
    f.transpose(boxes, &[0, 2, 1, 3])
}

/// The detections of SSD: in each class but the background's the best boxes that do not overlap, and of all classes the best.
fn ssd(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    op.only_default("eta")?;
    let sizes = Sizes::of(cx, op)?;
    let &Sizes {
        batch,
        count,
        classes,
        ..
    } = &sizes;
    let background = within(op, "background_label_id", -1, classes - 1)?;
    if background >= 0 && classes < 2 {
        return Err(invalid(format!(
            "its attribute num_classes is {classes}; 2 or more are required where background_label_id is {background}"
        )));
    }
    let (overlap, score) = (
        share(op, "iou_threshold")?,
        share(op, "confidence_threshold")?,
    );
    let before = within(op, "top_k", 1, 1024)?;
    let objects = classes - i64::from(background >= 0);
    let after = match within(op, "keep_top_k", -1, 1024)? {
        0 => {
            return Err(invalid(
                "its attribute keep_top_k is 0; it must be -1 or from 1 to 1024",
            ));
        }
        -1 => objects * before.min(count),
        after => after,
    };
    if after > 1 << 20 {
        return Err(unsupported(format!(
            "with keep_top_k -1 up to {after} boxes stay, which are too many; set keep_top_k"
        )));
    }
    let dtype = cx.ty(op.input("bbox_delta")?).dtype;
    let f = Formula::new(cx);
    let boxes = corners(&f, op, &sizes)?;
    let scores = f.cast(op.input("score")?, DataType::Float32)?;
    let scores = f.reshape(scores, &[batch, count, classes])?;
    let mut scores = f.transpose(scores, &[0, 2, 1])?;
    if background >= 0 {
        // No score is above infinity below zero.
        let is_object = (0..classes).map(|class| i64::from(class != background));
        let is_object: Vec<i64> = is_object.collect();
        let is_object = f.reshape(f.ints(&is_object), &[1, classes, 1])?;
        let none = f.number(f64::NEG_INFINITY, scores)?;
        scores = f.choose(f.above(is_object, 0.0)?, scores, none)?;
    }
    let limits = Limits {
        score,
        overlap,
        before,
        after,
    };
    let found = chosen(&f, boxes, scores, &limits)?;
    let ids: Vec<i64> = (0..batch).collect();
    let ids = f.cast(f.reshape(f.ints(&ids), &[batch, 1])?, DataType::Float32)?;
    let ids = f.only(found.held(&f, after)?, ids)?;
    let single = |value: ValueId| f.reshape(value, &[batch, after, 1]);
    let mut parts = Vec::new();
    for value in [ids, found.classes, found.scores] {
        parts.push(single(value)?);
    }
    parts.push(found.boxes);
    parts.push(zeros(&f, &[batch, after, 1], found.boxes)?);
    let mut y = f.joined(&parts, 2)?;
    let rows = (after + 127) / 128 * 128;
    if rows > after {
        y = f.joined(&[y, zeros(&f, &[batch, rows - after, 8], y)?], 1)?;
    }
    Ok(vec![found.numbers(&f)?, f.cast(y, dtype)?])
}
