//! Joins a convolution with what follows it: normalisation into its weights, a sum and bounds into its epilogue.

use jumar_ops::{Attr, Tensor, find};
use jumar_types::dtype::DataType;

use crate::{Graph, Node, ValueId};

/// The fused convolution, and the input at which it takes the summand.
const FUSED: &str = "jumar.Conv2D";
const RESIDUAL: usize = 3;

/// Who reads each value.
pub(super) struct Uses {
    pub(super) readers: Vec<Vec<usize>>,
    pub(super) producer: Vec<Option<usize>>,
    is_output: Vec<bool>,
}

impl Uses {
    pub(super) fn of(graph: &Graph) -> Uses {
        let count = graph.values.len();
        let mut uses = Uses {
            readers: vec![Vec::new(); count],
            producer: vec![None; count],
            is_output: vec![false; count],
        };
        for (index, node) in graph.nodes.iter().enumerate() {
            for input in node.inputs.iter().flatten() {
                uses.readers[input.0 as usize].push(index);
            }
            for output in &node.outputs {
                uses.producer[output.0 as usize] = Some(index);
            }
        }
        for output in &graph.outputs {
            uses.is_output[output.value.0 as usize] = true;
        }
        uses
    }

    /// Returns whether a value is one of the graph's outputs.
    pub(super) fn is_output(&self, id: ValueId) -> bool {
        self.is_output[id.0 as usize]
    }

    /// Returns the one node that reads a value, if there is just one.
    pub(super) fn only_reader(&self, id: ValueId) -> Option<usize> {
        match self.readers[id.0 as usize][..] {
            [reader] if !self.is_output[id.0 as usize] => Some(reader),
            _ => None,
        }
    }
}

/// What a convolution has taken in so far.
#[derive(Default)]
struct Taken {
    residual: Option<ValueId>,
    bounds: Option<(f32, f32)>,
}

/// Joins each convolution with what follows it.
pub(crate) fn fuse_convolutions(graph: &mut Graph) {
    let Some(fused) = find(FUSED) else { return };
    let uses = Uses::of(graph);
    let mut nodes: Vec<Option<Node>> = std::mem::take(&mut graph.nodes)
        .into_iter()
        .map(Some)
        .collect();
    for index in 0..nodes.len() {
        let Some(mut conv) = nodes[index].take_if(|node| node.operator.name == "Conv2D") else {
            continue;
        };
        if graph.value(conv.outputs[0]).ty.dtype != DataType::Float32 {
            nodes[index] = Some(conv);
            continue;
        }
        let mut taken = Taken::default();
        let mut at = index;
        while let Some(next) = uses.only_reader(conv.outputs[0]) {
            let Some(follower) = &nodes[next] else { break };
            if !take(graph, &uses, &mut conv, &mut taken, follower, at) {
                break;
            }
            conv.outputs.clone_from(&follower.outputs);
            nodes[next] = None;
            at = next;
        }
        if taken.residual.is_some() || taken.bounds.is_some() {
            conv.operator = fused;
            conv.inputs.resize(RESIDUAL + 1, None);
            conv.inputs[RESIDUAL] = taken.residual;
            if let Some((low, high)) = taken.bounds {
                conv.attrs.set("low", low);
                conv.attrs.set("high", high);
            }
        }
        nodes[at] = Some(conv);
    }
    graph.nodes = nodes.into_iter().flatten().collect();
}

/// Takes the follower in, if it can be.
fn take(
    graph: &mut Graph,
    uses: &Uses,
    conv: &mut Node,
    taken: &mut Taken,
    follower: &Node,
    at: usize,
) -> bool {
    // After bounds nothing more fits; before them a sum does; before that a normalisation.
    if taken.bounds.is_some() {
        return false;
    }
    match follower.operator.name {
        "BatchNorm" => taken.residual.is_none() && normalise(graph, conv, follower),
        "Add" => {
            let [Some(one), Some(two)] = follower.inputs[..] else {
                return false;
            };
            let other = if one == conv.outputs[0] { two } else { one };
            let late = uses.producer[other.0 as usize].is_some_and(|producer| producer > at);
            let same = graph.value(other).ty == graph.value(conv.outputs[0]).ty
                && graph.value(other).ty.elements().is_some();
            // Where the other summand comes later, its own convolution takes the sum in.
            if taken.residual.is_some() || one == two || late || !same {
                return false;
            }
            taken.residual = Some(other);
            true
        }
        "Relu" => {
            taken.bounds = Some((0.0, f32::INFINITY));
            true
        }
        "Relu6" => {
            taken.bounds = Some((0.0, 6.0));
            true
        }
        "ClipByValue" => {
            let bound = |index: usize| {
                let id = follower.inputs.get(index).copied().flatten()?;
                graph
                    .value(id)
                    .constant
                    .as_ref()?
                    .floats()?
                    .first()
                    .copied()
            };
            match (bound(1), bound(2)) {
                (Some(low), Some(high)) if follower.inputs[0] == Some(conv.outputs[0]) => {
                    taken.bounds = Some((low as f32, high as f32));
                    true
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Multiplies a normalisation by known numbers into the convolution's weights.
fn normalise(graph: &mut Graph, conv: &mut Node, norm: &Node) -> bool {
    if norm.inputs.first() != Some(&Some(conv.outputs[0]))
        || conv.attrs.get("data_format") != norm.attrs.get("data_format")
    {
        return false;
    }
    let floats = |id: Option<ValueId>| {
        graph
            .value(id?)
            .constant
            .as_ref()
            .filter(|t| t.ty().dtype == DataType::Float32)?
            .floats()
    };
    let Some(filter) = conv.inputs[1].and_then(|id| graph.value(id).constant.clone()) else {
        return false;
    };
    let Some(dims) = filter.ty().dims() else {
        return false;
    };
    if filter.ty().dtype != DataType::Float32 {
        return false;
    }
    let bias = match conv.inputs.get(2).copied().flatten() {
        None => vec![0.0; dims[0]],
        Some(id) => match floats(Some(id)) {
            Some(bias) => bias,
            None => return false,
        },
    };
    let [Some(scale), Some(offset), Some(mean), Some(variance)] =
        [1, 2, 3, 4].map(|index| floats(norm.inputs[index]))
    else {
        return false;
    };
    let epsilon = match norm.attrs.get("epsilon") {
        Some(&Attr::Float(epsilon)) => f64::from(epsilon),
        _ => return false,
    };
    let factors: Vec<f64> = scale
        .iter()
        .zip(&variance)
        .map(|(s, v)| s / (v + epsilon).sqrt())
        .collect();
    let shift: Vec<f32> = (0..dims[0])
        .map(|channel| {
            ((bias[channel] - mean[channel]) * factors[channel] + offset[channel]) as f32
        })
        .collect();
    let Ok(new) = filter.scaled(factors) else {
        return false;
    };
    let names = (
        format!("{}/filter", conv.name),
        format!("{}/bias", conv.name),
    );
    conv.inputs[1] = Some(graph.add_constant(names.0, new));
    conv.inputs.resize(conv.inputs.len().max(3), None);
    conv.inputs[2] = Some(graph.add_constant(names.1, Tensor::from_floats(&shift)));
    true
}
