//! The CPU device: memory spaces in reserved address ranges, and queues on the executor of jumar-sched.
//!
//! One [`CpuBackend`] has any number of devices; all of them share one pool of workers. Unsafe code lives in `mem`
//! (mapping, copying), `fault` (pages of files that went away, pages that are guarded), `code` (loading and calling a program's kernels) and `thread` (what a thread's state is while it runs our work).
#![deny(unsafe_code)]

mod backend;
#[expect(
    unsafe_code,
    reason = "module for unsafe code: shared objects that a program brings along"
)]
mod code;
mod device_code;
mod elf;
#[expect(
    unsafe_code,
    reason = "module for unsafe code: pages of files that are not there"
)]
mod fault;
mod heap;
#[expect(
    unsafe_code,
    reason = "module for unsafe code: address ranges and raw copies"
)]
mod mem;
#[expect(
    unsafe_code,
    reason = "module for unsafe code: signal masks and floating-point state"
)]
mod thread;

/// The pages of the system, as far as allocations are concerned.
const PAGE: usize = jumar_hal::FileImage::PAGE;

pub use backend::{CpuBackend, CpuConfig, CpuDeviceConfig};
pub use fault::guard;
pub use jumar_sched::Schedule;
pub use mem::{read, write};
