//! Descriptions of images, alone and in batches.

use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar_dvpp::{Image, ImageError};
use jumar_types::{ErrorKind, Result};

use super::task::{Done, FAILED};
use super::{argument, fields, find, remove};
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// A description of an image. The memory belongs to the program.
pub struct ImageDesc {
    id: u64,
    /// It belongs to a batch, and is destroyed with it.
    in_batch: bool,
    pub(super) fields: Mutex<ImageFields>,
}

/// What a program states about an image.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ImageFields {
    pub(super) data: usize,
    pub(super) size: u32,
    pub(super) format: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) width_stride: u32,
    pub(super) height_stride: u32,
    pub(super) ret_code: u32,
}

impl ImageFields {
    /// Describes the image that a decoder wrote, and keeps the result.
    pub(super) fn describe_decoded(
        &mut self,
        done: std::result::Result<Image, ImageError>,
    ) -> Done {
        self.ret_code = match &done {
            Ok(_) => 0,
            Err(_) => FAILED,
        };
        let image = done?;
        self.format = image.format.number();
        self.width = image.width as u32;
        self.height = image.height as u32;
        self.width_stride = image.width_stride as u32;
        self.height_stride = image.height_stride as u32;
        self.size = image.size().map_or(self.size, |size| size as u32);
        Ok(())
    }
}

/// Descriptions that are created and destroyed together.
pub struct Batch {
    id: u64,
    images: Vec<u64>,
}

/// The most descriptions of a batch.
pub(super) const LARGEST_BATCH: usize = 256;

fn create(cx: &Cx<'_>, in_batch: bool) -> Result<u64> {
    let made = cx.process.dvpp.images.insert(|id| {
        Arc::new(ImageDesc {
            id,
            in_batch,
            fields: Mutex::default(),
        })
    })?;
    Ok(made.id)
}

pub fn acldvppCreatePicDesc(cx: &Cx<'_>) -> Result<Raw> {
    create(cx, false).map(Raw)
}

pub fn acldvppDestroyPicDesc(cx: &Cx<'_>, desc: Raw) -> Result<()> {
    let images = &cx.process.dvpp.images;
    if find(images, desc, "picDesc")?.in_batch {
        return Err(
            argument("picDesc belongs to a batch, which destroys it").fix(
                "Call acldvppDestroyBatchPicDesc; descriptions of acldvppGetPicDesc are not destroyed one by one.",
            ),
        );
    }
    remove(cx, images, desc, "picDesc").map(drop)
}

fields! {
    images, "picDesc";
    acldvppSetPicDescData acldvppGetPicDescData data: usize;
    acldvppSetPicDescSize acldvppGetPicDescSize size: u32;
    acldvppSetPicDescWidth acldvppGetPicDescWidth width: u32;
    acldvppSetPicDescHeight acldvppGetPicDescHeight height: u32;
    acldvppSetPicDescWidthStride acldvppGetPicDescWidthStride width_stride: u32;
    acldvppSetPicDescHeightStride acldvppGetPicDescHeightStride height_stride: u32;
    acldvppSetPicDescRetCode acldvppGetPicDescRetCode ret_code: u32;
}

pub fn acldvppSetPicDescFormat(cx: &Cx<'_>, desc: Raw, format: u32) -> Result<()> {
    let found = find(&cx.process.dvpp.images, desc, "picDesc")?;
    if enums::name_of("acldvppPixelFormat", i64::from(format)).is_none() {
        return refuse(
            ErrorKind::InvalidArgument,
            crate::not_a_value("acldvppPixelFormat", format),
        );
    }
    found.fields.lock().format = format;
    Ok(())
}

pub fn acldvppGetPicDescFormat(cx: &Cx<'_>, desc: Raw) -> Result<u32> {
    let found = find(&cx.process.dvpp.images, desc, "picDesc")?;
    let format = found.fields.lock().format;
    Ok(format)
}

pub fn acldvppCreateBatchPicDesc(cx: &Cx<'_>, count: u32) -> Result<Raw> {
    if count == 0 || count as usize > LARGEST_BATCH {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("batchSize is {count}; it must be 1 to {LARGEST_BATCH}"),
        );
    }
    let images = (0..count)
        .map(|_| create(cx, true))
        .collect::<Result<Vec<u64>>>()?;
    let made = cx
        .process
        .dvpp
        .batches
        .insert(|id| Arc::new(Batch { id, images }))?;
    Ok(Raw(made.id))
}

pub fn acldvppGetPicDesc(cx: &Cx<'_>, batch: Raw, index: u32) -> Result<Raw> {
    let images = handles(cx, batch, "batchPicDesc")?;
    images.get(index as usize).copied().ok_or_else(|| {
        argument(format!(
            "index is {index}; it must be less than {}, the number of descriptions in the batch",
            images.len()
        ))
    })
}

pub fn acldvppDestroyBatchPicDesc(cx: &Cx<'_>, batch: Raw) -> Result<()> {
    let gone = remove(cx, &cx.process.dvpp.batches, batch, "batchPicDesc")?;
    for image in &gone.images {
        cx.process.dvpp.images.remove(*image, cx.call.name)?;
    }
    Ok(())
}

/// Returns the descriptions of a batch.
///
/// # Errors
/// As [`find`].
pub(super) fn handles(cx: &Cx<'_>, batch: Raw, name: &str) -> Result<Vec<Raw>> {
    let found = find(&cx.process.dvpp.batches, batch, name)?;
    Ok(found.images.iter().copied().map(Raw).collect())
}
