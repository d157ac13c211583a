use jumar_ops::view::Block;
use jumar_ops::{Attrs, Memory, Tensor, UNKNOWN, Workers, compute};

use super::*;
use crate::{BuildOptions, Executable, Model, compile, control, ge};

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

/// A graph of one gate for any number of rows, as a program describes it.
fn gate(attrs: &[(&str, i64)], rows: i64) -> ge::Graph {
    let x = ge::Desc {
        dims: vec![rows, 8],
        dtype: DataType::Float32.acl(),
        format: ge::FORMAT_ND,
    };
    let output = |name: &str| ge::Output {
        name: name.to_owned(),
        desc: ge::Desc::default(),
    };
    let data = ge::Node {
        name: "x".to_owned(),
        kind: "Data".to_owned(),
        attrs: [("index".to_owned(), ge::Value::Int(0))].into(),
        outputs: vec![ge::Output {
            name: "y".to_owned(),
            desc: x.clone(),
        }],
        ..ge::Node::default()
    };
    let attrs = attrs.iter();
    let node = ge::Node {
        name: "gate".to_owned(),
        kind: "MoeGatingTopK".to_owned(),
        attrs: attrs
            .map(|(name, value)| ((*name).to_owned(), ge::Value::Int(*value)))
            .collect(),
        inputs: vec![ge::Input {
            name: "x".to_owned(),
            from: Some((0, 0)),
            desc: x,
        }],
        outputs: ["y", "expert_idx", "out"].map(output).to_vec(),
        ..ge::Node::default()
    };
    ge::Graph {
        name: "experts".to_owned(),
        nodes: vec![data, node],
        outputs: vec![(1, 0), (1, 1)],
    }
}

#[test]
fn a_node_is_stored_by_its_name_and_runs_for_each_shape_of_its_input() {
    let lowered = ge::lower(&gate(&[("k", 3)], -1), &[]).unwrap();
    let mut file = Vec::new();
    let options = BuildOptions {
        keep_open: true,
        ..BuildOptions::default()
    };
    compile(lowered.graph, &options)
        .unwrap()
        .write(&mut file)
        .unwrap();
    let model = Model::read(&file).unwrap();
    assert!(
        model
            .graph()
            .nodes
            .iter()
            .any(|node| node.operator.name == "MoeGatingTopK")
    );
    let executable = model.executable().unwrap();
    let Executable::Dynamic(dynamic) = &executable else {
        panic!("the graph has a dynamic dimension")
    };
    for rows in [1, 5] {
        let values: Vec<f32> = (0..rows * 8)
            .map(|at| ((at * 29) % 37) as f32 / 8.0)
            .collect();
        let plan = dynamic
            .specialise(&[vec![rows as i64, 8]])
            .unwrap()
            .unwrap();
        let mut x = Block::of(
            &values
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect::<Vec<_>>(),
        );
        let mut outputs = [Block::zeroed(rows * 12), Block::zeroed(rows * 12)];
        let mut arena = Block::zeroed(plan.arena_bytes);
        {
            let outputs: Vec<Region<'_>> = outputs.iter_mut().map(Block::region).collect();
            plan.run(&Memory {
                weights: Region::EMPTY,
                arena: arena.region(),
                constants: Region::EMPTY,
                inputs: &[x.region()],
                outputs: &outputs,
                workers: Workers::ALONE,
            })
            .unwrap();
        }
        let x = floats(&[rows, 8], &values);
        let attrs = Attrs::new().with("k", 3i64);
        let wanted = compute(operator("MoeGatingTopK"), &[Some(&x)], &attrs).unwrap();
        for (found, wanted) in outputs.iter().zip(&wanted) {
            assert_eq!(found.bytes(), wanted.bytes());
        }
    }
}

#[test]
fn a_refusal_names_the_node_and_the_reason() {
    let error = ge::lower(&gate(&[("k", 3), ("norm_type", 7)], 4), &[]).unwrap_err();
    let text = error.to_string();
    for part in [
        "gate (MoeGatingTopK)",
        "normType is 7; it must be 0, 1 or 2",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
