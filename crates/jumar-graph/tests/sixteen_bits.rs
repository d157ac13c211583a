//! Networks of float16 and bfloat16 are computed in float32, by the operators that are made for it, and values between operators are
//! those that the 16-bit type has.

use jumar_graph::{
    BuildOptions, Graph, GraphOutput, Node, Operands, Region, TensorType, ValueId, Workers, compile,
};
use jumar_ops::view::Block;
use jumar_ops::{Attrs, Tensor, compute, find};
use jumar_types::dtype::DataType;

fn cast(tensor: &Tensor, dtype: DataType) -> Tensor {
    let attrs = Attrs::new().with("dst_type", i64::from(dtype.acl()));
    let cast = find("Cast").unwrap();
    compute(cast, &[Some(tensor)], &attrs).unwrap().remove(0)
}

/// Numbers of a 16-bit type, kept as float32.
fn numbers(dims: &[usize], seed: u32, scale: f32, dtype: DataType) -> Tensor {
    let values: Vec<f32> = (0..dims.iter().product::<usize>() as u32)
        .map(|at| ((at + seed).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0)
        .map(|number| number * scale)
        .collect();
    let tensor = Tensor::from_floats(&values).reshaped(dims).unwrap();
    cast(&cast(&tensor, dtype), DataType::Float32)
}

/// A graph that is built and, beside it, computed: each operator in float32 on what the 16-bit type holds, then rounded.
struct Network {
    graph: Graph,
    dtype: DataType,
    known: Vec<Tensor>,
}

impl Network {
    fn new(dtype: DataType, x: &Tensor) -> (Network, ValueId) {
        let mut graph = Graph::default();
        let id = graph.add_value("x", TensorType::new(dtype, x.ty().shape.clone()));
        graph.inputs.push(id);
        let network = Network {
            graph,
            dtype,
            known: vec![x.clone()],
        };
        (network, id)
    }

    fn constant(&mut self, tensor: Tensor) -> ValueId {
        let own = match tensor.ty().dtype {
            DataType::Float32 => cast(&tensor, self.dtype),
            _ => tensor.clone(),
        };
        self.known.push(tensor);
        let name = format!("c{}", self.known.len());
        self.graph.add_constant(name, own)
    }

    /// Adds a node. `rounded`: whether its result is rounded before the next one reads it.
    fn node(&mut self, name: &str, inputs: &[ValueId], attrs: Attrs, rounded: bool) -> ValueId {
        let operator = find(name).unwrap();
        let given: Vec<_> = inputs
            .iter()
            .map(|id| Some(&self.known[id.0 as usize]))
            .collect();
        let mut result = compute(operator, &given, &attrs).unwrap().remove(0);
        if rounded {
            result = cast(&cast(&result, self.dtype), DataType::Float32);
        }
        self.known.push(result);
        let name = format!("{name}_{}", self.graph.nodes.len());
        let ty = TensorType::of_unknown_rank(self.dtype);
        let output = self.graph.add_value(name.clone(), ty);
        self.graph.nodes.push(Node {
            name,
            operator,
            inputs: inputs.iter().copied().map(Some).collect(),
            outputs: vec![output],
            attrs,
            bodies: Vec::new(),
        });
        output
    }

    /// Compiles and runs the network. Returns its operators and its result, and the result that was computed beside it.
    fn run(mut self, y: ValueId) -> (Vec<&'static str>, Vec<f64>, Vec<f64>) {
        self.graph.outputs.push(GraphOutput {
            name: "y".into(),
            producer: ("y".into(), 0),
            value: y,
        });
        let x = cast(&self.known[0], self.dtype);
        let model = compile(self.graph, &BuildOptions::default()).unwrap();
        let weights = Block::of(&model.weight_bytes(&[]).unwrap());
        let plan = model.plan().unwrap();
        let mut arena = Block::zeroed(plan.arena_bytes);
        let (mut input, mut output) = (Block::of(x.bytes()), Block::zeroed(plan.outputs[0].bytes));
        {
            let (inputs, outputs) = ([input.region()], [output.region()]);
            let operands = Operands {
                weights: weights.shared(),
                arena: arena.region(),
                constants: Region::EMPTY,
                inputs: &inputs,
                outputs: &outputs,
                workers: Workers::ALONE,
            };
            plan.run(&operands).unwrap();
        }
        let wanted = &self.known[y.0 as usize];
        let dims = wanted.ty().dims().unwrap();
        let found = Tensor::new(self.dtype, &dims, output.bytes().to_vec()).unwrap();
        let operators = plan.steps.iter().map(|step| step.operator()).collect();
        (operators, found.floats().unwrap(), wanted.floats().unwrap())
    }
}

fn convolutional(dtype: DataType) -> (Network, ValueId) {
    let (mut net, x) = Network::new(dtype, &numbers(&[1, 3, 20, 20], 1, 1.0, dtype));
    let window = |pad: i64| {
        Attrs::new()
            .with("strides", vec![1; 4])
            .with("pads", vec![pad; 4])
            .with("data_format", "NCHW")
    };
    let filter = net.constant(numbers(&[32, 3, 3, 3], 2, 0.3, dtype));
    let bias = net.constant(numbers(&[32], 3, 1.0, dtype));
    // The bounds become part of the convolution, which is rounded after them.
    let y = net.node("Conv2D", &[x, filter, bias], window(1), false);
    let y = net.node("Relu", &[y], Attrs::new(), true);
    let pool = window(0)
        .with("ksize", vec![1, 1, 2, 2])
        .with("strides", vec![1, 1, 2, 2]);
    let y = net.node("MaxPoolV3", &[y], pool, true);
    let filter = net.constant(numbers(&[32, 1, 3, 3], 4, 0.3, dtype));
    let y = net.node("Conv2D", &[y, filter], window(1).with("groups", 32), true);
    let y = net.node("Sigmoid", &[y], Attrs::new(), true);
    let filter = net.constant(numbers(&[48, 32, 1, 1], 5, 0.3, dtype));
    let y = net.node("Conv2D", &[y, filter], window(0), true);
    let shape = net.constant(Tensor::from_ints(&[1, 4800]));
    let y = net.node("Reshape", &[y, shape], Attrs::new(), true);
    let matrix = net.constant(numbers(&[4800, 40], 6, 0.05, dtype));
    let y = net.node("MatMulV2", &[y, matrix], Attrs::new(), true);
    let y = net.node("SoftmaxV2", &[y], Attrs::new().with("axes", vec![-1]), true);
    (net, y)
}

#[test]
fn convolutions_of_16_bits_are_those_of_float32_whose_results_are_rounded() {
    for (dtype, bound) in [(DataType::Float16, 2e-3), (DataType::BFloat16, 1.6e-2)] {
        let (net, y) = convolutional(dtype);
        let (operators, found, wanted) = net.run(y);
        let count = |name: &str| operators.iter().filter(|own| **own == name).count();
        assert_eq!(count("jumar.BlockedConv2D"), 2, "{operators:?}");
        assert_eq!(count("jumar.BlockedDepthwiseConv2D"), 1, "{operators:?}");
        assert_eq!(count("jumar.Linear"), 1, "{operators:?}");
        assert_eq!(count("Cast"), 2, "{operators:?}");
        let most = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(
                (found - wanted).abs() <= bound * most,
                "{found} is not {wanted}"
            );
        }
    }
}

/// Half of what is too large for float16 would not be; only rounding between the operators makes the difference.
#[test]
fn what_leaves_the_range_of_float16_is_infinite_afterwards() {
    let dtype = DataType::Float16;
    let (mut net, x) = Network::new(dtype, &numbers(&[4, 64], 1, 1.0, dtype));
    let large = Tensor::from_floats(&vec![60000.0; 64 * 32])
        .reshaped(&[64, 32])
        .unwrap();
    let large = net.constant(large);
    let y = net.node("MatMulV2", &[x, large], Attrs::new(), true);
    let half = net.constant(Tensor::from_floats(&[0.5]));
    let y = net.node("Mul", &[y, half], Attrs::new(), true);
    let (_, found, wanted) = net.run(y);
    assert!(wanted.iter().any(|x| x.is_infinite()) && wanted.iter().any(|x| x.is_finite()));
    for (found, wanted) in found.iter().zip(&wanted) {
        let near = (found - wanted).abs() <= 1e-3 * wanted.abs().max(1.0);
        assert!(found == wanted || near, "{found} is not {wanted}");
    }
}

/// Conversions within a network, integers, and operators that keep the 16-bit type.
#[test]
fn conversions_inside_a_network_see_rounded_numbers() {
    let dtype = DataType::Float16;
    let (mut net, x) = Network::new(dtype, &numbers(&[8, 32], 1, 40.0, dtype));
    let matrix = net.constant(numbers(&[32, 32], 2, 40.0, dtype));
    let y = net.node("MatMulV2", &[x, matrix], Attrs::new(), true);
    let to = |dtype: DataType| Attrs::new().with("dst_type", i64::from(dtype.acl()));
    let y = net.node("Cast", &[y], to(DataType::Int32), false);
    net.graph.value_mut(y).ty.dtype = DataType::Int32;
    let y = net.node("Cast", &[y], to(DataType::Float32), false);
    net.graph.nodes.last_mut().unwrap().attrs = to(dtype);
    let third = net.constant(cast(
        &cast(&Tensor::from_floats(&[1.0 / 3.0]), dtype),
        DataType::Float32,
    ));
    let y = net.node("Mul", &[y, third], Attrs::new(), true);
    let (_, found, wanted) = net.run(y);
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!(
            (found - wanted).abs() <= 2e-3 * wanted.abs().max(1.0),
            "{found} is not {wanted}"
        );
    }
}
