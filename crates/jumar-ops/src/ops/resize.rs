//! Images made larger or smaller. The attributes are ONNX's; ONNX's Upsample is an older form.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::kernels::number::for_width;
use crate::onnx::{LATEST, attrs_alike};
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, PrepareCx, Tensor, TensorType, Types, UNKNOWN, ValueRef, infer as check,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Resize",
    onnx: &[
        OnnxForm::new("Resize", 10, 10, |builder, node| {
            lower_scales(builder, node, "simple")
        }),
        OnnxForm::new("Resize", 11, LATEST, |builder, node| {
            let attrs = attrs_alike(node, "Resize")?;
            Ok(vec![builder.node("Resize", node.inputs(), attrs)?])
        }),
        OnnxForm::new("Upsample", 7, LATEST, |builder, node| {
            lower_scales(builder, node, "floor")
        }),
    ],
    inputs: &[
        InputDef::required("x", Types::REAL),
        InputDef::optional_constant("roi", Types::FLOAT),
        InputDef::optional_constant("scales", Types::of(&[DataType::Float32])),
        InputDef::optional_constant("sizes", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::str("coordinate_transformation_mode", "half_pixel"),
        AttrDef::float("cubic_coeff_a", -0.75),
        AttrDef::bool("exclude_outside", false),
        AttrDef::float("extrapolation_value", 0.0),
        AttrDef::str("mode", "nearest"),
        AttrDef::str("nearest_mode", "round_prefer_floor"),
        // Ours: newer versions of ONNX have these.
        AttrDef::bool("antialias", false),
        AttrDef::ints("axes", &[]),
        AttrDef::str("keep_aspect_ratio_policy", "stretch"),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer,
    prepare,
}];

/// Operator set 10 and Upsample have scales alone, as an input or as an attribute.
fn lower_scales(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    nearest: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    let mode = match node.str_or("mode", "nearest")? {
        "bilinear" => "linear",
        mode => mode,
    };
    let attrs = Attrs::new()
        .with("mode", mode)
        .with("coordinate_transformation_mode", "asymmetric")
        .with("nearest_mode", nearest);
    let scales = match node.floats("scales")? {
        Some(scales) => builder.add_constant(Tensor::from_floats(scales)),
        None => node.input(1)?,
    };
    Ok(vec![builder.node(
        "Resize",
        &[Some(node.input(0)?), None, Some(scales)],
        attrs,
    )?])
}

/// Which axes are resized, and by what: a scale and the resulting size for each.
struct Sizes {
    axes: Vec<usize>,
    scales: Vec<f64>,
    sizes: Vec<i64>,
}

/// Returns whether an input was given and holds anything: an empty one is the older way to leave it out.
fn given(cx: &InferCx<'_>, index: usize) -> bool {
    cx.has(index) && cx.inputs()[index].is_some_and(|ty| ty.shape != [0])
}

/// Works out sizes; `None` where they depend on something unknown.
fn sizes(cx: &InferCx<'_>, image: &[i64]) -> Result<Option<Sizes>, OpError> {
    let rank = image.len();
    let axes: Vec<usize> = match cx.attrs().ints("axes")? {
        [] => (0..rank).collect(),
        list => {
            check::axes(list, rank)?;
            list.iter()
                .map(|&axis| check::axis(axis, rank))
                .collect::<Result<_, _>>()?
        }
    };
    let wrong = |name: &str, found: usize| {
        OpError::invalid(format!(
            "{name} holds {found} numbers, and {} dimensions are resized",
            axes.len()
        ))
    };
    match (given(cx, 2), given(cx, 3)) {
        (true, false) => {
            let Some(scales) = cx.constant(2) else {
                return Ok(None);
            };
            let scales = scales
                .floats()
                .ok_or_else(|| OpError::invalid("scales have to be numbers"))?;
            if scales.len() != axes.len() {
                return Err(wrong("scales", scales.len()));
            }
            if let Some(scale) = scales
                .iter()
                .find(|scale| !(**scale > 0.0 && scale.is_finite()))
            {
                return Err(OpError::invalid(format!(
                    "scales holds {scale}; it must be more than 0"
                )));
            }
            let sizes = axes
                .iter()
                .zip(&scales)
                // The product of float32 numbers, as the definition's own implementation computes it.
                .map(|(&axis, &scale)| {
                    if image[axis] < 0 {
                        UNKNOWN
                    } else {
                        (image[axis] as f32 * scale as f32).floor() as i64
                    }
                })
                .collect();
            Ok(Some(Sizes {
                axes,
                scales,
                sizes,
            }))
        }
        (false, true) => {
            let Some(mut sizes) = cx.ints(3)? else {
                return Ok(None);
            };
            if sizes.len() != axes.len() {
                return Err(wrong("sizes", sizes.len()));
            }
            if let Some(size) = sizes.iter().find(|size| **size < 0) {
                return Err(OpError::invalid(format!(
                    "sizes holds {size}; it must be 0 or more"
                )));
            }
            if axes.iter().any(|&axis| image[axis] < 0) {
                let stretched = cx.attrs().str("keep_aspect_ratio_policy")? == "stretch";
                return Ok(stretched.then(|| Sizes {
                    scales: vec![1.0; axes.len()],
                    axes,
                    sizes,
                }));
            }
            let mut scales: Vec<f64> = axes
                .iter()
                .zip(&sizes)
                .map(|(&axis, &size)| size as f64 / (image[axis] as f64).max(1.0))
                .collect();
            let kept = match cx.attrs().str("keep_aspect_ratio_policy")? {
                "stretch" => None,
                "not_larger" => scales.iter().copied().reduce(f64::min),
                "not_smaller" => scales.iter().copied().reduce(f64::max),
                other => {
                    return Err(OpError::invalid(format!(
                        "keep_aspect_ratio_policy {other} is not known"
                    )));
                }
            };
            if let Some(scale) = kept {
                for (at, &axis) in axes.iter().enumerate() {
                    scales[at] = scale;
                    sizes[at] = (image[axis] as f64 * scale + 0.5).floor() as i64;
                }
            }
            Ok(Some(Sizes {
                axes,
                scales,
                sizes,
            }))
        }
        _ => Err(OpError::invalid(
            "either scales or sizes have to be given, and not both",
        )),
    }
}

fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let image = cx.input(0)?;
    for (name, known) in [
        ("mode", &["nearest", "linear", "cubic"][..]),
        (
            "nearest_mode",
            &[
                "round_prefer_floor",
                "round_prefer_ceil",
                "floor",
                "ceil",
                "simple",
            ],
        ),
        (
            "coordinate_transformation_mode",
            &[
                "half_pixel",
                "half_pixel_symmetric",
                "pytorch_half_pixel",
                "align_corners",
                "asymmetric",
                "tf_crop_and_resize",
                "tf_half_pixel_for_nn",
            ],
        ),
    ] {
        let value = cx.attrs().str(name)?;
        if !known.contains(&value) {
            return Err(OpError::invalid(format!(
                "{name} is {value}; it must be one of {}",
                known.join(", ")
            )));
        }
    }
    if image.rank().is_none() {
        return Ok(vec![image.clone()]);
    }
    let mut shape = image.shape.clone();
    match sizes(cx, &image.shape)? {
        Some(sizes) => {
            for (axis, size) in sizes.axes.into_iter().zip(sizes.sizes) {
                shape[axis] = size;
            }
        }
        None => {
            let axes = cx.attrs().ints("axes")?;
            for (axis, dim) in shape.iter_mut().enumerate() {
                let own =
                    |&one: &i64| check::axis(one, image.shape.len()).is_ok_and(|one| one == axis);
                if axes.is_empty() || axes.iter().any(own) {
                    *dim = UNKNOWN;
                }
            }
        }
    }
    Ok(vec![TensorType {
        dtype: image.dtype,
        shape,
    }])
}

/// How one axis is resized.
struct Pass {
    outer: usize,
    from: usize,
    to: usize,
    inner: usize,
    /// Elements that an output position is made of.
    taps: usize,
    /// For each output position and tap, the input position and its weight.
    picks: Vec<(u32, f64)>,
    /// Output positions that lie outside the region.
    outside: Vec<bool>,
}

impl Pass {
    fn elements(&self) -> usize {
        self.outer * self.to * self.inner
    }
}

/// The original coordinate of an output position. In float32, because which pixel is the nearest hangs on the last bit,
/// and scales are float32 numbers.
fn coordinate(
    mode: &str,
    at: usize,
    scale: f64,
    (from, to): (usize, usize),
    roi: (f64, f64),
) -> f64 {
    let (x, from_size, to_size, scale) = (at as f32, from as f32, to as f32, scale as f32);
    let (start, end) = (roi.0 as f32, roi.1 as f32);
    // Where positions are counted from end to end, ONNX takes the length before it is rounded.
    let length = scale * from_size;
    f64::from(match mode {
        "half_pixel" => (x + 0.5) / scale - 0.5,
        "half_pixel_symmetric" => {
            let adjustment = to_size / (scale * from_size);
            from_size / 2.0 * (1.0 - adjustment) + (x + 0.5) / scale - 0.5
        }
        "pytorch_half_pixel" => {
            if to > 1 {
                (x + 0.5) / scale - 0.5
            } else {
                0.0
            }
        }
        "align_corners" => {
            if to > 1 {
                x * (from_size - 1.0) / (length - 1.0)
            } else {
                0.0
            }
        }
        "tf_half_pixel_for_nn" => (x + 0.5) / scale,
        "tf_crop_and_resize" => {
            if to > 1 {
                start * (from_size - 1.0) + (x * (end - start) * (from_size - 1.0)) / (length - 1.0)
            } else {
                0.5 * (start + end) * (from_size - 1.0)
            }
        }
        _ => x / scale,
    })
}

fn nearest(mode: &str, x: f64, scale: f64) -> f64 {
    match mode {
        "round_prefer_floor" => (x - 0.5).ceil(),
        "round_prefer_ceil" => (x + 0.5).floor(),
        "floor" => x.floor(),
        "ceil" => x.ceil(),
        _ => {
            if scale < 1.0 {
                x.ceil()
            } else {
                x.floor()
            }
        }
    }
}

/// The cubic convolution kernel.
fn cubic(x: f64, a: f64) -> f64 {
    let x = x.abs();
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
    } else {
        0.0
    }
}

fn passes(cx: &PrepareCx<'_>) -> Result<Vec<Pass>, OpError> {
    let (from, to) = (cx.shape(0)?, cx.output_shape(0)?);
    let signed: Vec<i64> = from.iter().map(|&dim| dim as i64).collect();
    let sizes = sizes(cx.infer(), &signed)?.ok_or_else(|| {
        OpError::unsupported("scales or sizes have to be known before the operator is planned")
    })?;
    let attrs = cx.attrs();
    let (mode, transformation) = (
        attrs.str("mode")?,
        attrs.str("coordinate_transformation_mode")?,
    );
    let (nearest_mode, exclude) = (attrs.str("nearest_mode")?, attrs.bool("exclude_outside")?);
    let (antialias, a) = (
        attrs.bool("antialias")?,
        f64::from(attrs.float("cubic_coeff_a")?),
    );
    let crops = transformation == "tf_crop_and_resize";
    let roi = if crops && given(cx.infer(), 1) {
        let roi = cx.infer().constant(1).and_then(Tensor::floats);
        let roi = roi.ok_or_else(|| {
            OpError::unsupported("the roi has to be known before the operator is planned")
        })?;
        if roi.len() != 2 * sizes.axes.len() {
            return Err(OpError::invalid(format!(
                "roi holds {} numbers, not {}",
                roi.len(),
                2 * sizes.axes.len()
            )));
        }
        roi
    } else {
        [vec![0.0; sizes.axes.len()], vec![1.0; sizes.axes.len()]].concat()
    };
    let mut dims = from.to_vec();
    let mut passes = Vec::new();
    let mut order: Vec<usize> = (0..sizes.axes.len()).collect();
    order.sort_by_key(|&number| sizes.axes[number]);
    for number in order {
        let axis = sizes.axes[number];
        let (size, target, scale) = (from[axis], to[axis], sizes.scales[number]);
        let region = (roi[number], roi[sizes.axes.len() + number]);
        if size == target
            && (scale == 1.0 || sizes.scales.is_empty())
            && (!crops || region == (0.0, 1.0))
        {
            continue;
        }
        if size == 0 && target > 0 {
            return Err(OpError::invalid(
                "an image without elements cannot be made larger",
            ));
        }
        let large =
            || OpError::too_large(format!("an axis of {size} resized to {target} by {scale}"));
        if target > 1 << 26 {
            return Err(large());
        }
        // How many positions before and after a coordinate matter.
        let reach = |support: f64| if antialias && scale < 1.0 { (support / scale).ceil() } else { support } as i64;
        let support = match mode {
            _ if target == 0 => 0,
            "nearest" => 0,
            "linear" => reach(1.0),
            _ => reach(2.0),
        };
        if !(0..1 << 26).contains(&support) || (support as usize).saturating_mul(target) > 1 << 27 {
            return Err(large());
        }
        let taps = if support == 0 {
            1
        } else {
            2 * support as usize
        };
        let mut picks = Vec::with_capacity(taps * target);
        let mut outside = vec![false; target];
        for (at, outside) in outside.iter_mut().enumerate() {
            let x = coordinate(transformation, at, scale, (size, target), region);
            *outside = crops && (x < 0.0 || x > (size - 1) as f64);
            let inside = |position: f64| position.clamp(0.0, (size - 1) as f64) as u32;
            if support == 0 {
                picks.push((inside(nearest(nearest_mode, x, scale)), 1.0));
                continue;
            }
            let squeeze = if antialias { scale.min(1.0) } else { 1.0 };
            let first = x.floor() - support as f64 + 1.0;
            let start = picks.len();
            let mut sum = 0.0;
            for tap in 0..taps {
                let position = first + tap as f64;
                let distance = (position - x) * squeeze;
                let mut weight = if mode == "linear" {
                    (1.0 - distance.abs()).max(0.0)
                } else {
                    cubic(distance, a)
                };
                if exclude && (position < 0.0 || position > (size - 1) as f64) {
                    weight = 0.0;
                }
                sum += weight;
                picks.push((inside(position), weight));
            }
            if (exclude || antialias) && sum != 0.0 {
                picks[start..].iter_mut().for_each(|pick| pick.1 /= sum);
            }
        }
        passes.push(Pass {
            outer: dims[..axis].iter().product(),
            from: size,
            to: target,
            inner: dims[axis + 1..].iter().product(),
            taps,
            picks,
            outside,
        });
        dims[axis] = target;
    }
    Ok(passes)
}

fn prepare(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let passes = passes(cx)?;
    let extrapolates = passes.iter().any(|pass| pass.outside.contains(&true));
    let dtype = cx.dtype(0)?;
    if !extrapolates && passes.iter().all(|pass| pass.taps == 1) {
        return for_width!(dtype, T => Ok(Box::new(Picks::<T>::new(passes)) as Box<dyn Kernel>));
    }
    if dtype == DataType::Bool {
        return Err(OpError::unsupported(
            "booleans cannot be mixed: the mode has to be nearest",
        ));
    }
    let algorithm = Mix {
        passes,
        outside: cx.attrs().float("extrapolation_value")?.into(),
    };
    generic_kernel(cx, algorithm, &[0], &[0])
}

/// Elements that are only picked, of any type.
struct Picks<T> {
    passes: Vec<Pass>,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Picks<T> {
    fn new(passes: Vec<Pass>) -> Picks<T> {
        Picks {
            passes,
            types: std::marker::PhantomData,
        }
    }
}

/// Elements of the results between passes.
fn between(passes: &[Pass]) -> usize {
    let last = passes.len().saturating_sub(1);
    passes[..last].iter().map(Pass::elements).sum()
}

impl<T: Element> Kernel for Picks<T> {
    fn scratch_bytes(&self) -> usize {
        between(&self.passes) * size_of::<T>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (mut from, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let scratch = call.scratch::<T>(0, between(&self.passes))?;
        let mut at = 0;
        for (number, pass) in self.passes.iter().enumerate() {
            let to = if number + 1 == self.passes.len() {
                out
            } else {
                at += pass.elements();
                scratch.slice(at - pass.elements(), pass.elements())
            };
            for outer in 0..pass.outer {
                let source = from.slice(outer * pass.from * pass.inner, pass.from * pass.inner);
                let target = to.slice(outer * pass.to * pass.inner, pass.to * pass.inner);
                for (position, &(pick, _)) in pass.picks.iter().enumerate() {
                    let pick = pick as usize;
                    if pass.inner == 1 {
                        target.set(position, source.get(pick));
                    } else {
                        let row = source.slice(pick * pass.inner, pass.inner);
                        target
                            .slice(position * pass.inner, pass.inner)
                            .copy_from(row);
                    }
                }
            }
            from = to.as_row();
        }
        if self.passes.is_empty() {
            out.copy_from(from);
        }
        Ok(())
    }
}

/// Elements that are weighed.
struct Mix {
    passes: Vec<Pass>,
    outside: f64,
}

impl Algorithm for Mix {
    fn scratch(&self) -> usize {
        between(&self.passes)
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (mut from, out, scratch) = (io.input(0)?, io.output(0)?, io.scratch()?);
        let mut at = 0;
        for (number, pass) in self.passes.iter().enumerate() {
            let to = if number + 1 == self.passes.len() {
                out
            } else {
                at += pass.elements();
                scratch.slice(at - pass.elements(), pass.elements())
            };
            for outer in 0..pass.outer {
                let source = from.slice(outer * pass.from * pass.inner, pass.from * pass.inner);
                let target = to.slice(outer * pass.to * pass.inner, pass.to * pass.inner);
                for position in 0..pass.to {
                    let picks = &pass.picks[position * pass.taps..(position + 1) * pass.taps];
                    if pass.inner == 1 {
                        let mut sum = W::zero();
                        for &(pick, weight) in picks {
                            sum += source.get(pick as usize) * W::of(weight);
                        }
                        target.set(position, sum);
                        continue;
                    }
                    let row = target.slice(position * pass.inner, pass.inner);
                    row.fill(W::zero());
                    for &(pick, weight) in picks {
                        let weight = W::of(weight);
                        let seen = source.slice(pick as usize * pass.inner, pass.inner);
                        row.update(seen, |sum, x| sum + x * weight);
                    }
                }
            }
            from = to.as_row();
        }
        if self.passes.is_empty() {
            out.copy_from(from);
        }
        self.extrapolate(out);
        Ok(())
    }
}

impl Mix {
    /// Overwrites what lies outside the region. The later axes have their final sizes in each pass's inner part only
    /// where they came before, so positions are counted in the output.
    fn extrapolate<W: Working>(&self, out: crate::view::RowMut<'_, W>) {
        for (number, pass) in self.passes.iter().enumerate() {
            // What a pass calls inner still has the old sizes of axes that later passes change.
            let grown = |(from, to): (usize, usize), pass: &Pass| (from * pass.from, to * pass.to);
            let (from, to) = self.passes[number + 1..].iter().fold((1, 1), grown);
            let inner = pass.inner / from.max(1) * to;
            for outer in 0..pass.outer {
                for (position, _) in pass
                    .outside
                    .iter()
                    .enumerate()
                    .filter(|(_, outside)| **outside)
                {
                    out.slice((outer * pass.to + position) * inner, inner)
                        .fill(W::of(self.outside));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("resize");
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        let x = noise(&[1, 1, 2, 2], 1);
        let op = crate::find("Resize").unwrap();
        let scales = f32s(&[4], &[1.0, 1.0, -1.0, 2.0]);
        let refused = crate::compute(op, &[Some(&x), None, Some(&scales)], &none()).unwrap_err();
        assert!(refused.text().contains("more than 0"), "{refused}");
        let scales = f32s(&[4], &[1.0, 1.0, 1e9, 2.0]);
        let refused = crate::compute(op, &[Some(&x), None, Some(&scales)], &none()).unwrap_err();
        assert_eq!(refused.kind(), crate::OpErrorKind::TooLarge, "{refused}");
        let scales = f32s(&[4], &[1.0, 1.0, 1e-30, 1e-30]);
        let attrs = none().with("mode", "linear").with("antialias", true);
        // Nothing is left of the image.
        assert!(
            crate::compute(op, &[Some(&x), None, Some(&scales)], &attrs)
                .is_ok_and(|y| y[0].is_empty())
        );
        let refused = crate::compute(op, &[Some(&x)], &none()).unwrap_err();
        assert!(
            refused.text().contains("either scales or sizes"),
            "{refused}"
        );
    }
}
