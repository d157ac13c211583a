//! Configuration: the only module that reads the environment and the machine.
//!
//! `docs/environment.md` lists every variable.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jumar_core::{Config, Probe, Profile, Runtime};
use jumar_cpu::{CpuBackend, CpuConfig, CpuDeviceConfig, Schedule};
use jumar_diag::check::Check;
use jumar_diag::record_file::RecordFile;
use jumar_diag::task_order::{StartHook, TaskOrder};
pub use jumar_model::processor::Instructions;
use jumar_types::{Error, ErrorKind, Result};

use crate::schedule::BlockedStream;

/// How many devices a process can see at most.
pub const MAX_DEVICES: u32 = 64;

/// How many worker threads a process can have at most.
pub const MAX_WORKERS: u64 = 1024;

/// What a runtime is built from.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Devices of the machine, before visibility is applied.
    pub devices: u32,
    /// The profile of each of them.
    pub profile: Profile,
    /// The value of `ASCEND_RT_VISIBLE_DEVICES`, if it is set.
    pub visible: Option<String>,
    /// Worker threads; `None` takes as many as there are processors.
    pub workers: Option<usize>,
    /// Where a timeline is written, if at all.
    pub trace: Option<PathBuf>,
    /// Whether products may use the processor's matrix unit (AMX), where it has one. The first runtime of a process asks
    /// the system for it, once and for the whole process.
    pub matrix_unit: bool,
    /// The most vector instructions that kernels may use; `None` sets no limit. The first runtime of a process sets the limit for the
    /// whole process.
    pub instructions: Option<Instructions>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            devices: 1,
            profile: profile("Ascend910B1")
                .expect("the default profile is one of the built-in ones"),
            visible: None,
            workers: None,
            trace: None,
            matrix_unit: true,
            instructions: None,
        }
    }
}

impl Settings {
    /// Reads `JUMAR_DEVICES`, `JUMAR_PROFILE`, `JUMAR_WORKERS`, `JUMAR_TRACE`, `JUMAR_MATRIX_UNIT`, `JUMAR_INSTRUCTIONS` and
    /// `ASCEND_RT_VISIBLE_DEVICES`.
    ///
    /// # Errors
    /// `InvalidArgument`: one of Jumar's own variables, of this list or another, has a value that it cannot have; the sentence names
    /// both.
    pub fn from_environment() -> Result<Settings> {
        crate::variables::validate()?;
        let mut settings = Settings::default();
        if let Some(text) = variable("JUMAR_DEVICES") {
            settings.devices = number("JUMAR_DEVICES", &text, 1, u64::from(MAX_DEVICES))? as u32;
        }
        if let Some(name) = variable("JUMAR_PROFILE") {
            settings.profile = crate::profile::find(&name)?;
        }
        if let Some(text) = variable("JUMAR_WORKERS") {
            settings.workers = Some(number("JUMAR_WORKERS", &text, 1, MAX_WORKERS)? as usize);
        }
        settings.trace = path("JUMAR_TRACE");
        if let Some(text) = variable("JUMAR_MATRIX_UNIT") {
            settings.matrix_unit = number("JUMAR_MATRIX_UNIT", &text, 0, 1)? == 1;
        }
        if let Some(text) = variable("JUMAR_INSTRUCTIONS") {
            settings.instructions = Some(instructions_of(&text).map_err(|wanted| {
                Error::new(
                    ErrorKind::InvalidArgument,
                    format!("JUMAR_INSTRUCTIONS is {text:?}; it must be {wanted}"),
                )
            })?);
        }
        // An empty list is a list too: it hides every device.
        settings.visible = std::env::var("ASCEND_RT_VISIBLE_DEVICES").ok();
        Ok(settings)
    }

    /// Lists the devices that are visible, by their numbers on the machine.
    pub fn visible_devices(&self) -> Vec<u32> {
        visible_devices(self.visible.as_deref(), self.devices)
    }

    /// Builds a runtime.
    ///
    /// # Errors
    /// `DeviceSetup`: the machine has too little memory or address space; `InvalidFile`: a file of the checks, of fault injection or of
    /// the timeline cannot be written or read.
    pub fn build(&self) -> Result<Runtime> {
        let visible = self.visible_devices();
        if let Some(most) = self.instructions {
            jumar_model::processor::limit(most);
        }
        // The unit belongs to processors with AVX-512, and is used along with it.
        if self.matrix_unit
            && self
                .instructions
                .is_none_or(|most| most == Instructions::Avx512)
        {
            // Whatever the answer is: kernels without the unit are used where it is not granted.
            let _ = jumar_model::processor::ask();
        }
        let memory_bytes = self.profile.memory_bytes.min(usable_memory());
        let schedule = crate::schedule::from_environment()?;
        let backend = CpuBackend::new(CpuConfig {
            devices: vec![
                CpuDeviceConfig {
                    memory_bytes: memory_bytes as usize
                };
                visible.len()
            ],
            workers: self.workers.unwrap_or(0),
            schedule: schedule
                .clone()
                .map(|schedule| schedule as Arc<dyn Schedule>),
            guarded: crate::check::is_protecting(),
            ..CpuConfig::default()
        })?;
        let backend = Arc::new(backend);
        // Under a limit on address space a device is smaller than requested, and a warning reports it.
        let profiles = (0..visible.len() as u32)
            .map(|device| Profile {
                memory_bytes: backend
                    .memory_bytes(device)
                    .map_or(memory_bytes, |had| memory_bytes.min(had as u64)),
                ..self.profile.clone()
            })
            .collect();
        let mut probes: Vec<Arc<dyn Probe>> = Vec::new();
        if let Some(path) = &self.trace {
            probes.push(crate::trace_start(path)?);
        }
        if let Some(faults) = FaultSettings::read() {
            let log = faults.log.as_deref().map(FaultSettings::open_log);
            let log = log.transpose()?;
            let (call, turn) = match faults.call.strip_prefix("task:") {
                Some(call) => (call.to_owned(), faults.turn),
                None => (String::new(), 0),
            };
            probes.push(Arc::new(jumar_diag::fault::TaskFaults::new(
                call, turn, log,
            )));
        }
        if let Some(check) = crate::check::from_environment()? {
            check.set_memory(Arc::new(crate::check::Memory(backend.clone())));
            probes.push(check.clone());
            probes.extend(task_order(&check, schedule)?);
        }
        Ok(Runtime::new(Config {
            backend,
            devices: profiles,
            probes,
        }))
    }
}

/// Makes the probe that records tasks and follows them in a list of turns, where `jumar explore` asks for either.
fn task_order(
    check: &Arc<Check>,
    schedule: Option<Arc<BlockedStream>>,
) -> Result<Option<Arc<dyn Probe>>> {
    let (file, is_ordered) = (path("JUMAR_ORDER_LOG"), path("JUMAR_ORDER").is_some());
    if file.is_none() && !is_ordered {
        return Ok(None);
    }
    let open = |file: PathBuf| {
        let status = path("JUMAR_CHECK_STATUS");
        RecordFile::open(&file, status.as_deref()).map_err(|error| {
            let sentence = format!(
                "JUMAR_ORDER_LOG is \"{}\", which cannot be written: {error}",
                file.display()
            );
            Error::new(ErrorKind::InvalidFile, sentence)
        })
    };
    let file = file.map(open).transpose()?;
    let started =
        schedule.map(|schedule| -> StartHook { Box::new(move |stream| schedule.started(stream)) });
    Ok(Some(Arc::new(TaskOrder::new(check.clone(), file, started))))
}

/// Returns the number that a visible device has on the machine.
pub fn physical_number(device: u32) -> u32 {
    let settings = Settings::from_environment().unwrap_or_default();
    let visible = settings.visible_devices();
    visible.get(device as usize).copied().unwrap_or(device)
}

/// Returns 16 bytes that name a device of this machine: the same in every process, others on another machine. They say that
/// the device is software.
pub fn device_uuid(physical: u32) -> [u8; 16] {
    let machine = std::fs::read_to_string("/etc/machine-id")
        .or_else(|_| std::fs::read_to_string("/proc/sys/kernel/random/boot_id"))
        .unwrap_or_default();
    // FNV-1a: a fixed function, so that every version of the library produces the same name.
    let hash = machine
        .trim()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut uuid = [0; 16];
    uuid[..5].copy_from_slice(b"JUMAR");
    uuid[5..13].copy_from_slice(&hash.to_be_bytes());
    uuid[13..].copy_from_slice(&physical.to_be_bytes()[1..]);
    uuid
}

/// Applies a list of visible devices: decimal numbers with commas and without blanks, in ascending order. Reading stops at the
/// first entry that is not a device's number; a list out of order is void as a whole.
fn visible_devices(list: Option<&str>, devices: u32) -> Vec<u32> {
    let Some(list) = list else {
        return (0..devices).collect();
    };
    let visible: Vec<u32> = list
        .split(',')
        .map_while(|entry| {
            let clean = !entry.is_empty() && entry.bytes().all(|byte| byte.is_ascii_digit());
            clean
                .then(|| entry.parse().ok())
                .flatten()
                .filter(|&device: &u32| device < devices)
        })
        .collect();
    if visible.is_sorted_by(|a, b| a < b) {
        visible
    } else {
        Vec::new()
    }
}

/// The names of the levels, as `JUMAR_INSTRUCTIONS` has them.
const INSTRUCTIONS: [(&str, Instructions); 3] = [
    ("portable", Instructions::Portable),
    ("avx2", Instructions::Avx2),
    ("avx512", Instructions::Avx512),
];

/// Reads the name of a level. The error lists the names.
pub(crate) fn instructions_of(text: &str) -> std::result::Result<Instructions, String> {
    let level = INSTRUCTIONS.iter().find(|(name, _)| *name == text);
    level
        .map(|(_, level)| *level)
        .ok_or_else(|| "portable, avx2 or avx512".to_owned())
}

/// Returns one line that names the vector instructions of operators: those in use under a limit, and the most that the processor has, where
/// that is more.
pub fn instructions(limit: Option<Instructions>) -> String {
    let name = |level: Instructions| {
        let known = INSTRUCTIONS.iter().find(|(_, known)| *known == level);
        known.map_or("portable", |(name, _)| name)
    };
    let most = Instructions::of_processor();
    let used = limit.map_or(most, |limit| limit.min(most));
    match used == most {
        true => format!("{}, the most that this processor has", name(used)),
        false => format!(
            "{} by JUMAR_INSTRUCTIONS; this processor has {}",
            name(used),
            name(most)
        ),
    }
}

/// Returns one line that names the kernels for bfloat16 and int8 products on this machine, once a runtime exists.
pub fn products() -> String {
    use jumar_model::processor::{Answer, answered, engines};
    let [bfloat16, bytes] = engines();
    let unit = match answered() {
        Answer::Granted(_) => "the matrix unit may be used".to_owned(),
        Answer::Absent => "the processor has no matrix unit".to_owned(),
        Answer::Unasked => "the matrix unit was not asked for".to_owned(),
        Answer::Refused(error) => {
            let why = std::io::Error::from_raw_os_error(error);
            format!("the system refused the matrix unit: {why}")
        }
    };
    format!("bfloat16 by {bfloat16}, bytes by {bytes}; {unit}")
}

/// Lists the names of the built-in profiles.
pub fn profile_names() -> Vec<&'static str> {
    crate::profile::names()
}

/// Finds a built-in profile by name.
pub fn profile(name: &str) -> Option<Profile> {
    crate::profile::built_in(name)
}

/// Returns how much memory a device may take: 80 % of what machine and control group have left, so that exhaustion is an answer
/// and never the end of the process.
fn usable_memory() -> u64 {
    let machine = machine_memory();
    let group = group_memory_left(machine.map_or(u64::MAX, |(all, _)| all));
    let left = [machine.map(|(_, left)| left), group];
    left.into_iter().flatten().min().unwrap_or(4 << 30) / 10 * 8
}

/// Returns how much memory the machine has, and how much of it is left.
fn machine_memory() -> Option<(u64, u64)> {
    // At once: the kernel writes the whole page anew for each read of a part of it.
    let mut page = [0; 4096];
    let length = std::fs::File::open("/proc/meminfo")
        .and_then(|mut file| std::io::Read::read(&mut file, &mut page))
        .ok()?;
    let text = String::from_utf8_lossy(&page[..length]);
    let bytes = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024)
    };
    Some((bytes("MemTotal:")?, bytes("MemAvailable:")?))
}

/// Returns what the control group has left, if it has less than the machine. Each file takes some microseconds: what is used is
/// read only where there is a limit.
fn group_memory_left(machine: u64) -> Option<u64> {
    let read = |path: &str| {
        std::fs::read_to_string(path)
            .ok()?
            .trim()
            .parse::<u64>()
            .ok()
    };
    let left = |limit: &str, used: &str| {
        let limit = read(limit).filter(|&limit| limit < machine)?;
        Some(limit.saturating_sub(read(used)?))
    };
    left("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current").or_else(|| {
        left(
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        )
    })
}

/// Returns whether every submit is to wait for its stream (`ASCEND_LAUNCH_BLOCKING=1`), which makes the order of failures plain.
pub fn launch_blocking() -> bool {
    variable("ASCEND_LAUNCH_BLOCKING").as_deref() == Some("1")
}

/// Returns the libraries of custom operators of the Graph Engine, in the order in which they are loaded: those in
/// `op_graph/lib/linux/<architecture>` of each folder of `ASCEND_CUSTOM_OPP_PATH`.
pub fn custom_operator_libraries() -> Vec<PathBuf> {
    let Some(folders) = std::env::var_os("ASCEND_CUSTOM_OPP_PATH") else {
        return Vec::new();
    };
    let mut libraries = Vec::new();
    for folder in std::env::split_paths(&folders).filter(|folder| !folder.as_os_str().is_empty()) {
        let folder = folder
            .join("op_graph/lib/linux")
            .join(std::env::consts::ARCH);
        // A package without a part for graphs has no such folder.
        let Ok(entries) = std::fs::read_dir(folder) else {
            continue;
        };
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let mut found: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|extension| extension == "so"))
            .collect();
        found.sort();
        libraries.append(&mut found);
    }
    libraries
}

/// Returns the C++ compiler for programs that are compiled while a program runs: `JUMAR_CXX`, or the system's.
pub fn compiler() -> String {
    variable("JUMAR_CXX").unwrap_or_else(|| "c++".to_owned())
}

/// The names of FFmpeg's libavcodec, in the order in which they are looked for. `jumar-dvpp` knows how their structures are laid out.
pub const FFMPEG_LIBRARIES: [&str; 4] = [
    "libavcodec.so.61",
    "libavcodec.so.60",
    "libavcodec.so.59",
    "libavcodec.so.58",
];

/// Returns the libraries of which the first one that is there decodes video: `JUMAR_FFMPEG`. An empty list: built-in decoders do.
///
/// # Errors
/// `InvalidArgument`: the variable is neither 0 nor 1 nor a path; the sentence names it.
pub fn ffmpeg() -> Result<Vec<String>> {
    match variable("JUMAR_FFMPEG").as_deref() {
        None | Some("0") => Ok(Vec::new()),
        Some("1") => Ok(FFMPEG_LIBRARIES.map(str::to_owned).to_vec()),
        Some(path) if path.contains('/') => Ok(vec![path.to_owned()]),
        Some(text) => Err(Error::new(
            ErrorKind::InvalidArgument,
            format!("JUMAR_FFMPEG is \"{text}\"; it must be 0, 1, or the path of a libavcodec"),
        )),
    }
}

/// Returns a variable of collective communication (`HCCL_...`, `JUMAR_HCCL_TIMEOUT`, `JUMAR_JOB`), `None` if it is not set or empty.
pub fn collectives_variable(name: &str) -> Option<String> {
    variable(name)
}

/// Returns a variable as text; `None` if it is not set, empty, or not UTF-8, which [`crate::variables::validate`] refuses.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns a variable that holds the name of a file, in any encoding.
pub(crate) fn path(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

fn number(name: &str, text: &str, least: u64, most: u64) -> Result<u64> {
    text.parse()
        .ok()
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            Error::new(
                ErrorKind::InvalidArgument,
                format!("{name} is \"{text}\"; it must be a number from {least} to {most}"),
            )
        })
}

/// Which call is made to fail.
#[derive(Clone, Debug)]
pub struct FaultSettings {
    /// The function, `*` for any that can fail, or a function behind `task:` for tasks that it queues.
    pub call: String,
    /// Its which call; 0 for none.
    pub turn: u64,
    /// Where each call that can fail is written down.
    pub log: Option<PathBuf>,
}

/// Returns whether a line at the end of the program names what it called in vain: `JUMAR_SUMMARY`.
pub fn summary() -> bool {
    variable("JUMAR_SUMMARY").is_some_and(|value| value != "0")
}

/// Returns the file for the stack of a crash: `JUMAR_CRASH_REPORT`.
pub fn crash_report() -> Option<PathBuf> {
    path("JUMAR_CRASH_REPORT")
}

impl FaultSettings {
    /// Opens the file to which calls and tasks that can fail are recorded.
    ///
    /// # Errors
    /// `InvalidFile`: it cannot be written.
    pub fn open_log(path: &Path) -> Result<RecordFile> {
        let status = self::path("JUMAR_CHECK_STATUS");
        RecordFile::open(path, status.as_deref()).map_err(|error| {
            let sentence = format!(
                "JUMAR_FAULT_LOG is \"{}\", which cannot be written: {error}",
                path.display()
            );
            Error::new(ErrorKind::InvalidFile, sentence)
        })
    }

    /// Reads `JUMAR_FAULT` (`aclrtMalloc#3`) and `JUMAR_FAULT_LOG`. `None`: neither is set.
    pub fn read() -> Option<FaultSettings> {
        let log = path("JUMAR_FAULT_LOG");
        // An invalid value was refused by `Settings::from_environment`.
        let fault = variable("JUMAR_FAULT").and_then(|text| fault_of(&text).ok());
        if fault.is_none() && log.is_none() {
            return None;
        }
        let (call, turn) = fault.unwrap_or_default();
        Some(FaultSettings { call, turn, log })
    }
}

/// Reads the value of `JUMAR_FAULT`: a function, `*`, or `task:` and a function, and the number of its call behind `#`.
///
/// # Errors
/// What the value must be.
pub(crate) fn fault_of(text: &str) -> std::result::Result<(String, u64), String> {
    let (call, turn) = text.split_once('#').unwrap_or((text, "1"));
    let function = call.strip_prefix("task:").unwrap_or(call);
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !name.is_empty() && name.chars().all(is_part)
    };
    if function != "*" && !is_name(function) {
        return Err("a function, such as aclrtMalloc#3, `*`, or `task:` and a function".to_owned());
    }
    match turn.parse() {
        Ok(turn) if turn > 0 => Ok((call.to_owned(), turn)),
        _ => Err(format!(
            "a function and the number of its call, from 1 to {}",
            u64::MAX
        )),
    }
}

/// What the environment says of profiles.
#[derive(Clone, Debug, Default)]
pub struct ProfilerEnvironment {
    /// A tool switches profiles on and off, not the program.
    pub is_dynamic: bool,
    /// What a tool asks for, instead of what the configuration file says.
    pub configuration: Option<String>,
}

impl ProfilerEnvironment {
    /// Reads `PROFILING_MODE` and `PROFILER_SAMPLECONFIG`.
    pub fn read() -> ProfilerEnvironment {
        ProfilerEnvironment {
            is_dynamic: variable("PROFILING_MODE").as_deref() == Some("dynamic"),
            configuration: variable("PROFILER_SAMPLECONFIG"),
        }
    }
}

/// What the environment says of dumps of failures.
#[derive(Clone, Debug, Default)]
pub struct DumpEnvironment {
    /// The scene that is dumped without a configuration.
    pub scene: Option<String>,
    /// Where to, before what a configuration says.
    pub folder: Option<PathBuf>,
}

impl DumpEnvironment {
    /// Reads `ASCEND_DUMP_SCENE`, `ASCEND_DUMP_PATH`, `ASCEND_WORK_PATH` and `NPU_COLLECT_PATH`.
    pub fn read() -> DumpEnvironment {
        let scenes = [
            "aic_err_brief_dump",
            "aic_err_norm_dump",
            "aic_err_detail_dump",
        ];
        let scene = variable("ASCEND_DUMP_SCENE").filter(|scene| scenes.contains(&scene.as_str()));
        let collect = variable("NPU_COLLECT_PATH");
        let folder = ["ASCEND_DUMP_PATH", "ASCEND_WORK_PATH"]
            .into_iter()
            .find_map(variable)
            // Where a scene is chosen, the folder for collecting is not asked.
            .or_else(|| collect.clone().filter(|_| scene.is_none()));
        DumpEnvironment {
            scene: scene.or_else(|| collect.map(|_| scenes[1].to_owned())),
            folder: folder.map(PathBuf::from),
        }
    }
}

/// Where log lines go, and which.
#[derive(Clone, Debug)]
pub struct LogSettings {
    /// Whether lines go to standard output instead of files.
    pub to_stdout: bool,
    /// The folder of log files.
    pub root: Option<PathBuf>,
    /// How many files of a kind a process keeps; the oldest goes when one more is begun.
    pub files: usize,
    /// Whether events are logged, what a run's log is made of: always, never, or where other lines are logged too.
    pub events: Option<bool>,
    level: u32,
    modules: Vec<(String, u32)>,
}

/// Errors only.
const DEFAULT_LEVEL: u32 = 3;

impl LogSettings {
    /// Reads the log variables that programs set for the vendor's library.
    pub fn from_environment() -> LogSettings {
        let level_of = |text: &str| text.parse().ok().filter(|level| *level <= 4);
        let modules = variable("ASCEND_MODULE_LOG_LEVEL").and_then(|list| {
            // One bad entry voids the whole list.
            list.split(':')
                .map(|entry| {
                    let (module, level) = entry.split_once('=')?;
                    Some((module.to_owned(), level_of(level)?))
                })
                .collect::<Option<Vec<_>>>()
        });
        let files = variable("ASCEND_HOST_LOG_FILE_NUM").and_then(|text| text.parse().ok());
        // `ASCEND_LOG_SYNC_SAVE` asks that no line be dropped: none ever is, as each is written before its call returns.
        let print = variable("ASCEND_LOG_PRINT_TO_STDOUT")
            .or_else(|| variable("ASCEND_SLOG_PRINT_TO_STDOUT"));
        LogSettings {
            to_stdout: print.as_deref() == Some("1"),
            root: ["ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH"]
                .into_iter()
                .find_map(variable)
                .map(PathBuf::from)
                .or_else(|| {
                    variable("HOME").map(|home| PathBuf::from(home).join("ascend").join("log"))
                }),
            files: files
                .filter(|count| (1..=1000).contains(count))
                .unwrap_or(10),
            events: variable("ASCEND_GLOBAL_EVENT_ENABLE").map(|text| text != "0"),
            level: variable("ASCEND_GLOBAL_LOG_LEVEL")
                .as_deref()
                .and_then(level_of)
                .unwrap_or(DEFAULT_LEVEL),
            modules: modules.unwrap_or_default(),
        }
    }

    /// Returns the lowest level that is written for a module: 0 debug, 1 info, 2 warning, 3 error, 4 nothing.
    pub fn level_of(&self, module: &str) -> u32 {
        self.modules
            .iter()
            .find(|(name, _)| name == module)
            .map_or(self.level, |(_, level)| *level)
    }
}

#[cfg(test)]
mod tests {
    use super::visible_devices;

    #[test]
    fn visible_devices_follow_the_documented_examples() {
        assert_eq!(visible_devices(None, 3), [0, 1, 2]);
        assert_eq!(visible_devices(Some("0,2"), 4), [0, 2]);
        assert_eq!(visible_devices(Some("1, 2,3"), 4), [1]);
        assert_eq!(visible_devices(Some("0,9"), 4), [0]);
        assert_eq!(visible_devices(Some("2,1"), 4), [0u32; 0]);
        assert_eq!(visible_devices(Some("1,1"), 4), [0u32; 0]);
        assert_eq!(visible_devices(Some(""), 4), [0u32; 0]);
    }
}
