//! Images and positions in them.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::super::FORMAT_NHWC;
use super::formula::Formula;
use super::index::take_rows;
use super::op::{Op, same};
use super::{Cx, Lowering, invalid, unsupported};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AffineGrid", |cx, op| {
        let attrs = Attrs::new().with("align_corners", op.yes("align_corners")?);
        Ok(vec![cx.one(
            "jumar.AffineGrid",
            &[op.input("theta")?, op.input("output_size")?],
            attrs,
        )?])
    }),
    ("Col2im", |cx, op| {
        // The elements of windows have an axis of their own here.
        let x = op.input("x")?;
        let &[images, channels, elements, windows] = &cx.dims(x)?[..] else {
            return Err(invalid(format!(
                "its input x has {} dimensions; images, channels, elements of a window and windows are required",
                cx.rank(x)?
            )));
        };
        let x = cx.reshape(x, &[images, channels * elements, windows])?;
        let kernel = cx.ints(op.ints("kernel_size")?);
        let padding = op.ints("padding")?;
        let attrs = Attrs::new()
            .with("strides", op.ints("stride")?.to_vec())
            .with("dilations", op.ints("dilation")?.to_vec())
            .with("pads", [padding, padding].concat());
        let size = cx.cast(op.input("output_size")?, DataType::Int64)?;
        Ok(vec![cx.one("jumar.Col2Im", &[x, size, kernel], attrs)?])
    }),
    ("Col2ImV2", |cx, op| {
        let padding = op.ints("padding")?;
        let pads = [padding, padding].concat();
        let attrs = Attrs::new()
            .with("strides", op.ints("stride")?.to_vec())
            .with("dilations", op.ints("dilation")?.to_vec())
            .with("pads", pads);
        let inputs = [
            op.input("x")?,
            op.input("output_size")?,
            op.input("kernel_size")?,
        ];
        Ok(vec![cx.one("jumar.Col2Im", &inputs, attrs)?])
    }),
    ("GridSampler2D", |cx, op| {
        let mode = match op.text("interpolation_mode")? {
            "bilinear" => "linear",
            "nearest" => "nearest",
            "bicubic" => "cubic",
            other => {
                return Err(invalid(format!(
                    "its attribute interpolation_mode is {other}"
                )));
            }
        };
        let attrs = Attrs::new()
            .with("mode", mode)
            .with("padding_mode", op.text("padding_mode")?)
            .with("align_corners", op.yes("align_corners")?);
        Ok(vec![cx.one(
            "jumar.GridSample",
            &[op.input("x")?, op.input("grid")?],
            attrs,
        )?])
    }),
    ("IMGWarpResize", warped),
    ("LUT3D", colour_table),
    ("ROIAlign", roi_align),
    ("ROIPooling", |cx, op| {
        let (scale, other) = (op.float("spatial_scale_h")?, op.float("spatial_scale_w")?);
        if scale != other {
            return Err(unsupported(
                "spatial_scale_h and spatial_scale_w have to be equal",
            ));
        }
        let attrs = Attrs::new()
            .with(
                "pooled_shape",
                vec![op.int("pooled_h")?, op.int("pooled_w")?],
            )
            .with("spatial_scale", scale);
        Ok(vec![cx.one(
            "jumar.MaxRoiPool",
            &[op.input("x")?, op.input("rois")?],
            attrs,
        )?])
    }),
    ("Resize", same),
    ("Upsample", |cx, op| {
        // Pixels are repeated, and multiplied with the scale.
        let (height, width) = (op.int("stride_h")?, op.int("stride_w")?);
        let scale = op.float("scale")?;
        let dims = cx.dims(op.input("x")?)?;
        let &[_, _, own_height, own_width] = &dims[..] else {
            return Err(invalid("its input has to have 4 dimensions"));
        };
        let sizes = cx.ints(&[dims[0], dims[1], own_height * height, own_width * width]);
        let attrs = Attrs::new()
            .with("coordinate_transformation_mode", "asymmetric")
            .with("mode", "nearest")
            .with("nearest_mode", "floor");
        let inputs = [Some(op.input("x")?), None, None, Some(sizes)];
        let y = cx.add_node("Resize", &inputs, attrs, 1)?[0];
        Ok(vec![cx.one(
            "Muls",
            &[y],
            Attrs::new().with("value", scale),
        )?])
    }),
    ("ResizeD", |cx, op| {
        let (mut x, sizes) = (op.input("x")?, op.ints("sizes")?);
        let given = cx.dims(x)?;
        // A line of pixels may be an image of one row.
        let is_line = matches!(given[..], [_, _, 1, _]) && sizes.len() == 1;
        if is_line {
            x = cx.reshape(x, &[given[0], given[1], given[3]])?;
        }
        let dims = cx.dims(x)?;
        let format = op.text("data_format")?;
        if format != "NCHW" || sizes.len() + 2 != dims.len() {
            return Err(invalid(format!(
                "its input x has the shape {dims:?}, data_format is {format} and sizes {sizes:?}; NCHW and a size for each axis after the channels are required"
            )));
        }
        op.only_default("roi")?;
        let attrs = Attrs::new()
            .with(
                "coordinate_transformation_mode",
                op.text("coordinate_transformation_mode")?,
            )
            .with("mode", op.text("mode")?)
            .with("nearest_mode", op.text("nearest_mode")?)
            .with("cubic_coeff_a", op.float("cubic_coeff_a")?)
            .with("exclude_outside", op.int("exclude_outside")? != 0)
            .with("extrapolation_value", op.float("extrapolation_value")?);
        let all = cx.ints(&[&dims[..2], sizes].concat());
        let y = cx.add_node("Resize", &[Some(x), None, None, Some(all)], attrs, 1)?;
        match is_line {
            true => Ok(vec![cx.reshape(y[0], &[dims[0], dims[1], 1, sizes[0]])?]),
            false => Ok(y),
        }
    }),
    ("ResizeBilinearV2", |cx, op| {
        resize(cx, op, op.input("size")?, "linear")
    }),
    ("ResizeBilinearV2D", |cx, op| {
        let size = cx.ints(op.ints("size")?);
        resize(cx, op, size, "linear")
    }),
    ("ResizeNearestNeighborV2", |cx, op| {
        resize(cx, op, op.input("size")?, "nearest")
    }),
    ("ResizeNearestNeighborV2D", |cx, op| {
        let size = cx.ints(op.ints("size")?);
        resize(cx, op, size, "nearest")
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

fn resize(cx: &mut Cx, op: &Op<'_>, size: ValueId, mode: &'static str) -> Answer {
    let mut x = op.input("x")?;
    if cx.dims(size)? != [2] {
        return Err(invalid(format!(
            "its size is {}; it must be [height, width]",
            cx.constant(size)
                .and_then(Tensor::ints)
                .map_or_else(|| cx.ty(size).to_string(), |list| format!("{list:?}"))
        )));
    }
    let (corners, centers) = (op.yes("align_corners")?, op.yes("half_pixel_centers")?);
    if corners && centers {
        return Err(invalid(
            "align_corners and half_pixel_centers exclude each other",
        ));
    }
    let dims = cx.dims(x)?;
    if dims.len() != 4 {
        return Err(invalid(format!(
            "its input has {} dimensions; it must have 4",
            dims.len()
        )));
    }
    let last = op.desc("x").is_some_and(|desc| desc.format == FORMAT_NHWC);
    let size = cx.cast(size, DataType::Int64)?;
    let sizes_of_all = if last {
        [cx.ints(&dims[..1]), size, cx.ints(&dims[3..])]
    } else {
        [cx.ints(&dims[..1]), cx.ints(&dims[1..2]), size]
    };
    // What is read lies at integers where pixels are points.
    let (way, nearest) = match (mode, corners, centers) {
        (_, true, _) => ("align_corners", "round_prefer_ceil"),
        ("nearest", _, true) => ("tf_half_pixel_for_nn", "floor"),
        (_, _, true) => ("half_pixel", "floor"),
        _ => ("asymmetric", "floor"),
    };
    if mode == "linear" {
        x = cx.cast(x, DataType::Float32)?;
    }
    let attrs = Attrs::new()
        .with("coordinate_transformation_mode", way)
        .with("mode", mode)
        .with("nearest_mode", nearest);
    let sizes = cx.one(
        "ConcatD",
        &sizes_of_all,
        Attrs::new().with("concat_dim", 0i64),
    )?;
    cx.add_node("Resize", &[Some(x), None, None, Some(sizes)], attrs, 1)
}

/// A part of the columns of a matrix.
pub(super) fn columns(cx: &mut Cx, x: ValueId, from: i64, to: i64) -> Result<ValueId, OpError> {
    let (begin, end, axes) = (cx.ints(&[from]), cx.ints(&[to]), cx.ints(&[1]));
    let inputs = [Some(x), Some(begin), Some(end), Some(axes)];
    Ok(cx.add_node("StridedSliceV2", &inputs, Attrs::new(), 1)?[0])
}

/// Interpolates between the four pixels around each position, which are in the second axis, by the fractions of the position.
fn warped(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (img, positions) = (op.input("img")?, op.input("warp_index")?);
    let (dtype, dims, own) = (cx.ty(img).dtype, cx.dims(img)?, cx.dims(positions)?);
    let fits = dims.len() == 5
        && dims[1] == 4
        && own.len() == 4
        && own[..2] == [dims[0], 2]
        && own[2..] == dims[3..];
    if !fits {
        return Err(invalid(format!(
            "its inputs img and warp_index have the shapes {dims:?} and {own:?}; [n, 4, c, h, w] and [n, 2, h, w] are required"
        )));
    }
    let mut corners = Vec::with_capacity(4);
    for at in 0..4 {
        let corner = columns(cx, img, at, at + 1)?;
        let corner = cx.reshape(corner, &[dims[0], dims[2], dims[3], dims[4]])?;
        corners.push(cx.cast(corner, DataType::Float32)?);
    }
    let (x, y) = (columns(cx, positions, 0, 1)?, columns(cx, positions, 1, 2)?);
    let f = Formula::new(cx);
    let fraction = |at| f.sub(at, f.of("Floor", at)?);
    let (x, y) = (fraction(x)?, fraction(y)?);
    let between = |a, b, share| f.add(a, f.mul(f.sub(b, a)?, share)?);
    let top = between(corners[0], corners[1], x)?;
    let bottom = between(corners[2], corners[3], x)?;
    let y = between(top, bottom, y)?;
    Ok(vec![f.cast(y, dtype)?])
}

/// Looks colours up in a table of three axes, and interpolates between its eight entries around each.
fn colour_table(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (img, table) = (op.input("img")?, op.input("lut_table")?);
    let (dims, own) = (cx.dims(img)?, cx.dims(table)?);
    let (&[a, b, c, 3], Some(3)) = (&own[..], dims.last()) else {
        return Err(invalid(format!(
            "its inputs img and lut_table have the shapes {dims:?} and {own:?}; 3 colours in the last axis and a table [n, n, n, 3] are required"
        )));
    };
    if a != b || b != c || a < 1 {
        return Err(invalid(format!(
            "its input lut_table has the shape {own:?}; its first three axes must have the same size"
        )));
    }
    let img = cx.cast(img, DataType::Float32)?;
    let img = cx.reshape(img, &[-1, 3])?;
    let scale = Formula::new(cx).times(img, (a - 1) as f64 / 255.0)?;
    let mut axes = Vec::with_capacity(3);
    for at in 0..3 {
        let position = columns(cx, scale, at, at + 1)?;
        let f = Formula::new(cx);
        let (low, high) = (f.of("Floor", position)?, f.of("Ceil", position)?);
        let share = f.sub(position, low)?;
        let stride = a.pow(2 - at as u32) as f64;
        let index = |bound| f.times(f.cast(bound, DataType::Int64)?, stride);
        axes.push([(index(low)?, f.from(1.0, share)?), (index(high)?, share)]);
    }
    let table = cx.cast(table, DataType::Float32)?;
    let table = cx.reshape(table, &[-1, 3])?;
    let mut sum: Option<ValueId> = None;
    for corner in 0..8 {
        let [first, second, third] = [0, 1, 2].map(|at| axes[at][corner >> at & 1]);
        let f = Formula::new(cx);
        let index = f.add(f.add(first.0, second.0)?, third.0)?;
        let index = f.reshape(index, &[-1])?;
        let share = f.mul(f.mul(first.1, second.1)?, third.1)?;
        let colour = take_rows(cx, table, index)?;
        let f = Formula::new(cx);
        let part = f.mul(colour, share)?;
        sum = Some(match sum {
            Some(sum) => f.add(sum, part)?,
            None => part,
        });
    }
    let sum = sum.ok_or_else(|| invalid("a table has eight corners"))?;
    Ok(vec![cx.reshape(sum, &dims)?])
}

/// Where regions end.
pub(super) struct RegionEnds {
    /// Whether pixels are squares and not points.
    pub aligned: bool,
    /// Whether regions of less than a pixel stay as small as they are.
    pub any_size: bool,
    /// How far behind their last coordinates they end.
    pub more: f32,
}

/// Reads where regions end.
pub(super) fn roi_ends(op: &Op<'_>) -> Result<RegionEnds, OpError> {
    match op.int("roi_end_mode")? {
        0 => Ok(RegionEnds {
            aligned: false,
            any_size: false,
            more: 0.0,
        }),
        // The last pixel belongs to the region, so that it has a size in any case.
        1 => Ok(RegionEnds {
            aligned: false,
            any_size: true,
            more: 1.0,
        }),
        2 | 3 => Ok(RegionEnds {
            aligned: true,
            any_size: true,
            more: 0.0,
        }),
        other => Err(invalid(format!(
            "its attribute roi_end_mode is {other}; it must be 0 to 3"
        ))),
    }
}

/// Moves the last two columns of regions.
pub(super) fn with_ends(cx: &mut Cx, rois: ValueId, more: f32) -> Result<ValueId, OpError> {
    if more == 0.0 {
        return Ok(rois);
    }
    let count = usize::try_from(cx.dims(rois)?[1]).unwrap_or(0);
    let mut shift = vec![0.0; count];
    shift.iter_mut().rev().take(2).for_each(|one| *one = more);
    let shift = cx.add_constant(Tensor::from_floats(&shift));
    let shift = cx.cast(shift, cx.ty(rois).dtype)?;
    cx.one("Add", &[rois, shift], Attrs::new())
}

fn roi_align(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let (features, rois) = (op.input("features")?, op.input("rois")?);
    let ends = roi_ends(op)?;
    let way = match ends.aligned {
        true => "half_pixel",
        false => "output_half_pixel",
    };
    let batch = columns(cx, rois, 0, 1)?;
    let batch = cx.reshape(batch, &[-1])?;
    let batch = cx.cast(batch, DataType::Int64)?;
    let boxes = columns(cx, rois, 1, 5)?;
    let boxes = with_ends(cx, boxes, ends.more)?;
    let attrs = Attrs::new()
        .with("coordinate_transformation_mode", way)
        .with("mode", op.text("pool_mode")?)
        .with("any_size", ends.any_size)
        .with("output_height", op.int("pooled_height")?)
        .with("output_width", op.int("pooled_width")?)
        .with("sampling_ratio", op.int("sample_num")?)
        .with("spatial_scale", op.float("spatial_scale")?);
    Ok(vec![cx.one(
        "jumar.RoiAlign",
        &[features, boxes, batch],
        attrs,
    )?])
}
