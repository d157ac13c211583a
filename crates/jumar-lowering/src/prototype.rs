//! What the Graph Engine's headers say about an operator.

use std::sync::Arc;

use super::prototypes::ALL;
use super::{Data, Desc, Value};

/// An operator of the headers.
#[derive(Debug)]
pub struct Prototype {
    /// The type.
    pub name: &'static str,
    /// 1 for what programs use most, 3 for what they rarely do.
    pub priority: u32,
    /// The inputs, in order.
    pub inputs: &'static [(&'static str, Occurs)],
    /// The outputs, in order.
    pub outputs: &'static [(&'static str, Occurs)],
    /// The attributes.
    pub attrs: &'static [(&'static str, Default)],
    /// The graphs inside, and whether there may be several of the name.
    pub bodies: &'static [(&'static str, bool)],
}

/// How often an input or output is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurs {
    /// Once.
    Once,
    /// Once or not at all.
    Maybe,
    /// Several times, as `x0`, `x1` and so on.
    Often,
}

/// The default of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// It has to be set; the name of its type as programs read it.
    Required(&'static str),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// Yes or no.
    Bool(bool),
    /// Text.
    Str(&'static str),
    /// Several integers.
    Ints(&'static [i64]),
    /// Several numbers.
    Floats(&'static [f32]),
    /// Several times yes or no.
    Bools(&'static [bool]),
    /// Several texts.
    Strs(&'static [&'static str]),
    /// The number of a data type.
    Type(i32),
    /// An empty tensor.
    Tensor,
}

impl Default {
    /// Returns the name of the attribute's type as programs read it.
    pub fn type_name(self) -> &'static str {
        match self {
            Default::Required(name) => name,
            Default::Int(_) => "VT_INT",
            Default::Float(_) => "VT_FLOAT",
            Default::Bool(_) => "VT_BOOL",
            Default::Str(_) => "VT_STRING",
            Default::Ints(_) => "VT_LIST_INT",
            Default::Floats(_) => "VT_LIST_FLOAT",
            Default::Bools(_) => "VT_LIST_BOOL",
            Default::Strs(_) => "VT_LIST_STRING",
            Default::Type(_) => "VT_DATA_TYPE",
            Default::Tensor => "VT_TENSOR",
        }
    }

    /// The default value of an attribute; none if it is required.
    pub fn value(self) -> Option<Value> {
        Some(match self {
            Default::Required(_) => return None,
            Default::Int(value) => Value::Int(value),
            Default::Float(value) => Value::Float(value),
            Default::Bool(value) => Value::Bool(value),
            Default::Str(text) => Value::Str(text.to_owned()),
            Default::Ints(list) => Value::Ints(list.to_vec()),
            Default::Floats(list) => Value::Floats(list.to_vec()),
            Default::Bools(list) => Value::Bools(list.to_vec()),
            Default::Strs(list) => {
                Value::Strs(list.iter().map(|text| (*text).to_owned()).collect())
            }
            Default::Type(number) => Value::Type(number),
            Default::Tensor => Value::Tensor(Data {
                desc: Desc::default(),
                bytes: Arc::default(),
            }),
        })
    }
}

/// Lists every operator of the headers.
pub fn prototypes() -> &'static [Prototype] {
    ALL
}

/// Finds an operator of the headers.
pub fn prototype(name: &str) -> Option<&'static Prototype> {
    ALL.binary_search_by(|one| one.name.cmp(name))
        .ok()
        .map(|at| &ALL[at])
}
