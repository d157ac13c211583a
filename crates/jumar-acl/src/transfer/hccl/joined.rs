//! Collectives that single operators are joined with and that graphs have: a communicator by its name, and an operation between two
//! tasks of a stream.

use std::sync::Arc;

use jumar::engine::{Span, Stream};
use jumar_eager::{Exchange, Group, Memory, Transfer};
use jumar_hccl::{
    Collective, Communicator, DataType, Kind, Operation, Pieces, Reduction, Signature, digest,
};
use jumar_types::dtype::DataType as Element;
use jumar_types::{Error, ErrorKind, Result};

use super::group::{self, Member};
use super::operation::queue_on;
use super::{InUse, wrong};
use crate::{Cx, Raw, process, thread};

/// Queues a collective that is ready.
type Ready = Box<dyn FnOnce(&Cx<'_>, &Arc<Stream>) -> Result<()>>;

/// Finds the communicator of a device by the name that all ranks share.
fn find(cx: &Cx<'_>, name: &str, device: u32) -> Result<Option<InUse>> {
    let comms = cx.process.communication.comms.all();
    let found = comms.iter().find(|comm| {
        comm.device == device && comm.engine.get().is_some_and(|one| one.name() == name)
    });
    found.map(|comm| cx.comm(Raw(comm.id))).transpose()
}

/// Returns the rank of the current device in the communicator of a name, if there is one.
pub(crate) fn group_named(cx: &Cx<'_>, name: &str) -> Option<Group> {
    let device = cx.comm_device().ok()?;
    let comm = find(cx, name, device).ok()??;
    let engine = comm.engine().ok()?;
    Some(Group {
        name: name.to_owned(),
        rank: engine.rank(),
        size: engine.size(),
    })
}

/// Returns the type of elements that are copied or added.
fn element_type(dtype: Element) -> Result<DataType> {
    Ok(match dtype {
        Element::Int8 | Element::Bool => DataType::Int8,
        Element::UInt8 => DataType::UInt8,
        Element::Int16 => DataType::Int16,
        Element::UInt16 => DataType::UInt16,
        Element::Int32 => DataType::Int32,
        Element::UInt32 => DataType::UInt32,
        Element::Int64 => DataType::Int64,
        Element::UInt64 => DataType::UInt64,
        Element::Float16 => DataType::Float16,
        Element::BFloat16 => DataType::BFloat16,
        Element::Float32 => DataType::Float32,
        Element::Float64 => DataType::Float64,
        other => {
            let sentence = format!("ranks exchange no elements of type {other}");
            return Err(Error::new(ErrorKind::CommUnsupported, sentence));
        }
    })
}

/// Cuts a buffer into parts of equal length.
fn cut(span: Span, ranks: usize) -> Pieces {
    let bytes = span.bytes() / ranks;
    let parts = (0..ranks).map(|rank| match bytes {
        0 => Some(Span::EMPTY),
        _ => span.part(rank * bytes, bytes),
    });
    Pieces::Each(parts.collect())
}

/// Cuts a buffer into parts that lie one behind the other.
fn cut_by(span: Span, counts: &[u64], width: usize) -> Pieces {
    let mut start = 0;
    let parts = counts.iter().map(|count| {
        let bytes = *count as usize * width;
        let part = match bytes {
            0 => Some(Span::EMPTY),
            _ => span.part(start, bytes),
        };
        start += bytes;
        part
    });
    Pieces::Each(parts.collect())
}

/// Prepares the collective of a planned call. `memory` finds the memory that the plan names. The result queues it on a stream, as its own
/// function does.
///
/// # Errors
/// The communicator does not exist any longer, or is another one than in the first phase.
pub(crate) fn join(
    cx: &Cx<'_>,
    device: u32,
    exchange: &Exchange,
    memory: &dyn Fn(Memory) -> Span,
) -> Result<Ready> {
    let group = exchange.group();
    let Some(comm) = find(cx, &group.name, device)? else {
        return wrong(format!(
            "device {device} has no communicator \"{}\"",
            group.name
        ));
    };
    let engine = comm.engine()?;
    if (engine.rank(), engine.size()) != (group.rank, group.size) {
        return wrong(format!(
            "communicator \"{}\" has rank {} of {} on device {device}; the first phase planned with rank {} of {}",
            group.name,
            engine.rank(),
            engine.size(),
            group.rank,
            group.size
        ));
    }
    let ranks = engine.size() as usize;
    let span = |extent: Option<(Memory, usize, usize)>| match extent {
        None | Some((_, _, 0)) => Ok(Span::EMPTY),
        Some((of, start, bytes)) => memory(of).part(start, bytes).ok_or_else(|| {
            let sentence = "the memory of an exchange is shorter than planned";
            Error::new(ErrorKind::Internal, sentence)
        }),
    };
    let (from, to) = (span(exchange.send())?, span(exchange.receive())?);
    let data_type = element_type(exchange.dtype())?;
    let (kind, send, receive) = match exchange.transfer() {
        Transfer::AllReduce => (Kind::AllReduce, Pieces::Same(from), Pieces::Same(to)),
        Transfer::AllGather => (Kind::AllGather, Pieces::Same(from), cut(to, ranks)),
        Transfer::ReduceScatter => (Kind::ReduceScatter, cut(from, ranks), Pieces::Same(to)),
        Transfer::AllToAll => (Kind::AllToAll, cut(from, ranks), cut(to, ranks)),
        Transfer::AllToAllV { send, receive } => {
            let width = data_type.bytes();
            let parts = (cut_by(from, send, width), cut_by(to, receive, width));
            (Kind::AllToAllV, parts.0, parts.1)
        }
        Transfer::Barrier => {
            let nothing = vec![Some(Span::EMPTY); ranks];
            let receive = Pieces::Each(nothing.into());
            (Kind::Barrier, Pieces::Same(Span::EMPTY), receive)
        }
    };
    let mark = exchange.mark();
    let signature = Signature {
        kind,
        data_type,
        reduction: kind.reduces().then_some(Reduction::Sum),
        root: None,
        count: exchange.count(),
        digest: match mark.is_empty() {
            true => 0,
            false => digest(mark.iter().map(|number| *number as u64)),
        },
    };
    let collective = Collective {
        signature,
        send,
        receive,
    };
    let operation = Operation::Collective(collective);
    Ok(Box::new(move |cx, stream| {
        group::enter(cx, Member::Collectives)?;
        queue_on(cx, &comm, stream, operation)
    }))
}

/// What the ranks of a graph do together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Each element becomes what it is of all ranks together.
    AllReduce(Reduction),
    /// The elements of all ranks stand one behind the other.
    AllGather,
    /// As [`Joint::AllReduce`], and each rank has its own part of the result.
    ReduceScatter(Reduction),
}

/// The rank of a device in a communicator that a graph names.
pub struct Rank {
    comm: InUse,
    engine: Arc<Communicator>,
}

impl Rank {
    /// Finds the rank of a stream's device in the communicator of a name.
    ///
    /// # Errors
    /// Why there are no collectives in the process.
    pub fn named(stream: &Stream, name: &str) -> Result<Option<Rank>> {
        with_context(|cx| {
            let Some(comm) = find(cx, name, stream.device())? else {
                return Ok(None);
            };
            let engine = comm.engine()?.clone();
            Ok(Some(Rank { comm, engine }))
        })
    }

    /// Lists the names of the communicators of a device.
    pub fn names(device: u32) -> Vec<String> {
        with_context(|cx| {
            let comms = cx.process.communication.comms.all();
            let own = comms.iter().filter(|comm| comm.device == device);
            own.filter_map(|comm| Some(comm.engine.get()?.name().to_owned()))
                .collect()
        })
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> u32 {
        self.engine.size()
    }

    /// Queues an operation. The memory has to be that of the device until the stream has passed the operation.
    ///
    /// # Errors
    /// `CommUnsupported`: the type, or the type with the reduction. What the communicator refuses.
    pub fn queue(
        &self,
        stream: &Arc<Stream>,
        joint: Joint,
        dtype: Element,
        from: Span,
        to: Span,
    ) -> Result<()> {
        let data_type = element_type(dtype)?;
        let ranks = self.engine.size() as usize;
        // The buffer whose elements are counted is the smaller one.
        let (kind, reduction, own) = match joint {
            Joint::AllReduce(by) => (Kind::AllReduce, Some(by), from),
            Joint::AllGather => (Kind::AllGather, None, from),
            Joint::ReduceScatter(by) => (Kind::ReduceScatter, Some(by), to),
        };
        let (send, receive) = match joint {
            Joint::AllReduce(_) => (Pieces::Same(from), Pieces::Same(to)),
            Joint::AllGather => (Pieces::Same(from), cut(to, ranks)),
            Joint::ReduceScatter(_) => (cut(from, ranks), Pieces::Same(to)),
        };
        if let Some(why) = kind.unsupported(data_type, reduction) {
            return Err(Error::new(ErrorKind::CommUnsupported, why));
        }
        let signature = Signature {
            kind,
            data_type,
            reduction,
            root: None,
            count: (own.bytes() / data_type.bytes()) as u64,
            digest: 0,
        };
        let collective = Collective {
            signature,
            send,
            receive,
        };
        with_context(|cx| {
            group::enter(cx, Member::Collectives)?;
            queue_on(cx, &self.comm, stream, Operation::Collective(collective))
        })
    }
}

fn with_context<T>(work: impl FnOnce(&Cx<'_>) -> T) -> T {
    thread::with(|thread| {
        work(&Cx {
            process: process::get(),
            thread,
            call: &crate::generated::calls::HcclAllReduce,
        })
    })
}
