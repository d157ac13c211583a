//! aclInit and aclFinalize, the configuration file, versions.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::Read;

use jumar_types::{Error, ErrorKind, Result};

use crate::generated::{enums, types};
use crate::{Cx, refuse};

/// What initialisation remembers for the life of the process.
#[derive(Default)]
pub struct State {
    count: u64,
    /// Set by the first finalise: from then on a second one is refused until the next aclInit.
    finalized: bool,
    /// The content of the configuration that the first successful call used.
    configuration: Option<String>,
}

/// What a configuration file asks for.
#[derive(Default)]
struct Configuration {
    share_messages: bool,
    default_device: Option<i32>,
}

/// Largest configuration file.
const MAX_FILE_BYTES: u64 = 10 << 20;
/// Deepest nesting of objects, and of arrays.
const MAX_NESTING: usize = 10;

pub fn aclInit(cx: &Cx<'_>, path: Option<&CStr>) -> Result<()> {
    let mut state = cx.process.init.lock();
    if state.count > 0 {
        state.count += 1;
        return refuse(
            ErrorKind::RepeatInitialize,
            format!(
                "the runtime is initialised already; this is call number {}",
                state.count
            ),
        );
    }
    let text = match path.filter(|path| !path.is_empty()) {
        None => String::new(),
        Some(path) => read_file(path)?,
    };
    let configuration = parse(&text)?;
    if let Some(earlier) = &state.configuration
        && *earlier != text
    {
        return refuse(
            ErrorKind::InvalidArgument,
            "the configuration differs from the one that the process was first initialised with; it is fixed for the process's life",
        );
    }
    if let Some(device) = configuration.default_device {
        cx.runtime()?.device(i64::from(device)).map_err(|cause| {
            Error::new(
                ErrorKind::Failure,
                format!("the default device {device} cannot be used"),
            )
            .caused_by(cause)
        })?;
    }
    cx.process.set_default_device(configuration.default_device);
    cx.process.share_messages(configuration.share_messages);
    state.configuration.get_or_insert(text);
    state.count = 1;
    state.finalized = false;
    cx.process.set_initialized(true);
    crate::log::loaded_once(cx);
    Ok(())
}

pub fn aclFinalize(cx: &Cx<'_>) -> Result<()> {
    let mut state = cx.process.init.lock();
    if state.finalized && state.count == 0 {
        return refuse(
            ErrorKind::RepeatFinalize,
            "the runtime was finalised already",
        );
    }
    finalize(cx, &mut state);
    Ok(())
}

pub fn aclFinalizeReference(cx: &Cx<'_>) -> Result<u64> {
    let mut state = cx.process.init.lock();
    match state.count {
        0 => refuse(
            ErrorKind::RepeatFinalize,
            "the runtime is not initialised, so there is no reference to give back",
        ),
        1 => {
            finalize(cx, &mut state);
            Ok(0)
        }
        _ => {
            state.count -= 1;
            Ok(state.count)
        }
    }
}

fn finalize(cx: &Cx<'_>, state: &mut State) {
    state.count = 0;
    state.finalized = true;
    cx.process.set_initialized(false);
    cx.process.set_default_device(None);
    cx.process.share_messages(false);
    jumar::trace_flush();
}

fn read_file(path: &CStr) -> Result<String> {
    let shown = path.to_string_lossy();
    let bad = |what: String| {
        Error::new(
            ErrorKind::InvalidFile,
            format!("the configuration file {shown} {what}"),
        )
    };
    let path = path
        .to_str()
        .map_err(|_| bad("has a name that is not UTF-8".into()))?;
    let data = fs::metadata(path).map_err(|error| bad(format!("cannot be found: {error}")))?;
    if !data.is_file() {
        return Err(bad("is not a regular file".into()));
    }
    if data.len() > MAX_FILE_BYTES {
        return Err(bad(format!(
            "has {} bytes; at most {MAX_FILE_BYTES} are read",
            data.len()
        )));
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|error| bad(format!("cannot be opened: {error}")))?;
    file.take(MAX_FILE_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => Error::new(
                ErrorKind::ParseFile,
                format!("the configuration file {shown} is not UTF-8 text"),
            ),
            _ => bad(format!("cannot be read: {error}")),
        })?;
    Ok(text)
}

fn parse(text: &str) -> Result<Configuration> {
    if text.trim().is_empty() {
        return Ok(Configuration::default());
    }
    let bad = |what: String| Error::new(ErrorKind::ParseFile, what);
    let value: serde_json::Value = serde_json::from_str(text)
        .map_err(|error| bad(format!("the configuration is not valid JSON: {error}")))?;
    check_nesting(&value, 0, 0)?;
    let mut configuration = Configuration::default();
    match value.get("err_msg_mode") {
        None => {}
        Some(mode) => match mode.as_str() {
            Some("0") => {}
            Some("1") => configuration.share_messages = true,
            _ => {
                return refuse(
                    ErrorKind::InvalidArgument,
                    format!(
                        "err_msg_mode is {mode}; it has to be \"0\" (per thread) or \"1\" (for the process)"
                    ),
                );
            }
        },
    }
    if let Some(section) = value.get("defaultDevice") {
        let given = section.get("default_device");
        let device = given
            .and_then(|given| given.as_str())
            .and_then(plain_number);
        configuration.default_device = Some(device.ok_or_else(|| {
            let shown = given.map_or_else(|| "missing".to_owned(), ToString::to_string);
            Error::new(
                ErrorKind::Failure,
                format!("defaultDevice.default_device is {shown}; it has to be a string with a device number, as \"0\""),
            )
        })?);
    }
    Ok(configuration)
}

/// Reads a decimal number without sign, blanks or leading zeros.
fn plain_number(text: &str) -> Option<i32> {
    let plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn check_nesting(value: &serde_json::Value, objects: usize, arrays: usize) -> Result<()> {
    if objects > MAX_NESTING || arrays > MAX_NESTING {
        return refuse(
            ErrorKind::ParseFile,
            format!("the configuration nests objects or arrays more than {MAX_NESTING} deep"),
        );
    }
    match value {
        serde_json::Value::Object(map) => map
            .values()
            .try_for_each(|inner| check_nesting(inner, objects + 1, arrays)),
        serde_json::Value::Array(list) => list
            .iter()
            .try_for_each(|inner| check_nesting(inner, objects, arrays + 1)),
        _ => Ok(()),
    }
}

pub fn aclrtGetSocName(cx: &Cx<'_>) -> Result<usize> {
    let device = cx.runtime()?.device(0)?;
    // The name of a device never changes, so that one text serves every call.
    static NAME: std::sync::OnceLock<CString> = std::sync::OnceLock::new();
    let name =
        NAME.get_or_init(|| CString::new(device.profile().soc_name.as_str()).unwrap_or_default());
    Ok(name.as_ptr().expose_provenance())
}

pub fn aclrtGetVersion(_cx: &Cx<'_>) -> Result<(i32, i32, i32)> {
    Ok((
        enums::ACL_MAJOR_VERSION,
        enums::ACL_MINOR_VERSION,
        enums::ACL_PATCH_VERSION,
    ))
}

/// The release of the vendor's toolkit whose interface the API data describes; programs compare against it.
const TOOLKIT: (i32, i32, i32) = (8, 5, 0);

fn package_is_known(name: Option<&CStr>) -> Result<()> {
    let name = name.ok_or_else(|| Error::new(ErrorKind::NullPointer, "pkgName is null"))?;
    let known = [
        "runtime",
        "compiler",
        "opp",
        "toolkit",
        "cann",
        "driver",
        "hccl",
        "opp_kernel",
        "toolkit-kernel",
    ];
    let shown = name.to_string_lossy();
    if known.contains(&shown.as_ref()) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidFile,
        format!(
            "no package \"{shown}\" is installed; known are {}",
            known.join(", ")
        ),
    )
}

pub fn aclsysGetVersionStr(_cx: &Cx<'_>, package: Option<&CStr>) -> Result<CString> {
    package_is_known(package)?;
    let (major, minor, patch) = TOOLKIT;
    Ok(CString::new(format!("{major}.{minor}.{patch}")).unwrap_or_default())
}

pub fn aclsysGetVersionNum(_cx: &Cx<'_>, package: Option<&CStr>) -> Result<i32> {
    package_is_known(package)?;
    let (major, minor, patch) = TOOLKIT;
    Ok(major * 10_000_000 + minor * 100_000 + patch * 1000)
}

pub fn aclGetDeviceCapability(cx: &Cx<'_>, device: u32, info: i32) -> Result<i64> {
    let bad = |what: String| Error::new(ErrorKind::InvalidArgument, what);
    let device = cx
        .runtime()?
        .device(i64::from(device))
        .map_err(|error| bad(error.to_string()))?;
    let profile = device.profile();
    match info {
        enums::ACL_DEVICE_INFO_AI_CORE_NUM => Ok(i64::from(profile.cube_cores)),
        enums::ACL_DEVICE_INFO_VECTOR_CORE_NUM => Ok(i64::from(profile.vector_cores)),
        enums::ACL_DEVICE_INFO_L2_SIZE => Ok(192 << 20),
        _ => Err(bad(format!("{info} is no value of aclDeviceInfo"))),
    }
}

/// Copies a text into a field of fixed size, cut so that a zero byte stays.
pub(crate) fn put_text<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [0; N];
    let mut cut = text.len().min(N - 1);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    field[..cut].copy_from_slice(&text.as_bytes()[..cut]);
    field
}

pub fn aclsysGetCANNVersion(_cx: &Cx<'_>, package: u32) -> Result<types::aclCANNPackageVersion> {
    if package > enums::ACL_PKG_NAME_DRIVER {
        return refuse(
            ErrorKind::InvalidArgument,
            format!("{package} is no value of aclCANNPackageName"),
        );
    }
    let (major, minor, patch) = TOOLKIT;
    let mut version = types::aclCANNPackageVersion::ZERO;
    version.version = put_text(&format!("{major}.{minor}.{patch}"));
    version.majorVersion = put_text(&major.to_string());
    version.minorVersion = put_text(&minor.to_string());
    version.patchVersion = put_text(&patch.to_string());
    Ok(version)
}
