//! A model file that stays open: its weights are used where they lie.
//!
//! Nothing of the weights is read when the file is opened. The first execution reads them all anyway; before it, it compares their
//! checksum. From then on each execution compares length and time of the file before and after: a process
//! that writes into a model in use causes an error, and no wrong results.

use std::fs::{File, Metadata};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jumar_core::FileMapping;
use jumar_graph::{WeightsCheck, files};
use jumar_types::{Error, ErrorKind, Result};

use crate::package::refused;

/// How much is read at a time where weights are copied or checked.
const CHUNK: usize = 1 << 20;

/// A model file, open for reading, and what it was like then.
pub(crate) struct ModelFile {
    path: PathBuf,
    file: Arc<File>,
    state: State,
}

/// The attributes that change when a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    bytes: u64,
    written: (i64, i64),
}

impl State {
    fn of(data: &Metadata) -> State {
        State {
            bytes: data.len(),
            written: (data.mtime(), data.mtime_nsec()),
        }
    }
}

impl ModelFile {
    /// Opens a file.
    ///
    /// # Errors
    /// `ModelPath`: it cannot be opened, or is not a regular file.
    pub(crate) fn open(path: &Path) -> Result<ModelFile> {
        let unusable = |what: String| {
            Error::new(
                ErrorKind::ModelPath,
                format!("the model file {} {what}", path.display()),
            )
        };
        let (file, _) = files::open(path).map_err(|error| {
            unusable(match error.kind() {
                std::io::ErrorKind::InvalidInput => "is not a regular file".into(),
                std::io::ErrorKind::NotFound => format!("cannot be found: {error}"),
                _ => format!("cannot be opened: {error}"),
            })
        })?;
        let data = file
            .metadata()
            .map_err(|error| unusable(format!("cannot be read: {error}")))?;
        Ok(ModelFile {
            path: path.to_owned(),
            file: Arc::new(file),
            state: State::of(&data),
        })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.state.bytes
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Reads bytes from an offset on.
    ///
    /// # Errors
    /// `ModelPath`: they are not there, or cannot be read.
    pub(crate) fn read(&self, from: u64, bytes: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(bytes, from).map_err(|error| {
            Error::new(
                ErrorKind::ModelPath,
                format!(
                    "the model file {} cannot be read: {error}",
                    self.path.display()
                ),
            )
        })
    }

    /// Reads weights piece by piece and checks them; `take` receives the offset of each piece.
    ///
    /// # Errors
    /// `ModelPath`: they cannot be read; `ModelInvalid`: they are damaged; what `take` answers.
    pub(crate) fn weights(
        &self,
        stored: &StoredWeights,
        mut take: impl FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let length = stored.range.end - stored.range.start;
        let mut check = stored.check.clone();
        let mut buffer = vec![0; CHUNK.min(usize::try_from(length).unwrap_or(CHUNK))];
        let mut done = 0;
        while done < length {
            let piece = (length - done).min(CHUNK as u64) as usize;
            let piece = &mut buffer[..piece];
            self.read(stored.range.start + done, piece)?;
            check.update(piece);
            take(usize::try_from(done).unwrap_or(usize::MAX), piece)?;
            done += piece.len() as u64;
        }
        check
            .finish()
            .map_err(|error| refused(&error, Some(&self.path)))
    }

    /// Compares the file with what it was when it was opened.
    fn unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map(|data| State::of(&data));
        let sentence = match now {
            Ok(now) if now == self.state => return Ok(()),
            Ok(now) if now.bytes != self.state.bytes => format!(
                "its file {} had {} bytes when it was loaded and has {} now",
                self.path.display(),
                self.state.bytes,
                now.bytes
            ),
            Ok(_) => format!(
                "its file {} was written to after it was loaded",
                self.path.display()
            ),
            Err(error) => format!("its file {} cannot be asked: {error}", self.path.display()),
        };
        Err(Error::new(ErrorKind::ModelInvalid, sentence).fix(
            "Never write into a model file that is in use: write another one, rename it, and load the model again.",
        ))
    }
}

/// Where weights lie in a file, and how they are checked.
pub(crate) struct StoredWeights {
    pub(crate) range: Range<u64>,
    pub(crate) check: WeightsCheck,
}

/// The file in which the weights of a loaded model lie.
pub(crate) struct Backing {
    file: Arc<ModelFile>,
    stored: StoredWeights,
    mapping: Option<Arc<dyn FileMapping>>,
    /// What came out when the weights were checked.
    checked: OnceLock<Option<Error>>,
}

impl Backing {
    pub(crate) fn new(file: Arc<ModelFile>, stored: StoredWeights) -> Backing {
        Backing {
            file,
            stored,
            mapping: None,
            checked: OnceLock::new(),
        }
    }

    pub(crate) fn mapped(mut self, mapping: Arc<dyn FileMapping>) -> Backing {
        self.mapping = Some(mapping);
        self
    }

    /// Makes sure of the weights before an execution.
    ///
    /// # Errors
    /// `ModelInvalid`: they are damaged, or the file was changed; `ModelPath`: it cannot be read.
    pub(crate) fn before(&self) -> Result<()> {
        self.file.unchanged()?;
        let checked = self
            .checked
            .get_or_init(|| self.file.weights(&self.stored, |_, _| Ok(())).err());
        match checked {
            None => Ok(()),
            Some(error) => Err(Error::new(error.kind(), error.sentence().to_owned())),
        }
    }

    /// Makes sure that they were there during an execution.
    ///
    /// # Errors
    /// `ModelInvalid`: the file was changed meanwhile, or parts of it could not be read.
    pub(crate) fn after(&self) -> Result<()> {
        self.file.unchanged()?;
        if self
            .mapping
            .as_ref()
            .is_none_or(|mapping| mapping.is_intact())
        {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::ModelInvalid,
            format!(
                "parts of its file {} could not be read when they were needed",
                self.file.path.display()
            ),
        )
        .fix("Look after the disk that the file is on; load the model again."))
    }
}
