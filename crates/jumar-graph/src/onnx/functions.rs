//! Functions of the model's own: each node that calls one is replaced by the function's nodes.

use std::collections::HashMap;

use prost::Message;

use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};
use crate::{GraphError, Result};

/// How deeply functions may call each other.
const DEEPEST: usize = 16;

/// The most nodes that a model may have after that: a small file must not grow without bound.
const MOST: usize = 1 << 20;

/// The most bytes that the nodes of calls take together, beside the contents of tensors, which all copies of a node share.
const MOST_BYTES: usize = 512 << 20;

/// Replaces calls of functions, in the graphs inside nodes, too.
pub(super) fn inline(
    graph: &mut GraphProto,
    functions: Vec<FunctionProto>,
    opset: i64,
) -> Result<()> {
    if functions.is_empty() {
        return Ok(());
    }
    let functions: HashMap<(String, String, String), Known> = functions
        .into_iter()
        .map(|function| {
            let key = (
                function.domain.clone(),
                function.name.clone(),
                function.overload.clone(),
            );
            let size = function
                .node
                .iter()
                .map(Size::of)
                .fold(Size::default(), |sum, size| Size {
                    bytes: sum.bytes + size.bytes,
                    names: sum.names + size.names,
                });
            (key, Known { function, size })
        })
        .collect();
    let mut inliner = Inliner {
        functions: &functions,
        opset,
        calls: 0,
        nodes: 0,
        bytes_left: MOST_BYTES,
    };
    inliner.graph(graph, 0)
}

/// A function, and what a copy of its nodes takes.
struct Known {
    function: FunctionProto,
    size: Size,
}

/// What copies of nodes take.
#[derive(Clone, Copy, Default)]
struct Size {
    /// Their bytes, without the contents of tensors that copies share.
    bytes: usize,
    /// How many names they have, each of which a call replaces or makes longer.
    names: usize,
}

impl Size {
    fn of(node: &NodeProto) -> Size {
        let (names, shared) = Size::names_and_shared(node);
        Size {
            bytes: node.encoded_len() - shared,
            names,
        }
    }

    fn names_and_shared(node: &NodeProto) -> (usize, usize) {
        let mut names = 1 + node.input.len() + node.output.len();
        let mut shared = 0;
        for attribute in &node.attribute {
            shared += attribute.t.as_ref().map_or(0, |one| one.raw_data.len());
            let Some(graph) = &attribute.g else { continue };
            names += graph.input.len() + graph.output.len() + graph.initializer.len();
            let tensors = graph.initializer.iter().map(|one| one.raw_data.len());
            shared += tensors.sum::<usize>();
            for node in &graph.node {
                let inner = Size::names_and_shared(node);
                (names, shared) = (names + inner.0, shared + inner.1);
            }
        }
        (names, shared)
    }
}

struct Inliner<'a> {
    functions: &'a HashMap<(String, String, String), Known>,
    opset: i64,
    calls: usize,
    nodes: usize,
    bytes_left: usize,
}

impl<'a> Inliner<'a> {
    fn graph(&mut self, graph: &mut GraphProto, depth: usize) -> Result<()> {
        graph.node = self.nodes(std::mem::take(&mut graph.node), depth)?;
        Ok(())
    }

    fn nodes(&mut self, nodes: Vec<NodeProto>, depth: usize) -> Result<Vec<NodeProto>> {
        let functions = self.functions;
        let mut out = Vec::with_capacity(nodes.len());
        for mut node in nodes {
            self.nodes += 1;
            if self.nodes > MOST {
                return Err(GraphError::unsupported(format!(
                    "the model's functions expand to more than {MOST} nodes"
                )));
            }
            for attribute in &mut node.attribute {
                if let Some(inner) = &mut attribute.g {
                    self.graph(inner, depth)?;
                }
            }
            let key = (
                node.domain.clone(),
                node.op_type.clone(),
                node.overload.clone(),
            );
            let Some(function) = functions.get(&key) else {
                out.push(node);
                continue;
            };
            if depth >= DEEPEST {
                return Err(GraphError::invalid(format!(
                    "the function {} calls functions more than {DEEPEST} deep, or itself",
                    function.function.name
                )));
            }
            let expanded = self.expand(function, &node)?;
            out.extend(self.nodes(expanded, depth + 1)?);
        }
        Ok(out)
    }

    fn expand(&mut self, known: &Known, call: &NodeProto) -> Result<Vec<NodeProto>> {
        let function = &known.function;
        let version = function
            .opset_import
            .iter()
            .find(|set| set.domain.is_empty() || set.domain == "ai.onnx")
            .map_or(self.opset, |set| set.version);
        if version != self.opset {
            return Err(GraphError::unsupported(format!(
                "the function {} uses operator set {version} of ONNX, and the model {}",
                function.name, self.opset
            )));
        }
        self.calls += 1;
        let prefix = match call.name.as_str() {
            "" => format!("{}#{}", call.op_type, self.calls),
            name => format!("{name}#{}", self.calls),
        };
        // A name of the function becomes one of the call's, or gets the prefix. A small file could multiply long ones.
        let given = call.input.iter().chain(&call.output).map(String::len);
        let longest = given.max().unwrap_or(0).max(prefix.len() + 1);
        let size = known.size.names.saturating_mul(longest);
        let left = self
            .bytes_left
            .checked_sub(size.saturating_add(known.size.bytes));
        self.bytes_left = left.ok_or_else(|| {
            GraphError::unsupported(format!(
                "the model's functions expand to more than {} MiB, with the call of {}",
                MOST_BYTES >> 20,
                function.name
            ))
        })?;
        let mut names: HashMap<String, String> = HashMap::new();
        for (index, formal) in function.input.iter().enumerate() {
            let actual = call.input.get(index).cloned().unwrap_or_default();
            names.insert(formal.clone(), actual);
        }
        // An output that is an input as it is needs a node of its own.
        let mut passed = Vec::new();
        for (index, formal) in function.output.iter().enumerate() {
            let actual = call.output.get(index).cloned().unwrap_or_default();
            if actual.is_empty() {
                continue;
            }
            match names.get(formal) {
                Some(from) => passed.push(NodeProto {
                    input: vec![from.clone()],
                    output: vec![actual],
                    name: format!("{prefix}/{formal}"),
                    op_type: "Identity".into(),
                    ..NodeProto::default()
                }),
                None => {
                    names.insert(formal.clone(), actual);
                }
            }
        }
        let mut values: HashMap<&str, &AttributeProto> = function
            .attribute_proto
            .iter()
            .map(|attribute| (attribute.name.as_str(), attribute))
            .collect();
        values.extend(
            call.attribute
                .iter()
                .map(|attribute| (attribute.name.as_str(), attribute)),
        );
        let mut nodes = function.node.clone();
        for node in &mut nodes {
            rename(node, &mut names, &prefix, &values);
        }
        nodes.extend(passed);
        Ok(nodes)
    }
}

/// Returns a node of a function the names and attributes of one call.
fn rename(
    node: &mut NodeProto,
    names: &mut HashMap<String, String>,
    prefix: &str,
    values: &HashMap<&str, &AttributeProto>,
) {
    let renamed = |name: &mut String, names: &mut HashMap<String, String>| {
        if !name.is_empty() {
            *name = names
                .entry(name.clone())
                .or_insert_with(|| format!("{prefix}/{name}"))
                .clone();
        }
    };
    for name in node.input.iter_mut().chain(&mut node.output) {
        renamed(name, names);
    }
    node.name = format!("{prefix}/{}", node.name);
    node.attribute.retain_mut(|attribute| {
        if attribute.ref_attr_name.is_empty() {
            return true;
        }
        let own = std::mem::take(&mut attribute.name);
        match values.get(attribute.ref_attr_name.as_str()) {
            Some(&value) => {
                *attribute = AttributeProto {
                    name: own,
                    ..value.clone()
                };
                true
            }
            // The call leaves it out, so the node has it not, either.
            None => false,
        }
    });
    for attribute in &mut node.attribute {
        if let Some(graph) = &mut attribute.g {
            for value in graph.input.iter_mut().chain(&mut graph.output) {
                renamed(&mut value.name, names);
            }
            for tensor in &mut graph.initializer {
                renamed(&mut tensor.name, names);
            }
            for inner in &mut graph.node {
                rename(inner, names, prefix, values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of so many nodes, and a graph that calls it by a node of this name.
    fn model(nodes: usize, name: &str) -> (GraphProto, Vec<FunctionProto>) {
        let step = |at: usize| NodeProto {
            input: vec![format!("v{at}")],
            output: vec![format!("v{}", at + 1)],
            name: format!("n{at}"),
            op_type: "Relu".into(),
            ..NodeProto::default()
        };
        let function = FunctionProto {
            name: "f".into(),
            input: vec!["v0".into()],
            output: vec![format!("v{nodes}")],
            node: (0..nodes).map(step).collect(),
            ..FunctionProto::default()
        };
        let call = NodeProto {
            input: vec!["a".into()],
            output: vec!["b".into()],
            name: name.into(),
            op_type: "f".into(),
            ..NodeProto::default()
        };
        let graph = GraphProto {
            node: vec![call],
            ..GraphProto::default()
        };
        (graph, vec![function])
    }

    #[test]
    fn a_call_becomes_the_nodes_of_its_function() {
        let (mut graph, functions) = model(250, "x");
        inline(&mut graph, functions, 17).unwrap();
        assert_eq!(graph.node.len(), 250);
        assert_eq!(graph.node[0].input, ["a"]);
        assert_eq!(graph.node[1].input, graph.node[0].output);
        assert_eq!(graph.node[249].output, ["b"]);
    }

    #[test]
    fn names_that_calls_multiply_are_refused_before_they_fill_memory() {
        // A file of a megabyte whose nodes would have names of 800.
        let (mut graph, functions) = model(250, &"x".repeat(1 << 20));
        let error = inline(&mut graph, functions, 17).unwrap_err();
        assert!(error.text().contains("512 MiB"), "{}", error.text());
    }
}
