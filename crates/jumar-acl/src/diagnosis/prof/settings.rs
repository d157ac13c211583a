//! What a profile collects: switches, options, and how a configuration file names them.

use std::path::{Path, PathBuf};

use jumar_types::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::generated::enums;
use crate::refuse;

/// What a profile collects, with everything that one switch pulls along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches(u64);

/// Every switch that there is.
const KNOWN: u64 = enums::ACL_PROF_ACL_API
    | enums::ACL_PROF_TASK_TIME
    | enums::ACL_PROF_AICORE_METRICS
    | enums::ACL_PROF_AICPU
    | enums::ACL_PROF_L2CACHE
    | enums::ACL_PROF_HCCL_TRACE
    | enums::ACL_PROF_TRAINING_TRACE
    | enums::ACL_PROF_MSPROFTX
    | enums::ACL_PROF_RUNTIME_API
    | enums::ACL_PROF_GE_API_L0
    | enums::ACL_PROF_TASK_TIME_L0
    | enums::ACL_PROF_TASK_MEMORY
    | enums::ACL_PROF_GE_API_L1
    | enums::ACL_PROF_TASK_TIME_L2
    | enums::ACL_PROF_OP_ATTR
    | enums::ACL_PROF_TASK_TIME_L3
    | enums::ACL_PROF_API_STATS
    | enums::ACL_PROF_AICORE_SHAPE;

impl Switches {
    pub(super) const NONE: Switches = Switches(0);
    /// What a profile without a configuration collects.
    pub(super) const USUAL: Switches = Switches(
        enums::ACL_PROF_ACL_API
            | enums::ACL_PROF_TASK_TIME
            | enums::ACL_PROF_TASK_TIME_L0
            | enums::ACL_PROF_TRAINING_TRACE,
    );

    /// Takes the bits as a program wrote them.
    ///
    /// # Errors
    /// `InvalidArgument`: none; `ProfilerModules`: one that does not exist.
    pub(super) fn read(asked: u64) -> Result<Switches> {
        if asked == 0 {
            return refuse(
                ErrorKind::InvalidArgument,
                "dataTypeConfig is 0: the profile would collect nothing",
            );
        }
        if asked & !KNOWN != 0 {
            return refuse(
                ErrorKind::ProfilerModules,
                format!(
                    "dataTypeConfig is {asked:#x}; its bits {:#x} are not switches",
                    asked & !KNOWN
                ),
            );
        }
        if asked & enums::ACL_PROF_API_STATS != 0 {
            return Ok(Switches(enums::ACL_PROF_API_STATS));
        }
        // Each level of task times contains the ones below it, and any of them the training trace.
        let levels = [
            enums::ACL_PROF_TASK_TIME_L3,
            enums::ACL_PROF_TASK_TIME_L2,
            enums::ACL_PROF_TASK_TIME,
            enums::ACL_PROF_TASK_TIME_L0,
            enums::ACL_PROF_TRAINING_TRACE,
        ];
        let mut bits = asked;
        for pair in levels.windows(2) {
            if bits & pair[0] != 0 {
                bits |= pair[1];
            }
        }
        Ok(Switches(bits))
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// Whether tasks and operators are collected.
    pub(super) fn has_tasks(self) -> bool {
        let tasks = enums::ACL_PROF_TASK_TIME_L0 | enums::ACL_PROF_AICORE_METRICS;
        self.0 & tasks != 0
    }

    /// Whether calls of the program are timed.
    pub(super) fn has_calls(self) -> bool {
        let calls = enums::ACL_PROF_ACL_API
            | enums::ACL_PROF_RUNTIME_API
            | enums::ACL_PROF_GE_API_L0
            | enums::ACL_PROF_GE_API_L1
            | enums::ACL_PROF_API_STATS;
        self.0 & calls != 0
    }

    /// Whether the program's own marks are collected.
    pub(super) fn has_marks(self) -> bool {
        self.0 & enums::ACL_PROF_MSPROFTX != 0
    }

    /// Whether steps are collected.
    pub(super) fn has_steps(self) -> bool {
        self.0 & enums::ACL_PROF_TRAINING_TRACE != 0
    }
}

/// Longest value of an option.
pub(super) const LONGEST: usize = 256;

/// Checks the value of an option.
///
/// # Errors
/// `ProfilerConfig`: it cannot have this value; `InvalidArgument` for metrics of the network, where there are none.
pub(super) fn check(option: u32, text: &str) -> Result<()> {
    let name = format!("option {option} of the profile");
    let number = |least: u32, most: u32| {
        let fine = text
            .parse()
            .is_ok_and(|value| (least..=most).contains(&value));
        (!fine).then(|| format!("a number from {least} to {most}"))
    };
    let words = |known: &[&str]| {
        let fine = text.split(',').all(|word| known.contains(&word));
        (!fine).then(|| format!("one or more of {}, with commas", known.join(", ")))
    };
    let wanted = match option {
        enums::ACL_PROF_STORAGE_LIMIT => {
            let digits = text.strip_suffix("MB").unwrap_or(text);
            let fine = text.ends_with("MB") && digits.parse().is_ok_and(|size: u32| size >= 200);
            (!fine).then(|| "a number of 200 or more, with MB behind it".to_owned())
        }
        enums::ACL_PROF_SYS_HARDWARE_MEM_FREQ
        | enums::ACL_PROF_SYS_IO_FREQ
        | enums::ACL_PROF_DVPP_FREQ
        | enums::ACL_PROF_LOW_POWER_FREQ => number(1, 100),
        enums::ACL_PROF_SYS_INTERCONNECTION_FREQ
        | enums::ACL_PROF_HOST_SYS_USAGE_FREQ
        | enums::ACL_PROF_SYS_CPU_FREQ => number(1, 50),
        enums::ACL_PROF_LLC_MODE => words(&["read", "write"])
            .or_else(|| text.contains(',').then(|| "read or write".to_owned())),
        enums::ACL_PROF_HOST_SYS => words(&["cpu", "mem", "disk", "network", "osrt"]),
        enums::ACL_PROF_HOST_SYS_USAGE => words(&["cpu", "mem"]),
        enums::ACL_PROF_NTS_METRICS => {
            return refuse(
                ErrorKind::InvalidArgument,
                format!("{name} is \"{text}\", and no device here has such metrics"),
            );
        }
        enums::ACL_PROF_SYS_MEM_SERVICEFLOW | enums::ACL_PROF_OPTYPE => None,
        other => Some(format!("something else: no option has the number {other}")),
    };
    match wanted {
        None => Ok(()),
        Some(wanted) => refuse(
            ErrorKind::ProfilerConfig,
            format!("{name} is \"{text}\"; it must be {wanted}"),
        ),
    }
}

/// A profile that a configuration file or a tool asks for.
pub(crate) struct FromFile {
    pub(super) folder: PathBuf,
    pub(super) switches: Switches,
}

impl FromFile {
    /// Reads the `profiler` section of a configuration, which was checked; none where it is switched off.
    ///
    /// # Errors
    /// `InvalidArgument`: the folder cannot be used.
    pub(crate) fn read(section: &Value) -> Result<Option<FromFile>> {
        let text = |key: &str| section.get(key).and_then(Value::as_str);
        if text("switch") != Some("on") {
            return Ok(None);
        }
        let mut asked = 0;
        let usually_on = |key: &str| text(key).is_none_or(|value| value != "off");
        let on = |key: &str| text(key).is_some_and(|value| value != "off");
        match text("task_time") {
            Some("off") => {}
            Some("l0") => asked |= enums::ACL_PROF_TASK_TIME_L0,
            _ => asked |= enums::ACL_PROF_TASK_TIME,
        }
        if usually_on("ascendcl") {
            asked |= enums::ACL_PROF_ACL_API;
        }
        let rest = [
            ("runtime_api", enums::ACL_PROF_RUNTIME_API),
            ("aicpu", enums::ACL_PROF_AICPU),
            ("l2", enums::ACL_PROF_L2CACHE),
            ("hccl", enums::ACL_PROF_HCCL_TRACE),
            ("msproftx", enums::ACL_PROF_MSPROFTX),
        ];
        for (key, bit) in rest {
            if on(key) {
                asked |= bit;
            }
        }
        let switches = match asked {
            0 => Switches::NONE,
            asked => Switches::read(asked)?,
        };
        let folder = text("output")
            .filter(|text| !text.is_empty())
            .unwrap_or(".");
        let unusable = |error: std::io::Error| {
            let sentence = format!("the profiler's output folder {folder} cannot be used: {error}");
            Error::new(ErrorKind::InvalidArgument, sentence)
        };
        std::fs::create_dir_all(folder).map_err(unusable)?;
        Ok(Some(FromFile {
            folder: Path::new(folder).canonicalize().map_err(unusable)?,
            switches,
        }))
    }
}
