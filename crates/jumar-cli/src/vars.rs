//! The environment variables that Jumar reads, once: the flags of `jumar run` and docs/environment.md follow this table.

use std::fmt::Write as _;

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
}

/// Every variable that the runtime reads, Jumar's own first.
pub const READ: &[Var] = &[
    Var {
        name: "JUMAR_DEVICES",
        flag: Some("devices"),
        values: "1 to 64",
        default: "1",
        meaning: "Number of devices.",
    },
    Var {
        name: "JUMAR_PROFILE",
        flag: Some("profile"),
        values: "a SoC name such as Ascend910B1 or Ascend310P3, or the path of a profile file",
        default: "Ascend910B1",
        meaning: "The product to imitate: name, memory size, core counts and limits.",
    },
    Var {
        name: "JUMAR_CANN_VERSION",
        flag: Some("cann-version"),
        values: "a release such as 9.1.0 or 8.3.RC1",
        default: "9.1.0",
        meaning: "The release of CANN that version queries return; the driver's version follows from it. Prebuilt frameworks choose code paths by it.",
    },
    Var {
        name: "JUMAR_WORKERS",
        flag: Some("workers"),
        values: "1 to 1024",
        default: "one for each processor",
        meaning: "Number of threads that run the work of all devices.",
    },
    Var {
        name: "JUMAR_TRACE",
        flag: Some("trace"),
        values: "a file name",
        default: "no timeline",
        meaning: "Where a timeline for Perfetto or chrome://tracing is written.",
    },
    Var {
        name: "JUMAR_MATRIX_UNIT",
        flag: Some("no-matrix-unit"),
        values: "0, 1",
        default: "1",
        meaning: "With 0 the processor's matrix unit (AMX) is neither used nor requested.",
    },
    Var {
        name: "JUMAR_SUMMARY",
        flag: Some("no-summary"),
        values: "0, 1",
        default: "0; `jumar run` and `jumar check` set 1",
        meaning: "With 1, a line on standard error at the end of the program names the functions that the program called and that Jumar does not implement.",
    },
    Var {
        name: "JUMAR_CHECK",
        flag: None,
        values: "`1`, or rule ids separated by commas; `all` adds the lints",
        default: "no checks",
        meaning: "Reports races, leaks and misuse; `jumar check` sets it.",
    },
    Var {
        name: "JUMAR_CHECK_REPORT",
        flag: None,
        values: "a file name",
        default: "findings go to standard error only",
        meaning: "Where each finding is appended as a line of JSON.",
    },
    Var {
        name: "JUMAR_CHECK_BASELINE",
        flag: None,
        values: "a file name",
        default: "every finding is reported",
        meaning: "Known findings, which are not reported: one fingerprint a line.",
    },
    Var {
        name: "JUMAR_CHECK_LANGUAGE",
        flag: None,
        values: "`zh`",
        default: "English",
        meaning: "The language of the rules' texts in findings.",
    },
    Var {
        name: "JUMAR_CHECK_PROFILES",
        flag: None,
        values: "profile names separated by commas, or `all`",
        default: "only the imitated product counts",
        meaning: "Reports what these products would refuse.",
    },
    Var {
        name: "JUMAR_CHECK_PROTECT",
        flag: None,
        values: "`1`",
        default: "pages are not protected",
        meaning: "Protects the pages of pinned memory during pending copies, so that the checks find accesses to them.",
    },
    Var {
        name: "JUMAR_CHECK_REPLAY",
        flag: None,
        values: "a command",
        default: "none",
        meaning: "The command that findings show for running the program again.",
    },
    Var {
        name: "JUMAR_LATE",
        flag: None,
        values: "`1`",
        default: "tasks run as soon as they can",
        meaning: "Delays every task until the program waits for it.",
    },
    Var {
        name: "JUMAR_SEED",
        flag: None,
        values: "a number",
        default: "no fixed order",
        meaning: "Chooses the order of streams; the same number repeats the same run.",
    },
    Var {
        name: "JUMAR_FAULT",
        flag: None,
        values: "a function and the number of its call, such as `aclrtMalloc#3`; `*#7` for the seventh call of any function; `task:aclrtMemcpyAsync#2` for the second task that a function queues",
        default: "no injected failure",
        meaning: "The call, or the task on a device, that fails.",
    },
    Var {
        name: "JUMAR_FAULT_LOG",
        flag: None,
        values: "a file name",
        default: "none",
        meaning: "Where each call and task that can fail is recorded.",
    },
    Var {
        name: "JUMAR_CRASH_REPORT",
        flag: None,
        values: "a file name",
        default: "none",
        meaning: "Where the stack is written if the program ends by a signal (invalid pointer, abort).",
    },
    Var {
        name: "JUMAR_FFMPEG",
        flag: Some("ffmpeg"),
        values: "0, 1, or the path of a libavcodec",
        default: "0",
        meaning: "With 1, or a path, FFmpeg's libavcodec (58 to 61) decodes video instead of the built-in decoders, where it is installed.",
    },
    Var {
        name: "JUMAR_CXX",
        flag: Some("cxx"),
        values: "a C++ compiler, by name or path",
        default: "c++",
        meaning: "Compiles kernels at run time (aclrtc).",
    },
    Var {
        name: "ASCEND_RT_VISIBLE_DEVICES",
        flag: Some("visible-devices"),
        values: "ascending device numbers separated by commas, without blanks",
        default: "all devices",
        meaning: "The devices that the program sees, renumbered from 0.",
    },
    Var {
        name: "ASCEND_CUSTOM_OPP_PATH",
        flag: None,
        values: "folders, separated by colons",
        default: "none",
        meaning: "Packages of custom operators: the Graph Engine loads the libraries in op_graph/lib/linux/<architecture> of each.",
    },
    Var {
        name: "ASCEND_LAUNCH_BLOCKING",
        flag: Some("launch-blocking"),
        values: "0, 1",
        default: "0",
        meaning: "With 1 each asynchronous call waits until its work is done.",
    },
    Var {
        name: "JUMAR_HCCL_TIMEOUT",
        flag: Some("collective-timeout"),
        values: "a number of seconds; fractions are allowed",
        default: "HCCL_CONNECT_TIMEOUT and HCCL_EXEC_TIMEOUT apply",
        meaning: "How long ranks wait for each other; replaces HCCL_CONNECT_TIMEOUT and HCCL_EXEC_TIMEOUT.",
    },
    Var {
        name: "JUMAR_JOB",
        flag: Some("job"),
        values: "a word",
        default: "empty",
        meaning: "Distinguishes jobs that use the same rank table on one machine.",
    },
    Var {
        name: "HCCL_CONNECT_TIMEOUT",
        flag: None,
        values: "120 to 7200 seconds",
        default: "120",
        meaning: "How long ranks wait for each other when a communicator is created; 20 seconds are added, as on a card.",
    },
    Var {
        name: "HCCL_EXEC_TIMEOUT",
        flag: None,
        values: "seconds, 0 for no limit",
        default: "1836",
        meaning: "How long an operation waits for the other ranks.",
    },
    Var {
        name: "HCCL_DETERMINISTIC",
        flag: None,
        values: "false, true, strict",
        default: "false",
        meaning: "The value that HcclGetConfig returns. Results are always the same in each run.",
    },
    Var {
        name: "HCCL_BUFFSIZE",
        flag: None,
        values: "1 or more (MB)",
        default: "200",
        meaning: "The size of the buffer that HcclGetHcclBuffer returns. Operations use no such buffer.",
    },
    Var {
        name: "HCCL_IF_IP",
        flag: None,
        values: "an IPv4 or IPv6 address",
        default: "empty",
        meaning: "The address of this machine to which ranks on other machines connect.",
    },
    Var {
        name: "HCCL_SOCKET_IFNAME",
        flag: None,
        values: "`eth,enp`: names that begin so; `^docker`: all other names; `=eth0`: this name; `^=eth0`: all but this name",
        default: "empty",
        meaning: "The network interfaces whose address is used. HCCL_IF_IP has precedence.",
    },
    Var {
        name: "HCCL_SOCKET_FAMILY",
        flag: None,
        values: "AF_INET, AF_INET6",
        default: "empty",
        meaning: "The address family of that address.",
    },
    Var {
        name: "HCCL_IF_BASE_PORT",
        flag: None,
        values: "1024 to 65520",
        default: "empty",
        meaning: "The first of 32 ports on which the root listens for ranks on other machines. Without it, the root uses any free port.",
    },
    Var {
        name: "HCCL_HOST_SOCKET_PORT_RANGE",
        flag: None,
        values: "ports and ranges, or auto",
        default: "empty",
        meaning: "The same ports as a list. It has precedence over HCCL_IF_BASE_PORT.",
    },
    Var {
        name: "HCCL_WHITELIST_DISABLE",
        flag: None,
        values: "1, 0",
        default: "1",
        meaning: "With 0 only the addresses of HCCL_WHITELIST_FILE may connect.",
    },
    Var {
        name: "HCCL_WHITELIST_FILE",
        flag: None,
        values: "a JSON file",
        default: "empty",
        meaning: "The file with the addresses that may connect, as `host_ip`.",
    },
    Var {
        name: "ASCEND_GLOBAL_LOG_LEVEL",
        flag: Some("log-level"),
        values: "0 debug, 1 info, 2 warning, 3 error, 4 nothing",
        default: "3",
        meaning: "The lowest level that is logged.",
    },
    Var {
        name: "ASCEND_MODULE_LOG_LEVEL",
        flag: None,
        values: "MODULE=level, separated by colons",
        default: "the global level",
        meaning: "The level of single modules, for example ASCENDCL=0:APP=1.",
    },
    Var {
        name: "ASCEND_SLOG_PRINT_TO_STDOUT",
        flag: Some("log-to-stdout"),
        values: "0, 1",
        default: "0",
        meaning: "With 1 log lines go to standard output instead of a file.",
    },
    Var {
        name: "ASCEND_LOG_PRINT_TO_STDOUT",
        flag: None,
        values: "0, 1",
        default: "0",
        meaning: "Another name of ASCEND_SLOG_PRINT_TO_STDOUT.",
    },
    Var {
        name: "ASCEND_PROCESS_LOG_PATH",
        flag: None,
        values: "a folder",
        default: "the one of ASCEND_WORK_PATH",
        meaning: "The folder of the process's log files.",
    },
    Var {
        name: "ASCEND_WORK_PATH",
        flag: None,
        values: "a folder",
        default: "ascend/log in the home folder",
        meaning: "The folder of log files without ASCEND_PROCESS_LOG_PATH.",
    },
    Var {
        name: "ASCEND_HOST_LOG_FILE_NUM",
        flag: None,
        values: "1 to 1000",
        default: "10",
        meaning: "Number of log files of 20 MB that a process keeps; the oldest is removed.",
    },
    Var {
        name: "ASCEND_GLOBAL_EVENT_ENABLE",
        flag: None,
        values: "0, 1",
        default: "1 if anything else is logged",
        meaning: "With 0 no events are logged (folder `run`), with 1 always.",
    },
    Var {
        name: "PROFILING_MODE",
        flag: None,
        values: "dynamic",
        default: "none",
        meaning: "With `dynamic` a tool controls profiling, and aclprofInit is refused.",
    },
    Var {
        name: "PROFILER_SAMPLECONFIG",
        flag: None,
        values: "a JSON object like the profiler section of aclInit's configuration",
        default: "none",
        meaning: "Starts a profile at aclInit, regardless of the configuration.",
    },
    Var {
        name: "ASCEND_DUMP_SCENE",
        flag: None,
        values: "aic_err_brief_dump, aic_err_norm_dump, aic_err_detail_dump",
        default: "as in the configuration",
        meaning: "Saves tensors of failed tasks without a configuration.",
    },
    Var {
        name: "ASCEND_DUMP_PATH",
        flag: None,
        values: "a folder",
        default: "the one of ASCEND_WORK_PATH, then dump_path of the configuration",
        meaning: "The folder for tensors of failed tasks.",
    },
    Var {
        name: "NPU_COLLECT_PATH",
        flag: None,
        values: "a folder",
        default: "none",
        meaning: "The folder for tensors of failed tasks if no scene is chosen.",
    },
];

/// A variable that `jumar run`, `jumar env` and set_env.sh set for the program and its build.
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// What it is set to, below the install tree; "" is the tree itself.
    pub below: &'static str,
    /// Whether the value goes before what the variable holds.
    pub prepend: bool,
    /// Who reads it.
    pub reader: &'static str,
}

/// Every variable that is set, in order.
pub const SET: &[Set] = &[
    Set {
        name: "ASCEND_HOME_PATH",
        below: "",
        prepend: false,
        reader: "build scripts, programs",
    },
    Set {
        name: "ASCEND_TOOLKIT_HOME",
        below: "",
        prepend: false,
        reader: "build scripts, programs",
    },
    Set {
        name: "ASCEND_INSTALL_PATH",
        below: "",
        prepend: false,
        reader: "build scripts",
    },
    Set {
        name: "ASCEND_OPP_PATH",
        below: "opp",
        prepend: false,
        reader: "programs that look for operators",
    },
    Set {
        name: "LD_LIBRARY_PATH",
        below: "lib64",
        prepend: true,
        reader: "the loader",
    },
    Set {
        name: "PYTHONPATH",
        below: "python/site-packages",
        prepend: true,
        reader: "Python",
    },
    Set {
        name: "PATH",
        below: "bin",
        prepend: true,
        reader: "the shell, for jumar and atc",
    },
];

/// Variables that builds read; `jumar env --build` sets them too.
pub const SET_FOR_BUILDS: &[Set] = &[
    Set {
        name: "DDK_PATH",
        below: "",
        prepend: false,
        reader: "CMake files of samples",
    },
    Set {
        name: "NPU_HOST_LIB",
        below: "runtime/lib64/stub",
        prepend: false,
        reader: "CMake files of samples",
    },
    Set {
        name: "INSTALL_DIR",
        below: "",
        prepend: false,
        reader: "CMake files of samples",
    },
    Set {
        name: "ASCEND_CANN_PACKAGE_PATH",
        below: "",
        prepend: false,
        reader: "operator projects",
    },
    Set {
        name: "ASCENDC_CMAKE_DIR",
        below: "tools/tikcpp/ascendc_kernel_cmake",
        prepend: false,
        reader: "operator projects",
    },
    Set {
        name: "ASCEND_DIR",
        below: "",
        prepend: false,
        reader: "Makefiles",
    },
];

/// A variable of builds whose value is not a path of the tree.
pub struct Fact {
    /// Its name.
    pub name: &'static str,
    /// What it holds, for the page.
    pub what: &'static str,
    /// Its value.
    pub value: fn() -> String,
    /// Who reads it.
    pub reader: &'static str,
}

/// Variables that builds read besides; `jumar env --build` sets them too.
pub const FACTS_FOR_BUILDS: &[Fact] = &[
    Fact {
        name: "SOC_VERSION",
        what: "the name of the profile in use",
        value: || std::env::var("JUMAR_PROFILE").unwrap_or_else(|_| "Ascend910B1".to_owned()),
        reader: "operator projects",
    },
    Fact {
        name: "CPU_ARCH",
        what: "the machine's architecture: x86_64 or aarch64",
        value: || std::env::consts::ARCH.to_owned(),
        reader: "build scripts",
    },
];

/// Writes docs/environment.md.
pub fn page() -> String {
    let mut text = String::from(
        "<!-- Generated from crates/jumar-cli/src/vars.rs by `jumar env --page`; do not edit. -->\n\
         # Environment variables\n\n\
         ## Variables that the runtime reads\n\n\
         A flag of `jumar run` sets the variable for one program. An invalid value of a `JUMAR_` variable is an error of the first\n\
         call that needs it, and the error names the variable. The other variables behave as programs for cards expect.\n\n\
         | variable | flag | values | default | meaning |\n|---|---|---|---|---|\n",
    );
    for var in READ {
        let flag = var.flag.map_or(String::new(), |flag| format!("`--{flag}`"));
        let _ = writeln!(
            text,
            "| `{}` | {flag} | {} | {} | {} |",
            var.name, var.values, var.default, var.meaning
        );
    }
    text += "\n## Variables set for a program\n\n\
             `jumar run`, `eval \"$(jumar env)\"` and `set_env.sh` set these. Paths are relative to the install tree.\n\n\
             | variable | value | read by |\n|---|---|---|\n";
    let rows = |text: &mut String, sets: &[Set]| {
        for set in sets {
            let path = if set.below.is_empty() {
                "the install tree".to_string()
            } else {
                format!("`{}`", set.below)
            };
            let value = if set.prepend {
                format!("{path}, before its previous value")
            } else {
                path
            };
            let _ = writeln!(text, "| `{}` | {value} | {} |", set.name, set.reader);
        }
    };
    rows(&mut text, SET);
    text += "\n## Variables set for a build\n\n`eval \"$(jumar env --build)\"` also sets these.\n\n\
             | variable | value | read by |\n|---|---|---|\n";
    rows(&mut text, SET_FOR_BUILDS);
    for fact in FACTS_FOR_BUILDS {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} |",
            fact.name, fact.what, fact.reader
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_page_in_the_documents_is_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/environment.md");
        let committed = std::fs::read_to_string(path).unwrap();
        assert!(
            committed == page(),
            "write it anew: cargo run -p jumar-cli -- env --page > docs/environment.md"
        );
    }

    #[test]
    fn every_variable_of_our_own_has_a_flag_and_every_flag_exists() {
        let command = crate::Cli::command();
        let run = command.find_subcommand("run").unwrap();
        for var in READ {
            assert!(
                !var.name.starts_with("JUMAR_") || var.flag.is_some() || of_checks(var.name),
                "{}",
                var.name
            );
            if let Some(flag) = var.flag {
                assert!(
                    run.get_arguments()
                        .any(|argument| argument.get_long() == Some(flag)),
                    "--{flag}"
                );
            }
        }
    }

    /// What `jumar check`, `explore` and `faults` set.
    fn of_checks(name: &str) -> bool {
        let own = [
            "JUMAR_CHECK",
            "JUMAR_CRASH",
            "JUMAR_LATE",
            "JUMAR_SEED",
            "JUMAR_FAULT",
        ];
        own.iter().any(|own| name.starts_with(own))
    }

    #[test]
    fn no_variable_is_listed_twice() {
        let mut names: Vec<&str> = READ.iter().map(|v| v.name).collect();
        names.extend(SET.iter().chain(SET_FOR_BUILDS).map(|s| s.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
