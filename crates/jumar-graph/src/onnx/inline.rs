//! Graphs inside nodes whose nodes become nodes of the graph around them.

use std::collections::HashSet;

use super::proto::GraphProto;
use super::{Importer, order, used_names};
use crate::{GraphError, Result, ValueId};

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Item {
    /// A tensor.
    Value(ValueId),
    /// A sequence of tensors.
    List(Vec<ValueId>),
}

impl Importer<'_> {
    /// Finds what a name stands for.
    pub(super) fn item(&mut self, name: &str) -> Option<Item> {
        if let Some(list) = self.lists.get(name) {
            return Some(Item::List(list.clone()));
        }
        self.resolve(name).map(Item::Value)
    }

    /// Names a tensor or a sequence.
    pub(super) fn bind(&mut self, name: String, item: Item) -> Result<()> {
        match item {
            Item::Value(value) => self.define(name, value),
            Item::List(list) => {
                self.lists.insert(name, list);
                Ok(())
            }
        }
    }

    /// Adds the nodes of a graph and returns its outputs.
    pub(super) fn inlined(&mut self, body: GraphProto, given: Vec<Item>) -> Result<Vec<Item>> {
        if body.input.len() != given.len() {
            return Err(GraphError::invalid(format!(
                "its graph has {} inputs, and {} are given",
                body.input.len(),
                given.len()
            )));
        }
        let insert_point = self.insert_point.clone();
        let (names, produced, lists) = (
            self.names.clone(),
            self.produced.clone(),
            self.lists.clone(),
        );
        let result = self.inlined_here(body, given);
        (self.names, self.produced, self.lists) = (names, produced, lists);
        self.insert_point = insert_point;
        result
    }

    fn inlined_here(&mut self, body: GraphProto, given: Vec<Item>) -> Result<Vec<Item>> {
        let inner: HashSet<String> = body
            .node
            .iter()
            .flat_map(|node| node.output.iter().cloned())
            .chain(body.initializer.iter().map(|tensor| tensor.name.clone()))
            .chain(body.input.iter().map(|input| input.name.clone()))
            .collect();
        // Names of the graph hide those around it.
        self.names.retain(|name, _| !inner.contains(name));
        self.lists.retain(|name, _| !inner.contains(name));
        let used = used_names(&body.node, &body.output);
        for (input, item) in body.input.into_iter().zip(given) {
            self.bind(input.name, item)?;
        }
        for initializer in body.initializer {
            let name = initializer.name.clone();
            let tensor = super::tensor::tensor(initializer, self.settings.dir)?;
            let id = self.graph.add_constant(&name, tensor);
            self.names.insert(name, id);
        }
        self.produced.extend(inner);
        let prefix = self.insert_point.node().to_owned();
        for (index, mut node) in order::sorted(body.node)? {
            node.name = format!("{prefix}/{}_{index}", node.op_type);
            for name in &node.input {
                if !name.is_empty() && self.item(name).is_none() {
                    let text = format!("node {}: nothing produces its input {name}", node.name);
                    return Err(GraphError::invalid(text));
                }
            }
            self.convert(node, &used)?;
        }
        body.output
            .into_iter()
            .map(|output| {
                self.item(&output.name).ok_or_else(|| {
                    GraphError::invalid(format!("nothing produces its output {}", output.name))
                })
            })
            .collect()
    }
}
