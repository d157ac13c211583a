//! Physical memory that processes share: exported by one, imported by others.
//!
//! A shareable handle is a number; where the program asks for a fabric handle, the number lies in one.

use jumar_types::{Error, ErrorKind, Result};

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
                "shareType {other} is no value of aclrtMemSharedHandleType"
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
        value("shareableHandle is no fabric handle that Jumar exported".into())
    }
}

/// What both forms of the export do.
pub fn export(cx: &Cx<'_>, handle: Raw, flags: u64) -> Result<u64> {
    if flags > 1 {
        return value(format!("flags are {flags}; they have to be 0 or 1"));
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
        return value(format!(
            "handleType is {handle_type}; it has to be 0 (none)"
        ));
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
        return value(format!("flags are {flags}; they have to be 0"));
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
    let processes = processes.ok_or_else(|| null("pid"))?;
    if count == 0 {
        return value("pidNum is 0".into());
    }
    let processes = processes
        .iter()
        .map(|&process| match u32::try_from(process) {
            Ok(process) if process > 0 => Ok(process),
            _ => Err(Error::new(
                ErrorKind::InvalidValue,
                format!("{process} is the number of no process"),
            )),
        })
        .collect::<Result<Vec<u32>>>()?;
    cx.runtime()?.admit_processes(shareable, &processes)
}
