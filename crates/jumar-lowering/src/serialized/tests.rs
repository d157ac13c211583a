//! Messages are put together here by the rules of the protobuf encoding, not by the types that read them.

use jumar_types::dtype::DataType;

use super::super::{Value, lower};
use super::{element_type, read_serialized};

fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// A field of bytes, text or a message.
fn bytes(field: u64, content: &[u8]) -> Vec<u8> {
    let mut to = Vec::new();
    varint(field << 3 | 2, &mut to);
    varint(content.len() as u64, &mut to);
    to.extend_from_slice(content);
    to
}

/// A field of an integer.
fn int(field: u64, value: i64) -> Vec<u8> {
    let mut to = Vec::new();
    varint(field << 3, &mut to);
    varint(value.cast_unsigned(), &mut to);
    to
}

/// A description: name, element type of messages, dimensions.
fn desc(name: &str, dtype: i64, dims: &[i64]) -> Vec<u8> {
    let dims: Vec<u8> = dims.iter().flat_map(|&dim| int(1, dim)).collect();
    [
        bytes(1, name.as_bytes()),
        int(2, dtype),
        bytes(3, &dims),
        bytes(4, b"ND"),
    ]
    .concat()
}

fn attr(name: &str, value: &[u8]) -> Vec<u8> {
    bytes(10, &[bytes(1, name.as_bytes()), bytes(2, value)].concat())
}

fn op(name: &str, kind: &str, inputs: &[&str], rest: &[Vec<u8>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs
        .iter()
        .flat_map(|text| bytes(5, text.as_bytes()))
        .collect();
    let all = [
        bytes(1, name.as_bytes()),
        bytes(2, kind.as_bytes()),
        inputs,
        rest.concat(),
    ];
    bytes(6, &all.concat())
}

fn model(ops: &[Vec<u8>]) -> Vec<u8> {
    bytes(7, &[bytes(1, b"net"), ops.concat()].concat())
}

/// x [2, 3] float32 with the bias of a constant, transposed; the transposition waits for the constant.
fn example() -> Vec<u8> {
    let perm: Vec<u8> = [1_i64, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
    let tensor = [bytes(1, &desc("", 8, &[2])), bytes(2, &perm)].concat();
    model(&[
        op(
            "x",
            "Data",
            &[],
            &[
                attr("index", &int(3, 0)),
                attr("_input_name_key", &bytes(1, &bytes(2, b"x"))),
                bytes(33, &desc("x", 1, &[2, 3])),
                bytes(34, &desc("y", 1, &[2, 3])),
            ],
        ),
        op(
            "perm",
            "Const",
            &[],
            &[
                attr("value", &bytes(12, &tensor)),
                bytes(34, &desc("", 8, &[2])),
            ],
        ),
        op(
            "turn",
            "Transpose",
            &["x:0", "perm:0", "perm:-1"],
            &[
                bytes(33, &desc("x", 1, &[2, 3])),
                bytes(33, &desc("perm", 8, &[2])),
                bytes(34, &desc("y", 1, &[])),
            ],
        ),
        op(
            "out",
            "NetOutput",
            &["turn:0"],
            &[bytes(33, &desc("input0", 1, &[]))],
        ),
    ])
}

#[test]
fn a_model_is_read_with_its_edges_constants_and_outputs() {
    let graph = read_serialized(&example()).unwrap();
    assert_eq!(graph.name, "net");
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["x", "perm", "turn"]);
    let turn = &graph.nodes[2];
    assert_eq!(turn.inputs[1].from, Some((1, 0)));
    assert_eq!(turn.after, [1]);
    assert_eq!(graph.outputs, [(2, 0)]);
    assert!(!graph.nodes[0].attrs.contains_key("_input_name_key"));
    let Some(Value::Tensor(data)) = graph.nodes[1].attrs.get("value") else {
        panic!("{:?}", graph.nodes[1].attrs)
    };
    assert_eq!(data.desc.dtype, DataType::Int64.acl());
    assert_eq!(graph.nodes[1].outputs[0].name, "y");
    let lowered = lower(&graph, &[]).unwrap().graph;
    let output = lowered.value(lowered.outputs[0].value);
    assert_eq!(output.ty.shape, [3, 2]);
    assert_eq!(output.ty.dtype, DataType::Float32);
}

#[test]
fn attributes_are_of_the_type_that_the_prototype_states() {
    let graph = read_serialized(&model(&[
        op("x", "Data", &[], &[bytes(34, &desc("y", 1, &[2]))]),
        op(
            "sum",
            "ReduceSumD",
            &["x:0"],
            &[
                bytes(33, &desc("x", 1, &[2])),
                bytes(34, &desc("y", 1, &[])),
                // An empty list whose element type is not stated.
                attr("axes", &bytes(1, &[])),
                attr("_note", &bytes(2, &[0xff])),
            ],
        ),
        op(
            "type",
            "Shape",
            &["x:0"],
            &[
                bytes(33, &desc("x", 1, &[2])),
                bytes(34, &desc("y", 8, &[1])),
                attr("dtype", &int(15, 9)),
            ],
        ),
    ]))
    .unwrap();
    assert_eq!(
        graph.nodes[1].attrs.get("axes"),
        Some(&Value::Ints(Vec::new()))
    );
    // A default of the prototype that the message leaves out.
    assert_eq!(
        graph.nodes[1].attrs.get("keep_dims"),
        Some(&Value::Bool(false))
    );
    assert_eq!(
        graph.nodes[1].attrs.get("_note"),
        Some(&Value::Bytes(vec![0xff]))
    );
    assert!(matches!(
        graph.nodes[2].attrs.get("dtype"),
        Some(Value::Int(9) | Value::Type(9))
    ));
}

#[test]
fn damaged_models_are_refused_with_what_is_wrong() {
    let reasons = [
        (model(&[]), "no nodes"),
        (Vec::new(), "no graph"),
        (vec![0xff, 0xff], "not a serialized model"),
        (
            model(&[op("a", "Data", &[], &[]), op("a", "Data", &[], &[])]),
            "two nodes named a",
        ),
        (
            model(&[op("a", "Relu", &["b:0"], &[bytes(33, &desc("x", 1, &[]))])]),
            "\"b:0\" names a node",
        ),
        (
            model(&[op("a", "Relu", &["a:-2"], &[bytes(33, &desc("x", 1, &[]))])]),
            "\"a:-2\" has no output index",
        ),
        (
            model(&[op("a", "Relu", &["a"], &[bytes(33, &desc("x", 1, &[]))])]),
            "not of the form",
        ),
        (
            model(&[op("a", "Relu", &["a:0"], &[])]),
            "1 inputs are connected, but only 0 are described",
        ),
        (
            model(&[op("a", "If", &[], &[bytes(35, b"then")])]),
            "graph then is not in",
        ),
    ];
    for (bytes, reason) in reasons {
        let error = read_serialized(&bytes).unwrap_err();
        assert!(error.text().contains(reason), "{}", error.text());
    }
    let complete = example();
    for cut in 1..complete.len() {
        assert!(read_serialized(&complete[..cut]).is_err(), "{cut}");
    }
}

/// A graph inside nodes of a serialized model.
fn graph(name: &str, ops: &[Vec<u8>]) -> Vec<u8> {
    bytes(7, &[bytes(1, name.as_bytes()), ops.concat()].concat())
}

#[test]
fn a_graph_that_several_nodes_name_is_read_for_each_of_them() {
    let call = |name: &str| op(name, "PartitionedCall", &[], &[bytes(35, b"body")]);
    let inner = op("x", "Data", &[], &[bytes(34, &desc("y", 1, &[2]))]);
    let model = [model(&[call("a"), call("b")]), graph("body", &[inner])].concat();
    let read = read_serialized(&model).unwrap();
    let bodies = |at: usize| read.nodes[at].bodies.values().flatten();
    assert_eq!(bodies(0).chain(bodies(1)).count(), 2);
}

#[test]
fn graphs_that_multiply_are_refused_before_they_fill_memory() {
    // Each of six levels names the next one a hundred times: a million million graphs, from a few kilobytes.
    let level = |number: usize| format!("level{number}");
    let branches = |number: usize| {
        let names = vec![bytes(35, level(number).as_bytes()); 100];
        op("choice", "Case", &[], &names)
    };
    let mut bomb = model(&[branches(1)]);
    for number in 1..6 {
        bomb.extend(graph(&level(number), &[branches(number + 1)]));
    }
    let last = op("x", "Data", &[], &[bytes(34, &desc("y", 1, &[2]))]);
    bomb.extend(graph(&level(6), &[last]));
    assert!(bomb.len() < 10_000, "{}", bomb.len());
    let error = read_serialized(&bomb).unwrap_err();
    assert!(error.text().contains("so often"), "{}", error.text());
}

#[test]
fn element_types_of_messages_become_those_of_headers() {
    // Float, half, int8, int32, bool, double, bfloat16, float8 e4m3, and a number past the end.
    for (message, header) in [
        (1, 0),
        (2, 1),
        (3, 2),
        (7, 3),
        (11, 12),
        (12, 11),
        (27, 27),
        (35, 36),
        (99, 28),
        (-1, 28),
    ] {
        assert_eq!(element_type(message), header);
    }
}
