//! Softmax, normalization over dimensions, and losses, each with its gradient.

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

mod by_rows;

use super::Table;
use super::reduction::{accumulator, mean_and_squares, reduce, reduce_kept, without_dims};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar, promote};

pub(crate) static TABLE: &Table = &[
    ("aclnnBatchNorm", batch_norm),
    ("aclnnBatchNormBackward", batch_norm_backward),
    ("aclnnLayerNorm", layer_norm),
    ("aclnnLayerNormBackward", layer_norm_backward),
    ("aclnnLogSoftmax", |cx| softmax(cx, "LogSoftmaxV2")),
    ("aclnnLogSoftmaxBackward", log_softmax_backward),
    ("aclnnMseLoss", mse_loss),
    ("aclnnMseLossBackward", mse_loss_backward),
    ("aclnnSoftmax", |cx| softmax(cx, "SoftmaxV2")),
    ("aclnnSoftmaxBackward", softmax_backward),
];

/// Computes a function into a new temporary of the shape `dims`.
pub(super) fn computed(
    cx: &mut Cx<'_>,
    function: F,
    dtype: DataType,
    operands: &[Operand],
    dims: &[usize],
) -> Result<View, Refusal> {
    let to = cx.temporary(dtype, dims)?;
    cx.map(function, dtype, operands, to)?;
    Ok(to)
}

pub(super) fn number(value: f64) -> Operand {
    Operand::Scalar(Scalar::of_f64(value))
}

/// Refuses complex numbers, which would lose their imaginary parts.
fn check_real(cx: &Cx<'_>, x: &View) -> Result<(), Refusal> {
    match promote::is_complex(x.dtype()) {
        true => Err(cx.refuse_type(&cx.param_of(x), x.dtype(), "a real type")),
        false => Ok(()),
    }
}

/// Casts and reshapes an argument that must have as many elements as `dims`.
fn shaped(cx: &mut Cx<'_>, view: View, dtype: DataType, dims: &[usize]) -> Result<View, Refusal> {
    check_count(cx, &view, dims)?;
    let view = cx.cast(view, dtype)?;
    cx.reshaped(view, dims)
}

/// Refuses a tensor with another number of elements than a shape.
pub(super) fn check_count(cx: &Cx<'_>, view: &View, dims: &[usize]) -> Result<(), Refusal> {
    match view.elements() == dims.iter().product::<usize>() {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have as many elements as {dims:?}",
            cx.param_of(view),
            view.dims()
        ))),
    }
}

fn softmax(cx: &mut Cx<'_>, operator: &str) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    cx.check_dims(&out, x.dims())?;
    check_real(cx, &x)?;
    let (x, out) = match x.rank() {
        0 => (x.unsqueeze(0), out.unsqueeze(0)),
        _ => (x, out),
    };
    let compute = accumulator(out.dtype());
    let is_half = |view: &View| matches!(view.dtype(), DataType::Float16 | DataType::BFloat16);
    if is_half(&x) && is_half(&out) && axis + 1 == x.rank() {
        // Only rows are converted: float32 forms of both tensors would be larger than these.
        return match operator {
            "SoftmaxV2" => cx.rows(by_rows::Softmax::<false>, &[Some(x)], &[Some(out)]),
            _ => cx.rows(by_rows::Softmax::<true>, &[Some(x)], &[Some(out)]),
        };
    }
    let x = cx.cast(x, compute)?;
    let attrs = Attrs::new().with("axes", vec![axis as i64]);
    cx.op(operator, &[x.into()], &attrs, &[out])
}

/// The gradient and the result of a softmax in the type of the computation, with the axis.
fn softmax_gradient(cx: &mut Cx<'_>) -> Result<(View, View, usize, View), Refusal> {
    let (gradient, result, out) = (cx.tensor("gradOutput")?, cx.tensor("output")?, cx.output()?);
    cx.check_dims(&result, gradient.dims())?;
    cx.check_dims(&out, gradient.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, gradient.rank())?;
    let with_axis = |view: View| {
        if view.rank() == 0 {
            view.unsqueeze(0)
        } else {
            view
        }
    };
    let compute = accumulator(out.dtype());
    let gradient = cx.cast(with_axis(gradient), compute)?;
    let result = cx.cast(with_axis(result), compute)?;
    Ok((gradient, result, axis, with_axis(out)))
}

fn softmax_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, result, axis, out) = softmax_gradient(cx)?;
    let dtype = gradient.dtype();
    if dtype == DataType::Float32 && axis + 1 == gradient.rank() {
        return cx.rows(
            by_rows::SoftmaxGradient,
            &[Some(gradient), Some(result)],
            &[Some(out)],
        );
    }
    let both = [Operand::Tensor(gradient), Operand::Tensor(result)];
    let products = computed(cx, F::Mul, dtype, &both, gradient.dims())?;
    let sum = reduce_kept(cx, "ReduceSum", products, &[axis])?;
    let operands = [Operand::Tensor(gradient), Operand::Tensor(sum)];
    let distances = computed(cx, F::Sub, dtype, &operands, gradient.dims())?;
    cx.map(
        F::Mul,
        dtype,
        &[Operand::Tensor(distances), Operand::Tensor(result)],
        out,
    )
}

fn log_softmax_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, result, axis, out) = softmax_gradient(cx)?;
    let dtype = gradient.dtype();
    let sum = reduce_kept(cx, "ReduceSum", gradient, &[axis])?;
    let shares = computed(
        cx,
        F::Exp,
        dtype,
        &[Operand::Tensor(result)],
        gradient.dims(),
    )?;
    let operands = [Operand::Tensor(shares), Operand::Tensor(sum)];
    let part = computed(cx, F::Mul, dtype, &operands, gradient.dims())?;
    cx.map(
        F::Sub,
        dtype,
        &[Operand::Tensor(gradient), Operand::Tensor(part)],
        out,
    )
}

/// Checks that the last dimensions of a tensor are the normalized shape. Returns how many rows and columns it has.
fn rows_and_columns(cx: &Cx<'_>, x: &View) -> Result<(usize, usize), Refusal> {
    let shape = cx.ints("normalizedShape")?;
    let first = x.rank().checked_sub(shape.len());
    let matches = first.is_some_and(|first| {
        x.dims()[first..]
            .iter()
            .zip(shape)
            .all(|(&dim, &wanted)| dim as i64 == wanted)
    });
    match (matches, first) {
        (true, Some(first)) if !shape.is_empty() => {
            let (rows, columns) = x.dims().split_at(first);
            Ok((rows.iter().product(), columns.iter().product()))
        }
        _ => Err(cx.invalid(format_args!(
            "normalizedShape is {shape:?}; it must be the last dimensions of input, which has the shape {:?}",
            x.dims()
        ))),
    }
}

fn layer_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("input")?, cx.out("out")?);
    let (rows, columns) = rows_and_columns(cx, &x)?;
    cx.check_dims(&out, x.dims())?;
    let (weight, bias) = (cx.optional("weightOptional")?, cx.optional("biasOptional")?);
    let (mean, rstd) = (
        cx.optional("meanOutOptional")?,
        cx.optional("rstdOutOptional")?,
    );
    if x.is_empty() {
        for statistic in [mean, rstd].into_iter().flatten() {
            cx.fill(Scalar::of_f64(f64::NAN), statistic)?;
        }
        return Ok(());
    }
    let compute = accumulator(x.dtype());
    let epsilon = cx.float("eps")?;
    if compute == DataType::Float32 {
        let inputs = [Some(x), weight, bias];
        return layer_norm_by_rows(
            cx,
            inputs,
            [Some(out), mean, rstd],
            [rows, columns],
            epsilon,
        );
    }
    let x = cx.cast(x, compute)?;
    let flat = cx.reshaped(x, &[rows, columns])?;
    let row = |cx: &mut Cx<'_>, view: View| shaped(cx, view, compute, &[columns]);
    let scale = match weight {
        Some(weight) => row(cx, weight)?,
        None => {
            let ones = cx.temporary(compute, &[columns])?;
            cx.fill(Scalar::of_f64(1.0), ones)?;
            ones
        }
    };
    let offset = match bias {
        Some(bias) => Some(row(cx, bias)?),
        None => None,
    };
    let attrs = Attrs::new()
        .with("begin_norm_axis", 1i64)
        .with("begin_params_axis", 1i64)
        .with("epsilon", epsilon as f32)
        .with("epsilon_rest", (epsilon - f64::from(epsilon as f32)) as f32);
    let target = match out.dtype() == compute {
        true => out.reshape(&[rows, columns]),
        false => None,
    };
    let result = match target {
        Some(target) => target,
        None => cx.temporary(compute, &[rows, columns])?,
    };
    let (own_mean, own_rstd) = (
        cx.temporary(compute, &[rows, 1])?,
        cx.temporary(compute, &[rows, 1])?,
    );
    let inputs = [flat.into(), scale.into(), offset.into()];
    cx.op(
        "LayerNormV3",
        &inputs,
        &attrs,
        &[result, own_mean, own_rstd],
    )?;
    if target.is_none() {
        let shaped = cx.reshaped(result, out.dims())?;
        cx.copy(shaped, out)?;
    }
    for (own, statistic) in [(own_mean, mean), (own_rstd, rstd)] {
        if let Some(statistic) = statistic {
            check_count(cx, &statistic, own.dims())?;
            let shaped = cx.reshaped(own, statistic.dims())?;
            cx.copy(shaped, statistic)?;
        }
    }
    Ok(())
}

/// Computes the normalization in float32. Inputs: x, weight, bias. Outputs: the result, mean, rstd.
fn layer_norm_by_rows(
    cx: &mut Cx<'_>,
    inputs: [Option<View>; 3],
    outputs: [Option<View>; 3],
    [rows, columns]: [usize; 2],
    epsilon: f64,
) -> Result<(), Refusal> {
    let mut sources = [None; 3];
    for ((source, input), dims) in
        sources
            .iter_mut()
            .zip(inputs)
            .zip([&[rows, columns][..], &[columns], &[columns]])
    {
        if let Some(input) = input {
            check_count(cx, &input, dims)?;
            *source = Some(cx.reshaped(input, dims)?);
        }
    }
    let mut targets = [None; 3];
    for ((target, output), last) in targets.iter_mut().zip(outputs).zip([columns, 1, 1]) {
        if let Some(output) = output {
            let dims = [rows, last];
            check_count(cx, &output, &dims)?;
            *target = Some(match output.reshape(&dims) {
                Some(reshaped) => reshaped,
                None => cx.temporary(output.dtype(), &dims)?,
            });
        }
    }
    cx.rows(by_rows::LayerNorm { epsilon }, &sources, &targets)?;
    for (target, output) in targets.into_iter().zip(outputs) {
        if let (Some(target), Some(output)) = (target, output)
            && output.reshape(target.dims()).is_none()
        {
            let result = cx.reshaped(target, output.dims())?;
            cx.copy(result, output)?;
        }
    }
    Ok(())
}

fn layer_norm_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOut")?, cx.tensor("input")?);
    cx.check_dims(&gradient, x.dims())?;
    let (rows, columns) = rows_and_columns(cx, &x)?;
    let dims = x.dims().to_vec();
    let (mean, rstd) = (cx.tensor("mean")?, cx.tensor("rstd")?);
    let weight = cx.optional("weightOptional")?;
    let wanted = wanted(cx)?;
    let (to_x, to_weight, to_bias) = (
        cx.optional("gradInputOut")?.filter(|_| wanted[0]),
        cx.optional("gradWeightOut")?.filter(|_| wanted[1]),
        cx.optional("gradBiasOut")?.filter(|_| wanted[2]),
    );
    let compute = accumulator(x.dtype());
    let shape = [rows, columns];
    let flat = |cx: &mut Cx<'_>, view: View, dims: &[usize]| shaped(cx, view, compute, dims);
    let gradient = flat(cx, gradient, &shape)?;
    let x = flat(cx, x, &shape)?;
    let (mean, rstd) = (flat(cx, mean, &[rows, 1])?, flat(cx, rstd, &[rows, 1])?);
    if let Some(out) = to_x
        && compute == DataType::Float32
        && !x.is_empty()
    {
        cx.check_dims(&out, &dims)?;
        let scale = match weight {
            Some(weight) => Some(flat(cx, weight, &[columns])?),
            None => None,
        };
        let terms = match to_weight {
            Some(_) => Some(cx.temporary(compute, &shape)?),
            None => None,
        };
        let target = match out.reshape(&shape) {
            Some(target) => target,
            None => cx.temporary(compute, &shape)?,
        };
        cx.rows(
            by_rows::LayerGradient { width: columns },
            &[Some(gradient), Some(x), Some(mean), Some(rstd), scale],
            &[Some(target), terms],
        )?;
        if out.reshape(&shape).is_none() {
            let result = cx.reshaped(target, &dims)?;
            cx.copy(result, out)?;
        }
        if let (Some(terms), Some(out)) = (terms, to_weight) {
            sum_rows(cx, terms, out)?;
        }
        return match to_bias {
            Some(out) => sum_rows(cx, gradient, out),
            None => Ok(()),
        };
    }
    let unit = normalized(cx, x, [mean, rstd], compute, &shape)?;
    if let Some(out) = to_weight {
        let both = [Operand::Tensor(gradient), Operand::Tensor(unit)];
        let products = computed(cx, F::Mul, compute, &both, &shape)?;
        sum_rows(cx, products, out)?;
    }
    if let Some(out) = to_bias {
        sum_rows(cx, gradient, out)?;
    }
    let Some(out) = to_x else {
        return Ok(());
    };
    let scaled = match weight {
        Some(weight) => {
            let weight = flat(cx, weight, &[columns])?;
            let both = [Operand::Tensor(gradient), Operand::Tensor(weight)];
            computed(cx, F::Mul, compute, &both, &shape)?
        }
        None => gradient,
    };
    let both = [Operand::Tensor(scaled), Operand::Tensor(unit)];
    let products = computed(cx, F::Mul, compute, &both, &shape)?;
    let mean_of_scaled = reduce_kept(cx, "ReduceMean", scaled, &[1])?;
    let mean_of_products = reduce_kept(cx, "ReduceMean", products, &[1])?;
    let operands = [Operand::Tensor(scaled), Operand::Tensor(mean_of_scaled)];
    let centred = computed(cx, F::Sub, compute, &operands, &shape)?;
    let operands = [Operand::Tensor(unit), Operand::Tensor(mean_of_products)];
    let along = computed(cx, F::Mul, compute, &operands, &shape)?;
    let operands = [Operand::Tensor(centred), Operand::Tensor(along)];
    let across = computed(cx, F::Sub, compute, &operands, &shape)?;
    let result = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(across), Operand::Tensor(rstd)],
        &shape,
    )?;
    cx.check_dims(&out, &dims)?;
    let result = cx.reshaped(result, &dims)?;
    cx.copy(result, out)
}

/// Returns `(x - mean) * rstd`.
fn normalized(
    cx: &mut Cx<'_>,
    x: View,
    [mean, rstd]: [View; 2],
    compute: DataType,
    dims: &[usize],
) -> Result<View, Refusal> {
    let operands = [Operand::Tensor(x), Operand::Tensor(mean)];
    let centred = computed(cx, F::Sub, compute, &operands, dims)?;
    let operands = [Operand::Tensor(centred), Operand::Tensor(rstd)];
    computed(cx, F::Mul, compute, &operands, dims)
}

/// Sums the rows of a matrix into an output of as many elements as it has columns.
fn sum_rows(cx: &mut Cx<'_>, rows: View, out: View) -> Result<(), Refusal> {
    check_count(cx, &out, &[rows.dims()[1]])?;
    let sum = cx.temporary(rows.dtype(), &[rows.dims()[1]])?;
    reduce(cx, "ReduceSum", rows, &[0], false, sum)?;
    let sum = cx.reshaped(sum, out.dims())?;
    cx.copy(sum, out)
}

/// Returns the three flags of the output mask.
fn wanted(cx: &Cx<'_>) -> Result<[bool; 3], Refusal> {
    let mask = cx.bools("outputMask")?;
    mask.try_into().map_err(|_| {
        cx.invalid(format_args!(
            "outputMask has {} flags; expected 3",
            mask.len()
        ))
    })
}

/// A batch of channels: batch, channels, and the product of the other dimensions.
fn channels(cx: &Cx<'_>, x: &View) -> Result<[usize; 3], Refusal> {
    match x.dims() {
        [batch, channels, rest @ ..] => Ok([*batch, *channels, rest.iter().product()]),
        dims => Err(cx.invalid(format_args!(
            "input has the shape {dims:?}; expected at least a batch and channels"
        ))),
    }
}

/// Views a vector over the channels under the shape that broadcasts to a batch.
fn per_channel(
    cx: &mut Cx<'_>,
    vector: View,
    channels: usize,
    compute: DataType,
) -> Result<View, Refusal> {
    cx.check_dims(&vector, &[channels])?;
    let vector = cx.cast(vector, compute)?;
    cx.reshaped(vector, &[1, channels, 1])
}

fn batch_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, output) = (cx.tensor("input")?, cx.out("output")?);
    cx.check_dims(&output, input.dims())?;
    let shape = channels(cx, &input)?;
    let [batch, count, rest] = shape;
    let (weight, bias) = (cx.optional("weight")?, cx.optional("bias")?);
    let (running_mean, running_var) = (cx.optional("runningMean")?, cx.optional("runningVar")?);
    let (training, epsilon) = (cx.flag("training")?, cx.float("eps")?);
    let momentum = cx.float("momentum")?;
    for statistic in [&running_mean, &running_var].into_iter().flatten() {
        if !statistic.is_empty() {
            cx.check_dims(statistic, &[count])?;
        }
    }
    if input.is_empty() {
        return Ok(());
    }
    let compute = accumulator(input.dtype());
    let x = cx.cast(input, compute)?;
    let x = cx.reshaped(x, &shape)?;
    let vector = [1, count, 1];
    let in_rows = by_rows::pays(compute, rest);
    let (mean, rstd) = if training {
        let (mean, variance) = match in_rows {
            true => by_rows::moments(cx, x, shape)?,
            false => {
                let (mean, squares) = mean_and_squares(cx, x, &[0, 2])?;
                (mean, reduce_kept(cx, "ReduceMean", squares, &[0, 2])?)
            }
        };
        let elements = (batch * rest) as f64;
        let unbiased = elements / (elements - 1.0).max(1.0);
        update(cx, running_mean, mean, 1.0, momentum)?;
        update(cx, running_var, variance, unbiased, momentum)?;
        let shifted = computed(
            cx,
            F::Add,
            compute,
            &[Operand::Tensor(variance), number(epsilon)],
            &vector,
        )?;
        let rstd = computed(cx, F::Rsqrt, compute, &[Operand::Tensor(shifted)], &vector)?;
        for (own, name) in [(mean, "saveMean"), (rstd, "saveInvstd")] {
            if let Some(save) = cx.optional(name)?.filter(|save| !save.is_empty()) {
                cx.check_dims(&save, &[count])?;
                let own = cx.reshaped(own, &[count])?;
                cx.copy(own, save)?;
            }
        }
        (mean, rstd)
    } else {
        let (Some(mean), Some(variance)) = (running_mean, running_var) else {
            return Err(cx.null("runningMean or runningVar"));
        };
        let mean = per_channel(cx, mean, count, compute)?;
        let variance = per_channel(cx, variance, count, compute)?;
        let shifted = computed(
            cx,
            F::Add,
            compute,
            &[Operand::Tensor(variance), number(epsilon)],
            &vector,
        )?;
        let rstd = computed(cx, F::Rsqrt, compute, &[Operand::Tensor(shifted)], &vector)?;
        (mean, rstd)
    };
    let scale = match weight {
        Some(weight) => {
            let weight = per_channel(cx, weight, count, compute)?;
            computed(
                cx,
                F::Mul,
                compute,
                &[Operand::Tensor(rstd), Operand::Tensor(weight)],
                &vector,
            )?
        }
        None => rstd,
    };
    if in_rows {
        let bias = match bias {
            Some(bias) => Some(per_channel(cx, bias, count, compute)?),
            None => None,
        };
        let inputs = [Some(x), Some(mean), Some(scale), bias];
        return by_rows::write(cx, by_rows::Normalize, &inputs, shape, output);
    }
    let centred = computed(
        cx,
        F::Sub,
        compute,
        &[Operand::Tensor(x), Operand::Tensor(mean)],
        &shape,
    )?;
    let bias = match bias {
        Some(bias) => Operand::Tensor(per_channel(cx, bias, count, compute)?),
        None => number(0.0),
    };
    // bias + centred * scale * 1
    let operands = [
        bias,
        Operand::Tensor(centred),
        Operand::Tensor(scale),
        number(1.0),
    ];
    let result = computed(cx, F::Addcmul, compute, &operands, &shape)?;
    let result = cx.reshaped(result, output.dims())?;
    cx.copy(result, output)
}

/// Moves a running statistic towards that of the batch.
fn update(
    cx: &mut Cx<'_>,
    running: Option<View>,
    batch: View,
    factor: f64,
    momentum: f64,
) -> Result<(), Refusal> {
    let Some(running) = running.filter(|running| !running.is_empty()) else {
        return Ok(());
    };
    let compute = batch.dtype();
    let dims = running.dims().to_vec();
    let batch = cx.reshaped(batch, &dims)?;
    let scaled = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(batch), number(factor * momentum)],
        &dims,
    )?;
    let kept = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(running), number(1.0 - momentum)],
        &dims,
    )?;
    cx.map(
        F::Add,
        compute,
        &[Operand::Tensor(kept), Operand::Tensor(scaled)],
        running,
    )
}

fn batch_norm_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, input) = (cx.tensor("gradOut")?, cx.tensor("input")?);
    cx.check_dims(&gradient, input.dims())?;
    let shape = channels(cx, &input)?;
    let [batch, count, rest] = shape;
    let wanted = wanted(cx)?;
    let (training, epsilon) = (cx.flag("training")?, cx.float("eps")?);
    let compute = accumulator(input.dtype());
    let vector = [1, count, 1];
    let (mean, rstd) = if training {
        let (mean, rstd) = (cx.tensor("saveMean")?, cx.tensor("saveInvstd")?);
        (
            per_channel(cx, mean, count, compute)?,
            per_channel(cx, rstd, count, compute)?,
        )
    } else {
        let (mean, variance) = (cx.tensor("runningMean")?, cx.tensor("runningVar")?);
        let variance = per_channel(cx, variance, count, compute)?;
        let shifted = computed(
            cx,
            F::Add,
            compute,
            &[Operand::Tensor(variance), number(epsilon)],
            &vector,
        )?;
        let rstd = computed(cx, F::Rsqrt, compute, &[Operand::Tensor(shifted)], &vector)?;
        (per_channel(cx, mean, count, compute)?, rstd)
    };
    let flat = |cx: &mut Cx<'_>, view: View| {
        let view = cx.cast(view, compute)?;
        cx.reshaped(view, &shape)
    };
    let (gradient, x) = (flat(cx, gradient)?, flat(cx, input)?);
    let in_rows = by_rows::pays(compute, rest) && !x.is_empty();
    let (unit, sum_of_products, sum_of_gradient) = if in_rows {
        let [products, sum] = by_rows::gradient_sums(cx, [gradient, x, mean, rstd], shape)?;
        (None, products, sum)
    } else {
        let unit = normalized(cx, x, [mean, rstd], compute, &shape)?;
        let products = computed(
            cx,
            F::Mul,
            compute,
            &[Operand::Tensor(gradient), Operand::Tensor(unit)],
            &shape,
        )?;
        let sum_of_products = reduce_kept(cx, "ReduceSum", products, &[0, 2])?;
        let sum_of_gradient = reduce_kept(cx, "ReduceSum", gradient, &[0, 2])?;
        (Some(unit), sum_of_products, sum_of_gradient)
    };
    for (name, flag, sum) in [
        ("gradWeight", wanted[1], sum_of_products),
        ("gradBias", wanted[2], sum_of_gradient),
    ] {
        if let Some(out) = cx.optional(name)?.filter(|_| flag) {
            cx.check_dims(&out, &[count])?;
            let sum = cx.reshaped(sum, &[count])?;
            cx.copy(sum, out)?;
        }
    }
    let Some(out) = cx.optional("gradInput")?.filter(|_| wanted[0]) else {
        return Ok(());
    };
    cx.check_dims(&out, input.dims())?;
    let scale = match cx.optional("weight")? {
        Some(weight) => {
            let weight = per_channel(cx, weight, count, compute)?;
            computed(
                cx,
                F::Mul,
                compute,
                &[Operand::Tensor(rstd), Operand::Tensor(weight)],
                &vector,
            )?
        }
        None => rstd,
    };
    let Some(unit) = unit else {
        let mut inputs = vec![Some(gradient), Some(scale)];
        if training {
            let share = number(((batch * rest) as f64).recip());
            let mean_of = |cx: &mut Cx<'_>, sum: View| {
                let operands = [Operand::Tensor(sum), share];
                computed(cx, F::Mul, compute, &operands, &vector)
            };
            let level = mean_of(cx, sum_of_gradient)?;
            let along = mean_of(cx, sum_of_products)?;
            let both = [Operand::Tensor(along), Operand::Tensor(rstd)];
            let slope = computed(cx, F::Mul, compute, &both, &vector)?;
            inputs.extend([Some(x), Some(mean), Some(level), Some(slope)]);
        }
        return by_rows::write(cx, by_rows::BatchGradient, &inputs, shape, out);
    };
    let across = if training {
        let share = number(((batch * rest).max(1) as f64).recip());
        let mean_of_gradient = computed(
            cx,
            F::Mul,
            compute,
            &[Operand::Tensor(sum_of_gradient), share],
            &vector,
        )?;
        let mean_of_products = computed(
            cx,
            F::Mul,
            compute,
            &[Operand::Tensor(sum_of_products), share],
            &vector,
        )?;
        let operands = [Operand::Tensor(gradient), Operand::Tensor(mean_of_gradient)];
        let centred = computed(cx, F::Sub, compute, &operands, &shape)?;
        let operands = [Operand::Tensor(unit), Operand::Tensor(mean_of_products)];
        let along = computed(cx, F::Mul, compute, &operands, &shape)?;
        computed(
            cx,
            F::Sub,
            compute,
            &[Operand::Tensor(centred), Operand::Tensor(along)],
            &shape,
        )?
    } else {
        gradient
    };
    let result = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(across), Operand::Tensor(scale)],
        &shape,
    )?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}

/// How a loss is reduced: not at all, to its mean, or to its sum.
pub(super) fn reduction(cx: &Cx<'_>) -> Result<i64, Refusal> {
    match cx.int("reduction")? {
        kind @ 0..=2 => Ok(kind),
        other => Err(cx.invalid(format_args!(
            "reduction is {other}; it must be 0 (none), 1 (mean) or 2 (sum)"
        ))),
    }
}

fn mse_loss(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, target, out) = (cx.tensor("self")?, cx.tensor("target")?, cx.out("out")?);
    let kind = reduction(cx)?;
    let dtype = cx.promote(x.dtype(), target.dtype())?;
    let compute = accumulator(dtype);
    let (dims, rank) = cx.broadcast(&[x, target])?;
    let dims = &dims[..rank];
    let distances = computed(
        cx,
        F::Sub,
        compute,
        &[Operand::Tensor(x), Operand::Tensor(target)],
        dims,
    )?;
    if kind == 0 {
        cx.check_dims(&out, dims)?;
        return cx.map(F::Square, compute, &[Operand::Tensor(distances)], out);
    }
    let out = without_dims(out);
    cx.check_dims(&out, &[])?;
    if distances.is_empty() {
        let empty = if kind == 1 { f64::NAN } else { 0.0 };
        return cx.fill(Scalar::of_f64(empty), out);
    }
    let squares = computed(cx, F::Square, compute, &[Operand::Tensor(distances)], dims)?;
    let axes: Vec<usize> = (0..rank).collect();
    let operator = if kind == 1 { "ReduceMean" } else { "ReduceSum" };
    reduce(cx, operator, squares, &axes, false, out)
}

fn mse_loss_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOutput")?, cx.tensor("self")?);
    let (target, out) = (cx.tensor("target")?, cx.out("out")?);
    let kind = reduction(cx)?;
    let compute = accumulator(out.dtype());
    let (dims, rank) = cx.broadcast(&[gradient, x, target])?;
    let dims = dims[..rank].to_vec();
    cx.check_dims(&out, &dims)?;
    let factor = match kind {
        1 => 2.0 / (out.elements().max(1) as f64),
        _ => 2.0,
    };
    let distances = computed(
        cx,
        F::Sub,
        compute,
        &[Operand::Tensor(x), Operand::Tensor(target)],
        &dims,
    )?;
    let scaled = computed(
        cx,
        F::Mul,
        compute,
        &[Operand::Tensor(distances), number(factor)],
        &dims,
    )?;
    cx.map(
        F::Mul,
        compute,
        &[Operand::Tensor(scaled), Operand::Tensor(gradient)],
        out,
    )
}
