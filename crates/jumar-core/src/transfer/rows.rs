//! Copies of rows of a matrix.

use std::sync::Arc;

use jumar_hal::{Backend, Cost, Program, Task, Transfer};
use jumar_types::{Error, ErrorKind, Result};

use super::cost_of;
use crate::copy::{Direction, at_once, device_of};
use crate::gate::{Op, Rows};
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind, Runtime, Stream};

struct CopyRows {
    backend: Arc<dyn Backend>,
    to: Rows,
    from: Rows,
}

impl Program for CopyRows {
    fn run(&self) -> Result<()> {
        copy(&self.backend, self.to, self.from);
        Ok(())
    }

    fn cost(&self) -> Cost {
        cost_of(self.from.bytes())
    }

    fn name(&self) -> &str {
        "copy of rows"
    }
}

fn copy(backend: &Arc<dyn Backend>, to: Rows, from: Rows) {
    for (to, from) in to.iter().zip(from.iter()) {
        backend.copy_now(Transfer::new(to, from).expect("rows of one width"));
    }
}

/// Checks that both ends have the same rows, and finds where they live.
fn homes(
    shared: &SharedRuntime,
    to: Rows,
    from: Rows,
    caller: &Caller<'_>,
) -> Result<(MemoryKind, MemoryKind)> {
    if (to.width, to.height) != (from.width, from.height) {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "the target has {} rows of {} bytes and the source {} of {}; both ends of a copy have the same rows",
                to.height, to.width, from.height, from.width
            ),
        )
        .fix("Pass the same width and height for both ends."));
    }
    let target = shared.space.resolve(to.span, caller.lookups, "target")?;
    let source = shared.space.resolve(from.span, caller.lookups, "source")?;
    Ok((target.home, source.home))
}

fn now(
    shared: &SharedRuntime,
    to: Rows,
    from: Rows,
    homes: (MemoryKind, MemoryKind),
    caller: &Caller<'_>,
) -> Result<()> {
    let op = || Op::CopyRows {
        to,
        from,
        direction: Direction::of(homes.0, homes.1).name(),
    };
    at_once(shared, device_of(homes.0, homes.1), caller, op, || {
        copy(&shared.backend, to, from);
    })
}

impl Runtime {
    /// Copies rows on the calling thread, at once, in no order with any stream. Both ends have rows of one width and number.
    ///
    /// # Errors
    /// `InvalidValue`: an end leaves its allocation, or the ends differ in width or number of rows.
    pub fn copy_rows_now(&self, to: Rows, from: Rows, caller: &Caller<'_>) -> Result<()> {
        let homes = homes(&self.shared, to, from, caller)?;
        now(&self.shared, to, from, homes, caller)
    }
}

impl Stream {
    /// Queues a copy of rows. Both ends have rows of one width and number. With ordinary host memory on one end the stream is
    /// waited for, and the copy is done before the call returns.
    ///
    /// # Errors
    /// As [`Runtime::copy_rows_now`]; an earlier task's error, when the stream had to be waited for.
    pub fn copy_rows(&self, to: Rows, from: Rows, caller: &Caller<'_>) -> Result<()> {
        let shared = self.shared();
        let homes = homes(shared, to, from, caller)?;
        let is_pageable = homes.0 == MemoryKind::Host || homes.1 == MemoryKind::Host;
        if is_pageable && self.drain_for_host_access(caller)? {
            return now(shared, to, from, homes, caller);
        }
        let op = || Op::CopyRows {
            to,
            from,
            direction: Direction::of(homes.0, homes.1).name(),
        };
        let program = CopyRows {
            backend: shared.backend.clone(),
            to,
            from,
        };
        self.submit(caller, Task::Run(Arc::new(program)), op)
            .map(drop)
    }
}
