//! Element types of ONNX that no kernel computes on: integers of 2 and 4 bits, floating-point types of 4, 6 and 8 bits.
//!
//! A tensor of such a type has one element in a byte: integers as int8 or uint8, floating-point types as codes in uint8. Operators
//! that move elements take the bytes as they are; conversions go through `jumar.Encode` and `jumar.Decode`.

use jumar_types::dtype::DataType;

use crate::minifloat::{Minifloat, Rounding, decode_scale};

macro_rules! storage {
    ($($(#[$doc:meta])* $name:ident = $onnx:literal, $text:literal, $bits:literal;)*) => {
        /// An element type that is stored in bytes; the numbers are those of ONNX's `TensorProto.DataType`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StorageType { $($(#[$doc])* $name = $onnx,)* }

        impl StorageType {
            /// Lists every type.
            pub const ALL: &'static [StorageType] = &[$(StorageType::$name,)*];

            /// Returns the name, as definitions of ONNX spell it.
            pub const fn name(self) -> &'static str {
                match self { $(StorageType::$name => $text,)* }
            }

            /// Returns the width of an element in a file.
            pub const fn bits(self) -> usize {
                match self { $(StorageType::$name => $bits,)* }
            }
        }
    };
}

storage! {
    /// 4 bits of exponent, finite, 8 bits in all.
    Float8E4M3Fn = 17, "float8e4m3fn", 8;
    /// 4 bits of exponent, one zero, 8 bits in all.
    Float8E4M3FnUz = 18, "float8e4m3fnuz", 8;
    /// 5 bits of exponent, 8 bits in all.
    Float8E5M2 = 19, "float8e5m2", 8;
    /// 5 bits of exponent, finite with one zero, 8 bits in all.
    Float8E5M2FnUz = 20, "float8e5m2fnuz", 8;
    /// Unsigned, 4 bits.
    UInt4 = 21, "uint4", 4;
    /// Signed, 4 bits.
    Int4 = 22, "int4", 4;
    /// 2 bits of exponent, 4 bits in all.
    Float4E2M1 = 23, "float4e2m1", 4;
    /// A power of two.
    Float8E8M0 = 24, "float8e8m0", 8;
    /// Unsigned, 2 bits.
    UInt2 = 25, "uint2", 2;
    /// Signed, 2 bits.
    Int2 = 26, "int2", 2;
    /// 2 bits of exponent, 6 bits in all.
    Float6E2M3 = 27, "float6e2m3", 6;
    /// 3 bits of exponent, 6 bits in all.
    Float6E3M2 = 28, "float6e3m2", 6;
}

/// What becomes of numbers beyond a type, and how powers of two are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// Whether they become the largest number, and not infinity or not-a-number.
    pub saturate: bool,
    /// For powers of two alone; everything else goes to the nearest, halves to even.
    pub rounding: Rounding,
}

impl StorageType {
    /// Finds the type with a number of ONNX.
    pub fn of_onnx(number: i64) -> Option<StorageType> {
        StorageType::ALL
            .iter()
            .copied()
            .find(|&own| own as i64 == number)
    }

    /// Returns the number of ONNX.
    pub const fn onnx(self) -> i64 {
        self as i64
    }

    /// Returns the type of the bytes that hold its elements.
    pub const fn dtype(self) -> DataType {
        match self {
            StorageType::Int4 | StorageType::Int2 => DataType::Int8,
            _ => DataType::UInt8,
        }
    }

    /// Returns the type by which ACL knows tensors of it, where that has whole bytes; other tensors are shown as what stores them.
    pub const fn acl(self) -> Option<DataType> {
        match self {
            StorageType::Float8E4M3Fn => Some(DataType::Float8E4M3Fn),
            StorageType::Float8E5M2 => Some(DataType::Float8E5M2),
            StorageType::Float8E8M0 => Some(DataType::Float8E8M0),
            _ => None,
        }
    }

    /// Returns whether its elements are integers.
    pub const fn is_integer(self) -> bool {
        matches!(
            self,
            StorageType::UInt4 | StorageType::Int4 | StorageType::UInt2 | StorageType::Int2
        )
    }

    /// Returns the smallest and the largest integer.
    pub const fn bounds(self) -> Option<(i64, i64)> {
        match self {
            StorageType::UInt4 => Some((0, 15)),
            StorageType::Int4 => Some((-8, 7)),
            StorageType::UInt2 => Some((0, 3)),
            StorageType::Int2 => Some((-2, 1)),
            _ => None,
        }
    }

    /// Returns the byte of an element from its bits in a file.
    pub const fn byte(self, bits: u8) -> u8 {
        match self {
            StorageType::Int4 => ((bits << 4).cast_signed() >> 4).cast_unsigned(),
            StorageType::Int2 => ((bits << 6).cast_signed() >> 6).cast_unsigned(),
            _ => bits,
        }
    }

    /// Keeps the lowest bits of an integer.
    pub(crate) const fn wrap(self, value: i32) -> u8 {
        let mask = ((1u16 << self.bits()) - 1) as u8;
        self.byte(value as u8 & mask)
    }

    const fn float(self) -> Option<Minifloat> {
        Minifloat::of_storage(self)
    }

    const fn has_one_zero(self) -> bool {
        matches!(
            self,
            StorageType::Float8E4M3FnUz | StorageType::Float8E5M2FnUz
        )
    }

    /// Returns the code of a number.
    pub(crate) fn encode(self, value: f32, conversion: Conversion) -> u8 {
        if self == StorageType::Float8E8M0 {
            return scale(value, conversion);
        }
        let Some(float) = self.float() else {
            return 0;
        };
        if self.has_one_zero() {
            if value.is_nan() || !conversion.saturate && is_beyond(value, float) {
                return 0x80;
            }
            return match float.encode(value, Rounding::Even) {
                0x80 => 0,
                code => code,
            };
        }
        let sign = (value.to_bits() >> 31 << 7) as u8;
        match self {
            StorageType::Float8E4M3Fn if !conversion.saturate && is_beyond(value, float) => {
                sign | 0x7f
            }
            StorageType::Float8E5M2 if !conversion.saturate && is_beyond(value, float) => {
                sign | 0x7c
            }
            _ => float.encode(value, Rounding::Even),
        }
    }

    /// Returns the number of a code.
    pub(crate) fn decode(self, code: u8) -> f32 {
        match self {
            StorageType::Float8E8M0 => decode_scale(code),
            _ if self.has_one_zero() && code == 0x80 => f32::NAN,
            _ => self.float().map_or(0.0, |float| float.decode(code)),
        }
    }
}

/// Whether a number lies nearer to what would follow the largest one. Halves go to the even code.
fn is_beyond(value: f32, float: Minifloat) -> bool {
    let half = float.last_step() / 2.0;
    let (magnitude, end) = (value.abs(), float.largest() + half);
    let is_odd = float.encode(float.largest(), Rounding::Even) & 1 == 1;
    magnitude > end || magnitude == end && is_odd
}

/// The code of float8e8m0; the sign does not count.
fn scale(value: f32, conversion: Conversion) -> u8 {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 23 & 0xff) as u8, bits & 0x7f_ffff);
    if exponent == 0xff {
        return 0xff;
    }
    let is_up = match conversion.rounding {
        Rounding::Ceil => fraction > 0,
        Rounding::Floor => false,
        // Halves to even: the smallest number has no odd neighbour below.
        _ => fraction > 0x40_0000 || fraction == 0x40_0000 && exponent > 0,
    };
    match (is_up, exponent) {
        (true, 0xfe) if conversion.saturate => 0xfe,
        (true, _) => exponent + 1,
        (false, _) => exponent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SATURATE: Conversion = Conversion {
        saturate: true,
        rounding: Rounding::Ceil,
    };

    #[test]
    fn every_code_is_the_code_of_its_number() {
        for &storage in StorageType::ALL {
            if storage.is_integer() {
                continue;
            }
            for code in 0..=((1u16 << storage.bits()) - 1) as u8 {
                let value = storage.decode(code);
                if value.is_finite() && storage != StorageType::Float8E8M0 {
                    assert_eq!(storage.encode(value, SATURATE), code, "{storage:?} {value}");
                }
            }
        }
    }

    #[test]
    fn numbers_beyond_the_largest_are_what_the_table_of_onnx_says() {
        let other = Conversion {
            saturate: false,
            ..SATURATE
        };
        let inf = f32::INFINITY;
        for (storage, largest, beyond) in [
            (StorageType::Float8E4M3Fn, 448.0, f32::NAN),
            (StorageType::Float8E4M3FnUz, 240.0, f32::NAN),
            (StorageType::Float8E5M2, 57344.0, inf),
            (StorageType::Float8E5M2FnUz, 57344.0, f32::NAN),
        ] {
            assert_eq!(storage.decode(storage.encode(inf, SATURATE)), largest);
            assert_eq!(storage.decode(storage.encode(-1e9, SATURATE)), -largest);
            let found = storage.decode(storage.encode(1e9, other));
            assert!(found == beyond || found.is_nan() && beyond.is_nan());
            assert_eq!(storage.decode(storage.encode(largest, other)), largest);
            assert!(storage.decode(storage.encode(f32::NAN, SATURATE)).is_nan());
        }
        let zero =
            StorageType::Float8E5M2FnUz.decode(StorageType::Float8E5M2FnUz.encode(-0.0, SATURATE));
        assert!(zero == 0.0 && zero.is_sign_positive());
    }
}
