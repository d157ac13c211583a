//! Further forms of operators: with other parameters, in place, or joined with a step that moves elements.

use jumar_ops::math::{Fast, Float};
use jumar_ops::view::Layout;
use jumar_ops::{Attrs, SliceMasks};
use jumar_types::dtype::DataType;

use super::Table;
use super::index::{located, rows_at};
use super::normalization::computed;
use super::operands::FLOATS;
use super::reduction::{reduce, reduced_dims};
use crate::build::{Cx, Input, Operand};
use crate::element::F;
use crate::rows::{RowFunction, Rows, sum};
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnAminmaxAll", extremes_of_all),
    ("aclnnAminmaxDim", extremes_of_dim),
    ("aclnnBatchNormElemt", batch_norm_elements),
    ("aclnnConfusionTranspose", confusion_transpose),
    ("aclnnCumsumV2", cumulative_sum),
    ("aclnnEinsum", einsum),
    ("aclnnFlatten", flatten),
    ("aclnnGatherNd", gather_nd),
    ("aclnnGatherV3", gather_batches),
    ("aclnnInplaceFillDiagonal", fill_diagonal),
    ("aclnnIsInScalarTensor", scalar_is_in),
    ("aclnnIsInTensorScalar", is_scalar),
    ("aclnnMaskedScale", masked_scale),
    ("aclnnMeanV2", mean),
    ("aclnnScatterNd", scatter_nd),
    ("aclnnScatterNdUpdate", scatter_nd_update),
    ("aclnnTfScatterAdd", tf_scatter_add),
    ("aclnnSoftmaxCrossEntropyWithLogits", softmax_cross_entropy),
    ("aclnnStridedSlice", strided_slice),
    ("aclnnStridedSliceAssignV2", strided_slice_assign),
];

fn check_same_type(cx: &Cx<'_>, out: &View, x: &View) -> Result<(), Refusal> {
    cx.check_dtype(out, x.dtype())
}

fn cumulative_sum(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    cx.check_dims(&out, x.dims())?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let (exclusive, reverse) = (cx.flag("exclusive")?, cx.flag("reverse")?);
    if x.rank() == 0 {
        return match exclusive {
            true => cx.fill(Scalar::of_i64(0), out),
            false => cx.copy(x, out),
        };
    }
    // Sums of 16-bit numbers are kept in float32 between the elements.
    let compute = match x.dtype() {
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        dtype => dtype,
    };
    let x = cx.cast(x, compute)?;
    let attrs = Attrs::new()
        .with("exclusive", exclusive)
        .with("reverse", reverse);
    let axis = Input::ints(&[axis as i64]);
    cx.op("Cumsum", &[x.into(), axis], &attrs, &[out])
}

fn mean(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    let dims = cx.optional_ints("dim")?.unwrap_or(&[]);
    let axes = match (dims.is_empty(), cx.flag("noopWithEmptyAxes")?) {
        (true, true) => Vec::new(),
        (true, false) => (0..x.rank()).collect(),
        (false, _) => {
            let mut axes = cx.axes("dim", dims, x.rank())?;
            axes.retain(|&axis| axis < x.rank());
            axes
        }
    };
    let keep = cx.flag("keepDim")?;
    cx.check_dims(&out, &reduced_dims(x.dims(), &axes, keep))?;
    if x.is_empty() && !out.is_empty() {
        return cx.fill(Scalar::of_f64(f64::NAN), out);
    }
    reduce(cx, "ReduceMean", x, &axes, keep, out)
}

fn gather_batches(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor("self")?, cx.tensor("index")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    cx.check_types(&index, &[DataType::Int32, DataType::Int64])?;
    cx.check_not_scalar(&x)?;
    let axis = cx.axis("dim", cx.int("dim")?, x.rank())?;
    let batch = cx.int("batchDims")?;
    let Some(batch) = usize::try_from(if batch < 0 {
        batch + index.rank() as i64
    } else {
        batch
    })
    .ok()
    .filter(|&batch| batch <= axis && batch <= index.rank()) else {
        return Err(cx.invalid(format_args!(
            "batchDims is {batch}; it must not exceed dim {axis} and the {} dimensions of index",
            index.rank()
        )));
    };
    if x.dims()[..batch] != index.dims()[..batch] {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?} and index {:?}; the first {batch} dimensions must be equal",
            x.dims(),
            index.dims()
        )));
    }
    let mut dims = x.dims()[..axis].to_vec();
    dims.extend(&index.dims()[batch..]);
    dims.extend(&x.dims()[axis + 1..]);
    cx.check_dims(&out, &dims)?;
    if batch == 0 {
        let axis = Input::ints(&[axis as i64]);
        return cx.op(
            "GatherV2",
            &[x.into(), index.into(), axis],
            &Attrs::new(),
            &[out],
        );
    }
    if out.is_empty() {
        return Ok(());
    }
    // The entries of the axis become rows of one table, batch by batch.
    let size = x.dims()[axis];
    if size == 0 {
        return Err(cx.invalid(format_args!(
            "dim is {axis}, a dimension of {} without entries, and index has {} elements",
            cx.param_of(&x),
            out.elements()
        )));
    }
    let count: usize = x.dims()[..batch].iter().product();
    let mut order: Vec<usize> = (0..batch).collect();
    order.push(axis);
    order.extend((batch..x.rank()).filter(|&own| own != axis));
    let width = x.elements() / (count * size);
    let table = cx.reshaped(x.permute(&order), &[count * size, width])?;
    let each = index.elements() / count;
    let positions = located(cx, index, size)?;
    let positions = cx.reshaped(positions, &[count, each])?;
    cx.check_planned("the batches of the table", count)?;
    let starts: Vec<i64> = (0..count).map(|entry| (entry * size) as i64).collect();
    let starts = cx.constant(&jumar_ops::Tensor::from_ints(&starts))?;
    let operands = [
        Operand::Tensor(positions),
        Operand::Tensor(starts.unsqueeze(1)),
    ];
    let rows = computed(cx, F::Add, DataType::Int64, &operands, &[count, each])?;
    let rows = cx.reshaped(rows, &[count * each])?;
    let found = cx.temporary(x.dtype(), &[count * each, width])?;
    rows_at(cx, table, rows, found)?;
    // Batches, indices, other dimensions: the dimensions between the batches and the axis go before those of the index.
    let (between, taken) = (axis - batch, index.rank() - batch);
    let mut dims = index.dims().to_vec();
    dims.extend(&x.dims()[batch..axis]);
    dims.extend(&x.dims()[axis + 1..]);
    let mut order: Vec<usize> = (0..batch).collect();
    order.extend(batch + taken..batch + taken + between);
    order.extend(batch..batch + taken);
    order.extend(batch + taken + between..dims.len());
    let found = cx.reshaped(found, &dims)?;
    cx.copy(found.permute(&order), out)
}

/// Two dimensions: those before an axis, and the others.
fn flatten(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    let axis = cx.int("axis")?;
    let rank = x.rank() as i64;
    if axis < -rank || axis > rank {
        return Err(cx.invalid(format_args!(
            "axis is {axis}; it must be between {} and {rank}",
            -rank
        )));
    }
    let at = if axis < 0 { axis + rank } else { axis } as usize;
    let product = |dims: &[usize]| dims.iter().product::<usize>();
    let dims = [product(&x.dims()[..at]), product(&x.dims()[at..])];
    cx.check_dims(&out, &dims)?;
    let x = cx.reshaped(x, &dims)?;
    cx.copy(x, out)
}

fn einsum(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (tensors, out) = (cx.tensors("tensors")?, cx.out("output")?);
    let equation: String = cx.text("equation")?.split_whitespace().collect();
    if !matches!(equation.as_str(), "abcd,abced->abce" | "a,b->ab") {
        return Err(cx.invalid(format_args!(
            "equation is {equation:?}; it must be abcd,abced->abce or a,b->ab"
        )));
    }
    for view in &tensors {
        cx.check_dtype(view, out.dtype())?;
        cx.check_elements(&[view])?;
    }
    let inputs: Vec<Input> = tensors.iter().map(|view| Input::View(*view)).collect();
    let attrs = Attrs::new().with("equation", equation);
    cx.op("Einsum", &inputs, &attrs, &[out])
}

/// The loss of each row, `-sum(labels * log_softmax(features))`, and its gradient.
struct CrossEntropy;

impl RowFunction for CrossEntropy {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (features, labels) = (rows.input(0), rows.input(1));
        let (loss, gradient) = (rows.output(0), rows.output(1));
        let most = features.fold_wide(f32::NEG_INFINITY, f32::max, f32::max);
        gradient.map1(features, |value| Fast::<FUSED>(value - most).exp().0);
        let total = sum(gradient.as_row());
        let log = total.ln();
        let cross = features.fold2_wide(
            labels,
            0.0,
            |sum, feature, label| sum + label * (log - (feature - most)),
            |one, two| one + two,
        );
        loss.set(0, cross);
        gradient.update(labels, |power, label| power / total - label);
    }
}

fn softmax_cross_entropy(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (features, labels) = (cx.tensor("features")?, cx.tensor("labels")?);
    let (loss, gradient) = (cx.out("loss")?, cx.out("backprop")?);
    cx.check_types(&features, FLOATS)?;
    for view in [&labels, &loss, &gradient] {
        cx.check_dtype(view, features.dtype())?;
    }
    let &[rows, _] = features.dims() else {
        return Err(cx.invalid(format_args!(
            "features has the shape {:?}; expected two dimensions",
            features.dims()
        )));
    };
    let Some(labels) = labels.expand(features.dims()) else {
        return Err(cx.invalid(format_args!(
            "labels has the shape {:?}, which cannot be broadcast to {:?}",
            labels.dims(),
            features.dims()
        )));
    };
    cx.check_dims(&loss, &[rows])?;
    cx.check_dims(&gradient, features.dims())?;
    let outputs = [Some(loss.unsqueeze(1)), Some(gradient)];
    cx.rows(CrossEntropy, &[Some(features), Some(labels)], &outputs)
}

fn fill_diagonal(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, value) = (cx.out("selfRef")?, cx.scalar("fillValue")?);
    let &[rows, columns] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "selfRef has the shape {:?}; expected two dimensions",
            x.dims()
        )));
    };
    if x.is_empty() {
        return Ok(());
    }
    cx.fill(value, x.diagonal(0))?;
    if !cx.flag("wrap")? || rows <= columns {
        return Ok(());
    }
    // The diagonal begins again behind each row that it leaves out.
    let (blocks, rest) = (rows / (columns + 1), rows % (columns + 1));
    let (down, right) = (x.strides()[0], x.strides()[1]);
    let step = (columns as isize + 1) * down;
    let layout = Layout::strided(&[blocks, columns], &[step, down + right])
        .ok_or_else(|| cx.defect("diagonals have a layout"))?;
    cx.fill(value, View::new(x.base, x.dtype(), x.offset(), layout))?;
    match rest {
        0 => Ok(()),
        rest => {
            let last = x.slice(0, blocks * (columns + 1), rest, 1);
            cx.fill(value, last.diagonal(0))
        }
    }
}

fn gather_nd(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, index, out) = (cx.tensor("self")?, cx.tensor("indices")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    cx.check_types(&index, &[DataType::Int32, DataType::Int64])?;
    let negative = cx.flag("negativeIndexSupport")?;
    let attrs = Attrs::new().with("negative_index_support", negative);
    cx.op("GatherNd", &[x.into(), index.into()], &attrs, &[out])
}

fn scatter_nd(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("out")?;
    updated(cx, "data", &Attrs::new(), out)
}

fn scatter_nd_update(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("varRef")?;
    updated(cx, "varRef", &Attrs::new(), out)
}

/// Clients pass positions in several dimensions, as those of aclnnScatterNd.
fn tf_scatter_add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let out = cx.out("varRef")?;
    updated(cx, "varRef", &Attrs::new().with("reduction", "add"), out)
}

fn updated(cx: &mut Cx<'_>, data: &str, how: &Attrs, out: View) -> Result<(), Refusal> {
    let (x, index, updates) = (
        cx.tensor(data)?,
        cx.tensor("indices")?,
        cx.tensor("updates")?,
    );
    check_same_type(cx, &out, &x)?;
    cx.check_dims(&out, x.dims())?;
    cx.check_dtype(&updates, x.dtype())?;
    cx.check_types(&index, &[DataType::Int32, DataType::Int64])?;
    let inputs = [x.into(), index.into(), updates.into()];
    cx.op("TensorScatterUpdate", &inputs, how, &[out])
}

fn confusion_transpose(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("x")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    let shape: Option<Vec<usize>> = cx
        .ints("shape")?
        .iter()
        .map(|&dim| usize::try_from(dim).ok())
        .collect();
    let perm = cx.ints("perm")?.to_vec();
    let first = cx.flag("transpose_first")?;
    let count = |shape: &[usize]| {
        shape
            .iter()
            .try_fold(1, |all: usize, &dim| all.checked_mul(dim))
    };
    let Some(shape) = shape.filter(|shape| count(shape) == Some(x.elements())) else {
        return Err(cx.invalid(format_args!(
            "shape is {:?}; it must have the {} elements of x",
            cx.ints("shape")?,
            x.elements()
        )));
    };
    let rank = if first { x.rank() } else { shape.len() };
    let order = cx.axes("perm", &perm, rank)?;
    if order.len() != rank {
        return Err(cx.invalid(format_args!(
            "perm is {perm:?}; it must name each of {rank} dimensions"
        )));
    }
    let moved = match first {
        true => cx.reshaped(x.permute(&order), &shape)?,
        false => cx.reshaped(x, &shape)?.permute(&order),
    };
    cx.check_dims(&out, moved.dims())?;
    cx.copy(moved, out)
}

fn strided_slice(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("self")?, cx.out("out")?);
    check_same_type(cx, &out, &x)?;
    let masks = SliceMasks {
        begin: cx.int("beginMask")?,
        end: cx.int("endMask")?,
        ellipsis: cx.int("ellipsisMask")?,
        new_axis: cx.int("newAxisMask")?,
        shrink_axis: cx.int("shrinkAxisMask")?,
    };
    let lists = [cx.ints("begin")?, cx.ints("end")?, cx.ints("strides")?];
    let slice = masks
        .apply(x.rank(), lists, None)
        .map_err(|error| cx.invalid(error))?;
    let new = |at: usize| slice.result[at].is_none();
    let fits = out.rank() == slice.result.len()
        && (0..out.rank()).all(|at| !new(at) || out.dims()[at] == 1);
    if !fits {
        return Err(cx.invalid(format_args!(
            "out has the shape {:?}; the slice has {} dimensions",
            out.dims(),
            slice.result.len()
        )));
    }
    // The result with the axes of the input.
    let mut part = out;
    for at in (0..out.rank()).rev().filter(|&at| new(at)) {
        part = part.squeeze(at);
    }
    for axis in 0..x.rank() {
        if !slice.result.contains(&Some(axis)) {
            part = part.unsqueeze(axis);
        }
    }
    let mut inputs = vec![Input::View(x)];
    for list in [&slice.begin, &slice.end, &slice.axes, &slice.strides] {
        inputs.push(Input::ints(list));
    }
    cx.op("StridedSliceV2", &inputs, &Attrs::new(), &[part])
}

fn strided_slice_assign(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (target, values) = (cx.out("varRef")?, cx.tensor("inputValue")?);
    check_same_type(cx, &values, &target)?;
    let (begin, end) = (cx.ints("begin")?.to_vec(), cx.ints("end")?.to_vec());
    let strides = cx.ints("strides")?.to_vec();
    let axes = match cx.optional_ints("axesOptional")? {
        Some(axes) if !axes.is_empty() => cx.axes("axesOptional", axes, target.rank())?,
        _ => (0..begin.len()).collect(),
    };
    let count = axes.len();
    if [begin.len(), end.len(), strides.len()] != [count; 3] || count > target.rank() {
        return Err(cx.invalid(format_args!(
            "begin, end and strides have {}, {} and {} entries; expected one for each of {count} axes",
            begin.len(),
            end.len(),
            strides.len()
        )));
    }
    let mut part = target;
    for (slot, &axis) in axes.iter().enumerate() {
        let size = target.dims()[axis] as i64;
        let limit = |value: i64| {
            let own = if value < 0 {
                value.saturating_add(size)
            } else {
                value
            };
            own.clamp(0, size)
        };
        let (first, last, step) = (limit(begin[slot]), limit(end[slot]), strides[slot]);
        if step < 1 {
            return Err(cx.invalid(format_args!(
                "strides has the entry {step}; strides are at least 1"
            )));
        }
        let len = (last - first).max(0) as u64;
        let len = len.div_ceil(step as u64) as usize;
        part = part.slice(axis, first as usize, len, step as usize);
    }
    cx.check_dims(&values, part.dims())?;
    cx.copy(values, part)
}

fn masked_scale(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, mask, out) = (cx.tensor("self")?, cx.tensor("mask")?, cx.out("out")?);
    cx.check_types(&x, FLOATS)?;
    check_same_type(cx, &out, &x)?;
    cx.check_dims(&mask, x.dims())?;
    cx.check_dims(&out, x.dims())?;
    let scale = Scalar::of_f64(cx.float("scale")?);
    let operands = [Operand::Tensor(x), Operand::Tensor(mask)];
    let masked = computed(cx, F::Mul, DataType::Float32, &operands, x.dims())?;
    let operands = [Operand::Tensor(masked), Operand::Scalar(scale)];
    cx.map(F::Mul, DataType::Float32, &operands, out)
}

/// `(x - mean) * invstd * weight + bias` for each channel
fn batch_norm_elements(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out) = (cx.tensor("input")?, cx.out("output")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&out, FLOATS)?;
    cx.check_dims(&out, x.dims())?;
    if x.rank() < 2 {
        return Err(cx.invalid(format_args!(
            "input has {} dimensions; expected at least 2",
            x.rank()
        )));
    }
    let channels = x.dims()[1];
    let mut dims = vec![1; x.rank()];
    dims[1] = channels;
    let channel = |cx: &mut Cx<'_>, param: &str| -> Result<View, Refusal> {
        let view = cx.tensor(param)?;
        cx.check_types(&view, FLOATS)?;
        cx.check_dims(&view, &[channels])?;
        cx.reshaped(view, &dims)
    };
    let mut factors = vec![
        (F::Sub, channel(cx, "mean")?),
        (F::Mul, channel(cx, "invstd")?),
    ];
    if cx.optional("weight")?.is_some() {
        factors.push((F::Mul, channel(cx, "weight")?));
    }
    let compute = DataType::Float32;
    let mut value = x;
    for (function, operand) in factors {
        let operands = [Operand::Tensor(value), Operand::Tensor(operand)];
        value = computed(cx, function, compute, &operands, x.dims())?;
    }
    match cx.optional("bias")?.is_some() {
        true => {
            let bias = channel(cx, "bias")?;
            cx.map(
                F::Add,
                compute,
                &[Operand::Tensor(value), Operand::Tensor(bias)],
                out,
            )
        }
        false => cx.copy(value, out),
    }
}

/// The least and the largest element along axes.
fn extremes(cx: &mut Cx<'_>, axes: &[usize], keep: bool) -> Result<(), Refusal> {
    let x = cx.tensor("self")?;
    for (operator, param) in [("ReduceMin", "minOut"), ("ReduceMax", "maxOut")] {
        let out = cx.out(param)?;
        check_same_type(cx, &out, &x)?;
        cx.check_dims(&out, &reduced_dims(x.dims(), axes, keep))?;
        if x.is_empty() && !out.is_empty() {
            return Err(cx.invalid(format_args!(
                "self has the shape {:?}: an extreme of no elements is not defined",
                x.dims()
            )));
        }
        reduce(cx, operator, x, axes, keep, out)?;
    }
    Ok(())
}

fn extremes_of_all(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let axes: Vec<usize> = (0..cx.tensor("self")?.rank()).collect();
    extremes(cx, &axes, false)
}

fn extremes_of_dim(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let rank = cx.tensor("self")?.rank();
    let axis = cx.axis("dim", cx.int("dim")?, rank)?;
    let axes = if rank == 0 { vec![] } else { vec![axis] };
    let keep = cx.flag("keepDim")?;
    extremes(cx, &axes, keep)
}

/// Compares elements with a number: `test` says which are equal, or which are not.
fn compared(
    cx: &mut Cx<'_>,
    x: View,
    scalar: Scalar,
    out: View,
    inverted: bool,
) -> Result<(), Refusal> {
    let dtype = cx.promote_scalar(x.dtype(), scalar.dtype())?;
    let function = if inverted { F::Ne } else { F::Eq };
    cx.test(
        function,
        dtype,
        &[Operand::Tensor(x), Operand::Scalar(scalar)],
        out,
    )
}

fn is_scalar(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, scalar, out) = (
        cx.tensor("element")?,
        cx.scalar("testElement")?,
        cx.out("out")?,
    );
    cx.check_dtype(&out, DataType::Bool)?;
    cx.check_dims(&out, x.dims())?;
    let inverted = cx.flag("invert")?;
    compared(cx, x, scalar, out, inverted)
}

fn scalar_is_in(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (scalar, tests, out) = (
        cx.scalar("element")?,
        cx.tensor("testElements")?,
        cx.out("out")?,
    );
    cx.check_dtype(&out, DataType::Bool)?;
    if out.elements() != 1 {
        return Err(cx.invalid(format_args!(
            "out has the shape {:?}; expected one element",
            out.dims()
        )));
    }
    let inverted = cx.flag("invert")?;
    if tests.is_empty() {
        return cx.fill(Scalar::of_bool(inverted), out);
    }
    let matches = cx.temporary(DataType::Bool, tests.dims())?;
    compared(cx, tests, scalar, matches, inverted)?;
    // In none of them, or in one at least.
    let operator = if inverted { "ReduceMin" } else { "ReduceMax" };
    let axes: Vec<usize> = (0..tests.rank()).collect();
    let found = cx.temporary(DataType::Bool, &[])?;
    reduce(cx, operator, matches, &axes, false, found)?;
    cx.copy(found, out)
}
