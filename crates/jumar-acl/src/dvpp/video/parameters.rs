//! Parameters of channels that are set and read by number.

use jumar_types::Result;

use super::argument;
use crate::error::null;

/// Reads a parameter from the program's memory.
///
/// # Errors
/// `NullPointer`; `InvalidArgument`: it has another length.
pub(super) fn read<const BYTES: usize>(value: Option<&[u8]>, length: usize) -> Result<[u8; BYTES]> {
    let value = value.ok_or_else(|| null("param"))?;
    value.try_into().map_err(|_error| {
        argument(format!(
            "length is {length}; the parameter has {BYTES} bytes"
        ))
    })
}

/// Reads a parameter of four bytes.
///
/// # Errors
/// As [`read`].
pub(super) fn word(value: Option<&[u8]>, length: usize) -> Result<u32> {
    read(value, length).map(u32::from_ne_bytes)
}

/// Reads a parameter of eight bytes.
///
/// # Errors
/// As [`read`].
pub(super) fn long(value: Option<&[u8]>, length: usize) -> Result<u64> {
    read(value, length).map(u64::from_ne_bytes)
}

/// Returns a parameter with its length for memory of `length` bytes.
///
/// # Errors
/// `InvalidArgument`: the memory is too small.
pub(super) fn answer(value: Vec<u8>, length: usize) -> Result<(usize, Vec<u8>)> {
    if length < value.len() {
        return Err(argument(format!(
            "length is {length}; the parameter has {} bytes",
            value.len()
        )));
    }
    Ok((value.len(), value))
}

/// Checks that a number is one that an enumeration has.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_member(enumeration: &str, value: u32) -> Result<()> {
    match crate::generated::enums::name_of(enumeration, i64::from(value)) {
        Some(_) => Ok(()),
        None => Err(argument(format!("{value} is not a value of {enumeration}"))),
    }
}

/// Checks that a value lies in a range.
///
/// # Errors
/// `InvalidArgument`.
pub(super) fn check_range(
    name: &str,
    value: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(argument(format!(
        "{name} is {value}; it must be {} to {}",
        range.start(),
        range.end()
    )))
}
