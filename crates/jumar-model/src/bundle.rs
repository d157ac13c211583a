//! A file of several models.

use std::fs;
use std::ops::Range;
use std::path::Path;

use jumar_types::{Error, ErrorKind, Result};

use crate::package::Package;

/// Several models in one file, opened; each is read when it is wanted.
pub struct Bundle {
    file: Vec<u8>,
    models: Vec<Range<usize>>,
}

impl Bundle {
    /// Opens a file.
    ///
    /// # Errors
    /// `ModelPath`: it cannot be opened. `InvalidArgument`: it is no bundle, cut off, or damaged.
    pub fn open(path: &Path) -> Result<Bundle> {
        let unusable = |what: String| {
            Error::new(
                ErrorKind::ModelPath,
                format!("the bundle {} {what}", path.display()),
            )
        };
        let data =
            fs::metadata(path).map_err(|error| unusable(format!("cannot be found: {error}")))?;
        if !data.is_file() {
            return Err(unusable("is not a regular file".into()));
        }
        let bytes = fs::read(path).map_err(|error| unusable(format!("cannot be read: {error}")))?;
        Self::parse(bytes)
    }

    /// Reads the bytes of a file.
    ///
    /// # Errors
    /// `InvalidArgument`: they are no bundle, cut off, or damaged.
    pub fn parse(file: Vec<u8>) -> Result<Bundle> {
        let models = jumar_graph::read_bundle(&file)
            .map_err(|error| Error::new(ErrorKind::InvalidArgument, error.text().to_owned()))?;
        Ok(Bundle { file, models })
    }

    /// Gives the number of models.
    pub fn count(&self) -> usize {
        self.models.len()
    }

    /// Reads one model.
    ///
    /// # Errors
    /// `InvalidArgument`: there is no model of that number. Otherwise as [`Package::parse`].
    pub fn package(&self, index: usize) -> Result<Package<'_>> {
        let bytes = self
            .models
            .get(index)
            .and_then(|range| self.file.get(range.clone()));
        match bytes {
            Some(bytes) => Package::parse(bytes),
            None => Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("there is no model {index} in a bundle of {}", self.count()),
            )),
        }
    }
}
