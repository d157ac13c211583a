//! The same elements under another shape.

use crate::kernels::data_movement;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, InputDef, OnnxForm, OpError, Operator, TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Reshape",
    onnx: &[OnnxForm::new("Reshape", 5, LATEST, |builder, node| {
        let attrs = Attrs::new().with("allowzero", node.bool_or("allowzero", false)?);
        Ok(vec![builder.node("Reshape", node.inputs(), attrs)?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("shape", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("axis", 0),
        AttrDef::int("num_axes", -1),
        // Ours: ONNX can take 0 for a dimension of no elements.
        AttrDef::bool("allowzero", false),
    ],
    aliasing: Aliasing::View,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        if cx.attrs().int("axis")? != 0 || cx.attrs().int("num_axes")? != -1 {
            return Err(OpError::unsupported(
                "axis and num_axes other than 0 and -1 are not supported",
            ));
        }
        let Some(wanted) = cx.ints(1)? else {
            return Ok(vec![match cx.input(1)?.elements() {
                Some(rank) => TensorType::new(input.dtype, vec![UNKNOWN; rank]),
                None => TensorType::of_unknown_rank(input.dtype),
            }]);
        };
        let copies_zero = !cx.attrs().bool("allowzero")?;
        let mut shape = Vec::with_capacity(wanted.len());
        let mut open = None;
        for (axis, &dim) in wanted.iter().enumerate() {
            shape.push(match dim {
                0 if copies_zero => match input.rank() {
                    None => UNKNOWN,
                    Some(rank) if axis < rank => input.shape[axis],
                    Some(_) => {
                        return Err(OpError::invalid(format!(
                            "{wanted:?} copies dimension {axis} of {input}"
                        )));
                    }
                },
                -1 if open.is_none() => {
                    open = Some(axis);
                    UNKNOWN
                }
                0.. => dim,
                _ => return Err(OpError::invalid(format!("{wanted:?} is not a shape"))),
            });
        }
        let fits = || OpError::invalid(format!("{input} cannot be seen as {wanted:?}"));
        if let Some(elements) = input.elements() {
            let rest = shape
                .iter()
                .enumerate()
                .filter(|&(axis, _)| open != Some(axis))
                .try_fold(1usize, |product, (_, &dim)| {
                    product.checked_mul(usize::try_from(dim).ok()?)
                })
                .ok_or_else(fits)?;
            match open {
                Some(axis) if rest > 0 && elements % rest == 0 => {
                    shape[axis] = (elements / rest) as i64
                }
                Some(axis) if rest == 0 && elements == 0 => shape[axis] = 0,
                None if rest == elements => {}
                _ => return Err(fits()),
            }
        }
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: data_movement::copy,
}];

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_onnx() {
        let x = noise(&[2, 3, 4], 1);
        for (wanted, dims) in [
            (&[6, 4][..], &[6, 4][..]),
            (&[-1], &[24]),
            (&[0, -1], &[2, 12]),
            (&[4, 0, -1], &[4, 3, 2]),
        ] {
            check(
                "Reshape",
                &[x.clone(), i64s(&[wanted.len()], wanted)],
                none(),
                &x.reshaped(dims).unwrap(),
            );
        }
        let empty = f32s(&[0, 3], &[]);
        let allow = none().with("allowzero", true);
        check(
            "Reshape",
            &[empty.clone(), i64s(&[2], &[3, 0])],
            allow,
            &f32s(&[3, 0], &[]),
        );
        check(
            "Reshape",
            &[empty, i64s(&[2], &[0, -1])],
            none(),
            &f32s(&[0, 0], &[]),
        );
        for wanted in [&[5, 5][..], &[-1, -1], &[-1, 5], &[-2], &[2, 3, 4, 0]] {
            let error = run(
                "Reshape",
                &[x.clone(), i64s(&[wanted.len()], wanted)],
                none(),
            );
            assert!(error.is_err(), "{wanted:?}");
        }
    }
}
