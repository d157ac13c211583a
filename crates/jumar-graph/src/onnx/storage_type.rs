//! Tensors whose elements have fewer bits than a byte in a file, or types that no kernel computes on: one element becomes one byte.

use jumar_ops::{StorageType, Tensor};

use super::proto::TensorProto;
use crate::{GraphError, Result};

/// Operators that move elements whatever their type: the first output has the type of the first input.
const MOVES: &[&str] = &[
    "Concat",
    "Expand",
    "Flatten",
    "Gather",
    "GatherElements",
    "GatherND",
    "Identity",
    "Optional",
    "OptionalGetElement",
    "Pad",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];

/// Operators that read such types themselves, or only the shape.
const READS: &[&str] = &[
    "BitCast",
    "Cast",
    "CastLike",
    "DequantizeLinear",
    "OptionalHasElement",
    "QuantizeLinear",
    "Shape",
    "Size",
];

/// What an operator of the standard domain does with tensors of such types.
pub(super) enum Handling {
    /// Its outputs have the type of its first input.
    Moves,
    /// Its conversion knows.
    Reads,
    /// It computes, for which such types have no kernel.
    Refuses,
}

pub(super) fn handling(operator: &str) -> Handling {
    if MOVES.contains(&operator) {
        Handling::Moves
    } else if READS.contains(&operator) {
        Handling::Reads
    } else {
        Handling::Refuses
    }
}

/// Makes a tensor of bytes from elements that lie one behind the other without gaps, the first one in the lowest bits.
///
/// # Errors
///
/// Invalid: there are too few or too many bytes.
pub(super) fn unpack(storage: StorageType, dims: &[usize], packed: &[u8]) -> Result<Tensor> {
    let bits = storage.bits();
    let count = dims
        .iter()
        .try_fold(1usize, |product, &dim| product.checked_mul(dim))
        .filter(|&count| bytes(storage, count) == Some(packed.len()));
    let Some(count) = count else {
        return Err(GraphError::invalid(format!(
            "it has {} bytes, which are not those of the shape {dims:?} with elements of {bits} bits",
            packed.len()
        )));
    };
    let mask = ((1u16 << bits) - 1) as u8;
    let element = |index: usize| {
        let (at, shift) = (index * bits / 8, index * bits % 8);
        let high = packed.get(at + 1).copied().unwrap_or(0);
        let pair = u16::from_le_bytes([packed[at], high]);
        storage.byte((pair >> shift) as u8 & mask)
    };
    let bytes: Vec<u8> = (0..count).map(element).collect();
    Ok(Tensor::new(storage.dtype(), dims, bytes)?)
}

/// Returns the number of bytes that elements take in a file.
pub(super) fn bytes(storage: StorageType, count: usize) -> Option<usize> {
    count
        .checked_mul(storage.bits())
        .map(|bits| bits.div_ceil(8))
}

/// Collects the elements of a tensor without raw data: each number holds one byte, or one element where bytes hold no round number.
pub(super) fn typed(storage: StorageType, proto: &TensorProto) -> Vec<u8> {
    let codes: Vec<u8> = proto.int32_data.iter().map(|&value| value as u8).collect();
    if 8 % storage.bits() == 0 {
        return codes;
    }
    let mut packed = vec![0u8; (codes.len() * storage.bits()).div_ceil(8)];
    for (index, code) in codes.into_iter().enumerate() {
        let (at, shift) = (index * storage.bits() / 8, index * storage.bits() % 8);
        let pair = u16::from(code) << shift;
        packed[at] |= pair as u8;
        if let Some(next) = packed.get_mut(at + 1) {
            *next |= (pair >> 8) as u8;
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_lie_without_gaps_the_first_in_the_lowest_bits() {
        let ints = |storage, packed: &[u8], dims: &[usize]| {
            unpack(storage, dims, packed).unwrap().ints().unwrap()
        };
        assert_eq!(ints(StorageType::Int4, &[0x8f, 0x07], &[3]), [-1, -8, 7]);
        assert_eq!(ints(StorageType::UInt4, &[0x8f, 0x07], &[3]), [15, 8, 7]);
        assert_eq!(
            ints(StorageType::Int2, &[0b1110_0100], &[4]),
            [0, 1, -2, -1]
        );
        let six = [0b0100_0001, 0b0011_0000, 0b0001_0000];
        assert_eq!(ints(StorageType::Float6E2M3, &six, &[4]), [1, 1, 3, 4]);
        let proto = TensorProto {
            int32_data: vec![1, 1, 3, 4],
            ..TensorProto::default()
        };
        assert_eq!(typed(StorageType::Float6E2M3, &proto), six);
        assert!(unpack(StorageType::Int4, &[5], &[0, 0]).is_err());
    }
}
