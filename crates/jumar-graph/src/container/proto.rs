//! The graph section of a model file, as a Protocol Buffers message. Field numbers are never reused.

/// A graph, its description and the options that it was built with.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GraphMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, repeated, tag = "2")]
    pub values: Vec<ValueMessage>,
    #[prost(message, repeated, tag = "3")]
    pub nodes: Vec<NodeMessage>,
    #[prost(message, repeated, tag = "4")]
    pub inputs: Vec<PortMessage>,
    #[prost(message, repeated, tag = "5")]
    pub outputs: Vec<PortMessage>,
    #[prost(message, repeated, tag = "6")]
    pub options: Vec<OptionMessage>,
    /// Who wrote the file, for people.
    #[prost(string, tag = "7")]
    pub producer: String,
    /// What the gears choose: 1 a batch size, 2 an image size, 3 all dynamic dimensions.
    #[prost(uint32, tag = "8")]
    pub gear_kind: u32,
    #[prost(message, repeated, tag = "9")]
    pub gears: Vec<GearMessage>,
    /// Where the weights are, if they are in files beside this one.
    #[prost(message, repeated, tag = "10")]
    pub external: Vec<ExternalMessage>,
    /// How many bytes of weights these files have together, with what lies between them.
    #[prost(uint64, tag = "11")]
    pub external_bytes: u64,
}

/// A file of weights beside the model file.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ExternalMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    /// Where its first byte belongs in the weights.
    #[prost(uint64, tag = "2")]
    pub at: u64,
    #[prost(uint64, tag = "3")]
    pub bytes: u64,
    #[prost(fixed32, tag = "4")]
    pub crc: u32,
}

/// One of the sizes that a model was built for.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GearMessage {
    #[prost(sint64, repeated, tag = "1")]
    pub values: Vec<i64>,
    /// The dimensions of each input, in order.
    #[prost(message, repeated, tag = "2")]
    pub inputs: Vec<IntsMessage>,
}

/// A tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ValueMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    /// As `aclDataType` numbers it.
    #[prost(sint32, tag = "2")]
    pub dtype: i32,
    /// 2^64 - 1 is a dynamic dimension; alone, 2^64 - 2 is a shape of which nothing is known.
    #[prost(uint64, repeated, tag = "3")]
    pub dims: Vec<u64>,
    /// Where its contents lie in the weights.
    #[prost(uint64, optional, tag = "4")]
    pub weight: Option<u64>,
    /// Its contents, where they are needed to plan the model.
    #[prost(bytes = "vec", optional, tag = "5")]
    pub contents: Option<Vec<u8>>,
}

/// A call of an operator.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct NodeMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub operator: String,
    /// Numbers of values plus one; 0 for an input that is left out.
    #[prost(uint32, repeated, tag = "3")]
    pub inputs: Vec<u32>,
    /// Numbers of values.
    #[prost(uint32, repeated, tag = "4")]
    pub outputs: Vec<u32>,
    #[prost(message, repeated, tag = "5")]
    pub attrs: Vec<AttrMessage>,
    #[prost(message, repeated, tag = "6")]
    pub bodies: Vec<BodyMessage>,
}

/// A graph inside a node.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct BodyMessage {
    /// Values, nodes, inputs and outputs; the rest is empty.
    #[prost(message, optional, tag = "1")]
    pub graph: Option<GraphMessage>,
    /// Numbers of the node's inputs that are the graph's last inputs.
    #[prost(uint32, repeated, tag = "2")]
    pub captures: Vec<u32>,
}

/// An attribute.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AttrMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "AttrValue", tags = "2, 3, 4, 5, 6, 7, 8, 9, 10")]
    pub value: Option<AttrValue>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum AttrValue {
    #[prost(sint64, tag = "2")]
    Int(i64),
    #[prost(float, tag = "3")]
    Float(f32),
    #[prost(bool, tag = "4")]
    Bool(bool),
    #[prost(string, tag = "5")]
    Str(String),
    #[prost(message, tag = "6")]
    Ints(IntsMessage),
    #[prost(message, tag = "7")]
    Floats(FloatsMessage),
    #[prost(message, tag = "8")]
    Strs(StrsMessage),
    #[prost(message, tag = "9")]
    Tensor(ValueMessage),
    #[prost(sint32, tag = "10")]
    Type(i32),
}

/// Several integers.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct IntsMessage {
    #[prost(sint64, repeated, tag = "1")]
    pub list: Vec<i64>,
}

/// Several numbers.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FloatsMessage {
    #[prost(float, repeated, tag = "1")]
    pub list: Vec<f32>,
}

/// Several texts.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct StrsMessage {
    #[prost(string, repeated, tag = "1")]
    pub list: Vec<String>,
}

/// An input or output of the model.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PortMessage {
    /// The name in the description.
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(uint32, tag = "2")]
    pub value: u32,
    /// As `aclFormat` numbers it.
    #[prost(sint32, tag = "3")]
    pub format: i32,
    /// An output's name in the imported model, and its producer there.
    #[prost(string, tag = "4")]
    pub original: String,
    #[prost(string, tag = "5")]
    pub producer: String,
    #[prost(uint64, tag = "6")]
    pub producer_output: u64,
    /// The bounds of each dimension, the lower one first; -1 means unbounded. Empty if no bounds are known.
    #[prost(sint64, repeated, tag = "7")]
    pub range: Vec<i64>,
}

/// An option that the model was built with.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OptionMessage {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub value: String,
}
