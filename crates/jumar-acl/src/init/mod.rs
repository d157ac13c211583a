//! aclInit and aclFinalize, versions.

mod configuration;

use std::ffi::{CStr, CString};

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
        Some(path) => configuration::read(path)?,
    };
    let configuration = configuration::parse(&text)?;
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
const TOOLKIT: (i32, i32, i32) = (8, 1, 0);

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
        enums::ACL_DEVICE_INFO_L2_SIZE => match profile.chip.l2_bytes {
            Some(bytes) => Ok(bytes as i64),
            None => Err(bad(format!(
                "the profile {} does not say how large the cache is",
                profile.soc_name
            ))),
        },
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
