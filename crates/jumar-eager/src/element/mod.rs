//! Elementwise computation over operands with any strides.

pub(crate) mod any;
pub(crate) mod compute;
mod copy;
mod direct;
mod functions;
mod map;
pub(crate) mod nest;
pub(crate) mod number;
mod pass;
mod scaling;
#[cfg(test)]
mod tests;
mod tile;

use jumar_ops::Kernel;
use jumar_ops::view::Layout;
use jumar_types::dtype::DataType;

use crate::Scalar;
use compute::{C64, C128};
use map::Map;
use nest::Nest;

pub(crate) use copy::copy;
pub(crate) use functions::F;
pub(crate) use scaling::{non_finite, update_scale};

/// One operand of a function: a tensor that has the shape of the output, or a host scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// The element type and the layout, with strides of 0 where the tensor is repeated.
    Tensor(DataType, &'a Layout),
    /// A value that all elements share.
    Scalar(Scalar),
}

/// Creates the kernel of a function of elements. `None`: the function does not exist for the type.
///
/// Operands are converted to `compute`; the result is rounded to `compute` (to bool if `boolean`), and then converted to the
/// type of the output. The inputs of the kernel are the operands that are tensors, in order. Without a function the kernel
/// converts its one operand.
pub(crate) fn map(
    function: Option<F>,
    compute: DataType,
    boolean: bool,
    operands: &[Source<'_>],
    output: (DataType, &Layout),
) -> Option<Box<dyn Kernel>> {
    type D = DataType;
    if !boolean && let Some(kernel) = in_one_pass(function, compute, operands, output) {
        return Some(kernel);
    }
    match compute {
        D::Float32 | D::Float16 | D::BFloat16 => {
            Map::<f32>::create(function, compute, boolean, operands, output)
        }
        D::Float64 => Map::<f64>::create(function, compute, boolean, operands, output),
        D::Int8 | D::Int16 | D::Int32 | D::Int64 => {
            Map::<i64>::create(function, compute, boolean, operands, output)
        }
        D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 | D::Bool => {
            Map::<u64>::create(function, compute, boolean, operands, output)
        }
        D::Complex32 | D::Complex64 => {
            Map::<C64>::create(function, compute, boolean, operands, output)
        }
        D::Complex128 => Map::<C128>::create(function, compute, boolean, operands, output),
        _ => None,
    }
}

/// Creates the kernel of a conversion or a selection that needs no computation. `None`: there is none for the types or the layouts.
fn in_one_pass(
    function: Option<F>,
    compute: DataType,
    operands: &[Source<'_>],
    (dtype, layout): (DataType, &Layout),
) -> Option<Box<dyn Kernel>> {
    match (function, operands) {
        (None, &[Source::Tensor(from, input)]) if from == compute => {
            pass::convert(Nest::new(&[input, layout]), from, dtype)
        }
        (
            Some(F::Where),
            &[
                Source::Tensor(DataType::Bool, mask),
                Source::Tensor(yes, one),
                Source::Tensor(no, two),
            ],
        ) if yes == dtype && no == dtype && compute == dtype => {
            pass::select(Nest::new(&[mask, one, two, layout]), dtype)
        }
        _ => None,
    }
}

/// Reports whether a function exists for a type.
pub(crate) fn exists(function: F, compute: DataType) -> bool {
    use functions::Functions;
    type D = DataType;
    match compute {
        D::Float32 | D::Float16 | D::BFloat16 => f32::find(function).is_some(),
        D::Float64 => f64::find(function).is_some(),
        D::Int8 | D::Int16 | D::Int32 | D::Int64 => i64::find(function).is_some(),
        D::UInt8 | D::UInt16 | D::UInt32 | D::UInt64 | D::Bool => u64::find(function).is_some(),
        D::Complex32 | D::Complex64 => C64::find(function).is_some(),
        D::Complex128 => C128::find(function).is_some(),
        _ => false,
    }
}
