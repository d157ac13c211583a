//! Element types of tensors.

use std::fmt;

macro_rules! data_types {
    ($($(#[$doc:meta])* $name:ident = $acl:literal, $text:literal, $bits:literal, $onnx:expr;)*) => {
        /// The type of one element of a tensor, numbered as `aclDataType` numbers it.
        ///
        /// # Source
        ///
        /// acl_base_rt.h (`aclDataType`); `ge::DataType` uses the same numbers for the types listed here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(i32)]
        pub enum DataType { $($(#[$doc])* $name = $acl,)* }

        impl DataType {
            /// Lists every type, in the order of declaration.
            pub const ALL: &'static [DataType] = &[$(DataType::$name,)*];

            /// Finds the type that `aclDataType` numbers `number`.
            pub const fn from_acl(number: i32) -> Option<DataType> {
                match number { $($acl => Some(DataType::$name),)* _ => None }
            }

            /// Returns the name in lower case, as NumPy and ONNX spell it (`float32`, `bfloat16`).
            pub const fn name(self) -> &'static str {
                match self { $(DataType::$name => $text,)* }
            }

            /// Returns the width of one element in bits; 0 for text.
            pub const fn bits(self) -> usize {
                match self { $(DataType::$name => $bits,)* }
            }

            /// Returns the number that ONNX's `TensorProto.DataType` uses, if it has the type.
            pub const fn onnx(self) -> Option<i32> {
                match self { $(DataType::$name => $onnx,)* }
            }
        }
    };
}

data_types! {
    /// IEEE 754 binary32.
    Float32 = 0, "float32", 32, Some(1);
    /// IEEE 754 binary16.
    Float16 = 1, "float16", 16, Some(10);
    /// Signed, 8 bits.
    Int8 = 2, "int8", 8, Some(3);
    /// Signed, 32 bits.
    Int32 = 3, "int32", 32, Some(6);
    /// Unsigned, 8 bits.
    UInt8 = 4, "uint8", 8, Some(2);
    /// Signed, 16 bits.
    Int16 = 6, "int16", 16, Some(5);
    /// Unsigned, 16 bits.
    UInt16 = 7, "uint16", 16, Some(4);
    /// Unsigned, 32 bits.
    UInt32 = 8, "uint32", 32, Some(12);
    /// Signed, 64 bits.
    Int64 = 9, "int64", 64, Some(7);
    /// Unsigned, 64 bits.
    UInt64 = 10, "uint64", 64, Some(13);
    /// IEEE 754 binary64.
    Float64 = 11, "float64", 64, Some(11);
    /// One byte, 0 or not 0.
    Bool = 12, "bool", 8, Some(9);
    /// Text of any length; no fixed element width.
    String = 13, "string", 0, Some(8);
    /// Two binary32 numbers.
    Complex64 = 16, "complex64", 64, Some(14);
    /// Two binary64 numbers.
    Complex128 = 17, "complex128", 128, Some(15);
    /// The upper half of a binary32.
    BFloat16 = 27, "bfloat16", 16, Some(16);
    /// Signed, 4 bits, two in a byte.
    Int4 = 29, "int4", 4, Some(22);
    /// One bit, eight in a byte.
    UInt1 = 30, "uint1", 1, None;
    /// Two binary16 numbers.
    Complex32 = 33, "complex32", 32, None;
    /// 8-bit floating point with a tapered exponent.
    HiFloat8 = 34, "hifloat8", 8, None;
    /// 8-bit floating point, 5 bits of exponent.
    Float8E5M2 = 35, "float8_e5m2", 8, Some(19);
    /// 8-bit floating point, 4 bits of exponent, finite.
    Float8E4M3Fn = 36, "float8_e4m3fn", 8, Some(17);
    /// 8-bit power of two, used as a scale.
    Float8E8M0 = 37, "float8_e8m0", 8, Some(24);
    /// 6-bit floating point, 3 bits of exponent.
    Float6E3M2 = 38, "float6_e3m2", 6, None;
    /// 6-bit floating point, 2 bits of exponent.
    Float6E2M3 = 39, "float6_e2m3", 6, None;
    /// 4-bit floating point, 2 bits of exponent.
    Float4E2M1 = 40, "float4_e2m1", 4, Some(23);
    /// 4-bit floating point, 1 bit of exponent.
    Float4E1M2 = 41, "float4_e1m2", 4, None;
}

impl DataType {
    /// Returns the number that `aclDataType` uses.
    pub const fn acl(self) -> i32 {
        self as i32
    }

    /// Finds the type that ONNX's `TensorProto.DataType` numbers `number`.
    pub fn from_onnx(number: i32) -> Option<DataType> {
        DataType::ALL
            .iter()
            .copied()
            .find(|dtype| dtype.onnx() == Some(number))
    }

    /// Finds a type by its name (`float32`), whatever the case.
    pub fn from_name(name: &str) -> Option<DataType> {
        DataType::ALL
            .iter()
            .copied()
            .find(|dtype| dtype.name().eq_ignore_ascii_case(name))
    }

    /// Returns the size of one element, for types whose elements fill whole bytes.
    ///
    /// # Units
    ///
    /// Bytes. `None` for text and for elements narrower than a byte.
    pub const fn size(self) -> Option<usize> {
        match self.bits() {
            8 => Some(1),
            16 => Some(2),
            32 => Some(4),
            64 => Some(8),
            128 => Some(16),
            _ => None,
        }
    }

    /// Returns the size of `count` elements that lie densely packed.
    ///
    /// # Units
    ///
    /// Bytes, rounded up. `None` for text and where the number does not fit a `usize`.
    pub fn size_of(self, count: usize) -> Option<usize> {
        match self.bits() {
            0 => None,
            bits => count.checked_mul(bits).map(|total| total.div_ceil(8)),
        }
    }

    /// Returns the number that `aclDataTypeSize` answers for this type.
    ///
    /// # Units
    ///
    /// Bytes. Elements narrower than a byte answer 1 when they are integers and 8 when they are floating point, and
    /// text answers 0, as the card's library does.
    pub const fn acl_size(self) -> usize {
        match self {
            DataType::Int4 | DataType::UInt1 => 1,
            DataType::String => 0,
            DataType::Complex32 => 4,
            DataType::HiFloat8
            | DataType::Float8E5M2
            | DataType::Float8E4M3Fn
            | DataType::Float8E8M0
            | DataType::Float6E3M2
            | DataType::Float6E2M3
            | DataType::Float4E2M1
            | DataType::Float4E1M2 => 8,
            other => other.bits() / 8,
        }
    }

    /// Returns whether the type is a real floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            DataType::Float32 | DataType::Float16 | DataType::BFloat16 | DataType::Float64
        )
    }

    /// Returns whether the type is an integer of 8 to 64 bits.
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            DataType::Int8
                | DataType::Int16
                | DataType::Int32
                | DataType::Int64
                | DataType::UInt8
                | DataType::UInt16
                | DataType::UInt32
                | DataType::UInt64
        )
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_onnx_numbers_lead_back_to_the_type() {
        for &dtype in DataType::ALL {
            assert_eq!(DataType::from_acl(dtype.acl()), Some(dtype));
            assert_eq!(DataType::from_name(dtype.name()), Some(dtype));
            if let Some(number) = dtype.onnx() {
                assert_eq!(DataType::from_onnx(number), Some(dtype));
            }
        }
        assert_eq!(DataType::from_acl(-1), None);
        assert_eq!(DataType::from_acl(5), None);
        assert_eq!(DataType::from_onnx(0), None);
    }

    #[test]
    fn sizes_are_in_full_bytes_and_refuse_overflow() {
        assert_eq!(DataType::Float32.size(), Some(4));
        assert_eq!(DataType::String.size(), None);
        assert_eq!(DataType::Int4.size_of(3), Some(2));
        assert_eq!(DataType::Float64.size_of(usize::MAX), None);
    }

    #[test]
    fn acl_sizes_are_those_of_the_header() {
        // runtime behaviour, section 15: aclDataTypeSize.
        for (dtype, bytes) in [
            (DataType::UInt1, 1),
            (DataType::Int4, 1),
            (DataType::Bool, 1),
            (DataType::BFloat16, 2),
            (DataType::Complex32, 4),
            (DataType::Complex64, 8),
            (DataType::Complex128, 16),
            (DataType::String, 0),
            (DataType::Float8E5M2, 8),
        ] {
            assert_eq!(dtype.acl_size(), bytes, "{dtype}");
        }
    }
}
