//! A model file, opened and checked, before it is put on a device.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use jumar_core::{Caller, Context, FileImage, Span};
use jumar_graph::{
    Aipp, Executable, Gear, GearKind, GraphError, GraphErrorKind, Port, Sections, Told,
};
use jumar_types::{Error, ErrorKind, Result};

use crate::file::{Backing, ModelFile};

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

/// A model file, read, checked and planned; its weights are where they were.
pub struct Package<'a> {
    source: Source<'a>,
    sections: Sections,
    /// The length of the whole file.
    length: u64,
    model: jumar_graph::Model,
    executable: Arc<Executable>,
    description: Arc<Description>,
}

/// Where the bytes of a model are.
enum Source<'a> {
    Bytes(Cow<'a, [u8]>),
    File(Arc<ModelFile>),
}

impl<'a> Package<'a> {
    /// Opens a file. Its header and its graph are read, its weights are not.
    ///
    /// # Errors
    /// `ModelPath`: it cannot be opened; otherwise as [`Package::parse`].
    pub fn open(path: &Path) -> Result<Package<'static>> {
        let file = ModelFile::open(path)?;
        let refuse = |error: GraphError| refused(&error, Some(path));
        let mut first = vec![0; file.bytes().min(jumar_graph::HEADER_BYTES as u64) as usize];
        file.read(0, &mut first)?;
        if jumar_graph::is_bundle(&first) {
            return Err(is_bundle(&path.display().to_string()));
        }
        if file.bytes() < jumar_graph::HEADER_BYTES as u64 {
            return Err(too_short(&first, Some(path)));
        }
        // The length is compared with the header's before anything is read: a sparse file may claim any.
        let sections = Sections::read(&first, file.bytes()).map_err(refuse)?;
        let mut graph = Vec::new();
        let length = usize::try_from(sections.graph.end - sections.graph.start);
        let length = length.unwrap_or(usize::MAX);
        graph.try_reserve_exact(length).map_err(|_| {
            let sentence = format!(
                "{}: there is no memory for its graph of {length} bytes",
                path.display()
            );
            Error::new(ErrorKind::ModelMemory, sentence)
        })?;
        graph.resize(length, 0);
        file.read(sections.graph.start, &mut graph)?;
        let model = jumar_graph::Model::read_graph(&sections, &graph).map_err(refuse)?;
        drop(graph);
        if model.weights_len() < MAPPED_LEAST {
            // So little is looked at at once: who asks for sizes hears of damage, too.
            file.weights(&sections, |_, _| Ok(()))?;
        }
        let length = file.bytes();
        Package::planned(Source::File(Arc::new(file)), sections, length, model).map_err(refuse)
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
        let length = bytes.len() as u64;
        let sections = Sections::read(&bytes, length).map_err(refuse)?;
        let model = jumar_graph::Model::read(&bytes).map_err(refuse)?;
        Package::planned(Source::Bytes(bytes), sections, length, model).map_err(refuse)
    }

    fn planned(
        source: Source<'a>,
        sections: Sections,
        length: u64,
        model: jumar_graph::Model,
    ) -> jumar_graph::Result<Package<'a>> {
        let executable = model.executable()?;
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
            source,
            sections,
            length,
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
        usize::try_from(self.length)
            .unwrap_or(usize::MAX)
            .saturating_sub(self.weight_bytes())
    }

    /// Gives the weights as a part of their file, if it is worth using them where they lie.
    pub(crate) fn weights_in_file(&self) -> Option<(FileImage, Backing)> {
        let Source::File(file) = &self.source else {
            return None;
        };
        let offset = self.sections.weights.start;
        let whole_pages = offset.is_multiple_of(FileImage::PAGE as u64);
        (whole_pages && self.weight_bytes() >= MAPPED_LEAST).then(|| {
            let image = FileImage {
                file: file.file().clone(),
                offset,
                bytes: self.weight_bytes(),
            };
            (image, Backing::new(file.clone(), self.sections.clone()))
        })
    }

    /// Copies the weights to their place on the device, and checks them on the way.
    ///
    /// # Errors
    /// `ModelInvalid`: they are damaged; `ModelPath`: they cannot be read; what the copy answers.
    pub(crate) fn write_weights(
        &self,
        to: Span,
        context: &Context,
        caller: &Caller<'_>,
    ) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        match &self.source {
            Source::Bytes(bytes) => {
                let weights = self.model.weight_bytes(bytes);
                let weights = weights.map_err(|error| refused(&error, None))?;
                context.write(to, &weights, caller)
            }
            Source::File(file) => file.weights(&self.sections, |at, bytes| {
                let part = to.part(at, bytes.len()).ok_or_else(|| {
                    Error::new(ErrorKind::Internal, "weights outside their memory")
                })?;
                context.write(part, bytes, caller)
            }),
        }
    }
}

/// Smaller weights are copied: a mapping has its price, and so has looking after it.
const MAPPED_LEAST: usize = 1 << 20;

/// Refuses what is too short for a header; it may have another fault that is told first.
fn too_short(bytes: &[u8], path: Option<&Path>) -> Error {
    let error = match Sections::read(bytes, bytes.len() as u64) {
        Err(error) => error,
        Ok(_) => return Error::new(ErrorKind::Internal, "a header shorter than itself"),
    };
    let told = refused(&error, path);
    match error.kind() {
        // A file too short for its header has its own code; one that is cut off later contradicts its header.
        GraphErrorKind::Truncated => {
            Error::new(ErrorKind::ModelDataSize, told.sentence().to_owned())
        }
        _ => told,
    }
}

/// Says that a file holds several models, where one was wanted.
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
