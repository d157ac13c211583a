//! Division of each row by its norm; and by its deviation, which is made of other operators.

use crate::kernels::elementwise::infer_same;
use crate::kernels::generic::{Algorithm, Io, Working, generic_kernel};
use crate::onnx::{LATEST, alike};
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InputDef, OnnxForm, OnnxNode, OpError, Operator, Tensor,
    Types, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "jumar.LpNormalization",
    onnx: &[
        OnnxForm::new("LpNormalization", 1, LATEST, |builder, node| {
            alike(builder, node, "jumar.LpNormalization")
        }),
        OnnxForm::new("MeanVarianceNormalization", 9, LATEST, lower_deviation),
    ],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("axis", -1), AttrDef::int("p", 2)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if !(1..=2).contains(&cx.attrs().int("p")?) {
            return Err(OpError::invalid(format!(
                "p is {}; it must be 1 or 2",
                cx.attrs().int("p")?
            )));
        }
        if let Some(rank) = cx.input(0)?.rank() {
            infer::axis(cx.attrs().int("axis")?, rank)?;
        }
        infer_same(cx)
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let axis = infer::axis(cx.attrs().int("axis")?, shape.len())?;
        let algorithm = ByNorm {
            outer: shape[..axis].iter().product(),
            len: shape[axis],
            inner: shape[axis + 1..].iter().product(),
            square: cx.attrs().int("p")? == 2,
        };
        generic_kernel(cx, algorithm, &[0], &[0])
    },
}];

struct ByNorm {
    outer: usize,
    len: usize,
    inner: usize,
    square: bool,
}

impl Algorithm for ByNorm {
    fn run<W: Working>(&self, io: &Io<'_, W>) -> Result<(), OpError> {
        let (x, y) = (io.input(0)?, io.output(0)?);
        for outer in 0..self.outer {
            for inner in 0..self.inner {
                let start = outer * self.len * self.inner + inner;
                let from = x.stepped(start, self.len, self.inner);
                let norm = if self.square {
                    from.fold(W::zero(), |sum, x| sum + x * x).sqrt()
                } else {
                    from.fold(W::zero(), |sum, x| sum + x.abs())
                };
                // A row of zeros stays one.
                y.stepped(start, self.len, self.inner)
                    .map1(from, |x| if norm == W::zero() { norm } else { x / norm });
            }
        }
        Ok(())
    }
}

/// `(x - mean) / (deviation + 1e-9)`.
fn lower_deviation(
    builder: &mut dyn Builder,
    node: &OnnxNode<'_>,
) -> Result<Vec<ValueRef>, OpError> {
    let x = node.input(0)?;
    let dtype = builder.ty(x).dtype;
    let axes = builder.add_constant(Tensor::from_ints(node.ints("axes")?.unwrap_or(&[0, 2, 3])));
    let keep = || Attrs::new().with("keep_dims", true);
    let mean = builder.node("ReduceMean", &[Some(x), Some(axes)], keep())?;
    let centred = builder.node("Sub", &[Some(x), Some(mean)], Attrs::new())?;
    let square = builder.node("Mul", &[Some(centred), Some(centred)], Attrs::new())?;
    let variance = builder.node("ReduceMean", &[Some(square), Some(axes)], keep())?;
    let deviation = builder.node("Sqrt", &[Some(variance)], Attrs::new())?;
    let epsilon = builder.add_constant(Tensor::scalar(dtype, 1e-9)?);
    let divisor = builder.node("Add", &[Some(deviation), Some(epsilon)], Attrs::new())?;
    Ok(vec![builder.node(
        "RealDiv",
        &[Some(centred), Some(divisor)],
        Attrs::new(),
    )?])
}

#[cfg(test)]
mod tests {
    use crate::table::cases;

    #[test]
    fn agrees_with_onnx_runtime() {
        cases("lp_normalize");
    }
}
