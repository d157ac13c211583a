//! One row for a call of the behaviour table: how each argument follows from the words, and where each result goes.
//!
//! The rows in [`crate::generated::calls`] read as the safe functions do: the arguments, `->`, the results, and what the word
//! of the answer is. `plain(3)` is the argument in the fourth word.

use std::ffi::{CStr, CString};

use jumar_acl::Span;

use crate::raw;
use crate::raw_args::{self, ArrayOutput, Cell, Count, RawArg, RawArgs, Stop, VariableAddress};

/// An argument that was taken from the words, which the call borrows.
pub trait Argument {
    /// What the safe function takes.
    type SafeArgument<'a>
    where
        Self: 'a;
    /// Lends it to the function.
    fn pass(&self) -> Self::SafeArgument<'_>;
}

/// A number, a handle, or a structure by value.
pub struct Plain<T>(T);

impl<T: Copy> Argument for Plain<T> {
    type SafeArgument<'a>
        = T
    where
        T: 'a;
    fn pass(&self) -> T {
        self.0
    }
}

/// A structure that is read, or null.
pub struct Input<T>(Option<T>);

impl<T> Argument for Input<T> {
    type SafeArgument<'a>
        = Option<&'a T>
    where
        T: 'a;
    fn pass(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

/// An array that is read, or null.
pub struct Array<T>(Option<Vec<T>>);

impl<T> Argument for Array<T> {
    type SafeArgument<'a>
        = Option<&'a [T]>
    where
        T: 'a;
    fn pass(&self) -> Option<&[T]> {
        self.0.as_deref()
    }
}

/// A text, or null.
pub struct Text(Option<CString>);

impl Argument for Text {
    type SafeArgument<'a> = Option<&'a CStr>;
    fn pass(&self) -> Option<&CStr> {
        self.0.as_deref()
    }
}

/// The words of a call, asked for one argument at a time.
#[derive(Clone, Copy)]
pub struct RowArgs<'a>(pub &'a RawArgs<'a>);

impl RowArgs<'_> {
    /// Takes a number or a handle.
    ///
    /// # Errors
    /// None: all kinds of arguments are taken in the same way.
    pub fn plain<T: RawArg>(self, at: usize) -> Result<Plain<T>, Stop> {
        Ok(Plain(self.0.plain(at)))
    }

    /// Takes a structure by value: the word is where it lies.
    ///
    /// # Errors
    /// The address is null.
    pub fn structure<T: Cell>(self, at: usize) -> Result<Plain<T>, Stop> {
        match self.0.input(at) {
            Some(of) => Ok(Plain(of)),
            None => Err(Stop::NotForRust("a structure is there".to_owned())),
        }
    }

    /// Takes a structure that is read, or null.
    ///
    /// # Errors
    /// None.
    pub fn input<T: Cell>(self, at: usize) -> Result<Input<T>, Stop> {
        Ok(Input(self.0.input(at)))
    }

    /// Takes the value of a variable that the call reads and writes.
    ///
    /// # Errors
    /// The address is null.
    pub fn variable<T: Cell>(self, at: usize) -> Result<Plain<T>, Stop> {
        Ok(Plain(self.0.out(at)?.get()))
    }

    /// Takes an array that is read, or null.
    ///
    /// # Errors
    /// As [`RawArgs::slice`].
    pub fn slice<T: Cell>(self, at: usize, length: usize) -> Result<Array<T>, Stop> {
        Ok(Array(self.0.slice(at, length)?))
    }

    /// Takes a text, or null.
    ///
    /// # Errors
    /// None.
    pub fn text(self, at: usize) -> Result<Text, Stop> {
        Ok(Text(self.0.text(at)))
    }

    /// Takes an array of texts, or null. The texts stay where the case has them.
    ///
    /// # Errors
    /// As [`RawArgs::slice`].
    pub fn texts(self, at: usize, length: usize) -> Result<Array<Option<&'static CStr>>, Stop> {
        let addresses = self.0.slice::<usize>(at, length)?;
        Ok(Array(addresses.map(|addresses| {
            addresses.into_iter().map(raw::text_of_case).collect()
        })))
    }

    /// Takes a range of memory.
    ///
    /// # Errors
    /// As [`RawArgs::span`].
    pub fn span(self, at: usize, bytes: usize) -> Result<Plain<Span>, Stop> {
        Ok(Plain(self.0.span(at, bytes)?))
    }

    /// Returns where a result goes.
    ///
    /// # Errors
    /// As [`RawArgs::out`].
    pub fn out(self, at: usize) -> Result<VariableAddress, Stop> {
        self.0.out(at)
    }

    /// Returns where a result goes that the function returns in a box, because it is long.
    ///
    /// # Errors
    /// As [`RawArgs::out`].
    pub fn boxed(self, at: usize) -> Result<LongVariable, Stop> {
        Ok(LongVariable(self.0.out(at)?))
    }

    /// Returns where a result goes that a program may do without.
    ///
    /// # Errors
    /// None.
    pub fn optional(self, at: usize) -> Result<VariableAddress, Stop> {
        Ok(self.0.optional(at))
    }

    /// Returns where an array goes.
    ///
    /// # Errors
    /// As [`RawArgs::array`].
    pub fn array(self, at: usize, capacity: usize) -> Result<ArrayOutput, Stop> {
        self.0.array(at, capacity, false)
    }

    /// Returns where an array goes that a program may do without.
    ///
    /// # Errors
    /// None.
    pub fn optional_array(self, at: usize, capacity: usize) -> Result<ArrayOutput, Stop> {
        self.0.array(at, capacity, true)
    }

    /// Returns the length that a number of the type says.
    pub fn count<T: RawArg + Count>(self, at: usize) -> usize {
        raw_args::count(self.0.plain::<T>(at))
    }

    /// Returns the length of the range that rows lie in.
    pub fn rows(self, pitch: usize, width: usize, height: usize) -> usize {
        raw_args::rows(
            self.count::<usize>(pitch),
            self.count::<usize>(width),
            self.count::<usize>(height),
        )
    }

    /// Returns the size of one number of a data type.
    pub fn element(self, at: usize) -> usize {
        jumar_acl::aclnn::scalar_bytes(self.0.plain(at)).unwrap_or(0)
    }
}

/// The address of a variable that the function returns in a box.
pub struct LongVariable(VariableAddress);

/// Where a result goes.
pub trait Destination<T> {
    /// Stores it.
    ///
    /// # Errors
    /// It is longer than its array, which the function should have refused.
    fn put(&self, value: T) -> Result<(), Stop>;
}

impl<T: Cell> Destination<T> for VariableAddress {
    fn put(&self, value: T) -> Result<(), Stop> {
        self.set(&value);
        Ok(())
    }
}

impl<T: Cell> Destination<Box<T>> for LongVariable {
    fn put(&self, value: Box<T>) -> Result<(), Stop> {
        self.0.set(&*value);
        Ok(())
    }
}

impl<T: Cell> Destination<Vec<T>> for ArrayOutput {
    fn put(&self, values: Vec<T>) -> Result<(), Stop> {
        self.set_all(&values)
    }
}

impl Destination<CString> for ArrayOutput {
    fn put(&self, text: CString) -> Result<(), Stop> {
        self.set_all(text.as_bytes_with_nul())
    }
}

/// Defines the calls: a function for each row, and the table of them all.
macro_rules! calls {
    ($w:ident; $($name:ident in $module:ident
        ($($in:ident: $take:ident($($from:tt)*)),*) -> ($($out:ident: $output:ident($($to:tt)*)),*) $answer:ident$(($neutral:expr))?;)*) => {
        /// The calls by name.
        pub const CALLS: &[(&str, Player)] = &[$((stringify!($name), $name)),*];

        $(fn $name(words: &RawArgs<'_>) -> CallAnswer {
            let $w = RowArgs(words);
            let _ = $w;
            $(let $in = $w.$take($($from)*)?;)*
            // Before the call: a refused output prevents the call.
            $($w.$output($($to)*)?;)*
            let done = enter(&calls::$name, |cx| jumar_acl::$module::$name(cx $(, $in.pass())*));
            calls!(@$answer done, [$($neutral)?], [$($out $w.$output($($to)*)),*])
        })*
    };
    (@status $done:ident, [], [$($out:ident $output:expr),*]) => {
        raw_args::status(match $done {
            Ok(($($out),*)) => {
                $($output?.put($out)?;)*
                Ok(())
            }
            Err(code) => Err(code),
        })
    };
    (@code $done:ident, [], []) => {
        raw_args::code($done)
    };
    (@value $done:ident, [$neutral:expr], [$($out:ident $output:expr),*]) => {
        raw_args::value(match $done {
            Ok((answer $(, $out)*)) => {
                $($output?.put($out)?;)*
                Ok(answer)
            }
            Err(code) => Err(code),
        }, $neutral)
    };
}
pub(crate) use calls;
