//! The test table of operators: inputs, attributes, and what must come out.

use crate::{Attrs, OpError, Tensor, compute, find};
use jumar_types::dtype::DataType;

/// Makes a float32 tensor.
pub(crate) fn f32s(dims: &[usize], values: &[f32]) -> Tensor {
    Tensor::new(
        DataType::Float32,
        dims,
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    )
    .unwrap()
}

/// Makes an int64 tensor.
pub(crate) fn i64s(dims: &[usize], values: &[i64]) -> Tensor {
    Tensor::new(
        DataType::Int64,
        dims,
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    )
    .unwrap()
}

/// Makes a tensor of truth values.
pub(crate) fn bools(dims: &[usize], values: &[bool]) -> Tensor {
    let bytes = values.iter().map(|&value| u8::from(value)).collect();
    Tensor::new(DataType::Bool, dims, bytes).unwrap()
}

/// Makes numbers between -1 and 1 that look random and are always the same.
pub(crate) fn noise(dims: &[usize], seed: u32) -> Tensor {
    let count: usize = dims.iter().product();
    let mut state = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let values: Vec<f32> = (0..count)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect();
    f32s(dims, &values)
}

/// Converts a tensor to another type.
pub(crate) fn cast(tensor: &Tensor, dtype: DataType) -> Tensor {
    let attrs = Attrs::new().with("dst_type", i64::from(dtype.acl()));
    run("Cast", std::slice::from_ref(tensor), attrs)
        .unwrap()
        .remove(0)
}

/// No attributes.
pub(crate) fn none() -> Attrs {
    Attrs::new()
}

/// Runs an operator.
pub(crate) fn run(operator: &str, inputs: &[Tensor], attrs: Attrs) -> Result<Vec<Tensor>, OpError> {
    let operator = find(operator).expect("a registered operator");
    compute(
        operator,
        &inputs.iter().map(Some).collect::<Vec<_>>(),
        &attrs,
    )
}

/// Runs an operator and compares its first output with what must come out: exactly for whole numbers, and within
/// 1e-6 of the largest number otherwise.
#[track_caller]
pub(crate) fn check(operator: &str, inputs: &[Tensor], attrs: Attrs, wanted: &Tensor) {
    check_within(operator, inputs, attrs, wanted, 1e-6);
}

/// As [`check`], within a given bound.
#[track_caller]
pub(crate) fn check_within(
    operator: &str,
    inputs: &[Tensor],
    attrs: Attrs,
    wanted: &Tensor,
    bound: f64,
) {
    let found = match run(operator, inputs, attrs) {
        Ok(outputs) => outputs.into_iter().next().expect("an output"),
        Err(error) => panic!("{operator} refused: {error}"),
    };
    assert_eq!(found.ty(), wanted.ty(), "{operator}");
    if !wanted.ty().dtype.is_float() {
        assert_eq!(found.bytes(), wanted.bytes(), "{operator}");
        return;
    }
    let (found, wanted) = (found.floats().unwrap(), wanted.floats().unwrap());
    let largest = wanted
        .iter()
        .copied()
        .filter(|x| x.is_finite())
        .fold(1e-30, |most: f64, x| most.max(x.abs()));
    for (index, (a, b)) in found.iter().zip(&wanted).enumerate() {
        let near = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() / largest <= bound;
        assert!(
            near,
            "{operator}: element {index} is {a}, and has to be {b}"
        );
    }
}

/// Runs an operator that has to refuse with a sentence that holds `part`.
#[track_caller]
pub(crate) fn refuse(operator: &str, inputs: &[Tensor], attrs: Attrs, part: &str) {
    match run(operator, inputs, attrs) {
        Ok(_) => panic!("{operator} did not refuse"),
        Err(error) => assert!(error.text().contains(part), "{operator}: {error}"),
    }
}
