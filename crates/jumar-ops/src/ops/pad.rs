//! Adds a border, or removes one.

use crate::kernels::loops::dense_strides;
use crate::kernels::number::for_width;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::view::{Element, MAX_RANK};
use crate::{
    Aliasing, AttrDef, Attrs, Builder, Call, InferCx, InputDef, Kernel, OnnxForm, OnnxNode,
    OpError, Operator, Tensor, TensorType, Types, UNKNOWN, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "PadV3",
    onnx: &[OnnxForm::new("Pad", 2, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("paddings", Types::INDEX),
        InputDef::optional("constant_values", Types::ALL),
        // Ours: ONNX can name the axes that have paddings.
        InputDef::optional_constant("axes", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::str("mode", "constant"),
        AttrDef::bool("paddings_contiguous", true),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        let input = cx.input(0)?;
        if cx.has(2) {
            cx.same_types([0, 2])?;
            if cx.input(2)?.elements().is_some_and(|count| count != 1) {
                return Err(OpError::invalid(format!(
                    "the border's value is {}, not one number",
                    cx.input(2)?
                )));
            }
        }
        let Some(rank) = input.rank() else {
            return Ok(vec![input.clone()]);
        };
        let Some(pads) = paddings(cx, rank)? else {
            return Ok(vec![TensorType::new(input.dtype, vec![UNKNOWN; rank])]);
        };
        let mut shape = Vec::with_capacity(rank);
        for (&dim, &(before, after)) in input.shape.iter().zip(&pads) {
            if dim < 0 {
                shape.push(UNKNOWN);
                continue;
            }
            let size = dim
                .checked_add(before)
                .and_then(|size| size.checked_add(after))
                .filter(|&size| size >= 0);
            let Some(size) = size else {
                return Err(OpError::invalid(format!(
                    "a border of {before} and {after} leaves nothing of {dim}"
                )));
            };
            shape.push(size);
        }
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let (from, to) = (cx.shape(0)?, cx.output_shape(0)?);
        let pads = paddings(cx.infer(), from.len())?
            .ok_or_else(|| OpError::unsupported("paddings have to be constant"))?;
        let mode = Mode::named(cx.attrs().str("mode")?)?;
        let mut axes = Vec::with_capacity(from.len());
        for (axis, &(before, _)) in pads.iter().enumerate() {
            if mode != Mode::Constant && from[axis] == 0 && to[axis] > 0 {
                return Err(OpError::invalid(format!(
                    "there is nothing to repeat along axis {axis}"
                )));
            }
            axes.push(Axis {
                mode,
                before,
                from: from[axis] as i64,
                to: to[axis],
            });
        }
        // The innermost axis is a row of its own.
        let row = axes.pop().unwrap_or(Axis {
            mode,
            before: 0,
            from: 1,
            to: 1,
        });
        let mut strides = dense_strides(from);
        strides.truncate(axes.len());
        let pad = Border {
            axes,
            strides,
            row,
            value: cx.has(2),
            outputs: to.iter().product(),
        };
        for_width!(cx.dtype(0)?, T => {
            Ok(Box::new(Pad::<T> { pad, types: std::marker::PhantomData }) as Box<dyn Kernel>)
        })
    },
}];

/// Returns what is added before and after each axis, as pairs.
fn paddings(cx: &InferCx<'_>, rank: usize) -> Result<Option<Vec<(i64, i64)>>, OpError> {
    let Some(mut list) = cx.ints(1)? else {
        return Ok(None);
    };
    if cx.has(3) {
        let Some(axes) = cx.ints(3)? else {
            return Ok(None);
        };
        infer::axes(&axes, rank)?;
        if list.len() != 2 * axes.len() {
            return Err(OpError::invalid(format!(
                "{} paddings for {} axes",
                list.len(),
                axes.len()
            )));
        }
        let mut all = vec![0; 2 * rank];
        for (index, &axis) in axes.iter().enumerate() {
            let axis = infer::axis(axis, rank)?;
            all[axis] = list[index];
            all[rank + axis] = list[axes.len() + index];
        }
        list = all;
    }
    if list.len() != 2 * rank {
        return Err(OpError::invalid(format!(
            "{} paddings for a tensor of {rank} dimensions",
            list.len()
        )));
    }
    let pairs = cx.attrs().bool("paddings_contiguous")?;
    let pair = |axis: usize| {
        if pairs {
            (list[2 * axis], list[2 * axis + 1])
        } else {
            (list[axis], list[rank + axis])
        }
    };
    Ok(Some((0..rank).map(pair).collect()))
}

/// What lies outside the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Constant,
    Edge,
    Wrap,
    Reflect,
    Symmetric,
}

impl Mode {
    fn named(name: &str) -> Result<Mode, OpError> {
        match name {
            "constant" => Ok(Mode::Constant),
            "edge" => Ok(Mode::Edge),
            "wrap" | "circular" => Ok(Mode::Wrap),
            "reflect" => Ok(Mode::Reflect),
            "symmetric" => Ok(Mode::Symmetric),
            other => Err(OpError::unsupported(format!(
                "the mode {other} is not supported"
            ))),
        }
    }
}

/// The positions of the output along one axis. They are computed one by one: a table of them would be as long as a file says.
#[derive(Clone, Copy)]
struct Axis {
    mode: Mode,
    /// How many positions come before the input; negative where the input is cut.
    before: i64,
    from: i64,
    to: usize,
}

impl Axis {
    /// Returns the position of the input that a position of the output shows; none where it shows the border.
    fn source(&self, at: usize) -> Option<usize> {
        let (at, size) = (at as i64 - self.before, self.from);
        let from = match self.mode {
            Mode::Constant => return (0..size).contains(&at).then_some(at as usize),
            Mode::Edge => at.clamp(0, size - 1),
            Mode::Wrap => at.rem_euclid(size),
            Mode::Reflect if size == 1 => 0,
            Mode::Reflect => {
                let period = 2 * (size - 1);
                let at = at.rem_euclid(period);
                if at < size { at } else { period - at }
            }
            Mode::Symmetric => {
                let at = at.rem_euclid(2 * size);
                at.min(2 * size - 1 - at)
            }
        };
        Some(from as usize)
    }

    /// Returns the positions of the output that show the input in order.
    fn inside(&self) -> std::ops::Range<usize> {
        let end = (self.before + self.from).clamp(0, self.to as i64);
        let start = self.before.clamp(0, end);
        start as usize..end as usize
    }
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    let input = node.input(0)?;
    let (pads, value) = if node.opset < 11 {
        let pads = node
            .ints("pads")?
            .ok_or_else(|| OpError::invalid("the attribute pads is missing"))?;
        let value = Tensor::scalar(builder.ty(input).dtype, node.float_or("value", 0.0)?.into())?;
        (
            builder.add_constant(Tensor::from_ints(pads)),
            Some(builder.add_constant(value)),
        )
    } else {
        (node.input(1)?, node.optional(2))
    };
    let attrs = Attrs::new()
        .with("mode", node.str_or("mode", "constant")?)
        .with("paddings_contiguous", false);
    Ok(vec![builder.node(
        "PadV3",
        &[Some(input), Some(pads), value, node.optional(3)],
        attrs,
    )?])
}

struct Border {
    axes: Vec<Axis>,
    strides: Vec<isize>,
    row: Axis,
    value: bool,
    outputs: usize,
}

struct Pad<T> {
    pad: Border,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Element> Kernel for Pad<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Border {
            axes,
            strides,
            row,
            value,
            outputs,
        } = &self.pad;
        let (input, out) = (call.input::<T>(0)?.flat(), call.output::<T>(0)?.flat());
        let border = if *value {
            call.input::<T>(2)?.flat().get(0)
        } else {
            T::default()
        };
        if *outputs == 0 {
            return Ok(());
        }
        let inside = row.inside();
        let first = (inside.start as i64 - row.before).max(0) as usize;
        let mut counter = [0usize; MAX_RANK];
        for line in (0..*outputs).step_by(row.to) {
            let out = out.slice(line, row.to);
            let mut from = Some(0usize);
            for ((axis, &stride), &at) in axes.iter().zip(strides).zip(&counter) {
                from = from
                    .zip(axis.source(at))
                    .map(|(sum, at)| sum + at * stride as usize);
            }
            match from {
                None => out.fill(border),
                Some(from) => {
                    for at in (0..inside.start).chain(inside.end..row.to) {
                        out.set(at, row.source(at).map_or(border, |at| input.get(from + at)));
                    }
                    if !inside.is_empty() {
                        out.slice(inside.start, inside.len())
                            .copy_from(input.slice(from + first, inside.len()));
                    }
                }
            }
            for axis in (0..axes.len()).rev() {
                counter[axis] += 1;
                if counter[axis] < axes[axis].to {
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
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let attrs = |mode: &str| none().with("mode", mode).with("paddings_contiguous", false);
        let pads = |list: &[i64]| i64s(&[list.len()], list);
        let value = f32s(&[], &[9.0]);
        let wanted = f32s(
            &[3, 4],
            &[9.0, 9.0, 9.0, 9.0, 1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0, 9.0],
        );
        check(
            "PadV3",
            &[x.clone(), pads(&[1, 0, 0, 1]), value],
            attrs("constant"),
            &wanted,
        );
        let wanted = f32s(&[2, 5], &[3.0, 2.0, 1.0, 2.0, 3.0, 6.0, 5.0, 4.0, 5.0, 6.0]);
        check(
            "PadV3",
            &[x.clone(), pads(&[0, 2, 0, 0])],
            attrs("reflect"),
            &wanted,
        );
        let wanted = f32s(
            &[3, 4],
            &[1.0, 1.0, 2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 4.0, 4.0, 5.0, 6.0],
        );
        check(
            "PadV3",
            &[x.clone(), pads(&[0, 1, 1, 0])],
            attrs("edge"),
            &wanted,
        );
        let wanted = f32s(&[2, 4], &[1.0, 2.0, 3.0, 1.0, 4.0, 5.0, 6.0, 4.0]);
        check(
            "PadV3",
            &[x.clone(), pads(&[0, 0, 0, 1])],
            attrs("wrap"),
            &wanted,
        );
        check(
            "PadV3",
            &[x.clone(), pads(&[-1, 0, 0, -2])],
            attrs("constant"),
            &f32s(&[1, 1], &[4.0]),
        );
        let paired = none().with("mode", "constant");
        let wanted = f32s(&[2, 4], &[0.0, 1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0]);
        check(
            "PadV3",
            &[x.clone(), i64s(&[2, 2], &[0, 0, 1, 0])],
            paired,
            &wanted,
        );
        let wanted = f32s(&[2, 4], &[9.0, 1.0, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0]);
        let named = [
            x.clone(),
            pads(&[1, 0]),
            f32s(&[], &[9.0]),
            i64s(&[1], &[-1]),
        ];
        check("PadV3", &named, attrs("constant"), &wanted);
        let scalar = [f32s(&[], &[5.0]), pads(&[])];
        check("PadV3", &scalar, attrs("constant"), &f32s(&[], &[5.0]));
        let wanted = f32s(&[2, 2], &[0.0, 0.0, 0.0, 0.0]);
        check(
            "PadV3",
            &[x.clone(), pads(&[0, 5, 0, -6])],
            attrs("constant"),
            &wanted,
        );
        refuse(
            "PadV3",
            &[x.clone(), pads(&[0, 1, 0, 0])],
            attrs("nonsense"),
            "is not supported",
        );
        refuse(
            "PadV3",
            &[x.clone(), pads(&[-3, 0, 0, 0])],
            attrs("constant"),
            "leaves nothing",
        );
        refuse("PadV3", &[x, pads(&[0, 1])], attrs("constant"), "paddings");
    }
}
