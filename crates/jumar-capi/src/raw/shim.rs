//! The macros behind the generated shims: one row for each function of the interface.
//!
//! A row states the C signature, how the call is answered, and then reads as the safe function does: its arguments, `->` and
//! its results, each with the way it is converted. The module of the row is the one of jumar-acl that has the safe function.

use std::ffi::CString;

use crate::acl::{Raw, Result, types};

use super::input::Plain;
use super::output::{InOut, Out, OutArray, pointer};

/// Where a result of type `V` goes.
pub trait Output<V> {
    /// Stores the result.
    ///
    /// # Errors
    /// As [`OutArray::set`].
    fn store(self, value: V) -> Result<()>;
}

impl<T: Plain> Output<T> for Out<T> {
    #[inline]
    fn store(self, value: T) -> Result<()> {
        self.set(value);
        Ok(())
    }
}

impl<T: Plain + Copy> Output<Box<T>> for Out<T> {
    #[inline]
    fn store(self, value: Box<T>) -> Result<()> {
        self.set(*value);
        Ok(())
    }
}

impl<T: Plain> Output<T> for InOut<T> {
    #[inline]
    fn store(self, value: T) -> Result<()> {
        self.set(value);
        Ok(())
    }
}

impl<T: Plain> Output<Vec<T>> for OutArray<T> {
    #[inline]
    fn store(self, values: Vec<T>) -> Result<()> {
        self.set(&values)
    }
}

impl Output<CString> for OutArray<u8> {
    #[inline]
    fn store(self, text: CString) -> Result<()> {
        self.set(text.as_bytes_with_nul())
    }
}

/// Where all results of a function go: none, one, or a tuple of several.
pub trait Outputs<V> {
    /// Stores the results in their order.
    ///
    /// # Errors
    /// As [`Output::store`].
    fn store_all(self, values: V) -> Result<()>;
}

impl Outputs<()> for () {
    #[inline]
    fn store_all(self, (): ()) -> Result<()> {
        Ok(())
    }
}

impl<V, P: Output<V>> Outputs<V> for (P,) {
    #[inline]
    fn store_all(self, value: V) -> Result<()> {
        self.0.store(value)
    }
}

macro_rules! outputs {
    ($($value:ident $output:ident $at:tt),*) => {
        impl<$($value, $output: Output<$value>),*> Outputs<($($value,)*)> for ($($output,)*) {
            #[inline]
            fn store_all(self, values: ($($value,)*)) -> Result<()> {
                $(self.$at.store(values.$at)?;)*
                Ok(())
            }
        }
    };
}
outputs!(A P 0, B Q 1);
outputs!(A P 0, B Q 1, C R 2);
outputs!(A P 0, B Q 1, C R 2, D S 3);
outputs!(A P 0, B Q 1, C R 2, D S 3, E T 4);
outputs!(A P 0, B Q 1, C R 2, D S 3, E T 4, F U 5);

/// Returns the name of a parameter without the mark of a Rust keyword.
pub const fn plain_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Returns the address of a structure to C.
pub fn structure<T>(handle: Raw) -> *mut T {
    pointer(handle).cast::<T>()
}

/// Converts an argument from C, by the word of its row.
macro_rules! take {
    (plain $name:ident) => {
        $name
    };
    (handle $name:ident) => {
        raw::handle($name)
    };
    (address $name:ident) => {
        $name.expose_provenance()
    };
    (text $name:ident) => {
        // SAFETY: the caller guarantees null or a text that ends in a zero byte.
        unsafe { raw::text($name) }
    };
    (input $name:ident) => {
        // SAFETY: the caller guarantees null or the address of a value.
        unsafe { raw::input($name, const { raw::plain_name(stringify!($name)) }) }?
    };
    (variable<$of:ty> $name:ident) => {
        // SAFETY: the caller guarantees null or the address of a variable that holds a value.
        unsafe { raw::InOut::<$of>::new($name.cast(), const { raw::plain_name(stringify!($name)) }) }?
    };
    (slice<$of:ty>($length:expr) $name:ident) => {
        // SAFETY: the caller guarantees null or an array of that many values.
        unsafe { raw::slice::<$of>($name.cast(), $length, const { raw::plain_name(stringify!($name)) }) }?
    };
    (texts($length:expr) $name:ident) => {
        // SAFETY: the caller guarantees null or an array of that many texts.
        unsafe { raw::texts($name.cast(), $length, const { raw::plain_name(stringify!($name)) }) }?
    };
    (span($length:expr) $name:ident) => {
        // SAFETY: the caller guarantees the start of that many bytes, until the call (or the task it queues) is done.
        unsafe { raw::span($name.cast(), $length, const { raw::plain_name(stringify!($name)) }) }?
    };
    (out<$of:ty> $name:ident) => {
        // SAFETY: the caller guarantees null or the address of a variable.
        unsafe { raw::Out::<$of>::new($name.cast(), const { raw::plain_name(stringify!($name)) }) }?
    };
    (optional<$of:ty> $name:ident) => {
        // SAFETY: the caller guarantees null or the address of a variable.
        unsafe { raw::Out::<$of>::optional($name.cast(), const { raw::plain_name(stringify!($name)) }) }?
    };
    (array<$of:ty>($length:expr) $name:ident) => {
        // SAFETY: the caller guarantees null or an array of that many.
        unsafe { raw::OutArray::<$of>::new($name.cast(), $length, const { raw::plain_name(stringify!($name)) }) }?
    };
    (optional_array<$of:ty>($length:expr) $name:ident) => {
        // SAFETY: the caller guarantees null or an array of that many.
        unsafe { raw::OutArray::<$of>::optional($name.cast(), $length, const { raw::plain_name(stringify!($name)) }) }?
    };
    // The variable that was taken as an argument.
    (same $name:ident) => {
        $name
    };
}
pub(crate) use take;

/// Lends a converted argument to the safe function.
macro_rules! pass {
    (texts $name:ident) => {
        $name.as_deref()
    };
    (variable $name:ident) => {
        $name.get()
    };
    ($other:ident $name:ident) => {
        $name
    };
}
pub(crate) use pass;

/// Defines the shims of functions that are implemented.
macro_rules! shims {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $of:ty),*) $(-> $ret:ty)? =
        $door:ident $(($neutral:expr, $convert:expr))? in $module:ident
        ($($in:ident $take:ident $(<$in_of:ty>)? $(($in_length:expr))?),*) ->
        ($($out:ident $output:ident $(<$out_of:ty>)? $(($out_length:expr))?),*);)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($param: $of),*) $(-> $ret)? {
            raw::$door(&calls::$name $(, $neutral)?, |cx| {
                raw::trace(cx, || [$(raw::ArgBits::word($param)),*])?;
                $(let $in = raw::take!($take $(<$in_of>)? $(($in_length))? $in);)*
                $(let $out = raw::take!($output $(<$out_of>)? $(($out_length))? $out);)*
                let answer = jumar_acl::$module::$name(cx $(, raw::pass!($take $in))*)?;
                let outputs = ($($out,)*);
                raw::answer!($door $($convert)?, outputs, answer)
            })
        }
    )*};
}
pub(crate) use shims;

/// Turns what the safe function returned into what the shim's boundary returns.
macro_rules! answer {
    (status, $outputs:ident, $answer:ident) => {
        raw::Outputs::store_all($outputs, $answer)
    };
    (hccl_status, $outputs:ident, $answer:ident) => {
        raw::Outputs::store_all($outputs, $answer)
    };
    (code, $outputs:ident, $answer:ident) => {{
        let () = $outputs;
        Ok($answer)
    }};
    (value $convert:expr, $outputs:ident, $answer:ident) => {{
        let () = $outputs;
        Ok($convert($answer))
    }};
}
pub(crate) use answer;

/// Defines the shims of functions that are not supported yet.
macro_rules! stubs {
    ($($(#[$doc:meta])* fn $name:ident($($param:ident: $of:ty),*) $(-> $ret:ty)? = $door:ident $(($neutral:expr))?;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($param: $of),*) $(-> $ret)? {
            $(let _ = $param;)*
            raw::$door(&calls::$name $(, $neutral)?)
        }
    )*};
}
pub(crate) use stubs;

/// Declares that whatever bytes C wrote into a structure are a value.
macro_rules! plain_structures {
    ($($name:ident),* $(,)?) => {$(
        // SAFETY: `repr(C)`, of integers, floats, handles and arrays of them.
        unsafe impl $crate::raw::Plain for $crate::acl::types::$name {}
    )*};
}
pub(crate) use plain_structures;

/// Marks structures that are passed by value: observers of calls receive 0 for them.
macro_rules! no_word {
    ($($of:ty),*) => {
        $(impl super::ArgBits for $of {
            #[inline]
            fn word(self) -> u64 {
                0
            }
        })*
    };
}
no_word!(
    types::HcclConfigValue,
    types::aclrtIpcEventHandle,
    types::aclrtMemManagedLocation,
    types::hi_vpc_make_border_info
);
