//! Shims that the generator cannot express: callbacks, variable arguments, structures behind pointers.
//!
//! Each stands in the API data with `shim = "hand"` and the reason beside it.

pub mod allocator;
pub mod callback;
pub mod capture;
pub mod dump;
pub mod error;
pub mod hooks;
pub mod ipc;
pub mod kernel;
pub mod log;
pub mod managed_memory;
pub mod memcpy;
pub mod memory;
pub mod model_config;
pub mod place;
pub mod prof;
pub mod rtc;
pub mod tdt_queue;
