//! The product with a constant matrix that was packed before, and what follows it.

use jumar_types::dtype::DataType;

use super::blocked::rounding_of;
use super::compute_types::Float;
use crate::derived::{Derivation, GRAIN};
use crate::simd::blocked::Rounding;
use crate::simd::convert::round_to;
use crate::simd::math::Fast;
use crate::simd::wide::{Work, wide};
use crate::simd::{self, Epilogue, PANEL, Start};
use crate::view::{BF16, F16, Row, RowMut, View};
use crate::{Call, InferCx, Kernel, OpError, PrepareCx, Tensor, TensorType, Workers};

/// Rows of the packed matrix that are worked on at once: a panel of them stays in the cache next to the core.
const DEPTH: usize = 768;
/// Rows of A that are worked on at once: they stay in the second cache.
const ROWS: usize = 256;
/// Products of fewer multiplications than this are not split among threads.
pub(super) const SPLIT: usize = 1 << 20;

/// What follows the sum of product, bias and residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activation {
    None,
    Relu,
    /// With the error function.
    Gelu,
    /// With the hyperbolic tangent.
    GeluTanh,
    Swish,
    Tanh,
    Sigmoid,
}

impl Activation {
    fn of(name: &str) -> Result<Activation, OpError> {
        Ok(match name {
            "none" => Activation::None,
            "relu" => Activation::Relu,
            "gelu" => Activation::Gelu,
            "gelu_tanh" => Activation::GeluTanh,
            "swish" => Activation::Swish,
            "tanh" => Activation::Tanh,
            "sigmoid" => Activation::Sigmoid,
            other => {
                return Err(OpError::invalid(format!(
                    "activation is {other:?}, which is not known"
                )));
            }
        })
    }

    pub(super) fn apply(self, c: RowMut<'_, f32>, (rows, stride): (usize, usize), len: usize) {
        let all = |function: Activation| {
            wide(Activate {
                function,
                c,
                rows,
                stride,
                len,
            });
        };
        if self != Activation::None {
            all(self);
        }
    }
}

/// A function of each element of a matrix of `rows` rows of `len`.
struct Activate<'a> {
    function: Activation,
    c: RowMut<'a, f32>,
    rows: usize,
    stride: usize,
    len: usize,
}

impl Activate<'_> {
    #[inline(always)]
    fn each(&self, f: impl Fn(f32) -> f32) {
        for row in 0..self.rows {
            let row = self.c.slice(row * self.stride, self.len);
            row.map1(row.as_row(), &f);
        }
    }
}

/// Half of `x`, and as much again as `y` of it.
#[inline(always)]
fn half_and<const FUSED: bool>(x: f32, y: f32) -> f32 {
    let half = 0.5 * x;
    if FUSED {
        half.mul_add(y, half)
    } else {
        half * y + half
    }
}

impl Work for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        match self.function {
            Activation::None => {}
            Activation::Relu => self.each(
                #[inline(always)]
                |x| if x < 0.0 { 0.0 } else { x },
            ),
            Activation::Gelu => self.each(
                #[inline(always)]
                |x| {
                    let y = Fast::<FUSED>(x * std::f32::consts::FRAC_1_SQRT_2).erf();
                    half_and::<FUSED>(x, y.0)
                },
            ),
            Activation::GeluTanh => self.each(
                #[inline(always)]
                |x| {
                    let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
                    half_and::<FUSED>(x, Fast::<FUSED>(inner).tanh().0)
                },
            ),
            Activation::Swish => self.each(
                #[inline(always)]
                |x| x / (1.0 + Fast::<FUSED>(-x).exp().0),
            ),
            Activation::Tanh => self.each(
                #[inline(always)]
                |x| Fast::<FUSED>(x).tanh().0,
            ),
            Activation::Sigmoid => self.each(
                #[inline(always)]
                |x| 1.0 / (1.0 + Fast::<FUSED>(-x).exp().0),
            ),
        }
    }
}

/// Packs a constant matrix of float32 for the product: panels of 32 columns, row after row, columns beyond filled
/// with 0. `turned`: its rows are the columns of the product. `None` for anything but a matrix of float32.
pub fn pack_matrix(matrix: &Tensor, turned: bool) -> Option<Tensor> {
    let dims = matrix.ty().dims()?;
    let [first, second] = dims[..] else {
        return None;
    };
    if matrix.ty().dtype != DataType::Float32 || matrix.is_empty() {
        return None;
    }
    let (k, n) = if turned {
        (second, first)
    } else {
        (first, second)
    };
    let packing = MatrixPacking {
        source: matrix.clone(),
        turned,
        rows: k,
        columns: n,
    };
    let dims = [n.div_ceil(PANEL), k, PANEL].map(|dim| dim as i64);
    let ty = TensorType::new(DataType::Float32, dims);
    ty.bytes()?;
    Some(Tensor::derived(ty, Derivation::Matrix(packing)))
}

/// How a matrix is packed.
#[derive(Clone, PartialEq)]
pub(crate) struct MatrixPacking {
    source: Tensor,
    /// Whether the source has the columns as its rows.
    turned: bool,
    rows: usize,
    columns: usize,
}

impl MatrixPacking {
    /// The rows of a panel that are written at a time.
    const ROWS: usize = 256;

    pub(crate) fn source(&self) -> &Tensor {
        &self.source
    }

    /// Packs all panels.
    pub(crate) fn write(&self, from: &View<'_, f32>, to: RowMut<'_, f32>, workers: Workers<'_>) {
        let matrix = from.flat();
        let pieces = self.rows.div_ceil(Self::ROWS);
        let grain = GRAIN.div_ceil(Self::ROWS * PANEL);
        workers.ranges(
            self.columns.div_ceil(PANEL) * pieces,
            grain,
            |start, count| {
                for index in start..start + count {
                    let (column, row) = (index / pieces * PANEL, index % pieces * Self::ROWS);
                    let rows = Self::ROWS.min(self.rows - row);
                    let to = to.slice(column * self.rows + row * PANEL, rows * PANEL);
                    self.write_rows(matrix, (row, rows), column, to);
                }
            },
        );
    }

    /// Packs some rows of a panel.
    fn write_rows(
        &self,
        matrix: Row<'_, f32>,
        (row, rows): (usize, usize),
        column: usize,
        to: RowMut<'_, f32>,
    ) {
        let columns = (column, PANEL.min(self.columns - column));
        let from = |first: usize| matrix.slice(first, matrix.len() - first);
        match self.turned {
            true => simd::pack_columns(to, from(row), (rows, self.rows), columns),
            false => simd::pack_rows(to, from(row * self.columns), (rows, self.columns), columns),
        }
    }
}

/// Infers the result: the first input's shape with another last dimension.
pub(crate) fn infer(cx: &InferCx<'_>) -> Result<Vec<TensorType>, OpError> {
    let (x, packed) = (cx.input(0)?, cx.input(1)?);
    cx.same_types([0, 2, 3])?;
    let bf16 = packed.dtype == DataType::BFloat16;
    if !bf16 && packed.dtype != x.dtype {
        return Err(OpError::unsupported(format!("{x} times {packed}")));
    }
    let columns = cx.attrs().int("columns")?;
    Activation::of(cx.attrs().str("activation")?)?;
    let Some(&[panels, k, lanes]) = packed.dims().as_deref() else {
        return Err(OpError::invalid(format!("{packed} is not a packed matrix")));
    };
    let fits = usize::try_from(columns)
        .is_ok_and(|columns| columns > 0 && columns.div_ceil(PANEL) == panels && lanes == PANEL);
    if !fits {
        return Err(OpError::invalid(format!(
            "{packed} is not a packed matrix of {columns} columns"
        )));
    }
    if x.rank().is_none() {
        return Ok(vec![x.clone()]);
    }
    let Some((&own, outer)) = x.shape.split_last() else {
        return Err(OpError::invalid(format!("{x} has no dimension")));
    };
    // In bfloat16 rows are packed in pairs, of which the last may be filled up.
    let filled = bf16 && own % 2 == 1 && own + 1 == k as i64;
    if own >= 0 && own != k as i64 && !filled {
        return Err(OpError::invalid(format!(
            "{x} meets a matrix of {k} rows: the last dimension has to be {k}"
        )));
    }
    let mut shape = outer.to_vec();
    shape.push(columns);
    let out = TensorType::new(x.dtype, shape);
    if cx.has(2) && cx.input(2)?.shape != [columns] {
        return Err(OpError::invalid(format!(
            "the bias is {}; it needs {columns} elements",
            cx.input(2)?
        )));
    }
    if cx.has(3) {
        let residual = cx.input(3)?;
        let known = residual.elements().is_some() && out.elements().is_some();
        if known && residual.shape != out.shape {
            return Err(OpError::invalid(format!(
                "the summand is {residual}; it must be {out}"
            )));
        }
    }
    Ok(vec![out])
}

struct Linear {
    m: usize,
    n: usize,
    k: usize,
    activation: Activation,
    rounding: Option<Rounding>,
}

/// Makes the kernel.
pub(crate) fn prepare(cx: &PrepareCx<'_>) -> Result<Box<dyn Kernel>, OpError> {
    if cx.dtype(0)? != DataType::Float32 {
        return Err(OpError::unsupported("a packed product is one of float32"));
    }
    let out = cx.output_shape(0)?;
    let n = out.last().copied().unwrap_or(1);
    let m = out[..out.len() - 1].iter().product();
    let activation = Activation::of(cx.attrs().str("activation")?)?;
    if cx.dtype(1)? == DataType::BFloat16 {
        if rounding_of(cx.infer())?.is_some() {
            return Err(OpError::unsupported("a product of bfloat16 is not rounded"));
        }
        return Ok(Box::new(super::lowp::Linear {
            m,
            n,
            k: cx.shape(0)?.last().copied().unwrap_or(0),
            activation,
        }));
    }
    Ok(Box::new(Linear {
        m,
        n,
        k: cx.shape(1)?[1],
        activation,
        rounding: rounding_of(cx.infer())?,
    }))
}

/// The operands of one run.
struct Operands<'a> {
    a: Row<'a, f32>,
    b: Row<'a, f32>,
    c: RowMut<'a, f32>,
    bias: Option<Row<'a, f32>>,
    residual: Option<Row<'a, f32>>,
}

impl Linear {
    /// Rounds what was computed last, while it is near.
    fn round(&self, c: RowMut<'_, f32>, rows: usize, len: usize) {
        let Some(rounding) = self.rounding else {
            return;
        };
        for row in 0..rows {
            let row = c.slice(row * self.n, len);
            match rounding {
                Rounding::Float16 => round_to::<F16>(row.as_row(), row),
                Rounding::BFloat16 => round_to::<BF16>(row.as_row(), row),
            }
        }
    }

    /// Computes some rows of some panels.
    fn part(&self, operands: &Operands<'_>, rows: (usize, usize), panels: (usize, usize)) {
        let Linear { n, k, .. } = *self;
        let Operands { a, b, c, .. } = *operands;
        let depths = k.div_ceil(DEPTH).max(1);
        let depth = k.div_ceil(depths).max(1);
        for row in (rows.0..rows.1).step_by(ROWS) {
            let count = ROWS.min(rows.1 - row);
            let own = a.slice(row * k, count * k);
            // A few rows go along the panels; many stay with one panel as long as it lies in the cache.
            let step = if count < 4 { panels.1 - panels.0 } else { 1 };
            let mut from = 0;
            loop {
                let deep = depth.min(k - from);
                let last = from + deep >= k;
                for panel in (panels.0..panels.1).step_by(step.max(1)) {
                    let column = panel * PANEL;
                    let len = (step * PANEL)
                        .min(panels.1 * PANEL - column)
                        .min(n - column);
                    let at = row * n + column;
                    let to = c.slice(at, (count - 1) * n + len);
                    let start = match operands.bias {
                        _ if from > 0 => Start::Accumulate,
                        Some(bias) => Start::ColumnBias(bias.slice(column, len)),
                        None => Start::Zero,
                    };
                    let begin = panel * k * PANEL + from * PANEL;
                    simd::gemm_strided(
                        (count, len, deep),
                        (own.slice(from, count * k - from), k),
                        (b.slice(begin, b.len() - begin), k * PANEL),
                        (to, n),
                        &Epilogue {
                            start,
                            residual: operands
                                .residual
                                .filter(|_| last)
                                .map(|row| row.slice(at, (count - 1) * n + len)),
                            clamp: None,
                        },
                    );
                    if last {
                        self.activation.apply(to, (count, n), len);
                        self.round(to, count, len);
                    }
                }
                from += deep;
                if from >= k {
                    break;
                }
            }
        }
    }
}

impl Kernel for Linear {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        let Linear { m, n, k, .. } = *self;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let optional = |index: usize| match call.has_input(index) {
            true => Ok::<_, OpError>(Some(call.input::<f32>(index)?.flat())),
            false => Ok(None),
        };
        let operands = Operands {
            a: call.input::<f32>(0)?.flat(),
            b: call.input::<f32>(1)?.flat(),
            c: call.output::<f32>(0)?.flat(),
            bias: optional(2)?,
            residual: optional(3)?,
        };
        let panels = n.div_ceil(PANEL);
        let workers = call.workers();
        if workers.threads() < 2 || m.saturating_mul(n).saturating_mul(k) < SPLIT {
            self.part(&operands, (0, m), (0, panels));
        } else if panels >= 4 * workers.threads() {
            workers.ranges(
                panels,
                4.min(panels / workers.threads()).max(1),
                |start, len| {
                    self.part(&operands, (0, m), (start, start + len));
                },
            );
        } else {
            workers.ranges(m, 8, |start, len| {
                self.part(&operands, (start, start + len), (0, panels));
            });
        }
        Ok(())
    }
}
