//! The records of an event that processes share.
//!
//! Records of one stream are reached in their order, those of different streams in any. So a record is a number in a lane, and a lane
//! serves one stream of one process at a time: the records of a lane are reached up to a number. The word of the newest record names
//! lane and number at once, so that every process sees both or neither, and the lane names the process, so that a wait knows whom it
//! waits for.
//!
//! - A process takes a free lane, or one whose process is gone, for a stream that has none. It keeps the lane until it leaves, and uses it
//!   for another stream once each record in it is reached.
//! - A lane changes hands only while each record in it is reached. A process that dies with a record pending leaves its lane behind: a
//!   wait for that record must neither pass nor last.

use super::*;
use jumar_hal::sync::AtomicBool;

/// The first word of the lanes.
const FIRST: usize = HEAD + SLOTS * SLOT_WORDS;
/// The words of a lane: the identity of its process, the number of its last record, and that of the last one that was reached.
const LANE_WORDS: usize = 3;
/// How many lanes there are: streams, of all processes, that can have a record pending at once.
const LANES: usize = (BYTES / WORD - FIRST) / LANE_WORDS;
/// How many bits of the newest record's word are its number; the lane's index plus one is above.
const NUMBER_BITS: u32 = 56;

pub(super) fn owner(lane: usize) -> usize {
    FIRST + lane * LANE_WORDS
}

pub(super) fn begun(lane: usize) -> usize {
    owner(lane) + 1
}

pub(super) fn reached(lane: usize) -> usize {
    owner(lane) + 2
}

fn is_idle(words: &dyn Words, lane: usize) -> bool {
    words.read(reached(lane)) >= words.read(begun(lane))
}

/// Takes a lane in which no record is pending. Returns `None` where there is none.
pub(super) fn take_lane(words: &dyn Words, slot: usize) -> Option<usize> {
    let identity = identity_of(words, slot);
    (0..LANES).find(|lane| {
        let before = words.read(owner(*lane));
        (before == 0 || !is_present(words, before))
            && is_idle(words, *lane)
            && words.exchange(owner(*lane), before, identity)
    })
}

/// Returns the lane and the number of the newest record, if there is one.
pub(super) fn newest(words: &dyn Words) -> Option<(usize, u64)> {
    let word = words.read(VALUE);
    let lane = (word >> NUMBER_BITS) as usize;
    (1..=LANES)
        .contains(&lane)
        .then(|| (lane - 1, word & ((1 << NUMBER_BITS) - 1)))
}

/// Makes a record of a lane the newest one.
pub(super) fn publish(words: &dyn Words, lane: usize, number: u64) {
    words.write(begun(lane), number);
    words.write(VALUE, (lane as u64 + 1) << NUMBER_BITS | number);
}

/// A lane that this process has.
struct Lane {
    index: usize,
    stream: u64,
    last: u64,
}

/// An event's records, and the lanes that this process has.
pub(crate) struct Lanes {
    control_page: Arc<IpcControlPage>,
    own: Mutex<Vec<Lane>>,
}

/// One record of an event.
pub(crate) struct SharedRecord {
    control_page: Arc<IpcControlPage>,
    lane: usize,
    number: u64,
    /// The identity of the process that records.
    recorder: u64,
    is_gone: AtomicBool,
    poll_limit: PollLimit,
}

impl Lanes {
    pub(crate) fn new(control_page: Arc<IpcControlPage>) -> Lanes {
        Lanes {
            control_page,
            own: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn control_page(&self) -> &IpcControlPage {
        &self.control_page
    }

    /// Returns the newest record, if there is one.
    pub(crate) fn newest(&self) -> Option<SharedRecord> {
        let (lane, number) = newest(&*self.control_page)?;
        let recorder = self.control_page.read(owner(lane));
        Some(self.record(lane, number, recorder))
    }

    fn record(&self, lane: usize, number: u64, recorder: u64) -> SharedRecord {
        SharedRecord {
            control_page: self.control_page.clone(),
            lane,
            number,
            recorder,
            is_gone: AtomicBool::new(false),
            poll_limit: PollLimit::default(),
        }
    }

    /// Makes the next record on a stream; nobody sees it before [`Lanes::publish`]. The caller makes, queues and publishes one at a
    /// time.
    ///
    /// # Errors
    /// `NoEventResource`: too many streams have records pending.
    pub(crate) fn next(&self, stream: u64) -> Result<SharedRecord> {
        let words: &dyn Words = &*self.control_page;
        let mut own = self.own.lock();
        let at = own
            .iter()
            .position(|lane| lane.stream == stream)
            .or_else(|| {
                let idle = |lane: &Lane| words.read(reached(lane.index)) >= lane.last;
                own.iter().position(idle)
            });
        let at = match at {
            Some(at) => at,
            None => {
                let index = take_lane(words, self.control_page.slot).ok_or_else(|| {
                    Error::new(
                        ErrorKind::NoEventResource,
                        format!(
                            "an event of several processes has records that are not complete on {LANES} streams, which is the limit"
                        ),
                    )
                    .fix("Wait until earlier records of the event are complete, or use more events.")
                })?;
                // A process that died may have reached a record that it did not publish.
                let last = words.read(begun(index)).max(words.read(reached(index)));
                own.push(Lane {
                    index,
                    stream,
                    last,
                });
                own.len() - 1
            }
        };
        let lane = &own[at];
        let recorder = identity_of(words, self.control_page.slot);
        Ok(self.record(lane.index, lane.last + 1, recorder))
    }

    /// Makes a record that is queued on a stream the newest one, for every process.
    pub(crate) fn publish(&self, record: &SharedRecord, stream: u64) {
        let mut own = self.own.lock();
        for lane in own.iter_mut().filter(|lane| lane.index == record.lane) {
            (lane.stream, lane.last) = (stream, record.number);
        }
        publish(&*self.control_page, record.lane, record.number);
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        let words: &dyn Words = &*self.control_page;
        for lane in std::mem::take(&mut *self.own.lock()) {
            // A record that is still queued keeps the lane for as long as the process is there.
            if is_idle(words, lane.index) {
                words.write(owner(lane.index), 0);
            }
        }
    }
}

impl SharedRecord {
    /// Returns whether another one is the same record.
    pub(crate) fn is(&self, other: &SharedRecord) -> bool {
        (self.lane, self.number) == (other.lane, other.number)
    }
}

impl SharedLatch for SharedRecord {
    fn is_set(&self) -> bool {
        self.control_page.read(reached(self.lane)) >= self.number
    }

    fn set(&self) {
        // The stream comes to the records of a lane one after the other.
        if !self.is_set() {
            self.control_page.write(reached(self.lane), self.number);
        }
    }

    fn take(&self) -> bool {
        false
    }

    fn address(&self) -> usize {
        self.control_page.word(reached(self.lane)).address()
    }

    fn begin_wait(&self) -> u64 {
        0
    }

    fn examine(&self) {
        if self.poll_limit.is_due() && !is_present(&*self.control_page, self.recorder) {
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
