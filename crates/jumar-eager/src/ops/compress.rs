//! Compression: keys and values of a sequence to weighted sums of blocks, and numbers to their signs.

use jumar_ops::view::Layout;
use jumar_ops::{Call, Kernel, OpError, Tensor};
use jumar_types::dtype::DataType;

use super::normalization::computed;
use super::operands::FLOATS;
use super::reduction::reduce;
use super::routing::Positions;
use super::sparse::{PageRows, Part};
use super::{Table, index};
use crate::build::{Cx, Operand};
use crate::element::F;
use crate::view::View;
use crate::{Refusal, Scalar};

pub(crate) static TABLE: &Table = &[
    ("aclnnNsaCompress", compress),
    ("aclnnNsaCompressGrad", compress_backward),
    ("aclnnNsaCompressWithCache", compress_last),
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

/// Reads the sizes of windows, which are multiples of 16.
fn window(cx: &Cx<'_>) -> Result<(usize, usize), Refusal> {
    let given = [cx.int("compressBlockSize")?, cx.int("compressStride")?];
    match given.map(usize::try_from) {
        [Ok(size), Ok(stride @ (16 | 32 | 48 | 64))]
            if size.is_multiple_of(16) && (stride..=64).contains(&size) =>
        {
            Ok((size, stride))
        }
        _ => Err(cx.invalid(format_args!(
            "compressBlockSize and compressStride are {given:?}; both must be multiples of 16 up to 64, and the first not below the second"
        ))),
    }
}

/// Compresses the last window of each sequence that has just filled one, and stores it in a cache of which the other rows stay.
fn compress_last(cx: &mut Cx<'_>) -> Result<(), Refusal> {
    let (input, weight, cache) = (
        cx.tensor("input")?,
        cx.tensor("weight")?,
        cx.out("outputCache")?,
    );
    let slots = cx.tensor("slotMapping")?;
    cx.check_types(&input, &[DataType::Float16, DataType::BFloat16])?;
    for view in [&weight, &cache] {
        cx.check_dtype(view, input.dtype())?;
    }
    cx.check_dtype(&slots, DataType::Int32)?;
    let (size, stride) = window(cx)?;
    if cx.int("actSeqLenType")? != 1 {
        return Err(cx.invalid(format_args!(
            "actSeqLenType is {}; it must be 1, for the lengths of sequences",
            cx.int("actSeqLenType")?
        )));
    }
    let table = cx.optional("blockTableOptional")?;
    let (tokens, heads, width) = match (input.dims(), &table) {
        (&[pages, page, heads, width], Some(_)) => (pages * page, heads, width),
        (&[tokens, heads, width], None) => (tokens, heads, width),
        _ => {
            return Err(cx.invalid(format_args!(
                "input has the shape {:?}; it must have pages, tokens, heads and width with blockTableOptional, and else the last three",
                input.dims()
            )));
        }
    };
    cx.check_dims(&weight, &[size, heads])?;
    cx.check_elements(&[&input, &cache])?;
    cx.check_not_scalar(&cache)?;
    let rows = cache.dims()[0];
    cx.check_dims(&cache, &[rows, heads, width])?;
    let Some(lens) = cx.optional_ints("actSeqLenOptional")? else {
        return Err(cx.null("actSeqLenOptional"));
    };
    let lens = lens.to_vec();
    cx.check_dims(&slots, &[lens.len()])?;
    let mut most = tokens;
    let mut pages = None;
    if let Some(table) = table {
        let page = input.dims()[1];
        if cx.int("pageBlockSize")? != page as i64 || !matches!(page, 64 | 128) {
            return Err(cx.invalid(format_args!(
                "pageBlockSize is {}, and input has pages of {page} tokens; both must be equal, and 64 or 128",
                cx.int("pageBlockSize")?
            )));
        }
        cx.check_dtype(&table, DataType::Int32)?;
        let &[batch, columns] = table.dims() else {
            return Err(cx.invalid(format_args!(
                "blockTableOptional has the shape {:?}; expected two dimensions",
                table.dims()
            )));
        };
        if batch != lens.len() {
            return Err(cx.invalid(format_args!(
                "blockTableOptional has {batch} rows; expected one for each of {} sequences",
                lens.len()
            )));
        }
        most = columns * page;
        pages = Some((table, columns, page));
    } else if cx.text("layoutOptional")? != "TND" {
        return Err(cx.invalid(format_args!(
            "layoutOptional is {:?}; it must be \"TND\"",
            cx.text("layoutOptional")?
        )));
    }
    // The sequences whose last token is the last one of a window, and where each begins.
    let (mut parts, mut starts, mut start) = (Vec::new(), Vec::new(), 0);
    for (sequence, &len) in lens.iter().enumerate() {
        let own = usize::try_from(len).ok().filter(|own| *own <= most);
        let Some(own) = own.filter(|own| pages.is_some() || *own <= tokens - start) else {
            return Err(cx.invalid(format_args!(
                "actSeqLenOptional is {lens:?}; the lengths of sequences must not be negative, and not exceed the tokens of input"
            )));
        };
        if own >= size && (own - size).is_multiple_of(stride) {
            parts.push(Part {
                sequence,
                first: own - size,
                count: size,
            });
            starts.push(start);
        }
        start += own;
    }
    if parts.is_empty() {
        return Ok(());
    }
    let count = parts.len();
    let full = parts
        .iter()
        .map(|part| part.sequence as i64)
        .collect::<Vec<_>>();
    let positions = match pages {
        Some((table, columns, page)) => {
            let positions = cx.temporary(DataType::Int64, &[count * size])?;
            let kernel = PageRows {
                operator: cx.name(),
                parts,
                columns,
                pages: input.dims()[0],
                size: page,
            };
            let table = cx.cast(table, DataType::Int64)?;
            let table = cx.dense(table)?;
            cx.kernel(Box::new(kernel), &[Some(table)], &[positions], false)?;
            positions
        }
        None => {
            let rows = parts.iter().zip(&starts).flat_map(|(part, start)| {
                let first = start + part.first;
                (first..first + part.count).map(|row| row as i64)
            });
            cx.constant(&Tensor::from_ints(&rows.collect::<Vec<_>>()))?
        }
    };
    let table = cx.reshaped(input, &[tokens, heads * width])?;
    let gathered = cx.temporary(input.dtype(), &[count * size, heads * width])?;
    index::rows_at(cx, table, positions, gathered)?;
    let windows = cx.reshaped(gathered, &[count, size, heads, width])?;
    let operands = [
        Operand::Tensor(windows),
        Operand::Tensor(weight.unsqueeze(2)),
    ];
    let terms = computed(cx, F::Mul, DataType::Float32, &operands, windows.dims())?;
    let sums = cx.temporary(DataType::Float32, &[count, heads, width])?;
    reduce(cx, "ReduceSum", terms, &[1], false, sums)?;
    let slots = cx.cast(slots, DataType::Int64)?;
    let slots = cx.dense(slots)?;
    let full = cx.constant(&Tensor::from_ints(&full))?;
    let (chosen, checked) = (
        cx.temporary(DataType::Int64, &[count])?,
        cx.temporary(DataType::Int64, &[count])?,
    );
    index::rows_at(cx, slots, full, chosen)?;
    let kernel = Positions {
        operator: cx.name(),
        size: rows,
        lenient: false,
    };
    cx.kernel(Box::new(kernel), &[Some(chosen)], &[checked], false)?;
    index::rows_in(cx, sums, checked, cache)
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
