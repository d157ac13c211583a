//! Sessions: which graphs they hold, in which state each is, and how one is built.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, OnceLock};

use jumar::check::Finding;
use jumar::engine::{Block, Call, Caller, Context, Lookups, Runtime, Stream, StreamOptions};
use jumar::offline::{Description, Model, Package, Supplied};
use jumar_acl::surface;
use jumar_types::dtype::DataType;

use crate::graph::{BuildOptions, Products, TensorType, ge};
use crate::sync::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, thread};
use crate::{Fail, GRAPH_NOT_EXIST, Outcome, UNSUPPORTED, graph, message, run, world};

/// By which name the runtime knows what is done here.
pub static CALL: Call = Call {
    name: "the Graph Engine",
    number: u16::MAX as _,
};

/// Does something on the runtime, as the Graph Engine.
pub fn with_runtime<T>(
    work: impl FnOnce(&'static Runtime, &Caller<'_>) -> Outcome<T>,
) -> Outcome<T> {
    let runtime = jumar_acl::surface::runtime()?;
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
    sessions: BTreeMap<u64, Arc<Session>>,
    last: u64,
    /// Where it was ended, as long as it is.
    ended_at: Option<jumar::check::Place>,
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
    pub variables: Mutex<BTreeMap<String, Stored>>,
    /// Held while a graph runs and the host waits for it.
    pub running: Mutex<()>,
    place: OnceLock<Place>,
    pub queue: Mutex<VecDeque<run::Job>>,
    pub queued: Condvar,
    pub worker: AtomicBool,
    pub closed: AtomicBool,
    /// What was taken out while it ran.
    retired: Mutex<Vec<Arc<Plan>>>,
    /// Memory that outputs got from here, by its address.
    pub lent: Mutex<BTreeMap<usize, Block>>,
}

/// Where a session's graphs run.
pub struct Place {
    pub context: Arc<Context>,
    pub stream: Arc<Stream>,
}

/// A variable of a session on its device. A run reads one block and writes the other.
pub struct Stored {
    pub ty: TensorType,
    pub now: Block,
    pub spare: Block,
    /// Whether it has contents.
    pub set: bool,
}

/// A graph of a session.
pub struct Entry {
    pub number: u32,
    origin: u64,
    source: Source,
    pub options: Options,
    products: Products,
    pub state: Mutex<State>,
}

enum Source {
    Built(ge::Graph),
    Imported(Arc<graph::Graph>),
}

/// How far a graph has come.
#[derive(Default)]
pub struct State {
    pub family: Family,
    pub loaded: bool,
    plans: Vec<Arc<Plan>>,
    /// The memory that a program gave.
    pub bases: Bases,
}

/// The memory that a program gave a compiled graph: addresses of the device, and bytes there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bases {
    /// For the constants.
    pub constants: Option<(usize, usize)>,
    /// For what lies between the nodes.
    pub work: Option<(usize, usize)>,
    /// Whether the latter was given as the part that may be given anew.
    pub refreshable: bool,
}

/// Which calls a program uses on a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// None yet.
    #[default]
    Fresh,
    /// BuildGraph and RunGraph.
    Build,
    /// CompileGraph and LoadGraph.
    Compile,
}

/// A graph, built for inputs of certain shapes.
pub struct Plan {
    given: Vec<Option<TensorType>>,
    /// How many inputs and outputs are the program's.
    pub inputs: usize,
    pub outputs: usize,
    pub variables: Vec<Used>,
    pub saved: Vec<String>,
    pub description: Arc<Description>,
    /// Work memory and weights, in bytes.
    pub sizes: (usize, usize),
    package: Mutex<Option<Package<'static>>>,
    model: OnceLock<Arc<Model>>,
    /// Device memory for inputs and outputs of runs from host memory.
    pub staging: Mutex<Option<(Vec<Block>, Vec<Block>)>>,
}

/// A variable that a plan uses.
pub struct Used {
    pub what: ge::Variable,
    /// Whether the plan needs what it held before.
    pub reads: bool,
}

/// Starts the Graph Engine.
pub fn initialize(options: Options) -> Outcome<()> {
    check(&options)?;
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

/// Ends the Graph Engine, and all sessions with it.
pub fn finalize() {
    let here = jumar::check::here();
    let mut engine = engine();
    if engine.started {
        engine.ended_at = Some(here);
    }
    engine.started = false;
    let sessions = std::mem::take(&mut engine.sessions);
    drop(engine);
    // It ends them in good order: a session on the stack may be destroyed behind it.
    if let Some(check) = jumar::check::from_environment() {
        sessions
            .keys()
            .for_each(|id| check.ended(SESSION, *id, "GEFinalize"));
    }
    for session in sessions.values() {
        session.close();
    }
}

const PRECISION_MODE: &str = "ge.exec.precision_mode";
const PRECISION_MODE_V2: &str = "ge.exec.precision_mode_v2";
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

/// Refuses options that are none.
pub fn check(options: &Options) -> Outcome<()> {
    let refuse = |key: &str, value: &str, wanted: &str| {
        Err(Fail::new(format!(
            "the option {key} is {value:?}; it has to be {wanted}"
        ))
        .code("E10001"))
    };
    for (key, value) in options {
        match key.as_str() {
            "" => {
                return Err(Fail::new("an option has an empty name").code("E10059"));
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
            "ge.exec.jobId" if value.len() > 128 => {
                return refuse(key, value, "128 characters at most");
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

/// What the checks call a session.
pub const SESSION: &str = "session";

/// Refuses what needs the engine; it is a mistake of its own where the engine was there and is gone.
fn not_started(engine: &Engine) -> Fail {
    if let Some(place) = engine.ended_at
        && let Some(check) = jumar::check::from_environment()
    {
        check.find(
            Finding::now("JMR-GE-002", "the Graph Engine is used after GEFinalize").and(
                "earlier",
                place,
                "GEFinalize",
            ),
        );
    }
    Fail::new("GEInitialize was not called, or GEFinalize was").code("E10062")
}

/// Makes a session and gives its number.
pub fn create(options: Options) -> Outcome<u64> {
    check(&options)?;
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
            in_child: surface::refuse_if_forked().is_err(),
            device,
            graphs: Mutex::default(),
            variables: Mutex::default(),
            running: Mutex::default(),
            place: OnceLock::new(),
            queue: Mutex::default(),
            queued: Condvar::new(),
            worker: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            retired: Mutex::default(),
            lent: Mutex::default(),
        }),
    );
    drop(engine);
    if let Some(check) = jumar::check::from_environment() {
        check.made(SESSION, id, Some(id), "ge::Session", 0);
    }
    Ok(id)
}

/// Ends a session; one that is over is passed by.
pub fn destroy(id: u64) {
    let session = engine().sessions.remove(&id);
    if let Some(session) = session {
        if let Some(check) = jumar::check::from_environment() {
            check.ended(SESSION, id, "its destructor");
        }
        session.close();
    }
}

/// Finds a session.
pub fn find(id: u64) -> Outcome<Arc<Session>> {
    let engine = engine();
    if !engine.started {
        return Err(not_started(&engine));
    }
    let session = engine.sessions.get(&id).cloned().ok_or_else(|| {
        Fail::new("the session is none: it was made before GEInitialize, or it is over")
            .code("E10062")
    })?;
    drop(engine);
    if !session.is_here() {
        surface::refuse_if_forked()?;
    }
    Ok(session)
}

impl Session {
    /// Tells whether this process made it, and not the one that it was forked off.
    fn is_here(&self) -> bool {
        self.in_child || surface::refuse_if_forked().is_ok()
    }

    /// Finds a graph.
    pub fn graph(&self, number: u32) -> Outcome<Arc<Entry>> {
        self.graphs.lock().get(&number).cloned().ok_or_else(|| {
            Fail::new(format!("the session has no graph {number}")).status(GRAPH_NOT_EXIST)
        })
    }

    /// Takes a graph in. A number that is taken keeps its graph.
    pub fn add(&self, number: u32, id: u64, options: Options, copy: bool) -> Outcome<()> {
        check(&options)?;
        if self.graphs.lock().contains_key(&number) {
            if copy {
                return Err(Fail::new(format!(
                    "the session has a graph {number} already"
                )));
            }
            message::warn(format!(
                "the session has a graph {number} already, which stays"
            ));
            return Ok(());
        }
        let mut world = world::lock();
        let graph = world.graph(id)?;
        if !graph.valid {
            return Err(Fail::new(format!(
                "graph {} is not valid: SetInputs was not called, or found no input",
                graph.name
            )));
        }
        if graph.added && !copy {
            return Err(Fail::new(format!(
                "graph {} was added already, under another number",
                graph.name
            )));
        }
        let source = match &graph.imported {
            Some(graph) => Source::Imported(graph.clone()),
            None => Source::Built(world.freeze(id, 0)?),
        };
        if !copy {
            world.graph_mut(id)?.added = true;
        }
        drop(world);
        let products = self.products(&options)?;
        let entry = Entry {
            number,
            origin: if copy { 0 } else { id },
            source,
            options,
            products,
            state: Mutex::default(),
        };
        self.graphs.lock().insert(number, Arc::new(entry));
        Ok(())
    }

    /// What products may be computed in: by the graph's options, else the session's, else those of GEInitialize.
    fn products(&self, options: &Options) -> Outcome<Products> {
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
    pub fn remove(&self, number: u32) -> Outcome<()> {
        let entry = self.graphs.lock().remove(&number);
        let Some(entry) = entry else {
            return Err(Fail::new(format!("the session has no graph {number}")));
        };
        if let Ok(graph) = world::lock().graph_mut(entry.origin) {
            graph.added = false;
        }
        let plans = std::mem::take(&mut entry.state.lock().plans);
        self.retired.lock().extend(plans);
        self.reap();
        Ok(())
    }

    /// Unloads what was taken out and runs no more.
    fn reap(&self) {
        let done: Vec<Arc<Plan>> = {
            let mut retired = self.retired.lock();
            let (busy, done) = std::mem::take(&mut *retired).into_iter().partition(|plan| {
                Arc::strong_count(plan) > 1
                    || plan.model.get().is_some_and(|model| !model.is_idle())
            });
            *retired = busy;
            done
        };
        self.unload(done);
    }

    /// Tells whether a graph has to be built before it runs.
    pub fn needs_build(&self, number: u32) -> bool {
        self.graph(number)
            .map_or(true, |entry| entry.state.lock().plans.is_empty())
    }

    /// Where graphs run: the device's own context, which lives at least as long as the session.
    pub fn place(&self) -> Outcome<&Place> {
        self.reap();
        if let Some(place) = self.place.get() {
            return Ok(place);
        }
        let made = with_runtime(|runtime, _| {
            let context = runtime.retain_device(i64::from(self.device))?;
            let stream = context.create_stream(StreamOptions::default())?;
            Ok(Place { context, stream })
        })?;
        if self.place.set(made).is_err() {
            self.release();
        }
        self.place
            .get()
            .ok_or_else(|| Fail::new("the session lost its device"))
    }

    fn release(&self) {
        let released = with_runtime(|runtime, caller| {
            Ok(runtime.release_device(i64::from(self.device), false, caller)?)
        });
        // A program that reset the device, or ended the runtime, has released it already.
        drop(released);
    }

    fn unload(&self, plans: Vec<Arc<Plan>>) {
        let Some(place) = self.place.get() else {
            return;
        };
        for plan in plans {
            let done = with_runtime(|_, caller| {
                if let Some(model) = plan.model.get() {
                    model.unload(caller);
                }
                if let Some((inputs, outputs)) = plan.staging.lock().take() {
                    for block in inputs.iter().chain(&outputs) {
                        // Memory of a device that was reset is gone already.
                        drop(place.context.free(block.span.address(), caller));
                    }
                }
                Ok(())
            });
            drop(done);
        }
    }

    /// Gives back memory that an output got from here.
    pub fn free(&self, address: usize) {
        let block = self.lent.lock().remove(&address);
        if let (Some(block), Some(place)) = (block, self.place.get()) {
            drop(with_runtime(|_, caller| {
                Ok(place.context.free(block.span.address(), caller)?)
            }));
        }
    }

    fn close(&self) {
        if !self.is_here() {
            // It is the parent's to end, and so is what it holds.
            return;
        }
        self.closed.store(true, Ordering::Release);
        self.queued.notify_all();
        let _turn = self.running.lock();
        let graphs = std::mem::take(&mut *self.graphs.lock());
        for entry in graphs.values() {
            if let Ok(graph) = world::lock().graph_mut(entry.origin) {
                graph.added = false;
            }
            let plans = std::mem::take(&mut entry.state.lock().plans);
            self.unload(plans);
        }
        let retired = std::mem::take(&mut *self.retired.lock());
        self.unload(retired);
        let Some(place) = self.place.get() else {
            return;
        };
        let variables = std::mem::take(&mut *self.variables.lock());
        let lent = std::mem::take(&mut *self.lent.lock());
        let done = with_runtime(|_, caller| {
            for stored in variables.values() {
                drop(place.context.free(stored.now.span.address(), caller));
                drop(place.context.free(stored.spare.span.address(), caller));
            }
            for block in lent.values() {
                drop(place.context.free(block.span.address(), caller));
            }
            drop(place.context.destroy_stream(&place.stream, true, caller));
            Ok(())
        });
        drop(done);
        self.release();
    }
}

impl Entry {
    /// The types that the graph itself says its inputs have.
    fn declared(&self) -> Vec<Vec<i64>> {
        match &self.source {
            Source::Built(graph) => graph
                .inputs()
                .into_iter()
                .map(|at| {
                    let node = &graph.nodes[at];
                    let output = node.outputs.first().map(|output| &output.desc);
                    let input = node.inputs.first().map(|input| &input.desc);
                    output
                        .filter(|desc| **desc != world::NOTHING)
                        .or(input)
                        .map_or(Vec::new(), |desc| desc.dims.clone())
                })
                .collect(),
            Source::Imported(graph) => graph
                .inputs
                .iter()
                .map(|&id| graph.value(id).ty.shape.clone())
                .collect(),
        }
    }

    /// Finds the plan for inputs of these types, or builds it.
    pub fn plan(&self, given: &[Option<TensorType>], family: Family) -> Outcome<Arc<Plan>> {
        let mut state = self.state.lock();
        if state.family == Family::Compile && family == Family::Build {
            return Err(Fail::new(format!(
                "graph {} was compiled by CompileGraph: BuildGraph, RunGraph and RunGraphAsync do not mix with that",
                self.number
            ))
            .status(UNSUPPORTED));
        }
        if family != Family::Fresh && state.family == Family::Fresh {
            state.family = family;
        }
        let open = || self.declared().iter().flatten().any(|&dim| dim < 0);
        let found = state
            .plans
            .iter()
            .find(|plan| plan.given == given)
            .or_else(|| state.plans.first().filter(|_| given.is_empty() || !open()))
            .cloned();
        if let Some(plan) = found {
            return Ok(plan);
        }
        let plan = Arc::new(self.build(given)?);
        // A graph that meets ever new shapes keeps the latest.
        if state.plans.len() >= 8 {
            state.plans.remove(1);
        }
        state.plans.push(plan.clone());
        Ok(plan)
    }

    /// The plan that was built first.
    pub fn first_plan(&self) -> Option<Arc<Plan>> {
        self.state.lock().plans.first().cloned()
    }

    /// The graph as a model file.
    pub fn model_file(&self) -> Outcome<Vec<u8>> {
        let given = self
            .first_plan()
            .map_or(Vec::new(), |plan| plan.given.clone());
        let lowered = lower(&self.source, &given)?;
        if let Some(variable) = lowered.variables.first() {
            return Err(Fail::new(format!(
                "graph {} has the variable {}, and a model file has no session that would hold it",
                self.number, variable.name
            )));
        }
        let options = BuildOptions {
            products: self.products,
            ..BuildOptions::default()
        };
        let model = compile(lowered.graph, options)?;
        let mut bytes = Vec::new();
        model.write(&mut bytes)?;
        Ok(bytes)
    }

    fn build(&self, given: &[Option<TensorType>]) -> Outcome<Plan> {
        let wanted = self.declared().len();
        if !given.is_empty() && given.len() < wanted {
            return Err(Fail::new(format!(
                "graph {} has {wanted} inputs, and {} are given",
                self.number,
                given.len()
            ))
            .code("E13025"));
        }
        let lowered = lower(&self.source, given)?;
        plan(lowered, given, self.products)
    }
}

fn lower(source: &Source, given: &[Option<TensorType>]) -> Outcome<ge::Lowered> {
    Ok(match source {
        Source::Built(graph) => ge::lower(graph, given)?,
        Source::Imported(graph) => {
            let mut graph = (**graph).clone();
            for (&id, ty) in graph.inputs.clone().iter().zip(given) {
                if let (Some(ty), Some(value)) = (ty, graph.values.get_mut(id.0 as usize)) {
                    value.ty = ty.clone();
                }
            }
            ge::Lowered {
                inputs: graph.inputs.len(),
                outputs: graph.outputs.len(),
                graph,
                variables: Vec::new(),
                saved: Vec::new(),
            }
        }
    })
}

/// Compiles a lowered graph.
pub fn compile(lowered: graph::Graph, mut options: BuildOptions) -> Outcome<graph::Model> {
    // What is open stays open, unless the caller says what it is.
    for &id in &lowered.inputs {
        let value = lowered.value(id);
        if value.ty.rank().is_some() && value.ty.elements().is_none() {
            let shape = value
                .ty
                .shape
                .iter()
                .map(|&dim| if dim < 0 { (0, -1) } else { (dim, dim) });
            options
                .input_shapes
                .entry(value.name.clone())
                .or_insert_with(|| shape.collect());
        }
    }
    Ok(graph::compile(lowered, &options)?)
}

fn plan(lowered: ge::Lowered, given: &[Option<TensorType>], products: Products) -> Outcome<Plan> {
    let ge::Lowered {
        graph,
        inputs,
        outputs,
        variables,
        saved,
    } = lowered;
    let options = BuildOptions {
        products,
        ..BuildOptions::default()
    };
    let model = compile(graph, options)?;
    let own = model.graph();
    let read = |position: usize| {
        own.inputs.get(position).is_some_and(|id| {
            own.nodes
                .iter()
                .any(|node| node.inputs.contains(&Some(*id)))
                || own.outputs.iter().any(|output| output.value == *id)
        })
    };
    let variables = variables
        .into_iter()
        .map(|what| Used {
            reads: read(what.input),
            what,
        })
        .collect();
    let mut bytes = Vec::new();
    model.write(&mut bytes)?;
    let package = Package::parse(bytes)?;
    Ok(Plan {
        given: given.to_vec(),
        inputs,
        outputs,
        variables,
        saved,
        description: package.description().clone(),
        sizes: (package.work_bytes(), package.weight_bytes()),
        package: Mutex::new(Some(package)),
        model: OnceLock::new(),
        staging: Mutex::default(),
    })
}

impl Plan {
    /// Tells whether the graph is on the device.
    pub fn is_loaded(&self) -> bool {
        self.model.get().is_some()
    }

    /// Puts the graph on the device, once, its constants and what lies between its nodes in the program's memory where that
    /// gave some.
    pub fn model(
        &self,
        place: &Place,
        supplied: Supplied<'_>,
        caller: &Caller<'_>,
    ) -> Outcome<Arc<Model>> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let mut package = self.package.lock();
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let Some(held) = package.as_ref() else {
            return Err(Fail::new("the graph was unloaded"));
        };
        let model = Model::load(held, &place.context, supplied, caller)?;
        let device = place.context.device().number();
        model.observe(Arc::new(jumar::OnTimelines { device }));
        *package = None;
        Ok(self.model.get_or_init(|| model).clone())
    }
}

/// The type of a tensor that a program gives; none where it says nothing about it.
pub fn type_of(dims: &[i64], dtype: i32) -> Outcome<TensorType> {
    let known = DataType::from_acl(dtype)
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            Fail::new(format!(
                "tensors of data type {} are not supported",
                ge::type_name(dtype)
            ))
        })?;
    if dims.iter().any(|&dim| dim < -2) {
        return Err(Fail::new(format!("the shape {dims:?} is none")).code("E13025"));
    }
    Ok(TensorType::new(known, dims))
}

/// Starts the thread that runs what RunGraphAsync queues, if it is not there yet.
pub fn start_worker(session: &Arc<Session>) {
    if session.worker.swap(true, Ordering::AcqRel) {
        return;
    }
    let session = session.clone();
    // The thread ends when the session does.
    drop(thread::spawn(move || run::work_off(&session)));
}
