//! Computes sequences `[N, C, L]` and columns `[N, C, L, 1]` as images of height 1, `[N, C, 1, L]`.
//!
//! All three store the same elements in the same order. Convolutions over images of height 1 vectorise along the width.
//! Import writes a one-dimensional convolution as Unsqueeze, Conv2D, Squeeze. The pass keeps what follows at four dimensions,
//! so that the convolution fuses with it and the blocked layout continues from one convolution to the next.
//!
//! One dimension, that of the batch for example, may be dynamic: where two shapes have the same number of elements, one dimension
//! follows from the others.

use std::collections::HashMap;

use jumar_ops::{Aliasing, Attr, Attrs, Operator, Tensor, UNKNOWN, find};
use jumar_types::dtype::DataType;

use super::clean;
use super::layout::{ELEMENTWISE, PAIRS};
use crate::{Graph, Node, Result, ValueId};

/// Attributes of windows with one entry a dimension of the image.
const PER_DIMENSION: &[&str] = &["strides", "dilations", "ksize"];

struct Pass<'a> {
    graph: &'a mut Graph,
    nodes: Vec<Node>,
    /// The image of height 1 that holds the elements of a sequence or column.
    rows: HashMap<ValueId, ValueId>,
    /// Values that other values replace.
    instead: HashMap<ValueId, ValueId>,
}

/// Rewrites a graph.
///
/// # Errors
///
/// As the operators' shape inference: a rewritten node is valid where the original one was, so that an error is a defect.
pub(crate) fn compute_as_images(graph: &mut Graph) -> Result<()> {
    let all = std::mem::take(&mut graph.nodes);
    let mut pass = Pass {
        nodes: Vec::with_capacity(all.len()),
        rows: HashMap::new(),
        instead: HashMap::new(),
        graph,
    };
    for mut node in all {
        for input in node.inputs.iter_mut().flatten() {
            *input = *pass.instead.get(input).unwrap_or(input);
        }
        if !pass.rewrite(&node)? {
            pass.nodes.push(node);
        }
    }
    let (nodes, instead) = (pass.nodes, pass.instead);
    graph.nodes = nodes;
    for output in &mut graph.outputs {
        output.value = *instead.get(&output.value).unwrap_or(&output.value);
    }
    // A Squeeze whose output has no reader any more would keep the convolution from fusing.
    clean::remove_dead(graph);
    Ok(())
}

impl Pass<'_> {
    /// Returns the dimensions of float32, of which one at most is dynamic. With a dynamic one, none of the others is 0.
    fn dims(&self, id: ValueId) -> Option<&[i64]> {
        let ty = &self.graph.value(id).ty;
        let dims = &ty.shape[..];
        let dynamic = dims.iter().filter(|&&dim| dim == UNKNOWN).count();
        let fits = match dynamic {
            0 => true,
            1 => !dims.contains(&0),
            _ => false,
        };
        (ty.rank().is_some() && ty.dtype == DataType::Float32 && fits).then_some(dims)
    }

    /// Returns the shape of the image of height 1 that holds a sequence or column.
    fn row_shape(&self, id: ValueId) -> Option<[i64; 4]> {
        match *self.dims(id)? {
            [n, c, l] | [n, c, l, 1] | [n, c, 1, l] => Some([n, c, 1, l]),
            _ => None,
        }
    }

    fn row(&self, id: ValueId) -> Option<ValueId> {
        self.rows.get(&id).copied()
    }

    /// Computes a node on images of height 1. Returns whether it did; otherwise the node stays as it is.
    fn rewrite(&mut self, node: &Node) -> Result<bool> {
        let (Some(&Some(x)), &[output]) = (node.inputs.first(), &node.outputs[..]) else {
            return Ok(false);
        };
        if self.row_shape(x).is_none() || self.graph.value(x).constant.is_some() {
            return Ok(false);
        }
        let name = node.operator.name;
        if node.operator.aliasing == Aliasing::View {
            return Ok(self.view(x, output));
        }
        let computed = match name {
            "Conv2D" | "MaxPoolV3" | "AvgPoolV2" => self.window(node, x)?,
            "GlobalAveragePool" | "BatchNorm" => self.along(node, x)?,
            "ConcatD" => self.concat(node)?,
            _ if ELEMENTWISE.contains(&name) => self.along(node, x)?,
            _ if PAIRS.contains(&name) => self.pair(node, output)?,
            _ => None,
        };
        let Some(computed) = computed else {
            return Ok(false);
        };
        self.give_back(computed, output)?;
        Ok(true)
    }

    /// Notes which image of height 1 a reshaped value is; reads of that image use the original one.
    fn view(&mut self, x: ValueId, output: ValueId) -> bool {
        let (Some(from), Some(to)) = (self.row_shape(x), self.row_shape(output)) else {
            return false;
        };
        if from != to {
            return false;
        }
        let is_row = |pass: &Self, id: ValueId| pass.dims(id) == Some(&from[..]);
        let row = match self.row(x) {
            Some(row) => row,
            None if is_row(self, x) => x,
            None => {
                if is_row(self, output) {
                    self.rows.insert(x, output);
                }
                return false;
            }
        };
        if is_row(self, output) {
            self.instead.insert(output, row);
            return true;
        }
        self.rows.insert(output, row);
        false
    }

    /// Returns a value as an image of height 1.
    fn as_row(&mut self, id: ValueId) -> Result<Option<ValueId>> {
        if let Some(row) = self.row(id) {
            return Ok(Some(row));
        }
        let Some(shape) = self.row_shape(id) else {
            return Ok(None);
        };
        let row = self.reshape(id, &shape, None)?;
        if let Some(row) = row {
            self.rows.insert(id, row);
        }
        Ok(row)
    }

    /// Adds a Reshape, whose output is `into` or a new value.
    fn reshape(
        &mut self,
        id: ValueId,
        dims: &[i64],
        into: Option<ValueId>,
    ) -> Result<Option<ValueId>> {
        let name = self.graph.value(id).name.clone();
        if let (Some(constant), None) = (&self.graph.value(id).constant, into) {
            let known: Vec<usize> = dims.iter().map(|&dim| dim as usize).collect();
            let tensor = constant.reshaped(&known)?;
            return Ok(Some(self.graph.add_constant(format!("{name}/row"), tensor)));
        }
        let Some(operator) = find("Reshape") else {
            return Ok(None);
        };
        let shape = self
            .graph
            .add_constant(format!("{name}/row_shape"), Tensor::from_ints(dims));
        let inputs = vec![Some(id), Some(shape)];
        self.add(format!("{name}/row"), operator, inputs, Attrs::new(), into)
            .map(Some)
    }

    fn add(
        &mut self,
        name: String,
        operator: &'static Operator,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
        into: Option<ValueId>,
    ) -> Result<ValueId> {
        let mut node = Node {
            name: name.clone(),
            operator,
            inputs,
            outputs: Vec::new(),
            attrs,
            bodies: Vec::new(),
        };
        let output = match into {
            Some(output) => output,
            None => {
                let ty = self.graph.infer(&node)?.remove(0);
                self.graph.add_value(name, ty)
            }
        };
        node.outputs.push(output);
        self.nodes.push(node);
        Ok(output)
    }

    /// Adds the node that computes on images of height 1.
    fn compute(
        &mut self,
        node: &Node,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
    ) -> Result<Option<ValueId>> {
        let name = format!("{}/row", node.name);
        self.add(name, node.operator, inputs, attrs, None).map(Some)
    }

    /// Makes the original output a view of the computed image.
    fn give_back(&mut self, row: ValueId, output: ValueId) -> Result<()> {
        let dims = self.graph.value(output).ty.shape.clone();
        if self.dims(row) == Some(&dims[..]) {
            self.instead.insert(output, row);
        } else {
            self.rows.insert(output, row);
            self.reshape(row, &dims, Some(output))?;
        }
        Ok(())
    }

    /// Computes a convolution or pooling over a column. A window over an image of height 1 stays as it is.
    fn window(&mut self, node: &Node, x: ValueId) -> Result<Option<ValueId>> {
        let Some(&[_, _, length, 1]) = self.dims(x) else {
            return Ok(None);
        };
        let planar =
            matches!(node.attrs.get("data_format"), Some(Attr::Str(format)) if format == "NCHW");
        // The window leaves the width at 1 where nothing is added on the left or right.
        let mut attrs = node.attrs.clone();
        for &name in PER_DIMENSION {
            if let Some(Attr::Ints(list)) = node.attrs.get(name) {
                let &[batch, channels, along, across] = &list[..] else {
                    return Ok(None);
                };
                if name == "ksize" && across != 1 {
                    return Ok(None);
                }
                attrs.set(name, vec![batch, channels, across, along]);
            }
        }
        if let Some(Attr::Ints(pads)) = node.attrs.get("pads") {
            let &[top, bottom, 0, 0] = &pads[..] else {
                return Ok(None);
            };
            attrs.set("pads", vec![0, 0, top, bottom]);
        }
        if length == 1 || !planar {
            return Ok(None);
        }
        let mut inputs = node.inputs.clone();
        if let Some(Some(filter)) = node.inputs.get(1).copied() {
            let Some(&[outputs, channels, along, 1]) = self.dims(filter) else {
                return Ok(None);
            };
            inputs[1] = self.reshape(filter, &[outputs, channels, 1, along], None)?;
        }
        inputs[0] = self.as_row(x)?;
        self.compute(node, inputs, attrs)
    }

    /// Computes a function of one image whose other inputs are constants, if the image has a row already.
    fn along(&mut self, node: &Node, x: ValueId) -> Result<Option<ValueId>> {
        let constants = node.inputs[1..]
            .iter()
            .flatten()
            .all(|&id| self.graph.value(id).constant.is_some());
        let planar = match node.attrs.get("data_format") {
            Some(Attr::Str(format)) => format == "NCHW",
            _ => node.operator.name != "BatchNorm",
        };
        let Some(row) = self.row(x).filter(|_| constants && planar) else {
            return Ok(None);
        };
        let mut inputs = node.inputs.clone();
        inputs[0] = Some(row);
        self.compute(node, inputs, node.attrs.clone())
    }

    fn concat(&mut self, node: &Node) -> Result<Option<ValueId>> {
        let rank = node
            .inputs
            .first()
            .copied()
            .flatten()
            .and_then(|id| self.dims(id));
        let rank = rank.map_or(0, |dims| dims.len() as i64);
        let along = match node.attrs.get("concat_dim") {
            Some(Attr::Int(axis)) => *axis == 1 || *axis == 1 - rank,
            _ => false,
        };
        let rows: Option<Vec<Option<ValueId>>> = node
            .inputs
            .iter()
            .map(|id| self.row((*id)?).map(Some))
            .collect();
        let Some(rows) = rows.filter(|_| along) else {
            return Ok(None);
        };
        let mut attrs = node.attrs.clone();
        attrs.set("concat_dim", 1);
        self.compute(node, rows, attrs)
    }

    /// Computes a function of two images, or of an image and a constant that is one element or one a channel.
    fn pair(&mut self, node: &Node, output: ValueId) -> Result<Option<ValueId>> {
        let Some(shape) = self.row_shape(output) else {
            return Ok(None);
        };
        let mut inputs = Vec::with_capacity(node.inputs.len());
        let mut rows = 0;
        for &input in &node.inputs {
            let Some(id) = input else { return Ok(None) };
            if let Some(row) = self.row(id) {
                if self.dims(row) != Some(&shape[..]) {
                    return Ok(None);
                }
                rows += 1;
                inputs.push(Some(row));
                continue;
            }
            let value = self.graph.value(id);
            let (Some(_), Some(dims)) = (&value.constant, value.ty.dims()) else {
                return Ok(None);
            };
            let own = self.dims(output).map_or(0, |dims| dims.len());
            // The position of the channels, counted from the end.
            let channels = dims.len().checked_sub(own - 1);
            let per_channel = channels.is_some_and(|at| {
                dims.iter()
                    .enumerate()
                    .all(|(axis, &dim)| axis == at || dim == 1)
                    && dims[at] as i64 == shape[1]
            });
            let count: usize = dims.iter().product();
            if count == 1 {
                inputs.push(self.reshape(id, &[1], None)?);
            } else if per_channel {
                inputs.push(self.reshape(id, &[shape[1], 1, 1], None)?);
            } else {
                return Ok(None);
            }
        }
        if rows == 0 {
            return Ok(None);
        }
        self.compute(node, inputs, node.attrs.clone())
    }
}
