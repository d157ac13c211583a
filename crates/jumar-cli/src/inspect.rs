//! `jumar inspect`: what is inside a model file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use jumar::offline::graph::{self, BufferKind, Graph, Model, Operand, Plan, Port, files};

/// What `jumar inspect` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar inspect net.om       a model of Jumar, or the header of a vendor's model
  jumar inspect net.onnx     the model as atc reads it")]
pub struct Options {
    /// The model file.
    model: PathBuf,
    /// Lists every operator.
    #[arg(long)]
    operators: bool,
    /// Lists the steps of one execution with their inputs and outputs.
    #[arg(long)]
    plan: bool,
}

impl Options {
    fn details(&self) -> Details {
        Details {
            operators: self.operators,
            plan: self.plan,
        }
    }
}

/// What is listed beside the summary.
#[derive(Clone, Copy, Default)]
struct Details {
    operators: bool,
    plan: bool,
}

/// How many bytes of the weights are read at a time.
const CHUNK: usize = 1 << 20;

/// Prints.
pub fn run(options: &Options) -> Result<ExitCode> {
    let path = &options.model;
    let (mut file, _) = files::open(path).with_context(|| path.display().to_string())?;
    let mut first = vec![0; graph::HEADER_BYTES];
    let known = read_up_to(&mut file, &mut first).with_context(|| path.display().to_string())?;
    first.truncate(known);
    let text = if first.starts_with(graph::MAGIC) {
        let model = checked(&mut file, &first).with_context(|| path.display().to_string())?;
        offline(&model, options.details()).with_context(|| path.display().to_string())?
    } else if graph::vendor::header(&first).is_some() {
        let bytes =
            files::read(path, files::LARGEST).with_context(|| path.display().to_string())?;
        describe(&bytes, None, options.details()).with_context(|| path.display().to_string())?
    } else {
        let bytes = graph::onnx::read_file(path).map_err(|error| anyhow!("{error}"))?;
        describe(&bytes, path.parent(), options.details())
            .with_context(|| path.display().to_string())?
    };
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}

/// Fills a buffer as far as the file goes.
fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut known = 0;
    while known < buffer.len() {
        match file.read(&mut buffer[known..])? {
            0 => break,
            more => known += more,
        }
    }
    Ok(known)
}

/// Reads a model of Jumar and compares all its checksums. Its weights may be larger than memory.
fn checked(file: &mut File, first: &[u8]) -> Result<Model> {
    let refused = |error: graph::GraphError| anyhow!("{error}");
    let sections = graph::Sections::read(first, file.metadata()?.len()).map_err(refused)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(sections.graph.start))?;
    let length = sections.graph.end - sections.graph.start;
    file.by_ref().take(length).read_to_end(&mut bytes)?;
    let model = Model::read_graph(&sections, &bytes).map_err(refused)?;
    let mut check = sections.check_weights();
    file.seek(SeekFrom::Start(sections.weights.start))?;
    let mut left = sections.weights.end - sections.weights.start;
    let mut buffer = vec![0; CHUNK];
    while left > 0 {
        let piece = &mut buffer[..left.min(CHUNK as u64) as usize];
        file.read_exact(piece)?;
        check.update(piece);
        left -= piece.len() as u64;
    }
    check.finish().map_err(refused)?;
    Ok(model)
}

/// Recognises a file by its first bytes.
fn describe(bytes: &[u8], folder: Option<&Path>, details: Details) -> Result<String> {
    if let Some(header) = graph::vendor::header(bytes) {
        return Ok(vendors(&header, graph::vendor::partitions(bytes)));
    }
    if graph::is_bundle(bytes) {
        let models = graph::read_bundle(bytes).map_err(|error| anyhow!("{error}"))?;
        let mut text = format!("bundle of {} models\n", models.len());
        for (index, range) in models.into_iter().enumerate() {
            let _ = writeln!(text, "\nmodel {index}, {} bytes", range.len());
            text += &describe(&bytes[range], None, details)?;
        }
        return Ok(text);
    }
    if bytes.starts_with(graph::MAGIC) {
        let model = Model::read(bytes).map_err(|error| anyhow!("{error}"))?;
        return offline(&model, details);
    }
    let graph = graph::onnx::import(bytes, folder).map_err(|error| anyhow!("{error}"))?;
    let mut text = String::new();
    let _ = writeln!(text, "ONNX model: {:?}", graph.name);
    let typed = |value: &graph::Value| {
        let dims: Vec<String> = value.ty.shape.iter().map(|&dim| dimension(dim)).collect();
        format!(
            "{}  {} [{}]",
            value.name,
            value.ty.dtype.name(),
            dims.join(", ")
        )
    };
    for &input in &graph.inputs {
        let _ = writeln!(text, "input    {}", typed(graph.value(input)));
    }
    for output in &graph.outputs {
        let _ = writeln!(text, "output   {}", output.name);
    }
    operators(&mut text, &graph, details);
    Ok(text)
}

/// Describes a model of Jumar.
fn offline(model: &Model, details: Details) -> Result<String> {
    let mut text = String::new();
    let description = model.description();
    let _ = writeln!(text, "offline model of Jumar: {:?}", description.name);
    ports(&mut text, "input", &description.inputs);
    ports(&mut text, "output", &description.outputs);
    let _ = match model.executable().map_err(|error| anyhow!("{error}"))? {
        graph::Executable::Planned(plan) => {
            if details.plan {
                steps(&mut text, &plan);
            }
            writeln!(
                text,
                "memory   {} bytes of weights, {} bytes of work memory for one execution",
                plan.weight_bytes, plan.arena_bytes
            )
        }
        graph::Executable::Geared(plans) => {
            for (gear, plan) in description.gears.iter().zip(&plans) {
                let _ = writeln!(
                    text,
                    "size     {:?}: inputs {:?}, outputs {:?}, {} bytes of work memory",
                    gear.values, gear.inputs, gear.outputs, plan.arena_bytes
                );
                if details.plan {
                    steps(&mut text, plan);
                }
            }
            writeln!(text, "memory   {} bytes of weights", model.weights_len())
        }
        graph::Executable::Dynamic(_) => writeln!(
            text,
            "memory   {} bytes of weights; work memory as the shapes of an execution need it",
            model.weights_len()
        ),
    };
    for file in model.external_weights() {
        let _ = writeln!(
            text,
            "weights  {} bytes in the file {}/{}",
            file.range.len(),
            graph::WEIGHT_FOLDER,
            file.name
        );
    }
    for (name, value) in model.options() {
        let _ = writeln!(text, "built    --{name}={value}");
    }
    operators(&mut text, model.graph(), details);
    Ok(text)
}

fn operators(text: &mut String, graph: &Graph, details: Details) {
    let _ = writeln!(text, "operators {}: {}", graph.nodes.len(), counted(graph));
    if details.operators {
        for node in &graph.nodes {
            let _ = writeln!(text, "  {:<24} {}", node.operator.name, node.name);
        }
    }
}

/// Lists the steps of a plan.
fn steps(text: &mut String, plan: &Plan) {
    let location = |operand: &Operand| {
        let whose = match operand.buffer() {
            BufferKind::Input(index) => format!("input {index}"),
            BufferKind::Output(index) => format!("output {index}"),
            BufferKind::Weight => format!("weights+{}", operand.offset()),
            BufferKind::Arena => format!("work+{}", operand.offset()),
            BufferKind::Constant => format!("constants+{}", operand.offset()),
        };
        format!("{whose} ({})", operand.bytes())
    };
    for (number, step) in plan.steps.iter().enumerate() {
        let list = |operands: Vec<String>| operands.join(", ");
        let _ = write!(
            text,
            "step {number:<4} {} {}: {} -> {}",
            step.operator(),
            step.name(),
            list(step.inputs().map(location).collect()),
            list(step.outputs().iter().map(location).collect()),
        );
        let _ = match step.scratch() {
            (_, 0) => writeln!(text),
            (at, bytes) => writeln!(text, ", scratch work+{at} ({bytes})"),
        };
    }
}

fn ports(text: &mut String, direction: &str, ports: &[Port]) {
    for one in ports {
        let _ = writeln!(text, "{direction:<8} {}", port(one));
    }
}

/// Writes a port in one line: name, type, dimensions, size.
pub fn port(port: &Port) -> String {
    let dims: Vec<String> = port.dims.iter().map(|&dim| dimension(dim)).collect();
    format!(
        "{}  {} [{}]  {} bytes",
        port.name,
        port.dtype.name(),
        dims.join(", "),
        port.bytes
    )
}

/// Writes a dimension that may be open.
fn dimension(value: i64) -> String {
    match value {
        -1 => "?".into(),
        -2 => "...".into(),
        known => known.to_string(),
    }
}

/// Counts operators by name, the most frequent first.
fn counted(graph: &Graph) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for node in &graph.nodes {
        *counts.entry(node.operator.name).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let shown: Vec<String> = counts
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    shown.join(", ")
}

fn vendors(
    header: &graph::vendor::Header,
    partitions: Option<Vec<graph::vendor::Partition>>,
) -> String {
    let kind = match header.kind {
        0 => "graph",
        1 => "standard",
        2 => "tiny",
        3 => "flow",
        4 => "lite",
        5 => "bundle",
        _ => "unknown kind",
    };
    let platform = if header.platform.is_empty() {
        "not said"
    } else {
        &header.platform
    };
    let mut text = format!(
        "offline model of the vendor's toolchain: {:?}\nkind     {kind}{}\nformat   {:#x}, platform {platform}\ncontents {} bytes\n\
         runs on a CPU: no, it holds instructions for a card; convert the ONNX model that it was made of with this atc\n",
        header.name,
        if header.encrypted { ", encrypted" } else { "" },
        header.version,
        header.rest,
    );
    match partitions {
        None => text
            .push_str("partitions cannot be read: the file is encrypted, cut short or damaged\n"),
        Some(partitions) => {
            for part in partitions {
                let whose = match header.models {
                    0 | 1 => String::new(),
                    _ => format!("model {}: ", part.model),
                };
                let _ = writeln!(
                    text,
                    "partition {whose}{} (kind {}), {} bytes at {}",
                    part.what(),
                    part.kind,
                    part.bytes,
                    part.start
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn digits() -> Vec<u8> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/digits/digits.onnx"
        );
        fs::read(path).unwrap()
    }

    #[test]
    fn an_onnx_model_shows_its_inputs_and_operators() {
        let text = describe(&digits(), None, Details::default()).unwrap();
        assert!(text.starts_with("ONNX model: "), "{text}");
        assert!(
            text.contains("input    image  ") && text.contains("[1, 1, 8, 8]"),
            "{text}"
        );
        assert!(text.contains("Conv"), "{text}");
    }

    #[test]
    fn what_is_no_model_is_refused_in_a_sentence() {
        for bytes in [&b""[..], b"hello", b"\x7fELF and more"] {
            let error = describe(bytes, None, Details::default())
                .unwrap_err()
                .to_string();
            assert!(error.contains(' '), "{error}");
        }
    }

    #[test]
    fn a_plan_shows_where_each_step_reads_and_writes() {
        let graph = graph::onnx::import(&digits(), None).unwrap();
        let model = graph::compile(graph, &graph::BuildOptions::default()).unwrap();
        let mut bytes = Vec::new();
        model.write(&mut bytes).unwrap();
        let details = Details {
            plan: true,
            ..Details::default()
        };
        let text = describe(&bytes, None, details).unwrap();
        let steps: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("step "))
            .collect();
        let read = steps.first().unwrap();
        assert!(
            read.contains("input 0 (256)") && read.contains("weights+"),
            "{read}"
        );
        assert!(steps.last().unwrap().contains("-> output 0 (40)"), "{text}");
        let counted = |part: &str| text.lines().any(|line| line.starts_with(part));
        assert!(counted("memory   ") && counted("operators "), "{text}");
        // The same from a file, of which the weights are only looked at.
        let folder = std::env::temp_dir().join(format!("jumar-inspect-{}", std::process::id()));
        fs::write(&folder, &bytes).unwrap();
        let mut file = File::open(&folder).unwrap();
        let first = bytes[..graph::HEADER_BYTES].to_vec();
        file.seek(SeekFrom::Start(0)).unwrap();
        let same = offline(&checked(&mut file, &first).unwrap(), details).unwrap();
        assert_eq!(same, text);
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        fs::write(&folder, &bytes).unwrap();
        let mut file = File::open(&folder).unwrap();
        let error = checked(&mut file, &first).unwrap_err().to_string();
        assert!(error.contains("checksum"), "{error}");
        fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn a_vendors_file_shows_its_header() {
        let mut file = vec![0_u8; 300];
        file[..4].copy_from_slice(b"IMOD");
        file[84..90].copy_from_slice(b"resnet");
        // One table of one partition: the weights, of 28 bytes.
        for (at, word) in [(8, 0x2000_0000_u32), (256, 1), (260, 1), (268, 28)] {
            file[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        let text = describe(&file, None, Details::default()).unwrap();
        assert!(
            text.contains("\"resnet\"") && text.contains("runs on a CPU: no"),
            "{text}"
        );
        assert!(
            text.contains("partition weights (kind 1), 28 bytes at 272\n"),
            "{text}"
        );
        file.truncate(260);
        let text = describe(&file, None, Details::default()).unwrap();
        assert!(text.contains("partitions cannot be read"), "{text}");
    }
}
