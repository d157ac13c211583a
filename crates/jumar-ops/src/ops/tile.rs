//! Repeats a tensor along its axes.

use crate::kernels::loops::dense_strides;
use crate::kernels::number::for_width;
use crate::onnx::{LATEST, plain};
use crate::operator::OUTPUT_Y;
use crate::view::{Element, MAX_RANK};
use crate::{
    Aliasing, Call, InputDef, Kernel, OnnxForm, OpError, Operator, TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Tile",
    onnx: &[OnnxForm::new("Tile", 6, LATEST, |builder, node| {
        plain(builder, node, "Tile")
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("multiples", Types::INDEX),
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
        let Some(multiples) = cx.ints(1)? else {
            return Ok(vec![TensorType::new(input.dtype, vec![UNKNOWN; rank])]);
        };
        let wrong = || OpError::invalid(format!("{input} cannot be repeated {multiples:?} times"));
        if multiples.len() != rank {
            return Err(wrong());
        }
        let mut shape = Vec::with_capacity(rank);
        for (&dim, &times) in input.shape.iter().zip(&multiples) {
            shape.push(match (dim, times) {
                (_, ..0) => return Err(wrong()),
                (..0, _) => UNKNOWN,
                _ => dim.checked_mul(times).ok_or_else(wrong)?,
            });
        }
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let (from, to) = (cx.shape(0)?.to_vec(), cx.output_shape(0)?.to_vec());
        let strides = dense_strides(&from);
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Tile::<T> { from, to, strides, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

struct Tile<T> {
    from: Vec<usize>,
    to: Vec<usize>,
    strides: Vec<isize>,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Tile<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let (Some((&row, outer)), Some(&part)) = (self.to.split_last(), self.from.last()) else {
            out.copy_from(input);
            return Ok(());
        };
        if out.is_empty() {
            return Ok(());
        }
        let mut counter = [0usize; MAX_RANK];
        for line in (0..out.len()).step_by(row) {
            let terms = counter
                .iter()
                .zip(&self.from)
                .zip(&self.strides)
                .take(outer.len());
            let from: usize = terms
                .map(|((at, dim), &stride)| at % dim * stride as usize)
                .sum();
            let part_row = input.slice(from, part);
            for start in (0..row).step_by(part) {
                out.slice(line + start, part).copy_from(part_row);
            }
            for axis in (0..outer.len()).rev() {
                counter[axis] += 1;
                if counter[axis] < outer[axis] {
                    break;
                }
                counter[axis] = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let wanted = f32s(&[2, 4], &[1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
        check("Tile", &[x(), i64s(&[2], &[1, 2])], none(), &wanted);
        let wanted = f32s(&[4, 2], &[1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0]);
        check("Tile", &[x(), i64s(&[2], &[2, 1])], none(), &wanted);
        check(
            "Tile",
            &[x(), i64s(&[2], &[0, 3])],
            none(),
            &f32s(&[0, 6], &[]),
        );
        check(
            "Tile",
            &[f32s(&[], &[2.0]), i64s(&[0], &[])],
            none(),
            &f32s(&[], &[2.0]),
        );
        refuse("Tile", &[x(), i64s(&[1], &[2])], none(), "repeated");
        refuse("Tile", &[x(), i64s(&[2], &[2, -1])], none(), "repeated");
    }
}
