//! What the pairs of shims of single operators share.

use std::ffi::c_void;

use jumar_acl::aclnn::{self, RawArg};

use crate::acl::{Call, observers};

use super::ArgBits;

/// A pointer: a handle, a text, or memory.
pub type P = *mut c_void;
/// A C boolean, of which only 0 is false.
pub type Bool = u8;

/// More than any operator has parameters.
const MOST: usize = 64;

/// An argument in 64 bits.
pub trait Bits {
    /// Returns integers sign-extended, floats as doubles, booleans as 0 or 1.
    fn bits(self) -> u64;
}

impl Bits for P {
    fn bits(self) -> u64 {
        self.expose_provenance() as u64
    }
}

impl Bits for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

impl Bits for u64 {
    fn bits(self) -> u64 {
        self
    }
}

impl Bits for i32 {
    fn bits(self) -> u64 {
        i64::from(self) as u64
    }
}

impl Bits for i8 {
    fn bits(self) -> u64 {
        i64::from(self) as u64
    }
}

impl Bits for Bool {
    fn bits(self) -> u64 {
        u64::from(self != 0)
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        f64::from(self).to_bits()
    }
}

/// Names a function beside the operators. It has no number: nothing but its name is known of it.
pub const fn call(name: &'static str) -> Call {
    Call {
        name,
        number: u16::MAX,
    }
}

/// The two phases of one operator, by its number in the table of signatures. Types in square brackets are further
/// parameters of the second phase. A third name is a first phase whose size is enough for any values of arrays: no plan's
/// workspace depends on them.
macro_rules! operator {
    ($number:literal $second:ident $first:ident $bound:ident ($($a:ident: $of:ty),*) $([$($more:ty),*])?) => {
        $crate::raw::operator::operator! { $number $second $first ($($a: $of),*) $([$($more),*])? }

        #[doc = concat!("First phase of `", stringify!($second), "` for any values of arrays.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $bound($($a: $of,)* size: *mut u64, executor: *mut P) -> i32 {
            static CALL: $crate::acl::Call =
                jumar_acl::aclnn::call(stringify!($bound), $number, jumar_acl::aclnn::Phase::First);
            let bits = [$($crate::raw::operator::Bits::bits($a)),*];
            // SAFETY: the caller guarantees the texts and the two results, as the C declaration says.
            unsafe { $crate::raw::operator::first(&CALL, $number, &bits, size, executor) }
        }
    };
    ($number:literal $second:ident $first:ident ($($a:ident: $of:ty),*) $([$($more:ty),*])?) => {
        #[doc = concat!("First phase of `", stringify!($second), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $first($($a: $of,)* size: *mut u64, executor: *mut P) -> i32 {
            static CALL: $crate::acl::Call =
                jumar_acl::aclnn::call(stringify!($first), $number, jumar_acl::aclnn::Phase::First);
            let bits = [$($crate::raw::operator::Bits::bits($a)),*];
            // SAFETY: the caller guarantees the texts and the two results, as the C declaration says.
            unsafe { $crate::raw::operator::first(&CALL, $number, &bits, size, executor) }
        }

        #[doc = concat!("Second phase of `", stringify!($second), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $second(
            workspace: P,
            bytes: u64,
            executor: P,
            $($(_: $more,)*)?
            stream: P,
        ) -> i32 {
            static CALL: $crate::acl::Call =
                jumar_acl::aclnn::call(stringify!($second), $number, jumar_acl::aclnn::Phase::Second);
            $crate::raw::operator::second(&CALL, $number, (workspace, bytes), executor, stream)
        }
    };
}

pub(crate) use operator;

/// The arguments of a first phase for observers: the results, then the operator's arguments as far as they are shown.
fn words(size: *mut u64, executor: *mut P, bits: &[u64]) -> [u64; observers::MOST] {
    let mut words = [0; observers::MOST];
    let all = [size.word(), executor.word()];
    let all = all.iter().chain(bits);
    words
        .iter_mut()
        .zip(all)
        .for_each(|(word, from)| *word = *from);
    words
}

/// Runs a first phase.
///
/// # Safety
/// The bits of texts are null or addresses of texts that end in a zero byte; `size` and `executor` are null or addresses
/// of variables.
pub unsafe fn first(
    call: &'static Call,
    number: usize,
    bits: &[u64],
    size: *mut u64,
    executor: *mut P,
) -> i32 {
    super::status(call, |cx| {
        aclnn::answer(cx, || {
            super::trace(cx, || words(size, executor, bits))?;
            // SAFETY: the caller's contract.
            let size = unsafe { super::Out::<u64>::new(size, "workspaceSize") }?;
            // SAFETY: the caller's contract.
            let executor =
                unsafe { super::Out::<crate::acl::Raw>::new(executor.cast(), "executor") }?;
            let mut args = [RawArg::Bits(0); MOST];
            let parameters = aclnn::parameters(number).iter();
            for ((arg, bits), parameter) in args.iter_mut().zip(bits).zip(parameters) {
                *arg = if aclnn::is_text(parameter) {
                    let text = std::ptr::with_exposed_provenance(*bits as usize);
                    // SAFETY: the caller's contract.
                    RawArg::Text(unsafe { super::text(text) })
                } else {
                    RawArg::Bits(*bits)
                };
            }
            let (bytes, planned) = aclnn::first_phase(cx, number, &args[..bits.len()])?;
            size.set(bytes);
            executor.set(planned);
            Ok(())
        })
    })
}

/// Runs a second phase.
pub fn second(
    call: &'static Call,
    number: usize,
    (workspace, bytes): (P, u64),
    executor: P,
    stream: P,
) -> i32 {
    super::status(call, |cx| {
        aclnn::answer(cx, || {
            super::trace(cx, || {
                [workspace.word(), bytes, executor.word(), stream.word()]
            })?;
            let workspace = (workspace.expose_provenance(), bytes);
            let (executor, stream) = (super::handle(executor), super::handle(stream));
            aclnn::second_phase(cx, number, workspace, executor, stream)
        })
    })
}
