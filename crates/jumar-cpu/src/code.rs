//! Kernels as host code: shared objects that a program brings along are loaded, described and called here.
//!
//! The C side of this is `include/jumar/kernel.h`; the structures below are laid out as they are there. A function that
//! the header's macro described is called through its trampoline, which takes the argument block apart; any other function
//! is called with the block as it is. The library cannot check that such code stays inside its memory: it is the program's own, as the
//! program's other code is, and a fault in it is the program's.
//!
//! A binary is loaded from its file, so that a debugger finds its sources and its neighbours are found beside it. A second
//! load of the same file, and bytes that have no file, come from a memory file: two loads share no variable. Unique symbols would
//! break this twice: the loader keeps them once for the process, and keeps every object that defines one. So a binary that has
//! such symbols is loaded from a memory file in which they are weak.
//!
//! The loader identifies an object by its name before it looks at the file. The name of a memory file is its descriptor, which
//! another file gets once it was closed, while the object may still be loaded (it asked for that, or a thread has variables of it
//! to destroy). So a name is used only if no loaded object has it.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use jumar_hal::sync::{AtomicBool, Mutex, Ordering};
use jumar_hal::{
    Access, BlockFailure, Code, CodeForm, CodeFunction, CodeImage, Launch, Parameter, Report, Span,
};
use jumar_sched::Executor;
use jumar_types::{Error, ErrorKind, Result};

use crate::device_code::DeviceCode;
use crate::elf::{self, Exports};
use crate::fault::kernel::{Blocks, OnFault};
use crate::{fault, thread};

/// The version of the descriptions that this file reads.
const VERSION: u32 = 1;
const THREADS: u32 = 1;
/// The kinds of kernels for logical cores: blocks that are independent, and blocks that wait for each other.
const CORES: u32 = 2;
const TOGETHER: u32 = 3;
/// The largest number of logical cores of a launch.
const MOST_CORES: u32 = 65_535;
/// How a `jumar_kernel_object` begins.
const OBJECT_MAGIC: [u8; 8] = *b"JUMARKO1";
/// More than any launch could have; a larger count is a damaged description.
const MOST_PARAMETERS: u32 = 4096;
/// Blocks are handed to workers in at most so many parts.
const MOST_PARTS: u32 = 64;
const MESSAGE: usize = 240;

/// `jumar_launch`.
#[repr(C)]
struct RawLaunch {
    size: u32,
    status: i32,
    arguments: *const u8,
    argument_bytes: u64,
    grid: [u32; 3],
    group: [u32; 3],
    begin: u32,
    end: u32,
    block: u32,
    thread: u32,
    local: *mut c_void,
    local_bytes: u64,
    failed_block: u32,
    device: u32,
    message: [c_char; MESSAGE],
    on_fault: Option<OnFault>,
}

// What the header's structure has on every 64-bit machine.
const _: () = assert!(size_of::<RawLaunch>() == 336);

/// `jumar_parameter`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawParameter {
    offset: u32,
    size: u32,
    access: u32,
}

/// `jumar_kernel_info`.
#[repr(C)]
struct RawInfo {
    version: u32,
    kind: u32,
    parameter_count: u32,
    launch_size: u32,
    parameters: *const RawParameter,
    run: Option<Run>,
}

/// `jumar_kernel_object`.
#[repr(C)]
struct RawObject {
    magic: [u8; 8],
    name: *const c_char,
    info: RawInfo,
}

/// `jumar_variable_info`.
#[repr(C)]
struct RawVariable {
    version: u32,
    reserved: u32,
    address: *const c_void,
    size: u64,
}

type Run = unsafe extern "C" fn(*mut RawLaunch);
type Kernel = unsafe extern "C" fn(*const c_void, u64, u32, u32);
type Status = unsafe extern "C" fn(*mut c_void) -> u32;

/// An open shared object.
struct Library {
    handle: *mut c_void,
    /// Kept open, because debuggers read the code through the descriptor's path.
    _memory: Option<File>,
}

// SAFETY: the handle is only passed to the loader, which is thread-safe.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the handle was opened once for this object, and all that came from it holds the object.
        unsafe { libc::dlclose(self.handle) };
    }
}

impl Library {
    fn symbol(&self, name: &CStr) -> *mut c_void {
        // SAFETY: the handle is open, and the name ends in a zero byte.
        unsafe { libc::dlsym(self.handle, name.as_ptr()) }
    }

    fn base(&self) -> usize {
        #[repr(C)]
        struct LinkMap {
            address: usize,
        }
        let mut map: *const LinkMap = ptr::null();
        // SAFETY: the handle is open, and the request writes one pointer.
        let failed =
            unsafe { libc::dlinfo(self.handle, libc::RTLD_DI_LINKMAP, (&raw mut map).cast()) };
        if failed != 0 || map.is_null() {
            return 0;
        }
        // SAFETY: the loader's entry begins with the address, and stays while the object is open.
        unsafe { (*map).address }
    }
}

/// A binary that was loaded.
pub(crate) struct HostCode {
    library: Arc<Library>,
    exports: Exports,
    base: usize,
    executor: Arc<Executor>,
}

/// The loader keeps one error for a thread, and says of a file whether it is loaded already: loads come one after another.
static LOADING: Mutex<()> = Mutex::new(());

/// Loads a copy of a binary of its own.
///
/// # Errors
/// `InvalidValue`: the bytes are no shared object for this machine, or the loader refuses them; the sentence is its own.
pub(crate) fn load(image: &CodeImage, executor: &Arc<Executor>) -> Result<Arc<dyn Code>> {
    if let Some(code) = DeviceCode::read(&image.bytes) {
        return Ok(Arc::new(code));
    }
    let exports = elf::read(&image.bytes)?;
    let _one = LOADING.lock();
    let library = match from_file(image, &exports) {
        Some(library) => library?,
        None => from_memory(image, &exports)?,
    };
    let base = library.base();
    Ok(Arc::new(HostCode {
        library: Arc::new(library),
        exports,
        base,
        executor: executor.clone(),
    }))
}

/// Loads the file, unless there is none, it is loaded already, or it has unique symbols.
fn from_file(image: &CodeImage, exports: &Exports) -> Option<Result<Library>> {
    let path = std::fs::canonicalize(image.file.as_ref()?).ok()?;
    // A memory file has no neighbours: what is searched for relative to the binary is found from its own file only.
    if exports.has_unique() && !searches_beside_itself(&image.bytes) {
        return None;
    }
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    if is_loaded(&name) || !holds(&path, &image.bytes) {
        return None;
    }
    Some(open(&name).map(|handle| Library {
        handle,
        _memory: None,
    }))
}

/// Returns whether the object's search path is relative to its own folder.
fn searches_beside_itself(bytes: &[u8]) -> bool {
    let origins: [&[u8]; 2] = [b"$ORIGIN", b"${ORIGIN}"];
    origins
        .iter()
        .any(|origin| bytes.windows(origin.len()).any(|part| part == *origin))
}

/// Returns whether a file still has these bytes: what is loaded has to be what was checked.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let is_as_long = std::fs::metadata(path)
        .is_ok_and(|data| data.is_file() && data.len() == bytes.len() as u64);
    is_as_long && std::fs::read(path).is_ok_and(|now| now == bytes)
}

fn from_memory(image: &CodeImage, exports: &Exports) -> Result<Library> {
    // SAFETY: the name is a C text; the call has no other effect than a new file descriptor.
    let descriptor = unsafe { libc::memfd_create(c"jumar-kernel".as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        return Err(no_memory_file(&std::io::Error::last_os_error()));
    }
    // SAFETY: the descriptor is new, and nothing else owns it.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    let mut bytes = Cow::Borrowed(&image.bytes[..]);
    if exports.has_unique() {
        exports.make_weak(bytes.to_mut());
    }
    file.write_all(&bytes)
        .map_err(|error| no_memory_file(&error))?;
    let (file, name) = with_free_name(file)?;
    Ok(Library {
        handle: open(&name)?,
        _memory: Some(file),
    })
}

fn no_memory_file(error: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::OutOfMemory,
        format!("no memory file for the kernel binary: {error}"),
    )
}

/// Finds a descriptor of a memory file whose name no loaded object has.
fn with_free_name(mut file: File) -> Result<(File, CString)> {
    loop {
        // With the process's number rather than "self", so that a debugger finds it too.
        let name = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
        let name = CString::new(name).expect("the name has no zero byte");
        if !is_loaded(&name) {
            return Ok((file, name));
        }
        let next = file.as_raw_fd() + 1;
        // SAFETY: the descriptor is open; the call has no other effect than a new descriptor of the same file.
        let next = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, next) };
        if next < 0 {
            return Err(no_memory_file(&std::io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new, and nothing else owns it.
        file = unsafe { File::from_raw_fd(next) };
    }
}

/// Returns whether the loader takes a name for that of an object that is loaded already.
fn is_loaded(name: &CStr) -> bool {
    // SAFETY: the name ends in a zero byte; RTLD_NOLOAD loads nothing and runs nothing.
    let there = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if !there.is_null() {
        // SAFETY: opened just now.
        unsafe { libc::dlclose(there) };
    }
    !there.is_null()
}

fn open(path: &CStr) -> Result<*mut c_void> {
    // SAFETY: the path ends in a zero byte. Loading runs the object's constructors, which are the program's own code.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(handle);
    }
    // SAFETY: no preconditions; the text is the calling thread's and stays until its next call of the loader.
    let text = unsafe { libc::dlerror() };
    let said = if text.is_null() {
        "it gave no reason".into()
    } else {
        // SAFETY: not null, and the loader's texts end in a zero byte.
        unsafe { CStr::from_ptr(text) }.to_string_lossy()
    };
    Err(elf::refused(format!(
        "the system's loader refused the kernel binary: {said}"
    )))
}

impl Code for HostCode {
    fn function(&self, name: &str, form: CodeForm) -> Result<Arc<dyn CodeFunction>> {
        let symbol = self
            .exports
            .symbols
            .get(name)
            .filter(|symbol| symbol.is_function);
        let address = CString::new(name)
            .ok()
            .map(|name| self.library.symbol(&name));
        let (Some(symbol), Some(address)) = (symbol, address.filter(|address| !address.is_null()))
        else {
            return Err(self.unknown(name));
        };
        let info = info_name("jumar_kernel_info_", name).and_then(|info| {
            let symbol = self.exports.symbols.get(&*info.to_string_lossy())?;
            let address = self.library.symbol(&info).cast_const();
            (!address.is_null()).then_some((address, symbol.bytes))
        });
        let described = match info {
            // SAFETY: a symbol of this name is a description that the header's macro made, in an object that is loaded.
            Some((info, bytes)) => Some(unsafe { described(info, bytes, name) }?),
            None => None,
        };
        let entry = match (described, form) {
            (Some((run, parameters, kind)), _) => Entry::Described {
                run,
                parameters,
                kind,
            },
            (None, CodeForm::Kernel) => {
                // SAFETY: the symbol is a function, and docs/kernels.md says how it is called.
                Entry::Kernel(unsafe { std::mem::transmute::<*mut c_void, Kernel>(address) })
            }
            (None, CodeForm::Status) => {
                // SAFETY: as above; the program said that it is one that answers a status.
                Entry::Status(unsafe { std::mem::transmute::<*mut c_void, Status>(address) })
            }
        };
        Ok(Arc::new(HostFunction {
            name: name.into(),
            entry,
            address: address.addr(),
            bytes: symbol.bytes,
            _library: Some(self.library.clone()),
            executor: self.executor.clone(),
        }))
    }

    fn name_at(&self, value: u64) -> Option<String> {
        let found = self.exports.symbols.iter();
        let mut names: Vec<&String> = found
            .filter(|(_, symbol)| symbol.is_function && symbol.value == value)
            .map(|(name, _)| name)
            .collect();
        names.sort_unstable();
        names.first().map(|name| (*name).clone())
    }

    fn variable(&self, name: &str) -> Option<Span> {
        let symbol = self
            .exports
            .symbols
            .get(name)
            .filter(|symbol| symbol.is_variable)?;
        let address = self.library.symbol(&CString::new(name).ok()?);
        if address.is_null() {
            return None;
        }
        // SAFETY: the object says that the variable has so many bytes, and stays loaded while the caller holds this code.
        Some(unsafe { Span::trusted(address.expose_provenance(), symbol.bytes) })
    }

    fn image(&self) -> Span {
        // SAFETY: the loader mapped the object there; the span is given out as an address and a length.
        unsafe { Span::trusted(self.base, self.exports.bytes) }
    }
}

impl HostCode {
    fn unknown(&self, name: &str) -> Error {
        let mut kernels: Vec<&str> = self
            .exports
            .symbols
            .keys()
            .filter_map(|known| known.strip_prefix("jumar_kernel_info_"))
            .collect();
        kernels.sort_unstable();
        let known = if kernels.is_empty() {
            "it describes no kernels".to_owned()
        } else {
            format!("its kernels are {}", kernels.join(", "))
        };
        Error::new(
            ErrorKind::InvalidValue,
            format!("the binary exports no function \"{name}\"; {known}"),
        )
        .fix("Use the name as the binary exports it (nm -D); in C++ declare the kernel extern \"C\".")
    }
}

fn info_name(prefix: &str, name: &str) -> Option<CString> {
    CString::new(format!("{prefix}{name}")).ok()
}

type KernelDescription = (Run, Vec<Parameter>, u32);

/// Reads a kernel's description.
///
/// # Safety
///
/// The address is that of an object of `bytes` bytes. If it is long enough, it is a description as `include/jumar/kernel.h` makes it,
/// in a binary that stays loaded.
unsafe fn described(info: *const c_void, bytes: usize, name: &str) -> Result<KernelDescription> {
    if bytes < size_of::<RawInfo>() {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "the description of kernel \"{name}\" has {bytes} bytes, and this Jumar reads {}",
                size_of::<RawInfo>()
            ),
        )
        .fix("Compile the kernel with the jumar/kernel.h of this installation."));
    }
    // SAFETY: the caller's contract, and the length was checked.
    let info = unsafe { &*info.cast::<RawInfo>() };
    let sound = info.version == VERSION
        && info.launch_size as usize <= size_of::<RawLaunch>()
        && info.parameter_count <= MOST_PARAMETERS;
    let (true, Some(run)) = (sound, info.run) else {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "the description of kernel \"{name}\" is of version {}, and this Jumar reads version {VERSION}",
                info.version
            ),
        )
        .fix("Compile the kernel with the jumar/kernel.h of this installation."));
    };
    let count = info.parameter_count as usize;
    let parameters = if count == 0 || info.parameters.is_null() {
        &[][..]
    } else {
        // SAFETY: the description says that there are so many.
        unsafe { std::slice::from_raw_parts(info.parameters, count) }
    };
    let parameters = parameters
        .iter()
        .map(|raw| Parameter {
            offset: raw.offset as usize,
            bytes: raw.size as usize,
            access: match raw.access {
                0 => Access::Value,
                1 => Access::Read,
                2 => Access::Write,
                _ => Access::Unknown,
            },
        })
        .collect();
    Ok((run, parameters, info.kind))
}

enum Entry {
    Described {
        run: Run,
        parameters: Vec<Parameter>,
        kind: u32,
    },
    Kernel(Kernel),
    Status(Status),
}

struct HostFunction {
    name: Arc<str>,
    entry: Entry,
    address: usize,
    bytes: usize,
    /// `None` for code that the process loaded by itself.
    _library: Option<Arc<Library>>,
    executor: Arc<Executor>,
}

impl CodeFunction for HostFunction {
    fn code_range(&self) -> (usize, usize) {
        (self.address, self.bytes)
    }

    fn parameters(&self) -> Option<&[Parameter]> {
        match &self.entry {
            Entry::Described { parameters, .. } => Some(parameters),
            Entry::Kernel(_) | Entry::Status(_) => None,
        }
    }

    fn is_of_threads(&self) -> bool {
        matches!(self.entry, Entry::Described { kind: THREADS, .. })
    }

    fn run(&self, launch: &Launch) -> Report {
        let blocks = launch.blocks();
        let kind = match self.entry {
            Entry::Described { kind, .. } => kind,
            Entry::Kernel(_) | Entry::Status(_) => 0,
        };
        if matches!(kind, CORES | TOGETHER) && blocks > MOST_CORES {
            return Report {
                failure: Some(BlockFailure {
                    block: MOST_CORES,
                    status: 1,
                    text: format!(
                        "it was launched with {blocks} blocks; 1 to {MOST_CORES} are possible"
                    ),
                }),
                overflowed: false,
            };
        }
        // Blocks that wait for each other run in one call, which switches between them.
        let parts = if kind == TOGETHER {
            1
        } else {
            blocks.min(MOST_PARTS)
        };
        if parts < 2 {
            return self.run_part(launch, 0, blocks);
        }
        let shared = Arc::new(LaunchState {
            failure: Mutex::new(None),
            overflowed: AtomicBool::new(false),
        });
        let per_part = blocks.div_ceil(parts);
        let (all, launch) = (shared.clone(), *launch);
        let part_of = Part {
            name: self.name.clone(),
            run: self.runner(),
            launch,
        };
        self.executor.team().share(
            parts as usize,
            Arc::new(move |part| {
                let begin = (part as u32).saturating_mul(per_part).min(blocks);
                let end = begin.saturating_add(per_part).min(blocks);
                let report = part_of.run(begin, end);
                if report.overflowed {
                    all.overflowed.store(true, Ordering::Relaxed);
                }
                if let Some(failure) = report.failure {
                    let mut lowest = all.failure.lock();
                    if lowest
                        .as_ref()
                        .is_none_or(|known| failure.block < known.block)
                    {
                        *lowest = Some(failure);
                    }
                }
            }),
        );
        Report {
            failure: shared.failure.lock().take(),
            overflowed: shared.overflowed.load(Ordering::Relaxed),
        }
    }
}

struct LaunchState {
    failure: Mutex<Option<BlockFailure>>,
    overflowed: AtomicBool,
}

/// How the blocks of a part are run: a plain value, so that workers may hold it for the time of a launch.
#[derive(Clone, Copy)]
enum BlockCall {
    Described(Run),
    Kernel(Kernel),
    Status(Status),
}

struct Part {
    name: Arc<str>,
    run: BlockCall,
    launch: Launch,
}

impl HostFunction {
    fn runner(&self) -> BlockCall {
        match &self.entry {
            Entry::Described { run, .. } => BlockCall::Described(*run),
            Entry::Kernel(kernel) => BlockCall::Kernel(*kernel),
            Entry::Status(status) => BlockCall::Status(*status),
        }
    }

    fn run_part(&self, launch: &Launch, begin: u32, end: u32) -> Report {
        Part {
            name: self.name.clone(),
            run: self.runner(),
            launch: *launch,
        }
        .run(begin, end)
    }
}

impl Part {
    /// Runs blocks one after another, in the state that programs may count on.
    fn run(&self, begin: u32, end: u32) -> Report {
        if begin >= end {
            return Report::default();
        }
        let blocks = Blocks::new(self.name.clone(), begin, end, self.launch.blocks());
        thread::neutral(|| {
            thread::lower_float_flags();
            let failure = fault::kernel::named(&blocks, || self.run_blocks(&blocks, begin, end));
            Report {
                failure,
                overflowed: thread::float_overflowed(),
            }
        })
    }

    fn run_blocks(&self, blocks: &Blocks, begin: u32, end: u32) -> Option<BlockFailure> {
        let launch = &self.launch;
        let arguments: *mut c_void = ptr::with_exposed_provenance_mut(launch.arguments.address());
        let bytes = launch.arguments.bytes() as u64;
        match self.run {
            BlockCall::Described(run) => {
                let mut local = vec![0_u64; launch.local_bytes.div_ceil(8)];
                let mut raw = RawLaunch {
                    size: size_of::<RawLaunch>() as u32,
                    status: 0,
                    arguments: arguments.cast_const().cast(),
                    argument_bytes: bytes,
                    grid: launch.grid,
                    group: launch.group,
                    begin,
                    end,
                    block: begin,
                    thread: 0,
                    local: local.as_mut_ptr().cast(),
                    local_bytes: launch.local_bytes as u64,
                    failed_block: 0,
                    device: launch.device,
                    message: [0; MESSAGE],
                    on_fault: None,
                };
                let raw_launch = &raw mut raw;
                // SAFETY: the structure is there until the call below has ended, as the reference is.
                let on_fault = unsafe { &raw const (*raw_launch).on_fault };
                let _answered = blocks.answered_by(on_fault, raw_launch.cast());
                // SAFETY: a trampoline of the header's, of the version that was checked, in an object that the caller
                // holds; the arguments are as long as its parameters say. What the kernel does is the program's own.
                unsafe { run(raw_launch) };
                (raw.status != 0).then(|| BlockFailure {
                    block: raw.failed_block,
                    status: raw.status,
                    text: text(&raw.message),
                })
            }
            BlockCall::Kernel(kernel) => {
                for block in begin..end {
                    // SAFETY: an exported function, called as docs/kernels.md says. What it does is the program's own.
                    unsafe { kernel(arguments, bytes, block, launch.blocks()) };
                }
                None
            }
            BlockCall::Status(status) => {
                let mut failure = None;
                for block in begin..end {
                    // SAFETY: as above.
                    let answer = unsafe { status(arguments) };
                    if answer != 0 && failure.is_none() {
                        failure = Some(BlockFailure {
                            block,
                            status: answer.cast_signed(),
                            text: String::new(),
                        });
                    }
                }
                failure
            }
        }
    }
}

fn text(message: &[c_char; MESSAGE]) -> String {
    let bytes: Vec<u8> = message
        .iter()
        .map(|c| c.to_ne_bytes()[0])
        .take_while(|c| *c != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where an address lies: the object that holds it, and the symbol that begins there.
fn symbol_at(address: usize) -> Option<(*mut c_void, String)> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let wanted = ptr::with_exposed_provenance(address);
    // SAFETY: the structure is ours to write; any address may be asked for.
    let known = unsafe { libc::dladdr(wanted, &raw mut info) };
    if known == 0 || info.dli_sname.is_null() || info.dli_saddr.addr() != address {
        return None;
    }
    // SAFETY: the loader's names end in a zero byte and stay while the object is loaded.
    let name = unsafe { CStr::from_ptr(info.dli_sname) }
        .to_str()
        .ok()?
        .to_owned();
    // SAFETY: the path ends in a zero byte; RTLD_NOLOAD loads nothing and runs nothing.
    let mut handle = unsafe { libc::dlopen(info.dli_fname, libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    if handle.is_null() {
        // The program itself goes by the name that it was started with.
        // SAFETY: null stands for the program.
        handle = unsafe { libc::dlopen(ptr::null(), libc::RTLD_LAZY) };
    }
    (!handle.is_null()).then_some((handle, name))
}

/// Finds a description in an object, and how many bytes it has.
fn info_of(handle: *mut c_void, prefix: &str, name: &str) -> Option<(*const c_void, usize)> {
    let info = info_name(prefix, name)?;
    // SAFETY: the handle is open, and the name ends in a zero byte.
    let info = unsafe { libc::dlsym(handle, info.as_ptr()) };
    (!info.is_null()).then(|| (info.cast_const(), bytes_at(info)))
}

/// Returns how many bytes the symbol has that begins at an address; 0 if the loader does not know.
fn bytes_at(address: *const c_void) -> usize {
    /// `RTLD_DL_SYMENT`: asks for the symbol as well.
    const WITH_SYMBOL: libc::c_int = 1;
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    let mut symbol: *const libc::Elf64_Sym = ptr::null();
    let written = (&raw mut symbol).cast();
    // SAFETY: the structure and the pointer are ours to write; any address may be asked for.
    let known = unsafe { libc::dladdr1(address, &raw mut info, written, WITH_SYMBOL) };
    if known == 0 || symbol.is_null() || !ptr::eq(info.dli_saddr.cast_const(), address) {
        return 0;
    }
    // SAFETY: the loader's symbol stays while its object is loaded, which the caller holds.
    usize::try_from(unsafe { (*symbol).st_size }).unwrap_or(0)
}

/// Finds the kernel of a loaded object that an address names: that of the function, or of its `jumar_kernel_object`. The object stays
/// loaded from then on.
pub(crate) fn at(
    address: usize,
    executor: &Arc<Executor>,
) -> Option<(String, Arc<dyn CodeFunction>)> {
    let (library, name, described) = match object_at(address) {
        Some(found) => found,
        None => {
            let (handle, name) = symbol_at(address)?;
            let library = Library {
                handle,
                _memory: None,
            };
            let (info, bytes) = info_of(handle, "jumar_kernel_info_", &name)?;
            // SAFETY: a symbol of this name is a description that the header's macro made, in an object that `library` keeps loaded.
            let described = unsafe { described(info, bytes, &name) };
            (Some(library), name, described)
        }
    };
    let (run, parameters, kind) = described.ok()?;
    let function = HostFunction {
        name: name.as_str().into(),
        entry: Entry::Described {
            run,
            parameters,
            kind,
        },
        address,
        bytes: 0,
        _library: library.map(Arc::new),
        executor: executor.clone(),
    };
    Some((name, Arc::new(function)))
}

/// Reads the kernel object at an address: a description that needs no exported symbol. An address outside of loaded objects,
/// or of something else, has none.
fn object_at(address: usize) -> Option<(Option<Library>, String, Result<KernelDescription>)> {
    if !address.is_multiple_of(align_of::<RawObject>()) {
        return None;
    }
    let first = ptr::with_exposed_provenance::<c_void>(address);
    let last = address.checked_add(size_of::<RawObject>() - 1)?;
    let file = object_file(first)?;
    // Both ends lie in the same object, whose segments are readable.
    if object_file(ptr::with_exposed_provenance(last))? != file {
        return None;
    }
    // SAFETY: the bytes lie in a loaded object.
    let magic = unsafe { ptr::read(first.cast::<[u8; 8]>()) };
    if magic != OBJECT_MAGIC {
        return None;
    }
    // SAFETY: as above; the magic says what the bytes are.
    let object = unsafe { &*first.cast::<RawObject>() };
    if object.name.is_null() {
        return None;
    }
    // SAFETY: the header's macro or library made the object, whose name ends in a zero byte.
    let name = unsafe { CStr::from_ptr(object.name) }
        .to_string_lossy()
        .into_owned();
    // SAFETY: the description is a part of the object, which stays loaded below.
    let described = unsafe {
        described(
            ptr::from_ref(&object.info).cast(),
            size_of::<RawInfo>(),
            &name,
        )
    };
    // SAFETY: the path ends in a zero byte; RTLD_NOLOAD loads nothing and runs nothing. The program itself is never unloaded.
    let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
    let library = (!handle.is_null()).then(|| Library {
        handle,
        _memory: None,
    });
    Some((library, name, described))
}

/// Returns the file of the loaded object that an address lies in.
fn object_file(address: *const c_void) -> Option<CString> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: the structure is ours to write; any address may be asked for.
    let known = unsafe { libc::dladdr(address, &raw mut info) };
    if known == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's names end in a zero byte and stay while the object is loaded.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_owned())
}

/// Finds the variable that begins at an address, if its object offers it to the host.
pub(crate) fn variable_at(address: usize) -> Option<Span> {
    let (handle, name) = symbol_at(address)?;
    let _library = Library {
        handle,
        _memory: None,
    };
    let (info, bytes) = info_of(handle, "jumar_variable_info_", &name)?;
    if bytes < size_of::<RawVariable>() {
        return None;
    }
    // SAFETY: a symbol of this name and length is a description that the header's macro made; the object that holds it is loaded.
    let info = unsafe { &*info.cast::<RawVariable>() };
    let sound = info.version == VERSION && info.address.addr() == address && info.reserved == 0;
    let bytes = usize::try_from(info.size).ok().filter(|_| sound)?;
    // SAFETY: the description says that the variable has so many bytes; it stays while its object is loaded.
    Some(unsafe { Span::trusted(info.address.expose_provenance(), bytes) })
}
