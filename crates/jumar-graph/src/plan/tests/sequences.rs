//! Sequences and columns are computed as images of height 1: the values are those of the graph as written, and what follows
//! a convolution stays in blocks.

use super::*;

/// A sequence `[N, C, L]`, written as ONNX import writes it, or a column `[N, C, L, 1]`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Sequence,
    Column,
}

/// Adds to a graph what is written over one form.
struct Chain {
    b: Builder,
    form: Form,
    at: ValueId,
    /// Batch, channels, length.
    dims: [usize; 3],
}

impl Chain {
    fn new(form: Form, dims: [usize; 3]) -> Chain {
        let mut b = Builder::default();
        let at = b.input(&shape(form, dims));
        Chain { b, form, at, dims }
    }

    fn node(&mut self, operator: &str, inputs: &[Option<ValueId>], attrs: Attrs, out: [usize; 3]) {
        self.b
            .node(operator, inputs, attrs, &[&shape(self.form, out)]);
        self.at = self.b.last().0;
        self.dims = out;
    }

    /// A window of `size` along the length: what surrounds it and its attributes depend on the form.
    fn window(
        &mut self,
        operator: &str,
        filter: Option<[usize; 2]>,
        [size, stride, pad]: [usize; 3],
        groups: usize,
    ) {
        let [n, channels, length] = self.dims;
        let outputs = filter.map_or(channels, |[outputs, _]| outputs);
        let out = [n, outputs, (length + 2 * pad - size) / stride + 1];
        let turn = |list: [usize; 2]| {
            let [along, across] = list.map(|value| value as i64);
            match self.form {
                Form::Sequence => vec![1, 1, across, along],
                Form::Column => vec![1, 1, along, across],
            }
        };
        let pads = match self.form {
            Form::Sequence => vec![0, 0, pad as i64, pad as i64],
            Form::Column => vec![pad as i64, pad as i64, 0, 0],
        };
        let mut attrs = Attrs::new()
            .with("strides", turn([stride, 1]))
            .with("pads", pads)
            .with("data_format", "NCHW");
        let mut inputs = Vec::new();
        match filter {
            Some([outputs, channels]) => {
                attrs.set("groups", groups as i64);
                let dims = match self.form {
                    Form::Sequence => [outputs, channels, 1, size],
                    Form::Column => [outputs, channels, size, 1],
                };
                inputs.push(Some(self.b.weights(&dims)));
                inputs.push(Some(self.b.weights(&[outputs])));
            }
            None => attrs.set("ksize", turn([size, 1])),
        }
        if self.form == Form::Sequence {
            let axes = Attrs::new().with("axes", vec![2]);
            let image = [n, channels, 1, length];
            self.b.node("Unsqueeze", &[Some(self.at)], axes, &[&image]);
            inputs.insert(0, Some(self.b.last().0));
            let image = [out[0], out[1], 1, out[2]];
            self.b.node(operator, &inputs, attrs, &[&image]);
            let image = self.b.last().0;
            let axis = Attrs::new().with("axis", vec![2]);
            self.node("Squeeze", &[Some(image)], axis, out);
        } else {
            inputs.insert(0, Some(self.at));
            self.node(operator, &inputs, attrs, out);
        }
    }

    fn conv(&mut self, outputs: usize, window: [usize; 3]) {
        let channels = self.dims[1];
        self.window("Conv2D", Some([outputs, channels]), window, 1);
    }

    fn norm(&mut self) {
        let dims = self.dims;
        let mut inputs = vec![Some(self.at)];
        inputs.extend((0..3).map(|_| Some(self.b.weights(&[dims[1]]))));
        let variance = Tensor::from_floats(&vec![0.5; dims[1]]);
        inputs.push(Some(self.b.graph.add_constant("variance", variance)));
        let attrs = Attrs::new()
            .with("data_format", "NCHW")
            .with("is_training", false);
        self.node("BatchNorm", &inputs, attrs, dims);
    }

    fn relu(&mut self) {
        let (at, dims) = (self.at, self.dims);
        self.node("Relu", &[Some(at)], Attrs::new(), dims);
    }

    fn finish(mut self) -> Graph {
        self.b.output(self.at);
        self.b.graph
    }
}

fn shape(form: Form, [n, channels, length]: [usize; 3]) -> Vec<usize> {
    match form {
        Form::Sequence => vec![n, channels, length],
        Form::Column => vec![n, channels, length, 1],
    }
}

#[test]
fn blocks_continue_through_normalisation_and_pooling() {
    // All dimensions known, or the batch or the length left open.
    for (form, open) in [Form::Sequence, Form::Column]
        .into_iter()
        .flat_map(|form| [None, Some(0), Some(2)].map(|open| (form, open)))
    {
        let mut chain = Chain::new(form, [2, 16, 40]);
        chain.conv(32, [5, 1, 2]);
        chain.norm();
        chain.relu();
        chain.window("MaxPoolV3", None, [2, 2, 0], 1);
        chain.conv(32, [3, 1, 1]);
        chain.relu();
        let plan = match open {
            None => compare(chain.finish()).0,
            Some(axis) => compare_open(chain.finish(), axis),
        };
        let count = |name: &str| operators(&plan).iter().filter(|&&own| own == name).count();
        let all = operators(&plan);
        assert_eq!(count("jumar.Block"), 1, "{form:?}, open: {open:?}: {all:?}");
        assert_eq!(
            count("jumar.Unblock"),
            1,
            "{form:?}, open: {open:?}: {all:?}"
        );
        assert_eq!(
            count("jumar.BlockedConv2D"),
            2,
            "{form:?}, open: {open:?}: {all:?}"
        );
        for fused in ["BatchNorm", "Relu", "Conv2D", "MaxPoolV3"] {
            assert_eq!(count(fused), 0, "{form:?}, open: {open:?}: {all:?}");
        }
    }
}

#[test]
fn any_chain_keeps_its_values() {
    let mut blocked = 0;
    for seed in 0..200 {
        let mut r = Rng::with_seed(seed);
        for _ in 0..4 {
            r.usize(..2);
        }
        let form = [Form::Sequence, Form::Column][r.usize(..2)];
        let first = [
            1 + r.usize(..2),
            [16, 24, 3][r.usize(..3)],
            6 + r.usize(..20),
        ];
        let mut chain = Chain::new(form, first);
        for _ in 0..3 + r.usize(..8) {
            let (at, dims) = (chain.at, chain.dims);
            match r.usize(..10) {
                0..=2 if dims[2] >= 5 => {
                    let size = [1, 3, 5][r.usize(..3)];
                    let stride = 1 + r.usize(..2);
                    chain.conv([16, 32, 20][r.usize(..3)], [size, stride, r.usize(..3)]);
                }
                3 if dims[2] >= 3 => {
                    let window = [3, 1, 1];
                    chain.window("Conv2D", Some([dims[1], 1]), window, dims[1]);
                }
                4 if dims[2] >= 4 => {
                    let operator = ["MaxPoolV3", "AvgPoolV2"][r.usize(..2)];
                    chain.window(operator, None, [2, 2, 0], 1);
                }
                5 => chain.norm(),
                6 => chain.relu(),
                // A constant of one element, one a channel, or of all elements.
                7 => {
                    let mut own = shape(form, dims);
                    match r.usize(..3) {
                        0 => own = vec![1],
                        1 => {
                            own[0] = 1;
                            own[2] = 1;
                        }
                        _ => {}
                    }
                    let other = chain.b.weights(&own);
                    let operator = ["Add", "Mul"][r.usize(..2)];
                    let mut inputs = [Some(at), Some(other)];
                    if r.usize(..2) == 0 {
                        inputs.reverse();
                    }
                    chain.node(operator, &inputs, Attrs::new(), dims);
                }
                8 => {
                    let wanted = shape(form, dims);
                    let alike: Vec<ValueId> = chain
                        .b
                        .made
                        .iter()
                        .filter(|(_, own)| *own == wanted)
                        .map(|(id, _)| *id)
                        .collect();
                    let other = alike[r.usize(..alike.len())];
                    chain.node("Add", &[Some(at), Some(other)], Attrs::new(), dims);
                }
                _ if r.usize(..2) == 0 && dims[1] <= 48 => {
                    let attrs = Attrs::new().with("concat_dim", 1);
                    let out = [dims[0], 2 * dims[1], dims[2]];
                    chain.node("ConcatD", &[Some(at), Some(at)], attrs, out);
                }
                _ => chain.node("Sigmoid", &[Some(at)], Attrs::new(), dims),
            }
        }
        // A result that something else reads as it was written.
        let (at, dims) = (chain.at, chain.dims);
        if r.usize(..2) == 0 {
            let pooled = [dims[0], dims[1], 1];
            chain.node("GlobalAveragePool", &[Some(at)], Attrs::new(), pooled);
            chain.b.output(at);
        }
        let graph = chain.finish();
        let open = [0, 2][r.usize(..2)];
        let result = std::panic::catch_unwind(|| {
            compare_open(graph.clone(), open);
            compare(graph)
        });
        let (plan, ..) = result.unwrap_or_else(|cause| {
            eprintln!("the graph of seed {seed}, {form:?}");
            std::panic::resume_unwind(cause)
        });
        blocked += operators(&plan)
            .iter()
            .filter(|name| name.starts_with("jumar.Blocked"))
            .count();
    }
    assert!(blocked > 200, "{blocked} operators in blocks");
}
