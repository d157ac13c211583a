//! Kernels that programs register themselves: linked into them as code for the cores of a card, or compiled for this machine.
//!
//! A binary for this machine, as the compiler for Triton's kernels makes it, is loaded, and its kernels run. Registrations of a card's
//! code are accepted, so that a program that never launches such a kernel works. A launch returns an error that names the
//! kernel, and fails the stream as well: launchers that compilers generate drop the returned code, and their results would
//! otherwise be whatever the memory held before.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use jumar::TRITON_KERNELS;
use jumar::engine::sync::Mutex;
use jumar::engine::{Program, Span, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
use crate::kernel::{self, HostArguments};
use crate::{Cx, Raw};

/// The kinds of binaries, by the numbers with which their descriptions begin.
const KINDS: [(u32, &str); 3] = [
    (0x4355_4245, "matrix and vector cores"),
    (0x4141_5246, "vector cores"),
    (0x4149_4343, "matrix cores"),
];

/// A registered binary.
pub(crate) struct LinkedBinary {
    id: u64,
    magic: u32,
    bytes: u64,
    /// The loaded binary, if its code is for this machine.
    loaded: Option<Raw>,
}

/// What a host function stands for.
#[derive(Clone)]
enum RegisteredKernel {
    /// A kernel for the cores of a card.
    Name(String),
    /// A kernel of a loaded binary.
    Kernel { binary: Raw, name: CString },
}

/// What a process has registered.
pub(crate) struct Registry {
    binaries: Table<LinkedBinary>,
    /// Kernels by the address of the host function that stands for each.
    names: Mutex<HashMap<usize, RegisteredKernel>>,
}

impl Default for Registry {
    fn default() -> Self {
        Registry {
            binaries: Table::new(IdKind::Binary, Arc::default()),
            names: Mutex::default(),
        }
    }
}

/// Returns what a binary is, in words.
fn described(binary: &LinkedBinary) -> String {
    let kind = KINDS
        .iter()
        .find_map(|(magic, name)| (*magic == binary.magic).then_some(*name))
        .unwrap_or("cores");
    format!("a binary of {} bytes for {kind}", binary.bytes)
}

/// Returns whether a binary is a shared object for this machine's processor.
fn is_for_this_machine(bytes: &[u8]) -> bool {
    let machine: u16 = if cfg!(target_arch = "x86_64") {
        62
    } else {
        183
    };
    // An ELF file of 64 bits in this byte order; a shared object; the processor.
    bytes.len() > 64
        && bytes.starts_with(b"\x7fELF\x02\x01")
        && bytes[16..18] == 3_u16.to_le_bytes()
        && bytes[18..20] == machine.to_le_bytes()
}

/// Refuses a binary that another release compiled for Triton.
fn check_release(bytes: &[u8]) -> Result<()> {
    let (mark, release) = TRITON_KERNELS.split_at(TRITON_KERNELS.find(':').map_or(0, |at| at + 1));
    let Some(at) = bytes
        .windows(mark.len())
        .position(|part| part == mark.as_bytes())
    else {
        return Ok(());
    };
    let text = &bytes[at + mark.len()..];
    let text = &text[..text
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(text.len())];
    if text == release.as_bytes() {
        return Ok(());
    }
    let sentence = format!(
        "the kernel binary was compiled by release {} of Jumar's compiler for Triton, and this is release {release}",
        String::from_utf8_lossy(text)
    );
    Err(Error::new(ErrorKind::InvalidValue, sentence)
        .fix("Remove Triton's cache (~/.triton/cache, or the folder that TRITON_CACHE_DIR names), so that Triton compiles the kernel again."))
}

/// Registers a binary. One for this machine is loaded. A card's is not read. `code` is empty where nothing says that the bytes can be read.
///
/// # Errors
/// `NullPointer`; `InvalidValue`: another release compiled the binary, or it cannot be loaded; `OutOfMemory`: too many handles exist.
pub fn register(
    cx: &Cx<'_>,
    binary: Option<&types::rtDevBinary_t>,
    code: Option<&[u8]>,
) -> Result<Raw> {
    let binary = binary.ok_or_else(|| null("bin"))?;
    let (magic, bytes) = (binary.magic, binary.length);
    let loaded = match code.filter(|code| is_for_this_machine(code)) {
        Some(code) => {
            check_release(code)?;
            Some(kernel::aclrtBinaryLoadFromData(cx, Some(code), None)?)
        }
        None => None,
    };
    let registry = &cx.process.kernels.registry;
    let made = registry.binaries.insert(|id| {
        Arc::new(LinkedBinary {
            id,
            magic,
            bytes,
            loaded,
        })
    })?;
    Ok(Raw(made.id))
}

pub fn unregister(cx: &Cx<'_>, binary: Raw) -> Result<()> {
    let registry = &cx.process.kernels.registry;
    let removed = registry.binaries.remove(binary.0, cx.call.name)?;
    let Some(loaded) = removed.loaded else {
        return Ok(());
    };
    registry.names.lock().retain(
        |_, registered| !matches!(registered, RegisteredKernel::Kernel { binary, .. } if *binary == loaded),
    );
    kernel::aclrtBinaryUnLoad(cx, loaded)
}

/// Returns whether a binary's code is for this machine: its kernels are registered by the texts that name them.
///
/// # Errors
/// `InvalidHandle`: the binary is not registered.
pub fn is_loaded(cx: &Cx<'_>, binary: Raw) -> Result<bool> {
    let registry = &cx.process.kernels.registry;
    Ok(registry.binaries.get(binary.0)?.loaded.is_some())
}

/// Notes which kernel a host function stands for. `kernel` is the kernel's name in a loaded binary, `name` that of the host function.
///
/// # Errors
/// `NullPointer`; `InvalidHandle`: the binary is not registered; `InvalidValue`: the loaded binary has no such kernel.
pub fn name(
    cx: &Cx<'_>,
    binary: Raw,
    symbol: usize,
    name: Option<&CStr>,
    kernel: Option<&CStr>,
) -> Result<()> {
    let registry = &cx.process.kernels.registry;
    let found = registry.binaries.get(binary.0)?;
    if symbol == 0 {
        return Err(null("stubFunc"));
    }
    let name = name.ok_or_else(|| null("stubName"))?;
    let registered = match found.loaded {
        Some(loaded) => {
            let kernel = kernel.ok_or_else(|| null("devFunc"))?;
            kernel::aclrtBinaryGetFunction(cx, loaded, Some(kernel))?;
            RegisteredKernel::Kernel {
                binary: loaded,
                name: kernel.to_owned(),
            }
        }
        None => RegisteredKernel::Name(name.to_string_lossy().into_owned()),
    };
    registry.names.lock().insert(symbol, registered);
    Ok(())
}

/// Which kernel is launched.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// The one that a host function stands for.
    Symbol(usize),
    /// The one with a key in a registered binary.
    Key(Raw, u64),
}

struct Refusal {
    name: String,
    sentence: String,
}

impl Program for Refusal {
    fn run(&self) -> Result<()> {
        Err(Error::new(ErrorKind::KernelFailed, self.sentence.clone()))
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// The blocks and the arguments of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub blocks: u32,
    /// Copied before the launch returns; `None` is a null pointer.
    pub arguments: Option<Span>,
}

/// Launches a kernel of a loaded binary. Refuses one for the cores of a card, and fails the stream.
///
/// # Errors
/// `FeatureUnsupported` with the name of a card's kernel; what is wrong with the handle, the arguments or the stream.
pub fn launch(cx: &Cx<'_>, kernel: Kernel, work: Option<Work>, stream: Raw) -> Result<()> {
    let registry = &cx.process.kernels.registry;
    let name = match kernel {
        Kernel::Symbol(symbol) => {
            let registered = registry.names.lock().get(&symbol).cloned();
            match registered {
                Some(RegisteredKernel::Kernel { binary, name }) => {
                    let function = kernel::aclrtBinaryGetFunction(cx, binary, Some(&name))?;
                    let work = work.ok_or_else(|| null("argsInfo"))?;
                    let host = HostArguments {
                        arguments: work.arguments,
                        place_holders: None,
                        count: 0,
                    };
                    return kernel::aclrtLaunchKernelWithHostArgs(
                        cx,
                        function,
                        work.blocks,
                        stream,
                        None,
                        &host,
                    );
                }
                Some(RegisteredKernel::Name(name)) => format!("\"{name}\""),
                None => {
                    let text = format!("no kernel is registered for the function at {symbol:#x}");
                    return Err(Error::new(ErrorKind::FunctionUnknown, text));
                }
            }
        }
        Kernel::Key(binary, key) => {
            let found = registry.binaries.get(binary.0)?;
            format!("{key} of {}", described(&found))
        }
    };
    let sentence = format!(
        "kernel {name} was not run: it is code for the cores of a card, which this machine's processor cannot execute"
    );
    let refusal = Refusal {
        name,
        sentence: sentence.clone(),
    };
    cx.with_stream(stream, |stream| {
        stream.launch(Arc::new(refusal), &[], &[], &cx.caller())
    })?;
    Err(Error::new(ErrorKind::FeatureUnsupported, sentence).fix(
        "Use the form of the function that calls single operators (aclnn), or build the kernel's source with bisheng of this tree.",
    ))
}

/// Returns whether a state that a callback gets is that of a new stream.
pub fn is_creation(state: u32) -> bool {
    state == enums::ACL_RT_STREAM_STATE_CREATE_POST
}

/// Sets the current device. A current context of that device stays.
pub fn rtSetDevice(cx: &Cx<'_>, device: i32) -> Result<()> {
    let current = cx.context().ok();
    if current.is_some_and(|context| i64::from(context.device().number()) == i64::from(device)) {
        return Ok(());
    }
    crate::device::aclrtSetDevice(cx, device)
}

/// Returns the name of the device's chip.
pub fn soc_name(cx: &Cx<'_>) -> Result<CString> {
    let settings = cx.process.settings()?;
    Ok(CString::new(settings.profile.soc_name.as_str()).unwrap_or_default())
}

/// Accepts a limit of a device, which has no effect.
pub fn rtDeviceSetLimit(cx: &Cx<'_>, device: i32) -> Result<()> {
    cx.runtime()?.device(i64::from(device)).map(drop)
}

/// Returns how many matrix cores the first device has. Launchers ask before a device is set.
pub fn rtGetAiCoreCount(cx: &Cx<'_>) -> Result<u32> {
    let device = match cx.context() {
        Ok(context) => context.device().number(),
        Err(_) => 0,
    };
    let cores = crate::device::aclrtGetDeviceInfo(cx, device, enums::ACL_DEV_ATTR_AICORE_CORE_NUM)?;
    Ok(u32::try_from(cores).unwrap_or(u32::MAX))
}

/// The bytes that stand for the memory by which a card's cores synchronise. Kernels here do not read them.
static SYNC: [u64; 8] = [0; 8];

/// Returns the address and the bytes of memory by which cores synchronise.
pub fn rtGetC2cCtrlAddr(_cx: &Cx<'_>) -> (u64, u32) {
    (SYNC.as_ptr().addr() as u64, size_of_val(&SYNC) as u32)
}

pub fn mmGetTid(cx: &Cx<'_>) -> Result<i32> {
    Ok(cx.thread.system_number().cast_signed())
}
