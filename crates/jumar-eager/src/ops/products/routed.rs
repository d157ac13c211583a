//! Products of groups of rows whose results are gated and quantised, or combined by the rows that they belong to.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::blocks::matrices;
use super::grouped::{Groups, Product, device_groups};
use super::quantised::as_int8;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::gates::{Gate, Halves};
use crate::ops::groups::{Sizes, group_of};
use crate::ops::operands::MergedOutput;
use crate::ops::quant::{QuantisedOutput, by_largest, decoded, decoded_scales, mx};
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Refusal, Scalar};

/// `out = round(gated(sum * scale * row scale) / largest)`, with the scale of the group that a row belongs to.
struct GatedProduct {
    sizes: Sizes,
    columns: usize,
    limits: (f32, f32),
}

impl RowFunction for GatedProduct {
    fn scratch(&self) -> usize {
        self.columns
    }

    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, scale_out) = (rows.output(0), rows.output(1));
        let group = rows.integers(0);
        let group = group.and_then(|list| group_of(list, self.sizes, rows.number));
        let Some(group) = group else {
            // Rows behind the last group have no meaning; zeros make the result the same from run to run.
            out.fill(0.0);
            scale_out.set(0, 0.0);
            return;
        };
        let (values, sums, start) = (rows.scratch(), rows.input(0), group * self.columns);
        match rows.optional(1) {
            Some(scale) => values.map2(sums, scale.slice(start, self.columns), |sum, scale| {
                sum * scale
            }),
            None => values.copy_from(sums),
        }
        if let Some(bias) = rows.optional(3) {
            values.update(bias.slice(start, self.columns), |value, bias| value + bias);
        }
        let factor = rows.input(2).get(0);
        values.map1(values.as_row(), |value| value * factor);
        let halves = Halves {
            alternating: false,
            swapped: false,
        };
        let (gate, value) = halves.of(values.as_row());
        out.map2(gate, value, |gate, value| {
            Gate::Plain.apply::<FUSED>(gate, value)
        });
        scale_out.set(0, by_largest(out, self.limits));
    }
}

/// Returns parameters with as many elements for each of the groups as `each` as one row of float32.
fn flat(cx: &mut Cx<'_>, view: View, groups: usize, each: usize) -> Result<View, Refusal> {
    if view.elements() != groups * each {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; expected {each} elements for each of {groups} groups",
            cx.param_of(&view),
            view.dims()
        )));
    }
    let view = cx.cast(view, DataType::Float32)?;
    cx.reshaped(view, &[groups * each])
}

/// A product, a gated activation and a quantisation by rows.
pub(super) fn swiglu_quant(cx: &mut Cx<'_>, blocked: bool) -> Result<(), Refusal> {
    let (x, weight, scale) = (
        cx.tensor("x")?,
        cx.tensor("weight")?,
        cx.tensor("weightScale")?,
    );
    let (row_scale, list) = (cx.tensor("xScale")?, cx.tensor("groupList")?);
    let (out, scale_out) = (cx.out("output")?, cx.out("outputScale")?);
    for param in ["offset", "outputOffset"] {
        if cx.optional(param)?.is_some() {
            return Err(cx.invalid(format_args!("{param} must be null: it is reserved")));
        }
    }
    cx.check_dtype(&x, DataType::Int8)?;
    cx.check_types(&weight, &[DataType::Int8, DataType::Int4, DataType::Int32])?;
    cx.check_types(
        &scale,
        &[DataType::Float32, DataType::Float16, DataType::BFloat16],
    )?;
    cx.check_dtype(&row_scale, DataType::Float32)?;
    cx.check_dtype(&list, DataType::Int64)?;
    cx.check_dtype(&out, DataType::Int8)?;
    cx.check_dtype(&scale_out, DataType::Float32)?;
    let (&[rows, depth], Some(&columns)) = (x.dims(), scale.dims().last()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and weightScale {:?}; expected a matrix and 2 or 3 dimensions",
            x.dims(),
            scale.dims()
        )));
    };
    let fours = weight.dtype() != DataType::Int8;
    let limit = if fours { 20_000 } else { 65_536 };
    if depth >= limit || depth == 0 || columns > 10_240 || !columns.is_multiple_of(2) {
        return Err(cx.invalid(format_args!(
            "x has {depth} columns and weight {columns}; expected fewer than {limit}, and an even number up to 10240"
        )));
    }
    let weight = match blocked {
        true => matrices(cx, "weight", 3, [depth, columns])?,
        false => as_int8(cx, weight)?,
    };
    let experts = weight.dims().first().copied().unwrap_or(0);
    if weight.dims() != [experts, depth, columns] || experts == 0 {
        return Err(cx.invalid(format_args!(
            "weight has matrices of the shape {:?}; expected {depth} x {columns} each",
            weight.dims()
        )));
    }
    let count = list.elements();
    if list.rank() != 1 || count == 0 || count > experts {
        return Err(cx.invalid(format_args!(
            "groupList has the shape {:?}; expected one dimension with 1 to {experts} entries",
            list.dims()
        )));
    }
    cx.check_dims(&row_scale, &[rows])?;
    cx.check_dims(&out, &[rows, columns / 2])?;
    cx.check_dims(&scale_out, &[rows])?;
    // Scales of groups of the depth are multiplied into the weights, those of columns behind the product.
    let lines = match scale.dims() {
        &[own, _] if own == experts => 1,
        &[own, lines, _] if own == experts && lines > 0 && depth.is_multiple_of(lines) => lines,
        dims => {
            return Err(cx.invalid(format_args!(
                "weightScale has the shape {dims:?}; expected {experts} x {columns}, or groups of {depth} rows between"
            )));
        }
    };
    let bias = match cx.optional("bias")? {
        Some(bias) if fours => {
            cx.check_dtype(&bias, DataType::Float32)?;
            cx.check_dims(&bias, &[experts, columns])?;
            Some(flat(cx, bias, experts, columns)?)
        }
        Some(_) => {
            return Err(cx.invalid("bias must be null if weight has the type int8"));
        }
        None => None,
    };
    if rows == 0 {
        return Ok(());
    }
    let scale = flat(cx, scale, experts, lines * columns)?;
    // The bias corrects a product with numbers that are smaller by 8: int8 is computed as two int4.
    let shift = if bias.is_some() { -8 } else { 0 };
    let x = match bias {
        Some(_) if lines > 1 => {
            let shifted = cx.temporary(DataType::Float32, &[rows, depth])?;
            let operands = [Operand::Tensor(x), Operand::Scalar(Scalar::of_i64(-8))];
            cx.map(F::Add, DataType::Float32, &operands, shifted)?;
            shifted
        }
        _ => x,
    };
    let groups = Groups {
        list: cx.dense(list)?,
        sizes: Sizes::Ends,
    };
    let product = Product {
        scales: (lines > 1).then_some(scale),
        scale_rows: depth / lines,
        shift: if lines > 1 { 0 } else { shift },
        ..Product::of_rows(x, weight, &groups)
    };
    let sums = product.plan(cx)?;
    let quantised = QuantisedOutput::new(cx, out, &[rows, columns / 2])?;
    let function = GatedProduct {
        sizes: groups.sizes,
        columns,
        limits: quantised.limits,
    };
    let row_scale = cx.reshaped(row_scale, &[rows, 1])?;
    let behind = (lines == 1).then_some(scale);
    let scale_out = MergedOutput::new(cx, scale_out, &[rows, 1])?;
    cx.rows_with(
        function,
        &[Some(groups.list)],
        &[Some(sums), behind, Some(row_scale), bias],
        &[Some(quantised.rows), Some(scale_out.rows)],
    )?;
    scale_out.finish(cx)?;
    quantised.finish(cx)
}

/// `value = logit * (sum * scale * row scale + bias)`
struct WeightedSum {
    sizes: Sizes,
    columns: usize,
}

impl RowFunction for WeightedSum {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let out = rows.output(0);
        let group = rows.integers(0);
        let group = group.and_then(|list| group_of(list, self.sizes, rows.number));
        let Some(group) = group else {
            return out.fill(0.0);
        };
        out.copy_from(rows.input(0));
        let start = group * self.columns;
        if let Some(scale) = rows.optional(1) {
            out.update(scale.slice(start, self.columns), |sum, scale| sum * scale);
        }
        if let Some(factor) = rows.optional(2) {
            let factor = factor.get(0);
            out.map1(out.as_row(), |value| value * factor);
        }
        if let Some(bias) = rows.optional(3) {
            out.update(bias.slice(start, self.columns), |value, bias| value + bias);
        }
        if let Some(logit) = rows.optional(4) {
            let logit = logit.get(0);
            out.map1(out.as_row(), |value| value * logit);
        }
    }
}

/// Adds rows to the rows that an index names. Inputs: rows, and the index as int64. Output: dense float32, which holds the start.
struct Combine {
    columns: usize,
    targets: usize,
}

impl Kernel for Combine {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (rows, index) = (call.input::<f32>(0)?.flat(), call.input::<i64>(1)?.flat());
        let out = call.output::<f32>(0)?.flat();
        let shared = call.input::<f32>(2)?.flat();
        out.copy_from(shared);
        for row in 0..index.len() {
            let target = usize::try_from(index.get(row))
                .ok()
                .filter(|&target| target < self.targets)
                .ok_or_else(|| {
                    OpError::new(
                        OpErrorKind::Data,
                        format!(
                            "rowIndex has the entry {}; it must be from 0 to {}",
                            index.get(row),
                            self.targets - 1
                        ),
                    )
                })?;
            let to = out.slice(target * self.columns, self.columns);
            to.update(
                rows.slice(row * self.columns, self.columns),
                |sum, value| sum + value,
            );
        }
        Ok(())
    }
}

/// The names of the parameters that the forms of the operator differ in.
pub(super) struct Names {
    pub x: &'static str,
    pub weight: &'static str,
    pub scale: &'static str,
    pub bias: &'static str,
    pub groups: &'static str,
    pub shared: &'static str,
    pub logit: &'static str,
    pub index: &'static str,
    pub transposes: [&'static str; 2],
    pub out: &'static str,
    /// Whether the weights are stored in blocks.
    pub blocked: bool,
    /// Parameters that are reserved.
    pub reserved: &'static [&'static str],
}

/// Returns the left operand as rows of a real type, and its factors of rows, if it has any.
fn left(
    cx: &mut Cx<'_>,
    x: View,
    row_scale: Option<View>,
    blocks: bool,
) -> Result<(View, Option<View>), Refusal> {
    let rows = x.dims()[0];
    match row_scale {
        Some(scale) if blocks => {
            let out = cx.temporary(DataType::Float32, x.dims())?;
            mx::restore(cx, x, scale, (1, mx::BLOCK), out)?;
            Ok((out, None))
        }
        None if blocks => Err(cx.null("pertokenScaleOptional")),
        scale => {
            let x = match x.dtype() {
                DataType::Int8 => x,
                _ => decoded(cx, x)?,
            };
            let scale = match scale {
                Some(scale) => {
                    cx.check_dtype(&scale, DataType::Float32)?;
                    cx.check_dims(&scale, &[rows])?;
                    Some(cx.reshaped(scale, &[rows, 1])?)
                }
                None => None,
            };
            Ok((x, scale))
        }
    }
}

/// Products of groups of rows, combined by the rows that they belong to, and added to the result of a shared expert.
pub(super) fn finalize(cx: &mut Cx<'_>, names: &Names) -> Result<(), Refusal> {
    let (x, weight, out) = (
        cx.tensor(names.x)?,
        cx.tensor(names.weight)?,
        cx.out(names.out)?,
    );
    for param in names.reserved {
        if cx.optional(param)?.is_some() {
            return Err(cx.unsupported(format_args!("{param} is not supported")));
        }
    }
    let types = [
        DataType::Int8,
        DataType::Float8E4M3Fn,
        DataType::Float8E5M2,
        DataType::HiFloat8,
        DataType::Float4E2M1,
    ];
    cx.check_types(&x, &types)?;
    if matches!(weight.dtype(), DataType::Int4 | DataType::Int32) {
        return Err(cx.unsupported(format_args!(
            "weights of {} are not supported: their formula is not documented",
            weight.dtype()
        )));
    }
    cx.check_types(&weight, &types)?;
    cx.check_dtype(&out, DataType::Float32)?;
    let dtype = cx.int("dtype")?;
    if dtype != 0 {
        return Err(cx.invalid(format_args!("dtype is {dtype}; it must be 0, for float32")));
    }
    let [turned, transposed] = names.transposes;
    if cx.flag(turned)? {
        return Err(cx.invalid(format_args!("{turned} is true; it must be false")));
    }
    let transposed = cx.flag(transposed)?;
    let (&[rows, depth], &[targets, columns]) = (x.dims(), out.dims()) else {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?} and {} {:?}; expected matrices",
            names.x,
            x.dims(),
            names.out,
            out.dims()
        )));
    };
    cx.check_elements(&[&x, &out])?;
    let kind = cx.int("groupListType")?;
    if kind != 0 && kind != 1 {
        return Err(cx.invalid(format_args!("groupListType is {kind}; it must be 0 or 1")));
    }
    let groups = device_groups(cx, names.groups, kind)?.ok_or_else(|| cx.null(names.groups))?;
    let count = groups.list.elements();
    let stored = if transposed {
        [columns, depth]
    } else {
        [depth, columns]
    };
    let weight = match names.blocked {
        true => matrices(cx, names.weight, 3, stored)?,
        false => weight,
    };
    cx.check_dims(&weight, &[count, stored[0], stored[1]])?;
    let scale = cx
        .optional(names.scale)?
        .ok_or_else(|| cx.null(names.scale))?;
    let blocks = scale.dtype() == DataType::Float8E8M0;
    let (weight, scale) = match blocks {
        true => {
            let restored = cx.temporary(DataType::Float32, weight.dims())?;
            let axis = if transposed { 2 } else { 1 };
            mx::restore(cx, weight, scale, (axis, mx::BLOCK), restored)?;
            (restored, None)
        }
        false => {
            let weight = match weight.dtype() {
                DataType::Int8 | DataType::Float32 => weight,
                _ => decoded(cx, weight)?,
            };
            let scale = decoded_scales(cx, scale)?;
            (weight, Some(flat(cx, scale, count, columns)?))
        }
    };
    let weight = match transposed {
        true => weight.transpose(1, 2),
        false => weight,
    };
    let bias = match cx.optional(names.bias)? {
        Some(bias) => {
            cx.check_types(&bias, &[DataType::BFloat16, DataType::Float32])?;
            Some(flat(cx, bias, count, columns)?)
        }
        None => None,
    };
    let row_scale = cx.optional("pertokenScaleOptional")?;
    let (x, row_scale) = left(cx, x, row_scale, blocks)?;
    let logit = match cx.optional(names.logit)? {
        Some(logit) => {
            cx.check_dtype(&logit, DataType::Float32)?;
            cx.check_dims(&logit, &[rows])?;
            Some(cx.reshaped(logit, &[rows, 1])?)
        }
        None => None,
    };
    let index = cx
        .optional(names.index)?
        .ok_or_else(|| cx.null(names.index))?;
    cx.check_types(&index, &[DataType::Int64, DataType::Int32])?;
    cx.check_dims(&index, &[rows])?;
    // The result of the shared expert, and zeros around it.
    let start = cx.temporary(DataType::Float32, &[targets, columns])?;
    cx.fill(Scalar::of_i64(0), start)?;
    if let Some(shared) = cx.optional(names.shared)? {
        cx.check_types(&shared, &[DataType::BFloat16, DataType::Float16])?;
        let first = usize::try_from(cx.int("sharedInputOffset")?).unwrap_or(usize::MAX);
        let fits = |own: usize| first.checked_add(own).is_some_and(|end| end <= targets);
        match *shared.dims() {
            [own, width] if width == columns && fits(own) => {
                let weight = Scalar::of_f64(cx.float("sharedInputWeight")?);
                let operands = [Operand::Tensor(shared), Operand::Scalar(weight)];
                let part = start.slice(0, first, own, 1);
                cx.map(F::Mul, DataType::Float32, &operands, part)?;
            }
            ref dims => {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {dims:?}; with sharedInputOffset {} it must lie inside {:?} of {}",
                    names.shared,
                    cx.int("sharedInputOffset")?,
                    out.dims(),
                    names.out
                )));
            }
        }
    }
    let sums = Product::of_rows(x, weight, &groups).plan(cx)?;
    let values = cx.temporary(DataType::Float32, &[rows, columns])?;
    let function = WeightedSum {
        sizes: groups.sizes,
        columns,
    };
    cx.rows_with(
        function,
        &[Some(groups.list)],
        &[Some(sums), scale, row_scale, bias, logit],
        &[Some(values)],
    )?;
    let index = cx.cast(index, DataType::Int64)?;
    let index = cx.dense(index)?;
    let target = match out.is_dense() {
        true => out,
        false => cx.temporary(DataType::Float32, out.dims())?,
    };
    let kernel = Combine { columns, targets };
    let inputs = [Some(values), Some(index), Some(start)];
    cx.kernel(Box::new(kernel), &inputs, &[target], false)?;
    cx.copy(target, out)
}

/// Adds products of groups of the depth to matrices in place.
pub(crate) fn add(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, weight, out) = (cx.tensor("x")?, cx.tensor("weight")?, cx.out("yRef")?);
    cx.check_types(&x, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_dtype(&weight, x.dtype())?;
    cx.check_dtype(&out, DataType::Float32)?;
    let kind = cx.int("groupType")?;
    if kind != 2 {
        return Err(cx.invalid(format_args!("groupType is {kind}; it must be 2")));
    }
    let turned = |view: View, flag: bool| match flag {
        true if view.rank() == 2 => view.transpose(0, 1),
        _ => view,
    };
    let x = turned(x, cx.flag("transposeX")?);
    let weight = turned(weight, cx.flag("transposeWeight")?);
    let groups = device_groups(cx, "groupList", 0)?.ok_or_else(|| cx.null("groupList"))?;
    let count = groups.list.elements();
    let (&[rows, depth], &[own, columns]) = (x.dims(), weight.dims()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and weight {:?}; expected matrices",
            x.dims(),
            weight.dims()
        )));
    };
    let fits =
        out.dims() == [count, rows, columns] || out.dims() == [count.saturating_mul(rows), columns];
    if depth != own || !fits {
        return Err(cx.invalid(format_args!(
            "matrices of {:?} and {:?} in {count} groups have no products of the shape {:?}",
            x.dims(),
            weight.dims(),
            out.dims()
        )));
    }
    if out.is_empty() {
        return Ok(());
    }
    let product = Product {
        by_depth: true,
        ..Product::of_rows(x, weight, &groups)
    };
    let sums = product.plan(cx)?;
    let sums = cx.reshaped(sums, out.dims())?;
    let operands = [Operand::Tensor(out), Operand::Tensor(sums)];
    cx.map(F::Add, DataType::Float32, &operands, out)
}

/// Products of groups of rows, by their ends in `groupList`, with scales of columns and rows.
pub(super) fn scaled_groups(
    cx: &mut Cx<'_>,
    (x, weight): (View, View),
    (scale, row_scale): (View, Option<View>),
    out: View,
) -> Result<(), Refusal> {
    let groups = device_groups(cx, "groupList", 0)?.ok_or_else(|| cx.null("groupList"))?;
    let (count, columns) = (weight.dims()[0], weight.dims()[2]);
    cx.check_dims(&groups.list, &[count])?;
    let sums = Product::of_rows(x, weight, &groups).plan(cx)?;
    let function = WeightedSum {
        sizes: groups.sizes,
        columns,
    };
    let inputs = [Some(sums), Some(scale), row_scale];
    cx.rows_with(function, &[Some(groups.list)], &inputs, &[Some(out)])
}
