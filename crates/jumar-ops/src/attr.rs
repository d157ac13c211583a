//! Attributes of nodes, and what a definition says about them.

use std::collections::BTreeMap;

use jumar_types::dtype::DataType;

use crate::{OpError, Tensor};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// An integer.
    Int(i64),
    /// A number.
    Float(f32),
    /// Yes or no.
    Bool(bool),
    /// Text.
    Str(String),
    /// Several integers.
    Ints(Vec<i64>),
    /// Several numbers.
    Floats(Vec<f32>),
    /// Several texts.
    Strs(Vec<String>),
    /// A tensor.
    Tensor(Tensor),
    /// A data type.
    Type(DataType),
}

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// [`Attr::Int`].
    Int,
    /// [`Attr::Float`].
    Float,
    /// [`Attr::Bool`].
    Bool,
    /// [`Attr::Str`].
    Str,
    /// [`Attr::Ints`].
    Ints,
    /// [`Attr::Floats`].
    Floats,
    /// [`Attr::Strs`].
    Strs,
    /// [`Attr::Tensor`].
    Tensor,
    /// [`Attr::Type`].
    Type,
}

/// The default of an attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrDefault {
    /// It has to be set.
    Required,
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
    /// Several texts.
    Strs(&'static [&'static str]),
    /// A data type.
    Type(DataType),
}

/// What an operator's definition says about one attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttrDef {
    /// The name.
    pub name: &'static str,
    /// The kind of value.
    pub kind: AttrKind,
    /// The default value.
    pub default: AttrDefault,
}

impl AttrDef {
    /// Defines an attribute that has to be set.
    pub const fn required(name: &'static str, kind: AttrKind) -> AttrDef {
        AttrDef {
            name,
            kind,
            default: AttrDefault::Required,
        }
    }

    /// Defines an integer.
    pub const fn int(name: &'static str, default: i64) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Int,
            default: AttrDefault::Int(default),
        }
    }

    /// Defines a number.
    pub const fn float(name: &'static str, default: f32) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Float,
            default: AttrDefault::Float(default),
        }
    }

    /// Defines a yes or no.
    pub const fn bool(name: &'static str, default: bool) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Bool,
            default: AttrDefault::Bool(default),
        }
    }

    /// Defines a text.
    pub const fn str(name: &'static str, default: &'static str) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Str,
            default: AttrDefault::Str(default),
        }
    }

    /// Defines several integers.
    pub const fn ints(name: &'static str, default: &'static [i64]) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Ints,
            default: AttrDefault::Ints(default),
        }
    }

    /// Defines several numbers.
    pub const fn floats(name: &'static str, default: &'static [f32]) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Floats,
            default: AttrDefault::Floats(default),
        }
    }

    /// Defines several texts.
    pub const fn strs(name: &'static str, default: &'static [&'static str]) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Strs,
            default: AttrDefault::Strs(default),
        }
    }

    /// Defines a data type.
    pub const fn dtype(name: &'static str, default: DataType) -> AttrDef {
        AttrDef {
            name,
            kind: AttrKind::Type,
            default: AttrDefault::Type(default),
        }
    }
}

impl Attr {
    /// Returns the kind of the value.
    pub const fn kind(&self) -> AttrKind {
        match self {
            Attr::Int(_) => AttrKind::Int,
            Attr::Float(_) => AttrKind::Float,
            Attr::Bool(_) => AttrKind::Bool,
            Attr::Str(_) => AttrKind::Str,
            Attr::Ints(_) => AttrKind::Ints,
            Attr::Floats(_) => AttrKind::Floats,
            Attr::Strs(_) => AttrKind::Strs,
            Attr::Tensor(_) => AttrKind::Tensor,
            Attr::Type(_) => AttrKind::Type,
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident,)*) => {
        $(impl From<$type> for Attr {
            fn from(value: $type) -> Attr {
                Attr::$variant(value.into())
            }
        })*
    };
}

from! {
    i64 => Int,
    f32 => Float,
    bool => Bool,
    &str => Str,
    String => Str,
    Vec<i64> => Ints,
    &[i64] => Ints,
    Vec<f32> => Floats,
    Vec<String> => Strs,
    Tensor => Tensor,
    DataType => Type,
}

/// The attributes of one node, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attrs(BTreeMap<String, Attr>);

impl Attrs {
    /// Makes an empty set.
    pub fn new() -> Attrs {
        Attrs::default()
    }

    /// Adds an attribute, for building a set in one expression.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Attr>) -> Attrs {
        self.set(name, value);
        self
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: &str, value: impl Into<Attr>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Finds an attribute that was set.
    pub fn get(&self, name: &str) -> Option<&Attr> {
        self.0.get(name)
    }

    /// Lists the attributes that were set, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Attr)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Compares the set with a definition: every attribute is known and of its kind, and none is missing.
    pub(crate) fn check(&self, defs: &[AttrDef]) -> Result<(), OpError> {
        for (name, value) in self.iter() {
            let Some(def) = defs.iter().find(|def| def.name == name) else {
                return Err(OpError::unsupported(format!(
                    "the attribute {name} is not supported"
                )));
            };
            if def.kind != value.kind() {
                let (wanted, found) = (def.kind, value.kind());
                return Err(OpError::invalid(format!(
                    "the attribute {name} is of kind {found:?}, not {wanted:?}"
                )));
            }
        }
        for def in defs {
            if def.default == AttrDefault::Required && self.get(def.name).is_none() {
                return Err(OpError::invalid(format!(
                    "the attribute {} is missing",
                    def.name
                )));
            }
        }
        Ok(())
    }
}

/// Attributes together with the definition that has their defaults.
#[derive(Clone, Copy)]
pub(crate) struct AttrReader<'a> {
    pub attrs: &'a Attrs,
    pub defs: &'a [AttrDef],
}

impl<'a> AttrReader<'a> {
    fn default_of(&self, name: &str) -> AttrDefault {
        self.defs
            .iter()
            .find(|def| def.name == name)
            .map_or(AttrDefault::Required, |def| def.default)
    }

    /// Returns the value of an attribute: the one that was set, or else the default.
    pub fn attr(&self, name: &str) -> Option<Attr> {
        if let Some(value) = self.attrs.get(name) {
            return Some(value.clone());
        }
        Some(match self.default_of(name) {
            AttrDefault::Required => return None,
            AttrDefault::Int(value) => Attr::Int(value),
            AttrDefault::Float(value) => Attr::Float(value),
            AttrDefault::Bool(value) => Attr::Bool(value),
            AttrDefault::Str(value) => value.into(),
            AttrDefault::Ints(list) => list.into(),
            AttrDefault::Floats(list) => list.to_vec().into(),
            AttrDefault::Strs(list) => Attr::Strs(list.iter().map(|&one| one.to_owned()).collect()),
            AttrDefault::Type(dtype) => dtype.into(),
        })
    }

    fn missing(name: &str) -> OpError {
        OpError::invalid(format!("the attribute {name} is missing"))
    }

    pub fn int(&self, name: &str) -> Result<i64, OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(&Attr::Int(value)), _) | (None, AttrDefault::Int(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }

    pub fn float(&self, name: &str) -> Result<f32, OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(&Attr::Float(value)), _) | (None, AttrDefault::Float(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }

    pub fn bool(&self, name: &str) -> Result<bool, OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(&Attr::Bool(value)), _) | (None, AttrDefault::Bool(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }

    pub fn str(&self, name: &str) -> Result<&'a str, OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(Attr::Str(value)), _) => Ok(value),
            (None, AttrDefault::Str(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }

    pub fn ints(&self, name: &str) -> Result<&'a [i64], OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(Attr::Ints(value)), _) => Ok(value),
            (None, AttrDefault::Ints(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }

    pub fn floats(&self, name: &str) -> Result<&'a [f32], OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(Attr::Floats(value)), _) => Ok(value),
            (None, AttrDefault::Floats(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }

    pub fn strs(&self, name: &str) -> Result<Vec<&'a str>, OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(Attr::Strs(value)), _) => Ok(value.iter().map(String::as_str).collect()),
            (None, AttrDefault::Strs(value)) => Ok(value.to_vec()),
            _ => Err(Self::missing(name)),
        }
    }

    /// Returns whether an attribute was set, and not left at its default.
    pub fn is_set(&self, name: &str) -> bool {
        self.attrs.get(name).is_some()
    }

    pub fn dtype(&self, name: &str) -> Result<DataType, OpError> {
        match (self.attrs.get(name), self.default_of(name)) {
            (Some(&Attr::Type(value)), _) | (None, AttrDefault::Type(value)) => Ok(value),
            _ => Err(Self::missing(name)),
        }
    }
}
