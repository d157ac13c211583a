//! The timeline's file, read back with a JSON parser that knows nothing of the writer.

use std::collections::BTreeMap;
use std::path::Path;

use jumar_core::{Admission, Op, Phase, Probe, Span, WaitEnd, now_ns};
use jumar_diag::trace::Trace;
use jumar_types::{Error, ErrorKind};
use serde_json::Value;

fn admit(trace: &Trace, ticket: u64, stream: Option<u32>, call: &'static str, op: Op<'_>) {
    let admission = Admission {
        ticket,
        call,
        device: 0,
        stream,
        inner: false,
        at_ns: now_ns(),
        op,
    };
    trace
        .before(&admission)
        .expect("a timeline refuses nothing");
}

fn start(trace: &Trace, ticket: u64) {
    trace.reported(ticket, &Phase::Started, now_ns());
}

fn finish(trace: &Trace, ticket: u64) {
    trace.reported(ticket, &Phase::Finished, now_ns());
}

fn run(trace: &Trace, ticket: u64) {
    start(trace, ticket);
    finish(trace, ticket);
}

fn copy() -> Op<'static> {
    Op::Copy {
        to: Span::EMPTY,
        from: Span::EMPTY,
        direction: "host to device",
    }
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the file is there");
    let trace: Value = serde_json::from_str(&text).expect("the file is complete JSON");
    trace["traceEvents"]
        .as_array()
        .expect("events are a list")
        .clone()
}

fn of_phase<'a>(events: &'a [Value], phase: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["ph"] == phase).collect()
}

fn nanoseconds(value: &Value) -> u64 {
    (value.as_f64().expect("a number") * 1000.0).round() as u64
}

/// Row, start and end of a slice.
fn extent(slice: &Value) -> ((u64, u64), u64, u64) {
    let row = (
        slice["pid"].as_u64().expect("pid"),
        slice["tid"].as_u64().expect("tid"),
    );
    let start = nanoseconds(&slice["ts"]);
    (row, start, start + nanoseconds(&slice["dur"]))
}

fn row_names(events: &[Value]) -> BTreeMap<(u64, u64), String> {
    let rows = events.iter().filter(|event| event["name"] == "thread_name");
    rows.map(|event| {
        let row = (
            event["pid"].as_u64().expect("pid"),
            event["tid"].as_u64().expect("tid"),
        );
        (
            row,
            event["args"]["name"].as_str().expect("a name").to_owned(),
        )
    })
    .collect()
}

/// On each row, two slices either lie apart or one inside the other.
fn assert_nested(events: &[Value]) {
    let mut rows: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for slice in of_phase(events, "X") {
        let (row, start, end) = extent(slice);
        assert!(end > start, "{slice}");
        rows.entry(row).or_default().push((start, end));
    }
    for (row, mut slices) in rows {
        slices.sort_by_key(|(start, end)| (*start, std::cmp::Reverse(*end)));
        let mut around: Vec<u64> = Vec::new();
        for (start, end) in slices {
            while around.last().is_some_and(|outer| *outer <= start) {
                around.pop();
            }
            assert!(
                around.last().is_none_or(|outer| end <= *outer),
                "row {row:?}: a slice is cut by another's end"
            );
            around.push(end);
        }
    }
}

/// Every flow has two ends, each inside a slice of its row, and points forward.
fn assert_flows(events: &[Value]) {
    let slices: Vec<_> = of_phase(events, "X").into_iter().map(extent).collect();
    let location = |end: &Value| {
        let row = (
            end["pid"].as_u64().expect("pid"),
            end["tid"].as_u64().expect("tid"),
        );
        let at = nanoseconds(&end["ts"]);
        assert!(
            slices
                .iter()
                .any(|(other, start, stop)| *other == row && *start <= at && at < *stop),
            "no slice around {end}"
        );
        at
    };
    let ends = of_phase(events, "f");
    for from in of_phase(events, "s") {
        let to = ends
            .iter()
            .find(|end| end["id"] == from["id"])
            .expect("a flow has two ends");
        assert!(location(from) <= location(to), "{from} {to}");
    }
    assert_eq!(of_phase(events, "s").len(), ends.len());
}

fn in_a_folder(test: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    test(&folder.path().join("out.json"));
}

#[test]
fn an_empty_timeline_is_a_complete_file() {
    in_a_folder(|path| {
        let _trace = Trace::create(path, "a \"program\"").expect("made");
        assert!(
            read(path)
                .iter()
                .any(|event| event["name"] == "process_name")
        );
    });
}

#[test]
fn two_streams_and_an_event_have_rows_slices_and_flows() {
    in_a_folder(|path| {
        let trace = Trace::create(path, "program").expect("made");
        admit(
            &trace,
            1,
            None,
            "aclrtMalloc",
            Op::Allocate {
                span: Span::EMPTY,
                device: Some(0),
            },
        );
        admit(&trace, 2, Some(3), "aclrtMemcpyAsync", copy());
        admit(
            &trace,
            3,
            Some(3),
            "aclrtRecordEvent",
            Op::Record {
                event: 7,
                record: 21,
            },
        );
        admit(
            &trace,
            4,
            Some(5),
            "aclrtStreamWaitEvent",
            Op::Wait {
                event: 7,
                record: 21,
                ends: WaitEnd::Newest,
            },
        );
        admit(
            &trace,
            5,
            Some(5),
            "aclmdlExecuteAsync",
            Op::Launch {
                name: "digits",
                reads: &[],
                writes: &[],
            },
        );
        start(&trace, 4);
        run(&trace, 2);
        run(&trace, 3);
        finish(&trace, 4);
        admit(
            &trace,
            6,
            Some(5),
            "aclrtSynchronizeStream",
            Op::WaitForStream,
        );
        start(&trace, 6);
        run(&trace, 5);
        finish(&trace, 6);
        trace.flush().expect("written");

        let events = read(path);
        let names = row_names(&events);
        let slice = |row: &str, name: &str| {
            of_phase(&events, "X")
                .into_iter()
                .find(|slice| slice["name"] == name && names[&extent(slice).0] == row)
                .unwrap_or_else(|| panic!("no slice {name} on {row}"))
        };
        let host = names
            .values()
            .find(|name| name.starts_with("thread 1"))
            .expect("a row of the host")
            .clone();
        slice("device 0 / stream 3", "copy host to device 0 B");
        let record = slice("device 0 / stream 3", "record event 7");
        let wait = slice("device 0 / stream 5", "wait for event 7");
        assert_eq!(
            slice("device 0 / stream 5", "digits")["args"]["call"],
            "aclmdlExecuteAsync"
        );
        assert_eq!(slice(&host, "aclrtMemcpyAsync")["args"]["queued"], true);
        let synchronize = slice(&host, "aclrtSynchronizeStream");
        assert_eq!(synchronize["args"]["stream"], 5);
        assert!(extent(synchronize).2 > extent(slice("device 0 / stream 5", "digits")).1);

        let flow = of_phase(&events, "s")
            .into_iter()
            .find(|flow| flow["name"] == "event")
            .expect("record to wait");
        assert_eq!(nanoseconds(&flow["ts"]), extent(record).1);
        let end = of_phase(&events, "f")
            .into_iter()
            .find(|end| end["id"] == flow["id"])
            .expect("its end");
        assert_eq!(
            (end["pid"].as_u64(), end["tid"].as_u64()),
            (wait["pid"].as_u64(), wait["tid"].as_u64())
        );
        assert_eq!(end["bp"], "e");
        // Four calls that queued a task each have a flow to it.
        assert_eq!(
            of_phase(&events, "s")
                .into_iter()
                .filter(|flow| flow["name"] == "queue")
                .count(),
            4
        );
        assert_nested(&events);
        assert_flows(&events);
    });
}

#[test]
fn a_wait_for_whichever_record_comes_points_at_the_one_that_came() {
    in_a_folder(|path| {
        let trace = Trace::create(path, "program").expect("made");
        admit(
            &trace,
            1,
            Some(1),
            "wait",
            Op::Wait {
                event: 4,
                record: 0,
                ends: WaitEnd::Taken,
            },
        );
        start(&trace, 1);
        admit(
            &trace,
            2,
            Some(2),
            "record",
            Op::Record {
                event: 4,
                record: 9,
            },
        );
        run(&trace, 2);
        finish(&trace, 1);
        trace.flush().expect("written");
        let events = read(path);
        assert!(
            of_phase(&events, "s")
                .iter()
                .any(|flow| flow["name"] == "event")
        );
        assert_flows(&events);
    });
}

#[test]
fn an_interval_open_at_one_flush_is_complete_at_the_next() {
    in_a_folder(|path| {
        let trace = Trace::create(path, "program").expect("made");
        admit(
            &trace,
            1,
            Some(1),
            "launch",
            Op::Launch {
                name: "long",
                reads: &[],
                writes: &[],
            },
        );
        admit(
            &trace,
            2,
            Some(1),
            "launch",
            Op::Launch {
                name: "next",
                reads: &[],
                writes: &[],
            },
        );
        start(&trace, 1);
        for _ in 0..2 {
            trace.flush().expect("written");
            let events = read(path);
            let long = of_phase(&events, "X")
                .into_iter()
                .find(|slice| slice["name"] == "long")
                .expect("shown");
            assert_eq!(long["args"]["unfinished"], true);
            let pending = of_phase(&events, "i");
            assert_eq!(pending.len(), 1);
            assert_eq!(pending[0]["name"], "not started: next");
        }
        finish(&trace, 1);
        run(&trace, 2);
        drop(trace);
        let events = read(path);
        let long: Vec<_> = of_phase(&events, "X")
            .into_iter()
            .filter(|slice| slice["name"] == "long")
            .collect();
        assert_eq!(long.len(), 1);
        assert!(long[0]["args"]["unfinished"].is_null());
        assert!(of_phase(&events, "i").is_empty());
        assert_nested(&events);
    });
}

#[test]
fn a_failed_task_carries_its_error() {
    in_a_folder(|path| {
        let trace = Trace::create(path, "program").expect("made");
        admit(
            &trace,
            1,
            Some(1),
            "launch",
            Op::Launch {
                name: "Add",
                reads: &[],
                writes: &[],
            },
        );
        start(&trace, 1);
        trace.reported(
            1,
            &Phase::Failed(Error::new(ErrorKind::KernelFailed, "Add failed")),
            now_ns(),
        );
        trace.flush().expect("written");
        let events = read(path);
        let add = of_phase(&events, "X")
            .into_iter()
            .find(|slice| slice["name"] == "Add")
            .expect("shown")
            .clone();
        assert_eq!(add["args"]["error"], "Add failed");
        assert_eq!(of_phase(&events, "i")[0]["name"], "failed: Add failed");
    });
}

#[test]
fn many_events_from_many_threads_stay_complete_and_nested() {
    const THREADS: u64 = 4;
    const EACH: u64 = 5_000;
    in_a_folder(|path| {
        let trace = Trace::create(path, "program").expect("made");
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let trace = &trace;
                scope.spawn(move || {
                    for i in 0..EACH {
                        let ticket = 1 + i * THREADS + thread;
                        admit(trace, ticket, Some(thread as u32), "copy", copy());
                        run(trace, ticket);
                    }
                });
            }
        });
        trace.flush().expect("written");
        let events = read(path);
        let copies = of_phase(&events, "X")
            .into_iter()
            .filter(|slice| slice["args"]["queued"].is_null())
            .count();
        assert_eq!(copies as u64, THREADS * EACH);
        assert_nested(&events);
    });
}

#[test]
fn a_file_that_cannot_be_written_is_refused_with_a_sentence() {
    let refused = Trace::create(Path::new("/no/such/folder/out.json"), "program")
        .err()
        .expect("refused");
    assert_eq!(refused.kind(), ErrorKind::InvalidFile);
    assert!(
        refused
            .to_string()
            .starts_with("the timeline /no/such/folder/out.json cannot be written: "),
        "{refused}"
    );
    let refused = Trace::create(Path::new("/dev/null"), "program")
        .err()
        .expect("refused");
    assert!(
        refused
            .to_string()
            .contains("only regular files are written"),
        "{refused}"
    );
}

#[test]
fn a_timeline_leaves_another_ones_file_alone() {
    in_a_folder(|path| {
        let first = Trace::create(path, "first").expect("made");
        let second = Trace::create(path, "second").expect("made");
        assert_eq!(first.path(), path);
        assert_eq!(second.path(), path.with_file_name("out.2.json"));
        drop(first);
        // The name is free again.
        assert_eq!(Trace::create(path, "third").expect("made").path(), path);
    });
}
