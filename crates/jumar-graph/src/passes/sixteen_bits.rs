//! Computes networks of float16 and bfloat16 in float32.
//!
//! Weights are widened once, here, and values between operators are float32 that hold what their 16-bit type holds: what an operator
//! computes is rounded to the type before another one reads it. Results equal those of operators that convert their operands, but for
//! what fusion joins, which is rounded once, at its end. All that is made for float32, such as images in blocks, serves these networks.

use std::collections::HashMap;

use jumar_ops::{Attrs, Tensor, TensorType, compute, find};
use jumar_types::dtype::DataType;

use super::clean;
use super::fuse::Uses;
use crate::{Graph, GraphError, Node, Result, ValueId};

/// Operators for which networks are computed in float32.
const PRODUCTS: &[&str] = &[
    "BatchMatMulV2",
    "CommonGRU",
    "CommonLSTM",
    "Conv2D",
    "Einsum",
    "MatMul",
    "MatMulV2",
    "jumar.Attention",
    "jumar.Conv",
    "jumar.ConvTranspose",
    "jumar.DeformConv",
    "jumar.RNN",
];

/// Operators whose results are among their operands' values, or need no more digits than these.
const EXACT: &[&str] = &[
    "Abs",
    "ConcatD",
    "DepthToSpace",
    "Expand",
    "Flatten",
    "GatherElements",
    "GatherNd",
    "GatherV2",
    "Identity",
    "MaxPoolV3",
    "Maximum",
    "Minimum",
    "Neg",
    "PadV3",
    "ReduceMax",
    "ReduceMin",
    "Relu",
    "Reshape",
    "ReverseSequence",
    "SelectV2",
    "Sign",
    "SpaceToDepth",
    "SplitV",
    "Squeeze",
    "SqueezeV3",
    "StridedSliceV2",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "UnsqueezeV3",
];

/// Operators that round what they write.
const ROUNDING: &[&str] = &[
    "jumar.BlockedConv2D",
    "jumar.BlockedDepthwiseConv2D",
    "jumar.BlockedPickedConv2D",
    "jumar.Linear",
];

const ROUND: &str = "jumar.RoundTo16Bits";

/// Values that are computed in float32, and the type that they hold.
#[derive(Debug, Default)]
pub(crate) struct WidenedValues(HashMap<ValueId, DataType>);

fn is_low(dtype: DataType) -> bool {
    matches!(dtype, DataType::Float16 | DataType::BFloat16)
}

struct Pass<'a> {
    graph: &'a mut Graph,
    nodes: Vec<Node>,
    /// The value in float32 that stands for one of 16 bits; itself where its type was changed.
    wide: HashMap<ValueId, ValueId>,
    /// The value of 16 bits that is the same as one in float32.
    low: HashMap<ValueId, ValueId>,
    held: HashMap<ValueId, DataType>,
}

/// Computes everything around products in float32.
pub(crate) fn widen(graph: &mut Graph) -> Result<WidenedValues> {
    let multiplies = |node: &Node| {
        let input = node.inputs.first().copied().flatten();
        PRODUCTS.contains(&node.operator.name)
            && input.is_some_and(|id| is_low(graph.value(id).ty.dtype))
    };
    if !graph.nodes.iter().any(multiplies) {
        return Ok(WidenedValues::default());
    }
    let all = std::mem::take(&mut graph.nodes);
    let mut pass = Pass {
        nodes: Vec::with_capacity(all.len()),
        graph,
        wide: HashMap::new(),
        low: HashMap::new(),
        held: HashMap::new(),
    };
    for node in all {
        pass.take(node)?;
    }
    for index in 0..pass.graph.outputs.len() {
        let id = pass.graph.outputs[index].value;
        pass.graph.outputs[index].value = pass.lower(id)?;
    }
    let held = WidenedValues(pass.held);
    pass.graph.nodes = pass.nodes;
    clean::remove_identities(graph);
    Ok(held)
}

impl Pass<'_> {
    fn ty(&self, id: ValueId) -> &TensorType {
        &self.graph.value(id).ty
    }

    /// Adds a conversion.
    fn cast(&mut self, id: ValueId, dtype: DataType) -> Result<ValueId> {
        let cast = find("Cast").ok_or_else(|| GraphError::internal("there is no Cast"))?;
        let value = self.graph.value(id);
        let name = format!("{}/{dtype}", value.name);
        let ty = TensorType {
            dtype,
            ..value.ty.clone()
        };
        let to = self.graph.add_value(name.clone(), ty);
        self.nodes.push(Node {
            name,
            operator: cast,
            inputs: vec![Some(id)],
            outputs: vec![to],
            attrs: Attrs::new().with("dst_type", i64::from(dtype.acl())),
            bodies: Vec::new(),
        });
        Ok(to)
    }

    /// Returns the float32 that stands for a value of 16 bits.
    fn widen(&mut self, id: ValueId) -> Result<ValueId> {
        if let Some(&wide) = self.wide.get(&id) {
            return Ok(wide);
        }
        let dtype = self.ty(id).dtype;
        let wide = match self.graph.value(id).constant.clone() {
            Some(tensor) => {
                let name = format!("{}/float32", self.graph.value(id).name);
                self.graph.add_known(name, in_float32(&tensor)?)
            }
            None => self.cast(id, DataType::Float32)?,
        };
        self.wide.insert(id, wide);
        self.low.insert(wide, id);
        self.held.insert(wide, dtype);
        Ok(wide)
    }

    /// Returns a value as the model has it.
    fn lower(&mut self, id: ValueId) -> Result<ValueId> {
        // What has no type of its own any more was changed in place.
        let changed = self.wide.get(&id) == Some(&id);
        let Some(&dtype) = self.held.get(&id).filter(|_| changed) else {
            return Ok(id);
        };
        if let Some(&low) = self.low.get(&id) {
            return Ok(low);
        }
        let low = self.cast(id, dtype)?;
        self.low.insert(id, low);
        Ok(low)
    }

    /// Adds a node, in float32 where that is possible.
    fn take(&mut self, node: Node) -> Result<()> {
        let low_input = |id: &ValueId| is_low(self.ty(*id).dtype) || self.wide.contains_key(id);
        let touched = node.inputs.iter().flatten().any(low_input)
            || node.outputs.iter().any(|id| is_low(self.ty(*id).dtype));
        if !touched {
            self.nodes.push(node);
            return Ok(());
        }
        if self.take_wide(&node)? {
            return Ok(());
        }
        let mut node = node;
        for input in node.inputs.iter_mut().flatten() {
            *input = self.lower(*input)?;
        }
        self.nodes.push(node);
        Ok(())
    }

    /// Adds a node in float32, if its results are then float32 instead of 16-bit types, and otherwise the same.
    fn take_wide(&mut self, node: &Node) -> Result<bool> {
        if !node.bodies.is_empty() || node.operator.name == "Bitcast" {
            return Ok(false);
        }
        let old: Vec<TensorType> = node.outputs.iter().map(|&id| self.ty(id).clone()).collect();
        let mut wide = node.clone();
        if node.operator.name == "Cast" && old.iter().any(|ty| is_low(ty.dtype)) {
            let float32 = i64::from(DataType::Float32.acl());
            wide.attrs.set("dst_type", float32);
        }
        // Types first: whether the operator takes float32 has to be known before conversions are added.
        let mut types = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            types.push(input.map(|id| {
                let mut ty = self.ty(id).clone();
                if is_low(ty.dtype) {
                    ty.dtype = DataType::Float32;
                }
                ty
            }));
        }
        let given: Vec<Option<&TensorType>> = types.iter().map(Option::as_ref).collect();
        let (_, constants) = self.graph.operands(node);
        let cx = jumar_ops::InferCx::new(&given, &constants, &wide.attrs);
        let Ok(new) = node.operator.infer(&cx) else {
            return Ok(false);
        };
        let fits = new.len() >= old.len()
            && old.iter().zip(&new).all(|(old, new)| {
                let wanted = match is_low(old.dtype) {
                    true => DataType::Float32,
                    false => old.dtype,
                };
                new.dtype == wanted && new.shape == old.shape
            });
        if !fits {
            return Ok(false);
        }
        for input in wide.inputs.iter_mut().flatten() {
            if is_low(self.ty(*input).dtype) {
                *input = self.widen(*input)?;
            }
        }
        if wide.operator.name == "Cast"
            && wide.inputs[0].is_some_and(|id| self.ty(id).dtype == DataType::Float32)
            && new[0].dtype == DataType::Float32
        {
            wide.operator = find("Identity").unwrap_or(wide.operator);
            wide.attrs = Attrs::new();
            // A conversion to 16 bits is the rounding alone.
            if let (Some(round), true) = (find(ROUND), is_low(old[0].dtype)) {
                wide.operator = round;
                wide.attrs.set("dst_type", i64::from(old[0].dtype.acl()));
            }
        }
        for (&id, ty) in node.outputs.iter().zip(&old) {
            if is_low(ty.dtype) {
                self.graph.value_mut(id).ty.dtype = DataType::Float32;
                self.wide.insert(id, id);
                self.held.insert(id, ty.dtype);
            }
        }
        self.nodes.push(wide);
        Ok(true)
    }
}

fn in_float32(tensor: &Tensor) -> Result<Tensor> {
    let cast = find("Cast").ok_or_else(|| GraphError::internal("there is no Cast"))?;
    let attrs = Attrs::new().with("dst_type", i64::from(DataType::Float32.acl()));
    Ok(compute(cast, &[Some(tensor)], &attrs)?.remove(0))
}

/// Rounds what is computed in float32 and holds a 16-bit type. Called when operators were joined: what has become part of another one is
/// not rounded.
pub(crate) fn round(graph: &mut Graph, held: &WidenedValues) -> Result<()> {
    if held.0.is_empty() {
        return Ok(());
    }
    let round = find(ROUND).ok_or_else(|| GraphError::internal("there is no rounding"))?;
    let mut rounded: HashMap<ValueId, ValueId> = HashMap::new();
    let exact = |graph: &Graph, rounded: &HashMap<ValueId, ValueId>, id: ValueId, dtype| {
        let value = graph.value(id);
        let known = value.constant.is_some() || rounded.contains_key(&id);
        value.ty.dtype != DataType::Float32 || (known && held.0.get(&id) == Some(&dtype))
    };
    let all = std::mem::take(&mut graph.nodes);
    for mut node in all {
        let low = |id: ValueId| is_low(graph.value(id).ty.dtype);
        let casts = node.operator.name == "Cast";
        // What is rounded by the node itself need not be rounded before.
        let rounds = node.operator.name == ROUND;
        let rounds_low = casts && node.outputs.iter().copied().any(low);
        let widens = casts && node.inputs.iter().flatten().copied().any(low);
        let stays = EXACT.contains(&node.operator.name);
        let from = node.inputs.clone();
        if !rounds && !rounds_low {
            for input in node.inputs.iter_mut().flatten() {
                *input = *rounded.get(input).unwrap_or(input);
            }
        }
        let outputs: Vec<(ValueId, DataType)> = node
            .outputs
            .iter()
            .filter_map(|&id| Some((id, *held.0.get(&id)?)))
            .collect();
        graph.nodes.push(node);
        for (id, dtype) in outputs {
            let as_they_are = from
                .iter()
                .flatten()
                .all(|&input| exact(graph, &rounded, input, dtype));
            if rounds || widens || (stays && as_they_are) {
                rounded.insert(id, id);
                continue;
            }
            let value = graph.value(id);
            let (name, ty) = (format!("{}/{dtype}", value.name), value.ty.clone());
            let to = graph.add_value(name.clone(), ty);
            graph.nodes.push(Node {
                name,
                operator: round,
                inputs: vec![Some(id)],
                outputs: vec![to],
                attrs: Attrs::new().with("dst_type", i64::from(dtype.acl())),
                bodies: Vec::new(),
            });
            rounded.insert(id, to);
        }
    }
    for output in &mut graph.outputs {
        output.value = *rounded.get(&output.value).unwrap_or(&output.value);
    }
    Ok(())
}

/// Lets convolutions of images in blocks, and products with packed matrices, round what they write, where a rounding is all that follows.
pub(crate) fn join_rounding(graph: &mut Graph) {
    let uses = Uses::of(graph);
    let mut nodes: Vec<Option<Node>> = std::mem::take(&mut graph.nodes)
        .into_iter()
        .map(Some)
        .collect();
    for index in 0..nodes.len() {
        let Some(node) = &nodes[index] else { continue };
        let next = match node.outputs[..] {
            [output] if ROUNDING.contains(&node.operator.name) => uses.only_reader(output),
            _ => None,
        };
        let Some(next) = next.filter(|_| {
            node.inputs
                .iter()
                .flatten()
                .all(|&id| !is_low(graph.value(id).ty.dtype))
        }) else {
            continue;
        };
        let Some(round) = nodes[next].take_if(|next| next.operator.name == ROUND) else {
            continue;
        };
        if let (Some(node), Some(dtype)) = (&mut nodes[index], round.attrs.get("dst_type")) {
            node.attrs.set("rounding", dtype.clone());
            node.outputs = round.outputs;
        }
    }
    graph.nodes = nodes.into_iter().flatten().collect();
}
