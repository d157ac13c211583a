//! Runs a model on the host: `run_model MODEL OUT_DIR [--shape name:dims;...] [--real name:dims;...] [--repeat N]
//! [--steps] INPUT...`
//!
//! MODEL is an ONNX file or a compiled `.om`. Each INPUT is a file of raw little-endian elements; OUT_DIR receives
//! `output_0.bin` and so on, and `description.txt`. With `--repeat` the median of N timed runs is printed, with
//! `--steps` the time of each step, too. `--precision` is a precision mode. `--real` gives the dimensions of inputs that the model leaves open.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use jumar_graph::{
    BuildOptions, Dynamic, Executable, Lent, Model, Operands, Region, TensorType, Tensorlike,
    Workers, Workspace, compile, onnx, run_step,
};
use jumar_ops::view::Block;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut shape, mut real) = (String::new(), String::new());
    let (mut output_type, mut aipp) = (String::new(), String::new());
    let mut precision = String::new();
    let (mut repeat, mut steps) = (0usize, false);
    let mut plain = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--shape" => shape = args.next().ok_or("--shape needs a value")?,
            "--real" => real = args.next().ok_or("--real needs a value")?,
            "--aipp" => {
                aipp = fs::read_to_string(args.next().ok_or("--aipp needs a file")?)?;
            }
            "--output-type" => output_type = args.next().ok_or("--output-type needs a value")?,
            "--precision" => precision = args.next().ok_or("--precision needs a value")?,
            "--repeat" => repeat = args.next().ok_or("--repeat needs a value")?.parse()?,
            "--steps" => steps = true,
            _ => plain.push(arg),
        }
    }
    let [model_path, out_dir, inputs @ ..] = &plain[..] else {
        return Err(
            "usage: run_model MODEL OUT_DIR [--shape S] [--repeat N] [--steps] INPUT...".into(),
        );
    };
    let loading = Instant::now();
    let file = fs::read(model_path)?;
    let model = if model_path.ends_with(".om") {
        Model::read(&file)?
    } else {
        let input_shapes = BuildOptions::parse_input_shapes(&shape)?;
        let graph = onnx::import_with(
            &file,
            Path::new(model_path).parent(),
            &BuildOptions::open_shapes(&input_shapes),
        )?;
        let options = BuildOptions {
            input_shapes,
            preprocessing: aipp,
            output_type: BuildOptions::parse_output_type(&output_type)?,
            products: BuildOptions::parse_precision(&precision, "")?,
            ..BuildOptions::default()
        };
        // Through the file format, so that every run tests it.
        let compiled = compile(graph, &options)?;
        let mut bytes = Vec::new();
        compiled.write(&mut bytes)?;
        Model::read(&bytes)?;
        compiled
    };
    let weights = &*model.weight_bytes(&file)?;
    let plan = match model.executable()? {
        Executable::Planned(plan) => plan,
        Executable::Geared(_) => return Err("gears are chosen on a device only".into()),
        Executable::Dynamic(dynamic) => {
            return run_dynamic(&model, &dynamic, weights, inputs, &real, Path::new(out_dir));
        }
    };
    eprintln!(
        "loaded in {:.1} ms: {} steps, {} weight bytes, {} arena bytes",
        loading.elapsed().as_secs_f64() * 1e3,
        plan.steps.len(),
        plan.weight_bytes,
        plan.arena_bytes
    );
    if inputs.len() != plan.inputs.len() {
        return Err(format!("the model has {} inputs", plan.inputs.len()).into());
    }
    let mut arena = Block::zeroed(plan.arena_bytes);
    let mut ins = inputs
        .iter()
        .map(|path| Ok(Block::of(&fs::read(path)?)))
        .collect::<std::io::Result<Vec<_>>>()?;
    let mut outs: Vec<Block> = plan
        .outputs
        .iter()
        .map(|port| Block::zeroed(port.bytes))
        .collect();
    {
        let ins: Vec<Region<'_>> = ins.iter_mut().map(Block::region).collect();
        let outs: Vec<Region<'_>> = outs.iter_mut().map(Block::region).collect();
        let operands = Operands {
            weights: Region::shared(weights),
            arena: arena.region(),
            constants: Region::EMPTY,
            inputs: &ins,
            outputs: &outs,
            workers: Workers::ALONE,
        };
        plan.run(&operands)?;
        if repeat > 0 {
            let mut times: Vec<f64> = Vec::new();
            let mut each = vec![f64::INFINITY; plan.steps.len()];
            for _ in 0..repeat {
                let start = Instant::now();
                for (step, least) in plan.steps.iter().zip(&mut each) {
                    let begin = Instant::now();
                    run_step(step, &operands)?;
                    *least = least.min(begin.elapsed().as_secs_f64());
                }
                times.push(start.elapsed().as_secs_f64());
            }
            times.sort_by(f64::total_cmp);
            println!(
                "median_ms {:.3} min_ms {:.3}",
                times[times.len() / 2] * 1e3,
                times[0] * 1e3
            );
            if steps {
                for (step, least) in plan.steps.iter().zip(&each) {
                    println!(
                        "{:9.1} us  {:16} {}",
                        least * 1e6,
                        step.operator(),
                        step.name()
                    );
                }
            }
        }
    }
    let mut text = String::new();
    for (index, (port, block)) in model.description().outputs.iter().zip(&outs).enumerate() {
        fs::write(
            Path::new(out_dir).join(format!("output_{index}.bin")),
            block.bytes(),
        )?;
        let dims: Vec<String> = port.dims.iter().map(i64::to_string).collect();
        text.push_str(&format!(
            "{} {} {}\n",
            port.dtype,
            dims.join(","),
            port.name
        ));
    }
    fs::write(Path::new(out_dir).join("description.txt"), text)?;
    Ok(())
}

/// Ordinary memory for results; it is kept until the process ends.
#[derive(Default)]
struct Heap(Vec<(usize, Region<'static>, bool)>);

fn lasting(bytes: usize) -> Region<'static> {
    Box::leak(Box::new(Block::zeroed(bytes))).region()
}

impl Workspace<'static> for Heap {
    fn take(&mut self, bytes: usize) -> jumar_graph::Result<Lent<'static>> {
        let found = self
            .0
            .iter()
            .position(|&(size, _, lent)| !lent && size == bytes);
        let token = found.unwrap_or_else(|| {
            self.0.push((bytes, lasting(bytes), true));
            self.0.len() - 1
        });
        self.0[token].2 = true;
        Ok(Lent {
            token,
            region: self.0[token].1,
        })
    }

    fn give(&mut self, lent: Lent<'static>) {
        self.0[lent.token].2 = false;
    }
}

fn run_dynamic(
    model: &Model,
    dynamic: &Dynamic,
    weights: &[u8],
    inputs: &[String],
    real: &str,
    out_dir: &Path,
) -> Result<(), Box<dyn Error>> {
    eprintln!("loaded: shapes are found while the model runs");
    let real = BuildOptions::open_shapes(&BuildOptions::parse_input_shapes(real)?);
    let keep = |bytes: &[u8]| -> Region<'static> { Box::leak(Box::new(Block::of(bytes))).region() };
    let description = model.description();
    if inputs.len() != description.inputs.len() {
        return Err(format!("the model has {} inputs", description.inputs.len()).into());
    }
    let mut given = Vec::new();
    for (path, port) in inputs.iter().zip(&description.inputs) {
        let dims = real.get(&port.name).unwrap_or(&port.dims).clone();
        given.push(Tensorlike {
            ty: TensorType::new(port.dtype, dims),
            region: keep(&fs::read(path)?),
        });
    }
    let mut results: Vec<(TensorType, Region<'static>)> = Vec::new();
    let mut sink = |_: usize, ty: &TensorType| {
        let region = lasting(ty.bytes().unwrap_or(0));
        results.push((ty.clone(), region));
        Ok(region)
    };
    dynamic.run(keep(weights), &given, &mut Heap::default(), &mut sink, None)?;
    let mut text = String::new();
    for (index, ((ty, region), port)) in results.iter().zip(&description.outputs).enumerate() {
        let bytes = jumar_graph::read_bytes(*region)?;
        fs::write(out_dir.join(format!("output_{index}.bin")), bytes)?;
        let dims: Vec<String> = ty.shape.iter().map(i64::to_string).collect();
        text.push_str(&format!("{} {} {}\n", ty.dtype, dims.join(","), port.name));
    }
    fs::write(out_dir.join("description.txt"), text)?;
    Ok(())
}
