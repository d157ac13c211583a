//! The elements of a tensor as floats.

use crate::generated::enums;

/// Reads a number of 16 bits: one for the sign, five for the exponent, ten for the rest.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, rest) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => rest * 2f64.powi(-24),
        31 if rest == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + rest) * 2f64.powi(exponent - 25),
    }
}

/// Reads all elements; a type other than float or integer has none.
pub(super) fn values(data_type: i32, bytes: &[u8]) -> Vec<f64> {
    macro_rules! read {
        ($of:ty, $value:expr) => {
            bytes
                .as_chunks::<{ size_of::<$of>() }>()
                .0
                .iter()
                .map(|bytes| $value(<$of>::from_le_bytes(*bytes)))
                .collect()
        };
    }
    match data_type {
        enums::ACL_FLOAT => read!(f32, f64::from),
        enums::ACL_DOUBLE => read!(f64, |value| value),
        enums::ACL_FLOAT16 => read!(u16, half),
        enums::ACL_BF16 => read!(u16, |bits| f64::from(f32::from_bits(u32::from(bits) << 16))),
        enums::ACL_INT8 => read!(i8, f64::from),
        enums::ACL_INT16 => read!(i16, f64::from),
        enums::ACL_INT32 => read!(i32, f64::from),
        enums::ACL_INT64 => read!(i64, |value| value as f64),
        enums::ACL_UINT8 | enums::ACL_BOOL => read!(u8, f64::from),
        enums::ACL_UINT16 => read!(u16, f64::from),
        enums::ACL_UINT32 => read!(u32, f64::from),
        enums::ACL_UINT64 => read!(u64, |value| value as f64),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_read() {
        let known = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f64.powi(-24)),
            (0x0400, 2f64.powi(-14)),
            (0xfc00, f64::NEG_INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half(bits), value, "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
