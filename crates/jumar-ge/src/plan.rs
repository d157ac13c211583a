//! The graphs of a session: their states, and the plans that they are built into, one for each set of input shapes.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use jumar::engine::Caller;
use jumar::offline::{
    Description, DeviceMemory, GearKind, Model, Package, SuppliedMemory, TensorInfo,
};
use jumar_types::dtype::DataType;

use crate::graph::{BuildOptions, Products, TensorType};
use crate::lowering as ge;
use crate::session::{Options, Session, SessionDevice};
use crate::split::{By, Split, Step};
use crate::sync::Mutex;
use crate::{GeError, GeResult, UNSUPPORTED, graph, registry};

/// A graph of a session.
pub struct Entry {
    pub number: u32,
    /// The number of the program's graph, or 0 for a copy.
    pub origin: u64,
    pub source: Source,
    pub options: Options,
    pub products: Products,
    pub state: Mutex<State>,
}

/// What a graph is built from.
pub enum Source {
    Built(ge::Graph),
    Imported(Arc<graph::Graph>),
    /// A graph with custom operators or collectives.
    Custom(Box<Split>),
}

/// How far a graph has come.
#[derive(Default)]
pub struct State {
    pub family: Family,
    pub loaded: bool,
    pub plans: Vec<Arc<Plan>>,
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
    /// The types of the program's inputs.
    pub types: Vec<TensorType>,
    /// How many inputs and outputs are the program's.
    pub inputs: usize,
    pub outputs: usize,
    pub variables: Vec<VariableUse>,
    pub saved: Vec<String>,
    pub description: Arc<Description>,
    /// Work memory and weights, in bytes.
    pub sizes: (usize, usize),
    package: Mutex<Option<Package<'static>>>,
    model: OnceLock<Arc<Model>>,
    /// Device memory for inputs and outputs of runs from host memory.
    pub staging: Mutex<Option<Staging>>,
}

/// Device memory that runs from host memory copy their inputs into and their outputs out of.
pub struct Staging {
    pub inputs: Vec<DeviceMemory>,
    pub outputs: Vec<DeviceMemory>,
}

/// How many plans a graph keeps: that of the first shapes, and those of the latest.
const MOST_PLANS: usize = 8;

/// A variable that a plan uses.
pub struct VariableUse {
    pub what: ge::Variable,
    /// Whether the plan needs what it held before.
    pub reads: bool,
}

impl Entry {
    /// The types that the graph itself says its inputs have.
    fn declared(&self) -> Vec<Vec<i64>> {
        match &self.source {
            Source::Built(graph) => declared(graph),
            Source::Custom(split) => declared(&split.source),
            Source::Imported(graph) => graph
                .inputs
                .iter()
                .map(|&id| graph.value(id).ty.shape.clone())
                .collect(),
        }
    }

    /// Finds the plan for inputs of these types, or builds it. A plan that it replaces retires to the session.
    pub fn plan(
        &self,
        session: &Session,
        given: &[Option<TensorType>],
        family: Family,
    ) -> GeResult<Arc<Plan>> {
        let mut state = self.state.lock();
        if state.family == Family::Compile && family == Family::Build {
            return Err(GeError::new(format!(
                "graph {} was compiled by CompileGraph: BuildGraph, RunGraph and RunGraphAsync do not mix with that",
                self.number
            ))
            .status(UNSUPPORTED));
        }
        if family != Family::Fresh && state.family == Family::Fresh {
            state.family = family;
        }
        if let Some(plan) = state.plans.iter().find(|plan| plan.given == given) {
            return Ok(plan.clone());
        }
        if let Some(first) = state.plans.first() {
            let declared = self.declared();
            let open = declared.iter().flatten().any(|&dim| dim < 0);
            self.check_types(first, if open { &declared } else { &[] }, given)?;
            if given.is_empty() || !open {
                return Ok(first.clone());
            }
        }
        let plan = Arc::new(match &self.source {
            Source::Custom(split) => {
                // Functions of the program infer shapes, and no lock is held while one runs.
                drop(state);
                let plan = self.outline(split, session, given)?;
                state = self.state.lock();
                plan
            }
            Source::Built(_) | Source::Imported(_) => self.build(given)?,
        });
        let replaced = (state.plans.len() >= MOST_PLANS).then(|| state.plans.remove(1));
        state.plans.push(plan.clone());
        drop(state);
        session.retire(replaced);
        Ok(plan)
    }

    /// Refuses inputs that the graph was not built for. `declared` are the dimensions of the inputs of a graph that accepts several
    /// shapes, or nothing for a graph of fixed shapes.
    fn check_types(
        &self,
        first: &Plan,
        declared: &[Vec<i64>],
        given: &[Option<TensorType>],
    ) -> GeResult<()> {
        for (index, (given, built)) in given.iter().zip(&first.types).enumerate() {
            let Some(given) = given else { continue };
            let mut wanted = built.clone();
            if let Some(dims) = declared.get(index) {
                wanted.shape.clone_from(dims);
            }
            let same_shape = wanted.rank().is_none()
                || (wanted.shape.len() == given.shape.len()
                    && wanted
                        .shape
                        .iter()
                        .zip(&given.shape)
                        .all(|(wanted, given)| *wanted < 0 || wanted == given));
            if wanted.dtype != given.dtype || !same_shape {
                return Err(GeError::new(format!(
                    "input {index} of graph {} is {given}, and the graph was built for {wanted}: add the graph again under another number, or describe dimensions that vary as -1",
                    self.number
                ))
                .code("E13025"));
            }
        }
        Ok(())
    }

    /// The plan that was built first.
    pub fn first_plan(&self) -> Option<Arc<Plan>> {
        self.state.lock().plans.first().cloned()
    }

    /// The graph as a model file.
    pub fn model_file(&self) -> GeResult<Vec<u8>> {
        let given = self
            .first_plan()
            .map_or(Vec::new(), |plan| plan.given.clone());
        let lowered = lower(&self.source, &given)?;
        if let Some(variable) = lowered.variables.first() {
            return Err(GeError::new(format!(
                "graph {} has the variable {}, and a model file has no session that would hold it",
                self.number, variable.name
            )));
        }
        let options = BuildOptions {
            products: self.products,
            ..BuildOptions::default()
        };
        let (model, _) = compile(lowered.graph, options)?;
        let mut bytes = Vec::new();
        model.write(&mut bytes)?;
        Ok(bytes)
    }

    /// Takes the plans out, also those of segments.
    pub fn take_plans(&self) -> Vec<Arc<Plan>> {
        let mut plans = std::mem::take(&mut self.state.lock().plans);
        if let Source::Custom(split) = &self.source {
            for step in &split.steps {
                if let Step::Segment(segment) = step {
                    plans.extend(segment.entry.take_plans());
                }
            }
        }
        plans
    }

    fn refuse_too_few(&self, given: &[Option<TensorType>], wanted: usize) -> GeResult<()> {
        if given.is_empty() || given.len() >= wanted {
            return Ok(());
        }
        Err(GeError::new(format!(
            "graph {} has {wanted} inputs, and {} are given",
            self.number,
            given.len()
        ))
        .code("E13025"))
    }

    /// Describes a graph with custom operators: its segments have plans of their own, and the shapes of its outputs are those that a
    /// run finds.
    fn outline(
        &self,
        split: &Split,
        session: &Session,
        given: &[Option<TensorType>],
    ) -> GeResult<Plan> {
        let source = &split.source;
        let inputs = source.inputs();
        self.refuse_too_few(given, inputs.len())?;
        let mut types = Vec::with_capacity(inputs.len());
        for (index, (&at, dims)) in inputs.iter().zip(declared(source)).enumerate() {
            let node = &source.nodes[at];
            let output = node.outputs.first().map(|output| &output.desc);
            let input = node.inputs.first().map(|input| &input.desc);
            let desc = output.filter(|desc| **desc != registry::NOTHING).or(input);
            let stated = type_of(&dims, desc.map_or(0, |desc| desc.dtype))?;
            let given = given.get(index).cloned().flatten();
            types.push(given.unwrap_or(stated));
        }
        let found = split.infer(session, &types)?;
        let outputs = source.outputs.iter().zip(found);
        let outputs = outputs.map(|(&(at, position), ty)| {
            let node = &source.nodes[at];
            let dtype = node.outputs.get(position).map_or(0, |own| own.desc.dtype);
            let name = format!("{}:{position}", node.name);
            match ty {
                Some(ty) => tensor_info(name, ty.dtype.acl(), ty.shape),
                None => tensor_info(name, dtype, vec![-2]),
            }
        });
        let named = inputs.iter().zip(&types).map(|(&at, ty)| {
            let name = source.nodes[at].name.clone();
            tensor_info(name, ty.dtype.acl(), ty.shape.clone())
        });
        let description = Description {
            name: source.name.clone(),
            inputs: named.collect(),
            outputs: outputs.collect(),
            open: true,
            gear_kind: GearKind::None,
            gears: Vec::new(),
            operators: Vec::new(),
        };
        Ok(Plan {
            given: given.to_vec(),
            inputs: types.len(),
            outputs: description.outputs.len(),
            types,
            variables: Vec::new(),
            saved: Vec::new(),
            description: Arc::new(description),
            sizes: (0, 0),
            package: Mutex::new(None),
            model: OnceLock::new(),
            staging: Mutex::default(),
        })
    }

    fn build(&self, given: &[Option<TensorType>]) -> GeResult<Plan> {
        self.refuse_too_few(given, self.declared().len())?;
        let lowered = lower(&self.source, given)?;
        plan(lowered, given, self.products)
    }
}

/// The dimensions that a graph states for its inputs.
fn declared(graph: &ge::Graph) -> Vec<Vec<i64>> {
    graph
        .inputs()
        .into_iter()
        .map(|at| {
            let node = &graph.nodes[at];
            let output = node.outputs.first().map(|output| &output.desc);
            let input = node.inputs.first().map(|input| &input.desc);
            output
                .filter(|desc| **desc != registry::NOTHING)
                .or(input)
                .map_or(Vec::new(), |desc| desc.dims.clone())
        })
        .collect()
}

fn tensor_info(name: String, data_type: i32, dims: Vec<i64>) -> TensorInfo {
    TensorInfo {
        name,
        data_type,
        format: ge::FORMAT_ND,
        dims,
        range: Vec::new(),
        bytes: 0,
        aipp: None,
        dynamic_aipp: None,
    }
}

fn lower(source: &Source, given: &[Option<TensorType>]) -> GeResult<ge::LoweredGraph> {
    Ok(match source {
        Source::Built(graph) => ge::lower(graph, given)?,
        Source::Custom(split) => {
            let call = split.steps.iter().find_map(|step| match step {
                Step::Call(call) => Some(call),
                Step::Segment(_) => None,
            });
            let what = call.map_or_else(String::new, |call| match &call.by {
                By::Program(_) => format!(
                    "custom operator {}, whose functions are the program's",
                    call.node.kind
                ),
                By::Ranks(_) => format!(
                    "collective {}, whose communicator is the program's",
                    call.node.kind
                ),
            });
            return Err(GeError::new(format!(
                "graph {} has the {what}: a model file cannot hold it",
                split.source.name
            )));
        }
        Source::Imported(graph) => {
            let mut graph = (**graph).clone();
            for (&id, ty) in graph.inputs.clone().iter().zip(given) {
                if let (Some(ty), Some(value)) = (ty, graph.values.get_mut(id.0 as usize)) {
                    value.ty = ty.clone();
                }
            }
            ge::LoweredGraph {
                inputs: graph.inputs.len(),
                outputs: graph.outputs.len(),
                graph,
                variables: Vec::new(),
                saved: Vec::new(),
            }
        }
    })
}

/// Compiles a lowered graph. Returns the model and what runs it.
pub fn compile(
    lowered: graph::Graph,
    mut options: BuildOptions,
) -> GeResult<(graph::Model, graph::Executable)> {
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
    Ok(graph::compile_to_run(lowered, &options)?)
}

fn plan(
    lowered: ge::LoweredGraph,
    given: &[Option<TensorType>],
    products: Products,
) -> GeResult<Plan> {
    let ge::LoweredGraph {
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
    let types = graph.inputs.iter().take(inputs);
    let types = types.map(|&id| graph.value(id).ty.clone()).collect();
    let (model, executable) = compile(graph, options)?;
    let variables = used(model.graph(), variables);
    let package = Package::from_model(model, executable)?;
    Ok(Plan {
        given: given.to_vec(),
        types,
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

/// Finds which variables a compiled graph still reads.
fn used(graph: &graph::Graph, variables: Vec<ge::Variable>) -> Vec<VariableUse> {
    if variables.is_empty() {
        return Vec::new();
    }
    let nodes = graph.nodes.iter().flat_map(|node| &node.inputs).flatten();
    let outputs = graph.outputs.iter().map(|output| &output.value);
    let read: HashSet<_> = nodes.chain(outputs).collect();
    variables
        .into_iter()
        .map(|what| VariableUse {
            reads: graph
                .inputs
                .get(what.input)
                .is_some_and(|id| read.contains(id)),
            what,
        })
        .collect()
}

impl Plan {
    /// Returns whether the graph is on the device.
    pub fn is_loaded(&self) -> bool {
        self.model.get().is_some()
    }

    /// Returns whether every run that was queued has ended.
    pub fn is_idle(&self) -> bool {
        self.model.get().is_none_or(|model| model.is_idle())
    }

    /// Puts the graph on the device, once, its constants and what lies between its nodes in the program's memory where that
    /// gave some.
    pub fn model(
        &self,
        device: &SessionDevice,
        supplied: SuppliedMemory<'_>,
        caller: &Caller<'_>,
    ) -> GeResult<Arc<Model>> {
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let mut package = self.package.lock();
        if let Some(model) = self.model.get() {
            return Ok(model.clone());
        }
        let Some(held) = package.as_ref() else {
            return Err(GeError::new("the graph was unloaded"));
        };
        let model = Model::load(held, &device.context, supplied, caller)?;
        model.observe(Arc::new(jumar::OnTimelines {
            device: device.context.device().number(),
        }));
        *package = None;
        Ok(self.model.get_or_init(|| model).clone())
    }
}

/// The type of a tensor that a program passes; none if it does not state it.
pub fn type_of(dims: &[i64], dtype: i32) -> GeResult<TensorType> {
    let known = DataType::from_acl(dtype)
        .filter(|dtype| dtype.size().is_some())
        .ok_or_else(|| {
            GeError::new(format!(
                "tensors of data type {} are not supported",
                ge::type_name(dtype)
            ))
        })?;
    if dims.iter().any(|&dim| dim < -2) {
        return Err(GeError::new(format!("the shape {dims:?} is none")).code("E13025"));
    }
    Ok(TensorType::new(known, dims))
}
