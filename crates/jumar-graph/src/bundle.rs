//! Bundles: several model files in one, with a table of where each lies.
//!
//! ```text
//! 0   8 bytes   what a bundle begins with
//! 8   u32       the version of the format
//! 12  u32       how many models
//! 16  u64       the length of the file
//! 24  u64, u64  for each model where it starts and how long it is
//!     u32       a checksum of all that
//! ```
//!
//! Each model starts at a page. It has checks of its own, so that the table is all that is checked here.

use std::io::{self, Write};
use std::ops::Range;

use crate::{GraphError, GraphErrorKind, Result};

/// The bytes that a bundle begins with.
pub const BUNDLE_MAGIC: &[u8; 8] = b"JUMAR\x1a\x0aB";

const VERSION: u32 = 1;
const TABLE_AT: usize = 24;
const ENTRY: usize = 16;
const PAGE: usize = 4096;

/// The most models that a bundle may hold.
const MOST: usize = 1024;

/// How many of the first bytes of a bundle hold its table, at most.
///
/// # Units
///
/// Bytes.
pub const BUNDLE_TABLE_BYTES: usize = TABLE_AT + ENTRY * MOST + 4;

/// Returns whether a file is a bundle, by its first bytes.
pub fn is_bundle(bytes: &[u8]) -> bool {
    bytes.starts_with(BUNDLE_MAGIC)
}

/// Writes model files as one bundle.
///
/// # Errors
///
/// InvalidOption: no model, or too many. InvalidModel, NotAModel and the others: a file that is not a model. Io: what the writer
/// says.
pub fn write_bundle(models: &[Vec<u8>], to: &mut impl Write) -> Result<()> {
    if models.is_empty() || models.len() > MOST {
        return Err(GraphError::option(format!(
            "the bundle has {} models; it must have 1 to {MOST}",
            models.len()
        )));
    }
    for (index, bytes) in models.iter().enumerate() {
        crate::Model::read(bytes).map_err(|error| error.at(format_args!("model {index}")))?;
    }
    let mut at = (TABLE_AT + ENTRY * models.len() + 4).next_multiple_of(PAGE);
    let mut starts = Vec::with_capacity(models.len());
    for bytes in models {
        starts.push(at);
        at = (at + bytes.len()).next_multiple_of(PAGE);
    }
    let end = starts
        .last()
        .zip(models.last())
        .map_or(0, |(start, bytes)| start + bytes.len());
    let mut head = BUNDLE_MAGIC.to_vec();
    head.extend(VERSION.to_le_bytes());
    head.extend((models.len() as u32).to_le_bytes());
    head.extend((end as u64).to_le_bytes());
    for (start, bytes) in starts.iter().zip(models) {
        head.extend((*start as u64).to_le_bytes());
        head.extend((bytes.len() as u64).to_le_bytes());
    }
    head.extend(crc32fast::hash(&head).to_le_bytes());
    let mut all = || -> io::Result<()> {
        to.write_all(&head)?;
        let mut written = head.len();
        for (start, bytes) in starts.iter().zip(models) {
            to.write_all(&vec![0; start - written])?;
            to.write_all(bytes)?;
            written = start + bytes.len();
        }
        to.flush()
    };
    all().map_err(|error| {
        GraphError::new(
            GraphErrorKind::Io,
            format!("the bundle cannot be written: {error}"),
        )
    })
}

/// Finds the models of a bundle in its bytes, which are not trusted.
///
/// # Errors
///
/// NotAModel: it is not a bundle. Truncated, Corrupt, TooNew: what is wrong with it.
pub fn read_bundle(bytes: &[u8]) -> Result<Vec<Range<usize>>> {
    read_bundle_table(bytes, bytes.len() as u64)
}

/// Finds the models of a bundle in its first bytes, which hold its table; the bundle is `length` bytes long.
///
/// # Errors
///
/// As [`read_bundle`].
pub fn read_bundle_table(bytes: &[u8], length: u64) -> Result<Vec<Range<usize>>> {
    if !is_bundle(bytes) {
        return Err(GraphError::new(
            GraphErrorKind::NotAModel,
            "this is not a bundle of models: it begins with other bytes",
        ));
    }
    let cut = || {
        GraphError::new(
            GraphErrorKind::Truncated,
            format!("the bundle has {length} bytes, fewer than its table says"),
        )
    };
    let word = |at: usize| -> Result<u64> {
        let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
        word.map(|word| u64::from_le_bytes(*word)).ok_or_else(cut)
    };
    let (version, count) = (word(8)? as u32, (word(8)? >> 32) as usize);
    if version != VERSION {
        return Err(GraphError::new(
            GraphErrorKind::TooNew,
            format!("the bundle has format {version}, and this Jumar reads {VERSION}"),
        ));
    }
    if !(1..=MOST).contains(&count) {
        return Err(GraphError::corrupt(format!(
            "the bundle's header states {count} models; it must be 1 to {MOST}"
        )));
    }
    let table = TABLE_AT + ENTRY * count;
    let sum = bytes
        .get(table..)
        .and_then(|rest| rest.first_chunk())
        .ok_or_else(cut)?;
    if crc32fast::hash(&bytes[..table]) != u32::from_le_bytes(*sum) {
        return Err(GraphError::corrupt(
            "the table of the bundle is damaged: its checksum does not agree",
        ));
    }
    if word(16)? != length {
        return Err(GraphError::corrupt(format!(
            "the bundle has {length} bytes, and its header says {}",
            word(16)?
        )));
    }
    let mut before = table + 4;
    let mut models = Vec::with_capacity(count);
    for index in 0..count {
        let at = TABLE_AT + ENTRY * index;
        let start = usize::try_from(word(at)?).unwrap_or(usize::MAX);
        let end = usize::try_from(word(at + 8)?)
            .ok()
            .and_then(|size| start.checked_add(size));
        match end.filter(|&end| start >= before && end as u64 <= length) {
            Some(end) => {
                models.push(start..end);
                before = end;
            }
            None => {
                return Err(GraphError::corrupt(format!(
                    "model {index} of the bundle lies outside it, or over another one"
                )));
            }
        }
    }
    Ok(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bundle whose models are not looked into.
    fn table(entries: &[(u64, u64)], length: u64) -> Vec<u8> {
        let mut head = BUNDLE_MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend((entries.len() as u32).to_le_bytes());
        head.extend(length.to_le_bytes());
        for (start, size) in entries {
            head.extend(start.to_le_bytes());
            head.extend(size.to_le_bytes());
        }
        head.extend(crc32fast::hash(&head).to_le_bytes());
        head.resize(length.min(1 << 16) as usize, 7);
        head
    }

    #[test]
    fn the_table_says_where_the_models_lie() {
        let bytes = table(&[(64, 10), (80, 20)], 100);
        assert_eq!(read_bundle(&bytes).unwrap(), [64..74, 80..100]);
        assert!(is_bundle(&bytes));
    }

    #[test]
    fn what_is_no_model_does_not_get_into_a_bundle() {
        let error = write_bundle(&[b"hello".to_vec()], &mut Vec::new()).unwrap_err();
        assert!(error.text().contains("model 0"), "{}", error.text());
        assert!(write_bundle(&[], &mut Vec::new()).is_err());
    }

    #[test]
    fn a_table_that_lies_is_refused() {
        for (entries, length) in [
            (&[(64, 10), (70, 20)][..], 100),
            (&[(64, 37)][..], 100),
            (&[(8, 4)][..], 100),
            (&[(u64::MAX, 2)][..], 100),
            (&[(64, u64::MAX)][..], 100),
            (&[][..], 100),
        ] {
            assert!(read_bundle(&table(entries, length)).is_err(), "{entries:?}");
        }
        let mut longer = table(&[(64, 10)], 100);
        longer.push(0);
        assert!(read_bundle(&longer).is_err());
    }

    #[test]
    fn damage_anywhere_in_the_table_only_answers() {
        let good = table(&[(64, 10), (80, 20)], 100);
        for at in 0..60 {
            for bit in 0..8 {
                let mut bytes = good.clone();
                bytes[at] ^= 1 << bit;
                assert!(read_bundle(&bytes).is_err(), "byte {at} bit {bit}");
            }
            assert!(read_bundle(&good[..at]).is_err());
        }
    }
}
