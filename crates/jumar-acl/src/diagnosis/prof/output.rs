//! The folder of a profile, in the layout that the vendor's tools export to: tables and a timeline in one folder, and one
//! folder a device and one for the host beside it, which say where the figures come from.
//!
//! `host/data` keeps a second copy of the tables and the timeline: tools delete what was exported and call
//! `msprof --export=on`, which copies them again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use jumar::engine::now_ns;
use jumar::output_file;
use serde_json::json;

use super::collect::{Moment, Operator, Rows, Session, Step, Task};
use super::timeline;

/// The folder of tables and the timeline.
pub(super) const TABLES: &str = "mindstudio_profiler_output";
/// The folder from which `msprof --export=on` copies the tables; the command has the same path.
const KEPT: &str = "host/data/tables";
/// What stands where the vendor's tools name the kind of core: no table may be read as one of a card.
const CORE: &str = "Jumar CPU";

const README: &str = "\
This profile was taken by Jumar, a software device: every time in it is that of a processor of this machine, not of a card.

msprof_*.json          the timeline, for https://ui.perfetto.dev or chrome://tracing
op_summary_*.csv       each operator and kernel that ran
op_statistic_*.csv     the same, by type
task_time_*.csv        each task of a stream
step_trace_*.csv       steps marked with aclprofGetStepTimestamp
api_statistic_*.csv    calls of the program, by function
msprof_tx_*.csv        the program's own marks
";

/// Makes the folder of a profile.
pub(super) fn make(root: &Path, number: u32, stamp: &str) -> io::Result<PathBuf> {
    // Whatever is different each time.
    let mut random = RandomState::new().hash_one(stamp);
    let letters: String = (0..8)
        .map(|_| {
            let letter = b'A' + (random % 18) as u8;
            random /= 18;
            char::from(letter)
        })
        .collect();
    let folder = root.join(format!("PROF_{number:06}_{stamp}_{letters}"));
    fs::create_dir_all(folder.join(TABLES))?;
    fs::create_dir_all(folder.join("host"))?;
    Ok(folder)
}

/// Writes the tables that the profile's switches ask for.
pub(super) fn write(session: &Session, rows: &Rows) -> io::Result<()> {
    let folders = [TABLES, KEPT].map(|folder| session.folder.join(folder));
    fs::create_dir_all(&folders[1])?;
    let file = |name: &str, text: &str| {
        let mut folders = folders.iter();
        folders.try_for_each(|folder| output_file::write(&folder.join(name), text.as_bytes()))
    };
    let table = |name: &str, text: String| file(&format!("{name}_{}.csv", session.stamp), &text);
    let time = Time::of(session);
    file("README.txt", README)?;
    if session.switches.has_tasks() {
        let events = timeline::text(rows, time, std::process::id());
        file(&format!("msprof_{}.json", session.stamp), &events)?;
        table("op_summary", operators(rows, time))?;
        table("op_statistic", statistics(rows))?;
        table("task_time", tasks(rows, time))?;
    }
    if session.switches.has_steps() && !rows.steps.is_empty() {
        table("step_trace", steps(&rows.steps, time))?;
    }
    if session.switches.has_calls() {
        table("api_statistic", calls(rows))?;
    }
    if session.switches.has_marks() {
        table("msprof_tx", marks(rows, time))?;
    }
    about(session, rows, time)
}

fn about(session: &Session, rows: &Rows, time: Time) -> io::Result<()> {
    let switches = session.switches;
    let collected = json!({
        "switches": format!("{:#x}", switches.bits()),
        "tasks": switches.has_tasks(),
        "calls": switches.has_calls(),
        "marks": switches.has_marks(),
        "steps": switches.has_steps(),
    });
    let say = |folder: PathBuf, about: serde_json::Value| {
        // Scripts find the folders of a profile by these names.
        fs::create_dir_all(folder.join("data"))?;
        let text = format!("{collected:#}\n");
        output_file::write(&folder.join("sample.json"), text.as_bytes())?;
        let text = format!("{about:#}\n");
        output_file::write(&folder.join("info.json"), text.as_bytes())
    };
    let host = json!({
        "collector": format!("Jumar {}, a software device", env!("CARGO_PKG_VERSION")),
        "pid": std::process::id(),
        "switches": format!("{:#x}", session.switches.bits()),
        "begin_us": time.us(session.begin.own_ns),
        "end_us": time.us(now_ns()),
        "rows_lost": rows.lost,
        // Parsers look for the frequency of the counter that times are taken from. Times here are nanoseconds: it has none.
        "CPU": [{"Id": 0, "Name": std::env::consts::ARCH, "Frequency": ""}],
    });
    say(session.folder.join("host"), host)?;
    // One moment by two clocks: parsers bring the times of other records to the clock of the tables.
    let start = json!({
        "collectionTimeBegin": time.us(session.begin.own_ns),
        "clockMonotonicRaw": session.begin.raw_ns.to_string(),
    });
    let text = format!("{start:#}\n");
    output_file::write(&session.folder.join("host/start_info"), text.as_bytes())?;
    let mut devices: BTreeSet<u32> = session.stopped.lock().clone();
    devices.extend(session.devices.lock().iter().flatten());
    devices.extend(rows.tasks.iter().map(|task| task.device));
    devices.extend(rows.operators.iter().map(|operator| operator.device));
    for device in devices {
        let tasks = rows.tasks.iter().filter(|task| task.device == device);
        let about = json!({
            "device": device,
            "kind": "software device",
            "tasks": tasks.count(),
        });
        say(session.folder.join(format!("device_{device}")), about)?;
    }
    Ok(())
}

/// Turns the clock of the rows into time since 1970. The time services of a system adjust that clock and not the one of other
/// programs' records, so that a second of the rows is made as long as a second of those.
#[derive(Clone, Copy)]
pub(super) struct Time {
    begin: Moment,
    end: Moment,
    /// The time since 1970 of `begin`.
    since_1970_ns: i128,
}

impl Time {
    /// Returns the conversion for a profile that ends now.
    fn of(session: &Session) -> Time {
        Time {
            begin: session.begin,
            end: Moment::now(),
            since_1970_ns: session.since_1970_ns,
        }
    }

    pub(super) fn us(self, at_ns: u64) -> String {
        let since_begin = i128::from(at_ns) - i128::from(self.begin.own_ns);
        let own = i128::from(self.end.own_ns.saturating_sub(self.begin.own_ns)).max(1);
        let raw = i128::from(self.end.raw_ns.saturating_sub(self.begin.raw_ns));
        let ns = self.since_1970_ns + since_begin * raw / own;
        format!("{}.{:03}", ns / 1000, ns % 1000)
    }
}

fn us(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// A field as it stands in a table.
fn field(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Adds a line to a table.
macro_rules! line {
    ($to:expr, $($word:tt)*) => {
        // Writing to a text cannot fail.
        let _ = writeln!($to, $($word)*);
    };
}

/// The beginnings of the calls whose tasks are operators: kernels that the program launched, single operators and collective
/// operations. An execution of a model or a graph is none, but its operators are.
const OPERATOR_CALLS: [&str; 5] = ["aclrtLaunch", "aclnn", "aclop", "aclblas", "Hccl"];

/// Returns whether a task is an operator.
fn is_operator(task: &&Task) -> bool {
    let begins = |beginning: &&str| task.call.starts_with(*beginning);
    task.kind == "KERNEL" && OPERATOR_CALLS.iter().any(begins)
}

/// Returns the type of the operator that a task runs.
fn operator_type(task: &Task) -> &str {
    let name = &*task.name;
    name.strip_prefix("aclnn").unwrap_or(name)
}

fn stream(task: &Task) -> String {
    task.stream
        .map_or_else(|| "N/A".to_owned(), |stream| stream.to_string())
}

fn operators(rows: &Rows, time: Time) -> String {
    let mut text = String::from(
        "Device_id,Model Name,Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),\
         Task Wait Time(us),Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats\n",
    );
    let mut last_end: BTreeMap<(u32, Option<u32>), u64> = BTreeMap::new();
    let mut wait = |device, stream, start_ns: u64, end_ns| {
        let last = last_end.insert((device, stream), end_ns);
        last.map_or(0, |last| start_ns.saturating_sub(last))
    };
    for one in &rows.operators {
        let waited = wait(one.device, Some(one.stream), one.start_ns, one.end_ns);
        let tensors = [&one.inputs, &one.outputs].map(|tensors| {
            [&tensors.shapes, &tensors.types, &tensors.formats]
                .map(|list| field(list))
                .join(",")
        });
        line!(
            text,
            "{},{},{},{},{},{},{},{CORE},{},{},{},{}",
            one.device,
            field(&one.model_name),
            one.model,
            one.number,
            one.stream,
            field(&one.name),
            field(&one.operator),
            time.us(one.start_ns),
            us(one.end_ns - one.start_ns),
            us(waited),
            tensors.join(",")
        );
    }
    for task in rows.tasks.iter().filter(is_operator) {
        let waited = wait(task.device, task.stream, task.start_ns, task.end_ns);
        line!(
            text,
            "{},N/A,N/A,{},{},{},{},{CORE},{},{},{},N/A,N/A,N/A,N/A,N/A,N/A",
            task.device,
            task.number,
            stream(task),
            field(&task.name),
            field(operator_type(task)),
            time.us(task.start_ns),
            us(task.end_ns.saturating_sub(task.start_ns)),
            us(waited),
        );
    }
    text
}

/// The model that an operator belongs to, and how long it took.
fn timed(one: &Operator) -> ((u32, &str, &str), u64) {
    let key = (one.device, &*one.model_name, &*one.operator);
    (key, one.end_ns - one.start_ns)
}

fn statistics(rows: &Rows) -> String {
    let mut types: BTreeMap<(u32, &str, &str), Vec<u64>> = BTreeMap::new();
    for (key, took) in rows.operators.iter().map(timed) {
        types.entry(key).or_default().push(took);
    }
    for task in rows.tasks.iter().filter(is_operator) {
        let took = task.end_ns.saturating_sub(task.start_ns);
        let key = (task.device, "N/A", operator_type(task));
        types.entry(key).or_default().push(took);
    }
    let mut of_device: BTreeMap<u32, u64> = BTreeMap::new();
    for ((device, ..), all) in &types {
        *of_device.entry(*device).or_default() += all.iter().sum::<u64>();
    }
    let mut text = String::from(
        "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n",
    );
    for ((device, model, name), all) in &types {
        let (count, total) = (all.len() as u64, all.iter().sum::<u64>());
        let share = 100.0 * total as f64 / (of_device[device].max(1)) as f64;
        line!(
            text,
            "{device},{},{},{CORE},{count},{},{},{},{},{share:.3}",
            field(model),
            field(name),
            us(total),
            us(all.iter().copied().min().unwrap_or(0)),
            us(total / count.max(1)),
            us(all.iter().copied().max().unwrap_or(0)),
        );
    }
    text
}

fn tasks(rows: &Rows, time: Time) -> String {
    let mut text = String::from(
        "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us),task_queued(us),state\n",
    );
    for task in &rows.tasks {
        line!(
            text,
            "{},{},{},{},{},{},{},{},{},{}",
            task.device,
            field(&task.name),
            task.kind,
            stream(task),
            task.number,
            us(task.end_ns.saturating_sub(task.start_ns)),
            time.us(task.start_ns),
            time.us(task.end_ns),
            time.us(task.queued_ns),
            if task.failed { "failed" } else { "finished" },
        );
    }
    text
}

fn steps(steps: &[Step], time: Time) -> String {
    let mut text = String::from(
        "Device_id,Iteration ID,Stream ID,Iteration Start(us),Iteration End(us),Iteration Time(us)\n",
    );
    let mut open: BTreeMap<u64, Step> = BTreeMap::new();
    for step in steps {
        if !step.is_end {
            open.insert(step.step, *step);
        } else if let Some(begin) = open.remove(&step.step) {
            line!(
                text,
                "{},{},{},{},{},{}",
                begin.device,
                begin.step,
                begin.stream,
                time.us(begin.at_ns),
                time.us(step.at_ns),
                us(step.at_ns.saturating_sub(begin.at_ns)),
            );
        }
    }
    text
}

fn calls(rows: &Rows) -> String {
    let mut text =
        String::from("Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n");
    let mut all: Vec<_> = rows.took.iter().collect();
    all.sort_by_key(|(name, took)| (std::cmp::Reverse(took.total_ns), **name));
    for (name, took) in all {
        let average = took.total_ns as f64 / 1e3 / took.count as f64;
        let variance = (took.squares_us / took.count as f64 - average * average).max(0.0);
        line!(
            text,
            "host,AscendCL,{name},{},{},{average:.3},{},{},{variance:.3}",
            us(took.total_ns),
            took.count,
            us(took.least_ns),
            us(took.most_ns),
        );
    }
    text
}

fn marks(rows: &Rows, time: Time) -> String {
    let mut text = String::from(
        "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,message\n",
    );
    for mark in &rows.marks {
        line!(
            text,
            "host,{},{},0,{},0,0,{},{},0,{}",
            std::process::id(),
            mark.thread,
            mark.kind,
            time.us(mark.start_ns),
            time.us(mark.end_ns),
            field(&mark.message),
        );
    }
    text
}
