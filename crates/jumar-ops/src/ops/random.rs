//! Random numbers: a function of the seeds, of the number of earlier draws, and of the index. There is no state.

use jumar_types::dtype::DataType;
use jumar_types::philox;

use crate::kernels::number::for_dtype;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Call, InputDef, Kernel, OpError, Operator, TensorType,
    Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.Random",
    onnx: &[],
    inputs: &[
        InputDef::constant("shape", Types::INDEX),
        // How often was drawn before: a number that changes from run to run.
        InputDef::required("draw", Types::of(&[DataType::Int64])),
        // In place of the attribute.
        InputDef::optional("seed", Types::of(&[DataType::Int64])),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("dtype", AttrKind::Type),
        AttrDef::bool("normal", false),
        AttrDef::int("seed", 0),
        AttrDef::int("seed2", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let dtype = dtype(cx.attrs().attrs)?;
        Ok(vec![match (cx.ints(0)?, cx.input(0)?.elements()) {
            (Some(dims), _) if dims.iter().any(|&dim| dim < 0) => {
                return Err(OpError::invalid(format!(
                    "the shape {dims:?} has a negative dimension"
                )));
            }
            (Some(dims), _) => TensorType::new(dtype, dims),
            (None, Some(rank)) => TensorType::new(dtype, vec![UNKNOWN; rank]),
            (None, None) => TensorType::of_unknown_rank(dtype),
        }])
    },
    prepare: |cx| {
        let attrs = cx.attrs();
        let key = Key {
            seed: attrs.int("seed")? as u64,
            other: attrs.int("seed2")? as u64,
        };
        let normal = attrs.bool("normal")?;
        for_dtype!(cx.output_dtype(0)?, [Float32 => f32, Float64 => f64], T => {
            Ok(Box::new(Random::<T> { key, normal, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn dtype(attrs: &Attrs) -> Result<DataType, OpError> {
    match attrs.get("dtype") {
        Some(&crate::Attr::Type(dtype @ (DataType::Float32 | DataType::Float64))) => Ok(dtype),
        other => Err(OpError::unsupported(format!(
            "random numbers of {other:?}; float32 and float64 are supported"
        ))),
    }
}

#[derive(Clone, Copy)]
struct Key {
    seed: u64,
    other: u64,
}

impl Key {
    /// Two numbers of 64 bits for a pair of indices in a draw.
    fn pair(self, draw: u64, position: u64) -> [u64; 2] {
        // The second seed and the draw select a sequence; the index is the position in it.
        let stream = philox::block(
            [
                self.other as u32,
                (self.other >> 32) as u32,
                draw as u32,
                (draw >> 32) as u32,
            ],
            [self.seed as u32, (self.seed >> 32) as u32],
        );
        let words = philox::block(
            [
                position as u32,
                (position >> 32) as u32,
                stream[2],
                stream[3],
            ],
            [stream[0], stream[1]],
        );
        let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        [join(words[0], words[1]), join(words[2], words[3])]
    }
}

/// Evenly from 0 to below 1: as many bits as the type keeps.
trait Uniform: Element {
    fn uniform(word: u64) -> Self;
    fn of(value: f64) -> Self;
}

impl Uniform for f32 {
    fn uniform(word: u64) -> f32 {
        (word >> 40) as f32 * (1.0 / (1u64 << 24) as f32)
    }

    fn of(value: f64) -> f32 {
        value as f32
    }
}

impl Uniform for f64 {
    fn uniform(word: u64) -> f64 {
        (word >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    fn of(value: f64) -> f64 {
        value
    }
}

struct Random<T> {
    key: Key,
    normal: bool,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Uniform> Kernel for Random<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let out = call.output::<T>(0)?.flat();
        let draw = call.input::<i64>(1)?.flat();
        let draw = if draw.is_empty() { 0 } else { draw.get(0) } as u64;
        let mut key = self.key;
        if call.has_input(2) {
            let seed = call.input::<i64>(2)?.flat();
            key.seed = if seed.is_empty() { 0 } else { seed.get(0) } as u64;
        }
        for position in (0..out.len()).step_by(2) {
            let words = key.pair(draw, position as u64 / 2);
            let both = if self.normal {
                normal(words)
            } else {
                words.map(T::uniform)
            };
            out.set(position, both[0]);
            if position + 1 < out.len() {
                out.set(position + 1, both[1]);
            }
        }
        Ok(())
    }
}

/// Two numbers of the normal distribution, by Box and Muller.
fn normal<T: Uniform>(words: [u64; 2]) -> [T; 2] {
    let [a, b] = words.map(f64::uniform);
    // 1 - a is never zero.
    let size = (-2.0 * (1.0 - a).ln()).sqrt();
    let (sin, cos) = (b * std::f64::consts::TAU).sin_cos();
    [T::of(size * cos), T::of(size * sin)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    fn drawn(draw: i64, attrs: Attrs) -> Vec<f64> {
        let inputs = [i64s(&[2], &[100, 101]), i64s(&[], &[draw])];
        run("jumar.Random", &inputs, attrs).unwrap()[0]
            .floats()
            .unwrap()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance)
    }

    #[test]
    fn moments_and_bounds_are_those_of_the_distributions() {
        for dtype in [DataType::Float32, DataType::Float64] {
            let attrs = || none().with("dtype", dtype).with("seed", 7);
            let uniform = drawn(0, attrs());
            let (mean, variance) = moments(&uniform);
            // Five deviations of the means of 10100 numbers.
            assert!(
                (mean - 0.5).abs() < 0.015 && (variance - 1.0 / 12.0).abs() < 0.005,
                "{mean} {variance}"
            );
            assert!(uniform.iter().all(|x| (0.0..1.0).contains(x)));
            let (mean, variance) = moments(&drawn(0, attrs().with("normal", true)));
            assert!(
                mean.abs() < 0.05 && (variance - 1.0).abs() < 0.08,
                "{mean} {variance}"
            );
        }
    }

    #[test]
    fn seeds_and_draws_decide() {
        let attrs = |seed: i64, other: i64| {
            none()
                .with("dtype", DataType::Float32)
                .with("seed", seed)
                .with("seed2", other)
        };
        let first = drawn(0, attrs(1, 2));
        assert_eq!(first, drawn(0, attrs(1, 2)));
        for other in [
            drawn(1, attrs(1, 2)),
            drawn(0, attrs(2, 2)),
            drawn(0, attrs(1, 3)),
        ] {
            assert!(first.iter().zip(&other).filter(|(a, b)| a == b).count() < 10);
        }
        let given = [i64s(&[2], &[100, 101]), i64s(&[], &[0]), i64s(&[], &[1])];
        let given = run("jumar.Random", &given, attrs(9, 2)).unwrap();
        assert_eq!(Some(first.clone()), given[0].floats());
        let shape = [i64s(&[1], &[-1]), i64s(&[], &[0])];
        refuse("jumar.Random", &shape, attrs(1, 2), "negative");
        refuse(
            "jumar.Random",
            &[i64s(&[1], &[1]), i64s(&[], &[0])],
            none().with("dtype", DataType::Int8),
            "float32",
        );
    }
}
