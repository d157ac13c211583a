//! `jumar inspect`: what is inside a model file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow};
use jumar::offline::graph::{self, Graph, Port};

/// What `jumar inspect` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar inspect net.om       an offline model of Jumar; of a vendor's file the header
  jumar inspect net.onnx     what atc would read")]
pub struct Options {
    /// The file.
    model: PathBuf,
    /// Lists every operator.
    #[arg(long)]
    operators: bool,
}

/// Prints.
pub fn run(options: &Options) -> Result<ExitCode> {
    let bytes = fs::read(&options.model).with_context(|| options.model.display().to_string())?;
    print!(
        "{}",
        describe(&bytes, options.model.parent(), options.operators)?
    );
    Ok(ExitCode::SUCCESS)
}

/// Recognises the file by its first bytes.
fn describe(bytes: &[u8], folder: Option<&Path>, operators: bool) -> Result<String> {
    if let Some(header) = graph::vendor::header(bytes) {
        return Ok(vendors(&header));
    }
    let mut text = String::new();
    if graph::is_bundle(bytes) {
        let models = graph::read_bundle(bytes).map_err(|error| anyhow!("{error}"))?;
        let _ = writeln!(text, "bundle of {} models", models.len());
        for (index, range) in models.into_iter().enumerate() {
            let _ = writeln!(text, "\nmodel {index}, {} bytes", range.len());
            text += &describe(&bytes[range], None, operators)?;
        }
        return Ok(text);
    }
    let graph;
    if bytes.starts_with(graph::MAGIC) {
        let model = graph::Model::read(bytes).map_err(|error| anyhow!("{error}"))?;
        let description = model.description();
        let _ = writeln!(text, "offline model of Jumar: {:?}", description.name);
        ports(&mut text, "input", &description.inputs);
        ports(&mut text, "output", &description.outputs);
        let _ = match model.executable().map_err(|error| anyhow!("{error}"))? {
            graph::Executable::Planned(plan) => writeln!(
                text,
                "memory   {} bytes of weights, {} bytes of work memory for one execution",
                plan.weight_bytes, plan.arena_bytes
            ),
            graph::Executable::Geared(plans) => {
                for (gear, plan) in description.gears.iter().zip(&plans) {
                    let _ = writeln!(
                        text,
                        "size     {:?}: inputs {:?}, outputs {:?}, {} bytes of work memory",
                        gear.values, gear.inputs, gear.outputs, plan.arena_bytes
                    );
                }
                writeln!(text, "memory   {} bytes of weights", model.weights_len())
            }
            graph::Executable::Dynamic(_) => writeln!(
                text,
                "memory   {} bytes of weights; work memory as the shapes of an execution need it",
                model.weights_len()
            ),
        };
        for (name, value) in model.options() {
            let _ = writeln!(text, "built    --{name}={value}");
        }
        graph = model.graph().clone();
    } else {
        graph = graph::onnx::import(bytes, folder).map_err(|error| anyhow!("{error}"))?;
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
    }
    let _ = writeln!(text, "operators {}: {}", graph.nodes.len(), counted(&graph));
    if operators {
        for node in &graph.nodes {
            let _ = writeln!(text, "  {:<24} {}", node.operator.name, node.name);
        }
    }
    Ok(text)
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

fn vendors(header: &graph::vendor::Header) -> String {
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
    format!(
        "offline model of the vendor's toolchain: {:?}\nkind     {kind}{}\nformat   {:#x}, platform {platform}\ncontents {} bytes\n\
         runs on a CPU: no, it holds instructions for a card; convert the ONNX model that it was made of with this atc\n",
        header.name,
        if header.encrypted { ", encrypted" } else { "" },
        header.version,
        header.rest,
    )
}

#[cfg(test)]
mod tests {
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
        let text = describe(&digits(), None, false).unwrap();
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
            let error = describe(bytes, None, false).unwrap_err().to_string();
            assert!(error.contains(' '), "{error}");
        }
    }

    #[test]
    fn a_vendors_file_shows_its_header() {
        let mut file = vec![0_u8; 300];
        file[..4].copy_from_slice(b"IMOD");
        file[84..90].copy_from_slice(b"resnet");
        let text = describe(&file, None, false).unwrap();
        assert!(
            text.contains("\"resnet\"") && text.contains("runs on a CPU: no"),
            "{text}"
        );
    }
}
