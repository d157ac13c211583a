//! Kernels that are linked into programs as code for the cores of a card: the registrations that such programs make when they are
//! loaded, and the launches, which cannot run on a CPU.
//!
//! Registrations are accepted, so that a program that never launches such a kernel works. A launch returns an error that names the
//! kernel, and fails the stream as well: launchers that compilers generate drop the returned code, and their results would
//! otherwise be whatever the memory held before.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use jumar::engine::sync::Mutex;
use jumar::engine::{Program, Table};
use jumar_types::{Error, ErrorKind, IdKind, Result};

use crate::error::null;
use crate::generated::{enums, types};
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
}

/// What a process has registered.
pub(crate) struct Registry {
    binaries: Table<LinkedBinary>,
    /// The names of kernels by the address of the host function that stands for each.
    names: Mutex<HashMap<usize, String>>,
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

/// Registers a binary. Its bytes are not read.
///
/// # Errors
/// `NullPointer`; `OutOfMemory`: too many handles exist.
pub fn register(cx: &Cx<'_>, binary: Option<&types::rtDevBinary_t>) -> Result<Raw> {
    let binary = binary.ok_or_else(|| null("bin"))?;
    let (magic, bytes) = (binary.magic, binary.length);
    let registry = &cx.process.kernels.registry;
    let made = registry
        .binaries
        .insert(|id| Arc::new(LinkedBinary { id, magic, bytes }))?;
    Ok(Raw(made.id))
}

pub fn unregister(cx: &Cx<'_>, binary: Raw) -> Result<()> {
    let registry = &cx.process.kernels.registry;
    registry.binaries.remove(binary.0, cx.call.name).map(drop)
}

/// Notes the name of a kernel that a host function stands for.
///
/// # Errors
/// `NullPointer`; `InvalidHandle`: the binary is not registered.
pub fn name(cx: &Cx<'_>, binary: Raw, symbol: usize, name: Option<&CStr>) -> Result<()> {
    let registry = &cx.process.kernels.registry;
    registry.binaries.get(binary.0)?;
    if symbol == 0 {
        return Err(null("stubFunc"));
    }
    let name = name.ok_or_else(|| null("stubName"))?;
    let name = name.to_string_lossy().into_owned();
    registry.names.lock().insert(symbol, name);
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

/// Refuses a launch, and fails the stream.
///
/// # Errors
/// Always: `FeatureUnsupported` with the kernel's name, or what is wrong with the handle or the stream.
pub fn launch(cx: &Cx<'_>, kernel: Kernel, stream: Raw) -> Result<()> {
    let registry = &cx.process.kernels.registry;
    let name = match kernel {
        Kernel::Symbol(symbol) => registry
            .names
            .lock()
            .get(&symbol)
            .map(|name| format!("\"{name}\""))
            .ok_or_else(|| {
                let text = format!("no kernel is registered for the function at {symbol:#x}");
                Error::new(ErrorKind::FunctionUnknown, text)
            })?,
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

pub fn mmGetTid(cx: &Cx<'_>) -> Result<i32> {
    Ok(cx.thread.system_number().cast_signed())
}
