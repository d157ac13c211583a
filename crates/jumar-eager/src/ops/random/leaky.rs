//! Rectifiers with a random slope.

use jumar_types::dtype::DataType;

use super::kernels::Uniform;
use super::{Seed, check_real, drawn, seed};
use crate::Refusal;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::Table;
use crate::ops::normalization::{computed, number};
use crate::ops::reduction::accumulator;

pub(crate) static LEAKY: &Table = &[
    ("aclnnInplaceRReluWithNoise", leaky),
    ("aclnnRReluWithNoise", leaky),
];

/// Multiplies negative elements by a slope, which is drawn for each of them while training; `noise` is the factor of each
/// element then.
fn leaky(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, noise) = (cx.tensor_at(0)?, cx.tensor("noise")?);
    let out = match cx.params().iter().any(|param| param.name == "out") {
        true => cx.out("out")?,
        false => x,
    };
    let (lower, upper) = (cx.scalar("lower")?.real(), cx.scalar("upper")?.real());
    check_real(cx, &x)?;
    cx.check_dims(&out, x.dims())?;
    if !(lower <= upper && (upper - lower).is_finite()) {
        return Err(cx.invalid(format_args!(
            "lower is {lower} and upper is {upper}; both must be finite, and lower must not be above upper"
        )));
    }
    let compute = accumulator(x.dtype());
    if !cx.flag("training")? {
        let operands = [Operand::Tensor(x), number((lower + upper) / 2.0)];
        return cx.map(F::LeakyRelu, compute, &operands, out);
    }
    cx.check_dims(&noise, x.dims())?;
    let Seed { source, inputs } = seed(cx)?;
    let slopes = cx.temporary(DataType::Float64, x.dims())?;
    let kernel = Uniform {
        source,
        from: lower,
        to: upper,
        dtype: x.dtype(),
    };
    drawn(cx, Box::new(kernel), &inputs, DataType::Float64, slopes)?;
    let dims = x.dims().to_vec();
    let positive = cx.temporary(DataType::Bool, &dims)?;
    cx.test(F::Gt, compute, &[Operand::Tensor(x), number(0.0)], positive)?;
    let choice = [
        Operand::Tensor(positive),
        number(1.0),
        Operand::Tensor(slopes),
    ];
    let factors = computed(cx, F::Where, compute, &choice, &dims)?;
    cx.copy(factors, noise)?;
    let both = [Operand::Tensor(x), Operand::Tensor(factors)];
    cx.map(F::Mul, compute, &both, out)
}
