//! Random graphs of concatenation and slicing: with parts that lie inside others, and with all of them copied, each step sees the same bytes,
//! and operator by operator in memory of their own the same numbers come out.

use std::collections::HashMap;
use std::sync::Mutex;

use fastrand::Rng;
use jumar_ops::view::{Block, Region};
use jumar_ops::{Attrs, Memory, Operand, Tensor, TensorType, Workers, compute, find};
use jumar_types::dtype::DataType;

use super::*;
use crate::{BuildOptions, Executable, GraphOutput, compile, read_tensor};

mod sequences;

#[derive(Default)]
struct Builder {
    graph: Graph,
    /// Images that were made, with their shapes.
    made: Vec<(ValueId, Vec<usize>)>,
    numbers: u32,
}

fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let number = |at: u32| ((at + seed).wrapping_mul(2_654_435_761) >> 8) as f32;
    let numbers = (0..count as u32).map(number);
    numbers
        .map(|number| number / (1 << 23) as f32 - 1.0)
        .collect()
}

fn window(pad: i64) -> Attrs {
    Attrs::new()
        .with("strides", vec![1; 4])
        .with("pads", vec![pad; 4])
        .with("data_format", "NCHW")
}

impl Builder {
    fn input(&mut self, dims: &[usize]) -> ValueId {
        let shape = dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>();
        let ty = TensorType::new(DataType::Float32, shape);
        let x = self
            .graph
            .add_value(format!("x{}", self.graph.inputs.len()), ty);
        self.graph.inputs.push(x);
        self.made.push((x, dims.to_vec()));
        x
    }

    fn weights(&mut self, dims: &[usize]) -> ValueId {
        self.numbers += 1;
        let values = numbers(dims.iter().product(), self.numbers);
        let tensor = Tensor::from_floats(&values).reshaped(dims).unwrap();
        self.graph
            .add_constant(format!("w{}", self.numbers), tensor)
    }

    fn ints(&mut self, list: &[i64]) -> ValueId {
        self.numbers += 1;
        self.graph
            .add_constant(format!("i{}", self.numbers), Tensor::from_ints(list))
    }

    fn node(
        &mut self,
        operator: &str,
        inputs: &[Option<ValueId>],
        attrs: Attrs,
        dims: &[&[usize]],
    ) {
        let name = format!("{operator}_{}", self.graph.nodes.len());
        let mut outputs = Vec::new();
        for (index, dims) in dims.iter().enumerate() {
            let shape = dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>();
            let ty = TensorType::new(DataType::Float32, shape);
            let id = self.graph.add_value(format!("{name}_{index}"), ty);
            outputs.push(id);
            self.made.push((id, dims.to_vec()));
        }
        self.graph.nodes.push(Node {
            name,
            operator: find(operator).unwrap(),
            inputs: inputs.to_vec(),
            outputs,
            attrs,
            bodies: Vec::new(),
        });
    }

    fn output(&mut self, value: ValueId) {
        let name = format!("y{}", self.graph.outputs.len());
        self.graph.outputs.push(GraphOutput {
            name: name.clone(),
            producer: (name, 0),
            value,
        });
    }

    fn last(&self) -> (ValueId, Vec<usize>) {
        self.made.last().unwrap().clone()
    }

    fn conv(&mut self, (x, dims): (ValueId, Vec<usize>), outputs: usize, side: usize) {
        let (filter, bias) = (
            self.weights(&[outputs, dims[1], side, side]),
            self.weights(&[outputs]),
        );
        let out = [dims[0], outputs, dims[2], dims[3]];
        let attrs = window(side as i64 / 2).with("groups", 1);
        self.node(
            "Conv2D",
            &[Some(x), Some(filter), Some(bias)],
            attrs,
            &[&out],
        );
    }

    fn join(&mut self, parts: &[(ValueId, Vec<usize>)], axis: usize) {
        let mut dims = parts[0].1.clone();
        dims[axis] = parts.iter().map(|(_, dims)| dims[axis]).sum();
        let inputs: Vec<_> = parts.iter().map(|(id, _)| Some(*id)).collect();
        let attrs = Attrs::new().with("concat_dim", axis as i64);
        self.node("ConcatD", &inputs, attrs, &[&dims]);
    }
}

/// Some operators over images, each of something that was made before.
fn some_graph(seed: u64) -> Graph {
    let mut r = Rng::with_seed(seed);
    for _ in 0..4 {
        r.usize(..2);
    }
    let mut b = Builder::default();
    let (batch, side) = ([1, 1, 2, 3][r.usize(..4)], 3 + r.usize(..4));
    let channels = [16, 32, 24][r.usize(..3)];
    b.input(&[batch, channels, side, side]);
    let steps = 4 + r.usize(..14);
    for _ in 0..steps {
        // What was made lately more often, so that graphs are deep.
        let pick = |b: &Builder, r: &mut Rng| {
            let count = b.made.len();
            let from = if r.usize(..3) > 0 {
                count.saturating_sub(4)
            } else {
                0
            };
            b.made[from + r.usize(..count - from)].clone()
        };
        let (x, dims) = pick(&b, &mut r);
        match r.usize(..13) {
            0..=2 => {
                let side = [1, 3][r.usize(..2)];
                b.conv((x, dims), [16, 32, 20][r.usize(..3)], side);
            }
            3 => b.node("Relu", &[Some(x)], Attrs::new(), &[&dims]),
            4 => b.node("Sigmoid", &[Some(x)], Attrs::new(), &[&dims]),
            5 => {
                let attrs = window(1).with("ksize", vec![1, 1, 3, 3]);
                let operator = ["MaxPoolV3", "AvgPoolV2"][r.usize(..2)];
                b.node(operator, &[Some(x)], attrs, &[&dims]);
            }
            6 => {
                let alike: Vec<_> = b
                    .made
                    .iter()
                    .filter(|other| other.1 == dims)
                    .cloned()
                    .collect();
                let other = alike[r.usize(..alike.len())].0;
                b.node("Add", &[Some(x), Some(other)], Attrs::new(), &[&dims]);
            }
            7..=9 => {
                let axis = [1, 1, 1, 0, 2][r.usize(..5)];
                let fits = |other: &&(ValueId, Vec<usize>)| {
                    (0..4).all(|at| at == axis || other.1[at] == dims[at])
                };
                let alike: Vec<_> = b.made.iter().filter(fits).cloned().collect();
                let mut parts = vec![(x, dims.clone())];
                for _ in 0..1 + r.usize(..2) {
                    let from = alike.len().saturating_sub(3);
                    parts.push(alike[from + r.usize(..alike.len() - from)].clone());
                }
                let size: usize = parts.iter().map(|part| part.1[axis]).sum();
                if size <= 160 {
                    let at = r.usize(..parts.len());
                    parts.swap(0, at);
                    b.join(&parts, axis);
                }
            }
            10 if dims[1] > 16 => {
                let (axis, sizes) = (b.ints(&[1]), b.ints(&[16, dims[1] as i64 - 16]));
                let (mut one, mut two) = (dims.clone(), dims.clone());
                (one[1], two[1]) = (16, dims[1] - 16);
                let inputs = [Some(x), Some(sizes), Some(axis)];
                b.node(
                    "SplitV",
                    &inputs,
                    Attrs::new().with("num_split", 2),
                    &[&one, &two],
                );
            }
            11 => {
                let axis = r.usize(..2);
                let from = r.usize(..dims[axis]);
                let mut out = dims.clone();
                out[axis] = dims[axis] - from;
                let (begin, end) = (b.ints(&[from as i64]), b.ints(&[dims[axis] as i64]));
                let axes = b.ints(&[axis as i64]);
                let inputs = [Some(x), Some(begin), Some(end), Some(axes)];
                b.node("StridedSliceV2", &inputs, Attrs::new(), &[&out]);
            }
            _ => {
                let flat = [dims[0], dims[1], dims[2] * dims[3], 1];
                let shape: Vec<i64> = flat.iter().map(|&dim| dim as i64).collect();
                let shape = b.ints(&shape);
                b.node("Reshape", &[Some(x), Some(shape)], Attrs::new(), &[&flat]);
            }
        }
    }
    let last = b.last().0;
    b.output(last);
    for _ in 0..r.usize(..3) {
        let other = b.made[r.usize(..b.made.len())].0;
        b.output(other);
    }
    b.graph
}

/// Computes operator by operator, each result in memory of its own.
fn by_operator(graph: &Graph, inputs: &[Tensor]) -> Vec<Tensor> {
    let mut known: HashMap<ValueId, Tensor> = HashMap::new();
    for (id, tensor) in graph.inputs.iter().zip(inputs) {
        known.insert(*id, tensor.clone());
    }
    for (at, value) in graph.values.iter().enumerate() {
        if let Some(tensor) = &value.constant {
            known.insert(ValueId(at as u32), tensor.clone());
        }
    }
    for node in &graph.nodes {
        let read: Vec<_> = node
            .inputs
            .iter()
            .map(|id| id.map(|id| &known[&id]))
            .collect();
        let made = compute(node.operator, &read, &node.attrs).unwrap();
        for (&id, tensor) in node.outputs.iter().zip(made) {
            known.insert(id, tensor);
        }
    }
    let outputs = graph
        .outputs
        .iter()
        .map(|output| known[&output.value].clone());
    outputs.collect()
}

/// The bytes of operands: the step's name, whether it made them, and which operand it is.
type Bytes = HashMap<(String, bool, usize), Vec<u8>>;

/// Keeps what each step reads and makes.
#[derive(Default)]
struct Kept(Mutex<Bytes>);

impl Kept {
    fn keep(&self, name: &str, made: bool, operands: &[&Operand], memory: &Memory<'_>) {
        for (index, operand) in operands.iter().enumerate() {
            let bytes = read_tensor(operand, memory).unwrap();
            let key = (name.to_owned(), made, index);
            self.0.lock().unwrap().insert(key, bytes);
        }
    }
}

impl NodeObserver for Kept {
    fn starts(&self, inputs: &[Option<Operand>], memory: &Memory<'_>) {
        let inputs: Vec<&Operand> = inputs.iter().flatten().collect();
        self.keep("", false, &inputs, memory);
    }

    fn ran(
        &self,
        name: &str,
        _operator: &str,
        _inputs: &[Option<Operand>],
        outputs: &[Operand],
        memory: &Memory<'_>,
    ) {
        // What it read is known by now under no name.
        let mut kept = self.0.lock().unwrap();
        let read: Vec<_> = kept
            .keys()
            .filter(|key| key.0.is_empty())
            .cloned()
            .collect();
        for key in read {
            let bytes = kept.remove(&key).unwrap();
            kept.insert((name.to_owned(), false, key.2), bytes);
        }
        drop(kept);
        let outputs: Vec<&Operand> = outputs.iter().collect();
        self.keep(name, true, &outputs, memory);
    }
}

/// Runs a plan in an arena of garbage. Returns the outputs, and what the steps saw.
fn run(plan: &Plan, weights: &[u8], inputs: &[Tensor]) -> (Vec<Vec<u8>>, Bytes) {
    let weights = Block::of(weights);
    let mut arena = Block::of(&vec![0xff; plan.arena_bytes]);
    let mut outputs: Vec<Block> = plan
        .outputs
        .iter()
        .map(|port| Block::of(&vec![0xff; port.bytes]))
        .collect();
    let kept = Kept::default();
    {
        let given: Vec<Region<'_>> = inputs.iter().map(|x| Region::shared(x.bytes())).collect();
        let wanted: Vec<Region<'_>> = outputs.iter_mut().map(Block::region).collect();
        let memory = Memory {
            weights: weights.shared(),
            arena: arena.region(),
            constants: Region::EMPTY,
            inputs: &given,
            outputs: &wanted,
            workers: Workers::ALONE,
        };
        plan.run_observed(&memory, &kept).unwrap();
    }
    let outputs = outputs.iter().map(|block| block.bytes().to_vec()).collect();
    (outputs, kept.0.into_inner().unwrap())
}

/// How many concatenations and slices a plan still has, and how many operands whose entries lie apart.
fn left(plan: &Plan) -> (usize, usize) {
    let moves = ["ConcatD", "SplitV", "StridedSliceV2"];
    let moving = plan
        .steps
        .iter()
        .filter(|step| moves.contains(&step.operator()));
    let operands = plan
        .steps
        .iter()
        .flat_map(|step| step.inputs().chain(step.outputs()));
    let strided = operands.filter(|operand| !operand.layout().is_dense());
    (moving.count(), strided.count())
}

/// Compares outputs with what was computed operator by operator.
fn assert_close(outputs: &[Vec<u8>], wanted: &[Tensor]) {
    for (found, wanted) in outputs.iter().zip(wanted) {
        let found = found
            .chunks(4)
            .map(|four| f32::from_le_bytes(four.try_into().unwrap()));
        let wanted = wanted.floats().unwrap();
        let most = wanted
            .iter()
            .fold(1e-6, |most: f64, value| most.max(value.abs()));
        for (found, wanted) in found.zip(wanted) {
            assert!(
                (f64::from(found) - wanted).abs() <= 1e-4 * most,
                "{found}, has to be {wanted}"
            );
        }
    }
}

/// Returns numbers for the inputs of a graph.
fn inputs_of(graph: &Graph) -> Vec<Tensor> {
    let numbered = graph.inputs.iter().enumerate();
    numbered
        .map(|(at, &id)| {
            let dims = graph.value(id).ty.dims().unwrap();
            let values = numbers(dims.iter().product(), 77 + at as u32);
            Tensor::from_floats(&values).reshaped(&dims).unwrap()
        })
        .collect()
}

/// Compiles a graph with one dynamic dimension of its first input, plans it for the dimension that it has, and compares what it
/// computes. Returns the plan.
fn compare_open(mut graph: Graph, axis: usize) -> Plan {
    let inputs = inputs_of(&graph);
    let wanted = by_operator(&graph, &inputs);
    let first = graph.inputs[0];
    graph.value_mut(first).ty.shape[axis] = jumar_ops::UNKNOWN;
    let options = BuildOptions {
        keep_open: true,
        ..BuildOptions::default()
    };
    let model = compile(graph, &options).unwrap();
    let weights = model.weight_bytes(&[]).unwrap().to_vec();
    let Executable::Dynamic(dynamic) = model.executable().unwrap() else {
        panic!("a model with a dynamic dimension is planned when it is known")
    };
    let dims: Vec<Vec<i64>> = inputs.iter().map(|x| x.ty().shape.clone()).collect();
    let plan = dynamic.specialise(&dims).unwrap().unwrap();
    let (found, _) = run(&plan, &weights, &inputs);
    assert_close(&found, &wanted);
    plan
}

/// Runs a graph with views and without, compares all. Returns the plan with views and what is left in both.
fn compare(graph: Graph) -> (Plan, (usize, usize), (usize, usize)) {
    let inputs = inputs_of(&graph);
    let wanted = by_operator(&graph, &inputs);
    let model = compile(graph, &BuildOptions::default()).unwrap();
    let weights = model.weight_bytes(&[]).unwrap().to_vec();
    let plans = [true, false].map(|views| {
        let planner = Planner::new(model.graph()).unwrap();
        planner.plan(weights.len(), views).unwrap()
    });
    let [(with, seen), (without, all)] = [0, 1].map(|at| run(&plans[at], &weights, &inputs));
    for (key, bytes) in &seen {
        // What is copied to an output has the name of a value.
        if let Some(other) = all.get(key) {
            assert!(bytes == other, "{key:?} sees other bytes");
        }
    }
    assert!(with == without, "outputs differ");
    assert_close(&with, &wanted);
    let [views, copies] = [left(&plans[0]), left(&plans[1])];
    let [plan, _] = plans;
    (plan, views, copies)
}

#[test]
fn parts_inside_others_hold_what_copies_would() {
    let (mut gone, mut strided) = (0, 0);
    for seed in 0..400 {
        let result = std::panic::catch_unwind(|| compare(some_graph(seed)));
        let (_, views, copies) = result.unwrap_or_else(|cause| {
            eprintln!("the graph of seed {seed}");
            std::panic::resume_unwind(cause)
        });
        assert!(views.0 <= copies.0);
        assert_eq!(copies.1, 0, "nothing lies apart where nothing is a view");
        gone += copies.0 - views.0;
        strided += views.1;
    }
    assert!(
        gone > 200 && strided > 100,
        "{gone} copies gone, {strided} operands strided"
    );
}

fn operators(plan: &Plan) -> Vec<&'static str> {
    plan.steps.iter().map(Step::operator).collect()
}

/// Two convolutions of one image, joined; what happens to the parts and the join is up to the test.
fn joined(batch: usize, and: impl FnOnce(&mut Builder, [(ValueId, Vec<usize>); 3])) -> Graph {
    let mut b = Builder::default();
    let x = b.input(&[batch, 16, 5, 5]);
    let dims = vec![batch, 16, 5, 5];
    b.conv((x, dims.clone()), 16, 3);
    let one = b.last();
    b.conv((x, dims), 32, 1);
    let two = b.last();
    b.join(&[one.clone(), two.clone()], 1);
    let joined = b.last();
    and(&mut b, [one, two, joined]);
    b.graph
}

#[test]
fn what_makes_a_part_writes_it_into_the_join() {
    for batch in [1, 3] {
        let (plan, ..) = compare(joined(batch, |b, [_, _, joined]| {
            b.conv(joined, 16, 1);
            let last = b.last().0;
            b.output(last);
        }));
        let [x, one, two, last, out] = &plan.steps[..] else {
            panic!("{:?}", operators(&plan));
        };
        assert_eq!(
            (x.operator(), out.operator()),
            ("jumar.Block", "jumar.Unblock")
        );
        let (one, two, joined) = (
            &one.outputs()[0],
            &two.outputs()[0],
            last.inputs().next().unwrap(),
        );
        // A block of 25 pixels, and then two.
        assert_eq!(one.offset(), joined.offset());
        assert_eq!(two.offset(), joined.offset() + 25 * 16 * 4);
        let entry_blocks = if batch > 1 { 3 } else { 1 };
        assert_eq!(one.layout().batch_stride(), Some(entry_blocks * 25 * 16));
        assert!(joined.layout().is_dense());
    }
}

#[test]
fn joins_of_joins_lie_in_each_other() {
    for batch in [1, 2] {
        let (plan, ..) = compare(joined(batch, |b, [_, _, joined]| {
            b.conv(joined.clone(), 16, 3);
            let more = b.last();
            b.join(&[joined, more], 1);
            let joined = b.last();
            b.conv(joined.clone(), 16, 3);
            let more = b.last();
            b.join(&[joined, more], 1);
            let last = b.last();
            b.conv(last, 16, 1);
            let last = b.last().0;
            b.output(last);
        }));
        assert!(
            !operators(&plan).contains(&"ConcatD"),
            "{:?}",
            operators(&plan)
        );
    }
}

#[test]
fn a_part_that_somebody_else_wants_where_it_is_stays_a_copy() {
    let copied = |graph| {
        operators(&compare(graph).0)
            .iter()
            .filter(|&&name| name == "ConcatD")
            .count()
    };
    for batch in [1, 2] {
        let finish = |b: &mut Builder, joined| {
            b.conv(joined, 16, 1);
            let last = b.last().0;
            b.output(last);
        };
        // Read by others as well: it may lie in the join all the same.
        let used = joined(batch, |b, [one, _, joined]| {
            b.conv(one, 16, 1);
            finish(b, joined);
            let other = b.made[b.made.len() - 2].0;
            b.output(other);
        });
        assert_eq!(copied(used), 0);
        let output = joined(batch, |b, [one, _, joined]| {
            // Blocks leave the part as it is; the output is another tensor. A join that is read in planes keeps it.
            finish(b, joined);
            b.output(one.0);
        });
        assert_eq!(copied(output), 0);
        let repeated = joined(batch, |b, [one, two, _]| {
            b.join(&[one.clone(), two, one], 1);
            let joined = b.last();
            finish(b, joined);
        });
        assert_eq!(copied(repeated), 1);
    }
}

#[test]
fn a_plain_join_is_a_copy_only_where_it_has_to_be() {
    let plain = |rows: usize, outside: bool| {
        let mut b = Builder::default();
        let x = b.input(&[rows, 40]);
        b.node("Sigmoid", &[Some(x)], Attrs::new(), &[&[rows, 40]]);
        let one = b.last();
        b.node("Tanh", &[Some(x)], Attrs::new(), &[&[rows, 40]]);
        let two = b.last();
        let three = if outside {
            (x, vec![rows, 40])
        } else {
            two.clone()
        };
        b.join(&[one, two, three], 1);
        let joined = b.last();
        b.node("Relu", &[Some(joined.0)], Attrs::new(), &[&joined.1]);
        let last = b.last().0;
        b.output(last);
        b.graph
    };
    for rows in [1, 4] {
        // The model's input, and a part that comes twice, are copied; the others are not.
        for outside in [true, false] {
            let (plan, ..) = compare(plain(rows, outside));
            assert_eq!(operators(&plan), ["Sigmoid", "Tanh", "ConcatD", "Relu"]);
            let step = &plan.steps[2];
            let locations: Vec<_> = step
                .inputs()
                .map(|input| (input.buffer(), input.offset()))
                .collect();
            let out = &step.outputs()[0];
            assert_eq!(locations[0], (out.buffer(), out.offset()));
            assert_eq!(locations[1], (out.buffer(), out.offset() + 160));
        }
    }
}

#[test]
fn a_chain_of_joins_is_planned_in_time() {
    let mut b = Builder::default();
    let x = b.input(&[1, 4]);
    b.node("Relu", &[Some(x)], Attrs::new(), &[&[1, 4]]);
    for step in 0..600 {
        let joined = b.last();
        b.node("Sigmoid", &[Some(x)], Attrs::new(), &[&[1, 4]]);
        let more = b.last();
        b.join(&[joined, more], 1);
        if step % 100 == 99 {
            let last = b.last().0;
            b.output(last);
        }
    }
    let (_, views, copies) = compare(b.graph);
    // Some stay, where too many would lie in each other or a part is an output.
    assert!(
        views.0 < 20 && copies.0 == 600,
        "{} of {} copies stay",
        views.0,
        copies.0
    );
}

#[test]
fn an_output_that_is_joined_as_well_is_written_where_the_caller_wants_it() {
    let mut b = Builder::default();
    let x = b.input(&[1, 40]);
    b.node("Sigmoid", &[Some(x)], Attrs::new(), &[&[1, 40]]);
    let one = b.last();
    b.node("Tanh", &[Some(x)], Attrs::new(), &[&[1, 40]]);
    let two = b.last();
    b.join(&[one.clone(), two], 1);
    let joined = b.last().0;
    b.output(one.0);
    b.output(joined);
    let (plan, ..) = compare(b.graph);
    // No step copies an output; the join copies the one part, and has the other.
    assert_eq!(operators(&plan), ["Sigmoid", "Tanh", "ConcatD"]);
    let locations: Vec<_> = plan.steps[2].inputs().map(Operand::buffer).collect();
    assert_eq!(locations, [BufferKind::Output(0), BufferKind::Output(1)]);
}
