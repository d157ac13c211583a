//! Video: channels that decode or encode packets one after the other, and report each of them on a thread of the program.

mod decoding;
mod decoding_desc;
mod encoding;
mod encoding_desc;
mod parameters;
mod reports;

use super::{argument, fields, find, remove};

pub use decoding::*;
pub(super) use decoding::{LIMITS, natural};
pub use decoding_desc::*;
pub use encoding::*;
pub(super) use encoding::{VideoRequest, encoder_settings};
pub use encoding_desc::*;
pub use reports::FrameCall;
