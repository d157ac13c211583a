//! Kernels that draw random numbers.
//!
//! Every number is a function of the seed, the offset and its own index: threads and strides do not matter, and equal seeds and
//! offsets give equal numbers.

use jumar_ops::view::{BF16, Bool8, F16, Row};
use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;
use jumar_types::philox;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 12;

fn data(text: String) -> OpError {
    OpError::new(OpErrorKind::Data, text)
}

/// Where the seed and the offset come from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub seed: i64,
    pub offset: i64,
    /// Whether inputs 0 and 1 hold the seed, and a number that is added to the offset.
    pub tensors: bool,
}

/// The numbers of one draw.
#[derive(Clone, Copy, Debug)]
struct Stream {
    seed: u64,
    offset: u64,
}

impl Source {
    fn stream(&self, call: &Call<'_>) -> Result<Stream, OpError> {
        let (mut seed, mut offset) = (self.seed, self.offset);
        if self.tensors {
            seed = call.input::<i64>(0)?.flat().get(0);
            offset = offset.wrapping_add(call.input::<i64>(1)?.flat().get(0));
        }
        Ok(Stream {
            seed: seed as u64,
            offset: offset as u64,
        })
    }

    /// Returns the number of inputs that it takes.
    fn inputs(&self) -> usize {
        if self.tensors { 2 } else { 0 }
    }
}

impl Stream {
    /// Returns the pair of words of an index.
    fn pair(self, index: usize) -> [u64; 2] {
        let low_high = |value: u64| [value as u32, (value >> 32) as u32];
        let ([a, b], [c, d]) = (low_high(index as u64), low_high(self.offset));
        let words = philox::block([a, b, c, d], low_high(self.seed));
        let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [join(words[0], words[1]), join(words[2], words[3])]
    }

    fn word(self, index: usize) -> u64 {
        self.pair(index / 2)[index % 2]
    }

    /// Returns a number from 0 to below 1.
    fn unit(self, index: usize) -> f64 {
        unit(self.word(index))
    }
}

fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Returns an integer below a bound, which is at most 2^64.
fn below(word: u64, bound: u128) -> u64 {
    ((u128::from(word) * bound) >> 64) as u64
}

/// Rounds to the precision of a type.
fn rounded(value: f64, dtype: DataType) -> f64 {
    match dtype {
        DataType::Float16 => F16::from_f64(value).to_f64(),
        DataType::BFloat16 => BF16::from_f64(value).to_f64(),
        DataType::Float32 => f64::from(value as f32),
        _ => value,
    }
}

/// Writes float64 numbers: evenly from `from` to below `to`, also after they are rounded to `dtype`.
pub(super) struct Uniform {
    pub source: Source,
    pub from: f64,
    pub to: f64,
    pub dtype: DataType,
}

impl Kernel for Uniform {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<f64>(0)?.flat());
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let value = self.from + stream.unit(index) * (self.to - self.from);
                let value = rounded(value, self.dtype);
                let outside = value >= self.to && self.to > self.from;
                output.set(index, if outside { self.from } else { value });
            }
        });
        Ok(())
    }
}

/// Writes float64 numbers of the normal distribution, by Box and Muller.
pub(super) struct Normal {
    pub source: Source,
}

impl Kernel for Normal {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<f64>(0)?.flat());
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let [a, b] = stream.pair(index / 2).map(unit);
                // 1 - a is never zero.
                let size = (-2.0 * (1.0 - a).ln()).sqrt();
                let (sin, cos) = (b * std::f64::consts::TAU).sin_cos();
                output.set(index, size * if index % 2 == 0 { cos } else { sin });
            }
        });
        Ok(())
    }
}

/// Writes float64 numbers of the exponential distribution.
pub(super) struct Exponential {
    pub source: Source,
    pub rate: f64,
}

impl Kernel for Exponential {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<f64>(0)?.flat());
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                // 1 - u is never zero.
                output.set(index, -(1.0 - stream.unit(index)).ln() / self.rate);
            }
        });
        Ok(())
    }
}

/// Writes int64 numbers from `from` to below `from + span`.
pub(super) struct Integers {
    pub source: Source,
    pub from: i64,
    pub span: u128,
}

impl Kernel for Integers {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<i64>(0)?.flat());
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let away = below(stream.word(index), self.span) as i64;
                output.set(index, self.from.wrapping_add(away));
            }
        });
        Ok(())
    }
}

/// Writes booleans that are true with a probability: one for all, or that of each element in the last input.
pub(super) struct Chances {
    pub operator: &'static str,
    pub source: Source,
    pub probability: Option<f64>,
}

impl Kernel for Chances {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<Bool8>(0)?.flat());
        if let Some(probability) = self.probability {
            call.workers().ranges(output.len(), GRAIN, |first, count| {
                for index in first..first + count {
                    output.set(index, (stream.unit(index) < probability).into());
                }
            });
            return Ok(());
        }
        let chances: Row<'_, f64> = call.input::<f64>(self.source.inputs())?.flat();
        for index in 0..chances.len() {
            let chance = chances.get(index);
            if !(0.0..=1.0).contains(&chance) {
                return Err(data(format!(
                    "{}: the element {index} of prob is {chance}; it must be between 0 and 1",
                    self.operator
                )));
            }
        }
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                output.set(index, (stream.unit(index) < chances.get(index)).into());
            }
        });
        Ok(())
    }
}

/// Writes bits, the lowest of a byte first: the first `len` are 1 with a probability, the rest is 0.
pub(super) struct Bits {
    pub source: Source,
    pub probability: f64,
    pub len: usize,
}

impl Kernel for Bits {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<u8>(0)?.flat());
        call.workers()
            .ranges(output.len(), GRAIN / 8, |first, count| {
                for byte in first..first + count {
                    let mut bits = 0;
                    for bit in 0..8 {
                        let index = byte * 8 + bit;
                        let one = index < self.len && stream.unit(index) < self.probability;
                        bits |= u8::from(one) << bit;
                    }
                    output.set(byte, bits);
                }
            });
        Ok(())
    }
}

/// Writes the bits of input 0 as booleans.
pub(super) struct Unpack;

impl Kernel for Unpack {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (bits, output) = (call.input::<u8>(0)?.flat(), call.output::<Bool8>(0)?.flat());
        call.workers().ranges(output.len(), GRAIN, |first, count| {
            for index in first..first + count {
                let one = bits.get(index / 8) >> (index % 8) & 1 == 1;
                output.set(index, one.into());
            }
        });
        Ok(())
    }
}

/// Writes the numbers from 0 on in a random order.
pub(super) struct Permutation {
    pub source: Source,
}

impl Kernel for Permutation {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<i64>(0)?.flat());
        for index in 0..output.len() {
            output.set(index, index as i64);
        }
        for index in (1..output.len()).rev() {
            let other = below(stream.word(index), index as u128 + 1) as usize;
            let (one, two) = (output.get(index), output.get(other));
            output.set(index, two);
            output.set(other, one);
        }
        Ok(())
    }
}

/// Draws indices of each row of weights, the last input, with probabilities in proportion to them.
pub(super) struct Categories {
    pub operator: &'static str,
    pub source: Source,
    pub classes: usize,
    pub samples: usize,
    pub replacement: bool,
}

impl Categories {
    fn check(&self, weights: &[f64], row: usize) -> Result<(), OpError> {
        let refuse = |text: String| {
            Err(data(format!(
                "{}: the row {row} of self {text}",
                self.operator
            )))
        };
        if let Some(bad) = weights
            .iter()
            .find(|weight| !(weight.is_finite() && **weight >= 0.0))
        {
            return refuse(format!(
                "has the weight {bad}; weights must be finite and at least 0"
            ));
        }
        let positive = weights.iter().filter(|weight| **weight > 0.0).count();
        let wanted = if self.replacement { 1 } else { self.samples };
        if positive < wanted {
            return refuse(format!(
                "has {positive} weights above 0; {wanted} are needed"
            ));
        }
        Ok(())
    }
}

impl Kernel for Categories {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (stream, output) = (self.source.stream(call)?, call.output::<i64>(0)?.flat());
        let all = call.input::<f64>(self.source.inputs())?.flat();
        let (classes, samples) = (self.classes, self.samples);
        let mut weights = vec![0.0; classes];
        let mut order: Vec<(f64, usize)> = Vec::new();
        for row in 0..output.len() / samples {
            all.slice(row * classes, classes)
                .load(&mut weights, |weight| weight);
            self.check(&weights, row)?;
            if self.replacement {
                let mut sum = 0.0;
                for weight in &mut weights {
                    sum += *weight;
                    *weight = sum;
                }
                // The first class whose sum is above the draw: classes of weight 0 are never that.
                let last = weights.partition_point(|&own| own < sum);
                for sample in row * samples..(row + 1) * samples {
                    let draw = stream.unit(sample) * sum;
                    let class = weights.partition_point(|&own| own <= draw).min(last);
                    output.set(sample, class as i64);
                }
                continue;
            }
            // The smallest of exponentially distributed numbers with these rates, one after the other.
            order.clear();
            for (class, &weight) in weights
                .iter()
                .enumerate()
                .filter(|(_, weight)| **weight > 0.0)
            {
                let draw = -(1.0 - stream.unit(row * classes + class)).ln();
                order.push((draw / weight, class));
            }
            order.sort_unstable_by(|one, two| one.0.total_cmp(&two.0).then(one.1.cmp(&two.1)));
            for (sample, (_, class)) in order.iter().take(samples).enumerate() {
                output.set(row * samples + sample, *class as i64);
            }
        }
        Ok(())
    }
}
