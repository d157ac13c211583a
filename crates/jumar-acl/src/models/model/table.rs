//! The loaded models of the process.

use std::collections::HashMap;
use std::sync::Arc;

use jumar::engine::sync::{AtomicU32, Ordering, RwLock};
use jumar_types::{Error, ErrorKind, Result};

use super::{LoadedModel, Models};

impl Default for Models {
    fn default() -> Self {
        Models {
            loaded: RwLock::new(HashMap::new()),
            last: AtomicU32::new(0),
        }
    }
}

impl Models {
    /// Finds a loaded model.
    ///
    /// # Errors
    /// `ModelId`: it was unloaded, or never loaded.
    pub(crate) fn find(&self, id: u32) -> Result<Arc<LoadedModel>> {
        self.loaded.read().get(&id).cloned().ok_or_else(|| {
            let last = self.last.load(Ordering::Relaxed);
            let what = match id == 0 || id > last {
                true => "never loaded",
                false => "unloaded",
            };
            Error::new(ErrorKind::ModelId, format!("model {id} was {what}"))
        })
    }
}
