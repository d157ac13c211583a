//! The variables of a session.
//!
//! A variable has two blocks of device memory: one holds its contents, and a run writes the other. Only the end of a run that
//! succeeded exchanges the two, so that a failed run leaves the contents as they were. Which block holds the contents is
//! known when a run begins, not when it is queued: runs that were queued earlier may succeed or fail.

use std::collections::BTreeMap;
use std::sync::Arc;

use jumar::engine::{Caller, Runtime};
use jumar::offline::{Bindings, Bound, DeviceMemory, Dims, ShapedInput, Spans};
use jumar_types::{Error, ErrorKind, Result};

use crate::graph::TensorType;
use crate::lowering as ge;
use crate::plan::Plan;
use crate::session::SessionDevice;
use crate::sync::Mutex;
use crate::{GeError, GeResult};

/// A variable of a session.
pub struct Variable {
    name: String,
    ty: TensorType,
    contents: Mutex<Contents>,
}

struct Contents {
    current: DeviceMemory,
    spare: DeviceMemory,
    /// Whether there are contents.
    is_set: bool,
    /// Whether a run was queued that sets them.
    is_assigned: bool,
}

/// The variables of a session by name.
pub type Variables = Mutex<BTreeMap<String, Arc<Variable>>>;

impl Variable {
    /// Returns the type.
    pub fn ty(&self) -> &TensorType {
        &self.ty
    }

    /// Copies the contents to the host; `None` where nothing was assigned yet.
    pub fn read(&self, runtime: &Runtime, caller: &Caller<'_>) -> GeResult<Option<Vec<u8>>> {
        // While the lock is held no run exchanges the blocks, and none writes the current one.
        let contents = self.contents.lock();
        if !contents.is_set {
            return Ok(None);
        }
        let mut bytes = vec![0; self.ty.bytes().unwrap_or(0)];
        if let Some(span) = contents.current.span().part(0, bytes.len())
            && !bytes.is_empty()
        {
            runtime.read(span, &mut bytes, caller)?;
        }
        Ok(Some(bytes))
    }

    fn allocate(
        what: &ge::Variable,
        device: &SessionDevice,
        caller: &Caller<'_>,
    ) -> GeResult<Variable> {
        let bytes = what.ty.bytes().unwrap_or(0);
        let current = DeviceMemory::allocate(&device.context, bytes, caller)?;
        let spare = DeviceMemory::allocate(&device.context, bytes, caller)?;
        if let Some(tensor) = &what.initial {
            device
                .context
                .write(current.span(), tensor.bytes(), caller)?;
        }
        Ok(Variable {
            name: what.name.clone(),
            ty: what.ty.clone(),
            contents: Mutex::new(Contents {
                current,
                spare,
                is_set: what.initial.is_some(),
                is_assigned: false,
            }),
        })
    }
}

fn unassigned(name: &str) -> String {
    format!("the variable {name} is read before anything was assigned to it")
}

/// The variables that the runs of one plan use, in the order of the plan's inputs and outputs.
pub struct PlanVariables(Vec<UsedVariable>);

struct UsedVariable {
    variable: Arc<Variable>,
    reads: bool,
    writes: bool,
}

/// Finds the variables of a plan, and makes those that are not there yet.
///
/// # Errors
///
/// FAILED: a variable has another type in the session; it is read, and neither has contents nor is there a queued run that
/// assigns it; there is no memory.
pub fn of_plan(
    variables: &Variables,
    plan: &Plan,
    device: &SessionDevice,
    caller: &Caller<'_>,
) -> GeResult<Option<Arc<PlanVariables>>> {
    if plan.variables.is_empty() {
        return Ok(None);
    }
    let mut all = variables.lock();
    let mut used = Vec::with_capacity(plan.variables.len());
    for needed in &plan.variables {
        let what = &needed.what;
        let variable = match all.get(&what.name) {
            Some(variable) => variable.clone(),
            None => {
                let variable = Arc::new(Variable::allocate(what, device, caller)?);
                all.insert(what.name.clone(), variable.clone());
                variable
            }
        };
        if variable.ty != what.ty {
            return Err(GeError::new(format!(
                "the variable {} is {} in this session, and the graph has it as {}",
                what.name, variable.ty, what.ty
            )));
        }
        let contents = variable.contents.lock();
        if needed.reads && !contents.is_set && !contents.is_assigned {
            return Err(GeError::new(unassigned(&what.name)));
        }
        drop(contents);
        used.push(UsedVariable {
            variable,
            reads: needed.reads,
            writes: what.output.is_some(),
        });
    }
    Ok(Some(Arc::new(PlanVariables(used))))
}

impl PlanVariables {
    /// Notes that a run was queued that assigns the variables which the plan writes: a run that is queued later may read them.
    pub fn note_assigned(&self) {
        for used in self.0.iter().filter(|used| used.writes) {
            used.variable.contents.lock().is_assigned = true;
        }
    }
}

impl Bindings for PlanVariables {
    fn touches(&self, reads: &mut Spans, writes: &mut Spans) {
        for used in &self.0 {
            let contents = used.variable.contents.lock();
            // Which of the two is current when the run begins is not known yet.
            let both = [contents.current.span(), contents.spare.span()];
            reads.extend(both.into_iter().filter(|_| used.reads));
            writes.extend(both.into_iter().filter(|_| used.writes));
        }
    }

    fn begin(&self) -> Result<Bound> {
        let mut bound = Bound::default();
        for used in &self.0 {
            let contents = used.variable.contents.lock();
            if used.reads && !contents.is_set {
                let sentence = unassigned(&used.variable.name);
                return Err(Error::new(ErrorKind::ModelExecute, sentence)
                    .fix("The run that assigns it failed: see its error."));
            }
            bound.inputs.push(ShapedInput {
                span: contents.current.span(),
                dims: Dims::from_slice(&used.variable.ty.shape),
            });
            if used.writes {
                bound.outputs.push(contents.spare.span());
            }
        }
        Ok(bound)
    }

    fn commit(&self, bound: &Bound) {
        let written = self.0.iter().filter(|used| used.writes);
        for (used, output) in written.zip(&bound.outputs) {
            let mut contents = used.variable.contents.lock();
            let contents = &mut *contents;
            // Another run that assigned the variable at the same time has exchanged the blocks already.
            if contents.spare.span().address() == output.address() {
                std::mem::swap(&mut contents.current, &mut contents.spare);
            }
            contents.is_set = true;
        }
    }
}
