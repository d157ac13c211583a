//! Profiles: what ran on which device and for how long, written to a folder when a profile ends, or sent to the program.
//!
//! There are three ways, and one at a time: the program's own calls (`aclprofInit` and what follows), the configuration of
//! aclInit or a tool's variable (then the program's calls are refused), and subscriptions to the operators of models.
//!
//! Without a profile the cost is one load of a flag: the gate has no probe, a call is not timed, and a model's
//! operators are not watched.

mod collect;
mod model;
mod output;
mod settings;
mod stamp;
mod subscription;
mod timeline;

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jumar::config::ProfilerEnvironment;
use jumar::engine::sync::{AtomicBool, AtomicU32, Mutex, Ordering};
use jumar::engine::{Table, now_ns};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::enums;
use crate::{Cx, Raw, refuse};

use collect::{Call, Session};
use settings::Switches;

pub(crate) use model::observer;
pub(crate) use settings::FromFile;
pub(crate) use stamp::OpenRanges;
pub use stamp::{
    RangeAttributes, aclprofCreateStamp, aclprofCreateStepInfo, aclprofDestroyStamp,
    aclprofDestroyStepInfo, aclprofGetStepTimestamp, aclprofGetSupportedFeatures,
    aclprofGetSupportedFeaturesV2, aclprofMark, aclprofMarkEx, aclprofPop, aclprofPush,
    aclprofRangePop, aclprofRangePushEx, aclprofRangeStart, aclprofRangeStop,
    aclprofSetStampTraceMessage, aclprofStr2Id, aclrtProfTrace,
};
pub(crate) use subscription::unloaded;
pub use subscription::{
    aclprofCreateSubscribeConfig, aclprofDestroySubscribeConfig, aclprofGetModelId,
    aclprofGetOpAttriValue, aclprofGetOpDescSize, aclprofGetOpDuration, aclprofGetOpEnd,
    aclprofGetOpFlag, aclprofGetOpName, aclprofGetOpNameLen, aclprofGetOpNum, aclprofGetOpStart,
    aclprofGetOpType, aclprofGetOpTypeLen, aclprofModelSubscribe, aclprofModelUnSubscribe,
};

/// A configuration of a profile; it never changes.
pub struct Config {
    id: u64,
    devices: Vec<u32>,
    /// As the program wrote it.
    asked: u64,
}

/// How a profile came to be.
enum Way {
    Off,
    /// The program prepared it; profiles go into this folder.
    Program(PathBuf),
    /// aclInit or a tool did.
    Outside,
}

/// What the process has of profiles.
pub struct State {
    way: Mutex<Way>,
    current: Mutex<Option<Arc<Session>>>,
    /// Whether calls are timed: a copy of what the current profile wants.
    times_calls: AtomicBool,
    /// Whether records of activities want the calls.
    records_calls: AtomicBool,
    /// Whether the operators of models are watched, by a profile or a subscription.
    watches_operators: AtomicBool,
    /// Profiles so far, which number their folders.
    count: AtomicU32,
    /// The folder of profiles without aclprofInit.
    path: Mutex<Option<PathBuf>>,
    configs: Table<Config>,
    stamps: stamp::Stamps,
    subscriptions: subscription::Subscriptions,
}

impl Default for State {
    fn default() -> Self {
        State {
            way: Mutex::new(Way::Off),
            current: Mutex::new(None),
            times_calls: AtomicBool::new(false),
            records_calls: AtomicBool::new(false),
            watches_operators: AtomicBool::new(false),
            count: AtomicU32::new(0),
            path: Mutex::new(None),
            configs: Table::new(IdKind::ProfileConfig, Arc::default()),
            stamps: stamp::Stamps::default(),
            subscriptions: subscription::Subscriptions::default(),
        }
    }
}

impl State {
    /// Adds or removes a model of another runtime, which programs may subscribe to.
    pub(crate) fn report_model(&self, model: u32, device: u32, exists: bool) {
        self.subscriptions.report_model(model, device, exists);
    }

    /// Returns whether calls are timed now.
    #[inline]
    pub(crate) fn times_calls(&self) -> bool {
        self.times_calls.load(Ordering::Relaxed)
    }

    /// Sets whether records of activities want the calls.
    pub(crate) fn record_calls(&self, wanted: bool) {
        self.records_calls.store(wanted, Ordering::Relaxed);
        self.update_flags();
    }

    /// Adds a call of a thread that began at `start_ns` and ends now.
    #[cold]
    pub(crate) fn add_call(&self, name: &'static str, thread: u32, start_ns: u64) {
        if let Some(session) = self.session() {
            session.add_call(Call {
                name,
                thread,
                start_ns,
                end_ns: now_ns(),
            });
        }
    }

    /// The profile that is being taken.
    fn session(&self) -> Option<Arc<Session>> {
        self.current.lock().clone()
    }

    /// Updates the flags that other threads read to the current settings.
    fn update_flags(&self) {
        let session = self.session();
        let switches = session.as_ref().map_or(Switches::NONE, |one| one.switches);
        let calls = switches.has_calls() || self.records_calls.load(Ordering::Relaxed);
        self.times_calls.store(calls, Ordering::Relaxed);
        let operators = switches.has_tasks() || self.subscriptions.any();
        self.watches_operators.store(operators, Ordering::Relaxed);
    }

    fn begin(&self, cx: &Cx<'_>, root: &Path, devices: &[u32], switches: Switches) -> Result<()> {
        let mut current = self.current.lock();
        if let Some(running) = &*current {
            if running.switches != switches {
                return refuse(
                    ErrorKind::ProfilerConfig,
                    format!(
                        "a profile is already running with the switches {:#x}; it cannot be started again with {:#x}",
                        running.switches.bits(),
                        switches.bits()
                    ),
                );
            }
            running.add_devices(devices);
            return Ok(());
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let session = Session::begin(root, number, devices, switches)?;
        if let Some(probe) = session.probe() {
            cx.runtime()?.gate().attach(probe.clone());
        }
        *current = Some(session);
        drop(current);
        self.update_flags();
        Ok(())
    }

    /// Ends the profile of some devices, or of all. The last one ends the profile, which is written.
    fn end(&self, devices: Option<&[u32]>) -> Result<()> {
        let mut current = self.current.lock();
        let Some(session) = &*current else {
            return Ok(());
        };
        let over = devices.is_none_or(|devices| session.remove_devices(devices));
        if !over {
            return Ok(());
        }
        let session = current.take();
        drop(current);
        self.update_flags();
        session.map_or(Ok(()), |session| {
            if let (Some(Ok(runtime)), Some(probe)) =
                (crate::process::get().built(), session.probe())
            {
                runtime.gate().detach(probe);
            }
            session.write()
        })
    }

    /// Begins the profile that a configuration file or a tool asks for.
    pub(crate) fn begin_from_outside(&self, cx: &Cx<'_>, wanted: &FromFile) -> Result<()> {
        self.begin(cx, &wanted.folder, &[], wanted.switches)?;
        *self.way.lock() = Way::Outside;
        Ok(())
    }

    /// Ends what a configuration file or a tool began.
    pub(crate) fn end_from_outside(&self) {
        let mut way = self.way.lock();
        if matches!(*way, Way::Outside) {
            *way = Way::Off;
            drop(way);
            self.finish();
        }
    }

    /// Writes the profile that still runs when a process ends, and what subscribers have not read yet.
    pub(crate) fn finish(&self) {
        if let Err(error) = self.end(None) {
            crate::log::problem(&error.to_string());
        }
    }

    fn refuse_outside(&self, way: &Way) -> Result<()> {
        match way {
            Way::Outside => refuse(
                ErrorKind::ProfilerRunning,
                "this process is already being profiled, by aclInit's configuration or by a tool",
            ),
            _ if self.subscriptions.any() => refuse(
                ErrorKind::ProfilerConflict,
                "models are subscribed to; a profile and subscriptions exclude each other",
            ),
            Way::Off | Way::Program(_) => Ok(()),
        }
    }
}

/// Longest path of a folder of profiles, with its end.
const LONGEST_PATH: usize = 4096;

/// Reads a text whose length the program says too.
fn measured<'a>(
    text: Option<&'a CStr>,
    length: usize,
    most: usize,
    name: &str,
) -> Result<&'a CStr> {
    let text = text.ok_or_else(|| null(name))?;
    let real = text.count_bytes();
    if length == 0 || length > most || length != real {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "{name} has {real} bytes and its length argument is {length}; both must be the same, from 1 to {most}"
            ),
        );
    }
    Ok(text)
}

/// Letters that a folder of profiles may have beside letters and digits.
const ALLOWED: &str = "_-./~+=,:@% ";

/// Makes the folder that profiles go into.
fn folder(path: &CStr) -> Result<PathBuf> {
    let bad = |what: String| Error::new(ErrorKind::InvalidFile, what);
    let text = path
        .to_str()
        .map_err(|_| bad("the path of the profile is not UTF-8".into()))?;
    if let Some(odd) = text
        .chars()
        .find(|&letter| !letter.is_alphanumeric() && !ALLOWED.contains(letter))
    {
        return Err(bad(format!(
            "the path {text} of the profile has the letter {odd:?}, which such a path cannot have"
        )));
    }
    let unusable =
        |error: std::io::Error| bad(format!("the folder {text} cannot be used: {error}"));
    std::fs::create_dir_all(text).map_err(unusable)?;
    // A relative path means the folder that is the current one now.
    Path::new(text).canonicalize().map_err(unusable)
}

pub fn aclprofInit(cx: &Cx<'_>, path: Option<&CStr>, length: usize) -> Result<()> {
    let path = measured(path, length, LONGEST_PATH - 1, "profilerResultPath")?;
    if ProfilerEnvironment::read().is_dynamic {
        return refuse(
            ErrorKind::FrontendFeatureUnsupported,
            "PROFILING_MODE is \"dynamic\": a tool controls profiles of this process, and the program cannot",
        );
    }
    let state = &cx.process.prof;
    let mut way = state.way.lock();
    state.refuse_outside(&way)?;
    if let Way::Program(folder) = &*way {
        let folder = folder.display();
        return refuse(
            ErrorKind::RepeatInitialize,
            format!("aclprofInit was already called, with the folder {folder}"),
        );
    }
    *way = Way::Program(folder(path)?);
    Ok(())
}

pub fn aclprofFinalize(cx: &Cx<'_>) -> Result<()> {
    let state = &cx.process.prof;
    let mut way = state.way.lock();
    state.refuse_outside(&way)?;
    *way = Way::Off;
    drop(way);
    state.end(None)
}

pub fn aclprofStart(cx: &Cx<'_>, config: Raw) -> Result<()> {
    let state = &cx.process.prof;
    let (devices, switches) = if config.is_null() {
        (Vec::new(), Switches::USUAL)
    } else {
        let config = state.configs.get(config.0)?;
        (config.devices.clone(), Switches::read(config.asked)?)
    };
    let mut way = state.way.lock();
    state.refuse_outside(&way)?;
    let root = match &*way {
        Way::Program(root) => root.clone(),
        Way::Off | Way::Outside => {
            let configured = state.path.lock().clone();
            let root = configured.map_or_else(std::env::current_dir, Ok);
            let root = root.map_err(|error| {
                let sentence = format!("there is no current folder for the profile: {error}");
                Error::new(ErrorKind::InvalidFile, sentence)
            })?;
            *way = Way::Program(root.clone());
            root
        }
    };
    drop(way);
    state.begin(cx, &root, &devices, switches)
}

pub fn aclprofStop(cx: &Cx<'_>, config: Raw) -> Result<()> {
    let state = &cx.process.prof;
    let devices = match config.is_null() {
        true => None,
        false => Some(state.configs.get(config.0)?.devices.clone()),
    };
    let way = state.way.lock();
    if matches!(*way, Way::Outside) {
        return state.refuse_outside(&way);
    }
    drop(way);
    state.end(devices.as_deref())
}

/// The measures of cores that can be named, beside none.
const METRICS: std::ops::RangeInclusive<u32> =
    enums::ACL_AICORE_ARITHMETIC_UTILIZATION..=enums::ACL_AICORE_MEMORY_ACCESS;

pub fn aclprofCreateConfig(
    cx: &Cx<'_>,
    devices: Option<&[u32]>,
    count: u32,
    metrics: u32,
    events: Raw,
    asked: u64,
) -> Result<Raw> {
    let bad = |sentence: String| refuse(ErrorKind::InvalidArgument, sentence);
    let present = cx.runtime()?.device_count();
    if count > present {
        return bad(format!(
            "deviceNums is {count}, and there are {present} devices"
        ));
    }
    let devices = match devices {
        Some(devices) => devices,
        None if count > 0 => return Err(null("deviceIdList")),
        None => &[],
    };
    if count == 0 && asked & enums::ACL_PROF_MSPROFTX == 0 {
        return bad("deviceNums is 0, and only ACL_PROF_MSPROFTX needs no device".into());
    }
    let mut known = BTreeSet::new();
    for &device in devices {
        if device >= present {
            return bad(format!(
                "device {device} does not exist: there are {present}"
            ));
        }
        if !known.insert(device) {
            return bad(format!("device {device} stands twice in deviceIdList"));
        }
    }
    if !events.is_null() {
        return bad("aicoreEvents is not null; it is reserved".into());
    }
    if !METRICS.contains(&metrics) && metrics != enums::ACL_AICORE_NONE {
        return bad(format!(
            "aicoreMetrics: {}",
            crate::not_a_value("aclprofAicoreMetrics", metrics)
        ));
    }
    let devices = devices.to_vec();
    let made = cx
        .process
        .prof
        .configs
        .insert(|id| Arc::new(Config { id, devices, asked }))?;
    Ok(Raw(made.id))
}

pub fn aclprofDestroyConfig(cx: &Cx<'_>, config: Raw) -> Result<()> {
    let configs = &cx.process.prof.configs;
    configs.remove(config.0, cx.call.name).map(drop)
}

/// Options are checked, and the path among them is kept; the others concern hardware that a software device does not have.
pub fn aclprofSetConfig(
    cx: &Cx<'_>,
    option: u32,
    value: Option<&CStr>,
    length: usize,
) -> Result<()> {
    if option == enums::ACL_PROF_ARGS_MIN || option >= enums::ACL_PROF_ARGS_MAX {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "configType: {}",
                crate::not_a_value("aclprofConfigType", option)
            ),
        );
    }
    let text = measured(value, length, settings::LONGEST, "config")?;
    if option == enums::ACL_PROF_PATH {
        *cx.process.prof.path.lock() = Some(folder(text)?);
        return Ok(());
    }
    settings::check(option, &text.to_string_lossy())
}
