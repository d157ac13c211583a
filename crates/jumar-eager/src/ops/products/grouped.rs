//! Products of groups of rows with matrices of their own.

use std::sync::OnceLock;

use jumar_ops::simd::{Epilogue, PANEL, Start, gemm};
use jumar_ops::view::{Row, RowMut};
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use super::super::matrix::multiply;
use super::grouped_int8::GroupedInt8;
use super::quantised::as_int8;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::element::any::AnyView;
use crate::ops::groups::{Sizes, group_of};
use crate::ops::operands::FLOATS;
use crate::ops::quant::decoded_scales;
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Refusal, Scalar};

/// Parts of the work, each with a packed panel of its own. The number is fixed when the plan is made.
pub(super) const PARTS: usize = 16;

/// Returns the first entry of a group, and the one behind its last, inside `length`.
pub(super) fn bounds(
    sizes: Sizes,
    list: Row<'_, i64>,
    group: usize,
    length: usize,
) -> Result<(usize, usize), OpError> {
    let mut start = 0i64;
    for index in 0..group {
        start = match sizes {
            Sizes::Ends => list.get(index),
            Sizes::Counts => start.saturating_add(list.get(index)),
        };
    }
    let end = match sizes {
        Sizes::Ends => list.get(group),
        Sizes::Counts => start.saturating_add(list.get(group)),
    };
    if start < 0 || end < start || end > length as i64 {
        return Err(OpError::new(
            OpErrorKind::Data,
            format!(
                "groupList has a group from {start} to {end}; groups must not overlap, and not end behind {length}"
            ),
        ));
    }
    Ok((start as usize, end as usize))
}

/// Products of groups. Inputs: `x` as dense float32; the list of groups as dense int64; scales and offsets of the weights as
/// dense float32, one row of columns for each group, if there are any; and the weights. Output: dense float32.
struct GroupedProducts {
    groups: usize,
    sizes: Sizes,
    /// Whether groups are of the depth, and each has a result of its own.
    by_depth: bool,
    rows: usize,
    depth: usize,
    columns: usize,
    weights: DataType,
    /// From one group, row and column to the next, of each input with matrices.
    strides: Vec<(usize, usize, usize)>,
    /// Whether each group's matrix is an input of its own.
    listed: bool,
    scaled: bool,
    shifted: bool,
    /// Rows of a matrix for each row of its scales.
    scale_rows: usize,
}

/// The operands of one call.
struct Views<'a> {
    x: Row<'a, f32>,
    list: Row<'a, i64>,
    scales: Option<Row<'a, f32>>,
    offsets: Option<Row<'a, f32>>,
    weights: Vec<AnyView<'a>>,
    out: RowMut<'a, f32>,
}

impl GroupedProducts {
    fn first_weight(&self) -> usize {
        2 + usize::from(self.scaled) + usize::from(self.shifted)
    }

    fn views<'a>(&self, call: &Call<'a>) -> Result<Views<'a>, OpError> {
        let optional = |given: bool, index: usize| match given {
            true => Ok::<_, OpError>(Some(call.input::<f32>(index)?.flat())),
            false => Ok(None),
        };
        let first = self.first_weight();
        Ok(Views {
            x: call.input::<f32>(0)?.flat(),
            list: call.input::<i64>(1)?.flat(),
            scales: optional(self.scaled, 2)?,
            offsets: optional(self.shifted, 3)?,
            weights: (0..self.strides.len())
                .map(|index| AnyView::new(call, first + index, self.weights))
                .collect::<Result<_, _>>()?,
            out: call.output::<f32>(0)?.flat(),
        })
    }

    fn panels(&self) -> usize {
        self.columns.div_ceil(PANEL)
    }

    /// Packs columns of a group's matrix: rows `first` to `end`.
    fn pack(
        &self,
        views: &Views<'_>,
        (group, panel): (usize, usize),
        (first, end): (usize, usize),
        to: RowMut<'_, f32>,
    ) {
        let column = panel * PANEL;
        let count = PANEL.min(self.columns - column);
        if count < PANEL {
            to.fill(0.0);
        }
        let own = match self.by_depth || self.listed {
            true => 0,
            false => group * self.strides[0].0,
        };
        let weights = &views.weights[if self.listed { group } else { 0 }];
        let (_, down, right) = self.strides[if self.listed { group } else { 0 }];
        for row in first..end {
            let start = own + row * down + column * right;
            weights.load(
                start,
                right as isize,
                to.slice((row - first) * PANEL, count),
            );
        }
        let Some(scales) = views.scales else { return };
        let lines = self.depth.div_ceil(self.scale_rows);
        for row in first..end {
            let own = to.slice((row - first) * PANEL, count);
            let line = group * lines + row / self.scale_rows;
            let start = line * self.columns + column;
            if let Some(offsets) = views.offsets {
                own.update(offsets.slice(start, count), |weight, offset| {
                    weight + offset
                });
            }
            own.update(scales.slice(start, count), |weight, scale| weight * scale);
        }
    }

    fn task(&self, views: &Views<'_>, task: usize, packed: RowMut<'_, f32>) -> Result<(), OpError> {
        let (group, panel) = (task / self.panels(), task % self.panels());
        let (list, x, out) = (views.list, views.x, views.out);
        let length = if self.by_depth { self.depth } else { self.rows };
        let (first, end) = bounds(self.sizes, list, group, length)?;
        let column = panel * PANEL;
        let count = PANEL.min(self.columns - column);
        let epilogue = Epilogue {
            start: Start::Zero,
            residual: None,
            clamp: None,
        };
        let (rows, depth, skip, target) = match self.by_depth {
            true => (
                self.rows,
                end - first,
                first,
                group * self.rows * self.columns,
            ),
            false => (
                end - first,
                self.depth,
                first * self.depth,
                first * self.columns,
            ),
        };
        if rows == 0 {
            return Ok(());
        }
        let to = out.slice(target + column, (rows - 1) * self.columns + count);
        if depth == 0 {
            for row in 0..rows {
                to.slice(row * self.columns, count).fill(0.0);
            }
            return Ok(());
        }
        let range = if self.by_depth {
            (first, end)
        } else {
            (0, self.depth)
        };
        self.pack(views, (group, panel), range, packed);
        gemm(
            (rows, count, depth),
            (x.slice(skip, x.len() - skip), self.depth),
            packed.as_row(),
            (to, self.columns),
            &epilogue,
        );
        Ok(())
    }
}

impl Kernel for GroupedProducts {
    fn scratch_bytes(&self) -> usize {
        PARTS * self.depth * PANEL * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (tasks, len) = (self.groups * self.panels(), self.depth * PANEL);
        let scratch = call.scratch::<f32>(0, PARTS * len)?;
        let views = self.views(call)?;
        let failure = OnceLock::new();
        call.workers().each(PARTS, |part| {
            let packed = scratch.slice(part * len, len);
            for task in (part..tasks).step_by(PARTS) {
                if let Err(error) = self.task(&views, task, packed) {
                    let _ = failure.set(error);
                    return;
                }
            }
        });
        failure.into_inner().map_or(Ok(()), Err)
    }
}

/// Products of groups: of rows with matrices of their own, or of parts of the depth.
pub(super) struct Product<'a> {
    /// Rows and columns, of any real type.
    pub x: View,
    /// A batch of matrices, one for each group, or as many tensors.
    pub matrices: Vec<View>,
    pub groups: &'a Groups,
    pub columns: usize,
    pub by_depth: bool,
    pub listed: bool,
    /// Scales and offsets of the matrices as one row of float32.
    pub scales: Option<View>,
    pub offsets: Option<View>,
    /// Rows of a matrix for each row of its scales.
    pub scale_rows: usize,
    /// For int8: what is added to the sums, as one row of int32, those of each group after one another.
    pub bias: Option<View>,
    /// For int8: what is added to each entry of `x`.
    pub shift: i32,
}

impl<'a> Product<'a> {
    /// Describes products of rows with a batch of matrices, one for each group, without scales.
    pub fn of_rows(x: View, matrices: View, groups: &'a Groups) -> Product<'a> {
        let rank = matrices.rank();
        Product {
            x,
            matrices: vec![matrices],
            groups,
            columns: matrices.dims()[rank - 1],
            by_depth: false,
            listed: false,
            scales: None,
            offsets: None,
            scale_rows: matrices.dims()[rank - 2].max(1),
            bias: None,
            shift: 0,
        }
    }

    /// Returns from one group, row and column to the next, of each tensor with matrices.
    fn strides(&self) -> Vec<(usize, usize, usize)> {
        let of_one = |own: &View| {
            let (rank, strides) = (own.rank(), own.strides());
            let outer = if rank > 2 { strides[0] } else { 0 };
            (
                outer as usize,
                strides[rank - 2] as usize,
                strides[rank - 1] as usize,
            )
        };
        self.matrices.iter().map(of_one).collect()
    }

    /// Reports whether the sums are those of int8, which 32 bits hold exactly.
    fn is_integer(&self) -> bool {
        let mut types = self.matrices.iter().map(View::dtype);
        self.x.dtype() == DataType::Int8
            && types.all(|dtype| dtype == DataType::Int8)
            && self.scales.is_none()
            && !self.by_depth
    }

    /// Returns the sums as int32.
    fn plan_integers(self, cx: &mut Cx<'_>) -> Result<View, Refusal> {
        let (rows, depth, columns) = (self.x.dims()[0], self.x.dims()[1], self.columns);
        let x = cx.dense(self.x)?;
        let sums = cx.temporary(DataType::Int32, &[rows, columns])?;
        // Rows behind the last group.
        cx.fill(Scalar::of_i64(0), sums)?;
        let kernel = GroupedInt8 {
            groups: self.groups.list.elements(),
            sizes: self.groups.sizes,
            rows,
            depth,
            columns,
            strides: self.strides(),
            listed: self.listed,
            biased: self.bias.is_some(),
            shift: self.shift,
        };
        let mut inputs = vec![Some(x), Some(self.groups.list)];
        inputs.extend(self.bias.map(Some));
        inputs.extend(self.matrices.into_iter().map(Some));
        cx.kernel(Box::new(kernel), &inputs, &[sums], false)?;
        Ok(sums)
    }

    /// Returns the sums: of int8 as int32, and others as float32. Rows behind the last group are 0.
    pub fn plan(self, cx: &mut Cx<'_>) -> Result<View, Refusal> {
        if self.is_integer() {
            return self.plan_integers(cx);
        }
        if self.bias.is_some() || self.shift != 0 {
            return Err(cx.defect("a product of other types than int8 has no integer bias"));
        }
        let (rows, depth, columns) = (self.x.dims()[0], self.x.dims()[1], self.columns);
        let count = self.groups.list.elements();
        let result = match self.by_depth {
            true => vec![count, rows, columns],
            false => vec![rows, columns],
        };
        let Some(first) = self.matrices.first().copied() else {
            return Err(cx.defect("a product has a matrix"));
        };
        let x = cx.cast(self.x, DataType::Float32)?;
        let x = cx.dense(x)?;
        let sums = cx.temporary(DataType::Float32, &result)?;
        if !self.by_depth {
            // Rows behind the last group.
            cx.fill(Scalar::of_i64(0), sums)?;
        }
        let kernel = GroupedProducts {
            groups: count,
            sizes: self.groups.sizes,
            by_depth: self.by_depth,
            rows,
            depth,
            columns,
            weights: first.dtype(),
            strides: self.strides(),
            listed: self.listed,
            scaled: self.scales.is_some(),
            shifted: self.offsets.is_some(),
            scale_rows: self.scale_rows.max(1),
        };
        let mut inputs = vec![Some(x), Some(self.groups.list)];
        inputs.extend(self.scales.map(Some));
        inputs.extend(self.offsets.map(Some));
        inputs.extend(self.matrices.into_iter().map(Some));
        cx.kernel(Box::new(kernel), &inputs, &[sums], false)?;
        Ok(sums)
    }
}

/// `out = sum * scale * row scale + bias`, with the scale and the bias of the group that a row belongs to.
struct Finish {
    columns: usize,
    sizes: Sizes,
}

impl RowFunction for Finish {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let out = rows.output(0);
        let group = rows.integers(0);
        let group = group.and_then(|list| group_of(list, self.sizes, rows.number));
        let Some(group) = group else {
            // Rows behind the last group have no meaning; zeros make the result the same from run to run.
            out.fill(0.0);
            return;
        };
        out.copy_from(rows.input(0));
        let start = group * self.columns;
        if let Some(scale) = rows.optional(1) {
            out.update(scale.slice(start, self.columns), |value, scale| {
                value * scale
            });
        }
        if let Some(factor) = rows.optional(2) {
            let factor = factor.get(0);
            out.map1(out.as_row(), |value| value * factor);
        }
        if let Some(bias) = rows.optional(3) {
            out.update(bias.slice(start, self.columns), |value, bias| value + bias);
        }
    }
}

/// The list of groups as dense int64.
pub(super) struct Groups {
    pub list: View,
    pub sizes: Sizes,
}

fn host_groups(cx: &mut Cx<'_>) -> Result<Option<Groups>, Refusal> {
    let Some(ends) = cx
        .optional_ints("groupListOptional")?
        .filter(|ends| !ends.is_empty())
    else {
        return Ok(None);
    };
    let tensor = jumar_ops::Tensor::from_ints(ends);
    Ok(Some(Groups {
        list: cx.constant(&tensor)?,
        sizes: Sizes::Ends,
    }))
}

pub(super) fn device_groups(
    cx: &mut Cx<'_>,
    param: &str,
    kind: i64,
) -> Result<Option<Groups>, Refusal> {
    let Some(list) = cx.optional(param)? else {
        return Ok(None);
    };
    cx.check_dtype(&list, DataType::Int64)?;
    let sizes = match kind {
        0 => Sizes::Ends,
        1 => Sizes::Counts,
        2 => return Err(cx.unsupported("groupListType 2 is not supported")),
        other => {
            return Err(cx.invalid(format_args!(
                "groupListType is {other}; it must be 0, 1 or 2"
            )));
        }
    };
    if list.rank() != 1 {
        return Err(cx.invalid(format_args!(
            "{param} has the shape {:?}; expected one dimension",
            list.dims()
        )));
    }
    Ok(Some(Groups {
        list: cx.dense(list)?,
        sizes,
    }))
}

/// Refuses lists that are not empty and have no effect that is computed.
fn check_absent(cx: &Cx<'_>, params: &[&str]) -> Result<(), Refusal> {
    for param in params {
        let given = cx.optional_tensors(param)?;
        if given.iter().flatten().any(|view| !view.is_empty()) {
            return Err(cx.unsupported(format_args!("{param} is not supported")));
        }
    }
    Ok(())
}

pub(super) fn first(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let groups = host_groups(cx)?;
    let kind = if groups.is_some() { 0 } else { -1 };
    plan(cx, groups, kind, Form::OLDER)
}

pub(super) fn second(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (groups, kind) = (host_groups(cx)?, cx.int("groupType")?);
    plan(cx, groups, kind, Form::OLDER)
}

pub(super) fn third(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (groups, kind) = (
        device_groups(cx, "groupListOptional", 0)?,
        cx.int("groupType")?,
    );
    plan(cx, groups, kind, Form::OLDER)
}

pub(super) fn fourth(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    newer(cx, false)
}

/// The weights are stored in blocks.
pub(super) fn blocked(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx.int("quantGroupSize")? != 0 {
        return Err(cx.unsupported("quantGroupSize is not 0: scales of groups are not supported"));
    }
    newer(cx, true)
}

fn newer(cx: &mut Cx<'_>, blocked: bool) -> Result<(), Refusal> {
    check_absent(
        cx,
        &[
            "activationInputOptional",
            "activationQuantScaleOptional",
            "activationQuantOffsetOptional",
            "activationFeatureOutOptional",
            "dynQuantScaleOutOptional",
        ],
    )?;
    if cx.int("actType")? != 0 {
        return Err(cx.unsupported("actType is not 0: activations are not supported"));
    }
    let kind = cx.int("groupListType")?;
    let (groups, axis) = (
        device_groups(cx, "groupListOptional", kind)?,
        cx.int("groupType")?,
    );
    plan(
        cx,
        groups,
        axis,
        Form {
            outs: "out",
            row_scales: true,
            blocked,
        },
    )
}

/// Returns the members of a list that have elements; null pointers and empty tensors stand for an absent list.
fn present(cx: &Cx<'_>, param: &str) -> Result<Vec<View>, Refusal> {
    let members = cx.optional_tensors(param)?;
    Ok(members
        .into_iter()
        .flatten()
        .filter(|view| !view.is_empty())
        .collect())
}

/// Returns parameters of groups as one row of float32, those of each group behind each other: one tensor for all groups, or
/// one for each.
fn flat(
    cx: &mut Cx<'_>,
    views: Vec<View>,
    groups: usize,
    columns: usize,
) -> Result<Option<View>, Refusal> {
    flat_as(cx, views, (groups, columns), DataType::Float32)
}

/// As [`flat`], in another type.
fn flat_as(
    cx: &mut Cx<'_>,
    views: Vec<View>,
    (groups, columns): (usize, usize),
    dtype: DataType,
) -> Result<Option<View>, Refusal> {
    let Some(first) = views.first().copied() else {
        return Ok(None);
    };
    let out = cx.temporary(dtype, &[groups, columns])?;
    let wrong = |cx: &Cx<'_>, view: &View| {
        cx.invalid(format_args!(
            "{} has the shape {:?}; expected {columns} elements for each of {groups} groups",
            cx.param_of(view),
            view.dims()
        ))
    };
    if views.len() == 1 && (groups > 1 || first.rank() == 2) {
        let shaped = match first.elements() {
            count if count == groups * columns => cx.reshaped(first, &[groups, columns])?,
            count if count == groups => cx.reshaped(first, &[groups, 1])?,
            _ => return Err(wrong(cx, &first)),
        };
        let wide = shaped
            .expand(&[groups, columns])
            .ok_or_else(|| cx.defect("a column is repeated"))?;
        cx.copy(wide, out)?;
    } else {
        if views.len() != groups {
            return Err(wrong(cx, &first));
        }
        for (group, view) in views.into_iter().enumerate() {
            if view.elements() != columns && view.elements() != 1 {
                return Err(wrong(cx, &view));
            }
            let row = cx.reshaped(view, &[view.elements()])?;
            let wide = row
                .expand(&[columns])
                .ok_or_else(|| cx.defect("one element is repeated"))?;
            cx.copy(wide, out.select(0, group))?;
        }
    }
    Ok(Some(cx.reshaped(out, &[groups * columns])?))
}

/// Every tensor with a matrix of its own.
fn one_by_one(
    cx: &mut Cx<'_>,
    x: Vec<View>,
    weights: Vec<View>,
    outs: Vec<View>,
) -> Result<(), Refusal> {
    if x.len() != weights.len() || x.len() != outs.len() {
        return Err(cx.invalid(format_args!(
            "{} tensors, {} matrices and {} results are given; without groups there are equally many",
            x.len(),
            weights.len(),
            outs.len()
        )));
    }
    check_absent(
        cx,
        &[
            "scaleOptional",
            "offsetOptional",
            "antiquantScaleOptional",
            "antiquantOffsetOptional",
        ],
    )?;
    let biases = present(cx, "biasOptional")?;
    if !biases.is_empty() && biases.len() != x.len() {
        return Err(cx.invalid(format_args!(
            "biasOptional has {} tensors; expected {}",
            biases.len(),
            x.len()
        )));
    }
    for (index, ((x, weight), out)) in x.into_iter().zip(weights).zip(outs).enumerate() {
        cx.check_types(&x, FLOATS)?;
        cx.check_dtype(&weight, x.dtype())?;
        if weight.rank() != 2 || x.rank() < 2 {
            return Err(cx.invalid(format_args!(
                "x[{index}] has the shape {:?} and weight[{index}] {:?}; expected matrices",
                x.dims(),
                weight.dims()
            )));
        }
        let product = cx.temporary(DataType::Float32, out.dims())?;
        let (x, weight) = (
            cx.cast(x, DataType::Float32)?,
            cx.cast(weight, DataType::Float32)?,
        );
        multiply(cx, x, weight, product)?;
        match biases.get(index) {
            Some(bias) => {
                let operands = [Operand::Tensor(product), Operand::Tensor(*bias)];
                cx.map(F::Add, DataType::Float32, &operands, out)?;
            }
            None => cx.copy(product, out)?,
        }
    }
    Ok(())
}

/// What the forms of the operator differ in.
#[derive(Clone, Copy)]
struct Form {
    outs: &'static str,
    row_scales: bool,
    /// Whether the weights are stored in blocks.
    blocked: bool,
}

impl Form {
    const OLDER: Form = Form {
        outs: "y",
        row_scales: false,
        blocked: false,
    };
}

/// Returns weights as matrices where they are stored in blocks. Each has as many rows as its `x` has columns, and as many
/// columns as its result.
fn unblocked(
    cx: &mut Cx<'_>,
    x: &[View],
    outs: &[View],
    weights: Vec<View>,
) -> Result<Vec<View>, Refusal> {
    let mut matrices = Vec::with_capacity(weights.len());
    for (index, weight) in weights.iter().enumerate() {
        let pick = |views: &[View]| {
            let own = views.get(index).or(views.first())?;
            own.dims().last().copied()
        };
        let (Some(depth), Some(columns)) = (pick(x), pick(outs)) else {
            return Err(cx.invalid("x and out must have at least one tensor with dimensions"));
        };
        // A batch of matrices is one tensor; lists have a matrix in each.
        let rank = match (weight.rank(), weights.len()) {
            (2 | 4, _) => 2,
            _ => 3,
        };
        matrices.push(super::blocks::matrices_of(
            cx,
            ("weight", Some(index)),
            rank,
            [depth, columns],
        )?);
    }
    Ok(matrices)
}

fn plan(cx: &mut Cx<'_>, groups: Option<Groups>, kind: i64, form: Form) -> Result<(), Refusal> {
    let (x, outs) = (cx.tensors("x")?, cx.tensors(form.outs)?);
    let mut weights = cx.tensors("weight")?;
    if form.blocked {
        weights = unblocked(cx, &x, &outs, weights)?;
    }
    let by_depth = match (kind, &groups) {
        (-1, _) => return one_by_one(cx, x, weights, outs),
        (0, Some(_)) => false,
        (2, Some(_)) => true,
        (0 | 2, None) => return Err(cx.null("groupListOptional")),
        (other, _) => {
            return Err(cx.invalid(format_args!("groupType is {other}; it must be -1, 0 or 2")));
        }
    };
    let Some(groups) = groups else {
        return Err(cx.defect("groups were checked"));
    };
    let (&[x], &[out]) = (x.as_slice(), outs.as_slice()) else {
        return Err(cx.unsupported(format_args!(
            "{} tensors and {} results in groups are not supported; expected one each",
            x.len(),
            outs.len()
        )));
    };
    let integers = x.dtype() == DataType::Int8;
    if !integers {
        cx.check_types(&x, FLOATS)?;
    }
    cx.check_types(&out, FLOATS)?;
    let count = groups.list.elements();
    let mut matrices = Vec::with_capacity(weights.len());
    for weight in weights {
        matrices.push(match weight.dtype() {
            DataType::Int8 | DataType::Int4 | DataType::Int32 => as_int8(cx, weight)?,
            _ => {
                cx.check_dtype(&weight, x.dtype())?;
                weight
            }
        });
    }
    let listed =
        matrices.len() > 1 || (matrices.len() == 1 && count == 1 && matrices[0].rank() == 2);
    let (Some(first), &[rows, depth]) = (matrices.first().copied(), x.dims()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?} and {} matrices are given; expected a matrix and at least one",
            x.dims(),
            matrices.len()
        )));
    };
    let columns = first.dims().last().copied().unwrap_or(0);
    let fits = match (by_depth, listed) {
        (true, _) => matrices.len() == 1 && first.dims() == [depth, columns],
        (false, true) => {
            matrices.len() == count && matrices.iter().all(|own| own.dims() == [depth, columns])
        }
        (false, false) => first.dims() == [count, depth, columns],
    };
    if !fits || matrices.iter().any(|own| own.dtype() != first.dtype()) {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}, and {} matrices the shape {:?}; they do not fit {count} groups",
            x.dims(),
            matrices.len(),
            first.dims()
        )));
    }
    let result = match by_depth {
        true => vec![count, rows, columns],
        false => vec![rows, columns],
    };
    cx.check_dims(&out, &result)?;
    check_absent(cx, &["offsetOptional"])?;
    if out.is_empty() {
        return Ok(());
    }
    let weight_scales = present(cx, "antiquantScaleOptional")?;
    let weight_offsets = present(cx, "antiquantOffsetOptional")?;
    let restores = first.dtype() == DataType::Int8 && !integers;
    if restores == weight_scales.is_empty() || by_depth && (restores || integers) {
        return Err(cx.invalid(format_args!(
            "weights of {} with x of {} and {} scales of weights have no product",
            first.dtype(),
            x.dtype(),
            weight_scales.len()
        )));
    }
    let weight_scales = flat(cx, weight_scales, count, columns)?;
    let weight_offsets = flat(cx, weight_offsets, count, columns)?;
    let mut scales = present(cx, "scaleOptional")?;
    for scale in &mut scales {
        *scale = decoded_scales(cx, *scale)?;
    }
    if integers == scales.is_empty() {
        return Err(cx.invalid(format_args!(
            "x has the type {} and {} scales are given; int8 has scales, and other types none",
            x.dtype(),
            scales.len()
        )));
    }
    let scales = flat(cx, scales, count, columns)?;
    let biases = present(cx, "biasOptional")?;
    if by_depth && !biases.is_empty() {
        return Err(cx.unsupported("a bias of groups of the depth is not supported"));
    }
    // A bias of integers is added to the sums, before they are scaled.
    let is_integer = |bias: &View| bias.dtype() == DataType::Int32;
    let integer_bias = integers && !biases.is_empty() && biases.iter().all(is_integer);
    if !integer_bias && let Some(bias) = biases.iter().find(|bias| is_integer(bias)) {
        return Err(cx.refuse_type(&cx.param_of(bias), DataType::Int32, "a floating-point type"));
    }
    let bias_type = match integer_bias {
        true => DataType::Int32,
        false => DataType::Float32,
    };
    let mut biases = flat_as(cx, biases, (count, columns), bias_type)?;
    let row_scales = match form.row_scales {
        true => present(cx, "perTokenScaleOptional")?,
        false => Vec::new(),
    };
    let row_scale = match row_scales.as_slice() {
        [] => None,
        &[scale] if scale.elements() == rows => {
            cx.check_dtype(&scale, DataType::Float32)?;
            Some(cx.reshaped(scale, &[rows, 1])?)
        }
        other => {
            return Err(cx.invalid(format_args!(
                "perTokenScaleOptional has {} tensors; expected one with {rows} elements",
                other.len()
            )));
        }
    };
    let product = Product {
        x,
        matrices,
        groups: &groups,
        columns,
        by_depth,
        listed: listed && !by_depth,
        scales: weight_scales,
        offsets: weight_offsets,
        scale_rows: depth.max(1),
        bias: biases.take_if(|_| integer_bias),
        shift: 0,
    };
    let sums = product.plan(cx)?;
    if by_depth {
        return cx.copy(sums, out);
    }
    let function = Finish {
        columns,
        sizes: groups.sizes,
    };
    let inputs = [Some(sums), scales, row_scale, biases];
    cx.rows_with(function, &[Some(groups.list)], &inputs, &[Some(out)])
}
