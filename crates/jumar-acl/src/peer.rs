//! Access from one device to another's memory. All devices here share one address space, so that access is always possible;
//! enabling it is kept, because programs ask for what they enabled.

use jumar_types::{ErrorKind, Result};

use crate::{Cx, refuse};

pub fn aclrtDeviceCanAccessPeer(cx: &Cx<'_>, device: i32, peer: i32) -> Result<i32> {
    let runtime = cx.runtime()?;
    runtime.device(i64::from(device))?;
    runtime.device(i64::from(peer))?;
    if device == peer {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("device {device} is no peer of itself"),
        );
    }
    Ok(1)
}

pub fn aclrtDeviceEnablePeerAccess(cx: &Cx<'_>, peer: i32, flags: u32) -> Result<()> {
    if flags != 0 {
        return refuse(
            ErrorKind::SurfaceUnsupported,
            format!("flags are {flags}; they have to be 0"),
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

/// Gives the current device's number, if the peer exists and is another one.
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
