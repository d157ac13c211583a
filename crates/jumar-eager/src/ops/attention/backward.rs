//! The gradient of attention, from what the forward pass stored.

use jumar_types::dtype::DataType;

use super::backward_kernel::{Backward, Gradient};
use super::kernel::{Scaling, Sequence};
use super::layout::{Layout, Target};
use super::train::{ENDS, Names, Operands, check_statistics_layout, statistic};
use super::{check_cover, four, plane, shared_heads};
use crate::build::Cx;
use crate::ops::operands::FLOATS;
use crate::view::View;
use crate::{Refusal, Scalar};

const NAMES: Names = Names {
    key: "keyIn",
    addend: "pseShiftOptional",
    ends: None,
    extra: None,
};

pub(super) fn score(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    if cx.tensor("query")?.dtype() == DataType::Float64 {
        // Tiles are float32; this type is computed by single steps.
        return crate::ops::network::composed_attention_backward(cx);
    }
    plan(cx, 1, NAMES)
}

pub(super) fn score_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    plan(cx, kind, NAMES)
}

pub(super) fn variable(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    plan(
        cx,
        1,
        Names {
            ends: ENDS,
            ..NAMES
        },
    )
}

pub(super) fn variable_v2(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    plan(
        cx,
        kind,
        Names {
            ends: ENDS,
            ..NAMES
        },
    )
}

pub(super) fn variable_v3(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let kind = cx.int("pseType")?;
    let names = Names {
        ends: ENDS,
        extra: Some(("queryRope", "keyInRope")),
        ..NAMES
    };
    plan(cx, kind, names)
}

pub(super) fn variable_v4(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    check_statistics_layout(cx, "softmaxInLayout")?;
    plan(
        cx,
        1,
        Names {
            ends: ENDS,
            ..NAMES
        },
    )
}

/// Checks an output that has the shape of a tensor seen as batch, heads, length, width.
fn target(cx: &mut Cx<'_>, layout: Layout, name: &str, like: &View) -> Result<Target, Refusal> {
    let out = cx.out(name)?;
    cx.check_types(&out, FLOATS)?;
    match like.dims() {
        &[batch, heads, length, width] => {
            Target::new(cx, layout, out, [batch, heads, length, width])
        }
        _ => Err(cx.defect("heads have four dimensions")),
    }
}

/// Returns what the forward pass stored, if all of it is passed.
fn stored(cx: &mut Cx<'_>, operands: &Operands) -> Result<Option<[View; 3]>, Refusal> {
    let &[batch, heads, rows, _] = operands.query.dims() else {
        return Err(cx.defect("heads have four dimensions"));
    };
    let layout = operands.layout;
    let largest = statistic(cx, layout, "softmaxMaxOptional", [batch, heads, rows])?;
    let sum = statistic(cx, layout, "softmaxSumOptional", [batch, heads, rows])?;
    let result = cx.optional("attentionInOptional")?;
    let Some(result) = result.filter(|result| !result.is_empty()) else {
        return Ok(None);
    };
    cx.check_dtype(&result, operands.query.dtype())?;
    let width = operands.value.dims()[3];
    cx.check_dims(&result, &layout.dims([batch, heads, rows, width]))?;
    let result = layout.view(cx, result, heads)?;
    match (largest, sum) {
        (Some(largest), Some(sum)) => Ok(Some([largest, sum, result])),
        _ => Ok(None),
    }
}

fn plan(cx: &mut Cx<'_>, kind: i64, names: Names) -> Result<(), Refusal> {
    let operands = Operands::new(cx, kind, names)?;
    let (layout, query) = (operands.layout, operands.query);
    let (key, value) = (operands.key, operands.value);
    let (key_heads, shared) = shared_heads(cx, &query, &[key], &[value])?;
    let &[batch, heads, rows, width] = query.dims() else {
        return Err(cx.defect("heads have four dimensions"));
    };
    let (columns, value_width) = (value.dims()[2], value.dims()[3]);
    let result = cx.tensor("dy")?;
    cx.check_dtype(&result, query.dtype())?;
    cx.check_dims(&result, &layout.dims([batch, heads, rows, value_width]))?;
    let result = layout.view(cx, result, heads)?;
    let stored = stored(cx, &operands)?;
    let to_query = target(cx, layout, "dqOut", &query)?;
    let to_key = target(cx, layout, "dkOut", &key)?;
    let to_value = target(cx, layout, "dvOut", &value)?;
    let to_extra = match &operands.extra {
        Some((query, key)) => Some((
            target(cx, layout, "dqRopeOut", query)?,
            target(cx, layout, "dkRopeOut", key)?,
        )),
        None => None,
    };
    let mut to_addend = cx.optional("dpseOut")?.filter(|out| !out.is_empty());
    if operands.effects.slopes.is_some()
        && let Some(out) = to_addend.take()
    {
        // Slopes have no gradient.
        cx.fill(Scalar::of_i64(0), out)?;
    }
    if let Some(out) = &to_addend {
        if names.ends.is_some() {
            return Err(cx.unsupported("dpseOut of joined sequences is not computed"));
        }
        cx.check_types(out, FLOATS)?;
        cx.check_dims(out, &[batch, heads, rows, columns])?;
    }

    let mut inputs: Vec<View> = vec![query, key, value, result];
    let mut outputs: Vec<View> = vec![to_query.view];
    fn add(list: &mut Vec<View>, view: View) -> (View, usize) {
        list.push(view);
        (view, list.len() - 1)
    }
    let extra = operands
        .extra
        .map(|(query, key)| (add(&mut inputs, query), add(&mut inputs, key)));
    let stored = stored.map(|views| views.map(|view| add(&mut inputs, view)));
    let mut covering = |cx: &Cx<'_>, view: Option<View>| match view {
        Some(view) => {
            let (wide, name) = (four(cx, view)?, cx.param_of(&view));
            check_cover(cx, (heads, &operands.ranges), &wide, &name, view.dims())?;
            Ok(Some(add(&mut inputs, wide)))
        }
        None => Ok(None),
    };
    let addend = covering(cx, operands.addend)?;
    let mask = covering(cx, operands.mask.view)?;
    let effects = operands
        .effects
        .of_sequences(&mut inputs, heads, &operands.ranges);
    let extra_width = operands.extra.map_or(0, |(query, _)| query.dims()[3]);
    let key_sums = [key.dims()[0], key_heads, columns, width + extra_width];
    let key_sums = cx.temporary(DataType::Float32, &key_sums)?;
    let value_sums = cx.temporary(DataType::Float32, value.dims())?;
    let (key_sums, key_operand) = add(&mut outputs, key_sums);
    let (value_sums, value_operand) = add(&mut outputs, value_sums);
    let to_addend = to_addend.map(|out| add(&mut outputs, out));
    let to_query_extra = to_extra
        .as_ref()
        .map(|(query, _)| add(&mut outputs, query.view));

    let mut gradients = Vec::with_capacity(operands.ranges.len());
    for (range, (slopes, dropout)) in operands.ranges.iter().zip(effects) {
        let of_rows =
            |(view, operand): (View, usize)| plane(&view, operand, range.batch, range.first_row);
        let of_columns = |(view, operand): (View, usize)| {
            plane(&view, operand, range.key_batch, range.first_column)
        };
        let all_rows = |(view, operand): (View, usize)| plane(&view, operand, range.batch, 0);
        let sequence = Sequence {
            rows: range.rows,
            columns: range.columns,
            query: of_rows((query, 0)),
            key: of_columns((key, 1)),
            value: of_columns((value, 2)),
            out: of_rows((to_query.view, 0)),
            extra: extra.map(|(query, key)| (of_rows(query), of_columns(key))),
            addend: addend.map(all_rows),
            slopes,
            dropout,
            mask: mask.map(all_rows),
            largest: None,
            sum: None,
            log_sum: None,
            pages: None,
            band: operands.mask.rule.band(range.rows, range.columns),
        };
        gradients.push(Gradient {
            sequence,
            result: of_rows((result, 3)),
            stored: stored.map(|views| views.map(of_rows)),
            to_extra: to_query_extra.map(of_rows),
            to_key: of_columns((key_sums, key_operand)),
            to_value: of_columns((value_sums, value_operand)),
            to_addend: to_addend.map(of_rows),
        });
    }
    let zero = Scalar::of_i64(0);
    cx.fill(zero, key_sums)?;
    cx.fill(zero, value_sums)?;
    let written: usize = operands.ranges.iter().map(|range| range.rows).sum();
    if written < batch * rows {
        // Rows behind the end of the last sequence have no gradient.
        cx.fill(zero, to_query.view)?;
        if let Some((view, _)) = to_query_extra {
            cx.fill(zero, view)?;
        }
    }
    let kernel = Backward {
        gradients,
        heads: key_heads,
        shared,
        width,
        extra_width,
        value_width,
        scaling: Scaling {
            factor: operands.scale as f32,
            addend: operands.addend_scaled,
            clamp: None,
        },
        inputs: inputs.iter().map(View::dtype).collect(),
        outputs: outputs.iter().map(View::dtype).collect(),
    };
    let inputs: Vec<Option<View>> = inputs.into_iter().map(Some).collect();
    cx.kernel(Box::new(kernel), &inputs, &outputs, false)?;
    cx.copy(key_sums.slice(3, 0, width, 1), to_key.view)?;
    cx.copy(value_sums, to_value.view)?;
    for target in [to_query, to_key, to_value] {
        target.finish(cx)?;
    }
    if let Some((of_query, of_key)) = to_extra {
        cx.copy(key_sums.slice(3, width, extra_width, 1), of_key.view)?;
        of_query.finish(cx)?;
        of_key.finish(cx)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, ParamKind, Plan, TensorArg, TensorDesc};

    /// Plans the gradient of two heads with this many rows and columns.
    fn planned(length: i64) -> Plan {
        let all = crate::signatures::ALL.iter();
        let mut all = all.filter(|signature| signature.name == "aclnnFlashAttentionScoreGrad");
        let signature = all.next().unwrap();
        let mut buffers = 0..;
        let mut tensor = |dims: &[i64], dtype| {
            let desc = TensorDesc::contiguous(dtype, dims);
            let buffer = buffers.next().unwrap();
            Arg::Tensor(TensorArg { desc, buffer })
        };
        let args: Vec<Arg> = signature
            .params
            .iter()
            .map(|param| match (param.name, param.kind) {
                ("softmaxMaxOptional" | "softmaxSumOptional", _) => {
                    tensor(&[1, 2, length, 8], DataType::Float32)
                }
                (name, ParamKind::Tensor)
                    if name.ends_with("Optional") && name != "attentionInOptional"
                        || name == "dpseOut" =>
                {
                    Arg::Null
                }
                (_, ParamKind::Tensor) => tensor(&[1, 2, length, 64], DataType::BFloat16),
                ("scaleValue" | "keepProb", _) => Arg::Float(1.0),
                ("headNum", _) => Arg::Int(2),
                ("inputLayout", _) => Arg::Text("BNSD".into()),
                (_, ParamKind::Int) => Arg::Int(0),
                _ => Arg::Null,
            })
            .collect();
        crate::plan(signature, &args).unwrap()
    }

    #[test]
    fn memory_grows_with_the_length_and_not_with_its_square() {
        let scores = 4096 * 4096 * size_of::<f32>();
        let bytes = planned(4096).workspace_bytes();
        assert!(bytes < scores / 8, "{bytes} bytes");
        // The sums of two gradients for each of two heads.
        let sums = 2 * 2 * 4096 * 64 * size_of::<f32>();
        assert_eq!(planned(8192).workspace_bytes() - bytes, sums);
    }
}
