//! Writes single elements along an axis by their numbers.

use crate::kernels::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::kernels::data_movement::{Indices, checked_index, combination};
use crate::kernels::loops::{Loops, dense_strides};
use crate::kernels::number::for_width;
use crate::kernels::reduce::Join;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::Element;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InputDef, Kernel, OnnxForm, OnnxNode, OpError,
    Operator, Types, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "ScatterElements",
    onnx: &[
        OnnxForm::new("Scatter", 9, LATEST, lower),
        OnnxForm::new("ScatterElements", 11, LATEST, lower),
    ],
    inputs: &[
        InputDef::required("data", Types::ALL),
        InputDef::required("indices", Types::INDEX),
        InputDef::required("updates", Types::ALL),
    ],
    outputs: OUTPUT_Y,
    attrs: &[AttrDef::int("axis", 0), AttrDef::str("reduction", "none")],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        cx.same_types([0, 2])?;
        combination(cx.attrs().str("reduction")?)?;
        let (data, indices, updates) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
        let differ = |(a, b): (&i64, &i64)| *a >= 0 && *b >= 0 && a != b;
        let ranks = [data.rank(), indices.rank(), updates.rank()];
        if let [Some(rank), Some(two), Some(three)] = ranks {
            let axis = infer::axis(cx.attrs().int("axis")?, rank)?;
            let beyond =
                |at: usize| at != axis && data.shape[at] >= 0 && indices.shape[at] > data.shape[at];
            if rank != two || rank != three || (0..rank).any(beyond) {
                return Err(OpError::invalid(format!(
                    "the indices are {indices}, and the tensor is {data}"
                )));
            }
            if indices.shape.iter().zip(&updates.shape).any(differ) {
                return Err(OpError::invalid(format!(
                    "the indices are {indices}, and the updates are {updates}"
                )));
            }
        }
        Ok(vec![data.clone()])
    },
    prepare: |cx| {
        let (shape, from) = (cx.shape(0)?, cx.shape(1)?);
        let axis = infer::axis(cx.attrs().int("axis")?, shape.len())?;
        let mut to = dense_strides(shape);
        let step = std::mem::replace(&mut to[axis], 0) as usize;
        let sizes = Sizes {
            loops: Loops::new(from, [&to, &dense_strides(from)]),
            size: shape[axis],
            step,
            index: cx.dtype(1)?,
        };
        match combination(cx.attrs().str("reduction")?)? {
            None => for_width!(cx.dtype(0)?, T => {
                Ok(Box::new(Replace::<T> { sizes, types: std::marker::PhantomData }) as Box<dyn Kernel>)
            }),
            Some(join) => for_carried!(cx.dtype(0)?, T => {
                Ok(Box::new(Combine::<T> { sizes, join, types: std::marker::PhantomData }) as Box<dyn Kernel>)
            }),
        }
    },
}];

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let attrs = Attrs::new()
        .with("axis", node.int_or("axis", 0)?)
        .with("reduction", node.str_or("reduction", "none")?);
    Ok(vec![builder.node(
        "ScatterElements",
        node.inputs(),
        attrs,
    )?])
}

struct Sizes {
    loops: Loops<2>,
    /// Elements along the axis, and the distance between two of them.
    size: usize,
    step: usize,
    index: jumar_types::dtype::DataType,
}

impl Sizes {
    /// Calls `write` with the index in the tensor and the index in the updates, in order.
    fn each(&self, call: &Call<'_>, mut write: impl FnMut(usize, usize)) -> Result<(), OpError> {
        let indices = Indices::of(call, 1, self.index)?;
        let (len, [to_step, from_step]) = (self.loops.row(), self.loops.steps());
        self.loops.try_each([0; 2], |[to, from]| {
            for position in 0..len {
                let from = from + position * from_step as usize;
                let at = checked_index(indices.get(from), self.size, from)?;
                write(to + position * to_step as usize + at * self.step, from);
            }
            Ok(())
        })
    }
}

struct Replace<T> {
    sizes: Sizes,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Replace<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (updates, out) = (call.input::<T>(2)?.flat(), call.output::<T>(0)?.flat());
        out.copy_from(call.input::<T>(0)?.flat());
        self.sizes
            .each(call, |to, from| out.set(to, updates.get(from)))
    }
}

struct Combine<T> {
    sizes: Sizes,
    join: Join,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Combine<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (updates, out) = (call.input::<T>(2)?.flat(), call.output::<T>(0)?.flat());
        out.copy_from(call.input::<T>(0)?.flat());
        self.sizes.each(call, |to, from| {
            let joined =
                T::Wide::fold(self.join, out.get(to).widen(), &[updates.get(from).widen()]);
            out.set(to, T::from_wide(joined));
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_its_definition() {
        let x = || f32s(&[1, 5], &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let index = || i64s(&[1, 3], &[1, -2, 1]);
        let updates = || f32s(&[1, 3], &[1.5, 2.5, 7.0]);
        for (how, wanted) in [
            ("none", [1.0, 7.0, 3.0, 2.5, 5.0]),
            ("add", [1.0, 10.5, 3.0, 6.5, 5.0]),
            ("mul", [1.0, 21.0, 3.0, 10.0, 5.0]),
            ("max", [1.0, 7.0, 3.0, 4.0, 5.0]),
            ("min", [1.0, 1.5, 3.0, 2.5, 5.0]),
        ] {
            let attrs = none().with("axis", 1).with("reduction", how);
            check(
                "ScatterElements",
                &[x(), index(), updates()],
                attrs,
                &f32s(&[1, 5], &wanted),
            );
        }
        refuse(
            "ScatterElements",
            &[x(), i64s(&[1, 3], &[5, 0, 0]), updates()],
            none().with("axis", 1),
            "is 5",
        );
        refuse(
            "ScatterElements",
            &[x(), index(), f32s(&[1, 2], &[0.0; 2])],
            none().with("axis", 1),
            "updates are",
        );
        refuse(
            "ScatterElements",
            &[x(), index(), updates()],
            none().with("reduction", "xor"),
            "xor",
        );
    }
}
