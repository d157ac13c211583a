//! Hints to the cache. Memory here has no cache that a program could see, so that they take their turn in the stream and
//! change nothing; what they say is checked all the same.

use jumar::engine::DESCRIPTOR_BYTES;
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

fn bad<T>(sentence: impl Into<String>) -> Result<T> {
    refuse(ErrorKind::InvalidValue, sentence)
}

fn name_of(cmo: u32) -> Result<&'static str> {
    Ok(match cmo {
        enums::ACL_RT_CMO_TYPE_PREFETCH => "cache prefetch",
        enums::ACL_RT_CMO_TYPE_WRITEBACK => "cache write back",
        enums::ACL_RT_CMO_TYPE_INVALID => "cache invalidate",
        enums::ACL_RT_CMO_TYPE_FLUSH => "cache flush",
        _ => return bad(crate::not_a_value("aclrtCmoType", cmo)),
    })
}

/// A hint reads its range as far as ordering goes: data stays as it is, even where the cache is dropped.
fn hint(cx: &Cx<'_>, address: usize, size: usize, name: &'static str, stream: Raw) -> Result<()> {
    cx.with_stream(stream, |stream| {
        let range = stream.device_range(address, size, "src")?;
        stream.hint(name, &[range], &[], &cx.caller()).map(drop)
    })
}

pub fn aclrtCmoAsync(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    cmo: u32,
    stream: Raw,
) -> Result<()> {
    if address == 0 {
        return Err(null("src"));
    }
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "the size is 0");
    }
    hint(cx, address, size, name_of(cmo)?, stream)
}

pub fn aclrtCmoAsyncWithBarrier(
    cx: &Cx<'_>,
    address: usize,
    size: usize,
    cmo: u32,
    barrier: u32,
    stream: Raw,
) -> Result<()> {
    if address == 0 {
        return Err(null("src"));
    }
    if size == 0 {
        return bad("the size is 0");
    }
    let name = name_of(cmo)?;
    let invalidates = cmo == enums::ACL_RT_CMO_TYPE_INVALID;
    if invalidates != (barrier != 0) {
        return bad(format!(
            "barrierId is {barrier}; ACL_RT_CMO_TYPE_INVALID needs one above 0, and the other types need 0"
        ));
    }
    hint(cx, address, size, name, stream)
}

/// The stream's order is all that a barrier could add.
pub fn aclrtCmoWaitBarrier(
    cx: &Cx<'_>,
    task: Option<&types::aclrtBarrierTaskInfo>,
    stream: Raw,
    flag: u32,
) -> Result<()> {
    let task = task.ok_or_else(|| null("taskInfo"))?;
    let entries = match task.cmoInfo.get(..task.barrierNum) {
        Some(entries) if !entries.is_empty() => entries,
        _ => {
            return refuse(
                ErrorKind::InvalidArgument,
                format!(
                    "barrierNum is {}; it must be from 1 to {}",
                    task.barrierNum,
                    task.cmoInfo.len()
                ),
            );
        }
    };
    if flag != 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("flag is {flag}; it is reserved and has to be 0"),
        );
    }
    if let Some(index) = entries
        .iter()
        .position(|entry| entry.cmoType != enums::ACL_RT_CMO_TYPE_INVALID || entry.barrierId == 0)
    {
        return bad(format!(
            "entry {index} does not name a barrier of ACL_RT_CMO_TYPE_INVALID"
        ));
    }
    cx.with_stream(stream, |stream| {
        stream
            .hint("cache barrier", &[], &[], &cx.caller())
            .map(drop)
    })
}

pub fn aclrtCmoGetDescSize(_cx: &Cx<'_>) -> Result<usize> {
    Ok(DESCRIPTOR_BYTES)
}

pub fn aclrtCmoSetDesc(cx: &Cx<'_>, desc: usize, address: usize, size: usize) -> Result<()> {
    if desc == 0 || address == 0 || size == 0 {
        return bad("cmoDesc or src is null, or the size is 0");
    }
    cx.context()?;
    cx.runtime()?
        .describe_hint(desc, address, size, &cx.caller())
}

pub fn aclrtCmoAsyncWithDesc(
    cx: &Cx<'_>,
    desc: usize,
    cmo: u32,
    stream: Raw,
    reserved: usize,
) -> Result<()> {
    if reserved != 0 {
        return bad("reserve is reserved and has to be null");
    }
    if desc == 0 {
        return bad("cmoDesc is null");
    }
    let name = name_of(cmo)?;
    cx.with_stream(stream, |stream| {
        stream.hint_described(desc, name, &cx.caller())
    })
}
