//! `atc`: the model converter with the options of the tool that programs and scripts call.
//!
//! Each option that the real tool documents is in [`options::ALL`]: it is used, or it has no effect on a CPU and a note reports that, or it
//! is refused with a reason. None is swallowed silently.

mod options;
mod show;
mod single;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use jumar::offline::graph::{self, GraphError, GraphErrorKind};

use options::{ALL, Support};

/// What the command line said: option names without dashes, and their values.
pub struct Request {
    given: BTreeMap<&'static str, String>,
}

impl Request {
    /// Returns the value of an option that was given and is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.given
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

/// Runs the tool. Statuses as scripts expect them: 0, or not 0.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    if arguments.is_empty()
        || arguments.iter().any(|argument| {
            ["--help", "-help", "--h", "-h"]
                .iter()
                .any(|help| argument == help)
        })
    {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    println!("ATC start working now, please wait for a moment.");
    match parse(&arguments).and_then(|(request, notes)| {
        for note in notes {
            println!("note: {note}");
        }
        convert(&request)
    }) {
        Ok(()) => {
            // Scripts look for this line.
            println!("ATC run success, welcome to the next use.");
            ExitCode::SUCCESS
        }
        Err(error) => {
            // One stream: a reader of both would see the two lines in any order. Scripts look for the code and for the last line.
            let code = code_of(&error);
            eprintln!("{code}: {error:#}\nATC run failed. `atc --help` lists the options.");
            ExitCode::FAILURE
        }
    }
}

/// Returns the code that the tool's documents give a failure.
///
/// # Source
///
/// The list of error codes in the documents: E10001 a value of an option, E16002 an operator of ONNX, E19999 anything else.
fn code_of(error: &anyhow::Error) -> &'static str {
    match error.downcast_ref::<GraphError>().map(GraphError::kind) {
        Some(GraphErrorKind::NotSupported) => "E16002",
        None
        | Some(
            GraphErrorKind::InvalidOption | GraphErrorKind::NeedsShape | GraphErrorKind::NotFound,
        ) => "E10001",
        Some(_) => "E19999",
    }
}

/// Reads `--name=value` and `--name value`. Returns the request, and what has no effect.
fn parse(arguments: &[OsString]) -> Result<(Request, Vec<String>)> {
    let mut given = BTreeMap::new();
    let mut notes = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(argument) = argument.to_str() else {
            bail!("{} is not text", argument.display())
        };
        // The tool takes one dash as it takes two.
        let Some(body) = argument
            .strip_prefix("--")
            .or_else(|| argument.strip_prefix('-'))
        else {
            bail!("{argument:?} is not an option: options are written --name=value");
        };
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, value.to_string()),
            None => match rest.next().and_then(|value| value.to_str()) {
                Some(value) if !value.starts_with("--") => (body, value.to_string()),
                _ => bail!("--{body} has no value; write --{body}=VALUE"),
            },
        };
        // And a name's words may be joined either way.
        let name = &name.replace('-', "_");
        let Some(option) = ALL.iter().find(|option| option.name == name) else {
            bail!("there is no option --{name}{}", similar(name));
        };
        match option.support {
            Support::Used => {}
            Support::NoEffect(why) => notes.push(format!("--{name}={value} has no effect: {why}")),
            Support::Refused { harmless, why } => {
                if !harmless.contains(&value.as_str()) {
                    bail!("--{name}={value} is not supported: {why}");
                }
            }
        }
        if given.insert(option.name, value).is_some() {
            bail!("--{name} is given twice");
        }
    }
    Ok((Request { given }, notes))
}

/// Suggests the nearest name, if one is near.
fn similar(name: &str) -> String {
    let nearest = ALL
        .iter()
        .map(|option| (distance(name, option.name), option.name))
        .min();
    match nearest {
        Some((distance, option)) if distance <= 3 => format!("; did you mean --{option}?"),
        _ => String::new(),
    }
}

/// Counts the letters that have to be put in, left out or changed.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Returns the reason why a documented mode is not supported.
fn why_not(mode: &str) -> &'static str {
    match mode {
        "3" => "a conversion (--mode=0) checks the model, and names what is wrong with it",
        "5" => {
            "the toolchain's own text of a graph is not read; --mode=1 writes a model's graph as JSON"
        }
        "30" => "models for a device that runs without a host hold instructions for a card",
        _ => {
            "0 builds an offline model, 1 writes a model as JSON, 6 prints the requirements of a model"
        }
    }
}

/// The file that a mode without conversion is about: `--om`, or `--model` as an alternative.
fn subject(request: &Request) -> Result<&str> {
    let mode = request.get("mode").unwrap_or_default();
    request
        .get("om")
        .or_else(|| request.get("model"))
        .with_context(|| format!("--mode={mode} needs the model's file; write --om=FILE"))
}

fn to_json(request: &Request) -> Result<()> {
    let from = subject(request)?;
    if let Some(framework) = request
        .get("framework")
        .filter(|framework| *framework != "5")
    {
        bail!("--framework={framework} is not supported; 5 (ONNX) is: export the model to ONNX");
    }
    let to = request
        .get("json")
        .context("--mode=1 writes a file; write --json=FILE")?;
    show::to_json(from.as_ref(), to.as_ref())?;
    println!("{to}: the graph of {from}");
    Ok(())
}

fn summary(request: &Request) -> Result<()> {
    let from = subject(request)?;
    let bytes = graph::files::read(from, graph::files::LARGEST).with_context(|| from.to_owned())?;
    print!(
        "{}",
        show::summary(&bytes).with_context(|| from.to_owned())?
    );
    Ok(())
}

/// Checks what belongs together, and converts.
fn convert(request: &Request) -> Result<()> {
    match request.get("mode").unwrap_or("0") {
        "0" => {}
        "1" => return to_json(request),
        "6" => return summary(request),
        other => bail!("--mode={other} is not supported: {}", why_not(other)),
    }
    if let Some(list) = request.get("singleop") {
        return singleop(request, list);
    }
    let Some(framework) = request.get("framework") else {
        bail!("--framework is missing; write --framework=5 for an ONNX model");
    };
    let Ok(framework) = framework.parse() else {
        bail!("--framework={framework} is not a number; write --framework=5 for an ONNX model");
    };
    let required = |name| {
        request
            .get(name)
            .with_context(|| format!("--{name} is missing; write --{name}=VALUE"))
    };
    let text = |name| request.get(name).unwrap_or_default().to_string();
    let options = graph::atc::Options {
        model: required("model")?.into(),
        framework,
        output: required("output")?.into(),
        soc_version: required("soc_version")?.to_string(),
        input_shape: text("input_shape"),
        open_dims: text("open_dims"),
        input_format: text("input_format"),
        output_type: text("output_type"),
        input_shape_range: text("input_shape_range"),
        dynamic_batch_size: text("dynamic_batch_size"),
        dynamic_image_size: text("dynamic_image_size"),
        dynamic_dims: text("dynamic_dims"),
        insert_op_conf: text("insert_op_conf"),
        precision_mode: text("precision_mode"),
        precision_mode_v2: text("precision_mode_v2"),
        out_nodes: text("out_nodes"),
        input_fp16_nodes: text("input_fp16_nodes"),
        external_weight: text("external_weight"),
        log: text("log"),
    };
    check_chip(&options.soc_version)?;
    let report = graph::atc::convert(&options)?;
    println!(
        "{}: {} bytes, {} operators, {} bytes of weights, {} bytes of work memory",
        report.output.display(),
        report.bytes,
        report.operators,
        report.weight_bytes,
        report.work_bytes
    );
    match request.get("display_model_info") {
        None | Some("0") => {}
        Some("1") => {
            let bytes = std::fs::read(&report.output)?;
            print!("{}", show::summary(&bytes)?);
        }
        Some(other) => bail!("--display_model_info={other} is not known; 0 and 1 are"),
    }
    for (direction, ports) in [
        ("input", &report.description.inputs),
        ("output", &report.description.outputs),
    ] {
        for port in ports {
            println!("  {direction}  {}", crate::inspect::port(port));
        }
    }
    Ok(())
}

/// Options that a list of single operators takes.
const WITH_SINGLEOP: &[&str] = &["singleop", "output", "soc_version", "mode", "log"];

/// Options of models that scripts pass beside a list of single operators, and the values that ask for what happens anyway; without values:
/// any, because a list has nothing that the option concerns.
const HARMLESS_WITH_SINGLEOP: &[(&str, &[&str])] = &[
    ("framework", &[]),
    ("input_format", &[]),
    (
        "precision_mode",
        &[
            "must_keep_origin_dtype",
            "allow_fp32_to_fp16",
            "force_fp32",
            "cube_fp16in_fp32out",
        ],
    ),
    ("precision_mode_v2", &["origin", "cube_fp16in_fp32out"]),
];

/// Compiles a list of single operators.
fn singleop(request: &Request, list: &str) -> Result<()> {
    let used = |name: &str| {
        let option = ALL.iter().find(|option| option.name == name);
        option.is_some_and(|option| matches!(option.support, Support::Used))
    };
    for (name, value) in request.given.iter().filter(|(name, _)| used(name)) {
        if WITH_SINGLEOP.contains(name) {
            continue;
        }
        let harmless = HARMLESS_WITH_SINGLEOP.iter().find(|(own, _)| own == name);
        match harmless {
            None => bail!(
                "--{name} belongs to models, and --singleop={list} describes single operators"
            ),
            Some((_, values)) if values.is_empty() || values.contains(&value.as_str()) => {
                println!(
                    "note: --{name}={value} has no effect: the list describes the types and formats of its operators"
                );
            }
            Some((_, values)) => bail!(
                "--{name}={value} is not supported with --singleop, whose operators compute in the types of their descriptions; {} are accepted",
                values.join(", ")
            ),
        }
    }
    let folder = request
        .get("output")
        .context("--output is missing; write --output=FOLDER for the files of the operators")?;
    check_chip(
        request
            .get("soc_version")
            .context("--soc_version is missing; write --soc_version=VALUE")?,
    )?;
    single::convert(list, folder)
}

/// Refuses a device that is not known.
fn check_chip(name: &str) -> Result<()> {
    if !jumar::profile::is_chip(name) {
        bail!(
            "--soc_version={name}: {}",
            jumar::profile::without_a_profile(name)
        );
    }
    Ok(())
}

fn help() -> String {
    let mut text = String::from(
        "Converts a model to an offline model (.om) that Jumar loads.\n\n\
         Usage: atc --model=FILE --framework=5 --output=NAME --soc_version=NAME [--option=value ...]\n\n\
         Examples:\n\
         \x20 atc --model=digits.onnx --framework=5 --output=digits --soc_version=Ascend910B1\n\
         \x20 atc --model=net.onnx --framework=5 --output=net --soc_version=Ascend310P3 --input_shape=\"data:1,3,224,224\"\n\n\
         Options:\n",
    );
    let mut line = |name: &str, values: &str, help: &str| {
        let left = format!("--{name}={values}");
        let _ = match left.len() > 36 {
            true => writeln!(text, "  {left}\n  {:36} {help}", ""),
            false => writeln!(text, "  {left:36} {help}"),
        };
    };
    for option in ALL
        .iter()
        .filter(|option| matches!(option.support, Support::Used))
    {
        line(option.name, option.values, option.help);
    }
    text += "\nAccepted without effect, with a note:\n";
    let names = |wanted: fn(&Support) -> bool| -> Vec<String> {
        ALL.iter()
            .filter(|option| wanted(&option.support))
            .map(|option| format!("--{}", option.name))
            .collect()
    };
    wrap(
        &mut text,
        &names(|support| matches!(support, Support::NoEffect(_))),
    );
    text += "\nRefused with the reason, except for values that change nothing:\n";
    wrap(
        &mut text,
        &names(|support| matches!(support, Support::Refused { .. })),
    );
    text
}

fn wrap(text: &mut String, words: &[String]) {
    let mut width = 0;
    for word in words {
        if width == 0 || width + word.len() + 1 > 100 {
            if width > 0 {
                text.push('\n');
            }
            text.push_str("  ");
            width = 2;
        } else {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.len();
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<(Request, Vec<String>)> {
        parse(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn refusal(arguments: &[&str]) -> String {
        parsed(arguments).err().map_or_else(
            || panic!("{arguments:?} was accepted"),
            |error| error.to_string(),
        )
    }

    #[test]
    fn both_ways_to_give_a_value_mean_the_same() {
        let (request, notes) = parsed(&[
            "--model=a.onnx",
            "--framework",
            "5",
            "--input_shape=x:1,3;y:",
        ])
        .unwrap();
        assert_eq!(request.get("model"), Some("a.onnx"));
        assert_eq!(request.get("framework"), Some("5"));
        assert_eq!(request.get("input_shape"), Some("x:1,3;y:"));
        assert!(notes.is_empty());
    }

    #[test]
    fn a_list_of_operators_takes_the_options_of_models_that_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("operators.json");
        let text = r#"[{"op": "Relu", "input_desc": [{"type": "float32", "shape": [2]}],
            "output_desc": [{"type": "float32", "shape": [2]}]}]"#;
        std::fs::write(&list, text).unwrap();
        let answer = |more: &str| {
            let list = format!("--singleop={}", list.display());
            let output = format!("--output={}", folder.path().display());
            let (request, _) = parsed(&[&list, &output, "--soc_version=Ascend910B1", more])?;
            convert(&request)
        };
        answer("--precision_mode=must_keep_origin_dtype").unwrap();
        answer("--framework=1").unwrap();
        answer("--input_format=NCHW").unwrap();
        let refused = |more: &str| answer(more).unwrap_err().to_string();
        assert!(refused("--precision_mode=force_fp16").contains("must_keep_origin_dtype"));
        assert!(refused("--model=a.onnx").contains("--model belongs to models"));
    }

    #[test]
    fn a_failure_has_the_code_of_its_kind() {
        let error = |kind| anyhow::Error::from(GraphError::new(kind, "a sentence"));
        assert_eq!(code_of(&error(GraphErrorKind::NotSupported)), "E16002");
        assert_eq!(code_of(&error(GraphErrorKind::InvalidOption)), "E10001");
        assert_eq!(code_of(&error(GraphErrorKind::Corrupt)), "E19999");
        let missing = parsed(&["--output=a"]).and_then(|(request, _)| convert(&request));
        assert_eq!(code_of(&missing.unwrap_err()), "E10001");
    }

    #[test]
    fn what_has_no_effect_says_so() {
        let (_, notes) = parsed(&["--buffer_optimize=off_optimize"]).unwrap();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(
            notes[0].starts_with("--buffer_optimize=off_optimize has no effect: "),
            "{notes:?}"
        );
    }

    #[test]
    fn what_would_change_the_result_is_refused_unless_it_asks_for_what_is_done_anyway() {
        assert!(refusal(&["--weight=a.bin"]).contains("--weight=a.bin is not supported: "));
        assert!(parsed(&["--enable_compress_weight=false"]).is_ok());
        assert!(refusal(&["--enable_compress_weight=true"]).contains("is not supported"));
    }

    /// Every option of the tool's public list, a value that it takes there, and what becomes of it here.
    const DOCUMENTED: &[(&str, &str, char)] = &[
        ("mode", "0", 'u'),
        ("model", "a.onnx", 'u'),
        ("weight", "a.caffemodel", 'r'),
        ("framework", "5", 'u'),
        ("input_format", "NCHW", 'u'),
        ("input_shape", "x:1,3", 'u'),
        ("input_shape_range", "x:[1~2,3]", 'u'),
        // Of no other tool: `import jumar` uses it.
        ("open_dims", "keep", 'u'),
        ("dynamic_batch_size", "1,2", 'u'),
        ("dynamic_image_size", "8,8;16,16", 'u'),
        ("dynamic_dims", "1;2", 'u'),
        ("om", "a.om", 'u'),
        ("singleop", "add.json", 'u'),
        ("distributed_cluster_build", "1", 'r'),
        ("distributed_cluster_build", "0", 's'),
        ("cluster_config", "cluster.json", 'r'),
        ("enable_graph_parallel", "1", 'r'),
        ("enable_graph_parallel", "0", 's'),
        ("graph_parallel_option_path", "a.json", 'r'),
        ("shard_model_dir", "models", 'r'),
        ("model_relation_config", "a.json", 'r'),
        ("output", "a", 'u'),
        ("output_type", "FP32", 'u'),
        ("check_report", "a.json", 'n'),
        ("json", "a.json", 'u'),
        ("host_env_os", "linux", 'n'),
        ("host_env_cpu", "aarch64", 'n'),
        ("soc_version", "Ascend310P3", 'u'),
        ("core_type", "AiCore", 'n'),
        ("aicore_num", "2", 'n'),
        ("virtual_type", "0", 'n'),
        ("out_nodes", "conv:0", 'u'),
        ("input_fp16_nodes", "data;other", 'u'),
        ("insert_op_conf", "aipp.cfg", 'u'),
        ("external_weight", "1", 'u'),
        ("op_name_map", "a.cfg", 'r'),
        ("is_input_adjust_hw_layout", "true", 'n'),
        ("is_output_adjust_hw_layout", "true", 'n'),
        ("buffer_optimize", "l2_optimize", 'n'),
        ("disable_reuse_memory", "1", 'n'),
        ("enable_scope_fusion_passes", "A", 'n'),
        ("fusion_switch_file", "a.cfg", 'n'),
        ("enable_single_stream", "true", 'n'),
        ("enable_small_channel", "1", 'n'),
        ("enable_compress_weight", "true", 'r'),
        ("enable_compress_weight", "false", 's'),
        ("compress_weight_conf", "a.cfg", 'r'),
        ("quant_dumpable", "1", 'n'),
        ("compression_optimize_conf", "a.cfg", 'r'),
        ("mdl_bank_path", "bank", 'n'),
        ("sparsity", "1", 'r'),
        ("sparsity", "0", 's'),
        ("ac_parallel_enable", "1", 'n'),
        ("oo_level", "O3", 'n'),
        ("oo_constant_folding", "true", 'n'),
        ("oo_dead_code_elimination", "true", 'n'),
        ("tiling_schedule_optimize", "1", 'n'),
        ("topo_sorting_mode", "1", 'n'),
        ("precision_mode", "allow_fp32_to_bf16", 'u'),
        ("precision_mode_v2", "mixed_bfloat16", 'u'),
        ("op_precision_mode", "a.ini", 'n'),
        ("modify_mixlist", "a.json", 'n'),
        ("op_select_implmode", "high_precision", 'n'),
        ("optypelist_for_implmode", "Gelu", 'n'),
        ("keep_dtype", "a.cfg", 'n'),
        ("customize_dtypes", "a.cfg", 'r'),
        ("op_bank_path", "bank", 'n'),
        ("allow_hf32", "true", 'n'),
        ("is_weight_clip", "1", 'n'),
        ("dump_mode", "1", 'r'),
        ("dump_mode", "0", 's'),
        ("log", "error", 'u'),
        ("display_model_info", "1", 'u'),
        ("op_compiler_cache_mode", "enable", 'n'),
        ("op_compiler_cache_dir", "cache", 'n'),
        ("op_debug_level", "0", 'n'),
        ("op_debug_config", "a.cfg", 'n'),
        ("debug_dir", "debug", 'n'),
        ("atomic_clean_policy", "1", 'n'),
        ("deterministic", "1", 'n'),
        ("deterministic_level", "1", 'n'),
        ("status_check", "1", 'n'),
        ("export_compile_stat", "1", 'n'),
        ("shape_generalized_build_mode", "shape_precise", 'n'),
        ("auto_tune_mode", "RL,GA", 'n'),
        ("optimization_switch", "a:on", 'n'),
        ("enable_attr_compression", "true", 'n'),
    ];

    #[test]
    fn every_documented_option_is_used_accepted_with_a_note_or_refused_with_a_reason() {
        for &(name, value, becomes) in DOCUMENTED {
            let option = ALL.iter().find(|option| option.name == name);
            let option = option.unwrap_or_else(|| panic!("--{name} is documented and missing"));
            let given = format!("--{name}={value}");
            match becomes {
                'u' => {
                    assert!(matches!(option.support, Support::Used), "{given}");
                    let (request, notes) = parsed(&[&given]).unwrap();
                    assert_eq!(request.get(name), Some(value));
                    assert!(notes.is_empty(), "{given}: {notes:?}");
                }
                'n' => {
                    let (_, notes) = parsed(&[&given]).unwrap();
                    let prefix = format!("{given} has no effect: ");
                    let reason = notes[0].strip_prefix(&prefix);
                    assert!(reason.is_some_and(|why| why.len() > 10), "{notes:?}");
                }
                's' => assert!(parsed(&[&given]).unwrap().1.is_empty(), "{given}"),
                _ => {
                    let prefix = format!("{given} is not supported: ");
                    let said = refusal(&[&given]);
                    assert!(
                        said.strip_prefix(&prefix).is_some_and(|why| why.len() > 10),
                        "{said}"
                    );
                }
            }
        }
        for option in ALL {
            let listed = DOCUMENTED.iter().any(|(name, ..)| *name == option.name);
            assert!(listed, "--{} is in no line of the table", option.name);
        }
    }

    #[test]
    fn dashes_and_joined_words_are_taken_as_the_tool_takes_them() {
        for given in ["--soc_version=x", "-soc_version=x", "--soc-version=x"] {
            assert_eq!(parsed(&[given]).unwrap().0.get("soc_version"), Some("x"));
        }
        let (request, _) = parsed(&["-input-shape", "x:1,3"]).unwrap();
        assert_eq!(request.get("input_shape"), Some("x:1,3"));
    }

    #[test]
    fn mistakes_in_the_command_line_are_named() {
        assert_eq!(
            refusal(&["--soc_versoin=x"]),
            "there is no option --soc_versoin; did you mean --soc_version?"
        );
        assert_eq!(
            refusal(&["--model"]),
            "--model has no value; write --model=VALUE"
        );
        assert_eq!(
            refusal(&["--model", "--output=x"]),
            "--model has no value; write --model=VALUE"
        );
        assert_eq!(
            refusal(&["--log=info", "--log=error"]),
            "--log is given twice"
        );
        assert_eq!(
            refusal(&["--frmework=5"]),
            "there is no option --frmework; did you mean --framework?"
        );
        assert_eq!(refusal(&["--nonsense=5"]), "there is no option --nonsense");
        assert!(refusal(&["model.onnx"]).contains("is not an option"));
    }

    fn converted(arguments: &[&str]) -> Result<()> {
        convert(&parsed(arguments)?.0)
    }

    #[test]
    fn modes_that_are_not_there_say_why() {
        for (mode, part) in [
            ("3", "names what is wrong"),
            ("5", "--mode=1 writes"),
            ("30", "without a host"),
            ("7", "0 builds"),
        ] {
            let error = converted(&[&format!("--mode={mode}")])
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("is not supported") && error.contains(part),
                "{error}"
            );
        }
        assert!(
            converted(&["--mode=1"])
                .unwrap_err()
                .to_string()
                .contains("--om=FILE")
        );
        assert!(
            converted(&["--mode=1", "--om=a"])
                .unwrap_err()
                .to_string()
                .contains("--json=FILE")
        );
        assert!(
            converted(&["--mode=6"])
                .unwrap_err()
                .to_string()
                .contains("--om=FILE")
        );
    }

    #[test]
    fn a_model_is_converted_summed_up_and_written_as_json() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let onnx = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/digits/digits.onnx"
        );
        let om = at("digits.om");
        converted(&[
            &format!("--model={onnx}"),
            "--framework=5",
            "--soc_version=Ascend910B1",
            "--display_model_info=1",
            &format!("--output={}", at("digits")),
        ])
        .unwrap();
        converted(&["--mode=6", &format!("--om={om}")]).unwrap();
        let text = show::summary(&std::fs::read(&om).unwrap()).unwrap();
        assert!(
            text.contains("soc_version[Ascend910B1], framework_type[5]"),
            "{text}"
        );
        for from in [om.as_str(), onnx] {
            let json = at("out.json");
            converted(&[
                "--mode=1",
                &format!("--om={from}"),
                &format!("--json={json}"),
            ])
            .unwrap();
            let value: serde_json::Value =
                serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
            let ops = value["graph"][0]["op"].as_array().unwrap();
            assert!(ops.iter().any(|op| op["type"] == "NetOutput"), "{from}");
            assert!(ops.iter().any(|op| op["type"] == "Const"), "{from}");
        }
        assert!(converted(&["--mode=6", &format!("--om={onnx}")]).is_err());
    }

    #[test]
    fn the_help_names_every_option_once() {
        let help = help();
        for option in ALL {
            let mark = format!("--{}", option.name);
            let count = help.match_indices(&mark).filter(|(at, _)| {
                !help[at + mark.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
            });
            assert!(count.count() >= 1, "{mark}");
        }
    }

    #[test]
    fn no_option_is_listed_twice() {
        for (index, option) in ALL.iter().enumerate() {
            assert!(
                ALL[..index].iter().all(|other| other.name != option.name),
                "{}",
                option.name
            );
        }
    }
}
