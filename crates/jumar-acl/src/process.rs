//! The one runtime of a process, and what initialisation set.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use jumar::config::Settings;
use jumar::engine::Runtime;
use jumar::engine::sync::{AtomicBool, AtomicI32, Condvar, Mutex, MutexGuard, Ordering};
use jumar_types::{Error, ErrorKind, Result};

use crate::message::Messages;
use crate::{data_buffer, dataset, init, model_desc, tensor_desc};

/// What a process has one of.
pub struct Process {
    runtime: OnceLock<Result<Runtime>>,
    /// The building of the runtime has begun.
    built: AtomicBool,
    pub(crate) init: Mutex<init::State>,
    /// Notified when a thread has finished initialising or finalising.
    pub(crate) init_done: Condvar,
    /// What the environment said when something was first asked of it; the runtime is built from it.
    settings: OnceLock<Result<Settings>>,
    initialized: AtomicBool,
    /// The device that a bare thread gets by itself; -1 is none.
    default_device: AtomicI32,
    share_messages: AtomicBool,
    /// Whether every submit waits for its stream, as `ASCEND_LAUNCH_BLOCKING` asks for.
    pub(crate) launch_blocking: bool,
    messages: Mutex<Messages>,
    pub(crate) exceptions: crate::error::Exceptions,
    pub(crate) kernels: crate::kernel::Kernels,
    pub(crate) programs: crate::rtc::Programs,
    pub(crate) allocators: crate::allocator::Allocators,
    pub(crate) dump: crate::dump::State,
    pub(crate) prof: crate::prof::State,
    pub(crate) activities: crate::mspti::State,
    pub(crate) buffers: crate::mbuf::Buffers,
    pub(crate) queues: crate::tdt_queue::Queues,
    pub(crate) tensors: crate::tdt_channel::Tensors,
    pub(crate) hooks: crate::hooks::Hooks,
    pub(crate) snapshot: crate::snapshot::State,
    pub(crate) group_infos: crate::group::GroupInfos,
    pub(crate) cores: Mutex<crate::device::CoreLimits>,
    pub(crate) data_buffers: data_buffer::DataBuffers,
    pub(crate) dvpp: crate::dvpp::State,
    /// The threads that have asked for callbacks (aclrtProcessReport) and ended since. A number is removed when a thread with this number
    /// asks again.
    pub(crate) ended_reporters: Mutex<BTreeSet<u64>>,
    pub(crate) datasets: dataset::Datasets,
    pub(crate) operators: crate::aclnn::Objects,
    pub(crate) operations: crate::atb::Operations,
    pub(crate) single_operators: crate::single_op::State,
    pub(crate) model_descs: model_desc::ModelDescs,
    pub(crate) models: crate::model::Models,
    pub(crate) model_configs: crate::model_config::ModelConfigs,
    pub(crate) exec_configs: crate::model_config::ExecConfigs,
    pub(crate) bundles: crate::bundle::Bundles,
    pub(crate) bundle_queries: crate::bundle::Queries,
    pub(crate) aipp_settings: crate::aipp::AippTable,
    pub(crate) tensor_descs: tensor_desc::TensorDescs,
    pub(crate) stream_configs: crate::stream::StreamConfigs,
    pub(crate) stream_attributes: Mutex<crate::stream::Attributes>,
    pub(crate) parameters: Mutex<crate::context::Parameters>,
    /// The functions that the program called and that Jumar does not have.
    pub(crate) missed: Mutex<BTreeSet<&'static str>>,
    pub(crate) communication: crate::hccl::Collectives,
    pub(crate) compile_options: Mutex<crate::compile_option::Options>,
    /// The states of threads that make calls while they end.
    pub(crate) late: crate::thread::Late,
}

static PROCESS: OnceLock<Process> = OnceLock::new();

/// This process was forked off one that had a runtime.
static FORKED: AtomicBool = AtomicBool::new(false);

/// The state of such a process: nothing of the parent's is touched, as a lock among it may be held by a thread that is not
/// here.
static CHILD: OnceLock<Process> = OnceLock::new();

/// Returns the process's state, made at the first call.
#[inline]
pub(crate) fn get() -> &'static Process {
    if is_forked() {
        return CHILD.get_or_init(Process::new);
    }
    PROCESS.get_or_init(Process::new)
}

/// Returns the process's state if it was made; never a child's.
pub(crate) fn existing() -> Option<&'static Process> {
    PROCESS.get()
}

/// Returns whether this process was forked off one that had a runtime.
#[inline]
pub(crate) fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Called in a new child, on its only thread. Where the parent had a runtime, its workers, devices and streams stayed
/// there, and every call that needs them is refused from now on.
pub fn forked() {
    let had_a_runtime = |process: &Process| {
        process.built.load(Ordering::Relaxed) || process.runtime.get().is_some()
    };
    if PROCESS.get().is_some_and(had_a_runtime) {
        FORKED.store(true, Ordering::Relaxed);
    }
}

fn not_built(error: &Error) -> Error {
    Error::new(ErrorKind::DeviceSetup, "the runtime could not be built").caused_by(error.clone())
}

impl Process {
    fn new() -> Process {
        Process {
            runtime: OnceLock::new(),
            built: AtomicBool::new(false),
            init: Mutex::default(),
            init_done: Condvar::new(),
            settings: OnceLock::new(),
            initialized: AtomicBool::new(false),
            default_device: AtomicI32::new(-1),
            share_messages: AtomicBool::new(false),
            launch_blocking: jumar::config::launch_blocking(),
            messages: Mutex::default(),
            exceptions: crate::error::Exceptions::default(),
            kernels: crate::kernel::Kernels::default(),
            programs: crate::rtc::table(),
            allocators: crate::allocator::Allocators::default(),
            dump: crate::dump::State::default(),
            prof: crate::prof::State::default(),
            activities: crate::mspti::State::default(),
            buffers: crate::mbuf::Buffers::default(),
            queues: crate::tdt_queue::Queues::default(),
            tensors: crate::tdt_channel::Tensors::default(),
            hooks: crate::hooks::Hooks::default(),
            snapshot: crate::snapshot::State::default(),
            group_infos: crate::group::table(),
            cores: Mutex::default(),
            data_buffers: data_buffer::table(),
            dvpp: crate::dvpp::State::default(),
            ended_reporters: Mutex::default(),
            datasets: dataset::table(),
            operators: crate::aclnn::Objects::new(crate::aclnn::Communication {
                named: crate::hccl::group_named,
                join: crate::hccl::join,
            }),
            operations: crate::atb::Operations::default(),
            single_operators: crate::single_op::State::default(),
            model_descs: model_desc::table(),
            models: crate::model::Models::default(),
            model_configs: crate::model_config::table(),
            exec_configs: crate::model_config::exec_table(),
            bundles: crate::bundle::Bundles::default(),
            bundle_queries: crate::bundle::table(),
            aipp_settings: crate::aipp::table(),
            tensor_descs: tensor_desc::table(),
            stream_configs: crate::stream::table(),
            stream_attributes: Mutex::default(),
            late: Mutex::default(),
            parameters: Mutex::default(),
            missed: Mutex::default(),
            communication: crate::hccl::Collectives::default(),
            compile_options: Mutex::default(),
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

    /// The runtime, if it was built.
    pub(crate) fn built(&self) -> Option<&Result<Runtime>> {
        self.runtime.get()
    }

    #[cold]
    fn build(&self) -> Result<&Runtime> {
        self.refuse_if_forked()?;
        self.built.store(true, Ordering::Relaxed);
        let built = self.runtime.get_or_init(|| match self.read_settings() {
            Ok(settings) => settings.build(),
            Err(error) => Err(error.clone()),
        });
        built.as_ref().map_err(not_built)
    }

    fn read_settings(&self) -> &Result<Settings> {
        self.settings.get_or_init(|| {
            crate::faults::validate()?;
            Settings::from_environment()
        })
    }

    /// What the runtime is or will be built from. To ask for it uses no device, so that a process which only counted them
    /// may still be forked.
    pub(crate) fn settings(&self) -> Result<&Settings> {
        self.refuse_if_forked()?;
        self.read_settings().as_ref().map_err(not_built)
    }

    /// Refuses what a child of a process with a runtime cannot do.
    ///
    /// # Errors
    /// `DeviceSetup`.
    pub(crate) fn refuse_if_forked(&self) -> Result<()> {
        if !is_forked() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::DeviceSetup,
            format!(
                "process {} was forked off a process that had used a device: devices, streams and worker threads stayed with the parent",
                std::process::id()
            ),
        )
        .fix("Fork before the first use of a device, or start a new program (exec, multiprocessing's \"spawn\")."))
    }

    /// Returns whether aclInit ran and aclFinalize did not.
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
