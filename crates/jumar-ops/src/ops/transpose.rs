//! Reorders dimensions.

use crate::kernels::data_movement;
use crate::kernels::loops::dense_strides;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Attrs, InferCx, InputDef, OnnxForm, OpError, Operator, Tensor, TensorType, Types,
    UNKNOWN, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Transpose",
    onnx: &[OnnxForm::new("Transpose", 1, LATEST, |builder, node| {
        // Left out, the dimensions are reversed; an empty list stands for that.
        let perm = builder.add_constant(Tensor::from_ints(node.ints("perm")?.unwrap_or_default()));
        Ok(vec![builder.node(
            "Transpose",
            &[Some(node.input(0)?), Some(perm)],
            Attrs::new(),
        )?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("perm", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let Some(rank) = input.rank() else {
            return Ok(vec![input.clone()]);
        };
        let shape = match order(cx, rank)? {
            Some(order) => order.into_iter().map(|axis| input.shape[axis]).collect(),
            None => vec![UNKNOWN; rank],
        };
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let own = dense_strides(shape);
        let order = order(cx.infer(), shape.len())?
            .ok_or_else(|| OpError::unsupported("the order of axes has to be constant"))?;
        data_movement::pick(
            cx,
            0,
            &order.into_iter().map(|axis| own[axis]).collect::<Vec<_>>(),
        )
    },
}];

fn order(cx: &InferCx<'_>, rank: usize) -> Result<Option<Vec<usize>>, OpError> {
    let Some(list) = cx.ints(1)? else {
        return Ok(None);
    };
    if list.is_empty() {
        return Ok(Some((0..rank).rev().collect()));
    }
    if infer::axes(&list, rank)?.len() != rank {
        return Err(OpError::invalid(format!(
            "{list:?} does not name all {rank} dimensions"
        )));
    }
    list.iter()
        .map(|&axis| infer::axis(axis, rank))
        .collect::<Result<_, _>>()
        .map(Some)
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let dims = [2, 3, 4, 5];
        let x = noise(&dims, 1);
        let values = x.floats().unwrap();
        for perm in [
            [0, 1, 2, 3],
            [3, 2, 1, 0],
            [0, 2, 3, 1],
            [0, 3, 1, 2],
            [1, 0, 2, 3],
            [2, 3, 0, 1],
        ] {
            let to: Vec<usize> = perm.iter().map(|&axis| dims[axis as usize]).collect();
            let mut wanted = Vec::new();
            for at in 0..120 {
                let position = [
                    at / (to[1] * to[2] * to[3]),
                    at / (to[2] * to[3]) % to[1],
                    at / to[3] % to[2],
                    at % to[3],
                ];
                let mut from = [0; 4];
                for (axis, &source) in perm.iter().enumerate() {
                    from[source as usize] = position[axis];
                }
                wanted.push(values[((from[0] * 3 + from[1]) * 4 + from[2]) * 5 + from[3]] as f32);
            }
            check(
                "Transpose",
                &[x.clone(), i64s(&[4], &perm)],
                none(),
                &f32s(&to, &wanted),
            );
        }
        let row = f32s(&[1, 3], &[1.0, 2.0, 3.0]);
        check(
            "Transpose",
            &[row.clone(), i64s(&[0], &[])],
            none(),
            &f32s(&[3, 1], &[1.0, 2.0, 3.0]),
        );
        refuse(
            "Transpose",
            &[row.clone(), i64s(&[2], &[0, 0])],
            none(),
            "twice",
        );
        refuse("Transpose", &[row, i64s(&[1], &[0])], none(), "all 2");
    }
}
