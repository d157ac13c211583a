//! Access from one device to another's memory. All devices here share one address space, so that access is always possible;
//! enabling it is kept, because programs ask for what they enabled.

use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::{Cx, refuse};

pub fn aclrtDeviceCanAccessPeer(cx: &Cx<'_>, device: i32, peer: i32) -> Result<i32> {
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    runtime.device(i64::from(peer))?;
    if device == peer {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("device {device} is not a peer of itself"),
        );
    }
    Ok(1)
}

pub fn aclrtDeviceEnablePeerAccess(cx: &Cx<'_>, peer: i32, flags: u32) -> Result<()> {
    if flags != 0 {
        return refuse(
            ErrorKind::FrontendFeatureUnsupported,
            format!("flags are {flags}; they must be 0"),
        );
    }
    let current = check(cx, peer)?;
    cx.process.parameters.lock().peers.insert((current, peer));
    Ok(())
}

pub fn aclrtDeviceDisablePeerAccess(cx: &Cx<'_>, peer: i32) -> Result<()> {
    let current = check(cx, peer)?;
    cx.process.parameters.lock().peers.remove(&(current, peer));
    Ok(())
}

/// Returns the current device's number, if the peer exists and is another one.
fn check(cx: &Cx<'_>, peer: i32) -> Result<u32> {
    let current = cx.context()?.device().number();
    cx.runtime()?.device(i64::from(peer))?;
    if i64::from(current) == i64::from(peer) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("device {peer} is the current device, not a peer"),
        );
    }
    Ok(current)
}

pub fn aclrtDevicePeerAccessStatus(cx: &Cx<'_>, device: i32, peer: i32) -> Result<i32> {
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    runtime.device(i64::from(peer))?;
    Ok(i32::from(
        cx.process
            .parameters
            .lock()
            .peers
            .contains(&(device as u32, peer)),
    ))
}

pub fn aclrtDeviceGetP2PAtomicCapabilities(
    cx: &Cx<'_>,
    operations: Option<&[u32]>,
    count: u32,
    from: i32,
    to: i32,
) -> Result<Vec<u32>> {
    let capabilities = crate::device::atomics(operations, count)?;
    let runtime = cx.runtime()?;
    runtime.device(i64::from(from))?;
    runtime.device(i64::from(to))?;
    Ok(capabilities)
}

/// Through the memory of the machine, which is the loosest of the links that programs know.
const THROUGH_THE_MACHINE: u64 = 1 << 4;

pub fn aclrtGetDevicesTopo(cx: &Cx<'_>, device: u32, other: u32) -> Result<u64> {
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    runtime.device(i64::from(other))?;
    if device == other {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("device {device} has no link to itself"),
        );
    }
    Ok(THROUGH_THE_MACHINE)
}

/// Memory of every device is mapped for all of them; what is left is to check the arguments.
pub fn aclrtMemP2PMap(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    device: i32,
    flags: u64,
) -> Result<()> {
    if address == 0 {
        return Err(null("devPtr"));
    }
    if size == 0 || flags != 0 {
        return refuse(
            ErrorKind::InvalidValue,
            format!(
                "the size is {size} and flags are {flags}; the size has to be more than 0, and flags 0"
            ),
        );
    }
    cx.context()?;
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    let block = runtime
        .space()
        .find(address)
        .filter(|block| block.home.is_device());
    if block.is_none_or(|block| {
        let offset = address - block.span.address();
        block.span.part(offset, size).is_none()
    }) {
        return refuse(
            ErrorKind::InvalidValue,
            format!("{size} bytes at {address:#x} are not device memory"),
        );
    }
    Ok(())
}
