//! Half-precision numbers and the sizes of data types, with the interface's own peculiarities.

use jumar_types::Result;

use crate::Cx;

/// Largest finite half: what overflow, infinities and NaN become.
const LARGEST_HALF: u16 = 0x7BFF;

/// Converts to half precision: to the nearest, ties to even; everything that does not fit, infinities and NaN included,
/// saturates to ±65504.
pub fn aclFloatToFloat16(_cx: &Cx<'_>, value: f32) -> Result<u16> {
    Ok(float_to_half(value))
}

fn float_to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7FFF_FFFF;
    // From halfway above the largest half on (NaN and infinity are larger still) the value saturates.
    if magnitude >= 0x477F_F000 {
        return sign | LARGEST_HALF;
    }
    // Smallest normal half is 2^-14.
    if magnitude >= 0x3880_0000 {
        let rebased = magnitude - (112 << 23);
        return sign | round_shift(rebased, 13) as u16;
    }
    // Subnormal: value = mantissa * 2^(exponent - 150), in units of 2^-24.
    let exponent = magnitude >> 23;
    let mantissa = (magnitude & 0x007F_FFFF) | 0x0080_0000;
    let shift = 126 - exponent.max(1);
    if shift > 25 {
        return sign;
    }
    sign | round_shift(mantissa, shift) as u16
}

/// Shifts right, to the nearest, ties to even.
fn round_shift(value: u32, shift: u32) -> u32 {
    let kept = value >> shift;
    let lost = value & ((1 << shift) - 1);
    let half = 1 << (shift - 1);
    kept + u32::from(lost > half || (lost == half && kept & 1 == 1))
}

/// Converts from half precision. Exponent 31 is an ordinary exponent here, so that no infinity and no NaN comes out.
pub fn aclFloat16ToFloat(_cx: &Cx<'_>, value: u16) -> Result<f32> {
    Ok(half_to_float(value))
}

fn half_to_float(value: u16) -> f32 {
    let sign = if value & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(value >> 10 & 0x1F);
    let mantissa = f32::from(value & 0x3FF);
    let magnitude = match exponent {
        0 => mantissa * 2f32.powi(-24),
        _ => (1.0 + mantissa / 1024.0) * 2f32.powi(exponent - 15),
    };
    sign * magnitude
}

/// Returns the bytes of one element. Unknown types count 8, packed ones at least 1.
pub fn aclDataTypeSize(_cx: &Cx<'_>, data_type: i32) -> Result<usize> {
    Ok(size_of_type(data_type))
}

pub(crate) fn size_of_type(data_type: i32) -> usize {
    match data_type {
        // int8, uint8, bool; int4 and uint1, which are packed
        2 | 4 | 12 | 29 | 30 => 1,
        // hifloat8 and the 8-bit floats
        34..=37 => 1,
        // float16, int16, uint16, bfloat16
        1 | 6 | 7 | 27 => 2,
        // float, int32, uint32, complex32
        0 | 3 | 8 | 33 => 4,
        // complex128
        17 => 16,
        // undefined, string
        -1 | 13 => 0,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_survives_the_round_trip() {
        for bits in (0..=LARGEST_HALF).chain(0x8000..=0x8000 | LARGEST_HALF) {
            assert_eq!(float_to_half(half_to_float(bits)), bits, "{bits:#06x}");
        }
    }

    #[test]
    fn what_does_not_fit_saturates() {
        assert_eq!(float_to_half(f32::NAN) & 0x7FFF, LARGEST_HALF);
        assert_eq!(float_to_half(f32::INFINITY), LARGEST_HALF);
        assert_eq!(float_to_half(f32::NEG_INFINITY), 0x8000 | LARGEST_HALF);
        assert_eq!(float_to_half(65519.0), LARGEST_HALF);
        assert_eq!(float_to_half(65520.0), LARGEST_HALF);
    }

    #[test]
    fn halfway_to_the_smallest_subnormal_is_zero_and_more_is_not() {
        let half_step = 2f32.powi(-25);
        assert_eq!(float_to_half(half_step), 0);
        assert_eq!(float_to_half(half_step * 1.000_001), 1);
        assert_eq!(float_to_half(-half_step), 0x8000);
    }

    #[test]
    fn infinity_is_an_ordinary_number_on_the_way_back() {
        assert_eq!(half_to_float(0x7C00), 65536.0);
        assert_eq!(half_to_float(0xFC00), -65536.0);
        assert_eq!(half_to_float(0x7E00), 98304.0);
    }
}
