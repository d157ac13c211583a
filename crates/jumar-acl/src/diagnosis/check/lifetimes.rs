//! The calls that create and destroy each kind of object, and the findings about them: leaks, and objects that a reset destroys.

use std::collections::HashMap;
use std::sync::OnceLock;

use jumar::check::{Check, Finding};
use jumar::engine::sync::Mutex;

use crate::observers::{MOST, signature};
use crate::{aclnn, process};

use super::CompletedCall;

/// The calls that create and destroy one kind of object, and the rules about its lifetime.
pub(super) struct ObjectLifetime {
    /// The handle's type.
    handle: &'static str,
    /// What messages call an object of this kind.
    pub(super) kind: &'static str,
    /// Calls that create an object.
    makers: &'static [&'static str],
    /// Calls that destroy an object, and the index of the argument that names it.
    pub(super) ends: &'static [(&'static str, usize)],
    /// The rule against use after destruction.
    pub(super) stale: &'static str,
    /// The rule against destroying an object twice.
    pub(super) twice: &'static str,
    /// The rule against leaks.
    leak: &'static str,
    /// The fix that a leak's finding shows.
    advice: &'static str,
}

/// Models. Their ids are numbers, not handles.
pub(super) static MODEL: ObjectLifetime = ObjectLifetime {
    handle: "model id",
    kind: "model",
    makers: &[],
    ends: &[("aclmdlUnload", 0)],
    stale: "JMR-MODEL-001",
    twice: "JMR-MODEL-001",
    leak: "JMR-MODEL-025",
    advice: "Call aclmdlUnload before the device is reset.",
};

/// Returns the lifetime of a kind of object for image processing.
const fn image_object(
    handle: &'static str,
    kind: &'static str,
    makers: &'static [&'static str],
    ends: &'static [(&'static str, usize)],
    advice: &'static str,
) -> ObjectLifetime {
    ObjectLifetime {
        handle,
        kind,
        makers,
        ends,
        stale: "JMR-DVPP-003",
        twice: "JMR-DVPP-003",
        leak: "JMR-LEAK-002",
        advice,
    }
}

/// The kinds of objects of image processing.
pub(super) const IMAGE_OBJECTS: &[&str] = &[
    "image description",
    "batch of image descriptions",
    "image region",
    "resize configuration",
    "border configuration",
    "JPEG configuration",
    "image channel description",
    "look-up table",
    "histogram",
    "decoding channel description",
    "encoding channel description",
    "stream description",
    "decoding configuration",
    "encoding configuration",
];

static LIFETIMES: &[ObjectLifetime] = &[
    ObjectLifetime {
        handle: "aclrtContext",
        kind: "context",
        makers: &["aclrtCreateContext"],
        ends: &[("aclrtDestroyContext", 0)],
        stale: "JMR-CTX-007",
        twice: "JMR-CTX-005",
        leak: "JMR-CTX-010",
        advice: "Call aclrtDestroyContext before the device is reset.",
    },
    ObjectLifetime {
        handle: "aclrtStream",
        kind: "stream",
        makers: &[
            "aclrtCreateStream",
            "aclrtCreateStreamV2",
            "aclrtCreateStreamWithConfig",
        ],
        ends: &[("aclrtDestroyStream", 0), ("aclrtDestroyStreamForce", 0)],
        stale: "JMR-STREAM-002",
        twice: "JMR-STREAM-002",
        leak: "JMR-STREAM-023",
        advice: "Call aclrtDestroyStream before its context is destroyed.",
    },
    ObjectLifetime {
        handle: "aclrtEvent",
        kind: "event",
        makers: &[
            "aclrtCreateEvent",
            "aclrtCreateEventWithFlag",
            "aclrtCreateEventExWithFlag",
            "aclrtIpcOpenEventHandle",
        ],
        ends: &[("aclrtDestroyEvent", 0)],
        stale: "JMR-EVENT-015",
        twice: "JMR-EVENT-015",
        leak: "JMR-EVENT-018",
        advice: "Call aclrtDestroyEvent.",
    },
    ObjectLifetime {
        handle: "aclrtNotify",
        kind: "notify",
        makers: &["aclrtCreateNotify", "aclrtNotifyImportByKey"],
        ends: &[("aclrtDestroyNotify", 0)],
        stale: "JMR-NOTIFY-004",
        twice: "JMR-NOTIFY-004",
        leak: "JMR-NOTIFY-007",
        advice: "Call aclrtDestroyNotify.",
    },
    ObjectLifetime {
        handle: "aclDataBuffer",
        kind: "data buffer",
        makers: &["aclCreateDataBuffer"],
        ends: &[("aclDestroyDataBuffer", 0)],
        stale: "JMR-DATASET-003",
        twice: "JMR-DATASET-003",
        leak: "JMR-LEAK-002",
        advice: "Call aclDestroyDataBuffer; destroying the data set does not do it.",
    },
    ObjectLifetime {
        handle: "aclmdlDataset",
        kind: "data set",
        makers: &["aclmdlCreateDataset"],
        ends: &[("aclmdlDestroyDataset", 0)],
        stale: "JMR-DATASET-003",
        twice: "JMR-DATASET-003",
        leak: "JMR-LEAK-002",
        advice: "Call aclmdlDestroyDataset.",
    },
    ObjectLifetime {
        handle: "aclmdlDesc",
        kind: "model description",
        makers: &["aclmdlCreateDesc"],
        ends: &[("aclmdlDestroyDesc", 0)],
        stale: "JMR-LEAK-002",
        twice: "JMR-LEAK-002",
        leak: "JMR-LEAK-002",
        advice: "Call aclmdlDestroyDesc.",
    },
    ObjectLifetime {
        handle: "aclTensorDesc",
        kind: "tensor description",
        makers: &["aclCreateTensorDesc"],
        ends: &[("aclDestroyTensorDesc", 0)],
        stale: "JMR-OP-012",
        twice: "JMR-OP-012",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyTensorDesc.",
    },
    ObjectLifetime {
        handle: "aclopAttr",
        kind: "set of attributes",
        makers: &["aclopCreateAttr"],
        ends: &[("aclopDestroyAttr", 0)],
        stale: "JMR-OP-012",
        twice: "JMR-OP-012",
        leak: "JMR-OP-012",
        advice: "Call aclopDestroyAttr.",
    },
    ObjectLifetime {
        handle: "aclopHandle",
        kind: "operator handle",
        makers: &[
            "aclopCreateHandle",
            "aclopCreateHandleForCast",
            "aclblasCreateHandleForGemvEx",
            "aclblasCreateHandleForHgemv",
            "aclblasCreateHandleForS8gemv",
            "aclblasCreateHandleForGemmEx",
            "aclblasCreateHandleForHgemm",
            "aclblasCreateHandleForS8gemm",
        ],
        ends: &[("aclopDestroyHandle", 0)],
        stale: "JMR-OP-012",
        twice: "JMR-OP-012",
        leak: "JMR-OP-012",
        advice: "Call aclopDestroyHandle.",
    },
    ObjectLifetime {
        handle: "aclTensor",
        kind: "tensor",
        makers: &["aclCreateTensor"],
        ends: &[("aclDestroyTensor", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyTensor.",
    },
    ObjectLifetime {
        handle: "aclScalar",
        kind: "scalar",
        makers: &["aclCreateScalar"],
        ends: &[("aclDestroyScalar", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyScalar.",
    },
    ObjectLifetime {
        handle: "aclIntArray",
        kind: "integer array",
        makers: &["aclCreateIntArray"],
        ends: &[("aclDestroyIntArray", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyIntArray.",
    },
    ObjectLifetime {
        handle: "aclFloatArray",
        kind: "float array",
        makers: &["aclCreateFloatArray"],
        ends: &[("aclDestroyFloatArray", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyFloatArray.",
    },
    ObjectLifetime {
        handle: "aclBoolArray",
        kind: "boolean array",
        makers: &["aclCreateBoolArray"],
        ends: &[("aclDestroyBoolArray", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyBoolArray.",
    },
    ObjectLifetime {
        handle: "aclTensorList",
        kind: "tensor list",
        makers: &["aclCreateTensorList"],
        ends: &[("aclDestroyTensorList", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyTensorList; it destroys the members too.",
    },
    ObjectLifetime {
        handle: "aclScalarList",
        kind: "scalar list",
        makers: &["aclCreateScalarList"],
        ends: &[("aclDestroyScalarList", 0)],
        stale: "JMR-OP-013",
        twice: "JMR-OP-013",
        leak: "JMR-OP-012",
        advice: "Call aclDestroyScalarList; it destroys the members too.",
    },
    ObjectLifetime {
        handle: "aclOpExecutor",
        kind: "executor",
        makers: &[],
        ends: &[("aclDestroyAclOpExecutor", 0)],
        stale: "JMR-OP-004",
        twice: "JMR-OP-004",
        leak: "JMR-OP-012",
        advice: "Run the second phase; a repeatable executor, and one that is not run, needs aclDestroyAclOpExecutor.",
    },
    ObjectLifetime {
        handle: "HcclComm",
        kind: super::collectives::KIND,
        makers: &[],
        ends: &[("HcclCommDestroy", 0)],
        stale: "JMR-COMM-004",
        twice: "JMR-COMM-004",
        leak: "JMR-COMM-005",
        advice: "Call HcclCommDestroy on every rank, after the streams that use it are done.",
    },
    ObjectLifetime {
        handle: "aclmdlRI",
        kind: "captured model",
        makers: &["aclmdlRICaptureEnd", "aclmdlRIBuildBegin"],
        ends: &[("aclmdlRIDestroy", 0)],
        stale: "JMR-CAP-018",
        twice: "JMR-CAP-018",
        leak: "JMR-CAP-025",
        advice: "Call aclmdlRIDestroy.",
    },
    ObjectLifetime {
        handle: "aclrtBinHandle",
        kind: "kernel binary",
        makers: &[
            "aclrtBinaryLoad",
            "aclrtBinaryLoadFromFile",
            "aclrtBinaryLoadFromData",
        ],
        ends: &[("aclrtBinaryUnLoad", 0)],
        stale: "JMR-LEAK-002",
        twice: "JMR-LEAK-002",
        leak: "JMR-LEAK-002",
        advice: "Call aclrtBinaryUnLoad.",
    },
    ObjectLifetime {
        handle: "aclrtLabel",
        kind: "label",
        makers: &["aclrtCreateLabel"],
        ends: &[("aclrtDestroyLabel", 0)],
        stale: "JMR-LEAK-002",
        twice: "JMR-LEAK-002",
        leak: "JMR-LEAK-002",
        advice: "Call aclrtDestroyLabel.",
    },
    ObjectLifetime {
        handle: "aclrtStreamConfigHandle",
        kind: "stream configuration",
        makers: &["aclrtCreateStreamConfigHandle"],
        ends: &[("aclrtDestroyStreamConfigHandle", 0)],
        stale: "JMR-LEAK-002",
        twice: "JMR-LEAK-002",
        leak: "JMR-LEAK-002",
        advice: "Call aclrtDestroyStreamConfigHandle.",
    },
    image_object(
        "acldvppPicDesc",
        "image description",
        &["acldvppCreatePicDesc"],
        &[("acldvppDestroyPicDesc", 0)],
        "Call acldvppDestroyPicDesc.",
    ),
    image_object(
        "acldvppBatchPicDesc",
        "batch of image descriptions",
        &["acldvppCreateBatchPicDesc"],
        &[("acldvppDestroyBatchPicDesc", 0)],
        "Call acldvppDestroyBatchPicDesc.",
    ),
    image_object(
        "acldvppRoiConfig",
        "image region",
        &["acldvppCreateRoiConfig"],
        &[("acldvppDestroyRoiConfig", 0)],
        "Call acldvppDestroyRoiConfig.",
    ),
    image_object(
        "acldvppResizeConfig",
        "resize configuration",
        &["acldvppCreateResizeConfig"],
        &[("acldvppDestroyResizeConfig", 0)],
        "Call acldvppDestroyResizeConfig.",
    ),
    image_object(
        "acldvppBorderConfig",
        "border configuration",
        &["acldvppCreateBorderConfig"],
        &[("acldvppDestroyBorderConfig", 0)],
        "Call acldvppDestroyBorderConfig.",
    ),
    image_object(
        "acldvppJpegeConfig",
        "JPEG configuration",
        &["acldvppCreateJpegeConfig"],
        &[("acldvppDestroyJpegeConfig", 0)],
        "Call acldvppDestroyJpegeConfig.",
    ),
    image_object(
        "acldvppChannelDesc",
        "image channel description",
        &["acldvppCreateChannelDesc"],
        &[("acldvppDestroyChannelDesc", 0)],
        "Call acldvppDestroyChannelDesc.",
    ),
    image_object(
        "acldvppLutMap",
        "look-up table",
        &["acldvppCreateLutMap"],
        &[("acldvppDestroyLutMap", 0)],
        "Call acldvppDestroyLutMap.",
    ),
    image_object(
        "acldvppHist",
        "histogram",
        &["acldvppCreateHist"],
        &[("acldvppDestroyHist", 0)],
        "Call acldvppDestroyHist.",
    ),
    image_object(
        "aclvdecChannelDesc",
        "decoding channel description",
        &["aclvdecCreateChannelDesc"],
        &[("aclvdecDestroyChannelDesc", 0)],
        "Call aclvdecDestroyChannelDesc.",
    ),
    image_object(
        "aclvencChannelDesc",
        "encoding channel description",
        &["aclvencCreateChannelDesc"],
        &[("aclvencDestroyChannelDesc", 0)],
        "Call aclvencDestroyChannelDesc.",
    ),
    image_object(
        "acldvppStreamDesc",
        "stream description",
        &["acldvppCreateStreamDesc"],
        &[("acldvppDestroyStreamDesc", 0)],
        "Call acldvppDestroyStreamDesc.",
    ),
    image_object(
        "aclvdecFrameConfig",
        "decoding configuration",
        &["aclvdecCreateFrameConfig"],
        &[("aclvdecDestroyFrameConfig", 0)],
        "Call aclvdecDestroyFrameConfig.",
    ),
    image_object(
        "aclvencFrameConfig",
        "encoding configuration",
        &["aclvencCreateFrameConfig"],
        &[("aclvencDestroyFrameConfig", 0)],
        "Call aclvencDestroyFrameConfig.",
    ),
];

impl ObjectLifetime {
    /// Finds the lifetime behind a type of handles.
    pub(super) fn of(handle: &str) -> Option<&'static ObjectLifetime> {
        LIFETIMES.iter().find(|lifetime| lifetime.handle == handle)
    }
}

/// Returns the index of the argument that is a model's id.
pub(super) fn model_argument(name: &str) -> Option<usize> {
    match name {
        "aclmdlUnload"
        | "aclmdlExecute"
        | "aclmdlExecuteAsync"
        | "aclmdlExecuteV2"
        | "aclmdlExecuteAsyncV2"
        | "aclmdlSetDynamicBatchSize" => Some(0),
        "aclmdlGetDesc" => Some(1),
        _ => None,
    }
}

/// Returns the kind of the members of a list that a call makes or ends.
fn list_of(name: &str) -> Option<&'static str> {
    match name {
        "aclCreateTensorList" | "aclDestroyTensorList" => Some("tensor"),
        "aclCreateScalarList" | "aclDestroyScalarList" => Some("scalar"),
        _ => None,
    }
}

/// The data buffers of each data set, and the members of each list of tensors or scalars.
static CONTAINERS: OnceLock<Mutex<HashMap<u64, Vec<u64>>>> = OnceLock::new();

fn containers() -> &'static Mutex<HashMap<u64, Vec<u64>>> {
    CONTAINERS.get_or_init(Mutex::default)
}

/// Returns the data buffers of a data set, or the members of a list.
pub(super) fn members_of(container: u64) -> Vec<u64> {
    containers()
        .lock()
        .get(&container)
        .cloned()
        .unwrap_or_default()
}

/// Returns the number by which messages call a live stream.
pub(super) fn stream_number(handle: u64) -> Option<u32> {
    let runtime = process::get().runtime().ok()?;
    Some(runtime.streams().get(handle).ok()?.number())
}

/// Returns whether a stream is being captured.
pub(super) fn stream_is_captured(handle: u64) -> bool {
    let Ok(runtime) = process::get().runtime() else {
        return false;
    };
    let stream = runtime.streams().get(handle);
    stream.is_ok_and(|stream| stream.is_recorded())
}

/// Returns the number of an object, alive or destroyed.
pub(super) fn known_number(check: &Check, kind: &'static str, handle: u64) -> Option<u64> {
    Some(check.object(kind, handle)?.number)
}

/// Returns whether a call creates or destroys objects, or puts them into a container.
pub(super) fn changes_lifetimes(name: &str) -> bool {
    ["aclmdlAddDatasetBuffer", "aclmdlDestroyDataset"].contains(&name)
        || list_of(name).is_some()
        || name.starts_with("aclmdlLoad")
        || LIFETIMES.iter().chain([&MODEL]).any(|lifetime| {
            lifetime.makers.contains(&name) || lifetime.ends.iter().any(|(ends, _)| *ends == name)
        })
}

/// Records the objects that a successful call created and destroyed.
pub(super) fn after(check: &Check, seen: &CompletedCall) {
    let name = seen.call.name;
    match name {
        "aclmdlAddDatasetBuffer" => {
            containers()
                .lock()
                .entry(seen.words[0])
                .or_default()
                .push(seen.words[1]);
        }
        "aclmdlDestroyDataset" => {
            containers().lock().remove(&seen.words[0]);
        }
        "aclCreateTensorList" | "aclCreateScalarList" => {
            let members = aclnn::members_of(seen.returned);
            containers().lock().insert(seen.returned, members);
        }
        "aclDestroyTensorList" | "aclDestroyScalarList" => {
            let members = containers().lock().remove(&seen.words[0]);
            let kind = list_of(name).unwrap_or_default();
            for member in members.unwrap_or_default() {
                check.ended(kind, member, name);
            }
        }
        _ if name.starts_with("aclmdlLoad") => {
            let parameters = signature(seen.call).parameters;
            if let Some(index) = parameters.iter().position(|p| p.name == "modelId") {
                check.made(MODEL.kind, seen.written[index], None, name, 0);
            }
        }
        _ => {}
    }
    for lifetime in LIFETIMES.iter().chain([&MODEL]) {
        if lifetime.makers.contains(&name)
            && let Some(key) = created_handle(seen, lifetime.handle)
        {
            let number = number_of(lifetime.kind, key);
            check.made(lifetime.kind, key, number, name, 0);
            if let Some(device) = device_of(lifetime.kind, key) {
                check.belongs_to(lifetime.kind, key, device);
            }
        }
        if let Some((_, argument)) = lifetime.ends.iter().find(|(ends, _)| *ends == name) {
            check.ended(lifetime.kind, seen.words[*argument], name);
        }
    }
}

/// Returns the handle of the object of this type that a call created: its result, or an output argument.
fn created_handle(seen: &CompletedCall, handle: &str) -> Option<u64> {
    let signature = signature(seen.call);
    if signature.returns == handle {
        return (seen.returned != 0).then_some(seen.returned);
    }
    let out = |(index, parameter): (usize, &crate::observers::Parameter)| {
        (parameter.handle == handle && parameter.out_bytes > 0).then_some(index)
    };
    let index = signature
        .parameters
        .iter()
        .enumerate()
        .take(MOST)
        .find_map(out)?;
    (seen.written[index] != 0).then_some(seen.written[index])
}

fn number_of(kind: &str, handle: u64) -> Option<u64> {
    let runtime = process::get().runtime().ok()?;
    match kind {
        "stream" => Some(u64::from(runtime.streams().get(handle).ok()?.number())),
        "event" => Some(runtime.events().get(handle).ok()?.number()),
        "notify" => Some(runtime.notifies().get(handle).ok()?.number()),
        _ => None,
    }
}

/// Returns the device whose reset destroys a live object.
fn device_of(kind: &str, handle: u64) -> Option<u32> {
    let runtime = process::get().runtime().ok()?;
    let context = match kind {
        "stream" => return Some(runtime.streams().get(handle).ok()?.device()),
        "event" => runtime.events().get(handle).ok()?.context_id(),
        "context" => handle,
        _ => return None,
    };
    Some(runtime.contexts().get(context).ok()?.device().number())
}

/// Records that a call which destroys an object has begun (`true`), or that it was refused (`false`).
pub(super) fn set_ending(
    check: &Check,
    call: &str,
    lifetime: &ObjectLifetime,
    key: u64,
    is_ending: bool,
) {
    let goes_with_device = ["stream", "event", "context"].contains(&lifetime.kind);
    if goes_with_device && lifetime.ends.iter().any(|(name, _)| *name == call) {
        check.set_ending(lifetime.kind, key, is_ending);
    }
}

/// Records and reports the objects that a device reset, the destruction of a context, or a finalisation destroyed.
///
/// `device` is the only device that was reset. Objects that a call on another thread is destroying at the same time are not reported.
pub(super) fn destroyed_with_owner(check: &Check, by: &'static str, device: Option<u32>) {
    let Ok(runtime) = process::get().runtime() else {
        return;
    };
    let rule = match by {
        "aclrtDestroyContext" => "JMR-CTX-009",
        _ => "JMR-ORDER-002",
    };
    let mut first = None;
    let mut count = 0;
    for (kind, is_gone) in [
        (
            "stream",
            (|r, key| r.streams().get(key).is_err()) as fn(&jumar::engine::Runtime, u64) -> bool,
        ),
        ("event", |r, key| r.events().get(key).is_err()),
        ("context", |r, key| r.contexts().get(key).is_err()),
    ] {
        for (key, object) in check.alive(kind) {
            if !is_gone(runtime, key) || check.swept(kind, key, device, by).is_none() {
                continue;
            }
            if check.is_of_framework(object.made) {
                continue;
            }
            count += 1;
            first.get_or_insert(object);
        }
    }
    if let Some(object) = first {
        let others = match count {
            1 => String::new(),
            _ => format!(" and {} more", count - 1),
        };
        let finding = Finding::now(rule, format!("{by} destroys {}{others}", object.name()))
            .and("made", object.made, object.name())
            .fix("Destroy streams and events first, then contexts, then reset the device, then finalise.");
        match rule {
            // If the program releases one of them later, that finding is reported, and this one is a part of it.
            "JMR-ORDER-002" => super::reported_at_the_end(check, finding),
            _ => check.find(finding),
        }
    }
    // Device memory that no longer exists was freed by the program, or by the reset.
    for allocation in check.allocations() {
        if runtime.space().find(allocation.start).is_none() {
            check.forget_allocation(allocation.start);
        }
    }
}

/// Reports objects and memory that still exist when the process ends.
pub(super) fn leaks(check: &Check) {
    // If a list was not destroyed, only the list is reported, not its members.
    for (lists, members) in [("tensor list", "tensor"), ("scalar list", "scalar")] {
        for (list, _) in check.alive(lists) {
            for member in members_of(list) {
                check.ended(members, member, "its list");
            }
        }
    }
    for lifetime in LIFETIMES.iter().chain([&MODEL]) {
        check.leaks(lifetime.kind, lifetime.leak, lifetime.advice);
    }
    check.leaks(
        "session",
        "JMR-GE-001",
        "Delete the ge::Session, then call GEFinalize.",
    );
    check.memory_leaks("JMR-MEM-008", "JMR-HOST-002");
}
