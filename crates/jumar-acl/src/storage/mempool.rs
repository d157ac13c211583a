//! Memory pools: allocation in the order of a stream.

use jumar::engine::{PoolRules, Span};
use jumar_types::{ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

fn bad<T>(sentence: String) -> Result<T> {
    refuse(ErrorKind::InvalidValue, sentence)
}

pub fn aclrtMemPoolCreate(
    cx: &Cx<'_>,
    properties: Option<&types::aclrtMemPoolProps>,
) -> Result<Raw> {
    let properties = properties.ok_or_else(|| null("poolProps"))?;
    if properties.allocType != enums::ACL_MEM_ALLOCATION_TYPE_PINNED {
        return bad(format!(
            "allocType is {}; it must be 0 (pinned)",
            properties.allocType
        ));
    }
    if properties.handleType != enums::ACL_MEM_HANDLE_TYPE_NONE {
        return bad(format!(
            "handleType is {}; memory of a pool is not shared, so that it has to be 0 (none)",
            properties.handleType
        ));
    }
    if properties.location.r#type != enums::ACL_MEM_LOCATION_TYPE_DEVICE {
        return bad(format!(
            "the location is of type {}; pools are made on devices (1)",
            properties.location.r#type
        ));
    }
    let pool = cx
        .runtime()?
        .create_pool(i64::from(properties.location.id), properties.maxSize as u64)?;
    Ok(Raw(pool.id()))
}

pub fn aclrtMemPoolDestroy(cx: &Cx<'_>, pool: Raw) -> Result<()> {
    cx.runtime()?.destroy_pool(pool.0, &cx.caller())
}

/// Switches are 32 bits wide and sizes 64.
pub fn aclrtMemPoolSetAttr(cx: &Cx<'_>, pool: Raw, attribute: u32, value: Span) -> Result<()> {
    let runtime = cx.runtime()?;
    let pool = runtime.pool(pool.0)?;
    let read = |bytes: usize| {
        let mut own = [0; 8];
        runtime.read(value, &mut own[..bytes], &cx.caller())?;
        Ok(u64::from_le_bytes(own))
    };
    let switch = |change: fn(&mut PoolRules, bool)| {
        let value = read(4)?;
        if value > 1 {
            return bad(format!("the value is {value}; it must be 0 or 1"));
        }
        pool.change_rules(|rules| change(rules, value == 1));
        Ok(())
    };
    let zero = || {
        let value = read(8)?;
        if value != 0 {
            return bad(format!(
                "the value is {value}; the greatest number can only be set to 0, to begin again"
            ));
        }
        Ok(())
    };
    match attribute {
        enums::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES => {
            switch(|rules, on| rules.follow_events = on)
        }
        enums::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC => {
            switch(|rules, on| rules.opportunistic = on)
        }
        enums::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => {
            switch(|rules, on| rules.internal_waits = on)
        }
        enums::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD => {
            let keep = read(8)?;
            pool.change_rules(|rules| rules.keep_bytes = keep);
            Ok(())
        }
        enums::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH => {
            zero()?;
            pool.forget_high(true, false);
            Ok(())
        }
        enums::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH => {
            zero()?;
            pool.forget_high(false, true);
            Ok(())
        }
        enums::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT
        | enums::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT => {
            bad(format!("attribute {attribute} can be read and not set"))
        }
        _ => bad(crate::not_a_value("aclrtMemPoolAttr", attribute)),
    }
}

/// As many bytes as the attribute has.
pub fn aclrtMemPoolGetAttr(cx: &Cx<'_>, pool: Raw, attribute: u32) -> Result<Vec<u8>> {
    let pool = cx.runtime()?.pool(pool.0)?;
    let (rules, usage) = (pool.rules(), pool.usage());
    let switch = |on: bool| Ok(u32::from(on).to_le_bytes().to_vec());
    let size = |bytes: u64| Ok(bytes.to_le_bytes().to_vec());
    match attribute {
        enums::ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES => switch(rules.follow_events),
        enums::ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC => switch(rules.opportunistic),
        enums::ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES => switch(rules.internal_waits),
        enums::ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD => size(rules.keep_bytes),
        enums::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT => size(usage.reserved),
        enums::ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH => size(usage.reserved_high),
        enums::ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT => size(usage.used),
        enums::ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH => size(usage.used_high),
        _ => bad(crate::not_a_value("aclrtMemPoolAttr", attribute)),
    }
}

/// With a size of 0 the program's pointer stays as it is. There is no default stream here.
pub fn aclrtMemPoolMallocAsync(
    cx: &Cx<'_>,
    pointer: usize,
    size: usize,
    pool: Raw,
    stream: Raw,
) -> Result<usize> {
    if size == 0 {
        return Ok(pointer);
    }
    if stream.is_null() {
        return Err(null("stream"));
    }
    let pool = cx.runtime()?.pool(pool.0)?;
    cx.with_stream(stream, |stream| {
        stream
            .allocate_from(&pool, size, &cx.caller())
            .map(Span::address)
    })
}

pub fn aclrtMemPoolFreeAsync(cx: &Cx<'_>, address: usize, stream: Raw) -> Result<()> {
    if address == 0 {
        return Err(null("ptr"));
    }
    if stream.is_null() {
        return Err(null("stream"));
    }
    cx.with_stream(stream, |stream| stream.free_to_pool(address, &cx.caller()))
}

pub fn aclrtMemPoolTrimTo(cx: &Cx<'_>, pool: Raw, keep: usize) -> Result<()> {
    let runtime = cx.runtime()?;
    runtime.trim_pool(&*runtime.pool(pool.0)?, keep as u64);
    Ok(())
}
