//! Notifies: one-bit semaphores between streams. A wait may be queued before the record that lets it pass.

use std::sync::Arc;
use std::time::Duration;

use jumar_hal::sync::Ordering;
use jumar_hal::{Signal, Task, WaitThen};
use jumar_types::{ErrorKind, Result};

use crate::device::Device;
use crate::gate::Op;
use crate::runtime::Shared;
use crate::{Caller, Context, Stream};

/// A notify.
pub struct Notify {
    id: u64,
    number: u64,
    device: Arc<Device>,
    shared: Arc<Shared>,
    signal: Arc<Signal>,
}

impl Notify {
    pub(crate) fn create(context: &Arc<Context>) -> Result<Arc<Notify>> {
        let (shared, device) = (context.shared(), context.device());
        device
            .notifies
            .take(ErrorKind::NoNotifyResource, "notifies")?;
        let number = shared.event_numbers.fetch_add(1, Ordering::Relaxed) + 1;
        shared
            .notifies
            .insert(|id| {
                let signal = Arc::new(Signal::untimed());
                Arc::new(Notify {
                    id,
                    number,
                    device: device.clone(),
                    shared: shared.clone(),
                    signal,
                })
            })
            .inspect_err(|_| device.notifies.give_back())
    }

    /// Gives the notify's handle.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Gives the notify's number for messages.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Sets the notify, in the order of the stream.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn record(&self, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        let op = || Op::Record {
            event: self.number,
            record: self.shared.next_record(),
        };
        stream
            .submit(caller, Task::Set(self.signal.clone()), op)
            .map(drop)
    }

    /// Holds the stream until the notify is set, then clears it.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn wait_and_reset(
        &self,
        stream: &Stream,
        limit: Option<Duration>,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let task = Task::Wait {
            signal: self.signal.clone(),
            then: WaitThen::Clear,
            limit,
        };
        stream
            .submit(caller, task, || Op::Wait {
                event: self.number,
                record: 0,
            })
            .map(drop)
    }

    /// Destroys the notify at once.
    ///
    /// # Errors
    /// `InvalidHandle`: destroyed already.
    pub fn destroy(&self, caller: &Caller<'_>) -> Result<()> {
        self.shared.notifies.remove(self.id, caller.call.name)?;
        self.device.notifies.give_back();
        Ok(())
    }
}
