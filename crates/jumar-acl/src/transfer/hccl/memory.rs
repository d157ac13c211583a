//! Memory that programs register with a communicator to make operations faster on a card. Operations here work on any memory,
//! so that registrations are checked, kept and otherwise without effect.

use std::sync::Arc;

use jumar::offline::DeviceMemory;
use jumar_types::{Error, ErrorKind, Result};

use super::{Comm, OwnBuffer, wrong};
use crate::error::null;
use crate::{Cx, Raw};

/// Memory that was registered with a communicator.
pub(crate) struct RegisteredMemory {
    id: u64,
    comm: u64,
    address: usize,
    bytes: usize,
    kind: RegistrationKind,
}

/// The call that registered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RegistrationKind {
    Range,
    Active,
    Window,
    Buffer,
}

impl RegisteredMemory {
    fn covers(&self, address: usize, bytes: usize) -> bool {
        address >= self.address
            && address - self.address <= self.bytes
            && bytes <= self.bytes - (address - self.address)
    }

    fn overlaps(&self, address: usize, bytes: usize) -> bool {
        address < self.address.saturating_add(self.bytes)
            && self.address < address.saturating_add(bytes)
    }
}

fn all_of(cx: &Cx<'_>, comm: u64, kind: RegistrationKind) -> Vec<Arc<RegisteredMemory>> {
    let mut all = cx.process.communication.memory.all();
    all.retain(|one| one.comm == comm && one.kind == kind);
    all
}

fn add(
    cx: &Cx<'_>,
    comm: u64,
    (address, bytes): (usize, usize),
    kind: RegistrationKind,
) -> Result<Raw> {
    let made = cx.process.communication.memory.insert(|id| {
        Arc::new(RegisteredMemory {
            id,
            comm,
            address,
            bytes,
            kind,
        })
    })?;
    Ok(Raw(made.id))
}

fn remove(cx: &Cx<'_>, id: u64) -> Result<()> {
    let memory = &cx.process.communication.memory;
    memory.remove(id, cx.call.name).map(drop)
}

/// Takes the registrations of a communicator away that is destroyed, and frees its own buffer.
pub(super) fn release(cx: &Cx<'_>, comm: &Comm) {
    let all = cx.process.communication.memory.all();
    for one in all.iter().filter(|one| one.comm == comm.id) {
        drop(remove(cx, one.id));
    }
    drop(comm.own_buffer.lock().take());
}

fn check_range(address: usize, bytes: usize, what: &str) -> Result<()> {
    if address == 0 {
        return Err(null(what));
    }
    if bytes == 0 || address.checked_add(bytes).is_none() {
        return wrong(format!(
            "{what}: {bytes} bytes at {address:#x} are not a range"
        ));
    }
    Ok(())
}

fn check_reserved(name: &str, value: u64) -> Result<()> {
    match value {
        0 => Ok(()),
        _ => wrong(format!("{name} is {value}; it is reserved and has to be 0")),
    }
}

pub fn HcclCommSetMemoryRange(
    cx: &Cx<'_>,
    comm: Raw,
    address: usize,
    bytes: usize,
    alignment: usize,
    flags: u64,
) -> Result<()> {
    let comm = cx.comm(comm)?;
    check_range(address, bytes, "baseVirPtr")?;
    check_reserved("alignment", alignment as u64)?;
    check_reserved("flags", flags)?;
    let ranges = all_of(cx, comm.id, RegistrationKind::Range);
    if ranges.iter().any(|one| one.overlaps(address, bytes)) {
        return wrong(format!(
            "{bytes} bytes at {address:#x} overlap a range of the communicator"
        ));
    }
    add(cx, comm.id, (address, bytes), RegistrationKind::Range).map(drop)
}

pub fn HcclCommUnsetMemoryRange(cx: &Cx<'_>, comm: Raw, address: usize) -> Result<()> {
    let comm = cx.comm(comm)?;
    let ranges = all_of(cx, comm.id, RegistrationKind::Range);
    let Some(range) = ranges.iter().find(|one| one.address == address) else {
        return wrong(format!(
            "no range of the communicator begins at {address:#x}"
        ));
    };
    let active = all_of(cx, comm.id, RegistrationKind::Active);
    if active
        .iter()
        .any(|one| range.covers(one.address, one.bytes))
    {
        return wrong(format!(
            "memory in the range at {address:#x} is still active"
        ));
    }
    remove(cx, range.id)
}

pub fn HcclCommActivateCommMemory(
    cx: &Cx<'_>,
    comm: Raw,
    address: usize,
    bytes: usize,
    offset: usize,
    handle: Raw,
    flags: u64,
) -> Result<()> {
    let comm = cx.comm(comm)?;
    check_range(address, bytes, "virPtr")?;
    if handle.is_null() {
        return Err(null("handle"));
    }
    check_reserved("offset", offset as u64)?;
    check_reserved("flags", flags)?;
    let ranges = all_of(cx, comm.id, RegistrationKind::Range);
    if !ranges.iter().any(|one| one.covers(address, bytes)) {
        return wrong(format!(
            "{bytes} bytes at {address:#x} are in no range of the communicator"
        ));
    }
    let active = all_of(cx, comm.id, RegistrationKind::Active);
    if active.iter().any(|one| one.overlaps(address, bytes)) {
        return wrong(format!("memory at {address:#x} is active already"));
    }
    add(cx, comm.id, (address, bytes), RegistrationKind::Active).map(drop)
}

pub fn HcclCommDeactivateCommMemory(cx: &Cx<'_>, comm: Raw, address: usize) -> Result<()> {
    let comm = cx.comm(comm)?;
    let active = all_of(cx, comm.id, RegistrationKind::Active);
    match active.iter().find(|one| one.address == address) {
        Some(one) => remove(cx, one.id),
        None => wrong(format!("no active memory begins at {address:#x}")),
    }
}

/// Network cards and their backups are of a card.
pub fn HcclCommWorkingDevNicSet(
    cx: &Cx<'_>,
    comm: Raw,
    ranks: Option<&[u32]>,
    backup: usize,
    _count: u32,
) -> Result<()> {
    let comm = cx.comm(comm)?;
    let size = comm.engine()?.size();
    let ranks = ranks.ok_or_else(|| null("ranks"))?;
    if backup == 0 {
        return Err(null("useBackup"));
    }
    match ranks.iter().find(|rank| **rank >= size) {
        Some(rank) => wrong(format!("rank {rank} is not below {size}")),
        None => Ok(()),
    }
}

/// The one flag of a window.
const WINDOW_FLAG: u32 = 1;

pub fn HcclCommSymWinRegister(
    cx: &Cx<'_>,
    comm: Raw,
    address: usize,
    bytes: u64,
    flag: u32,
) -> Result<Raw> {
    let comm = cx.comm(comm)?;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    check_range(address, bytes, "addr")?;
    if flag != WINDOW_FLAG {
        return wrong(format!("flag is {flag}; it must be {WINDOW_FLAG}"));
    }
    add(cx, comm.id, (address, bytes), RegistrationKind::Window)
}

fn registered(cx: &Cx<'_>, handle: Raw, kind: RegistrationKind) -> Result<Arc<RegisteredMemory>> {
    let found = cx.process.communication.memory.get(handle.0)?;
    match found.kind == kind {
        true => Ok(found),
        false => wrong("the handle is of memory that was registered by another call"),
    }
}

pub fn HcclCommSymWinDeregister(cx: &Cx<'_>, window: Raw) -> Result<()> {
    cx.comm_settings()?;
    let window = registered(cx, window, RegistrationKind::Window)?;
    remove(cx, window.id)
}

pub fn HcclCommSymWinGet(
    cx: &Cx<'_>,
    comm: Raw,
    address: usize,
    bytes: usize,
) -> Result<(Raw, usize)> {
    let comm = cx.comm(comm)?;
    check_range(address, bytes, "ptr")?;
    let windows = all_of(cx, comm.id, RegistrationKind::Window);
    match windows.iter().find(|one| one.covers(address, bytes)) {
        Some(window) => Ok((Raw(window.id), address - window.address)),
        None => Err(Error::new(
            ErrorKind::CommUnknownName,
            format!("{bytes} bytes at {address:#x} are not in a window of the communicator"),
        )),
    }
}

pub fn HcclCommRegister(
    cx: &Cx<'_>,
    comm: Raw,
    address: usize,
    bytes: u64,
    flag: u32,
) -> Result<usize> {
    let comm = cx.comm(comm)?;
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    check_range(address, bytes, "addr")?;
    check_reserved("flag", flag.into())?;
    let made = add(cx, comm.id, (address, bytes), RegistrationKind::Buffer)?;
    Ok(made.0 as usize)
}

pub fn HcclCommDeregister(cx: &Cx<'_>, comm: Raw, handle: Raw) -> Result<()> {
    let comm = cx.comm(comm)?;
    let buffer = registered(cx, handle, RegistrationKind::Buffer)?;
    match buffer.comm == comm.id {
        true => remove(cx, buffer.id),
        false => wrong("the memory was registered with another communicator"),
    }
}

pub fn HcclCommExchangeMem(
    cx: &Cx<'_>,
    comm: Raw,
    handle: Raw,
    peers: Option<&[u32]>,
    _count: u32,
) -> Result<()> {
    let comm = cx.comm(comm)?;
    registered(cx, handle, RegistrationKind::Buffer)?;
    let size = comm.engine()?.size();
    let peers = peers.ok_or_else(|| null("peerRanks"))?;
    match peers.iter().find(|rank| **rank >= size) {
        Some(rank) => wrong(format!("rank {rank} is not below {size}")),
        None => Ok(()),
    }
}

/// A buffer of the configured size, made when it is first asked for, and again after a reset of the device took it away.
pub fn HcclGetHcclBuffer(cx: &Cx<'_>, comm: Raw) -> Result<(usize, u64)> {
    let comm = cx.comm(comm)?;
    let bytes = u64::from(comm.buffer) << 20;
    let epoch = cx.runtime()?.device(i64::from(comm.device))?.epoch();
    let mut own = comm.own_buffer.lock();
    if let Some(made) = own.as_ref().filter(|made| made.epoch == epoch) {
        return Ok((made.memory.span().address(), bytes));
    }
    let context = cx.context()?;
    if context.device().number() != comm.device {
        return wrong(format!(
            "the current device is {}; the communicator works on device {}",
            context.device().number(),
            comm.device
        ));
    }
    let size = usize::try_from(bytes).unwrap_or(usize::MAX);
    let memory = DeviceMemory::allocate(&context, size, &cx.caller())?;
    let address = memory.span().address();
    *own = Some(OwnBuffer {
        memory,
        epoch: context.epoch(),
    });
    Ok((address, bytes))
}
