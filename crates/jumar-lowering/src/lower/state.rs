//! Variables, and what writes them. A variable is an input of the lowered graph, and an output where it is written.

use jumar_ops::{Attrs, Builder as _, OpError, Tensor, TensorType};
use jumar_types::dtype::DataType;

use super::index::scattered;
use super::op::Op;
use super::{
    Cx, Lowering, SourceNode, compound, framework, invalid, lamb, lists, random, retrieval, single,
    tensor_attr, training, type_of,
};
use jumar_graph::ValueId;

/// What the names of variables begin with that count how often was drawn at random.
pub(super) const DRAWS: &str = "random/";

/// The operators that are variables.
pub const VARIABLES: &[&str] = &["Variable", "VariableV2", "VarHandleOp"];

pub(super) static TABLE: &[(&str, Lowering)] = &[
    ("ApplyAdam", adam),
    ("ApplyAdamD", adam),
    ("ApplyGradientDescent", |cx, op| {
        let (var, rate, way) = (op.input("var")?, op.input("alpha")?, op.input("delta")?);
        let step = cx.one("Mul", &[rate, way], Attrs::new())?;
        let new = cx.one("Sub", &[var, step], Attrs::new())?;
        write_or_pass(cx, op, "var", new)
    }),
    ("ApplyMomentum", momentum),
    ("Assign", |cx, op| {
        let value = op.input("value")?;
        write_or_pass(cx, op, "ref", value)
    }),
    ("AssignAdd", |cx, op| change(cx, op, "ref", "Add")),
    ("AssignSub", |cx, op| change(cx, op, "var", "Sub")),
    ("InplaceIndexAdd", |cx, op| {
        let (var, mut updates) = (op.input("var")?, op.input("updates")?);
        if let Some(alpha) = op.maybe("alpha") {
            let alpha = cx.cast(alpha, cx.ty(updates).dtype)?;
            updates = cx.one("Mul", &[updates, alpha], Attrs::new())?;
        }
        let rank = cx.rank(var)? as i64;
        let given = op.int("axis")?;
        let axis = if given < 0 { given + rank } else { given };
        if !(0..rank).contains(&axis) {
            return Err(invalid(format!(
                "its attribute axis is {given}, and its input var has {rank} dimensions"
            )));
        }
        // The axis in front, and back.
        let others = (0..rank).filter(|&other| other != axis);
        let order: Vec<i64> = std::iter::once(axis).chain(others).collect();
        let back = (1..=axis).chain([0]).chain(axis + 1..rank);
        let back: Vec<i64> = back.collect();
        let (rows, updates) = (cx.transpose(var, &order)?, cx.transpose(updates, &order)?);
        let new = scattered(cx, rows, op.input("indices")?, updates, "add")?;
        let new = cx.transpose(new, &back)?;
        write_or_pass(cx, op, "var", new)
    }),
    ("ScatterAdd", |cx, op| slices(cx, op, "add")),
    ("ScatterDiv", |cx, op| {
        let updates = cx.one("Reciprocal", &[op.input("updates")?], Attrs::new())?;
        let new = scattered(cx, op.input("var")?, op.input("indices")?, updates, "mul")?;
        write_or_pass(cx, op, "var", new)
    }),
    ("ScatterMax", |cx, op| slices(cx, op, "max")),
    ("ScatterMin", |cx, op| slices(cx, op, "min")),
    ("ScatterMul", |cx, op| slices(cx, op, "mul")),
    ("ScatterNdMax", |cx, op| scatter(cx, op, "max")),
    ("ScatterNdMin", |cx, op| scatter(cx, op, "min")),
    ("ScatterNdSub", |cx, op| {
        let updates = cx.one("Neg", &[op.input("updates")?], Attrs::new())?;
        let inputs = [op.input("var")?, op.input("indices")?, updates];
        let attrs = Attrs::new().with("reduction", "add");
        let new = cx.one("TensorScatterUpdate", &inputs, attrs)?;
        write_or_pass(cx, op, "var", new)
    }),
    ("ScatterUpdate", |cx, op| slices(cx, op, "none")),
    ("ScatterNdUpdate", |cx, op| scatter(cx, op, "none")),
    ("ScatterNdAdd", |cx, op| scatter(cx, op, "add")),
];

type Answer = Result<Vec<ValueId>, OpError>;

/// Returns the names of the inputs that an operator updates.
pub(crate) fn updated_inputs(kind: &str) -> &'static [&'static str] {
    match kind {
        "ApplyAdam" | "ApplyAdamD" => &["var", "m", "v"],
        "ApplyMomentum" => &["var", "accum"],
        "Assign" | "AssignAdd" => &["ref"],
        _ if TABLE.iter().any(|(own, _)| *own == kind) => &["var"],
        "AddRowRanges" | "SliceWrite" => &["x"],
        _ => [
            training::updated,
            random::updated,
            retrieval::updated,
            lists::updated,
            lamb::updated,
            single::updated,
            compound::updated,
            framework::updated,
        ]
        .into_iter()
        .map(|updated| updated(kind))
        .find(|names| !names.is_empty())
        .unwrap_or_default(),
    }
}

/// Returns whether an operator writes variables.
pub(super) fn changes_variables(kind: &str) -> bool {
    !updated_inputs(kind).is_empty()
}

/// What is known of a variable while a graph is lowered.
pub(super) struct VariableState {
    /// The input that holds its contents.
    pub first: ValueId,
    /// The value that it has now.
    pub now: ValueId,
    /// Its initial value, if the program sets one.
    pub initial: Option<Tensor>,
}

impl Cx {
    /// Takes a variable in. Returns its value.
    pub(super) fn declare(&mut self, node: &SourceNode) -> Result<ValueId, OpError> {
        if let Some(held) = self.variables.get(&node.name) {
            return Ok(held.now);
        }
        let initial = tensor_attr(node, "value")?.filter(|tensor| !tensor.is_empty());
        let ty: TensorType = match &initial {
            Some(tensor) => tensor.ty().clone(),
            None => {
                let output = node.outputs.first().map(|output| output.desc.clone());
                type_of(&output.unwrap_or_default())?
            }
        };
        if ty.elements().is_none() {
            return Err(invalid(format!(
                "a variable has to have a fixed shape, and this one is {ty}"
            )));
        }
        let first = self.graph.add_value(node.name.clone(), ty);
        self.variables.insert(
            node.name.clone(),
            VariableState {
                first,
                now: first,
                initial,
            },
        );
        Ok(first)
    }

    /// How often a node has drawn numbers at random before this run: a variable that the run counts up.
    pub(super) fn draw(&mut self, node: &str) -> Result<ValueId, OpError> {
        let zero = Tensor::scalar(DataType::Int64, 0.0)?;
        if self.inner {
            return Ok(self.add_constant(zero));
        }
        let name = format!("{DRAWS}{}/{node}", self.graph.name);
        let first = self.graph.add_value(name.clone(), zero.ty().clone());
        let one = self.number(1.0, first)?;
        let now = self.one("Add", &[first, one], Attrs::new())?;
        self.variables.insert(
            name,
            VariableState {
                first,
                now,
                initial: Some(zero),
            },
        );
        Ok(first)
    }

    /// A seed for a node that says none: FNV-1a of the graph's name and its own.
    pub(super) fn named_seed(&self, node: &str) -> i64 {
        let bytes = self.graph.name.bytes().chain([0]).chain(node.bytes());
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        hash as i64
    }

    /// Returns what a variable holds now, if the node is one.
    pub(super) fn current(&self, node: &SourceNode) -> Option<ValueId> {
        if !VARIABLES.contains(&node.kind.as_str()) {
            return None;
        }
        self.variables.get(&node.name).map(|held| held.now)
    }
}

/// The variable behind an input: the node itself, or through what passes it on.
fn variable<'a>(cx: &Cx, op: &Op<'a>, name: &str) -> Option<&'a str> {
    let position = op.node.inputs.iter().position(|input| input.name == name)?;
    let source = op.sources().nth(position).flatten()?;
    if cx.variables.contains_key(source) {
        return Some(source);
    }
    // An Assign passes its variable on: the owner of this value is meant.
    let value = op.maybe(name)?;
    op.variable_names()
        .find(|own| cx.variables.get(*own).is_some_and(|held| held.now == value))
}

/// Assigns a new value to a variable.
fn write(cx: &mut Cx, op: &Op<'_>, name: &str, new: ValueId) -> Answer {
    let Some(own) = variable(cx, op, name) else {
        return Err(invalid(format!("its input {name} is not a variable")));
    };
    let own = own.to_owned();
    let Some(held) = cx.variables.get(&own) else {
        return Err(invalid(format!("its input {name} is not a variable")));
    };
    let wanted = cx.ty(held.first).clone();
    let new = cx.cast(new, wanted.dtype)?;
    let is = cx.ty(new).clone();
    if is.elements().is_some() && is.shape != wanted.shape {
        return Err(invalid(format!(
            "the variable {own} is {wanted}, and it is to become {is}"
        )));
    }
    // A constant is not a node's result; an output has to be one.
    let new = cx.one("Identity", &[new], Attrs::new())?;
    if let Some(held) = cx.variables.get_mut(&own) {
        held.now = new;
    }
    Ok(vec![new])
}

/// As [`write`]; the new value of an input that is not a variable is only passed on.
pub(super) fn write_or_pass(cx: &mut Cx, op: &Op<'_>, name: &str, new: ValueId) -> Answer {
    if variable(cx, op, name).is_some() {
        return write(cx, op, name, new);
    }
    let dtype = cx.ty(op.input(name)?).dtype;
    Ok(vec![cx.cast(new, dtype)?])
}

/// Writes elements or slices of a variable.
fn scatter(cx: &mut Cx, op: &Op<'_>, how: &'static str) -> Answer {
    let inputs = [op.input("var")?, op.input("indices")?, op.input("updates")?];
    let attrs = Attrs::new().with("reduction", how);
    let new = cx.one("TensorScatterUpdate", &inputs, attrs)?;
    write_or_pass(cx, op, "var", new)
}

/// Writes slices of a variable's first axis.
fn slices(cx: &mut Cx, op: &Op<'_>, how: &'static str) -> Answer {
    let (var, updates) = (op.input("var")?, op.input("updates")?);
    let new = scattered(cx, var, op.input("indices")?, updates, how)?;
    write_or_pass(cx, op, "var", new)
}

fn change(cx: &mut Cx, op: &Op<'_>, name: &str, how: &'static str) -> Answer {
    let (old, value) = (op.input(name)?, op.input("value")?);
    let new = cx.one(how, &[old, value], Attrs::new())?;
    write_or_pass(cx, op, name, new)
}

fn momentum(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let plain = Attrs::new;
    let (var, accum) = (op.input("var")?, op.input("accum")?);
    let (rate, gradient, share) = (op.input("lr")?, op.input("grad")?, op.input("momentum")?);
    let kept = cx.one("Mul", &[accum, share], plain())?;
    let accum = cx.one("Add", &[kept, gradient], plain())?;
    let way = if op.yes("use_nesterov")? {
        let ahead = cx.one("Mul", &[accum, share], plain())?;
        cx.one("Add", &[gradient, ahead], plain())?
    } else {
        accum
    };
    let step = cx.one("Mul", &[way, rate], plain())?;
    let new = cx.one("Sub", &[var, step], plain())?;
    let accum = write_or_pass(cx, op, "accum", accum)?;
    let mut outputs = write_or_pass(cx, op, "var", new)?;
    outputs.extend(accum);
    outputs.truncate(op.outputs());
    Ok(outputs)
}

fn adam(cx: &mut Cx, op: &Op<'_>) -> Answer {
    let plain = Attrs::new;
    let (var, m, v) = (op.input("var")?, op.input("m")?, op.input("v")?);
    let (power1, power2) = (op.input("beta1_power")?, op.input("beta2_power")?);
    let (rate, beta1, beta2) = (op.input("lr")?, op.input("beta1")?, op.input("beta2")?);
    let (epsilon, gradient) = (op.input("epsilon")?, op.input("grad")?);
    let one = cx.number(1.0, var)?;
    // The rate, corrected for how young the moments are.
    let young = cx.one("Sub", &[one, power2], plain())?;
    let young = cx.one("Sqrt", &[young], plain())?;
    let other = cx.one("Sub", &[one, power1], plain())?;
    let rate = cx.one("Mul", &[rate, young], plain())?;
    let rate = cx.one("RealDiv", &[rate, other], plain())?;
    let moment =
        |cx: &mut Cx, old: ValueId, beta: ValueId, new: ValueId| -> Result<ValueId, OpError> {
            let share = cx.one("Sub", &[one, beta], plain())?;
            let way = cx.one("Sub", &[new, old], plain())?;
            let way = cx.one("Mul", &[way, share], plain())?;
            cx.one("Add", &[old, way], plain())
        };
    let m = moment(cx, m, beta1, gradient)?;
    let square = cx.one("Mul", &[gradient, gradient], plain())?;
    let v = moment(cx, v, beta2, square)?;
    let up = if op.yes("use_nesterov")? {
        let ahead = cx.one("Mul", &[beta1, m], plain())?;
        let share = cx.one("Sub", &[one, beta1], plain())?;
        let now = cx.one("Mul", &[share, gradient], plain())?;
        cx.one("Add", &[ahead, now], plain())?
    } else {
        m
    };
    let root = cx.one("Sqrt", &[v], plain())?;
    let down = cx.one("Add", &[root, epsilon], plain())?;
    let way = cx.one("RealDiv", &[up, down], plain())?;
    let step = cx.one("Mul", &[rate, way], plain())?;
    let new = cx.one("Sub", &[var, step], plain())?;
    let m = write_or_pass(cx, op, "m", m)?;
    let v = write_or_pass(cx, op, "v", v)?;
    let mut outputs = write_or_pass(cx, op, "var", new)?;
    outputs.extend(m.into_iter().chain(v));
    outputs.truncate(op.outputs());
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_operator_that_writes_is_known() {
        for (name, _) in super::TABLE.iter().chain(super::training::TABLE) {
            assert!(super::super::is_known(name), "{name}");
            let prototype = crate::prototype(name).expect(name);
            for updated in super::updated_inputs(name) {
                let inputs = prototype.inputs.iter();
                assert!(inputs.clone().any(|(own, _)| own == updated), "{name}");
            }
        }
    }
}
