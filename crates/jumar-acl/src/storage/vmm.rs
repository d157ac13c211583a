//! Virtual memory: reserve addresses, make physical memory, map one into the other.

use jumar::engine::{AccessRight, Accessor, GRANULARITY};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

fn bad<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidArgument, sentence)
}

/// The wanted address is a hint, which is not taken. A thread without a device reserves for the first one: the range belongs to
/// the process, and the memory that is mapped later names its own device. PyTorch's adapter relies on it before release 2.10.
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
        return bad(format!("the alignment is {alignment}; it must be 0"));
    }
    if flags > 1 {
        return bad(format!("flags are {flags}; they must be 0 or 1"));
    }
    let runtime = cx.runtime()?;
    let device = match cx.context() {
        Ok(context) => context.device().clone(),
        Err(error) if error.kind() == ErrorKind::NoContext => runtime.device(0)?,
        Err(error) => return Err(error),
    };
    runtime
        .reserve_addresses(&device, size)
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
            "handleType is {}; it must be 0 (none), with which memory can be shared too",
            properties.handleType
        ));
    }
    if properties.allocationType != enums::ACL_MEM_ALLOCATION_TYPE_PINNED {
        return bad(format!(
            "allocationType is {}; it must be 0 (pinned)",
            properties.allocationType
        ));
    }
    if properties.memAttr > enums::ACL_HBM_MEM_P2P_HUGE1G {
        return bad(format!(
            "memAttr {} is not a value of aclrtMemAttr",
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
        return bad(format!("flags are {flags}; they must be 0"));
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

fn map(
    cx: &Cx<'_>,
    (address, size, offset): (usize, usize, usize),
    handle: Raw,
    flags: u64,
    with_access: bool,
) -> Result<()> {
    if address == 0 {
        return Err(null("virPtr"));
    }
    if size == 0 {
        return bad("the size is 0".into());
    }
    if flags != 0 {
        return bad(format!("flags are {flags}; they must be 0"));
    }
    let memory = cx.runtime()?.physical(handle.0)?;
    if offset != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("the offset is {offset}; it must be 0"),
        );
    }
    cx.runtime()?
        .map_memory(address, size, &memory, with_access, &cx.caller())
}

pub fn aclrtMapMem(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    offset: usize,
    handle: Raw,
    flags: u64,
) -> Result<()> {
    map(cx, (address, size, offset), handle, flags, true)
}

pub fn aclrtMemMapNoAccess(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    offset: usize,
    handle: Raw,
    flags: u64,
) -> Result<()> {
    map(cx, (address, size, offset), handle, flags, false)
}

/// There is one way from device to device here, so that every link that the interface names is that way.
pub fn aclrtMemMapSelectedLink(
    cx: &Cx<'_>,
    to: usize,
    size: usize,
    from: usize,
    link: u32,
) -> Result<()> {
    for (address, name) in [(to, "virPtrDst"), (from, "virPtrSrc")] {
        if address == 0 {
            return Err(null(name));
        }
    }
    if link > enums::ACL_RT_MEM_LINK_IDX_1 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("linkIdx is {link}; it must be 0 or 1"),
        );
    }
    let runtime = cx.runtime()?;
    let memory = runtime.mapped_at(from).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("no physical memory is mapped at {from:#x} (virPtrSrc)"),
        )
    })?;
    runtime.map_memory(to, size, &memory, true, &cx.caller())
}

/// The advice has no effect, as there is one link.
pub fn aclrtMemMapSetLink(cx: &Cx<'_>, handle: Raw, link: u32) -> Result<()> {
    if link > enums::ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH {
        return refuse(
            ErrorKind::InvalidValue,
            crate::not_a_value("aclrtMemLinkType", link),
        );
    }
    cx.runtime()?.physical(handle.0).map(drop)
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
        return bad(crate::not_a_value("aclrtMemGranularityOptions", option));
    }
    Ok(GRANULARITY)
}

fn accessor(cx: &Cx<'_>, location: &types::aclrtMemLocation) -> Result<Accessor> {
    match location.r#type {
        enums::ACL_MEM_LOCATION_TYPE_HOST => Ok(Accessor::Host),
        enums::ACL_MEM_LOCATION_TYPE_DEVICE => {
            let device = cx.runtime()?.device(i64::from(location.id))?;
            Ok(Accessor::Device(device.number()))
        }
        other => refuse(
            ErrorKind::InvalidValue,
            format!("location type {other} is neither host (0) nor device (1)"),
        ),
    }
}

/// Every device here reaches every other's memory, so that granting opens nothing but a mapping made without access. What
/// was granted can be queried, and operations on memory without access are refused.
pub fn aclrtMemSetAccess(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    descriptions: Option<&[types::aclrtMemAccessDesc]>,
    count: usize,
) -> Result<()> {
    let value = |what: String| Error::new(ErrorKind::InvalidValue, what);
    if address == 0 || count == 0 {
        return Err(value(
            "virPtr is null, or there is nothing to set".to_owned(),
        ));
    }
    let descriptions = descriptions.ok_or_else(|| value("desc is null".to_owned()))?;
    let mut grants = Vec::with_capacity(descriptions.len());
    for description in descriptions {
        let right = match description.flags {
            enums::ACL_RT_MEM_ACCESS_FLAGS_NONE => AccessRight::None,
            enums::ACL_RT_MEM_ACCESS_FLAGS_READ => AccessRight::Read,
            enums::ACL_RT_MEM_ACCESS_FLAGS_READWRITE => AccessRight::ReadWrite,
            other => {
                return Err(value(format!(
                    "flags are {other}, which is not a value of aclrtMemAccessFlags"
                )));
            }
        };
        grants.push((accessor(cx, &description.location)?, right));
    }
    cx.runtime()?
        .set_access(address, size, &grants, &cx.caller())
}

pub fn aclrtMemGetAccess(
    cx: &Cx<'_>,
    address: usize,
    location: Option<&types::aclrtMemLocation>,
) -> Result<u64> {
    if address == 0 {
        return Err(null("virPtr"));
    }
    let location = location.ok_or_else(|| null("location"))?;
    let who = accessor(cx, location)?;
    let right = cx.runtime()?.access(address, who)?;
    Ok(u64::from(match right {
        AccessRight::None => enums::ACL_RT_MEM_ACCESS_FLAGS_NONE,
        AccessRight::Read => enums::ACL_RT_MEM_ACCESS_FLAGS_READ,
        AccessRight::ReadWrite => enums::ACL_RT_MEM_ACCESS_FLAGS_READWRITE,
    }))
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
