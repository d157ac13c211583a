//! Buffers with a header, alone or in a chain. A buffer may have several handles; its memory goes with the last one.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Block, Table};
use jumar_types::{ErrorKind, IdKind, Result};

use crate::error::null;
use crate::{Cx, Raw, refuse};

/// How much of a buffer's header belongs to the program.
pub(crate) const USER_BYTES: usize = 96;
/// The most buffers that a chain holds.
const LONGEST_CHAIN: usize = 128;

/// What the handles of a buffer share.
struct SharedBuffer {
    block: Block,
    used: Mutex<usize>,
    user: Mutex<[u8; USER_BYTES]>,
}

/// A handle's buffer.
pub(crate) struct Buffer {
    id: u64,
    shared: Mutex<Option<Arc<SharedBuffer>>>,
    chain: Mutex<Chain>,
}

#[derive(Default)]
struct Chain {
    /// The buffers behind this one, which is their head.
    rest: Vec<Raw>,
    /// The head of the chain that this one is in, or 0.
    head: Raw,
}

/// The buffers by handle.
pub(crate) struct Buffers {
    table: Table<Buffer>,
    /// Held while a chain changes or one of its buffers is freed: what is checked of two buffers is true until both are changed.
    chains: Mutex<()>,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            table: Table::new(IdKind::MessageBuffer, Arc::default()),
            chains: Mutex::default(),
        }
    }
}

fn find(cx: &Cx<'_>, handle: Raw, name: &str) -> Result<Arc<Buffer>> {
    if handle.is_null() {
        return Err(null(name));
    }
    cx.process.buffers.table.get(handle.0)
}

fn shared(cx: &Cx<'_>, handle: Raw) -> Result<Arc<SharedBuffer>> {
    let buffer = find(cx, handle, "buf")?;
    let shared = buffer.shared.lock().clone();
    match shared {
        Some(shared) => Ok(shared),
        None => refuse(
            ErrorKind::InvalidHandle,
            format!("{:#x} names a buffer that is being freed", handle.0),
        ),
    }
}

fn insert(cx: &Cx<'_>, shared: Arc<SharedBuffer>) -> Result<Raw> {
    let made = cx.process.buffers.table.insert(|id| {
        Arc::new(Buffer {
            id,
            shared: Mutex::new(Some(shared)),
            chain: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclrtAllocBuf(cx: &Cx<'_>, size: usize) -> Result<Raw> {
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    let block = cx.runtime()?.allocate_pinned(size, &cx.caller())?;
    insert(
        cx,
        Arc::new(SharedBuffer {
            block,
            used: Mutex::new(size),
            user: Mutex::new([0; USER_BYTES]),
        }),
    )
}

/// Frees the handle, and with the head of a chain the whole chain.
pub fn aclrtFreeBuf(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    let buffers = &cx.process.buffers;
    let chains = buffers.chains.lock();
    let buffer = find(cx, handle, "buf")?;
    let head = buffer.chain.lock().head;
    if !head.is_null() {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "buffer {:#x} is part of a chain; free the chain's head, {:#x}",
                handle.0, head.0
            ),
        );
    }
    let remove = |handle: Raw| buffers.table.remove(handle.0, cx.call.name);
    let mut gone = vec![remove(handle)?];
    let rest = std::mem::take(&mut buffer.chain.lock().rest);
    gone.extend(rest.into_iter().filter_map(|handle| remove(handle).ok()));
    drop(chains);
    for buffer in &gone {
        release(cx, buffer);
    }
    Ok(())
}

fn release(cx: &Cx<'_>, buffer: &Buffer) {
    let last = buffer.shared.lock().take().and_then(Arc::into_inner);
    if let (Some(shared), Ok(runtime)) = (last, cx.runtime()) {
        // A program that freed the memory itself, by its address, has done our work.
        drop(runtime.free_pinned(shared.block.span.address(), &cx.caller()));
    }
}

pub fn aclrtCopyBufRef(cx: &Cx<'_>, handle: Raw) -> Result<Raw> {
    insert(cx, shared(cx, handle)?)
}

pub fn aclrtGetBufData(cx: &Cx<'_>, handle: Raw) -> Result<(usize, usize)> {
    let span = shared(cx, handle)?.block.span;
    Ok((span.address(), span.bytes()))
}

pub fn aclrtGetBufDataLen(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(*shared(cx, handle)?.used.lock())
}

pub fn aclrtSetBufDataLen(cx: &Cx<'_>, handle: Raw, used: usize) -> Result<()> {
    let shared = shared(cx, handle)?;
    let size = shared.block.span.bytes();
    if used == 0 {
        return refuse(ErrorKind::InvalidArgument, "the length is 0");
    }
    if used > size {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the length is {used} bytes, but the buffer has only {size}"),
        );
    }
    *shared.used.lock() = used;
    Ok(())
}

fn user_range(size: usize, offset: usize) -> Result<std::ops::Range<usize>> {
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    match offset.checked_add(size).filter(|end| *end <= USER_BYTES) {
        Some(end) => Ok(offset..end),
        None => refuse(
            ErrorKind::InvalidArgument,
            format!(
                "{size} bytes from offset {offset} on exceed the {USER_BYTES} bytes for the program's own data"
            ),
        ),
    }
}

pub fn aclrtGetBufUserData(
    cx: &Cx<'_>,
    handle: Raw,
    size: usize,
    offset: usize,
) -> Result<Vec<u8>> {
    let range = user_range(size, offset)?;
    let shared = shared(cx, handle)?;
    let user = shared.user.lock();
    Ok(user[range].to_vec())
}

pub fn aclrtSetBufUserData(
    cx: &Cx<'_>,
    handle: Raw,
    data: Option<&[u8]>,
    size: usize,
    offset: usize,
) -> Result<()> {
    let data = data.ok_or_else(|| null("dataPtr"))?;
    let range = user_range(size, offset)?;
    shared(cx, handle)?.user.lock()[range].copy_from_slice(data);
    Ok(())
}

pub fn aclrtAppendBufChain(cx: &Cx<'_>, head: Raw, added: Raw) -> Result<()> {
    let bad = |what: &str| {
        let sentence = format!("buffer {:#x} (buf): {what}", added.0);
        refuse(ErrorKind::InvalidValue, sentence)
    };
    let _chains = cx.process.buffers.chains.lock();
    let (front, back) = (find(cx, head, "headBuf")?, find(cx, added, "buf")?);
    if front.id == back.id {
        return bad("a buffer cannot be behind itself in a chain");
    }
    if !front.chain.lock().head.is_null() {
        return bad("headBuf is part of a chain; append to the chain's head");
    }
    let is_chained = {
        let chain = back.chain.lock();
        !chain.head.is_null() || !chain.rest.is_empty()
    };
    if is_chained {
        return bad("it is in a chain already");
    }
    let mut chain = front.chain.lock();
    if chain.rest.len() + 1 >= LONGEST_CHAIN {
        return bad("the chain holds 128 buffers, which is the most");
    }
    chain.rest.push(added);
    drop(chain);
    back.chain.lock().head = head;
    Ok(())
}

pub fn aclrtGetBufChainNum(cx: &Cx<'_>, head: Raw) -> Result<u32> {
    let front = find(cx, head, "headBuf")?;
    let rest = front.chain.lock().rest.len();
    Ok(rest as u32 + 1)
}

pub fn aclrtGetBufFromChain(cx: &Cx<'_>, head: Raw, index: u32) -> Result<Raw> {
    let front = find(cx, head, "headBuf")?;
    let chain = front.chain.lock();
    let found = match index {
        0 => Some(head),
        _ => chain.rest.get(index as usize - 1).copied(),
    };
    match found {
        Some(found) => Ok(found),
        None => refuse(
            ErrorKind::InvalidValue,
            format!(
                "buffer {index} does not exist: the number of buffers in the chain is {}",
                chain.rest.len() + 1
            ),
        ),
    }
}
