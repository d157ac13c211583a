//! Several copies as one operation.

use std::sync::Arc;

use jumar_hal::{Backend, Cost, Program, Span, Task, Transfer};
use jumar_types::Result;

use super::cost_of;
use crate::copy::{Direction, at_once, device_of, transfer};
use crate::gate::Op;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind, Runtime, Stream};

struct Batch {
    backend: Arc<dyn Backend>,
    pieces: Vec<(Span, Span)>,
}

impl Program for Batch {
    fn run(&self) -> Result<()> {
        copy(&self.backend, &self.pieces);
        Ok(())
    }

    fn cost(&self) -> Cost {
        cost_of(self.pieces.iter().map(|(_, from)| from.bytes()).sum())
    }

    fn name(&self) -> &str {
        "batch of copies"
    }
}

fn copy(backend: &Arc<dyn Backend>, pieces: &[(Span, Span)]) {
    for (to, from) in pieces {
        backend.copy_now(Transfer::new(*to, *from).expect("pieces were checked"));
    }
}

/// What was found out about a batch: where its first copy goes, and whether the program's own host memory is part of it.
struct Found {
    homes: (MemoryKind, MemoryKind),
    has_host_memory: bool,
}

/// Checks every piece. The number beside an error is the piece's.
fn check(
    shared: &SharedRuntime,
    pieces: &[(Span, Span)],
    caller: &Caller<'_>,
) -> std::result::Result<Option<Found>, (usize, jumar_types::Error)> {
    let mut found: Option<Found> = None;
    for (index, (to, from)) in pieces.iter().enumerate() {
        let at = |error| (index, error);
        transfer(*to, *from).map_err(at)?;
        let space = &shared.space;
        let target = space.resolve(*to, caller.lookups, "target").map_err(at)?;
        let source = space.resolve(*from, caller.lookups, "source").map_err(at)?;
        let homes = (target.home, source.home);
        let found = found.get_or_insert(Found {
            homes,
            has_host_memory: false,
        });
        found.has_host_memory |= homes.0 == MemoryKind::Host || homes.1 == MemoryKind::Host;
    }
    Ok(found)
}

fn now(
    shared: &SharedRuntime,
    pieces: &[(Span, Span)],
    homes: (MemoryKind, MemoryKind),
    caller: &Caller<'_>,
) -> Result<()> {
    let op = || Op::CopyBatch {
        pieces,
        direction: Direction::of(homes.0, homes.1).name(),
    };
    at_once(shared, device_of(homes.0, homes.1), caller, op, || {
        copy(&shared.backend, pieces);
    })
}

impl Runtime {
    /// Copies a batch on the calling thread, at once, in no order with any stream. Either every piece is copied or none.
    ///
    /// # Errors
    /// `InvalidValue`: an end leaves its allocation, or a piece's ends differ in length; the number is that of the piece, or `None` for the batch as a whole.
    pub fn copy_batch_now(
        &self,
        pieces: &[(Span, Span)],
        caller: &Caller<'_>,
    ) -> std::result::Result<(), (Option<usize>, jumar_types::Error)> {
        let found = check(&self.shared, pieces, caller).map_err(|(at, e)| (Some(at), e))?;
        match found {
            Some(found) => {
                now(&self.shared, pieces, found.homes, caller).map_err(|error| (None, error))
            }
            None => Ok(()),
        }
    }
}

impl Stream {
    /// Queues a batch of copies as one operation. With ordinary host memory in it the stream is waited for, and the copies
    /// are done before the call returns.
    ///
    /// # Errors
    /// As [`Runtime::copy_batch_now`]; an earlier task's error, when the stream had to be waited for.
    pub fn copy_batch(
        &self,
        pieces: Vec<(Span, Span)>,
        caller: &Caller<'_>,
    ) -> std::result::Result<(), (Option<usize>, jumar_types::Error)> {
        let shared = self.shared();
        let batch_error = |error| (None, error);
        let Some(found) = check(shared, &pieces, caller).map_err(|(at, e)| (Some(at), e))? else {
            return Ok(());
        };
        if found.has_host_memory && self.drain_for_host_access(caller).map_err(batch_error)? {
            return now(shared, &pieces, found.homes, caller).map_err(batch_error);
        }
        let program = Arc::new(Batch {
            backend: shared.backend.clone(),
            pieces,
        });
        let queued = program.clone();
        let op = || Op::CopyBatch {
            pieces: &program.pieces,
            direction: Direction::of(found.homes.0, found.homes.1).name(),
        };
        self.submit(caller, Task::Run(queued), op)
            .map(drop)
            .map_err(batch_error)
    }
}
