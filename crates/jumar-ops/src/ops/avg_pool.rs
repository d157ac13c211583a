//! Average pooling.

use crate::kernels::pool::{self, Kind};
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{Aliasing, AttrDef, AttrKind, Attrs, InputDef, OnnxForm, OpError, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "AvgPoolV2",
    onnx: &[OnnxForm::new("AveragePool", 7, LATEST, |builder, node| {
        let more = Attrs::new().with("exclusive", !node.bool_or("count_include_pad", false)?);
        super::max_pool::lower_pool(builder, node, "AvgPoolV2", more)
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("ksize", AttrKind::Ints),
        AttrDef::required("strides", AttrKind::Ints),
        AttrDef::str("padding_mode", "CALCULATED"),
        AttrDef::ints("pads", &[0, 0, 0, 0]),
        AttrDef::str("data_format", "NCHW"),
        AttrDef::bool("global_pooling", false),
        AttrDef::bool("ceil_mode", false),
        AttrDef::bool("exclusive", true),
        AttrDef::int("divisor_override", 0),
        // Ours: ONNX has both.
        AttrDef::ints("dilations", &[1, 1, 1, 1]),
        AttrDef::str("auto_pad", "NOTSET"),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: pool::infer,
    prepare: |cx| {
        let kind = match (
            cx.attrs().int("divisor_override")?,
            cx.attrs().bool("exclusive")?,
        ) {
            (0, true) => Kind::MeanInside,
            (0, false) => Kind::MeanPadded,
            (divisor @ 1.., _) => Kind::SumBy(divisor as u64),
            (divisor, _) => {
                return Err(OpError::invalid(format!(
                    "divisor_override is {divisor}; it must be 0 or more"
                )));
            }
        };
        pool::prepare(cx, kind)
    },
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn padding_counts_only_where_asked() {
        let x = f32s(&[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let attrs = || {
            none()
                .with("ksize", vec![1, 1, 2, 2])
                .with("strides", vec![1; 4])
                .with("pads", vec![1, 0, 1, 0])
        };
        check(
            "AvgPoolV2",
            &[x.clone()],
            attrs(),
            &f32s(&[1, 1, 2, 2], &[1.0, 1.5, 2.0, 2.5]),
        );
        let padded = f32s(&[1, 1, 2, 2], &[0.25, 0.75, 1.0, 2.5]);
        check(
            "AvgPoolV2",
            &[x.clone()],
            attrs().with("exclusive", false),
            &padded,
        );
        let by_two = f32s(&[1, 1, 2, 2], &[0.5, 1.5, 2.0, 5.0]);
        check(
            "AvgPoolV2",
            &[x.clone()],
            attrs().with("divisor_override", 2),
            &by_two,
        );
        check(
            "AvgPoolV2",
            &[x],
            attrs()
                .with("global_pooling", true)
                .with("pads", vec![0; 4]),
            &f32s(&[1, 1, 1, 1], &[2.5]),
        );
    }
}
