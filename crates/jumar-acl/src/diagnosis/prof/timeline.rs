//! The timeline of a profile, in the layout that the vendor's tools export: a list of trace events whose times are
//! microseconds since 1970, as text, because a float has too few digits for them.
//!
//! The host is one process with a row for each thread. Each device is a process with a row for each stream, and a second
//! one whose rows show when it computed, communicated or had nothing to run. A flow event named `HostToDevice` goes from
//! the call that queued a task to the task.
//!
//! # Source
//! "Trace Event Format", the public description of what `chrome://tracing` and Perfetto read. The category of the flow
//! events, the labels of devices and the names of the rows of their second process are those that the parser of PyTorch's
//! adapter looks for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::collect::{Call, Rows, Task};
use super::output::Time;

/// The begin and the end of something, in nanoseconds.
type Interval = (u64, u64);

/// Returns the timeline of a profile as JSON. `process` is the process that took it.
pub(super) fn text(rows: &Rows, time: Time, process: u32) -> String {
    let mut timeline = Timeline {
        time,
        process,
        events: Vec::new(),
    };
    let calls = timeline.add_calls(rows);
    timeline.add_tasks(rows, &calls);
    timeline.add_use(&rows.tasks);
    let mut text = String::from("[\n");
    for (index, event) in timeline.events.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { ",\n" });
        text.push_str(&event.to_string());
    }
    text.push_str("\n]\n");
    text
}

/// The calls of each function in the order of their begin.
type Calls<'a> = HashMap<&'static str, Vec<&'a Call>>;

struct Timeline {
    time: Time,
    process: u32,
    events: Vec<Value>,
}

impl Timeline {
    /// Returns the number of a row group. Viewers show it as a process; it cannot be the number of a process of the system.
    fn group(&self, index: u32) -> u64 {
        (u64::from(self.process) << 10) | u64::from(index)
    }

    fn device(&self, device: u32) -> u64 {
        self.group(1 + 2 * device)
    }

    fn add_metadata(&mut self, name: &str, group: u64, row: u32, arguments: Value) {
        self.events
            .push(json!({"name": name, "ph": "M", "pid": group, "tid": row, "args": arguments}));
    }

    fn add_group(&mut self, group: u64, name: &str, label: &str, rank: u32) {
        self.add_metadata("process_name", group, 0, json!({ "name": name }));
        self.add_metadata("process_labels", group, 0, json!({ "labels": label }));
        self.add_metadata(
            "process_sort_index",
            group,
            0,
            json!({ "sort_index": rank }),
        );
    }

    fn add_row(&mut self, group: u64, row: u32, name: &str) {
        self.add_metadata("thread_name", group, row, json!({ "name": name }));
        self.add_metadata(
            "thread_sort_index",
            group,
            row,
            json!({ "sort_index": row }),
        );
    }

    fn add_slice(
        &mut self,
        name: &str,
        (group, row): (u64, u32),
        (start, end): Interval,
        arguments: Value,
    ) {
        let duration = end.saturating_sub(start) as f64 / 1e3;
        self.events.push(json!({
            "name": name, "ph": "X", "pid": group, "tid": row, "ts": self.time.us(start), "dur": duration, "args": arguments,
        }));
    }

    /// Adds the calls and the marks of the program.
    fn add_calls<'a>(&mut self, rows: &'a Rows) -> Calls<'a> {
        let host = self.group(0);
        self.add_group(host, "CANN", "CPU", 0);
        let threads = rows.calls.iter().map(|call| call.thread);
        let threads: BTreeSet<u32> = threads
            .chain(rows.marks.iter().map(|mark| mark.thread))
            .collect();
        for thread in threads {
            self.add_row(host, thread, &format!("Thread {thread}"));
        }
        let mut calls = Calls::new();
        for call in &rows.calls {
            let times = (call.start_ns, call.end_ns);
            self.add_slice(
                &format!("AscendCL@{}", call.name),
                (host, call.thread),
                times,
                json!({}),
            );
            calls.entry(call.name).or_default().push(call);
        }
        for mark in &rows.marks {
            let times = (mark.start_ns, mark.end_ns);
            self.add_slice(
                &mark.message,
                (host, mark.thread),
                times,
                json!({"event_type": mark.kind}),
            );
        }
        for calls in calls.values_mut() {
            calls.sort_by_key(|call| call.start_ns);
        }
        calls
    }

    /// Adds the tasks of the devices, the operators of models inside them, and the flow events from calls.
    fn add_tasks(&mut self, rows: &Rows, calls: &Calls<'_>) {
        let mut streams: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for task in &rows.tasks {
            streams.entry(task.device).or_default().insert(row(task));
        }
        for (device, streams) in streams {
            let group = self.device(device);
            self.add_group(
                group,
                "Ascend Hardware (Jumar, a software device)",
                &format!("NPU {device}"),
                1 + 2 * device,
            );
            for stream in streams {
                self.add_row(group, stream, &format!("Stream {stream}"));
            }
        }
        for task in &rows.tasks {
            let position = (self.device(task.device), row(task));
            let arguments = json!({
                "Task Type": task.kind, "Stream Id": task.stream, "Task Id": task.number, "call": task.call, "failed": task.failed,
            });
            self.add_slice(
                &task.name,
                position,
                (task.start_ns, task.end_ns),
                arguments,
            );
            if task.stream.is_none() {
                continue;
            }
            // A call that is not among the rows has no row of its own; the flow event begins in the first row then.
            let thread = calls
                .get(task.call)
                .and_then(|calls| around(calls, task.queued_ns))
                .map_or(self.process, |call| call.thread);
            let host = self.group(0);
            let mut end = |phase: &str, (group, row): (u64, u32), at_ns| {
                let mut event = json!({
                    "name": "HostToDevice", "cat": "HostToDevice", "ph": phase, "id": task.number, "pid": group, "tid": row,
                    "ts": self.time.us(at_ns),
                });
                // Bound to the slice around it; the format's own rule is the next slice that begins.
                if phase == "f" {
                    event["bp"] = "e".into();
                }
                self.events.push(event);
            };
            end("s", (host, thread), task.queued_ns);
            end("f", position, task.start_ns);
        }
        for one in &rows.operators {
            let arguments = json!({"Task Type": "OPERATOR", "Op Name": one.name, "Model Id": one.model, "Stream Id": one.stream});
            self.add_slice(
                &one.operator,
                (self.device(one.device), one.stream),
                (one.start_ns, one.end_ns),
                arguments,
            );
        }
    }

    /// Adds what each device was used for.
    fn add_use(&mut self, tasks: &[Task]) {
        let devices: BTreeSet<u32> = tasks.iter().map(|task| task.device).collect();
        for device in devices {
            let of = |kind: fn(&Task) -> bool| {
                let tasks = tasks
                    .iter()
                    .filter(|task| task.device == device && kind(task));
                union(tasks.map(|task| (task.start_ns, task.end_ns)).collect())
            };
            let communicating = of(is_collective);
            let computing = of(|task| task.kind == "KERNEL" && !is_collective(task));
            let busy = union([&computing[..], &communicating].concat());
            let (Some(first), Some(last)) = (busy.first(), busy.last()) else {
                continue;
            };
            let free = difference(&[(first.0, last.1)], &busy);
            let alone = difference(&communicating, &computing);
            let group = self.group(2 + 2 * device);
            self.add_group(
                group,
                "Overlap Analysis",
                &format!("NPU {device}"),
                2 + 2 * device,
            );
            let rows = [
                ("Communication", &communicating),
                ("Communication(Not Overlapped)", &alone),
                ("Computing", &computing),
                ("Free", &free),
            ];
            for ((name, intervals), row) in rows.into_iter().zip(0..) {
                self.add_row(group, row, name);
                for interval in intervals {
                    self.add_slice(name, (group, row), *interval, json!({}));
                }
            }
        }
    }
}

/// Returns the row of a task. Work that was done at once has the row of stream 0, which no stream of a program has.
fn row(task: &Task) -> u32 {
    task.stream.unwrap_or(0)
}

/// Returns whether a task is a collective operation.
pub(super) fn is_collective(task: &Task) -> bool {
    task.call.starts_with("Hccl")
}

/// Returns the call that was running at a time. `calls` are in the order of their begin.
fn around<'a>(calls: &[&'a Call], at_ns: u64) -> Option<&'a Call> {
    let begun = calls.partition_point(|call| call.start_ns <= at_ns);
    // Calls of several threads overlap: the last one that began may have ended.
    calls[..begun]
        .iter()
        .rev()
        .take(64)
        .find(|call| at_ns <= call.end_ns)
        .copied()
}

/// Returns what any of the intervals covers, in order and apart.
fn union(mut intervals: Vec<Interval>) -> Vec<Interval> {
    intervals.sort_unstable();
    let mut covered: Vec<Interval> = Vec::new();
    for (start, end) in intervals {
        match covered.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => covered.push((start, end)),
        }
    }
    covered
}

/// Returns what `from` covers and `other` does not. Both are in order and apart.
fn difference(from: &[Interval], other: &[Interval]) -> Vec<Interval> {
    let mut left = Vec::new();
    let mut others = other.iter().peekable();
    for &(mut start, end) in from {
        while others.next_if(|other| other.1 <= start).is_some() {}
        for &(from, to) in others.clone().take_while(|other| other.0 < end) {
            if start < from {
                left.push((start, from));
            }
            start = to;
        }
        if start < end {
            left.push((start, end));
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::{difference, union};

    #[test]
    fn intervals_that_touch_or_overlap_are_one() {
        let given = vec![(5, 9), (1, 3), (2, 4), (9, 10), (12, 13)];
        assert_eq!(union(given), [(1, 4), (5, 10), (12, 13)]);
        assert_eq!(union(Vec::new()), []);
    }

    #[test]
    fn a_difference_is_what_no_other_interval_covers() {
        let all = [(0, 10), (20, 30)];
        assert_eq!(difference(&all, &[]), all);
        assert_eq!(difference(&all, &[(0, 30)]), []);
        assert_eq!(
            difference(&all, &[(2, 4), (6, 25), (28, 40)]),
            [(0, 2), (4, 6), (25, 28)]
        );
        assert_eq!(difference(&[(0, 4)], &[(4, 5)]), [(0, 4)]);
    }
}
