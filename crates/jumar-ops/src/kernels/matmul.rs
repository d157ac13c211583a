//! Matrix products with NumPy's rules for batches and vectors.

use jumar_types::dtype::DataType;

use super::generic::Product;
use super::loops::{Loops, broadcast_strides, dense_strides};
use super::number::{Number, for_dtype};
use super::widened::LowProduct;
use crate::infer::broadcast;
use crate::simd::wide::{Work, wide};
use crate::simd::{self, Epilogue, PANEL, Start};
use crate::view::{BF16, F16, Part, Row, RowMut, turn};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, TensorType, UNKNOWN_RANK};

/// Rows of B that are packed in one go. Fewer write the sums of a tile, and read them again, more often: with a quarter of these, a
/// product of 1,024 takes 4 % longer.
const DEPTH: usize = 1024;
/// Columns of B that are packed in one go: with as many rows, half of a second cache of 1 MiB.
const COLUMNS: usize = 128;
/// With this many rows or fewer, B is read once where it lies.
pub(super) const FEW: usize = 3;

/// Which operands are taken transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransposedOperands {
    pub one: bool,
    pub two: bool,
}

/// A pair of operand shapes, taken apart.
struct Parts {
    batch_one: Vec<i64>,
    batch_two: Vec<i64>,
    m: i64,
    n: i64,
    k: (i64, i64),
    /// An operand of one dimension leaves no dimension in the result.
    vector_one: bool,
    vector_two: bool,
}

fn parts_of(one: &[i64], two: &[i64], transposed: TransposedOperands) -> Result<Parts, OpError> {
    let matrix = |shape: &[i64], turned: bool| {
        let (rows, columns) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        if turned {
            (columns, rows)
        } else {
            (rows, columns)
        }
    };
    if one.is_empty() || two.is_empty() {
        return Err(OpError::invalid(
            "a matrix product needs operands of at least one dimension",
        ));
    }
    let (vector_one, vector_two) = (one.len() == 1, two.len() == 1);
    let (m, k_one) = if vector_one {
        (1, one[0])
    } else {
        matrix(one, transposed.one)
    };
    let (k_two, n) = if vector_two {
        (two[0], 1)
    } else {
        matrix(two, transposed.two)
    };
    Ok(Parts {
        batch_one: one[..one.len().saturating_sub(2)].to_vec(),
        batch_two: two[..two.len().saturating_sub(2)].to_vec(),
        m,
        n,
        k: (k_one, k_two),
        vector_one,
        vector_two,
    })
}

/// Infers the result of a matrix product.
pub(crate) fn infer(
    cx: &InferCx<'_>,
    transposed: TransposedOperands,
) -> Result<Vec<TensorType>, OpError> {
    let (one, two) = (cx.input(0)?, cx.input(1)?);
    let dtype = cx.same_types([0, 1, 2])?;
    if one.rank().is_none() || two.rank().is_none() {
        return Ok(vec![TensorType::of_unknown_rank(dtype)]);
    }
    let parts = parts_of(&one.shape, &two.shape, transposed)?;
    if parts.k.0 >= 0 && parts.k.1 >= 0 && parts.k.0 != parts.k.1 {
        return Err(OpError::invalid(format!(
            "{one} and {two} cannot be multiplied: {} columns meet {} rows",
            parts.k.0, parts.k.1
        )));
    }
    let batches = [parts.batch_one, parts.batch_two].map(|shape| TensorType::new(dtype, shape));
    let mut shape = broadcast(&batches[0], &batches[1])?;
    debug_assert_ne!(shape, [UNKNOWN_RANK]);
    if !parts.vector_one {
        shape.push(parts.m);
    }
    if !parts.vector_two {
        shape.push(parts.n);
    }
    if cx.has(2) {
        let bias = cx.input(2)?;
        let fits = matches!(bias.shape[..], [size] if size < 0 || parts.n < 0 || size == parts.n);
        if bias.rank().is_some() && !fits {
            return Err(OpError::invalid(format!(
                "the bias is {bias}; it needs {} elements",
                parts.n
            )));
        }
    }
    Ok(vec![TensorType { dtype, shape }])
}

/// The sizes of the products of a batch.
#[derive(Clone)]
pub(super) struct Shape {
    loops: Loops<3>,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) transposed: TransposedOperands,
    pub(super) bias: bool,
}

/// Makes the kernel of a matrix product.
pub(crate) fn prepare(
    cx: &PrepareCx<'_>,
    transposed: TransposedOperands,
) -> Result<Box<dyn Kernel>, OpError> {
    let signed = |shape: &[usize]| shape.iter().map(|&dim| dim as i64).collect::<Vec<_>>();
    let parts = parts_of(&signed(cx.shape(0)?), &signed(cx.shape(1)?), transposed)?;
    let unsigned = |shape: Vec<i64>| {
        shape
            .into_iter()
            .map(|dim| dim as usize)
            .collect::<Vec<_>>()
    };
    let (m, n, k) = (parts.m as usize, parts.n as usize, parts.k.0 as usize);
    let (batch_one, batch_two) = (unsigned(parts.batch_one), unsigned(parts.batch_two));
    let out = cx.output_shape(0)?;
    let trailing = usize::from(!parts.vector_one) + usize::from(!parts.vector_two);
    let batch = out[..out.len() - trailing].to_vec();
    let times = |strides: Vec<isize>, size: usize| {
        strides
            .into_iter()
            .map(|s| s * size as isize)
            .collect::<Vec<_>>()
    };
    let mut strides = [
        times(dense_strides(&batch), m * n),
        times(broadcast_strides(&batch_one, &batch), m * k),
        times(broadcast_strides(&batch_two, &batch), k * n),
    ];
    // The loops hand out rows; a last dimension of 1 makes each row one product.
    let mut dims = batch;
    dims.push(1);
    for strides in &mut strides {
        strides.push(0);
    }
    let loops = Loops::new(&dims, [&strides[0], &strides[1], &strides[2]]);
    // A vector has no columns to be turned around.
    let transposed = TransposedOperands {
        one: transposed.one && !parts.vector_one,
        two: transposed.two && !parts.vector_two,
    };
    let shape = Shape {
        loops,
        m,
        n,
        k,
        transposed,
        bias: cx.has(2),
    };
    let dtype = cx.dtype(0)?;
    match dtype {
        DataType::Float32 => return Ok(Box::new(Product32(shape))),
        DataType::Float16 => return Ok(Box::new(LowProduct::<F16>::new(shape))),
        DataType::BFloat16 => return Ok(Box::new(LowProduct::<BF16>::new(shape))),
        _ => {}
    }
    for_dtype!(
        dtype,
        [
            Float64 => f64, Int8 => i8, Int16 => i16, Int32 => i32, Int64 => i64,
            UInt8 => u8, UInt16 => u16, UInt32 => u32, UInt64 => u64,
        ],
        T => Ok(Box::new(ProductAny::<T> { shape, types: std::marker::PhantomData }) as Box<dyn Kernel>)
    )
}

impl Shape {
    /// Describes one product of the batch, whose first matrix lies row by row.
    pub(super) fn dense(&self) -> Product {
        let product = Product::dense(self.m, self.n, self.k);
        match self.transposed.two {
            true => product.turned(),
            false => product,
        }
    }

    pub(super) fn each(&self, mut body: impl FnMut([usize; 3])) {
        let (count, steps) = (self.loops.row(), self.loops.steps());
        self.loops.each([0; 3], |offsets| {
            for index in 0..count {
                body(std::array::from_fn(|i| {
                    offsets[i].wrapping_add_signed(steps[i] * index as isize)
                }));
            }
        });
    }

    /// Returns the elements of scratch memory for A turned around, and for a tile of it.
    pub(super) fn turning(&self) -> (usize, usize) {
        match self.transposed.one {
            true => (self.m * self.k, TILE_ROWS * TILE_COLUMNS),
            false => (0, 0),
        }
    }

    /// Returns whether the sums are so short that a product takes little for each element.
    pub(super) fn is_elementwise(&self) -> bool {
        self.k <= FEW_TERMS
    }

    /// Writes the columns of a matrix as rows.
    pub(super) fn turn(&self, from: Row<'_, f32>, tile: RowMut<'_, f32>, to: RowMut<'_, f32>) {
        let Shape { m, k, .. } = *self;
        for column in (0..m).step_by(TILE_COLUMNS) {
            let len = TILE_COLUMNS.min(m - column);
            for row in (0..k).step_by(TILE_ROWS) {
                let rows = TILE_ROWS.min(k - row);
                let part = Part {
                    start: row * m + column,
                    step: 1,
                    stride: m as isize,
                    len,
                    rows,
                    known: rows,
                };
                turn(from, part, tile, TILE_ROWS);
                for index in 0..len {
                    to.slice((column + index) * k + row, rows)
                        .copy_from(tile.as_row().slice(index * TILE_ROWS, rows));
                }
            }
        }
    }
}

struct Product32(Shape);

impl Product32 {
    fn by_rows(&self) -> bool {
        self.0.dense().is_by_rows()
    }

    fn depth(&self) -> usize {
        DEPTH.min(self.0.k)
    }

    fn columns(&self) -> usize {
        COLUMNS.min(self.0.n.next_multiple_of(PANEL))
    }

    /// Elements of scratch for A turned around and a tile of it, and for the panels of B.
    fn scratch(&self) -> [usize; 3] {
        let (turned, tile) = self.0.turning();
        [
            turned,
            tile,
            if self.by_rows() {
                0
            } else {
                self.depth() * self.columns()
            },
        ]
    }
}

/// Returns the number of elements of packed panels that [`product32`] needs.
pub(crate) fn panels32(product: &Product) -> usize {
    if product.is_by_rows() {
        return 0;
    }
    DEPTH.min(product.k) * COLUMNS.min(product.n.next_multiple_of(PANEL))
}

pub(crate) fn product64(
    product: &Product,
    a: Row<'_, f64>,
    b: Row<'_, f64>,
    c: RowMut<'_, f64>,
    _panels: RowMut<'_, f64>,
) {
    wide(Product64 { product, a, b, c });
}

pub(crate) fn packed_len64(n: usize, k: usize) -> usize {
    n * k
}

/// Copies: the product in float64 takes rows where they lie.
pub(crate) fn pack64(n: usize, k: usize, b: Row<'_, f64>, packed: RowMut<'_, f64>) {
    packed.slice(0, n * k).copy_from(b.slice(0, n * k));
}

pub(crate) fn packed_product64(
    (m, n, k): (usize, usize, usize),
    a: Row<'_, f64>,
    packed: Row<'_, f64>,
    bias: Option<Row<'_, f64>>,
    (c, ldc): (RowMut<'_, f64>, usize),
) {
    let product = Product {
        ldc,
        ..Product::dense(m, n, k).turned()
    };
    let b = packed.slice(0, n * k);
    match bias {
        Some(bias) => {
            for row in 0..m {
                c.slice(row * ldc, n).copy_from(bias);
            }
            wide(Product64 {
                product: &product.adding(),
                a,
                b,
                c,
            });
        }
        None => wide(Product64 {
            product: &product,
            a,
            b,
            c,
        }),
    }
}

/// The product in float64, row by row: also that of integers, which it holds exactly.
struct Product64<'a> {
    product: &'a Product,
    a: Row<'a, f64>,
    b: Row<'a, f64>,
    c: RowMut<'a, f64>,
}

impl Work for Product64<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Product64 { product, a, b, c } = self;
        let Product {
            m,
            n,
            k,
            lda,
            ldb,
            ldc,
            turned,
            accumulate,
        } = *product;
        for row in 0..m {
            let (a, c) = (a.slice(row * lda, k), c.slice(row * ldc, n));
            if !accumulate {
                c.fill(0.0);
            }
            if turned {
                for column in 0..n {
                    let sum = a.fold2_wide(
                        b.slice(column * ldb, k),
                        0f64,
                        |sum, x, y| sum + x * y,
                        |x, y| x + y,
                    );
                    c.set(column, c.get(column) + sum);
                }
            } else {
                for p in 0..k {
                    let x = a.get(p);
                    c.update(b.slice(p * ldb, n), |sum, y| sum + x * y);
                }
            }
        }
    }
}

/// Returns the number of elements of the packed form of `n` rows of `k`.
pub(crate) fn packed_len32(n: usize, k: usize) -> usize {
    n.next_multiple_of(PANEL) * k
}

/// Packs `n` rows of `k` into panels of their columns.
pub(crate) fn pack32(n: usize, k: usize, b: Row<'_, f32>, packed: RowMut<'_, f32>) {
    for (index, column) in (0..n).step_by(PANEL).enumerate() {
        let panel = packed.slice(index * k * PANEL, k * PANEL);
        simd::pack_columns(panel, b, (k, k), (column, PANEL.min(n - column)));
    }
}

/// Computes `C = bias + A * B^T` with B from [`pack32`].
pub(crate) fn packed_product32(
    (m, n, k): (usize, usize, usize),
    a: Row<'_, f32>,
    packed: Row<'_, f32>,
    bias: Option<Row<'_, f32>>,
    (c, ldc): (RowMut<'_, f32>, usize),
) {
    let epilogue = Epilogue {
        start: bias.map_or(Start::Zero, Start::ColumnBias),
        residual: None,
        clamp: None,
    };
    simd::gemm((m, n, k), (a, k), packed, (c, ldc), &epilogue);
}

/// Multiplies float32 matrices.
pub(crate) fn product32(
    product: &Product,
    a: Row<'_, f32>,
    b: Row<'_, f32>,
    c: RowMut<'_, f32>,
    panels: RowMut<'_, f32>,
) {
    let first = if product.accumulate {
        Start::Accumulate
    } else {
        Start::Zero
    };
    product_of(product, a, b, c, first, panels);
}

/// Multiplies float32 matrices; `panels` is scratch for [`panels32`] elements.
fn product_of(
    product: &Product,
    a: Row<'_, f32>,
    b: Row<'_, f32>,
    c: RowMut<'_, f32>,
    first: Start<'_>,
    panels: RowMut<'_, f32>,
) {
    if product.is_by_rows() {
        wide(ByRows {
            product,
            a,
            b,
            c,
            first,
        });
    } else {
        by_panels(product, a, b, c, first, panels);
    }
}

impl Product {
    /// Returns whether B is read where it lies, because packing it would cost more than it saves.
    ///
    /// Of few columns that lie as rows, sums of products along two rows are formed: one takes as long as 1/25 of its length and 25, in
    /// cycles. Packing takes 4 cycles an element (measured before vectors were used for it), and then a row of A meets a panel at a cycle
    /// for each row of the panel.
    fn is_by_rows(&self) -> bool {
        let Product { m, n, k, .. } = *self;
        let sums = || m.saturating_mul(n).saturating_mul(k.saturating_add(640));
        let panels =
            || k.saturating_mul(n.saturating_mul(100).saturating_add(m.saturating_mul(25)));
        m <= FEW || (self.turned && n <= PANEL && sums() <= panels())
    }
}

/// Rows of A that meet a column of B at once.
const TOGETHER: usize = 4;

/// The product with B where it lies.
struct ByRows<'a> {
    product: &'a Product,
    a: Row<'a, f32>,
    b: Row<'a, f32>,
    c: RowMut<'a, f32>,
    first: Start<'a>,
}

impl ByRows<'_> {
    /// Sums up the products of some rows of A with all columns of a turned B.
    #[inline(always)]
    fn sums<const FUSED: bool, const N: usize>(&self, row: usize) {
        let Product {
            n,
            k,
            lda,
            ldb,
            ldc,
            ..
        } = *self.product;
        let rows: [Row<'_, f32>; N] =
            std::array::from_fn(|index| self.a.slice((row + index) * lda, k));
        for column in 0..n {
            let sums = Row::fold2_each_wide(
                rows,
                self.b.slice(column * ldb, k),
                0f32,
                add_product::<FUSED>,
                #[inline(always)]
                |x, y| x + y,
            );
            for (index, sum) in sums.into_iter().enumerate() {
                let at = (row + index) * ldc + column;
                let start = match self.first {
                    Start::Zero => 0.0,
                    Start::Accumulate => self.c.get(at),
                    Start::RowBias(bias) => bias.get(row + index),
                    Start::ColumnBias(bias) => bias.get(column),
                };
                self.c.set(at, start + sum);
            }
        }
    }
}

/// Returns `sum + x * y`.
#[inline(always)]
fn add_product<const FUSED: bool>(sum: f32, x: f32, y: f32) -> f32 {
    if FUSED {
        x.mul_add(y, sum)
    } else {
        sum + x * y
    }
}

impl Work for ByRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Product {
            m,
            n,
            k,
            lda,
            ldb,
            ldc,
            turned,
            ..
        } = *self.product;
        if turned {
            let together = m / TOGETHER * TOGETHER;
            for row in (0..together).step_by(TOGETHER) {
                self.sums::<FUSED, TOGETHER>(row);
            }
            for row in together..m {
                self.sums::<FUSED, 1>(row);
            }
            return;
        }
        for row in 0..m {
            let (a, c) = (self.a.slice(row * lda, k), self.c.slice(row * ldc, n));
            match self.first {
                Start::Zero => c.fill(0.0),
                Start::Accumulate => {}
                Start::RowBias(bias) => c.fill(bias.get(row)),
                Start::ColumnBias(bias) => c.copy_from(bias),
            }
            for p in 0..k {
                let x = a.get(p);
                c.update(
                    self.b.slice(p * ldb, n),
                    #[inline(always)]
                    |sum, y| add_product::<FUSED>(sum, x, y),
                );
            }
        }
    }
}

fn by_panels(
    product: &Product,
    a: Row<'_, f32>,
    b: Row<'_, f32>,
    c: RowMut<'_, f32>,
    first: Start<'_>,
    panels: RowMut<'_, f32>,
) {
    let Product {
        m,
        n,
        k,
        lda,
        ldb,
        ldc,
        turned,
        ..
    } = *product;
    let (columns, most) = (COLUMNS.min(n.next_multiple_of(PANEL)), DEPTH.min(k));
    for start in (0..n).step_by(columns.max(1)) {
        let len = columns.min(n - start);
        let mut from = 0;
        loop {
            let depth = most.min(k - from);
            for (index, column) in (0..len).step_by(PANEL).enumerate() {
                let panel = panels.slice(index * depth * PANEL, depth * PANEL);
                let lanes = (start + column, PANEL.min(len - column));
                if turned {
                    simd::pack_columns(panel, b.slice(from, b.len() - from), (depth, ldb), lanes);
                } else {
                    let rows = if depth == 0 { 0 } else { (depth - 1) * ldb + n };
                    simd::pack_rows(panel, b.slice(from * ldb, rows), (depth, ldb), lanes);
                }
            }
            let epilogue = Epilogue {
                start: match first {
                    _ if from > 0 => Start::Accumulate,
                    Start::ColumnBias(bias) => Start::ColumnBias(bias.slice(start, len)),
                    first => first,
                },
                residual: None,
                clamp: None,
            };
            simd::gemm(
                (m, len, depth),
                (a.slice(from, a.len() - from), lda),
                panels.as_row(),
                (c.slice(start, c.len() - start), ldc),
                &epilogue,
            );
            from += depth;
            if from >= k {
                break;
            }
        }
    }
}

/// Rows of a matrix that are turned around at once.
const TILE_ROWS: usize = 64;
/// Columns of these. Rows a power of two apart displace each other in the first cache: with as many columns as rows, a square matrix of
/// 1,024 takes more than twice as long.
const TILE_COLUMNS: usize = 32;

/// How many terms of a sum take no longer than one of the functions that are computed for each element.
const FEW_TERMS: usize = 64;

impl Kernel for Product32 {
    fn is_elementwise(&self) -> bool {
        self.0.is_elementwise()
    }

    fn scratch_bytes(&self) -> usize {
        self.scratch().iter().sum::<usize>() * size_of::<f32>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Shape {
            m,
            n,
            k,
            transposed,
            ..
        } = self.0;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let (one, two) = (call.input::<f32>(0)?.flat(), call.input::<f32>(1)?.flat());
        let bias = if self.0.bias {
            Some(call.input::<f32>(2)?.flat())
        } else {
            None
        };
        let out = call.output::<f32>(0)?.flat();
        let parts = self.scratch();
        let scratch = call.scratch::<f32>(0, parts.iter().sum())?;
        let mut at = 0;
        let [turned, tile, panels] = parts.map(|len| {
            at += len;
            scratch.slice(at - len, len)
        });
        self.0.each(|[c, a, b]| {
            let mut a = one.slice(a, m * k);
            let (b, c) = (two.slice(b, k * n), out.slice(c, m * n));
            if transposed.one {
                self.0.turn(a, tile, turned);
                a = turned.as_row();
            }
            let first = bias.map_or(Start::Zero, Start::ColumnBias);
            product_of(&self.0.dense(), a, b, c, first, panels)
        });
        Ok(())
    }
}

/// The product of any number type: sums of rows, kept in the wide type.
struct ProductAny<T> {
    shape: Shape,
    types: std::marker::PhantomData<fn(T)>,
}

impl<T: Number> Kernel for ProductAny<T> {
    fn scratch_bytes(&self) -> usize {
        self.shape.n * size_of::<T::Wide>()
    }

    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Shape {
            m,
            n,
            k,
            transposed,
            ..
        } = self.shape;
        let (one, two) = (call.input::<T>(0)?.flat(), call.input::<T>(1)?.flat());
        let bias = if self.shape.bias {
            Some(call.input::<T>(2)?.flat())
        } else {
            None
        };
        let out = call.output::<T>(0)?.flat();
        let sums = call.scratch::<T::Wide>(0, n)?;
        self.shape.each(|[c, a, b]| {
            let (a, b, c) = (
                one.slice(a, m * k),
                two.slice(b, k * n),
                out.slice(c, m * n),
            );
            for row in 0..m {
                match bias {
                    Some(bias) => sums.map1(bias, T::wide),
                    None => sums.fill(T::Wide::default()),
                }
                for p in 0..k {
                    let x = a
                        .get(if transposed.one {
                            p * m + row
                        } else {
                            row * k + p
                        })
                        .wide();
                    let line = if transposed.two {
                        b.stepped(p, n, k)
                    } else {
                        b.slice(p * n, n)
                    };
                    sums.update(line, |sum, y| sum.add(x.mul(y.wide())));
                }
                c.slice(row * n, n).map1(sums.as_row(), T::from_wide);
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Block, Layout, ViewMut};

    /// Calls `f` with memory for so many numbers.
    fn with_row(numbers: &[f32], f: impl FnOnce(RowMut<'_, f32>)) -> Vec<f32> {
        let mut block = Block::zeroed(numbers.len().max(1) * size_of::<f32>());
        let layout = Layout::dense(&[numbers.len()]).unwrap();
        let row = ViewMut::<f32>::new(block.region(), &layout).unwrap().flat();
        for (index, &number) in numbers.iter().enumerate() {
            row.set(index, number);
        }
        f(row);
        (0..numbers.len()).map(|index| row.get(index)).collect()
    }

    fn numbers(len: usize, seed: usize) -> Vec<f32> {
        let hashed = |index: usize| (index * 7 + seed * 13 + 5) % 31;
        (0..len).map(|index| hashed(index) as f32 / 31.0).collect()
    }

    /// Computes a product and its error bound in float64.
    fn compare(product: &Product, bias: bool) {
        let Product {
            m, n, k, turned, ..
        } = *product;
        let (a, b) = (numbers(m * k, 1), numbers(n * k, 2));
        let offsets = numbers(n, 3);
        let found = {
            let mut found = Vec::new();
            with_row(&a, |a| {
                with_row(&b, |b| {
                    with_row(&offsets, |offsets| {
                        with_row(&vec![0.0; panels32(product)], |panels| {
                            found = with_row(&vec![9.0; m * n], |c| {
                                let first = match bias {
                                    true => Start::ColumnBias(offsets.as_row()),
                                    false => Start::Zero,
                                };
                                product_of(product, a.as_row(), b.as_row(), c, first, panels);
                            });
                        });
                    });
                });
            });
            found
        };
        for row in 0..m {
            for column in 0..n {
                let start = if bias {
                    f64::from(offsets[column])
                } else {
                    0.0
                };
                let sum: f64 = (0..k)
                    .map(|p| {
                        let b = if turned {
                            b[column * k + p]
                        } else {
                            b[p * n + column]
                        };
                        f64::from(a[row * k + p]) * f64::from(b)
                    })
                    .sum();
                let (found, wanted) = (f64::from(found[row * n + column]), start + sum);
                assert!(
                    (found - wanted).abs() <= 1e-5 * wanted.abs().max(1.0),
                    "{m} x {n} x {k}, turned: {turned}: {found} at {row}, {column} instead of {wanted}"
                );
            }
        }
    }

    #[test]
    fn products_are_the_same_by_rows_and_by_panels() {
        let mut ways = [0; 2];
        for m in [1, 3, 4, 7, 64] {
            for n in [1, 10, 33] {
                for k in [1, 15, 17, 300] {
                    let dense = Product::dense(m, n, k);
                    for product in [dense, Product::dense(m, n, k).turned()] {
                        ways[usize::from(product.is_by_rows())] += 1;
                        compare(&product, false);
                        compare(&product, true);
                    }
                }
            }
        }
        assert!(ways.iter().all(|&count| count > 10), "{ways:?}");
    }
}
