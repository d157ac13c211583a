//! Inference of the outputs' shapes, by the names of inputs and attributes.

use jumar_ops::{Attr, InferCx, OpError, OpErrorKind, Operator, TensorType, UNKNOWN};
use jumar_types::dtype::DataType;

use super::internal;

/// What inference sees of a node.
pub(super) struct Shapes<'a, 'b> {
    cx: &'a InferCx<'b>,
    operator: &'static Operator,
}

pub(super) fn invalid(text: impl Into<Box<str>>) -> OpError {
    OpError::new(OpErrorKind::Invalid, text)
}

pub(super) fn unsupported(text: impl Into<Box<str>>) -> OpError {
    OpError::new(OpErrorKind::NotSupported, text)
}

impl<'a, 'b> Shapes<'a, 'b> {
    pub fn new(cx: &'a InferCx<'b>, operator: &'static Operator) -> Shapes<'a, 'b> {
        Shapes { cx, operator }
    }

    /// Infers the outputs as an operator of floats does that has the same inputs and attributes.
    pub fn as_real(&self, operator: &str) -> Result<Vec<TensorType>, OpError> {
        let real = jumar_ops::find(operator)
            .ok_or_else(|| internal(format!("there is no operator {operator}")))?;
        (real.infer)(self.cx)
    }

    fn index(&self, name: &str) -> Result<usize, OpError> {
        let mut inputs = self.operator.inputs.iter();
        inputs
            .position(|def| def.name == name)
            .ok_or_else(|| internal(format!("there is no input {name}")))
    }

    /// Returns whether an input was given.
    pub fn has(&self, name: &str) -> bool {
        self.index(name).is_ok_and(|index| self.cx.has(index))
    }

    /// Returns the type of an input.
    pub fn of(&self, name: &str) -> Result<&'b TensorType, OpError> {
        self.cx.input(self.index(name)?)
    }

    /// Returns the type of an input, with other elements.
    pub fn with(&self, name: &str, dtype: DataType) -> Result<TensorType, OpError> {
        Ok(TensorType::new(dtype, self.of(name)?.shape.clone()))
    }

    /// Returns the dimensions of an input, which has to have so many: `None` where their number is not known yet.
    pub fn dims<const N: usize>(&self, name: &str) -> Result<Option<[i64; N]>, OpError> {
        let ty = self.of(name)?;
        if ty.rank().is_none() {
            return Ok(None);
        }
        <[i64; N]>::try_from(&ty.shape[..]).map(Some).map_err(|_| {
            invalid(format!(
                "its input {name} is {ty}; it must have {N} dimensions"
            ))
        })
    }

    /// Returns the shape of an input without its last `count` dimensions.
    pub fn rows(&self, name: &str, count: usize, dtype: DataType) -> Result<TensorType, OpError> {
        let ty = self.of(name)?;
        match ty.rank() {
            None => Ok(TensorType::of_unknown_rank(dtype)),
            Some(rank) if rank < count => Err(invalid(format!(
                "its input {name} is {ty}; it must have at least {count} dimensions"
            ))),
            Some(rank) => Ok(TensorType::new(dtype, ty.shape[..rank - count].to_vec())),
        }
    }

    /// Returns the type of an output that is not computed.
    pub fn nothing(dtype: DataType) -> TensorType {
        TensorType::new(dtype, vec![0])
    }

    pub fn int(&self, name: &str) -> Result<i64, OpError> {
        match self.cx.attr(name) {
            Some(Attr::Int(value)) => Ok(value),
            _ => Err(internal(format!("the attribute {name} is missing"))),
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool, OpError> {
        match self.cx.attr(name) {
            Some(Attr::Bool(value)) => Ok(value),
            _ => Err(internal(format!("the attribute {name} is missing"))),
        }
    }

    pub fn text(&self, name: &str) -> Result<String, OpError> {
        match self.cx.attr(name) {
            Some(Attr::Str(value)) => Ok(value),
            _ => Err(internal(format!("the attribute {name} is missing"))),
        }
    }

    pub fn ints(&self, name: &str) -> Result<Vec<i64>, OpError> {
        match self.cx.attr(name) {
            Some(Attr::Ints(list)) => Ok(list),
            _ => Err(internal(format!("the attribute {name} is missing"))),
        }
    }

    /// Returns the two numbers of an attribute, where one stands for both.
    pub fn pair(&self, name: &str) -> Result<[i64; 2], OpError> {
        pair(name, &self.ints(name)?)
    }

    /// Returns the integers of an input, if they are known.
    pub fn values(&self, name: &str) -> Option<Vec<i64>> {
        self.cx.constant(self.index(name).ok()?)?.ints()
    }

    /// Returns the data type that an attribute names by its number.
    pub fn dtype(&self, name: &str) -> Result<DataType, OpError> {
        let number = self.int(name)?;
        i32::try_from(number)
            .ok()
            .and_then(DataType::from_acl)
            .filter(|dtype| dtype.size().is_some())
            .ok_or_else(|| {
                unsupported(format!(
                    "its attribute {name} is the data type {number}, which is not supported"
                ))
            })
    }
}

/// Returns the numbers for rows and columns of a list: one stands for both, and of four the first and second, and the third and
/// fourth have to be equal (before and behind).
pub(super) fn pair(name: &str, list: &[i64]) -> Result<[i64; 2], OpError> {
    match *list {
        [both] => Ok([both, both]),
        [rows, columns] => Ok([rows, columns]),
        [top, bottom, left, right] if top == bottom && left == right => Ok([top, left]),
        _ => Err(unsupported(format!(
            "its attribute {name} is {list:?}; one number, two, or four in equal pairs are supported"
        ))),
    }
}

/// Multiplies dimensions, some of which may be unknown.
pub(super) fn product(dims: &[i64]) -> i64 {
    if dims.iter().any(|&dim| dim < 0) {
        return UNKNOWN;
    }
    dims.iter().product()
}
