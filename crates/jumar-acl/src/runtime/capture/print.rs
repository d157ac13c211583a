//! What a captured model looks like, for people: as text, and as a JSON file in the trace event format, which browsers
//! and Perfetto show.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use jumar::engine::{Graph, Span, TaskDescription};
use jumar_types::{Error, ErrorKind, Result};

use crate::generated::enums;
use crate::{Cx, Raw, refuse};

/// Writes the tasks of a model to the standard output, a line a task.
pub fn aclmdlRIDebugPrint(cx: &Cx<'_>, model: Raw) -> Result<()> {
    let graph = cx.graph(model)?;
    if graph.is_capturing() {
        return still_capturing(&graph);
    }
    let mut text = format!("model {} \"{}\"\n", graph.number(), graph.name());
    for task in graph.describe() {
        let number = task.number;
        // A String takes every write.
        let _ = writeln!(
            text,
            "  stream {} task {} (#{number}): {} [{}, {}]{}{}",
            task.stream,
            task.position,
            task.name,
            type_name(&task),
            task.call,
            task.after
                .map_or_else(String::new, |after| format!(" after #{after}")),
            if task.disabled { " disabled" } else { "" }
        );
    }
    print!("{text}");
    Ok(())
}

fn still_capturing(graph: &Graph) -> Result<()> {
    refuse(
        ErrorKind::CaptureOpen,
        format!("model {} is still being captured", graph.number()),
    )
}

fn type_name(task: &TaskDescription) -> &'static str {
    enums::name_of("aclmdlRITaskType", i64::from(super::type_of(task.kind))).unwrap_or("task")
}

/// Writes the tasks of a model to a JSON file.
pub fn aclmdlRIDebugJsonPrint(
    cx: &Cx<'_>,
    model: Raw,
    path: Option<&CStr>,
    flags: u32,
) -> Result<()> {
    let graph = cx.graph(model)?;
    let Some(path) = path else {
        return refuse(ErrorKind::NullPointer, "path is null");
    };
    if flags > 1 {
        return refuse(
            ErrorKind::InvalidValue,
            format!("flags is {flags:#x}; it must be 0 (summary) or 1 (verbose)"),
        );
    }
    if graph.is_capturing() {
        return still_capturing(&graph);
    }
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
    crate::check::is_about_to_be_written(path);
    jumar::output_file::write(path, json(&graph, flags == 1).as_bytes()).map_err(|error| {
        Error::new(
            ErrorKind::InvalidValue,
            format!("{} cannot be written: {error}", path.display()),
        )
        .fix("Name a regular file in a folder that exists and can be written.")
    })
}

/// Makes the file: a list of trace events, one a task, each a microsecond long, in the order of recording.
fn json(graph: &Graph, verbose: bool) -> String {
    let mut text = String::from("[\n");
    let mut first = true;
    for task in graph.describe() {
        if !std::mem::take(&mut first) {
            text.push_str(",\n");
        }
        let mut arguments = format!(
            "\"model_id\":{},\"model_name\":{},\"stream_id\":{},\"task_id\":{},\"task_type\":\"{}\"",
            graph.number(),
            quoted(&graph.name()),
            task.stream,
            task.position,
            type_name(&task)
        );
        if let Some(event) = task.event {
            // A String takes every write.
            let _ = write!(arguments, ",\"event_id\":{event}");
        }
        if let Some(after) = task.after {
            let _ = write!(arguments, ",\"after\":{after}");
        }
        if task.grouped {
            arguments.push_str(",\"in_task_group\":true");
        }
        if let Some(remark) = &task.remark {
            let _ = write!(arguments, ",\"extend_info\":{}", quoted(remark));
        }
        if task.disabled {
            arguments.push_str(",\"disabled\":true");
        }
        if verbose {
            let _ = write!(
                arguments,
                ",\"call\":{},\"reads\":{},\"writes\":{}",
                quoted(task.call),
                spans(&task.reads),
                spans(&task.writes)
            );
        }
        let _ = write!(
            text,
            "{{\"name\":{},\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":1,\"args\":{{{arguments}}}}}",
            quoted(&task.name),
            graph.number(),
            task.stream,
            task.number,
        );
    }
    text.push_str("\n]\n");
    text
}

fn spans(spans: &[Span]) -> String {
    let list: Vec<String> = spans
        .iter()
        .map(|span| {
            format!(
                "{{\"address\":\"{:#x}\",\"bytes\":{}}}",
                span.address(),
                span.bytes()
            )
        })
        .collect();
    format!("[{}]", list.join(","))
}

/// Writes a text as JSON does.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if (control as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
