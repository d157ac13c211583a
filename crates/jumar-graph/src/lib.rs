//! Graphs of operators: ONNX import, passes, plans, and Jumar's `.om` files. Pure: it never sees a device.
//!
//! The way of a model:
//!
//! 1. [`onnx::import`] makes a [`Graph`] of an ONNX file; dimensions may still be unknown;
//! 2. [`compile`] fixes the inputs' shapes, infers all others, folds constants, fuses operators and lays out the
//!    weights: a [`Model`];
//! 3. [`Model::write`] and [`Model::read`] store it; [`atc::convert`] does all of this from file to file;
//! 4. [`Model::plan`] assigns memory to every tensor and prepares the kernels: a [`Plan`], whose steps
//!    [`run_step`] executes on memory that the caller provides, without allocating anything.
#![forbid(unsafe_code)]

mod aipp;
pub mod atc;
mod bundle;
mod compile;
mod container;
mod control;
pub mod conversion;
mod description;
mod dynamic;
mod eager;
mod error;
pub mod files;
mod gears;
mod graph;
mod insert_point;
mod model;
pub mod onnx;
mod passes;
mod plan;
pub mod vendor;

pub use aipp::{DynamicAipp, SETTINGS_INPUT, dynamic_preprocessing, preprocessing};
pub use bundle::{
    BUNDLE_MAGIC, BUNDLE_TABLE_BYTES, is_bundle, read_bundle, read_bundle_table, write_bundle,
};
pub use compile::{
    BuildOptions, ConstantLayout, InputShapes, OutputType, Products, compile, compile_to_run,
};
pub use container::{
    ExternalWeights, HEADER_BYTES, MAGIC, Sections, VERSION, WEIGHT_FOLDER, WeightFiles,
    WeightsCheck,
};
pub use description::{Description, Format, GEAR_INPUT, Gear, GearKind, Port};
pub use dynamic::{
    Dynamic, Sink, Tensorlike, Workspace, WorkspaceMemory, copy_region, read_bytes, read_tensor,
};
pub use error::{FailedStep, GraphError, GraphErrorKind, Result};
pub use gears::GearOptions;
pub use graph::{Body, FoldingBudget, Graph, GraphOutput, Node, Value, ValueId};
pub use jumar_ops::view::{Block, Region};
pub use jumar_ops::{
    Aipp, Attr, BufferKind, Memory as Operands, Operand, PixelFormat, Share, TensorType, Workers,
};
pub use model::{Executable, Model, Weights};
pub use plan::{NodeObserver, Plan, PlannedPort, Step, run_step};
