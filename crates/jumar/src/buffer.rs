//! Memory of a device, and host memory that a device can copy from and to by itself.
//!
//! Neither can be borrowed as a slice: a device works on it while the program runs on. It is written from and read into
//! slices, and a buffer knows which queued tasks use it: host memory is touched only when they are over, and memory is freed
//! only when they are over. That holds whatever becomes of the values that stand for the tasks, forgetting them included.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use jumar_core::sync::Mutex;
use jumar_core::{Block, Signal, Span, Stream};
use jumar_types::{Error, ErrorKind, Result};

use crate::call::{self, by};
use crate::context::{Context, refuse_in_host_function};
use crate::element::Element;
use crate::runtime::{Access, Inner, PendingUse, Runtime};

/// An allocation, and who uses it.
pub(crate) struct Memory {
    pub(crate) runtime: Arc<Inner>,
    block: Block,
    uses: Mutex<Vec<PendingUse>>,
}

impl Memory {
    fn new(
        runtime: &Arc<Inner>,
        bytes: usize,
        mut allocate: impl FnMut(usize) -> Result<Block>,
    ) -> Result<Arc<Memory>> {
        runtime.reclaim();
        // An empty buffer has an address too.
        let bytes = bytes.max(1);
        let block = match allocate(bytes) {
            // Memory that is only waiting for its last tasks is as good as free.
            Err(error) if error.kind() == ErrorKind::OutOfMemory && runtime.reclaim_all() => {
                allocate(bytes)
            }
            other => other,
        }?;
        Ok(Arc::new(Memory {
            runtime: runtime.clone(),
            block,
            uses: Mutex::default(),
        }))
    }

    pub(crate) fn on_device(context: &Context, bytes: usize) -> Result<Arc<Memory>> {
        let shared = &context.inner;
        by(&call::ALLOCATE, |caller| {
            Memory::new(&shared.runtime, bytes, |bytes| {
                // The card's library sets memory aside in multiples of 32 bytes and 32 more.
                let reserve = bytes.saturating_add(63) / 32 * 32;
                shared.core.allocate(bytes, reserve, caller)
            })
        })
    }

    pub(crate) fn pinned(runtime: &Arc<Inner>, bytes: usize) -> Result<Arc<Memory>> {
        by(&call::PIN, |caller| {
            Memory::new(runtime, bytes, |bytes| {
                runtime.core.allocate_pinned(bytes, caller)
            })
        })
    }

    pub(crate) fn span(&self, offset_bytes: usize, bytes: usize) -> Span {
        self.block
            .span
            .part(offset_bytes, bytes)
            .expect("a part was checked against its buffer's length")
    }

    /// Notes a task that uses the memory.
    pub(crate) fn used_by(&self, stream: &Arc<Stream>, done: &Arc<Signal>, access: Access) {
        let mut uses = self.uses.lock();
        uses.retain(|other| !other.is_over());
        uses.push(PendingUse {
            stream: stream.clone(),
            done: done.clone(),
            access,
        });
    }

    /// Waits until no queued task writes the memory.
    ///
    /// # Errors
    /// `CallbackFailed`: one does, and a host function would wait for it.
    pub(crate) fn wait_for_writes(&self) -> Result<()> {
        self.wait_for_uses(|access| access == Access::Write)
    }

    /// Waits until no queued task uses the memory.
    ///
    /// # Errors
    /// As [`Memory::wait_for_writes`].
    pub(crate) fn wait_for_all_uses(&self) -> Result<()> {
        self.wait_for_uses(|_| true)
    }

    fn wait_for_uses(&self, matters: impl Fn(Access) -> bool) -> Result<()> {
        let uses: Vec<PendingUse> = {
            let mut uses = self.uses.lock();
            uses.retain(|other| !other.is_over());
            let found = uses.iter().filter(|other| matters(other.access));
            found.cloned().collect()
        };
        if !uses.is_empty() {
            refuse_in_host_function()?;
        }
        uses.iter().for_each(PendingUse::wait);
        Ok(())
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let uses = std::mem::take(&mut *self.uses.lock());
        self.runtime.release(self.block, uses);
    }
}

/// Returns the size of `len` elements.
fn bytes_of<T>(len: usize) -> Result<usize> {
    len.checked_mul(size_of::<T>())
        .filter(|bytes| isize::try_from(*bytes).is_ok())
        .ok_or_else(|| {
            let sentence = format!(
                "{len} elements of {} bytes are more than any memory holds",
                size_of::<T>()
            );
            Error::new(ErrorKind::OutOfMemory, sentence)
        })
}

/// Memory of a device for `len` elements of one type.
///
/// ```
/// # let runtime = jumar::Runtime::new()?;
/// let context = runtime.device(0)?.context()?;
/// let stream = context.stream()?;
/// let buffer = jumar::DeviceBuffer::from_slice(&context, &[1.0f32, 2.0, 3.0])?;
/// assert_eq!(stream.read(&buffer.part(1..3)?)?, [2.0, 3.0]);
/// # Ok::<(), jumar::Error>(())
/// ```
///
/// # Ownership
/// Freed when it is dropped and no queued task uses it any more.
///
/// # Threads
/// Streams may share it; what they write at the same time without an event between them is any mixture of bytes.
pub struct DeviceBuffer<T: Element> {
    pub(crate) memory: Arc<Memory>,
    device: u32,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<T> {
    /// Allocates memory of the context's device. What it holds is whatever the memory held before.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(context: &Context, len: usize) -> Result<DeviceBuffer<T>> {
        let memory = Memory::on_device(context, bytes_of::<T>(len)?)?;
        Ok(DeviceBuffer::over(
            memory,
            context.inner.core.device().number(),
            len,
        ))
    }

    /// Allocates memory of the context's device and copies `elements` there.
    ///
    /// # Threads
    /// The copy is done when the call returns.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn from_slice(context: &Context, elements: &[T]) -> Result<DeviceBuffer<T>> {
        let buffer = DeviceBuffer::new(context, elements.len())?;
        if !elements.is_empty() {
            let to = buffer.memory.span(0, size_of_val(elements));
            // No other thread knows the memory yet, so the copy needs no order.
            by(&call::WRITE, |caller| {
                let core = &context.inner.runtime.core;
                core.write(to, bytemuck::cast_slice(elements), caller)
            })?;
        }
        Ok(buffer)
    }

    pub(crate) fn over(memory: Arc<Memory>, device: u32, len: usize) -> DeviceBuffer<T> {
        DeviceBuffer {
            memory,
            device,
            len,
            element: PhantomData,
        }
    }

    /// Counts the elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the part with the elements of a range.
    ///
    /// # Errors
    /// `InvalidValue`: the range ends before it starts, or after the buffer.
    pub fn part(&self, range: Range<usize>) -> Result<DevicePart<'_, T>> {
        if range.start > range.end || range.end > self.len {
            let sentence = format!(
                "elements {}..{} do not lie in a buffer of {}",
                range.start, range.end, self.len
            );
            return Err(Error::new(ErrorKind::InvalidValue, sentence));
        }
        Ok(DevicePart {
            offset: range.start,
            len: range.len(),
            ..self.full_range()
        })
    }

    fn full_range(&self) -> DevicePart<'_, T> {
        DevicePart {
            memory: &self.memory,
            device: self.device,
            offset: 0,
            len: self.len,
            element: PhantomData,
        }
    }
}

impl<T: Element> fmt::Debug for DeviceBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("device", &self.device)
            .field("type", &T::DATA_TYPE)
            .field("len", &self.len)
            .finish()
    }
}

/// Some neighbouring elements of a [`DeviceBuffer`].
#[derive(Clone, Copy)]
pub struct DevicePart<'a, T: Element> {
    pub(crate) memory: &'a Arc<Memory>,
    pub(crate) device: u32,
    offset: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<'a, T: Element> DevicePart<'a, T> {
    /// Counts the elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn span(&self) -> Span {
        self.memory
            .span(self.offset * size_of::<T>(), self.len * size_of::<T>())
    }

    /// Cuts the part into pieces of at most `chunk_len` elements.
    pub(crate) fn chunks(self) -> impl Iterator<Item = DevicePart<'a, T>> {
        (0..self.len)
            .step_by(chunk_len::<T>())
            .map(move |start| DevicePart {
                offset: self.offset + start,
                len: chunk_len::<T>().min(self.len - start),
                ..self
            })
    }
}

impl<T: Element> fmt::Debug for DevicePart<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DevicePart")
            .field("device", &self.device)
            .field("type", &T::DATA_TYPE)
            .field("elements", &(self.offset..self.offset + self.len))
            .finish()
    }
}

/// A buffer of a device, or a part of one: what streams work on.
pub trait OnDevice: sealed::Sealed {
    /// What it is made of.
    type Element: Element;

    /// Returns all of it as a part.
    fn as_part(&self) -> DevicePart<'_, Self::Element>;
}

mod sealed {
    pub trait Sealed {}
}

impl<T: Element> sealed::Sealed for DeviceBuffer<T> {}
impl<T: Element> OnDevice for DeviceBuffer<T> {
    type Element = T;

    fn as_part(&self) -> DevicePart<'_, T> {
        self.full_range()
    }
}

impl<T: Element> sealed::Sealed for DevicePart<'_, T> {}
impl<T: Element> OnDevice for DevicePart<'_, T> {
    type Element = T;

    fn as_part(&self) -> DevicePart<'_, T> {
        *self
    }
}

/// Host memory for `len` elements of one type, from and to which devices copy by themselves.
///
/// # Ownership
/// Freed when it is dropped and no queued task uses it any more.
pub struct PinnedBuffer<T: Element> {
    pub(crate) memory: Arc<Memory>,
    len: usize,
    element: PhantomData<T>,
}

impl<T: Element> PinnedBuffer<T> {
    /// Allocates host memory, filled with zeros.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn zeroed(runtime: &Runtime, len: usize) -> Result<PinnedBuffer<T>> {
        let buffer = PinnedBuffer::unwritten(&runtime.inner, len)?;
        by(&call::PIN, |caller| {
            runtime
                .inner
                .core
                .fill_now(buffer.memory.block.span, 0, caller)
        })?;
        Ok(buffer)
    }

    /// Allocates host memory with a copy of `elements`.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn from_slice(runtime: &Runtime, elements: &[T]) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::keep(&runtime.inner, elements)
    }

    pub(crate) fn keep(runtime: &Arc<Inner>, elements: &[T]) -> Result<PinnedBuffer<T>> {
        let mut buffer = PinnedBuffer::unwritten(runtime, elements.len())?;
        buffer.write(0, elements)?;
        Ok(buffer)
    }

    pub(crate) fn unwritten(runtime: &Arc<Inner>, len: usize) -> Result<PinnedBuffer<T>> {
        let memory = Memory::pinned(runtime, bytes_of::<T>(len)?)?;
        Ok(PinnedBuffer {
            memory,
            len,
            element: PhantomData,
        })
    }

    /// Counts the elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes elements from index `at` on.
    ///
    /// # Threads
    /// Waits for queued copies of this buffer whose end was not waited for (after a forgotten [`Pending`](crate::Pending)).
    ///
    /// # Errors
    /// `InvalidValue`: they would end after the buffer; `CallbackFailed`: a host function would wait for such a copy, which may be
    /// queued behind the function.
    pub fn write(&mut self, at: usize, elements: &[T]) -> Result<()> {
        let to = self.range(at, elements.len())?;
        by(&call::WRITE_PINNED, |_| self.memory.wait_for_all_uses())?;
        jumar_cpu::write(to, bytemuck::cast_slice(elements));
        Ok(())
    }

    /// Reads elements from index `at` on.
    ///
    /// # Threads
    /// Waits for queued copies into this buffer whose end was not waited for. Copies out of it only read, too.
    ///
    /// # Errors
    /// `InvalidValue`: `into` is longer than what follows `at`; `CallbackFailed`: as [`PinnedBuffer::write`].
    pub fn read(&self, at: usize, into: &mut [T]) -> Result<()> {
        let from = self.range(at, into.len())?;
        by(&call::READ_PINNED, |_| self.memory.wait_for_writes())?;
        jumar_cpu::read(from, bytemuck::cast_slice_mut(into));
        Ok(())
    }

    /// Returns a copy of all elements.
    ///
    /// # Threads
    /// As [`PinnedBuffer::read`].
    ///
    /// # Panics
    /// A host function would wait for a copy into this buffer; [`PinnedBuffer::read`] returns that as an error.
    pub fn to_vec(&self) -> Vec<T> {
        let mut elements = vec![T::zeroed(); self.len];
        if let Err(error) = self.read(0, &mut elements) {
            panic!("{error}");
        }
        elements
    }

    pub(crate) fn span(&self) -> Span {
        self.memory.span(0, self.len * size_of::<T>())
    }

    fn range(&self, at: usize, len: usize) -> Result<Span> {
        if at > self.len || len > self.len - at {
            let sentence = format!(
                "{len} elements from index {at} on do not lie in a buffer of {}",
                self.len
            );
            return Err(Error::new(ErrorKind::InvalidValue, sentence));
        }
        Ok(self.memory.span(at * size_of::<T>(), len * size_of::<T>()))
    }
}

impl<T: Element> fmt::Debug for PinnedBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer")
            .field("type", &T::DATA_TYPE)
            .field("len", &self.len)
            .finish()
    }
}

/// How many elements are kept aside at a time when ordinary host memory is copied.
pub(crate) fn chunk_len<T>() -> usize {
    const CHUNK_BYTES: usize = 8 << 20;
    CHUNK_BYTES / size_of::<T>()
}
