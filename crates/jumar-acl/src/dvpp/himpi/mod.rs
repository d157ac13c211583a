//! The second interface of images and video, `hi_mpi_...`: channels with numbers of the program, and tasks whose results the program
//! fetches. The work is that of the first interface.

mod batch;
mod channel;
mod encoding;
mod ends;
mod filters;
mod frames;
mod parameters;
mod statistics;
mod system;
mod vpc;

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::sync::Mutex;

pub use batch::*;
pub use channel::*;
pub use encoding::*;
pub use filters::*;
pub use parameters::*;
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
}
