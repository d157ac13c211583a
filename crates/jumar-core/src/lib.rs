//! Devices, contexts, streams, events, memory and tasks: every rule of the runtime, once, for every backend and frontend.
//!
//! One file or folder for each noun. Core has no globals, reads no environment and no file, and knows neither a
//! backend's name nor a public function: the caller identifies itself with a [`Caller`].
#![forbid(unsafe_code)]

pub mod callback;
pub mod caller;
pub mod capture;
pub mod context;
pub mod copy;
pub mod count_notify;
pub mod device;
mod device_epoch;
pub mod event;
pub mod gate;
pub mod ipc;
mod ipc_control_page;
pub mod kernel;
pub mod managed;
pub mod memory;
pub mod message;
#[cfg(all(test, loom))]
mod model;
pub mod notify;
pub mod pool;
pub mod runtime;
pub mod stream;
pub mod table;
pub mod transfer;
pub mod value;
pub mod vmm;

pub use callback::{HostFunction, Role};
pub use caller::Caller;
pub use capture::{
    CaptureMode, CaptureStatus, Comparison, Condition, ConditionKind, EventTask, Graph, GraphTask,
    Label, LabelLists, Origin, TaskDescription, TaskGroup, TaskKind, TaskParameters, Width,
};
pub use context::{Context, Team};
pub use count_notify::{CountChange, CountNotify, CountWait};
pub use device::{Chip, Device, Limits, Profile, StreamUse};
pub use event::{Event, EventFamily, EventStatus, elapsed_ms, flags as event_flags};
pub use gate::{Admission, Gate, Op, Phase, Probe, Rows, WaitEnd};
pub use ipc::MemoryName;
pub use kernel::{
    ArgumentBuffer, Arguments, Attribute, Binary, FailedLaunch, Function, LaunchParameters,
    OVERFLOW_BYTES, Shape,
};
pub use managed::{Advice, ManagedLocation, ManagedPage};
pub use memory::{Block, Lookups, MemoryKind};
pub use notify::Notify;
pub use pool::{Pool, PoolRules, PoolUse};
pub use runtime::{Config, Runtime};
pub use stream::{StopToken, Stream, StreamOptions};
pub use table::Table;
pub use value::ValueTest;
pub use vmm::{AccessRight, Accessor, GRANULARITY, PhysicalMemory};

// Types of time and tasks that a frontend needs, so that it depends on core alone.
pub use jumar_hal::sync::now_ns;
pub use jumar_hal::{
    Access, Backend, Call, CodeForm, CodeImage, Cost, FileImage, FileMapping, Parameter, Program,
    Signal, Span, SpinLock, Waiter, sync,
};
pub use table::Epoch;
pub use transfer::{
    DESCRIPTOR_BYTES, Descriptor, Distribution, Generator, NumberType, RandomNumbers, ReduceKind,
    ReduceType, Value,
};
