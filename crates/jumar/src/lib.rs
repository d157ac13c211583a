//! Jumar for Rust programs: devices, contexts, streams, events, buffers and models as owned values.
//!
//! ```
//! use jumar::{DeviceBuffer, Runtime};
//!
//! let runtime = Runtime::new()?;
//! let context = runtime.device(0)?.context()?;
//! let stream = context.stream()?;
//!
//! let buffer = DeviceBuffer::<f32>::new(&context, 3)?;
//! stream.write(&buffer, &[1.0, 2.0, 3.0])?;
//! assert_eq!(stream.read(&buffer)?, [1.0, 2.0, 3.0]);
//! # Ok::<(), jumar::Error>(())
//! ```
//!
//! [`Runtime::builder`] sets what a runtime is made of. [`KernelModule`] loads kernels of the program, and [`Context::capture`] records work
//! that is launched again and again. A [`Pending`] can be awaited.
//!
//! Values release what they stand for when they are dropped, in the right order, whatever the order of drops. No call lets the
//! device work on memory that safe code could free or forget: a copy that continues after its call takes a [`PinnedBuffer`] and
//! returns it through [`Pending`], or runs in [`Stream::scope`], which waits at its end.
//!
//! An [`Error`] has a kind, a sentence that names the object and the values, and often a piece of advice.
//!
//! This crate also reads all configuration, and picks the backend and the probes of a runtime.
#![deny(unsafe_code)]

mod buffer;
mod builder;
mod call;
pub mod check;
pub mod config;
mod context;
mod device;
mod element;
mod event;
mod fusion_switches;
mod graph;
pub mod input_file;
mod kernel;
mod model;
mod pending;
pub mod profile;
mod runtime;
pub mod schedule;
pub mod single_op;
mod stream;
pub mod toolkit;
mod trace;
pub mod variables;

pub use buffer::{DeviceBuffer, DevicePart, OnDevice, PinnedBuffer};
pub use builder::RuntimeBuilder;
pub use config::{Instructions, Settings};
pub use context::Context;
pub use device::Device;
pub use element::Element;
pub use event::Event;
pub use graph::{Capture, Graph};
pub use jumar_core::{Chip, Limits, Profile};
#[doc(hidden)]
pub use jumar_diag::{output_file, record_file};
pub use jumar_types::dtype::DataType;
pub use jumar_types::{Error, ErrorKind, Result};
pub use kernel::{Kernel, KernelArg, KernelModule, LaunchConfig, TRITON_KERNELS};
pub use model::{Model, Operand, Outputs, TensorInfo};
pub use pending::Pending;
pub use runtime::Runtime;
pub use stream::{Scope, Stream};
pub(crate) use trace::trace_start;
pub use trace::{OnTimelines, trace_flush, trace_operators};

/// The runtime itself, for the other frontends (the C interface, the command line). Its functions rely on checks that those make, and it
/// changes without notice: Rust programs use the types of the crate's root.
#[doc(hidden)]
pub mod engine {
    pub use jumar_core::*;
}

/// Offline models, for the other frontends. Rust programs use `Model` of the crate's root.
#[doc(hidden)]
pub mod offline {
    pub use crate::fusion_switches::FusionSwitches;
    pub use crate::single_op;
    pub use jumar_model::{
        Aipp, Bindings, Bound, Bundle, Description, DeviceMemory, Dims, DynamicAipp, Execute,
        ExecuteOpen, ExternalWeight, Gear, GearKind, Model, Observer, Operator, OperatorInput,
        OperatorOutput, OperatorRun, Package, PixelFormat, ProducedOutput, Results, ShapePlan,
        ShapedInput, Spans, SuppliedMemory, Targets, TensorInfo, gear_values, graph, lowering,
    };
}
