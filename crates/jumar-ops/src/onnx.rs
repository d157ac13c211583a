//! How ONNX operators become ours.
//!
//! Each operator's file holds the conversion of the ONNX operators that end in it. A conversion sees the ONNX node,
//! and asks a [`Builder`] for nodes and constants.

use std::cell::RefCell;
use std::collections::BTreeSet;

use jumar_types::dtype::DataType;

use crate::{Attr, AttrKind, Attrs, OpError, StorageType, Tensor, TensorType};

/// A value of the graph that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueRef(pub u32);

/// One ONNX operator over a range of operator-set versions.
#[derive(Debug)]
pub struct OnnxForm {
    /// The ONNX name.
    pub name: &'static str,
    /// The first operator-set version that this conversion understands.
    pub since: i64,
    /// The last.
    pub until: i64,
    /// Converts a node into ours. Returns the values of its outputs.
    pub lower: fn(&mut dyn Builder, &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError>,
}

/// The newest operator set that conversions were checked against.
pub(crate) const LATEST: i64 = 28;

impl OnnxForm {
    pub(crate) const fn new(
        name: &'static str,
        since: i64,
        until: i64,
        lower: fn(&mut dyn Builder, &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError>,
    ) -> OnnxForm {
        OnnxForm {
            name,
            since,
            until,
            lower,
        }
    }
}

/// Adds to the graph that is being built.
pub trait Builder {
    /// Returns what is known of a value's type.
    fn ty(&self, value: ValueRef) -> &TensorType;

    /// Returns a value's contents, if constant.
    fn constant(&self, value: ValueRef) -> Option<&Tensor>;

    /// Returns the type of ONNX that the bytes of a value stand for, where no kernel computes on it.
    fn storage(&self, _value: ValueRef) -> Option<StorageType> {
        None
    }

    /// Sets the type of ONNX that the bytes of a value stand for.
    fn set_storage(&mut self, _value: ValueRef, _storage: StorageType) {}

    /// Adds a constant.
    fn add_constant(&mut self, tensor: Tensor) -> ValueRef;

    /// Adds a node and returns its outputs.
    fn add_node(
        &mut self,
        operator: &'static str,
        inputs: &[Option<ValueRef>],
        attrs: Attrs,
        outputs: usize,
    ) -> Result<Vec<ValueRef>, OpError>;
}

impl dyn Builder + '_ {
    /// Adds a node of one output and returns it.
    pub(crate) fn node(
        &mut self,
        operator: &'static str,
        inputs: &[Option<ValueRef>],
        attrs: Attrs,
    ) -> Result<ValueRef, OpError> {
        let outputs = self.add_node(operator, inputs, attrs, 1)?;
        outputs
            .first()
            .copied()
            .ok_or_else(|| OpError::internal("a node without an output"))
    }
}

/// An ONNX node, as a conversion sees it. Attributes that no conversion asked for are refused afterwards.
pub struct OnnxNode<'a> {
    /// The version of the operator set that the model imports.
    pub opset: i64,
    /// The number of outputs, named or not.
    pub outputs: usize,
    inputs: &'a [Option<ValueRef>],
    used_outputs: &'a [bool],
    attrs: &'a Attrs,
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> OnnxNode<'a> {
    /// Makes the view of a node.
    pub fn new(
        opset: i64,
        inputs: &'a [Option<ValueRef>],
        used_outputs: &'a [bool],
        attrs: &'a Attrs,
    ) -> OnnxNode<'a> {
        OnnxNode {
            opset,
            outputs: used_outputs.len(),
            inputs,
            used_outputs,
            attrs,
            asked: RefCell::default(),
        }
    }

    /// Returns an input that has to be there.
    pub fn input(&self, index: usize) -> Result<ValueRef, OpError> {
        self.optional(index)
            .ok_or_else(|| OpError::invalid(format!("input {index} is missing")))
    }

    /// Returns an input that may be left out.
    pub fn optional(&self, index: usize) -> Option<ValueRef> {
        self.inputs.get(index).copied().flatten()
    }

    /// Returns all inputs.
    pub fn inputs(&self) -> &'a [Option<ValueRef>] {
        self.inputs
    }

    /// Returns whether an output is used.
    pub fn uses_output(&self, index: usize) -> bool {
        self.used_outputs.get(index).copied().unwrap_or(false)
    }

    /// Refuses an output that is asked for although the conversion does not produce it.
    pub(crate) fn only_output(&self, what: &str) -> Result<(), OpError> {
        if (1..self.outputs).any(|index| self.uses_output(index)) {
            return Err(OpError::unsupported(format!(
                "the output {what} is not supported"
            )));
        }
        Ok(())
    }

    /// Lists attributes of the node that were not read.
    pub fn leftovers(&self) -> Vec<&'a str> {
        let asked = self.asked.borrow();
        self.attrs
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !asked.contains(*name))
            .collect()
    }

    /// Returns all attributes but those that the conversion reads itself, for another operator.
    pub(crate) fn rest(&self, own: &[&str]) -> Attrs {
        let mut rest = Attrs::new();
        for (name, value) in self.attrs.iter() {
            if !own.contains(&name) {
                self.ignore(name);
                rest.set(name, value.clone());
            }
        }
        rest
    }

    fn ask(&self, name: &str) -> Option<&'a Attr> {
        self.asked.borrow_mut().insert(name.to_owned());
        self.attrs.get(name)
    }

    fn wrong(name: &str, wanted: &str) -> OpError {
        OpError::invalid(format!("the attribute {name} has to be {wanted}"))
    }

    /// Marks an attribute as understood although its value does not matter.
    pub(crate) fn ignore(&self, name: &str) {
        let _ = self.ask(name);
    }

    pub(crate) fn int(&self, name: &str) -> Result<Option<i64>, OpError> {
        match self.ask(name) {
            None => Ok(None),
            Some(&Attr::Int(value)) => Ok(Some(value)),
            Some(_) => Err(Self::wrong(name, "an integer")),
        }
    }

    pub(crate) fn int_or(&self, name: &str, default: i64) -> Result<i64, OpError> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    pub(crate) fn bool_or(&self, name: &str, default: bool) -> Result<bool, OpError> {
        Ok(self.int(name)?.map_or(default, |value| value != 0))
    }

    pub(crate) fn float_or(&self, name: &str, default: f32) -> Result<f32, OpError> {
        match self.ask(name) {
            None => Ok(default),
            Some(&Attr::Float(value)) => Ok(value),
            Some(_) => Err(Self::wrong(name, "a number")),
        }
    }

    pub(crate) fn float(&self, name: &str) -> Result<Option<f32>, OpError> {
        match self.ask(name) {
            None => Ok(None),
            Some(&Attr::Float(value)) => Ok(Some(value)),
            Some(_) => Err(Self::wrong(name, "a number")),
        }
    }

    pub(crate) fn str_or(&self, name: &str, default: &'a str) -> Result<&'a str, OpError> {
        match self.ask(name) {
            None => Ok(default),
            Some(Attr::Str(value)) => Ok(value),
            Some(_) => Err(Self::wrong(name, "a text")),
        }
    }

    pub(crate) fn ints(&self, name: &str) -> Result<Option<&'a [i64]>, OpError> {
        match self.ask(name) {
            None => Ok(None),
            Some(Attr::Ints(value)) => Ok(Some(value)),
            Some(_) => Err(Self::wrong(name, "a list of integers")),
        }
    }

    pub(crate) fn floats(&self, name: &str) -> Result<Option<&'a [f32]>, OpError> {
        match self.ask(name) {
            None => Ok(None),
            Some(Attr::Floats(value)) => Ok(Some(value)),
            Some(_) => Err(Self::wrong(name, "a list of numbers")),
        }
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<&'a Tensor>, OpError> {
        match self.ask(name) {
            None => Ok(None),
            Some(Attr::Tensor(value)) => Ok(Some(value)),
            Some(_) => Err(Self::wrong(name, "a tensor")),
        }
    }

    pub(crate) fn dtype(&self, name: &str) -> Result<Option<DataType>, OpError> {
        match self.int(name)? {
            None => Ok(None),
            Some(number) => i32::try_from(number)
                .ok()
                .and_then(DataType::from_onnx)
                .map(Some)
                .ok_or_else(|| {
                    OpError::unsupported(format!(
                        "the data type {number} of attribute {name} is unknown"
                    ))
                }),
        }
    }
}

/// Converts an operator that has the same inputs, outputs and attributes here: each attribute that our definition
/// names is taken as it is, and ONNX's numbers for yes and no, and for data types, become what they mean.
pub(crate) fn alike(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    let attrs = attrs_alike(node, operator)?;
    builder.add_node(operator, node.inputs(), attrs, node.outputs.max(1))
}

/// Reads the attributes that [`alike`] passes on.
pub(crate) fn attrs_alike(node: &OnnxNode<'_>, operator: &'static str) -> Result<Attrs, OpError> {
    let definition = crate::find(operator)
        .ok_or_else(|| OpError::internal(format!("there is no operator {operator}")))?;
    let mut attrs = Attrs::new();
    for def in definition.attrs {
        match def.kind {
            AttrKind::Bool => {
                if let Some(value) = node.int(def.name)? {
                    attrs.set(def.name, value != 0);
                }
            }
            AttrKind::Type => {
                if let Some(value) = node.dtype(def.name)? {
                    attrs.set(def.name, value);
                }
            }
            _ => {
                if let Some(value) = node.ask(def.name) {
                    attrs.set(def.name, value.clone());
                }
            }
        }
    }
    Ok(attrs)
}

/// Converts a value where it is of another type.
pub(crate) fn cast(
    builder: &mut dyn Builder,
    value: ValueRef,
    dtype: DataType,
) -> Result<ValueRef, OpError> {
    if builder.ty(value).dtype == dtype {
        return Ok(value);
    }
    let attrs = Attrs::new().with("dst_type", i64::from(dtype.acl()));
    builder.node("Cast", &[Some(value)], attrs)
}

/// Converts a value of a type that no kernel computes on to float32, or to the integers that it is stored as.
pub(crate) fn decoded(builder: &mut dyn Builder, value: ValueRef) -> Result<ValueRef, OpError> {
    match builder.storage(value) {
        Some(storage) if !storage.is_integer() => {
            let attrs = Attrs::new().with("format", storage.onnx());
            builder.node("jumar.Decode", &[Some(value)], attrs)
        }
        _ => Ok(value),
    }
}

/// Converts numbers to a type that no kernel computes on.
pub(crate) fn encoded(
    builder: &mut dyn Builder,
    value: ValueRef,
    storage: StorageType,
    saturate: bool,
    round_mode: &str,
) -> Result<ValueRef, OpError> {
    let dtype = match storage.is_integer() {
        true => DataType::Int32,
        false => DataType::Float32,
    };
    let value = cast(builder, value, dtype)?;
    let attrs = Attrs::new()
        .with("format", storage.onnx())
        .with("saturate", saturate)
        .with("round_mode", round_mode);
    let value = builder.node("jumar.Encode", &[Some(value)], attrs)?;
    builder.set_storage(value, storage);
    Ok(value)
}

/// The type in which values of two real types can be computed on together: float32 holds both storage ones.
pub(crate) fn wider(one: DataType, two: DataType) -> DataType {
    match (one, two) {
        _ if one == two => one,
        (DataType::Float64, _) | (_, DataType::Float64) => DataType::Float64,
        _ => DataType::Float32,
    }
}

/// Computes on integers and booleans what is defined in real ones: in float64, cut to integers in the end, which
/// wrap around as sums of the type itself do.
pub(crate) fn through_float64(
    builder: &mut dyn Builder,
    x: ValueRef,
    compute: impl FnOnce(&mut dyn Builder, ValueRef) -> Result<ValueRef, OpError>,
) -> Result<ValueRef, OpError> {
    let dtype = builder.ty(x).dtype;
    if dtype.is_float() {
        return compute(builder, x);
    }
    let wide = cast(builder, x, DataType::Float64)?;
    let result = compute(builder, wide)?;
    let integer = cast(builder, result, DataType::Int64)?;
    cast(builder, integer, dtype)
}

pub(crate) fn plain(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    Ok(vec![builder.node(operator, node.inputs(), Attrs::new())?])
}
