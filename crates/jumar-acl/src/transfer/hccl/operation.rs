//! Operations: what their arguments have to be, and how they come to a stream.

use std::sync::Arc;

use jumar::engine::{Span, Stream};
use jumar_hccl::{
    Collective, Communicator, DataType, Kind, Message, Operation, Pieces, Reduction, Signature,
    digest,
};
use jumar_types::{Error, ErrorKind, Result};

use super::group::{self, Member};
use super::{Comm, wrong};
use crate::check::collectives;
use crate::error::null;
use crate::generated::types;
use crate::{Cx, Raw};

/// What all operations have.
#[derive(Clone, Copy)]
pub struct Call {
    /// The communicator.
    pub comm: Raw,
    /// The stream.
    pub stream: Raw,
}

fn data_type(number: u32) -> Result<DataType> {
    match DataType::from_number(number) {
        Some(of) => Ok(of),
        None => wrong(crate::not_a_value("HcclDataType", number)),
    }
}

fn reduction(number: u32) -> Result<Reduction> {
    match Reduction::from_number(number) {
        Some(by) => Ok(by),
        None => wrong(crate::not_a_value("HcclReduceOp", number)),
    }
}

/// What an operation works with once handles and types are known.
struct Frame<'a> {
    cx: &'a Cx<'a>,
    comm: &'a Comm,
    engine: &'a Arc<Communicator>,
    kind: Kind,
    of: DataType,
    by: Option<Reduction>,
}

impl Frame<'_> {
    fn size(&self) -> usize {
        self.engine.size() as usize
    }

    fn me(&self) -> usize {
        self.engine.rank() as usize
    }

    /// Returns the range of a buffer.
    fn range(&self, address: usize, count: u64, what: &str) -> Result<Span> {
        let aligned = self.by.is_some();
        range(
            self.cx,
            self.comm.device,
            (address, count),
            self.of,
            (what, aligned),
        )
    }

    /// Returns how many elements there are for all ranks together.
    fn times_size(&self, count: u64, what: &str) -> Result<u64> {
        match count.checked_mul(u64::from(self.engine.size())) {
            Some(total) => Ok(total),
            None => wrong(format!(
                "{what} is {count}, which is too large for all ranks"
            )),
        }
    }

    /// Cuts a buffer into parts of equal length, one for each rank.
    fn cut(&self, span: Span) -> Pieces {
        let bytes = span.bytes() / self.size();
        Pieces::Each(
            (0..self.size())
                .map(|rank| span.part(rank * bytes, bytes))
                .collect(),
        )
    }

    /// Cuts a buffer by counts and displacements.
    fn cut_by(&self, span: Span, counts: &[u64], displacements: &[u64]) -> Pieces {
        let width = self.of.bytes();
        let parts = counts.iter().zip(displacements);
        let parts = parts.map(|(count, at)| match *count {
            0 => Some(Span::EMPTY),
            count => span.part(*at as usize * width, count as usize * width),
        });
        Pieces::Each(parts.collect())
    }

    fn only(&self, rank: usize, span: Span) -> Pieces {
        Pieces::Each(
            (0..self.size())
                .map(|at| (at == rank).then_some(span))
                .collect(),
        )
    }

    fn root(&self, root: u32) -> Result<usize> {
        match root < self.engine.size() {
            true => Ok(root as usize),
            false => wrong(format!(
                "root is {root}; communicator \"{}\" has {} ranks",
                self.engine.name(),
                self.engine.size()
            )),
        }
    }

    fn signature(&self, count: u64, root: Option<u32>, digest: u64) -> Signature {
        Signature {
            kind: self.kind,
            data_type: self.of,
            reduction: self.by,
            root,
            count,
            digest,
        }
    }

    /// Refuses an input and an output that overlap, unless they are where `allowed` says.
    fn check_disjoint(&self, send: Span, receive: Span, allowed: Option<usize>) -> Result<()> {
        let meets = !send.is_empty() && !receive.is_empty() && send.overlaps(receive);
        match meets && allowed != Some(send.address()) {
            false => Ok(()),
            true => wrong(format!(
                "sendBuf ({} bytes at {:#x}) and recvBuf ({} bytes at {:#x}) overlap",
                send.bytes(),
                send.address(),
                receive.bytes(),
                receive.address()
            )),
        }
    }
}

/// Checks a buffer: so many elements in one live allocation of the device, or of host memory that it may access.
fn range(
    cx: &Cx<'_>,
    device: u32,
    (address, count): (usize, u64),
    of: DataType,
    (what, aligned): (&str, bool),
) -> Result<Span> {
    let bytes = usize::try_from(count)
        .ok()
        .and_then(|count| count.checked_mul(of.bytes()));
    let Some(bytes) = bytes else {
        return wrong(format!(
            "{count} elements of type {} in {what} are more than memory holds",
            of.name()
        ));
    };
    if bytes == 0 {
        return Ok(Span::EMPTY);
    }
    if address == 0 {
        return Err(null(what));
    }
    if aligned && !address.is_multiple_of(of.bytes()) {
        return wrong(format!(
            "{what} at {address:#x} is not aligned to {} bytes, the size of {}",
            of.bytes(),
            of.name()
        ));
    }
    let Some(block) = cx.runtime()?.space().reach(address, bytes) else {
        return wrong(format!(
            "{what} at {address:#x} is not in live device memory"
        ));
    };
    if let Some(other) = block.home.device()
        && other != device
    {
        return wrong(format!(
            "{what} at {address:#x} is memory of device {other}; the communicator works on device {device}"
        ));
    }
    match block.span.part(address - block.span.address(), bytes) {
        Some(span) => Ok(span),
        None => wrong(format!(
            "{what} of {bytes} bytes at {address:#x} leaves allocation {} ({} bytes at {:#x}, made by {})",
            block.number,
            block.span.bytes(),
            block.span.address(),
            block.made_by
        )),
    }
}

/// Finds the stream of an operation.
fn stream(cx: &Cx<'_>, comm: &Comm, handle: Raw) -> Result<Arc<Stream>> {
    if handle.is_null() {
        return Err(null("stream"));
    }
    let stream = cx.any_stream(handle)?;
    match stream.device() == comm.device {
        true => Ok(stream),
        false => wrong(format!(
            "stream {} is of device {}; the communicator works on device {}",
            stream.number(),
            stream.device(),
            comm.device
        )),
    }
}

/// Queues an operation on a stream.
pub(super) fn queue(cx: &Cx<'_>, comm: &Comm, handle: Raw, operation: Operation) -> Result<()> {
    let stream = stream(cx, comm, handle)?;
    queue_on(cx, comm, &stream, operation)
}

/// Queues an operation on a stream of the communicator's device.
pub(super) fn queue_on(
    cx: &Cx<'_>,
    comm: &Comm,
    stream: &Arc<Stream>,
    operation: Operation,
) -> Result<()> {
    let _being_queued = collectives::begins_to_queue(comm.device);
    let engine = comm.engine()?;
    let (reads, writes) = (operation.reads(), operation.writes());
    let queued = engine.prepare(operation, stream.is_recorded())?;
    collectives::is_about_to_be_queued(engine, &queued);
    let spans = (reads.as_slice(), writes.as_slice());
    match stream.launch_joint(&queued, spans, &cx.caller()) {
        Ok(None) => {
            collectives::was_queued(comm.id, engine, stream.number());
            Ok(())
        }
        Ok(Some(broken)) => {
            queued.fail(&broken);
            Ok(())
        }
        Err(error) => {
            queued.revoke(&error);
            Err(error)
        }
    }
}

/// Checks what all collectives have, builds the operation, and queues it.
fn collective(
    cx: &Cx<'_>,
    call: Call,
    (kind, of, by): (Kind, u32, Option<u32>),
    build: impl FnOnce(&Frame<'_>) -> Result<Collective>,
) -> Result<()> {
    let comm = cx.comm(call.comm)?;
    let engine = comm.engine()?;
    let frame = Frame {
        cx,
        comm: &comm,
        engine,
        kind,
        of: data_type(of)?,
        by: by.map(reduction).transpose()?,
    };
    if let Some(why) = kind.unsupported(frame.of, frame.by) {
        return Err(Error::new(ErrorKind::CommUnsupported, why));
    }
    let built = build(&frame)?;
    group::enter(cx, Member::Collectives)?;
    queue(cx, &comm, call.stream, Operation::Collective(built))
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the signature"
)]
pub fn HcclAllReduce(
    cx: &Cx<'_>,
    send: usize,
    receive: usize,
    count: u64,
    of: u32,
    by: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::AllReduce, of, Some(by));
    collective(cx, Call { comm, stream }, what, |frame| {
        let from = frame.range(send, count, "sendBuf")?;
        let to = frame.range(receive, count, "recvBuf")?;
        frame.check_disjoint(from, to, Some(receive))?;
        Ok(Collective {
            signature: frame.signature(count, None, 0),
            send: Pieces::Same(from),
            receive: Pieces::Same(to),
        })
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the signature"
)]
pub fn HcclReduce(
    cx: &Cx<'_>,
    send: usize,
    receive: usize,
    count: u64,
    of: u32,
    by: u32,
    root: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::Reduce, of, Some(by));
    collective(cx, Call { comm, stream }, what, |frame| {
        let at = frame.root(root)?;
        let from = frame.range(send, count, "sendBuf")?;
        let to = match at == frame.me() {
            true => {
                let to = frame.range(receive, count, "recvBuf")?;
                frame.check_disjoint(from, to, Some(receive))?;
                Pieces::Same(to)
            }
            false => Pieces::None,
        };
        Ok(Collective {
            signature: frame.signature(count, Some(root), 0),
            send: frame.only(at, from),
            receive: to,
        })
    })
}

pub fn HcclBroadcast(
    cx: &Cx<'_>,
    buffer: usize,
    count: u64,
    of: u32,
    root: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::Broadcast, of, None);
    collective(cx, Call { comm, stream }, what, |frame| {
        let at = frame.root(root)?;
        let span = frame.range(buffer, count, "buf")?;
        let me = frame.me();
        let (send, receive) = match at == me {
            true => {
                let others = (0..frame.size()).map(|to| (to != me).then_some(span));
                (Pieces::Each(others.collect()), Pieces::None)
            }
            false => (Pieces::None, frame.only(at, span)),
        };
        Ok(Collective {
            signature: frame.signature(count, Some(root), 0),
            send,
            receive,
        })
    })
}

pub fn HcclAllGather(
    cx: &Cx<'_>,
    send: usize,
    receive: usize,
    count: u64,
    of: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::AllGather, of, None);
    collective(cx, Call { comm, stream }, what, |frame| {
        let from = frame.range(send, count, "sendBuf")?;
        let to = frame.range(receive, frame.times_size(count, "sendCount")?, "recvBuf")?;
        let own = to.address() + frame.me() * from.bytes();
        frame.check_disjoint(from, to, Some(own))?;
        Ok(Collective {
            signature: frame.signature(count, None, 0),
            send: Pieces::Same(from),
            receive: frame.cut(to),
        })
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the signature"
)]
pub fn HcclReduceScatter(
    cx: &Cx<'_>,
    send: usize,
    receive: usize,
    count: u64,
    of: u32,
    by: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::ReduceScatter, of, Some(by));
    collective(cx, Call { comm, stream }, what, |frame| {
        let from = frame.range(send, frame.times_size(count, "recvCount")?, "sendBuf")?;
        let to = frame.range(receive, count, "recvBuf")?;
        let own = from.address() + frame.me() * to.bytes();
        let in_place = (to.address() == own).then_some(from.address());
        frame.check_disjoint(from, to, in_place)?;
        Ok(Collective {
            signature: frame.signature(count, None, 0),
            send: frame.cut(from),
            receive: Pieces::Same(to),
        })
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the signature"
)]
pub fn HcclScatter(
    cx: &Cx<'_>,
    send: usize,
    receive: usize,
    count: u64,
    of: u32,
    root: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::Scatter, of, None);
    collective(cx, Call { comm, stream }, what, |frame| {
        let at = frame.root(root)?;
        let to = frame.range(receive, count, "recvBuf")?;
        let from = match at == frame.me() {
            true => {
                let from = frame.range(send, frame.times_size(count, "recvCount")?, "sendBuf")?;
                let own = from.address() + at * to.bytes();
                frame.check_disjoint(from, to, (to.address() == own).then_some(from.address()))?;
                frame.cut(from)
            }
            false => Pieces::None,
        };
        Ok(Collective {
            signature: frame.signature(count, Some(root), 0),
            send: from,
            receive: frame.only(at, to),
        })
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the signature"
)]
pub fn HcclAlltoAll(
    cx: &Cx<'_>,
    send: usize,
    send_count: u64,
    send_type: u32,
    receive: usize,
    receive_count: u64,
    receive_type: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    let what = (Kind::AllToAll, send_type, None);
    collective(cx, Call { comm, stream }, what, |frame| {
        same_types(send_type, receive_type)?;
        if send_count != receive_count {
            return wrong(format!(
                "sendCount is {send_count} and recvCount {receive_count}; they must be equal"
            ));
        }
        let total = frame.times_size(send_count, "sendCount")?;
        let from = frame.range(send, total, "sendBuf")?;
        let to = frame.range(receive, total, "recvBuf")?;
        frame.check_disjoint(from, to, None)?;
        Ok(Collective {
            signature: frame.signature(send_count, None, 0),
            send: frame.cut(from),
            receive: frame.cut(to),
        })
    })
}

fn same_types(send: u32, receive: u32) -> Result<()> {
    match send == receive {
        true => Ok(()),
        false => wrong(format!(
            "sendType is {send} and recvType {receive}; they must be equal"
        )),
    }
}

pub fn HcclBarrier(cx: &Cx<'_>, comm: Raw, stream: Raw) -> Result<()> {
    let what = (Kind::Barrier, DataType::Int8 as u32, None);
    collective(cx, Call { comm, stream }, what, |frame| {
        let nothing = vec![Some(Span::EMPTY); frame.size()];
        Ok(Collective {
            signature: frame.signature(0, None, 0),
            send: Pieces::Same(Span::EMPTY),
            receive: Pieces::Each(nothing.into()),
        })
    })
}

/// Counts and displacements of a buffer, one for each rank.
pub struct Layout<'a> {
    /// Where the buffer begins.
    pub address: usize,
    /// How many elements each rank has.
    pub counts: Option<&'a [u64]>,
    /// Where they begin.
    pub displacements: Option<&'a [u64]>,
}

impl Layout<'_> {
    /// Checks the arrays, and returns them with the number of elements up to the last one.
    fn read(&self, names: (&str, &str)) -> Result<(&[u64], &[u64], u64)> {
        let counts = self.counts.ok_or_else(|| null(names.0))?;
        let displacements = self.displacements.ok_or_else(|| null(names.1))?;
        let mut end = 0u64;
        for (count, at) in counts.iter().zip(displacements) {
            match at.checked_add(*count) {
                Some(next) if *count > 0 => end = end.max(next),
                Some(_) => {}
                None => {
                    return wrong(format!("{count} elements from {at} on are beyond 64 bits"));
                }
            }
        }
        Ok((counts, displacements, end))
    }
}

/// Sums, which an array of counts may exceed.
fn sum(counts: &[u64]) -> u64 {
    counts
        .iter()
        .fold(0, |sum, count| sum.saturating_add(*count))
}

/// Returns how many ranks a communicator has, for arrays of one number each.
pub fn comm_size(cx: &Cx<'_>, comm: Raw) -> Result<usize> {
    Ok(cx.comm(comm)?.engine()?.size() as usize)
}

/// Concatenates buffers of different lengths on every rank.
pub fn all_gather_v(
    cx: &Cx<'_>,
    (send, count): (usize, u64),
    receive: &Layout<'_>,
    of: u32,
    call: Call,
) -> Result<()> {
    collective(cx, call, (Kind::AllGatherV, of, None), |frame| {
        let (counts, displacements, end) = receive.read(("recvCounts", "recvDispls"))?;
        if counts[frame.me()] != count {
            return wrong(format!(
                "sendCount is {count}, recvCounts[{}] {}; they must be equal",
                frame.me(),
                counts[frame.me()]
            ));
        }
        let from = frame.range(send, count, "sendBuf")?;
        let to = frame.range(receive.address, end, "recvBuf")?;
        frame.check_disjoint(from, to, None)?;
        let arrays = digest(counts.iter().chain(displacements).copied());
        Ok(Collective {
            signature: frame.signature(sum(counts), None, arrays),
            send: Pieces::Same(from),
            receive: frame.cut_by(to, counts, displacements),
        })
    })
}

/// Combines the buffers of all ranks and leaves each rank a part of its own length.
pub fn reduce_scatter_v(
    cx: &Cx<'_>,
    send: &Layout<'_>,
    (receive, count): (usize, u64),
    (of, by): (u32, u32),
    call: Call,
) -> Result<()> {
    collective(cx, call, (Kind::ReduceScatterV, of, Some(by)), |frame| {
        let (counts, displacements, end) = send.read(("sendCounts", "sendDispls"))?;
        if counts[frame.me()] != count {
            return wrong(format!(
                "recvCount is {count}, sendCounts[{}] {}; they must be equal",
                frame.me(),
                counts[frame.me()]
            ));
        }
        let from = frame.range(send.address, end, "sendBuf")?;
        let to = frame.range(receive, count, "recvBuf")?;
        frame.check_disjoint(from, to, None)?;
        let arrays = digest(counts.iter().chain(displacements).copied());
        Ok(Collective {
            signature: frame.signature(sum(counts), None, arrays),
            send: frame.cut_by(from, counts, displacements),
            receive: Pieces::Same(to),
        })
    })
}

/// Exchanges parts of different lengths between all ranks.
pub fn all_to_all_v(
    cx: &Cx<'_>,
    (send, send_type): (&Layout<'_>, u32),
    (receive, receive_type): (&Layout<'_>, u32),
    call: Call,
) -> Result<()> {
    collective(cx, call, (Kind::AllToAllV, send_type, None), |frame| {
        same_types(send_type, receive_type)?;
        let (counts, displacements, end) = send.read(("sendCounts", "sdispls"))?;
        let from = frame.range(send.address, end, "sendBuf")?;
        let (received, offsets, end) = receive.read(("recvCounts", "rdispls"))?;
        let to = frame.range(receive.address, end, "recvBuf")?;
        frame.check_disjoint(from, to, None)?;
        Ok(Collective {
            // What the ranks have to agree on is between pairs of them.
            signature: frame.signature(0, None, 0),
            send: frame.cut_by(from, counts, displacements),
            receive: frame.cut_by(to, received, offsets),
        })
    })
}

/// Exchanges parts between all ranks, with all counts in one matrix: the parts follow each other without gaps.
pub fn all_to_all_vc(
    cx: &Cx<'_>,
    (send, receive): (usize, usize),
    matrix: Option<&[u64]>,
    (send_type, receive_type): (u32, u32),
    call: Call,
) -> Result<()> {
    collective(cx, call, (Kind::AllToAllVC, send_type, None), |frame| {
        same_types(send_type, receive_type)?;
        let matrix = matrix.ok_or_else(|| null("sendCountMatrix"))?;
        let (size, me) = (frame.size(), frame.me());
        let row = &matrix[me * size..(me + 1) * size];
        let column: Vec<u64> = (0..size).map(|from| matrix[from * size + me]).collect();
        let starts = |counts: &[u64]| -> Vec<u64> {
            let mut next = 0u64;
            let start = |count: &u64| {
                let start = next;
                next = next.saturating_add(*count);
                start
            };
            counts.iter().map(start).collect()
        };
        let from = frame.range(send, sum(row), "sendBuf")?;
        let to = frame.range(receive, sum(&column), "recvBuf")?;
        frame.check_disjoint(from, to, None)?;
        Ok(Collective {
            signature: frame.signature(sum(matrix), None, digest(matrix.iter().copied())),
            send: frame.cut_by(from, row, &starts(row)),
            receive: frame.cut_by(to, &column, &starts(&column)),
        })
    })
}

/// Checks one transfer.
fn message(
    cx: &Cx<'_>,
    comm: &Comm,
    (sends, peer): (bool, u32),
    (address, count): (usize, u64),
    of: u32,
) -> Result<Message> {
    let engine = comm.engine()?;
    let data_type = data_type(of)?;
    if let Some(why) = Kind::Broadcast.unsupported(data_type, None) {
        return Err(Error::new(ErrorKind::CommUnsupported, why));
    }
    if peer >= engine.size() {
        return wrong(format!(
            "the other rank is {peer}; communicator \"{}\" has {} ranks",
            engine.name(),
            engine.size()
        ));
    }
    let what = if sends { "sendBuf" } else { "recvBuf" };
    let extent = (address, count);
    let span = range(cx, comm.device, extent, data_type, (what, false))?;
    Ok(Message {
        sends,
        peer,
        span,
        count,
        data_type,
    })
}

fn transfer(
    cx: &Cx<'_>,
    (sends, peer): (bool, u32),
    buffer: (usize, u64),
    of: u32,
    call: Call,
) -> Result<()> {
    let comm = cx.comm(call.comm)?;
    let message = message(cx, &comm, (sends, peer), buffer, of)?;
    stream(cx, &comm, call.stream)?;
    let Some(message) = group::collect(cx, (call.comm, call.stream), message)? else {
        return Ok(());
    };
    if peer == comm.engine()?.rank() {
        return wrong(format!(
            "rank {peer} cannot send to or receive from itself outside of a batch or a group"
        ));
    }
    let operation = Operation::Messages(Box::new([message]));
    queue(cx, &comm, call.stream, operation)
}

pub fn HcclSend(
    cx: &Cx<'_>,
    buffer: usize,
    count: u64,
    of: u32,
    to: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    transfer(cx, (true, to), (buffer, count), of, Call { comm, stream })
}

pub fn HcclRecv(
    cx: &Cx<'_>,
    buffer: usize,
    count: u64,
    of: u32,
    from: u32,
    comm: Raw,
    stream: Raw,
) -> Result<()> {
    transfer(
        cx,
        (false, from),
        (buffer, count),
        of,
        Call { comm, stream },
    )
}

pub fn HcclBatchSendRecv(
    cx: &Cx<'_>,
    items: Option<&[types::HcclSendRecvItem]>,
    count: u32,
    comm: Raw,
    handle: Raw,
) -> Result<()> {
    use crate::generated::enums::{HCCL_RECV, HCCL_SEND};
    let comm = cx.comm(comm)?;
    group::refuse(cx)?;
    let items = items.ok_or_else(|| null("sendRecvInfo"))?;
    if count == 0 {
        return wrong("itemNum is 0; a batch has one item or more");
    }
    let mut messages: Vec<Message> = Vec::with_capacity(items.len());
    for item in items {
        let sends = match item.sendRecvType {
            HCCL_SEND => true,
            HCCL_RECV => false,
            other => return wrong(crate::not_a_value("HcclSendRecvType", other)),
        };
        let end = (sends, item.remoteRank);
        let next = message(cx, &comm, end, (item.buf, item.count), item.dataType)?;
        if messages.iter().any(|one| (one.sends, one.peer) == end) {
            return wrong(format!(
                "the batch has two items that {} rank {}",
                if sends { "send to" } else { "receive from" },
                item.remoteRank
            ));
        }
        messages.push(next);
    }
    queue(cx, &comm, handle, Operation::Messages(messages.into()))
}
