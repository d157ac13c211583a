use jumar_ops::{Attrs, Tensor, UNKNOWN, compute};

use super::*;
use crate::control;

#[test]
fn every_parameter_of_a_function_is_bound() {
    for single in all() {
        let name = single.operator.name;
        assert!(jumar_ops::find(name).is_none(), "{name} is defined twice");
        let signature = signature(single.function).expect(name);
        assert!(jumar_eager::is_computed(signature.name), "{name}");
        for param in signature.params {
            let bound = single.argument(param);
            assert!(bound.is_some() || param.optional, "{name}: {}", param.name);
            let known = |input: &str| single.input_index(input).is_some();
            let written = |output: &str| single.output_index(output).is_some();
            let fine = match bound {
                Some(
                    Argument::Input(input) | Argument::Part(input, _) | Argument::Counter(input),
                ) => known(input),
                Some(Argument::Output(output) | Argument::TypeOf(output)) => written(output),
                Some(Argument::Update(from, to)) => known(from) && written(to),
                Some(Argument::Attr(attr) | Argument::Choice(attr, _) | Argument::Pair(attr)) => {
                    single.operator.attrs.iter().any(|def| def.name == attr)
                }
                Some(Argument::Flags(names)) => names
                    .iter()
                    .all(|name| single.operator.attrs.iter().any(|def| def.name == *name)),
                Some(Argument::Null | Argument::One | Argument::Bool(_) | Argument::Text(_))
                | None => true,
            };
            assert!(fine, "{name}: {} is bound to {bound:?}", param.name);
        }
        for (param, _) in single.arguments {
            let known = signature.params.iter().any(|own| own.name == *param);
            assert!(
                known,
                "{name}: {} has no parameter {param}",
                single.function
            );
        }
        for def in single.operator.outputs {
            let written = signature
                .params
                .iter()
                .any(|param| match single.argument(param) {
                    Some(Argument::Output(output) | Argument::Update(_, output)) => {
                        output == def.name
                    }
                    _ => false,
                });
            assert!(written, "{name}: nothing writes {}", def.name);
        }
    }
}

fn floats(dims: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_floats(values).reshaped(dims).unwrap()
}

fn operator(name: &str) -> &'static Operator {
    control::find(name).unwrap()
}

#[test]
fn a_function_with_two_outputs_writes_both() {
    let x = floats(&[2, 3], &[3.0, 1.0, 2.0, -1.0, 5.0, 4.0]);
    let attrs = Attrs::new().with("k", 2i64).with("out_flag", true);
    let found = compute(operator("MoeGatingTopK"), &[Some(&x)], &attrs).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].ints().unwrap(), [0, 2, 1, 2]);
    let total = |row: &[f64]| row.iter().map(|x| x.exp()).sum::<f64>();
    let rows = [[3.0, 1.0, 2.0], [-1.0, 5.0, 4.0]];
    let wanted = [[0, 2], [1, 2]].iter().zip(rows).flat_map(|(picks, row)| {
        let sum = total(&row);
        picks.map(|at: usize| row[at].exp() / sum)
    });
    for (found, wanted) in found[0].floats().unwrap().iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
    }
    // An output that was not asked for has no elements.
    let found = compute(
        operator("MoeGatingTopK"),
        &[Some(&x)],
        &Attrs::new().with("k", 2i64),
    );
    assert!(found.unwrap()[2].is_empty());
}

#[test]
fn an_input_that_is_updated_stays_as_it_was() {
    let x = floats(&[4], &[1.0, 2.0, 3.0, 4.0]);
    let mask = Tensor::new(DataType::Bool, &[4], vec![0, 1, 0, 1]).unwrap();
    let updates = floats(&[2], &[7.0, 8.0]);
    let inputs = [Some(&x), Some(&mask), Some(&updates)];
    let found = compute(operator("MaskedScatter"), &inputs, &Attrs::new()).unwrap();
    assert_eq!(found[0].floats().unwrap(), [1.0, 7.0, 3.0, 8.0]);
    assert_eq!(x.floats().unwrap(), [1.0, 2.0, 3.0, 4.0]);
}

fn infer_gate(x: &TensorType, attrs: &Attrs) -> Result<Vec<TensorType>, OpError> {
    operator("MoeGatingTopK").infer(&InferCx::new(&[Some(x)], &[None], attrs))
}

#[test]
fn shapes_may_be_unknown_until_the_node_runs() {
    let attrs = Attrs::new().with("k", 3i64);
    let x = TensorType::new(DataType::Float32, vec![UNKNOWN, 8]);
    let found = infer_gate(&x, &attrs).unwrap();
    assert_eq!(found[0].shape, [UNKNOWN, 3]);
    assert_eq!(found[1].dtype, DataType::Int32);
    let x = TensorType::of_unknown_rank(DataType::Float32);
    assert_eq!(infer_gate(&x, &attrs).unwrap()[0].rank(), None);
}

#[test]
fn what_the_function_refuses_is_refused_when_shapes_are_inferred() {
    let x = TensorType::new(DataType::Float32, vec![2, 8]);
    let attrs = Attrs::new().with("k", 3i64).with("norm_type", 7i64);
    let error = infer_gate(&x, &attrs).unwrap_err();
    assert_eq!(error.kind(), OpErrorKind::Invalid);
    assert!(error.to_string().contains("normType is 7"), "{error}");
    let error = infer_gate(&x, &Attrs::new().with("k", 9i64)).unwrap_err();
    assert!(error.to_string().contains("MoeGatingTopK"), "{error}");
}

#[test]
fn an_unknown_name_is_found_nowhere() {
    assert!(find("aclnnMoeGatingTopK").is_none());
    assert!(control::find("NoSuchOperator").is_none());
    let attrs = Attrs::new();
    let cx = InferCx::new(&[], &[], &attrs);
    assert_eq!(infer(&cx).unwrap_err().kind(), OpErrorKind::Internal);
}

#[test]
fn the_loss_of_all_rows_has_one_element() {
    let x = floats(&[1, 4], &[0.1, 0.2, 0.4, 0.8]);
    let target = [3i32, 0, -1, 1].map(i32::to_le_bytes).concat();
    let target = Tensor::new(DataType::Int32, &[1, 4], target).unwrap();
    for (reduction, shape) in [("mean", [1]), ("sum", [1]), ("none", [1])] {
        let attrs = Attrs::new().with("reduction", reduction);
        let inputs = [Some(&x), Some(&target)];
        let found = compute(operator("MultilabelMarginLoss"), &inputs, &attrs).unwrap();
        assert_eq!(found[0].ty().shape, shape, "{reduction}");
        // The example in PyTorch's document of the loss.
        assert!((found[0].floats().unwrap()[0] - 0.85).abs() < 1e-6);
        assert_eq!(found[1].ints().unwrap(), [1, 0, 0, 1]);
    }
}
