//! Joins what transformers are made of, as exporters write it out, into the operators that it was: normalisation,
//! GELU, attention; and products with constant matrices, packed, with what follows them.
//!
//! Each rule looks back from the last node of its pattern. Intermediate results that no other node reads
//! are removed afterwards.

use std::collections::HashMap;

use jumar_ops::{Attr, Attrs, TensorType, find, pack_matrix};
use jumar_types::dtype::DataType;

use super::clean;
use super::fuse::Uses;
use crate::{Graph, Node, ValueId};

/// The packed product, and where it takes bias and summand.
const LINEAR: &str = "jumar.Linear";
const BIAS: usize = 2;
const SUMMAND: usize = 3;
/// Matrices of fewer columns are not worth the columns that fill up their panel.
const SMALL: usize = 16;

/// The replacement of a pattern's last node.
struct New {
    operator: &'static str,
    inputs: Vec<Option<ValueId>>,
    attrs: Attrs,
}

/// Joins everything that this module knows.
pub(crate) fn fuse(graph: &mut Graph) {
    for rule in [layer_norm, rms_norm, gelu, swish] {
        rewrite(graph, rule);
    }
    clean::remove_dead(graph);
    for rule in [attention_by_position, attention_by_head] {
        rewrite(graph, rule);
        clean::remove_dead(graph);
    }
    pack_products(graph);
}

fn rewrite(graph: &mut Graph, rule: fn(&GraphView<'_>, &Node) -> Option<New>) {
    let uses = Uses::of(graph);
    for index in 0..graph.nodes.len() {
        let view = GraphView { graph, uses: &uses };
        let Some(new) = rule(&view, &graph.nodes[index]) else {
            continue;
        };
        let Some(operator) = find(new.operator) else {
            continue;
        };
        let old = &graph.nodes[index];
        let node = Node {
            name: old.name.clone(),
            operator,
            inputs: new.inputs,
            outputs: old.outputs.clone(),
            attrs: new.attrs,
            bodies: Vec::new(),
        };
        // What would come out of the new node has to be what came out of the old one.
        let same = graph
            .infer(&node)
            .is_ok_and(|types| types.first() == Some(&graph.value(node.outputs[0]).ty));
        if same {
            graph.nodes[index] = node;
        }
    }
}

/// A graph, seen from its values back to the nodes that make them.
struct GraphView<'a> {
    graph: &'a Graph,
    uses: &'a Uses,
}

impl<'a> GraphView<'a> {
    /// Finds the node that makes a value, if it is of this operator.
    fn node(&self, id: ValueId, operator: &str) -> Option<&'a Node> {
        let node = &self.graph.nodes[self.uses.producer[id.0 as usize]?];
        (node.operator.name == operator).then_some(node)
    }

    fn ty(&self, id: ValueId) -> &'a TensorType {
        &self.graph.value(id).ty
    }

    fn is_float(&self, id: ValueId) -> bool {
        self.ty(id).dtype == DataType::Float32
    }

    /// Returns the one number that a constant holds.
    fn number(&self, id: ValueId) -> Option<f64> {
        let constant = self.graph.value(id).constant.as_ref()?;
        if constant.len() != 1 {
            return None;
        }
        constant.floats()?.first().copied()
    }

    fn is_number(&self, id: ValueId, wanted: f64) -> bool {
        self.number(id)
            .is_some_and(|number| (number - wanted).abs() <= 1e-5 * wanted.abs())
    }

    fn ints(&self, id: ValueId) -> Option<Vec<i64>> {
        self.graph.value(id).constant.as_ref()?.ints()
    }

    /// Returns whether a value is the square of another.
    fn is_square(&self, id: ValueId, of: ValueId) -> bool {
        if let Some(Some([base, power])) = self.node(id, "Pow").map(pair) {
            return self.same(base, of) && self.is_number(power, 2.0);
        }
        self.node(id, "Mul")
            .and_then(pair)
            .is_some_and(|[one, two]| self.same(one, of) && self.same(two, of))
    }

    /// Returns whether two values are one, or what is left of one value when its mean is taken away.
    fn same(&self, one: ValueId, two: ValueId) -> bool {
        let centred = |id| {
            let [x, mean] = pair(self.node(id, "Sub")?)?;
            (self.mean(mean) == Some(x)).then_some(x)
        };
        one == two || centred(one).is_some_and(|x| Some(x) == centred(two))
    }

    /// Finds what a mean over the last dimension, which stays as one of 1, is the mean of.
    fn mean(&self, id: ValueId) -> Option<ValueId> {
        let node = self.node(id, "ReduceMean")?;
        let (x, axes) = (node.inputs[0]?, node.inputs.get(1).copied().flatten()?);
        let last = self.ty(x).rank()? as i64 - 1;
        let over_last = matches!(self.ints(axes)?[..], [axis] if axis == -1 || axis == last);
        let kept = node.attrs.get("keep_dims") == Some(&Attr::Bool(true));
        (over_last && kept).then_some(x)
    }

    /// Returns whether a value has one number for each element of the last dimension of `x`.
    fn is_row_of(&self, id: ValueId, x: ValueId) -> bool {
        let last = self.ty(x).shape.last();
        self.ty(x).rank().is_some()
            && self.is_float(id)
            && matches!((&self.ty(id).shape[..], last), ([own], Some(last)) if own == last && *own > 0)
    }

    /// Takes the root of a mean of squares apart: what is squared, and what is added to the mean.
    fn deviation(&self, id: ValueId) -> Option<(ValueId, f64)> {
        let sum = self.node(self.node(id, "Sqrt")?.inputs[0]?, "Add")?;
        both(sum).find_map(|[variance, epsilon]| {
            let squares = self.mean(variance)?;
            let base = match self.node(squares, "Pow") {
                Some(power) => power.inputs[0]?,
                None => self.node(squares, "Mul")?.inputs[0]?,
            };
            let epsilon = self.number(epsilon)?;
            self.is_square(squares, base).then_some((base, epsilon))
        })
    }

    /// Finds what was transposed, and how.
    fn transposed(&self, id: ValueId, order: [i64; 4]) -> Option<ValueId> {
        let node = self.node(id, "Transpose")?;
        let found = self.ints(node.inputs.get(1).copied().flatten()?)?;
        (found == order).then_some(node.inputs[0]?)
    }

    fn is_read_once(&self, id: ValueId) -> bool {
        self.uses.only_reader(id).is_some()
    }
}

/// The two inputs of a node that has just two.
fn pair(node: &Node) -> Option<[ValueId; 2]> {
    match node.inputs[..] {
        [Some(one), Some(two)] => Some([one, two]),
        _ => None,
    }
}

/// The two inputs of a node, in either order.
fn both(node: &Node) -> impl Iterator<Item = [ValueId; 2]> {
    pair(node)
        .into_iter()
        .flat_map(|[one, two]| [[one, two], [two, one]])
}

/// `(x - mean) / deviation * gain + offset`.
fn layer_norm(view: &GraphView<'_>, node: &Node) -> Option<New> {
    if node.operator.name != "Add" {
        return None;
    }
    both(node).find_map(|[scaled, offset]| {
        both(view.node(scaled, "Mul")?).find_map(|[normed, gain]| {
            let [centred, root] = pair(view.node(normed, "RealDiv")?)?;
            let (squared, epsilon) = view.deviation(root)?;
            let [x, mean] = pair(view.node(centred, "Sub")?)?;
            let fits = view.is_float(x)
                && view.mean(mean) == Some(x)
                && view.same(squared, centred)
                && view.is_row_of(gain, x)
                && view.is_row_of(offset, x);
            fits.then(|| New {
                operator: "LayerNormV3",
                inputs: vec![Some(x), Some(gain), Some(offset)],
                attrs: Attrs::new()
                    .with("begin_norm_axis", -1)
                    .with("begin_params_axis", -1)
                    .with("epsilon", epsilon as f32),
            })
        })
    })
}

/// `x / root of the mean square * gain`.
fn rms_norm(view: &GraphView<'_>, node: &Node) -> Option<New> {
    if node.operator.name != "Mul" {
        return None;
    }
    both(node).find_map(|[normed, gain]| {
        let [x, root] = match view.node(normed, "RealDiv") {
            Some(quotient) => pair(quotient)?,
            None => both(view.node(normed, "Mul")?)
                .find_map(|[x, inverse]| Some([x, view.node(inverse, "Reciprocal")?.inputs[0]?]))?,
        };
        let (squared, epsilon) = view.deviation(root)?;
        let fits = view.is_float(x) && squared == x && view.is_row_of(gain, x);
        fits.then(|| New {
            operator: "RmsNorm",
            inputs: vec![Some(x), Some(gain)],
            attrs: Attrs::new()
                .with("begin_norm_axis", -1)
                .with("epsilon", epsilon as f32),
        })
    })
}

/// The factors of a product of three, in every grouping.
fn factors(view: &GraphView<'_>, node: &Node) -> Vec<[ValueId; 3]> {
    both(node)
        .filter_map(|[outer, inner]| {
            let [one, two] = pair(view.node(inner, "Mul")?)?;
            Some([outer, one, two])
        })
        .collect()
}

/// `x / 2 * (1 + erf(x / root 2))`, and the same with a hyperbolic tangent.
fn gelu(view: &GraphView<'_>, node: &Node) -> Option<New> {
    if node.operator.name != "Mul" || !view.is_float(node.outputs[0]) {
        return None;
    }
    for [a, b, c] in factors(view, node) {
        for [half, bent, x] in [
            [a, b, c],
            [a, c, b],
            [b, a, c],
            [b, c, a],
            [c, a, b],
            [c, b, a],
        ] {
            if !view.is_number(half, 0.5) {
                continue;
            }
            let Some(sum) = view.node(bent, "Add") else {
                continue;
            };
            for [inner, one] in both(sum) {
                if !view.is_number(one, 1.0) {
                    continue;
                }
                let form = match (view.node(inner, "Erf"), view.node(inner, "Tanh")) {
                    (Some(erf), _) if is_over_root_two(view, erf.inputs[0]?, x) => "none",
                    (_, Some(tanh)) if is_near_gelu(view, tanh.inputs[0]?, x) => "tanh",
                    _ => continue,
                };
                return Some(New {
                    operator: "GeluV2",
                    inputs: vec![Some(x)],
                    attrs: Attrs::new().with("approximate", form),
                });
            }
        }
    }
    None
}

fn is_over_root_two(view: &GraphView<'_>, id: ValueId, x: ValueId) -> bool {
    let quotient = view.node(id, "RealDiv").and_then(pair);
    let product = view.node(id, "Mul");
    quotient.is_some_and(|[own, by]| own == x && view.is_number(by, std::f64::consts::SQRT_2))
        || product.is_some_and(|node| {
            both(node)
                .any(|[own, by]| own == x && view.is_number(by, std::f64::consts::FRAC_1_SQRT_2))
        })
}

/// The root of 2 / pi times x + 0.044715 x^3.
fn is_near_gelu(view: &GraphView<'_>, id: ValueId, x: ValueId) -> bool {
    let is_cube = |id: ValueId| {
        let power = view.node(id, "Pow").and_then(pair);
        power.is_some_and(|[base, power]| base == x && view.is_number(power, 3.0))
            || view.node(id, "Mul").is_some_and(|node| {
                both(node).any(|[own, square]| own == x && view.is_square(square, x))
            })
    };
    let is_bent = |id: ValueId| {
        view.node(id, "Mul").is_some_and(|node| {
            both(node).any(|[cube, by]| is_cube(cube) && view.is_number(by, 0.044_715))
        })
    };
    view.node(id, "Mul").is_some_and(|node| {
        both(node).any(|[sum, by]| {
            view.is_number(by, 0.797_884_560_802_865_4)
                && view
                    .node(sum, "Add")
                    .is_some_and(|node| both(node).any(|[own, bent]| own == x && is_bent(bent)))
        })
    })
}

/// `x * sigmoid(x)`.
fn swish(view: &GraphView<'_>, node: &Node) -> Option<New> {
    if node.operator.name != "Mul" || !view.is_float(node.outputs[0]) {
        return None;
    }
    both(node).find_map(|[x, bent]| {
        let inner = view.node(bent, "Sigmoid")?.inputs[0]?;
        (inner == x).then(|| New {
            operator: "Swish",
            inputs: vec![Some(x)],
            attrs: Attrs::new().with("scale", 1.0f32),
        })
    })
}

/// What attention reads, with the keys still turned around.
struct Scores {
    query: ValueId,
    turned_key: ValueId,
    value: ValueId,
    scale: f32,
    mask: Option<ValueId>,
}

/// Takes the product of weights and values apart.
fn scores(view: &GraphView<'_>, node: &Node) -> Option<Scores> {
    let plain = |node: &Node| {
        let turned = ["adj_x1", "adj_x2"].iter().any(|name| {
            node.attrs
                .get(name)
                .is_some_and(|attr| *attr != Attr::Bool(false))
        });
        if turned { None } else { pair(node) }
    };
    if node.operator.name != "BatchMatMulV2" || !view.is_float(node.outputs[0]) {
        return None;
    }
    let [weights, value] = plain(node)?;
    let softmax = view.node(weights, "SoftmaxV2")?;
    let over_last = match softmax.attrs.get("axes") {
        None => true,
        Some(Attr::Ints(axes)) => matches!(axes[..], [-1 | 3]),
        Some(_) => false,
    };
    let mut inner = softmax.inputs[0]?;
    if !over_last || view.ty(inner).rank() != Some(4) || !view.is_read_once(weights) {
        return None;
    }
    let ty = view.ty(inner).clone();
    let mut mask = None;
    if let Some(sum) = view.node(inner, "Add") {
        let (scaled, own) = both(sum)
            .find_map(|[scaled, mask]| scaled_product(view, scaled).map(|_| (scaled, mask)))?;
        if *view.ty(scaled) != ty || !view.is_float(own) {
            return None;
        }
        (inner, mask) = (scaled, Some(own));
    }
    let (product, scale) = scaled_product(view, inner)?;
    let [query, turned_key] = plain(product)?;
    let known = [query, turned_key, value]
        .iter()
        .all(|&id| view.ty(id).rank() == Some(4) && view.ty(id).elements().is_some());
    known.then_some(Scores {
        query,
        turned_key,
        value,
        scale: scale as f32,
        mask,
    })
}

/// Finds the product of queries and keys, and what it is multiplied by.
fn scaled_product<'a>(view: &GraphView<'a>, id: ValueId) -> Option<(&'a Node, f64)> {
    if !view.is_read_once(id) {
        return None;
    }
    if let Some(product) = view.node(id, "BatchMatMulV2") {
        return Some((product, 1.0));
    }
    let (inner, scale) = if let Some(quotient) = view.node(id, "RealDiv") {
        let [inner, by] = pair(quotient)?;
        (inner, 1.0 / view.number(by)?)
    } else {
        both(view.node(id, "Mul")?).find_map(|[inner, by]| Some((inner, view.number(by)?)))?
    };
    let product = view.node(inner, "BatchMatMulV2")?;
    // A number of more dimensions than the product would give it more, too.
    let fits = view.ty(inner) == view.ty(id) && view.is_read_once(inner) && scale.is_finite();
    fits.then_some((product, scale))
}

const SWAPPED: [i64; 4] = [0, 2, 1, 3];

fn attend(inputs: [ValueId; 3], scores: &Scores, heads: i64) -> New {
    New {
        operator: "jumar.Attention",
        inputs: inputs.into_iter().map(Some).chain([scores.mask]).collect(),
        attrs: Attrs::new()
            .with("scale", scores.scale)
            .with("masked_rows_are_nan", true)
            .with("q_num_heads", heads)
            .with("kv_num_heads", heads),
    }
}

/// Attention whose operands lie position by position: nothing is transposed.
fn attention_by_position(view: &GraphView<'_>, node: &Node) -> Option<New> {
    if node.operator.name != "Reshape" {
        return None;
    }
    let context = view.transposed(node.inputs[0]?, SWAPPED)?;
    let found = scores(view, view.node(context, "BatchMatMulV2")?)?;
    // The heads of [batch, sequence, heads, size], which were [batch, sequence, heads * size].
    let unsplit = |id: ValueId| {
        let [batch, sequence, heads, size] = view.ty(id).shape[..] else {
            return None;
        };
        let unsplit = view.node(id, "Reshape")?.inputs[0]?;
        (view.ty(unsplit).shape == [batch, sequence, heads.checked_mul(size)?]).then_some(unsplit)
    };
    let query = view.transposed(found.query, SWAPPED)?;
    let key = match view.transposed(found.turned_key, [0, 2, 3, 1]) {
        Some(key) => key,
        None => view.transposed(view.transposed(found.turned_key, [0, 1, 3, 2])?, SWAPPED)?,
    };
    let value = view.transposed(found.value, SWAPPED)?;
    let heads = view.ty(query).shape[2];
    let equal = [key, value]
        .iter()
        .all(|&id| view.ty(id).shape.get(2) == Some(&heads));
    let inputs = [unsplit(query)?, unsplit(key)?, unsplit(value)?];
    (equal && view.is_read_once(context)).then(|| attend(inputs, &found, heads))
}

/// Attention whose operands lie head by head.
fn attention_by_head(view: &GraphView<'_>, node: &Node) -> Option<New> {
    let found = scores(view, node)?;
    let key = view.transposed(found.turned_key, [0, 1, 3, 2])?;
    let outer = |id: ValueId| view.ty(id).shape.get(..2);
    let equal = outer(found.query) == outer(key) && outer(key) == outer(found.value);
    equal.then(|| attend([found.query, key, found.value], &found, 0))
}

/// A product with a constant matrix: where the matrix is, and whether its rows are the columns of the product.
fn constant_matrix(graph: &Graph, node: &Node) -> Option<(ValueId, bool)> {
    let (one, two) = match node.operator.name {
        "BatchMatMulV2" => ("adj_x1", "adj_x2"),
        "MatMulV2" | "MatMul" => ("transpose_x1", "transpose_x2"),
        _ => return None,
    };
    let is_set = |name: &str| node.attrs.get(name) == Some(&Attr::Bool(true));
    let (x, matrix) = (node.inputs[0]?, node.inputs[1]?);
    let constant = graph.value(matrix).constant.as_ref()?;
    let dims = constant.ty().dims()?;
    let fits = dims.len() == 2
        && constant.ty().dtype == DataType::Float32
        && graph.value(x).ty.rank().is_some_and(|rank| rank >= 2)
        && !is_set(one)
        && dims[0] > 0
        && dims[usize::from(!is_set(two))] >= SMALL;
    fits.then(|| (matrix, is_set(two)))
}

/// Packs the constant matrices of products, and takes in what follows these.
fn pack_products(graph: &mut Graph) {
    let Some(linear) = find(LINEAR) else { return };
    let uses = Uses::of(graph);
    let mut packed: HashMap<(ValueId, bool), Option<ValueId>> = HashMap::new();
    let mut nodes: Vec<Option<Node>> = Vec::with_capacity(graph.nodes.len());
    let found: Vec<_> = graph
        .nodes
        .iter()
        .map(|node| constant_matrix(graph, node))
        .collect();
    // How many columns the product of a node has, where its form can be packed.
    let product_columns: Vec<Option<i64>> = graph
        .nodes
        .iter()
        .zip(&found)
        .map(|(node, found)| {
            let (matrix, turned) = (*found)?;
            let &[first, second] = &graph.value(matrix).ty.shape[..] else {
                return None;
            };
            let columns = if turned { first } else { second };
            let bias = node.inputs.get(BIAS).copied().flatten();
            let bias_fits = bias.is_none_or(|id| graph.value(id).ty.shape == [columns]);
            (bias_fits && node.inputs.len() <= SUMMAND).then_some(columns)
        })
        .collect();
    nodes.extend(std::mem::take(&mut graph.nodes).into_iter().map(Some));
    for index in 0..nodes.len() {
        let (Some((matrix, turned)), Some(columns)) = (found[index], product_columns[index]) else {
            continue;
        };
        if nodes[index].is_none() {
            continue;
        }
        let id = *packed.entry((matrix, turned)).or_insert_with(|| {
            // If another node reads the matrix, too, a packed one would be a second one.
            let readers = &uses.readers[matrix.0 as usize];
            let alone = readers
                .iter()
                .all(|&reader| found[reader] == Some((matrix, turned)));
            if !alone {
                return None;
            }
            let value = graph.value(matrix);
            let new = pack_matrix(value.constant.as_ref()?, turned)?;
            let name = format!("{}/packed", value.name);
            // A large model is not to be in memory twice: unread values are removed at once.
            let is_read = uses.is_output(matrix)
                || readers
                    .iter()
                    .any(|&reader| product_columns[reader].is_none());
            if !is_read {
                graph.value_mut(matrix).constant = None;
            }
            Some(graph.add_constant(name, new))
        });
        // A node without a packed matrix stays as it is.
        let Some((id, mut node)) = id.and_then(|id| Some((id, nodes[index].take()?))) else {
            continue;
        };
        node.operator = linear;
        node.inputs.resize(SUMMAND + 1, None);
        node.inputs[1] = Some(id);
        node.attrs = Attrs::new().with("columns", columns);
        let mut at = index;
        while let Some(next) = uses.only_reader(node.outputs[0]) {
            let Some(follower) = &nodes[next] else { break };
            if !take(graph, &mut node, follower) {
                break;
            }
            node.outputs.clone_from(&follower.outputs);
            nodes[next] = None;
            at = next;
        }
        nodes[at] = Some(node);
    }
    graph.nodes = nodes.into_iter().flatten().collect();
}

/// Takes the follower of a packed product in, if it can be.
fn take(graph: &Graph, node: &mut Node, follower: &Node) -> bool {
    if node.attrs.get("activation").is_some() {
        return false;
    }
    let own = node.outputs[0];
    let ty = &graph.value(own).ty;
    if graph.value(follower.outputs[0]).ty != *ty {
        return false;
    }
    let activation = match follower.operator.name {
        "Add" => {
            let Some([one, two]) = pair(follower) else {
                return false;
            };
            let other = if one == own { two } else { one };
            let other_ty = &graph.value(other).ty;
            if other == own || other_ty.dtype != DataType::Float32 {
                return false;
            }
            let is_row = other_ty.shape.len() == 1 && other_ty.shape.last() == ty.shape.last();
            if is_row && node.inputs[BIAS].is_none() && node.inputs[SUMMAND].is_none() {
                node.inputs[BIAS] = Some(other);
                return true;
            }
            if other_ty == ty && ty.elements().is_some() && node.inputs[SUMMAND].is_none() {
                node.inputs[SUMMAND] = Some(other);
                return true;
            }
            return false;
        }
        "Relu" => "relu",
        "Tanh" => "tanh",
        "Sigmoid" => "sigmoid",
        "Gelu" => "gelu_tanh",
        "GeluV2" => match follower.attrs.get("approximate") {
            Some(Attr::Str(form)) if form == "tanh" => "gelu_tanh",
            _ => "gelu",
        },
        "Swish" => match follower.attrs.get("scale") {
            None | Some(&Attr::Float(1.0)) => "swish",
            Some(_) => return false,
        },
        _ => return false,
    };
    node.attrs.set("activation", activation);
    true
}
