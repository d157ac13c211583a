//! What a rank asks of the others: the description of one operation, without any state of its execution.

use std::fmt;

use jumar_hal::Span;
use smallvec::{SmallVec, smallvec};

use crate::{DataType, Kind, Reduction};

/// From how many bytes on that a rank receives copies go past the caches. Several ranks receive as much.
pub(crate) const LONG_BYTES: usize = 4 << 20;

/// The tag of a communicator that was not made from another one.
pub(crate) const EVERYONE: u64 = 1;

/// Ranges of memory, one for each rank of a communicator.
#[derive(Clone, Debug)]
pub enum Pieces {
    /// No rank has a range.
    None,
    /// The same range for every rank.
    Same(Span),
    /// A range for each rank, in rank order; `None` for ranks that have no part in it.
    Each(Box<[Option<Span>]>),
}

impl Pieces {
    /// Returns the range of a rank.
    pub fn get(&self, rank: usize) -> Option<Span> {
        match self {
            Pieces::None => None,
            Pieces::Same(span) => Some(*span),
            Pieces::Each(each) => each.get(rank).copied().flatten(),
        }
    }

    /// Returns the length of the largest range.
    pub fn longest(&self) -> usize {
        match self {
            Pieces::None => 0,
            Pieces::Same(span) => span.bytes(),
            Pieces::Each(each) => {
                let lengths = each.iter().flatten().map(|span| span.bytes());
                lengths.max().unwrap_or(0)
            }
        }
    }
}

/// What has to be equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What the operation does.
    pub kind: Kind,
    /// The type of the elements; bytes for a barrier.
    pub data_type: DataType,
    /// How elements are combined.
    pub reduction: Option<Reduction>,
    /// The rank that sends or receives everything.
    pub root: Option<u32>,
    /// The count argument; the sum of all counts where there is one for each rank.
    pub count: u64,
    /// A digest of the arrays of counts and displacements, or of shapes, that have to be equal; 0 without any.
    pub digest: u64,
}

/// The numbers of a [`Signature`], as another process reads them.
pub const SIGNATURE_WORDS: usize = 4;
const NO_ROOT: u64 = u32::MAX as u64;
const NO_REDUCTION: u64 = 255;

impl Signature {
    /// Returns the signature as numbers.
    pub fn to_words(&self) -> [u64; SIGNATURE_WORDS] {
        let reduction = self.reduction.map_or(NO_REDUCTION, |by| by as u64);
        [
            self.kind as u64 | (self.data_type as u64) << 8 | reduction << 16,
            self.root.map_or(NO_ROOT, u64::from),
            self.count,
            self.digest,
        ]
    }

    /// Reads a signature that another process wrote; `None` if the numbers are none.
    pub fn from_words(words: [u64; SIGNATURE_WORDS]) -> Option<Signature> {
        let byte = |at: u32| (words[0] >> at) as u8;
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == byte(0))?;
        Some(Signature {
            kind,
            data_type: DataType::from_number(u32::from(byte(8)))?,
            reduction: match u64::from(byte(16)) {
                NO_REDUCTION => None,
                number => Some(Reduction::from_number(number as u32)?),
            },
            root: match words[1] {
                NO_ROOT => None,
                root => Some(u32::try_from(root).ok()?),
            },
            count: words[2],
            digest: words[3],
        })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.kind == Kind::Barrier {
            return Ok(());
        }
        write!(f, "({} x {}", self.count, self.data_type.name())?;
        if let Some(by) = self.reduction {
            write!(f, ", {by}")?;
        }
        if let Some(root) = self.root {
            write!(f, ", root {root}")?;
        }
        if self.digest != 0 {
            let what = match self.kind {
                Kind::AllGatherV | Kind::ReduceScatterV | Kind::AllToAllV | Kind::AllToAllVC => {
                    "counts and displacements"
                }
                // Operators that are joined with a collective mark it with these.
                _ => "shapes",
            };
            write!(f, ", {what} #{:08x}", self.digest as u32)?;
        }
        f.write_str(")")
    }
}

/// An operation of all ranks.
#[derive(Clone, Debug)]
pub struct Collective {
    /// What has to be equal on all ranks.
    pub signature: Signature,
    /// What this rank provides to each rank.
    pub send: Pieces,
    /// Where this rank puts what each rank provides. For a reduction [`Pieces::Same`]: the one range of the result.
    pub receive: Pieces,
}

impl Collective {
    /// Returns about how many bytes the operation moves on this rank.
    pub fn bytes(&self) -> usize {
        self.send.longest().max(self.receive.longest())
    }
}

/// A transfer between two ranks.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// This rank sends; otherwise it receives.
    pub sends: bool,
    /// The other rank.
    pub peer: u32,
    /// What is sent, or where it is received.
    pub span: Span,
    /// How many elements.
    pub count: u64,
    /// The type of the elements.
    pub data_type: DataType,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, way) = match self.sends {
            true => ("HcclSend", "to"),
            false => ("HcclRecv", "from"),
        };
        let (count, of) = (self.count, self.data_type.name());
        write!(f, "{name}({count} x {of}, {way} rank {})", self.peer)
    }
}

/// What one call, or one group of calls, queues.
#[derive(Clone, Debug)]
pub enum Operation {
    /// An operation of all ranks.
    Collective(Collective),
    /// Transfers that run together, in no order among themselves.
    Messages(Box<[Message]>),
}

impl Operation {
    /// Returns about how many bytes the operation moves on this rank.
    pub fn bytes(&self) -> usize {
        match self {
            Operation::Collective(collective) => collective.bytes(),
            Operation::Messages(messages) => {
                messages.iter().map(|message| message.span.bytes()).sum()
            }
        }
    }

    /// Returns the name of the function that queues it.
    pub fn name(&self) -> &'static str {
        match self {
            Operation::Collective(collective) => collective.signature.kind.name(),
            Operation::Messages(messages) => match messages.as_ref() {
                [one] if one.sends => "HcclSend",
                [_] => "HcclRecv",
                _ => "HcclBatchSendRecv",
            },
        }
    }

    /// Lists the ranges that are read.
    pub fn reads(&self) -> SmallVec<[Span; 2]> {
        match self {
            Operation::Collective(collective) => listed(&collective.send),
            Operation::Messages(messages) => {
                let sends = messages.iter().filter(|message| message.sends);
                sends.map(|message| message.span).collect()
            }
        }
    }

    /// Lists the ranges that are written.
    pub fn writes(&self) -> SmallVec<[Span; 2]> {
        match self {
            Operation::Collective(collective) => listed(&collective.receive),
            Operation::Messages(messages) => {
                let receives = messages.iter().filter(|message| !message.sends);
                receives.map(|message| message.span).collect()
            }
        }
    }
}

fn listed(pieces: &Pieces) -> SmallVec<[Span; 2]> {
    match pieces {
        Pieces::None => SmallVec::new(),
        Pieces::Same(span) => smallvec![*span],
        Pieces::Each(each) => each.iter().flatten().copied().collect(),
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Collective(collective) => collective.signature.fmt(f),
            Operation::Messages(messages) => match messages.as_ref() {
                [one] => one.fmt(f),
                many => {
                    write!(f, "{} transfers, the first {}", many.len(), many[0])
                }
            },
        }
    }
}

/// Returns a digest of numbers that have to be equal on all ranks; never 0.
pub fn digest(numbers: impl IntoIterator<Item = u64>) -> u64 {
    // FNV-1a over the bytes: equal on every rank. A collision harms only the program that constructs it.
    let bytes = numbers.into_iter().flat_map(u64::to_le_bytes);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.max(1)
}
