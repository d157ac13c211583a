//! The timeline of a real run, from the facade down to the workers, read back with a JSON parser.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::mpsc;

use jumar::{DeviceBuffer, PinnedBuffer, Profile, Runtime, Settings};
use serde_json::Value;

fn traced(path: &Path) -> Runtime {
    let profile = Profile {
        memory_bytes: 64 << 20,
        ..Settings::default().profile
    };
    Runtime::with(&Settings {
        profile,
        trace: Some(path.to_owned()),
        ..Settings::default()
    })
    .expect("a runtime")
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the file is there");
    let trace: Value = serde_json::from_str(&text).expect("the file is complete JSON");
    trace["traceEvents"]
        .as_array()
        .expect("events are a list")
        .clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_run_with_two_streams_has_rows_slices_flows_and_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.json");
    let runtime = traced(&path);
    let context = runtime
        .device(0)
        .and_then(|device| device.context())
        .expect("a context");
    let (up, down) = (
        context.stream().expect("a stream"),
        context.stream().expect("a stream"),
    );
    let buffer = DeviceBuffer::<u8>::new(&context, 8192).expect("memory");
    let event = context.event().expect("an event");

    let (release, held) = mpsc::channel::<()>();
    let wait = move || {
        let _released = held.recv();
    };
    up.call(wait).expect("queued");
    let pending = up
        .upload(
            PinnedBuffer::from_slice(&runtime, &[1u8; 8192]).expect("memory"),
            &buffer,
        )
        .expect("queued");
    up.record(&event).expect("queued");
    down.wait(&event, None).expect("queued");

    // Held: the file is complete, and shows what is queued.
    jumar::trace_flush();
    let not_started = read(&path);
    assert!(
        not_started
            .iter()
            .any(|event| event["name"] == "not started: copy host to device 8 KiB")
    );

    drop(release);
    assert_eq!(down.read(&buffer).expect("read"), [1; 8192]);
    event.synchronize(None).expect("reached");
    let pinned = pending.wait().expect("done");
    drop((pinned, buffer));
    let (up, down) = (up.number(), down.number());
    drop((event, context));
    jumar::trace_flush();
    jumar::trace_flush();

    let events = read(&path);
    let row = |stream: u32| {
        let name = format!("device 0 / stream {stream}");
        let named = events
            .iter()
            .find(|event| event["name"] == "thread_name" && event["args"]["name"] == name.as_str());
        let named = named.unwrap_or_else(|| panic!("no row {name}"));
        (named["pid"].clone(), named["tid"].clone())
    };
    let slices = |row: &(Value, Value)| -> Vec<&Value> {
        let on_row = |event: &&Value| {
            event["ph"] == "X" && (event["pid"].clone(), event["tid"].clone()) == *row
        };
        let mut slices: Vec<_> = events.iter().filter(on_row).collect();
        slices.sort_by(|a, b| number(&a["ts"]).total_cmp(&number(&b["ts"])));
        slices
    };
    let names = |row| {
        slices(row)
            .iter()
            .map(|slice| slice["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let (up, down) = (row(up), row(down));
    let upload = [
        "hand over callback",
        "copy host to device 8 KiB",
        "record event 1",
    ];
    assert_eq!(names(&up), upload);
    assert_eq!(
        names(&down),
        ["wait for event 1", "copy device to host 8 KiB"]
    );
    let copy = slices(&up)[1];
    assert_eq!(copy["args"]["call"], "jumar::Stream::upload");
    assert_eq!(
        (&copy["args"]["bytes"], &copy["args"]["direction"]),
        (&Value::from(8192), &Value::from("host to device"))
    );

    // On the streams' rows nothing overlaps, and the wait ends after the record.
    for row in [&up, &down] {
        for pair in slices(row).windows(2) {
            // Times are whole nanoseconds in microseconds; half of one covers what is lost in a sum.
            assert!(
                number(&pair[0]["ts"]) + number(&pair[0]["dur"]) <= number(&pair[1]["ts"]) + 0.0005,
                "{pair:?}"
            );
        }
    }
    let flows: BTreeMap<String, [&Value; 2]> = events
        .iter()
        .filter(|event| event["ph"] == "s" && event["name"] == "event")
        .map(|from| {
            let to = events
                .iter()
                .find(|event| event["ph"] == "f" && event["id"] == from["id"]);
            (
                from["id"].to_string(),
                [from, to.expect("a flow has two ends")],
            )
        })
        .collect();
    let ends: Vec<_> = flows
        .values()
        .map(|[from, to]| {
            (
                from["tid"] == up.1,
                to["pid"] == down.0,
                to["tid"] == down.1,
            )
        })
        .collect();
    // One to the waiting stream, one to the waiting host, both from the record.
    assert_eq!(ends.len(), 2);
    assert!(ends.contains(&(true, true, true)), "{flows:?}");
    assert!(
        ends.iter()
            .any(|(from_up, to_device, _)| *from_up && !to_device),
        "{flows:?}"
    );

    let calls: BTreeSet<&str> = events
        .iter()
        .filter(|event| event["ph"] == "X" && event["pid"] != up.0)
        .map(|event| event["name"].as_str().expect("a name"))
        .collect();
    for call in [
        "jumar::Stream::call",
        "jumar::Stream::record",
        "jumar::Stream::wait",
        "jumar::Stream::read",
        "jumar::Event::synchronize",
        "jumar::Pending::wait",
    ] {
        assert!(calls.contains(call), "{call} is not among {calls:?}");
    }

    for (counter, most) in [
        ("device memory allocated", 8192),
        ("pinned host memory allocated", 16384),
    ] {
        let values: Vec<u64> = events
            .iter()
            .filter(|event| event["ph"] == "C" && event["name"] == counter)
            .map(|event| event["args"]["bytes"].as_u64().expect("bytes"))
            .collect();
        assert_eq!(values.iter().max(), Some(&most), "{counter}");
        assert_eq!(values.last(), Some(&0), "{counter}");
    }
}

#[test]
fn a_timeline_is_complete_when_its_runtime_is_gone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.json");
    let runtime = traced(&path);
    let context = runtime
        .device(0)
        .and_then(|device| device.context())
        .expect("a context");
    let stream = context.stream().expect("a stream");
    let buffer = DeviceBuffer::<u8>::new(&context, 16).expect("memory");
    for value in 0..20_000u32 {
        stream.fill(&buffer, value as u8).expect("queued");
    }
    drop((runtime, context, stream, buffer));
    let events = read(&path);
    let fills = events
        .iter()
        .filter(|event| event["ph"] == "X" && event["name"] == "fill 16 B")
        .count();
    assert_eq!(fills, 20_000);
}
