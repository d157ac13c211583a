//! Runs one operator on host tensors: constant folding and tests.

use crate::view::{Block, Region};
use crate::{
    Attrs, BufferKind, Call, InferCx, Memory, OpError, Operand, Operator, PrepareCx, Tensor,
    TensorType, Workers,
};

/// The most work memory that an operator gets here. It comes from the allocator, which ends the process when it fails.
///
/// # Units
///
/// Bytes.
const MOST_SCRATCH: usize = 1 << 30;

/// Computes one operator on tensors whose values are known.
///
/// # Errors
///
/// Whatever the operator refuses.
pub fn compute(
    operator: &Operator,
    inputs: &[Option<&Tensor>],
    attrs: &Attrs,
) -> Result<Vec<Tensor>, OpError> {
    let types: Vec<Option<&TensorType>> =
        inputs.iter().map(|input| input.map(Tensor::ty)).collect();
    compute_known(operator, &types, inputs, attrs)
}

/// Computes one operator where types are known and values as far as it reads them: an operator that
/// [reads only shapes](Operator::reads_only_shapes) needs no values at all.
///
/// # Errors
///
/// Whatever the operator refuses.
pub fn compute_known(
    operator: &Operator,
    types: &[Option<&TensorType>],
    inputs: &[Option<&Tensor>],
    attrs: &Attrs,
) -> Result<Vec<Tensor>, OpError> {
    let cx = InferCx::new(types, inputs, attrs);
    let output_types = operator.infer(&cx)?;
    let kernel = operator.prepare(&PrepareCx::new(cx, &output_types)?)?;
    let mut operands = Vec::with_capacity(inputs.len());
    let mut regions = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        operands.push(match input {
            Some(tensor) => Some(Operand::dense(
                BufferKind::Input(index as u32),
                0,
                tensor.ty(),
            )?),
            None => None,
        });
        regions.push(input.map_or(Region::EMPTY, |tensor| Region::shared(tensor.bytes())));
    }
    let mut blocks = Vec::with_capacity(output_types.len());
    let mut results = Vec::with_capacity(output_types.len());
    for (index, ty) in output_types.iter().enumerate() {
        let operand = Operand::dense(BufferKind::Output(index as u32), 0, ty)?;
        blocks.push(Block::zeroed(operand.bytes()));
        results.push(operand);
    }
    let scratch_bytes = kernel.scratch_bytes();
    if scratch_bytes > MOST_SCRATCH {
        return Err(OpError::too_large(format!(
            "{} needs {scratch_bytes} bytes of work memory",
            operator.name
        )));
    }
    let mut scratch = Block::zeroed(scratch_bytes);
    {
        let outputs: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
        let memory = Memory {
            weights: Region::EMPTY,
            arena: scratch.region(),
            constants: Region::EMPTY,
            inputs: &regions,
            outputs: &outputs,
            workers: Workers::ALONE,
        };
        kernel.run(&Call::new(
            &operands,
            &results,
            (0, scratch_bytes),
            &memory,
        )?)?;
    }
    output_types
        .iter()
        .zip(&blocks)
        .map(|(ty, block)| {
            let dims = ty
                .dims()
                .ok_or_else(|| OpError::internal("an output of unknown shape"))?;
            Tensor::new(ty.dtype, &dims, block.bytes().to_vec())
        })
        .collect()
}
