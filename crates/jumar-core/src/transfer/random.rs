//! Random numbers: a counter is turned into numbers by Philox 4x32 with 10 rounds (Salmon and others, "Parallel random
//! numbers: as easy as 1, 2, 3", 2011), so that a seed and a counter say all there is to know.
//!
//! Block `i` is the function of the 128-bit counter `start + i` under the seed as key; its four words are used in order.
//! How many words a number takes:
//!
//! - uniform reals: one word (the upper 24 bits); `min + u (max - min)`, and again if rounding
//!   to the type reached `max`;
//! - uniform integers: two words, `min` included, `max` not; again where the remainder would favour small numbers;
//! - normal: four words for two numbers (Box and Muller), in float64 until the end;
//! - truncated normal: as normal, and again while further than two standard deviations from the mean;
//! - dropout: one word a bit; the bit is 1 (kept) with the probability 1 - ratio.

use std::sync::Arc;

use half::{bf16, f16};
use jumar_hal::{Program, Span};
use jumar_types::{Error, ErrorKind, Result, philox};

use crate::runtime::SharedRuntime;
use crate::{Caller, Stream};

/// What the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// float32.
    Float32,
    /// IEEE half precision.
    Float16,
    /// bfloat16.
    BFloat16,
    /// Signed, 32 bits.
    Int32,
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 32 bits.
    UInt32,
    /// Unsigned, 64 bits.
    UInt64,
}

impl NumberType {
    /// Returns the length of a number.
    ///
    /// # Units
    /// Bytes.
    pub fn bytes(self) -> usize {
        match self {
            NumberType::Float16 | NumberType::BFloat16 => 2,
            NumberType::Float32 | NumberType::Int32 | NumberType::UInt32 => 4,
            NumberType::Int64 | NumberType::UInt64 => 8,
        }
    }

    /// Returns whether the numbers are whole.
    pub fn is_integer(self) -> bool {
        match self {
            NumberType::Float16 | NumberType::BFloat16 | NumberType::Float32 => false,
            NumberType::Int32 | NumberType::Int64 | NumberType::UInt32 | NumberType::UInt64 => true,
        }
    }

    fn real(self, bytes: [u8; 8]) -> f64 {
        let [a, b, c, d, ..] = bytes;
        match self {
            NumberType::Float16 => f16::from_le_bytes([a, b]).to_f64(),
            NumberType::BFloat16 => bf16::from_le_bytes([a, b]).to_f64(),
            NumberType::Float32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            NumberType::Int32 | NumberType::Int64 | NumberType::UInt32 | NumberType::UInt64 => {
                self.integer(bytes) as f64
            }
        }
    }

    fn integer(self, bytes: [u8; 8]) -> i128 {
        let [a, b, c, d, ..] = bytes;
        match self {
            NumberType::Int32 => i128::from(i32::from_le_bytes([a, b, c, d])),
            NumberType::UInt32 => i128::from(u32::from_le_bytes([a, b, c, d])),
            NumberType::Int64 => i128::from(i64::from_le_bytes(bytes)),
            NumberType::UInt64 => i128::from(u64::from_le_bytes(bytes)),
            NumberType::Float16 | NumberType::BFloat16 | NumberType::Float32 => {
                self.real(bytes) as i128
            }
        }
    }

    /// Rounds to the type. Returns what came out.
    fn round(self, value: f64) -> f64 {
        match self {
            NumberType::Float16 => f16::from_f64(value).to_f64(),
            NumberType::BFloat16 => bf16::from_f64(value).to_f64(),
            NumberType::Float32 => f64::from(value as f32),
            NumberType::Int32 | NumberType::Int64 | NumberType::UInt32 | NumberType::UInt64 => {
                value
            }
        }
    }

    fn push_real(self, out: &mut Vec<u8>, value: f64) {
        match self {
            NumberType::Float16 => out.extend(f16::from_f64(value).to_le_bytes()),
            NumberType::BFloat16 => out.extend(bf16::from_f64(value).to_le_bytes()),
            NumberType::Float32 => out.extend((value as f32).to_le_bytes()),
            NumberType::Int32 | NumberType::Int64 | NumberType::UInt32 | NumberType::UInt64 => {
                self.push_integer(out, value as i128)
            }
        }
    }

    fn push_integer(self, out: &mut Vec<u8>, value: i128) {
        out.extend(&value.to_le_bytes()[..self.bytes()]);
    }
}

/// A number that is given, or that device memory holds when the turn comes.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// The number, lowest byte first.
    Given([u8; 8]),
    /// Where it is read from: at most 8 bytes.
    At(Span),
}

/// Which numbers come how often.
#[derive(Clone, Copy, Debug)]
pub enum Distribution {
    /// Bits that are 0 with a probability, 8 to a byte, the lowest first.
    Dropout {
        /// The probability of 0.
        ratio: Value,
    },
    /// Each number of a range as often as any other.
    Uniform {
        /// The smallest.
        min: Value,
        /// What all are smaller than.
        max: Value,
    },
    /// The normal distribution.
    Normal {
        /// Its middle.
        mean: Value,
        /// Its standard deviation.
        deviation: Value,
    },
    /// The normal distribution without what lies further than two standard deviations from the middle.
    TruncatedNormal {
        /// Its middle.
        mean: Value,
        /// Its standard deviation, before it is cut.
        deviation: Value,
    },
}

/// What is to be made.
#[derive(Clone, Copy, Debug)]
pub struct RandomNumbers {
    /// The numbers' type; of a dropout, the type of its ratio.
    pub of: NumberType,
    /// Their distribution.
    pub distribution: Distribution,
    /// The destination; it may be longer than needed.
    pub to: Span,
    /// Where the counter is kept: 16 bytes, read before and written after. Without one the counter is 0.
    pub counter: Option<Span>,
    /// The seed.
    pub seed: Value,
    /// How many are made.
    pub count: Value,
}

/// The words that a seed and a counter stand for.
pub struct Generator {
    key: [u32; 2],
    counter: u128,
    block: [u32; 4],
    used: usize,
}

impl Generator {
    /// Begins at a counter.
    pub fn new(seed: u64, counter: u128) -> Self {
        Generator {
            key: [seed as u32, (seed >> 32) as u32],
            counter,
            block: [0; 4],
            used: 4,
        }
    }

    /// Returns the counter of the first block that nothing was taken from.
    pub fn counter(&self) -> u128 {
        self.counter
    }

    /// Returns the next word.
    pub fn word(&mut self) -> u32 {
        if self.used == 4 {
            let counter = [0, 32, 64, 96].map(|shift| (self.counter >> shift) as u32);
            self.block = philox::block(counter, self.key);
            self.counter = self.counter.wrapping_add(1);
            self.used = 0;
        }
        let word = self.block[self.used];
        self.used += 1;
        word
    }

    fn two_words(&mut self) -> u64 {
        u64::from(self.word()) | (u64::from(self.word()) << 32)
    }

    /// Returns a number from 0 to less than 1, in steps that float32 can say.
    fn unit(&mut self) -> f64 {
        f64::from(self.word() >> 8) / f64::from(1u32 << 24)
    }

    /// Returns an integer below `range`, each as often as any other; `range` 0 stands for 2^64.
    fn below(&mut self, range: u64) -> u64 {
        if range == 0 {
            return self.two_words();
        }
        // The product's upper half is the number; lower halves below 2^64 mod range would favour some.
        let refused = range.wrapping_neg() % range;
        loop {
            let product = u128::from(self.two_words()) * u128::from(range);
            if product as u64 >= refused {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns two numbers of the standard normal distribution.
    fn normals(&mut self) -> [f64; 2] {
        const STEPS: f64 = 1.0 / 9_007_199_254_740_992.0;
        // From more than 0 to 1, so that the logarithm is finite.
        let radius = ((self.two_words() >> 11) + 1) as f64 * STEPS;
        let angle = (self.two_words() >> 11) as f64 * STEPS * std::f64::consts::TAU;
        let radius = (-2.0 * radius.ln()).sqrt();
        [radius * angle.cos(), radius * angle.sin()]
    }
}

impl RandomNumbers {
    /// Returns how many bytes so many numbers take. `None`: more than memory holds.
    pub fn bytes_of(&self, count: u64) -> Option<usize> {
        let count = usize::try_from(count).ok()?;
        match self.distribution {
            Distribution::Dropout { .. } => Some(count.div_ceil(8)),
            Distribution::Uniform { .. }
            | Distribution::Normal { .. }
            | Distribution::TruncatedNormal { .. } => count.checked_mul(self.of.bytes()),
        }
    }

    /// Refuses what makes no sense and can be seen already.
    fn check(&self) -> Result<()> {
        let bad = |sentence: String| Err(Error::new(ErrorKind::InvalidValue, sentence));
        let given = |value: Value| match value {
            Value::Given(bytes) => Some(bytes),
            Value::At(_) => None,
        };
        match self.distribution {
            Distribution::Dropout { ratio } => {
                match given(ratio).map(|ratio| self.of.real(ratio)) {
                    Some(ratio) if !(0.0..=1.0).contains(&ratio) => bad(format!(
                        "the dropout ratio is {ratio}; it must be from 0 to 1"
                    )),
                    _ => Ok(()),
                }
            }
            Distribution::Uniform { min, max } => match (given(min), given(max)) {
                (Some(min), Some(max)) => self.range(min, max).map(drop),
                _ => Ok(()),
            },
            Distribution::Normal { deviation, .. }
            | Distribution::TruncatedNormal { deviation, .. } => {
                match given(deviation).map(|deviation| self.of.real(deviation)) {
                    Some(deviation) if deviation.is_nan() || deviation < 0.0 => bad(format!(
                        "the standard deviation is {deviation}; it must be 0 or more"
                    )),
                    _ => Ok(()),
                }
            }
        }
    }

    /// The ends of a uniform distribution, as real and as integers.
    fn range(&self, min: [u8; 8], max: [u8; 8]) -> Result<(f64, f64, i128, i128)> {
        let real = (self.of.real(min), self.of.real(max));
        let integers = (self.of.integer(min), self.of.integer(max));
        let empty = if self.of.is_integer() {
            integers.0 >= integers.1
        } else {
            real.0.partial_cmp(&real.1) != Some(std::cmp::Ordering::Less)
                || !(real.1 - real.0).is_finite()
        };
        if empty {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!(
                    "uniform numbers are wanted from {} to less than {}: no finite range",
                    real.0, real.1
                ),
            ));
        }
        Ok((real.0, real.1, integers.0, integers.1))
    }
}

struct Random {
    shared: Arc<SharedRuntime>,
    wanted: RandomNumbers,
}

/// How much is made at a time.
const CHUNK: usize = 16 << 10;

impl Random {
    fn read(&self, value: Value) -> [u8; 8] {
        match value {
            Value::Given(bytes) => bytes,
            Value::At(span) => {
                let mut bytes = [0; 8];
                let length = span.bytes().min(8);
                self.shared.backend.read_now(span, &mut bytes[..length]);
                bytes
            }
        }
    }

    fn make(&self, generator: &mut Generator, to: Span, count: u64) -> Result<()> {
        let wanted = &self.wanted;
        let of = wanted.of;
        let mut out = Vec::with_capacity(CHUNK + 16);
        let mut written = 0;
        let mut flush = |out: &mut Vec<u8>, all: bool| {
            if all || out.len() >= CHUNK {
                let length = out.len().min(to.bytes() - written);
                if let Some(part) = to.part(written, length) {
                    self.shared.backend.write_now(part, &out[..length]);
                }
                written += length;
                out.clear();
            }
        };
        match wanted.distribution {
            Distribution::Dropout { ratio } => {
                let keep = 1.0 - of.real(self.read(ratio)).clamp(0.0, 1.0);
                let mut left = count;
                while left > 0 {
                    let mut byte = 0u8;
                    for bit in 0..left.min(8) {
                        byte |= u8::from(generator.unit() < keep) << bit;
                    }
                    left -= left.min(8);
                    out.push(byte);
                    flush(&mut out, false);
                }
            }
            Distribution::Uniform { min, max } => {
                let range = wanted.range(self.read(min), self.read(max))?;
                let (real_min, real_max, min, max) = range;
                for _ in 0..count {
                    if of.is_integer() {
                        let below = generator.below((max - min) as u64);
                        of.push_integer(&mut out, min + i128::from(below));
                    } else {
                        let value = loop {
                            let value =
                                of.round(real_min + generator.unit() * (real_max - real_min));
                            if value < real_max {
                                break value;
                            }
                        };
                        of.push_real(&mut out, value);
                    }
                    flush(&mut out, false);
                }
            }
            Distribution::Normal { mean, deviation }
            | Distribution::TruncatedNormal { mean, deviation } => {
                let (mean, deviation) = (of.real(self.read(mean)), of.real(self.read(deviation)));
                let cut = matches!(wanted.distribution, Distribution::TruncatedNormal { .. });
                let mut left = count;
                while left > 0 {
                    let pair = generator.normals();
                    for normal in pair
                        .into_iter()
                        .filter(|normal| !cut || normal.abs() <= 2.0)
                    {
                        if left > 0 {
                            of.push_real(&mut out, mean + deviation * normal);
                            left -= 1;
                        }
                    }
                    flush(&mut out, false);
                }
            }
        }
        flush(&mut out, true);
        Ok(())
    }
}

impl Program for Random {
    fn run(&self) -> Result<()> {
        let wanted = &self.wanted;
        let backend = &self.shared.backend;
        let count = u64::from_le_bytes(self.read(wanted.count));
        let capacity = wanted.to;
        let to = wanted
            .bytes_of(count)
            .and_then(|bytes| capacity.part(0, bytes))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "{count} random numbers do not fit into {} bytes",
                        capacity.bytes()
                    ),
                )
            })?;
        let mut counter = [0; 16];
        if let Some(at) = wanted.counter {
            backend.read_now(at, &mut counter);
        }
        let seed = u64::from_le_bytes(self.read(wanted.seed));
        let mut generator = Generator::new(seed, u128::from_le_bytes(counter));
        self.make(&mut generator, to, count)?;
        if let Some(at) = wanted.counter {
            backend.write_now(at, &generator.counter().to_le_bytes());
        }
        Ok(())
    }

    fn name(&self) -> &str {
        "random numbers"
    }
}

impl Stream {
    /// Queues the making of random numbers. The same seed, counter and wishes give the same bytes, on any machine.
    ///
    /// # Errors
    /// `InvalidValue`: an impossible distribution, or more numbers than fit, as far as known by now; what memory
    /// holds is checked when the task runs.
    pub fn random_numbers(&self, wanted: RandomNumbers, caller: &Caller<'_>) -> Result<()> {
        wanted.check()?;
        let mut writes = vec![wanted.to];
        if let Value::Given(count) = wanted.count {
            let count = u64::from_le_bytes(count);
            let to = wanted
                .bytes_of(count)
                .and_then(|bytes| wanted.to.part(0, bytes));
            writes[0] = to.ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidValue,
                    format!(
                        "{count} random numbers do not fit into the {} bytes that follow in the allocation",
                        wanted.to.bytes()
                    ),
                )
            })?;
        }
        let values = match wanted.distribution {
            Distribution::Dropout { ratio } => [Some(ratio), None],
            Distribution::Uniform { min, max } => [Some(min), Some(max)],
            Distribution::Normal { mean, deviation }
            | Distribution::TruncatedNormal { mean, deviation } => [Some(mean), Some(deviation)],
        };
        let values = values
            .into_iter()
            .flatten()
            .chain([wanted.seed, wanted.count]);
        let mut reads: Vec<Span> = values
            .filter_map(|value| match value {
                Value::At(span) => Some(span),
                Value::Given(_) => None,
            })
            .collect();
        reads.extend(wanted.counter);
        writes.extend(wanted.counter);
        let program = Random {
            shared: self.shared().clone(),
            wanted,
        };
        self.launch(Arc::new(program), &reads, &writes, caller)
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_below_a_range_reach_both_ends() {
        let mut generator = Generator::new(7, 0);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[generator.below(6) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&times| (800..1200).contains(&times)),
            "{seen:?}"
        );
    }
}
