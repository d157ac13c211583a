//! Offline models: options of aclgrphBuildModel, and the bytes of a model file. No runtime and no thread is needed.

use crate::graph::{BuildOptions, files, onnx};
use crate::lowering as ge;
use crate::plan::compile;
use crate::session::{self, Options};
use crate::{GeError, GeResult, collective, message, registry};

/// Options that change nothing here.
const KEPT: &[&str] = &[
    "log",
    "ge.externalWeight",
    "ge.exec.disableReuseMemory",
    "ge.tileSize",
    "ge.enableSingleStream",
    "ge.optypelistForImplmode",
    "ge.opSelectImplmode",
    "ge.exec.modify_mixlist",
    "ge.bufferOptimize",
    "ge.compressWeightConf",
    "ge.enableSmallChannel",
    "ge.enableSparseMatrixWeight",
    "ge.op_compiler_cache_mode",
    "ge.op_compiler_cache_dir",
    "ge.debugDir",
    "ge.socVersion",
    "ge.deterministic",
    "ge.oo.level",
    "ge.buildMode",
    "ge.buildStep",
    "ge.aicoreNum",
    "ge.build_mode",
    "ge.save_original_model",
    "ge.shape_generalized_build_mode",
    "ge.graphRunMode",
    "ac_parallel_enable",
    "ge.exec.allow_hf32",
    "ge.autoTuneMode",
    "ge.build_inner_model",
    "ge.engineType",
    "ge.deterministicLevel",
    "ge.enableCompressWeight",
    "ge.exec.exclude_engines",
    "ge.graphMaxParallelModelNum",
    "ge.inputHintShape",
    "ge.inputHintValue",
    "ge.mdl_bank_path",
    "ge.oo.constantFolding",
    "ge.oo.deadCodeElimination",
    "ge.optimizationSwitch",
    "ge.buildConfig",
    "ge.exportCompileStat",
    "ge.compile.h2dOverlappedWithCompute",
    "ge.exec.outputReuseInputMemIndexes",
    "ge.op_bank_path",
    "ge.op_bank_update",
    "ge.opDebugLevel",
    "op_debug_option",
    "ge.op_dependency_in_om",
    "ge.exec.op_precision_mode",
    "ge.performance_mode",
    "ge.experiment.quant_bias_optimize",
    "ge.quant_dumpable",
    "ge.tiling_schedule_optimize",
    "ge.exec.tuneDeviceIds",
    "ge.virtual_type",
];

/// Builds a model file of a graph.
pub fn build(id: u64, options: &Options) -> GeResult<Vec<u8>> {
    let lowered = {
        let world = registry::lock();
        let graph = world.graph(id)?;
        if !graph.valid {
            return Err(GeError::new(format!("graph {} is not valid", graph.name)));
        }
        match &graph.imported {
            Some(imported) => Err((**imported).clone()),
            None => Ok(world.freeze(id, 0)?),
        }
    };
    let options = read(options)?;
    let graph = match lowered {
        Err(imported) => imported,
        Ok(source) => {
            let shapes = BuildOptions::open_shapes(&options.input_shapes);
            let given: Vec<_> = source
                .inputs()
                .into_iter()
                .map(|at| {
                    let node = &source.nodes[at];
                    let shape = shapes.get(&node.name)?;
                    let desc = node.outputs.first().map(|output| &output.desc)?;
                    crate::plan::type_of(shape, desc.dtype).ok()
                })
                .collect();
            collective::refuse(
                &source,
                "an offline model cannot hold: run the graph in a session, which has the communicators of its process",
            )?;
            let mut lowered = ge::lower(&source, &given)?;
            lowered.without_draws();
            if let Some(variable) = lowered.variables.first() {
                return Err(GeError::new(format!(
                    "the graph has the variable {}, and an offline model has no session that would hold it",
                    variable.name
                )));
            }
            lowered.graph
        }
    };
    if graph.inputs.is_empty() && graph.outputs.is_empty() {
        return Err(GeError::new(format!(
            "the graph {} has neither inputs nor outputs",
            graph.name
        ))
        .code("E16001"));
    }
    let (model, _) = compile(graph, options)?;
    let mut bytes = Vec::new();
    model.write(&mut bytes)?;
    Ok(bytes)
}

fn read(options: &Options) -> GeResult<BuildOptions> {
    let mut build = BuildOptions {
        recorded: options.clone(),
        ..BuildOptions::default()
    };
    for (key, value) in options {
        match key.as_str() {
            "input_shape" | "ge.inputShape" => {
                build.input_shapes = BuildOptions::parse_input_shapes(value)?;
            }
            "input_shape_range" | "ge.inputShapeRange" => {
                build.input_shapes = BuildOptions::parse_input_shape_range(value)?;
            }
            "input_format" => {
                build.input_format = match value.as_str() {
                    "NHWC" | "NDHWC" => None,
                    value => BuildOptions::parse_input_format(value)?,
                };
            }
            "output_type" | "ge.outputDatatype" => {
                build.output_type = BuildOptions::parse_output_type(value)?;
            }
            "out_nodes" | "ge.outputNodeName" => {
                if !value.is_empty() {
                    return Err(GeError::new(format!(
                        "the option {key} is not supported: choose the outputs by SetOutputs, or by the parser's out_nodes"
                    )));
                }
            }
            "insert_op_file" | "ge.insertOpFile" => {
                build.preprocessing =
                    files::read_text(value, files::LARGEST_TEXT).map_err(|error| {
                        GeError::new(format!("the file {value} cannot be read: {error}"))
                    })?;
            }
            "dynamic_batch_size"
            | "ge.dynamicBatchSize"
            | "dynamic_image_size"
            | "ge.dynamicImageSize"
            | "dynamic_dims"
            | "ge.dynamicDims" => {}
            // Read together below.
            "precision_mode"
            | "precision_mode_v2"
            | "ge.exec.precision_mode"
            | "ge.exec.precision_mode_v2" => {}
            "ge.fusionSwitchFile" => session::check(&[(key.clone(), value.clone())].into())?,
            key if KEPT.contains(&key) => {}
            key => {
                return Err(GeError::new(format!(
                    "the option {key} is not known to aclgrphBuildModel"
                ))
                .code("E10001"));
            }
        }
    }
    let text = |short: &str, long: &str| {
        options
            .get(short)
            .or_else(|| options.get(long))
            .cloned()
            .unwrap_or_default()
    };
    build.products = BuildOptions::parse_precision(
        &text("precision_mode", "ge.exec.precision_mode"),
        &text("precision_mode_v2", "ge.exec.precision_mode_v2"),
    )?;
    build.gears = BuildOptions::parse_gears(
        &text("dynamic_batch_size", "ge.dynamicBatchSize"),
        &text("dynamic_image_size", "ge.dynamicImageSize"),
        &text("dynamic_dims", "ge.dynamicDims"),
        &text("input_shape", "ge.inputShape"),
    )?;
    Ok(build)
}

/// Reads an ONNX model into a graph.
pub fn parse_onnx(
    id: u64,
    bytes: &[u8],
    dir: Option<&std::path::Path>,
    params: &Options,
) -> GeResult<()> {
    let mut shapes = onnx::Shapes::new();
    let mut outputs = Vec::new();
    let mut name = None;
    for (key, value) in params {
        match key.as_str() {
            "input_shape" => {
                shapes = BuildOptions::open_shapes(&BuildOptions::parse_input_shapes(value)?);
            }
            "out_nodes" => outputs = BuildOptions::parse_out_nodes(value),
            "output" => name = Some(value.clone()),
            "log"
            | "input_fp16_nodes"
            | "is_input_adjust_hw_layout"
            | "is_output_adjust_hw_layout"
            | "input_data_names"
            | "enable_scope_fusion_passes"
            | "input_format" => {
                if !value.is_empty() && key != "log" {
                    message::warn(format!("the parser's option {key} changes nothing here"));
                }
            }
            key => {
                return Err(
                    GeError::new(format!("the parser's option {key} is not known")).code("E10001"),
                );
            }
        }
    }
    let graph = onnx::import_outputs(bytes, dir, &shapes, &outputs).map_err(|error| {
        let code = match error.kind() {
            crate::graph::GraphErrorKind::NotSupported => "E16002",
            _ => "E19999",
        };
        GeError::from(error).code(code)
    })?;
    if graph.inputs.is_empty() {
        return Err(
            GeError::new(format!("the ONNX model {} has no inputs", graph.name)).code("E16001"),
        );
    }
    let shown = outline(&graph);
    let mut world = registry::lock();
    world.thaw(id, &shown)?;
    let own = world.graph_mut(id)?;
    if let Some(name) = name {
        own.name = name;
    }
    own.imported = Some(std::sync::Arc::new(graph));
    Ok(())
}

/// The nodes of an imported graph, for programs that look at them.
fn outline(graph: &crate::graph::Graph) -> ge::Graph {
    let desc = |id: crate::graph::ValueId| {
        let ty = &graph.value(id).ty;
        ge::Desc {
            dims: ty.shape.clone(),
            dtype: ty.dtype.acl(),
            format: ge::FORMAT_ND,
        }
    };
    let mut nodes = Vec::new();
    let mut made = std::collections::HashMap::new();
    for (index, &id) in graph.inputs.iter().enumerate() {
        made.insert(id, (nodes.len(), 0));
        nodes.push(ge::Node {
            name: graph.value(id).name.clone(),
            kind: "Data".into(),
            attrs: [("index".to_owned(), ge::Value::Int(index as i64))].into(),
            outputs: vec![ge::Output {
                name: "y".into(),
                desc: desc(id),
            }],
            ..ge::Node::default()
        });
    }
    for node in &graph.nodes {
        for id in node.inputs.iter().flatten() {
            if let (Some(tensor), false) = (&graph.value(*id).constant, made.contains_key(id)) {
                made.insert(*id, (nodes.len(), 0));
                nodes.push(ge::Node {
                    name: graph.value(*id).name.clone(),
                    kind: "Const".into(),
                    attrs: [(
                        "value".to_owned(),
                        ge::Value::Tensor(ge::Data {
                            desc: desc(*id),
                            bytes: std::sync::Arc::new(tensor.bytes().to_vec()),
                        }),
                    )]
                    .into(),
                    outputs: vec![ge::Output {
                        name: "y".into(),
                        desc: desc(*id),
                    }],
                    ..ge::Node::default()
                });
            }
        }
        for (position, id) in node.outputs.iter().enumerate() {
            made.insert(*id, (nodes.len(), position));
        }
        nodes.push(ge::Node {
            name: node.name.clone(),
            kind: node.operator.name.to_owned(),
            inputs: node
                .inputs
                .iter()
                .enumerate()
                .map(|(position, input)| ge::Input {
                    name: node
                        .operator
                        .input(position)
                        .map_or_else(|| format!("x{position}"), |def| def.name.to_owned()),
                    from: input.and_then(|id| made.get(&id).copied()),
                    desc: input.map_or_else(ge::Desc::default, desc),
                })
                .collect(),
            outputs: node
                .outputs
                .iter()
                .enumerate()
                .map(|(position, id)| ge::Output {
                    name: node
                        .operator
                        .outputs
                        .get(position)
                        .map_or_else(|| format!("y{position}"), |def| def.name.to_owned()),
                    desc: desc(*id),
                })
                .collect(),
            ..ge::Node::default()
        });
    }
    ge::Graph {
        name: graph.name.clone(),
        outputs: graph
            .outputs
            .iter()
            .filter_map(|output| made.get(&output.value).copied())
            .collect(),
        nodes,
    }
}
