//! Functions of the model's own: each node that calls one is replaced by the function's nodes.

use std::collections::HashMap;

use super::proto::{AttributeProto, FunctionProto, GraphProto, NodeProto};
use crate::{GraphError, Result};

/// How deeply functions may call each other.
const DEEPEST: usize = 16;

/// The most nodes that a model may have after that: a small file must not grow without bound.
const MOST: usize = 1 << 20;

/// Replaces calls of functions, in the graphs inside nodes, too.
pub(super) fn inline(
    graph: &mut GraphProto,
    functions: Vec<FunctionProto>,
    opset: i64,
) -> Result<()> {
    if functions.is_empty() {
        return Ok(());
    }
    let functions: HashMap<(String, String, String), FunctionProto> = functions
        .into_iter()
        .map(|function| {
            let key = (
                function.domain.clone(),
                function.name.clone(),
                function.overload.clone(),
            );
            (key, function)
        })
        .collect();
    let mut inliner = Inliner {
        functions: &functions,
        opset,
        calls: 0,
        nodes: 0,
    };
    inliner.graph(graph, 0)
}

struct Inliner<'a> {
    functions: &'a HashMap<(String, String, String), FunctionProto>,
    opset: i64,
    calls: usize,
    nodes: usize,
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
                    function.name
                )));
            }
            let expanded = self.expand(function, &node)?;
            out.extend(self.nodes(expanded, depth + 1)?);
        }
        Ok(out)
    }

    fn expand(&mut self, function: &FunctionProto, call: &NodeProto) -> Result<Vec<NodeProto>> {
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
