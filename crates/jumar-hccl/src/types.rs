//! Data types and reductions of collective operations.

use std::fmt;

macro_rules! data_types {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $bytes:literal, $text:literal;)*) => {
        /// The type of an element, numbered as in `HcclDataType`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum DataType { $($(#[$doc])* $name = $number,)* }

        impl DataType {
            /// Lists every type.
            pub const ALL: &'static [DataType] = &[$(DataType::$name,)*];

            /// Returns the type with this number of `HcclDataType`.
            pub fn from_number(number: u32) -> Option<DataType> {
                match number { $($number => Some(DataType::$name),)* _ => None }
            }

            /// Returns the size of an element in bytes.
            pub const fn bytes(self) -> usize {
                match self { $(DataType::$name => $bytes,)* }
            }

            /// Returns the name that messages use.
            pub const fn name(self) -> &'static str {
                match self { $(DataType::$name => $text,)* }
            }
        }
    };
}

data_types! {
    /// Signed, 8 bits.
    Int8 = 0, 1, "int8";
    /// Signed, 16 bits.
    Int16 = 1, 2, "int16";
    /// Signed, 32 bits.
    Int32 = 2, 4, "int32";
    /// IEEE half precision.
    Float16 = 3, 2, "fp16";
    /// IEEE single precision.
    Float32 = 4, 4, "fp32";
    /// Signed, 64 bits.
    Int64 = 5, 8, "int64";
    /// Unsigned, 64 bits.
    UInt64 = 6, 8, "uint64";
    /// Unsigned, 8 bits.
    UInt8 = 7, 1, "uint8";
    /// Unsigned, 16 bits.
    UInt16 = 8, 2, "uint16";
    /// Unsigned, 32 bits.
    UInt32 = 9, 4, "uint32";
    /// IEEE double precision.
    Float64 = 10, 8, "fp64";
    /// bfloat16.
    BFloat16 = 11, 2, "bfp16";
    /// Signed, 128 bits.
    Int128 = 12, 16, "int128";
    /// HiFloat8.
    HiFloat8 = 14, 1, "hif8";
    /// 8 bits, 4 of them exponent.
    Float8E4M3 = 15, 1, "fp8e4m3";
    /// 8 bits, 5 of them exponent.
    Float8E5M2 = 16, 1, "fp8e5m2";
    /// 8 bits, all of them exponent.
    Float8E8M0 = 17, 1, "fp8e8m0";
}

/// How elements are combined, numbered as in `HcclReduceOp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reduction {
    /// The sum. Integers wrap around.
    Sum = 0,
    /// The product. Integers wrap around.
    Product = 1,
    /// The larger one; NaN if either is.
    Maximum = 2,
    /// The smaller one; NaN if either is.
    Minimum = 3,
}

impl Reduction {
    /// Lists every reduction.
    pub const ALL: [Reduction; 4] = [
        Reduction::Sum,
        Reduction::Product,
        Reduction::Maximum,
        Reduction::Minimum,
    ];

    /// Returns the reduction with this number of `HcclReduceOp`.
    pub fn from_number(number: u32) -> Option<Reduction> {
        Reduction::ALL.into_iter().find(|one| *one as u32 == number)
    }

    /// Returns the name that messages use.
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Product => "prod",
            Reduction::Maximum => "max",
            Reduction::Minimum => "min",
        }
    }
}

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an operation does, named after the function that queues it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// `HcclAllReduce`.
    AllReduce = 1,
    /// `HcclReduce`.
    Reduce = 2,
    /// `HcclReduceScatter`.
    ReduceScatter = 3,
    /// `HcclReduceScatterV`.
    ReduceScatterV = 4,
    /// `HcclBroadcast`.
    Broadcast = 5,
    /// `HcclScatter`.
    Scatter = 6,
    /// `HcclAllGather`.
    AllGather = 7,
    /// `HcclAllGatherV`.
    AllGatherV = 8,
    /// `HcclAlltoAll`.
    AllToAll = 9,
    /// `HcclAlltoAllV`.
    AllToAllV = 10,
    /// `HcclAlltoAllVC`.
    AllToAllVC = 11,
    /// `HcclBarrier`.
    Barrier = 12,
}

impl Kind {
    /// Lists every kind.
    pub const ALL: [Kind; 12] = [
        Kind::AllReduce,
        Kind::Reduce,
        Kind::ReduceScatter,
        Kind::ReduceScatterV,
        Kind::Broadcast,
        Kind::Scatter,
        Kind::AllGather,
        Kind::AllGatherV,
        Kind::AllToAll,
        Kind::AllToAllV,
        Kind::AllToAllVC,
        Kind::Barrier,
    ];

    /// Returns the name of the function that queues it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::AllReduce => "HcclAllReduce",
            Kind::Reduce => "HcclReduce",
            Kind::ReduceScatter => "HcclReduceScatter",
            Kind::ReduceScatterV => "HcclReduceScatterV",
            Kind::Broadcast => "HcclBroadcast",
            Kind::Scatter => "HcclScatter",
            Kind::AllGather => "HcclAllGather",
            Kind::AllGatherV => "HcclAllGatherV",
            Kind::AllToAll => "HcclAlltoAll",
            Kind::AllToAllV => "HcclAlltoAllV",
            Kind::AllToAllVC => "HcclAlltoAllVC",
            Kind::Barrier => "HcclBarrier",
        }
    }

    /// Reports whether elements are combined, as opposed to copied.
    pub const fn reduces(self) -> bool {
        matches!(
            self,
            Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter | Kind::ReduceScatterV
        )
    }

    /// Returns why no product supports the types, `None` if some product does.
    pub fn unsupported(self, of: DataType, by: Option<Reduction>) -> Option<String> {
        use DataType as T;
        let Some(by) = by else {
            return (of == T::Int128)
                .then(|| format!("no product transfers elements of type {}", of.name()));
        };
        let reducible = match of {
            T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Float16 | T::Float32 | T::BFloat16 => {
                true
            }
            T::UInt64 | T::Float64 => self != Kind::ReduceScatterV,
            T::UInt8
            | T::UInt16
            | T::UInt32
            | T::Int128
            | T::HiFloat8
            | T::Float8E4M3
            | T::Float8E5M2
            | T::Float8E8M0 => false,
        };
        let product = by == Reduction::Product && matches!(of, T::Int16 | T::BFloat16);
        (!reducible || product).then(|| {
            format!(
                "no product supports {} of type {} with {}",
                self.name(),
                of.name(),
                by.name()
            )
        })
    }
}
