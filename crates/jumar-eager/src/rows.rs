//! Functions of rows: operators that read the entries of a last dimension together and write others.
//!
//! A function is written once, for float32. The engine walks the dimensions before the last, splits them among threads,
//! and converts rows of other types on the way in and out. Positions and counts are not converted: float32 holds integers up
//! to 2^24 only. They are operands of their own, see [`Cx::rows_with`].

use jumar_ops::math::{Work, wide};
use jumar_ops::view::{Layout, MAX_RANK, PastCaches, Row, RowMut};
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use crate::build::Cx;
use crate::element::any::{AnyView, AnyViewMut};
use crate::element::compute::is_cell;
use crate::view::View;
use crate::{Refusal, promote};

/// Inputs, and outputs, that a function can have.
pub(crate) const OPERANDS: usize = 12;

/// Operands with integers that a function can have.
const INTEGERS: usize = 2;

/// Parts that the rows are split into. Each part has scratch memory of its own, so that the number is fixed when the plan is
/// made, before the number of threads is known.
const PARTS: usize = 16;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 13;

/// Bytes of rows from which on results go past the caches, and next rows are asked for: they are longer than the caches.
const PAST_BYTES: usize = 64 << 20;

/// A function of one row of each operand.
pub(crate) trait RowFunction: Send + Sync + 'static {
    /// Returns the number of float32 values that the function needs beside its operands.
    fn scratch(&self) -> usize {
        0
    }

    /// Returns whether a row takes some tens of nanoseconds for each of its elements, whatever the shapes are.
    fn is_elementwise(&self) -> bool {
        false
    }

    /// Computes one row. `FUSED` states that a product and a sum are one instruction. Implementations are `#[inline(always)]`, so
    /// that they are compiled for each instruction level.
    fn run<const FUSED: bool>(&self, rows: &Rows<'_>);
}

/// One row of each operand.
pub(crate) struct Rows<'a> {
    /// The index of the row in the dimensions before the last.
    pub number: usize,
    /// The next row of the first input, where memory is read faster if it is asked for.
    pub ahead: Option<Row<'a, f32>>,
    /// Set where the outputs are longer than the caches.
    pub past: Option<&'a PastCaches>,
    inputs: [Option<Row<'a, f32>>; OPERANDS],
    integers: [Option<Row<'a, i64>>; INTEGERS],
    outputs: [Option<RowMut<'a, f32>>; OPERANDS],
    scratch: Option<RowMut<'a, f32>>,
}

impl<'a> Rows<'a> {
    /// Returns the row of an input that was given.
    #[inline(always)]
    pub fn input(&self, index: usize) -> Row<'a, f32> {
        self.inputs[index].expect("the plan has this input")
    }

    /// Returns the row of an input that may be absent.
    #[inline(always)]
    pub fn optional(&self, index: usize) -> Option<Row<'a, f32>> {
        self.inputs[index]
    }

    /// Returns the row of an operand with integers that may be absent.
    #[inline(always)]
    pub fn integers(&self, index: usize) -> Option<Row<'a, i64>> {
        self.integers[index]
    }

    /// Returns the row of an output that was given.
    #[inline(always)]
    pub fn output(&self, index: usize) -> RowMut<'a, f32> {
        self.outputs[index].expect("the plan has this output")
    }

    /// Returns the row of an output that may be absent.
    #[inline(always)]
    pub fn wanted(&self, index: usize) -> Option<RowMut<'a, f32>> {
        self.outputs[index]
    }

    /// Returns the scratch memory of the function.
    #[inline(always)]
    pub fn scratch(&self) -> RowMut<'a, f32> {
        self.scratch.expect("the function asked for scratch memory")
    }
}

/// Where the rows of one operand lie.
struct Operand {
    dtype: DataType,
    /// The position among the operands of the call.
    position: usize,
    width: usize,
    /// Where the converted row lies in the scratch memory of a part. `None`: the row is read or written where it is.
    staged: Option<usize>,
}

/// Returns the offset of a row and the distance of its entries. The layout is that of the call: a row that the plan laid out
/// anew, because it shares memory with another, has other strides than the operand that the operator was given.
#[inline]
fn row_at(layout: &Layout, index: &[usize]) -> (usize, isize) {
    let strides = layout.strides();
    let distances = index.iter().zip(strides);
    let start = distances
        .map(|(&index, &stride)| index * stride as usize)
        .sum();
    (start, strides[index.len()])
}

/// A function of rows of any type. What handles the rows is not generic, or it would be compiled for each function.
trait AnyFunction: Send + Sync {
    fn scratch(&self) -> usize;
    fn is_elementwise(&self) -> bool;
    /// Computes one row, with the best instructions of this processor.
    fn compute(&self, rows: &Rows<'_>);
}

impl<F: RowFunction> AnyFunction for F {
    fn scratch(&self) -> usize {
        RowFunction::scratch(self)
    }

    fn is_elementwise(&self) -> bool {
        RowFunction::is_elementwise(self)
    }

    fn compute(&self, rows: &Rows<'_>) {
        wide(One {
            function: self,
            rows,
        });
    }
}

struct RowKernel {
    function: Box<dyn AnyFunction>,
    /// The dimensions before the last.
    dims: Vec<usize>,
    inputs: [Option<Operand>; OPERANDS],
    /// Positions among the inputs of the call, and widths.
    integers: [Option<(usize, usize)>; INTEGERS],
    outputs: [Option<Operand>; OPERANDS],
    /// The float32 values that the rows of one part are converted into.
    staging: usize,
    /// The elements of one row of all operands.
    elements: usize,
}

impl RowKernel {
    fn part_len(&self) -> usize {
        (self.staging + self.function.scratch()).next_multiple_of(16)
    }

    fn count(&self) -> usize {
        self.dims.iter().product()
    }
}

struct One<'a, F> {
    function: &'a F,
    rows: &'a Rows<'a>,
}

impl<F: RowFunction> Work for One<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.function.run::<FUSED>(self.rows);
    }
}

/// The operands of one call.
struct Views<'a> {
    inputs: [Option<AnyView<'a>>; OPERANDS],
    integers: [Option<AnyView<'a>>; INTEGERS],
    outputs: [Option<AnyViewMut<'a>>; OPERANDS],
}

impl RowKernel {
    fn views<'a>(&self, call: &Call<'a>) -> Result<Views<'a>, OpError> {
        let mut views = Views {
            inputs: [None; OPERANDS],
            integers: [None; INTEGERS],
            outputs: [None; OPERANDS],
        };
        for (slot, operand) in views.integers.iter_mut().zip(&self.integers) {
            if let Some((position, _)) = *operand {
                *slot = Some(AnyView::new(call, position, DataType::Int64)?);
            }
        }
        for (slot, operand) in views.inputs.iter_mut().zip(&self.inputs) {
            if let Some(operand) = operand {
                *slot = Some(AnyView::new(call, operand.position, operand.dtype)?);
            }
        }
        for (slot, operand) in views.outputs.iter_mut().zip(&self.outputs) {
            if let Some(operand) = operand {
                *slot = Some(AnyViewMut::new(call, operand.position, operand.dtype)?);
            }
        }
        Ok(views)
    }

    fn row<'a>(
        &self,
        views: &Views<'a>,
        scratch: Option<RowMut<'a, f32>>,
        past: Option<&'a PastCaches>,
        number: usize,
        index: &[usize],
    ) {
        let stage = |operand: &Operand| {
            let start = operand.staged?;
            scratch.map(|scratch| scratch.slice(start, operand.width))
        };
        let mut rows = Rows {
            number,
            ahead: past.and_then(|_| self.ahead(views, index)),
            past,
            inputs: [None; OPERANDS],
            integers: [None; INTEGERS],
            outputs: [None; OPERANDS],
            scratch: match (scratch, self.function.scratch()) {
                (_, 0) | (None, _) => None,
                (Some(scratch), len) => Some(scratch.slice(self.staging, len)),
            },
        };
        let inputs = self.inputs.iter().zip(&views.inputs);
        for (slot, (operand, view)) in rows.inputs.iter_mut().zip(inputs) {
            let (Some(operand), Some(view)) = (operand, view) else {
                continue;
            };
            let (start, step) = row_at(view.layout(), index);
            *slot = match stage(operand) {
                Some(stage) => {
                    view.load(start, step, stage);
                    Some(stage.as_row())
                }
                None => view.float32(start, operand.width, step),
            };
        }
        let integers = self.integers.iter().zip(&views.integers);
        for (slot, (operand, view)) in rows.integers.iter_mut().zip(integers) {
            if let (Some((_, width)), Some(view)) = (*operand, view) {
                let (start, step) = row_at(view.layout(), index);
                *slot = view.int64(start, width, step);
            }
        }
        let outputs = self.outputs.iter().zip(&views.outputs);
        for (slot, (operand, view)) in rows.outputs.iter_mut().zip(outputs) {
            let (Some(operand), Some(view)) = (operand, view) else {
                continue;
            };
            *slot = match stage(operand) {
                Some(stage) => Some(stage),
                None => {
                    let (start, step) = row_at(view.layout(), index);
                    view.float32(start, operand.width, step)
                }
            };
        }
        self.function.compute(&rows);
        for (operand, view) in self.outputs.iter().zip(&views.outputs) {
            if let (Some(operand), Some(view)) = (operand, view)
                && let Some(stage) = stage(operand)
            {
                let (start, step) = row_at(view.layout(), index);
                view.store(start, step, stage.as_row());
            }
        }
    }
}

impl RowKernel {
    /// Returns the next row of the first input, if it lies behind this one in the last dimension but one.
    fn ahead<'a>(&self, views: &Views<'a>, index: &[usize]) -> Option<Row<'a, f32>> {
        let (view, width) = (views.inputs[0].as_ref()?, self.inputs[0].as_ref()?.width);
        let last = index.len().checked_sub(1)?;
        if index[last] + 1 == self.dims[last] {
            return None;
        }
        let (start, step) = row_at(view.layout(), index);
        view.float32(start + view.layout().strides()[last] as usize, width, step)
    }
}

impl Kernel for RowKernel {
    fn is_elementwise(&self) -> bool {
        self.function.is_elementwise()
    }

    fn scratch_bytes(&self) -> usize {
        let parts = PARTS.min(self.count());
        parts * self.part_len() * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let count = self.count();
        if count == 0 {
            return Ok(());
        }
        let parts = PARTS.min(count);
        let len = self.part_len();
        let scratch = match len {
            0 => None,
            _ => Some(call.scratch::<f32>(0, parts * len)?),
        };
        let each = count.div_ceil(parts);
        let views = self.views(call)?;
        // What is converted on the way out is read again.
        let direct = matches!(&self.outputs[0], Some(output) if output.staged.is_none());
        let is_past = direct && count * self.elements * size_of::<f32>() >= PAST_BYTES;
        let part = |part: usize| {
            let past = is_past.then(PastCaches::default);
            let scratch = scratch.map(|scratch| scratch.slice(part * len, len));
            let (first, end) = (part * each, ((part + 1) * each).min(count));
            let mut index = [0; MAX_RANK];
            let mut rest = first;
            for axis in (0..self.dims.len()).rev() {
                index[axis] = rest % self.dims[axis];
                rest /= self.dims[axis];
            }
            for number in first..end {
                self.row(
                    &views,
                    scratch,
                    past.as_ref(),
                    number,
                    &index[..self.dims.len()],
                );
                for axis in (0..self.dims.len()).rev() {
                    index[axis] += 1;
                    if index[axis] < self.dims[axis] {
                        break;
                    }
                    index[axis] = 0;
                }
            }
        };
        match count * self.elements < GRAIN {
            true => (0..parts).for_each(part),
            false => call.workers().each(parts, part),
        }
        Ok(())
    }
}

impl Cx<'_> {
    /// Computes a function of the rows of views.
    ///
    /// The dimensions before the last are those of the outputs; inputs are broadcast to them. Each operand has a width of its
    /// own. Absent operands stay absent. Float32 rows are read and written where they lie, others are converted.
    pub fn rows(
        &mut self,
        function: impl RowFunction,
        inputs: &[Option<View>],
        outputs: &[Option<View>],
    ) -> Result<(), Refusal> {
        self.any_rows(Box::new(function), &[], inputs, outputs)
    }

    /// As [`Cx::rows`], with operands whose integers are exact: lists of groups, positions, classes. They are broadcast as inputs
    /// are, and the function reads them with [`Rows::integers`].
    pub fn rows_with(
        &mut self,
        function: impl RowFunction,
        integers: &[Option<View>],
        inputs: &[Option<View>],
        outputs: &[Option<View>],
    ) -> Result<(), Refusal> {
        self.any_rows(Box::new(function), integers, inputs, outputs)
    }

    fn any_rows(
        &mut self,
        function: Box<dyn AnyFunction>,
        integers: &[Option<View>],
        inputs: &[Option<View>],
        outputs: &[Option<View>],
    ) -> Result<(), Refusal> {
        let present = || outputs.iter().flatten();
        let Some(first) = present().next() else {
            return Ok(());
        };
        if present().all(View::is_empty) {
            return Ok(());
        }
        let Some((_, dims)) = first.dims().split_last() else {
            return Err(self.defect("an output of a function of rows has no dimension"));
        };
        let dims = dims.to_vec();
        let mut kernel = RowKernel {
            function,
            dims: dims.clone(),
            inputs: std::array::from_fn(|_| None),
            integers: [None; INTEGERS],
            outputs: std::array::from_fn(|_| None),
            staging: 0,
            elements: 0,
        };
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        for (index, input) in inputs.iter().enumerate() {
            let Some(input) = *input else { continue };
            let Some(&width) = input.dims().last() else {
                return Err(self.defect("an input of a function of rows has no dimension"));
            };
            let repeated = input.elements() == width;
            // What all rows share is converted once.
            let input = match repeated {
                true => self.cast(input, DataType::Float32)?,
                false => input,
            };
            let view = self.repeated(&input, first, width)?;
            let operand = self.row_operand(&view, sources.len(), &mut kernel.staging)?;
            kernel.elements += width;
            kernel.inputs[index] = Some(operand);
            sources.push(Some(view));
        }
        for (index, operand) in integers.iter().enumerate() {
            let Some(operand) = *operand else { continue };
            let Some(&width) = operand.dims().last() else {
                return Err(self.defect("an input of a function of rows has no dimension"));
            };
            let operand = self.cast(operand, DataType::Int64)?;
            let view = self.repeated(&operand, first, width)?;
            kernel.integers[index] = Some((sources.len(), width));
            sources.push(Some(view));
        }
        for (index, output) in outputs.iter().enumerate() {
            let Some(output) = *output else { continue };
            let mut wanted = dims.clone();
            wanted.push(output.dims().last().copied().unwrap_or(1));
            self.check_dims(&output, &wanted)?;
            let operand = self.row_operand(&output, targets.len(), &mut kernel.staging)?;
            kernel.elements += operand.width;
            kernel.outputs[index] = Some(operand);
            targets.push(output);
        }
        self.kernel(Box::new(kernel), &sources, &targets, false)
    }

    /// Broadcasts rows of a width to the dimensions before the last of an output.
    fn repeated(&self, view: &View, out: &View, width: usize) -> Result<View, Refusal> {
        let mut wanted = out.dims().to_vec();
        wanted.pop();
        wanted.push(width);
        view.expand(&wanted).ok_or_else(|| {
            self.invalid(format_args!(
                "{} has the shape {:?}, which does not fit the shape {:?} of {}",
                self.param_of(view),
                view.dims(),
                out.dims(),
                self.param_of(out)
            ))
        })
    }

    fn row_operand(
        &self,
        view: &View,
        position: usize,
        staging: &mut usize,
    ) -> Result<Operand, Refusal> {
        if !is_cell(view.dtype()) || promote::is_complex(view.dtype()) {
            return Err(self.refuse_type(&self.param_of(view), view.dtype(), "a real type"));
        }
        let width = view.dims().last().copied().unwrap_or(1);
        let staged = match view.dtype() {
            DataType::Float32 => None,
            _ => {
                *staging += width;
                Some(*staging - width)
            }
        };
        Ok(Operand {
            dtype: view.dtype(),
            position,
            width,
            staged,
        })
    }
}

/// Adds the entries of a row.
#[inline(always)]
pub(crate) fn sum(row: Row<'_, f32>) -> f32 {
    row.fold_wide(0.0, |sum, value| sum + value, |one, two| one + two)
}

/// Adds the squares of the entries of a row.
#[inline(always)]
pub(crate) fn sum_of_squares(row: Row<'_, f32>) -> f32 {
    row.fold_wide(0.0, |sum, value| sum + value * value, |one, two| one + two)
}

/// Returns the largest magnitude of a row.
#[inline(always)]
pub(crate) fn largest_magnitude(row: Row<'_, f32>) -> f32 {
    row.fold_wide(0.0, |most: f32, value| most.max(value.abs()), f32::max)
}
