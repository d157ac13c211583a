//! Floating-point types of 4 and 8 bits: float8_e4m3fn, float8_e5m2, hifloat8, float4_e2m1, float4_e1m2, and powers of two
//! (float8_e8m0).
//!
//! Elements are exchanged as codes: the bits of an element in the low bits of a byte. Every value is a float32, so that decoding
//! is exact. Encoding rounds once and saturates: what is larger than the largest finite value, infinities included, becomes
//! that value. Not-a-number stays what it is in types that have it, and becomes 0 in the others.

use jumar_types::dtype::DataType;

use crate::StorageType;

/// How a number becomes one that a type can represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, halves to even.
    Even,
    /// To the nearest, halves away from zero.
    Away,
    /// Towards negative infinity.
    Floor,
    /// Towards infinity.
    Ceil,
    /// Towards zero.
    Truncate,
}

impl Rounding {
    /// Rounds to an integer.
    #[inline(always)]
    pub fn apply(self, value: f32) -> f32 {
        match self {
            Rounding::Even => value.round_ties_even(),
            Rounding::Away => value.round(),
            Rounding::Floor => value.floor(),
            Rounding::Ceil => value.ceil(),
            Rounding::Truncate => value.trunc(),
        }
    }
}

/// A floating-point type of 4 or 8 bits with a sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minifloat {
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A sign, an exponent and a mantissa of a fixed width each.
    Fixed {
        bits: u32,
        mantissa: i32,
        /// The exponent of the smallest normal number.
        least: i32,
        largest: f32,
        nan: Option<u8>,
    },
    /// The width of the mantissa shrinks with the magnitude of the exponent.
    Tapered,
}

impl Minifloat {
    /// Returns the description of a type. `None` for types without a sign, and for all others.
    pub const fn of(dtype: DataType) -> Option<Minifloat> {
        let (bits, mantissa, least, largest, nan) = match dtype {
            DataType::Float8E4M3Fn => (8, 3, -6, 448.0, Some(0x7f)),
            DataType::Float8E5M2 => (8, 2, -14, 57344.0, Some(0x7e)),
            DataType::Float4E2M1 => (4, 1, 0, 6.0, None),
            DataType::Float4E1M2 => (4, 2, 0, 1.75, None),
            DataType::HiFloat8 => {
                return Some(Minifloat {
                    kind: Kind::Tapered,
                });
            }
            _ => return None,
        };
        let kind = Kind::Fixed {
            bits,
            mantissa,
            least,
            largest,
            nan,
        };
        Some(Minifloat { kind })
    }

    /// Returns the description of a type of ONNX. `None` for integers and for types without a sign. Types with a single zero have
    /// their not-a-number where this has the negative zero.
    pub(crate) const fn of_storage(storage: StorageType) -> Option<Minifloat> {
        let (bits, mantissa, least, largest) = match storage {
            StorageType::Float8E4M3Fn => return Minifloat::of(DataType::Float8E4M3Fn),
            StorageType::Float8E5M2 => return Minifloat::of(DataType::Float8E5M2),
            StorageType::Float4E2M1 => return Minifloat::of(DataType::Float4E2M1),
            StorageType::Float8E4M3FnUz => (8, 3, -7, 240.0),
            StorageType::Float8E5M2FnUz => (8, 2, -15, 57344.0),
            StorageType::Float6E2M3 => (6, 3, 0, 7.5),
            StorageType::Float6E3M2 => (6, 2, -2, 28.0),
            _ => return None,
        };
        let kind = Kind::Fixed {
            bits,
            mantissa,
            least,
            largest,
            nan: None,
        };
        Some(Minifloat { kind })
    }

    /// Returns the distance of the largest finite value from the one before it.
    pub(crate) fn last_step(self) -> f32 {
        let mantissa = match self.kind {
            Kind::Fixed { mantissa, .. } => mantissa,
            Kind::Tapered => 1,
        };
        power(self.largest_exponent() - mantissa)
    }

    /// Returns the largest finite value.
    #[inline(always)]
    pub fn largest(self) -> f32 {
        match self.kind {
            Kind::Fixed { largest, .. } => largest,
            Kind::Tapered => 32768.0,
        }
    }

    /// Returns the exponent of the largest finite value.
    pub fn largest_exponent(self) -> i32 {
        exponent(self.largest())
    }

    /// Returns the code of a number.
    #[inline(always)]
    pub fn encode(self, value: f32, rounding: Rounding) -> u8 {
        match self.kind {
            Kind::Fixed {
                bits,
                mantissa,
                least,
                largest,
                nan,
            } => {
                if value.is_nan() {
                    return nan.unwrap_or(0);
                }
                let magnitude = value.abs().min(largest);
                let own = exponent(magnitude).max(least);
                let steps = rounded(magnitude * power(mantissa - own), value, rounding);
                // The codes of one sign are in the order of their values, and a normal number has its leading bit in `steps`.
                let code = ((own - least) << mantissa) + steps as i32;
                let sign = (value.to_bits() >> 31) << (bits - 1);
                code as u8 | sign as u8
            }
            Kind::Tapered => encode_tapered(value, rounding),
        }
    }

    /// Returns the value of a code.
    pub fn decode(self, code: u8) -> f32 {
        match self.kind {
            Kind::Fixed {
                bits,
                mantissa,
                least,
                largest,
                ..
            } => {
                let own = i32::from(code) & ((1 << (bits - 1)) - 1);
                let negative = code >> (bits - 1) & 1 == 1;
                let (field, steps) = (own >> mantissa, own & ((1 << mantissa) - 1));
                let value = match field {
                    0 => steps as f32 * power(least - mantissa),
                    _ => (steps | 1 << mantissa) as f32 * power(least + field - 1 - mantissa),
                };
                // What is beyond the largest value is infinity in the first code of float8_e5m2, and not-a-number otherwise.
                let value = match value > largest {
                    true if steps == 0 && mantissa == 2 => f32::INFINITY,
                    true => f32::NAN,
                    false => value,
                };
                if negative { -value } else { value }
            }
            Kind::Tapered => decode_tapered(code),
        }
    }
}

/// Returns the exponent of a positive number: `floor(log2(value))`. Of numbers below the smallest normal one, -127.
#[inline(always)]
fn exponent(value: f32) -> i32 {
    (value.to_bits() >> 23) as i32 - 127
}

/// Returns a power of two that is a normal float32.
#[inline(always)]
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Rounds a magnitude as the number of its sign is rounded.
#[inline(always)]
fn rounded(magnitude: f32, signed: f32, rounding: Rounding) -> f32 {
    match (rounding, signed.is_sign_negative()) {
        (Rounding::Floor, true) => magnitude.ceil(),
        (Rounding::Ceil, true) => magnitude.floor(),
        (rounding, _) => rounding.apply(magnitude),
    }
}

/// The code of hifloat8 that is not-a-number; as a pattern it would be the negative zero.
const TAPERED_NAN: u8 = 0x80;

/// The bits of the mantissa beside an exponent.
#[inline(always)]
fn tapered_mantissa(exponent: i32) -> i32 {
    match exponent.abs() {
        0..=3 => 3,
        4..=7 => 2,
        _ => 1,
    }
}

/// Exponents from -15 to 15 have a mantissa; those from -22 to -16 are powers of two alone.
#[inline(always)]
fn encode_tapered(value: f32, rounding: Rounding) -> u8 {
    if value.is_nan() {
        return TAPERED_NAN;
    }
    let magnitude = value.abs().min(32768.0);
    let sign = (value.to_bits() >> 31 << 7) as u8;
    let own = exponent(magnitude).max(-22);
    if own < -15 {
        let steps = rounded(magnitude * power(-own), value, rounding) as i32;
        // Rounding up leads to the next power of two: 2^-15 has a code with a mantissa.
        return match (steps, own + steps - 1) {
            (0, _) => 0,
            (_, -15) => sign | tapered_code(-15, 0),
            (_, exponent) => sign | (exponent + 23) as u8,
        };
    }
    let mantissa = tapered_mantissa(own);
    let steps = rounded(magnitude * power(mantissa - own), value, rounding) as i32;
    match steps >> (mantissa + 1) {
        0 => sign | tapered_code(own, steps - (1 << mantissa)),
        _ => sign | tapered_code((own + 1).min(15), 0),
    }
}

/// Returns the code of a positive number by its exponent from -15 to 15 and its mantissa.
///
/// Behind the sign, a prefix says how wide the exponent is: 0001 (0 bits), 001 (1), 01 (2), 10 (3), 11 (4). The exponent is a
/// sign and a magnitude whose leading 1 is not stored.
#[inline(always)]
fn tapered_code(exponent: i32, mantissa: i32) -> u8 {
    let magnitude = exponent.abs();
    let (prefix, width, stored) = match magnitude {
        0 => (0b0001 << 3, 0, 3),
        1 => (0b001 << 4, 1, 3),
        2..=3 => (0b01 << 5, 2, 3),
        4..=7 => (0b10 << 5, 3, 2),
        _ => (0b11 << 5, 4, 1),
    };
    if width == 0 {
        return (prefix | mantissa) as u8;
    }
    let negative = i32::from(exponent < 0);
    let field = negative << (width - 1) | (magnitude & ((1 << (width - 1)) - 1));
    (prefix | field << stored | mantissa) as u8
}

fn decode_tapered(code: u8) -> f32 {
    let own = i32::from(code & 0x7f);
    let (width, stored) = match own >> 3 {
        0 => {
            let value = match own & 7 {
                0 if code == TAPERED_NAN => return f32::NAN,
                0 => return 0.0,
                steps => power(steps - 23),
            };
            return if code >> 7 == 1 { -value } else { value };
        }
        1 => (0, 3),
        2 | 3 => (1, 3),
        4..=7 => (2, 3),
        8..=11 => (3, 2),
        _ => (4, 1),
    };
    let steps = (own & ((1 << stored) - 1)) | 1 << stored;
    let field = own >> stored & ((1 << width) - 1);
    let exponent = match width {
        0 => 0,
        _ => {
            let leading = 1 << (width - 1);
            let magnitude = field & (leading - 1) | leading;
            if field & leading == 0 {
                magnitude
            } else {
                -magnitude
            }
        }
    };
    let value = match (exponent, steps) {
        (15, 3) => f32::INFINITY,
        _ => steps as f32 * power(exponent - stored),
    };
    if code >> 7 == 1 { -value } else { value }
}

/// Returns the value of a code of float8_e8m0: a power of two, or not-a-number.
#[inline(always)]
pub fn decode_scale(code: u8) -> f32 {
    match code {
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        code => f32::from_bits(u32::from(code) << 23),
    }
}

/// Returns the largest power of two that is at most `value / 2^less`, as a code of float8_e8m0. Of 0 it is the smallest code.
#[inline(always)]
pub fn scale_below(value: f32, less: i32) -> u8 {
    // Below the smallest normal number the quotient is smaller than any scale.
    (exponent(value) + 127 - less).clamp(0, 254) as u8
}

/// Returns the smallest power of two that is at least a value, as a code of float8_e8m0.
///
/// `nearest` says that values below the smallest normal float32 go to the nearer code; otherwise all of them are the smallest code.
#[inline(always)]
pub fn scale_above(value: f32, nearest: bool) -> u8 {
    let (field, mantissa) = (value.to_bits() >> 23 & 0xff, value.to_bits() & 0x7f_ffff);
    let up = match field {
        0 => nearest && mantissa > 0x40_0000,
        _ => field < 254 && mantissa > 0,
    };
    (field + u32::from(up)).min(254) as u8
}

/// Returns the factor that divides by the power of two of a code.
#[inline(always)]
pub fn inverse_scale(code: u8) -> f32 {
    match code {
        254 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        code => power(127 - i32::from(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [DataType; 5] = [
        DataType::Float8E4M3Fn,
        DataType::Float8E5M2,
        DataType::HiFloat8,
        DataType::Float4E2M1,
        DataType::Float4E1M2,
    ];

    fn codes(dtype: DataType) -> std::ops::Range<u16> {
        0..1 << dtype.bits()
    }

    /// The values of a type from its definition, in float64, by reading the fields of the code bit by bit.
    fn defined(dtype: DataType, code: u16) -> f64 {
        let bits = dtype.bits() as u32;
        let sign = if code >> (bits - 1) & 1 == 1 {
            -1.0
        } else {
            1.0
        };
        let field = |high: u32, low: u32| f64::from(code >> low & ((1 << (high - low + 1)) - 1));
        match dtype {
            DataType::Float8E4M3Fn => match (field(6, 3), field(2, 0)) {
                (15.0, 7.0) => f64::NAN,
                (0.0, m) => sign * m / 8.0 * 2f64.powi(-6),
                (e, m) => sign * (1.0 + m / 8.0) * 2f64.powf(e - 7.0),
            },
            DataType::Float8E5M2 => match (field(6, 2), field(1, 0)) {
                (31.0, 0.0) => sign * f64::INFINITY,
                (31.0, _) => f64::NAN,
                (0.0, m) => sign * m / 4.0 * 2f64.powi(-14),
                (e, m) => sign * (1.0 + m / 4.0) * 2f64.powf(e - 15.0),
            },
            DataType::Float4E2M1 => match (field(2, 1), field(0, 0)) {
                (0.0, m) => sign * m / 2.0,
                (e, m) => sign * (1.0 + m / 2.0) * 2f64.powf(e - 1.0),
            },
            DataType::Float4E1M2 => match (field(2, 2), field(1, 0)) {
                (0.0, m) => sign * m / 4.0,
                (_, m) => sign * (1.0 + m / 4.0),
            },
            _ => {
                if code == 0 {
                    return 0.0;
                }
                if code == 0x80 {
                    return f64::NAN;
                }
                let text: Vec<u8> = (0..7).rev().map(|at| (code >> at & 1) as u8).collect();
                let number = |bits: &[u8]| {
                    bits.iter()
                        .fold(0.0, |all, &bit| all * 2.0 + f64::from(bit))
                };
                let (prefix, width) = match text[..] {
                    [1, 1, ..] => (2, 4),
                    [1, 0, ..] => (2, 3),
                    [0, 1, ..] => (2, 2),
                    [0, 0, 1, ..] => (3, 1),
                    [0, 0, 0, 1, ..] => (4, 0),
                    _ => return sign * 2f64.powf(number(&text[4..]) - 23.0),
                };
                let (exponent, mantissa) = text[prefix..].split_at(width);
                let power = match exponent {
                    [] => 0.0,
                    [negative, rest @ ..] => {
                        let magnitude = number(rest) + 2f64.powi(width as i32 - 1);
                        if *negative == 1 {
                            -magnitude
                        } else {
                            magnitude
                        }
                    }
                };
                if power == 15.0 && mantissa == [1] {
                    return sign * f64::INFINITY;
                }
                let step = 2f64.powi(-(mantissa.len() as i32));
                sign * (1.0 + number(mantissa) * step) * 2f64.powf(power)
            }
        }
    }

    #[test]
    fn codes_have_the_values_of_their_definition() {
        for dtype in TYPES {
            let own = Minifloat::of(dtype).unwrap();
            let mut largest: f64 = 0.0;
            for code in codes(dtype) {
                let (found, wanted) = (f64::from(own.decode(code as u8)), defined(dtype, code));
                assert!(
                    found == wanted || found.is_nan() && wanted.is_nan(),
                    "{dtype} {code:#x}: {found}, not {wanted}"
                );
                if wanted.is_finite() {
                    largest = largest.max(wanted);
                }
            }
            assert_eq!(f64::from(own.largest()), largest, "{dtype}");
        }
        assert_eq!(Minifloat::of(DataType::Float8E8M0), None);
        for code in 0..=255u8 {
            let value = decode_scale(code);
            match code {
                255 => assert!(value.is_nan()),
                _ => assert_eq!(f64::from(value), 2f64.powi(i32::from(code) - 127)),
            }
            if code < 255 {
                assert_eq!(f64::from(inverse_scale(code)) * f64::from(value), 1.0);
            }
        }
    }

    /// The value that a number rounds to, by looking at all values of the type.
    fn nearest(dtype: DataType, value: f64, rounding: Rounding) -> f64 {
        let mut values: Vec<(f64, u16)> = codes(dtype)
            .map(|code| (defined(dtype, code), code))
            .filter(|(own, _)| own.is_finite())
            .collect();
        values.sort_by(|one, two| one.0.total_cmp(&two.0));
        let least = values[0].0;
        let value = value.clamp(least, -least);
        let below = values.iter().rev().find(|(own, _)| *own <= value).unwrap();
        let above = values.iter().find(|(own, _)| *own >= value).unwrap();
        let (down, up) = (value - below.0, above.0 - value);
        match rounding {
            Rounding::Floor => below.0,
            Rounding::Ceil => above.0,
            Rounding::Truncate if value > 0.0 => below.0,
            Rounding::Truncate => above.0,
            _ if down < up => below.0,
            _ if up < down => above.0,
            Rounding::Away if value > 0.0 => above.0,
            Rounding::Away => below.0,
            // The codes of one sign count up with the magnitude: the even code has the even mantissa.
            Rounding::Even if below.1 & 1 == 0 => below.0,
            Rounding::Even => above.0,
        }
    }

    #[test]
    fn numbers_round_to_what_a_search_of_all_values_finds() {
        use Rounding::*;
        for dtype in TYPES {
            let own = Minifloat::of(dtype).unwrap();
            // Halves to even are not defined for hifloat8, whose neighbours have mantissas of different widths.
            let modes: &[Rounding] = match dtype {
                DataType::HiFloat8 => &[Away, Floor, Ceil, Truncate],
                _ => &[Even, Away, Floor, Ceil, Truncate],
            };
            let mut numbers = vec![0.0, 1e-30, 3e-8, 1e9, f64::INFINITY];
            let mut values: Vec<f64> = codes(dtype)
                .map(|code| defined(dtype, code))
                .filter(|own| own.is_finite() && *own >= 0.0)
                .collect();
            values.sort_by(f64::total_cmp);
            for pair in values.windows(2) {
                let (low, high) = (pair[0], pair[1]);
                let middle = (low + high) / 2.0;
                let near = (high - low) / 1024.0;
                numbers.extend([
                    low,
                    low + near,
                    middle - near,
                    middle,
                    middle + near,
                    high - near,
                ]);
            }
            for number in numbers {
                for value in [number, -number] {
                    for &mode in modes {
                        let found = own.decode(own.encode(value as f32, mode));
                        let wanted = nearest(dtype, f64::from(value as f32), mode);
                        assert_eq!(f64::from(found), wanted, "{dtype} {mode:?} {value}");
                    }
                }
            }
            for code in codes(dtype) {
                let value = own.decode(code as u8);
                if value.is_finite() {
                    assert_eq!(u16::from(own.encode(value, modes[0])), code, "{dtype}");
                }
            }
            let nan = own.decode(own.encode(f32::NAN, modes[0]));
            assert!(nan.is_nan() || dtype.bits() == 4 && nan == 0.0, "{dtype}");
        }
    }

    #[test]
    fn scales_are_the_powers_of_two_below_and_above() {
        for exponent in -130..128 {
            for factor in [1.0, 1.25, 1.5, 1.999] {
                let value = (2f64.powi(exponent) * factor) as f32;
                let wide = f64::from(value);
                for less in [0, 2, 8, 15] {
                    let wanted = (wide.log2().floor() as i32 - less + 127).clamp(0, 254);
                    assert_eq!(i32::from(scale_below(value, less)), wanted, "{value}");
                }
                let above = f64::from(decode_scale(scale_above(value, false)));
                if value >= f32::MIN_POSITIVE && exponent < 127 {
                    assert!(above >= wide && above < 2.0 * wide, "{value} {above}");
                }
            }
        }
        assert_eq!(scale_above(2f32.powi(-127), true), 0);
        assert_eq!(scale_above(2f32.powi(-127) * 1.5, true), 1);
        assert_eq!(scale_above(2f32.powi(-127) * 1.5, false), 0);
        assert_eq!((scale_below(0.0, 8), scale_above(0.0, true)), (0, 0));
    }
}
