//! Copies whose ends are read from memory when their turn comes.
//!
//! What an address in memory names is only known then, so that it is checked then, and a bad one is a failed task. For
//! probes, such a copy reads the memory that contains the addresses; its destination cannot be known in advance.

use std::sync::Arc;

use jumar_hal::{Cost, Program, Span};
use jumar_types::{Error, ErrorKind, Result};

use super::{cost_of, device_range};
use crate::copy::transfer;
use crate::runtime::SharedRuntime;
use crate::{Caller, Runtime, Stream};

/// The length of a copy's description in memory.
///
/// # Units
/// Bytes.
pub const DESCRIPTOR_BYTES: usize = 64;

/// Marks memory that was filled in as the description of a copy.
const COPY: u64 = 0x4A43_4F50_5944_4553;
/// Marks memory that was filled in as the description of a hint.
const HINT: u64 = 0x4A48_494E_5444_4553;

/// What the description of a copy says; that of a hint names one range as both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Where the bytes go.
    pub to: usize,
    /// Where they come from.
    pub from: usize,
    /// How many there are.
    pub bytes: usize,
}

impl Descriptor {
    fn pack(self, mark: u64) -> [u8; DESCRIPTOR_BYTES] {
        let mut bytes = [0; DESCRIPTOR_BYTES];
        let words = [mark, self.to as u64, self.from as u64, self.bytes as u64];
        for (target, word) in bytes.chunks_exact_mut(8).zip(words) {
            target.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn unpack(bytes: &[u8; DESCRIPTOR_BYTES], mark: u64) -> Result<Descriptor> {
        let word = |at: usize| {
            let mut own = [0; 8];
            own.copy_from_slice(&bytes[at * 8..at * 8 + 8]);
            u64::from_le_bytes(own)
        };
        if word(0) != mark {
            let what = if mark == COPY { "copy" } else { "cache hint" };
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("the memory does not contain a description of a {what}"),
            )
            .fix("Fill the description in before it is used."));
        }
        Ok(Descriptor {
            to: word(1) as usize,
            from: word(2) as usize,
            bytes: word(3) as usize,
        })
    }
}

/// Copies within device memory between ends without a guarantee.
fn copy(shared: &SharedRuntime, copy: Descriptor) -> Result<()> {
    let (to, _) = device_range(shared, copy.to, copy.bytes, "the target")?;
    let (from, _) = device_range(shared, copy.from, copy.bytes, "the source")?;
    shared.backend.copy_now(transfer(to, from)?);
    Ok(())
}

struct ByDescriptor {
    shared: Arc<SharedRuntime>,
    at: Span,
    mark: u64,
    name: &'static str,
}

impl Program for ByDescriptor {
    fn run(&self) -> Result<()> {
        let mut bytes = [0; DESCRIPTOR_BYTES];
        self.shared.backend.read_now(self.at, &mut bytes);
        let said = Descriptor::unpack(&bytes, self.mark)?;
        if self.mark == HINT {
            return device_range(&self.shared, said.from, said.bytes, "the range").map(drop);
        }
        copy(&self.shared, said)
    }

    fn name(&self) -> &str {
        self.name
    }
}

struct ByAddresses {
    shared: Arc<SharedRuntime>,
    to_at: Span,
    to_offset: usize,
    from_at: Span,
    from_offset: usize,
    bytes: usize,
}

impl ByAddresses {
    fn address(&self, at: Span, offset: usize, what: &str) -> Result<usize> {
        let mut bytes = [0; 8];
        self.shared.backend.read_now(at, &mut bytes);
        let address = u64::from_le_bytes(bytes) as usize;
        address.checked_add(offset).ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidValue,
                format!("{what} {address:#x} with offset {offset} lies beyond all addresses"),
            )
        })
    }
}

impl Program for ByAddresses {
    fn run(&self) -> Result<()> {
        let resolved = Descriptor {
            to: self.address(self.to_at, self.to_offset, "the target")?,
            from: self.address(self.from_at, self.from_offset, "the source")?,
            bytes: self.bytes,
        };
        copy(&self.shared, resolved)
    }

    fn cost(&self) -> Cost {
        cost_of(self.bytes)
    }

    fn name(&self) -> &str {
        "copy between addresses in memory"
    }
}

impl Runtime {
    /// Writes the description of a copy within device memory into device memory.
    ///
    /// # Errors
    /// `InvalidValue`: the description or an end of the copy is not in live device memory.
    pub fn describe_copy(&self, at: usize, copy: Descriptor, caller: &Caller<'_>) -> Result<()> {
        let shared = &self.shared;
        let (at, _) = device_range(shared, at, DESCRIPTOR_BYTES, "the description")?;
        device_range(shared, copy.to, copy.bytes, "the target")?;
        device_range(shared, copy.from, copy.bytes, "the source")?;
        crate::copy::write_now(shared, at, &copy.pack(COPY), caller)
    }

    /// Writes the description of a hint about a range of device memory into device memory.
    ///
    /// # Errors
    /// `InvalidValue`: the description or the range is not in live device memory.
    pub fn describe_hint(
        &self,
        at: usize,
        address: usize,
        bytes: usize,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let shared = &self.shared;
        let (at, _) = device_range(shared, at, DESCRIPTOR_BYTES, "the description")?;
        device_range(shared, address, bytes, "the range")?;
        let said = Descriptor {
            to: address,
            from: address,
            bytes,
        };
        crate::copy::write_now(shared, at, &said.pack(HINT), caller)
    }
}

impl Stream {
    /// Queues the copy that a description in device memory says when its turn comes.
    ///
    /// # Errors
    /// `InvalidValue`: the description is not in live device memory. Its content is checked when the task runs.
    pub fn copy_described(&self, at: usize, caller: &Caller<'_>) -> Result<()> {
        self.as_described(at, COPY, "copy as described", caller)
    }

    /// Queues a hint about the range that a description in device memory says when its turn comes.
    ///
    /// # Errors
    /// As [`Stream::copy_described`].
    pub fn hint_described(&self, at: usize, name: &'static str, caller: &Caller<'_>) -> Result<()> {
        self.as_described(at, HINT, name, caller)
    }

    fn as_described(
        &self,
        at: usize,
        mark: u64,
        name: &'static str,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let at = self.device_range(at, DESCRIPTOR_BYTES, "the description")?;
        let program = ByDescriptor {
            shared: self.shared().clone(),
            at,
            mark,
            name,
        };
        self.launch(Arc::new(program), &[at], &[], caller).map(drop)
    }

    /// Queues a copy between the addresses that device memory holds when its turn comes, each with an offset in bytes.
    ///
    /// # Errors
    /// `InvalidValue`: the memory of the addresses is not live device memory. The addresses are checked when the
    /// task runs.
    pub fn copy_between_addresses(
        &self,
        to: (usize, usize),
        from: (usize, usize),
        bytes: usize,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let to_at = self.device_range(to.0, 8, "the target's address")?;
        let from_at = self.device_range(from.0, 8, "the source's address")?;
        let program = ByAddresses {
            shared: self.shared().clone(),
            to_at,
            to_offset: to.1,
            from_at,
            from_offset: from.1,
            bytes,
        };
        self.launch(Arc::new(program), &[to_at, from_at], &[], caller)
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_survives_memory_and_zeros_are_none() {
        let said = Descriptor {
            to: 0x1000,
            from: 0x2000,
            bytes: 77,
        };
        assert_eq!(Descriptor::unpack(&said.pack(COPY), COPY).unwrap(), said);
        assert!(Descriptor::unpack(&said.pack(HINT), COPY).is_err());
        assert!(Descriptor::unpack(&[0; DESCRIPTOR_BYTES], COPY).is_err());
    }
}
