//! Where a kernel finds its operands.

use jumar_types::dtype::DataType;

use crate::view::{Element, Layout, Region, RowMut, View, ViewMut};
use crate::{OpError, TensorType, Workers};

/// The memory an operand lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BufferKind {
    /// The n-th input, in the caller's buffer.
    Input(u32),
    /// The n-th output, in the caller's buffer.
    Output(u32),
    /// The weights; never written.
    Weight,
    /// The work memory of one execution.
    Arena,
    /// What was computed while the model was planned; never written.
    Constant,
}

/// One tensor of a call: where it lies, its type and its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    buffer: BufferKind,
    offset: usize,
    dtype: DataType,
    layout: Layout,
}

impl Operand {
    /// Describes a dense tensor that starts `offset` bytes into its memory.
    pub fn dense(buffer: BufferKind, offset: usize, ty: &TensorType) -> Result<Operand, OpError> {
        Ok(Operand {
            buffer,
            offset,
            dtype: ty.dtype,
            layout: ty.layout()?,
        })
    }

    /// Describes a tensor with strides of its own.
    pub fn strided(buffer: BufferKind, offset: usize, dtype: DataType, layout: Layout) -> Operand {
        Operand {
            buffer,
            offset,
            dtype,
            layout,
        }
    }

    /// Returns the memory that the tensor lies in.
    pub const fn buffer(&self) -> BufferKind {
        self.buffer
    }

    /// Returns the distance from the start of that memory.
    ///
    /// # Units
    ///
    /// Bytes.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the element type.
    pub const fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns shape and strides.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns the number of bytes from the first element to one past the last.
    pub fn bytes(&self) -> usize {
        self.dtype
            .size_of(self.layout.reach())
            .unwrap_or(usize::MAX)
    }
}

/// The memory of one execution.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a> {
    /// The weights.
    pub weights: Region<'a>,
    /// The work memory.
    pub arena: Region<'a>,
    /// What was computed while the model was planned.
    pub constants: Region<'a>,
    /// The inputs, where the caller put them.
    pub inputs: &'a [Region<'a>],
    /// The outputs, where the caller wants them.
    pub outputs: &'a [Region<'a>],
    /// The threads that the execution may use.
    pub workers: Workers<'a>,
}

impl<'a> Memory<'a> {
    fn region(&self, buffer: BufferKind) -> Option<Region<'a>> {
        match buffer {
            BufferKind::Input(index) => self.inputs.get(index as usize).copied(),
            BufferKind::Output(index) => self.outputs.get(index as usize).copied(),
            BufferKind::Weight => Some(self.weights),
            BufferKind::Arena => Some(self.arena),
            BufferKind::Constant => Some(self.constants),
        }
    }

    /// Finds the bytes of an operand, or says that its memory is too small.
    pub fn find(&self, operand: &Operand) -> Result<Region<'a>, OpError> {
        self.cut(operand.buffer, operand.offset, operand.bytes())
    }

    fn cut(&self, buffer: BufferKind, offset: usize, bytes: usize) -> Result<Region<'a>, OpError> {
        if bytes == 0 {
            return Ok(Region::EMPTY);
        }
        let region = self.region(buffer);
        region
            .and_then(|region| region.part(offset, bytes))
            .ok_or_else(|| {
                let found = region.map_or(0, |region| region.bytes());
                OpError::buffer(format!(
                    "{buffer:?} has {found} bytes where {bytes} from {offset} on are needed"
                ))
            })
    }
}

/// One call of a kernel: its operands and the memory that they lie in.
pub struct Call<'a> {
    inputs: &'a [Option<Operand>],
    outputs: &'a [Operand],
    scratch: Region<'a>,
    memory: &'a Memory<'a>,
}

impl<'a> Call<'a> {
    /// Makes a call. `scratch` is where the kernel's scratch memory starts in the arena, and its length in bytes.
    pub fn new(
        inputs: &'a [Option<Operand>],
        outputs: &'a [Operand],
        scratch: (usize, usize),
        memory: &'a Memory<'a>,
    ) -> Result<Call<'a>, OpError> {
        let scratch = memory.cut(BufferKind::Arena, scratch.0, scratch.1)?;
        Ok(Call {
            inputs,
            outputs,
            scratch,
            memory,
        })
    }

    /// Returns whether an input was given.
    pub fn has_input(&self, index: usize) -> bool {
        self.inputs.get(index).is_some_and(Option::is_some)
    }

    /// Returns the threads among which the kernel may split its work.
    pub fn workers(&self) -> Workers<'a> {
        self.memory.workers
    }

    /// Returns the number of inputs, given or not.
    pub fn inputs(&self) -> usize {
        self.inputs.len()
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// Returns the element type of an input that was given.
    pub fn input_dtype(&self, index: usize) -> Option<DataType> {
        self.inputs
            .get(index)?
            .as_ref()
            .map(|operand| operand.dtype)
    }

    /// Sees an input as a tensor of `T`.
    pub fn input<T: Element>(&self, index: usize) -> Result<View<'a, T>, OpError> {
        match self.inputs.get(index) {
            Some(Some(operand)) => {
                agree::<T>(operand)?;
                View::new(self.memory.find(operand)?, &operand.layout)
            }
            _ => Err(OpError::internal(format!("input {index} is not there"))),
        }
    }

    /// Returns the layout of as many bytes of a dense input as there are, its size at most: a caller's buffer may hold less.
    pub fn bytes_there(&self, index: usize) -> Result<Layout, OpError> {
        let Some(Some(operand)) = self.inputs.get(index) else {
            return Err(OpError::internal(format!("input {index} is not there")));
        };
        let there = self
            .memory
            .region(operand.buffer)
            .map_or(0, |region| region.bytes());
        Layout::dense(&[operand.bytes().min(there.saturating_sub(operand.offset))])
            .ok_or_else(|| OpError::internal("a row of bytes has no layout"))
    }

    /// Sees an input's bytes in a layout of [`Call::bytes_there`].
    pub fn input_bytes(&self, index: usize, layout: &'a Layout) -> Result<View<'a, u8>, OpError> {
        let Some(Some(operand)) = self.inputs.get(index) else {
            return Err(OpError::internal(format!("input {index} is not there")));
        };
        let region = self
            .memory
            .cut(operand.buffer, operand.offset, layout.reach())?;
        View::new(region, layout)
    }

    /// Returns the memory of an input that was given.
    pub fn input_memory(&self, index: usize) -> Result<Region<'a>, OpError> {
        match self.inputs.get(index) {
            Some(Some(operand)) => self.memory.find(operand),
            _ => Err(OpError::internal(format!("input {index} is not there"))),
        }
    }

    /// Returns the memory of an output.
    pub fn output_memory(&self, index: usize) -> Result<Region<'a>, OpError> {
        match self.outputs.get(index) {
            Some(operand) => self.memory.find(operand),
            None => Err(OpError::internal(format!("output {index} is not there"))),
        }
    }

    /// Returns the memory of a call inside this one, whose arena is this one's scratch memory.
    pub(crate) fn inside_scratch(&self) -> Memory<'a> {
        Memory {
            arena: self.scratch,
            ..*self.memory
        }
    }

    /// Returns all of the scratch memory.
    pub fn scratch_memory(&self) -> Region<'a> {
        self.scratch
    }

    /// Sees an output as a tensor of `T`.
    pub fn output<T: Element>(&self, index: usize) -> Result<ViewMut<'a, T>, OpError> {
        match self.outputs.get(index) {
            Some(operand) => {
                agree::<T>(operand)?;
                ViewMut::new(self.memory.find(operand)?, &operand.layout)
            }
            None => Err(OpError::internal(format!("output {index} is not there"))),
        }
    }

    /// Returns the scratch memory as asked for by [`Kernel::scratch_bytes`](crate::Kernel::scratch_bytes).
    pub fn scratch<T: Element>(
        &self,
        offset_bytes: usize,
        len: usize,
    ) -> Result<RowMut<'a, T>, OpError> {
        self.scratch
            .part(offset_bytes, len.saturating_mul(size_of::<T>()))
            .and_then(|region| region.scratch(len))
            .ok_or_else(|| {
                OpError::internal("the scratch memory is smaller than the kernel asked for")
            })
    }
}

/// A tensor may be seen as its own type, or as a plain integer of the same width by kernels that only move elements.
fn agree<T: Element>(operand: &Operand) -> Result<(), OpError> {
    let mover = matches!(
        T::DTYPE,
        None | Some(DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64)
    );
    if T::DTYPE == Some(operand.dtype) || (mover && operand.dtype.size() == Some(size_of::<T>())) {
        Ok(())
    } else {
        Err(OpError::internal(format!(
            "a tensor of {} was read as another type",
            operand.dtype
        )))
    }
}
