//! Allocation, and where memory lives.

use jumar::engine::Home;
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
    // The policy chooses page sizes on hardware; unknown values are accepted there, and all are alike here.
    cx.context()?
        .allocate(size, reserve, &cx.caller())
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
            Some(Home::Device(device)) => (enums::ACL_MEM_LOCATION_TYPE_DEVICE, device),
            Some(Home::Pinned) => (enums::ACL_MEM_LOCATION_TYPE_HOST, 0),
            Some(Home::Host) | None => (enums::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0),
        };
    Ok(attributes)
}

pub fn aclrtMemGetAddressRange(cx: &Cx<'_>, address: usize) -> Result<(usize, usize)> {
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
