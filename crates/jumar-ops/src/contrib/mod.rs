//! Operators of the domain `com.microsoft`, which ONNX Runtime's optimiser and quantiser, and exporters for it, write.
//!
//! Each becomes standard operators, which are converted as if the file held them. The definitions are those of ONNX Runtime's page of
//! contributed operators.

mod attention;
mod experts;
mod float;
mod layout;
mod quantised;

use jumar_types::dtype::DataType;

use crate::onnx::LATEST;
use crate::{Attrs, Builder, OnnxForm, OnnxNode, OpError, Tensor, ValueRef, find_onnx};

type Values = Result<Vec<ValueRef>, OpError>;

/// Finds the conversion of an operator of the domain `com.microsoft`.
pub fn find_contrib(name: &str) -> Option<&'static OnnxForm> {
    all().find(|form| form.name == name)
}

fn all() -> impl Iterator<Item = &'static OnnxForm> {
    let files = [
        float::FORMS,
        quantised::FORMS,
        attention::FORMS,
        layout::FORMS,
        experts::FORMS,
    ];
    files.into_iter().flatten()
}

const fn form(
    name: &'static str,
    lower: fn(&mut dyn Builder, &OnnxNode<'_>) -> Values,
) -> OnnxForm {
    OnnxForm::new(name, 1, LATEST, lower)
}

/// Converts a standard operator and returns its outputs.
pub(crate) fn standard(
    builder: &mut dyn Builder,
    name: &str,
    inputs: &[Option<ValueRef>],
    attrs: &Attrs,
    outputs: usize,
) -> Values {
    let form = find_onnx(name, LATEST)
        .map_err(|_| OpError::internal(format!("there is no standard operator {name}")))?;
    let used = vec![true; outputs];
    let node = OnnxNode::new(LATEST, inputs, &used, attrs);
    let values = (form.lower)(builder, &node)?;
    match node.leftovers().first() {
        None => Ok(values),
        Some(attr) => Err(OpError::unsupported(format!(
            "the attribute {attr} is not supported"
        ))),
    }
}

/// Converts a standard operator of one output.
pub(crate) fn one(
    builder: &mut dyn Builder,
    name: &str,
    inputs: &[Option<ValueRef>],
    attrs: &Attrs,
) -> Result<ValueRef, OpError> {
    standard(builder, name, inputs, attrs, 1)?
        .first()
        .copied()
        .ok_or_else(|| OpError::internal("a node without an output"))
}

/// Converts a standard operator of one output, whose inputs are all given and which has no attributes.
pub(crate) fn plain(
    builder: &mut dyn Builder,
    name: &str,
    inputs: &[ValueRef],
) -> Result<ValueRef, OpError> {
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    one(builder, name, &inputs, &Attrs::new())
}

/// Adds a value that may be left out.
fn add_if(
    builder: &mut dyn Builder,
    value: ValueRef,
    more: Option<ValueRef>,
) -> Result<ValueRef, OpError> {
    match more {
        None => Ok(value),
        Some(more) => plain(builder, "Add", &[value, more]),
    }
}

/// Multiplies by a number.
fn scaled(builder: &mut dyn Builder, value: ValueRef, by: f32) -> Result<ValueRef, OpError> {
    if by == 1.0 {
        return Ok(value);
    }
    let factor = Tensor::scalar(builder.ty(value).dtype, by.into())?;
    let factor = builder.add_constant(factor);
    plain(builder, "Mul", &[value, factor])
}

fn transposed(
    builder: &mut dyn Builder,
    value: ValueRef,
    perm: Vec<i64>,
) -> Result<ValueRef, OpError> {
    let attrs = Attrs::new().with("perm", perm);
    one(builder, "Transpose", &[Some(value)], &attrs)
}

pub(crate) fn ints(builder: &mut dyn Builder, values: &[i64]) -> ValueRef {
    builder.add_constant(Tensor::from_ints(values))
}

fn reshaped(
    builder: &mut dyn Builder,
    value: ValueRef,
    shape: &[i64],
) -> Result<ValueRef, OpError> {
    let shape = ints(builder, shape);
    plain(builder, "Reshape", &[value, shape])
}

fn unsqueezed(
    builder: &mut dyn Builder,
    value: ValueRef,
    axes: &[i64],
) -> Result<ValueRef, OpError> {
    let axes = ints(builder, axes);
    plain(builder, "Unsqueeze", &[value, axes])
}

fn sliced(
    builder: &mut dyn Builder,
    value: ValueRef,
    start: i64,
    end: i64,
    axis: i64,
) -> Result<ValueRef, OpError> {
    let [start, end, axis] = [start, end, axis].map(|number| ints(builder, &[number]));
    plain(builder, "Slice", &[value, start, end, axis])
}

fn scalar(builder: &mut dyn Builder, dtype: DataType, value: f64) -> Result<ValueRef, OpError> {
    Ok(builder.add_constant(Tensor::scalar(dtype, value)?))
}

/// Returns a dimension that has to be known; an axis below 0 counts from the last one.
fn known_dim(
    builder: &dyn Builder,
    value: ValueRef,
    axis: impl TryInto<i64>,
    what: &str,
) -> Result<i64, OpError> {
    let ty = builder.ty(value);
    let axis = axis.try_into().unwrap_or(i64::MAX);
    let rank = ty.shape.len() as i64;
    let at = usize::try_from(if axis < 0 { axis + rank } else { axis });
    let dim = at.ok().and_then(|at| ty.shape.get(at)).copied();
    dim.filter(|&dim| dim >= 0).ok_or_else(|| {
        OpError::unsupported(format!(
            "dimension {axis} of {what} has to be known, and it is {ty}: fix it with input_shape"
        ))
    })
}

/// Refuses an input that is given although the conversion does not know it.
fn refuse_input(node: &OnnxNode<'_>, index: usize, name: &str) -> Result<(), OpError> {
    match node.optional(index) {
        None => Ok(()),
        Some(_) => Err(OpError::unsupported(format!(
            "the input {name} is not supported"
        ))),
    }
}

/// Refuses used outputs from one index on.
fn refuse_outputs(node: &OnnxNode<'_>, from: usize) -> Result<(), OpError> {
    match (from..node.outputs).find(|&index| node.uses_output(index)) {
        None => Ok(()),
        Some(index) => Err(OpError::unsupported(format!(
            "its output {index} is not supported"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_one_conversion() {
        for form in all() {
            let alike = all().filter(|other| other.name == form.name).count();
            assert_eq!(alike, 1, "{}", form.name);
            assert!(find_contrib(form.name).is_some());
        }
        assert!(find_contrib("Nonsense").is_none());
    }
}
