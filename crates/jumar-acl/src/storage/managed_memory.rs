//! Managed memory: host and device share it at one address.

use jumar::engine::managed::agreed;
use jumar::engine::{Advice, ManagedLocation, ManagedPage};
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

/// The value for the host in queries that return a device id.
const HOST: i32 = -1;
/// The value for no location, or for locations that differ between pages.
const NOWHERE: i32 = -2;

fn bad<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidValue, sentence)
}

pub fn aclrtMemAllocManaged(cx: &Cx<'_>, size: u64, flag: u32) -> Result<usize> {
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    if flag != enums::ACL_RT_MEM_ATTACH_GLOBAL {
        return bad(format!(
            "flag is {flag}; it must be 1 (ACL_RT_MEM_ATTACH_GLOBAL)"
        ));
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let block = cx.context()?.allocate_managed(size, &cx.caller())?;
    Ok(block.span.address())
}

fn managed_location(
    cx: &Cx<'_>,
    location: &types::aclrtMemManagedLocation,
) -> Result<ManagedLocation> {
    match location.r#type {
        enums::ACL_MEM_LOCATIONTYPE_DEVICE => {
            let device = cx.runtime()?.device(i64::from(location.id))?;
            Ok(ManagedLocation::Device(device.number()))
        }
        enums::ACL_MEM_LOCATIONTYPE_HOST | enums::ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT => {
            Ok(ManagedLocation::Host)
        }
        enums::ACL_MEM_LOCATIONTYPE_HOST_NUMA => Ok(ManagedLocation::HostNode(location.id)),
        other => bad(format!(
            "{other} is not a location of managed memory: device (1), host (2), a host's node (3), the current node (4)"
        )),
    }
}

pub fn aclrtMemManagedAdvise(
    cx: &Cx<'_>,
    address: usize,
    size: u64,
    advice: u32,
    location: types::aclrtMemManagedLocation,
) -> Result<()> {
    if address == 0 {
        return Err(null("ptr"));
    }
    let target = || managed_location(cx, &location);
    let advice = match advice {
        enums::ACL_MEM_ADVISE_SET_READ_MOSTLY => Advice::ReadMostly(true),
        enums::ACL_MEM_ADVISE_UNSET_READ_MOSTLY => Advice::ReadMostly(false),
        enums::ACL_MEM_ADVISE_SET_PREFERRED_LOCATION => Advice::Preferred(Some(target()?)),
        enums::ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION => Advice::Preferred(None),
        enums::ACL_MEM_ADVISE_SET_ACCESSED_BY => Advice::AccessedBy(target()?),
        enums::ACL_MEM_ADVISE_UNSET_ACCESSED_BY => Advice::NotAccessedBy(target()?),
        other => {
            return bad(crate::not_a_value("aclrtMemManagedAdviseType", other));
        }
    };
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    cx.runtime()?.advise(address, size, advice).map(drop)
}

fn number_of(location: Option<ManagedLocation>) -> i32 {
    match location {
        Some(ManagedLocation::Device(device)) => device as i32,
        Some(ManagedLocation::Host) => HOST,
        Some(ManagedLocation::HostNode(node)) => node,
        None => NOWHERE,
    }
}

fn kind_of(location: Option<ManagedLocation>) -> i32 {
    (match location {
        Some(ManagedLocation::Device(_)) => enums::ACL_MEM_LOCATIONTYPE_DEVICE,
        Some(ManagedLocation::Host) => enums::ACL_MEM_LOCATIONTYPE_HOST,
        Some(ManagedLocation::HostNode(_)) => enums::ACL_MEM_LOCATIONTYPE_HOST_NUMA,
        None => enums::ACL_MEM_LOCATIONTYPE_INVALID,
    }) as i32
}

/// In queries that return only a device id, a node of the host is the host.
fn device_of(location: Option<ManagedLocation>) -> i32 {
    match location {
        Some(ManagedLocation::HostNode(_)) => HOST,
        other => number_of(other),
    }
}

fn attribute(pages: &[ManagedPage], attribute: u32, capacity: usize) -> Result<Vec<u8>> {
    let preferred = || agreed(pages, |page| page.preferred);
    let prefetched = || agreed(pages, |page| page.prefetched);
    let number = match attribute {
        enums::ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY => {
            i32::from(pages.iter().all(|page| page.read_mostly))
        }
        enums::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION => device_of(preferred()),
        enums::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE => kind_of(preferred()),
        enums::ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID => number_of(preferred()),
        enums::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION => device_of(prefetched()),
        enums::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE => kind_of(prefetched()),
        enums::ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID => number_of(prefetched()),
        enums::ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY => {
            if capacity == 0 || !capacity.is_multiple_of(4) {
                return bad(format!(
                    "dataSize is {capacity}; it must be a multiple of 4 for a list of devices"
                ));
            }
            // Those that every page has.
            let everywhere = pages.first().map(|page| page.accessed_by.clone());
            let mut devices = everywhere.unwrap_or_default();
            devices.retain(|one| pages.iter().all(|page| page.accessed_by.contains(one)));
            let numbers = devices
                .into_iter()
                .map(|location| device_of(Some(location)));
            let numbers = numbers.chain(std::iter::repeat(NOWHERE)).take(capacity / 4);
            return Ok(numbers.flat_map(i32::to_le_bytes).collect());
        }
        other => {
            return bad(crate::not_a_value("aclrtMemManagedRangeAttribute", other));
        }
    };
    if capacity != 4 {
        return bad(format!(
            "dataSize is {capacity}; attribute {attribute} takes 4 bytes"
        ));
    }
    Ok(number.to_le_bytes().to_vec())
}

pub fn aclrtMemManagedGetAttr(
    cx: &Cx<'_>,
    wanted: u32,
    address: usize,
    size: usize,
    capacity: usize,
) -> Result<Vec<u8>> {
    if address == 0 {
        return Err(null("ptr"));
    }
    let pages = cx.runtime()?.managed_pages(address, size)?;
    attribute(&pages, wanted, capacity)
}

/// One result for each attribute, as long as its buffer.
pub fn aclrtMemManagedGetAttrs(
    cx: &Cx<'_>,
    wanted: Option<&[u32]>,
    address: usize,
    size: usize,
    capacities: Option<&[usize]>,
) -> Result<Vec<Vec<u8>>> {
    let (Some(wanted), Some(capacities)) = (wanted, capacities) else {
        return Err(null("attributes or dataSizes"));
    };
    if address == 0 {
        return Err(null("ptr"));
    }
    if wanted.is_empty() {
        return refuse(ErrorKind::InvalidArgument, "numAttributes is 0");
    }
    let pages = cx.runtime()?.managed_pages(address, size)?;
    wanted
        .iter()
        .zip(capacities)
        .map(|(wanted, capacity)| attribute(&pages, *wanted, *capacity))
        .collect()
}

fn no_flags(flags: u64) -> Result<()> {
    if flags == 0 {
        return Ok(());
    }
    bad(format!("flags are {flags}; they must be 0"))
}

/// Nothing moves, as host and device share all memory; a query returns the last location.
pub fn aclrtMemManagedPrefetchAsync(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    location: types::aclrtMemManagedLocation,
    flags: u32,
    stream: Raw,
) -> Result<()> {
    if address == 0 {
        return Err(null("ptr"));
    }
    no_flags(u64::from(flags))?;
    let target = managed_location(cx, &location)?;
    let runtime = cx.runtime()?;
    // A range that is none is refused before anything is queued; what was asked for is kept once it was.
    runtime.managed_pages(address, size)?;
    cx.with_stream(stream, |stream| {
        let range = stream.device_range(address, size, "ptr")?;
        stream.hint("managed prefetch", &[range], &[], &cx.caller())?;
        runtime
            .advise(address, size, Advice::Prefetched(target))
            .map(drop)
    })
}

#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclrtMemManagedPrefetchBatchAsync(
    cx: &Cx<'_>,
    addresses: Option<&[usize]>,
    sizes: Option<&[usize]>,
    count: usize,
    locations: Option<&[types::aclrtMemManagedLocation]>,
    indexes: Option<&[usize]>,
    location_count: usize,
    flags: u64,
    stream: Raw,
) -> Result<()> {
    let (Some(addresses), Some(sizes), Some(locations), Some(indexes)) =
        (addresses, sizes, locations, indexes)
    else {
        return Err(null("ptrs, sizes, prefetchLocs or prefetchLocIdxs"));
    };
    if count == 0 || location_count == 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "the number of ranges, or of locations to move them to, is 0",
        );
    }
    no_flags(flags)?;
    let ordered = indexes.first() == Some(&0)
        && indexes.is_sorted_by(|a, b| a < b)
        && indexes.last().is_some_and(|&last| last < count);
    if !ordered {
        return bad(
            "prefetchLocIdxs has to begin with 0, to rise, and to stay below the number of ranges"
                .to_owned(),
        );
    }
    let targets = locations
        .iter()
        .map(|location| managed_location(cx, location))
        .collect::<Result<Vec<_>>>()?;
    let runtime = cx.runtime()?;
    for (address, size) in addresses.iter().zip(sizes) {
        runtime.managed_pages(*address, *size)?;
    }
    cx.with_stream(stream, |stream| {
        let ranges = addresses
            .iter()
            .zip(sizes)
            .map(|(address, size)| stream.device_range(*address, *size, "a range"))
            .collect::<Result<Vec<_>>>()?;
        stream.hint("managed prefetch", &ranges, &[], &cx.caller())?;
        for (number, (address, size)) in addresses.iter().zip(sizes).enumerate() {
            let group = indexes.partition_point(|&index| index <= number);
            let target = group.checked_sub(1).and_then(|group| targets.get(group));
            let target = target.ok_or_else(|| {
                Error::new(ErrorKind::Internal, "a range of a batch has no location")
            })?;
            runtime.advise(*address, *size, Advice::Prefetched(*target))?;
        }
        Ok(())
    })
}
