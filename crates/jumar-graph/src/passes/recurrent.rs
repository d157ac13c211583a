//! Packs the constant weights of recurrent layers when a model is compiled, so that no execution has to.

use jumar_ops::pack_weights;

use super::fuse::Uses;
use crate::Graph;

/// The layers by the number of their gates.
const LAYERS: &[(&str, usize)] = &[("jumar.RNN", 1), ("CommonGRU", 3), ("CommonLSTM", 4)];

/// The inputs of a layer: the weights of its input and those of its state.
const WEIGHTS: [usize; 2] = [1, 2];

/// Packs the weights that no other node reads, and sets the attribute `packed` of their layers.
pub(crate) fn pack(graph: &mut Graph) {
    let uses = Uses::of(graph);
    for index in 0..graph.nodes.len() {
        let node = &graph.nodes[index];
        let Some((_, gates)) = LAYERS.iter().find(|(name, _)| *name == node.operator.name) else {
            continue;
        };
        let packed = WEIGHTS.map(|input| {
            let id = node.inputs.get(input).copied().flatten()?;
            let weights = graph.value(id).constant.as_ref()?;
            let packed = || pack_weights(weights, *gates);
            uses.only_reader(id)
                .and_then(|_| packed())
                .map(|packed| (id, packed))
        });
        let [Some(of_input), Some(of_state)] = packed else {
            continue;
        };
        for (id, weights) in [of_input, of_state] {
            graph.value_mut(id).constant = Some(weights);
        }
        graph.nodes[index].attrs.set("packed", 1);
    }
}
