//! What buffers are made of.

use jumar_types::dtype::DataType;

/// A number type: plain bytes of which every pattern is a value, so that memory which a device wrote can always be read.
///
/// It is implemented for the integers of 8 to 64 bits, `f32`, `f64`, [`f16`](half::f16) and [`bf16`](half::bf16), and cannot be
/// implemented elsewhere.
pub trait Element: sealed::Sealed + bytemuck::Pod + Send + Sync + std::fmt::Debug {
    /// The type's number in the interface.
    const DATA_TYPE: DataType;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($rust:ty = $name:ident;)*) => {
        $(
            impl sealed::Sealed for $rust {}
            impl Element for $rust {
                const DATA_TYPE: DataType = DataType::$name;
            }
        )*
    };
}

elements! {
    f32 = Float32;
    f64 = Float64;
    half::f16 = Float16;
    half::bf16 = BFloat16;
    i8 = Int8;
    i16 = Int16;
    i32 = Int32;
    i64 = Int64;
    u8 = UInt8;
    u16 = UInt16;
    u32 = UInt32;
    u64 = UInt64;
}
