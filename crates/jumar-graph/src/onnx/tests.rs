//! Models written message by message, converted, and read again.

use prost::Message;

use super::proto::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorProto, TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use super::*;
use crate::{BuildOptions, Executable, Model, Plan, compile};

const FLOAT: i32 = 1;
const INT64: i32 = 7;
const BOOL: i32 = 9;

/// A port; a negative dimension has a name instead of a number.
fn port(name: &str, elem_type: i32, dims: &[i64]) -> ValueInfoProto {
    let dim = |&dim: &i64| DimensionProto {
        dim_value: (dim >= 0).then_some(dim),
        dim_param: (dim < 0).then(|| "open".to_owned()),
    };
    let shape = TensorShapeProto {
        dim: dims.iter().map(dim).collect(),
    };
    ValueInfoProto {
        name: name.into(),
        r#type: Some(TypeProto {
            tensor_type: Some(TensorTypeProto {
                elem_type,
                shape: Some(shape),
            }),
            ..TypeProto::default()
        }),
    }
}

fn untyped(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: name.into(),
        r#type: None,
    }
}

fn node(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.into()],
        name: format!("make_{output}"),
        op_type: op.into(),
        ..NodeProto::default()
    }
}

fn with_int(mut node: NodeProto, name: &str, value: i64) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: name.into(),
        i: value,
        r#type: 2,
        ..AttributeProto::default()
    });
    node
}

fn with_graph(mut node: NodeProto, name: &str, graph: GraphProto) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: name.into(),
        g: Some(graph),
        r#type: 5,
        ..AttributeProto::default()
    });
    node
}

fn ints(name: &str, dims: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: INT64,
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

fn floats(name: &str, dims: &[i64]) -> TensorProto {
    let count = dims.iter().product::<i64>() as u32;
    let value = |at: u32| (at.wrapping_mul(2_654_435_761) >> 16) as f32 / 65536.0 - 0.5;
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: FLOAT,
        float_data: (0..count).map(value).collect(),
        ..TensorProto::default()
    }
}

fn model(
    inputs: Vec<ValueInfoProto>,
    initializer: Vec<TensorProto>,
    node: Vec<NodeProto>,
    output: &str,
) -> Vec<u8> {
    let graph = GraphProto {
        node,
        name: "g".into(),
        initializer,
        input: inputs,
        output: vec![untyped(output)],
        ..GraphProto::default()
    };
    let opset = OperatorSetIdProto {
        domain: String::new(),
        version: 17,
    };
    ModelProto {
        ir_version: 8,
        graph: Some(graph),
        opset_import: vec![opset],
        ..ModelProto::default()
    }
    .encode_to_vec()
}

fn built(onnx: &[u8]) -> Result<Model> {
    let options = BuildOptions {
        keep_open: true,
        ..BuildOptions::default()
    };
    compile(import(onnx, None)?, &options)
}

/// Writes a model and reads it again: what is built can be loaded.
fn read_again(model: &Model) -> Model {
    let mut file = Vec::new();
    model.write(&mut file).unwrap();
    Model::read(&file).unwrap()
}

fn branch(nodes: Vec<NodeProto>, output: &str) -> GraphProto {
    GraphProto {
        node: nodes,
        name: format!("to_{output}"),
        output: vec![untyped(output)],
        ..GraphProto::default()
    }
}

/// What exporters write for a `squeeze` of a dimension of which they do not know whether it is 1.
fn guarded_squeeze(x: &str, prefix: &str) -> Vec<NodeProto> {
    let name = |part: &str| format!("{prefix}{part}");
    let squeeze = branch(
        vec![node("Squeeze", &[x, "last"], &name("squeezed"))],
        &name("squeezed"),
    );
    let keep = branch(vec![node("Identity", &[x], &name("kept"))], &name("kept"));
    let choice = node("If", &[&name("one")], &name("y"));
    let choice = with_graph(choice, "then_branch", squeeze);
    vec![
        node("Shape", &[x], &name("shape")),
        node("Gather", &[&name("shape"), "last"], &name("dim")),
        node("Equal", &[&name("dim"), "1"], &name("one")),
        with_graph(choice, "else_branch", keep),
    ]
}

fn constants() -> Vec<TensorProto> {
    vec![ints("last", &[1], &[-1]), ints("1", &[1], &[1])]
}

fn plan_for(model: &Model, dims: &[i64]) -> Option<Plan> {
    match model.executable().unwrap() {
        Executable::Dynamic(dynamic) => dynamic.specialise(&[dims.to_vec()]).unwrap(),
        Executable::Planned(plan) => Some(plan),
        Executable::Geared(_) => panic!("a model without gears has gears"),
    }
}

#[test]
fn a_branch_that_does_not_fit_the_shapes_and_is_not_taken_is_no_error() {
    for declared in [[4, 2], [4, -1], [-1, 2], [-1, -1]] {
        let inputs = vec![port("x", FLOAT, &declared)];
        let onnx = model(inputs, constants(), guarded_squeeze("x", ""), "y");
        let model = read_again(&built(&onnx).unwrap());
        let plan = plan_for(&model, &[4, 2]).unwrap();
        assert_eq!(plan.outputs[0].dims, [4, 2], "{declared:?}");
        if declared[1] == -1 {
            let plan = plan_for(&model, &[4, 1]).unwrap();
            assert_eq!(plan.outputs[0].dims, [4], "{declared:?}");
        }
    }
}

#[test]
fn a_branch_inside_a_branch_is_not_checked_either_where_it_is_not_taken() {
    for declared in [[4, 2], [-1, -1]] {
        let inner = branch(guarded_squeeze("x", "inner_"), "inner_y");
        let plain = branch(vec![node("Neg", &["x"], "negative")], "negative");
        let choice = with_graph(node("If", &["c"], "y"), "then_branch", inner);
        let nodes = vec![with_graph(choice, "else_branch", plain)];
        let inputs = vec![port("x", FLOAT, &declared), port("c", 9, &[])];
        let built = built(&model(inputs, constants(), nodes, "y")).unwrap();
        let Executable::Dynamic(dynamic) = read_again(&built).executable().unwrap() else {
            panic!("a model with a condition is run node by node")
        };
        // The condition is a value, so that there is no plan; and no error.
        assert!(dynamic.specialise(&[vec![4, 2], vec![]]).unwrap().is_none());
    }
}

#[test]
fn a_choice_of_which_neither_branch_fits_is_refused() {
    let wrong = |name: &str| branch(vec![node("Squeeze", &["x", "last"], name)], name);
    let choice = with_graph(node("If", &["c"], "y"), "then_branch", wrong("a"));
    let nodes = vec![with_graph(choice, "else_branch", wrong("b"))];
    let inputs = vec![port("x", FLOAT, &[4, 2]), port("c", 9, &[])];
    let error = built(&model(inputs, constants(), nodes, "y")).unwrap_err();
    assert!(error.text().contains("Squeeze"), "{error}");
}

#[test]
fn weights_of_a_branch_are_found_by_the_plan_for_given_dimensions() {
    // Joined while the model is imported: 64 KiB that lie in the weights of the file alone.
    let join = with_int(node("Concat", &["w0", "w1"], "w"), "axis", 1);
    let product = branch(
        vec![join, node("MatMul", &["x", "w"], "product")],
        "product",
    );
    let other = branch(vec![node("Neg", &["x"], "negative")], "negative");
    let choice = with_graph(node("If", &["any"], "y"), "then_branch", product);
    let nodes = vec![
        node("Shape", &["x"], "shape"),
        node("Gather", &["shape", "first"], "batch"),
        node("Greater", &["batch", "none"], "any"),
        with_graph(choice, "else_branch", other),
    ];
    let stored = vec![
        floats("w0", &[128, 64]),
        floats("w1", &[128, 64]),
        ints("first", &[1], &[0]),
        ints("none", &[1], &[0]),
    ];
    let onnx = model(vec![port("x", FLOAT, &[-1, 128])], stored, nodes, "y");
    let model = read_again(&built(&onnx).unwrap());
    let plan = plan_for(&model, &[3, 128]).unwrap();
    assert_eq!(plan.outputs[0].dims, [3, 128]);
    let product = plan
        .steps
        .iter()
        .find(|step| step.operator().contains("MatMul"));
    let weights = product.unwrap().inputs().nth(1).unwrap();
    assert_eq!(weights.buffer(), jumar_ops::BufferKind::Weight);
}

#[test]
fn equal_weights_are_stored_once() {
    // Ten nodes read one initializer, five of them turned round.
    let mut nodes = Vec::new();
    let mut last = "x".to_owned();
    for index in 0..10 {
        let next = format!("h{index}");
        let gemm = node("Gemm", &[&last, "w"], &next);
        nodes.push(with_int(gemm, "transB", index % 2));
        last = next;
    }
    let stored = vec![floats("w", &[64, 64])];
    let onnx = model(vec![port("x", FLOAT, &[2, 64])], stored, nodes, &last);
    let built = built(&onnx).unwrap();
    let one = 64 * 64 * 4;
    assert!(
        built.weights_len() <= 2 * one + 4096,
        "{}",
        built.weights_len()
    );
    assert!(read_again(&built).executable().is_ok());
}

/// Models that take a shape, axes or repeats of `count` numbers, which only a declaration says.
fn with_list_of(count: i64) -> Vec<(&'static str, Vec<u8>)> {
    [
        "Expand",
        "Reshape",
        "ConstantOfShape",
        "Unsqueeze",
        "Tile",
        "Pad",
    ]
    .into_iter()
    .map(|op| {
        let inputs: &[&str] = match op {
            "ConstantOfShape" => &["list"],
            _ => &["x", "list"],
        };
        let ports = vec![port("x", FLOAT, &[1]), port("list", INT64, &[count])];
        (op, model(ports, vec![], vec![node(op, inputs, "y")], "y"))
    })
    .collect()
}

#[test]
fn a_rank_that_a_file_states_is_limited_before_anything_of_that_size_is_allocated() {
    for count in [1 << 17, 1 << 24, 1 << 40, 1 << 62] {
        for (op, onnx) in with_list_of(count) {
            let error = built(&onnx).unwrap_err();
            assert_eq!(error.kind(), GraphErrorKind::TooLarge, "{op}: {error}");
            assert!(error.text().contains(op) || op == "Unsqueeze", "{error}");
        }
    }
    for (op, onnx) in with_list_of(9) {
        if !["Tile", "Pad"].contains(&op) {
            let error = built(&onnx).unwrap_err();
            assert!(error.text().contains("at most 8"), "{op}: {error}");
        }
    }
}

#[test]
fn a_list_that_the_model_makes_is_limited_too() {
    for count in [1 << 17, 1 << 24, 1 << 40] {
        for op in ["Expand", "Reshape", "Tile", "ConstantOfShape"] {
            let inputs: &[&str] = match op {
                "ConstantOfShape" => &["list"],
                _ => &["x", "list"],
            };
            let one = AttributeProto {
                name: "value".into(),
                t: Some(ints("", &[1], &[1])),
                r#type: 4,
                ..AttributeProto::default()
            };
            let mut list = node("ConstantOfShape", &["count"], "list");
            list.attribute.push(one);
            let nodes = vec![list, node(op, inputs, "y")];
            let stored = vec![ints("count", &[1], &[count])];
            let onnx = model(vec![port("x", FLOAT, &[1])], stored, nodes, "y");
            let error = built(&onnx).unwrap_err();
            assert_eq!(error.kind(), GraphErrorKind::TooLarge, "{op}: {error}");
        }
    }
}

#[test]
fn a_border_of_any_size_takes_no_memory_while_the_model_is_built() {
    let stored = vec![ints("pads", &[2], &[0, 1 << 40])];
    let nodes = vec![node("Pad", &["x", "pads"], "y")];
    let onnx = model(vec![port("x", FLOAT, &[1])], stored, nodes, "y");
    let built = built(&onnx).unwrap();
    assert_eq!(
        plan_for(&built, &[1]).unwrap().outputs[0].dims,
        [(1 << 40) + 1]
    );
}

#[test]
fn an_equation_with_more_dimensions_than_a_tensor_has_is_refused_while_it_is_built() {
    let equation = AttributeProto {
        name: "equation".into(),
        s: b"abcde,fghij->abcdefghij".to_vec(),
        r#type: 3,
        ..AttributeProto::default()
    };
    let mut einsum = node("Einsum", &["x", "z"], "y");
    einsum.attribute.push(equation);
    let ports = ["x", "z"].map(|name| port(name, FLOAT, &[-1, 2, 2, 2, 2]));
    let error = built(&model(ports.to_vec(), vec![], vec![einsum], "y")).unwrap_err();
    assert!(error.text().contains("10 dimensions"), "{error}");
}

/// Nodes that make constants of 16 MiB each from one number, and add them up.
fn large_constants(prefix: &str, count: usize) -> (Vec<NodeProto>, String) {
    let name = |part: &str, index: usize| format!("{prefix}{part}{index}");
    let mut nodes = vec![node("ConstantOfShape", &["count"], &name("sum", 0))];
    for index in 1..count {
        let large = name("large", index);
        nodes.push(node("ConstantOfShape", &["count"], &large));
        let (before, sum) = (name("sum", index - 1), name("sum", index));
        nodes.push(node("Add", &[&before, &large], &sum));
    }
    (nodes, name("sum", count - 1))
}

#[test]
fn computed_constants_of_a_small_file_take_little_memory() {
    let (mut nodes, sum) = large_constants("", 8);
    nodes.push(node("Add", &["x", &sum], "y"));
    let stored = vec![ints("count", &[1], &[4 << 20])];
    let onnx = model(vec![port("x", FLOAT, &[1])], stored, nodes, "y");
    assert!(onnx.len() < 4096);
    let built = built(&onnx).unwrap();
    let weights: usize = built
        .graph()
        .values
        .iter()
        .filter_map(|value| Some(value.constant.as_ref()?.bytes().len()))
        .sum();
    assert!(weights <= 64 << 20, "{weights} bytes");
    // The rest is computed when the model runs.
    assert!(read_again(&built).executable().is_ok());
}

#[test]
fn the_graphs_inside_a_model_share_the_memory_for_computed_constants() {
    let mut nodes = Vec::new();
    let mut last = "x".to_owned();
    for index in 0..6 {
        let branches = ["then", "else"].map(|which| {
            let (nodes, sum) = large_constants(&format!("{which}{index}_"), 2);
            branch(nodes, &sum)
        });
        let [one, other] = branches;
        let choice = with_graph(
            node("If", &["choose"], &format!("if{index}")),
            "then_branch",
            one,
        );
        nodes.push(with_graph(choice, "else_branch", other));
        let sum = format!("s{index}");
        nodes.push(node("Add", &[&last, &format!("if{index}")], &sum));
        last = sum;
    }
    let stored = vec![ints("count", &[1], &[4 << 20])];
    let ports = vec![port("x", FLOAT, &[1]), port("choose", BOOL, &[])];
    let onnx = model(ports, stored, nodes, &last);
    let graph = import(&onnx, None).unwrap();
    let mut bytes = 0;
    for node in &graph.nodes {
        for body in &node.bodies {
            bytes += body
                .graph
                .values
                .iter()
                .filter_map(|value| Some(value.constant.as_ref()?.bytes().len()))
                .sum::<usize>();
        }
    }
    assert!(bytes <= (64 << 20) + 4096, "{bytes} bytes");
}
