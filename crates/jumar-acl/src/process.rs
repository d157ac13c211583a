//! The one runtime of a process, and what initialisation set.

use std::sync::OnceLock;

use jumar::engine::Runtime;
use jumar::engine::sync::{AtomicBool, AtomicI32, Mutex, MutexGuard, Ordering};
use jumar_types::{Error, ErrorKind, Result};

use crate::message::Messages;
use crate::{data_buffer, dataset, init, model_desc, tensor_desc};

/// What a process has one of.
pub struct Process {
    runtime: OnceLock<Result<Runtime>>,
    pub(crate) init: Mutex<init::State>,
    initialized: AtomicBool,
    /// The device that a bare thread gets by itself; -1 is none.
    default_device: AtomicI32,
    share_messages: AtomicBool,
    /// Whether every submit waits for its stream, as `ASCEND_LAUNCH_BLOCKING` asks for.
    pub(crate) launch_blocking: bool,
    messages: Mutex<Messages>,
    pub(crate) exceptions: crate::error::Exceptions,
    pub(crate) kernels: crate::kernel::Kernels,
    pub(crate) data_buffers: data_buffer::DataBuffers,
    pub(crate) datasets: dataset::Datasets,
    pub(crate) model_descs: model_desc::ModelDescs,
    pub(crate) models: crate::model::Models,
    pub(crate) tensor_descs: tensor_desc::TensorDescs,
    pub(crate) stream_configs: crate::stream::StreamConfigs,
    pub(crate) parameters: Mutex<crate::context::Parameters>,
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// Gives the process's state, made at the first call.
#[inline]
pub(crate) fn get() -> &'static Process {
    PROCESS.get_or_init(Process::new)
}

impl Process {
    fn new() -> Process {
        Process {
            runtime: OnceLock::new(),
            init: Mutex::default(),
            initialized: AtomicBool::new(false),
            default_device: AtomicI32::new(-1),
            share_messages: AtomicBool::new(false),
            launch_blocking: jumar::config::launch_blocking(),
            messages: Mutex::default(),
            exceptions: crate::error::Exceptions::default(),
            kernels: crate::kernel::Kernels::default(),
            data_buffers: data_buffer::table(),
            datasets: dataset::table(),
            model_descs: model_desc::table(),
            models: crate::model::Models::default(),
            tensor_descs: tensor_desc::table(),
            stream_configs: crate::stream::table(),
            parameters: Mutex::default(),
        }
    }

    /// The runtime, built at the first call that needs it from what the environment says then.
    #[inline]
    pub(crate) fn runtime(&self) -> Result<&Runtime> {
        match self.runtime.get() {
            Some(Ok(runtime)) => Ok(runtime),
            _ => self.build(),
        }
    }

    #[cold]
    fn build(&self) -> Result<&Runtime> {
        let built = self.runtime.get_or_init(|| {
            jumar::config::Settings::from_environment().and_then(|settings| settings.build())
        });
        built.as_ref().map_err(|error| {
            Error::new(ErrorKind::DeviceSetup, "the runtime could not be built")
                .caused_by(error.clone())
        })
    }

    /// Tells whether aclInit ran and aclFinalize did not.
    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Acquire)
    }

    pub(crate) fn set_initialized(&self, initialized: bool) {
        self.initialized.store(initialized, Ordering::Release);
    }

    pub(crate) fn default_device(&self) -> Option<i32> {
        let device = self.default_device.load(Ordering::Relaxed);
        (device >= 0).then_some(device)
    }

    pub(crate) fn set_default_device(&self, device: Option<i32>) {
        self.default_device
            .store(device.unwrap_or(-1), Ordering::Relaxed);
    }

    pub(crate) fn messages_are_shared(&self) -> bool {
        self.share_messages.load(Ordering::Relaxed)
    }

    pub(crate) fn share_messages(&self, share: bool) {
        self.share_messages.store(share, Ordering::Relaxed);
    }

    pub(crate) fn shared_messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock()
    }
}
