//! Memory that processes share: exported by one, imported by others; physical memory by a handle, allocations by a key.
//!
//! A shareable handle is a number; where the program asks for a fabric handle, the number lies in one.

use std::ffi::{CStr, CString};

use jumar::engine::MemoryName;
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

/// What a fabric handle of ours begins with; the number follows, and then zeros.
const FABRIC: [u8; 8] = *b"JUMARFAB";

fn value<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidValue, sentence)
}

/// The two shapes of a shareable handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A `uint64_t`.
    Number,
    /// An `aclrtMemFabricHandle`.
    Fabric,
}

impl Shape {
    /// Reads an `aclrtMemSharedHandleType`.
    pub fn of(share_type: u32) -> Result<Shape> {
        match share_type {
            enums::ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT => Ok(Shape::Number),
            enums::ACL_MEM_SHARE_HANDLE_TYPE_FABRIC => Ok(Shape::Fabric),
            other => value(format!(
                "shareType {other} is not a value of aclrtMemSharedHandleType"
            )),
        }
    }
}

/// Puts a number into a fabric handle.
pub fn fabric(number: u64) -> [u8; size_of::<types::aclrtMemFabricHandle>()] {
    let mut handle = types::aclrtMemFabricHandle::ZERO.data;
    handle[..8].copy_from_slice(&FABRIC);
    handle[8..16].copy_from_slice(&number.to_ne_bytes());
    handle
}

/// Reads the number in a fabric handle.
pub fn number(handle: &[u8; size_of::<types::aclrtMemFabricHandle>()]) -> Result<u64> {
    let mut number = [0; 8];
    number.copy_from_slice(&handle[8..16]);
    let number = u64::from_ne_bytes(number);
    if fabric(number) == *handle {
        Ok(number)
    } else {
        value("shareableHandle is not a fabric handle that Jumar exported".into())
    }
}

/// What both forms of the export do.
pub fn export(cx: &Cx<'_>, handle: Raw, flags: u64) -> Result<u64> {
    if flags > 1 {
        return value(format!("flags are {flags}; they must be 0 or 1"));
    }
    let runtime = cx.runtime()?;
    let memory = runtime.physical(handle.0)?;
    runtime.export_physical(&memory, flags == 0)
}

pub fn aclrtMemExportToShareableHandle(
    cx: &Cx<'_>,
    handle: Raw,
    handle_type: u32,
    flags: u64,
) -> Result<u64> {
    if handle_type != enums::ACL_MEM_HANDLE_TYPE_NONE {
        return value(format!("handleType is {handle_type}; it must be 0 (none)"));
    }
    export(cx, handle, flags)
}

pub fn aclrtMemImportFromShareableHandle(cx: &Cx<'_>, shareable: u64, device: i32) -> Result<Raw> {
    let memory = cx
        .runtime()?
        .import_physical(i64::from(device), shareable)?;
    Ok(Raw(memory.id()))
}

/// The memory goes to the current device.
pub fn import_here(cx: &Cx<'_>, shareable: u64, flags: u64) -> Result<Raw> {
    if flags != 0 {
        return value(format!("flags are {flags}; they must be 0"));
    }
    let device = cx.context()?.device().number();
    let memory = cx
        .runtime()?
        .import_physical(i64::from(device), shareable)?;
    Ok(Raw(memory.id()))
}

pub fn aclrtMemSetPidToShareableHandle(
    cx: &Cx<'_>,
    shareable: u64,
    processes: Option<&[i32]>,
    count: usize,
) -> Result<()> {
    let processes = self::processes(processes, count)?;
    cx.runtime()?.admit_processes(shareable, &processes)
}

/// Reads a list of processes.
pub(crate) fn processes(pids: Option<&[i32]>, count: usize) -> Result<Vec<u32>> {
    let pids = pids.ok_or_else(|| null("pid"))?;
    if count == 0 {
        return value("the number of processes is 0".into());
    }
    let check = |&pid: &i32| match u32::try_from(pid) {
        Ok(pid) if pid > 0 => Ok(pid),
        _ => value(format!("{pid} is the number of no process")),
    };
    pids.iter().map(check).collect()
}

/// The smallest buffer for a key, with the terminating zero.
pub(crate) const KEY_CAPACITY: usize = 65;

/// What a key stands for. It is text, and no longer than 64 characters. A checksum ends it, so that a key that was cut short
/// on its way to the other process names no other memory.
pub(crate) enum Key {
    Notify(u64),
    Memory(MemoryName),
}

const NOTIFY: &str = "jumar-notify-";
const MEMORY: &str = "jumar-memory-";

impl Key {
    pub(crate) fn text(&self) -> CString {
        let text = match self {
            Key::Notify(number) => format!("{NOTIFY}{number:x}"),
            Key::Memory(name) => {
                format!(
                    "{MEMORY}{:x}-{:x}-{:x}",
                    name.number, name.offset, name.bytes
                )
            }
        };
        CString::new(format!("{text}-{:08x}", checksum(&text))).unwrap_or_default()
    }

    pub(crate) fn read(text: &CStr) -> Option<Key> {
        let (text, sum) = text.to_str().ok()?.rsplit_once('-')?;
        if sum != format!("{:08x}", checksum(text)) {
            return None;
        }
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        if let Some(rest) = text.strip_prefix(NOTIFY) {
            return number(rest).map(Key::Notify);
        }
        let mut parts = text.strip_prefix(MEMORY)?.split('-').map(number);
        let mut next = || parts.next().flatten();
        let name = MemoryName {
            number: next()?,
            offset: usize::try_from(next()?).ok()?,
            bytes: usize::try_from(next()?).ok()?,
        };
        parts.next().is_none().then_some(Key::Memory(name))
    }
}

/// Computes the FNV-1a hash of a text.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn memory_name(key: Option<&CStr>) -> Result<MemoryName> {
    let key = key.ok_or_else(|| null("key"))?;
    match Key::read(key) {
        Some(Key::Memory(name)) => Ok(name),
        Some(Key::Notify(_)) | None => value(format!(
            "\"{}\" is not a key of device memory",
            key.to_string_lossy()
        )),
    }
}

pub fn aclrtIpcMemGetExportKey(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    capacity: usize,
    flags: u64,
) -> Result<CString> {
    if address == 0 {
        return Err(null("devPtr"));
    }
    if capacity < KEY_CAPACITY {
        return value(format!("len is {capacity}; {KEY_CAPACITY} is the least"));
    }
    let listed_only = match flags {
        enums::ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT => true,
        enums::ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION => false,
        _ => return value(format!("flags are {flags}; they must be 0 or 1")),
    };
    cx.context()?;
    let name = cx.runtime()?.export_memory(address, size, listed_only)?;
    Ok(Key::Memory(name).text())
}

/// With the flag for access from other devices nothing is left to do: memory is mapped for all of them.
pub fn aclrtIpcMemImportByKey(cx: &Cx<'_>, key: Option<&CStr>, flags: u64) -> Result<usize> {
    let name = memory_name(key)?;
    if flags > enums::ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS {
        return value(format!("flags are {flags}; they must be 0 or 1"));
    }
    let context = cx.context()?;
    cx.runtime()?.import_memory(&context, name, &cx.caller())
}

pub fn aclrtIpcMemClose(cx: &Cx<'_>, key: Option<&CStr>) -> Result<()> {
    let name = memory_name(key)?;
    cx.runtime()?.close_memory(name, &cx.caller())
}

pub fn aclrtIpcMemSetImportPid(
    cx: &Cx<'_>,
    key: Option<&CStr>,
    pids: Option<&[i32]>,
    count: usize,
) -> Result<()> {
    let name = memory_name(key)?;
    let processes = self::processes(pids, count)?;
    cx.runtime()?.admit_to_memory(name, &processes)
}

/// Which link the memory is reached by makes no difference between processes of one machine.
pub fn aclrtIpcMemSetAttr(
    cx: &Cx<'_>,
    key: Option<&CStr>,
    attribute: u32,
    link: u64,
) -> Result<()> {
    let name = memory_name(key)?;
    if attribute != enums::ACL_RT_IPC_MEM_ATTR_ACCESS_LINK {
        return value(crate::not_a_value("aclrtIpcMemAttrType", attribute));
    }
    if link > 1 {
        return value(format!("link {link} is not a value of aclrtMemLinkType"));
    }
    if cx.runtime()?.knows_memory(name) {
        return Ok(());
    }
    value("this process neither shares memory under this key nor has it".into())
}

/// What a handle of an event begins with; the number follows, and then zeros.
const EVENT: [u8; 8] = *b"JUMAREVT";

pub(crate) fn event_handle(number: u64) -> types::aclrtIpcEventHandle {
    let mut handle = types::aclrtIpcEventHandle::ZERO;
    handle.reserved[..8].copy_from_slice(&EVENT);
    handle.reserved[8..16].copy_from_slice(&number.to_ne_bytes());
    handle
}

pub(crate) fn event_number(handle: &types::aclrtIpcEventHandle) -> Result<u64> {
    let mut number = [0; 8];
    number.copy_from_slice(&handle.reserved[8..16]);
    let number = u64::from_ne_bytes(number);
    if event_handle(number).reserved == handle.reserved {
        Ok(number)
    } else {
        value("the handle is none that aclrtIpcGetEventHandle wrote".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Key> {
        Key::read(&CString::new(text).expect("no zero byte"))
    }

    #[test]
    fn only_the_key_that_was_issued_is_read() {
        let name = MemoryName {
            number: u64::MAX,
            offset: 4095,
            bytes: usize::MAX,
        };
        let longest = Key::Memory(name).text();
        assert!(longest.as_bytes_with_nul().len() <= KEY_CAPACITY);
        assert!(matches!(Key::read(&longest), Some(Key::Memory(read)) if read == name));
        let keys = [longest, Key::Notify(0x7f).text()];
        for key in keys.iter().map(|key| key.to_str().expect("it is text")) {
            for length in 0..key.len() {
                assert!(read(&key[..length]).is_none(), "cut to {length}");
            }
            let changed = key.replacen("-f", "-e", 1).replacen("7f", "7e", 1);
            assert!(changed != key && read(&changed).is_none());
        }
        // As keys were before they had a checksum.
        assert!(read("jumar-memory-7f-0-1000").is_none());
    }

    #[test]
    fn the_checksum_is_fnv_1a() {
        // The published test vectors.
        assert_eq!(checksum(""), 0x811c_9dc5);
        assert_eq!(checksum("a"), 0xe40c_292c);
        assert_eq!(checksum("foobar"), 0xbf9c_f968);
    }
}
