//! Allocators of the program's own, one for a stream.
//!
//! Queries return them. They serve models of dynamic shapes that are queued on their stream: the call that queues
//! an execution allocates work memory and frees it once the execution is queued. So the functions run on the program's own thread,
//! inside a call of its own, and never after it; what the allocator lends again serves later work of the same stream, which comes after.
//! No lock is held while they run: they may call the interface.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Span, Stream, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::{Cx, Raw, refuse};

/// A function of the program: the number that queries return, and the way to call it.
pub struct Function<F: ?Sized> {
    /// Where it lies.
    pub number: usize,
    /// Calls it.
    pub call: Arc<F>,
}

impl<F: ?Sized> Clone for Function<F> {
    fn clone(&self) -> Self {
        Function {
            number: self.number,
            call: self.call.clone(),
        }
    }
}

impl<F: ?Sized> fmt::Debug for Function<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.number)
    }
}

/// Allocates: takes the object and a number of bytes. Returns a block; 0 is none.
pub type Allocate = Function<dyn Fn(u64, usize) -> u64 + Send + Sync>;
/// Frees: takes the object and a block.
pub type Free = Function<dyn Fn(u64, u64) + Send + Sync>;
/// Returns the address of a block.
pub type AddressOf = Function<dyn Fn(u64) -> u64 + Send + Sync>;

/// An allocator: the program's object and its functions.
#[derive(Clone, Debug, Default)]
pub struct Allocator {
    /// The object that the functions get.
    pub object: u64,
    /// Allocates.
    pub allocate: Option<Allocate>,
    /// Frees.
    pub free: Option<Free>,
    /// Allocates near a wanted address; 0 where it was not set. It is never called; queries return it.
    pub allocate_near: usize,
    /// Returns a block's address.
    pub address_of: Option<AddressOf>,
}

impl Allocator {
    /// The functions as numbers, in the order in which queries return them; 0 where one was not set.
    pub fn numbers(&self) -> [usize; 4] {
        fn number<F: ?Sized>(function: Option<&Function<F>>) -> usize {
            function.map_or(0, |function| function.number)
        }
        [
            number(self.allocate.as_ref()),
            number(self.free.as_ref()),
            self.allocate_near,
            number(self.address_of.as_ref()),
        ]
    }

    /// Returns what a complete allocator is made of.
    fn complete(self) -> Result<RegisteredAllocator> {
        let lacks = |missing: &str| {
            refuse(
                ErrorKind::InvalidArgument,
                format!("the allocator's description lacks {missing}"),
            )
        };
        if self.object == 0 {
            return lacks("an object");
        }
        let Some(allocate) = self.allocate.clone() else {
            return lacks("a function that allocates");
        };
        let Some(free) = self.free.clone() else {
            return lacks("a function that frees");
        };
        let Some(address_of) = self.address_of.clone() else {
            return lacks("a function that returns a block's address");
        };
        Ok(RegisteredAllocator {
            allocate,
            free,
            address_of,
            description: self,
        })
    }
}

/// An allocator with everything that it needs, as a stream has it.
struct RegisteredAllocator {
    allocate: Allocate,
    free: Free,
    address_of: AddressOf,
    description: Allocator,
}

/// Work memory that a stream's allocator lends for one execution. It is given back when this is dropped.
pub(crate) struct AllocatorMemory {
    of: Arc<RegisteredAllocator>,
    block: u64,
    /// The memory.
    pub(crate) span: Span,
}

impl Drop for AllocatorMemory {
    fn drop(&mut self) {
        (self.of.free.call)(self.of.description.object, self.block);
    }
}

/// Work memory begins at a multiple of this, as memory from aclrtMalloc does.
const ALIGNMENT: usize = 64;

/// Asks the allocator of a stream for the work memory that `wanted` returns, which is called only if there is an allocator. `None`:
/// the stream has none, nothing is wanted, or the stream records a captured model, whose executions may
/// come on another stream and after the allocator is gone.
///
/// # Errors
/// `ModelMemory`: the allocator returns no block, or one without that much live device memory.
pub(crate) fn lend(
    cx: &Cx<'_>,
    stream: &Stream,
    wanted: impl FnOnce() -> Option<usize>,
) -> Result<Option<AllocatorMemory>> {
    if stream.is_recorded() {
        return Ok(None);
    }
    let found = cx
        .process
        .allocators
        .by_stream
        .lock()
        .get(&stream.id())
        .map(|(_, of)| of.clone());
    let Some(of) = found else { return Ok(None) };
    let Some(bytes) = wanted().filter(|bytes| *bytes > 0) else {
        return Ok(None);
    };
    let asked = format!(
        "the allocator that is registered for stream {}, asked for {bytes} bytes of work memory,",
        stream.number()
    );
    let block = (of.allocate.call)(of.description.object, bytes);
    if block == 0 {
        let sentence = format!("{asked} gave no block");
        return Err(Error::new(ErrorKind::ModelMemory, sentence).fix(
            "Let its function that allocates give a block, or take the allocator away with aclrtAllocatorUnregister.",
        ));
    }
    let mut lent = AllocatorMemory {
        of,
        block,
        span: Span::EMPTY,
    };
    let address = (lent.of.address_of.call)(block) as usize;
    let found = cx
        .runtime()?
        .space()
        .find(address)
        .filter(|found| found.home.is_device());
    let part = found.and_then(|found| found.span.part(address - found.span.address(), bytes));
    let wrong = match part {
        Some(_) if !address.is_multiple_of(ALIGNMENT) => {
            format!("at {address:#x}, which is not a multiple of {ALIGNMENT}")
        }
        Some(span) => {
            lent.span = span;
            return Ok(Some(lent));
        }
        None if address == 0 => "without an address".to_owned(),
        None => format!("at {address:#x}, where there are not {bytes} bytes of live device memory"),
    };
    let sentence = format!("{asked} gave block {block:#x} {wrong}");
    Err(Error::new(ErrorKind::ModelMemory, sentence)
        .fix("Let the block be memory from aclrtMalloc, at least as large as was asked for."))
}

/// A description of an allocator.
pub struct Description {
    id: u64,
    content: Mutex<Allocator>,
}

/// The descriptions by handle, and the allocators by the handle of their stream.
pub(crate) struct Allocators {
    descriptions: Table<Description>,
    by_stream: Mutex<HashMap<u64, (u64, Arc<RegisteredAllocator>)>>,
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

fn set<T>(
    cx: &Cx<'_>,
    desc: Raw,
    function: Option<T>,
    put: impl FnOnce(&mut Allocator, T),
) -> Result<()> {
    let description = description(cx, desc)?;
    let function = function.ok_or_else(|| null("func"))?;
    put(&mut description.content.lock(), function);
    Ok(())
}

pub fn aclrtAllocatorSetAllocFuncToDesc(
    cx: &Cx<'_>,
    desc: Raw,
    function: Option<Allocate>,
) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.allocate = Some(function);
    })
}

pub fn aclrtAllocatorSetFreeFuncToDesc(
    cx: &Cx<'_>,
    desc: Raw,
    function: Option<Free>,
) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.free = Some(function);
    })
}

pub fn aclrtAllocatorSetAllocAdviseFuncToDesc(
    cx: &Cx<'_>,
    desc: Raw,
    function: usize,
) -> Result<()> {
    let function = (function != 0).then_some(function);
    set(cx, desc, function, |content, function| {
        content.allocate_near = function;
    })
}

pub fn aclrtAllocatorSetGetAddrFromBlockFuncToDesc(
    cx: &Cx<'_>,
    desc: Raw,
    function: Option<AddressOf>,
) -> Result<()> {
    set(cx, desc, function, |content, function| {
        content.address_of = Some(function);
    })
}

/// The description is copied and may be destroyed. A later allocator replaces an earlier one.
pub fn aclrtAllocatorRegister(cx: &Cx<'_>, stream: Raw, desc: Raw) -> Result<()> {
    if stream.is_null() {
        return Err(null("stream"));
    }
    let content = description(cx, desc)?.content.lock().clone();
    let registered = Arc::new(content.complete()?);
    let stream = cx.any_stream(stream)?;
    let streams = cx.runtime()?.streams();
    let mut by_stream = cx.process.allocators.by_stream.lock();
    // Streams that are gone take their allocators along; this is where they are many enough to care.
    by_stream.retain(|stream, _| streams.get(*stream).is_ok());
    by_stream.insert(stream.id(), (desc.0, registered));
    Ok(())
}

/// The description's handle and the allocator.
pub fn aclrtAllocatorGetByStream(cx: &Cx<'_>, stream: Raw) -> Result<(Raw, Allocator)> {
    if stream.is_null() {
        return Err(null("stream"));
    }
    let stream = cx.any_stream(stream)?;
    let by_stream = cx.process.allocators.by_stream.lock();
    let found = by_stream.get(&stream.id());
    found
        .map(|(desc, of)| (Raw(*desc), of.description.clone()))
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
        format!("no allocator is registered for stream {stream}"),
    )
    .fix("Register one for the stream first.")
}
