//! Arguments as 64 bit words, and the values that go in and out of the safe functions.

use std::ffi::{CStr, CString};

use jumar_acl::generated::types::aclrtMemManagedLocation;
use jumar_acl::{Raw, Span};

use crate::raw;

/// The size of the memory behind each array of a case, in bytes. No call is made with a count that goes beyond it.
pub const ARRAY_BYTES: usize = 1 << 20;

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// A Rust program cannot say it.
    NotForRust(String),
    /// A function broke its own word.
    Broken(String),
}

/// What a call answers: one word, a code or a value.
pub type CallAnswer = Result<u64, Stop>;

fn not_for_rust<T>(why: &str) -> Result<T, Stop> {
    Err(Stop::NotForRust(why.to_string()))
}

/// A value that lies in memory as C has it.
pub trait Cell: Sized {
    /// Reads it from its bytes.
    fn load(bytes: &[u8]) -> Self;
    /// Writes it to its bytes.
    fn store(&self, bytes: &mut [u8]);
}

/// A value that fits into a word.
pub trait RawArg {
    /// Takes it from a word, as C narrows an integer.
    fn from_word(word: u64) -> Self;
}

macro_rules! numbers {
    ($($of:ty),*) => {$(
        impl Cell for $of {
            fn load(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$of>()];
                own.copy_from_slice(&bytes[..size_of::<$of>()]);
                <$of>::from_ne_bytes(own)
            }

            fn store(&self, bytes: &mut [u8]) {
                bytes[..size_of::<$of>()].copy_from_slice(&self.to_ne_bytes());
            }
        }
    )*};
}

macro_rules! integers {
    ($($of:ty),*) => {$(
        impl RawArg for $of {
            fn from_word(word: u64) -> Self {
                word as $of
            }
        }

        impl Answer for $of {
            fn word(self) -> u64 {
                self as i64 as u64
            }
        }

        impl Count for $of {
            fn count(self) -> usize {
                usize::try_from(self).unwrap_or(0)
            }
        }
    )*};
}

numbers!(u8, i8, u16, i16, u32, i32, u64, i64, usize, f32, f64);
integers!(u8, i8, u16, i16, u32, i32, u64, i64, usize);

impl Cell for Raw {
    fn load(bytes: &[u8]) -> Self {
        Raw(u64::load(bytes))
    }

    fn store(&self, bytes: &mut [u8]) {
        self.0.store(bytes);
    }
}

impl<T: Cell, const N: usize> Cell for [T; N] {
    fn load(bytes: &[u8]) -> Self {
        std::array::from_fn(|at| T::load(&bytes[at * size_of::<T>()..]))
    }

    fn store(&self, bytes: &mut [u8]) {
        for (at, value) in self.iter().enumerate() {
            value.store(&mut bytes[at * size_of::<T>()..]);
        }
    }
}

/// Makes a [`Cell`] of a structure with the layout of its C namesake.
macro_rules! structure {
    ($of:ident { $($field:ident),* }) => {
        impl Cell for types::$of {
            fn load(bytes: &[u8]) -> Self {
                types::$of { $($field: Cell::load(&bytes[std::mem::offset_of!(types::$of, $field)..])),* }
            }

            fn store(&self, bytes: &mut [u8]) {
                $(self.$field.store(&mut bytes[std::mem::offset_of!(types::$of, $field)..]);)*
            }
        }
    };
}
pub(crate) use structure;

impl RawArg for f32 {
    fn from_word(word: u64) -> Self {
        f64::from_bits(word) as f32
    }
}

impl RawArg for f64 {
    fn from_word(word: u64) -> Self {
        f64::from_bits(word)
    }
}

impl RawArg for Raw {
    fn from_word(word: u64) -> Self {
        Raw(word)
    }
}

/// The one structure of the interface that is passed by value; it is as long as a word.
impl RawArg for aclrtMemManagedLocation {
    fn from_word(word: u64) -> Self {
        Self::load(&word.to_ne_bytes())
    }
}

/// The result of a function that returns no code.
pub trait Answer {
    /// Returns the 64-bit word; for a float, the bits of the double.
    fn word(self) -> u64;
}

impl Answer for f32 {
    fn word(self) -> u64 {
        f64::from(self).to_bits()
    }
}

impl Answer for f64 {
    fn word(self) -> u64 {
        self.to_bits()
    }
}

impl Answer for Raw {
    fn word(self) -> u64 {
        self.0
    }
}

impl Answer for &'static CStr {
    fn word(self) -> u64 {
        self.as_ptr().expose_provenance() as u64
    }
}

impl Answer for Option<&'static CStr> {
    fn word(self) -> u64 {
        self.map_or(0, Answer::word)
    }
}

/// A number that counts.
pub trait Count {
    /// Returns the count; a negative number counts nothing.
    fn count(self) -> usize;
}

/// Turns a number that counts into a length.
pub fn count(number: impl Count) -> usize {
    number.count()
}

/// The length of the range that rows lie in, as the library's own shims compute it.
pub fn rows(pitch: usize, width: usize, height: usize) -> usize {
    match height.checked_sub(1) {
        Some(gaps) if width > 0 => gaps.saturating_mul(pitch).saturating_add(width),
        _ => 0,
    }
}

/// The answer of a function with a status.
pub fn status(done: Result<(), i32>) -> CallAnswer {
    Ok(done.err().unwrap_or(0).word())
}

/// The answer of a function that answers a code which is not its own.
pub fn code(done: Result<i32, i32>) -> CallAnswer {
    Ok(done.unwrap_or_else(|code| code).word())
}

/// The result of a function that returns a value: the neutral one on an error.
pub fn value(done: Result<impl Answer, i32>, neutral: impl Answer) -> CallAnswer {
    Ok(done.map_or_else(|_| neutral.word(), Answer::word))
}

/// Makes a range of memory.
///
/// # Errors
/// It is null, or it wraps: no span is.
pub fn span(address: usize, bytes: usize) -> Result<Span, Stop> {
    if bytes == 0 {
        return Ok(Span::EMPTY);
    }
    if address == 0 {
        return not_for_rust("no span is null");
    }
    raw::span(address, bytes).map_or_else(|| not_for_rust("no span is longer than memory"), Ok)
}

/// The arguments of a call.
pub struct RawArgs<'a>(pub &'a [u64]);

impl RawArgs<'_> {
    fn address(&self, at: usize) -> usize {
        self.0[at] as usize
    }

    /// A number or a handle.
    pub fn plain<T: RawArg>(&self, at: usize) -> T {
        T::from_word(self.0[at])
    }

    /// A text, or null.
    pub fn text(&self, at: usize) -> Option<CString> {
        raw::text(self.address(at))
    }

    /// A structure that is read, or null.
    pub fn input<T: Cell>(&self, at: usize) -> Option<T> {
        let address = self.address(at);
        (address != 0).then(|| T::load(&raw::read(address, size_of::<T>())))
    }

    /// An array that is read, or null.
    ///
    /// # Errors
    /// It would be longer than memory that a case has.
    pub fn slice<T: Cell>(&self, at: usize, length: usize) -> Result<Option<Vec<T>>, Stop> {
        let address = self.address(at);
        if address == 0 {
            return Ok(None);
        }
        let size = size_of::<T>();
        if length > ARRAY_BYTES / size {
            return not_for_rust("a slice is as long as it says");
        }
        let bytes = raw::read(address, length * size);
        let values = (0..length).map(|at| T::load(&bytes[at * size..]));
        Ok(Some(values.collect()))
    }

    /// A range of memory.
    ///
    /// # Errors
    /// It is null, or it wraps: no span is.
    pub fn span(&self, at: usize, bytes: usize) -> Result<Span, Stop> {
        span(self.address(at), bytes)
    }

    /// Returns the destination of a result.
    ///
    /// # Errors
    /// It is null: a Rust function returns its results.
    pub fn out(&self, at: usize) -> Result<VariableAddress, Stop> {
        if self.address(at) == 0 {
            return not_for_rust("a result is returned, so there is no null for it");
        }
        Ok(self.optional(at))
    }

    /// The destination of an optional result.
    pub fn optional(&self, at: usize) -> VariableAddress {
        VariableAddress(self.address(at))
    }

    /// Returns the destination of an array.
    ///
    /// # Errors
    /// It is null although the capacity is not 0.
    pub fn array(&self, at: usize, capacity: usize, optional: bool) -> Result<ArrayOutput, Stop> {
        let address = self.address(at);
        if address == 0 && capacity > 0 && !optional {
            return not_for_rust("a result is returned, so there is no null for it");
        }
        Ok(ArrayOutput { address, capacity })
    }
}

/// The address of a variable.
pub struct VariableAddress(usize);

impl VariableAddress {
    /// Reads the variable.
    pub fn get<T: Cell>(&self) -> T {
        T::load(&raw::read(self.0, size_of::<T>()))
    }

    /// Writes the variable, if there is one.
    pub fn set<T: Cell>(&self, value: &T) {
        if self.0 != 0 {
            raw::write(self.0, &bytes_of(std::slice::from_ref(value)));
        }
    }
}

/// The address of an array.
pub struct ArrayOutput {
    address: usize,
    capacity: usize,
}

impl ArrayOutput {
    /// Writes the first values and leaves the rest as it is.
    ///
    /// # Errors
    /// There are more values than the array holds, which the function should have refused.
    pub fn set_all<T: Cell>(&self, values: &[T]) -> Result<(), Stop> {
        if values.len() > self.capacity && self.address != 0 {
            return Err(Stop::Broken(format!(
                "{} values for an array of {}",
                values.len(),
                self.capacity
            )));
        }
        if self.address != 0 {
            raw::write(self.address, &bytes_of(values));
        }
        Ok(())
    }
}

fn bytes_of<T: Cell>(values: &[T]) -> Vec<u8> {
    let size = size_of::<T>();
    let mut bytes = vec![0; size_of_val(values)];
    for (at, value) in values.iter().enumerate() {
        value.store(&mut bytes[at * size..]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use jumar_acl::generated::types;

    use super::*;

    #[test]
    fn a_structure_survives_its_bytes() {
        let mut dims = types::aclmdlIODims::ZERO;
        dims.dimCount = 2;
        dims.dims[1] = -7;
        let bytes = bytes_of(&[dims]);
        assert_eq!(bytes.len(), size_of::<types::aclmdlIODims>());
        let again = types::aclmdlIODims::load(&bytes);
        assert_eq!((again.dimCount, again.dims[1]), (2, -7));
    }

    #[test]
    fn what_rust_cannot_say_is_not_said() {
        let words = RawArgs(&[0, u64::MAX, 16]);
        assert!(matches!(words.out(0), Err(Stop::NotForRust(_))));
        assert!(matches!(words.span(0, 4), Err(Stop::NotForRust(_))));
        assert!(matches!(words.span(1, 4), Err(Stop::NotForRust(_))));
        assert!(matches!(
            words.slice::<u32>(2, usize::MAX),
            Err(Stop::NotForRust(_))
        ));
        assert_eq!(words.slice::<u32>(0, usize::MAX), Ok(None));
    }

    #[test]
    fn a_negative_code_keeps_its_sign() {
        assert_eq!(status(Err(-1)), Ok(u64::MAX));
        assert_eq!(value(Err::<f32, i32>(1), 0.0_f64), Ok(0));
    }
}
