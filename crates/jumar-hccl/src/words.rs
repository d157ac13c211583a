//! The sentences of failures: which communicator, which operation, which ranks, what each of them called.

use std::sync::Arc;

use jumar_hal::Span;
use jumar_types::{Error, ErrorKind};

use crate::DataType;
use crate::operation::{Message, Operation, SIGNATURE_WORDS, Signature};

/// A communicator as sentences name it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The communicator's name.
    pub name: Arc<str>,
    /// The number of ranks.
    pub size: u32,
}

impl Label {
    fn text(&self) -> String {
        format!("communicator \"{}\" ({} ranks)", self.name, self.size)
    }

    /// Describes two ranks that called different things under one number.
    pub fn mismatch(
        &self,
        number: u64,
        (one, its): (u32, &dyn std::fmt::Display),
        (other, others): (u32, &dyn std::fmt::Display),
    ) -> Error {
        Error::new(
            ErrorKind::CommMismatch,
            format!(
                "the ranks of {} disagree about operation {number}: rank {one} called {its}, rank {other} called {others}",
                self.text()
            ),
        )
    }

    /// Describes another rank's operation, of which only the signature is known, beside the own one. `message` is the part of
    /// the own operation that concerns the other rank, if that is what differs.
    pub fn disagreement(
        &self,
        number: u64,
        (me, message, operation): (u32, Option<&Message>, &Operation),
        other: u32,
        signature: [u64; SIGNATURE_WORDS],
    ) -> Error {
        if let Some(own) = message {
            let of = DataType::from_number((signature[0] >> 8) as u32 & 0xff);
            let theirs = Message {
                sends: !own.sends,
                peer: me,
                span: Span::EMPTY,
                count: signature[2],
                data_type: of.unwrap_or(own.data_type),
            };
            return self.mismatch(number, (me, own), (other, &theirs));
        }
        match Signature::from_words(signature) {
            Some(theirs) => self.mismatch(number, (me, operation), (other, &theirs)),
            None => self.mismatch(number, (me, operation), (other, &"an unknown operation")),
        }
    }

    /// Describes a transfer whose two ends differ.
    pub fn unequal_parts(&self, what: &str, from: u32, sent: u64, to: u32, expected: u64) -> Error {
        Error::new(
            ErrorKind::CommMismatch,
            format!(
                "{what} of {}: rank {from} sends {sent} bytes to rank {to}, which expects {expected} bytes",
                self.text()
            ),
        )
    }

    /// Describes an operation that not all ranks issued in time.
    pub fn timeout(
        &self,
        what: &dyn std::fmt::Display,
        number: u64,
        missing: &[u32],
        seconds: f64,
    ) -> Error {
        Error::new(
            ErrorKind::CommTimeout,
            format!(
                "{what}, operation {number} of {}, waited {seconds} s for {}",
                self.text(),
                ranks(missing)
            ),
        )
    }

    /// Describes an operation that misses a rank which is gone.
    pub fn lost(&self, what: &dyn std::fmt::Display, number: u64, rank: u32, why: &str) -> Error {
        Error::new(
            ErrorKind::CommPeerLost,
            format!(
                "{what}, operation {number} of {}, cannot end: rank {rank} {why}",
                self.text()
            ),
        )
    }

    /// Describes a call with a communicator that failed earlier.
    pub fn unavailable(&self, failure: &Error) -> Error {
        Error::new(
            ErrorKind::CommUnavailable,
            format!("{} failed earlier: {failure}", self.text()),
        )
    }
}

/// Lists ranks: "rank 3", "ranks 0, 2 and 3".
pub fn ranks(list: &[u32]) -> String {
    const MOST: usize = 16;
    let names: Vec<String> = list.iter().take(MOST).map(u32::to_string).collect();
    let more = list.len().saturating_sub(MOST);
    match names.as_slice() {
        [] => "no rank".to_owned(),
        [one] => format!("rank {one}"),
        many if more > 0 => format!("ranks {} and {more} more", many.join(", ")),
        [first @ .., last] => format!("ranks {} and {last}", first.join(", ")),
    }
}

/// Returns an error that another process described by its number and text.
pub(crate) fn error_of(kind: u64, text: &str) -> Error {
    let kind = match kind {
        1 => ErrorKind::CommTimeout,
        2 => ErrorKind::CommMismatch,
        _ => ErrorKind::CommPeerLost,
    };
    Error::new(kind, text)
}

/// Returns the number by which another process knows the kind of an error.
pub(crate) fn number_of(error: &Error) -> u64 {
    let kinds = [ErrorKind::CommTimeout, ErrorKind::CommMismatch];
    let at = kinds.iter().position(|kind| *kind == error.kind());
    at.map_or(3, |at| at as u64 + 1)
}

/// Describes what the system refused.
pub(crate) fn system(what: &str, error: std::io::Error) -> Error {
    Error::new(ErrorKind::RuntimeInternal, format!("{what}: {error}"))
}
