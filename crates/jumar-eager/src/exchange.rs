//! Collectives between the steps of a plan.

use jumar_ops::{BufferKind, Operand};
use jumar_types::dtype::DataType;

use crate::Group;
use crate::plan::bytes;

/// What the ranks of a communicator do. Sums are formed in the order of the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// Each rank gets the sum of what all ranks provide.
    AllReduce,
    /// Each rank gets what all ranks provide, in the order of the ranks.
    AllGather,
    /// Each rank gets its part of the sum of what all ranks provide.
    ReduceScatter,
    /// Each rank gets its part of what each rank provides.
    AllToAll,
    /// As `AllToAll`, with parts of different lengths, which lie one behind the other.
    AllToAllV {
        /// The elements for each rank.
        send: Vec<u64>,
        /// The elements from each rank.
        receive: Vec<u64>,
    },
    /// No rank continues before all have come.
    Barrier,
}

/// Memory of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// A tensor argument: see [`TensorArg::buffer`](crate::TensorArg::buffer).
    Tensor(usize),
    /// The workspace.
    Workspace,
}

/// A collective of a communicator between two steps.
#[derive(Clone, Debug)]
pub struct Exchange {
    before: usize,
    group: Group,
    transfer: Transfer,
    dtype: DataType,
    count: u64,
    mark: Vec<usize>,
    send: Option<Operand>,
    receive: Option<Operand>,
}

impl Exchange {
    pub(crate) fn new(
        before: usize,
        group: &Group,
        transfer: Transfer,
        (dtype, count): (DataType, usize),
        mark: Vec<usize>,
    ) -> Exchange {
        Exchange {
            before,
            group: group.clone(),
            transfer,
            dtype,
            count: count as u64,
            mark,
            send: None,
            receive: None,
        }
    }

    pub(crate) fn connect(&mut self, send: Option<Operand>, receive: Option<Operand>) {
        (self.send, self.receive) = (send, receive);
    }

    /// Returns the number of steps before it.
    pub fn before(&self) -> usize {
        self.before
    }

    /// Returns the communicator as the call was planned with it.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Returns what the ranks do.
    pub fn transfer(&self) -> &Transfer {
        &self.transfer
    }

    /// Returns the type of the elements.
    pub fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the count argument of the collective: the elements of the smaller buffer.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns numbers that have to be equal on all ranks.
    pub fn mark(&self) -> &[usize] {
        &self.mark
    }

    /// Returns where the data lie that this rank provides: the memory, the first byte and the number of bytes.
    pub fn send(&self) -> Option<(Memory, usize, usize)> {
        self.send.as_ref().and_then(extent)
    }

    /// Returns where the data go that this rank gets.
    pub fn receive(&self) -> Option<(Memory, usize, usize)> {
        self.receive.as_ref().and_then(extent)
    }

    /// Reports whether it reads a tensor argument.
    pub(crate) fn reads(&self, tensor: usize) -> bool {
        touches(self.send(), tensor)
    }

    /// Reports whether it writes a tensor argument.
    pub(crate) fn writes(&self, tensor: usize) -> bool {
        touches(self.receive(), tensor)
    }
}

fn touches(extent: Option<(Memory, usize, usize)>, tensor: usize) -> bool {
    extent.is_some_and(|(memory, ..)| memory == Memory::Tensor(tensor))
}

fn extent(operand: &Operand) -> Option<(Memory, usize, usize)> {
    let memory = match operand.buffer() {
        BufferKind::Input(tensor) | BufferKind::Output(tensor) => Memory::Tensor(tensor as usize),
        BufferKind::Arena => Memory::Workspace,
        _ => return None,
    };
    let bytes = bytes(operand.dtype(), operand.layout().elements());
    Some((memory, operand.offset(), bytes))
}
