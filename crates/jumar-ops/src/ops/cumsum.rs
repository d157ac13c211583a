//! Cumulative sums and products along an axis, and cumulative sums of numbers that are given by their logarithms.

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel_in};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, PrepareCx, Types, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &cumulative(
        "Cumsum",
        &[OnnxForm::new("CumSum", 11, LATEST, |builder, node| {
            lower(builder, node, "Cumsum")
        })],
        |cx| prepare(cx, false),
    ),
    &cumulative(
        "Cumprod",
        &[OnnxForm::new("CumProd", 26, LATEST, |builder, node| {
            lower(builder, node, "Cumprod")
        })],
        |cx| prepare(cx, true),
    ),
    &Operator {
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::constant("axis", Types::INDEX),
        ],
        ..cumulative("CumulativeLogsumexp", &[], |cx| {
            let sums = LogSums {
                sizes: sizes(cx, false)?,
                lowest: match cx.dtype(0)? {
                    DataType::Float16 => -65504.0,
                    DataType::BFloat16 => -f64::from(f32::from_bits(0x7F7F_0000)),
                    DataType::Float64 => f64::MIN,
                    _ => f64::from(f32::MIN),
                },
            };
            generic_kernel_in(cx, sums, &[0], &[0], true)
        })
    },
];

fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new()
        .with("exclusive", node.bool_or("exclusive", false)?)
        .with("reverse", node.bool_or("reverse", false)?);
    Ok(vec![builder.node(operator, node.inputs(), attrs)?])
}

const fn cumulative(
    name: &'static str,
    onnx: &'static [OnnxForm],
    prepare: fn(&PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError>,
) -> Operator {
    Operator {
        name,
        onnx,
        inputs: INPUTS,
        outputs: OUTPUT_Y,
        attrs: ATTRS,
        aliasing: Aliasing::Elementwise,
        reads_only_shapes: false,
        infer: |cx| {
            let input = cx.input(0)?;
            if let Some(rank) = input.rank() {
                axis(cx, rank)?;
            }
            Ok(vec![input.clone()])
        },
        prepare,
    }
}

const INPUTS: &[InputDef] = &[
    InputDef::required("x", Types::NUMBER),
    InputDef::constant("axis", Types::INDEX),
];

const ATTRS: &[AttrDef] = &[
    AttrDef::bool("exclusive", false),
    AttrDef::bool("reverse", false),
];

fn prepare(cx: &PrepareCx<'_>, product: bool) -> Result<Box<dyn Kernel>, OpError> {
    let sizes = sizes(cx, product)?;
    for_carried!(cx.dtype(0)?, T => {
        Ok(Box::new(Cumulative::<T> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    })
}

fn sizes(cx: &PrepareCx<'_>, product: bool) -> Result<Sizes, OpError> {
    let shape = cx.shape(0)?;
    let axis = axis(cx.infer(), shape.len())?
        .ok_or_else(|| OpError::unsupported("the axis has to be known"))?;
    Ok(Sizes {
        outer: shape[..axis].iter().product(),
        len: shape[axis],
        inner: shape[axis + 1..].iter().product(),
        exclusive: cx.attrs().bool("exclusive")?,
        reverse: cx.attrs().bool("reverse")?,
        product,
    })
}

fn axis(cx: &InferCx<'_>, rank: usize) -> Result<Option<usize>, OpError> {
    match cx.ints(1)?.as_deref() {
        None => Ok(None),
        Some(&[axis]) => infer::axis(axis, rank).map(Some),
        Some(other) => Err(OpError::invalid(format!(
            "the axis is {other:?}, not one number"
        ))),
    }
}

struct Sizes {
    outer: usize,
    len: usize,
    inner: usize,
    exclusive: bool,
    reverse: bool,
    product: bool,
}

struct Cumulative<T> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Cumulative<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Sizes {
            outer,
            len,
            inner,
            exclusive,
            reverse,
            product,
        } = self.sizes;
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        for step in 0..outer {
            for column in 0..inner {
                let start = step * len * inner + column;
                let (row, to) = (
                    input.stepped(start, len, inner),
                    out.stepped(start, len, inner),
                );
                let mut held = match product {
                    true => T::Wide::ONE,
                    false => T::Wide::ZERO,
                };
                for index in 0..len {
                    let at = if reverse { len - 1 - index } else { index };
                    let own = row.get(at).widen();
                    let next = match product {
                        true => held.times(own),
                        false => held.plus(own),
                    };
                    to.set(at, T::from_wide(if exclusive { held } else { next }));
                    held = next;
                }
            }
        }
        Ok(())
    }
}

/// The logarithms of cumulative sums of exponentials. No power is computed that the sum before it would lose: the larger of two
/// logarithms stays, and the other one adds its share.
struct LogSums {
    sizes: Sizes,
    /// The lowest finite number of the type, which stands for the logarithm of no element.
    lowest: f64,
}

impl Algorithm for LogSums {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (input, out) = (io.input(0)?, io.output(0)?);
        let sizes = &self.sizes;
        for step in 0..sizes.outer {
            for column in 0..sizes.inner {
                let start = step * sizes.len * sizes.inner + column;
                let mut held = sizes.exclusive.then_some(self.lowest);
                for index in 0..sizes.len {
                    let index = if sizes.reverse {
                        sizes.len - 1 - index
                    } else {
                        index
                    };
                    let at = start + index * sizes.inner;
                    let own = input.get(at).f64();
                    let next = held.map_or(own, |held| log_sum(held, own));
                    let shown = held.filter(|_| sizes.exclusive).unwrap_or(next);
                    out.set(at, W::of(shown));
                    held = Some(next);
                }
            }
        }
        Ok(())
    }
}

/// Returns `log(exp(a) + exp(b))`.
fn log_sum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        return f64::NAN;
    }
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY || high == f64::INFINITY {
        return high;
    }
    high + (low - high).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "Cumsum",
            &[x(), i64s(&[], &[1])],
            none(),
            &f32s(&[2, 3], &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]),
        );
        check(
            "Cumsum",
            &[x(), i64s(&[], &[0])],
            none(),
            &f32s(&[2, 3], &[1.0, 2.0, 3.0, 5.0, 7.0, 9.0]),
        );
        let before = none().with("exclusive", true);
        check(
            "Cumsum",
            &[x(), i64s(&[1], &[-1])],
            before.clone(),
            &f32s(&[2, 3], &[0.0, 1.0, 3.0, 0.0, 4.0, 9.0]),
        );
        let back = none().with("reverse", true);
        check(
            "Cumsum",
            &[x(), i64s(&[], &[1])],
            back,
            &f32s(&[2, 3], &[6.0, 5.0, 3.0, 15.0, 11.0, 6.0]),
        );
        let both = before.with("reverse", true);
        check(
            "Cumsum",
            &[x(), i64s(&[], &[1])],
            both,
            &f32s(&[2, 3], &[5.0, 3.0, 0.0, 11.0, 6.0, 0.0]),
        );
        check(
            "Cumsum",
            &[i64s(&[2], &[i64::MAX, 1]), i64s(&[], &[0])],
            none(),
            &i64s(&[2], &[i64::MAX, i64::MIN]),
        );
    }

    #[test]
    fn small_numbers_in_front_of_large_ones_keep_their_cumulative_sums() {
        let (x, axis) = (|| f32s(&[3], &[-200.0, 0.0, 1.0]), || i64s(&[], &[0]));
        // NumPy: np.logaddexp.accumulate
        let wanted = f32s(&[3], &[-200.0, 0.0, 1.313_261_7]);
        check("CumulativeLogsumexp", &[x(), axis()], none(), &wanted);
        let attrs = none().with("exclusive", true).with("reverse", true);
        let wanted = f32s(&[3], &[1.313_261_7, 1.0, f32::MIN]);
        check("CumulativeLogsumexp", &[x(), axis()], attrs, &wanted);
    }
}
