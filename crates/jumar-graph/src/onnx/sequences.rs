//! Sequences of tensors: their lengths and positions are known when a model is imported, so that they are lists of values.

use jumar_ops::{Attr, Attrs, Builder, Tensor};

use super::Importer;
use super::proto::NodeProto;
use crate::{GraphError, Result, ValueId};

/// Operators that make sequences or take them.
const OPERATORS: &[&str] = &[
    "ConcatFromSequence",
    "SequenceAt",
    "SequenceConstruct",
    "SequenceEmpty",
    "SequenceErase",
    "SequenceInsert",
    "SequenceLength",
    "SplitToSequence",
];

pub(super) fn is_sequence_operator(node: &NodeProto) -> bool {
    matches!(node.domain.as_str(), "" | "ai.onnx") && OPERATORS.contains(&node.op_type.as_str())
}

/// What a node on sequences makes.
enum Made {
    Value(ValueId),
    List(Vec<ValueId>),
}

impl Importer<'_> {
    /// Returns whether a node makes or takes a sequence.
    pub(super) fn is_about_sequences(&self, node: &NodeProto) -> bool {
        is_sequence_operator(node) || node.input.iter().any(|name| self.lists.contains_key(name))
    }

    pub(super) fn convert_sequence(&mut self, node: &NodeProto, attrs: &Attrs) -> Result<()> {
        let made = self.made(node, attrs)?;
        let [output] = &node.output[..] else {
            return Err(GraphError::invalid("it has to have one output"));
        };
        match made {
            Made::Value(value) => self.define(output.clone(), value),
            Made::List(list) => {
                self.lists.insert(output.clone(), list);
                Ok(())
            }
        }
    }

    fn made(&mut self, node: &NodeProto, attrs: &Attrs) -> Result<Made> {
        Ok(match node.op_type.as_str() {
            "SequenceEmpty" => Made::List(Vec::new()),
            "SequenceConstruct" => Made::List(
                (0..node.input.len())
                    .map(|index| self.value(node, index))
                    .collect::<Result<_>>()?,
            ),
            "SequenceInsert" => {
                let (mut list, value) = (self.list(node)?, self.value(node, 1)?);
                let at = match self.position(node, 2)? {
                    Some(position) => within(position, list.len(), list.len() + 1)?,
                    None => list.len(),
                };
                list.insert(at, value);
                Made::List(list)
            }
            "SequenceErase" => {
                let mut list = self.list(node)?;
                let position = self.position(node, 1)?.unwrap_or(-1);
                list.remove(within(position, list.len(), list.len())?);
                Made::List(list)
            }
            "SequenceAt" => {
                let list = self.list(node)?;
                let position = self.position(node, 1)?;
                let position = position.ok_or_else(|| GraphError::invalid("it has no position"))?;
                Made::Value(list[within(position, list.len(), list.len())?])
            }
            "SequenceLength" => {
                let length = self.list(node)?.len() as i64;
                Made::Value(self.add_constant(Tensor::from_ints(&[length]).reshaped(&[])?))
            }
            "ConcatFromSequence" => Made::Value(self.joined(node, attrs)?),
            "SplitToSequence" => Made::List(self.parts(node, attrs)?),
            "Identity" | "Optional" | "OptionalGetElement" => Made::List(self.list(node)?),
            "OptionalHasElement" => {
                let is_given = Tensor::scalar(jumar_types::dtype::DataType::Bool, 1.0)?;
                Made::Value(self.add_constant(is_given))
            }
            _ => {
                return Err(GraphError::unsupported(
                    "a sequence as its input is not supported",
                ));
            }
        })
    }

    fn list(&self, node: &NodeProto) -> Result<Vec<ValueId>> {
        let first = node.input.first().and_then(|name| self.lists.get(name));
        first.cloned().ok_or_else(|| {
            GraphError::unsupported("its input is not a sequence that this graph makes")
        })
    }

    fn value(&mut self, node: &NodeProto, index: usize) -> Result<ValueId> {
        let name = node.input.get(index).cloned().unwrap_or_default();
        self.resolve(&name)
            .ok_or_else(|| GraphError::invalid(format!("its input {index} is not a tensor")))
    }

    /// Returns a position, where it is given.
    fn position(&mut self, node: &NodeProto, index: usize) -> Result<Option<i64>> {
        if node.input.get(index).is_none_or(String::is_empty) {
            return Ok(None);
        }
        let value = self.value(node, index)?;
        let position = self.constant(value).and_then(Tensor::ints);
        match position.as_deref() {
            Some(&[position]) => Ok(Some(position)),
            _ => Err(GraphError::unsupported(
                "a position in a sequence that is not a constant is not supported",
            )),
        }
    }

    fn joined(&mut self, node: &NodeProto, attrs: &Attrs) -> Result<ValueId> {
        let mut list = self.list(node)?;
        let Some(&Attr::Int(axis)) = attrs.get("axis") else {
            return Err(GraphError::invalid("the attribute axis is missing"));
        };
        if matches!(attrs.get("new_axis"), Some(&Attr::Int(1))) {
            let axes = self.add_constant(Tensor::from_ints(&[axis]));
            for value in &mut list {
                *value = self.standard("Unsqueeze", &[*value, axes], Attrs::new())?;
            }
        }
        if list.is_empty() {
            return Err(GraphError::invalid(
                "a sequence without elements cannot be joined",
            ));
        }
        self.standard("Concat", &list, Attrs::new().with("axis", axis))
    }

    fn parts(&mut self, node: &NodeProto, attrs: &Attrs) -> Result<Vec<ValueId>> {
        let x = self.value(node, 0)?;
        let int = |name: &str, default: i64| match attrs.get(name) {
            Some(&Attr::Int(value)) => value,
            _ => default,
        };
        let (axis, keeps) = (int("axis", 0), int("keepdims", 1) != 0);
        let ty = self.ty(x);
        let rank = ty.shape.len() as i64;
        let at = usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
        let length = at.and_then(|at| ty.shape.get(at)).copied();
        let length = length.filter(|&length| length >= 0).ok_or_else(|| {
            GraphError::unsupported(format!("dimension {axis} of {ty} has to be known"))
        })?;
        let is_split = node.input.get(1).is_some_and(|name| !name.is_empty());
        let sizes = if is_split {
            let split = self.value(node, 1)?;
            let is_scalar = self.ty(split).rank() == Some(0);
            let sizes = self.constant(split).and_then(Tensor::ints).ok_or_else(|| {
                GraphError::unsupported("sizes that are not a constant are not supported")
            })?;
            match sizes[..] {
                [size] if is_scalar && size > 0 => pieces(length, size),
                _ if is_scalar => return Err(GraphError::invalid("the size has to be above 0")),
                _ => sizes,
            }
        } else {
            pieces(length, 1)
        };
        let mut list = Vec::with_capacity(sizes.len());
        let axes = self.add_constant(Tensor::from_ints(&[axis]));
        let mut start = 0;
        for size in sizes {
            let end = start + size;
            if size < 0 || end > length {
                return Err(GraphError::invalid(format!(
                    "the sizes do not add up to {length}"
                )));
            }
            let [first, last] = [start, end].map(|at| self.add_constant(Tensor::from_ints(&[at])));
            let mut part = self.standard("Slice", &[x, first, last, axes], Attrs::new())?;
            if !keeps && !is_split {
                part = self.standard("Squeeze", &[part, axes], Attrs::new())?;
            }
            list.push(part);
            start = end;
        }
        match start == length {
            true => Ok(list),
            false => Err(GraphError::invalid(format!(
                "the sizes do not add up to {length}"
            ))),
        }
    }
}

/// The sizes of pieces of a length; the last one may be shorter.
fn pieces(length: i64, size: i64) -> Vec<i64> {
    (0..length)
        .step_by(size as usize)
        .map(|start| size.min(length - start))
        .collect()
}

/// Returns a position below `end`; one below 0 counts from the end of the sequence.
fn within(position: i64, length: usize, end: usize) -> Result<usize> {
    let at = if position < 0 {
        position + length as i64
    } else {
        position
    };
    usize::try_from(at)
        .ok()
        .filter(|&at| at < end)
        .ok_or_else(|| {
            GraphError::invalid(format!(
                "the position {position} is outside a sequence of {length} tensors"
            ))
        })
}
