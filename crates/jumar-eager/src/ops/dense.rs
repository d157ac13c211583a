//! Kernels over dense operands, written once for float32 and float64.

use jumar_ops::{Call, Kernel, OpError, OpErrorKind};
use jumar_types::dtype::DataType;

use crate::Refusal;
use crate::build::Cx;
use crate::element::compute::{C128, Cell, Complex64, Complex128, Compute};
use crate::element::number::Num;
use crate::view::View;

/// The floating-point types in which these kernels compute.
pub(super) trait Real: jumar_ops::view::Element + Copy + PartialOrd {
    fn of(value: f64) -> Self;
    fn number(self) -> f64;
}

impl Real for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }

    fn number(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn number(self) -> f64 {
        self
    }
}

/// A computation on operands of one floating-point type, and on int64 indices.
pub(super) trait Body: Send + Sync + 'static {
    fn run<T: Real>(&self, call: &Call<'_>) -> Result<(), OpError>;
}

struct TypedKernel<B> {
    compute: DataType,
    body: B,
}

impl<B: Body> Kernel for TypedKernel<B> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float64 => self.body.run::<f64>(call),
            _ => self.body.run::<f32>(call),
        }
    }
}

/// Runs a computation in float32 or float64. Inputs are converted to the types that the computation reads and made dense;
/// results are converted to the types of the outputs.
pub(super) fn run(
    cx: &mut Cx<'_>,
    compute: DataType,
    body: impl Body,
    inputs: &[(View, DataType)],
    outputs: &[(View, DataType)],
) -> Result<(), Refusal> {
    run_kernel(cx, Box::new(TypedKernel { compute, body }), inputs, outputs)
}

/// As [`run`], for a kernel of any types.
pub(super) fn run_kernel(
    cx: &mut Cx<'_>,
    kernel: Box<dyn Kernel>,
    inputs: &[(View, DataType)],
    outputs: &[(View, DataType)],
) -> Result<(), Refusal> {
    if outputs.iter().all(|(out, _)| out.is_empty()) {
        return Ok(());
    }
    let mut operands = Vec::with_capacity(inputs.len());
    for &(input, dtype) in inputs {
        let input = cx.cast(input, dtype)?;
        operands.push(Some(cx.dense(input)?));
    }
    let mut targets = Vec::with_capacity(outputs.len());
    for &(out, dtype) in outputs {
        targets.push(match out.is_dense() && out.dtype() == dtype {
            true => out,
            false => cx.temporary(dtype, out.dims())?,
        });
    }
    cx.kernel(kernel, &operands, &targets, false)?;
    for (target, (out, _)) in targets.into_iter().zip(outputs) {
        cx.copy(target, *out)?;
    }
    Ok(())
}

/// Creates the error of values that cannot be computed on.
pub(super) fn bad_data(text: String) -> OpError {
    OpError::new(OpErrorKind::Data, text)
}

/// A number of the types in which [`Numbers`] compute, as wide as it takes to add and multiply many of them.
pub(super) trait Number: Compute + Num {}

impl<L: Compute + Num> Number for L {}

/// A computation on operands of one type: float32, float64, int64, uint64, complex64 or complex128.
pub(super) trait Numbers: Send + Sync + 'static {
    fn run<C: Cell, L: Number>(&self, call: &Call<'_>) -> Result<(), OpError>;
}

struct IndexedKernel<B> {
    compute: DataType,
    body: B,
}

impl<B: Numbers> Kernel for IndexedKernel<B> {
    fn run(&self, call: &Call<'_>) -> Result<(), OpError> {
        match self.compute {
            DataType::Float32 => self.body.run::<f32, f64>(call),
            DataType::Int64 => self.body.run::<i64, i64>(call),
            DataType::UInt64 => self.body.run::<u64, u64>(call),
            DataType::Complex64 => self.body.run::<Complex64, C128>(call),
            DataType::Complex128 => self.body.run::<Complex128, C128>(call),
            _ => self.body.run::<f64, f64>(call),
        }
    }
}

/// Returns the type in which numbers of a type are added and multiplied.
pub(super) fn wide(dtype: DataType) -> DataType {
    match dtype {
        DataType::Float16 | DataType::BFloat16 => DataType::Float32,
        DataType::Complex32 => DataType::Complex64,
        DataType::Bool => DataType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::UInt64,
        dtype if dtype.is_integer() && dtype != DataType::UInt64 => DataType::Int64,
        dtype => dtype,
    }
}

/// Creates the kernel of a computation on numbers of a type that [`wide`] returned.
pub(super) fn counted(compute: DataType, body: impl Numbers) -> Box<dyn Kernel> {
    Box::new(IndexedKernel { compute, body })
}
