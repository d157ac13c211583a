//! Words of device memory that order streams: one writes a value, another waits for it.
//!
//! Such a value is not announced: a kernel, a copy, the host through mapped memory or another process may write it. The
//! executor looks for it (`Task::Until`), and no worker is blocked meanwhile.

use std::sync::Arc;

use jumar_hal::{Backend, Condition, Cost, Program, Span, Task};
use jumar_types::{Error, ErrorKind, Result};

use crate::gate::Op;
use crate::runtime::SharedRuntime;
use crate::{Caller, Stream};

/// The condition under which a word lets a stream resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueTest {
    /// The word has reached the value, with wrap-around: the signed difference is not negative.
    AtLeast,
    /// The word equals the value.
    Equal,
    /// The word has at least one bit of the value set.
    AnyBit,
    /// Some bit is set neither in it nor in the value.
    NoneOfSomeBit,
}

impl ValueTest {
    /// Returns whether a word passes the test against a value.
    pub fn passes(self, word: u64, value: u64) -> bool {
        match self {
            ValueTest::AtLeast => word.wrapping_sub(value) as i64 >= 0,
            ValueTest::Equal => word == value,
            ValueTest::AnyBit => word & value != 0,
            ValueTest::NoneOfSomeBit => !(word | value) != 0,
        }
    }
}

/// The task that writes a word.
pub(crate) struct Write {
    backend: Arc<dyn Backend>,
    word: Span,
    value: u64,
}

impl Write {
    /// Makes the task.
    ///
    /// # Errors
    /// `InvalidValue`: it is not an aligned word of device memory.
    pub(crate) fn new(
        shared: &SharedRuntime,
        word: Span,
        value: u64,
        caller: &Caller<'_>,
    ) -> Result<Self> {
        check(shared, word, caller)?;
        Ok(Write {
            backend: shared.backend.clone(),
            word,
            value,
        })
    }

    /// Returns the word and what is written there.
    pub(crate) fn what(&self) -> (Span, u64) {
        (self.word, self.value)
    }
}

impl Program for Write {
    fn run(&self) -> Result<()> {
        self.backend.store(self.word, self.value);
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn writes(&self) -> Option<Span> {
        Some(self.word)
    }

    fn name(&self) -> &str {
        "write of a value"
    }
}

/// What a wait for a word wants.
pub(crate) struct ValueCondition {
    backend: Arc<dyn Backend>,
    word: Span,
    test: ValueTest,
    value: u64,
}

impl ValueCondition {
    /// Makes the condition.
    ///
    /// # Errors
    /// `InvalidValue`: it is not an aligned word of device memory.
    pub(crate) fn new(
        shared: &SharedRuntime,
        word: Span,
        test: ValueTest,
        value: u64,
        caller: &Caller<'_>,
    ) -> Result<Self> {
        check(shared, word, caller)?;
        Ok(ValueCondition {
            backend: shared.backend.clone(),
            word,
            test,
            value,
        })
    }

    /// Returns the word, the test, and the value that it is compared with.
    pub(crate) fn what(&self) -> (Span, ValueTest, u64) {
        (self.word, self.test, self.value)
    }
}

impl Condition for ValueCondition {
    fn holds(&self) -> bool {
        self.test.passes(self.backend.load(self.word), self.value)
    }

    fn address(&self) -> usize {
        self.word.address()
    }
}

/// Checks that eight bytes are an aligned word of device memory.
fn check(shared: &SharedRuntime, word: Span, caller: &Caller<'_>) -> Result<()> {
    let found = shared.space.resolve(word, caller.lookups, "value")?;
    let problem = if !found.home.is_device() {
        "is not device memory"
    } else if !word.address().is_multiple_of(word.bytes()) {
        "is not aligned to eight bytes"
    } else {
        return Ok(());
    };
    Err(Error::new(
        ErrorKind::InvalidValue,
        format!("the value at {:#x} {problem}", word.address()),
    )
    .fix("Keep the value at the start of an allocation of device memory."))
}

impl Stream {
    /// Queues the writing of a word of eight bytes of device memory.
    ///
    /// # Errors
    /// `InvalidValue`: it is not an aligned word of device memory; what the gate or a stopped context answers.
    pub fn write_value(&self, word: Span, value: u64, caller: &Caller<'_>) -> Result<()> {
        let program = Arc::new(Write::new(self.shared(), word, value, caller)?);
        self.submit(caller, Task::Run(program), || Op::WriteValue {
            to: word,
            value,
        })
        .map(drop)
    }

    /// Holds the stream until a word of eight bytes of device memory passes a test.
    ///
    /// # Errors
    /// As [`Stream::write_value`].
    pub fn wait_value(
        &self,
        word: Span,
        test: ValueTest,
        value: u64,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let condition = Arc::new(ValueCondition::new(
            self.shared(),
            word,
            test,
            value,
            caller,
        )?);
        let limit = None;
        self.submit(caller, Task::Until { condition, limit }, || Op::WaitValue {
            at: word,
            value,
            test,
        })
        .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_is_what_it_is_called() {
        let passes = ValueTest::passes;
        assert!(passes(ValueTest::AtLeast, 5, 5) && passes(ValueTest::AtLeast, 6, 5));
        assert!(!passes(ValueTest::AtLeast, 4, 5));
        // A counter that wrapped is ahead of the one that did not.
        assert!(passes(ValueTest::AtLeast, 0, u64::MAX));
        assert!(passes(ValueTest::Equal, 7, 7) && !passes(ValueTest::Equal, 8, 7));
        assert!(passes(ValueTest::AnyBit, 6, 2) && !passes(ValueTest::AnyBit, 4, 3));
        assert!(passes(ValueTest::NoneOfSomeBit, 1, 2));
        assert!(!passes(ValueTest::NoneOfSomeBit, u64::MAX - 4, 4));
    }
}
