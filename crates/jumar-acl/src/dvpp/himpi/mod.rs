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
mod table;
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
use table::Table;
pub use vpc::*;

/// What the second interface remembers.
pub(super) struct State {
    /// The image processing channels.
    channels: Table<Channel>,
    encoders: Table<Encoding>,
    /// Parameters of the kinds of encoders.
    modules: Mutex<parameters::Modules>,
    decoders: Table<Decoding>,
    png_decoders: Table<PngDecoding>,
    /// The sets of descriptors that programs wait for, by the number that the program knows.
    sets: Mutex<BTreeMap<i32, Arc<Set>>>,
}

impl Default for State {
    fn default() -> State {
        State {
            channels: Table::new("image processing channel", "hi_mpi_vpc"),
            encoders: Table::new("encoding channel", "hi_mpi_venc"),
            modules: Mutex::default(),
            decoders: Table::new("decoding channel", "hi_mpi_vdec"),
            png_decoders: Table::new("PNG channel", "hi_mpi_pngd"),
            sets: Mutex::default(),
        }
    }
}
