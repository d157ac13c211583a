//! `atc`: the model converter with the options of the tool that programs and scripts call.
//!
//! Each option that the real tool documents is in [`options::ALL`]: it is used, or it has no effect on a CPU and says so, or it
//! is refused with a reason. None is swallowed silently.

mod options;
mod show;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use jumar::offline::graph;

use options::{ALL, Support};

/// What the command line said: option names without dashes, and their values.
pub struct Request {
    given: BTreeMap<&'static str, String>,
}

impl Request {
    /// Gives the value of an option that was given and is not empty.
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
        || arguments
            .iter()
            .any(|argument| argument == "--help" || argument == "-h")
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
            eprintln!("error: {error:#}");
            println!("ATC run failed. `atc --help` lists the options.");
            ExitCode::FAILURE
        }
    }
}

/// Reads `--name=value` and `--name value`. Gives the request, and what has no effect.
fn parse(arguments: &[OsString]) -> Result<(Request, Vec<String>)> {
    let mut given = BTreeMap::new();
    let mut notes = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(argument) = argument.to_str() else {
            bail!("{} is not text", argument.display())
        };
        let Some(body) = argument.strip_prefix("--") else {
            bail!("{argument:?} is not an option: options are written --name=value");
        };
        let (name, value) = match body.split_once('=') {
            Some((name, value)) => (name, value.to_string()),
            None => match rest.next().and_then(|value| value.to_str()) {
                Some(value) if !value.starts_with("--") => (body, value.to_string()),
                _ => bail!("--{body} has no value; write --{body}=VALUE"),
            },
        };
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

/// Says why a mode that the tool documents is not there.
fn why_not(mode: &str) -> &'static str {
    match mode {
        "3" => "a conversion (--mode=0) checks the model, and names what is wrong with it",
        "5" => {
            "the toolchain's own text of a graph is not read; --mode=1 writes a model's graph as JSON"
        }
        "30" => "models for a device that runs without a host hold instructions for a card",
        _ => "0 builds an offline model, 1 writes a model as JSON, 6 tells what a model needs",
    }
}

/// The file that a mode without conversion is about: `--om`, or `--model` for whoever says that.
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
    let bytes = std::fs::read(from).with_context(|| from.to_owned())?;
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
    let Some(framework) = request.get("framework") else {
        bail!("--framework is missing; write --framework=5 for an ONNX model");
    };
    let Ok(framework) = framework.parse() else {
        bail!("--framework={framework} is no number; write --framework=5 for an ONNX model");
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
        input_format: text("input_format"),
        output_type: text("output_type"),
        input_shape_range: text("input_shape_range"),
        dynamic_batch_size: text("dynamic_batch_size"),
        dynamic_image_size: text("dynamic_image_size"),
        dynamic_dims: text("dynamic_dims"),
        insert_op_conf: text("insert_op_conf"),
        out_nodes: text("out_nodes"),
        external_weight: text("external_weight"),
        log: text("log"),
    };
    let report = graph::atc::convert(&options).map_err(|error| anyhow!("{error}"))?;
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
        assert!(
            refusal(&["--singleop=ops.json"]).contains("--singleop=ops.json is not supported: ")
        );
        assert!(parsed(&["--enable_compress_weight=false"]).is_ok());
        assert!(refusal(&["--enable_compress_weight=true"]).contains("is not supported"));
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
