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

/// Makes a tensor of booleans.
pub(crate) fn bools(dims: &[usize], values: &[bool]) -> Tensor {
    let bytes = values.iter().map(|&value| u8::from(value)).collect();
    Tensor::new(DataType::Bool, dims, bytes).unwrap()
}

/// Makes numbers between -1 and 1 that look random and are always the same.
pub(crate) fn noise(dims: &[usize], seed: u32) -> Tensor {
    let count: usize = dims.iter().product();
    let mut random = fastrand::Rng::with_seed(seed.into());
    let values: Vec<f32> = (0..count).map(|_| random.f32() * 2.0 - 1.0).collect();
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

/// Runs an operator and compares its first output with what must come out: exactly for integers, and within
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
    compare(operator, &found, wanted, bound);
}

/// Runs the cases of a file in `cases/`, which `cases/make.py` wrote with ONNX Runtime or ONNX's reference: an operator, its
/// attributes and inputs, and what must come out.
#[track_caller]
pub(crate) fn cases(file: &str) {
    let path = format!("{}/cases/{file}.txt", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut count = 0;
    let (mut name, mut bound, mut attrs, mut inputs) = (String::new(), 0.0, none(), Vec::new());
    let mut wanted = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "case" => {
                (name, bound, attrs, inputs) = (
                    words[1].to_owned(),
                    words[2].parse().unwrap(),
                    none(),
                    Vec::new(),
                )
            }
            "attr" => attrs.set(words[1], attr(words[2], &words[3..])),
            "in" => inputs.push((words[1] != "-").then(|| tensor(&words[1..]))),
            "out" => wanted.push((words[1] != "-").then(|| tensor(&words[1..]))),
            "end" => {
                count += 1;
                let operator = find(&name).unwrap_or_else(|| panic!("no operator {name}"));
                let given: Vec<Option<&Tensor>> = inputs.iter().map(Option::as_ref).collect();
                let found = compute(operator, &given, &attrs).unwrap_or_else(|error| {
                    panic!("{file}, case {count}: {name} refused: {error}")
                });
                for (index, wanted) in wanted.drain(..).enumerate() {
                    let Some(wanted) = wanted else { continue };
                    let found = &found[index];
                    assert_eq!(
                        found.ty(),
                        wanted.ty(),
                        "{file}, case {count}: {name}, output {index}"
                    );
                    compare(
                        &format!("{file}, case {count}: {name}, output {index}"),
                        found,
                        &wanted,
                        bound,
                    );
                }
            }
            other => panic!("{path}: {other}"),
        }
    }
    assert!(count > 0, "{path} is empty");
}

fn attr(kind: &str, words: &[&str]) -> crate::Attr {
    match kind {
        "int" => words[0].parse::<i64>().unwrap().into(),
        "float" => words[0].parse::<f32>().unwrap().into(),
        "bool" => (words[0] == "1").into(),
        "str" => words.first().copied().unwrap_or("").into(),
        "ints" => words
            .iter()
            .map(|word| word.parse::<i64>().unwrap())
            .collect::<Vec<_>>()
            .into(),
        "floats" => words
            .iter()
            .map(|word| word.parse::<f32>().unwrap())
            .collect::<Vec<_>>()
            .into(),
        "strs" => words
            .iter()
            .map(|&word| word.to_owned())
            .collect::<Vec<_>>()
            .into(),
        "type" => DataType::from_name(words[0]).unwrap().into(),
        other => panic!("an attribute of kind {other}"),
    }
}

/// Reads `float32 2x3 1 2 3 4 5 6`; a tensor without dimensions is `float32 x 1`.
fn tensor(words: &[&str]) -> Tensor {
    let dtype = DataType::from_name(words[0]).unwrap();
    let dims: Vec<usize> = words[1]
        .split('x')
        .filter(|dim| !dim.is_empty())
        .map(|dim| dim.parse().unwrap())
        .collect();
    let values: Vec<f64> = words[2..]
        .iter()
        .map(|word| word.parse().unwrap())
        .collect();
    let bytes = values
        .iter()
        .flat_map(|&value| Tensor::scalar(dtype, value).unwrap().bytes().to_vec())
        .collect();
    Tensor::new(dtype, &dims, bytes).unwrap()
}

#[track_caller]
fn compare(what: &str, found: &Tensor, wanted: &Tensor, bound: f64) {
    if !wanted.ty().dtype.is_float() {
        assert_eq!(found.bytes(), wanted.bytes(), "{what}");
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
        assert!(near, "{what}: element {index} is {a}, and has to be {b}");
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
