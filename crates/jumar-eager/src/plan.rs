//! The steps of one call, and their execution.

use std::ops::Range;
use std::time::Duration;

use jumar_ops::view::{Block, Layout, Region, View};
use jumar_ops::{BufferKind, Call, Kernel, Memory, OpError, OpErrorKind, Operand, Workers};
use jumar_types::dtype::DataType;

use crate::exchange::Exchange;
use crate::{Dims, Io};

/// How the plan uses the memory of one tensor argument.
#[derive(Clone, Debug)]
pub struct Access {
    /// The index of the tensor: see [`TensorArg::buffer`](crate::TensorArg::buffer).
    pub buffer: usize,
    /// Whether the tensor is read, written, or both.
    pub io: Io,
    /// The element type.
    pub dtype: DataType,
    /// The distance of the first element from the data pointer, in elements.
    pub offset: usize,
    /// Shape and strides.
    pub layout: Layout,
    /// Whether the tensor does not lie inside its described storage. The caller checks that the memory behind it is larger.
    pub beyond_storage: bool,
}

impl Access {
    /// Returns how many bytes from the data pointer on the tensor spans. The region that [`Plan::run`] gets for it has to
    /// start at the data pointer and to be at least this long.
    ///
    /// # Units
    ///
    /// Bytes. 0 for an empty tensor.
    pub fn bytes(&self) -> usize {
        match self.layout.elements() {
            0 => 0,
            _ => bytes(self.dtype, self.offset + self.layout.reach()),
        }
    }

    /// Returns the first byte that the tensor uses, counted from the data pointer.
    fn start(&self) -> usize {
        bytes(self.dtype, self.offset)
    }

    pub(crate) fn reads(&self) -> bool {
        matches!(self.io, Io::In | Io::InOut)
    }

    pub(crate) fn writes(&self) -> bool {
        matches!(self.io, Io::Out | Io::InOut)
    }
}

/// A view of a tensor argument that one step reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessedView<'a> {
    /// The index of the tensor: see [`TensorArg::buffer`](crate::TensorArg::buffer).
    pub buffer: usize,
    /// Whether it is written, or read.
    pub writes: bool,
    /// The distance of the first element from the data pointer, in bytes.
    pub offset: usize,
    /// The element type.
    pub dtype: DataType,
    /// Shape and strides.
    pub layout: &'a Layout,
}

/// Sizes were checked when the view was created, so that nothing overflows here.
pub(crate) fn bytes(dtype: DataType, elements: usize) -> usize {
    (elements * dtype.bits()).div_ceil(8)
}

/// One kernel and its operands.
pub(crate) struct Step {
    pub kernel: Box<dyn Kernel>,
    pub inputs: Vec<Option<Operand>>,
    pub outputs: Vec<Operand>,
    /// Start and length of the scratch memory in the workspace, in bytes.
    pub scratch: (usize, usize),
    /// Whether an output may share the memory of an input with the same layout: each element is read before it is
    /// written.
    pub in_place: bool,
}

/// An output whose shape is known only after the run.
pub(crate) struct Report {
    /// The tensor.
    pub buffer: usize,
    /// Where in the workspace the dimensions are written, as int64.
    pub offset: usize,
    /// How many there are.
    pub rank: usize,
}

/// The most elements that the steps of a short plan write together.
const SHORT: usize = 512;

/// The steps of one call.
///
/// # Ownership
///
/// Owns copies of all it needs; arguments and descriptions of the call may be destroyed.
///
/// # Threads
///
/// May run on several threads at once, each with its own workspace.
pub struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) constants: Vec<u8>,
    pub(crate) workspace: usize,
    pub(crate) reports: Vec<Report>,
    /// The collectives between the steps, in order.
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) pause: Duration,
    /// The plan fills one dense tensor with zeros.
    pub(crate) fills_zeros: bool,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (steps, workspace) = (self.steps.len(), self.workspace);
        write!(f, "Plan({steps} steps, {workspace} bytes of workspace)")
    }
}

/// What a run found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunReport {
    /// The true shapes of outputs that depend on data, with the index of each tensor.
    pub shapes: Vec<(usize, Dims)>,
}

impl Plan {
    /// Returns the size of the memory that a run needs for intermediate results.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn workspace_bytes(&self) -> usize {
        self.workspace
    }

    /// Returns about how much memory the plan takes, without what its kernels own.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn kept_bytes(&self) -> usize {
        let operands = |step: &Step| step.inputs.len() + step.outputs.len();
        let operands: usize = self.steps.iter().map(operands).sum();
        self.constants.len()
            + self.steps.len() * size_of::<Step>()
            + operands * size_of::<Operand>()
            + self.accesses.len() * size_of::<Access>()
    }

    /// Returns how the plan uses the tensor arguments, in the order of the signature.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// Returns the views of tensor arguments that the steps read and write. Unlike [`Plan::accesses`], these are not the tensors
    /// as they were passed: an in-place operator that only writes does not read, and a slice reads its part.
    pub fn touches(&self) -> impl Iterator<Item = AccessedView<'_>> {
        self.touches_of(0..self.steps.len())
    }

    /// As [`Plan::touches`], of some of the steps.
    pub fn touches_of(&self, steps: Range<usize>) -> impl Iterator<Item = AccessedView<'_>> {
        fn touch(operand: &Operand, writes: bool) -> Option<AccessedView<'_>> {
            let buffer = match operand.buffer() {
                BufferKind::Input(buffer) if !writes => buffer,
                BufferKind::Output(buffer) if writes => buffer,
                // What an earlier step of the same call wrote is not read from outside.
                _ => return None,
            };
            Some(AccessedView {
                buffer: buffer as usize,
                writes,
                offset: operand.offset(),
                dtype: operand.dtype(),
                layout: operand.layout(),
            })
        }
        let steps = self.steps.get(steps).unwrap_or_default();
        steps.iter().flat_map(|step| {
            let reads = step.inputs.iter().flatten();
            let reads = reads.filter_map(|operand| touch(operand, false));
            let writes = step.outputs.iter();
            reads.chain(writes.filter_map(|operand| touch(operand, true)))
        })
    }

    /// Returns whether a run takes a few microseconds at most: it computes functions of few elements, and nothing else.
    pub fn is_short(&self) -> bool {
        let mut elements = 0;
        let mut is_short = |step: &Step| {
            let written = step.outputs.iter();
            elements += written
                .map(|output| output.layout().elements())
                .sum::<usize>();
            step.kernel.is_elementwise() && elements <= SHORT
        };
        self.pause.is_zero() && self.steps.iter().all(&mut is_short)
    }

    /// Returns the tensor that a plan fills with zeros, if it does nothing else: its index, the distance of its first element from the data
    /// pointer, and its length.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn zeros(&self) -> Option<(usize, usize, usize)> {
        let output = self.steps.first()?.outputs.first()?;
        let BufferKind::Output(buffer) = output.buffer() else {
            return None;
        };
        let length = bytes(output.dtype(), output.layout().elements());
        let only = self.fills_zeros && self.steps.len() == 1;
        only.then_some((buffer as usize, output.offset(), length))
    }

    /// Returns how long a run takes at least. The caller waits so long before it executes the steps.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Reports whether shapes of outputs depend on data: [`RunReport::shapes`] has them after a run.
    pub fn writes_shapes(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Returns the collectives between the steps, in order. The caller executes them: all steps before one, the collective, and
    /// the steps behind it ([`Plan::run_part`]).
    pub fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Finds an input and an output that share memory although the input is read after a part of the output is written. A plan
    /// with exchanges does not run on such memory.
    pub fn conflict(&self, buffers: &[Region<'_>]) -> Option<(usize, usize)> {
        self.accesses
            .iter()
            .find_map(|input| Some((input.buffer, self.conflict_of(input, buffers)?)))
    }

    /// Executes the steps. The plan has no exchanges.
    ///
    /// `buffers[i]` is the memory of the tensor `i`, from its data pointer on, at least [`Access::bytes`] long. Tensors may
    /// overlap in any way: an input that a write could change too early is copied first.
    ///
    /// # Errors
    ///
    /// `Data` where values cannot be computed on (an index outside its tensor); `Buffer` where a region is too small.
    pub fn run(
        &self,
        buffers: &[Region<'_>],
        workspace: Region<'_>,
        workers: Workers<'_>,
    ) -> Result<RunReport, OpError> {
        self.run_part(0..self.steps.len(), buffers, workspace, workers)
    }

    /// Executes some of the steps: those between two exchanges. The workspace keeps what the steps before wrote.
    ///
    /// # Errors
    ///
    /// Those of [`Plan::run`].
    pub fn run_part(
        &self,
        steps: Range<usize>,
        buffers: &[Region<'_>],
        workspace: Region<'_>,
        workers: Workers<'_>,
    ) -> Result<RunReport, OpError> {
        if self
            .accesses
            .iter()
            .any(|access| access.buffer >= buffers.len())
        {
            let text = format!("the call has {} tensors without memory", buffers.len());
            return Err(OpError::new(OpErrorKind::Buffer, text));
        }
        let copies = self.copies(buffers)?;
        if copies.is_empty() {
            return self.execute(steps, buffers, buffers, workspace, workers);
        }
        if !self.exchanges.is_empty() {
            return Err(internal("arguments share memory in a way that was refused"));
        }
        let mut inputs = buffers.to_vec();
        for (buffer, block) in &copies {
            inputs[*buffer] = block.shared();
        }
        self.execute(steps, &inputs, buffers, workspace, workers)
    }

    fn execute(
        &self,
        steps: Range<usize>,
        inputs: &[Region<'_>],
        outputs: &[Region<'_>],
        workspace: Region<'_>,
        workers: Workers<'_>,
    ) -> Result<RunReport, OpError> {
        let memory = Memory {
            weights: Region::EMPTY,
            arena: workspace,
            constants: Region::shared(&self.constants),
            inputs,
            outputs,
            workers,
        };
        let last = steps.end == self.steps.len();
        for step in self.steps.get(steps).unwrap_or_default() {
            let call = Call::new(&step.inputs, &step.outputs, step.scratch, &memory)?;
            step.kernel.run(&call)?;
        }
        let mut ran = RunReport::default();
        for report in self.reports.iter().filter(|_| last) {
            let dims = read_dims(workspace, report)?;
            ran.shapes.push((report.buffer, dims));
        }
        Ok(ran)
    }

    /// Finds an output whose writes could change too early what is read of an input.
    fn conflict_of(&self, input: &Access, buffers: &[Region<'_>]) -> Option<usize> {
        if !input.reads() || input.writes() || input.layout.elements() == 0 {
            return None;
        }
        let unsafe_write = |output: &&Access| {
            output.writes()
                && output.layout.elements() != 0
                && overlap(input, output, buffers)
                && !self.allows(input.buffer, output.buffer, buffers)
        };
        let found = self.accesses.iter().find(unsafe_write);
        found.map(|output| output.buffer)
    }

    /// Copies the inputs that overlap an output in a way that the steps do not allow.
    fn copies(&self, buffers: &[Region<'_>]) -> Result<Vec<(usize, Block)>, OpError> {
        let mut copies = Vec::new();
        for input in &self.accesses {
            if self.conflict_of(input, buffers).is_some() {
                copies.push((input.buffer, copy(input, buffers)?));
            }
        }
        Ok(copies)
    }

    /// Reports whether no step reads `input` after the first write to `output`, where the two overlap.
    fn allows(&self, input: usize, output: usize, buffers: &[Region<'_>]) -> bool {
        let reads = |operand: &&Operand| operand.buffer() == BufferKind::Input(input as u32);
        let writes = |operand: &&Operand| operand.buffer() == BufferKind::Output(output as u32);
        let mut written = false;
        let mut exchanges = self.exchanges.iter().peekable();
        for (index, step) in self.steps.iter().enumerate() {
            while let Some(exchange) = exchanges.next_if(|exchange| exchange.before() <= index) {
                if (written || exchange.writes(output)) && exchange.reads(input) {
                    return false;
                }
                written |= exchange.writes(output);
            }
            let mut read = step.inputs.iter().flatten().filter(reads).peekable();
            if read.peek().is_some() {
                if written {
                    return false;
                }
                for target in step.outputs.iter().filter(writes) {
                    let (from, to) = (buffers[input], buffers[output]);
                    let mut same = |source: &Operand| {
                        from.address() + source.offset() == to.address() + target.offset()
                            && source.dtype().bits() == target.dtype().bits()
                            && source.layout() == target.layout()
                    };
                    if !step.in_place || !read.all(&mut same) {
                        return false;
                    }
                }
            }
            written |= step.outputs.iter().any(|operand| writes(&operand));
        }
        exchanges.all(|exchange| {
            let fine = !((written || exchange.writes(output)) && exchange.reads(input));
            written |= exchange.writes(output);
            fine
        })
    }
}

/// Reports whether two tensors share a byte.
fn overlap(one: &Access, two: &Access, buffers: &[Region<'_>]) -> bool {
    let range = |access: &Access| {
        let base = buffers.get(access.buffer).map_or(0, Region::address);
        (base + access.start(), base + access.bytes())
    };
    let ((one_start, one_end), (two_start, two_end)) = (range(one), range(two));
    one_start < two_end && two_start < one_end
}

/// Copies the memory of a tensor from its data pointer on.
fn copy(access: &Access, buffers: &[Region<'_>]) -> Result<Block, OpError> {
    let bytes = access.bytes();
    let (layout, region) = (Layout::dense(&[bytes]), buffers.get(access.buffer));
    let (Some(layout), Some(region)) = (layout, region) else {
        return Err(internal("a tensor of the call has no memory"));
    };
    let mut block = Block::zeroed(bytes);
    View::<u8>::new(*region, &layout)?
        .flat()
        .load(block.bytes_mut(), |byte| byte);
    Ok(block)
}

fn read_dims(workspace: Region<'_>, report: &Report) -> Result<Dims, OpError> {
    let layout = Layout::dense(&[report.rank]);
    let region = workspace.part(report.offset, report.rank * size_of::<i64>());
    let (Some(layout), Some(region)) = (layout, region) else {
        return Err(internal(
            "the shape of an output lies outside the workspace",
        ));
    };
    let mut dims = vec![0; report.rank];
    View::<i64>::new(region, &layout)?
        .flat()
        .load(&mut dims, |dim| dim);
    Ok(Dims::new(&dims))
}

fn internal(text: &str) -> OpError {
    OpError::new(OpErrorKind::Internal, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arg, Scalar, TensorArg, TensorDesc, plan};

    fn signature(name: &str) -> &'static crate::Signature {
        let mut all = crate::signatures::ALL.iter();
        all.find(|signature| signature.name == name).unwrap()
    }

    /// A tensor of a type, and of this shape.
    fn dense(buffer: usize, dtype: DataType, dims: &[i64]) -> Arg {
        let desc = TensorDesc::contiguous(dtype, dims);
        Arg::Tensor(TensorArg { desc, buffer })
    }

    #[test]
    fn rows_and_products_of_few_elements_are_short() {
        for (n, is_short) in [(4, true), (16, true), (32, false)] {
            let of = |buffer: usize| dense(buffer, DataType::Float16, &[n, n]);
            let softmax = plan(signature("aclnnSoftmax"), &[of(0), Arg::Int(1), of(1)]).unwrap();
            assert_eq!(softmax.is_short(), is_short, "softmax of {n}");
        }
        for (k, is_short) in [(4, true), (64, true), (65, false)] {
            let of = |buffer: usize, dims: [i64; 2]| dense(buffer, DataType::Float32, &dims);
            let args = [of(0, [2, k]), of(1, [k, 2]), of(2, [2, 2]), Arg::Int(0)];
            let product = plan(signature("aclnnMatmul"), &args).unwrap();
            assert_eq!(product.is_short(), is_short, "products of {k}");
        }
        // The rows of the input are longer than what is written.
        let args = [
            dense(0, DataType::Float32, &[4, 1000]),
            Arg::Ints(vec![1]),
            Arg::Bool(false),
            Arg::Type(DataType::Float32),
            dense(1, DataType::Float32, &[4]),
        ];
        assert!(!plan(signature("aclnnReduceSum"), &args).unwrap().is_short());
    }

    /// A float32 tensor of one dimension that starts at an element of a shared storage.
    fn part(buffer: usize, len: i64, stride: i64) -> Arg {
        let mut desc = TensorDesc::contiguous(DataType::Float32, &[len]);
        desc.strides = Dims::new(&[stride]);
        desc.storage = Dims::new(&[64]);
        Arg::Tensor(TensorArg { desc, buffer })
    }

    /// Runs an operator on parts of one block that begin at these elements, and returns the block.
    fn run_on_parts(name: &str, args: &[Arg], starts: &[usize]) -> Vec<f32> {
        let plan = plan(signature(name), args).unwrap();
        let values: Vec<u8> = (0..64u8).flat_map(|x| f32::from(x).to_le_bytes()).collect();
        let mut block = Block::of(&values);
        let mut workspace = Block::zeroed(plan.workspace_bytes());
        let integer = block.region();
        let regions: Vec<Region<'_>> = starts
            .iter()
            .map(|start| {
                integer
                    .part(start * 4, integer.bytes() - start * 4)
                    .unwrap()
            })
            .collect();
        plan.run(&regions, workspace.region(), Workers::ALONE)
            .unwrap();
        block
            .bytes()
            .chunks(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    #[test]
    fn an_output_may_overlap_inputs_in_any_way() {
        let one = Arg::Scalar(Scalar::of_f64(1.0));
        for (starts, strides) in [
            ([0, 0, 0], [1, 1, 1]),
            ([0, 8, 4], [1, 1, 1]),
            ([4, 0, 0], [1, 1, 1]),
            ([0, 0, 1], [1, 1, 1]),
            ([1, 0, 0], [1, 2, 1]),
            ([0, 0, 0], [2, 1, 1]),
            ([0, 0, 0], [1, 1, 2]),
        ] {
            let args = [
                part(0, 20, strides[0]),
                part(1, 20, strides[1]),
                one.clone(),
                part(2, 20, strides[2]),
            ];
            let found = run_on_parts("aclnnAdd", &args, &starts);
            let mut wanted: Vec<f32> = (0..64u8).map(f32::from).collect();
            for index in 0..20 {
                let at = |operand: usize| starts[operand] + index * strides[operand] as usize;
                wanted[at(2)] = (at(0) + at(1)) as f32;
            }
            assert_eq!(found, wanted, "{starts:?} {strides:?}");
        }
    }

    #[test]
    fn a_copy_onto_its_own_storage_reads_before_it_writes() {
        for (to, from) in [(1, 0), (0, 1), (5, 0), (0, 5)] {
            let args = [part(0, 30, 1), part(1, 30, 1)];
            let found = run_on_parts("aclnnInplaceCopy", &args, &[to, from]);
            for index in 0..30 {
                assert_eq!(found[to + index], (from + index) as f32, "{to} {from}");
            }
        }
    }

    #[test]
    fn plans_of_several_steps_read_inputs_that_their_outputs_overlap() {
        // The gradient of a gated unit writes its halves in two steps, and each reads both halves of the input.
        let tensor = |buffer, dims: &[i64]| {
            let desc = TensorDesc::contiguous(DataType::Float32, dims);
            Arg::Tensor(TensorArg { desc, buffer })
        };
        let run = |starts: &[usize]| {
            let args = [
                tensor(0, &[4]),
                tensor(1, &[8]),
                Arg::Int(0),
                tensor(2, &[8]),
            ];
            let found = run_on_parts("aclnnSwiGluGrad", &args, starts);
            found[starts[2]..starts[2] + 8].to_vec()
        };
        let disjoint = run(&[0, 8, 40]);
        assert_eq!(run(&[0, 8, 8]), disjoint);
        assert_eq!(run(&[0, 8, 11]), disjoint);
        assert_eq!(run(&[0, 8, 0]), disjoint);
    }

    #[test]
    fn a_batch_times_one_matrix_is_the_product_of_each_entry() {
        // Integers, so that every order of sums has the same bits. The storage has 64 elements with the values 0 to 63.
        let (count, rows, depth, columns) = (2, 2, 3, 2);
        let tensor = |buffer, dims: &[i64], strides: &[i64]| {
            let mut desc = TensorDesc::contiguous(DataType::Float32, dims);
            desc.strides = Dims::new(strides);
            desc.storage = Dims::new(&[64]);
            Arg::Tensor(TensorArg { desc, buffer })
        };
        for (one, two, out) in [
            // Dense, so that the rows of the batch are those of one matrix.
            ([6, 3, 1], [2, 1], [4, 2, 1]),
            // The matrix is transposed; the rows of the batch have gaps of equal size.
            ([8, 4, 1], [1, 3], [4, 2, 1]),
            // The batch cannot be seen as one matrix, nor can the product.
            ([7, 3, 1], [2, 1], [4, 2, 1]),
            ([1, 2, 4], [2, 1], [4, 2, 1]),
            ([6, 3, 1], [2, 1], [5, 2, 1]),
        ] {
            let args = [
                tensor(0, &[count, rows, depth], &one),
                tensor(1, &[depth, columns], &two),
                tensor(2, &[count, rows, columns], &out),
                Arg::Int(0),
            ];
            let starts = [0, 20, 40];
            let found = run_on_parts("aclnnMatmul", &args, &starts);
            for index in 0..count * rows * columns {
                let axes = [index / 4, index / 2 % 2, index % 2];
                let at = |start: usize, offset: i64| start as i64 + offset;
                let wanted: i64 = (0..depth)
                    .map(|inner| {
                        let one = at(
                            starts[0],
                            axes[0] * one[0] + axes[1] * one[1] + inner * one[2],
                        );
                        one * at(starts[1], inner * two[0] + axes[2] * two[1])
                    })
                    .sum();
                let offset = axes[0] * out[0] + axes[1] * out[1] + axes[2] * out[2];
                let value = found[at(starts[2], offset) as usize];
                assert_eq!(value, wanted as f32, "{one:?} {two:?} {out:?} {index}");
            }
        }
    }

    #[test]
    fn geometry_that_no_memory_has_is_refused() {
        type Edit = fn(&mut TensorDesc);
        let edits: [(&str, Edit); 8] = [
            ("9 dimensions", |desc| {
                *desc = TensorDesc::contiguous(DataType::Float32, &[1; 9])
            }),
            ("shape [-1]", |desc| desc.dims = Dims::new(&[-1])),
            ("strides must not be negative", |desc| {
                desc.strides = Dims::new(&[-1])
            }),
            ("larger than any memory", |desc| {
                desc.dims = Dims::new(&[1 << 62])
            }),
            ("larger than any memory", |desc| {
                desc.strides = Dims::new(&[i64::MAX])
            }),
            ("the offset -1", |desc| desc.offset = -1),
            ("the storage [-3]", |desc| desc.storage = Dims::new(&[-3])),
            ("one number of at least 0 a dimension", |desc| {
                desc.strides = Dims::new(&[])
            }),
        ];
        for (sentence, edit) in edits {
            let good = TensorDesc::contiguous(DataType::Float32, &[4]);
            let mut bad = good.clone();
            edit(&mut bad);
            let args = [bad, good.clone()].map(|desc| Arg::Tensor(TensorArg { desc, buffer: 0 }));
            let refusal = plan(signature("aclnnExp"), &args).unwrap_err();
            assert_eq!(refusal.status().code(), 161_002);
            assert!(refusal.text().contains(sentence), "{refusal}");
            assert!(refusal.text().starts_with("self "), "{refusal}");
        }
        let repeated = part(1, 4, 0);
        let refusal = plan(signature("aclnnExp"), &[part(0, 4, 1), repeated]).unwrap_err();
        assert!(
            refusal.text().contains("must not share memory"),
            "{refusal}"
        );
        let huge = |buffer| {
            let mut desc = TensorDesc::contiguous(DataType::Float32, &[1 << 31, 1 << 31]);
            desc.strides = Dims::new(&[0, 0]);
            Arg::Tensor(TensorArg { desc, buffer })
        };
        let refusal = plan(signature("aclnnExp"), &[huge(0), part(1, 4, 1)]).unwrap_err();
        assert!(
            refusal.text().contains("larger than any memory"),
            "{refusal}"
        );
    }

    #[test]
    fn a_tensor_beyond_its_described_storage_is_marked_for_the_caller() {
        type Edit = fn(&mut TensorDesc);
        let edits: [(bool, Edit); 4] = [
            (false, |_| {}),
            (true, |desc| desc.offset = 1),
            (true, |desc| desc.storage = Dims::new(&[3])),
            (true, |desc| desc.strides = Dims::new(&[2])),
        ];
        for (is_beyond, edit) in edits {
            let good = TensorDesc::contiguous(DataType::Float32, &[4]);
            let mut one = good.clone();
            edit(&mut one);
            let tensor = |desc, buffer| Arg::Tensor(TensorArg { desc, buffer });
            let args = [tensor(one, 0), tensor(good, 1)];
            let plan = plan(signature("aclnnExp"), &args).unwrap();
            let found: Vec<bool> = plan
                .accesses()
                .iter()
                .map(|one| one.beyond_storage)
                .collect();
            assert_eq!(found, [is_beyond, false]);
        }
    }

    #[test]
    fn a_call_that_does_not_match_its_signature_or_has_no_kernel_is_refused() {
        let status = |name, args: &[Arg]| plan(signature(name), args).unwrap_err().status().code();
        assert_eq!(status("aclnnExp", &[]), 561_000);
        assert_eq!(status("aclnnExp", &[Arg::Int(1), part(0, 4, 1)]), 561_000);
        static UNKNOWN: crate::Signature = crate::Signature {
            name: "aclnnNoSuchOperator",
            params: &[],
        };
        let refusal = plan(&UNKNOWN, &[]).unwrap_err();
        assert_eq!(refusal.status().code(), 561_003);
    }

    #[test]
    fn a_region_that_is_too_small_is_refused_when_the_plan_runs() {
        let plan = plan(signature("aclnnExp"), &[part(0, 4, 1), part(1, 4, 1)]).unwrap();
        assert_eq!(plan.accesses()[1].bytes(), 16);
        let (mut one, mut two) = (Block::zeroed(16), Block::zeroed(15));
        let error = plan.run(&[one.region(), two.region()], Region::EMPTY, Workers::ALONE);
        assert_eq!(error.unwrap_err().kind(), OpErrorKind::Buffer);
        assert!(plan.run(&[], Region::EMPTY, Workers::ALONE).is_err());
    }
}
