//! Conversion between element types.

use jumar_types::dtype::DataType;

use crate::kernels::number::{Cast, for_dtype};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::{BF16, Bool8, F16};
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode, OpError, Operator,
    TensorType, Types, ValueRef,
};

macro_rules! for_any {
    ($dtype:expr, $T:ident => $body:expr) => {
        for_dtype!(
            $dtype,
            [
                Float32 => f32, Float64 => f64, Float16 => F16, BFloat16 => BF16, Bool => Bool8,
                Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
                UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64,
            ],
            $T => $body
        )
    };
}
pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Cast",
    onnx: &[OnnxForm::new("Cast", 6, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::ALL)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::required("dst_type", AttrKind::Int)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let dtype = target(cx)?;
        if !Types::ALL.contains(dtype) {
            return Err(OpError::unsupported(format!("a conversion to {dtype} is not supported")));
        }
        Ok(vec![TensorType { dtype, shape: cx.input(0)?.shape.clone() }])
    },
    prepare: |cx| for_any!(cx.dtype(0)?, F => for_any!(target(cx.infer())?, T => {
        Ok(Box::new(Convert::<F, T>(std::marker::PhantomData)) as Box<dyn Kernel>)
    })),
}];

/// The Graph Engine numbers types as ACL does.
fn target(cx: &InferCx<'_>) -> Result<DataType, OpError> {
    let number = cx.attrs().int("dst_type")?;
    i32::try_from(number)
        .ok()
        .and_then(DataType::from_acl)
        .ok_or_else(|| OpError::invalid(format!("dst_type {number} is no data type")))
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    // Both only matter for 8-bit floating-point types, which are refused.
    node.ignore("saturate");
    node.ignore("round_mode");
    let to = node.dtype("to")?.ok_or_else(|| OpError::invalid("the attribute to is missing"))?;
    let attrs = Attrs::new().with("dst_type", i64::from(to.acl()));
    Ok(vec![builder.node("Cast", node.inputs(), attrs)?])
}

struct Convert<F, T>(std::marker::PhantomData<fn(F) -> T>);

impl<F: Cast, T: Cast> Kernel for Convert<F, T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<F>(0)?.flat(), call.output::<T>(0)?.flat());
        // One element at a time: there are 169 of these, and a vector loop each would be most of the library.
        for index in 0..out.len() {
            out.set(index, T::land(input.get(index).carry()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let to = |dtype: DataType| none().with("dst_type", i64::from(dtype.acl()));
        let x = f32s(&[5], &[-1.9, 0.0, 0.5, 2.5, 100.0]);
        check("Cast", &[x.clone()], to(DataType::Int64), &i64s(&[5], &[-1, 0, 0, 2, 100]));
        let truth = run("Cast", &[x.clone()], to(DataType::Bool)).unwrap();
        assert_eq!(truth[0].bytes(), [1, 0, 1, 1, 1]);
        let half = run("Cast", &[x.clone()], to(DataType::Float16)).unwrap();
        check("Cast", &half, to(DataType::Float32), &f32s(&[5], &[-1.900_390_6, 0.0, 0.5, 2.5, 100.0]));
        let large = i64s(&[2], &[i64::MAX, 258]);
        assert_eq!(run("Cast", &[large], to(DataType::UInt8)).unwrap()[0].bytes(), [255, 2]);
        refuse("Cast", &[x.clone()], to(DataType::String), "not supported");
        refuse("Cast", &[x], none().with("dst_type", 5), "no data type");
    }
}
