//! The distinct elements, or the distinct slices along an axis.

use std::cmp::Ordering;

use jumar_types::dtype::DataType;

use crate::kernels::compute_types::{ConvertibleElement, Wide, for_carried};
use crate::onnx::LATEST;
use crate::view::{Region, Row, View};
use crate::{
    Aliasing, AttrDef, Attrs, Call, InferCx, InputDef, Kernel, OnnxForm, OpError, Operator,
    OutputDef, TensorType, Types, UNKNOWN, infer,
};

/// Stands for no axis: the tensor is taken as one row.
const FLAT: i64 = i64::MIN;

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    // The Graph Engine's UniqueWithCountsAndSorting knows no axis and not where values were first seen.
    name: "jumar.Unique",
    onnx: &[OnnxForm::new("Unique", 11, LATEST, |builder, node| {
        let attrs = Attrs::new()
            .with("axis", node.int_or("axis", FLAT)?)
            .with("sorted", node.bool_or("sorted", true)?);
        builder.add_node("jumar.Unique", node.inputs(), attrs, node.outputs)
    })],
    inputs: &[InputDef::required("x", Types::REAL)],
    outputs: &[
        OutputDef { name: "y" },
        OutputDef { name: "indices" },
        OutputDef {
            name: "inverse_indices",
        },
        OutputDef { name: "counts" },
    ],
    attrs: &[AttrDef::int("axis", FLAT), AttrDef::bool("sorted", true)],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        let list = |count: i64| TensorType::new(DataType::Int64, [count]);
        let axis = axis(cx)?;
        let Some(rank) = input.rank() else {
            let values = if axis.is_none() {
                TensorType::new(input.dtype, [UNKNOWN])
            } else {
                TensorType::of_unknown_rank(input.dtype)
            };
            return Ok(vec![values, list(UNKNOWN), list(UNKNOWN), list(UNKNOWN)]);
        };
        let axis = axis.map(|axis| infer::axis(axis, rank)).transpose()?;
        // How many there are is seen in the values alone.
        let count = match (cx.constant(0), input.dims()) {
            (Some(tensor), Some(dims)) => {
                let sizes = Sizes::new(&dims, axis);
                let layout = tensor.ty().layout()?;
                for_carried!(input.dtype, T => {
                    let row = View::<T>::new(Region::shared(tensor.bytes()), &layout)?.flat();
                    Ok(sizes.groups(row, true).len() as i64)
                })?
            }
            _ => UNKNOWN,
        };
        let (values, items) = match axis {
            Some(axis) => {
                let mut shape = input.shape.clone();
                let items = std::mem::replace(&mut shape[axis], count);
                (
                    TensorType {
                        dtype: input.dtype,
                        shape,
                    },
                    items,
                )
            }
            None => {
                let items = input.elements().map_or(UNKNOWN, |items| items as i64);
                (TensorType::new(input.dtype, [count]), items)
            }
        };
        Ok(vec![values, list(count), list(items), list(count)])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let axis = axis(cx.infer())?
            .map(|axis| infer::axis(axis, shape.len()))
            .transpose()?;
        let sizes = Sizes::new(shape, axis);
        let sorted = cx.attrs().bool("sorted")?;
        let count = match axis {
            Some(axis) => cx.output_shape(0)?[axis],
            None => cx.output_shape(0)?[0],
        };
        for_carried!(cx.dtype(0)?, T => {
            Ok(Box::new(Unique::<T> { sizes, sorted, count, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

fn axis(cx: &InferCx<'_>) -> Result<Option<i64>, OpError> {
    let axis = cx.attrs().int("axis")?;
    Ok((axis != FLAT).then_some(axis))
}

/// What is compared: `items` slices of `outer * inner` elements each.
struct Sizes {
    outer: usize,
    items: usize,
    inner: usize,
}

impl Sizes {
    fn new(shape: &[usize], axis: Option<usize>) -> Sizes {
        match axis {
            None => Sizes {
                outer: 1,
                items: shape.iter().product(),
                inner: 1,
            },
            Some(axis) => Sizes {
                outer: shape[..axis].iter().product(),
                items: shape[axis],
                inner: shape[axis + 1..].iter().product(),
            },
        }
    }

    fn at(&self, item: usize, element: usize) -> usize {
        (element / self.inner * self.items + item) * self.inner + element % self.inner
    }

    fn compare<W: Wide>(&self, values: &[W], one: usize, two: usize) -> Ordering {
        for element in 0..self.outer * self.inner {
            let order = values[self.at(one, element)].order(values[self.at(two, element)]);
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Returns the items of equal contents together, each group in order; the groups by value, or as they are first seen.
    fn groups<T: ConvertibleElement>(&self, row: Row<'_, T>, sorted: bool) -> Vec<Vec<usize>> {
        let values: Vec<T::Wide> = (0..row.len()).map(|index| row.get(index).widen()).collect();
        self.groups_of(&values, sorted)
    }

    /// Built for the three types of comparison alone.
    fn groups_of<W: Wide>(&self, row: &[W], sorted: bool) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.items).collect();
        order.sort_by(|&one, &two| self.compare(row, one, two));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for item in order {
            match groups.last_mut() {
                Some(group) if self.compare(row, group[0], item) == Ordering::Equal => {
                    group.push(item)
                }
                _ => groups.push(vec![item]),
            }
        }
        if !sorted {
            groups.sort_by_key(|group| group[0]);
        }
        groups
    }
}

struct Unique<T> {
    sizes: Sizes,
    sorted: bool,
    count: usize,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: ConvertibleElement> Kernel for Unique<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let groups = self.sizes.groups(input, self.sorted);
        if groups.len() != self.count {
            return Err(OpError::data(
                "the tensor was changed while its values were counted",
            ));
        }
        let to = Sizes {
            items: self.count,
            ..self.sizes
        };
        for (number, group) in groups.iter().enumerate() {
            for element in 0..to.outer * to.inner {
                out.set(
                    to.at(number, element),
                    input.get(self.sizes.at(group[0], element)),
                );
            }
            if call.outputs() > 1 {
                call.output::<i64>(1)?.flat().set(number, group[0] as i64);
            }
            if call.outputs() > 2 {
                let inverse = call.output::<i64>(2)?.flat();
                group
                    .iter()
                    .for_each(|&item| inverse.set(item, number as i64));
            }
            if call.outputs() > 3 {
                call.output::<i64>(3)?
                    .flat()
                    .set(number, group.len() as i64);
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
        let x = f32s(&[6], &[2.0, 1.0, 1.0, 3.0, 4.0, 3.0]);
        let found = run("jumar.Unique", &[x.clone()], none()).unwrap();
        let wanted = [
            f32s(&[4], &[1.0, 2.0, 3.0, 4.0]),
            i64s(&[4], &[1, 0, 3, 4]),
            i64s(&[6], &[1, 0, 0, 2, 3, 2]),
            i64s(&[4], &[2, 1, 2, 1]),
        ];
        assert_eq!(found, wanted);
        let seen = run("jumar.Unique", &[x], none().with("sorted", false)).unwrap();
        assert_eq!(seen[0], f32s(&[4], &[2.0, 1.0, 3.0, 4.0]));
        let rows = f32s(&[3, 2], &[2.0, 3.0, 1.0, 0.0, 2.0, 3.0]);
        let found = run("jumar.Unique", &[rows], none().with("axis", 0)).unwrap();
        assert_eq!(found[0], f32s(&[2, 2], &[1.0, 0.0, 2.0, 3.0]));
        assert_eq!(found[2], i64s(&[3], &[1, 0, 1]));
        assert_eq!(
            run("jumar.Unique", &[f32s(&[0], &[])], none()).unwrap()[0],
            f32s(&[0], &[])
        );
    }
}
