//! Allocation, and where memory lives.

use jumar::engine::{Home, Span};
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::{enums, types};
use crate::{Cx, refuse};

/// Sizes are rounded up to this, and `aclrtMalloc` adds as much again.
const GRAIN: usize = 32;

fn round_up(size: usize) -> Result<usize> {
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    size.checked_next_multiple_of(GRAIN)
        .filter(|&bytes| bytes < isize::MAX as usize - GRAIN)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::OutOfMemory,
                format!("{size} bytes are more than any device has"),
            )
        })
}

fn allocate(cx: &Cx<'_>, size: usize, padding: usize) -> Result<usize> {
    let reserve = round_up(size)? + padding;
    // The policy chooses page sizes on hardware; unknown values are accepted there, and all are alike here. Programs may
    // use what the rounding adds, as the interface documents it.
    cx.context()?
        .allocate(reserve, reserve, &cx.caller())
        .map(|block| block.span.address())
}

pub fn aclrtMalloc(cx: &Cx<'_>, size: usize, _policy: u32) -> Result<usize> {
    allocate(cx, size, GRAIN)
}

pub fn aclrtMallocCached(cx: &Cx<'_>, size: usize, _policy: u32) -> Result<usize> {
    allocate(cx, size, GRAIN)
}

pub fn aclrtMallocAlign32(cx: &Cx<'_>, size: usize, _policy: u32) -> Result<usize> {
    allocate(cx, size, 0)
}

pub fn acldvppMalloc(cx: &Cx<'_>, size: usize) -> Result<usize> {
    allocate(cx, size, GRAIN)
}

pub fn aclrtFree(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "devPtr is null");
    }
    cx.runtime()?.free_device(address, &cx.caller())
}

pub fn acldvppFree(cx: &Cx<'_>, address: usize) -> Result<()> {
    aclrtFree(cx, address)
}

pub fn aclrtFreeWithDevSync(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "devPtr is null");
    }
    crate::error::told(cx, cx.context()?.synchronize(None, &cx.caller()))?;
    aclrtFree(cx, address)
}

pub fn aclrtMallocHost(cx: &Cx<'_>, size: usize) -> Result<usize> {
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    cx.context()?;
    cx.runtime()?
        .allocate_pinned(size, &cx.caller())
        .map(|block| block.span.address())
}

pub fn aclrtFreeHost(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "hostPtr is null");
    }
    cx.runtime()?.free_pinned(address, &cx.caller())
}

pub fn aclrtFreeHostWithDevSync(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "hostPtr is null");
    }
    crate::error::told(cx, cx.context()?.synchronize(None, &cx.caller()))?;
    aclrtFreeHost(cx, address)
}

pub fn aclrtGetMemInfo(cx: &Cx<'_>, attribute: u32) -> Result<(usize, usize)> {
    // The device of the default profile has HBM and no DDR; a question for DDR is answered with nothing.
    let context = cx.context()?;
    match attribute {
        enums::ACL_HBM_MEM | enums::ACL_HBM_MEM_HUGE | enums::ACL_HBM_MEM_NORMAL => {
            let (free, total) = context.device().memory_info();
            Ok((free as usize, total as usize))
        }
        0..=enums::ACL_HBM_MEM_P2P_HUGE1G => Ok((0, 0)),
        _ => refuse(
            ErrorKind::InvalidMemoryType,
            format!("{attribute} is no value of aclrtMemAttr"),
        ),
    }
}

pub fn aclrtPointerGetAttributes(cx: &Cx<'_>, address: usize) -> Result<types::aclrtPtrAttributes> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "ptr is null");
    }
    let mut attributes = types::aclrtPtrAttributes::ZERO;
    attributes.pageSize = 4096;
    (attributes.location.r#type, attributes.location.id) =
        match cx.runtime()?.space().home_of(address) {
            Some(Home::Device(device) | Home::Variable(device)) => {
                (enums::ACL_MEM_LOCATION_TYPE_DEVICE, device)
            }
            Some(Home::Pinned | Home::Registered) => (enums::ACL_MEM_LOCATION_TYPE_HOST, 0),
            Some(Home::Host) | None => (enums::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0),
        };
    Ok(attributes)
}

pub fn aclrtMemGetAddressRange(cx: &Cx<'_>, address: usize) -> Result<(usize, usize)> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "ptr is null");
    }
    let block = cx
        .runtime()?
        .space()
        .find(address)
        .filter(|block| block.home.is_device());
    let block = block.ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("{address:#x} lies in no live allocation of device memory"),
        )
    })?;
    Ok((block.span.address(), block.span.bytes()))
}

/// Registrations begin on a page.
const PAGE: usize = 4096;

pub fn aclrtHostRegister(cx: &Cx<'_>, range: Span, _size: u64, kind: u32) -> Result<usize> {
    if kind != enums::ACL_HOST_REGISTER_MAPPED {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!("host memory is not registered as type {kind} here"),
        );
    }
    register(cx, range)?;
    // Host and device share one address space here, so that the device's address is the host's.
    Ok(range.address())
}

pub fn aclrtHostRegisterV2(cx: &Cx<'_>, range: Span, _size: u64, flag: u32) -> Result<()> {
    const PINNED: u32 = 0x1000_0000;
    const KNOWN: u32 = 2 | 4 | 8 | PINNED;
    if flag == 0 || flag & !KNOWN != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("flag {flag:#x} has no bit that is known, or others"),
        );
    }
    register(cx, range)
}

fn register(cx: &Cx<'_>, range: Span) -> Result<()> {
    if range.address() == 0 {
        return refuse(ErrorKind::NullPointer, "ptr is null");
    }
    if range.is_empty() {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    cx.context()?;
    if !range.address().is_multiple_of(PAGE) {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "{:#x} is not the start of a page of {PAGE} bytes",
                range.address()
            ),
        );
    }
    cx.runtime()?.register_host(range, &cx.caller())
}

pub fn aclrtHostUnregister(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "ptr is null");
    }
    cx.context()?;
    cx.runtime()?.unregister_host(address)
}

pub fn aclrtHostGetDevicePointer(cx: &Cx<'_>, address: usize, flag: u32) -> Result<usize> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "pHost is null");
    }
    if flag != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the flag is {flag}; it has to be 0"),
        );
    }
    match cx.runtime()?.space().home_of(address) {
        Some(Home::Pinned | Home::Registered) => Ok(address),
        _ => refuse(
            ErrorKind::HostRangeUnknown,
            format!("{address:#x} is neither pinned nor registered host memory"),
        ),
    }
}
