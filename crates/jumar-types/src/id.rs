//! The layout of a handle: an opaque number of pointer type that is looked up, never dereferenced.
//!
//! ```text
//! bit 63: 0 | 62..56 mark | 55..48 kind | 47..24 generation | 23..0 slot
//! ```
//!
//! Mark and kind keep the value outside any address that Linux maps for a user on x86-64 and aarch64, so a
//! program that dereferences a handle stops at once. Bit 63 is 0, so that the value fits a signed 64-bit integer.

use std::fmt;

/// Recognises a number as one of ours: bits 62..56.
const MARK: u64 = 0x6A;
const SLOT_BITS: u32 = 24;
const GENERATION_BITS: u32 = 24;

/// The most slots a table can have.
pub const MAX_SLOTS: u32 = 1 << SLOT_BITS;
/// One more than the largest generation.
pub const GENERATIONS: u32 = 1 << GENERATION_BITS;

macro_rules! id_kinds {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $noun:literal;)*) => {
        /// The kinds of objects that have handles. Values are 0x80 and above, so that bit 55 of an id is set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum IdKind { $($(#[$doc])* $name = $value,)* }

        impl IdKind {
            /// Lists every kind.
            pub const ALL: &'static [IdKind] = &[$(IdKind::$name,)*];

            /// Returns the noun used in messages.
            pub const fn noun(self) -> &'static str {
                match self { $(IdKind::$name => $noun,)* }
            }

            /// Finds the kind with this number.
            pub const fn from_number(number: u8) -> Option<IdKind> {
                match number { $($value => Some(IdKind::$name),)* _ => None }
            }
        }
    };
}

id_kinds! {
    /// A context.
    Context = 0x80, "context";
    /// A stream.
    Stream = 0x81, "stream";
    /// An event.
    Event = 0x82, "event";
    /// A notify.
    Notify = 0x83, "notify";
    /// A data buffer object.
    DataBuffer = 0x84, "data buffer";
    /// A dataset.
    Dataset = 0x85, "dataset";
    /// A model description.
    ModelDesc = 0x86, "model description";
    /// A tensor description.
    TensorDesc = 0x87, "tensor description";
    /// A stream configuration.
    StreamConfig = 0x88, "stream configuration";
    /// A model load configuration.
    ModelConfig = 0x89, "model configuration";
    /// A model execution configuration.
    ExecConfig = 0x8A, "model execution configuration";
    /// A block of physical memory.
    PhysicalMemory = 0x8B, "physical memory handle";
    /// A piece of information about a failed task.
    ExceptionInfo = 0x8C, "exception information";
    /// A description of a kernel binary in memory.
    Binary = 0xC0, "binary description";
    /// A kernel binary that was loaded.
    LoadedBinary = 0xC1, "kernel binary";
    /// A kernel.
    Function = 0xC2, "kernel";
    /// A list of arguments.
    Arguments = 0xC3, "argument list";
    /// One argument of a list.
    Argument = 0xC4, "argument";
    /// A program for the run-time compiler.
    Program = 0xC5, "program";
    /// A configuration of a profile.
    ProfileConfig = 0xC6, "profile configuration";
    /// A configuration of a subscription to a model's profile.
    SubscribeConfig = 0xC7, "subscription configuration";
    /// An object that marks steps.
    StepInfo = 0xC8, "step information";
    /// A stamp for the program's own events.
    Stamp = 0xC9, "stamp";
    /// A captured or built model.
    Graph = 0xD0, "model running instance";
    /// A task of a captured or built model.
    GraphTask = 0xD1, "captured task";
    /// A group of captured tasks.
    TaskGroup = 0xD2, "task group";
    /// A condition of a captured model.
    Condition = 0xD3, "condition";
    /// A label that a stream can jump to.
    Label = 0xD4, "label";
    /// A memory pool.
    MemoryPool = 0xB0, "memory pool";
    /// A description of an allocator of the program's own.
    AllocatorDesc = 0xB1, "allocator description";
    /// An item of a tensor channel.
    TensorItem = 0xB2, "data item";
    /// A list of items of a tensor channel.
    TensorDataset = 0xB3, "tensor dataset";
    /// A tensor channel.
    TensorChannel = 0xB4, "tensor channel";
    /// Attributes of a queue.
    QueueAttr = 0xB5, "queue attribute";
    /// A connection of two queues.
    QueueRoute = 0xB6, "queue route";
    /// A list of connections of queues.
    QueueRouteList = 0xB7, "queue route list";
    /// A question for connections of queues.
    QueueRouteQuery = 0xB8, "queue route query";
    /// A buffer with a header, in a chain or alone.
    MessageBuffer = 0xB9, "message buffer";
    /// A tensor of single operators.
    Tensor = 0xE0, "tensor";
    /// A scalar of single operators.
    Scalar = 0xE1, "scalar";
    /// An array of integers.
    IntArray = 0xE2, "array of integers";
    /// An array of floats.
    FloatArray = 0xE3, "array of floats";
    /// An array of booleans.
    BoolArray = 0xE4, "array of booleans";
    /// A list of tensors.
    TensorList = 0xE5, "list of tensors";
    /// A list of scalars.
    ScalarList = 0xE6, "list of scalars";
    /// A planned call of a single operator.
    Executor = 0xE7, "executor";
    /// An operation of the transformer library.
    Operation = 0xEF, "operation";
    /// A set of attributes of an operator.
    OperatorAttributes = 0xE8, "set of attributes";
    /// An operator with its descriptions and attributes.
    OperatorHandle = 0xE9, "operator handle";
    /// A description of groups of cores.
    GroupInfo = 0xA0, "group information";
    /// Settings of dynamic preprocessing.
    AippSettings = 0xA2, "preprocessing settings";
    /// What was asked of a bundle file.
    BundleQuery = 0xA3, "bundle query";
    /// A counting notify.
    CountNotify = 0xA1, "counting notify";
    /// A communicator of collective operations.
    Communicator = 0xA4, "communicator";
    /// Memory that was registered with a communicator.
    CommMemory = 0xA5, "registered memory of a communicator";
    /// A description of an image.
    ImageDesc = 0x90, "image description";
    /// A batch of descriptions of images.
    ImageBatch = 0x91, "batch of image descriptions";
    /// A region of an image.
    ImageRegion = 0x92, "region of an image";
    /// A configuration of resizing.
    ResizeConfig = 0x93, "resize configuration";
    /// A configuration of a border.
    BorderConfig = 0x94, "border configuration";
    /// A configuration of JPEG encoding.
    JpegConfig = 0x95, "JPEG configuration";
    /// A description of an image channel.
    ImageChannel = 0x96, "image channel description";
    /// Look-up tables for the samples of an image.
    LookUpTable = 0x97, "look-up table";
    /// A histogram of an image.
    Histogram = 0x98, "histogram";
    /// A description of a coded video stream.
    VideoStreamDesc = 0x99, "video stream description";
    /// A description of a decoding channel.
    DecodingDesc = 0x9A, "decoding channel description";
    /// A configuration of a packet that is decoded.
    PacketConfig = 0x9B, "packet configuration";
    /// A description of an encoding channel.
    EncodingDesc = 0x9C, "encoding channel description";
    /// A configuration of a frame that is encoded.
    FrameConfig = 0x9D, "frame configuration";
}

/// A handle taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id {
    /// What the handle names.
    pub kind: IdKind,
    /// How often the slot has been used, from a random start.
    pub generation: u32,
    /// The slot in the kind's table.
    pub slot: u32,
}

/// Why a number is not a usable handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdProblem {
    /// The number is 0.
    Null,
    /// The number does not carry our mark: a stray pointer or garbage.
    NotAHandle,
    /// A handle of another kind.
    WrongKind {
        /// What the number names.
        found: IdKind,
        /// What the call wants.
        wanted: IdKind,
    },
    /// A slot that was never given out.
    NoSuchSlot,
    /// The object was destroyed.
    Stale,
}

impl IdProblem {
    /// Returns why a number without the mark or without the wanted kind is not a handle.
    #[cold]
    fn of(number: u64, wanted: IdKind) -> IdProblem {
        if number == 0 {
            return IdProblem::Null;
        }
        match IdKind::from_number((number >> 48) as u8) {
            Some(found) if number >> 56 == MARK => IdProblem::WrongKind { found, wanted },
            _ => IdProblem::NotAHandle,
        }
    }
}

impl Id {
    /// Packs the parts into the number that programs see.
    ///
    /// Generation and slot above 24 bits are cut; tables never produce them.
    pub const fn pack(self) -> u64 {
        (MARK << 56)
            | ((self.kind as u64) << 48)
            | (((self.generation & (GENERATIONS - 1)) as u64) << SLOT_BITS)
            | (self.slot & (MAX_SLOTS - 1)) as u64
    }

    /// Takes a number apart and checks mark and kind.
    #[inline]
    pub fn unpack(number: u64, wanted: IdKind) -> std::result::Result<Id, IdProblem> {
        if number >> 48 != MARK << 8 | wanted as u64 {
            return Err(IdProblem::of(number, wanted));
        }
        let generation = (number >> SLOT_BITS) as u32 & (GENERATIONS - 1);
        Ok(Id {
            kind: wanted,
            generation,
            slot: number as u32 & (MAX_SLOTS - 1),
        })
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} (generation {})",
            self.kind.noun(),
            self.slot,
            self.generation
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_part_for_every_kind() {
        for &kind in IdKind::ALL {
            let id = Id {
                kind,
                generation: 0xABCDEF,
                slot: 0x123456,
            };
            assert_eq!(Id::unpack(id.pack(), kind), Ok(id));
        }
    }

    #[test]
    fn a_handle_is_no_mappable_address_and_fits_a_signed_integer() {
        for &kind in IdKind::ALL {
            let number = Id {
                kind,
                generation: 0,
                slot: 0,
            }
            .pack();
            assert!(number >> 47 > 0 && number & (1 << 55) != 0 && number >> 63 == 0);
        }
    }

    #[test]
    fn each_kind_of_garbage_gets_its_own_answer() {
        assert_eq!(Id::unpack(0, IdKind::Stream), Err(IdProblem::Null));
        assert_eq!(
            Id::unpack(0x7fff_1234_5678, IdKind::Stream),
            Err(IdProblem::NotAHandle)
        );
        let event = Id {
            kind: IdKind::Event,
            generation: 1,
            slot: 1,
        }
        .pack();
        assert_eq!(
            Id::unpack(event, IdKind::Stream),
            Err(IdProblem::WrongKind {
                found: IdKind::Event,
                wanted: IdKind::Stream
            })
        );
    }
}
