//! If, Loop and Scan, with the graphs inside them.

use std::collections::BTreeMap;

use jumar_ops::Attrs;
use jumar_types::dtype::DataType;

use super::proto::{self, GraphProto, NodeProto, TypeProto};
use super::{CapturedTypes, Importer};
use crate::{Body, GraphError, Node, Result, ValueId, control};

impl Importer<'_> {
    /// Converts If, Loop and Scan, with the graphs inside them.
    pub(super) fn convert_control(
        &mut self,
        node: &NodeProto,
        mut inputs: Vec<Option<ValueId>>,
        mut attrs: Attrs,
        mut bodies: BTreeMap<String, GraphProto>,
    ) -> Result<Vec<ValueId>> {
        let own = self.insert_point.clone();
        let (operator, names): (_, &[&str]) = match node.op_type.as_str() {
            "If" => (&control::IF, &["then_branch", "else_branch"]),
            "Loop" => (&control::LOOP, &["body"]),
            _ => (&control::SCAN, &["body"]),
        };
        if operator.name == "Loop" {
            inputs.resize(inputs.len().max(2), None);
            if inputs[0].is_none() && inputs[1].is_none() {
                return Err(GraphError::invalid(
                    "it has neither a trip count nor a condition, so it would never end",
                ));
            }
        }
        if operator.name == "Scan" {
            if self.settings.opset < 9 {
                return self.convert_old_scan(node, inputs, attrs, bodies);
            }
        } else if let Some((name, _)) = attrs.iter().next() {
            return Err(GraphError::unsupported(format!(
                "the attribute {name} is not supported"
            )));
        }
        let mut made = Vec::new();
        for name in names {
            let mut proto = bodies
                .remove(*name)
                .ok_or_else(|| GraphError::invalid(format!("the attribute {name} is missing")))?;
            self.type_inputs(operator.name, &mut proto, &inputs);
            let body = match operator.name {
                "If" => self.branch(proto, &mut inputs),
                _ => self.body(proto, &mut inputs),
            };
            made.push(body.map_err(|error| error.at(format_args!("attribute {name}")))?);
        }
        if operator.name == "Scan" {
            // Only what the definition knows is kept.
            let known = [
                "num_scan_inputs",
                "scan_input_axes",
                "scan_input_directions",
                "scan_output_axes",
                "scan_output_directions",
            ];
            let mut kept = Attrs::new();
            for (name, value) in attrs.iter() {
                if !known.contains(&name) {
                    return Err(GraphError::unsupported(format!(
                        "the attribute {name} is not supported"
                    )));
                }
                kept.set(name, value.clone());
            }
            attrs = kept;
        }
        self.insert_point = own;
        let outputs = self.add_control(operator, inputs, attrs, made, node.output.len())?;
        // The first output of a loop's graph is its condition.
        let skipped = usize::from(operator.name == "Loop");
        for (&value, storage) in outputs.iter().zip(self.returned.iter().skip(skipped)) {
            if let &Some(storage) = storage {
                self.storage.insert(value, storage);
            }
        }
        Ok(outputs)
    }

    /// Sets the element types of inputs of a graph inside a node where the file leaves them out, as functions of operators do.
    fn type_inputs(&self, operator: &str, proto: &mut GraphProto, inputs: &[Option<ValueId>]) {
        for (index, input) in proto.input.iter_mut().enumerate() {
            if input
                .r#type
                .as_ref()
                .is_some_and(|ty| ty.tensor_type.is_some())
            {
                continue;
            }
            let (elem_type, shape) = match (operator, index) {
                ("Loop", 0) => (DataType::Int64.onnx(), Some(Default::default())),
                ("Loop", 1) => (DataType::Bool.onnx(), Some(Default::default())),
                _ => match inputs.get(index).copied().flatten() {
                    Some(value) => (self.onnx_type(value), None),
                    None => (None, None),
                },
            };
            input.r#type = elem_type.map(|elem_type| TypeProto {
                tensor_type: Some(proto::TensorTypeProto { elem_type, shape }),
                ..TypeProto::default()
            });
        }
    }

    fn onnx_type(&self, value: ValueId) -> Option<i32> {
        match self.storage.get(&value) {
            Some(storage) => i32::try_from(storage.onnx()).ok(),
            None => self.graph.value(value).ty.dtype.onnx(),
        }
    }

    pub(super) fn add_control(
        &mut self,
        operator: &'static jumar_ops::Operator,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
        bodies: Vec<Body>,
        outputs: usize,
    ) -> Result<Vec<ValueId>> {
        let mut node = Node {
            name: self.insert_point.node().to_owned(),
            operator,
            inputs,
            outputs: Vec::new(),
            attrs,
            bodies,
        };
        // Inference compares the number of outputs.
        let inferred = {
            let (types, _) = self.graph.operands(&node);
            control::infer(&node, &types)?
        };
        if inferred.outputs.len() < outputs {
            return Err(GraphError::invalid(format!(
                "it has {outputs} outputs, and its graph has {}",
                inferred.outputs.len()
            )));
        }
        for (body, graph) in node.bodies.iter_mut().zip(inferred.bodies) {
            body.graph = graph;
        }
        for (index, ty) in inferred.outputs.into_iter().enumerate() {
            let value = self.graph.add_value(format!("{}:{index}", node.name), ty);
            node.outputs.push(value);
        }
        let ids = node.outputs.clone();
        self.graph.nodes.push(node);
        Ok(ids)
    }

    /// Imports a branch. A branch that does not fit the known shapes may be one that is never taken, so it is then imported
    /// for any shapes; the run, which knows whether it is taken, checks it again.
    fn branch(&mut self, proto: GraphProto, inputs: &mut Vec<Option<ValueId>>) -> Result<Body> {
        let known = self.body(proto.clone(), inputs);
        known.or_else(|error| {
            self.body_with(proto, inputs, CapturedTypes::WithoutDims)
                .map_err(|_| error)
        })
    }

    /// Imports a graph inside a node; what it takes from here becomes further inputs of the node.
    pub(super) fn body(
        &mut self,
        proto: GraphProto,
        inputs: &mut Vec<Option<ValueId>>,
    ) -> Result<Body> {
        self.body_with(proto, inputs, CapturedTypes::AsKnown)
    }

    fn body_with(
        &mut self,
        proto: GraphProto,
        inputs: &mut Vec<Option<ValueId>>,
        captured: CapturedTypes,
    ) -> Result<Body> {
        let (settings, folding) = (self.settings, self.graph.folding);
        let mut inner = Importer::new(settings, Some(self));
        inner.captured_types = captured;
        inner.graph.folding = folding;
        inner.run(proto)?;
        let Importer {
            mut graph,
            captured,
            taken,
            storage,
            ..
        } = inner;
        self.returned = graph
            .outputs
            .iter()
            .map(|output| storage.get(&output.value).copied())
            .collect();
        self.graph.folding = graph.folding;
        graph.inputs.extend(taken);
        let captures = captured
            .into_iter()
            .map(|id| {
                // The first inputs belong to the operator, even where one of them is the same value.
                inputs.push(Some(id));
                inputs.len() - 1
            })
            .collect();
        Ok(Body { graph, captures })
    }
}
