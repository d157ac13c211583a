//! Reductions of several arrays into one, element by element, always in the order of the ranks.
//!
//! The order depends on nothing but the number of inputs, so that a result has the same bits whichever transport brought
//! the inputs and whichever thread adds them. Halves are added in float32 and rounded once. Memory is read in small
//! pieces, so that the intermediate results stay in the cache.

use half::{bf16, f16};
use jumar_hal::{Backend, Span};
use smallvec::SmallVec;

use crate::{DataType, Reduction};

/// How many bytes of each input are combined at a time.
const PIECE: usize = 16 << 10;
/// Up to how many bytes need no space that is made first.
const SMALL: usize = 16;

/// An element type: its bytes in memory, and the type that it is combined in.
trait Element {
    type Wide: Copy + Default;
    const BYTES: usize;
    fn load(bytes: &[u8]) -> Self::Wide;
    fn store(wide: Self::Wide, bytes: &mut [u8]);
    /// Combines `next` into `sum`, one loop for each reduction so that each can be vectorised.
    fn accumulate(by: Reduction, sum: &mut [Self::Wide], next: &[u8]);
}

macro_rules! element {
    ($marker:ident, $of:ty, $wide:ty, $load:expr, $store:expr, $sum:expr, $product:expr, $max:expr, $min:expr) => {
        struct $marker;

        impl Element for $marker {
            type Wide = $wide;
            const BYTES: usize = size_of::<$of>();

            #[inline(always)]
            fn load(bytes: &[u8]) -> $wide {
                let mut own = [0; size_of::<$of>()];
                own.copy_from_slice(bytes);
                $load(<$of>::from_le_bytes(own))
            }

            #[inline(always)]
            fn store(wide: $wide, bytes: &mut [u8]) {
                let one: $of = $store(wide);
                bytes.copy_from_slice(&one.to_le_bytes());
            }

            fn accumulate(by: Reduction, sum: &mut [$wide], next: &[u8]) {
                let next = next.chunks_exact(Self::BYTES).map(Self::load);
                let pairs = sum.iter_mut().zip(next);
                match by {
                    Reduction::Sum => pairs.for_each(|(a, b)| *a = $sum(*a, b)),
                    Reduction::Product => pairs.for_each(|(a, b)| *a = $product(*a, b)),
                    Reduction::Maximum => pairs.for_each(|(a, b)| *a = $max(*a, b)),
                    Reduction::Minimum => pairs.for_each(|(a, b)| *a = $min(*a, b)),
                }
            }
        }
    };
}

macro_rules! integer {
    ($marker:ident, $of:ty) => {
        element!(
            $marker,
            $of,
            $of,
            |x| x,
            |x| x,
            |a: $of, b: $of| a.wrapping_add(b),
            |a: $of, b: $of| a.wrapping_mul(b),
            |a: $of, b: $of| a.max(b),
            |a: $of, b: $of| a.min(b)
        );
    };
}

macro_rules! float {
    ($marker:ident, $of:ty, $wide:ty, $load:expr, $store:expr) => {
        element!(
            $marker,
            $of,
            $wide,
            $load,
            $store,
            |a: $wide, b: $wide| a + b,
            |a: $wide, b: $wide| a * b,
            |a: $wide, b: $wide| if a.is_nan() || a > b { a } else { b },
            |a: $wide, b: $wide| if a.is_nan() || a < b { a } else { b }
        );
    };
}

integer!(OfInt8, i8);
integer!(OfInt16, i16);
integer!(OfInt32, i32);
integer!(OfInt64, i64);
integer!(OfInt128, i128);
integer!(OfUInt8, u8);
integer!(OfUInt16, u16);
integer!(OfUInt32, u32);
integer!(OfUInt64, u64);
float!(OfFloat32, f32, f32, |x| x, |x| x);
float!(OfFloat64, f64, f64, |x| x, |x| x);
float!(OfFloat16, f16, f32, f16::to_f32, f16::from_f32);
float!(OfBFloat16, bf16, f32, bf16::to_f32, bf16::from_f32);

/// Combines the inputs, in their order, and writes the result to every output. All spans have the same length. An output
/// may be the very range of an input; other overlaps are not allowed.
///
/// # Panics
/// The type has no arithmetic: [`Kind::unsupported`](crate::Kind::unsupported) refuses it earlier.
pub fn reduce(
    backend: &dyn Backend,
    inputs: &[Span],
    outputs: &[Span],
    of: DataType,
    by: Reduction,
) {
    match of {
        DataType::Int8 => run::<OfInt8>(backend, inputs, outputs, by),
        DataType::Int16 => run::<OfInt16>(backend, inputs, outputs, by),
        DataType::Int32 => run::<OfInt32>(backend, inputs, outputs, by),
        DataType::Int64 => run::<OfInt64>(backend, inputs, outputs, by),
        DataType::Int128 => run::<OfInt128>(backend, inputs, outputs, by),
        DataType::UInt8 => run::<OfUInt8>(backend, inputs, outputs, by),
        DataType::UInt16 => run::<OfUInt16>(backend, inputs, outputs, by),
        DataType::UInt32 => run::<OfUInt32>(backend, inputs, outputs, by),
        DataType::UInt64 => run::<OfUInt64>(backend, inputs, outputs, by),
        DataType::Float16 => run::<OfFloat16>(backend, inputs, outputs, by),
        DataType::Float32 => run::<OfFloat32>(backend, inputs, outputs, by),
        DataType::Float64 => run::<OfFloat64>(backend, inputs, outputs, by),
        DataType::BFloat16 => run::<OfBFloat16>(backend, inputs, outputs, by),
        DataType::HiFloat8 | DataType::Float8E4M3 | DataType::Float8E5M2 | DataType::Float8E8M0 => {
            unreachable!("{} has no arithmetic here", of.name())
        }
    }
}

fn run<E: Element>(backend: &dyn Backend, inputs: &[Span], outputs: &[Span], by: Reduction) {
    let Some(total) = inputs.first().map(|input| input.bytes()) else {
        return;
    };
    if total <= SMALL {
        let (mut bytes, mut sum) = ([0; SMALL], [E::Wide::default(); SMALL]);
        let (bytes, sum) = (&mut bytes[..total], &mut sum[..total / E::BYTES]);
        return combine::<E>(backend, (inputs, outputs), by, 0, (bytes, sum));
    }
    let piece = PIECE.min(total.next_multiple_of(E::BYTES));
    let mut bytes: SmallVec<[u8; 256]> = SmallVec::from_elem(0, piece);
    let mut sum: SmallVec<[E::Wide; 64]> =
        SmallVec::from_elem(E::Wide::default(), piece / E::BYTES);
    let mut at = 0;
    while at < total {
        let next = piece.min(total - at);
        let space = (&mut bytes[..next], &mut sum[..next / E::BYTES]);
        combine::<E>(backend, (inputs, outputs), by, at, space);
        at += next;
    }
}

/// Combines a part of the inputs, which begins at `at` and is as long as the space for it.
fn combine<E: Element>(
    backend: &dyn Backend,
    (inputs, outputs): (&[Span], &[Span]),
    by: Reduction,
    at: usize,
    (bytes, sum): (&mut [u8], &mut [E::Wide]),
) {
    let length = bytes.len();
    for (index, input) in inputs.iter().enumerate() {
        let Some(input) = input.part(at, length) else {
            continue;
        };
        backend.read_now(input, bytes);
        if index == 0 {
            let first = bytes.chunks_exact(E::BYTES).map(E::load);
            sum.iter_mut().zip(first).for_each(|(sum, one)| *sum = one);
        } else {
            E::accumulate(by, sum, bytes);
        }
    }
    let elements = bytes.chunks_exact_mut(E::BYTES);
    elements.zip(&*sum).for_each(|(to, one)| E::store(*one, to));
    for output in outputs {
        if let Some(output) = output.part(at, length) {
            backend.write_now(output, bytes);
        }
    }
}
