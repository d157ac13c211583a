//! Where everything is in the memory that processes share.
//!
//! Each rank has a segment that it alone writes and that all others map for reading: a head, a table of slots, one for
//! each operation that the rank has reached, acknowledgements of what it has read from others, and staging memory for
//! its data. Numbers found in another rank's segment are compared and never used as lengths, as addresses only where the
//! system checks them, and as offsets only inside a mapping: a rank that has mapped what another one lends of its memory, or that may
//! read that memory, copies long data from there directly.

/// The name of segments.
pub(super) const SEGMENT: &str = "jumar-hccl-segment";
/// The name of the page on which a process sleeps.
pub(super) const WAKE_PAGE: &str = "jumar-hccl-wake";
/// The name of the file in which ranks meet.
pub(super) const MEETING: &str = "jumar-hccl-meeting";
/// What every file begins with: the format's version is its last digit.
pub(super) const MAGIC: u64 = 0x4a48_4343_4c00_0006;

/// The most ranks of a communicator of several processes.
pub(crate) const MOST_RANKS: usize = 64;
/// The most operations that a rank can have reached at the same time.
pub(super) const SLOTS: usize = 64;
/// The streams of data of an operation: contributions, and results of a reduction.
pub(super) const STREAMS: usize = 2;
/// How many pieces of a stream are in staging memory at a time.
pub(super) const DEPTH: usize = 2;
/// The space for a piece.
pub(super) const PIECE: usize = 1 << 20;

// Words of a segment's head.
pub(super) const HEAD_MAGIC: usize = 0;
pub(super) const HEAD_KEY: usize = 1;
pub(super) const HEAD_RANK: usize = 3;
/// 0, or the kind of the failure that this rank found, after its text was written.
pub(super) const HEAD_FAILURE: usize = 4;
/// The length of the text.
pub(super) const HEAD_TEXT_BYTES: usize = 5;
/// How many communicators the rank has left.
pub(super) const HEAD_LEFT: usize = 6;
/// How many operations the rank has put into another slot than the one where others look first.
pub(super) const HEAD_DISPLACED: usize = 7;
/// The number of the processor on which the rank came to an operation last, plus one.
pub(super) const HEAD_PROCESSOR: usize = 8;
/// 1 once an operation of the rank had to wait until others have read one of its slots.
pub(super) const HEAD_LACKED_SLOT: usize = 9;
/// Where the segment is in the rank's own process.
pub(super) const HEAD_ADDRESS: usize = 10;
/// A bit for each rank whose memory the system lets this rank read.
pub(super) const HEAD_READABLE: usize = 11;
/// How others open the file of what the rank lends of its device's memory: the descriptor, plus one; and its length.
pub(super) const HEAD_LENT: usize = 12;
pub(super) const HEAD_LENT_BYTES: usize = 13;
/// A bit for each rank whose lent memory this rank has mapped.
pub(super) const HEAD_MAPPED: usize = 14;
/// The tags of the communicators that the rank has left last.
pub(super) const LEFT: usize = 16;
pub(super) const LEFT_COUNT: usize = 48;
/// The text of the failure.
pub(super) const TEXT: usize = 64;
pub(super) const TEXT_BYTES: usize = 1024;

// Words of a slot. What a small operation needs is in its first line of a cache: to fetch a line that another processor wrote takes
// as long as all that is done with it.
pub(super) const SLOT: usize = 256;
pub(super) const SLOT_WORDS: usize = 208;
/// Twice the generation, plus one while the slot is in use.
pub(super) const STATE: usize = 0;
/// The number of the operation, and how many before it may not have ended for this rank.
pub(super) const NUMBER: usize = 1;
/// A digest of what else identifies the operation.
pub(super) const IDENTITY: usize = 2;
/// A digest of the signature.
pub(super) const CALL: usize = 3;
/// How many rounds of each stream are in staging memory.
pub(super) const PUBLISHED: usize = 4;
/// The contribution, if it is this short.
pub(super) const SHORT: usize = 6;
pub(super) const SHORT_BYTES: usize = 16;
pub(super) const SIGNATURE: usize = 8;
/// How many bytes there are for each rank.
pub(super) const SIZES: usize = 16;
/// How many bytes the rank expects of each rank.
pub(super) const EXPECTED: usize = SIZES + MOST_RANKS;
/// Where what the rank provides to each rank is, if that is in staging memory alone: 0; for a rank that has mapped what this one lends: the
/// offset there, plus one; otherwise the address in its own process. Only for ranks that read this much directly where they may.
pub(super) const POSITIONS: usize = EXPECTED + MOST_RANKS;
/// Stands for a rank of which nothing is expected.
pub(super) const NOTHING: u64 = u64::MAX;

/// Acknowledgements: by the rank that wrote, its slot, and the stream.
pub(super) const ACKS: usize = SLOT + SLOTS * SLOT_WORDS;
const ACK_WORDS: usize = MOST_RANKS * SLOTS * STREAMS;
const STAGING: usize = ((ACKS + ACK_WORDS) * 8).next_multiple_of(4096);

/// The length of a segment. Pages that were never written take no memory.
pub(super) const SEGMENT_BYTES: usize = STAGING + SLOTS * STREAMS * DEPTH * PIECE;

/// Returns the first word of a slot.
pub(super) const fn slot(index: usize) -> usize {
    SLOT + index * SLOT_WORDS
}

/// Returns the word of an acknowledgement.
pub(super) const fn ack(writer: usize, slot: usize, stream: usize) -> usize {
    // A rank that has read what all others wrote notes it in one line of a cache.
    ACKS + (slot * STREAMS + stream) * MOST_RANKS + writer
}

/// Returns where a short contribution is.
pub(super) const fn short(index: usize) -> usize {
    (slot(index) + SHORT) * 8
}

/// Returns where a piece of a stream is.
pub(super) const fn staging(slot: usize, stream: usize, round: usize) -> usize {
    STAGING + ((slot * STREAMS + stream) * DEPTH + round % DEPTH) * PIECE
}

// Words of a meeting.
pub(super) const MEETING_KEY: usize = 1;
/// Changes whenever a record does; ranks sleep on it.
pub(super) const MEETING_CHANGES: usize = 3;
/// The number of ranks, as the first rank said.
pub(super) const MEETING_SIZE: usize = 4;
pub(super) const RECORD: usize = 512;
pub(super) const RECORD_WORDS: usize = 64;
/// The most ranks that can meet.
pub(crate) const MOST_RECORDS: usize = 1024;
pub(super) const MEETING_BYTES: usize = (RECORD + MOST_RECORDS * RECORD_WORDS) * 8;

// Words of a record.
pub(super) const RECORD_STATE: usize = 0;
pub(super) const RECORD_DIGEST: usize = 1;
pub(super) const RECORD_PROCESS: usize = 2;
pub(super) const RECORD_STARTED: usize = 3;
pub(super) const RECORD_SEGMENT: usize = 4;
pub(super) const RECORD_WAKE: usize = 5;
pub(super) const RECORD_NAME: usize = 8;
pub(super) const NAME_BYTES: usize = 128;

/// Returns the first word of a record.
pub(super) const fn record(rank: usize) -> usize {
    RECORD + rank * RECORD_WORDS
}

const _: () = assert!(POSITIONS + MOST_RANKS <= SLOT_WORDS);
const _: () = assert!(PUBLISHED + STREAMS <= SHORT && SHORT * 8 + SHORT_BYTES <= SIGNATURE * 8);
const _: () = assert!(SIGNATURE + crate::operation::SIGNATURE_WORDS <= SIZES);
const _: () = assert!(SLOT.is_multiple_of(8) && SLOT_WORDS.is_multiple_of(8));
const _: () = assert!(LEFT + LEFT_COUNT <= TEXT && TEXT * 8 + TEXT_BYTES <= SLOT * 8);
const _: () = assert!(RECORD_NAME * 8 + NAME_BYTES <= RECORD_WORDS * 8);
