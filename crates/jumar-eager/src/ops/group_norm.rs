//! Normalization over groups of channels, and its gradient.

use super::Table;
use super::normalization::{check_count, computed, number};
use super::reduction::{accumulator, mean_and_squares, reduce_kept};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnGroupNorm", group_norm),
    ("aclnnGroupNormBackward", group_norm_backward),
    ("aclnnGroupNormSwishGrad", swish_backward),
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

fn group_norm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (mean_out, rstd_out) = (cx.out("meanOut")?, cx.out("rstdOut")?);
    let (gamma, beta) = (cx.optional("gamma")?, cx.optional("beta")?);
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
    let wide = cx.cast(x, compute)?;
    let wide = cx.reshaped(wide, &shape)?;
    let (mean, squares) = mean_and_squares(cx, wide, &[2, 3])?;
    let variance = reduce_kept(cx, "ReduceMean", squares, &[2, 3])?;
    let groups = [shape[0], shape[1], 1, 1];
    let moved = [Operand::Tensor(variance), number(epsilon)];
    let moved = computed(cx, F::Add, compute, &moved, &groups)?;
    let rstd = computed(cx, F::Rsqrt, compute, &[Operand::Tensor(moved)], &groups)?;
    for (own, out) in [(mean, mean_out), (rstd, rstd_out)] {
        let own = cx.reshaped(own, out.dims().to_vec().as_slice())?;
        cx.copy(own, out)?;
    }
    let both = [Operand::Tensor(wide), Operand::Tensor(mean)];
    let mut result = computed(cx, F::Sub, compute, &both, &shape)?;
    let both = [Operand::Tensor(result), Operand::Tensor(rstd)];
    result = computed(cx, F::Mul, compute, &both, &shape)?;
    for (weight, function) in [(gamma, F::Mul), (beta, F::Add)] {
        if let Some(weight) = weight.filter(|weight| !weight.is_empty()) {
            let weight = per_channel(cx, weight, shape)?;
            let both = [Operand::Tensor(result), Operand::Tensor(weight)];
            result = computed(cx, function, compute, &both, &shape)?;
        }
    }
    let result = cx.reshaped(result, out.dims().to_vec().as_slice())?;
    cx.copy(result, out)
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
