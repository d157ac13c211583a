//! Nodes of a graph that a single operator computes: stored, planned for each shape, refused.

use jumar_graph::conversion::find;
use jumar_graph::{BuildOptions, Executable, Model, compile};
use jumar_lowering::{Desc, FORMAT_ND, Graph, Input, Node, Output, Value, lower};
use jumar_ops::view::{Block, Region};
use jumar_ops::{Attrs, Memory, Tensor, Workers, compute};
use jumar_types::dtype::DataType;

/// A graph of one gate for any number of rows, as a program describes it.
fn gate(attrs: &[(&str, i64)], rows: i64) -> Graph {
    let x = Desc {
        dims: vec![rows, 8],
        dtype: DataType::Float32.acl(),
        format: FORMAT_ND,
    };
    let output = |name: &str| Output {
        name: name.to_owned(),
        desc: Desc::default(),
    };
    let data = Node {
        name: "x".to_owned(),
        kind: "Data".to_owned(),
        attrs: [("index".to_owned(), Value::Int(0))].into(),
        outputs: vec![Output {
            name: "y".to_owned(),
            desc: x.clone(),
        }],
        ..Node::default()
    };
    let attrs = attrs.iter();
    let node = Node {
        name: "gate".to_owned(),
        kind: "MoeGatingTopK".to_owned(),
        attrs: attrs
            .map(|(name, value)| ((*name).to_owned(), Value::Int(*value)))
            .collect(),
        inputs: vec![Input {
            name: "x".to_owned(),
            from: Some((0, 0)),
            desc: x,
        }],
        outputs: ["y", "expert_idx", "out"].map(output).to_vec(),
        ..Node::default()
    };
    Graph {
        name: "experts".to_owned(),
        nodes: vec![data, node],
        outputs: vec![(1, 0), (1, 1)],
    }
}

#[test]
fn a_node_is_stored_by_its_name_and_runs_for_each_shape_of_its_input() {
    let lowered = lower(&gate(&[("k", 3)], -1), &[]).unwrap();
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
        let x = Tensor::from_floats(&values).reshaped(&[rows, 8]).unwrap();
        let attrs = Attrs::new().with("k", 3i64);
        let wanted = compute(find("MoeGatingTopK").unwrap(), &[Some(&x)], &attrs).unwrap();
        for (found, wanted) in outputs.iter().zip(&wanted) {
            assert_eq!(found.bytes(), wanted.bytes());
        }
    }
}

#[test]
fn a_refusal_names_the_node_and_the_reason() {
    let error = lower(&gate(&[("k", 3), ("norm_type", 7)], 4), &[]).unwrap_err();
    let text = error.to_string();
    for part in [
        "gate (MoeGatingTopK)",
        "normType is 7; it must be 0, 1 or 2",
    ] {
        assert!(text.contains(part), "{text}");
    }
}
