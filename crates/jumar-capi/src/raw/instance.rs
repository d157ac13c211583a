//! One runtime in a process: a second copy of the library finds the first, and reports it instead of running beside it.
//!
//! Each copy has an [`Instance`] that no other copy can mistake for its own, and exports a function that returns it. On its
//! first call a copy asks every loaded object for that function.
//!
//! States: `IDLE` (no call yet), `CLAIMING` (looking for others), `FIRST`, `SECOND`. Two copies whose first calls come at
//! the same time both claim: the one at the higher address steps back to `IDLE` and looks again, the other waits for it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use jumar_hal::sync::{AtomicU32, Ordering, thread};

const IDLE: u32 = 0;
const CLAIMING: u32 = 1;
const FIRST: u32 = 2;
const SECOND: u32 = 3;

/// What a copy of the library shows to other copies. Its layout never changes; later versions only append.
#[repr(C)]
pub struct Instance {
    /// The version of this layout.
    layout: u32,
    state: AtomicU32,
}

/// Not exported, so that the loader cannot replace it with another copy's.
static OWN: Instance = Instance {
    layout: 1,
    state: AtomicU32::new(IDLE),
};
static SENTENCE: OnceLock<String> = OnceLock::new();

type Marker = unsafe extern "C" fn() -> *const Instance;
const MARKER: &CStr = c"jumar_instance";

/// Returns this copy's instance, by which copies of the library recognise each other. Not part of the C interface.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_instance() -> *const Instance {
    &raw const OWN
}

/// Returns whether this copy serves the process. Costs one load once that is known.
#[inline]
pub(super) fn is_first() -> bool {
    match OWN.state.load(Ordering::Acquire) {
        FIRST => true,
        SECOND => false,
        _ => claim(),
    }
}

/// Returns whether this copy was called and serves the process.
pub(super) fn serves() -> bool {
    OWN.state.load(Ordering::Acquire) == FIRST
}

/// Reports which copy serves the process and which one was called.
pub(super) fn sentence() -> &'static str {
    SENTENCE.get().map_or(
        "a second copy of the Jumar runtime was called",
        String::as_str,
    )
}

#[cold]
fn claim() -> bool {
    // Only one thread of this copy looks; the others wait here and read what it found.
    static CLAIMED: OnceLock<bool> = OnceLock::new();
    *CLAIMED.get_or_init(|| {
        super::ffi_boundary::note_panics();
        loop {
            OWN.state.store(CLAIMING, Ordering::SeqCst);
            match find_other_instances() {
                Others::None => {
                    OWN.state.store(FIRST, Ordering::SeqCst);
                    super::ffi_boundary::call_at_exit();
                    super::ffi_boundary::hear_of_forks();
                    super::crash::report();
                    return true;
                }
                Others::First(path) => {
                    let own = path_of((&raw const OWN).cast()).unwrap_or_else(|| "unknown path".to_owned());
                    let sentence = format!(
                        "two copies of the Jumar runtime are loaded into this process: {path} was called first and serves \
                         it, and this call reached {own}"
                    );
                    // Only this closure sets it, and it runs once.
                    let _ = SENTENCE.set(sentence);
                    OWN.state.store(SECOND, Ordering::SeqCst);
                    return false;
                }
                Others::ClaimingBefore => OWN.state.store(IDLE, Ordering::SeqCst),
                Others::ClaimingAfter => {}
            }
            thread::yield_now();
        }
    })
}

enum Others {
    /// No other copy serves the process or wants to.
    None,
    /// The copy at this path does.
    First(String),
    /// One at a lower address is claiming: it goes first.
    ClaimingBefore,
    /// One at a higher address is claiming: it steps back.
    ClaimingAfter,
}

fn find_other_instances() -> Others {
    let own = &raw const OWN;
    let mut outcome = Others::None;
    for instance in instances() {
        if std::ptr::eq(instance, own) {
            continue;
        }
        // SAFETY: a marker of a loaded copy gave the address of its static; no copy is ever unloaded (-z nodelete).
        let other = unsafe { &*instance };
        if other.layout == 0 {
            continue;
        }
        match other.state.load(Ordering::SeqCst) {
            FIRST => {
                return Others::First(
                    path_of(instance.cast()).unwrap_or_else(|| "another library".to_owned()),
                );
            }
            CLAIMING if instance.addr() < own.addr() => outcome = Others::ClaimingBefore,
            CLAIMING if !matches!(outcome, Others::ClaimingBefore) => {
                outcome = Others::ClaimingAfter
            }
            _ => {}
        }
    }
    outcome
}

/// Asks every loaded object for its instance. An object that merely needs a copy returns that copy's.
fn instances() -> Vec<*const Instance> {
    let mut found = Vec::new();
    for path in loaded_objects() {
        // SAFETY: the path ends in a zero byte; RTLD_NOLOAD loads nothing and runs nothing.
        let object = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        if object.is_null() {
            continue;
        }
        // SAFETY: the object is open, and the name ends in a zero byte.
        let marker = unsafe { libc::dlsym(object, MARKER.as_ptr()) };
        if !marker.is_null() {
            // SAFETY: a symbol of this name is a function of this type in every copy; the name is ours alone.
            let marker = unsafe { std::mem::transmute::<*mut c_void, Marker>(marker) };
            // SAFETY: it only returns an address.
            found.push(unsafe { marker() });
        }
        // SAFETY: opened above; this only counts the reference back down.
        unsafe { libc::dlclose(object) };
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn loaded_objects() -> Vec<std::ffi::CString> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        into: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a description of an object that stays while it calls.
        let name = unsafe { (*info).dlpi_name };
        // SAFETY: this is the vector that `loaded_objects` passed, which outlives the walk.
        let into = unsafe { &mut *into.cast::<Vec<std::ffi::CString>>() };
        // SAFETY: the loader's names are null or end in a zero byte.
        if let Some(name) = unsafe { super::text(name) }
            && !name.is_empty()
        {
            into.push(name.to_owned());
        }
        0
    }
    let mut paths: Vec<std::ffi::CString> = Vec::new();
    // SAFETY: `note` has the type that the loader calls, and the vector outlives the walk.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut paths).cast()) };
    paths
}

fn path_of(address: *const c_void) -> Option<String> {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the struct is ours; any address may be asked for.
    let known = unsafe { libc::dladdr(address, &raw mut info) };
    if known == 0 {
        return None;
    }
    let name: *const c_char = info.dli_fname;
    // SAFETY: the loader's names are null or end in a zero byte, and stay while the object is loaded.
    unsafe { super::text(name) }.map(|name| name.to_string_lossy().into_owned())
}
