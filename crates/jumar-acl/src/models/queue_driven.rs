//! Models that are driven by queues: an execution takes a message from each input queue and leaves one in each output queue.
//!
//! As with connections of queues, there is no thread for it: an execution runs on the thread that enqueued the message which was
//! missing, or that took the one which was in the way.

use std::sync::Arc;

use jumar::engine::Span;
use jumar::engine::message::Message;
use jumar::offline::{
    Description, DeviceMemory, Results, ShapedInput, Targets, TensorInfo, gear_values,
};
use jumar_types::{ErrorKind, Result};

use crate::model::LoadedModel;
use crate::type_util::size_of_type;
use crate::{Cx, refuse};

/// Checks that a model can be driven by queues.
///
/// A message is bytes. If one dimension of an input is dynamic, the length determines it. A message of the
/// gear input determines a gear. Bytes determine neither more dimensions nor the settings of images.
///
/// # Errors
/// `NotImplemented`: it has an input of which a message does not say enough.
pub(crate) fn check(description: &Description) -> Result<()> {
    for (index, input) in description.inputs.iter().enumerate() {
        let refused = |why: String| {
            refuse(
                ErrorKind::NotImplemented,
                format!(
                    "input {index} (\"{}\") of model \"{}\" {why}, so that queues cannot drive the model; execute it with functions",
                    input.name, description.name
                ),
            )
        };
        if input.dynamic_aipp.is_some() {
            return refused(
                "takes preprocessing settings, which aclmdlSetInputAIPP writes and a message cannot contain".into(),
            );
        }
        let open = input.dims.iter().filter(|&&dim| dim < 0).count();
        if description.open && (open > 1 || input.dims.iter().any(|&dim| dim < -1)) {
            return refused(format!(
                "has the shape {:?} with more than one dynamic dimension, and a message does not state dimensions",
                input.dims
            ));
        }
    }
    Ok(())
}

/// Finds the dimensions of an input out of the length of a message.
fn dims_of(input: &TensorInfo, bytes: usize) -> Option<Vec<i64>> {
    let element = size_of_type(input.data_type);
    let fixed = input
        .dims
        .iter()
        .filter(|&&dim| dim >= 0)
        .try_fold(element, |product, &dim| {
            product.checked_mul(usize::try_from(dim).ok()?)
        })?;
    let Some(at) = input.dims.iter().position(|&dim| dim < 0) else {
        return (fixed == bytes).then(|| input.dims.clone());
    };
    if fixed == 0 || !bytes.is_multiple_of(fixed) {
        return None;
    }
    let found = i64::try_from(bytes / fixed).ok()?;
    let inside = input
        .range
        .get(at)
        .is_none_or(|&(least, most)| found >= least && (most < 0 || found <= most));
    inside.then(|| {
        let mut dims = input.dims.clone();
        dims[at] = found;
        dims
    })
}

/// A model, its queues, and device memory for one execution at a time.
pub(crate) struct QueueDrivenModel {
    pub(crate) model: u32,
    pub(crate) loaded: Arc<LoadedModel>,
    /// The numbers of the input queues, in the order of the model's inputs.
    pub(crate) inputs: Vec<u32>,
    /// The numbers of the output queues.
    pub(crate) outputs: Vec<u32>,
    taken: Vec<Span>,
    given: Vec<Span>,
}

impl QueueDrivenModel {
    /// Allocates what an execution needs.
    ///
    /// # Errors
    /// What the allocation answers; then nothing stays allocated.
    pub(crate) fn new(
        cx: &Cx<'_>,
        model: u32,
        loaded: Arc<LoadedModel>,
        inputs: &[u32],
        outputs: &[u32],
    ) -> Result<QueueDrivenModel> {
        let mut queue_driven = QueueDrivenModel {
            model,
            loaded,
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
            taken: Vec::new(),
            given: Vec::new(),
        };
        let description = queue_driven.loaded.model.description().clone();
        if description.open {
            // How much is needed, the messages say.
            return Ok(queue_driven);
        }
        for (tensors, inwards) in [(&description.inputs, true), (&description.outputs, false)] {
            for tensor in tensors {
                let span = match allocate(cx, tensor.bytes) {
                    Ok(span) => span,
                    Err(error) => {
                        queue_driven.free(cx);
                        return Err(error);
                    }
                };
                let spans = if inwards {
                    &mut queue_driven.taken
                } else {
                    &mut queue_driven.given
                };
                spans.push(span);
            }
        }
        Ok(queue_driven)
    }

    /// Frees what [`QueueDrivenModel::new`] allocated.
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
        let given = match self.loaded.model.description().open {
            true => self.run_open(cx, messages)?,
            false => self.run_fixed(cx, messages)?,
        };
        let user = messages.first().map(|message| message.user.clone());
        let user = user.unwrap_or_default();
        Ok(given
            .into_iter()
            .map(|data| Message {
                data,
                user: user.clone(),
            })
            .collect())
    }

    /// Refuses a message that is not as long as its input.
    fn refuse_length<T>(&self, index: usize, bytes: usize, tensor: &TensorInfo) -> Result<T> {
        let takes = match self.loaded.model.description().open {
            true => format!("is of dimensions {:?}", tensor.dims),
            false => format!("takes {} bytes", tensor.bytes),
        };
        refuse(
            ErrorKind::InvalidValue,
            format!(
                "a message of queue {} has {bytes} bytes, and input {index} (\"{}\") of model {} {takes}; the message was dropped",
                self.inputs[index], tensor.name, self.model
            ),
        )
    }

    fn run_fixed(&self, cx: &Cx<'_>, messages: &[Message]) -> Result<Vec<Vec<u8>>> {
        let runtime = cx.runtime()?;
        let description = self.loaded.model.description();
        let mut taken = Vec::with_capacity(self.taken.len());
        let inputs = messages.iter().zip(&self.taken).zip(&description.inputs);
        for (index, ((message, span), tensor)) in inputs.enumerate() {
            let bytes = message.data.len();
            // A gear may be smaller than the largest, which is what the memory is for.
            let fits = match description.gears.is_empty() {
                true => bytes == tensor.bytes,
                false => bytes > 0 && bytes <= tensor.bytes,
            };
            let Some(span) = span.part(0, bytes).filter(|_| fits) else {
                return self.refuse_length(index, bytes, tensor);
            };
            if !span.is_empty() {
                runtime.write(span, &message.data, &cx.caller())?;
            }
            taken.push(span);
        }
        self.loaded
            .model
            .execute(&taken, &self.given, &cx.caller())?;
        let gear = messages.last().and_then(|message| {
            let count = description.gears.first()?.values.len();
            let values = gear_values(&message.data, count)?;
            description.gears.get(description.gear(&values)?)
        });
        let outputs = self.given.iter().zip(&description.outputs).enumerate();
        outputs
            .map(|(index, (span, tensor))| {
                let bytes = gear.map_or(span.bytes(), |gear| {
                    let elements: i64 = gear.outputs[index].iter().product();
                    elements.unsigned_abs() as usize * size_of_type(tensor.data_type)
                });
                read(cx, *span, bytes)
            })
            .collect()
    }

    fn run_open(&self, cx: &Cx<'_>, messages: &[Message]) -> Result<Vec<Vec<u8>>> {
        let description = self.loaded.model.description();
        let mut lent = ExecutionMemory {
            cx,
            spans: Vec::new(),
        };
        let mut inputs = Vec::with_capacity(messages.len());
        for (index, (message, tensor)) in messages.iter().zip(&description.inputs).enumerate() {
            let Some(dims) = dims_of(tensor, message.data.len()) else {
                return self.refuse_length(index, message.data.len(), tensor);
            };
            let span = allocate(cx, message.data.len())?;
            lent.spans.push(span);
            if !span.is_empty() {
                cx.runtime()?.write(span, &message.data, &cx.caller())?;
            }
            inputs.push(ShapedInput {
                span,
                dims: dims.into(),
            });
        }
        let results = Arc::<Results>::default();
        let outputs = Targets::from_elem(None, description.outputs.len());
        self.loaded
            .model
            .execute_open(inputs, outputs, results.clone(), &cx.caller())?;
        let produced = results.take().unwrap_or_default();
        produced
            .iter()
            .map(|one| {
                let span = one
                    .allocated
                    .as_ref()
                    .map_or(Span::EMPTY, DeviceMemory::span);
                read(cx, span, span.bytes())
            })
            .collect()
    }
}

/// Memory of one execution, which is freed however it ends.
struct ExecutionMemory<'a, 'b> {
    cx: &'a Cx<'b>,
    spans: Vec<Span>,
}

impl Drop for ExecutionMemory<'_, '_> {
    fn drop(&mut self) {
        for span in &self.spans {
            if !span.is_empty() {
                // A device that was reset has taken its memory along.
                drop(crate::memory::aclrtFree(self.cx, span.address()));
            }
        }
    }
}

/// Copies the first bytes of memory to the host.
fn read(cx: &Cx<'_>, span: Span, bytes: usize) -> Result<Vec<u8>> {
    let mut data = vec![0; bytes];
    if let Some(part) = span.part(0, bytes).filter(|part| !part.is_empty()) {
        cx.runtime()?.read(part, &mut data, &cx.caller())?;
    }
    Ok(data)
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
