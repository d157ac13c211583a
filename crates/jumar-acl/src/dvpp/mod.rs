//! DVPP: images and video on channels. Descriptions are objects of the program; the work itself is that of `jumar-dvpp`, queued on streams.

mod border;
mod channel;
mod configs;
mod encode;
mod ffmpeg;
pub mod himpi;
mod images;
mod jpeg;
mod plan;
mod png;
mod regions;
mod statistics;
mod streams;
mod task;
mod video;
mod vpc;

use std::collections::BTreeSet;
use std::sync::Arc;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar_dvpp::ImageError;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::{Cx, Raw};

pub use border::*;
pub use channel::*;
pub use configs::*;
pub use encode::*;
pub use images::*;
pub use jpeg::*;
pub use png::*;
pub use regions::*;
pub use statistics::*;
pub use streams::*;
pub use video::*;
pub use vpc::*;

/// The objects of the group.
pub(crate) struct State {
    images: Table<images::ImageDesc>,
    batches: Table<images::Batch>,
    regions: Table<regions::Region>,
    resizes: Table<configs::Resize>,
    jpegs: Table<configs::Jpeg>,
    borders: Table<border::BorderConfig>,
    channels: Table<channel::Channel>,
    tables: Table<statistics::Tables>,
    histograms: Table<statistics::Counts>,
    streams: Table<streams::StreamDesc>,
    decoders: Table<video::DecodingDesc>,
    packet_configs: Table<video::PacketConfig>,
    encoders: Table<video::EncodingDesc>,
    frame_configs: Table<video::FrameConfig>,
    /// The device and the number of each open decoding channel.
    decoding: Mutex<BTreeSet<(u32, u32)>>,
    /// The same of encoding channels.
    encoding: Mutex<BTreeSet<(u32, u32)>>,
    /// The second interface.
    himpi: himpi::State,
    ffmpeg: ffmpeg::Libraries,
}

impl Default for State {
    fn default() -> State {
        State {
            images: Table::new(IdKind::ImageDesc, Arc::default()),
            batches: Table::new(IdKind::ImageBatch, Arc::default()),
            regions: Table::new(IdKind::ImageRegion, Arc::default()),
            resizes: Table::new(IdKind::ResizeConfig, Arc::default()),
            jpegs: Table::new(IdKind::JpegConfig, Arc::default()),
            borders: Table::new(IdKind::BorderConfig, Arc::default()),
            channels: Table::new(IdKind::ImageChannel, Arc::default()),
            tables: Table::new(IdKind::LookUpTable, Arc::default()),
            histograms: Table::new(IdKind::Histogram, Arc::default()),
            streams: Table::new(IdKind::VideoStreamDesc, Arc::default()),
            decoders: Table::new(IdKind::DecodingDesc, Arc::default()),
            packet_configs: Table::new(IdKind::PacketConfig, Arc::default()),
            encoders: Table::new(IdKind::EncodingDesc, Arc::default()),
            frame_configs: Table::new(IdKind::FrameConfig, Arc::default()),
            decoding: Mutex::default(),
            encoding: Mutex::default(),
            himpi: himpi::State::default(),
            ffmpeg: ffmpeg::Libraries::default(),
        }
    }
}

/// Finds an object that a call names.
///
/// # Errors
/// `InvalidArgument`, `NullPointer`: this group has one code for both.
fn find<T>(table: &Table<T>, handle: Raw, name: &str) -> Result<Arc<T>> {
    if handle.is_null() {
        return Err(null(name));
    }
    table
        .get(handle.0)
        .map_err(|error| argument(format!("{name}: {}", error.sentence())))
}

/// Destroys an object.
///
/// # Errors
/// As [`find`].
fn remove<T>(cx: &Cx<'_>, table: &Table<T>, handle: Raw, name: &str) -> Result<Arc<T>> {
    if handle.is_null() {
        return Err(null(name));
    }
    table
        .remove(handle.0, cx.call.name)
        .map_err(|error| argument(format!("{name}: {}", error.sentence())))
}

/// Returns the error of an argument that does not fit.
fn argument(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, sentence)
}

/// Returns the error of an argument that image work refuses.
fn refused(error: &ImageError) -> Error {
    argument(error.to_string())
}

/// As [`refused`], for one of several images.
fn refused_for(name: &str, error: &ImageError) -> Error {
    argument(format!("{name}: {error}"))
}

/// Returns the error of image work that failed on the device.
fn failed(sentence: impl Into<String>) -> Error {
    Error::new(ErrorKind::CpuKernelFailed, sentence).fix(
        "Check that the data are complete and of a format that this device decodes, and that the memory of the output has the size that the calls for headers and predictions return.",
    )
}

/// Defines a setter and a getter for each field of an object.
macro_rules! fields {
    ($table:ident, $object:literal; $($set:ident $get:ident $field:ident: $type:ty;)*) => {$(
        pub fn $set(cx: &Cx<'_>, object: Raw, value: $type) -> Result<()> {
            let found = super::find(&cx.process.dvpp.$table, object, $object)?;
            found.fields.lock().$field = value;
            Ok(())
        }

        pub fn $get(cx: &Cx<'_>, object: Raw) -> Result<$type> {
            let found = super::find(&cx.process.dvpp.$table, object, $object)?;
            let value = found.fields.lock().$field;
            Ok(value)
        }
    )*};
}

use fields;
