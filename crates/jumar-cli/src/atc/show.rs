//! The output of `--mode=1` and `--mode=6`: a model's graph as JSON, and a summary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use jumar::offline::graph::{self, Attr, Graph, TensorType, files};
use serde_json::{Map, Value, json};

/// Reads a model and writes its graph as JSON.
pub fn to_json(from: &Path, to: &Path) -> Result<()> {
    let bytes = files::read(from, files::LARGEST).with_context(|| from.display().to_string())?;
    let value = describe(&bytes, from.parent()).with_context(|| from.display().to_string())?;
    let mut text = serde_json::to_string_pretty(&value)?;
    text.push('\n');
    crate::output::write(to, text.as_bytes())
}

/// Returns a model as JSON, in the shape that the toolchain's own dumps have: a name, attributes, and graphs of operators whose
/// inputs name `producer:output`.
fn describe(bytes: &[u8], folder: Option<&Path>) -> Result<Value> {
    let (graph, options) = if bytes.starts_with(graph::MAGIC) {
        let model = graph::Model::read(bytes).map_err(|error| anyhow!("{error}"))?;
        (model.graph().clone(), model.options().clone())
    } else if let Some(header) = graph::vendor::header(bytes) {
        anyhow::bail!(
            "{:?} is an offline model of the vendor's toolchain, whose graph is not read; `jumar inspect` shows its header",
            header.name
        );
    } else {
        let graph = graph::onnx::import(bytes, folder).map_err(|error| anyhow!("{error}"))?;
        (graph, BTreeMap::new())
    };
    let attributes: Vec<Value> = options
        .iter()
        .map(|(name, value)| json!({"key": name, "value": {"s": value}}))
        .collect();
    let mut graphs = Vec::new();
    let name = graph.name.clone();
    put(&graph, &name, &mut graphs);
    Ok(json!({"name": name, "attr": attributes, "graph": graphs}))
}

/// Adds a graph, and behind it those inside its nodes.
fn put(graph: &Graph, name: &str, graphs: &mut Vec<Value>) {
    let at = graphs.len();
    graphs.push(Value::Null);
    let mut ops = Vec::new();
    // Who produces each value.
    let mut from: BTreeMap<u32, String> = BTreeMap::new();
    for (index, &id) in graph.inputs.iter().enumerate() {
        let value = graph.value(id);
        from.insert(id.0, format!("{}:0", value.name));
        ops.push(json!({
            "name": value.name,
            "type": "Data",
            "attr": [{"key": "index", "value": {"i": index}}],
            "output_desc": [desc(&value.ty)],
        }));
    }
    for (index, value) in graph.values.iter().enumerate() {
        if value.constant.is_none() && value.weight.is_none() {
            continue;
        }
        let name = match value.name.is_empty() {
            true => format!("const_{index}"),
            false => value.name.clone(),
        };
        from.insert(index as u32, format!("{name}:0"));
        let mut attributes = Vec::new();
        if let Some(offset) = value.weight {
            attributes.push(json!({"key": "data_offset", "value": {"i": offset}}));
        }
        if let Some(bytes) = value.ty.bytes() {
            attributes.push(json!({"key": "weight_size", "value": {"i": bytes}}));
        }
        ops.push(json!({
            "name": name,
            "type": "Const",
            "attr": attributes,
            "output_desc": [desc(&value.ty)],
        }));
    }
    for node in &graph.nodes {
        for (index, id) in node.outputs.iter().enumerate() {
            from.insert(id.0, format!("{}:{index}", node.name));
        }
    }
    let source = |id: u32| from.get(&id).cloned().unwrap_or_default();
    for (number, node) in graph.nodes.iter().enumerate() {
        let inputs = || node.inputs.iter().flatten();
        let attributes: Vec<Value> = node
            .attrs
            .iter()
            .map(|(name, value)| json!({"key": name, "value": attribute(value)}))
            .collect();
        let mut op = json!({
            "name": node.name,
            "type": node.operator.name,
            "id": number,
            "input": node.inputs.iter().map(|id| id.map_or_else(String::new, |id| source(id.0))).collect::<Vec<_>>(),
            "input_desc": inputs().map(|&id| desc(&graph.value(id).ty)).collect::<Vec<_>>(),
            "output_desc": node.outputs.iter().map(|&id| desc(&graph.value(id).ty)).collect::<Vec<_>>(),
            "attr": attributes,
        });
        if !node.bodies.is_empty() {
            let names: Vec<String> = (0..node.bodies.len())
                .map(|body| format!("{}/{body}", node.name))
                .collect();
            for (body, name) in node.bodies.iter().zip(&names) {
                put(&body.graph, name, graphs);
            }
            op["subgraph_name"] = json!(names);
        }
        ops.push(op);
    }
    ops.push(json!({
        "name": "NetOutput",
        "type": "NetOutput",
        "input": graph.outputs.iter().map(|output| source(output.value.0)).collect::<Vec<_>>(),
        "input_desc": graph.outputs.iter().map(|output| desc(&graph.value(output.value).ty)).collect::<Vec<_>>(),
        "attr": [],
    }));
    graphs[at] = json!({
        "name": name,
        "input": graph.inputs.iter().map(|&id| graph.value(id).name.clone()).collect::<Vec<_>>(),
        "output": graph.outputs.iter().map(|output| format!("{}:{}", output.producer.0, output.producer.1)).collect::<Vec<_>>(),
        "op": ops,
    });
}

fn desc(ty: &TensorType) -> Value {
    json!({"dtype": type_name(ty.dtype.name()), "shape": {"dim": ty.shape}, "layout": "ND"})
}

/// `float32` is DT_FLOAT, `float64` DT_DOUBLE, and the others are as they are called.
fn type_name(name: &str) -> String {
    match name {
        "float32" => "DT_FLOAT".into(),
        "float64" => "DT_DOUBLE".into(),
        "bfloat16" => "DT_BF16".into(),
        other => format!("DT_{}", other.to_uppercase()),
    }
}

fn attribute(value: &Attr) -> Value {
    let mut list = Map::new();
    match value {
        Attr::Int(value) => return json!({"i": value}),
        Attr::Float(value) => return json!({"f": real(*value)}),
        Attr::Bool(value) => return json!({"b": value}),
        Attr::Str(value) => return json!({"s": value}),
        Attr::Type(value) => return json!({"dt": type_name(value.name())}),
        Attr::Tensor(value) => return json!({"t": {"desc": desc(value.ty())}}),
        Attr::Ints(values) => list.insert("i".into(), json!(values)),
        Attr::Floats(values) => list.insert(
            "f".into(),
            values.iter().map(|&value| real(value)).collect(),
        ),
        Attr::Strs(values) => list.insert("s".into(), json!(values)),
    };
    json!({"list": list})
}

/// JSON has no infinities; they are written as text.
fn real(value: f32) -> Value {
    match value.is_finite() {
        true => json!(value),
        false => json!(value.to_string()),
    }
}

/// Prints the requirements and build options of an offline model, between the lines that scripts search for.
pub fn summary(bytes: &[u8]) -> Result<String> {
    let model = graph::Model::read(bytes).map_err(|error| anyhow!("{error}"))?;
    let work = match model.executable().map_err(|error| anyhow!("{error}"))? {
        graph::Executable::Planned(plan) => plan.arena_bytes,
        graph::Executable::Geared(plans) => {
            plans.iter().map(|plan| plan.arena_bytes).max().unwrap_or(0)
        }
        graph::Executable::Dynamic(_) => 0,
    };
    let options = model.options();
    let said = |name: &str| options.get(name).map_or("not said", String::as_str);
    let command: Vec<String> = options
        .iter()
        .map(|(name, value)| format!("--{name}={value}"))
        .collect();
    let weights = model.weights_len();
    let mut text = String::from("============ Display Model Info start ============\n");
    let _ = writeln!(text, "Original Atc command line: atc {}", command.join(" "));
    let _ = writeln!(
        text,
        "system   info: atc_version[Jumar {}], soc_version[{}], framework_type[{}].",
        env!("CARGO_PKG_VERSION"),
        said("soc_version"),
        said("framework")
    );
    let _ = writeln!(
        text,
        "resource info: memory_size[{work} B], weight_size[{weights} B], stream_num[1], event_num[0]."
    );
    let _ = writeln!(
        text,
        "om       info: modeldef_size[{} B], weight_data_size[{weights} B], tbe_kernels_size[0 B], cust_aicpu_kernel_store_size[0 B], task_info_size[0 B].",
        bytes.len().saturating_sub(weights)
    );
    text += "============ Display Model Info end   ============\n";
    Ok(text)
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
    fn every_input_of_an_operator_has_a_producer_that_is_there() {
        let model = describe(&digits(), None).unwrap();
        let ops = model["graph"][0]["op"].as_array().unwrap();
        let names: Vec<&str> = ops.iter().map(|op| op["name"].as_str().unwrap()).collect();
        let inputs: Vec<&str> = ops
            .iter()
            .filter_map(|op| op["input"].as_array())
            .flatten()
            .map(|input| input.as_str().unwrap())
            .collect();
        assert!(inputs.len() > 5, "{inputs:?}");
        for input in inputs.into_iter().filter(|input| !input.is_empty()) {
            let (producer, output) = input.rsplit_once(':').unwrap();
            assert!(names.contains(&producer), "{input}");
            assert!(output.parse::<usize>().is_ok(), "{input}");
        }
    }

    #[test]
    fn the_image_of_the_example_is_described() {
        let model = describe(&digits(), None).unwrap();
        let image = &model["graph"][0]["op"][0];
        assert_eq!(image["type"], "Data");
        assert_eq!(image["name"], "image");
        assert_eq!(image["output_desc"][0]["dtype"], "DT_FLOAT");
        assert_eq!(image["output_desc"][0]["shape"]["dim"], json!([1, 1, 8, 8]));
    }

    #[test]
    fn what_is_no_offline_model_has_no_summary() {
        assert!(summary(&digits()).unwrap_err().to_string().contains("ONNX"));
    }
}
