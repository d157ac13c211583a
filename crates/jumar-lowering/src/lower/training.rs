//! Steps of training: what changes parameters by their gradients.

use jumar_ops::{Builder as _, OpError};
use jumar_types::dtype::DataType;

use super::formula::Formula;
use super::index::scattered;
use super::op::Op;
use super::state::write_or_pass;
use super::{Cx, Lowering};
use jumar_graph::ValueId;

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("SGD", |cx, op| {
        step(cx, op, &["parameters", "accum", "stat"], descent)
    }),
    ("ApplyAdaMax", |cx, op| {
        step(cx, op, &["var", "m", "v"], ada_max)
    }),
    ("ApplyAdaMaxD", |cx, op| {
        step(cx, op, &["var", "m", "v"], ada_max)
    }),
    ("ApplyAdadeltaD", |cx, op| {
        step(cx, op, &["var", "accum", "accum_update"], adadelta)
    }),
    ("ApplyAdamWithAmsgradV2", |cx, op| {
        step(cx, op, &["var", "m", "v", "vhat"], amsgrad)
    }),
    ("ApplyAdadelta", |cx, op| {
        step(cx, op, &["var", "accum", "accum_update"], adadelta)
    }),
    ("ApplyAdagrad", |cx, op| step(cx, op, ACCUM, adagrad)),
    ("ApplyAdagradD", |cx, op| step(cx, op, ACCUM, adagrad)),
    ("ApplyCenteredRMSProp", |cx, op| {
        step(cx, op, &["var", "mg", "ms", "mom"], centered)
    }),
    ("ApplyFtrl", |cx, op| step(cx, op, FTRL, ftrl)),
    ("ApplyFtrlV2", |cx, op| step(cx, op, FTRL, ftrl)),
    ("ApplyKerasMomentum", |cx, op| step(cx, op, ACCUM, keras)),
    ("ApplyProximalAdagrad", |cx, op| {
        step(cx, op, ACCUM, proximal)
    }),
    ("ApplyProximalGradientDescent", |cx, op| {
        step(cx, op, &["var"], |f, step| {
            let (var, delta) = (step.of("var")?, step.of("delta")?);
            let rate = step.of("alpha")?;
            Ok(vec![near(f, step, var, rate, delta)?])
        })
    }),
    ("ApplyRMSProp", |cx, op| {
        step(cx, op, &["var", "ms", "mom"], rms_prop)
    }),
    ("FusedMulApplyKerasMomentum", |cx, op| {
        step(cx, op, ACCUM, keras)
    }),
    ("FusedMulApplyMomentum", |cx, op| {
        step(cx, op, ACCUM, momentum)
    }),
    ("InplaceApplyAdadelta", |cx, op| {
        step(cx, op, &["var", "accum", "accum_update"], adadelta)
    }),
    ("InplaceApplyAdagradDA", |cx, op| {
        let names = &[
            "var",
            "gradient_accumulator",
            "gradient_squared_accumulator",
        ];
        step(cx, op, names, dual_averaging)
    }),
    ("InplaceApplyAdagradV2", |cx, op| {
        step(cx, op, ACCUM, adagrad)
    }),
    ("InplaceApplyCenteredRMSProp", |cx, op| {
        step(cx, op, &["var", "mg", "ms", "mom"], centered)
    }),
    ("InplaceApplyKerasMomentum", |cx, op| {
        step(cx, op, ACCUM, keras)
    }),
    ("InplaceApplyMomentum", |cx, op| {
        step(cx, op, ACCUM, momentum)
    }),
    ("InplaceApplyPowerSign", |cx, op| {
        step(cx, op, &["var", "m"], power_sign)
    }),
    ("InplaceApplyProximalAdagrad", |cx, op| {
        step(cx, op, ACCUM, proximal)
    }),
    ("SparseApplyAdadelta", |cx, op| {
        step(cx, op, &["var", "accum", "accum_update"], adadelta)
    }),
    ("SparseApplyAdagradV2", |cx, op| {
        step(cx, op, ACCUM, adagrad)
    }),
    ("SparseApplyFtrl", |cx, op| step(cx, op, FTRL, ftrl)),
    ("SparseApplyFtrlV2", |cx, op| step(cx, op, FTRL, ftrl)),
    ("SparseApplyProximalAdagrad", |cx, op| {
        step(cx, op, ACCUM, proximal)
    }),
    ("SparseApplyRMSProp", |cx, op| {
        step(cx, op, &["var", "ms", "mom"], rms_prop)
    }),
];

const ACCUM: &[&str] = &["var", "accum"];
const FTRL: &[&str] = &["var", "accum", "linear"];

type One = Result<ValueId, OpError>;
type Answer = Result<Vec<ValueId>, OpError>;

/// Returns the names of the inputs that an operator of this table updates, in the order of its outputs.
pub(super) fn updated(kind: &str) -> &'static [&'static str] {
    match kind {
        "ApplyAdaMax" | "ApplyAdaMaxD" => &["var", "m", "v"],
        "ApplyAdamWithAmsgradV2" => &["var", "m", "v", "vhat"],
        "SGD" => &["parameters", "accum", "stat"],
        "ApplyAdadelta" | "ApplyAdadeltaD" | "InplaceApplyAdadelta" | "SparseApplyAdadelta" => {
            &["var", "accum", "accum_update"]
        }
        "ApplyCenteredRMSProp" | "InplaceApplyCenteredRMSProp" => &["var", "mg", "ms", "mom"],
        "ApplyFtrl" | "ApplyFtrlV2" | "SparseApplyFtrl" | "SparseApplyFtrlV2" => FTRL,
        "ApplyRMSProp" | "SparseApplyRMSProp" => &["var", "ms", "mom"],
        "ApplyProximalGradientDescent" => &["var"],
        "InplaceApplyAdagradDA" => &[
            "var",
            "gradient_accumulator",
            "gradient_squared_accumulator",
        ],
        "InplaceApplyPowerSign" => &["var", "m"],
        _ if TABLE.iter().any(|(own, _)| *own == kind) => ACCUM,
        _ => &[],
    }
}

/// What a formula reads: the operator, and the values of the parameters, or of the rows that a sparse step changes.
struct Step<'a, 'b> {
    op: &'a Op<'b>,
    own: Vec<(&'a str, ValueId)>,
    dtype: DataType,
}

impl Step<'_, '_> {
    /// Returns an input.
    fn of(&self, name: &str) -> One {
        match self.own.iter().find(|(own, _)| *own == name) {
            Some((_, value)) => Ok(*value),
            None => self.op.input(name),
        }
    }

    /// Returns the gradient: an input, or the product of two.
    fn gradient(&self, f: &Formula<'_>) -> One {
        if self.op.maybe("grad").is_some() {
            return f.cast(self.op.input("grad")?, self.dtype);
        }
        f.cast(
            f.mul(self.op.input("x1")?, self.op.input("x2")?)?,
            self.dtype,
        )
    }

    /// Returns an attribute that some of the operators have.
    fn flag(&self, name: &str, default: bool) -> bool {
        self.op.yes(name).unwrap_or(default)
    }
}

/// Lowers a step: computes the new values of the parameters, and writes them. A step with indices changes these rows alone.
fn step(
    cx: &mut Cx,
    op: &Op<'_>,
    names: &[&str],
    formula: impl FnOnce(&Formula<'_>, &Step<'_, '_>) -> Answer,
) -> Answer {
    let parameters: Vec<ValueId> = names
        .iter()
        .map(|name| op.input(name))
        .collect::<Result<_, _>>()?;
    let indices = op.maybe("indices");
    let mut own = Vec::with_capacity(names.len());
    for (name, value) in names.iter().zip(&parameters) {
        let value = match indices {
            Some(indices) => {
                let axis = cx.ints(&[0]);
                let axis = cx.reshape(axis, &[])?;
                let attrs = jumar_ops::Attrs::new().with("negative_index_support", false);
                cx.one("GatherV2", &[*value, indices, axis], attrs)?
            }
            None => *value,
        };
        own.push((*name, value));
    }
    let dtype = cx.ty(parameters[0]).dtype;
    let step = Step { op, own, dtype };
    let mut new = formula(&Formula::new(cx), &step)?;
    if let Some(indices) = indices {
        for (value, all) in new.iter_mut().zip(&parameters) {
            *value = scattered(cx, *all, indices, *value, "none")?;
        }
    }
    // The first one last: a reader of the operator's output sees a step that is complete.
    let mut outputs = Vec::with_capacity(names.len());
    for (name, value) in names.iter().zip(new).rev() {
        outputs.extend(write_or_pass(cx, op, name, value)?);
    }
    outputs.reverse();
    outputs.truncate(op.outputs());
    Ok(outputs)
}

/// Returns `old * share + new * (1 - share)`.
fn mixed(f: &Formula<'_>, old: ValueId, share: ValueId, new: ValueId) -> One {
    f.add(f.mul(old, share)?, f.mul(new, f.from(1.0, share)?)?)
}

/// A step of gradient descent with momentum. At the first one, which `stat` marks by a positive number, the momentum is the gradient.
fn descent(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, accum, stat) = (step.of("parameters")?, step.of("accum")?, step.of("stat")?);
    let number = |name: &str| step.op.float(name).map(f64::from);
    let (dampening, decay) = (number("dampening")?, number("weight_decay")?);
    let mut g = f.cast(step.op.input("gradient")?, step.dtype)?;
    if decay != 0.0 {
        g = f.add(g, f.times(var, decay)?)?;
    }
    let momentum = step.of("momentum")?;
    let kept = f.add(f.mul(accum, momentum)?, f.times(g, 1.0 - dampening)?)?;
    let accum = f.choose(f.above(stat, 0.0)?, g, kept)?;
    let way = match step.flag("nesterov", false) {
        true => f.add(g, f.mul(accum, momentum)?)?,
        false => accum,
    };
    let var = f.sub(var, f.mul(way, step.of("learning_rate")?)?)?;
    Ok(vec![var, accum, f.times(stat, 0.0)?])
}

fn ada_max(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, m, v, g) = (
        step.of("var")?,
        step.of("m")?,
        step.of("v")?,
        step.gradient(f)?,
    );
    let m = mixed(f, m, step.of("beta1")?, g)?;
    let v = f.max(f.mul(v, step.of("beta2")?)?, f.of("Abs", g)?)?;
    let rate = f.div(step.of("lr")?, f.from(1.0, step.of("beta1_power")?)?)?;
    let way = f.div(m, f.add(v, step.of("epsilon")?)?)?;
    Ok(vec![f.sub(var, f.mul(rate, way)?)?, m, v])
}

/// A step of Adam with the largest second moment so far.
fn amsgrad(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, m, v) = (step.of("var")?, step.of("m")?, step.of("v")?);
    let g = step.gradient(f)?;
    let m = mixed(f, m, step.of("beta1")?, g)?;
    let v = mixed(f, v, step.of("beta2")?, f.square(g)?)?;
    let most = f.max(step.of("vhat")?, v)?;
    let up = f.of("Sqrt", f.from(1.0, step.of("beta2_power")?)?)?;
    let rate = f.mul(step.of("lr")?, up)?;
    let rate = f.div(rate, f.from(1.0, step.of("beta1_power")?)?)?;
    let down = f.add(f.of("Sqrt", most)?, step.of("epsilon")?)?;
    let var = f.sub(var, f.mul(rate, f.div(m, down)?)?)?;
    Ok(vec![var, m, v, most])
}

fn adadelta(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, accum, update) = (step.of("var")?, step.of("accum")?, step.of("accum_update")?);
    let (rho, epsilon, g) = (step.of("rho")?, step.of("epsilon")?, step.gradient(f)?);
    let accum = mixed(f, accum, rho, f.square(g)?)?;
    let up = f.of("Sqrt", f.add(update, epsilon)?)?;
    let down = f.of("Sqrt", f.add(accum, epsilon)?)?;
    let way = f.mul(f.div(up, down)?, g)?;
    let update = mixed(f, update, rho, f.square(way)?)?;
    Ok(vec![
        f.sub(var, f.mul(way, step.of("lr")?)?)?,
        accum,
        update,
    ])
}

fn adagrad(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, mut accum, g) = (step.of("var")?, step.of("accum")?, step.gradient(f)?);
    if step.flag("update_slots", true) {
        accum = f.add(accum, f.square(g)?)?;
    }
    let mut down = f.of("Sqrt", accum)?;
    if let Some(epsilon) = step.op.maybe("epsilon") {
        down = f.add(down, epsilon)?;
    } else if let Ok(epsilon) = step.op.float("epsilon") {
        down = f.plus(down, f64::from(epsilon))?;
    }
    let way = f.div(f.mul(g, step.of("lr")?)?, down)?;
    Ok(vec![f.sub(var, way)?, accum])
}

fn dual_averaging(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (sum, squares) = (
        step.of("gradient_accumulator")?,
        step.of("gradient_squared_accumulator")?,
    );
    let (rate, g) = (step.of("lr")?, step.gradient(f)?);
    let count = f.cast(step.of("global_step")?, step.dtype)?;
    let sum = f.add(sum, g)?;
    let squares = f.add(squares, f.square(g)?)?;
    let least = f.mul(step.of("l1")?, count)?;
    let zero = f.number(0.0, sum)?;
    let size = f.max(f.sub(f.of("Abs", sum)?, least)?, zero)?;
    let up = f.mul(f.mul(f.of("Sign", sum)?, size)?, rate)?;
    let down = f.mul(f.mul(step.of("l2")?, count)?, rate)?;
    let down = f.add(down, f.of("Sqrt", squares)?)?;
    Ok(vec![f.of("Neg", f.div(up, down)?)?, sum, squares])
}

fn rms_prop(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, ms, mom, g) = (
        step.of("var")?,
        step.of("ms")?,
        step.of("mom")?,
        step.gradient(f)?,
    );
    let ms = mixed(f, ms, step.of("rho")?, f.square(g)?)?;
    let down = f.of("Sqrt", f.add(ms, step.of("epsilon")?)?)?;
    let way = f.div(f.mul(g, step.of("lr")?)?, down)?;
    let mom = f.add(f.mul(mom, step.of("momentum")?)?, way)?;
    Ok(vec![f.sub(var, mom)?, ms, mom])
}

fn centered(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, mg, ms, mom) = (
        step.of("var")?,
        step.of("mg")?,
        step.of("ms")?,
        step.of("mom")?,
    );
    let (rho, g) = (step.of("rho")?, step.gradient(f)?);
    let mg = mixed(f, mg, rho, g)?;
    let ms = mixed(f, ms, rho, f.square(g)?)?;
    let spread = f.sub(ms, f.square(mg)?)?;
    let down = f.of("Sqrt", f.add(spread, step.of("epsilon")?)?)?;
    let way = f.div(f.mul(g, step.of("lr")?)?, down)?;
    let mom = f.add(f.mul(mom, step.of("momentum")?)?, way)?;
    Ok(vec![f.sub(var, mom)?, mg, ms, mom])
}

fn ftrl(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, accum, linear) = (step.of("var")?, step.of("accum")?, step.of("linear")?);
    let (rate, l1, l2, g) = (
        step.of("lr")?,
        step.of("l1")?,
        step.of("l2")?,
        step.gradient(f)?,
    );
    let shrunk = match step.op.maybe("l2_shrinkage") {
        Some(shrinkage) => f.add(g, f.times(f.mul(shrinkage, var)?, 2.0)?)?,
        None => g,
    };
    let power = f.of("Neg", step.of("lr_power")?)?;
    let new = f.add(accum, f.square(g)?)?;
    let root = f.pow(new, power)?;
    let change = f.div(f.sub(root, f.pow(accum, power)?)?, rate)?;
    let linear = f.add(linear, f.sub(shrunk, f.mul(change, var)?)?)?;
    let down = f.add(f.div(root, rate)?, f.times(l2, 2.0)?)?;
    let up = f.sub(f.mul(f.of("Sign", linear)?, l1)?, linear)?;
    let far = f.greater(f.of("Abs", linear)?, l1)?;
    Ok(vec![f.only(far, f.div(up, down)?)?, new, linear])
}

fn keras(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, accum, share) = (step.of("var")?, step.of("accum")?, step.of("momentum")?);
    let way = f.mul(step.gradient(f)?, step.of("lr")?)?;
    let accum = f.sub(f.mul(accum, share)?, way)?;
    let new = if step.flag("use_nesterov", false) {
        f.sub(f.add(var, f.mul(accum, share)?)?, way)?
    } else {
        f.add(var, accum)?
    };
    Ok(vec![new, accum])
}

fn momentum(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, accum, share) = (step.of("var")?, step.of("accum")?, step.of("momentum")?);
    let (rate, g) = (step.of("lr")?, step.gradient(f)?);
    let accum = f.add(f.mul(accum, share)?, g)?;
    let way = if step.flag("use_nesterov", false) {
        f.add(g, f.mul(accum, share)?)?
    } else {
        accum
    };
    Ok(vec![f.sub(var, f.mul(way, rate)?)?, accum])
}

fn proximal(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, accum, g) = (step.of("var")?, step.of("accum")?, step.gradient(f)?);
    let accum = f.add(accum, f.square(g)?)?;
    let rate = f.div(step.of("lr")?, f.of("Sqrt", accum)?)?;
    Ok(vec![near(f, step, var, rate, g)?, accum])
}

/// Returns the point of a gradient step, moved to 0 by `l1` and shrunk by `l2`.
fn near(f: &Formula<'_>, step: &Step<'_, '_>, var: ValueId, rate: ValueId, g: ValueId) -> One {
    let point = f.sub(var, f.mul(rate, g)?)?;
    let zero = f.number(0.0, point)?;
    let size = f.sub(f.of("Abs", point)?, f.mul(rate, step.of("l1")?)?)?;
    let size = f.max(size, zero)?;
    let down = f.plus(f.mul(rate, step.of("l2")?)?, 1.0)?;
    f.div(f.mul(f.of("Sign", point)?, size)?, down)
}

fn power_sign(f: &Formula<'_>, step: &Step<'_, '_>) -> Answer {
    let (var, m, g) = (step.of("var")?, step.of("m")?, step.gradient(f)?);
    let m = mixed(f, m, step.of("beta")?, g)?;
    let signs = f.mul(f.of("Sign", g)?, f.of("Sign", m)?)?;
    let power = f.mul(f.mul(step.of("logbase")?, step.of("sign_decay")?)?, signs)?;
    let way = f.mul(f.of("Exp", power)?, g)?;
    Ok(vec![f.sub(var, f.mul(way, step.of("lr")?)?)?, m])
}
