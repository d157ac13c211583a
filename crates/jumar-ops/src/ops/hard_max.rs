//! One at the first largest element along an axis, and zero elsewhere.

use crate::kernels::compute_types::{ConvertibleElement, for_carried};
use crate::kernels::elementwise::infer_same;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, Types, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "HardMax",
    onnx: &[OnnxForm::new("Hardmax", 1, LATEST, |builder, node| {
        // Before operator set 13, the axes from the given one on are taken together.
        let joined = node.opset < 13;
        let attrs = Attrs::new()
            .with("axis", node.int_or("axis", if joined { 1 } else { -1 })?)
            .with("joined", joined);
        Ok(vec![builder.node("HardMax", node.inputs(), attrs)?])
    })],
    inputs: &[InputDef::required("x", Types::FLOAT)],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("axis", -1), AttrDef::bool("joined", false)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        if let Some(rank) = cx.input(0)?.rank() {
            infer::axis(cx.attrs().int("axis")?, rank.max(1))?;
        }
        infer_same(cx)
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let (axis, joined) = (
            infer::axis(cx.attrs().int("axis")?, shape.len().max(1))?,
            cx.attrs().bool("joined")?,
        );
        let after = |axis: usize| {
            shape
                .get(axis..)
                .unwrap_or_default()
                .iter()
                .product::<usize>()
        };
        let (len, inner) = if joined {
            (after(axis), 1)
        } else {
            (shape.get(axis).copied().unwrap_or(1), after(axis + 1))
        };
        let outer = shape.get(..axis).unwrap_or_default().iter().product();
        for_carried!(cx.dtype(0)?, T => {
            Ok(Box::new(Hardmax::<T> { outer, len, inner, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

struct Hardmax<T> {
    outer: usize,
    len: usize,
    inner: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Hardmax<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Hardmax {
            outer, len, inner, ..
        } = *self;
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        out.fill(T::from_signed(0));
        if len == 0 {
            return Ok(());
        }
        for step in 0..outer {
            for column in 0..inner {
                let start = step * len * inner + column;
                let row = input.stepped(start, len, inner);
                let mut best = 0;
                for index in 1..len {
                    if row.get(index).widen() > row.get(best).widen() {
                        best = index;
                    }
                }
                out.set(start + best * inner, T::from_signed(1));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let x = || f32s(&[2, 3], &[3.0, 7.0, 7.0, 6.0, 5.0, 4.0]);
        check(
            "HardMax",
            &[x()],
            none(),
            &f32s(&[2, 3], &[0.0, 1.0, 0.0, 1.0, 0.0, 0.0]),
        );
        check(
            "HardMax",
            &[x()],
            none().with("axis", 0),
            &f32s(&[2, 3], &[0.0, 1.0, 1.0, 1.0, 0.0, 0.0]),
        );
        let joined = none().with("axis", 0).with("joined", true);
        check(
            "HardMax",
            &[x()],
            joined,
            &f32s(&[2, 3], &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
        );
        check(
            "HardMax",
            &[f32s(&[2, 0], &[])],
            none(),
            &f32s(&[2, 0], &[]),
        );
    }
}
