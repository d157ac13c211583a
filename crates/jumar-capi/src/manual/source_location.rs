//! The location of a script during a call: the Python module reports it to the checks, since return addresses show only the interpreter.

use std::ffi::c_char;

use crate::acl::observers;
use crate::raw;

/// Sets the calling thread's location in its script, for findings; a null file means none. Not part of the C interface.
///
/// # Safety
/// `file` and `function` are null or texts that end in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jumar_set_source_location(
    file: *const c_char,
    line: u32,
    function: *const c_char,
) {
    // SAFETY: the caller's contract.
    let file = unsafe { raw::text(file) };
    // SAFETY: the caller's contract.
    let function = unsafe { raw::text(function) };
    observers::set_script(file, line, function);
}

/// Returns 1 if the newest call of the calling thread's script failed, and the checks ask whether the script uses the result. Not part of
/// the C interface.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_script_call_failed() -> u32 {
    u32::from(observers::script_call_failed())
}

/// Answers that question: 0 if the script drops the result. Not part of the C interface.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_script_reads_result(is_read: u32) {
    observers::script_reads_result(is_read != 0);
}

/// Sets the signal on which the interpreter writes the receiving thread's stack, and the file for it. Not part of the
/// C interface.
#[unsafe(no_mangle)]
pub extern "C" fn jumar_set_script_signal(signal: u32, file: u32) {
    observers::set_script_signal(signal, file);
}
