//! Brings images into blocks of sixteen channels where convolutions gain by it.
//!
//! A convolution reads and writes blocks; what follows it stays in blocks as long as it can: pooling, sums and products
//! of images, functions of each element, joins of whole blocks. Images are converted back to planes if an operator needs
//! planes, and only there. Weights are packed here, once, and stored so.
//!
//! Where channels are only put in another order, nothing is moved: convolutions that follow take their weights in that order.

use std::collections::{HashMap, HashSet};

use jumar_ops::packing::{
    CHANNEL_BLOCK, pack_channels, pack_depthwise, pack_filter, pack_gathered, takes_planes,
};
use jumar_ops::{Attr, Attrs, Operator, Tensor, TensorType, find};
use jumar_types::dtype::DataType;

use crate::{Graph, Node, Result, ValueId};

/// Functions of each element that leave what is finite finite, so that channels which fill a block up do no harm.
pub(super) const ELEMENTWISE: &[&str] = &[
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
    "jumar.RoundTo16Bits",
];

/// Functions of two images.
pub(super) const PAIRS: &[&str] = &["Add", "Sub", "Mul", "Maximum", "Minimum"];

/// Fewer channels than this are not worth a block.
const FEW: i64 = 8;

struct Pass<'a> {
    graph: &'a mut Graph,
    nodes: Vec<Node>,
    /// The image in blocks that holds the same as one in planes.
    blocked: HashMap<ValueId, ValueId>,
    /// Images whose channels lie in the blocks of another one in another order: that image in blocks, and where each channel lies.
    shuffled: HashMap<ValueId, (ValueId, Vec<usize>)>,
    /// What need not be computed, because it was seen to be another order of channels.
    skipped: HashSet<ValueId>,
    /// Images that are there in planes.
    plain: Vec<bool>,
    /// How often each value is read, outputs counted.
    reads: Vec<usize>,
    /// The position of the last node that reads each value as its first input.
    reader: Vec<Option<usize>>,
    /// The position in `nodes` of the node that makes a value in blocks.
    maker: HashMap<ValueId, usize>,
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
    let mut reader = vec![None; graph.values.len()];
    for (index, node) in all.iter().enumerate() {
        if let Some(&Some(id)) = node.inputs.first() {
            reader[id.0 as usize] = Some(index);
        }
    }
    let mut pass = Pass {
        reader,
        maker: HashMap::new(),
        graph,
        nodes: Vec::with_capacity(all.len()),
        blocked: HashMap::new(),
        shuffled: HashMap::new(),
        skipped: HashSet::new(),
        plain,
        reads,
    };
    for node in &all {
        let skipped = node
            .outputs
            .iter()
            .all(|output| pass.skipped.contains(output));
        if skipped || pass.shuffle(node, &all) {
            continue;
        }
        if !pass.take(node)? {
            for &input in node.inputs.iter().flatten() {
                pass.unblock(input)?;
            }
            for &output in &node.outputs {
                pass.plain[output.0 as usize] = true;
            }
            pass.nodes.push(node.clone());
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

    /// Returns the channels of an image that may lie in blocks.
    fn channels(&self, id: ValueId) -> Option<i64> {
        let ty = self.ty(id);
        match ty.shape[..] {
            [_, channels, _, _] if channels > 0 && ty.dtype == DataType::Float32 => Some(channels),
            _ => None,
        }
    }

    /// Adds a node. Returns its output.
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
        self.maker.insert(output, self.nodes.len());
        self.nodes.push(node);
        Ok(output)
    }

    fn add_constant(&mut self, name: String, tensor: Tensor) -> ValueId {
        self.plain.push(true);
        self.graph.add_constant(name, tensor)
    }

    /// Returns an image in blocks.
    fn block(&mut self, id: ValueId) -> Result<Option<ValueId>> {
        if let Some(&blocked) = self.blocked.get(&id) {
            return Ok(Some(blocked));
        }
        self.unblock(id)?;
        let Some(operator) = Self::operator("jumar.Block").filter(|_| self.channels(id).is_some())
        else {
            return Ok(None);
        };
        let name = format!("{}/blocks", self.graph.value(id).name);
        let blocked = self.add(name, operator, vec![Some(id)], Attrs::new())?;
        self.blocked.insert(id, blocked);
        Ok(Some(blocked))
    }

    /// Finds a change of the order of channels, written out: groups of channels that are dealt out in turn. Returns whether `node` begins one; then
    /// its end is known, and nothing between is computed.
    fn shuffle(&mut self, node: &Node, all: &[Node]) -> bool {
        if node.operator.name != "Reshape" {
            return false;
        }
        let found = || {
            let (&[Some(x), ..], &[parted]) = (&node.inputs[..], &node.outputs[..]) else {
                return None;
            };
            let (from, before) = match (self.blocked.get(&x), self.shuffled.get(&x)) {
                (Some(from), _) => (*from, None),
                (None, Some((from, positions))) => (*from, Some(positions)),
                (None, None) => return None,
            };
            let only = |id: ValueId, name: &str| {
                let alone = self.reads.get(id.0 as usize) == Some(&1);
                let reader = self.reader.get(id.0 as usize).copied().flatten();
                reader
                    .and_then(|reader| all.get(reader))
                    .filter(|reader| alone && reader.operator.name == name)
                    .and_then(|reader| Some((reader, *reader.outputs.first()?)))
            };
            let (turn, turned) = only(parted, "Transpose")?;
            let (_, end) = only(turned, "Reshape")?;
            let perm = self.constant(*turn.inputs.get(1)?)?.ints()?;
            let (image, parts) = (self.ty(x).dims()?, self.ty(parted).dims()?);
            let (&[batch, channels, height, width], &[b, groups, each, h, w]) =
                (&image[..], &parts[..])
            else {
                return None;
            };
            let same = [b, groups * each, h, w] == [batch, channels, height, width]
                && self.ty(end) == self.ty(x)
                && perm == [0, 2, 1, 3, 4];
            if !same || self.channels(end).is_none() {
                return None;
            }
            let positions: Vec<usize> = (0..channels)
                .map(|channel| channel % groups * each + channel / groups)
                .map(|channel| before.map_or(channel, |positions| positions[channel]))
                .collect();
            Some(([parted, turned], end, (from, positions)))
        };
        let Some((between, end, shuffled)) = found() else {
            return false;
        };
        self.skipped.extend(between);
        self.skipped.insert(end);
        self.shuffled.insert(end, shuffled);
        true
    }

    /// Brings an image whose channels lie in another order into planes.
    fn unshuffle(&mut self, id: ValueId) -> Result<()> {
        let Some((from, positions)) = self.shuffled.get(&id).cloned() else {
            return Ok(());
        };
        let (Some(unblock), Some(gather), Some(channels)) = (
            Self::operator("jumar.Unblock"),
            Self::operator("GatherV2"),
            self.channels(id),
        ) else {
            return Err(crate::GraphError::unsupported(
                "an image whose channels lie in another order cannot be brought back",
            ));
        };
        self.plain[id.0 as usize] = true;
        let name = self.graph.value(id).name.clone();
        let attrs = Attrs::new().with("channels", channels);
        let planes = self.add(format!("{name}/planes"), unblock, vec![Some(from)], attrs)?;
        let positions: Vec<i64> = positions.iter().map(|&position| position as i64).collect();
        let positions = self.add_constant(format!("{name}/indices"), Tensor::from_ints(&positions));
        let axis = Tensor::from_ints(&[1]).reshaped(&[])?;
        let axis = self.add_constant(format!("{name}/axis"), axis);
        self.nodes.push(Node {
            name: format!("{name}/ordered"),
            operator: gather,
            inputs: vec![Some(planes), Some(positions), Some(axis)],
            outputs: vec![id],
            attrs: Attrs::new(),
            bodies: Vec::new(),
        });
        Ok(())
    }

    /// Makes an image be there in planes.
    fn unblock(&mut self, id: ValueId) -> Result<()> {
        if self.plain[id.0 as usize] {
            return Ok(());
        }
        if self.shuffled.contains_key(&id) {
            return self.unshuffle(id);
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
            Some(reshape) if single && channels % CHANNEL_BLOCK as i64 == 0 => {
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
        // Each channel by itself: they stay where they lie.
        match self.shuffled.get(&x) {
            Some((_, positions)) if self.stays(node) => {
                let positions = positions.clone();
                self.shuffled.insert(output, (made, positions));
            }
            _ => {
                self.blocked.insert(output, made);
            }
        }
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
        // Where each channel of the image lies, where that is not its number.
        let positions = match (self.shuffled.get(&x), depthwise && residual.is_some()) {
            (Some((_, positions)), false) => Some(positions.clone()),
            _ => None,
        };
        let strides = ints("strides");
        let dilations = ints("dilations");
        let near = dilations.is_empty() || dilations.iter().all(|&dilation| dilation == 1);
        let stride = strides.last().copied().unwrap_or(1).max(1);
        // An image of few channels is read where it lies.
        let planar = groups == 1
            && channels < FEW
            && positions.is_none()
            && !self.is_blocked(x)
            && near
            && takes_planes(
                channels as usize,
                [height as usize, width as usize],
                stride as usize,
            );
        let divides = |count: i64| (count / groups) % CHANNEL_BLOCK as i64 == 0;
        let worth = match (depthwise, groups) {
            (true, _) => channels >= FEW,
            (false, 1) => outputs >= FEW && (planar || channels >= FEW || self.is_blocked(x)),
            (false, _) => true,
        };
        if !worth {
            return Ok(None);
        }
        let own: Vec<usize> = match &positions {
            Some(positions) => positions.clone(),
            None => (0..channels as usize).collect(),
        };
        let divides = groups == 1 || (divides(channels) && divides(outputs));
        let mut units = None;
        let mut packed_bias = packed_bias;
        let (packed, name) = if depthwise {
            let order = channels_at(&own);
            let filter = ordered(&filter, &order);
            if positions.is_some() {
                packed_bias = match self.constant(bias) {
                    Some(bias) => ordered(&bias, &order).and_then(|bias| pack_channels(&bias)),
                    None => None,
                };
            }
            let packed = filter.and_then(|filter| pack_depthwise(&filter));
            (packed, "jumar.BlockedDepthwiseConv2D")
        } else if divides && positions.is_none() {
            let packed = pack_filter(&filter, groups as usize, planar);
            (packed, "jumar.BlockedConv2D")
        } else {
            let Some((packed, picks)) = pack_gathered(&filter, groups as usize, &own) else {
                return Ok(None);
            };
            units = Some(picks);
            (Some(packed), "jumar.BlockedPickedConv2D")
        };
        if bias.is_some() != packed_bias.is_some() {
            return Ok(None);
        }
        let (Some(packed), Some(operator)) = (packed, Self::operator(name)) else {
            return Ok(None);
        };
        let x = if planar {
            self.unblock(x)?;
            x
        } else if let (Some((from, _)), Some(_)) = (self.shuffled.get(&x), &positions) {
            *from
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
        let mut attrs = Attrs::new().with("kernel", vec![height, width]);
        match units {
            Some(_) => attrs.set(
                "blocks",
                (outputs as u64).div_ceil(CHANNEL_BLOCK as u64) as i64,
            ),
            None => attrs.set("groups", if depthwise { 1 } else { groups }),
        }
        if name == "jumar.BlockedConv2D" && groups == 1 && !planar {
            attrs.set("channels", channels);
        }
        for name in ["strides", "pads", "dilations", "auto_pad", "low", "high"] {
            if let Some(value) = node.attrs.get(name) {
                attrs.set(name, value.clone());
            }
        }
        let filter = self.add_constant(format!("{}/packed", node.name), packed);
        let bias =
            packed_bias.map(|bias| self.add_constant(format!("{}/packed_bias", node.name), bias));
        let mut inputs = vec![Some(x), Some(filter), bias, residual];
        if let Some(units) = units {
            inputs.push(Some(
                self.add_constant(format!("{}/units", node.name), units),
            ));
        }
        self.replace(node, operator, inputs, attrs)
    }

    /// Returns whether a node computes each channel by itself, so that channels stay in their order, whichever that is.
    fn stays(&self, node: &Node) -> bool {
        let groups = match node.attrs.get("groups") {
            Some(Attr::Int(groups)) => *groups,
            _ => 1,
        };
        let channels = |id: Option<&Option<ValueId>>| id.and_then(|&id| self.channels(id?));
        matches!(node.operator.name, "Conv2D" | "jumar.Conv2D")
            && groups > 1
            && node.inputs.get(3).copied().flatten().is_none()
            && channels(node.inputs.first()) == Some(groups)
            && node.outputs.first().and_then(|&id| self.channels(id)) == Some(groups)
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
        let divides = inputs.iter().enumerate().all(|(index, &id)| {
            self.channels(id)
                .is_some_and(|channels| index == last || channels % CHANNEL_BLOCK as i64 == 0)
        });
        let most = inputs.iter().filter(|&&id| self.is_blocked(id)).count() * 2 > inputs.len();
        if !along || !divides || !most || inputs.len() != node.inputs.len() {
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

    /// Lets the convolution that makes an image keep to bounds. Returns whether it can.
    fn bound(&mut self, x: ValueId, low: f32, high: f32) -> bool {
        let maker = self.maker.get(&x).copied();
        let maker = maker.and_then(|maker| self.nodes.get_mut(maker));
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

/// Returns the channel at each position.
fn channels_at(positions: &[usize]) -> Vec<usize> {
    let mut channels = vec![0; positions.len()];
    for (channel, &position) in positions.iter().enumerate() {
        channels[position] = channel;
    }
    channels
}

/// Puts the entries of the first axis into an order.
fn ordered(tensor: &Tensor, order: &[usize]) -> Option<Tensor> {
    let (dims, values) = (tensor.ty().dims()?, tensor.values::<f32>()?);
    if dims.first() != Some(&order.len()) {
        return None;
    }
    let each = values.len() / order.len();
    let moved: Vec<f32> = order
        .iter()
        .flat_map(|&from| values[from * each..(from + 1) * each].iter().copied())
        .collect();
    Tensor::from_floats(&moved).reshaped(&dims).ok()
}
