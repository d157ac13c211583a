//! Kernel binaries: described, loaded, unloaded.

use std::collections::HashMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{CodeForm, CodeImage};
use jumar_types::{Error, ErrorKind, Result};
use serde_json::Value;

use super::{device, value};
use crate::error::{ExceptionCallback, null};
use crate::files;
use crate::generated::{enums, types};
use crate::{Cx, Raw, refuse};

/// A binary in the program's memory, as aclrtCreateBinary took it.
pub(super) struct Description {
    id: u64,
    bytes: Arc<[u8]>,
}

/// The operators of binaries for the device's own CPU, by the binary's handle: names, and the functions behind them.
pub(super) type Operators = Mutex<HashMap<u64, HashMap<String, String>>>;

/// The callbacks for failures, by the binary's handle.
pub(crate) type Watchers = Mutex<HashMap<u64, ExceptionCallback>>;

/// The kinds of cores that a binary can be for; `ACL_FUNC_ATTR_KERNEL_TYPE` answers these numbers.
pub(super) mod core_type {
    pub(in crate::runtime::kernel) const AICORE: u32 = 0;
    pub(in crate::runtime::kernel) const CUBE: u32 = 1;
    pub(in crate::runtime::kernel) const VECTOR: u32 = 2;
    pub(in crate::runtime::kernel) const AICPU: u32 = 100;
}

mod magic {
    pub(super) const AICORE: u32 = 0x4355_4245;
    pub(super) const VECTOR: u32 = 0x4141_5246;
    pub(super) const CUBE: u32 = 0x4149_4343;
}

fn core_type_of(magic: u32) -> Option<u32> {
    match magic {
        magic::AICORE => Some(core_type::AICORE),
        magic::VECTOR => Some(core_type::VECTOR),
        magic::CUBE => Some(core_type::CUBE),
        _ => None,
    }
}

pub fn aclrtCreateBinary(cx: &Cx<'_>, data: Option<&[u8]>, _length: usize) -> Result<Raw> {
    let Some(data) = data else {
        return Err(null("data"));
    };
    let bytes: Arc<[u8]> = data.into();
    let made = cx
        .process
        .kernels
        .binaries
        .insert(|id| Arc::new(Description { id, bytes }))?;
    Ok(Raw(made.id))
}

pub fn aclrtDestroyBinary(cx: &Cx<'_>, binary: Raw) -> Result<()> {
    cx.process
        .kernels
        .binaries
        .remove(binary.0, cx.call.name)
        .map(drop)
}

pub fn aclrtBinaryLoad(cx: &Cx<'_>, binary: Raw) -> Result<Raw> {
    let description = cx.process.kernels.binaries.get(binary.0)?;
    let device = device(cx)?;
    if description.bytes.is_empty() {
        return value("the binary has 0 bytes");
    }
    let image = CodeImage {
        bytes: description.bytes.clone(),
        file: None,
    };
    let runtime = cx.runtime()?;
    let loaded = runtime.add_binary(image, CodeForm::Kernel, core_type::AICORE)?;
    if let Err(error) = loaded.load(device) {
        runtime.unload_binary(loaded.id(), &cx.caller())?;
        return Err(error);
    }
    Ok(Raw(loaded.id()))
}

/// What the options of a load ask for.
#[derive(Default)]
struct Options {
    core_type: Option<u32>,
    cpu_mode: Option<i32>,
}

/// Reads the options of a load; `None` means no options.
fn options(given: Option<Option<&[types::aclrtBinaryLoadOption]>>) -> Result<Options> {
    let mut options = Options::default();
    let Some(list) = given else {
        return Ok(options);
    };
    let Some(list) = list else {
        return value("options has no array of options");
    };
    for option in list {
        match option.r#type {
            enums::ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD => {
                let lazy = option.value.isLazyLoad();
                if lazy > 1 {
                    return value(format!("isLazyLoad is {lazy}; it must be 0 or 1"));
                }
            }
            enums::ACL_RT_BINARY_LOAD_OPT_MAGIC => {
                let magic = option.value.magic();
                options.core_type = Some(core_type_of(magic).ok_or_else(|| {
                    Error::new(
                        ErrorKind::InvalidValue,
                        format!(
                            "{magic:#x} is not one of the three ACL_RT_BINARY_MAGIC_ELF_ values"
                        ),
                    )
                })?);
            }
            enums::ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE => {
                options.cpu_mode = Some(option.value.cpuKernelMode());
            }
            other => {
                return value(crate::not_a_value("aclrtBinaryLoadOptionType", other));
            }
        }
    }
    Ok(options)
}

pub fn aclrtBinaryLoadFromFile(
    cx: &Cx<'_>,
    path: Option<&CStr>,
    given: Option<Option<&[types::aclrtBinaryLoadOption]>>,
) -> Result<Raw> {
    let Some(path) = path else {
        return Err(null("binPath"));
    };
    let options = options(given)?;
    let path = PathBuf::from(&*path.to_string_lossy());
    match options.cpu_mode {
        None => {
            let facts = facts_beside(&path)?;
            let core_type = facts.or(options.core_type).unwrap_or(core_type::AICORE);
            add(cx, read(&path)?, Some(path), CodeForm::Kernel, core_type)
        }
        Some(mode @ (0 | 1)) => {
            // In mode 0 the path is the description's, and the library is the one that the description names.
            let description = path.with_extension("json");
            let (operators, library) = operators(&description)?;
            let library = match mode {
                1 => path,
                _ => description.with_file_name(library),
            };
            let binary = add(
                cx,
                read(&library)?,
                Some(library),
                CodeForm::Status,
                core_type::AICPU,
            )?;
            cx.process
                .kernels
                .operators
                .lock()
                .insert(binary.0, operators);
            Ok(binary)
        }
        Some(mode) => value(format!(
            "cpuKernelMode is {mode}; for a file it has to be 0 or 1"
        )),
    }
}

pub fn aclrtBinaryLoadFromData(
    cx: &Cx<'_>,
    data: Option<&[u8]>,
    given: Option<Option<&[types::aclrtBinaryLoadOption]>>,
) -> Result<Raw> {
    let Some(data) = data else {
        return Err(null("data"));
    };
    if data.is_empty() {
        return value("the binary has 0 bytes");
    }
    let options = options(given)?;
    match options.cpu_mode {
        None => {
            let core_type = options.core_type.unwrap_or(core_type::AICORE);
            let image = CodeImage {
                bytes: data.into(),
                file: None,
            };
            let runtime = cx.runtime()?;
            let added = runtime.add_binary_of_any_device(image, CodeForm::Kernel, core_type)?;
            Ok(Raw(added.id()))
        }
        Some(2) => add(cx, data.into(), None, CodeForm::Status, core_type::AICPU),
        Some(mode) => value(format!("cpuKernelMode is {mode}; for data it has to be 2")),
    }
}

/// Longer files are not read as kernel binaries: code is addressed within 2 GiB.
const MOST_BINARY_BYTES: u64 = 2 << 30;
/// Longer files are not read as descriptions.
const MOST_DESCRIPTION_BYTES: u64 = 64 << 20;

fn read(path: &Path) -> Result<Arc<[u8]>> {
    let bytes = files::read(path, MOST_BINARY_BYTES).map_err(|why| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("the kernel binary {} {why}", path.display()),
        )
    })?;
    Ok(bytes.into())
}

fn add(
    cx: &Cx<'_>,
    bytes: Arc<[u8]>,
    file: Option<PathBuf>,
    form: CodeForm,
    core_type: u32,
) -> Result<Raw> {
    let shown = file.as_ref().map(|file| file.display().to_string());
    let added = cx
        .runtime()?
        .add_binary(CodeImage { bytes, file }, form, core_type);
    match (added, shown) {
        (Ok(binary), _) => Ok(Raw(binary.id())),
        (Err(error), None) => Err(error),
        (Err(error), Some(shown)) => {
            let named = Error::new(error.kind(), format!("{shown}: {}", error.sentence()));
            Err(match error.advice() {
                Some(advice) => named.fix(advice),
                None => named,
            })
        }
    }
}

/// Reads the description beside a binary, if there is one. Returns the core type that it names. A damaged one counts as
/// none.
fn facts_beside(path: &Path) -> Result<Option<u32>> {
    let beside = path.with_extension("json");
    if beside == *path {
        return Ok(None);
    }
    let text = files::read_text(&beside, MOST_DESCRIPTION_BYTES).unwrap_or_default();
    let Ok(facts) = serde_json::from_str::<Value>(&text) else {
        return Ok(None);
    };
    let prints = |options: &Value| match options {
        Value::String(text) => text.contains("printf"),
        Value::Array(list) => list
            .iter()
            .any(|one| one.as_str().is_some_and(|text| text.contains("printf"))),
        _ => false,
    };
    if facts.get("debugOptions").is_some_and(prints) {
        return value(format!(
            "{} asks for kernels that print (debugOptions), which cannot be loaded this way",
            beside.display()
        ));
    }
    Ok(match facts.get("magic").and_then(Value::as_str) {
        Some("RT_DEV_BINARY_MAGIC_ELF") => Some(core_type::AICORE),
        Some("RT_DEV_BINARY_MAGIC_ELF_AIVEC") => Some(core_type::VECTOR),
        Some("RT_DEV_BINARY_MAGIC_ELF_AICUBE") => Some(core_type::CUBE),
        _ => None,
    })
}

/// Reads the operators of a library for the device's own CPU: names with the functions behind them, and the library's name.
fn operators(path: &Path) -> Result<(HashMap<String, String>, String)> {
    let bad = |what: String| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("the operator description {} {what}", path.display()),
        )
    };
    let text = files::read_text(path, MOST_DESCRIPTION_BYTES).map_err(bad)?;
    let description: Value =
        serde_json::from_str(&text).map_err(|error| bad(format!("is not JSON: {error}")))?;
    let Value::Object(description) = description else {
        return Err(bad("is not an object of operators".into()));
    };
    let mut operators = HashMap::new();
    let mut library = String::new();
    for (name, operator) in &description {
        let Some(info) = operator.get("opInfo") else {
            continue;
        };
        let field = |key: &str| info.get(key).and_then(Value::as_str);
        if let Some(function) = field("functionName") {
            operators.insert(name.clone(), function.to_owned());
        }
        if let Some(named) = field("kernelSo") {
            named.clone_into(&mut library);
        }
    }
    Ok((operators, library))
}

/// The function behind an operator of a binary.
pub(super) fn function_of(cx: &Cx<'_>, binary: Raw, name: &str) -> Option<String> {
    let operators = cx.process.kernels.operators.lock();
    operators.get(&binary.0)?.get(name).cloned()
}

pub fn aclrtBinaryUnLoad(cx: &Cx<'_>, binary: Raw) -> Result<()> {
    cx.runtime()?.unload_binary(binary.0, &cx.caller())?;
    cx.process.kernels.operators.lock().remove(&binary.0);
    cx.process.kernels.watchers.lock().remove(&binary.0);
    Ok(())
}

pub fn aclrtBinaryGetDevAddress(cx: &Cx<'_>, binary: Raw) -> Result<(usize, usize)> {
    if binary.is_null() {
        return refuse(ErrorKind::InvalidArgument, "binHandle is null");
    }
    let binary = cx.runtime()?.binary(binary.0)?;
    let image = binary.image(device(cx)?)?;
    Ok((image.address(), image.bytes()))
}

/// The address, the size, or both are wanted.
pub fn aclrtBinaryGetGlobal(
    cx: &Cx<'_>,
    binary: Raw,
    name: Option<&CStr>,
) -> Result<(usize, usize)> {
    let Some(name) = name else {
        return Err(null("name"));
    };
    let binary = cx.runtime()?.binary(binary.0)?;
    if binary.form() == CodeForm::Status {
        return refuse(
            ErrorKind::FeatureUnsupported,
            "a binary for the device's own CPU has no variables that the host may name",
        );
    }
    let found = binary.variable(&name.to_string_lossy(), device(cx)?)?;
    Ok((found.address(), found.bytes()))
}

/// The function gets the handle of the exception information; the last registration counts.
pub fn aclrtBinarySetExceptionCallback(
    cx: &Cx<'_>,
    binary: Raw,
    callback: Option<ExceptionCallback>,
) -> Result<()> {
    cx.runtime()?.binary(binary.0)?;
    let mut watchers = cx.process.kernels.watchers.lock();
    match callback {
        Some(callback) => drop(watchers.insert(binary.0, callback)),
        None => drop(watchers.remove(&binary.0)),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_length_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo").success());
        let long = folder.path().join("long");
        let file = std::fs::File::create(&long).expect("a file");
        file.set_len(MOST_BINARY_BYTES + 1)
            .expect("a file with a hole");
        for (path, why) in [
            (pipe.as_path(), "is not a regular file"),
            (Path::new("/dev/zero"), "is not a regular file"),
            (folder.path(), "is not a regular file"),
            (long.as_path(), "has 2147483649 bytes"),
            (&folder.path().join("none"), "cannot be read"),
        ] {
            let error = read(path).expect_err("refused");
            assert_eq!(error.kind(), ErrorKind::InvalidValue);
            assert!(error.to_string().contains(why), "{error}");
        }
        let short = folder.path().join("short");
        std::fs::write(&short, b"bytes").expect("a file");
        assert_eq!(&*read(&short).expect("it is read"), b"bytes");
        assert_eq!(
            files::read_text(&pipe, MOST_DESCRIPTION_BYTES),
            Err("is not a regular file".to_owned())
        );
    }
}
