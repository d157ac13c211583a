//! Virtual memory: reserve addresses, make physical memory, map one into the other.

use jumar::engine::GRANULARITY;
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

fn bad<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidArgument, sentence)
}

/// The wanted address is a hint, which is not taken.
pub fn aclrtReserveMemAddress(
    cx: &Cx<'_>,
    size: usize,
    alignment: usize,
    _wanted: usize,
    flags: u64,
) -> Result<usize> {
    if size == 0 {
        return bad("the size is 0".into());
    }
    if alignment != 0 {
        return bad(format!("the alignment is {alignment}; it has to be 0"));
    }
    if flags > 1 {
        return bad(format!("flags are {flags}; they have to be 0 or 1"));
    }
    let context = cx.context()?;
    cx.runtime()?
        .reserve_addresses(context.device(), size)
        .map(|span| span.address())
}

pub fn aclrtReserveMemAddressNoUCMemory(
    cx: &Cx<'_>,
    size: usize,
    alignment: usize,
    wanted: usize,
    flags: u64,
) -> Result<usize> {
    aclrtReserveMemAddress(cx, size, alignment, wanted, flags)
}

pub fn aclrtReleaseMemAddress(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return Err(null("virPtr"));
    }
    cx.runtime()?.release_addresses(address)
}

fn check(properties: Option<&types::aclrtPhysicalMemProp>) -> Result<&types::aclrtPhysicalMemProp> {
    let properties = properties.ok_or_else(|| null("prop"))?;
    if properties.handleType != enums::ACL_MEM_HANDLE_TYPE_NONE {
        return bad(format!(
            "handleType is {}; it has to be 0 (none), with which memory can be shared too",
            properties.handleType
        ));
    }
    if properties.allocationType != enums::ACL_MEM_ALLOCATION_TYPE_PINNED {
        return bad(format!(
            "allocationType is {}; it has to be 0 (pinned)",
            properties.allocationType
        ));
    }
    if properties.memAttr > enums::ACL_HBM_MEM_P2P_HUGE1G {
        return bad(format!(
            "memAttr {} is no value of aclrtMemAttr",
            properties.memAttr
        ));
    }
    if properties.location.r#type != enums::ACL_MEM_LOCATION_TYPE_DEVICE {
        return bad(format!(
            "the location is of type {}; only device memory is made",
            properties.location.r#type
        ));
    }
    Ok(properties)
}

pub fn aclrtMallocPhysical(
    cx: &Cx<'_>,
    size: usize,
    properties: Option<&types::aclrtPhysicalMemProp>,
    flags: u64,
) -> Result<Raw> {
    if size == 0 {
        return bad("the size is 0".into());
    }
    if flags != 0 {
        return bad(format!("flags are {flags}; they have to be 0"));
    }
    let properties = check(properties)?;
    let memory = cx
        .runtime()?
        .create_physical(i64::from(properties.location.id), size)?;
    Ok(Raw(memory.id()))
}

pub fn aclrtFreePhysical(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    cx.runtime()?.free_physical(handle.0, &cx.caller())
}

pub fn aclrtMapMem(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    offset: usize,
    handle: Raw,
    flags: u64,
) -> Result<()> {
    if address == 0 {
        return Err(null("virPtr"));
    }
    if size == 0 {
        return bad("the size is 0".into());
    }
    if flags != 0 {
        return bad(format!("flags are {flags}; they have to be 0"));
    }
    let memory = cx.runtime()?.physical(handle.0)?;
    if offset != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the offset is {offset}; it has to be 0"),
        );
    }
    cx.runtime()?
        .map_memory(address, size, &memory, &cx.caller())
}

pub fn aclrtUnmapMem(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return Err(null("virPtr"));
    }
    cx.runtime()?.unmap_memory(address, &cx.caller())
}

pub fn aclrtMemGetAllocationGranularity(
    _cx: &Cx<'_>,
    properties: Option<&types::aclrtPhysicalMemProp>,
    option: u32,
) -> Result<usize> {
    check(properties)?;
    if option > enums::ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED {
        return bad(format!(
            "{option} is no value of aclrtMemGranularityOptions"
        ));
    }
    Ok(GRANULARITY)
}

/// Every device here reaches every other's memory, so that there is nothing to open; the arguments are checked all the same.
pub fn aclrtMemSetAccess(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    descriptions: Option<&[types::aclrtMemAccessDesc]>,
    count: usize,
) -> Result<()> {
    let value = |what: &str| Error::new(ErrorKind::InvalidValue, what.to_owned());
    if address == 0 || count == 0 {
        return Err(value("virPtr is null, or there is nothing to set"));
    }
    let descriptions = descriptions.ok_or_else(|| value("desc is null"))?;
    let runtime = cx.runtime()?;
    for description in descriptions {
        runtime.device(i64::from(description.location.id))?;
    }
    let block = runtime.space().find(address);
    if block.is_none_or(|block| {
        block
            .span
            .part(address - block.span.address(), size)
            .is_none()
    }) {
        return Err(value(&format!(
            "{size} bytes at {address:#x} are not mapped as a whole"
        )));
    }
    Ok(())
}

pub fn aclrtMemRetainAllocationHandle(cx: &Cx<'_>, address: usize) -> Result<Raw> {
    if address == 0 {
        return Err(null("virPtr"));
    }
    cx.runtime()?
        .mapped_at(address)
        .map(|memory| Raw(memory.id()))
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidValue,
                format!("no physical memory is mapped at {address:#x}"),
            )
        })
}

pub fn aclrtMemGetAllocationPropertiesFromHandle(
    cx: &Cx<'_>,
    handle: Raw,
) -> Result<types::aclrtPhysicalMemProp> {
    let memory = cx.runtime()?.physical(handle.0)?;
    let mut properties = types::aclrtPhysicalMemProp::ZERO;
    properties.memAttr = enums::ACL_HBM_MEM_HUGE;
    properties.location.r#type = enums::ACL_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = memory.device();
    Ok(properties)
}
