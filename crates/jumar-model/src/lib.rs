//! Offline models on a device: opened, loaded, executed by queueing ordinary operations, unloaded.
#![forbid(unsafe_code)]

mod bundle;
mod file;
mod loaded;
mod memory;
mod operator;
mod own_streams;
mod package;

pub use bundle::Bundle;
/// Graphs and model files themselves, for tools that read and write them without a device.
pub use jumar_graph as graph;
pub use jumar_graph::{Aipp, DynamicAipp, Gear, GearKind, PixelFormat};
/// Graphs of the Graph Engine, and what becomes of them here.
pub use jumar_lowering as lowering;
/// The kernels for low precision on this machine; the setup of devices requests the matrix unit.
pub use jumar_ops::processor;
pub use loaded::{
    Bindings, Bound, Dims, Execute, ExecuteOpen, Model, Observer, ProducedOutput, Results,
    ShapePlan, ShapedInput, Spans, SuppliedMemory, Targets, gear_values,
};
pub use memory::DeviceMemory;
pub use operator::{Operator, OperatorInput, OperatorOutput, OperatorRun};
pub use package::{Description, ExternalWeight, Package, Preprocessing, TensorInfo};
