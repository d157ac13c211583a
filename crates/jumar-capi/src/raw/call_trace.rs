//! The values that observers of calls receive: the arguments as 64-bit words, and the outputs.

use std::ffi::c_void;

use crate::acl::observers::ReturnKind;
use crate::acl::{Call, Cx, Result, observers};

use super::{interpreter, sites};

/// A value as 64 bits.
pub trait ArgBits {
    /// Returns the bits, or the address.
    fn word(self) -> u64;
}

macro_rules! words {
    ($($number:ty),*) => {
        $(impl ArgBits for $number {
            #[inline]
            fn word(self) -> u64 {
                self as u64
            }
        })*
    };
}

words!(u8, i8, u16, i16, u32, i32, u64, i64, usize);

impl ArgBits for f32 {
    #[inline]
    fn word(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl ArgBits for f64 {
    #[inline]
    fn word(self) -> u64 {
        self.to_bits()
    }
}

impl<T> ArgBits for *const T {
    #[inline]
    fn word(self) -> u64 {
        self.addr() as u64
    }
}

impl<T> ArgBits for *mut T {
    #[inline]
    fn word(self) -> u64 {
        self.addr() as u64
    }
}

/// Shows the arguments of the current call to observers; they are converted only if there is an observer.
///
/// # Errors
/// What the watcher refuses the call with (fault injection).
#[inline]
pub fn trace<const N: usize>(cx: &Cx<'_>, words: impl FnOnce() -> [u64; N]) -> Result<()> {
    match observers::is_off() {
        true => Ok(()),
        false => observers::arguments(cx, &words()),
    }
}

/// Begins to watch a call, if anybody watches; then [`end`] has to follow.
#[inline]
pub(super) fn begin(call: &'static Call) -> bool {
    !observers::is_off() && begin_observed(call)
}

/// Never a part of its caller: the distance from here to the return address of the C function is then the same at each call of
/// that function.
#[cold]
#[inline(never)]
fn begin_observed(call: &'static Call) -> bool {
    let mark = 0u8;
    let here = std::hint::black_box(&raw const mark).addr();
    let known = sites::find(call, here);
    let begun = match script() {
        Some(script) => observers::begin_in_script(call, script),
        None => observers::begin(call, known),
    };
    if let Some(walk) = begun.walk {
        sites::learn(call, here, &walk);
    }
    begun.observed
}

/// Returns where a Python program calls from, unless the module `acl` has set that already, or no check is active.
fn script() -> Option<observers::Script> {
    if observers::needs_script() {
        return interpreter::script();
    }
    None
}

/// Ends what [`begin`] began: shows the code, what the call returned, and what it wrote.
#[cold]
pub(super) fn end(call: &'static Call, code: i32, returned: ReturnKind) {
    observers::end(call, code, returned, read);
}

/// Converts a returned number or address to 64 bits; 0 otherwise.
pub(super) fn any_word<T: Copy + 'static>(value: &T) -> u64 {
    if size_of::<T>() == 8 {
        // SAFETY: as long as a word, and what C functions return in a register has no padding.
        return unsafe { std::mem::transmute_copy::<T, u64>(value) };
    }
    0
}

/// Reads what a successful call wrote.
fn read(address: u64, bytes: usize) -> u64 {
    let mut word = [0u8; 8];
    let from: *const c_void = std::ptr::with_exposed_provenance(address as usize);
    // SAFETY: the call succeeded and has written that many bytes through this pointer of the program.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), word.as_mut_ptr(), bytes.min(8)) };
    u64::from_le_bytes(word)
}
