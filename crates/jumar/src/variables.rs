//! The environment variables that Jumar reads, in one table. The flags of `jumar run` and docs/environment.md follow it, and
//! [`validate`] refuses values that it does not list.
//!
//! The variables of cards' toolkits (`ASCEND_...`, `HCCL_...`) are not validated here: they behave as programs for cards expect.

use std::ffi::OsStr;

use jumar_types::{Error, ErrorKind, Result};

use crate::config::{MAX_DEVICES, MAX_WORKERS};

/// The values that a variable accepts.
enum Accepts {
    /// Whatever it holds; its reader knows what to do with it.
    Anything,
    /// Text in UTF-8 for which the function finds nothing wrong. The function returns what the value must be.
    Text(fn(&str) -> std::result::Result<(), String>),
    /// The name of a file to be written, in any encoding.
    OutputFile,
    /// The name of a file that exists and can be read.
    InputFile,
}

/// One variable.
pub struct Var {
    /// Its name.
    pub name: &'static str,
    /// The long flag of `jumar run` that sets it.
    pub flag: Option<&'static str>,
    /// What it may hold.
    pub values: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// What it does, in one sentence.
    pub meaning: &'static str,
    accepts: Accepts,
}

/// Every variable that the runtime reads, Jumar's own first.
pub const READ: &[Var] = &[
    Var {
        name: "JUMAR_DEVICES",
        accepts: Accepts::Text(|text| integer(text, 1, u64::from(MAX_DEVICES))),
        flag: Some("devices"),
        values: "1 to 64",
        default: "1",
        meaning: "Number of devices.",
    },
    Var {
        name: "JUMAR_PROFILE",
        accepts: Accepts::Text(any),
        flag: Some("profile"),
        values: "a SoC name such as Ascend910B1 or Ascend310P3, or the path of a profile file",
        default: "Ascend910B1",
        meaning: "The product to imitate: name, memory size, core counts and limits.",
    },
    Var {
        name: "JUMAR_CANN_VERSION",
        accepts: Accepts::Text(any),
        flag: Some("cann-version"),
        values: "a release such as 9.1.0 or 8.3.RC1",
        default: "9.1.0",
        meaning: "The release of CANN that version queries return; the driver's version follows from it. Prebuilt frameworks choose code paths by it.",
    },
    Var {
        name: "JUMAR_WORKERS",
        accepts: Accepts::Text(|text| integer(text, 1, MAX_WORKERS)),
        flag: Some("workers"),
        values: "1 to 1024",
        default: "one for each processor",
        meaning: "Number of threads that run the work of all devices.",
    },
    Var {
        name: "JUMAR_TRACE",
        accepts: Accepts::OutputFile,
        flag: Some("trace"),
        values: "a file name",
        default: "no timeline",
        meaning: "Where a timeline for Perfetto or chrome://tracing is written.",
    },
    Var {
        name: "JUMAR_MATRIX_UNIT",
        accepts: Accepts::Text(switch),
        flag: Some("no-matrix-unit"),
        values: "0, 1",
        default: "1",
        meaning: "With 0 the processor's matrix unit (AMX) is neither used nor requested.",
    },
    Var {
        name: "JUMAR_INSTRUCTIONS",
        accepts: Accepts::Text(|text| crate::config::instructions_of(text).map(drop)),
        flag: Some("instructions"),
        values: "portable, avx2, avx512",
        default: "the most that the processor has",
        meaning: "The most vector instructions that operators may use. Results then do not depend on which more the processor has; the matrix unit belongs to `avx512`. `jumar info` and `jumar doctor` show the level in use and what the processor has.",
    },
    Var {
        name: "JUMAR_SUMMARY",
        accepts: Accepts::Text(switch),
        flag: Some("no-summary"),
        values: "0, 1",
        default: "0; `jumar run` and `jumar check` set 1",
        meaning: "With 1, a line on standard error at the end of the program names the functions that the program called and that Jumar does not implement.",
    },
    Var {
        name: "JUMAR_CHECK",
        accepts: Accepts::Text(rules),
        flag: None,
        values: "`1`, or rule ids or their beginnings separated by commas; `all` adds the lints",
        default: "no checks",
        meaning: "Reports races, leaks and misuse; `jumar check` sets it.",
    },
    Var {
        name: "JUMAR_CHECK_REPORT",
        accepts: Accepts::OutputFile,
        flag: None,
        values: "a file name",
        default: "findings go to standard error only",
        meaning: "Where each finding is appended as a line of JSON.",
    },
    Var {
        name: "JUMAR_CHECK_STATUS",
        accepts: Accepts::OutputFile,
        flag: None,
        values: "a file name",
        default: "none",
        meaning: "An existing file of two digits: the first becomes 1 when the checks start, the second when a finding or a record of JUMAR_FAULT_LOG could not be written. `jumar check`, `explore` and `faults` set it.",
    },
    Var {
        name: "JUMAR_CHECK_BASELINE",
        accepts: Accepts::InputFile,
        flag: None,
        values: "a file name",
        default: "every finding is reported",
        meaning: "Known findings, which are not reported: one fingerprint a line.",
    },
    Var {
        name: "JUMAR_CHECK_LANGUAGE",
        accepts: Accepts::Text(language),
        flag: None,
        values: "`en`, `zh`, or a locale that begins so, such as zh_CN",
        default: "English",
        meaning: "The language of the rules' texts in findings.",
    },
    Var {
        name: "JUMAR_CHECK_PROFILES",
        accepts: Accepts::Text(profiles),
        flag: None,
        values: "profile names separated by commas, or `all`",
        default: "only the imitated product counts",
        meaning: "Reports what these products would refuse.",
    },
    Var {
        name: "JUMAR_CHECK_PROTECT",
        accepts: Accepts::Text(switch),
        flag: None,
        values: "0, 1",
        default: "pages are not protected",
        meaning: "Protects the pages of pinned memory during pending copies, so that the checks find accesses to them.",
    },
    Var {
        name: "JUMAR_CHECK_REPLAY",
        accepts: Accepts::Text(any),
        flag: None,
        values: "a command",
        default: "none",
        meaning: "The command that findings show for running the program again.",
    },
    Var {
        name: "JUMAR_LATE",
        accepts: Accepts::Text(switch),
        flag: None,
        values: "0, 1",
        default: "tasks run as soon as they can",
        meaning: "Delays every task until the program waits for it.",
    },
    Var {
        name: "JUMAR_SEED",
        accepts: Accepts::Text(|text| integer(text, 0, u64::MAX)),
        flag: None,
        values: "a number from 0 to 18446744073709551615",
        default: "no fixed order",
        meaning: "Chooses the order of streams; the same number repeats the same run.",
    },
    Var {
        name: "JUMAR_ORDER",
        accepts: Accepts::InputFile,
        flag: None,
        values: "a file name",
        default: "no fixed order",
        meaning: "The order of tasks under JUMAR_CHECK: the numbers of their streams, one a line. Of the streams that can run, the one whose task comes first runs. `jumar explore` sets it.",
    },
    Var {
        name: "JUMAR_ORDER_LOG",
        accepts: Accepts::OutputFile,
        flag: None,
        values: "a file name",
        default: "none",
        meaning: "Where tasks and the order in which they begin are recorded, under JUMAR_CHECK. `jumar explore` sets it.",
    },
    Var {
        name: "JUMAR_FAULT",
        accepts: Accepts::Text(fault),
        flag: None,
        values: "a function and the number of its call, such as `aclrtMalloc#3`; `*#7` for the seventh call of any function; `task:aclrtMemcpyAsync#2` for the second task that a function queues",
        default: "no injected failure",
        meaning: "The call, or the task on a device, that fails.",
    },
    Var {
        name: "JUMAR_FAULT_LOG",
        accepts: Accepts::OutputFile,
        flag: None,
        values: "a file name",
        default: "none",
        meaning: "Where each call and task that can fail is recorded.",
    },
    Var {
        name: "JUMAR_CRASH_REPORT",
        accepts: Accepts::OutputFile,
        flag: None,
        values: "a file name",
        default: "none",
        meaning: "Where the stack is written if the program ends by a signal (invalid pointer, abort).",
    },
    Var {
        name: "JUMAR_FFMPEG",
        accepts: Accepts::Text(any),
        flag: Some("ffmpeg"),
        values: "0, 1, or the path of a libavcodec",
        default: "0",
        meaning: "With 1, or a path, FFmpeg's libavcodec (58 to 61) decodes video instead of the built-in decoders, where it is installed.",
    },
    Var {
        name: "JUMAR_CXX",
        accepts: Accepts::Text(any),
        flag: Some("cxx"),
        values: "a C++ compiler, by name or path",
        default: "c++",
        meaning: "Compiles kernels at run time (aclrtc).",
    },
    Var {
        name: "ASCEND_RT_VISIBLE_DEVICES",
        accepts: Accepts::Anything,
        flag: Some("visible-devices"),
        values: "ascending device numbers separated by commas, without blanks",
        default: "all devices",
        meaning: "The devices that the program sees, renumbered from 0.",
    },
    Var {
        name: "ASCEND_CUSTOM_OPP_PATH",
        accepts: Accepts::Anything,
        flag: None,
        values: "folders, separated by colons",
        default: "none",
        meaning: "Packages of custom operators: the Graph Engine loads the libraries in op_graph/lib/linux/<architecture> of each.",
    },
    Var {
        name: "ASCEND_LAUNCH_BLOCKING",
        accepts: Accepts::Anything,
        flag: Some("launch-blocking"),
        values: "0, 1",
        default: "0",
        meaning: "With 1 each asynchronous call waits until its work is done.",
    },
    Var {
        name: "JUMAR_HCCL_TIMEOUT",
        accepts: Accepts::Text(any),
        flag: Some("collective-timeout"),
        values: "a number of seconds; fractions are allowed",
        default: "HCCL_CONNECT_TIMEOUT and HCCL_EXEC_TIMEOUT apply",
        meaning: "How long ranks wait for each other; replaces HCCL_CONNECT_TIMEOUT and HCCL_EXEC_TIMEOUT.",
    },
    Var {
        name: "JUMAR_JOB",
        accepts: Accepts::Text(any),
        flag: Some("job"),
        values: "a word",
        default: "empty",
        meaning: "Distinguishes jobs that use the same rank table on one machine.",
    },
    Var {
        name: "HCCL_CONNECT_TIMEOUT",
        accepts: Accepts::Anything,
        flag: None,
        values: "120 to 7200 seconds",
        default: "120",
        meaning: "How long ranks wait for each other when a communicator is created; 20 seconds are added, as on a card.",
    },
    Var {
        name: "HCCL_EXEC_TIMEOUT",
        accepts: Accepts::Anything,
        flag: None,
        values: "seconds, 0 for no limit",
        default: "1836",
        meaning: "How long an operation waits for the other ranks.",
    },
    Var {
        name: "HCCL_DETERMINISTIC",
        accepts: Accepts::Anything,
        flag: None,
        values: "false, true, strict",
        default: "false",
        meaning: "The value that HcclGetConfig returns. Results are always the same in each run.",
    },
    Var {
        name: "HCCL_BUFFSIZE",
        accepts: Accepts::Anything,
        flag: None,
        values: "1 or more (MB)",
        default: "200",
        meaning: "The size of the buffer that HcclGetHcclBuffer returns. Operations use no such buffer.",
    },
    Var {
        name: "HCCL_IF_IP",
        accepts: Accepts::Anything,
        flag: None,
        values: "an IPv4 or IPv6 address",
        default: "empty",
        meaning: "The address of this machine to which ranks on other machines connect.",
    },
    Var {
        name: "HCCL_SOCKET_IFNAME",
        accepts: Accepts::Anything,
        flag: None,
        values: "`eth,enp`: names that begin so; `^docker`: all other names; `=eth0`: this name; `^=eth0`: all but this name",
        default: "empty",
        meaning: "The network interfaces whose address is used. HCCL_IF_IP has precedence.",
    },
    Var {
        name: "HCCL_SOCKET_FAMILY",
        accepts: Accepts::Anything,
        flag: None,
        values: "AF_INET, AF_INET6",
        default: "empty",
        meaning: "The address family of that address.",
    },
    Var {
        name: "HCCL_IF_BASE_PORT",
        accepts: Accepts::Anything,
        flag: None,
        values: "1024 to 65520",
        default: "empty",
        meaning: "The first of 32 ports on which the root listens for ranks on other machines. Without it, the root uses any free port.",
    },
    Var {
        name: "HCCL_HOST_SOCKET_PORT_RANGE",
        accepts: Accepts::Anything,
        flag: None,
        values: "ports and ranges, or auto",
        default: "empty",
        meaning: "The same ports as a list. It has precedence over HCCL_IF_BASE_PORT.",
    },
    Var {
        name: "HCCL_WHITELIST_DISABLE",
        accepts: Accepts::Anything,
        flag: None,
        values: "1, 0",
        default: "1",
        meaning: "With 0 only the addresses of HCCL_WHITELIST_FILE may connect.",
    },
    Var {
        name: "HCCL_WHITELIST_FILE",
        accepts: Accepts::Anything,
        flag: None,
        values: "a JSON file",
        default: "empty",
        meaning: "The file with the addresses that may connect, as `host_ip`.",
    },
    Var {
        name: "ASCEND_GLOBAL_LOG_LEVEL",
        accepts: Accepts::Anything,
        flag: Some("log-level"),
        values: "0 debug, 1 info, 2 warning, 3 error, 4 nothing",
        default: "3",
        meaning: "The lowest level that is logged.",
    },
    Var {
        name: "ASCEND_MODULE_LOG_LEVEL",
        accepts: Accepts::Anything,
        flag: None,
        values: "MODULE=level, separated by colons",
        default: "the global level",
        meaning: "The level of single modules, for example ASCENDCL=0:APP=1.",
    },
    Var {
        name: "ASCEND_SLOG_PRINT_TO_STDOUT",
        accepts: Accepts::Anything,
        flag: Some("log-to-stdout"),
        values: "0, 1",
        default: "0",
        meaning: "With 1 log lines go to standard output instead of a file.",
    },
    Var {
        name: "ASCEND_LOG_PRINT_TO_STDOUT",
        accepts: Accepts::Anything,
        flag: None,
        values: "0, 1",
        default: "0",
        meaning: "Another name of ASCEND_SLOG_PRINT_TO_STDOUT.",
    },
    Var {
        name: "ASCEND_PROCESS_LOG_PATH",
        accepts: Accepts::Anything,
        flag: None,
        values: "a folder",
        default: "the one of ASCEND_WORK_PATH",
        meaning: "The folder of the process's log files.",
    },
    Var {
        name: "ASCEND_WORK_PATH",
        accepts: Accepts::Anything,
        flag: None,
        values: "a folder",
        default: "ascend/log in the home folder",
        meaning: "The folder of log files without ASCEND_PROCESS_LOG_PATH.",
    },
    Var {
        name: "ASCEND_HOST_LOG_FILE_NUM",
        accepts: Accepts::Anything,
        flag: None,
        values: "1 to 1000",
        default: "10",
        meaning: "Number of log files of 20 MB that a process keeps; the oldest is removed.",
    },
    Var {
        name: "ASCEND_GLOBAL_EVENT_ENABLE",
        accepts: Accepts::Anything,
        flag: None,
        values: "0, 1",
        default: "1 if anything else is logged",
        meaning: "With 0 no events are logged (folder `run`), with 1 always.",
    },
    Var {
        name: "PROFILING_MODE",
        accepts: Accepts::Anything,
        flag: None,
        values: "dynamic",
        default: "none",
        meaning: "With `dynamic` a tool controls profiling, and aclprofInit is refused.",
    },
    Var {
        name: "PROFILER_SAMPLECONFIG",
        accepts: Accepts::Anything,
        flag: None,
        values: "a JSON object like the profiler section of aclInit's configuration",
        default: "none",
        meaning: "Starts a profile at aclInit, regardless of the configuration.",
    },
    Var {
        name: "ASCEND_DUMP_SCENE",
        accepts: Accepts::Anything,
        flag: None,
        values: "aic_err_brief_dump, aic_err_norm_dump, aic_err_detail_dump",
        default: "as in the configuration",
        meaning: "Saves tensors of failed tasks without a configuration.",
    },
    Var {
        name: "ASCEND_DUMP_PATH",
        accepts: Accepts::Anything,
        flag: None,
        values: "a folder",
        default: "the one of ASCEND_WORK_PATH, then dump_path of the configuration",
        meaning: "The folder for tensors of failed tasks.",
    },
    Var {
        name: "NPU_COLLECT_PATH",
        accepts: Accepts::Anything,
        flag: None,
        values: "a folder",
        default: "none",
        meaning: "The folder for tensors of failed tasks if no scene is chosen.",
    },
];

/// Refuses values that Jumar's own variables cannot have. Empty values count as unset.
///
/// # Errors
/// `InvalidArgument`: the sentence names the variable, its value, and what it must be.
pub fn validate() -> Result<()> {
    for var in READ {
        let value = std::env::var_os(var.name).filter(|value| !value.is_empty());
        if let Some(value) = value {
            var.validate(&value)?;
        }
    }
    Ok(())
}

impl Var {
    fn validate(&self, value: &OsStr) -> Result<()> {
        let refused =
            |must: String| {
                let sentence = format!(
                    "{} is \"{}\"; it must be {must}",
                    self.name,
                    value.display()
                );
                Err(Error::new(ErrorKind::InvalidArgument, sentence).fix(format!(
                "Correct or unset {}; docs/environment.md lists the values of each variable.",
                self.name
            )))
            };
        match self.accepts {
            Accepts::Anything | Accepts::OutputFile => Ok(()),
            Accepts::InputFile => match std::fs::metadata(value) {
                Ok(found) if found.is_file() => Ok(()),
                Ok(_) => refused("the name of a regular file".to_owned()),
                Err(error) => refused(format!("the name of a file that can be read: {error}")),
            },
            Accepts::Text(check) => match value.to_str() {
                None => refused(format!("text in UTF-8: {}", self.values)),
                Some(text) => check(text).or_else(refused),
            },
        }
    }
}

fn any(_: &str) -> std::result::Result<(), String> {
    Ok(())
}

fn switch(text: &str) -> std::result::Result<(), String> {
    match text {
        "0" | "1" => Ok(()),
        _ => Err("0 or 1".to_owned()),
    }
}

fn integer(text: &str, least: u64, most: u64) -> std::result::Result<(), String> {
    match text.parse::<u64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(()),
        _ => Err(format!("a number from {least} to {most}")),
    }
}

fn language(text: &str) -> std::result::Result<(), String> {
    match text.split(['_', '-', '.']).next() {
        Some("en" | "zh") => Ok(()),
        _ => Err("en or zh, or a locale that begins so, such as zh_CN".to_owned()),
    }
}

fn rules(text: &str) -> std::result::Result<(), String> {
    match text {
        "0" => Ok(()),
        list => crate::check::rules_of(list).map(drop),
    }
}

fn profiles(text: &str) -> std::result::Result<(), String> {
    match crate::check::profiles_of(text) {
        Ok(_) => Ok(()),
        Err(name) => Err(format!(
            "`all`, or names of profiles with commas between them, and {name} is not a profile; the profiles are {}",
            crate::profile::names().join(", ")
        )),
    }
}

fn fault(text: &str) -> std::result::Result<(), String> {
    crate::config::fault_of(text).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(name: &str, value: &OsStr) -> Result<()> {
        let var = READ.iter().find(|var| var.name == name);
        var.expect("the variable is in the table").validate(value)
    }

    #[test]
    fn values_that_a_variable_does_not_list_are_refused_by_name() {
        let refused = [
            ("JUMAR_DEVICES", "65"),
            ("JUMAR_WORKERS", "many"),
            ("JUMAR_MATRIX_UNIT", "2"),
            ("JUMAR_INSTRUCTIONS", "sse"),
            ("JUMAR_SUMMARY", "yes"),
            ("JUMAR_CHECK", "nonsense"),
            ("JUMAR_CHECK", "JMR-SYNK"),
            ("JUMAR_CHECK", "JMR-SYNC,"),
            ("JUMAR_CHECK_BASELINE", "/nowhere/known.txt"),
            ("JUMAR_CHECK_BASELINE", "/dev/zero"),
            ("JUMAR_CHECK_LANGUAGE", "xx"),
            ("JUMAR_CHECK_PROFILES", "910B1,Pentium"),
            ("JUMAR_CHECK_PROTECT", "9"),
            ("JUMAR_LATE", "7"),
            ("JUMAR_SEED", "abc"),
            ("JUMAR_SEED", "-1"),
            ("JUMAR_SEED", "18446744073709551616"),
            ("JUMAR_FAULT", "#1"),
            ("JUMAR_FAULT", "aclrtMalloc#"),
            ("JUMAR_FAULT", "aclrtMalloc#0"),
            ("JUMAR_FAULT", "aclrtMalloc#18446744073709551616"),
            ("JUMAR_FAULT", "task:#1"),
        ];
        for (name, value) in refused {
            let error = answer(name, OsStr::new(value)).expect_err(value);
            let sentence = error.to_string();
            assert!(
                sentence.contains(name) && sentence.contains(value),
                "{sentence}"
            );
        }
    }

    #[test]
    fn values_that_a_variable_lists_are_accepted() {
        let accepted = [
            ("JUMAR_DEVICES", "64"),
            ("JUMAR_CHECK", "0"),
            ("JUMAR_CHECK", "1"),
            ("JUMAR_CHECK", "all"),
            ("JUMAR_CHECK", "JMR-SYNC,JMR-MEM-008"),
            (
                "JUMAR_CHECK_BASELINE",
                concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
            ),
            ("JUMAR_CHECK_LANGUAGE", "zh_CN.UTF-8"),
            ("JUMAR_CHECK_PROFILES", "310P3,Ascend910B1"),
            ("JUMAR_SEED", "18446744073709551615"),
            ("JUMAR_FAULT", "aclrtMalloc"),
            ("JUMAR_FAULT", "*#7"),
            ("JUMAR_FAULT", "task:aclrtMemcpyAsync#2"),
        ];
        for (name, value) in accepted {
            assert!(answer(name, OsStr::new(value)).is_ok(), "{name}={value}");
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_refused_except_as_the_name_of_a_file() {
        use std::os::unix::ffi::OsStrExt as _;
        let value = OsStr::from_bytes(b"a\xff");
        let refused: Vec<&str> = READ
            .iter()
            .filter(|var| matches!(var.accepts, Accepts::Text(_)))
            .map(|var| {
                assert!(var.validate(value).is_err(), "{}", var.name);
                var.name
            })
            .collect();
        assert!(refused.contains(&"JUMAR_CHECK"));
        assert!(answer("JUMAR_TRACE", value).is_ok());
    }
}
