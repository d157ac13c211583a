//! Configurations of resizing and of JPEG encoding.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_types::{ErrorKind, Result};

use super::{fields, find, remove};
use crate::{Cx, Raw, refuse};

/// A configuration of resizing.
pub struct Resize {
    id: u64,
    pub(super) fields: Mutex<ResizeFields>,
}

/// What a program states about resizing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResizeFields {
    pub(super) interpolation: u32,
}

pub fn acldvppCreateResizeConfig(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.resizes.insert(|id| {
        Arc::new(Resize {
            id,
            fields: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyResizeConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    remove(cx, &cx.process.dvpp.resizes, config, "resizeConfig").map(drop)
}

fields! {
    resizes, "resizeConfig";
    acldvppSetResizeConfigInterpolation acldvppGetResizeConfigInterpolation interpolation: u32;
}

/// A configuration of JPEG encoding.
pub struct Jpeg {
    id: u64,
    pub(super) level: Mutex<u32>,
}

/// The quality of a new configuration, and the highest one.
const HIGHEST_LEVEL: u32 = 100;

pub fn acldvppCreateJpegeConfig(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.dvpp.jpegs.insert(|id| {
        Arc::new(Jpeg {
            id,
            level: Mutex::new(HIGHEST_LEVEL),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyJpegeConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    remove(cx, &cx.process.dvpp.jpegs, config, "jpegeConfig").map(drop)
}

pub fn acldvppSetJpegeConfigLevel(cx: &Cx<'_>, config: Raw, level: u32) -> Result<()> {
    let found = find(&cx.process.dvpp.jpegs, config, "jpegeConfig")?;
    if level > HIGHEST_LEVEL {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("level is {level}; it must be 0 to {HIGHEST_LEVEL}"),
        );
    }
    *found.level.lock() = level;
    Ok(())
}

pub fn acldvppGetJpegeConfigLevel(cx: &Cx<'_>, config: Raw) -> Result<u32> {
    let level = *find(&cx.process.dvpp.jpegs, config, "jpegeConfig")?
        .level
        .lock();
    Ok(level)
}
