//! The contract between the runtime and whatever executes its work.
//!
//! A [`Backend`] offers devices; a device offers memory and queues; a queue takes [`Task`]s and runs them in order,
//! each one after its submit returned. [`Signal`]s order queues among each other and against the host.
//!
//! A backend checks nothing that a caller could know: sizes, ownership and states are checked once, in
//! jumar-core, for every backend. What a backend refuses is an assertion about a defect of Jumar itself.

pub mod backend;
pub mod code;
pub mod file;
pub mod signal;
pub mod spin_lock;
pub mod sync;
pub mod task;
pub mod unwind;

pub use backend::{
    Backend, Device, LentMemory, Physical, Queue, QueueConfig, QueueObserver, Verdict,
};
pub use code::{
    Access, BlockFailure, Code, CodeForm, CodeFunction, CodeImage, Launch, Parameter, Report,
};
pub use file::{FileImage, FileMapping};
pub use jumar_types::{Span, Transfer};
pub use signal::{Poller, SharedLatch, Signal, Waiter, Waiters};
pub use spin_lock::{SpinGuard, SpinLock};
pub use task::{Call, Condition, Cost, Joining, Joint, MemOp, Program, Tag, Task, WaitThen};
