//! One error type for the whole project: a closed kind, and a sentence that names the object, the values and the fix.
//!
//! Core and model code know kinds only. The number that a C program sees, the Python class and the general
//! advice hang off the kind in `api/errors.toml`.

use std::fmt;
use std::sync::Arc;

/// The result of every fallible operation in Jumar.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What went wrong, as a closed list.
        ///
        /// Matches on this enum inside the workspace have no wildcard arm, so that a new kind has to be
        /// thought about everywhere.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum ErrorKind { $($(#[$doc])* $name,)* }

        impl ErrorKind {
            /// Lists every kind, in the order of declaration.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$name,)*];

            /// Returns the kind's name as it stands in `api/errors.toml`.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorKind::$name => stringify!($name),)* }
            }
        }
    };
}

kinds! {
    /// A required pointer is null (checked by the frontend).
    NullPointer,
    /// An argument outside the values that the frontend accepts.
    InvalidArgument,
    /// An argument outside the values that the runtime accepts (flag bits, sizes, timeouts).
    InvalidValue,
    /// A handle that is stale, foreign or of another kind.
    InvalidHandle,
    /// No such device, or it is hidden.
    InvalidDevice,
    /// No device is visible at all.
    NoDevice,
    /// The device could not be brought up.
    DeviceSetup,
    /// The calling thread has no current context, or it is gone.
    NoContext,
    /// A stream of another context than the current one.
    StreamContext,
    /// A model of another context.
    ModelContext,
    /// A stream that is bound to a model, or one that should be.
    StreamModel,
    /// An event without a usable time stamp.
    EventTimestamp,
    /// An event that was never recorded where a record is needed.
    EventNotRecorded,
    /// A stream that is (or is not) subscribed to a reporting thread.
    StreamSubscribe,
    /// A thread that is not subscribed, or was for another device.
    ThreadSubscribe,
    /// A callback was launched on a stream without a report thread.
    NoSubscriber,
    /// No callback arrived within the time limit.
    ReportTimeout,
    /// An unknown memory attribute.
    InvalidMemoryType,
    /// A system parameter that was never set.
    SysParamNotSet,
    /// Device memory is exhausted.
    OutOfMemory,
    /// No more streams on the device.
    NoStreamResource,
    /// No more events on the device.
    NoEventResource,
    /// No more notifies on the device.
    NoNotifyResource,
    /// An object that is being torn down, or whose count is already 0.
    ContextReleased,
    /// A stream did not finish in time.
    StreamTimeout,
    /// An event did not complete in time.
    EventTimeout,
    /// A queued wait expired.
    WaitTimeout,
    /// A captured stream was used where that is not allowed.
    StreamCaptured,
    /// A captured event was used where that is not allowed.
    EventCaptured,
    /// A stream that is not being captured.
    StreamNotCaptured,
    /// A captured wait for something that was recorded outside of the capture.
    CaptureDependency,
    /// A capture was ended while a stream that joined it was not brought back.
    CaptureUnjoined,
    /// A model that is still being captured.
    CaptureOpen,
    /// A call that a capture forbids the thread.
    CaptureForbids,
    /// An asynchronous call that would have to wait, which a capture forbids the thread.
    CaptureForbidsWaiting,
    /// A default stream would be pulled into a capture.
    CaptureImplicit,
    /// Two captures would become one.
    CaptureConflict,
    /// A group of tasks that is open, or is not, where it must not be so.
    TaskGroupState,
    /// A capture was ended on another stream than it was begun on.
    CaptureOtherStream,
    /// A capture was ended by another thread than began it.
    CaptureOtherThread,
    /// A capture that an earlier failure made invalid.
    CaptureInvalidated,
    /// A captured or built model that is being executed.
    GraphRunning,
    /// A captured or built model that cannot be updated now.
    GraphUpdate,
    /// A captured or built model that is not ready to be executed.
    GraphNotReady,
    /// A branch of a condition that is still being captured.
    BranchOpen,
    /// A task of a kind that the call cannot work with.
    TaskTypeUnsupported,
    /// An array of the program that is too small for all there is.
    ArrayTooSmall,
    /// A label of another context.
    LabelContext,
    /// A feature that this device profile, or Jumar, does not have (runtime layer).
    FeatureUnsupported,
    /// A feature that the frontend refuses.
    FrontendFeatureUnsupported,
    /// A function that is not implemented yet.
    NotImplemented,
    /// The runtime was initialised before.
    RepeatInitialize,
    /// The runtime was finalised before.
    RepeatFinalize,
    /// The runtime is not initialised.
    Uninitialized,
    /// A file that cannot be found or read.
    InvalidFile,
    /// A file that cannot be parsed.
    ParseFile,
    /// A dump configuration that breaks a rule.
    InvalidDumpConfig,
    /// Dumping was not started.
    DumpNotRunning,
    /// The library failed in a way that the frontend reports as a general failure.
    Failure,
    /// A failure inside the frontend's own helpers.
    Internal,
    /// A failure inside the runtime.
    RuntimeInternal,
    /// The model executor was not initialised.
    ModelExecutorNotInitialized,
    /// A model file that does not exist or cannot be opened.
    ModelPath,
    /// A model id that was never given out, or was unloaded.
    ModelId,
    /// A model file shorter than it says.
    ModelDataSize,
    /// A model that is damaged, of another maker, or does not fit the buffers given.
    ModelInvalid,
    /// A model's weights are missing.
    ModelWeights,
    /// A general failure of the graph executor.
    ModelFailure,
    /// Device memory ran out while a model was loaded.
    ModelMemory,
    /// A batch size or a gear that the model was not built for.
    DynamicBatch,
    /// A dynamic input of the wrong length.
    DynamicInputLength,
    /// An input without AIPP.
    AippMissing,
    /// A bundle id that was never given out, or was unloaded.
    BundleId,
    /// A queue that a model is to be driven by, and that is not there.
    ModelQueue,
    /// A model with more dimensions than the interface can carry.
    StorageOverLimit,
    /// A model failed while it ran.
    ModelExecute,
    /// A kernel failed while it ran.
    KernelFailed,
    /// A kernel took longer than it may.
    KernelTimeout,
    /// A kernel of the device's own CPU failed while it ran.
    CpuKernelFailed,
    /// A kernel of the device's own CPU took longer than it may.
    CpuKernelTimeout,
    /// A result was too large, or something was divided by zero, on a stream that watches for it.
    Overflow,
    /// No kernel belongs to the symbol.
    FunctionUnknown,
    /// No variable belongs to the symbol or name.
    SymbolUnknown,
    /// A program for the compiler that was never made, or was destroyed.
    ProgramInvalid,
    /// The compiler was handed something that is not an input.
    CompilerInput,
    /// An option that the compiler cannot take.
    CompilerOption,
    /// A source that does not compile.
    CompilationFailed,
    /// A name that was added after the compilation.
    NameTooLate,
    /// A name that was asked for before the compilation.
    NameTooEarly,
    /// A name that was never added.
    NameUnknown,
    /// There is no compiler, or it could not be started.
    CompilerMissing,
    /// A profile is being taken already, from outside the program.
    ProfilerRunning,
    /// No profile is being taken.
    ProfilerNotRunning,
    /// The two ways of profiling exclude one another.
    ProfilerConflict,
    /// Something that no profile can collect.
    ProfilerModules,
    /// A configuration of a profile that contradicts the running one, or is not a value.
    ProfilerConfig,
    /// A host callback failed.
    CallbackFailed,
    /// A host range that is registered already.
    HostRangeRegistered,
    /// A host range that was never registered.
    HostRangeUnknown,
    /// A queue of messages without a free slot.
    QueueFull,
    /// A queue of messages without a message.
    QueueEmpty,
    /// Data of an unknown kind.
    UnsupportedDataType,
    /// A single operator was neither compiled nor loaded.
    OperatorNotFound,
    /// A file of a single operator cannot be loaded.
    OperatorLoad,
    /// A single operator does not match its class, or is not supported.
    OperatorInvalid,
    /// A stream was aborted while a call waited for it.
    StreamAborted,
    /// The tasks of a device were aborted while a call waited for one of its streams.
    DeviceAborted,
    /// Work that was to be stopped did not end in time.
    AbortTimeout,
    /// A process that is no longer running freely was to be locked for a snapshot.
    SnapshotLock,
    /// Queued work did not end before a snapshot.
    SnapshotLockTimeout,
    /// A process that is not locked was to be unlocked.
    SnapshotUnlock,
    /// A snapshot of a process that is not locked.
    SnapshotBackup,
    /// A restore without a snapshot.
    SnapshotRestore,
    /// A function that was to prepare for a snapshot failed.
    SnapshotCallback,
    /// A function that is registered for this stage of a snapshot already.
    SnapshotRegister,
    /// A second copy of the library was loaded into the process.
    SecondRuntime,
    /// An argument of a collective operation.
    CommArgument,
    /// A type or a feature of collective communication that no product offers.
    CommUnsupported,
    /// An environment variable of collective communication.
    CommVariable,
    /// A configuration of a communicator.
    CommConfig,
    /// A rank table that cannot be read.
    CommTableFile,
    /// A rank table with a key that is missing or wrong.
    CommTableKey,
    /// A rank or a device that does not fit the rank table.
    CommTableRank,
    /// Not all ranks came to create a communicator.
    CommIncomplete,
    /// Ranks that create a communicator with contradicting arguments.
    CommDisagreement,
    /// The process that root information comes from cannot be reached.
    CommRootGone,
    /// A port at which ranks were to gather is in use.
    CommPortTaken,
    /// A communicator that failed earlier.
    CommUnavailable,
    /// A communicator that another thread is using.
    CommBusy,
    /// A communicator that is suspended.
    CommSuspended,
    /// A name that no communicator has.
    CommUnknownName,
    /// A queued collective operation that not all ranks issued in time.
    CommTimeout,
    /// A queued collective operation about which the ranks disagree.
    CommMismatch,
    /// A queued collective operation that misses a rank which is gone.
    CommPeerLost,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An error: kind, sentence, and what led to it. One pointer wide, so that `Result`s stay small.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    sentence: String,
    fix: Option<String>,
    operation: Option<&'static str>,
    object: Option<String>,
    source: Option<Error>,
    task: Option<TaskSite>,
    operator: Option<Arc<FailedOperator>>,
}

/// The operator of a model at which an execution failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedOperator {
    /// The name of the node.
    pub name: String,
    /// The tensors that it read, in order; an optional one that was not given is left out.
    pub inputs: Vec<FailedTensor>,
    /// The tensors that it was to write.
    pub outputs: Vec<FailedTensor>,
}

/// A tensor of an operator that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedTensor {
    /// The number of the element type in the ACL interface.
    pub data_type: i32,
    /// The dimensions.
    pub dims: Vec<i64>,
    /// Where it lies in the device's memory; 0 where it lies nowhere there.
    pub address: usize,
}

/// Which queued task an error belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskSite {
    /// The device's number.
    pub device: u32,
    /// The stream's number.
    pub stream: u32,
    /// The task's number on the stream.
    pub task: u32,
    /// The system id of the submitting thread; 0 if unknown.
    pub thread: u32,
    /// The handle of the kernel that it ran; 0 for other tasks.
    pub function: u64,
    /// Where the kernel's arguments lie, and how many bytes they have.
    pub arguments: (usize, usize),
}

impl Error {
    /// Makes an error from its kind and one sentence that names the object and the offending values.
    pub fn new(kind: ErrorKind, sentence: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            sentence: sentence.into(),
            fix: None,
            operation: None,
            object: None,
            source: None,
            task: None,
            operator: None,
        }))
    }

    /// Adds what the caller can do about it, where the kind's general advice says too little.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.0.fix = Some(fix.into());
        self
    }

    /// Names the call that failed or, for work that failed later, the call that submitted it.
    #[must_use]
    pub fn operation(mut self, name: &'static str) -> Self {
        self.0.operation.get_or_insert(name);
        self
    }

    /// Names the object that the error is about, such as "stream 3", for programs that read errors as data. The sentence names it
    /// too.
    #[must_use]
    pub fn object(mut self, name: impl Into<String>) -> Self {
        self.0.object = Some(name.into());
        self
    }

    /// Returns the name of the object that the error is about, if it is known: that of the error itself, of the task that failed,
    /// or of the error that led to this one.
    pub fn object_name(&self) -> Option<String> {
        if let Some(name) = &self.0.object {
            return Some(name.clone());
        }
        if let Some(site) = self.0.task {
            let TaskSite {
                device,
                stream,
                task,
                ..
            } = site;
            return Some(format!("task {task} of stream {stream} on device {device}"));
        }
        self.cause().and_then(Error::object_name)
    }

    /// Keeps the error that led to this one.
    #[must_use]
    pub fn caused_by(mut self, source: Error) -> Self {
        self.0.source = Some(source);
        self
    }

    /// Marks the error as that of a queued task.
    #[must_use]
    pub fn of_task(mut self, task: TaskSite) -> Self {
        self.0.task = Some(task);
        self
    }

    /// Returns the task that failed, if the error came from queued work.
    pub fn task(&self) -> Option<TaskSite> {
        self.0.task
    }

    /// Adds the failed operator of a model.
    #[must_use]
    pub fn at_operator(mut self, operator: Arc<FailedOperator>) -> Self {
        self.0.operator = Some(operator);
        self
    }

    /// Returns the operator at which the execution of a model failed, if it was that and the operator is known.
    pub fn failed_operator(&self) -> Option<&Arc<FailedOperator>> {
        self.0.operator.as_ref()
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the sentence without operation and fix.
    pub fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// Returns the special advice, if there is any.
    pub fn advice(&self) -> Option<&str> {
        self.0.fix.as_deref()
    }

    /// Returns the name of the call that failed or submitted the work.
    pub fn operation_name(&self) -> Option<&'static str> {
        self.0.operation
    }

    /// Returns the error that led to this one.
    pub fn cause(&self) -> Option<&Error> {
        self.0.source.as_ref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.sentence)?;
        if let Some(source) = &self.0.source {
            write!(f, " ({source})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_pointer_wide() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn a_sentence_carries_its_cause() {
        let cause = Error::new(ErrorKind::InvalidValue, "count 9 is larger than 8");
        let error = Error::new(ErrorKind::KernelFailed, "the copy failed").caused_by(cause);
        assert_eq!(
            error.to_string(),
            "the copy failed (count 9 is larger than 8)"
        );
    }

    #[test]
    fn an_error_names_its_object_or_that_of_its_cause() {
        let cause = Error::new(ErrorKind::InvalidHandle, "x").object("stream 0x11");
        let error = Error::new(ErrorKind::Failure, "y").caused_by(cause);
        assert_eq!(error.object_name().as_deref(), Some("stream 0x11"));
        let site = TaskSite {
            device: 1,
            stream: 2,
            task: 3,
            ..TaskSite::default()
        };
        let name = error.clone().of_task(site).object_name();
        assert_eq!(name.as_deref(), Some("task 3 of stream 2 on device 1"));
        let own = error.object("model \"a\"").object_name();
        assert_eq!(own.as_deref(), Some("model \"a\""));
        assert_eq!(Error::new(ErrorKind::Failure, "z").object_name(), None);
    }

    #[test]
    fn the_first_operation_named_stays() {
        let error = Error::new(ErrorKind::Failure, "x")
            .operation("inner")
            .operation("outer");
        assert_eq!(error.operation_name(), Some("inner"));
    }
}
