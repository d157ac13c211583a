//! Notifies: one-bit semaphores between streams. A wait may be queued before the record that lets it pass.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jumar_hal::sync::{Mutex, Ordering};
use jumar_hal::{Signal, Task, WaitThen};
use jumar_types::{Error, ErrorKind, Result};

use crate::device::Device;
use crate::gate::{Op, Phase, WaitEnd};
use crate::ipc_control_page::{IpcControlPage, Kind, SharedBit};
use crate::runtime::SharedRuntime;
use crate::{Caller, Context, Stream};

/// A notify.
pub struct Notify {
    id: u64,
    number: u64,
    device: Arc<Device>,
    shared: Arc<SharedRuntime>,
    /// The bit. All tasks refer to it, so that an export moves it for those that are queued as well.
    signal: Arc<Signal>,
    /// Where other processes see the bit, once it is exported or if it was imported.
    shared_bit: OnceLock<Arc<SharedBit>>,
    /// Held while the notify is exported, so that two threads do not make two control pages.
    sharing: Mutex<()>,
}

impl Notify {
    pub(crate) fn create(context: &Arc<Context>) -> Result<Arc<Notify>> {
        Notify::with(context, None)
    }

    pub(crate) fn import(context: &Arc<Context>, number: u64) -> Result<Arc<Notify>> {
        let shared = context.shared();
        let hardware = context.device().hardware(shared)?;
        let control_page = IpcControlPage::adopt(Kind::Notify, number, hardware, &shared.backend)?;
        Notify::with(context, Some(SharedBit::new(control_page)))
    }

    fn with(context: &Arc<Context>, shared_bit: Option<Arc<SharedBit>>) -> Result<Arc<Notify>> {
        let (shared, device) = (context.shared(), context.device());
        device
            .notifies
            .take(ErrorKind::NoNotifyResource, "notifies")?;
        let number = shared.event_numbers.fetch_add(1, Ordering::Relaxed) + 1;
        shared
            .notifies
            .insert(|id| {
                let signal = Arc::new(match &shared_bit {
                    Some(shared_bit) => Signal::shared(shared_bit.clone()),
                    None => Signal::untimed(),
                });
                Arc::new(Notify {
                    id,
                    number,
                    device: device.clone(),
                    shared: shared.clone(),
                    signal,
                    shared_bit: shared_bit.map_or_else(OnceLock::new, OnceLock::from),
                    sharing: Mutex::new(()),
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

    /// Sets the notify, in the order of the stream.
    ///
    /// # Errors
    /// What the gate or a stopped context answers.
    pub fn record(&self, stream: &Stream, caller: &Caller<'_>) -> Result<()> {
        let op = || Op::Record {
            event: self.number,
            record: self.shared.next_record(),
        };
        if let Some(shared_bit) = self.shared_bit.get() {
            shared_bit.note_own_record();
        }
        let task = Task::Set(self.signal.clone());
        stream.submit(caller, task, op).map(drop)
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
        let op = || Op::Wait {
            event: self.number,
            record: 0,
            ends: WaitEnd::Taken,
        };
        let task = Task::Wait {
            signal: self.signal.clone(),
            then: WaitThen::Clear,
            limit,
        };
        stream.submit(caller, task, op).map(drop)
    }

    /// Clears the notify at once, in no order with any stream.
    ///
    /// # Errors
    /// What the gate answers.
    pub fn reset(&self, caller: &Caller<'_>) -> Result<()> {
        let gate = &self.shared.gate;
        let op = || Op::ResetEvent { event: self.number };
        let ticket = gate.admit(caller, self.device.number(), None, op)?;
        gate.report(ticket, Phase::Started);
        self.signal.clear();
        gate.report(ticket, Phase::Finished);
        Ok(())
    }

    /// Lets other processes have the notify. Returns the number by which they find it; with `listed_only`, those alone that
    /// [`Notify::admit`] names. Records and waits that are queued already continue with the shared bit.
    ///
    /// # Errors
    /// `InvalidValue`: it is shared the other way already, or comes from another process itself; `OutOfMemory`.
    pub fn export(&self, listed_only: bool) -> Result<u64> {
        let _one_at_a_time = self.sharing.lock();
        let shared_bit = match self.shared_bit.get() {
            Some(shared_bit) => shared_bit,
            None => {
                let hardware = self.device.hardware(&self.shared)?;
                let control_page =
                    IpcControlPage::create(Kind::Notify, hardware, &self.shared.backend)?;
                let shared_bit = SharedBit::new(control_page);
                self.signal.share(shared_bit.clone());
                self.shared_bit.get_or_init(|| shared_bit)
            }
        };
        shared_bit.control_page().share(listed_only)
    }

    /// Adds processes to those that may have the notify.
    ///
    /// # Errors
    /// `InvalidValue`: it was not exported by this process, or there are too many processes.
    pub fn admit(&self, processes: &[u32]) -> Result<()> {
        let shared_bit = self.shared_bit.get().ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidValue,
                format!("notify {} was not exported", self.number),
            )
        })?;
        shared_bit.control_page().admit(processes)
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
