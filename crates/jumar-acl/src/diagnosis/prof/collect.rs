//! One profile while it is taken: a probe at the gate, and what calls, operators and the program's own marks add.
//!
//! Everything is kept as rows, under one lock, only for the time of adding a row. A table that is full
//! drops what comes later and counts it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jumar::engine::sync::{Mutex, SystemTime, UNIX_EPOCH, raw_monotonic_ns};
use jumar::engine::{Admission, Op, Phase, Probe, now_ns};
use jumar_types::{Error, ErrorKind, Result};

use super::output;
use super::settings::Switches;

/// The maximum number of rows of a table.
const MOST: usize = 1 << 20;

/// A task of a stream, or a copy or fill that was done at once on the calling thread.
pub(super) struct Task {
    pub(super) device: u32,
    pub(super) stream: Option<u32>,
    pub(super) number: u64,
    pub(super) call: &'static str,
    pub(super) name: Arc<str>,
    pub(super) kind: &'static str,
    pub(super) queued_ns: u64,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) failed: bool,
}

/// An operator of a model that ran.
pub(super) struct Operator {
    pub(super) device: u32,
    pub(super) stream: u32,
    pub(super) model: u32,
    pub(super) model_name: Arc<str>,
    pub(super) number: u64,
    pub(super) name: Box<str>,
    pub(super) operator: Box<str>,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) inputs: Tensors,
    pub(super) outputs: Tensors,
}

/// The operands of an operator, as the tables write them.
#[derive(Default)]
pub(super) struct Tensors {
    pub(super) shapes: String,
    pub(super) types: String,
    pub(super) formats: String,
}

/// A moment or a range that the program marked.
pub(super) struct Mark {
    pub(super) thread: u32,
    pub(super) kind: &'static str,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) message: String,
}

/// The begin or the end of a step, reached by a stream.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) step: u64,
    pub(super) is_end: bool,
    pub(super) device: u32,
    pub(super) stream: u32,
    pub(super) at_ns: u64,
}

/// A call of the program.
pub(super) struct Call {
    pub(super) name: &'static str,
    /// The thread's number as the system counts threads.
    pub(super) thread: u32,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
}

/// How long the calls of one function took.
#[derive(Clone, Copy, Default)]
pub(super) struct Took {
    pub(super) count: u64,
    pub(super) total_ns: u64,
    pub(super) least_ns: u64,
    pub(super) most_ns: u64,
    /// The sum of squares, in square microseconds.
    pub(super) squares_us: f64,
}

#[derive(Default)]
pub(super) struct Rows {
    open: HashMap<u64, Task>,
    names: BTreeSet<Arc<str>>,
    pub(super) tasks: Vec<Task>,
    pub(super) operators: Vec<Operator>,
    pub(super) marks: Vec<Mark>,
    pub(super) steps: Vec<Step>,
    pub(super) calls: Vec<Call>,
    pub(super) took: HashMap<&'static str, Took>,
    /// Rows that found their table full.
    pub(super) lost: u64,
}

impl Rows {
    fn intern(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let name: Arc<str> = name.into();
        self.names.insert(name.clone());
        name
    }
}

fn add<T>(rows: &mut Vec<T>, lost: &mut u64, row: T) {
    if rows.len() < MOST {
        rows.push(row);
    } else {
        *lost += 1;
    }
}

/// The devices that a profile is of; none means every one.
type Devices = Arc<Mutex<Option<BTreeSet<u32>>>>;

fn covers(devices: &Devices, device: u32) -> bool {
    let devices = devices.lock();
    devices.as_ref().is_none_or(|some| some.contains(&device))
}

/// A moment by two clocks.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// The clock of the rows.
    pub(super) own_ns: u64,
    /// The clock that other programs' records use.
    pub(super) raw_ns: u64,
}

impl Moment {
    /// Reads both clocks. Of several attempts the one counts in which they were read closest to each other.
    pub(super) fn now() -> Moment {
        let read = || {
            let (before, raw_ns, after) = (now_ns(), raw_monotonic_ns(), now_ns());
            let own_ns = before + (after - before) / 2;
            (after - before, Moment { own_ns, raw_ns })
        };
        let first = read();
        let closest = (0..4).map(|_| read()).fold(
            first,
            |best, next| {
                if next.0 < best.0 { next } else { best }
            },
        );
        closest.1
    }
}

/// A profile that is being taken.
pub(crate) struct Session {
    pub(super) switches: Switches,
    pub(super) folder: PathBuf,
    /// When it began, as the names of its files say it.
    pub(super) stamp: String,
    pub(super) begin: Moment,
    /// The process that takes it: a child that was forked meanwhile does not write.
    process: u32,
    /// The time since 1970 when it began.
    pub(super) since_1970_ns: i128,
    /// The devices that were named.
    pub(super) devices: Devices,
    /// Those among them whose profile was ended earlier than the others'.
    pub(super) stopped: Mutex<BTreeSet<u32>>,
    rows: Arc<Mutex<Rows>>,
    probe: Option<Arc<dyn Probe>>,
}

impl Session {
    pub(super) fn begin(
        root: &Path,
        number: u32,
        devices: &[u32],
        switches: Switches,
    ) -> Result<Arc<Session>> {
        let (seconds, millis) = crate::dump::stamp();
        let begin = Moment::now();
        let since_1970 = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_nanos() as i128;
        let folder =
            output::make(root, number, &format!("{seconds}{millis}")).map_err(|error| {
                Error::new(
                    ErrorKind::InvalidFile,
                    format!("no profile can be written to {}: {error}", root.display()),
                )
            })?;
        let rows = Arc::<Mutex<Rows>>::default();
        let named = (!devices.is_empty()).then(|| devices.iter().copied().collect());
        let devices = Arc::new(Mutex::new(named));
        let stamp = seconds;
        let tasks = Tasks {
            devices: devices.clone(),
            rows: rows.clone(),
        };
        let probe = switches
            .has_tasks()
            .then(|| -> Arc<dyn Probe> { Arc::new(tasks) });
        Ok(Arc::new(Session {
            switches,
            folder,
            stamp,
            begin,
            process: std::process::id(),
            since_1970_ns: since_1970,
            devices,
            stopped: Mutex::default(),
            rows,
            probe,
        }))
    }

    pub(super) fn probe(&self) -> Option<&Arc<dyn Probe>> {
        self.probe.as_ref()
    }

    pub(super) fn add_devices(&self, devices: &[u32]) {
        let mut known = self.devices.lock();
        match (&mut *known, devices) {
            (Some(known), [_, ..]) => known.extend(devices),
            (all, _) => *all = None,
        }
    }

    /// Takes devices out. Returns whether none is left.
    pub(super) fn remove_devices(&self, devices: &[u32]) -> bool {
        match &mut *self.devices.lock() {
            Some(known) if !devices.is_empty() => {
                let stopped = &mut *self.stopped.lock();
                stopped.extend(devices.iter().filter(|device| known.remove(device)));
                known.is_empty()
            }
            _ => true,
        }
    }

    pub(super) fn add_call(&self, call: Call) {
        let took_ns = call.end_ns.saturating_sub(call.start_ns);
        let rows = &mut *self.rows.lock();
        let took = rows.took.entry(call.name).or_default();
        took.least_ns = match took.count {
            0 => took_ns,
            _ => took.least_ns.min(took_ns),
        };
        took.count += 1;
        took.total_ns += took_ns;
        took.most_ns = took.most_ns.max(took_ns);
        took.squares_us += (took_ns as f64 / 1e3).powi(2);
        add(&mut rows.calls, &mut rows.lost, call);
    }

    pub(super) fn covers(&self, device: u32) -> bool {
        covers(&self.devices, device)
    }

    pub(super) fn add_operator(&self, operator: Operator) {
        let rows = &mut *self.rows.lock();
        add(&mut rows.operators, &mut rows.lost, operator);
    }

    pub(super) fn add_mark(&self, mark: Mark) {
        if self.switches.has_marks() {
            let rows = &mut *self.rows.lock();
            add(&mut rows.marks, &mut rows.lost, mark);
        }
    }

    pub(super) fn add_step(&self, step: Step) {
        if self.switches.has_steps() {
            let rows = &mut *self.rows.lock();
            add(&mut rows.steps, &mut rows.lost, step);
        }
    }

    /// Writes what was collected.
    pub(super) fn write(&self) -> Result<()> {
        if std::process::id() != self.process {
            return Ok(());
        }
        let rows = std::mem::take(&mut *self.rows.lock());
        output::write(self, &rows).map_err(|error| {
            let folder = self.folder.display();
            Error::new(
                ErrorKind::InvalidFile,
                format!("the profile could not be written to {folder}: {error}"),
            )
        })
    }
}

/// The probe that collects tasks.
struct Tasks {
    devices: Devices,
    rows: Arc<Mutex<Rows>>,
}

/// Returns the task kind of an operation and its name if it has one; none for a wait of the host and for allocations.
fn kind<'a>(op: &Op<'a>) -> Option<(&'static str, Option<&'a str>)> {
    match *op {
        Op::Copy { .. } | Op::CopyRows { .. } | Op::CopyBatch { .. } => Some(("MEMCPY", None)),
        Op::Fill { .. } => Some(("MEMSET", None)),
        Op::Record { .. } => Some(("EVENT_RECORD", None)),
        Op::Wait { .. } => Some(("EVENT_WAIT", None)),
        Op::ResetEvent { .. } => Some(("EVENT_RESET", None)),
        Op::WriteValue { .. } => Some(("VALUE_WRITE", None)),
        Op::WaitValue { .. } => Some(("VALUE_WAIT", None)),
        Op::Launch { name, .. } => Some(("KERNEL", Some(name))),
        Op::Callback { .. } => Some(("HOST_FUNC", None)),
        _ => None,
    }
}

impl Probe for Tasks {
    fn before(&self, admission: &Admission<'_>) -> Result<()> {
        let Some((kind, name)) = kind(&admission.op) else {
            return Ok(());
        };
        if !covers(&self.devices, admission.device) {
            return Ok(());
        }
        let mut rows = self.rows.lock();
        let name = rows.intern(name.unwrap_or(admission.call));
        // A stream that is destroyed drops its tasks, without a report.
        if rows.open.len() >= MOST {
            rows.open.clear();
        }
        rows.open.insert(
            admission.ticket,
            Task {
                device: admission.device,
                stream: admission.stream,
                number: admission.ticket,
                call: admission.call,
                name,
                kind,
                queued_ns: admission.at_ns,
                start_ns: 0,
                end_ns: 0,
                failed: false,
            },
        );
        Ok(())
    }

    fn reported(&self, ticket: u64, phase: &Phase, at_ns: u64) {
        let rows = &mut *self.rows.lock();
        if let Phase::Started = phase {
            if let Some(task) = rows.open.get_mut(&ticket) {
                task.start_ns = at_ns;
            }
            return;
        }
        if let Some(mut task) = rows.open.remove(&ticket) {
            task.end_ns = at_ns;
            task.failed = matches!(phase, Phase::Failed(_));
            if task.start_ns == 0 {
                task.start_ns = match task.stream {
                    Some(_) => at_ns,
                    None => task.queued_ns,
                };
            }
            add(&mut rows.tasks, &mut rows.lost, task);
        }
    }
}
