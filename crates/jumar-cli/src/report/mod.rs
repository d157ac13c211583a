//! `jumar report`: timelines as one page for a browser, with what the checks found.
//!
//! The timelines of several processes become one: their rows stand under one another, on the clock that all processes of a machine
//! share.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// What `jumar report` takes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  jumar run --trace run.json -- ./app
  jumar report run.json -o run.html
  JUMAR_TRACE=run.json jumar check --json found.json -- ./app
  jumar report run.json --findings found.json -o run.html
  jumar run --trace run.json -- torchrun --nproc-per-node 2 train.py
  jumar report run.json run.2.json -o run.html")]
pub struct Options {
    /// Timelines written by `jumar run --trace`: one, or those of several processes of a machine.
    #[arg(required = true, value_name = "TIMELINE")]
    timelines: Vec<PathBuf>,
    /// Findings written by `jumar check --json`.
    #[arg(long, value_name = "FILE")]
    findings: Option<PathBuf>,
    /// The web page to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

const PAGE: &str = include_str!("page.html");

/// The most that a timeline or a list of findings may hold.
const MAX_FILE_BYTES: u64 = 8 << 30;

/// Writes the page.
pub fn run(options: &Options) -> Result<ExitCode> {
    write(
        &options.timelines,
        options.findings.as_deref(),
        &options.output,
    )?;
    println!("{}", options.output.display());
    Ok(ExitCode::SUCCESS)
}

/// Makes a page of timelines, and of findings where there are any.
///
/// # Errors
/// A file cannot be read or written, or is not a timeline or a list of findings; one of several timelines does not state when it began.
pub fn write(timelines: &[impl AsRef<Path>], findings: Option<&Path>, output: &Path) -> Result<()> {
    let mut traces = Vec::new();
    for file in timelines {
        let file = file.as_ref();
        let mut trace = read(file)?;
        let Some(events) = trace["traceEvents"].as_array_mut() else {
            bail!("{} is not a timeline", file.display());
        };
        // The page finds the call of a task by the number that both have.
        events.retain(|event| event["cat"] != "queue");
        if timelines.len() > 1 && !trace["otherData"]["startNs"].is_u64() {
            bail!(
                "{} does not state when it began; write it again with this version of Jumar",
                file.display()
            );
        }
        traces.push(trace);
    }
    let findings = match findings {
        Some(file) => read(file)?,
        None => Value::Array(Vec::new()),
    };
    crate::output::write(output, page(&merge(traces), &findings).as_bytes())
}

/// The row groups of one process: the host, and each device.
const GROUPS: u64 = 1 << 16;

/// Makes one timeline of those of several processes: by rank where a launcher gave them ranks, in the given order otherwise.
fn merge(mut traces: Vec<Value>) -> Value {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    traces.sort_by_key(|trace| trace["otherData"]["rank"].as_u64().unwrap_or(u64::MAX));
    let start = |trace: &Value| number(&trace["otherData"]["startNs"]);
    let first = traces.iter().map(start).min().unwrap_or(0);
    let mut traces = traces.into_iter();
    let Some(mut merged) = traces.next() else {
        return Value::Null;
    };
    if traces.len() == 0 {
        return merged;
    }
    let mut all = Vec::new();
    for (index, mut trace) in std::iter::once(merged.take()).chain(traces).enumerate() {
        let later_us = (start(&trace) - first) as f64 / 1000.0;
        let origin = &trace["otherData"];
        let label = match origin["rank"].as_u64() {
            Some(rank) => format!("rank {rank}: "),
            None => format!("process {}: ", number(&origin["process"])),
        };
        let events = trace["traceEvents"].as_array_mut().map(std::mem::take);
        for mut event in events.unwrap_or_default() {
            event["pid"] = (number(&event["pid"]) + index as u64 * GROUPS).into();
            if let Some(at) = event["ts"].as_f64() {
                event["ts"] = (at + later_us).into();
            }
            let is_name = event["ph"] == "M" && event["args"]["name"].is_string();
            if is_name && let Some(name) = event["args"]["name"].as_str() {
                event["args"]["name"] = format!("{label}{name}").into();
            }
            // Numbers of operations and flows are those of their process.
            for key in ["ticket", "of"] {
                if let Some(ticket) = event["args"][key].as_u64() {
                    event["args"][key] = format!("{index}.{ticket}").into();
                }
            }
            if let Some(id) = event["id"].as_u64() {
                event["id"] = format!("{index}.{id}").into();
            }
            all.push(event);
        }
        if index == 0 {
            merged = trace;
        }
    }
    merged["traceEvents"] = Value::Array(all);
    merged
}

fn read(file: &Path) -> Result<Value> {
    let text = jumar::input_file::read_text(file, MAX_FILE_BYTES)
        .with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))
}

/// Puts the data into the page. A program's names must not end the script that they stand in.
fn page(trace: &Value, findings: &Value) -> String {
    let inert = |value: &Value| value.to_string().replace('<', "\\u003c");
    let (head, rest) = PAGE.split_once("@TRACE@").unwrap_or((PAGE, ""));
    let (middle, tail) = rest.split_once("@FINDINGS@").unwrap_or((rest, ""));
    [head, &inert(trace), middle, &inert(findings), tail].concat()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use serde_json::json;

    fn timeline(rank: Option<u32>, start_ns: u64, at_us: f64) -> Value {
        let mut origin = json!({"process": 7, "startNs": start_ns, "program": "app"});
        if let Some(rank) = rank {
            origin["rank"] = rank.into();
        }
        json!({"otherData": origin, "traceEvents": [
            {"ph": "M", "name": "thread_name", "pid": 2, "tid": 3, "args": {"name": "device 0 / stream 2"}},
            {"ph": "X", "name": "HcclAllReduce", "pid": 2, "tid": 3, "ts": at_us, "dur": 5.0, "args": {"ticket": 9}},
            {"ph": "s", "cat": "event", "id": 4, "pid": 2, "tid": 3, "ts": at_us},
        ]})
    }

    #[test]
    fn timelines_of_processes_are_drawn_on_one_clock() {
        // Rank 1 began 3 µs before rank 0; both reached the operation at the same moment.
        let merged = merge(vec![
            timeline(Some(1), 2_000, 13.0),
            timeline(Some(0), 5_000, 10.0),
        ]);
        let events = merged["traceEvents"].as_array().expect("events");
        let names: Vec<_> = events
            .iter()
            .filter_map(|one| one["args"]["name"].as_str())
            .collect();
        assert_eq!(
            names,
            ["rank 0: device 0 / stream 2", "rank 1: device 0 / stream 2"]
        );
        let slices: Vec<_> = events.iter().filter(|one| one["ph"] == "X").collect();
        assert_eq!(slices[0]["ts"], slices[1]["ts"]);
        assert_ne!(slices[0]["pid"], slices[1]["pid"]);
        assert_ne!(slices[0]["args"]["ticket"], slices[1]["args"]["ticket"]);
        let flows: Vec<_> = events.iter().filter(|one| one["ph"] == "s").collect();
        assert_ne!(flows[0]["id"], flows[1]["id"]);
    }

    #[test]
    fn one_timeline_stays_as_it_is() {
        let only = timeline(None, 5_000, 10.0);
        assert_eq!(merge(vec![only.clone()]), only);
    }

    #[test]
    fn a_timeline_without_a_beginning_cannot_stand_beside_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, trace: &Value| {
            let path = folder.path().join(name);
            fs::write(&path, trace.to_string()).expect("the file is written");
            path
        };
        let new = file("new.json", &timeline(None, 5_000, 10.0));
        let old = file("old.json", &json!({"traceEvents": []}));
        let page = folder.path().join("page.html");
        assert!(write(&[&old], None, &page).is_ok());
        let refused = write(&[&new, &old], None, &page).expect_err("it has no beginning");
        assert!(refused.to_string().contains("old.json"), "{refused}");
    }

    #[test]
    fn names_of_the_program_cannot_end_the_script() {
        let name = "</script><script>alert(1)</script>@FINDINGS@";
        let page = page(&json!({"traceEvents": [{"name": name}]}), &json!([]));
        assert!(!page.contains("alert(1)</script>"));
        assert_eq!(
            page.matches("</script>").count(),
            PAGE.matches("</script>").count()
        );
        assert!(page.contains("<script id=\"found\" type=\"application/json\">[]</script>"));
    }
}
