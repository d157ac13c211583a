//! Calls of graphs.

use std::path::{Path, PathBuf};

use crate::graph::files;
use crate::registry::{self, GraphRegistry, Port};
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult, file, infer, message, offline};

fn read_file(path: &str, what: &str) -> GeResult<Vec<u8>> {
    files::read(path, files::LARGEST)
        .map_err(|error| GeError::new(format!("the {what} {path} cannot be read: {error}")))
}

fn write_file(path: &str, bytes: &[u8]) -> GeResult<()> {
    jumar::output_file::write(path.as_ref(), bytes)
        .map_err(|error| GeError::new(format!("the file {path} cannot be written: {error}")))
}

pub fn new(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let name = from.text()?;
    to.u64(registry::lock().new_graph(&name));
    Ok(())
}

pub fn hold(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    registry::lock().hold_graph(from.u64()?);
    Ok(())
}

pub fn release(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    registry::lock().drop_graph(from.u64()?);
    Ok(())
}

pub fn name(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    to.text(&registry::lock().graph(from.u64()?)?.name);
    Ok(())
}

pub fn rename(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    world.graph_mut(from.u64()?)?.name = from.text()?;
    Ok(())
}

pub fn set_inputs(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, inputs) = (from.u64()?, from.list(8, Reader::u64)?);
    registry::lock().set_inputs(id, &inputs)
}

pub fn set_outputs(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let id = from.u64()?;
    let list = from.list(24, |from| {
        Ok((
            from.u64()?,
            from.list(8, Reader::index)?,
            from.list(8, Reader::text)?,
        ))
    })?;
    let mut world = registry::lock();
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
                GeError::new(format!("{} ({}) has no output {name}", own.name, own.kind))
            })?);
        }
        if numbers.is_empty() && names.is_empty() {
            positions.extend(0..own.outputs.len());
        }
        if let Some(bad) = positions.iter().find(|&&at| at >= own.outputs.len()) {
            return Err(GeError::new(format!(
                "{} ({}) has no output {bad}",
                own.name, own.kind
            )));
        }
        outputs.extend(positions.into_iter().map(|position| (op, position)));
    }
    world.graph_mut(id)?.outputs = outputs;
    Ok(())
}

pub fn valid(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let id = from.u64()?;
    to.u64(u64::from(
        registry::lock().graph(id).is_ok_and(|graph| graph.valid),
    ));
    Ok(())
}

pub fn add_op(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, op) = (from.u64()?, from.u64()?);
    let mut world = registry::lock();
    let name = world.op(op)?.name.clone();
    if world.graph(id)?.table.contains_key(&name) {
        return Err(GeError::new(format!(
            "the graph has an operator {name} already"
        )));
    }
    world.hold_op(op);
    world.graph_mut(id)?.table.insert(name, op);
    Ok(())
}

pub fn find(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (id, name) = (from.u64()?, from.text()?);
    let mut world = registry::lock();
    let graph = world.graph(id)?;
    let is_named = |op: &u64| world.op(*op).is_ok_and(|op| op.name == name);
    let found = graph
        .table
        .get(&name)
        .copied()
        .or_else(|| graph.ops.iter().copied().find(is_named))
        .ok_or_else(|| GeError::new(format!("graph {} has no operator {name}", graph.name)))?;
    world.hold_op(found);
    to.u64(found);
    Ok(())
}

pub fn find_kind(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let (id, kind) = (from.u64()?, from.text()?);
    let mut world = registry::lock();
    let graph = world.graph(id)?;
    let mut found: Vec<u64> = graph.ops.clone();
    found.extend(graph.table.values().filter(|op| !graph.ops.contains(op)));
    found.retain(|op| world.op(*op).is_ok_and(|op| op.kind == kind));
    for op in &found {
        world.hold_op(*op);
    }
    to.list(&found, |to, id| to.u64(*id));
    Ok(())
}

pub fn op_names(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let world = registry::lock();
    let names: Vec<&String> = world.graph(from.u64()?)?.table.keys().collect();
    to.list(&names, |to, name| to.text(name));
    Ok(())
}

pub fn nodes(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let mut world = registry::lock();
    let list = world.graph(from.u64()?)?.ops.clone();
    for op in &list {
        world.hold_op(*op);
    }
    to.list(&list, |to, id| to.u64(*id));
    Ok(())
}

/// Refuses to change the nodes of a graph that is run as it was read.
fn check_editable(registry: &GraphRegistry, id: u64) -> GeResult<()> {
    let graph = registry.graph(id)?;
    if graph.imported.is_none() {
        return Ok(());
    }
    Err(GeError::new(format!(
        "graph {} was read from an ONNX model; its nodes cannot be changed",
        graph.name
    )))
}

pub fn add_node(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, op) = (from.u64()?, from.u64()?);
    let mut world = registry::lock();
    check_editable(&world, id)?;
    world.op(op)?;
    if !world.graph(id)?.ops.contains(&op) {
        world.hold_op(op);
        world.op_mut(op)?.graph = id;
        let graph = world.graph_mut(id)?;
        graph.ops.push(op);
        graph.valid = true;
        graph.begun = true;
    }
    Ok(())
}

pub fn remove_node(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, op) = (from.u64()?, from.u64()?);
    let mut world = registry::lock();
    check_editable(&world, id)?;
    if !world.graph(id)?.ops.contains(&op) {
        return Err(GeError::new(format!(
            "the node {} is not in the graph {}",
            world.op(op)?.name,
            world.graph(id)?.name
        )));
    }
    world.cut(op)?;
    world.op_mut(op)?.graph = 0;
    let graph = world.graph_mut(id)?;
    graph.ops.retain(|own| *own != op);
    graph.outputs.retain(|(own, _)| *own != op);
    world.drop_op(op);
    Ok(())
}

/// An edge between two nodes of a graph: of data, or where both numbers are negative of control.
struct Edge {
    source: u64,
    output: i64,
    target: u64,
    input: i64,
}

impl Edge {
    fn read(from: &mut Reader<'_>) -> GeResult<Edge> {
        Ok(Edge {
            source: from.u64()?,
            output: from.int()?,
            target: from.u64()?,
            input: from.int()?,
        })
    }

    fn is_control(&self) -> bool {
        self.output < 0 && self.input < 0
    }

    /// Returns the numbers of the output and of the input.
    fn ports(&self) -> GeResult<(usize, usize)> {
        match (usize::try_from(self.output), usize::try_from(self.input)) {
            (Ok(output), Ok(input)) => Ok((output, input)),
            _ => Err(GeError::new(format!(
                "there is no edge from output {} to input {}",
                self.output, self.input
            ))),
        }
    }

    fn check_nodes(&self, ops: &[u64]) -> GeResult<()> {
        if ops.contains(&self.source) && ops.contains(&self.target) {
            return Ok(());
        }
        Err(GeError::new(
            "the edge is between nodes that are not both in the graph",
        ))
    }
}

pub fn add_edge(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, edge) = (from.u64()?, Edge::read(from)?);
    let mut world = registry::lock();
    check_editable(&world, id)?;
    edge.check_nodes(&world.graph(id)?.ops)?;
    if edge.is_control() {
        return world.order(edge.target, edge.source);
    }
    let (output, number) = edge.ports()?;
    let inputs = &world.op(edge.target)?.inputs;
    let input = inputs
        .get(number)
        .ok_or_else(|| GeError::new(format!("the node has no input {number}")))?;
    if input.from.is_some() {
        return Err(GeError::new(format!(
            "the input {} is linked already",
            input.name
        )));
    }
    let name = input.name.clone();
    world.link(edge.target, &name, edge.source, Port::Number(output))
}

pub fn remove_edge(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, edge) = (from.u64()?, Edge::read(from)?);
    let mut world = registry::lock();
    check_editable(&world, id)?;
    edge.check_nodes(&world.graph(id)?.ops)?;
    if edge.is_control() {
        world.unorder(edge.target, edge.source);
        return Ok(());
    }
    let (output, number) = edge.ports()?;
    let target = world.op(edge.target)?;
    let input = target
        .inputs
        .get(number)
        .ok_or_else(|| GeError::new(format!("the node {} has no input {number}", target.name)))?;
    if input.from != Some((edge.source, output)) {
        return Err(GeError::new(format!(
            "no edge leads from output {output} of the node {} to input {number} of {}",
            world.op(edge.source)?.name,
            target.name
        )));
    }
    world.unlink(edge.target, number)
}

pub fn infer(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, shapes) = (from.u64()?, from.list(8, Reader::ints)?);
    let (source, ids) = {
        let world = registry::lock();
        (world.freeze(id, 0)?, world.graph(id)?.ops.clone())
    };
    let found = infer::all(&source, &shapes)?;
    registry::lock().describe(&ids, &found)
}

pub fn copy(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, source) = (from.u64()?, from.u64()?);
    let mut world = registry::lock();
    let plain = world.freeze(source, 0)?;
    let imported = world.graph(source)?.imported.clone();
    if world.graph(id)?.begun {
        return Err(GeError::new(format!(
            "the graph {} has nodes already; copy into a new one",
            world.graph(id)?.name
        )));
    }
    let name = world.graph(id)?.name.clone();
    world.thaw(id, &plain)?;
    let graph = world.graph_mut(id)?;
    graph.name = name;
    graph.imported = imported;
    Ok(())
}

pub fn save(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let graph = registry::lock().freeze(from.u64()?, 0)?;
    to.blob(&file::save(&graph));
    Ok(())
}

pub fn load(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let id = from.u64()?;
    let graph = file::load(from.bytes()?)?;
    registry::lock().thaw(id, &graph)
}

pub fn save_file(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, path) = (from.u64()?, from.text()?);
    let graph = registry::lock().freeze(id, 0)?;
    write_file(&path, &file::save(&graph))
}

pub fn load_file(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, path) = (from.u64()?, from.text()?);
    let graph = file::load(&read_file(&path, "graph")?)?;
    registry::lock().thaw(id, &graph)
}

pub fn show(from: &mut Reader<'_>, to: &mut Writer) -> GeResult<()> {
    let graph = registry::lock().freeze(from.u64()?, 0)?;
    to.text(&file::show(&graph));
    Ok(())
}

pub fn dump_file(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, path) = (from.u64()?, from.text()?);
    let graph = registry::lock().freeze(id, 0)?;
    write_file(&path, file::show(&graph).as_bytes())
}

pub fn parse_onnx(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let id = from.u64()?;
    let bytes = from.bytes()?;
    let params = from.map()?;
    offline::parse_onnx(id, bytes, Some(Path::new(".")), &params)
}

pub fn parse_onnx_file(from: &mut Reader<'_>, _: &mut Writer) -> GeResult<()> {
    let (id, path, params) = (from.u64()?, from.text()?, from.map()?);
    let bytes = read_file(&path, "ONNX model")?;
    let path = PathBuf::from(path);
    let folder = path.parent().map(|folder| {
        if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        }
    });
    offline::parse_onnx(id, &bytes, folder, &params)
}
