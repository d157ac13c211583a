//! `jumar doctor`: which libascendcl a program would load, why, and which problems prevent it from working.

pub(crate) mod ffmpeg;
pub(crate) mod frameworks;
mod gloo;
mod loader;
mod onnxruntime;
mod prebuilt;
pub(crate) mod torch;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Result;

use crate::tree::Tree;
use loader::{Found, Loader};

/// What `jumar doctor` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar doctor                  this shell
  jumar doctor ./app            the libraries of this program, in this shell and under `jumar run`
  jumar run -- jumar doctor     the environment inside `jumar run`

The exit status is 0 when nothing is wrong.")]
pub struct Options {
    /// A compiled program whose libraries are checked.
    program: Option<PathBuf>,
}

/// How serious a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    Ok,
    Note,
    Problem,
}

struct Line {
    level: Level,
    about: &'static str,
    text: String,
}

pub(crate) struct Report(Vec<Line>);

impl Report {
    pub(crate) fn new() -> Report {
        Report(Vec::new())
    }

    /// Returns whether nothing was examined.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn ok(&mut self, about: &'static str, text: impl Into<String>) {
        self.0.push(Line {
            level: Level::Ok,
            about,
            text: text.into(),
        });
    }

    fn note(&mut self, about: &'static str, text: impl Into<String>) {
        self.0.push(Line {
            level: Level::Note,
            about,
            text: text.into(),
        });
    }

    fn problem(&mut self, about: &'static str, text: impl Into<String>) {
        self.0.push(Line {
            level: Level::Problem,
            about,
            text: text.into(),
        });
    }

    /// Prints the lines. Returns the exit status that they mean.
    pub(crate) fn print(&self) -> ExitCode {
        for line in &self.0 {
            let level = match line.level {
                Level::Ok => "ok",
                Level::Note => "note",
                Level::Problem => "PROBLEM",
            };
            println!("{level:<8} {:<16} {}", line.about, line.text);
        }
        let problems = self
            .0
            .iter()
            .filter(|line| line.level == Level::Problem)
            .count();
        match problems {
            0 => {
                println!("\nnothing is wrong");
                ExitCode::SUCCESS
            }
            _ => {
                println!("\n{problems} problem(s)");
                ExitCode::FAILURE
            }
        }
    }
}

/// Inspects the environment and prints the report.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut report = Report::new();
    println!("Jumar {}", env!("CARGO_PKG_VERSION"));
    match Tree::own() {
        Ok(tree) => {
            println!("install tree: {}", tree.root().display());
            check_tree(&mut report, &tree);
            check_shell(&mut report, &tree);
            check_python(&mut report, &tree);
            torch::examine(&mut report, &tree, Path::new("python3"));
            frameworks::examine(&mut report, Path::new("python3"));
            onnxruntime::examine(&mut report, &tree);
            gloo::examine(&mut report, &tree);
            ffmpeg::examine(&mut report, &tree);
            if let Some(program) = &options.program {
                check_program(&mut report, &tree, program);
            }
        }
        Err(error) => report.problem("install tree", format!("{error:#}")),
    }
    check_machine(&mut report);

    println!();
    Ok(report.print())
}

fn check_tree(report: &mut Report, tree: &Tree) {
    let library = tree.library();
    match fs::metadata(&library) {
        Ok(data) => report.ok(
            "runtime",
            format!("{} ({:.1} MB)", library.display(), data.len() as f64 / 1e6),
        ),
        Err(error) => report.problem("runtime", format!("{}: {error}", library.display())),
    }
    if let Ok(version) = fs::read_to_string(tree.root().join("version.cfg")) {
        report.ok(
            "version.cfg",
            version
                .lines()
                .find(|line| !line.trim_start().starts_with('#'))
                .unwrap_or("")
                .trim(),
        );
    } else {
        report.problem(
            "version.cfg",
            "missing or unreadable: lay the tree out again",
        );
    }

    // Every other name has to lead to the one file, or a process could hold two runtimes. The classes of the Graph Engine and of
    // the transformer library are in libraries of their own, which load that file.
    let one = library.canonicalize().ok();
    let above: Vec<_> = ["libjumar_ge.so", "libatb.so"]
        .iter()
        .filter_map(|name| library.with_file_name(name).canonicalize().ok())
        .collect();
    let mut names = 0;
    let mut astray = Vec::new();
    // A wheel has neither links nor the folders that build scripts of a toolkit look into.
    let wheel = tree.wheel_module().is_some();
    let folders: &[&str] = match wheel {
        true => &["lib64"],
        false => &[
            "lib64",
            "devlib",
            "runtime/lib64/stub",
            "compiler/lib64/stub",
            "acllib/lib64/stub",
        ],
    };
    for folder in folders {
        let Ok(entries) = fs::read_dir(tree.root().join(folder)) else {
            astray.push(format!("{folder} (no such folder)"));
            continue;
        };
        for path in entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| is_library(path))
        {
            if path.file_name().is_some_and(|name| name == gloo::PLUGIN) {
                continue;
            }
            names += 1;
            let filters = || loader::filtered(&path).is_some_and(|name| name == "libascendcl.so");
            let target = path.canonicalize().ok();
            let known = target
                .as_ref()
                .is_some_and(|target| one.as_ref() == Some(target) || above.contains(target));
            if !(known || wheel && filters()) {
                astray.push(
                    path.strip_prefix(tree.root())
                        .unwrap_or(&path)
                        .display()
                        .to_string(),
                );
            }
        }
    }
    match astray.is_empty() {
        true => report.ok(
            "library names",
            match wheel {
                true => format!("{names} names, all of them for the one library"),
                false => format!("{names} names in 5 folders, all of them the one library"),
            },
        ),
        false => report.problem(
            "library names",
            format!("not links to the one library: {}", astray.join(", ")),
        ),
    }
    let tools: &[&str] = match wheel {
        true => &["bin/atc"],
        false => &["bin/atc", "set_env.sh"],
    };
    for &tool in tools {
        if !tree.root().join(tool).exists() {
            report.problem(
                if tool == "bin/atc" {
                    "atc"
                } else {
                    "set_env.sh"
                },
                format!("{tool} is missing from the tree"),
            );
        }
    }
}

fn is_library(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.starts_with("lib") && name.ends_with(".so"))
}

fn check_shell(report: &mut Report, tree: &Tree) {
    let loader = Loader::of_shell(std::env::var_os("LD_LIBRARY_PATH"));
    report_found(
        report,
        "this shell",
        tree,
        loader.find("libascendcl.so"),
        "eval \"$(jumar env)\"",
    );
    for name in ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"] {
        let Some(path) = std::env::var_os(name).map(PathBuf::from) else {
            continue;
        };
        if path.canonicalize().ok() != tree.root().canonicalize().ok() {
            report.note(
                "this shell",
                format!(
                    "{name} is {}: builds started here use that toolkit",
                    path.display()
                ),
            );
        }
    }
}

fn report_found(
    report: &mut Report,
    about: &'static str,
    tree: &Tree,
    found: Option<Found>,
    fix: &str,
) {
    match found {
        None => report.note(
            about,
            format!("finds no libascendcl.so; `jumar run -- PROGRAM` or {fix} changes that"),
        ),
        Some(found) => {
            let path = found.path.display();
            let why = &found.why;
            match loader::maker(&found.path, &tree.library()) {
                loader::Maker::ThisTree => {
                    report.ok(about, format!("loads {path}, this Jumar ({why})"))
                }
                loader::Maker::OtherJumar => report.note(
                    about,
                    format!("loads {path}, another copy of Jumar ({why})"),
                ),
                loader::Maker::Stub => {
                    report.note(about, format!("loads {path}, a link-time stub that does nothing ({why}); {fix} changes that"));
                }
                loader::Maker::Other => {
                    report.note(
                        about,
                        format!("loads {path}, which is not Jumar's ({why}); {fix} changes that"),
                    );
                }
                loader::Maker::Unreadable(error) => {
                    report.problem(about, format!("loads {path} ({why}), but: {error}"))
                }
            }
        }
    }
}

fn check_program(report: &mut Report, tree: &Tree, program: &Path) {
    let needs = match loader::needs(program) {
        Ok(needs) => needs,
        Err(error) => return report.problem("program", format!("{}: {error}", program.display())),
    };
    let inside = tree
        .environment(|name| std::env::var_os(name))
        .into_iter()
        .find(|(name, _)| *name == "LD_LIBRARY_PATH");
    let inside = Loader::of_program(&needs, inside.map(|(_, value)| value));
    let mut names_of_ours = 0;
    for name in &needs.names {
        if !tree.root().join("lib64").join(name).exists() {
            if inside.find(name).is_none() {
                report.problem("program", format!("needs {name}, which nothing provides"));
            }
            continue;
        }
        names_of_ours += 1;
        let Some(found) = inside.find(name) else {
            report.problem(
                "program",
                format!("needs {name}, which would not be found even under `jumar run`"),
            );
            continue;
        };
        match loader::maker(&found.path, &tree.library()) {
            loader::Maker::ThisTree => report.ok(
                "program",
                format!("{name}: this Jumar under `jumar run` ({})", found.why),
            ),
            _ => report.problem(
                "program",
                format!(
                    "{name}: {} even under `jumar run` ({}); relink it without that path",
                    found.path.display(),
                    found.why
                ),
            ),
        }
    }
    if names_of_ours == 0 {
        report.note(
            "program",
            "needs no Ascend library by name; it may load one while it runs",
        );
    }
}

fn check_python(report: &mut Report, tree: &Tree) {
    let import = |extra: &[(&'static str, OsString)]| -> Option<Result<String, String>> {
        let mut python = Command::new("python3");
        python
            .args(["-c", "import acl; print(acl.__file__)"])
            .stdin(Stdio::null());
        for (name, value) in extra {
            python.env(name, value);
        }
        let output = python.output().ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
        Some(match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(text(&output.stderr)
                .lines()
                .last()
                .unwrap_or("")
                .to_string()),
        })
    };
    let module = tree
        .wheel_module()
        .and_then(|path| path.canonicalize().ok());
    let is_own = |file: &str| {
        Path::new(file).starts_with(tree.root())
            || (module.is_some() && Path::new(file).canonicalize().ok() == module)
    };
    match import(&[]) {
        None => return report.note("python", "there is no python3 on PATH"),
        Some(Ok(file)) if is_own(&file) => report.ok("python", format!("import acl loads {file}")),
        Some(Ok(file)) => report.note(
            "python",
            format!("import acl loads {file} in this shell, which is not this Jumar's"),
        ),
        Some(Err(_)) => report.note(
            "python",
            "import acl finds nothing in this shell; use `jumar run -- python ...`",
        ),
    }
    match import(&tree.environment(|name| std::env::var_os(name))) {
        Some(Ok(file)) if is_own(&file) => {
            report.ok(
                "python",
                format!("import acl loads {file} under `jumar run`"),
            );
        }
        Some(Ok(file)) => report.problem(
            "python",
            format!("import acl loads {file} even under `jumar run`"),
        ),
        Some(Err(error)) => report.problem(
            "python",
            format!("import acl fails under `jumar run`: {error}"),
        ),
        None => {}
    }
}

/// Returns whether a folder is an install tree of Jumar, under the name that programs expect.
fn is_of_jumar(folder: &Path) -> bool {
    let versions = fs::read_to_string(folder.join("version.info"));
    versions.is_ok_and(|text| {
        text.lines()
            .any(|line| line.starts_with("Implementation=Jumar"))
    })
}

fn check_machine(report: &mut Report) {
    match jumar::Settings::from_environment() {
        Ok(settings) => report.ok(
            "instructions",
            jumar::config::instructions(settings.instructions),
        ),
        Err(error) => report.problem("settings", error.to_string()),
    }
    let cards = fs::read_dir("/dev").map_or(0, |entries| {
        let is_card = |name: &str| {
            name.strip_prefix("davinci")
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        entries
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(is_card))
            .count()
    });
    if cards > 0 {
        report.note(
            "machine",
            format!("{cards} Ascend card(s) in /dev; Jumar does not use them"),
        );
    }
    for path in ["/usr/local/Ascend", "/etc/ascend_install.info"] {
        let path = Path::new(path);
        if path.exists() && !is_of_jumar(&path.join("ascend-toolkit/latest")) {
            report.note(
                "machine",
                format!("{}: another toolkit is installed here", path.display()),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_of_jumar_under_the_usual_name_is_not_another_toolkit() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, usual) = (folder.path().join("tree"), folder.path().join("latest"));
        fs::create_dir(&tree).unwrap();
        std::os::unix::fs::symlink(&tree, &usual).unwrap();
        let versions = tree.join("version.info");
        fs::write(&versions, "Version=9.1.0\n").unwrap();
        assert!(!is_of_jumar(&usual));
        fs::write(&versions, "Version=9.1.0\nImplementation=Jumar 0.1.0\n").unwrap();
        assert!(is_of_jumar(&usual));
    }
}
