//! Writes slices of a tensor by the numbers of several axes at once.

use crate::kernels::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::kernels::data_movement::{Tuples, combination, tuples};
use crate::kernels::number::for_width;
use crate::kernels::reduce::Join;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{Aliasing, AttrDef, Attrs, Call, InputDef, Kernel, OnnxForm, OpError, Operator, Types};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "TensorScatterUpdate",
    onnx: &[OnnxForm::new("ScatterND", 11, LATEST, |builder, node| {
        let attrs = Attrs::new().with("reduction", node.str_or("reduction", "none")?);
        Ok(vec![builder.node(
            "TensorScatterUpdate",
            node.inputs(),
            attrs,
        )?])
    })],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::required("indices", Types::INDEX),
        InputDef::required("updates", Types::ALL),
    ],
    outputs: OUTPUT_Y,
    // Ours: ONNX can combine the new elements with the old.
    attrs: &[AttrDef::str("reduction", "none")],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        cx.same_types([0, 2])?;
        combination(cx.attrs().str("reduction")?)?;
        let (data, indices, updates) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
        let (Some(rank), Some(depth), Some(_)) = (data.rank(), indices.rank(), updates.rank())
        else {
            return Ok(vec![data.clone()]);
        };
        let wrong = || {
            OpError::invalid(format!(
                "the indices are {indices}, and the tensor is {data}"
            ))
        };
        let Some((&width, outer)) = indices.shape.split_last() else {
            return Err(wrong());
        };
        if let Ok(width) = usize::try_from(width) {
            if width > rank || depth == 0 {
                return Err(wrong());
            }
            let wanted = [outer, &data.shape[width..]].concat();
            let differ = |(a, b): (&i64, &i64)| *a >= 0 && *b >= 0 && a != b;
            if wanted.len() != updates.shape.len() || wanted.iter().zip(&updates.shape).any(differ)
            {
                return Err(OpError::invalid(format!(
                    "the updates are {updates}, and have to be of shape {wanted:?}"
                )));
            }
        }
        Ok(vec![data.clone()])
    },
    prepare: |cx| {
        let tuples = tuples(cx.shape(0)?, cx.shape(1)?, 0, true, cx.dtype(1)?);
        match combination(cx.attrs().str("reduction")?)? {
            None => for_width!(cx.dtype(0)?, T => {
                Ok(Box::new(Replace::<T> { tuples, types: std::marker::PhantomData }) as Box<dyn Kernel>)
            }),
            Some(join) => for_carried!(cx.dtype(0)?, T => {
                Ok(Box::new(Combine::<T> { tuples, join, types: std::marker::PhantomData }) as Box<dyn Kernel>)
            }),
        }
    },
}];

struct Replace<T> {
    tuples: Tuples,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Replace<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (updates, out) = (call.input::<T>(2)?.flat(), call.output::<T>(0)?.flat());
        out.copy_from(call.input::<T>(0)?.flat());
        let slice = self.tuples.slice;
        self.tuples.each(call, 1, |tuple, to| {
            out.slice(to, slice)
                .copy_from(updates.slice(tuple * slice, slice));
        })
    }
}

struct Combine<T> {
    tuples: Tuples,
    join: Join,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Combine<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (updates, out) = (call.input::<T>(2)?.flat(), call.output::<T>(0)?.flat());
        out.copy_from(call.input::<T>(0)?.flat());
        let slice = self.tuples.slice;
        self.tuples.each(call, 1, |tuple, to| {
            for index in 0..slice {
                let update = updates.get(tuple * slice + index).widen();
                let joined = T::Wide::fold(self.join, out.get(to + index).widen(), &[update]);
                out.set(to + index, T::from_wide(joined));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let x = || i64s(&[3, 2], &[1, 2, 3, 4, 5, 6]);
        let index = || i64s(&[3, 1], &[0, -1, 0]);
        let updates = || i64s(&[3, 2], &[9, 8, 7, 6, 5, 4]);
        for (how, wanted) in [
            ("none", [5, 4, 3, 4, 7, 6]),
            ("add", [15, 14, 3, 4, 12, 12]),
            ("mul", [45, 64, 3, 4, 35, 36]),
            ("max", [9, 8, 3, 4, 7, 6]),
            ("min", [1, 2, 3, 4, 5, 6]),
        ] {
            let attrs = none().with("reduction", how);
            check(
                "TensorScatterUpdate",
                &[x(), index(), updates()],
                attrs,
                &i64s(&[3, 2], &wanted),
            );
        }
        refuse(
            "TensorScatterUpdate",
            &[x(), i64s(&[3, 1], &[0, 1, 3]), updates()],
            none(),
            "is 3",
        );
        refuse(
            "TensorScatterUpdate",
            &[x(), index(), i64s(&[1, 2], &[0; 2])],
            none(),
            "updates are",
        );
    }
}
