//! Steps of Adam and LAMB in the parts that fused training graphs have.

use jumar_ops::{Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering, invalid};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("AdamApplyOne", |cx, op| parts(cx, op, ADAM, adam_one)),
    ("AdamApplyOneAssign", |cx, op| {
        assigned(cx, op, ADAM, adam_one)
    }),
    ("AdamApplyOneWithDecay", |cx, op| {
        parts(cx, op, ADAM_WITH_DECAY, adam_one_with_decay)
    }),
    ("AdamApplyOneWithDecayAssign", |cx, op| {
        assigned(cx, op, ADAM_WITH_DECAY, adam_one_with_decay)
    }),
    ("ApplyAdamV2", adam_v2),
    ("FusedMulApplyMomentumExtern", momentum_with_copy),
    ("LambApplyOptimizerAssign", |cx, op| {
        let names = [
            "grad",
            "inputv",
            "inputm",
            "input3",
            "mul0_x",
            "mul1_x",
            "mul2_x",
            "mul3_x",
            "add2_y",
            "steps",
            "do_use_weight",
            "weight_decay_rate",
        ];
        let new = parts(cx, op, names, lamb_update)?;
        let v = write_or_pass(cx, op, "inputv", new[1])?;
        let m = write_or_pass(cx, op, "inputm", new[2])?;
        Ok([vec![new[0]], v, m].concat())
    }),
    ("LambApplyWeightAssign", |cx, op| {
        let names = ["input0", "input1", "input2", "input3", "input_param"];
        let new = parts(
            cx,
            op,
            names,
            |f, [weight, gradient, rate, update, param]| {
                let one = f.number(1.0, weight)?;
                let ratio = f.choose(f.above(gradient, 0.0)?, f.div(weight, gradient)?, one)?;
                let ratio = f.choose(f.above(weight, 0.0)?, ratio, one)?;
                Ok(vec![f.sub(param, f.mul(ratio, f.mul(update, rate)?)?)?])
            },
        )?;
        write_or_pass(cx, op, "input_param", new[0])
    }),
    ("LambNextMV", |cx, op| {
        let names = [
            "input_mul3",
            "input_mul2",
            "input_realdiv1",
            "input_mul1",
            "input_mul0",
            "input_realdiv0",
            "input_mul4",
            "mul0_x",
            "mul1_sub",
            "mul2_x",
            "mul3_sub1",
            "mul4_x",
            "add2_y",
        ];
        parts(cx, op, names, lamb_moments)
    }),
    ("LambNextRight", |cx, op| {
        let names = [
            "input_square",
            "input_mul2",
            "mul2_x",
            "mul3_x",
            "truediv1_recip",
            "add2_y",
        ];
        parts(cx, op, names, |f, [g, v, share, rest, recip, epsilon]| {
            let v = f.add(f.mul(v, share)?, f.mul(f.square(g)?, rest)?)?;
            let root = f.of("Sqrt", f.mul(v, recip)?)?;
            Ok(vec![v, f.add(root, epsilon)?])
        })
    }),
    ("LambUpdateWithLr", |cx, op| {
        let names = [
            "input_sub",
            "input_greater1",
            "input_greater_realdiv",
            "input_realdiv",
            "input_mul0",
            "input_mul1",
            "greater_y",
            "select_e",
            "minimum_y",
        ];
        parts(
            cx,
            op,
            names,
            |f, [param, norm, up, down, rate, update, least, otherwise, most]| {
                let ratio = f.choose(f.greater(norm, least)?, f.div(up, down)?, otherwise)?;
                let ratio = f.max(f.min(ratio, most)?, least)?;
                Ok(vec![f.sub(param, f.mul(f.mul(ratio, rate)?, update)?)?])
            },
        )
    }),
    ("LambUpdateWithLrV2", |cx, op| {
        let names = ["x5", "x1", "x2", "x3", "x4", "greater_y", "select_e"];
        parts(
            cx,
            op,
            names,
            |f, [param, weight, gradient, rate, update, least, otherwise]| {
                let ratio = f.div(weight, gradient)?;
                let ratio = f.choose(f.greater(gradient, least)?, ratio, otherwise)?;
                let ratio = f.choose(f.greater(weight, least)?, ratio, otherwise)?;
                Ok(vec![f.sub(param, f.mul(f.mul(rate, ratio)?, update)?)?])
            },
        )
    }),
];

type Answer = Result<Vec<ValueId>, OpError>;

const ADAM: [&str; 10] = [
    "input0", "input1", "input2", "input3", "input4", "mul0_x", "mul1_x", "mul2_x", "mul3_x",
    "add2_y",
];
const ADAM_WITH_DECAY: [&str; 11] = [
    "input0", "input1", "input2", "input3", "input4", "mul0_x", "mul1_x", "mul2_x", "mul3_x",
    "add2_y", "mul4_x",
];
const ASSIGNED: &[&str] = &["input1", "input2", "input3"];
const MOMENTS: &[&str] = &["var", "m", "v"];
const COPIED: &[&str] = &["var", "var_copy", "accum"];

/// Returns the names of the inputs that an operator of this table updates.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "AdamApplyOneAssign" | "AdamApplyOneWithDecayAssign" => ASSIGNED,
        "ApplyAdamV2" => MOMENTS,
        "FusedMulApplyMomentumExtern" => COPIED,
        "LambApplyOptimizerAssign" => &["inputv", "inputm"],
        "LambApplyWeightAssign" => &["input_param"],
        _ => &[],
    }
}

/// Lowers a formula of the named inputs. It is computed in float32 at least, and its results have the type of the first input.
fn parts<const N: usize>(
    cx: &mut Cx,
    op: &Op<'_>,
    names: [&str; N],
    formula: impl FnOnce(&Formula<'_>, [ValueId; N]) -> Answer,
) -> Answer {
    let mut values = Vec::with_capacity(N);
    for name in names {
        values.push(op.input(name)?);
    }
    let dtype = cx.ty(values[0]).dtype;
    let wide = match dtype {
        DataType::Float64 => dtype,
        _ => DataType::Float32,
    };
    for value in &mut values {
        *value = cx.cast(*value, wide)?;
    }
    let values = <[ValueId; N]>::try_from(values)
        .map_err(|_| invalid("its inputs are not those of the operator"))?;
    let mut results = formula(&Formula::new(cx), values)?;
    for result in &mut results {
        *result = cx.cast(*result, dtype)?;
    }
    Ok(results)
}

/// Lowers as [`parts`], and writes the results to the inputs that the outputs are named after.
fn assigned<const N: usize>(
    cx: &mut Cx,
    op: &Op<'_>,
    names: [&str; N],
    formula: impl FnOnce(&Formula<'_>, [ValueId; N]) -> Answer,
) -> Answer {
    let new = parts(cx, op, names, formula)?;
    write_all(cx, op, ASSIGNED, &new)
}

/// Writes new values, the first one last: a reader of the operator's output sees a step that is complete.
fn write_all(cx: &mut Cx, op: &Op<'_>, names: &[&str], new: &[ValueId]) -> Answer {
    let mut outputs = Vec::with_capacity(names.len());
    for (name, value) in names.iter().zip(new).rev() {
        outputs.extend(write_or_pass(cx, op, name, *value)?);
    }
    outputs.reverse();
    Ok(outputs)
}

fn adam_one(f: &Formula<'_>, inputs: [ValueId; 10]) -> Answer {
    adam(f, inputs, None)
}

fn adam_one_with_decay(f: &Formula<'_>, inputs: [ValueId; 11]) -> Answer {
    let [g, v, m, param, rate, a, b, c, d, epsilon, decay] = inputs;
    adam(f, [g, v, m, param, rate, a, b, c, d, epsilon], Some(decay))
}

/// Returns the new second moment, first moment and parameter.
fn adam(f: &Formula<'_>, inputs: [ValueId; 10], decay: Option<ValueId>) -> Answer {
    let [g, v, m, param, rate, beta1, rest1, beta2, rest2, epsilon] = inputs;
    let v = f.add(f.mul(v, beta2)?, f.mul(f.square(g)?, rest2)?)?;
    let m = f.add(f.mul(m, beta1)?, f.mul(g, rest1)?)?;
    let mut way = f.div(m, f.add(f.of("Sqrt", v)?, epsilon)?)?;
    if let Some(decay) = decay {
        way = f.add(way, f.mul(param, decay)?)?;
    }
    Ok(vec![v, m, f.sub(param, f.mul(way, rate)?)?])
}

fn adam_v2(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let mbart = match op.text("adam_mode")? {
        "adam" => false,
        "mbart_adam" => true,
        other => {
            return Err(invalid(format!(
                "its attribute adam_mode is {other}; it must be adam or mbart_adam"
            )));
        }
    };
    let most = op.maybe("max_grad_norm").filter(|_| !mbart);
    let size = op.maybe("step_size").filter(|_| mbart);
    let names = [
        "var",
        "m",
        "v",
        "lr",
        "beta1",
        "beta2",
        "epsilon",
        "grad",
        "global_grad_norm",
        "weight_decay",
    ];
    let new = parts(
        cx,
        op,
        names,
        |f, [var, m, v, rate, beta1, beta2, epsilon, grad, norm, decay]| {
            let dtype = f.dtype(var);
            let g = match most {
                Some(most) => {
                    let share = f.div(f.cast(most, dtype)?, norm)?;
                    f.mul(grad, f.min(share, f.number(1.0, share)?)?)?
                }
                None => grad,
            };
            let mixed =
                |old, share, new| f.add(f.mul(old, share)?, f.mul(f.from(1.0, share)?, new)?);
            let m = mixed(m, beta1, g)?;
            let v = mixed(v, beta2, f.square(g)?)?;
            let way = f.div(m, f.add(f.of("Sqrt", v)?, epsilon)?)?;
            let step = match size {
                Some(size) => f.cast(size, dtype)?,
                None => rate,
            };
            let way = f.mul(step, way)?;
            let decay = f.mul(f.mul(rate, decay)?, var)?;
            Ok(vec![f.sub(f.sub(var, way)?, decay)?, m, v])
        },
    )?;
    write_all(cx, op, MOMENTS, &new)
}

/// A step with momentum that also changes a copy of the parameter in float16.
fn momentum_with_copy(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let nesterov = op.yes("use_nesterov")?;
    let copy = op.input("var_copy")?;
    let copied = cx.ty(copy).dtype;
    let names = ["var", "accum", "lr", "x1", "momentum", "x2"];
    let new = parts(cx, op, names, |f, [var, accum, rate, a, share, b]| {
        let g = f.mul(a, b)?;
        let accum = f.add(f.mul(accum, share)?, g)?;
        let way = if nesterov {
            f.add(f.mul(g, rate)?, f.mul(f.mul(accum, share)?, rate)?)?
        } else {
            f.mul(accum, rate)?
        };
        let copy = f.sub(copy, f.cast(way, copied)?)?;
        Ok(vec![f.sub(var, way)?, copy, accum])
    })?;
    write_all(cx, op, COPIED, &new)
}

/// Returns the update and both new moments.
fn lamb_update(f: &Formula<'_>, inputs: [ValueId; 12]) -> Answer {
    let [
        g,
        v,
        m,
        param,
        beta1,
        rest1,
        beta2,
        rest2,
        epsilon,
        steps,
        uses,
        decay,
    ] = inputs;
    let v = f.add(f.mul(v, beta2)?, f.mul(f.square(g)?, rest2)?)?;
    let m = f.add(f.mul(m, beta1)?, f.mul(g, rest1)?)?;
    let corrected = |moment, share| f.div(moment, f.from(1.0, f.pow(share, steps)?)?);
    let down = f.add(f.of("Sqrt", corrected(v, beta2)?)?, epsilon)?;
    let way = f.div(corrected(m, beta1)?, down)?;
    let decay = f.mul(f.mul(param, decay)?, uses)?;
    Ok(vec![f.add(way, decay)?, v, m])
}

/// Returns the update with weight decay, both new moments, and the update alone.
fn lamb_moments(f: &Formula<'_>, inputs: [ValueId; 13]) -> Answer {
    let [
        square,
        v,
        down_v,
        g,
        m,
        down_m,
        param,
        beta1,
        rest1,
        beta2,
        rest2,
        decay,
        epsilon,
    ] = inputs;
    let v = f.add(f.mul(v, beta2)?, f.mul(square, rest2)?)?;
    let m = f.add(f.mul(m, beta1)?, f.mul(g, rest1)?)?;
    let (v_part, up) = (f.div(v, down_v)?, f.div(m, down_m)?);
    // The two updates differ in where epsilon stands.
    let inner = f.div(up, f.of("Sqrt", f.add(v_part, epsilon)?)?)?;
    let outer = f.div(up, f.add(f.of("Sqrt", v_part)?, epsilon)?)?;
    let first = f.add(f.mul(param, decay)?, inner)?;
    Ok(vec![first, m, v, outer])
}
