use fastrand::Rng;
use jumar_ops::view::Block;

use super::*;
use crate::{BuildOptions, Operands, Region, compile};

fn floats(dims: &[usize], seed: u64) -> Tensor {
    let mut noise = Rng::with_seed(seed);
    let values: Vec<f32> = (0..dims.iter().product())
        .map(|_| noise.usize(..2000) as f32 / 1000.0 - 1.0)
        .collect();
    Tensor::from_floats(&values).reshaped(dims).unwrap()
}

/// Adds a node, with its result's type inferred.
fn node(graph: &mut Graph, operator: &str, inputs: &[ValueId], attrs: Attrs) -> ValueId {
    let name = format!("{operator}_{}", graph.nodes.len());
    let operator = control::find(operator).unwrap();
    let inputs = inputs.iter().copied().map(Some).collect();
    let mut node = Node {
        name: name.clone(),
        operator,
        inputs,
        outputs: Vec::new(),
        attrs,
        bodies: Vec::new(),
    };
    let ty = graph.infer(&node).unwrap().remove(0);
    let output = graph.add_value(name, ty);
    node.outputs.push(output);
    graph.nodes.push(node);
    output
}

/// A network with a convolution, a view, a product and values that are needed to plan.
fn network() -> Graph {
    let mut graph = Graph {
        name: "network".into(),
        ..Graph::default()
    };
    let x = graph.add_value("x", TensorType::new(DataType::Float32, [2, 1, 4, 4]));
    graph.inputs.push(x);
    let filter = graph.add_constant("filter", floats(&[4, 1, 3, 3], 1));
    let attrs = Attrs::new()
        .with("strides", vec![1; 4])
        .with("pads", vec![1; 4])
        .with("data_format", "NCHW");
    let y = node(&mut graph, "Conv2D", &[x, filter], attrs);
    let y = node(&mut graph, "Relu", &[y], Attrs::new());
    let perm = graph.add_constant("perm", Tensor::from_ints(&[0, 2, 3, 1]));
    let y = node(&mut graph, "Transpose", &[y, perm], Attrs::new());
    let shape = graph.add_constant("shape", Tensor::from_ints(&[2, -1]));
    let y = node(&mut graph, "Reshape", &[y, shape], Attrs::new());
    let weight = graph.add_constant("weight", floats(&[3, 64], 2));
    let y = node(
        &mut graph,
        "MatMulV2",
        &[y, weight],
        Attrs::new().with("transpose_x2", true),
    );
    let z = node(&mut graph, "SoftmaxV2", &[y], Attrs::new());
    for (name, value) in [("logits", y), ("classes", z)] {
        graph.outputs.push(GraphOutput {
            name: name.into(),
            producer: (name.into(), 0),
            value,
        });
    }
    graph
}

fn file() -> Vec<u8> {
    let options = BuildOptions {
        recorded: [("soc_version".into(), "Ascend910B1".into())].into(),
        ..Default::default()
    };
    let mut bytes = Vec::new();
    compile(network(), &options)
        .unwrap()
        .write(&mut bytes)
        .unwrap();
    bytes
}

/// Runs a model on the same input each time. `None`: it cannot be planned, or it refused its data.
fn run(model: &Model, file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let plan = model.plan().ok()?;
    let total: usize = plan
        .inputs
        .iter()
        .chain(&plan.outputs)
        .map(|port| port.bytes)
        .sum();
    if plan.arena_bytes.saturating_add(total) > 1 << 24 {
        return None;
    }
    let mut inputs: Vec<Block> = plan
        .inputs
        .iter()
        .map(|port| {
            let noise: Vec<u8> = (0..port.bytes / 4)
                .flat_map(|i| (i as f32 / 7.0 - 2.0).to_le_bytes())
                .collect();
            let mut block = Block::zeroed(port.bytes);
            block.bytes_mut()[..noise.len()].copy_from_slice(&noise);
            block
        })
        .collect();
    let mut outputs: Vec<Block> = plan
        .outputs
        .iter()
        .map(|port| Block::zeroed(port.bytes))
        .collect();
    let mut arena = Block::zeroed(plan.arena_bytes);
    {
        let inputs: Vec<Region<'_>> = inputs.iter_mut().map(Block::region).collect();
        let outputs: Vec<Region<'_>> = outputs.iter_mut().map(Block::region).collect();
        let weights = model.weight_bytes(file).unwrap();
        let weights = Region::shared(&weights);
        plan.run(&Operands {
            weights,
            arena: arena.region(),
            constants: Region::EMPTY,
            inputs: &inputs,
            outputs: &outputs,
            workers: crate::Workers::ALONE,
        })
        .ok()?;
    }
    Some(outputs.iter().map(|block| block.bytes().to_vec()).collect())
}

/// Puts the right checksums on a file whose contents were changed.
fn seal(bytes: &mut [u8]) {
    let word = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    for (at, crc_at) in [(24, 56), (40, 60)] {
        let (start, len) = (word(bytes, at), word(bytes, at + 8));
        if let Some(section) = start.checked_add(len).and_then(|end| bytes.get(start..end)) {
            let crc = crc32fast::hash(section);
            bytes[crc_at..crc_at + 4].copy_from_slice(&crc.to_le_bytes());
        }
    }
    let crc = crc32fast::hash(&bytes[..HEADER_BYTES - 4]);
    bytes[HEADER_BYTES - 4..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
}

fn kind(bytes: &[u8]) -> GraphErrorKind {
    Model::read(bytes)
        .expect_err("a file that has to be refused")
        .kind()
}

#[test]
fn what_was_written_is_read_and_computes_the_same() {
    let compiled = compile(network(), &BuildOptions::default()).unwrap();
    let bytes = file();
    let model = Model::read(&bytes).unwrap();
    assert_eq!(model.description(), compiled.description());
    assert_eq!(model.options()["soc_version"], "Ascend910B1");
    let outputs = run(&model, &bytes).unwrap();
    assert_eq!(outputs, run(&compiled, &[]).unwrap());
    let sums: Vec<f32> = outputs[1]
        .chunks(12)
        .map(|row| {
            row.chunks(4)
                .map(|x| f32::from_le_bytes(x.try_into().unwrap()))
                .sum()
        })
        .collect();
    assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-6), "{sums:?}");
    let Weights::InFile(range) = model.weights() else {
        panic!("weights stay in the file")
    };
    assert_eq!(range.start % PAGE, 0);
}

#[test]
fn the_convolution_takes_its_bounds_in_and_views_need_no_step() {
    let plan = compile(network(), &BuildOptions::default())
        .unwrap()
        .plan()
        .unwrap();
    let operators: Vec<_> = plan.steps.iter().map(|step| step.operator()).collect();
    assert_eq!(
        operators,
        ["jumar.Conv2D", "Transpose", "MatMulV2", "SoftmaxV2"]
    );
}

#[test]
fn a_file_cut_off_anywhere_is_truncated() {
    let bytes = file();
    for len in 0..bytes.len() {
        assert_eq!(
            kind(&bytes[..len]),
            GraphErrorKind::Truncated,
            "after {len} bytes"
        );
    }
    let longer = [&bytes[..], b"x"].concat();
    assert_eq!(kind(&longer), GraphErrorKind::Corrupt);
}

#[test]
fn a_flipped_byte_is_found_wherever_it_matters() {
    let mut bytes = file();
    let graph = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
    let weights = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    for at in 0..bytes.len() {
        // What lies between the sections is never read.
        if (HEADER_BYTES + graph..weights).contains(&at) {
            continue;
        }
        bytes[at] ^= 0x10;
        let found = kind(&bytes);
        let wanted = if at < MAGIC.len() {
            GraphErrorKind::NotAModel
        } else {
            GraphErrorKind::Corrupt
        };
        assert_eq!(found, wanted, "byte {at}");
        bytes[at] ^= 0x10;
    }
}

#[test]
fn damage_under_right_checksums_is_refused_or_harmless() {
    let good = file();
    let graph = u64::from_le_bytes(good[32..40].try_into().unwrap()) as usize;
    let mut noise = Rng::with_seed(7);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..4000 {
        let mut bytes = good.clone();
        for _ in 0..1 + noise.usize(..4) {
            let at = match noise.usize(..8) {
                0 => 8 + noise.usize(..56),
                _ => HEADER_BYTES + noise.usize(..graph),
            };
            bytes[at] = match noise.usize(..3) {
                0 => noise.usize(..256) as u8,
                1 => bytes[at].wrapping_add(1),
                _ => bytes[at] ^ 1 << noise.usize(..8),
            };
        }
        seal(&mut bytes);
        match Model::read(&bytes) {
            Err(_) => refused += 1,
            Ok(model) => {
                accepted += 1;
                let _ = run(&model, &bytes);
            }
        }
    }
    assert!(
        refused > 1000 && accepted > 10,
        "{refused} refused, {accepted} accepted"
    );
}

#[test]
fn any_bytes_are_an_answer() {
    let mut noise = Rng::with_seed(11);
    for len in [0, 1, 3, 4, 7, 8, 9, 255, 256, 257, 5000] {
        let bytes: Vec<u8> = (0..len).map(|_| noise.usize(..256) as u8).collect();
        assert!(Model::read(&bytes).is_err());
        assert!(crate::onnx::import(&bytes, None).is_err());
    }
    assert_eq!(
        kind(b"\x08\x08\x12\x07pytorch and more"),
        GraphErrorKind::NotAModel
    );
    assert!(
        Model::read(b"\x08\x08\x12\x07pytorch")
            .unwrap_err()
            .text()
            .contains("atc")
    );
    assert_eq!(
        crate::onnx::import(&file(), None).unwrap_err().kind(),
        GraphErrorKind::NotAModel
    );
}

#[test]
fn a_file_of_a_newer_format_says_so() {
    let mut bytes = file();
    bytes[8] = VERSION as u8 + 1;
    seal(&mut bytes);
    assert_eq!(kind(&bytes), GraphErrorKind::TooNew);
}

#[test]
fn sections_outside_the_file_are_refused() {
    for (at, value) in [
        (24, u64::MAX),
        (32, u64::MAX),
        (40, u64::MAX - 63),
        (48, u64::MAX),
        (24, 0),
        (40, 64),
    ] {
        let mut bytes = file();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        seal(&mut bytes);
        assert_eq!(kind(&bytes), GraphErrorKind::Corrupt, "{at} {value}");
    }
}

#[test]
fn a_kernel_never_leaves_a_buffer_that_is_too_small() {
    let model = compile(network(), &BuildOptions::default()).unwrap();
    let plan = model.plan().unwrap();
    let sizes: Vec<usize> = plan
        .inputs
        .iter()
        .chain(&plan.outputs)
        .map(|port| port.bytes)
        .collect();
    for short in 0..5 {
        let mut blocks: Vec<Block> = sizes
            .iter()
            .enumerate()
            .map(|(i, &bytes)| Block::zeroed(bytes - usize::from(i == short)))
            .collect();
        let mut arena = Block::zeroed(plan.arena_bytes - usize::from(short == 3));
        let regions: Vec<Region<'_>> = blocks.iter_mut().map(Block::region).collect();
        let weights = model.weight_bytes(&[]).unwrap();
        let weights = Region::shared(&weights[..weights.len() - usize::from(short == 4)]);
        let operands = Operands {
            weights,
            arena: arena.region(),
            constants: Region::EMPTY,
            inputs: &regions[..1],
            outputs: &regions[1..],
            workers: crate::Workers::ALONE,
        };
        let error = plan.run(&operands).unwrap_err();
        assert_eq!(error.kind(), GraphErrorKind::Buffer, "{error}");
    }
}
