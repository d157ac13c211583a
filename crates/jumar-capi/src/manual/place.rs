//! Where a script is while it calls: what the Python module tells the checks, since return addresses show the interpreter alone.

use std::ffi::c_char;

use crate::acl::observers;
use crate::raw;

/// Says where in its script the calling thread is, for findings; a null file: nowhere. Not part of the C interface.
///
/// # Safety
/// `file` and `function` are null or texts that end in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_set_place(file: *const c_char, line: u32, function: *const c_char) {
    // SAFETY: the caller's contract.
    let file = unsafe { raw::text(file) };
    // SAFETY: the caller's contract.
    let function = unsafe { raw::text(function) };
    observers::set_script(file, line, function);
}

/// Says on which signal the process's interpreter writes the stack of the thread that gets it, and to which file. Not part of the
/// C interface.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_set_script_signal(signal: u32, file: u32) {
    observers::set_script_signal(signal, file);
}
