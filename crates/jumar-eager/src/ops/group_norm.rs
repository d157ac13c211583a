//! Normalization over groups of channels, and its gradient.

use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::normalization::{check_count, computed, number};
use super::operands::{FLOATS, MergedOutput};
use super::reduction::{accumulator, mean_and_squares, reduce_kept};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::element::any::{AnyView, AnyViewMut, internal};
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnGroupNorm", group_norm),
    ("aclnnGroupNormBackward", group_norm_backward),
    ("aclnnGroupNormSwishGrad", swish_backward),
    ("aclnnInstanceNorm", instance_norm),
];

/// Batch, groups, channels in a group, and elements of a channel.
fn sizes(cx: &Cx<'_>, x: &View) -> Result<[usize; 4], Refusal> {
    let given = [cx.int("N")?, cx.int("C")?, cx.int("HxW")?, cx.int("group")?];
    let [batch, channels, rest, groups] = given.map(|size| usize::try_from(size).ok());
    let (Some(batch), Some(channels), Some(rest), Some(groups @ 1..)) =
        (batch, channels, rest, groups)
    else {
        return Err(cx.invalid(format_args!(
            "N, C, HxW and group are {given:?}; they must not be negative, and group must be positive"
        )));
    };
    let product = batch
        .checked_mul(channels)
        .and_then(|all| all.checked_mul(rest));
    if product != Some(x.elements()) || !channels.is_multiple_of(groups) {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; N, C and HxW {:?} must have as many elements, and group {groups} must divide C",
            cx.param_of(x),
            x.dims(),
            &given[..3]
        )));
    }
    Ok([batch, groups, channels / groups, rest])
}

/// Returns a weight of the channels under the shape that broadcasts to `[batch, groups, channels, rest]`.
fn per_channel(cx: &mut Cx<'_>, weight: View, shape: [usize; 4]) -> Result<View, Refusal> {
    cx.check_dims(&weight, &[shape[1] * shape[2]])?;
    cx.reshaped(weight, &[1, shape[1], shape[2], 1])
}

/// Returns a figure of each group under the shape that broadcasts.
fn per_group(cx: &mut Cx<'_>, figure: View, shape: [usize; 4]) -> Result<View, Refusal> {
    check_count(cx, &figure, &shape[..2])?;
    cx.reshaped(figure, &[shape[0], shape[1], 1, 1])
}

/// Elements that are converted and added in float32 at a time.
const BLOCK: usize = 1 << 10;
/// Elements that are worth a thread.
const GRAIN: usize = 1 << 13;

/// Normalises groups of channels in one pass over each, without intermediate results in memory. Inputs: x `[batch, channels, rest]`, and
/// gamma and beta where they are given. Outputs: the result, and mean and rstd, or the variance, `[batch, groups]`.
struct GroupNorm {
    /// Whether the last output is the variance.
    variance: bool,
    /// The element types of x, gamma and beta, and of the outputs.
    inputs: [Option<DataType>; 3],
    outputs: [DataType; 3],
    /// Batch, groups, channels in a group, and elements of a channel.
    shape: [usize; 4],
    epsilon: f64,
}

/// Where the elements of a group lie: rows of equal length, each with equal distances.
struct Group {
    start: usize,
    rows: usize,
    /// The distance of the rows.
    pitch: isize,
    len: usize,
    step: isize,
}

impl Group {
    /// Calls a function with each block of the group, in float32, and with the position of its first element.
    fn blocks(&self, x: &AnyView<'_>, mut each: impl FnMut(usize, &mut [f32])) {
        let mut block = [0.0; BLOCK];
        for row in 0..self.rows {
            for first in (0..self.len).step_by(BLOCK) {
                let block = &mut block[..BLOCK.min(self.len - first)];
                x.load(self.at(row, first), self.step, RowMut::of(block));
                each(row * self.len + first, block);
            }
        }
    }

    fn at(&self, row: usize, element: usize) -> usize {
        self.start + row * self.pitch as usize + element * self.step as usize
    }

    /// Adds what a function makes of the elements.
    fn sum(&self, x: &AnyView<'_>, term: impl Fn(f32) -> f32) -> f64 {
        let mut total = 0.0;
        self.blocks(x, |_, block| {
            let sum = |sum: f32, value| sum + term(value);
            let part = Row::of(&*block).fold_wide(0.0, sum, |one, two| one + two);
            total += f64::from(part);
        });
        total
    }
}

impl GroupNorm {
    /// Returns where a group lies. Channels that follow each other are one row.
    fn group(&self, strides: &[isize], batch: usize, group: usize) -> Group {
        let [_, _, channels, rest] = self.shape;
        let &[images, pitch, step] = strides else {
            unreachable!("a batch has three dimensions")
        };
        let start = batch * images as usize + group * channels * pitch as usize;
        let (rows, len, step) = match rest {
            1 => (1, channels, pitch),
            _ if pitch == rest as isize * step => (1, channels * rest, step),
            _ => (channels, rest, step),
        };
        Group {
            start,
            rows,
            pitch,
            len,
            step,
        }
    }
}

impl Kernel for GroupNorm {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let mut inputs = [None; 3];
        let mut position = 0;
        for (view, dtype) in inputs.iter_mut().zip(self.inputs) {
            if let Some(dtype) = dtype {
                *view = Some(AnyView::new(call, position, dtype)?);
                position += 1;
            }
        }
        let [Some(x), gamma, beta] = inputs else {
            return Err(internal("a normalization without x"));
        };
        let output = |index: usize| AnyViewMut::new(call, index, self.outputs[index]);
        let (out, mean_out, spread_out) = (output(0)?, output(1)?, output(2)?);
        let [batch, groups, channels, rest] = self.shape;
        let count = channels * rest;
        let one_group = |number: usize| {
            let (image, group) = (number / groups, number % groups);
            let from = self.group(x.layout().strides(), image, group);
            let to = self.group(out.layout().strides(), image, group);
            let mean = from.sum(&x, |value| value) / count as f64;
            let centre = mean as f32;
            let squares = from.sum(&x, |value| (value - centre) * (value - centre));
            // The mean was rounded: what that adds to the squares is known.
            let moved = mean - f64::from(centre);
            // A sum of squares is not negative but for roundings; one that is not a number stays.
            let variance = match squares / count as f64 - moved * moved {
                rounded if rounded < 0.0 => 0.0,
                variance => variance,
            };
            let rstd = 1.0 / (variance + self.epsilon).sqrt();
            let weights = |weights: Option<AnyView<'_>>, neutral: f32| {
                let mut values = vec![neutral; channels];
                if let Some(view) = weights {
                    let step = view.layout().strides()[0];
                    let start = group * channels * step as usize;
                    view.load(start, step, RowMut::of(&mut values));
                }
                values
            };
            let (scales, shifts) = (weights(gamma, 1.0), weights(beta, 0.0));
            let factor = rstd as f32;
            // Blocks of x end where rows of the result do, or are parts of one.
            from.blocks(&x, |first, block| {
                let mut done = 0;
                while done < block.len() {
                    let position = first + done;
                    let channel = position / rest;
                    let len = (rest - position % rest).min(block.len() - done);
                    let (scale, shift) = (scales[channel], shifts[channel]);
                    for value in &mut block[done..done + len] {
                        *value = (*value - centre) * factor * scale + shift;
                    }
                    done += len;
                }
                let mut done = 0;
                while done < block.len() {
                    let (row, element) = ((first + done) / to.len, (first + done) % to.len);
                    let len = (to.len - element).min(block.len() - done);
                    let part = Row::of(&block[done..done + len]);
                    out.store(to.at(row, element), to.step, part);
                    done += len;
                }
            });
            let spread = match self.variance {
                true => variance as f32,
                false => factor,
            };
            for (view, value) in [(&mean_out, centre), (&spread_out, spread)] {
                let strides = view.layout().strides();
                let at = image * strides[0] as usize + group * strides[1] as usize;
                view.store(at, 1, Row::of(&[value]));
            }
        };
        let grain = GRAIN.div_ceil(count.max(1));
        call.workers()
            .ranges(batch * groups, grain, |first, count| {
                (first..first + count).for_each(one_group);
            });
        Ok(())
    }
}

/// Plans the normalization of float32 and narrower types. `x` and the result are `[batch, channels, rest]`, the other outputs
/// `[batch, groups]`. It needs no workspace.
fn normalise(
    cx: &mut Cx<'_>,
    shape: [usize; 4],
    x: View,
    weights: [Option<View>; 2],
    outputs: [View; 3],
    variance: bool,
) -> Result<(), Refusal> {
    let mut inputs = vec![Some(x)];
    let mut input_types = [Some(x.dtype()), None, None];
    for (dtype, weight) in input_types[1..].iter_mut().zip(weights) {
        if let Some(weight) = weight {
            cx.check_dims(&weight, &[shape[1] * shape[2]])?;
            *dtype = Some(weight.dtype());
            inputs.push(Some(weight));
        }
    }
    let kernel = GroupNorm {
        variance,
        inputs: input_types,
        outputs: outputs.map(|view| view.dtype()),
        shape,
        epsilon: cx.float("eps")?,
    };
    cx.kernel(Box::new(kernel), &inputs, &outputs, false)
}

/// Each channel of each image by itself. The statistics have one element for each of them.
fn instance_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("y")?);
    let weights = [Some(cx.tensor("gamma")?), Some(cx.tensor("beta")?)];
    let statistics = [cx.out("mean")?, cx.out("variance")?];
    cx.check_types(&x, FLOATS)?;
    let last = match cx.text("dataFormat")? {
        "NHWC" | "NDHWC" => true,
        "NCHW" | "NCDHW" => false,
        format => {
            return Err(cx.invalid(format_args!(
                "dataFormat is {format:?}; it must be \"NHWC\", \"NCHW\", \"NDHWC\" or \"NCDHW\""
            )));
        }
    };
    let (&[batch, ref middle @ .., end], true) = (x.dims(), x.rank() >= 3) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; a batch, channels and at least one more dimension are required",
            x.dims()
        )));
    };
    let (channels, rest) = match last {
        true => (end, middle.iter().product()),
        false => (middle[0], middle[1..].iter().product::<usize>() * end),
    };
    cx.check_dtype(&out, x.dtype())?;
    cx.check_dims(&out, x.dims())?;
    for view in &statistics {
        check_count(cx, view, &[batch, channels])?;
    }
    if x.is_empty() {
        return statistics
            .into_iter()
            .try_for_each(|view| cx.fill(Scalar::of_i64(0), view));
    }
    let (images, turned) = match last {
        true => ([batch, rest, channels], (1, 2)),
        false => ([batch, channels, rest], (1, 1)),
    };
    let x = cx.reshaped(x, &images)?.transpose(turned.0, turned.1);
    let [mean, variance] = statistics;
    let merged = [
        MergedOutput::new(cx, out, &images)?,
        MergedOutput::new(cx, mean, &[batch, channels])?,
        MergedOutput::new(cx, variance, &[batch, channels])?,
    ];
    let mut rows = merged.map(|merged| merged.rows);
    rows[0] = rows[0].transpose(turned.0, turned.1);
    normalise(cx, [batch, channels, 1, rest], x, weights, rows, true)?;
    merged.into_iter().try_for_each(|merged| merged.finish(cx))
}

fn group_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (mean_out, rstd_out) = (cx.out("meanOut")?, cx.out("rstdOut")?);
    let present = |weight: &View| !weight.is_empty();
    let gamma = cx.optional("gamma")?.filter(present);
    let beta = cx.optional("beta")?.filter(present);
    let epsilon = cx.float("eps")?;
    let shape = sizes(cx, &x)?;
    cx.check_dims(&out, x.dims())?;
    check_count(cx, &mean_out, &shape[..2])?;
    check_count(cx, &rstd_out, &shape[..2])?;
    if x.is_empty() {
        cx.fill(Scalar::of_i64(0), mean_out)?;
        return cx.fill(Scalar::of_f64(f64::NAN), rstd_out);
    }
    let compute = accumulator(x.dtype());
    if compute == DataType::Float32 {
        let (images, groups) = (
            [shape[0], shape[1] * shape[2], shape[3]],
            [shape[0], shape[1]],
        );
        let x = cx.reshaped(x, &images)?;
        let merged = [
            MergedOutput::new(cx, out, &images)?,
            MergedOutput::new(cx, mean_out, &groups)?,
            MergedOutput::new(cx, rstd_out, &groups)?,
        ];
        let rows = merged.map(|merged| merged.rows);
        normalise(cx, shape, x, [gamma, beta], rows, false)?;
        return merged.into_iter().try_for_each(|merged| merged.finish(cx));
    }
    let wide = cx.cast(x, compute)?;
    let wide = cx.reshaped(wide, &shape)?;
    let (mean, squares) = mean_and_squares(cx, wide, &[2, 3])?;
    let variance = reduce_kept(cx, "ReduceMean", squares, &[2, 3])?;
    let groups = [shape[0], shape[1], 1, 1];
    let moved = [Operand::Tensor(variance), number(epsilon)];
    let moved = computed(cx, F::Add, compute, &moved, &groups)?;
    let rstd = computed(cx, F::Rsqrt, compute, &[Operand::Tensor(moved)], &groups)?;
    let both = [Operand::Tensor(wide), Operand::Tensor(mean)];
    let mut result = computed(cx, F::Sub, compute, &both, &shape)?;
    let both = [Operand::Tensor(result), Operand::Tensor(rstd)];
    result = computed(cx, F::Mul, compute, &both, &shape)?;
    for (weight, function) in [(gamma, F::Mul), (beta, F::Add)] {
        if let Some(weight) = weight {
            let weight = per_channel(cx, weight, shape)?;
            let both = [Operand::Tensor(result), Operand::Tensor(weight)];
            result = computed(cx, function, compute, &both, &shape)?;
        }
    }
    let written = [(result, out), (mean, mean_out), (rstd, rstd_out)];
    for (own, out) in written {
        let own = cx.reshaped(own, out.dims())?;
        cx.copy(own, out)?;
    }
    Ok(())
}

fn group_norm_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("gradOut")?, cx.tensor("input")?);
    let (mean, rstd) = (cx.tensor("mean")?, cx.tensor("rstd")?);
    let gamma = cx.optional("gamma")?.filter(|gamma| !gamma.is_empty());
    let &[to_x, to_gamma, to_beta] = cx.bools("outputMask")? else {
        return Err(cx.invalid(format_args!(
            "outputMask has {} flags; it must have 3",
            cx.bools("outputMask")?.len()
        )));
    };
    let shape = sizes(cx, &x)?;
    check_count(cx, &gradient, x.dims())?;
    let compute = accumulator(x.dtype());
    let mut flat = |view: View| {
        let view = cx.cast(view, compute)?;
        cx.reshaped(view, &shape)
    };
    let (gradient, wide) = (flat(gradient)?, flat(x)?);
    let (mean, rstd) = (per_group(cx, mean, shape)?, per_group(cx, rstd, shape)?);
    let both = [Operand::Tensor(wide), Operand::Tensor(mean)];
    let centred = computed(cx, F::Sub, compute, &both, &shape)?;
    let both = [Operand::Tensor(centred), Operand::Tensor(rstd)];
    let unit = computed(cx, F::Mul, compute, &both, &shape)?;
    let both = [Operand::Tensor(gradient), Operand::Tensor(unit)];
    let products = computed(cx, F::Mul, compute, &both, &shape)?;
    for (name, wanted, sums) in [
        ("gradGammaOut", to_gamma, products),
        ("gradBetaOut", to_beta, gradient),
    ] {
        if let Some(out) = cx.optional(name)?.filter(|_| wanted) {
            cx.check_dims(&out, &[shape[1] * shape[2]])?;
            if x.is_empty() {
                cx.fill(Scalar::of_i64(0), out)?;
                continue;
            }
            let sum = reduce_kept(cx, "ReduceSum", sums, &[0, 3])?;
            let sum = cx.reshaped(sum, out.dims().to_vec().as_slice())?;
            cx.copy(sum, out)?;
        }
    }
    let Some(out) = cx.optional("gradInput")?.filter(|_| to_x) else {
        return Ok(());
    };
    cx.check_dims(&out, x.dims())?;
    if x.is_empty() {
        return Ok(());
    }
    let (mut scaled, mut weighted) = (gradient, products);
    if let Some(gamma) = gamma {
        let gamma = per_channel(cx, gamma, shape)?;
        let both = [Operand::Tensor(gradient), Operand::Tensor(gamma)];
        scaled = computed(cx, F::Mul, compute, &both, &shape)?;
        let both = [Operand::Tensor(products), Operand::Tensor(gamma)];
        weighted = computed(cx, F::Mul, compute, &both, &shape)?;
    }
    let mean_scaled = reduce_kept(cx, "ReduceMean", scaled, &[2, 3])?;
    let mean_weighted = reduce_kept(cx, "ReduceMean", weighted, &[2, 3])?;
    let both = [Operand::Tensor(unit), Operand::Tensor(mean_weighted)];
    let along = computed(cx, F::Mul, compute, &both, &shape)?;
    let both = [Operand::Tensor(scaled), Operand::Tensor(mean_scaled)];
    let across = computed(cx, F::Sub, compute, &both, &shape)?;
    let both = [Operand::Tensor(across), Operand::Tensor(along)];
    let across = computed(cx, F::Sub, compute, &both, &shape)?;
    let both = [Operand::Tensor(across), Operand::Tensor(rstd)];
    let result = computed(cx, F::Mul, compute, &both, &shape)?;
    let result = cx.reshaped(result, out.dims().to_vec().as_slice())?;
    cx.copy(result, out)
}

/// The gradient of `swish(y)`, `y = unit * gamma + beta`, with `swish(y) = y * sigmoid(scale * y)`.
fn swish_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, x) = (cx.tensor("dy")?, cx.tensor("x")?);
    let (mean, rstd) = (cx.tensor("mean")?, cx.tensor("rstd")?);
    let (gamma, beta) = (cx.tensor("gamma")?, cx.tensor("beta")?);
    let (groups, out) = (cx.int("numGroups")?, cx.out("dxOut")?);
    let shape = match (x.dims(), usize::try_from(groups)) {
        (&[batch, channels, ref rest @ ..], Ok(groups @ 1..))
            if channels % groups == 0 && groups <= channels.max(1) =>
        {
            [batch, groups, channels / groups, rest.iter().product()]
        }
        (dims, _) => {
            return Err(cx.invalid(format_args!(
                "x has the shape {dims:?} and numGroups is {groups}; a batch and channels that the groups divide are required"
            )));
        }
    };
    cx.check_dims(&gradient, x.dims())?;
    cx.check_dims(&out, x.dims())?;
    let compute = accumulator(x.dtype());
    let mut flat = |view: View| {
        let view = cx.cast(view, compute)?;
        cx.reshaped(view, &shape)
    };
    let (gradient, wide) = (flat(gradient)?, flat(x)?);
    let (mean, rstd) = (per_group(cx, mean, shape)?, per_group(cx, rstd, shape)?);
    let (gamma, beta) = (
        per_channel(cx, gamma, shape)?,
        per_channel(cx, beta, shape)?,
    );
    let both = |cx: &mut Cx<'_>, function: F, one: View, two: View| {
        let operands = [Operand::Tensor(one), Operand::Tensor(two)];
        computed(cx, function, compute, &operands, &shape)
    };
    let centred = both(cx, F::Sub, wide, mean)?;
    let unit = both(cx, F::Mul, centred, rstd)?;
    let scaled = both(cx, F::Mul, unit, gamma)?;
    let y = both(cx, F::Add, scaled, beta)?;
    let operands = [
        Operand::Tensor(gradient),
        Operand::Tensor(y),
        number(cx.float("swishScale")?),
    ];
    let to_y = computed(cx, F::SwishBackward, compute, &operands, &shape)?;
    let products = both(cx, F::Mul, to_y, unit)?;
    for (name, flag, sums) in [
        ("dgammaOut", "dgammaIsRequire", products),
        ("dbetaOut", "dbetaIsRequire", to_y),
    ] {
        if let Some(out) = cx.optional(name)?.filter(|out| !out.is_empty())
            && cx.flag(flag)?
        {
            cx.check_dims(&out, &[shape[1] * shape[2]])?;
            if x.is_empty() {
                cx.fill(Scalar::of_i64(0), out)?;
                continue;
            }
            let sum = reduce_kept(cx, "ReduceSum", sums, &[0, 3])?;
            let sum = cx.reshaped(sum, out.dims())?;
            cx.copy(sum, out)?;
        }
    }
    if x.is_empty() {
        return Ok(());
    }
    let (scaled, weighted) = (
        both(cx, F::Mul, to_y, gamma)?,
        both(cx, F::Mul, products, gamma)?,
    );
    let mean_scaled = reduce_kept(cx, "ReduceMean", scaled, &[2, 3])?;
    let mean_weighted = reduce_kept(cx, "ReduceMean", weighted, &[2, 3])?;
    let along = both(cx, F::Mul, unit, mean_weighted)?;
    let across = both(cx, F::Sub, scaled, mean_scaled)?;
    let across = both(cx, F::Sub, across, along)?;
    let result = both(cx, F::Mul, across, rstd)?;
    let result = cx.reshaped(result, out.dims())?;
    cx.copy(result, out)
}
