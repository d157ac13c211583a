//! Compression: keys and values of a sequence to weighted sums of blocks, and numbers to their signs.

use jumar_ops::view::Layout;
use jumar_ops::{Call, Kernel, OpError};
use jumar_types::dtype::DataType;

use super::Table;
use super::normalization::computed;
use super::operands::FLOATS;
use super::reduction::reduce;
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnNsaCompress", compress),
    ("aclnnNsaCompressGrad", compress_backward),
    ("aclnnSignBitsPack", pack_signs),
];

/// The blocks of joined sequences: a block starts at every stride.
struct Blocks {
    size: usize,
    stride: usize,
    /// For each sequence the first token, and the number of blocks.
    sequences: Vec<(usize, usize)>,
}

impl Blocks {
    fn new(cx: &Cx<'_>, input: &View, weight: &View, names: [&str; 2]) -> Result<Blocks, Refusal> {
        cx.check_types(input, FLOATS)?;
        cx.check_dtype(weight, input.dtype())?;
        let given = [cx.int("compressBlockSize")?, cx.int("compressStride")?];
        let [Ok(size @ 1..), Ok(stride @ 1..)] = given.map(usize::try_from) else {
            return Err(cx.invalid(format_args!(
                "compressBlockSize and compressStride are {given:?}; both must be positive"
            )));
        };
        let &[tokens, heads, _] = input.dims() else {
            return Err(cx.invalid(format_args!(
                "input has the shape {:?}; tokens, heads and width are required",
                input.dims()
            )));
        };
        cx.check_dims(weight, &[size, heads])?;
        let [lengths, layout] = names;
        let layout = match cx.arg(layout)? {
            crate::Arg::Null => "TND",
            _ => cx.text(layout)?,
        };
        if layout != "TND" || cx.int("actSeqLenType")? != 0 {
            return Err(cx.unsupported(format_args!(
                "the layout {layout:?} with actSeqLenType {} is not computed; TND with 0, the ends of sequences, is",
                cx.int("actSeqLenType")?
            )));
        }
        let Some(ends) = cx.optional_ints(lengths)? else {
            return Err(cx.null(lengths));
        };
        let mut sequences = Vec::with_capacity(ends.len());
        let mut start = 0;
        for &end in ends {
            let next = usize::try_from(end)
                .ok()
                .filter(|&end| end >= start && end <= tokens);
            let Some(next) = next else {
                return Err(cx.invalid(format_args!(
                    "{lengths} is {ends:?}; the ends of sequences must not fall, and not lie behind {tokens} tokens"
                )));
            };
            let len = next - start;
            let count = match len >= size {
                true => (len - size) / stride + 1,
                false => 0,
            };
            sequences.push((start, count));
            start = next;
        }
        Ok(Blocks {
            size,
            stride,
            sequences,
        })
    }

    fn count(&self) -> usize {
        self.sequences.iter().map(|(_, count)| count).sum()
    }

    /// Returns the blocks of a sequence as a view: block, token in the block, head, width. Blocks share tokens.
    fn windows(
        &self,
        cx: &Cx<'_>,
        input: &View,
        start: usize,
        count: usize,
    ) -> Result<View, Refusal> {
        let (strides, dims) = (input.strides(), input.dims());
        let layout = Layout::strided(
            &[count, self.size, dims[1], dims[2]],
            &[
                self.stride as isize * strides[0],
                strides[0],
                strides[1],
                strides[2],
            ],
        );
        let layout = layout.ok_or_else(|| cx.defect("windows have a layout"))?;
        let offset = input.offset() + start * strides[0] as usize;
        Ok(View::new(input.base, input.dtype(), offset, layout))
    }
}

fn compress(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, weight, out) = (cx.tensor("input")?, cx.tensor("weight")?, cx.out("output")?);
    let blocks = Blocks::new(cx, &input, &weight, ["actSeqLenOptional", "layoutOptional"])?;
    cx.check_dtype(&out, input.dtype())?;
    let (heads, width) = (input.dims()[1], input.dims()[2]);
    cx.check_dims(&out, &[blocks.count(), heads, width])?;
    let compute = DataType::Float32;
    let weight = weight.unsqueeze(2);
    let mut written = 0;
    for &(start, count) in &blocks.sequences {
        if count == 0 {
            continue;
        }
        let windows = blocks.windows(cx, &input, start, count)?;
        let operands = [Operand::Tensor(windows), Operand::Tensor(weight)];
        let terms = computed(cx, F::Mul, compute, &operands, windows.dims())?;
        let to = out.slice(0, written, count, 1);
        reduce(cx, "ReduceSum", terms, &[1], false, to)?;
        written += count;
    }
    Ok(())
}

fn compress_backward(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (gradient, input, weight) = (
        cx.tensor("outputGrad")?,
        cx.tensor("input")?,
        cx.tensor("weight")?,
    );
    let (to_input, to_weight) = (cx.out("inputGradOut")?, cx.out("weightGradOut")?);
    let names = ["actSeqLenOptionalOptional", "layoutOptionalOptional"];
    let blocks = Blocks::new(cx, &input, &weight, names)?;
    let (heads, width) = (input.dims()[1], input.dims()[2]);
    cx.check_dtype(&gradient, input.dtype())?;
    cx.check_dims(&gradient, &[blocks.count(), heads, width])?;
    cx.check_dims(&to_input, input.dims())?;
    cx.check_dims(&to_weight, weight.dims())?;
    let compute = DataType::Float32;
    let input_sums = cx.temporary(compute, input.dims())?;
    let weight_sums = cx.temporary(compute, weight.dims())?;
    cx.fill(Scalar::of_i64(0), input_sums)?;
    cx.fill(Scalar::of_i64(0), weight_sums)?;
    let gradient = cx.cast(gradient, compute)?;
    let mut read = 0;
    for &(start, count) in &blocks.sequences {
        if count == 0 || input.is_empty() {
            continue;
        }
        let own = gradient.slice(0, read, count, 1);
        read += count;
        let windows = blocks.windows(cx, &input, start, count)?;
        let operands = [Operand::Tensor(windows), Operand::Tensor(own.unsqueeze(1))];
        let terms = computed(cx, F::Mul, compute, &operands, windows.dims())?;
        let sum = cx.temporary(compute, weight.dims())?;
        reduce(cx, "ReduceSum", terms, &[0, 3], false, sum)?;
        let operands = [Operand::Tensor(weight_sums), Operand::Tensor(sum)];
        cx.map(F::Add, compute, &operands, weight_sums)?;
        for token in 0..blocks.size {
            // Every block adds to its own token: no two of these are the same.
            let to = input_sums.slice(0, start + token, count, blocks.stride);
            let factor = weight.select(0, token).unsqueeze(1);
            let operands = [
                Operand::Tensor(to),
                Operand::Tensor(own),
                Operand::Tensor(factor),
            ];
            cx.map(F::AddScaled, compute, &operands, to)?;
        }
    }
    cx.copy(input_sums, to_input)?;
    cx.copy(weight_sums, to_weight)
}

/// Packs signs: bit `i % 8` of byte `i / 8` is set where number `i` is not negative. Bits behind the last number are clear.
struct Signs;

impl Kernel for Signs {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (x, out) = (call.input::<f32>(0)?.flat(), call.output::<u8>(0)?.flat());
        for byte in 0..out.len() {
            let first = 8 * byte;
            let bits = (first..x.len().min(first + 8)).filter(|&at| x.get(at) >= 0.0);
            out.set(byte, bits.fold(0, |all, at| all | 1 << (at - first)));
        }
        Ok(())
    }
}

fn pack_signs(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (x, out, size) = (cx.tensor("self")?, cx.out("out")?, cx.int("size")?);
    cx.check_types(&x, &[DataType::Float32, DataType::Float16])?;
    cx.check_dtype(&out, DataType::UInt8)?;
    let &[count] = x.dims() else {
        return Err(cx.invalid(format_args!(
            "self has the shape {:?}; one dimension is required",
            x.dims()
        )));
    };
    let bytes = count.div_ceil(8);
    let rows = usize::try_from(size)
        .ok()
        .filter(|&rows| rows > 0 && bytes % rows == 0);
    let Some(rows) = rows else {
        return Err(cx.invalid(format_args!(
            "size is {size}; it must be positive and divide the {bytes} bytes of {count} signs"
        )));
    };
    cx.check_dims(&out, &[rows, bytes / rows])?;
    if out.is_empty() {
        return Ok(());
    }
    let x = cx.cast(x, DataType::Float32)?;
    let x = cx.dense(x)?;
    let result = cx.temporary(DataType::UInt8, out.dims())?;
    cx.kernel(Box::new(Signs), &[Some(x)], &[result], false)?;
    cx.copy(result, out)
}
