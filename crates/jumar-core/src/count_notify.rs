//! Counting notifies: a number of 32 bits that streams change, and wait for.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::{AtomicU32, Ordering};
use jumar_hal::{Condition, Cost, Program, Task};
use jumar_types::{ErrorKind, Result};

use crate::device::Device;
use crate::gate::{Op, WaitEnd};
use crate::runtime::SharedRuntime;
use crate::{Caller, Context, Stream};

/// How a stream changes the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountChange {
    /// Sets it.
    Set(u32),
    /// Adds to it; past the largest number it begins again.
    Add(u32),
    /// Sets bits.
    Or(u32),
    /// Keeps these bits only.
    And(u32),
}

/// What a stream waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountWait {
    /// Less than this.
    Less(u32),
    /// This number.
    Equal(u32),
    /// More than this.
    More(u32),
    /// This number or more.
    AtLeast(u32),
    /// All of these bits.
    Bits(u32),
}

impl CountWait {
    fn holds(self, number: u32) -> bool {
        match self {
            CountWait::Less(than) => number < than,
            CountWait::Equal(to) => number == to,
            CountWait::More(than) => number > than,
            CountWait::AtLeast(least) => number >= least,
            CountWait::Bits(bits) => number & bits == bits,
        }
    }
}

/// A counting notify.
pub struct CountNotify {
    id: u64,
    number: u64,
    device: Arc<Device>,
    shared: Arc<SharedRuntime>,
    count: Arc<AtomicU32>,
}

impl CountNotify {
    pub(crate) fn create(context: &Arc<Context>) -> Result<Arc<CountNotify>> {
        let (shared, device) = (context.shared(), context.device());
        device
            .notifies
            .take(ErrorKind::NoNotifyResource, "notifies")?;
        let number = shared.event_numbers.fetch_add(1, Ordering::Relaxed) + 1;
        shared
            .count_notifies
            .insert(|id| {
                Arc::new(CountNotify {
                    id,
                    number,
                    device: device.clone(),
                    shared: shared.clone(),
                    count: Arc::new(AtomicU32::new(0)),
                })
            })
            .inspect_err(|_| device.notifies.give_back())
    }

    /// Returns the notify's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the notify's number for messages.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Changes the number, in the order of the stream.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn record(&self, stream: &Stream, change: CountChange, caller: &Caller<'_>) -> Result<()> {
        let count = self.count.clone();
        let op = || Op::Record {
            event: self.number,
            record: self.shared.next_record(),
        };
        let task = Task::Run(Arc::new(Change { count, change }));
        stream.submit(caller, task, op).map(drop)
    }

    /// Holds the stream until the number is as wanted; with `clear`, it is 0 afterwards.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn wait(
        &self,
        stream: &Stream,
        wanted: CountWait,
        clear: bool,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let condition = Arc::new(CountCondition {
            count: self.count.clone(),
            wanted,
            clear,
        });
        let op = || Op::Wait {
            event: self.number,
            record: 0,
            ends: WaitEnd::Counted,
        };
        stream
            .submit(caller, Task::Until { condition, limit }, op)
            .map(drop)
    }

    /// Destroys the notify at once; what is queued keeps what it needs.
    ///
    /// # Errors
    /// `InvalidHandle`: destroyed already.
    pub fn destroy(&self, caller: &Caller<'_>) -> Result<()> {
        let known = &self.shared.count_notifies;
        known.remove(self.id, caller.call.name)?;
        self.device.notifies.give_back();
        Ok(())
    }
}

struct Change {
    count: Arc<AtomicU32>,
    change: CountChange,
}

impl Program for Change {
    fn run(&self) -> Result<()> {
        match self.change {
            CountChange::Set(to) => self.count.store(to, Ordering::Release),
            CountChange::Add(more) => drop(self.count.fetch_add(more, Ordering::AcqRel)),
            CountChange::Or(bits) => drop(self.count.fetch_or(bits, Ordering::AcqRel)),
            CountChange::And(bits) => drop(self.count.fetch_and(bits, Ordering::AcqRel)),
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn name(&self) -> &str {
        "change of a counting notify"
    }
}

struct CountCondition {
    count: Arc<AtomicU32>,
    wanted: CountWait,
    clear: bool,
}

impl Condition for CountCondition {
    fn holds(&self) -> bool {
        self.wanted.holds(self.count.load(Ordering::Acquire))
    }

    fn pass(&self) -> bool {
        let mut seen = self.count.load(Ordering::Acquire);
        while self.wanted.holds(seen) {
            if !self.clear {
                return true;
            }
            match self
                .count
                .compare_exchange_weak(seen, 0, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.count).addr()
    }
}

#[cfg(test)]
mod tests {
    use super::CountWait as W;

    #[test]
    fn waits_compare_as_their_names_say() {
        let holds = |wait: W| [4, 5, 6, 7].map(|number| wait.holds(number));
        assert_eq!(holds(W::Less(5)), [true, false, false, false]);
        assert_eq!(holds(W::Equal(5)), [false, true, false, false]);
        assert_eq!(holds(W::More(5)), [false, false, true, true]);
        assert_eq!(holds(W::AtLeast(5)), [false, true, true, true]);
        assert_eq!(holds(W::Bits(5)), [false, true, false, true]);
    }
}
