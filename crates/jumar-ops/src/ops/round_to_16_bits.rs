//! Rounds float32 to what a 16-bit type holds, and keeps it as float32: networks of 16-bit types are computed so.

use jumar_types::dtype::DataType;

use crate::kernels::elementwise::infer_same;
use crate::kernels::widened::rounding;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, AttrKind, InputDef, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.RoundTo16Bits",
    onnx: &[],
    inputs: &[InputDef::required("x", Types::of(&[DataType::Float32]))],
    outputs: OUTPUT_Y,
    // The type, numbered as ACL does.
    attrs: &[AttrDef::required("dst_type", AttrKind::Int)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: infer_same,
    prepare: |cx| rounding(cx.attrs().int("dst_type")?),
}];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::*;

    #[test]
    fn the_result_is_that_of_two_conversions() {
        let x = f32s(
            &[9],
            &[0.1, -2.7, 65519.0, 65520.0, 1e-8, 6e-8, 3.0e38, -0.0, 1e-40],
        );
        for dtype in [DataType::Float16, DataType::BFloat16] {
            let wanted = cast(&cast(&x, dtype), DataType::Float32);
            let attrs = none().with("dst_type", i64::from(dtype.acl()));
            let found = run("jumar.RoundTo16Bits", std::slice::from_ref(&x), attrs).unwrap();
            assert_eq!(found[0].bytes(), wanted.bytes(), "{dtype}");
        }
        let attrs = none().with("dst_type", i64::from(DataType::Int32.acl()));
        refuse("jumar.RoundTo16Bits", &[x], attrs, "int32");
    }
}
