//! Physical memory that several processes share.
//!
//! A process finds another's memory file through `/proc` by a number that holds the other process, its descriptor and a
//! token. Behind the memory, the file has a trailer, never mapped, that records whether and with which processes it is shared, so that
//! no process has to be asked.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::process;

use jumar_types::{Error, ErrorKind, Result};

/// The name of memory files, as `/proc` shows it.
const NAME: &str = "/memfd:jumar-device-memory";

/// The length of the trailer at the file's end.
pub(crate) const TRAILER: u64 = 64 << 10;
/// The first bytes of the trailer of shared memory; before sharing, the trailer is all zero.
const MAGIC: [u8; 8] = *b"JUMARSHM";
/// The largest number of processes in the trailer.
const PROCESSES: usize = (TRAILER as usize - HEAD) / 4;
const HEAD: usize = 32;
/// The offset of the number of processes.
const COUNT_AT: u64 = 24;

/// Bits of a number: process, then descriptor, then token. A process has no larger number than 22 bits hold.
const DESCRIPTOR_BITS: u32 = 20;
const TOKEN_BITS: u32 = 22;

/// Writes the trailer and returns the number by which other processes find the memory.
///
/// # Errors
/// `InvalidValue`: the descriptor is too large for a number; `OutOfMemory`: the system did not store the trailer.
pub(crate) fn publish(file: &File, bytes: usize, listed_only: bool) -> Result<u64> {
    let descriptor = u64::from(file.as_raw_fd().unsigned_abs());
    if descriptor >> DESCRIPTOR_BITS != 0 {
        return Err(invalid(format!(
            "descriptor {descriptor} of the memory is too large to be shared"
        )));
    }
    let token = RandomState::new().hash_one(descriptor) >> (u64::BITS - TOKEN_BITS);
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&MAGIC);
    head[8..16].copy_from_slice(&(bytes as u64).to_ne_bytes());
    head[16..20].copy_from_slice(&(token as u32).to_ne_bytes());
    head[20..24].copy_from_slice(&u32::from(listed_only).to_ne_bytes());
    file.write_all_at(&head, bytes as u64).map_err(unkept)?;
    let process = u64::from(process::id());
    Ok((process << DESCRIPTOR_BITS | descriptor) << TOKEN_BITS | token)
}

/// Adds processes to those that may open the memory. One call at a time.
///
/// # Errors
/// `InvalidValue`: more than fit into the trailer; `OutOfMemory`: the system did not store the trailer.
pub(crate) fn admit(file: &File, bytes: usize, processes: &[u32]) -> Result<()> {
    let trailer = bytes as u64;
    let mut count = [0; 4];
    file.read_exact_at(&mut count, trailer + COUNT_AT)
        .map_err(unkept)?;
    let kept = u32::from_ne_bytes(count) as usize;
    let total = kept + processes.len();
    if total > PROCESSES {
        return Err(invalid(format!(
            "memory can be shared with {PROCESSES} processes, not with {total}"
        )));
    }
    let list: Vec<u8> = processes.iter().flat_map(|p| p.to_ne_bytes()).collect();
    file.write_all_at(&list, trailer + (HEAD + 4 * kept) as u64)
        .map_err(unkept)?;
    // The count comes last: who reads meanwhile sees the list as it was.
    file.write_all_at(&(total as u32).to_ne_bytes(), trailer + COUNT_AT)
        .map_err(unkept)
}

/// Clears the trailer, so that no further process opens the memory.
///
/// # Errors
/// `OutOfMemory`: the system did not store the trailer.
pub(crate) fn withdraw(file: &File, bytes: usize) -> Result<()> {
    file.write_all_at(&[0; HEAD], bytes as u64).map_err(unkept)
}

/// Opens the memory of another process. Returns its length.
///
/// # Errors
/// `InvalidValue`: the number is none, or of this process; the other process or its memory is gone; it does not share the
/// memory with this process.
pub(crate) fn open(number: u64) -> Result<(File, usize)> {
    let token = (number & ((1 << TOKEN_BITS) - 1)) as u32;
    let descriptor = number >> TOKEN_BITS & ((1 << DESCRIPTOR_BITS) - 1);
    let process = (number >> (TOKEN_BITS + DESCRIPTOR_BITS)) as u32;
    if process == process::id() {
        return Err(
            invalid("the memory was exported by this very process".to_owned())
                .fix("Import it in another process; here, use the handle that was exported."),
        );
    }
    let gone = || {
        invalid(format!(
            "no shared memory is behind the handle: process {process} has freed it or has ended, or the handle is none"
        ))
        .fix("Keep the exporting process and its memory until every importer has imported it.")
    };
    let at = format!("/proc/{process}/fd/{descriptor}");
    let barred = |error: io::Error| match error.kind() {
        io::ErrorKind::PermissionDenied => invalid(format!(
            "the system does not let this process open memory of process {process}: {error}"
        )),
        _ => gone(),
    };
    // What else the descriptor may be by now is not opened: opening a pipe could wait.
    let link = fs::read_link(&at).map_err(barred)?;
    if !link.to_str().is_some_and(|link| link.starts_with(NAME)) {
        return Err(gone());
    }
    let file = File::options()
        .read(true)
        .write(true)
        .open(&at)
        .map_err(barred)?;
    let length = file.metadata().map_err(|_| gone())?.len();
    let bytes = length.checked_sub(TRAILER).ok_or_else(gone)?;
    let mut head = [0; HEAD];
    file.read_exact_at(&mut head, bytes).map_err(|_| gone())?;
    let word = |at: usize| u32::from_ne_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if head[..8] != MAGIC || head[8..16] != bytes.to_ne_bytes() || word(16) != token {
        return Err(gone());
    }
    if word(20) != 0 {
        let count = (word(COUNT_AT as usize) as usize).min(PROCESSES);
        let mut list = vec![0; 4 * count];
        file.read_exact_at(&mut list, bytes + HEAD as u64)
            .map_err(|_| gone())?;
        let this = process::id().to_ne_bytes();
        if !list.chunks_exact(4).any(|listed| listed == this) {
            return Err(invalid(format!(
                "process {process} did not name process {}, this one, among those that may import its memory",
                process::id()
            ))
            .fix("Let the exporter name this process first, or export without the check of processes."));
        }
    }
    let bytes = usize::try_from(bytes).map_err(|_| gone())?;
    Ok((file, bytes))
}

/// Returns the moment at which a process was started, in ticks since the machine was, if it runs: one that has ended and that
/// its parent has not asked after yet does not.
pub(crate) fn started(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in brackets may hold anything, so what counts begins behind the last bracket.
    let mut fields = text[text.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    // The 22nd field of the line is the 20th from the state on.
    fields.nth(18)?.parse().ok()
}

fn invalid(sentence: String) -> Error {
    Error::new(ErrorKind::InvalidValue, sentence)
}

fn unkept(error: io::Error) -> Error {
    Error::new(
        ErrorKind::OutOfMemory,
        format!("the system did not keep who shares physical memory: {error}"),
    )
}
