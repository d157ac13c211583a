//! Graphs in files: what `SaveToFile` writes and `LoadFromFile` reads, and what a dump shows.

use std::fmt::Write as _;

use crate::lowering::{Graph, Input, Node, Output, Value};
use crate::wire::{Reader, Writer};
use crate::{GeError, GeResult};

/// The first bytes of a saved graph.
const MAGIC: &[u8] = b"JUMARGE1";

/// Writes a graph.
pub fn save(graph: &Graph) -> Vec<u8> {
    let mut to = Writer::default();
    to.bytes.extend_from_slice(MAGIC);
    write(&mut to, graph);
    to.bytes
}

fn write(to: &mut Writer, graph: &Graph) {
    to.text(&graph.name);
    to.list(&graph.nodes, |to, node| {
        to.text(&node.name);
        to.text(&node.kind);
        let attrs: Vec<_> = node.attrs.iter().collect();
        to.list(&attrs, |to, (name, value)| {
            to.text(name);
            to.value(value);
        });
        to.list(&node.inputs, |to, input| {
            to.text(&input.name);
            let (at, position) = input.from.map_or((-1, 0), |(at, p)| (at as i64, p as u64));
            to.int(at);
            to.u64(position);
            to.tensor_desc(&input.desc, &[]);
        });
        to.list(&node.outputs, |to, output| {
            to.text(&output.name);
            to.tensor_desc(&output.desc, &[]);
        });
        to.list(&node.after, |to, at| to.u64(*at as u64));
        let bodies: Vec<_> = node.bodies.iter().collect();
        to.list(&bodies, |to, (name, list)| {
            to.text(name);
            to.list(list, write);
        });
    });
    to.list(&graph.outputs, |to, (at, position)| {
        to.u64(*at as u64);
        to.u64(*position as u64);
    });
}

/// Reads a graph that [`save`] wrote, or one that a client serialized; the bytes are not trusted.
pub fn load(bytes: &[u8]) -> GeResult<Graph> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return crate::lowering::read_serialized(bytes).map_err(|error| {
            GeError::new(format!(
                "the data is neither a graph that Jumar saved nor a serialized graph: {error}"
            ))
        });
    };
    let mut from = Reader::new(rest);
    let graph = read(&mut from, 0)?;
    if !from.is_empty() {
        return Err(GeError::new(
            "the saved graph is damaged: there is something behind it",
        ));
    }
    Ok(graph)
}

fn read(from: &mut Reader<'_>, depth: usize) -> GeResult<Graph> {
    if depth > 8 {
        return Err(GeError::new(
            "the saved graph is damaged: graphs are nested more than 8 deep",
        ));
    }
    let name = from.text()?;
    let nodes = from.list(56, |from| {
        let (name, kind) = (from.text()?, from.text()?);
        let attrs = from.list(24, |from| Ok((from.text()?, from.value()?)))?;
        let inputs = from.list(56, |from| {
            let name = from.text()?;
            let (at, position) = (from.int()?, from.index()?);
            Ok(Input {
                name,
                from: usize::try_from(at).ok().map(|at| (at, position)),
                desc: from.desc()?.desc,
            })
        })?;
        let outputs = from.list(40, |from| {
            Ok(Output {
                name: from.text()?,
                desc: from.desc()?.desc,
            })
        })?;
        let after = from.list(8, Reader::index)?;
        let bodies = from.list(16, |from| {
            let name = from.text()?;
            Ok((name, from.list(24, |from| read(from, depth + 1))?))
        })?;
        Ok(Node {
            name,
            kind,
            attrs: attrs.into_iter().collect(),
            inputs,
            outputs,
            after,
            bodies: bodies.into_iter().collect(),
        })
    })?;
    let outputs = from.list(16, |from| Ok((from.index()?, from.index()?)))?;
    let count = nodes.len();
    let reads = nodes
        .iter()
        .flat_map(|node| node.inputs.iter().filter_map(|input| input.from))
        .map(|(at, _)| at)
        .chain(nodes.iter().flat_map(|node| node.after.iter().copied()))
        .chain(outputs.iter().map(|&(at, _)| at));
    if reads.into_iter().any(|at| at >= count) {
        return Err(GeError::new(
            "the saved graph is damaged: it names a node that does not exist",
        ));
    }
    Ok(Graph {
        name,
        nodes,
        outputs,
    })
}

/// Shows a graph to people.
pub fn show(graph: &Graph) -> String {
    let mut text = format!("graph {}\n", graph.name);
    for node in &graph.nodes {
        let inputs: Vec<String> = node
            .inputs
            .iter()
            .filter_map(|input| {
                let (at, position) = input.from?;
                let source = graph.nodes.get(at)?;
                Some(format!("{}={}:{position}", input.name, source.name))
            })
            .collect();
        // Writing to a text cannot fail.
        let _ = write!(
            text,
            "  {} = {}({})",
            node.name,
            node.kind,
            inputs.join(", ")
        );
        for output in &node.outputs {
            let desc = &output.desc;
            let _ = write!(
                text,
                " -> {} {:?} dtype {} format {}",
                output.name, desc.dims, desc.dtype, desc.format
            );
        }
        for (name, value) in &node.attrs {
            match value {
                Value::Tensor(data) => {
                    let _ = write!(
                        text,
                        " {name}=<{:?}, {} bytes>",
                        data.desc.dims,
                        data.bytes.len()
                    );
                }
                Value::Tensors(list) => {
                    let _ = write!(text, " {name}=<{} tensors>", list.len());
                }
                value => {
                    let _ = write!(text, " {name}={value:?}");
                }
            }
        }
        for at in &node.after {
            if let Some(before) = graph.nodes.get(*at) {
                let _ = write!(text, " after {}", before.name);
            }
        }
        text.push('\n');
    }
    for (at, position) in &graph.outputs {
        if let Some(node) = graph.nodes.get(*at) {
            let _ = writeln!(text, "  output {}:{position}", node.name);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_graph_comes_back_and_a_damaged_one_is_refused_wherever_it_is_cut() {
        let graph = Graph {
            name: "g".into(),
            nodes: vec![
                Node {
                    name: "x".into(),
                    kind: "Data".into(),
                    attrs: [("index".to_owned(), Value::Int(0))].into(),
                    outputs: vec![Output::default()],
                    ..Node::default()
                },
                Node {
                    name: "y".into(),
                    kind: "Relu".into(),
                    inputs: vec![Input {
                        name: "x".into(),
                        from: Some((0, 0)),
                        ..Input::default()
                    }],
                    after: vec![0],
                    ..Node::default()
                },
            ],
            outputs: vec![(1, 0)],
        };
        let bytes = save(&graph);
        assert_eq!(load(&bytes), Ok(graph.clone()));
        for cut in 0..bytes.len() {
            assert!(load(&bytes[..cut]).is_err(), "{cut}");
        }
        for at in MAGIC.len()..bytes.len() {
            let mut other = bytes.clone();
            other[at] ^= 0x80;
            // Whatever comes out, nothing in it points outside.
            if let Ok(read) = load(&other) {
                assert!(show(&read).starts_with("graph"));
            }
        }
    }
}
