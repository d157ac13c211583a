//! YOLO: the layer that turns a network's output into probabilities, and the detections of three such layers.

use jumar_ops::{Attrs, Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::detection::{Found, Limits, chosen, share, within, zeros};
use super::formula::Formula;
use super::op::Op;
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("Yolo", layer),
    ("YoloV3DetectionOutputV2", detections),
    ("YoloV5DetectionOutput", detections),
];

type Answer<T> = Result<T, OpError>;

/// Returns the length of a row of so many numbers as the operators lay it out.
fn padded(count: i64) -> i64 {
    (2 * count + 32 + 31) / 32 * 32 / 2
}

/// Puts zeros behind the last axis.
fn lengthened(f: &Formula<'_>, value: ValueId) -> Answer<ValueId> {
    let mut dims = f.dims(value)?;
    let axis = dims.len() - 1;
    dims[axis] = padded(dims[axis]) - dims[axis];
    f.joined(&[value, zeros(f, &dims, value)?], axis as i64)
}

/// How many boxes a pixel has, and how many classes there are.
fn counts(op: &Op<'_>, most: i64) -> Answer<[i64; 2]> {
    within(op, "coords", 4, 4)?;
    Ok([
        within(op, "boxes", 1, 1 << 16)?,
        within(op, "classes", 1, most)?,
    ])
}

/// The channels of all boxes stand together: those of x, y, w, h, of the object, and of each class. The outputs have x, y, h, w.
fn layer(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    op.only_default("softmaxtree")?;
    let [boxes, classes] = counts(op, 1024)?;
    let version = op.text("yolo_version")?;
    if !["V2", "V3"].contains(&version) {
        return Err(invalid(format!(
            "its attribute yolo_version is {version:?}; \"V2\" or \"V3\" is required"
        )));
    }
    let second = version == "V2";
    let softmax = second && op.yes("softmax")?;
    let background = second && op.yes("background")?;
    let x = op.input("x")?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x)?);
    let &[batch, channels, height, width] = &dims[..] else {
        return Err(invalid(format!(
            "its input x has the shape {dims:?}; [n, c, h, w] is required"
        )));
    };
    if channels != boxes * (5 + classes) || height * width == 0 {
        return Err(invalid(format!(
            "its input x has the shape {dims:?}; [n, {}, h, w] without an empty axis is required for {boxes} boxes and {classes} classes",
            boxes * (5 + classes)
        )));
    }
    let pixels = height * width;
    let f = Formula::new(cx);
    let wide = f.reshape(f.cast(x, DataType::Float32)?, &[batch, channels, pixels])?;
    let part = |from: i64, to: i64| f.part(wide, 1, from * boxes, to * boxes);
    let coords = [f.of("Sigmoid", part(0, 2)?)?, part(3, 4)?, part(2, 3)?];
    let coords = f.joined(&coords, 1)?;
    let (object, kinds) = (part(4, 5)?, part(5, 5 + classes)?);
    let object = f.reshape(object, &[batch, 1, boxes * pixels])?;
    let kinds = f.reshape(kinds, &[batch, classes, boxes * pixels])?;
    let normal =
        |value: ValueId| f.node("SoftmaxV2", &[value], Attrs::new().with("axes", vec![1i64]));
    let (object, kinds) = match (background, softmax) {
        (true, true) => {
            let both = normal(f.joined(&[object, kinds], 1)?)?;
            (f.part(both, 1, 0, 1)?, f.part(both, 1, 1, 1 + classes)?)
        }
        (true, false) => (object, f.of("Sigmoid", kinds)?),
        (false, true) => (f.of("Sigmoid", object)?, normal(kinds)?),
        (false, false) => (f.of("Sigmoid", object)?, f.of("Sigmoid", kinds)?),
    };
    let object = f.reshape(object, &[batch, boxes * pixels])?;
    let mut outputs = Vec::with_capacity(3);
    for value in [coords, object, kinds] {
        outputs.push(f.cast(lengthened(&f, value)?, dtype)?);
    }
    cx.grids.insert(outputs[0], [height, width]);
    Ok(outputs)
}

/// The images: the size that the network takes and the real one, heights first, each `[batch, 1, 1]`.
struct Images {
    net: [ValueId; 2],
    real: [ValueId; 2],
    /// The size of the real image inside of the network's, with borders around it.
    inner: [ValueId; 2],
}

impl Images {
    fn of(f: &Formula<'_>, info: ValueId, batch: i64, stretched: bool) -> Answer<Images> {
        let dims = f.dims(info)?;
        if dims.last() != Some(&4) || dims.iter().product::<i64>() != batch * 4 {
            return Err(invalid(format!(
                "its last input, the sizes of the images, has the shape {dims:?}; [{batch}, 4] is required"
            )));
        }
        let info = f.reshape(f.cast(info, DataType::Float32)?, &[batch, 4])?;
        let number = |at: i64| f.reshape(f.part(info, 1, at, at + 1)?, &[batch, 1, 1]);
        let net = [number(0)?, number(1)?];
        let real = [number(2)?, number(3)?];
        if stretched {
            return Ok(Images {
                net,
                real,
                inner: net,
            });
        }
        let scales = [f.div(net[0], real[0])?, f.div(net[1], real[1])?];
        // The axis that is scaled less fills the network's image; the other one has borders.
        let across = f.less(scales[1], scales[0])?;
        let scaled = |axis: usize| {
            let size = f.div(f.mul(real[axis], net[1 - axis])?, real[1 - axis])?;
            f.of("Floor", size)
        };
        let inner = [
            f.choose(across, scaled(0)?, net[0])?,
            f.choose(across, net[1], scaled(1)?)?,
        ];
        Ok(Images { net, real, inner })
    }
}

/// What a layer finds: corners `[batch, 1, n, 4]` in pixels of the real image, and scores `[batch, classes, n]`.
struct Layer<'a> {
    images: &'a Images,
    boxes: i64,
    biases: &'a [f32],
    /// What a logistic function is stretched by, for YOLO v5.
    alpha: Option<f64>,
}

impl Layer<'_> {
    fn corners(&self, f: &Formula<'_>, coords: ValueId, grid: [i64; 2]) -> Answer<ValueId> {
        let batch = f.dims(coords)?[0];
        let ([height, width], pixels) = (grid, grid[0] * grid[1]);
        let coords = f.cast(f.part(coords, 2, 0, pixels)?, DataType::Float32)?;
        let part = |at: i64| f.part(coords, 1, at * self.boxes, (at + 1) * self.boxes);
        let images = self.images;
        let along = |axis: usize| {
            // x and y, h and w; images have their heights first.
            let (position, size) = (part(axis as i64)?, part(3 - axis as i64)?);
            let (cells, image) = ([width, height][axis], 1 - axis);
            let numbers: Vec<i64> = (0..pixels)
                .map(|pixel| [pixel % width, pixel / width][axis])
                .collect();
            let numbers = f.reshape(f.ints(&numbers), &[1, 1, pixels])?;
            let numbers = f.cast(numbers, DataType::Float32)?;
            let own: Vec<f32> = self.biases.iter().skip(axis).step_by(2).copied().collect();
            let own = f.reshape(f.floats(&own), &[1, self.boxes, 1])?;
            let (position, ratio) = match self.alpha {
                None => (position, f.of("Exp", size)?),
                Some(alpha) => (
                    f.plus(f.times(position, alpha)?, (1.0 - alpha) / 2.0)?,
                    f.square(f.times(f.of("Sigmoid", size)?, alpha)?)?,
                ),
            };
            let (net, inner) = (images.net[image], images.inner[image]);
            // In pixels of the network, then without the border.
            let centre = f.times(f.add(position, numbers)?, 1.0 / cells as f64)?;
            let border = f.times(f.sub(net, inner)?, 0.5)?;
            let centre = f.sub(f.mul(centre, net)?, border)?;
            let half = f.times(f.mul(ratio, own)?, 0.5)?;
            let scale = f.div(images.real[image], inner)?;
            Ok::<_, OpError>([
                f.mul(f.sub(centre, half)?, scale)?,
                f.mul(f.add(centre, half)?, scale)?,
            ])
        };
        let ([left, right], [top, bottom]) = (along(0)?, along(1)?);
        let mut ends = Vec::with_capacity(4);
        for end in [left, top, right, bottom] {
            ends.push(f.reshape(end, &[batch, 1, self.boxes * pixels, 1])?);
        }
        f.joined(&ends, 3)
    }
}

/// The products of the probabilities of objects and of classes, where an object is likely enough.
fn scores(
    f: &Formula<'_>,
    object: ValueId,
    kinds: ValueId,
    count: i64,
    least: f64,
) -> Answer<ValueId> {
    let batch = f.dims(object)?[0];
    let object = f.cast(f.part(object, 1, 0, count)?, DataType::Float32)?;
    let object = f.reshape(object, &[batch, 1, count])?;
    let kinds = f.cast(f.part(kinds, 2, 0, count)?, DataType::Float32)?;
    let product = f.mul(object, kinds)?;
    let none = f.number(f64::NEG_INFINITY, product)?;
    f.choose(f.above(object, least)?, product, none)
}

/// Lays boxes out as the operators do: all left ends, then all upper ones, and so on, without gaps for boxes that are not there.
fn packed(f: &Formula<'_>, found: &Found, rows: i64) -> Answer<ValueId> {
    let batch = f.dims(found.scores)?[0];
    let single = |value: ValueId| f.reshape(value, &[batch, 1, rows]);
    let table = [
        f.transpose(found.boxes, &[0, 2, 1])?,
        single(found.scores)?,
        single(found.classes)?,
    ];
    let table = f.reshape(f.joined(&table, 1)?, &[batch, 6 * rows])?;
    let positions: Vec<i64> = (0..6 * rows).collect();
    let positions = f.reshape(f.ints(&positions), &[1, 6 * rows])?;
    let count = f.cast(f.reshape(found.count, &[batch, 1])?, DataType::Int64)?;
    let own = f.max(count, f.number(1.0, count)?)?;
    let row = f.node("Div", &[positions, own], Attrs::new())?;
    let held = f.less(positions, f.times(count, 6.0)?)?;
    // A row of the table has `rows` elements, and one of the result as many as there are boxes.
    let gap = f.mul(row, f.from(rows as f64, own)?)?;
    let at = f.only(held, f.add(positions, gap)?)?;
    let attrs = Attrs::new().with("dim", 1i64);
    let moved = f.node("GatherElements", &[table, at], attrs)?;
    f.only(held, moved)
}

/// The detections of all layers, each of which is three outputs of Yolo; the sizes of the images come last.
fn detections(cx: &mut Cx, op: &Op<'_>) -> Answer<Vec<ValueId>> {
    op.only_default("relative")?;
    let [boxes, classes] = counts(op, 1024)?;
    let inputs = op.list("x")?;
    let layers = inputs.len().saturating_sub(1) / 3;
    if layers == 0 || inputs.len() != 3 * layers + 1 {
        return Err(invalid(format!(
            "it has {} inputs x; the coordinates of all layers, their objects, their classes, and the sizes of the images are required: 3 for each layer and 1",
            inputs.len()
        )));
    }
    let biases = op.floats("biases")?;
    if biases.len() as i64 != 2 * boxes * layers as i64 {
        return Err(invalid(format!(
            "its attribute biases has {} numbers; {} are required for {layers} layers of {boxes} boxes",
            biases.len(),
            2 * boxes * layers as i64
        )));
    }
    let limits = Limits {
        score: share(op, "score_threshold")?,
        overlap: share(op, "iou_threshold")?,
        before: within(op, "pre_nms_topn", 1, 1 << 30)?,
        after: within(op, "post_nms_topn", 1, 1 << 16)?,
    };
    let least = share(op, "obj_threshold")?;
    let flat = within(op, "out_box_dim", 2, 3)? == 2;
    let alpha = match op.kind() {
        "YoloV5DetectionOutput" => Some(f64::from(op.float("alpha")?)),
        _ => None,
    };
    let mut grids = Vec::with_capacity(layers);
    for (at, value) in inputs[..layers].iter().enumerate() {
        grids.push(*cx.grids.get(value).ok_or_else(|| {
            unsupported(format!(
                "its input x{at} is not the output coord_data of a Yolo operator, from which the height and the width of the layer are known"
            ))
        })?);
    }
    let dtype = cx.ty(inputs[0]).dtype;
    let batch = cx.dims(inputs[0])?[0];
    for (at, [height, width]) in grids.iter().enumerate() {
        let pixels = height * width;
        let own = [at, layers + at, 2 * layers + at].map(|index| cx.dims(inputs[index]));
        let [coords, object, kinds] = own;
        let long = padded(boxes * pixels);
        let (coords, object, kinds) = (coords?, object?, kinds?);
        if coords != [batch, 4 * boxes, padded(pixels)]
            || object != [batch, long]
            || kinds != [batch, classes, long]
        {
            return Err(invalid(format!(
                "its inputs x{at}, x{} and x{} have the shapes {coords:?}, {object:?} and {kinds:?}; with {boxes} boxes and {classes} classes [{batch}, {}, {}], [{batch}, {long}] and [{batch}, {classes}, {long}] are required",
                layers + at,
                2 * layers + at,
                4 * boxes,
                padded(pixels)
            )));
        }
    }
    let stretched = op.yes("resize_origin_img_to_net")?;
    let f = Formula::new(cx);
    let images = Images::of(&f, inputs[3 * layers], batch, stretched)?;
    let (mut corners, mut found) = (Vec::new(), Vec::new());
    for (at, &grid) in grids.iter().enumerate() {
        let own = 2 * boxes as usize;
        let layer = Layer {
            images: &images,
            boxes,
            biases: &biases[at * own..(at + 1) * own],
            alpha,
        };
        corners.push(layer.corners(&f, inputs[at], grid)?);
        let (object, kinds) = (inputs[layers + at], inputs[2 * layers + at]);
        found.push(scores(&f, object, kinds, boxes * grid[0] * grid[1], least)?);
    }
    let found = chosen(&f, f.joined(&corners, 2)?, f.joined(&found, 2)?, &limits)?;
    let rows = limits.after;
    let mut out = packed(&f, &found, rows)?;
    if !flat {
        out = f.reshape(out, &[batch, 6, rows])?;
    }
    Ok(vec![f.cast(out, dtype)?, found.numbers(&f)?])
}
