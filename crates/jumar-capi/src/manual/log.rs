//! `aclAppLog`: variable arguments. C formats them, and hands a bounded text over to Rust.
//!
//! A stable Rust function can neither be variadic nor forward such a call, but it can jump: the exported symbol is one
//! jump to the C function, which finds the registers and the stack as the program left them.

use std::arch::{global_asm, naked_asm};
use std::ffi::{c_char, c_int};

use crate::acl::{calls, log};
use crate::raw;

unsafe extern "C" {
    fn jumar_app_log_format(
        level: u32,
        func: *const c_char,
        file: *const c_char,
        line: u32,
        format: *const c_char,
        ...
    );
}

/// Writes a line to the log, with its source location.
///
/// # Safety
/// Called from C with the arguments of `aclAppLog`; the format and its arguments belong together.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclAppLog() {
    naked_asm!("jmp {format}", format = sym jumar_app_log_format)
}

/// Writes a line to the log, with its source location.
///
/// # Safety
/// Called from C with the arguments of `aclAppLog`; the format and its arguments belong together.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aclAppLog() {
    naked_asm!("b {format}", format = sym jumar_app_log_format)
}

// What C calls. Written as assembly because `no_mangle` would add these names to what the library exports.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".globl jumar_app_log_wanted",
    ".hidden jumar_app_log_wanted",
    ".type jumar_app_log_wanted, @function",
    "jumar_app_log_wanted: jmp {wanted}",
    ".globl jumar_app_log_take",
    ".hidden jumar_app_log_take",
    ".type jumar_app_log_take, @function",
    "jumar_app_log_take: jmp {take}",
    wanted = sym wanted,
    take = sym take,
);
#[cfg(target_arch = "aarch64")]
global_asm!(
    ".globl jumar_app_log_wanted",
    ".hidden jumar_app_log_wanted",
    ".type jumar_app_log_wanted, %function",
    "jumar_app_log_wanted: b {wanted}",
    ".globl jumar_app_log_take",
    ".hidden jumar_app_log_take",
    ".type jumar_app_log_take, %function",
    "jumar_app_log_take: b {take}",
    wanted = sym wanted,
    take = sym take,
);

/// What is logged instead of a format that would write to memory.
const REFUSED: &[u8] = b"a format with %n is refused";
/// The longest text that C passes, in bytes; the log truncates lines further and marks them.
const LONGEST: usize = 1023;

/// Returns whether C is to format the text at all.
///
/// # Safety
/// The three texts are null or end in a zero byte.
unsafe extern "C" fn wanted(
    level: u32,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    format: *const c_char,
) -> c_int {
    if func.is_null() || file.is_null() {
        return 0;
    }
    // SAFETY: the caller's contract.
    let Some(format) = (unsafe { raw::text(format) }) else {
        return 0;
    };
    if writes_memory(format.to_bytes()) {
        // SAFETY: the caller's contract; the length is that of the text.
        unsafe {
            take(
                level,
                func,
                file,
                line,
                REFUSED.as_ptr().cast(),
                REFUSED.len() as c_int,
            )
        };
        return 0;
    }
    1
}

/// Hands a formatted text to the log.
///
/// # Safety
/// `func` and `file` end in a zero byte. `text` has the first 1023 bytes of a text of `length` bytes.
unsafe extern "C" fn take(
    level: u32,
    func: *const c_char,
    file: *const c_char,
    line: u32,
    text: *const c_char,
    length: c_int,
) {
    raw::value(&calls::aclAppLog, (), |cx| {
        raw::trace(cx, || {
            [
                raw::ArgBits::word(level),
                raw::ArgBits::word(func),
                raw::ArgBits::word(file),
                raw::ArgBits::word(line),
                raw::ArgBits::word(text),
                raw::ArgBits::word(length),
            ]
        })?;
        // SAFETY: the caller's contract.
        let func = unsafe { raw::text(func) };
        // SAFETY: the caller's contract.
        let file = unsafe { raw::text(file) };
        let length = raw::count(length).min(LONGEST);
        // SAFETY: the caller's contract.
        let text = unsafe { raw::slice::<u8>(text.cast(), length, "text") }?;
        let (Some(func), Some(file), Some(text)) = (func, file, text) else {
            return Ok(());
        };
        log::app_log(cx, level, func, file, line, text)
    });
}

/// Returns whether a format has a conversion that writes through a pointer (`%n`, also with flags, width and length).
fn writes_memory(format: &[u8]) -> bool {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|c| *c == b'%') {
        rest = &rest[at + 1..];
        let end = rest
            .iter()
            .position(|c| !b"-+ #0123456789.*$'hlqjztL".contains(c))
            .unwrap_or(rest.len());
        match rest.get(end) {
            Some(b'n') => return true,
            Some(_) => rest = &rest[end + 1..],
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_conversions_that_write_are_refused() {
        for bad in ["%n", "a %hhn", "%d%5$ln", "%%%n", "%-08.3n", "100% now"] {
            assert!(writes_memory(bad.as_bytes()), "{bad}");
        }
        for good in ["", "%", "%%n", "%d n", "100%, now", "%s", "%5.2f%%n"] {
            assert!(!writes_memory(good.as_bytes()), "{good}");
        }
    }
}
