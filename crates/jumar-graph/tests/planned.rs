//! What a convolutional network becomes, and that running it, or an attention block, allocates nothing and returns the same bytes however
//! many parts its operators are split into and in any order.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use jumar_graph::{
    BuildOptions, Graph, GraphOutput, Node, Operands, Plan, Region, Share, TensorType, ValueId,
    Workers, compile,
};
use jumar_ops::view::Block;
use jumar_ops::{Attrs, Tensor, find};
use jumar_types::dtype::DataType;

thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

/// Counts what the calling thread allocates.
struct Counting;

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's word.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Builder(Graph, u32);

impl Builder {
    fn weights(&mut self, dims: &[usize]) -> ValueId {
        self.1 += 1;
        let values: Vec<f32> = (0..dims.iter().product::<usize>() as u32)
            .map(|at| {
                ((at + self.1).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect();
        let tensor = Tensor::from_floats(&values).reshaped(dims).unwrap();
        self.0.add_constant(format!("w{}", self.1), tensor)
    }

    /// Adds a node whose output's type is found when the graph is compiled.
    fn node(&mut self, operator: &str, inputs: &[ValueId], attrs: Attrs) -> ValueId {
        let name = format!("{operator}_{}", self.0.nodes.len());
        let unknown = TensorType::of_unknown_rank(DataType::Float32);
        let output = self.0.add_value(name.clone(), unknown);
        self.0.nodes.push(Node {
            name,
            operator: find(operator).unwrap(),
            inputs: inputs.iter().copied().map(Some).collect(),
            outputs: vec![output],
            attrs,
            bodies: Vec::new(),
        });
        output
    }

    fn conv(&mut self, x: ValueId, dims: [usize; 4], pad: i64, groups: i64) -> ValueId {
        let (filter, bias) = (self.weights(&dims), self.weights(&dims[..1]));
        let attrs = window(1, pad).with("groups", groups);
        self.node("Conv2D", &[x, filter, bias], attrs)
    }
}

fn window(stride: i64, pad: i64) -> Attrs {
    Attrs::new()
        .with("strides", vec![1, 1, stride, stride])
        .with("pads", vec![pad; 4])
        .with("data_format", "NCHW")
}

/// Takes each way through the layout: planes, blocks, groups, channels by themselves, pooling, sums, joins, and an operator in
/// between that wants planes.
fn network() -> Graph {
    let mut b = Builder::default();
    let x =
        b.0.add_value("x", TensorType::new(DataType::Float32, [2, 3, 20, 20]));
    b.0.inputs.push(x);
    let y = b.conv(x, [32, 3, 3, 3], 1, 1);
    let y = b.node("Relu", &[y], Attrs::new());
    let pool = window(2, 1).with("ksize", vec![1, 1, 3, 3]);
    let y = b.node("MaxPoolV3", &[y], pool);
    let z = b.conv(y, [32, 1, 3, 3], 1, 32);
    let z = b.conv(z, [32, 32, 1, 1], 0, 1);
    let y = b.node("Add", &[z, y], Attrs::new());
    let y = b.node("Sigmoid", &[y], Attrs::new());
    let z = b.conv(y, [32, 16, 3, 3], 1, 2);
    let y = b.node("ConcatD", &[y, z], Attrs::new().with("concat_dim", 1));
    let perm = b.0.add_constant("perm", Tensor::from_ints(&[0, 1, 3, 2]));
    let y = b.node("Transpose", &[y, perm], Attrs::new());
    let y = b.conv(y, [48, 64, 1, 1], 0, 1);
    let y = b.node("GlobalAveragePool", &[y], Attrs::new());
    let shape = b.0.add_constant("shape", Tensor::from_ints(&[2, -1]));
    let y = b.node("Reshape", &[y, shape], Attrs::new());
    let weights = b.weights(&[48, 10]);
    let y = b.node("MatMulV2", &[y, weights], Attrs::new());
    b.0.outputs.push(GraphOutput {
        name: "y".into(),
        producer: ("y".into(), 0),
        value: y,
    });
    b.0
}

/// Deals the channels of an image of 20 x 20 out in turn, as exporters write it out.
fn shuffle(b: &mut Builder, x: ValueId, groups: i64, channels: i64) -> ValueId {
    let parts = [2, groups, channels / groups, 20, 20];
    let parts = b.0.add_constant("parts", Tensor::from_ints(&parts));
    let full_shape =
        b.0.add_constant("whole", Tensor::from_ints(&[2, channels, 20, 20]));
    let perm =
        b.0.add_constant("perm", Tensor::from_ints(&[0, 2, 1, 3, 4]));
    let y = b.node("Reshape", &[x, parts], Attrs::new());
    let y = b.node("Transpose", &[y, perm], Attrs::new());
    b.node("Reshape", &[y, full_shape], Attrs::new())
}

/// Groups that are no whole blocks, and changes of the order of channels between them.
fn shuffled() -> Graph {
    let mut b = Builder::default();
    let x =
        b.0.add_value("x", TensorType::new(DataType::Float32, [2, 3, 20, 20]));
    b.0.inputs.push(x);
    let y = b.conv(x, [60, 3, 3, 3], 1, 1);
    let z = shuffle(&mut b, y, 3, 60);
    // One more before anybody reads it.
    let z = shuffle(&mut b, z, 5, 60);
    let z = b.conv(z, [60, 1, 3, 3], 1, 60);
    let z = b.conv(z, [120, 20, 1, 1], 0, 3);
    let z = b.node("Relu", &[z], Attrs::new());
    let z = shuffle(&mut b, z, 2, 120);
    // All channels, in another order.
    let z = b.conv(z, [60, 120, 3, 3], 1, 1);
    let y = b.node("Add", &[z, y], Attrs::new());
    // Other operators need them at their location.
    let y = shuffle(&mut b, y, 4, 60);
    let y = b.node("Sigmoid", &[y], Attrs::new());
    b.0.outputs.push(GraphOutput {
        name: "y".into(),
        producer: ("y".into(), 0),
        value: y,
    });
    b.0
}

#[test]
fn another_order_of_channels_is_no_step_where_convolutions_read_them() {
    let model = compile(shuffled(), &BuildOptions::default()).unwrap();
    let plan = model.plan().unwrap();
    let operators: Vec<_> = plan.steps.iter().map(|step| step.operator()).collect();
    assert_eq!(
        operators,
        [
            "jumar.BlockedConv2D",
            "jumar.BlockedDepthwiseConv2D",
            "jumar.BlockedPickedConv2D",
            // With the sum.
            "jumar.BlockedPickedConv2D",
            "jumar.Unblock",
            "GatherV2",
            "Sigmoid",
        ]
    );
}

fn plan() -> (Plan, Vec<u8>) {
    let model = compile(network(), &BuildOptions::default()).unwrap();
    let weights = model.weight_bytes(&[]).unwrap().to_vec();
    (model.plan().unwrap(), weights)
}

#[test]
fn images_stay_in_blocks_until_somebody_wants_planes() {
    let (plan, _) = plan();
    let operators: Vec<_> = plan.steps.iter().map(|step| step.operator()).collect();
    assert_eq!(
        operators,
        [
            "jumar.BlockedConv2D",
            "jumar.BlockedMaxPool",
            "jumar.BlockedDepthwiseConv2D",
            "jumar.BlockedConv2D",
            "Sigmoid",
            "jumar.BlockedConv2D",
            // The concatenation is not a step: the producers of its parts write them to their location.
            "jumar.Unblock",
            "Transpose",
            "jumar.Block",
            "jumar.BlockedConv2D",
            "jumar.BlockedAvgPool",
            "MatMulV2",
        ]
    );
}

/// An attention block as exporters write it out, and what follows it: it becomes fused operators.
fn attention() -> Graph {
    let mut b = Builder::default();
    let x =
        b.0.add_value("x", TensorType::new(DataType::Float32, [2, 64, 96]));
    b.0.inputs.push(x);
    let heads =
        b.0.add_constant("heads", Tensor::from_ints(&[2, 64, 6, 16]));
    let full_shape = b.0.add_constant("whole", Tensor::from_ints(&[2, 64, 96]));
    let swapped =
        b.0.add_constant("swapped", Tensor::from_ints(&[0, 2, 1, 3]));
    let turned = b.0.add_constant("turned", Tensor::from_ints(&[0, 2, 3, 1]));
    let scale = b.0.add_constant("scale", Tensor::from_floats(&[0.25f32]));
    let operand = |b: &mut Builder, order| {
        let weights = b.weights(&[96, 96]);
        let y = b.node("BatchMatMulV2", &[x, weights], Attrs::new());
        let y = b.node("Reshape", &[y, heads], Attrs::new());
        b.node("Transpose", &[y, order], Attrs::new())
    };
    let (query, key) = (operand(&mut b, swapped), operand(&mut b, turned));
    let value = operand(&mut b, swapped);
    let y = b.node("BatchMatMulV2", &[query, key], Attrs::new());
    let y = b.node("Mul", &[y, scale], Attrs::new());
    let y = b.node("SoftmaxV2", &[y], Attrs::new().with("axes", vec![-1]));
    let y = b.node("BatchMatMulV2", &[y, value], Attrs::new());
    let y = b.node("Transpose", &[y, swapped], Attrs::new());
    let y = b.node("Reshape", &[y, full_shape], Attrs::new());
    let y = b.node("Add", &[y, x], Attrs::new());
    let (gain, shift) = (b.weights(&[96]), b.weights(&[96]));
    let axis = Attrs::new()
        .with("begin_norm_axis", 2)
        .with("begin_params_axis", 2);
    let y = b.node("LayerNormV3", &[y, gain, shift], axis);
    let weights = b.weights(&[96, 384]);
    let y = b.node("BatchMatMulV2", &[y, weights], Attrs::new());
    let y = b.node("Gelu", &[y], Attrs::new());
    let weights = b.weights(&[384, 96]);
    let y = b.node("BatchMatMulV2", &[y, weights], Attrs::new());
    b.0.outputs.push(GraphOutput {
        name: "y".into(),
        producer: ("y".into(), 0),
        value: y,
    });
    b.0
}

/// Threads that come in another order: parts are done on the calling thread, the last first or the odd ones first.
struct Orders {
    threads: usize,
    odd_first: bool,
}

impl Share for Orders {
    fn threads(&self) -> usize {
        self.threads
    }

    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        if self.odd_first {
            (1..parts).step_by(2).for_each(work);
            (0..parts).step_by(2).for_each(work);
        } else {
            (0..parts).rev().for_each(work);
        }
    }
}

/// Runs a plan twice, the second time without an allocation. Returns the bytes.
fn run_without_allocating(plan: &Plan, weights: &[u8], workers: Workers<'_>) -> Vec<u8> {
    let weights = Block::of(weights);
    let mut arena = Block::zeroed(plan.arena_bytes);
    let values: Vec<u8> = (0..plan.inputs[0].bytes as u32 / 4)
        .flat_map(|at| {
            let value = (at.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0;
            value.to_le_bytes()
        })
        .collect();
    let mut x = Block::of(&values);
    let mut y = Block::zeroed(plan.outputs[0].bytes);
    {
        let (inputs, outputs) = ([x.region()], [y.region()]);
        let operands = Operands {
            weights: weights.shared(),
            arena: arena.region(),
            constants: Region::EMPTY,
            inputs: &inputs,
            outputs: &outputs,
            workers,
        };
        // What is found out about the processor is kept from the first time on.
        plan.run(&operands).unwrap();
        let before = COUNT.get();
        plan.run(&operands).unwrap();
        assert_eq!(COUNT.get() - before, 0, "allocations in one execution");
    }
    y.bytes().to_vec()
}

#[test]
fn running_a_plan_allocates_nothing_and_gives_the_same_bytes_whoever_comes_first() {
    for (graph, fused) in [
        (network(), "jumar.BlockedConv2D"),
        (shuffled(), "jumar.BlockedPickedConv2D"),
        (attention(), "jumar.Attention"),
    ] {
        let model = compile(graph, &BuildOptions::default()).unwrap();
        let weights = model.weight_bytes(&[]).unwrap().to_vec();
        let plan = model.plan().unwrap();
        let operators: Vec<_> = plan.steps.iter().map(|step| step.operator()).collect();
        assert!(operators.contains(&fused), "{operators:?}");
        let alone = run_without_allocating(&plan, &weights, Workers::ALONE);
        assert!(alone.iter().any(|&byte| byte != 0));
        for threads in [2, 3, 8] {
            let bytes = |odd_first| {
                let orders = Orders { threads, odd_first };
                run_without_allocating(&plan, &weights, Workers::of(&orders))
            };
            assert!(bytes(true) == bytes(false), "{fused}, {threads} threads");
        }
    }
}
