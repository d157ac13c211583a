//! Collectives in graphs: operators that all ranks of a communicator run together. A graph is split at them as at custom operators; a
//! run queues the operation of the communicator between two segments.

use std::sync::Arc;

use jumar::engine::{Span, Stream};
use jumar_acl::frontend::{Joint, Rank, Reduction};
use jumar_types::dtype::DataType;

use crate::graph::TensorType;
use crate::lowering::{Graph, Node, Value};
use crate::{GeError, GeResult};

/// The longest name of a group.
const LONGEST: usize = 128;

/// The types that are reduced.
const REDUCED: &[DataType] = &[
    DataType::Float32,
    DataType::Int32,
    DataType::Int8,
    DataType::Int16,
    DataType::Float16,
    DataType::Int64,
];
/// The types that are gathered: those and more.
const GATHERED: &[DataType] = &[
    DataType::Float32,
    DataType::Int32,
    DataType::Int8,
    DataType::Int16,
    DataType::Float16,
    DataType::BFloat16,
    DataType::Int64,
    DataType::UInt64,
    DataType::UInt8,
    DataType::UInt16,
    DataType::UInt32,
    DataType::Float64,
];

/// A collective of a node.
#[derive(Clone, Debug)]
pub struct Collective {
    what: Joint,
    /// The name of the communicator.
    group: String,
    /// How many ranks the operator counts on, if it does.
    ranks: Option<i64>,
}

fn at(node: &Node, what: impl std::fmt::Display) -> GeError {
    GeError::new(format!("node {} ({}): {what}", node.name, node.kind))
}

fn text<'a>(node: &'a Node, name: &str) -> GeResult<&'a str> {
    match node.attrs.get(name) {
        Some(Value::Str(text)) => Ok(text),
        None => Err(at(node, format_args!("its attribute {name} is missing"))),
        Some(_) => Err(at(
            node,
            format_args!("its attribute {name} has to be a text"),
        )),
    }
}

fn ranks(node: &Node) -> GeResult<i64> {
    match node.attrs.get("rank_size") {
        Some(&Value::Int(ranks)) if ranks > 0 => Ok(ranks),
        Some(&Value::Int(ranks)) => Err(at(
            node,
            format_args!("its attribute rank_size is {ranks}; 1 or more are required"),
        )),
        _ => Err(at(node, "its attribute rank_size, a number, is missing")),
    }
}

fn reduction(node: &Node) -> GeResult<Reduction> {
    let name = text(node, "reduction")?;
    let known = Reduction::ALL.into_iter().find(|one| one.name() == name);
    known.ok_or_else(|| {
        at(
            node,
            format_args!(
                "its attribute reduction is {name:?}; \"sum\", \"prod\", \"max\" or \"min\" is required"
            ),
        )
    })
}

impl Collective {
    /// Returns the collective that a node is, if it is one.
    ///
    /// # Errors
    ///
    /// FAILED: its attributes are not those of the operator, or an input is not linked.
    pub fn of(node: &Node) -> GeResult<Option<Collective>> {
        let what = match node.kind.as_str() {
            "HcomAllGather" => Joint::AllGather,
            "HcomAllReduce" => Joint::AllReduce(reduction(node)?),
            "HcomReduceScatter" => Joint::ReduceScatter(reduction(node)?),
            _ => return Ok(None),
        };
        let ranks = match what {
            Joint::AllReduce(_) => None,
            Joint::AllGather | Joint::ReduceScatter(_) => Some(ranks(node)?),
        };
        let group = text(node, "group")?;
        if group.is_empty() || group.len() > LONGEST {
            return Err(at(
                node,
                format_args!(
                    "its attribute group has {} bytes; the name of a communicator, of 1 to {LONGEST}, is required",
                    group.len()
                ),
            ));
        }
        if node.inputs.len() != 1 || node.inputs[0].from.is_none() {
            return Err(at(node, "its input x is missing"));
        }
        Ok(Some(Collective {
            what,
            group: group.to_owned(),
            ranks,
        }))
    }

    /// Returns the type of the output.
    ///
    /// # Errors
    ///
    /// FAILED: the input has a type that the operator does not take, or a first dimension that ranks cannot share or fill.
    pub fn output(&self, node: &Node, input: &TensorType) -> GeResult<TensorType> {
        let types = match self.what {
            Joint::AllReduce(_) | Joint::ReduceScatter(_) => REDUCED,
            Joint::AllGather => GATHERED,
        };
        if !types.contains(&input.dtype) {
            let types: Vec<_> = types.iter().map(|dtype| dtype.name()).collect();
            return Err(at(
                node,
                format_args!(
                    "its input x is {}; {} are supported",
                    input.dtype,
                    types.join(", ")
                ),
            ));
        }
        let mut output = input.clone();
        let Some(ranks) = self.ranks.filter(|_| input.rank().is_some()) else {
            return Ok(output);
        };
        let Some(first) = output.shape.first_mut() else {
            return Err(at(
                node,
                "its input x has no dimension along which the parts of ranks could lie; reshape it to [1]",
            ));
        };
        let shared = match self.what {
            _ if *first < 0 => Some(*first),
            Joint::ReduceScatter(_) => (*first % ranks == 0).then_some(*first / ranks),
            Joint::AllReduce(_) | Joint::AllGather => first.checked_mul(ranks),
        };
        *first = shared.ok_or_else(|| {
            at(
                node,
                format_args!(
                    "its input x is {input}, whose first dimension {ranks} ranks cannot {}",
                    match self.what {
                        Joint::ReduceScatter(_) => "share equally",
                        Joint::AllReduce(_) | Joint::AllGather => "fill each with as much",
                    }
                ),
            )
        })?;
        Ok(output)
    }

    /// Queues the operation. The other ranks of the communicator have to do so, too.
    ///
    /// # Errors
    ///
    /// FAILED: the device has no communicator of the name; it has another number of ranks; what the communicator refuses.
    pub fn queue(
        &self,
        node: &Node,
        stream: &Arc<Stream>,
        (input, from): (&TensorType, Span),
        to: Span,
    ) -> GeResult<()> {
        let rank = Rank::named(stream, &self.group).map_err(|error| at(node, error))?;
        let Some(rank) = rank else {
            let known = Rank::names(stream.device());
            return Err(at(
                node,
                format_args!(
                    "device {} has no communicator {:?}, but {}: create it on all ranks before the graph runs, and name it as HcclGetCommName does",
                    stream.device(),
                    self.group,
                    match known.is_empty() {
                        true => "none at all".to_owned(),
                        false => format!("{known:?}"),
                    }
                ),
            ));
        };
        if let Some(ranks) = self.ranks
            && ranks != i64::from(rank.size())
        {
            return Err(at(
                node,
                format_args!(
                    "its attribute rank_size is {ranks}; communicator {:?} has {} ranks",
                    self.group,
                    rank.size()
                ),
            ));
        }
        rank.queue(stream, self.what, input.dtype, from, to)
            .map_err(|error| at(node, error))
    }
}

/// Refuses a graph with a collective; `why` is a sentence about it, behind the word "which".
///
/// # Errors
///
/// FAILED: there is one.
pub fn refuse(graph: &Graph, why: impl std::fmt::Display) -> GeResult<()> {
    for node in &graph.nodes {
        if Collective::of(node)?.is_some() {
            return Err(at(node, format_args!("a collective, which {why}")));
        }
    }
    Ok(())
}
