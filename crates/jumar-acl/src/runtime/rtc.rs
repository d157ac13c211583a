//! Programs that are compiled while the program runs: with the system's C++ compiler, against the kernel header, into
//! binaries that aclrtBinaryLoadFromData takes.

use std::ffi::{CStr, CString, OsString};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{CodeImage, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};
use tempfile::TempDir;

use crate::{Cx, Raw, refuse};

/// The header against which programs are compiled: a copy travels with the library, so that they compile wherever it lies.
const KERNEL_HEADER: &str = include_str!("../../../../include/jumar/kernel.h");

/// What stands in front of a program's own options.
const OPTIONS: &[&str] = &["-x", "c++", "-std=c++17", "-O2", "-g", "-shared", "-fPIC"];

/// What GCC is asked in addition: each load of a binary has inline variables of its own. Other compilers make no unique symbols, and
/// do not know the option.
const GCC_OPTION: &str = "-fno-gnu-unique";

/// A program.
pub struct Program {
    id: u64,
    source: Vec<u8>,
    name: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    names: Vec<NameExpression>,
    binary: Option<Arc<[u8]>>,
    was_compiled: bool,
    log: Vec<u8>,
}

/// A name that the program asked for. Both texts stay where they are as long as it does.
struct NameExpression {
    expression: CString,
    lowered: CString,
    /// The binary exports a function of the lowered name.
    is_exported: bool,
}

/// The programs by handle.
pub type Programs = Table<Program>;

pub(crate) fn table() -> Programs {
    Table::new(IdKind::Program, Arc::default())
}

fn input<T>(what: &str) -> Result<T> {
    refuse(ErrorKind::CompilerInput, format!("{what} is null"))
}

fn program(cx: &Cx<'_>, handle: Raw) -> Result<Arc<Program>> {
    cx.process
        .programs
        .get(handle.0)
        .map_err(|error| Error::new(ErrorKind::ProgramInvalid, error.sentence()))
}

pub fn aclrtcCreateProg(
    cx: &Cx<'_>,
    source: Option<&CStr>,
    name: Option<&CStr>,
    _number: i32,
    _headers: Option<&[Option<&CStr>]>,
    _include_names: Option<&[Option<&CStr>]>,
) -> Result<Raw> {
    let (Some(source), Some(name)) = (source, name) else {
        return input("src or name");
    };
    Compiler::find()?;
    let made = cx.process.programs.insert(|id| {
        Arc::new(Program {
            id,
            source: source.to_bytes().to_vec(),
            name: name.to_string_lossy().into_owned(),
            state: Mutex::default(),
        })
    })?;
    Ok(Raw(made.id))
}

/// A C++ compiler that answers.
struct Compiler {
    command: String,
    is_gcc: bool,
}

impl Compiler {
    /// Finds the compiler.
    fn find() -> Result<Compiler> {
        let command = jumar::config::compiler();
        let answer = Command::new(&command)
            .arg("--version")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        match answer {
            Ok(answer) if answer.status.success() => {
                let text = String::from_utf8_lossy(&answer.stdout);
                Ok(Compiler {
                    command,
                    is_gcc: text.contains("Free Software Foundation"),
                })
            }
            Ok(answer) => refuse(
                ErrorKind::CompilerMissing,
                format!(
                    "the C++ compiler {command} does not work: `--version` returned {}",
                    answer.status
                ),
            ),
            Err(error) => refuse(
                ErrorKind::CompilerMissing,
                format!("the C++ compiler {command} cannot be started: {error}"),
            ),
        }
    }
}

/// The folders of a compilation: that of the program, which has nothing else in it, so that every name is possible, and that of headers.
const SOURCES: &str = "source";
const HEADERS: &str = "include";

/// Creates a folder for one compilation, which is removed with the value. Its name cannot be predicted and only this user may enter
/// it: no other user can put files or links there that the compiler would follow.
fn scratch() -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new()
        .prefix("jumar-rtc-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir()?;
    std::fs::create_dir(folder.path().join(SOURCES))?;
    std::fs::create_dir_all(folder.path().join(HEADERS).join("jumar"))?;
    Ok(folder)
}

pub fn aclrtcCompileProg(
    cx: &Cx<'_>,
    handle: Raw,
    number: i32,
    options: Option<&[Option<&CStr>]>,
) -> Result<()> {
    let program = program(cx, handle)?;
    if number < 0 {
        return refuse(
            ErrorKind::CompilerInput,
            format!("numOptions is {number}; it must be at least 0"),
        );
    }
    let given = match options {
        Some(options) => options,
        None if number == 0 => &[],
        None => return input("options"),
    };
    let mut own = Vec::new();
    for (index, option) in given.iter().enumerate() {
        let Some(option) = option else {
            return input(&format!("option {index}"));
        };
        if option.is_empty() {
            return refuse(
                ErrorKind::CompilerOption,
                format!("option {index} is empty"),
            );
        }
        own.push(option.to_string_lossy().into_owned());
    }
    let mut state = program.state.lock();
    state.was_compiled = true;
    state.binary = None;
    if program.name.ends_with(".aicpu") || own.iter().any(|option| option == "-xaicpu") {
        state.log =
            b"programs for the device's own CPU are not compiled while a program runs\n".to_vec();
        return refuse(
            ErrorKind::CompilationFailed,
            format!("{} is a program for the device's own CPU", program.name),
        );
    }
    drop(state);
    let (log, binary) = compile(&program, &own)?;
    let mut state = program.state.lock();
    state.log = log;
    let Some(binary) = binary else {
        return refuse(
            ErrorKind::CompilationFailed,
            format!(
                "{} does not compile; the compiler's messages are in the log",
                program.name
            ),
        );
    };
    let binary: Arc<[u8]> = binary.into();
    let image = CodeImage {
        bytes: binary.clone(),
        file: None,
    };
    let exported = cx.runtime()?.exported_functions(&image)?;
    for name in &mut state.names {
        let wanted = name.lowered.as_bytes();
        name.is_exported = exported.iter().any(|one| one.as_bytes() == wanted);
    }
    state.binary = Some(binary);
    Ok(())
}

/// Returns a file's name as an argument that the compiler takes for no option and no list of options.
fn as_file(name: &Path) -> PathBuf {
    if name.as_os_str().as_encoded_bytes().starts_with(b"-")
        || name.as_os_str().as_encoded_bytes().starts_with(b"@")
    {
        Path::new(".").join(name)
    } else {
        name.to_owned()
    }
}

/// Runs the compiler. Returns its messages, and the binary if it made one.
fn compile(program: &Program, options: &[String]) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    let compiler = Compiler::find()?;
    let failed = |error: std::io::Error| {
        Error::new(
            ErrorKind::CompilerMissing,
            format!("{} could not be compiled: {error}", program.name),
        )
    };
    let scratch = scratch().map_err(failed)?;
    // Messages name the program as the caller does, without a folder.
    let file = Path::new(&program.name)
        .file_name()
        .map_or_else(|| PathBuf::from("program"), PathBuf::from);
    let sources = scratch.path().join(SOURCES);
    let headers = scratch.path().join(HEADERS);
    let binary = scratch.path().join("program.so");
    std::fs::write(headers.join("jumar/kernel.h"), KERNEL_HEADER).map_err(failed)?;
    std::fs::write(sources.join(&file), &program.source).map_err(failed)?;
    // Debuggers show the names as well, and not the folder, which is gone by then.
    let mapped = |folder: &Path, name: &str| {
        let mut option = OsString::from("-ffile-prefix-map=");
        option.push(folder);
        option.push("=");
        option.push(name);
        option
    };
    let output = Command::new(compiler.command)
        .args(OPTIONS)
        .args(compiler.is_gcc.then_some(GCC_OPTION))
        .arg("-I")
        .arg(&headers)
        .arg(mapped(&headers, HEADERS))
        .arg(mapped(&sources, "."))
        .args(options)
        .arg("-o")
        .arg(&binary)
        .arg(as_file(&file))
        .current_dir(&sources)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    let log = [output.stdout, output.stderr].concat();
    let binary = match output.status.success() {
        true => Some(std::fs::read(&binary).map_err(failed)?),
        false => None,
    };
    Ok((log, binary))
}

pub fn aclrtcAddNameExpr(cx: &Cx<'_>, handle: Raw, name: Option<&CStr>) -> Result<()> {
    let program = program(cx, handle)?;
    let Some(name) = name else {
        return input("nameExpression");
    };
    let mut state = program.state.lock();
    if state.was_compiled {
        return refuse(
            ErrorKind::NameTooLate,
            format!("{} was compiled already", program.name),
        );
    }
    let text = name.to_string_lossy();
    let lowered = text.trim().trim_start_matches('&').trim();
    state.names.push(NameExpression {
        expression: name.to_owned(),
        lowered: CString::new(lowered).unwrap_or_default(),
        is_exported: false,
    });
    Ok(())
}

/// The text lives as long as the program, however often that is compiled.
pub fn aclrtcGetLoweredName(cx: &Cx<'_>, handle: Raw, name: Option<&CStr>) -> Result<usize> {
    let program = program(cx, handle)?;
    let Some(name) = name else {
        return input("nameExpression");
    };
    let state = program.state.lock();
    if state.binary.is_none() {
        return refuse(
            ErrorKind::NameTooEarly,
            format!("{} was not compiled yet", program.name),
        );
    }
    let found = state
        .names
        .iter()
        .find(|known| known.expression.as_c_str() == name);
    match found {
        Some(found) if found.is_exported => Ok(found.lowered.as_ptr().expose_provenance()),
        Some(_) => Err(Error::new(
            ErrorKind::NameUnknown,
            format!("the binary exports no function {}", name.to_string_lossy()),
        )
        .fix("Declare the kernel extern \"C\".")),
        None => refuse(
            ErrorKind::NameUnknown,
            format!(
                "{} was never added with aclrtcAddNameExpr",
                name.to_string_lossy()
            ),
        ),
    }
}

pub fn aclrtcDestroyProg(cx: &Cx<'_>, handle: Raw) -> Result<Raw> {
    program(cx, handle)?;
    cx.process
        .programs
        .remove(handle.0, cx.call.name)
        .map(|_| Raw(0))
        .map_err(|error| Error::new(ErrorKind::ProgramInvalid, error.sentence()))
}

/// The compiled binary.
pub fn binary(cx: &Cx<'_>, handle: Raw) -> Result<Arc<[u8]>> {
    let program = program(cx, handle)?;
    let binary = program.state.lock().binary.clone();
    binary.ok_or_else(|| {
        Error::new(
            ErrorKind::CompilationFailed,
            format!(
                "{} has no binary: it was not compiled, or does not compile",
                program.name
            ),
        )
    })
}

/// What the compiler said, ended by a zero byte.
pub fn log(cx: &Cx<'_>, handle: Raw) -> Result<Vec<u8>> {
    let program = program(cx, handle)?;
    let mut log = program.state.lock().log.clone();
    log.retain(|byte| *byte != 0);
    log.push(0);
    Ok(log)
}

pub fn aclrtcGetBinDataSize(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    binary(cx, handle).map(|binary| binary.len())
}

pub fn aclrtcGetCompileLogSize(cx: &Cx<'_>, handle: Raw) -> Result<usize> {
    log(cx, handle).map(|log| log.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name that begins with a hyphen was an option, and the binary had the name of one of the program's files.
    #[test]
    fn a_program_compiles_whatever_its_name_is_and_keeps_it() {
        let compile = |name: &str, source: &str| {
            let program = Program {
                id: 0,
                source: source.as_bytes().to_vec(),
                name: name.to_owned(),
                state: Mutex::default(),
            };
            super::compile(&program, &[]).expect("the compiler starts")
        };
        for name in [
            "-o.cpp",
            "-fsyntax-only",
            "@options.cpp",
            "program.so",
            "jumar",
            "source",
            "include",
            "kernel.h",
            "a name.cpp",
        ] {
            let source = "#include \"jumar/kernel.h\"\nextern \"C\" const char *file() { return __FILE__; }\n";
            let (log, binary) = compile(name, source);
            let log = String::from_utf8_lossy(&log).into_owned();
            let binary = binary.unwrap_or_else(|| panic!("{name}: {log}"));
            assert!(binary.starts_with(b"\x7fELF"), "{name}");
            let has = |text: &[u8]| binary.windows(text.len()).any(|bytes| bytes == text);
            assert!(has(name.as_bytes()), "{name}");
            assert!(!has(b"jumar-rtc-"), "{name}: the folder is in the binary");
            let (log, binary) = compile(name, "int f() { return undeclared; }\n");
            assert!(binary.is_none(), "{name}");
            let log = String::from_utf8_lossy(&log).into_owned();
            assert!(log.contains(&format!("{name}:1:")), "{name}: {log}");
        }
    }

    /// The folder was named after the process and a count, and one that was there already was used.
    #[test]
    fn a_compilation_has_a_new_folder_that_only_its_user_may_enter() {
        let name = |number| format!("jumar-rtc-{}-{number}", std::process::id());
        let planted: Vec<PathBuf> = (0..4)
            .map(|number| std::env::temp_dir().join(name(number)))
            .collect();
        for folder in &planted {
            std::fs::create_dir_all(folder).expect("an unrelated folder");
        }
        let made = scratch().expect("a folder");
        let mode = std::fs::metadata(made.path())
            .expect("it is there")
            .permissions()
            .mode();
        for folder in &planted {
            std::fs::remove_dir_all(folder).expect("it was empty");
        }
        assert!(
            !planted.iter().any(|folder| folder == made.path()),
            "{made:?}"
        );
        assert_eq!(mode & 0o777, 0o700);
        let path = made.path().to_owned();
        drop(made);
        assert!(!path.exists());
    }
}
