//! A file of several models.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jumar_types::{Error, ErrorKind, Result};

use crate::file::ModelFile;
use crate::package::{Package, refused};

/// Several models in one file, opened; each is read when it is wanted.
pub struct Bundle {
    source: Source,
    models: Vec<Range<usize>>,
}

/// Where the bytes of a bundle are.
enum Source {
    Bytes(Vec<u8>),
    File(Arc<ModelFile>),
}

impl Bundle {
    /// Opens a file. Its table is read; of its models nothing is.
    ///
    /// # Errors
    /// `ModelPath`: it cannot be opened. `InvalidArgument`: it is not a bundle, truncated, or damaged.
    pub fn open(path: &Path) -> Result<Bundle> {
        let file = ModelFile::open(path)?;
        let mut first = vec![0; file.bytes().min(jumar_graph::BUNDLE_TABLE_BYTES as u64) as usize];
        file.read(0, &mut first)?;
        let models = jumar_graph::read_bundle_table(&first, file.bytes())
            .map_err(|error| unusable(&refused(&error, Some(path))))?;
        Ok(Bundle {
            source: Source::File(Arc::new(file)),
            models,
        })
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// `InvalidArgument`: they are no bundle, cut off, or damaged.
    pub fn parse(bytes: Vec<u8>) -> Result<Bundle> {
        let models =
            jumar_graph::read_bundle(&bytes).map_err(|error| unusable(&refused(&error, None)))?;
        Ok(Bundle {
            source: Source::Bytes(bytes),
            models,
        })
    }

    /// Returns the number of models.
    pub fn count(&self) -> usize {
        self.models.len()
    }

    /// Reads one model. One of a file is loaded as if it were a file of its own: large weights are used where they lie.
    ///
    /// # Errors
    /// `InvalidArgument`: there is no model of that number. Otherwise as [`Package::open`] and [`Package::parse`].
    pub fn package(&self, index: usize) -> Result<Package<'_>> {
        let Some(range) = self.models.get(index).cloned() else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("there is no model {index} in a bundle of {}", self.count()),
            ));
        };
        match &self.source {
            Source::Bytes(bytes) => Package::parse(bytes.get(range).unwrap_or_default()),
            Source::File(file) => {
                Package::within(file.clone(), range.start as u64..range.end as u64)
            }
        }
    }
}

fn unusable(error: &Error) -> Error {
    Error::new(ErrorKind::InvalidArgument, error.sentence().to_owned())
}
