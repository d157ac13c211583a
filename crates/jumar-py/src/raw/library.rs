//! The one shared library of the process, and the addresses of its functions.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

const NAME: &CStr = c"libascendcl.so";

struct Library(NonNull<c_void>);

// SAFETY: a handle of the loader may be used from any thread, and this one is never closed.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Finds the library: the one that the process has loaded already, else the one that lies in the same install tree as this
/// module, else the one that the loader finds by name. On failure: what was tried, in a sentence.
///
/// The order is what keeps one runtime in a process: a C extension that came first decides.
pub fn open() -> Result<(), String> {
    if LIBRARY.get().is_some() {
        return Ok(());
    }
    let mut tried = Vec::new();
    let handle = open_as(NAME, libc::RTLD_NOW | libc::RTLD_NOLOAD)
        .map_err(|_| tried.push(format!("{} was not loaded yet", NAME.to_string_lossy())))
        .or_else(|()| {
            for path in beside_this_module() {
                if !path.exists() {
                    tried.push(format!("there is no {}", path.display()));
                    continue;
                }
                let Ok(name) = CString::new(path.as_os_str().as_bytes()) else {
                    continue;
                };
                match open_as(&name, libc::RTLD_NOW) {
                    Ok(handle) => return Ok(handle),
                    Err(why) => tried.push(why),
                }
            }
            Err(())
        })
        .or_else(|()| open_as(NAME, libc::RTLD_NOW).map_err(|why| tried.push(why)));
    match handle {
        Ok(handle) => {
            LIBRARY.get_or_init(|| Library(handle));
            Ok(())
        }
        Err(()) => Err(format!(
            "acl needs the shared library {} and found none: {}. Source set_env.sh of the install tree, or start the program \
             with `jumar run`.",
            NAME.to_string_lossy(),
            tried.join("; ")
        )),
    }
}

/// Where the trees lie, seen from the folder of this module: an install tree holds `python/site-packages/acl.so`, a wheel
/// puts its tree into the package beside it. The path that the library is loaded by contains `cann`, for which programs look.
const TREES: &[&str] = &["../../cann/lib64", "../../lib64", "jumar/cann/lib64"];

/// `lib64/libascendcl.so` of the trees that this module may belong to, as named and with links resolved.
fn beside_this_module() -> Vec<PathBuf> {
    let Some(module) = this_file() else {
        return Vec::new();
    };
    let mut paths = Vec::new();
    for module in [Some(module.clone()), module.canonicalize().ok()]
        .into_iter()
        .flatten()
    {
        let folder = module.parent().unwrap_or(Path::new("."));
        for tree in TREES {
            let path = folder.join(tree).join(OsStr::from_bytes(NAME.to_bytes()));
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}

/// The file that this code was loaded from.
fn this_file() -> Option<PathBuf> {
    // SAFETY: `Dl_info` is pointers, for which zero is a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    let inside = this_file as fn() -> Option<PathBuf>;
    // SAFETY: dladdr compares the address with what is loaded and writes `info`, which outlives the call.
    let found = unsafe { libc::dladdr(inside as *const c_void, &raw mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr succeeded, so this is a string of the loader that lives as long as this module.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

fn open_as(name: &CStr, flags: libc::c_int) -> Result<NonNull<c_void>, String> {
    // SAFETY: `name` is a string; loading runs the library's initialisers, which is what an import asks for.
    let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
    NonNull::new(handle).ok_or_else(|| {
        // SAFETY: dlerror returns null or a string that lives until the next call of the loader on this thread.
        let error = unsafe { libc::dlerror() };
        if error.is_null() {
            return format!("{} is not loaded", name.to_string_lossy());
        }
        // SAFETY: not null, see above.
        unsafe { CStr::from_ptr(error) }
            .to_string_lossy()
            .into_owned()
    })
}

/// A function of the library, looked up when it is first called.
pub struct Symbol {
    name: &'static CStr,
    /// Null until looked up; [`ABSENT`] when the library has no such symbol.
    address: AtomicPtr<c_void>,
}

/// An address that no function has.
static ABSENT: u8 = 0;

impl Symbol {
    pub const fn new(name: &'static CStr) -> Symbol {
        Symbol {
            name,
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The address, or `None` when this library does not have the function.
    pub fn resolve(&self) -> Option<NonNull<c_void>> {
        let absent = (&raw const ABSENT).cast_mut().cast::<c_void>();
        let mut address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            let library = LIBRARY.get()?;
            // SAFETY: the handle is of a library that is never closed, and the name is a string.
            let found = unsafe { libc::dlsym(library.0.as_ptr(), self.name.as_ptr()) };
            address = if found.is_null() { absent } else { found };
            // Two threads that come here together store the same.
            self.address.store(address, Ordering::Relaxed);
        }
        if address == absent {
            None
        } else {
            NonNull::new(address)
        }
    }

    /// The name of the function.
    pub fn name(&self) -> std::borrow::Cow<'static, str> {
        self.name.to_string_lossy()
    }
}
