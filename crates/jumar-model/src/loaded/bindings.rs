//! Inputs and outputs that an execution chooses when it begins, and that take effect when it has succeeded.
//!
//! Variables are such: an execution reads the block that holds the current contents and writes another block, and only its
//! success makes that other block the current one. Which block is current is known when the execution begins, not when it is
//! submitted: executions that were queued earlier may fail, and a captured one runs many times.

use jumar_core::Span;
use jumar_types::{Error, ErrorKind, Result};

use super::{ShapedInput, Spans};

/// Memory that an execution chooses when it begins.
pub trait Bindings: Send + Sync {
    /// Adds all memory that an execution may read or write, for diagnostics.
    fn touches(&self, reads: &mut Spans, writes: &mut Spans);

    /// Returns what the execution that begins now reads and writes.
    ///
    /// # Errors
    /// Why there is nothing to read.
    fn begin(&self) -> Result<Bound>;

    /// Makes what an execution wrote the current contents. It has succeeded.
    fn commit(&self, bound: &Bound);
}

/// What one execution was bound to.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// The inputs that follow those of the submission.
    pub inputs: Vec<ShapedInput>,
    /// The outputs that follow those of the submission.
    pub outputs: Vec<Span>,
}

/// The bindings of one execution that runs. Dropped without [`Binding::commit`], what the execution wrote has no effect.
pub(super) struct Binding<'a>(Option<(&'a dyn Bindings, Bound)>);

impl<'a> Binding<'a> {
    /// Chooses the memory of an execution of this model.
    pub(super) fn begin(bindings: Option<&'a dyn Bindings>, model: &str) -> Result<Binding<'a>> {
        let Some(bindings) = bindings else {
            return Ok(Binding(None));
        };
        match bindings.begin() {
            Ok(bound) => Ok(Binding(Some((bindings, bound)))),
            Err(cause) => {
                let sentence = format!("model \"{model}\" failed");
                Err(Error::new(ErrorKind::ModelExecute, sentence).caused_by(cause))
            }
        }
    }

    /// Returns the memory, if anything is bound.
    pub(super) fn bound(&self) -> Option<&Bound> {
        self.0.as_ref().map(|(_, bound)| bound)
    }

    /// Makes what was written the current contents.
    pub(super) fn commit(self) {
        if let Some((bindings, bound)) = self.0 {
            bindings.commit(&bound);
        }
    }
}
