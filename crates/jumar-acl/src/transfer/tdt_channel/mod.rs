//! Tensor channels: lists of tensors that go from one thread of a process to another, by the name of the channel.
//!
//! There are two kinds. The older one blocks, has no capacity that could be asked for, and is one-way: a name that begins with
//! `TF_RECEIVE_` takes what a channel with the rest of the name sends. The newer one has a capacity, and sends and receives.

mod item;
mod wire;

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use jumar::engine::message::{Message, MessageQueue};
use jumar::engine::sync::Mutex;
use jumar::engine::{Block, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

pub use item::{
    acltdtAddDataItem, acltdtCreateDataItem, acltdtCreateDataset, acltdtDestroyDataItem,
    acltdtDestroyDataset, acltdtGetDataAddrFromItem, acltdtGetDataItem, acltdtGetDataSizeFromItem,
    acltdtGetDataTypeFromItem, acltdtGetDatasetName, acltdtGetDatasetSize, acltdtGetDimNumFromItem,
    acltdtGetDimsFromItem, acltdtGetSliceInfoFromItem, acltdtGetTensorTypeFromItem,
};

use crate::error::null;
use crate::{Cx, Raw, refuse};

/// What begins the name of an older channel that receives.
const RECEIVES: &[u8] = b"TF_RECEIVE_";
/// The longest name of a channel with a capacity.
const LONGEST_NAME: usize = 127;
/// The capacities that a channel can have.
pub(crate) const CAPACITIES: std::ops::RangeInclusive<usize> = 2..=8192;
/// How much an older channel holds before its sender waits.
const OLDER_CAPACITY: usize = 128;

/// A channel.
pub(crate) struct Channel {
    id: u64,
    device: u32,
    kind: Kind,
    queue: Arc<MessageQueue>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sends,
    Receives,
    HasCapacity,
}

/// Where a queue behind channels is found: its device, whether it has a capacity, its name.
type QueueKey = (u32, bool, Vec<u8>);

/// What a process has of tensors, lists of them, and channels.
pub(crate) struct Tensors {
    items: Table<item::Item>,
    datasets: Table<item::Dataset>,
    channels: Table<Channel>,
    /// The queues behind channels, by device, kind and name. They live as long as a channel does.
    queues: Mutex<HashMap<QueueKey, Weak<MessageQueue>>>,
}

impl Default for Tensors {
    fn default() -> Self {
        Tensors {
            items: Table::new(IdKind::TensorItem, Arc::default()),
            datasets: Table::new(IdKind::TensorDataset, Arc::default()),
            channels: Table::new(IdKind::TensorChannel, Arc::default()),
            queues: Mutex::default(),
        }
    }
}

fn open(cx: &Cx<'_>, device: u32, name: &[u8], kind: Kind, capacity: usize) -> Result<Raw> {
    let device = cx.runtime()?.device(i64::from(device))?.number();
    let tensors = &cx.process.tensors;
    // Held until the channel is in the table: a thread that destroys another one of the queue sees that it is not the last.
    let mut queues = tensors.queues.lock();
    queues.retain(|_, queue| queue.strong_count() > 0);
    let key = (device, kind == Kind::HasCapacity, name.to_vec());
    let known = queues.get(&key).and_then(Weak::upgrade);
    let queue = known.unwrap_or_else(|| {
        let queue = Arc::new(MessageQueue::new(capacity));
        queues.insert(key, Arc::downgrade(&queue));
        queue
    });
    if kind == Kind::HasCapacity {
        // Such a channel is a queue, and has a queue's number.
        cx.process.queues.adopt(device, &queue);
    }
    let made = tensors.channels.insert(|id| {
        Arc::new(Channel {
            id,
            device,
            kind,
            queue,
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acltdtCreateChannel(cx: &Cx<'_>, device: u32, name: Option<&CStr>) -> Result<Raw> {
    let name = name.ok_or_else(|| null("name"))?.to_bytes();
    let (kind, name) = match name.strip_prefix(RECEIVES) {
        Some(rest) => (Kind::Receives, rest),
        None => (Kind::Sends, name),
    };
    open(cx, device, name, kind, OLDER_CAPACITY)
}

pub fn acltdtCreateChannelWithCapacity(
    cx: &Cx<'_>,
    device: u32,
    name: Option<&CStr>,
    capacity: usize,
) -> Result<Raw> {
    let name = name.ok_or_else(|| null("name"))?.to_bytes();
    if name.len() > LONGEST_NAME {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "the name of the channel has {} characters; it may have at most {LONGEST_NAME}",
                name.len()
            ),
        );
    }
    if !CAPACITIES.contains(&capacity) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the capacity is {capacity}; it must be from 2 to 8192"),
        );
    }
    open(cx, device, name, Kind::HasCapacity, capacity)
}

fn channel(cx: &Cx<'_>, handle: Raw) -> Result<Arc<Channel>> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    cx.process.tensors.channels.get(handle.0)
}

/// Threads that wait for the channel are woken; otherwise they would wait forever.
pub fn acltdtDestroyChannel(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Err(null("handle"));
    }
    let channels = &cx.process.tensors.channels;
    let mut queues = cx.process.tensors.queues.lock();
    let gone = channels.remove(handle.0, cx.call.name)?;
    let others = channels.all();
    if !others
        .iter()
        .any(|other| Arc::ptr_eq(&other.queue, &gone.queue))
    {
        // A thread that is woken holds the queue a moment longer; a channel of the name that is made meanwhile has a new one.
        queues.retain(|_, queue| !std::ptr::eq(queue.as_ptr(), Arc::as_ptr(&gone.queue)));
        gone.queue.stop();
        cx.process.queues.drop_adopted(&gone.queue);
    }
    Ok(())
}

pub fn acltdtStopChannel(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    let channel = channel(cx, handle)?;
    if channel.kind != Kind::HasCapacity {
        channel.queue.stop();
    }
    Ok(())
}

fn with_capacity(cx: &Cx<'_>, handle: Raw) -> Result<Arc<Channel>> {
    let channel = channel(cx, handle)?;
    if channel.kind == Kind::HasCapacity {
        return Ok(channel);
    }
    refuse(
        ErrorKind::FrontendFeatureUnsupported,
        format!(
            "channel {:#x} was made by acltdtCreateChannel, which has no capacity; make it with acltdtCreateChannelWithCapacity",
            handle.0
        ),
    )
}

pub fn acltdtCleanChannel(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    with_capacity(cx, handle)?.queue.clear();
    Ok(())
}

pub fn acltdtQueryChannelSize(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(with_capacity(cx, handle)?.queue.len())
}

/// Reads a time limit: `None` is forever.
pub(crate) fn limit(timeout: i32, kind: ErrorKind) -> Result<Option<Duration>> {
    match timeout {
        -1 => Ok(None),
        0.. => Ok(Some(Duration::from_millis(u64::from(
            timeout.unsigned_abs(),
        )))),
        _ => refuse(
            kind,
            format!("the timeout is {timeout} ms; it must be -1 (no limit), 0 (at once) or more"),
        ),
    }
}

fn limit_of(channel: &Channel, timeout: i32) -> Result<Option<Duration>> {
    if channel.kind == Kind::HasCapacity {
        return limit(timeout, ErrorKind::InvalidArgument);
    }
    if timeout == -1 {
        return Ok(None);
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("the timeout is {timeout} ms; it must be -1 for a channel without a capacity"),
    )
}

pub fn acltdtSendTensor(cx: &Cx<'_>, handle: Raw, dataset: Raw, timeout: i32) -> Result<()> {
    let channel = channel(cx, handle)?;
    let limit = limit_of(&channel, timeout)?;
    if channel.kind == Kind::Receives {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "the name of channel {:#x} begins with TF_RECEIVE_, so that it receives and does not send",
                handle.0
            ),
        );
    }
    let data = item::pack(cx, dataset)?;
    let message = Message {
        data,
        user: Vec::new(),
    };
    crate::message::polled(cx, timeout, channel.queue.put(message, limit))
}

pub fn acltdtReceiveTensor(cx: &Cx<'_>, handle: Raw, dataset: Raw, timeout: i32) -> Result<()> {
    let channel = channel(cx, handle)?;
    let limit = limit_of(&channel, timeout)?;
    if channel.kind == Kind::Sends {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "channel {:#x} sends; only a channel whose name begins with TF_RECEIVE_ receives",
                handle.0
            ),
        );
    }
    item::check_target(cx, dataset, channel.kind == Kind::HasCapacity)?;
    if channel.kind == Kind::HasCapacity && cx.context().is_err() {
        crate::context::aclrtCreateContext(cx, channel.device as i32)?;
    }
    let message = crate::message::polled(cx, timeout, channel.queue.take(limit))?;
    let parts = wire::unpack(&message.data)?;
    item::fill(cx, dataset, &message.data, parts).inspect_err(|_| channel.queue.put_back(message))
}

/// Pinned memory that holds what was received, until the next receive or the end of its list.
fn keep(cx: &Cx<'_>, bytes: &[u8]) -> Result<Option<Block>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let runtime = cx.runtime()?;
    let block = runtime.allocate_pinned(bytes.len(), &cx.caller())?;
    match runtime.write(block.span, bytes, &cx.caller()) {
        Ok(()) => Ok(Some(block)),
        Err(refused) => {
            unkeep(cx, Some(block));
            Err(refused)
        }
    }
}

fn unkeep(cx: &Cx<'_>, block: Option<Block>) {
    if let (Some(block), Ok(runtime)) = (block, cx.runtime()) {
        // The program may have freed it itself by the address it was lent; then our work is done.
        drop(runtime.free_pinned(block.span.address(), &cx.caller()));
    }
}

fn malformed(what: &str) -> Error {
    Error::new(
        ErrorKind::Failure,
        format!("a message in the channel is not a list of tensors: {what}"),
    )
}
