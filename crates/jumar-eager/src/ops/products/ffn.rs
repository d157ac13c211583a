//! Two layers with an activation between them, of one network or of an expert for each group of rows.

use jumar_types::dtype::DataType;

use super::grouped::{Groups, Product};
use super::quantised::as_int8;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::ops::groups::{Sizes, group_of};
use crate::ops::operands::MergedOutput;
use crate::ops::quant::{decoded_scales, limited};
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Arg, Refusal};

const HALVES: &[DataType] = &[DataType::Float16, DataType::BFloat16];

/// What the forms of the operator differ in.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// The end of the names of optional parameters.
    suffix: &'static str,
    /// Whether a parameter says that the groups are given by their ends.
    flag: bool,
}

pub(super) const FIRST: Form = Form {
    suffix: "",
    flag: false,
};

pub(super) const SECOND: Form = Form {
    suffix: "",
    flag: true,
};

pub(super) const THIRD: Form = Form {
    suffix: "Optional",
    flag: true,
};

/// How the operands are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Plain,
    /// Rows and weights are int8.
    Quantised,
    /// Weights are int8 or int4, and become numbers of the type of the rows.
    Restored,
}

/// `out = (sum + bias) * scale`, with those of the group that a row belongs to. Rows behind the last group are 0.
struct Layer {
    columns: usize,
    sizes: Sizes,
}

impl RowFunction for Layer {
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
        if let Some(bias) = rows.optional(1) {
            out.update(bias.slice(start, self.columns), |value, bias| value + bias);
        }
        if let Some(scale) = rows.optional(2) {
            out.update(scale.slice(start, self.columns), |value, scale| {
                value * scale
            });
        }
    }
}

/// `out = round(x * scale + offset)`, with the scale of the group or of its columns, and the offset of the group.
struct Quantise {
    sizes: Sizes,
    /// Whether a group has one scale.
    by_group: bool,
}

impl RowFunction for Quantise {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, x, scale) = (rows.output(0), rows.input(0), rows.input(1));
        let list = rows.integers(0);
        let group = list.and_then(|list| group_of(list, self.sizes, rows.number));
        let Some(group) = group else {
            return out.fill(0.0);
        };
        let offset = rows.optional(2).map_or(0.0, |offset| offset.get(group));
        let quantised = |value: f32| limited((value + offset).round_ties_even(), (-128.0, 127.0));
        match self.by_group {
            true => {
                let scale = scale.get(group);
                out.map1(x, |value| quantised(value * scale));
            }
            false => {
                let scale = scale.slice(group * x.len(), x.len());
                out.map2(x, scale, |value, scale| quantised(value * scale));
            }
        }
    }
}

/// Returns the groups of rows: those of the experts, or one.
fn groups(cx: &mut Cx<'_>, form: Form, rows: usize) -> Result<(Groups, bool), Refusal> {
    let param = format!("expertTokens{}", form.suffix);
    let by_ends = form.flag && cx.flag("tokensIndexFlag")?;
    let sizes = if by_ends { Sizes::Ends } else { Sizes::Counts };
    if let Arg::Tensor(_) = cx.arg(&param)? {
        let list = cx.tensor(&param)?;
        cx.check_dtype(&list, DataType::Int64)?;
        if list.rank() != 1 || list.elements() > 256 {
            return Err(cx.invalid(format_args!(
                "{param} has the shape {:?}; expected one dimension with at most 256 entries",
                list.dims()
            )));
        }
        if !list.is_empty() {
            let list = cx.dense(list)?;
            return Ok((Groups { list, sizes }, true));
        }
    } else if let Some(given) = cx.optional_ints(&param)?.filter(|list| !list.is_empty()) {
        let total = match by_ends {
            true => given.last().copied(),
            false => Some(given.iter().fold(0i64, |sum, own| sum.saturating_add(*own))),
        };
        let rising = !by_ends || given.is_sorted();
        if total != Some(rows as i64) || !rising || given.len() > 256 || given[0] < 0 {
            return Err(cx.invalid(format_args!(
                "{param} is {given:?}; it must have at most 256 {} of groups, which divide the {rows} rows of x",
                if by_ends { "ends" } else { "sizes" }
            )));
        }
        let list = jumar_ops::Tensor::from_ints(given);
        let list = cx.constant(&list)?;
        return Ok((Groups { list, sizes }, true));
    }
    let list = jumar_ops::Tensor::from_ints(&[rows as i64]);
    let list = cx.constant(&list)?;
    Ok((Groups { list, sizes }, false))
}

/// Returns parameters of groups as one row of float32, or of int32, with `each` numbers for each group.
fn flat(cx: &mut Cx<'_>, view: View, groups: usize, each: usize) -> Result<View, Refusal> {
    if view.elements() != groups * each || view.dims().last() != Some(&each) && each != 1 {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; expected {each} numbers for each of {groups} groups",
            cx.param_of(&view),
            view.dims()
        )));
    }
    let view = match view.dtype() {
        // A bias of integers is added to integer sums.
        DataType::Int32 => cx.dense(view)?,
        _ => cx.cast(view, DataType::Float32)?,
    };
    cx.reshaped(view, &[groups * each])
}

/// One of the two layers.
struct Weights {
    matrices: View,
    columns: usize,
    /// Added to the sums: of int32 where the sums are, otherwise of float32.
    bias: Option<View>,
    /// The scales of columns behind the product.
    scale: Option<View>,
    /// Scales and offsets of the weights themselves, and rows of a matrix for each row of them.
    restore: Option<(View, Option<View>, usize)>,
}

impl Weights {
    fn read(
        cx: &mut Cx<'_>,
        (form, number): (Form, usize),
        (mode, dtype): (Mode, DataType),
        (groups, has_experts): (usize, bool),
    ) -> Result<Weights, Refusal> {
        let name = |param: &str| format!("{param}{number}{}", form.suffix);
        let weight = cx.tensor(&format!("weight{number}"))?;
        let weight = match mode {
            Mode::Plain => weight,
            Mode::Quantised | Mode::Restored => as_int8(cx, weight)?,
        };
        let matrices = match (weight.rank(), has_experts) {
            (2, false) => weight.unsqueeze(0),
            _ => weight,
        };
        let &[experts, depth, columns] = matrices.dims() else {
            return Err(cx.invalid(format_args!(
                "weight{number} has the shape {:?}; expected a matrix, or one for each expert",
                weight.dims()
            )));
        };
        if experts != groups || weight.rank() != 2 + usize::from(has_experts) {
            return Err(cx.invalid(format_args!(
                "weight{number} has the shape {:?}; the tokens belong to {groups} experts",
                weight.dims()
            )));
        }
        let bias = match cx.optional(&name("bias"))? {
            Some(bias) => {
                let wanted = match (mode, dtype) {
                    (Mode::Quantised, _) => DataType::Int32,
                    (_, DataType::BFloat16) => DataType::Float32,
                    _ => DataType::Float16,
                };
                cx.check_dtype(&bias, wanted)?;
                Some(flat(cx, bias, groups, columns)?)
            }
            None => None,
        };
        let scale = match mode {
            Mode::Quantised => {
                let param = name("deqScale");
                let scale = cx.optional(&param)?.ok_or_else(|| cx.null(&param))?;
                let scale = decoded_scales(cx, scale)?;
                Some(flat(cx, scale, groups, columns)?)
            }
            _ => None,
        };
        let restore = match mode {
            Mode::Restored => {
                let param = name("antiquantScale");
                let scale = cx.optional(&param)?.ok_or_else(|| cx.null(&param))?;
                cx.check_dtype(&scale, dtype)?;
                let lines = scale.elements() / (groups * columns).max(1);
                if lines == 0 || !depth.is_multiple_of(lines) {
                    return Err(cx.invalid(format_args!(
                        "{param} has the shape {:?}; it must have a row of {columns} for each group of the {depth} rows of a matrix",
                        scale.dims()
                    )));
                }
                let dims = scale.dims().to_vec();
                let scale = flat(cx, scale, groups * lines, columns)?;
                let offset = match cx.optional(&name("antiquantOffset"))? {
                    Some(offset) => {
                        cx.check_dtype(&offset, dtype)?;
                        cx.check_dims(&offset, &dims)?;
                        Some(flat(cx, offset, groups * lines, columns)?)
                    }
                    None => None,
                };
                Some((scale, offset, depth / lines))
            }
            _ => None,
        };
        Ok(Weights {
            matrices,
            columns,
            bias,
            scale,
            restore,
        })
    }

    fn depth(&self) -> usize {
        self.matrices.dims()[1]
    }

    /// Plans the layer for rows.
    fn apply(&self, cx: &mut Cx<'_>, x: View, groups: &Groups, out: View) -> Result<(), Refusal> {
        let mut product = Product::of_rows(x, self.matrices, groups);
        if let Some((scales, offsets, rows)) = self.restore {
            product.scales = Some(scales);
            product.offsets = offsets;
            product.scale_rows = rows;
        }
        let (exact, rounded) = match self.bias {
            Some(bias) if bias.dtype() == DataType::Int32 => (Some(bias), None),
            other => (None, other),
        };
        product.bias = exact;
        let sums = product.plan(cx)?;
        let function = Layer {
            columns: self.columns,
            sizes: groups.sizes,
        };
        let inputs = [Some(sums), rounded, self.scale];
        cx.rows_with(function, &[Some(groups.list)], &inputs, &[Some(out)])
    }
}

/// Reads the name of an activation: its function, and whether it opens a gate.
fn activation(cx: &Cx<'_>) -> Result<(F, bool), Refusal> {
    Ok(match cx.text("activation")? {
        "fastgelu" => (F::FastGelu, false),
        "gelu" => (F::Gelu, false),
        "relu" => (F::Relu, false),
        "silu" => (F::Silu, false),
        "geglu" => (F::Gelu, true),
        "swiglu" => (F::Silu, true),
        "reglu" => (F::Relu, true),
        other => {
            return Err(cx.invalid(format_args!(
                "activation is {other:?}; it must be fastgelu, gelu, relu, silu, geglu, swiglu or reglu"
            )));
        }
    })
}

/// Refuses parameters of other modes.
fn check_absent(cx: &Cx<'_>, form: Form, mode: Mode) -> Result<(), Refusal> {
    let quantised = ["scale", "offset", "deqScale1", "deqScale2"];
    let restored = [
        "antiquantScale1",
        "antiquantScale2",
        "antiquantOffset1",
        "antiquantOffset2",
    ];
    let (others, mode): (&[&[&str]], _) = match mode {
        Mode::Plain => (&[&quantised, &restored], "x and weights are not quantised"),
        Mode::Quantised => (&[&restored], "x is quantised"),
        Mode::Restored => (&[&quantised], "only the weights are quantised"),
    };
    for param in others.iter().copied().flatten() {
        let param = format!("{param}{}", form.suffix);
        if cx.optional(&param)?.is_some() {
            return Err(cx.invalid(format_args!("{param} must be null where {mode}")));
        }
    }
    Ok(())
}

pub(super) fn plan(cx: &mut Cx<'_>, form: Form) -> Result<(), Refusal> {
    let (x, weight, out) = (cx.tensor("x")?, cx.tensor("weight1")?, cx.out("y")?);
    cx.check_types(&x, &[HALVES, &[DataType::Int8]].concat())?;
    cx.check_types(&out, HALVES)?;
    let (function, gated) = activation(cx)?;
    let precise = match cx.int("innerPrecise")? {
        0 => true,
        1 => false,
        other => {
            return Err(cx.invalid(format_args!("innerPrecise is {other}; it must be 0 or 1")));
        }
    };
    let mode = match (x.dtype(), weight.dtype()) {
        (DataType::Int8, DataType::Int8) => Mode::Quantised,
        (one, two) if one == two => Mode::Plain,
        (DataType::Float16 | DataType::BFloat16, DataType::Int8 | DataType::Int4) => Mode::Restored,
        (dtype, _) => return Err(cx.refuse_type("weight1", weight.dtype(), dtype.name())),
    };
    let second = cx.tensor("weight2")?;
    cx.check_dtype(&second, weight.dtype())?;
    if mode != Mode::Quantised {
        cx.check_dtype(&out, x.dtype())?;
    }
    check_absent(cx, form, mode)?;
    let Some((&width, lead)) = x.dims().split_last().filter(|(_, lead)| !lead.is_empty()) else {
        return Err(cx.invalid(format_args!(
            "x has the shape {:?}; expected at least two dimensions",
            x.dims()
        )));
    };
    let rows: usize = lead.iter().product();
    let (groups, has_experts) = groups(cx, form, rows)?;
    let count = groups.list.elements();
    if gated && (has_experts || mode != Mode::Plain || x.dtype() != DataType::Float16 || precise) {
        return Err(cx.invalid(
            "activation has a gate; x must have the type float16, innerPrecise must be 1, and there must be no experts",
        ));
    }
    let kind = (mode, x.dtype());
    let one = Weights::read(cx, (form, 1), kind, (count, has_experts))?;
    let two = Weights::read(cx, (form, 2), kind, (count, has_experts))?;
    let hidden = two.depth();
    let fits = one.depth() == width
        && two.columns == width
        && one.columns == hidden * (1 + usize::from(gated));
    if !fits {
        return Err(cx.invalid(format_args!(
            "x has {width} columns, the first layer {} x {} and the second {hidden} x {}; they do not follow each other",
            one.depth(),
            one.columns,
            two.columns
        )));
    }
    cx.check_dims(&out, x.dims())?;
    let scales = match mode {
        Mode::Quantised => {
            let name = |param: &str| format!("{param}{}", form.suffix);
            let scale = name("scale");
            let scale = cx.optional(&scale)?.ok_or_else(|| cx.null(&scale))?;
            cx.check_dtype(&scale, DataType::Float32)?;
            let each = if scale.elements() == count { 1 } else { hidden };
            let scale = flat(cx, scale, count, each)?;
            let offset = match cx.optional(&name("offset"))? {
                Some(offset) => {
                    cx.check_dtype(&offset, DataType::Float32)?;
                    Some(flat(cx, offset, count, 1)?)
                }
                None => None,
            };
            Some((scale, offset))
        }
        _ => None,
    };
    if out.is_empty() {
        return Ok(());
    }
    let compute = DataType::Float32;
    let x = cx.reshaped(x, &[rows, width])?;
    let sums = cx.temporary(compute, &[rows, one.columns])?;
    one.apply(cx, x, &groups, sums)?;
    // Not documented: which half is the gate. It is the first, as in aclnnSwiGlu.
    let gate = sums.slice(1, 0, hidden, 1);
    let mut active = cx.temporary(compute, &[rows, hidden])?;
    cx.map(function, compute, &[Operand::Tensor(gate)], active)?;
    if gated {
        let value = sums.slice(1, hidden, hidden, 1);
        let operands = [Operand::Tensor(active), Operand::Tensor(value)];
        cx.map(F::Mul, compute, &operands, active)?;
    }
    if let Some((scale, offset)) = scales {
        let quantised = cx.temporary(DataType::Int8, &[rows, hidden])?;
        let function = Quantise {
            sizes: groups.sizes,
            by_group: scale.elements() == count,
        };
        let inputs = [Some(active), Some(scale), offset];
        cx.rows_with(function, &[Some(groups.list)], &inputs, &[Some(quantised)])?;
        active = quantised;
    }
    let target = MergedOutput::new(cx, out, &[rows, width])?;
    two.apply(cx, active, &groups, target.rows)?;
    target.finish(cx)
}
