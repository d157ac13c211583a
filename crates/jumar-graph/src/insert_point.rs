//! Where nodes are added: at a node of a foreign graph, which may become several internal ones.

use jumar_ops::{Attrs, InferCx, OpError, OpErrorKind, Tensor};

use crate::control::find;
use crate::passes::fold;
use crate::{Graph, Node, ValueId};

/// The node that is being converted, and how many of ours it has become so far.
///
/// The first of them has its name, the others its name and a number.
#[derive(Clone, Default)]
pub struct InsertPoint {
    node: String,
    added: usize,
}

impl InsertPoint {
    /// Moves to the next node.
    pub fn at(node: impl Into<String>) -> InsertPoint {
        InsertPoint {
            node: node.into(),
            added: 0,
        }
    }

    /// Returns the name of the node that is being converted.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Adds a constant to `graph`.
    pub fn add_constant(&self, graph: &mut Graph, tensor: Tensor) -> ValueId {
        graph.add_constant(self.constant_name(graph), tensor)
    }

    fn constant_name(&self, graph: &Graph) -> String {
        format!("{}/constant_{}", self.node, graph.values.len())
    }

    /// Adds a node to `graph`, or, if all its inputs are known, the constants of its results.
    ///
    /// # Errors
    ///
    /// Internal: there is no such operator. Otherwise what the operator finds wrong with its inputs and attributes.
    pub fn add_node(
        &mut self,
        graph: &mut Graph,
        operator: &'static str,
        inputs: &[Option<ValueId>],
        attrs: Attrs,
        outputs: usize,
    ) -> Result<Vec<ValueId>, OpError> {
        let definition = find(operator).ok_or_else(|| {
            OpError::new(
                OpErrorKind::Internal,
                format!("there is no operator {operator}"),
            )
        })?;
        let name = if self.added == 0 {
            self.node.clone()
        } else {
            format!("{}/{}", self.node, self.added)
        };
        self.added += 1;
        // A missing input at the end is an input that is left out.
        let given = inputs
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1);
        let mut node = Node {
            name,
            operator: definition,
            inputs: inputs[..given].to_vec(),
            outputs: Vec::new(),
            attrs,
            bodies: Vec::new(),
        };
        let (types, constants) = graph.operands(&node);
        let inferred = definition.infer(&InferCx::new(&types, &constants, &node.attrs))?;
        // Parameters of operators are often computed from constants; conversions want to see them.
        if let Some(tensors) = fold::evaluate(graph, &node, &inferred)? {
            graph.count_folded(&tensors);
            return Ok(tensors
                .into_iter()
                .take(outputs)
                .map(|tensor| graph.add_known(self.constant_name(graph), tensor))
                .collect());
        }
        for (index, ty) in inferred.into_iter().take(outputs).enumerate() {
            let value = graph.add_value(format!("{}:{index}", node.name), ty);
            node.outputs.push(value);
        }
        let ids = node.outputs.clone();
        graph.nodes.push(node);
        Ok(ids)
    }
}
