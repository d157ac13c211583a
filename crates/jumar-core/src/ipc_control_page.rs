//! Words in memory that processes share: what notifies and events of several processes are made of.
//!
//! A control page is one page of physical memory that is mapped and shared like any other. Streams wait for its words as for any
//! value in memory (`Task::Until`), so that no worker is blocked. Every process that maps the page is in its list with its
//! number and the moment it was started. A waiter checks from time to time whether the possible writers are
//! alive; if none is, the wait ends and the task behind it fails: a process that dies blocks no other.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jumar_hal::sync::{AtomicBool, AtomicU64, Instant, Mutex, Ordering, now_ns, thread};
use jumar_hal::{Backend, Condition, Cost, Device, Physical, Program, Span};
use jumar_types::{Error, ErrorKind, Result};

/// The length of a control page.
const BYTES: usize = 4096;
/// The length of a word.
const WORD: usize = 8;
/// Words before the list.
const HEAD: usize = 8;
/// How many processes can have a control page at once.
const SLOTS: usize = 128;
/// The words of a list entry: process id and start time. A process id of 0 marks a free entry.
const SLOT_WORDS: usize = 2;

/// Word 0: what the control page is for.
const KIND: usize = 0;
/// Word 1: a notify's bit; the number of an event's newest record.
const VALUE: usize = 1;
/// Word 2: the newest record that was reached.
const REACHED: usize = 2;
/// Word 3: one more than the index of the process that made the newest record.
const RECORDER: usize = 3;
/// Word 4: how many processes left without saying so.
const LOST: usize = 4;

/// What a control page is for. The numbers are what other processes see, and no likely content of other memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    Notify = 0x4A4E_4F54_4946_5931,
    Event = 0x4A45_5645_4E54_5F31,
}

/// How often a wait looks whether the others are alive.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A page of words.
pub(crate) struct IpcControlPage {
    span: Span,
    pages: Arc<dyn Physical>,
    device: Arc<dyn Device>,
    backend: Arc<dyn Backend>,
    slot: usize,
    /// Another process made it.
    adopted: bool,
    /// The number by which other processes find the control page, and whether only those that are named may have it.
    shared: OnceLock<(u64, bool)>,
    /// Held while the control page is shared or the list of those who may have it grows.
    sharing: Mutex<()>,
}

impl IpcControlPage {
    /// Makes a control page.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(crate) fn create(
        kind: Kind,
        device: &Arc<dyn Device>,
        backend: &Arc<dyn Backend>,
    ) -> Result<Arc<IpcControlPage>> {
        let pages = device.physical(BYTES)?;
        let control_page = IpcControlPage::map(pages, device, backend, false)?;
        control_page.write(KIND, kind as u64);
        control_page.join()
    }

    /// Takes the control page that another process shares.
    ///
    /// # Errors
    /// `InvalidValue`: the number is none, or of this process; the other process is gone or does not share it with this one;
    /// it is not a control page of the kind.
    pub(crate) fn adopt(
        kind: Kind,
        number: u64,
        device: &Arc<dyn Device>,
        backend: &Arc<dyn Backend>,
    ) -> Result<Arc<IpcControlPage>> {
        let pages = device.adopt(number)?;
        let wrong = || {
            Error::new(
                ErrorKind::InvalidValue,
                "the object that the other process shares under this name is of another kind",
            )
        };
        if pages.bytes() != BYTES {
            return Err(wrong());
        }
        let control_page = IpcControlPage::map(pages, device, backend, true)?;
        if control_page.read(KIND) != kind as u64 {
            return Err(wrong());
        }
        control_page.join()
    }

    fn map(
        pages: Arc<dyn Physical>,
        device: &Arc<dyn Device>,
        backend: &Arc<dyn Backend>,
        adopted: bool,
    ) -> Result<IpcControlPage> {
        let span = device.reserve(BYTES)?;
        pages.map(span).inspect_err(|_| device.release(span))?;
        Ok(IpcControlPage {
            span,
            pages,
            device: device.clone(),
            backend: backend.clone(),
            slot: SLOTS,
            adopted,
            shared: OnceLock::new(),
            sharing: Mutex::new(()),
        })
    }

    /// Enters this process into the list. Entries of processes that are gone are reused.
    fn join(mut self) -> Result<Arc<IpcControlPage>> {
        let this = self.backend.process();
        let process = u64::from(this);
        let started = self.backend.process_started(this).unwrap_or(0);
        for slot in 0..SLOTS {
            let at = HEAD + slot * SLOT_WORDS;
            let other = self.read(at);
            let free = other == 0 || !self.is_alive(slot);
            if free && self.exchange(at, other, process) {
                if other != 0 {
                    self.lose();
                }
                self.write(at + 1, started);
                self.slot = slot;
                return Ok(Arc::new(self));
            }
        }
        Err(Error::new(
            ErrorKind::InvalidValue,
            format!("{SLOTS} processes share the object already, which is the limit"),
        ))
    }

    /// Returns the number by which other processes find the control page; with `listed_only`, those alone that are named.
    ///
    /// # Errors
    /// `InvalidValue`: it is shared the other way already, or comes from another process itself.
    pub(crate) fn share(&self, listed_only: bool) -> Result<u64> {
        if self.adopted {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                "the object comes from another process: only the one that made it can export it",
            ));
        }
        let _one_at_a_time = self.sharing.lock();
        let (number, listed) = match self.shared.get() {
            Some(shared) => *shared,
            None => {
                let number = self.pages.share(listed_only)?;
                *self.shared.get_or_init(|| (number, listed_only))
            }
        };
        if listed == listed_only {
            return Ok(number);
        }
        Err(Error::new(
            ErrorKind::InvalidValue,
            "the object is already shared, with another rule about who may import it",
        ))
    }

    /// Adds processes to those that may have the control page.
    ///
    /// # Errors
    /// `InvalidValue`: it is not shared, or there are too many.
    pub(crate) fn admit(&self, processes: &[u32]) -> Result<()> {
        let _one_at_a_time = self.sharing.lock();
        if self.shared.get().is_none() {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                "the object was not exported by this process",
            ));
        }
        self.pages.admit(processes)
    }

    fn word(&self, at: usize) -> Span {
        self.span
            .part(at * WORD, WORD)
            .expect("words lie inside the page")
    }

    fn read(&self, at: usize) -> u64 {
        self.backend.load(self.word(at))
    }

    fn write(&self, at: usize, value: u64) {
        self.backend.store(self.word(at), value);
    }

    fn exchange(&self, at: usize, from: u64, to: u64) -> bool {
        self.backend.exchange(self.word(at), from, to)
    }

    fn lose(&self) {
        let lost = self.read(LOST);
        self.exchange(LOST, lost, lost + 1);
    }

    /// Returns whether the process of a list entry is running.
    fn is_alive(&self, slot: usize) -> bool {
        let at = HEAD + slot * SLOT_WORDS;
        let process = self.read(at);
        if process == 0 || process == u64::from(self.backend.process()) {
            return process != 0;
        }
        let started = self.read(at + 1);
        let now = u32::try_from(process)
            .ok()
            .and_then(|process| self.backend.process_started(process));
        // A process enters its number first; until the moment is there too, any moment will do.
        now.is_some_and(|now| started == 0 || now == started)
    }

    /// Returns whether no possible writer is left, though there was one.
    fn is_deserted(&self) -> bool {
        let mut lost = self.read(LOST) > 0;
        for slot in (0..SLOTS).filter(|slot| *slot != self.slot) {
            if self.read(HEAD + slot * SLOT_WORDS) == 0 {
                continue;
            }
            if self.is_alive(slot) {
                return false;
            }
            lost = true;
        }
        lost
    }

    // A notify's bit.

    /// Sets the bit.
    pub(crate) fn set(&self) {
        self.write(VALUE, 1);
    }

    /// Clears the bit. Returns whether it was set.
    pub(crate) fn take(&self) -> bool {
        self.exchange(VALUE, 1, 0)
    }

    // An event's records.

    /// Returns the number of the newest record, 0 when there is none.
    pub(crate) fn newest(&self) -> u64 {
        self.read(VALUE)
    }

    /// Begins a record. Returns its number.
    pub(crate) fn begin(&self) -> u64 {
        loop {
            let newest = self.read(VALUE);
            if self.exchange(VALUE, newest, newest + 1) {
                self.write(RECORDER, self.slot as u64 + 1);
                return newest + 1;
            }
        }
    }

    /// Notes that a record was reached.
    pub(crate) fn reach(&self, record: u64) {
        loop {
            let reached = self.read(REACHED);
            if reached >= record || self.exchange(REACHED, reached, record) {
                return;
            }
        }
    }

    /// Returns whether a record was reached.
    pub(crate) fn is_reached(&self, record: u64) -> bool {
        self.read(REACHED) >= record
    }

    fn recorder_is_gone(&self) -> bool {
        let slot = self.read(RECORDER) as usize;
        (1..=SLOTS).contains(&slot) && slot - 1 != self.slot && !self.is_alive(slot - 1)
    }

    /// Waits on the calling thread until a record was reached. False when `until` came first.
    ///
    /// # Errors
    /// `RuntimeInternal`: the process that records is gone.
    pub(crate) fn wait(&self, record: u64, until: Option<Instant>) -> Result<bool> {
        let mut pause = Duration::from_micros(20);
        let mut next_poll = Instant::now() + POLL_INTERVAL;
        while !self.is_reached(record) {
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                return Ok(false);
            }
            if now >= next_poll {
                next_poll = now + POLL_INTERVAL;
                if self.recorder_is_gone() && !self.is_reached(record) {
                    return Err(gone("event"));
                }
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
        Ok(true)
    }
}

impl Drop for IpcControlPage {
    fn drop(&mut self) {
        if self.slot < SLOTS {
            let at = HEAD + self.slot * SLOT_WORDS;
            self.write(at + 1, 0);
            self.write(at, 0);
        }
        // Addresses whose memory cannot be taken out are not handed out again.
        if self.device.unmap(self.span).is_ok() {
            self.device.release(self.span);
        }
    }
}

fn gone(what: &str) -> Error {
    Error::new(
        ErrorKind::RuntimeInternal,
        format!("the {what} that is waited for belongs to processes that have ended"),
    )
    .fix("Look why the other process ended; the wait was given up so that this one continues.")
}

/// What a stream waits for on a control page.
#[derive(Clone, Copy)]
enum For {
    /// The bit, which is cleared in passing.
    Bit,
    /// A record.
    Record(u64),
}

/// A stream's wait for a control page. The task behind it asks how it ended.
pub(crate) struct ControlPageWait {
    control_page: Arc<IpcControlPage>,
    awaited: For,
    /// When the next look at the other processes is due.
    next_poll_ns: AtomicU64,
    /// The last check found that no process is left that could end the wait.
    hopeless: AtomicBool,
    /// How the last wait ended.
    deserted: AtomicBool,
}

impl ControlPageWait {
    /// A wait for a notify's bit.
    pub(crate) fn for_bit(control_page: &Arc<IpcControlPage>) -> Arc<ControlPageWait> {
        ControlPageWait::new(control_page, For::Bit)
    }

    /// A wait for an event's record.
    pub(crate) fn for_record(
        control_page: &Arc<IpcControlPage>,
        record: u64,
    ) -> Arc<ControlPageWait> {
        ControlPageWait::new(control_page, For::Record(record))
    }

    fn new(control_page: &Arc<IpcControlPage>, awaited: For) -> Arc<ControlPageWait> {
        Arc::new(ControlPageWait {
            control_page: control_page.clone(),
            awaited,
            next_poll_ns: AtomicU64::new(0),
            hopeless: AtomicBool::new(false),
            deserted: AtomicBool::new(false),
        })
    }

    fn came(&self) -> bool {
        match self.awaited {
            For::Bit => self.control_page.read(VALUE) != 0,
            For::Record(record) => self.control_page.is_reached(record),
        }
    }

    /// Looks after the other processes, every now and then.
    fn is_hopeless(&self) -> bool {
        let now = now_ns();
        let next_poll = self.next_poll_ns.load(Ordering::Relaxed);
        if now < next_poll {
            return false;
        }
        let next = now + POLL_INTERVAL.as_nanos() as u64;
        self.next_poll_ns.store(next, Ordering::Relaxed);
        match self.awaited {
            For::Bit => self.control_page.is_deserted(),
            For::Record(_) => self.control_page.recorder_is_gone(),
        }
    }
}

impl Condition for ControlPageWait {
    fn holds(&self) -> bool {
        self.came() || self.hopeless.load(Ordering::Acquire)
    }

    fn examine(&self) {
        // What came before the others went counts.
        if self.is_hopeless() && !self.came() {
            self.hopeless.store(true, Ordering::Release);
        }
    }

    fn pass(&self) -> bool {
        let came = match self.awaited {
            For::Bit => self.control_page.take(),
            For::Record(_) => self.came(),
        };
        // The condition of a captured wait serves at each execution: what an earlier look found ends one wait.
        let deserted = self.hopeless.swap(false, Ordering::AcqRel) && !came;
        self.deserted.store(deserted, Ordering::Release);
        came || deserted
    }

    fn address(&self) -> usize {
        match self.awaited {
            For::Bit => self.control_page.word(VALUE).address(),
            For::Record(_) => self.control_page.word(REACHED).address(),
        }
    }
}

impl Program for ControlPageWait {
    fn run(&self) -> Result<()> {
        if !self.deserted.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        Err(gone(match self.awaited {
            For::Bit => "notify",
            For::Record(_) => "event",
        }))
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn writes(&self) -> Option<Span> {
        Some(Span::EMPTY)
    }

    fn name(&self) -> &str {
        "end of a wait for another process"
    }
}

/// A stream's record on a control page.
pub(crate) struct ControlPageRecord {
    control_page: Arc<IpcControlPage>,
    /// The event's record; none sets a notify's bit.
    record: Option<u64>,
}

impl ControlPageRecord {
    /// Sets a notify's bit.
    pub(crate) fn bit(control_page: &Arc<IpcControlPage>) -> Arc<ControlPageRecord> {
        let control_page = control_page.clone();
        Arc::new(ControlPageRecord {
            control_page,
            record: None,
        })
    }

    /// Reaches a record of an event.
    pub(crate) fn record(
        control_page: &Arc<IpcControlPage>,
        record: u64,
    ) -> Arc<ControlPageRecord> {
        let control_page = control_page.clone();
        Arc::new(ControlPageRecord {
            control_page,
            record: Some(record),
        })
    }
}

impl Program for ControlPageRecord {
    fn run(&self) -> Result<()> {
        match self.record {
            None => self.control_page.set(),
            Some(record) => self.control_page.reach(record),
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        Cost::Bounded
    }

    fn writes(&self) -> Option<Span> {
        Some(self.control_page.span)
    }

    fn name(&self) -> &str {
        "record for another process"
    }
}
