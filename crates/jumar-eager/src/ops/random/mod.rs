//! Random numbers, and what draws them: dropout, samples, permutations.

mod dropout;
mod kernels;
mod leaky;

use jumar_ops::Kernel;
use jumar_types::dtype::DataType;

use super::Table;
use super::operands::MergedOutput;
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Arg, Scalar, promote};
use kernels::{Categories, Chances, Exponential, Integers, Normal, Permutation, Source, Uniform};

pub(crate) use dropout::DROPOUT;
pub(crate) use leaky::LEAKY;

pub(crate) static TABLE: &Table = &[
    ("aclnnBernoulli", bernoulli),
    ("aclnnBernoulliTensor", bernoulli),
    ("aclnnInplaceBernoulli", bernoulli),
    ("aclnnInplaceBernoulliTensor", bernoulli),
    ("aclnnInplaceNormal", normal_in_place),
    ("aclnnInplaceNormalTensor", normal_in_place),
    ("aclnnInplaceRandom", random),
    ("aclnnInplaceRandomTensor", random),
    ("aclnnInplaceRandomWithoutFromTo", random_of_type),
    ("aclnnInplaceRandomWithoutFromToTensor", random_of_type),
    ("aclnnInplaceUniform", uniform),
    ("aclnnInplaceUniformTensor", uniform),
    ("aclnnMultinomial", multinomial),
    ("aclnnMultinomialTensor", multinomial),
    ("aclnnNormalFloatFloat", normal),
    ("aclnnNormalFloatTensor", normal),
    ("aclnnNormalTensorFloat", normal),
    ("aclnnNormalTensorTensor", normal),
    ("aclnnRandperm", permutation),
    ("aclnnSimThreadExponential", exponential),
];

/// The seed and the offset of a call, and the tensors that hold them.
struct Seed {
    source: Source,
    inputs: Vec<Option<View>>,
}

/// Reads the parameters `seed` and `offset`, or `seedTensor`, `offsetTensor` and `offset`.
fn seed(cx: &mut Cx<'_>) -> Result<Seed, Refusal> {
    let offset = cx.int("offset")?;
    let tensors = cx.params().iter().any(|param| param.name == "seedTensor");
    let mut seed = Seed {
        source: Source {
            seed: 0,
            offset,
            tensors,
        },
        inputs: Vec::new(),
    };
    if !tensors {
        seed.source.seed = cx.int("seed")?;
        return Ok(seed);
    }
    for param in ["seedTensor", "offsetTensor"] {
        let view = cx.tensor(param)?;
        if view.elements() != 1 {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {:?}; it must have one element",
                view.dims()
            )));
        }
        cx.check_types(&view, &[DataType::Int64, DataType::Int32, DataType::UInt64])?;
        seed.inputs.push(Some(cx.cast(view, DataType::Int64)?));
    }
    Ok(seed)
}

/// Runs a kernel that draws numbers in the order of elements, and converts them to the output.
fn drawn(
    cx: &mut Cx<'_>,
    kernel: Box<dyn Kernel>,
    inputs: &[Option<View>],
    dtype: DataType,
    out: View,
) -> Result<(), Refusal> {
    if out.is_empty() {
        return Ok(());
    }
    let values = match out.is_dense() && out.dtype() == dtype {
        true => out,
        false => cx.temporary(dtype, out.dims())?,
    };
    cx.kernel(kernel, inputs, &[values], false)?;
    cx.copy(values, out)
}

/// Refuses a type that is not a floating-point type.
fn check_real(cx: &Cx<'_>, view: &View) -> Result<(), Refusal> {
    let types = [
        DataType::Float32,
        DataType::Float16,
        DataType::BFloat16,
        DataType::Float64,
    ];
    cx.check_types(view, &types)
}

/// Returns a temporary for random numbers of a complex output, whose parts are the two numbers of the last dimension.
fn pairs(cx: &mut Cx<'_>, out: &View) -> Result<View, Refusal> {
    let mut dims = out.dims().to_vec();
    dims.push(2);
    cx.temporary(DataType::Float64, &dims)
}

/// Writes pairs of numbers as complex numbers.
fn join(cx: &mut Cx<'_>, pairs: View, out: View) -> Result<(), Refusal> {
    let axis = out.rank();
    let parts = [0, 1].map(|part| Operand::Tensor(pairs.select(axis, part)));
    cx.map(F::Join, DataType::Complex128, &parts, out)
}

fn uniform(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, from, to) = (cx.output()?, cx.float("from")?, cx.float("to")?);
    let is_complex = promote::is_complex(out.dtype());
    if !is_complex {
        check_real(cx, &out)?;
    }
    if !(from <= to && (to - from).is_finite()) {
        return Err(cx.invalid(format_args!(
            "from is {from} and to is {to}; both must be finite, and from must not be above to"
        )));
    }
    let Seed { source, inputs } = seed(cx)?;
    let kernel = Uniform {
        source,
        from,
        to,
        dtype: promote::part(out.dtype()),
    };
    if is_complex {
        let numbers = pairs(cx, &out)?;
        drawn(cx, Box::new(kernel), &inputs, DataType::Float64, numbers)?;
        return join(cx, numbers, out);
    }
    drawn(cx, Box::new(kernel), &inputs, DataType::Float64, out)
}

/// Draws numbers of the exponential distribution for the first `count` elements. The others stay.
fn exponential(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, rate) = (cx.output()?, cx.float("lambda")?);
    cx.check_types(
        &out,
        &[DataType::Float32, DataType::Float16, DataType::BFloat16],
    )?;
    if !(rate > 0.0 && rate.is_finite()) {
        return Err(cx.invalid(format_args!("lambda is {rate}; it must be positive")));
    }
    // Not documented: how `count` and the elements of the tensor belong together. Programs pass the number of elements.
    let given = cx.int("count")?;
    let count = usize::try_from(given)
        .ok()
        .filter(|&count| count <= out.elements());
    let Some(count) = count else {
        return Err(cx.invalid(format_args!(
            "count is {given}; it must be between 0 and the {} elements of selfRef",
            out.elements()
        )));
    };
    let Seed { source, inputs } = seed(cx)?;
    let values = cx.temporary(DataType::Float64, &[count])?;
    let kernel = Exponential { source, rate };
    drawn(cx, Box::new(kernel), &inputs, DataType::Float64, values)?;
    if count == out.elements() {
        let values = cx.reshaped(values, out.dims())?;
        return cx.copy(values, out);
    }
    let target = MergedOutput::new(cx, out, &[out.elements()])?;
    if target.rows.base != out.base {
        let all = cx.reshaped(out, &[out.elements()])?;
        cx.copy(all, target.rows)?;
    }
    cx.copy(values, target.rows.slice(0, 0, count, 1))?;
    target.finish(cx)
}

/// Writes `mean + std * z` for normal numbers `z`.
fn scaled(cx: &mut Cx<'_>, mean: Operand, std: Operand, out: View) -> Result<(), Refusal> {
    check_real(cx, &out)?;
    if let Operand::Scalar(std) = std
        && !(std.real() >= 0.0 && std.real().is_finite())
    {
        return Err(cx.invalid(format_args!(
            "std is {}; it must be finite and at least 0",
            std.real()
        )));
    }
    for operand in [mean, std] {
        if let Operand::Tensor(view) = operand {
            check_real(cx, &view)?;
            if view.expand(out.dims()).is_none() {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {:?}, which cannot be broadcast to {:?} of the output",
                    cx.param_of(&view),
                    view.dims(),
                    out.dims()
                )));
            }
        }
    }
    let Seed { source, inputs } = seed(cx)?;
    let dtype = DataType::Float64;
    let values = cx.temporary(dtype, out.dims())?;
    drawn(cx, Box::new(Normal { source }), &inputs, dtype, values)?;
    let product = cx.temporary(dtype, out.dims())?;
    cx.map(F::Mul, dtype, &[Operand::Tensor(values), std], product)?;
    cx.map(F::Add, dtype, &[mean, Operand::Tensor(product)], out)
}

fn normal_in_place(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let number = |value| Operand::Scalar(Scalar::of_f64(value));
    let (mean, std, out) = (cx.float("mean")?, cx.float("std")?, cx.output()?);
    if promote::is_complex(out.dtype()) {
        // Each part has half of the variance, and the mean, as in PyTorch.
        let numbers = pairs(cx, &out)?;
        let std = std * std::f64::consts::FRAC_1_SQRT_2;
        scaled(cx, number(mean), number(std), numbers)?;
        return join(cx, numbers, out);
    }
    scaled(cx, number(mean), number(std), out)
}

fn normal(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (mean, std, out) = (cx.operand("mean")?, cx.operand("std")?, cx.out("out")?);
    scaled(cx, mean, std, out)
}

fn random(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, from, to) = (cx.output()?, cx.int("from")?, cx.int("to")?);
    let known = out.dtype() == DataType::Bool || out.dtype().is_integer() || out.dtype().is_float();
    if !known {
        return Err(cx.refuse_type(
            "selfRef",
            out.dtype(),
            "a floating-point number, an integer or a boolean",
        ));
    }
    if from >= to {
        return Err(cx.invalid(format_args!(
            "from is {from} and to is {to}; from must be below to"
        )));
    }
    let Seed { source, inputs } = seed(cx)?;
    let span = (i128::from(to) - i128::from(from)) as u128;
    let kernel = Integers { source, from, span };
    drawn(cx, Box::new(kernel), &inputs, DataType::Int64, out)
}

/// Draws from 0 to the greatest integer of the type; to 2 to the power of its digits for a floating-point type.
fn random_of_type(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.output()?;
    let most = match out.dtype() {
        DataType::Float64 => 1i64 << 53,
        DataType::Float32 => 1 << 24,
        DataType::Float16 => 1 << 11,
        DataType::BFloat16 => 1 << 8,
        DataType::Bool => 1,
        DataType::UInt8 => i64::from(u8::MAX),
        DataType::Int8 => i64::from(i8::MAX),
        DataType::Int16 => i64::from(i16::MAX),
        DataType::Int32 => i64::from(i32::MAX),
        DataType::Int64 => i64::MAX,
        dtype => {
            return Err(cx.refuse_type(
                "selfRef",
                dtype,
                "a floating-point number, a signed integer, uint8 or a boolean",
            ));
        }
    };
    let Seed { source, inputs } = seed(cx)?;
    let kernel = Integers {
        source,
        from: 0,
        span: most as u128 + 1,
    };
    drawn(cx, Box::new(kernel), &inputs, DataType::Int64, out)
}

/// Refuses a number that is not a probability.
fn check_chance(cx: &Cx<'_>, param: &str, value: f64) -> Result<(), Refusal> {
    match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{param} is {value}; it must be between 0 and 1"
        ))),
    }
}

/// The probability is a host scalar or a tensor. Only the shape of self matters.
fn bernoulli(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    cx.check_dims(&out, x.dims())?;
    let operator = cx.name();
    if let Arg::Scalar(probability) = cx.arg("prob")? {
        let probability = probability.real();
        check_chance(cx, "prob", probability)?;
        let Seed { source, inputs } = seed(cx)?;
        let kernel = Chances {
            operator,
            source,
            probability: Some(probability),
        };
        return drawn(cx, Box::new(kernel), &inputs, DataType::Bool, out);
    }
    let chances = cx.tensor("prob")?;
    check_real(cx, &chances)?;
    let Some(chances) = chances.expand(out.dims()) else {
        return Err(cx.invalid(format_args!(
            "prob has the shape {:?}, which cannot be broadcast to {:?}",
            chances.dims(),
            out.dims()
        )));
    };
    let Seed { source, mut inputs } = seed(cx)?;
    let chances = cx.cast(chances, DataType::Float64)?;
    inputs.push(Some(cx.dense(chances)?));
    let kernel = Chances {
        operator,
        source,
        probability: None,
    };
    drawn(cx, Box::new(kernel), &inputs, DataType::Bool, out)
}

fn permutation(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (out, n) = (cx.out("out")?, cx.int("n")?);
    let Ok(len) = usize::try_from(n) else {
        return Err(cx.invalid(format_args!("n is {n}; it must be at least 0")));
    };
    cx.check_dims(&out, &[len])?;
    let Seed { source, inputs } = seed(cx)?;
    drawn(
        cx,
        Box::new(Permutation { source }),
        &inputs,
        DataType::Int64,
        out,
    )
}

fn multinomial(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    let (samples, replacement) = (cx.int("numsamples")?, cx.flag("replacement")?);
    check_real(cx, &x)?;
    cx.check_dtype(&out, DataType::Int64)?;
    let classes = match x.dims() {
        &[classes] | &[_, classes] if classes > 0 => classes,
        dims => {
            return Err(cx.invalid(format_args!(
                "self has the shape {dims:?}; it must have 1 or 2 dimensions, and weights in the last"
            )));
        }
    };
    let fits = usize::try_from(samples).ok().filter(|&count| count > 0);
    let Some(samples) = fits.filter(|&count| replacement || count <= classes) else {
        return Err(cx.invalid(format_args!(
            "numsamples is {samples}; it must be at least 1, and at most {classes} without replacement"
        )));
    };
    let mut dims = x.dims().to_vec();
    dims[x.rank() - 1] = samples;
    cx.check_dims(&out, &dims)?;
    let Seed { source, mut inputs } = seed(cx)?;
    let weights = cx.cast(x, DataType::Float64)?;
    inputs.push(Some(cx.dense(weights)?));
    let operator = cx.name();
    let kernel = Categories {
        operator,
        source,
        classes,
        samples,
        replacement,
    };
    drawn(cx, Box::new(kernel), &inputs, DataType::Int64, out)
}

#[cfg(test)]
mod tests;
