//! Memory that calls of operators name by address.

use std::fs::File;
use std::os::unix::fs::FileExt;

use jumar::engine::Span;
use jumar_types::{Error, ErrorKind, Result};

use crate::{Cx, refuse};

const MOVE: &str =
    "Operators work on memory of their stream's device: allocate it with aclrtMalloc.";

/// Finds live memory of a device. `what` names the argument.
///
/// # Errors
/// `InvalidArgument`: nothing is allocated there, it belongs to the host or to another device, or it is too small.
pub(super) fn of_device(
    cx: &Cx<'_>,
    device: u32,
    (address, bytes): (usize, usize),
    what: impl Fn() -> String,
) -> Result<Span> {
    let space = cx.runtime()?.space();
    let block = space.reach(address, bytes);
    let block = match block.map(|block| (block, block.home.device())) {
        Some((block, Some(own))) if own == device => block,
        Some((_, Some(own))) => {
            let sentence = format!(
                "{} is at {address:#x}, memory of device {own}, and the stream belongs to device {device}",
                what()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, sentence).fix(MOVE));
        }
        Some((_, None)) | None => {
            let sentence = match space.home_of(address) {
                Some(_) => format!("{} is at {address:#x}, which is host memory", what()),
                None => format!("{} is at {address:#x}, where nothing is allocated", what()),
            };
            return Err(Error::new(ErrorKind::InvalidArgument, sentence).fix(MOVE));
        }
    };
    let offset = address - block.span.address();
    block.span.part(offset, bytes).ok_or_else(|| {
        let sentence = format!(
            "{} spans {bytes} bytes from {address:#x} on, {} more than its allocation of {} bytes has from there",
            what(),
            bytes - (block.span.bytes() - offset),
            block.span.bytes()
        );
        Error::new(ErrorKind::InvalidArgument, sentence)
            .fix("Check shape, strides and offset of the tensor against the memory behind it.")
    })
}

/// Copies memory that the program names by address alone, such as the data of a tensor on the host.
///
/// The bytes are read through the kernel: an address that is not mapped is refused.
///
/// # Errors
/// `InvalidArgument`: the memory is not readable. `Failure`: the process cannot read its own memory that way.
pub(super) fn copy_host(
    (address, bytes): (usize, usize),
    what: impl Fn() -> String,
) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    if bytes == 0 {
        return Ok(copy);
    }
    // Opened anew each time: a file that was opened before a fork shows the parent's memory.
    let memory = File::open("/proc/self/mem").map_err(|error| {
        let sentence = format!("{} cannot be read from host memory: {error}", what());
        Error::new(ErrorKind::Failure, sentence)
    })?;
    let unreadable = || {
        refuse(
            ErrorKind::InvalidArgument,
            format!(
                "{} lies in host memory, and its {bytes} bytes from {address:#x} on are not readable",
                what()
            ),
        )
    };
    if copy.try_reserve_exact(bytes).is_err() {
        return unreadable();
    }
    copy.resize(bytes, 0);
    match memory.read_exact_at(&mut copy, address as u64) {
        Ok(()) => Ok(copy),
        Err(_) => unreadable(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_memory_is_copied_and_an_unmapped_address_is_refused() {
        let bytes: Vec<u8> = (0..200).collect();
        let address = bytes.as_ptr().expose_provenance();
        let what = || "input 0".to_owned();
        assert_eq!(copy_host((address, 200), what).unwrap(), bytes);
        assert!(copy_host((0, 0), what).unwrap().is_empty());
        for bad in [0, 1, usize::MAX - 3] {
            let refused = copy_host((bad, 8), what).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidArgument);
            assert!(
                refused
                    .sentence()
                    .starts_with("input 0 lies in host memory")
            );
        }
        assert!(copy_host((address, usize::MAX), what).is_err());
    }
}
