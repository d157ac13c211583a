//! Reductions of one array into another, element by element, in memory.

use std::sync::Arc;

use half::{bf16, f16};
use jumar_hal::{Cost, Program, Span};
use jumar_types::{Error, ErrorKind, Result};

use super::cost_of;
use crate::runtime::SharedRuntime;
use crate::{Caller, Stream};

/// What becomes of the two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceKind {
    /// Their sum. Integers wrap around; halves are added in float32 and rounded once.
    Sum,
    /// The larger one; NaN if either is.
    Max,
    /// The smaller one; NaN if either is.
    Min,
}

/// What the elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceType {
    /// float32.
    Float32,
    /// IEEE half precision.
    Float16,
    /// bfloat16.
    BFloat16,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 32 bits.
    Int32,
    /// Unsigned, 8 bits.
    UInt8,
    /// Unsigned, 16 bits.
    UInt16,
    /// Unsigned, 32 bits.
    UInt32,
}

impl ReduceType {
    /// Returns the length of an element.
    ///
    /// # Units
    /// Bytes.
    pub fn bytes(self) -> usize {
        match self {
            ReduceType::Int8 | ReduceType::UInt8 => 1,
            ReduceType::Float16 | ReduceType::BFloat16 | ReduceType::Int16 | ReduceType::UInt16 => {
                2
            }
            ReduceType::Float32 | ReduceType::Int32 | ReduceType::UInt32 => 4,
        }
    }
}

struct Reduce {
    shared: Arc<SharedRuntime>,
    to: Span,
    from: Span,
    kind: ReduceKind,
    of: ReduceType,
}

/// How much is reduced at a time.
const CHUNK: usize = 16 << 10;

impl Program for Reduce {
    fn run(&self) -> Result<()> {
        let backend = &self.shared.backend;
        let (mut into, mut what) = (vec![0; CHUNK], vec![0; CHUNK]);
        let mut done = 0;
        while done < self.to.bytes() {
            let next = CHUNK.min(self.to.bytes() - done);
            let parts = (self.to.part(done, next), self.from.part(done, next));
            let (Some(to), Some(from)) = parts else {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "the ends of a reduction have different lengths",
                ));
            };
            // Streams may reduce into one array at the same time; no element may be lost between reading and writing.
            let one_at_a_time = self.shared.reducing.lock();
            backend.read_now(to, &mut into[..next]);
            backend.read_now(from, &mut what[..next]);
            reduce(self.kind, self.of, &mut into[..next], &what[..next]);
            backend.write_now(to, &into[..next]);
            drop(one_at_a_time);
            done += next;
        }
        Ok(())
    }

    fn cost(&self) -> Cost {
        cost_of(self.to.bytes())
    }

    fn name(&self) -> &str {
        match self.kind {
            ReduceKind::Sum => "sum in memory",
            ReduceKind::Max => "maximum in memory",
            ReduceKind::Min => "minimum in memory",
        }
    }
}

fn reduce(kind: ReduceKind, of: ReduceType, into: &mut [u8], what: &[u8]) {
    macro_rules! integers {
        ($of:ty) => {
            each(into, what, |a, b| {
                let (a, b) = (<$of>::from_le_bytes(a), <$of>::from_le_bytes(b));
                match kind {
                    ReduceKind::Sum => a.wrapping_add(b),
                    ReduceKind::Max => a.max(b),
                    ReduceKind::Min => a.min(b),
                }
                .to_le_bytes()
            })
        };
    }
    macro_rules! halves {
        ($of:ty) => {
            each(into, what, |a, b| {
                let (a, b) = (<$of>::from_le_bytes(a), <$of>::from_le_bytes(b));
                <$of>::from_f32(float(kind, a.to_f32(), b.to_f32())).to_le_bytes()
            })
        };
    }
    match of {
        ReduceType::Float32 => each(into, what, |a, b| {
            float(kind, f32::from_le_bytes(a), f32::from_le_bytes(b)).to_le_bytes()
        }),
        ReduceType::Float16 => halves!(f16),
        ReduceType::BFloat16 => halves!(bf16),
        ReduceType::Int8 => integers!(i8),
        ReduceType::Int16 => integers!(i16),
        ReduceType::Int32 => integers!(i32),
        ReduceType::UInt8 => integers!(u8),
        ReduceType::UInt16 => integers!(u16),
        ReduceType::UInt32 => integers!(u32),
    }
}

fn float(kind: ReduceKind, a: f32, b: f32) -> f32 {
    match kind {
        ReduceKind::Sum => a + b,
        ReduceKind::Max | ReduceKind::Min if a.is_nan() => a,
        ReduceKind::Max | ReduceKind::Min if b.is_nan() => b,
        ReduceKind::Max => a.max(b),
        ReduceKind::Min => a.min(b),
    }
}

fn each<const N: usize>(into: &mut [u8], what: &[u8], two: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    let (into, _) = into.as_chunks_mut::<N>();
    let (what, _) = what.as_chunks::<N>();
    for (a, b) in into.iter_mut().zip(what) {
        *a = two(*a, *b);
    }
}

impl Stream {
    /// Queues the reduction of `count` elements into others. Both arrays lie in device memory.
    ///
    /// # Errors
    /// `InvalidValue`: an array is not device memory, or leaves its allocation.
    pub fn reduce(
        &self,
        to: usize,
        from: usize,
        count: u64,
        kind: ReduceKind,
        of: ReduceType,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let bytes = usize::try_from(count)
            .ok()
            .and_then(|count| count.checked_mul(of.bytes()))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidValue,
                    format!("{count} elements are more than memory holds"),
                )
            })?;
        let to = self.device_range(to, bytes, "the target")?;
        let from = self.device_range(from, bytes, "the source")?;
        let program = Reduce {
            shared: self.shared().clone(),
            to,
            from,
            kind,
            of,
        };
        self.launch(Arc::new(program), &[to, from], &[to], caller)
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_and_halves_round_once() {
        let mut into = [100i8, -128].map(|x| x.to_le_bytes()).concat();
        let what = [100i8, -1].map(|x| x.to_le_bytes()).concat();
        reduce(ReduceKind::Sum, ReduceType::Int8, &mut into, &what);
        assert_eq!(into, [(-56i8) as u8, 127]);
        // 2048 + 1 lies halfway between two halves and goes to the even one; + 3 goes up.
        let mut into = [2048f32, 2048.0]
            .map(|x| f16::from_f32(x).to_le_bytes())
            .concat();
        let what = [1f32, 3.0].map(|x| f16::from_f32(x).to_le_bytes()).concat();
        reduce(ReduceKind::Sum, ReduceType::Float16, &mut into, &what);
        assert_eq!(
            into,
            [2048f32, 2052.0]
                .map(|x| f16::from_f32(x).to_le_bytes())
                .concat()
        );
    }

    #[test]
    fn a_maximum_keeps_what_is_no_number() {
        let mut into = [1f32, f32::NAN, -3.0].map(f32::to_le_bytes).concat();
        let what = [f32::NAN, 2.0, -4.0].map(f32::to_le_bytes).concat();
        reduce(ReduceKind::Max, ReduceType::Float32, &mut into, &what);
        let (got, _) = into.as_chunks::<4>();
        let got: Vec<f32> = got.iter().copied().map(f32::from_le_bytes).collect();
        assert!(got[0].is_nan() && got[1].is_nan());
        assert_eq!(got[2], -3.0);
    }
}
