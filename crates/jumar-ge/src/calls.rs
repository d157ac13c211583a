//! The calls by their names. The C++ headers send one for each method.

use crate::graph::files;
use crate::graph::ge::{self, Value};
use crate::session::{self, Family};
use crate::wire::{Reader, Told, Writer};
use crate::world::{self, Input, Output, Port, World};
use crate::{Fail, Outcome, PARAM_INVALID, file, infer, message, offline, run};

/// Does what `name` says with a message, and gives the reply.
///
/// # Errors
///
/// The status; the text is kept for the thread.
pub fn call(name: &str, message: &[u8]) -> Result<Vec<u8>, u32> {
    let mut from = Reader::new(message);
    let mut to = Writer::default();
    let group = name.split('.').next().unwrap_or_default();
    let outcome = match group {
        "op" => op(name, &mut from, &mut to),
        "graph" => graph(name, &mut from, &mut to),
        "session" => on_session(name, &mut from, &mut to),
        _ => engine(name, &mut from, &mut to),
    };
    match outcome {
        Ok(()) => Ok(to.bytes),
        Err(fail) => {
            // A link that is not made is no error to the program: it is told in a warning.
            if matches!(
                name,
                "op.link" | "op.control" | "graph.set_inputs" | "graph.set_outputs"
            ) {
                message::warn(fail.text);
            } else {
                message::error(&fail);
            }
            Err(fail.status)
        }
    }
}

fn unknown(name: &str) -> Fail {
    Fail::new(format!(
        "the call {name} is not supported by this version of Jumar"
    ))
}

fn told(to: &mut Writer, told: &Told) {
    to.told(&told.desc, &told.rest);
}

fn input_mut<'w>(world: &'w mut World, id: u64, name: &str) -> Outcome<&'w mut Input> {
    let op = world.op_mut(id)?;
    let missing = Fail::new(format!("{} ({}) has no input {name}", op.name, op.kind));
    op.inputs
        .iter_mut()
        .find(|input| input.name == name)
        .ok_or(missing)
}

fn output_mut<'w>(world: &'w mut World, id: u64, name: &str) -> Outcome<&'w mut Output> {
    let op = world.op_mut(id)?;
    let missing = Fail::new(format!("{} ({}) has no output {name}", op.name, op.kind));
    op.outputs
        .iter_mut()
        .find(|output| output.name == name)
        .ok_or(missing)
}

/// Reads which input or output is meant: a text, or where that is empty a number.
fn named(from: &mut Reader<'_>, names: &[String]) -> Outcome<String> {
    let (name, number) = (from.text()?, from.index()?);
    if !name.is_empty() {
        return Ok(name);
    }
    names.get(number).cloned().ok_or_else(|| {
        Fail::new(format!(
            "there is no number {number}; there are {}",
            names.len()
        ))
    })
}

fn op(name: &str, from: &mut Reader<'_>, to: &mut Writer) -> Outcome<()> {
    let mut world = world::lock();
    if name == "op.new" || name == "op.create" {
        let (own, kind) = (from.text()?, from.text()?);
        let id = world.new_op(&own, &kind);
        if name == "op.create"
            && let Err(fail) = world.furnish(id)
        {
            world.drop_op(id);
            return Err(fail);
        }
        to.u64(id);
        return Ok(());
    }
    if name == "op.exists" {
        to.u64(u64::from(ge::prototype(&from.text()?).is_some()));
        return Ok(());
    }
    if name == "op.supported" {
        to.u64(u64::from(ge::is_known(&from.text()?)));
        return Ok(());
    }
    let id = from.u64()?;
    if name == "op.infer" {
        let source = world.alone(id)?;
        // Shapes are found by computing what is constant, which may take its time.
        drop(world);
        let found = infer::one(&source)?;
        return world::lock().tell(id, &found);
    }
    match name {
        "op.hold" => world.hold_op(id),
        "op.release" => world.drop_op(id),
        "op.info" => {
            let op = world.op(id)?;
            to.text(&op.name);
            to.text(&op.kind);
            to.list(&op.inputs, |to, input| to.text(&input.name));
            to.list(&op.outputs, |to, output| to.text(&output.name));
        }
        "op.rename" => world.op_mut(id)?.name = from.text()?,
        "op.input" | "op.output" => {
            let own = from.text()?;
            let op = world.op_mut(id)?;
            if name == "op.output" {
                op.outputs.push(Output {
                    name: own,
                    ..Output::default()
                });
            } else {
                op.inputs.push(Input {
                    name: own,
                    ..Input::default()
                });
            }
        }
        "op.inputs" | "op.outputs" => {
            // A group: `own0`, `own1` and so on, behind those that are there already or at a place.
            let (own, count, at) = (from.text()?, from.index()?, from.int()?);
            if count > 65_536 {
                return Err(Fail::new(format!(
                    "{count} inputs or outputs of name {own} are too many"
                )));
            }
            let op = world.op_mut(id)?;
            let group = Some(own.clone());
            if name == "op.inputs" {
                let before = op.inputs.iter().filter(|one| one.group == group).count();
                let place = usize::try_from(at)
                    .unwrap_or(op.inputs.len())
                    .min(op.inputs.len());
                for number in 0..count {
                    let input = Input {
                        name: format!("{own}{}", before + number),
                        group: group.clone(),
                        ..Input::default()
                    };
                    op.inputs.insert(place + number, input);
                }
            } else {
                let before = op.outputs.iter().filter(|one| one.group == group).count();
                let place = usize::try_from(at)
                    .unwrap_or(op.outputs.len())
                    .min(op.outputs.len());
                for number in 0..count {
                    let output = Output {
                        name: format!("{own}{}", before + number),
                        group: group.clone(),
                        ..Output::default()
                    };
                    op.outputs.insert(place + number, output);
                }
            }
        }
        "op.group" => {
            let (own, outputs) = (from.text()?, from.u64()? != 0);
            let op = world.op(id)?;
            let group = Some(own);
            let count = if outputs {
                op.outputs.iter().filter(|one| one.group == group).count()
            } else {
                op.inputs.iter().filter(|one| one.group == group).count()
            };
            to.u64(count as u64);
        }
        "op.link" => {
            let names: Vec<String> = world
                .op(id)?
                .inputs
                .iter()
                .map(|input| input.name.clone())
                .collect();
            let input = named(from, &names)?;
            let (source, way) = (from.u64()?, from.u64()?);
            let (output, number) = (from.text()?, from.index()?);
            let port = match way {
                0 => Port::Only,
                1 => Port::Named(&output),
                _ => Port::Number(number),
            };
            world.link(id, &input, source, port)?;
        }
        "op.control" => {
            let source = from.u64()?;
            world.order(id, source)?;
        }
        "op.cut" => world.cut(id)?,
        "op.set_attr" => {
            let own = from.text()?;
            let value = from.value()?;
            // What a constant holds is also what it gives.
            let op = world.op_mut(id)?;
            if own == "value"
                && let Value::Tensor(data) = &value
                && let Some(output) = op.outputs.first_mut()
                && !data.bytes.is_empty()
            {
                output.told.desc = data.desc.clone();
            }
            op.attrs.insert(own, value);
        }
        "op.get_attr" => {
            let own = from.text()?;
            let op = world.op(id)?;
            let value = op.attrs.get(&own).ok_or_else(|| {
                Fail::new(format!("{} ({}) has no attribute {own}", op.name, op.kind))
            })?;
            to.value(value);
        }
        "op.has_attr" => {
            let own = from.text()?;
            to.u64(u64::from(world.op(id)?.attrs.contains_key(&own)));
        }
        "op.input_desc" | "op.set_input_desc" => {
            let names: Vec<String> = world
                .op(id)?
                .inputs
                .iter()
                .map(|input| input.name.clone())
                .collect();
            let own = named(from, &names)?;
            let input = input_mut(&mut world, id, &own)?;
            if name == "op.input_desc" {
                told(to, &input.told);
            } else {
                input.told = from.desc()?;
                input.described = true;
            }
        }
        "op.output_desc" | "op.set_output_desc" => {
            let names: Vec<String> = world
                .op(id)?
                .outputs
                .iter()
                .map(|output| output.name.clone())
                .collect();
            let own = named(from, &names)?;
            let output = output_mut(&mut world, id, &own)?;
            if name == "op.output_desc" {
                told(to, &output.told);
            } else {
                output.told = from.desc()?;
            }
        }
        "op.body" => {
            let (own, number, body) = (from.text()?, from.index()?, from.u64()?);
            if number > 1024 {
                return Err(Fail::new(format!(
                    "there cannot be a graph {own} of number {number}"
                )));
            }
            world.graph(body)?;
            world.hold_graph(body);
            let list = world.op_mut(id)?.bodies.entry(own).or_default();
            if list.len() <= number {
                list.resize(number + 1, None);
            }
            if let Some(old) = list[number].replace(body) {
                world.drop_graph(old);
            }
        }
        "op.producer" => {
            let number = from.index()?;
            let input = world.op(id)?.inputs.get(number);
            let found = input.and_then(|input| input.from).unwrap_or((0, 0));
            world.hold_op(found.0);
            to.u64(found.0);
            to.u64(found.1 as u64);
        }
        "op.consumers" => {
            let number = from.index()?;
            let mut found = Vec::new();
            for &consumer in &world.op(id)?.consumers {
                for (position, input) in world.op(consumer)?.inputs.iter().enumerate() {
                    if input.from == Some((id, number)) {
                        found.push((consumer, position));
                    }
                }
            }
            for (consumer, _) in &found {
                world.hold_op(*consumer);
            }
            to.list(&found, |to, (consumer, position)| {
                to.u64(*consumer);
                to.u64(*position as u64);
            });
        }
        "op.controls" => {
            let ahead = from.u64()? != 0;
            let op = world.op(id)?;
            let list = if ahead {
                op.before.clone()
            } else {
                op.after.clone()
            };
            for one in &list {
                world.hold_op(*one);
            }
            to.list(&list, |to, id| to.u64(*id));
        }
        name => return Err(unknown(name)),
    }
    Ok(())
}

fn graph(name: &str, from: &mut Reader<'_>, to: &mut Writer) -> Outcome<()> {
    if name == "graph.new" {
        let own = from.text()?;
        to.u64(world::lock().new_graph(&own));
        return Ok(());
    }
    let id = from.u64()?;
    match name {
        "graph.parse_onnx_file" => {
            let (path, params) = (from.text()?, from.map()?);
            let bytes = files::read(&path, files::LARGEST).map_err(|error| {
                Fail::new(format!("the ONNX model {path} cannot be read: {error}"))
            })?;
            let path = std::path::PathBuf::from(path);
            let dir = path.parent().map(|dir| {
                if dir.as_os_str().is_empty() {
                    std::path::Path::new(".")
                } else {
                    dir
                }
            });
            return offline::parse_onnx(id, &bytes, dir, &params);
        }
        "graph.parse_onnx" => {
            let bytes = from.bytes()?;
            let params = from.map()?;
            return offline::parse_onnx(id, bytes, Some(std::path::Path::new(".")), &params);
        }
        "graph.load_file" => {
            let path = from.text()?;
            let bytes = files::read(&path, files::LARGEST)
                .map_err(|error| Fail::new(format!("the graph {path} cannot be read: {error}")))?;
            let graph = file::load(&bytes)?;
            return world::lock().thaw(id, &graph);
        }
        "graph.load" => {
            let graph = file::load(from.bytes()?)?;
            return world::lock().thaw(id, &graph);
        }
        "graph.infer" => {
            let shapes = from.list(8, Reader::ints)?;
            let (source, ids) = {
                let world = world::lock();
                (world.freeze(id, 0)?, world.graph(id)?.ops.clone())
            };
            let found = infer::all(&source, &shapes)?;
            let mut world = world::lock();
            for (id, types) in ids.into_iter().zip(&found) {
                world.tell(id, types)?;
            }
            return Ok(());
        }
        "graph.copy" => {
            let source = from.u64()?;
            let mut world = world::lock();
            let plain = world.freeze(source, 0)?;
            let imported = world.graph(source)?.imported.clone();
            if world.graph(id)?.begun {
                return Err(Fail::new("the graph to copy into has nodes already"));
            }
            let own = world.graph(id)?.name.clone();
            world.thaw(id, &plain)?;
            let graph = world.graph_mut(id)?;
            graph.name = own;
            graph.imported = imported;
            return Ok(());
        }
        "graph.save_file" | "graph.dump_file" => {
            let path = from.text()?;
            let graph = world::lock().freeze(id, 0)?;
            let bytes = if name == "graph.save_file" {
                file::save(&graph)
            } else {
                file::show(&graph).into_bytes()
            };
            return std::fs::write(&path, bytes)
                .map_err(|error| Fail::new(format!("the file {path} cannot be written: {error}")));
        }
        _ => {}
    }
    let mut world = world::lock();
    match name {
        "graph.hold" => world.hold_graph(id),
        "graph.release" => world.drop_graph(id),
        "graph.name" => {
            let text = world.graph(id)?.name.clone();
            to.text(&text);
        }
        "graph.set_inputs" => {
            let list = from.list(8, Reader::u64)?;
            world.set_inputs(id, &list)?;
        }
        "graph.set_outputs" => {
            let list = from.list(24, |from| {
                Ok((
                    from.u64()?,
                    from.list(8, Reader::index)?,
                    from.list(8, Reader::text)?,
                ))
            })?;
            let mut outputs = Vec::new();
            for (op, numbers, names) in list {
                let own = world.op(op)?;
                if !world.graph(id)?.ops.contains(&op) {
                    message::warn(format!(
                        "{} is not in the graph, and cannot be an output of it",
                        own.name
                    ));
                    continue;
                }
                let mut positions = numbers.clone();
                for name in &names {
                    let found = own.outputs.iter().position(|output| output.name == *name);
                    positions.push(found.ok_or_else(|| {
                        Fail::new(format!("{} ({}) has no output {name}", own.name, own.kind))
                    })?);
                }
                if numbers.is_empty() && names.is_empty() {
                    positions.extend(0..own.outputs.len());
                }
                if let Some(bad) = positions.iter().find(|&&at| at >= own.outputs.len()) {
                    return Err(Fail::new(format!(
                        "{} ({}) has no output {bad}",
                        own.name, own.kind
                    )));
                }
                outputs.extend(positions.into_iter().map(|position| (op, position)));
            }
            world.graph_mut(id)?.outputs = outputs;
        }
        "graph.valid" => to.u64(u64::from(world.graph(id).is_ok_and(|graph| graph.valid))),
        "graph.add_op" => {
            let op = from.u64()?;
            let own = world.op(op)?.name.clone();
            if world.graph(id)?.table.contains_key(&own) {
                return Err(Fail::new(format!(
                    "the graph has an operator {own} already"
                )));
            }
            world.hold_op(op);
            world.graph_mut(id)?.table.insert(own, op);
        }
        "graph.find" => {
            let own = from.text()?;
            let graph = world.graph(id)?;
            let found = graph.table.get(&own).copied().or_else(|| {
                graph
                    .ops
                    .iter()
                    .copied()
                    .find(|op| world.op(*op).is_ok_and(|op| op.name == own))
            });
            let found = found
                .ok_or_else(|| Fail::new(format!("graph {} has no operator {own}", graph.name)))?;
            world.hold_op(found);
            to.u64(found);
        }
        "graph.find_kind" => {
            let kind = from.text()?;
            let graph = world.graph(id)?;
            let mut found: Vec<u64> = graph.ops.clone();
            found.extend(graph.table.values().filter(|op| !graph.ops.contains(op)));
            found.retain(|op| world.op(*op).is_ok_and(|op| op.kind == kind));
            for op in &found {
                world.hold_op(*op);
            }
            to.list(&found, |to, id| to.u64(*id));
        }
        "graph.rename" => world.graph_mut(id)?.name = from.text()?,
        "graph.op_names" => {
            let names: Vec<String> = world.graph(id)?.table.keys().cloned().collect();
            to.list(&names, |to, name| to.text(name));
        }
        "graph.nodes" => {
            let list = world.graph(id)?.ops.clone();
            for op in &list {
                world.hold_op(*op);
            }
            to.list(&list, |to, id| to.u64(*id));
        }
        "graph.save" => {
            let bytes = file::save(&world.freeze(id, 0)?);
            to.blob(&bytes);
        }
        "graph.show" => {
            let text = file::show(&world.freeze(id, 0)?);
            to.text(&text);
        }
        "graph.add_node" => {
            let op = from.u64()?;
            world.op(op)?;
            if !world.graph(id)?.ops.contains(&op) {
                world.hold_op(op);
                let graph = world.graph_mut(id)?;
                graph.ops.push(op);
                graph.valid = true;
                graph.begun = true;
            }
        }
        "graph.remove_node" => {
            let op = from.u64()?;
            if !world.graph(id)?.ops.contains(&op) {
                return Err(Fail::new("the node is not in the graph"));
            }
            world.cut(op)?;
            let graph = world.graph_mut(id)?;
            graph.ops.retain(|own| *own != op);
            graph.outputs.retain(|(own, _)| *own != op);
            world.drop_op(op);
        }
        "graph.add_edge" | "graph.remove_edge" => {
            let (source, output, target, input) =
                (from.u64()?, from.int()?, from.u64()?, from.int()?);
            let ops = &world.graph(id)?.ops;
            if !ops.contains(&source) || !ops.contains(&target) {
                return Err(Fail::new(
                    "the edge is between nodes that are not both in the graph",
                ));
            }
            if output < 0 && input < 0 {
                if name == "graph.add_edge" {
                    return world.order(target, source);
                }
                world.unorder(target, source);
                return Ok(());
            }
            let (Ok(output), Ok(input)) = (usize::try_from(output), usize::try_from(input)) else {
                return Err(Fail::new(format!(
                    "there is no edge from output {output} to input {input}"
                )));
            };
            let slot = world.op(target)?.inputs.get(input).cloned();
            let slot = slot.ok_or_else(|| Fail::new(format!("the node has no input {input}")))?;
            if name == "graph.add_edge" {
                if slot.from.is_some() {
                    return Err(Fail::new(format!(
                        "the input {} is linked already",
                        slot.name
                    )));
                }
                return world.link(target, &slot.name, source, Port::Number(output));
            }
            if slot.from != Some((source, output)) {
                return Err(Fail::new("there is no such edge"));
            }
            world.unlink(target, input)?;
        }
        name => return Err(unknown(name)),
    }
    Ok(())
}

/// Reads the inputs that a graph is to be built for.
fn given(from: &mut Reader<'_>) -> Outcome<Vec<Option<crate::graph::TensorType>>> {
    from.list(40, |from| {
        let desc = from.desc()?.desc;
        Ok(Some(session::type_of(&desc.dims, desc.dtype)?))
    })
}

fn on_session(name: &str, from: &mut Reader<'_>, to: &mut Writer) -> Outcome<()> {
    match name {
        "session.new" => {
            let options = from.map()?;
            to.u64(session::create(options)?);
            return Ok(());
        }
        "session.delete" => {
            session::destroy(from.u64()?);
            return Ok(());
        }
        _ => {}
    }
    let id = from.u64()?;
    if name == "session.hand_over" {
        let (lent, target, bytes) = (from.index()?, from.index()?, from.index()?);
        return run::hand_over(&*session::find(id)?, lent, target, bytes);
    }
    if name == "session.free" {
        if let Ok(session) = session::find(id) {
            session.free(from.index()?);
        }
        return Ok(());
    }
    let number = u32::try_from(from.u64()?).map_err(|_| Fail::new("there is no such graph"))?;
    if name == "session.needs_build" {
        let needs = session::find(id).map_or(true, |session| session.needs_build(number));
        to.u64(u64::from(needs));
        return Ok(());
    }
    let session = session::find(id)?;
    match name {
        "session.add" | "session.add_copy" => {
            let (graph, options) = (from.u64()?, from.map()?);
            session.add(number, graph, options, name == "session.add_copy")?;
        }
        "session.remove" => session.remove(number)?,
        "session.build" => {
            let given = given(from)?;
            let entry = session.graph(number)?;
            entry
                .plan(&given, Family::Build)
                .map_err(|fail| match fail.status {
                    crate::UNSUPPORTED => fail,
                    _ => fail.status(crate::FAILED),
                })?;
        }
        "session.compile" => {
            let given = given(from)?;
            let entry = session
                .graph(number)
                .map_err(|fail| fail.status(PARAM_INVALID))?;
            let before = entry.state.lock().family;
            if before == Family::Compile {
                message::warn(format!("graph {number} was compiled already"));
                return Ok(());
            }
            if before == Family::Build {
                return Err(Fail::new(format!(
                    "graph {number} was built by BuildGraph or RunGraph: CompileGraph does not mix with these"
                ))
                .status(crate::UNSUPPORTED));
            }
            entry.plan(&given, Family::Compile)?;
        }
        "session.load" => {
            let entry = session
                .graph(number)
                .map_err(|fail| fail.status(crate::FAILED))?;
            let options = from.map()?;
            session::check(&options)?;
            if entry.first_plan().is_none() {
                return Err(Fail::new(format!(
                    "graph {number} was not compiled: call CompileGraph first"
                )));
            }
            let mut state = entry.state.lock();
            if state.loaded {
                return Err(Fail::new(format!("graph {number} is loaded already")));
            }
            state.loaded = true;
        }
        "session.summary" => {
            let entry = session.graph(number)?;
            if entry.state.lock().family != Family::Compile {
                return Err(Fail::new(format!("graph {number} was not compiled")));
            }
            let plan = entry
                .first_plan()
                .ok_or_else(|| Fail::new(format!("graph {number} was not compiled")))?;
            to.u64(u64::from(!plan.description.open));
            to.u64(plan.sizes.1 as u64);
            to.u64(plan.sizes.0 as u64);
            to.list(&plan.description.outputs[..plan.outputs], |to, tensor| {
                to.ints(&tensor.dims);
                to.int(i64::from(tensor.data_type));
            });
        }
        "session.memory" => {
            let (what, address, bytes) = (from.text()?, from.index()?, from.index()?);
            run::give(&session, number, &what, address, bytes)?;
        }
        "session.outputs" => {
            // What a run with these inputs gives, for callers that bring the memory themselves.
            let given = given(from)?;
            let entry = session.graph(number)?;
            let plan = entry.plan(&given, Family::Fresh)?;
            let open = plan.description.open;
            to.list(&plan.description.outputs[..plan.outputs], |to, tensor| {
                to.int(if open { -1 } else { tensor.bytes as i64 });
            });
        }
        "session.model" => {
            let entry = session.graph(number)?;
            to.bytes = entry.model_file()?;
        }
        "session.variables" => {
            let names = from.list(8, Reader::text)?;
            to.bytes = run::read_variables(&session, &names)?;
        }
        name => return Err(unknown(name)),
    }
    Ok(())
}

fn engine(name: &str, from: &mut Reader<'_>, to: &mut Writer) -> Outcome<()> {
    match name {
        "ge.initialize" => session::initialize(from.map()?)?,
        "ge.finalize" => session::finalize(),
        "ge.error" => to.text(&message::take_errors()),
        "ge.warning" => to.text(&message::take_warnings()),
        "ge.fail" => {
            let text = from.text()?;
            return Err(Fail::new(text));
        }
        "build.initialize" => session::check(&from.map()?)?,
        "build.model" => {
            let graph = from.u64()?;
            let options = from.map()?;
            to.bytes = offline::build(graph, &options)?;
        }
        "build.bundle" => {
            let list = from.list(16, |from| Ok((from.u64()?, from.map()?)))?;
            let models = list
                .iter()
                .map(|(graph, options)| offline::build(*graph, options))
                .collect::<Outcome<Vec<_>>>()?;
            crate::graph::write_bundle(&models, &mut to.bytes)?;
        }
        "build.save" => {
            let (path, bytes) = (from.text()?, from.bytes()?);
            let path = if path.ends_with(".om") {
                path
            } else {
                format!("{path}.om")
            };
            std::fs::write(&path, bytes).map_err(|error| {
                Fail::new(format!("the model {path} cannot be written: {error}"))
            })?;
        }
        name => return Err(unknown(name)),
    }
    Ok(())
}
