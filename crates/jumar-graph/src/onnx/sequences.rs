//! Sequences of tensors: their lengths and positions are known when a model is imported, so that they are lists of values.

use std::collections::BTreeMap;

use jumar_ops::{Attr, Attrs, Builder, Tensor};
use jumar_types::dtype::DataType;

use super::Importer;
use super::edges::without_optional;
use super::inline::Item;
use super::proto::{GraphProto, NodeProto};
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
    "SequenceMap",
    "SplitToSequence",
];

pub(super) fn is_sequence_operator(node: &NodeProto) -> bool {
    matches!(node.domain.as_str(), "" | "ai.onnx") && OPERATORS.contains(&node.op_type.as_str())
}

/// The most rounds of a loop over sequences, whose nodes are written out for each round.
const MOST_ROUNDS: i64 = 1 << 12;

impl Importer<'_> {
    /// Returns whether a node makes or takes a sequence.
    pub(super) fn is_about_sequences(
        &self,
        node: &NodeProto,
        bodies: &BTreeMap<String, GraphProto>,
    ) -> bool {
        let returns_sequence = |body: &GraphProto| {
            let types = body
                .output
                .iter()
                .filter_map(|output| output.r#type.as_ref());
            types
                .map(without_optional)
                .any(|ty| ty.sequence_type.is_some())
        };
        is_sequence_operator(node)
            || node.input.iter().any(|name| self.lists.contains_key(name))
            || node.op_type == "If" && bodies.values().any(returns_sequence)
    }

    pub(super) fn convert_sequence(
        &mut self,
        node: &NodeProto,
        attrs: &Attrs,
        mut bodies: BTreeMap<String, GraphProto>,
    ) -> Result<()> {
        let mut body = |name: &str| {
            bodies
                .remove(name)
                .ok_or_else(|| GraphError::invalid(format!("the attribute {name} is missing")))
        };
        let made = match node.op_type.as_str() {
            "Loop" => self.unrolled(node, body("body")?)?,
            "SequenceMap" => self.mapped(node, body("body")?)?,
            "If" => {
                let condition = self.value(node, 0)?;
                let chosen = self.constant(condition).and_then(Tensor::ints);
                let name = match chosen.as_deref() {
                    Some(&[0]) => "else_branch",
                    Some(&[_]) => "then_branch",
                    _ => {
                        return Err(GraphError::unsupported(
                            "a sequence that depends on a condition which is not a constant is not supported",
                        ));
                    }
                };
                self.inlined(body(name)?, Vec::new())?
            }
            _ => vec![self.made(node, attrs)?],
        };
        for (name, item) in node.output.iter().zip(made) {
            if !name.is_empty() {
                self.bind(name.clone(), item)?;
            }
        }
        Ok(())
    }

    /// Writes out the rounds of a loop, whose number has to be known.
    fn unrolled(&mut self, node: &NodeProto, body: GraphProto) -> Result<Vec<Item>> {
        let number = |own: &mut Self, index: usize| -> Result<Option<i64>> {
            if node.input.get(index).is_none_or(String::is_empty) {
                return Ok(None);
            }
            let value = own.value(node, index)?;
            match own.constant(value).and_then(Tensor::ints).as_deref() {
                Some(&[number]) => Ok(Some(number)),
                _ => Err(GraphError::unsupported(
                    "a loop over sequences whose number of rounds is not a constant is not supported",
                )),
            }
        };
        let (rounds, mut goes_on) = (number(self, 0)?, number(self, 1)?.unwrap_or(1) != 0);
        let rounds = rounds.unwrap_or(i64::MAX);
        let names = node.input.get(2..).unwrap_or_default();
        let mut carried = names
            .iter()
            .map(|name| {
                let item = self.item(name);
                item.ok_or_else(|| {
                    GraphError::invalid(format!("nothing produces its input {name}"))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let mut scans = vec![Vec::new(); body.output.len().saturating_sub(carried.len() + 1)];
        let mut round = 0;
        while goes_on && round < rounds {
            if round == MOST_ROUNDS {
                return Err(GraphError::unsupported(format!(
                    "a loop over sequences of more than {MOST_ROUNDS} rounds is not supported"
                )));
            }
            let turn = self.add_constant(Tensor::from_ints(&[round]).reshaped(&[])?);
            let condition = self.add_constant(Tensor::scalar(DataType::Bool, 1.0)?);
            let mut given = vec![Item::Value(turn), Item::Value(condition)];
            given.append(&mut carried);
            let mut made = self.inlined(body.clone(), given)?.into_iter();
            goes_on = match made.next() {
                Some(Item::Value(value)) => {
                    let known = self.constant(value).and_then(Tensor::ints);
                    known.as_deref().map(|known| known != [0]).ok_or_else(|| {
                        GraphError::unsupported(
                            "a loop over sequences whose condition is not a constant is not supported",
                        )
                    })?
                }
                _ => return Err(GraphError::invalid("its graph returns no condition")),
            };
            carried.extend(made.by_ref().take(names.len()));
            for (list, item) in scans.iter_mut().zip(made) {
                match item {
                    Item::Value(value) => list.push(value),
                    Item::List(_) => {
                        return Err(GraphError::unsupported(
                            "a sequence for each round of a loop is not supported",
                        ));
                    }
                }
            }
            round += 1;
        }
        for list in scans {
            if list.is_empty() {
                return Err(GraphError::unsupported(
                    "a loop over sequences without a round, whose results are joined, is not supported",
                ));
            }
            let axes = self.add_constant(Tensor::from_ints(&[0]));
            let rows = list
                .into_iter()
                .map(|value| self.standard("Unsqueeze", &[value, axes], Attrs::new()))
                .collect::<Result<Vec<_>>>()?;
            let joined = self.standard("Concat", &rows, Attrs::new().with("axis", 0))?;
            carried.push(Item::Value(joined));
        }
        Ok(carried)
    }

    /// Applies a graph to each element of a sequence.
    fn mapped(&mut self, node: &NodeProto, body: GraphProto) -> Result<Vec<Item>> {
        let count = self.list(node)?.len();
        let mut results = vec![Vec::with_capacity(count); body.output.len()];
        for index in 0..count {
            let given = node
                .input
                .iter()
                .map(|name| match self.item(name) {
                    Some(Item::List(list)) => {
                        list.get(index).copied().map(Item::Value).ok_or_else(|| {
                            GraphError::invalid(format!(
                                "the sequence {name} has {} tensors, and the first one {count}",
                                list.len()
                            ))
                        })
                    }
                    Some(value) => Ok(value),
                    None => Err(GraphError::invalid(format!(
                        "nothing produces its input {name}"
                    ))),
                })
                .collect::<Result<Vec<_>>>()?;
            for (list, item) in results.iter_mut().zip(self.inlined(body.clone(), given)?) {
                match item {
                    Item::Value(value) => list.push(value),
                    Item::List(_) => {
                        return Err(GraphError::invalid("its graph returns a sequence"));
                    }
                }
            }
        }
        Ok(results.into_iter().map(Item::List).collect())
    }

    fn made(&mut self, node: &NodeProto, attrs: &Attrs) -> Result<Item> {
        Ok(match node.op_type.as_str() {
            "SequenceEmpty" => Item::List(Vec::new()),
            "SequenceConstruct" => Item::List(
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
                Item::List(list)
            }
            "SequenceErase" => {
                let mut list = self.list(node)?;
                let position = self.position(node, 1)?.unwrap_or(-1);
                list.remove(within(position, list.len(), list.len())?);
                Item::List(list)
            }
            "SequenceAt" => {
                let list = self.list(node)?;
                let position = self.position(node, 1)?;
                let position = position.ok_or_else(|| GraphError::invalid("it has no position"))?;
                Item::Value(list[within(position, list.len(), list.len())?])
            }
            "SequenceLength" => {
                let length = self.list(node)?.len() as i64;
                Item::Value(self.add_constant(Tensor::from_ints(&[length]).reshaped(&[])?))
            }
            "ConcatFromSequence" => Item::Value(self.joined(node, attrs)?),
            "SplitToSequence" => Item::List(self.parts(node, attrs)?),
            "Identity" | "Optional" | "OptionalGetElement" => Item::List(self.list(node)?),
            "OptionalHasElement" => {
                let is_given = Tensor::scalar(DataType::Bool, 1.0)?;
                Item::Value(self.add_constant(is_given))
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
