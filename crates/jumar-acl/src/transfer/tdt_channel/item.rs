//! Items of a channel, and lists of them.

use std::ffi::CString;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Block, Span};
use jumar_types::{Error, ErrorKind, Result};

use super::wire::{self, Part};
use super::{keep, unkeep};
use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// The most dimensions that an item has.
const MOST_DIMS: usize = 128;

/// An item. The data belong to the program, or to the list that received them.
pub(crate) struct Item {
    id: u64,
    kind: i32,
    data_type: i32,
    dims: Vec<i64>,
    data: Span,
    slice: (u16, u16),
}

/// A list of items.
pub(crate) struct Dataset {
    id: u64,
    content: Mutex<Content>,
}

#[derive(Default)]
struct Content {
    items: Vec<Raw>,
    /// Whether the items came from a receive, and so belong to the list.
    received: bool,
    /// Whether the data lie on a device, once there is an item with data.
    on_device: Option<bool>,
    name: CString,
    /// Where received data lie.
    kept: Option<Block>,
}

fn item(cx: &Cx<'_>, handle: Raw) -> Result<Arc<Item>> {
    if handle.is_null() {
        return Err(null("dataItem"));
    }
    cx.process.tensors.items.get(handle.0)
}

fn dataset(cx: &Cx<'_>, handle: Raw) -> Result<Arc<Dataset>> {
    if handle.is_null() {
        return Err(null("dataset"));
    }
    cx.process.tensors.datasets.get(handle.0)
}

fn insert(cx: &Cx<'_>, part: (i32, i32, Vec<i64>, Span, (u16, u16))) -> Result<Raw> {
    let (kind, data_type, dims, data, slice) = part;
    let made = cx.process.tensors.items.insert(|id| {
        Arc::new(Item {
            id,
            kind,
            data_type,
            dims,
            data,
            slice,
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acltdtCreateDataItem(
    cx: &Cx<'_>,
    kind: i32,
    dims: Option<&[i64]>,
    count: usize,
    data_type: i32,
    data: Span,
    _size: usize,
) -> Result<Raw> {
    if dims.is_some() != (count > 0) {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("dims and dimNum ({count}) do not match: pass both, or null and 0"),
        );
    }
    if count > MOST_DIMS {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("the item has {count} dimensions; it may have at most {MOST_DIMS}"),
        );
    }
    if kind != enums::ACL_TENSOR_DATA_TENSOR {
        if count > 0 {
            return refuse(
                ErrorKind::InvalidArgument,
                format!("an item of kind {kind} is not a tensor, and has no dimensions"),
            );
        }
        let nothing = (
            kind,
            enums::ACL_DT_UNDEFINED,
            Vec::new(),
            Span::EMPTY,
            (0, 0),
        );
        return insert(cx, nothing);
    }
    let dims = dims.unwrap_or_default().to_vec();
    insert(cx, (kind, data_type, dims, data, (0, 0)))
}

pub fn acltdtDestroyDataItem(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Err(null("dataItem"));
    }
    let items = &cx.process.tensors.items;
    items.remove(handle.0, cx.call.name).map(drop)
}

pub fn acltdtGetTensorTypeFromItem(cx: &Cx<'_>, handle: Raw) -> Result<i32> {
    Ok(item(cx, handle)?.kind)
}

pub fn acltdtGetDataTypeFromItem(cx: &Cx<'_>, handle: Raw) -> Result<i32> {
    Ok(item(cx, handle)?.data_type)
}

pub fn acltdtGetDataAddrFromItem(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(item(cx, handle)?.data.address())
}

pub fn acltdtGetDataSizeFromItem(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(item(cx, handle)?.data.bytes())
}

pub fn acltdtGetDimNumFromItem(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(item(cx, handle)?.dims.len())
}

pub fn acltdtGetSliceInfoFromItem(cx: &Cx<'_>, handle: Raw) -> Result<(usize, usize)> {
    let slice = item(cx, handle)?.slice;
    Ok((usize::from(slice.0), usize::from(slice.1)))
}

pub fn acltdtGetDimsFromItem(cx: &Cx<'_>, handle: Raw, capacity: usize) -> Result<Vec<i64>> {
    let item = item(cx, handle)?;
    if capacity < item.dims.len() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "the item has {} dimensions, but the array has space for {capacity}",
                item.dims.len()
            ),
        );
    }
    Ok(item.dims.clone())
}

pub fn acltdtCreateDataset(cx: &Cx<'_>) -> Result<Raw> {
    let made = cx.process.tensors.datasets.insert(|id| {
        Arc::new(Dataset {
            id,
            content: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

pub fn acltdtDestroyDataset(cx: &Cx<'_>, handle: Raw) -> Result<()> {
    if handle.is_null() {
        return Err(null("dataset"));
    }
    let tensors = &cx.process.tensors;
    let gone = tensors.datasets.remove(handle.0, cx.call.name)?;
    let content = std::mem::take(&mut *gone.content.lock());
    if content.received {
        drop_items(cx, &content.items);
    }
    unkeep(cx, content.kept);
    Ok(())
}

fn drop_items(cx: &Cx<'_>, items: &[Raw]) {
    for item in items {
        // A program that destroyed an item itself, by the handle that it was lent, has done our work.
        drop(cx.process.tensors.items.remove(item.0, cx.call.name));
    }
}

pub fn acltdtAddDataItem(cx: &Cx<'_>, handle: Raw, added: Raw) -> Result<()> {
    let dataset = dataset(cx, handle)?;
    let item = item(cx, added)?;
    let on_device = if item.data.is_empty() {
        None
    } else {
        let home = cx.runtime()?.space().home_of(item.data.address());
        Some(home.is_some_and(jumar::engine::MemoryKind::is_device))
    };
    let mut content = dataset.content.lock();
    if content.received {
        return refuse(
            ErrorKind::FrontendFeatureUnsupported,
            format!(
                "dataset {:#x} contains received items, and no item can be added; create another one",
                handle.0
            ),
        );
    }
    if let (Some(before), Some(now)) = (content.on_device, on_device)
        && before != now
    {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "with item {:#x}, dataset {:#x} would hold data of the host and of a device; use one dataset for each",
                added.0, handle.0
            ),
        );
    }
    content.on_device = content.on_device.or(on_device);
    content.items.push(added);
    Ok(())
}

pub fn acltdtGetDataItem(cx: &Cx<'_>, handle: Raw, index: usize) -> Result<Raw> {
    let dataset = dataset(cx, handle)?;
    let content = dataset.content.lock();
    content.items.get(index).copied().ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!(
                "item {index} does not exist: the dataset has {} items",
                content.items.len()
            ),
        )
    })
}

pub fn acltdtGetDatasetSize(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    Ok(dataset(cx, handle)?.content.lock().items.len())
}

/// The text lives as long as the dataset, and until its next receive.
pub fn acltdtGetDatasetName(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    let dataset = dataset(cx, handle)?;
    let content = dataset.content.lock();
    Ok(content.name.as_ptr().expose_provenance())
}

/// Puts a list into a message.
pub(super) fn pack(cx: &Cx<'_>, handle: Raw) -> Result<Vec<u8>> {
    let items = dataset(cx, handle)?.content.lock().items.clone();
    if items.is_empty() {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("dataset {:#x} has no item to send", handle.0),
        );
    }
    let runtime = cx.runtime()?;
    let mut message = Vec::new();
    for (index, handle) in items.iter().enumerate() {
        let item = item(cx, *handle)?;
        let sent = enums::ACL_TENSOR_DATA_TENSOR..=enums::ACL_TENSOR_DATA_ABNORMAL;
        if !sent.contains(&item.kind) {
            return refuse(
                ErrorKind::InvalidArgument,
                format!(
                    "item {index} is of kind {}; only tensors, the end of a sequence and abnormal ends can be sent",
                    item.kind
                ),
            );
        }
        let mut payload = vec![0; item.data.bytes()];
        if !payload.is_empty() {
            runtime.read(item.data, &mut payload, &cx.caller())?;
        }
        wire::append(
            &mut message,
            (index, items.len()),
            item.kind,
            item.data_type,
            &item.dims,
            &payload,
        );
    }
    Ok(message)
}

/// Refuses a list that cannot receive: one with items of the program's, or, for an older channel, with any.
pub(super) fn check_target(cx: &Cx<'_>, handle: Raw, replaces: bool) -> Result<()> {
    let dataset = dataset(cx, handle)?;
    let content = dataset.content.lock();
    if content.items.is_empty() || (replaces && content.received) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!(
            "dataset {:#x} has {} items already; receive into an empty one",
            handle.0,
            content.items.len()
        ),
    )
}

/// Fills a list with what was received; what it received before goes.
pub(super) fn fill(cx: &Cx<'_>, handle: Raw, message: &[u8], parts: Vec<Part>) -> Result<()> {
    let dataset = dataset(cx, handle)?;
    let kept = keep(cx, message)?;
    let mut fresh = Content {
        received: true,
        kept,
        ..Content::default()
    };
    for part in parts {
        if part.is_name {
            let name = message.get(part.bytes).unwrap_or_default();
            let name: Vec<u8> = name.iter().copied().take_while(|byte| *byte != 0).collect();
            fresh.name = CString::new(name).unwrap_or_default();
            continue;
        }
        let data = kept
            .and_then(|kept| kept.span.part(part.bytes.start, part.bytes.len()))
            .filter(|span| !span.is_empty())
            .unwrap_or(Span::EMPTY);
        let item = insert(cx, (part.kind, part.data_type, part.dims, data, part.slice));
        match item {
            Ok(item) => fresh.items.push(item),
            Err(refused) => {
                drop_items(cx, &fresh.items);
                unkeep(cx, kept);
                return Err(refused);
            }
        }
    }
    let before = std::mem::replace(&mut *dataset.content.lock(), fresh);
    drop_items(cx, &before.items);
    unkeep(cx, before.kept);
    Ok(())
}
