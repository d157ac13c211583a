//! The indices of the elements that are not zero.

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::{ComputeType, ConvertibleElement, for_carried};
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Call, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType, Types,
    UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "NonZero",
    onnx: &[OnnxForm::new("NonZero", 9, LATEST, |builder, node| {
        plain(builder, node, "NonZero")
    })],
    inputs: &[InputDef::required("x", Types::REAL)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::bool("transpose", false),
        AttrDef::dtype("dtype", DataType::Int64),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.attrs().bool("transpose")? || cx.attrs().dtype("dtype")? != DataType::Int64 {
            return Err(OpError::unsupported(
                "only transpose = false and dtype = int64 are supported",
            ));
        }
        // How many there are is seen in the values alone.
        let count = match cx.constant(0).and_then(|tensor| tensor.floats()) {
            Some(values) => values.iter().filter(|&&value| value != 0.0).count() as i64,
            None => UNKNOWN,
        };
        let rank = cx.input(0)?.rank().map_or(UNKNOWN, |rank| rank as i64);
        Ok(vec![TensorType::new(DataType::Int64, [rank, count])])
    },
    prepare: |cx| {
        let (shape, count) = (cx.shape(0)?.to_vec(), cx.output_shape(0)?[1]);
        for_carried!(cx.dtype(0)?, T => {
            Ok(Box::new(NonZero::<T> { shape, count, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

struct NonZero<T> {
    shape: Vec<usize>,
    count: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for NonZero<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<i64>(0)?.flat());
        let mut found = 0;
        for at in 0..input.len() {
            if !input.get(at).to_compute().to_bool() {
                continue;
            }
            if found == self.count {
                return Err(changed());
            }
            let mut rest = at;
            for (axis, &dim) in self.shape.iter().enumerate().rev() {
                out.set(axis * self.count + found, (rest % dim) as i64);
                rest /= dim;
            }
            found += 1;
        }
        if found == self.count {
            Ok(())
        } else {
            Err(changed())
        }
    }
}

/// The shape came from other values than those that are there now.
#[cold]
fn changed() -> OpError {
    OpError::data("the tensor was changed while its elements were counted")
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 3], &[1.0, 0.0, -0.0, f32::NAN, 2.0, 0.0]);
        check("NonZero", &[x], none(), &i64s(&[2, 3], &[0, 1, 1, 0, 0, 1]));
        check(
            "NonZero",
            &[f32s(&[0, 3], &[])],
            none(),
            &i64s(&[2, 0], &[]),
        );
    }
}
