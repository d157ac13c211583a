//! Determinants, and Col2Im, which adds patches of an image back at their positions.

use jumar_types::dtype::DataType;

use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel, generic_kernel_in};
use crate::kernels::space::transposed::spread;
use crate::kernels::space::{Space, Windows, entries, window_defs};
use crate::onnx::{LATEST, attrs_alike, cast, plain, through_float64};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, Builder, InferCx, InputDef, OnnxForm, OpError, Operator, TensorType, Types, UNKNOWN,
};

pub(super) static OPERATORS: &[&Operator] = &[
    &Operator {
        name: "MatrixDeterminant",
        onnx: &[OnnxForm::new("Det", 11, LATEST, |builder, node| {
            plain(builder, node, "MatrixDeterminant")
        })],
        inputs: &[InputDef::required("x", Types::FLOAT)],
        outputs: OUTPUT_Y,
        attrs: &[],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: |cx| {
            let x = cx.input(0)?;
            let Some(rank) = x.rank() else {
                return Ok(vec![x.clone()]);
            };
            let square = rank >= 2
                && (x.shape[rank - 1] < 0
                    || x.shape[rank - 2] < 0
                    || x.shape[rank - 1] == x.shape[rank - 2]);
            if !square {
                return Err(OpError::invalid(format!(
                    "{x} is not a stack of square matrices"
                )));
            }
            Ok(vec![TensorType::new(x.dtype, &x.shape[..rank - 2])])
        },
        prepare: |cx| {
            let size = cx.shape(0)?[cx.shape(0)?.len() - 1];
            let count = cx.output_shape(0)?.iter().product();
            generic_kernel_in(cx, Determinant { count, size }, &[0], &[0], true)
        },
    },
    &Operator {
        name: "jumar.Col2Im",
        onnx: &[OnnxForm::new("Col2Im", 18, LATEST, |builder, node| {
            let attrs = attrs_alike(node, "jumar.Col2Im")?;
            let (x, rest) = (node.input(0)?, [node.optional(1), node.optional(2)]);
            let sums = |builder: &mut dyn Builder, x| {
                builder.node("jumar.Col2Im", &[Some(x), rest[0], rest[1]], attrs)
            };
            Ok(vec![match builder.ty(x).dtype {
                // One of the booleans that fall together is enough.
                DataType::Bool => {
                    let counted = cast(builder, x, DataType::Float32)?;
                    let sum = sums(builder, counted)?;
                    cast(builder, sum, DataType::Bool)?
                }
                _ => through_float64(builder, x, sums)?,
            }])
        })],
        inputs: &[
            InputDef::required("x", Types::FLOAT),
            InputDef::constant("image_shape", Types::INDEX),
            InputDef::constant("block_shape", Types::INDEX),
        ],
        outputs: OUTPUT_Y,
        attrs: &[
            window_defs()[0],
            window_defs()[1],
            window_defs()[2],
            window_defs()[3],
        ],
        aliasing: Aliasing::Distinct,
        reads_only_shapes: false,
        infer: infer_patches,
        prepare: |cx| {
            let image: Vec<usize> = cx.ints(1)?.iter().map(|&size| size as usize).collect();
            let space = Windows::of(cx.attrs(), &cx.ints(2)?, false)?.fix(&image)?;
            generic_kernel(
                cx,
                Patches {
                    planes: cx.output_shape(0)?[..2].iter().product(),
                    space,
                },
                &[0],
                &[0],
            )
        },
    },
];

struct Determinant {
    count: usize,
    size: usize,
}

impl Algorithm for Determinant {
    fn scratch(&self) -> usize {
        self.size * self.size
    }

    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, out, matrix) = (io.input(0)?, io.output(0)?, io.scratch()?);
        let n = self.size;
        for index in 0..self.count {
            matrix.copy_from(x.slice(index * n * n, n * n));
            let mut product = W::one();
            for column in 0..n {
                let pivot = (column..n)
                    .reduce(|best, row| {
                        let larger = matrix.get(row * n + column).abs()
                            > matrix.get(best * n + column).abs();
                        if larger { row } else { best }
                    })
                    .unwrap_or(column);
                if pivot != column {
                    product = -product;
                    for at in 0..n {
                        let (a, b) = (matrix.get(column * n + at), matrix.get(pivot * n + at));
                        matrix.set(column * n + at, b);
                        matrix.set(pivot * n + at, a);
                    }
                }
                let head = matrix.get(column * n + column);
                product = product * head;
                if head == W::zero() {
                    break;
                }
                for row in column + 1..n {
                    let factor = matrix.get(row * n + column) / head;
                    let seen = matrix.as_row().slice(column * n + column, n - column);
                    matrix
                        .slice(row * n + column, n - column)
                        .update(seen, |own, other| own - factor * other);
                }
            }
            out.set(index, product);
        }
        Ok(())
    }
}

fn infer_patches(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let x = cx.input(0)?;
    let (Some(image), Some(block)) = (cx.ints(1)?, cx.ints(2)?) else {
        return Ok(vec![TensorType::of_unknown_rank(x.dtype)]);
    };
    if image.len() != block.len() || image.iter().any(|&size| size < 0) {
        return Err(OpError::invalid(format!(
            "image_shape {image:?} and block_shape {block:?} do not fit each other"
        )));
    }
    entries(cx.attrs(), "pads", 2 * image.len(), 0)?;
    let columns = Windows::of(cx.attrs(), &block, false)?.output(&image)?;
    let product = |list: &[i64]| {
        list.iter()
            .fold(1i64, |product, &size| product.saturating_mul(size))
    };
    let (taps, columns) = (product(&block), product(&columns));
    let (batch, rows, own) = match x.shape[..] {
        [batch, rows, columns] => (batch, rows, columns),
        _ if x.rank().is_none() => (UNKNOWN, UNKNOWN, UNKNOWN),
        _ => {
            return Err(OpError::invalid(format!(
                "the input {x} has to have 3 dimensions"
            )));
        }
    };
    if (rows >= 0 && rows % taps.max(1) != 0) || (own >= 0 && own != columns) {
        return Err(OpError::invalid(format!(
            "the input {x} does not hold {columns} blocks of {taps} elements"
        )));
    }
    let channels = if rows < 0 {
        UNKNOWN
    } else {
        rows / taps.max(1)
    };
    Ok(vec![TensorType::new(
        x.dtype,
        [&[batch, channels][..], &image].concat(),
    )])
}

struct Patches {
    planes: usize,
    space: Space,
}

impl Algorithm for Patches {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, out) = (io.input(0)?, io.output(0)?);
        let (plane, pixels, taps) = (self.space.plane(), self.space.pixels(), self.space.taps());
        out.fill(W::zero());
        for row in 0..self.planes * taps {
            let channel = out.slice(row / taps * plane, plane);
            spread(
                &self.space,
                channel,
                row % taps,
                0,
                x.slice(row * pixels, pixels),
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
        cases("determinant");
    }

    #[test]
    fn shapes_that_do_not_fit_are_refused() {
        refuse("MatrixDeterminant", &[noise(&[2, 3], 1)], none(), "square");
        let inputs = [
            noise(&[1, 5, 4], 1),
            i64s(&[2], &[3, 3]),
            i64s(&[2], &[2, 2]),
        ];
        refuse("jumar.Col2Im", &inputs, none(), "blocks of 4");
    }
}
