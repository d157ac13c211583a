//! A model file, opened and checked, before it is put on a device.

use std::path::Path;
use std::sync::Arc;

use jumar_core::{Caller, Context, Span};
use jumar_types::{Error, ErrorKind, Result};

/// What a model takes and gives.
#[derive(Clone, Debug)]
pub struct Description {
    /// The model's name.
    pub name: String,
    /// The inputs in order.
    pub inputs: Vec<TensorInfo>,
    /// The outputs in order.
    pub outputs: Vec<TensorInfo>,
}

/// One input or output.
#[derive(Clone, Debug)]
pub struct TensorInfo {
    /// The name in the model.
    pub name: String,
    /// The number of the element type in the ACL interface.
    pub data_type: i32,
    /// The number of the format in the ACL interface.
    pub format: i32,
    /// The dimensions.
    pub dims: Vec<i64>,
    /// The size.
    ///
    /// # Units
    /// Bytes.
    pub bytes: usize,
}

pub struct Package {
    description: Arc<Description>,
}

#[derive(Clone)]
pub(crate) struct Executable;

impl Package {
    pub fn open(_path: &Path) -> Result<Package> {
        Err(Error::new(ErrorKind::NotImplemented, "models"))
    }
    pub fn parse(_bytes: Vec<u8>) -> Result<Package> {
        Err(Error::new(ErrorKind::NotImplemented, "models"))
    }
    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }
    pub fn work_bytes(&self) -> usize {
        0
    }
    pub fn weight_bytes(&self) -> usize {
        0
    }
    pub(crate) fn executable(&self) -> Executable {
        Executable
    }
    pub(crate) fn write_weights(
        &self,
        _to: Span,
        _context: &Context,
        _caller: &Caller<'_>,
    ) -> Result<()> {
        Ok(())
    }
}

impl Executable {
    pub(crate) fn run(
        &self,
        _weights: Span,
        _work: Span,
        _inputs: &[Span],
        _outputs: &[Span],
    ) -> Result<()> {
        Err(Error::new(ErrorKind::NotImplemented, "models"))
    }
}
