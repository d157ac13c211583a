//! aclInit and aclFinalize, versions.

use std::ffi::{CStr, CString};

use jumar::engine::sync::{MutexGuard, thread};
use jumar::toolkit::Release;
use jumar_types::{Error, ErrorKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::hooks::{FinalizeHook, InitHook, TypedFunctions};
use crate::process::Process;
use crate::{Cx, configuration, refuse};

/// What initialisation remembers for the life of the process.
#[derive(Default)]
pub struct State {
    count: u64,
    /// Set by the first finalise: from then on a second one is refused until the next aclInit.
    finalized: bool,
    /// The content of the configuration that the first successful call used.
    configuration: Option<String>,
    /// The thread that initialises or finalises now.
    busy: Option<thread::ThreadId>,
}

/// The right to initialise or finalise: one thread has it at a time. The lock itself is not held while functions of the
/// program run.
struct InitLock(&'static Process);

impl InitLock {
    /// Waits for the turn. A function that initialising or finalising calls is not made to wait for itself.
    fn take(cx: &Cx<'_>, inside: ErrorKind) -> Result<InitLock> {
        let this = thread::current().id();
        let mut state = cx.process.init.lock();
        while let Some(busy) = state.busy {
            if busy == this {
                return refuse(
                    inside,
                    "the call was made inside a function that is registered for initialisation or finalisation",
                );
            }
            state = cx.process.init_done.wait(state);
        }
        state.busy = Some(this);
        Ok(InitLock(cx.process))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.init.lock()
    }
}

impl Drop for InitLock {
    fn drop(&mut self) {
        self.state().busy = None;
        self.0.init_done.notify_all();
    }
}

pub fn aclInit(cx: &Cx<'_>, path: Option<&CStr>) -> Result<()> {
    cx.process.refuse_if_forked()?;
    let turn = InitLock::take(cx, ErrorKind::RepeatInitialize)?;
    {
        let mut state = turn.state();
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
    }
    let text = match path.filter(|path| !path.is_empty()) {
        None => String::new(),
        Some(path) => configuration::read(path)?,
    };
    let configuration = configuration::parse(&text)?;
    if let Some(earlier) = &turn.state().configuration
        && *earlier != text
    {
        return refuse(
            ErrorKind::InvalidArgument,
            "the configuration differs from that of the first initialisation; a process cannot change it",
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
    let argument = CString::new(text.as_str()).unwrap_or_default();
    // One that is registered meanwhile has its turn too.
    let mut last = 0;
    while let Some((serial, function)) = cx.process.hooks.init.after(last) {
        last = serial;
        answered(cx, function(&argument), "initialisation")?;
    }
    cx.process.set_default_device(configuration.default_device);
    cx.process.share_messages(configuration.share_messages);
    cx.process.dump.activate(configuration.dump);
    if let Some(wanted) = &configuration.profile {
        cx.process.prof.begin_from_outside(cx, wanted)?;
    }
    let mut state = turn.state();
    state.configuration.get_or_insert(text);
    state.count = 1;
    state.finalized = false;
    drop(state);
    cx.process.set_initialized(true);
    crate::log::loaded(cx);
    Ok(())
}

/// A function of the program that answers anything but 0 makes the call fail with that very code.
fn answered(cx: &Cx<'_>, code: i32, during: &str) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    cx.thread.foreign_code.set(code);
    refuse(
        ErrorKind::Failure,
        format!("a function registered for {during} returned {code}; it must return 0"),
    )
}

pub fn aclFinalize(cx: &Cx<'_>) -> Result<()> {
    let turn = InitLock::take(cx, ErrorKind::RepeatFinalize)?;
    let state = turn.state();
    if state.finalized && state.count == 0 {
        return refuse(
            ErrorKind::RepeatFinalize,
            "the runtime was finalised already",
        );
    }
    drop(state);
    finalize(cx, &turn)
}

pub fn aclFinalizeReference(cx: &Cx<'_>) -> Result<u64> {
    let turn = InitLock::take(cx, ErrorKind::RepeatFinalize)?;
    let mut state = turn.state();
    match state.count {
        0 => refuse(
            ErrorKind::RepeatFinalize,
            "the runtime is not initialised, so there is no reference to release",
        ),
        1 => {
            drop(state);
            finalize(cx, &turn).map(|()| 0)
        }
        _ => {
            state.count -= 1;
            Ok(state.count)
        }
    }
}

/// The teardown is complete whatever the functions answer; the first failure among them is what the call answers.
fn finalize(cx: &Cx<'_>, turn: &InitLock) -> Result<()> {
    let mut result = Ok(());
    // The last that was registered may lean on the ones before it.
    for function in cx.process.hooks.finalize.all().into_iter().rev() {
        result = result.and_then(|()| answered(cx, function(), "finalising"));
    }
    let mut state = turn.state();
    state.count = 0;
    state.finalized = true;
    drop(state);
    cx.process.set_initialized(false);
    cx.process.set_default_device(None);
    cx.process.share_messages(false);
    cx.process.dump.activate(None);
    cx.process.prof.end_from_outside();
    cx.process.snapshot.reset();
    jumar::trace_flush();
    result
}

/// Several functions can be registered as "other"; of every other type there is one.
fn taken(kind: u32, address: usize) -> impl Fn(u32, usize) -> bool {
    move |other, at| other == kind && (kind != enums::ACL_REG_TYPE_OTHER || at == address)
}

fn register<F: Clone>(
    hooks: &TypedFunctions<F>,
    kind: u32,
    function: Option<(usize, F)>,
) -> Result<F> {
    let (address, function) = function.ok_or_else(|| null("cbFunc"))?;
    if hooks.add(kind, address, function.clone(), taken(kind, address)) {
        return Ok(function);
    }
    refuse(
        ErrorKind::Internal,
        format!("a function of type {kind} is registered already"),
    )
}

fn unregister<F: Clone>(hooks: &TypedFunctions<F>, kind: u32, address: usize) -> Result<()> {
    if address == 0 {
        return Err(null("cbFunc"));
    }
    if hooks.remove(kind, address) {
        return Ok(());
    }
    refuse(
        ErrorKind::InvalidArgument,
        format!("the function is not registered for type {kind}"),
    )
}

/// Registered after aclInit, the function is called at once. A failure then takes it away again.
pub fn aclInitCallbackRegister(
    cx: &Cx<'_>,
    kind: u32,
    function: Option<(usize, InitHook)>,
) -> Result<()> {
    let address = function.as_ref().map_or(0, |(address, _)| *address);
    let function = register(&cx.process.hooks.init, kind, function)?;
    if !cx.process.is_initialized() {
        return Ok(());
    }
    let text = cx.process.init.lock().configuration.clone();
    let text = CString::new(text.unwrap_or_default()).unwrap_or_default();
    answered(cx, function(&text), "initialisation").inspect_err(|_| {
        cx.process.hooks.init.remove(kind, address);
    })
}

pub fn aclInitCallbackUnRegister(cx: &Cx<'_>, kind: u32, address: usize) -> Result<()> {
    unregister(&cx.process.hooks.init, kind, address)
}

pub fn aclFinalizeCallbackRegister(
    cx: &Cx<'_>,
    kind: u32,
    function: Option<(usize, FinalizeHook)>,
) -> Result<()> {
    register(&cx.process.hooks.finalize, kind, function).map(drop)
}

pub fn aclFinalizeCallbackUnRegister(cx: &Cx<'_>, kind: u32, address: usize) -> Result<()> {
    unregister(&cx.process.hooks.finalize, kind, address)
}

/// What programs ask the toolkit for: infinities and NaN in computations, bfloat16, operators compiled as they come.
static ATTRIBUTES: [i32; 3] = [
    enums::ACL_CANN_ATTR_INF_NAN,
    enums::ACL_CANN_ATTR_BF16,
    enums::ACL_CANN_ATTR_JIT_COMPILE,
];

pub fn aclGetCannAttributeList(_cx: &Cx<'_>) -> Result<(usize, usize)> {
    Ok((ATTRIBUTES.as_ptr().expose_provenance(), ATTRIBUTES.len()))
}

pub fn aclGetCannAttribute(_cx: &Cx<'_>, attribute: i32) -> Result<i32> {
    if ATTRIBUTES.contains(&attribute) {
        return Ok(1);
    }
    refuse(
        ErrorKind::InvalidArgument,
        crate::not_a_value("aclCannAttr", attribute),
    )
}

pub fn aclrtGetSocName(cx: &Cx<'_>) -> Result<usize> {
    let settings = cx.process.settings()?;
    if settings.visible_devices().is_empty() {
        cx.runtime()?.device(0)?;
    }
    // The name of a device never changes, so that one text serves every call.
    static NAME: std::sync::OnceLock<CString> = std::sync::OnceLock::new();
    let name =
        NAME.get_or_init(|| CString::new(settings.profile.soc_name.as_str()).unwrap_or_default());
    Ok(name.as_ptr().expose_provenance())
}

pub fn aclrtGetVersion(_cx: &Cx<'_>) -> Result<(i32, i32, i32)> {
    Ok((
        enums::ACL_MAJOR_VERSION,
        enums::ACL_MINOR_VERSION,
        enums::ACL_PATCH_VERSION,
    ))
}

/// Returns the release of a package: all are of one release, and the driver has a numbering of its own.
fn release_of(name: Option<&CStr>) -> Result<Release> {
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
        "ops_math",
        "ops_nn",
        "ops_transformer",
        "ops_cv",
        "ops_legacy",
    ];
    let shown = name.to_string_lossy();
    // Programs write the names in capitals too.
    let lower = shown.to_ascii_lowercase();
    if lower == "driver" {
        return Ok(Release::from_environment()?.driver());
    }
    if known.contains(&lower.as_str()) {
        return Release::from_environment();
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
    let release = release_of(package)?;
    Ok(CString::new(release.text).unwrap_or_default())
}

pub fn aclsysGetVersionNum(_cx: &Cx<'_>, package: Option<&CStr>) -> Result<i32> {
    release_of(package).map(|release| release.number())
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
        _ => Err(bad(crate::not_a_value("aclDeviceInfo", info))),
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
            crate::not_a_value("aclCANNPackageName", package),
        );
    }
    let mut release = Release::from_environment()?;
    if package == enums::ACL_PKG_NAME_DRIVER {
        release = release.driver();
    }
    let mut version = types::aclCANNPackageVersion::ZERO;
    version.version = put_text(&release.text);
    version.majorVersion = put_text(&release.major.to_string());
    version.minorVersion = put_text(&release.minor.to_string());
    version.patchVersion = put_text(&release.patch.to_string());
    if let Some(candidate) = release.candidate {
        version.releaseVersion = put_text(&format!("RC{candidate}"));
    }
    Ok(version)
}
