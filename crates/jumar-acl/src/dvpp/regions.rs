//! Regions of images, by their inclusive edges.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_dvpp::Rect;
use jumar_types::Result;

use super::{argument, find, remove};
use crate::{Cx, Raw};

/// A region.
pub struct Region {
    id: u64,
    edges: Mutex<Edges>,
}

#[derive(Clone, Copy, Debug)]
struct Edges {
    left: u32,
    right: u32,
    top: u32,
    bottom: u32,
}

/// Reads a region.
///
/// # Errors
/// `NullPointer`, `InvalidArgument`: an edge lies beyond its opposite.
pub(super) fn rect(cx: &Cx<'_>, region: Raw, name: &str) -> Result<Rect> {
    let edges = *find(&cx.process.dvpp.regions, region, name)?.edges.lock();
    let Edges {
        left,
        right,
        top,
        bottom,
    } = edges;
    Rect::of_edges(left, right, top, bottom).ok_or_else(|| {
        argument(format!(
            "{name} has the edges left {left}, right {right}, top {top} and bottom {bottom}; left must not exceed right, nor top bottom"
        ))
    })
}

pub fn acldvppCreateRoiConfig(
    cx: &Cx<'_>,
    left: u32,
    right: u32,
    top: u32,
    bottom: u32,
) -> Result<Raw> {
    let edges = Mutex::new(Edges {
        left,
        right,
        top,
        bottom,
    });
    let made = cx
        .process
        .dvpp
        .regions
        .insert(|id| Arc::new(Region { id, edges }))?;
    Ok(Raw(made.id))
}

pub fn acldvppDestroyRoiConfig(cx: &Cx<'_>, region: Raw) -> Result<()> {
    remove(cx, &cx.process.dvpp.regions, region, "roiConfig").map(drop)
}

fn set(cx: &Cx<'_>, region: Raw, change: impl FnOnce(&mut Edges)) -> Result<()> {
    change(
        &mut find(&cx.process.dvpp.regions, region, "config")?
            .edges
            .lock(),
    );
    Ok(())
}

pub fn acldvppSetRoiConfigLeft(cx: &Cx<'_>, region: Raw, left: u32) -> Result<()> {
    set(cx, region, |edges| edges.left = left)
}

pub fn acldvppSetRoiConfigRight(cx: &Cx<'_>, region: Raw, right: u32) -> Result<()> {
    set(cx, region, |edges| edges.right = right)
}

pub fn acldvppSetRoiConfigTop(cx: &Cx<'_>, region: Raw, top: u32) -> Result<()> {
    set(cx, region, |edges| edges.top = top)
}

pub fn acldvppSetRoiConfigBottom(cx: &Cx<'_>, region: Raw, bottom: u32) -> Result<()> {
    set(cx, region, |edges| edges.bottom = bottom)
}

pub fn acldvppSetRoiConfig(
    cx: &Cx<'_>,
    region: Raw,
    left: u32,
    right: u32,
    top: u32,
    bottom: u32,
) -> Result<()> {
    set(cx, region, |edges| {
        *edges = Edges {
            left,
            right,
            top,
            bottom,
        };
    })
}
