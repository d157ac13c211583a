//! A node as a lowering sees it.

use jumar_ops::{Attr, AttrKind, Attrs, OpError};
use jumar_types::dtype::DataType;

use super::super::{
    Default, Desc, FORMAT_NCDHW, FORMAT_NCHW, FORMAT_ND, FORMAT_NDHWC, FORMAT_NHWC,
    Graph as Source, Input, Node, Occurs, Prototype, Value, prototype,
};
use super::{Cx, data_type, invalid, unsupported};
use jumar_graph::ValueId;
use jumar_graph::conversion::find;

/// The inputs that are images, in the order in which their descriptions count.
const IMAGES: &[&str] = &["x", "out_backprop", "orig_input", "input_x"];

/// Operators whose first output has the axes of their first image.
const KEEP_FORMAT: &[&str] = &[
    "Abs",
    "Add",
    "AvgPool",
    "AvgPool3D",
    "AvgPoolV2",
    "BatchNorm",
    "BatchNormExt2",
    "BiasAdd",
    "Cast",
    "ClipByValue",
    "ConcatD",
    "ConcatV2",
    "Conv2D",
    "Conv2DBackpropInput",
    "Conv2DBackpropInputD",
    "Conv2DTranspose",
    "Conv2DTransposeD",
    "Conv3D",
    "Conv3DBackpropInput",
    "Conv3DBackpropInputD",
    "Conv3DTranspose",
    "Deconvolution",
    "DepthwiseConv2D",
    "Elu",
    "Exp",
    "Gelu",
    "GroupNorm",
    "HardSwish",
    "Identity",
    "InstanceNorm",
    "LeakyRelu",
    "MaxPool",
    "MaxPool3D",
    "MaxPoolV3",
    "Maximum",
    "Minimum",
    "Mish",
    "Mul",
    "Neg",
    "PRelu",
    "Pad",
    "PadV2",
    "PadV3",
    "RealDiv",
    "Relu",
    "Relu6",
    "Selu",
    "Sigmoid",
    "Softplus",
    "Sqrt",
    "Square",
    "Sub",
    "Swish",
    "Tanh",
];

/// A node, with the values of its inputs.
pub(super) struct Op<'a> {
    pub node: &'a Node,
    pub prototype: Option<&'static Prototype>,
    inputs: Vec<(&'a str, Option<ValueId>)>,
    sources: Vec<Option<&'a str>>,
    used: &'a [bool],
    around: &'a Source,
}

impl<'a> Op<'a> {
    pub fn new(
        node: &'a Node,
        inputs: Vec<(&'a str, Option<ValueId>)>,
        sources: Vec<Option<&'a str>>,
        used: &'a [bool],
        around: &'a Source,
    ) -> Op<'a> {
        Op {
            node,
            prototype: prototype(&node.kind),
            inputs,
            sources,
            used,
            around,
        }
    }

    pub fn kind(&self) -> &'a str {
        &self.node.kind
    }

    /// The names of the nodes that the inputs come from.
    pub fn sources(&self) -> impl Iterator<Item = Option<&'a str>> + '_ {
        self.sources.iter().copied()
    }

    /// The names of the variables around.
    pub fn variable_names(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.around
            .nodes
            .iter()
            .filter(|node| super::state::VARIABLES.contains(&node.kind.as_str()))
            .map(|node| node.name.as_str())
    }

    /// Refuses a node that lacks what the headers demand.
    pub fn check(&self) -> Result<(), OpError> {
        let Some(prototype) = self.prototype else {
            return Ok(());
        };
        for (name, occurs) in prototype.inputs {
            if *occurs == Occurs::Once && self.maybe(name).is_none() {
                return Err(invalid(format!("its input {name} is missing")));
            }
        }
        for (name, default) in prototype.attrs {
            if matches!(default, Default::Required(_)) && !self.node.attrs.contains_key(*name) {
                return Err(invalid(format!("its attribute {name} is missing")));
            }
        }
        Ok(())
    }

    /// Lists the inputs that are given: name, format, and value.
    pub fn given(&self) -> impl Iterator<Item = (&'a str, i32, ValueId)> + '_ {
        let inputs = self.inputs.iter().zip(&self.node.inputs);
        inputs.filter_map(|((name, value), input)| {
            Some((*name, self.described_format(input), (*value)?))
        })
    }

    /// Returns an input that has to be there.
    pub fn input(&self, name: &str) -> Result<ValueId, OpError> {
        self.maybe(name)
            .ok_or_else(|| invalid(format!("its input {name} is missing")))
    }

    /// Returns an input that may be left out.
    pub fn maybe(&self, name: &str) -> Option<ValueId> {
        let mut inputs = self.inputs.iter();
        inputs
            .find(|(own, _)| *own == name)
            .and_then(|(_, value)| *value)
    }

    /// Returns the inputs `name0`, `name1` and so on, all of which have to be there.
    pub fn list(&self, name: &str) -> Result<Vec<ValueId>, OpError> {
        let mut found = Vec::new();
        for (own, value) in &self.inputs {
            let number = own
                .strip_prefix(name)
                .and_then(|rest| rest.parse::<usize>().ok());
            if let Some(number) = number {
                let value = value.ok_or_else(|| invalid(format!("its input {own} is missing")))?;
                found.push((number, value));
            }
        }
        found.sort_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, value)| value).collect())
    }

    /// The inputs that the headers name, in their order; several of a name one behind the other.
    pub fn in_order(&self) -> Result<Vec<Option<ValueId>>, OpError> {
        let Some(prototype) = self.prototype else {
            return Ok(self.inputs.iter().map(|(_, value)| *value).collect());
        };
        let mut all = Vec::new();
        for (name, occurs) in prototype.inputs {
            match occurs {
                Occurs::Often => all.extend(self.list(name)?.into_iter().map(Some)),
                Occurs::Once | Occurs::Maybe => all.push(self.maybe(name)),
            }
        }
        Ok(all)
    }

    /// The number of outputs that the node has.
    pub fn outputs(&self) -> usize {
        self.node.outputs.len().max(1)
    }

    /// Returns whether an output is read.
    pub fn uses(&self, output: usize) -> bool {
        self.used.get(output).copied().unwrap_or(false)
    }

    /// What the program says about an input: its own description, or that of the output that it is.
    pub fn desc(&self, name: &str) -> Option<&'a Desc> {
        let input = self.node.inputs.iter().find(|input| input.name == name)?;
        if input.desc != Desc::default() {
            return Some(&input.desc);
        }
        let (from, position) = input.from?;
        let source = self.around.nodes.get(from)?;
        if let Some(Value::Tensor(data)) = source.attrs.get("value") {
            return Some(&data.desc);
        }
        source.outputs.get(position).map(|output| &output.desc)
    }

    /// Returns the name of the format of images with so many spatial axes. The attribute `data_format` decides if it is not the
    /// default of the prototype. Otherwise the description of the image decides if it names a format: programs describe their
    /// inputs and leave the attribute alone.
    pub fn image_format(&self, spatial: usize) -> Result<&'a str, OpError> {
        let attribute = self.text("data_format")?;
        match self.default("data_format") {
            Some(Default::Str(default)) if default == attribute => {}
            _ => return Ok(attribute),
        }
        let described = IMAGES
            .iter()
            .filter_map(|name| self.node.inputs.iter().find(|input| input.name == *name))
            .map(|input| self.described_format(input))
            .find_map(|format| match (format, spatial) {
                (FORMAT_NCHW, 2) => Some("NCHW"),
                (FORMAT_NHWC, 2) => Some("NHWC"),
                (FORMAT_NCDHW, 3) => Some("NCDHW"),
                (FORMAT_NDHWC, 3) => Some("NDHWC"),
                _ => None,
            });
        Ok(described.unwrap_or(attribute))
    }

    /// Returns the axis of the channels of an input with so many dimensions: the last one where the program describes it as
    /// `NHWC` or `NDHWC`, otherwise the second one.
    pub fn channel_axis(&self, name: &str, rank: usize) -> Result<usize, OpError> {
        let inputs = &self.node.inputs;
        let format = inputs
            .iter()
            .find(|input| input.name == name)
            .map_or(FORMAT_ND, |input| self.described_format(input));
        match (format, rank) {
            (FORMAT_NHWC, 4) => Ok(3),
            (FORMAT_NDHWC, 5) => Ok(4),
            (_, 2..) => Ok(1),
            _ => Err(invalid(format!(
                "its input {name} has {rank} dimensions; 2 at least are required"
            ))),
        }
    }

    /// Returns the format that the program describes for an input: its own, that of the output it is linked with, or that of what
    /// the output was computed from, as long as the operators between keep the order of axes.
    fn described_format(&self, input: &'a Input) -> i32 {
        let mut input = input;
        // A path through a graph has no more steps than the graph has nodes.
        for _ in 0..=self.around.nodes.len() {
            if input.desc.format != FORMAT_ND {
                return input.desc.format;
            }
            let Some((from, position)) = input.from else {
                return FORMAT_ND;
            };
            let Some(source) = self.around.nodes.get(from) else {
                return FORMAT_ND;
            };
            if let Some(output) = source.outputs.get(position)
                && output.desc.format != FORMAT_ND
            {
                return output.desc.format;
            }
            if let Some(Value::Tensor(data)) = source.attrs.get("value") {
                return data.desc.format;
            }
            if !KEEP_FORMAT.contains(&source.kind.as_str()) {
                return FORMAT_ND;
            }
            let image = source
                .inputs
                .iter()
                .find(|input| IMAGES.contains(&input.name.as_str()))
                .or(source.inputs.first());
            match image {
                Some(image) => input = image,
                None => return FORMAT_ND,
            }
        }
        FORMAT_ND
    }

    fn attr(&self, name: &str) -> Option<&'a Value> {
        self.node.attrs.get(name)
    }

    fn default(&self, name: &str) -> Option<Default> {
        let attrs = self.prototype?.attrs;
        attrs
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, default)| *default)
    }

    fn wrong(name: &str, wanted: &str) -> OpError {
        invalid(format!("its attribute {name} has to be {wanted}"))
    }

    pub fn int(&self, name: &str) -> Result<i64, OpError> {
        match (self.attr(name), self.default(name)) {
            (Some(Value::Int(value)), _) => Ok(*value),
            (None, Some(Default::Int(value))) => Ok(value),
            (Some(Value::Type(value)), _) => Ok(i64::from(*value)),
            (Some(Value::Bool(value)), _) => Ok(i64::from(*value)),
            (None, Some(Default::Type(value))) => Ok(i64::from(value)),
            _ => Err(Self::wrong(name, "an integer")),
        }
    }

    pub fn float(&self, name: &str) -> Result<f32, OpError> {
        match (self.attr(name), self.default(name)) {
            (Some(Value::Float(value)), _) => Ok(*value),
            (Some(Value::Int(value)), _) => Ok(*value as f32),
            (None, Some(Default::Float(value))) => Ok(value),
            _ => Err(Self::wrong(name, "a number")),
        }
    }

    pub fn yes(&self, name: &str) -> Result<bool, OpError> {
        match (self.attr(name), self.default(name)) {
            (Some(Value::Bool(value)), _) => Ok(*value),
            (Some(Value::Int(value)), _) => Ok(*value != 0),
            (None, Some(Default::Bool(value))) => Ok(value),
            (None, Some(Default::Int(value))) => Ok(value != 0),
            _ => Err(Self::wrong(name, "yes or no")),
        }
    }

    pub fn text(&self, name: &str) -> Result<&'a str, OpError> {
        match (self.attr(name), self.default(name)) {
            (Some(Value::Str(value)), _) => Ok(value),
            (None, Some(Default::Str(value))) => Ok(value),
            _ => Err(Self::wrong(name, "a text")),
        }
    }

    pub fn ints(&self, name: &str) -> Result<&'a [i64], OpError> {
        match (self.attr(name), self.default(name)) {
            (Some(Value::Ints(value)), _) => Ok(value),
            (Some(Value::Int(value)), _) => Ok(std::slice::from_ref(value)),
            (None, Some(Default::Ints(value))) => Ok(value),
            _ => Err(Self::wrong(name, "a list of integers")),
        }
    }

    pub fn floats(&self, name: &str) -> Result<&'a [f32], OpError> {
        match (self.attr(name), self.default(name)) {
            (Some(Value::Floats(value)), _) => Ok(value),
            (Some(Value::Float(value)), _) => Ok(std::slice::from_ref(value)),
            (None, Some(Default::Floats(value))) => Ok(value),
            _ => Err(Self::wrong(name, "a list of numbers")),
        }
    }

    /// Reads an attribute that names a data type.
    pub fn dtype(&self, name: &str) -> Result<DataType, OpError> {
        data_type(self.int(name)?)
    }

    /// Reads the attributes for an operator of ours: those that it knows by the same name. One that it does not know has to
    /// have the default of the headers.
    pub fn attrs_for(&self, operator: &str) -> Result<Attrs, OpError> {
        let definition = find(operator)
            .ok_or_else(|| unsupported(format!("there is no operator {operator}")))?;
        let mut attrs = Attrs::new();
        let Some(prototype) = self.prototype else {
            return Ok(attrs);
        };
        for (name, default) in prototype.attrs {
            match definition.attrs.iter().find(|def| def.name == *name) {
                Some(def) => {
                    let value: Attr = match def.kind {
                        AttrKind::Int => self.int(name)?.into(),
                        AttrKind::Float => self.float(name)?.into(),
                        AttrKind::Bool => self.yes(name)?.into(),
                        AttrKind::Str => Attr::Str(self.text(name)?.to_owned()),
                        AttrKind::Ints => self.ints(name)?.to_vec().into(),
                        AttrKind::Floats => self.floats(name)?.to_vec().into(),
                        AttrKind::Strs => match (self.attr(name), default) {
                            (Some(Value::Strs(list)), _) => Attr::Strs(list.clone()),
                            (None, Default::Strs(list)) => {
                                Attr::Strs(list.iter().map(|&text| text.to_owned()).collect())
                            }
                            _ => return Err(Self::wrong(name, "a list of texts")),
                        },
                        AttrKind::Type => Attr::Type(self.dtype(name)?),
                        AttrKind::Tensor => continue,
                    };
                    attrs.set(name, value);
                }
                None => self.only_default(name)?,
            }
        }
        Ok(attrs)
    }

    /// Refuses an attribute that differs from its default.
    pub fn only_default(&self, name: &str) -> Result<(), OpError> {
        let Some(value) = self.attr(name) else {
            return Ok(());
        };
        let same = match (value, self.default(name)) {
            (Value::Int(a), Some(Default::Int(b))) => *a == b,
            (Value::Float(a), Some(Default::Float(b))) => *a == b,
            (Value::Bool(a), Some(Default::Bool(b))) => *a == b,
            (Value::Str(a), Some(Default::Str(b))) => a == b,
            (Value::Ints(a), Some(Default::Ints(b))) => a == b,
            // It was required, or nothing is known of it: the node's lowering has checked it.
            _ => true,
        };
        if same {
            return Ok(());
        }
        Err(unsupported(format!(
            "its attribute {name} is {value:?}, which is not supported"
        )))
    }
}

/// Lowers to the operator of the same name, with the inputs in the order of the headers.
pub(super) fn same(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>, OpError> {
    let name = find(op.kind())
        .map(|operator| operator.name)
        .ok_or_else(|| unsupported(format!("there is no operator {}", op.kind())))?;
    renamed(cx, op, name)
}

/// Lowers to an operator of another name with the same inputs, outputs and attributes.
pub(super) fn renamed(
    cx: &mut Cx,
    op: &Op<'_>,
    name: &'static str,
) -> Result<Vec<ValueId>, OpError> {
    use jumar_ops::Builder as _;
    let attrs = op.attrs_for(name)?;
    let inputs = op.in_order()?;
    cx.add_node(name, &inputs, attrs, op.outputs())
}

/// As [`same`], with the inputs brought to one type.
pub(super) fn promoted(cx: &mut Cx, op: &Op<'_>) -> Result<Vec<ValueId>, OpError> {
    use jumar_ops::Builder as _;
    let name = find(op.kind())
        .map(|operator| operator.name)
        .ok_or_else(|| unsupported(format!("there is no operator {}", op.kind())))?;
    let attrs = op.attrs_for(name)?;
    let inputs = op.in_order()?;
    let mut given: Vec<ValueId> = inputs.iter().copied().flatten().collect();
    cx.promote(&mut given)?;
    let mut given = given.into_iter();
    let inputs: Vec<_> = inputs
        .into_iter()
        .map(|input| input.and_then(|_| given.next()))
        .collect();
    cx.add_node(name, &inputs, attrs, op.outputs())
}
