//! Operators that are called by their type, with descriptions of their tensors and a set of attributes.
//!
//! A call is a `request::Request`: its descriptions, constants and attributes, copied. The `registry` compiles it once, through the
//! lowering of the Graph Engine, and keeps what came out under the request's key; `execute` binds that to memory and
//! queues it. Which operators a program may run without compiling them (`aclopCompile`, `aclopLoad`, `aclopSetModelDir`) is
//! the registry's `registry::Available`.

mod attributes;
mod describe;
mod execute;
mod handle;
mod registry;
mod request;

use std::ffi::CStr;
use std::path::PathBuf;

use jumar::engine::Table;
use jumar::engine::sync::Mutex;
use jumar::offline::graph::GraphErrorKind;
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

pub use attributes::*;
pub use execute::*;
pub use handle::*;

pub(crate) use execute::{Memory, run_known};
pub(crate) use handle::create_known;
pub(crate) use request::{Request, Tensor};

/// What a process has of single operators.
pub struct State {
    attributes: Table<Attributes>,
    handles: Table<Handle>,
    registry: Mutex<registry::Registry>,
    /// The folder of aclopSetModelDir, once it was set.
    folder: Mutex<Option<PathBuf>>,
}

impl Default for State {
    fn default() -> Self {
        State {
            attributes: Table::new(IdKind::OperatorAttributes, Default::default()),
            handles: Table::new(IdKind::OperatorHandle, Default::default()),
            registry: Mutex::default(),
            folder: Mutex::default(),
        }
    }
}

/// Reads the type of an operator.
fn kind_of(kind: Option<&CStr>) -> Result<&str> {
    let kind = kind.ok_or_else(|| crate::error::null("opType"))?;
    kind.to_str().map_err(|_| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("opType \"{}\" is not UTF-8", kind.to_string_lossy()),
        )
    })
}

/// How deep below the folder of models files are looked for.
const DEEPEST: usize = 3;

pub fn aclopSetModelDir(cx: &Cx<'_>, folder: Option<&CStr>) -> Result<()> {
    let folder = folder.ok_or_else(|| crate::error::null("modelDir"))?;
    let folder = folder.to_str().map_err(|_| {
        Error::new(
            ErrorKind::InvalidFile,
            format!("modelDir \"{}\" is not UTF-8", folder.to_string_lossy()),
        )
    })?;
    let state = &cx.process.single_operators;
    if let Some(before) = &*state.folder.lock() {
        return Err(Error::new(
            ErrorKind::RepeatInitialize,
            format!("the folder of operators is {} already", before.display()),
        )
        .fix("Call aclopSetModelDir once in a process."));
    }
    let path = PathBuf::from(folder);
    let metadata = std::fs::metadata(&path).map_err(|error| {
        let sentence = format!("modelDir \"{folder}\" cannot be read: {error}");
        Error::new(ErrorKind::InvalidFile, sentence)
    })?;
    if !metadata.is_dir() {
        return refuse(
            ErrorKind::InvalidFile,
            format!("modelDir \"{folder}\" is not a folder"),
        );
    }
    let mut files = Vec::new();
    list(&path, DEEPEST, &mut files)?;
    files.sort();
    let mut found = Vec::new();
    let mut unread = files.is_empty();
    for file in files {
        let bytes = jumar::offline::graph::files::read(&file, LARGEST).map_err(|error| {
            let sentence = format!("{} cannot be read: {error}", file.display());
            Error::new(ErrorKind::OperatorLoad, sentence)
        })?;
        match jumar::offline::single_op::read(&bytes) {
            Ok(operator) => found.push(operator),
            // What other toolchains made has operators that are unknown here.
            Err(error) if error.kind() == GraphErrorKind::VendorFile => unread = true,
            Err(error) => {
                let sentence = format!("{}: {error}", file.display());
                return refuse(ErrorKind::OperatorLoad, sentence);
            }
        }
    }
    let mut set = state.folder.lock();
    if set.is_some() {
        return refuse(
            ErrorKind::RepeatInitialize,
            "the folder of operators was set by another thread meanwhile",
        );
    }
    *set = Some(path);
    drop(set);
    let mut registry = state.registry.lock();
    registry.available.any |= unread;
    for operator in found {
        registry.available.add(&operator);
    }
    Ok(())
}

/// The largest file of one operator: its constants are those of a description.
const LARGEST: u64 = 1 << 30;

/// Lists the operator files of a folder and the folders in it.
fn list(folder: &std::path::Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |error: std::io::Error| {
        let sentence = format!("{} cannot be read: {error}", folder.display());
        Error::new(ErrorKind::InvalidFile, sentence)
    };
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            if depth > 1 {
                list(&path, depth - 1, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "om") {
            files.push(path);
        }
    }
    Ok(())
}

pub fn aclopLoad(cx: &Cx<'_>, model: Option<&[u8]>, size: usize) -> Result<()> {
    let bytes = model.ok_or_else(|| crate::error::null("model"))?;
    if size == 0 {
        return refuse(ErrorKind::InvalidArgument, "modelSize is 0");
    }
    let operator = jumar::offline::single_op::read(bytes)
        .map_err(|error| Error::new(ErrorKind::OperatorLoad, error.to_string()))?;
    let mut registry = cx.process.single_operators.registry.lock();
    registry.available.add(&operator);
    Ok(())
}

pub fn aclopSetMaxOpQueueNum(cx: &Cx<'_>, most: u64) -> Result<()> {
    if most == 0 {
        return refuse(
            ErrorKind::InvalidArgument,
            "maxOpNum is 0; at least one operator has to be kept",
        );
    }
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    cx.process.single_operators.registry.lock().limit(most);
    Ok(())
}

/// Kernels exist for every shape, so that both flags do the same.
pub fn aclopSetCompileFlag(_cx: &Cx<'_>, flag: u32) -> Result<()> {
    if flag <= enums::ACL_OP_COMPILE_FUZZ {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("flag is {flag}; it must be ACL_OP_COMPILE_DEFAULT or ACL_OP_COMPILE_FUZZ"),
    )
}

/// Checks the arguments of a compilation that change nothing here.
fn check_compilation(engine: u32, flag: u32, path: Option<&CStr>) -> Result<()> {
    if engine > enums::ACL_ENGINE_VECTOR {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "engineType: {}",
                crate::not_a_value("aclopEngineType", engine)
            ),
        );
    }
    if flag > enums::ACL_COMPILE_UNREGISTERED {
        return refuse(
            ErrorKind::InvalidArgument,
            format!(
                "compileFlag: {}",
                crate::not_a_value("aclopCompileType", flag)
            ),
        );
    }
    match path {
        Some(path) if flag == enums::ACL_COMPILE_UNREGISTERED && !path.is_empty() => refuse(
            ErrorKind::NotImplemented,
            format!(
                "operators outside of the library are not compiled: opPath is \"{}\"",
                path.to_string_lossy()
            ),
        ),
        _ => Ok(()),
    }
}

#[expect(clippy::too_many_arguments, reason = "the C interface sets them")]
pub fn aclopCompile(
    cx: &Cx<'_>,
    kind: Option<&CStr>,
    input_count: i32,
    inputs: Option<&[Raw]>,
    output_count: i32,
    outputs: Option<&[Raw]>,
    attributes: Raw,
    engine: u32,
    flag: u32,
    path: Option<&CStr>,
) -> Result<()> {
    let request = Request::read(
        cx,
        kind_of(kind)?,
        (input_count, inputs),
        (output_count, outputs),
        attributes,
    )?;
    check_compilation(engine, flag, path)?;
    registry::compile_for_later(cx, &request)
}
