//! The arguments of one call, as plain values.

use std::ops::Deref;

use jumar_types::dtype::DataType;

/// Dimensions that are stored inline.
const INLINE: usize = 8;

/// Dimensions or strides of a tensor. Up to eight are stored without an allocation.
#[derive(Clone)]
pub struct Dims(DimsStorage);

#[derive(Clone)]
enum DimsStorage {
    Inline { len: u8, values: [i64; INLINE] },
    Boxed(Box<[i64]>),
}

impl Default for Dims {
    fn default() -> Dims {
        Dims(DimsStorage::Inline {
            len: 0,
            values: [0; INLINE],
        })
    }
}

impl Dims {
    /// Copies a slice.
    pub fn new(values: &[i64]) -> Dims {
        let mut dims = Dims::default();
        dims.set(values);
        dims
    }

    /// Copies a slice to where other values lie.
    #[inline]
    pub fn set(&mut self, values: &[i64]) {
        if values.len() > INLINE {
            self.0 = DimsStorage::Boxed(values.into());
            return;
        }
        if let DimsStorage::Boxed(_) = self.0 {
            *self = Dims::default();
        }
        if let DimsStorage::Inline { len, values: slots } = &mut self.0 {
            *len = values.len() as u8;
            // Each by itself: a call that copies so few takes longer.
            for (slot, &value) in slots.iter_mut().zip(values) {
                *slot = value;
            }
        }
    }

    /// Returns the row-major strides of a shape. They wrap around where the shape is too large.
    pub fn contiguous(shape: &[i64]) -> Dims {
        let mut strides = Dims::new(shape);
        let values = match &mut strides.0 {
            DimsStorage::Inline { values, .. } => &mut values[..shape.len()],
            DimsStorage::Boxed(values) => values,
        };
        let mut step = 1i64;
        for value in values.iter_mut().rev() {
            let dim = *value;
            *value = step;
            step = step.wrapping_mul(dim.max(1));
        }
        strides
    }
}

impl Deref for Dims {
    type Target = [i64];

    #[inline]
    fn deref(&self) -> &[i64] {
        match &self.0 {
            DimsStorage::Inline { len, values } => &values[..usize::from(*len)],
            DimsStorage::Boxed(values) => values,
        }
    }
}

impl From<&[i64]> for Dims {
    fn from(values: &[i64]) -> Dims {
        Dims::new(values)
    }
}

impl PartialEq for Dims {
    fn eq(&self, other: &Dims) -> bool {
        **self == **other
    }
}

impl Eq for Dims {}

impl std::fmt::Debug for Dims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The description of a tensor, as `aclCreateTensor` takes it. Nothing in it was checked.
///
/// # Units
///
/// Dimensions, strides and the offset count elements. Element `i` lies at `offset + sum(i[k] * strides[k])` from the
/// data pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorDesc {
    /// The element type.
    pub dtype: DataType,
    /// The format, as `aclFormat` numbers it.
    pub format: i32,
    /// The shape of the view.
    pub dims: Dims,
    /// The strides of the view.
    pub strides: Dims,
    /// The distance of the first element from the data pointer.
    pub offset: i64,
    /// The shape of the storage; only its number of elements matters.
    pub storage: Dims,
}

impl TensorDesc {
    /// Describes a contiguous tensor of the format ND.
    pub fn contiguous(dtype: DataType, dims: &[i64]) -> TensorDesc {
        TensorDesc {
            dtype,
            format: 2,
            dims: Dims::new(dims),
            strides: Dims::contiguous(dims),
            offset: 0,
            storage: Dims::new(dims),
        }
    }
}

/// A tensor argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorArg {
    /// The description.
    pub desc: TensorDesc,
    /// The index among the tensors of the call in the order of the signature, members of lists counted one by one.
    /// [`Plan::run`](crate::Plan::run) finds the memory of the tensor at this index.
    pub buffer: usize,
}

/// A communicator: operators that are joined with collectives take one by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name that all ranks share.
    pub name: String,
    /// The rank of the caller.
    pub rank: u32,
    /// The number of ranks.
    pub size: u32,
}

/// One argument of a call.
#[expect(
    clippy::large_enum_variant,
    reason = "most arguments are tensors; a box would be an allocation for each of them in each call"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// A null pointer.
    Null,
    /// A tensor.
    Tensor(TensorArg),
    /// A list of tensors; members may be null.
    Tensors(Vec<Option<TensorArg>>),
    /// A host scalar.
    Scalar(Scalar),
    /// A list of host scalars.
    Scalars(Vec<Scalar>),
    /// An array of integers.
    Ints(Vec<i64>),
    /// An array of numbers.
    Floats(Vec<f32>),
    /// An array of booleans.
    Bools(Vec<bool>),
    /// An integer.
    Int(i64),
    /// A number.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// The name of a communicator that exists.
    Group(Group),
    /// A data type.
    Type(DataType),
}

/// A host scalar: a value in the type that the caller gave.
#[derive(Clone, Copy, PartialEq)]
pub struct Scalar {
    dtype: DataType,
    bits: u128,
}

impl std::fmt::Debug for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (real, imaginary) = self.complex();
        match self.dtype {
            DataType::Complex32 | DataType::Complex64 | DataType::Complex128 => {
                write!(f, "{} {real}+{imaginary}i", self.dtype)
            }
            dtype if dtype.is_float() => write!(f, "{dtype} {real}"),
            dtype => write!(f, "{dtype} {}", self.int()),
        }
    }
}

impl Scalar {
    /// Creates a scalar from the little-endian bytes of one element. `None`: the number of bytes is not the size of the type,
    /// or scalars of the type do not exist.
    pub fn new(dtype: DataType, bytes: &[u8]) -> Option<Scalar> {
        let supported = dtype.is_float()
            || dtype.is_integer()
            || matches!(
                dtype,
                DataType::Bool | DataType::Complex32 | DataType::Complex64 | DataType::Complex128
            );
        if !supported || dtype.size() != Some(bytes.len()) {
            return None;
        }
        let mut integer = [0; 16];
        integer[..bytes.len()].copy_from_slice(bytes);
        Some(Scalar {
            dtype,
            bits: u128::from_le_bytes(integer),
        })
    }

    /// The integer 1.
    pub(crate) const ONE: Scalar = Scalar {
        dtype: DataType::Int64,
        bits: 1,
    };

    /// Returns whether its value is 0, and its bits in every type are 0 as well: -0.0 does not count.
    pub(crate) fn is_zero(&self) -> bool {
        self.bits == 0
    }

    /// Creates a float64 scalar.
    pub fn of_f64(value: f64) -> Scalar {
        Scalar {
            dtype: DataType::Float64,
            bits: u128::from(value.to_bits()),
        }
    }

    /// Creates an int64 scalar.
    pub fn of_i64(value: i64) -> Scalar {
        Scalar {
            dtype: DataType::Int64,
            bits: u128::from(value as u64),
        }
    }

    /// Creates a boolean scalar.
    pub fn of_bool(value: bool) -> Scalar {
        Scalar {
            dtype: DataType::Bool,
            bits: u128::from(value),
        }
    }

    /// Returns words that differ for scalars that differ.
    pub fn words(&self) -> [u64; 3] {
        let bits = self.bits;
        [self.dtype as u64, bits as u64, (bits >> 64) as u64]
    }

    /// Returns the type.
    pub const fn dtype(&self) -> DataType {
        self.dtype
    }

    /// Returns the value as a real and an imaginary part. Integers beyond 2^53 are rounded.
    pub fn complex(&self) -> (f64, f64) {
        let bits = self.bits;
        let half = |bits: u128| jumar_ops::view::F16::from_bits(bits as u16).to_f64();
        match self.dtype {
            DataType::Float64 => (f64::from_bits(bits as u64), 0.0),
            DataType::Float32 => (f64::from(f32::from_bits(bits as u32)), 0.0),
            DataType::Float16 => (half(bits), 0.0),
            DataType::BFloat16 => (jumar_ops::view::BF16::from_bits(bits as u16).to_f64(), 0.0),
            DataType::Complex128 => (
                f64::from_bits(bits as u64),
                f64::from_bits((bits >> 64) as u64),
            ),
            DataType::Complex64 => (
                f64::from(f32::from_bits(bits as u32)),
                f64::from(f32::from_bits((bits >> 32) as u32)),
            ),
            DataType::Complex32 => (half(bits), half(bits >> 16)),
            DataType::UInt64 => (bits as u64 as f64, 0.0),
            _ => (self.int() as f64, 0.0),
        }
    }

    /// Returns an integer as a tensor of an integer type holds it: it wraps around. Scalars and types of other kinds keep the value.
    pub(crate) fn wrapped(self, dtype: DataType) -> Scalar {
        if !self.dtype.is_integer() {
            return self;
        }
        let value = self.int();
        match dtype {
            DataType::Int8 => Scalar::of_i64(i64::from(value as i8)),
            DataType::Int16 => Scalar::of_i64(i64::from(value as i16)),
            DataType::Int32 => Scalar::of_i64(i64::from(value as i32)),
            DataType::UInt8 => Scalar::of_i64(i64::from(value as u8)),
            DataType::UInt16 => Scalar::of_i64(i64::from(value as u16)),
            DataType::UInt32 => Scalar::of_i64(i64::from(value as u32)),
            _ => self,
        }
    }

    /// Returns the value as a tensor of a type holds it: rounded to float16 or bfloat16. Other types keep the value.
    pub(crate) fn rounded(self, dtype: DataType) -> Scalar {
        use jumar_ops::view::{BF16, F16};
        if crate::promote::is_complex(self.dtype) {
            return self;
        }
        match dtype {
            DataType::Float16 => Scalar::of_f64(F16::from_f64(self.real()).to_f64()),
            DataType::BFloat16 => Scalar::of_f64(BF16::from_f64(self.real()).to_f64()),
            _ => self,
        }
    }

    /// Returns the real part.
    pub fn real(&self) -> f64 {
        self.complex().0
    }

    /// Returns the value as an integer: reals are truncated and saturate, uint64 wraps around.
    pub fn int(&self) -> i64 {
        let bits = self.bits;
        match self.dtype {
            DataType::Int64 | DataType::UInt64 => bits as i64,
            DataType::Int32 => i64::from(bits as i32),
            DataType::Int16 => i64::from(bits as i16),
            DataType::Int8 => i64::from(bits as i8),
            DataType::UInt32 => i64::from(bits as u32),
            DataType::UInt16 => i64::from(bits as u16),
            DataType::UInt8 => i64::from(bits as u8),
            DataType::Bool => i64::from(bits as u8 != 0),
            _ => self.complex().0 as i64,
        }
    }

    /// Returns the value as a boolean: whether it is not zero.
    pub fn to_bool(&self) -> bool {
        let (real, imaginary) = self.complex();
        real != 0.0 || imaginary != 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dims_keep_their_values_inline_and_boxed() {
        let mut again = Dims::default();
        for rank in (0..12).chain([3, 9, 0]) {
            let values: Vec<i64> = (0..rank).collect();
            assert_eq!(*Dims::new(&values), *values);
            again.set(&values);
            assert_eq!(*again, *values);
        }
        assert_eq!(*Dims::contiguous(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(*Dims::contiguous(&[2, 0, 4]), [4, 4, 1]);
        assert_eq!(*Dims::contiguous(&[]), []);
    }

    #[test]
    fn scalars_are_read_in_their_own_type() {
        let scalar = |dtype, bytes: &[u8]| Scalar::new(dtype, bytes).unwrap();
        assert_eq!(scalar(DataType::Float32, &1.5f32.to_le_bytes()).real(), 1.5);
        assert_eq!(scalar(DataType::Int8, &[0xff]).int(), -1);
        assert_eq!(scalar(DataType::UInt8, &[0xff]).real(), 255.0);
        assert_eq!(scalar(DataType::Float16, &[0, 0x3c]).real(), 1.0);
        assert_eq!(scalar(DataType::BFloat16, &[0x80, 0x3f]).real(), 1.0);
        assert_eq!(
            scalar(DataType::Float64, &(-2.9f64).to_le_bytes()).int(),
            -2
        );
        let complex: Vec<u8> = [1.0f32, -2.0]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        assert_eq!(scalar(DataType::Complex64, &complex).complex(), (1.0, -2.0));
        assert!(Scalar::of_f64(f64::NAN).to_bool());
        assert_eq!(Scalar::new(DataType::Int32, &[0; 8]), None);
        assert_eq!(Scalar::new(DataType::Int4, &[0]), None);
        assert_eq!(Scalar::new(DataType::String, &[]), None);
    }
}
