//! Brings images into blocks of sixteen channels where convolutions gain by it.
//!
//! A convolution reads and writes blocks; what follows it stays in blocks as long as it can: pooling, sums and products
//! of images, functions of each element, joins of whole blocks. Images are brought back into planes where somebody needs
//! planes, and only there. Weights are packed here, once, and stored so.

use std::collections::HashMap;

use jumar_ops::packing::{LANES, pack_channels, pack_depthwise, pack_filter, takes_planes};
use jumar_ops::{Attr, Attrs, Operator, Tensor, TensorType, find};
use jumar_types::dtype::DataType;

use crate::{Graph, Node, Result, ValueId};

/// Functions of each element that leave what is finite finite, so that channels which fill a block up do no harm.
const ELEMENTWISE: &[&str] = &[
    "Relu",
    "Relu6",
    "ClipByValue",
    "Sigmoid",
    "HardSigmoid",
    "HardSwish",
    "Swish",
    "LeakyRelu",
    "Elu",
    "Tanh",
    "Mish",
    "Gelu",
    "Softplus",
    "Abs",
    "Neg",
];

/// Functions of two images.
const PAIRS: &[&str] = &["Add", "Sub", "Mul", "Maximum", "Minimum"];

/// Fewer channels than this are not worth a block.
const FEW: i64 = 8;

struct Pass<'a> {
    graph: &'a mut Graph,
    nodes: Vec<Node>,
    /// The image in blocks that holds the same as one in planes.
    blocked: HashMap<ValueId, ValueId>,
    /// Images that are there in planes.
    plain: Vec<bool>,
    /// How often each value is read, outputs counted.
    reads: Vec<usize>,
}

/// Lays images out in blocks.
pub(crate) fn block_images(graph: &mut Graph) -> Result<()> {
    let all = std::mem::take(&mut graph.nodes);
    let mut plain = vec![true; graph.values.len()];
    for output in all.iter().flat_map(|node| &node.outputs) {
        plain[output.0 as usize] = false;
    }
    let mut reads = vec![0; graph.values.len()];
    let read = all.iter().flat_map(|node| node.inputs.iter().flatten());
    for id in read.chain(graph.outputs.iter().map(|output| &output.value)) {
        reads[id.0 as usize] += 1;
    }
    let mut pass = Pass {
        graph,
        nodes: Vec::with_capacity(all.len()),
        blocked: HashMap::new(),
        plain,
        reads,
    };
    for node in all {
        if !pass.take(&node)? {
            for &input in node.inputs.iter().flatten() {
                pass.unblock(input)?;
            }
            for &output in &node.outputs {
                pass.plain[output.0 as usize] = true;
            }
            pass.nodes.push(node);
        }
    }
    let outputs: Vec<ValueId> = pass.graph.outputs.iter().map(|out| out.value).collect();
    for output in outputs {
        pass.unblock(output)?;
    }
    let nodes = pass.nodes;
    graph.nodes = nodes;
    Ok(())
}

impl Pass<'_> {
    fn operator(name: &str) -> Option<&'static Operator> {
        find(name)
    }

    fn ty(&self, id: ValueId) -> &TensorType {
        &self.graph.value(id).ty
    }

    fn constant(&self, id: Option<ValueId>) -> Option<Tensor> {
        self.graph.value(id?).constant.clone()
    }

    /// Gives the channels of an image that may lie in blocks.
    fn channels(&self, id: ValueId) -> Option<i64> {
        let ty = self.ty(id);
        match ty.shape[..] {
            [_, channels, _, _] if channels > 0 && ty.dtype == DataType::Float32 => Some(channels),
            _ => None,
        }
    }

    /// Adds a node; gives its output.
    fn add(
        &mut self,
        name: String,
        operator: &'static Operator,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
    ) -> Result<ValueId> {
        let mut node = Node {
            name: name.clone(),
            operator,
            inputs,
            outputs: Vec::new(),
            attrs,
            bodies: Vec::new(),
        };
        let ty = self.graph.infer(&node)?.remove(0);
        let output = self.graph.add_value(name, ty);
        self.plain.push(true);
        node.outputs.push(output);
        self.nodes.push(node);
        Ok(output)
    }

    fn add_constant(&mut self, name: String, tensor: Tensor) -> ValueId {
        self.plain.push(true);
        self.graph.add_constant(name, tensor)
    }

    /// Gives an image in blocks.
    fn block(&mut self, id: ValueId) -> Result<Option<ValueId>> {
        if let Some(&blocked) = self.blocked.get(&id) {
            return Ok(Some(blocked));
        }
        let Some(operator) = Self::operator("jumar.Block").filter(|_| self.channels(id).is_some())
        else {
            return Ok(None);
        };
        let name = format!("{}/blocks", self.graph.value(id).name);
        let blocked = self.add(name, operator, vec![Some(id)], Attrs::new())?;
        self.blocked.insert(id, blocked);
        Ok(Some(blocked))
    }

    /// Makes an image be there in planes.
    fn unblock(&mut self, id: ValueId) -> Result<()> {
        if self.plain[id.0 as usize] {
            return Ok(());
        }
        let (Some(&from), Some(channels), Some(operator)) = (
            self.blocked.get(&id),
            self.channels(id),
            Self::operator("jumar.Unblock"),
        ) else {
            return Ok(());
        };
        self.plain[id.0 as usize] = true;
        let shape = self.ty(id).dims();
        let single = matches!(shape.as_deref(), Some([_, _, 1, 1]));
        let name = format!("{}/planes", self.graph.value(id).name);
        let (operator, inputs, attrs) = match Self::operator("Reshape") {
            // One pixel in whole blocks: the same bytes.
            Some(reshape) if single && channels % LANES as i64 == 0 => {
                let dims: Vec<i64> = self.ty(id).shape.clone();
                let shape = self.add_constant(format!("{name}/shape"), Tensor::from_ints(&dims));
                (reshape, vec![Some(from), Some(shape)], Attrs::new())
            }
            _ => (
                operator,
                vec![Some(from)],
                Attrs::new().with("channels", channels),
            ),
        };
        self.nodes.push(Node {
            name,
            operator,
            inputs,
            outputs: vec![id],
            attrs,
            bodies: Vec::new(),
        });
        Ok(())
    }

    fn is_blocked(&self, id: ValueId) -> bool {
        self.blocked.contains_key(&id)
    }

    /// Computes a node in blocks if that is possible and worth it.
    fn take(&mut self, node: &Node) -> Result<bool> {
        let (Some(&Some(x)), &[output]) = (node.inputs.first(), &node.outputs[..]) else {
            return Ok(false);
        };
        if self.channels(output).is_none() || self.graph.value(x).constant.is_some() {
            return Ok(false);
        }
        let made = match node.operator.name {
            "Conv2D" | "jumar.Conv2D" => self.convolution(node, x, output)?,
            "BatchNorm" => self.normalisation(node, x)?,
            "MaxPoolV3" | "AvgPoolV2" | "GlobalAveragePool" => self.pool(node, x)?,
            "ConcatD" => self.concat(node)?,
            name if ELEMENTWISE.contains(&name) => self.elementwise(node, x)?,
            name if PAIRS.contains(&name) => self.pair(node, output)?,
            _ => None,
        };
        let Some(made) = made else { return Ok(false) };
        self.blocked.insert(output, made);
        Ok(true)
    }

    /// Adds the node that computes the same in blocks.
    fn replace(
        &mut self,
        node: &Node,
        operator: &'static Operator,
        inputs: Vec<Option<ValueId>>,
        attrs: Attrs,
    ) -> Result<Option<ValueId>> {
        self.add(node.name.clone(), operator, inputs, attrs)
            .map(Some)
    }

    fn convolution(&mut self, node: &Node, x: ValueId, output: ValueId) -> Result<Option<ValueId>> {
        let text = |name: &str| match node.attrs.get(name) {
            Some(Attr::Str(text)) => text.as_str(),
            _ => "",
        };
        let ints = |name: &str| match node.attrs.get(name) {
            Some(Attr::Ints(list)) => list.clone(),
            _ => Vec::new(),
        };
        let groups = match node.attrs.get("groups") {
            Some(Attr::Int(groups)) => *groups,
            _ => 1,
        };
        let (Some(channels), Some(outputs)) = (self.channels(x), self.channels(output)) else {
            return Ok(None);
        };
        let Some(filter) = self.constant(node.inputs[1]) else {
            return Ok(None);
        };
        let &[_, _, height, width] = &filter.ty().shape[..] else {
            return Ok(None);
        };
        if text("data_format") != "NCHW" || groups < 1 {
            return Ok(None);
        }
        let bias = node.inputs.get(2).copied().flatten();
        let residual = match node.operator.name {
            "jumar.Conv2D" => node.inputs.get(3).copied().flatten(),
            _ if node.inputs.get(3).copied().flatten().is_some() => return Ok(None),
            _ => None,
        };
        let packed_bias = match bias {
            None => None,
            Some(_) => match self.constant(bias).and_then(|bias| pack_channels(&bias)) {
                Some(bias) => Some(bias),
                None => return Ok(None),
            },
        };
        let depthwise = groups > 1 && groups == channels && groups == outputs;
        let strides = ints("strides");
        let dilations = ints("dilations");
        let near = dilations.is_empty() || dilations.iter().all(|&dilation| dilation == 1);
        let stride = strides.last().copied().unwrap_or(1).max(1);
        // An image of few channels is read where it lies.
        let planar = groups == 1
            && channels < FEW
            && !self.is_blocked(x)
            && near
            && takes_planes(
                channels as usize,
                [height as usize, width as usize],
                stride as usize,
            );
        let whole = |count: i64| (count / groups) % LANES as i64 == 0;
        let worth = match (depthwise, groups) {
            (true, _) => channels >= FEW,
            (false, 1) => outputs >= FEW && (planar || channels >= FEW || self.is_blocked(x)),
            (false, _) => whole(channels) && whole(outputs),
        };
        if !worth {
            return Ok(None);
        }
        let packed = match depthwise {
            true => pack_depthwise(&filter),
            false => pack_filter(&filter, groups as usize, planar),
        };
        let name = match depthwise {
            true => "jumar.BlockedDepthwiseConv2D",
            false => "jumar.BlockedConv2D",
        };
        let (Some(packed), Some(operator)) = (packed, Self::operator(name)) else {
            return Ok(None);
        };
        let x = if planar {
            self.unblock(x)?;
            x
        } else {
            match self.block(x)? {
                Some(x) => x,
                None => return Ok(None),
            }
        };
        let residual = match residual {
            None => None,
            Some(id) => match self.block(id)? {
                None => return Ok(None),
                blocked => blocked,
            },
        };
        let mut attrs = Attrs::new()
            .with("kernel", vec![height, width])
            .with("groups", if depthwise { 1 } else { groups });
        for name in ["strides", "pads", "dilations", "auto_pad", "low", "high"] {
            if let Some(value) = node.attrs.get(name) {
                attrs.set(name, value.clone());
            }
        }
        let filter = self.add_constant(format!("{}/packed", node.name), packed);
        let bias =
            packed_bias.map(|bias| self.add_constant(format!("{}/packed_bias", node.name), bias));
        self.replace(
            node,
            operator,
            vec![Some(x), Some(filter), bias, residual],
            attrs,
        )
    }

    /// A normalisation by known numbers is a window of one pixel over each channel.
    fn normalisation(&mut self, node: &Node, x: ValueId) -> Result<Option<ValueId>> {
        let channels = self.channels(x).unwrap_or(0) as usize;
        let training = !matches!(node.attrs.get("is_training"), Some(Attr::Bool(false)));
        let planes =
            matches!(node.attrs.get("data_format"), Some(Attr::Str(format)) if format == "NCHW");
        let Some(operator) = Self::operator("jumar.BlockedDepthwiseConv2D")
            .filter(|_| self.is_blocked(x) && !training && planes)
        else {
            return Ok(None);
        };
        let numbers = |index: usize| {
            self.constant(node.inputs.get(index).copied().flatten())?
                .floats()
        };
        let epsilon = match node.attrs.get("epsilon") {
            Some(Attr::Float(epsilon)) => f64::from(*epsilon),
            _ => 1e-4,
        };
        let (Some(scale), Some(offset), Some(mean), Some(variance)) =
            (numbers(1), numbers(2), numbers(3), numbers(4))
        else {
            return Ok(None);
        };
        if [&scale, &offset, &mean, &variance]
            .iter()
            .any(|numbers| numbers.len() != channels)
        {
            return Ok(None);
        }
        let factors: Vec<f64> = scale
            .iter()
            .zip(&variance)
            .map(|(scale, variance)| scale / (variance + epsilon).sqrt())
            .collect();
        let shift: Vec<f32> = (0..channels)
            .map(|at| (offset[at] - mean[at] * factors[at]) as f32)
            .collect();
        let factors: Vec<f32> = factors.iter().map(|&factor| factor as f32).collect();
        let filter = Tensor::from_floats(&factors).reshaped(&[channels, 1, 1, 1])?;
        let (Some(filter), Some(bias)) = (
            pack_depthwise(&filter),
            pack_channels(&Tensor::from_floats(&shift)),
        ) else {
            return Ok(None);
        };
        let Some(x) = self.block(x)? else {
            return Ok(None);
        };
        let filter = self.add_constant(format!("{}/scale", node.name), filter);
        let bias = self.add_constant(format!("{}/shift", node.name), bias);
        let attrs = Attrs::new()
            .with("kernel", vec![1, 1])
            .with("strides", vec![1; 4])
            .with("pads", vec![0; 4]);
        self.replace(
            node,
            operator,
            vec![Some(x), Some(filter), Some(bias)],
            attrs,
        )
    }

    fn pool(&mut self, node: &Node, x: ValueId) -> Result<Option<ValueId>> {
        let name = match node.operator.name {
            "MaxPoolV3" => "jumar.BlockedMaxPool",
            _ => "jumar.BlockedAvgPool",
        };
        let planes = match node.attrs.get("data_format") {
            Some(Attr::Str(format)) => format == "NCHW",
            _ => true,
        };
        // A window over planes takes longer than bringing them into blocks, where blocks are used at all.
        let window = node.operator.name != "GlobalAveragePool"
            && !matches!(node.attrs.get("global_pooling"), Some(Attr::Bool(true)))
            && !self.blocked.is_empty()
            && self.channels(x).is_some_and(|channels| channels >= FEW);
        let Some(operator) =
            Self::operator(name).filter(|_| (self.is_blocked(x) || window) && planes)
        else {
            return Ok(None);
        };
        let Some(from) = self.block(x)? else {
            return Ok(None);
        };
        let attrs = match node.operator.name {
            "GlobalAveragePool" => Attrs::new()
                .with("ksize", vec![1; 4])
                .with("strides", vec![1; 4])
                .with("global_pooling", true),
            _ => node.attrs.clone(),
        };
        self.replace(node, operator, vec![Some(from)], attrs)
    }

    fn concat(&mut self, node: &Node) -> Result<Option<ValueId>> {
        let along = matches!(
            node.attrs.get("concat_dim"),
            Some(Attr::Int(1)) | Some(Attr::Int(-3))
        );
        let inputs: Vec<ValueId> = node.inputs.iter().copied().flatten().collect();
        let last = inputs.len().saturating_sub(1);
        let whole = inputs.iter().enumerate().all(|(index, &id)| {
            self.channels(id)
                .is_some_and(|channels| index == last || channels % LANES as i64 == 0)
        });
        let most = inputs.iter().filter(|&&id| self.is_blocked(id)).count() * 2 > inputs.len();
        if !along || !whole || !most || inputs.len() != node.inputs.len() {
            return Ok(None);
        }
        let mut blocked = Vec::with_capacity(inputs.len());
        for id in inputs {
            let Some(id) = self.block(id)? else {
                return Ok(None);
            };
            blocked.push(Some(id));
        }
        let mut attrs = node.attrs.clone();
        attrs.set("concat_dim", 1);
        self.replace(node, node.operator, blocked, attrs)
    }

    fn elementwise(&mut self, node: &Node, x: ValueId) -> Result<Option<ValueId>> {
        let numbers = node.inputs[1..].iter().flatten().all(|&id| {
            let value = self.graph.value(id);
            value.constant.is_some() && value.ty.elements() == Some(1)
        });
        if !self.is_blocked(x) || !numbers {
            return Ok(None);
        }
        let alone = self.reads.get(x.0 as usize) == Some(&1);
        let Some(x) = self.block(x)? else {
            return Ok(None);
        };
        let bounds = match node.operator.name {
            "Relu" => Some((0.0, f32::INFINITY)),
            "Relu6" => Some((0.0, 6.0)),
            _ => None,
        };
        if let Some((low, high)) = bounds.filter(|_| alone)
            && self.bound(x, low, high)
        {
            return Ok(Some(x));
        }
        let mut inputs = node.inputs.clone();
        inputs[0] = Some(x);
        self.replace(node, node.operator, inputs, node.attrs.clone())
    }

    /// Lets the convolution that makes an image keep to bounds. Tells whether it can.
    fn bound(&mut self, x: ValueId, low: f32, high: f32) -> bool {
        let maker = self
            .nodes
            .iter_mut()
            .rev()
            .find(|node| node.outputs.first() == Some(&x));
        let Some(maker) = maker.filter(|maker| {
            maker.operator.name.starts_with("jumar.Blocked")
                && maker.operator.name.ends_with("Conv2D")
                && maker.attrs.get("low").is_none()
                && maker.attrs.get("high").is_none()
        }) else {
            return false;
        };
        maker.attrs.set("low", low);
        maker.attrs.set("high", high);
        true
    }

    /// Two images of as many channels, of which one may be a single pixel; or an image and a number.
    fn pair(&mut self, node: &Node, output: ValueId) -> Result<Option<ValueId>> {
        let [Some(one), Some(two)] = node.inputs[..] else {
            return Ok(None);
        };
        let number = |pass: &Self, id: ValueId| {
            let ty = pass.ty(id);
            ty.elements() == Some(1) && ty.shape.len() <= 4 && !pass.is_blocked(id)
        };
        let wanted = self.channels(output);
        let image = |pass: &Self, id: ValueId| pass.channels(id) == wanted;
        let (both, blocked) = (
            [one, two].map(|id| image(self, id)),
            [one, two].map(|id| self.is_blocked(id)),
        );
        let numbers = [one, two].map(|id| number(self, id));
        let fits = match (both, numbers) {
            ([true, true], _) => {
                // Bringing one into blocks is worth it where it saves bringing the other out.
                blocked == [true, true] || (blocked.contains(&true) && self.ty(one) == self.ty(two))
            }
            ([true, false], [_, true]) => blocked[0],
            ([false, true], [true, _]) => blocked[1],
            _ => false,
        };
        if !fits {
            return Ok(None);
        }
        let mut inputs = Vec::with_capacity(2);
        for (index, id) in [one, two].into_iter().enumerate() {
            if both[index] {
                let Some(id) = self.block(id)? else {
                    return Ok(None);
                };
                inputs.push(Some(id));
            } else {
                inputs.push(Some(id));
            }
        }
        self.replace(node, node.operator, inputs, node.attrs.clone())
    }
}
