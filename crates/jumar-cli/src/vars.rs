//! The variables that are set for a program and its build, and the page about all variables (docs/environment.md).

use std::fmt::Write as _;

use jumar::variables::READ;

/// The folder of the libraries: a link to `lib64`, because programs look for the word `cann` in the path of the loaded runtime.
pub const LIBRARIES: &str = "cann/lib64";

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
        below: LIBRARIES,
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
            "JUMAR_ORDER",
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
