//! The records of an event that processes share.
//!
//! Records of one stream are reached in their order, those of different streams in any. So a record is a number in a sequence, and a sequence
//! serves one stream of one process at a time: the records of a sequence are reached up to a number. The word of the newest record names
//! sequence and number at once, so that every process sees both or neither, and the sequence names the process, so that a wait knows whom it
//! waits for.
//!
//! - A process takes a free sequence, or one whose process is gone, for a stream that has none. It keeps the sequence until it leaves, and uses it
//!   for another stream once each record in it is reached.
//! - A sequence changes hands only while each record in it is reached. A process that dies with a record pending leaves its sequence behind: a
//!   wait for that record must neither pass nor last.

use super::*;
use jumar_hal::sync::AtomicBool;

/// The first word of the sequences.
const FIRST: usize = HEAD + SLOTS * SLOT_WORDS;
/// The words of a sequence: the identity of its process, the number of its last record, and that of the last one that was reached.
const SEQUENCE_WORDS: usize = 3;
/// How many sequences there are: streams, of all processes, that can have a record pending at once.
const SEQUENCES: usize = (BYTES / WORD - FIRST) / SEQUENCE_WORDS;
/// How many bits of the newest record's word are its number; the sequence's index plus one is above.
const NUMBER_BITS: u32 = 56;

pub(super) fn owner(sequence: usize) -> usize {
    FIRST + sequence * SEQUENCE_WORDS
}

pub(super) fn begun(sequence: usize) -> usize {
    owner(sequence) + 1
}

pub(super) fn reached(sequence: usize) -> usize {
    owner(sequence) + 2
}

fn is_idle(words: &dyn Words, sequence: usize) -> bool {
    words.read(reached(sequence)) >= words.read(begun(sequence))
}

/// Takes a sequence in which no record is pending. Returns `None` where there is none.
pub(super) fn take_sequence(words: &dyn Words, slot: usize) -> Option<usize> {
    let identity = identity_of(words, slot);
    (0..SEQUENCES).find(|sequence| {
        let before = words.read(owner(*sequence));
        (before == 0 || !is_present(words, before))
            && is_idle(words, *sequence)
            && words.exchange(owner(*sequence), before, identity)
    })
}

/// Returns the sequence and the number of the newest record, if there is one.
pub(super) fn newest(words: &dyn Words) -> Option<(usize, u64)> {
    let word = words.read(VALUE);
    let sequence = (word >> NUMBER_BITS) as usize;
    (1..=SEQUENCES)
        .contains(&sequence)
        .then(|| (sequence - 1, word & ((1 << NUMBER_BITS) - 1)))
}

/// Makes a record of a sequence the newest one.
pub(super) fn publish(words: &dyn Words, sequence: usize, number: u64) {
    words.write(begun(sequence), number);
    words.write(VALUE, (sequence as u64 + 1) << NUMBER_BITS | number);
}

/// A sequence that this process has.
struct Sequence {
    index: usize,
    stream: u64,
    last: u64,
}

/// An event's records, and the sequences that this process has.
pub(crate) struct Sequences {
    control_page: Arc<IpcControlPage>,
    own: Mutex<Vec<Sequence>>,
}

/// One record of an event.
pub(crate) struct SharedRecord {
    control_page: Arc<IpcControlPage>,
    sequence: usize,
    number: u64,
    /// The identity of the process that records.
    recorder: u64,
    is_gone: AtomicBool,
    poll_limit: PollLimit,
}

impl Sequences {
    pub(crate) fn new(control_page: Arc<IpcControlPage>) -> Sequences {
        Sequences {
            control_page,
            own: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn control_page(&self) -> &IpcControlPage {
        &self.control_page
    }

    /// Returns the newest record, if there is one.
    pub(crate) fn newest(&self) -> Option<SharedRecord> {
        let (sequence, number) = newest(&*self.control_page)?;
        let recorder = self.control_page.read(owner(sequence));
        Some(self.record(sequence, number, recorder))
    }

    fn record(&self, sequence: usize, number: u64, recorder: u64) -> SharedRecord {
        SharedRecord {
            control_page: self.control_page.clone(),
            sequence,
            number,
            recorder,
            is_gone: AtomicBool::new(false),
            poll_limit: PollLimit::default(),
        }
    }

    /// Makes the next record on a stream; no process sees it before [`Sequences::publish`]. The caller makes, queues and publishes one at a
    /// time.
    ///
    /// # Errors
    /// `NoEventResource`: too many streams have records pending.
    pub(crate) fn next(&self, stream: u64) -> Result<SharedRecord> {
        let words: &dyn Words = &*self.control_page;
        let mut own = self.own.lock();
        let at = own
            .iter()
            .position(|sequence| sequence.stream == stream)
            .or_else(|| {
                let idle =
                    |sequence: &Sequence| words.read(reached(sequence.index)) >= sequence.last;
                own.iter().position(idle)
            });
        let at = match at {
            Some(at) => at,
            None => {
                let index = take_sequence(words, self.control_page.slot).ok_or_else(|| {
                    Error::new(
                        ErrorKind::NoEventResource,
                        format!(
                            "an event of several processes has records that are not complete on {SEQUENCES} streams, which is the limit"
                        ),
                    )
                    .fix("Wait until earlier records of the event are complete, or use more events.")
                })?;
                // A process that died may have reached a record that it did not publish.
                let last = words.read(begun(index)).max(words.read(reached(index)));
                own.push(Sequence {
                    index,
                    stream,
                    last,
                });
                own.len() - 1
            }
        };
        let sequence = &own[at];
        let recorder = identity_of(words, self.control_page.slot);
        Ok(self.record(sequence.index, sequence.last + 1, recorder))
    }

    /// Makes a record that is queued on a stream the newest one, for every process.
    pub(crate) fn publish(&self, record: &SharedRecord, stream: u64) {
        let mut own = self.own.lock();
        for sequence in own
            .iter_mut()
            .filter(|sequence| sequence.index == record.sequence)
        {
            (sequence.stream, sequence.last) = (stream, record.number);
        }
        publish(&*self.control_page, record.sequence, record.number);
    }
}

impl Drop for Sequences {
    fn drop(&mut self) {
        let words: &dyn Words = &*self.control_page;
        for sequence in std::mem::take(&mut *self.own.lock()) {
            // A record that is still queued keeps the sequence for as long as the process is there.
            if is_idle(words, sequence.index) {
                words.write(owner(sequence.index), 0);
            }
        }
    }
}

impl SharedRecord {
    /// Returns whether another one is the same record.
    pub(crate) fn is(&self, other: &SharedRecord) -> bool {
        (self.sequence, self.number) == (other.sequence, other.number)
    }
}

impl SharedLatch for SharedRecord {
    fn is_set(&self) -> bool {
        self.control_page.read(reached(self.sequence)) >= self.number
    }

    fn set(&self) {
        // The stream comes to the records of a sequence one after the other.
        if !self.is_set() {
            self.control_page.write(reached(self.sequence), self.number);
        }
    }

    fn take(&self) -> bool {
        false
    }

    fn address(&self) -> usize {
        self.control_page.word(reached(self.sequence)).address()
    }

    fn begin_wait(&self) -> u64 {
        0
    }

    fn examine(&self) {
        if self.poll_limit.is_over() && !is_present(&*self.control_page, self.recorder) {
            self.is_gone.store(true, Ordering::Release);
        }
    }

    fn is_deserted(&self, _: u64) -> bool {
        self.is_gone.load(Ordering::Acquire) && !self.is_set()
    }

    fn desertion(&self) -> Error {
        gone("event")
    }
}
