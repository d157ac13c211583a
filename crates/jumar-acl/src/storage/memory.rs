//! Allocation, and where memory lives.

use std::sync::Arc;

use jumar::engine::{Context, MemoryKind, Span};
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
    let padding = round_up(size)? + padding - size;
    let padding = u8::try_from(padding).expect("less than two grains");
    // The policy chooses page sizes on hardware; unknown values are accepted there, and all are alike here. Programs may
    // use what the rounding adds, as the interface documents it.
    let take = |context: &Arc<Context>| context.allocate_padded(size, padding, &cx.caller());
    let block = cx.thread.with_context(cx, take)??;
    Ok(block.span.address())
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

/// The attributes of an allocation as the caller passed them: the array, which may be null, and its stated length.
#[derive(Clone, Copy, Debug)]
pub struct MallocConfig<'a> {
    /// The attributes, `None` for null.
    pub attributes: Option<&'a [types::aclrtMallocAttribute]>,
    /// How many there are.
    pub count: usize,
}

/// Checks attributes. The module and the kind of addresses change nothing here; memory of another device cannot be had.
fn check_config(cx: &Cx<'_>, config: Option<MallocConfig<'_>>) -> Result<()> {
    let Some(config) = config else { return Ok(()) };
    let attributes = match config.attributes {
        None if config.count != 0 => {
            return refuse(
                ErrorKind::InvalidArgument,
                format!("attrs is null and numAttrs is {}", config.count),
            );
        }
        None => return Ok(()),
        Some(attributes) => attributes,
    };
    for attribute in attributes {
        match attribute.attr {
            enums::ACL_RT_MEM_ATTR_RSV
            | enums::ACL_RT_MEM_ATTR_MODULE_ID
            | enums::ACL_RT_MEM_ATTR_VA_FLAG => {}
            enums::ACL_RT_MEM_ATTR_DEVICE_ID => {
                let (wanted, current) =
                    (attribute.value.deviceId(), cx.context()?.device().number());
                if wanted != current {
                    return refuse(
                        ErrorKind::InvalidValue,
                        format!(
                            "the attribute names device {wanted}; it must be {current}, the current device"
                        ),
                    );
                }
            }
            other => {
                return refuse(
                    ErrorKind::InvalidValue,
                    crate::not_a_value("aclrtMallocAttrType", other),
                );
            }
        }
    }
    Ok(())
}

/// The policy's bits choose pages and bandwidth on hardware; all memory is alike here.
pub fn aclrtMallocWithCfg(
    cx: &Cx<'_>,
    size: usize,
    _policy: u32,
    config: Option<MallocConfig<'_>>,
) -> Result<usize> {
    round_up(size)?;
    check_config(cx, config)?;
    allocate(cx, size, 0)
}

pub fn aclrtMallocForTaskScheduler(
    cx: &Cx<'_>,
    size: usize,
    policy: u32,
    config: Option<MallocConfig<'_>>,
) -> Result<usize> {
    aclrtMallocWithCfg(cx, size, policy, config)
}

pub fn aclrtMallocHostWithCfg(
    cx: &Cx<'_>,
    size: u64,
    config: Option<MallocConfig<'_>>,
) -> Result<usize> {
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    check_config(cx, config)?;
    aclrtMallocHost(cx, size)
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

/// Attributes as for [`aclrtMallocWithCfg`]; the size is that of [`acldvppMalloc`].
pub fn acldvppMallocWithCfg(
    cx: &Cx<'_>,
    size: usize,
    _policy: u32,
    config: Option<MallocConfig<'_>>,
) -> Result<usize> {
    round_up(size)?;
    check_config(cx, config)?;
    allocate(cx, size, GRAIN)
}

pub fn acldvppFree(cx: &Cx<'_>, address: usize) -> Result<()> {
    aclrtFree(cx, address)
}

pub fn aclrtFreeWithDevSync(cx: &Cx<'_>, address: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "devPtr is null");
    }
    crate::error::report_failure(cx, cx.context()?.synchronize(None, &cx.caller()))?;
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
    crate::error::report_failure(cx, cx.context()?.synchronize(None, &cx.caller()))?;
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
            crate::not_a_value("aclrtMemAttr", attribute),
        ),
    }
}

pub fn aclrtPointerGetAttributes(cx: &Cx<'_>, address: usize) -> Result<types::aclrtPtrAttributes> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "ptr is null");
    }
    let mut attributes = types::aclrtPtrAttributes::ZERO;
    attributes.pageSize = 4096;
    let runtime = cx.runtime()?;
    (attributes.location.r#type, attributes.location.id) = match runtime.space().home_of(address) {
        Some(MemoryKind::Device(device)) if runtime.is_managed(address) => {
            (enums::ACL_MEM_LOCATION_TYPE_MANAGED, device)
        }
        Some(MemoryKind::Device(device) | MemoryKind::Variable(device)) => {
            (enums::ACL_MEM_LOCATION_TYPE_DEVICE, device)
        }
        Some(MemoryKind::Pinned | MemoryKind::Registered) => (enums::ACL_MEM_LOCATION_TYPE_HOST, 0),
        Some(MemoryKind::Host) | None => (enums::ACL_MEM_LOCATION_TYPE_UNREGISTERED, 0),
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
            format!("{address:#x} is not in a live allocation of device memory"),
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
            format!("flag {flag:#x} has no known bit, or has unknown bits"),
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
    register_pages(cx, range)
}

/// Registers host memory as the driver's function does: it names the device and needs no context.
///
/// # Errors
/// A flag for memory that is not the host's, an unknown device, memory that does not begin on a page.
pub fn register_for_device(cx: &Cx<'_>, range: Span, flag: u32, device: u32) -> Result<()> {
    if ![
        enums::HOST_MEM_MAP_DEV,
        enums::HOST_SVM_MAP_DEV,
        enums::HOST_MEM_MAP_DEV_PCIE_TH,
    ]
    .contains(&flag)
    {
        return refuse(
            ErrorKind::FeatureUnsupported,
            format!(
                "flag is {flag}: only host memory is registered here, with 0 (HOST_MEM_MAP_DEV), 1 or 3"
            ),
        );
    }
    if range.address() == 0 {
        return refuse(ErrorKind::NullPointer, "srcPtr is null");
    }
    if range.is_empty() {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    cx.runtime()?.device(i64::from(device))?;
    register_pages(cx, range)
}

pub fn halHostUnregister(cx: &Cx<'_>, address: usize, device: u32) -> Result<u32> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "srcPtr is null");
    }
    cx.runtime()?.device(i64::from(device))?;
    cx.runtime()?.unregister_host(address)?;
    Ok(enums::DRV_ERROR_NONE)
}

fn register_pages(cx: &Cx<'_>, range: Span) -> Result<()> {
    let is_pinned = cx.runtime()?.space().home_of(range.address()) == Some(MemoryKind::Pinned);
    if !is_pinned && !range.address().is_multiple_of(PAGE) {
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
            format!("the flag is {flag}; it must be 0"),
        );
    }
    match cx.runtime()?.space().home_of(address) {
        Some(MemoryKind::Pinned | MemoryKind::Registered) => Ok(address),
        _ => refuse(
            ErrorKind::HostRangeUnknown,
            format!("{address:#x} is neither pinned nor registered host memory"),
        ),
    }
}

/// Which units there are: those that a card of the profile has and that work on host memory. The host itself does their work.
pub fn aclrtHostMemMapCapabilities(cx: &Cx<'_>, device: u32, unit: u32) -> Result<u32> {
    let supported = match unit {
        enums::ACL_RT_HAC_TYPE_STARS
        | enums::ACL_RT_HAC_TYPE_AICPU
        | enums::ACL_RT_HAC_TYPE_AIC
        | enums::ACL_RT_HAC_TYPE_AIV
        | enums::ACL_RT_HAC_TYPE_PCIEDMA
        | enums::ACL_RT_HAC_TYPE_SDMA => true,
        enums::ACL_RT_HAC_TYPE_RDMA
        | enums::ACL_RT_HAC_TYPE_DVPP
        | enums::ACL_RT_HAC_TYPE_UDMA
        | enums::ACL_RT_HAC_TYPE_CCU => false,
        other => {
            return refuse(
                ErrorKind::InvalidValue,
                crate::not_a_value("aclrtHacType", other),
            );
        }
    };
    cx.runtime()?.device(i64::from(device))?;
    Ok(if supported {
        enums::ACL_RT_HOST_MEM_MAP_SUPPORTED
    } else {
        enums::ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED
    })
}

/// Memory here has no cache that a program could see, so that there is nothing to write back or to drop.
fn cached_range(cx: &Cx<'_>, address: usize, size: usize) -> Result<()> {
    if address == 0 {
        return refuse(ErrorKind::NullPointer, "devPtr is null");
    }
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    let block = cx.runtime()?.space().reach(address, size);
    let inside = block
        .filter(|block| block.home.is_device())
        .is_some_and(|block| {
            let offset = address - block.span.address();
            block.span.part(offset, size).is_some()
        });
    if inside {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidValue,
        format!("{size} bytes at {address:#x} are not in a live allocation of device memory"),
    )
}

pub fn aclrtMemFlush(cx: &Cx<'_>, address: usize, size: usize) -> Result<()> {
    cached_range(cx, address, size)
}

pub fn aclrtMemInvalidate(cx: &Cx<'_>, address: usize, size: usize) -> Result<()> {
    cached_range(cx, address, size)
}

/// All device memory that there is belongs to the program, so that there is one entry.
pub fn aclrtGetMemUsageInfo(
    cx: &Cx<'_>,
    device: i32,
    capacity: usize,
) -> Result<(Vec<types::aclrtMemUsageInfo>, usize)> {
    if capacity == 0 {
        return refuse(ErrorKind::InvalidArgument, "inputNum is 0");
    }
    let device = cx.runtime()?.device(i64::from(device))?;
    let mut info = types::aclrtMemUsageInfo::ZERO;
    for (to, from) in info.name.iter_mut().zip(*b"APP") {
        *to = from as _;
    }
    (info.curMemSize, info.memPeakSize) = device.memory_use();
    Ok((vec![info], 1))
}

/// The result is 1 when every address lies in memory of one of the kinds, and 0 otherwise.
pub fn aclrtCheckMemType(
    cx: &Cx<'_>,
    addresses: Option<&[usize]>,
    count: u32,
    kinds: u32,
    reserved: u32,
) -> Result<u32> {
    const KNOWN: u32 =
        enums::ACL_RT_MEM_TYPE_DEV | enums::ACL_RT_MEM_TYPE_DVPP | enums::ACL_RT_MEM_TYPE_RSVD;
    let Some(addresses) = addresses.filter(|_| count != 0) else {
        return refuse(
            ErrorKind::InvalidArgument,
            "addrList is null, or the size is 0",
        );
    };
    if reserved != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("reserve is {reserved}; it must be 0"),
        );
    }
    if kinds == 0 || kinds & !KNOWN != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("memType {kinds:#x} has no known bit, or has unknown bits"),
        );
    }
    let runtime = cx.runtime()?;
    let kind_of = |address: usize| {
        let block = runtime.space().find(address);
        match block.filter(|block| block.home.is_device()) {
            Some(block) if block.made_by == "acldvppMalloc" => enums::ACL_RT_MEM_TYPE_DVPP,
            Some(_) => enums::ACL_RT_MEM_TYPE_DEV,
            None if runtime.is_reserved(address) => enums::ACL_RT_MEM_TYPE_RSVD,
            None => 0,
        }
    };
    let all = addresses
        .iter()
        .all(|&address| kind_of(address) & kinds != 0);
    Ok(u32::from(all))
}
