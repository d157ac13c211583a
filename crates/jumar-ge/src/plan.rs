//! The graphs of a session: their states, and the plans that they are built into, one for each set of input shapes.

use std::sync::{Arc, OnceLock};

use jumar::engine::Caller;
use jumar::offline::{Description, DeviceMemory, Model, Package, Supplied};
use jumar_types::dtype::DataType;

use crate::graph::{BuildOptions, Products, TensorType, ge};
use crate::session::{Options, Session, SessionDevice};
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
    types: Vec<TensorType>,
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
pub struct Used {
    pub what: ge::Variable,
    /// Whether the plan needs what it held before.
    pub reads: bool,
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
                        .filter(|desc| **desc != registry::NOTHING)
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
        let plan = Arc::new(self.build(given)?);
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
        let model = compile(lowered.graph, options)?;
        let mut bytes = Vec::new();
        model.write(&mut bytes)?;
        Ok(bytes)
    }

    fn build(&self, given: &[Option<TensorType>]) -> GeResult<Plan> {
        let wanted = self.declared().len();
        if !given.is_empty() && given.len() < wanted {
            return Err(GeError::new(format!(
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

fn lower(source: &Source, given: &[Option<TensorType>]) -> GeResult<ge::Lowered> {
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
pub fn compile(lowered: graph::Graph, mut options: BuildOptions) -> GeResult<graph::Model> {
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

fn plan(lowered: ge::Lowered, given: &[Option<TensorType>], products: Products) -> GeResult<Plan> {
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
    let types = graph.inputs.iter().take(inputs);
    let types = types.map(|&id| graph.value(id).ty.clone()).collect();
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
    let package = Package::from_model(model)?;
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
        supplied: Supplied<'_>,
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
