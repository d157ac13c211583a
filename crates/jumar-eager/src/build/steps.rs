//! Steps: elementwise functions, copies, operators of jumar-ops, and kernels of the families' own.

use jumar_ops::view::Layout;
use jumar_ops::{
    Aliasing, Attrs, InferCx, Kernel, Operand as BufferKind, PrepareCx, Slot, Tensor, TensorType,
};
use jumar_types::dtype::DataType;

use super::{Cx, Draft, Operand, Temporary};
use crate::element::{self, F, Source};
use crate::exchange::{Exchange, Transfer};
use crate::plan::{Plan, Report, Step, bytes};
use crate::view::{Base, View};
use crate::{Group, Refusal, Status};

/// The alignment of temporaries and of constants.
const ALIGNMENT: usize = 64;

/// An input of an operator of jumar-ops.
#[derive(Clone, Debug)]
pub(crate) enum Input {
    /// An optional input that is not given.
    Absent,
    /// A tensor of the plan.
    View(View),
    /// Values that are known now: axes, shapes, sizes.
    Known(Tensor),
}

impl From<View> for Input {
    fn from(view: View) -> Input {
        Input::View(view)
    }
}

impl From<Option<View>> for Input {
    fn from(view: Option<View>) -> Input {
        view.map_or(Input::Absent, Input::View)
    }
}

impl From<Tensor> for Input {
    fn from(tensor: Tensor) -> Input {
        Input::Known(tensor)
    }
}

impl Input {
    /// Creates an input of known integers.
    pub fn ints(values: &[i64]) -> Input {
        Input::Known(Tensor::from_ints(values))
    }
}

impl Cx<'_> {
    /// Creates an intermediate result. Nothing is written to it yet.
    pub fn temporary(&mut self, dtype: DataType, dims: &[usize]) -> Result<View, Refusal> {
        let Some(layout) = Layout::dense(dims).filter(|layout| layout.elements() <= 1 << 46) else {
            return Err(self.invalid(format_args!(
                "an intermediate result of the shape {dims:?} is larger than any memory"
            )));
        };
        self.temporaries.push(Temporary {
            bytes: bytes(dtype, layout.elements()),
            origin: None,
            used: None,
        });
        let base = Base::Temporary(self.temporaries.len() - 1);
        Ok(View::new(base, dtype, 0, layout))
    }

    /// Stores values that are known now.
    pub fn constant(&mut self, tensor: &Tensor) -> Result<View, Refusal> {
        let dtype = tensor.ty().dtype;
        let layout = tensor.ty().dims().and_then(|dims| Layout::dense(&dims));
        let (Some(layout), Some(size)) = (layout, dtype.size()) else {
            return Err(self.defect("a constant has no layout"));
        };
        let start = self.constants.len().next_multiple_of(ALIGNMENT);
        self.constants.resize(start, 0);
        self.constants.extend_from_slice(tensor.bytes());
        Ok(View::new(Base::Constant, dtype, start / size, layout))
    }

    /// Adds a step. The kernel accepts the strides of all its operands, and outputs are not read by it while they are
    /// written: see [`Cx::kernel`] for the checks.
    fn push(
        &mut self,
        kernel: Box<dyn Kernel>,
        inputs: Vec<Option<View>>,
        outputs: Vec<View>,
        in_place: bool,
    ) {
        let step = self.drafts.len();
        let scratch = match kernel.scratch_bytes() {
            0 => None,
            bytes => {
                self.temporaries.push(Temporary {
                    bytes,
                    origin: None,
                    used: Some((step, step)),
                });
                Some(self.temporaries.len() - 1)
            }
        };
        let mut reread = 0;
        for (index, input) in inputs.iter().enumerate() {
            if let Some(View {
                base: Base::Buffer(buffer),
                ..
            }) = input
                && self.written.contains(buffer)
            {
                reread |= 1 << index.min(63);
            }
        }
        for view in inputs.iter().flatten().chain(&outputs) {
            if let Base::Temporary(index) = view.base {
                let used = &mut self.temporaries[index].used;
                *used = Some(used.map_or((step, step), |(first, _)| (first, step)));
            }
        }
        for view in &outputs {
            if let Base::Buffer(buffer) = view.base
                && !self.written.contains(&buffer)
            {
                self.written.push(buffer);
            }
        }
        self.drafts.push(Draft {
            kernel,
            inputs,
            outputs,
            in_place,
            reread,
            scratch,
        });
    }

    /// Runs a kernel of the family's own on views. It reads any strides that the views have.
    ///
    /// `in_place` says that each element is read before the element at the same position is written, so that an output may be
    /// an input. In every other case an output that shares memory with an input is written through a temporary.
    pub fn kernel(
        &mut self,
        kernel: Box<dyn Kernel>,
        inputs: &[Option<View>],
        outputs: &[View],
        in_place: bool,
    ) -> Result<(), Refusal> {
        let mut targets = outputs.to_vec();
        for target in &mut targets {
            let clash = inputs
                .iter()
                .flatten()
                .any(|input| clashes(input, target, in_place));
            if clash {
                *target = self.temporary(target.dtype(), target.dims())?;
            }
        }
        self.push(kernel, inputs.to_vec(), targets.clone(), in_place);
        for (target, output) in targets.iter().zip(outputs) {
            if target != output {
                self.copy(*target, *output)?;
            }
        }
        Ok(())
    }

    /// Computes a function of elements. The operands are broadcast to the shape of `out` and converted to `compute`; the
    /// result is rounded to `compute` and converted to the type of `out`.
    pub fn map(
        &mut self,
        function: F,
        compute: DataType,
        operands: &[Operand],
        out: View,
    ) -> Result<(), Refusal> {
        self.elementwise(Some(function), compute, false, operands, out)
    }

    /// As [`Cx::map`], for a function whose result is a boolean.
    pub fn test(
        &mut self,
        function: F,
        compute: DataType,
        operands: &[Operand],
        out: View,
    ) -> Result<(), Refusal> {
        self.elementwise(Some(function), compute, true, operands, out)
    }

    /// Fills a view with a value.
    pub fn fill(&mut self, value: crate::Scalar, out: View) -> Result<(), Refusal> {
        self.fills_zeros = value.is_zero() && out.is_dense() && out.dtype().bits() >= 8;
        self.elementwise(None, out.dtype(), false, &[Operand::Scalar(value)], out)
    }

    /// Copies a view to another, with broadcasting and conversion.
    pub fn copy(&mut self, from: View, to: View) -> Result<(), Refusal> {
        if to.is_empty() || from == to {
            return Ok(());
        }
        if from.dtype() != to.dtype() {
            return self.elementwise(None, from.dtype(), false, &[Operand::Tensor(from)], to);
        }
        let source = self.expanded(&from, &to)?;
        let Some(kernel) = element::copy(from.dtype(), source.layout(), to.layout()) else {
            return Err(self.unsupported(format_args!(
                "copies of the type {} are not supported",
                from.dtype()
            )));
        };
        self.kernel(kernel, &[Some(source)], &[to], true)
    }

    /// Creates an intermediate result with the values of a view in another type or layout. Messages name it as they name the view.
    pub fn temporary_of(
        &mut self,
        view: &View,
        dtype: DataType,
        dims: &[usize],
    ) -> Result<View, Refusal> {
        let to = self.temporary(dtype, dims)?;
        let origin = self.buffer_of(view);
        if let (Base::Temporary(index), Some(_)) = (to.base, origin) {
            self.temporaries[index].origin = origin;
        }
        Ok(to)
    }

    /// Returns the argument that a view lies in, or whose values it holds.
    pub(super) fn buffer_of(&self, view: &View) -> Option<usize> {
        match view.base {
            Base::Buffer(buffer) => Some(buffer),
            Base::Temporary(index) => self.temporaries[index].origin,
            Base::Constant => None,
        }
    }

    /// Returns the view converted to a type: itself, or a temporary.
    pub fn cast(&mut self, view: View, dtype: DataType) -> Result<View, Refusal> {
        if view.dtype() == dtype {
            return Ok(view);
        }
        let to = self.temporary_of(&view, dtype, view.dims())?;
        self.copy(view, to)?;
        Ok(to)
    }

    /// Returns a dense view of the same elements: itself, or a temporary.
    pub fn dense(&mut self, view: View) -> Result<View, Refusal> {
        if view.is_dense() {
            return Ok(view);
        }
        let to = self.temporary_of(&view, view.dtype(), view.dims())?;
        self.copy(view, to)?;
        Ok(to)
    }

    /// Returns the elements under another shape of as many elements: a view, or a temporary where strides cannot express it.
    pub fn reshaped(&mut self, view: View, dims: &[usize]) -> Result<View, Refusal> {
        if let Some(reshaped) = view.reshape(dims) {
            return Ok(reshaped);
        }
        let dense = self.dense(view)?;
        dense.reshape(dims).ok_or_else(|| {
            self.defect(format_args!("{:?} cannot be seen as {dims:?}", view.dims()))
        })
    }

    fn expanded(&self, view: &View, to: &View) -> Result<View, Refusal> {
        view.expand(to.dims()).ok_or_else(|| {
            self.invalid(format_args!(
                "{} has the shape {:?}, which cannot be broadcast to {:?} of {}",
                self.param_of(view),
                view.dims(),
                to.dims(),
                self.param_of(to)
            ))
        })
    }

    fn elementwise(
        &mut self,
        function: Option<F>,
        compute: DataType,
        boolean: bool,
        operands: &[Operand],
        out: View,
    ) -> Result<(), Refusal> {
        let mut inputs = Vec::with_capacity(operands.len());
        for operand in operands {
            if let Operand::Tensor(view) = operand {
                inputs.push(Some(self.expanded(view, &out)?));
            }
        }
        if out.is_empty() {
            return Ok(());
        }
        let clash = inputs
            .iter()
            .flatten()
            .any(|input| clashes(input, &out, true));
        let target = match clash {
            true => self.temporary(out.dtype(), out.dims())?,
            false => out,
        };
        let mut tensors = inputs.iter().flatten();
        let mut sources = [Source::Scalar(crate::Scalar::of_bool(false)); 8];
        let Some(sources) = sources.get_mut(..operands.len()) else {
            return Err(self.defect("a function has more operands than registers"));
        };
        for (source, operand) in sources.iter_mut().zip(operands) {
            *source = match operand {
                // The compute type is wider than the type of the operands, where an integer beyond that type would be another number.
                Operand::Scalar(scalar) => Source::Scalar(match function {
                    Some(function) if function.rounds_scalars() => {
                        scalar.rounded(compute).wrapped(compute)
                    }
                    _ => scalar.wrapped(compute),
                }),
                Operand::Tensor(_) => match tensors.next() {
                    Some(view) => Source::Tensor(view.dtype(), view.layout()),
                    None => return Err(self.defect("an operand is missing")),
                },
            };
        }
        let output = (target.dtype(), target.layout());
        let Some(kernel) = element::map(function, compute, boolean, sources, output) else {
            return Err(match function {
                Some(function) if operands.len() != function.arity() => {
                    self.defect(format_args!("{function:?} has {} operands", function.arity()))
                }
                _ => self.invalid(format_args!(
                    "the operator does not exist for the type {compute}, or for an output of the type {}",
                    target.dtype()
                )),
            });
        };
        self.push(kernel, inputs, vec![target], true);
        match clash {
            true => self.copy(target, out),
            false => Ok(()),
        }
    }

    /// Runs an operator of jumar-ops by its name.
    ///
    /// Views whose strides the kernel does not accept are copied to dense temporaries, and outputs are copied back. Outputs of
    /// another type than the operator's result are converted. Outputs that the operator has beyond `outputs` are discarded.
    pub fn op(
        &mut self,
        name: &str,
        inputs: &[Input],
        attrs: &Attrs,
        outputs: &[View],
    ) -> Result<(), Refusal> {
        let Some(operator) = jumar_ops::find(name) else {
            return Err(self.defect(format_args!("there is no operator {name}")));
        };
        let types: Vec<Option<TensorType>> = inputs
            .iter()
            .map(|input| match input {
                Input::Absent => None,
                Input::View(view) => Some(type_of(view)),
                Input::Known(tensor) => Some(tensor.ty().clone()),
            })
            .collect();
        let types: Vec<Option<&TensorType>> = types.iter().map(Option::as_ref).collect();
        let known: Vec<Option<&Tensor>> = inputs
            .iter()
            .map(|input| match input {
                Input::Known(tensor) => Some(tensor),
                _ => None,
            })
            .collect();
        let cx = InferCx::new(&types, &known, attrs);
        let name = self.name();
        let refuse = |error| Refusal::of_kernel(name, &error);
        let results = operator.infer(&cx).map_err(refuse)?;
        let kernel = PrepareCx::new(cx, &results)
            .and_then(|cx| operator.prepare(&cx))
            .map_err(refuse)?;
        let mut views = Vec::with_capacity(inputs.len());
        for (index, input) in inputs.iter().enumerate() {
            views.push(match input {
                Input::Absent => None,
                Input::Known(tensor) => Some(self.constant(tensor)?),
                Input::View(view) if accepts(&*kernel, Slot::Input(index), view) => Some(*view),
                Input::View(view) => Some(self.dense(*view)?),
            });
        }
        let in_place = operator.aliasing == Aliasing::Elementwise;
        let mut targets = Vec::with_capacity(results.len());
        for (index, result) in results.iter().enumerate() {
            let dims = result.dims().unwrap_or_default();
            let direct = match outputs.get(index) {
                Some(output) => {
                    self.check_dims(output, &dims)?;
                    let clash = views
                        .iter()
                        .flatten()
                        .any(|view| clashes(view, output, in_place && index == 0));
                    output.dtype() == result.dtype
                        && accepts(&*kernel, Slot::Output(index), output)
                        && !clash
                }
                None => false,
            };
            targets.push(match (direct, outputs.get(index)) {
                (true, Some(output)) => *output,
                _ => self.temporary(result.dtype, &dims)?,
            });
        }
        if targets.iter().all(View::is_empty) {
            return Ok(());
        }
        self.push(kernel, views, targets.clone(), in_place);
        for (target, output) in targets.into_iter().zip(outputs) {
            if target != *output {
                self.copy(target, *output)?;
            }
        }
        Ok(())
    }

    /// Adds a collective of a communicator. It runs after the steps that were added so far, and before the next one.
    ///
    /// Both views are dense. `mark` are numbers that have to be equal on all ranks, such as dimensions: ranks that pass others
    /// disagree.
    pub fn exchange(
        &mut self,
        group: &Group,
        transfer: Transfer,
        (send, receive): (Option<View>, Option<View>),
        mark: &[usize],
    ) -> Result<(), Refusal> {
        let (step, size) = (self.drafts.len(), group.size.max(1) as usize);
        for view in [send, receive].iter().flatten() {
            if !view.is_dense() {
                return Err(self.defect("what ranks exchange is dense"));
            }
            match view.base {
                Base::Temporary(index) => {
                    // It is in use while the exchange runs, between two steps.
                    let around = (step.saturating_sub(1), step);
                    let used = &mut self.temporaries[index].used;
                    *used = Some(used.map_or(around, |(first, last)| {
                        (first.min(around.0), last.max(around.1))
                    }));
                }
                Base::Buffer(_) => {}
                Base::Constant => return Err(self.defect("ranks exchange no constants")),
            }
        }
        if let Some(View {
            base: Base::Buffer(buffer),
            ..
        }) = receive
            && !self.written.contains(&buffer)
        {
            self.written.push(buffer);
        }
        let elements = |view: Option<View>| view.map_or(0, |view| view.elements());
        let count = match &transfer {
            Transfer::AllReduce | Transfer::AllGather => elements(send),
            Transfer::ReduceScatter => elements(receive),
            Transfer::AllToAll => elements(send) / size,
            Transfer::AllToAllV { .. } | Transfer::Barrier => 0,
        };
        let dtype = send.or(receive).map_or(DataType::Int8, |view| view.dtype());
        let exchange = Exchange::new(step, group, transfer, (dtype, count), mark.to_vec());
        self.exchanges.push((exchange, send, receive));
        Ok(())
    }

    /// Notes that the shape of an output depends on data: a step writes its dimensions to `dims`, a dense int64 temporary with
    /// one element a dimension. The caller reads them from the descriptor after the run.
    pub fn report_dims(&mut self, output: &View, dims: View) -> Result<(), Refusal> {
        match (output.base, dims.base) {
            (Base::Buffer(buffer), Base::Temporary(_)) => {
                self.reports.push((buffer, dims));
                Ok(())
            }
            _ => Err(self.defect("the shape of an argument is written to a temporary")),
        }
    }
}

fn type_of(view: &View) -> TensorType {
    let dims: Vec<i64> = view.dims().iter().map(|&dim| dim as i64).collect();
    TensorType::new(view.dtype(), dims)
}

/// Reports whether a kernel accepts the strides of an operand.
fn accepts(kernel: &dyn Kernel, slot: Slot, view: &View) -> bool {
    view.is_dense() || (kernel.accepts_batch_stride(slot) && view.layout().batch_stride().is_some())
}

/// Reports whether a write to `output` may change what is still to be read of `input`.
fn clashes(input: &View, output: &View, in_place: bool) -> bool {
    if input.base != output.base {
        return false;
    }
    let range = |view: &View| {
        let start = bytes(view.dtype(), view.offset());
        (start, start + bytes(view.dtype(), view.layout().reach()))
    };
    let ((one, one_end), (two, two_end)) = (range(input), range(output));
    let same = one == two
        && input.layout() == output.layout()
        && input.dtype().bits() == output.dtype().bits();
    one < two_end && two < one_end && !(in_place && same)
}

/// Assigns offsets in the workspace: temporaries that are used at the same time lie apart.
fn assign(temporaries: &[Temporary]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..temporaries.len()).collect();
    order.sort_by_key(|&index| temporaries[index].used);
    let mut offsets = vec![0; temporaries.len()];
    let mut reserved: Vec<(usize, usize, usize)> = Vec::new();
    let mut total = 0;
    for index in order {
        let temporary = &temporaries[index];
        let Some((first, last)) = temporary.used else {
            continue;
        };
        let size = temporary.bytes.next_multiple_of(ALIGNMENT);
        reserved.retain(|&(_, _, until)| until >= first);
        reserved.sort_unstable();
        let mut offset = 0;
        for &(start, end, _) in &reserved {
            if offset + size <= start {
                break;
            }
            offset = offset.max(end);
        }
        reserved.push((offset, offset + size, last));
        offsets[index] = offset;
        total = total.max(offset + size);
    }
    (offsets, total)
}

/// Turns drafts into steps.
pub(super) fn finish(mut cx: Cx<'_>) -> Result<Plan, Refusal> {
    let last = cx.drafts.len();
    for (_, dims) in &cx.reports {
        if let Base::Temporary(index) = dims.base {
            // The shapes are read after the last step.
            let used = &mut cx.temporaries[index].used;
            *used = used.map(|(first, _)| (first, last));
        }
    }
    let (offsets, workspace) = assign(&cx.temporaries);
    let operand = |view: &View, write: bool| {
        let start = bytes(view.dtype(), view.offset());
        let (buffer, start) = match view.base {
            Base::Buffer(buffer) if write => (jumar_ops::BufferKind::Output(buffer as u32), start),
            Base::Buffer(buffer) => (jumar_ops::BufferKind::Input(buffer as u32), start),
            Base::Temporary(index) => (jumar_ops::BufferKind::Arena, offsets[index] + start),
            Base::Constant => (jumar_ops::BufferKind::Constant, start),
        };
        BufferKind::strided(buffer, start, view.dtype(), *view.layout())
    };
    let mut steps = Vec::with_capacity(cx.drafts.len());
    for draft in cx.drafts {
        let inputs = draft.inputs.iter().enumerate();
        steps.push(Step {
            inputs: inputs
                .map(|(index, view)| {
                    let written = draft.reread >> index.min(63) & 1 == 1;
                    view.as_ref().map(|view| operand(view, written))
                })
                .collect(),
            outputs: draft
                .outputs
                .iter()
                .map(|view| operand(view, true))
                .collect(),
            scratch: draft.scratch.map_or((0, 0), |index| {
                (offsets[index], cx.temporaries[index].bytes)
            }),
            kernel: draft.kernel,
            in_place: draft.in_place,
        });
    }
    let reports = cx.reports.iter().map(|(buffer, dims)| match dims.base {
        Base::Temporary(index) => Report {
            buffer: *buffer,
            offset: offsets[index] + bytes(dims.dtype(), dims.offset()),
            rank: dims.elements(),
        },
        _ => unreachable!("reports are checked when they are made"),
    });
    let reports = reports.collect();
    let mut exchanges = Vec::with_capacity(cx.exchanges.len());
    for (mut exchange, send, receive) in cx.exchanges {
        let sent = send.map(|view| operand(&view, false));
        exchange.connect(sent, receive.map(|view| operand(&view, true)));
        exchanges.push(exchange);
    }
    Ok(Plan {
        steps,
        accesses: cx.accesses,
        constants: cx.constants,
        workspace,
        reports,
        exchanges,
        pause: cx.pause,
        fills_zeros: cx.fills_zeros,
    })
}

impl Refusal {
    /// Creates the refusal of a call whose kernel refused what the plan asked for.
    pub(super) fn of_kernel(operator: &str, error: &jumar_ops::OpError) -> Refusal {
        use jumar_ops::OpErrorKind as Kind;
        let status = match error.kind() {
            Kind::NotSupported => Status::NoKernel,
            Kind::Invalid | Kind::Unknown | Kind::Data | Kind::Buffer | Kind::TooLarge => {
                Status::Invalid
            }
            Kind::Internal => Status::Inner,
        };
        Refusal::new(status, format!("{operator}: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporaries_share_memory_when_they_are_not_used_at_the_same_time() {
        let temporary = |bytes, used| Temporary {
            bytes,
            origin: None,
            used,
        };
        let temporaries = [
            temporary(100, Some((0, 1))),
            temporary(64, Some((1, 2))),
            temporary(128, Some((2, 3))),
            temporary(64, Some((3, 3))),
            temporary(1000, None),
        ];
        let (offsets, total) = assign(&temporaries);
        assert_eq!(offsets[..4], [0, 128, 0, 128]);
        assert_eq!(total, 192);
        for (one, a) in temporaries.iter().enumerate() {
            for (two, b) in temporaries.iter().enumerate().skip(one + 1) {
                let (Some(first), Some(second)) = (a.used, b.used) else {
                    continue;
                };
                let together = first.0 <= second.1 && second.0 <= first.1;
                let disjoint = offsets[one] + a.bytes <= offsets[two]
                    || offsets[two] + b.bytes <= offsets[one];
                assert!(!together || disjoint, "{one} and {two}");
            }
        }
    }
}
