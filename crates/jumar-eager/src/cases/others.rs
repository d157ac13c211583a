//! Shows what operators do with other tensors than those of the stored cases: integers, and sizes that no memory has.

use std::collections::BTreeMap;

use super::*;

/// Cases of each operator that are taken.
const CASES: usize = 12;

/// Operators that compute integers from functions of floats, and why that is right although no list of types has them.
const INTEGERS: &[(&str, &str)] = &[
    (
        "aclnnAddbmm",
        "beta and alpha are converted to the type of the tensors",
    ),
    (
        "aclnnAddcmul",
        "value is converted to the type of the tensors",
    ),
    (
        "aclnnAddmv",
        "beta and alpha are converted to the type of the tensors",
    ),
    (
        "aclnnBaddbmm",
        "beta and alpha are converted to the type of the tensors",
    ),
    (
        "aclnnConstantPadNd",
        "value is converted to the type of the tensors",
    ),
    (
        "aclnnForeachAddListV2",
        "alpha is converted to the type of the tensors",
    ),
    (
        "aclnnForeachAddScalarV2",
        "the scalar is converted to the type of the tensors",
    ),
    (
        "aclnnForeachAddcmulScalarV2",
        "the scalar is converted to the type of the tensors",
    ),
    (
        "aclnnForeachMulScalarV2",
        "the scalar is converted to the type of the tensors",
    ),
    (
        "aclnnFmodScalar",
        "the result of a division by a number is converted to the type of out",
    ),
    (
        "aclnnInplaceAddbmm",
        "beta and alpha are converted to the type of the tensors",
    ),
    (
        "aclnnInplaceAddcmul",
        "value is converted to the type of the tensors",
    ),
    (
        "aclnnInplaceBaddbmm",
        "beta and alpha are converted to the type of the tensors",
    ),
    (
        "aclnnInplaceScatterReduce",
        "PyTorch rounds means of integers down",
    ),
    (
        "aclnnLogSpace",
        "PyTorch truncates to the type of the result",
    ),
    (
        "aclnnQuantMatmulV3",
        "an integer scale has the bits of a float32",
    ),
    (
        "aclnnScatterReduce",
        "PyTorch rounds means of integers down",
    ),
    (
        "aclnnRemainderScalarTensor",
        "the result of a division of a number is converted to the type of out",
    ),
    (
        "aclnnRemainderTensorScalar",
        "the result of a division by a number is converted to the type of out",
    ),
];

/// The stored cases that are not refused and have one rank, by operator.
fn cases_by_operator() -> BTreeMap<String, Vec<Case>> {
    let mut all: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for family in FAMILIES {
        let text = std::fs::read_to_string(folder().join(format!("{family}.txt"))).unwrap();
        let cases = parse(&text).into_iter();
        for case in cases.filter(|case| case.refusal.is_none() && ranks(case).is_none()) {
            all.entry(case.name.clone()).or_default().push(case);
        }
    }
    for cases in all.values_mut() {
        let step = cases.len().div_ceil(CASES);
        let mut index = 0;
        cases.retain(|_| {
            index += 1;
            (index - 1) % step == 0
        });
    }
    all
}

fn signature_of(case: &Case) -> &'static Signature {
    let mut all = crate::signatures::ALL.iter();
    all.find(|one| one.name == case.name).unwrap()
}

/// The case with integers: four times each element, rounded, where it is not too large. Tensors of floats get the type `to`.
fn of_integers(case: &Case, to: DataType) -> Case {
    let signature = signature_of(case);
    let converted = |name: &str, words: &[String]| {
        let name = name.split('[').next().unwrap_or(name);
        let param = signature.params.iter().find(|one| one.name == name);
        let typed = param.is_some_and(|one| {
            use ParamKind::{Tensor, Tensors, Type};
            matches!(one.kind, Tensor | Tensors | Type)
        });
        let dtype = words.first().and_then(|word| DataType::from_name(word));
        let mut words = words.to_vec();
        if typed && dtype.is_some_and(is_real) {
            words[0] = to.name().to_owned();
            for word in words.iter_mut().skip(2) {
                let value = word.parse().ok().filter(|value: &f64| value.is_finite());
                let value = value.map_or(1.0, |value| (value * 4.0).round().clamp(-60.0, 60.0));
                *word = format!("{}", value as i64);
            }
        }
        words
    };
    let inputs = case.inputs.iter();
    let outputs = case.outputs.iter();
    Case {
        line: case.line,
        name: case.name.clone(),
        inputs: inputs
            .map(|(name, words)| (name.clone(), converted(name, words)))
            .collect(),
        outputs: outputs
            .map(|(name, values)| {
                let values = Values {
                    dtype: if is_real(values.dtype) {
                        to
                    } else {
                        values.dtype
                    },
                    dims: values.dims.clone(),
                    elements: vec!["0".to_owned(); values.elements.len()],
                };
                (name.clone(), values)
            })
            .collect(),
        dense_only: case.dense_only,
        formats: case.formats.clone(),
        ..Case::default()
    }
}

/// The type of numbers with a fraction, and without an imaginary part.
fn is_real(dtype: DataType) -> bool {
    use DataType::{BFloat16, Float16, Float32, Float64};
    matches!(dtype, BFloat16 | Float16 | Float32 | Float64)
}

/// Runs a case, and returns its outputs by the names of their parameters. `None`: it is refused.
fn results(case: &Case) -> Option<Vec<(String, Vec<f64>)>> {
    let mut bound = bind(case, signature_of(case), Manner::Dense).ok()?;
    let planned = plan(signature_of(case), &bound.args).ok()?;
    execute(&planned, &mut bound, Workers::ALONE).ok()?;
    let outputs = case.outputs.iter().filter_map(|(name, values)| {
        let (_, memory) = bound.memory.iter().find(|(own, _)| own == name)?;
        let size = values.dtype.size()?;
        let element = |at: &usize| &memory.block.bytes()[at * size..][..size];
        let numbers = memory
            .positions
            .iter()
            .map(|at| decode(values.dtype, element(at)).0);
        Some((name.clone(), numbers.collect()))
    });
    Some(outputs.collect())
}

#[test]
fn integers_are_computed_only_where_a_list_of_types_or_their_definition_says_so() {
    let mut failures = Vec::new();
    for (name, cases) in cases_by_operator() {
        let excused = INTEGERS.iter().any(|(own, _)| *own == name);
        let mut lost = None;
        for case in cases {
            let (floats, integers) = (
                of_integers(&case, DataType::Float32),
                of_integers(&case, DataType::Int32),
            );
            // Integers are accepted more rarely.
            let Some(integers) = results(&integers) else {
                continue;
            };
            let Some(floats) = results(&floats) else {
                continue;
            };
            for ((param, floats), (_, integers)) in floats.iter().zip(&integers) {
                let plain = param.split('[').next().unwrap();
                let params = signature_of(&case).params.iter();
                let types = params.clone().find(|one| one.name == plain).unwrap().types;
                // Complex numbers stay what they are.
                let own = case.outputs.iter().find(|(own, _)| own == param);
                let listed =
                    types != crate::Types::ANY || own.is_none_or(|(_, own)| !is_real(own.dtype));
                let mut pairs = floats.iter().zip(integers);
                let fraction = pairs.find(|(one, _)| {
                    one.is_finite() && one.abs() < 1e6 && (*one - one.round()).abs() > 0.02
                });
                if let Some((float, integer)) = fraction.filter(|_| !listed) {
                    lost.get_or_insert(format!(
                        "{name}, line {}: {param} is {integer} of integers, and {float} of the same numbers as floats",
                        case.line
                    ));
                }
            }
        }
        failures.extend(lost.filter(|_| !excused));
    }
    assert!(
        failures.is_empty(),
        "{} operators\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn a_plan_needs_no_memory_for_each_element_of_a_described_size() {
    // Larger than any memory, and small enough to be described.
    const HUGE: i64 = 1 << 42;
    let mut planned = 0;
    for (_, cases) in cases_by_operator() {
        for case in cases.iter().take(3) {
            let signature = signature_of(case);
            let Ok(bound) = bind(case, signature, Manner::Dense) else {
                continue;
            };
            let mut sizes: Vec<i64> = Vec::new();
            let tensors = |args: &mut [Arg], edit: &mut dyn FnMut(&mut TensorDesc)| {
                for arg in args {
                    match arg {
                        Arg::Tensor(tensor) => edit(&mut tensor.desc),
                        Arg::Tensors(members) => members
                            .iter_mut()
                            .flatten()
                            .for_each(|tensor| edit(&mut tensor.desc)),
                        _ => {}
                    }
                }
            };
            tensors(&mut bound.args.clone(), &mut |desc| {
                sizes.extend(desc.dims.iter().filter(|&&dim| dim > 1));
            });
            sizes.sort_unstable();
            sizes.dedup();
            for size in sizes {
                let mut args = bound.args.clone();
                tensors(&mut args, &mut |desc| {
                    let dims = desc.dims.iter();
                    let dims: Vec<i64> = dims
                        .map(|&dim| if dim == size { HUGE } else { dim })
                        .collect();
                    if *desc.dims != *dims {
                        let format = desc.format;
                        *desc = TensorDesc::contiguous(desc.dtype, &dims);
                        desc.format = format;
                    }
                });
                planned += usize::from(plan(signature, &args).is_ok());
            }
        }
    }
    println!("{planned} calls were planned");
    assert!(planned > 500, "{planned} calls were planned");
}
