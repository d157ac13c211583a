//! Memory: allocation, copies, pools, addresses, and what processes and devices share.

pub mod allocator;
pub mod ipc;
pub mod managed_memory;
pub mod memcpy;
pub mod memory;
pub mod mempool;
pub mod vmm;
