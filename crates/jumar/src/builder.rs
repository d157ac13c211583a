//! What a runtime is built with, setting by setting.

use std::path::PathBuf;

use jumar_core::Profile;
use jumar_types::{Error, ErrorKind, Result};

use crate::config::{Instructions, MAX_DEVICES, Settings};
use crate::runtime::Runtime;

/// Builds a [`Runtime`]: made by [`Runtime::builder`].
///
/// ```
/// let runtime = jumar::Runtime::builder()
///     .devices(2)
///     .profile_named("Ascend310P3")?
///     .workers(4)
///     .build()?;
/// assert_eq!(runtime.devices().len(), 2);
/// # Ok::<(), jumar::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RuntimeBuilder {
    settings: Settings,
}

impl RuntimeBuilder {
    pub(crate) fn of(settings: Settings) -> RuntimeBuilder {
        RuntimeBuilder { settings }
    }

    /// Sets the number of devices: 1 to 64. Without it there is one.
    #[must_use]
    pub fn devices(mut self, count: u32) -> RuntimeBuilder {
        self.settings.devices = count;
        self
    }

    /// Sets the product that each device imitates.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> RuntimeBuilder {
        self.settings.profile = profile;
        self
    }

    /// Sets the product that each device imitates, by the name of a built-in profile or the path of a profile file.
    ///
    /// # Errors
    /// `InvalidArgument`: there is no profile of this name, or the file is not one.
    pub fn profile_named(self, name: &str) -> Result<RuntimeBuilder> {
        let profile = crate::profile::find(name)?;
        Ok(self.profile(profile))
    }

    /// Sets the memory of each device. The machine's own memory is a limit beside it.
    ///
    /// # Units
    /// Bytes.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> RuntimeBuilder {
        self.settings.profile.memory_bytes = bytes;
        self
    }

    /// Sets the number of worker threads: 1 to 1024. Without it there are as many as processors.
    #[must_use]
    pub fn workers(mut self, count: usize) -> RuntimeBuilder {
        self.settings.workers = Some(count);
        self
    }

    /// Writes a timeline of the process to a file.
    #[must_use]
    pub fn trace(mut self, path: impl Into<PathBuf>) -> RuntimeBuilder {
        self.settings.trace = Some(path.into());
        self
    }

    /// Sets whether products may use the processor's matrix unit (AMX), where it has one. Without it they may.
    #[must_use]
    pub fn matrix_unit(mut self, may: bool) -> RuntimeBuilder {
        self.settings.matrix_unit = may;
        self
    }

    /// Limits the vector instructions of operators, for the whole process. Without it they use the most that the processor has.
    #[must_use]
    pub fn instructions(mut self, most: Instructions) -> RuntimeBuilder {
        self.settings.instructions = Some(most);
        self
    }

    /// Builds the runtime.
    ///
    /// # Errors
    /// `InvalidArgument`: a number out of its range; `DeviceSetup`: too little memory or address space; `InvalidFile`: the timeline
    /// cannot be written.
    pub fn build(self) -> Result<Runtime> {
        let Settings {
            devices, workers, ..
        } = self.settings;
        in_range("devices", devices.into(), MAX_DEVICES.into())?;
        in_range("workers", workers.unwrap_or(1) as u64, 1024)?;
        in_range("memory_bytes", self.settings.profile.memory_bytes, 1 << 60)?;
        Runtime::with(&self.settings)
    }
}

fn in_range(what: &str, value: u64, most: u64) -> Result<()> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    let sentence = format!("{what} is {value}; it must be a number from 1 to {most}");
    Err(Error::new(ErrorKind::InvalidArgument, sentence))
}
