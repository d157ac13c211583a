//! The types that may lie in device memory.

use jumar_types::dtype::DataType;

/// IEEE binary16, as it lies in memory.
pub type F16 = half::f16;
/// bfloat16, as it lies in memory.
pub type BF16 = half::bf16;

/// A boolean as it lies in memory: 0 is false, anything else is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bool8(pub u8);

impl From<bool> for Bool8 {
    fn from(value: bool) -> Bool8 {
        Bool8(u8::from(value))
    }
}

impl Bool8 {
    /// Returns whether the byte stands for true.
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

/// A type that can be read from and written to tensor memory.
///
/// # Safety
///
/// Every bit pattern of `size_of::<Self>()` bytes is a valid value, and the type has no padding: memory that another
/// program wrote is read as this type.
pub unsafe trait Element: Copy + Default + Send + Sync + 'static {
    /// The data type that this Rust type stands for; `None` for types used only to move bits.
    const DTYPE: Option<DataType>;
    /// Whether bulk loops are worth being built for groups of elements. Every such loop is built for every element
    /// type and every function, so that this decides how long the library takes to compile.
    const GROUPED: bool;
}

macro_rules! elements {
    ($($type:ty => $dtype:expr, $grouped:expr;)*) => {
        $(
            // SAFETY: integers, IEEE numbers and one-field wrappers of them have no padding and no invalid pattern.
            unsafe impl Element for $type {
                const DTYPE: Option<DataType> = $dtype;
                const GROUPED: bool = $grouped;
            }
        )*
    };
}

elements! {
    f32 => Some(DataType::Float32), true;
    F16 => Some(DataType::Float16), false;
    BF16 => Some(DataType::BFloat16), false;
    f64 => Some(DataType::Float64), true;
    i8 => Some(DataType::Int8), false;
    i16 => Some(DataType::Int16), false;
    i32 => Some(DataType::Int32), true;
    i64 => Some(DataType::Int64), true;
    u8 => Some(DataType::UInt8), false;
    u16 => Some(DataType::UInt16), false;
    u32 => Some(DataType::UInt32), false;
    u64 => Some(DataType::UInt64), false;
    u128 => None, false;
    Bool8 => Some(DataType::Bool), false;
}
