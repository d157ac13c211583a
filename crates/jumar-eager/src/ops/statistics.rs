//! Norms, moments, and other figures of tensors or of slices of them.

use jumar_ops::{Call, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::data::kernels::RealSequence;
use super::dense::{Body, Number, Numbers, Real, bad_data, counted, run, run_kernel, wide};
use super::index::{INDEX, Keys, keys};
use super::normalization::{computed, number};
use super::reduction::{
    accumulator, axes_of, deviation_of, moment_type, norm_of, reduce, reduced_dims, spread,
    without_dims,
};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::element::compute::Cell;
use crate::view::View;
use crate::{Refusal, Scalar, promote};

pub(crate) static TABLE: &Table = &[
    ("aclnnAminmax", extremes),
    ("aclnnBincount", frequencies),
    ("aclnnBucketize", bucketize),
    ("aclnnHistc", histogram),
    ("aclnnInplaceRenorm", renorm),
    ("aclnnLinalgCross", cross),
    ("aclnnLogSpace", log_space),
    ("aclnnNorm", |cx| {
        norm_of(cx, ["pScalar", "dim", "keepdim"], None)
    }),
    ("aclnnReduceNansum", sum_of_numbers),
    ("aclnnRenorm", renorm),
    ("aclnnSearchSorted", search_sorted),
    ("aclnnSearchSorteds", search_scalar),
    ("aclnnStdMeanCorrection", |cx| moments(cx, "stdOut", true)),
    ("aclnnTrace", trace),
    ("aclnnVarMean", |cx| moments(cx, "varOut", false)),
];

/// Writes the mean over axes, and the variance or its root. `correction` is subtracted from the number of elements.
fn moments(cx: &mut Cx<'_>, deviation: &str, root: bool) -> Result<(), Refusal> {
    let (x, mean, out) = (cx.tensor("self")?, cx.out("meanOut")?, cx.out(deviation)?);
    let axes = axes_of(cx, "dim", x.rank())?;
    let dims = reduced_dims(x.dims(), &axes, cx.flag("keepdim")?);
    cx.check_dims(&mean, &dims)?;
    cx.check_dims(&out, &dims)?;
    if x.is_empty() && !out.is_empty() {
        cx.fill(Scalar::of_f64(f64::NAN), mean)?;
        return cx.fill(Scalar::of_f64(f64::NAN), out);
    }
    let count: usize = axes.iter().map(|&axis| x.dims()[axis]).product();
    let freedom = (count as f64 - cx.int("correction")? as f64).max(0.0);
    let x = cx.cast(x, moment_type(x.dtype()))?;
    let (means, sum) = spread(cx, x, &axes)?;
    let targets = match mean.parts() {
        Some(parts) if means.len() == 2 => parts.to_vec(),
        _ => vec![mean],
    };
    for (own, to) in means.into_iter().zip(targets) {
        let own = cx.reshaped(own, &dims)?;
        cx.copy(own, to)?;
    }
    let sum = cx.reshaped(sum, &dims)?;
    deviation_of(cx, sum, freedom, root, out)
}

/// The sum of all elements that are not NaN.
fn sum_of_numbers(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, dtype) = (cx.tensor("self")?, cx.out("out")?, cx.dtype("dtype")?);
    let axes = axes_of(cx, "dim", x.rank())?;
    let keep = cx.flag("keepDim")?;
    cx.check_converts(dtype, &out)?;
    cx.check_dims(&out, &reduced_dims(x.dims(), &axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let mut x = x;
    if x.dtype().is_float() {
        let dims = x.dims().to_vec();
        let test = cx.temporary(DataType::Bool, &dims)?;
        let both = [Operand::Tensor(x), Operand::Tensor(x)];
        cx.test(F::Eq, x.dtype(), &both, test)?;
        let chosen = [Operand::Tensor(test), Operand::Tensor(x), number(0.0)];
        x = computed(cx, F::Where, accumulator(x.dtype()), &chosen, &dims)?;
    }
    let x = cx.cast(x, dtype)?;
    reduce(cx, "ReduceSum", x, &axes, keep, out)
}

fn extremes(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, least, greatest) = (cx.tensor("self")?, cx.out("minOut")?, cx.out("maxOut")?);
    let axes = axes_of(cx, "dim", x.rank())?;
    let keep = cx.flag("keepDim")?;
    if x.is_empty() && !least.is_empty() {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}: an extreme of no elements is not defined",
            x.dims()
        )));
    }
    reduce(cx, "ReduceMin", x, &axes, keep, least)?;
    reduce(cx, "ReduceMax", x, &axes, keep, greatest)
}

/// Scales the slices of a dimension whose norm is larger than a limit down to it.
fn renorm(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor_at(0)?, cx.output()?);
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let (order, most) = (cx.scalar("p")?.real(), cx.scalar("maxNorm")?.real());
    let valid = x.rank() >= 2 && order > 0.0 && most >= 0.0;
    if !valid {
        return Err(cx.invalid(format_args!(
            "self has {} dimensions, p is {order} and maxNorm {most}; at least 2 dimensions, a positive p and a maxNorm of at \
             least 0 are required",
            x.rank()
        )));
    }
    if x.is_empty() {
        return Ok(());
    }
    let axes: Vec<usize> = (0..x.rank()).filter(|&own| own != axis).collect();
    let size = super::reduction::real_part_or_size(cx, x, accumulator(x.dtype()))?;
    let dtype = size.dtype();
    let norms = cx.temporary(dtype, &reduced_dims(x.dims(), &axes, true))?;
    super::reduction::norm(cx, size, order, &axes, true, norms)?;
    let dims = norms.dims().to_vec();
    let too_large = cx.temporary(DataType::Bool, &dims)?;
    cx.test(
        F::Gt,
        dtype,
        &[Operand::Tensor(norms), number(most)],
        too_large,
    )?;
    let moved = [Operand::Tensor(norms), number(1e-7)];
    let moved = computed(cx, F::Add, dtype, &moved, &dims)?;
    let share = [number(most), Operand::Tensor(moved)];
    let share = computed(cx, F::Div, dtype, &share, &dims)?;
    let choice = [
        Operand::Tensor(too_large),
        Operand::Tensor(share),
        number(1.0),
    ];
    let factor = computed(cx, F::Where, dtype, &choice, &dims)?;
    let compute = moment_type(x.dtype());
    let both = [Operand::Tensor(x), Operand::Tensor(factor)];
    cx.map(F::Mul, compute, &both, out)
}

fn trace(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, without_dims(cx.out("out")?));
    if x.rank() != 2 {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; 2 dimensions are required",
            x.dims()
        )));
    }
    cx.check_dims(&out, &[])?;
    if x.is_empty() {
        return cx.fill(Scalar::of_i64(0), out);
    }
    let diagonal = cx.cast(x.diagonal(0), wide(x.dtype()))?;
    reduce(cx, "ReduceSum", diagonal, &[0], false, out)
}

/// The vector product along a dimension of three entries.
fn cross(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (one, two, out) = (cx.tensor("self")?, cx.tensor("other")?, cx.out("out")?);
    let dtype = cx.promote(one.dtype(), two.dtype())?;
    cx.check_converts(dtype, &out)?;
    let (dims, rank) = cx.broadcast(&[one, two])?;
    let dims = &dims[..rank];
    cx.check_dims(&out, dims)?;
    let axis = cx.axis("dim", cx.int("dim")?, rank)?;
    let expanded = (one.expand(dims), two.expand(dims));
    let (Some(one), Some(two), Some(3)) = (expanded.0, expanded.1, dims.get(axis)) else {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; the dimension {axis} must have 3 entries",
            one.dims()
        )));
    };
    let compute = match dtype {
        DataType::Bool => return Err(cx.refuse_type("self", dtype, "a number")),
        dtype => wide(dtype),
    };
    let mut results = Vec::with_capacity(3);
    for entry in 0..3 {
        let (next, last) = ((entry + 1) % 3, (entry + 2) % 3);
        let mut product = |a: usize, b: usize| {
            let both = [
                Operand::Tensor(one.select(axis, a)),
                Operand::Tensor(two.select(axis, b)),
            ];
            let dims = out.select(axis, 0).dims().to_vec();
            computed(cx, F::Mul, compute, &both, &dims)
        };
        results.push([
            Operand::Tensor(product(next, last)?),
            Operand::Tensor(product(last, next)?),
        ]);
    }
    for (entry, both) in results.into_iter().enumerate() {
        cx.map(F::Sub, compute, &both, out.select(axis, entry))?;
    }
    Ok(())
}

fn log_space(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (start, end) = (cx.scalar("start")?.real(), cx.scalar("end")?.real());
    let (out, steps, base) = (cx.out("result")?, cx.int("steps")?, cx.float("base")?);
    if steps < 0 || out.elements() as i64 != steps {
        return Err(cx.invalid(format_args!(
            "steps is {steps} and result has {} elements; both must be one number of at least 0",
            out.elements()
        )));
    }
    if out.is_empty() {
        return Ok(());
    }
    // The limits of a sequence of integers are integers, as in PyTorch.
    let (start, end) = match out.dtype().is_integer() {
        true => (start.trunc(), end.trunc()),
        false => (start, end),
    };
    let step = match steps {
        1 => 0.0,
        steps => (end - start) / (steps - 1) as f64,
    };
    let exponents = cx.temporary(DataType::Float64, out.dims())?;
    let end = (steps > 1).then_some(end);
    let kernel = RealSequence { start, step, end };
    cx.kernel(Box::new(kernel), &[], &[exponents], false)?;
    let operands = [number(base), Operand::Tensor(exponents)];
    cx.map(F::Pow, DataType::Float64, &operands, out)
}

/// Counts elements in ranges of equal width. Elements outside of all ranges do not count.
struct Histogram {
    /// The least and the greatest element that count; both are found if they are equal.
    limits: (f64, f64),
}

impl Body for Histogram {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let (mut low, mut high) = self.limits;
        if low == high && !x.is_empty() {
            (low, high) = x.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x.number()), high.max(x.number()))
            });
        }
        if low == high {
            (low, high) = (low - 1.0, high + 1.0);
        }
        if !low.is_finite() || !high.is_finite() {
            return Err(bad_data(format!(
                "aclnnHistc: the range from {low} to {high} is not finite"
            )));
        }
        let mut counts = vec![0u64; out.len()];
        for index in 0..x.len() {
            let value = x.get(index).number();
            if value >= low && value <= high {
                let bin = ((value - low) / (high - low) * out.len() as f64) as usize;
                counts[bin.min(out.len() - 1)] += 1;
            }
        }
        for (bin, count) in counts.into_iter().enumerate() {
            out.set(bin, T::of(count as f64));
        }
        Ok(())
    }
}

fn histogram(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, bins) = (cx.tensor("self")?, cx.out("out")?, cx.int("bins")?);
    let limits = (cx.scalar("min")?.real(), cx.scalar("max")?.real());
    if bins <= 0 || out.dims() != [bins as usize] {
        return Err(cx.invalid(format_args!(
            "bins is {bins} and out has the shape {:?}; bins must be positive, and the only dimension of out",
            out.dims()
        )));
    }
    if !limits.0.is_finite() || !limits.1.is_finite() || limits.0 > limits.1 {
        return Err(cx.invalid(format_args!(
            "min is {} and max is {}; both must be finite, and min at most max",
            limits.0, limits.1
        )));
    }
    if promote::is_complex(x.dtype()) {
        return Err(cx.refuse_type("self", x.dtype(), "a real type"));
    }
    // Positions in the ranges are exact for integers and for float32.
    let compute = DataType::Float64;
    run(
        cx,
        compute,
        Histogram { limits },
        &[(x, compute)],
        &[(out, compute)],
    )
}

/// Counts how often each number occurs, or sums weights of its occurrences.
struct Frequencies {
    weighted: bool,
}

impl Numbers for Frequencies {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (
            call.input::<i64>(0)?.flat(),
            call.output::<C::Raw>(0)?.flat(),
        );
        let weights = match self.weighted {
            true => Some(call.input::<C::Raw>(1)?.flat()),
            false => None,
        };
        let mut sums = vec![L::of_f64(0.0); out.len()];
        for index in 0..x.len() {
            let value = x.get(index);
            let Some(sum) = usize::try_from(value).ok().and_then(|at| sums.get_mut(at)) else {
                return Err(bad_data(format!(
                    "aclnnBincount: self holds {value}; out has space for numbers from 0 to below {}",
                    out.len()
                )));
            };
            *sum = match &weights {
                Some(weights) => sum.plus(C::upcast(weights.get(index))),
                None => sum.plus(L::of_f64(1.0)),
            };
        }
        for (at, sum) in sums.into_iter().enumerate() {
            out.set(at, C::downcast(sum));
        }
        Ok(())
    }
}

fn frequencies(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, weights) = (cx.tensor("self")?, cx.optional("weights")?);
    let (out, least) = (cx.out("out")?, cx.int("minlength")?);
    if !x.dtype().is_integer() || x.rank() > 1 || out.rank() != 1 {
        return Err(cx.invalid(format_args!(
            "self has the type {} and the shape {:?}, and out the shape {:?}; integers of one dimension are required",
            x.dtype(),
            x.dims(),
            out.dims()
        )));
    }
    if least < 0 || out.elements() < least as usize {
        return Err(cx.invalid(format_args!(
            "minlength is {least} and out has {} elements; it must have as many, and minlength must not be negative",
            out.elements()
        )));
    }
    let compute = match &weights {
        Some(weights) => {
            cx.check_dims(weights, x.dims())?;
            wide(cx.promote(weights.dtype(), out.dtype())?)
        }
        None => DataType::Int64,
    };
    let body = Frequencies {
        weighted: weights.is_some(),
    };
    let mut inputs = vec![(x, DataType::Int64)];
    inputs.extend(weights.map(|weights| (weights, compute)));
    run_kernel(cx, counted(compute, body), &inputs, &[(out, compute)])
}

/// Finds where numbers belong in sorted rows.
struct Search {
    keys: Keys,
    /// The elements of a sorted row, and the numbers that are looked for in each row.
    len: usize,
    count: usize,
    /// Whether a number belongs behind elements that equal it.
    right: bool,
    sorted_by_index: bool,
}

impl jumar_ops::Kernel for Search {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        // Inputs: the sorted rows, the numbers, the order of the rows.
        let out = call.output::<i64>(0)?.flat();
        let order = match self.sorted_by_index {
            true => Some(call.input::<i64>(2)?.flat()),
            false => None,
        };
        let (sorted, numbers) = (self.keys.cells(call)?, self.keys.cells_of(call, 1)?);
        let mut row_keys = vec![0; self.len];
        let mut own = vec![0; self.count];
        let mut arranged = vec![0; self.len];
        for row in 0..out.len() / self.count {
            sorted.load(row * self.len, &mut row_keys);
            numbers.load(row * self.count, &mut own);
            let keys = match &order {
                Some(order) => {
                    for (slot, key) in arranged.iter_mut().enumerate() {
                        let at = order.get(row * self.len + slot);
                        let from = usize::try_from(at).ok().and_then(|at| row_keys.get(at));
                        *key = *from.ok_or_else(|| {
                            bad_data(format!(
                                "aclnnSearchSorted: sorter holds {at}; a row has {} elements",
                                self.len
                            ))
                        })?;
                    }
                    &arranged
                }
                None => &row_keys,
            };
            for (slot, key) in own.iter().enumerate() {
                let found = keys.partition_point(|other| match self.right {
                    true => other <= key,
                    false => other < key,
                });
                out.set(row * self.count + slot, found as i64);
            }
        }
        Ok(())
    }
}

fn search_sorted(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (sorted, x) = (cx.tensor("sortedSequence")?, cx.tensor("self")?);
    let sorter = cx.optional("sorter")?;
    search(cx, sorted, x, sorter)
}

/// One value, in one sequence.
fn search_scalar(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (sorted, value) = (cx.tensor("sortedSequence")?, cx.scalar("self")?);
    let (sorter, out) = (cx.optional("sorter")?, cx.out("out")?);
    if sorted.rank() != 1 || out.elements() != 1 || out.rank() > 1 {
        return Err(cx.invalid(format_args!(
            "sortedSequence has the shape {:?} and out {:?}; one dimension and one element are required",
            sorted.dims(),
            out.dims()
        )));
    }
    let dtype = cx.promote_scalar(sorted.dtype(), value.dtype())?;
    let x = cx.temporary(dtype, out.dims())?;
    cx.fill(value, x)?;
    search(cx, sorted, x, sorter)
}

/// The number of the interval between boundaries that each element lies in.
fn bucketize(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, boundaries) = (cx.tensor("self")?, cx.tensor("boundaries")?);
    if boundaries.rank() != 1 {
        return Err(cx.invalid(format_args!(
            "boundaries has the shape {:?}; one dimension is required",
            boundaries.dims()
        )));
    }
    let wanted = match cx.flag("outInt32")? {
        true => DataType::Int32,
        false => DataType::Int64,
    };
    cx.check_dtype(&cx.out("out")?, wanted)?;
    search(cx, boundaries, x, None)
}

/// Writes where elements would be inserted into sorted sequences.
fn search(cx: &mut Cx<'_>, sorted: View, x: View, sorter: Option<View>) -> Result<(), Refusal> {
    let out = cx.out("out")?;
    cx.check_types(&out, &INDEX)?;
    cx.check_dims(&out, x.dims())?;
    let Some((&len, rows)) = sorted.dims().split_last() else {
        return Err(cx.invalid("sortedSequence has no dimensions; at least 1 is required"));
    };
    let fits = rows.is_empty() || x.rank() == sorted.rank() && x.dims()[..rows.len()] == *rows;
    if !fits {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?} and sortedSequence {:?}; they must be equal but for the last dimension, or sortedSequence \
             must have one",
            x.dims(),
            sorted.dims()
        )));
    }
    if let Some(sorter) = &sorter {
        cx.check_dims(sorter, sorted.dims())?;
        cx.check_types(sorter, &INDEX)?;
    }
    let dtype = cx.promote(sorted.dtype(), x.dtype())?;
    let (sorted, x) = (cx.cast(sorted, dtype)?, cx.cast(x, dtype)?);
    let count = match rows.len() {
        0 => x.elements(),
        _ => x.dims().last().copied().unwrap_or(1),
    };
    let kernel = Search {
        keys: keys(cx, &sorted)?,
        len,
        count,
        right: cx.flag("right")?,
        sorted_by_index: sorter.is_some(),
    };
    let mut inputs = vec![(sorted, dtype), (x, dtype)];
    inputs.extend(sorter.map(|sorter| (sorter, DataType::Int64)));
    run_kernel(cx, Box::new(kernel), &inputs, &[(out, DataType::Int64)])
}
