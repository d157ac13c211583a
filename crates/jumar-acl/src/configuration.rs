//! The configuration file of aclInit.

use std::ffi::CStr;
use std::fs;
use std::path::Path;

use jumar::config::ProfilerEnvironment;
use jumar_types::{Error, ErrorKind, Result};
use serde_json::Value;

use crate::dump::{Settings, stamp};
use crate::files;
use crate::prof::FromFile;
use crate::refuse;

/// What a configuration file asks for.
#[derive(Default)]
pub(super) struct Configuration {
    pub(super) share_messages: bool,
    pub(super) default_device: Option<i32>,
    /// What the dump section asks for.
    pub(super) dump: Option<Settings>,
    /// What the profiler section asks for, or a tool instead.
    pub(super) profile: Option<FromFile>,
}

/// Largest configuration file.
const MAX_FILE_BYTES: u64 = 10 << 20;
/// Deepest nesting of objects, and of arrays.
const MAX_NESTING: usize = 10;

/// Reads a configuration file.
///
/// # Errors
/// `InvalidFile`, `ParseFile`.
pub(crate) fn read(path: &CStr) -> Result<String> {
    let shown = path.to_string_lossy();
    let bad = |what: String| {
        Error::new(
            ErrorKind::InvalidFile,
            format!("the configuration file {shown} {what}"),
        )
    };
    let path = path
        .to_str()
        .map_err(|_| bad("has a name that is not UTF-8".into()))?;
    let bytes = files::read(Path::new(path), MAX_FILE_BYTES).map_err(bad)?;
    String::from_utf8(bytes).map_err(|_| {
        Error::new(
            ErrorKind::ParseFile,
            format!("the configuration file {shown} is not UTF-8 text"),
        )
    })
}

/// Takes a configuration apart and checks it.
///
/// # Errors
/// `ParseFile`, `InvalidArgument`, `InvalidDumpConfig`, `Failure`: the sentence names the key and its value.
pub(super) fn parse(text: &str) -> Result<Configuration> {
    if text.trim().is_empty() {
        return Ok(Configuration {
            profile: profile(None)?,
            ..Configuration::default()
        });
    }
    let bad = |what: String| Error::new(ErrorKind::ParseFile, what);
    let value: Value = serde_json::from_str(text)
        .map_err(|error| bad(format!("the configuration is not valid JSON: {error}")))?;
    check_nesting(&value, 0, 0)?;
    let mut configuration = Configuration::default();
    match value.get("err_msg_mode") {
        None => {}
        Some(mode) => match mode.as_str() {
            Some("0") => {}
            Some("1") => configuration.share_messages = true,
            _ => {
                return refuse(
                    ErrorKind::InvalidArgument,
                    format!(
                        "err_msg_mode is {mode}; it must be \"0\" (per thread) or \"1\" (for the process)"
                    ),
                );
            }
        },
    }
    if let Some(given) = value.get("max_opqueue_num") {
        // It limits a cache of a card's compiled operators; a value that is not a length is refused all the same.
        let length = given.as_str().and_then(|text| text.parse::<u64>().ok());
        if length.is_none_or(|length| length == 0) {
            return refuse(
                ErrorKind::InvalidValue,
                format!(
                    "max_opqueue_num is {given}; it must be a string with a number above 0, as \"20000\""
                ),
            );
        }
    }
    if let Some(section) = value.get("defaultDevice") {
        let given = section.get("default_device");
        let device = given
            .and_then(|given| given.as_str())
            .and_then(plain_number);
        configuration.default_device = Some(device.ok_or_else(|| {
            let shown = given.map_or_else(|| "missing".to_owned(), ToString::to_string);
            Error::new(
                ErrorKind::Failure,
                format!("defaultDevice.default_device is {shown}; it must be a string with a device number, as \"0\""),
            )
        })?);
    }
    if let Some(section) = value.get("dump") {
        check_dump(section)?;
        configuration.dump = Settings::read(section, stamp().0);
    }
    if let Some(section) = value.get("profiler") {
        // Checked even where a tool's variable stands in for it.
        check_profiler(section)?;
    }
    configuration.profile = profile(value.get("profiler"))?;
    Ok(configuration)
}

/// Reads what is to be profiled from the beginning: a tool's variable comes before the file.
fn profile(section: Option<&Value>) -> Result<Option<FromFile>> {
    let Some(text) = ProfilerEnvironment::read().configuration else {
        return section.map_or(Ok(None), FromFile::read);
    };
    let section: Value = serde_json::from_str(&text).map_err(|error| {
        Error::new(
            ErrorKind::InvalidArgument,
            format!("PROFILER_SAMPLECONFIG is not valid JSON: {error}"),
        )
    })?;
    check_profiler(&section)?;
    FromFile::read(&section)
}

/// Reads a decimal number without sign, blanks or leading zeros.
fn plain_number(text: &str) -> Option<i32> {
    let plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    plain.then(|| text.parse().ok()).flatten()
}

fn check_nesting(value: &Value, objects: usize, arrays: usize) -> Result<()> {
    if objects > MAX_NESTING || arrays > MAX_NESTING {
        return refuse(
            ErrorKind::ParseFile,
            format!("the configuration nests objects or arrays more than {MAX_NESTING} deep"),
        );
    }
    match value {
        Value::Object(map) => map
            .values()
            .try_for_each(|inner| check_nesting(inner, objects + 1, arrays)),
        Value::Array(list) => list
            .iter()
            .try_for_each(|inner| check_nesting(inner, objects, arrays + 1)),
        _ => Ok(()),
    }
}

/// Reads a file of aclmdlSetDump; none when it asks for nothing.
///
/// # Errors
/// `InvalidDumpConfig`: no JSON, or a broken rule; `ParseFile`: nested too deep.
pub(crate) fn dump_file(text: &str) -> Result<Option<Settings>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return bad_dump(format!("the file is not valid JSON: {error}")),
    };
    check_nesting(&value, 0, 0)?;
    let Some(section) = value.get("dump") else {
        return Ok(None);
    };
    check_dump(section)?;
    Ok(Settings::read(section, stamp().0))
}

fn bad_dump<T>(sentence: String) -> Result<T> {
    refuse(
        ErrorKind::InvalidDumpConfig,
        format!("the dump section of the configuration is wrong: {sentence}"),
    )
}

/// Reads a text of the dump section, which must be one of `values` if there are any.
fn dump_text<'a>(section: &'a Value, key: &str, values: &[&str]) -> Result<Option<&'a str>> {
    let Some(value) = section.get(key) else {
        return Ok(None);
    };
    match value.as_str() {
        Some(text) if !text.is_empty() && (values.is_empty() || values.contains(&text)) => {
            Ok(Some(text))
        }
        _ if values.is_empty() => bad_dump(format!(
            "{key} is {value}; it must be a text that is not empty"
        )),
        _ => bad_dump(format!(
            "{key} is {value}; it must be one of {}",
            values.join(", ")
        )),
    }
}

/// Longest `dump_path`, in bytes.
const LONGEST_PATH: usize = 512;

/// Checks the rules of the dump section.
fn check_dump(section: &Value) -> Result<()> {
    if !section.is_object() {
        return bad_dump(format!("it is {section}, and has to be an object"));
    }
    let on_off = ["on", "off"];
    let mode = dump_text(section, "dump_mode", &["input", "output", "all"])?;
    let operators = dump_text(section, "dump_op_switch", &on_off)? == Some("on");
    let data = dump_text(section, "dump_data", &["tensor", "stats"])?;
    let level = dump_text(section, "dump_level", &["op", "kernel", "all"])?;
    let overflow = dump_text(section, "dump_debug", &on_off)? == Some("on");
    let scenes = [
        "lite_exception",
        "aic_err_brief_dump",
        "aic_err_norm_dump",
        "aic_err_detail_dump",
        "watcher",
    ];
    let scene = dump_text(section, "dump_scene", &scenes)?;
    if overflow && operators {
        return bad_dump("dump_debug and dump_op_switch are both on".into());
    }
    if scene.is_some() && (overflow || operators) {
        return bad_dump("dump_scene stands beside dump_debug or dump_op_switch".into());
    }
    if let Some(statistics) = section.get("dump_stats") {
        let known = [
            "Max",
            "Min",
            "Avg",
            "Nan",
            "Negative Inf",
            "Positive Inf",
            "L2norm",
        ];
        let names = statistics.as_array().filter(|names| !names.is_empty());
        let fine = names.is_some_and(|names| {
            names
                .iter()
                .all(|name| name.as_str().is_some_and(|name| known.contains(&name)))
        });
        if !fine || data != Some("stats") {
            return bad_dump(format!(
                "dump_stats is {statistics}; it needs dump_data \"stats\" and some of {}",
                known.join(", ")
            ));
        }
    }
    if let Some(steps) = dump_text(section, "dump_step", &[])? {
        check_steps(steps)?;
    }
    if let Some(prints) = dump_text(section, "dump_kernel_data", &[])? {
        let known = ["all", "printf", "tensor", "assert", "timestamp"];
        if !prints.split(',').all(|print| known.contains(&print)) {
            return bad_dump(format!(
                "dump_kernel_data is \"{prints}\"; it must be some of {}, with commas between them",
                known.join(", ")
            ));
        }
    }
    let entries = match section.get("dump_list") {
        None => &[][..],
        Some(Value::Array(entries)) => entries,
        Some(other) => return bad_dump(format!("dump_list is {other}, and has to be an array")),
    };
    for entry in entries {
        check_entry(entry, operators, level == Some("op"))?;
    }
    if scene == Some("watcher") {
        if mode.is_some_and(|mode| mode != "output") {
            return bad_dump("dump_scene \"watcher\" needs dump_mode \"output\"".into());
        }
        if entries
            .iter()
            .all(|entry| entry.get("watcher_nodes").is_none())
        {
            return bad_dump("dump_scene \"watcher\" needs watcher_nodes in dump_list".into());
        }
        if entries
            .iter()
            .any(|entry| entry.get("model_name").is_some())
        {
            return bad_dump("dump_scene \"watcher\" goes with no model_name in dump_list".into());
        }
    }
    let list = !entries.is_empty();
    let path = dump_text(section, "dump_path", &[])?;
    if list || operators || overflow || scene == Some("watcher") {
        check_path(path)?;
    }
    Ok(())
}

/// Checks an entry of `dump_list`. With single operators dumped as well (`operators`), a model without a name and an empty
/// list of layers are let pass; bans and ranges are for operators alone (`by_operator`).
fn check_entry(entry: &Value, operators: bool, by_operator: bool) -> Result<()> {
    const MOST_BANS: usize = 100;
    if !entry.is_object() {
        return bad_dump(format!("dump_list holds {entry}; it has to hold objects"));
    }
    let is_named = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let empty_passes = |value: &Value| operators && value.as_str() == Some("");
    if let Some(name) = entry
        .get("model_name")
        .filter(|name| !is_named(name) && !empty_passes(name))
    {
        return bad_dump(format!(
            "model_name is {name} in dump_list; it must be a text that is not empty"
        ));
    }
    let named_list = |value: &Value| {
        value
            .as_array()
            .is_some_and(|names| names.iter().all(is_named))
    };
    for (key, may_be_empty) in [("layer", operators), ("watcher_nodes", false)] {
        let Some(names) = entry.get(key) else {
            continue;
        };
        let is_empty = names.as_array().is_some_and(Vec::is_empty);
        if !named_list(names) || is_empty && !may_be_empty {
            return bad_dump(format!(
                "{key} is {names} in dump_list; it must be an array of texts, none of them empty"
            ));
        }
    }
    // Any other text would match no tensor, and what it was to keep out would be dumped.
    let is_position = |value: &Value| {
        let text = value.as_str().unwrap_or_default();
        let index = text
            .strip_prefix("input")
            .or_else(|| text.strip_prefix("output"));
        index.is_some_and(|index| index.parse::<usize>().is_ok_and(|n| n.to_string() == index))
    };
    let position_list = |value: &Value| {
        value
            .as_array()
            .is_some_and(|positions| positions.iter().all(is_position))
    };
    for key in ["optype_blacklist", "opname_blacklist", "opname_range"] {
        let Some(value) = entry.get(key) else {
            continue;
        };
        if !by_operator {
            return bad_dump(format!("{key} needs dump_level \"op\""));
        }
        let is_range = key == "opname_range";
        let fine = |one: &Value| {
            let has = |key: &str| one.get(key).is_some_and(is_named);
            match is_range {
                true => has("begin") && has("end"),
                false => has("name") && one.get("pos").is_none_or(position_list),
            }
        };
        let count = value.as_array().map_or(0, Vec::len);
        if !is_range && count > MOST_BANS {
            return bad_dump(format!(
                "{key} has {count} entries; it must have {MOST_BANS} at most"
            ));
        }
        let list = value.as_array().filter(|list| list.iter().all(fine));
        let Some(list) = list else {
            return bad_dump(match is_range {
                true => format!(
                    "{key} is {value}; it must be an array of objects with \"begin\" and \"end\""
                ),
                false => format!(
                    "{key} is {value}; it must be an array of objects with \"name\" and perhaps \"pos\", an array of positions such as \"input0\" or \"output1\""
                ),
            });
        };
        if is_range && !list.is_empty() && entry.get("model_name").is_none() {
            return bad_dump(format!("{key} needs a model_name"));
        }
    }
    Ok(())
}

/// Checks `0|3|5-9`.
fn check_steps(steps: &str) -> Result<()> {
    const MOST: usize = 100;
    let parts: Vec<&str> = steps.split('|').collect();
    let number = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse::<u64>().ok())
            .flatten()
    };
    let fine = |part: &&str| match part.split_once('-') {
        None => number(part).is_some(),
        Some((first, last)) => number(first)
            .zip(number(last))
            .is_some_and(|(first, last)| first <= last),
    };
    if parts.len() <= MOST && parts.iter().all(fine) {
        return Ok(());
    }
    bad_dump(format!(
        "dump_step is \"{steps}\"; it has to read like 0|3|5-9, with {MOST} parts at most"
    ))
}

fn check_path(path: Option<&str>) -> Result<()> {
    let Some(path) = path else {
        return bad_dump("dump_path is missing".into());
    };
    if path.len() > LONGEST_PATH {
        return bad_dump(format!(
            "dump_path has {} bytes; at most {LONGEST_PATH} are allowed",
            path.len()
        ));
    }
    // An address in front of the path names another machine; only its characters can be checked.
    if path
        .split_once(':')
        .is_some_and(|(host, _)| host.parse::<std::net::Ipv4Addr>().is_ok())
    {
        return Ok(());
    }
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => Ok(()),
        Ok(_) => bad_dump(format!("dump_path {path} is not a directory")),
        Err(error) => bad_dump(format!(
            "dump_path {path} cannot be used (it is not created): {error}"
        )),
    }
}

fn check_profiler(section: &Value) -> Result<()> {
    let bad = |sentence: String| {
        refuse(
            ErrorKind::InvalidArgument,
            format!("the profiler section of the configuration is wrong: {sentence}"),
        )
    };
    if !section.is_object() {
        return bad(format!("it is {section}, and has to be an object"));
    }
    for key in [
        "switch",
        "aicpu",
        "hccl",
        "msproftx",
        "task_time",
        "runtime_api",
        "l2",
    ] {
        match section.get(key) {
            None => {}
            Some(value)
                if value
                    .as_str()
                    .is_some_and(|text| ["on", "off", "l0", "l1"].contains(&text)) => {}
            Some(value) => return bad(format!("{key} is {value}; it must be \"on\" or \"off\"")),
        }
    }
    const METRICS: [&str; 8] = [
        "ArithmeticUtilization",
        "PipeUtilization",
        "Memory",
        "MemoryL0",
        "MemoryUB",
        "MemoryAccess",
        "L2Cache",
        "ResourceConflictRatio",
    ];
    match section.get("aic_metrics") {
        None => Ok(()),
        Some(value)
            if value
                .as_str()
                .is_some_and(|text| text.is_empty() || METRICS.contains(&text)) =>
        {
            Ok(())
        }
        Some(value) => bad(format!(
            "aic_metrics is {value}; it must be one of {}",
            METRICS.join(", ")
        )),
    }
}
