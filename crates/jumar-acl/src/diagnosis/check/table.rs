//! What the checks do at each call, found out once by its name.

use std::sync::OnceLock;

use crate::Call;
use crate::aclnn::{self, Phase};
use crate::generated::signatures;
use crate::observers::{MOST, signature};

use super::lifetimes::{self, ObjectLifetime};
use super::limits::LimitedObject;
use super::media;

/// What is checked before a call.
pub(super) enum Before {
    Nothing,
    Free {
        device: bool,
    },
    Copy {
        queued: bool,
    },
    Fill,
    Buffer {
        first: usize,
    },
    SetDevice,
    QueryStream,
    QueryEvent,
    DestroyStream,
    ExecuteModel,
    WaitForEvent,
    WaitForNotify,
    /// The first phase of an operator.
    PlanOperator,
    /// The second phase of an operator.
    RunOperator,
}

/// What a call that went well means.
pub(super) enum After {
    Nothing,
    Init,
    Finalize,
    FinalizeReference,
    Malloc,
    SetDevice,
    /// The thread has a context from then on.
    SetContext,
    BeginCapture,
    EndCapture,
    ResetDevice,
    DestroyContext,
    /// Something was asked about: the value of the second argument if it is done.
    Query {
        when: u64,
    },
    RecordEvent,
    ResetEvent,
    DestroyEvent,
    DestroyStream,
    /// Another process, or a limit for all waits, may end a wait from now on.
    MayRelease,
    /// A thread may poll from now on.
    Subscribe,
    /// A channel of the second interface of images and video has ended.
    DestroyChannel,
    /// The first phase of an operator made an executor.
    PlanOperator,
    /// The second phase of an operator used its executor.
    RunOperator,
    /// The program asks for the errors of the thread, whatever the answer is.
    AskForErrors,
}

/// What is known of a call.
pub(super) struct CallRecord {
    pub(super) before: Before,
    pub(super) after: After,
    /// Whether it counts as use before aclInit.
    pub(super) needs_init: bool,
    /// The objects of which there may be too many after it.
    pub(super) counted: Option<LimitedObject>,
    /// Whether it makes or ends objects.
    pub(super) checks_lifetime: bool,
    /// Arguments that are handles of objects with a life.
    pub(super) handles: Vec<(usize, &'static ObjectLifetime)>,
}

static ALL: [OnceLock<CallRecord>; signatures::ALL.len()] =
    [const { OnceLock::new() }; signatures::ALL.len()];

/// What is known of functions that have no number: those beside the operators, and those below the C++ libraries.
static UNNUMBERED: CallRecord = CallRecord {
    before: Before::Nothing,
    after: After::Nothing,
    needs_init: false,
    counted: None,
    checks_lifetime: false,
    handles: Vec::new(),
};

/// What is known of the two phases of every operator.
static PHASES: [OnceLock<CallRecord>; 2] = [const { OnceLock::new() }; 2];

fn of_operator(call: &'static Call, phase: Phase) -> CallRecord {
    let (before, after) = match phase {
        Phase::First => (Before::PlanOperator, After::PlanOperator),
        Phase::Second => (Before::RunOperator, After::RunOperator),
    };
    CallRecord {
        before,
        after,
        needs_init: false,
        counted: None,
        checks_lifetime: false,
        handles: handles(call),
    }
}

/// Finds what is known of a call.
pub(super) fn known(call: &'static Call) -> &'static CallRecord {
    if let Some((_, phase)) = aclnn::phase_of(call) {
        return PHASES[phase as usize].get_or_init(|| of_operator(call, phase));
    }
    let Some(record) = ALL.get(usize::from(call.number)) else {
        return &UNNUMBERED;
    };
    record.get_or_init(|| CallRecord {
        before: before(call.name),
        after: after(call.name),
        needs_init: call.name.starts_with("aclrt")
            && !["aclrtGetVersion", "aclrtGetSocName"].contains(&call.name),
        counted: counted(call.name),
        checks_lifetime: lifetimes::changes_lifetimes(call.name),
        handles: handles(call),
    })
}

fn before(name: &str) -> Before {
    match name {
        "aclrtFree" | "aclrtFreeWithDevSync" | "acldvppFree" | "hi_mpi_dvpp_free" => {
            Before::Free { device: true }
        }
        "aclrtFreeHost" | "aclrtFreeHostWithDevSync" => Before::Free { device: false },
        "aclrtMemcpy" => Before::Copy { queued: false },
        "aclrtMemcpyAsync" => Before::Copy { queued: true },
        "aclrtMemset" | "aclrtMemsetAsync" => Before::Fill,
        "aclCreateDataBuffer" => Before::Buffer { first: 0 },
        "aclUpdateDataBuffer" => Before::Buffer { first: 1 },
        "aclrtSetDevice" => Before::SetDevice,
        "aclrtDestroyStream" | "aclrtDestroyStreamForce" => Before::DestroyStream,
        "aclrtStreamQuery" => Before::QueryStream,
        "aclrtQueryEvent" | "aclrtQueryEventStatus" => Before::QueryEvent,
        "aclmdlExecute" | "aclmdlExecuteAsync" => Before::ExecuteModel,
        "aclrtSynchronizeEvent" | "aclrtSynchronizeEventWithTimeout" | "aclrtStreamWaitEvent" => {
            Before::WaitForEvent
        }
        "aclrtWaitAndResetNotify" => Before::WaitForNotify,
        _ => Before::Nothing,
    }
}

fn after(name: &str) -> After {
    match name {
        "aclInit" => After::Init,
        "aclFinalize" => After::Finalize,
        "aclFinalizeReference" => After::FinalizeReference,
        "aclrtMalloc" | "aclrtMallocAlign32" | "aclrtMallocCached" | "aclrtMallocHost" => {
            After::Malloc
        }
        "aclrtSetDevice" => After::SetDevice,
        "aclrtSetCurrentContext" | "aclrtCreateContext" => After::SetContext,
        "aclmdlRICaptureBegin" => After::BeginCapture,
        "aclmdlRICaptureEnd" => After::EndCapture,
        "aclrtResetDevice" | "aclrtResetDeviceForce" => After::ResetDevice,
        "aclrtDestroyContext" => After::DestroyContext,
        "aclrtStreamQuery" | "aclrtQueryEvent" => After::Query { when: 0 },
        "aclrtQueryEventStatus" => After::Query { when: 1 },
        "aclrtRecordEvent" | "aclrtRecordEventWithFlag" => After::RecordEvent,
        "aclrtResetEvent" => After::ResetEvent,
        "aclrtDestroyEvent" => After::DestroyEvent,
        "aclrtDestroyStream" | "aclrtDestroyStreamForce" => After::DestroyStream,
        "aclrtSetOpWaitTimeout" => After::MayRelease,
        "aclrtSubscribeReport" | "aclrtSubscribeHostFunc" => After::Subscribe,
        "aclGetRecentErrMsg" | "aclrtGetLastError" | "aclrtPeekAtLastError" => After::AskForErrors,
        _ if media::destroys_channel(name) => After::DestroyChannel,
        _ if ["Ipc", "Import", "Export"]
            .iter()
            .any(|word| name.contains(word)) =>
        {
            After::MayRelease
        }
        _ => After::Nothing,
    }
}

fn counted(name: &str) -> Option<LimitedObject> {
    match name {
        // A capture takes a stream for each stream that joins it.
        "aclrtCreateStream" | "aclrtCreateStreamWithConfig" | "aclmdlRICaptureEnd" => {
            Some(LimitedObject::Streams)
        }
        "aclrtCreateEvent" | "aclrtCreateEventWithFlag" | "aclrtCreateEventExWithFlag" => {
            Some(LimitedObject::Events)
        }
        "aclrtCreateNotify" => Some(LimitedObject::Notifies),
        _ => None,
    }
}

fn handles(call: &'static Call) -> Vec<(usize, &'static ObjectLifetime)> {
    let parameters = signature(call).parameters.iter().enumerate().take(MOST);
    let mut found: Vec<_> = parameters
        .filter(|(_, parameter)| parameter.out_bytes == 0)
        .filter_map(|(index, parameter)| Some((index, ObjectLifetime::of(parameter.handle)?)))
        .collect();
    if let Some(index) = lifetimes::model_argument(call.name) {
        found.push((index, &lifetimes::MODEL));
    }
    found
}
