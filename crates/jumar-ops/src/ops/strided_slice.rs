//! Slicing with steps, which may be negative.

use crate::kernels::data_movement;
use crate::kernels::loops::dense_strides;
use crate::onnx::LATEST;
use crate::operator::OUTPUT_Y;
use crate::{
    Aliasing, AttrDef, Attrs, Builder, InferCx, InputDef, OnnxForm, OnnxNode, OpError, Operator,
    Tensor, TensorType, Types, UNKNOWN, ValueRef, infer,
};

pub(super) static OPERATORS: &[&Operator] = &[&Operator {
    name: "StridedSliceV2",
    onnx: &[OnnxForm::new("Slice", 1, LATEST, lower)],
    inputs: &[
        InputDef::required("x", Types::ALL),
        InputDef::constant("begin", Types::INDEX),
        InputDef::constant("end", Types::INDEX),
        InputDef::optional_constant("axes", Types::INDEX),
        InputDef::optional_constant("strides", Types::INDEX),
    ],
    outputs: OUTPUT_Y,
    attrs: &[
        AttrDef::int("begin_mask", 0),
        AttrDef::int("end_mask", 0),
        AttrDef::int("ellipsis_mask", 0),
        AttrDef::int("new_axis_mask", 0),
        AttrDef::int("shrink_axis_mask", 0),
    ],
    aliasing: Aliasing::Distinct,
    reads_only_shapes: false,
    infer: |cx| {
        for mask in [
            "begin_mask",
            "end_mask",
            "ellipsis_mask",
            "new_axis_mask",
            "shrink_axis_mask",
        ] {
            if cx.attrs().int(mask)? != 0 {
                return Err(OpError::unsupported(format!(
                    "{mask} other than 0 is not supported"
                )));
            }
        }
        let input = cx.input(0)?;
        let Some(rank) = input.rank() else {
            return Ok(vec![input.clone()]);
        };
        let Some(cuts) = cuts(cx, rank)? else {
            return Ok(vec![TensorType::new(input.dtype, vec![UNKNOWN; rank])]);
        };
        let mut shape = input.shape.clone();
        for cut in cuts {
            if shape[cut.axis] >= 0 {
                shape[cut.axis] = cut.apply(shape[cut.axis]).1 as i64;
            }
        }
        Ok(vec![TensorType {
            dtype: input.dtype,
            shape,
        }])
    },
    prepare: |cx| {
        let shape = cx.shape(0)?;
        let mut strides = dense_strides(shape);
        let mut start = 0usize;
        let cuts = cuts(cx.infer(), shape.len())?
            .ok_or_else(|| OpError::unsupported("a slice has to be constant"))?;
        for cut in cuts {
            let (first, count) = cut.apply(shape[cut.axis] as i64);
            start += if count > 0 {
                first * strides[cut.axis] as usize
            } else {
                0
            };
            // A step that nothing takes may be any number; what it is multiplied with has to stay small.
            let step = if count > 1 { cut.step } else { 1 };
            strides[cut.axis] *= step as isize;
        }
        data_movement::pick(cx, start, &strides)
    },
}];

/// The masks of the Graph Engine's StridedSlice: bit `n` of each concerns the entry `n` of begin, end and strides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceMasks {
    /// Entries whose begin is as far as the axis allows.
    pub begin: i64,
    /// Entries whose end is as far as the axis allows.
    pub end: i64,
    /// The entry that stands for all axes that no other entry takes.
    pub ellipsis: i64,
    /// Entries that add an axis of size 1.
    pub new_axis: i64,
    /// Entries that take one index of an axis and remove the axis.
    pub shrink_axis: i64,
}

/// What the masks make of a slice: a plain slice along axes, and the axes of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskedSlice {
    /// The first index along each axis of `axes`.
    pub begin: Vec<i64>,
    /// The index behind the last.
    pub end: Vec<i64>,
    /// The steps.
    pub strides: Vec<i64>,
    /// The axes.
    pub axes: Vec<i64>,
    /// The axes of the result in order: an axis of the input by its number, `None` for a new one of size 1.
    pub result: Vec<Option<usize>>,
    /// The axes of the input of which one index is taken. They are not in `result`.
    removed: Vec<usize>,
}

impl SliceMasks {
    /// Lists the masks with their names.
    pub fn named(&mut self) -> [(&'static str, &mut i64); 5] {
        [
            ("begin_mask", &mut self.begin),
            ("end_mask", &mut self.end),
            ("ellipsis_mask", &mut self.ellipsis),
            ("new_axis_mask", &mut self.new_axis),
            ("shrink_axis_mask", &mut self.shrink_axis),
        ]
    }

    /// Applies the masks to a slice of a tensor with `rank` dimensions.
    ///
    /// # Errors
    ///
    /// Invalid: lists of different lengths, more entries than axes, two ellipses. NotSupported: axes with an ellipsis or new axes.
    pub fn apply(
        self,
        rank: usize,
        [begin, end, steps]: [&[i64]; 3],
        axes: Option<&[i64]>,
    ) -> Result<MaskedSlice, OpError> {
        if begin.len() != end.len() || begin.len() != steps.len() {
            return Err(OpError::invalid(format!(
                "begin, end and strides have {}, {} and {} entries",
                begin.len(),
                end.len(),
                steps.len()
            )));
        }
        let set = |mask: i64, at: usize| at < 63 && mask >> at & 1 == 1;
        if axes.is_some() && (self.ellipsis != 0 || self.new_axis != 0) {
            return Err(OpError::unsupported(
                "axes together with ellipsis_mask or new_axis_mask are not supported",
            ));
        }
        let count = begin.len();
        if (0..count).filter(|&at| set(self.ellipsis, at)).count() > 1 {
            return Err(OpError::invalid(format!(
                "ellipsis_mask is {}; one bit at most may be set",
                self.ellipsis
            )));
        }
        // How many axes of the input the entries take that are no ellipsis and no new axis.
        let taken = (0..count)
            .filter(|&at| !set(self.ellipsis, at) && !set(self.new_axis, at))
            .count();
        if taken > rank {
            return Err(OpError::invalid(format!(
                "begin takes {taken} axes, and its input has {rank}"
            )));
        }
        let mut slice = MaskedSlice {
            begin: Vec::with_capacity(taken),
            end: Vec::with_capacity(taken),
            strides: Vec::with_capacity(taken),
            axes: Vec::with_capacity(taken),
            result: Vec::with_capacity(rank),
            removed: Vec::new(),
        };
        let mut axis = 0;
        for at in 0..count {
            if set(self.ellipsis, at) {
                let all = rank - taken;
                slice.result.extend((axis..axis + all).map(Some));
                axis += all;
                continue;
            }
            if set(self.new_axis, at) {
                slice.result.push(None);
                continue;
            }
            let own = match axes {
                None => axis,
                Some(list) => infer::axis(list.get(at).copied().unwrap_or(-1), rank)?,
            };
            axis += 1;
            if set(self.shrink_axis, at) {
                slice.removed.push(own);
                slice.begin.push(begin[at]);
                let behind = if begin[at] == -1 {
                    i64::MAX
                } else {
                    begin[at].saturating_add(1)
                };
                slice.end.push(behind);
                slice.strides.push(1);
            } else {
                let backwards = steps[at] < 0;
                let far = if backwards { i64::MAX } else { 0 };
                slice
                    .begin
                    .push(if set(self.begin, at) { far } else { begin[at] });
                let far = if backwards { i64::MIN } else { i64::MAX };
                slice
                    .end
                    .push(if set(self.end, at) { far } else { end[at] });
                slice.strides.push(steps[at]);
                if axes.is_none() {
                    slice.result.push(Some(own));
                }
            }
            slice.axes.push(own as i64);
        }
        match axes {
            None => slice.result.extend((axis..rank).map(Some)),
            Some(_) => {
                let kept = (0..rank).filter(|own| !slice.removed.contains(own));
                slice.result = kept.map(Some).collect();
            }
        }
        Ok(slice)
    }
}

impl MaskedSlice {
    /// Returns whether the result has the axes of the input.
    pub fn keeps_axes(&self) -> bool {
        self.removed.is_empty() && self.result.iter().all(Option::is_some)
    }

    /// Returns the dimensions of the result, from those of the plain slice.
    ///
    /// # Errors
    ///
    /// Invalid: an index that is outside its axis was taken.
    pub fn dims(&self, part: &[i64]) -> Result<Vec<i64>, OpError> {
        if let Some(own) = self.removed.iter().find(|&&own| part[own] != 1) {
            return Err(OpError::invalid(format!(
                "the index along axis {own} that shrink_axis_mask takes is not there"
            )));
        }
        let size = |slot: &Option<usize>| slot.map_or(1, |own| part[own]);
        Ok(self.result.iter().map(size).collect())
    }
}

/// What happens along one axis.
struct Cut {
    axis: usize,
    begin: i64,
    end: i64,
    step: i64,
}

impl Cut {
    /// Returns the first position and the number of positions along an axis of `size`.
    fn apply(&self, size: i64) -> (usize, usize) {
        let wrap = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        if self.step > 0 {
            let (first, end) = (
                wrap(self.begin).clamp(0, size),
                wrap(self.end).clamp(0, size),
            );
            let count = (end - first).max(0) as u64;
            (first as usize, count.div_ceil(self.step as u64) as usize)
        } else {
            let (first, end) = (
                wrap(self.begin).clamp(-1, size - 1),
                wrap(self.end).clamp(-1, size - 1),
            );
            let count = (first - end).max(0) as u64;
            (
                first.max(0) as usize,
                count.div_ceil(self.step.unsigned_abs()) as usize,
            )
        }
    }
}

fn cuts(cx: &InferCx<'_>, rank: usize) -> Result<Option<Vec<Cut>>, OpError> {
    let (Some(begin), Some(end)) = (cx.ints(1)?, cx.ints(2)?) else {
        return Ok(None);
    };
    let optional = |index: usize, default: Vec<i64>| {
        if cx.has(index) {
            cx.ints(index)
        } else {
            Ok(Some(default))
        }
    };
    let Some(axes) = optional(3, (0..begin.len() as i64).collect())? else {
        return Ok(None);
    };
    let Some(steps) = optional(4, vec![1; begin.len()])? else {
        return Ok(None);
    };
    if [end.len(), axes.len(), steps.len()] != [begin.len(); 3] {
        return Err(OpError::invalid(
            "begin, end, axes and strides have to be of one length",
        ));
    }
    infer::axes(&axes, rank)?;
    let cut = |index: usize| {
        let step = steps[index];
        if step == 0 {
            return Err(OpError::invalid(format!(
                "the stride of axis {} is 0; it must not be",
                axes[index]
            )));
        }
        Ok(Cut {
            axis: infer::axis(axes[index], rank)?,
            begin: begin[index],
            end: end[index],
            step,
        })
    };
    (0..begin.len())
        .map(cut)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn lower(builder: &mut dyn Builder, node: &OnnxNode<'_>) -> Result<Vec<ValueRef>, OpError> {
    if node.opset >= 10 {
        return Ok(vec![builder.node(
            "StridedSliceV2",
            node.inputs(),
            Attrs::new(),
        )?]);
    }
    let needed = |name: &str| {
        node.ints(name)?
            .ok_or_else(|| OpError::invalid(format!("the attribute {name} is missing")))
    };
    let (starts, ends, axes) = (needed("starts")?, needed("ends")?, node.ints("axes")?);
    let mut constant = |list: &[i64]| builder.add_constant(Tensor::from_ints(list));
    let inputs = [
        Some(node.input(0)?),
        Some(constant(starts)),
        Some(constant(ends)),
        axes.map(constant),
    ];
    Ok(vec![builder.node(
        "StridedSliceV2",
        &inputs,
        Attrs::new(),
    )?])
}

#[cfg(test)]
mod tests {
    use crate::table::*;

    #[test]
    fn agrees_with_numpy() {
        let x = f32s(&[2, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        let cut = |begin: i64, end: i64, axis: i64, step: i64| {
            let one = |value: i64| i64s(&[1], &[value]);
            [x.clone(), one(begin), one(end), one(axis), one(step)]
        };
        for (case, dims, wanted) in [
            (cut(1, 3, 1, 1), [2, 2], &[2.0, 3.0, 6.0, 7.0][..]),
            (cut(0, i64::MAX, 1, 2), [2, 2], &[1.0, 3.0, 5.0, 7.0]),
            (
                cut(-1, i64::MIN, -1, -1),
                [2, 4],
                &[4.0, 3.0, 2.0, 1.0, 8.0, 7.0, 6.0, 5.0],
            ),
            (cut(3, 0, 1, -2), [2, 2], &[4.0, 2.0, 8.0, 6.0]),
            (
                cut(-1, -9, 0, -1),
                [2, 4],
                &[5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0],
            ),
            (cut(3, 1, 1, 1), [2, 0], &[]),
            (cut(9, 99, 0, i64::MAX), [0, 4], &[]),
            (cut(1, 99, 0, i64::MAX), [1, 4], &[5.0, 6.0, 7.0, 8.0]),
        ] {
            check("StridedSliceV2", &case, none(), &f32s(&dims, wanted));
        }
        let both = [x.clone(), i64s(&[2], &[0, 1]), i64s(&[2], &[1, 2])];
        check("StridedSliceV2", &both, none(), &f32s(&[1, 1], &[2.0]));
        refuse(
            "StridedSliceV2",
            &cut(0, 1, 1, 0),
            none(),
            "the stride of axis 1 is 0",
        );
        refuse("StridedSliceV2", &cut(0, 1, 2, 1), none(), "outside");
    }
}
