//! Functions of elements in one pass: operands of one floating-point type that lie side by side, and values, become a result of that
//! type. Blocks are not needed between memory and the function.

use jumar_ops::math::{Fast, LowPrecision, Work, wide};
use jumar_ops::view::{BF16, F16, Row, RowMut};
use jumar_types::dtype::DataType;

use super::functions::{F, find_direct};

/// Elements that are loaded, computed and stored at once.
const GROUP: usize = 32;

/// An operand of a function over a row.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a, T> {
    /// Elements side by side, as many as the result has.
    Row(Row<'a, T>),
    /// A value that all elements share.
    Value(f32),
}

/// A loop over one row of the result. An operand may be the memory of the result.
pub(super) type Direct<T> = fn(<T as LowPrecision>::Instructions, RowMut<'_, T>, &[Operand<'_, T>]);

/// A loop, and the proof that the processor has its instructions.
pub(super) type Loop<T> = (Direct<T>, <T as LowPrecision>::Instructions);

/// A function of `N` elements.
pub(super) trait Function<const N: usize> {
    fn apply<const FUSED: bool>(operands: [Fast<FUSED>; N]) -> Fast<FUSED>;
}

/// The loop of a function for the type that is computed in.
#[derive(Clone, Copy)]
pub(super) enum AnyDirect {
    Float32(Loop<f32>),
    Float16(Loop<F16>),
    BFloat16(Loop<BF16>),
}

impl AnyDirect {
    /// Finds the loop of a function. `None`: there is none for the type.
    pub fn find(function: F, dtype: DataType) -> Option<AnyDirect> {
        match dtype {
            DataType::Float32 => find(function).map(AnyDirect::Float32),
            DataType::Float16 => find(function).map(AnyDirect::Float16),
            DataType::BFloat16 => find(function).map(AnyDirect::BFloat16),
            _ => None,
        }
    }
}

fn find<T: SignBit>(function: F) -> Option<Loop<T>> {
    let direct = match function {
        F::Abs => signs::<T, false> as Direct<T>,
        F::Neg => signs::<T, true>,
        function => find_direct(function)?,
    };
    Some((direct, T::instructions()?))
}

/// A type whose first bit is the sign.
trait SignBit: LowPrecision {
    /// Returns the number with the sign changed, or without one.
    fn with_sign<const CHANGED: bool>(self) -> Self;
}

macro_rules! sign_bit {
    ($($type:ident, $first:expr;)*) => {$(
        impl SignBit for $type {
            #[inline(always)]
            fn with_sign<const CHANGED: bool>(self) -> $type {
                let bits = self.to_bits();
                $type::from_bits(if CHANGED { bits ^ $first } else { bits & !$first })
            }
        }
    )*};
}

sign_bit! { f32, 1 << 31; F16, 1 << 15; BF16, 1 << 15; }

/// Changes the sign of each element of a row, or takes it away: numbers need no conversion for that.
fn signs<T: SignBit, const CHANGED: bool>(
    _by: T::Instructions,
    to: RowMut<'_, T>,
    operands: &[Operand<'_, T>],
) {
    match *operands {
        [Operand::Row(from)] => wide(Signs::<T, CHANGED> { to, from }),
        [Operand::Value(value)] => to.fill(T::rounded(value).with_sign::<CHANGED>()),
        _ => unreachable!("operands were counted"),
    }
}

struct Signs<'a, T, const CHANGED: bool> {
    to: RowMut<'a, T>,
    from: Row<'a, T>,
}

impl<T: SignBit, const CHANGED: bool> Work for Signs<'_, T, CHANGED> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Signs { to, from } = self;
        let grouped = to.len() / GROUP * GROUP;
        for base in (0..grouped).step_by(GROUP) {
            let mut group: [T; GROUP] = from.group(base);
            for value in &mut group {
                *value = value.with_sign::<CHANGED>();
            }
            to.set_group(base, group);
        }
        for index in grouped..to.len() {
            to.set(index, from.get(index).with_sign::<CHANGED>());
        }
    }
}

/// Computes a function over one row.
#[inline(always)]
pub(super) fn run<T: LowPrecision, X: Function<N>, const N: usize>(
    by: T::Instructions,
    to: RowMut<'_, T>,
    operands: &[Operand<'_, T>],
) {
    let Some(&operands) = operands.first_chunk() else {
        unreachable!("operands were counted")
    };
    let grouped = to.len() / GROUP * GROUP;
    if grouped > 0 {
        wide(Each {
            by,
            to: to.slice(0, grouped),
            operands,
            function: std::marker::PhantomData::<X>,
        });
    }
    if grouped < to.len() {
        rest(
            by,
            to.slice(grouped, to.len() - grouped),
            &operands,
            grouped,
            run::<T, X, N>,
        );
    }
}

/// The groups of a row, without a rest.
struct Each<'a, T: LowPrecision, X, const N: usize> {
    by: T::Instructions,
    to: RowMut<'a, T>,
    operands: [Operand<'a, T>; N],
    function: std::marker::PhantomData<X>,
}

impl<T: LowPrecision, X: Function<N>, const N: usize> Work for Each<'_, T, X, N> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for base in (0..self.to.len()).step_by(GROUP) {
            let mut groups = [[0.0; GROUP]; N];
            for (group, operand) in groups.iter_mut().zip(&self.operands) {
                *group = match operand {
                    Operand::Row(row) => T::operand_group_by(self.by, row.group(base)),
                    Operand::Value(value) => [*value; GROUP],
                };
            }
            let mut results = [0.0; GROUP];
            for index in 0..GROUP {
                let mut own = [Fast::<FUSED>(0.0); N];
                for number in 0..N {
                    own[number] = Fast(groups[number][index]);
                }
                results[index] = X::apply(own).0;
            }
            self.to
                .set_group(base, T::rounded_group_by(self.by, results));
        }
    }
}

/// Computes the last elements of a row, fewer than a group, by the loop of the function in buffers of one group.
#[inline(never)]
fn rest<T: LowPrecision, const N: usize>(
    by: T::Instructions,
    to: RowMut<'_, T>,
    operands: &[Operand<'_, T>; N],
    start: usize,
    direct: Direct<T>,
) {
    let len = to.len();
    let mut buffers = [[T::default(); GROUP]; N];
    for (buffer, operand) in buffers.iter_mut().zip(operands) {
        if let Operand::Row(row) = operand {
            RowMut::of(&mut buffer[..len]).copy_from(row.slice(start, len));
        }
    }
    let mut result = [T::default(); GROUP];
    let mut own = *operands;
    for (operand, buffer) in own.iter_mut().zip(&buffers) {
        if let Operand::Row(row) = operand {
            *row = Row::of(buffer);
        }
    }
    direct(by, RowMut::of(&mut result), &own);
    to.copy_from(Row::of(&result[..len]));
}
