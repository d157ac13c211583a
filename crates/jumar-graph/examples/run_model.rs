//! Runs a model on the host: `run_model MODEL OUT_DIR [--shape name:dims;...] [--real name:dims;...] [--repeat N]
//! [--steps] INPUT...`
//!
//! MODEL is an ONNX file or a compiled `.om`. Each INPUT is a file of raw little-endian elements; OUT_DIR receives
//! `output_0.bin` and so on, and `description.txt`. `run_model --serve` takes one `MODEL OUT_DIR INPUT...` after another from its
//! input, separated by tabulators, and answers each with a line: `ok` and the operators with the types of their inputs, `refused`
//! where the model is not converted, or `failed`. `run_model --operators` lists what the definitions take. With `--repeat` the median of N timed runs is printed, with
//! `--steps` the time of each step, too. `--precision` is a precision mode. `--real` sets the dynamic dimensions of inputs.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use jumar_graph::{
    BuildOptions, Dynamic, Executable, Graph, Lent, Model, Operands, Region, TensorType,
    Tensorlike, Workers, Workspace, compile, onnx, run_step,
};
use jumar_ops::processor::{Instructions, limit};
use jumar_ops::view::Block;

/// What the command line says.
#[derive(Default)]
struct Options {
    shape: String,
    real: String,
    output_type: String,
    aipp: String,
    precision: String,
    repeat: usize,
    steps: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    // There is no runtime here that would read it.
    match std::env::var("JUMAR_INSTRUCTIONS").as_deref() {
        Ok("portable") => limit(Instructions::Portable),
        Ok("avx2") => limit(Instructions::Avx2),
        Ok("avx512") | Err(_) => {}
        Ok(other) => return Err(format!("JUMAR_INSTRUCTIONS is {other}").into()),
    }
    let mut options = Options::default();
    let mut plain = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} needs a value"));
        match arg.as_str() {
            "--serve" => return serve(),
            "--operators" => return list(),
            "--shape" => options.shape = value()?,
            "--real" => options.real = value()?,
            "--aipp" => options.aipp = fs::read_to_string(value()?)?,
            "--output-type" => options.output_type = value()?,
            "--precision" => options.precision = value()?,
            "--repeat" => options.repeat = value()?.parse()?,
            "--steps" => options.steps = true,
            _ => plain.push(arg),
        }
    }
    let [model, out_dir, inputs @ ..] = &plain[..] else {
        return Err(
            "usage: run_model MODEL OUT_DIR [--shape S] [--repeat N] [--steps] INPUT...".into(),
        );
    };
    let start = Instant::now();
    let (model, file, _) = load(model, &options)?;
    run(&model, &file, Path::new(out_dir), inputs, &options, start)
}

/// Prints each operator's inputs with their types, and the ONNX operators that become it.
fn list() -> Result<(), Box<dyn Error>> {
    for operator in jumar_ops::operators() {
        let names: Vec<&str> = operator.onnx.iter().map(|form| form.name).collect();
        println!("{}\t{}", operator.name, names.join(" "));
        for (index, input) in operator.inputs.iter().enumerate() {
            let types = jumar_types::dtype::DataType::ALL.iter();
            let types: Vec<&str> = types
                .filter(|dtype| input.types.contains(**dtype))
                .map(|dtype| dtype.name())
                .collect();
            println!("\t{index}\t{}\t{}", input.name, types.join(" "));
        }
    }
    Ok(())
}

/// Runs the models that are named line by line.
fn serve() -> Result<(), Box<dyn Error>> {
    let options = Options::default();
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<String> = line.split('\t').map(str::to_owned).collect();
        let [path, out_dir, inputs @ ..] = &words[..] else {
            return Err("a line is MODEL OUT_DIR INPUT..., separated by tabulators".into());
        };
        let answer = match load(path, &options) {
            Err(error) => format!("refused\t{error}"),
            Ok((model, file, used)) => {
                match run(
                    &model,
                    &file,
                    Path::new(out_dir),
                    inputs,
                    &options,
                    Instant::now(),
                ) {
                    Ok(()) => format!("ok\t{used}"),
                    Err(error) => format!("failed\t{error}"),
                }
            }
        };
        println!("{}", answer.replace('\n', " "));
    }
    Ok(())
}

/// Names the operators of a graph and of the graphs inside, each with the types of its inputs.
fn used(graph: &Graph, into: &mut BTreeSet<String>) {
    for node in &graph.nodes {
        for (index, input) in node.inputs.iter().enumerate() {
            if let Some(id) = input {
                // The last input stands for all that follow.
                let at = index.min(node.operator.inputs.len().saturating_sub(1));
                let dtype = graph.value(*id).ty.dtype.name();
                into.insert(format!("{}:{at}:{dtype}", node.operator.name));
            }
        }
        for body in &node.bodies {
            used(&body.graph, into);
        }
    }
}

/// Reads or converts a model. Returns it, the bytes of its file, and which operators it is made of.
fn load(model_path: &str, options: &Options) -> Result<(Model, Vec<u8>, String), Box<dyn Error>> {
    let file = fs::read(model_path)?;
    if model_path.ends_with(".om") {
        return Ok((Model::read(&file)?, file, String::new()));
    }
    let input_shapes = BuildOptions::parse_input_shapes(&options.shape)?;
    let graph = onnx::import_with(
        &file,
        Path::new(model_path).parent(),
        &BuildOptions::open_shapes(&input_shapes),
    )?;
    let mut names = BTreeSet::new();
    used(&graph, &mut names);
    let names: Vec<String> = names.into_iter().collect();
    let options = BuildOptions {
        input_shapes,
        preprocessing: options.aipp.clone(),
        output_type: BuildOptions::parse_output_type(&options.output_type)?,
        products: BuildOptions::parse_precision(&options.precision, "")?,
        ..BuildOptions::default()
    };
    // Through the file format, so that every run tests it.
    let compiled = compile(graph, &options)?;
    let mut bytes = Vec::new();
    compiled.write(&mut bytes)?;
    Model::read(&bytes)?;
    Ok((compiled, file, names.join(" ")))
}

fn run(
    model: &Model,
    file: &[u8],
    out_dir: &Path,
    inputs: &[String],
    options: &Options,
    loading: Instant,
) -> Result<(), Box<dyn Error>> {
    let (repeat, steps) = (options.repeat, options.steps);
    let weights = &*model.weight_bytes(file)?;
    let plan = match model.executable()? {
        Executable::Planned(plan) => plan,
        Executable::Geared(_) => return Err("gears are chosen on a device only".into()),
        Executable::Dynamic(dynamic) => {
            return run_dynamic(model, &dynamic, weights, inputs, &options.real, out_dir);
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
        fs::write(out_dir.join(format!("output_{index}.bin")), block.bytes())?;
        let dims: Vec<String> = port.dims.iter().map(i64::to_string).collect();
        text.push_str(&format!(
            "{} {} {}\n",
            port.dtype,
            dims.join(","),
            port.name
        ));
    }
    fs::write(out_dir.join("description.txt"), text)?;
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
