//! Functions that a program hands in, with the pointer it wants back.

use std::ffi::c_void;

/// The pointer that a program wants passed to its function. It is never dereferenced here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserData(*mut c_void);

// SAFETY: the pointer is only handed back; the program promises that its function may get it on any thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    /// Keeps a pointer.
    pub fn new(pointer: *mut c_void) -> Self {
        UserData(pointer)
    }

    /// Returns the pointer.
    pub fn pointer(self) -> *mut c_void {
        self.0
    }
}

/// Returns the number of the calling thread as `pthread_self` has it; programs subscribe threads by it.
pub fn this_thread() -> u64 {
    // SAFETY: it has no preconditions.
    let thread = unsafe { libc::pthread_self() };
    thread as u64
}

/// Makes a closure that calls a function of the program, on any thread.
///
/// # Safety
/// The function may be called with that pointer, on any thread, until the closure is gone.
pub unsafe fn closure(
    function: unsafe extern "C" fn(*mut c_void),
    user: UserData,
) -> Box<dyn Fn() + Send + Sync> {
    Box::new(move || {
        let pointer = user.pointer();
        // SAFETY: the caller's contract.
        unsafe { function(pointer) }
    })
}

/// Calls a function of the program with its pointer when it is dropped: no other call gets the pointer any more.
pub struct Release {
    function: unsafe extern "C" fn(*mut c_void),
    user: UserData,
}

impl Release {
    /// Keeps a function and its pointer.
    ///
    /// # Safety
    /// The function may be called once with that pointer, on any thread, and calls nothing of the runtime.
    pub unsafe fn new(function: unsafe extern "C" fn(*mut c_void), user: UserData) -> Release {
        Release { function, user }
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        let pointer = self.user.pointer();
        // SAFETY: the contract of `new`.
        unsafe { (self.function)(pointer) }
    }
}
