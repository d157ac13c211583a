//! Kernels that split their work produce the same bytes for any number and order of threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use jumar_ops::math::LowPrecision;
use jumar_ops::packing::{pack_depthwise, pack_filter};
use jumar_ops::view::{Block, F16, Region};
use jumar_ops::{
    Attrs, BufferKind, Call, InferCx, Memory, Operand, PrepareCx, Share, Tensor, Workers, find,
    pack_matrix, pack_weights,
};
use jumar_types::dtype::DataType;

/// Threads that take the parts from the last to the first.
struct Team(usize);

impl Share for Team {
    fn threads(&self) -> usize {
        self.0
    }

    fn share(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let left = AtomicUsize::new(parts);
        let take = || {
            while let Ok(part) =
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
            {
                work(part - 1);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.0 {
                scope.spawn(take);
            }
            take();
        });
    }
}

fn noise(dims: &[usize], seed: u32) -> Tensor {
    let mut random = fastrand::Rng::with_seed(seed.into());
    let bytes = (0..dims.iter().product::<usize>())
        .flat_map(|_| (random.f32() * 2.0 - 1.0).to_le_bytes())
        .collect();
    Tensor::new(DataType::Float32, dims, bytes).unwrap()
}

/// Runs an operator with a team and returns the bytes of its first output.
fn run(name: &str, inputs: &[Tensor], attrs: &Attrs, workers: Workers<'_>) -> Vec<u8> {
    let operator = find(name).unwrap();
    let types: Vec<_> = inputs.iter().map(|tensor| Some(tensor.ty())).collect();
    // What decides shapes is known before.
    let is_known = |tensor: &&Tensor| tensor.ty().dtype == DataType::Int64;
    let constants: Vec<_> = inputs
        .iter()
        .map(|tensor| Some(tensor).filter(is_known))
        .collect();
    let cx = InferCx::new(&types, &constants, attrs);
    let outputs = &operator.infer(&cx).unwrap()[..1];
    let kernel = operator
        .prepare(&PrepareCx::new(cx, outputs).unwrap())
        .unwrap();
    let operands: Vec<_> = inputs
        .iter()
        .enumerate()
        .map(|(index, tensor)| {
            Some(Operand::dense(BufferKind::Input(index as u32), 0, tensor.ty()).unwrap())
        })
        .collect();
    let result = [Operand::dense(BufferKind::Output(0), 0, &outputs[0]).unwrap()];
    let regions: Vec<_> = inputs
        .iter()
        .map(|tensor| Region::shared(tensor.bytes()))
        .collect();
    let (mut block, mut scratch) = (
        Block::zeroed(result[0].bytes()),
        Block::zeroed(kernel.scratch_bytes()),
    );
    let memory = Memory {
        weights: Region::EMPTY,
        arena: scratch.region(),
        constants: Region::EMPTY,
        inputs: &regions,
        outputs: &[block.region()],
        workers,
    };
    kernel
        .run(&Call::new(&operands, &result, (0, kernel.scratch_bytes()), &memory).unwrap())
        .unwrap();
    block.bytes().to_vec()
}

/// The numbers in float16.
fn halves(tensor: &Tensor) -> Tensor {
    let numbers = tensor.float32s().unwrap();
    let bytes = numbers
        .iter()
        .flat_map(|number| F16::rounded(*number).to_bits().to_le_bytes());
    Tensor::new(
        DataType::Float16,
        &tensor.ty().dims().unwrap(),
        bytes.collect(),
    )
    .unwrap()
}

/// Which numbers are above zero.
fn positive(tensor: &Tensor) -> Tensor {
    let numbers = tensor.float32s().unwrap();
    let bytes = numbers.iter().map(|number| u8::from(*number > 0.0));
    Tensor::new(
        DataType::Bool,
        &tensor.ty().dims().unwrap(),
        bytes.collect(),
    )
    .unwrap()
}

type Case = (&'static str, Vec<Tensor>, Attrs);

/// A convolution of each channel by itself, over images in blocks.
fn depthwise(images: usize, side: usize) -> Case {
    let filter = pack_depthwise(&noise(&[160, 1, 5, 5], 2)).unwrap();
    let attrs = Attrs::new()
        .with("kernel", vec![5, 5])
        .with("strides", vec![1, 1, 1, 1])
        .with("pads", vec![2, 2, 2, 2]);
    let x = noise(&[images, 10, side, side, 16], 1);
    ("jumar.BlockedDepthwiseConv2D", vec![x, filter], attrs)
}

/// Means of windows, over images in blocks.
fn average(images: usize, side: usize) -> Case {
    let attrs = Attrs::new()
        .with("ksize", vec![1, 1, 3, 3])
        .with("strides", vec![1, 1, 1, 1]);
    let x = noise(&[images, 10, side, side, 16], 1);
    ("jumar.BlockedAvgPool", vec![x], attrs)
}

/// A convolution of one pixel, with many weights.
fn pixel() -> Case {
    let filter = pack_filter(&noise(&[320, 320, 1, 1], 2), 1, false).unwrap();
    let attrs = Attrs::new()
        .with("kernel", vec![1, 1])
        .with("strides", vec![1, 1, 1, 1])
        .with("pads", vec![0, 0, 0, 0]);
    let x = noise(&[1, 20, 1, 1, 16], 1);
    ("jumar.BlockedConv2D", vec![x, filter], attrs)
}

#[test]
fn the_bytes_are_the_same_with_every_team() {
    let linear = |m, n, k| {
        let inputs = vec![
            noise(&[m, k], 1),
            pack_matrix(&noise(&[k, n], 2), false).unwrap(),
            noise(&[n], 3),
            noise(&[m, n], 4),
        ];
        (
            "jumar.Linear",
            inputs,
            Attrs::new()
                .with("columns", n as i64)
                .with("activation", "gelu"),
        )
    };
    let attention = Attrs::new()
        .with("q_num_heads", 10)
        .with("kv_num_heads", 10);
    let by_position = |seed| noise(&[2, 70, 160], seed);
    // Sequence, weights and recurrent weights of both directions: each direction is a part.
    let recurrent = |gates: usize| {
        let (input, hidden) = (48, 64);
        vec![
            noise(&[20, 8, input], 1),
            noise(&[2, gates * hidden, input], 2),
            noise(&[2, gates * hidden, hidden], 3),
        ]
    };
    let both = || {
        Attrs::new()
            .with("direction", "bidirectional")
            .with("hidden_size", 64)
    };
    // With packed weights the sequences are parted, too.
    let packed = |name, gates: usize, layout: i64, direction: &str| {
        let mut inputs = recurrent(gates);
        let directions = if direction == "bidirectional" { 2 } else { 1 };
        for (index, dims) in [
            (1, [directions, gates * 64, 48]),
            (2, [directions, gates * 64, 64]),
        ] {
            inputs[index] = pack_weights(&noise(&dims, 3), gates).unwrap();
        }
        if layout == 1 {
            inputs[0] = noise(&[18, 20, 48], 1);
        }
        let attrs = Attrs::new()
            .with("direction", direction)
            .with("hidden_size", 64)
            .with("layout", layout)
            .with("packed", 1);
        (name, inputs, attrs)
    };
    let cases = [
        ("CommonLSTM", recurrent(4), both()),
        ("CommonGRU", recurrent(3), both()),
        packed("CommonLSTM", 4, 0, "forward"),
        packed("CommonLSTM", 4, 1, "bidirectional"),
        packed("CommonGRU", 3, 0, "reverse"),
        // Split by columns, by rows, and a product of one row.
        linear(70, 600, 100),
        linear(300, 40, 120),
        linear(1, 4000, 300),
        (
            "jumar.Attention",
            vec![
                by_position(1),
                by_position(2),
                by_position(3),
                noise(&[70, 70], 4),
            ],
            attention,
        ),
        (
            "LayerNormV3",
            vec![noise(&[200, 500], 1), noise(&[500], 2), noise(&[500], 3)],
            Attrs::new().with("begin_norm_axis", 1),
        ),
        ("Erf", vec![noise(&[100_003], 1)], Attrs::new()),
        ("Relu", vec![noise(&[100_003], 1)], Attrs::new()),
        (
            "Add",
            vec![noise(&[100_003], 1), noise(&[100_003], 2)],
            Attrs::new(),
        ),
        (
            "Mul",
            vec![noise(&[100_003], 1), noise(&[1], 2)],
            Attrs::new(),
        ),
        // Loops that are cut at their outermost one: a factor for each channel of blocks, columns, and others.
        (
            "Mul",
            vec![noise(&[3, 20, 14, 14, 16], 1), noise(&[3, 20, 1, 1, 16], 2)],
            Attrs::new(),
        ),
        (
            "Sub",
            vec![noise(&[400, 1], 1), noise(&[1, 300], 2)],
            Attrs::new(),
        ),
        (
            "Add",
            vec![
                halves(&noise(&[2, 50, 30, 40], 1)),
                halves(&noise(&[50, 1, 40], 2)),
            ],
            Attrs::new(),
        ),
        (
            "SelectV2",
            vec![
                positive(&noise(&[70, 1, 60], 1)),
                noise(&[30, 60], 2),
                noise(&[70, 30, 1], 3),
            ],
            Attrs::new(),
        ),
        (
            "SelectV2",
            vec![
                positive(&noise(&[100_003], 1)),
                noise(&[100_003], 2),
                noise(&[100_003], 3),
            ],
            Attrs::new(),
        ),
        (
            "Transpose",
            vec![noise(&[60, 50, 40], 1), Tensor::from_ints(&[1, 0, 2])],
            Attrs::new(),
        ),
        // One image is cut by rows as the convolutions around; of several, each is one part; one pixel has many weights.
        depthwise(1, 14),
        depthwise(5, 14),
        average(1, 28),
        pixel(),
    ];
    for (name, inputs, attrs) in &cases {
        let alone = run(name, inputs, attrs, Workers::ALONE);
        assert!(alone.iter().any(|&byte| byte != 0), "{name}");
        for threads in [2, 3, 8] {
            let found = run(name, inputs, attrs, Workers::of(&Team(threads)));
            assert!(alone == found, "{name} with {threads} threads");
        }
    }
}

/// Cells as they usually are have a step of their own; peepholes of zero and lengths of all steps ask for the step of all others.
#[test]
fn the_usual_lstm_computes_what_every_other_does() {
    let (steps, batch, input) = (7, 5, 9);
    for (hidden, layout, direction) in [
        (37, 0, "bidirectional"),
        (37, 1, "bidirectional"),
        (16, 0, "reverse"),
        (3, 1, "forward"),
    ] {
        let directions = if direction == "bidirectional" { 2 } else { 1 };
        let x = match layout {
            0 => [steps, batch, input],
            _ => [batch, steps, input],
        };
        let state = match layout {
            0 => [directions, batch, hidden],
            _ => [batch, directions, hidden],
        };
        let zeros = |dims: &[usize]| {
            let bytes = vec![0; dims.iter().product::<usize>() * size_of::<f32>()];
            Tensor::new(DataType::Float32, dims, bytes).unwrap()
        };
        let lengths = vec![(steps as i32).to_le_bytes(); batch].concat();
        let usual = vec![
            noise(&x, 1),
            noise(&[directions, 4 * hidden, input], 2),
            noise(&[directions, 4 * hidden, hidden], 3),
            noise(&[directions, 8 * hidden], 4),
        ];
        let mut every = usual.clone();
        every.extend([
            Tensor::new(DataType::Int32, &[batch], lengths).unwrap(),
            zeros(&state),
            zeros(&state),
            zeros(&[directions, 3 * hidden]),
        ]);
        let attrs = Attrs::new()
            .with("direction", direction)
            .with("hidden_size", hidden as i64)
            .with("layout", layout);
        let wanted = run("CommonLSTM", &every, &attrs, Workers::ALONE);
        assert!(wanted.iter().any(|&byte| byte != 0));
        let found = run("CommonLSTM", &usual, &attrs, Workers::ALONE);
        assert_eq!(
            found, wanted,
            "{hidden} units, layout {layout}, {direction}"
        );
    }
}

/// The number of channels says where the last block ends: what lies behind it is not read, and a number that does not fit is refused.
#[test]
fn a_convolution_reads_the_channels_of_the_last_block_that_there_are() {
    let filter = pack_filter(&noise(&[24, 20, 3, 3], 2), 1, false).unwrap();
    let attrs = |channels: i64| {
        Attrs::new()
            .with("kernel", vec![3, 3])
            .with("strides", vec![1, 1, 1, 1])
            .with("pads", vec![1, 1, 1, 1])
            .with("channels", channels)
    };
    // Two blocks of an image of 20 channels.
    let dims = [1, 2, 6, 17, 16];
    let image = |filling: f32| {
        let mut numbers = noise(&dims, 1).float32s().unwrap().to_vec();
        for pixel in numbers[6 * 17 * 16..].chunks_mut(16) {
            pixel[4..].fill(filling);
        }
        let bytes = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
        Tensor::new(DataType::Float32, &dims, bytes).unwrap()
    };
    let compute = |filling, channels| {
        let inputs = [image(filling), filter.clone()];
        let name = "jumar.BlockedConv2D";
        run(name, &inputs, &attrs(channels), Workers::ALONE)
    };
    assert!(compute(f32::NAN, 20) == compute(0.0, 0));
    let operator = find("jumar.BlockedConv2D").unwrap();
    let x = image(0.0);
    let types = [Some(x.ty()), Some(filter.ty())];
    for channels in [-1, 1, 16, 33, i64::MAX] {
        let attrs = attrs(channels);
        let cx = InferCx::new(&types, &[None, None], &attrs);
        let outputs = operator.infer(&cx).unwrap();
        let prepared = operator.prepare(&PrepareCx::new(cx, &outputs).unwrap());
        let refusal = prepared.err().expect("channels that do not fit");
        assert!(
            refusal.to_string().contains("channels in 2 blocks"),
            "{refusal}"
        );
    }
}

/// An operand that is repeated for all pixels, in rows that divide a group and in others, as the first operand and as the second.
#[test]
fn operands_that_are_repeated_along_the_last_but_one_dimension_are_repeated_right() {
    // Enough for threads to share: one image is one run, whose rows are shared, and of several each is a run.
    const PIXELS: usize = 4200;
    for (images, row) in [1, 3]
        .into_iter()
        .flat_map(|images| [1, 2, 3, 4, 8, 16, 32, 48].map(|row| (images, row)))
    {
        let (large, small) = ([images, 1, PIXELS, row], [images, 1, 1, row]);
        let (image, factors) = (noise(&large, 1), noise(&small, 2));
        let (x, y) = (image.float32s().unwrap(), factors.float32s().unwrap());
        for turned in [false, true] {
            let inputs = match turned {
                false => [image.clone(), factors.clone()],
                true => [factors.clone(), image.clone()],
            };
            let wanted: Vec<u8> = (0..x.len())
                .flat_map(|at| {
                    let factor = y[at / (PIXELS * row) * row + at % row];
                    let difference = x[at] - factor;
                    (if turned { -difference } else { difference }).to_le_bytes()
                })
                .collect();
            for threads in [1, 3] {
                let found = run("Sub", &inputs, &Attrs::new(), Workers::of(&Team(threads)));
                assert!(
                    found == wanted,
                    "{images} images, rows of {row}, turned: {turned}"
                );
            }
        }
    }
}
