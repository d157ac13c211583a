//! A model file, opened and checked, before it is put on a device.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jumar_core::{Caller, Context, FileImage, Span};
use jumar_graph::{
    Aipp, DynamicAipp, Executable, ExternalWeights, Gear, GearKind, GraphError, GraphErrorKind,
    Port, Region, Sections, WEIGHT_FOLDER, Weights, Workers,
};
use jumar_types::{Error, ErrorKind, Result};

use crate::file::{Backing, ModelFile, StoredWeights};
use crate::loaded::Threads;

/// The inputs and outputs of a model.
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
    /// The lower and the upper bound of each dimension, -1 for no bound; empty if no bounds are known.
    pub range: Vec<(i64, i64)>,
    /// The size.
    ///
    /// # Units
    /// Bytes.
    pub bytes: usize,
    /// What is done to it before the model's first operator, where it is images.
    pub aipp: Option<Arc<Preprocessing>>,
    /// The preprocessing that this input has to do with, as its images or as its settings, where the settings come before
    /// each execution.
    pub dynamic_aipp: Option<Arc<DynamicAipp>>,
}

impl TensorInfo {
    /// Returns whether this is images whose sizes come with their settings: there may be fewer bytes than the input holds.
    pub fn is_dynamic_image(&self, index: usize) -> bool {
        self.dynamic_aipp
            .as_ref()
            .is_some_and(|aipp| aipp.images == index)
    }
}

/// What is done to the images of an input, and what they become.
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

/// A model, checked and planned, ready to be loaded. The weights of a model that was read stay where they were.
pub struct Package<'a> {
    source: Source<'a>,
    /// Where files of weights are looked for.
    folder: Option<PathBuf>,
    model: jumar_graph::Model,
    executable: Arc<Executable>,
    description: Arc<Description>,
}

/// Where a model comes from.
enum Source<'a> {
    /// The bytes of a model file.
    Bytes(Cow<'a, [u8]>),
    /// An open model file, or a part of one.
    File {
        file: Arc<ModelFile>,
        sections: Sections,
        /// The length of the model in the file.
        length: u64,
    },
    /// This process compiled it: the model owns its weights.
    Compiled,
}

/// A file of weights, and memory of the device that holds its contents already.
pub type ExternalWeight = (String, Span);

impl<'a> Package<'a> {
    /// Opens a file. Its header and its graph are read, its weights are not.
    ///
    /// # Errors
    /// `ModelPath`: it cannot be opened; otherwise as [`Package::parse`].
    pub fn open(path: &Path) -> Result<Package<'static>> {
        let file = Arc::new(ModelFile::open(path)?);
        let bytes = file.bytes();
        Package::within(file, 0..bytes)
    }

    /// Opens a model that is a part of a file.
    ///
    /// # Errors
    /// As [`Package::open`].
    pub(crate) fn within(file: Arc<ModelFile>, part: Range<u64>) -> Result<Package<'static>> {
        let path = file.path().to_owned();
        let path = path.as_path();
        let length = part.end - part.start;
        let refuse = |error: GraphError| refused(&error, Some(path));
        let mut first = vec![0; length.min(jumar_graph::HEADER_BYTES as u64) as usize];
        file.read(part.start, &mut first)?;
        if jumar_graph::is_bundle(&first) {
            return Err(is_bundle(&path.display().to_string()));
        }
        if length < jumar_graph::HEADER_BYTES as u64 {
            return Err(too_short(&first, Some(path)));
        }
        // The length is compared with the header's before anything is read: a sparse file may claim any.
        let sections = Sections::read(&first, length).map_err(refuse)?;
        let sections = sections.moved(part.start);
        let mut graph = Vec::new();
        let capacity = usize::try_from(sections.graph.end - sections.graph.start);
        let capacity = capacity.unwrap_or(usize::MAX);
        graph.try_reserve_exact(capacity).map_err(|_| {
            let sentence = format!(
                "{}: there is no memory for its graph of {capacity} bytes",
                path.display()
            );
            Error::new(ErrorKind::ModelMemory, sentence)
        })?;
        graph.resize(capacity, 0);
        file.read(sections.graph.start, &mut graph)?;
        jumar_lowering::provide_operators();
        let model = jumar_graph::Model::read_graph(&sections, &graph).map_err(refuse)?;
        drop(graph);
        if sections.weights.end - sections.weights.start < MAPPED_LEAST as u64 {
            // So little is looked at at once: who asks for sizes hears of damage, too.
            file.weights(&stored(&sections), |_, _| Ok(()))?;
        }
        let folder = path.with_file_name(WEIGHT_FOLDER);
        let source = Source::File {
            file,
            sections,
            length,
        };
        let mut package = Package::planned(source, model).map_err(refuse)?;
        package.folder = Some(folder);
        Ok(package)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// `ModelDataSize`, `ModelInvalid`: the bytes are cut short, damaged, of another maker, or use what is not there yet.
    pub fn parse(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Package<'a>> {
        let bytes = bytes.into();
        if jumar_graph::is_bundle(&bytes) {
            return Err(is_bundle("this"));
        }
        if bytes.len() < jumar_graph::HEADER_BYTES {
            return Err(too_short(&bytes, None));
        }
        let refuse = |error: GraphError| refused(&error, None);
        jumar_lowering::provide_operators();
        let model = jumar_graph::Model::read(&bytes).map_err(refuse)?;
        Package::planned(Source::Bytes(bytes), model).map_err(refuse)
    }

    /// Takes a model that this process compiled, and what runs it, without writing and reading a model file.
    ///
    /// # Errors
    /// `ModelFailure`: it was read from a file, whose bytes are not here.
    pub fn from_model(
        model: jumar_graph::Model,
        executable: Executable,
    ) -> Result<Package<'static>> {
        if !matches!(model.weights(), Weights::Owned(_)) {
            return Err(Error::new(
                ErrorKind::ModelFailure,
                format!(
                    "model \"{}\" was read from a file and does not own its weights",
                    model.description().name
                ),
            )
            .fix("Open the file instead."));
        }
        Ok(Package::described(Source::Compiled, model, executable))
    }

    fn planned(source: Source<'a>, model: jumar_graph::Model) -> jumar_graph::Result<Package<'a>> {
        let executable = model.executable()?;
        Ok(Package::described(source, model, executable))
    }

    fn described(
        source: Source<'a>,
        model: jumar_graph::Model,
        executable: Executable,
    ) -> Package<'a> {
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
        for aipp in jumar_graph::dynamic_preprocessing(graph)
            .into_iter()
            .map(Arc::new)
        {
            for index in [aipp.images, aipp.settings] {
                if let Some(input) = inputs.get_mut(index) {
                    input.dynamic_aipp = Some(aipp.clone());
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
        Package {
            source,
            folder: None,
            model,
            executable: Arc::new(executable),
            description: Arc::new(description),
        }
    }

    /// Describes inputs and outputs.
    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }

    /// Returns the size of the work memory.
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

    /// Returns the size of the weights.
    ///
    /// # Units
    /// Bytes.
    pub fn weight_bytes(&self) -> usize {
        self.model.weights_len()
    }

    pub(crate) fn executable(&self) -> Arc<Executable> {
        self.executable.clone()
    }

    /// Returns the size of the model file without the weights in it; 0 for a compiled model, which has no file.
    ///
    /// # Units
    /// Bytes.
    pub fn graph_bytes(&self) -> usize {
        let length = match &self.source {
            Source::Bytes(bytes) => bytes.len(),
            Source::File { length, .. } => usize::try_from(*length).unwrap_or(usize::MAX),
            Source::Compiled => return 0,
        };
        let inside = match self.external_weights() {
            [] => self.weight_bytes(),
            _ => 0,
        };
        length.saturating_sub(inside)
    }

    /// Returns the files that the weights are in, where they are not inside the model's own.
    pub fn external_weights(&self) -> &[ExternalWeights] {
        self.model.external_weights()
    }

    /// Sets the folder of these files, if it is not in the folder `weight` beside the model's own.
    pub fn find_weights_in(&mut self, folder: &Path) {
        self.folder = Some(folder.to_owned());
    }

    /// Returns the weights as a part of their file, if it is worth using them where they lie.
    ///
    /// # Errors
    /// `ModelPath`, `ModelInvalid`: the one file that they are in is not there, or not theirs.
    pub(crate) fn weights_in_file(&self) -> Result<Option<(FileImage, Backing)>> {
        if self.weight_bytes() < MAPPED_LEAST {
            return Ok(None);
        }
        let (file, stored) = match (self.external_weights(), &self.source) {
            ([], Source::File { file, sections, .. }) => (file.clone(), stored(sections)),
            ([], Source::Bytes(_) | Source::Compiled) => return Ok(None),
            ([only], _) if only.range == (0..self.weight_bytes()) => self.weight_file(only)?,
            _ => return Ok(None),
        };
        let offset = stored.range.start;
        if !offset.is_multiple_of(FileImage::PAGE as u64) {
            return Ok(None);
        }
        let image = FileImage {
            file: file.file().clone(),
            offset,
            bytes: self.weight_bytes(),
        };
        Ok(Some((image, Backing::new(file, stored))))
    }

    /// Opens a file of weights.
    fn weight_file(&self, wanted: &ExternalWeights) -> Result<(Arc<ModelFile>, StoredWeights)> {
        let Some(folder) = &self.folder else {
            return Err(Error::new(
                ErrorKind::ModelPath,
                format!(
                    "the model's weights are in files such as {}, and a model in memory has no folder in which they could be",
                    wanted.name
                ),
            )
            .fix("Say where they are with ACL_MDL_WEIGHT_PATH_PTR or aclmdlSetExternalWeightAddress, or load the model's file."));
        };
        let path = folder.join(&wanted.name);
        let file = ModelFile::open(&path).map_err(|error| {
            let kind = error.kind();
            Error::new(kind, "a file of the model's weights is not there").caused_by(error)
        })?;
        let bytes = wanted.range.len() as u64;
        if file.bytes() != bytes {
            return Err(Error::new(
                ErrorKind::ModelInvalid,
                format!(
                    "the file of weights {} has {} bytes, and the model says {bytes}",
                    path.display(),
                    file.bytes()
                ),
            ));
        }
        let stored = StoredWeights {
            range: 0..bytes,
            check: wanted.check(),
        };
        Ok((Arc::new(file), stored))
    }

    /// Returns the memory that holds all the weights already, if it is one that can be used as it is.
    pub(crate) fn weights_in_place(&self, external_weights: &[ExternalWeight]) -> Option<Span> {
        let [only] = self.external_weights() else {
            return None;
        };
        let found = external_weights
            .iter()
            .rfind(|(name, _)| *name == only.name);
        let (_, span) = found.filter(|_| only.range == (0..self.weight_bytes()))?;
        span.address().is_multiple_of(ALIGNED).then_some(*span)
    }

    fn write_files(
        &self,
        to: Span,
        external_weights: &[ExternalWeight],
        context: &Context,
        caller: &Caller<'_>,
    ) -> Result<()> {
        for wanted in self.external_weights() {
            let own = to
                .part(wanted.range.start, wanted.range.len())
                .ok_or_else(outside)?;
            if let Some((_, span)) = external_weights
                .iter()
                .rfind(|(name, _)| *name == wanted.name)
            {
                let mut buffer = vec![0; CHUNK.min(own.bytes())];
                let mut done = 0;
                while done < own.bytes() {
                    let piece = buffer.len().min(own.bytes() - done);
                    let piece = &mut buffer[..piece];
                    let from = span.part(done, piece.len()).ok_or_else(outside)?;
                    context.read(from, piece, caller)?;
                    let part = own.part(done, piece.len()).ok_or_else(outside)?;
                    context.write(part, piece, caller)?;
                    done += piece.len();
                }
                continue;
            }
            let (file, stored) = self.weight_file(wanted)?;
            file.weights(&stored, |at, bytes| {
                let part = own.part(at, bytes.len()).ok_or_else(outside)?;
                context.write(part, bytes, caller)
            })?;
        }
        Ok(())
    }

    /// Copies the weights to their address on the device, and checks them on the way.
    ///
    /// # Errors
    /// `ModelInvalid`: they are damaged; `ModelPath`: they cannot be read; what the copy answers.
    pub(crate) fn write_weights(
        &self,
        to: Span,
        external_weights: &[ExternalWeight],
        context: &Context,
        caller: &Caller<'_>,
    ) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        if !self.external_weights().is_empty() {
            return self.write_files(to, external_weights, context, caller);
        }
        match &self.source {
            Source::Bytes(bytes) => {
                let weights = self.model.weight_bytes(bytes);
                let weights = weights.map_err(|error| refused(&error, None))?;
                context.write(to, &weights, caller)
            }
            Source::File { file, sections, .. } => file.weights(&stored(sections), |at, bytes| {
                let part = to.part(at, bytes.len()).ok_or_else(outside)?;
                context.write(part, bytes, caller)
            }),
            Source::Compiled => {
                let Weights::Owned(weights) = self.model.weights() else {
                    return Err(outside());
                };
                let team = Threads(context.team());
                let mut written = Ok(());
                let to = to.part(0, weights.len()).ok_or_else(outside)?;
                context.write_by(to, caller, || {
                    written = weights.write_to(Region::of(to), Workers::of(&team));
                })?;
                written.map_err(|error| refused(&error, None))
            }
        }
    }
}

/// How much is copied at a time from memory that holds weights.
const CHUNK: usize = 1 << 20;

/// Weights begin at a multiple of this many bytes.
const ALIGNED: usize = 64;

fn stored(sections: &Sections) -> StoredWeights {
    StoredWeights {
        range: sections.weights.clone(),
        check: sections.check_weights(),
    }
}

fn outside() -> Error {
    Error::new(ErrorKind::Internal, "weights outside their memory")
}

/// Smaller weights are copied: a mapping has its price, and so has looking after it.
const MAPPED_LEAST: usize = 1 << 20;

/// Refuses what is too short for a header; another error may be reported first.
fn too_short(bytes: &[u8], path: Option<&Path>) -> Error {
    let error = match Sections::read(bytes, bytes.len() as u64) {
        Err(error) => error,
        Ok(_) => return Error::new(ErrorKind::Internal, "a header shorter than itself"),
    };
    let failure = refused(&error, path);
    match error.kind() {
        // A file too short for its header has its own code; one that is cut off later contradicts its header.
        GraphErrorKind::Truncated => {
            Error::new(ErrorKind::ModelDataSize, failure.sentence().to_owned())
        }
        _ => failure,
    }
}

/// Returns the error for a file with several models instead of one.
fn is_bundle(what: &str) -> Error {
    let sentence = format!("{what} is a bundle of several models");
    Error::new(ErrorKind::ModelFailure, sentence)
        .fix("Load it with aclmdlBundleLoadFromFile or aclmdlBundleLoadFromMem.")
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
        dynamic_aipp: None,
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
        GraphErrorKind::Stopped => ErrorKind::StreamAborted,
        GraphErrorKind::Internal => ErrorKind::Internal,
    };
    let text = match path {
        Some(path) => format!("{}: {}", path.display(), error.text()),
        None => error.text().to_owned(),
    };
    Error::new(kind, text)
}
