//! Programs that are compiled while the program runs: with the system's C++ compiler, against the kernel header, into
//! binaries that aclrtBinaryLoadFromData takes.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use jumar::engine::sync::{AtomicU64, Mutex, Ordering};
use jumar::engine::{CodeImage, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::{Cx, Raw, refuse};

/// The header against which programs are compiled: a copy travels with the library, so that they compile wherever it lies.
const KERNEL_HEADER: &str = include_str!("../../../../include/jumar/kernel.h");

/// What stands in front of a program's own options.
const OPTIONS: &[&str] = &["-x", "c++", "-std=c++17", "-O2", "-g", "-shared", "-fPIC"];

/// A program.
pub struct Program {
    id: u64,
    source: Vec<u8>,
    name: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    names: Vec<(CString, Option<CString>)>,
    binary: Option<Arc<[u8]>>,
    was_compiled: bool,
    log: Vec<u8>,
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
    compiler()?;
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

/// Finds the compiler.
fn compiler() -> Result<String> {
    let compiler = jumar::config::compiler();
    let answers = Command::new(&compiler)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match answers {
        Ok(status) if status.success() => Ok(compiler),
        Ok(status) => refuse(
            ErrorKind::CompilerMissing,
            format!("the C++ compiler {compiler} does not work: --version ended with {status}"),
        ),
        Err(error) => refuse(
            ErrorKind::CompilerMissing,
            format!("the C++ compiler {compiler} cannot be started: {error}"),
        ),
    }
}

/// A folder that goes with the compilation.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("jumar-rtc-{}-{number}", std::process::id()));
        std::fs::create_dir_all(folder.join("jumar"))?;
        Ok(Scratch(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed lies in the system's folder for such things.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

pub fn aclrtcCompileProg(
    cx: &Cx<'_>,
    handle: Raw,
    number: i32,
    options: Option<&[Option<&CStr>]>,
) -> Result<()> {
    let program = program(cx, handle)?;
    if number < 0 {
        return refuse(ErrorKind::CompilerInput, format!("numOptions is {number}"));
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
    for (expression, lowered) in &mut state.names {
        let text = expression.to_string_lossy();
        let wanted = text.trim().trim_start_matches('&').trim();
        let found = exported.iter().any(|name| name == wanted);
        *lowered = found.then(|| CString::new(wanted).unwrap_or_default());
    }
    state.binary = Some(binary);
    Ok(())
}

/// Runs the compiler. Gives its messages, and the binary if it made one.
fn compile(program: &Program, options: &[String]) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    let compiler = compiler()?;
    let failed = |error: std::io::Error| {
        Error::new(
            ErrorKind::CompilerMissing,
            format!("{} could not be compiled: {error}", program.name),
        )
    };
    let scratch = Scratch::new().map_err(failed)?;
    // Messages name the program as the caller does, without a folder.
    let file = Path::new(&program.name)
        .file_name()
        .map_or_else(|| PathBuf::from("program"), PathBuf::from);
    let write = |name: &Path, bytes: &[u8]| std::fs::write(scratch.0.join(name), bytes);
    write(Path::new("jumar/kernel.h"), KERNEL_HEADER.as_bytes()).map_err(failed)?;
    write(&file, &program.source).map_err(failed)?;
    let output = Command::new(compiler)
        .args(OPTIONS)
        .args(["-I", "."])
        .args(options)
        .arg("-o")
        .arg("program.so")
        .arg(&file)
        .current_dir(&scratch.0)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    let log = [output.stdout, output.stderr].concat();
    let binary = match output.status.success() {
        true => Some(std::fs::read(scratch.0.join("program.so")).map_err(failed)?),
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
    state.names.push((name.to_owned(), None));
    Ok(())
}

/// The text lives as long as the program.
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
        .find(|(known, _)| known.as_c_str() == name);
    match found {
        Some((_, Some(lowered))) => Ok(lowered.as_ptr().expose_provenance()),
        Some((_, None)) => Err(Error::new(
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
