//! Counts known sequences of numbers, with gaps between their elements.

use std::collections::HashMap;

use jumar_types::dtype::DataType;

use crate::attr::AttrReader;
use crate::kernels::number::for_dtype;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType,
    Types,
};

const NAME: &str = "jumar.TfIdfVectorizer";

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: NAME,
    onnx: &[OnnxForm::new(
        "TfIdfVectorizer",
        9,
        LATEST,
        |builder, node| {
            let ints = |name: &str| Ok::<_, OpError>(node.ints(name)?.unwrap_or_default().to_vec());
            let pool = ints("pool_int64s")?;
            if pool.is_empty() {
                return Err(OpError::unsupported(
                    "a pool of texts is not supported; pool_int64s is",
                ));
            }
            let mut attrs = Attrs::new()
                .with("mode", node.str_or("mode", "")?)
                .with("pool", pool)
                .with("ngram_counts", ints("ngram_counts")?)
                .with("ngram_indexes", ints("ngram_indexes")?);
            for name in ["min_gram_length", "max_gram_length", "max_skip_count"] {
                let value = node.int(name)?;
                attrs.set(
                    name,
                    value.ok_or_else(|| {
                        OpError::invalid(format!("the attribute {name} is missing"))
                    })?,
                );
            }
            if let Some(weights) = node.floats("weights")? {
                attrs.set("weights", weights.to_vec());
            }
            Ok(vec![builder.node(NAME, node.inputs(), attrs)?])
        },
    )],
    inputs: &[InputDef::required("x", Types::INDEX)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::str("mode", "TF"),
        AttrDef::ints("pool", &[]),
        AttrDef::ints("ngram_counts", &[]),
        AttrDef::ints("ngram_indexes", &[]),
        AttrDef::int("min_gram_length", 1),
        AttrDef::int("max_gram_length", 1),
        AttrDef::int("max_skip_count", 0),
        AttrDef::floats("weights", &[]),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let known = NgramTable::of(&cx.attrs())?;
        let width = known.width as i64;
        let dtype = DataType::Float32;
        let shape = match input.rank() {
            None => return Ok(vec![TensorType::of_unknown_rank(dtype)]),
            Some(1) => vec![width],
            Some(2) => vec![input.shape[0], width],
            Some(_) => {
                return Err(OpError::invalid(format!(
                    "{input} is neither a sequence nor a batch of some"
                )));
            }
        };
        Ok(vec![TensorType { dtype, shape }])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let length = shape.last().copied().unwrap_or(0);
        let known = NgramTable::of(&cx.attrs())?;
        for_dtype!(cx.dtype(0)?, [Int32 => i32, Int64 => i64], T => {
            Ok(Box::new(Count::<T> { known, length, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

/// The sequences that are counted.
struct NgramTable {
    /// The index of each among the results, and its weight.
    slots: HashMap<Vec<i64>, (usize, f32)>,
    lengths: std::ops::RangeInclusive<usize>,
    skips: usize,
    width: usize,
    /// Whether a sequence counts once, however often it is there.
    once: bool,
}

impl NgramTable {
    fn of(attrs: &AttrReader<'_>) -> Result<NgramTable, OpError> {
        let size = |name: &str| {
            let value = attrs.int(name)?;
            usize::try_from(value).map_err(|_| {
                OpError::invalid(format!(
                    "{name} is {value}, which is not a number of elements"
                ))
            })
        };
        let (least, most, skips) = (
            size("min_gram_length")?,
            size("max_gram_length")?,
            size("max_skip_count")?,
        );
        let (pool, starts) = (attrs.ints("pool")?, attrs.ints("ngram_counts")?);
        let (indexes, weights) = (attrs.ints("ngram_indexes")?, attrs.floats("weights")?);
        let (once, weighted) = match attrs.str("mode")? {
            "TF" => (false, false),
            "IDF" => (true, true),
            "TFIDF" => (false, true),
            other => {
                return Err(OpError::invalid(format!(
                    "mode is {other:?}; it must be TF, IDF or TFIDF"
                )));
            }
        };
        if least < 1 || most < least || most > starts.len() {
            return Err(OpError::invalid(format!(
                "sequences of {least} to {most} elements do not fit a pool of sequences of 1 to {}",
                starts.len()
            )));
        }
        let torn = || {
            OpError::invalid(
                "ngram_counts, ngram_indexes, weights and the pool do not fit each other",
            )
        };
        let mut slots = HashMap::new();
        let mut number = 0;
        for (at, &start) in starts.iter().enumerate() {
            let end = starts.get(at + 1).map_or(pool.len() as i64, |&end| end);
            let part = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let part = part
                .and_then(|(start, end)| pool.get(start..end))
                .ok_or_else(torn)?;
            if !part.len().is_multiple_of(at + 1) {
                return Err(torn());
            }
            for sequence in part.chunks_exact(at + 1) {
                let slot = indexes
                    .get(number)
                    .and_then(|&slot| usize::try_from(slot).ok())
                    .ok_or_else(torn)?;
                let weight = match (weighted, weights.is_empty()) {
                    (true, false) => *weights.get(number).ok_or_else(torn)?,
                    _ => 1.0,
                };
                slots.insert(sequence.to_vec(), (slot, weight));
                number += 1;
            }
        }
        let largest = indexes.iter().copied().max().ok_or_else(torn)?;
        let width = usize::try_from(largest)
            .ok()
            .filter(|&width| width < 1 << 31)
            .ok_or_else(torn)?
            + 1;
        Ok(NgramTable {
            slots,
            lengths: least..=most,
            skips,
            width,
            once,
        })
    }

    /// Shows where each known sequence is found in a row, and what it counts.
    fn each(&self, row: &[i64], mut found: impl FnMut(usize, f32)) {
        let mut sequence = Vec::with_capacity(*self.lengths.end());
        for length in self.lengths.clone() {
            // A gap changes nothing where there is one element.
            let skips = if length == 1 { 0 } else { self.skips };
            for step in 1..=skips.saturating_add(1) {
                let Some(reach) = (length - 1)
                    .checked_mul(step)
                    .filter(|&reach| reach < row.len())
                else {
                    break;
                };
                for start in 0..row.len() - reach {
                    sequence.clear();
                    sequence.extend(row[start..=start + reach].iter().step_by(step));
                    if let Some(&(slot, weight)) = self.slots.get(&sequence) {
                        found(slot, weight);
                    }
                }
            }
        }
    }
}

struct Count<T> {
    known: NgramTable,
    length: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element + Into<i64>> Kernel for Count<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<f32>(0)?.flat());
        out.fill(0.0);
        let width = self.known.width;
        for (number, start) in (0..out.len()).step_by(width).enumerate() {
            let row: Vec<i64> = (0..self.length)
                .map(|at| input.get(number * self.length + at).into())
                .collect();
            self.known.each(&row, |slot, weight| {
                let at = start + slot;
                out.set(
                    at,
                    if self.known.once {
                        weight
                    } else {
                        out.get(at) + weight
                    },
                );
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    fn attrs(least: i64, most: i64, skips: i64) -> Attrs {
        none()
            .with("min_gram_length", least)
            .with("max_gram_length", most)
            .with("max_skip_count", skips)
            .with("pool", vec![2, 3, 5, 4, 5, 6, 7, 8, 6, 7])
            .with("ngram_counts", vec![0, 4])
            .with("ngram_indexes", vec![0, 1, 2, 3, 4, 5, 6])
    }

    #[test]
    fn counts_as_the_definition_of_onnx_does() {
        let x = i64s(&[12], &[1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]);
        let pairs = f32s(&[7], &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        check(NAME, &[x.clone()], attrs(2, 2, 0), &pairs);
        let gaps = f32s(&[7], &[0.0, 0.0, 0.0, 0.0, 1.0, 3.0, 1.0]);
        check(NAME, &[x.clone()], attrs(2, 2, 5), &gaps);
        let all = f32s(&[7], &[0.0, 3.0, 1.0, 0.0, 1.0, 3.0, 1.0]);
        check(NAME, &[x.clone()], attrs(1, 2, 5), &all);
        let rows = i64s(&[2, 6], &[1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8]);
        let each = f32s(
            &[2, 7],
            &[
                0.0, 3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0,
            ],
        );
        check(NAME, &[rows], attrs(1, 2, 5), &each);
        let weights = vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let weighted = |mode: &str| {
            attrs(1, 2, 5)
                .with("mode", mode)
                .with("weights", weights.clone())
        };
        check(
            NAME,
            &[x.clone()],
            weighted("IDF"),
            &f32s(&[7], &[0.0, 2.0, 3.0, 0.0, 5.0, 6.0, 7.0]),
        );
        check(
            NAME,
            &[x.clone()],
            weighted("TFIDF"),
            &f32s(&[7], &[0.0, 6.0, 3.0, 0.0, 5.0, 18.0, 7.0]),
        );
        check(
            NAME,
            &[i64s(&[0], &[])],
            attrs(1, 2, 5),
            &f32s(&[7], &[0.0; 7]),
        );
        refuse(NAME, &[x.clone()], attrs(1, 3, 0), "do not fit a pool");
        refuse(
            NAME,
            &[x.clone()],
            attrs(1, 2, 0).with("ngram_indexes", vec![0, 1]),
            "do not fit each other",
        );
        refuse(
            NAME,
            &[x],
            attrs(1, 2, 0).with("mode", "BOTH"),
            "must be TF",
        );
    }
}
