//! Max pooling.

use crate::kernels::pool::{self, Kind};
use crate::onnx::{LATEST, alike};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, AttrKind, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    Types, ValueRef,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "MaxPoolV3",
    onnx: &[OnnxForm::new("MaxPool", 1, LATEST, lower)],
    inputs: &[InputDef::required("x", Types::NUMBER)],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::required("ksize", AttrKind::Ints),
        AttrDef::required("strides", AttrKind::Ints),
        AttrDef::str("padding_mode", "CALCULATED"),
        AttrDef::ints("pads", &[0, 0, 0, 0]),
        AttrDef::str("data_format", "NCHW"),
        AttrDef::bool("global_pooling", false),
        AttrDef::bool("ceil_mode", false),
        // Ours: ONNX has both.
        AttrDef::ints("dilations", &[1, 1, 1, 1]),
        AttrDef::str("auto_pad", "NOTSET"),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: pool::infer,
    prepare: |cx| pool::prepare(cx, Kind::Max),
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    if node.uses_output(1) {
        return alike(builder, node, "jumar.MaxPool");
    }
    // It only affects the order of the unused second output.
    node.ignore("storage_order");
    lower_pool(builder, node, "MaxPoolV3", Attrs::new())
}

/// Converts an ONNX pooling operator; a one-dimensional one goes through an image of height 1.
pub(super) fn lower_pool(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
    operator: &'static str,
    more: Attrs,
) -> Result<Vec<ValueRef>, OpError> {
    let kernel = node
        .ints("kernel_shape")?
        .ok_or_else(|| OpError::invalid("the attribute kernel_shape is missing"))?;
    if kernel.len() > 2 {
        let operator = if operator == "MaxPoolV3" {
            "jumar.MaxPool"
        } else {
            "jumar.AveragePool"
        };
        return alike(builder, node, operator);
    }
    let mut attrs = super::window_attrs(node, kernel.len())?
        .with(
            "ksize",
            [vec![1; 4 - kernel.len()], kernel.to_vec()].concat(),
        )
        .with("ceil_mode", node.bool_or("ceil_mode", false)?);
    for (name, value) in more.iter() {
        attrs.set(name, value.clone());
    }
    let mut image = node.input(0)?;
    if kernel.len() == 1 {
        image = builder.node(
            "Unsqueeze",
            &[Some(image)],
            Attrs::new().with("axes", vec![2]),
        )?;
    }
    let out = builder.node(operator, &[Some(image)], attrs)?;
    if kernel.len() == 1 {
        return Ok(vec![builder.node(
            "Squeeze",
            &[Some(out)],
            Attrs::new().with("axis", vec![2]),
        )?]);
    }
    Ok(vec![out])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let x = noise(&[2, 3, 9, 11], 5);
        let values = x.floats().unwrap();
        for (kernel, stride, pad, dilation, ceil) in [
            (2, 2, 0, 1, false),
            (3, 2, 1, 1, false),
            (3, 2, 1, 1, true),
            (2, 3, 0, 2, true),
            (3, 1, 2, 1, false),
        ] {
            let cover = dilation * (kernel - 1) + 1;
            let size = |input: i64| {
                let capacity = input + 2 * pad - cover;
                let mut out = if ceil {
                    (capacity + stride - 1) / stride
                } else {
                    capacity / stride
                } + 1;
                if ceil && (out - 1) * stride >= input + pad {
                    out -= 1;
                }
                out
            };
            let (height, width) = (size(9), size(11));
            let mut wanted = Vec::new();
            for plane in 0..6 {
                for y in 0..height {
                    for z in 0..width {
                        let mut most = f32::NEG_INFINITY;
                        for i in 0..kernel {
                            for j in 0..kernel {
                                let (row, column) = (
                                    y * stride + i * dilation - pad,
                                    z * stride + j * dilation - pad,
                                );
                                if (0..9).contains(&row) && (0..11).contains(&column) {
                                    most = most.max(
                                        values[(plane * 99 + row * 11 + column) as usize] as f32,
                                    );
                                }
                            }
                        }
                        wanted.push(most);
                    }
                }
            }
            let attrs = none()
                .with("ksize", vec![1, 1, kernel, kernel])
                .with("strides", vec![1, 1, stride, stride])
                .with("pads", vec![pad; 4])
                .with("dilations", vec![1, 1, dilation, dilation])
                .with("ceil_mode", ceil);
            check(
                "MaxPoolV3",
                &[x.clone()],
                attrs,
                &f32s(&[2, 3, height as usize, width as usize], &wanted),
            );
        }
    }
}
