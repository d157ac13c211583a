//! Events of a timeline in words: the JSON of the trace event format.
//!
//! # Source
//! "Trace Event Format", the public description of what `chrome://tracing` and Perfetto read.

use std::fmt::Write;

use super::collect::{Event, Extent, Flow, Operator, RowPosition, Slice, Track, What};

/// The host's row group. Devices follow; these are labels for the viewer, not process ids of the system.
const HOST: u32 = 1;

/// What a timeline says of the process that writes it.
pub(super) struct Origin<'a> {
    pub(super) program: &'a str,
    pub(super) process: u32,
    /// The rank that the launcher of a distributed program gave the process.
    pub(super) rank: Option<u32>,
    /// The moment 0 of the timeline on the clock that all processes of the machine share.
    pub(super) start_ns: u64,
}

/// Opens the file: who wrote it, and the host's row group.
pub(super) fn header(origin: &Origin<'_>) -> String {
    let Origin {
        program, process, ..
    } = origin;
    let rank = origin
        .rank
        .map_or(String::new(), |rank| format!(",\"rank\":{rank}"));
    let mut text = format!(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"producer\":\"Jumar {}\",\"program\":{},\"process\":{process}{rank},\
         \"startNs\":{},\"times\":\
         \"Times of this machine's processors running Jumar, not of an Ascend card.\"}},\"traceEvents\":[\n",
        env!("CARGO_PKG_VERSION"),
        quoted(program),
        origin.start_ns
    );
    name_group(
        &mut text,
        HOST,
        &format!("host: {program} (process {process})"),
        0,
    );
    // Every later event brings the comma before it.
    text.replacen("[\n,\n", "[\n", 1)
}

/// Appends one event.
pub(super) fn write(event: &Event, out: &mut String) {
    match event {
        Event::HostThread { thread, name } => {
            let label = if name.is_empty() {
                format!("thread {thread}")
            } else {
                format!("thread {thread}: {name}")
            };
            name_row(out, HOST, *thread, &label, *thread);
        }
        Event::Device(device) => {
            name_group(out, group(*device), &format!("device {device}"), device + 1)
        }
        Event::Stream { device, stream } => {
            name_row(
                out,
                group(*device),
                stream + 1,
                &format!("device {device} / stream {stream}"),
                *stream,
            );
        }
        Event::Slice(slice) => write_slice(slice, out),
        Event::Operator(operator) => write_operator(operator, out),
        Event::NotStarted(pending) => {
            let (group, row) = ids(pending.location.track);
            begin(
                out,
                "i",
                &format!("not started: {}", pending.what.name()),
                group,
                row,
                pending.location.at_ns,
            );
            let _ = write!(
                out,
                ",\"s\":\"t\",\"args\":{{\"call\":{},\"ticket\":{}",
                quoted(pending.call),
                pending.ticket
            );
            pending.what.arguments(out);
            out.push_str("}}");
        }
        Event::Flow(flow) => write_flow(flow, out),
        Event::Memory {
            device,
            at_ns,
            bytes,
        } => {
            let (group, name) = match device {
                Some(device) => (group(*device), "device memory allocated"),
                None => (HOST, "pinned host memory allocated"),
            };
            begin(out, "C", name, group, 0, *at_ns);
            let _ = write!(out, ",\"args\":{{\"bytes\":{bytes}}}}}");
        }
    }
}

fn write_slice(slice: &Slice, out: &mut String) {
    let (group, row) = ids(slice.track);
    let name = match slice.track {
        // A thread's row reads as the program does; a stream's row as what the device did.
        Track::Host(_) => slice.call.to_owned(),
        Track::Stream { .. } => slice.what.name(),
    };
    begin(out, "X", &name, group, row, slice.start_ns);
    let _ = write!(
        out,
        ",\"dur\":{}",
        Microseconds(slice.end_ns - slice.start_ns)
    );
    if slice.error.is_some() {
        out.push_str(",\"cname\":\"terrible\"");
    }
    let _ = write!(
        out,
        ",\"args\":{{\"call\":{},\"ticket\":{}",
        quoted(slice.call),
        slice.ticket
    );
    slice.what.arguments(out);
    match slice.extent {
        Extent::Complete => {}
        // Memory is had and given back at once; the gate does not see for how long.
        Extent::Mark if matches!(slice.what, What::Allocate { .. } | What::Free { .. }) => {}
        Extent::Mark => out.push_str(",\"queued\":true"),
        Extent::GoesOn => out.push_str(",\"unfinished\":true"),
    }
    if let Some(error) = &slice.error {
        let _ = write!(out, ",\"error\":{}", quoted(error));
    }
    out.push_str("}}");
    if let Some(error) = &slice.error {
        begin(
            out,
            "i",
            &format!("failed: {error}"),
            group,
            row,
            slice.end_ns,
        );
        out.push_str(",\"s\":\"t\"}");
    }
}

fn write_operator(one: &Operator, out: &mut String) {
    let (group, row) = ids(one.track);
    begin(out, "X", &one.operator, group, row, one.start_ns);
    let _ = write!(
        out,
        ",\"dur\":{},\"args\":{{\"node\":{},\"of\":{}}}}}",
        Microseconds(one.end_ns - one.start_ns),
        quoted(&one.node),
        one.of
    );
}

fn write_flow(flow: &Flow, out: &mut String) {
    let mut end = |phase: &str, location: RowPosition, extra: &str| {
        let (group, row) = ids(location.track);
        begin(out, phase, flow.kind, group, row, location.at_ns);
        let _ = write!(
            out,
            ",\"cat\":\"{}\",\"id\":{}{extra}}}",
            flow.kind, flow.id
        );
    };
    end("s", flow.from, "");
    // Bound to the slice around it; the format's own rule is the next slice that begins.
    end("f", flow.to, ",\"bp\":\"e\"");
}

impl What {
    fn name(&self) -> String {
        match self {
            What::Copy {
                bytes, direction, ..
            } => format!("copy {direction} {}", Size(*bytes)),
            What::Fill { bytes, .. } => format!("fill {}", Size(*bytes)),
            What::Record { event, .. } => format!("record event {event}"),
            What::Wait { event, .. } => format!("wait for event {event}"),
            What::ResetEvent { event } => format!("reset event {event}"),
            What::Launch { name, .. } => name.to_string(),
            What::Callback { .. } => "hand over callback".to_owned(),
            What::WaitForStream { stream } => format!("wait for stream {stream}"),
            What::WaitForEvent { event, .. } => format!("wait for event {event}"),
            What::WaitForContext => "wait for all streams".to_owned(),
            What::Allocate { bytes } => format!("allocate {}", Size(*bytes)),
            What::Free { bytes } => format!("free {}", Size(*bytes)),
            What::Other => "operation".to_owned(),
        }
    }

    fn arguments(&self, out: &mut String) {
        let _ = write!(out, ",\"operation\":{}", quoted(&self.name()));
        let _ = match self {
            What::Copy {
                bytes,
                to,
                from,
                direction,
            } => {
                write!(
                    out,
                    ",\"bytes\":{bytes},\"direction\":\"{direction}\",\"to\":\"{to:#x}\",\"from\":\"{from:#x}\""
                )
            }
            What::Fill { bytes, to } => write!(out, ",\"bytes\":{bytes},\"to\":\"{to:#x}\""),
            What::Record { event, record }
            | What::Wait { event, record }
            | What::WaitForEvent { event, record } => {
                write!(out, ",\"event\":{event},\"record\":{record}")
            }
            What::ResetEvent { event } => write!(out, ",\"event\":{event}"),
            What::Launch { reads, writes, .. } => {
                write!(out, ",\"bytes_read\":{reads},\"bytes_written\":{writes}")
            }
            What::Callback { blocks } => write!(out, ",\"blocks\":{blocks}"),
            What::WaitForStream { stream } => write!(out, ",\"stream\":{stream}"),
            What::Allocate { bytes } | What::Free { bytes } => write!(out, ",\"bytes\":{bytes}"),
            What::WaitForContext | What::Other => Ok(()),
        };
    }
}

fn group(device: u32) -> u32 {
    HOST + 1 + device
}

fn ids(track: Track) -> (u32, u32) {
    match track {
        Track::Host(thread) => (HOST, thread),
        Track::Stream { device, stream } => (group(device), stream + 1),
    }
}

fn name_group(out: &mut String, group: u32, name: &str, rank: u32) {
    metadata(out, "process_name", group, 0, "name", &quoted(name));
    metadata(
        out,
        "process_sort_index",
        group,
        0,
        "sort_index",
        &rank.to_string(),
    );
}

fn name_row(out: &mut String, group: u32, row: u32, name: &str, rank: u32) {
    metadata(out, "thread_name", group, row, "name", &quoted(name));
    metadata(
        out,
        "thread_sort_index",
        group,
        row,
        "sort_index",
        &rank.to_string(),
    );
}

fn metadata(out: &mut String, what: &str, group: u32, row: u32, key: &str, value: &str) {
    let _ = write!(
        out,
        ",\n{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{group},\"tid\":{row},\"args\":{{\"{key}\":{value}}}}}"
    );
}

fn begin(out: &mut String, phase: &str, name: &str, group: u32, row: u32, at_ns: u64) {
    let _ = write!(
        out,
        ",\n{{\"ph\":\"{phase}\",\"name\":{},\"pid\":{group},\"tid\":{row},\"ts\":{}",
        quoted(name),
        Microseconds(at_ns)
    );
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Nanoseconds, printed in the format's unit without loss.
struct Microseconds(u64);

impl std::fmt::Display for Microseconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// A number of bytes for people.
struct Size(u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match UNITS.iter().find(|(unit, _)| self.0 >= *unit) {
            None => write!(f, "{} B", self.0),
            Some((unit, name)) if self.0.is_multiple_of(*unit) => {
                write!(f, "{} {name}", self.0 / unit)
            }
            Some((unit, name)) => write!(f, "{:.1} {name}", self.0 as f64 / *unit as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Microseconds, Size, quoted};

    #[test]
    fn sizes_and_times_read_well() {
        assert_eq!(Size(640).to_string(), "640 B");
        assert_eq!(Size(4096).to_string(), "4 KiB");
        assert_eq!(Size(3 << 19).to_string(), "1.5 MiB");
        assert_eq!(Microseconds(1_002_003).to_string(), "1002.003");
        assert_eq!(quoted("a \"b\"\n"), "\"a \\\"b\\\"\\n\"");
    }
}
