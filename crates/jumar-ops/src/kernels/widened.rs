//! Kernels of float32 on operands of float16 and bfloat16.
//!
//! Operands are widened in scratch memory, and the result is rounded once, at the end: a tile of float32 multiplies many times as fast as
//! numbers that are converted one at a time.

use std::marker::PhantomData;

use jumar_types::dtype::DataType;

use super::generic::Product;
use super::matmul::{FEW, Shape};
use crate::call::Memory;
use crate::simd::PANEL;
use crate::simd::convert::{LowPrecision, round, round_to, widen};
use crate::view::{BF16, F16, Row, RowMut};
use crate::{BufferKind, Call, Kernel, OpError, Operand, PrepareCx, TensorType, Workers};

/// Elements that a thread converts at least, where several share the work.
const GRAIN: usize = 1 << 15;
/// Elements of the right matrix that are widened at a time: they stay in the second cache.
const TILE: usize = 1 << 16;
/// Columns of such a tile, where more than a few rows meet it.
const COLUMNS: usize = 128;

/// Widens a row, shared among threads.
pub(crate) fn widen_shared<T: LowPrecision>(
    workers: Workers<'_>,
    from: Row<'_, T>,
    to: RowMut<'_, f32>,
) {
    workers.ranges(from.len(), GRAIN, |start, len| {
        widen(from.slice(start, len), to.slice(start, len));
    });
}

/// Rounds a row, shared among threads.
pub(crate) fn round_shared<T: LowPrecision>(
    workers: Workers<'_>,
    from: Row<'_, f32>,
    to: RowMut<'_, T>,
) {
    workers.ranges(from.len(), GRAIN, |start, len| {
        round(from.slice(start, len), to.slice(start, len));
    });
}

/// Runs a kernel of float32 on widened operands.
struct Float32Kernel {
    dtype: DataType,
    kernel: Box<dyn Kernel>,
    /// The operands, as the kernel sees them: in scratch memory.
    inputs: Vec<Option<Operand>>,
    outputs: Vec<Operand>,
    /// Where the kernel's own scratch memory begins, and its length.
    scratch: (usize, usize),
}

/// Returns the 16-bit type that all operands have, if there is one.
fn low_type(cx: &PrepareCx<'_>) -> Result<Option<DataType>, OpError> {
    let dtype = cx.dtype(0)?;
    if !matches!(dtype, DataType::Float16 | DataType::BFloat16) {
        return Ok(None);
    }
    for index in (0..cx.inputs()).filter(|&index| cx.has(index)) {
        if cx.dtype(index)? != dtype {
            return Ok(None);
        }
    }
    for index in 0..cx.outputs() {
        if cx.output_dtype(index)? != dtype {
            return Ok(None);
        }
    }
    Ok(Some(dtype))
}

/// Makes a kernel; where all operands are of one 16-bit type, from what `make` makes for float32.
pub(crate) fn widened(
    cx: &PrepareCx<'_>,
    make: impl Fn(&PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError>,
) -> Result<Box<dyn Kernel>, OpError> {
    let Some(dtype) = low_type(cx)? else {
        return make(cx);
    };
    let kernel = make(&cx.in_float32())?;
    let mut end = 0usize;
    let mut operand = |shape: &[usize]| -> Result<Operand, OpError> {
        let dims: Vec<i64> = shape.iter().map(|&dim| dim as i64).collect();
        let ty = TensorType::new(DataType::Float32, dims);
        let operand = Operand::dense(BufferKind::Arena, end, &ty)?;
        end = (end + operand.bytes()).next_multiple_of(64);
        Ok(operand)
    };
    let mut inputs = Vec::with_capacity(cx.inputs());
    for index in 0..cx.inputs() {
        inputs.push(match cx.has(index) {
            true => Some(operand(cx.shape(index)?)?),
            false => None,
        });
    }
    let mut outputs = Vec::with_capacity(cx.outputs());
    for index in 0..cx.outputs() {
        outputs.push(operand(cx.output_shape(index)?)?);
    }
    let scratch = (end, kernel.scratch_bytes());
    Ok(Box::new(Float32Kernel {
        dtype,
        kernel,
        inputs,
        outputs,
        scratch,
    }))
}

impl Float32Kernel {
    fn run_as<T: LowPrecision>(&self, call: &Call<'_>) -> Result<(), OpError> {
        let workers = call.workers();
        for (index, operand) in self.inputs.iter().enumerate() {
            if let Some(operand) = operand {
                let from = call.input::<T>(index)?.flat();
                widen_shared(workers, from, call.scratch(operand.offset(), from.len())?);
            }
        }
        let memory: Memory<'_> = call.inside_scratch();
        self.kernel.run(&Call::new(
            &self.inputs,
            &self.outputs,
            self.scratch,
            &memory,
        )?)?;
        for (index, operand) in self.outputs.iter().enumerate() {
            let to = call.output::<T>(index)?.flat();
            let from = call.scratch::<f32>(operand.offset(), to.len())?;
            round_shared(workers, from.as_row(), to);
        }
        Ok(())
    }
}

impl Kernel for Float32Kernel {
    fn scratch_bytes(&self) -> usize {
        self.scratch.0 + self.scratch.1
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.dtype {
            DataType::Float16 => self.run_as::<F16>(call),
            _ => self.run_as::<BF16>(call),
        }
    }
}

/// The scratch memory of a product of widened matrices, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tiles {
    depth: usize,
    columns: usize,
    panels: usize,
}

impl Tiles {
    /// Plans the tiles of the right matrix. With few rows each element is read once, and long runs are best.
    pub(crate) fn of(product: &Product) -> Tiles {
        let Product {
            m, n, k, turned, ..
        } = *product;
        let few = m <= FEW;
        let (depth, columns) = match (few, turned) {
            (true, false) => {
                let columns = n.min(TILE / 16);
                (TILE / columns.max(1), columns)
            }
            (true, true) => {
                let depth = k.min(TILE / 16);
                (depth, TILE / depth.max(1))
            }
            (false, _) => (TILE / COLUMNS, COLUMNS),
        };
        let (depth, columns) = (depth.min(k), columns.min(n));
        Tiles {
            depth,
            columns,
            panels: match few {
                true => 0,
                false => depth * columns.next_multiple_of(PANEL),
            },
        }
    }

    /// Describes the product with one tile.
    fn part(product: &Product, depth: usize, columns: usize) -> Product {
        Product {
            n: columns,
            k: depth,
            ldb: if product.turned { depth } else { columns },
            ..*product
        }
    }

    /// Returns how many elements of scratch memory a product needs.
    pub(crate) fn scratch(&self) -> usize {
        self.depth * self.columns + self.panels
    }

    /// Adds the product of a float32 matrix with one of 16 bits to `c`.
    pub(crate) fn run<T: LowPrecision>(
        &self,
        product: &Product,
        a: Row<'_, f32>,
        b: Row<'_, T>,
        c: RowMut<'_, f32>,
        scratch: RowMut<'_, f32>,
    ) {
        let Product {
            n, k, ldb, turned, ..
        } = *product;
        let tile = scratch.slice(0, self.depth * self.columns);
        let panels = scratch.slice(tile.len(), scratch.len() - tile.len());
        for column in (0..n).step_by(self.columns.max(1)) {
            let columns = self.columns.min(n - column);
            for row in (0..k).step_by(self.depth.max(1)) {
                let depth = self.depth.min(k - row);
                // Rows of the tile, as they lie in the matrix.
                let (rows, len, first) = match turned {
                    true => (columns, depth, column * ldb + row),
                    false => (depth, columns, row * ldb + column),
                };
                if len == ldb {
                    widen(b.slice(first, rows * len), tile.slice(0, rows * len));
                } else {
                    for index in 0..rows {
                        let from = b.slice(first + index * ldb, len);
                        widen(from, tile.slice(index * len, len));
                    }
                }
                Tiles::part(product, depth, columns).adding().run(
                    a.slice(row, a.len() - row),
                    tile.as_row(),
                    c.slice(column, c.len() - column),
                    panels,
                );
            }
        }
    }
}

/// A product of matrices of a 16-bit type.
pub(super) struct LowProduct<T> {
    shape: Shape,
    tiles: Tiles,
    types: PhantomData<fn(T)>,
}

impl<T: LowPrecision> LowProduct<T> {
    pub(super) fn new(shape: Shape) -> LowProduct<T> {
        LowProduct {
            tiles: Tiles::of(&shape.dense()),
            shape,
            types: PhantomData,
        }
    }

    /// Returns the lengths of the parts of the scratch memory: A, A turned around and a tile of it, C, the bias, and a tile of B.
    fn parts(&self) -> [usize; 6] {
        let Shape { m, n, k, .. } = self.shape;
        let (turned, tile) = self.shape.turning();
        [m * k, turned, tile, m * n, n, self.tiles.scratch()]
    }
}

impl<T: LowPrecision> Kernel for LowProduct<T> {
    fn is_elementwise(&self) -> bool {
        self.shape.is_elementwise()
    }

    fn scratch_bytes(&self) -> usize {
        self.parts().iter().sum::<usize>() * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Shape { m, n, k, .. } = self.shape;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (one, two) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let out = call.output::<T>(0)?.flat();
        let parts = self.parts();
        let scratch = call.scratch::<f32>(0, parts.iter().sum())?;
        let mut at = 0;
        let [wide, turned, tile, sums, bias, rest] = parts.map(|len| {
            at += len;
            scratch.slice(at - len, len)
        });
        match self.shape.bias {
            true => widen(call.input::<T>(2)?.flat(), bias),
            false => bias.fill(0.0),
        }
        let product = self.shape.dense();
        self.shape.each(|[c, a, b]| {
            widen(one.slice(a, m * k), wide);
            let mut a = wide.as_row();
            if self.shape.transposed.one {
                self.shape.turn(a, tile, turned);
                a = turned.as_row();
            }
            for row in 0..m {
                sums.slice(row * n, n).copy_from(bias.as_row());
            }
            self.tiles.run(&product, a, two.slice(b, k * n), sums, rest);
            round(sums.as_row(), out.slice(c, m * n));
        });
        Ok(())
    }
}

/// Rounds float32 to what a 16-bit type holds.
struct Rounding<T>(PhantomData<fn(T)>);

impl<T: LowPrecision> Kernel for Rounding<T> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let (from, to) = (call.input::<f32>(0)?.flat(), call.output::<f32>(0)?.flat());
        call.workers().ranges(from.len(), GRAIN, |start, len| {
            round_to::<T>(from.slice(start, len), to.slice(start, len));
        });
        Ok(())
    }
}

/// Makes the kernel that rounds to a type, which is numbered as ACL does.
pub(crate) fn rounding(dst_type: i64) -> Result<Box<dyn Kernel>, OpError> {
    let dtype = i32::try_from(dst_type).ok().and_then(DataType::from_acl);
    match dtype {
        Some(DataType::Float16) => Ok(Box::new(Rounding::<F16>(PhantomData))),
        Some(DataType::BFloat16) => Ok(Box::new(Rounding::<BF16>(PhantomData))),
        _ => Err(OpError::invalid(format!(
            "dst_type is {}; it must be float16 or bfloat16",
            dtype.map_or(dst_type.to_string(), |dtype| dtype.to_string())
        ))),
    }
}
