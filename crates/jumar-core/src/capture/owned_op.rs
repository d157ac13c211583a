//! An operation that outlives the call that it came in with.

use jumar_hal::Span;

use super::TaskKind;
use crate::gate::Op;

/// An operation of a captured task: what [`Op`] says, owned.
#[derive(Clone, Debug)]
pub(crate) struct OwnedOp {
    /// The operation; what a launch borrows stands in the fields below.
    op: Op<'static>,
    name: Box<str>,
    reads: Box<[Span]>,
    writes: Box<[Span]>,
    pieces: Box<[(Span, Span)]>,
}

impl OwnedOp {
    /// Keeps an operation.
    pub(crate) fn new(op: &Op<'_>) -> OwnedOp {
        let mut owned_op = OwnedOp {
            op: Op::WaitForContext { streams: &[] },
            name: "".into(),
            reads: Box::default(),
            writes: Box::default(),
            pieces: Box::default(),
        };
        owned_op.op = match *op {
            Op::Launch {
                name,
                reads,
                writes,
            } => {
                owned_op.name = name.into();
                owned_op.reads = reads.into();
                owned_op.writes = writes.into();
                Op::Launch {
                    name: "",
                    reads: &[],
                    writes: &[],
                }
            }
            Op::Allocate { span, device } => Op::Allocate { span, device },
            Op::Free { span, device } => Op::Free { span, device },
            Op::Copy {
                to,
                from,
                direction,
            } => {
                owned_op.reads = [from].into();
                owned_op.writes = [to].into();
                Op::Copy {
                    to,
                    from,
                    direction,
                }
            }
            Op::CopyRows {
                to,
                from,
                direction,
            } => {
                owned_op.reads = [from.span].into();
                owned_op.writes = [to.span].into();
                Op::CopyRows {
                    to,
                    from,
                    direction,
                }
            }
            Op::CopyBatch { pieces, direction } => {
                owned_op.reads = pieces.iter().map(|(_, from)| *from).collect();
                owned_op.writes = pieces.iter().map(|(to, _)| *to).collect();
                owned_op.pieces = pieces.into();
                Op::CopyBatch {
                    pieces: &[],
                    direction,
                }
            }
            Op::Fill { to } => {
                owned_op.writes = [to].into();
                Op::Fill { to }
            }
            Op::WriteValue { to, value } => {
                owned_op.writes = [to].into();
                Op::WriteValue { to, value }
            }
            Op::WaitValue { at, value, test } => {
                owned_op.reads = [at].into();
                Op::WaitValue { at, value, test }
            }
            Op::Record { event, record } => Op::Record { event, record },
            Op::Wait {
                event,
                record,
                ends,
            } => Op::Wait {
                event,
                record,
                ends,
            },
            Op::Edge { event, records } => Op::Edge { event, records },
            Op::ResetEvent { event } => Op::ResetEvent { event },
            Op::Callback { blocks } => Op::Callback { blocks },
            Op::WaitForStream => Op::WaitForStream,
            Op::WaitForEvent { event, record } => Op::WaitForEvent { event, record },
            Op::WaitForContext { .. } => Op::WaitForContext { streams: &[] },
        };
        owned_op
    }

    /// Returns the operation as it was.
    pub(crate) fn op(&self) -> Op<'_> {
        match &self.op {
            Op::Launch { .. } => Op::Launch {
                name: &self.name,
                reads: &self.reads,
                writes: &self.writes,
            },
            Op::CopyBatch { direction, .. } => Op::CopyBatch {
                pieces: &self.pieces,
                direction,
            },
            other => other.clone(),
        }
    }

    /// Lists the memory that is read.
    pub(crate) fn reads(&self) -> &[Span] {
        &self.reads
    }

    /// Lists the memory that is written.
    pub(crate) fn writes(&self) -> &[Span] {
        &self.writes
    }

    /// Returns the task kind that programs see.
    pub(crate) fn kind(&self) -> TaskKind {
        match &self.op {
            Op::Launch { .. } => TaskKind::Kernel,
            Op::WriteValue { .. } => TaskKind::ValueWrite,
            Op::WaitValue { .. } => TaskKind::ValueWait,
            Op::Record { .. }
            | Op::Wait { .. }
            | Op::Edge { .. }
            | Op::ResetEvent { .. }
            | Op::Allocate { .. }
            | Op::Free { .. }
            | Op::Copy { .. }
            | Op::CopyRows { .. }
            | Op::CopyBatch { .. }
            | Op::Fill { .. }
            | Op::Callback { .. }
            | Op::WaitForStream
            | Op::WaitForEvent { .. }
            | Op::WaitForContext { .. } => TaskKind::Other,
        }
    }

    /// Names the operation for people.
    pub(crate) fn name(&self) -> &str {
        match &self.op {
            Op::Launch { .. } => &self.name,
            Op::Allocate { .. } => "allocation",
            Op::Free { .. } => "release",
            Op::Copy { direction, .. }
            | Op::CopyRows { direction, .. }
            | Op::CopyBatch { direction, .. } => direction,
            Op::Fill { .. } => "fill",
            Op::WriteValue { .. } => "write of a value",
            Op::WaitValue { .. } => "wait for a value",
            Op::Record { .. } => "record",
            Op::Wait { .. } => "wait",
            Op::Edge { records: true, .. } => "record",
            Op::Edge { .. } => "wait",
            Op::ResetEvent { .. } => "reset of an event",
            Op::Callback { .. } => "host callback",
            Op::WaitForStream | Op::WaitForEvent { .. } | Op::WaitForContext { .. } => {
                "wait of the host"
            }
        }
    }
}
