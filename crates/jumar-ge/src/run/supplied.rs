//! Device memory that a program supplies: for the tensors of a run, and for a compiled graph.

use std::sync::Arc;

use jumar::engine::{MemoryKind, Runtime, Span};

use crate::plan::Family;
use crate::run::{HostTensor, too_short};
use crate::session::{self, Session};
use crate::{GRAPH_NOT_BUILT, GeError, GeResult, message};

/// The alignment of memory that a program supplies for a graph.
const ALIGNED: usize = 64;

/// Returns live memory of a device; `what` names it in the refusal.
pub fn device_memory(
    runtime: &Runtime,
    address: usize,
    bytes: usize,
    what: &str,
) -> GeResult<Span> {
    runtime
        .space()
        .find(address)
        .filter(|block| matches!(block.home, MemoryKind::Device(_) | MemoryKind::Variable(_)))
        .and_then(|block| block.span.part(address - block.span.address(), bytes))
        .ok_or_else(|| {
            GeError::new(format!(
                "the {what} at {address:#x} is not {bytes} bytes of live device memory: allocate it with aclrtMalloc"
            ))
        })
}

/// Returns the device memory of an input or output.
pub fn tensor_memory(
    runtime: &Runtime,
    tensor: &HostTensor,
    bytes: usize,
    index: usize,
    what: &str,
) -> GeResult<Span> {
    if tensor.span.bytes() < bytes {
        return Err(too_short(index, what, tensor.span.bytes(), bytes));
    }
    if bytes == 0 {
        return Ok(Span::EMPTY);
    }
    let what = format!("{what} {index}");
    device_memory(runtime, tensor.span.address(), bytes, &what)
}

/// Takes memory for a compiled graph: "const", "feature", "refreshable", "fixed" or "fixed, p2p".
///
/// # Errors
///
/// GRAPH_NOT_BUILT: the graph was not compiled. FAILED: it is too short, it is not live memory of the device or does not lie
/// at a multiple of 64 bytes, the shapes of the graph are open, its constants are in place already, or the part that may be
/// given anew was given by the other call.
pub fn supply(
    session: &Arc<Session>,
    number: u32,
    what: &str,
    address: usize,
    bytes: usize,
) -> GeResult<()> {
    let entry = session.graph(number)?;
    let plan = entry.first_plan();
    let mut state = entry.state.lock();
    let (Family::Compile, Some(plan)) = (state.family, plan) else {
        return Err(GeError::new(format!(
            "graph {number} was not compiled: call CompileGraph first"
        ))
        .status(GRAPH_NOT_BUILT));
    };
    if what.starts_with("fixed") {
        message::warn(format!(
            "graph {number} has no fixed feature memory: what is given for it is not used"
        ));
        return Ok(());
    }
    if plan.description.open {
        return Err(GeError::new(format!(
            "the shapes of graph {number} are open, and memory can be given to graphs of known shapes alone"
        )));
    }
    let constants = what == "const";
    let (name, needs) = if constants {
        ("constant memory", plan.sizes.1)
    } else {
        ("feature memory", plan.sizes.0)
    };
    if constants && plan.is_loaded() {
        return Err(GeError::new(format!(
            "graph {number} has run, and its constants are in place: give it constant memory before"
        )));
    }
    let refreshable = what == "refreshable";
    if !constants && state.bases.work.is_some() && state.bases.refreshable != refreshable {
        return Err(GeError::new(format!(
            "graph {number} has its feature memory: UpdateGraphFeatureMemoryBase and UpdateGraphRefreshableFeatureMemoryBase do not go together"
        )));
    }
    let base = if address == 0 && bytes == 0 {
        None
    } else {
        if bytes < needs {
            return Err(GeError::new(format!(
                "the {name} has {bytes} bytes, and graph {number} needs {needs}"
            )));
        }
        if !address.is_multiple_of(ALIGNED) {
            return Err(GeError::new(format!(
                "the {name} begins at {address:#x}; it has to lie at a multiple of {ALIGNED} bytes"
            )));
        }
        session::with_runtime(|runtime, _| device_memory(runtime, address, bytes, name))?;
        Some((address, bytes))
    };
    if constants {
        state.bases.constants = base;
    } else {
        state.bases.work = base;
        state.bases.refreshable = refreshable;
    }
    Ok(())
}
