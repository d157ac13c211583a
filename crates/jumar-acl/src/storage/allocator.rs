//! Allocators of the program's own, one for a stream.
//!
//! The runtime keeps them and tells them back; those who allocate on a program's behalf while a graph runs ask for them. The
//! functions are kept as numbers: nothing here calls them.

use std::collections::HashMap;
use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::{Cx, Raw, refuse};

/// An allocator: the program's object and its functions, 0 where one was not set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocator {
    /// The object that the functions get.
    pub object: u64,
    /// Allocates.
    pub allocate: usize,
    /// Frees.
    pub free: usize,
    /// Allocates near a wanted address; may be missing.
    pub allocate_near: usize,
    /// Gives a block's address.
    pub address_of: usize,
}

/// A description of an allocator.
pub struct Description {
    id: u64,
    content: Mutex<Allocator>,
}

/// The descriptions by handle, and the allocators by the handle of their stream.
pub(crate) struct Allocators {
    descriptions: Table<Description>,
    by_stream: Mutex<HashMap<u64, (u64, Allocator)>>,
}

impl Default for Allocators {
    fn default() -> Self {
        Allocators {
            descriptions: Table::new(IdKind::AllocatorDesc, Arc::default()),
            by_stream: Mutex::default(),
        }
    }
}

fn description(cx: &Cx<'_>, desc: Raw) -> Result<Arc<Description>> {
    if desc.is_null() {
        return Err(null("allocatorDesc"));
    }
    cx.process.allocators.descriptions.get(desc.0)
}

pub fn aclrtAllocatorCreateDesc(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.allocators.descriptions.insert(|id| {
        Arc::new(Description {
            id,
            content: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn aclrtAllocatorDestroyDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    if desc.is_null() {
        return Err(null("allocatorDesc"));
    }
    let descriptions = &cx.process.allocators.descriptions;
    descriptions.remove(desc.0, cx.call.name).map(drop)
}

pub fn aclrtAllocatorSetObjToDesc(cx: &Cx<'_>, desc: Raw, object: Raw) -> Result<()> {
    let description = description(cx, desc)?;
    if object.is_null() {
        return Err(null("allocator"));
    }
    description.content.lock().object = object.0;
    Ok(())
}

fn set(
    cx: &Cx<'_>,
    desc: Raw,
    function: usize,
    put: impl FnOnce(&mut Allocator, usize),
) -> Result<()> {
    let description = description(cx, desc)?;
    if function == 0 {
        return Err(null("func"));
    }
    put(&mut description.content.lock(), function);
    Ok(())
}

pub fn aclrtAllocatorSetAllocFuncToDesc(cx: &Cx<'_>, desc: Raw, function: usize) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.allocate = function;
    })
}

pub fn aclrtAllocatorSetFreeFuncToDesc(cx: &Cx<'_>, desc: Raw, function: usize) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.free = function;
    })
}

pub fn aclrtAllocatorSetAllocAdviseFuncToDesc(
    cx: &Cx<'_>,
    desc: Raw,
    function: usize,
) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.allocate_near = function;
    })
}

pub fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    cx: &Cx<'_>,
    desc: Raw,
    function: usize,
) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.address_of = function;
    })
}

/// What the description says is copied, so that it may be destroyed. A later allocator takes an earlier one's place.
pub fn aclrtAllocatorRegister(cx: &Cx<'_>, stream: Raw, desc: Raw) -> Result<()> {
    if stream.is_null() {
        return Err(null("stream"));
    }
    let content = *description(cx, desc)?.content.lock();
    let needed = [
        (content.object as usize, "an object"),
        (content.allocate, "a function that allocates"),
        (content.free, "a function that frees"),
        (
            content.address_of,
            "a function that gives a block's address",
        ),
    ];
    if let Some((_, missing)) = needed.iter().find(|(value, _)| *value == 0) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the allocator's description lacks {missing}"),
        );
    }
    let stream = cx.any_stream(stream)?;
    let streams = cx.runtime()?.streams();
    let mut by_stream = cx.process.allocators.by_stream.lock();
    // Streams that are gone take their allocators along; this is where they are many enough to care.
    by_stream.retain(|stream, _| streams.get(*stream).is_ok());
    by_stream.insert(stream.id(), (desc.0, content));
    Ok(())
}

/// The description's handle and the allocator.
pub fn aclrtAllocatorGetByStream(cx: &Cx<'_>, stream: Raw) -> Result<(Raw, Allocator)> {
    if stream.is_null() {
        return Err(null("stream"));
    }
    let stream = cx.any_stream(stream)?;
    let by_stream = cx.process.allocators.by_stream.lock();
    let found = by_stream.get(&stream.id()).copied();
    found
        .map(|(desc, allocator)| (Raw(desc), allocator))
        .ok_or_else(|| none(stream.number()))
}

pub fn aclrtAllocatorUnregister(cx: &Cx<'_>, stream: Raw) -> Result<()> {
    if stream.is_null() {
        return Err(null("stream"));
    }
    let stream = cx.any_stream(stream)?;
    let gone = cx.process.allocators.by_stream.lock().remove(&stream.id());
    gone.map(drop).ok_or_else(|| none(stream.number()))
}

fn none(stream: u32) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("stream {stream} has no allocator of the program's own"),
    )
    .fix("Register one for the stream first.")
}
