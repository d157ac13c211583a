//! Softmax and its logarithm, jointly over a run of neighbouring axes.

use jumar_types::dtype::DataType;

use super::compute_types::Float;
use super::number::{Analysis, Number, Real, for_real};
use crate::simd::math::Fast;
use crate::simd::wide::{Work, wide};
use crate::view::{PastCaches, Row, RowMut};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, TensorType, infer};

/// Infers the output, and refuses axes that are not there.
pub(crate) fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let input = cx.input(0)?;
    if let Some(rank) = input.rank() {
        run_of_axes(cx, rank)?;
    }
    Ok(vec![input.clone()])
}

/// Returns the first axis and the one after the last.
fn run_of_axes(cx: &InferCx<'_>, rank: usize) -> Result<(usize, usize), OpError> {
    let list = cx.attrs().ints("axes")?;
    // A tensor without dimensions is one element.
    if rank == 0 {
        return Ok((0, 0));
    }
    if cx.attrs().bool("to_last")? {
        // The axis may stand behind the last dimension: then each element is a row of its own.
        let first = list.first().copied().unwrap_or(0);
        return match first {
            first if first == rank as i64 => Ok((rank, rank)),
            first => Ok((infer::axis(first, rank)?, rank)),
        };
    }
    let axes = infer::axes(list, rank)?;
    match (axes.first(), axes.last()) {
        (Some(&first), Some(&last)) if last - first + 1 == axes.len() => Ok((first, last + 1)),
        _ => Err(OpError::unsupported(format!(
            "the axes {list:?} are not neighbours, which is not supported"
        ))),
    }
}

/// Makes the kernel; `LOG` is for the logarithm.
pub(crate) fn prepare<const LOG: bool>(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    let shape = cx.shape(0)?;
    let (first, end) = run_of_axes(cx.infer(), shape.len())?;
    let (outer, len, inner): (usize, usize, usize) = (
        shape[..first].iter().product(),
        shape[first..end].iter().product(),
        shape[end..].iter().product(),
    );
    if cx.dtype(0)? == DataType::Float32 {
        return Ok(Box::new(Softmax32::<LOG> { outer, len, inner }));
    }
    for_real!(cx.dtype(0)?, T => {
        Ok(Box::new(Softmax::<T, LOG> { outer, len, inner, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}

/// How many elements a thread takes at least, where several share the work.
const GRAIN: usize = 1 << 14;
/// From how many bytes on the result goes past the caches: it is longer than they are.
const PAST_BYTES: usize = 32 << 20;
/// How many exponentials of a row are kept in the nearest cache at most.
const MOST_BESIDE: usize = 1 << 13;
/// How many columns are worked on at once, so that all passes but the first find them in a cache.
const COLUMNS: usize = 256;

struct Softmax<T, const LOG: bool> {
    outer: usize,
    len: usize,
    inner: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Real, const LOG: bool> Kernel for Softmax<T, LOG> {
    fn scratch_bytes(&self) -> usize {
        // The largest and the sum of each column.
        2 * self.inner * size_of::<T::Wide>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let Softmax { len, inner, .. } = *self;
        let scratch = call.scratch::<T::Wide>(0, 2 * inner)?;
        let (most, sum) = (scratch.slice(0, inner), scratch.slice(inner, inner));
        for outer in 0..self.outer {
            let at = |index: usize| (outer * len + index) * inner;
            if inner == 1 {
                let (row, out) = (input.slice(outer * len, len), out.slice(outer * len, len));
                let most =
                    row.fold_wide(T::Wide::LOWEST, |most, x| most.max(x.wide()), Number::max);
                let zero = T::Wide::default();
                if LOG {
                    let sum = row.fold(zero, |sum: T::Wide, x| sum.add(x.wide().sub(most).exp()));
                    let log = sum.ln();
                    out.map1(row, |x| T::from_wide(x.wide().sub(most).sub(log)));
                } else if T::DTYPE == <T::Wide as crate::view::Element>::DTYPE {
                    out.map1_each(row, |x| T::from_wide(x.wide().sub(most).exp()));
                    let sum = out
                        .as_row()
                        .fold_wide(zero, |sum, x| sum.add(x.wide()), Number::add);
                    out.map1(out.as_row(), |x| T::from_wide(x.wide().div(sum)));
                } else {
                    // Numbers of half precision are not kept between the two passes.
                    let sum = row.fold(zero, |sum: T::Wide, x| sum.add(x.wide().sub(most).exp()));
                    out.map1_each(row, |x| T::from_wide(x.wide().sub(most).exp().div(sum)));
                }
                continue;
            }
            most.fill(T::Wide::LOWEST);
            sum.fill(T::Wide::default());
            for index in 0..len {
                most.update(input.slice(at(index), inner), |most, x| most.max(x.wide()));
            }
            for index in 0..len {
                let row = input.slice(at(index), inner);
                for column in 0..inner {
                    let shifted = row.get(column).wide().sub(most.get(column));
                    sum.set(column, sum.get(column).add(shifted.exp()));
                }
            }
            for index in 0..len {
                let (row, out) = (input.slice(at(index), inner), out.slice(at(index), inner));
                for column in 0..inner {
                    let shifted = row.get(column).wide().sub(most.get(column));
                    let total = sum.get(column);
                    let value = if LOG {
                        shifted.sub(total.ln())
                    } else {
                        shifted.exp().div(total)
                    };
                    out.set(column, T::from_wide(value));
                }
            }
        }
        Ok(())
    }
}

/// The same in float32, as vector loops.
struct Softmax32<const LOG: bool> {
    outer: usize,
    len: usize,
    inner: usize,
}

impl<const LOG: bool> Kernel for Softmax32<LOG> {
    fn scratch_bytes(&self) -> usize {
        if self.inner == 1 {
            0
        } else {
            2 * self.inner * size_of::<f32>()
        }
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<f32>(0)?.flat(), call.output::<f32>(0)?.flat());
        let Softmax32 { len, inner, .. } = *self;
        if self.outer == 0 || len == 0 || inner == 0 {
            return Ok(());
        }
        if inner == 1 {
            let grain = GRAIN.div_ceil(len);
            let is_past = !LOG && out.len() * size_of::<f32>() >= PAST_BYTES && len <= MOST_BESIDE;
            call.workers().ranges(self.outer, grain, |first, count| {
                let past = is_past.then(PastCaches::default);
                let mut beside = vec![0.0; if is_past { len } else { 0 }];
                for outer in first..first + count {
                    let row = |outer: usize| input.slice(outer * len, len);
                    wide(OneRow::<LOG>(SoftmaxRow {
                        x: row(outer),
                        y: out.slice(outer * len, len),
                        ahead: (outer + 1 < self.outer).then(|| row(outer + 1)),
                        past: past.as_ref().map(|past| (past, RowMut::of(&mut beside))),
                    }));
                }
            });
            return Ok(());
        }
        let scratch = call.scratch::<f32>(0, 2 * inner)?;
        let (most, sum) = (scratch.slice(0, inner), scratch.slice(inner, inner));
        // Each part has columns of its own, in all entries before them.
        let grain = GRAIN.div_ceil(len * self.outer).next_multiple_of(COLUMNS);
        call.workers().ranges(inner, grain, |first, count| {
            for start in (first..first + count).step_by(COLUMNS) {
                let columns = COLUMNS.min(first + count - start);
                for outer in 0..self.outer {
                    let at = outer * len * inner + start;
                    let reach = (len - 1) * inner + columns;
                    wide(Columns::<LOG> {
                        input: input.slice(at, reach),
                        out: out.slice(at, reach),
                        most: most.slice(start, columns),
                        sum: sum.slice(start, columns),
                        len,
                        step: inner,
                    });
                }
            }
        });
        Ok(())
    }
}

/// A row and what the softmax of it, or its logarithm, is written to.
pub struct SoftmaxRow<'a> {
    /// The row.
    pub x: Row<'a, f32>,
    /// The result, which may be the same memory.
    pub y: RowMut<'a, f32>,
    /// The row to be read next.
    pub ahead: Option<Row<'a, f32>>,
    /// Where exponentials are kept until a result that is too long for the caches is written past them.
    pub past: Option<(&'a PastCaches, RowMut<'a, f32>)>,
}

impl SoftmaxRow<'_> {
    /// Computes the row; with `LOG`, the logarithm.
    #[inline(always)]
    pub fn run<const LOG: bool, const FUSED: bool>(self) {
        let SoftmaxRow { x, y, ahead, past } = self;
        // Not-a-number makes the sum one.
        let larger = |one: f32, two: f32| if two > one { two } else { one };
        let most = x.fold_long(f32::NEG_INFINITY, larger, larger);
        let add = |a: f32, b: f32| a + b;
        if LOG {
            let sum = x.fold_long(
                0f32,
                #[inline(always)]
                |sum, x| sum + Fast::<FUSED>(x - most).exp_below_88().0,
                add,
            );
            let log = Fast::<FUSED>(sum).ln().0;
            y.map1(
                x,
                #[inline(always)]
                |x| x - most - log,
            );
            return;
        }
        let to = past.map_or(y, |(_, beside)| beside);
        let sum = to.map1_folding(
            x,
            ahead,
            #[inline(always)]
            |x| Fast::<FUSED>(x - most).exp_below_88().0,
            0f32,
            add,
            add,
        );
        let scale = 1.0 / sum;
        match past {
            Some((past, beside)) => y.map1_past_caches(
                beside.as_row(),
                past,
                #[inline(always)]
                |x| x * scale,
            ),
            None => y.map1(
                y.as_row(),
                #[inline(always)]
                |x| x * scale,
            ),
        }
    }
}

/// The same, compiled for each level of instructions.
struct OneRow<'a, const LOG: bool>(SoftmaxRow<'a>);

impl<const LOG: bool> Work for OneRow<'_, LOG> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.0.run::<LOG, FUSED>();
    }
}

/// Softmax of columns: `len` rows that begin `step` apart, each as long as `most` and `sum`.
struct Columns<'a, const LOG: bool> {
    input: Row<'a, f32>,
    out: RowMut<'a, f32>,
    most: RowMut<'a, f32>,
    sum: RowMut<'a, f32>,
    len: usize,
    step: usize,
}

impl<const LOG: bool> Work for Columns<'_, LOG> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Columns {
            input,
            out,
            most,
            sum,
            len,
            step,
        } = self;
        let inner = most.len();
        most.fill(f32::NEG_INFINITY);
        sum.fill(0.0);
        for index in 0..len {
            most.update(input.slice(index * step, inner), Number::max);
        }
        for index in 0..len {
            let to = out.slice(index * step, inner);
            to.map2(
                input.slice(index * step, inner),
                most.as_row(),
                #[inline(always)]
                |x, most| {
                    if LOG {
                        x - most
                    } else {
                        Fast::<FUSED>(x - most).exp_below_88().0
                    }
                },
            );
            sum.update(
                to.as_row(),
                #[inline(always)]
                |sum, x| {
                    sum + match LOG {
                        true => Fast::<FUSED>(x).exp_below_88().0,
                        false => x,
                    }
                },
            );
        }
        if LOG {
            sum.map1(
                sum.as_row(),
                #[inline(always)]
                |x| Fast::<FUSED>(x).ln().0,
            );
        }
        for index in 0..len {
            out.slice(index * step, inner).update(
                sum.as_row(),
                #[inline(always)]
                |x, sum| if LOG { x - sum } else { x / sum },
            );
        }
    }
}
