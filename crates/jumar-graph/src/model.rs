//! A compiled model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use crate::compile::ConstantLayout;
use crate::{
    Description, Dynamic, ExternalWeights, Graph, GraphError, GraphErrorKind, Plan, Result,
    Sections, WeightFiles, container, gears,
};

/// Where a model's weights are.
#[derive(Clone, Debug)]
pub enum Weights {
    /// Here, piece by piece.
    Owned(ConstantLayout),
    /// In the bytes that the model was read from, at this range.
    InFile(Range<usize>),
    /// In files beside the one that the model was read from.
    InFiles {
        /// The length of all, with what lies between them.
        bytes: usize,
        /// The files, in the order of their offsets in the weights.
        files: Vec<ExternalWeights>,
    },
}

impl Weights {
    /// Returns the length of all, with what lies between the pieces.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn len(&self) -> usize {
        match self {
            Weights::Owned(weights) => weights.len(),
            Weights::InFile(range) => range.len(),
            Weights::InFiles { bytes, .. } => *bytes,
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What runs a model.
#[derive(Debug)]
pub enum Executable {
    /// All shapes are known: every step and every offset is fixed.
    Planned(Plan),
    /// One plan for each gear, in their order.
    Geared(Vec<Plan>),
    /// Shapes are found while the model runs.
    Dynamic(Dynamic),
}

/// A compiled model: all shapes fixed, weights laid out.
///
/// # Ownership
///
/// A model that was read does not hold its weights: they stay in the bytes that it was read from, so that a mapped
/// file is used where it lies.
#[derive(Clone, Debug)]
pub struct Model {
    graph: Graph,
    weights: Weights,
    description: Description,
    options: BTreeMap<String, String>,
}

impl Model {
    pub(crate) fn new(
        graph: Graph,
        weights: Weights,
        description: Description,
        options: BTreeMap<String, String>,
    ) -> Model {
        Model {
            graph,
            weights,
            description,
            options,
        }
    }

    /// Reads a model from the bytes of a file, which are not trusted: lengths, offsets, checksums and the graph
    /// itself are checked.
    ///
    /// # Errors
    ///
    /// NotAModel, Truncated, Corrupt, TooNew, VendorFile; NotSupported where an operator is missing here.
    pub fn read(bytes: &[u8]) -> Result<Model> {
        container::read(bytes)
    }

    /// Reads a model from the graph of a file alone. The weights are the caller's to check, with
    /// [`Sections::check_weights`](crate::Sections::check_weights), before anything is computed with them.
    ///
    /// # Errors
    ///
    /// As [`Model::read`].
    pub fn read_graph(sections: &Sections, graph: &[u8]) -> Result<Model> {
        container::read_graph(sections, graph)
    }

    /// Writes the model as a file of Jumar.
    ///
    /// # Errors
    ///
    /// Io: what the writer says. Internal: the model was read and its weights are not here.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        container::write(self, self.owned()?, to).map_err(|error| unwritten(&error))
    }

    /// Writes the model as a file of Jumar without its weights, and hands each file of weights to `beside`.
    ///
    /// # Errors
    ///
    /// As [`Model::write`].
    pub fn write_outside(
        &self,
        outside: &WeightFiles,
        to: &mut impl Write,
        beside: &mut dyn FnMut(&str, &ConstantLayout) -> io::Result<()>,
    ) -> Result<()> {
        container::write_outside(self, self.owned()?, outside, to, beside)
            .map_err(|error| unwritten(&error))
    }

    fn owned(&self) -> Result<&ConstantLayout> {
        match &self.weights {
            Weights::Owned(weights) => Ok(weights),
            Weights::InFile(_) | Weights::InFiles { .. } => Err(GraphError::internal(
                "a model that was read cannot be written without its file",
            )),
        }
    }

    /// Returns the graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Sets the location of the weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the weights of a model, out of the bytes that it was read from if it was read, otherwise as a copy.
    pub fn weight_bytes<'a>(&self, file: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        match &self.weights {
            Weights::Owned(weights) => Ok(Cow::Owned(weights.to_vec())),
            Weights::InFile(range) => file.get(range.clone()).map(Cow::Borrowed).ok_or_else(|| {
                GraphError::internal("these are not the bytes that the model was read from")
            }),
            Weights::InFiles { .. } => Err(GraphError::internal(
                "the weights of this model are in files beside it",
            )),
        }
    }

    /// Returns the size of the weights.
    ///
    /// # Units
    ///
    /// Bytes.
    pub fn weights_len(&self) -> usize {
        self.weights.len()
    }

    /// Returns the files that the weights are in, where they are not inside the model's own.
    pub fn external_weights(&self) -> &[ExternalWeights] {
        match &self.weights {
            Weights::Owned(_) | Weights::InFile(_) => &[],
            Weights::InFiles { files, .. } => files,
        }
    }

    /// Describes inputs and outputs.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the options with which the model was built, as they were written.
    pub fn options(&self) -> &BTreeMap<String, String> {
        &self.options
    }

    /// Prepares whatever runs this model.
    ///
    /// # Errors
    ///
    /// As [`Model::plan`].
    pub fn executable(&self) -> Result<Executable> {
        if !self.description.gears.is_empty() {
            return self
                .description
                .gears
                .iter()
                .map(|gear| {
                    gears::plan(&self.graph, gear, self.weights_len())
                        .map_err(|error| error.at(format_args!("gear {:?}", gear.values)))
                })
                .collect::<Result<_>>()
                .map(Executable::Geared);
        }
        if self.graph.is_static() {
            self.plan().map(Executable::Planned)
        } else {
            let weights = self.weights_len();
            Ok(Executable::Dynamic(Dynamic::new(
                self.graph.clone(),
                weights,
            )))
        }
    }

    /// Assigns memory to every tensor and prepares the kernels.
    ///
    /// # Errors
    ///
    /// NotSupported, InvalidModel: as the operators say. TooLarge: more memory than an address can count.
    pub fn plan(&self) -> Result<Plan> {
        Plan::new(self)
    }
}

fn unwritten(error: &io::Error) -> GraphError {
    GraphError::new(
        GraphErrorKind::Io,
        format!("the model cannot be written: {error}"),
    )
}
