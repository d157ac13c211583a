//! From an ONNX file to a model file: what the command `atc` does.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{
    BuildOptions, Description, Executable, GraphError, GraphErrorKind, Model, Result,
    WEIGHT_FOLDER, WeightFiles, compile, compile::ConstantLayout, files, onnx,
};

/// The framework number of ONNX.
const ONNX: i64 = 5;

/// The options of a conversion, as `atc` has them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `--model`: the ONNX file.
    pub model: PathBuf,
    /// `--framework`: 5 for ONNX.
    pub framework: i64,
    /// `--output`: the file to write; `.om` is appended where it is missing.
    pub output: PathBuf,
    /// `--soc_version`: kept in the file.
    pub soc_version: String,
    /// `--input_shape`: `name:1,3,224,224;other:1`.
    pub input_shape: String,
    /// `--open_dims`: `refuse` (or nothing) or `keep`, for dimensions that neither the model nor `input_shape` fixes.
    pub open_dims: String,
    /// `--input_format`: NCHW, NCDHW or ND.
    pub input_format: String,
    /// `--output_type`: FP32, FP16, UINT8, INT8, or `node:0:FP16`.
    pub output_type: String,
    /// `--input_shape_range`: `name:[1~8,3,8~16,-1]`.
    pub input_shape_range: String,
    /// `--insert_op_conf`: the file of a configuration for images.
    pub insert_op_conf: String,
    /// `--precision_mode`: what operators may be computed in.
    pub precision_mode: String,
    /// `--precision_mode_v2`: the same in other words; one of the two.
    pub precision_mode_v2: String,
    /// `--input_fp16_nodes`: `name;other`.
    pub input_fp16_nodes: String,
    /// `--out_nodes`: `node:0;other:1`, or names of tensors.
    pub out_nodes: String,
    /// `--dynamic_batch_size`: `1,2,4`.
    pub dynamic_batch_size: String,
    /// `--dynamic_image_size`: `224,224;448,448`.
    pub dynamic_image_size: String,
    /// `--dynamic_dims`: a number for each dynamic dimension, `1,224;8,448`.
    pub dynamic_dims: String,
    /// `--external_weight`: 0 keeps weights inside, 1 writes each constant to a file in the folder `weight`, 2 all of them to one.
    pub external_weight: String,
    /// `--log`: kept in the file.
    pub log: String,
}

/// What came out of a conversion.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file that was written.
    pub output: PathBuf,
    /// Its length.
    ///
    /// # Units
    ///
    /// Bytes.
    pub bytes: u64,
    /// Inputs and outputs.
    pub description: Description,
    /// The number of operators after fusion.
    pub operators: usize,
    /// The size of the weights.
    ///
    /// # Units
    ///
    /// Bytes.
    pub weight_bytes: usize,
    /// The size of the work memory of one execution.
    ///
    /// # Units
    ///
    /// Bytes.
    pub work_bytes: usize,
}

/// Converts a model. The file appears under its name only when it is complete.
///
/// # Errors
///
/// NotFound, Io: files. InvalidOption: options. The rest as [`onnx::import`] and [`compile`].
pub fn convert(options: &Options) -> Result<Report> {
    if options.framework != ONNX {
        let name = match options.framework {
            0 => "Caffe",
            1 => "MindSpore",
            3 => "TensorFlow",
            _ => "unknown",
        };
        return Err(GraphError::unsupported(format!(
            "framework={} ({name}) is not supported; 5 (ONNX) is: export the model to ONNX",
            options.framework
        )));
    }
    if options.output.file_name().is_none() {
        return Err(GraphError::option("output has to name the file to write"));
    }
    let output = with_extension(&options.output);
    let outside = outside(&options.external_weight, &output)?;
    let mut input_shapes = BuildOptions::parse_input_shapes(&options.input_shape)?;
    for (name, shape) in BuildOptions::parse_input_shape_range(&options.input_shape_range)? {
        if input_shapes.insert(name.clone(), shape).is_some() {
            return Err(GraphError::option(format!(
                "input_shape and input_shape_range both name {name}"
            )));
        }
    }
    let build = BuildOptions {
        name: options
            .output
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default(),
        input_shapes,
        keep_open: keep_open(&options.open_dims)?,
        fp16_inputs: BuildOptions::parse_input_fp16_nodes(&options.input_fp16_nodes),
        out_nodes: BuildOptions::parse_out_nodes(&options.out_nodes),
        input_format: BuildOptions::parse_input_format(&options.input_format)?,
        output_type: BuildOptions::parse_output_type(&options.output_type)?,
        preprocessing: configuration(&options.insert_op_conf)?,
        gears: BuildOptions::parse_gears(
            &options.dynamic_batch_size,
            &options.dynamic_image_size,
            &options.dynamic_dims,
            &options.input_shape,
        )?,
        products: BuildOptions::parse_precision(
            &options.precision_mode,
            &options.precision_mode_v2,
        )?,
        recorded: recorded(options),
    };
    let bytes = onnx::read_file(&options.model)?;
    let dir = match options.model.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let shapes = BuildOptions::open_shapes(&build.input_shapes);
    let graph = onnx::import_shared(bytes, Some(dir), &shapes, &build.out_nodes)
        .map_err(|error| error.at(options.model.display()))?;
    let model = compile(graph, &build).map_err(|error| error.at(options.model.display()))?;
    let bytes = write(&model, &output, outside.as_ref())?;
    Ok(Report {
        output,
        bytes,
        description: model.description().clone(),
        operators: model.graph().nodes.len(),
        weight_bytes: model.weights_len(),
        work_bytes: match model.executable()? {
            Executable::Planned(plan) => plan.arena_bytes,
            Executable::Geared(plans) => {
                plans.iter().map(|plan| plan.arena_bytes).max().unwrap_or(0)
            }
            Executable::Dynamic(_) => 0,
        },
    })
}

/// Reads what becomes of dimensions that nothing fixes.
fn keep_open(text: &str) -> Result<bool> {
    match text {
        "" | "refuse" => Ok(false),
        "keep" => Ok(true),
        other => Err(GraphError::option(format!(
            "open_dims {other:?} is not known; refuse and keep are"
        ))),
    }
}

/// The largest configuration that is read.
const LARGEST: u64 = 1 << 20;

/// Reads a configuration; no name is none.
fn configuration(path: &str) -> Result<String> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let failed = |kind, why: String| {
        GraphError::new(kind, format!("insert_op_conf {path} cannot be read: {why}"))
    };
    files::read_text(path, LARGEST).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => GraphErrorKind::NotFound,
            std::io::ErrorKind::FileTooLarge => GraphErrorKind::InvalidOption,
            _ => GraphErrorKind::Io,
        };
        failed(kind, error.to_string())
    })
}

fn recorded(options: &Options) -> BTreeMap<String, String> {
    [
        ("framework", options.framework.to_string()),
        ("soc_version", options.soc_version.clone()),
        ("input_shape", options.input_shape.clone()),
        ("open_dims", options.open_dims.clone()),
        ("input_format", options.input_format.clone()),
        ("output_type", options.output_type.clone()),
        ("input_shape_range", options.input_shape_range.clone()),
        ("insert_op_conf", options.insert_op_conf.clone()),
        ("input_fp16_nodes", options.input_fp16_nodes.clone()),
        ("out_nodes", options.out_nodes.clone()),
        ("dynamic_batch_size", options.dynamic_batch_size.clone()),
        ("dynamic_image_size", options.dynamic_image_size.clone()),
        ("dynamic_dims", options.dynamic_dims.clone()),
        ("external_weight", options.external_weight.clone()),
        ("log", options.log.clone()),
        ("precision_mode", options.precision_mode.clone()),
        ("precision_mode_v2", options.precision_mode_v2.clone()),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// `model` becomes `model.om`, and so does `model.v2` become `model.v2.om`.
fn with_extension(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|extension| extension == "om") {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".om");
    PathBuf::from(name)
}

/// Reads how the weights are to be kept; none is inside.
fn outside(text: &str, output: &Path) -> Result<Option<WeightFiles>> {
    match text {
        "" | "0" => Ok(None),
        "1" => Ok(Some(WeightFiles::Each)),
        "2" => {
            let stem = output.file_stem().unwrap_or_default().to_string_lossy();
            Ok(Some(WeightFiles::Together(format!(
                "{stem}_weight_combined"
            ))))
        }
        other => Err(GraphError::option(format!(
            "external_weight {other:?} is not known; 0, 1 and 2 are"
        ))),
    }
}

/// Writes a file of weights into the folder beside the model file.
fn write_weights(output: &Path, name: &str, weights: &ConstantLayout) -> std::io::Result<()> {
    let folder = output.with_file_name(WEIGHT_FOLDER);
    fs::create_dir_all(&folder)?;
    let temporary = folder.join(format!(".{name}.{}.part", std::process::id()));
    let run = || {
        let mut to = BufWriter::with_capacity(1 << 20, fs::File::create(&temporary)?);
        weights.each(|bytes| to.write_all(bytes))?;
        to.flush()?;
        fs::rename(&temporary, folder.join(name))
    };
    run().inspect_err(|_| {
        // The first error is returned.
        let _ = fs::remove_file(&temporary);
    })
}

/// Writes beside the target and renames, so that no reader sees a partial file.
fn write(model: &Model, output: &Path, outside: Option<&WeightFiles>) -> Result<u64> {
    let failed = |error: std::io::Error| {
        GraphError::new(
            GraphErrorKind::Io,
            format!(
                "the model file {} cannot be written: {error}",
                output.display()
            ),
        )
    };
    let name = output
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let temporary = output.with_file_name(format!(".{name}.{}.part", std::process::id()));
    let run = || -> Result<u64> {
        let mut to =
            BufWriter::with_capacity(1 << 20, fs::File::create(&temporary).map_err(failed)?);
        match outside {
            None => model.write(&mut to)?,
            Some(outside) => model.write_outside(outside, &mut to, &mut |name, weights| {
                write_weights(output, name, weights)
            })?,
        }
        to.flush().map_err(failed)?;
        let file = to
            .into_inner()
            .map_err(|error| failed(error.into_error()))?;
        let bytes = file.metadata().map_err(failed)?.len();
        fs::rename(&temporary, output).map_err(failed)?;
        Ok(bytes)
    };
    run().inspect_err(|_| {
        // The first error is returned.
        let _ = fs::remove_file(&temporary);
    })
}
