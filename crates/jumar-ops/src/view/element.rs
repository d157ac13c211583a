//! The types that may lie in device memory.

use jumar_types::dtype::DataType;

/// IEEE binary16, as it lies in memory.
pub type F16 = half::f16;
/// bfloat16, as it lies in memory.
pub type BF16 = half::bf16;

/// A truth value as it lies in memory: 0 is false, anything else is true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bool8(pub u8);

impl From<bool> for Bool8 {
    fn from(value: bool) -> Bool8 {
        Bool8(u8::from(value))
    }
}

impl Bool8 {
    /// Tells whether the byte stands for true.
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
}

macro_rules! elements {
    ($($type:ty => $dtype:expr,)*) => {
        $(
            // SAFETY: integers, IEEE numbers and one-field wrappers of them have no padding and no invalid pattern.
            unsafe impl Element for $type {
                const DTYPE: Option<DataType> = $dtype;
            }
        )*
    };
}

elements! {
    f32 => Some(DataType::Float32),
    F16 => Some(DataType::Float16),
    BF16 => Some(DataType::BFloat16),
    f64 => Some(DataType::Float64),
    i8 => Some(DataType::Int8),
    i16 => Some(DataType::Int16),
    i32 => Some(DataType::Int32),
    i64 => Some(DataType::Int64),
    u8 => Some(DataType::UInt8),
    u16 => Some(DataType::UInt16),
    u32 => Some(DataType::UInt32),
    u64 => Some(DataType::UInt64),
    u128 => None,
    Bool8 => Some(DataType::Bool),
}
