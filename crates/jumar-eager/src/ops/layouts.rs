//! Matrices in the layout of products, and back.

use jumar_types::dtype::DataType;

use super::Table;
use super::products::unpacked_matrices;
use crate::build::Cx;
use crate::{Arg, Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnNpuFormatCast", format_cast),
    ("aclnnTransMatmulWeight", trans_weight),
];

const TYPES: &[DataType] = &[
    DataType::Int8,
    DataType::UInt8,
    DataType::Int32,
    DataType::UInt32,
    DataType::Float32,
    DataType::Float16,
    DataType::BFloat16,
];

/// Rows of a block.
const ROWS: usize = 16;

/// What a tensor's format says about its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Row by row.
    Plain,
    /// In blocks of 16 rows.
    Blocks,
}

fn form(cx: &Cx<'_>, param: &str) -> Result<Form, Refusal> {
    let Arg::Tensor(tensor) = cx.arg(param)? else {
        return Err(cx.null(param));
    };
    match tensor.desc.format {
        // ND, NCHW, NHWC, NCDHW, NCL: the dimensions say how the elements lie.
        -1 | 0 | 1 | 2 | 30 | 47 => Ok(Form::Plain),
        // FRACTAL_NZ, and those with 16 and 32 columns in a block.
        29 | 50 | 51 => Ok(Form::Blocks),
        other => Err(cx.unsupported(format_args!(
            "{param} has the format {other}; casts between ND and FRACTAL_NZ are supported"
        ))),
    }
}

/// Writes a tensor in another format.
fn format_cast(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (from, to) = (cx.tensor("srcTensor")?, cx.tensor("dstTensor")?);
    if from.dtype().is_float() && from.dtype().bits() <= 8 {
        return Err(cx.unsupported(format_args!("casts of {} are not supported", from.dtype())));
    }
    cx.check_types(&from, TYPES)?;
    cx.check_dtype(&to, from.dtype())?;
    cx.check_elements(&[&from])?;
    match (form(cx, "srcTensor")?, form(cx, "dstTensor")?) {
        (Form::Plain, Form::Plain) => {
            cx.check_dims(&to, from.dims())?;
            cx.copy(from, to)
        }
        (Form::Blocks, Form::Blocks) => {
            let (from, to) = (cx.stored("srcTensor")?, cx.stored("dstTensor")?);
            if from.dims() != to.dims() {
                return Err(cx.invalid(format_args!(
                    "srcTensor has blocks of the shape {:?} and dstTensor {:?}; both must be equal",
                    from.dims(),
                    to.dims()
                )));
            }
            cx.copy(from, to)
        }
        (Form::Blocks, Form::Plain) => {
            let &[.., rows, columns] = to.dims() else {
                return Err(cx.invalid(format_args!(
                    "dstTensor has the shape {:?}; it must have at least 2 dimensions",
                    to.dims()
                )));
            };
            let plain = unpacked_matrices(cx, "srcTensor", to.rank(), [rows, columns])?;
            cx.check_dims(&to, plain.dims())?;
            cx.copy(plain, to)
        }
        (Form::Plain, Form::Blocks) => to_blocks(cx),
    }
}

fn to_blocks(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let from = cx.tensor("srcTensor")?;
    let blocks = cx.stored("dstTensor")?;
    let lead = from.rank().saturating_sub(2);
    let fits = match (from.dims(), blocks.dims()) {
        ([outer @ .., rows, columns], [own @ .., wide, tall, height, width]) => {
            let full =
                |count: usize, size: usize, all: usize| size > 0 && count == all.div_ceil(size);
            outer == own
                && *height == ROWS
                && full(*tall, *height, *rows)
                && full(*wide, *width, *columns)
        }
        _ => false,
    };
    if !fits {
        return Err(cx.invalid(format_args!(
            "srcTensor has the shape {:?} and dstTensor the storage {:?}; expected blocks of {ROWS} rows as aclnnNpuFormatCastCalculateSizeAndFormat returns them",
            from.dims(),
            blocks.dims()
        )));
    }
    let dims = blocks.dims().to_vec();
    let [wide, tall, height, width] = [dims[lead], dims[lead + 1], dims[lead + 2], dims[lead + 3]];
    let mut padded = dims[..lead].to_vec();
    padded.extend([tall * height, wide * width]);
    let plain = match from.dims() == padded {
        true => from,
        false => {
            let plain = cx.temporary(from.dtype(), &padded)?;
            cx.fill(Scalar::of_i64(0), plain)?;
            let part = plain.slice(lead, 0, from.dims()[lead], 1).slice(
                lead + 1,
                0,
                from.dims()[lead + 1],
                1,
            );
            cx.copy(from, part)?;
            plain
        }
    };
    let mut split = dims[..lead].to_vec();
    split.extend([tall, height, wide, width]);
    let mut order: Vec<usize> = (0..lead).collect();
    order.extend([lead + 2, lead, lead + 1, lead + 3]);
    let plain = cx.reshaped(plain, &split)?;
    cx.copy(plain.permute(&order), blocks)
}

/// Leaves the weight as it is. A product reads a weight by its shape and strides, unless its storage has the dimensions of
/// blocks; the tensors that programs pass after this call have not.
fn trans_weight(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let weight = cx.tensor("mmWeightRef")?;
    cx.check_types(
        &weight,
        &[
            DataType::Float16,
            DataType::BFloat16,
            DataType::Int8,
            DataType::Float32,
        ],
    )?;
    match weight.rank() {
        2..=6 => Ok(()),
        rank => Err(cx.invalid(format_args!(
            "mmWeightRef has {rank} dimensions; it must have 2 to 6"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use jumar_ops::view::{Block, Region};

    use super::*;
    use crate::{Dims, TensorArg, TensorDesc, Workers, plan};

    /// A tensor of 20 x 35 whose storage is in blocks: larger than the tensor.
    fn in_blocks(buffer: usize) -> Arg {
        let mut desc = TensorDesc::contiguous(DataType::Float32, &[20, 35]);
        desc.format = 29;
        desc.storage = Dims::new(&[5, 2, 16, 8]);
        Arg::Tensor(TensorArg { desc, buffer })
    }

    fn in_rows(buffer: usize) -> Arg {
        let desc = TensorDesc::contiguous(DataType::Float32, &[20, 35]);
        Arg::Tensor(TensorArg { desc, buffer })
    }

    fn cast(args: &[Arg], blocks: &mut [Block]) {
        let mut all = crate::signatures::ALL.iter();
        let signature = all.find(|signature| signature.name == "aclnnNpuFormatCast");
        let plan = plan(signature.expect("it has a signature"), args).expect("it is planned");
        let mut workspace = Block::zeroed(plan.workspace_bytes());
        let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
        plan.run(&regions, workspace.region(), Workers::ALONE)
            .expect("it runs");
    }

    #[test]
    fn a_tensor_with_its_own_shape_over_blocks_is_cast_there_and_back() {
        let values: Vec<u8> = (0..700u16)
            .flat_map(|value| f32::from(value).to_le_bytes())
            .collect();
        let stored = 5 * 2 * 16 * 8 * 4;
        let mut blocks = [Block::of(&values), Block::zeroed(stored)];
        cast(&[in_rows(0), in_blocks(1)], &mut blocks);
        // Row 17, column 9: the second block of columns, the second of rows, its second row and column.
        let element = ((3 * 16 + 1) * 8 + 1) * 4;
        let found = &blocks[1].bytes()[element..element + 4];
        assert_eq!(found, f32::from(17 * 35 + 9u16).to_le_bytes());
        let [_, source] = blocks;
        let mut back = [source, Block::zeroed(values.len())];
        cast(&[in_blocks(0), in_rows(1)], &mut back);
        assert_eq!(back[1].bytes(), values);
    }
}
