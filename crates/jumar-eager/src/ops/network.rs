//! Layers of networks: convolution, pooling, embedding, the likelihood loss; and their gradients.

use jumar_graph::ge::Value;
use jumar_ops::{Attrs, Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::Table;
use super::normalization::reduction;
use super::reduction::{accumulator, reduce};
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnAdaptiveAvgPool2d", adaptive_average),
    ("aclnnAdaptiveAvgPool2dBackward", adaptive_average_backward),
    ("aclnnConvolution", convolution),
    ("aclnnConvolutionBackward", convolution_backward),
    ("aclnnEmbedding", embedding),
    ("aclnnEmbeddingDenseBackward", embedding_backward),
    ("aclnnMaxPool2dWithMask", max_pool),
    ("aclnnMaxPool2dWithMaskBackward", max_pool_backward),
    ("aclnnNLLLoss", likelihood),
    ("aclnnNLLLossBackward", likelihood_backward),
];

/// Returns a parameter with one or two entries as two.
fn pair(cx: &Cx<'_>, param: &str) -> Result<[i64; 2], Refusal> {
    match cx.ints(param)? {
        [both] => Ok([*both; 2]),
        [height, width] => Ok([*height, *width]),
        other => Err(cx.invalid(format_args!(
            "{param} has {} entries; 1 or 2 are wanted",
            other.len()
        ))),
    }
}

/// The window of a two-dimensional convolution, its attributes in the order of the Graph Engine.
struct Window {
    strides: [i64; 2],
    pads: [i64; 2],
    dilations: [i64; 2],
    groups: i64,
}

fn window(cx: &Cx<'_>) -> Result<Window, Refusal> {
    let spread = |param: &str, fill: i64| -> Result<[i64; 2], Refusal> {
        match cx.ints(param)? {
            // A convolution over one dimension is one over two, the first of which has size 1.
            [one] => Ok([fill, *one]),
            [one, two] => Ok([*one, *two]),
            other => Err(cx.unsupported(format_args!(
                "{param} has {} entries; convolutions over 1 and 2 dimensions are computed",
                other.len()
            ))),
        }
    };
    let window = Window {
        strides: spread("stride", 1)?,
        pads: spread("padding", 0)?,
        dilations: spread("dilation", 1)?,
        groups: cx.int("groups")?,
    };
    let positive = window
        .strides
        .iter()
        .chain(&window.dilations)
        .all(|&step| step > 0);
    if !positive || window.groups <= 0 || window.pads.iter().any(|&pad| pad < 0) {
        return Err(cx.invalid(format_args!(
            "stride {:?}, padding {:?}, dilation {:?} and groups {} must not be negative, and but for padding not 0",
            window.strides, window.pads, window.dilations, window.groups
        )));
    }
    Ok(window)
}

/// Views images, filters or results of one dimension as two.
fn as_images(cx: &Cx<'_>, view: View) -> Result<View, Refusal> {
    match view.rank() {
        3 => Ok(view.unsqueeze(2)),
        4 => Ok(view),
        rank => Err(cx.unsupported(format_args!(
            "{} has {rank} dimensions; convolutions of batches with 1 and 2 dimensions are computed",
            cx.param_of(&view)
        ))),
    }
}

fn convolution(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, weight) = (cx.tensor("input")?, cx.tensor("weight")?);
    let (bias, out) = (cx.optional("bias")?, cx.out("output")?);
    let window = window(cx)?;
    let transposed = cx.flag("transposed")?;
    let (x, filter) = (as_images(cx, input)?, as_images(cx, weight)?);
    let out = as_images(cx, out)?;
    let dtype = cx.promote(x.dtype(), filter.dtype())?;
    let (x, filter) = (cx.cast(x, dtype)?, cx.cast(filter, dtype)?);
    let bias = match bias {
        Some(bias) => Some(cx.cast(bias, dtype)?),
        None => None,
    };
    if out.is_empty() {
        return Ok(());
    }
    let [top, left] = window.pads;
    let attrs = Attrs::new()
        .with("strides", vec![1, 1, window.strides[0], window.strides[1]])
        .with("pads", vec![top, top, left, left])
        .with(
            "dilations",
            vec![1, 1, window.dilations[0], window.dilations[1]],
        )
        .with("groups", window.groups)
        .with("data_format", "NCHW");
    if !transposed {
        return cx.op(
            "Conv2D",
            &[x.into(), filter.into(), bias.into()],
            &attrs,
            &[out],
        );
    }
    // A transposed convolution is the gradient of one by its input.
    let result = input_gradient(cx, filter, x, &window, out.dims().to_vec().as_slice())?;
    match bias {
        Some(bias) => {
            let bias = cx.reshaped(bias, &[1, out.dims()[1], 1, 1])?;
            cx.map(
                F::Add,
                dtype,
                &[Operand::Tensor(result), Operand::Tensor(bias)],
                out,
            )
        }
        None => cx.copy(result, out),
    }
}

fn ge_attrs(window: &Window) -> Vec<(&'static str, Value)> {
    let [top, left] = window.pads;
    vec![
        (
            "strides",
            Value::Ints(vec![1, 1, window.strides[0], window.strides[1]]),
        ),
        ("pads", Value::Ints(vec![top, top, left, left])),
        (
            "dilations",
            Value::Ints(vec![1, 1, window.dilations[0], window.dilations[1]]),
        ),
        ("groups", Value::Int(window.groups)),
        ("data_format", Value::Str("NCHW".to_owned())),
    ]
}

/// Returns the gradient of a convolution by its input, in the type of the operands.
fn input_gradient(
    cx: &mut Cx<'_>,
    filter: View,
    gradient: View,
    window: &Window,
    dims: &[usize],
) -> Result<View, Refusal> {
    let out = cx.temporary(gradient.dtype(), dims)?;
    let size: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    let inputs = [
        ("input_size", Input::ints(&size)),
        ("filter", filter.into()),
        ("out_backprop", gradient.into()),
    ];
    cx.graph_op(
        "Conv2DBackpropInput",
        &inputs,
        &ge_attrs(window),
        &[("y", out)],
    )?;
    Ok(out)
}

fn convolution_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, input) = (cx.tensor("gradOutput")?, cx.tensor("input")?);
    let weight = cx.tensor("weight")?;
    let window = window(cx)?;
    let transposed = cx.flag("transposed")?;
    let mask = cx.bools("outputMask")?;
    let &[to_input, to_weight, to_bias] = mask else {
        return Err(cx.invalid(format_args!(
            "outputMask has {} flags; 3 are wanted",
            mask.len()
        )));
    };
    let compute = accumulator(input.dtype());
    let gradient_images = as_images(cx, gradient)?;
    let (x, filter) = (as_images(cx, input)?, as_images(cx, weight)?);
    let g = cx.cast(gradient_images, compute)?;
    let (x, filter) = (cx.cast(x, compute)?, cx.cast(filter, compute)?);
    if let Some(out) = cx.optional("gradBias")?.filter(|_| to_bias) {
        let sum = cx.temporary(compute, &[g.dims()[1]])?;
        reduce(cx, "ReduceSum", g, &[0, 2, 3], false, sum)?;
        cx.check_dims(&out, sum.dims())?;
        cx.copy(sum, out)?;
    }
    if let Some(out) = cx.optional("gradInput")?.filter(|_| to_input) {
        let out = as_images(cx, out)?;
        if transposed {
            let [top, left] = window.pads;
            let attrs = Attrs::new()
                .with("strides", vec![1, 1, window.strides[0], window.strides[1]])
                .with("pads", vec![top, top, left, left])
                .with(
                    "dilations",
                    vec![1, 1, window.dilations[0], window.dilations[1]],
                )
                .with("groups", window.groups)
                .with("data_format", "NCHW");
            cx.op("Conv2D", &[g.into(), filter.into()], &attrs, &[out])?;
        } else {
            let result = input_gradient(cx, filter, g, &window, x.dims())?;
            cx.copy(result, out)?;
        }
    }
    if let Some(out) = cx.optional("gradWeight")?.filter(|_| to_weight) {
        let out = as_images(cx, out)?;
        let size: Vec<i64> = filter.dims().iter().map(|&dim| dim as i64).collect();
        // The roles of input and gradient are exchanged in a transposed convolution.
        let (x, g) = if transposed { (g, x) } else { (x, g) };
        let result = cx.temporary(compute, filter.dims())?;
        let inputs = [
            ("x", x.into()),
            ("filter_size", Input::ints(&size)),
            ("out_backprop", g.into()),
        ];
        cx.graph_op(
            "Conv2DBackpropFilter",
            &inputs,
            &ge_attrs(&window),
            &[("y", result)],
        )?;
        cx.copy(result, out)?;
    }
    Ok(())
}

/// The window of a pooling.
#[derive(Clone, Copy)]
struct Pool {
    kernel: [usize; 2],
    strides: [usize; 2],
    pads: [usize; 2],
    dilations: [usize; 2],
}

fn pool(cx: &Cx<'_>) -> Result<Pool, Refusal> {
    let kernel = pair(cx, "kernelSize")?;
    let strides = match cx.ints("stride")? {
        [] => kernel,
        _ => pair(cx, "stride")?,
    };
    let (pads, dilations) = (pair(cx, "padding")?, pair(cx, "dilation")?);
    let positive = kernel
        .iter()
        .chain(&strides)
        .chain(&dilations)
        .all(|&size| size > 0);
    let fits = pads
        .iter()
        .zip(&kernel)
        .all(|(&pad, &size)| pad >= 0 && pad <= size / 2);
    if !positive || !fits {
        return Err(cx.invalid(format_args!(
            "kernelSize {kernel:?}, stride {strides:?} and dilation {dilations:?} must be positive, and padding {pads:?} \
             from 0 to half the kernel"
        )));
    }
    let sizes = |sizes: [i64; 2]| sizes.map(|size| size as usize);
    Ok(Pool {
        kernel: sizes(kernel),
        strides: sizes(strides),
        pads: sizes(pads),
        dilations: sizes(dilations),
    })
}

/// Views images with or without a batch as planes: all leading dimensions, height, width.
fn planes(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    match view.dims() {
        &[channels, height, width] => cx.reshaped(view, &[channels, height, width]),
        &[batch, channels, height, width] => cx.reshaped(view, &[batch * channels, height, width]),
        dims => Err(cx.invalid(format_args!(
            "{} has the shape {dims:?}; 3 or 4 dimensions are wanted",
            cx.param_of(&view)
        ))),
    }
}

/// Finds the greatest elements of windows, or adds gradients at their positions.
struct MaxPool {
    pool: Pool,
    /// Planes, height and width of the input.
    input: [usize; 3],
    /// Height and width of the output.
    output: [usize; 2],
    backward: bool,
}

impl Kernel for MaxPool {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let x = call.input::<f32>(0)?.flat();
        let out = call.output::<f32>(0)?.flat();
        let gradient = match self.backward {
            true => {
                for index in 0..out.len() {
                    out.set(index, 0.0);
                }
                Some(call.input::<f32>(1)?.flat())
            }
            false => None,
        };
        let ([planes, height, width], [rows, columns]) = (self.input, self.output);
        let Pool {
            kernel,
            strides,
            pads,
            dilations,
        } = self.pool;
        for plane in 0..planes {
            for row in 0..rows {
                for column in 0..columns {
                    let (mut best, mut at) = (f32::NEG_INFINITY, None);
                    for y in 0..kernel[0] {
                        let y = row * strides[0] + y * dilations[0];
                        let Some(y) = y.checked_sub(pads[0]).filter(|&y| y < height) else {
                            continue;
                        };
                        for x_in in 0..kernel[1] {
                            let x_at = column * strides[1] + x_in * dilations[1];
                            let Some(x_at) = x_at.checked_sub(pads[1]).filter(|&x| x < width)
                            else {
                                continue;
                            };
                            let index = (plane * height + y) * width + x_at;
                            let value = x.get(index);
                            if at.is_none() || value > best || value.is_nan() {
                                (best, at) = (value, Some(index));
                            }
                        }
                    }
                    let target = (plane * rows + row) * columns + column;
                    match (gradient, at) {
                        (Some(gradient), Some(at)) => {
                            out.set(at, out.get(at) + gradient.get(target))
                        }
                        (Some(_), None) => {}
                        (None, _) => out.set(target, best),
                    }
                }
            }
        }
        Ok(())
    }
}

/// Runs a kernel on dense float32 operands, and converts its result.
fn in_float32(
    cx: &mut Cx<'_>,
    kernel: Box<dyn Kernel>,
    inputs: &[View],
    out: View,
) -> Result<(), Refusal> {
    let mut operands = Vec::with_capacity(inputs.len());
    for input in inputs {
        let input = cx.cast(*input, DataType::Float32)?;
        operands.push(Some(cx.dense(input)?));
    }
    let result = cx.temporary(DataType::Float32, out.dims())?;
    cx.kernel(kernel, &operands, &[result], false)?;
    cx.copy(result, out)
}

fn max_pool(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, out, mask) = (cx.tensor("self")?, cx.out("out")?, cx.out("indices")?);
    let pool = pool(cx)?;
    // The format of the mask is the library's own. The gradient finds the positions in the input again.
    cx.fill(Scalar::of_i64(0), mask)?;
    if out.is_empty() {
        return Ok(());
    }
    let (x, target) = (planes(cx, input)?, planes(cx, out)?);
    let (&[count, height, width], &[_, rows, columns]) = (x.dims(), target.dims()) else {
        return Err(cx.defect("images have three dimensions"));
    };
    let kernel = MaxPool {
        pool,
        input: [count, height, width],
        output: [rows, columns],
        backward: false,
    };
    in_float32(cx, Box::new(kernel), &[x], target)?;
    match target.base == out.base {
        true => Ok(()),
        false => {
            let target = cx.reshaped(target, out.dims())?;
            cx.copy(target, out)
        }
    }
}

fn max_pool_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, input) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let out = cx.out("gradInput")?;
    cx.check_dims(&out, input.dims())?;
    let pool = pool(cx)?;
    if out.is_empty() {
        return Ok(());
    }
    let (x, gradient) = (planes(cx, input)?, planes(cx, gradient)?);
    let (&[count, height, width], &[_, rows, columns]) = (x.dims(), gradient.dims()) else {
        return Err(cx.defect("images have three dimensions"));
    };
    let kernel = MaxPool {
        pool,
        input: [count, height, width],
        output: [rows, columns],
        backward: true,
    };
    let result = cx.temporary(DataType::Float32, x.dims())?;
    in_float32(cx, Box::new(kernel), &[x, gradient], result)?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}

/// Averages windows that share the input evenly, or spreads gradients over them.
struct AdaptiveAverage {
    planes: usize,
    input: [usize; 2],
    output: [usize; 2],
    backward: bool,
}

impl Kernel for AdaptiveAverage {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<f32>(0)?.flat(), call.output::<f32>(0)?.flat());
        if self.backward {
            for index in 0..to.len() {
                to.set(index, 0.0);
            }
        }
        let ([height, width], [rows, columns]) = (self.input, self.output);
        let range = |index: usize, of: usize, size: usize| {
            (index * size / of, ((index + 1) * size).div_ceil(of))
        };
        for plane in 0..self.planes {
            for row in 0..rows {
                let (top, bottom) = range(row, rows, height);
                for column in 0..columns {
                    let (left, right) = range(column, columns, width);
                    let share = (((bottom - top) * (right - left)) as f32).recip();
                    let window = (plane * rows + row) * columns + column;
                    let mut sum = 0.0f32;
                    for y in top..bottom {
                        for x in left..right {
                            let index = (plane * height + y) * width + x;
                            match self.backward {
                                true => to.set(index, to.get(index) + from.get(window) * share),
                                false => sum += from.get(index),
                            }
                        }
                    }
                    if !self.backward {
                        to.set(window, sum * share);
                    }
                }
            }
        }
        Ok(())
    }
}

fn adaptive(
    cx: &mut Cx<'_>,
    small: View,
    large: View,
    backward: bool,
    from: View,
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() || from.is_empty() {
        return Ok(());
    }
    let last = |view: &View| match view.dims() {
        [.., height, width] => Ok([*height, *width]),
        dims => Err(cx.invalid(format_args!("the shape {dims:?} has no height and width"))),
    };
    let (output, input) = (last(&small)?, last(&large)?);
    let kernel = AdaptiveAverage {
        planes: large.elements() / (input[0] * input[1]),
        input,
        output,
        backward,
    };
    in_float32(cx, Box::new(kernel), &[from], out)
}

fn adaptive_average(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let [rows, columns] = pair(cx, "outputSize")?;
    let mut dims = x.dims().to_vec();
    let rank = dims.len();
    if !(3..=4).contains(&rank) || rows <= 0 || columns <= 0 {
        return Err(cx.invalid(format_args!(
            "self has the shape {dims:?} and outputSize is [{rows}, {columns}]; 3 or 4 dimensions and positive sizes are wanted"
        )));
    }
    (dims[rank - 2], dims[rank - 1]) = (rows as usize, columns as usize);
    cx.check_dims(&out, &dims)?;
    adaptive(cx, out, x, false, x, out)
}

fn adaptive_average_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x, out) = (cx.tensor("gradOutput")?, cx.tensor("self")?, cx.out("out")?);
    cx.check_dims(&out, x.dims())?;
    adaptive(cx, gradient, x, true, gradient, out)
}

fn embedding(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (weight, indices, out) = (cx.tensor("weight")?, cx.tensor("indices")?, cx.out("out")?);
    let &[_, width] = weight.dims() else {
        return Err(cx.invalid(format_args!(
            "weight has the shape {:?}; 2 dimensions are wanted",
            weight.dims()
        )));
    };
    let mut dims = indices.dims().to_vec();
    dims.push(width);
    cx.check_dims(&out, &dims)?;
    cx.op(
        "GatherV2",
        &[weight.into(), indices.into(), Input::ints(&[0])],
        &Attrs::new(),
        &[out],
    )
}

/// Adds rows of gradients at the rows that indices name.
struct AddRows {
    rows: usize,
    width: usize,
    skipped: i64,
    by_frequency: bool,
}

impl Kernel for AddRows {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (gradient, indices) = (call.input::<f32>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<f32>(0)?.flat();
        for index in 0..out.len() {
            out.set(index, 0.0);
        }
        let mut counts = vec![0u32; if self.by_frequency { self.rows } else { 0 }];
        let row = |index: usize| {
            let row = indices.get(index);
            usize::try_from(row)
                .ok()
                .filter(|&row| row < self.rows)
                .ok_or_else(|| {
                    OpError::new(
                        OpErrorKind::Data,
                        format!("the index {row} names none of {} rows", self.rows),
                    )
                })
        };
        for index in 0..indices.len() {
            if let Some(count) = counts.get_mut(row(index)?) {
                *count += 1;
            }
        }
        for index in 0..indices.len() {
            let row = row(index)?;
            if indices.get(index) == self.skipped {
                continue;
            }
            let share = counts.get(row).map_or(1.0, |&count| (count as f32).recip());
            for column in 0..self.width {
                let at = row * self.width + column;
                out.set(
                    at,
                    out.get(at) + gradient.get(index * self.width + column) * share,
                );
            }
        }
        Ok(())
    }
}

fn embedding_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, indices, out) = (cx.tensor("grad")?, cx.tensor("indices")?, cx.out("out")?);
    let (rows, skipped) = (cx.int("numWeights")?, cx.int("paddingIdx")?);
    let width = gradient.dims().last().copied().unwrap_or(1);
    let rows = usize::try_from(rows).map_err(|_| {
        cx.invalid(format_args!(
            "numWeights is {rows}; it must not be negative"
        ))
    })?;
    cx.check_dims(&out, &[rows, width])?;
    if out.is_empty() {
        return Ok(());
    }
    if indices.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let kernel = AddRows {
        rows,
        width,
        skipped,
        by_frequency: cx.flag("scaleGradByFreq")?,
    };
    let gradient = cx.cast(gradient, DataType::Float32)?;
    let gradient = cx.dense(gradient)?;
    let indices = cx.cast(indices, DataType::Int64)?;
    let indices = cx.dense(indices)?;
    let result = cx.temporary(DataType::Float32, out.dims())?;
    cx.kernel(
        Box::new(kernel),
        &[Some(gradient), Some(indices)],
        &[result],
        false,
    )?;
    cx.copy(result, out)
}

/// The negative log-likelihood and its gradient.
struct Likelihood {
    /// Batch, classes, and the product of the other dimensions.
    dims: [usize; 3],
    reduction: i64,
    ignored: i64,
    backward: bool,
}

impl Kernel for Likelihood {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let [batch, classes, rest] = self.dims;
        // Forward: x, target, weight. Backward: gradient, target, weight, total weight.
        let from = call.input::<f32>(0)?.flat();
        let (target, weight) = (call.input::<i64>(1)?.flat(), call.input::<f32>(2)?.flat());
        let out = call.output::<f32>(0)?.flat();
        let total = match self.backward {
            true => call.input::<f32>(3)?.flat().get(0),
            false => 0.0,
        };
        if self.backward {
            for index in 0..out.len() {
                out.set(index, 0.0);
            }
        }
        let (mut sum, mut weights) = (0.0f64, 0.0f64);
        for item in 0..batch {
            for inner in 0..rest {
                let position = item * rest + inner;
                let class = target.get(position);
                if class == self.ignored {
                    if !self.backward && self.reduction == 0 {
                        out.set(position, 0.0);
                    }
                    continue;
                }
                let class = usize::try_from(class)
                    .ok()
                    .filter(|&class| class < classes)
                    .ok_or_else(|| {
                        OpError::new(
                            OpErrorKind::Data,
                            format!("the target {class} names none of {classes} classes"),
                        )
                    })?;
                let (own, at) = (weight.get(class), (item * classes + class) * rest + inner);
                if self.backward {
                    out.set(
                        at,
                        match self.reduction {
                            0 => -own * from.get(position),
                            1 => -own * from.get(0) / total,
                            _ => -own * from.get(0),
                        },
                    );
                } else if self.reduction == 0 {
                    out.set(position, -own * from.get(at));
                } else {
                    sum -= f64::from(own) * f64::from(from.get(at));
                    weights += f64::from(own);
                }
            }
        }
        if !self.backward && self.reduction != 0 {
            let loss = if self.reduction == 1 {
                sum / weights
            } else {
                sum
            };
            out.set(0, loss as f32);
            call.output::<f32>(1)?.flat().set(0, weights as f32);
        }
        Ok(())
    }
}

/// Returns batch, classes and the product of the other dimensions of the scores, and how the loss is reduced.
fn likelihood_dims(cx: &Cx<'_>, x: &View, target: &View) -> Result<[usize; 3], Refusal> {
    let dims = match x.dims() {
        &[classes] => [1, classes, 1],
        [batch, classes, rest @ ..] => [*batch, *classes, rest.iter().product()],
        [] => return Err(cx.invalid("self has no dimension of classes")),
    };
    if target.elements() != dims[0] * dims[2] {
        return Err(cx.invalid(format_args!(
            "target has the shape {:?}, which does not match self of the shape {:?}",
            target.dims(),
            x.dims()
        )));
    }
    Ok(dims)
}

/// Returns dense operands of the loss: numbers in float32, the target in int64, the weights of the classes.
fn likelihood_operands(
    cx: &mut Cx<'_>,
    from: View,
    target: View,
    weight: View,
    classes: usize,
) -> Result<Vec<Option<View>>, Refusal> {
    cx.check_dims(&weight, &[classes])?;
    let mut operands = Vec::new();
    for (view, dtype) in [
        (from, DataType::Float32),
        (target, DataType::Int64),
        (weight, DataType::Float32),
    ] {
        let view = cx.cast(view, dtype)?;
        operands.push(Some(cx.dense(view)?));
    }
    Ok(operands)
}

fn likelihood(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, target, weight) = (
        cx.tensor("self")?,
        cx.tensor("target")?,
        cx.tensor("weight")?,
    );
    let (out, total) = (cx.out("out")?, cx.out("totalWeightOut")?);
    let dims = likelihood_dims(cx, &x, &target)?;
    let kind = reduction(cx)?;
    let operands = likelihood_operands(cx, x, target, weight, dims[1])?;
    let kernel = Likelihood {
        dims,
        reduction: kind,
        ignored: cx.int("ignoreIndex")?,
        backward: false,
    };
    if kind == 0 {
        cx.check_dims(&out, target.dims())?;
    }
    let loss = cx.temporary(DataType::Float32, out.dims())?;
    let sum = cx.temporary(DataType::Float32, &[1])?;
    cx.fill(Scalar::of_i64(0), sum)?;
    cx.kernel(Box::new(kernel), &operands, &[loss, sum], false)?;
    cx.copy(loss, out)?;
    let sum = cx.reshaped(sum, total.dims())?;
    cx.copy(sum, total)
}

fn likelihood_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (target, weight) = (cx.tensor("target")?, cx.tensor("weight")?);
    let (total, out) = (cx.tensor("totalWeight")?, cx.out("out")?);
    cx.check_dims(&out, x.dims())?;
    let dims = likelihood_dims(cx, &x, &target)?;
    let mut operands = likelihood_operands(cx, gradient, target, weight, dims[1])?;
    let total = cx.cast(total, DataType::Float32)?;
    operands.push(Some(cx.dense(total)?));
    let kernel = Likelihood {
        dims,
        reduction: reduction(cx)?,
        ignored: cx.int("ignoreIndex")?,
        backward: true,
    };
    let result = cx.temporary(DataType::Float32, out.dims())?;
    cx.kernel(Box::new(kernel), &operands, &[result], false)?;
    cx.copy(result, out)
}
