//! Structures with the layout of their C namesakes, each defined by one row.
//!
//! The numbers of a row were read from the interface data; the compiler refuses a row whose structure lies otherwise in memory.

use crate::Raw;

/// A type whose value of zero bytes is a constant.
pub(crate) trait Zero: Sized {
    /// All bytes zero.
    const ZERO: Self;
}

macro_rules! zero {
    ($($of:ty = $zero:expr),*) => {
        $(impl Zero for $of {
            const ZERO: Self = $zero;
        })*
    };
}
zero!(
    u8 = 0,
    i8 = 0,
    u16 = 0,
    i16 = 0,
    u32 = 0,
    i32 = 0,
    u64 = 0,
    i64 = 0,
    usize = 0,
    f32 = 0.0,
    f64 = 0.0,
    Raw = Raw(0)
);

impl<T: Zero, const N: usize> Zero for [T; N] {
    const ZERO: Self = [T::ZERO; N];
}

/// Defines a C structure: name, size and alignment in bytes; then for each field its offset, name and type.
macro_rules! c_struct {
    ($name:ident $size:literal $align:literal; $($offset:literal $field:ident: $of:ty),*) => {
        #[doc = concat!("C struct `", stringify!($name), "`.")]
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(#[doc = concat!("Field `", stringify!($field), "`.")]
            pub $field: $of,)*
        }

        impl $name {
            /// All bytes zero.
            pub const ZERO: Self = Self { $($field: <$of as $crate::c_layout::Zero>::ZERO),* };
        }

        impl $crate::c_layout::Zero for $name {
            const ZERO: Self = Self::ZERO;
        }

        const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == $align);
            $(assert!(std::mem::offset_of!($name, $field) == $offset);)*
        };
    };
}
pub(crate) use c_struct;

/// Defines a C union as bytes: name, size and alignment in bytes; then for each number in it the names of its reader and its
/// writer, and the type.
macro_rules! c_union {
    ($name:ident $size:literal $align:literal; $($get:ident $set:ident: $of:ty),*) => {
        #[doc = concat!("C union `", stringify!($name), "`, as bytes.")]
        #[repr(C, align($align))]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            /// The bytes that the members share.
            pub bytes: [u8; $size],
        }

        impl $name {
            /// All bytes zero.
            pub const ZERO: Self = Self { bytes: [0; $size] };

            $(#[doc = concat!("Reads the member `", stringify!($get), "`.")]
            pub fn $get(&self) -> $of {
                let mut bytes = [0; size_of::<$of>()];
                bytes.copy_from_slice(&self.bytes[..size_of::<$of>()]);
                <$of>::from_ne_bytes(bytes)
            }

            #[doc = concat!("Writes the member `", stringify!($get), "`.")]
            pub fn $set(&mut self, value: $of) {
                self.bytes[..size_of::<$of>()].copy_from_slice(&value.to_ne_bytes());
            })*
        }

        impl $crate::c_layout::Zero for $name {
            const ZERO: Self = Self::ZERO;
        }

        const _: () = assert!(size_of::<$name>() == $size && align_of::<$name>() == $align);
    };
}
pub(crate) use c_union;
