//! What the wrappers combine: arguments, results, and the call itself.
//!
//! The conversions are those of CPython's argument codes that the interface is known by: handles, addresses and sizes take a
//! real `int` and reduce it modulo 2^64, so that -1 is a `size_t` of all ones; small numbers and enums take whatever has
//! `__index__`, so that a NumPy integer will do.

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{self, NonNull};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyList, PyString, PyTuple};

use super::callbacks;
use crate::notes;

/// ACL_SUCCESS.
pub const SUCCESS: i32 = 0;
/// ACL_ERROR_INVALID_PARAM.
pub const INVALID_PARAM: i32 = 100_000;
/// ACL_ERROR_API_NOT_SUPPORT.
pub const NOT_SUPPORTED: i32 = 200_001;
/// ACL_ERROR_FAILURE.
pub const FAILURE: i32 = 500_001;

/// Why a call ends in an exception.
pub enum Stop {
    /// The arguments are not what the function takes. The text of the TypeError is the function's own.
    Args,
    /// As `Args`, for the argument of this index, whose value is described.
    Argument(usize, String),
    /// As `Args`, for the number of arguments; the sentence is a note of the exception.
    WithNote(String),
    Raised(PyErr),
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Stop {
        Stop::Raised(error)
    }
}

/// What a wrapper returns.
pub type Answer<'py> = Result<Bound<'py, PyAny>, Stop>;

/// The body of a wrapper.
pub type Body = for<'py> fn(&Args<'py>) -> Answer<'py>;

/// A call from Python under way.
pub struct Args<'py> {
    tuple: Bound<'py, PyTuple>,
}

/// Makes an entry of a table from a wrapper.
macro_rules! method {
    ($name:literal, $body:path, $failed:literal, $doc:literal $(,)?) => {{
        unsafe extern "C" fn entry(
            _module: *mut pyo3::ffi::PyObject,
            args: *mut pyo3::ffi::PyObject,
        ) -> *mut pyo3::ffi::PyObject {
            // SAFETY: CPython calls this with the interpreter attached and the tuple of the arguments.
            unsafe { $crate::raw::ffi::enter(args, $body, $failed, $doc) }
        }
        $crate::raw::table::Method::new($name, entry, $doc)
    }};
}

/// Calls a C function: `c_call!(call.returns name(types) -> result, [values], or what it gives where there is none)`. With
/// `call.waits` the interpreter is free meanwhile.
macro_rules! c_call {
    ($call:ident.$how:ident $name:ident($($kind:ty),* $(,)?) -> $result:ty, [$($value:expr),* $(,)?], or $missing:expr) => {{
        static SYMBOL: $crate::raw::library::Symbol = $crate::raw::library::Symbol::new(
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("an identifier holds no NUL"),
            },
        );
        match SYMBOL.resolve() {
            Some(address) => {
                // SAFETY: the address is that of the C function of this name, and the types are those of its declaration
                // (api/pyacl, which was made from the headers' data).
                let function = unsafe {
                    std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, unsafe extern "C" fn($($kind),*) -> $result>(
                        address,
                    )
                };
                $call.$how(|| {
                    // SAFETY: handles are looked up by the library and not followed; buffers, lists and structures belong to
                    // the caller's frame and are as long as the counts say; the caller guarantees plain addresses.
                    unsafe { function($($value),*) }
                })
            }
            None => {
                $call.missing(&SYMBOL);
                $missing
            }
        }
    }};
}

/// Runs a wrapper for CPython.
///
/// # Safety
///
/// The interpreter is attached, and `args` is a tuple.
pub unsafe fn enter(
    args: *mut ffi::PyObject,
    body: Body,
    failed: &'static CStr,
    doc: &'static CStr,
) -> *mut ffi::PyObject {
    // SAFETY: the caller's contract.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: the caller's contract: a live object, borrowed for the call.
    let args = unsafe { Bound::from_borrowed_ptr(py, args) };
    if super::source_location::is_wanted() {
        // SAFETY: attached already, see `raise`.
        unsafe { Python::attach_unchecked(super::source_location::report) };
    }
    let answer = guarded(failed, || {
        let tuple = args.cast_into::<PyTuple>().map_err(|_| Stop::Args)?;
        body(&Args { tuple }).map_err(|stop| stop.named(doc))
    });
    if super::source_location::is_wanted() && !answer.is_null() {
        // SAFETY: attached already, see `raise`; the answer is a live object.
        unsafe {
            Python::attach_unchecked(|py| {
                super::source_location::ended(&Bound::from_borrowed_ptr(py, answer));
            });
        }
    }
    answer
}

impl Stop {
    /// Names the argument by the signature at the begin of the function's documentation: `name($module, first, second, /)`.
    #[cold]
    fn named(self, doc: &CStr) -> Stop {
        let Stop::Argument(index, value) = self else {
            return self;
        };
        let doc = doc.to_string_lossy();
        let names = doc
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'));
        let name = names.and_then(|(names, _)| {
            let names = names
                .split(", ")
                .filter(|name| *name != "$module" && *name != "/");
            names.filter(|name| !name.starts_with('*')).nth(index)
        });
        let name = name.map_or(String::new(), |name| format!(" ({name})"));
        Stop::WithNote(format!("argument {}{name} is {value}", index + 1))
    }
}

/// Describes a value for a note: its type, and what it is if that is short.
#[cold]
fn described(object: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 60;
    let kind = object.get_type();
    let kind = kind
        .name()
        .map_or("an unknown type".to_owned(), |name| name.to_string());
    let is_plain = object.is_none()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyInt>();
    let shown = match is_plain {
        true => object.repr().ok().map(|text| text.to_string()),
        false => None,
    };
    match shown.filter(|text| text.chars().count() <= LONGEST) {
        Some(text) => {
            format!("{text}, of type {kind}, and cannot be converted to the type of the parameter")
        }
        None => format!("of type {kind}, and cannot be converted to the type of the parameter"),
    }
}

/// Adds a note to the exception that is set, where Python has notes (3.11 and later): its text is the function's own.
#[cold]
fn add_note(py: Python<'_>, note: &str) {
    let error = PyErr::fetch(py);
    let _without_a_note = error.value(py).call_method1("add_note", (note,));
    error.restore(py);
}

/// Runs a part of a function that CPython calls: an error and a panic become exceptions. Returns a new reference, or null with an
/// exception set.
pub fn guarded<'py>(
    failed: &'static CStr,
    body: impl FnOnce() -> Answer<'py>,
) -> *mut ffi::PyObject {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(object)) => return object.into_ptr(),
        Ok(Err(Stop::Raised(error))) => raise(error),
        Ok(Err(stop)) => {
            // SAFETY: attached, with a class that lives as long as the interpreter and a string.
            unsafe { ffi::PyErr_SetString(ffi::PyExc_TypeError, failed.as_ptr()) };
            if let Stop::WithNote(note) = &stop {
                // SAFETY: attached already, see `raise`.
                unsafe { Python::attach_unchecked(|py| add_note(py, note)) };
            }
        }
        Err(_) => {
            raise(PyRuntimeError::new_err(
                "acl: internal error; please report it together with the text above",
            ));
        }
    }
    ptr::null_mut()
}

/// Sets an exception.
#[cold]
fn raise(error: PyErr) {
    // The binding keeps a count of its own of who is attached, and puts off the release of references while that is zero,
    // which it is in a wrapper: attaching again, which costs as much as a whole call, is kept for this road.
    // SAFETY: the thread is attached already, so attaching it can neither wait nor fail.
    unsafe { Python::attach_unchecked(|py| error.restore(py)) };
}

impl<'py> Args<'py> {
    pub fn py(&self) -> Python<'py> {
        self.tuple.py()
    }

    /// How many arguments were passed.
    pub fn len(&self) -> usize {
        self.tuple.len()
    }

    /// Refuses a wrong number of arguments.
    pub fn expect(&self, least: usize, most: usize) -> Result<(), Stop> {
        let given = self.len();
        if (least..=most).contains(&given) {
            return Ok(());
        }
        let takes = match (least, most) {
            (1, 1) => "1 argument".to_owned(),
            _ if least == most => format!("{least} arguments"),
            _ => format!("{least} to {most} arguments"),
        };
        let were = if given == 1 { "was" } else { "were" };
        Err(Stop::WithNote(format!(
            "it takes {takes}, and {given} {were} given"
        )))
    }

    /// An argument as it is.
    pub fn object(&self, index: usize) -> Result<Bound<'py, PyAny>, Stop> {
        self.tuple.get_item(index).map_err(|_| Stop::Args)
    }

    /// An argument, converted.
    pub fn get<T: FromArg>(&self, index: usize) -> Result<T, Stop> {
        let object = self
            .tuple
            .get_borrowed_item(index)
            .map_err(|_| Stop::Args)?;
        T::from_arg(&object).map_err(|stop| match stop {
            Stop::Args => Stop::Argument(index, described(&object)),
            stop => stop,
        })
    }

    /// An argument that may be left out, but may not be `None`.
    pub fn get_or_none<T: FromArg>(&self, index: usize) -> Result<Option<T>, Stop> {
        if index < self.len() {
            self.get(index).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Runs a call that comes back at once.
    pub fn returns<R>(&self, f: impl FnOnce() -> R) -> R {
        f()
    }

    /// Runs a call that may wait, with the interpreter free for other threads and for callbacks.
    pub fn waits<R>(&self, f: impl FnOnce() -> R) -> R {
        AttachedThread(self.py()).waits(f)
    }

    /// Notes that the library has no such function.
    pub fn missing(&self, symbol: &super::library::Symbol) {
        AttachedThread(self.py()).missing(symbol);
    }

    /// Notes a refusal that the library never saw. Returns the code for it.
    #[cold]
    pub fn refuse(&self, sentence: &str) -> i32 {
        notes::keep(sentence.to_string());
        INVALID_PARAM
    }

    /// Notes that nothing stands behind a function. Returns the code for that.
    pub fn unsupported(&self, name: &str) -> i32 {
        notes::keep(format!("{name} is not supported"));
        NOT_SUPPORTED
    }

    /// A bare result.
    pub fn one(&self, value: &dyn Object) -> Answer<'py> {
        Ok(value.object(self.py())?)
    }

    /// A tuple of results.
    pub fn many(&self, values: &[&dyn Object]) -> Answer<'py> {
        let values = values
            .iter()
            .map(|value| value.object(self.py()))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(self.py(), values)?.into_any())
    }

    /// `None`.
    pub fn none(&self) -> Answer<'py> {
        Ok(self.py().None().into_bound(self.py()))
    }
}

/// A thread that has the interpreter, as [`c_call`] takes it where there are no arguments of a wrapper.
#[derive(Clone, Copy)]
pub struct AttachedThread<'py>(pub Python<'py>);

impl AttachedThread<'_> {
    /// Runs a call that comes back at once.
    pub fn returns<R>(self, f: impl FnOnce() -> R) -> R {
        f()
    }

    /// As [`Args::waits`].
    pub fn waits<R>(self, f: impl FnOnce() -> R) -> R {
        let f = Carry(f);
        let result = self.0.detach(move || Carry((f.open())())).open();
        callbacks::release_dropped(self.0);
        result
    }

    /// As [`Args::missing`].
    #[cold]
    pub fn missing(self, symbol: &super::library::Symbol) {
        notes::keep(format!(
            "{} is not supported: the library that was loaded does not have it",
            symbol.name()
        ));
    }
}

/// Lets plain addresses into a closure that runs without the interpreter.
struct Carry<T>(T);

// SAFETY: the closure runs on the thread that made it, and its result is read there; what `Send` guards against here is the
// use of Python objects without the interpreter, and the wrappers carry numbers, addresses and buffers of C only.
unsafe impl<T> Send for Carry<T> {}

impl<T> Carry<T> {
    fn open(self) -> T {
        self.0
    }
}

/// A handle or an address: a number that this crate never follows, except in [`super::memory`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Pointer(*mut c_void);

impl Default for Pointer {
    fn default() -> Pointer {
        Pointer(ptr::null_mut())
    }
}

impl Pointer {
    /// The address of a variable.
    pub fn of<T: ?Sized>(value: &T) -> Pointer {
        Pointer((&raw const *value).cast_mut().cast())
    }

    /// The address of a variable that C may write.
    pub fn of_mut<T: ?Sized>(value: &mut T) -> Pointer {
        Pointer((&raw mut *value).cast())
    }

    /// A number that goes through C in a parameter for an address.
    pub fn of_number(number: u64) -> Pointer {
        Pointer(ptr::without_provenance_mut(number as usize))
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn as_ptr(self) -> *mut c_void {
        self.0
    }

    pub fn number(self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

/// A string of the library, or null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct CText(*const c_char);

impl Default for CText {
    fn default() -> CText {
        CText(ptr::null())
    }
}

impl CText {
    /// The text with what is not UTF-8 replaced; `None` for null.
    pub fn read(self) -> Option<String> {
        let text = NonNull::new(self.0.cast_mut())?;
        // SAFETY: only a C function of the library makes a value of this type (`c_call`), and its declaration promises a
        // string that lives at least until the next call on this thread.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        Some(text.to_string_lossy().into_owned())
    }
}

/// A conversion from Python.
pub trait FromArg: Sized {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop>;
}

/// A real int, reduced modulo 2^64.
fn word(object: &Bound<'_, PyAny>) -> Result<u64, Stop> {
    // SAFETY: a live object, and the interpreter is attached.
    if unsafe { ffi::PyLong_Check(object.as_ptr()) } == 0 {
        return Err(Stop::Args);
    }
    // SAFETY: as above; an int converts without running Python code.
    let value = unsafe { ffi::PyLong_AsUnsignedLongLongMask(object.as_ptr()) };
    if value == u64::MAX {
        clear_error(object.py())?
    }
    Ok(value)
}

/// Whatever has `__index__`, as an int.
fn index<'py>(object: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>, Stop> {
    // SAFETY: a live object, and the interpreter is attached.
    let index = unsafe { ffi::PyNumber_Index(object.as_ptr()) };
    // SAFETY: a new reference, or null with an exception set.
    unsafe { Bound::from_owned_ptr_or_opt(object.py(), index) }.ok_or_else(|| {
        // SAFETY: the interpreter is attached.
        unsafe { ffi::PyErr_Clear() };
        Stop::Args
    })
}

/// Clears an exception, which the function's own text replaces; fails when there was one.
fn clear_error(_: Python<'_>) -> Result<(), Stop> {
    // SAFETY: `Python` proves that the interpreter is attached.
    if unsafe { ffi::PyErr_Occurred() }.is_null() {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { ffi::PyErr_Clear() };
    Err(Stop::Args)
}

fn signed(object: &Bound<'_, PyAny>) -> Result<i64, Stop> {
    let object = index(object)?;
    // SAFETY: an int, and the interpreter is attached.
    let value = unsafe { ffi::PyLong_AsLongLong(object.as_ptr()) };
    if value == -1 {
        clear_error(object.py())?
    }
    Ok(value)
}

macro_rules! from_index {
    ($($kind:ty),*) => {$(
        impl FromArg for $kind {
            fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
                <$kind>::try_from(signed(object)?).map_err(|_| Stop::Args)
            }
        }
    )*};
}
from_index!(i8, i16, i32, i64, u8, u16);

impl FromArg for u32 {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let value = word(&index(object)?)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "unsigned int is reduced modulo 2^32"
        )]
        Ok(value as u32)
    }
}

impl FromArg for u64 {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        word(object)
    }
}

impl FromArg for usize {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let value = word(object)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "size_t has 64 bits on every target"
        )]
        Ok(value as usize)
    }
}

impl FromArg for Pointer {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        Ok(Pointer(ptr::with_exposed_provenance_mut(usize::from_arg(
            object,
        )?)))
    }
}

impl FromArg for f64 {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        // SAFETY: a live object, and the interpreter is attached.
        let value = unsafe { ffi::PyFloat_AsDouble(object.as_ptr()) };
        #[expect(
            clippy::float_cmp,
            reason = "the mark of a failure is exactly this value"
        )]
        if value == -1.0 {
            clear_error(object.py())?;
        }
        Ok(value)
    }
}

impl FromArg for f32 {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a C float is what the function takes"
        )]
        Ok(f64::from_arg(object)? as f32)
    }
}

impl FromArg for CString {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let text = object.cast::<PyString>().map_err(|_| Stop::Args)?;
        // A lone surrogate has no UTF-8, and C text holds no NUL.
        let bytes = text.encode_utf8().map_err(|_| Stop::Args)?;
        CString::new(bytes.as_bytes()).map_err(|_| Stop::Args)
    }
}

impl<T: FromArg> FromArg for Vec<T> {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        // A tuple is refused: the interface asks for `list` by name.
        object
            .cast::<PyList>()
            .map_err(|_| Stop::Args)?
            .iter()
            .map(|item| T::from_arg(&item))
            .collect()
    }
}

impl FromArg for [i64; 2] {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        Vec::<i64>::from_arg(object)?
            .try_into()
            .map_err(|_| Stop::Args)
    }
}

/// A list of strings and the array of their addresses.
pub struct TextList {
    addresses: Vec<*const c_char>,
    _texts: Vec<CString>,
}

impl TextList {
    pub fn as_ptr(&self) -> *const *const c_char {
        self.addresses.as_ptr()
    }
}

impl FromArg for TextList {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        let texts = Vec::<CString>::from_arg(object)?;
        Ok(TextList {
            addresses: texts.iter().map(|text| text.as_ptr()).collect(),
            _texts: texts,
        })
    }
}

/// Any callable, where it is not called.
pub struct AnyCallable;

impl FromArg for AnyCallable {
    fn from_arg(object: &Bound<'_, PyAny>) -> Result<Self, Stop> {
        if object.is_callable() {
            Ok(AnyCallable)
        } else {
            Err(Stop::Args)
        }
    }
}

/// The number of elements that is passed to C.
pub trait Count {
    fn count(&self) -> usize;
}

impl<T> Count for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }
}

impl Count for CString {
    fn count(&self) -> usize {
        self.as_bytes().len()
    }
}

impl Count for TextList {
    fn count(&self) -> usize {
        self.addresses.len()
    }
}

/// A count in the type of the C function; no list is so long that it would not fit.
pub fn saturated<T: TryFrom<usize> + Limit>(count: usize) -> T {
    T::try_from(count).unwrap_or(T::MOST)
}

/// The largest value of a type.
pub trait Limit {
    const MOST: Self;
}

impl Limit for i32 {
    const MOST: i32 = i32::MAX;
}
impl Limit for u32 {
    const MOST: u32 = u32::MAX;
}
impl Limit for usize {
    const MOST: usize = usize::MAX;
}

/// A number as a length; a negative one is none.
pub fn wide<T: TryInto<usize>>(number: T) -> usize {
    number.try_into().unwrap_or(0)
}

/// The sum of a list as a length.
pub fn sum(numbers: &[u32]) -> usize {
    numbers
        .iter()
        .fold(0, |sum: usize, number| sum.saturating_add(wide(*number)))
}

/// The address of a text, or null where it was left out.
pub fn or_null(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

/// A conversion to Python.
pub trait Object {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;
}

macro_rules! number_object {
    ($($kind:ty),*) => {$(
        impl Object for $kind {
            fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok((*self).into_pyobject(py)?.into_any())
            }
        }
    )*};
}
number_object!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

impl Object for f64 {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyFloat::new(py, *self).into_any())
    }
}

impl Object for f32 {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        f64::from(*self).object(py)
    }
}

impl Object for Pointer {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.number().object(py)
    }
}

impl Object for str {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyString::new(py, self).into_any())
    }
}

impl Object for &str {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (**self).object(py)
    }
}

impl Object for String {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_str().object(py)
    }
}

impl<T: Object> Object for Option<T> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Some(value) => value.object(py),
            None => Ok(py.None().into_bound(py)),
        }
    }
}

impl<T: Object> Object for [T] {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let items = self
            .iter()
            .map(|item| item.object(py))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, items)?.into_any())
    }
}

impl<T: Object> Object for Vec<T> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_slice().object(py)
    }
}

impl<T: Object, const N: usize> Object for [T; N] {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.as_slice().object(py)
    }
}

impl Object for CText {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read().object(py)
    }
}

impl Object for Bound<'_, PyAny> {
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // A reference of its own, under the lifetime that was asked for.
        Ok(self.clone().unbind().into_bound(py))
    }
}

/// A buffer for a text that C writes.
pub struct TextBuffer(Option<Vec<u8>>);

impl TextBuffer {
    /// No name or key is longer.
    const MOST: usize = 1 << 20;

    pub fn new(size: usize) -> TextBuffer {
        // One byte more than the length that C receives, so that there is a NUL in any case.
        TextBuffer((size <= Self::MOST).then(|| vec![0; size + 1]))
    }

    /// Whether more was asked for than is given.
    pub fn is_refused(&self) -> bool {
        self.0.is_none()
    }

    pub fn pointer(&mut self) -> Pointer {
        self.0.as_mut().map_or_else(Pointer::default, |bytes| {
            Pointer::of_mut(bytes.as_mut_slice())
        })
    }

    /// What C wrote; nothing when the call failed.
    pub fn text(&self, ret: i32) -> String {
        match &self.0 {
            Some(bytes) if ret == SUCCESS => super::records::text(bytes),
            _ => String::new(),
        }
    }
}
