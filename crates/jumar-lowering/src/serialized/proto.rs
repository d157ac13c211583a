//! The messages of a serialized model, as far as they are read: field numbers and types, as clients of the Graph Engine write them.

use std::collections::HashMap;

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ModelDef {
    #[prost(message, repeated, tag = "7")]
    pub graph: Vec<GraphDef>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct GraphDef {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    pub op: Vec<OpDef>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct OpDef {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub kind: String,
    #[prost(string, repeated, tag = "5")]
    pub input: Vec<String>,
    #[prost(map = "string, message", tag = "10")]
    pub attr: HashMap<String, AttrDef>,
    #[prost(message, repeated, tag = "33")]
    pub input_desc: Vec<TensorDescriptor>,
    #[prost(message, repeated, tag = "34")]
    pub output_desc: Vec<TensorDescriptor>,
    #[prost(string, repeated, tag = "35")]
    pub subgraph_name: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorDescriptor {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int32, tag = "2")]
    pub dtype: i32,
    #[prost(message, optional, tag = "3")]
    pub shape: Option<ShapeDef>,
    #[prost(string, tag = "4")]
    pub layout: String,
    #[prost(map = "string, message", tag = "5")]
    pub attr: HashMap<String, AttrDef>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ShapeDef {
    #[prost(int64, repeated, tag = "1")]
    pub dim: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TensorDef {
    #[prost(message, optional, tag = "1")]
    pub desc: Option<TensorDescriptor>,
    #[prost(bytes = "vec", tag = "2")]
    pub data: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AttrDef {
    #[prost(oneof = "AttrValue", tags = "1, 2, 3, 4, 5, 7, 12, 14, 15")]
    pub value: Option<AttrValue>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum AttrValue {
    #[prost(message, tag = "1")]
    List(ListValue),
    #[prost(bytes, tag = "2")]
    Text(Vec<u8>),
    #[prost(int64, tag = "3")]
    Int(i64),
    #[prost(float, tag = "4")]
    Float(f32),
    #[prost(bool, tag = "5")]
    Bool(bool),
    #[prost(bytes, tag = "7")]
    Bytes(Vec<u8>),
    #[prost(message, tag = "12")]
    Tensor(TensorDef),
    #[prost(message, tag = "14")]
    IntLists(ListListInt),
    #[prost(int64, tag = "15")]
    Type(i64),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ListValue {
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub texts: Vec<Vec<u8>>,
    #[prost(int64, repeated, tag = "3")]
    pub ints: Vec<i64>,
    #[prost(float, repeated, tag = "4")]
    pub floats: Vec<f32>,
    #[prost(bool, repeated, tag = "5")]
    pub bools: Vec<bool>,
    #[prost(message, repeated, tag = "9")]
    pub tensors: Vec<TensorDef>,
    #[prost(int64, repeated, tag = "12")]
    pub types: Vec<i64>,
    /// The number of the element type of the list, 0 if the writer did not state it.
    #[prost(int32, tag = "20")]
    pub kind: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ListListInt {
    #[prost(message, repeated, tag = "1")]
    pub lists: Vec<ListInt>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ListInt {
    #[prost(int64, repeated, tag = "1")]
    pub ints: Vec<i64>,
}
