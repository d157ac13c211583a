//! Numbers from a start to before a limit, with a constant step.

use crate::kernels::compute_types::{ConvertibleElement, for_carried};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType,
    Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Range",
    onnx: &[OnnxForm::new("Range", 11, LATEST, |builder, node| {
        plain(builder, node, "Range")
    })],
    inputs: &[
        InputDef::constant("start", Types::NUMBER),
        InputDef::constant("limit", Types::NUMBER),
        InputDef::constant("delta", Types::NUMBER),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::bool("is_closed", false)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.attrs().bool("is_closed")? {
            return Err(OpError::unsupported("is_closed = true is not supported"));
        }
        let dtype = cx.same_types(0..3)?;
        Ok(vec![TensorType::new(
            dtype,
            [steps(cx)?.map_or(UNKNOWN, |(_, count)| count)],
        )])
    },
    prepare: |cx| {
        let (steps, _) = steps(cx.infer())?
            .ok_or_else(|| OpError::unsupported("the bounds have to be known"))?;
        for_carried!(cx.output_dtype(0)?, T => {
            Ok(Box::new(Range::<T> { steps, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

#[derive(Clone, Copy)]
enum Steps {
    Integer(i64, i64),
    Real(f64, f64),
}

/// The start, the distance, and how many numbers there are; `None` where a bound is not known yet.
fn steps(cx: &InferCx<'_>) -> Result<Option<(Steps, i64)>, OpError> {
    let (Some(start), Some(limit), Some(delta)) = (cx.constant(0), cx.constant(1), cx.constant(2))
    else {
        return Ok(None);
    };
    let too_many =
        || OpError::too_large("the range from start to limit by delta has more than 2^40 numbers");
    let one = |count: usize| {
        OpError::invalid(format!(
            "a bound of the range has {count} elements, not one"
        ))
    };
    if let (Some(start), Some(limit), Some(delta)) = (start.ints(), limit.ints(), delta.ints()) {
        let (&[start], &[limit], &[delta]) = (&start[..], &limit[..], &delta[..]) else {
            return Err(one(start.len().max(limit.len()).max(delta.len())));
        };
        if delta == 0 {
            return Err(OpError::invalid("a range by 0 has no end"));
        }
        let (way, step) = (i128::from(limit) - i128::from(start), i128::from(delta));
        let count = if (way > 0) == (step > 0) {
            (way.abs() + step.abs() - 1) / step.abs()
        } else {
            0
        };
        let count = i64::try_from(count)
            .ok()
            .filter(|&count| count <= 1 << 40)
            .ok_or_else(too_many)?;
        return Ok(Some((Steps::Integer(start, delta), count)));
    }
    let floats = |tensor: &crate::Tensor| tensor.floats().unwrap_or_default();
    let (start, limit, delta) = (floats(start), floats(limit), floats(delta));
    let (&[start], &[limit], &[delta]) = (&start[..], &limit[..], &delta[..]) else {
        return Err(one(start.len().max(limit.len()).max(delta.len())));
    };
    let count = ((limit - start) / delta).ceil();
    if count.is_nan() {
        return Err(OpError::invalid(format!(
            "a range from {start} to {limit} by {delta} has no end"
        )));
    }
    if count > (1i64 << 40) as f64 {
        return Err(too_many());
    }
    Ok(Some((Steps::Real(start, delta), count.max(0.0) as i64)))
}

struct Range<T> {
    steps: Steps,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Range<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let out = call.output::<T>(0)?.flat();
        for index in 0..out.len() {
            out.set(
                index,
                match self.steps {
                    Steps::Integer(start, delta) => {
                        T::from_signed(start.wrapping_add(delta.wrapping_mul(index as i64)))
                    }
                    Steps::Real(start, delta) => T::from_real(start + delta * index as f64),
                },
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let integers = |start, limit, delta| {
            [
                i64s(&[], &[start]),
                i64s(&[], &[limit]),
                i64s(&[], &[delta]),
            ]
        };
        check(
            "Range",
            &integers(10, 4, -2),
            none(),
            &i64s(&[3], &[10, 8, 6]),
        );
        check("Range", &integers(1, 6, 2), none(), &i64s(&[3], &[1, 3, 5]));
        check("Range", &integers(1, 0, 2), none(), &i64s(&[0], &[]));
        let real = |start, limit, delta| {
            [
                f32s(&[], &[start]),
                f32s(&[], &[limit]),
                f32s(&[], &[delta]),
            ]
        };
        check(
            "Range",
            &real(1.0, 2.2, 0.5),
            none(),
            &f32s(&[3], &[1.0, 1.5, 2.0]),
        );
        refuse("Range", &integers(0, 1, 0), none(), "no end");
        refuse("Range", &real(0.0, f32::INFINITY, 1.0), none(), "2^40");
        refuse("Range", &integers(i64::MIN, i64::MAX, 1), none(), "2^40");
    }
}
