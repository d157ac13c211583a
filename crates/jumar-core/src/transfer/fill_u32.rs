//! Fills with a 32-bit word.

use std::sync::Arc;

use jumar_hal::{Backend, Cost, Program, Span, Task};
use jumar_types::Result;

use super::{cost_of, fill_with};
use crate::copy::{at_once, device_of};
use crate::gate::Op;
use crate::runtime::SharedRuntime;
use crate::{Caller, MemoryKind, Runtime, Stream};

struct FillWords {
    backend: Arc<dyn Backend>,
    to: Span,
    word: u32,
}

impl Program for FillWords {
    fn run(&self) -> Result<()> {
        fill_with(&self.backend, self.to, self.word.to_ne_bytes());
        Ok(())
    }

    fn cost(&self) -> Cost {
        cost_of(self.to.bytes())
    }

    fn name(&self) -> &str {
        "fill with words"
    }
}

fn now(
    shared: &SharedRuntime,
    to: Span,
    word: u32,
    home: MemoryKind,
    caller: &Caller<'_>,
) -> Result<()> {
    at_once(
        shared,
        device_of(home, home),
        caller,
        || Op::Fill { to },
        || {
            fill_with(&shared.backend, to, word.to_ne_bytes());
        },
    )
}

impl Runtime {
    /// Fills a range with a word, on the calling thread, at once, in no order with any stream.
    ///
    /// # Errors
    /// `InvalidValue`: the range leaves its allocation.
    pub fn fill_words_now(&self, to: Span, word: u32, caller: &Caller<'_>) -> Result<()> {
        let target = self.shared.space.resolve(to, caller.lookups, "target")?;
        now(&self.shared, to, word, target.home, caller)
    }
}

impl Stream {
    /// Queues a fill with a word. Host memory of any kind is filled at once, in no order with the stream, as the interface
    /// has it.
    ///
    /// # Errors
    /// `InvalidValue`: the range leaves its allocation.
    pub fn fill_words(&self, to: Span, word: u32, caller: &Caller<'_>) -> Result<()> {
        let shared = self.shared();
        let target = shared.space.resolve(to, caller.lookups, "target")?;
        if !target.home.is_device() {
            return now(shared, to, word, target.home, caller);
        }
        let program = FillWords {
            backend: shared.backend.clone(),
            to,
            word,
        };
        self.submit(caller, Task::Run(Arc::new(program)), || Op::Fill { to })
            .map(drop)
    }
}
