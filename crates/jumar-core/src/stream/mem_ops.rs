//! Copies and fills on a stream.

use std::sync::Arc;

use jumar_hal::{Cost, Program, Span, Tag, Task};
use jumar_types::{Error, ErrorKind, Result};

use super::Stream;
use crate::copy::{self, Direction};
use crate::gate::Op;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind};

/// Returns bytes that were kept aside for a copy back when it is dropped: after its turn, or with a discarded queue.
struct GiveBack {
    shared: Arc<SharedRuntime>,
    kept: Span,
}

impl Drop for GiveBack {
    fn drop(&mut self) {
        self.shared.backend.free_pinned(self.kept);
    }
}

impl Program for GiveBack {
    fn run(&self) -> Result<()> {
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "end of a buffered copy"
    }
}

impl Stream {
    /// Queues a copy. With ordinary host memory on one end the stream is waited for, and the copy is done before the
    /// call returns, as such memory cannot be copied from behind the program's back.
    ///
    /// # Errors
    /// `InvalidValue`: an end leaves its allocation, or the ends differ in length; `FeatureUnsupported`: both ends are host memory; an earlier task's
    /// error, when the stream had to be waited for.
    pub fn copy(&self, to: Span, from: Span, caller: &Caller<'_>) -> Result<()> {
        if to.bytes() != from.bytes() {
            return Err(copy::lengths_differ(to, from));
        }
        let space = &self.shared.space;
        let target = space.known(to, caller.lookups);
        let source = space.known(from, caller.lookups);
        let both = target.0 && source.0 && (target.1 || source.1);
        if both && self.is_plain() && to.address() != from.address() {
            let tag = Tag {
                ticket: 0,
                call: caller.call,
            };
            let position = self.queue.submit_copy(to, from, tag);
            self.note(position, caller);
            return Ok(());
        }
        self.copy_with_care(to, from, caller)
    }

    #[inline(never)]
    fn copy_with_care(&self, to: Span, from: Span, caller: &Caller<'_>) -> Result<()> {
        let space = &self.shared.space;
        let target = space.resolve(to, caller.lookups, "target")?;
        let source = space.resolve(from, caller.lookups, "source")?;
        let direction = Direction::of(target.home, source.home);
        if direction == Direction::HostToHost {
            return Err(Error::new(
                ErrorKind::FeatureUnsupported,
                format!(
                    "both ends of the copy are host memory (target {:#x}, source {:#x}); a stream copies to or from device memory",
                    to.address(),
                    from.address()
                ),
            )
            .fix("Copy on the host, or let one end be device memory."));
        }
        if to.address() == from.address() {
            return Ok(());
        }
        let is_pageable = target.home == MemoryKind::Host || source.home == MemoryKind::Host;
        if is_pageable && self.drain_for_host_access(caller)? {
            return copy::copy_resolved(&self.shared, target, source, caller);
        }
        let op = || Op::Copy {
            to,
            from,
            direction: direction.name(),
        };
        let task = Task::Copy(copy::transfer(to, from)?);
        self.submit(caller, task, op).map(drop)
    }

    /// Queues a copy whose source may be changed as soon as the call returned: the bytes are kept aside first.
    ///
    /// # Errors
    /// As [`Stream::copy`]; `OutOfMemory`: not enough memory to keep the bytes.
    pub fn copy_buffered(&self, to: Span, from: Span, caller: &Caller<'_>) -> Result<()> {
        let space = &self.shared.space;
        let target = space.resolve(to, caller.lookups, "target")?;
        let source = space.resolve(from, caller.lookups, "source")?;
        if !target.home.is_device() || source.home.is_device() {
            return self.copy(to, from, caller);
        }
        if to.bytes() != from.bytes() {
            return Err(copy::lengths_differ(to, from));
        }
        self.accepts()?;
        let backend = &self.shared.backend;
        let kept = backend.allocate_pinned(from.bytes())?;
        let bytes = kept
            .part(0, from.bytes())
            .expect("a backend returns at least the requested bytes");
        backend.copy_now(copy::transfer(bytes, from)?);
        let give_back = Arc::new(GiveBack {
            shared: self.shared.clone(),
            kept,
        });
        let direction = Direction::HostToDevice.name();
        let op = || Op::Copy {
            to,
            from,
            direction,
        };
        let task = Task::Copy(copy::transfer(to, bytes)?);
        self.submit_with(caller, task, [Task::Run(give_back)], op)
            .map(drop)
    }

    /// Queues a fill with one byte value.
    ///
    /// # Errors
    /// `InvalidValue`: the range leaves its allocation.
    pub fn fill(&self, to: Span, value: u8, caller: &Caller<'_>) -> Result<()> {
        if self.shared.space.known(to, caller.lookups).0 && self.is_plain() {
            let tag = Tag {
                ticket: 0,
                call: caller.call,
            };
            let position = self.queue.submit_fill(to, value, tag);
            self.note(position, caller);
            return Ok(());
        }
        self.fill_with_care(to, value, caller)
    }

    #[inline(never)]
    fn fill_with_care(&self, to: Span, value: u8, caller: &Caller<'_>) -> Result<()> {
        let target = self.shared.space.resolve(to, caller.lookups, "target")?;
        if target.home == MemoryKind::Host && self.drain_for_host_access(caller)? {
            return copy::fill_now(&self.shared, to, value, caller);
        }
        self.submit(caller, Task::Fill { to, value }, || Op::Fill { to })
            .map(drop)
    }
}
