//! How a list of tensors lies in a message: for each item a header of 64 bytes, its dimensions, and its bytes on the next multiple
//! of 64.

use jumar_types::{Error, ErrorKind, Result};

use super::malformed;
use crate::generated::enums;

/// The length of a header, and what everything is a multiple of.
const GRAIN: usize = 64;
/// The version of a header that carries the name of the list, and no item.
const NAME: u32 = 1;

/// What a header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// What kind of item it is, as the wire has it.
    pub(super) kind: i32,
    /// The element type.
    pub(super) data_type: i32,
    /// The dimensions.
    pub(super) dims: Vec<i64>,
    /// How many slices there are, and which one this is.
    pub(super) slice: (u16, u16),
    /// Where the bytes lie in the message.
    pub(super) bytes: std::ops::Range<usize>,
    /// Whether this is the name of the list.
    pub(super) is_name: bool,
}

/// Appends one item; `index` of `count`.
pub(super) fn append(
    message: &mut Vec<u8>,
    (index, count): (usize, usize),
    kind: i32,
    data_type: i32,
    dims: &[i64],
    payload: &[u8],
) {
    let start = message.len();
    let dims_bytes = (dims.len() * 8).next_multiple_of(GRAIN);
    message.extend(0u32.to_le_bytes());
    message.extend(kind.to_le_bytes());
    message.extend((index as u32).to_le_bytes());
    message.extend((count as u32).to_le_bytes());
    message.extend(data_type.to_le_bytes());
    message.extend((dims.len() as u32).to_le_bytes());
    message.extend((dims_bytes as u32).to_le_bytes());
    message.extend([0; 2 + 2 + 24]);
    message.extend((payload.len() as u64).to_le_bytes());
    message.extend(dims.iter().flat_map(|dim| dim.to_le_bytes()));
    message.resize(start + GRAIN + dims_bytes, 0);
    message.extend(payload);
    message.resize(message.len().next_multiple_of(GRAIN), 0);
}

/// Takes a message apart.
pub(super) fn unpack(message: &[u8]) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < message.len() {
        let header = message
            .get(at..at + GRAIN)
            .ok_or_else(|| malformed("it ends within a header"))?;
        let word = |from: usize| {
            let mut own = [0; 4];
            own.copy_from_slice(&header[from..from + 4]);
            u32::from_le_bytes(own)
        };
        let half = |from: usize| u16::from_le_bytes([header[from], header[from + 1]]);
        let mut length = [0; 8];
        length.copy_from_slice(&header[56..64]);
        let length = usize::try_from(u64::from_le_bytes(length))
            .map_err(|_| malformed("it claims more bytes than memory has"))?;
        let (dim_count, dims_bytes) = (word(20) as usize, word(24) as usize);
        let dims_at = at + GRAIN;
        let begin = dims_at
            .checked_add(dims_bytes)
            .ok_or_else(|| malformed("its dimensions do not fit"))?;
        let dims = message
            .get(dims_at..begin)
            .filter(|dims| dim_count <= dims.len() / 8)
            .ok_or_else(|| malformed("it ends within its dimensions"))?;
        let (words, _) = dims.as_chunks::<8>();
        let end = begin
            .checked_add(length)
            .filter(|end| *end <= message.len())
            .ok_or_else(|| malformed("it ends within a tensor"))?;
        let kind = word(4) as i32;
        if !(enums::ACL_TENSOR_DATA_TENSOR..=enums::ACL_TENSOR_DATA_END_TENSOR).contains(&kind) {
            return Err(Error::new(
                ErrorKind::UnsupportedDataType,
                format!("an item that was received is of the unknown kind {kind}"),
            ));
        }
        parts.push(Part {
            kind,
            data_type: word(16) as i32,
            dims: words
                .iter()
                .take(dim_count)
                .map(|dim| i64::from_le_bytes(*dim))
                .collect(),
            slice: (half(28), half(30)),
            bytes: begin..end,
            is_name: word(0) == NAME,
        });
        at = end.next_multiple_of(GRAIN);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_survives_the_wire_and_payloads_lie_on_64_bytes() {
        let mut message = Vec::new();
        append(&mut message, (0, 2), 0, 3, &[2, 3], &[7; 24]);
        append(&mut message, (1, 2), 1, -1, &[], &[]);
        let parts = unpack(&message).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].dims, [2, 3]);
        assert_eq!(parts[0].bytes, 128..152);
        assert_eq!(parts[1].kind, 1);
        assert!(parts[1].bytes.is_empty());
    }

    #[test]
    fn a_message_cut_anywhere_is_refused_or_a_shorter_list() {
        let mut message = Vec::new();
        append(&mut message, (0, 1), 0, 3, &[2, 3], &[7; 24]);
        for length in 1..152 {
            assert!(unpack(&message[..length]).is_err(), "{length}");
        }
        // Every byte of the header turned over is answered one way or the other.
        for at in 0..64 {
            let mut bent = message.clone();
            bent[at] ^= 0xff;
            drop(unpack(&bent));
        }
    }
}
