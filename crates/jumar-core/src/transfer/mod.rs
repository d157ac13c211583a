//! Work on memory beyond a plain copy or fill: rows, batches, words, copies through addresses, reductions, random numbers.
//!
//! Each is a program that may run many times, and says of itself which ranges it reads and writes. On the program's own
//! host memory it is done at once, as for a plain copy.

mod batch;
mod fill_u32;
mod indirect;
mod random;
mod reduce;
mod rows;

use std::sync::Arc;

use jumar_hal::{Backend, Cost, Program, Span, Task, Transfer};
use jumar_types::{Error, ErrorKind, Result};

pub use indirect::{DESCRIPTOR_BYTES, Descriptor};
pub use random::{Distribution, Generator, NumberType, RandomNumbers, Value};
pub use reduce::{ReduceKind, ReduceType};

use crate::gate::Op;
use crate::runtime::SharedRuntime;
use crate::{Caller, Stream};

/// How long work on so many bytes may take.
fn cost_of(bytes: usize) -> Cost {
    match bytes {
        0..=Task::BOUNDED_BYTES => Cost::Bounded,
        Task::LARGE_BYTES.. => Cost::Large,
        _ => Cost::Unbounded,
    }
}

/// Finds a range of device memory by numbers without a guarantee: it has to lie in a live allocation.
pub(crate) fn device_range(
    shared: &SharedRuntime,
    address: usize,
    bytes: usize,
    what: &str,
) -> Result<(Span, u32)> {
    let block = shared.space.reach(address, bytes);
    let found = block.and_then(|block| block.home.device().map(|device| (block, device)));
    let Some((block, device)) = found else {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!("{what} at {address:#x} is not live device memory"),
        )
        .fix("Pass an address inside an allocation of device memory."));
    };
    let part = block.span.part(address - block.span.address(), bytes);
    let span = part.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!(
                "{what} of {bytes} bytes at {address:#x} leaves allocation {} ({} bytes at {:#x}, made by {})",
                block.number,
                block.span.bytes(),
                block.span.address(),
                block.made_by
            ),
        )
    })?;
    Ok((span, device))
}

/// A program that does nothing but take its turn in the stream.
struct Marker {
    name: &'static str,
}

impl Program for Marker {
    fn run(&self) -> Result<()> {
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        self.name
    }
}

impl Stream {
    /// Queues something that takes its turn and does nothing to memory here: a hint to a cache, a move of managed memory.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn hint(
        &self,
        name: &'static str,
        reads: &[Span],
        writes: &[Span],
        caller: &Caller<'_>,
    ) -> Result<u64> {
        self.launch(Arc::new(Marker { name }), reads, writes, caller)
    }

    /// Queues one turn for an operation that says of itself what it is.
    pub(crate) fn take_turn<'a>(
        &self,
        name: &'static str,
        caller: &Caller<'_>,
        op: impl FnOnce() -> Op<'a>,
    ) -> Result<u64> {
        self.submit(caller, Task::Run(Arc::new(Marker { name })), op)
    }

    /// Finds a range of device memory by numbers.
    ///
    /// # Errors
    /// `InvalidValue`: it is not device memory, or leaves its allocation.
    pub fn device_range(&self, address: usize, bytes: usize, what: &str) -> Result<Span> {
        device_range(self.shared(), address, bytes, what).map(|(span, _)| span)
    }

    /// As [`Stream::device_range`], for units of the device that reach its own memory, managed memory and mapped memory alone.
    ///
    /// # Errors
    /// As there; it is an allocation of another device.
    pub fn own_device_range(&self, address: usize, bytes: usize, what: &str) -> Result<Span> {
        let shared = self.shared();
        let (span, device) = device_range(shared, address, bytes, what)?;
        let is_elsewhere = device != self.device()
            && shared.space.is_allocation(address)
            && !shared.is_managed(address);
        if is_elsewhere {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "{what} at {address:#x} is memory of device {device}, and the stream is of device {}",
                    self.device()
                ),
            )
            .fix("Copy it to memory of the stream's device first."));
        }
        Ok(span)
    }

    /// Finds what follows an address in its allocation of device memory.
    ///
    /// # Errors
    /// `InvalidValue`: it is not device memory.
    pub fn rest_of_device_range(&self, address: usize, what: &str) -> Result<Span> {
        device_range(self.shared(), address, 0, what)?;
        let block = self.shared().space.find(address);
        let rest = block.and_then(|block| {
            let offset = address - block.span.address();
            block.span.part(offset, block.span.bytes() - offset)
        });
        rest.ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidValue,
                format!("{what} at {address:#x} was freed by another thread"),
            )
        })
    }
}

/// Fills a range with a pattern: a little by hand, the rest by copying what is there already.
fn fill_with(backend: &Arc<dyn Backend>, to: Span, word: [u8; 4]) {
    const FIRST: usize = 4096;
    let first = word.repeat(FIRST / 4);
    let mut done = to.bytes().min(FIRST);
    let Some(start) = to.part(0, done) else {
        return;
    };
    backend.write_now(start, &first[..done]);
    while done < to.bytes() {
        let next = done.min(to.bytes() - done);
        let ends = to.part(done, next).zip(to.part(0, next));
        if let Some(copy) = ends.and_then(|(to, from)| Transfer::new(to, from)) {
            backend.copy_now(copy);
        }
        done += next;
    }
}
