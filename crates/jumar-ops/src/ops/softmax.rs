//! Exponentials that sum to one along the axes.

use crate::kernels::softmax;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Types,
    ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "SoftmaxV2",
    onnx: &[OnnxForm::new("Softmax", 1, LATEST, |builder, node| {
        lower(builder, node, "SoftmaxV2")
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::ints("axes", &[-1]),
        AttrDef::bool("half_to_float", false),
        // Ours: older ONNX takes all axes from the given one on together.
        AttrDef::bool("to_last", false),
    ],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: |cx| {
        if cx.attrs().bool("half_to_float")? {
            return Err(OpError::unsupported(
                "half_to_float = true is not supported",
            ));
        }
        softmax::infer(cx)
    },
    prepare: softmax::prepare::<false>,
}];

/// Before operator set 13, the axes from the given one on are taken together.
pub(super) fn lower(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
) -> Result<Vec<ValueRef>, OpError> {
    let joined = node.opset < 13;
    let axis = node.int_or("axis", if joined { 1 } else { -1 })?;
    let attrs = Attrs::new()
        .with("axes", vec![axis])
        .with("to_last", joined);
    Ok(vec![builder.node(
        operator,
        &[Some(node.input(0)?)],
        attrs,
    )?])
}

#[cfg(test)]
mod tests {
    use crate::Tensor;
    use crate::table::*;

    pub(super) fn by_definition(
        x: &Tensor,
        (outer, len, inner): (usize, usize, usize),
        log: bool,
    ) -> Tensor {
        let values = x.floats().unwrap();
        let mut out = vec![0f32; values.len()];
        for o in 0..outer {
            for i in 0..inner {
                let at = |index: usize| (o * len + index) * inner + i;
                let sum: f64 = (0..len).map(|index| values[at(index)].exp()).sum();
                for index in 0..len {
                    let value = values[at(index)].exp() / sum;
                    out[at(index)] = if log { value.ln() } else { value } as f32;
                }
            }
        }
        f32s(&x.ty().dims().unwrap(), &out)
    }

    #[test]
    fn agrees_with_its_definition() {
        let x = noise(&[2, 3, 4, 5], 1);
        for (axes, parts) in [
            (vec![-1], (24, 5, 1)),
            (vec![1], (2, 3, 20)),
            (vec![2, 3], (6, 20, 1)),
            (vec![1, 2], (2, 12, 5)),
            (vec![0, 1, 2, 3], (1, 120, 1)),
        ] {
            check(
                "SoftmaxV2",
                &[x.clone()],
                none().with("axes", axes.clone()),
                &by_definition(&x, parts, false),
            );
            check(
                "LogSoftmaxV2",
                &[x.clone()],
                none().with("axes", axes),
                &by_definition(&x, parts, true),
            );
        }
        let to_last = none().with("axes", vec![1]).with("to_last", true);
        check(
            "SoftmaxV2",
            &[x.clone()],
            to_last,
            &by_definition(&x, (2, 60, 1), false),
        );
        let behind = none().with("axes", vec![4]).with("to_last", true);
        check(
            "SoftmaxV2",
            &[x.clone()],
            behind,
            &by_definition(&x, (120, 1, 1), false),
        );
        refuse(
            "SoftmaxV2",
            &[x.clone()],
            none().with("axes", vec![0, 2]),
            "neighbours",
        );
        refuse("SoftmaxV2", &[x], none().with("axes", vec![4]), "outside");
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        check(
            "SoftmaxV2",
            &[f32s(&[2], &[1000.0, 1000.0])],
            none(),
            &f32s(&[2], &[0.5, 0.5]),
        );
    }
}
