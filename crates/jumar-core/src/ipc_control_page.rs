//! Words in memory that processes share: the state of notifies and events of several processes.
//!
//! A control page is one page of physical memory that is mapped and shared like any other. Every process that maps it is in its list
//! with its number and the moment at which it was started.
//!
//! What the words mean is in [`bit`] (a notify) and [`sequences`] (the records of an event). Both are latches beneath a signal
//! ([`SharedLatch`]): what is queued, and in which order, is decided by the code of notifies and events of one process. A waiter
//! checks from time to time whether the possible writers are alive; if none is, the wait ends and its task fails: a process that dies
//! blocks no other.

mod bit;
mod sequences;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jumar_hal::sync::{AtomicU64, Instant, Mutex, Ordering, now_ns, thread};
use jumar_hal::{Backend, Device, Physical, SharedLatch, Span};
use jumar_types::{Error, ErrorKind, Result};

pub(crate) use bit::SharedBit;
pub(crate) use sequences::{Sequences, SharedRecord};

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
/// Word 1: a notify's bit; an event's newest record.
const VALUE: usize = 1;
/// Word 4: how many processes left without saying so.
const LOST: usize = 4;

/// What a control page is for. The numbers are what other processes see, and no likely content of other memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Kind {
    Notify = 0x4A4E_4F54_4946_5931,
    Event = 0x4A45_5645_4E54_5F33,
}

/// The words of a control page, and the processes that share it.
trait Words {
    fn read(&self, at: usize) -> u64;
    fn write(&self, at: usize, value: u64);
    fn exchange(&self, at: usize, from: u64, to: u64) -> bool;
    /// Returns the number of this process.
    fn process(&self) -> u64;
    /// Returns the moment at which a process was started, if it runs.
    fn started(&self, process: u64) -> Option<u64>;
}

fn entry(slot: usize) -> usize {
    HEAD + slot * SLOT_WORDS
}

/// Returns whether the process of a list entry is running.
fn is_alive(words: &dyn Words, slot: usize) -> bool {
    let process = words.read(entry(slot));
    if process == 0 || process == words.process() {
        return process != 0;
    }
    let started = words.read(entry(slot) + 1);
    // A process enters its number first; until the moment is there too, any moment will do.
    let same = |now: u64| started == 0 || now == started;
    words.started(process).is_some_and(same)
}

/// Enters this process into the list. Entries of processes that are gone are reused. Returns the index of the entry; `None`
/// where all processes of the list run.
fn take_entry(words: &dyn Words) -> Option<usize> {
    let process = words.process();
    let started = words.started(process).unwrap_or(0);
    for slot in 0..SLOTS {
        let at = entry(slot);
        let (other, other_started) = (words.read(at), words.read(at + 1));
        if other != 0 && is_alive(words, slot) {
            continue;
        }
        // Beside the start of an earlier process the number of this one would look like that of a process that is gone.
        if other_started != 0 && !words.exchange(at + 1, other_started, 0) {
            continue;
        }
        if words.exchange(at, other, process) {
            if other != 0 {
                let lost = words.read(LOST);
                words.exchange(LOST, lost, lost + 1);
            }
            words.write(at + 1, started);
            return Some(slot);
        }
    }
    None
}

/// Returns what distinguishes the process of a list entry from those that had the entry before it: the number of the
/// process, the low bits of the moment at which it was started, and the index of the entry plus one.
fn identity_of(words: &dyn Words, slot: usize) -> u64 {
    const STARTED_BITS: u32 = 24;
    let started = words.read(entry(slot) + 1) & ((1 << STARTED_BITS) - 1);
    words.read(entry(slot)) << 32 | started << 8 | (slot as u64 + 1)
}

/// Returns whether a process with an identity runs and is in the list.
fn is_present(words: &dyn Words, identity: u64) -> bool {
    let slot = (identity & 0xff) as usize;
    (1..=SLOTS).contains(&slot)
        && identity_of(words, slot - 1) == identity
        && is_alive(words, slot - 1)
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

    /// Enters this process into the list.
    fn join(mut self) -> Result<Arc<IpcControlPage>> {
        match take_entry(&self) {
            Some(slot) => {
                self.slot = slot;
                Ok(Arc::new(self))
            }
            None => Err(Error::new(
                ErrorKind::InvalidValue,
                format!("{SLOTS} processes share the object already, which is the limit"),
            )),
        }
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
}

impl Words for IpcControlPage {
    fn read(&self, at: usize) -> u64 {
        self.backend.load(self.word(at))
    }

    fn write(&self, at: usize, value: u64) {
        self.backend.store(self.word(at), value);
    }

    fn exchange(&self, at: usize, from: u64, to: u64) -> bool {
        self.backend.exchange(self.word(at), from, to)
    }

    fn process(&self) -> u64 {
        u64::from(self.backend.process())
    }

    fn started(&self, process: u64) -> Option<u64> {
        let process = u32::try_from(process).ok()?;
        self.backend.process_started(process)
    }
}

impl Drop for IpcControlPage {
    fn drop(&mut self) {
        if self.slot < SLOTS {
            let at = entry(self.slot);
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

/// Limits how often the other processes are polled.
#[derive(Default)]
struct PollLimit(AtomicU64);

impl PollLimit {
    fn is_over(&self) -> bool {
        let now = now_ns();
        let over = now >= self.0.load(Ordering::Relaxed);
        if over {
            let next = now + POLL_INTERVAL.as_nanos() as u64;
            self.0.store(next, Ordering::Relaxed);
        }
        over
    }
}

/// Waits on the calling thread until a latch is set by another process. False when `until` came first.
///
/// # Errors
/// What the latch answers when no process is left that could set it.
pub(crate) fn wait_for_other_process(
    latch: &dyn SharedLatch,
    until: Option<Instant>,
) -> Result<bool> {
    let mut pause = Duration::from_micros(20);
    let wait = latch.begin_wait();
    while !latch.is_set() {
        if until.is_some_and(|until| Instant::now() >= until) {
            return Ok(false);
        }
        latch.examine();
        if latch.is_deserted(wait) && !latch.is_set() {
            return Err(latch.desertion());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
    Ok(true)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use super::*;

    /// Processes by number with the moment of their start, and the page that they share. After each step of one, another
    /// one acts.
    struct Machine {
        words: RefCell<Vec<u64>>,
        running: RefCell<BTreeMap<u64, u64>>,
    }

    struct Process<'a> {
        machine: &'a Machine,
        number: u64,
        after_each_step: &'a dyn Fn(),
        inside: Cell<bool>,
    }

    impl Machine {
        fn new(running: &[(u64, u64)]) -> Machine {
            Machine {
                words: RefCell::new(vec![0; BYTES / WORD]),
                running: RefCell::new(running.iter().copied().collect()),
            }
        }

        fn process<'a>(&'a self, number: u64, after_each_step: &'a dyn Fn()) -> Process<'a> {
            Process {
                machine: self,
                number,
                after_each_step,
                inside: Cell::new(false),
            }
        }

        fn quiet(&self, number: u64) -> Process<'_> {
            self.process(number, &|| ())
        }

        fn end(&self, process: u64) {
            self.running.borrow_mut().remove(&process);
        }
    }

    impl Process<'_> {
        fn step_ended(&self) {
            if !self.inside.replace(true) {
                (self.after_each_step)();
                self.inside.set(false);
            }
        }
    }

    impl Words for Process<'_> {
        fn read(&self, at: usize) -> u64 {
            let value = self.machine.words.borrow()[at];
            self.step_ended();
            value
        }

        fn write(&self, at: usize, value: u64) {
            self.machine.words.borrow_mut()[at] = value;
            self.step_ended();
        }

        fn exchange(&self, at: usize, from: u64, to: u64) -> bool {
            let mut words = self.machine.words.borrow_mut();
            let is_equal = words[at] == from;
            if is_equal {
                words[at] = to;
            }
            drop(words);
            self.step_ended();
            is_equal
        }

        fn process(&self) -> u64 {
            self.number
        }

        fn started(&self, process: u64) -> Option<u64> {
            self.machine.running.borrow().get(&process).copied()
        }
    }

    #[test]
    fn a_process_that_takes_over_an_entry_is_alive_for_the_others_at_each_step() {
        let machine = Machine::new(&[(10, 100), (11, 200), (12, 300)]);
        assert_eq!(take_entry(&machine.quiet(10)), Some(0));
        machine.end(10);
        let observer = machine.quiet(12);
        let observe = || {
            let alive = is_alive(&observer, 0);
            assert!(
                alive || observer.read(entry(0)) != 11,
                "the entry is free for others"
            );
        };
        let joiner = machine.process(11, &observe);
        assert_eq!(take_entry(&joiner), Some(0));
        assert_eq!(take_entry(&observer), Some(1));
    }

    #[test]
    fn two_processes_that_take_over_one_entry_get_one_each() {
        // The second one acts after each step of the first one in turn.
        for step in 0..8 {
            let machine = Machine::new(&[(10, 100), (11, 200), (12, 300)]);
            take_entry(&machine.quiet(10)).expect("the list is empty");
            machine.end(10);
            let (steps, second) = (Cell::new(0), Cell::new(None));
            let act = || {
                if steps.replace(steps.get() + 1) == step {
                    second.set(take_entry(&machine.quiet(12)));
                }
            };
            let first = take_entry(&machine.process(11, &act)).expect("entries are free");
            let second = second.get().expect("entries are free");
            assert_ne!(first, second, "after step {step}");
            for (slot, process) in [(first, 11), (second, 12)] {
                assert_eq!(machine.quiet(1).read(entry(slot)), process);
                assert!(is_alive(&machine.quiet(1), slot));
            }
        }
    }

    #[test]
    fn a_process_that_has_ended_is_not_present_though_another_one_has_its_entry() {
        let machine = Machine::new(&[(10, 100), (11, 200)]);
        let slot = take_entry(&machine.quiet(10)).expect("the list is empty");
        let recorder = identity_of(&machine.quiet(10), slot);
        let observer = machine.quiet(1);
        assert!(is_present(&observer, recorder));
        machine.end(10);
        assert!(!is_present(&observer, recorder));
        assert_eq!(take_entry(&machine.quiet(11)), Some(slot));
        assert!(!is_present(&observer, recorder));
        // Not even where it has the same number.
        machine.end(11);
        machine.running.borrow_mut().insert(10, 300);
        assert_eq!(take_entry(&machine.quiet(10)), Some(slot));
        assert!(!is_present(&observer, recorder));
        assert!(is_present(&observer, identity_of(&observer, slot)));
    }

    #[test]
    fn a_sequence_whose_process_died_with_a_record_pending_is_left_alone() {
        let machine = Machine::new(&[(10, 100), (11, 200)]);
        let (first, second) = (machine.quiet(10), machine.quiet(11));
        let slots = [&first, &second].map(|process| take_entry(process).expect("entries are free"));
        assert_eq!(sequences::take_sequence(&first, slots[0]), Some(0));
        // Neither the sequence of a living process nor, after its death, one with a record that is not reached.
        assert_eq!(sequences::take_sequence(&second, slots[1]), Some(1));
        first.write(sequences::begun(0), 1);
        machine.end(10);
        assert_eq!(sequences::take_sequence(&second, slots[1]), Some(2));
        second.write(sequences::reached(0), 1);
        assert_eq!(sequences::take_sequence(&second, slots[1]), Some(0));
    }

    #[test]
    fn two_processes_that_take_a_sequence_at_once_get_one_each() {
        for step in 0..12 {
            let machine = Machine::new(&[(10, 100), (11, 200), (12, 300)]);
            let slots =
                [10, 11, 12].map(|number| take_entry(&machine.quiet(number)).expect("free"));
            // The sequence was another process's, which has ended.
            assert_eq!(
                sequences::take_sequence(&machine.quiet(10), slots[0]),
                Some(0)
            );
            machine.end(10);
            let (steps, second) = (Cell::new(0), Cell::new(None));
            let act = || {
                if steps.replace(steps.get() + 1) == step {
                    second.set(sequences::take_sequence(&machine.quiet(12), slots[2]));
                }
            };
            let first = sequences::take_sequence(&machine.process(11, &act), slots[1]);
            let second = second
                .get()
                .or_else(|| sequences::take_sequence(&machine.quiet(12), slots[2]));
            assert!(first.is_some() && second.is_some());
            assert_ne!(first, second, "after step {step}");
        }
    }

    #[test]
    fn the_newest_record_names_its_process_at_each_step_of_another_ones_record() {
        let machine = Machine::new(&[(10, 100), (11, 200)]);
        let slots = [10, 11].map(|number| take_entry(&machine.quiet(number)).expect("free"));
        let observer = machine.quiet(1);
        let observe = || {
            if let Some((sequence, number)) = sequences::newest(&observer) {
                let recorder = observer.read(sequences::owner(sequence));
                let begun = observer.read(sequences::begun(sequence));
                assert!(
                    is_present(&observer, recorder),
                    "the recorder is in the list"
                );
                assert!(begun >= number, "the record is in its sequence");
            }
        };
        for (number, slot) in [(10, slots[0]), (11, slots[1])] {
            let process = machine.process(number, &observe);
            let sequence = sequences::take_sequence(&process, slot).expect("sequences are free");
            sequences::publish(&process, sequence, 1);
        }
        assert_eq!(sequences::newest(&observer), Some((1, 1)));
    }

    #[test]
    fn the_other_processes_are_present_lost_or_none() {
        let machine = Machine::new(&[(10, 100), (11, 200)]);
        let own = take_entry(&machine.quiet(10)).expect("free");
        assert_eq!(bit::others(&machine.quiet(10), own), bit::Others::None);
        let other = take_entry(&machine.quiet(11)).expect("free");
        assert_eq!(bit::others(&machine.quiet(10), own), bit::Others::Present);
        machine.end(11);
        assert_eq!(bit::others(&machine.quiet(10), own), bit::Others::Lost);
        machine.quiet(11).write(entry(other), 0);
        assert_eq!(bit::others(&machine.quiet(10), own), bit::Others::None);
    }
}
