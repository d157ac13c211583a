//! Patterns and replacements on graphs of a line for each node.

use std::collections::HashMap;

use super::part::Boundary;
use super::pattern::{Exact, Pattern};
use super::rewrite;
use crate::GeResult;
use crate::lowering::Value;
use crate::registry::{GraphRegistry, Input, Output, Port};

/// Graphs under their names.
#[derive(Default)]
struct Graphs {
    registry: GraphRegistry,
    names: HashMap<String, u64>,
}

impl Graphs {
    /// Adds a graph: nodes as `name Type input input:1 !before`, and the outputs. Each node has two outputs.
    fn graph(&mut self, name: &str, nodes: &[&str], outputs: &[&str]) -> u64 {
        let graph = self.registry.new_graph(name);
        let mut inputs = 0;
        for node in nodes {
            let mut words = node.split(' ');
            let (own, kind) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            let id = self.registry.new_op(own, kind);
            self.names.insert(own.to_owned(), id);
            let op = self.registry.op_mut(id).expect("an operator");
            op.graph = graph;
            op.outputs = ["y", "z"]
                .map(|name| Output {
                    name: name.into(),
                    ..Output::default()
                })
                .into();
            if kind == "Data" {
                op.attrs.insert("index".into(), Value::Int(inputs));
                inputs += 1;
            }
            if kind == "Const" {
                let value = own.trim_matches(char::is_alphabetic).parse().unwrap_or(0.0);
                op.attrs.insert("value".into(), Value::Float(value));
            }
            for (number, word) in words.enumerate() {
                if let Some(before) = word.strip_prefix('!') {
                    self.registry
                        .order(id, self.names[before])
                        .expect("an edge");
                    continue;
                }
                let (from, position) = word.split_once(':').map_or((word, 0), |(from, at)| {
                    (from, at.parse().expect("a number"))
                });
                let input = format!("x{number}");
                self.registry
                    .op_mut(id)
                    .expect("an operator")
                    .inputs
                    .push(Input {
                        name: input.clone(),
                        ..Input::default()
                    });
                self.registry
                    .link(id, &input, self.names[from], Port::Number(position))
                    .expect("an edge");
            }
            self.registry
                .graph_mut(graph)
                .expect("a graph")
                .ops
                .push(id);
        }
        let outputs = outputs.iter().map(|text| self.tensor(text)).collect();
        self.registry.graph_mut(graph).expect("a graph").outputs = outputs;
        graph
    }

    fn tensor(&self, text: &str) -> (u64, usize) {
        let (name, position) = text.split_once(':').unwrap_or((text, "0"));
        (self.names[name], position.parse().expect("a number"))
    }

    fn name(&self, id: u64) -> String {
        self.registry.op(id).expect("an operator").name.clone()
    }

    /// Returns the names of the nodes of each match.
    fn matches(&self, pattern: u64, graph: u64, exact: Exact) -> Vec<String> {
        let pattern = Pattern::of(&self.registry, pattern).expect("a pattern");
        let mut all = Vec::new();
        for node in pattern.candidates(&self.registry, graph).expect("an order") {
            while let Some(found) = pattern.find(
                &self.registry,
                graph,
                exact,
                node,
                all.len() - count(&all, node),
            ) {
                let names: Vec<String> = found.nodes.iter().map(|(_, id)| self.name(*id)).collect();
                all.push((node, names.join(" ")));
            }
        }
        all.into_iter().map(|(_, names)| names).collect()
    }

    fn refused(&self, pattern: u64) -> String {
        Pattern::of(&self.registry, pattern)
            .err()
            .map(|error| error.text)
            .unwrap_or_default()
    }

    fn replace(&mut self, inputs: &[&[&str]], outputs: &[&str], by: u64) -> GeResult<()> {
        let boundary = Boundary {
            inputs: inputs
                .iter()
                .map(|list| list.iter().map(|text| self.tensor(text)).collect())
                .collect(),
            outputs: outputs.iter().map(|text| self.tensor(text)).collect(),
        };
        rewrite::replace(&mut self.registry, &boundary, by)
    }

    /// Shows the nodes of a graph as `name(input, input:1)`, sorted, and its outputs.
    fn show(&self, graph: u64) -> String {
        let tensor = |(id, position): (u64, usize)| {
            if position == 0 {
                self.name(id)
            } else {
                format!("{}:{position}", self.name(id))
            }
        };
        let own = self.registry.graph(graph).expect("a graph");
        let mut nodes: Vec<String> = Vec::new();
        for &id in &own.ops {
            let op = self.registry.op(id).expect("an operator");
            let mut inputs: Vec<String> = op
                .inputs
                .iter()
                .filter_map(|input| Some(tensor(input.from?)))
                .collect();
            inputs.extend(op.before.iter().map(|id| format!("!{}", self.name(*id))));
            nodes.push(format!("{}({})", op.name, inputs.join(", ")));
        }
        nodes.sort();
        let outputs: Vec<String> = own.outputs.iter().map(|output| tensor(*output)).collect();
        format!("{} -> {}", nodes.join(" "), outputs.join(" "))
    }
}

/// Counts the matches at other nodes.
fn count(all: &[(u64, String)], node: u64) -> usize {
    all.iter().filter(|(own, _)| *own != node).count()
}

#[test]
fn a_pattern_is_found_wherever_types_and_edges_agree_and_nothing_inside_is_used_outside() {
    let mut graphs = Graphs::default();
    let pattern = graphs.graph(
        "p",
        &["pa Data", "pb Data", "pmul Mul pa pb", "padd Add pmul pa"],
        &["padd"],
    );
    let graph = graphs.graph(
        "g",
        &[
            "a Data",
            "b Data",
            "c Data",
            "m1 Mul a b",
            "s1 Add m1 a",
            // Another operand, the operands exchanged, and a product that something else reads.
            "m2 Mul a b",
            "s2 Add m2 c",
            "m3 Mul a b",
            "s3 Add a m3",
            "m4 Mul s1 c",
            "s4 Add m4 s1",
            "n4 Neg m4",
            "m5 Mul c c",
            "s5 Add m5 c",
        ],
        &["s1", "s2", "s3", "s4", "n4", "s5"],
    );
    assert_eq!(
        graphs.matches(pattern, graph, Exact::default()),
        ["m1 s1", "m5 s5"]
    );
    let graph = graphs.graph("h", &["x Data", "m Mul x x", "s Add m x"], &["s", "m"]);
    assert!(
        graphs.matches(pattern, graph, Exact::default()).is_empty(),
        "the product is an output of the graph"
    );
}

#[test]
fn a_tensor_from_outside_is_not_one_that_the_match_computes() {
    let mut graphs = Graphs::default();
    let pattern = graphs.graph(
        "p",
        &["pa Data", "pb Data", "pr Relu pa", "padd Add pr pb"],
        &["padd"],
    );
    let graph = graphs.graph("g", &["x Data", "r Relu x", "s Add r r"], &["s"]);
    assert!(graphs.matches(pattern, graph, Exact::default()).is_empty());
}

#[test]
fn matches_may_overlap_and_each_is_found_once() {
    let mut graphs = Graphs::default();
    // Two outputs of a node with two consumers of one tensor.
    let pattern = graphs.graph(
        "p",
        &["pa Data", "ps Pair pa", "pb Relu ps", "pc Neg ps:1"],
        &["pb", "pc", "ps", "ps:1"],
    );
    let graph = graphs.graph(
        "g",
        &[
            "x Data",
            "s Pair x",
            "b1 Relu s",
            "b2 Relu s",
            "c Neg s:1",
            "d Relu s:1",
        ],
        &["b1", "b2", "c", "d"],
    );
    assert_eq!(
        graphs.matches(pattern, graph, Exact::default()),
        ["s b1 c", "s b2 c"]
    );
    let pattern = graphs.graph(
        "q",
        &["qa Data", "qs Pair qa", "qb Relu qs", "qc Neg qs:1"],
        &["qb", "qc"],
    );
    assert!(
        graphs.matches(pattern, graph, Exact::default()).is_empty(),
        "both outputs are used outside"
    );
}

#[test]
fn constants_match_by_value_and_nodes_by_attributes_only_where_that_is_wanted() {
    let mut graphs = Graphs::default();
    let pattern = graphs.graph("p", &["pa Data", "p0 Const", "padd Add pa p0"], &["padd"]);
    let graph = graphs.graph(
        "g",
        &[
            "a Data",
            "k0 Const",
            "k1 Const",
            "s Add a k0",
            "t Add s k1",
            "u Add t k0",
        ],
        &["u"],
    );
    assert_eq!(
        graphs.matches(pattern, graph, Exact::default()),
        ["k0 s", "k1 t", "k0 u"]
    );
    let exact = Exact {
        constants: true,
        attrs: false,
    };
    assert_eq!(graphs.matches(pattern, graph, exact), ["k0 s", "k0 u"]);

    let pattern = graphs.graph("q", &["qa Data", "qm MatMul qa qa"], &["qm"]);
    let graph = graphs.graph(
        "h",
        &["ha Data", "m MatMul ha ha", "n MatMul ha ha"],
        &["m", "n"],
    );
    let set = |graphs: &mut Graphs, name: &str, value: bool| {
        let id = graphs.names[name];
        graphs
            .registry
            .op_mut(id)
            .expect("a node")
            .attrs
            .insert("transpose_x1".into(), Value::Bool(value));
    };
    set(&mut graphs, "m", false);
    set(&mut graphs, "n", true);
    let exact = Exact {
        constants: false,
        attrs: true,
    };
    // What the pattern leaves out has the prototype's value.
    assert_eq!(graphs.matches(pattern, graph, exact), ["m"]);
    set(&mut graphs, "qm", true);
    assert_eq!(graphs.matches(pattern, graph, exact), ["n"]);
    assert_eq!(graphs.matches(pattern, graph, Exact::default()), ["m", "n"]);
}

#[test]
fn what_is_no_pattern_is_refused_with_a_sentence() {
    let mut graphs = Graphs::default();
    for (nodes, outputs, words) in [
        (
            &["a Data", "b Data", "r Relu a", "n Neg b"][..],
            &["r", "n"][..],
            "its nodes r and n are not connected",
        ),
        (&["a Data", "r Relu a"], &[], "it has no output"),
        (
            &["a Data", "r Relu a"],
            &["a"],
            "its output 0 is one of its inputs",
        ),
        (
            &["a Data", "r Relu a"],
            &["r", "r"],
            "its output 1 is the same tensor",
        ),
        (
            &["a Data", "b Data", "r Relu a"],
            &["r"],
            "no node reads its input 1 (b)",
        ),
        (
            &["a Data", "r Relu a", "n Neg r !r"],
            &["n"],
            "its node r (Relu) has a control edge",
        ),
        (
            &["a Data", "v Variable", "s Add a v"],
            &["s"],
            "its node v (Variable) cannot be replaced",
        ),
        (
            &["a Data", "c ConcatD a a"],
            &["c"],
            "its node c (ConcatD) has a dynamic number",
        ),
    ] {
        let pattern = graphs.graph("p", nodes, outputs);
        let text = graphs.refused(pattern);
        assert!(
            text.starts_with("pattern p: ") && text.contains(words),
            "{text}"
        );
    }
    let pattern = graphs.graph("p", &["a Data", "b Data", "s Add a b"], &["s"]);
    let id = graphs.names["b"];
    graphs
        .registry
        .op_mut(id)
        .expect("a node")
        .attrs
        .insert("index".into(), Value::Int(2));
    assert!(
        graphs
            .refused(pattern)
            .contains("its input b has the index 2; its 2 inputs need the indexes 0 to 1")
    );
}

#[test]
fn a_part_is_replaced_and_what_was_around_it_reads_the_new_nodes() {
    let mut graphs = Graphs::default();
    let new = graphs.graph(
        "new",
        &["na Data", "nb Data", "nk Const", "nf Fused na nb nk"],
        &["nf", "nf:1"],
    );
    let graph = graphs.graph(
        "g",
        &[
            "a Data",
            "b Data",
            "k Const",
            "w Neg a",
            "m Mul a k !w",
            "s Add m b",
            "t Relu s",
            "u Neg m",
            "v Abs k !s",
        ],
        &["s", "u", "t", "v"],
    );
    graphs
        .replace(&[&["m:0"], &["s:1"]], &["s", "m"], new)
        .expect("a replacement");
    assert_eq!(
        graphs.show(graph),
        "a() b() k() new_1/nf(a, b, new_1/nk, !w) new_1/nk() t(new_1/nf) u(new_1/nf:1) v(k, !new_1/nf) w(a) -> new_1/nf u t v",
        "the constant that something else reads stays, and so do the edges of order"
    );
    // A replacement without nodes: its output is its input.
    let same = graphs.graph("same", &["sa Data"], &["sa"]);
    graphs
        .replace(&[&["t:0"]], &["t"], same)
        .expect("a replacement");
    assert!(
        graphs.show(graph).ends_with(" -> new_1/nf u new_1/nf v"),
        "{}",
        graphs.show(graph)
    );
}

#[test]
fn a_part_that_is_not_closed_or_a_replacement_that_does_not_fit_changes_nothing() {
    let mut graphs = Graphs::default();
    let one = graphs.graph("one", &["oa Data", "of Fused oa"], &["of"]);
    let two = graphs.graph("two", &["ta Data", "tb Data", "tf Fused ta tb"], &["tf"]);
    let both = graphs.graph("both", &["ba Data", "bf Fused ba"], &["bf", "bf:1"]);
    let graph = graphs.graph(
        "g",
        &[
            "a Data",
            "b Data",
            "r Relu a",
            "n Neg r",
            "u Abs r",
            "s Add n b",
            "e Sqrt s",
        ],
        &["s", "u", "e"],
    );
    graphs.graph("other", &["x Data", "y Relu x"], &["y"]);
    let before = graphs.show(graph);
    type Case<'a> = (&'a [&'a [&'a str]], &'a [&'a str], u64, &'a str);
    let cases: [Case<'_>; 11] = [
        (
            &[&["n:0"]],
            &["n"],
            two,
            "the replacement two has 2 inputs, and the part of graph g that it replaces has 1",
        ),
        (
            &[&["n:0"]],
            &["n"],
            both,
            "the replacement both has 2 outputs, and the part of graph g that it replaces has 1",
        ),
        (
            &[&["r:0"]],
            &["n"],
            one,
            "output 0 of r (Relu) lies inside of the boundary, and is used outside by u",
        ),
        (
            &[&["n:0"]],
            &["e"],
            one,
            "input x1 of s (Add) reads b (Data), and no input of the boundary names it",
        ),
        (
            &[&["n:0"]],
            &["a"],
            one,
            "a (Data) lies inside of the boundary",
        ),
        (
            &[&["n:0", "s:1"]],
            &["s"],
            one,
            "input 0 of the boundary stands for two tensors: input 1 of s",
        ),
        (
            &[&["n:3"]],
            &["n"],
            one,
            "input 3 of n (Neg), which reads nothing",
        ),
        (
            &[&[]],
            &["n"],
            one,
            "input 0 of the boundary has no input of a node",
        ),
        (&[&["n:0"]], &[], one, "has no output"),
        (
            &[&["n:0"]],
            &["n:5"],
            one,
            "output 5 of n (Neg), which has 2",
        ),
        (
            &[&["n:0"], &["y:0"]],
            &["n"],
            two,
            "y (Relu) is in another graph",
        ),
    ];
    for (inputs, outputs, by, words) in cases {
        let error = graphs.replace(inputs, outputs, by).expect_err(words);
        assert!(error.text.contains(words), "{}", error.text);
        assert_eq!(graphs.show(graph), before, "{words}");
    }
}

#[test]
fn a_replacement_that_would_wait_for_itself_is_refused_and_one_that_keeps_the_order_is_not() {
    let mut graphs = Graphs::default();
    let nodes = ["a Data", "p Relu a", "o Neg p", "q Abs o", "r Sqrt q"];
    let graph = graphs.graph("g", &nodes, &["q", "r"]);
    let boundary: (&[&[&str]], &[&str]) = (&[&["p:0"], &["q:0"]], &["p", "q"]);
    // Both outputs are computed from both inputs, although the second input waits for the first output.
    let fused = graphs.graph(
        "fused",
        &["fa Data", "fb Data", "f Both fa fb"],
        &["f", "f:1"],
    );
    let error = graphs
        .replace(boundary.0, boundary.1, fused)
        .expect_err("a circle");
    assert!(
        error
            .text
            .contains("the replacement fused in place of p, q would wait for itself"),
        "{}",
        error.text
    );
    let separate = graphs.graph(
        "separate",
        &["xa Data", "xb Data", "x One xa", "y Two xb"],
        &["x", "y"],
    );
    graphs
        .replace(boundary.0, boundary.1, separate)
        .expect("a replacement");
    assert_eq!(
        graphs.show(graph),
        "a() o(separate_1/x) r(separate_1/y) separate_1/x(a) separate_1/y(o) -> separate_1/y r"
    );
}
