//! What a run leaves: the reply with its outputs, the variables, and memory that the session allocated for outputs.

use std::sync::Arc;

use jumar::engine::{Caller, Runtime, Signal};
use jumar::offline::{ProducedOutput, Results, TensorInfo};

use crate::lowering::Desc;
use crate::plan::{Plan, type_of};
use crate::run::supplied::device_memory;
use crate::session::{self, Session};
use crate::variables::Variable;
use crate::wire::Writer;
use crate::{GeError, GeResult};

/// The number of the format ND.
const FORMAT_ND: i32 = 2;

/// Returns the description of an output of known sizes.
pub fn desc_of(tensor: &TensorInfo) -> Desc {
    Desc {
        dims: tensor.dims.clone(),
        dtype: tensor.data_type,
        format: tensor.format,
    }
}

/// Returns the description of an output whose shape was found by the run, and its size in bytes.
pub fn described(output: &ProducedOutput) -> GeResult<(Desc, usize)> {
    let desc = Desc {
        dims: output.dims.to_vec(),
        dtype: output.data_type,
        format: FORMAT_ND,
    };
    let bytes = type_of(&output.dims, output.data_type)?
        .bytes()
        .unwrap_or(0);
    Ok((desc, bytes))
}

/// Takes what a run of unknown sizes found.
pub fn take(results: &Results) -> GeResult<Vec<ProducedOutput>> {
    results
        .take()
        .ok_or_else(|| GeError::new("the run left no results"))
}

/// Adds a tensor to a reply: its description, its address on the device or 0, and its contents.
pub fn tensor(reply: &mut Writer, desc: &Desc, address: usize, bytes: &[u8]) {
    reply.tensor_desc(desc, &[]);
    reply.u64(address as u64);
    reply.blob(bytes);
}

/// Adds a tensor on the device to a reply: its description, its address and its size.
pub fn tensor_on_device(reply: &mut Writer, desc: &Desc, address: usize, bytes: usize) {
    reply.tensor_desc(desc, &[]);
    reply.u64(address as u64);
    reply.u64(8);
    reply.u64(bytes as u64);
}

fn variable(reply: &mut Writer, variable: &Variable, contents: &[u8]) {
    let ty = variable.ty();
    let desc = Desc {
        dims: ty.shape.clone(),
        dtype: ty.dtype.acl(),
        format: FORMAT_ND,
    };
    tensor(reply, &desc, 0, contents);
}

/// Adds what Save nodes collect to a reply, for the program's callback.
pub fn saved(
    session: &Session,
    plan: &Plan,
    runtime: &Runtime,
    reply: &mut Writer,
    caller: &Caller<'_>,
) -> GeResult<()> {
    let names: &[String] = if session.training { &plan.saved } else { &[] };
    let mut known = Vec::with_capacity(names.len());
    {
        let all = session.variables.lock();
        known.extend(
            names
                .iter()
                .filter_map(|name| Some((name, all.get(name)?.clone()))),
        );
    }
    reply.u64(known.len() as u64);
    for (name, stored) in known {
        let unset = || vec![0; stored.ty().bytes().unwrap_or(0)];
        let contents = stored.read(runtime, caller)?.unwrap_or_else(unset);
        reply.text(name);
        variable(reply, &stored, &contents);
    }
    Ok(())
}

/// Reads the contents of a session's variables.
///
/// # Errors
///
/// FAILED: there is no variable of a name, or nothing was assigned to it.
pub fn read_variables(session: &Session, names: &[String]) -> GeResult<Vec<u8>> {
    session::with_runtime(|runtime, caller| {
        let mut reply = Writer::default();
        reply.u64(names.len() as u64);
        for name in names {
            let found = session.variables.lock().get(name).cloned();
            let contents = match &found {
                Some(stored) => stored.read(runtime, caller)?,
                None => None,
            };
            let (Some(stored), Some(contents)) = (found, contents) else {
                return Err(GeError::new(format!("the session has no variable {name}")));
            };
            variable(&mut reply, &stored, &contents);
        }
        Ok(reply.bytes)
    })
}

/// Copies an output of a run whose sizes it had to find into memory that the program's allocator gave, and frees what the session had
/// allocated for it. The copy follows the run on its stream.
///
/// # Errors
///
/// FAILED: the session has allocated no such memory; the target is not live memory of the device.
pub fn copy_output(session: &Session, lent: usize, target: usize, bytes: usize) -> GeResult<()> {
    if bytes == 0 {
        session.free(lent);
        return Ok(());
    }
    let none = || {
        GeError::new(format!(
            "the session has lent no {bytes} bytes at {lent:#x}"
        ))
    };
    let own = session.lent.lock().remove(&lent).ok_or_else(none)?;
    let copied = session::with_runtime(|runtime, caller| {
        let source = own.memory.span().part(0, bytes).ok_or_else(none)?;
        let stream = own.stream.upgrade();
        let stream = stream.ok_or_else(|| GeError::new("the stream of the run was destroyed"))?;
        let target = device_memory(runtime, target, bytes, "memory of the external allocator")?;
        stream.copy(target, source, caller)?;
        let copied = Arc::new(Signal::new());
        stream.mark(copied.clone(), caller);
        Ok(copied)
    });
    // The run that writes the memory may not have ended, whether it was copied or not.
    let done = copied.as_ref().ok().cloned().or(own.done);
    session.keep(vec![own.memory], done);
    copied.map(drop)
}
