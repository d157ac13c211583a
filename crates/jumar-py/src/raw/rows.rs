//! Wrappers of C functions that take and give plain values, as one row each.

use std::cell::Cell;
use std::ffi::{CString, c_char};

use super::ffi::{Args, FromArg, Pointer, Stop};

/// A parameter that one argument of a C function is made of.
pub trait Parameter: FromArg {
    /// The type of the argument.
    type C;

    /// Returns the argument. An address in it is valid as long as the parameter.
    fn to_c(&self) -> Self::C;
}

macro_rules! passed_as_they_are {
    ($($kind:ty),*) => {$(
        impl Parameter for $kind {
            type C = $kind;

            fn to_c(&self) -> $kind {
                *self
            }
        }
    )*};
}

passed_as_they_are!(
    i8, u8, i16, u16, i32, u32, i64, u64, usize, f32, f64, Pointer
);

impl Parameter for CString {
    type C = *const c_char;

    fn to_c(&self) -> *const c_char {
        self.as_ptr()
    }
}

/// The arguments of a call, one after the other.
pub struct ArgumentCursor<'a, 'py> {
    call: &'a Args<'py>,
    next: Cell<usize>,
}

impl<'a, 'py> ArgumentCursor<'a, 'py> {
    /// Refuses another number of arguments than a function takes; one that takes none ignores them.
    pub fn new(call: &'a Args<'py>, takes: usize) -> Result<Self, Stop> {
        if takes > 0 {
            call.expect(takes, takes)?;
        }
        let next = Cell::new(0);
        Ok(ArgumentCursor { call, next })
    }

    /// Returns the next argument, converted.
    pub fn take<T: FromArg>(&self) -> Result<T, Stop> {
        let index = self.next.get();
        self.next.set(index + 1);
        self.call.get(index)
    }
}

/// Defines wrappers: `wrapper = returns function [results before] (parameters) [results after] kind;`.
///
/// The results are written by the C function, and stand before or after the parameters in its list of arguments. The kind is `status`
/// or `media_status` (a code, which Python gets last), `value(type)` or `nothing`. `waits` frees the interpreter during the call.
macro_rules! wrappers {
    ($($name:ident = $how:ident $c:ident [$($first:ident: $first_type:ty),*] ($($parameter:ident: $type:ty),*) [$($last:ident: $last_type:ty),*]
        $kind:ident $(($value:ty))?;)*) => {$(
        #[allow(unused_variables, reason = "some functions take no arguments")]
        fn $name<'py>(call: &Args<'py>) -> Answer<'py> {
            let takes = <[&str]>::len(&[$(stringify!($parameter)),*]);
            let arguments = ArgumentCursor::new(call, takes)?;
            $(let $parameter = arguments.take::<$type>()?;)*
            $(let mut $first = <$first_type>::default();)*
            $(let mut $last = <$last_type>::default();)*
            wrapper_call!(
                $kind $(($value))? call.$how $c
                ($(*mut $first_type,)* $(<$type as Parameter>::C,)* $(*mut $last_type,)*)
                [$(&raw mut $first,)* $($parameter.to_c(),)* $(&raw mut $last,)*]
                {$($first)* $($last)*}
            )
        }
    )*};
}

/// Calls the C function of a row, and makes what Python gets.
macro_rules! wrapper_call {
    (status $call:ident.$how:ident $c:ident ($($type:ty,)*) [$($value:expr,)*] {$($result:ident)*}) => {{
        let ret = c_call!($call.$how $c($($type),*) -> i32, [$($value),*], or NOT_SUPPORTED);
        with_code!($call, ret, $($result)*)
    }};
    (media_status $call:ident.$how:ident $c:ident ($($type:ty,)*) [$($value:expr,)*] {$($result:ident)*}) => {{
        let ret = c_call!($call.$how $c($($type),*) -> i32, [$($value),*], or NOT_SUPPORTED);
        with_code!($call, media_code(ret), $($result)*)
    }};
    (value($result:ty) $call:ident.$how:ident $c:ident ($($type:ty,)*) [$($value:expr,)*] {}) => {{
        let ret = c_call!($call.$how $c($($type),*) -> $result, [$($value),*], or Default::default());
        $call.one(&ret)
    }};
    (nothing $call:ident.$how:ident $c:ident ($($type:ty,)*) [$($value:expr,)*] {}) => {{
        c_call!($call.$how $c($($type),*) -> (), [$($value),*], or ());
        $call.none()
    }};
}

/// Returns results and a code: the code alone, or all as a tuple.
macro_rules! with_code {
    ($call:ident, $code:expr,) => {
        $call.one(&$code)
    };
    ($call:ident, $code:expr, $($result:ident)+) => {
        $call.many(&[$(&$result,)+ &$code])
    };
}
