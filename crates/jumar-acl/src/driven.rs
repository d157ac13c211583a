//! Models that are driven by queues: an execution takes a message from each input queue and leaves one in each output queue.
//!
//! As with connections of queues, nobody else takes part: an execution runs on the thread that put the message which was
//! missing, or that took the one which was in the way.

use std::sync::Arc;

use jumar::engine::Span;
use jumar::engine::message::Message;
use jumar_types::{ErrorKind, Result};

use crate::model::Loaded;
use crate::{Cx, refuse};

/// A model, its queues, and device memory for one execution at a time.
pub(crate) struct Driven {
    pub(crate) model: u32,
    pub(crate) loaded: Arc<Loaded>,
    /// The numbers of the input queues, in the order of the model's inputs.
    pub(crate) inputs: Vec<u32>,
    /// The numbers of the output queues.
    pub(crate) outputs: Vec<u32>,
    taken: Vec<Span>,
    given: Vec<Span>,
}

impl Driven {
    /// Allocates what an execution needs.
    ///
    /// # Errors
    /// What the allocation answers; then nothing stays allocated.
    pub(crate) fn new(
        cx: &Cx<'_>,
        model: u32,
        loaded: Arc<Loaded>,
        inputs: &[u32],
        outputs: &[u32],
    ) -> Result<Driven> {
        let mut driven = Driven {
            model,
            loaded,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            taken: Vec::new(),
            given: Vec::new(),
        };
        let description = driven.loaded.model.description().clone();
        for (tensors, inwards) in [(&description.inputs, true), (&description.outputs, false)] {
            for tensor in tensors {
                let span = match allocate(cx, tensor.bytes) {
                    Ok(span) => span,
                    Err(error) => {
                        driven.free(cx);
                        return Err(error);
                    }
                };
                let spans = if inwards {
                    &mut driven.taken
                } else {
                    &mut driven.given
                };
                spans.push(span);
            }
        }
        Ok(driven)
    }

    /// Frees what [`Driven::new`] allocated.
    pub(crate) fn free(&self, cx: &Cx<'_>) {
        for span in self.taken.iter().chain(&self.given) {
            if !span.is_empty() {
                // A device that was reset has taken its memory along.
                drop(crate::memory::aclrtFree(cx, span.address()));
            }
        }
    }

    /// Executes once on messages, one for each input. What the program said beside the first goes along.
    ///
    /// # Errors
    /// `InvalidValue`: a message has not the size of its input; what the execution answers.
    pub(crate) fn run(&self, cx: &Cx<'_>, messages: &[Message]) -> Result<Vec<Message>> {
        let runtime = cx.runtime()?;
        let description = self.loaded.model.description();
        let inputs = messages.iter().zip(&self.taken).zip(&description.inputs);
        for (index, ((message, span), tensor)) in inputs.enumerate() {
            if message.data.len() != tensor.bytes {
                return refuse(
                    ErrorKind::InvalidValue,
                    format!(
                        "a message of queue {} has {} bytes, and input {index} (\"{}\") of model {} takes {}; the message was dropped",
                        self.inputs[index],
                        message.data.len(),
                        tensor.name,
                        self.model,
                        tensor.bytes
                    ),
                );
            }
            if !span.is_empty() {
                runtime.write(*span, &message.data, &cx.caller())?;
            }
        }
        self.loaded
            .model
            .execute(&self.taken, &self.given, &cx.caller())?;
        let user = messages.first().map(|message| message.user.clone());
        self.given
            .iter()
            .map(|span| {
                let mut data = vec![0; span.bytes()];
                if !span.is_empty() {
                    runtime.read(*span, &mut data, &cx.caller())?;
                }
                let user = user.clone().unwrap_or_default();
                Ok(Message { data, user })
            })
            .collect()
    }
}

fn allocate(cx: &Cx<'_>, bytes: usize) -> Result<Span> {
    if bytes == 0 {
        return Ok(Span::EMPTY);
    }
    let address = crate::memory::aclrtMalloc(cx, bytes, 0)?;
    let block = cx.runtime()?.space().find(address);
    match block.and_then(|block| block.span.part(address - block.span.address(), bytes)) {
        Some(span) => Ok(span),
        None => refuse(
            ErrorKind::RuntimeInternal,
            format!("memory that was just allocated at {address:#x} cannot be found"),
        ),
    }
}
