//! Keeps the upper or the lower triangle of matrices.

use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator, Types,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "Trilu",
    onnx: &[OnnxForm::new("Trilu", 14, LATEST, |builder, node| {
        let attrs = Attrs::new().with("upper", node.int_or("upper", 1)?);
        Ok(vec![builder.node("Trilu", node.inputs(), attrs)?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::optional_constant("k", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("upper", 0)],
    aliasing: Aliasing::Elementwise,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        if input.rank().is_some_and(|rank| rank < 2) {
            return Err(OpError::invalid(format!("{input} is not a matrix")));
        }
        diagonal(cx)?;
        Ok(vec![input.clone()])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let [.., rows, columns] = *shape else {
            return Err(OpError::internal("no matrix"));
        };
        let diagonal = diagonal(cx.infer())?
            .ok_or_else(|| OpError::unsupported("the diagonal has to be known"))?;
        let upper = cx.attrs().int("upper")? != 0;
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Trilu::<T> { rows, columns, diagonal, upper, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn diagonal(cx: &InferCx<'_>) -> Result<Option<i64>, OpError> {
    if !cx.has(1) {
        return Ok(Some(0));
    }
    match cx.ints(1)?.as_deref() {
        None => Ok(None),
        Some(&[k]) => Ok(Some(k)),
        Some(other) => Err(OpError::invalid(format!(
            "the diagonal is {other:?}, not one number"
        ))),
    }
}

struct Trilu<T> {
    rows: usize,
    columns: usize,
    diagonal: i64,
    upper: bool,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Trilu<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let (rows, columns) = (self.rows, self.columns);
        if out.is_empty() {
            return Ok(());
        }
        for (line, start) in (0..out.len()).step_by(columns).enumerate() {
            let own = |shift: i64| {
                self.diagonal
                    .saturating_add((line % rows) as i64 + shift)
                    .clamp(0, columns as i64) as usize
            };
            let (first, end) = if self.upper {
                (own(0), columns)
            } else {
                (0, own(1))
            };
            let (from, to) = (input.slice(start, columns), out.slice(start, columns));
            to.slice(first, end - first)
                .copy_from(from.slice(first, end - first));
            to.slice(0, first).fill(T::default());
            to.slice(end, columns - end).fill(T::default());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = || f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(
            "Trilu",
            &[x()],
            none().with("upper", 1),
            &f32s(&[2, 3], &[1.0, 2.0, 3.0, 0.0, 5.0, 6.0]),
        );
        check(
            "Trilu",
            &[x()],
            none(),
            &f32s(&[2, 3], &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0]),
        );
        check(
            "Trilu",
            &[x(), i64s(&[], &[1])],
            none(),
            &f32s(&[2, 3], &[1.0, 2.0, 0.0, 4.0, 5.0, 6.0]),
        );
        check(
            "Trilu",
            &[x(), i64s(&[], &[i64::MAX])],
            none().with("upper", 1),
            &f32s(&[2, 3], &[0.0; 6]),
        );
        check(
            "Trilu",
            &[x(), i64s(&[], &[-9])],
            none(),
            &f32s(&[2, 3], &[0.0; 6]),
        );
        check("Trilu", &[f32s(&[2, 0], &[])], none(), &f32s(&[2, 0], &[]));
        refuse("Trilu", &[f32s(&[2], &[1.0, 2.0])], none(), "not a matrix");
    }
}
