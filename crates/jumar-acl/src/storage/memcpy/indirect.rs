//! Copies whose ends are read from device memory when their turn comes.

use jumar::engine::{DESCRIPTOR_BYTES, Descriptor};
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

fn check_kind(kind: u32) -> Result<()> {
    match kind {
        enums::ACL_MEMCPY_INNER_DEVICE_TO_DEVICE => Ok(()),
        0..=enums::ACL_MEMCPY_INTER_DEVICE_TO_DEVICE => refuse(
            ErrorKind::InvalidValue,
            format!(
                "the kind is {kind}; a described copy goes within a device (ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)"
            ),
        ),
        _ => refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("aclrtMemcpyKind", kind),
        ),
    }
}

pub fn aclrtGetMemcpyDescSize(_cx: &Cx<'_>, kind: u32) -> Result<usize> {
    check_kind(kind)?;
    Ok(DESCRIPTOR_BYTES)
}

pub fn aclrtSetMemcpyDesc(
    cx: &Cx<'_>,
    desc: usize,
    kind: u32,
    from: usize,
    to: usize,
    count: usize,
    config: usize,
) -> Result<()> {
    for (address, name) in [(desc, "desc"), (from, "srcAddr"), (to, "dstAddr")] {
        if address == 0 {
            return Err(null(name));
        }
    }
    if config != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "config is reserved and has to be null",
        );
    }
    check_kind(kind)?;
    cx.context()?;
    let copy = Descriptor {
        to,
        from,
        bytes: count,
    };
    cx.runtime()?.describe_copy(desc, copy, &cx.caller())
}

/// There is no default stream here.
pub fn aclrtMemcpyAsyncWithDesc(cx: &Cx<'_>, desc: usize, kind: u32, stream: Raw) -> Result<()> {
    if desc == 0 {
        return Err(null("desc"));
    }
    if stream.is_null() {
        return Err(null("stream"));
    }
    check_kind(kind)?;
    cx.with_stream(stream, |stream| stream.copy_described(desc, &cx.caller()))
}

/// `to` and `from` are the locations in device memory that contain the addresses.
#[expect(
    clippy::too_many_arguments,
    reason = "the C interface sets the arguments"
)]
pub fn aclrtMemcpyAsyncWithOffset(
    cx: &Cx<'_>,
    to: usize,
    capacity: usize,
    to_offset: usize,
    from: usize,
    count: usize,
    from_offset: usize,
    kind: u32,
    stream: Raw,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    for (address, name) in [(to, "dst"), (from, "src")] {
        if address == 0 {
            return Err(null(name));
        }
    }
    check_kind(kind)?;
    if count > capacity {
        return refuse(
            ErrorKind::InvalidValue,
            format!("{count} bytes are to be copied into a destination of {capacity} (destMax)"),
        );
    }
    cx.with_stream(stream, |stream| {
        stream.copy_between_addresses((to, to_offset), (from, from_offset), count, &cx.caller())
    })
}
