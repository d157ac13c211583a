//! A device: what it is, and the way to a context on it.

use std::fmt;
use std::sync::Arc;

use jumar_core::Profile;
use jumar_types::Result;

use crate::call::{self, by};
use crate::context::Context;
use crate::runtime::{Inner, Runtime};

/// A device of a runtime. A clone refers to the same device.
#[derive(Clone)]
pub struct Device {
    pub(crate) runtime: Arc<Inner>,
    pub(crate) core: Arc<jumar_core::Device>,
}

impl Device {
    /// Returns the device's number, from 0 on.
    pub fn number(&self) -> u32 {
        self.core.number()
    }

    /// Returns the name of the chip that the device stands for, such as `Ascend910B1`.
    pub fn name(&self) -> &str {
        &self.profile().soc_name
    }

    /// Returns what is known of the device: memory, cores, and how many streams and events it carries.
    pub fn profile(&self) -> &Profile {
        self.core.profile()
    }

    /// Returns the size of the device's memory.
    ///
    /// # Units
    /// Bytes.
    pub fn memory_total(&self) -> u64 {
        self.core.memory_info().1
    }

    /// Returns how much of the device's memory is free.
    ///
    /// # Units
    /// Bytes.
    pub fn memory_free(&self) -> u64 {
        // What was dropped while tasks used it counts as soon as they are over.
        self.runtime.reclaim();
        self.core.memory_info().0
    }

    /// Makes a context, which streams, events and buffers are made in.
    ///
    /// # Errors
    /// `DeviceSetup`: the device could not be opened; `NoStreamResource`: the device has no stream left for the context.
    pub fn context(&self) -> Result<Context> {
        let core = by(&call::CONTEXT, |_| {
            self.runtime.core.create_context(i64::from(self.number()))
        })?;
        Ok(Context::new(self.runtime.clone(), core))
    }

    /// Returns the runtime.
    pub fn runtime(&self) -> Runtime {
        Runtime {
            inner: self.runtime.clone(),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("number", &self.number())
            .field("name", &self.name())
            .finish()
    }
}
