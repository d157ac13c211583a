//! The graph of operators.

use jumar_ops::{Attrs, InferCx, InputKind, Operator, Tensor, TensorType};

use crate::{GraphError, Result, control};

/// A value of a graph, by its position in [`Graph::values`].
pub use jumar_ops::ValueRef as ValueId;

/// One tensor of a graph.
#[derive(Clone, Debug)]
pub struct Value {
    /// The name, for messages.
    pub name: String,
    /// Type and shape, as far as known.
    pub ty: TensorType,
    /// The contents, where they are known and small enough to be kept.
    pub constant: Option<Tensor>,
    /// Where the contents lie in the weights of a compiled model, in bytes.
    pub weight: Option<usize>,
}

/// One call of an operator.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name, for messages.
    pub name: String,
    /// The operator.
    pub operator: &'static Operator,
    /// The inputs; an optional one may be absent.
    pub inputs: Vec<Option<ValueId>>,
    /// The outputs.
    pub outputs: Vec<ValueId>,
    /// The attributes.
    pub attrs: Attrs,
    /// The graphs that control flow runs: branches, or the body of a loop. Empty for all other operators.
    pub bodies: Vec<Body>,
}

/// A graph inside a node. It sees nothing of the graph around it but what it is given.
#[derive(Clone, Debug)]
pub struct Body {
    /// The graph. Its last inputs are the values that it takes from the graph around it.
    pub graph: Graph,
    /// Where these values are among the node's inputs, in order.
    pub captures: Vec<usize>,
}

impl Body {
    /// Returns the number of inputs that the operator itself supplies.
    pub fn formals(&self) -> usize {
        self.graph.inputs.len().saturating_sub(self.captures.len())
    }
}

/// One output of a graph.
#[derive(Clone, Debug)]
pub struct GraphOutput {
    /// The name in the model that was imported.
    pub name: String,
    /// The node that produces it, and which of its outputs it is, as that model counts them.
    pub producer: (String, usize),
    /// The value.
    pub value: ValueId,
}

/// A graph of operators in an order in which they can run.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The name.
    pub name: String,
    /// The tensors.
    pub values: Vec<Value>,
    /// The operators; each comes after those whose results it reads.
    pub nodes: Vec<Node>,
    /// The inputs, in order.
    pub inputs: Vec<ValueId>,
    /// The outputs, in order.
    pub outputs: Vec<GraphOutput>,
    /// What folding may still take.
    pub folding: FoldingBudget,
}

/// Limits the memory of computed constants by that of the constants which the model itself brings: a small file cannot make the
/// build take gigabytes. The graphs inside the nodes of a graph share its budget.
#[derive(Clone, Copy, Debug, Default)]
pub struct FoldingBudget {
    /// The bytes of the model's own constants.
    stored: usize,
    /// The bytes of the constants that were computed.
    computed: usize,
}

impl FoldingBudget {
    /// What computed constants may take in any model.
    const BASE: usize = 64 << 20;
    /// How many times the size of the model's own constants they may take beyond that: weights are transposed, cast, and scaled.
    const FACTOR: usize = 4;
    /// The most for any model.
    const MOST: usize = 2 << 30;

    /// Returns how many bytes computed constants may still take.
    pub(crate) fn left(self) -> usize {
        let own = self.stored.saturating_mul(Self::FACTOR);
        let most = own.saturating_add(Self::BASE).min(Self::MOST);
        most.saturating_sub(self.computed)
    }
}

impl Graph {
    /// Returns a value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// Returns a value, to be changed.
    pub fn value_mut(&mut self, id: ValueId) -> &mut Value {
        &mut self.values[id.0 as usize]
    }

    /// Adds a value.
    pub fn add_value(&mut self, name: impl Into<String>, ty: TensorType) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value {
            name: name.into(),
            ty,
            constant: None,
            weight: None,
        });
        id
    }

    /// Takes note of computed constants.
    pub(crate) fn count_folded(&mut self, tensors: &[Tensor]) {
        let bytes: usize = tensors.iter().map(Tensor::byte_len).sum();
        self.folding.computed = self.folding.computed.saturating_add(bytes);
    }

    /// Adds a constant of the model.
    pub fn add_constant(&mut self, name: impl Into<String>, tensor: Tensor) -> ValueId {
        self.folding.stored = self.folding.stored.saturating_add(tensor.byte_len());
        self.add_known(name, tensor)
    }

    /// Adds a value whose contents are known, and which the folding budget counts elsewhere.
    pub(crate) fn add_known(&mut self, name: impl Into<String>, tensor: Tensor) -> ValueId {
        let id = self.add_value(name, tensor.ty().clone());
        self.value_mut(id).constant = Some(tensor);
        id
    }

    /// Infers types and shapes of a node's outputs from what is known of its inputs.
    pub(crate) fn infer(&self, node: &Node) -> Result<Vec<TensorType>> {
        let (types, constants) = self.operands(node);
        if control::is_control(node.operator) {
            return control::infer(node, &types)
                .map(|inferred| inferred.outputs)
                .map_err(|error| error.at(format_args!("node {}", node.name)));
        }
        let inferred = node
            .operator
            .infer(&InferCx::new(&types, &constants, &node.attrs));
        inferred.map_err(|error| GraphError::from(error).at(format_args!("node {}", node.name)))
    }

    /// Returns the types of a node's inputs, and the contents of those that are constant.
    pub fn operands(&self, node: &Node) -> (Vec<Option<&TensorType>>, Vec<Option<&Tensor>>) {
        let types = node
            .inputs
            .iter()
            .map(|input| input.map(|id| &self.value(id).ty))
            .collect();
        let constants = node
            .inputs
            .iter()
            .map(|input| input.and_then(|id| self.value(id).constant.as_ref()))
            .collect();
        (types, constants)
    }

    /// Returns whether every shape is known before the model runs, so that it can be planned.
    pub fn is_static(&self) -> bool {
        self.nodes.iter().all(|node| {
            node.bodies.is_empty()
                && node
                    .outputs
                    .iter()
                    .all(|&id| self.value(id).ty.elements().is_some())
                && node.inputs.iter().enumerate().all(|(index, input)| {
                    Graph::reads_at_run(node, index)
                        || node.operator.reads_only_shapes
                        || input.is_none_or(|id| self.value(id).constant.is_some())
                })
        }) && self
            .inputs
            .iter()
            .all(|&id| self.value(id).ty.elements().is_some())
    }

    /// Returns whether a node reads an input while it runs, and not only while it is planned.
    pub(crate) fn reads_at_run(node: &Node, index: usize) -> bool {
        match node.operator.input(index).map(|def| def.kind) {
            Some(InputKind::Constant | InputKind::OptionalConstant) => false,
            Some(InputKind::Required | InputKind::Optional | InputKind::Variadic) | None => {
                !node.operator.reads_only_shapes
            }
        }
    }
}
