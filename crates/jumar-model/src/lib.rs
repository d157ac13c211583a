//! Offline models on a device: opened, loaded, executed by queueing ordinary operations, unloaded.
#![forbid(unsafe_code)]

mod file;
mod loaded;
mod package;

/// Graphs and model files themselves, for tools that read and write them without a device.
pub use jumar_graph as graph;
pub use jumar_graph::{Aipp, Gear, GearKind};
pub use loaded::{Model, Observer, Produced, Results, Shaped, Supplied, gear_values};
pub use package::{Description, Package, Preprocessing, TensorInfo};
