//! Sessions: which graphs they hold, in which state each is, and how one is built.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};

use jumar::check::Finding;
use jumar::engine::{Call, Caller, Context, Lookups, Runtime, Signal, Stream, StreamOptions};
use jumar::offline::{DeviceMemory, FusionSwitches};
use jumar_acl::frontend;

use crate::graph::{BuildOptions, Products};
use crate::plan::{Entry, Plan, Source};
use crate::run::Queue;
use crate::sync::{Mutex, MutexGuard};
use crate::variables::Variables;
use crate::{GRAPH_NOT_EXIST, GeError, GeResult, message, registry, split};

/// By which name the runtime knows what is done here.
pub static CALL: Call = Call {
    name: "the Graph Engine",
    number: u16::MAX as _,
};

/// Does something on the runtime, as the Graph Engine.
pub fn with_runtime<T>(
    work: impl FnOnce(&'static Runtime, &Caller<'_>) -> GeResult<T>,
) -> GeResult<T> {
    let runtime = jumar_acl::frontend::runtime()?;
    let lookups = Lookups::default();
    work(runtime, &Caller::new(&CALL, &lookups))
}

/// The options of a call, by their names.
pub type Options = BTreeMap<String, String>;

/// What a process has one of.
#[derive(Default)]
pub struct Engine {
    started: bool,
    options: Options,
    /// The options of aclgrphBuildInitialize.
    offline_options: Options,
    sessions: BTreeMap<u64, Arc<Session>>,
    last: u64,
    /// Where it was ended, as long as it is.
    ended_at: Option<jumar::check::SourceLocation>,
}

static ENGINE: OnceLock<Mutex<Engine>> = OnceLock::new();

/// Locks it. Nothing else is locked meanwhile.
pub(crate) fn engine() -> MutexGuard<'static, Engine> {
    ENGINE.get_or_init(|| Mutex::new(Engine::default())).lock()
}

/// A session.
pub struct Session {
    pub options: Options,
    /// Whether GEInitialize asked for training.
    pub training: bool,
    /// Whether a forked child made it, which is refused the sessions of its parent: threads of the parent may have been at them.
    in_child: bool,
    device: u32,
    graphs: Mutex<BTreeMap<u32, Arc<Entry>>>,
    pub variables: Variables,
    /// Held while a graph runs and the host waits for it.
    pub running: Mutex<()>,
    opened: OnceLock<SessionDevice>,
    /// Whether the session was closed. Held while the device is opened: a second thread would retain it and make a stream
    /// once more, and nothing would release these.
    closed: Mutex<bool>,
    /// The runs of RunGraphAsync.
    pub queue: Queue,
    /// Plans that are no graph's any more, until their last run has ended.
    retired: Mutex<Vec<Arc<Plan>>>,
    /// Memory of outputs that the session allocated, by its address.
    pub lent: Mutex<BTreeMap<usize, SessionMemory>>,
    /// Memory that runs which are queued use.
    in_flight: Mutex<Vec<InFlight>>,
    /// The streams of the program that runs were queued on, by their ids.
    streams: Mutex<BTreeMap<u64, Weak<Stream>>>,
}

/// The device of a session, and the stream on which it runs graphs from host memory.
pub struct SessionDevice {
    pub context: Arc<Context>,
    pub stream: Arc<Stream>,
}

/// Memory that a queued run uses.
struct InFlight {
    /// Set at the end of the run; `None` where it was captured and may run as long as the session lives.
    done: Option<Arc<Signal>>,
    _memory: Vec<Arc<DeviceMemory>>,
}

impl InFlight {
    fn has_ended(&self) -> bool {
        self.done.as_ref().is_some_and(|done| done.is_set())
    }
}

/// Memory of an output that the session allocated. It is the program's until that frees it.
pub struct SessionMemory {
    pub memory: Arc<DeviceMemory>,
    /// The stream of the run that writes it.
    pub stream: Weak<Stream>,
    /// As [`InFlight::done`].
    pub done: Option<Arc<Signal>>,
}

/// Starts the Graph Engine.
pub fn initialize(options: Options) -> GeResult<()> {
    check(&options)?;
    check_device(&options)?;
    let mut engine = engine();
    if engine.started {
        if engine.options != options {
            drop(engine);
            message::warn("GEInitialize was called again with other options, which are ignored");
        }
        return Ok(());
    }
    engine.started = true;
    engine.ended_at = None;
    engine.options = options;
    Ok(())
}

/// Keeps the options of aclgrphBuildInitialize.
pub fn initialize_offline(options: Options) -> GeResult<()> {
    check(&options)?;
    engine().offline_options = options;
    Ok(())
}

/// Ends the Graph Engine, and all sessions with it.
///
/// # Errors
/// Runs that are still on a stream after the wait; the engine has ended all the same.
pub fn finalize() -> GeResult<()> {
    let here = jumar::check::here();
    let mut engine = engine();
    if engine.started {
        engine.ended_at = Some(here);
    }
    engine.started = false;
    let sessions = std::mem::take(&mut engine.sessions);
    drop(engine);
    // It ends them in good order: a session on the stack may be destroyed behind it.
    if let Some(check) = jumar::check::of_process() {
        sessions
            .keys()
            .for_each(|id| check.ended(SESSION, *id, "GEFinalize"));
    }
    let mut outcome = Ok(());
    for (id, session) in sessions {
        // Every session is closed; the first error is the one that is returned.
        let closed = session.close(id);
        if outcome.is_ok() {
            outcome = closed;
        } else if let Err(fail) = closed {
            message::error(&fail);
        }
    }
    outcome
}

const PRECISION_MODE: &str = "ge.exec.precision_mode";
const PRECISION_MODE_V2: &str = "ge.exec.precision_mode_v2";
const FUSION_SWITCH_FILE: &str = "ge.fusionSwitchFile";
const PRECISION: &[&str] = &[
    "force_fp16",
    "allow_fp32_to_fp16",
    "must_keep_origin_dtype",
    "allow_mix_precision",
    "allow_mix_precision_fp16",
    "force_fp32",
    "cube_fp16in_fp32out",
    "allow_mix_precision_bf16",
    "allow_fp32_to_bf16",
];

/// The option that names the inputs in host memory.
const HOST_INPUTS: &str = "ge.exec.hostInputIndexes";

/// Reads indices of inputs, separated by commas or semicolons. `None` if there is anything else.
fn host_inputs_of(text: &str) -> Option<Vec<usize>> {
    let parts = text.split([',', ';']).map(str::trim);
    let parts = parts.filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}

/// Returns the indices of the inputs of a graph that lie in host memory when it runs on a stream: those that the graph names,
/// otherwise those that its session names.
pub fn host_inputs(session: &Session, entry: &Entry) -> Vec<usize> {
    let text = [&entry.options, &session.options].map(|options| options.get(HOST_INPUTS));
    let text = text.into_iter().flatten().next();
    // The options were checked when they were given.
    text.and_then(|text| host_inputs_of(text))
        .unwrap_or_default()
}

/// Refuses options that are none.
pub fn check(options: &Options) -> GeResult<()> {
    let refuse = |key: &str, value: &str, wanted: &str| {
        Err(GeError::new(format!(
            "the option {key} is {value:?}; it must be {wanted}"
        ))
        .code("E10001"))
    };
    for (key, value) in options {
        match key.as_str() {
            "" => {
                return Err(GeError::new("an option has an empty name").code("E10059"));
            }
            "ge.graphRunMode" | "ge.exec.enableDump" | "ge.deterministic"
                if !["0", "1"].contains(&value.as_str()) =>
            {
                return refuse(key, value, "0 or 1");
            }
            "ge.exec.precision_mode"
                if !value.is_empty() && !PRECISION.contains(&value.as_str()) =>
            {
                return refuse(key, value, &PRECISION.join(", "));
            }
            PRECISION_MODE_V2 => {
                let mode = options.get(PRECISION_MODE).map_or("", String::as_str);
                BuildOptions::parse_precision(mode, value)?;
            }
            "ge.exec.deviceId" | "ge.session_device_id" if value.parse::<u32>().is_err() => {
                return refuse(key, value, "the number of a device");
            }
            HOST_INPUTS if host_inputs_of(value).is_none() => {
                return refuse(key, value, "indices of inputs separated by commas");
            }
            "ge.exec.jobId" if value.len() > 128 => {
                return refuse(key, value, "128 characters at most");
            }
            FUSION_SWITCH_FILE if !value.is_empty() => {
                switches_of(value)?;
            }
            "ge.autoTuneMode" if !value.is_empty() => return refuse(key, value, "empty"),
            key if !key.starts_with("ge.") && key != "soc_version" => {
                message::warn(format!("the option {key} is not known; it is ignored"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the switches of passes that hold for a graph: those of its own options or its session's, else those of GEInitialize or
/// aclgrphBuildInitialize.
pub fn fusion_switches(options: &Options) -> GeResult<FusionSwitches> {
    let (engine, offline) = {
        let engine = engine();
        (engine.options.clone(), engine.offline_options.clone())
    };
    let path = [options, &engine, &offline]
        .into_iter()
        .find_map(|options| options.get(FUSION_SWITCH_FILE));
    match path {
        Some(path) if !path.is_empty() => switches_of(path),
        _ => Ok(FusionSwitches::default()),
    }
}

/// Reads the file of the option.
fn switches_of(path: &str) -> GeResult<FusionSwitches> {
    FusionSwitches::read(path).map_err(|error| {
        GeError::new(format!("the option {FUSION_SWITCH_FILE}: {error}")).code("E10001")
    })
}

/// Refuses a device that does not exist.
fn check_device(options: &Options) -> GeResult<()> {
    // A child of a process that used a device is refused later, when it runs a graph.
    if frontend::refuse_if_forked().is_err() {
        return Ok(());
    }
    for key in ["ge.exec.deviceId", "ge.session_device_id"] {
        let Some(number) = options.get(key).and_then(|text| text.parse::<u32>().ok()) else {
            continue;
        };
        let count = frontend::runtime()?.device_count();
        if number >= count {
            let text = format!(
                "the option {key} is {number}, and there are {count} devices: it has to be below {count}"
            );
            return Err(GeError::new(text).code("E10001"));
        }
    }
    Ok(())
}

/// What the checks call a session.
pub const SESSION: &str = "session";

/// Refuses what needs the engine; it is a mistake of its own where the engine was there and is gone.
fn not_started(engine: &Engine) -> GeError {
    if let Some(location) = engine.ended_at
        && let Some(check) = jumar::check::of_process()
    {
        check.find(
            Finding::now("JMR-GE-002", "the Graph Engine is used after GEFinalize").and(
                "earlier",
                location,
                "GEFinalize",
            ),
        );
    }
    GeError::new("GEInitialize was not called, or GEFinalize was").code("E10062")
}

/// Makes a session and returns its number.
pub fn create(options: Options) -> GeResult<u64> {
    check(&options)?;
    check_device(&options)?;
    let mut engine = engine();
    if !engine.started {
        return Err(not_started(&engine));
    }
    let device = options
        .get("ge.session_device_id")
        .or_else(|| options.get("ge.exec.deviceId"))
        .or_else(|| engine.options.get("ge.exec.deviceId"))
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let mode = options
        .get("ge.graphRunMode")
        .or_else(|| engine.options.get("ge.graphRunMode"));
    let training = mode.is_some_and(|mode| mode == "1");
    engine.last += 1;
    let id = engine.last;
    engine.sessions.insert(
        id,
        Arc::new(Session {
            options,
            training,
            in_child: frontend::refuse_if_forked().is_err(),
            device,
            graphs: Mutex::default(),
            variables: Mutex::default(),
            running: Mutex::default(),
            opened: OnceLock::new(),
            closed: Mutex::default(),
            queue: Queue::default(),
            retired: Mutex::default(),
            lent: Mutex::default(),
            in_flight: Mutex::default(),
            streams: Mutex::default(),
        }),
    );
    drop(engine);
    if let Some(check) = jumar::check::of_process() {
        check.made(SESSION, id, Some(id), "ge::Session", 0);
    }
    Ok(id)
}

/// Ends a session; one that is over is passed by.
pub fn destroy(id: u64) {
    let session = engine().sessions.remove(&id);
    if let Some(session) = session {
        if let Some(check) = jumar::check::of_process() {
            check.ended(SESSION, id, "its destructor");
        }
        if let Err(fail) = session.close(id) {
            message::error(&fail);
        }
    }
}

/// Finds a session.
pub fn find(id: u64) -> GeResult<Arc<Session>> {
    let engine = engine();
    if !engine.started {
        return Err(not_started(&engine));
    }
    let session = engine.sessions.get(&id).cloned().ok_or_else(|| {
        GeError::new(
            "the session does not exist: it was created before GEInitialize, or it was destroyed",
        )
        .code("E10062")
    })?;
    drop(engine);
    if !session.is_here() {
        frontend::refuse_if_forked()?;
    }
    Ok(session)
}

/// Finds a stream by its handle; 0 is the default stream of the thread's current context.
pub fn find_stream(handle: u64) -> GeResult<Arc<Stream>> {
    Ok(frontend::stream(handle)?)
}

impl Session {
    /// Returns whether this process made it, and not the one that it was forked off.
    fn is_here(&self) -> bool {
        self.in_child || frontend::refuse_if_forked().is_ok()
    }

    /// Finds a graph.
    pub fn graph(&self, number: u32) -> GeResult<Arc<Entry>> {
        self.graphs.lock().get(&number).cloned().ok_or_else(|| {
            GeError::new(format!("the session has no graph {number}")).status(GRAPH_NOT_EXIST)
        })
    }

    /// Adds a graph. A number that is taken keeps its graph.
    pub fn add(&self, number: u32, id: u64, options: Options, copy: bool) -> GeResult<()> {
        check(&options)?;
        let products = self.products(&options)?;
        let source = self.source(number, id, copy)?;
        // Constructors of the program's custom operators run here, and no lock is held.
        let source = match source {
            Some(Source::Built(graph)) => Some(split::split(graph, number, &options, products)?),
            other => other,
        };
        let mut graphs = self.graphs.lock();
        let Some(source) = source.filter(|_| !graphs.contains_key(&number)) else {
            if copy {
                return Err(GeError::new(format!(
                    "the session has a graph {number} already"
                )));
            }
            message::warn(format!(
                "the session has a graph {number} already, which stays"
            ));
            return Ok(());
        };
        if !copy {
            registry::lock().graph_mut(id)?.added = true;
        }
        let entry = Entry {
            number,
            origin: if copy { 0 } else { id },
            source,
            options,
            products,
            state: Mutex::default(),
        };
        graphs.insert(number, Arc::new(entry));
        Ok(())
    }

    /// Copies a graph of the program as it is now; `None` if the number is taken.
    fn source(&self, number: u32, id: u64, copy: bool) -> GeResult<Option<Source>> {
        if self.graphs.lock().contains_key(&number) {
            return Ok(None);
        }
        let world = registry::lock();
        let graph = world.graph(id)?;
        if !graph.valid {
            return Err(GeError::new(format!(
                "graph {} is not valid: SetInputs was not called, or found no input",
                graph.name
            )));
        }
        if graph.added && !copy {
            return Err(GeError::new(format!(
                "graph {} was added already, under another number",
                graph.name
            )));
        }
        Ok(Some(match &graph.imported {
            Some(graph) => Source::Imported(graph.clone()),
            None => Source::Built(world.freeze(id, 0)?),
        }))
    }

    /// What products may be computed in: by the graph's options, else the session's, else those of GEInitialize.
    fn products(&self, options: &Options) -> GeResult<Products> {
        let engine = engine().options.clone();
        for options in [options, &self.options, &engine] {
            let text = |key: &str| options.get(key).map_or("", String::as_str);
            let (mode, mode_v2) = (text(PRECISION_MODE), text(PRECISION_MODE_V2));
            if !mode.is_empty() || !mode_v2.is_empty() {
                return Ok(BuildOptions::parse_precision(mode, mode_v2)?);
            }
        }
        Ok(Products::Float32)
    }

    /// Takes a graph out. What runs of it, or waits to run, comes to its end; its memory goes then.
    pub fn remove(&self, number: u32) -> GeResult<()> {
        let entry = self.graphs.lock().remove(&number);
        let Some(entry) = entry else {
            return Err(GeError::new(format!("the session has no graph {number}")));
        };
        if let Ok(graph) = registry::lock().graph_mut(entry.origin) {
            graph.added = false;
        }
        self.retire(entry.take_plans());
        self.reap();
        Ok(())
    }

    /// Keeps plans that are no graph's any more until their last run has ended.
    pub fn retire(&self, plans: impl IntoIterator<Item = Arc<Plan>>) {
        self.retired.lock().extend(plans);
    }

    /// Keeps memory until the run that uses it has ended.
    pub fn keep(&self, memory: Vec<Arc<DeviceMemory>>, done: Option<Arc<Signal>>) {
        if !memory.is_empty() {
            self.in_flight.lock().push(InFlight {
                done,
                _memory: memory,
            });
        }
    }

    /// Frees what belonged to runs that have ended: memory of their inputs, and plans that are no graph's any more.
    fn reap(&self) {
        // Dropping a plan waits for its last run and frees its memory, which is done without the lock.
        let ended: Vec<Arc<Plan>> = self
            .retired
            .lock()
            .extract_if(.., |plan| Arc::strong_count(plan) == 1 && plan.is_idle())
            .collect();
        drop(ended);
        let ended: Vec<InFlight> = self
            .in_flight
            .lock()
            .extract_if(.., |run| run.has_ended())
            .collect();
        drop(ended);
    }

    /// Returns whether a graph has to be built before it runs.
    pub fn needs_build(&self, number: u32) -> bool {
        self.graph(number)
            .map_or(true, |entry| entry.state.lock().plans.is_empty())
    }

    /// Returns the device, opened now if need be: its primary context, which lives at least as long as the session.
    pub fn device(&self) -> GeResult<&SessionDevice> {
        self.reap();
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let closed = self.closed.lock();
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        if *closed {
            return Err(GeError::new("the session was destroyed by another thread"));
        }
        let opened = with_runtime(|runtime, _| {
            let context = runtime.retain_device(i64::from(self.device))?;
            match context.create_stream(StreamOptions::default()) {
                Ok(stream) => Ok(SessionDevice { context, stream }),
                Err(error) => {
                    self.release(&context);
                    Err(error.into())
                }
            }
        })?;
        Ok(self.opened.get_or_init(|| opened))
    }

    fn release(&self, context: &Context) {
        // A reset of the device has released every use of it. One that is counted now is the program's own.
        if context.device().epoch() != context.epoch() {
            return;
        }
        let released = with_runtime(|runtime, caller| {
            Ok(runtime.release_device(i64::from(self.device), false, caller)?)
        });
        // A program that ended the runtime has released it already.
        drop(released);
    }

    /// Lends memory of outputs to the program: of a run on a stream, whose end sets the signal.
    pub fn lend(
        &self,
        memory: impl IntoIterator<Item = Arc<DeviceMemory>>,
        stream: &Arc<Stream>,
        done: Option<&Arc<Signal>>,
    ) {
        let lent = memory.into_iter().map(|memory| {
            let lent = SessionMemory {
                stream: Arc::downgrade(stream),
                done: done.cloned(),
                memory,
            };
            (lent.memory.span().address(), lent)
        });
        self.lent.lock().extend(lent);
    }

    /// Frees memory of an output that the session allocated, once the run that writes it has ended.
    pub fn free(&self, address: usize) {
        let lent = self.lent.lock().remove(&address);
        if let Some(lent) = lent {
            self.keep(vec![lent.memory], lent.done);
            self.reap();
        }
    }

    /// Records a stream that runs are queued on.
    pub fn uses(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams.lock();
        if !streams.contains_key(&stream.id()) {
            // The program may have made and destroyed many.
            streams.retain(|_, one| one.strong_count() > 0);
            streams.insert(stream.id(), Arc::downgrade(stream));
        }
    }

    /// Returns whether something that is queued will use memory of the session.
    fn has_queued_work(&self) -> bool {
        let runs = |done: &Option<Arc<Signal>>| done.as_ref().is_some_and(|done| !done.is_set());
        self.in_flight.lock().iter().any(|run| runs(&run.done))
            || self.lent.lock().values().any(|lent| runs(&lent.done))
    }

    /// Waits for the plans that still run, and for what else is queued, as long as [`Stream::drain_briefly`] does on each of their
    /// streams. Returns the numbers of the streams that did not come to their end.
    fn drain(&self, plans: &[Arc<Plan>]) -> Vec<u32> {
        let is_idle = || plans.iter().all(|plan| plan.is_idle()) && !self.has_queued_work();
        let mut blocked = Vec::new();
        let streams = std::mem::take(&mut *self.streams.lock());
        for stream in streams.values().filter_map(Weak::upgrade) {
            if is_idle() {
                return Vec::new();
            }
            stream.drain_briefly();
            if !stream.is_idle() {
                blocked.push(stream.number());
            }
        }
        if is_idle() { Vec::new() } else { blocked }
    }

    /// Ends the runs of the session and frees what it holds.
    ///
    /// # Errors
    /// A stream is blocked: the session's memory stays allocated, as its runs may still use it.
    fn close(self: Arc<Self>, id: u64) -> GeResult<()> {
        if !self.is_here() {
            // What it holds is the parent's to release, and locks may be held by threads that are not in this process.
            std::mem::forget(self);
            return Ok(());
        }
        *self.closed.lock() = true;
        let cancelled = self.queue.close();
        if cancelled > 0 {
            message::warn(format!(
                "session {id} ends with {cancelled} runs of RunGraphAsync that have not begun: their callbacks get FAILED"
            ));
        }
        let _turn = self.running.lock();
        let graphs = std::mem::take(&mut *self.graphs.lock());
        for entry in graphs.values() {
            if let Ok(graph) = registry::lock().graph_mut(entry.origin) {
                graph.added = false;
            }
            self.retire(entry.take_plans());
        }
        let retired = std::mem::take(&mut *self.retired.lock());
        let blocked = self.drain(&retired);
        if !blocked.is_empty() {
            let list: Vec<String> = blocked.iter().map(u32::to_string).collect();
            // Its graphs, their memory and the device stay until the process ends.
            std::mem::forget(retired);
            std::mem::forget(self.clone());
            return Err(GeError::new(format!(
                "session {id} has runs that did not end: stream {} is blocked; their memory stays allocated. Synchronise the streams of RunGraphWithStreamAsync before GEFinalize or the session's destructor",
                list.join(", ")
            )));
        }
        // Dropping the plans waits for their runs; then nothing uses the memory of inputs, outputs and variables.
        drop(retired);
        let in_flight = std::mem::take(&mut *self.in_flight.lock());
        drop(in_flight);
        let lent = std::mem::take(&mut *self.lent.lock());
        drop(lent);
        let variables = std::mem::take(&mut *self.variables.lock());
        drop(variables);
        let Some(device) = self.opened.get() else {
            return Ok(());
        };
        let done = with_runtime(|_, caller| {
            drop(device.context.destroy_stream(&device.stream, true, caller));
            Ok(())
        });
        drop(done);
        self.release(&device.context);
        Ok(())
    }
}
