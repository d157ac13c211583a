//! Calls of operators.

use crate::lowering::{self as ge, Value};
use crate::registry::{self, GraphRegistry, Input, Op, Output, Port};
use crate::wire::{Reader, TensorDescExt, Writer};
use crate::{GeError, GeResult, infer};

/// The largest group of numbered inputs or outputs.
const MOST_IN_GROUP: usize = 65_536;

/// The largest number of a graph inside an operator.
const MOST_BODIES: usize = 1024;

fn tensor_desc(to: &mut Writer, tensor_desc: &TensorDescExt) {
    to.tensor_desc(&tensor_desc.desc, &tensor_desc.rest);
}

/// Reads which input or output is meant: a name, or where that is empty a number.
fn named<'a>(
    from: &mut Reader<'_>,
    names: impl ExactSizeIterator<Item = &'a String>,
) -> GeResult<String> {
    let (name, number) = (from.text()?, from.index()?);
    if !name.is_empty() {
        return Ok(name);
    }
    let count = names.len();
    let mut names = names;
    names
        .nth(number)
        .cloned()
        .ok_or_else(|| GeError::new(format!("there is no number {number}; there are {count}")))
}

fn named_input(from: &mut Reader<'_>, op: &Op) -> GeResult<String> {
    named(from, op.inputs.iter().map(|input| &input.name))
}

fn named_output(from: &mut Reader<'_>, op: &Op) -> GeResult<String> {
    named(from, op.outputs.iter().map(|output| &output.name))
}

/// Reads an operator and one of its inputs.
fn input_of<'w>(from: &mut Reader<'_>, world: &'w mut GraphRegistry) -> GeResult<&'w mut Input> {
    let id = from.u64()?;
    let name = named_input(from, world.op(id)?)?;
    let op = world.op_mut(id)?;
    let missing = GeError::new(format!("{} ({}) has no input {name}", op.name, op.kind));
    op.inputs
        .iter_mut()
        .find(|input| input.name == name)
        .ok_or(missing)
}

/// Reads an operator and one of its outputs.
fn output_of<'w>(from: &mut Reader<'_>, world: &'w mut GraphRegistry) -> GeResult<&'w mut Output> {
    let id = from.u64()?;
    let name = named_output(from, world.op(id)?)?;
    let op = world.op_mut(id)?;
    let missing = GeError::new(format!("{} ({}) has no output {name}", op.name, op.kind));
    op.outputs
        .iter_mut()
        .find(|output| output.name == name)
        .ok_or(missing)
}

pub fn new(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (name, kind) = (from.text()?, from.text()?);
    to.u64(registry::lock().new_op(&name, &kind));
    Ok(())
}

pub fn create(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (name, kind) = (from.text()?, from.text()?);
    let mut world = registry::lock();
    let id = world.new_op(&name, &kind);
    if let Err(fail) = world.init_from_prototype(id) {
        world.drop_op(id);
        return Err(fail);
    }
    to.u64(id);
    Ok(())
}

pub fn exists(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.u64(u64::from(ge::prototype(&from.text()?).is_some()));
    Ok(())
}

pub fn supported(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.u64(u64::from(ge::is_known(&from.text()?)));
    Ok(())
}

pub fn infer(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let id = from.u64()?;
    // Shapes are found by computing what is constant, which may take a while: the lock is not held meanwhile.
    let source = registry::lock().alone(id)?;
    let found = infer::one(&source)?;
    registry::lock().set_descs(id, &found)
}

pub fn hold(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    registry::lock().hold_op(from.u64()?);
    Ok(())
}

pub fn release(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    registry::lock().drop_op(from.u64()?);
    Ok(())
}

pub fn info(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let world = registry::lock();
    let op = world.op(from.u64()?)?;
    to.text(&op.name);
    to.text(&op.kind);
    to.list(&op.inputs, |to, input| to.text(&input.name));
    to.list(&op.outputs, |to, output| to.text(&output.name));
    Ok(())
}

pub fn rename(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    world.op_mut(from.u64()?)?.name = from.text()?;
    Ok(())
}

pub fn input(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let op = world.op_mut(from.u64()?)?;
    op.inputs.push(Input {
        name: from.text()?,
        ..Input::default()
    });
    Ok(())
}

pub fn output(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let op = world.op_mut(from.u64()?)?;
    op.outputs.push(Output {
        name: from.text()?,
        ..Output::default()
    });
    Ok(())
}

/// A group of inputs or outputs: `name0`, `name1` and so on.
struct Group {
    name: String,
    count: usize,
    /// Where it is inserted; -1 appends it.
    index: i64,
}

impl Group {
    fn read(from: &mut Reader<'_>) -> GeResult<Group> {
        let group = Group {
            name: from.text()?,
            count: from.index()?,
            index: from.int()?,
        };
        if group.count > MOST_IN_GROUP {
            return Err(GeError::new(format!(
                "the dynamic input or output {} has {} members; at most {MOST_IN_GROUP} are allowed",
                group.name, group.count
            )));
        }
        Ok(group)
    }

    /// Returns the names of the members, of which there are `before` already.
    fn names(&self, before: usize) -> impl Iterator<Item = String> {
        (before..before + self.count).map(|number| format!("{}{number}", self.name))
    }

    /// Returns where the group is inserted among so many.
    fn index(&self, count: usize) -> usize {
        usize::try_from(self.index).unwrap_or(count).min(count)
    }
}

pub fn inputs(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let op = world.op_mut(from.u64()?)?;
    let group = Group::read(from)?;
    let own = Some(group.name.clone());
    let before = op.inputs.iter().filter(|one| one.group == own).count();
    let index = group.index(op.inputs.len());
    let new = group.names(before).map(|name| Input {
        name,
        group: own.clone(),
        ..Input::default()
    });
    op.inputs.splice(index..index, new);
    Ok(())
}

pub fn outputs(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let op = world.op_mut(from.u64()?)?;
    let group = Group::read(from)?;
    let own = Some(group.name.clone());
    let before = op.outputs.iter().filter(|one| one.group == own).count();
    let index = group.index(op.outputs.len());
    let new = group.names(before).map(|name| Output {
        name,
        group: own.clone(),
        ..Output::default()
    });
    op.outputs.splice(index..index, new);
    Ok(())
}

pub fn group(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let world = registry::lock();
    let op = world.op(from.u64()?)?;
    let (group, outputs) = (Some(from.text()?), from.u64()? != 0);
    let count = if outputs {
        op.outputs.iter().filter(|one| one.group == group).count()
    } else {
        op.inputs.iter().filter(|one| one.group == group).count()
    };
    to.u64(count as u64);
    Ok(())
}

pub fn link(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let id = from.u64()?;
    let input = named_input(from, world.op(id)?)?;
    let (source, way) = (from.u64()?, from.u64()?);
    let (output, number) = (from.text()?, from.index()?);
    let port = match way {
        0 => Port::Only,
        1 => Port::Named(&output),
        _ => Port::Number(number),
    };
    world.link(id, &input, source, port)
}

pub fn control(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, source) = (from.u64()?, from.u64()?);
    registry::lock().order(id, source)
}

pub fn cut(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    registry::lock().cut(from.u64()?)
}

pub fn set_attr(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, name, value) = (from.u64()?, from.text()?, from.value()?);
    let mut world = registry::lock();
    let op = world.op_mut(id)?;
    // The description of a constant's value is also that of its output.
    if name == "value"
        && let Value::Tensor(data) = &value
        && let Some(output) = op.outputs.first_mut()
        && !data.bytes.is_empty()
    {
        output.tensor_desc.desc = data.desc.clone();
    }
    op.attrs.insert(name, value);
    Ok(())
}

pub fn get_attr(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let world = registry::lock();
    let op = world.op(from.u64()?)?;
    let name = from.text()?;
    let value = op.attrs.get(&name).ok_or_else(|| {
        GeError::new(format!("{} ({}) has no attribute {name}", op.name, op.kind))
    })?;
    to.value(value);
    Ok(())
}

pub fn has_attr(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let world = registry::lock();
    let op = world.op(from.u64()?)?;
    to.u64(u64::from(op.attrs.contains_key(&from.text()?)));
    Ok(())
}

pub fn attr_types(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let registry = registry::lock();
    let op = registry.op(from.u64()?)?;
    // An operator of a type that only the program knows has the attributes that its class registered.
    let types: Vec<(&str, &str)> = match ge::prototype(&op.kind) {
        Some(prototype) => prototype
            .attrs
            .iter()
            .map(|(name, default)| (*name, default.type_name()))
            .collect(),
        None => op
            .attrs
            .iter()
            .map(|(name, value)| (name.as_str(), value.type_name()))
            .collect(),
    };
    to.list(&types, |to, (name, kind)| {
        to.text(name);
        to.text(kind);
    });
    Ok(())
}

/// Writes names with how often each occurs, as programs read it.
fn occurrences(to: &mut Writer, list: &[(&str, ge::Occurs)]) {
    to.list(list, |to, (name, occurs)| {
        to.text(name);
        to.text(match occurs {
            ge::Occurs::Once => "required",
            ge::Occurs::Maybe => "optional",
            ge::Occurs::Often => "dynamic",
        });
    });
}

pub fn prototype(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let kind = from.text()?;
    let prototype = ge::prototype(&kind).ok_or_else(|| {
        GeError::new(format!(
            "there is no prototype of an operator type \"{kind}\""
        ))
    })?;
    occurrences(to, prototype.inputs);
    occurrences(to, prototype.outputs);
    to.list(prototype.attrs, |to, (name, default)| {
        to.text(name);
        to.text(default.type_name());
    });
    Ok(())
}

pub fn input_desc(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    tensor_desc(to, &input_of(from, &mut registry::lock())?.tensor_desc);
    Ok(())
}

pub fn set_input_desc(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let input = input_of(from, &mut world)?;
    input.tensor_desc = from.desc()?;
    input.described = true;
    Ok(())
}

pub fn output_desc(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    tensor_desc(to, &output_of(from, &mut registry::lock())?.tensor_desc);
    Ok(())
}

pub fn set_output_desc(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let output = output_of(from, &mut world)?;
    output.tensor_desc = from.desc()?;
    Ok(())
}

pub fn body(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, name) = (from.u64()?, from.text()?);
    let (number, body) = (from.index()?, from.u64()?);
    if number > MOST_BODIES {
        return Err(GeError::new(format!(
            "there cannot be a graph {name} of number {number}"
        )));
    }
    let mut world = registry::lock();
    world.graph(body)?;
    world.op(id)?;
    world.hold_graph(body);
    let list = world.op_mut(id)?.bodies.entry(name).or_default();
    if list.len() <= number {
        list.resize(number + 1, None);
    }
    if let Some(old) = list[number].replace(body) {
        world.drop_graph(old);
    }
    Ok(())
}

pub fn producer(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (id, number) = (from.u64()?, from.index()?);
    let mut world = registry::lock();
    let input = world.op(id)?.inputs.get(number);
    let (op, position) = input.and_then(|input| input.from).unwrap_or((0, 0));
    world.hold_op(op);
    to.u64(op);
    to.u64(position as u64);
    Ok(())
}

pub fn consumers(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (id, number) = (from.u64()?, from.index()?);
    let mut world = registry::lock();
    world.op(id)?;
    let found = world.readers((id, number));
    for (consumer, _) in &found {
        world.hold_op(*consumer);
    }
    to.list(&found, |to, (consumer, position)| {
        to.u64(*consumer);
        to.u64(*position as u64);
    });
    Ok(())
}

pub fn controls(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (id, before) = (from.u64()?, from.u64()? != 0);
    let mut world = registry::lock();
    let op = world.op(id)?;
    let list = if before {
        op.before.clone()
    } else {
        op.after.clone()
    };
    for one in &list {
        world.hold_op(*one);
    }
    to.list(&list, |to, id| to.u64(*id));
    Ok(())
}
