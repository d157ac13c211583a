//! Rows of tokens in the order of their experts.

use jumar_types::dtype::DataType;

use super::super::index;
use super::kernels::{CountUpTo, Route, RouteByMap, RunningSum, Space};
use crate::build::Cx;
use crate::ops::operands::{FLOATS, MergedOutput};
use crate::ops::quant::{QuantisedOutput, by_largest, limited};
use crate::rows::{RowFunction, Rows};
use crate::view::View;
use crate::{Refusal, Scalar};

const INDICES: [DataType; 2] = [DataType::Int32, DataType::Int64];

/// The assignments of one call: `tokens` rows of `x`, each of which goes to `each` experts.
struct Assignments {
    x: View,
    /// Dense int64.
    experts: View,
    tokens: usize,
    each: usize,
}

impl Assignments {
    fn new(
        cx: &mut Cx<'_>,
        x: &str,
        experts: &str,
        types: &[DataType],
    ) -> Result<Assignments, Refusal> {
        let (x, experts) = (cx.tensor(x)?, cx.tensor(experts)?);
        cx.check_types(&x, types)?;
        cx.check_types(&experts, &INDICES)?;
        let (&[tokens, _], true) = (x.dims(), x.rank() == 2) else {
            return Err(cx.invalid(format_args!(
                "{} has the shape {:?}; expected two dimensions",
                cx.param_of(&x),
                x.dims()
            )));
        };
        let each = match experts.dims() {
            &[rows, each] if rows == tokens => each,
            &[rows] if rows == tokens => 1,
            dims => {
                return Err(cx.invalid(format_args!(
                    "{} has the shape {dims:?}; it must have a row for each of the {tokens} rows of {}",
                    cx.param_of(&experts),
                    cx.param_of(&x)
                )));
            }
        };
        if tokens.saturating_mul(each) >= u32::MAX as usize {
            return Err(cx.invalid(format_args!(
                "{tokens} tokens with {each} experts for each are too many assignments; there must be fewer than 2^32 - 1"
            )));
        }
        Ok(Assignments {
            x,
            experts: int64(cx, experts)?,
            tokens,
            each,
        })
    }

    fn count(&self) -> usize {
        self.tokens * self.each
    }
}

/// Returns dense int64 of as many elements.
pub(crate) fn int64(cx: &mut Cx<'_>, view: View) -> Result<View, Refusal> {
    let view = cx.cast(view, DataType::Int64)?;
    let view = cx.dense(view)?;
    cx.reshaped(view, &[view.elements()])
}

/// What an ordering computes, as dense int64.
struct RoutingOrder {
    /// The row of the result for each assignment.
    inverse: View,
    /// The assignment of each row of the result.
    order: View,
    /// The token of each row of the result.
    tokens: View,
    counts: View,
}

fn route(
    cx: &mut Cx<'_>,
    assignments: &Assignments,
    numbers: Option<View>,
    (experts, lenient): ((i64, i64), bool),
    (space, rows): (Space, usize),
) -> Result<RoutingOrder, Refusal> {
    let count = assignments.count();
    let width = usize::try_from(experts.1 - experts.0)
        .unwrap_or(0)
        .min(1 << 24);
    let temporary = |cx: &mut Cx<'_>, len: usize| cx.temporary(DataType::Int64, &[len]);
    let routed = RoutingOrder {
        inverse: temporary(cx, count)?,
        order: temporary(cx, rows)?,
        tokens: temporary(cx, rows)?,
        // Where the number of experts is not given, nothing is counted.
        counts: temporary(
            cx,
            if experts.1 == i64::from(i32::MAX) {
                0
            } else {
                width
            },
        )?,
    };
    let kernel = Route {
        operator: cx.name(),
        tokens: assignments.tokens,
        each: assignments.each,
        numbered: numbers.is_some(),
        experts,
        lenient,
        space,
    };
    let mut inputs = vec![Some(assignments.experts)];
    inputs.extend(numbers.map(Some));
    let outputs = [routed.inverse, routed.order, routed.tokens, routed.counts];
    cx.kernel(Box::new(kernel), &inputs, &outputs, false)?;
    Ok(routed)
}

/// Writes int64 to an output of int32 or int64 under its own shape.
fn write(cx: &mut Cx<'_>, from: View, out: View) -> Result<(), Refusal> {
    cx.check_types(&out, &INDICES)?;
    if out.elements() != from.elements() {
        return Err(cx.invalid(format_args!(
            "{} has the shape {:?}; it must have {} elements",
            cx.param_of(&out),
            out.dims(),
            from.elements()
        )));
    }
    let from = cx.reshaped(from, out.dims())?;
    cx.copy(from, out)
}

/// Writes rows of `x` in the order of a routing. `out` has one row for each token of it.
fn gather(cx: &mut Cx<'_>, x: View, tokens: View, out: View) -> Result<(), Refusal> {
    cx.check_dtype(&out, x.dtype())?;
    index::rows_at(cx, x, tokens, out)
}

/// Experts of any number: what is not counted needs no bound but that of its type.
const ANY: (i64, i64) = (0, i32::MAX as i64);

fn number(cx: &Cx<'_>, param: &str) -> Result<usize, Refusal> {
    let value = cx.int(param)?;
    usize::try_from(value)
        .map_err(|_| cx.invalid(format_args!("{param} is {value}; it must not be negative")))
}

/// Returns the rows of a two-dimensional output with a width.
fn rows_of(cx: &Cx<'_>, out: &View, width: usize, most: usize) -> Result<usize, Refusal> {
    match out.dims() {
        &[rows, own] if own == width && rows <= most => Ok(rows),
        dims => Err(cx.invalid(format_args!(
            "{} has the shape {dims:?}; expected at most {most} rows of {width}",
            cx.param_of(out)
        ))),
    }
}

pub(super) fn init(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let assignments = Assignments::new(cx, "x", "expertIdx", FLOATS)?;
    let numbers = cx.tensor("rowIdx")?;
    cx.check_types(&numbers, &INDICES)?;
    let experts_dims = cx.tensor("expertIdx")?;
    cx.check_dims(&numbers, experts_dims.dims())?;
    let numbers = int64(cx, numbers)?;
    let (out, width) = (cx.out("expandedXOut")?, assignments.x.dims()[1]);
    let active = number(cx, "activeNum")?;
    let most = active
        .min(assignments.tokens)
        .saturating_mul(assignments.each);
    let rows = rows_of(cx, &out, width, assignments.count())?;
    if rows != most {
        return Err(cx.invalid(format_args!(
            "expandedXOut has {rows} rows; {} tokens of activeNum {active} and {} experts each give {most}",
            assignments.tokens, assignments.each
        )));
    }
    if assignments.count() == 0 {
        return Ok(());
    }
    let all = assignments.count();
    let routed = route(
        cx,
        &assignments,
        Some(numbers),
        (ANY, false),
        (Space::Joined, all),
    )?;
    let tokens = routed.tokens.slice(0, 0, rows, 1);
    gather(cx, assignments.x, tokens, out)?;
    let to = cx.out("expandedRowIdxOut")?;
    write(cx, routed.inverse, to)?;
    // The experts in their order: those of the assignments whose numbers were sorted along.
    let (experts, to) = (assignments.experts, cx.out("expandedExpertIdxOut")?);
    let plain = route(cx, &assignments, None, (ANY, false), (Space::Joined, all))?;
    let sorted = cx.temporary(DataType::Int64, &[all])?;
    index::rows_at(cx, experts, plain.order, sorted)?;
    write(cx, sorted, to)
}

/// The rows of an ordering that may leave out tokens or fill up with zeros.
struct OrderedRows {
    x: View,
    out: View,
    routed: RoutingOrder,
    /// The rows of the result.
    rows: usize,
    /// Whether experts are counted, and their ends written.
    counts: Option<bool>,
    /// Whether each expert has space for this many rows.
    capacity: Option<usize>,
    experts: usize,
    assigned: View,
}

/// Orders tokens as the second form of the operator does. The names of its parameters end in `suffix`. `None`: there are no tokens.
fn order(cx: &mut Cx<'_>, suffix: &str) -> Result<Option<OrderedRows>, Refusal> {
    let name = |param: &str| format!("{param}{suffix}");
    let assignments = Assignments::new(cx, "x", "expertIdx", FLOATS)?;
    let out = cx.out("expandedXOut")?;
    let (active, experts) = (
        number(cx, &name("activeNum"))?,
        number(cx, &name("expertNum"))?,
    );
    let (x, width) = (assignments.x, assignments.x.dims()[1]);
    let padded = match cx.int(&name("dropPadMode"))? {
        0 => false,
        1 => true,
        other => {
            return Err(cx.invalid(format_args!(
                "dropPadMode{suffix} is {other}; it must be 0 or 1"
            )));
        }
    };
    let flag = cx.int(&name("expertTokensCountOrCumsumFlag"))?;
    if !(0..=2).contains(&flag) {
        return Err(cx.invalid(format_args!(
            "expertTokensCountOrCumsumFlag{suffix} is {flag}; it must be 0, 1 or 2"
        )));
    }
    let before = cx.flag(&name("expertTokensBeforeCapacityFlag"))?;
    let bounds = match experts {
        0 if padded || flag != 0 => {
            return Err(cx.invalid(format_args!(
                "expertNum{suffix} is 0; experts that are counted or padded have a number"
            )));
        }
        0 => ANY,
        experts => (0, experts as i64),
    };
    let count = assignments.count();
    let (space, rows, capacity) = match padded {
        false => {
            let wanted = if active == 0 {
                count
            } else {
                active.min(count)
            };
            let rows = rows_of(cx, &out, width, count)?;
            if rows != wanted {
                return Err(cx.invalid(format_args!(
                    "expandedXOut has {rows} rows; {count} assignments and activeNum{suffix} {active} give {wanted}"
                )));
            }
            (Space::Joined, rows, None)
        }
        true => {
            let capacity = number(cx, &name("expertCapacity"))?;
            if capacity == 0 || capacity > assignments.tokens {
                return Err(cx.invalid(format_args!(
                    "expertCapacity{suffix} is {capacity}; it must be between 1 and the {} tokens",
                    assignments.tokens
                )));
            }
            cx.check_dims(&out, &[experts, capacity, width])?;
            (Space::Padded(capacity), experts * capacity, Some(capacity))
        }
    };
    if count == 0 {
        return Ok(None);
    }
    let counts = match (flag, before, padded) {
        (1 | 2, _, false) => Some(flag == 1),
        (_, true, true) => Some(false),
        _ => None,
    };
    Ok(Some(OrderedRows {
        x,
        out,
        routed: route(cx, &assignments, None, (bounds, false), (space, rows))?,
        rows,
        counts,
        capacity,
        experts,
        assigned: assignments.experts,
    }))
}

impl OrderedRows {
    /// Writes where each assignment went, and how many each expert has.
    fn finish(&self, cx: &mut Cx<'_>) -> Result<(), Refusal> {
        let inverse = cx.out("expandedRowIdxOut")?;
        write(cx, self.routed.inverse, inverse)?;
        let Some(ends) = self.counts else {
            return Ok(());
        };
        let to = cx.out(match self.capacity {
            Some(_) => "expertTokensBeforeCapacityOutOptional",
            None => "expertTokensCountOrCumsumOutOptional",
        })?;
        counted(cx, self.routed.counts, ends, to)
    }
}

pub(super) fn init_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let Some(ordered) = order(cx, "Optional")? else {
        return Ok(());
    };
    gather(cx, ordered.x, ordered.routed.tokens, ordered.out)?;
    ordered.finish(cx)
}

/// Quantises the rows of an ordering, and writes zeros where there is no token. Inputs: the rows, the scales, and the offset of given
/// scales. Integers: the number of the token of each row (or -1), and its expert where experts have scales of their own.
struct RowExpansion {
    /// Whether the largest magnitude of a row is its scale, which is written.
    dynamic: bool,
    limits: (f32, f32),
    /// The rows of each expert, where they are equally many.
    capacity: Option<usize>,
}

impl RowFunction for RowExpansion {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        let (out, x) = (rows.output(0), rows.input(0));
        if rows.integers(0).is_none_or(|token| token.get(0) < 0) {
            out.fill(0.0);
            if let Some(scale) = rows.wanted(1) {
                scale.set(0, 0.0);
            }
            return;
        }
        if !self.dynamic {
            let (scale, offset) = (rows.input(1).get(0), rows.input(2).get(0));
            let limits = self.limits;
            out.map1(x, |value| {
                limited((value * scale + offset).round_ties_even(), limits)
            });
            return;
        }
        match rows.optional(1) {
            Some(scales) => {
                let expert = match (self.capacity, rows.integers(1)) {
                    (Some(capacity), _) => rows.number / capacity,
                    (None, Some(expert)) => usize::try_from(expert.get(0)).unwrap_or(0),
                    (None, None) => 0,
                };
                let start = if scales.len() == x.len() {
                    0
                } else {
                    expert * x.len()
                };
                out.map2(x, scales.slice(start, x.len()), |value, scale| {
                    value * scale
                });
            }
            None => out.copy_from(x),
        }
        let scale = by_largest(out, self.limits);
        if let Some(to) = rows.wanted(1) {
            to.set(0, scale);
        }
    }
}

/// Returns a tensor of one element, which is required.
fn single(cx: &mut Cx<'_>, param: &str) -> Result<View, Refusal> {
    let view = cx.tensor(param)?;
    cx.check_dtype(&view, DataType::Float32)?;
    cx.check_dims(&view, &[1])?;
    Ok(view)
}

pub(super) fn init_quant_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let dynamic = match cx.int("quantMode")? {
        0 => false,
        1 => true,
        other => return Err(cx.invalid(format_args!("quantMode is {other}; it must be 0 or 1"))),
    };
    let out = cx.out("expandedXOut")?;
    cx.check_types(&out, &[DataType::Int8, DataType::Int4])?;
    let fours = out.dtype() == DataType::Int4;
    if fours && cx.int("dropPadMode")? != 0 {
        return Err(cx.invalid("expandedXOut has the type int4; dropPadMode must be 0"));
    }
    let Some(ordered) = order(cx, "")? else {
        return Ok(());
    };
    let (rows, width) = (ordered.rows, ordered.x.dims()[1]);
    if fours && !width.is_multiple_of(2) {
        return Err(cx.invalid(format_args!(
            "x has {width} columns; expandedXOut of int4 must have an even number"
        )));
    }
    let dims = match ordered.capacity {
        Some(capacity) => vec![ordered.experts, capacity, width],
        None => vec![rows, width],
    };
    let column = |width: usize| {
        let mut column = dims.clone();
        column[dims.len() - 1] = width;
        column
    };
    let (mut scale, mut offset, mut experts) = (None, None, None);
    if dynamic {
        if let Some(given) = cx.optional("scaleOptional")? {
            cx.check_dtype(&given, DataType::Float32)?;
            let each = given.dims() == [ordered.experts, width] && ordered.experts > 1;
            if given.dims() != [1, width] && (!each || fours) {
                return Err(cx.invalid(format_args!(
                    "scaleOptional has the shape {:?}; it must be [1, {width}]{}",
                    given.dims(),
                    if fours {
                        ", for int4".into()
                    } else {
                        format!(", or have a row for each of {} experts", ordered.experts)
                    }
                )));
            }
            if each && ordered.capacity.is_none() {
                let sorted = cx.temporary(DataType::Int64, &[rows])?;
                index::rows_at(cx, ordered.assigned, ordered.routed.order, sorted)?;
                experts = Some(cx.reshaped(sorted, &column(1))?);
            }
            scale = Some(cx.reshaped(given, &[given.elements()])?);
        }
    } else {
        scale = Some(single(cx, "scaleOptional")?);
        offset = Some(single(cx, "offsetOptional")?);
    }
    let gathered = cx.temporary(ordered.x.dtype(), &[rows, width])?;
    index::rows_at(cx, ordered.x, ordered.routed.tokens, gathered)?;
    let gathered = cx.reshaped(gathered, &dims)?;
    let tokens = cx.reshaped(ordered.routed.tokens, &column(1))?;
    let target = QuantisedOutput::new(cx, ordered.out, &dims)?;
    let scales = match dynamic {
        true => {
            let to = cx.out("dynamicQuantScaleOutOptional")?;
            cx.check_dtype(&to, DataType::Float32)?;
            cx.check_dims(&to, &[rows])?;
            Some(MergedOutput::new(cx, to, &column(1))?)
        }
        false => None,
    };
    let function = RowExpansion {
        dynamic,
        limits: target.limits,
        capacity: ordered.capacity,
    };
    cx.rows_with(
        function,
        &[Some(tokens), experts],
        &[Some(gathered), scale, offset],
        &[Some(target.rows), scales.map(|scales| scales.rows)],
    )?;
    if let Some(scales) = scales {
        scales.finish(cx)?;
    }
    target.finish(cx)?;
    ordered.finish(cx)
}

/// Writes the sizes of groups, or their ends.
fn counted(cx: &mut Cx<'_>, counts: View, ends: bool, out: View) -> Result<(), Refusal> {
    let counts = match ends {
        true => {
            let sums = cx.temporary(DataType::Int64, counts.dims())?;
            cx.kernel(Box::new(RunningSum), &[Some(counts)], &[sums], false)?;
            sums
        }
        false => counts,
    };
    write(cx, counts, out)
}

/// Quantises rows by their largest magnitudes.
struct ByLargest {
    limits: (f32, f32),
}

impl RowFunction for ByLargest {
    #[inline(always)]
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>) {
        rows.output(0).copy_from(rows.input(0));
        rows.output(1)
            .set(0, by_largest(rows.output(0), self.limits));
    }
}

pub(super) fn init_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let types = [FLOATS, &[DataType::Int8]].concat();
    let assignments = Assignments::new(cx, "x", "expertIdx", &types)?;
    let (out, inverse) = (cx.out("expandedXOut")?, cx.out("expandedRowIdxOut")?);
    let (x, width, count) = (assignments.x, assignments.x.dims()[1], assignments.count());
    let experts = number(cx, "expertNum")? as i64;
    let range = match cx.optional_ints("activeExpertRangeOptional")? {
        None | Some([]) => (0, experts),
        Some(&[first, end]) if 0 <= first && first < end && end <= experts => (first, end),
        Some(other) => {
            return Err(cx.invalid(format_args!(
                "activeExpertRangeOptional is {other:?}; expected the first expert and the one behind the last, of {experts}"
            )));
        }
    };
    match cx.int("dropPadMode")? {
        0 => {}
        1 => return Err(cx.unsupported("dropPadMode 1 is not supported")),
        other => return Err(cx.invalid(format_args!("dropPadMode is {other}; it must be 0 or 1"))),
    }
    let active = match cx.int("activeNum")? {
        -1 | 0 => count,
        active => usize::try_from(active)
            .map_err(|_| {
                cx.invalid(format_args!(
                    "activeNum is {active}; it must be at least -1"
                ))
            })?
            .min(count),
    };
    let quantised = match cx.int("quantMode")? {
        -1 => false,
        1 => true,
        mode @ (0 | 2..=17) => {
            return Err(cx.unsupported(format_args!("quantMode {mode} is not supported")));
        }
        other => return Err(cx.invalid(format_args!("quantMode {other} is not known"))),
    };
    if quantised && cx.optional("scaleOptional")?.is_some() {
        return Err(cx.unsupported(
            "scaleOptional is not supported: how it enters the result is not documented",
        ));
    }
    let scattered = match cx.int("rowIdxType")? {
        0 => false,
        1 => true,
        other => return Err(cx.invalid(format_args!("rowIdxType is {other}; it must be 0 or 1"))),
    };
    let rows = rows_of(cx, &out, width, count)?;
    if rows != count {
        return Err(cx.invalid(format_args!(
            "expandedXOut has {rows} rows; expected {count}"
        )));
    }
    if count == 0 {
        return Ok(());
    }
    let routed = route(cx, &assignments, None, (range, true), (Space::Joined, rows))?;
    // Rows behind those that count are written as zeros.
    let tokens = routed.tokens;
    if active < rows {
        cx.fill(
            Scalar::of_i64(-1),
            tokens.slice(0, active, rows - active, 1),
        )?;
    }
    match quantised {
        false => gather(cx, x, tokens, out)?,
        true => {
            cx.check_types(&x, FLOATS)?;
            let rows_of_x = cx.temporary(x.dtype(), out.dims())?;
            index::rows_at(cx, x, tokens, rows_of_x)?;
            let target = QuantisedOutput::new(cx, out, &[rows, width])?;
            let scale = cx.out("expandedScaleOut")?;
            cx.check_dtype(&scale, DataType::Float32)?;
            cx.check_dims(&scale, &[rows])?;
            let function = ByLargest {
                limits: target.limits,
            };
            let outputs = [Some(target.rows), Some(scale.unsqueeze(1))];
            cx.rows(function, &[Some(rows_of_x)], &outputs)?;
            target.finish(cx)?;
        }
    }
    write(
        cx,
        if scattered {
            routed.order
        } else {
            routed.inverse
        },
        inverse,
    )?;
    if !cx.flag("expertTokensNumFlag")? {
        return Ok(());
    }
    let to = cx.out("expertTokensCountOrCumsumOut")?;
    match cx.int("expertTokensNumType")? {
        0 => counted(cx, routed.counts, true, to),
        1 => counted(cx, routed.counts, false, to),
        2 => Err(cx.unsupported("expertTokensNumType 2 is not supported")),
        other => Err(cx.invalid(format_args!(
            "expertTokensNumType is {other}; it must be 0, 1 or 2"
        ))),
    }
}

pub(super) fn permute(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let types = [FLOATS, &[DataType::Int8]].concat();
    let assignments = Assignments::new(cx, "tokens", "indices", &types)?;
    if cx.flag("paddedMode")? {
        return Err(cx.unsupported("paddedMode is not supported; the device refuses it, too"));
    }
    let (out, inverse) = (cx.out("permuteTokensOut")?, cx.out("sortedIndicesOut")?);
    let (x, count) = (assignments.x, assignments.count());
    // As the end of a slice: 0 is all, and a negative number counts from the end.
    let wanted = match cx.int("numOutTokens")? {
        0 => count,
        number if number < 0 => count.saturating_sub(number.unsigned_abs() as usize),
        number => (number as usize).min(count),
    };
    cx.check_dims(&out, &[wanted, x.dims()[1]])?;
    if count == 0 {
        return Ok(());
    }
    let routed = route(
        cx,
        &assignments,
        None,
        (ANY, false),
        (Space::Joined, wanted),
    )?;
    gather(cx, x, routed.tokens, out)?;
    write(cx, routed.inverse, inverse)
}

pub(super) fn permute_with_map(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, map) = (cx.tensor("tokens")?, cx.tensor("routingMap")?);
    let (out, inverse) = (cx.out("permuteTokensOut")?, cx.out("sortedIndicesOut")?);
    cx.check_types(&x, FLOATS)?;
    cx.check_types(&map, &[DataType::Bool, DataType::Int8])?;
    if cx.flag("dropAndPad")? {
        return Err(
            cx.unsupported("dropAndPad is not supported: the order of its sort is not documented")
        );
    }
    let (&[tokens, width], &[rows, experts]) = (x.dims(), map.dims()) else {
        return Err(cx.invalid(format_args!(
            "tokens has the shape {:?} and routingMap {:?}; both have two dimensions",
            x.dims(),
            map.dims()
        )));
    };
    if rows != tokens {
        return Err(cx.invalid(format_args!(
            "routingMap has {rows} rows; expected one for each of {tokens} tokens"
        )));
    }
    if tokens == 0 {
        return Ok(());
    }
    // In the documents each token has equally many experts, and the number of rows is a multiple of the tokens. Where the map has
    // different numbers, there are as many rows as are asked for.
    let wanted = number(cx, "numOutTokens")?;
    let count = match out.dims().first() {
        Some(&rows) if rows == wanted => rows,
        _ => wanted / tokens * tokens,
    };
    cx.check_dims(&out, &[count, width])?;
    let map = cx.dense(map)?.reinterpret(DataType::UInt8);
    let slots = cx.temporary(DataType::Int64, &[count])?;
    let elements = cx.temporary(DataType::Int64, &[count])?;
    let owners = cx.temporary(DataType::Int64, &[count])?;
    let kernel = RouteByMap {
        operator: cx.name(),
        tokens,
        experts,
    };
    let found = [slots, elements, owners];
    cx.kernel(Box::new(kernel), &[Some(map)], &found, false)?;
    cx.check_dtype(&out, x.dtype())?;
    index::rows_at(cx, x, owners, out)?;
    write(cx, slots, inverse)?;
    let (Some(probabilities), Some(to)) = (
        cx.optional("probsOptional")?,
        cx.optional("permuteProbsOutOptional")?,
    ) else {
        return Ok(());
    };
    cx.check_types(&probabilities, FLOATS)?;
    cx.check_dims(&probabilities, &[tokens, experts])?;
    cx.check_dims(&to, &[count])?;
    cx.check_dtype(&to, probabilities.dtype())?;
    let probabilities = cx.dense(probabilities)?;
    let flat = cx.reshaped(probabilities, &[tokens * experts])?;
    index::rows_at(cx, flat, elements, to)
}

/// The ends of the groups of sorted experts.
pub(super) fn expert_tokens(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (experts, out) = (cx.tensor("sortedExperts")?, cx.out("out")?);
    cx.check_types(&experts, &INDICES)?;
    let count = number(cx, "numExperts")?;
    if experts.rank() != 1 || count == 0 {
        return Err(cx.invalid(format_args!(
            "sortedExperts has the shape {:?} and numExperts is {count}; expected one dimension and one expert",
            experts.dims()
        )));
    }
    cx.check_dims(&out, &[count])?;
    let experts = int64(cx, experts)?;
    let ends = cx.temporary(DataType::Int64, &[count])?;
    match experts.is_empty() {
        true => cx.fill(Scalar::of_i64(0), ends)?,
        false => cx.kernel(Box::new(CountUpTo), &[Some(experts)], &[ends], false)?,
    }
    write(cx, ends, out)
}
