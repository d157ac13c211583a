//! Arranges the matrices of a quantised product in blocks.

use jumar_ops::view::Layout;
use jumar_types::dtype::DataType;

use super::blocks::{BLOCK_ROWS, storage};
use crate::build::Cx;
use crate::ops::quant::{QuantisedOutput, unpacked};
use crate::view::View;
use crate::{Refusal, Scalar};

/// Elements of a block with a scale.
const GROUP: usize = 32;

/// Columns of a block of float4 in memory.
const BLOCK_COLUMNS: usize = 32;

/// Checks the parameters that state for which product the matrices are.
fn check_use(cx: &Cx<'_>) -> Result<(), Refusal> {
    for (param, wanted) in [
        ("xDtype", DataType::Float8E4M3Fn),
        ("xScaleDtype", DataType::Float8E8M0),
    ] {
        let dtype = cx.dtype(param)?;
        if dtype != wanted {
            return Err(cx.refuse_type(param, dtype, wanted.name()));
        }
    }
    let group = cx.int("kGroupSize")?;
    if group != GROUP as i64 {
        return Err(cx.invalid(format_args!("kGroupSize is {group}; it must be {GROUP}")));
    }
    for param in ["weightOffsetOptional", "outWeightOffsetOptional"] {
        if cx.optional(param)?.is_some() {
            return Err(cx.invalid(format_args!("{param} must be null")));
        }
    }
    Ok(())
}

/// Refuses a tensor that is not dense when two of its dimensions are swapped.
fn check_swapped(cx: &Cx<'_>, view: &View, axis: usize) -> Result<(), Refusal> {
    match view.transpose(axis, axis + 1).is_dense() {
        true => Ok(()),
        false => Err(cx.invalid(format_args!(
            "{} has the shape {:?} and the strides {:?}; it must be stored with the dimensions {axis} and {} swapped",
            cx.param_of(view),
            view.dims(),
            view.strides(),
            axis + 1
        ))),
    }
}

/// Sees the output as the blocks of its storage. The blocks may be its own dimensions, too.
fn as_blocks(cx: &Cx<'_>, out: View, dims: &[usize], blocks: &[usize]) -> Result<View, Refusal> {
    let held = storage(cx, ("outWeight", None))?;
    if out.dims() == blocks && out.is_dense() {
        return Ok(out);
    }
    match Layout::dense(blocks) {
        Some(layout) if out.dims() == dims && held == blocks && out.offset() == 0 => {
            Ok(View::new(out.base, out.dtype(), 0, layout))
        }
        _ => Err(cx.invalid(format_args!(
            "outWeight has the shape {:?} and the storage {held:?}; expected {dims:?} and {blocks:?}",
            out.dims()
        ))),
    }
}

/// Copies the bias, if there is one.
fn bias(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let Some(bias) = cx.optional("biasOptional")? else {
        return Ok(());
    };
    let out = cx
        .optional("outBiasOptional")?
        .ok_or_else(|| cx.null("outBiasOptional"))?;
    cx.check_types(&bias, &[DataType::Float16, DataType::BFloat16])?;
    cx.check_dtype(&out, bias.dtype())?;
    cx.check_dims(&out, bias.dims())?;
    if bias.is_empty() || !bias.is_dense() || !out.is_dense() {
        return Err(cx.invalid("biasOptional and outBiasOptional must be dense, and not empty"));
    }
    cx.copy(bias, out)
}

/// Stores transposed matrices of float4, as they are in memory, in blocks, and copies their scales.
pub(super) fn weights(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (weight, out) = (cx.tensor("weight")?, cx.out("outWeight")?);
    let (scale, out_scale) = (cx.tensor("weightScale")?, cx.out("outWeightScale")?);
    check_use(cx)?;
    cx.check_dtype(&weight, DataType::Float4E2M1)?;
    cx.check_dtype(&out, DataType::Float4E2M1)?;
    cx.check_dtype(&scale, DataType::Float8E8M0)?;
    cx.check_dtype(&out_scale, DataType::Float8E8M0)?;
    let (lead, depth, columns) = match *weight.dims() {
        [depth, columns] => (0, depth, columns),
        [_, depth, columns] => (1, depth, columns),
        _ => {
            return Err(cx.invalid(format_args!(
                "weight has the shape {:?}; expected 2 or 3 dimensions",
                weight.dims()
            )));
        }
    };
    if weight.is_empty() || !depth.is_multiple_of(GROUP) {
        return Err(cx.invalid(format_args!(
            "weight has the shape {:?}; its depth must be a multiple of {GROUP}, and no dimension 0",
            weight.dims()
        )));
    }
    check_swapped(cx, &weight, lead)?;
    let first = &weight.dims()[..lead];
    let scales = [first, &[depth.div_ceil(2 * GROUP), columns, 2]].concat();
    cx.check_dims(&scale, &scales)?;
    cx.check_dims(&out_scale, &scales)?;
    check_swapped(cx, &scale, lead)?;
    check_swapped(cx, &out_scale, lead)?;
    let (wide, tall) = (depth / BLOCK_COLUMNS, columns.div_ceil(BLOCK_ROWS));
    let blocks = [first, &[wide, tall, BLOCK_ROWS, BLOCK_COLUMNS]].concat();
    let out = as_blocks(cx, out, weight.dims(), &blocks)?;
    let target = QuantisedOutput::codes(cx, out, &blocks, 6.0)?;
    let codes = unpacked(cx, weight)?.transpose(lead, lead + 1);
    // What fills up the last blocks is 0.
    let filled = [first, &[tall * BLOCK_ROWS, depth]].concat();
    let padded = cx.temporary(DataType::Int8, &filled)?;
    if columns < tall * BLOCK_ROWS {
        cx.fill(Scalar::of_i64(0), padded)?;
    }
    cx.copy(codes, padded.slice(lead, 0, columns, 1))?;
    let split = [first, &[tall, BLOCK_ROWS, wide, BLOCK_COLUMNS]].concat();
    let mut order: Vec<usize> = (0..lead).collect();
    order.extend([lead + 2, lead, lead + 1, lead + 3]);
    let arranged = cx.reshaped(padded, &split)?.permute(&order);
    cx.copy(arranged, target.rows)?;
    target.finish(cx)?;
    let [from, to] = [scale, out_scale].map(|view| view.reinterpret(DataType::UInt8));
    cx.copy(from, to)?;
    bias(cx)
}

#[cfg(test)]
mod tests {
    use jumar_ops::view::{Block, Region};
    use jumar_types::dtype::DataType;

    use crate::{Arg, Dims, Status, TensorArg, TensorDesc, Workers, plan};

    /// A tensor, the shape of its storage, and its bytes.
    struct Operand {
        desc: TensorDesc,
        bytes: Vec<u8>,
    }

    fn operand(dtype: DataType, dims: &[i64], strides: &[i64], storage: &[i64]) -> Operand {
        let mut desc = TensorDesc::contiguous(dtype, dims);
        if !strides.is_empty() {
            desc.strides = Dims::new(strides);
        }
        desc.storage = Dims::new(storage);
        let count: i64 = storage.iter().product();
        let bytes = vec![0x33; count as usize * dtype.bits() / 8];
        Operand { desc, bytes }
    }

    fn numbers(bytes: &mut [u8]) {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = (index * 37 % 251) as u8;
        }
    }

    fn nibble(bytes: &[u8], index: usize) -> u8 {
        bytes[index / 2] >> (index % 2 * 4) & 15
    }

    /// The operands for `count` matrices, or for one without a first dimension.
    fn operands(count: Option<i64>, depth: i64, columns: i64) -> Vec<Option<Operand>> {
        let (fours, eights) = (DataType::Float4E2M1, DataType::Float8E8M0);
        let first = |dims: &[i64]| [count.as_slice(), dims].concat();
        let pairs = (depth + 63) / 64;
        let (matrix, scales) = (first(&[depth, columns]), first(&[pairs, columns, 2]));
        let step = |size: i64| count.map(|_| size);
        let turned = [step(depth * columns).as_slice(), &[1, depth]].concat();
        let turned_scales = [step(2 * pairs * columns).as_slice(), &[2, 2 * pairs, 1]].concat();
        let blocks = first(&[depth / 32, (columns + 15) / 16, 16, 32]);
        let scale = || {
            operand(
                eights,
                &scales,
                &turned_scales,
                &first(&[columns, pairs, 2]),
            )
        };
        let bias = || {
            operand(
                DataType::Float16,
                &first(&[columns]),
                &[],
                &first(&[columns]),
            )
        };
        let mut all = vec![
            Some(operand(fours, &matrix, &turned, &first(&[columns, depth]))),
            Some(scale()),
            None,
            Some(bias()),
            Some(operand(fours, &matrix, &[], &blocks)),
            Some(scale()),
            None,
            Some(bias()),
        ];
        for at in [0, 1, 3] {
            numbers(&mut all[at].as_mut().unwrap().bytes);
        }
        all
    }

    /// Runs the operator. Returns the bytes of the operands.
    fn run(operands: &[Option<Operand>], group: i64) -> Result<Vec<Vec<u8>>, Status> {
        let mut args: Vec<Arg> = Vec::new();
        let mut blocks: Vec<Block> = Vec::new();
        for (at, operand) in operands.iter().enumerate() {
            if at == 4 {
                args.push(Arg::Type(DataType::Float8E4M3Fn));
                args.push(Arg::Type(DataType::Float8E8M0));
                args.push(Arg::Int(group));
            }
            args.push(match operand {
                None => Arg::Null,
                Some(operand) => {
                    blocks.push(Block::of(&operand.bytes));
                    Arg::Tensor(TensorArg {
                        desc: operand.desc.clone(),
                        buffer: blocks.len() - 1,
                    })
                }
            });
        }
        let mut all = crate::signatures::ALL.iter();
        let signature = all
            .find(|signature| signature.name == "aclnnWeightQuantPreprocess")
            .unwrap();
        let plan = plan(signature, &args).map_err(|refusal| refusal.status())?;
        let mut workspace = Block::zeroed(plan.workspace_bytes());
        let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
        plan.run(&regions, workspace.region(), Workers::ALONE)
            .unwrap();
        Ok(blocks.iter().map(|block| block.bytes().to_vec()).collect())
    }

    #[test]
    fn matrices_are_stored_in_blocks() {
        for (count, depth, columns) in [(None, 64, 16), (None, 96, 37), (Some(3), 32, 20)] {
            let given = operands(count, depth, columns);
            let found = run(&given, 32).unwrap();
            assert_eq!(found[1], found[4], "the scales");
            assert_eq!(found[2], found[5], "the bias");
            let (depth, columns) = (depth as usize, columns as usize);
            let (wide, tall) = (depth / 32, columns.div_ceil(16));
            for group in 0..count.unwrap_or(1) as usize {
                for (row, column) in
                    (0..tall * 16).flat_map(|row| (0..depth).map(move |k| (row, k)))
                {
                    let block = (group * wide + column / 32) * tall + row / 16;
                    let at = block * 512 + row % 16 * 32 + column % 32;
                    let wanted = match row < columns {
                        true => nibble(&found[0], (group * columns + row) * depth + column),
                        false => 0,
                    };
                    assert_eq!(nibble(&found[3], at), wanted, "{group} {row} {column}");
                }
            }
        }
    }

    #[test]
    fn other_uses_are_refused() {
        let refused = |change: &dyn Fn(&mut Vec<Option<Operand>>)| {
            let mut given = operands(None, 128, 16);
            change(&mut given);
            run(&given, 32).unwrap_err()
        };
        for at in [0, 1, 4, 5, 7] {
            assert_eq!(refused(&|all| all[at] = None), Status::NullPointer, "{at}");
        }
        let invalid = Status::Invalid;
        for at in [2, 6] {
            let change =
                |all: &mut Vec<Option<Operand>>| all[at] = operands(None, 128, 16)[3].take();
            assert_eq!(refused(&change), invalid, "{at}");
        }
        // Matrices and scales that are not transposed; blocks of another matrix; another type.
        for (at, strides) in [(0, [16, 1].as_slice()), (1, &[32, 2, 1])] {
            let change = |all: &mut Vec<Option<Operand>>| {
                all[at].as_mut().unwrap().desc.strides = Dims::new(strides);
            };
            assert_eq!(refused(&change), invalid, "{at}");
        }
        let change = |all: &mut Vec<Option<Operand>>| all[4] = operands(None, 128, 32)[4].take();
        assert_eq!(refused(&change), invalid);
        let change = |all: &mut Vec<Option<Operand>>| all[1] = operands(None, 128, 32)[1].take();
        assert_eq!(refused(&change), invalid);
        assert_eq!(
            refused(&|all| all[0].as_mut().unwrap().desc.dtype = DataType::Float4E1M2),
            invalid
        );
        assert_eq!(run(&operands(None, 128, 16), 64).unwrap_err(), invalid);
    }
}
