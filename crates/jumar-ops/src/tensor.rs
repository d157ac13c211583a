//! Types of tensors, and tensors whose values are known while a graph is built.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use jumar_types::dtype::DataType;

use crate::OpError;
use crate::derived::{Derivation, DerivedConstant};
use crate::view::{BF16, Bool8, Element, F16, Layout, View};

/// Stands for a dimension that is not known yet.
pub const UNKNOWN: i64 = -1;
/// Stands, as the only dimension, for a shape of which not even the number of dimensions is known.
pub const UNKNOWN_RANK: i64 = -2;

/// Bytes that any tensor stays below, so that no sum of a few sizes can overflow.
const MAX_BYTES: usize = 1 << 46;

/// The element type and the shape of a tensor.
///
/// # Shapes
///
/// [`UNKNOWN`] stands for a dimension that is not known yet; the lone [`UNKNOWN_RANK`] for a shape of which nothing is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorType {
    /// The type of one element.
    pub dtype: DataType,
    /// The dimensions.
    pub shape: Vec<i64>,
}

impl TensorType {
    /// Makes a type.
    pub fn new(dtype: DataType, shape: impl Into<Vec<i64>>) -> TensorType {
        TensorType {
            dtype,
            shape: shape.into(),
        }
    }

    /// Makes a type of which only the element type is known.
    pub fn of_unknown_rank(dtype: DataType) -> TensorType {
        TensorType::new(dtype, [UNKNOWN_RANK])
    }

    /// Returns the type with as many dimensions, all of them unknown.
    #[must_use]
    pub fn without_dims(&self) -> TensorType {
        match self.rank() {
            None => self.clone(),
            Some(rank) => TensorType::new(self.dtype, vec![UNKNOWN; rank]),
        }
    }

    /// Returns the number of dimensions, if known.
    pub fn rank(&self) -> Option<usize> {
        (self.shape != [UNKNOWN_RANK]).then_some(self.shape.len())
    }

    /// Returns the dimensions, if all are known.
    pub fn dims(&self) -> Option<Vec<usize>> {
        self.shape
            .iter()
            .map(|&dim| usize::try_from(dim).ok())
            .collect()
    }

    /// Returns the number of elements, if all dimensions are known and the number fits.
    pub fn elements(&self) -> Option<usize> {
        let mut known = self.shape.iter().map(|&dim| usize::try_from(dim).ok());
        known.try_fold(1usize, |product, dim| product.checked_mul(dim?))
    }

    /// Returns the size of the densely packed tensor, if known and sensible.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn bytes(&self) -> Option<usize> {
        self.dtype
            .size_of(self.elements()?)
            .filter(|&bytes| bytes <= MAX_BYTES)
    }

    /// Returns the dense layout, or says what is missing.
    pub fn layout(&self) -> Result<Layout, OpError> {
        let Some(dims) = self.dims() else {
            return Err(OpError::unknown(format!(
                "the shape {self} has dimensions that are not known"
            )));
        };
        self.bytes()
            .and_then(|_| Layout::dense(&dims))
            .ok_or_else(|| {
                OpError::too_large(format!(
                    "a tensor {self} is too large, or has more than 8 dimensions"
                ))
            })
    }
}

impl fmt::Display for TensorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype)?;
        if self.rank().is_none() {
            return f.write_str("[...]");
        }
        f.write_str("[")?;
        for (axis, &dim) in self.shape.iter().enumerate() {
            let comma = if axis > 0 { ", " } else { "" };
            if dim < 0 {
                write!(f, "{comma}?")?
            } else {
                write!(f, "{comma}{dim}")?
            }
        }
        f.write_str("]")
    }
}

/// A tensor whose values are known while a graph is built: an initializer, an attribute, a folded result.
///
/// # Ownership
///
/// The bytes are shared, with other tensors or with the file that they came in; cloning is cheap.
#[derive(Clone)]
pub struct Tensor {
    ty: TensorType,
    contents: Contents,
}

#[derive(Clone)]
enum Contents {
    Known(Bytes),
    Derived(Arc<DerivedConstant>),
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({}, {} bytes)", self.ty, self.byte_len())
    }
}

impl PartialEq for Tensor {
    fn eq(&self, other: &Tensor) -> bool {
        self.ty == other.ty && (self.is_alike(other) || self.bytes() == other.bytes())
    }
}

/// Returns the bytes of values. Weights have millions of them: the loop is one that the compiler turns into a copy.
fn stored<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Bytes {
    let mut all = vec![0; values.len() * N];
    let (to, _) = all.as_chunks_mut();
    for (to, &value) in to.iter_mut().zip(values) {
        *to = bytes(value);
    }
    all.into()
}

impl Tensor {
    /// Makes a tensor of densely packed little-endian elements, or says why the bytes do not fit the shape.
    pub fn new(dtype: DataType, dims: &[usize], bytes: Vec<u8>) -> Result<Tensor, OpError> {
        Tensor::shared(dtype, dims, bytes.into())
    }

    /// Makes a tensor of bytes that others have, too, as [`Tensor::new`].
    pub fn shared(dtype: DataType, dims: &[usize], bytes: Bytes) -> Result<Tensor, OpError> {
        let shape: Option<Vec<i64>> = dims.iter().map(|&dim| i64::try_from(dim).ok()).collect();
        let ty = TensorType {
            dtype,
            shape: shape.ok_or_else(|| OpError::too_large("a dimension beyond 2^63"))?,
        };
        if ty.bytes() != Some(bytes.len()) {
            return Err(OpError::invalid(format!(
                "a tensor {ty} cannot have {} bytes of data",
                bytes.len()
            )));
        }
        Ok(Tensor {
            ty,
            contents: Contents::Known(bytes),
        })
    }

    /// Makes a tensor that is computed from another one. Its type has as many elements as are computed.
    pub(crate) fn derived(ty: TensorType, from: Derivation) -> Tensor {
        Tensor {
            ty,
            contents: Contents::Derived(Arc::new(DerivedConstant::new(from))),
        }
    }

    /// Returns what the elements are computed from, unless they are known.
    pub(crate) fn unknown(&self) -> Option<&DerivedConstant> {
        match &self.contents {
            Contents::Derived(derived) if derived.known().is_none() => Some(derived),
            Contents::Derived(_) | Contents::Known(_) => None,
        }
    }

    /// As [`Tensor::unknown`].
    pub(crate) fn derivation(&self) -> Option<&Derivation> {
        self.unknown().map(DerivedConstant::from)
    }

    /// Makes a one-dimensional int64 tensor.
    pub fn from_ints(values: &[i64]) -> Tensor {
        Tensor {
            ty: TensorType::new(DataType::Int64, [values.len() as i64]),
            contents: Contents::Known(stored(values, i64::to_le_bytes)),
        }
    }

    /// Makes a one-dimensional float32 tensor.
    pub fn from_floats(values: &[f32]) -> Tensor {
        Tensor {
            ty: TensorType::new(DataType::Float32, [values.len() as i64]),
            contents: Contents::Known(stored(values, f32::to_le_bytes)),
        }
    }

    /// Makes a tensor without dimensions from a number, converted to `dtype`.
    pub fn scalar(dtype: DataType, value: f64) -> Result<Tensor, OpError> {
        let bytes: Vec<u8> = match dtype {
            DataType::Float32 => (value as f32).to_le_bytes().to_vec(),
            DataType::Float16 => F16::from_f64(value).to_le_bytes().to_vec(),
            DataType::BFloat16 => BF16::from_f64(value).to_le_bytes().to_vec(),
            DataType::Float64 => value.to_le_bytes().to_vec(),
            DataType::Int8 => (value as i8).to_le_bytes().to_vec(),
            DataType::Int16 => (value as i16).to_le_bytes().to_vec(),
            DataType::Int32 => (value as i32).to_le_bytes().to_vec(),
            DataType::Int64 => (value as i64).to_le_bytes().to_vec(),
            DataType::UInt8 => vec![value as u8],
            DataType::UInt16 => (value as u16).to_le_bytes().to_vec(),
            DataType::UInt32 => (value as u32).to_le_bytes().to_vec(),
            DataType::UInt64 => (value as u64).to_le_bytes().to_vec(),
            DataType::Bool => vec![u8::from(value != 0.0)],
            DataType::Complex32 => [F16::from_f64(value), F16::from_f64(0.0)]
                .map(F16::to_le_bytes)
                .concat(),
            DataType::Complex64 => [value as f32, 0.0].map(f32::to_le_bytes).concat(),
            DataType::Complex128 => [value, 0.0].map(f64::to_le_bytes).concat(),
            other => {
                return Err(OpError::unsupported(format!(
                    "constants of type {other} are not supported"
                )));
            }
        };
        Ok(Tensor {
            ty: TensorType::new(dtype, []),
            contents: Contents::Known(bytes.into()),
        })
    }

    /// Returns type and shape.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// Returns the elements, densely packed, little endian.
    pub fn bytes(&self) -> &[u8] {
        match &self.contents {
            Contents::Known(bytes) => bytes,
            Contents::Derived(derived) => derived.bytes(self.byte_len()),
        }
    }

    /// Returns the length of the elements.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn byte_len(&self) -> usize {
        match &self.contents {
            Contents::Known(bytes) => bytes.len(),
            Contents::Derived(_) => self.ty.bytes().unwrap_or(0),
        }
    }

    /// Returns the elements, and does not keep them if they had to be computed.
    pub fn to_bytes(&self) -> Bytes {
        match &self.contents {
            Contents::Known(bytes) => bytes.clone(),
            Contents::Derived(derived) => match derived.known() {
                Some(bytes) => bytes.clone(),
                None => derived.compute(self.byte_len()),
            },
        }
    }

    /// Returns whether two tensors have the same elements, as far as is seen without computing any: they share them, or compute
    /// them alike from equal ones.
    pub fn is_alike(&self, other: &Tensor) -> bool {
        match (&self.contents, &other.contents) {
            (Contents::Known(one), Contents::Known(two)) => {
                std::ptr::eq::<[u8]>(&**one, &**two) || one == two
            }
            (Contents::Derived(one), Contents::Derived(two)) => {
                Arc::ptr_eq(one, two) || one.from() == two.from()
            }
            (Contents::Known(_), Contents::Derived(_))
            | (Contents::Derived(_), Contents::Known(_)) => false,
        }
    }

    /// Returns the known elements that this tensor has, or is computed from.
    pub fn origin(&self) -> &[u8] {
        match self.derivation() {
            Some(from) => from.source().origin(),
            None => self.bytes(),
        }
    }

    /// Returns the same elements under another shape, or says that the number of elements differs.
    pub fn reshaped(&self, dims: &[usize]) -> Result<Tensor, OpError> {
        let shape: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let ty = TensorType {
            dtype: self.ty.dtype,
            shape,
        };
        if ty.bytes() != Some(self.byte_len()) {
            return Err(OpError::invalid(format!(
                "a tensor {} cannot be seen as {ty}",
                self.ty
            )));
        }
        Ok(Tensor {
            ty,
            contents: self.contents.clone(),
        })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.ty.elements().unwrap_or(0)
    }

    /// Returns whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values as integers, if the type is an integer type (or bool).
    pub fn ints(&self) -> Option<Vec<i64>> {
        Some(match self.ty.dtype {
            DataType::Int64 => self.values::<i64>()?,
            DataType::Int32 => self.values::<i32>()?.into_iter().map(i64::from).collect(),
            DataType::Int16 => self.values::<i16>()?.into_iter().map(i64::from).collect(),
            DataType::Int8 => self.values::<i8>()?.into_iter().map(i64::from).collect(),
            DataType::UInt8 => self.values::<u8>()?.into_iter().map(i64::from).collect(),
            DataType::UInt16 => self.values::<u16>()?.into_iter().map(i64::from).collect(),
            DataType::UInt32 => self.values::<u32>()?.into_iter().map(i64::from).collect(),
            DataType::UInt64 => self
                .values::<u64>()?
                .into_iter()
                .map(i64::try_from)
                .collect::<Result<_, _>>()
                .ok()?,
            DataType::Bool => self
                .values::<Bool8>()?
                .into_iter()
                .map(|value| i64::from(value.get()))
                .collect(),
            _ => return None,
        })
    }

    /// Returns the values as float64, if the type is a floating-point or integer type.
    pub fn floats(&self) -> Option<Vec<f64>> {
        Some(match self.ty.dtype {
            DataType::Float32 => self.float32s()?.into_iter().map(f64::from).collect(),
            DataType::Float64 => self.values::<f64>()?,
            DataType::Float16 => self.values::<F16>()?.into_iter().map(f64::from).collect(),
            DataType::BFloat16 => self.values::<BF16>()?.into_iter().map(f64::from).collect(),
            // Beyond what int64 can hold there are numbers, too.
            DataType::UInt64 => self
                .values::<u64>()?
                .into_iter()
                .map(|x| x as f64)
                .collect(),
            _ => self.ints()?.into_iter().map(|value| value as f64).collect(),
        })
    }

    /// Returns the values of a float32 tensor.
    pub fn float32s(&self) -> Option<Vec<f32>> {
        if self.ty.dtype != DataType::Float32 {
            return None;
        }
        let (values, _) = self.bytes().as_chunks();
        Some(
            values
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes))
                .collect(),
        )
    }

    /// Returns the values as the Rust type of their own data type.
    pub fn values<T: Element>(&self) -> Option<Vec<T>> {
        if T::DTYPE != Some(self.ty.dtype) {
            return None;
        }
        let layout = Layout::dense(&[self.len()])?;
        let row = View::<T>::new(crate::view::Region::shared(self.bytes()), &layout)
            .ok()?
            .flat();
        Some((0..row.len()).map(|index| row.get(index)).collect())
    }
}
