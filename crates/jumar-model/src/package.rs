//! A model file, opened and checked, before it is put on a device.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use jumar_core::{Caller, Context, Span};
use jumar_graph::{Aipp, Executable, Gear, GearKind, GraphError, GraphErrorKind, Port, Told};
use jumar_types::{Error, ErrorKind, Result};

/// What a model takes and gives.
#[derive(Clone, Debug)]
pub struct Description {
    /// The model's name.
    pub name: String,
    /// The inputs in order.
    pub inputs: Vec<TensorInfo>,
    /// The outputs in order.
    pub outputs: Vec<TensorInfo>,
    /// Whether shapes are found while the model runs.
    pub open: bool,
    /// What the gears choose.
    pub gear_kind: GearKind,
    /// The gears.
    pub gears: Vec<Gear>,
    /// The names of the operators.
    pub operators: Vec<String>,
}

impl Description {
    /// Finds the gear that is chosen by these numbers.
    pub fn gear(&self, values: &[i64]) -> Option<usize> {
        self.gears.iter().position(|gear| gear.values == values)
    }
}

/// One input or output.
#[derive(Clone, Debug)]
pub struct TensorInfo {
    /// The name in the model.
    pub name: String,
    /// The number of the element type in the ACL interface.
    pub data_type: i32,
    /// The number of the format in the ACL interface.
    pub format: i32,
    /// The dimensions; -1 is open.
    pub dims: Vec<i64>,
    /// The least and the largest that each dimension may be, -1 for no bound; empty where nothing is said.
    pub range: Vec<(i64, i64)>,
    /// The size.
    ///
    /// # Units
    /// Bytes.
    pub bytes: usize,
    /// What is done to it before the model's first operator, where it is pictures.
    pub aipp: Option<Arc<Preprocessing>>,
    /// The preprocessing that this input has to do with, as its pictures or as its settings, where the settings come before
    /// each execution.
    pub told: Option<Arc<Told>>,
}

impl TensorInfo {
    /// Tells whether this is pictures whose sizes come with their settings: there may be fewer bytes than the input has room for.
    pub fn is_told_pictures(&self, index: usize) -> bool {
        self.told
            .as_ref()
            .is_some_and(|told| told.pictures == index)
    }
}

/// What is done to the pictures of an input, and what they become.
#[derive(Clone, Debug)]
pub struct Preprocessing {
    /// What is done.
    pub aipp: Aipp,
    /// The number of the element type that comes out, in the ACL interface.
    pub data_type: i32,
    /// The dimensions that come out.
    pub dims: Vec<i64>,
    /// The size that comes out.
    ///
    /// # Units
    /// Bytes.
    pub bytes: usize,
}

/// Where the header says how long the file is: eight bytes, the lowest first.
const LENGTH_AT: usize = 16;

/// A model file, read, checked and planned.
pub struct Package {
    file: Vec<u8>,
    model: jumar_graph::Model,
    executable: Arc<Executable>,
    description: Arc<Description>,
}

impl Package {
    /// Opens a file.
    ///
    /// # Errors
    /// `ModelPath`: it cannot be opened; otherwise as [`Package::parse`].
    pub fn open(path: &Path) -> Result<Package> {
        let unusable = |what: String| {
            Error::new(
                ErrorKind::ModelPath,
                format!("the model file {} {what}", path.display()),
            )
        };
        let data =
            fs::metadata(path).map_err(|error| unusable(format!("cannot be found: {error}")))?;
        if !data.is_file() {
            return Err(unusable("is not a regular file".into()));
        }
        // A file is read as far as it claims to go; a sparse one of absurd length is refused by its header before that.
        let mut file =
            File::open(path).map_err(|error| unusable(format!("cannot be opened: {error}")))?;
        let mut bytes = Vec::new();
        let failed = |error: std::io::Error| unusable(format!("cannot be read: {error}"));
        file.by_ref()
            .take(jumar_graph::HEADER_BYTES as u64)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        // A bundle is named as what it is; whatever else is no model is, too.
        if !bytes.starts_with(jumar_graph::MAGIC) || data.len() <= jumar_graph::HEADER_BYTES as u64
        {
            return Self::checked(bytes, Some(path));
        }
        let claimed = bytes[LENGTH_AT..]
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if claimed != data.len() {
            let sentence = format!(
                "the model file {} has {} bytes, and its header says {claimed}",
                path.display(),
                data.len()
            );
            return Err(Error::new(ErrorKind::ModelInvalid, sentence));
        }
        let length = usize::try_from(data.len()).unwrap_or(usize::MAX);
        bytes
            .try_reserve_exact(length - bytes.len())
            .map_err(|error| unusable(format!("is too large: {error}")))?;
        file.read_to_end(&mut bytes).map_err(failed)?;
        Self::checked(bytes, Some(path))
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// `ModelDataSize`, `ModelInvalid`: the bytes are cut short, damaged, of another maker, or use what is not there yet.
    pub fn parse(bytes: Vec<u8>) -> Result<Package> {
        Self::checked(bytes, None)
    }

    fn checked(file: Vec<u8>, path: Option<&Path>) -> Result<Package> {
        if jumar_graph::is_bundle(&file) {
            return Err(Error::new(
                ErrorKind::ModelFailure,
                match path {
                    Some(path) => format!("{} is a bundle of several models", path.display()),
                    None => "this is a bundle of several models".to_owned(),
                },
            )
            .fix("Load it with aclmdlBundleLoadFromFile or aclmdlBundleLoadFromMem."));
        }
        // A file too short for its header has its own code; one that is cut off later contradicts its header.
        let headless = file.len() < jumar_graph::HEADER_BYTES;
        let refuse = |error: GraphError| match error.kind() {
            GraphErrorKind::Truncated if headless => Error::new(
                ErrorKind::ModelDataSize,
                refused(&error, path).sentence().to_owned(),
            ),
            _ => refused(&error, path),
        };
        let model = jumar_graph::Model::read(&file).map_err(refuse)?;
        let executable = model.executable().map_err(refuse)?;
        let described = model.description();
        let graph = model.graph();
        let mut inputs: Vec<TensorInfo> = described.inputs.iter().map(tensor).collect();
        for (input, &id) in inputs.iter_mut().zip(&graph.inputs) {
            input.aipp = jumar_graph::preprocessing(graph, id).map(|(aipp, ty)| {
                Arc::new(Preprocessing {
                    aipp,
                    data_type: ty.dtype.acl(),
                    bytes: ty.bytes().unwrap_or(0),
                    dims: ty.shape,
                })
            });
        }
        for told in jumar_graph::preprocessing_as_told(graph)
            .into_iter()
            .map(Arc::new)
        {
            for index in [told.pictures, told.settings] {
                if let Some(input) = inputs.get_mut(index) {
                    input.told = Some(told.clone());
                }
            }
        }
        let description = Description {
            name: described.name.clone(),
            inputs,
            outputs: described.outputs.iter().map(tensor).collect(),
            open: matches!(executable, Executable::Dynamic(_)),
            gear_kind: described.gear_kind,
            gears: described.gears.clone(),
            operators: model
                .graph()
                .nodes
                .iter()
                .map(|node| node.name.clone())
                .collect(),
        };
        Ok(Package {
            file,
            model,
            executable: Arc::new(executable),
            description: Arc::new(description),
        })
    }

    /// Describes inputs and outputs.
    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }

    /// Gives the size of the work memory.
    ///
    /// # Units
    /// Bytes.
    pub fn work_bytes(&self) -> usize {
        match &*self.executable {
            Executable::Planned(plan) => plan.arena_bytes,
            Executable::Geared(plans) => {
                plans.iter().map(|plan| plan.arena_bytes).max().unwrap_or(0)
            }
            // Shapes decide, so memory is taken while the model runs.
            Executable::Dynamic(_) => 0,
        }
    }

    /// Gives the size of the weights.
    ///
    /// # Units
    /// Bytes.
    pub fn weight_bytes(&self) -> usize {
        self.model.weights_len()
    }

    pub(crate) fn executable(&self) -> Arc<Executable> {
        self.executable.clone()
    }

    /// Gives the size of everything that is neither weights nor work memory.
    ///
    /// # Units
    /// Bytes.
    pub fn graph_bytes(&self) -> usize {
        self.file.len().saturating_sub(self.weight_bytes())
    }

    /// Copies the weights to their place on the device.
    ///
    /// # Errors
    /// What the copy answers.
    pub(crate) fn write_weights(
        &self,
        to: Span,
        context: &Context,
        caller: &Caller<'_>,
    ) -> Result<()> {
        let weights = self
            .model
            .weight_bytes(&self.file)
            .map_err(|error| refused(&error, None))?;
        if weights.is_empty() {
            return Ok(());
        }
        context.write(to, weights, caller)
    }
}

fn tensor(port: &Port) -> TensorInfo {
    TensorInfo {
        name: port.name.clone(),
        data_type: port.dtype as i32,
        format: port.format.acl(),
        dims: port.dims.clone(),
        range: port.range.clone(),
        bytes: port.bytes,
        aipp: None,
        told: None,
    }
}

/// Puts a refusal of the graph library into the runtime's terms.
pub(crate) fn refused(error: &GraphError, path: Option<&Path>) -> Error {
    let kind = match error.kind() {
        GraphErrorKind::NotAModel
        | GraphErrorKind::Truncated
        | GraphErrorKind::Corrupt
        | GraphErrorKind::TooNew
        | GraphErrorKind::VendorFile
        | GraphErrorKind::NotSupported
        | GraphErrorKind::InvalidModel
        | GraphErrorKind::TooLarge => ErrorKind::ModelInvalid,
        GraphErrorKind::NotFound | GraphErrorKind::Io => ErrorKind::ModelPath,
        GraphErrorKind::InvalidOption | GraphErrorKind::NeedsShape => ErrorKind::InvalidArgument,
        GraphErrorKind::Data => ErrorKind::ModelExecute,
        GraphErrorKind::Buffer => ErrorKind::ModelFailure,
        GraphErrorKind::NoMemory => ErrorKind::ModelMemory,
        GraphErrorKind::Internal => ErrorKind::Internal,
    };
    let text = match path {
        Some(path) => format!("{}: {}", path.display(), error.text()),
        None => error.text().to_owned(),
    };
    Error::new(kind, text)
}
