//! What operations have to give, element by element and in the simplest way.

use half::{bf16, f16};
use jumar_hccl::{DataType, Reduction};

use crate::harness::Random;

/// Elements of a type: small and large numbers, and for floats infinities and NaN now and then.
pub fn elements(of: DataType, count: usize, random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(count * of.bytes());
    for _ in 0..count {
        let rare = random.below(40);
        let value = match rare {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -0.0,
            _ => (random.below(20_001) as f64 - 10_000.0) / 64.0,
        };
        match of {
            DataType::Float16 => bytes.extend(f16::from_f64(value).to_le_bytes()),
            DataType::BFloat16 => bytes.extend(bf16::from_f64(value).to_le_bytes()),
            DataType::Float32 => bytes.extend((value as f32).to_le_bytes()),
            DataType::Float64 => bytes.extend(value.to_le_bytes()),
            _ => {
                let word = u128::from(random.next()) << 64 | u128::from(random.next());
                bytes.extend(&word.to_le_bytes()[..of.bytes()]);
            }
        }
    }
    bytes
}

/// Combines the inputs in their order: floats of 16 bits in float32, rounded once; integers modulo their width.
pub fn combined(of: DataType, by: Reduction, inputs: &[&[u8]]) -> Vec<u8> {
    let size = of.bytes();
    let count = inputs[0].len() / size;
    let mut result = Vec::with_capacity(count * size);
    for at in 0..count {
        let each = inputs
            .iter()
            .map(|input| &input[at * size..(at + 1) * size]);
        match of {
            DataType::Float16 => {
                let each = each.map(|x| f16::from_le_bytes([x[0], x[1]]).to_f32());
                result.extend(f16::from_f32(floats(by, each)).to_le_bytes());
            }
            DataType::BFloat16 => {
                let each = each.map(|x| bf16::from_le_bytes([x[0], x[1]]).to_f32());
                result.extend(bf16::from_f32(floats(by, each)).to_le_bytes());
            }
            DataType::Float32 => {
                let each = each.map(|x| f32::from_le_bytes(x.try_into().expect("4 bytes")));
                result.extend(floats(by, each).to_le_bytes());
            }
            DataType::Float64 => {
                let each = each.map(|x| f64::from_le_bytes(x.try_into().expect("8 bytes")));
                let number = each.reduce(|a, b| match by {
                    Reduction::Sum => a + b,
                    Reduction::Product => a * b,
                    _ if a.is_nan() || b.is_nan() => f64::NAN,
                    Reduction::Maximum => a.max(b),
                    Reduction::Minimum => a.min(b),
                });
                result.extend(number.expect("a rank").to_le_bytes());
            }
            _ => {
                let signed = matches!(
                    of,
                    DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64
                );
                let wide = each.map(|x| {
                    let mut bytes = [if signed && x[size - 1] >= 128 { 255 } else { 0 }; 16];
                    bytes[..size].copy_from_slice(x);
                    i128::from_le_bytes(bytes)
                });
                let number = wide.reduce(|a, b| {
                    let number = match by {
                        Reduction::Sum => a.wrapping_add(b),
                        Reduction::Product => a.wrapping_mul(b),
                        Reduction::Maximum => a.max(b),
                        Reduction::Minimum => a.min(b),
                    };
                    // Back into the width of the type.
                    let shift = 128 - 8 * size as u32;
                    match signed {
                        true => number << shift >> shift,
                        false => ((number as u128) << shift >> shift) as i128,
                    }
                });
                result.extend(&number.expect("a rank").to_le_bytes()[..size]);
            }
        }
    }
    result
}

fn floats(by: Reduction, each: impl Iterator<Item = f32>) -> f32 {
    let number = each.reduce(|a, b| match by {
        Reduction::Sum => a + b,
        Reduction::Product => a * b,
        _ if a.is_nan() || b.is_nan() => f32::NAN,
        Reduction::Maximum => a.max(b),
        Reduction::Minimum => a.min(b),
    });
    number.expect("a rank")
}

/// Compares bit by bit, but for the sign and payload of NaN, and the sign of a zero that a maximum or minimum chose.
pub fn same(of: DataType, by: Reduction, got: &[u8], expected: &[u8]) -> bool {
    let size = of.bytes();
    let chooses = matches!(by, Reduction::Maximum | Reduction::Minimum);
    let value = |x: &[u8]| match of {
        DataType::Float16 => Some(f16::from_le_bytes([x[0], x[1]]).to_f64()),
        DataType::BFloat16 => Some(bf16::from_le_bytes([x[0], x[1]]).to_f64()),
        DataType::Float32 => Some(f64::from(f32::from_le_bytes(x.try_into().expect("4")))),
        DataType::Float64 => Some(f64::from_le_bytes(x.try_into().expect("8"))),
        _ => None,
    };
    got.len() == expected.len()
        && got
            .chunks_exact(size)
            .zip(expected.chunks_exact(size))
            .all(|(a, b)| {
                a == b
                    || match (value(a), value(b)) {
                        (Some(a), Some(b)) => {
                            a.is_nan() && b.is_nan() || chooses && a == 0.0 && b == 0.0
                        }
                        _ => false,
                    }
            })
}
