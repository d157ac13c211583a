//! The second interface of images and video, `hi_mpi_...`: channels with numbers of the program, and tasks whose results the program
//! fetches. The work is that of the first interface.

mod batch;
mod channel;
mod decoded;
mod decoding;
mod encoding;
mod ends;
mod epoll;
mod filters;
mod frames;
mod image_info;
mod parameters;
mod png;
mod signal;
mod statistics;
mod system;
mod vpc;

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::Mutex;

pub use batch::*;
pub use channel::*;
pub use decoding::*;
pub use encoding::*;
pub use epoll::*;
pub use filters::*;
pub use image_info::*;
pub use parameters::*;
pub use png::*;
pub use statistics::*;
pub use system::*;
pub use vpc::*;

/// What the second interface remembers.
#[derive(Default)]
pub(super) struct State {
    /// The image processing channels by number.
    channels: Mutex<BTreeMap<i32, Arc<Channel>>>,
    /// The encoding channels by number.
    encoders: Mutex<BTreeMap<i32, Arc<Encoding>>>,
    /// Parameters of the kinds of encoders.
    modules: Mutex<parameters::Modules>,
    /// The decoding channels by number.
    decoders: Mutex<BTreeMap<i32, Arc<Decoding>>>,
    /// The channels for PNG images by number.
    png_decoders: Mutex<BTreeMap<i32, Arc<PngDecoding>>>,
    /// The sets of descriptors that programs wait for, by the number that the program knows.
    sets: Mutex<BTreeMap<i32, Arc<Set>>>,
}
